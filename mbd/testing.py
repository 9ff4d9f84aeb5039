"""Checks for everything that can be added to the toolkit: nodes, primitives, joints, forces, whole systems.

They compare what the kernels say analytically with fourth-order central differences taken through ``system.update``,
with the laws of the rotation group, and with textbook mechanics::

    from mbd.testing import check_joint, random_node

    check_joint(lambda a, b: MyJoint(a, b, at=(0, 0, 1)), random_node(mbd.nodes.Quaternion), None)

Each check raises an ``AssertionError`` that names the quantity, the largest deviation and where it occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .bodies import Body, Generalized, PointMass, RigidBody
from .errors import Array, SingularityError
from .forces import ForceElement
from .joints import Joint, Primitive
from .model import Model
from .nodes import Directors, EulerAngles, Node, Point, Quaternion, RigidNode, RotationVector
from .records import FORM_DIRECTORS, FORM_POINT, FORM_QUATERNION
from .rotation import from_rotation_vector, hat, rotation
from .system.system import System

DIFFERENCE_TOLERANCE = 1e-7
"""Allowed deviation of a derivative from a difference quotient, relative to the size of the quantity."""

EXACT_TOLERANCE = 1e-12
"""Allowed deviation of what holds up to rounding."""

STEP = 1e-3
GRAVITY = (0.3, -1.0, -9.81)
INERTIA = np.array(((2.0, 0.1, 0.2), (0.1, 1.8, 0.05), (0.2, 0.05, 1.5)))
OFFSET = (0.1, -0.2, 0.3)

# --- helpers ------------------------------------------------------------------------------------------------------


def derivative(function: Callable[[float], Array], step: float = STEP) -> Array:
    """Derivative at zero of a function of a number, by the fourth-order central difference."""
    h = step
    return (function(-2 * h) - 8 * function(-h) + 8 * function(h) - function(2 * h)) / (12 * h)


def second_derivative(function: Callable[[float], Array], step: float = STEP) -> Array:
    """Second derivative at zero, by the fourth-order central difference."""
    h = step
    outer = function(-2 * h) + function(2 * h)
    return (-outer + 16 * (function(-h) + function(h)) - 30 * function(0.0)) / (12 * h * h)


def jacobian(function: Callable[[Array], Array], n: int, step: float = STEP) -> Array:
    """Columns of derivatives at zero of a function of n numbers."""
    columns = [derivative(lambda s, e=e: function(s * e), step) for e in np.eye(n)]  # type: ignore[misc]
    return np.array(columns).reshape(n, -1).T


def random_node(cls: type[Any], rng: np.random.Generator | None = None, **settings: Any) -> Any:
    """A node with a random pose and velocity, away from the singularities of its parametrisation.

    ``settings`` go to the constructor: ``lie``, ``pinned``, ``sequence``.
    """
    rng = _generator(rng)
    if cls is Point:
        return Point(rng.normal(size=3), rng.normal(size=3))
    pinned = bool(settings.get("pinned", False))
    while True:
        node = cls(
            position=rng.normal(size=3),
            rotation=rotation(rng.normal(size=3)),
            velocity=np.zeros(3) if pinned else rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
            **settings,
        )
        if not isinstance(node, EulerAngles):
            return node
        middle = float(node.rotation_coordinates()[1])
        if abs(np.sin(middle) if node.axes[0] == node.axes[2] else np.cos(middle)) > 0.3:
            return node


def observed_order(errors: Sequence[float], steps: Sequence[float]) -> float:
    """Slope of log(error) over log(step) by least squares: the order that a method shows."""
    e, h = np.asarray(errors, dtype=float), np.asarray(steps, dtype=float)
    if e.shape != h.shape or e.ndim != 1 or e.size < 2:
        raise ValueError(f"observed_order: {e.shape} errors and {h.shape} steps; expected two or more of each")
    if not (np.isfinite(e).all() and (e > 0).all() and (h > 0).all()):
        raise ValueError(f"observed_order: errors {e.tolist()}, steps {h.tolist()}; expected positive finite numbers")
    x, y = np.log(h) - np.log(h).mean(), np.log(e) - np.log(e).mean()
    if not x.any():
        raise ValueError(f"observed_order: steps {h.tolist()}; expected different ones")
    return float((x @ y) / (x @ x))


def _generator(rng: np.random.Generator | None) -> np.random.Generator:
    return np.random.default_rng(0) if rng is None else rng


def _compare(
    quantity: str, given: Any, expected: Any, tolerance: float, names: Sequence[Callable[[int], str]] = ()
) -> None:
    """Raise an error that names the quantity, its worst entry and the deviation there."""
    given, expected = np.asarray(given, dtype=float), np.asarray(expected, dtype=float)
    if given.shape != expected.shape:
        raise AssertionError(f"{quantity} has shape {given.shape}; expected {expected.shape}")
    if given.size == 0:
        return
    deviation = np.nan_to_num(np.abs(given - expected), nan=np.inf)
    allowed = tolerance * (1.0 + float(np.abs(np.nan_to_num(expected)).max()))
    worst = tuple(int(i) for i in np.unravel_index(np.argmax(deviation), deviation.shape))
    if deviation[worst] > allowed:
        where = [names[axis](i) if axis < len(names) else f"component {i}" for axis, i in enumerate(worst)]
        raise AssertionError(
            f"{quantity} deviates by {deviation[worst]:.1e} (allowed {allowed:.1e}) at {', '.join(where) or 'all'}: "
            f"{given[worst]:.12g}, expected {expected[worst]:.12g}"
        )


class _Names:
    """What rows and columns of a system's vectors and matrices belong to."""

    def __init__(self, system: System) -> None:
        self.system = system

    def velocity(self, i: int) -> str:
        for body in self.system.model.bodies:
            part = self.system.body_slices(body)[1]
            if part.start <= i < part.stop:
                return f"velocity {i - part.start} of {body} ({body.node})"
        return f"velocity {i}"

    def coordinate(self, i: int) -> str:
        for body in self.system.model.bodies:
            part = self.system.body_slices(body)[0]
            if part.start <= i < part.stop:
                return f"coordinate {i - part.start} of {body} ({body.node})"
        return f"coordinate {i}"

    def constraint(self, i: int) -> str:
        for joint in self.system.model.joints:
            part = self.system.joint_slice(joint)
            if part.start <= i < part.stop:
                return f"equation {i - part.start} of {joint}"
        for body in self.system.model.bodies:
            n = self.system.tables.nodes[self.system.node_index(body)]
            if n.l0 <= i < n.l0 + n.nl:
                return f"internal constraint {i - n.l0} of {body} ({body.node})"
        return f"constraint {i}"

    def node(self, i: int) -> str:
        if i == 0:
            return "ground"
        body = self.system.model.bodies[i - 1]
        return f"{body} ({body.node})"


