"""User functions: captured values are data, bounds, derivatives, and the ways of compiling.

Functions are evaluated here as the kernels call them; that they act in simulations is shown at the end.
"""

import functools
import gc
import math
import os
import subprocess
import sys
import textwrap
from math import sin as sine
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mbd
from mbd.compiled.functions import code as user_code
from mbd.compiled.functions.call_styles import Call, is_indefinite
from mbd.compiled.functions.callbacks import make_callback, twin_of
from mbd.elements.function_errors import explain
from mbd.elements.prescribed_motion import MOTION

FORCE = Call("force", 1, 6, (1, 6), True)
LAW = Call("law", 1, 1)
X = np.linspace(0.3, 2.1, 19)

k, n, table, gains, mode = 40.0, 2, np.array([1.0, 2.0, 3.0]), (1.0, 2.0), "stiff"
matrix, params = np.eye(3) * 2.0, {"k": 3.0, "name": "a"}
box = SimpleNamespace(k=5.0, inner=SimpleNamespace(c=np.array([1.0, 1.0])))
xs, ys = np.array([0.0, 1.0, 5.0]), np.array([0.0, 2.0, 3.0])
strided = np.arange(12.0).reshape(4, 3)[::2, 1:]


def inner(x):
    return x * k + 1.0


def outer(x, gain=2.0):
    return gain * inner(x)


def filled(*values):
    def decorate(function):
        @functools.wraps(function)
        def force(t, frames, velocities):
            out = np.zeros_like(velocities)
            out[0, 0] = function(t, frames, velocities)
            return out

        return force

    return decorate if not values else decorate(*values)


def two_globals(t, frames, velocities):
    out = np.zeros_like(velocities)
    out[0, :3] = -k * frames[0, :3] - n * velocities[0, :3]
    return out


def closure(stiffness):
    return lambda t, frames, velocities: np.full((1, 6), stiffness * frames[0, 0] * math.cos(t))


class Spring:
    def __init__(self, stiffness):
        self.k, self.table = stiffness, np.array([stiffness, 2 * stiffness])

    def force(self, t, frames, velocities):
        return np.full((1, 6), -self.k * frames[0, 0] + self.table[1] + self.other(t))

    def other(self, t):
        return self.k * t

    def __call__(self, t, frames, velocities):
        return np.full((1, 6), -self.k * frames[0, 1])


def bound(k1, t, frames, velocities, *, k2=1.0):
    return np.full((1, 6), k1 * t + k2)


def defaults(t, frames, velocities, q=3.0, w=(1.0, 2.0)):
    return np.full((1, 6), q * w[1])


def branches(t, frames, velocities):
    out = np.zeros((1, 6))
    for i in range(n):
        out[0, i] = k if frames[0, 0] > 0.0 else -k
    return out


def text(t, frames, velocities):
    out = np.zeros((1, 6))
    out[0, 0] = k if mode == "stiff" else 1.0
    return out


def inner_lambda(t, frames, velocities):
    scaled = lambda y: k * y  # noqa: E731
    return np.full((1, 6), scaled(t))


def put(owner, name, value):
    """A change of a value, and how to undo it."""

    def change():
        items = isinstance(owner, dict | np.ndarray)
        old = owner[name] if items else getattr(owner, name)
        (owner.__setitem__ if items else functools.partial(setattr, owner))(name, value)
        return lambda: (owner.__setitem__ if items else functools.partial(setattr, owner))(name, old)

    return change


