"""Attributes that are checked whenever they are set, in constructors and ever after.

A class declares what can be changed, with a sentence for ``help``, and how it is checked and converted::

    class Spring(Force):
        body_a = fixed("First body.", "make a new spring")
        stiffness = declared("Force per elongation.", not_negative)

Its constructor hands the arguments to ``_set``, so that a constructor and an assignment run the same lines. Whatever
else is assigned - a misspelt name, a property, a constant of the class, an argument that the constructor used up - is
refused by name. Classes of users keep their freedom: their own methods may set anything, and what their constructors
made can be changed.
"""

from __future__ import annotations

import copy
import inspect
import math
import sys
from collections.abc import Callable
from operator import attrgetter
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..compiled.functions.travelling import REMEDY, name_of_function, nameless, sent_as_code
from ..errors import ModelError, bad_value, check_number, read_only
from .making import RECORD, is_made_of_values, refuse_inputs, remember_change, remember_making
from .settling import before_change
from .suggestions import did_you_mean
from .values import Value, _state, has_values, parameters_in, resolved

T = TypeVar("T")
PACKAGE = __name__.partition(".")[0]
NO_DEFAULT: Any = object()


class Attribute:
    """A declared attribute; ``convert(value, owner, name)`` returns what is stored. None: it cannot be changed.

    ``check`` looks at values of a file, where an attribute that cannot be changed comes from outside as well. An
    attribute with a ``default`` is stored only where it has been given.
    """

    __slots__ = ("advice", "check", "convert", "default", "name", "text")

    def __init__(self, text: str, convert: Any, advice: str = "", check: Any = None, default: Any = NO_DEFAULT) -> None:
        self.text, self.convert, self.advice, self.check, self.name = text, convert, advice, check, ""
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, cls: type) -> Any:
        """Values are in the dict of the owner, which comes first: here they are missing, or ``help`` is asked for."""
        if owner is None:
            return property(attrgetter(self.name), None if self.convert is None else self._assign, doc=self.text)
        if self.default is not NO_DEFAULT:
            return self.default
        raise AttributeError(f"{cls.__name__} has no {self.name} yet; its constructor must call super().__init__(...)")

    def _assign(self, owner: Any, value: Any) -> None:
        setattr(owner, self.name, value)


class Constant:
    """An attribute that is the same for all objects of a class."""

    __slots__ = ("text", "value")

    def __init__(self, text: str, value: Any) -> None:
        self.text, self.value = text, value

    def __get__(self, owner: Any, cls: type) -> Any:
        return property(None, doc=self.text) if owner is None else self.value


def declared(text: str, convert: Callable[[Any, Any, str], T], default: Any = NO_DEFAULT) -> T:
    """An attribute that can be changed; ``convert(value, owner, name)`` checks it and returns what is stored."""
    return Attribute(text, convert, default=default)  # type: ignore[return-value]


def fixed(
    text: str, advice: str, check: Callable[[Any, Any, str], Any] | None = None, default: Any = NO_DEFAULT
) -> Any:
    """An attribute that is set in the constructor only; ``advice`` tells what to do instead of changing it.

    ``check(value, owner, name)`` is for values that come from a file.
    """
    return Attribute(text, None, advice, check, default)


def constant(text: str, value: T) -> T:
    """An attribute that no object of the class can have otherwise."""
    return Constant(text, value)  # type: ignore[return-value]


