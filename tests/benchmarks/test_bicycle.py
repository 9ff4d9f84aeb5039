"""The benchmark bicycle: published eigenvalues, speeds of stability, and its motion in several coordinates."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.benchmarks import bicycle
from mbd.testing import observed_order

EIGENVALUES = 1e-8  # the published ones have 14 digits; differences of fourth order in the linearisation lose some
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837


@pytest.mark.parametrize("speed", [0.0, 5.0])
def test_published_eigenvalues(speed):
    benchmark = bicycle(speed)
    found = mbd.linearize(benchmark.steady)
    assert benchmark.eigenvalue_error() < EIGENVALUES
    # three velocities and seven coordinates: two places, heading, lean, steer and the turns of two wheels
    assert len(found.eigenvalues) == 10 and found.mass.shape == (3, 3) and found.stiffness.shape == (3, 7)
    assert np.sum(np.abs(found.eigenvalues) < 1e-5) == 6
    assert found.stable == (speed == 5.0)
    assert "3 degrees of freedom" in str(found) and "6 zero eigenvalues" in str(found)


@pytest.mark.parametrize("node", [mbd.nodes.Quaternion, mbd.nodes.Directors, mbd.nodes.EulerAngles])
def test_coordinates_do_not_matter(node):
    found = mbd.linearize(bicycle().steady.with_nodes(node)).eigenvalues
    for value in bicycle().eigenvalues:
        assert np.abs(found - value).min() < EIGENVALUES


def test_weave_and_capsize_speed():
    """At the published speeds a pair of eigenvalues, or a real one, has no real part."""
    weave = mbd.linearize(bicycle(WEAVE).steady).eigenvalues
    assert np.abs(weave[np.abs(weave.imag) > 1.0].real).max() < EIGENVALUES
    capsize = mbd.linearize(bicycle(CAPSIZE).steady).eigenvalues
    assert np.sum(np.abs(capsize) < 1e-4) == 7  # one more than elsewhere
    for speed, stable in ((WEAVE - 0.01, False), (WEAVE + 0.01, True), (CAPSIZE - 0.01, True), (CAPSIZE + 0.01, False)):
        assert mbd.linearize(bicycle(speed).steady).stable == stable


@pytest.mark.parametrize(("stabilized", "rho_inf"), [(False, 0.5), (True, 0.9)])
def test_it_stabilises_itself(stabilized, rho_inf, tolerance):
    """Index 3 needs dissipation: rolling couples its double root -rho_inf, which spinning wheels then split."""
    benchmark, steps = bicycle(), (5e-3, 2.5e-3)
    errors = []
    for step in steps:
        method = mbd.integrators.GeneralizedAlpha(stabilized=stabilized, rho_inf=rho_inf)
        solution = benchmark.simulate(integrator=method, step=step, t_end=2.0)
        errors.append(benchmark.error(solution))
        assert np.ptp(solution.energy.total) < 50.0 * step**2
    assert errors[0] < 5e-4 and observed_order(errors, steps) == pytest.approx(2.0, abs=tolerance.order)


@pytest.mark.parametrize("node", [mbd.nodes.Quaternion(), mbd.nodes.Directors(), mbd.nodes.EulerAngles(sequence="zxy")])
def test_reference_with_other_coordinates(node):
    benchmark = bicycle()
    model = benchmark.model.with_nodes(node)
    solution = mbd.simulate(model, 2.0, 5e-3, mbd.integrators.RK6())
    assert benchmark.error(solution) < 1e-7
    assert np.ptp(solution.energy.total) < 1e-6


def test_the_diagnosis_tells_velocities_from_positions():
    found = mbd.diagnose(bicycle().model)
    text = " ".join(str(found).split())
    assert found.ok and found.dof == 3
    assert "4 equations of 'rear contact' and 'front contact' restrict velocities only (rolling)" in text


def test_other_speeds_have_no_reference():
    benchmark = bicycle(4.0, 0.1)
    assert not benchmark.reference and not benchmark.eigenvalues and np.isnan(benchmark.eigenvalue_error())
    with pytest.raises(mbd.ModelError, match="speed = 'fast'; expected a number"):
        bicycle("fast")
