"""Rank of the joint equations at a configuration, and consistent configurations near it.

Everything is seen in twists: three velocities and three angular velocities per rigid body, both in world axes, so that
null vectors are motions and left null vectors are forces that people recognise. Models in other coordinates are
examined through a twin on Lie nodes, which has no internal constraints.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from ..bodies import Generalized, RigidBody
from ..errors import AssemblyError, ModelError
from ..nodes.forms import FORM_LIE, FORM_POINT
from ..rotation import to_rotation_vector
from ..system.system import System
from .initial import consistent_start
from .start_report import Rows

Array = np.ndarray

RANK_TOLERANCE = 1e-8  # of singular values, relative to the largest
CLEAR = 1e-4  # of singular values, relative to the largest: where none is smaller nothing has to be scaled
EQUILIBRATIONS = 20  # passes over rows and columns, each of which takes the root of what is left
NOISE = 1e-14  # entries of a body beside its largest that are round-off
NEIGHBOUR = 0.05  # rad, or lengths of the system: how far neighbours are
MASS_RATIO = 1e6
TRIES = 4
COUNTED = 6  # motions up to which neighbours are enough to count those that last
DENSE_LIMIT = 1500  # velocities up to which dense singular values are computed


@dataclass
class Equations:
    """The constraint Jacobian in twists at one configuration of a system on Lie nodes.

    matrix: rows are lengths divided by the length of the system, or numbers; columns are displacements divided by that
    length, rotations in world axes, or generalized coordinates.
    """

    system: System
    q: Array
    matrix: Array
    rows: Rows
    frames: Array

    def __init__(self, system: System, q: Array, t: float = 0.0) -> None:
        self.system, self.q = system, q
        self.rows = Rows(system)
        matrix = system.constraint_jacobian(q, t).toarray()
        self.frames = system.frames(q)
        for n in system.tables.nodes:
            if n.nx:
                matrix[:, n.v0 : n.v0 + n.nx] *= system.length
        for i, body in enumerate(system.model.bodies):
            if isinstance(body, RigidBody):
                n, z = system.tables.nodes[i + 1], self.frames[i + 1]
                columns = slice(n.v0 + n.nx, n.v0 + n.nv)
                matrix[:, columns] = matrix[:, columns] @ z[3:].reshape(3, 3)
        self.matrix = matrix / self.rows.scale[:, None]
        self._svd: tuple[Array, Array, Array] | None = None
        self._rank: int | None = None

    @property
    def svd(self) -> tuple[Array, Array, Array]:
        """Left singular vectors, singular values and right ones, all of them."""
        if self._svd is None:
            self._svd = np.linalg.svd(self.matrix, full_matrices=True)
        return self._svd

    @property
    def rank(self) -> int:
        """Number of independent equations."""
        if self._rank is None:
            s = self.svd[1]
            if s.size and s.min() <= CLEAR * s.max():
                s = np.linalg.svd(self._equilibrated(), compute_uv=False)
            self._rank = int(np.sum(s > RANK_TOLERANCE * s.max(initial=1e-300)))
        return self._rank

    def _equilibrated(self) -> Array:
        """The matrix with rows and columns of about equal size, which has the same rank and no units.

        The columns of a translation, and those of a rotation, are scaled together: that of a motion which nothing
        resists holds round-off only, and must not be blown up.
        """
        matrix, groups = self.matrix.copy(), np.zeros(self.matrix.shape[1], dtype=np.int64)
        for i, n in enumerate(self.system.tables.nodes[1:]):
            groups[n.v0 : n.v0 + n.nx], groups[n.v0 + n.nx : n.v0 + n.nv] = 2 * i, 2 * i + 1
        sizes = np.zeros(2 * len(self.system.tables.nodes))
        np.maximum.at(sizes, groups, np.abs(matrix).max(axis=0, initial=0.0))
        matrix[:, (sizes[groups] <= NOISE * sizes[groups ^ 1])] = 0.0  # beside the other part of the same body
        for _ in range(EQUILIBRATIONS):
            rows = np.abs(matrix).max(axis=1, initial=0.0)
            matrix /= np.sqrt(np.where(rows > 0.0, rows, 1.0))[:, None]
            columns = np.zeros(len(sizes))
            np.maximum.at(columns, groups, np.abs(matrix).max(axis=0, initial=0.0))
            matrix /= np.sqrt(np.where(columns > 0.0, columns, 1.0))[groups]
        return matrix

    @property
    def redundant(self) -> int:
        """Number of equations that follow from others."""
        return self.matrix.shape[0] - self.rank

    @property
    def motions(self) -> Array:
        """Columns span the motions that all equations admit."""
        return self.svd[2][self.rank :].T

    @property
    def displacements(self) -> Array:
        """Columns span the displacements that the holonomic equations admit; rolling restricts velocities only."""
        holonomic = np.ones(len(self.matrix), dtype=bool)
        holonomic[self.system.tables.nonholonomic] = False
        _, s, vt = np.linalg.svd(self.matrix[holonomic], full_matrices=True)
        return vt[int(np.sum(s > RANK_TOLERANCE * s.max(initial=1e-300))) :].T

    def increment(self, motion: Array) -> Array:
        """A motion as increment of the system's coordinates."""
        d = motion.copy()
        for i, n in enumerate(self.system.tables.nodes[1:]):
            if n.nx:
                d[n.v0 : n.v0 + n.nx] *= self.system.length
            if isinstance(self.system.model.bodies[i], RigidBody):
                columns = slice(n.v0 + n.nx, n.v0 + n.nv)
                d[columns] = self.frames[i + 1, 3:].reshape(3, 3) @ d[columns]
        return d

    def displacement(self, q: Array) -> Array:
        """The motion that leads, to first order, from here to q."""
        out = np.zeros(self.system.n_v)
        z = self.system.frames(q)
        for i, body in enumerate(self.system.model.bodies):
            n, old, new = self.system.tables.nodes[i + 1], self.frames[i + 1], z[i + 1]
            if isinstance(body, Generalized):
                out[n.v0 : n.v0 + n.nv] = q[n.q0 : n.q0 + n.nq] - self.q[n.q0 : n.q0 + n.nq]
                continue
            if n.nx:
                out[n.v0 : n.v0 + 3] = (new[:3] - old[:3]) / self.system.length
            if isinstance(body, RigidBody):
                turn = new[3:].reshape(3, 3).T @ old[3:].reshape(3, 3)
                out[n.v0 + n.nx : n.v0 + n.nv] = to_rotation_vector(turn)
        return out


