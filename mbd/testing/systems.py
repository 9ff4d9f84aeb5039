"""Every derivative that a system offers, and its update."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..bodies import Body
from ..compiled.fours import AT_ONCE, fours_of, rows_of_fours
from ..errors import Array
from ..joints.relative import joint_pose
from ..joints.tree import Carried
from ..rotation import from_rotation_vector
from ..system.along import equations_along, look_along
from ..system.directions import ON_POSITIONS, ON_VELOCITIES
from ..system.instant import evaluate_functions, frames
from ..system.system import System
from ..system.tables import FLAG_TREE
from ..system.touched import along
from ..system.tree_along import look_along_tree
from .comparison import (
    DIFFERENCE_TOLERANCE,
    EXACT_TOLERANCE,
    Names,
    axes_of,
    compare,
    derivative,
    generator,
    jacobian,
)

SIZE = 1e-5  # of differences of what has no product rule


def check_system(
    system: System,
    rng: np.random.Generator | None = None,
    *,
    state: tuple[Array, Array] | None = None,
    time: float = 0.3,
    tolerance: float = DIFFERENCE_TOLERANCE,
) -> None:
    """Compare every derivative that a system offers with differences, and its update with the group laws.

    The quantities are K, C, M, B, B^T, the velocity and acceleration level of the constraints, the contracted second
    derivatives of the constraints, and the equations along directions (for sensitivities); at ``state`` (by default the
    initial one), with random accelerations and multipliers.
    """
    rng = generator(rng)
    q, v = system.initial_state() if state is None else state
    _check_derivatives(system, q, v, time, rng, tolerance)
    _check_directions(system, q, v, time, rng, tolerance)
    _check_update(system, q, rng, tolerance)


def _check_derivatives(
    system: System, q: Array, v: Array, t: float, rng: np.random.Generator, tolerance: float
) -> None:
    n, names = system.n_v, Names(system)
    by_velocity, by_constraint = (names.velocity, names.velocity), (names.constraint, names.velocity)
    vd, lam, zero = rng.normal(size=n), rng.normal(size=system.n_l), np.zeros(system.n_l)

    mass = system.mass_matrix(q).toarray()
    compare("mass matrix M, against its transpose,", mass, mass.T, EXACT_TOLERANCE, by_velocity)
    expected = jacobian(lambda e: system.residual(q, v, vd + e, lam, t), n)
    compare("mass matrix M", mass, expected, tolerance, by_velocity)

    given = system.damping(q, v, vd, t).toarray()
    expected = jacobian(lambda e: system.residual(q, v + e, vd, lam, t), n)
    compare("damping matrix C", given, expected, tolerance, by_velocity)

    given = system.stiffness(q, v, vd, lam, t).toarray()
    expected = jacobian(lambda e: system.residual(system.update(q, e), v, vd, lam, t), n)
    compare("stiffness matrix K", given, expected, tolerance, by_velocity)

    if system.n_l == 0:
        return
    b = system.constraint_jacobian(q, t).toarray()
    expected = jacobian(lambda e: system.constraints(system.update(q, e), t), n)
    velocity_only = system.tables.nonholonomic
    if velocity_only.size:  # these say nothing about positions
        still = system.constraint_velocity(q, np.zeros(n), t)
        columns = np.array([system.constraint_velocity(q, e, t) - still for e in np.eye(n)]).T
        expected[velocity_only] = columns[velocity_only]
    compare("constraint Jacobian B", b, expected, tolerance, by_constraint)

    given = system.residual(q, v, vd, lam, t) - system.residual(q, v, vd, zero, t)
    compare("constraint force B^T lambda", given, b.T @ lam, EXACT_TOLERANCE * 10, (names.velocity,))

    given = system.constraint_velocity(q, v, t)
    expected = b @ v + derivative(lambda s: system.constraints(q, t + s))
    compare("constraint velocity B v + g_t", given, expected, tolerance, (names.constraint,))

    # update(q, s v) moves with the constant velocity v on every node, so the acceleration level is a derivative
    given = system.constraint_bias(q, v, t)
    expected = derivative(lambda s: system.constraint_velocity(system.update(q, s * v), v, t + s))
    compare("constraint bias gamma", given, expected, tolerance, (names.constraint,))

    def constraint_force(e: Array) -> Array:
        moved, still = system.update(q, e), np.zeros(n)
        return system.residual(moved, still, still, lam, t) - system.residual(moved, still, still, zero, t)

    given = system.constraint_hessian(q, lam, t).toarray()
    compare("constraint Hessian", given, jacobian(constraint_force, n), tolerance, by_velocity)


def _check_directions(system: System, q: Array, v: Array, t: float, rng: np.random.Generator, tolerance: float) -> None:
    """The equations along directions, four at once, are the matrices times these; where there is a product rule."""
    s, n, names = system.tables, system.n_v, Names(system)
    pair, works, size = (s, s), [system.new_work(), system.new_work()] * AT_ONCE, np.full(AT_ONCE, SIZE)
    rows = len(system.work.x)
    g = along(s, [pair] * AT_ONCE, size, works, rows)
    if not g.exact.all():
        return
    dq, dv, dvd = rng.normal(size=(3, AT_ONCE, n))
    vd, lam, dlam = rng.normal(size=n), rng.normal(size=system.n_l), rng.normal(size=(AT_ONCE, system.n_l))
    matrices = system.stiffness(q, v, vd, lam, t), system.damping(q, v, vd, t), system.mass_matrix(q)
    b = system.constraint_jacobian(q, t)
    dynamic = sum(m @ x.T for m, x in zip((*matrices, b.T), (dq, dv, dvd, dlam), strict=True)).T

    def rates(i: int, e: float) -> Array:
        return system.constraint_velocity(system.update(q, e * dq[i]), v + e * dv[i], t)

    levels = {ON_POSITIONS: (b @ dq.T).T}
    if not s.flags[FLAG_TREE]:
        levels[ON_VELOCITIES] = np.array([derivative(partial(rates, i)) for i in range(AT_ONCE)])
    w = system.new_work()
    evaluate_functions(s, w, t)
    frames(s, w, q)
    if s.flags[FLAG_TREE]:
        look_along_tree(s, w, g.tree, q, v, vd)
    else:
        look_along(s, w, q, v, lam, w.z.copy())
    g.time[0] = t
    for level, constrained in levels.items():
        out = fours_of(np.zeros((AT_ONCE, rows)))[0]
        equations_along(s, w, g, 0, q, v, vd, lam, *(fours_of(x)[0] for x in (dq, dv, dvd, dlam)), out, level)
        found = rows_of_fours(out[None], AT_ONCE)
        # what is differenced there (drivers, couplings) is as exact as differences
        compare("equations along directions", found[:, s.xv], dynamic, tolerance, (str, names.velocity))
        compare("constraints along directions", found[:, s.xl], constrained, tolerance, (str, names.constraint))


def _check_update(system: System, q: Array, rng: np.random.Generator, tolerance: float) -> None:
    """Group laws of the update, and the consistency of velocities with it."""
    names = Names(system)
    frame_names = (names.node,)
    a, b, v = (rng.normal(size=system.n_v) for _ in range(3))
    zero = np.zeros(system.n_v)
    compare("update(q, 0)", system.update(q, zero), q, EXACT_TOLERANCE, (names.coordinate,))
    qa = system.update(q, a)
    qab = system.update(qa, b)
    frames = [system.frames(x) for x in (q, qa, qab)]
    back = system.frames(system.update(qa, -a))
    compare("update(update(q, a), -a) as frames", back, frames[0], EXACT_TOLERANCE * 10, frame_names)
    for body in system.model.bodies:
        _check_update_of(system, body, names, (q, qab), (a, b), frames)

    given = system.frame_velocities(q, v)
    expected = derivative(lambda s: system.frames(system.update(q, s * v)))
    compare("frame velocities Z v", given, expected, tolerance, frame_names)

    # a curve of increments x(s) = a + s T_exp^-1(a) v passes a with the velocity v; short increments, because the
    # inverse of T_exp has a pole at 2 pi
    a = 0.5 * a
    qa, rate = system.update(q, a), system.tangent_inverse(a, v)
    given = system.frame_velocities(qa, v)
    expected = derivative(lambda s: system.frames(system.update(q, a + s * rate)))
    compare("velocity of update(q, a + s T_exp^-1(a) v)", given, expected, tolerance, frame_names)


def _check_update_of(
    system: System, body: Body, names: Names, q: tuple[Array, Array], steps: tuple[Array, Array], frames: list[Array]
) -> None:  # fmt: skip
    """Increments of a body are added, or composed with its pose; on a joint that carries it, beside its parent."""
    at_q, at_v = system.body_slices(body)
    edge = names.carried.get(body.name)
    node: Any = body.node if edge is None else edge.node
    increments = [step[at_v] for step in steps]
    if not getattr(node, "lie", False):
        what = f"update of {body} ({node})"
        compare(what, q[1][at_q], (q[0][at_q] + increments[0]) + increments[1], EXACT_TOLERANCE)
        return
    what = f"of update(q, a) of {body} ({node})"
    poses = [_pose(system, body, edge, z) for z in frames]
    for increment, (old, place), (new, there) in zip(increments, poses[:-1], poses[1:], strict=True):
        compare(f"rotation {what}", new, old @ from_rotation_vector(increment[-3:]), EXACT_TOLERANCE * 10)
        shift = increment[:-3] if increment.size == 6 else np.zeros(3)
        compare(f"position {what}", there, place + shift, EXACT_TOLERANCE * 10)
    for z in frames[1:]:
        check_orthonormal(f"axes of {body} ({node}) after an update", z[system.node_index(body)])


def _pose(system: System, body: Body, edge: Carried | None, z: Array) -> tuple[Array, Array]:
    """Rotation and position of a body; of one that a ball carries, of its frame seen from that on its parent."""
    frame = z[system.node_index(body)]
    if edge is None or edge.joint is None:
        return axes_of(frame), frame[:3]
    parent = z[system.node_index(edge.parent)]
    rotation, position = joint_pose(edge.joint, *((frame, parent) if edge.reversed else (parent, frame)))
    return (rotation.T if edge.reversed else rotation), position


def check_orthonormal(what: str, frame: Array) -> None:
    axes = axes_of(frame)
    compare(f"R^T R of the {what}", axes.T @ axes, np.eye(3), EXACT_TOLERANCE * 10)
    compare(f"det R of the {what}", np.linalg.det(axes), 1.0, EXACT_TOLERANCE * 10)
