"""What keeps the tests themselves honest: the list of ``make proof`` can be applied, and no test looks at the clock."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.mutants.__main__ import mutants

ROOT = Path(__file__).parents[2]
CLOCK = re.compile(r"perf_counter\(\)|process_time\(|monotonic\(|\btime\.time\(|timeit|threading\.Timer")
# They wait for another process, a browser or one to be interrupted, and say so when it does not answer, or give files
# an age.
WAITING = {
    "tests/view/test_page.py", "tests/compiled/interrupted_runs.py", "tests/compiled/test_old_code.py",
    "tests/study/conftest.py", "tests/study/test_store.py", "tests/study/test_sweep.py",
}  # fmt: skip
FEWEST = 40

SKIPPED = """
import pytest
def test_at_once():
    pytest.skip("no such package")
@pytest.mark.skipif(True, reason="no such system")
def test_before():
    pass
@pytest.mark.xfail(strict=True)
def test_known():
    assert False
"""


def test_every_mutant_can_be_made_and_names_tests_that_exist():
    listed = mutants()
    assert len(listed) >= FEWEST and len({m["what"] for m in listed}) == len(listed)
    for mutant in listed:
        named = [part.split("::")[0] for part in shlex.split(mutant["tests"]) if part.startswith("tests/")]
        assert named and all((ROOT / name).is_file() for name in named), mutant["what"]


def test_no_test_looks_at_the_clock():
    """Times are measured in ``benchmarks``; here work is counted (``tests.counting``)."""
    found = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests").rglob("*.py")
        if path != Path(__file__) and CLOCK.search(path.read_text())
    }
    assert found <= WAITING


def test_skips_can_be_forbidden(tmp_path, monkeypatch):
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "test_skipped.py").write_text(SKIPPED)
    (tmp_path / "test_missing.py").write_text('import pytest\npytest.importorskip("no_such_module")\n')
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--rootdir", "."]
    for forbidden, words in (("0", "3 skipped, 1 xfailed"), ("1", "1 failed, 1 xfailed, 2 errors")):
        monkeypatch.setenv("MBD_FORBID_SKIPS", forbidden)
        done = subprocess.run(
            [*command, "--continue-on-collection-errors"], cwd=tmp_path, capture_output=True, text=True
        )
        assert words in done.stdout
