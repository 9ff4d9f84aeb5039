"""Single bodies of a system: which point each of them turns about, and its principal axes there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...compiled.kernel import kernel
from ...joints.instant import COINCIDENT
from ...math.quaternions import axes_to_quaternion
from ...nodes.forms import become_lie, of_form
from ...nodes.kinds import QUATERNION
from ...system.tables import Tables
from .state import BODY

if TYPE_CHECKING:
    from ...system.system import System

Array = np.ndarray

OFF_DIAGONAL = 1e-15  # relative size of products of inertia that are round-off
EQUAL = 1e-9  # relative difference of moments of inertia of a body that counts as symmetric


def holding_joints(system: System) -> dict[int, int]:
    """Rows of primitives by the node that they hold at a fixed point: spherical joints to the ground, and nothing else.

    A joint of any other kind, or a second joint of a body, does not appear.
    """
    p = system.tables.primitives
    joints = np.bincount(p.joint, minlength=1) if len(p) else np.zeros(1, dtype=np.int64)
    held: dict[int, int] = {}
    for k in range(len(p)):
        node = int(p.a[k] + p.b[k])
        alone = p.kind[k] == COINCIDENT and joints[p.joint[k]] == 1 and min(p.a[k], p.b[k]) == 0
        if alone and node not in held and node > 0 and system.tables.nodes.nx[node] == 3:
            held[node] = k
    return held


def centres(system: System) -> tuple[Array, Array, Array]:
    """(held, centre, anchor): the body-fixed point that every node turns about, and where it is if it is held.

    Free bodies turn about their centre of mass, pinned ones about their reference point, and bodies with a spherical
    joint to the ground about the joint.
    """
    nodes = system.tables.nodes
    mass = np.where(nodes.mass > 0.0, nodes.mass, 1.0)
    centre = np.column_stack((nodes.s1, nodes.s2, nodes.s3)) / mass[:, None]
    held = (nodes.nx == 0) & (np.arange(len(nodes)) > 0)  # the ground is no body
    anchor = np.column_stack((nodes.r1, nodes.r2, nodes.r3))
    centre[held] = 0.0
    p = system.tables.primitives
    for node, k in holding_joints(system).items():
        on_a, on_b = (np.array([p[f"{m}{i}"][k] for i in (1, 2, 3)]) for m in ("pa", "pb"))
        centre[node], anchor[node] = (on_b, on_a) if p.a[k] == 0 else (on_a, on_b)
        held[node] = True
    return held, centre, anchor


def inertia_about(system: System, centre: Array) -> Array:
    """Inertia (nodes, 3, 3) about body-fixed points."""
    n = system.tables.nodes
    j = np.empty((len(n), 3, 3))
    for a, b in ((1, 1), (2, 2), (3, 3), (1, 2), (1, 3), (2, 3)):
        j[:, a - 1, b - 1] = j[:, b - 1, a - 1] = n[f"j{a}{b}"]
    s = np.column_stack((n.s1, n.s2, n.s3))

    def steiner(x: Array, y: Array) -> Array:
        return np.einsum("ni,ni->n", x, y)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", x, y)

    # about X: J - (s X + X s) terms + m X X terms, with s = m c; for X = c the inertia about the centre of mass
    cross = steiner(s, centre)
    return np.asarray(j - cross - cross.transpose(0, 2, 1) + n.mass[:, None, None] * steiner(centre, centre))


def principal_axes(inertia: Array) -> tuple[Array, Array]:
    """Moments (n, 3), ascending, and axes (n, 3, 3) in the columns of proper rotations.

    Axes that are principal already are only exchanged, so that nothing is rounded.
    """
    diagonal = np.einsum("nii->ni", inertia)
    off = np.abs(inertia - diagonal[:, :, None] * np.eye(3)).max(axis=(1, 2))
    given = off <= OFF_DIAGONAL * diagonal.max(axis=1)
    order = np.argsort(diagonal, axis=1, kind="stable")
    moments = np.take_along_axis(diagonal, order, axis=1)
    axes = np.take_along_axis(np.broadcast_to(np.eye(3), inertia.shape), order[:, None, :], axis=2)
    if not given.all():
        moments[~given], axes[~given] = np.linalg.eigh(inertia[~given])
    return moments, _proper(axes)


def _proper(axes: Array) -> Array:
    """Columns with the sign of the second one such that the matrix is a rotation."""
    axes = axes.copy()
    axes[np.linalg.det(axes) < 0.0, :, 1] *= -1.0
    return axes


def nearly_symmetric_first(moments: Array, axes: Array) -> tuple[Array, Array]:
    """The same axes in the order (I1, I2, I3) with I2 in the middle and 1/I1 as near as possible to 1/I2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / moments
        swap = np.abs(inverse[:, 2] - inverse[:, 1]) < np.abs(inverse[:, 0] - inverse[:, 1])
    moments, axes = moments.copy(), axes.copy()
    moments[swap] = moments[swap][:, ::-1]
    axes[swap] = axes[swap][:, :, ::-1]
    return moments, _proper(axes)


