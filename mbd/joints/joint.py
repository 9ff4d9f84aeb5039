"""The base of all joints: it turns what people give (world or body-fixed points and axes) into body-fixed data."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from mbd.bodies import Body, Generalized, Ground, PointMass, RigidBody
from mbd.bodies.checks import BELONGS, check_name
from mbd.elements.arguments import Reading, Vector
from mbd.elements.attributes import Checked, declared, fixed
from mbd.errors import (
    IDENTITY3,
    ZERO3,
    Array,
    ModelError,
    bad_value,
    check_direction,
    check_number,
    check_vector,
    read_only,
)
from mbd.joints.frames import frame_around, kept_normal
from mbd.joints.primitive_data import Dot1, Dot2, Primitive
from mbd.joints.readings import (
    HAS,
    NO_ZERO,
    Kind,
    check_zero,
    chosen_coordinate,
    turned_about_axis,
    value_at_start,
)
from mbd.rotation import as_matrix

TOGETHER = "make a new joint: its points and axes belong together"
COINCIDE = 1e-12  # distance of points, relative to their coordinates, that is no direction

if TYPE_CHECKING:
    from mbd.model import Model

Use = Literal["required", "optional", "none"]
Freedom = Literal["turn", "slide", "slide 1", "slide 2", "screw", "ball"]


def _pair(value: Any, owner: Any, argument: str) -> tuple[float, float]:
    first, second = check_vector(value, owner, argument, 2).tolist()
    return first, second


def _ends_or_none(value: Any, owner: Any, argument: str) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = check_vector(value, owner, argument, 2).tolist()
    if low > high:
        raise bad_value(owner, argument, value, "two numbers, the smaller one first, or None")
    return low, high


def _positive_or_none(value: Any, owner: Any, argument: str) -> float | None:
    return None if value is None else check_number(value, owner, argument, positive=True)


def _checked_branch(value: Any, owner: Any, argument: str) -> float:
    angle = check_number(value, owner, argument)
    if angle != 0.0 and "angle" not in HAS[owner.coordinate]:
        raise bad_value(owner, argument, value, "zero, because this joint shows no angle")
    return angle


class Joint(Checked):
    """A connection of two bodies.

    Parameters
    ----------
    body_a, body_b: the two bodies; ``model.ground`` is one as well.
    at, axis: point and direction of the joint in the world, in the initial configuration.
    point_a, point_b, axis_a, axis_b: the same, body-fixed (for the ground: world). What is not given here follows from
        ``at`` and ``axis``; what is given for one body only is carried over to the other one through the initial
        configuration. If both are given and do not agree initially, the initial conditions are corrected before a run.
    zero: what the joint shows in the initial configuration: its angle (rad) or displacement, for a joint with both the
        pair (displacement, angle); zero by default. Drivers on the joint, springs, controls, limits, couplings,
        sensors and results all refer to what it shows. Whole turns count.

    Attributes
    ----------
    point_a, point_b: body-fixed points of the joint.
    frame_a, frame_b: 3x3 matrices with the columns (n1, n2, axis), body-fixed; they coincide in space initially unless
        ``axis_a`` and ``axis_b`` differ, in which case frame_b is turned by the smallest rotation between the axes.

    An own joint overrides ``primitives()``::

        class PointOnCircle(Joint):
            def primitives(self):
                return [Dot2(self.axis_a, self.point_a, self.point_b), DistanceBetween(self.point_a, self.point_b, 2.0)]
    """

    coordinate: ClassVar[Literal["angle", "displacement", "both"] | None] = None
    """The relative motion along or about the axis that the joint leaves free and reports."""

    uses_point: ClassVar[Use] = "optional"
    uses_axis: ClassVar[Use] = "optional"
    oriented: ClassVar[tuple[bool, bool]] = (False, False)
    """Whether the joint needs an orientation of its first and of its second body (a point mass has none)."""

    coincident: ClassVar[bool] = False
    """Whether the two points of the joint coincide."""

    freedoms: ClassVar[tuple[Freedom, ...] | None] = None
    """Elementary motions that lead from its frame on the first body to that on the second one, each in the frame that
    the ones before it have moved; they become coordinates (``Model.with_coordinates``). None: not made of such."""

    name = declared('Name, unique in its model; "" before it is generated.', check_name)
    model: Model | None = fixed(
        "The model to which it was added, or None.",
        BELONGS,
    )
    body_a: Body = fixed("First body.", "make a new joint")
    body_b: Body = fixed("Second body.", "make a new joint")
    point_a: Array = fixed("Its point on the first body, body-fixed.", TOGETHER, check_vector)
    point_b: Array = fixed("Its point on the second body, body-fixed.", TOGETHER, check_vector)
    frame_a: Array = fixed("Matrix with the columns (n1, n2, axis), fixed in the first body.", TOGETHER, as_matrix)
    frame_b: Array = fixed("Matrix with the columns (n1, n2, axis), fixed in the second body.", TOGETHER, as_matrix)
    zero: tuple[float, float] = fixed(
        "Displacement and angle that the joint showed where it was made.", TOGETHER, _pair, default=NO_ZERO
    )
    branch: float = declared(
        "Angle to which the one at the start of a run is nearest: which of all that differ by whole turns is meant.",
        _checked_branch,
        default=0.0,
    )
    range: tuple[float, float] | None = declared(
        "Ends of its angle or displacement, or None; for information: a JointLimit holds it there.",
        _ends_or_none,
        default=None,
    )
    effort: float | None = declared(
        "Largest torque or force of a drive on it, or None; for information: a drive takes it as limit=.",
        _positive_or_none,
        default=None,
    )
    speed: float | None = declared(
        "Largest rate of its angle or displacement, or None; for information.", _positive_or_none, default=None
    )

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        *,
        name: str | None = None,
        at: Vector | None = None,
        axis: Vector | None = None,
        point_a: Vector | None = None,
        point_b: Vector | None = None,
        axis_a: Vector | None = None,
        axis_b: Vector | None = None,
        zero: Reading | None = None,
    ) -> None:
        self._set(name=name, model=None, body_a=body_a, body_b=body_b)
        self._check_bodies()
        stored = self.__dict__
        stored["point_a"], stored["point_b"] = self._resolve_points(at, point_a, point_b)
        stored["frame_a"], stored["frame_b"] = self._resolve_frames(axis, axis_a, axis_b)
        if zero is not None:
            self._show(zero, point_a is not None and point_b is not None)

    def _show(self, zero: Reading, both_points: bool) -> None:
        """Place the frames such that the joint shows these values now."""
        displacement, angle = check_zero(zero, self)
        if displacement != 0.0 and both_points:
            raise bad_value(
                self, "zero", zero, "either zero= or both point_a= and point_b=, which say what the displacement is"
            )
        stored = self.__dict__
        if displacement != 0.0:
            stored["point_a"] = read_only(self.point_a - displacement * self.axis_a)
        stored["frame_b"] = turned_about_axis(self.frame_b, angle)
        if (displacement, angle) != NO_ZERO:
            stored["zero"], stored["branch"] = (displacement, angle), angle

    def at_start(self, coordinate: Kind | None = None) -> tuple[float, float]:
        """Value and rate of its angle or displacement in the initial configuration, as the nodes of its bodies say.

        ``coordinate`` is "angle" or "displacement" where the joint has both.
        """
        return value_at_start(self, chosen_coordinate(self, coordinate, self))

    @property
    def place_a(self) -> Array:
        """Where it was made on the first body: ``point_a`` without what ``zero`` moved it by along the axis."""
        return self.point_a if self.zero[0] == 0.0 else read_only(self.point_a + self.zero[0] * self.axis_a)

    def primitives(self) -> list[Primitive]:
        """The equations of the joint, as a list of primitives."""
        raise NotImplementedError(f"{type(self).__name__} must override primitives()")

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        """Pairs of axes, fixed in the first and in the second body, whose dot product is positive on the right branch.

        The equations of a joint also hold when one body is turned by 180 degrees; these conditions exclude that.
        """
        return []

    def orientation_conditions_at(self, t: float) -> list[tuple[Array, Array]]:
        """``orientation_conditions`` of joints for which they depend on time."""
        return self.orientation_conditions()

    @property
    def label(self) -> str:
        """First part of generated names: "revolute", "point on line"."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(self).__name__).lower()

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The connected bodies."""
        return (self.body_a, self.body_b)

    @property
    def n_equations(self) -> int:
        """Number of equations."""
        return sum(primitive.rows for primitive in self.primitives())

    @property
    def n1_a(self) -> Array:
        """First normal of the axis, fixed in the first body."""
        return self.frame_a[:, 0]

    @property
    def n2_a(self) -> Array:
        """Second normal of the axis, fixed in the first body."""
        return self.frame_a[:, 1]

    @property
    def axis_a(self) -> Array:
        """Axis, fixed in the first body."""
        return self.frame_a[:, 2]

    @property
    def n1_b(self) -> Array:
        """First normal of the axis, fixed in the second body."""
        return self.frame_b[:, 0]

    @property
    def n2_b(self) -> Array:
        """Second normal of the axis, fixed in the second body."""
        return self.frame_b[:, 1]

    @property
    def axis_b(self) -> Array:
        """Axis, fixed in the second body."""
        return self.frame_b[:, 2]

    def __str__(self) -> str:
        bodies = " and ".join(f"'{getattr(body, 'name', body)}'" for body in (self.body_a, self.body_b))
        return f"{self.label} '{self.name}' of {bodies}" if self.name else f"{self.label} of {bodies}"

    def __repr__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"<{type(self).__name__}{name}: '{self.body_a.name}' - '{self.body_b.name}'>"

    def check(self) -> None:
        """Refuse what is no primitive, or needs an orientation of a point mass; called when added to a model."""
        point_sides = (isinstance(self.body_a, PointMass), isinstance(self.body_b, PointMass))
        if type(self).__module__.startswith("mbd.") and not any(point_sides):
            return  # the joints of the toolkit are known to be right
        primitives = self.primitives()
        if not isinstance(primitives, list | tuple) or not all(hasattr(primitive, "rows") for primitive in primitives):
            raise bad_value(self, "primitives()", primitives, "a list of Coincident, Dot1, Dot2 and DistanceBetween")
        for primitive in primitives:
            needs = (isinstance(primitive, Dot1 | Dot2), isinstance(primitive, Dot1))
            for need, is_point, body in zip(needs, point_sides, self.bodies, strict=True):
                if need and is_point:
                    raise self._no_orientation(body)

    # --- how world quantities become body-fixed ones

    def _check_bodies(self) -> None:
        ends = (self.body_a, self.body_b)
        for argument, body, oriented in zip(("body_a", "body_b"), ends, self.oriented, strict=True):
            check_framed(body, self, argument)
            if oriented and isinstance(body, PointMass):
                raise self._no_orientation(body)
        if self.body_a is self.body_b:
            raise ModelError(f"{self}: both bodies are the same; expected two different ones")

    def _no_orientation(self, body: Body) -> ModelError:
        swap = ", or swap the two bodies" if body is self.body_a and not self.oriented[1] else ""
        return ModelError(
            f"{self}: {body} has no orientation, which this joint needs; expected a RigidBody there{swap}. "
            "Spherical and Distance connect point masses, PointOnLine and PointInPlane take one as second body"
        )

    def _resolve_points(self, at: Any, point_a: Any, point_b: Any) -> tuple[Array, Array]:
        if self.uses_point == "none" and not (at is None and point_a is None and point_b is None):
            raise ModelError(f"{self}: at=, point_a=, point_b= have no meaning for this joint; leave them away")
        if at is not None and point_a is not None and point_b is not None:
            raise bad_value(self, "at", at, "either at= or both point_a= and point_b=, since one would be ignored")
        a, b = self.body_a, self.body_b
        world = None if at is None else check_vector(at, self, "at")
        local_a = None if point_a is None else check_vector(point_a, self, "point_a")
        local_b = None if point_b is None else check_vector(point_b, self, "point_b")
        if isinstance(a, PointMass):
            local_a = self._point_of_mass(a, world, local_a, "point_a")
        if isinstance(b, PointMass):
            local_b = self._point_of_mass(b, world, local_b, "point_b")
        if local_a is None and local_b is None and world is None:
            if self.uses_point == "required":
                raise ModelError(
                    f"{self}: where is it? Expected at=(x, y, z), a world point in the initial configuration, "
                    "or point_a= or point_b=, body-fixed"
                )
            local_b = ZERO3
        if world is None:  # one of the two points is known and says where the other one is
            known, point = (a, local_a) if local_a is not None else (b, local_b)
            assert point is not None
            world = to_world(known, point)
        return (
            to_body(a, world) if local_a is None else local_a,
            to_body(b, world) if local_b is None else local_b,
        )

    def _point_of_mass(self, body: PointMass, at: Array | None, point: Array | None, argument: str) -> Array:
        """A point mass has one point only, its own position."""
        if point is not None and point.any():
            raise bad_value(self, argument, point, f"(0, 0, 0), because {body} is a point without extent")
        if self.coincident and at is not None and point is None:
            distance = float(np.linalg.norm(at - body.position))
            if distance > 1e-9 * (1.0 + float(np.abs(at).max())):
                raise bad_value(
                    self,
                    "at",
                    at,
                    f"the position {tuple(body.position.tolist())} of {body}, which is a point without extent",
                )
        return ZERO3

    def _resolve_frames(self, axis: Any, axis_a: Any, axis_b: Any) -> tuple[Array, Array]:
        a, b = self.body_a, self.body_b
        if axis is None and axis_a is None and axis_b is None:
            if self.uses_axis == "required":
                raise ModelError(
                    f"{self}: which axis? Expected axis=(x, y, z), a world direction in the initial configuration, "
                    "or axis_a= or axis_b=, body-fixed"
                )
            return IDENTITY3, _carried(a, b, IDENTITY3)
        if self.uses_axis == "none":
            raise ModelError(f"{self}: axis=, axis_a=, axis_b= have no meaning for this joint; leave them away")
        if axis is not None and axis_a is not None and axis_b is not None:
            raise bad_value(self, "axis", axis, "either axis= or both axis_a= and axis_b=, since one would be ignored")
        for body, direction, argument in ((a, axis_a, "axis_a"), (b, axis_b, "axis_b")):
            if direction is not None and isinstance(body, PointMass):
                raise bad_value(self, argument, direction, f"none, because {body} has no orientation; give axis=")
        world = None if axis is None else check_direction(axis, self, "axis")
        local_a = None if axis_a is None else check_direction(axis_a, self, "axis_a")
        local_b = None if axis_b is None else check_direction(axis_b, self, "axis_b")
        differ = local_b is not None and (local_a is not None or world is not None)
        if local_a is None:
            if world is None:
                assert local_b is not None
                world = _turned(b, local_b)
            local_a = _turned_back(a, world)
        elif local_b is None and world is not None:
            local_b, differ = _turned_back(b, world), True
        frame_a = frame_around(local_a, kept_normal(self))
        frame_b = _carried(a, b, frame_a)
        if differ:
            assert local_b is not None
            turn = smallest_rotation(frame_b[:, 2], local_b, frame_b[:, 0])
            frame_b = turn @ frame_b
            frame_b[:, 2] = local_b  # without the rounding errors of the product
            read_only(frame_b)
        return frame_a, frame_b


def check_framed(body: Any, owner: object, argument: str) -> None:
    """Refuse anything that is not a body with a position in space."""
    if isinstance(body, RigidBody | Ground | PointMass):
        return
    if isinstance(body, Generalized):
        raise ModelError(
            f"{owner}: {argument} is {body}, whose coordinates have no frame; expected a RigidBody, a PointMass or the "
            "ground. Generalized coordinates are moved by constraints=, potential= and force= of mbd.Generalized"
        )
    if isinstance(body, str):
        raise bad_value(owner, argument, body, f"the body itself, not its name: model[{body!r}]")
    raise bad_value(owner, argument, body, "a body, such as model.ground or what model.add(mbd.RigidBody(...)) returns")


def distance_apart(a: Array, b: Array) -> float:
    """Distance of two points; zero where they coincide as far as the digits of their coordinates tell."""
    distance = float(np.linalg.norm(b - a))
    return distance if distance > COINCIDE * float(max(np.abs(a).max(), np.abs(b).max())) else 0.0


def to_world(body: Any, point: Array) -> Array:
    """World coordinates of a body-fixed point in the initial configuration."""
    if body.rotation is IDENTITY3:
        return body.position + point
    return body.position + body.rotation @ point


def to_body(body: Any, point: Array) -> Array:
    """Body-fixed coordinates of a world point in the initial configuration."""
    local = point - body.position
    return read_only(local if body.rotation is IDENTITY3 else local @ body.rotation)


def _turned(body: Any, direction: Array) -> Array:
    return direction if body.rotation is IDENTITY3 else body.rotation @ direction


def _turned_back(body: Any, direction: Array) -> Array:
    return direction if body.rotation is IDENTITY3 else direction @ body.rotation


def _carried(a: Any, b: Any, frame: Array) -> Array:
    """The frame fixed in b that coincides in space with the given one fixed in a."""
    if a.rotation is b.rotation:
        return frame
    return read_only(b.rotation.T @ (a.rotation @ frame))


def smallest_rotation(start: Array, end: Array, normal: Array) -> Array:
    """Rotation matrix with the smallest angle that turns one unit vector into another; about ``normal`` if opposite."""
    cosine = float(start @ end)
    if cosine < -1.0 + 1e-12:
        return 2.0 * np.outer(normal, normal) - np.eye(3)
    cross = np.cross(start, end)
    skew = np.array(((0.0, -cross[2], cross[1]), (cross[2], 0.0, -cross[0]), (-cross[1], cross[0], 0.0)))
    return np.eye(3) + skew + skew @ skew / (1.0 + cosine)
