"""Nonlinear springs, gravitation, aerodynamic drag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mbd.bodies import Body, Ground, PointMass, RigidBody
from mbd.elements.arguments import Vector
from mbd.elements.attributes import declared, fixed, not_negative, positive
from mbd.elements.frame_kinds import DRAG, GRAVITATION, GREEN_SPRING, LAW_SPRING
from mbd.errors import ZERO3, Array, ModelError, bad_value, check_vector
from mbd.forces.data import ElementData
from mbd.forces.force import ForceElement, attachment, check_ends, distance_of_ends, framed

NEWTON = 6.67430e-11  # gravitational constant, m^3 / (kg s^2) [CODATA 2018]


class _BetweenPoints(ForceElement):
    """A force along the line between two body-fixed points."""

    body_a: Body = fixed("First body.", "make a new force", framed)
    body_b: Body = fixed("Second body.", "make a new force", framed)
    point_a: Array = attachment("Its point on the first body, body-fixed.", "body_a")
    point_b: Array = attachment("Its point on the second body, body-fixed.", "body_b")

    def __init__(self, body_a: Body, body_b: Body, point_a: Vector, point_b: Vector, name: str | None) -> None:
        self._set(name=name, model=None, body_a=body_a, body_b=body_b, point_a=point_a, point_b=point_b)
        check_ends(self)

    def validate(self) -> None:
        self._apart()

    def _apart(self) -> float:
        """Distance of the points, which must not coincide."""
        distance = self.initial_length
        if distance == 0.0:
            points = [self.point_a.tolist(), self.point_b.tolist()]
            raise bad_value(self, "point_a, point_b", points, "points that are apart, but they coincide")
        return distance

    @property
    def initial_length(self) -> float:
        """Distance of the points in the initial configuration."""
        return distance_of_ends(self)

    @property
    def bodies(self) -> tuple[Body, ...]:
        return (self.body_a, self.body_b)

    @property
    def _points(self) -> tuple[float, ...]:
        return (*self.point_a.tolist(), *self.point_b.tolist())


class GreenSpring(_BetweenPoints):
    """Spring whose energy is quadratic in Green's strain: ``V = stiffness (d^2 - length^2)^2 / (8 length^2)``.

    Near the rest length it is a linear spring of this stiffness; the energy is a polynomial in the frames. The damping
    force acts on the rate of ``(d^2 - length^2) / (2 length)``. ``length`` is by default the initial distance.
    """

    stiffness = declared("Tension per elongation near the rest length.", not_negative)
    damping = declared("Tension per rate of the distance near the rest length.", not_negative)
    length = declared("Distance of the points without tension.", positive)

    def __init__(
        self, body_a: Body, body_b: Body, point_a: Vector = ZERO3, point_b: Vector = ZERO3,
        stiffness: float | None = None, length: float | None = None, damping: float = 0.0, *, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(body_a, body_b, point_a, point_b, name)
        distance = self._apart()
        self._set(stiffness=stiffness, damping=damping, length=distance if length is None else length)

    def general(self) -> list[ElementData]:
        law = (self.stiffness, self.length, self.damping)
        return [ElementData(GREEN_SPRING, self.bodies, self._points + law)]


def _law(function: Any, owner: Any, argument: str) -> Callable[[float, float], float]:
    if not callable(function):
        raise bad_value(owner, argument, function, "a function of (length, rate), e.g. lambda x, v: 5 * x**3 + v")
    return function


class NonlinearSpring(_BetweenPoints):
    """Spring with the tension ``function(length, rate)``: positive pulls the points together.

    The function is compiled if possible and differentiated; a solution reports the power of the spring, not an energy.
    """

    function: Any = declared("Tension as a function of (length, rate).", _law)

    def __init__(
        self, body_a: Body, body_b: Body, point_a: Vector = ZERO3, point_b: Vector = ZERO3,
        function: Callable[[float, float], float] | None = None, *, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(body_a, body_b, point_a, point_b, name)
        self.validate()
        self._set(function=function)

    def general(self) -> list[ElementData]:
        return [ElementData(LAW_SPRING, self.bodies, self._points, self.function, "law", 1)]


class Gravitation(_BetweenPoints):
    """Gravitational attraction between the centres of mass of two bodies: ``V = -constant m_a m_b / distance``.

    The ``constant`` is that of SI unless given, 6.67e-11 m^3/(kg s^2).

    >>> model = mbd.Model("sun and planet")
    >>> sun = model.add(mbd.PointMass("sun", mass=1.0))
    >>> planet = model.add(mbd.PointMass("planet", mass=1e-9, position=(1, 0, 0), velocity=(0, 1, 0)))
    >>> pull = model.add(mbd.forces.Gravitation(sun, planet, constant=1.0))
    >>> year = mbd.simulate(model, t_end=2 * np.pi, step=0.01, integrator=mbd.integrators.DOPRI5())
    >>> year[planet].position[-1].round(3).tolist()
    [1.0, 0.0, 0.0]
    """

    reads_bodies = True
    constant = declared("Gravitational constant.", positive)

    def __init__(self, body_a: Body, body_b: Body, constant: float = NEWTON, *, name: str | None = None) -> None:
        for body in (body_a, body_b):
            if not isinstance(body, RigidBody | PointMass):
                raise ModelError(f"{self.label}: {body} has no mass; expected two bodies with mass")
        self._set(name=name, model=None, body_a=body_a, body_b=body_b, constant=constant)
        check_ends(self)
        self.validate()

    @property
    def point_a(self) -> Array:  # type: ignore[override]
        """Centre of mass of the first body."""
        return self.body_a.com  # type: ignore[attr-defined]

    @property
    def point_b(self) -> Array:  # type: ignore[override]
        """Centre of mass of the second body."""
        return self.body_b.com  # type: ignore[attr-defined]

    @property
    def strength(self) -> float:
        """``constant m_a m_b``."""
        return self.constant * float(self.body_a.mass) * float(self.body_b.mass)  # type: ignore[attr-defined]

    def general(self) -> list[ElementData]:
        return [ElementData(GRAVITATION, self.bodies, (*self._points, self.strength))]


class Drag(ForceElement):
    """Resistance of a medium at a point of a body: ``-(linear + coefficient |u|) u``.

    u is the velocity of the point against the medium, which moves with ``wind``. For aerodynamic drag,
    ``coefficient`` is half of density times drag coefficient times area. What is not given is zero.
    """

    body: Body = fixed("Body that is resisted.", "make a new force", framed)
    coefficient = declared("Force per square of the velocity.", not_negative)
    linear = declared("Force per velocity.", not_negative)
    point: Array = attachment("Point at which the resistance acts, body-fixed.", "body")
    wind = declared("Velocity of the medium, world axes.", check_vector)

    def __init__(
        self, body: Body, coefficient: float | None = None, linear: float | None = None, point: Vector = ZERO3,
        wind: Vector = ZERO3, *, name: str | None = None,
    ) -> None:  # fmt: skip
        self._set(name=name, model=None, body=body, point=point)
        if isinstance(body, Ground):
            raise ModelError(f"{self}: body is the ground, which does not move; expected a RigidBody or a PointMass")
        if coefficient is None and linear is None:
            raise bad_value(self, "coefficient", None, "a coefficient, or linear=; both may be zero")
        self._set(coefficient=0.0 if coefficient is None else coefficient, linear=0.0 if linear is None else linear)
        self._set(wind=wind)

    @property
    def bodies(self) -> tuple[Body, ...]:
        return (self.body,)

    def general(self) -> list[ElementData]:
        parameters = (self.coefficient, self.linear, *self.point.tolist(), *self.wind.tolist())
        return [ElementData(DRAG, (self.body,), parameters)]
