"""Derivatives of user functions: exact by dual numbers, and by differences where those do not reach."""

import math

import numpy as np
import pytest

from mbd.compiled.functions.call_styles import Call
from mbd.compiled.functions.callbacks import make_callback, twin_of
from mbd.elements.prescribed_motion import MOTION

LAW = Call("law", 1, 1)

table, matrix = np.array([1.0, 2.0, 3.0]), np.eye(3) * 2.0
xs, ys = np.array([0.0, 1.0, 5.0]), np.array([0.0, 2.0, 3.0])


def power_law(x, v):
    return abs(x) ** 1.5 if x > 0.3 else -(max(x, 0.1) ** 2)


def through_arrays(x, v):
    a = np.zeros(3)
    a[0], a[1], a[2] = x, -2.0 * x, 1.0
    a **= 2
    a /= 2.0
    return np.linalg.norm(a) + (matrix @ a)[0] + np.sum(np.abs(a - 1.0)) + np.dot(a, table)


# functions, points where complex arithmetic fails or means another thing, and derivatives
DERIVATIVES = {
    "tanh of friction": (
        lambda x, v: np.tanh(x / 1e-3),
        (1e-4, 2e-3, 0.4, 5.0),
        lambda x: 1e3 / np.cosh(min(x / 1e-3, 350)) ** 2,
    ),
    "math.tanh": (lambda x, v: math.tanh(1000.0 * x), (1e-4, 1.0), lambda x: 1e3 / np.cosh(min(x / 1e-3, 350)) ** 2),
    "abs": (lambda x, v: abs(x) + np.abs(2.0 * x), (-2.0, 3.0), lambda x: 3.0 * np.sign(x)),
    "sign": (lambda x, v: np.sign(x) * x * x, (-2.0, 3.0), lambda x: 2.0 * abs(x)),
    "norm": (lambda x, v: np.linalg.norm(np.array([x, 3.0, 4.0])), (2.0, -1e-200), lambda x: x / math.hypot(x, 5.0)),
    "hypot": (
        lambda x, v: np.hypot(x, 3.0) + math.hypot(4.0, x),
        (2.0, -1.0),
        lambda x: x / math.hypot(x, 3) + x / math.hypot(x, 4),
    ),
    "arctan2": (
        lambda x, v: np.arctan2(x, 2.0) - math.atan2(3.0, x),
        (-1.0, 4.0),
        lambda x: 2 / (4 + x * x) + 3 / (9 + x * x),
    ),
    "max": (lambda x, v: max(x, 1.0) + np.minimum(x, 2.0), (0.5, 1.5, 3.0), lambda x: float(x > 1) + float(x < 2)),
    "where": (lambda x, v: np.where(x > 1.0, x * x, 3.0 * x), (0.5, 2.0), lambda x: 2 * x if x > 1 else 3.0),
    "branches": (power_law, (0.05, 0.2, 2.0), lambda x: 1.5 * x**0.5 if x > 0.3 else (-2 * x if x > 0.1 else 0.0)),
    "powers": (
        lambda x, v: x**3 + 2.0**x + x**-2,
        (-1.5, 2.0),
        lambda x: 3 * x * x + 2.0**x * math.log(2.0) - 2 * x**-3,
    ),
    "quotient": (lambda x, v: (1.0 + x) / x, (1e-120, 3.0), lambda x: -1.0 / x**2 if x > 1 else -1e240),
    "sqrt, log": (lambda x, v: np.sqrt(x) + math.log(x), (1e-60, 2.0), lambda x: 0.5 / math.sqrt(x) + 1.0 / x),
    "exp, sinh, cosh": (
        lambda x, v: np.exp(-x) + np.sinh(x) * np.cosh(x),
        (-1.0, 300.0),
        lambda x: -np.exp(-x) + np.cosh(2 * x),
    ),
    "tan, arctan, log1p": (
        lambda x, v: np.tan(x) + np.arctan(1e9 * x) + np.log1p(x),
        (0.5,),
        lambda x: 1 + math.tan(x) ** 2 + 1e9 / (1 + 1e18 * x * x) + 1 / (1 + x),
    ),
    "interp": (
        lambda x, v: np.interp(x, xs, ys),
        (0.5, 3.0, 9.0),
        lambda x: 2.0 if x < 1 else (0.25 if x < 5 else 0.0),
    ),
    "floor": (lambda x, v: x * np.floor(x + 0.2), (0.9, 2.0), lambda x: np.floor(x + 0.2)),
    "index": (lambda x, v: table[int(x)] * x, (0.5, 1.5), lambda x: table[int(x)]),
    "arrays": (through_arrays, (2.0, 0.3), None),
    "real part": (lambda x, v: 3.0 * float(x), (2.0,), lambda x: 3.0),
}
RELATIVE = 4e-15
BY_DIFFERENCES = 1e-9


