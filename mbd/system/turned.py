"""Bodies that a system in joint coordinates does not turn: their turns are one of its coordinates.

The inertia of the rotor of a motor is on the coordinate of a joint, and the tree leaves the rotor at rest. Whoever
looks at frames sees it turn about the world's z, by as many radians as the joint shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..bodies.rotor import AT_REST
from ..joints.couplings import Screw
from ..joints.rotor_hinge import RotorHinge
from ..joints.tree import rotor_motion

if TYPE_CHECKING:
    from .evaluation import Evaluation

Array = np.ndarray


class Turned(NamedTuple):
    """A body whose turns are a coordinate: of a screw, or a rotor, whose inertia is on the coordinate of a joint."""

    node: int
    q: int  # the coordinate,
    v: int  # and its velocity
    joint: str  # what turns the body


def turned_rotors(system: Evaluation) -> list[Turned]:
    """The rotors that the tree leaves at rest; none without a tree."""
    tree, nodes, node_of = system.assembly.tree, system.tables.nodes, system.assembly.node_of
    if tree is None:
        return []
    edges = {id(edge.joint): edge for edge in tree.carried if edge.joint is not None}
    found = []
    for edge in tree.carried:
        if isinstance(edge.joint, RotorHinge):
            driving = edges[id(edge.joint.driving)]
            n, k = nodes[node_of[id(driving.body)]], driving.motions.index(rotor_motion(edge.joint))
            found.append(Turned(int(node_of[id(edge.body)]), int(n.q0) + k, int(n.v0) + k, edge.joint.name))
    return found


def carrying_screws(system: Evaluation) -> list[Turned]:
    """Screws that are coordinates: their equation, between bodies in coordinates of their own, counts turns."""
    tree, nodes, node_of = system.assembly.tree, system.tables.nodes, system.assembly.node_of
    assert tree is not None
    found = []
    for edge in tree.carried:
        if isinstance(edge.joint, Screw):
            i = int(node_of[id(edge.body)])
            found.append(Turned(i, int(nodes[i].q0), int(nodes[i].v0), edge.joint.name))
    return found


def turn_rotors(system: Evaluation, z: Array, q: Array) -> None:
    """Write the frames of the rotors into z, those of all nodes."""
    for rotor in system.rotors:
        z[rotor.node] = rotor_frames(q[rotor.q : rotor.q + 1])[0]


def spin_rotors(system: Evaluation, zd: Array, q: Array, v: Array) -> None:
    """Write the velocities of the rotors into zd, those of the frames of all nodes."""
    for rotor in system.rotors:
        k, j = slice(rotor.q, rotor.q + 1), slice(rotor.v, rotor.v + 1)
        zd[rotor.node] = rotor_rates(rotor_frames(q[k]), v[j])[0]


def rotor_frames(angle: Array) -> Array:
    """Frames (n, 12) of a rotor at these angles (n,)."""
    z = np.zeros((len(angle), 12))
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    x, y, along = AT_REST
    z[:, 3::3], z[:, 4::3], z[:, 5::3] = c * x - s * y, s * x + c * y, along
    return z


def rotor_rates(z: Array, rate: Array) -> Array:
    """Velocities (n, 12) of the frames of a rotor at these rates (n,)."""
    zd = np.zeros_like(z)
    zd[:, 3::3], zd[:, 4::3] = -rate[:, None] * z[:, 4::3], rate[:, None] * z[:, 3::3]
    return zd


def rotor_accelerations(z: Array, rate: Array, acceleration: Array) -> Array:
    """Accelerations (n, 12) of the frames of a rotor."""
    zdd = rotor_rates(z, acceleration)
    for k in (3, 4):
        zdd[:, k::3] -= rate[:, None] ** 2 * z[:, k::3]
    return zdd
