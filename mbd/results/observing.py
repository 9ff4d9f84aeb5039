"""What is computed from the records of a run: totals, functions of time, coordinates of springs, angles with turns.

Kernels of ``mbd.system.observe`` do it for all records at once, or, where inputs changed during the run, for those at
once between which none did. Angles and quaternions go on from record to record; a part of a run knows from the whole
one where it begins.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AccuracyWarning, Array, ModelWarning, read_only
from ..forces.kinds import TORSION_SPRING
from ..joints.instant import ANGLE
from ..model import Model
from ..nodes.forms import FORM_GENERALIZED
from ..system import observe
from ..system.system import System
from ..system.tables import FORCE
from .acting import ActingInputs
from .turns import going_on, turns_in_doubt, unwrapped

if TYPE_CHECKING:
    from .solution import Solution


class Observed:
    """The part of a solution that evaluates its records: numbers for views and channels, computed once and kept."""

    system: System
    model: Model
    integrator: Any
    t: Array
    q: Array
    v: Array
    turns: Array | None
    _vd: Array | None
    _lam: Array | None
    _acted: dict[str, Array]
    _followed: dict[str, Array]
    _begins_with: dict[str, Any]
    _whole: tuple[Solution, int] | None
    _work: Any
    _view_of: Callable[[Any], Any]

    def __len__(self) -> int:
        return int(self.t.size)

    def _own_work(self) -> Any:
        """Looking at a solution must not disturb what goes on: angles that are counted are a state."""
        system = self.system
        return system.work_with(turns=system.initial_turns()) if system.assembly.turns else system.work

    @property
    def vd(self) -> Array:
        """Accelerations (n, n_v) at the records."""
        self._complete()
        assert self._vd is not None
        return self._vd

    @property
    def lam(self) -> Array:
        """Multipliers (n, n_l) at the records: M v_dot = f - B^T lam."""
        self._complete()
        assert self._lam is not None
        return self._lam

    def _complete(self) -> None:
        """Accelerations and multipliers of the index-1 form, if the run has not recorded them."""
        if self._vd is not None and self._lam is not None:
            return
        system, n = self.system, len(self)
        vd, lam = np.zeros((n, system.n_v)), np.zeros((n, system.n_l))
        zero, consistent = np.zeros(max(system.n_v, system.n_l, 1)), np.zeros(system.n_v)
        values, turns = self._values, self._turns
        observe_accelerations, w = observe.observe_accelerations, self._work

        def complete(k: slice) -> None:
            state = self.t[k], self.q[k], self.v[k], values[k], turns[k]
            observe_accelerations(system.tables, w, *state, zero, consistent, vd[k], lam[k])

        self._evaluate(complete)
        system.raise_callback_errors()
        self._vd, self._lam = (vd if self._vd is None else self._vd), (lam if self._lam is None else self._lam)

    def _evaluate(self, call: Callable[[slice], Any], inputs: Mapping[str, Array] | None = None) -> None:
        """Call for all records: for those at once between which no input changed, with the inputs that acted there."""
        inputs = self._acted if inputs is None else inputs
        if inputs and len(self):
            ActingInputs(inputs).evaluate(self.system, call)
        else:
            call(slice(None))

    def settle(self) -> None:
        """Evaluate functions of users now, at the end of a run, with what they refer to now."""
        if not self.system.assembly.callbacks:
            return
        _ = self._values
        if self.has_own_energies or self._has_laws:
            self._complete()

    @property
    def has_own_energies(self) -> bool:
        """Whether functions of users may enter energies and reactions that are no functions of time (``_values``)."""
        tables = self.system.tables
        return bool((tables.frame_elements.function >= 0).any() or (tables.nodes.form == FORM_GENERALIZED).any())

    @cached_property
    def _totals(self) -> Array:
        return self._observed_totals(self._acted)

    @cached_property
    def _totals_after(self) -> Array:
        """Totals at the records with the inputs of the steps that begin there."""
        return self._observed_totals({name: np.append(x[1:], x[-1]) for name, x in self._acted.items()})

    def _observed_totals(self, inputs: Mapping[str, Array]) -> Array:
        own = self.integrator.kinetic_energy(self) if hasattr(self.integrator, "kinetic_energy") else None
        out = np.zeros((len(self), observe.TOTALS))
        tables, values, turns = self.system.tables, self._values, self._turns
        moving = self.system.assembly.n_values > 0 or bool((tables.frame_elements.rows > 0).any())
        # constraints that do not depend on time have no power, and their multipliers need not be known
        lam = self.lam if moving or self._lam is not None else np.zeros((len(self), self.system.n_l))

        def totals(k: slice) -> None:
            state = self.t[k], self.q[k], self.v[k], lam[k], values[k], turns[k]
            observe.observe_totals(tables, self._work, *state, out[k])

        self._evaluate(totals, inputs)
        self.system.raise_callback_errors()
        if own is not None:
            out[:, observe.KINETIC] = own
        return out

    @cached_property
    def _gravity(self) -> Array:
        """Acceleration of gravity that acted at the records (n, 3): an input may be part of it."""
        out = np.zeros((len(self), 3))
        self._evaluate(lambda k: np.copyto(out[k], self.system.tables.gravity))
        return out

    @cached_property
    def _values(self) -> Array:
        """Functions of time at the records."""
        out, tables, w = np.zeros((len(self), self._work.values.size)), self.system.tables, self._work
        self._evaluate(lambda k: observe.observe_values(tables, w, self.t[k], out[k]))
        if self._has_laws:
            turns = self._turns
            self._evaluate(lambda k: observe.observe_laws(tables, w, self.t[k], self.q[k], self.v[k], turns[k], out[k]))
        self.system.raise_callback_errors()
        return out

    def _counted(self, name: str, angle: Array, rate: Array, near: float, read: Callable[[Solution], Array]) -> Array:
        """An angle with its turns, the first one that nearest to ``near``; ``read`` reads it off another solution."""
        known = float(self._first_of(name, near, read))
        if np.isnan(known):
            warnings.warn(
                f"{self.model}: whole turns of '{name}' before t = {self.t[0]:.6g} are not known, because they were "
                "not recorded; its angle begins near zero. Record it as well: record=[...]",
                ModelWarning,
                stacklevel=5,
            )
        if turns_in_doubt(self.t, angle, rate):
            warnings.warn(
                f"{self.model}: the rate of '{name}' changes so much between records that its whole turns are not "
                "certain. Record more often (output_step=), use joint coordinates, or add a TorsionSpring of no "
                "stiffness, which counts turns at every step",
                AccuracyWarning,
                stacklevel=5,
            )
        near = near if np.isnan(known) else known
        self._followed[name] = counted = unwrapped(self.t, angle, rate, near)
        return counted

    def _signed(self, name: str, quaternions: Array, read: Callable[[Solution], Array]) -> Array:
        """Quaternions whose signs go on from record to record; ``read`` reads them off another solution."""
        if len(self):
            before = self._first_of(name, quaternions[0], read)
            if np.isnan(before).any():
                warnings.warn(
                    f"{self.model}: the sign of the quaternion of '{name}' before t = {self.t[0]:.6g} is not known, "
                    "because it was not recorded; it begins without a negative scalar part. Record it as well: "
                    "record=[...]",
                    ModelWarning,
                    stacklevel=4,
                )
            self._followed[name] = quaternions = going_on(quaternions, before)
        return quaternions

    def _first_of(self, name: str, otherwise: Any, read: Callable[[Solution], Array]) -> Any:
        """What goes on from record to record, at the first one: a part of a run knows it from the records before."""
        if name not in self._begins_with and self._whole is not None:
            whole, first = self._whole
            self._begins_with[name] = read(whole)[first]
        return self._begins_with.get(name, otherwise)

    @property
    def _has_laws(self) -> bool:
        """Whether functions of users see coordinates of joints."""
        return bool((self.system.tables.forces.call >= 0).any())

    @cached_property
    def _turns(self) -> Array:
        """Angles of torsion springs at the records, found again if the run has not recorded them."""
        if self.turns is not None and self.turns.shape[1] == self._work.turns.size:
            return self.turns
        near = self.system.initial_turns()
        out = np.zeros((len(self), near.size))
        table = self.system.tables.forces
        couplings = self.system.tables.couplings
        for p in (*table[table.kind == TORSION_SPRING], *couplings[couplings.kind == ANGLE]):
            markers = {key: [p[f"{key}{i}"] for i in (1, 2, 3)] for key in ("aa", "na", "nb")}
            views = self._frame_view(int(p.a)), self._frame_view(int(p.b))
            angle, rate = self._observe_coordinate(TORSION_SPRING, markers, *views)
            out[:, p.turn] = unwrapped(self.t, angle, rate, near[p.turn])
        return out

    def _observe_general(self, family: str, index: int, node: int) -> tuple[Array, Array]:
        """Applied frame forces on a node, energy and power of the frame elements of a joint or force."""
        f, out = np.zeros((len(self), 12)), np.zeros((len(self), observe.FORCE_COLUMNS))
        s = self.system.tables
        for i in np.flatnonzero((s.frame_elements.joint if family == "joint" else s.frame_elements.owner) == index):
            g = s.frame_elements[i]
            members = s.members[g.first : g.first + g.count].tolist()
            if node in members:
                self._evaluate(partial(self._general_at, int(i), members.index(node), f, out))
                self.system.raise_callback_errors()
        return f, out

    def _general_at(self, i: int, at: int, f: Array, out: Array, k: slice) -> None:
        records = self.t[k], self.q[k], self.v[k], self.lam[k], f[k], out[k]
        observe.observe_general(self.system.tables, self._work, i, at, *records)

    def _observe_coordinate(self, kind: int, markers: dict[str, Any], a: Any, b: Any) -> tuple[Array, Array]:
        """Coordinate and rate of a spring of this kind between two bodies; angles without turns."""
        nothing = np.zeros((len(self), 1))
        out = self._observe_force(table_of_spring(kind, markers), 0, a, b, nothing, nothing)[1]
        return read_only(out[:, observe.COORDINATE]), read_only(out[:, observe.RATE])

    def _frame_view(self, index: int) -> Any:
        """View of the body in a row of the node table."""
        return self._view_of(self.system.elements[0][index - 1] if index > 0 else self.model.ground)

    def _observe_force(self, table: Any, i: int, a: Any, b: Any, turns: Array, values: Array) -> tuple[Array, Array]:
        """Applied frame force on the second body and the columns of ``observe`` of one row of a table of forces."""
        f, out = np.zeros((len(self), 12)), np.zeros((len(self), observe.FORCE_COLUMNS))
        (za, zda), (zb, zdb) = a._motion, b._motion
        self._evaluate(
            lambda k: observe.observe_force(
                table, i, values[k], turns[k], za[k], zb[k], zda[k], zdb[k], self._work.f[0], f[k], out[k]
            )
        )
        return f, out


def table_of_spring(kind: int, markers: Mapping[str, Any]) -> Any:
    """A table of forces with a spring of this kind and no stiffness, to read its coordinate."""
    table = np.zeros(1, dtype=FORCE)
    table["kind"] = kind
    for name in ("function", "feed", "call", "dual"):
        table[name] = -1
    for key, vector in markers.items():
        for i in range(3):
            table[f"{key}{i + 1}"] = vector[i]
    return table.view(np.recarray)
