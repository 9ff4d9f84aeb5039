"""Models placed by the values of their joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import AssemblyError, ModelError, bad_value, check_number
from ..joints import Joint
from ..joints.tree import Carried, JointCoordinates
from ..model import Model
from ..rotation import as_matrix
from ..system import instant
from ..system.system import System
from ..system.tree_state import placed_node
from .states import placed_model

Array = np.ndarray

CLOSED = 1e-12  # remaining violation of constraints, relative to the size of the model or in rad
ITERATIONS, LONGEST = 100, 0.5  # of the search for closed loops; its largest step, in sizes of the model or rad
RCOND = 1e-9


def with_joint_values(model: Model, values: Mapping[Any, Any], rates: Mapping[Any, Any] | None) -> Model:
    """A copy of a model whose joints have these values and rates; see ``Model.with_joint_values``."""
    wanted = {_name(model, key): value for key, value in values.items()}
    speeds = {_name(model, key): value for key, value in (rates or {}).items()}
    names = tuple(dict.fromkeys([*wanted, *speeds]))
    placed = model._copy({})
    vars(placed)["_choice"] = JointCoordinates(first=names)  # whatever the model itself chooses
    tree = placed.coordinates
    edges = {edge.joint.name: edge for edge in tree.carried if edge.joint is not None}
    why = {joint.name: reason for joint, reason in tree.constraints}
    for name in names:
        if name not in edges:
            raise ModelError(f"{model}: joint '{name}' has no values that could be given: {why[name]}")
    if not tree.carried:
        return model._copy({})
    system = System(placed)
    q, v = system.initial_state()
    held = np.zeros(system.n_v, dtype=bool)
    held_rates = np.zeros(system.n_v, dtype=bool)
    for name, value in wanted.items():
        q_rows, v_rows = system.body_slices(edges[name].body)
        q[q_rows] = _coordinates(edges[name], value)
        held[v_rows] = True
    q = _closed(system, q, held, names)
    v = _carried_over(system, edges, q, v)
    for name, value in speeds.items():
        rows = system.body_slices(edges[name].body)[1]
        v[rows] = _rates(system, edges[name], value, q)
        held_rates[rows] = True
    v = _closed_rates(system, q, v, held_rates, names)
    return placed_model(system, q, v)._in_coordinates_of(model)


def _name(model: Model, key: Any) -> str:
    """Name of a joint; where a file has a link of the same name, readers call the joint '... joint'."""
    element = model[key.name if isinstance(key, Joint) else key]
    if not isinstance(element, Joint) and f"{key} joint" in model:
        element = model[f"{key} joint"]
    if not isinstance(element, Joint):
        raise ModelError(f"{model}: {element} is no joint; expected names of joints and their values")
    return element.name


def _numbers(edge: Carried, value: Any, argument: str) -> Array:
    """One number per elementary motion."""
    count = len(edge.motions)
    assert edge.joint is not None
    if count == 1 and np.ndim(value) == 0:
        return np.array([check_number(value, edge.joint, argument)])
    numbers = np.asarray(value, dtype=float)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        expected = "a number" if count == 1 else f"{count} numbers"
        raise bad_value(edge.joint, argument, value, f"{expected} ({', '.join(edge.motions)})")
    return numbers


def _coordinates(edge: Carried, value: Any) -> Array:
    """Coordinates of a joint from what people give: numbers, or the rotation of a ball."""
    if edge.node is None:
        return _numbers(edge, value, "value")
    rotation = as_matrix(value, edge.joint, "value")
    return placed_node(edge.node, rotation.T if edge.reversed else rotation).rotation_coordinates()


def _rates(system: System, edge: Carried, value: Any, q: Array) -> Array:
    """Velocities of a joint from what people give: numbers, or the angular velocity of a ball."""
    if edge.node is None:
        return _numbers(edge, value, "rate")
    spin = np.asarray(value, dtype=float)
    if spin.shape != (3,) or not np.isfinite(spin).all():
        raise bad_value(edge.joint, "rate", value, "the angular velocity of the second body relative to the first one")
    s, w = system.tables, system.work
    instant.frames(s, w, q)
    i = system.node_index(edge.body)
    axes = w.z[i, 3:].reshape(3, 3).T  # of the child
    other = w.z[system.node_index(edge.parent), 3:].reshape(3, 3).T
    assert edge.joint is not None
    frame = (other if edge.reversed else axes) @ edge.joint.frame_b
    world = (-1.0 if edge.reversed else 1.0) * frame @ spin
    columns = system.body_slices(edge.body)[1]
    return np.linalg.lstsq(w.tree.columns[columns, :3].T, world, rcond=RCOND)[0]


def _carried_over(system: System, edges: Mapping[str, Carried], q: Array, v: Array) -> Array:
    """Velocities of joints stay; those of conventional balls must not change the length of their parameters."""
    for edge in edges.values():
        if edge.node is not None and not edge.node.lie and edge.node.n_internal:
            rows, columns = system.body_slices(edge.body)
            e = q[rows]
            v[columns] -= (e @ v[columns]) / (e @ e) * e
    return v


def _scales(system: System) -> tuple[Array, Array]:
    """Sizes of constraints and of increments."""
    s = system.tables
    return np.where(s.lclass == 0, system.length, 1.0), np.where(s.vclass == 0, system.length, 1.0)


def _closed(system: System, q: Array, held: Array, names: tuple[str, ...]) -> Array:
    """Positions that close all loops, with some coordinates held: Gauss-Newton with steps of least size."""
    if not system.n_l:
        return q
    rows, columns = _scales(system)
    before = np.inf
    for _ in range(ITERATIONS):
        g = system.constraints(q) / rows
        error = float(np.abs(g).max(initial=0.0))
        if error <= CLOSED or (error < 1e3 * CLOSED and error >= 0.5 * before):
            return q
        before = error
        B = system.constraint_jacobian(q).toarray() / rows[:, None] * columns
        B[:, held] = 0.0
        step = -np.linalg.lstsq(B, g, rcond=RCOND)[0]
        step *= min(1.0, LONGEST / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        q = system.update(q, step * columns)
    raise AssemblyError(
        f"model '{system.model.name}': no position closes the loops with the given values of joints "
        f"{', '.join(repr(name) for name in names)} (they stay open by {before:.3g} of the size of the model); give "
        "values that can be reached, or fewer of them [MBD-E23]"
    )


def _closed_rates(system: System, q: Array, v: Array, held: Array, names: tuple[str, ...]) -> Array:
    """The nearest velocities that keep loops closed, with some of them held."""
    if not system.n_l:
        return v
    rows, columns = _scales(system)
    rate = system.constraint_velocity(q, v) / rows
    B = system.constraint_jacobian(q).toarray() / rows[:, None] * columns
    B[:, held] = 0.0
    v = v - np.linalg.lstsq(B, rate, rcond=RCOND)[0] * columns
    rest = float(np.abs(system.constraint_velocity(q, v) / rows).max(initial=0.0))
    if rest > 1e-9 * max(float(np.abs(rate).max(initial=0.0)), 1e-300) and rest > 1e-9:
        raise AssemblyError(
            f"model '{system.model.name}': no velocities keep the loops closed with the given rates of joints "
            f"{', '.join(repr(name) for name in names)}; give rates of as many joints as the mechanism has "
            "freedoms [MBD-E23]"
        )
    return v
