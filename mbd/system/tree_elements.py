"""Blocks of elements in joint coordinates: they become part of the jets of bodies, and are projected onto their paths.

Elements make their blocks for bodies with velocities (r_dot, omega_body) of their own, by the kernels that absolute Lie
nodes have. A jet (xi, xi', xi'') of such a body with velocity r_dot changes

    dr = xi_v,  dtheta_b = R^T xi_w,  d(r_dot) = xi'_v + xi_w x r_dot,  d(omega_b) = R^T xi'_w

and a torque of an element turns with its body while a force does not.

A block between two bodies a and b couples all joints that carry a with all that carry b. Where both hang on a common
ancestor, its joints and those below it move both: for them the block is one more change of the ancestor's wrench with
its jet, which ``tree_matrix`` takes down the path once for all. Places in the matrix are needed for the rest alone.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, matrix, real
from ..joints.instant import BOTH
from ..math.arrays import clear
from ..nodes.inertia import frame_stiffness
from ..nodes.markers import axis, body_components
from ..nodes.tree.jets import JET, shift_jet
from ..nodes.tree.records import BETWEEN_BODIES
from ..nodes.tree.spatial import shift_motion
from .blocks import joint_blocks
from .couplings import coupling_stiffness, coupling_tangent
from .instant_elements import all_force_tangents
from .tables import (
    FLAG_COUPLED,
    FLAG_LOADED,
    FLAG_TREE,
    FLAG_VELOCITY,
    Tables,
    Work,
    by_fronts,
    coordinates,
    front_values,
    multipliers,
    velocity,
)
from .tree_instant import inner_tables

ALL_BLOCKS = -1


def _is_loaded(s: Tables) -> bool:
    return bool(s.flags[FLAG_TREE]) and bool(s.flags[FLAG_LOADED])


@kernel
def _inner_state(s, w, q, v, t):
    """Coordinates and velocities of the bodies as elements see them."""
    y, inner = w.tree, inner_tables(s)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, x = inner.nodes[i], y.twist[i]
        k = n.v0
        y.v[k], y.v[k + 1], y.v[k + 2] = x[3], x[4], x[5]
        y.v[k + 3], y.v[k + 4], y.v[k + 5] = body_components(w.z[i], x[0], x[1], x[2])
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n, o = inner.nodes[i], s.nodes[i]
        for k in range(n.nq):
            y.q[n.q0 + k] = q[o.q0 + k]
        for k in range(n.nv):
            y.v[n.v0 + k] = v[o.v0 + k]
        for k in range(9):
            y.t[i, k] = t[i, k]


@entry(Tables, Work, coordinates, velocity, multipliers, matrix, real, real, when=_is_loaded)
def element_blocks(s, w, q, v, lam, t, cc, ck):
    """Blocks of all elements: stiffness with B and B^T, and damping; those of the bodies' own go to their jets."""
    y, inner = w.tree, inner_tables(s)
    _inner_state(s, w, q, v, t)
    clear(y.stiffness)
    curved = 1.0 if ck != 0.0 else 0.0
    for k in range(inner.primitives.shape[0]):
        joint_blocks(inner, w, k, y.q, lam, curved, BOTH, y.stiffness)
    if inner.forces.shape[0] > 0 and curved != 0.0:
        all_force_tangents(inner, w, y.q, y.v, y.t, 0.0, 1.0, y.stiffness)
    if inner.flags[FLAG_COUPLED] != 0:
        coupling_tangent(inner, w, y.q, y.v, lam, y.t, 0.0, curved, y.stiffness)
    damped = s.flags[FLAG_VELOCITY] != 0 and (cc != 0.0 or ck != 0.0)
    if damped:
        clear(y.damping)
        if inner.forces.shape[0] > 0:
            all_force_tangents(inner, w, y.q, y.v, y.t, 1.0, 0.0, y.damping)
        if inner.flags[FLAG_COUPLED] != 0:
            coupling_stiffness(inner, w, y.q, y.v, lam, y.t, 1.0, 0.0, y.damping)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n = inner.nodes[i]
        if curved != 0.0:
            frame_stiffness(n, w.z[i], w.f[i], 1.0, y.stiffness)
            _add_element_jet(y.stiffness, n.block, n.ld, w.z[i], y.twist[i], 0, y.body_jets[i])
            _add_applied(y.applied[i], y.body_jets[i])
        if damped:
            _add_element_jet(y.damping, n.block, n.ld, w.z[i], y.twist[i], 1, y.body_jets[i])
    if curved != 0.0 or damped:
        _add_common_jets(s, w, damped)


