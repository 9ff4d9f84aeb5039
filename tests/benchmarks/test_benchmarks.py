"""The reference problems: published values, orders of convergence, crossing of singular configurations."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest

import mbd
from mbd import benchmarks

GA = mbd.integrators.GeneralizedAlpha


def extrapolated(benchmark, steps, integrator, t):
    """Errors of observed quantities at t with every step, and after repeated extrapolation of an even series."""
    errors = []
    for step in steps:
        solution = benchmark.simulate(step=step, integrator=integrator, t_end=t)
        observed, exact = benchmark.observe(solution, -1), benchmark.reference[t]
        errors.append(np.array([observed[name] - exact[name] for name in exact]))
    table = errors
    power = 2
    while len(table) > 1:
        table = [(2**power * b - a) / (2**power - 1) for a, b in pairwise(table)]
        power += 1
    return [float(np.abs(e).max()) for e in errors], float(np.abs(table[0]).max())


@pytest.mark.parametrize("name", benchmarks.ALL)
def test_models_start_consistently(name):
    benchmark = benchmarks.ALL[name]()
    assert not mbd.consistent_start(mbd.assemble(benchmark.model)).report.changed
    assert benchmark.source and benchmark.measure and benchmark.parameters and benchmark.reference


def test_simple_pendulum():
    benchmark = benchmarks.simple_pendulum()
    solution = benchmark.simulate()
    assert benchmark.error(solution) < 1e-9
    assert np.ptp(solution.energy.total) < 5e-5  # the rule of the library


def test_simple_pendulum_with_generalized_alpha():
    steps, exact = extrapolated(benchmarks.simple_pendulum(), (1e-2, 5e-3, 2.5e-3), GA(stabilized=True), 10.0)
    assert mbd.testing.observed_order(steps, (1e-2, 5e-3, 2.5e-3)) == pytest.approx(2.0, abs=0.1)
    assert exact < 1e-4


@pytest.mark.parametrize("redundant", [False, True])
def test_two_four_bars_cross_the_singularity(redundant):
    steps = (5e-3, 2.5e-3, 1.25e-3)
    errors, exact = extrapolated(benchmarks.n_four_bar(2, redundant=redundant), steps, GA(stabilized=False), 10.0)
    assert mbd.testing.observed_order(errors, steps) == pytest.approx(2.0, abs=0.1)
    assert exact < 1e-7


@pytest.mark.parametrize("rho_inf", [0.5, 0.7, 0.9])
@pytest.mark.parametrize("stabilized", [False, True])
def test_crossing_with_all_settings(rho_inf, stabilized):
    benchmark = benchmarks.n_four_bar(2)
    solution = benchmark.simulate(step=5e-3, integrator=GA(rho_inf=rho_inf, stabilized=stabilized))
    height = solution["post 0"].point((0.5, 0, 0))[:, 1]
    assert np.sum(np.diff(np.sign(height)) != 0) >= 8  # passes the horizontal many times
    assert benchmark.error(solution) < 1e-2


def test_forty_four_bars():
    steps = (1e-2, 5e-3, 2.5e-3)
    errors, exact = extrapolated(benchmarks.n_four_bar(40), steps, GA(stabilized=False), 10.0)
    assert mbd.testing.observed_order(errors, steps) == pytest.approx(2.0, abs=0.1)
    assert exact < 1e-6


def test_reference_of_any_number_of_four_bars():
    from mbd.benchmarks.planar import _four_bar_reference

    for n in (2, 40):
        exact = benchmarks.n_four_bar(n).reference[10.0]
        assert _four_bar_reference(n, 10.0) == pytest.approx(exact, abs=1e-9)
    benchmark = benchmarks.n_four_bar(3)
    assert benchmark.error(benchmark.simulate()) < 1e-3
    with pytest.raises(mbd.ModelError, match="a positive whole number of loops"):
        benchmarks.n_four_bar(0)


def test_andrews_squeezer():
    benchmark = benchmarks.andrews_squeezer()
    solution = benchmark.simulate(step=2e-5)
    assert benchmark.error(solution) < 1e-6
    assert len(benchmark.reference[0.03]) == 7


def test_bricard():
    benchmark = benchmarks.bricard()
    assert benchmark.error(benchmark.simulate(integrator=mbd.integrators.RK6(), step=2.5e-3)) < 1e-7
    errors = [benchmark.error(benchmark.simulate(step=h)) for h in (1e-2, 5e-3)]
    assert mbd.testing.observed_order(errors, (1e-2, 5e-3)) == pytest.approx(2.0, abs=0.1)


def test_bricard_warns_of_its_redundant_equation():
    model = benchmarks.bricard().model
    with pytest.warns(
        mbd.RedundancyWarning, match="1 of 30 constraint equations is redundant: around the loop of joints"
    ):
        mbd.simulate(model, t_end=0.01, step=1e-3)


def test_flyball_governor():
    benchmark = benchmarks.flyball_governor()
    errors = [benchmark.error(benchmark.simulate(step=h)) for h in (2e-3, 1e-3)]
    assert errors[-1] < 5e-5
    assert errors[1] < errors[0] / 3


@pytest.mark.parametrize("crank_com", ["half", "pivot"])
def test_slider_crank(crank_com):
    benchmark = benchmarks.slider_crank(crank_com)
    assert benchmark.error(benchmark.simulate(integrator=mbd.integrators.RK6(), step=5e-4)) < 1e-9
    assert benchmark.error(benchmark.simulate()) < 1e-2


def test_slider_crank_refuses_other_variants():
    with pytest.raises(mbd.ModelError, match="crank_com = 'end'"):
        benchmarks.slider_crank("end")


def test_heavy_top():
    benchmark = benchmarks.heavy_top()
    solution = benchmark.simulate(integrator=mbd.integrators.RK6(), step=5e-4, t_end=2.0)
    assert benchmark.error(solution) < 1e-9
    assert solution.energy.total[0] == pytest.approx(5435.696790865, abs=1e-8)
    steps, exact = extrapolated(benchmark, (1e-3, 5e-4, 2.5e-4), GA(stabilized=True), 1.0)
    assert mbd.testing.observed_order(steps, (1e-3, 5e-4, 2.5e-4)) == pytest.approx(2.0, abs=0.1)
    assert exact < 1e-5


def test_error_without_a_reference_time_is_nan():
    benchmark = benchmarks.heavy_top()
    assert np.isnan(benchmark.error(benchmark.simulate(t_end=0.01)))


def test_energy_drift_where_there_is_no_reference():
    benchmark = benchmarks.heavy_top()
    benchmark.reference = {}
    solution = benchmark.simulate(t_end=0.01)
    assert benchmark.error(solution) == benchmarks.energy_drift(solution) < 1e-5


def test_results_and_table():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [benchmarks.run(benchmarks.ALL[name]()) for name in ("A01", "A04", "heavy-top")]
    text = benchmarks.table(results)
    assert text.splitlines()[0].split()[:2] == ["benchmark", "integrator"]
    assert len(text.splitlines()) == 4 and len({len(line) for line in text.splitlines()}) == 1
    with pytest.raises(mbd.ModelError, match="is no benchmark"):
        benchmarks.run("A01")
