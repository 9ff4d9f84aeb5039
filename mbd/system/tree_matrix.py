"""The iteration matrix of joint coordinates: from jets, along the tree or assembled; elements are projected onto it.

Elements make their blocks for bodies with velocities (r_dot, omega_body) of their own, by the kernels that absolute Lie
nodes have. A jet (xi, xi', xi'') of such a body with velocity r_dot changes

    dr = xi_v,  dtheta_b = R^T xi_w,  d(r_dot) = xi'_v + xi_w x r_dot,  d(omega_b) = R^T xi'_w

and a torque of an element turns with its body while a force does not.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, matrix, real, vector
from ..linalg.front import FAILED, SMALLEST_RATIO, WEAKEST
from ..math.arrays import clear
from ..nodes.forms import FORM_QUATERNION
from ..nodes.inertia import frame_stiffness
from ..nodes.internal import internal_blocks
from ..nodes.markers import axis, body_components
from ..nodes.tree.jets import (
    BODY_JET,
    JET,
    add_body_jet,
    body_jet,
    column_jets,
    jet_dot,
    jet_product,
    jet_row,
    shift_jet,
    shift_jet_row,
)
from ..nodes.tree.own_block import own_correction
from ..nodes.tree.radial import radial_entry
from ..nodes.tree.records import BETWEEN_BODIES
from ..nodes.tree.recursion import (
    COLUMN,
    INVERSE,
    JET_AT,
    JET_OF,
    PER_NODE,
    SHIFT,
    WRENCH,
    eliminate_joint,
    node_place,
    solve_down,
    solve_up,
    velocity_place,
)
from ..nodes.tree.spatial import dot_six, shift_motion
from .blocks import joint_blocks, node_blocks
from .couplings import coupling_stiffness, coupling_tangent
from .instant_elements import all_force_tangents
from .tables import (
    BY_FRONTS,
    BY_RECURSION,
    FLAG_COUPLED,
    FLAG_LOADED,
    FLAG_TREE,
    FLAG_VELOCITY,
    Tables,
    Work,
    coordinates,
    front_values,
    multipliers,
    unknowns,
    velocity,
)
from .tree_instant import inner_tables, joint_tension


def _has_tree(s: Tables) -> bool:
    return bool(s.flags[FLAG_TREE])


def _by_recursion(s: Tables) -> bool:
    return bool(s.flags[FLAG_TREE] == BY_RECURSION)


def _by_fronts(s: Tables) -> bool:
    return bool(s.flags[FLAG_TREE] == BY_FRONTS)


def _is_loaded(s: Tables) -> bool:
    return bool(s.flags[FLAG_TREE]) and bool(s.flags[FLAG_LOADED])


# --- jets -------------------------------------------------------------------------------------------------------------


@kernel
def _all_jets(s, w, q, v, vd, t, cm, cc, ck):
    """Jets of all columns; leaves velocities and accelerations of the bodies."""
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        zp, z = w.z[c.parent], w.z[i]
        shift_motion(y.twist[c.parent], zp, z, y.twist[i])
        shift_motion(y.acceleration[c.parent], zp, z, y.acceleration[i])
        column_jets(
            n, c, q, v, vd, w.spin[i], t[i], y.columns, y.balls[i], y.twist[i], y.acceleration[i], cm, cc, ck,
            y.jets, y.scratch,
        )  # fmt: skip


@kernel
def _all_body_jets(s, w):
    """Change of every body's own wrench with its jet."""
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        body_jet(s.nodes[i], w.z[i], y.twist[i], y.inertial[i], s.gravity, y.body_jets[i], y.scratch[0], y.scratch[1])


@kernel
def _diagonal(s, w, q, v, cm, cc, ck):
    """What springs, dampers and rotors on joints add to the diagonal."""
    y = w.tree
    for k in range(s.tree.inertia.shape[0]):
        y.diagonal[k] = cm * s.tree.inertia[k]
    for m in range(s.tree.loads.shape[0]):
        f, du, dr = joint_tension(s, w, m, q, v, 1)
        y.diagonal[s.tree.loads[m, 1]] += ck * du + cc * dr


# --- elements ---------------------------------------------------------------------------------------------------------


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
        joint_blocks(inner, w, k, y.q, lam, curved, y.stiffness)
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
def _scatter(s, w, p, h, place, column, width, into):
    """Add one column h of a block (its rows) to the matrix; place is that of the first row's block."""
    y = w.tree
    if p.row_body == 0:
        o, ld = s.tree.places[place, 0], s.tree.places[place, 1]
        for r in range(p.rows):
            into[o + r * ld + column] += h[r]
        return
    # wrench on the body, taken down its path
    i = p.row_body
    m1, m2, m3 = axis(w.z[i], h[3], h[4], h[5])
    f1, f2, f3 = h[0], h[1], h[2]
    while i > 0:
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


