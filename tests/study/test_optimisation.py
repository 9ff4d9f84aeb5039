"""minimize and identify: against closed solutions and scipy, with runs that fail, from several starts, in parallel."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import curve_fit, rosen

import mbd
from mbd.study import identify, minimize
from mbd.study.identifying import Curve
from mbd.study.runs import Recipe
from mbd.study.search_space import Evaluator, space_of

SIMULATE = {"step": 5e-3, "integrator": mbd.integrators.RK4()}
TRUE = {"stiffness": 40.0, "damping": 0.5}
STEP_ERROR = 1e-6  # relative, of parameters: fourth order


def oscillator(stiffness: float, damping: float = 0.0, mass: float = 1.0) -> mbd.Model:
    """A mass on a spring, let go half a metre from rest."""
    if stiffness < 5.0:
        raise ValueError("the spring is too soft")
    model = mbd.Model("oscillator")
    body = model.add(mbd.PointMass("body", mass, (1, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, body, stiffness=stiffness, damping=damping, length=0.5))
    return model


def exact(t, stiffness, damping):
    """Its motion."""
    decay = 0.5 * damping
    omega = np.sqrt(stiffness - decay**2)
    return 0.5 + 0.5 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))


@pytest.fixture(scope="module")
def measured():
    t = np.arange(101) * 0.02
    return {"t": t, "body.position.x": exact(t, **TRUE) + 0.01 * np.random.default_rng(1).normal(size=101)}


START = {"stiffness": (10.0, 35.0, 100.0), "damping": (0.0, 1.0, 5.0)}


@pytest.mark.parametrize("sigma", [None, 0.01])
def test_fits_and_covariances_are_those_of_scipy(measured, sigma):
    fit = identify(oscillator, measured, START, simulate=SIMULATE, sigma=sigma)
    t, x = measured["t"], measured["body.position.x"]
    best, covariance = curve_fit(exact, t, x, (35.0, 1.0), sigma=None if sigma is None else np.full(101, sigma),
                                 absolute_sigma=sigma is not None)  # fmt: skip
    errors = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(list(fit.parameters.values()), best, rtol=STEP_ERROR)
    np.testing.assert_allclose(fit.covariance, covariance, rtol=1e-5, atol=1e-5 * errors.prod())
    np.testing.assert_allclose(fit.correlation, covariance / np.outer(errors, errors), atol=1e-5)
    for (name, (low, high)), error in zip(fit.intervals.items(), errors, strict=True):
        factor = 1.98422 if sigma is None else 1.95996  # Student's for 99 degrees of freedom, the normal one
        assert high - low == pytest.approx(2.0 * factor * error, rel=1e-5)
        assert low < TRUE[name] < high
    assert fit.squares / fit.freedom == pytest.approx(1.0, abs=0.4) or sigma is None
    np.testing.assert_allclose(fit.residuals["body.position.x"], exact(t, *best) - x, atol=1e-7)
    text = str(fit)
    assert "\u2503  \u2503" not in text.splitlines()[2]  # no column for notes that there are none of
    assert "95 % interval" in text and f"{fit.evaluations} runs" in text and "fit to 101 measured values" in text
    solution = fit.solution()
    np.testing.assert_allclose(solution["body"].position[:, 0], exact(solution.t, **fit.parameters), atol=1e-7)


def test_times_between_records_and_gaps(measured):
    """A spline between records; NaN is left out; curves with times of their own and functions of the solution."""
    t = np.sort(np.random.default_rng(2).uniform(0.0, 2.0, 80))
    x = exact(t, **TRUE)
    x[10:20] = np.nan
    h = 1e-5
    speed = (exact(t[:40] + h, **TRUE) - exact(t[:40] - h, **TRUE)) / (2.0 * h)
    curves = {"x": (t, x), "speed": (t[:40], speed)}
    fit = identify(
        oscillator, curves, START, simulate=SIMULATE,
        outputs={"x": "body.position.x", "speed": lambda solution: solution["body"].velocity[:, 0]},
    )  # fmt: skip
    np.testing.assert_allclose(list(fit.parameters.values()), list(TRUE.values()), rtol=STEP_ERROR)
    assert {name: len(r) for name, r in fit.residuals.items()} == {"x": 70, "speed": 40}


def test_tables_of_solutions_have_the_times_in_their_index():
    solution = mbd.simulate(oscillator(**TRUE), 1.0, **SIMULATE)
    fit = identify(oscillator, solution.frame(["body.position.x"]), START, simulate=SIMULATE)
    np.testing.assert_allclose(list(fit.parameters.values()), list(TRUE.values()), rtol=STEP_ERROR)


def test_curves_that_scatter_differently():
    """Without standard deviations they count alike, and the intervals are not those of the better one."""
    rng = np.random.default_rng(5)
    t = np.arange(101) * 0.02
    x = exact(t, **TRUE)
    noise = rng.normal(size=(2, 101))
    sizes = {"x": 1e-3, "again": 0.1}
    measured = {"t": t, "x": x + sizes["x"] * noise[0], "again": x + sizes["again"] * noise[1]}
    arguments = {"simulate": SIMULATE, "outputs": dict.fromkeys(sizes, "body.position.x")}
    with pytest.warns(mbd.ModelWarning, match=r"what remains of 'x' is .*of 'again' .*expected sigma=\{"):
        blind = identify(oscillator, measured, START, **arguments)
    told = identify(oscillator, measured, START, sigma=sizes, **arguments)  # without a warning
    assert blind.errors["stiffness"] > 5.0 * told.errors["stiffness"]
    assert "what remains of 'x'" in str(blind) and not told.uneven
    measured["again"] = x + sizes["x"] * noise[1]
    assert not identify(oscillator, measured, START, **arguments).uneven


def test_combinations_that_cannot_be_told_apart(measured):
    """Only stiffness and damping per mass are seen."""
    start = {"stiffness": 38.0, "damping": 0.6, "mass": 1.2}
    with pytest.warns(
        mbd.ModelWarning, match=r"change together: 'stiffness' by \+1 %, 'damping' by \+1 %, 'mass' by \+1 %"
    ):
        fit = identify(oscillator, measured, start, simulate=SIMULATE)
    found = fit.parameters
    assert found["stiffness"] / found["mass"] == pytest.approx(40.0, rel=0.01)
    assert np.isinf(list(fit.errors.values())).all() and len(fit.unidentifiable) == 1

    def unused(stiffness, damping, colour):
        return oscillator(stiffness, damping)

    with pytest.warns(mbd.ModelWarning, match="do not depend on 'colour'"):
        fit = identify(unused, measured, {**START, "colour": 1.0}, simulate=SIMULATE)
    assert np.isfinite([fit.errors["stiffness"], fit.errors["damping"]]).all() and np.isinf(fit.errors["colour"])


def test_weak_parts_of_a_combination_are_named():
    """What an unknown takes part in makes its errors infinite, and is said, also where its part is small."""
    t = np.linspace(0.0, 3.0, 40)

    def curve(a, b):
        return SimpleNamespace(t=t, x=np.sin((a + 0.01 * b) * t))

    with pytest.warns(mbd.ModelWarning, match=r"change together: 'a' by -0\.0\d+ %, 'b' by \+1 %"):
        fit = identify(curve, {"t": t, "x": np.sin(1.0 * t)}, {"a": 0.9, "b": (1.0, 1.2, 1.4)},
                       outputs={"x": lambda s: s.x}, simulate=lambda s: s)  # fmt: skip
    assert np.isinf(list(fit.errors.values())).all()


def motion(stiffness: float) -> SimpleNamespace:
    """The exact motion in place of a solution."""
    t = np.arange(101) * 0.02
    return SimpleNamespace(t=t, x=exact(t, stiffness, 0.5))


def test_several_starts(measured):
    """A wrong frequency is a local minimum; other starts find the right one, the same in every call."""
    start = {"stiffness": (10.0, 400.0, 500.0)}
    options = {"simulate": lambda motion: motion, "outputs": {"body.position.x": lambda motion: motion.x}}
    wrong = identify(motion, measured, start, **options)
    assert wrong.parameters["stiffness"] > 300.0
    fits = [identify(motion, measured, start, starts=5, seed=3, **options) for _ in range(2)]
    assert fits[0].parameters["stiffness"] == pytest.approx(40.0, rel=0.01)
    assert fits[0].parameters == fits[1].parameters and len(fits[0].starts) == 5
    assert "of 5 starts came to this fit" in str(fits[0])
    with pytest.raises(mbd.ModelError, match="'stiffness' has none"):
        identify(motion, measured, {"stiffness": 30.0}, starts=3, **options)


def test_parallel_fits_are_the_same_bits(measured):
    here = identify(oscillator, measured, START, simulate=SIMULATE)
    there = identify(oscillator, measured, START, simulate=SIMULATE, executor=2)
    assert there.parameters == here.parameters and there.evaluations == here.evaluations
    np.testing.assert_array_equal(there.covariance, here.covariance)


def test_fits_pass_by_parameters_without_a_result(measured):
    """Steps to soft springs, which fail, are made shorter; at the start they are an error."""
    fit = identify(oscillator, measured, {"stiffness": 60.0, "damping": 1.0}, simulate=SIMULATE)
    assert fit.success and fit.failures > 0 and "without a result; the first at stiffness = " in str(fit)
    assert fit.parameters["stiffness"] == pytest.approx(40.01, abs=1e-4)
    with pytest.raises(
        mbd.StudyError, match=r"no result at the start, stiffness = 1: failed: ValueError: the spring is too soft"
    ):
        identify(oscillator, measured, {"stiffness": 1.0}, simulate=SIMULATE)


def valley(a, b, limit=np.inf):
    if a * a + b * b > limit:
        raise ValueError("outside")
    return np.array([a, b])


ROSENBROCK = {"a": (-2.0, 2.0), "b": (-1.0, 3.0)}
NEAR = {"a": (-2.0, -1.0, 2.0), "b": (-1.0, 2.0, 3.0)}


@pytest.mark.parametrize(
    ("method", "parameters", "digits"),
    [
        (None, ROSENBROCK, 3), ("L-BFGS-B", NEAR, 4), ("SLSQP", NEAR, 3), ("Nelder-Mead", NEAR, 4), ("TNC", NEAR, 3),
        ("BFGS", {"a": -1.0, "b": 2.0}, 4), ("trust-constr", NEAR, 3), ("COBYQA", NEAR, 3),
        ("Powell", {"a": -1.0, "b": 2.0}, 3),
    ],
)  # fmt: skip
def test_methods(method, parameters, digits):
    found = minimize(valley, parameters, rosen, method=method, options={"maxiter": 300} if method is None else None)
    assert found.success and found.method == (method or "differential_evolution")
    np.testing.assert_allclose(list(found.parameters.values()), (1.0, 1.0), atol=10.0**-digits)
    assert found.value == pytest.approx(0.0, abs=10.0**-digits)
    assert f"{found.evaluations} runs" in str(found)


def residuals(x):
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


def test_least_squares():
    found = minimize(valley, NEAR, residuals, method="least_squares")
    np.testing.assert_allclose(list(found.parameters.values()), (1.0, 1.0), atol=1e-7)


def test_best_damping():
    """x'' + 2 z x' + x = 0, x(0) = 1: the integral of x^2 is z + 1 / (4 z), smallest for z = 1/2."""

    def damped(ratio):
        model = mbd.Model("damped")
        body = model.add(mbd.PointMass("body", 1.0, (2, 0, 0)))
        model.add(mbd.forces.Spring(model.ground, body, stiffness=1.0, damping=2.0 * ratio, length=1.0))
        return model

    def integral(solution):
        return np.trapezoid((solution["body"].position[:, 0] - 1.0) ** 2, solution.t)

    found = minimize(damped, {"ratio": (0.1, 1.0, 2.0)}, integral, simulate={"t_end": 30.0, "step": 0.02})
    assert found.method == "L-BFGS-B"
    assert found.parameters["ratio"] == pytest.approx(0.5, abs=2e-4) and found.value == pytest.approx(1.0, abs=2e-4)
    assert integral(found.solution()) == found.value