class Recorded(type):
    """Constructors are given plain numbers; objects that are made of parameters remember their arguments."""

    @property
    def __signature__(cls) -> inspect.Signature:
        """What ``help`` shows: the arguments of the constructor."""
        found = inspect.signature(cls.__init__)  # type: ignore[misc]
        return found.replace(parameters=list(found.parameters.values())[1:])

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        before = _state.calculating
        _state.calculating = True
        try:
            if not (any(map(_follows, arguments)) or (options and any(map(_follows, options.values())))):
                return super().__call__(*arguments, **options)
            if has_values((arguments, options)):
                names = inspect.signature(cls.__init__).bind(None, *arguments, **options).arguments  # type: ignore[misc]
                refuse_inputs(cls, cls.__name__, {**names, **names.pop("arguments", {})})
            made = super().__call__(*resolved(arguments), **resolved(options))
            remember_making(made, None, arguments, options)
            return made
        except TypeError as error:
            cls._explain(error, arguments, options)
            raise
        finally:
            _state.calculating = before

    def _explain(cls, error: TypeError, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        """Python names the argument that is wrong; a note adds those that would be right."""
        found = inspect.signature(cls)
        try:
            found.bind(*arguments, **options)
        except TypeError:
            known = list(found.parameters)
            near = [text for name in options if name not in known and (text := did_you_mean(name, known))]
            error.add_note(" ".join([f"{cls.__name__} takes {', '.join(known)};", *near]).rstrip(";"))


def _follows(x: Any) -> bool:
    """Whether an argument is made of parameters."""
    if isinstance(x, Checked):
        return RECORD in x.__dict__ and is_made_of_values(x)
    if isinstance(x, Value):
        return True
    return type(x) in (tuple, list, dict, np.ndarray) and _follows_inside(x)


def _follows_inside(x: Any) -> bool:
    if type(x) is np.ndarray:
        return x.dtype == object and has_values(x)
    return any(map(_follows, x.values() if type(x) is dict else x))


class Checked(metaclass=Recorded):
    """Base of everything whose attributes are checked."""

    _converters: dict[str, Callable[[Any, Any, str], Any]] = {}
    input_columns: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Arguments that are numbers of the first record of an element, as they are given."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._converters = {
            key: x.convert or _as_given for key, x in _class_attributes(cls).items() if isinstance(x, Attribute)
        }

    def validate(self) -> None:
        """What attributes must fulfil together; called after every change, and by constructors."""

    @classmethod
    def takes_input(cls, argument: str) -> bool:
        """Whether an argument or attribute may change during a run."""
        return False

    def remade(self, before: dict[str, Any]) -> None:
        """The object was constructed again, with other numbers; ``before`` are its attributes until then."""
        self.__dict__.update((key, before[key]) for key in ("name", "model") if key in before)

    @property
    def _held(self) -> tuple[Any, ...]:
        """Objects of its own that change in place when it is made again."""
        return ()

    def _set(self, **values: Any) -> None:
        """Check and store several declared attributes, for constructors."""
        stored, converters = self.__dict__, self._converters
        for name, value in values.items():
            stored[name] = converters[name](value, self, name)

    def _set_given(self, **values: Any) -> None:
        """Check and store declared attributes, for constructors; those with their default value are left out."""
        for name, value in values.items():
            default = _class_attribute(type(self), name).default
            if value is not default and not (type(value) is type(default) and value == default):
                self._set(**{name: value})

    def __setattr__(self, name: str, value: Any) -> None:
        before_change(self)
        attribute = _class_attribute(type(self), name)
        given, before = value, _state.calculating
        if _follows(value):
            value = resolved(value)
            self._check_parameters(name, given)
        _state.calculating = True
        try:
            if isinstance(attribute, Attribute):
                self._change(attribute, value)
            elif getattr(attribute, "fset", None) is not None or self._is_free(name):
                object.__setattr__(self, name, value)
            else:
                raise self._refusal(name, attribute is not None)
        finally:
            _state.calculating = before
        if not before:  # no constructor is at work
            remember_change(self, name, given)

    def _check_parameters(self, name: str, given: Any) -> None:
        """Refuse an input where it cannot act, and parameters of other models."""
        refuse_inputs(type(self), self, {name: given})
        model = getattr(self, "model", None)
        if model is not None:
            model.check_parameters(self, parameters_in(given))

    def _change(self, attribute: Attribute, value: Any) -> None:
        stored, name = self.__dict__, attribute.name
        if _inside(self, sys._getframe(2)):  # a constructor of a user's class: not complete yet
            stored[name] = value if attribute.convert is None else attribute.convert(value, self, name)
            return
        if attribute.convert is None:
            raise ModelError(f"{self}: {name} cannot be changed afterwards; {attribute.advice} [MBD-E17]")
        before = dict(stored)
        try:
            stored[name] = attribute.convert(value, self, name)
            self.validate()
        except BaseException:
            stored.clear()
            stored.update(before)
            raise

    def _is_free(self, name: str) -> bool:
        """Whether a user's class may set an attribute that is not declared."""
        owner = next((cls for cls in type(self).__mro__ if name in cls.__dict__), None)
        if owner is not None:
            return not _ours(owner) or _inside(self, sys._getframe(2))
        return not _ours(type(self)) and (name in self.__dict__ or _inside(self, sys._getframe(2)))

    def __delattr__(self, name: str) -> None:
        before_change(self)
        if isinstance(_class_attribute(type(self), name), Attribute) or _ours(type(self)):
            raise ModelError(f"{self}: {name} cannot be deleted")
        object.__delattr__(self, name)

    def __copy__(self) -> Any:
        twin = object.__new__(type(self))
        twin.__setstate__(dict(vars(self)))
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = memo[id(self)] = object.__new__(type(self))
        twin.__setstate__(copy.deepcopy(vars(self), memo))
        return twin

    def __reduce_ex__(self, protocol: Any) -> Any:
        """For other processes, which must find functions by their names."""
        if not sent_as_code():
            refuse_nameless(self, vars(self))
        return super().__reduce_ex__(protocol)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies and pickles: numpy forgets that arrays are read-only."""
        for value in state.values():
            if isinstance(value, np.ndarray):
                read_only(value)
        self.__dict__.update(state)

    def _refusal(self, name: str, exists: bool) -> ModelError:
        cls = type(self)
        arguments, can = constructor_arguments(cls), sorted(key for key in changeable(cls) if key[0] != "_")
        if name in arguments:
            return ModelError(
                f"{self}: {name} cannot be changed afterwards; give {name}= to a new {cls.__name__} [MBD-E17]"
            )
        advice = f"what can be changed is {', '.join(can)}" if can else f"make a new {cls.__name__}"
        if exists:
            return ModelError(f"{self}: {name} cannot be changed; {advice} [MBD-E17]")
        import difflib

        known = sorted(key for key in {*can, *vars(self), *arguments} if key[0] != "_")
        close = difflib.get_close_matches(name, known, n=3)
        return ModelError(
            f"{self}: has no attribute {name!r}; "
            + (f"did you mean {' or '.join(close)}?" if close else advice)
            + " [MBD-E18]"
        )


def refuse_nameless(owner: Any, values: dict[str, Any]) -> None:
    """Refuse to send functions that have no name in a module."""
    for name, value in values.items():
        for function in nameless(value):
            raise ModelError(
                f"{owner}: {name} is {name_of_function(function)}, a function that has no name in a module, by which "
                f"another process could find it; {REMEDY}"
            )


def _as_given(value: Any, owner: Any, name: str) -> Any:
    return value


def _ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == PACKAGE


def _inside(element: Any, frame: Any) -> bool:
    """Whether a method of the element itself, which is of a user's class, is at work."""
    if _ours(type(element)):
        return False
    for _ in range(3):  # comprehensions and small helpers of the method
        if frame is None:
            return False
        if frame.f_locals.get("self") is element and frame.f_globals.get("__name__", "").partition(".")[0] != PACKAGE:
            return True
        frame = frame.f_back
    return False


