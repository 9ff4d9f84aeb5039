"""What kernels link in place of entries: calls through an address."""

from __future__ import annotations

from typing import Any

from .entry import Entry
from .intrinsics import entry_call
from .kernel import OPTIONS
from .record import Record
from .settings import PUBLIC

if PUBLIC:
    from .public import new_dispatcher
else:
    from .compile import new_dispatcher


def make_caller(entry: Entry) -> Any:
    """What kernels link in place of an entry: the call through the table of addresses."""
    holder = next(
        name
        for name, kind in zip(entry.parameters, entry.kinds, strict=True)
        if isinstance(kind, type) and issubclass(kind, Record) and "entries" in kind.fields
    )
    return _caller(entry.name, entry.kinds, entry.parameters, f"{holder}.entries[{entry.slot}]", "")


def make_caller_through(kinds: tuple[Any, ...]) -> Any:
    """What kernels link in place of an entry whose address is the first argument of the call."""
    return _caller("an address", kinds, tuple(f"a{i}" for i in range(len(kinds))), "place", "place, ")


def _caller(name: str, kinds: tuple, parameters: tuple[str, ...], place: str, first: str) -> Any:
    listed = ", ".join(parameters)
    space = {"call_entry": entry_call(name, kinds)}
    exec(f"def caller({first}{listed}):\n    call_entry({place}, ({listed},))", space)
    return new_dispatcher(space["caller"], OPTIONS)
