"""Where runs are made: in this process, or by anything that is a ``concurrent.futures.Executor``, dask included.

An engine takes chunks of runs and gives blocks of results. It tells a *loss*, where the process that worked on a chunk
has died; who is to blame is found out by the schedule.
"""

from __future__ import annotations

import queue
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..compiled.interrupts import Interrupts
from ..errors import ModelError, StudyError
from .blocks import Block, Row
from .parcels import Parcel, ready, run_parcel
from .runs import run_one

ADDRESSES = ("tcp://", "tls://", "ucx://", "ws://", "wss://", "inproc://")
START = 120.0  # s: for the first sign of life of an executor
DEFAULT_WIDTH = 4  # of executors that do not tell how many workers they have


@dataclass(eq=False)
class Chunk:
    """Runs that are made one after the other as one task. ``failures`` counts those when it was alone."""

    runs: np.ndarray
    parameters: list[dict[str, Any]]
    failures: int = 0


class Loss(NamedTuple):
    """A chunk was lost with its process: why, and in which run if that is known (-1: it is not)."""

    reason: str
    run: int = -1
    timeout: bool = False


Outcome = Block | Loss


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; with what was computed of a chunk."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block


class Engine:
    """Base: ``trials`` is how often a run must lose its process alone before it is to blame."""

    trials = 3
    width = 1  # how many chunks are worked on at once

    def room(self) -> int:
        """How many chunks may be submitted now."""
        raise NotImplementedError

    def submit(self, chunk: Chunk) -> None:
        """Start to work on a chunk."""
        raise NotImplementedError

    def collect(self, timeout: float) -> list[tuple[Chunk, Outcome]]:
        """Chunks that are finished or lost; waits for the first one up to so many seconds."""
        raise NotImplementedError

    def recover(self) -> None:
        """Be ready for work again after a loss."""

    def close(self) -> None:
        """Give everything back; work that is not finished is given up."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Here(Engine):
    """This process."""

    def __init__(self, parcel: Parcel) -> None:
        self.recipe = parcel.recipe
        self.chunk: Chunk | None = None

    def room(self) -> int:
        return int(self.chunk is None)

    def submit(self, chunk: Chunk) -> None:
        self.chunk = chunk

    def collect(self, timeout: float) -> list[tuple[Chunk, Outcome]]:
        chunk, self.chunk = self.chunk, None
        if chunk is None:
            return []
        rows: list[Row] = []
        try:
            with Interrupts() as interrupts:
                for run, values in zip(chunk.runs.tolist(), chunk.parameters, strict=True):
                    row = run_one(self.recipe, run, values)
                    interrupts.check()  # a run that was interrupted looks as if it had come to its end
                    rows.append(row)
        except KeyboardInterrupt:
            raise Interrupted(Block.of(rows)) from None
        return [(chunk, Block.of(rows))]


class Pool(Engine):
    """Any executor. What the user made is his to shut down; a broken pool of processes is made again."""

    def __init__(self, executor: Executor | None, parcel: Parcel, make: Callable[[], Executor] | None = None) -> None:
        if not isinstance(executor, ThreadPoolExecutor):
            parcel.packed  # noqa: B018  (an error here names what cannot be sent)
        self.parcel, self.make = parcel, make
        self.executor: Any = executor
        self.ours = make is not None
        self.flight: dict[Any, Chunk] = {}  # by their futures
        self.finished: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.width = _width(executor)

    def room(self) -> int:
        return self.width + 1 - len(self.flight)

    def submit(self, chunk: Chunk) -> None:
        future = self._start(run_parcel, self.parcel, chunk.runs.tolist(), chunk.parameters)
        self.flight[future] = chunk
        future.add_done_callback(self.finished.put)

    def _start(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A future of a call somewhere else."""
        try:
            return self.executor.submit(function, *arguments)
        except BrokenExecutor as error:  # by what came before
            future: Future[Any] = Future()
            future.set_exception(error)
            return future
        except RuntimeError as error:
            raise StudyError(
                f"{type(self.executor).__name__} takes no work ({error}); expected an executor that is not shut down"
            ) from error

    def collect(self, timeout: float) -> list[tuple[Chunk, Outcome]]:
        found: list[tuple[Chunk, Outcome]] = []
        try:
            future = self.finished.get(timeout=timeout)
            while True:
                if future in self.flight:
                    found.append((self.flight.pop(future), self._outcome(future)))
                future = self.finished.get_nowait()
        except queue.Empty:
            return found

    def _outcome(self, future: Any) -> Outcome:
        try:
            return future.result()
        except (BrokenExecutor, CancelledError) as error:
            if isinstance(self.executor, ThreadPoolExecutor):
                raise StudyError(f"the executor does not work any more: {error}") from error
            return Loss("its process died")
        except (StudyError, ModelError):
            raise
        except Exception as error:
            raise StudyError(f"the executor could not make the runs: {type(error).__name__}: {error}") from error

    def recover(self) -> None:
        if self._is_alive():
            return
        make = self.make or _maker(self.executor)
        if make is None:
            raise StudyError(
                f"{type(self.executor).__name__} broke, and it is not known how to make a new one; expected executor= "
                "a function without arguments that makes one, or a number of processes"
            )
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor, self.ours = make(), True
        if not self._is_alive():
            raise StudyError("the executor breaks before it makes a run; a script that starts processes must be "
                             "importable: if __name__ == '__main__':")  # fmt: skip

    def _is_alive(self) -> bool:
        """Whether somebody answers; asked after a loss only, since who is busy answers late."""
        try:
            return bool(self._start(ready).result(START))
        except (BrokenExecutor, CancelledError):
            return False
        except TimeoutError:
            raise StudyError(f"no worker of {self.executor!r} answered within {START:g} s") from None

    def close(self) -> None:
        for future in self.flight:
            future.cancel()
        if self.ours:
            self.executor.shutdown(wait=False, cancel_futures=True)


