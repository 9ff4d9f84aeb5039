"""The examples run and show what they promise."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

pytest.importorskip("matplotlib")

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_book(tmp_path):
    solution = example("book").main(tmp_path)
    assert np.ptp(solution.energy.total) < 1e-14
    assert (tmp_path / "book.png").stat().st_size > 10_000


def test_tennis_racket(tmp_path):
    module = example("tennis_racket")
    solution = module.main(tmp_path)
    omega = solution["racket"].angular_velocity[:, 1]
    assert omega[0] > 0.99 * module.SPIN and omega.min() < -0.99 * module.SPIN
    assert (tmp_path / "tennis_racket.png").exists()


def test_heavy_top(tmp_path):
    solution = example("rigid_heavy_top").main(tmp_path)
    assert np.ptp(solution.energy.total) < 1e-10 * solution.energy.total[0]
    assert np.ptp(solution.momentum.angular[:, 2]) < 1e-12


def test_tumbling_cloud(tmp_path):
    solution = example("tumbling_cloud").main(40, tmp_path)
    assert np.ptp(solution.energy.total) < 1e-12 * abs(solution.energy.total[0])