@kernel
def _quaternions(axes, z, out):
    for i in range(axes.shape[0]):
        for a in range(3):
            for m in range(3):
                z[3 + 3 * a + m] = axes[i, m, a]
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = axes_to_quaternion(z)


def body_table(system: System, symmetric: bool) -> np.recarray:
    """The constants of all bodies; ``symmetric``: the order of axes for splittings with a symmetric body.

    Each body has a unit of inertia of its own, the power of two next to its largest moment, so that products of moments
    neither vanish nor overflow and nothing is rounded.
    """
    nodes = system.tables.nodes
    held, centre, anchor = centres(system)
    rows = np.arange(1, len(nodes))
    table = np.zeros(len(rows), dtype=BODY)
    rotates = ~of_form(nodes[rows], "point")
    moments, axes = principal_axes(np.where(rotates[:, None, None], inertia_about(system, centre)[rows], np.eye(3)))
    unit = np.ldexp(1.0, np.frexp(moments.max(axis=1))[1])
    moments = moments / unit[:, None]
    if symmetric:
        moments, axes = nearly_symmetric_first(moments, axes)
    quaternions = np.zeros((len(rows), 4))
    _quaternions(np.ascontiguousarray(axes), np.zeros(12), quaternions)
    table["node"], table["rotates"], table["held"] = rows, rotates, held[rows]
    table["mass"], table["unit"], table["per_unit"] = nodes.mass[rows], unit, 1.0 / unit
    table["mobility"] = np.where(held[rows], 0.0, 1.0 / nodes.mass[rows])
    with np.errstate(divide="ignore"):  # bodies without inertia about an axis are refused
        inverse = 1.0 / moments
    for k in range(3):
        table[f"i{k + 1}"], table[f"k{k + 1}"] = moments[:, k], inverse[:, k]
        table[f"x{k + 1}"] = np.where(rotates, centre[rows, k], 0.0)
        table[f"p{k + 1}"] = anchor[rows, k]
    for k in range(4):
        table[f"a{k}"] = quaternions[:, k]
    return table.view(np.recarray)


def lie_tables(system: System) -> tuple[Tables, Array]:
    """The tables of a system with all rigid nodes as Lie nodes inside the same matrix, and the blocks of its stiffness.

    A Lie node has at most as many velocities as any other, so that its block fits into the one of the node that it
    stands for.
    """
    nodes = system.tables.nodes.copy()
    rigid = ~of_form(nodes, "point", "ground")
    become_lie(nodes, rigid, QUATERNION)
    nodes["nv"][rigid] = nodes["nx"][rigid] + 3
    nodes["nl"] = 0
    nodes["q0"], nodes["v0"] = 0, 0
    layout, n = system.assembly.layout, len(nodes) - 1
    pairs = layout.pairs[(layout.pairs < n).all(axis=1)]
    u = np.concatenate((np.arange(n), pairs[:, 0], pairs[:, 1]))
    v = np.concatenate((np.arange(n), pairs[:, 1], pairs[:, 0]))
    offset, stride = layout.blocks(u, v)
    columns = (nodes.x0[u + 1], nodes.nv[u + 1], nodes.x0[v + 1], nodes.nv[v + 1], offset, stride)
    tables = system.tables.changed(nodes=nodes.view(np.recarray), primitives=system.tables.primitives[:0])
    return tables, np.ascontiguousarray(np.column_stack(columns), dtype=np.int64)


def has_generalized(system: System) -> Array:
    """Nodes with generalized coordinates."""
    return np.flatnonzero(of_form(system.tables.nodes, "generalized"))
