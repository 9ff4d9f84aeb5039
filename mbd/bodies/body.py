"""Bodies of a model: their mass properties, their node (initial pose and coordinates) and their shape."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from mbd.bodies.shapes import Shape
from mbd.errors import (
    IDENTITY3,
    ZERO3,
    Array,
    ModelError,
    ModelWarning,
    bad_value,
    check_matrix,
    check_number,
    check_vector,
    read_only,
)
from mbd.nodes import Generalized as GeneralizedNode
from mbd.nodes import Node, Point, RigidNode, RotationVector, kinds

if TYPE_CHECKING:
    from mbd.model import Model

INERTIA_TOLERANCE = 1e-9
"""Relative tolerance of the triangle inequality of principal moments of inertia."""

_ZERO_INERTIA = read_only(np.zeros((3, 3)))


class Body:
    """Base of all bodies: a name, a node and the model it was added to."""

    label: ClassVar[str] = "body"
    """First part of generated names: "body 1", "body 2" ..."""

    node: Node
    shape: Shape | None = None

    def __init__(self, name: str | None) -> None:
        self.name: str = check_name(name, self.label)
        self.model: Model | None = None

    @property
    def kind(self) -> int:
        """Number of the parametrisation, see ``mbd.nodes.kinds``."""
        return self.node.kind

    def __str__(self) -> str:
        return f"{self.label} '{self.name}'" if self.name else f"{self.label} (not named yet)"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} '{self.name}'>" if self.name else f"<{type(self).__name__}>"


class _FramedBody(Body):
    """A body with a position; its initial values are those of its node."""

    node: RigidNode | Point

    @property
    def position(self) -> Array:
        """Initial position of the reference point, world axes."""
        return self.node.position

    @property
    def rotation(self) -> Array:
        """Initial rotation matrix, body to world."""
        return self.node.rotation

    @property
    def velocity(self) -> Array:
        """Initial velocity of the reference point, world axes."""
        return self.node.velocity

    @property
    def angular_velocity(self) -> Array:
        """Initial angular velocity, body axes."""
        return self.node.angular_velocity


class RigidBody(_FramedBody):
    """A rigid body.

    Parameters
    ----------
    name: unique in its model; generated when missing.
    mass: positive.
    inertia: about the **centre of mass** in body axes; three principal moments or a symmetric 3x3 matrix.
    node: initial pose and velocity, and the coordinates to use; by default ``mbd.nodes.RotationVector()``.
    com: centre of mass seen from the node's reference point, body axes.
    shape: what views draw (``mbd.shapes``).
    check_inertia: ``False`` turns the error about moments which no rigid body can have into a warning.
    """

    node: RigidNode

    def __init__(
        self,
        name: str | None = None,
        mass: Any = None,
        inertia: Any = None,
        node: RigidNode | None = None,
        com: Any = ZERO3,
        shape: Shape | None = None,
        *,
        check_inertia: bool = True,
    ) -> None:
        super().__init__(name)
        self.mass = check_number(mass, self, "mass", positive=True)
        self.inertia = _checked_inertia(inertia, self, check_inertia)
        self.com = check_vector(com, self, "com")
        if node is None:
            node = RotationVector()
        elif not isinstance(node, RigidNode):
            advice = "; use mbd.PointMass for a point" if isinstance(node, Point) else ""
            if isinstance(node, type) and issubclass(node, RigidNode):
                advice = f"; write mbd.nodes.{node.__name__}() to make one"
            raise bad_value(self, "node", node, f"a Quaternion, Directors, RotationVector or EulerAngles node{advice}")
        self.node = node
        node.check(self.name)
        self.shape = _checked_shape(shape, self)


class PointMass(_FramedBody):
    """A mass without extent: three coordinates, no orientation."""

    label = "point mass"
    node: Point

    inertia: ClassVar[Array] = _ZERO_INERTIA
    com: ClassVar[Array] = ZERO3

    def __init__(
        self,
        name: str | None = None,
        mass: Any = None,
        position: Any = ZERO3,
        velocity: Any = ZERO3,
        *,
        shape: Shape | None = None,
    ) -> None:
        super().__init__(name)
        self.mass = check_number(mass, self, "mass", positive=True)
        self.node = Point(
            check_vector(position, self, "position"),
            check_vector(velocity, self, "velocity"),
        )
        self.shape = _checked_shape(shape, self)


class Ground(Body):
    """The inertial frame. Every model has one; its body-fixed points and axes are world quantities."""

    label = "ground"

    mass: ClassVar[float] = 0.0
    inertia: ClassVar[Array] = _ZERO_INERTIA
    com: ClassVar[Array] = ZERO3
    position: ClassVar[Array] = ZERO3
    rotation: ClassVar[Array] = IDENTITY3
    velocity: ClassVar[Array] = ZERO3
    angular_velocity: ClassVar[Array] = ZERO3

    def __init__(self) -> None:
        super().__init__("ground")

    @property
    def kind(self) -> int:
        return kinds.GROUND

    def __str__(self) -> str:
        return "ground"


class Generalized(Body):
    """A subsystem in coordinates q of the user's choice: kinetic energy ``1/2 q_dot^T M(q) q_dot``, potential ``V(q)``.

    Parameters
    ----------
    name: unique in its model; generated when missing.
    coordinates, velocities: initial q and q_dot.
    mass: a number (times the identity), a vector (diagonal), a matrix, or a function ``q -> matrix``.
    potential: function ``q -> float``.
    constraints: function ``q -> (m,)`` that vanishes on admissible configurations.
    n_constraints: m; found out by calling ``constraints`` once, and only compared if given.

    ``body.mass`` is afterwards the constant (n, n) matrix or the function.
    """

    label = "generalized body"
    node: GeneralizedNode

    def __init__(
        self,
        name: str | None = None,
        coordinates: Any = None,
        velocities: Any = None,
        *,
        mass: Any = 1.0,
        potential: Callable[[Array], Any] | None = None,
        constraints: Callable[[Array], Any] | None = None,
        n_constraints: int | None = None,
        shape: Shape | None = None,
    ) -> None:
        super().__init__(name)
        if coordinates is None:
            raise bad_value(self, "coordinates", None, "the initial values of the coordinates")
        q = check_vector(np.atleast_1d(coordinates), self, "coordinates", None)
        given = np.zeros(q.size) if velocities is None else np.atleast_1d(velocities)
        self.node = GeneralizedNode(q, check_vector(given, self, "velocities", q.size))
        self.mass: Array | Callable[[Array], Any] = _checked_mass(mass, q, self)
        self.potential = _checked_function(potential, self, "potential")
        self.constraints = _checked_function(constraints, self, "constraints")
        self.n_constraints = 0
        if self.potential is not None:
            check_number(_call(self.potential, q, self, "potential"), self, "potential(q)")
        if self.constraints is not None:
            values = np.atleast_1d(_call(self.constraints, q, self, "constraints"))
            self.n_constraints = check_vector(values, self, "constraints(q)", n_constraints).size
        elif n_constraints:
            raise bad_value(self, "n_constraints", n_constraints, "zero, because no constraints= are given")
        self.shape = _checked_shape(shape, self)

    @property
    def coordinates(self) -> Array:
        """Initial coordinates."""
        return self.node.coordinates()

    @property
    def velocities(self) -> Array:
        """Initial velocities."""
        return self.node.coordinate_velocities()


def check_name(name: Any, label: str) -> str:
    """A name, or "" for one that is generated when the element is added."""
    if name is None:
        return ""
    if not isinstance(name, str) or not name.strip():
        raise bad_value(label, "name", name, "a text that is not empty")
    return name


def _checked_shape(shape: Any, owner: Body) -> Shape | None:
    if shape is not None and not isinstance(shape, Shape):
        raise bad_value(owner, "shape", shape, "a shape from mbd.shapes, e.g. mbd.shapes.Box((1, 2, 3))")
    return shape


def _checked_inertia(value: Any, owner: Body, strict: bool) -> Array:
    """Inertia matrix; principal moments must be such that a distribution of mass can have them."""
    if value is None:
        raise bad_value(owner, "inertia", None, "three principal moments or a symmetric 3x3 matrix")
    if np.ndim(value) == 2:
        matrix = check_matrix(value, owner, "inertia", 3, symmetric=True)
        a, b, c = np.linalg.eigvalsh(matrix).tolist()
    else:
        x, y, z = check_vector(value, owner, "inertia").tolist()
        matrix = read_only(np.array(((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))))
        a, b, c = sorted((x, y, z))
    if a < -1e-12 * abs(c):
        raise bad_value(
            owner,
            "inertia",
            value,
            f"a positive definite inertia about the centre of mass; its smallest principal moment is {a:.6g}",
        )
    if a + b < c * (1.0 - INERTIA_TOLERANCE):
        error = bad_value(
            owner,
            "inertia",
            value,
            f"principal moments that obey the triangle inequality, but {a:.6g} + {b:.6g} < {c:.6g}: no distribution "
            "of mass has them. Is it about the centre of mass? check_inertia=False accepts it with a warning",
        )
        if strict:
            raise error
        warnings.warn(str(error), ModelWarning, stacklevel=4)
    return matrix


def _checked_function(function: Any, owner: Body, argument: str) -> Callable[[Array], Any] | None:
    if function is not None and not callable(function):
        raise bad_value(owner, argument, function, "a function of the coordinates, or None")
    return function


def _call(function: Callable[[Array], Any], q: Array, owner: Body, argument: str) -> Any:
    """Value at the initial coordinates, with a clear error if the function fails."""
    try:
        return function(q.copy())
    except Exception as error:
        raise ModelError(
            f"{owner}: {argument}(q) failed at the initial coordinates {q.tolist()} with "
            f"{type(error).__name__}: {error}; expected a function of one array of {q.size} coordinates"
        ) from error


def _checked_mass(mass: Any, q: Array, owner: Body) -> Array | Callable[[Array], Any]:
    """Constant (n, n) matrix, or the function itself after one probing call."""
    n = q.size
    value, argument = (_call(mass, q, owner, "mass"), "mass(q)") if callable(mass) else (mass, "mass")
    if np.ndim(value) == 0:
        if callable(mass) and n > 1:
            raise bad_value(owner, argument, value, f"a matrix of shape ({n}, {n})")
        matrix = read_only(check_number(value, owner, argument) * np.eye(n))
    elif np.ndim(value) == 1 and not callable(mass):
        matrix = read_only(np.diag(check_vector(value, owner, argument, n)))
    else:
        matrix = check_matrix(value, owner, argument, n, symmetric=True)
    eigenvalues = np.linalg.eigvalsh(matrix)
    if eigenvalues[0] < -1e-12 * abs(eigenvalues[-1]):
        raise bad_value(
            owner, argument, value, f"a mass matrix without negative eigenvalues; the smallest is {eigenvalues[0]:.6g}"
        )
    return mass if callable(mass) else matrix
