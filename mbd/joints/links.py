"""Joints that hold a single distance, point or direction."""

from __future__ import annotations

from typing import Unpack

from mbd.bodies import Body
from mbd.elements.arguments import JointArguments, Vector
from mbd.elements.attributes import declared, positive
from mbd.errors import ZERO3, Array, bad_value
from mbd.joints.joint import Joint, distance_apart, to_world
from mbd.joints.lower_pairs import on_axis, parallel_axes, with_normal
from mbd.joints.primitive_data import DistanceBetween, Dot2, Primitive


class PointOnLine(Joint):
    """A point of the second body stays on a line of the first one; the displacement along the line and all rotations
    remain (2 equations).

    The line passes through ``point_a`` (or ``at``) in the direction of the axis. A point mass is its own point.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> bead = model.add(mbd.PointMass("bead", mass=0.1))
    >>> wire = model.add(mbd.joints.PointOnLine(model.ground, bead, at=(0, 0, 0), axis=(1, 0, -1), name="wire"))
    >>> mbd.simulate(model, t_end=1.0, step=0.01)[wire].displacement[-1].round(4)   # half of g sin 45 deg
    np.float64(3.4684)
    """

    coordinate = "displacement"
    uses_point = "required"
    uses_axis = "required"
    oriented = (True, False)

    def primitives(self) -> list[Primitive]:
        return on_axis(self)


class PointInPlane(Joint):
    """A point of the second body stays in a plane of the first one; two displacements and all rotations remain
    (1 equation).

    The plane passes through ``point_a`` (or ``at``); ``axis`` (or ``normal``) is its normal. A point mass is its own
    point.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> ice = model.add(mbd.PointMass("ice", mass=0.1, velocity=(2, 0, 0)))
    >>> floor = model.add(mbd.joints.PointInPlane(model.ground, ice, at=(0, 0, 0), normal=(0, 0, 1), name="floor"))
    >>> mbd.simulate(model, t_end=1.0, step=0.01)[ice].position[-1].round(4).tolist()
    [2.0, 0.0, 0.0]
    """

    uses_point = "required"
    uses_axis = "required"
    oriented = (True, False)

    def __init__(
        self, body_a: Body, body_b: Body, *, normal: Vector | None = None, **arguments: Unpack[JointArguments]
    ) -> None:
        super().__init__(body_a, body_b, **with_normal(self, normal, arguments))

    def primitives(self) -> list[Primitive]:
        return [Dot2(self.axis_a, self.point_a, self.point_b)]


class Distance(Joint):
    """A massless rod between two points; everything but their distance remains free (1 equation).

    ``point_a`` and ``point_b`` are body-fixed and by default the reference points; ``length`` is by default the initial
    distance.

    >>> model = mbd.Model()
    >>> a = model.add(mbd.PointMass("a", mass=1.0))
    >>> b = model.add(mbd.PointMass("b", mass=1.0, position=(3, 4, 0)))
    >>> rod = model.add(mbd.joints.Distance(a, b, name="rod"))
    >>> rod.length
    5.0
    """

    uses_axis = "none"
    length = declared("Distance of the points.", positive)

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        point_a: Vector = ZERO3,
        point_b: Vector = ZERO3,
        length: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        super().__init__(body_a, body_b, point_a=point_a, point_b=point_b, name=name)
        if length is None:
            length = distance_apart(to_world(body_a, self.point_a), to_world(body_b, self.point_b))
            if length == 0.0:
                raise bad_value(
                    self, "length", length, "points that are apart, but they coincide initially; Spherical is for that"
                )
        self._set(length=length)

    def primitives(self) -> list[Primitive]:
        return [DistanceBetween(self.point_a, self.point_b, self.length)]


class Parallel(Joint):
    """Two directions stay parallel; all displacements and the rotation about the direction remain (2 equations).

    >>> model = mbd.Model()
    >>> tray = model.add(mbd.RigidBody("tray", mass=1.0, inertia=(1, 1, 1)))
    >>> level = model.add(mbd.joints.Parallel(model.ground, tray, axis=(0, 0, 1)))
    >>> mbd.diagnose(model).dof
    4
    """

    uses_point = "none"
    uses_axis = "required"
    oriented = (True, True)

    def primitives(self) -> list[Primitive]:
        return parallel_axes(self)

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b)]