def test_runs_without_a_result():
    """Infinitely bad for methods that go on from that, an error for those that do not."""
    outside = {"fixed": {"limit": 2.7}}
    for method, parameters in ((None, ROSENBROCK), ("Nelder-Mead", {"a": (-2, -1.2, 2), "b": (-1, 1.1, 3)})):
        found = minimize(valley, parameters, rosen, method=method, **outside)
        assert found.value < 1e-3 and found.failures > 0
        assert f"{found.failures} of them without a result; the first at a = " in str(found)
    with pytest.raises(mbd.StudyError, match=r"no result at .*outside\. BFGS cannot go on from there.*Nelder-Mead"):
        minimize(valley, {"a": -1.2, "b": 1.1}, rosen, method="BFGS", **outside)
    with pytest.raises(mbd.StudyError, match="no run had a result"):
        minimize(valley, ROSENBROCK, rosen, fixed={"limit": -1.0}, options={"maxiter": 1})


def test_fixed_values_that_functions_change():
    """Every run gets them as they were given."""
    place = np.array([1.0, 2.0])

    def build(x, place):
        place *= 1.5
        return (x - place[0]) ** 2

    best = minimize(build, {"x": 1.0}, float, fixed={"place": place})
    assert best.parameters["x"] == pytest.approx(1.5, abs=1e-6) and place.tolist() == [1.0, 2.0]
    assert best.solution() == best.solution() == pytest.approx(0.0, abs=1e-9)