def _axes(frame: Array) -> Array:
    """Rotation matrix of a frame."""
    return frame[3:].reshape(3, 3).T


# --- systems ------------------------------------------------------------------------------------------------------


def check_system(
    system: System,
    rng: np.random.Generator | None = None,
    *,
    state: tuple[Array, Array] | None = None,
    time: float = 0.3,
    tolerance: float = DIFFERENCE_TOLERANCE,
) -> None:
    """Compare every derivative that a system offers with differences, and its update with the group laws.

    The quantities are K, C, M, B, B^T, the velocity and acceleration level of the constraints, and the contracted
    second derivatives of the constraints; at ``state`` (by default the initial one), with random accelerations and
    multipliers.
    """
    rng = _generator(rng)
    q, v = system.initial_state() if state is None else state
    _check_derivatives(system, q, v, time, rng, tolerance)
    _check_update(system, q, rng, tolerance)


def _check_derivatives(
    system: System, q: Array, v: Array, t: float, rng: np.random.Generator, tolerance: float
) -> None:
    n, names = system.n_v, _Names(system)
    by_velocity, by_constraint = (names.velocity, names.velocity), (names.constraint, names.velocity)
    vd, lam, zero = rng.normal(size=n), rng.normal(size=system.n_l), np.zeros(system.n_l)

    mass = system.mass_matrix(q).toarray()
    _compare("mass matrix M, against its transpose,", mass, mass.T, EXACT_TOLERANCE, by_velocity)
    expected = jacobian(lambda e: system.residual(q, v, vd + e, lam, t), n)
    _compare("mass matrix M", mass, expected, tolerance, by_velocity)

    given = system.damping(q, v, vd, t).toarray()
    expected = jacobian(lambda e: system.residual(q, v + e, vd, lam, t), n)
    _compare("damping matrix C", given, expected, tolerance, by_velocity)

    given = system.stiffness(q, v, vd, lam, t).toarray()
    expected = jacobian(lambda e: system.residual(system.update(q, e), v, vd, lam, t), n)
    _compare("stiffness matrix K", given, expected, tolerance, by_velocity)

    if system.n_l == 0:
        return
    b = system.constraint_jacobian(q, t).toarray()
    expected = jacobian(lambda e: system.constraints(system.update(q, e), t), n)
    velocity_only = system.tables.nonholonomic
    if velocity_only.size:  # these say nothing about positions
        still = system.constraint_velocity(q, np.zeros(n), t)
        columns = np.array([system.constraint_velocity(q, e, t) - still for e in np.eye(n)]).T
        expected[velocity_only] = columns[velocity_only]
    _compare("constraint Jacobian B", b, expected, tolerance, by_constraint)

    given = system.residual(q, v, vd, lam, t) - system.residual(q, v, vd, zero, t)
    _compare("constraint force B^T lambda", given, b.T @ lam, EXACT_TOLERANCE * 10, (names.velocity,))

    given = system.constraint_velocity(q, v, t)
    expected = b @ v + derivative(lambda s: system.constraints(q, t + s))
    _compare("constraint velocity B v + g_t", given, expected, tolerance, (names.constraint,))

    # update(q, s v) moves with the constant velocity v on every node, so the acceleration level is a derivative
    given = system.constraint_bias(q, v, t)
    expected = derivative(lambda s: system.constraint_velocity(system.update(q, s * v), v, t + s))
    _compare("constraint bias gamma", given, expected, tolerance, (names.constraint,))

    def constraint_force(e: Array) -> Array:
        moved, still = system.update(q, e), np.zeros(n)
        return system.residual(moved, still, still, lam, t) - system.residual(moved, still, still, zero, t)

    given = system.constraint_hessian(q, lam, t).toarray()
    _compare("constraint Hessian", given, jacobian(constraint_force, n), tolerance, by_velocity)


