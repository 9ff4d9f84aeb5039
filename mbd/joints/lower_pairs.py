"""The classical joints with a common point or a common axis, made of primitives [Haug 1989, chapter 9]."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from mbd.bodies import Body
from mbd.elements.arguments import JointArguments, Orientation, Vector
from mbd.errors import Array, ModelError, bad_value
from mbd.joints.joint import Joint
from mbd.joints.primitive_data import Coincident, Dot1, Dot2, Primitive
from mbd.rotation import as_matrix


def equal_orientation(joint: Joint) -> list[Primitive]:
    """Three equations by which the frames of the joint on both bodies have the same orientation."""
    return [Dot1(joint.n1_a, joint.n2_b), *parallel_axes(joint)]


def parallel_axes(joint: Joint) -> list[Primitive]:
    """Two equations by which the axes of the joint on both bodies are parallel."""
    return [Dot1(joint.n1_a, joint.axis_b), Dot1(joint.n2_a, joint.axis_b)]


def on_axis(joint: Joint) -> list[Primitive]:
    """Two equations by which the point of the second body lies on the axis of the first one."""
    return [
        Dot2(joint.n1_a, joint.place_a, joint.point_b),
        Dot2(joint.n2_a, joint.place_a, joint.point_b),
    ]


class Fixed(Joint):
    """Holds two bodies together rigidly; no freedom remains (6 equations).

    The initial relative orientation is kept, unless both ``axis_a`` and ``axis_b`` are given, which are then aligned,
    or both ``frame_a`` and ``frame_b`` (anything that a node accepts as rotation), which then coincide.
    Without ``at`` the joint sits at the reference point of the second body.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> bracket = model.add(mbd.RigidBody("bracket", mass=2.0, inertia=(1, 1, 1)))
    >>> weld = model.add(mbd.joints.Fixed(model.ground, bracket, at=(-0.5, 0, 0), name="weld"))
    >>> solution = mbd.simulate(model, t_end=0.1, step=0.01)
    >>> (solution[weld].force[-1] + 0.0).round(6).tolist(), (solution[weld].torque[-1] + 0.0).round(6).tolist()
    ([0.0, 0.0, 19.62], [0.0, -9.81, 0.0])
    """

    freedoms = ()
    oriented = (True, True)
    coincident = True

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        *,
        frame_a: Orientation | None = None,
        frame_b: Orientation | None = None,
        **arguments: Unpack[JointArguments],
    ) -> None:
        super().__init__(body_a, body_b, **arguments)
        if frame_a is None and frame_b is None:
            return
        if frame_a is None or frame_b is None:
            raise ModelError(f"{self}: frame_a= and frame_b= belong together; expected both or none")
        if any(arguments.get(key) is not None for key in ("axis", "axis_a", "axis_b")):
            raise bad_value(self, "frame_a", frame_a, "either frames or axes, not both")
        self._set(frame_a=as_matrix(frame_a, self, "frame_a"), frame_b=as_matrix(frame_b, self, "frame_b"))

    def primitives(self) -> list[Primitive]:
        return [Coincident(self.point_a, self.point_b), *equal_orientation(self)]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b), (self.n1_a, self.n1_b)]


class Spherical(Joint):
    """Ball joint: a common point; the three rotations remain (3 equations)."""

    freedoms = ("ball",)
    uses_point = "required"
    uses_axis = "none"
    coincident = True

    def primitives(self) -> list[Primitive]:
        return [Coincident(self.point_a, self.point_b)]


class Revolute(Joint):
    """Hinge: a common point and a common axis; the rotation about the axis remains (5 equations).

    >>> model = mbd.Model()
    >>> door = model.add(mbd.RigidBody("door", mass=20.0, inertia=(7.0, 7.0, 2.0)))
    >>> hinge = model.add(mbd.joints.Revolute(model.ground, door, at=(-0.4, 0, 0), axis=(0, 0, 1), name="hinge"))
    >>> opened = model.with_joint_values({"hinge": np.pi / 2})
    >>> opened["door"].node.position[:2].round(6).tolist()
    [-0.4, 0.4]
    """

    coordinate = "angle"
    uses_point = "required"
    uses_axis = "required"
    freedoms = ("turn",)
    oriented = (True, True)
    coincident = True

    def primitives(self) -> list[Primitive]:
        return [Coincident(self.point_a, self.point_b), *parallel_axes(self)]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b)]


class Prismatic(Joint):
    """Slider: the displacement along the axis remains, no rotation (5 equations).

    Without ``at`` the joint sits at the reference point of the second body; the motion does not depend on it.
    """

    coordinate = "displacement"
    uses_axis = "required"
    freedoms = ("slide",)
    oriented = (True, True)

    def primitives(self) -> list[Primitive]:
        return [*equal_orientation(self), *on_axis(self)]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b), (self.n1_a, self.n1_b)]


class Cylindrical(Joint):
    """Shaft in a sleeve: the rotation about and the displacement along a common axis remain (4 equations).

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> node = mbd.nodes.RotationVector(angular_velocity=(0, 0, 3.0))
    >>> bolt = model.add(mbd.RigidBody("bolt", mass=1.0, inertia=(1, 1, 1), node=node))
    >>> sleeve = model.add(mbd.joints.Cylindrical(model.ground, bolt, at=(0, 0, 0), axis=(0, 0, 1), name="sleeve"))
    >>> solution = mbd.simulate(model, t_end=1.0, step=0.01)
    >>> solution[sleeve].displacement[-1].round(4), solution[sleeve].angle[-1].round(4)
    (np.float64(-4.905), np.float64(3.0))
    """

    coordinate = "both"
    uses_point = "required"
    uses_axis = "required"
    freedoms = ("slide", "turn")
    oriented = (True, True)

    def primitives(self) -> list[Primitive]:
        return [*parallel_axes(self), *on_axis(self)]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b)]


class Universal(Joint):
    """Cardan joint: a common point; the rotations about the two cross axes remain (4 equations).

    ``axis_a`` is fixed in the first and ``axis_b`` in the second body; they stay perpendicular.

    >>> model = mbd.Model()
    >>> shaft = model.add(mbd.RigidBody("shaft", mass=1.0, inertia=(1, 1, 1)))
    >>> cross = mbd.joints.Universal(model.ground, shaft, at=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0))
    >>> joint = model.add(cross)
    >>> mbd.diagnose(model).dof
    2
    """

    uses_point = "required"
    uses_axis = "required"
    freedoms = ("turn", "turn")
    oriented = (True, True)
    coincident = True

    def __init__(self, body_a: Body, body_b: Body, **arguments: Unpack[JointArguments]) -> None:
        super().__init__(body_a, body_b, **arguments)
        given = [key for key in ("axis", "axis_a", "axis_b") if arguments.get(key) is not None]
        if len(given) != 2:
            raise ModelError(
                f"{self}: only {given[0]}= is given; expected the two cross axes axis_a= and axis_b=, fixed in the "
                "first and in the second body and perpendicular to each other"
            )
        a: Any = self.body_a
        b: Any = self.body_b
        first, second = a.rotation @ self.axis_a, b.rotation @ self.axis_b
        cosine = float(first @ second)
        if abs(cosine) > 0.99:
            raise bad_value(
                self,
                "axis_a, axis_b",
                [self.axis_a.tolist(), self.axis_b.tolist()],
                "two perpendicular cross axes, but these are parallel in the initial configuration",
            )
        # the normals are the other cross axis, so that both angles are zero in the initial configuration
        self._set(frame_a=_frame_towards(a, self.axis_a, second), frame_b=_frame_towards(b, self.axis_b, first))

    def primitives(self) -> list[Primitive]:
        return [Coincident(self.point_a, self.point_b), Dot1(self.axis_a, self.axis_b)]


def _frame_towards(body: Any, axis: Array, direction: Array) -> Array:
    """Body-fixed frame around an axis whose first normal points to a world direction, as far as it can."""
    local = direction @ body.rotation
    normal = local - (local @ axis) * axis
    normal /= np.linalg.norm(normal)
    return np.column_stack((normal, np.cross(axis, normal), axis))


class Planar(Joint):
    """Plane on plane, ``axis`` (or ``normal``) being the normal; two displacements and the rotation about the normal
    remain (3 equations).

    Without ``at`` the joint sits at the reference point of the second body; the motion does not depend on it.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> puck = model.add(mbd.RigidBody("puck", mass=0.2, inertia=(1e-3, 1e-3, 2e-3)))
    >>> table = model.add(mbd.joints.Planar(model.ground, puck, normal=(0, 0, 1), name="table"))
    >>> mbd.diagnose(model).dof
    3
    """

    uses_axis = "required"
    freedoms = ("slide 1", "slide 2", "turn")
    oriented = (True, True)

    def __init__(
        self, body_a: Body, body_b: Body, *, normal: Vector | None = None, **arguments: Unpack[JointArguments]
    ) -> None:
        super().__init__(body_a, body_b, **with_normal(self, normal, arguments))

    def primitives(self) -> list[Primitive]:
        return [*parallel_axes(self), Dot2(self.axis_a, self.point_a, self.point_b)]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b)]


def with_normal(joint: Joint, normal: Vector | None, arguments: JointArguments) -> JointArguments:
    """The arguments with ``normal`` as another word for ``axis``."""
    if normal is None:
        return arguments
    if arguments.get("axis") is not None:
        raise bad_value(joint.label, "normal", normal, "either normal= or axis=, which mean the same here")
    return {**arguments, "axis": normal}
