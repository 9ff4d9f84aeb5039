"""Solution: the records of a run, and everything that can be read off them.

A solution stores times, coordinates, velocities, accelerations and multipliers. Positions, energies, reactions ... are
computed when they are asked for, element by element, and kept; so are accelerations and multipliers of methods whose
own ones are not values at the records. Arrays have the records along their first axis and
are read-only.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..bodies import Body, Generalized, PointMass
from ..elements.arguments import FilePath, Numbers
from ..elements.settling import Late
from ..elements.suggestions import counted
from ..errors import Array, MbdError, ModelError, read_only
from ..forces import ForceElement
from ..joints import Joint
from ..model import Element, Model
from ..system import observe
from ..system.body_views import BodyView, GeneralizedView, PointView
from ..system.system import System
from .channels import Channel
from .drawn import Drawn
from .observing import Observed
from .scheme import Scheme
from .tabular import Tabular
from .turns import turns_and_signs_at
from .views import ForceView, JointView

if TYPE_CHECKING:
    from ..elements.values import Parameter
    from ..integrators.base import Integrator
    from ..simulation.driven import Kinematics
    from ..solvers.start_report import StartReport
    from .events import Occurrence
    from .sensitivity import Sensitivities, Sensitivity


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


class Solution(Observed, Drawn, Tabular):
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
        self.sensitivities: Sensitivities | None = None  # where the run was asked for them
        self._own_channels: dict[str, Channel] = {}
        self._recorded = {
            name: self._records(x, np.shape(x)[-1], f"scheme[{name!r}]") for name, x in (recorded or {}).items()
        }
        self._acted: dict[str, Array] = {  # inputs that a Simulator recorded
            name: read_only(np.array(x, dtype=float).reshape(len(self))) for name, x in (inputs or {}).items()
        }
        self._views: dict[str, Any] = {}
        self._shared: dict[str, Array] = {}  # what several views look at together
        # For a part of a run, what its first record alone does not tell: angles with all turns, quaternions with signs.
        self._begins_with: dict[str, Any] = {}
        self._whole: tuple[Solution, int] | None = None  # the whole run, which tells them, and where the part begins
        self._followed: dict[str, Array] = {}  # angles and quaternions that someone asked for, at all records
        self._work = self._own_work()

    def __getstate__(self) -> dict[str, Any]:
        """For copies and other processes: the records, and what was computed with functions of users."""
        if self.system.assembly.callbacks:
            with suppress(MbdError):  # one that failed in the run
                _ = self._totals
        self._leave_whole()
        left = ("_work", "_views", "_shared", "scheme", "_whole")
        return {name: x for name, x in vars(self).items() if name not in left}

    def _leave_whole(self) -> None:
        """What goes on in a part of a run does so without the records before, which are not sent along, nor saved."""
        whole = self._begin()[1]
        if whole is not None and len(self):
            with suppress(MbdError):  # of a model that was changed after the run
                self._begins_with = turns_and_signs_at(*whole) | self._begins_with

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
        method, stopped = type(self.integrator).__name__, "" if self.complete else ", stopped early"
        return f"<Solution of {self.model}: {span}{counted(len(self), 'record')}, {method}{stopped}>"


def _checked_slice(records: slice) -> slice:
    """A slice of whole numbers that goes forwards, as time does."""
    numbers = records.start, records.stop, records.step
    whole = all(x is None or (isinstance(x, int | np.integer) and not isinstance(x, bool)) for x in numbers)
    if not whole or (records.step is not None and records.step < 1):
        raise ModelError(f"part: records are {records}; expected whole numbers, and a step of 1 or more")
    return records


def named_rows(integrator: Any, rows: list[Array]) -> dict[str, Any]:
    """The records of a run, as ``Run.row`` has them, as arguments of a solution."""
    q, v, third, fourth, turns = rows
    names = getattr(integrator, "recorded", ())
    if not names:
        return {"q": q, "v": v, "vd": third, "lam": fourth, "turns": turns}
    own = dict(zip(names, (third, fourth), strict=True))
    return {"q": q, "v": v, "vd": None, "lam": None, "turns": turns, "recorded": own}
