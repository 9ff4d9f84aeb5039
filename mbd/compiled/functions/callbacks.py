"""Calling user functions from compiled code through their addresses.

A user function is void f(double *x, double *out, int64 *block): its address and the address of its block sit in a table
of the system record, so that no user function ever triggers a compilation of the toolkit. Compiled functions
(``code``) read what they refer to from the block; what cannot be compiled is called as plain Python through
the same slot (slower). Both leave in the head of the block what went wrong first (``data_block``). The complex twin
of a function gives derivatives as imaginary parts: exactly in compiled code, by differences otherwise. Addresses are
valid in one process only; they are never saved.
"""

from __future__ import annotations

import ctypes
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..interrupts import CALLED_BY_COMPILED_CODE
from ..kernel import JIT
from .call_styles import Call, is_indefinite
from .calls import SIGNATURE
from .code import NO_CLOCK, CannotCompile, bind_code
from .data_block import ARGUMENTS, CLOCK, HEAD, INDEFINITE, NOT_FINITE, RAISED, SPARE, SPARE_BLOCK, STATUS, TIME
from .travelling import sendable

Array = np.ndarray

STEP = 2e-4  # of fourth-order differences, beside the size of the arguments


def _numbers(address: int, count: int) -> Array:
    return np.ctypeslib.as_array((ctypes.c_double * count).from_address(address))


class PlainCode:
    """A user function called as plain Python."""

    def __init__(self, functions: tuple[Any, ...], call: Call) -> None:
        self.functions, self.call = functions, call
        self.error: BaseException | None = None
        self.around: Any = nullcontext  # what numbers with names are during a call
        self.arguments = np.zeros(call.n_in)
        self.block = np.zeros(HEAD, dtype=np.int64)
        self.block[ARGUMENTS], self.block[CLOCK] = self.arguments.ctypes.data, NO_CLOCK.ctypes.data

        def called(x: int, out: int, block: int) -> None:
            target = _numbers(out, call.size)
            try:
                source = _numbers(x, call.n_in).copy()
                with self.around():
                    value = np.asarray(call(functions, source.copy()), dtype=float).reshape(call.size)
                target[:] = value
                if not np.isfinite(value).all():
                    self._note(NOT_FINITE, source, None)
                elif call.is_mass and is_indefinite(value.reshape(call.count, call.count)):
                    self._note(INDEFINITE, source, None)
            except BaseException as error:  # it cannot cross compiled code: the run stops and raises it
                target[:] = np.nan
                self._note(RAISED, _numbers(x, call.n_in), error)

        CALLED_BY_COMPILED_CODE.add(called.__code__)
        self.pointer = SIGNATURE(called)
        self.address = _address(self.pointer)

    def _note(self, status: int, x: Array, error: BaseException | None) -> None:
        if self.block[STATUS] == 0:
            self.block[STATUS], self.error = status, error
            self.arguments[:] = x
            self.block[TIME] = ctypes.c_longlong.from_address(int(self.block[CLOCK])).value
        elif isinstance(error, KeyboardInterrupt):
            self.error = error

    def write(self) -> bool:
        """Plain Python sees all values anyway."""
        return True


class DifferenceCode:
    """The complex twin of any function: values, and derivatives along the imaginary parts by differences."""

    def __init__(self, real: Callback) -> None:
        self.block = np.zeros(HEAD, dtype=np.int64)
        self.error: BaseException | None = None
        self.arguments = np.zeros(2 * real.call.n_in)
        n, size = real.call.n_in, real.call.size

        def called(x: int, out: int, block: int) -> None:
            a, b = _numbers(x, 2 * n).reshape(n, 2).T.copy()
            target = _numbers(out, 2 * size).reshape(size, 2)
            target[:, 0], target[:, 1] = real.evaluate(a), 0.0
            largest = np.abs(b).max(initial=0.0)
            if largest > 0.0 and np.isfinite(target[:, 0]).all():
                noted = real.noted
                target[:, 1] = largest * _slope(real, a, b / largest, target[:, 0])
                if not noted:
                    real.clear()  # an argument beside the given one says nothing about the run

        CALLED_BY_COMPILED_CODE.add(called.__code__)
        self.pointer = SIGNATURE(called)
        self.address = _address(self.pointer)

    def write(self) -> bool:
        """It has no values of its own."""
        return True


def _slope(real: Callback, a: Array, b: Array, here: Array) -> Array:
    """Derivative along b at a, from one side where the function does not exist on the other."""
    h = STEP * max(1.0, np.abs(a[b != 0.0]).max(initial=0.0))
    at = [real.evaluate(a + k * h * b) for k in (-2.0, -1.0, 1.0, 2.0)]
    slope = (8.0 * (at[2] - at[1]) - at[3] + at[0]) / (12.0 * h)
    if not np.isfinite(slope).all():
        ahead = (4.0 * at[2] - at[3] - 3.0 * here) / (2.0 * h)
        behind = (3.0 * here - 4.0 * at[1] + at[0]) / (2.0 * h)
        slope = np.where(np.isfinite(slope), slope, np.where(np.isfinite(ahead), ahead, behind))
    return slope