def test_several_starts_of_a_local_method():
    def waves(x):
        return float(np.sin(5.0 * x) + 0.1 * (x - 2.0) ** 2)

    alone = minimize(lambda x: x, {"x": (-5.0, -4.0, 5.0)}, waves)
    best = minimize(lambda x: x, {"x": (-5.0, -4.0, 5.0)}, waves, starts=12, seed=1)
    grid = np.linspace(-5.0, 5.0, 100001)
    exact_value = (np.sin(5.0 * grid) + 0.1 * (grid - 2.0) ** 2).min()
    assert alone.value > best.value == pytest.approx(exact_value, abs=1e-7)
    assert "of 12 starts came to this minimum" in str(best)


def test_searches_that_come_to_no_end_leave_the_others():
    """Methods with derivatives cannot go on from a run without a result; those from other starts can."""

    def torn(a):
        if -1.2 < a < 0.0:  # where one of two minima is
            raise ValueError("torn")
        return (a * a - 1.0) ** 2

    with pytest.warns(mbd.ModelWarning, match=r"minimize: \d of \d starts came to no end; the first: .*torn"):
        best = minimize(torn, {"a": (-3.0, 2.0, 3.0)}, lambda value: value, method="L-BFGS-B", starts=6, seed=1)
    assert best.parameters["a"] == pytest.approx(1.0, abs=1e-6) and len(best.starts) < 6
    with pytest.raises(mbd.StudyError, match="torn"):
        minimize(torn, {"a": (-3.0, -1.25, 3.0)}, lambda value: value, method="L-BFGS-B")


