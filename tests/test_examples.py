"""The examples run, and their numbers are right."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def load(name: str):
    """An example as a module."""
    specification = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def test_heavy_top(capsys):
    errors = load("heavy_top").main(steps=(1e-3, 5e-4))
    for name, (coarse, fine) in errors.items():
        assert np.log2(coarse / fine) == pytest.approx(4.0 if "RK4" in name else 2.0, abs=0.2)
    assert errors["RK4, joint"][0] == pytest.approx(7.137e-6, rel=1e-3)
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_high_speed_rotor(tmp_path, capsys):
    path = load("high_speed_rotor").main(t_end=0.1, step=1e-5, directory=tmp_path)
    assert np.abs(path).max() < 1e-3
    assert "333 turns" in capsys.readouterr().out
    assert (tmp_path / "high_speed_rotor.png").stat().st_size > 1000 or not has_matplotlib()


def test_slider_crank(capsys):
    errors = load("slider_crank").main(t_end=2.0)
    assert max(errors.values()) < 1e-8
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_chain(capsys):
    drifts = load("chain").main(counts=(5, 20), t_end=0.1)
    assert max(drifts.values()) < 1e-3
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_mixed_nodes(capsys):
    assert load("mixed_nodes").main(t_end=0.5) < 1e-8
    assert "mixture" in capsys.readouterr().out


def test_demo(tmp_path, capsys):
    solutions = load("demo").main(step=1e-3, directory=tmp_path, movie=False)
    assert len(solutions) == 4
    text = capsys.readouterr().out
    for word in ("heavy top", "RK4", "GeneralizedAlpha", "Quaternion", "us/step"):
        assert word in text
    if has_matplotlib():
        for name in ("heavy_top_energy.png", "heavy_top_motion.png"):
            assert (tmp_path / name).stat().st_size > 1000


def test_view_mechanism(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    pytest.importorskip("viser")
    written = load("view_mechanism").main(t_end=0.2, step=5e-3, directory=tmp_path)
    assert {"slider_pendulum.html", "slider_pendulum.glb", "slider_pendulum_energy.png"} <= {
        path.name for path in written
    }
    assert all(path.stat().st_size > 1000 for path in written)
    assert capsys.readouterr().out.count("wrote") == len(written)


def test_view_two_runs(tmp_path, capsys):
    pytest.importorskip("viser")
    runs = load("view_two_runs").main(t_end=0.2, directory=tmp_path)
    assert len(runs) == 2 and (tmp_path / "two_runs.html").stat().st_size > 100_000
    assert "two_runs.html" in capsys.readouterr().out


def test_closed_loop(tmp_path, capsys):
    largest = load("closed_loop").main(tmp_path, t_end=2.0, step=0.1)
    assert max(largest["LieEM, rotation vectors"]) < 1e-7
    energy, angular = largest["LivensEM, quaternions"]
    assert energy < 1e-6 < 1e-5 < angular  # the defect is a property of the method
    assert "angular momentum" in capsys.readouterr().out


def has_matplotlib() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def test_every_example_is_tested():
    tested = "".join(path.read_text() for path in Path(__file__).parent.rglob("test_examples.py"))
    for path in EXAMPLES.glob("*.py"):
        assert f'("{path.stem}")' in tested, f"examples/{path.name} has no test"
