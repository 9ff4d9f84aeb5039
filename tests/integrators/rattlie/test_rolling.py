"""Rolling in RATTLie: orders, no slip at the ends of steps, a closed solution, energy of long runs, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import RK6, Composition, Invariant, RATTLie
from mbd.nodes import RotationVector
from tests.integrators.convergence import observed
from tests.joints.test_rolling_over_step import on_a_plate
from tests.joints.test_rolling_over_step import wobbling_disk as disk

RADIUS = 0.5


def ball(slope: float = 0.0) -> mbd.Model:
    """An uneven ball on a plane, or a solid one that starts at rest on a slope (gravity leans)."""
    model = mbd.Model("ball", gravity=9.81 * np.array((np.sin(slope), 0, -np.cos(slope))))
    inertia = 2.0 * 0.4 * RADIUS**2 * np.ones(3) if slope else (0.16, 0.2, 0.26)
    spin = (0, 0, 0) if slope else (1.0, 2.0, -1.5)
    body = model.add(mbd.RigidBody("ball", 2.0, inertia, RotationVector((0, 0, RADIUS), angular_velocity=spin)))
    model.add(mbd.joints.Rolling(model.ground, body, radius=RADIUS, name="contact"))
    return model


@pytest.mark.parametrize("build", [disk, ball, lambda: on_a_plate(False)], ids=["disk", "ball", "ball on a plate"])
def test_second_order_and_no_slip(build, tolerance):
    t_end, numbers = 1.0, (50, 100)
    exact = observed(mbd.simulate(build(), t_end, 1e-3, RK6(), output_step=0.1))
    found = []
    for n in numbers:
        solution = mbd.simulate(build(), t_end, t_end / n, RATTLie(tolerance=1e-12), output_step=0.1)
        found.append([np.abs(x - y)[1:].max() for x, y in zip(observed(solution), exact, strict=True)])
        assert solution.constraint_error.position.max() < 1e-12
        assert solution.constraint_error.velocity.max() < 1e-11  # slip among them
    for x in np.transpose(found):
        assert mbd.testing.observed_order(x, 1.0 / np.array(numbers)) == pytest.approx(2.0, abs=tolerance.order)


def test_ball_on_a_slope():
    """Five sevenths of the acceleration of a sliding body, two sevenths of its weight along the slope as friction."""
    slope = 0.3
    solution = mbd.simulate(ball(slope), 2.0, 0.05, RATTLie())
    along = 9.81 * np.sin(slope)
    assert solution["ball"].position[:, 0] == pytest.approx(0.5 * 5.0 / 7.0 * along * solution.t**2, abs=1e-10)
    assert np.abs(solution["contact"].force[-1, 0]) == pytest.approx(2.0 / 7.0 * 2.0 * along, rel=1e-8)


def test_energy_of_a_long_run():
    """The disk for 40 s: errors of second order that do not grow; the form is not claimed to be symplectic."""
    kept = RATTLie().preserves(mbd.assemble(disk()))
    assert Invariant.SYMPLECTIC not in kept and Invariant.VELOCITY_CONSTRAINTS in kept
    energy = mbd.simulate(disk(), 40.0, 0.02, RATTLie()).energy.total
    error = np.abs(energy / energy[0] - 1.0)
    assert error[:200].max() < 2e-3
    assert error[-200:].max() < 1.2 * error[:200].max()


def test_compositions_are_refused():
    """A step begins with multipliers of the step before: no map of coordinates and velocities."""
    with pytest.raises(mbd.IncompatibleError, match="rolling a step of RATTLie begins with multipliers"):
        mbd.simulate(disk(), 0.1, 0.01, Composition(RATTLie()))


def test_restart_goes_on_bit_for_bit():
    whole = mbd.simulate(disk(), 0.2, 0.01, RATTLie())
    rest = mbd.simulate(disk(), 0.2, 0.01, RATTLie(), start=mbd.simulate(disk(), 0.1, 0.01, RATTLie()))
    assert np.array_equal(whole.q[-1], rest.q[-1])


def test_momenta_on_a_plate_that_floats():
    """Friction acts and reacts at one instant: linear and angular momentum of both are exact."""
    assert {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} <= RATTLie().preserves(
        mbd.assemble(on_a_plate(False))
    )
    solution = mbd.simulate(on_a_plate(False), 1.0, 0.01, RATTLie(tolerance=1e-12))
    for x in solution.momentum:
        assert np.abs(x - x[0]).max() < 1e-11
