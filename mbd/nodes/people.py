"""Nodes as people construct them: initial pose and velocity, and the parametrisation to store them in.

A node keeps pose and velocity in one common form (position, rotation matrix, velocity in world axes, angular velocity
in body axes) and converts to its own coordinates on request. Changing the parametrisation therefore loses nothing.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from mbd.elements.arguments import Numbers, Orientation, Vector
from mbd.elements.attributes import Checked, constant, declared, fixed, flag
from mbd.errors import (
    IDENTITY3,
    ZERO3,
    Array,
    ModelError,
    SingularityError,
    bad_value,
    check_vector,
)
from mbd.nodes import kinds
from mbd.rotation import (
    as_matrix,
    check_sequence,
    euler_rate_matrix,
    hat,
    inverse_tangent_operator,
    sequence_axes,
    to_euler_angles,
    to_quaternion,
    to_rotation_vector,
)

GIMBAL_TOLERANCE = 1e-6
"""Euler angles count as locked where the determinant of their rate matrix is below this."""


class Node(Checked):
    """Initial configuration of one body in one parametrisation."""

    kind: ClassVar[int]

    @property
    def n_internal(self) -> int:
        """Number of internal constraints (unit length, orthonormality); none on Lie nodes."""
        return 0

    @property
    def n_coordinates(self) -> int:
        """Number of stored coordinates."""
        raise NotImplementedError

    @property
    def n_velocities(self) -> int:
        """Number of velocities, which is also the size of an increment."""
        raise NotImplementedError

    def coordinates(self) -> Array:
        """Initial coordinates q."""
        raise NotImplementedError

    def coordinate_velocities(self) -> Array:
        """Initial velocities v that belong to the coordinates."""
        raise NotImplementedError

    def coordinate_parts(self) -> tuple[Array, ...]:
        """The coordinates in pieces, to be joined with those of other nodes."""
        return (self.coordinates(),)

    def velocity_parts(self) -> tuple[Array, ...]:
        """The velocities in pieces."""
        return (self.coordinate_velocities(),)

    def with_parametrisation(self, target: type[Node] | Node) -> Node:
        """The same pose and velocity in another parametrisation."""
        raise NotImplementedError

    def check(self, body: str) -> None:
        """Refuse an initial configuration that this parametrisation cannot describe; ``body`` is for the message."""

    def __str__(self) -> str:
        return type(self).__name__


class Point(Node):
    """Three Cartesian coordinates of a point without orientation."""

    kind = kinds.POINT
    position = declared("Position, world axes.", check_vector)
    velocity = declared("Velocity, world axes.", check_vector)

    def __init__(self, position: Vector = ZERO3, velocity: Vector = ZERO3) -> None:
        self._set(position=position, velocity=velocity)

    rotation: Array = constant("A point has no orientation: the identity.", IDENTITY3)
    angular_velocity: Array = constant("A point has no orientation: zero.", ZERO3)
    lie: ClassVar[bool] = False
    pinned: ClassVar[bool] = False

    @property
    def n_coordinates(self) -> int:
        return 3

    @property
    def n_velocities(self) -> int:
        return 3

    def coordinates(self) -> Array:
        return self.position.copy()

    def coordinate_velocities(self) -> Array:
        return self.velocity.copy()

    def with_parametrisation(self, target: type[Node] | Node) -> Point:
        if _class_of(target) is not Point:
            raise ModelError(
                f"Point: cannot become {_name_of(target)}, because a point has no orientation; "
                "expected Point (use a RigidBody to have an orientation)"
            )
        return Point(self.position, self.velocity)

    def __repr__(self) -> str:
        return f"Point(position={self.position.tolist()}, velocity={self.velocity.tolist()})"


class RigidNode(Node):
    """Pose and velocity of a rigid frame; the subclasses differ in how they store the rotation.

    Parameters
    ----------
    position: world coordinates of the reference point.
    rotation: 3x3 matrix (body to world), quaternion (scalar first), ``mbd.rotation(...)`` or a scipy ``Rotation``.
    velocity: of the reference point, world axes.
    angular_velocity: in **body** axes.
    lie: velocities are ``(r_dot, omega_body)`` and increments are composed with the pose; otherwise velocities are the
        derivatives of the coordinates.
    pinned: the reference point stays where it is; only rotational coordinates remain.
    """

    default_lie: ClassVar[bool] = False
    n_rotation: ClassVar[int]
    n_conventional_internal: ClassVar[int] = 0

    position = declared("Position of the reference point, world axes.", check_vector)
    rotation = declared("Rotation matrix, body to world.", as_matrix)
    velocity = declared("Velocity of the reference point, world axes.", check_vector)
    angular_velocity = declared("Angular velocity, body axes.", check_vector)
    lie = declared("Whether velocities are (r_dot, omega_body) and increments are composed.", flag)
    pinned = declared("Whether the reference point stays where it is.", flag)

    def __init__(
        self,
        position: Vector = ZERO3,
        rotation: Orientation = IDENTITY3,
        velocity: Vector = ZERO3,
        angular_velocity: Vector = ZERO3,
        *,
        lie: bool | None = None,
        pinned: bool = False,
    ) -> None:
        self._set(
            position=position,
            rotation=rotation,
            velocity=velocity,
            angular_velocity=angular_velocity,
            lie=self.default_lie if lie is None else lie,
            pinned=pinned,
        )
        if pinned:
            self.validate()

    def validate(self) -> None:
        if self.pinned and self.velocity.any():
            raise bad_value(
                self, "velocity", self.velocity, "zero, because pinned=True holds the reference point where it is"
            )

    @property
    def n_coordinates(self) -> int:
        return self.n_rotation + (0 if self.pinned else 3)

    @property
    def n_velocities(self) -> int:
        return (3 if self.lie else self.n_rotation) + (0 if self.pinned else 3)

    @property
    def n_internal(self) -> int:
        return 0 if self.lie else self.n_conventional_internal

    def rotation_coordinates(self) -> Array:
        """Rotational part of the coordinates."""
        raise NotImplementedError

    def rotation_rates(self) -> Array:
        """Time derivative of the rotational coordinates."""
        raise NotImplementedError

    def coordinates(self) -> Array:
        """Position (unless pinned), then the rotational coordinates."""
        return np.concatenate(self.coordinate_parts())

    def coordinate_velocities(self) -> Array:
        """Velocity (unless pinned), then the angular velocity (Lie) or the rates of the rotational coordinates."""
        return np.concatenate(self.velocity_parts())

    def coordinate_parts(self) -> tuple[Array, ...]:
        rotational = self.rotation_coordinates()
        return (rotational,) if self.pinned else (self.position, rotational)

    def velocity_parts(self) -> tuple[Array, ...]:
        rotational = self.angular_velocity if self.lie else self.rotation_rates()
        return (rotational,) if self.pinned else (self.velocity, rotational)

    def with_parametrisation(self, target: type[Node] | Node) -> RigidNode:
        """The same pose, velocity and pinning in another parametrisation.

        ``target`` is a node class, or a node whose ``lie`` and ``sequence`` are used and whose pose is ignored:
        ``node.with_parametrisation(EulerAngles(sequence="zxz", lie=True))``.
        """
        cls = _class_of(target)
        if not issubclass(cls, RigidNode) or cls is RigidNode:
            raise ModelError(
                f"{self}: cannot become {_name_of(target)}; expected Quaternion, Directors, RotationVector, EulerAngles"
            )
        node = target._blank() if isinstance(target, RigidNode) else cls()
        for key in ("position", "rotation", "velocity", "angular_velocity", "pinned"):
            node.__dict__[key] = self.__dict__[key]  # checked already, and exactly the same
        return node

    def _blank(self) -> Self:
        """A node with the same settings at the origin."""
        return type(self)(lie=self.lie)

    def _settings(self) -> str:
        return f"lie={self.lie}" + (", pinned=True" if self.pinned else "")

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(position={self.position.tolist()}, rotation={self.rotation.tolist()}, "
            f"velocity={self.velocity.tolist()}, angular_velocity={self.angular_velocity.tolist()}, {self._settings()})"
        )


class Quaternion(RigidNode):
    """Unit quaternion, scalar first (Euler parameters); conventional unless ``lie=True``."""

    kind = kinds.QUATERNION
    n_rotation = 4
    n_conventional_internal = 1

    def rotation_coordinates(self) -> Array:
        return to_quaternion(self.rotation)

    def rotation_rates(self) -> Array:
        """``e_dot = 1/2 e o (0, omega_body)``."""
        e = to_quaternion(self.rotation)
        omega = self.angular_velocity
        return 0.5 * np.array((-e[1:] @ omega, *(e[0] * omega + hat(e[1:]) @ omega)))


class Directors(RigidNode):
    """The three body axes in world components, one after the other; conventional unless ``lie=True``."""

    kind = kinds.DIRECTORS
    n_rotation = 9
    n_conventional_internal = 6

    def rotation_coordinates(self) -> Array:
        return self.rotation.T.flatten()

    def rotation_rates(self) -> Array:
        """Columns of ``R hat(omega_body)``."""
        return (self.rotation @ hat(self.angular_velocity)).T.flatten()


class RotationVector(RigidNode):
    """Rotation vector; a Lie node unless ``lie=False`` (then singular at an angle of 2 pi)."""

    kind = kinds.ROTATION_VECTOR
    default_lie = True
    n_rotation = 3

    def rotation_coordinates(self) -> Array:
        return to_rotation_vector(self.rotation)

    def rotation_rates(self) -> Array:
        """``psi_dot = T_exp(psi)^-1 omega_body``."""
        return inverse_tangent_operator(to_rotation_vector(self.rotation)) @ self.angular_velocity


class EulerAngles(RigidNode):
    """Three intrinsic angles, ``R = R_i(a) R_j(b) R_k(c)`` for the sequence "ijk"; conventional unless ``lie=True``.

    Conventional Euler angles are singular in gimbal lock: at a middle angle of 90 degrees if the three axes differ, and
    at 0 if the first and the last one agree.
    """

    kind = kinds.EULER_ANGLES
    n_rotation = 3
    sequence = declared('Axes of the three rotations, such as "xyz".', check_sequence)

    def __init__(
        self,
        position: Vector = ZERO3,
        rotation: Orientation = IDENTITY3,
        velocity: Vector = ZERO3,
        angular_velocity: Vector = ZERO3,
        *,
        sequence: str = "xyz",
        lie: bool | None = None,
        pinned: bool = False,
    ) -> None:
        self._set(sequence=sequence)
        super().__init__(position, rotation, velocity, angular_velocity, lie=lie, pinned=pinned)

    @property
    def axes(self) -> tuple[int, int, int]:
        """The axes of the sequence by number: 0, 1, 2 for x, y, z."""
        return sequence_axes(self.sequence)

    def rotation_coordinates(self) -> Array:
        return to_euler_angles(self.rotation, self.sequence)

    def rotation_rates(self) -> Array:
        """``rho_dot = G^-1 omega_body``."""
        self.check("")
        rate_matrix = euler_rate_matrix(self.rotation_coordinates(), self.sequence)
        return np.asarray(np.linalg.solve(rate_matrix, self.angular_velocity), dtype=np.float64)

    def check(self, body: str) -> None:
        """Refuse conventional Euler angles in gimbal lock."""
        if self.lie:
            return
        middle = float(self.rotation_coordinates()[1])
        determinant = math.sin(middle) if self.axes[0] == self.axes[2] else math.cos(middle)
        if abs(determinant) < GIMBAL_TOLERANCE:
            raise SingularityError(
                (f"body '{body}': " if body else "")
                + f'EulerAngles(sequence="{self.sequence}") start in gimbal lock (middle angle {middle:.6g} rad). '
                "Use another sequence, EulerAngles(..., lie=True) or Quaternion.",
                body=body or None,
                time=0.0,
            )

    def _blank(self) -> Self:
        return type(self)(sequence=self.sequence, lie=self.lie)

    def _settings(self) -> str:
        return f'sequence="{self.sequence}", {super()._settings()}'


def _any_vector(value: Any, owner: Any, argument: str) -> Array:
    return check_vector(value, owner, argument, owner._coordinates.size)


class Generalized(Node):
    """Any number of scalar coordinates; the body that owns them says what they mean."""

    kind = kinds.GENERALIZED
    lie: ClassVar[bool] = False
    pinned: ClassVar[bool] = False
    _coordinates = fixed("Initial coordinates.", "make a new node, or set the coordinates of its body", _any_vector)
    _velocities = fixed("Initial velocities.", "make a new node, or set the velocities of its body", _any_vector)

    def __init__(self, coordinates: Numbers, velocities: Numbers | None = None) -> None:
        q = check_vector(np.atleast_1d(coordinates), "Generalized", "coordinates", None)
        if q.size == 0:
            raise bad_value("Generalized", "coordinates", coordinates, "at least one number")
        given = np.zeros(q.size) if velocities is None else np.atleast_1d(velocities)
        self._set(_coordinates=q, _velocities=check_vector(given, "Generalized", "velocities", q.size))

    @property
    def n_coordinates(self) -> int:
        return self._coordinates.size

    @property
    def n_velocities(self) -> int:
        return self._coordinates.size

    def coordinates(self) -> Array:
        return self._coordinates.copy()

    def coordinate_velocities(self) -> Array:
        return self._velocities.copy()

    def with_parametrisation(self, target: type[Node] | Node) -> Generalized:
        if _class_of(target) is not Generalized:
            raise ModelError(
                f"Generalized: cannot become {_name_of(target)}, because its coordinates have no common meaning; "
                "expected Generalized"
            )
        return Generalized(self._coordinates, self._velocities)

    def __repr__(self) -> str:
        return f"Generalized({self._coordinates.tolist()}, {self._velocities.tolist()})"


def _class_of(target: Any) -> type[Node]:
    cls = target if isinstance(target, type) else type(target)
    if not issubclass(cls, Node):
        raise ModelError(
            f"parametrisation {target!r}: expected a node class such as mbd.nodes.Quaternion, or a node as template, "
            'such as mbd.nodes.EulerAngles(sequence="zxz")'
        )
    return cls


def _name_of(target: Any) -> str:
    return _class_of(target).__name__