def _class_attribute(cls: type, name: str) -> Any:
    """What a class has under a name: the thing itself, whatever it would show when it is asked for; None if nothing."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _class_attributes(cls: type) -> dict[str, Any]:
    return {key: x for base in reversed(cls.__mro__) for key, x in vars(base).items()}


def constructor_arguments(cls: type) -> set[str]:
    """Parameters of the constructor, and of those to which it passes others on."""
    found: set[str] = set()
    for base in cls.__mro__[:-1]:
        if "__init__" in vars(base):
            parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
            found |= {p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
            if not any(p.kind is p.VAR_KEYWORD for p in parameters):
                break
    return found


def changeable(cls: type) -> list[str]:
    """Names of the declared attributes of a class that can be changed, and of its properties with a setter."""
    return [
        key
        for key, x in _class_attributes(cls).items()
        if (isinstance(x, Attribute) and x.convert is not None) or getattr(x, "fset", None) is not None
    ]


# --- common converters ------------------------------------------------------------------------------------------------


def positive(value: Any, owner: object, argument: str) -> float:
    """A positive number."""
    if type(value) is float and 0.0 < value < math.inf:  # the usual case at once
        return value
    return check_number(value, owner, argument, positive=True)


def not_negative(value: Any, owner: object, argument: str) -> float:
    """A number that is not negative."""
    if type(value) is float and 0.0 <= value < math.inf:
        return value + 0.0
    return check_number(value, owner, argument, nonnegative=True)


def flag(value: Any, owner: object, argument: str) -> bool:
    """True or False."""
    if value is True or value is False or isinstance(value, np.bool_):
        return bool(value)
    raise bad_value(owner, argument, value, "True or False")