@pytest.mark.own_compiler
@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_are_exact_at_every_argument(name):
    function, points, slope = DERIVATIVES[name]
    callback = make_callback(function, LAW, name)
    twin = twin_of(callback)
    assert callback.compiled and twin.compiled, (callback.reason, twin.reason)
    for x in points:
        value, change = derivative(twin, x)
        np.testing.assert_allclose(value, float(function(x, 0.0)), rtol=RELATIVE)
        if slope is not None:
            assert change == pytest.approx(slope(x), rel=RELATIVE, abs=1e-290)
        else:
            h = 1e-4
            at = [float(function(x + s * h, 0.0)) for s in (-2, -1, 1, 2)]
            assert change == pytest.approx((8 * (at[2] - at[1]) - at[3] + at[0]) / (12 * h), rel=BY_DIFFERENCES)


def derivative(twin, x):
    out = np.zeros(2)
    arguments = np.array([x, 1e-30, 0.2, 0.0])
    twin_call(twin, arguments, out)
    return out[0], out[1] / 1e-30


def twin_call(twin, x, out):
    from mbd.compiled.functions.calls import SIGNATURE

    SIGNATURE(twin.address)(x.ctypes.data, out.ctypes.data, twin.block)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, v: abs(x + 2.0j * v) ** 2,  # complex numbers of its own
        lambda x, v: np.linalg.eigvalsh(np.array([[x, 1.0], [1.0, 2.0]]))[0],  # not analytic
        lambda x, v: np.std(np.array([x, 1.0, 4.0])),
        lambda x, v: x % 0.7,
    ],
)
def test_what_dual_numbers_do_not_cover_takes_differences(function):
    callback = make_callback(function, LAW, "law")
    twin = twin_of(callback)
    assert callback.compiled and not twin.compiled
    x, h = 1.1, 1e-4
    at = [float(function(x + s * h, 0.2)) for s in (-2, -1, 1, 2)]
    value, change = derivative(twin, x)
    assert value == float(function(x, 0.2))
    assert change == pytest.approx((8 * (at[2] - at[1]) - at[3] + at[0]) / (12 * h), rel=BY_DIFFERENCES)


@pytest.mark.own_compiler
def test_a_derivative_that_is_not_finite_falls_back_to_differences():
    callback = make_callback(lambda x, v: (x - 1.0) ** 0.5 if x > 2.0 else np.sqrt(np.abs(x)) * x, LAW, "law")
    twin = twin_of(callback)
    assert twin.compiled
    value, change = derivative(twin, 0.0)
    assert value == 0.0 and abs(change) < 0.1 and not twin.noted and not callback.noted


@pytest.mark.own_compiler
def test_motions_have_exact_rates():
    motion = make_callback(lambda t: math.tanh(40.0 * t) * np.abs(t - 3.0), MOTION, "driver", None, None)
    assert motion.compiled
    t = 0.03
    u, w = math.tanh(40.0 * t), 40.0 / math.cosh(40.0 * t) ** 2
    c, rate, acceleration = motion.evaluate(np.array([t]))
    assert (c, rate) == pytest.approx((u * (3.0 - t), w * (3.0 - t) - u), rel=1e-14)
    assert acceleration == pytest.approx(-80.0 * u * w * (3.0 - t) - 2.0 * w, rel=1e-7)
