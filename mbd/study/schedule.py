"""Which runs are made when: chunks of half a second to a second, few of them in flight, and those who are suspect
alone.

A process that dies takes the chunks that it worked on; pools of processes lose everything that is in flight, and dask
what its worker held. Those chunks are suspects. They wait until everything else is done, and are then made one at a
time: a chunk that is lost again is halved, and a single run that is lost alone as often as ``engine.trials`` says is
the one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from .blocks import DIED, TIMEOUT, Block, Row
from .engines import Chunk, Engine, Loss

TARGET = 0.75  # s of work in a chunk
MOST = 5000  # runs in a chunk
GROWTH = 4  # from one chunk to the next
TICK = 0.5  # s: how often progress is told while nothing comes

RowsOf = Callable[[np.ndarray], list[dict[str, Any]]]


class Schedule:
    """Makes runs with an engine, and delivers blocks as they come."""

    def __init__(
        self, engine: Engine, rows_of: RowsOf, deliver: Callable[[Block], None], chunk: int | None = None,
        tick: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        self.engine, self.rows_of, self.deliver, self.fixed, self.tick = engine, rows_of, deliver, chunk, tick
        self.todo: deque[np.ndarray] = deque()
        self.suspects: list[Chunk] = []
        self.in_flight = 0
        self.alone: Chunk | None = None
        self.size, self.seconds = 1, 0.0

    def run(self, runs: np.ndarray) -> None:
        """Make all these runs."""
        self.todo.append(np.asarray(runs))
        self._drop_empty()
        while self.todo or self.in_flight or self.suspects:
            self._submit()
            lost = False
            for chunk, outcome in self.engine.collect(TICK):
                self.in_flight -= 1
                alone, self.alone = self.alone is chunk, None if self.alone is chunk else self.alone
                if isinstance(outcome, Loss):
                    self._lost(chunk, outcome, alone)
                    lost = True
                else:
                    self._learn(outcome)
                    self._submit()  # workers need not wait while results are stored
                    self.deliver(outcome)
            if lost:
                self.engine.recover()
            self.tick()

    def rescue(self) -> None:
        """Deliver what is finished when a study is interrupted."""
        for _, outcome in self.engine.collect(0.0):
            if isinstance(outcome, Block):
                self.deliver(outcome)

    def _submit(self) -> None:
        while self.todo and self.alone is None and self.engine.room() > 0:
            runs = self._next()
            self.engine.submit(Chunk(runs, self.rows_of(runs)))
            self.in_flight += 1
        if self.suspects and not self.todo and not self.in_flight and self.engine.room() > 0:
            self.alone = self.suspects.pop()
            self.engine.submit(self.alone)
            self.in_flight += 1

    def _next(self) -> np.ndarray:
        """Runs of the next chunk; towards the end chunks are small, so that all workers end together."""
        runs = self.todo.popleft()
        left = len(runs) + sum(map(len, self.todo))
        size = self.fixed or max(1, min(self.size, -(-left // (2 * self.engine.width))))
        if len(runs) > size:
            self.todo.appendleft(runs[size:])
        return runs[:size]

    def _drop_empty(self) -> None:
        self.todo = deque(runs for runs in self.todo if len(runs))

    def _learn(self, block: Block) -> None:
        """How long runs take; the median, since the first run in a process loads code."""
        if not len(block):
            return
        seconds = max(float(np.median(block.seconds)), 1e-6)
        self.seconds = seconds if not self.seconds else 0.5 * (self.seconds + seconds)
        self.size = int(np.clip(TARGET / self.seconds, 1, min(MOST, GROWTH * max(len(block), 1))))

    def _lost(self, chunk: Chunk, loss: Loss, alone: bool) -> None:
        if loss.run >= 0 and len(chunk.runs) > 1 and loss.run in chunk.runs:  # the others are innocent
            place = int(np.flatnonzero(chunk.runs == loss.run)[0])
            self.todo.append(np.delete(chunk.runs, place))
            chunk, alone = Chunk(chunk.runs[place : place + 1], chunk.parameters[place : place + 1]), False
        single = len(chunk.runs) == 1
        if single and (loss.timeout or (alone and chunk.failures + 1 >= self.engine.trials)):
            status = TIMEOUT if loss.timeout else DIED
            self.deliver(Block.of([Row(int(chunk.runs[0]), status, np.nan, message=loss.reason)]))
        elif single:
            chunk.failures += alone
            self.suspects.append(chunk)
        elif alone:
            half = len(chunk.runs) // 2
            for part in (slice(half, None), slice(half)):
                self.suspects.append(Chunk(chunk.runs[part], chunk.parameters[part]))
        else:
            self.suspects.append(chunk)
