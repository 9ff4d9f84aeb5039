"""What people may give, under names that signatures and ``help`` can show.

The names are for readers and type checkers; what is accepted is decided by the checks, whose messages say what is
expected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict

from numpy.typing import ArrayLike

from ..errors import Array

if TYPE_CHECKING:
    from ..bodies import Body

Vector = ArrayLike
"""Three numbers: a tuple, a list or an array."""

Numbers = ArrayLike
"""One number or several: a number, a tuple, a list or an array."""

Inertia = ArrayLike
"""Three principal moments, or a symmetric 3x3 matrix."""


class HasMatrix(Protocol):
    """A rotation that knows its matrix, such as ``scipy.spatial.transform.Rotation``."""

    def as_matrix(self) -> ArrayLike:
        """The 3x3 matrix, body to world."""


Orientation = ArrayLike | HasMatrix
"""A 3x3 rotation matrix (body to world), a quaternion (scalar first), or a scipy ``Rotation``."""

Axis = Literal["x", "y", "z"] | ArrayLike
"""A world axis by its letter, or a direction of any length."""

FunctionOfTime = Callable[[float], float]
"""A function of the time that returns a number."""

Prescribed = float | FunctionOfTime
"""A number, or a function of the time that returns one."""

Reading = float | tuple[float, float]
"""What a joint shows: an angle or a displacement, or where it has both the pair (displacement, angle)."""

PrescribedVector = ArrayLike | Callable[[float], ArrayLike]
"""Three numbers, or a function of the time that returns three."""

Load = ArrayLike | Callable[..., ArrayLike]
"""Three numbers, or a function of the time, or of (t, frames, velocities), that returns three."""

Effort = float | Callable[..., float]
"""A number, or a function of the time, or of (t, u, u_dot) with the coordinate of a joint, that returns one."""

FrameFunction = Callable[..., ArrayLike]
"""A function of frames, with the arguments that the docstring names, that returns numbers."""

FilePath = str | PathLike[str]
"""A file by its path."""

Parts = bool | Iterable[str]
"""True for all of a body, or some of "position", "rotation", "velocity", "angular_velocity"."""

Held = Mapping[str, Parts] | Mapping["Body", Parts] | Iterable["Body | str"]
"""What must not change: bodies, or the parts of bodies, which are given as objects or by name."""


class State(Protocol):
    """Whatever has coordinates and velocities: a solution, whose last record counts, an equilibrium, a start."""

    @property
    def q(self) -> Array:
        """Coordinates."""

    @property
    def v(self) -> Array:
        """Velocities."""


GivenState = State | tuple[ArrayLike, ArrayLike]
"""A state: whatever has coordinates and velocities, or a pair (q, v)."""


class JointArguments(TypedDict, total=False):
    """The arguments that all joints with a point and an axis have, see ``mbd.joints.Joint``."""

    name: str | None
    at: Vector | None
    axis: Vector | None
    point_a: Vector | None
    point_b: Vector | None
    axis_a: Vector | None
    axis_b: Vector | None
    zero: Reading | None
