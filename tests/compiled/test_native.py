"""Machine code: kept on disk, loaded without the compiler, called with numbers, arrays and records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mbd.compiled.kernel import JIT, kernel
from mbd.compiled.kinds import matrix, vector
from mbd.compiled.record import Record

pytestmark = pytest.mark.skipif(not JIT, reason="nothing is compiled")
ROOT = Path(__file__).parents[2]

SIMULATION = """
import sys
import mbd
model = mbd.Model("top", gravity=(0, 0, -9.81))
node = mbd.nodes.RotationVector(pinned=True, angular_velocity=(0, 20, 0))
model.add(mbd.RigidBody("top", mass=1.0, inertia=(0.2, 0.1, 0.2), com=(0, 1, 0), node=node))
solution = mbd.simulate(model, t_end=0.01, step=0.001, integrator=mbd.integrators.RK4())
print("numba" in sys.modules, "scipy" in sys.modules, solution.q[-1].tolist())
"""

ROTATION = """
import sys
import numpy as np
from mbd.math.so3 import tangent_operator
t = np.zeros(9)
tangent_operator(0.1, 0.2, 0.3, t)
print("numba" in sys.modules, t.sum())
"""


class Pair(Record):
    first = vector
    second = matrix


@kernel
def everything(x, table, row, pair, flag, count, c):
    for i in range(count):
        x[i] += table[i, 0] * row.mass + pair.second[0, i]
    return x[0], count + 1, not flag, (c * 1j, pair.first.shape[0])


@kernel
def nothing(x):
    x[0] = 1.0


def arguments():
    record = np.zeros(2, dtype=[("kind", "i8"), ("mass", "f8")]).view(np.recarray)
    record.mass[:] = 2.0, 3.0
    pair = Pair(first=np.zeros(4), second=np.arange(6.0).reshape(2, 3))
    return np.zeros(3), np.arange(12.0).reshape(3, 4)[:, 1::2], record[1], pair, True, 2, 2.0 - 1.0j


def test_arguments_and_results_of_every_kind():
    args = arguments()
    assert everything(*args) == (3.0, 3, False, (1.0 + 2.0j, 4))
    np.testing.assert_array_equal(args[0], [3.0, 16.0, 0.0])  # 3 (1, 5) + (0, 1), from a table with strides
    x = np.zeros(1)
    assert nothing(x) is None and x[0] == 1.0


@pytest.mark.own_compiler
def test_scalars_of_numpy_are_numbers():
    args = list(arguments())
    args[4:] = np.bool_(True), np.int64(2), np.complex128(2.0 - 1.0j)
    assert everything(*args) == (3.0, 3, False, (1.0 + 2.0j, 4))
    assert len(everything.codes) == 1


@pytest.mark.own_compiler
def test_what_compiled_code_does_not_take():
    with pytest.raises(TypeError, match="not str"):
        nothing("x")
    with pytest.raises(TypeError, match="nothing takes 1 arguments, 2 were given"):
        nothing(np.zeros(1), 2.0)
    fixed = np.zeros(1)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only; give it a copy"):
        nothing(fixed)
    assert fixed[0] == 0.0


def run(script, **environment):
    """(words printed, what was said) of a new process."""
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT,
        env={**os.environ, **environment},
    )  # fmt: skip
    return found.stdout.split(maxsplit=2), found.stderr


@pytest.mark.own_compiler
def test_second_process_needs_no_compiler():
    """It loads neither numba nor scipy, says nothing, and moves in the same way."""
    (_, _, motion), _ = run(SIMULATION)
    assert run(SIMULATION) == (["False", "False", motion], "")


@pytest.mark.own_compiler
def test_warmup_compiles_everything():
    """After ``python -m mbd warmup`` no element makes any integrator compile something."""
    command = [sys.executable, "-m", "mbd", "warmup"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert "GeneralizedAlpha ... " in said and "failed" not in said
    command = [sys.executable, "-m", "tests.compiled.all_code"]
    report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
    assert report["compiled"] == []
    assert all(report["took"].values())  # no integrator was left out
    assert set(report["took"]["GeneralizedAlpha"]) >= set(report["elements"])


@pytest.mark.own_compiler
def test_code_is_kept(tmp_path):
    cache = {"NUMBA_CACHE_DIR": str(tmp_path)}
    (compiled, value), said = run(ROTATION, **cache)
    assert compiled == "True" and said.count("mbd: compiling") == 1
    assert run(ROTATION, **cache) == (["False", value], "")


@pytest.mark.own_compiler
def test_code_that_cannot_be_kept(tmp_path):
    """A cache that is a file: the run goes on, and says so."""
    (tmp_path / "file").touch()
    (compiled, _), said = run(ROTATION, NUMBA_CACHE_DIR=str(tmp_path / "file"))
    assert compiled == "True" and said.count("is not writable (File exists), compiled code will not be kept") == 1
