"""The equations of a system along a direction of its state and a parameter: exact derivatives, of all at once.

With the frames' direction dz = Z dq a constraint between two bodies is at most quadratic in z, so that its frame force
g_z^T lambda is bilinear in (z, lambda), its rate bilinear in (z, z_dot): their derivatives are the same kernels with
dz in the place of z, and d lambda in that of lambda. Force elements know the derivatives of their laws
(``mbd.forces.along``). Driven constraints, couplings and frame elements are differentiated by a central difference of
their frame forces and rows, in the tables on both sides of the parameter. What the parameter itself changes comes to
that for the elements that it touches (``touched_along``). Nothing else is evaluated.

Four parameters, a *group*, are looked along at once (kind ``fours``): what directions have in common is read once. What
is differenced is a matter of each parameter, and its place among the four.

For systems of points and rigid bodies with Lie nodes, and of joint coordinates (``tree_along``); see ``Along.exact``.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.fours import AT_ONCE, flat
from ..compiled.kernel import kernel
from ..compiled.kinds import fours, integer, matrix, vector
from ..forces.along import force_along
from ..forces.instant import law_at_instant
from ..joints.instant import COINCIDENT, add_primitive_force, primitive_force, primitive_rate
from ..math.arrays import clear, clear_frames, copy_frames
from ..nodes.along import acceleration_along, frame_acceleration_of, frame_along, residual_along, velocity_along
from .couplings import LEVEL_DRIVEN, POSITION, coupling_constraints, coupling_forces
from .directions import (
    CHANGING,
    FIXED,
    NO_FORCES,
    ON_ACCELERATIONS,
    ON_BOTH,
    ON_POSITIONS,
    ON_VELOCITIES,
    Along,
    end_of_group,
)
from .instant import all_frame_forces, evaluate_functions, velocities
from .instant_elements import has_forces
from .moved_along import MOST_MOVED, distance_along, passes, size_of_motion, weight_of
from .tables import (
    FLAG_COUPLED,
    FLAG_TREE,
    FLAG_VELOCITY,
    Tables,
    Work,
    coordinates,
    multipliers,
    tables_at,
    velocity,
    work_at,
)
from .touched_along import (
    primitive_row,
    rows_of,
    touched_forces_along,
    touched_nodes_along,
    touched_primitives_along,
)
from .tree_along import tree_rows_along


@entry(Tables, Work, coordinates, velocity, multipliers, matrix)
def look_along(s, w, q, v, lam, z):
    """Frames z, their velocities and the frame forces, from which directions start; functions are evaluated already."""
    copy_frames(z, w.z)
    velocities(s, w, q, v)
    all_frame_forces(s, w, lam)


@kernel
def _bilinear_row(p, w, g, level, x):
    """Rows of one constraint along the direction."""
    a, b, i, row = p.a, p.b, p.x0, g.row
    if level == ON_POSITIONS:
        primitive_rate(p, w.z[a], w.z[b], g.dz[a], g.dz[b], p.value, x, i)
    elif level == ON_VELOCITIES or level == ON_BOTH:
        primitive_rate(p, w.z[a], w.z[b], g.dzd[a], g.dzd[b], p.value, x, i)
        if p.kind != COINCIDENT:
            primitive_rate(p, g.dz[a], g.dz[b], w.zd[a], w.zd[b], p.value, row, 0)
            x[i] += row[0]
        if level == ON_BOTH:
            primitive_rate(p, w.z[a], w.z[b], g.dz[a], g.dz[b], p.value, row, 0)
            for m in range(rows_of(p)):
                x[i + m] += row[m]
    else:
        primitive_rate(p, w.z[a], w.z[b], g.dza[a], g.dza[b], p.value, x, i)
        if p.kind != COINCIDENT:
            primitive_rate(p, g.dz[a], g.dz[b], g.za[a], g.za[b], p.value, row, 0)
            x[i] += row[0]
            primitive_rate(p, w.zd[a], w.zd[b], g.dzd[a], g.dzd[b], p.value, row, 0)
            x[i] += 2.0 * row[0]


@kernel
def _bilinear_force(p, w, g, lam, dlam, forces, fa, fb):
    """Frame forces of one constraint along (dz, d lambda), added."""
    a, b = p.a, p.b
    if forces == CHANGING:
        add_primitive_force(p, w.z[a], w.z[b], p.value, dlam, p.l0, fa, fb)
    if p.kind != COINCIDENT:
        primitive_force(p, g.dz[a], g.dz[b], p.value, lam, p.l0, fa, fb)


@kernel
def _bilinear(s, w, g, lam, dlam, forces, level, x):
    """Constraints along (dz, d lambda): frame forces, added to g.df, and rows, which are zero for driven ones."""
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        if p.function >= 0:
            for m in range(p.x0, p.x0 + rows_of(p)):
                x[m] = 0.0
            continue
        if forces != NO_FORCES:
            _bilinear_force(p, w, g, lam, dlam, forces, g.df[p.a], g.df[p.b])
        _bilinear_row(p, w, g, level, x)


@kernel
def _beside(w, g, i, side, d, lam, dlam, forces, level, x):
    """Frame forces (in the buffers beside) and rows x of elements that are differenced, on one side of a parameter."""
    c = i % AT_ONCE
    s, moved = tables_at(g.tables[2 * i + side]), work_at(g.works[2 * i + side])
    for n in range(w.z.shape[0]):
        dz, dzd = flat(g.dz[n]), flat(g.dzd[n])
        for m in range(12):
            moved.z[n, m] = w.z[n, m] + d * dz[AT_ONCE * m + c]
            moved.zd[n, m] = w.zd[n, m] + d * dzd[AT_ONCE * m + c]
            moved.f[n, m] = 0.0
    change = flat(dlam)
    for k in range(lam.shape[0]):
        g.lam[k] = lam[k] + d * change[AT_ONCE * k + c]
    for k in range(w.turns.shape[0]):
        moved.turns[k] = w.turns[k]
    evaluate_functions(s, moved, g.time[0])
    if forces != NO_FORCES:
        for k in range(g.driven.shape[0]):
            p = s.primitives[g.driven[k]]
            a, b = p.a, p.b
            primitive_force(p, moved.z[a], moved.z[b], moved.values[p.function], g.lam, p.l0, moved.f[a], moved.f[b])
        if s.flags[FLAG_COUPLED] != 0:
            coupling_forces(s, moved, g.lam)
    for k in range(g.driven.shape[0]):
        primitive_row(s.primitives[g.driven[k]], moved, moved.z, moved.zd, moved.zd, level, x)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_constraints(s, moved, x, POSITION if level == ON_POSITIONS else LEVEL_DRIVEN)


@kernel
def _differenced(s, w, g, i, lam, dlam, forces, level, x):
    """What driven constraints, couplings and frame elements add to g.df, and to rows of x."""
    e, c, rows = g.size[i], i % AT_ONCE, flat(x)
    plus, minus = work_at(g.works[2 * i]), work_at(g.works[2 * i + 1])
    size = 0.0
    for n in range(1, w.z.shape[0]):
        size = max(size, size_of_motion(s, w.z[n], g.dz[n], c))
    d = distance_along(size, e, MOST_MOVED)
    for _ in range(passes(d, e)):
        clear(g.plus)
        clear(g.minus)
        _beside(w, g, i, 0, d, lam, dlam, forces, level, g.plus)
        _beside(w, g, i, 1, -d, lam, dlam, forces, level, g.minus)
        h = weight_of(d, e)
        for n in range(w.z.shape[0] if forces != NO_FORCES else 0):
            df = flat(g.df[n])
            for m in range(12):
                df[AT_ONCE * m + c] += h * (plus.f[n, m] - minus.f[n, m])
        for k in range(s.xl.shape[0]):
            j = s.xl[k]
            rows[AT_ONCE * j + c] += h * (g.plus[j] - g.minus[j])
        d = -d


@kernel
def _one_force_along(s, w, g, k, fa, fb):
    """Change of the frame forces of one force element along the directions alone, added to fa, fb."""
    e = s.forces[k]
    a, b = e.a, e.b
    law_at_instant(
        e, s.functions, w.time[0], w.z[a], w.z[b], w.zd[a], w.zd[b], w.turns, 1, w.user, w.values
    )  # fmt: skip
    force_along(
        e, w.z[a], w.z[b], w.zd[a], w.zd[b], g.dz[a], g.dz[b], g.dzd[a], g.dzd[b], w.values, w.turns, fa, fb
    )  # fmt: skip


@kernel
def _force_beside_shifted(s, w, g, group, k):
    """The same for an element that moves along the directions of some parameters of a group, along the others."""
    e, first, second = s.forces[k], g.scratch[0], g.scratch[1]
    clear(first)
    clear(second)
    _one_force_along(s, w, g, k, first, second)
    fa, fb = flat(first), flat(second)
    for i in range(AT_ONCE * group, end_of_group(g, group)):
        if g.shifted[i, k] != 0:
            for m in range(12):
                fa[AT_ONCE * m + i % AT_ONCE], fb[AT_ONCE * m + i % AT_ONCE] = 0.0, 0.0
    for m in range(12):
        g.df[e.a, m] += first[m]
        g.df[e.b, m] += second[m]


@entry(Tables, Work, Along, integer, when=has_forces)
def forces_along(s, w, g, group):
    """Change of the frame forces of all force elements, added to g.df."""
    for k in range(s.forces.shape[0]):
        if g.some_shifted[group, k] == 0:
            _one_force_along(s, w, g, k, g.df[s.forces[k].a], g.df[s.forces[k].b])
        else:
            _force_beside_shifted(s, w, g, group, k)
    for i in range(AT_ONCE * group, end_of_group(g, group)):
        if g.exact[i] != 0:
            touched_forces_along(s, w, g, i)


@kernel
def _clear_rows(s, x):
    for k in range(s.xl.shape[0]):
        x[s.xl[k]] = 0.0


@entry(
    Tables, Work, Along, integer, coordinates, velocity, velocity, multipliers, fours, fours, fours, fours, fours,
    integer,
)  # fmt: skip
def equations_along(s, w, g, group, q, v, vd, lam, dq, dv, dvd, dlam, x, level):
    """x: derivative of the dynamic rows, and of constraint rows on a level, along directions and a group of parameters.

    Only along those for which the product rule holds (``Along.exact``); what is written along others means nothing.
    w is where ``look_along`` was; for rows on the level of accelerations, where ``look_at_accelerations`` was, and
    there are no driven constraints and no couplings; multipliers do not change there. In joint coordinates where
    ``look_along_tree`` was.
    """
    if s.flags[FLAG_TREE] != 0:
        tree_rows_along(s, w, g, group, q, v, vd, dq, dv, dvd, x)
        return
    first, end = AT_ONCE * group, end_of_group(g, group)
    forces = FIXED if level == ON_ACCELERATIONS else CHANGING
    clear(g.df[0])
    for k in range(1, s.nodes.shape[0]):
        n = s.nodes[k]
        frame_along(n, dq, w.z[k], g.dz[k])
        if level != ON_POSITIONS or s.flags[FLAG_VELOCITY] != 0:
            velocity_along(n, v, dv, w.z[k], g.dz[k], g.dzd[k], g.scratch)
        if level == ON_ACCELERATIONS:
            acceleration_along(n, v, vd, dv, g.dz[k], w.zd[k], g.dzd[k], g.dza[k], g.scratch)
        clear(g.df[k])
    if g.loaded != 0:
        _clear_rows(s, x)
    _bilinear(s, w, g, lam, dlam, forces, level, x)
    if s.forces.shape[0] > 0:
        forces_along(s, w, g, group)
    for i in range(first, end):
        if g.exact[i] != 0:
            if g.loaded != 0:
                _differenced(s, w, g, i, lam, dlam, forces, level, x)
            touched_primitives_along(s, w, g, i, lam, forces, level, x)
    for k in range(1, s.nodes.shape[0]):
        residual_along(s.nodes[k], v, vd, dv, dvd, w.z[k], g.dz[k], w.f[k], g.df[k], x)
    for i in range(first, end):
        touched_nodes_along(s, w, g, i, q, v, vd, 1.0, x)


@entry(Tables, Work, Along, integer, multipliers, fours, fours)
def positions_along(s, w, g, group, lam, dq, x):
    """x: derivative of the position constraints along increments and a group of parameters; see ``equations_along``."""
    for k in range(1, s.nodes.shape[0]):
        frame_along(s.nodes[k], dq, w.z[k], g.dz[k])
    if g.loaded != 0:
        _clear_rows(s, x)
    _bilinear(s, w, g, lam, g.still, NO_FORCES, ON_POSITIONS, x)
    for i in range(AT_ONCE * group, end_of_group(g, group)):
        if g.exact[i] != 0:
            if g.loaded != 0:
                _differenced(s, w, g, i, lam, g.still, NO_FORCES, ON_POSITIONS, x)
            touched_primitives_along(s, w, g, i, lam, NO_FORCES, ON_POSITIONS, x)


@entry(Tables, Work, Along, velocity, velocity, multipliers)
def look_at_accelerations(s, w, g, v, vd, lam):
    """After ``index_one``: reactions are added to the frame forces, accelerations of frames are written to g.za."""
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        primitive_force(p, w.z[p.a], w.z[p.b], p.value, lam, p.l0, w.f[p.a], w.f[p.b])
    for k in range(1, s.nodes.shape[0]):
        frame_acceleration_of(s.nodes[k], v, vd, w.z[k], w.zd[k], g.za[k], w.scratch)


@entry(Tables, Work, coordinates, velocity, multipliers)
def look_at_projection(s, w, q, v, mu):
    """Before ``projection_along``: w.zd of the velocities in its rows, and the frame forces of its multipliers."""
    velocities(s, w, q, v)
    clear_frames(w.f)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        primitive_force(p, w.z[p.a], w.z[p.b], p.value, mu, p.l0, w.f[p.a], w.f[p.b])


@entry(
    Tables, Work, Along, integer, coordinates, velocity, velocity, multipliers, vector, fours, fours, fours, integer
)  # fmt: skip
def projection_along(s, w, g, group, q, v, u, mu, zero, dq, dv, x, valued):
    """x: derivative of a projection to constraints in the mass metric, M u + B^T mu and B v, along directions.

    With ``valued`` the rows have g as well; there are no driven constraints and no couplings.
    """
    clear(g.df[0])
    for k in range(1, s.nodes.shape[0]):
        n = s.nodes[k]
        frame_along(n, dq, w.z[k], g.dz[k])
        velocity_along(n, v, dv, w.z[k], g.dz[k], g.dzd[k], g.scratch)
        clear(g.df[k])
    _bilinear(s, w, g, mu, g.still, FIXED, ON_BOTH if valued != 0 else ON_VELOCITIES, x)
    for i in range(AT_ONCE * group, end_of_group(g, group)):
        touched_primitives_along(s, w, g, i, mu, FIXED, ON_VELOCITIES, x)
        if valued != 0:
            touched_primitives_along(s, w, g, i, mu, NO_FORCES, ON_POSITIONS, x)
    for k in range(1, s.nodes.shape[0]):
        residual_along(s.nodes[k], zero, u, g.still, g.still, w.z[k], g.dz[k], w.f[k], g.df[k], x)
    for i in range(AT_ONCE * group, end_of_group(g, group)):
        touched_nodes_along(s, w, g, i, q, zero, u, 0.0, x)