def _check_update(system: System, q: Array, rng: np.random.Generator, tolerance: float) -> None:
    """Group laws of the update, and the consistency of velocities with it."""
    names = _Names(system)
    frame_names = (names.node,)
    a, b, v = (rng.normal(size=system.n_v) for _ in range(3))
    zero = np.zeros(system.n_v)
    _compare("update(q, 0)", system.update(q, zero), q, EXACT_TOLERANCE, (names.coordinate,))
    qa = system.update(q, a)
    qab = system.update(qa, b)
    frames = [system.frames(x) for x in (q, qa, qab)]
    back = system.frames(system.update(qa, -a))
    _compare("update(update(q, a), -a) as frames", back, frames[0], EXACT_TOLERANCE * 10, frame_names)
    for body in system.model.bodies:
        i = system.node_index(body)
        at_q, at_v = system.body_slices(body)
        if not getattr(body.node, "lie", False):
            _compare(f"update of {body} ({body.node})", qab[at_q], (q[at_q] + a[at_v]) + b[at_v], EXACT_TOLERANCE)
            continue
        for k, increment in enumerate((a[at_v], b[at_v])):
            old, new = frames[k][i], frames[k + 1][i]
            turned = _axes(old) @ from_rotation_vector(increment[-3:])
            _compare(f"rotation of update(q, a) of {body} ({body.node})", _axes(new), turned, EXACT_TOLERANCE * 10)
            shift = increment[:-3] if increment.size == 6 else np.zeros(3)
            _compare(f"position of update(q, a) of {body} ({body.node})", new[:3], old[:3] + shift, EXACT_TOLERANCE)
            _check_orthonormal(f"axes of {body} ({body.node}) after an update", new)

    given = system.frame_velocities(q, v)
    expected = derivative(lambda s: system.frames(system.update(q, s * v)))
    _compare("frame velocities Z v", given, expected, tolerance, frame_names)

    # a curve of increments x(s) = a + s T_exp^-1(a) v passes a with the velocity v; short increments, because the
    # inverse of T_exp has a pole at 2 pi
    a = 0.5 * a
    qa, rate = system.update(q, a), system.tangent_inverse(a, v)
    given = system.frame_velocities(qa, v)
    expected = derivative(lambda s: system.frames(system.update(q, a + s * rate)))
    _compare("velocity of update(q, a + s T_exp^-1(a) v)", given, expected, tolerance, frame_names)


