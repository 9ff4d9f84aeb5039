"""Functions that are compiled on their own and called through their address.

numba links and optimises all callees again into every caller, so that a deep tree of kernels compiles for minutes. The
large parts of an evaluation (residual, matrix, factorisation, ...) are therefore *entries*: C functions of one pointer
to their arguments, compiled once, when a model first needs them. A caller compiles nothing but the call. One definition
serves all::

    @entry(Tables, Work, vector, vector, integer)
    def move(s, w, q, v, level):
        '''Frames, their velocities, or biases.'''

Kernels and people call ``move(s, w, q, v, 1)``. In compiled code the call goes through a table of addresses, which the
first record that has a field ``entries`` holds; without compilation it is the function itself. The place of an entry in
the table follows from its name, so that code on disk serves every process.

``connect`` finds by itself which entries a function reaches, and makes their addresses known; those for elements that a
record does not have (``when``) are left out and never compiled for it.
"""

from __future__ import annotations

import functools
import hashlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .kernel import JIT, Kernel, deferred
from .kinds import Kind, integers
from .record import Record
from .settings import PUBLIC

SLOTS = 1 << 14
TABLE = np.zeros(SLOTS if JIT else 1, dtype=integers.dtype)
"""Addresses of all entries of this process: the field ``entries`` of records."""

_registered: dict[int, Entry] = {}
_call: Any = None  # from ``native``, which only runs need


class Entry:
    """A function with its kinds of arguments, compiled on its own."""

    def __init__(self, function: Callable, kinds: tuple[Any, ...], when: Callable[[Any], bool] | None) -> None:
        self.py_func, self.kinds, self.when = function, kinds, when
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
        if len(self.parameters) != len(kinds):
            raise TypeError(f"{self.name}: {len(kinds)} kinds for {len(self.parameters)} arguments")
        self.slot = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8], "little") % SLOTS
        other = _registered.setdefault(self.slot, self)
        if other is not self and other.name != self.name:
            raise ImportError(f"{self.name} and {other.name} share a place in the table of entries; rename one")
        _registered[self.slot] = self
        self._caller: Any = None
        self.compiled: Any = None  # what must live as long as the address is used

    @property
    def name(self) -> str:
        """Name by which the place in the table is known."""
        return f"{self.py_func.__module__}.{self.py_func.__qualname__}"

    def __repr__(self) -> str:
        return f"<entry {self.name}>"

    @functools.cached_property
    def address(self) -> int:
        """Address of the machine code, compiled or read from disk when first asked for."""
        if PUBLIC:
            from .public import entry_code
        else:
            from .native import entry_code

        TABLE[self.slot] = address = entry_code(self)
        return address

    @functools.cached_property
    def declared_arguments(self) -> list[Any]:
        """Its arguments as calls from Python look at them."""
        from .arguments import declared_arguments

        return declared_arguments(self)

    @functools.cached_property
    def reaches(self) -> tuple[Entry, ...]:
        """Entries that this one calls, directly or through kernels."""
        return tuple(one for one in _entries_below(self.py_func) if one is not self)

    @property
    def dispatcher(self) -> Any:
        """What the compiler knows a call by."""
        if self._caller is None:
            from .callers import make_caller

            self._caller = make_caller(self)
        return self._caller

    def __call__(self, *args: Any) -> Any:
        global _call
        if _call is None:
            from .native import call_entry

            _call = call_entry
        return _call(self, args)


def entry(*kinds: Any, when: Callable[[Any], bool] | None = None) -> Any:
    """Compile a function on its own; see the text of the module.

    ``kinds`` are those of its arguments: classes of records, or kinds of ``kinds``; ``when`` tells of the first record
    whether it has what the function is for.
    """

    def decorate(function: Callable) -> Any:
        return Entry(function, kinds, when) if JIT else function

    return decorate


def connect(record: Record, *functions: Any) -> None:
    """Make known the addresses of all entries that entries or kernels reach, as far as the record needs them."""
    if not JIT:
        return
    known = record.connected
    todo = [e for f in functions if f not in known for e in ((f,) if isinstance(f, Entry) else _entries_of(f))]
    if not todo:
        return
    seen: set[Entry] = set()
    while todo:
        one = todo.pop()
        if one in known or one in seen:
            continue
        seen.add(one)
        if one.when is None or one.when(record):
            assert one.address
            todo += one.reaches
    known.update(seen)  # not before: other threads run models of the same structure, which share it


def connect_arguments(kernel: Kernel, args: tuple) -> None:
    """``connect`` all records among the arguments of a kernel that Python calls."""
    for a in args:
        for record in a if type(a) is tuple else (a,):
            if isinstance(record, Record) and kernel not in record.connected:
                if "entries" in record.fields:
                    connect(record, kernel)
                record.connected.add(kernel)


@functools.cache
def _entries_of(kernel: Kernel) -> tuple[Entry, ...]:
    return tuple(_entries_below(kernel.py_func))


def _entries_below(function: Callable, seen: set[Any] | None = None) -> Iterator[Entry]:
    """Entries that a function calls, directly or through kernels."""
    seen = set() if seen is None else seen
    for value in _globals_of(function):
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Entry):
            yield value
        elif isinstance(value, Kernel):
            yield from _entries_below(value.py_func, seen)


def _globals_of(function: Callable) -> Iterator[Any]:
    """Values of the global names that a function uses, and of attributes of modules among them.

    Attributes of other things count as well if they are called like a global: looking at every instruction would take
    longer than to load all code.
    """
    names, known = function.__code__.co_names, function.__globals__
    for name in names:
        value = known.get(name)
        if isinstance(value, types.ModuleType):
            yield from (getattr(value, attribute, None) for attribute in names)
        yield value


def through(*kinds: Any) -> Any:
    """For kernels: a function (address, ...) that calls the entry at an address of a table of ``addresses``.

    Records may be given as addresses of such a table themselves (``address``), where the caller need not know them.
    """
    if not JIT:
        return lambda function, *args: function(*args)

    def make() -> Any:
        from .callers import make_caller_through

        return make_caller_through(kinds)

    return deferred(make)


class Address(Kind):
    """Kind of an argument that stands for any record: an element of a table of ``addresses``."""


address: Any = Address(np.dtype(np.int64), 0)
