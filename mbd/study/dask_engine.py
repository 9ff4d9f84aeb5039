"""Runs on a dask cluster, through the executor of its client.

dask gives a task that loses its worker to the next worker, four times by default: a run that kills its process takes four
of them, and tasks of innocent neighbours with it. While a study runs, its scheduler gives up such tasks at once, and the
schedule finds out alone which run it was.
"""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future
from typing import Any

from ..errors import ModelError, StudyError
from .blocks import Block
from .engines import Chunk, Loss, Outcome, Pool
from .parcels import Parcel, ready

CONNECT = 10.0  # s
LOOK = 2.0  # s: how often the workers are counted


def distributed() -> Any:
    """The package, or an error that says how to get it."""
    try:
        import distributed

        return distributed
    except ImportError:
        raise ImportError("a dask cluster needs dask.distributed: pip install 'mbd[study]'") from None


def connected(address: str) -> Any:
    """A client of the scheduler at an address."""
    try:
        return distributed().Client(address, timeout=CONNECT, set_as_default=False)
    except OSError as error:
        raise ModelError(f"executor = {address!r}: no dask scheduler answers there ({error})") from None


class DaskEngine(Pool):
    """A client of a dask cluster; ``ours`` if it is to be closed at the end."""

    def __init__(self, client: Any, parcel: Parcel, ours: bool = False) -> None:
        super().__init__(client.get_executor(pure=False, retries=0), parcel)
        self.client, self.close_client = client, ours
        self._counted = -LOOK
        self._allowed = client.run_on_scheduler(_allowed_failures(0))

    def room(self) -> int:
        if time.monotonic() - self._counted > LOOK:
            self.width = max(1, sum(self.client.nthreads().values()))
            self._counted = time.monotonic()
        return super().room()

    def _outcome(self, future: Future[Block]) -> Outcome:
        try:
            return future.result()
        except CancelledError:
            if self.client.status != "running":
                raise StudyError("the connection to the dask scheduler was lost") from None
            return Loss("its dask worker was lost")
        except distributed().scheduler.KilledWorker as error:
            return Loss(f"its dask worker died ({error.last_worker.address})")
        except Exception:
            return super()._outcome(future)

    def submit(self, chunk: Chunk) -> None:
        if self.client.status != "running":
            raise StudyError("the connection to the dask scheduler was lost")
        super().submit(chunk)

    def recover(self) -> None:
        """Wait for a worker that works: one that is dying still takes tasks."""
        while True:
            self.client.wait_for_workers(1)
            try:
                self.executor.submit(ready).result()
                return
            except (CancelledError, distributed().scheduler.KilledWorker):
                if self.client.status != "running":
                    raise StudyError("the connection to the dask scheduler was lost") from None

    def close(self) -> None:
        for future in self.flight:
            future.cancel()
        if self.client.status == "running":
            self.client.run_on_scheduler(_allowed_failures(self._allowed))
        if self.close_client:
            self.client.close()


def _allowed_failures(count: int) -> Any:
    """A function for the scheduler, which need not have this package: sets the number, and returns the former one."""

    def change(dask_scheduler: Any = None) -> int:
        before = dask_scheduler.allowed_failures
        dask_scheduler.allowed_failures = count
        return int(before)

    return change
