"""What a study does, as texts that can be compared: code of its functions, and the values to which they refer.

Functions of the user are followed through all functions, values, classes and objects that they mention, also through
modules that they import themselves. What belongs to Python or to an installed package is told by its name; objects of
packages for numbers and tables, and models, by what they hold as well. Texts of one version of Python are the same in
every process, so that they can be kept with results, and compared with what a function does where it arrives.
"""

from __future__ import annotations

import copyreg
import dataclasses
import dis
import enum
import functools
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)  # fmt: skip
from typing import Any

import numpy as np

from ..compiled.functions.captured import (
    NUMBERS,
    Unknown,
    among_packages,
    code_text,
    is_installed,
    is_installed_package,
    module_of,
    name_of,
    names_in,
    root_value,
    roots_of,
    unwrapped,
)  # fmt: skip

ITEMS, SHORT = 5000, 60  # that are followed; letters of a text that is kept as it is
DATA = frozenset(
    ("numpy", "collections", "types", "fractions", "decimal", "datetime", "pathlib", "operator", "re", "string",
     "random", "array", "uuid")
)  # fmt: skip
"""Packages whose objects are what they were made of. Others may hold anything: caches, clocks, memory never set."""
OF_SCIPY = (
    "x", "y", "c", "t", "k", "grid", "values", "data", "tck", "_eval_args", "extrapolate", "fill_value", "method",
    "axis", "num", "den", "A", "B", "C", "D", "dt", "args", "kwds", "times", "rotations", "rotvecs", "_kind", "ext",
    "d", "points", "kernel", "epsilon", "degree", "smoothing", "neighbors", "xi", "yi", "zeros", "poles", "gain",
    "dataset", "weights", "factor", "_hpdf", "_hbins", "_original_parameters", "mean", "cov", "lb", "ub", "ts",
    "interpolants",
)  # fmt: skip
"""Attributes by which interpolations, linear systems, distributions and trees of scipy are known."""

FUNCTIONS = (FunctionType, functools.partial, MethodType, BuiltinFunctionType)

Told = dict[str, str]


def told(**things: Any) -> Told:
    """Texts about functions and values by the names under which they are known, and about all that they refer to."""
    teller = _Teller()
    for name, thing in things.items():
        teller.tell(thing, name, frozenset())
    return {"python": ".".join(map(str, sys.version_info[:2])), **teller.found}


def differences(here: Told, there: Told, place_here: str = "here", place_there: str = "in the store") -> list[str]:
    """In what two descriptions differ, as sentences; the code behind a changed value is not told as well."""
    found = []
    for name in dict.fromkeys([*there, *here]):
        ours, theirs = here.get(name, "missing"), there.get(name, "missing")
        if ours != theirs:
            found.append(f"{name}: {theirs} {place_there}, {ours} {place_here}")
    return found


@functools.lru_cache(4096)
def imports_in(code: CodeType) -> tuple[tuple[str, int], ...]:
    """Modules that a function and the functions inside it import, with the levels of relative imports."""
    found: dict[tuple[str, int], None] = {}
    level: Any = 0
    before: list[Any] = []
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":  # behind its level and the names that it takes
            level = before[-2] if len(before) > 1 else 0
            found[str(step.argval), level if isinstance(level, int) else 0] = None
        if step.opname != "EXTENDED_ARG":
            before.append(step.argval)
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= dict.fromkeys(imports_in(inner))
    return tuple(found)


def _imported(function: FunctionType) -> Iterator[ModuleType]:
    """Modules of the user that a function imports when it is called; they are imported now."""
    for name, level in imports_in(function.__code__):
        try:
            package = str(function.__globals__.get("__package__") or "")
            whole = importlib.util.resolve_name("." * level + name, package)
            first = whole.partition(".")[0]
            if first not in sys.modules and not is_installed_package(first):
                spec = importlib.util.find_spec(first)
                if spec is None or among_packages(spec.origin, spec.submodule_search_locations):
                    continue
            if not is_installed_package(first):
                yield importlib.import_module(whole)
        except (Exception, SystemExit):  # what cannot be imported here says so where it is needed
            continue


