"""Solutions that the tests of views share, and what they need of the machine."""

from __future__ import annotations

import shutil

import pytest

import mbd
from mbd.view import opengl

from . import models


@pytest.fixture(scope="session")
def top() -> mbd.Solution:
    """Half a second of the heavy top."""
    return models.heavy_top()


@pytest.fixture(scope="session")
def chain() -> mbd.Solution:
    """A second of a falling chain."""
    return models.chain()


@pytest.fixture(scope="session")
def mechanism() -> mbd.Solution:
    """A second of slider, spring, pendulum and rod."""
    return models.mechanism()


@pytest.fixture
def rendering() -> None:
    """Skips, with the reason, where nothing can be rendered."""
    if reason := opengl.obstacle():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser, or a skip with the reason."""
    pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("Chromium is not installed: apt install chromium")
