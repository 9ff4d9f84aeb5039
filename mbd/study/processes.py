"""Worker processes of our own on this machine: started anew (spawn), one chunk of runs at a time.

Each has a pipe of its own and a marker in shared memory that says which run it is making. When one dies, the run is
known and the others go on; when a run takes too long and cannot be ended from inside, its process is ended.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from ..errors import ModelError, StudyError
from .engines import Chunk, Engine, Loss, Outcome
from .parcels import Parcel, main_file
from .runs import run_chunk
from .watching import GRACE, Marker

READY = "ready"
POLL = 0.25  # s: how often the markers are looked at if there is a limit
MAIN_GUARD = (
    "a script that starts processes must be importable: put what starts the study below if __name__ == '__main__': "
    "(functions stay above)"
)


def work(connection: Connection, parcel: Parcel, memory: Any) -> None:
    """What a worker process does until its pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches all; the driver decides
    threading.Thread(target=_end_with_parent, daemon=True).start()
    marker = Marker(memory)
    try:
        recipe = parcel.recipe
        connection.send(READY)
        while True:
            runs, parameters = connection.recv()
            connection.send(run_chunk(recipe, runs, parameters, marker, lambda: parcel.changed(now=False)))
            marker.rest()
    except (EOFError, BrokenPipeError):
        return
    except StudyError as error:
        connection.send(error)


def _end_with_parent() -> None:
    """A driver that was killed leaves no workers behind, whatever they are doing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


class _Worker:
    """A process, its pipe, and the chunk on which it works."""

    def __init__(self, parcel: Parcel) -> None:
        context = multiprocessing.get_context("spawn")
        self.memory = context.RawArray("d", [-1.0, 0.0])
        self.marker = Marker(self.memory)  # type: ignore[arg-type]
        self.connection, other = context.Pipe()
        self.process = context.Process(target=work, args=(other, parcel, self.memory), daemon=True, name="mbd study")
        with _main_that_is_there():
            self.process.start()
        other.close()
        self.ready = False
        self.chunk: Chunk | None = None

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class Processes(Engine):
    """So many worker processes."""

    trials = 1  # a process of its own met nobody else's trouble

    def __init__(self, count: int, parcel: Parcel) -> None:
        if multiprocessing.current_process().daemon or _is_starting():
            raise ModelError(f"sweep: executor = {count} in a process that was itself started by a study; {MAIN_GUARD}")
        parcel.packed  # noqa: B018  (an error here names what cannot be sent)
        self.parcel, self.limit = parcel, parcel.recipe.timeout
        self.workers = [_Worker(parcel) for _ in range(count)]
        self.width = count

    def room(self) -> int:
        return sum(worker.ready and worker.chunk is None for worker in self.workers)

    def submit(self, chunk: Chunk) -> None:
        worker = next(worker for worker in self.workers if worker.ready and worker.chunk is None)
        worker.chunk = chunk
        with suppress(BrokenPipeError, ConnectionResetError):  # it has died, which shows when results are collected
            worker.connection.send((chunk.runs.tolist(), chunk.parameters))

    def collect(self, timeout: float) -> list[tuple[Chunk, Outcome]]:
        if self.limit is not None:
            timeout = min(timeout, POLL)
        handles: dict[Any, _Worker] = {}
        for worker in self.workers:
            handles[worker.connection] = handles[worker.process.sentinel] = worker
        found = []
        for worker in dict.fromkeys(handles[handle] for handle in wait(list(handles), timeout)):
            outcome = self._message(worker)
            chunk, worker.chunk = worker.chunk, None if outcome is not None else worker.chunk
            if isinstance(outcome, Loss):
                self._replace(worker)
            if outcome is not None and chunk is not None:
                found.append((chunk, outcome))
        return found + (self._ended_by_force() if self.limit is not None else [])

    def _message(self, worker: _Worker) -> Outcome | None:
        """What a worker sends, or its death; None if that concerns no chunk."""
        try:
            if worker.connection.poll():
                message = worker.connection.recv()
                if isinstance(message, StudyError):
                    raise message
                if message != READY:
                    return message
                worker.ready = True
                return None
        except (EOFError, ConnectionResetError):
            pass
        if worker.process.is_alive():
            worker.process.join(1.0)  # its pipe is closed: it is dying
        code = worker.process.exitcode
        if not worker.ready:
            raise StudyError(
                f"a worker process ended while it started (exit code {code}), see its output above; {MAIN_GUARD}"
            )
        return Loss(_death(code), worker.marker.run)

    def _ended_by_force(self) -> list[tuple[Chunk, Outcome]]:
        """Runs that do not end although they were told to."""
        found: list[tuple[Chunk, Outcome]] = []
        assert self.limit is not None
        for worker in self.workers:
            run = worker.marker.run
            if worker.chunk is not None and run >= 0 and worker.marker.seconds > self.limit + GRACE:
                reason = f"no end after {self.limit:g} s; its process had to be ended"
                found.append((worker.chunk, Loss(reason, run, timeout=True)))
                self._replace(worker)
        return found

    def _replace(self, worker: _Worker) -> None:
        worker.end()
        self.workers[self.workers.index(worker)] = _Worker(self.parcel)

    def close(self) -> None:
        for worker in self.workers:
            worker.process.kill()  # all at once, then wait
        for worker in self.workers:
            worker.end()


@contextmanager
def _main_that_is_there() -> Iterator[None]:
    """A script behind ``python -`` says that its file is "<stdin>", which a new process would look for."""
    main = sys.modules["__main__"]
    named = getattr(main, "__file__", None)
    if named is None or main_file():
        yield
        return
    del main.__file__
    try:
        yield
    finally:
        main.__file__ = named


def _is_starting() -> bool:
    """Whether this process was spawned and still imports the main script."""
    return bool(getattr(multiprocessing.current_process(), "_inheriting", False))


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"its process was ended by {signal.Signals(-code).name}"
        except ValueError:
            pass
    return f"its process ended with exit code {code}"
