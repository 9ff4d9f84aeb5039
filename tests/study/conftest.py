"""A dask cluster on the loopback: a scheduler and two workers in processes of their own, ended whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60.0  # s


def _end(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # its own session: nannies and their workers
    process.wait(timeout=10)


@pytest.fixture(scope="package")
def dask_cluster(tmp_path_factory):
    """The address of a scheduler with two workers."""
    folder = tmp_path_factory.mktemp("dask")
    dask = [sys.executable, "-m", "dask"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "True"}
    options = {"cwd": folder, "env": environment, "start_new_session": True, "stdout": subprocess.DEVNULL}
    with (folder / "log").open("w") as log, contextlib.ExitStack() as stack:
        file = folder / "scheduler.json"
        commands = [
            [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
            [*dask, "worker", "--scheduler-file", str(file), "--nworkers", "2", "--nthreads", "1", "--no-dashboard"],
        ]
        for command in commands:
            process = subprocess.Popen(command, stderr=log, **options)
            stack.callback(_end, process)
        end = time.monotonic() + PATIENCE
        while not file.exists():
            assert time.monotonic() < end, (folder / "log").read_text()
            time.sleep(0.05)
        import distributed

        with distributed.Client(scheduler_file=str(file), timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
            address = client.scheduler.address
        yield address
