"""Studies: what a sweep adds to its runs, how long a million rows take to load, and the memory of the driver.

    python benchmarks/studies.py [rows]

Runs of the pendulum are timed alone and in a sweep, in turns; a study of a million runs that do nothing is written by
worker processes, and read again in a fresh process.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import mbd

STEPS = {"t_end": 0.1, "step": 1e-3}
REPEATS, RUNS = 5, 200


def pendulum(length: float) -> mbd.Model:
    """A pendulum that is let go from the side."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(length, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    return model


def nothing(x: float, y: float) -> dict[str, float]:
    """A run that takes no time."""
    return {"a": x + y, "b": x - y, "c": x * y}


def same(result: dict[str, float]) -> dict[str, float]:
    """Outputs that are there already."""
    return result


def memory() -> float:
    """Largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def overhead() -> None:
    """Seconds of the processor per run, alone and in a sweep: the smallest of some repeats, in turns."""
    lengths, alone, swept = np.linspace(0.5, 2.0, RUNS), [], []
    for _ in range(REPEATS):
        clock = time.process_time()
        for length in lengths.tolist():
            float(mbd.simulate(pendulum(length), **STEPS, progress=False)["arm"].position[-1, 0])
        alone.append(time.process_time() - clock)
        clock = time.process_time()
        mbd.study.sweep(pendulum, {"length": lengths}, simulate=STEPS, outputs={"x": "arm.position.x[-1]"})
        swept.append(time.process_time() - clock)
    a, b = min(alone) / RUNS, min(swept) / RUNS
    print(f"pendulum, 100 steps: alone {1e3 * a:.2f} ms, in a sweep {1e3 * b:.2f} ms: {1e6 * (b - a):.0f} us more")


def write(folder: str, rows: int) -> None:
    """A large study with two worker processes."""
    side = int(np.sqrt(rows))
    grid = {"x": np.linspace(0.0, 1.0, side), "y": np.linspace(0.0, 1.0, rows // side)}
    clock, start = time.perf_counter(), memory()
    study = mbd.study.sweep(nothing, grid, outputs=same, store=folder, executor=2, progress=False)
    seconds, files = time.perf_counter() - clock, list(Path(folder).glob("part-*"))
    size = sum(file.stat().st_size for file in files)
    print(
        f"{len(study)} runs that do nothing, two processes: {seconds:.1f} s; "
        f"{len(files)} files, {size / len(study):.0f} bytes per row; driver {memory():.0f} MB ({start:.0f} before)"
    )


def read(folder: str) -> None:
    """The study in a fresh process."""
    clock = time.perf_counter()
    study = mbd.study.load(folder)
    column = study["c"]
    first = time.perf_counter() - clock
    print(f"load and one column of {len(column)} rows: {first:.2f} s, process {memory():.0f} MB")
    import pandas  # noqa: F401  (its import is not the study's time)

    clock = time.perf_counter()
    frame = study.frame()
    print(f"frame of {frame.shape}: {time.perf_counter() - clock:.2f} s, process {memory():.0f} MB")


def main(rows: int) -> None:
    """All of it, in processes of their own where memory is measured."""
    with tempfile.TemporaryDirectory() as folder:
        for step in (["overhead"], ["write", folder, str(rows)], ["read", folder]):
            subprocess.run([sys.executable, __file__, *step], check=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["overhead"]:
            overhead()
        case ["write", folder, rows]:
            write(folder, int(rows))
        case ["read", folder]:
            read(folder)
        case rest:
            main(int(rest[0]) if rest else 1_000_000)
