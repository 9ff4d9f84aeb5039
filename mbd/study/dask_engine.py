"""Runs on a dask cluster.

dask gives a task that loses its worker to the next worker, four times by default: a run that kills its process takes
four of them, and tasks of innocent neighbours with it. While a study runs, its scheduler gives up such tasks at once,
and the schedule finds out alone which run it was.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from ..errors import ModelError, StudyError
from ..io.notes import note
from .engines import Loss, Outcome, Pool
from .parcels import Parcel, ready

CONNECT = 10.0  # s
LOOK = 2.0  # s: how often the workers are counted
PATIENCE = 10.0  # s without a worker
LOST = "the connection to the dask scheduler was lost"


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
        super().__init__(None, parcel)
        self.client, self.close_client = client, ours
        self._counted, self._told = -math.inf, False
        self._allowed = client.run_on_scheduler(_allowed_failures(0))

    def room(self) -> int:
        if time.monotonic() - self._counted > LOOK:
            threads = sum(self.client.nthreads().values())
            self.width, self._counted = max(1, threads), time.monotonic()
            if threads == 0:
                self._wait_for_worker()
        return super().room()

    def _wait_for_worker(self) -> None:
        """dask waits for workers as long as it takes; that is said once."""
        begin = time.monotonic()
        while not self.client.nthreads():
            if not self._told and time.monotonic() - begin > PATIENCE:
                note(f"the dask scheduler {self.client.scheduler.address} has no worker; waiting for one (Ctrl-C ends)")
                self._told = True
            time.sleep(0.1)

    def _start(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.client.status != "running":
            raise StudyError(LOST)
        return self.client.submit(function, *arguments, pure=False, retries=0)

    def _outcome(self, future: Any) -> Outcome:
        try:
            return future.result()
        except CancelledError:
            if self.client.status != "running":
                raise StudyError(LOST) from None
            return Loss("its dask worker was lost")
        except distributed().scheduler.KilledWorker as error:
            return Loss(f"its dask worker died ({error.last_worker.address})")
        except (StudyError, ModelError):
            raise
        except Exception as error:
            raise StudyError(f"dask could not make the runs: {type(error).__name__}: {error}") from error
        finally:
            future.release()  # otherwise a result that is known is computed again when its worker dies

    def _is_alive(self) -> bool:
        """Wait for a worker that works: one that is dying still takes tasks."""
        self._wait_for_worker()
        future = self._start(ready)
        try:
            return bool(future.result())
        except (CancelledError, distributed().scheduler.KilledWorker):
            return False

    def recover(self) -> None:
        while not self._is_alive():
            pass

    def close(self) -> None:
        if self.client.status == "running":
            if self.flight:
                self.client.cancel(list(self.flight))
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
