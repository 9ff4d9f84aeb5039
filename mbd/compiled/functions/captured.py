"""What a user function refers to besides its arguments: globals, closure cells, defaults, attributes of bound objects.

A captured value has a *path* from the function to it: ``("g", "k")`` is the global k, ``("c", "k")`` a closure cell,
``("d", "k")`` an argument that the caller does not give (a default, or bound by a method or a partial), followed by
attributes ``(".", "k")`` and items ``("[", key)``; ``("f", "")`` goes on inside a function. Nothing here needs the
compiler.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

Path = tuple[tuple[str, Any], ...]

DEPTH = 12  # of what is followed from a function
ITEMS = 10_000  # of the lists and dictionaries that are looked through
NUMBERS = (bool, int, float, complex, np.number, np.bool_)
KNOWN_PACKAGES = frozenset(("numpy", "math", "cmath", "builtins", "operator", "numba"))


class Unknown(Exception):
    """What a function refers to cannot be told."""


def plain(value: Any) -> Any:
    """What a captured value is in a calculation: an object may say which number stands in its place."""
    return value.captured_number if hasattr(type(value), "captured_number") else value


# --- from a callable to a Python function ---------------------------------------------------------------------------


def unwrapped(function: Any) -> tuple[FunctionType, dict[str, Any]]:
    """The Python function behind partials, bound methods and callable objects, with the arguments that they bind."""
    function = getattr(function, "py_func", function)
    if isinstance(function, FunctionType):
        return function, {}
    if isinstance(function, functools.partial):
        inner, bound = unwrapped(function.func)
        free = [name for name in argument_names(inner) if name not in bound]
        return inner, {**bound, **dict(zip(free, function.args, strict=False)), **function.keywords}
    if isinstance(function, MethodType):
        inner, bound = unwrapped(function.__func__)
        names = argument_names(inner)
        if names:
            return inner, {names[0]: function.__self__, **bound}
    call = getattr(type(function), "__call__", None)  # noqa: B004  (its definition is what is looked at)
    if isinstance(call, FunctionType) and call.__code__.co_argcount:
        return call, {call.__code__.co_varnames[0]: function}
    raise Unknown(f"{function!r} is not a Python function")


def argument_names(function: FunctionType) -> tuple[str, ...]:
    """Names of the arguments, those given by keyword only at the end."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def root_value(function: FunctionType, bound: dict[str, Any], root: tuple[str, Any]) -> Any:
    """The value of a global, a closure cell or an argument that is bound or has a default."""
    kind, name = root
    try:
        if kind == "g":
            return function.__globals__[name] if name in function.__globals__ else getattr(builtins, name)
        if kind == "c":
            assert function.__closure__ is not None
            return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents
        if name in bound:
            return bound[name]
        keywords = function.__kwdefaults__ or {}
        if name in keywords:
            return keywords[name]
        defaults, count = function.__defaults__ or (), function.__code__.co_argcount
        place = argument_names(function).index(name) - (count - len(defaults))
        if 0 <= place < len(defaults):
            return defaults[place]
    except (AttributeError, ValueError):
        pass
    raise Unknown(f"{name} has no value")


def value_at(function: Any, path: Path) -> Any:
    """The present value at the end of a path."""
    return plain(object_at(function, path))


def object_at(function: Any, path: Path) -> Any:
    """What is at the end of a path, be it a number or an object with one."""
    if not path:
        return function
    inner, bound = unwrapped(function)
    value = root_value(inner, bound, path[0])
    for i, (step, key) in enumerate(path[1:], 1):
        if step == ".":
            value = getattr(value, key)
        elif step == "[":
            value = value[key]
        else:
            return object_at(value, path[i + 1 :])
    return value


def path_text(path: Path) -> str:
    """A path as people write it."""
    form = {".": ".{}", "[": "[{!r}]", "f": "()."}
    text = "".join(form.get(step, "{}").format(key) for step, key in path)
    return text.replace("().", " -> ")


