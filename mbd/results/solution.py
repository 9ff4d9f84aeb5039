"""Solution: the records of a run, and everything that can be read off them.

A solution stores times, coordinates, velocities, accelerations and multipliers. Positions, energies, reactions ... are
computed when they are asked for, element by element, and kept; so are accelerations and multipliers of methods whose
own ones are not values at the records. Arrays have the records along their first axis and
are read-only.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..bodies import Body, Generalized, PointMass
from ..elements.arguments import FilePath, Numbers
from ..elements.frame_kinds import USER_CONSTRAINT, USER_FORCE, USER_POTENTIAL
from ..elements.settling import Late
from ..errors import AccuracyWarning, Array, MbdError, ModelError, ModelWarning, read_only
from ..forces import ForceElement
from ..forces.kinds import TORSION_SPRING
from ..joints import Joint
from ..joints.instant import ANGLE
from ..model import Element, Model
from ..nodes.forms import FORM_GENERALIZED
from ..system import observe
from ..system.body_views import BodyView, GeneralizedView, PointView
from ..system.system import System
from ..system.tables import FORCE
from .acting import ActingInputs
from .channels import Channel
from .drawn import Drawn
from .scheme import Scheme
from .tabular import Tabular
from .turns import angles_with_turns, going_on, turns_in_doubt, unwrapped
from .views import ForceView, JointView

if TYPE_CHECKING:
    from ..elements.values import Parameter
    from ..integrators.base import Integrator
    from ..simulation.driven import Kinematics
    from ..solvers.start_report import StartReport
    from .events import Occurrence
    from .sensitivity import Sensitivities, Sensitivity

USER_KINDS = (USER_FORCE, USER_POTENTIAL, USER_CONSTRAINT)


class Energy(NamedTuple):
    """Energies of the whole system, (n,) each."""

    kinetic: Array
    potential: Array
    total: Array


class Momentum(NamedTuple):
    """Momenta of all bodies, (n, 3) each, world axes; the angular one about the origin."""

    linear: Array
    angular: Array


class ConstraintError(NamedTuple):
    """Largest violation of any constraint, (n,) each."""

    position: Array
    velocity: Array


def _plain_numbers(values: Any) -> Array:
    """Kernels are compiled for contiguous, writable arrays of numbers; anything else would be compiled again."""
    if type(values) is np.ndarray and values.dtype == np.float64 and values.flags.carray:
        return values
    return np.require(values, dtype=float, requirements=("C", "W"))


class Solution(Drawn, Tabular):
    """The result of a simulation.

    Attributes: ``system``, ``model``, ``integrator``, ``t`` (n,), coordinates ``q``, velocities ``v``, physical
    accelerations ``vd``, multipliers ``lam`` (M v_dot = f - B^T lam), ``turns`` (angles of torsion springs), ``stats``,
    ``start`` (report of the consistent start), ``state`` (everything for a bit-identical restart), ``complete`` and
    ``message`` (why it stopped), ``events`` (those that happened, see ``mbd.Event``), ``inputs`` (those of the
    model by name, (n,) each; at a record those of the step that ended there).

    Where ``vd`` and ``lam`` are None, they are those of the index-1 form at the records. ``recorded`` are variables of
    the scheme that were recorded (``scheme``).
    """

    def __init__(
        self, system: System, t: Numbers, q: Numbers, v: Numbers, vd: Numbers | None, lam: Numbers | None,
        turns: Numbers | None = None, integrator: Integrator | Kinematics | None = None,
        stats: Mapping[str, Any] | None = None, start: StartReport | None = None,
        state: Mapping[str, Any] | Late | None = None, complete: bool = True, message: str = "",
        recorded: Mapping[str, Numbers] | None = None, inputs: Mapping[str, Numbers] | None = None,
    ) -> None:  # fmt: skip
        self.system = system
        self.model: Model = system.model
        self.t = _plain_numbers(t).reshape(-1)
        self.q = self._records(q, system.n_q, "q")
        self.v = self._records(v, system.n_v, "v")
        self._vd = None if vd is None else self._records(vd, system.n_v, "vd")
        self._lam = None if lam is None else self._records(lam, system.n_l, "lam")
        self.turns = None if turns is None else self._records(turns, np.shape(turns)[-1], "turns")
        self.integrator: Any = integrator
        self.start = start
        self.stats = dict(stats or {})
        self._state: dict[str, Any] | Late
        self.state = state or {}  # type: ignore[assignment]
        self.complete, self.message = bool(complete), message
        self.events: list[Occurrence] = []
        self.sensitivities: Sensitivities | None = None  # of a run that was asked for them
        self._own_channels: dict[str, Channel] = {}
        self._recorded = {
            name: self._records(x, np.shape(x)[-1], f"scheme[{name!r}]") for name, x in (recorded or {}).items()
        }
        self._acted: dict[str, Array] = {  # inputs that a Simulator recorded
            name: read_only(np.array(x, dtype=float).reshape(len(self))) for name, x in (inputs or {}).items()
        }
        self._views: dict[str, Any] = {}
        self._shared: dict[str, Array] = {}  # what several views look at together
        # of a part of a run: angles at its first record, with all turns, and quaternions, whose signs go on
        self._begins_with: dict[str, Any] = {}
        self._whole: tuple[Solution, int] | None = None  # which knows them, and where the part begins
        self._followed: dict[str, Array] = {}  # those that someone asked for
        self._work = self._own_work()

    def _own_work(self) -> Any:
        """Looking at a solution must not disturb what goes on: angles that are counted are a state."""
        system = self.system
        return system.work_with(turns=system.initial_turns()) if system.assembly.turns else system.work

    def __getstate__(self) -> dict[str, Any]:
        """For copies and other processes: the records, and what was computed with functions of users."""
        if self.system.assembly.callbacks:
            with suppress(MbdError):  # one that failed in the run
                _ = self._totals
        self._leave_whole()
        left = ("_work", "_views", "_shared", "scheme", "_whole")
        return {name: x for name, x in vars(self).items() if name not in left}

    def _leave_whole(self) -> None:
        """Angles of a part of a run go on without the records before, which are not sent along, nor saved."""
        if self._begin()[1] is not None and len(self):
            with suppress(MbdError):  # of a model that was changed after the run
                self._begins_with.update(angles_with_turns(self, 0))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._views, self._shared, self._whole = {}, {}, None
        self._work = self._own_work()

    @property
    def inputs(self) -> dict[str, Array]:
        """Inputs by name (n,), at a record those of the step that ended there; those of ``simulate`` are constant."""
        constant = {name: x for name, x in self.system.inputs.items() if name not in self._acted}
        return self._acted | {name: read_only(np.full(len(self), x)) for name, x in constant.items()}

    def _records(self, values: Any, width: int, name: str) -> Array:
        array = _plain_numbers(values)
        if array.shape != (len(self), width):
            raise ModelError(f"solution: {name} has shape {array.shape}; expected {(len(self), width)}")
        return array

    @property
    def state(self) -> dict[str, Any]:
        """Everything for a restart that goes on bit for bit (``simulate(..., start=solution)``)."""
        late = self._state
        if isinstance(late, Late):
            self._state = known = dict(late.value)
            return known
        return late

    @state.setter
    def state(self, state: Mapping[str, Any] | Late) -> None:
        self._state = state if isinstance(state, Late) else dict(state)

    @property
    def _numbers_of_state(self) -> Mapping[str, Any]:
        """Numbers of the method in the state, at once."""
        return self._state.known if isinstance(self._state, Late) else self._state

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
        tables = self.system.tables
        general = np.isin(tables.frame_elements.kind, USER_KINDS).any() or (tables.nodes.form == FORM_GENERALIZED).any()
        if general or self._has_laws:
            self._complete()

    def rows(self) -> list[Array]:
        """The records as the integrator gave them: (q, v, vd, lam, turns), or with variables of its scheme."""
        names = getattr(self.integrator, "recorded", ())
        missing = [name for name in names if name not in self._recorded]
        if missing:
            raise ModelError(f"{self!r} does not hold the {missing[0]!r} that a run of this method records")
        middle = [self._recorded[name] for name in names] if names else [self.vd, self.lam]
        turns = np.zeros((len(self), self._work.turns.size)) if self.turns is None else self.turns
        return [self.q, self.v, *middle, turns]

    @cached_property
    def scheme(self) -> Scheme:
        """Variables of the method itself by their names in the literature; see ``mbd.results.scheme.Scheme``."""
        return Scheme(self, self._recorded)

    def __len__(self) -> int:
        return int(self.t.size)

    __iter__ = None  # there are records, and there are elements

    def __contains__(self, key: object) -> bool:
        """Whether there is an element of this name."""
        return str(getattr(key, "name", key)) in self.model

    def __getitem__(self, key: Element | str) -> Any:
        """The motion of a body, the reactions of a joint, or what a force did; by object or by name."""
        name = str(getattr(key, "name", key))
        if name not in self.model and name in self.channels:
            raise ModelError(f"{self.model}: {name!r} is a channel; read it with solution.channel({name!r}) [MBD-E15]")
        element = self.model[name]
        family = next(base for base in (Body, Joint, ForceElement) if isinstance(element, base))
        if not isinstance(key, str | family):
            raise ModelError(f"{key} does not belong to {self.model}, where '{element.name}' is {element!r}")
        if element.name not in self._views:
            self._check_order()
            if element is not self.model.ground and not any(element in family for family in self.system.elements):
                raise ModelError(f"{element} was added to {self.model} after this run")
        return self._view_of(element)

    def _view_of(self, element: Any) -> Any:
        """The same of an element of the run."""
        if element.name not in self._views:
            self._views[element.name] = self._view(element)
        return self._views[element.name]

    def _check_order(self) -> None:
        """Refuse a model whose elements are not where they were: its numbers would be those of others."""
        model = self.model
        lists: list[list[Any]] = [model.bodies, model.joints, model.forces]
        for then, now in zip(self.system.elements, lists, strict=True):
            if now[: len(then)] != list(then):
                lost = next((x for x, y in zip(then, [*now, *then], strict=False) if x is not y), then[-1])
                raise ModelError(
                    f"{model} was changed after this run: {lost} was removed or has another place. Read the results "
                    "before, or change a copy: model.copy()"
                )

    def _view(self, element: Any) -> Any:
        if isinstance(element, Joint):
            return JointView(self, element)
        if isinstance(element, ForceElement):
            return ForceView(self, element)
        if isinstance(element, Generalized):
            return GeneralizedView(self, element)
        view = PointView if isinstance(element, PointMass) else BodyView
        return view(self, element, self.system.node_index(element))

    @property
    def notes(self) -> list[str]:
        """How the run was made, where that is not plain: coordinates in which the method stepped bodies."""
        return list(self.integrator.notes(self.system)) if hasattr(self.integrator, "notes") else []

    def part(self, records: slice | int) -> Solution:
        """Some of the records, or one of them, as a solution; its state is that of the end of the run only if the last
        one is there."""
        if isinstance(records, slice):
            records = _checked_slice(records)
        elif not isinstance(records, int | np.integer) or isinstance(records, bool):
            raise ModelError(f"part: records are {str(records)[:80]!r}; expected a number, or slice(first, end, every)")
        elif not -len(self) <= records < len(self):
            raise IndexError(f"part: there is no record {records}; {self!r}")
        else:
            k = range(len(self))[records]
            records = slice(k, k + 1)
        rows = [np.ascontiguousarray(x[records]) for x in self.rows()]
        part = Solution(
            self.system, self.t[records], **named_rows(self.integrator, rows), integrator=self.integrator,
            stats=self.stats, start=self.start, complete=self.complete, message=self.message,
            inputs={name: x[records] for name, x in self._acted.items()},
        )  # fmt: skip
        if self._vd is not None and self._lam is not None:  # also those that were found from the records
            part._vd, part._lam = (np.ascontiguousarray(x[records]) for x in (self._vd, self._lam))
        part.state = self._state if len(part) and part.t[-1] == self.t[-1] else {}
        kept = range(len(self))[records]
        if kept:
            part._begins_with, part._whole = ({}, (self, kept[0])) if kept[0] else self._begin()
        return part

    def _begin(self) -> tuple[dict[str, Any], tuple[Solution, int] | None]:
        """Who knows what goes on at the first record, for a part that begins there."""
        return dict(self._begins_with), self._whole

    def sensitivity(self, parameter: str | Parameter) -> Sensitivity:
        """How this solution of ``simulate(..., sensitivities=[...])`` changes with a parameter; read as itself."""
        if self.sensitivities is None:
            raise ModelError(
                "this solution has no sensitivities; expected one of mbd.simulate(..., sensitivities=[...]), which are "
                "not part of files and of parts of a solution"
            )
        return self.sensitivities[parameter]

    def frames(self, index: int) -> Array:
        """Frames (r, d1, d2, d3) of all bodies at one record, the ground first: (bodies + 1, 12)."""
        return self.system.frames(self.q[index])

    # --- the whole system -----------------------------------------------------------------------------------------

    @property
    def energy(self) -> Energy:
        """Energies: ``kinetic``, ``potential`` (gravity, springs, generalized bodies) and their sum ``total``."""
        kinetic, potential = self._totals[:, observe.KINETIC], self._totals[:, observe.POTENTIAL]
        return Energy(read_only(kinetic), read_only(potential), read_only(kinetic + potential))

    @property
    def momentum(self) -> Momentum:
        """Momenta of all bodies with a frame: ``linear``, and ``angular`` about the origin."""
        a, b = observe.LINEAR, observe.ANGULAR
        return Momentum(read_only(self._totals[:, a : a + 3]), read_only(self._totals[:, b : b + 3]))

    @property
    def constraint_error(self) -> ConstraintError:
        """Largest violation of the constraints, ``position`` and ``velocity``."""
        columns = self._totals[:, observe.POSITION_ERROR], self._totals[:, observe.VELOCITY_ERROR]
        return ConstraintError(read_only(columns[0]), read_only(columns[1]))

    @property
    def power(self) -> Array:
        """Power of dampers, loads and driven joints (n,): the rate of the total energy."""
        return read_only(self._totals[:, observe.POWER])

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
    def _values(self) -> Array:
        """Functions of time at the records."""
        out, tables, w = np.zeros((len(self), self._work.values.size)), self.system.tables, self._work
        self._evaluate(lambda k: observe.observe_values(tables, w, self.t[k], out[k]))
        if self._has_laws:
            turns = self._turns
            self._evaluate(lambda k: observe.observe_laws(tables, w, self.t[k], self.q[k], self.v[k], turns[k], out[k]))
        self.system.raise_callback_errors()
        return out

    @cached_property
    def _gravity(self) -> Array:
        """The gravity that acted at the records (n, 3); the model may have another one by now."""
        out = np.zeros((len(self), 3))

        def read(k: slice) -> None:
            out[k] = self.system.tables.gravity

        self._evaluate(read)
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

    # --- text and files -------------------------------------------------------------------------------------------

    def save(self, path: FilePath) -> None:
        """Write everything to one file, to be read by ``mbd.load``."""
        from ..io.archive import save

        save(self, path)

    def summary(self) -> str:
        """A few lines about the run."""
        from .balance import energy_balance

        total, error, balance = self.energy.total, self.constraint_error, energy_balance(self)
        numbers = ", ".join(
            f"{key} {x if isinstance(x, int) else f'{x:.4g}'}{' s' * (key == 'wall_time')}"
            for key, x in self.stats.items()
            if isinstance(x, int | float)
        )
        if not len(self):
            return repr(self)[1:-1]
        lines = [
            repr(self)[1:-1],
            f"integrator: {self.integrator!r}",
            *([f"counters: {numbers}"] if numbers else []),
            f"energy: {total[0]:.6g} at the start, {total[-1]:.6g} at the end, range {np.ptp(total):.3g}",
            *([str(balance)] if balance is not None else []),
            f"constraint error: position {error.position.max():.3g}, velocity {error.velocity.max():.3g}",
        ]
        return "\n".join([*lines, self.message] if self.message else lines)

    def __str__(self) -> str:
        """A few lines with counters, time, energy balance and constraint errors: ``print(solution)``."""
        return self.summary()

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:.6g} ... {self.t[-1]:.6g}, " if len(self) else ""
        stopped = "" if self.complete else ", stopped early"
        return f"<Solution of {self.model}: {span}{len(self)} records, {type(self.integrator).__name__}{stopped}>"


def _checked_slice(records: slice) -> slice:
    """A slice of whole numbers that goes forwards, as time does."""
    numbers = records.start, records.stop, records.step
    whole = all(x is None or (isinstance(x, int | np.integer) and not isinstance(x, bool)) for x in numbers)
    if not whole or (records.step is not None and records.step < 1):
        raise ModelError(f"part: records are {records}; expected whole numbers, and a step of 1 or more")
    return records


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


def named_rows(integrator: Any, rows: list[Array]) -> dict[str, Any]:
    """The records of a run, as ``Run.row`` has them, as arguments of a solution."""
    q, v, third, fourth, turns = rows
    names = getattr(integrator, "recorded", ())
    if not names:
        return {"q": q, "v": v, "vd": third, "lam": fourth, "turns": turns}
    own = dict(zip(names, (third, fourth), strict=True))
    return {"q": q, "v": v, "vd": None, "lam": None, "turns": turns, "recorded": own}
