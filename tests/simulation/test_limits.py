"""Runs that cannot be: too many records for the memory, steps that vanish beside the time."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4
from mbd.simulation import memory

FREE = 2e6  # bytes


def ball():
    model = mbd.Model("ball", gravity=(0, 0, -9.81))
    model.add(mbd.PointMass("ball", 1.0))
    return model


@pytest.fixture
def small(monkeypatch):
    """A machine with little memory."""
    monkeypatch.setattr("mbd.simulation.memory.available_memory", lambda: FREE)
    monkeypatch.setattr("mbd.simulation.simulation.available_memory", lambda: FREE)


def test_records_that_do_not_fit_are_refused(small):
    """t, q, v, vd and one counter are 11 numbers: 1 000 001 records of 88 bytes."""
    with pytest.raises(
        mbd.ModelError,
        match=r"1e\+06 records of 11 numbers each, 0\.088 GB, .* 0\.002 GB .*free.*output_step= \(now 0\.001 s\)",
    ):
        mbd.simulate(ball(), 1000.0, 1e-3, RK4())
    with pytest.raises(mbd.ModelError, match=r"1e\+06 records .*output_step"):
        mbd.simulate(ball(), 1000.0, 1e-1, DOPRI5(), output_step=1e-3)
    with pytest.raises(mbd.ModelError, match=r"1e\+06 records .*output_step"):
        mbd.simulate(ball(), 1000.0, 1e-3, DOPRI5(max_step=1e-3))
    assert len(mbd.simulate(ball(), 100.0, 1e-2, RK4(), output_step=0.1)) == 1001
    with pytest.raises(mbd.ModelError, match="kinematics: the run has 1e.06 records .*larger step"):
        model = mbd.Model("driven")
        body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1)))
        model.add(mbd.joints.DrivenFrame(model.ground, body, name="driver"))
        mbd.kinematics(model, 1000.0, 1e-3)


def test_step_size_control_stops_where_the_memory_ends(small, capsys):
    """The number of its records is not known before; what was computed is kept."""
    model = ball()
    model.add(mbd.forces.Spring(model.ground, model["ball"], stiffness=100.0, length=0.0, damping=0.0, name="spring"))
    solution = mbd.simulate(model, 1e5, 1e-2, DOPRI5(rtol=1e-10, atol=1e-12))
    assert not solution.complete and "the memory was full of records" in solution.message
    assert "output_step=" in solution.message
    assert 0.5 * FREE < 88 * len(solution) < 2.0 * FREE + 88 * 10000


def test_the_memory_of_control_groups_counts(tmp_path, monkeypatch):
    group = tmp_path / "user" / "job"
    group.mkdir(parents=True)
    for name, text in (("max", "3000000\n"), ("current", "1000000\n"), ("stat", "anon 5\ninactive_file 500000\n")):
        (group / f"memory.{name}").write_text(text)
    (tmp_path / "user" / "memory.max").write_text("max\n")
    listing = tmp_path / "cgroup"
    listing.write_text("0::/user/job\n")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    monkeypatch.setattr(memory, "OWN_GROUPS", listing)
    assert min(memory._groups()) == 2500000.0
    assert memory.available_memory() <= 2500000.0
    listing.unlink()
    assert memory._groups() == [float("inf")]


@pytest.mark.parametrize("method", [RK4(), DOPRI5(), mbd.integrators.GeneralizedAlpha()], ids=lambda m: m.name)
def test_steps_that_vanish_beside_the_time(method):
    with pytest.raises(mbd.ModelError, match=r"step is 1e-17, which is lost beside t = 1 \(t \+ step == t"):
        mbd.simulate(ball(), 1.0, 1e-17, method)
    with pytest.raises(mbd.ModelError, match=r"step is 0\.001, which is lost beside t = 1e\+15"):
        mbd.simulate(ball(), 1e15 + 1.0, 1e-3, method, t_start=1e15)
    if method.adaptive:
        with pytest.raises(mbd.ModelError, match="max_step is 1e-10, which is lost"):
            mbd.simulate(ball(), 1e8 + 1.0, 1e-3, DOPRI5(max_step=1e-10), t_start=1e8)
        with pytest.raises(mbd.ModelError, match="output_step is 1e-10, which is lost"):
            mbd.simulate(ball(), 1e8 + 1.0, 1e-3, method, t_start=1e8, output_step=1e-10)


@pytest.mark.parametrize("method", [RK4(), DOPRI5()], ids=lambda m: m.name)
def test_late_times_have_all_their_records(method):
    """Beside t = 1e8 a multiple of 0.01 has lost half of its digits: no record is missing, and the run ends."""
    solution = mbd.simulate(ball(), 1e8 + 1.0, 1e-2, method, t_start=1e8, output_step=0.1)
    assert solution.t == pytest.approx(1e8 + 0.1 * np.arange(11), abs=1e-7)
    assert solution["ball"].position[-1, 2] == pytest.approx(-9.81 / 2, abs=1e-6)