def _check_orthonormal(what: str, frame: Array) -> None:
    axes = _axes(frame)
    _compare(f"R^T R of the {what}", axes.T @ axes, np.eye(3), EXACT_TOLERANCE * 10)
    _compare(f"det R of the {what}", np.linalg.det(axes), 1.0, EXACT_TOLERANCE * 10)


# --- nodes --------------------------------------------------------------------------------------------------------


def check_node(node: Node | Body, rng: np.random.Generator | None = None, *, com: Any = OFFSET) -> None:
    """Check one node, or one body with its node, in a model of its own.

    On top of ``check_system``: the frame is orthonormal and moves as the node says, kinetic energy and accelerations
    are those of Newton and Euler (of Lagrange for generalized coordinates), a change of parametrisation keeps pose
    and velocity, and the secant of a polynomial frame is its Jacobian at the midpoint.
    """
    rng = _generator(rng)
    model = Model("check of a node", gravity=GRAVITY)
    body = model.add(node if isinstance(node, Body) else _body("body", node, com))
    system = System(model)
    check_system(system, rng)
    if isinstance(body, Generalized):
        _check_lagrange(system, body, rng)
        return
    q, v = system.initial_state()
    frame, velocity = system.frames(q)[1], system.frame_velocities(q, v)[1]
    what = f"frame of {body} ({body.node})"
    _check_orthonormal(what, frame)
    framed: Any = body
    start = np.concatenate((framed.position, framed.rotation.T.ravel()))
    _compare(f"initial {what}", frame, start, EXACT_TOLERANCE)
    rates = framed.rotation @ hat(framed.angular_velocity)
    start = np.concatenate((framed.velocity, rates.T.ravel()))
    _compare(f"initial velocity of the {what}", velocity, start, EXACT_TOLERANCE)
    _check_newton_euler(system, framed)
    if isinstance(body.node, RigidNode):
        _check_parametrisations(system, body.node)
    if system.tables.nodes[1].form in (FORM_POINT, FORM_QUATERNION, FORM_DIRECTORS):
        _check_frame_secant(system, rng)


def _body(name: str, node: Node, com: Any = OFFSET) -> RigidBody | PointMass:
    if isinstance(node, Point):
        return PointMass(name, 2.0, node.position, node.velocity)
    if isinstance(node, RigidNode):
        return RigidBody(name, mass=2.0, inertia=INERTIA, com=com, node=node)
    raise TypeError(f"check of {node}: expected a rigid node or a Point; give generalized coordinates as a body")


def _check_newton_euler(system: System, body: Any) -> None:
    """Kinetic energy and acceleration of a body under gravity, free or pinned."""
    q, v = system.initial_state()
    m, c, inertia, r = body.mass, body.com, body.inertia, body.rotation
    w, g = body.angular_velocity, np.asarray(GRAVITY)
    centre = body.velocity + r @ np.cross(w, c)
    energy = 0.5 * m * centre @ centre + 0.5 * w @ inertia @ w
    given = 0.5 * v @ (system.mass_matrix(q) @ v)
    _compare(f"kinetic energy v.M v / 2 of {body} ({body.node})", given, energy, EXACT_TOLERANCE)

    centripetal = np.cross(w, np.cross(w, c))
    if body.node.pinned:
        about_pin = inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
        alpha = np.linalg.solve(about_pin, m * np.cross(c, r.T @ g) - np.cross(w, about_pin @ w))
        a = np.zeros(3)
    else:
        alpha = np.linalg.solve(inertia, -np.cross(w, inertia @ w)) if inertia.any() else np.zeros(3)
        a = g - r @ (np.cross(alpha, c) + centripetal)
    turn = r @ (hat(alpha) + hat(w) @ hat(w))
    expected = np.concatenate((a, turn.T.ravel()))
    vd, lam = system.accelerations(q, v)
    given = second_derivative(lambda s: system.frames(system.update(q, s * v + 0.5 * s * s * vd))[1])
    _compare(f"acceleration of the frame of {body} ({body.node})", given, expected, DIFFERENCE_TOLERANCE)
    names = _Names(system)
    residual = system.residual(q, v, vd, lam)
    _compare("residual at the accelerations", residual, 0 * residual, EXACT_TOLERANCE * 10, (names.velocity,))


