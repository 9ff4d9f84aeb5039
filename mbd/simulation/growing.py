"""Records of a run without a known end, in a block that grows with it."""

from __future__ import annotations

import sys

import numpy as np

from ..integrators.base import Array, Run
from .memory import check_room
from .recording import Recording
from .row_buffer import FIRST_ROWS

LARGEST_BLOCK = 8_000_000  # numbers
NEVER = sys.maxsize  # steps between two records


class GrowingRecords:
    """Every ``every``-th step of a run, counted from its origin.

    How many rows are filled follows from the number of steps, which compiled code counts: nothing is lost if an
    interrupt arrives between a step and whoever asked for it. Each opening is half as long as all before together.
    """

    def __init__(self, run: Run, every: int, record: Recording, largest: int = LARGEST_BLOCK) -> None:
        self.run, self.every, self.record, self.largest = run, every, record, largest
        self.widths = [len(row) for row in run.row()]
        self.made = 0  # rows that are closed
        self._nothing = np.zeros(0), [np.zeros((0, n)) for n in self.widths]
        self._open(0)

    def _open(self, rows: int) -> None:
        self.before = self.run.index // self.every
        self._times, self.block = self._nothing  # nobody looks at the buffer while it grows
        if rows:
            self._times, self.block = self.record.room(rows)

    @property
    def used(self) -> int:
        """Filled rows of the block."""
        return self.run.index // self.every - self.before

    def is_full(self) -> bool:
        """Whether the record of the next step finds no row."""
        return (self.run.index + 1) % self.every == 0 and self.used >= len(self.block[0])

    def _needed(self, steps: int) -> int:
        return (self.run.index + steps) // self.every - self.run.index // self.every

    def lacks(self, steps: int) -> bool:
        """Whether the records of so many further steps find no room."""
        return self.used + self._needed(steps) > len(self.block[0])

    def open_for(self, steps: int) -> None:
        """Room for the records of so many further steps; the block before is closed."""
        numbers = 1 + sum(self.widths)
        rows = max(self._needed(steps), min(max(FIRST_ROWS, self.made // 2), self.largest // numbers))
        check_room(rows, numbers, "Simulator", "record less often: output_step=, or record=False")
        self._open(rows)

    def free(self) -> list[Array]:
        """The rows that are not filled."""
        return [x[self.used :] for x in self.block]

    def close(self) -> None:
        """Hand the filled rows over, with their times."""
        used, run = self.used, self.run
        if used:
            self._times[:used] = run.origin + run.step * self.every * (self.before + 1.0 + np.arange(used))
            self.record.keep(used)
            self.made += used
        self._open(0)
