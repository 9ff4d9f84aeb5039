"""Primitives, joints and forces, between nodes of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..bodies import Body
from ..elements.attributes import fixed
from ..errors import Array
from ..forces import ForceElement
from ..joints import Joint, Primitive
from ..joints.tree import free_motions
from ..model import Model
from ..nodes import Directors, Node, Quaternion, RigidNode, RotationVector
from ..solvers.states import on_lie_nodes
from ..system.system import System
from .comparison import (
    EXACT_TOLERANCE,
    GRAVITY,
    compare,
    generator,
    random_node,
)
from .nodes import new_body
from .systems import check_system


class _OnePrimitive(Joint):
    """A joint made of one given primitive."""

    primitive: Primitive = fixed("The only primitive.", "make a new joint")

    def __init__(self, body_a: Body, body_b: Body, primitive: Primitive) -> None:
        super().__init__(body_a, body_b)
        self._set(primitive=primitive)

    def primitives(self) -> list[Primitive]:
        return [self.primitive]


def check_primitive(
    primitive: Primitive,
    pairs: Iterable[tuple[Node | None, Node | None]] | None = None,
    rng: np.random.Generator | None = None,
) -> None:
    """Check one constraint primitive between nodes (``None``: the ground); by default between nodes of every form."""
    rng = generator(rng)
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
    build: Callable[[Body, Body], Joint],
    node_a: Node | None,
    node_b: Node | None,
    rng: np.random.Generator | None = None,
    *,
    consistent: bool = True,
) -> None:
    """Check the joint that ``build(body_a, body_b)`` makes between bodies with the given nodes (``None``: ground).

    On top of ``check_system`` away from the initial configuration: the equations hold initially (unless
    ``consistent=False``), none of them is redundant, and they are quadratic in the frames where they say so. Of a joint
    with ``freedoms``, these are checked as well: the equations hold wherever they lead, and ``check_system`` in joint
    coordinates.
    """
    rng = generator(rng)
    model, a, b = _pair("check of a joint", node_a, node_b)
    joint = model.add(build(a, b))
    system = System(model)
    q, v = system.initial_state()
    part = system.joint_slice(joint)
    compare(f"number of equations of {joint}", part.stop - part.start, joint.n_equations, 0.0)
    if consistent:
        given = system.constraints(q)[part]
        compare(f"initial value of {joint}", given, 0.0 * given, EXACT_TOLERANCE * 10)
        for direction_a, direction_b in joint.orientation_conditions():
            cosine = (_rotation(joint.body_a) @ direction_a) @ (_rotation(joint.body_b) @ direction_b)
            assert cosine > 0.0, f"{joint}: an orientation condition is {cosine:.3g} initially, expected positive"
        if all(node is None or (isinstance(node, RigidNode) and not node.pinned) for node in (node_a, node_b)):
            singular = np.linalg.svd(system.constraint_jacobian(q).toarray()[part], compute_uv=False)
            assert singular[-1] > 1e-6 * singular[0], f"{joint}: its equations depend on each other: {singular}"
    if all(primitive.quadratic for primitive in joint.primitives()):
        _check_joint_secant(system, joint, rng)
    moved = system.update(q, 0.2 * rng.normal(size=system.n_v))
    check_system(system, rng, state=(moved, v))
    if free_motions(joint) is not None and len(joint.bodies) == 2:  # equations of others follow a further joint
        _check_freedoms(model, joint.name, rng)


def _check_freedoms(model: Model, joint: str, rng: np.random.Generator) -> None:
    """The motions that become coordinates are those that the equations leave free."""
    model = model.with_coordinates("joint")
    system = System(model)
    if system.carrier(joint) is None:
        return  # one of the bodies has no orientation
    q, v = system.initial_state()
    moved, rates = system.update(q, rng.normal(size=system.n_v)), rng.normal(size=system.n_v)
    twin, at, velocities = on_lie_nodes(system, moved, rates)
    part = twin.joint_slice(joint)
    what = f"of the equations of {model[joint]} along its freedoms"
    zero = np.zeros(part.stop - part.start)
    compare(f"value {what}", twin.constraints(at)[part], zero, EXACT_TOLERANCE * 100)
    compare(f"rate {what}", twin.constraint_velocity(at, velocities)[part], zero, EXACT_TOLERANCE * 100)
    check_system(system, rng, state=(moved, rates))


def _check_joint_secant(system: System, joint: Joint, rng: np.random.Generator) -> None:
    """g(z1) - g(z0) = g_z((z0 + z1)/2) (z1 - z0) exactly; coordinates of directors and points are the frame."""
    linear = System(system.model.with_nodes(Directors))
    part = linear.joint_slice(joint.name)
    q0, q1 = rng.normal(size=linear.n_q), rng.normal(size=linear.n_q)
    given = linear.constraint_jacobian(0.5 * (q0 + q1)).toarray()[part] @ (q1 - q0)
    expected = linear.constraints(q1)[part] - linear.constraints(q0)[part]
    compare(f"secant g_z(z_mid)(z1 - z0) of {joint}", given, expected, EXACT_TOLERANCE * 100)


def _pair(name: str, node_a: Node | None, node_b: Node | None) -> tuple[Model, Any, Any]:
    model = Model(name, gravity=GRAVITY)
    a, b = (
        model.ground if node is None else model.add(new_body(label, node))
        for label, node in (("a", node_a), ("b", node_b))
    )
    return model, a, b


def _rotation(body: Any) -> Array:
    return np.asarray(body.rotation)


def check_force(
    build: Callable[[Model, Body, Body], ForceElement],
    node_a: Node | None,
    node_b: Node | None,
    rng: np.random.Generator | None = None,
) -> None:
    """Check the force that ``build(model, body_a, body_b)`` makes between bodies with the given nodes.

    ``build`` may add joints to the model that the force refers to; the force itself is added here. The check is that
    of ``check_system``, at the initial configuration and away from it, and that the force acts at all.
    """
    rng = generator(rng)
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
