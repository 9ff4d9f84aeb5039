"""Short remarks to people who watch a run; where many runs are made, they are collected with each of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


def note(text: str) -> None:
    """Print a remark, or keep it where somebody collects them."""
    collected = _collected.get()
    if collected is None:
        print(f"mbd: {text}", file=sys.stderr)
    else:
        collected.append(text)


@contextmanager
def collected_notes() -> Iterator[list[str]]:
    """Remarks of this thread are put on a list."""
    found: list[str] = []
    token = _collected.set(found)
    try:
        yield found
    finally:
        _collected.reset(token)
