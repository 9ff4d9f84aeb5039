"""Joint coordinates over a step of the midpoint Lagrangian: momenta, forces of constraints, and the matrix.

With L_d(q0, q1) = h L(qm, (q1 - q0)/h), all evaluated in the middle of the step (``nodes.tree.momentum``):

    -h D1 L_d, h D2 L_d = h^2/2 (2/h S . H +- (S . W - S1 . H))

where W are the wrenches of gravity and elements, with the sign of the residual.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, matrix, real, vector
from ..joints.instant import primitive_force
from ..linalg.front import FAILED, SMALLEST_RATIO, WEAKEST
from ..math.arrays import clear
from ..nodes.forms import FORM_QUATERNION
from ..nodes.frames import has_frame
from ..nodes.inertia import pull_back
from ..nodes.internal import internal_force
from ..nodes.tree.dynamics import add_frame_force
from ..nodes.tree.jets import body_jet
from ..nodes.tree.momentum import (
    COLUMNS,
    JET_AT,
    JET_OF,
    PAIR,
    PAIR_SIZE,
    PER_NODE,
    SHIFT,
    WRENCH,
    add_pair,
    body_pair,
    column_place,
    eliminate_pair,
    own_pair_correction,
    pair_dot,
    pair_place,
    pair_product,
    pair_row,
    shift_forces,
    shift_pair_row,
    solve_pair_down,
    solve_pair_up,
)
from ..nodes.tree.radial import radial_inertia
from ..nodes.tree.records import BETWEEN_BODIES, FROM_CONSTRAINT, TO_CONSTRAINT
from ..nodes.tree.recursion import INVERSE
from ..nodes.tree.spatial import (
    add_force_cross,
    add_shifted_force,
    add_six,
    clear_six,
    dot_six,
    inertia_product,
    world_inertia,
)
from .couplings import coupling_reactions
from .element_forces import constant
from .tables import (
    BY_FRONTS,
    FLAG_COUPLED,
    FLAG_LOADED,
    FLAG_TREE,
    PARAMETER_ARM,
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
from .tree_elements import element_blocks, project_blocks
from .tree_instant import joint_load, tree_frames, tree_loads, tree_velocities
from .tree_matrix import all_jets, joint_diagonal

START, END, MOMENTA = 1, -1, 0  # -h D1 L_d, h D2 L_d, or h p at an instant


@kernel
def _body_wrenches(s, w, forces):
    """Momentum, and gravity with elements where forces act, of every carried body; sizes of these to w.scales."""
    y = w.tree
    force, torque = 0.0, 0.0
    x, f = y.scratch[0], y.scratch[1]
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n = s.nodes[i]
        j = world_inertia(n, w.z[i])
        inertia_product(n.mass, j, y.twist[i], y.inertial[i])
        clear_six(y.wrench[i])
        if forces:
            for k in range(3):
                x[k], x[3 + k] = 0.0, -s.gravity[k]
            inertia_product(n.mass, j, x, y.wrench[i])
            if s.flags[FLAG_LOADED] != 0:
                add_six(1.0, y.applied[i], y.wrench[i])
            clear_six(f)
            add_force_cross(1.0, y.twist[i], y.inertial[i], f)
            for k in range(3):
                torque = max(torque, abs(y.wrench[i, k]), abs(f[k]))
                force = max(force, abs(y.wrench[i, 3 + k]), abs(f[3 + k]))
    if forces:
        w.scales[0], w.scales[1] = force, max(torque, force * s.parameters[PARAMETER_ARM])


@entry(Tables, Work, coordinates, velocity, multipliers, real, integer, velocity, when=has_tree)
def midpoint_rows(s, w, q, v, none, h, end, out):
    """Into out, by velocity: what START, END or MOMENTA ask for; of bodies in absolute coordinates their forces.

    Moves frames and jets there; the functions of time are those of w.values.
    """
    y = w.tree
    tree_frames(s, w, q)
    tree_velocities(s, w, q, v)
    all_jets(s, w, q, v, v, w.eye, 0.0, 0.0, 1.0)
    forces = end != MOMENTA
    if forces and (s.flags[FLAG_LOADED] != 0 or s.tree.free.shape[0] > 0):
        tree_loads(s, w, none)
    _body_wrenches(s, w, forces)
    half = 0.5 * h * h
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n = s.nodes[i]
        p = s.tree.carried[i].parent
        f, momentum = y.wrench[i], y.inertial[i]
        for k in range(n.v0, n.v0 + n.nv):
            s0 = y.columns[k]
            out[k] = h * (dot_six(s0, momentum) + s.tree.inertia[k] * v[k])
            if forces:
                out[k] += end * half * (dot_six(s0, f) - dot_six(y.jets[k, 6:12], momentum))
        if n.form == FORM_QUATERNION:
            _radial_momentum(n, q, v, h, end, out)
        if p > 0:
            add_shifted_force(f, w.z[i], w.z[p], y.wrench[p])
            add_shifted_force(momentum, w.z[i], w.z[p], y.inertial[p])
    if not forces:
        return
    for m in range(s.tree.loads.shape[0]):
        load = joint_load(s, w, m, q, v)
        out[s.tree.loads[m, 1]] += end * half * load
        w.scales[1] = max(w.scales[1], abs(load))
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        for k in range(12):
            j = 0 if k < 3 else 1
            w.scales[j] = max(w.scales[j], abs(w.f[i, k]))
        if has_frame(n):
            pull_back(n, q, w.spin[i], w.z[i], w.f[i], out, n.v0)


@kernel
def _radial_momentum(n, q, v, h, end, out):
    """out += that of the kinetic energy m (e . e_dot)^2 / 2 of the length of a quaternion: h m (e . e_dot) (e -+ h/2
    e_dot)."""
    j, o = n.q0 + n.nx, n.v0 + n.nx
    c = 0.0
    for m in range(4):
        c += q[j + m] * v[o + m]
    c *= h * radial_inertia(n)
    for m in range(4):
        out[o + m] += c * (q[j + m] - end * 0.5 * h * v[o + m])


@entry(Tables, Work, coordinates, multipliers, unknowns, when=has_tree)
def constraint_rows(s, w, q, lam, x):
    """Dynamic rows of x += G(q)^T lambda (frames must be up to date)."""
    y = w.tree
    for i in range(s.nodes.shape[0]):
        clear(w.f[i])
        clear_six(y.wrench[i])
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        primitive_force(p, w.z[p.a], w.z[p.b], constant(p, w.values), lam, p.l0, w.f[p.a], w.f[p.b])
    if s.flags[FLAG_COUPLED] != 0:
        coupling_reactions(s, w, lam)
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n = s.nodes[i]
        p = s.tree.carried[i].parent
        add_frame_force(w.z[i], w.f[i], y.wrench[i])
        for k in range(n.nv):
            x[n.x0 + k] += dot_six(y.columns[n.v0 + k], y.wrench[i])
        if n.nl > 0:
            internal_force(n, q, lam, x)
        if p > 0:
            add_shifted_force(y.wrench[i], w.z[i], w.z[p], y.wrench[p])
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        if has_frame(n):
            pull_back(n, q, w.spin[i], w.z[i], w.f[i], w.pulled_back, 0)
            for k in range(n.nv):
                x[n.x0 + k] += w.pulled_back[k]
            if n.nl > 0:
                internal_force(n, q, lam, x)


# --- the matrix -------------------------------------------------------------------------------------------------------


@kernel
def _step_jets(w, cc, ck):
    """Jets of the increments of a step from those of the coordinates, whose second parts are kept in y.projected."""
    y = w.tree
    for k in range(y.columns.shape[0]):
        s0, rate, u = y.columns[k], y.projected[k], y.jets[k]
        for m in range(6):
            rate[m] = u[6 + m]
            u[m] = ck * s0[m]
            u[6 + m] = ck * rate[m] + cc * s0[m]


@kernel
def _force_jets(s, w, q, v, none, cc, ck):
    """Change of the wrench of gravity and elements with the jet of each body, into y.body_jets."""
    y = w.tree
    still, weight, x = y.scratch[2], y.scratch[3], y.scratch[4]
    clear_six(still)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n = s.nodes[i]
        for k in range(3):
            x[k], x[3 + k] = 0.0, -s.gravity[k]
        inertia_product(n.mass, world_inertia(n, w.z[i]), x, weight)
        body_jet(n, w.z[i], still, weight, s.gravity, y.body_jets[i], y.scratch[0], y.scratch[1])
    if s.flags[FLAG_LOADED] != 0:
        element_blocks(s, w, q, v, none, w.eye, cc, ck)


@kernel
def _add_wrench(s, w, c):
    """y.wrench = B = c H + W of every body with all that it carries."""
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        add_six(c, y.inertial[i], y.wrench[i])


@kernel
def _own_entry(w, n, c, i, q, v, k, b, cc, ck):
    """What the entry (k, b) of the own block of joint i has besides y U."""
    y = w.tree
    value = y.diagonal[k] if k == b else 0.0
    if n.nv > 1:
        value += own_pair_correction(
            n, c, q, v, y.columns, y.projected, y.jets, y.balls[i], y.twist[i], y.wrench[i], y.inertial[i], cc, ck,
            k, b, y.scratch[4:],
        )  # fmt: skip
    if n.form == FORM_QUATERNION and k >= n.v0 + n.nx and b >= n.v0 + n.nx:
        j = n.q0 - n.v0
        start, end = q[j + k] - cc * v[k], q[j + b] + cc * v[b]  # in the middle of the step, cc = h/2
        value += radial_inertia(n) * start * end
    return value


@entry(Tables, Work, coordinates, velocity, multipliers, real, matrix, vector, when=has_tree)
def midpoint_matrix(s, w, q, v, none, h, pairs, into):
    """Derivative of the START rows with the increments, after ``midpoint_rows`` for them; that of bodies in absolute
    coordinates has its elements only. With the fronts ``into`` is the matrix, along the tree the factors."""
    y = w.tree
    cc, ck = 0.5 * h, 0.25 * h * h
    _step_jets(w, cc, ck)
    joint_diagonal(s, w, q, v, 1.0, cc, ck)
    _force_jets(s, w, q, v, none, cc, ck)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n = s.nodes[i]
        inertia_product(n.mass, world_inertia(n, w.z[i]), y.twist[i], y.scratch[1])
        body_pair(n, w.z[i], y.scratch[1], y.body_jets[i], 2.0 / h, pairs[i], y.scratch[0])
    _add_wrench(s, w, 2.0 / h)
    if s.flags[FLAG_TREE] == BY_FRONTS:
        assembled_pairs(s, w, q, v, h, pairs, into)
    else:
        eliminated_pairs(s, w, q, v, h, pairs, into)


@entry(Tables, Work, coordinates, velocity, real, matrix, front_values, when=by_fronts)
def assembled_pairs(s, w, q, v, h, pairs, into):
    """The matrix in the fronts."""
    y = w.tree
    cc, ck = 0.5 * h, 0.25 * h * h
    clear(into)
    row, product = y.scratch[0], y.scratch[1]
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        first = s.tree.paths[i, 0]
        for a in range(n.nv):
            k = n.v0 + a
            pair_row(y.columns[k], y.projected[k], y.wrench[i], y.inertial[i], pairs[i], row)
            o, ld = s.tree.places[first, 0], s.tree.places[first, 1]
            for b in range(n.nv):
                into[o + a * ld + b] += pair_dot(row, y.jets[n.v0 + b])
                into[o + a * ld + b] += _own_entry(w, n, c, i, q, v, k, n.v0 + b, cc, ck)
            j, place = i, first
            while s.tree.carried[j].parent > 0:  # the row and the ancestors' columns
                x = s.tree.carried[j].parent
                shift_pair_row(row, w.z[j, 0] - w.z[x, 0], w.z[j, 1] - w.z[x, 1], w.z[j, 2] - w.z[x, 2])
                j = x
                place += 2
                o, ld = s.tree.places[place, 0], s.tree.places[place, 1]
                for b in range(s.nodes[j].nv):
                    into[o + a * ld + b] += pair_dot(row, y.jets[s.nodes[j].v0 + b])
        for b in range(n.nv):  # the column and the ancestors' rows
            pair_product(pairs[i], y.jets[n.v0 + b], product)
            j, place = i, first
            while s.tree.carried[j].parent > 0:
                x = s.tree.carried[j].parent
                shift_forces(product, w.z[j, 0] - w.z[x, 0], w.z[j, 1] - w.z[x, 1], w.z[j, 2] - w.z[x, 2])
                j = x
                place += 2
                o, ld = s.tree.places[place + 1, 0], s.tree.places[place + 1, 1]
                for a in range(s.nodes[j].nv):
                    k = s.nodes[j].v0 + a
                    into[o + a * ld + b] += dot_six(y.columns[k], product) - dot_six(y.projected[k], product[6:])
        x = c.parent
        if x > 0:
            add_pair(pairs[i], w.z[i, 0] - w.z[x, 0], w.z[i, 1] - w.z[x, 1], w.z[i, 2] - w.z[x, 2], pairs[x])
    if s.flags[FLAG_LOADED] != 0:
        project_blocks(s, w, cc, ck, BETWEEN_BODIES, into)


@entry(Tables, Work, coordinates, velocity, real, matrix, vector, when=by_recursion)
def eliminated_pairs(s, w, q, v, h, pairs, factors):
    """Factors along the tree; w.report tells whether they exist."""
    y = w.tree
    cc, ck = 0.5 * h, 0.25 * h * h
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        o = pair_place(i)
        for k in range(PAIR_SIZE):
            factors[o + k] = pairs[i, k]
        for k in range(3):
            factors[o + SHIFT + k] = w.z[i, k] - w.z[c.parent, k]
        for k in range(n.v0, n.v0 + n.nv):
            o = column_place(s.nodes, k)
            for e in range(6):
                factors[o + COLUMNS + e] = y.columns[k, e]
                factors[o + COLUMNS + 6 + e] = -y.projected[k, e]
            for e in range(PAIR):
                factors[o + JET_OF + e] = y.jets[k, e]
            for b in range(n.nv):
                factors[o + INVERSE + b] = _own_entry(w, n, c, i, q, v, k, n.v0 + b, cc, ck)
    w.report[SMALLEST_RATIO], w.report[WEAKEST], w.report[FAILED] = 1.0, 0.0, 0.0
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n, p = s.nodes[i], s.tree.carried[i].parent
        f, momentum = y.wrench[i], y.inertial[i]
        if not eliminate_pair(s.nodes, n, y.columns, y.projected, f, momentum, p, i, factors, y.scratch[0]):
            w.report[SMALLEST_RATIO], w.report[WEAKEST], w.report[FAILED] = 0.0, n.x0, 1.0
            return


@entry(Tables, Work, vector, unknowns, when=by_recursion)
def solve_pairs(s, w, factors, x):
    """Solve with the factors along the tree, in place."""
    for m in range(s.tree.order.shape[0]):
        o = pair_place(s.tree.order[m]) + WRENCH
        for k in range(PAIR):
            factors[o + k] = 0.0
    for k in range(JET_AT, PER_NODE):
        factors[k] = 0.0  # the ground does not move
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        solve_pair_up(s.nodes, s.nodes[i], s.tree.carried[i].parent, i, factors, x, w.tree.scratch[0])
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        solve_pair_down(s.nodes, s.nodes[i], s.tree.carried[i].parent, i, factors, x)


@kernel
def constraint_blocks(s, w, q, v, none, kind, into):
    """Add B (TO_CONSTRAINT) or B^T (FROM_CONSTRAINT) of all joints that are constraints, at the frames of w."""
    element_blocks(s, w, q, v, none, w.eye, 0.0, 0.0)
    project_blocks(s, w, 0.0, 0.0, kind, into)


__all__ = [
    "END", "FROM_CONSTRAINT", "MOMENTA", "START", "TO_CONSTRAINT", "constraint_blocks", "constraint_rows",
    "midpoint_matrix", "midpoint_rows", "solve_pairs",
]  # fmt: skip