HERE = globals()
SPRING, CALLED, CELL = Spring(4.0), Spring(6.0), closure(9.0)
PARTIAL = functools.partial(bound, 3.0, k2=7.0)
SHAPES = {
    "lambda": (lambda t, f, v: np.full((1, 6), k * t), put(HERE, "k", 41.0)),
    "two globals": (two_globals, put(HERE, "n", 5)),
    "closure in a module with math": (CELL, put(CELL.__closure__[0], "cell_contents", 11.0)),
    "bound method": (SPRING.force, put(SPRING, "k", 44.0)),
    "callable object": (CALLED, put(CALLED, "k", 66.0)),
    "partial": (PARTIAL, put(PARTIAL.keywords, "k2", 8.0)),
    "defaults": (defaults, put(defaults, "__defaults__", (8.0, (1.0, 5.0)))),
    "array changed in place": (lambda t, f, v: np.full((1, 6), table[0] + gains[1]), put(table, 0, 77.0)),
    "array replaced": (lambda t, f, v: np.full((1, 6), table[1]), put(HERE, "table", np.array([5.0, 6.0, 7.0]))),
    "array with strides": (lambda t, f, v: np.full((1, 6), strided[1, 0]), put(strided, (1, 0), -3.0)),
    "dictionary": (lambda t, f, v: np.full((1, 6), params["k"] * t), put(params, "k", 9.0)),
    "path": (lambda t, f, v: np.full((1, 6), box.k * box.inner.c[1]), put(box.inner, "c", np.array([4.0, 8.0]))),
    "functions": (lambda t, f, v: np.full((1, 6), outer(t) + outer(t, gain=3.0) + outer(x=t)), put(HERE, "k", 3.5)),
    "a function replaced": (lambda t, f, v: np.full((1, 6), inner(t)), put(HERE, "inner", lambda x: x - 1.0)),
    "math": (lambda t, f, v: np.full((1, 6), math.sin(k * t) + math.pi + sine(t)), put(HERE, "k", 1.5)),
    "numpy": (lambda t, f, v: np.full((1, 6), (matrix @ f[0, :3])[0] + np.interp(t, xs, ys)), put(matrix, (0, 0), 9.0)),
    "text": (text, put(HERE, "mode", "soft")),
    "branches": (branches, put(HERE, "k", 12.5)),
    "tuple": (lambda t, f, v: ((k * t, 0.0, 0.0, 0.0, 0, 1),), put(HERE, "k", 13.5)),
    "comprehension": (lambda t, f, v: np.full((1, 6), sum([k * x for x in f[0, :3]])), put(HERE, "k", 14.5)),
    "inner lambda": (inner_lambda, put(HERE, "k", 15.5)),
    "int becomes float": (lambda t, f, v: np.full((1, 6), n * t), put(HERE, "n", 2.5)),
}


def shape_of(function):
    value = FORCE((function,), X.copy())
    return Call("force", 1, 6, np.shape(value), isinstance(value, np.ndarray))


def plainly(function):
    return np.asarray(FORCE((function,), X.copy()), dtype=float).ravel()


@pytest.mark.parametrize("name", SHAPES)
def test_compiled_functions_see_what_plain_python_sees(name):
    function, change = SHAPES[name]
    callback = make_callback(function, shape_of(function), name)
    assert callback.compiled, callback.reason
    before = callback.evaluate(X)
    np.testing.assert_array_equal(before, plainly(function))
    undo = change()
    try:
        callback.refresh()
        np.testing.assert_array_equal(callback.evaluate(X), plainly(function))
        assert not np.array_equal(callback.evaluate(X), before)
    finally:
        undo()
    callback.refresh()
    np.testing.assert_array_equal(callback.evaluate(X), before)


def recursive(i):
    return 1.0 if i < 1 else k * recursive(i - 1)


def writes(t, f, v):
    box.k = t
    return np.full((1, 6), t)


