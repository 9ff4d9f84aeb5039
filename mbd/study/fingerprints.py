"""What a study does, as texts that can be compared: code of its functions, and the values to which they refer.

Functions of the user are followed through all functions, values and objects that they mention. What belongs to Python
or to an installed package is told by its name. Texts of one version of Python are the same in every process, so that
they can be kept with results, and compared with what a function does where it arrives.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import sys
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ..compiled.functions.captured import (
    NUMBERS,
    Unknown,
    code_text,
    module_of,
    name_of,
    names_in,
    root_value,
    roots_of,
    unwrapped,
)  # fmt: skip

ITEMS, SHORT = 5000, 60  # that are followed; letters of a text that is kept as it is

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


def is_installed(thing: Any) -> bool:
    """Whether a module, a class or a function belongs to Python, to this package or to another installed one."""
    module = thing.__name__ if isinstance(thing, ModuleType) else module_of(thing)
    if isinstance(thing, FunctionType) and module in (None, "builtins"):
        return False  # code that was given to exec
    package = (module or "builtins").partition(".")[0]
    if package in sys.stdlib_module_names or package in ("mbd", "builtins"):
        return package not in ("__main__",)
    file = str(getattr(sys.modules.get(package), "__file__", None) or "")
    return "site-packages" in file or "dist-packages" in file


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
        elif isinstance(value, ModuleType):
            if not is_installed(value):
                for name in sorted(names):
                    if hasattr(value, name):
                        self.tell(getattr(value, name), f"{path}.{name}", names - {name})
        elif id(value) not in self.seen and len(self.seen) < ITEMS:
            self.seen[id(value)] = value
            if hasattr(value, "__wrapped__") and not isinstance(value, FunctionType):  # functools.cache
                self.tell(value.__wrapped__, path, names)
            elif isinstance(value, FunctionType | functools.partial | MethodType) or hasattr(value, "py_func"):
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
        """A class: all its functions, if it is the user's."""
        self.found[path] = f"class {name_of(value)}"
        if not is_installed(value):
            for name, item in vars(value).items():
                inner = getattr(item, "fget", getattr(item, "__func__", item))  # properties, class methods
                if isinstance(inner, FunctionType):
                    self.tell(inner, f"{path}.{name}", frozenset())

    def object(self, value: Any, path: str, names: frozenset[str]) -> None:
        """Anything else: fields of a dataclass, attributes of what the user wrote."""
        kind = type(value)
        self.found[path] = (
            name_of(value) if hasattr(value, "__qualname__") else f"{module_of(kind)}.{kind.__qualname__}"
        )
        own = not is_installed(kind)
        fields = [item.name for item in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        for name in fields or (sorted(getattr(value, "__dict__", {})) if own else []):
            self.tell(getattr(value, name, None), f"{path}.{name}", names)
        if own:
            self.tell(kind, f"{path} ({kind.__qualname__})", names)

    def function(self, function: Any, path: str) -> None:
        """The code of a function, and what it refers to; of an installed one its name and what is bound to it."""
        try:
            inner, bound = unwrapped(function)
        except Unknown:
            self.found[path] = name_of(function)
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
            named = isinstance(value, ModuleType | type) or hasattr(value, "__qualname__")
            if not named or not is_installed(value):
                self.tell(value, f"{path}: {name}", names)


def _digest(words: bytes) -> str:
    return hashlib.blake2b(words, digest_size=8).hexdigest()
