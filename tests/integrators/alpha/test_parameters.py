"""Named parameters of generalized-alpha: orders in all quantities, numbers of the literature, refusals."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import mbd
from mbd.integrators import GeneralizedAlpha
from tests.integrators.convergence import MODELS, errors, orders
from tests.integrators.models import heavy_top

SECOND_ORDER = {
    "hht -0.1": lambda **k: GeneralizedAlpha.hht(-0.1, **k),
    "hht -0.3": lambda **k: GeneralizedAlpha.hht(-0.3, **k),
    "wbz -0.2": lambda **k: GeneralizedAlpha.wbz(-0.2, **k),
    "trapezoidal": GeneralizedAlpha.trapezoidal,
}
NUMBERS = (100, 200)
FIRST_ORDER = 0.15  # within which first order shows at these steps
SAME_DIGITS = 1e-8


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", SECOND_ORDER)
def test_second_order_in_poses_velocities_and_reactions(name, model, tolerance):
    for index_2 in (True, False) if name != "trapezoidal" else (True,):
        method = SECOND_ORDER[name](stabilized=index_2)
        assert method.order == 2
        for quantity, order in orders(model, method, NUMBERS).items():
            assert order == pytest.approx(2.0, abs=tolerance.order), quantity


@pytest.mark.parametrize("model", ("two bars", "directors"))
def test_newmark_with_damping_is_of_first_order_and_says_so(model):
    method = GeneralizedAlpha.newmark(0.3025, 0.6)
    assert method.order == 1
    for order in orders(model, method, NUMBERS).values():
        assert order == pytest.approx(1.0, abs=FIRST_ORDER)


def test_errors_of_the_heavy_top():
    """Largest errors in frames and multipliers with 100 steps of a millisecond, measured by another implementation."""
    for index_2, known in (
        (True, {"hht -0.1": (1.1e-4, 0.38), "hht -0.3": (1.3e-4, 0.44), "wbz -0.2": (1.7e-4, 0.57)}),
        (False, {"hht -0.1": (4.4e-4, 1.5), "hht -0.3": (5.0e-4, 1.7), "wbz -0.2": (5.1e-4, 1.7)}),
    ):
        for name, (poses, reactions) in known.items():
            found = errors("heavy top", SECOND_ORDER[name](stabilized=index_2), (100,))[0]
            assert found[[0, 2]] == pytest.approx((poses, reactions), rel=0.06)


def test_trapezoidal_rule_is_the_method_without_damping():
    """alpha_m = alpha_f = 0 and 1/2 are the same where accelerations are those of the equations of motion."""
    one, other = (
        mbd.simulate(heavy_top(), 0.1, 1e-3, method)
        for method in (GeneralizedAlpha.trapezoidal(tolerance=1e-12), GeneralizedAlpha(rho_inf=1.0, tolerance=1e-12))
    )
    assert np.abs(one.q - other.q).max() < SAME_DIGITS
    assert np.abs(one.v - other.v).max() < SAME_DIGITS * np.abs(one.v).max()


@pytest.mark.parametrize(
    ("method", "radius"),
    [
        (GeneralizedAlpha.hht(-0.1), 0.9 / 1.1),
        (GeneralizedAlpha.wbz(-0.2), 0.8 / 1.2),
        (GeneralizedAlpha.trapezoidal(), 1.0),
        (GeneralizedAlpha.newmark(0.5, 0.5), 1.0),
        (GeneralizedAlpha.newmark(1.0, 1.5), 0.0),
        (GeneralizedAlpha(parameters=GeneralizedAlpha(rho_inf=0.6).weights), 0.6),
    ],
)
def test_radius_at_infinity(method, radius):
    assert method.rho_inf == pytest.approx(radius, abs=1e-12)
    assert dataclasses.replace(method, tolerance=1e-6).weights == method.weights


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: GeneralizedAlpha.hht(0.1), "hht: alpha is 0.1; expected a number from -1/3 to 0"),
        (lambda: GeneralizedAlpha.hht("x"), "alpha"),
        (lambda: GeneralizedAlpha.wbz(-1.5), "wbz: alpha is -1.5"),
        (lambda: GeneralizedAlpha.newmark(0.0, 0.5), "beta is 0.0; expected a positive number"),
        (lambda: GeneralizedAlpha.newmark(0.25, 0.4), "gamma is 0.4; expected at least 1/2"),
        (lambda: GeneralizedAlpha(parameters=(0.0, 0.0, 0.25)), "expected \\(alpha_m, alpha_f, beta, gamma\\)"),
        (lambda: GeneralizedAlpha(0.5, parameters=(0.0, 0.0, 0.25, 0.5)), "expected one of them"),
        (lambda: GeneralizedAlpha.hht(-0.1, rho_inf=0.5), "expected one of them"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(make, text):
    with pytest.raises(mbd.ModelError, match=text):
        make()


@pytest.mark.parametrize(
    "method", [GeneralizedAlpha.trapezoidal, lambda **k: GeneralizedAlpha.newmark(1 / 6, 0.5, **k)]
)
def test_index_3_without_damping_is_refused(method):
    with pytest.raises(mbd.IncompatibleError, match="unstable for constrained systems in index 3.*hht"):
        mbd.simulate(heavy_top(), 0.1, 1e-3, method(stabilized=False))
    mbd.simulate(heavy_top(pinned=True), 0.01, 1e-3, method(stabilized=False))
