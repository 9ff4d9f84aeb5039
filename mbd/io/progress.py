"""A progress bar for long runs; silent in short runs and where nobody looks."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

DELAY_SECONDS = 1.0


class Progress:
    """Shows the simulated time, or whatever is counted; appears only after a second."""

    def __init__(self, start: float, end: float, show: bool | None, title: str, what: str = "t =") -> None:
        self.start, self.end, self.title, self.what = start, end, title, what
        self.show = sys.stderr.isatty() if show is None else show
        self.born = time.perf_counter()
        self.bar: Any = None
        self.task: Any = None

    def update(self, t: float, now: str | None = None) -> None:
        """Tell how far the run is, in other words than the title's if they are given."""
        if not self.show or (self.bar is None and time.perf_counter() - self.born < DELAY_SECONDS):
            return
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

            self.bar = Progress(
                TextColumn("{task.description}", markup=False), BarColumn(),
                TextColumn("{task.fields[now]}", markup=False), TimeElapsedColumn(), TimeRemainingColumn(),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.end - self.start, now="")
        self.bar.update(self.task, completed=t - self.start, now=now or f"{self.what} {t:.4g}")

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
