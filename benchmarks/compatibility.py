"""Every integrator on all coordinates and classes of models: right, refused or wrong, with counts.

    python benchmarks/compatibility.py                 every cell, in some minutes
    python benchmarks/compatibility.py LieEM Rattle    cells of these methods
    python benchmarks/compatibility.py --every 20      a sample

    python benchmarks/compatibility.py --ask           only what is refused, of all cells
    python benchmarks/compatibility.py --store cells.jsonl    go on where a run was cut; one line per cell

A cell is a method, a choice of coordinates and a class of models (``mbd.study.cells``). It is *right* if the positions,
rotations and velocities of all bodies at the end of a short run are those of a fine run of RK4, at two steps: nearer
with half the step, or equal to round-off. It is *refused* if the method says so before the first step, and *wrong*
otherwise. Methods, nodes and classes are found by introspection.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import warnings
from collections import Counter
from pathlib import Path

from mbd.study.cells import CHOICES, Cell, cells, check_cell, refusal
from mbd.study.compatibility import all_integrators

VERDICTS = ("taken", "right", "refused", "wrong")


def check(cell: Cell, ask: bool) -> tuple[str, str]:
    if ask:
        why = refusal(cell)
        return ("refused", why) if why else ("taken", "")
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check_cell(cell)


class Store:
    """Verdicts of cells in a file, a line each; those that it has already are not found out again."""

    def __init__(self, file: str | None) -> None:
        self.file, self.known = file, {}
        if file is not None and Path(file).exists():
            for line in Path(file).read_text().splitlines():
                *key, verdict, why = json.loads(line)
                self.known[tuple(key)] = verdict, why

    def check(self, cell: Cell, ask: bool) -> tuple[str, str]:
        key = (cell.method.name, cell.choice, cell.feature)
        if key not in self.known:
            self.known[key] = check(cell, ask)
            if self.file is not None:
                with Path(self.file).open("a") as lines:
                    print(json.dumps([*key, *self.known[key]]), file=lines)
        return self.known[key]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", help="names of methods; default: all")
    parser.add_argument("--every", type=int, default=1, help="only every so many-th cell")
    parser.add_argument("--ask", action="store_true", help="ask methods only, run nothing")
    parser.add_argument("--store", help="file with the verdicts of all cells, as they come")
    options = parser.parse_args()
    store = Store(options.store)
    methods = [m for m in all_integrators() if not options.methods or m.name in options.methods]
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for method in methods:
        of_method: Counter[str] = Counter()
        for k, cell in enumerate(cells(method)):
            if k % options.every:
                continue
            verdict, why = store.check(cell, options.ask)
            of_method[verdict] += 1
            if verdict == "refused":
                reasons[why] += 1
            elif verdict == "wrong":
                print(f"WRONG {method.name}, {cell.choice}, {cell.feature}: {why}", flush=True)
        counts += of_method
        numbers = "".join(f"{of_method[verdict]:8d} {verdict}" for verdict in VERDICTS if of_method[verdict])
        print(f"{method.name:36s}{numbers}", flush=True)
    print(f"\n{len(methods)} methods, {len(CHOICES)} choices of coordinates, {sum(counts.values())} cells:", end=" ")
    print(", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict]))
    print("\nreasons of refusals:")
    for why, count in reasons.most_common():
        print(f"{count:6d}  {why}")
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