def _width(executor: Executor | None) -> int:
    for name in ("_max_workers", "num_workers"):
        count = getattr(executor, name, None)
        if isinstance(count, int) and count > 0:
            return count
    return DEFAULT_WIDTH


def _maker(executor: Executor) -> Callable[[], Executor] | None:
    """How to make such an executor again; known for pools of processes of the standard library."""
    if type(executor) is not ProcessPoolExecutor:
        return None
    known = vars(executor)
    arguments = {"mp_context": known.get("_mp_context"), "initializer": known.get("_initializer")}
    return lambda: ProcessPoolExecutor(_width(executor), initargs=known.get("_initargs", ()), **arguments)


def engine_for(executor: Any, parcel: Parcel) -> Engine:
    """The engine that is meant by the argument ``executor``."""
    if executor is None:
        return Here(parcel)
    if isinstance(executor, int | np.integer) and not isinstance(executor, bool):
        if executor < 1:
            raise ModelError(f"executor = {executor}; expected a positive number of processes")
        from .processes import Processes

        return Processes(int(executor), parcel)
    if isinstance(executor, Executor):
        return Pool(executor, parcel)
    if isinstance(executor, str) and executor.startswith(ADDRESSES):
        from .dask_engine import DaskEngine, connected

        return DaskEngine(connected(executor), parcel, ours=True)
    if type(executor).__module__.partition(".")[0] in ("distributed", "dask") and hasattr(executor, "get_executor"):
        from .dask_engine import DaskEngine

        return DaskEngine(executor, parcel)
    if callable(executor) and not isinstance(executor, type):
        made = executor()
        if isinstance(made, Executor):
            return Pool(made, parcel, executor)
    raise ModelError(
        f"executor = {executor!r}; expected None (this process), a number of processes, a concurrent.futures.Executor "
        "or a function that makes one, a dask.distributed.Client, or the address of a dask scheduler such as "
        "'tcp://127.0.0.1:8786'"
    )
