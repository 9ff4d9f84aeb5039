"""Runs that take too long: ended from inside, where Python can be reached, or from outside with their process."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import MutableSequence
from types import TracebackType

from ..compiled.loading_time import seconds_of_loading

GRACE = 2.0  # s: how much longer than its limit a run may take before its process is ended
LONGEST = 1e7  # s: what every system can wait
SHORTEST = 0.05  # s: before it is looked again
RUN, BEGUN = range(2)


class TimeOver(BaseException):
    """Raised inside a run that takes too long; not an Exception, so that nobody takes it for an error of his own."""


class Watch:
    """Context that ends its block after some seconds, in any thread; compiled code returns to Python often enough.

    The time in which code is compiled (once per installation) or loaded is not counted: a run that is ended in it would
    leave nothing behind, and so would all others after it. A marker is told.

    The exception may arrive when the block has just ended: then it is called off, or the run counts as too long.
    """

    def __init__(self, seconds: float | None, marker: Marker | None = None) -> None:
        self.seconds, self.over, self.marker = seconds, False, marker
        self._lock, self._done = threading.Lock(), False
        self._thread = threading.get_ident()
        self._timer: threading.Timer | None = None

    def ended(self, error: BaseException) -> bool:
        """Whether this error is the end that was set."""
        return isinstance(error, TimeOver) and self.over

    def _end(self) -> None:
        with self._lock:
            if self._done or self.seconds is None:
                return
            left = self.seconds + self._loading() - (time.monotonic() - self._begun)
            if left <= 0.0:
                self.over = True
                _raise_in(self._thread, TimeOver)
                return
            if self.marker is not None:
                self.marker.postpone(self.seconds - left)
            self._wait(max(left, SHORTEST))

    def _loading(self) -> float:
        return seconds_of_loading(self._thread) - self._before

    def _wait(self, seconds: float) -> None:
        self._timer = threading.Timer(min(seconds, LONGEST), self._end)
        self._timer.daemon = True
        self._timer.start()

    def __enter__(self) -> Watch:
        if self.seconds is not None:
            self._begun, self._before = time.monotonic(), seconds_of_loading(self._thread)
            self._wait(self.seconds)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is None:
            return
        with self._lock:
            self._done = True
        self._timer.cancel()
        if self.over and not isinstance(error, TimeOver):  # on its way: it arrives here, or was caught by somebody
            for _ in range(100):
                pass
            _raise_in(self._thread, None)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an exception in another thread as soon as it executes Python code; None calls it off."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error) if error else None)


class Marker:
    """Where a process is: the number of the run and the time of its begin, in memory that another process can read."""

    def __init__(self, memory: MutableSequence[float]) -> None:
        self.memory = memory

    def begin(self, run: int) -> None:
        """A run begins."""
        self.memory[BEGUN], self.memory[RUN] = time.monotonic(), float(run)

    def postpone(self, seconds: float) -> None:
        """The run has been going on for so many seconds, as far as they count."""
        self.memory[BEGUN] = time.monotonic() - seconds

    def rest(self) -> None:
        """No run is being made."""
        self.memory[RUN] = -1.0

    @property
    def run(self) -> int:
        """The run that is being made, or -1."""
        return int(self.memory[RUN])

    @property
    def seconds(self) -> float:
        """How long it has been going on."""
        return time.monotonic() - self.memory[BEGUN]
