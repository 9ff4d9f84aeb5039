"""The code of the pages that answer questions runs, and does what its comments say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import mbd

ROOT = Path(__file__).resolve().parents[2]


def run(page: str) -> dict:
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL):
        exec(compile(block, page, "exec"), names)
    return names


def test_recipes():
    x = run("docs/recipes.md")
    assert x["torque"] == pytest.approx((0.0, 0.4, 0.0), abs=1e-5)
    assert x["speed"] == pytest.approx(10.0 * (1.0 - np.exp(-20.0 * 0.05 / (0.1 + 100.0 * 1e-3))), rel=2e-2)
    assert np.abs(x["started"][x["engine"]].effort).max() <= 0.4
    assert x["stop"] == pytest.approx(3.0, abs=0.02)
    assert x["depth"] == pytest.approx(9.81e-4, rel=1e-3)
    assert x["ratio"] == pytest.approx(1.0 / 6.0, rel=1e-9)
    assert x["way"] == pytest.approx(2.0, abs=1e-8)
    assert x["rolled"][x["contact"]].force[-1] == pytest.approx((0.0, 0.0, 9.81), abs=1e-6)
    assert x["sag"] == pytest.approx(2.0 * 9.81 / 5e3, rel=1e-3)
    assert np.ptp(x["swung"].energy.total) < 1e-2
    assert x["found"].redundant == 2 and x["good"].redundant == 0
    assert x["landed"] == pytest.approx(np.sqrt(4.0 / 9.81), abs=1e-9)
    assert "height above the floor" in x["thrown"].channels
    assert x["reached"] == pytest.approx(0.5, abs=2e-3)


def test_composition():
    assert np.ptp(run("docs/composition.md")["solution"].energy.total) < 1e-4


def test_new_user(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("html", "movie", "plot"):
        monkeypatch.setattr(mbd.Solution, name, lambda self, *arguments, **options: None)
    swing = run("docs/new_user.md")["swing"]
    out, page = capsys.readouterr().out, (ROOT / "docs/new_user.md").read_text()
    assert "4 degrees of freedom" in out
    assert re.search(r"`(stopped by release at .* m/s)`", page)[1] in out
    assert np.ptp(swing.energy.total) < 0.1 * 1e-2 * np.ptp(swing.energy.kinetic)


def test_performance(capsys):
    x = run("docs/performance.md")
    assert {"steps", "newton_iterations", "factorizations", "rejected"} <= set(x["solution"].stats)
    assert "RK4" in capsys.readouterr().out


def test_numbers_of_the_performance_page_are_measured_ones():
    measured = (ROOT / "benchmarks/README.md").read_text()
    page = (ROOT / "docs/performance.md").read_text()
    for kind in ("joint", "absolute"):
        found = re.search(rf"\| mbd, {kind} coordinates, RK4 \| [\d.]+ \| ([\d.]+) \| [\d.]+ \|", measured)
        assert found is not None and found[1] in page
    assert "compiles for 25 s of CPU time" in measured


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Exudyn, about its own names
def test_coming_from_other_programs(capsys):
    """All programs that are installed find the same positions after a second."""
    names: dict = {}
    for needed, block in re.findall(
        r"```python *(\w*)\n(.*?)```", (ROOT / "docs/coming_from.md").read_text(), re.DOTALL
    ):
        if not needed or importlib.util.find_spec(needed):
            exec(compile(block, f"coming_from.md, {needed or 'mbd'}", "exec"), names)
    assert names["mujoco_angles"] == pytest.approx(names["angles"], abs=1e-7)
    assert names["sympy_angles"] == pytest.approx(names["angles"], abs=1e-8)
    rocker = names["closed"]["rocker"].position[-1]
    assert names["mujoco_rocker"] == pytest.approx(rocker, abs=1e-5)  # its loops are closed by stiff springs
    if "exudyn_rocker" in names:  # no wheels for some platforms
        assert names["exudyn_position"] == pytest.approx(names["fallen"]["link 1"].position[-1], abs=5e-5)
        assert names["exudyn_rocker"] == pytest.approx(rocker, abs=1e-6)
