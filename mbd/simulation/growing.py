"""Records of a run without a known end, in blocks that grow with it."""

from __future__ import annotations

import sys

import numpy as np

from ..integrators.base import Array, Run
from .memory import check_room

FIRST_ROWS = 256  # of the first block; later ones are half as long as all before them together
LARGEST_BLOCK = 8_000_000  # numbers
NEVER = sys.maxsize  # steps between two records


class GrowingRecords:
    """Every ``every``-th step of a run, counted from its origin.

    How many rows are filled follows from the number of steps, which compiled code counts: nothing is lost if an
    interrupt arrives between a step and whoever asked for it.
    """

    def __init__(self, run: Run, every: int, largest: int = LARGEST_BLOCK) -> None:
        self.run, self.every, self.largest = run, every, largest
        self.widths = [len(row) for row in run.row()]
        self.made = 0  # rows of blocks that are closed
        self._open(0)

    def _open(self, rows: int) -> None:
        self.before = self.run.index // self.every
        self.block = [np.zeros((rows, n)) for n in self.widths]

    @property
    def used(self) -> int:
        """Filled rows of the block."""
        return self.run.index // self.every - self.before

    def is_full(self) -> bool:
        """Whether the record of the next step finds no row."""
        return (self.run.index + 1) % self.every == 0 and self.used >= len(self.block[0])

    def room(self, steps: int) -> tuple[list[Array], tuple[Array, list[Array]] | None]:
        """Rows for the records of so many further steps, and the block before if that had to be closed for them."""
        needed = (self.run.index + steps) // self.every - self.run.index // self.every
        closed = None
        if self.used + needed > len(self.block[0]):
            closed = self.closed() if self.used else None
            numbers = 1 + sum(self.widths)
            rows = max(needed, min(max(FIRST_ROWS, self.made // 2), self.largest // numbers))
            check_room(rows, numbers, "Simulator", "record less often: output_step=, or record=False")
            self._open(rows)
        return [x[self.used :] for x in self.block], closed

    def closed(self) -> tuple[Array, list[Array]]:
        """Times and rows of the block, which ends here."""
        used, run = self.used, self.run
        numbers = self.before + 1.0 + np.arange(used)
        rows = [x[:used] for x in self.block]
        self.made += used
        self._open(0)
        return run.origin + run.step * self.every * numbers, rows