class _Teller:
    """Goes through functions and values; functions, classes and objects are told where they are met first."""

    def __init__(self) -> None:
        self.found: Told = {}
        self.seen: dict[int, Any] = {}

    def tell(self, value: Any, path: str, names: frozenset[str]) -> None:
        """Add a value, and what can be reached from it by the names in the code that mentions it."""
        if value is None or isinstance(value, (*NUMBERS, str, bytes, range, slice, type(Ellipsis), np.dtype)):
            text = repr(value.item() if isinstance(value, np.generic) else value)
            self.found[path] = text if len(text) <= SHORT else f"{text[:SHORT]}... ({_digest(text.encode())})"
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            words = np.ascontiguousarray(value).tobytes()
            self.found[path] = f"array {value.dtype.str} {value.shape} ({_digest(words)})"
        elif isinstance(value, bytearray | memoryview):
            self.found[path] = f"{type(value).__name__} ({_digest(bytes(value))})"
        elif isinstance(value, ModuleType):
            if not is_installed(value):
                for name in sorted(names):
                    if hasattr(value, name):
                        self.tell(getattr(value, name), f"{path}.{name}", names - {name})
        elif id(value) not in self.seen and len(self.seen) < ITEMS:
            self.seen[id(value)] = value
            if hasattr(value, "__wrapped__") and not isinstance(value, FunctionType | type):  # functools.cache
                self.tell(value.__wrapped__, path, names)
            elif isinstance(value, FUNCTIONS) or hasattr(value, "py_func"):
                self.function(value, path)
            elif isinstance(value, dict | list | tuple):
                self.found[path] = f"{type(value).__name__} of {len(value)}"
                for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                    self.tell(item, f"{path}[{key!r}]", names)
            elif isinstance(value, set | frozenset):
                self.found[path] = f"{type(value).__name__} ({_digest(' '.join(sorted(map(repr, value))).encode())})"
            elif isinstance(value, type):
                self.kind(value, path)
            else:
                self.object(value, path, names)

    def kind(self, value: type, path: str) -> None:
        """A class: its functions and values, if it is the user's, and those of the classes on which it rests."""
        self.found[path] = f"class {name_of(value)}"
        if is_installed(value):
            return
        if issubclass(value, enum.Enum):
            for member in value:
                self.tell(member.value, f"{path}.{member.name}", frozenset())
        for name, item in vars(value).items():
            inner = getattr(item, "fget", getattr(item, "__func__", getattr(item, "func", item)))  # properties ...
            if isinstance(inner, FunctionType):
                self.tell(inner, f"{path}.{name}", frozenset())
            elif _is_value(name, inner) and not issubclass(value, enum.Enum):
                self.tell(inner, f"{path}.{name}", frozenset())
        for base in value.__bases__:
            if not is_installed(base):
                self.tell(base, f"{path} ({base.__qualname__})", frozenset())

    def object(self, value: Any, path: str, names: frozenset[str]) -> None:
        """Anything else: fields of a dataclass, attributes of what the user wrote, what tables and models hold."""
        kind = type(value)
        self.found[path] = (
            name_of(value) if hasattr(value, "__qualname__") else f"{module_of(kind)}.{kind.__qualname__}"
        )
        own = not is_installed(kind)
        fields = [item.name for item in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        for name in fields or (_attributes(value) if own else []):
            self.tell(getattr(value, name, None), f"{path}.{name}", names)
        if own:
            self.tell(kind, f"{path} ({kind.__qualname__})", names)
        elif not fields:
            for name, item in _held(value):
                self.tell(item, f"{path}{name}", names)

    def function(self, function: Any, path: str) -> None:
        """The code of a function, and what it refers to; of an installed one its name and what is bound to it."""
        try:
            inner, bound = unwrapped(function)
        except Unknown:
            if isinstance(function, functools.partial):  # of something that is not written in Python
                self.found[path] = f"partial of {name_of(function.func)}"
                self.tell(list(function.args), f"{path}: arguments", frozenset())
                self.tell(dict(function.keywords), f"{path}: arguments by name", frozenset())
            else:
                self.found[path] = name_of(function)
                if _bound_to(function):
                    self.tell(function.__self__, f"{path} of", frozenset())
            return
        known = is_installed(inner)
        self.found[path] = name_of(inner) if known else f"code {_digest(code_text(inner.__code__).encode())}"
        names = names_in(inner.__code__)
        for kind, name in roots_of(inner, bound):
            if known and name not in bound:
                continue
            try:
                value = root_value(inner, bound, (kind, name))
            except Unknown:
                continue  # an argument that the caller gives
            named = isinstance(value, ModuleType | type) or (hasattr(value, "__qualname__") and not _bound_to(value))
            if not named or not is_installed(value):
                self.tell(value, f"{path}: {name}", names)
        for module in () if known else _imported(inner):
            self.tell(module, f"{path}: {module.__name__}", names)
        for name in () if known else sorted(names & vars(inner).keys()):
            self.tell(vars(inner)[name], f"{path}.{name}", names)
        registry = getattr(function, "registry", None)
        for kind, item in registry.items() if isinstance(registry, MappingProxyType) else ():  # of singledispatch
            self.tell(item, f"{path} ({name_of(kind)})", names)


def _bound_to(function: Any) -> bool:
    """Whether a function is a method of an object, which holds numbers of its own."""
    return not isinstance(getattr(function, "__self__", None), ModuleType | type | None)


def _is_value(name: str, item: Any) -> bool:
    """Whether an item of a class is a value that its author has written down."""
    made = isinstance(item, MemberDescriptorType | GetSetDescriptorType | property | type | ModuleType)
    return not made and not (name.startswith("__") and name.endswith("__")) and name != "_abc_impl"


def _attributes(value: Any) -> list[str]:
    """Names of the attributes of an object, those in slots among them; without what it has computed and remembers."""
    slots = [getattr(kind, "__slots__", ()) for kind in type(value).__mro__]
    named = {name for found in slots for name in ([found] if isinstance(found, str) else found)}
    every = {*getattr(value, "__dict__", {}), *(n for n in named if hasattr(value, n))} - {"__dict__"}
    return sorted(n for n in every if not isinstance(getattr(type(value), n, None), functools.cached_property))


def _held(value: Any) -> list[tuple[str, Any]]:
    """What an object of an installed package holds, as far as it is the same in every process."""
    package = module_of(type(value)).partition(".")[0]
    try:
        if package == "mbd":
            return _held_by_ours(value)
        if hasattr(value, "bit_generator"):  # numpy.random: what it gives next
            return [(".state", value.bit_generator.state)]
        if package == "pandas" and hasattr(value, "to_numpy"):
            from pandas.util import hash_pandas_object

            columns = list(getattr(value, "columns", ()))
            kinds = list(value.dtypes) if columns else [value.dtype]
            return [("", [*map(str, columns), *map(str, kinds), np.asarray(hash_pandas_object(value))])]
        if isinstance(value, np.ndarray):
            return [("", [value.shape, *value.ravel().tolist()])]
        if package == "scipy":
            if hasattr(value, "tocoo"):
                value = value.tocoo()
                return [("", [value.shape, value.row, value.col, value.data])]
            if hasattr(value, "as_quat"):
                return [("", value.as_quat())]
            return [(f".{name}", getattr(value, name)) for name in OF_SCIPY if hasattr(value, name)]
        if package not in DATA:
            return []
        if hasattr(value, "pyfunc"):  # numpy.vectorize, which remembers what it found out
            return [("", value.pyfunc)]
        reduce = copyreg.dispatch_table.get(type(value))
        known: Any = reduce(value) if reduce is not None else value.__reduce_ex__(4)
        _, *state = known
        return [("", [list(x) if hasattr(x, "__next__") else x for x in state])]
    except Exception:  # it does not show what it holds
        return []


def _held_by_ours(value: Any) -> list[tuple[str, Any]]:
    """What models, their elements and their numbers with names hold, and solutions."""
    from ..elements.attributes import Checked
    from ..elements.making import RECORD
    from ..elements.values import Parameter, Value
    from ..model import Model
    from ..results.solution import Solution
    from ..system.system import System
    from .model_builds import as_build

    if isinstance(value, Model):
        build = as_build(value)
        return [("", build.numbers), *((f".functions[{k}]", f) for k, f in enumerate(build.functions))]
    if isinstance(value, Solution):
        return [(".t", value.t), (".q", value.q), (".v", value.v)]
    if isinstance(value, System):
        return [(".model", value.model), (".values", dict(value.values))]
    if isinstance(value, Parameter):
        return [(".value", value.value)]
    if isinstance(value, Value):
        return [(".function", value.function), (".arguments", value.arguments), (".options", value.options)]
    if isinstance(value, Checked):
        return [(f".{name}", x) for name, x in sorted(vars(value).items()) if name != RECORD]
    return []


def _digest(words: bytes) -> str:
    return hashlib.blake2b(words, digest_size=8).hexdigest()
