"""Which joints fix the same motion twice: loops of the model and the dependent equations around them.

A set of multipliers that balances itself without a load (a left null vector of the Jacobian) marks dependent equations.
Around a single loop the joints then pass one and the same wrench on, and its direction is the motion that is fixed
once too often. Dependencies that need several loops at once are reduced to minimal sets by leaving joints out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import networkx
import numpy as np

from ..bodies import Generalized, Ground
from ..elements.suggestions import counted
from ..model import Model
from .rank import RANK_TOLERANCE, Equations
from .words import axis_words, listed, number, point_words, quoted

Array = np.ndarray

NEGLIGIBLE = 1e-7  # entries of null vectors below this fraction of the largest are taken for zero
ALL_EDGES = 2000  # joints up to which the shortest loop through every joint is looked for
GREEDY_ROWS = 700  # rows up to which sets across several loops are made minimal


@dataclass
class Dependency:
    """Equations of some joints of which ``count`` follow from the others.

    joints: names, in the order of the loop where there is one; directions: the motions that are fixed once too often,
    in words; bodies: generalized bodies whose own constraints take part.
    """

    joints: list[str]
    count: int
    directions: list[str] = field(default_factory=list)
    loop: bool = False
    bodies: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if not self.joints:
            verb = "repeats" if self.count == 1 else "repeat"
            return f"{counted(self.count, 'constraint')} of body {quoted(self.bodies)} {verb} the others"
        names = quoted(self.joints)
        if self.bodies:
            names += f" (with the constraints of {quoted(self.bodies)})"
        if not self.directions:
            fix = f"{counted(self.count, 'equation')} {'follows' if self.count == 1 else 'follow'} from the others"
            return f"joint{'s' if len(self.joints) > 1 else ''} {names}: {fix}"
        what = listed(self.directions)
        if len(self.joints) == 1:
            return f"joint {names} fixes {what} twice"
        if len(self.joints) == 2:
            return f"joints {names} both fix {what}"
        where = "around the loop of joints" if self.loop else "joints"
        each = "is" if len(self.directions) == 1 else "are each"
        return f"{where} {names}, {what} {each} fixed once too often"


def loops_of(model: Model) -> list[list[int]]:
    """Independent closed loops, as short as possible: lists of joint numbers in the order of the loop."""
    graph = networkx.Graph()  # joints are vertices of their own, so that two joints may connect the same bodies
    graph.add_node("ground")
    for j, joint in enumerate(model.joints):
        for body in joint.bodies[:2]:
            graph.add_edge(("joint", j), body.name)
    wanted = model.loops
    if wanted == 0:
        return []
    candidates: list[list[int]] = []
    tree = {key for _, _, key in model.spanning_tree().edges(keys=True)}
    closing = [j for j, joint in enumerate(model.joints) if joint.name not in tree]
    edges = range(len(model.joints)) if len(model.joints) <= ALL_EDGES else closing
    fundamental = networkx.Graph()
    for j, joint in enumerate(model.joints):
        if joint.name in tree:
            for body in joint.bodies[:2]:
                fundamental.add_edge(("joint", j), body.name)
    for j in edges:
        a, b = (body.name for body in model.joints[j].bodies[:2])
        view = networkx.restricted_view(graph, [("joint", j)], [])
        try:
            path = networkx.shortest_path(view, a, b)
        except (networkx.NetworkXNoPath, networkx.NodeNotFound):
            continue
        candidates.append([j, *(vertex[1] for vertex in path if isinstance(vertex, tuple))])
    candidates.sort(key=len)
    for j in closing:  # in any case enough of them
        a, b = (body.name for body in model.joints[j].bodies[:2])
        path = networkx.shortest_path(fundamental, a, b)
        candidates.append([j, *(vertex[1] for vertex in path if isinstance(vertex, tuple))])
    chosen: list[list[int]] = []
    reduced: dict[int, int] = {}  # leading joint -> set of joints as bits, for independence modulo 2
    for loop in candidates:
        bits = 0
        for j in loop:
            bits ^= 1 << j
        while bits:
            lead = bits.bit_length()
            if lead not in reduced:
                reduced[lead] = bits
                chosen.append(_from_first(loop))
                break
            bits ^= reduced[lead]
        if len(chosen) == wanted:
            break
    return chosen


def _from_first(loop: list[int]) -> list[int]:
    """A loop as it is told: from the joint that was added first, in the direction of its earlier neighbour."""
    k = loop.index(min(loop))
    turned = loop[k:] + loop[:k]
    return turned if len(turned) < 3 or turned[1] <= turned[-1] else [turned[0], *turned[:0:-1]]


def dependencies(equations: Equations, loops: list[list[int]], total: int) -> list[Dependency]:
    """The dependent equations at a configuration, ``total`` of them: by joint, by loop, then across loops."""
    model, rows = equations.system.model, equations.rows
    slices = equations.system.assembly.joint_slices
    found: list[Dependency] = []
    known = np.zeros((equations.matrix.shape[0], 0))
    single = [[j] for j in range(len(model.joints))]
    for joints in [*single, *loops]:
        if known.shape[1] >= total:
            break
        chosen = np.concatenate([np.arange(s.start, s.stop) for s in (slices[j] for j in joints)])
        stresses = _left_null(equations.matrix[chosen])
        full = np.zeros((equations.matrix.shape[0], stresses.shape[1]))
        full[chosen] = stresses
        new = _new_part(full, known)
        if new.shape[1]:
            known = np.linalg.qr(np.column_stack((known, new)))[0]
            taking = [j for j in joints if np.abs(new[slices[j]]).max(initial=0.0) > NEGLIGIBLE]
            names = [model.joints[j].name for j in taking]
            words = _directions(equations, new, taking) if len(taking) > 1 else []
            found.append(Dependency(names, new.shape[1], words, len(taking) > 2))
    internal = np.flatnonzero(rows.internal)
    if known.shape[1] < total and len(internal):
        for i in range(rows.joints, len(rows.names)):
            chosen = np.flatnonzero(rows.owner == i)
            stresses = _left_null(equations.matrix[chosen])
            if stresses.shape[1]:
                full = np.zeros((equations.matrix.shape[0], stresses.shape[1]))
                full[chosen] = stresses
                known = np.linalg.qr(np.column_stack((known, full)))[0]
                found.append(Dependency([], stresses.shape[1], bodies=[rows.labels[i]]))
    while known.shape[1] < total and equations.matrix.shape[0] <= GREEDY_ROWS:
        vector = _minimal(equations, known)
        if vector is None:
            break
        known = np.linalg.qr(np.column_stack((known, vector)))[0]
        size = np.abs(vector).max()
        owners = sorted(set(rows.owner[np.abs(vector) > NEGLIGIBLE * size].tolist()))
        joints = [i for i in owners if i < rows.joints]
        words = _directions(equations, vector[:, None], joints) if len(joints) == 2 else []
        bodies = [rows.labels[i] for i in owners if i >= rows.joints]
        found.append(Dependency([model.joints[j].name for j in joints], 1, words, False, bodies))
    return _merged(found)


def _left_null(matrix: Array) -> Array:
    if not matrix.size:
        return np.zeros((matrix.shape[0], 0))
    columns = np.abs(matrix).max(axis=0) > 0.0
    u, s, _ = np.linalg.svd(matrix[:, columns], full_matrices=True)
    return u[:, int(np.sum(s > RANK_TOLERANCE * s.max(initial=1e-300))) :]


def _new_part(vectors: Array, known: Array) -> Array:
    """As many of the given vectors as are independent of the known ones."""
    rest = vectors - known @ (known.T @ vectors)
    chosen: list[int] = []
    for _ in range(vectors.shape[1]):
        sizes = np.linalg.norm(rest, axis=0)
        k = int(np.argmax(sizes))
        if sizes[k] < 1e-6:
            break
        chosen.append(k)
        unit = rest[:, k] / sizes[k]
        rest = rest - np.outer(unit, unit @ rest)
    return vectors[:, chosen]


def _minimal(equations: Equations, known: Array) -> Array | None:
    """A null vector outside the known span on as few joints as possible: leave out one owner of equations after the
    other while such a vector remains."""
    rows = equations.rows
    keep = np.ones(len(rows.owner), dtype=bool)

    def remaining(mask: Array) -> Array:
        stresses = _left_null(equations.matrix[mask])
        full = np.zeros((len(mask), stresses.shape[1]))
        full[mask] = stresses
        return _new_part(full, known)

    vectors = remaining(keep)
    if not vectors.shape[1]:
        return None
    for owner in range(len(rows.names)):
        mask = keep & (rows.owner != owner)
        trial = remaining(mask)
        if trial.shape[1]:
            keep, vectors = mask, trial
            used = np.abs(vectors).max(axis=1) > NEGLIGIBLE
            keep &= np.isin(rows.owner, np.unique(rows.owner[used]))
    return vectors[:, 0]


def _directions(equations: Equations, stresses: Array, joints: list[int]) -> list[str]:
    """The wrenches that the first joint passes on, as the motions that they prevent."""
    system, rows = equations.system, equations.rows
    model, length = system.model, system.length
    joint = model.joints[joints[0]]
    body, sign = (joint.body_b, 1.0) if not isinstance(joint.body_b, Ground) else (joint.body_a, -1.0)
    if isinstance(body, Generalized):
        return []
    n = system.tables.nodes[system.node_index(body)]
    part = slice(n.v0, n.v0 + n.nv)
    s = system.assembly.joint_slices[joints[0]]
    wrench = np.zeros((6, stresses.shape[1]))  # force times length, and torque about the reference point
    loads = sign * equations.matrix[s][:, part].T @ stresses[s]
    wrench[: n.nx] = loads[: n.nx]
    wrench[3 : 3 + n.nv - n.nx] = loads[n.nx :]
    points = [_world_point(equations, model.joints[j]) for j in joints]
    centre = np.mean(points, axis=0)
    arm = (equations.frames[system.node_index(body), :3] - centre) / length
    if n.nx:
        wrench[3:] += np.cross(arm, wrench[:3].T).T
    if n.nv - n.nx == 0:
        wrench[3:] = 0.0
    basis = reduced_echelon(wrench.T)
    if len(basis) < stresses.shape[1] or rows.joints == 0:
        return []
    return [_wrench_words(w, centre, length) for w in basis]


def _world_point(equations: Equations, joint: object) -> Array:
    body = joint.body_b  # type: ignore[attr-defined]
    z = equations.frames[equations.system.node_index(body)]
    return z[:3] + z[3:].reshape(3, 3).T @ joint.point_b  # type: ignore[attr-defined]


def _wrench_words(w: Array, centre: Array, length: float) -> str:
    force, torque = w[:3], w[3:]
    size = float(np.linalg.norm(force))
    if size < 1e-6 * np.linalg.norm(torque):
        return f"rotation about {axis_words(torque)}"
    text = f"translation along {axis_words(force)}"
    pitch = float(force @ torque) / size**2
    offset = np.cross(force, torque) / size**2 * length
    if abs(pitch) > 1e-6:
        return f"a screw motion along {axis_words(force)} (pitch {number(pitch * length)} m/rad)"
    if np.linalg.norm(offset) > 1e-6 * length:
        return f"{text} at {point_words(centre + offset, length)}"
    return text


def reduced_echelon(rows: Array, tolerance: float = 1e-7) -> Array:
    """Basis of the row space with as many zeros as elimination finds; pivots from left to right, each row of size 1."""
    a = np.array(rows, dtype=float)
    a /= max(np.abs(a).max(initial=0.0), 1e-300)
    done = 0
    for column in range(a.shape[1]):
        if done == len(a):
            break
        k = done + int(np.argmax(np.abs(a[done:, column])))
        if abs(a[k, column]) < tolerance:
            continue
        a[[done, k]] = a[[k, done]]
        a[done] /= a[done, column]
        for i in range(len(a)):
            if i != done:
                a[i] -= a[i, column] * a[done]
        done += 1
    a = a[:done]
    a[np.abs(a) < tolerance] = 0.0
    return a


def _merged(found: list[Dependency]) -> list[Dependency]:
    """Dependencies of the same joints as one."""
    merged: dict[tuple[str, ...], Dependency] = {}
    for d in found:
        key = (*sorted(d.joints), "", *sorted(d.bodies))
        if key in merged:
            first = merged[key]
            complete = first.directions and d.directions
            merged[key] = Dependency(
                first.joints, first.count + d.count, [*first.directions, *d.directions] if complete else [],
                first.loop, first.bodies,
            )  # fmt: skip
        else:
            merged[key] = d
    return list(merged.values())
