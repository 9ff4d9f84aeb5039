"""The pieces of an evaluation: loops over the tables; the formulas are in the nodes, primitives and forces.

Right-hand sides are written in the solver's order of unknowns (``x0`` of nodes and primitives), so that nothing is
permuted. Each piece is compiled once, as an entry; ``mbd.system.evaluate`` is how kernels and people call them.
"""

from __future__ import annotations

from ..compiled.boundary import address, arguments, integer, integers, matrix, real, vector
from ..compiled.kernel import kernel
from ..joints.instant import (
    BOTH,
    COINCIDENT,
    primitive_blocks,
    primitive_curvature,
    primitive_drive,
    primitive_force,
    primitive_rate,
    primitive_stiffness,
    primitive_value,
)
from ..linalg.numeric import factor_dense, factor_tree, solve_dense, solve_tree
from ..nodes.forms import FORM_GENERALIZED, FORM_QUATERNION, FORM_SPIN
from ..nodes.frames import node_bias, update_biases, update_frames, update_velocities
from ..nodes.inertia import frame_stiffness, node_residual
from ..nodes.internal import internal_bilinear, internal_blocks, internal_constraints, internal_force
from ..nodes.mass import weight
from ..nodes.tangent import node_tangent
from ..nodes.update import update_coordinates
from .couplings import call_extra_constraints, call_extra_forces, call_extra_tangent
from .optional import (
    GENERALIZED_CURVATURE,
    GENERALIZED_FORCES,
    GENERALIZED_RATES,
    GENERALIZED_VALUES,
    call_force_tangent,
    call_forces,
    call_generalized,
    call_generalized_tangent,
    call_spin_tangent,
)
from .tables import (
    ENTRY_CONSTRAINTS,
    ENTRY_DYNAMICS,
    ENTRY_MOTION,
    ENTRY_TANGENT,
    ENTRY_UPDATE,
    FLAG_EXTRA,
    FLAG_REDUNDANT,
    PARAMETER_REGULARISATION,
)
from .types import load_tables, load_work

LEVEL_FRAMES, LEVEL_VELOCITIES, LEVEL_BIASES = 0, 1, 2
LEVEL_POSITION, LEVEL_VELOCITY, LEVEL_ACCELERATION = 0, 1, 2


@kernel
def move(s, w, q, v, level):
    """Frames (level 0), their velocities (1), or their accelerations at zero coordinate acceleration (2)."""
    if level == LEVEL_FRAMES:
        update_frames(s.nodes, q, w.z, w.spin)
    elif level == LEVEL_VELOCITIES:
        update_velocities(s.nodes, q, v, w.spin, w.z, w.zd, w.small)
    else:
        update_biases(s.nodes, q, v, w.spin, w.z, w.zd, w.zb, w.small)


@kernel
def update(s, w, q, dq, out, stored):
    """The update of absolute coordinates, and the frames at the new ones."""
    update_coordinates(s.nodes, q, dq, out, w.z, w.spin, w.base, stored, w.small[7])


@kernel
def constant(p, values):
    """The constant of a primitive, possibly driven."""
    return values[p.function] if p.function >= 0 else p.value


