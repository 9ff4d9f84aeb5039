"""Methods that are written for certain coordinates, on all others: stepped in theirs, recorded in those of the model.

A rigid body has one motion, whatever it is stored in. A run therefore lives in a *twin* of the system, in which bodies
that the method does not know are in coordinates that it knows; nothing is converted inside a step, and what a method
keeps from step to step (momenta, multipliers, earlier increments) stays what it is. Records, and the start, are
converted (``nodes.conversion``), models in joint coordinates by way of the poses of all bodies
(``system.tree_records``).

What records lose: the velocities of a rigid body are those with the momenta of the twin. Directors that stretch have
more kinetic energy than that (``Integrator.kinetic_energy``).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..nodes import Directors, Quaternion
from ..nodes.mass import frame_mass
from ..solvers.redundancy import regularise, trust
from ..system.system import System
from ..system.tables import FLAG_REDUNDANT
from .base import Array, Integrator, Invariant, Run, check_rows
from .checks import is_flat
from .conversion import Conversion
from .traits import bodies_of_form, has_form, moves_alike

if TYPE_CHECKING:
    from ..model import Model
    from ..results.solution import Solution

KINETIC = "kinetic energy"
"""First recorded variable of methods that keep the energy of velocities which records may lose; else empty."""
INNER = "inner_"  # in the names of a saved state: values of the run in the twin
ALL_FORMS = frozenset({"point", "lie", "spin", "quaternion", "directors", "generalized"})


def recorded_energy(solution: Solution) -> Array | None:
    """Kinetic energy at the records, where a method recorded it."""
    recorded = solution.scheme.recorded
    return recorded[KINETIC][:, 0] if KINETIC in recorded else None


class Converts(Integrator):
    """To be mixed into a method that is written for certain coordinates: it takes all others as well."""

    stepped_node: ClassVar[Any]
    """The node, as ``with_nodes`` takes it, on which rigid bodies are stepped that the method does not know."""
    known_forms: ClassVar[frozenset[str]]
    """Forms of rigid nodes that are stepped as they are."""
    flat_directors: ClassVar[bool] = True
    """Whether directors of flat bodies, whose mass matrix is singular, are among them."""

    def twin(self, system: System) -> System:
        """The system in the coordinates of the method; the system itself if these are its own."""
        flat = self._flat_names(system)
        if not self._leaves_joints(system) and not flat and not has_form(system, *self._unknown_forms):
            return system
        key = f"{sorted(self.known_forms)}, {self.stepped_node!r}, {self.joint_coordinates}, {flat}"
        twin = system.derive(key, lambda: System(self._twin_model(system)))
        if system.tables.flags[FLAG_REDUNDANT]:
            regularise(twin)
        else:
            trust(twin)  # an earlier run with other numbers may have left it regularised
        return twin

    def _leaves_joints(self, system: System) -> bool:
        """Whether a model in joint coordinates is stepped in those of its bodies."""
        return system.assembly.tree is not None and not self.joint_coordinates

    @property
    def _unknown_forms(self) -> frozenset[str]:
        return RIGID_FORMS - self.known_forms

    def _flat_names(self, system: System) -> list[str]:
        """Bodies in directors that the method steps in others, because they are flat."""
        if self.flat_directors or "directors" not in self.known_forms:
            return []
        return [body.name for body, n in bodies_of_form(system, "directors") if is_flat(n)]

    def _twin_model(self, system: System) -> Model:
        """The model in the coordinates of the method; in joint coordinates those of balls and of roots of trees."""
        model, tree = system.model, system.assembly.tree
        if self._leaves_joints(system):  # bodies keep nodes of their own that the method knows
            model = model.with_coordinates("absolute")
            system, tree = System(model), None
        turning = [body for body, _ in bodies_of_form(system, *self._unknown_forms)]
        carried = {id(edge.body) for edge in tree.carried} if tree is not None else set()
        names = [body.name for body in turning if id(body) not in carried] + self._flat_names(system)
        model = model.with_nodes(dict.fromkeys(names, self.stepped_node))
        if tree is None or model._choice is None:
            return model
        balls = self.stepped_node(lie=False)._blank()
        return model._with_choice(replace(model._choice, spherical=balls, free=balls))

    def converted_variables(self, conversion: Conversion, q: Array, v: Array, own: list[Array]) -> list[Array]:
        """Rows of the two recorded variables of the scheme, for rows of the twin."""
        if self.recorded[0] != KINETIC or not conversion.loses_energy:
            return own
        return [conversion.kinetic_energy(q, v)[:, None], own[1]]

    def kinetic_energy(self, solution: Solution) -> Array | None:
        return recorded_energy(solution)

    def steps_elsewhere(self, system: System) -> bool:
        """Whether steps are made in other coordinates than those of the system."""
        return self.twin(system) is not system

    def notes(self, system: System) -> list[str]:
        twin = self.twin(system)
        if twin is system:
            return super().notes(system)
        joints, moved = self._leaves_joints(system), []
        for body, n, m in zip(twin.model.bodies, system.tables.nodes[1:], twin.tables.nodes[1:], strict=True):
            if not moves_alike(n, m) or n.kind != m.kind:
                lie = "(lie=True)" if getattr(body.node, "lie", False) else ""
                moved.append((body.name, f"{body.node}{lie}"))
        names = ", ".join(f"'{name}'" for name, _ in moved[:NAMED])
        names += f" and {len(moved) - NAMED} others" if len(moved) > NAMED else ""
        kinds = " or ".join(dict.fromkeys(kind for _, kind in moved))
        own = "joint coordinates" if joints else "their own coordinates"
        return [f"{self.name} stepped {names} in {kinds}; they are recorded in {own}", *super().notes(system)]

    def check(self, system: System) -> None:
        super().check(self.twin(system))

    def preserves(self, system: System) -> frozenset[Invariant]:
        return self.kept_in_records(system, super().preserves(self.twin(system)))

    def kept_in_records(self, system: System, kept: Iterable[Invariant]) -> frozenset[Invariant]:
        """The invariants that records show: momenta and energy may be in velocities across joints.

        Joint coordinates have no such velocities.
        """
        kept = frozenset(kept)
        if system.assembly.tree is None or self.joint_coordinates or Invariant.VELOCITY_CONSTRAINTS in kept:
            return kept
        lost = {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM}
        return kept - (lost if self.recorded[0] == KINETIC else lost | {Invariant.ENERGY})

    def start(self, system: System, q: Array, v: Array, t: float, step: float, turns: Array | None) -> Any:
        twin = self.twin(system)
        if twin is system:
            return super().start(system, q, v, t, step, turns)  # type: ignore[safe-super]
        conversion = Conversion(system, twin)
        inner = super().start(twin, *conversion.inward(q, v), t, step, conversion.inward_turns(q, turns))  # type: ignore[safe-super]
        return ConvertedRun(self, conversion, inner, q, v)

    def resume(self, system: System, state: dict[str, Any]) -> Any:
        twin = self.twin(system)
        if twin is system:
            return super().resume(system, state)  # type: ignore[safe-super]
        inner = {name.removeprefix(INNER): value for name, value in state.items() if name.startswith(INNER)}
        run = super().resume(twin, inner)  # type: ignore[safe-super]
        return ConvertedRun(self, Conversion(system, twin), run, state["near"], None)


RIGID_FORMS = ALL_FORMS - {"point", "generalized"}
NAMED = 3  # bodies that a note names
BLOCK = 1 << 17  # numbers of records that are converted together


class StepsQuaternions(Converts):
    """A method that is written for unit quaternions, and takes directors."""

    stepped_node: ClassVar[Any] = Quaternion
    known_forms: ClassVar[frozenset[str]] = frozenset({"quaternion", "directors"})


class StepsDirectors(Converts):
    """A method that is written for directors."""

    stepped_node: ClassVar[Any] = Directors
    known_forms: ClassVar[frozenset[str]] = frozenset({"directors"})


class StepsLieNodes(Converts):
    """A method that is written for Lie nodes."""

    stepped_node: ClassVar[Any] = Quaternion(lie=True)
    known_forms: ClassVar[frozenset[str]] = frozenset({"lie"})


class ConvertedRun(Run):
    """A run in a twin, whose records are in the coordinates of the given system."""

    def __init__(self, method: Converts, conversion: Conversion, inner: Run, q: Array, v: Array | None) -> None:
        self.method, self.conversion, self.inner, self.system = method, conversion, inner, conversion.system
        self.near = np.array(q, dtype=float)  # coordinates of the last record
        self.first = None if v is None else (self.near.copy(), np.array(v, dtype=float))
        self.locked = ""  # body whose Euler angles are in gimbal lock
        self.buffers: Buffers | None = None

    @property
    def origin(self) -> float:  # type: ignore[override]
        """Time of step 0."""
        return self.inner.origin

    @property
    def step(self) -> float:  # type: ignore[override]
        """Step size."""
        return self.inner.step

    @property
    def index(self) -> int:  # type: ignore[override]
        """Steps done since the origin."""
        return self.inner.index

    @property
    def evaluated(self) -> System:
        return self.inner.evaluated

    @property
    def t(self) -> float:
        """Time of the state."""
        return self.inner.t

    def advance(self, count: int, every: int, out: list[Array]) -> int:
        """Steps and records in blocks that stay in the cache of the processor, each converted before the next one."""
        if self.buffers is None:
            self.buffers = Buffers(self)
        check_rows(out, self.buffers.row, (self.index + count) // every - self.index // every)
        start = self.index
        joints = self.conversion.joints
        if every > 1 and joints is not None and (joints.winds or joints.remembers):
            return self._follow(start, count, every, self.buffers, out)
        while self.index < start + count and not self.locked:
            row = self.index // every - start // every
            todo = min(start + count - self.index, self.buffers.size * every)
            if self._advance_block(todo, every, self.buffers, [y[row:] for y in out]) < todo:
                break
        return self.index - start

    def _follow(self, start: int, count: int, every: int, buffers: Buffers, out: list[Array]) -> int:
        """``advance`` with joint angles, which are read at every step, not only at records: a lost turn moves a nut."""
        block = self._read_block if self.conversion.joints.remembers else self._follow_block  # type: ignore[union-attr]
        while self.index < start + count and not self.locked:
            before, todo = self.index, min(start + count - self.index, buffers.size)
            row = before // every - start // every
            if block(todo, every, buffers, [y[row:] for y in out]) < todo:
                break
        return self.index - start

    def _read_block(self, count: int, every: int, buffers: Buffers, out: list[Array]) -> int:
        """Steps whose coordinates are all found in those of the system, one step after the other; some are recorded."""
        before, steps = self.index, buffers.every_step
        done = self._advance_block(count, 1, buffers, steps)
        first = every - 1 - before % every
        for y, x in zip(out, steps, strict=True):
            rows = x[first:done:every]
            y[: len(rows)] = rows
        return done

    def _follow_block(self, count: int, every: int, buffers: Buffers, out: list[Array]) -> int:
        """Steps of which only joint angles are followed; those that are recorded are converted."""
        assert self.conversion.joints is not None
        before, (q, v, *own, turns) = self.index, buffers.all_rows
        done = self.inner.advance(count, 1, [q, v, *own, turns])
        first = every - 1 - before % every
        some = [np.ascontiguousarray(x[first:done:every]) for x in (q, v, *own, turns)]
        made = len(some[0])
        if made:
            variables = self.method.converted_variables(self.conversion, some[0], some[1], some[2:-1])
            for y, x in zip(out[2:-1], variables, strict=True):
                y[:made] = x
            self.conversion.outward_turns(some[-1], out[-1][:made])
        rows = q[:done], v[:done], self.near, out[0][:made], out[1][:made]
        self.conversion.joints.outward_some(first, every, *rows)
        return done

    def _advance_block(self, count: int, every: int, buffers: Buffers, out: list[Array]) -> int:
        """So many steps, whose records go to the first rows of ``out``; what is not converted is written there."""
        before, saved = self.inner.index, self.inner.state() if self.conversion.may_lock else {}
        q, v, *own, turns = buffers.rows
        rows = [q, v, *(x if x is not None else y for x, y in zip(own, out[2:-1], strict=True)), turns]
        done = self.inner.advance(count, every, rows)  # type: ignore[arg-type]
        made = (before + done) // every - before // every
        bad, node = self._convert([row[:made] for row in rows], [y[:made] for y in out])  # type: ignore[index]
        if bad >= 0:  # go back to the last record that exists
            self.locked, made = self.system.model.bodies[node - 1].name, bad
            done = max(0, (before // every + bad) * every - before)
            self.inner = self.method.resume(self.conversion.twin, saved)
            self.inner.advance(done, every, rows)  # type: ignore[arg-type]
        if made:
            self.near = out[0][made - 1].copy()
        return done

    def _convert(self, rows: list[Array], out: list[Array]) -> tuple[int, int]:
        """Rows in the coordinates of the system; variables of the scheme remain those of the twin."""
        q, v, *own, turns = rows
        if not len(q):
            return -1, 0
        for y, x, values in zip(
            out[2:-1], own, self.method.converted_variables(self.conversion, q, v, own), strict=True
        ):
            if y is not x:
                y[:] = values
        self.conversion.outward_turns(turns, out[-1])
        return self.conversion.outward(q, v, self.near, *out[:2])

    def compose(self, weights: Array) -> None:
        self.inner.compose(weights)

    def act_anew(self) -> None:
        self.inner.act_anew()

    def begin_here(self, way: Iterable[AbstractContextManager[None]] = ()) -> list[Array]:
        passed, v = self.inner.begin_here(way), np.zeros(self.conversion.twin.n_v)
        out = np.zeros((len(passed), self.system.n_q)), np.zeros((len(passed), self.system.n_v))
        for k, q in enumerate(passed):  # angles of joints are followed on the way
            self.conversion.outward(q[None, :], v[None, :], self.near, *(x[k : k + 1] for x in out))
            self.near = out[0][k]
        return list(out[0])

    def row(self) -> list[Array]:
        return self._converted_row(self.inner.row())

    def _converted_row(self, row: list[Array]) -> list[Array]:
        system, rows = self.system, [y[None, :] for y in row]
        q, v, *variables, _ = rows
        own = self.method.converted_variables(self.conversion, q, v, variables)
        widths = system.n_q, system.n_v, *(y.shape[1] for y in own), system.work.turns.size
        out = [np.zeros((1, width)) for width in widths]
        self._convert(rows, out)
        return [y[0] for y in out]

    def initial_row(self) -> list[Array]:
        _, _, *own, turns = self._converted_row(self.inner.initial_row())
        assert self.first is not None
        return [*self.first, *own, turns]  # coordinates and velocities as they were given, not converted twice

    def failure(self) -> tuple[str, str]:
        return ("singularity", self.locked) if self.locked else self.inner.failure()

    def state(self) -> dict[str, Any]:
        row, inner = self.row(), self.inner.state()
        own = {"q": row[0], "v": row[1], "lam": self.conversion.multipliers(inner["lam"]), "turns": row[-1].copy()}
        common = {"origin": self.origin, "step": self.step, "index": self.index, "t": self.t, "near": self.near.copy()}
        return own | common | {INNER + name: value for name, value in inner.items()}

    def statistics(self) -> dict[str, Any]:
        return self.inner.statistics()


class Buffers:
    """Room for a block of records of the twin, without those that are the same in the records of the system."""

    def __init__(self, run: ConvertedRun) -> None:
        self.row = run.row()
        inner = run.inner.row()
        same = [
            len(x) == len(y) and 2 <= k < len(inner) - 1 for k, (x, y) in enumerate(zip(inner, self.row, strict=True))
        ]
        widths = [len(x) for x in inner]
        self.size = max(1, BLOCK // sum(width for width, alike in zip(widths, same, strict=True) if not alike))
        self.rows = [None if alike else np.zeros((self.size, n)) for n, alike in zip(widths, same, strict=True)]

    @cached_property
    def every_step(self) -> list[Array]:
        """Room for the same records of the system."""
        return [np.zeros((self.size, len(x))) for x in self.row]

    @cached_property
    def all_rows(self) -> list[Array]:
        """Room for all records of the twin."""
        return [np.zeros((self.size, len(y))) if x is None else x for x, y in zip(self.rows, self.row, strict=True)]


# --- a run within ------------------------------------------------------------------------------------------------


def stepped(run: Any) -> Any:
    """The run in the twin, or the run itself if it converts nothing."""
    return run.inner if isinstance(run, ConvertedRun) else run


def stepped_coordinates(run: Any, q: Array) -> Array:
    """Coordinates of a system near the present state of its run, as the run steps them."""
    if stepped(run) is run:
        return q
    return run.conversion.inward(q, np.zeros(run.system.n_v), run.inner.x.q)[0]  # type: ignore[no-any-return]


def recorded_velocities(run: Any, v: Array) -> Array:
    """Velocities that a run steps at its present coordinates, as its system has them."""
    if stepped(run) is run:
        return v
    return run.conversion.outward_row(run.inner.x.q, v, run.near)[1]  # type: ignore[no-any-return]


# --- what follows from records --------------------------------------------------------------------------------------


def stepped_records(solution: Solution) -> tuple[System, Array, Array]:
    """The system in whose coordinates a run was stepped, with coordinates and velocities there."""
    system, method = solution.system, solution.integrator
    twin = method.twin(system)
    if twin is system:
        return system, solution.q, solution.v
    return twin, *Conversion(system, twin).inward_rows(solution.q, solution.v)


def frame_momenta(system: System, v: Array) -> Array:
    """Momenta M v (n, n_v) of points, directors, and generalized coordinates whose mass matrix is constant."""
    p = np.zeros_like(v)
    for _, n in bodies_of_form(system, "generalized"):
        if n.mass_function >= 0:  # a mass matrix that depends on q: methods that take it record its momenta
            continue
        k = slice(n.v0, n.v0 + n.nv)
        p[:, k] = v[:, k] @ system.tables.constants[n.u0 : n.u0 + n.nv**2].reshape(n.nv, n.nv)
    for _, n in bodies_of_form(system, "point", "directors"):
        k = slice(n.v0, n.v0 + n.nv)
        p[:, k] = v[:, k] @ (frame_mass(n)[: n.nv, : n.nv] if n.nx else frame_mass(n)[3:, 3:])
    return p


def momenta(solution: Solution) -> Array:
    """Momenta M v at the records, in the coordinates in which the run was stepped."""
    system, _, v = stepped_records(solution)
    return frame_momenta(system, v)
