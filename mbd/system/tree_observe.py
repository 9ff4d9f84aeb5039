"""Looking at a finished run in joint coordinates: frames of bodies along the tree, and what their joints carry."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bodies.rotor import Rotor
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, matrix
from ..joints.rotor_hinge import RotorHinge
from ..nodes.tree.motion import add_columns, frame_accelerations, frame_rates, move_child, place_carried
from ..nodes.tree.spatial import add_six, shift_motion
from .instant import dynamics, frames, velocities
from .tables import RECORDED, RECORDS
from .tree_assembly import path_of
from .turned import Turned, rotor_accelerations, rotor_frames, rotor_rates

Array = np.ndarray

_wrench: Any = matrix.at_least("components", 6).per(RECORDS)


@kernel
def _move_carried(s, w, i, q, v, vd, level):
    """Frame of a carried body from its parent's, and as many derivatives as wanted."""
    y, n, c = w.tree, s.nodes[i], s.tree.carried[i]
    p = c.parent
    zp, z = w.z[p], w.z[i]
    place_carried(n, c, q, zp, z, w.spin[i], y.columns, y.balls[i], y.scratch)
    if level > 0:
        move_child(
            n, c, q, v, w.spin[i], zp, z, y.columns, y.balls[i], y.twist[p], y.twist[i], y.bias[i], y.scratch
        )  # fmt: skip
    if level > 1:
        shift_motion(y.acceleration[p], zp, z, y.acceleration[i])
        add_six(1.0, y.bias[i], y.acceleration[i])
        add_columns(n, y.columns, vd, y.acceleration[i])


@kernel(kinds=RECORDED)
def observe_carried(s, w, path, q, v, vd, z, zd, zdd):
    """Frames of the last node of a path at all records, their velocities and accelerations unless these are empty."""
    y = w.tree
    level = 2 if zdd.shape[0] > 0 else (1 if zd.shape[0] > 0 else 0)
    for k in range(q.shape[0]):
        for m in range(path.shape[0]):
            _move_carried(s, w, path[m], q[k], v[k], vd[k] if level > 1 else v[k], level)
        last = path[path.shape[0] - 1]
        for m in range(12):
            z[k, m] = w.z[last, m]
        if level > 0:
            frame_rates(z[k], y.twist[last], zd[k])
        if level > 1:
            frame_accelerations(z[k], y.twist[last], y.acceleration[last], zdd[k])


@kernel(kinds={**RECORDED, "level": integer, "out": matrix.per(RECORDS)})
def observe_tree(s, w, q, v, vd, level, out):
    """Frames of all nodes that joints carry, at all records, one node after the other: so many derivatives each."""
    y, width = w.tree, 12 * (level + 1)
    for k in range(q.shape[0]):
        for m in range(s.tree.order.shape[0]):
            i = s.tree.order[m]
            _move_carried(s, w, i, q[k], v[k], vd[k] if level > 1 else v[k], level)
            z = out[k, width * i : width * (i + 1)]
            for j in range(12):
                z[j] = w.z[i, j]
            if level > 0:
                frame_rates(z, y.twist[i], z[12:])
            if level > 1:
                frame_accelerations(z, y.twist[i], y.acceleration[i], z[24:])


@kernel
def _wrenches(s, w, k, times, q, v, vd, lam, values, turns):
    """What all joints carry at one record."""
    w.time[0] = times[k]
    for j in range(values.shape[1]):
        w.values[j] = values[k, j]
    for j in range(turns.shape[1]):
        w.turns[j] = turns[k, j]
    frames(s, w, q[k])
    velocities(s, w, q[k], v[k])
    dynamics(s, w, q[k], v[k], vd[k], lam[k], w.x)


@kernel(kinds={**RECORDED, "out": _wrench})
def observe_wrench(s, w, i, times, q, v, vd, lam, values, turns, columns, out):
    """out[k] = wrench that the joint of node i exerts on its body, at the body's reference point, and its columns."""
    n = s.nodes[i]
    for k in range(q.shape[0]):
        _wrenches(s, w, k, times, q, v, vd, lam, values, turns)
        for m in range(6):
            out[k, m] = w.tree.wrench[i, m]
        for j in range(n.nv):
            for m in range(6):
                columns[k, 6 * j + m] = w.tree.columns[n.v0 + j, m]


@kernel(kinds={**RECORDED, "out": matrix.per(RECORDS)})
def observe_wrenches(s, w, times, q, v, vd, lam, values, turns, columns, out):
    """``observe_wrench`` of all nodes, with the columns of all velocities: one after the other in a row."""
    for k in range(q.shape[0]):
        _wrenches(s, w, k, times, q, v, vd, lam, values, turns)
        for i in range(s.nodes.shape[0]):
            for m in range(6):
                out[k, 6 * i + m] = w.tree.wrench[i, m]
        for j in range(s.xv.shape[0]):
            for m in range(6):
                columns[k, 6 * j + m] = w.tree.columns[j, m]