@kernel
def _block_row(block, k, x1, x2, x3, y1, y2, y3):
    return (
        block[k] * x1 + block[k + 1] * x2 + block[k + 2] * x3
        + block[k + 3] * y1 + block[k + 4] * y2 + block[k + 5] * y3
    )  # fmt: skip


@kernel
def _add_block_column(block, o, ld, z, x1, x2, x3, y1, y2, y3, c, p):
    """Column c of p += the wrench that a block (force, torque_b) gives to a change (x, y) of its body."""
    p[3 * JET + c] += _block_row(block, o, x1, x2, x3, y1, y2, y3)
    p[4 * JET + c] += _block_row(block, o + ld, x1, x2, x3, y1, y2, y3)
    p[5 * JET + c] += _block_row(block, o + 2 * ld, x1, x2, x3, y1, y2, y3)
    m1, m2, m3 = axis(
        z,
        _block_row(block, o + 3 * ld, x1, x2, x3, y1, y2, y3),
        _block_row(block, o + 4 * ld, x1, x2, x3, y1, y2, y3),
        _block_row(block, o + 5 * ld, x1, x2, x3, y1, y2, y3),
    )
    p[c] += m1
    p[JET + c] += m2
    p[2 * JET + c] += m3


@kernel
def _add_element_jet(block, o, ld, z, x, level, p):
    """p += the block of elements on one body: of its position (level 0) or velocity (1)."""
    for c in range(3):
        e1, e2, e3 = 1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0
        t1, t2, t3 = body_components(z, e1, e2, e3)
        _add_block_column(block, o, ld, z, 0.0, 0.0, 0.0, t1, t2, t3, 6 * level + c, p)
        _add_block_column(block, o, ld, z, e1, e2, e3, 0.0, 0.0, 0.0, 6 * level + 3 + c, p)
        if level == 1:  # xi_w x r_dot is a change of velocity as well
            v1, v2, v3 = e2 * x[5] - e3 * x[4], e3 * x[3] - e1 * x[5], e1 * x[4] - e2 * x[3]
            _add_block_column(block, o, ld, z, v1, v2, v3, 0.0, 0.0, 0.0, c, p)


@kernel
def _add_applied(f, p):
    """p += the torque xi_w x torque + xi_v x force: a torque turns with its body, a force does not."""
    t1, t2, t3, f1, f2, f3 = f[0], f[1], f[2], f[3], f[4], f[5]
    p[1] += t3
    p[2] -= t2
    p[4] += f3
    p[5] -= f2
    p[JET] -= t3
    p[JET + 2] += t1
    p[JET + 3] -= f3
    p[JET + 5] += f1
    p[2 * JET] += t2
    p[2 * JET + 1] -= t1
    p[2 * JET + 3] += f2
    p[2 * JET + 4] -= f1


# --- projection -------------------------------------------------------------------------------------------------------


@kernel
def _scatter(s, w, p, h, k, column, into):
    """Add one column h of a block (its rows) to the matrix; k is the number of its joint on the path of its body."""
    y = w.tree
    place, width = p.first + k, p.path
    if p.row_body == 0:
        o, ld = s.tree.places[place, 0], s.tree.places[place, 1]
        for r in range(p.rows):
            into[o + r * ld + column] += h[r]
        return
    # wrench on the body, taken down its path; a joint that carries both bodies meets only what is above the common one
    i = p.row_body
    m1, m2, m3 = axis(w.z[i], h[3], h[4], h[5])
    f1, f2, f3 = h[0], h[1], h[2]
    while i > 0:
        if i == p.common:
            if k >= p.branch:
                return
            place, width = p.second + k, p.branch
        n = s.nodes[i]
        o, ld = s.tree.places[place, 0], s.tree.places[place, 1]
        for r in range(n.nv):
            c = y.columns[n.v0 + r]
            into[o + r * ld + column] += c[0] * m1 + c[1] * m2 + c[2] * m3 + c[3] * f1 + c[4] * f2 + c[5] * f3
        j = s.tree.carried[i].parent
        d1, d2, d3 = w.z[i, 0] - w.z[j, 0], w.z[i, 1] - w.z[j, 1], w.z[i, 2] - w.z[j, 2]
        m1, m2, m3 = m1 + d2 * f3 - d3 * f2, m2 + d3 * f1 - d1 * f3, m3 + d1 * f2 - d2 * f1
        i = j
        place += width


