"""The examples run, and their numbers are right."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def load(name: str):
    """An example as a module."""
    specification = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def quick_movies(monkeypatch):
    """Small pictures, few per second: the movies of the examples show all of the motion in a moment."""
    import mbd.view.movies as movies

    monkeypatch.setattr(movies, "RATE", 4.0)
    monkeypatch.setattr(movies, "SIZE", (192, 108))


def check_movie(path: Path, printed: str, seconds: float) -> None:
    """The movie is there, as long as it should be, and something moves in it; or it is said why there is none."""
    from mbd.view import opengl

    if opengl.obstacle():
        assert "no movie" in printed and not path.exists()
        return
    import imageio_ffmpeg

    assert f"movie: {path}" in printed
    count, duration = imageio_ffmpeg.count_frames_and_secs(str(path))
    assert count == round(4.0 * seconds) + 1 and duration == pytest.approx(count / 4.0, abs=0.1)
    tool = imageio_ffmpeg.get_ffmpeg_exe()
    command = [tool, "-loglevel", "error", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    data = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True).stdout
    frames = np.frombuffer(data, np.uint8).reshape(-1, 108, 192, 3).astype(int)
    assert len(frames) == count
    moved = np.abs(frames - frames[0]).max(axis=3)[:, :96] > 25  # without the clock
    assert moved.sum(axis=(1, 2)).max() > 30


def test_heavy_top(tmp_path, capsys, quick_movies):
    errors = load("heavy_top").main(steps=(1e-3, 5e-4), directory=tmp_path)
    for name, (coarse, fine) in errors.items():
        assert np.log2(coarse / fine) == pytest.approx(4.0 if "RK4" in name else 2.0, abs=0.2)
    assert errors["RK4, joint"][0] == pytest.approx(7.137e-6, rel=1e-3)
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 7
    check_movie(tmp_path / "heavy_top_reaction.mp4", out, 1.0 / 0.15)


def test_high_speed_rotor(tmp_path, capsys, quick_movies):
    path = load("high_speed_rotor").main(t_end=0.1, step=1e-5, directory=tmp_path)
    assert np.abs(path).max() < 1e-3
    out = capsys.readouterr().out
    assert "333 turns" in out
    check_movie(tmp_path / "high_speed_rotor.mp4", out, 5 * 60 / 200_000 / 2.5e-4)
    assert (tmp_path / "high_speed_rotor.png").stat().st_size > 1000 or not has_matplotlib()


def test_slider_crank(tmp_path, capsys, quick_movies):
    errors = load("slider_crank").main(t_end=2.0, directory=tmp_path)
    assert max(errors.values()) < 1e-8
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 4
    check_movie(tmp_path / "slider_crank.mp4", out, 2.0)


def test_chain(tmp_path, capsys, quick_movies):
    drifts = load("chain").main(counts=(5, 20), t_end=0.1, directory=tmp_path)
    assert max(drifts.values()) < 1e-3
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 4
    check_movie(tmp_path / "chain.mp4", out, 2.5)


def test_mixed_nodes(tmp_path, capsys, quick_movies):
    assert load("mixed_nodes").main(t_end=0.5, directory=tmp_path) < 1e-8
    out = capsys.readouterr().out
    assert "mixture" in out
    check_movie(tmp_path / "mixed_nodes.mp4", out, 2.5)


def test_without_a_directory_nothing_is_written(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = load("mixed_nodes")
    monkeypatch.setattr(module, "OUTPUT", tmp_path)
    module.main(t_end=0.01, directory=None)
    assert "movie" not in capsys.readouterr().out and not list(tmp_path.iterdir())


def test_demo(tmp_path, capsys, quick_movies):
    solutions = load("demo").main(step=1e-3, directory=tmp_path)
    assert len(solutions) == 4
    text = capsys.readouterr().out
    for word in ("heavy top", "RK4", "GeneralizedAlpha", "Quaternion", "us/step"):
        assert word in text
    if has_matplotlib():
        for name in ("heavy_top_energy.png", "heavy_top_motion.png"):
            assert (tmp_path / name).stat().st_size > 1000
    check_movie(tmp_path / "heavy_top.mp4", text, 5.0)
    assert f"page to play and turn the scene in: {tmp_path / 'heavy_top.html'}" in text
    assert "<title>heavy top</title>" in (tmp_path / "heavy_top.html").read_text()


def test_view_mechanism(tmp_path, capsys, quick_movies):
    pytest.importorskip("matplotlib")
    written = load("view_mechanism").main(t_end=0.25, step=5e-3, directory=tmp_path)
    assert {"slider_pendulum.html", "slider_pendulum.glb", "slider_pendulum_energy.png"} <= {
        path.name for path in written
    }
    assert all(path.stat().st_size > 1000 for path in written)
    out = capsys.readouterr().out
    assert all(str(path) in out for path in written)
    check_movie(tmp_path / "slider_pendulum.mp4", out, 0.25)


def test_view_two_runs(tmp_path, capsys, quick_movies):
    runs = load("view_two_runs").main(t_end=0.2, directory=tmp_path)
    assert len(runs) == 2 and (tmp_path / "two_runs.html").stat().st_size > 100_000
    assert "two_runs.html" in capsys.readouterr().out


def test_table_1(tmp_path, capsys):
    from mbd.view import can_render

    errors = load("table_1").main(["4", "three-bar", "puma"], directory=tmp_path, size=(192, 120))
    assert list(errors) == ["follower-torque", "three-bar", "puma"] and max(errors.values()) < 1e-9
    assert " 13  three-bar" in capsys.readouterr().out
    written = {path.name for path in tmp_path.iterdir()}
    pictures = {"follower-torque.png", "three-bar.png", "puma.png"}
    assert written >= pictures if can_render() else not written & pictures
    with pytest.raises(SystemExit, match="'16' is no system; expected 1 to 15 or free-body"):
        load("table_1").main(["16"])


def test_stewart_platform(tmp_path, capsys, quick_movies):
    found = load("stewart_platform").main(tmp_path, step=1e-3)
    assert 0.002 < found[1.0] < 0.003 < found[3.0] < found[10.0]
    out = capsys.readouterr().out
    assert "error against the equations by hand" in out
    assert (tmp_path / "stewart_platform_legs.png").stat().st_size > 1000 or not has_matplotlib()
    check_movie(tmp_path / "stewart_platform.mp4", out, 4.0)


def test_closed_loop(tmp_path, capsys, quick_movies):
    largest = load("closed_loop").main(tmp_path, t_end=2.0, step=0.1)
    assert max(largest["LieEM, rotation vectors"]) < 1e-7
    energy, angular = largest["LivensEM, quaternions"]
    assert energy < 1e-6 < 1e-5 < angular  # the defect is a property of the method
    out = capsys.readouterr().out
    assert "angular momentum" in out
    check_movie(tmp_path / "closed_loop.mp4", out, 2.0)


def test_tuned_absorber(tmp_path, capsys):
    module = load("tuned_absorber")
    best = module.main(count=6, directory=tmp_path)
    exact = module.warburton(module.RATIO)
    assert best.parameters == pytest.approx(exact, abs=1e-3)  # up to what moves after the end of the run
    assert "Warburton: tuning = 0.9315, damping = 0.1525" in capsys.readouterr().out
    assert (tmp_path / "tuned_absorber.png").stat().st_size > 5000


def test_pendulum_clock(tmp_path, capsys, quick_movies):
    module = load("pendulum_clock")
    assert abs(module.main(25, tmp_path) - module.closed_solution()) < 1e-6  # fourth order, steps of 0.02 s
    out = capsys.readouterr().out
    assert "runs of one system" in out
    check_movie(tmp_path / "pendulum_clock.mp4", out, 4.0)


def test_asking_optuna(tmp_path, capsys):
    """Every trial is a run, and the best of a few is near the closed solution."""
    sys.modules.pop("tuned_absorber", None)
    optimiser = load("optuna_absorber").main(4, tmp_path)
    values = [trial.value for trial in optimiser.trials]
    assert len(values) == 32 and optimiser.best_value == min(values)
    exact = sys.modules["tuned_absorber"].warburton(sys.modules["tuned_absorber"].RATIO)
    assert all(abs(optimiser.best_params[name] - value) < 0.1 for name, value in exact.items())
    assert "Warburton: tuning = " in capsys.readouterr().out and (tmp_path / "optuna_absorber.png").stat().st_size > 0


def test_cart_pole(tmp_path, capsys, quick_movies):
    """Near the upright position as the linear model says, but for the sampling; from 20 degrees it is caught."""
    module = load("cart_pole")
    errors = []
    for step in (4e-3, 2e-3):
        module.STEP = step
        solution = module.balance(0.01, 1.0)
        found = np.array((solution["rail"].displacement[-1], solution["hinge"].angle[-1]))
        errors.append(np.abs(found - module.predicted(0.01, 1.0)[:2]).max())
    assert errors[1] < 1e-4 and 1.8 < errors[0] / errors[1] < 2.2  # a force that is held is late by half a sample
    module.main(tmp_path)
    out = capsys.readouterr().out
    check_movie(tmp_path / "cart_pole.mp4", out, 5.0)
    lines = [line for line in out.splitlines() if " deg " in line]
    assert ["fell" in line for line in lines] == [False, False, True, True]
    assert np.abs(module.balance(0.35)["hinge"].angle[-1]) < 1e-2


def test_sampled_pid(tmp_path, capsys):
    """The recursion of the sampled loop is met with the order of the method, with saturation or without."""
    module = load("sampled_pid")
    for options in ({}, {"limit": 8.0}, {"limit": 8.0, "waits": False}):
        gaps = []
        for step in (2e-3, 1e-3):
            module.STEP = step
            way = module.run(module.PID(**options))["rail"].displacement[:: round(module.SAMPLE / step)]
            gaps.append(np.abs(way - module.exact(module.PID(**options))).max())
        assert gaps[1] < 1e-6 and 3.5 < gaps[0] / gaps[1] < 4.5
    module.main(tmp_path)
    assert "the integral winds up" in capsys.readouterr().out
    assert (tmp_path / "sampled_pid.png").stat().st_size > 5000


def test_gymnasium_cart_pole(tmp_path, capsys, monkeypatch):
    from gymnasium.utils.env_checker import check_env

    monkeypatch.syspath_prepend(str(EXAMPLES))
    module = load("gymnasium_cart_pole")
    environment = module.CartPole()
    check_env(environment, skip_render_check=True)
    assert module.episode(environment, module.gains(), 3) == 500.0
    assert module.episode(environment, 0.0 * module.gains(), 3) < 200.0
    first = environment.reset(seed=5)[0]
    assert np.array_equal(environment.reset(seed=5)[0], first)
    module.main(tmp_path)
    assert "regulator          500.0" in capsys.readouterr().out
    assert (tmp_path / "gymnasium_cart_pole.png").stat().st_size > 5000


def has_matplotlib() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def test_every_example_is_tested():
    tested = "".join(path.read_text() for path in Path(__file__).parents[1].rglob("test_examples.py"))
    for path in EXAMPLES.glob("*.py"):
        assert f'("{path.stem}")' in tested, f"examples/{path.name} has no test"
