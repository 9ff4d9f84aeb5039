"""States of a model in joint coordinates, and of its bodies in coordinates of their own.

A start is read through poses: the rotation of every body as axes and its angular velocity, which are the coordinates
and velocities of Lie nodes with directors. Of records, bodies in absolute coordinates, or at the root of a tree, are
converted as any other, and what a joint carries is read off the poses of its two bodies (``nodes.tree.reading``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..nodes.arrays import axial
from ..nodes.conversion import SPINS, convert
from ..nodes.forms import FORM_GENERALIZED, FORM_LIE, FORM_POINT, of_form
from ..nodes.frames import fixed_frame
from ..nodes.kinds import DIRECTORS, EULER_ANGLES
from ..nodes.tree.reading import JOINT_TURNS, convert_some_to_joints, convert_to_joints
from .system import System
from .turned import carrying_screws

Array = np.ndarray
AXES = 12  # position and axes of a pose,
RATES = 6  # and its velocities


class JointRecords:
    """Between a system in joint coordinates and its twin in those of the bodies."""

    def __init__(self, system: System, twin: System) -> None:
        self.system, self.twin = system, twin
        tree = system.assembly.tree
        assert tree is not None
        self.rotors, self.screws = system.rotors, carrying_screws(system)
        self.poses = _pose_nodes(twin)
        self.joined = np.zeros(len(self.poses), dtype=np.int64)  # whether a joint carries the body of a node
        self.joined[[system.assembly.node_of[id(edge.body)] for edge in tree.carried if edge.joint is not None]] = 1
        self.turning = np.zeros_like(self.joined)
        self._find_turns(tree.carried)
        self.z, self.twist = np.zeros((len(self.poses), AXES)), np.zeros((len(self.poses), RATES))
        for n, z in zip(self.poses, self.z, strict=True):
            fixed_frame(n, z)
        self.n_q = int(self.poses["q0"].max() + AXES)
        self.n_v = int(self.poses["v0"].max() + AXES)
        self.sides = np.zeros((system.n_q, 4))
        self.scratch = np.zeros((len(self.poses), SPINS)), np.zeros(9), np.zeros((8, 16))

    def _find_turns(self, carried: Any) -> None:
        """Joints with angles, of which whole turns between two records count."""
        nodes, node_of = self.system.tables.nodes, self.system.assembly.node_of
        for edge in carried:
            if edge.joint is not None and {"turn", "screw"} & set(edge.motions):
                i = node_of[id(edge.body)]
                parent = self.system.tables.tree.carried[i].parent
                self.turning[i], self.turning[parent] = JOINT_TURNS, self.turning[parent] or 1
        self.turning[0] = 0  # the ground
        self.winds = bool((self.turning == JOINT_TURNS).any())
        # turns of Euler angles go on from step to step too; signs of quaternions, as elsewhere, from record to record
        alike = (nodes["form"] == self.twin.tables.nodes["form"]) & (nodes["kind"] == self.twin.tables.nodes["kind"])
        rigid = of_form(nodes, "lie", "spin") & ((self.joined > 0) | ~alike)
        self.remembers = bool((rigid & (nodes["kind"] == EULER_ANGLES)).any())

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
        convert(self.poses, twin.tables.nodes, pose_q, pose_v, near, *out, *self.scratch)
        return out[0][0], out[1][0]

    def outward(self, q: Array, v: Array, near: Array, out_q: Array, out_v: Array) -> tuple[int, int]:
        """Rows of the system; returns the first row and node whose Euler angles do not exist, or -1, 0."""
        s, twin = self.system.tables, self.twin.tables.nodes
        scratch = (self.z, self.twist, *self.scratch)
        return convert_to_joints(twin, s.nodes, s.tree.carried, self.joined, q, v, near, out_q, out_v, *scratch)  # type: ignore[no-any-return]

    def outward_some(self, first: int, every: int, q: Array, v: Array, near: Array, out_q: Array, out_v: Array) -> None:
        """Convert the row ``first`` and every so-manieth after it; ``near`` follows all rows, of successive states."""
        s, twin = self.system.tables, self.twin.tables.nodes
        tree = (s.nodes, s.tree.carried, self.joined, self.turning)
        scratch = (self.z, self.twist, *self.scratch)
        convert_some_to_joints(twin, *tree, first, every, q, v, near, self.sides, out_q, out_v, *scratch)


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