@kernel
def _column_of_body(z, x, u, change, rate):
    """Changes (dr, dtheta_b) and (d(r_dot), d(omega_b)) of a body for its jet u; x is its velocity."""
    change[0], change[1], change[2] = u[3], u[4], u[5]
    change[3], change[4], change[5] = body_components(z, u[0], u[1], u[2])
    rate[0] = u[9] + u[1] * x[5] - u[2] * x[4]
    rate[1] = u[10] + u[2] * x[3] - u[0] * x[5]
    rate[2] = u[11] + u[0] * x[4] - u[1] * x[3]
    rate[3], rate[4], rate[5] = body_components(z, u[6], u[7], u[8])


@kernel
def _times_block(p, stiffness, damping, change, rate, damped, h):
    """h = K change + C rate with the blocks of a projection."""
    for r in range(p.rows):
        k = p.block + r * p.ld
        total = 0.0
        for e in range(6):
            total += stiffness[k + e] * change[e]
        if damped:
            for e in range(6):
                total += damping[k + e] * rate[e]
        h[r] = total


@kernel
def _add_common_jets(s, w, damped):
    """Blocks between bodies with a common ancestor, as a change of its wrench with its jet."""
    y = w.tree
    h, unit, u, change, rate = y.scratch[0], y.scratch[1], y.scratch[2], y.scratch[3], y.scratch[4]
    for m in range(s.tree.projections.shape[0]):
        p = s.tree.projections[m]
        if p.common == 0:
            continue
        a, b, c = w.z[p.row_body], w.z[p.column_body], w.z[p.common]
        d1, d2, d3 = a[0] - c[0], a[1] - c[1], a[2] - c[2]
        out = y.body_jets[p.common]
        for k in range(12):  # accelerations do not enter
            for e in range(JET):
                unit[e] = 1.0 if e == k else 0.0
            shift_jet(unit, b[0] - c[0], b[1] - c[1], b[2] - c[2], u)
            _column_of_body(b, y.twist[p.column_body], u, change, rate)
            _times_block(p, y.stiffness, y.damping, change, rate, damped, h)
            m1, m2, m3 = axis(a, h[3], h[4], h[5])
            out[k] += m1 + d2 * h[2] - d3 * h[1]
            out[JET + k] += m2 + d3 * h[0] - d1 * h[2]
            out[2 * JET + k] += m3 + d1 * h[1] - d2 * h[0]
            out[3 * JET + k] += h[0]
            out[4 * JET + k] += h[1]
            out[5 * JET + k] += h[2]


@entry(Tables, Work, real, real, integer, front_values, when=by_fronts)
def project_blocks(s, w, cc, ck, wanted, into):
    """Blocks between bodies, and between bodies and constraints, onto the paths of the bodies: all, or of one kind."""
    y = w.tree
    h, u, change, rate = y.scratch[0], y.scratch[1], y.scratch[2], y.scratch[3]
    damped = s.flags[FLAG_VELOCITY] != 0 and (cc != 0.0 or ck != 0.0)
    for m in range(s.tree.projections.shape[0]):
        p = s.tree.projections[m]
        between = p.kind == BETWEEN_BODIES
        if (between and cc == 0.0 and ck == 0.0) or (wanted != ALL_BLOCKS and wanted != p.kind):
            continue
        if p.column_body == 0:
            for c in range(p.columns):
                for r in range(p.rows):
                    k = p.block + r * p.ld + c
                    h[r] = y.stiffness[k] * (ck if between else 1.0)
                    if between and damped:
                        h[r] += cc * y.damping[k]
                _scatter(s, w, p, h, 0, c, into)
            continue
        b, place = p.column_body, 0
        j = b
        while j > 0:
            n = s.nodes[j]
            d1, d2, d3 = w.z[b, 0] - w.z[j, 0], w.z[b, 1] - w.z[j, 1], w.z[b, 2] - w.z[j, 2]
            for c in range(n.nv):
                if between:
                    shift_jet(y.jets[n.v0 + c], d1, d2, d3, u)
                else:
                    shift_motion(y.columns[n.v0 + c], w.z[j], w.z[b], u)
                _column_of_body(w.z[b], y.twist[b], u, change, rate)
                _times_block(p, y.stiffness, y.damping, change, rate, between and damped, h)
                _scatter(s, w, p, h, place, c, into)
            j = s.tree.carried[j].parent
            place += 1
