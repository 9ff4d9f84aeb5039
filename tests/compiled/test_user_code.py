"""User functions as kernels call them: captured values are data, bounds are checked, and the ways of compiling."""

import functools
import gc
import math
import os
import subprocess
import sys
import textwrap
import warnings
from math import sin as sine
from types import SimpleNamespace

import numpy as np
import pytest

import mbd
from mbd.compiled.functions import code as user_code
from mbd.compiled.functions.call_styles import Call
from mbd.compiled.functions.callbacks import make_callback, twin_of
from mbd.compiled.settings import PUBLIC
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
    with warnings.catch_warnings():
        if PUBLIC:  # it compiles no methods, objects and dictionaries, and says so
            warnings.simplefilter("ignore")
        callback = make_callback(function, shape_of(function), name)
    assert callback.compiled or PUBLIC, callback.reason
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


@pytest.mark.own_compiler
@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_compiled_is_plain_python_with_the_reason(name):
    function, reason = REFUSED[name]
    with pytest.warns(UserWarning, match=f"plain Python, which is slower; it cannot be compiled: .*{reason}"):
        callback = make_callback(function, shape_of(function), "force 'f'")
    np.testing.assert_array_equal(callback.evaluate(X), plainly(function))


@pytest.mark.own_compiler
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
    assert "test_user_code.py, line" in str(error)


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


# --- other ways of compiling ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two globals", "array changed in place", "text", "closure in a module with math"])
def test_the_public_interface_of_numba_is_never_stale(name, monkeypatch):
    monkeypatch.setattr(user_code, "PUBLIC", True)
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
    monkeypatch.setattr(user_code, "PUBLIC", True)
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


@pytest.mark.own_compiler
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
