"""Bodies of a model: their mass properties, their node (initial pose and coordinates) and their shape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mbd.bodies import checks
from mbd.bodies.shapes import Shape
from mbd.elements.arguments import Inertia, Numbers, Orientation, Vector
from mbd.elements.attributes import Checked, constant, declared, fixed, flag, positive
from mbd.elements.making import RECORD, record_of
from mbd.elements.values import resolved
from mbd.errors import IDENTITY3, ZERO3, Array, ModelError, SingularityError, bad_value, check_vector, read_only
from mbd.nodes import Generalized as GeneralizedNode
from mbd.nodes import Node, Point, RigidNode, RotationVector, kinds

if TYPE_CHECKING:
    from mbd.model import Model

_ZERO_INERTIA = read_only(np.zeros((3, 3)))


class Body(Checked):
    """Base of all bodies: a name, a node and the model it was added to."""

    label: ClassVar[str] = "body"
    """First part of generated names: "body 1", "body 2" ..."""

    in_space: ClassVar[bool] = True
    """Whether it has a place in space, so that it can be drawn."""

    name = declared('Name, unique in its model; "" before it is generated.', checks.check_name)
    model: Model | None = fixed(
        "The model to which it was added, or None.",
        checks.BELONGS,
    )
    node: Node
    shape = declared("What views draw (``mbd.shapes``), or None.", checks.shape)

    def __init__(self, name: str | None) -> None:
        self._set(name=name, model=None, shape=None)

    @property
    def kind(self) -> int:
        """Number of the parametrisation, see ``mbd.nodes.kinds``."""
        return self.node.kind

    @property
    def _held(self) -> tuple[Any, ...]:
        """Its node."""
        return (self.node,)

    def start_node(self) -> Node:
        """The node with the values at the start of a run."""
        return self.node

    def __str__(self) -> str:
        return f"{self.label} '{self.name}'" if self.name else f"{self.label} (not named yet)"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.name}'>" if self.name else f"<{type(self).__name__}>"


class _FramedBody(Body):
    """A body with a position; its initial values are those of its node."""

    node: RigidNode | Point

    def remade(self, before: dict[str, Any]) -> None:
        """A node that the constructor has made is the one that it made before, with what was assigned to it since."""
        super().remade(before)
        record, old, new = record_of(self), before["node"], self.node
        assert record is not None
        if old is new or "node" in record.changes or any(old is part for part in record.parts):
            return
        kept = record_of(old)
        vars(old).clear()
        vars(old).update({key: value for key, value in vars(new).items() if key != RECORD})
        vars(self)["node"] = old
        if kept is not None:
            vars(old)[RECORD] = kept
            for name, (_, given) in kept.changes.items():
                setattr(old, name, resolved(given))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        vars(self)["node"] = checks.own(self.node, self)

    def _set_initial(self, name: str, value: Any) -> None:
        """Change the node; what it refuses is told with the name of the body."""
        before = vars(self.node).get(name)
        try:
            setattr(self.node, name, value)
        except ModelError as error:
            raise ModelError(f"{self}: {error}") from None
        try:
            self.node.check(self.name)
        except SingularityError:
            vars(self.node)[name] = before
            raise

    @property
    def position(self) -> Array:
        """Initial position of the reference point, world axes."""
        return self.node.position

    @position.setter
    def position(self, value: Vector) -> None:
        self._set_initial("position", value)

    @property
    def rotation(self) -> Array:
        """Initial rotation matrix, body to world."""
        return self.node.rotation

    @rotation.setter
    def rotation(self, value: Orientation) -> None:
        self._set_initial("rotation", value)

    @property
    def velocity(self) -> Array:
        """Initial velocity of the reference point, world axes."""
        return self.node.velocity

    @velocity.setter
    def velocity(self, value: Vector) -> None:
        self._set_initial("velocity", value)

    @property
    def angular_velocity(self) -> Array:
        """Initial angular velocity, body axes."""
        return self.node.angular_velocity

    @angular_velocity.setter
    def angular_velocity(self, value: Vector) -> None:
        self._set_initial("angular_velocity", value)


class RigidBody(_FramedBody):
    """A rigid body.

    Parameters
    ----------
    name: unique in its model; generated when missing.
    mass: positive; or zero, together with zero inertia, for a link between joints whose inertia does not matter.
    inertia: about the **centre of mass** in body axes; three principal moments or a symmetric 3x3 matrix.
    node: initial pose and velocity, and the coordinates to use; by default ``mbd.nodes.RotationVector()``. The body
        takes a copy of a node that another body has.
    com: centre of mass seen from the node's reference point, body axes.
    shape: what views draw (``mbd.shapes``).
    check_inertia: ``False`` turns the error about moments which no rigid body can have into a warning.

    >>> node = mbd.nodes.Quaternion(position=(0, 0, 1), angular_velocity=(0, 0, 5))
    >>> bar = mbd.RigidBody("bar", mass=2.0, inertia=(0.1, 0.2, 0.2), node=node)
    >>> bar.mass, bar.node.position.tolist()
    (2.0, [0.0, 0.0, 1.0])
    """

    mass = declared("Mass.", checks.rigid_mass)
    check_inertia = declared("Whether moments that no rigid body can have are refused.", flag)
    inertia = declared("Inertia matrix about the centre of mass, body axes.", checks.inertia)
    com = declared("Centre of mass from the reference point, body axes.", check_vector)
    node = declared("Coordinates, with initial pose and velocity.", checks.rigid_node)  # type: ignore[assignment]

    def __init__(
        self,
        name: str | None = None,
        mass: float | None = None,
        inertia: Inertia | None = None,
        node: RigidNode | None = None,
        com: Vector = ZERO3,
        shape: Shape | None = None,
        *,
        check_inertia: bool = True,
    ) -> None:
        node = RotationVector() if node is None else node
        self._set(
            name=name,
            model=None,
            mass=mass,
            check_inertia=check_inertia,
            inertia=inertia,
            com=com,
            node=node,
            shape=shape,
        )


class PointMass(_FramedBody):
    """A mass without extent: three coordinates, no orientation.

    >>> model = mbd.Model(gravity=(0, 0, -9.81))
    >>> ball = model.add(mbd.PointMass("ball", mass=0.5, velocity=(3, 0, 4)))
    >>> solution = mbd.simulate(model, t_end=1.0, step=0.1)
    >>> solution["ball"].position[-1].round(3).tolist()
    [3.0, 0.0, -0.905]
    """

    label = "point mass"
    mass = declared("Mass.", positive)
    node = declared("Coordinates, with initial position and velocity.", checks.point_node)  # type: ignore[assignment]

    inertia: Array = constant("Zero: a point has no extent.", _ZERO_INERTIA)
    com: Array = constant("Zero: a point is its own centre of mass.", ZERO3)

    def __init__(
        self,
        name: str | None = None,
        mass: float | None = None,
        position: Vector = ZERO3,
        velocity: Vector = ZERO3,
        *,
        shape: Shape | None = None,
    ) -> None:
        self._set(name=name, model=None, mass=mass)
        node = Point()
        vars(node)["position"] = check_vector(position, self, "position")  # so that an error names the body
        vars(node)["velocity"] = check_vector(velocity, self, "velocity")
        self._set(node=node, shape=shape)


class Ground(Body):
    """The inertial frame. Every model has one; its body-fixed points and axes are world quantities."""

    label = "ground"

    mass: float = constant("Zero: the ground does not move.", 0.0)
    inertia: Array = constant("Zero: the ground does not turn.", _ZERO_INERTIA)
    com: Array = constant("The origin.", ZERO3)
    position: Array = constant("The origin.", ZERO3)
    rotation: Array = constant("The world axes.", IDENTITY3)
    velocity: Array = constant("Zero.", ZERO3)
    angular_velocity: Array = constant("Zero.", ZERO3)

    def __init__(self) -> None:
        super().__init__("ground")

    @property
    def kind(self) -> int:
        return kinds.GROUND

    def __str__(self) -> str:
        return "ground"


class Generalized(Body):
    """A subsystem in coordinates q of the user's choice: kinetic energy ``1/2 q_dot^T M(q) q_dot``, potential ``V(q)``,
    constraints and forces.

    Parameters
    ----------
    name: unique in its model; generated when missing.
    coordinates, velocities: initial q and q_dot.
    mass: a number (times the identity), a vector (diagonal), a matrix, or a function ``q -> matrix``. A
        negative eigenvalue is refused, and ends a run on the way.
    potential: function ``q -> float``.
    constraints: function ``q -> (m,)`` that vanishes on admissible configurations.
    n_constraints: m; found out by calling ``constraints`` once, and only compared if given.
    force: function ``(t, q, q_dot) -> (n,)`` of generalised forces on the coordinates besides those of the potential:
        damping, loads, control.

    ``body.mass`` is afterwards the constant (n, n) matrix or the function.
    """

    label = "generalized body"
    in_space = False
    node = declared("Coordinates, with initial values and velocities.", checks.generalized_node)  # type: ignore[assignment]
    mass: Any = declared("Mass matrix, or the function that returns it.", checks.mass)
    potential: Any = declared("Potential energy as a function of q, or None.", checks.potential)
    constraints: Any = declared("Function of q that vanishes, or None.", checks.constraints)
    force: Any = declared("Generalised forces as a function of t, q and q_dot, or None.", checks.coordinate_force, None)
    n_constraints: int = fixed("Number of constraints.", "it is the number of values that constraints returns")

    def __init__(
        self,
        name: str | None = None,
        coordinates: Numbers | None = None,
        velocities: Numbers | None = None,
        *,
        mass: Numbers | Callable[[Array], ArrayLike] = 1.0,
        potential: Callable[[Array], float] | None = None,
        constraints: Callable[[Array], ArrayLike] | None = None,
        n_constraints: int | None = None,
        force: Callable[[float, Array, Array], ArrayLike] | None = None,
        shape: Shape | None = None,
    ) -> None:
        super().__init__(name)
        if coordinates is None:
            raise bad_value(self, "coordinates", None, "the initial values of the coordinates")
        q = check_vector(np.atleast_1d(coordinates), self, "coordinates", None)
        given = np.zeros(q.size) if velocities is None else np.atleast_1d(velocities)
        node = GeneralizedNode(q, check_vector(given, self, "velocities", q.size))
        self._set(node=node, mass=mass, potential=potential, constraints=constraints, force=force, shape=shape)
        if n_constraints is not None and n_constraints != self.n_constraints:
            source = "constraints(q)" if constraints is not None else "no constraints="
            raise bad_value(
                self,
                "n_constraints",
                n_constraints,
                f"{self.n_constraints}, because {source} gives {self.n_constraints} numbers",
            )

    @property
    def coordinates(self) -> Array:
        """Initial coordinates."""
        return self.node.coordinates()

    @coordinates.setter
    def coordinates(self, value: Numbers) -> None:
        q = check_vector(np.atleast_1d(value), self, "coordinates", self.node.n_coordinates)
        self.node = GeneralizedNode(q, self.velocities)

    @property
    def velocities(self) -> Array:
        """Initial velocities."""
        return self.node.coordinate_velocities()

    @velocities.setter
    def velocities(self, value: Numbers) -> None:
        v = check_vector(np.atleast_1d(value), self, "velocities", self.node.n_coordinates)
        self.node = GeneralizedNode(self.coordinates, v)