@dataclass
class Mobility:
    """What the equations leave free, at a configuration and near it.

    here: the equations at the configuration; generic: those at a neighbour of highest rank, or ``here`` if there is no
    better one. finite: degrees of freedom of motions that go on beyond the first instant.
    """

    here: Equations
    generic: Equations
    finite: int

    @property
    def permanent(self) -> int:
        """Redundant equations that stay so wherever the mechanism goes."""
        return self.generic.redundant

    @property
    def momentary(self) -> int:
        """Equations that become dependent at this configuration only."""
        return self.here.redundant - self.generic.redundant

    @property
    def shaky(self) -> int:
        """Motions that the equations admit for an instant only."""
        return self.here.matrix.shape[1] - self.generic.rank - self.finite if not self.momentary else 0


@contextmanager
def _equal_masses(system: System) -> Iterator[None]:
    """Bodies of equal mass where masses are so different that the nearest consistent position is not well defined."""
    nodes = system.tables.nodes
    masses = nodes["mass"][1:][nodes["mass"][1:] > 0.0]
    if masses.size == 0 or masses.max() <= MASS_RATIO * masses.min():
        yield
        return
    given, square = nodes.copy(), system.length**2
    own = np.flatnonzero(np.isin(nodes["form"], (FORM_LIE, FORM_POINT)))
    for name in nodes.dtype.names:
        if name in ("s1", "s2", "s3", "j12", "j13", "j23", "e12", "e13", "e23"):
            nodes[name][own] = 0.0
        elif name in ("j11", "j22", "j33", "e11", "e22", "e33"):
            nodes[name][own] = square if name[0] == "j" else 0.5 * square
    nodes["mass"][own] = 1.0
    try:
        yield
    finally:
        nodes[:] = given


def mobility(system: System, q: Array, t: float = 0.0) -> Mobility:
    """Examine a consistent configuration of a system on Lie nodes and a few consistent neighbours.

    A random configuration would not do: loops of parallel axes are redundant on the constraint manifold only.
    """
    here = Equations(system, q, t)
    freedom = here.matrix.shape[1] - here.rank
    if freedom == 0 or here.redundant == 0:
        return Mobility(here, here, freedom)
    generic, random, motions = here, np.random.default_rng(0), here.motions
    reached: list[Array] = []
    for _ in range(max(TRIES, min(freedom, COUNTED) + 1)):
        motion = motions @ random.normal(size=motions.shape[1])
        motion *= NEIGHBOUR / np.abs(motion).max()
        try:
            with _equal_masses(system):
                near = consistent_start(system, system.update(q, here.increment(motion)), np.zeros(system.n_v), t)
        except (AssemblyError, ModelError):
            continue
        reached.append(motions.T @ here.displacement(near.q) / np.linalg.norm(motion))
        if np.linalg.norm(reached[-1]) < 0.05:  # the way to a consistent position led back
            continue
        equations = Equations(system, near.q, t)
        if equations.rank > generic.rank:
            generic = equations
    finite = here.matrix.shape[1] - generic.rank
    if not reached:
        return Mobility(here, generic, finite)
    kept = float(np.mean(np.sum(np.square(reached), axis=1)))  # of random motions the part that is finite
    if freedom <= COUNTED or kept < 0.5:  # motions that were undone lead nowhere
        sizes = np.linalg.svd(np.array(reached), compute_uv=False)
        lasting = int(np.sum(sizes > 0.05))
        finite = min(finite, lasting if lasting < len(reached) or freedom <= COUNTED else round(kept * freedom))
    return Mobility(here, generic, finite)