def _check_lagrange(system: System, body: Generalized, rng: np.random.Generator) -> None:
    """The residual of generalized coordinates is d/dt (M v) - d(v.M v/2 - V)/dq + G^T lambda."""
    q, v = system.initial_state()
    vd, lam, n = rng.normal(size=q.size), rng.normal(size=system.n_l), q.size

    def mass(x: Array) -> Array:
        return np.real(np.asarray(body.mass(x) if callable(body.mass) else body.mass)).reshape(n, n)

    def potential(x: Array) -> Array:
        return np.atleast_1d(np.real(body.potential(x))) if body.potential is not None else np.zeros(1)

    def constraints(x: Array) -> Array:
        return np.atleast_1d(np.real(body.constraints(x))) if body.constraints is not None else np.zeros(0)

    expected = mass(q) @ vd + derivative(lambda s: mass(q + s * v) @ v)
    expected = expected - jacobian(lambda e: np.atleast_1d(0.5 * v @ mass(q + e) @ v) - potential(q + e), n)[0]
    if system.n_l:
        expected = expected + jacobian(lambda e: constraints(q + e), n).T @ lam
        _compare(f"constraints of {body}", system.constraints(q), constraints(q), EXACT_TOLERANCE)
    given = system.residual(q, v, vd, lam)
    _compare(f"Lagrange's equations of {body}", given, expected, DIFFERENCE_TOLERANCE, (_Names(system).velocity,))


def _check_parametrisations(system: System, node: RigidNode) -> None:
    """Pose and velocity survive the way to every other parametrisation and back."""
    q, v = system.initial_state()
    names = _Names(system)
    frames, velocities = system.frames(q), system.frame_velocities(q, v)
    for cls in RigidNode.__subclasses__():
        for lie in (False, True):
            template = cls(lie=lie)
            try:
                other = System(system.model.with_nodes(template))
            except SingularityError:
                continue
            p, u = other.initial_state()
            what = f"after with_nodes({cls.__name__}(lie={lie}))"
            _compare(f"frame {what}", other.frames(p), frames, EXACT_TOLERANCE, (names.node,))
            _compare(
                f"velocity of the frame {what}", other.frame_velocities(p, u), velocities, EXACT_TOLERANCE * 10,
                (names.node,),
            )  # fmt: skip
            p, u = System(other.model.with_nodes(node)).initial_state()
            _compare(f"coordinates {what} and back", p, q, EXACT_TOLERANCE, (names.coordinate,))
            _compare(f"velocities {what} and back", u, v, EXACT_TOLERANCE * 10, (names.velocity,))


def _check_frame_secant(system: System, rng: np.random.Generator) -> None:
    """z(q1) - z(q0) = Z((q0 + q1)/2) (q1 - q0) exactly for frames that are at most quadratic in q."""
    q0, q1 = rng.normal(size=system.n_q), rng.normal(size=system.n_q)
    given = system.frame_velocities(0.5 * (q0 + q1), q1 - q0)
    expected = system.frames(q1) - system.frames(q0)
    _compare("secant of the frame Z(q_mid)(q1 - q0)", given, expected, EXACT_TOLERANCE * 10, (_Names(system).node,))


# --- primitives and joints ----------------------------------------------------------------------------------------


class _OnePrimitive(Joint):
    """A joint made of one given primitive."""

    def __init__(self, body_a: Body, body_b: Body, primitive: Primitive) -> None:
        super().__init__(body_a, body_b)
        self.primitive = primitive

    def primitives(self) -> list[Primitive]:
        return [self.primitive]


def check_primitive(
    primitive: Primitive,
    pairs: Iterable[tuple[Node | None, Node | None]] | None = None,
    rng: np.random.Generator | None = None,
) -> None:
    """Check one constraint primitive between nodes (``None``: the ground); by default between nodes of every form."""
    rng = _generator(rng)
    if pairs is None:
        lie, spin = random_node(RotationVector, rng, lie=True), random_node(RotationVector, rng, lie=False)
        quaternion, directors = random_node(Quaternion, rng), random_node(Directors, rng)
        pairs = [(None, lie), (lie, quaternion), (spin, directors), (quaternion, spin), (directors, None)]
    for node_a, node_b in pairs:
        check_joint(
            lambda a, b: _OnePrimitive(a, b, primitive),
            node_a,
            node_b,
            rng,
            consistent=False,
        )