SEEN = []
REFUSED = {
    "a dictionary as a whole": (lambda t, f, v: np.full((1, 6), len([key for key in params])), "params .dict. is used"),
    "recursion": (lambda t, f, v: np.full((1, 6), recursive(3)), "recursive calls itself"),
    "a method of a list": (lambda t, f, v: [SEEN.append(t) or np.zeros(6)], "SEEN.append is a method of a list"),
    "*args": (lambda *args: np.zeros((1, 6)), "takes .args"),
    "np.random": (lambda t, f, v: np.full((1, 6), np.random.normal() * 0.0), "state of its own"),
    "an object that is changed": (writes, "box .SimpleNamespace. is used as a whole"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_compiled_is_plain_python_with_the_reason(name):
    function, reason = REFUSED[name]
    with pytest.warns(UserWarning, match=f"plain Python, which is slower; it cannot be compiled: .*{reason}"):
        callback = make_callback(function, shape_of(function), "force 'f'")
    np.testing.assert_array_equal(callback.evaluate(X), plainly(function))


def test_new_lambdas_of_the_same_code_compile_nothing_and_keep_nothing():
    def make(stiffness):
        return lambda t, f, v: ((-stiffness * f[0, 0], 0.0, 0.0, 0.0, 0.0, 0.0),)

    call = shape_of(make(1.0))

    def use(count):
        for i in range(count):
            callback = make_callback(make(float(i)), call, "force")
            twin = twin_of(callback)
            assert callback.evaluate(X)[0] == -i * X[1] and twin.compiled

    use(10)
    gc.collect()
    made, objects = dict(user_code.STATISTICS), len(gc.get_objects())
    use(2000)
    gc.collect()
    assert made == user_code.STATISTICS
    assert len(gc.get_objects()) - objects < 100


def test_bounds_are_checked_in_compiled_functions():
    callback = make_callback(lambda length, rate: table[int(10 * length)], LAW, "spring 's'")
    assert callback.compiled and callback.evaluate(np.array([0.15, 0.0])) == table[1]
    assert np.isnan(callback.evaluate(np.array([0.55, 0.0]))).all() and callback.noted
    error = explain(callback)
    assert isinstance(error.__cause__, IndexError)
    assert "spring 's': its function raised IndexError: index 5 is out of bounds" in str(error)
    assert "test_user_functions.py, line" in str(error)


@pytest.mark.parametrize(
    ("function", "x", "message"),
    [
        (lambda x, v: 1.0 / (x - 0.5), 0.5, "raised ZeroDivisionError: .*division by zero"),
        (lambda x, v: math.sqrt(0.5 - x), 1.0, "raised ValueError"),
        (lambda x, v: np.sqrt(0.5 - x), 1.0, "returned NaN at t = .* invalid value encountered in sqrt"),
        (lambda x, v: x / np.float64(0.0), 1.0, "returned an infinite number at t = .* divide by zero"),
    ],
)
def test_numbers_that_are_none_are_told(function, x, message):
    callback = make_callback(function, LAW, "spring 's'")
    assert callback.compiled
    callback.evaluate(np.array([x, 0.0]))
    with pytest.raises(mbd.UserFunctionError, match=f"spring 's': its function {message}"):
        raise explain(callback)


# --- derivatives ----------------------------------------------------------------------------------------------------


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


def test_a_derivative_that_is_not_finite_falls_back_to_differences():
    callback = make_callback(lambda x, v: (x - 1.0) ** 0.5 if x > 2.0 else np.sqrt(np.abs(x)) * x, LAW, "law")
    twin = twin_of(callback)
    assert twin.compiled
    value, change = derivative(twin, 0.0)
    assert value == 0.0 and abs(change) < 0.1 and not twin.noted and not callback.noted


def test_motions_have_exact_rates():
    motion = make_callback(lambda t: math.tanh(40.0 * t) * np.abs(t - 3.0), MOTION, "driver", None, None)
    assert motion.compiled
    t = 0.03
    u, w = math.tanh(40.0 * t), 40.0 / math.cosh(40.0 * t) ** 2
    c, rate, acceleration = motion.evaluate(np.array([t]))
    assert (c, rate) == pytest.approx((u * (3.0 - t), w * (3.0 - t) - u), rel=1e-14)
    assert acceleration == pytest.approx(-80.0 * u * w * (3.0 - t) - 2.0 * w, rel=1e-7)


# --- in simulations -------------------------------------------------------------------------------------------------

GAIN = 1.0


def moved(model, body, **options):
    return float(mbd.simulate(model, 0.1, 0.01, progress=False, **options)[body].position[-1, 0])


def one_body(add):
    model = mbd.Model("m")
    body = model.add(mbd.PointMass("b", 1.0, (1.0, 0, 0)))
    add(model, body)
    return model, "b"


def generalized(gain):
    model = mbd.Model("m")
    model.add(mbd.Generalized("q", [1.0], mass=lambda q: [[1.0 + 0.0 * q[0]]], potential=gain))
    return model, "q"


KINDS = {
    "user force": lambda m, b: m.add(mbd.forces.UserForce(b, lambda t, f, v: ((GAIN, 0.0, 0.0, 0.0, 0.0, 0.0),))),
    "force in time": lambda m, b: m.add(mbd.forces.Force(b, lambda t: (GAIN, 0.0, 0.0))),
    "force on frames": lambda m, b: m.add(mbd.forces.Force(b, lambda t, f, v: (GAIN, 0.0 * f[0, 0], 0.0))),
    "potential": lambda m, b: m.add(mbd.forces.UserPotential(b, lambda f: -GAIN * f[0, 0])),
    "law": lambda m, b: m.add(mbd.forces.NonlinearSpring(m.ground, b, function=lambda x, v: -GAIN)),
    "driver": lambda m, b: m.add(
        mbd.joints.PositionDriver(m.ground, b, axis=(1, 0, 0), value=lambda t: 0.5 * GAIN * t * t)
    ),
    "constraint": lambda m, b: m.add(mbd.joints.UserConstraint(b, lambda f, t: f[0, 0] - 1.0 - 0.5 * GAIN * t * t)),
}
ANSWER = 1e-4  # of the motion by first-order effects of the start


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_function_acts_with_the_value_of_the_run(kind, monkeypatch):
    model, body = one_body(KINDS[kind])
    monkeypatch.setitem(HERE, "GAIN", 1.0)
    assert moved(model, body) == pytest.approx(1.005, abs=ANSWER)
    made = user_code.STATISTICS["compiled"]
    monkeypatch.setitem(HERE, "GAIN", 5.0)
    assert moved(model, body) == pytest.approx(1.025, abs=ANSWER)
    assert user_code.STATISTICS["compiled"] == made


def test_generalized_coordinates_act_with_the_value_of_the_run(monkeypatch):
    model, body = generalized(lambda q: -GAIN * q[0])
    for gain in (1.0, 5.0):
        monkeypatch.setitem(HERE, "GAIN", gain)
        end = mbd.simulate(model, 0.1, 0.01, progress=False).q[-1, 0]
        assert end == pytest.approx(1.0 + 0.005 * gain, abs=ANSWER)


def fails_late(t, f, v):
    if t > 0.055:
        raise ValueError("the pump is empty")
    return ((GAIN, 0.0, 0.0, 0.0, 0.0, 0.0),)


def grows(q):
    return math.sqrt(1.06 - q[0]) - 20.0 * q[0]


PLAIN = []
FAILURES = {
    "raised": (
        lambda m, b: m.add(mbd.forces.UserForce(b, fails_late, name="load")),
        r"force 'load': its function raised ValueError: the pump is empty at t = 0.06 \(test_user_functions.py, line",
    ),
    "bounds": (
        lambda m, b: m.add(mbd.forces.Force(b, lambda t: (table[int(t / 0.02)], 0.0, 0.0), name="load")),
        r"force 'load': its function raised IndexError: index 3 .* at t = 0.06 \(test_user_functions.py, line",
    ),
    "not a number": (
        lambda m, b: m.add(mbd.forces.Force(b, lambda t: (np.sqrt(0.055 - t), 0.0, 0.0), name="load")),
        r"force 'load': its function returned NaN at t = 0.06",
    ),
    "constraint": (
        lambda m, b: m.add(mbd.joints.UserConstraint(b, lambda f, t: f[0, 2] - np.log(0.0553 - t) + np.log(0.0553))),
        r"constraint.*: its function returned NaN at t = 0.06",
    ),
    "plain": (
        lambda m, b: m.add(
            mbd.forces.UserForce(b, lambda t, f, v: PLAIN.append(t) or fails_late(t, f, v), name="load")
        ),
        r"force 'load': its function raised ValueError: the pump is empty at t = 0.06 \(test_user_functions.py, line",
    ),
}


@pytest.mark.filterwarnings("ignore:the function of")
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()])
def test_errors_in_functions_stop_the_run_and_keep_it(failure, method):
    build, message = FAILURES[failure]
    model, _ = one_body(build)
    with pytest.raises(mbd.UserFunctionError, match=message) as caught:
        mbd.simulate(model, 0.1, 0.01, method, progress=False)
    solution = caught.value.solution
    assert 0.04 < solution.t[-1] < 0.055 and not solution.complete
    assert np.isfinite(solution.q).all() and caught.value.time == pytest.approx(0.06, abs=0.006)


