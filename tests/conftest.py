"""What all tests share: reproducible random numbers and named tolerances."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

SEED = 20260101

ROUND_OFF = 1e-13  # exact up to a few operations in double precision
DIFFERENCE = 1e-8  # fourth-order central differences with steps of 1e-3
ORDER = 0.1  # allowed deviation of an observed order of convergence


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that starts anew, and always the same, in every test."""
    return np.random.default_rng(SEED)


@pytest.fixture(scope="session")
def tolerance() -> SimpleNamespace:
    """The named tolerances: ``tolerance.round_off``, ``.difference``, ``.order``."""
    return SimpleNamespace(round_off=ROUND_OFF, difference=DIFFERENCE, order=ORDER)
