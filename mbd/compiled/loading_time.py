"""How long threads have compiled and loaded code: time that does not count where runs have a limit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_SPENT: dict[int, float] = {}  # seconds by thread
_SINCE: dict[int, float] = {}  # when threads began that do so now


def seconds_of_loading(thread: int) -> float:
    """How long a thread has compiled or loaded code by now."""
    since = _SINCE.get(thread)
    return _SPENT.get(thread, 0.0) + (0.0 if since is None else time.monotonic() - since)


@contextmanager
def without_limit() -> Iterator[None]:
    """The time in this context does not count."""
    thread = threading.get_ident()
    if thread in _SINCE:  # what is compiled on the way
        yield
        return
    _SINCE[thread] = time.monotonic()
    try:
        yield
    finally:
        _SPENT[thread] = seconds_of_loading(thread)
        del _SINCE[thread]