def turns_negative(q):
    return np.array([[2.0, 0.3], [0.3, 1.2 - q[0]]])


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()])
def test_a_mass_that_turns_negative_stops_the_run_there(method, plain, recwarn):
    """Nothing in the motion tells of it: q[1] stays at rest, and the second eigenvalue vanishes at q[0] = 1.155."""
    function = (lambda q: PLAIN.append(0) or turns_negative(q)) if plain else turns_negative
    model = mbd.Model("m")
    model.add(mbd.Generalized("slider", [0.5, 0.0], [2.0, 0.0], mass=function))
    message = r"mass of 'slider': its function returned a matrix with the negative eigenvalue -0\.0.* at t = 0\.33"
    with pytest.raises(mbd.UserFunctionError, match=message) as caught:
        mbd.simulate(model, 1.0, 0.01, method, progress=False)
    assert caught.value.solution.t[-1] == pytest.approx(0.32, abs=ANSWER)
    assert not caught.value.solution.complete


def test_signs_of_eigenvalues_are_those_of_the_pivots():
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 6):
        for _ in range(20):
            vectors = np.linalg.qr(rng.normal(size=(n, n)))[0]
            units = 10.0 ** rng.uniform(-4, 4, n)  # of the coordinates
            values = rng.uniform(0.1, 1.0, n)
            for lowest, expected in ((values[0], False), (0.0, False), (-1e-3, True)):
                values[0] = lowest
                matrix = units[:, None] * (vectors * values) @ vectors.T * units
                assert is_indefinite(matrix) == expected
    assert is_indefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert not is_indefinite(np.zeros((3, 3)))