def test_outputs_that_change_their_shape():
    """Such a point has no result, as in a sweep."""

    def growing(a):
        return np.full(3 if a > 0.5 else 2, a)

    best = minimize(growing, {"a": (0.0, 1.0, 2.0)}, lambda value: value, method="least_squares")
    assert best.failures and "has shape (2,); the first one has (3,)" in best.first_failure
    assert best.parameters["a"] == pytest.approx(0.5, abs=0.1)


def test_differences_have_second_order_also_at_bounds():
    """Exact for parabolas; where a run fails, the other side is taken."""

    def parabola(a, b):
        if b > 2.0:
            raise ValueError("too large")
        return np.array([a * a + 3.0 * b, a * b - 2.0 * b * b])

    space = space_of({"a": (1.0, 2.0, 3.0), "b": (-1.0, 1.0, 4.0)}, "test")
    recipe = Recipe(parabola, None, {"y": lambda y: y})
    with Evaluator(recipe, space, "y", None, {}, "test", False) as evaluate:
        for a, b in ((2.0, 1.0), (1.0, -1.0), (3.0, 0.0), (1.5, 0.0)):
            jacobian = evaluate.jacobian(np.array([a, b]))
            np.testing.assert_allclose(jacobian, [[2.0 * a, 3.0], [b, a - 4.0 * b]], atol=1e-7)
        jacobian = evaluate.jacobian(np.array([2.0, 2.0]))  # one-sided: first order
        np.testing.assert_allclose(jacobian, [[4.0, 3.0], [2.0, -6.0]], atol=1e-3)
        before = evaluate.evaluations
        evaluate.jacobian(np.array([2.0, 1.0]))
        assert evaluate.evaluations == before  # known
        with pytest.raises(mbd.StudyError, match=r"no result at a = 2, b = 3: failed: ValueError: too large"):
            evaluate.jacobian(np.array([2.0, 3.0]))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"parameters": {}}, "expected a dictionary such as"),
        ({"parameters": {"a": (3.0, 1.0), "b": 1.0}}, r"'a' = \(3\.0, 1\.0\); expected a start, \(low, high\)"),
        ({"parameters": {"a": "x", "b": 1.0}}, "'a' = 'x'"),
        ({"parameters": {"a": 1.0}}, "build needs the argument 'b'"),
        ({"method": "newton"}, "expected one of differential_evolution"),
        ({"method": "differential_evolution", "parameters": {"a": 1.0, "b": 1.0}}, "searches between bounds"),
        ({"method": "BFGS"}, "BFGS knows no bounds"),
        ({"starts": 3}, "has no start"),
        ({"objective": residuals}, "expected a number, or method='least_squares'"),
        ({"objective": 3.0}, "output 'objective' is 3.0"),
        ({"objective": lambda x: 1j * rosen(x), "method": "Nelder-Mead"}, "output 'objective' is complex"),
    ],
)
def test_what_minimize_refuses(change, text):
    arguments = {"parameters": ROSENBROCK, "objective": rosen, **change}
    with pytest.raises(mbd.ModelError, match=text):
        minimize(valley, arguments.pop("parameters"), arguments.pop("objective"), **arguments)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"measured": {"t": [0.0, 1.0]}}, "nothing was measured"),
        ({"measured": {"x": [0.0, 1.0]}}, r"'x' has no times; expected 't', or \(times, values\)"),
        ({"measured": {"t": [0.0, 1.0, 2.0], "x": [0.0, 1.0]}}, "expected 3 values, as times"),
        (
            {"measured": {"t": [0.0, 0.5, 0.5], "x": [0.0, 1.0, 2.0]}},
            "do not grow: 0.5 follows 0.5; expected them sorted",
        ),
        ({"measured": {"t": [0.0, 1.0, 2.0], "x": [0.0, np.nan, np.nan]}}, "'x' has 1 values that are not NaN"),
        ({"measured": {"t": [0.0, 1.0, 2.0], "x": [0.0, 1.0, np.inf]}}, "'x' has infinite values"),
        ({"measured": {"t": [0.0, 1.0, 2.0], "x": np.ma.masked_less([0.0, 1.0, 2.0], 1.5)}}, "'x' has 1 values"),
        ({"measured": {"t": [0.0, 1.0, 2.0], "x": [1.0, 1.0, 1.0]}}, "sigma is needed"),
        ({"measured": {"t": [0.0, 1.0], "x": [0.0, 1.0]}}, "2 measured values for 2 parameters"),
        ({"outputs": {"y": "body.position.x"}}, "there is no measured curve 'y'; there are 'body.position.x'"),
        ({"sigma": {"y": 1.0}}, "there is no measured curve 'y'"),
        ({"fixed": {"damping": 1.0}}, "'damping' is in parameters and in fixed"),
        ({"sigma": -1.0}, "expected a positive number"),
        ({"sigma": [0.1]}, r"sigma = \[0.1\]; expected a positive number"),
        ({"measured": {"t": [0.0, 1.0, 2.0], "x": [0.0, 1j, 1.0]}}, "'x' has complex values; expected real ones"),
        ({"confidence": 95.0}, "expected a probability"),
        ({"confidence": "0.95"}, "confidence = '0.95'; expected a number"),
        ({"starts": 0}, "starts = 0"),
        ({"measured": {"t": [0.0, 1.0, 2.0], "x": ["a", "b", "c"]}}, "measured curve 'x' is .*expected numbers"),
        ({"sigma": "0.1"}, "sigma = 0.1; expected a positive number"),
        ({"outputs": ["body.position.x"]}, "outputs = .*expected a dictionary"),
        ({"fixed": 3}, "fixed = 3; expected a dictionary"),
        ({"options": 3}, "options = 3; expected a dictionary"),
        ({"options": {"maxiter": 3}}, r"options = \{'maxiter': 3\}: .*expected options of least_squares"),
        ({"options": {"bounds": 3}}, "expected options of least_squares"),
    ],
)
def test_what_identify_refuses(measured, change, text):
    arguments = {"measured": measured, "simulate": SIMULATE, **change}
    with pytest.raises(mbd.ModelError, match=text):
        identify(oscillator, arguments.pop("measured"), START, **arguments)


