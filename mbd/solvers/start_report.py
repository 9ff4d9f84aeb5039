"""The consistent start in terms of bodies and joints: what is held, what changed, what could not be satisfied.

Rows of constraints are lengths (scaled by the length of the system) or numbers (dot products, internal constraints of
nodes, constraints of generalized bodies). All work here is done on whole arrays: models may have ten thousand joints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from ..bodies import Body, Generalized, Ground, RigidBody
from ..elements.values import in_force
from ..errors import AssemblyError, ModelError
from ..joints.instant import ANGLE, COINCIDENT, DOT1, ROTATING
from ..nodes import kinds
from ..nodes.arrays import axial, frame_axes
from ..nodes.forms import FORM_DIRECTORS, FORM_GENERALIZED, FORM_QUATERNION, FORM_SPIN
from ..rotation import hat
from ..system.system import System

Array = np.ndarray
SHOWN = 3  # elements that a text mentions by name
QUANTITIES = {"position": 0, "rotation": 1, "velocity": 2, "angular_velocity": 3}


MISSES = ("before", "after", "before_velocity", "after_velocity")  # of a report


class Miss(NamedTuple):
    """By how much an element misses its constraints."""

    length: float  # m (m/s for velocities): points that should coincide, distances
    number: float  # dot products of directions (about rad, rad/s), internal constraints, generalized constraints


class _Places(NamedTuple):
    """Owner and unit of every constraint row, as they follow from the structure of a model."""

    owner: Array  # joints, then nodes with internal constraints
    is_length: Array
    internal: Array
    nodes: list[int]


def _places(system: System) -> _Places:
    nodes, joints = system.tables.nodes, len(system.model.joints)
    found = _Places(
        np.zeros(system.n_l, dtype=np.int64), np.zeros(system.n_l, dtype=bool), np.zeros(system.n_l, dtype=bool),
        np.flatnonzero(nodes["nl"]).tolist(),
    )  # fmt: skip
    for k, i in enumerate(found.nodes):  # before the joints: such nodes exist in conventional models only
        rows = slice(nodes["l0"][i], nodes["l0"][i] + nodes["nl"][i])
        found.owner[rows] = joints + k
        found.internal[rows] = True
    for table in (system.tables.primitives, system.tables.couplings):
        for k in range(3):
            has = (table["kind"] == COINCIDENT) | (k == 0)
            row = table["l0"][has] + k
            found.owner[row] = table["joint"][has]
            # of a sum the first term, which is written last, says what it is
            found.is_length[row[::-1]] = ~np.isin(table["kind"][has], (DOT1, ROTATING, ANGLE))[::-1]
    for g in system.tables.frame_elements:
        if g.joint >= 0:
            found.owner[g.l0 : g.l0 + g.rows] = g.joint
            found.is_length[g.l0 : g.l0 + g.rows] = True
    return found


class Rows:
    """Unit and owner of every constraint row."""

    def __init__(self, system: System) -> None:
        bodies, joints, _ = system.elements
        self.owner, self.is_length, self.internal, own = system.structural("rows", lambda: _places(system))
        self.joints = len(joints)
        self.labels = [*(joint.name for joint in joints), *(bodies[i - 1].name for i in own)]
        self._generalized = [isinstance(bodies[i - 1], Generalized) for i in own]
        self.scale = np.where(self.is_length, system.length, 1.0)

    @cached_property
    def names(self) -> list[str]:
        """Owners in words."""
        what = ["constraints" if own else "unit length of the coordinates" for own in self._generalized]
        bodies = zip(self.labels[self.joints :], what, strict=True)
        return [*(f"joint '{x}'" for x in self.labels[: self.joints]), *(f"body '{x}' ({y})" for x, y in bodies)]

    def misses(self, g: Array) -> tuple[Array, Array]:
        """Norms of the lengths and of the numbers of every joint and of every node with internal constraints."""
        squares, n = np.square(g), len(self.labels)
        lengths = np.bincount(self.owner, np.where(self.is_length, squares, 0.0), n)
        numbers = np.bincount(self.owner, np.where(self.is_length, 0.0, squares), n)
        return np.sqrt(lengths), np.sqrt(numbers)

    def by_name(self, g: Array) -> dict[str, Miss]:
        """The misses under the names of joints and of bodies with internal constraints."""
        lengths, numbers = self.misses(g)
        return {n: Miss(x, y) for n, x, y in zip(self.labels, lengths.tolist(), numbers.tolist(), strict=True)}

    def worst(self, g: Array, rate: str = "") -> list[tuple[str, str]]:
        """Names and their misses in words, the largest first; only those that matter beside the largest."""
        lengths, numbers = self.misses(g)
        scale = float(self.scale.max(initial=1.0, where=self.is_length))
        size = np.hypot(lengths / scale, numbers)
        order = [i for i in np.argsort(-size, kind="stable") if size[i] > 1e-3 * size.max()]
        return [(self.names[i], self._words(i, lengths[i], numbers[i], scale, rate)) for i in order]

    def _words(self, i: int, length: float, number: float, scale: float, rate: str) -> str:
        parts = []
        if length > 1e-3 * scale * number:
            parts.append(f"{length:.3g} m{rate}")
        if scale * number > 1e-3 * length:
            if i >= self.joints:
                parts.append(f"{number:.3g}")
            elif rate:
                parts.append(f"{number:.3g} rad{rate}")
            else:
                parts.append(f"{math.degrees(math.asin(min(1.0, number))):.3g} degrees")
        return " and ".join(parts)


@dataclass
class StartReport:
    """Changes of the initial state; lists only bodies that changed.

    moved and velocity are distances (m) and speeds (m/s) of reference points, for generalized bodies norms of the
    change of their coordinates and velocities; turned and angular_velocity are in rad and rad/s. before and after hold
    the misses of the position constraints, before_velocity and after_velocity those of ``B v + g_t``; all by name.
    """

    changed: bool = False
    iterations: int = 0
    moved: dict[str, float] = field(default_factory=dict)
    turned: dict[str, float] = field(default_factory=dict)
    velocity: dict[str, float] = field(default_factory=dict)
    angular_velocity: dict[str, float] = field(default_factory=dict)
    before: dict[str, Miss] = field(default_factory=dict)
    after: dict[str, Miss] = field(default_factory=dict)
    before_velocity: dict[str, Miss] = field(default_factory=dict)
    after_velocity: dict[str, Miss] = field(default_factory=dict)

    @classmethod
    def unchanged(cls, rows: Callable[[], Rows], g: Array, rate: Array) -> StartReport:
        """The report of a start that was consistent; misses are put under their names when somebody asks for them."""
        made = cls()
        for name in MISSES:
            del vars(made)[name]
        vars(made)["_rows"] = rows, g, rate
        return made

    def __getattr__(self, name: str) -> Any:
        if name not in MISSES or "_rows" not in vars(self):
            raise AttributeError(f"a StartReport has no attribute {name!r}")
        return vars(self.settled())[name]

    def settled(self) -> Self:
        """The report with all misses under their names, found now if nobody has asked for them yet."""
        found = vars(self).pop("_rows", None)
        if found is not None:
            find_rows, g, rate = found
            rows = find_rows()
            before, before_rate = rows.by_name(g), rows.by_name(rate)
            vars(self).update(zip(MISSES, (before, before, before_rate, before_rate), strict=True))
        return self

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.settled())

    def __str__(self) -> str:
        position = _changes(self.moved, self.turned, _pose_words)
        velocity = _changes(self.velocity, self.angular_velocity, _rate_words)
        texts = [f"initial positions corrected: {position}"] if position else []
        if velocity:
            texts.append(f"velocities corrected: {velocity}" if texts else f"initial velocities corrected: {velocity}")
        return "; ".join(texts)


def _pose_words(length: float, angle: float) -> str:
    parts = [f"moved by {length:.3g} m"] if length else []
    return ", ".join([*parts, f"turned by {math.degrees(angle):.3g} deg"] if angle else parts)


def _rate_words(length: float, angle: float) -> str:
    parts = [f"by {length:.3g} m/s"] if length else []
    return " and ".join([*parts, f"by {angle:.3g} rad/s"] if angle else parts)


def _changes(lengths: dict[str, float], angles: dict[str, float], words: Callable[[float, float], str]) -> str:
    longest, widest = max(lengths.values(), default=1.0), max(angles.values(), default=1.0)
    size = {n: max(lengths.get(n, 0.0) / longest, angles.get(n, 0.0) / widest) for n in {**lengths, **angles}}
    names = sorted(size, key=lambda n: -size[n])
    parts = [f"body '{n}' {words(lengths.get(n, 0.0), angles.get(n, 0.0))}" for n in names[:SHOWN]]
    if len(names) > SHOWN:
        more = len(names) - SHOWN
        parts.append(f"and {more} more {'body' if more == 1 else 'bodies'}")
    return "; ".join(parts)


def body_changes(
    system: System, old: tuple[Array, ...], new: tuple[Array, ...]
) -> tuple[dict[str, float], dict[str, float], dict[str, float], dict[str, float]]:
    """How far every body moved and turned, and by how much its velocities changed; above round-off only."""
    nodes, names = system.tables.nodes, [body.name for body in system.model.bodies]
    z0, z1 = system.frames(old[0])[1:], system.frames(new[0])[1:]
    w0, w1 = system.frame_velocities(*old)[1:], system.frame_velocities(*new)[1:]
    moved = np.linalg.norm(z1[:, :3] - z0[:, :3], axis=1)
    speed = np.linalg.norm(w1[:, :3] - w0[:, :3], axis=1)
    chord = np.linalg.norm(z1[:, 3:] - z0[:, 3:], axis=1) / math.sqrt(8.0)  # sin(angle / 2)
    turned = 2.0 * np.arcsin(np.minimum(chord, 1.0))
    spin = np.linalg.norm(body_spins(z1, w1) - body_spins(z0, w0), axis=1)
    for i in np.flatnonzero(nodes["form"][1:] == FORM_GENERALIZED):
        q, v = system.body_slices(system.model.bodies[i])
        moved[i], turned[i] = np.linalg.norm(new[0][q] - old[0][q]), 0.0
        speed[i], spin[i] = np.linalg.norm(new[1][v] - old[1][v]), 0.0
    rate = max(float(np.abs(w0).max(initial=0.0)), float(np.abs(w1).max(initial=0.0)))
    floors = (1e-14 * system.length, 1e-14, 1e-14 * rate, 1e-14 * rate)
    return tuple(  # type: ignore[return-value]
        {names[i]: float(x[i]) for i in np.flatnonzero(x > floor)}
        for x, floor in zip((moved, turned, speed, spin), floors, strict=True)
    )


def body_spins(z: Array, zd: Array) -> Array:
    """Angular velocities in body axes from frames and their velocities; zero for points."""
    axes = frame_axes(z)
    size = np.maximum(np.einsum("nik,nik->n", axes, axes) / 3.0, 1e-300)[:, None]
    return axial(z, zd) / size


def report(
    system: System, rows: Rows, t: float, old: tuple[Array, ...], new: tuple[Array, ...], residuals: tuple[Array, ...],
    iterations: int,
) -> StartReport:  # fmt: skip
    """From old = (q, v) with the residuals of both levels to new, which is made of the same arrays if unchanged."""
    if new[0] is old[0] and new[1] is old[1]:
        return StartReport.unchanged(lambda: rows, *residuals)
    before, rate = rows.by_name(residuals[0]), rows.by_name(residuals[1])
    after = rows.by_name(system.constraints(new[0], t))
    after_rate = rows.by_name(system.constraint_velocity(new[0], new[1], t))
    return StartReport(True, iterations, *body_changes(system, old, new), before, after, rate, after_rate)


def failure(rows: Rows, g: Array, q: Array, held: bool, velocity: bool = False) -> AssemblyError:
    """The error for the remaining residual g at q: which elements miss their constraints, and what to do."""
    (name, miss), *others = rows.worst(g, "/s" if velocity else "")
    also = f"; also {', '.join(f'{n} {m}' for n, m in others[:SHOWN])}" if others else ""
    more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
    what, where, advice = "start", "nearest configuration", "lengths and points, or start closer to the assembled state"
    if velocity:
        what, where, advice = (
            "velocities",
            "closest velocities",
            "the velocities and drivers that contradict each other",
        )
    free = ", or hold less with fixed=" if held else ""
    error = AssemblyError(
        f"no consistent {what}: {name} misses by {miss} ({where} found){also}{more}. Check {advice}{free}."
    )
    error.misses, error.q = rows.by_name(g), q  # type: ignore[attr-defined]
    return error


def held_parts(system: System, fixed: Any) -> tuple[list[int], list[int]]:
    """Parts of coordinates and of velocities that are fixed: 2 i positions, 2 i + 1 rotations of node i."""
    if fixed is None:
        return [], []
    if isinstance(fixed, str | Body):
        fixed = [fixed]
    parts: tuple[list[int], list[int]] = ([], [])
    for key, wanted in fixed.items() if isinstance(fixed, Mapping) else [(key, True) for key in fixed]:
        body = key if isinstance(key, Body) else system.model[key]
        if not isinstance(body, Body):
            raise ModelError(f"fixed: {body} is no body; expected names of bodies")
        node: int = system.node_index(body)
        chosen = [wanted] if isinstance(wanted, str) else QUANTITIES if wanted is True else wanted or ()
        rigid = isinstance(body, RigidBody | Ground)
        for name in chosen:
            allowed = list(QUANTITIES)[:: 1 if rigid or wanted is True else 2]
            if name not in allowed:
                raise ModelError(f"fixed: {body}: unknown quantity {name!r}; expected True or some of {allowed}")
            level, rotation = divmod(QUANTITIES[name], 2)
            parts[level].append(2 * node + (1 if isinstance(body, Generalized) else rotation))
    return parts


def massless_shift(system: System, diagonal: Array) -> Array:
    """What to add to the diagonal of M where a body has no inertia about some axis, or none at all, so that M becomes
    definite."""
    shift, nodes = np.zeros(system.n_v), system.tables.nodes
    inertia = np.array([b.inertia if isinstance(b, RigidBody) else np.eye(3) for b in system.model.bodies])
    moments = np.linalg.eigvalsh(inertia)
    heaviest = float(nodes["mass"].max(initial=0.0)) or 1.0
    for i in np.flatnonzero(moments[:, 0] <= 1e-9 * moments[:, 2]):
        n = nodes[i + 1]
        mass = float(n.mass)
        if mass == 0.0:
            mass = heaviest
            shift[n.v0 : n.v0 + n.nx] = 1e-6 * mass
        shift[n.v0 + n.nx : n.v0 + n.nv] = 1e-6 * (moments[i, 2] or 1e-6 * mass * system.length**2)
    for i in np.flatnonzero(nodes["form"] == FORM_DIRECTORS):  # a flat plate has a director without inertia
        n = nodes[i]
        part = slice(n.v0 + n.nx, n.v0 + n.nv)
        if diagonal[part].min() < 1e-9 * diagonal[part].max():
            shift[part] = np.maximum(shift[part], 1e-6 * diagonal[part].max())
    for n in nodes[nodes["form"] == FORM_GENERALIZED]:
        shift[n.v0 : n.v0 + n.nv] = 1e-10 * (diagonal[n.v0 : n.v0 + n.nv].max() or 1.0)
    return shift


def carried_rates(system: System, q0: Array, q: Array, v: Array, part: Array) -> Array:
    """Velocities at corrected positions: angular velocities stay, so the rates of conventional coordinates follow."""
    nodes = system.tables.nodes
    changed = np.zeros(2 * len(nodes), dtype=bool)
    changed[part[q0 != q]] = True
    rated = np.isin(nodes["form"], (FORM_SPIN, FORM_QUATERNION, FORM_DIRECTORS)) & changed[1::2]
    if not rated.any():
        return v
    v = v.copy()
    spins = body_spins(system.frames(q0), system.frame_velocities(q0, v))
    z = system.frames(q)  # leaves the matrices of three-parameter nodes in work.spin
    for i in np.flatnonzero(rated):
        n, w = nodes[i], spins[i]
        target = slice(n.v0 + n.nx, n.v0 + n.nv)
        if n.kind == kinds.QUATERNION:
            e = q[n.q0 + n.nx : n.q0 + n.nq]
            v[target] = 0.5 * np.array((-e[1:] @ w, *(e[0] * w + hat(e[1:]) @ w)))
        elif n.kind == kinds.DIRECTORS:
            v[target] = (z[i, 3:].reshape(3, 3).T @ hat(w)).T.ravel()
        else:
            v[target] = np.linalg.solve(system.work.spin[i].reshape(3, 3), w)
    return v


def check_branches(system: System, q: Array, t: float = 0.0) -> None:
    """Axes that should agree must not be opposite: the equations of a joint also hold after a turn by 180 degrees."""
    joints, node_of = system.model.joints, system.assembly.node_of
    with in_force(system.values):  # parameters in functions of drivers are numbers
        pairs = [(j, a, b) for j, joint in enumerate(joints) for a, b in joint.orientation_conditions_at(t)]
    if not pairs:
        return
    axes = frame_axes(system.frames(q))
    a, b = np.array([(node_of[id(joints[j].body_a)], node_of[id(joints[j].body_b)]) for j, _, _ in pairs]).T
    axis_a = np.einsum("nk,nkx->nx", np.array([p[1] for p in pairs]), axes[a])
    axis_b = np.einsum("nk,nkx->nx", np.array([p[2] for p in pairs]), axes[b])
    wrong = np.flatnonzero(np.einsum("nx,nx->n", axis_a, axis_b) < 0.0)
    if not len(wrong):
        return
    named = list(dict.fromkeys(pairs[k][0] for k in wrong))
    joint = joints[named[0]]
    body = joint.body_a if isinstance(joint.body_b, Ground) else joint.body_b
    others = ", ".join(f"'{joints[j].name}'" for j in named[1 : 1 + SHOWN])
    also = f" (the same holds for {others}{' and more' if len(named) > 1 + SHOWN else ''})" if others else ""
    raise AssemblyError(
        f"wrong branch: joint '{joint.name}' holds, but with opposite axes: bodies '{joint.body_a.name}' and "
        f"'{joint.body_b.name}' are assembled turned by 180 degrees{also}. Change the initial rotation of body "
        f"'{body.name}' so that the axes of the joint point the same way within 90 degrees, or reverse one axis. "
        "[MBD-E20]"
    )
