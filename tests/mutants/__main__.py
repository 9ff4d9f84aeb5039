"""Do the tests notice a wrong formula? Part of ``make proof``: ``python -m tests.mutants [words ...]``.

``mutants.toml`` lists small changes of formulas all over the package, each with the tests that must fail then. Every
one is made in a copy of the files under version control, and the tests named are run there, as plain Python (a change
that only shows in compiled code says ``jit = true``). Before that, the same tests have to pass in the copy without a
change. The table in ``docs/proof.md`` is renewed. Words choose the mutants whose file or text holds one of them.
"""

from __future__ import annotations

import datetime
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("mutants.toml")
TABLE = ROOT / "docs" / "proof.md"
PASSED, FAILED = 0, 1  # exit codes of pytest; all others mean that the tests could not be run
SECONDS = 900  # a change may also make a loop endless: that is noticed, too

HEADER = """# Do the tests notice a wrong formula?

`make proof` makes each of these changes in a copy of the package and runs the tests that guard the formula; *killed*
means that one of them failed or ended the process, with the day of the last run. The changes and the tests are in
`tests/mutants/mutants.toml`; `python -m tests.mutants` writes this page. {killed} of {total} killed.

| file | change | tests | verdict |
|---|---|---|---|
"""


def mutants() -> list[dict[str, Any]]:
    """The list; an error if a text to be changed is not there exactly once."""
    found = tomllib.loads(LIST.read_text())["mutant"]
    for mutant in found:
        count = (ROOT / mutant["file"]).read_text().count(mutant["old"])
        if count != 1:
            raise SystemExit(f"{mutant['file']}: {count} places for the change '{mutant['what']}'; expected one")
        if mutant["old"] == mutant["new"]:
            raise SystemExit(f"{mutant['file']}: '{mutant['what']}' changes nothing")
    return found


def copy_tree(target: Path) -> None:
    """The files under version control, as they are now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def run_tests(tree: Path, tests: str, jit: bool) -> int:
    """Exit code of the tests; a run that does not end counts as failed."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(tree / ".cache"), "MBD_JIT": "1" if jit else "0",
        "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        *shlex.split(tests),
    ]
    try:
        return subprocess.run(command, cwd=tree, env=environment, capture_output=True, timeout=SECONDS).returncode
    except subprocess.TimeoutExpired:
        return FAILED


def verdicts(chosen: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], str]]:
    """Each mutant with "killed", "SURVIVED", or why its tests say nothing."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "mbd"
        tree.mkdir()
        copy_tree(tree)
        sound: dict[tuple[str, bool], int] = {}
        for mutant in chosen:
            tests, jit = mutant["tests"], mutant.get("jit", False)
            key = (tests, jit)
            if key not in sound:
                sound[key] = run_tests(tree, tests, jit)
            if sound[key] != PASSED:
                yield mutant, "TESTS FAIL WITHOUT IT"
                continue
            file = tree / mutant["file"]
            text = file.read_text()
            file.write_text(text.replace(mutant["old"], mutant["new"]))
            code = run_tests(tree, tests, jit)
            file.write_text(text)
            died = code < 0  # by a signal: buffers that are too small are seen in this way
            yield mutant, {PASSED: "SURVIVED", FAILED: "killed"}.get(FAILED if died else code, "TESTS CANNOT RUN")


def row(mutant: dict[str, Any], verdict: str) -> str:
    return f"| `{mutant['file']}` | {mutant['what']} | `{mutant['tests']}` | {verdict} |"


def write_table(listed: list[dict[str, Any]], new: dict[str, str]) -> int:
    """Renew the rows that were run now; returns how many mutants were not killed when they were run last."""
    known = TABLE.read_text().splitlines() if TABLE.exists() else []
    rows = []
    for mutant in listed:
        verdict = new.get(mutant["what"])
        start = row(mutant, "").removesuffix(" |")
        before = next((line for line in known if line.startswith(start)), row(mutant, "not run"))
        rows.append(before if verdict is None else row(mutant, f"{verdict}, {datetime.date.today().isoformat()}"))
    left = sum("| killed, " not in line for line in rows)
    TABLE.write_text(HEADER.format(killed=len(rows) - left, total=len(rows)) + "\n".join(rows) + "\n")
    return left


def main(words: list[str]) -> int:
    listed = mutants()
    chosen = [m for m in listed if not words or any(w in m["file"] or w in m["what"] for w in words)]
    new: dict[str, str] = {}
    for number, (mutant, verdict) in enumerate(verdicts(chosen), 1):
        print(f"{number:3d}/{len(chosen)} {verdict:9s} {mutant['file']}: {mutant['what']}", flush=True)
        new[mutant["what"]] = verdict
        write_table(listed, new)
    alive = sum(verdict != "killed" for verdict in new.values())
    print(f"{len(new) - alive} of {len(new)} killed")
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
