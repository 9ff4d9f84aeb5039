"""No integrator ignores an element: see ``tests.integrators.element_matrix``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.integrators.element_matrix import ALL


def test_every_element_with_every_integrator():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.integrators.element_matrix"], capture_output=True, text=True, cwd=root,
        env={**os.environ, "MBD_JIT": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert not [line for line in lines if line.startswith("WRONG")]
    ran = dict(line.split(": ", 1) for line in lines)
    assert set(ran) == set(ALL)
    assert all("GeneralizedAlpha" in methods and "RK4" in methods for methods in ran.values())
    assert "Lobatto" in ran["Rolling"] and "LieEM" in ran["Rolling"] and "LieEM" in ran["follower force"]
    assert all("GGLEM" in ran[name] and "LieEM" in ran[name] for name in ("Motor", "JointLimit"))
