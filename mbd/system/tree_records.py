"""States of a model in joint coordinates, and of its bodies in coordinates of their own.

Both are read through poses: the rotation of every body as axes and its angular velocity, which are the coordinates and
velocities of Lie nodes with directors. Bodies in absolute coordinates, or at the root of a tree, are converted as any
other; what a joint carries is read off the poses of its two bodies, at all records at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..joints.relative import RelativeMotion, motion_values
from ..joints.rotor_hinge import RotorHinge
from ..joints.tree import Carried
from ..nodes.arrays import axial
from ..nodes.forms import FORM_GENERALIZED, FORM_LIE, FORM_POINT
from ..nodes.kinds import DIRECTORS
from ..nodes.pose import convert
from .system import System

Array = np.ndarray
AXES = 12  # position and axes of a pose,
RATES = 6  # and its velocities
TURN = 2.0 * np.pi


def has_rotors(system: System) -> bool:
    """Whether inertia of a body is on the coordinate of a joint: its own rotation is not known then."""
    tree = system.assembly.tree
    return tree is not None and any(isinstance(edge.joint, RotorHinge) for edge in tree.carried)


class JointRecords:
    """Between a system in joint coordinates and its twin in those of the bodies."""

    def __init__(self, system: System, twin: System) -> None:
        self.system, self.twin = system, twin
        tree = system.assembly.tree
        assert tree is not None
        self.edges = [edge for edge in tree.carried if edge.joint is not None]
        self.poses = _pose_nodes(twin)
        self.own = system.tables.nodes.copy()  # without what joints carry
        for edge in self.edges:
            n = self.own[self._node(edge.body)]
            n.form, n.kind, n.nq, n.nv = FORM_LIE, DIRECTORS, 0, 0
        self.n_q = int(self.poses["q0"].max() + AXES)
        self.n_v = int(self.poses["v0"].max() + AXES)
        self.g, self.scratch = np.zeros(9), np.zeros((8, 16))

    def _node(self, body: Any) -> int:
        return int(self.system.assembly.node_of[id(body)])

    def inward(self, q: Array, v: Array) -> tuple[Array, Array]:
        """The state of the twin."""
        system, twin = self.system, self.twin
        z, zd = system.frames(q), system.frame_velocities(q, v)
        spins = axial(z, zd)
        pose_q, pose_v = np.zeros((1, self.n_q)), np.zeros((1, self.n_v))
        for i, n in enumerate(self.poses[1:], 1):
            rows, rates = slice(n.q0, n.q0 + n.nq), slice(n.v0, n.v0 + n.nv)
            if n.form == FORM_GENERALIZED:
                m = system.tables.nodes[i]
                pose_q[0, rows], pose_v[0, rates] = q[m.q0 : m.q0 + m.nq], v[m.v0 : m.v0 + m.nv]
            else:
                pose_q[0, rows] = z[i, :3] if n.form == FORM_POINT else z[i, 3 - n.nx :]
                pose_v[0, rates] = np.concatenate((zd[i, :3], spins[i]))[3 - n.nx :][: n.nv]
        out = np.zeros((1, twin.n_q)), np.zeros((1, twin.n_v))
        near = np.zeros(twin.n_q)
        convert(self.poses, twin.tables.nodes, pose_q, pose_v, near, *out, self.g, self.scratch)
        return out[0][0], out[1][0]

    def outward(self, q: Array, v: Array, near: Array) -> tuple[Array, Array, tuple[int, int]]:
        """Rows of the system; the first row and node whose Euler angles do not exist."""
        system, count = self.system, len(q)
        poses = np.zeros((count, self.n_q)), np.zeros((count, self.n_v))
        rows = (np.ascontiguousarray(x) for x in (q, v))
        convert(self.twin.tables.nodes, self.poses, *rows, np.zeros(self.n_q), *poses, self.g, self.scratch)
        out = np.zeros((count, system.n_q)), np.zeros((count, system.n_v))
        found = [convert(self.poses, self.own, *poses, near, *out, self.g, self.scratch)]
        frames = {0: self._ground(count)}
        for edge in self.edges:
            first, second = (
                frames.setdefault(i, self._frames(i, *poses)) if i not in frames else frames[i]
                for i in (self._node(edge.joint.body_a), self._node(edge.joint.body_b))  # type: ignore[union-attr]
            )
            found.append(self._read_joint(edge, RelativeMotion(edge.joint, first, second), near, *out))  # type: ignore[arg-type]
        return *out, min((place for place in found if place[0] >= 0), default=(-1, 0))

    def _ground(self, count: int) -> tuple[Array, Array]:
        z = np.zeros((count, AXES))
        z[:, [3, 7, 11]] = 1.0
        return z, np.zeros((count, AXES))

    def _frames(self, i: int, q: Array, v: Array) -> tuple[Array, Array]:
        """Frames of a body at all rows, and their velocities."""
        n = self.poses[i]
        z, zd = np.zeros((len(q), AXES)), np.zeros((len(q), AXES))
        z[:] = (n.r1, n.r2, n.r3, *np.zeros(9))
        z[:, 3 - n.nx :] = q[:, n.q0 : n.q0 + n.nq]
        zd[:, : n.nx] = v[:, n.v0 : n.v0 + n.nx]
        spin = v[:, n.v0 + n.nx : n.v0 + n.nv]
        axes = z[:, 3:].reshape(-1, 3, 3)
        world = np.einsum("nik,ni->nk", axes, spin)
        zd[:, 3:] = np.cross(world[:, None, :], axes).reshape(-1, 9)
        return z, zd

    def _read_joint(
        self, edge: Carried, motion: RelativeMotion, near: Array, out_q: Array, out_v: Array
    ) -> tuple[int, int]:
        """Coordinates of a joint and their rates, at all rows."""
        i = self._node(edge.body)
        n = self.system.tables.nodes[i]
        if edge.node is not None:
            return self._read_ball(edge, i, motion, near, out_q, out_v)
        motions = edge.motions
        for k, values in enumerate(motion_values(motions, *(x[0] for x in (motion.e, motion.d)))):
            if motions[k] in ("turn", "screw"):
                values = np.unwrap(np.concatenate(([near[n.q0 + k]], values)))[1:]
            out_q[:, n.q0 + k] = values
        out_v[:, n.v0 : n.v0 + n.nv] = motion.rates(motions)
        return -1, 0

    def _read_ball(
        self, edge: Carried, i: int, motion: RelativeMotion, near: Array, out_q: Array, out_v: Array
    ) -> tuple[int, int]:
        """Coordinates of a ball: the rotation of the body that it carries as seen from the other one."""
        rotation, spin = motion.e[0], motion.spin()
        if edge.reversed:
            axes, spin = rotation, -spin  # the columns of E^T are the rows of E
        else:
            axes = np.swapaxes(rotation, -1, -2)
            spin = np.einsum("nij,nj->ni", axes, spin)
        pose = self.poses[[0, i]].copy()
        pose["q0"], pose["v0"], pose["nx"], pose["nq"], pose["nv"] = 0, 0, 0, 9, 3
        target = self.system.tables.nodes[[0, i]].copy()
        source = np.ascontiguousarray(axes.reshape(-1, 9)), np.ascontiguousarray(spin)
        row, _ = convert(pose, target, *source, near, out_q, out_v, self.g, self.scratch)
        return (row, i) if row >= 0 else (-1, 0)


def _pose_nodes(twin: System) -> Any:
    """Records of nodes for poses: Lie nodes with directors, one after the other."""
    nodes = twin.tables.nodes.copy()
    q0, v0 = 0, 0
    for n in nodes[1:]:
        if n.form not in (FORM_POINT, FORM_GENERALIZED):
            n.form, n.kind, n.nq, n.nv = FORM_LIE, DIRECTORS, 9 + n.nx, 3 + n.nx
        n.q0, n.v0 = q0, v0
        q0, v0 = q0 + n.nq, v0 + n.nv
    return nodes