# --- for views --------------------------------------------------------------------------------------------------------

AT_ONCE = 8_000_000  # numbers: what all bodies are looked at together for, when one of them is


def carried_motion(solution: Any, index: int, level: int) -> tuple[Array, Array, Array]:
    """Frames of a carried body, and as many derivatives as wanted; the others are empty.

    Those of all bodies are found at once, as long as they fit into some memory: a chain is walked along once then, not
    once for each of its bodies.
    """
    s, n = solution, len(solution)
    tables, width = s.system.tables, 12 * (level + 1)
    body = s.system.elements[0][index - 1]
    if isinstance(body, Rotor) and s.system.carrier(body.hinge) is not None:
        return _rotor_motion(s, _turned(s, body.hinge), level)
    vd = s.vd if level > 1 else np.zeros((0, s.system.n_v))
    if n * width * len(tables.nodes) <= AT_ONCE:
        key = f"frames of all bodies {level}"
        if key not in s._shared:
            s._shared[key] = np.zeros((n, width * len(tables.nodes)))
            observe_tree(tables, s._work, s.q, s.v, vd, level, s._shared[key])
        own = s._shared[key][:, width * index : width * (index + 1)]
        parts = [np.ascontiguousarray(own[:, 12 * k : 12 * (k + 1)]) for k in range(level + 1)]
        parts += [np.zeros((0, 12))] * (2 - level)
        return parts[0], parts[1], parts[2]
    z, zd, zdd = np.zeros((n, 12)), np.zeros((n * (level > 0), 12)), np.zeros((n * (level > 1), 12))
    path = np.array(path_of(index, tables.tree.carried.parent)[::-1], dtype=np.int64)
    observe_carried(tables, s._work, path, s.q, s.v, vd, z, zd, zdd)
    return z, zd, zdd


def _turned(solution: Any, hinge: RotorHinge) -> Turned:
    """Where the coordinate is that turns a rotor, of a joint that is one."""
    return next(one for one in solution.system.rotors if one.joint == hinge.name)


def _rotor_motion(solution: Any, rotor: Turned, level: int) -> tuple[Array, Array, Array]:
    """Frames of a rotor, which the tree leaves at rest, with as many derivatives as ``level`` says."""
    s = solution
    z, rate = rotor_frames(s.q[:, rotor.q]), s.v[:, rotor.v]
    zd = rotor_rates(z, rate) if level > 0 else z[:0]
    return z, zd, rotor_accelerations(z, rate, s.vd[:, rotor.v]) if level > 1 else z[:0]


def rotor_torque(solution: Any, hinge: RotorHinge) -> Array:
    """Torque (n, 3) that turns a rotor whose inertia is on a coordinate: inertia times the acceleration there."""
    rotor = _turned(solution, hinge)
    node = solution.system.tables.nodes[rotor.node]
    return np.outer(node.j11 * solution.vd[:, rotor.v], (0.0, 0.0, 1.0))


def carried_wrench(solution: Any, index: int) -> tuple[Array, Array]:
    """The wrench that the joint of a carried body exerts on it (n, 6), and the joint's columns (n, 6 n_v)."""
    s, n = solution, len(solution)
    tables = s.system.tables
    node, n_v = tables.nodes[index], s.system.n_v
    first, count = int(node.v0), int(node.nv)
    given = s.t, s.q, s.v, s.vd, s.lam, s._values, s._turns

    def at(records: slice) -> tuple[Array, ...]:
        return tuple(x[records] for x in given)

    if 6 * n * (len(tables.nodes) + n_v) <= AT_ONCE:
        if "wrenches" not in s._shared:
            wrench, columns = np.zeros((n, 6 * len(tables.nodes))), np.zeros((n, 6 * max(1, n_v)))
            s._evaluate(lambda k: observe_wrenches(tables, s._work, *at(k), columns[k], wrench[k]))
            s.system.raise_callback_errors()
            s._shared |= {"wrenches": wrench, "columns": columns}
        wrench, columns = s._shared["wrenches"], s._shared["columns"]
        return wrench[:, 6 * index : 6 * index + 6].copy(), columns[:, 6 * first : 6 * (first + count)].copy()
    wrench, columns = np.zeros((n, 6)), np.zeros((n, 6 * max(1, count)))
    s._evaluate(lambda k: observe_wrench(tables, s._work, index, *at(k), columns[k], wrench[k]))
    s.system.raise_callback_errors()
    return wrench, columns