@entry(Tables, Work, real, real, front_values, when=_by_fronts)
def project_blocks(s, w, cc, ck, into):
    """Blocks between bodies, and between bodies and constraints, onto the paths of the bodies."""
    y = w.tree
    h, u, change, rate = y.scratch[0], y.scratch[1], y.scratch[2], y.scratch[3]
    damped = s.flags[FLAG_VELOCITY] != 0 and (cc != 0.0 or ck != 0.0)
    for m in range(s.tree.projections.shape[0]):
        p = s.tree.projections[m]
        between = p.kind == BETWEEN_BODIES
        if between and cc == 0.0 and ck == 0.0:
            continue
        if p.column_body == 0:
            for c in range(p.columns):
                for r in range(p.rows):
                    k = p.block + r * p.ld + c
                    h[r] = y.stiffness[k] * (ck if between else 1.0)
                    if between and damped:
                        h[r] += cc * y.damping[k]
                _scatter(s, w, p, h, p.first, c, 1, into)
            continue
        width = s.tree.paths[p.column_body, 1]
        b, place = p.column_body, p.first
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
                for r in range(p.rows):
                    k = p.block + r * p.ld
                    total = 0.0
                    for e in range(6):
                        total += y.stiffness[k + e] * change[e]
                    if between and damped:
                        for e in range(6):
                            total += y.damping[k + e] * rate[e]
                    h[r] = total
                _scatter(s, w, p, h, place, c, width, into)
            j = s.tree.carried[j].parent
            place += 1


# --- the matrix -------------------------------------------------------------------------------------------------------


@kernel
def _block(s, i, j, place, dense):
    """Where the block of nodes (i, j) is: (offset, stride)."""
    if dense > 0:
        return s.nodes[i].v0 * dense + s.nodes[j].v0, dense
    return s.tree.places[place, 0], s.tree.places[place, 1]


@kernel
def _composite(s, w, q, v, vd, lam, cm, cc, ck, dense, into):
    """Add the entries of all pairs of joints along paths, from the leaves to the root.

    ``dense``: number of columns of a plain matrix in the order of the velocities, zero for the fronts.
    """
    y = w.tree
    row, product = y.scratch[0], y.scratch[1]
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        p, f = y.body_jets[i], y.wrench[i]
        first = s.tree.paths[i, 0]
        for a in range(n.nv):
            k = n.v0 + a
            jet_row(y.columns[k], f, p, row)
            o, ld = _block(s, i, i, first, dense)
            for b in range(n.nv):
                value = jet_dot(row, y.jets[n.v0 + b])
                if n.nv > 1:
                    value += own_correction(
                        n, c, q, w.spin[i], y.columns, y.balls[i], f, ck, k, n.v0 + b, y.scratch[2:]
                    )
                if n.form == FORM_QUATERNION and a >= n.nx and b >= n.nx:
                    value += radial_entry(n, q, v, vd, a - n.nx, b - n.nx, cm, cc, ck)
                if a == b:
                    value += y.diagonal[k]
                into[o + a * ld + b] += value
            j, place = i, first
            while s.tree.carried[j].parent > 0:  # the row and the ancestors' columns
                x = s.tree.carried[j].parent
                d1, d2, d3 = w.z[j, 0] - w.z[x, 0], w.z[j, 1] - w.z[x, 1], w.z[j, 2] - w.z[x, 2]
                shift_jet_row(row, d1, d2, d3)
                j = x
                place += 2
                o, ld = _block(s, i, j, place, dense)
                for b in range(s.nodes[j].nv):
                    into[o + a * ld + b] += jet_dot(row, y.jets[s.nodes[j].v0 + b])
        for b in range(n.nv):  # the column and the ancestors' rows
            jet_product(p, y.jets[n.v0 + b], product)
            j, place = i, first
            while s.tree.carried[j].parent > 0:
                x = s.tree.carried[j].parent
                d1, d2, d3 = w.z[j, 0] - w.z[x, 0], w.z[j, 1] - w.z[x, 1], w.z[j, 2] - w.z[x, 2]
                product[0] += d2 * product[5] - d3 * product[4]
                product[1] += d3 * product[3] - d1 * product[5]
                product[2] += d1 * product[4] - d2 * product[3]
                j = x
                place += 2
                o, ld = _block(s, j, i, place + 1, dense)
                for a in range(s.nodes[j].nv):
                    into[o + a * ld + b] += dot_six(product, y.columns[s.nodes[j].v0 + a])
        x = c.parent
        if x > 0:
            d1, d2, d3 = w.z[i, 0] - w.z[x, 0], w.z[i, 1] - w.z[x, 1], w.z[i, 2] - w.z[x, 2]
            add_body_jet(p, d1, d2, d3, y.body_jets[x])


