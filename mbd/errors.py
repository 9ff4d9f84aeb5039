"""Errors and warnings of the toolkit, and the checks of user input that raise them.

Every message names the element, the argument, the value and what is expected, so that it can be acted on without
reading source code, and ends with a code ("MBD-E12") under which docs/troubleshooting.md tells cause and remedy: that
of its class, or a closer one that stands in the message itself. The checks avoid numpy where they can: they run for
each body of a model of ten thousand.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .results.solution import Solution

Array = NDArray[np.float64]


CODE = re.compile(r" ?\[(MBD-[EW]\d\d)\]")


class _Coded:
    """Errors and warnings whose text ends with a code."""

    general_code: ClassVar[str]
    """Code of the class, for messages without one of their own."""

    @property
    def code(self) -> str:
        """The code under which docs/troubleshooting.md tells cause and remedy, such as MBD-E12."""
        found = CODE.search(super().__str__())
        return found[1] if found else self.general_code

    def __str__(self) -> str:
        text = CODE.sub("", super().__str__())  # a message that quotes another one has its code at the end as well
        return f"{text} [{self.code}]" if text else ""


class MbdError(_Coded, Exception):
    """Base class of all errors that the toolkit raises on purpose.

    ``solution`` is what was computed, where the error ended a run.
    """

    general_code = "MBD-E01"
    solution: Solution | None = None


class ModelError(MbdError, ValueError):
    """Bad input; the message names the element, the argument, the value and what is expected."""

    general_code = "MBD-E02"


class MissingQuantity(ModelError, AttributeError):
    """An element has no such quantity; also an AttributeError, so that ``hasattr`` answers."""

    general_code = "MBD-E11"


class FileError(MbdError, OSError):
    """A file cannot be written; the message says which one and why."""

    general_code = "MBD-E03"


class UserFunctionError(ModelError):
    """A user function raised an error or returned a number that is not finite; its cause is what it raised.

    Attributes: ``element`` (whose function it is), ``time``, ``solution`` (up to there, if a simulation was running).
    """

    general_code = "MBD-E04"

    def __init__(
        self,
        message: str = "",
        *,
        element: str | None = None,
        time: float | None = None,
        solution: Solution | None = None,
    ) -> None:
        super().__init__(message)
        self.element = element
        self.time = time
        self.solution = solution


class AssemblyError(MbdError):
    """There is no consistent start; the message says which joint is violated, and by how much."""

    general_code = "MBD-E05"


class IncompatibleError(MbdError):
    """An integrator cannot treat an element of the model; the message says which one and what to use instead."""

    general_code = "MBD-E06"


class ConvergenceError(MbdError):
    """An iteration failed; the solution up to there is attached.

    Attributes: ``step`` (number of the failed step), ``time``, ``where`` (worst body or joint), ``solution``.
    """

    general_code = "MBD-E07"

    def __init__(
        self,
        message: str = "",
        *,
        step: int | None = None,
        time: float | None = None,
        where: str | None = None,
        solution: Solution | None = None,
    ) -> None:
        super().__init__(message)
        self.step = step
        self.time = time
        self.where = where
        self.solution = solution


class SingularityError(MbdError):
    """A parametrisation of rotations is at its singularity.

    Attributes: ``body`` (its name, if known), ``time``, ``solution`` (up to there, if a simulation was running).
    """

    general_code = "MBD-E08"

    def __init__(
        self, message: str = "", *, body: str | None = None, time: float | None = None, solution: Solution | None = None
    ) -> None:
        super().__init__(message)
        self.body = body
        self.time = time
        self.solution = solution


class StudyError(MbdError):
    """A study cannot go on, for a reason that is not one of its runs; what was computed is in its store."""

    general_code = "MBD-E09"


class RedundancyWarning(_Coded, UserWarning):
    """Joint equations depend on each other: reactions are not unique although the motion is."""

    general_code = "MBD-W01"


class AccuracyWarning(_Coded, UserWarning):
    """A run came to its end, but its numbers contradict each other: the step is too large for the method."""

    general_code = "MBD-W02"


class ModelWarning(_Coded, UserWarning):
    """The model is accepted but looks wrong."""

    general_code = "MBD-W03"


def bad_value(owner: object, argument: str, value: object, expected: str) -> ModelError:
    """The error for one bad argument, ready to be raised. ``owner`` is anything whose ``str`` names the element."""
    if isinstance(value, np.ndarray):
        value = tuple(value.tolist()) if value.ndim == 1 else value.tolist()
    text = repr(value)
    if any(word in text for word in ("<parameter '", "<input '", "<expression ")):
        expected += (
            "; parameters are followed where they are given to elements of a model: mbd.calculated(function, ...) "
            "makes an expression of what is computed here, and .value is the present number"
        )
    if len(text) > 200:
        text = text[:200] + "..."
    return ModelError(
        f"{owner}: {argument} = {text}; expected {expected}" + ("" if "[MBD-" in expected else " [MBD-E12]")
    )


def read_only(array: Array) -> Array:
    """The same array, protected against writing (elements share and trust their arrays)."""
    array.setflags(write=False)
    return array


def plain(x: Any) -> Any:
    """A text or a number as Python has it: those of numpy and entries of enumerations are of classes of their own."""
    if isinstance(x, np.generic):
        x = float(x) if isinstance(x, np.floating) else x.item()
    return next((cls(x) for kind, cls in PLAIN_FORMS if isinstance(x, kind)), x)


# what a class of its own shows is not asked for: the text of an entry of an enumeration is another one
PLAIN_FORMS: tuple[tuple[type, Any], ...] = (
    (bool, bool),
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
)
ZERO3: Array = read_only(np.zeros(3))
IDENTITY3: Array = read_only(np.eye(3))
FLOAT = np.dtype(np.float64)
TRUTH_VALUES = {bool, np.bool_}  # they are no numbers: mass=True is a mistake


def check_number(
    value: Any, owner: object, argument: str, *, positive: bool = False, nonnegative: bool = False
) -> float:
    """``value`` as a finite float, optionally positive or not negative."""
    if type(value) is float and math.isfinite(value) and (value > 0.0 or not positive):  # the usual case at once
        if value >= 0.0 or not nonnegative:
            return value + 0.0
    expected = "a positive number" if positive else "a number that is not negative" if nonnegative else "a number"
    if isinstance(value, np.ndarray) and value.ndim:
        raise bad_value(owner, argument, value, f"{expected}, not an array of shape {value.shape}")
    try:
        if isinstance(value, bool | np.bool_) or np.dtype(bool) == getattr(value, "dtype", None):
            raise TypeError
        number = float(value + 0.0)  # the addition refuses strings
    except (TypeError, ValueError, OverflowError):
        raise bad_value(owner, argument, value, f"{expected}, not {type(value).__name__}") from None
    if not math.isfinite(number) or (positive and number <= 0.0) or (nonnegative and number < 0.0):
        raise bad_value(owner, argument, value, f"{expected}, finite")
    return number


def check_vector(value: Any, owner: object, argument: str, size: int | None = 3) -> Array:
    """``value`` as a finite, read-only float vector of the given size (``None``: any size)."""
    if value is ZERO3 and size == 3:
        return ZERO3
    kind = type(value)
    if size == 3 and kind is np.ndarray and value.size == 3 and value.ndim == 1 and value.dtype is FLOAT:
        x, y, z = value.tolist()  # plain Python arithmetic: several times faster than numpy for three numbers
        if not math.isfinite(x + y + z):
            _refuse_non_finite(value, owner, argument, value)
        return value if value.base is None and not value.flags.writeable else read_only(value.copy())
    if size == 3 and kind in (tuple, list) and len(value) == 3:
        try:
            x, y, z = float(value[0] + 0.0), float(value[1] + 0.0), float(value[2] + 0.0)
            if not TRUTH_VALUES.isdisjoint(map(type, value)):
                raise TypeError
        except (TypeError, ValueError, OverflowError):
            raise bad_value(owner, argument, value, "3 numbers") from None
        if not math.isfinite(x + y + z):
            _refuse_non_finite(np.array((x, y, z)), owner, argument, value)
        return read_only(np.array((x, y, z)))
    expected = "a vector of numbers" if size is None else f"{size} numbers"
    array = _float_array(value, owner, argument, expected)
    if array.ndim != 1 or (size is not None and array.size != size):
        raise bad_value(owner, argument, value, f"{expected}, not an array of shape {array.shape}")
    _refuse_non_finite(array, owner, argument, value)
    return read_only(array)


def check_matrix(value: Any, owner: object, argument: str, size: int, *, symmetric: bool = False) -> Array:
    """``value`` as a finite, read-only float matrix of shape (size, size), symmetric to rounding on request."""
    expected = f"a {'symmetric ' if symmetric else ''}{size}x{size} matrix of numbers"
    array = _float_array(value, owner, argument, expected)
    if array.shape != (size, size):
        raise bad_value(owner, argument, value, f"{expected}, not an array of shape {array.shape}")
    _refuse_non_finite(array, owner, argument, value)
    if symmetric:
        if np.abs(array - array.T).max() > 1e-9 * np.abs(array).max():
            raise bad_value(owner, argument, value, expected)
        array = 0.5 * (array + array.T)
    return read_only(array)


def check_direction(value: Any, owner: object, argument: str) -> Array:
    """``value`` as a unit vector."""
    vector = check_vector(value, owner, argument)
    x, y, z = vector.tolist()
    if (largest := max(abs(x), abs(y), abs(z))) > 1e100:  # its square would overflow
        x, y, z = x / largest, y / largest, z / largest
    length = math.sqrt(x * x + y * y + z * z)
    if length < 1e-12:
        raise bad_value(
            owner, argument, value, "a direction, which cannot be zero (lengths below 1e-12 count as rounding errors)"
        )
    if length == 1.0 and largest <= 1.0:
        return vector
    return read_only(np.array((x / length, y / length, z / length)))


def _float_array(value: Any, owner: object, argument: str, expected: str) -> Array:
    try:
        array = np.array(value)
        if array.dtype == object and isinstance(value, np.ndarray):
            expected += (
                ", not an array of Python objects (in functions: mbd.calculated(np.array, (k, 0, 0)) of parameters)"
            )
        if array.dtype.kind not in "fiu" or np.ma.is_masked(value):
            raise TypeError
        return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise bad_value(owner, argument, value, expected) from None


def _refuse_non_finite(array: Array, owner: object, argument: str, value: object) -> None:
    if not np.isfinite(array).all():
        raise bad_value(owner, argument, value, "finite numbers (no NaN, no infinity)")