def check_joint(
    build: Callable[[Any, Any], Joint],
    node_a: Node | None,
    node_b: Node | None,
    rng: np.random.Generator | None = None,
    *,
    consistent: bool = True,
) -> None:
    """Check the joint that ``build(body_a, body_b)`` makes between bodies with the given nodes (``None``: ground).

    On top of ``check_system`` away from the initial configuration: the equations hold initially (unless
    ``consistent=False``), none of them is redundant, and they are quadratic in the frames where they say so.
    """
    rng = _generator(rng)
    model, a, b = _pair("check of a joint", node_a, node_b)
    joint = model.add(build(a, b))
    system = System(model)
    q, v = system.initial_state()
    part = system.joint_slice(joint)
    _compare(f"number of equations of {joint}", part.stop - part.start, joint.n_equations, 0.0)
    if consistent:
        given = system.constraints(q)[part]
        _compare(f"initial value of {joint}", given, 0.0 * given, EXACT_TOLERANCE * 10)
        for direction_a, direction_b in joint.orientation_conditions():
            cosine = (_rotation(a) @ direction_a) @ (_rotation(b) @ direction_b)
            assert cosine > 0.0, f"{joint}: an orientation condition is {cosine:.3g} initially, expected positive"
        if all(node is None or (isinstance(node, RigidNode) and not node.pinned) for node in (node_a, node_b)):
            singular = np.linalg.svd(system.constraint_jacobian(q).toarray()[part], compute_uv=False)
            assert singular[-1] > 1e-6 * singular[0], f"{joint}: its equations depend on each other: {singular}"
    if all(primitive.quadratic for primitive in joint.primitives()):
        _check_joint_secant(system, joint, rng)
    moved = system.update(q, 0.2 * rng.normal(size=system.n_v))
    check_system(system, rng, state=(moved, v))


def _check_joint_secant(system: System, joint: Joint, rng: np.random.Generator) -> None:
    """g(z1) - g(z0) = g_z((z0 + z1)/2) (z1 - z0) exactly; coordinates of directors and points are the frame."""
    linear = System(system.model.with_nodes(Directors))
    part = linear.joint_slice(joint.name)
    q0, q1 = rng.normal(size=linear.n_q), rng.normal(size=linear.n_q)
    given = linear.constraint_jacobian(0.5 * (q0 + q1)).toarray()[part] @ (q1 - q0)
    expected = linear.constraints(q1)[part] - linear.constraints(q0)[part]
    _compare(f"secant g_z(z_mid)(z1 - z0) of {joint}", given, expected, EXACT_TOLERANCE * 100)


def _pair(name: str, node_a: Node | None, node_b: Node | None) -> tuple[Model, Any, Any]:
    model = Model(name, gravity=GRAVITY)
    a, b = (
        model.ground if node is None else model.add(_body(label, node))
        for label, node in (("a", node_a), ("b", node_b))
    )
    return model, a, b


def _rotation(body: Any) -> Array:
    return np.asarray(body.rotation)


# --- forces -------------------------------------------------------------------------------------------------------


def check_force(
    build: Callable[[Model, Any, Any], ForceElement],
    node_a: Node | None,
    node_b: Node | None,
    rng: np.random.Generator | None = None,
) -> None:
    """Check the force that ``build(model, body_a, body_b)`` makes between bodies with the given nodes.

    ``build`` may add joints to the model that the force refers to; the force itself is added here. The check is that
    of ``check_system``, at the initial configuration and away from it, and that the force acts at all.
    """
    rng = _generator(rng)
    model, a, b = _pair("check of a force", node_a, node_b)
    force = build(model, a, b)
    without = System(model.copy())
    model.add(force)
    system = System(model)
    q, v = system.initial_state()
    moved = system.update(q, 0.1 * rng.normal(size=system.n_v))
    change = system.forces(moved, v, 0.3) - without.forces(moved, v, 0.3)
    assert np.abs(change).max(initial=0.0) > 1e-6, f"{force} has no effect on the forces of the system"
    check_system(system, rng)
    check_system(system, rng, state=(moved, v), time=0.7)
