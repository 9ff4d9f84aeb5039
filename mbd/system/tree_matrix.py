"""The iteration matrix of joint coordinates: from jets, along the tree or assembled."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import fours, fours_matrix, integer, matrix, real, vector
from ..linalg.front import FAILED, SMALLEST_RATIO, WEAKEST
from ..math.arrays import clear
from ..nodes.forms import FORM_QUATERNION
from ..nodes.internal import internal_blocks
from ..nodes.tree.jets import (
    BODY_JET,
    JET,
    add_body_jet,
    body_jet,
    column_jets,
    jet_dot,
    jet_product,
    jet_row,
    shift_jet_row,
)
from ..nodes.tree.own_block import own_correction
from ..nodes.tree.radial import radial_entry
from ..nodes.tree.recursion import (
    COLUMN,
    INVERSE,
    JET_AT,
    JET_OF,
    PER_NODE,
    SHIFT,
    eliminate_joint,
    jet_place,
    node_place,
    solve_down,
    solve_up,
    velocity_place,
    wrench_place,
)
from ..nodes.tree.spatial import dot_six, shift_motion
from .blocks import node_blocks
from .tables import (
    BY_FRONTS,
    FLAG_LOADED,
    FLAG_TREE,
    Tables,
    Work,
    by_fronts,
    by_recursion,
    coordinates,
    front_values,
    has_tree,
    multipliers,
    unknowns,
    velocity,
)
from .tree_elements import ALL_BLOCKS, element_blocks, project_blocks
from .tree_instant import joint_tension

# --- jets -------------------------------------------------------------------------------------------------------------


@kernel
def all_jets(s, w, q, v, vd, t, cm, cc, ck):
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
def joint_diagonal(s, w, q, v, cm, cc, ck):
    """What springs, dampers and rotors on joints add to the diagonal."""
    y = w.tree
    for k in range(s.tree.inertia.shape[0]):
        y.diagonal[k] = cm * s.tree.inertia[k]
    for m in range(s.tree.loads.shape[0]):
        f, du, dr = joint_tension(s, w, m, q, v, 1)
        y.diagonal[s.tree.loads[m, 1]] += ck * du + cc * dr


# --- the matrix -------------------------------------------------------------------------------------------------------


@kernel
def _block(s, i, j, place, dense):
    """Where the block of nodes (i, j) is: (offset, stride)."""
    if dense > 0:
        return s.nodes[i].v0 * dense + s.nodes[j].v0, dense
    return s.tree.places[place, 0], s.tree.places[place, 1]


@kernel
def _composite(s, w, q, v, vd, cm, cc, ck, dense, into):
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
    Tables, Work, coordinates, velocity, velocity, multipliers, matrix, real, real, real, front_values, when=by_fronts
)
def assembled_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The matrix in the fronts; jets and blocks of elements are there already."""
    clear(into)
    _composite(s, w, q, v, vd, cm, cc, ck, 0, into)
    for m in range(s.tree.order.shape[0]):
        n = s.nodes[s.tree.order[m]]
        if n.nl > 0:
            internal_blocks(n, q, q, lam, ck, into)
    for m in range(s.tree.free.shape[0]):
        node_blocks(s, w, s.tree.free[m], q, v, vd, lam, t, cm, cc, ck, into)
    if s.flags[FLAG_LOADED] != 0:
        project_blocks(s, w, cc, ck, ALL_BLOCKS, into)


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
    Tables, Work, coordinates, velocity, velocity, multipliers, matrix, real, real, real, front_values, when=has_tree
)
def tree_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The matrix of joint coordinates, in the fronts, or what the recursion needs in its place."""
    all_jets(s, w, q, v, vd, t, cm, cc, ck)
    joint_diagonal(s, w, q, v, cm, cc, ck)
    if s.flags[FLAG_TREE] == BY_FRONTS or s.flags[FLAG_LOADED] != 0:
        _prepare(s, w, q, v, lam, t, cc, ck)
    if s.flags[FLAG_TREE] == BY_FRONTS:
        assembled_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into)
    else:
        _store(s, w, q, ck, into)


@entry(Tables, Work, coordinates, velocity, velocity, multipliers, matrix, real, real, real, vector, when=by_recursion)
def plain_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The tangent as a plain matrix, row by row in the order of the velocities: the recursion does without one."""
    all_jets(s, w, q, v, vd, t, cm, cc, ck)
    joint_diagonal(s, w, q, v, cm, cc, ck)
    _prepare(s, w, q, v, lam, t, cc, ck)
    clear(into)
    _composite(s, w, q, v, vd, cm, cc, ck, s.xv.shape[0], into)


# --- the recursion ----------------------------------------------------------------------------------------------------


@entry(Tables, Work, front_values, when=by_recursion)
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


@entry(Tables, front_values, unknowns, when=by_recursion)
def solve_upwards(s, factors, x):
    """From the leaves to the root."""
    for m in range(s.tree.order.shape[0]):
        o = wrench_place(s.tree.order[m])
        for k in range(6):
            factors[o + k] = 0.0
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        p = s.tree.carried[i].parent
        o, u = wrench_place(i), wrench_place(p)
        solve_up(s.nodes, s.nodes[i], p, i, factors, factors[o : o + 6], factors[u : u + 6], x)


@entry(Tables, front_values, unknowns, integer, when=by_recursion)
def solve_along_tree(s, factors, x, eliminated):
    """Solve with the factors of the recursion, in place."""
    if eliminated == 0:
        solve_upwards(s, factors, x)
    for k in range(JET_AT, PER_NODE):
        factors[k] = 0.0  # the ground does not move
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        o, u = jet_place(i), jet_place(s.tree.carried[i].parent)
        solve_down(s.nodes, s.nodes[i], i, factors, factors[u : u + JET], factors[o : o + JET], x)


@entry(Tables, front_values, fours, fours_matrix, fours_matrix, when=by_recursion)
def solve_four_along_tree(s, factors, x, wrenches, jets):
    """Solve for four right-hand sides at once, in place; w and X of the nodes are kept beside the factors."""
    for m in range(s.tree.order.shape[0]):
        clear(wrenches[s.tree.order[m]])
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        p = s.tree.carried[i].parent
        solve_up(s.nodes, s.nodes[i], p, i, factors, wrenches[i], wrenches[p], x)
    clear(jets[0])
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        solve_down(s.nodes, s.nodes[i], i, factors, jets[s.tree.carried[i].parent], jets[i], x)