@entry(
    Tables, Work, coordinates, velocity, velocity, multipliers, matrix, real, real, real, front_values, when=_by_fronts
)
def assembled_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The matrix in the fronts; jets and blocks of elements are there already."""
    clear(into)
    _composite(s, w, q, v, vd, lam, cm, cc, ck, 0, into)
    for m in range(s.tree.order.shape[0]):
        n = s.nodes[s.tree.order[m]]
        if n.nl > 0:
            internal_blocks(n, q, q, lam, ck, into)
    for m in range(s.tree.free.shape[0]):
        node_blocks(s, w, s.tree.free[m], q, v, vd, lam, t, cm, cc, ck, into)
    if s.flags[FLAG_LOADED] != 0:
        project_blocks(s, w, cc, ck, into)


@kernel
def _prepare(s, w, q, v, lam, t, cc, ck):
    """Jets of bodies with blocks of elements."""
    _all_body_jets(s, w)
    if s.flags[FLAG_LOADED] != 0:
        element_blocks(s, w, q, v, lam, t, cc, ck)


@kernel
def _store(s, w, q, ck, into):
    """Factors of the recursion before the elimination: jets, columns, shifts, what joints add to their own block."""
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        p = c.parent
        o = node_place(i)
        own = into[o : o + BODY_JET]
        if s.flags[FLAG_LOADED] != 0:
            for k in range(BODY_JET):
                own[k] = y.body_jets[i, k]
        else:
            body_jet(n, w.z[i], y.twist[i], y.inertial[i], s.gravity, own, y.scratch[0], y.scratch[1])
        for k in range(3):
            into[o + SHIFT + k] = w.z[i, k] - w.z[p, k]
        for k in range(n.v0, n.v0 + n.nv):
            o = velocity_place(s.nodes, k)
            for e in range(6):
                into[o + COLUMN + e] = y.columns[k, e]
            for e in range(18):
                into[o + JET_OF + e] = y.jets[k, e]
            for b in range(n.nv):
                value = y.diagonal[k] if n.v0 + b == k else 0.0
                if n.nv > 1:
                    value += own_correction(
                        n, c, q, w.spin[i], y.columns, y.balls[i], y.wrench[i], ck, k, n.v0 + b, y.scratch
                    )
                into[o + INVERSE + b] = value


@entry(
    Tables, Work, coordinates, velocity, velocity, multipliers, matrix, real, real, real, front_values, when=_has_tree
)
def tree_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The matrix of joint coordinates, in the fronts, or what the recursion needs in its place."""
    _all_jets(s, w, q, v, vd, t, cm, cc, ck)
    _diagonal(s, w, q, v, cm, cc, ck)
    if s.flags[FLAG_TREE] == BY_FRONTS or s.flags[FLAG_LOADED] != 0:
        _prepare(s, w, q, v, lam, t, cc, ck)
    if s.flags[FLAG_TREE] == BY_FRONTS:
        assembled_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into)
    else:
        _store(s, w, q, ck, into)


@entry(Tables, Work, coordinates, velocity, velocity, multipliers, matrix, real, real, real, vector, when=_by_recursion)
def plain_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The same as a plain matrix, row by row in the order of the velocities, where the recursion does without one."""
    _all_jets(s, w, q, v, vd, t, cm, cc, ck)
    _diagonal(s, w, q, v, cm, cc, ck)
    _prepare(s, w, q, v, lam, t, cc, ck)
    clear(into)
    _composite(s, w, q, v, vd, lam, cm, cc, ck, s.xv.shape[0], into)


# --- the recursion ----------------------------------------------------------------------------------------------------


@entry(Tables, Work, front_values, when=_by_recursion)
def eliminate_tree(s, w, factors):
    """Factors of the recursion from what ``tree_tangent`` left; w.report tells whether it can be done.

    A joint whose pivot vanishes moves nothing.
    """
    y = w.tree
    w.report[SMALLEST_RATIO], w.report[WEAKEST], w.report[FAILED] = 1.0, 0.0, 0.0
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n, p = s.nodes[i], s.tree.carried[i].parent
        if not eliminate_joint(s.nodes, n, y.columns, y.wrench[i], p, i, factors, y.scratch[0]):
            w.report[SMALLEST_RATIO], w.report[WEAKEST], w.report[FAILED] = 0.0, n.x0, 1.0
            return


@entry(Tables, front_values, unknowns, when=_by_recursion)
def solve_upwards(s, factors, x):
    """From the leaves to the root."""
    for m in range(s.tree.order.shape[0]):
        o = node_place(s.tree.order[m]) + WRENCH
        for k in range(6):
            factors[o + k] = 0.0
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        solve_up(s.nodes, s.nodes[i], s.tree.carried[i].parent, i, factors, x)


@entry(Tables, front_values, unknowns, integer, when=_by_recursion)
def solve_along_tree(s, factors, x, eliminated):
    """Solve with the factors of the recursion, in place."""
    if eliminated == 0:
        solve_upwards(s, factors, x)
    for k in range(JET_AT, PER_NODE):
        factors[k] = 0.0  # the ground does not move
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        solve_down(s.nodes, s.nodes[i], s.tree.carried[i].parent, i, factors, x)
