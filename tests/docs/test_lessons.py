"""Lessons and notebooks run, and print numbers that are right. Their pictures and pages are made by the build."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib.figure
import matplotlib.pyplot
import pytest

import mbd

ROOT = Path(__file__).resolve().parents[2]
LESSONS = sorted((ROOT / "docs/lessons").glob("*.py"))
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.py"))
LONG = {"energy_in_long_runs", "order_of_methods"}  # run by ``make docs``


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """Run a script without pictures; what it printed."""
    monkeypatch.chdir(tmp_path)
    for name in ("html", "movie", "plot", "picture"):
        monkeypatch.setattr(mbd.Solution, name, lambda self, *arguments, **options: None)
    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", lambda self, *arguments, **options: None)

    def run(name: str) -> str:
        path = next(x for x in (*LESSONS, *NOTEBOOKS) if x.stem == name)
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "__main__"})
        matplotlib.pyplot.close("all")
        return capsys.readouterr().out

    return run


def numbers(text: str, pattern: str) -> list[float]:
    found = re.search(pattern, text)
    assert found is not None, f"{pattern} is not in what was printed:\n{text}"
    return [float(x) for x in found.groups()]


NUMBER = r"(-?[\d.]+(?:e[-+]\d+)?)"


def test_every_script_is_run_here_or_by_the_build():
    here = Path(__file__).read_text()
    for path in (*LESSONS, *NOTEBOOKS):
        assert f'printed("{path.stem}")' in here or path.stem in LONG, path.name
        assert path.read_text().startswith('"""\n') and "# %%" in path.read_text()


def test_first_mechanism(printed):
    text = printed("lesson_0_first_mechanism")
    assert "1 degree of freedom" in text and "Nothing looks wrong" in text


def test_pendulum(printed):
    text = printed("lesson_1_pendulum")
    period, exact = numbers(text, rf"period {NUMBER} s\nexact  {NUMBER} s")
    assert period == pytest.approx(exact, abs=1e-5)
    assert numbers(text, rf"force at the lowest point: \[\S+ +\S+ +{NUMBER}\]") == pytest.approx([2.5 * 9.81], rel=1e-4)


def test_double_pendulum(printed):
    text = printed("lesson_2_double_pendulum")
    assert len(set(re.findall(r"tip at (\[.*\])", text))) == 1 and text.count("tip at") == 4
    kept, default = numbers(text, rf"LieEM: {NUMBER} J; the default: {NUMBER} J")
    assert kept < 1e-10 < default


def test_forces(printed):
    text = printed("lesson_3_forces")
    measured, linear = numbers(text, rf"frequency from the run: {NUMBER} Hz, linear: {NUMBER} Hz")
    assert measured == pytest.approx(linear, rel=2e-3)
    assert re.search(r"N/m: -?0.0 degrees", text)
    work, change = numbers(text, rf"work {NUMBER} J, change of energy {NUMBER} J")
    assert work == pytest.approx(change, rel=1e-3)


def test_closed_loop(printed):
    text = printed("lesson_4_closed_loop")
    assert "1 degree of freedom, 0 redundant equations" in text and "3 joint equations of 20" in text
    assert numbers(text, rf"largest difference: {NUMBER} m")[0] < 1e-12


def test_control(printed):
    text = printed("lesson_5_control")
    assert abs(numbers(text, rf"PD and gravity compensation: error at the end {NUMBER}")[0]) < 0.01
    assert abs(numbers(text, rf"PD: error at the end {NUMBER}")[0]) > 1.0
    assert numbers(text, rf"with feedforward: {NUMBER} degrees")[0] < 1e-3


def test_robot(printed):
    text = printed("lesson_6_robot")
    assert "joint       6 velocities,   0 equations" in text
    assert numbers(text, rf"hand moved by \[ ?{NUMBER}")[0] == pytest.approx(0.2, abs=2e-3)


def test_tennis_racket(printed):
    measured, theory = numbers(printed("middle_axis"), rf"growth rate {NUMBER} 1/s, linear theory {NUMBER} 1/s")
    assert measured == pytest.approx(theory, rel=2e-3)


def test_heavy_top(printed):
    text = printed("precession")
    slow, measured = numbers(text, rf"slow {NUMBER} rad/s.*\nmeasured {NUMBER} rad/s")
    assert measured == pytest.approx(slow, abs=1e-5)


def test_drift(printed):
    text = printed("drift_and_stabilisation")
    found = {name: (float(p), float(v)) for name, p, v in re.findall(r"(.*?) +positions (\S+) +velocities (\S+)", text)}
    assert min(found["index 1, no correction"]) > 1e-5
    assert found["index 3"][0] < 1e-14 and found["index 3"][1] > 1e-5
    assert max(found["stabilised index 2"]) < 1e-8 and max(found["RK4, projected"]) < 1e-14
