"""Nodes: frames, rates, inertia, and the change to other coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies import Body, Generalized, PointMass, RigidBody
from ..elements.arguments import Vector
from ..errors import Array, SingularityError
from ..model import Model
from ..nodes import Node, Point, RigidNode
from ..nodes.forms import FORM_DIRECTORS, FORM_POINT, FORM_QUATERNION
from ..rotation import hat
from ..system.system import System
from .comparison import (
    DIFFERENCE_TOLERANCE,
    EXACT_TOLERANCE,
    GRAVITY,
    INERTIA,
    OFFSET,
    Names,
    compare,
    derivative,
    generator,
    jacobian,
    second_derivative,
)
from .systems import check_orthonormal, check_system


def check_node(node: Node | Body, rng: np.random.Generator | None = None, *, com: Vector = OFFSET) -> None:
    """Check one node, or one body with its node, in a model of its own.

    On top of ``check_system``: the frame is orthonormal and moves as the node says, kinetic energy and accelerations
    are those of Newton and Euler (of Lagrange for generalized coordinates), a change of parametrisation keeps pose
    and velocity, and the secant of a polynomial frame is its Jacobian at the midpoint.
    """
    rng = generator(rng)
    model = Model("check of a node", gravity=GRAVITY)
    body = model.add(node if isinstance(node, Body) else new_body("body", node, com))
    system = System(model)
    check_system(system, rng)
    if isinstance(body, Generalized):
        _check_lagrange(system, body, rng)
        return
    q, v = system.initial_state()
    frame, velocity = system.frames(q)[1], system.frame_velocities(q, v)[1]
    what = f"frame of {body} ({body.node})"
    check_orthonormal(what, frame)
    framed: Any = body
    start = np.concatenate((framed.position, framed.rotation.T.ravel()))
    compare(f"initial {what}", frame, start, EXACT_TOLERANCE)
    rates = framed.rotation @ hat(framed.angular_velocity)
    start = np.concatenate((framed.velocity, rates.T.ravel()))
    compare(f"initial velocity of the {what}", velocity, start, EXACT_TOLERANCE)
    _check_newton_euler(system, framed)
    if isinstance(body.node, RigidNode):
        _check_parametrisations(system, body.node)
    if system.tables.nodes[1].form in (FORM_POINT, FORM_QUATERNION, FORM_DIRECTORS):
        _check_frame_secant(system, rng)


def new_body(name: str, node: Node, com: Vector = OFFSET) -> RigidBody | PointMass:
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
    compare(f"kinetic energy v.M v / 2 of {body} ({body.node})", given, energy, EXACT_TOLERANCE)

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
    compare(f"acceleration of the frame of {body} ({body.node})", given, expected, DIFFERENCE_TOLERANCE)
    names = Names(system)
    residual = system.residual(q, v, vd, lam)
    compare("residual at the accelerations", residual, 0 * residual, EXACT_TOLERANCE * 10, (names.velocity,))


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
        compare(f"constraints of {body}", system.constraints(q), constraints(q), EXACT_TOLERANCE)
    given = system.residual(q, v, vd, lam)
    compare(f"Lagrange's equations of {body}", given, expected, DIFFERENCE_TOLERANCE, (Names(system).velocity,))


def _check_parametrisations(system: System, node: RigidNode) -> None:
    """Pose and velocity survive the way to every other parametrisation and back."""
    q, v = system.initial_state()
    names = Names(system)
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
            compare(f"frame {what}", other.frames(p), frames, EXACT_TOLERANCE, (names.node,))
            compare(
                f"velocity of the frame {what}", other.frame_velocities(p, u), velocities, EXACT_TOLERANCE * 10,
                (names.node,),
            )  # fmt: skip
            p, u = System(other.model.with_nodes(node)).initial_state()
            compare(f"coordinates {what} and back", p, q, EXACT_TOLERANCE, (names.coordinate,))
            compare(f"velocities {what} and back", u, v, EXACT_TOLERANCE * 10, (names.velocity,))


def _check_frame_secant(system: System, rng: np.random.Generator) -> None:
    """z(q1) - z(q0) = Z((q0 + q1)/2) (q1 - q0) exactly for frames that are at most quadratic in q."""
    q0, q1 = rng.normal(size=system.n_q), rng.normal(size=system.n_q)
    given = system.frame_velocities(0.5 * (q0 + q1), q1 - q0)
    expected = system.frames(q1) - system.frames(q0)
    compare("secant of the frame Z(q_mid)(q1 - q0)", given, expected, EXACT_TOLERANCE * 10, (Names(system).node,))
