"""Generalized-alpha: its default, redundant and singular constraints, and where it must refuse to go on."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import GeneralizedAlpha
from mbd.nodes import RotationVector
from tests.integrators.models import heavy_top


def test_unstable_velocities_are_an_error_not_a_result():
    """Directors turning by 0.15 rad per step: index 3 diverges although Newton's method converges in every step."""
    model = mbd.Model("top", gravity=(0, 0, -9.81))
    start = mbd.nodes.Directors(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538))
    top = model.add(mbd.RigidBody("top", mass=15.0, inertia=(0.234375, 0.46875, 0.234375), node=start))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    with pytest.raises(mbd.ConvergenceError, match="top.*unstable.*stabilized=True"):
        mbd.simulate(model, 0.2, 1e-3, mbd.integrators.GeneralizedAlpha(rho_inf=0.9, stabilized=False))
    stable = mbd.simulate(model, 0.2, 1e-3, mbd.integrators.GeneralizedAlpha(rho_inf=0.9, stabilized=True))
    assert np.ptp(stable.energy.total) < 1e-4 * stable.energy.total[0]


@pytest.mark.filterwarnings("ignore::mbd.AccuracyWarning")  # so do runs that end before they are stopped
def test_where_a_run_stops_depends_on_the_step_alone(monkeypatch):
    """Index 3 runs away on directors at this step; however the run is cut into calls or continued, it stops there."""
    stops = set()
    for steps in (1, 7, 50, 1000):
        monkeypatch.setattr("mbd.simulation.simulation.FIRST_CHUNK", steps)
        monkeypatch.setattr("mbd.simulation.simulation._next_chunk", lambda *_, n=steps: n)
        with pytest.raises(mbd.ConvergenceError, match="grow without regard to the constraints of") as caught:
            mbd.simulate(heavy_top(mbd.nodes.Directors), 1.0, 5e-3, GeneralizedAlpha(stabilized=False))
        stops.add((caught.value.step, caught.value.solution.q[-1].tobytes(), len(caught.value.solution)))
    first = mbd.simulate(heavy_top(mbd.nodes.Directors), 0.1, 5e-3, GeneralizedAlpha(stabilized=False))
    with pytest.raises(mbd.ConvergenceError, match="grow without regard") as caught:
        mbd.simulate(heavy_top(mbd.nodes.Directors), 1.0, 5e-3, GeneralizedAlpha(stabilized=False), start=first)
    ended = caught.value.solution
    stops.add((caught.value.step, ended.q[-1].tobytes(), len(ended) + len(first) - 1))
    assert len(stops) == 1
    ((step, _, records),) = stops
    assert records == step + 1  # all steps that were accepted are there, and no more


# --- the default of simulate --------------------------------------------------------------------------------------

TOP = np.array((0.17334396409838, 0.64008859207055, -0.74849079113359))  # centre of the top at t = 1
TOP_ERROR = 2e-5  # as the README says of its first result, in m
LEAST = 1e-6  # part of the multipliers that the equations do not determine beside all of them


def satellite():
    """A hull with three wheels of 300 rad/s."""
    model = mbd.Model("satellite")
    omega = np.array((0.02, -0.01, 0.03))
    hull = model.add(mbd.RigidBody("hull", 100.0, (20.0, 25.0, 30.0), RotationVector(angular_velocity=omega)))
    for k, axis in enumerate(np.eye(3)):
        at = 0.5 * axis
        node = RotationVector(at, velocity=np.cross(omega, at), angular_velocity=omega + 300.0 * axis)
        wheel = model.add(mbd.RigidBody(f"wheel {k + 1}", 5.0, 0.03 + 0.02 * axis, node))
        model.add(mbd.joints.Revolute(hull, wheel, at=at, axis=axis))
    return model


def test_first_result_of_the_readme_is_as_good_as_it_says():
    benchmark = mbd.benchmarks.heavy_top()
    solution = mbd.simulate(benchmark.model, 1.0, 1e-4)
    assert solution.integrator == GeneralizedAlpha(rho_inf=0.9, stabilized=True, newton="step")
    assert np.linalg.norm(solution["top"].position[-1] - TOP) < TOP_ERROR


