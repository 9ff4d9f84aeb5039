"""The iteration matrix of a system at an instant, its factorisation, and the solution with it."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, integers, matrix, real, vector
from ..joints.instant import BOTH
from ..linalg.numeric import factor_dense, factor_tree, solve_dense, solve_tree
from .blocks import joint_blocks, node_blocks
from .couplings import coupling_tangent
from .instant_elements import all_force_tangents
from .tables import (
    BY_RECURSION,
    FLAG_COUPLED,
    FLAG_DENSE,
    FLAG_REDUNDANT,
    FLAG_TREE,
    PARAMETER_REGULARISATION,
    PARAMETER_WEIGHT,
    Tables,
    Work,
    coordinates,
    front_values,
    multipliers,
    unknowns,
    velocity,
)
from .tree_matrix import eliminate_tree, solve_along_tree, solve_upwards, tree_tangent

IN_CACHE = 500_000  # numbers of a matrix that is cleared as a whole: it stays in the cache


@kernel
def clear_to(end, clean, into):
    """Clear the matrix up to an address if it is not yet clean so far; returns how far it is."""
    end = min(end, into.shape[0])
    for k in range(clean, end):
        into[k] = 0.0
    return max(clean, end)


@kernel
def _end_of_blocks(s, k):
    """An address behind all blocks that a primitive writes to."""
    p = s.primitives[k]
    a, b = s.nodes[p.a], s.nodes[p.b]
    end = max(a.block + a.nv * a.ld, b.block + b.nv * b.ld)
    end = max(end, p.block_ja + 3 * p.ld_ja, p.block_aj + a.nv * p.ld_aj, p.block_ab + a.nv * p.ld_ab)
    return max(end, p.block_jb + 3 * p.ld_jb, p.block_bj + b.nv * p.ld_bj, p.block_ba + b.nv * p.ld_ba)


@kernel
def rigid_blocks(s, w, q, v, vd, lam, t, cm, cc, ck, where, into):
    """Clear the matrix, add the blocks of nodes and primitives; those of constraints to ``where`` of them it is said.

    The last bodies come first, each with its joints: outer bodies are usually added last and eliminated first. Where
    that is so, the matrix is walked through once, and cleared on the way while it is in the cache.
    """
    clean = clear_to(into.shape[0], 0, into) if into.shape[0] < IN_CACHE else 0
    k = s.primitives.shape[0] - 1
    for i in range(s.nodes.shape[0] - 1, 0, -1):
        n = s.nodes[i]
        clean = clear_to(n.block + (n.nv + n.nl) * n.ld, clean, into)
        node_blocks(s, w, i, q, v, vd, lam, t, cm, cc, ck, into)
        while k >= 0 and max(s.primitives[k].a, s.primitives[k].b) >= i:
            clean = clear_to(_end_of_blocks(s, k), clean, into)
            joint_blocks(s, w, k, q, lam, ck, where, into)
            k -= 1
    clear_to(into.shape[0], clean, into)
    while k >= 0:
        joint_blocks(s, w, k, q, lam, ck, where, into)
        k -= 1


@entry(Tables, Work, coordinates, velocity, velocity, multipliers, matrix, real, real, real, front_values)
def tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into):
    """The matrix [cm M T^-1 + cc C T^-1 + ck K, B^T; B, 0] in the fronts.

    ``t`` holds T_exp^-1 of every node. Needs frames and, for ck != 0, the frame forces of a residual at this state.
    """
    if s.flags[FLAG_TREE] != 0:
        tree_tangent(s, w, q, v, vd, lam, t, cm, cc, ck, into)
        return
    rigid_blocks(s, w, q, v, vd, lam, t, cm, cc, ck, BOTH, into)
    if s.forces.shape[0] > 0 and (cc != 0.0 or ck != 0.0):
        all_force_tangents(s, w, q, v, t, cc, ck, into)
    if s.flags[FLAG_COUPLED] != 0:
        coupling_tangent(s, w, q, v, lam, t, cc, ck, into)


@kernel
def regularise(s, into):
    """Redundant constraints: make the multiplier block regular; refinement removes the effect again.

    Not the rows of unit quaternions and directors: reactions of minimum norm must not depend on the coordinates.
    """
    if s.flags[FLAG_REDUNDANT] != 0:
        for k in range(s.flags[FLAG_REDUNDANT] - 1, s.diagonal.shape[0]):
            into[s.diagonal[k]] -= s.parameters[PARAMETER_REGULARISATION]


@kernel
def weigh(s, w):
    """Weights of the rows: constraints beside equations of motion."""
    for k in range(w.weights.shape[0]):
        w.weights[k] = 1.0
    weight = s.parameters[PARAMETER_WEIGHT]
    if weight > 0.0:
        for k in range(s.xl.shape[0]):
            w.weights[s.xl[k]] = weight


def _is_dense(s: Tables) -> bool:
    return bool(s.flags[FLAG_DENSE])


def _is_tree(s: Tables) -> bool:
    return not s.flags[FLAG_DENSE]


@entry(Tables, Work, front_values, integers, unknowns, vector, when=_is_dense)
def factorise_dense(s, w, into, pivots, dinv, x):
    """Factorise one small front."""
    regularise(s, into)
    weigh(s, w)
    factor_dense(s.fronts, into, pivots, dinv, w.weights, w.scale, w.report, x)


@entry(Tables, Work, front_values, integers, unknowns, vector, when=_is_tree)
def factorise_tree(s, w, into, pivots, dinv, x):
    """Factorise all fronts."""
    regularise(s, into)
    weigh(s, w)
    factor_tree(s.fronts, into, pivots, dinv, w.weights, w.scale, w.report, x)


@entry(Tables, front_values, integers, unknowns, unknowns, integer, when=_is_dense)
def solve_one_front(s, factors, pivots, dinv, x, eliminated):
    """Solve with the factors of one small front."""
    solve_dense(s.fronts, factors, pivots, dinv, x, eliminated)


@entry(Tables, front_values, integers, unknowns, unknowns, integer, when=_is_tree)
def solve_fronts(s, factors, pivots, dinv, x, eliminated):
    """Solve with the factors of all fronts."""
    solve_tree(s.fronts, factors, pivots, dinv, x, eliminated)


@kernel
def factor_with(s, w, into, pivots, dinv, x):
    """Factorise the matrix in place, and begin to solve for x, to be finished by ``finish``; w.report tells how well.

    Faster than to solve afterwards.
    """
    if s.flags[FLAG_TREE] == BY_RECURSION:
        eliminate_tree(s, w, into)
        if x.shape[0] > 0:
            solve_upwards(s, into, x)
    elif s.flags[FLAG_DENSE] != 0:
        factorise_dense(s, w, into, pivots, dinv, x)
    else:
        factorise_tree(s, w, into, pivots, dinv, x)


@kernel(kinds=(Tables, Work, front_values, integers, unknowns))
def factor(s, w, into, pivots, dinv):
    """Factorise the matrix in place; w.report tells how well."""
    factor_with(s, w, into, pivots, dinv, w.x[:0])


@kernel
def _solve(s, factors, pivots, dinv, x, eliminated):
    if s.flags[FLAG_TREE] == BY_RECURSION:
        solve_along_tree(s, factors, x, eliminated)
    elif s.flags[FLAG_DENSE] != 0:
        solve_one_front(s, factors, pivots, dinv, x, eliminated)
    else:
        solve_fronts(s, factors, pivots, dinv, x, eliminated)


@kernel
def finish(s, factors, pivots, dinv, x):
    """Solve with the factors for x that has been through ``factor_with``, in place."""
    _solve(s, factors, pivots, dinv, x, 1)


@kernel
def solve(s, factors, pivots, dinv, x):
    """Solve with the factors, in place."""
    _solve(s, factors, pivots, dinv, x, 0)
