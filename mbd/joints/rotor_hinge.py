"""What turns the rotor of a motor."""

from __future__ import annotations

from mbd.bodies import Body, Rotor
from mbd.elements.attributes import fixed
from mbd.errors import Array, ModelError
from mbd.joints.couplings import checked_joint
from mbd.joints.joint import Joint
from mbd.joints.lower_pairs import parallel_axes
from mbd.joints.primitive_data import Coordinate, CoordinateSum, Primitive
from mbd.joints.readings import Kind, chosen_coordinate


def _checked_kind(value: object, owner: RotorHinge, argument: str) -> Kind:
    return chosen_coordinate(owner.driving, value, owner, argument)


class RotorHinge(Joint):
    """Turns a rotor about a fixed axis by the angle, or by the displacement in radians, of a joint (3 equations).

    ``mbd.forces.Motor`` makes it. Its last multiplier is what the inertia of the rotor does to the joint. In joint
    coordinates, where the angle or displacement of that joint is a coordinate, the inertia belongs to this coordinate,
    and there is no multiplier; the views of the rotor and of this coupling show the same as in absolute coordinates.
    """

    coordinate = "angle"
    uses_point = "none"
    uses_axis = "required"
    oriented = (True, True)
    freedoms = ()
    driving: Joint = fixed("Joint that turns it.", "make a new motor", checked_joint)
    of: Kind = fixed("Which coordinate of that joint.", "make a new motor", _checked_kind)

    def __init__(self, ground: Body, rotor: Rotor, driving: Joint, of: Kind, *, name: str | None = None) -> None:
        super().__init__(ground, rotor, name=name, axis=(0.0, 0.0, 1.0))
        self._set(driving=driving, of=of)

    @property
    def branch(self) -> float:  # type: ignore[override]
        """The angle at the start is what the joint shows there."""
        return self.follows[0]

    @property
    def follows(self) -> tuple[float, float]:
        """Angle and rate of the rotor at the start."""
        return self.driving.at_start(self.of)

    @property
    def bodies(self) -> tuple[Body, ...]:
        mine = (self.body_a, self.body_b)
        return (*mine, *(body for body in self.driving.bodies if body is not self.body_a))

    def check(self) -> None:
        if self.driving.model is None or self.driving.model is not self.body_b.model:
            raise ModelError(
                f"{self} refers to {self.driving}, which is not in the model; expected it to be added first"
            )

    def primitives(self) -> list[Primitive]:
        terms = Coordinate(self.driving, self.of, -1.0), Coordinate(self, "angle", 1.0)
        return [*parallel_axes(self), CoordinateSum(terms)]

    def orientation_conditions(self) -> list[tuple[Array, Array]]:
        return [(self.axis_a, self.axis_b)]
