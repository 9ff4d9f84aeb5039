"""The code on the pages of the documentation runs as it stands, and the links between the pages lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbd

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md")), ROOT / "examples/README.md"]


@pytest.fixture(autouse=True)
def quick_movies(monkeypatch):
    """Small pictures, few per second."""
    import mbd.view.movies as movies

    monkeypatch.setattr(movies, "RATE", 4.0)
    monkeypatch.setattr(movies, "SIZE", (192, 108))


def run(page: str, **names: object) -> dict:
    """Execute the code of a page from top to bottom; the names that it defines."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    scope: dict = dict(names)
    for block in blocks:
        exec(compile(block, page, "exec"), scope)
    return scope


def needs_rendering() -> None:
    from mbd.view import opengl

    if reason := opengl.obstacle():
        pytest.skip(reason)


def test_readme(tmp_path, monkeypatch, capsys):
    needs_rendering()
    monkeypatch.chdir(tmp_path)
    names = run("README.md")
    exact = np.array((0.17334396409838, 0.64008859207055, -0.74849079113359))  # centre of mass at t = 1
    assert np.linalg.norm(names["solution"]["top"].com[-1] - exact) < 2e-5
    shown = re.search("printed, `(.*)`, is right", (ROOT / "README.md").read_text())
    assert shown is not None and capsys.readouterr().out.splitlines()[0] == shown[1]
    np.testing.assert_array_equal(names["solution"]["top"].com[-1].round(4), exact.round(4))  # to the last digit shown
    assert (tmp_path / "top.mp4").stat().st_size > 1000