def moves_origin(f):
    f[0, :3] -= table[:3]
    return 2.0 * np.sum(f[0, :3] ** 2)


def test_functions_that_change_their_arguments_change_nothing_else():
    model, _ = one_body(lambda m, b: m.add(mbd.forces.UserPotential(b, moves_origin)))
    with pytest.warns(UserWarning, match="it changes one of its arguments"):
        system = mbd.assemble(model)
    q, v = system.initial_state()
    np.testing.assert_allclose(system.residual(q, v, 0.0 * v), 4.0 * (q - table[:3]), atol=1e-9)


def pulls_to_moved_origin(t, f, v):
    f[0, 0] -= 0.25
    out = np.zeros((1, 6))
    out[0, 0] = -7.0 * f[0, 0]
    return out


def test_the_matrix_of_a_force_that_changes_its_arguments_is_right():
    """The second column would see what the evaluation for the first one has left behind."""
    model, _ = one_body(lambda m, b: m.add(mbd.forces.UserForce(b, pulls_to_moved_origin)))
    with pytest.warns(UserWarning, match="it changes one of its arguments"):
        system = mbd.assemble(model)
    q, v = system.initial_state()
    expected = np.zeros((len(v), len(v)))
    expected[0, 0] = 7.0
    np.testing.assert_allclose(system.stiffness(q, v, 0.0 * v).toarray(), expected, atol=1e-8)


@pytest.mark.parametrize("function", [lambda t, f, v: v, lambda t, f, v: (v[0],)])
def test_what_a_function_hands_back_has_derivatives(function):
    model = mbd.Model("m")
    body = model.add(mbd.RigidBody("b", 1.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector(angular_velocity=(0.3, 0.7, 0))))
    model.add(mbd.forces.UserForce(body, function))
    system = mbd.assemble(model)
    q, v = system.initial_state()
    np.testing.assert_allclose(system.damping(q, v).toarray()[3:, 3:], -np.eye(3), atol=1e-9)


def test_trial_steps_may_fail():
    """Steps that are too long lead out of the domain of a law and are repeated; the run goes on."""
    model = mbd.Model("m")
    body = model.add(mbd.PointMass("b", 1.0, (1.0, 0, 0)))
    model.add(mbd.forces.NonlinearSpring(model.ground, body, function=lambda x, v: -20.0 / math.sqrt(x - 0.9)))
    method = mbd.integrators.DOPRI5(rtol=1e-8, atol=1e-8)
    solution = mbd.simulate(model, 0.2, 0.2, method, progress=False)
    assert solution.complete


