"""Generalised forces and Jacobians of a system for people: inverse dynamics, gravity, points of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..compiled.record import table_of
from ..errors import check_vector
from ..joints.tree import Carried
from ..nodes.forms import lie_rotations
from ..rotation import hat
from . import instant
from .tables import Tables

if TYPE_CHECKING:
    from ..bodies import Body
    from .evaluation import Evaluation

Array = np.ndarray


def bare_tables(system: Evaluation, gravity: Any = (0.0, 0.0, 0.0)) -> Tables:
    """The tables without force elements, and with another gravity; constraints stay."""
    s, tree = system.tables, cast(Any, system.tables.tree)
    changes: dict[str, Any] = {"gravity": np.array(gravity, dtype=float), **_without_forces(s)}
    if system.assembly.inner is not None:
        inner = system.assembly.inner.changed(**_without_forces(system.assembly.inner))
        changes["tree"] = tree.changed(inner=table_of([inner]), loads=tree.loads[:0].copy())
        bare = s.changed(**changes)
        bare.__dict__["kept"] = inner  # whose address the tree has
        return bare
    return s.changed(**changes)


def _without_forces(s: Tables) -> dict[str, Any]:
    constraining = s.frame_elements[s.frame_elements["rows"] > 0]
    return {"forces": s.forces[:0], "frame_elements": constraining}


def gravity_forces(system: Evaluation, q: Array) -> Array:
    """Generalised forces that balance gravity alone at rest."""
    s, w = bare_tables(system, system.tables.gravity), system.work
    zero = np.zeros(system.n_v)
    q, _ = system._move(q, zero, 0.0)
    instant.dynamics(s, w, q, zero, zero, np.zeros(system.n_l), w.x)
    return w.x[system.tables.xv].copy()


def joint_wrenches(
    system: Evaluation, q: Array, v: Array, vd: Array, lam: Array | None, t: float
) -> dict[str, tuple[Array, Array]]:
    """Force, and torque about the joint's point, of each joint that carries a body on its second body, world axes."""
    system.residual(q, v, vd, lam, t)
    tree = system.assembly.tree
    found: dict[str, tuple[Array, Array]] = {}
    for edge in tree.carried if tree is not None else ():
        if edge.joint is not None:
            found[edge.joint.name] = _wrench(system, edge)
    return found


def _wrench(system: Evaluation, edge: Carried) -> tuple[Array, Array]:
    i = system.node_index(edge.body)
    z, w = system.work.z[i], system.work.tree.wrench[i]
    joint: Any = edge.joint
    body = system.node_index(joint.body_b)
    zb = system.work.z[body]
    point = zb[:3] + joint.point_b @ zb[3:].reshape(3, 3)
    sign = -1.0 if edge.reversed else 1.0
    force = sign * w[3:]
    return force, sign * w[:3] + np.cross(z[:3] - point, force)


def _frame_columns(system: Evaluation, i: int, q: Array) -> Array:
    """(n_v, 12): velocity of the frame of node i per unit of each velocity; moves the frames to q."""
    s, w = system.tables, system.work
    instant.frames(s, w, q)
    out, unit = np.zeros((system.n_v, 12)), np.zeros(system.n_v)
    for k in range(system.n_v):
        unit[k] = 1.0
        instant.velocities(s, w, q, unit)
        unit[k] = 0.0
        out[k] = w.zd[i]
    return out


def _crossed(axes: Array, rates: Array) -> Array:
    """(n, 3): half the sum of axes x rates over the three axes of a frame; rates (n, 9)."""
    return 0.5 * np.cross(axes, rates.reshape(-1, 3, 3)).sum(axis=1)


def jacobian(system: Evaluation, body: Body | str, point: Any, q: Array) -> Array:
    """(6, n_v): velocity of a body-fixed point and angular velocity, world axes, per unit of each velocity."""
    i = system.node_index(body)
    local = check_vector(point, body, "point")
    columns = _frame_columns(system, i, system._q(q))
    axes = system.work.z[i, 3:].reshape(3, 3)  # rows are the body's axes
    velocity = columns[:, :3] + np.einsum("i,nij->nj", local, columns[:, 3:].reshape(-1, 3, 3))
    return np.concatenate((velocity, _crossed(axes, columns[:, 3:])), axis=1).T.copy()


def jacobian_rate(system: Evaluation, body: Body | str, point: Any, q: Array, v: Array) -> Array:
    """Its time derivative for the velocities v.

    Accelerations of a frame at zero accelerations of the coordinates are a quadratic form of the velocities, whose
    polar form B(v, e_k) is the rate of column k where velocities are rates of coordinates, because second derivatives
    of frames are symmetric. Rotations of Lie nodes differ: with R_dot = R hat(omega), the column R hat(e_k) changes
    by R hat(omega) hat(e_k), of which B is the symmetric part and half the column of omega x e_k the other one.
    """
    i = system.node_index(body)
    local = check_vector(point, body, "point")
    q, v = system._q(q), system._v(v)
    s, w = system.tables, system.work
    columns = _frame_columns(system, i, q)
    axes = w.z[i, 3:].reshape(3, 3).copy()
    size = max(1.0, float(np.abs(v).max(initial=0.0)))  # of a unit beside v, for the last digits
    rates = np.zeros_like(columns)
    for k in range(system.n_v):
        for sign in (1.0, -1.0):
            moved = v.copy()
            moved[k] += sign * size
            instant.velocities(s, w, q, moved)
            instant.biases(s, w, q, moved)
            rates[k] += sign / (4.0 * size) * w.zb[i]
    for first in lie_rotations(s.nodes):
        own = slice(first, first + 3)
        rates[own] += 0.5 * hat(v[own]).T @ columns[own]  # row k: the columns times v x e_k
    turning = np.einsum("n,nj->j", v, columns)[3:].reshape(3, 3)  # rates of the axes
    velocity = rates[:, :3] + np.einsum("i,nij->nj", local, rates[:, 3:].reshape(-1, 3, 3))
    angular = _crossed(turning, columns[:, 3:]) + _crossed(axes, rates[:, 3:])
    return np.concatenate((velocity, angular), axis=1).T.copy()