@kernel
def element_forces(s, w, lam):
    """Frame forces of gravity, force elements and constraint multipliers into w.f."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        weight(s.nodes[i], g1, g2, g3, w.f[i])
    if s.forces.shape[0] > 0:
        call_forces(s, w)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, w.z[a], w.z[b], constant(p, w.values), lam, p.l0, w.f[a], w.f[b])
    if s.flags[FLAG_EXTRA] != 0:
        call_extra_forces(s, w, lam)


@kernel
def assemble_dynamics(s, w, q, v, vd, lam, x):
    """Dynamic rows of x: M vd - f + B^T lambda; the largest element force and torque go to w.scales."""
    element_forces(s, w, lam)
    force, torque = 0.0, 0.0
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        f = w.f[i]
        force = max(force, abs(f[0]), abs(f[1]), abs(f[2]))
        torque = max(torque, abs(f[3]), abs(f[4]), abs(f[5]), abs(f[6]), abs(f[7]), abs(f[8]))
        torque = max(torque, abs(f[9]), abs(f[10]), abs(f[11]))
        if n.form == FORM_GENERALIZED:
            call_generalized(s, w, i, q, v, vd, lam, x, GENERALIZED_FORCES)
            continue
        if n.form == FORM_QUATERNION:
            node_bias(n, q, v, w.spin[i], w.z[i], w.zd[i], w.zb[i], w.small)
        node_residual(n, q, v, vd, w.spin[i], w.z[i], w.zb[i], f, x, w.small)
        if n.nl > 0:
            internal_force(n, q, lam, x)
    w.scales[0] = force
    w.scales[1] = torque


@kernel
def assemble_constraints(s, w, q, v, x, level):
    """Constraint rows of x: g(q, t) (level 0), B v (1), or gamma = D^2 g[v, v] + 2 g_tq v + g_tt (2)."""
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if n.nl > 0:
            o = n.x0 + n.nv
            if n.form == FORM_GENERALIZED:
                if level == LEVEL_POSITION:
                    request = GENERALIZED_VALUES
                else:
                    request = GENERALIZED_RATES if level == LEVEL_VELOCITY else GENERALIZED_CURVATURE
                call_generalized(s, w, i, q, v, v, v, x, request)
            elif level == LEVEL_POSITION:
                internal_constraints(n, q, x, o)
            elif level == LEVEL_VELOCITY:
                internal_bilinear(n, q, v, n.q0 + n.nx, n.v0 + n.nx, x, o)
            else:
                internal_bilinear(n, v, v, n.v0 + n.nx, n.v0 + n.nx, x, o)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        value = constant(p, w.values)
        if level == LEVEL_POSITION:
            primitive_value(p, w.z[a], w.z[b], value, x, p.x0)
        elif level == LEVEL_VELOCITY:
            primitive_rate(p, w.z[a], w.z[b], w.zd[a], w.zd[b], value, x, p.x0)
        else:
            primitive_rate(p, w.z[a], w.z[b], w.zb[a], w.zb[b], value, x, p.x0)
            primitive_curvature(p, w.zd[a], w.zd[b], value, x, p.x0)
            if p.function >= 0:
                first, second = primitive_drive(p, w.z[a], w.z[b], w.zd[a], w.zd[b], w.values)
                x[p.x0] += second
    if s.flags[FLAG_EXTRA] != 0:
        call_extra_constraints(s, w, x, level)


IN_CACHE = 500_000  # numbers of a matrix that is cleared as a whole: it stays in the cache


@kernel
def clear_to(end, clean, into):
    """Clear the matrix up to an address if it is not yet clean so far; returns how far it is."""
    end = min(end, into.shape[0])
    for k in range(clean, end):
        into[k] = 0.0
    return max(clean, end)


@kernel
def _node_blocks(s, w, i, q, v, vd, lam, t, cm, cc, ck, into):
    n = s.nodes[i]
    if n.form == FORM_GENERALIZED:
        call_generalized_tangent(s, w, i, q, v, vd, lam, cm, cc, ck, into)
        return
    node_tangent(n, q, v, vd, w.spin[i], w.z[i], t[i], cm, cc, ck, into, w.small)
    if n.form == FORM_SPIN:
        call_spin_tangent(s, w, i, q, v, vd, cm, cc, ck, into)
    elif ck != 0.0:
        frame_stiffness(n, w.z[i], w.f[i], ck, into)
    if n.nl > 0:
        internal_blocks(n, q, q, lam, ck, into)


@kernel
def _joint_blocks(s, w, k, q, lam, ck, into):
    p = s.primitives[k]
    a, b = p.a, p.b
    na, nb, ga, gb, za, zb = s.nodes[a], s.nodes[b], w.spin[a], w.spin[b], w.z[a], w.z[b]
    value = constant(p, w.values)
    primitive_blocks(p, na, nb, q, ga, gb, za, zb, za, zb, value, 1.0, BOTH, w.jac, into)
    if ck != 0.0 and p.kind != COINCIDENT:
        primitive_stiffness(p, na, nb, q, ga, gb, za, zb, value, lam, p.l0, ck, w.jac, into)


@kernel
def _end_of_blocks(s, k):
    """An address behind all blocks that a primitive writes to."""
    p = s.primitives[k]
    a, b = s.nodes[p.a], s.nodes[p.b]
    end = max(a.block + a.nv * a.ld, b.block + b.nv * b.ld)
    end = max(end, p.block_ja + 3 * p.ld_ja, p.block_aj + a.nv * p.ld_aj, p.block_ab + a.nv * p.ld_ab)
    return max(end, p.block_jb + 3 * p.ld_jb, p.block_bj + b.nv * p.ld_bj, p.block_ba + b.nv * p.ld_ba)


@kernel
def assemble_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The matrix [cm M T^-1 + cc C T^-1 + ck K, B^T; B, 0] in the fronts.

    ``t`` holds T_exp^-1 of every node. Needs frames and, for ck != 0, the frame forces of a residual at this state.

    The last bodies come first, each with its joints: outer bodies are usually added last and eliminated first. Where
    that is so, the matrix is walked through once, and cleared on the way while it is in the cache.
    """
    clean = clear_to(into.shape[0], 0, into) if into.shape[0] < IN_CACHE else 0
    k = s.primitives.shape[0] - 1
    for i in range(s.nodes.shape[0] - 1, 0, -1):
        n = s.nodes[i]
        clean = clear_to(n.block + (n.nv + n.nl) * n.ld, clean, into)
        _node_blocks(s, w, i, q, v, vd, lam, t, cm, cc, ck, into)
        while k >= 0 and max(s.primitives[k].a, s.primitives[k].b) >= i:
            clean = clear_to(_end_of_blocks(s, k), clean, into)
            _joint_blocks(s, w, k, q, lam, ck, into)
            k -= 1
    clear_to(into.shape[0], clean, into)
    while k >= 0:
        _joint_blocks(s, w, k, q, lam, ck, into)
        k -= 1
    if s.forces.shape[0] > 0 and (cc != 0.0 or ck != 0.0):
        call_force_tangent(s, w, q, v, t, cc, ck, into)
    if s.flags[FLAG_EXTRA] != 0:
        call_extra_tangent(s, w, q, v, lam, t, cc, ck, into)


