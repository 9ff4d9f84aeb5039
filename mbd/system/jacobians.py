"""Generalised forces and Jacobians of a system for people: inverse dynamics, gravity, points of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..compiled.record import table_of
from ..errors import check_vector
from ..joints.tree import Carried
from . import instant
from .tables import Tables

if TYPE_CHECKING:
    from ..bodies import Body
    from .system import System

Array = np.ndarray

STEP = 1e-3  # of the fourth-order differences, in sizes of the model or rad


def bare_tables(system: System, gravity: Any = (0.0, 0.0, 0.0)) -> Tables:
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


def gravity_forces(system: System, q: Array) -> Array:
    """Generalised forces that balance gravity alone at rest."""
    s, w = bare_tables(system, system.tables.gravity), system.work
    zero = np.zeros(system.n_v)
    q, _ = system._move(q, zero, 0.0)
    instant.dynamics(s, w, q, zero, zero, np.zeros(system.n_l), w.x)
    return w.x[system.tables.xv].copy()


def joint_wrenches(
    system: System, q: Array, v: Array, vd: Array, lam: Array | None, t: float
) -> dict[str, tuple[Array, Array]]:
    """Force, and torque about the joint's point, of each joint that carries a body on its second body, world axes."""
    system.residual(q, v, vd, lam, t)
    tree = system.assembly.tree
    found: dict[str, tuple[Array, Array]] = {}
    for edge in tree.carried if tree is not None else ():
        if edge.joint is not None:
            found[edge.joint.name] = _wrench(system, edge)
    return found


def _wrench(system: System, edge: Carried) -> tuple[Array, Array]:
    i = system.node_index(edge.body)
    z, w = system.work.z[i], system.work.tree.wrench[i]
    joint: Any = edge.joint
    body = system.node_index(joint.body_b)
    zb = system.work.z[body]
    point = zb[:3] + joint.point_b @ zb[3:].reshape(3, 3)
    sign = -1.0 if edge.reversed else 1.0
    force = sign * w[3:]
    return force, sign * w[:3] + np.cross(z[:3] - point, force)


def jacobian(system: System, body: Body | str, point: Any, q: Array) -> Array:
    """(6, n_v): velocity of a body-fixed point and angular velocity, world axes, per unit of each velocity."""
    i = system.node_index(body)
    local = check_vector(point, body, "point")
    q = system._q(q)
    s, w = system.tables, system.work
    instant.frames(s, w, q)
    axes = w.z[i, 3:].reshape(3, 3).copy()  # rows are the body's axes
    out = np.zeros((6, system.n_v))
    unit = np.zeros(system.n_v)
    for k in range(system.n_v):
        unit[k] = 1.0
        instant.velocities(s, w, q, unit)
        unit[k] = 0.0
        rate = w.zd[i, 3:].reshape(3, 3)
        out[:3, k] = w.zd[i, :3] + local @ rate
        out[3:, k] = 0.5 * np.cross(axes, rate).sum(axis=0)
    return out


def jacobian_rate(system: System, body: Body | str, point: Any, q: Array, v: Array) -> Array:
    """Its time derivative for the velocities v, by differences of fourth order along the motion."""
    q, v = system._q(q), system._v(v)
    scale = np.where(system.tables.vclass == 0, system.length, 1.0)
    speed = float(np.abs(v / scale).max(initial=0.0))
    if speed == 0.0:
        return np.zeros((6, system.n_v))
    h = STEP / speed
    parts = [jacobian(system, body, point, system.update(q, c * h * v)) for c in (-2.0, -1.0, 1.0, 2.0)]
    return (parts[0] - 8.0 * parts[1] + 8.0 * parts[2] - parts[3]) / (12.0 * h)
