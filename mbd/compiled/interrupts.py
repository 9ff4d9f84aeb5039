"""Ctrl-C while compiled code runs.

Python raises KeyboardInterrupt wherever its own code happens to be. If that is a user function that compiled code
called, the exception cannot pass through the compiled code and is lost. While ``Interrupts`` is active, an interrupt
inside such a function is only noted, and raised between two calls. During the steps of a run (``defer``) all interrupts
are noted, so that a call that has made steps always gets to record them. Other threads, and programs that handle SIGINT
on their own, are left alone.
"""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any

try:  # what ``signal`` wraps, in a tenth of the time: numbers in place of an enumeration
    import _signal as quick  # type: ignore[import-not-found]
except ImportError:
    quick = signal

SIGINT = int(signal.SIGINT)

CALLED_BY_COMPILED_CODE: set[CodeType] = set()
"""Code of the functions through which compiled code calls Python (``callbacks`` adds them)."""

_active: list[Interrupts] = []  # nested runs: the outermost one handles the signal


class Interrupts:
    """Context in which an interrupt is noted where it would be lost."""

    def __init__(self) -> None:
        self.defer = False
        self.noted = False
        self._before: Any = None

    def check(self) -> None:
        """Raise an interrupt that was noted."""
        if self.noted:
            self.noted = False
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        innermost = _active[-1]
        inside = frame
        while not innermost.defer and inside is not None and inside.f_code not in CALLED_BY_COMPILED_CODE:
            inside = inside.f_back
        if inside is None and not innermost.defer:
            raise KeyboardInterrupt
        for each in _active:  # a run inside a step of another run stops both
            each.noted = True

    def __enter__(self) -> Interrupts:
        main = threading.current_thread() is threading.main_thread()
        if main and quick.getsignal(SIGINT) is signal.default_int_handler:
            _active[:] = [self]  # what an interrupt at the end of an earlier run may have left there goes
            self._before = quick.signal(SIGINT, self._handle)
        elif main and _active:
            _active.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        defer, self.defer = self.defer, True  # one that comes now is noted, as long as this handles them
        try:
            if self._before is not None:
                quick.signal(SIGINT, self._before)
        finally:
            if self in _active:
                _active.remove(self)
        if kind is None and not defer:
            self.check()  # it came in the last call


def interruptible(function: Callable[..., Any]) -> Any:
    """Decorator: Ctrl-C stops a function even if it arrives while compiled code calls Python."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with Interrupts():
            return function(*args, **options)

    return call
