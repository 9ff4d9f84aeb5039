"""Variables of the schemes: their names, their times, their equations, files, and thinned output."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    GGLEM,
    RK4,
    DiscreteVariational,
    GGLMidpoint,
    GGLTrapezoidal,
    GonzalezEM,
    HamiltonianEM,
    LieEM,
    LivensEM,
    LivensMidpoint,
    Rattle,
    Shake,
)

STEP, T_END = 0.01, 0.2
SOLVED = 1e-7  # of the forces: what Newton's method leaves of the equations of a step


def pendulum() -> mbd.Model:
    """The spherical pendulum of Kinon, Betsch & Schneider 2023, Sec. 5.1: a unit mass on a unit rod."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    mass = model.add(mbd.PointMass("mass", 1.0, position=(1, 0, 0), velocity=(0, 1, 0)))
    model.add(mbd.joints.Distance(model.ground, mass, point_a=(0, 0, 0), point_b=(0, 0, 0), name="rod"))
    return model


def steps(solution: mbd.Solution) -> tuple[np.ndarray, ...]:
    """Positions and momenta at both ends of all steps."""
    q, p = solution.q, solution.scheme["p"]
    return q[:-1], q[1:], p[:-1], p[1:]


def test_equations_of_the_published_energy_momentum_scheme():
    """GGLEM (84): G = q^T for the rod, so that q1 - q0 = h (pm + qm gamma), p1 - p0 = h (g - qm lambda - pm gamma)."""
    solution = mbd.simulate(pendulum(), T_END, STEP, GGLEM())
    q0, q1, p0, p1 = steps(solution)
    lam, gamma = (solution.scheme[name][1:] for name in ("lambda", "gamma"))
    qm, pm = 0.5 * (q0 + q1), 0.5 * (p0 + p1)
    assert np.abs(q1 - q0 - STEP * (pm + qm * gamma)).max() < SOLVED * STEP
    assert np.abs(p1 - p0 - STEP * ((0, 0, -9.81) - qm * lam - pm * gamma)).max() < SOLVED * STEP
    assert np.abs(gamma).max() > 1e-6
    # the multiplier is the force of the rod in the middle of the step, with second order
    middle = np.interp(solution.scheme.time("lambda")[1:], solution.t, solution["rod"].multipliers[:, 0])
    assert lam[:, 0] == pytest.approx(middle, abs=5e-3)
    assert np.isnan(solution.scheme["lambda"][0]).all() and np.isnan(solution.scheme["gamma"][0]).all()
    assert solution.scheme["p"][0] == pytest.approx(np.array((0.0, 1.0, 0.0)))


@pytest.mark.parametrize("method", (Shake(), DiscreteVariational()), ids=repr)
def test_multipliers_act_at_the_start_of_the_step(method):
    """SHAKE: q2 - 2 q1 + q0 = h^2 (g - q1 lambda); for a point in uniform gravity DEL is the same."""
    solution = mbd.simulate(pendulum(), T_END, STEP, method)
    q, lam = solution.q, solution.scheme["lambda"]
    defect = q[2:] - 2.0 * q[1:-1] + q[:-2] - STEP**2 * ((0, 0, -9.81) - q[1:-1] * lam[2:])
    assert np.abs(defect).max() < SOLVED * STEP**2
    assert solution.scheme.time("lambda")[2:] == pytest.approx(solution.t[1:-1])


def test_both_multipliers_of_rattle():
    """p1 = m (q1 - q0)/h + h/2 (g - q1 mu)."""
    solution = mbd.simulate(pendulum(), T_END, STEP, Rattle())
    q0, q1, _, p1 = steps(solution)
    defect = p1 - (q1 - q0) / STEP - 0.5 * STEP * ((0, 0, -9.81) - q1 * solution.scheme["mu"][1:])
    assert np.abs(defect).max() < SOLVED * STEP
    assert "mu" not in mbd.simulate(pendulum(), T_END, STEP, Shake()).scheme


@pytest.mark.parametrize("method", (GonzalezEM(), LivensEM(), LivensMidpoint(), HamiltonianEM()), ids=repr)
def test_momenta_of_the_middle_of_a_step(method):
    """q1 - q0 = h pm, p1 - p0 = h (g - qm lambda)."""
    solution = mbd.simulate(pendulum(), T_END, STEP, method)
    q0, q1, p0, p1 = steps(solution)
    lam = solution.scheme["lambda"][1:]
    assert np.abs(q1 - q0 - STEP * 0.5 * (p0 + p1)).max() < SOLVED * STEP
    assert np.abs(p1 - p0 - STEP * ((0, 0, -9.81) - 0.5 * (q0 + q1) * lam)).max() < SOLVED * STEP


def test_alternating_multipliers_are_kept_apart_from_reactions():
    """GGLTrapezoidal with theta = 1: the scheme's own multipliers alternate around the force, which is smooth."""
    solution = mbd.simulate(pendulum(), T_END, STEP, GGLTrapezoidal())
    own, force = solution.scheme["lambda"][1:, 0], solution["rod"].multipliers[1:, 0]
    assert (np.diff(own)[1:] * np.diff(own)[:-1] < 0.0).all() and own[1] < 0.1 < 1.9 < own[0]
    assert (np.diff(force) > 0.0).all() and force[0] == pytest.approx(1.0, abs=0.02)  # v^2/l where it is horizontal
    assert solution.scheme.time("lambda")[1:] == pytest.approx(solution.t[1:])
    middle = mbd.simulate(pendulum(), T_END, STEP, GGLMidpoint()).scheme.time("gamma")
    assert middle[1:] == pytest.approx(np.arange(0.5, 20) * STEP)