@kernel
def regularise(s, into):
    """Redundant constraints: make the multiplier block regular; refinement removes the effect again.

    Not the rows of unit quaternions and directors: reactions of minimum norm must not depend on the coordinates.
    """
    if s.flags[FLAG_REDUNDANT] != 0:
        for k in range(s.flags[FLAG_REDUNDANT] - 1, s.diagonal.shape[0]):
            into[s.diagonal[k]] -= s.parameters[PARAMETER_REGULARISATION]


@kernel
def factorise_dense(s, w, into, pivots, dinv, x):
    """Factorise one small front."""
    regularise(s, into)
    factor_dense(s.fronts, into, pivots, dinv, w.scale, w.info, x)


@kernel
def factorise_tree(s, w, into, pivots, dinv, x):
    """Factorise all fronts."""
    regularise(s, into)
    factor_tree(s.fronts, into, pivots, dinv, w.scale, w.info, x)


_move = arguments(address, address, vector, vector, integer)
_update = arguments(address, address, vector, vector, vector, integer)
_dynamics = arguments(address, address, vector, vector, vector, vector, vector)
_constraints = arguments(address, address, vector, vector, vector, integer)
_tangent = arguments(address, address, vector, vector, vector, vector, matrix, real, real, real, vector)
_factor = arguments(address, address, vector, integers, vector, vector)
_solve = arguments(address, vector, integers, vector, vector, integer)


def move_entry(p):  # type: ignore[no-untyped-def]
    s, w, q, v, level = _move(p)
    move(load_tables(s), load_work(w), q, v, level)


def update_entry(p):  # type: ignore[no-untyped-def]
    s, w, q, dq, out, stored = _update(p)
    update(load_tables(s), load_work(w), q, dq, out, stored)


def dynamics_entry(p):  # type: ignore[no-untyped-def]
    s, w, q, v, vd, lam, x = _dynamics(p)
    assemble_dynamics(load_tables(s), load_work(w), q, v, vd, lam, x)


def constraints_entry(p):  # type: ignore[no-untyped-def]
    s, w, q, v, x, level = _constraints(p)
    assemble_constraints(load_tables(s), load_work(w), q, v, x, level)


def tangent_entry(p):  # type: ignore[no-untyped-def]
    s, w, q, v, vd, lam, t, cm, cc, ck, into = _tangent(p)
    assemble_tangent(load_tables(s), load_work(w), q, v, vd, lam, t, cm, cc, ck, into)


def factor_dense_entry(p):  # type: ignore[no-untyped-def]
    s, w, into, pivots, dinv, x = _factor(p)
    factorise_dense(load_tables(s), load_work(w), into, pivots, dinv, x)


def factor_tree_entry(p):  # type: ignore[no-untyped-def]
    s, w, into, pivots, dinv, x = _factor(p)
    factorise_tree(load_tables(s), load_work(w), into, pivots, dinv, x)


def solve_dense_entry(p):  # type: ignore[no-untyped-def]
    s, factors, pivots, dinv, x, eliminated = _solve(p)
    solve_dense(load_tables(s).fronts, factors, pivots, dinv, x, eliminated)


def solve_tree_entry(p):  # type: ignore[no-untyped-def]
    s, factors, pivots, dinv, x, eliminated = _solve(p)
    solve_tree(load_tables(s).fronts, factors, pivots, dinv, x, eliminated)


PIECES = {
    ENTRY_MOTION: move_entry,
    ENTRY_UPDATE: update_entry,
    ENTRY_DYNAMICS: dynamics_entry,
    ENTRY_CONSTRAINTS: constraints_entry,
    ENTRY_TANGENT: tangent_entry,
}
