"""Every integrator on all coordinates and classes of models: right, refused or wrong, with counts.

    python benchmarks/compatibility.py                 every cell, in some minutes
    python benchmarks/compatibility.py LieEM Rattle    cells of these methods
    python benchmarks/compatibility.py --every 20      a sample

    python benchmarks/compatibility.py --ask           only what is refused, of all cells
    python benchmarks/compatibility.py --store cells.jsonl    go on where a run was cut; one line per cell
    python benchmarks/compatibility.py --page docs/compatibility.md    with a page of the counts

A cell is a method, a choice of coordinates and a class of models (``mbd.study.cells``). It is *right* if the positions,
rotations and velocities of all bodies at the end of a short run are those of a fine run of RK4, at two steps: nearer
with half the step, or equal to round-off. It is *refused* if the method says so before the first step, and *wrong*
otherwise. Methods, nodes and classes are found by introspection.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import json
import sys
import warnings
from collections import Counter
from pathlib import Path

from mbd.study.cells import CHOICES, Cell, cells, check_cell, refusal
from mbd.study.compatibility import all_integrators

VERDICTS = ("taken", "right", "refused", "wrong")
PAGE = """# Every method on every model

`make proof` runs every integrator on all choices of coordinates and classes of models (`benchmarks/compatibility.py`)
and writes this page. A cell is *right* if poses and velocities of all bodies after a short run are those of a fine run
of RK4: nearer with half the step, or equal to round-off; *refused* if the method says so before the first step; *wrong*
otherwise. {date}: {summary}.

| method | right | refused | wrong |
|---|---|---|---|
{methods}

| reason of refusals | cells |
|---|---|
{reasons}
"""


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
    parser.add_argument("--page", help="file for a page with the counts of all cells")
    options = parser.parse_args()
    if options.page and (options.methods or options.ask or options.every > 1):
        parser.error("--page is written of all cells: without names of methods, --ask and --every")
    store = Store(options.store)
    methods = [m for m in all_integrators() if not options.methods or m.name in options.methods]
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    rows = []
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
        rows.append(f"| `{method.name}` | " + " | ".join(str(of_method[verdict]) for verdict in VERDICTS[1:]) + " |")
        numbers = "".join(f"{of_method[verdict]:8d} {verdict}" for verdict in VERDICTS if of_method[verdict])
        print(f"{method.name:36s}{numbers}", flush=True)
    summary = f"{len(methods)} methods, {len(CHOICES)} choices of coordinates, {sum(counts.values())} cells: "
    summary += ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    print(f"\n{summary}")
    print("\nreasons of refusals:")
    for why, count in reasons.most_common():
        print(f"{count:6d}  {why}")
    if options.page:
        why = "\n".join(f"| {why} | {count} |" for why, count in reasons.most_common())
        page = PAGE.format(date=datetime.date.today(), summary=summary, methods="\n".join(rows), reasons=why)
        Path(options.page).write_text(page)
    sys.exit(1 if counts["wrong"] else 0)


if __name__ == "__main__":
    main()
