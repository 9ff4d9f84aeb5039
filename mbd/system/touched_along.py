"""Elements that a parameter touches, where the frames are: the change of their frame forces and rows with it.

Inertia and weight are linear in what it touches. A constraint is at most quadratic in its points, axes and constants,
so that a central difference at the same frames is exact however wide it is, and a wide one has no round-off; the length
L of a distance scales g + L by -dL/L. Force elements are differentiated by a central difference.
"""

from __future__ import annotations

from ..compiled.fours import AT_ONCE, flat
from ..compiled.kernel import kernel
from ..forces.instant import force_residual, law_at_instant
from ..joints.instant import COINCIDENT, primitive_drive, primitive_force, primitive_rate, primitive_value
from ..math.arrays import clear
from ..nodes.inertia import node_residual
from ..nodes.mass import weight
from .directions import NO_FORCES, ON_ACCELERATIONS, ON_POSITIONS, ON_VELOCITIES
from .element_forces import constant
from .instant import evaluate_functions
from .moved_along import TOGETHER, distance_along, passes, size_of_motion, weight_of
from .tables import tables_at, work_at


@kernel
def rows_of(p):
    """Number of rows of a constraint."""
    return 3 if p.kind == COINCIDENT else 1


@kernel
def primitive_row(p, w, z, zd, zb, level, x):
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
def _touched_primitive(p, w, g, f, lam, forces, level, rows):
    """A constraint with other numbers, where the frames are: frame forces f of its bodies, and rows."""
    if forces != NO_FORCES:
        clear(f[p.a])
        clear(f[p.b])
        primitive_force(p, w.z[p.a], w.z[p.b], p.value, lam, p.l0, f[p.a], f[p.b])
    primitive_row(p, w, w.z, w.zd, g.za, level, rows)


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
def touched_primitives_along(s, w, g, i, lam, forces, level, x):
    """Constraints that the parameter touches: frame forces, added to g.df, and rows, added to x."""
    c, found, plus, minus = i % AT_ONCE, flat(x), work_at(g.works[2 * i]).f, work_at(g.works[2 * i + 1]).f
    for k in range(g.first_primitive[i], g.first_primitive[i + 1]):
        h, p = 1.0 / g.width[k], g.above[k]
        _touched_primitive(p, w, g, plus, lam, forces, level, g.plus)
        _touched_primitive(g.below[k], w, g, minus, lam, forces, level, g.minus)
        if forces != NO_FORCES:
            add_difference(g, plus, minus, p.a, p.b, h, c)
        for j in range(p.x0, p.x0 + rows_of(p)):
            found[AT_ONCE * j + c] += h * (g.plus[j] - g.minus[j])
        if g.stretch[k] != 0.0:
            _stretched(s.primitives[g.primitives[k]], g.stretch[k], w, g, plus, c, lam, forces, level, x)


@kernel
def add_difference(g, plus, minus, a, b, h, c):
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
def _touched_force(w, g, i, side, k, d):
    """The k-th force element that a parameter touches on one side of it, moved by d: frame forces into f there."""
    s, moved, c = tables_at(g.tables[2 * i + side]), work_at(g.works[2 * i + side]), i % AT_ONCE
    e = s.forces[g.forces[k]]
    a, b = e.a, e.b
    clear(moved.f[a])
    clear(moved.f[b])
    if g.shifted[i, g.forces[k]] != 0:
        _move_frames(w, g, moved, a, d, c)
        _move_frames(w, g, moved, b, d, c)
        _force_of(s, moved, e, g.time[0], moved.z[a], moved.z[b], moved.zd[a], moved.zd[b], w.turns)
    else:
        _force_of(s, moved, e, g.time[0], w.z[a], w.z[b], w.zd[a], w.zd[b], w.turns)


@kernel
def _force_of(s, moved, e, t, za, zb, zda, zdb, turns):
    """Frame forces of an element into f of the buffers ``moved``."""
    law_at_instant(e, s.functions, t, za, zb, zda, zdb, turns, 0, moved.user, moved.values)
    force_residual(e, za, zb, zda, zdb, moved.values, turns, moved.f[e.a], moved.f[e.b])


@kernel
def touched_forces_along(s, w, g, i):
    """Frame forces of elements that the parameter touches, added to g.df.

    Where it changes points, axes or default lengths, they move along the direction with it: where a point of the ground
    alone moves, and the body that a spring holds there does not, the error of a difference would be that of a spring
    which is stretched by so much. Otherwise the frames are where they are.
    """
    if g.first_force[i + 1] == g.first_force[i]:
        return
    h, c, plus, minus = g.size[i], i % AT_ONCE, work_at(g.works[2 * i]), work_at(g.works[2 * i + 1])
    evaluate_functions(tables_at(g.tables[2 * i]), plus, g.time[0])
    evaluate_functions(tables_at(g.tables[2 * i + 1]), minus, g.time[0])
    for k in range(g.first_force[i], g.first_force[i + 1]):
        e, d = s.forces[g.forces[k]], h
        if g.shifted[i, g.forces[k]] != 0:
            size = max(size_of_motion(s, w.z[e.a], g.dz[e.a], c), size_of_motion(s, w.z[e.b], g.dz[e.b], c))
            d = distance_along(size, h, TOGETHER)
        for _ in range(passes(d, h)):
            _touched_force(w, g, i, 0, k, d)
            _touched_force(w, g, i, 1, k, -d)
            add_difference(g, plus.f, minus.f, e.a, e.b, weight_of(d, h), c)
            d = -d


@kernel
def touched_nodes_along(s, w, g, i, q, v, vd, weighs, x):
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
