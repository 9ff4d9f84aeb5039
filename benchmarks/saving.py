"""How fast solutions are saved, beside ``np.save`` of as many numbers.

python benchmarks/saving.py

Processor time, least of several rounds in which both take turns; the file is a new one each time.
"""

from __future__ import annotations

import math
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from cases import chain  # first: it sets the number of threads

import mbd

STEP, ROUNDS = 1e-3, 7
SIZES = ((100, 1000), (1000, 1000), (100, 10000))  # bodies, steps
KINDS = ("data", "parameter", "input", "Python function", "data, state read")


def model(bodies: int, kind: str) -> mbd.Model:
    """A chain whose last bar is pushed by a number of some kind."""
    made = chain(bodies)
    push: Any = (0.0, 0.0, 0.5)
    if kind == "parameter":
        push = (0.0, 0.0, made.parameter("push", 0.5))
    elif kind == "input":
        push = (0.0, 0.0, made.input("push", 0.5))
    elif kind == "Python function":
        push = lambda t: (0.0, 0.0, math.sin(t))  # noqa: E731
    made.add(mbd.forces.Force(made.bodies[-1], push))
    return made


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, plain = Path(folder) / "solution.npz", Path(folder) / "numbers.npy"
        print("| bodies, steps | MB | " + " | ".join(KINDS) + " |")
        print("|---|---|" + "---|" * len(KINDS))
        for bodies, steps in SIZES:
            cells, size = [], 0
            for kind in KINDS:
                built = model(bodies, kind)
                ours = theirs = float("inf")
                for _ in range(ROUNDS):
                    solution = mbd.simulate(built, steps * STEP, STEP)
                    if kind.endswith("state read"):
                        _ = solution.state["fingerprint"]
                    begin = time.process_time()
                    solution.save(path)
                    ours = min(ours, time.process_time() - begin)
                    size = path.stat().st_size
                    numbers = np.zeros(size // 8) + 1.0
                    begin = time.process_time()
                    np.save(plain, numbers)
                    theirs = min(theirs, time.process_time() - begin)
                    os.unlink(path)
                    os.unlink(plain)
                cells.append(f"{theirs / ours:.2f} ({1e3 * ours:.1f} ms)")
            print(f"| {bodies}, {steps} | {size / 1e6:.0f} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