class Callback:
    """A user function as compiled code knows it, and what went wrong in it."""

    def __init__(self, name: str, functions: tuple[Any, ...], call: Call, real: Callback | None = None) -> None:
        self.name, self.functions, self.call, self.real = name, functions, call, real
        self.reason = ""
        self.code: Any = None
        self.clock = NO_CLOCK.ctypes.data
        self.around: Any = nullcontext
        self._bind()

    def _bind(self) -> None:
        """Compile the function, or find its code, with the present values of what it refers to."""
        try:
            if not JIT:
                raise CannotCompile("MBD_JIT is 0")
            self.code = bind_code(self.functions, self.call, self.real is not None)
            self.compiled = True
            if self.real is not None:
                self.spare = DifferenceCode(self.real)
                self.code.block[SPARE], self.code.block[SPARE_BLOCK] = self.spare.address, self.spare.block.ctypes.data
        except CannotCompile as error:
            self.compiled, self.reason = False, str(error)
            self.code = PlainCode(self.functions, self.call) if self.real is None else DifferenceCode(self.real)
        self.code.block[CLOCK] = self.clock
        if isinstance(self.code, PlainCode):
            self.code.around = self.around

    def surround(self, around: Any) -> None:
        """Plain Python is called inside of this context; compiled code has its numbers in its block."""
        self.around = around
        if isinstance(self.code, PlainCode):
            self.code.around = around

    def replace(self, functions: tuple[Any, ...]) -> None:
        """Call other functions from now on; address and block are others then."""
        self.functions = functions
        self._bind()

    def places(self) -> list[tuple[Any, int, Any]]:
        """(block, word or -1, object) of numbers that stand in the place of objects; none in plain Python."""
        found = self.code.places() if hasattr(self.code, "places") else []
        return [(self.code.block, word, x) for word, x in found]

    @property
    def address(self) -> int:
        """Where the machine code is."""
        return int(self.code.address)

    @property
    def block(self) -> int:
        """Where its block is."""
        return int(self.code.block.ctypes.data)

    def __getstate__(self) -> dict[str, Any]:
        """For other processes and copies: code is bound again there, with the values that were handed over here."""
        parts = {"name": self.name, "functions": tuple(map(sendable, self.functions)), "call": self.call}
        return parts | {"real": self.real, "values": getattr(self.code, "values", None)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values = state.pop("values")
        self.__init__(**state)  # type: ignore[misc]
        if values is not None and not (hasattr(self.code, "restore") and self.code.restore(values)):
            warnings.warn(
                f"the function of {self.name} refers to other values here than where it comes from; what is computed "
                "with it from now on may differ",
                stacklevel=2,
            )

    def tell_time(self, clock: int) -> None:
        """Where the time of the evaluation can be read."""
        self.clock = clock
        self.code.block[CLOCK] = clock

    def refresh(self) -> bool:
        """Take over what the function refers to now; True if address and block are others than before."""
        if self.code.write():
            return False
        self._bind()
        return True

    def evaluate(self, x: Array) -> Array:
        """The results at a vector of arguments."""
        x, out = np.ascontiguousarray(x, dtype=float), np.zeros(self.call.size)
        SIGNATURE(self.address)(x.ctypes.data, out.ctypes.data, self.block)
        return out

    @property
    def noted(self) -> bool:
        """Whether something went wrong since the last ``clear``."""
        return bool(self.code.block[STATUS])

    @property
    def error(self) -> BaseException | None:
        """What plain Python raised."""
        return getattr(self.code, "error", None)

    def clear(self) -> None:
        """Forget what went wrong."""
        self.code.block[STATUS] = self.code.block[TIME] = 0
        if self.error is not None:
            self.code.error = None

    @property
    def arguments(self) -> Array:
        """The arguments at the first error."""
        x = self.code.arguments
        return x[::2].copy() if self.real is not None else x.copy()

    @property
    def time(self) -> float:
        """The time of the first error."""
        if self.call.has_time:
            return float(self.arguments[0])
        if self.code.block[TIME] == 0 and self.code.block[CLOCK]:  # not noted: the time of the last evaluation
            return ctypes.c_double.from_address(int(self.code.block[CLOCK])).value
        return float(self.code.block[TIME : TIME + 1].view(float)[0])


def make_callback(function: Any, call: Call, name: str, *more: Any) -> Callback:
    """Callback of a function (of a motion: with its rate and acceleration); says if it is plain Python."""
    callback = Callback(name, (function, *more), call)
    if JIT and not callback.compiled and type(function).__name__ != "MissingFunction":
        warnings.warn(
            f"the function of {name} is called as plain Python, which is slower; it cannot be compiled: "
            f"{callback.reason}",
            stacklevel=2,
        )
    return callback


def twin_of(callback: Callback) -> Callback:
    """The complex twin, by which a function is differentiated; not ``compiled`` where it takes differences."""
    return Callback(callback.name, callback.functions, callback.call, callback)


def _address(pointer: Any) -> int:
    value = ctypes.cast(pointer, ctypes.c_void_p).value
    assert value is not None
    return value
