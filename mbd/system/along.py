"""The equations of a system along a direction of its state and a parameter: exact derivatives, of all at once.

With the frames' direction dz = Z dq a constraint between two bodies is at most quadratic in z, so that its frame force
g_z^T lambda is bilinear in (z, lambda), its rate bilinear in (z, z_dot): their derivatives are the same kernels with
dz in the place of z, and d lambda in that of lambda. Force elements know the derivatives of their laws
(``mbd.forces.along``). Driven constraints, couplings and frame elements are differentiated by a central difference of
their frame forces and rows, in the tables on both sides of the parameter; so are force elements that the parameter
touches. Inertia and weight are linear in what it touches. A constraint is at most
quadratic in its points, axes and constants, so that a central difference at the same frames is exact however wide it
is, and a wide one has no round-off; the length L of a distance scales g + L by -dL/L. Nothing else is evaluated.

Four parameters, a *group*, are looked along at once (kind ``fours``): what directions have in common is read once. What
is differenced is a matter of each parameter, and its place among the four.

For systems of points and rigid bodies with Lie nodes, and of joint coordinates (``tree_along``); see ``Along.exact``.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.fours import AT_ONCE, flat
from ..compiled.kernel import kernel
from ..compiled.kinds import addresses, fours, fours_matrix, integer, integer_matrix, integers, matrix, records, vector
from ..compiled.record import Record
from ..forces.along import force_along
from ..forces.instant import force_residual, law_at_instant
from ..joints.instant import (
    COINCIDENT,
    add_primitive_force,
    primitive_drive,
    primitive_force,
    primitive_rate,
    primitive_value,
)
from ..math.arrays import clear, clear_frames, copy_frames
from ..nodes.along import acceleration_along, frame_acceleration_of, frame_along, residual_along, velocity_along
from ..nodes.forms import NODE
from ..nodes.inertia import node_residual
from ..nodes.mass import weight
from .couplings import LEVEL_DRIVEN, POSITION, coupling_constraints, coupling_forces
from .element_forces import constant
from .instant import all_frame_forces, evaluate_functions, velocities
from .instant_elements import has_forces
from .tables import (
    FLAG_COUPLED,
    FLAG_TREE,
    FLAG_VELOCITY,
    PRIMITIVE,
    Tables,
    Work,
    coordinates,
    multipliers,
    tables_at,
    velocity,
    work_at,
)
from .tree_along import TreeAlong, tree_rows_along

ON_POSITIONS, ON_VELOCITIES, ON_ACCELERATIONS, ON_BOTH = 0, 1, 2, 3  # level of the constraint rows; both: g + B v
NO_FORCES, FIXED, CHANGING = 0, 1, 2  # frame forces of constraints: not asked for, at fixed or changing multipliers


class Along(Record):
    """Directions of frames, what parameters touch, and the systems on both sides of them."""

    dz = fours_matrix  # (nodes, 12) of frames, of their velocities and accelerations, and of frame forces
    dzd = fours_matrix
    dza = fours_matrix
    df = fours_matrix
    row = fours  # (3,) scratch
    scratch = fours_matrix  # (2, 12)
    za = matrix  # accelerations of frames
    plus = vector  # rows on both sides
    minus = vector
    lam = vector  # multipliers there
    still = fours  # zeros, as many as multipliers or velocities
    size = vector  # of the differences, by parameter
    tables = addresses  # of the systems at theta + size and theta - size, one after the other
    works = addresses  # beside them, and one for the system itself at the end
    exact = integers  # by parameter: whether the product rule holds, otherwise the whole residual is differenced
    first_node = integers  # by parameter: of the list of nodes whose inertia or weight it touches
    nodes = integers
    slopes = records(NODE)  # ... with the slopes of their inertia in the place of it
    falls = matrix  # (parameters, 3) slopes of gravity
    first_force = integers  # the same of force elements
    forces = integers
    shifted = integer_matrix  # by parameter and force element: whether it moves along the direction for that
    some_shifted = integer_matrix  # by group and force element: whether it does for some parameters
    first_primitive = integers  # the same of constraints that are not driven
    primitives = integers
    above = records(PRIMITIVE)  # ... with their numbers far to both sides, along their slopes
    below = records(PRIMITIVE)
    width = vector  # ... and how far these are apart, in units of the parameter
    stretch = vector  # ... and slopes of the lengths of those that are distances
    driven = integers  # constraints that are driven
    tree = TreeAlong  # of joint coordinates
    loaded = integer  # whether there are elements that are differenced
    time = vector  # (1,) of the functions


@kernel
def end_of_group(g, group):
    """Number of the parameter behind the last one of a group."""
    return min(AT_ONCE * (group + 1), g.size.shape[0])


@entry(Tables, Work, coordinates, velocity, multipliers, matrix)
def look_along(s, w, q, v, lam, z):
    """Frames z, their velocities and the frame forces, from which directions start; functions are evaluated already."""
    copy_frames(z, w.z)
    velocities(s, w, q, v)
    all_frame_forces(s, w, lam)


@kernel
def rows_of(p):
    """Number of rows of a constraint."""
    return 3 if p.kind == COINCIDENT else 1


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
def _primitive_row(p, w, z, zd, zb, level, x):
    """The row of one constraint on a level: g, B v + g_t, or g_zz[z_dot, z_dot] + g_z z_ddot."""
    a, b, i = p.a, p.b, p.x0
    value = constant(p, w.values)
    if level == ON_POSITIONS:
        primitive_value(p, z[a], z[b], value, x, i)
        return
    motion = zd if level == ON_VELOCITIES else zb
    primitive_rate(p, z[a], z[b], motion[a], motion[b], value, x, i)
    if level == ON_ACCELERATIONS and p.kind != COINCIDENT:
        primitive_rate(p, zd[a], zd[b], zd[a], zd[b], value, w.primitive_rows, 0)
        x[i] += w.primitive_rows[0]
    if p.function >= 0:
        first, second = primitive_drive(p, z[a], z[b], zd[a], zd[b], w.values)
        x[i] += first if level == ON_VELOCITIES else second


@kernel
def _beside(w, g, i, side, lam, dlam, forces, level, x):
    """Frame forces (in the buffers beside) and rows x of elements that are differenced, on one side of a parameter."""
    e, c = g.size[i] if side == 0 else -g.size[i], i % AT_ONCE
    s, moved = tables_at(g.tables[2 * i + side]), work_at(g.works[2 * i + side])
    for n in range(w.z.shape[0]):
        dz, dzd = flat(g.dz[n]), flat(g.dzd[n])
        for m in range(12):
            moved.z[n, m] = w.z[n, m] + e * dz[AT_ONCE * m + c]
            moved.zd[n, m] = w.zd[n, m] + e * dzd[AT_ONCE * m + c]
            moved.f[n, m] = 0.0
    change = flat(dlam)
    for k in range(lam.shape[0]):
        g.lam[k] = lam[k] + e * change[AT_ONCE * k + c]
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
        _primitive_row(s.primitives[g.driven[k]], moved, moved.z, moved.zd, moved.zd, level, x)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_constraints(s, moved, x, POSITION if level == ON_POSITIONS else LEVEL_DRIVEN)


@kernel
def _differenced(s, w, g, i, lam, dlam, forces, level, x):
    """What driven constraints, couplings and frame elements add to g.df, and to rows of x."""
    clear(g.plus)
    clear(g.minus)
    plus, minus = work_at(g.works[2 * i]), work_at(g.works[2 * i + 1])
    _beside(w, g, i, 0, lam, dlam, forces, level, g.plus)
    _beside(w, g, i, 1, lam, dlam, forces, level, g.minus)
    h, c, rows = 0.5 / g.size[i], i % AT_ONCE, flat(x)
    if forces != NO_FORCES:
        for n in range(w.z.shape[0]):
            df = flat(g.df[n])
            for m in range(12):
                df[AT_ONCE * m + c] += h * (plus.f[n, m] - minus.f[n, m])
    for k in range(s.xl.shape[0]):
        j = s.xl[k]
        rows[AT_ONCE * j + c] += h * (g.plus[j] - g.minus[j])


@kernel
def _touched_primitive(p, w, g, f, lam, forces, level, rows):
    """A constraint with other numbers, where the frames are: frame forces f of its bodies, and rows."""
    if forces != NO_FORCES:
        clear(f[p.a])
        clear(f[p.b])
        primitive_force(p, w.z[p.a], w.z[p.b], p.value, lam, p.l0, f[p.a], f[p.b])
    _primitive_row(p, w, w.z, w.zd, g.za, level, rows)


@kernel
def _stretched(p, slope, w, g, f, c, lam, forces, level, x):
    """A distance of which the parameter changes the length: all of it scales, and the length is subtracted."""
    scale, rows, found = -slope / p.value, g.plus, flat(x)
    _touched_primitive(p, w, g, f, lam, forces, level, rows)
    if forces != NO_FORCES:
        fa, fb = flat(g.df[p.a]), flat(g.df[p.b])
        for m in range(12):
            fa[AT_ONCE * m + c] += scale * f[p.a, m]
            fb[AT_ONCE * m + c] += scale * f[p.b, m]
    found[AT_ONCE * p.x0 + c] += scale * rows[p.x0] - (slope if level == ON_POSITIONS else 0.0)


@kernel
def _touched_primitives(s, w, g, i, lam, forces, level, x):
    """Constraints that the parameter touches: frame forces, added to g.df, and rows, added to x."""
    c, found, plus, minus = i % AT_ONCE, flat(x), work_at(g.works[2 * i]).f, work_at(g.works[2 * i + 1]).f
    for k in range(g.first_primitive[i], g.first_primitive[i + 1]):
        h, p = 1.0 / g.width[k], g.above[k]
        _touched_primitive(p, w, g, plus, lam, forces, level, g.plus)
        _touched_primitive(g.below[k], w, g, minus, lam, forces, level, g.minus)
        if forces != NO_FORCES:
            _add_difference(g, plus, minus, p.a, p.b, h, c)
        for j in range(p.x0, p.x0 + rows_of(p)):
            found[AT_ONCE * j + c] += h * (g.plus[j] - g.minus[j])
        if g.stretch[k] != 0.0:
            _stretched(s.primitives[g.primitives[k]], g.stretch[k], w, g, plus, c, lam, forces, level, x)


@kernel
def _add_difference(g, plus, minus, a, b, h, c):
    """Differences of the frame forces of two bodies, added to g.df; each of them is much larger than these."""
    if a != 0:  # the ground does not move
        fa = flat(g.df[a])
        for m in range(12):
            fa[AT_ONCE * m + c] += h * (plus[a, m] - minus[a, m])
    if b != a and b != 0:
        fb = flat(g.df[b])
        for m in range(12):
            fb[AT_ONCE * m + c] += h * (plus[b, m] - minus[b, m])


@kernel
def _move_frames(w, g, moved, a, e, c):
    """Frames of one body and their velocities, by e along a direction."""
    dz, dzd = flat(g.dz[a]), flat(g.dzd[a])
    for m in range(12):
        moved.z[a, m] = w.z[a, m] + e * dz[AT_ONCE * m + c]
        moved.zd[a, m] = w.zd[a, m] + e * dzd[AT_ONCE * m + c]


@kernel
def _touched_force(w, g, i, side, k):
    """The k-th force element that a parameter touches on one side of it: frame forces into f there."""
    s, moved = tables_at(g.tables[2 * i + side]), work_at(g.works[2 * i + side])
    h, c = g.size[i] if side == 0 else -g.size[i], i % AT_ONCE
    e = s.forces[g.forces[k]]
    a, b = e.a, e.b
    clear(moved.f[a])
    clear(moved.f[b])
    if g.shifted[i, g.forces[k]] != 0:
        _move_frames(w, g, moved, a, h, c)
        _move_frames(w, g, moved, b, h, c)
        _force_of(s, moved, e, g.time[0], moved.z[a], moved.z[b], moved.zd[a], moved.zd[b], w.turns)
    else:
        _force_of(s, moved, e, g.time[0], w.z[a], w.z[b], w.zd[a], w.zd[b], w.turns)


@kernel
def _force_of(s, moved, e, t, za, zb, zda, zdb, turns):
    """Frame forces of an element into f of the buffers ``moved``."""
    law_at_instant(e, s.functions, t, za, zb, zda, zdb, turns, 0, moved.user, moved.values)
    force_residual(e, za, zb, zda, zdb, moved.values, turns, moved.f[e.a], moved.f[e.b])


@kernel
def _touched_forces(s, w, g, i):
    """Frame forces of elements that the parameter touches, added to g.df.

    Where it changes points, axes or default lengths, they move along the direction with it: where a point of the ground
    alone moves, and the body that a spring holds there does not, the error of a difference would be that of a spring
    which is stretched by so much. Otherwise the frames are where they are.
    """
    if g.first_force[i + 1] == g.first_force[i]:
        return
    h, c, plus, minus = 0.5 / g.size[i], i % AT_ONCE, work_at(g.works[2 * i]), work_at(g.works[2 * i + 1])
    evaluate_functions(tables_at(g.tables[2 * i]), plus, g.time[0])
    evaluate_functions(tables_at(g.tables[2 * i + 1]), minus, g.time[0])
    for k in range(g.first_force[i], g.first_force[i + 1]):
        _touched_force(w, g, i, 0, k)
        _touched_force(w, g, i, 1, k)
        e = s.forces[g.forces[k]]
        _add_difference(g, plus.f, minus.f, e.a, e.b, h, c)


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
            _touched_forces(s, w, g, i)


@kernel
def _touched_nodes(s, w, g, i, q, v, vd, weighs, x):
    """Change of inertia and, where that counts, weight of nodes that the parameter touches, where they are.

    Both are linear in the numbers of a node, so that these take the place of their own slopes.
    """
    c, found, falls, rows = i % AT_ONCE, flat(x), g.falls[i], g.plus
    g1, g2, g3 = weighs * s.gravity[0], weighs * s.gravity[1], weighs * s.gravity[2]
    for k in range(g.first_node[i], g.first_node[i + 1]):
        j, n, f = g.nodes[k], g.slopes[k], w.force_a
        weight(n, g1, g2, g3, f)
        if falls[0] != 0.0 or falls[1] != 0.0 or falls[2] != 0.0:
            weight(s.nodes[j], weighs * falls[0], weighs * falls[1], weighs * falls[2], w.force_b)
            for m in range(12):
                f[m] += w.force_b[m]
        node_residual(n, q, v, vd, w.spin[j], w.z[j], w.zb[j], f, rows, w.scratch)
        for r in range(n.x0, n.x0 + n.nv):
            found[AT_ONCE * r + c] += rows[r]


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
            _touched_primitives(s, w, g, i, lam, forces, level, x)
    for k in range(1, s.nodes.shape[0]):
        residual_along(s.nodes[k], v, vd, dv, dvd, w.z[k], g.dz[k], w.f[k], g.df[k], x)
    for i in range(first, end):
        _touched_nodes(s, w, g, i, q, v, vd, 1.0, x)


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
            _touched_primitives(s, w, g, i, lam, NO_FORCES, ON_POSITIONS, x)


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
        _touched_primitives(s, w, g, i, mu, FIXED, ON_VELOCITIES, x)
        if valued != 0:
            _touched_primitives(s, w, g, i, mu, NO_FORCES, ON_POSITIONS, x)
    for k in range(1, s.nodes.shape[0]):
        residual_along(s.nodes[k], zero, u, g.still, g.still, w.z[k], g.dz[k], w.f[k], g.df[k], x)
    for i in range(AT_ONCE * group, end_of_group(g, group)):
        _touched_nodes(s, w, g, i, q, zero, u, 0.0, x)
