"""The base of all force elements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mbd.bodies import Body, PointMass
from mbd.bodies.checks import BELONGS, check_name
from mbd.elements.attributes import Checked, declared, fixed
from mbd.errors import Array, ModelError, bad_value, check_vector
from mbd.forces.data import ElementData, ForceData
from mbd.joints.joint import check_framed, distance_apart, to_world

if TYPE_CHECKING:
    from mbd.joints import Joint
    from mbd.model import Model


class ForceElement(Checked):
    """A force element acts on bodies and is described by data for the compiled force laws."""

    reads_bodies: ClassVar[bool] = False
    """Whether its numbers depend on the mass or the shape of the bodies on which it acts."""

    switches: tuple[float, ...] = ()
    """Times at which the force jumps; step-size control stops there."""

    name = declared('Name, unique in its model; "" before it is generated.', check_name)
    model: Model | None = fixed(
        "The model to which it was added, or None.",
        BELONGS,
    )

    def __init__(self, name: str | None) -> None:
        self._set(name=name, model=None)

    @classmethod
    def takes_input(cls, argument: str) -> bool:
        """Forces act all the time; the times of jumps are known beforehand."""
        return argument not in ("switches", "name")

    def rows(self) -> list[ForceData]:
        """What this element hands over to the compiled force laws; override this or ``general()``."""
        return []

    def general(self) -> list[ElementData]:
        """The parts of this element that are functions of the frames of several bodies."""
        return []

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies on which the element acts."""
        raise NotImplementedError(f"{type(self).__name__} must override bodies")

    @property
    def reported(self) -> Body | None:
        """The body on which ``solution[element].force`` and ``torque`` act; None if no body stands for the others."""
        return self.bodies[-1]

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints to which the element refers."""
        return ()

    @property
    def parts(self) -> tuple[Body | Joint, ...]:
        """Bodies and joints of its own, which are added to a model and removed together with it."""
        return ()

    def leave(self) -> tuple[Body | Joint, ...]:
        """Called when the element is removed from its model: its parts, which it forgets."""
        return ()

    @property
    def label(self) -> str:
        """First part of generated names: "spring", "torsion spring"."""
        return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(self).__name__).lower()

    def check(self) -> None:
        """Last check when the element is added to a model."""

    def __str__(self) -> str:
        return f"{self.label} '{self.name}'" if self.name else f"{self.label} (not named yet)"

    def __repr__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        return f"<{type(self).__name__}{name}: {', '.join(repr(body.name) for body in self.bodies)}>"


def check_attachment(body: Any, point: Any, owner: object, body_argument: str, point_argument: str) -> Array:
    """The body-fixed point at which a force acts; a point mass has only its own position."""
    check_framed(body, owner, body_argument)
    checked = check_vector(point, owner, point_argument)
    if isinstance(body, PointMass) and checked.any():
        raise bad_value(owner, point_argument, point, f"(0, 0, 0), because {body} is a point without extent")
    return checked


def framed(value: Any, owner: Any, argument: str) -> Any:
    """A body with a position in space."""
    check_framed(value, owner, argument)
    return value


def with_coordinate(value: Any, owner: Any, argument: str) -> Any:
    """A joint with an angle or a displacement."""
    if getattr(value, "coordinate", None) not in ("angle", "displacement", "both"):
        raise bad_value(owner, argument, value, "a joint with an angle or a displacement")
    return value


def checked_times(value: Any, owner: Any, argument: str) -> tuple[float, ...]:
    """Times in their order."""
    if not np.size(value):
        return ()
    return tuple(sorted(check_vector(np.atleast_1d(value), owner, argument, None).tolist()))


def attachment(text: str, body_argument: str) -> Any:
    """A point of the body that another attribute names, as an attribute that can be changed."""

    def convert(point: Any, owner: Any, argument: str) -> Array:
        return check_attachment(getattr(owner, body_argument), point, owner, body_argument, argument)

    return declared(text, convert)


def check_ends(force: Any) -> None:
    """Refuse a force between a body and itself."""
    if force.body_a is force.body_b:
        raise ModelError(f"{force}: both ends are on {force.body_a}; expected two different bodies")


def distance_of_ends(force: Any) -> float:
    """Distance of the two points of a force in the initial configuration."""
    return distance_apart(to_world(force.body_a, force.point_a), to_world(force.body_b, force.point_b))
