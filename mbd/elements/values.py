"""Numbers with names: parameters and inputs of a model, and what is computed from them.

``k = model.parameter("k", 40.0)`` is a number that can be changed without building the model again, ``u =
model.input("u")`` one that may change while it runs. Both, and expressions of them (``2.0 * k``, ``np.sin(k)``), stand
wherever a number stands. Elements never see them: constructors are given the plain numbers, and remember what they
were made of (``mbd.elements.making``). In functions of users they are numbers as well.

A value has no number of its own once an element belongs to a model: numbers are looked up by name, in the model or the
system that is at work (``in_force``).
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Mapping
from numbers import Number
from types import BuiltinFunctionType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ModelError, check_number


class _State(threading.local):
    """What is at work in this thread."""

    values: Mapping[str, float] | None = None  # by name; None: those that the parameters have in their models
    calculating: bool = False  # values are plain numbers: a constructor, an assembly or a user's function is at work


_state = _State()


class in_force:
    """Parameters have these numbers, and are plain numbers in calculations; None: those of their models."""

    __slots__ = ("_before", "_values")

    def __init__(self, values: Mapping[str, float] | None) -> None:
        self._values = values

    def __enter__(self) -> None:
        self._before = before = _state.values, _state.calculating
        _state.values, _state.calculating = (before[0] if self._values is None else self._values), True

    def __exit__(self, *error: object) -> None:
        _state.values, _state.calculating = self._before


class Value:
    """A number, or an array of numbers, that is computed from parameters; ``value`` is what it is at present."""

    __slots__ = ("arguments", "function", "options")
    __iter__ = None  # its length is not known

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        self.function, self.arguments, self.options = function, arguments, options

    @property
    def value(self) -> Any:
        """The number, or the array, at present."""
        with in_force(None):
            return self._computed()

    def _computed(self) -> Any:
        """``value`` inside of an expression, where parameters are plain numbers already."""
        arguments = [x._computed() if isinstance(x, Value) else resolved(x) for x in self.arguments]
        result = self.function(*arguments, **resolved(self.options))
        return result.item() if isinstance(result, np.generic) else result

    def __repr__(self) -> str:
        try:
            with np.errstate(all="ignore"):
                value = self.value
        except Exception:  # of numbers that the function does not take
            return f"<expression {self._text()}, which has no value>"
        text = f"{value:g}" if isinstance(value, float) else np.array2string(np.asarray(value), threshold=12)
        return f"<expression {self._text()} = {' '.join(text.split())}>"

    def _text(self) -> str:
        """How it is computed."""
        symbol = _symbol_of(self)
        if symbol is not None:
            a, b = (f"({_text_of(x)})" if _symbol_of(x) else _text_of(x) for x in self.arguments)
            return f"{a} {symbol} {b}"
        arguments = [*map(_text_of, self.arguments), *(f"{name}={_text_of(x)}" for name, x in self.options.items())]
        return f"{getattr(self.function, '__name__', self.function)}({', '.join(arguments)})"

    # --- arithmetic: an expression while a model is built, a number while something calculates

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if _state.calculating:
            return getattr(ufunc, method)(*resolved(inputs), **options)
        if method != "__call__" or options:
            return NotImplemented
        return Value(ufunc, inputs, {})

    def __getitem__(self, key: Any) -> Any:
        return self.value[key] if _state.calculating else Value(operator.getitem, (self, key), {})

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __bool__(self) -> bool:
        return bool(self._number())

    def __index__(self) -> int:
        return operator.index(self._number())

    def _number(self) -> Any:
        if not _state.calculating:
            raise TypeError(
                f"{self!r} is a parameter, which is no plain number: a later change would be lost here. Expected it as "
                "an argument of a body, a joint, a force or a node, or in a function of the model; "
                "mbd.calculated(function, ...) makes an expression of any function, and .value is the present number"
            )
        return self.value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Number | np.bool_):
            return bool(self._number() == other)  # refused while a model is built, as other comparisons are
        return bool(self.value == resolved(other)) if _state.calculating else self is other

    def __hash__(self) -> int:
        return id(self)

    @property
    def captured_number(self) -> Any:
        """For compiled functions (``mbd.compiled.functions``): the number that stands in its place."""
        return self.value


def _binary(function: Callable[[Any, Any], Any]) -> tuple[Any, Any]:
    def forward(self: Value, other: Any) -> Any:
        return function(self.value, resolved(other)) if _state.calculating else Value(function, (self, other), {})

    def reflected(self: Value, other: Any) -> Any:
        return function(resolved(other), self.value) if _state.calculating else Value(function, (other, self), {})

    return forward, reflected


def _unary(function: Callable[[Any], Any]) -> Any:
    def method(self: Value) -> Any:
        return function(self.value) if _state.calculating else Value(function, (self,), {})

    return method


def _comparison(function: Callable[[Any, Any], Any]) -> Any:
    def method(self: Value, other: Any) -> bool:
        return bool(function(self._number(), resolved(other)))

    return method


SYMBOLS: dict[Any, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/", operator.floordiv: "//",
    operator.mod: "%", operator.pow: "**", operator.matmul: "@",
}  # fmt: skip


def _symbol_of(x: Any) -> str | None:
    """Of an expression of two numbers."""
    known = isinstance(x, Value) and not isinstance(x, Parameter) and isinstance(x.function, BuiltinFunctionType)
    return SYMBOLS.get(x.function) if known else None


def _text_of(x: Any) -> str:
    """An argument of an expression."""
    if isinstance(x, tuple | list):
        return f"({', '.join(map(_text_of, x))})"
    return x._text() if isinstance(x, Value) else repr(x.item() if isinstance(x, np.generic) else x)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    _forward, _reflected = _binary(getattr(operator, _name))
    setattr(Value, f"__{_name}__", _forward)
    setattr(Value, f"__r{_name}__", _reflected)
for _name in ("neg", "pos", "abs"):
    setattr(Value, f"__{_name}__", _unary(getattr(operator, _name)))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Value, f"__{_name}__", _comparison(getattr(operator, _name)))


class Parameter(Value):
    """A number of a model with a name; ``model.parameter(name, value)`` makes it."""

    __slots__ = ("name", "number", "origin")
    word = "parameter"

    def __init__(self, name: str, value: float, origin: str) -> None:
        self.name, self.number, self.origin = name, value, origin

    def __copy__(self) -> Parameter:
        return type(self)(self.name, self.number, self.origin)

    @property
    def value(self) -> float:
        """The number at present."""
        values = _state.values
        return self.number if values is None else values.get(self.name, self.number)

    def _computed(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"<{self.word} '{self.name}' = {self.number:g}>"

    def _text(self) -> str:
        return self.name


class Input(Parameter):
    """A number of a model that may change while it runs; ``model.input(name, value)`` makes it."""

    __slots__ = ()
    word = "input"


def calculated(function: Callable[..., ArrayLike], *arguments: object, **options: object) -> ArrayLike:
    """What a function returns for parameters, as a value that follows them: ``calculated(mbd.rotation, (0, 0, phi))``.

    The function is called anew with plain numbers whenever one of the parameters changes. Without parameters among the
    arguments it is called once, here.
    """
    if not parameters_in((arguments, options)):
        return function(*arguments, **options)
    return Value(function, arguments, options)  # type: ignore[return-value]


def resolved(x: Any) -> Any:
    """What was given, in lists and dicts too, with plain numbers in place of parameters and their expressions."""
    if isinstance(x, Value):
        return x.value
    kind = type(x)
    if kind is tuple or kind is list:
        return kind([resolved(item) for item in x])
    if kind is dict:
        return {key: resolved(item) for key, item in x.items()}
    if kind is np.ndarray and x.dtype == object:
        return np.array(resolved(x.tolist()))
    return x


def parameters_in(x: Any) -> set[Parameter]:
    """The parameters on which something depends: a value, or values inside tuples, lists, dicts and arrays."""
    found: set[Parameter] = set()
    _collect(x, found)
    return found


def _collect(x: Any, found: set[Parameter]) -> None:
    if isinstance(x, Parameter):
        found.add(x)
    elif isinstance(x, Value):
        _collect((x.arguments, x.options), found)
    elif type(x) in (tuple, list):
        for item in x:
            _collect(item, found)
    elif type(x) is dict:
        for item in x.values():
            _collect(item, found)
    elif type(x) is np.ndarray and x.dtype == object:
        _collect(x.tolist(), found)


def has_values(x: Any) -> bool:
    """Whether there is a value in something."""
    if isinstance(x, Value):
        return True
    kind = type(x)
    if kind is tuple or kind is list:
        return any(map(has_values, x))
    if kind is dict:
        return any(map(has_values, x.values()))
    return kind is np.ndarray and x.dtype == object and has_values(x.tolist())


def check_value(value: Any, owner: object, name: str) -> float:
    """A number for a parameter."""
    if isinstance(value, Value):
        raise ModelError(f"{owner}: the value of {name} is {value!r}; expected a plain number")
    return check_number(value, owner, f"value of {name}")