def test_other_functions_of_a_user_that_fail_keep_the_run():
    class Stumbling(mbd.integrators.PythonIntegrator):
        order = 1

        def step(self, system, t, q, v, h):
            if t > 0.045:
                raise RuntimeError("no more")
            return system.update(q, h * v), v

    model, _ = one_body(lambda m, b: None)
    with pytest.raises(
        mbd.UserFunctionError, match="Stumbling: its step raised RuntimeError: no more at t = 0.05"
    ) as one:
        mbd.simulate(model, 0.1, 0.01, Stumbling(), progress=False)
    event = mbd.Event(lambda s: [1.0 / float(t < 0.05) for t in s.t.tolist()], name="hit")
    with pytest.raises(mbd.UserFunctionError, match="event 'hit': its function raised ZeroDivisionError") as other:
        mbd.simulate(model, 0.1, 0.01, mbd.integrators.RK4(), events=event, progress=False)
    assert one.value.solution.t[-1] == pytest.approx(0.05) and len(other.value.solution.t) > 1


def test_systems_read_values_at_every_evaluation(monkeypatch):
    model, _ = one_body(KINDS["user force"])
    system = mbd.assemble(model)
    q, v = system.initial_state()
    for gain in (1.0, 5.0, 3):  # an int is another kind of number
        monkeypatch.setitem(HERE, "GAIN", gain)
        assert system.accelerations(q, v)[0][0] == gain


# --- other ways of compiling ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two globals", "array changed in place", "text", "closure in a module with math"])
def test_the_public_interface_of_numba_is_never_stale(name, monkeypatch):
    monkeypatch.setattr(user_code, "COMPILER", "numba")
    function, change = SHAPES[name]
    callback = make_callback(function, shape_of(function), name)
    assert callback.compiled and not twin_of(callback).compiled
    np.testing.assert_array_equal(callback.evaluate(X), plainly(function))
    undo = change()
    try:
        assert callback.refresh() and callback.compiled
        np.testing.assert_array_equal(callback.evaluate(X), plainly(function))
    finally:
        undo()


def test_the_public_interface_of_numba_tells_errors(monkeypatch):
    monkeypatch.setattr(user_code, "COMPILER", "numba")
    law = make_callback(lambda x, v: table[int(10.0 * x)] / v, LAW, "spring 's'")
    motion = make_callback(lambda t: math.sin(3.0 * t), MOTION, "driver", None, None)
    assert law.compiled and motion.compiled
    assert motion.evaluate(np.array([0.2])) == pytest.approx(
        (math.sin(0.6), 3.0 * math.cos(0.6), -9.0 * math.sin(0.6)), rel=1e-8
    )
    for x, message in (((0.55, 1.0), "raised IndexError"), ((0.1, 0.0), "returned an infinite number")):
        assert not np.isfinite(law.evaluate(np.array(x))).any()
        with pytest.raises(mbd.UserFunctionError, match=message):
            raise explain(law)
        law.clear()


def test_a_second_process_compiles_nothing(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import sys
            import numpy as np
            from mbd.compiled.functions import code as user_code
            from mbd.compiled.functions.call_styles import Call
            from mbd.compiled.functions.callbacks import make_callback, twin_of

            gain, box = float(sys.argv[1]), {"k": np.array([1.0, 2.0])}
            callback = make_callback(lambda x, v: gain * np.sum(box["k"] * x) + abs(v), Call("law", 1, 1), "law")
            twin = twin_of(callback)
            value = callback.evaluate(np.array([2.0, -1.0]))[0]
            print(callback.compiled, twin.compiled, value, *user_code.STATISTICS.values())
            """
        )
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def run(gain):
        command = [sys.executable, str(program), gain]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    assert run("1.0") == ["True", "True", "7.0", "2", "0"]
    assert run("3.0") == ["True", "True", "19.0", "0", "2"]


def test_every_integrator_tells_of_a_function_that_fails():
    program = [sys.executable, "-m", "tests.elements.failing_functions"]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "MBD_JIT": "0", "PYTHONPATH": str(root)}
    done = subprocess.run(program, env=environment, cwd=root, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) > 60 and [line for line in lines if not line.endswith(" told")] == []
