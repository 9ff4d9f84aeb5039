"""Calls of compiled code whose arguments stay the same: checked, described and packed once.

A call from Python costs 5 to 15 us, most of it to find out what the arguments are and where they lie. Whoever calls
again and again with the same records and arrays (a stepper, a measurement in a control loop) binds them, and pays a
third of a microsecond. What the arrays and records contain may change between calls, in place; numbers stay as they
were given.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .entry import Entry
from .settings import JIT, PUBLIC


class Bound:
    """A function with its arguments, which live as long as it does."""

    def __init__(self, call: Callable[[], Any], arguments: tuple[Any, ...]) -> None:
        self.call, self.arguments = call, arguments

    def __call__(self) -> None:
        self.call()


def bound(function: Any, *arguments: Any) -> Bound:
    """An entry or a kernel without result, bound to its arguments; ``bound(...).call`` calls it fastest."""
    if not JIT or (PUBLIC and not isinstance(function, Entry)):
        return Bound(functools.partial(function, *arguments), arguments)
    from .native import packed_entry, packed_kernel

    code, words = (packed_entry if isinstance(function, Entry) else packed_kernel)(function, arguments)
    return Bound(functools.partial(code, words), arguments)