def quaternion_top() -> mbd.Model:
    model = mbd.Model("top", gravity=(0, 0, -9.81))
    node = mbd.nodes.Quaternion(position=(0, 0.5, 0.2), velocity=(0.1, 0, 0), angular_velocity=(1, 4, -2))
    model.add(mbd.RigidBody("top", 2.0, (0.3, 0.5, 0.4), node, com=(0.1, 0.5, -0.05)))
    model.add(mbd.PointMass("mass", 1.5, position=(1, 0, 0), velocity=(0, 1, 0)))
    model.add(mbd.forces.Spring(model["top"], model["mass"], (0, 0.2, 0), (0, 0, 0), stiffness=20.0, length=0.5))
    return model


def test_generalized_energy_with_thinned_output():
    """Momenta are recorded, so that the generalized energy does not need every step; it is kept."""
    every = mbd.simulate(quaternion_top(), T_END, STEP, LivensEM())
    some = mbd.simulate(quaternion_top(), T_END, STEP, LivensEM(), output_step=5 * STEP)
    for name in ("p", "lambda", "generalized energy"):
        assert np.array_equal(some.scheme[name], every.scheme[name][::5], equal_nan=True)
    energy = every.scheme["generalized energy"]
    assert np.ptp(energy) < 1e-9 * np.abs(energy).max()
    assert np.ptp(every.energy.total) > 1e3 * np.ptp(energy)
    turned = mbd.simulate(quaternion_top().with_nodes(mbd.nodes.RotationVector), T_END, STEP, LivensEM())
    assert turned.scheme["p"] == pytest.approx(every.scheme["p"], abs=1e-9)


@pytest.mark.parametrize("method", (GGLEM(), Rattle(), LivensEM(), LieEM()), ids=repr)
def test_files_and_restarts(method, tmp_path):
    """Scheme variables and reactions are the same from a file, after a restart, and with thinned output."""
    whole = mbd.simulate(pendulum(), T_END, STEP, method)
    half = mbd.simulate(pendulum(), 0.5 * T_END, STEP, method)
    rest = mbd.simulate(pendulum(), T_END, STEP, method, start=half)
    thin = mbd.simulate(pendulum(), T_END, STEP, method, output_step=3 * STEP)  # the last record is an extra one
    whole.save(tmp_path / "run.mbd")
    loaded = mbd.load(tmp_path / "run.mbd")
    assert list(loaded.scheme) == list(whole.scheme) and len(whole.scheme) >= 1
    for name in whole.scheme:
        assert np.array_equal(loaded.scheme[name], whole.scheme[name], equal_nan=True)
        assert np.array_equal(loaded.scheme.time(name), whole.scheme.time(name))
        assert np.array_equal(rest.scheme[name], whole.scheme[name][-11:])
        assert np.array_equal(thin.scheme[name][1:-1], whole.scheme[name][3::3])
        assert np.array_equal(thin.scheme[name][-1], whole.scheme[name][-1])
    for other, part in ((loaded, slice(None)), (rest, slice(-11, None)), (thin, [*range(0, 20, 3), 20])):
        assert np.array_equal(other["rod"].force, whole["rod"].force[part])
        assert np.array_equal(other["mass"].acceleration, whole["mass"].acceleration[part])


def test_reactions_do_not_depend_on_later_changes_of_what_functions_refer_to():
    """Functions are evaluated as they were in the run, also for what is computed afterwards."""
    table = np.array([3.0])
    model = pendulum()
    model.add(mbd.forces.Force(model["mass"], lambda t, z, v: table[0] * z[0, 0:3]))
    model.add(mbd.forces.Force(model["mass"], lambda t: (0.0, 0.0, table[0] * t)))
    first = mbd.simulate(model, T_END, STEP, GGLEM())
    force = mbd.simulate(model, T_END, STEP, GGLEM())["rod"].force
    table[0] = 50.0
    mbd.simulate(model, T_END, STEP, GGLEM())
    assert np.array_equal(first["rod"].force, force)


def test_unknown_names_are_refused_with_those_that_exist():
    solution = mbd.simulate(pendulum(), T_END, STEP, GGLEM())
    with pytest.raises(mbd.ModelError, match="GGLEM has no variable 'mu'; expected one of 'lambda', 'gamma', 'p'"):
        solution.scheme["mu"]
    with pytest.raises(mbd.ModelError, match="no variable 'kappa'"):
        solution.scheme.time("kappa")
    with pytest.raises(mbd.ModelError, match="RK4 has no variable 'lambda'; it has none"):
        mbd.simulate(pendulum(), T_END, STEP, RK4()).scheme["lambda"]
    assert "gamma: " in repr(solution.scheme) and "t-0.5 h" in repr(solution.scheme)
