"""Warnings of runs, kept with each of them, also where several threads run at once.

Filters of warnings belong to the whole process. They are changed when the first run begins and put back when the last
one ends; a warning goes to the run of its thread. What filters the user has set does not matter: a run gives the same
row in every process.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import RedundancyWarning
from ..io.notes import collected_notes

_lock = threading.Lock()
_active = 0
_filters: Any = None
_of_thread = threading.local()

REDUNDANT = (
    "RedundancyWarning: constraint equations are redundant, reactions are those of minimum norm; mbd.study.rerun says "
    "which joints are concerned"
)


class Collected:
    """Texts of the warnings and remarks of one run."""

    def __init__(self, notes: list[str]) -> None:
        self.warnings: list[str] = []
        self.notes = notes

    @property
    def texts(self) -> list[str]:
        """All of them, warnings first."""
        return [*self.warnings, *self.notes]

    def redundancy(self, solved: Any) -> None:
        """Note that a model is redundant, without the search for an explanation."""
        solutions = sys.modules.get("mbd.results.solution")
        if solutions is None or not isinstance(solved, solutions.Solution):
            return
        from ..system.tables import FLAG_REDUNDANT

        if solved.system.tables.flags[FLAG_REDUNDANT]:
            self.warnings.insert(0, REDUNDANT)


def _show(
    message: Any, category: type[Warning], filename: str, lineno: int, file: Any = None, line: Any = None
) -> None:
    collected = getattr(_of_thread, "collected", None)
    if collected is not None:
        collected.warnings.append(f"{category.__name__}: {message}")
    elif _filters is not None:  # of a thread that makes no run
        _filters.shown(message, category, filename, lineno, file, line)


class _Filters(warnings.catch_warnings):
    """Filters while runs are made: everything is collected, explanations of redundancy are not asked for."""

    def __enter__(self) -> Any:
        super().__enter__()
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", RedundancyWarning)
        self.shown, warnings.showwarning = warnings.showwarning, _show
        return self


@contextmanager
def collected_warnings() -> Iterator[Collected]:
    """Collect what is said in this thread."""
    global _active, _filters
    before = getattr(_of_thread, "collected", None)
    with collected_notes() as notes:
        _of_thread.collected = found = Collected(notes)
        with _lock:
            _active += 1
            if _active == 1:
                _filters = _Filters()
                _filters.__enter__()
        try:
            yield found
        finally:
            with _lock:
                _active -= 1
                if _active == 0:
                    _filters.__exit__()
                    _filters = None
            _of_thread.collected = before