def test_measured_facts_of_the_readme_are_in_the_table_of_benchmarks():
    measured = (ROOT / "benchmarks/README.md").read_text()
    rows = re.findall(r"^\| (.*?) \| ([\d.]+) \| (.*?)\|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(rows) == 8
    for what, ours, others in rows:
        for number in (ours, *re.findall(r"(?<!\w)\d[\d.]*", others)):
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", measured), f"{what}: {number}"


def test_matrices_of_a_model(tmp_path):
    names = run("docs/index.md", mbd=mbd, model=mbd.benchmarks.heavy_top().model)
    assert names["system"].n_v == 6 and names["system"].mass_matrix(names["q"]).shape == (6, 6)


def test_cosimulation(tmp_path):
    """In a process of its own, because a unit starts Python inside of it."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/cosimulation.md").read_text(), re.DOTALL)
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0.5"


def test_joint_coordinates(capsys):
    names = run("docs/joint_coordinates.md")
    assert names["start"].coordinates.carried[1].joint.name == "elbow"
    assert names["solution"]["elbow"].angle[0] == pytest.approx(np.pi / 6)
    assert names["system"].velocity_names == ("shoulder angle", "elbow angle")
    assert "elbow (5 equations): asked for by cut=" in capsys.readouterr().out


def test_benchmarks():
    names = run("docs/benchmarks.md", mbd=mbd)
    assert max(names["benchmark"].check(names["solution"]).values()) < 1e-3
    text = (ROOT / "docs/benchmarks.md").read_text()
    for name in mbd.benchmarks.ALL:
        assert f"`{name}`" in text, f"docs/benchmarks.md does not list {name}"
    for number, name in mbd.benchmarks.TABLE_1.items():
        assert re.search(rf"^\| {number} \| .* \| `{name}`", text, re.MULTILINE), f"system {number} is not listed"


def test_forces_on_joints():
    names = run("docs/joint_forces.md")
    solution, elbow = names["solution"], names["elbow"]
    assert solution[elbow].angle[0] == pytest.approx(0.5 * np.pi, abs=1e-15)
    assert solution[elbow].angle[-1] == pytest.approx(names["swing"](1.0), abs=0.02)
    assert np.abs(solution["shoulder"].angle[-1]) < 0.2


def test_results(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run("docs/results.md")
    whole = names["solution"]
    assert np.array_equal(names["again"].q, whole.q) and names["table"].shape == (2001, 4)
    assert np.allclose(names["chosen"]["hinge.angle"], whole["hinge"].angle[::10], rtol=1e-12, atol=1e-14)
    assert np.array_equal(names["from_disk"].q, names["stored"].q) and len(names["stored"]) == 20001
    assert np.allclose(names["angle"], whole["hinge"].angle, rtol=1e-12, atol=1e-14)
    assert "energy balance" in capsys.readouterr().out


def test_control(capsys):
    names = run("docs/control.md")
    assert names["solution"]["hinge"].angle[-1] == pytest.approx(names["target"], abs=1e-3)
    assert f"`{capsys.readouterr().out.splitlines()[0]}`" in (ROOT / "docs/control.md").read_text()
    assert names["solution"].inputs["u"].shape == names["solution"].t.shape
    assert np.array_equal(names["again"].q, names["first"].q)
    assert names["best"] == 5.0
    assert names["landed"] == pytest.approx(np.sqrt(2.0 / 9.81), abs=1e-9)


@pytest.mark.filterwarnings("ignore::mbd.ModelWarning")
def test_imported_robots(tmp_path, monkeypatch):
    """The arm reaches its targets under its limits, and both descriptions of it have the same equations."""
    monkeypatch.chdir(tmp_path)
    names = run("docs/import.md")
    solution, robot = names["solution"], names["robot"]
    assert solution["shoulder"].angle[-1] == pytest.approx(0.0, abs=1e-4)
    assert solution["elbow"].angle[-1] == pytest.approx(1.0, abs=1e-4)
    assert np.abs(solution["elbow control"].effort).max() == pytest.approx(robot["elbow"].effort, rel=1e-12)
    assert names["weights"] == pytest.approx(2 * [-9.81 * 0.15 * np.sin(1.0)], abs=1e-3)
    bare = [mbd.load_urdf("arm.urdf", coordinates="joint"), mbd.load_mjcf("arm.xml", coordinates="joint")]
    systems = [mbd.assemble(model) for model in bare]
    masses = [system.mass_matrix(np.array([0.3, 0.7])).toarray() for system in systems]
    assert masses[1] - masses[0] == pytest.approx(np.diag([0.0, 0.01]), abs=1e-14)  # the armature


def test_rigid_bodies():
    assert np.ptp(run("docs/rigid_body.md")["solution"].energy.total) < 1e-13


@pytest.mark.filterwarnings("ignore::mbd.ModelWarning")
def test_parameters(capsys):
    names = run("docs/parameters.md")
    after, before = names["after"], names["before"]
    assert np.abs(after - before).max() > 0.1
    fresh = mbd.simulate(names["handle"].model(), 0.5, 0.01)
    assert np.array_equal(names["solution"].q, fresh.q)
    slope = names["slope"]["hinge"].angle
    assert slope.shape == (51,) and slope[-1] != 0.0
    assert len(names["study"]) == 6 and np.isfinite(names["study"]["angle"]).all()


def test_studies(tmp_path, monkeypatch, capsys):
    import matplotlib.pyplot

    monkeypatch.chdir(tmp_path)
    names = run("docs/studies.md")
    matplotlib.pyplot.close("all")
    assert names["solution"]["hinge"].angle[-1] == names["study"]["angle"][7]
    assert names["study"]["path"].shape == (12, 6, 3) and names["watched"].complete
    assert [failed.run for failed in names["partly"].failed] == [8, 9, 10, 11]
    out = capsys.readouterr().out
    assert "4 of 12 runs have no result" in out and "values of parameter 'length'" in out
    low, high = names["fit"].intervals["length"]
    assert low < 0.42 < high and high - low < 0.02
    assert names["best"].value < 1e-8


def test_views(tmp_path, monkeypatch):
    from mbd.view.running import Live

    needs_rendering()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mbd.view.window.has_display", lambda: True)
    opened = []
    monkeypatch.setattr("mbd.view.window.Window", lambda plotter, runs, **_: opened.append(len(runs)))
    monkeypatch.setattr("pyvista.Plotter.show", lambda self, **_: None)
    monkeypatch.setattr("mbd.view.render.grab", lambda stage: np.zeros((*stage.plotter.window_size[::-1], 3), np.uint8))
    monkeypatch.setattr("mbd.view.movies.grab", lambda stage: np.zeros((*stage.plotter.window_size[::-1], 3), np.uint8))
    ran = []
    monkeypatch.setattr("mbd.view.running.live", lambda model, **x: ran.append(Live(model, **x).frame(0.1)["t"]))
    model = mbd.benchmarks.heavy_top().model
    runs = [mbd.simulate(model, 0.6, 2e-3, method) for method in (None, mbd.integrators.RK4())]
    run("docs/view.md", mbd=mbd, solution=runs[0], other=runs[1])
    assert opened == [1, 2] and ran == [pytest.approx(0.1)]
    assert {path.name for path in tmp_path.iterdir()} == {
        "energy.png", "top.png", "top.mp4", "top.html", "top.glb", "top_report.html", "top.svg", "top.usda", "top.pvd",
        "top",
    }  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])
def test_links(page):
    for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text()):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


def test_code_of_every_page_is_run():
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("*.py"))
    for page in ROOT.glob("docs/*.md"):
        if "```python" in page.read_text():
            assert f"docs/{page.name}" in tests or f'"{page.name}"' in tests, f"no test runs the code of {page.name}"


def test_every_example_is_listed():
    text = (ROOT / "examples/README.md").read_text()
    for path in (ROOT / "examples").glob("*.py"):
        assert f"`{path.name}`" in text, f"examples/README.md does not list {path.name}"
