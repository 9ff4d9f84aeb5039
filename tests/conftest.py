"""What all tests share: reproducible random numbers and named tolerances."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mbd.compiled.settings import PUBLIC

SEED = 20260101

ROUND_OFF = 1e-13  # exact up to a few operations in double precision
DIFFERENCE = 1e-8  # fourth-order central differences with steps of 1e-3
ORDER = 0.1  # allowed deviation of an observed order of convergence

FORBID_SKIPS = os.environ.get("MBD_FORBID_SKIPS", "0") != "0"
"""Where all packages are installed, a test that is skipped is one that nobody would miss: there it fails."""


def forbid_skip(report: Any) -> Any:
    """The report of a test or a file; a failure if it was skipped and nothing may be."""
    if FORBID_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"skipped, and MBD_FORBID_SKIPS is set: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    return forbid_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    return forbid_skip((yield))


def pytest_configure(config: pytest.Config) -> None:
    """With numba's public interface alone, some functions are called as plain Python, and say so."""
    if PUBLIC:
        config.addinivalue_line("filterwarnings", "ignore:.* is called as plain Python, which is slower")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With numba's public interface alone, leave out what is said of the other way to compile."""
    if PUBLIC:
        others = [item for item in items if item.get_closest_marker("own_compiler")]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if not item.get_closest_marker("own_compiler")]


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator that starts anew, and always the same, in every test."""
    return np.random.default_rng(SEED)


@pytest.fixture(scope="session")
def tolerance() -> SimpleNamespace:
    """The named tolerances: ``tolerance.round_off``, ``.difference``, ``.order``."""
    return SimpleNamespace(round_off=ROUND_OFF, difference=DIFFERENCE, order=ORDER)
