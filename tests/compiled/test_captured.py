"""What user functions refer to besides their arguments."""

import functools
import itertools
import math
import random
import types

import numpy as np
import pytest
from numpy import random as numpy_random

from mbd.compiled.functions.captured import captured_values, value_at

STIFFNESS, TABLE, PARAMETERS = 3.0, np.array([1.0, 2.0]), {"k": 2.0}
BOX = types.SimpleNamespace(inner=types.SimpleNamespace(c=1.0), unused=object())
SEEN = itertools.count()
VECTORIZED, UFUNC = np.vectorize(lambda t: STIFFNESS * t), np.frompyfunc(lambda t: STIFFNESS * t, 1, 1)
POLYNOMIAL = np.poly1d([1.0, 2.0])
GENERATOR = np.random.default_rng(0)


class Law:
    factor = 2.0

    def __init__(self, k):
        self.k, self.never_read = k, iter(())

    def value(self, t):
        return self.k * self.helper(t)

    def helper(self, t):
        return self.factor * t

    def __call__(self, t):
        return self.k * t


def helper(t, gain=2.0):
    return gain * STIFFNESS * t


def closure(k):
    return lambda t: k * math.sin(t)


def changed(function, change):
    """Whether what is known of a function differs after a change, and agrees before it and after it is undone."""
    before, again = captured_values(function), captured_values(function)
    assert _same(before, again)
    undo = change()
    after = captured_values(function)
    undo()
    assert _same(before, captured_values(function))
    return not _same(before, after)


def _same(a, b):
    return [p for p, _ in a] == [p for p, _ in b] and all(
        np.array_equal(x, y) and type(x) is type(y) for (_, x), (_, y) in zip(a, b, strict=True)
    )


def _set(owner, name, value):
    def change():
        old = owner[name] if isinstance(owner, dict | np.ndarray) else getattr(owner, name)

        def put(x):
            if isinstance(owner, dict | np.ndarray):
                owner[name] = x
            else:
                setattr(owner, name, x)

        put(value)
        return lambda: put(old)

    return change


def with_attribute(t):
    return with_attribute.gain * t


with_attribute.gain = 2.0
LAW = Law(4.0)
CELL = closure(5.0)
PARTIAL_KEYWORDS = functools.partial(helper, gain=4.0)
HERE = globals()


@pytest.mark.parametrize(
    ("function", "change"),
    [
        (lambda t: STIFFNESS * t, _set(HERE, "STIFFNESS", 4.0)),
        (lambda t: STIFFNESS * t, _set(HERE, "STIFFNESS", 3)),  # another kind of number
        (lambda t: helper(t), _set(HERE, "STIFFNESS", 4.0)),
        (lambda t: helper(t), _set(helper, "__defaults__", (9.0,))),
        (lambda t: helper(t), _set(HERE, "helper", lambda t: t)),
        (lambda t: TABLE[0] * t, _set(HERE, "TABLE", np.array([5.0, 2.0]))),
        (lambda t: PARAMETERS["k"] * t, _set(PARAMETERS, "k", 7.0)),
        (lambda t: BOX.inner.c * t, _set(BOX.inner, "c", 7.0)),
        (lambda t: sum([STIFFNESS * x for x in (t, t)]), _set(HERE, "STIFFNESS", 4.0)),
        (with_attribute, _set(with_attribute, "gain", 3.0)),
        (LAW.value, _set(LAW, "k", 7.0)),
        (LAW.value, _set(Law, "factor", 7.0)),
        (LAW, _set(LAW, "k", 7.0)),
        (CELL, _set(CELL.__closure__[0], "cell_contents", 7.0)),
        (PARTIAL_KEYWORDS, _set(PARTIAL_KEYWORDS.keywords, "gain", 1.0)),
    ],
)
def test_every_change_of_what_a_function_refers_to_is_seen(function, change):
    assert changed(function, change)


def test_arrays_are_given_themselves():
    function = lambda t: TABLE[0] * t  # noqa: E731
    assert any(value is TABLE for _, value in captured_values(function))
    assert value_at(function, (("g", "TABLE"),)) is TABLE


def test_what_is_never_read_does_not_matter():
    assert not changed(lambda t: BOX.inner.c * t, _set(BOX, "unused", 3.0))
    assert captured_values(np.sin) == [("()", "numpy.sin")]


@pytest.mark.parametrize(
    "function",
    [
        lambda t: next(SEEN),
        lambda t: GENERATOR.normal(),
        lambda t: np.random.normal(),
        lambda t: numpy_random.normal(),
        lambda t: random.random(),
        lambda t: VECTORIZED(t),
        lambda t: UFUNC(t),
        lambda t: POLYNOMIAL(t),
        SEEN.__next__,
    ],
)
def test_hidden_states_are_not_taken_for_known(function):
    assert captured_values(function) is None