def test_a_fit_that_a_bound_stops_says_so(measured):
    """Its standard errors mean nothing, and who reads numbers alone does not see the table."""
    start = {**START, "stiffness": (10.0, 30.0, 35.0)}
    with pytest.warns(mbd.ModelWarning, match="'stiffness' = 35 is at its bound; the fit wants to go on"):
        fit = identify(oscillator, measured, start, simulate=SIMULATE)
    assert "at its bound" in str(fit)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        identify(oscillator, measured, START, simulate=SIMULATE)


@pytest.mark.parametrize("width", [1e4, 1e9])
def test_bounds_that_are_much_wider_than_what_matters(measured, width):
    """Nothing that they say belongs to the fit: neither steps of differences nor what counts as near a bound."""
    narrow = identify(oscillator, measured, START, simulate=SIMULATE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = identify(
            oscillator, measured, {"stiffness": (0.0, 35.0, width), "damping": (0.0, 1.0, width)}, simulate=SIMULATE
        )
    np.testing.assert_allclose(list(fit.parameters.values()), list(narrow.parameters.values()), rtol=1e-6)
    np.testing.assert_allclose(fit.covariance, narrow.covariance, rtol=1e-3)
    assert "at its bound" not in str(fit)


def test_differences_find_their_step():
    """Where a value is near zero between its bounds: as wide as the function is smooth, with or without a result."""

    def waves(a, b):
        if abs(b) > 0.1:
            raise ValueError("too far")
        return np.array([np.sin(1e6 * a + 1.0), np.cos(3.0 * b + 1.0)])

    space = space_of({"a": (-1.0, 0.0, 1.0), "b": (-1e9, 0.0, 1e9)}, "test")
    with Evaluator(Recipe(waves, None, {"y": lambda y: y}), space, "y", None, {}, "test", False) as evaluate:
        for a in (0.0, 1e-7, -3e-8):
            exact = np.diag([1e6 * np.cos(1e6 * a + 1.0), -3.0 * np.sin(1.0)])
            np.testing.assert_allclose(evaluate.jacobian(np.array([a, 0.0])), exact, rtol=1e-4)


def test_options_that_scipy_does_not_take():
    given = {"build": lambda a: (a - 1.0) ** 2, "objective": float}
    with pytest.raises(mbd.ModelError, match=r"options = \{'foo': 1\}.*expected options of differential_evolution"):
        minimize(parameters={"a": (0.0, 3.0)}, options={"foo": 1}, **given)
    found = [minimize(parameters={"a": (0.0, 3.0)}, options={"seed": k}, **given) for k in (1, 1, 2)]
    assert found[0].evaluations == found[1].evaluations != found[2].evaluations  # a seed among them counts
    with pytest.warns(mbd.ModelWarning, match="with loss = 'soft_l1' standard errors"):
        identify(lambda a: SimpleNamespace(a=a), {"t": [0.0, 1.0, 2.0], "x": [0.0, 1.1, 2.0]}, {"a": 0.8},
                 outputs={"x": lambda s: s.a * s.t}, options={"loss": "soft_l1"},
                 simulate=lambda s: SimpleNamespace(t=np.linspace(0.0, 2.0, 5), a=s.a))  # fmt: skip


@pytest.mark.parametrize("method", ["L-BFGS-B", "least_squares"])
def test_parameters_without_influence_are_named(method):
    with pytest.warns(mbd.ModelWarning, match="the objective did not change with 'damping' near the points"):
        minimize(oscillator, {"stiffness": (10.0, 20.0, 50.0), "damping": (0.0, 1.0, 5.0)},
                 lambda model: model.forces[0].stiffness - 30.0 if method == "least_squares"
                 else (model.forces[0].stiffness - 30.0) ** 2, method=method)  # fmt: skip


def test_runs_that_are_too_short(measured):
    with pytest.raises(mbd.StudyError, match=r"is from t = 0 to 2, the run from 0 to 1"):
        identify(oscillator, measured, START, simulate={"t_end": 1.0, **SIMULATE})


def swinging_model():
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    length, stiffness, damping = (model.parameter(*x) for x in (("length", 0.5), ("k", 1.0), ("c", 0.05)))
    bob = model.add(mbd.RigidBody("bob", 1.0, (0.01, 0.01, 0.01), mbd.nodes.RotationVector((length, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=stiffness, damping=damping))
    return model


def test_sensitivities_in_the_place_of_differences():
    """The same optimum as by differences, with a run for each point and none for its derivatives."""
    true = {"length": 0.6, "k": 1.5, "c": 0.1}
    model, other = swinging_model(), swinging_model()
    other.parameters.update(true)
    solution = mbd.simulate(other, 1.0, 0.02)
    measured = {"t": solution.t, "hinge.angle": np.asarray(solution["hinge"].angle)}
    unknown = {"length": (0.2, 0.5, 1.0), "k": (0.1, 1.0, 5.0), "c": (0.0, 0.05, 1.0)}
    options = {"simulate": {"step": 0.02}}
    plain = mbd.study.identify(model, measured, unknown, **options)
    followed = mbd.study.identify(model, measured, unknown, derivatives="sensitivities", **options)
    for name, value in true.items():
        assert followed.parameters[name] == pytest.approx(value, rel=1e-8)
        assert followed.parameters[name] == pytest.approx(plain.parameters[name], rel=1e-8)
    assert 3 * followed.evaluations < plain.evaluations

    def missed(run):
        return (run["hinge"].angle[-1] - 0.8) ** 2

    given = (model, {"k": (0.1, 1.0, 5.0)}, missed)
    options = {"simulate": {"t_end": 0.4, "step": 0.02}, "method": "L-BFGS-B", "options": {"ftol": 0.0, "gtol": 1e-12}}
    plain = mbd.study.minimize(*given, **options)
    followed = mbd.study.minimize(*given, derivatives="sensitivities", **options)
    assert followed.parameters["k"] == pytest.approx(plain.parameters["k"], rel=1e-6)
    assert followed.evaluations < plain.evaluations


def test_sensitivities_need_parameters_of_a_model():
    given = ({"length": (0.2, 0.5, 1.0)}, lambda run: run["hinge"].angle[-1])
    options = {"simulate": {"t_end": 0.1, "step": 0.01}, "derivatives": "sensitivities"}
    with pytest.raises(mbd.ModelError, match="expected a model with"):
        mbd.study.minimize(lambda length: swinging_model(), *given, method="L-BFGS-B", **options)
    with pytest.raises(mbd.ModelError, match="takes no derivatives"):
        mbd.study.minimize(swinging_model(), *given, method="Nelder-Mead", **options)
    with pytest.raises(mbd.ModelError, match="expected 'differences' or 'sensitivities'"):
        mbd.study.minimize(swinging_model(), *given, method="L-BFGS-B", **{**options, "derivatives": "other"})


def test_measured_times_and_those_of_the_run_differ_by_round_off():
    """At its start as at its end; a curve that begins before the run is refused."""
    run = SimpleNamespace(t=0.1 + 0.2 + 0.1 * np.arange(5))  # 0.1 + 0.2 > 0.3
    values = np.arange(5.0)
    curve = Curve("x", lambda run: values, 0.3 + 0.1 * np.arange(5), values, 1.0)
    assert curve.t[0] < run.t[0] and np.array_equal(curve.simulated(run), values)
    with pytest.raises(mbd.ModelError, match="measured curve 'x' is from t = 0.299 "):
        Curve("x", lambda run: values, curve.t - 1e-3, values, 1.0).simulated(run)
    fast = SimpleNamespace(t=1e-9 * np.arange(5))  # of a run of nanoseconds a part of one lies outside as well
    with pytest.raises(mbd.ModelError, match="from t = 2e-10 to 4.2e-09, the run from 0 to 4e-09"):
        Curve("x", lambda run: values, fast.t + 2e-10, values, 1.0).simulated(fast)


@pytest.mark.parametrize(
    "coarse, fine",
    [
        (mbd.integrators.GeneralizedAlpha(), None),
        (mbd.integrators.DOPRI5(rtol=1e-3, atol=1e-3), mbd.integrators.DOPRI5(rtol=1e-9, atol=1e-9)),
    ],
    ids=["steps", "tolerances"],
)
def test_errors_of_integration_that_move_parameters_are_told(coarse, fine):
    """Standard errors do not know of them: with these steps the stiffness is many of them away from the truth."""
    t = np.arange(101) * 0.02
    noisy = {"t": t, "body.position.x": exact(t, **TRUE) + 1e-4 * np.random.default_rng(1).normal(size=101)}
    with pytest.warns(mbd.ModelWarning, match="finer run says that errors of integration have moved '"):
        fit = identify(oscillator, noisy, START, simulate={"step": 0.02, "integrator": coarse})
    best = identify(oscillator, noisy, START, simulate={**SIMULATE, "integrator": fine or SIMULATE["integrator"]})
    assert "errors of integration" in str(fit) and "errors of integration" not in str(best)
    if fine is None:  # differences of runs that choose their steps are too noisy to end at the best place
        away = best.parameters["stiffness"] - fit.parameters["stiffness"]
        assert abs(away) > 3.0 * fit.errors["stiffness"]
        assert fit.shifts["stiffness"] == pytest.approx(away, rel=0.1)
    assert all(abs(x) < 0.02 * best.errors[name] for name, x in best.shifts.items())


def test_nobody_knows_errors_of_motions_that_others_make(measured):
    fit = identify(motion, {"t": measured["t"], "x": measured["body.position.x"]}, {"stiffness": (10.0, 35.0, 100.0)},
                   simulate=lambda x: x, outputs={"x": lambda x: x.x})  # fmt: skip
    assert np.isnan(fit.shifts["stiffness"]) and fit.coarse == []


def test_finer_runs_without_a_result_are_told(measured):
    def read(solution):
        if len(solution.t) > 1000:
            raise ValueError("too many records")
        return solution["body"].position[:, 0]

    with pytest.warns(mbd.ModelWarning, match="finer run has no result .*too many records.*nothing is known"):
        identify(oscillator, {"t": measured["t"], "x": measured["body.position.x"]}, START,
                 simulate={"step": 3e-3, "integrator": mbd.integrators.RK4()}, outputs={"x": read})  # fmt: skip


@pytest.mark.parametrize("derivatives", ["differences", "sensitivities"])
def test_unknowns_that_start_at_zero_may_be_of_any_size(derivatives):
    """Nothing tells how large a load is that starts at zero: it was moved by 1e-4, and what is 1e11 stayed there."""
    model = mbd.Model("loaded")
    load, stiffness = model.parameter("load", 0.0), model.parameter("stiffness", 35.0)
    body = model.add(mbd.PointMass("body", 1.0, (1, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, body, stiffness=stiffness, length=0.5))
    model.add(mbd.forces.Force(body, (1e-10 * load, 0, 0)))
    start = {"load": 0.0, "stiffness": (10.0, 35.0, 100.0)}
    simulate = {"t_end": 1.0, **SIMULATE}
    true = mbd.assemble(model).parameters(list(start)).model({"load": 1e11, "stiffness": 40.0})
    wanted = mbd.simulate(true, **simulate)
    fit = identify(model, {"t": wanted.t, "body.position.x": wanted["body"].position[:, 0]}, start, simulate=SIMULATE,
                   derivatives=derivatives)  # fmt: skip
    assert fit.parameters == pytest.approx({"load": 1e11, "stiffness": 40.0}, rel=1e-6)
    x = wanted["body"].position[:, 0]
    best = minimize(model, start, lambda s: np.sum((s["body"].position[:, 0] - x) ** 2), simulate=simulate,
                    derivatives=derivatives, options={"ftol": 1e-15})  # fmt: skip
    assert best.parameters == pytest.approx({"load": 1e11, "stiffness": 40.0}, rel=1e-3)