@functools.lru_cache(4096)
def globals_of(code: CodeType) -> tuple[str, ...]:
    """Names of globals that a function and the functions inside it load."""
    names = {step.argval: None for step in dis.get_instructions(code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            names |= dict.fromkeys(globals_of(inner))
    return tuple(names)


@functools.lru_cache(4096)
def names_in(code: CodeType) -> frozenset[str]:
    """All names of globals and attributes in a function and the functions inside it."""
    inner = (names_in(c) for c in code.co_consts if isinstance(c, CodeType))
    return frozenset(code.co_names).union(*inner)


@functools.lru_cache(4096)
def code_text(code: CodeType) -> str:
    """What a code object does, without its line numbers; constants with their types (0, 0.0 and False differ)."""
    constants = [code_text(c) if isinstance(c, CodeType) else _constant_text(c) for c in code.co_consts]
    parts = [code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount]
    parts += [code.co_kwonlyargcount, code.co_flags, getattr(code, "co_exceptiontable", b"")]
    return repr((parts, constants))


def _constant_text(value: Any) -> str:
    """A constant of a code object; the order of a set (``x in {"a", "b"}``) is another one in every process."""
    text = f"{{{', '.join(sorted(map(repr, value)))}}}" if isinstance(value, frozenset) else repr(value)
    return f"{type(value).__name__} {text}"


def code_digest(function: Any) -> str:
    """What identifies the code of a callable, and the arguments that it binds."""
    inner, bound = unwrapped(function)
    return hashlib.sha256(f"{code_text(inner.__code__)} {sorted(bound)}".encode()).hexdigest()[:16]


def roots_of(function: FunctionType, bound: dict[str, Any], given: int = 0) -> Iterator[tuple[str, Any]]:
    """Where a function takes values from, if the caller gives so many arguments by position."""
    for name in globals_of(function.__code__):
        yield "g", name
    for name in function.__code__.co_freevars:
        yield "c", name
    free = 0
    for name in argument_names(function):
        if name in bound:
            yield "d", name
        else:
            free += 1
            if free > given:
                yield "d", name


def is_known(value: Any) -> bool:
    """Whether something is part of Python or numpy, and so the same in every run."""
    if isinstance(value, ModuleType):
        return value.__name__.split(".")[0] in KNOWN_PACKAGES and not _is_random(value)
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, ModuleType | type):
        return False  # a method of an object, such as seen.append
    package = (getattr(value, "__module__", None) or "").split(".")[0]
    if isinstance(value, np.ufunc):
        return "(" not in value.__name__  # "f (vectorized)" is a user's function
    plain = isinstance(value, FunctionType | BuiltinFunctionType | type | type(np.sum))  # without a state of its own
    return plain and package in KNOWN_PACKAGES and not _is_random(value)


def _is_random(value: Any) -> bool:
    """Whether something belongs to numpy.random, which has a state of its own."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    return (name or "").startswith("numpy.random")


def name_of(value: Any) -> str:
    """What identifies a module, a type, a function of numpy, a text and the like."""
    if isinstance(value, ModuleType):
        return value.__name__
    if callable(value):
        return f"{module_of(value)}.{getattr(value, '__qualname__', getattr(value, '__name__', value))}"
    return repr(value)


def module_of(value: Any) -> str:
    """The module of a class or function; that of the main script has another name in processes that it starts."""
    name = getattr(value, "__module__", "")
    return "__main__" if name == "__mp_main__" else name


def is_installed(thing: Any) -> bool:
    """Whether a module, a class or a function belongs to Python, to this package or to another installed one."""
    module = thing.__name__ if isinstance(thing, ModuleType) else module_of(thing)
    if isinstance(thing, FunctionType) and module in (None, "builtins"):
        return False  # code that was given to exec
    return is_installed_package((module or "builtins").partition(".")[0])


def is_installed_package(package: str) -> bool:
    """Whether a package of this name belongs to Python, is this one, or another installed one."""
    if package in sys.stdlib_module_names or package in ("mbd", "builtins"):
        return package not in ("__main__",)
    module = sys.modules.get(package)
    return among_packages(getattr(module, "__file__", None), getattr(module, "__path__", None))


def among_packages(file: Any, folders: Any) -> bool:
    """Whether a module is where packages are installed; one that is spread over folders has no file."""
    places = [str(file or ""), *map(str, folders or ())]
    return any("site-packages" in place or "dist-packages" in place for place in places)


# --- everything a function depends on -------------------------------------------------------------------------------


def captured_values(function: Any) -> list[tuple[str, Any]] | None:
    """(path, value) of all that a function depends on besides its arguments, or None if that cannot be told.

    Values are numbers, texts, None and arrays (the objects themselves, not copies); what is called is listed by its
    name or, for Python functions, by its code. Equal lists mean that the function does the same. Attributes count where
    the code mentions their names; dictionaries and lists count as a whole.
    """
    found: list[tuple[str, Any]] = []
    if is_known(function):
        return [("()", name_of(function))]
    try:
        _collect_function(function, "", found, [])
    except Exception:  # also what properties of the user's objects raise
        return None
    return found


def _collect_function(function: Any, path: str, found: list[tuple[str, Any]], inside: list[Any]) -> None:
    inner, bound = unwrapped(function)
    if any(each is inner for each, _ in inside) and (inner, sorted(bound)) in inside:
        found.append((f"{path}()", "calls itself"))
        return
    if len(inside) > DEPTH:
        raise Unknown(path)
    found.append((f"{path}()", code_text(inner.__code__)))
    inside = [*inside, (inner, sorted(bound))]
    names = names_in(inner.__code__)
    for root in roots_of(inner, bound):
        try:
            value = root_value(inner, bound, root)
        except Unknown:
            continue  # an argument that the caller gives, or a name that is missing, which the call will say
        _collect(value, f"{path}.{root[1]}" if path else str(root[1]), names, found, inside, [])


def _collect(
    value: Any, path: str, names: frozenset[str], found: list[tuple[str, Any]], inside: list[Any], above: list[Any]
) -> None:
    """Add a value, or what can be reached from it by the names in the code."""
    value = plain(value)
    if value is None or isinstance(value, (*NUMBERS, str, bytes, type(Ellipsis), slice, range, np.dtype)):
        found.append((path, value))
    elif isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise Unknown(path)
        found.append((path, value))
    elif is_known(value):
        if value is np and "random" in names:
            raise Unknown(f"{path}.random")  # it has a state of its own
        found.append((path, name_of(value)))
    elif any(each is value for each in above) or len(above) > DEPTH or len(found) > ITEMS:
        raise Unknown(path)
    elif isinstance(value, dict | list | tuple | set | frozenset):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        if len(value) > ITEMS or isinstance(value, set | frozenset):
            raise Unknown(path)
        found.append((path, f"{type(value).__name__} of {len(value)}"))
        for key, item in items:
            _collect(item, f"{path}[{key!r}]", names, found, inside, [*above, value])
    elif isinstance(value, FunctionType | functools.partial | MethodType) or hasattr(value, "py_func"):
        _collect_function(value, path, found, inside)
        for name in sorted(names & vars(value).keys()) if isinstance(value, FunctionType) else ():
            _collect(vars(value)[name], f"{path}.{name}", names, found, inside, [*above, value])
    elif isinstance(value, ModuleType):
        if _is_random(value):
            raise Unknown(path)
        found.append((path, name_of(value)))
        _collect_attributes(value, path, names, found, inside, [*above, value])
    elif isinstance(value, type):
        found.append((path, name_of(value)))
        _collect_attributes(value, path, names, found, inside, [*above, value])
        if "__init__" in vars(value) or "__new__" in vars(value):
            raise Unknown(path)  # making an object may run anything
    else:
        package = type(value).__module__.split(".")[0]
        if isinstance(value, BuiltinFunctionType) or package in KNOWN_PACKAGES or _is_of_the_library(package):
            raise Unknown(path)  # it may have a state of its own: a method of a list, an iterator, a generator
        found.append((path, f"{module_of(type(value))}.{type(value).__qualname__}"))
        _collect_attributes(value, path, names, found, inside, [*above, value])
        if isinstance(getattr(type(value), "__call__", None), FunctionType):  # noqa: B004
            _collect_function(value, path, found, inside)
        elif callable(value):
            raise Unknown(path)


def _is_of_the_library(package: str) -> bool:
    return package in sys.stdlib_module_names and package not in ("__main__", "types")  # SimpleNamespace is data


def _collect_attributes(
    value: Any, path: str, names: frozenset[str], found: list[tuple[str, Any]], inside: list[Any], above: list[Any]
) -> None:
    for name in sorted(names):
        if hasattr(value, name):
            _collect(getattr(value, name), f"{path}.{name}", names, found, inside, above)
