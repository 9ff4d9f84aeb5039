"""Kernels that Python calls: they know how long arrays must be, or their arrays are made where they are called."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.compiled.entry import Entry
from mbd.compiled.kernel import JIT, Kernel
from mbd.system import accelerations, instant

PACKAGE = Path(mbd.__file__).parent
ELSEWHERE = ("view", "testing", "benchmarks")  # look at solutions, check kernels, build models
needs_compiler = pytest.mark.skipif(not JIT, reason="plain Python knows how long its arrays are")

OWN_ARRAYS = {
    "joint_scale": "places of a layout and buffers of BlockSolver",
    "factor_dense": "buffers of BlockSolver",
    "factor_tree": "buffers of BlockSolver",
    "solve_dense": "buffers of BlockSolver, which compares the right-hand side",
    "solve_tree": "buffers of BlockSolver, which compares the right-hand side",
    "multiply": "buffers of BlockSolver, which compares the vector",
    "apply_tangent_inverse": "System.tangent_inverse compares its vectors",
    "convert": "rows of two systems of the same bodies",
    "convert_to_joints": "rows of two systems of the same bodies",
    "convert_some_to_joints": "rows of two systems of the same bodies",
    "fixed_frame": "made beside the call",
    "spin_determinant": "made beside the call",
    "spin_matrix": "the state of a run",
    "immovable_joint": "the state of a run",
    "states_between": "made beside the call",
    "increments_between": "states of two systems of the same bodies",
    "_quaternions": "made beside the call",
    "alphas": "numbers alone",
    "commutator": "the state of a run",
    "g_times": "numbers alone",
    "e_times": "numbers alone",
    "lever_times": "numbers alone",
}
"""Kernels without kinds, and whose arrays they get."""


def _used(tree: ast.AST, module: Any) -> Iterator[str]:
    """Names of kernels without kinds that are used outside of compiled functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef) and isinstance(vars(module).get(node.name), (Kernel, Entry)):
            continue
        value = None
        if isinstance(node, ast.Name):
            value = vars(module).get(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            value = getattr(vars(module).get(node.value.id), node.attr, None)
        if isinstance(value, Kernel) and not value.kinds:
            yield value.__name__
        yield from _used(node, module)


@needs_compiler
def test_kernels_that_python_uses():
    found = set()
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] not in (*ELSEWHERE, "compiled") and parts[-1] not in ("__main__", "__init__"):
            found |= set(_used(ast.parse(file.read_text()), importlib.import_module(".".join(("mbd", *parts)))))
    assert found == OWN_ARRAYS.keys()


def _swing() -> mbd.System:
    model = mbd.Model("swing", gravity=(0, 0, -9.81))
    body = model.add(mbd.RigidBody("bar", 2.0, (0.1, 0.2, 0.3), mbd.nodes.Quaternion(position=(1, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    return mbd.assemble(model)


@needs_compiler
def test_kernels_refuse_short_vectors():
    system = _swing()
    q, v = system.initial_state()
    s, w, lam = system.tables, system.work, np.zeros(system.n_l)
    with pytest.raises(ValueError, match=f"advance: q has 3 coordinates; expected {system.n_q}"):
        instant.advance(s, w, q[:3].copy(), v, q)
    with pytest.raises(ValueError, match=f"advance: out has {system.n_q - 1} coordinates; expected {system.n_q}"):
        instant.advance(s, w, q, v, np.zeros(system.n_q - 1))
    with pytest.raises(ValueError, match="constraint_rates: x has 2 unknowns"):
        instant.constraint_rates(s, w, q, v, np.zeros(2))
    with pytest.raises(ValueError, match=f"accelerations: lam has 0 multipliers; expected {system.n_l}"):
        accelerations.accelerations(s, w, q, v, np.zeros(9), np.zeros(system.n_v), lam[:0].copy())
    with pytest.raises(TypeError, match="remember_angles takes 4 arguments, 3 were given"):
        instant.remember_angles(s, w, q)
    with pytest.raises(TypeError, match="advance: s is .*; expected a record Tables"):
        instant.advance(w, w, q, v, q)


@needs_compiler
@pytest.mark.parametrize("change", ["too narrow", "too few", "of another kind"])
def test_records_that_were_changed_are_not_read_behind_their_end(change):
    """A solution has plain arrays: whoever replaces them by others gets an error and no neighbouring memory."""
    solution = mbd.simulate(_swing().model, 0.02, step=0.01)
    n, width = solution.q.shape
    wrong, text = {
        "too narrow": (np.zeros((n, width - 1)), f"q has {width - 1} coordinates; expected {width}"),
        "too few": (np.zeros((n - 1, width)), f"q has {n - 1} records, and times has {n}; expected as many"),
        "of another kind": (np.zeros((n, width), dtype=int), r"q is int64\[.*; expected a contiguous, writable array"),
    }[change]
    solution.q = wrong
    with pytest.raises(ValueError, match=f"observe_totals: {text}"):
        _ = solution.energy
    with pytest.raises(ValueError, match="observe_frames: "):
        _ = solution["bar"].velocity
