"""Free motions of a mechanism in words: which body can move how, and which others move with it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..bodies import Body, Generalized, PointMass
from .rank import Equations
from .words import number, quoted, screw_words

Array = np.ndarray
SMALL = 1e-6


@dataclass
class FreeMotion:
    """One degree of freedom: the body that stands for it, how it moves, and the bodies that move with it."""

    body: str
    text: str
    others: list[str] = field(default_factory=list)
    vector: Array = field(default_factory=lambda: np.zeros(0), repr=False)

    def __str__(self) -> str:
        also = (
            f"; {quoted(self.others, 4)} {'moves' if len(self.others) == 1 else 'move'} with it" if self.others else ""
        )
        return f"body '{self.body}' {self.text}{also}"


def floating_groups(equations: Equations) -> list[list[Body]]:
    """Bodies that no chain of joints connects to the ground, group by group; generalized bodies are left out."""
    import networkx

    model = equations.system.model
    pinned = {b.name for b in model.bodies if not isinstance(b, Generalized | PointMass) and b.node.pinned}  # type: ignore[attr-defined]
    graph = networkx.Graph(model.graph)
    graph.add_edges_from(("ground", name) for name in pinned)
    groups = []
    for names in networkx.connected_components(graph):
        if "ground" not in names:
            bodies = [b for b in model.bodies if b.name in names and not isinstance(b, Generalized)]
            if bodies:
                groups.append(bodies)
    return groups


def free_motions(equations: Equations) -> list[FreeMotion]:
    """One motion per degree of freedom; groups of bodies that float are seen from their first body.

    The basis is an echelon form: each motion is led by a body whose leading component is zero in all others, rotations
    before displacements and bodies in the order in which they were added.
    """
    system = equations.system
    groups = {body.name: group for group in floating_groups(equations) for body in group}
    motions = equations.motions
    held = np.zeros(system.n_v, dtype=bool)  # the rigid motion of a floating group is not listed
    for group in {id(g): g for g in groups.values()}.values():
        held[system.body_slices(group[0])[1]] = True
    if held.any():
        _, s, vt = np.linalg.svd(motions[held])
        motions = motions @ vt[int(np.sum(s > SMALL)) :].T
    found: list[FreeMotion] = []
    for leader, vector in _echelon(equations, motions):
        moving = [b for b in system.model.bodies if b is not leader and _moves(equations, b, vector)]
        found.append(FreeMotion(leader.name, _text(equations, leader, vector), [b.name for b in moving], vector))
    return found


def _echelon(equations: Equations, motions: Array) -> list[tuple[Body, Array]]:
    system = equations.system
    a = motions.T.copy()
    done, leaders = 0, list[Body]()
    for body in system.model.bodies:
        n = system.tables.nodes[system.node_index(body)]
        angular = list(range(n.v0 + n.nx, n.v0 + n.nv))
        for part in (angular, list(range(n.v0, n.v0 + n.nx))):
            while done < len(a) and part:
                block = np.abs(a[done:, part])
                largest = block.max(axis=0)
                column = int(np.argmax(largest > 0.3 * largest.max()))  # x before y before z where that is accurate
                row = int(np.argmax(block[:, column]))
                if block[row, column] < 1e-7:
                    break
                pivot = part[column]
                a[[done, done + row]] = a[[done + row, done]]
                a[done] /= a[done, pivot]
                others = np.arange(len(a)) != done
                a[others] -= np.outer(a[others, pivot], a[done])
                part = [c for c in part if c != pivot]
                leaders.append(body)
                done += 1
    a[np.abs(a) < 1e-9] = 0.0
    return list(zip(leaders, a[:done], strict=True))


def _moves(equations: Equations, body: Body, vector: Array) -> bool:
    part = vector[equations.system.body_slices(body)[1]]
    return bool(np.abs(part).max(initial=0.0) > SMALL * np.abs(vector).max())


def _text(equations: Equations, body: Body, vector: Array) -> str:
    system = equations.system
    i = system.node_index(body)
    n, part = system.tables.nodes[i], vector[system.body_slices(body)[1]]
    if isinstance(body, Generalized):
        moving = [f"coordinate {k + 1} by {number(x)}" for k, x in enumerate(part) if abs(x) > SMALL]
        return "changes " + ", ".join(moving)
    linear, angular = np.zeros(3), np.zeros(3)
    linear[: n.nx] = part[: n.nx] * system.length
    angular[: n.nv - n.nx] = part[n.nx :]
    return screw_words(linear, angular, equations.frames[i, :3], system.length, "s")