def test_wheels_keep_the_angular_momentum():
    """Index 3 loses it without limit: at this step it fails after two seconds."""
    lost = []
    for step in (5e-3, 2.5e-3, 1.25e-3):
        total = mbd.simulate(satellite(), 5.0, step).momentum.angular
        lost.append(np.abs(total - total[0]).max() / np.linalg.norm(total[0]))
    assert lost[0] < 7e-3
    assert np.log2(lost[1] / lost[2]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("stabilized", [False, True], ids=["index 3", "index 2"])
def test_reactions_of_redundant_joints_are_of_minimum_norm_at_every_step(stabilized):
    """Their sum over steps would not be: in ten seconds of this mechanism it grew to seventy times the forces."""
    benchmark = mbd.benchmarks.bricard()
    solution = benchmark.simulate(step=1e-2, integrator=GeneralizedAlpha(stabilized=stabilized))
    assert benchmark.error(solution) < 5e-4
    system = mbd.assemble(benchmark.model)
    for k in (100, 500, -1):
        rows = system.constraint_jacobian(solution.q[k], solution.t[k]).toarray()
        left, values, _ = np.linalg.svd(rows)
        redundant = left[:, np.count_nonzero(values > 1e-9 * values[0]) :]
        assert redundant.shape[1] == 1
        assert np.abs(redundant.T @ solution.lam[k]).max() < LEAST * np.linalg.norm(solution.lam[k])


@pytest.mark.parametrize("redundant", [False, True])
def test_steps_next_to_a_singular_configuration_are_left_to_index_3(redundant):
    """Without that the velocity constraints next to it fail (redundant) or throw the mechanism off its path."""
    step = 4e-3 if redundant else 3.25e-3
    benchmark = mbd.benchmarks.n_four_bar(2, redundant=redundant)
    solution = benchmark.simulate(step=step, integrator=GeneralizedAlpha())
    assert 1 <= solution.stats["index_3_steps"] <= 3
    assert benchmark.error(solution) < 60.0 * step**2
    assert mbd.simulate(mbd.benchmarks.heavy_top().model, 0.1, 1e-3).stats["index_3_steps"] == 0


def test_ratios_of_masses_are_no_singular_configuration():
    model = mbd.Model("light arm, heavy load", gravity=(0, 0, -9.81))
    last = model.ground
    for k, mass in enumerate((1.0, 1.0, 1e8)):
        node = RotationVector((k + 0.5, 0, 0))
        link = model.add(mbd.RigidBody(f"link {k}", mass, np.array((1e-3, 0.1, 0.1)) * mass, node))
        model.add(mbd.joints.Revolute(last, link, at=(k, 0, 0), axis=(0, 1, 0)))
        last = link
    solution = mbd.simulate(model, 0.1, 1e-3)
    assert solution.stats["smallest_pivot_ratio"] < 1e-7
    assert solution.stats["index_3_steps"] == 0


def test_units_are_no_singular_configuration():
    """In micrometres and micrograms ratios of pivots of a mechanism that leaves its symmetric start fall to 1e-7."""
    stats = []
    for length, mass in ((1.0, 1.0), (1e-6, 1e-9)):
        model = mbd.Model("arm and load", gravity=(0.0, 0.0, -9.81 * length))
        inertia = mass * length**2 * np.array((0.02, 0.05, 0.04))
        arm = model.add(mbd.RigidBody("arm", mass, inertia, RotationVector((0.3 * length, 0.0, 0.0))))
        load = model.add(mbd.RigidBody("load", mass, inertia, RotationVector((0.6 * length, 0.0, -0.2 * length))))
        model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
        model.add(mbd.joints.Spherical(arm, load, at=(0.6 * length, 0.0, 0.0)))
        model.add(mbd.forces.Force(load, lambda t, size=mass * length: (0.0, 2.0 * size * np.sin(3.0 * t), 0.0)))
        stats.append(mbd.simulate(model, 0.5, 0.01).stats)
    assert stats[1]["smallest_pivot_ratio"] < 1e-6
    assert [x["index_3_steps"] for x in stats] == [0, 0]
    assert stats[0]["newton_iterations"] == stats[1]["newton_iterations"]


def test_messages_advise_what_has_not_been_tried():
    model = mbd.benchmarks.slider_crank().model
    texts = {}
    for settings in ({}, {"stabilized": False}, {"stabilized": False, "newton": "full"}):
        with pytest.raises(mbd.ConvergenceError) as caught:
            mbd.simulate(model, 10.0, 0.2, GeneralizedAlpha(max_iterations=2, **settings))
        texts[len(settings)] = str(caught.value)
    assert "stabilized=True" not in texts[0] and "newton='full'" in texts[0]
    assert "stabilized=True" in texts[1] and "newton='full'" in texts[1]
    assert "stabilized=True" in texts[2] and "newton='full'" not in texts[2]
