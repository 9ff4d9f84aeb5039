"""The present state of a run that is made step by step, read like a solution: ``sim["tip"].position``."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..compiled.bound import bound
from ..errors import Array, ModelError
from ..joints import Joint
from ..joints.rotor_hinge import RotorHinge
from ..joints.tree import free_motions
from ..results.acting import acting
from ..results.observing import table_of_spring
from ..results.solution import Solution, named_rows
from ..results.turns import whole_turns
from ..results.views import JointView
from ..system import observe
from ..system.body_views import PointView
from ..system.observe import frame_observer
from .gauges import COORDINATES, WOUND, Gauge, counter_of

if TYPE_CHECKING:
    from ..integrators.base import Run
    from ..system.system import System
    from .simulator import Simulator


FAR = 0.5 * math.pi  # rad: how far a joint may have turned unseen for its turns to be known
NEVER = -1, 0.0  # a step that no run makes


class Look(NamedTuple):
    """When an angle was last looked at, and what it was, with all turns."""

    step: int
    t: float
    angle: float
    rate: float


class Present(Solution):
    """A solution of one record that moves with its simulator; what was computed of a state is forgotten with it.

    Frames of bodies and coordinates of joints, which control loops ask for at every step, are observed by bound calls,
    whose arrays nobody else is given: what was read stays what it was.
    """

    def __init__(self, simulator: Simulator, row: list[Array]) -> None:
        self._simulator, self._row = simulator, [x[None, :].copy() for x in row]
        rows = named_rows(simulator.integrator, [x.copy() for x in self._row])
        super().__init__(simulator.system, np.zeros(1), **rows, integrator=simulator.integrator)
        self._looks: dict[str, Look] = {}
        self._signs: dict[str, tuple[int, float, Array]] = {}  # looks at quaternions: step, time, and what they were
        self._parts: dict[int, Solution] = {}  # of the records, since looks at quantities
        self._motions: dict[int, Any] = {}
        self._observed: set[int] = set()  # those that are of this state
        self._coordinates: dict[Any, Any] = {}
        self._gauges: dict[tuple[str, str], Gauge] = {}
        self._copied: tuple[int, float] = NEVER  # the state that gauges look at
        self._read: dict[tuple[str, str], tuple[float, float]] = {}  # and what they have read of it
        self._states = np.zeros_like(self.q), np.zeros_like(self.v)
        self._turned, self._wound = np.zeros(len(row[-1])), dict[str, int]()  # angles that elements count, by joint
        self._none = np.zeros((1, 1))
        self._fresh = dict(vars(self))  # before anything is computed
        self._fresh_views: dict[str, dict[str, Any]] = {}

    @property
    def inputs(self) -> dict[str, Array]:
        """Inputs by name (1,): those that act, not those that will act in the next step."""
        return {name: np.array([x]) for name, x in self._simulator._inputs_that_act.items()}

    def _evaluate(self, call: Callable[[slice], Any], inputs: Mapping[str, Array] | None = None) -> None:
        """With the inputs that act: what is set acts from the next step on, whatever was read before."""
        if self._simulator._values == self._simulator._acted:
            call(slice(None))
            return
        with acting(self.system, self._simulator._inputs_that_act):
            call(slice(None))

    def begin(self, t: float, row: list[Array], begins_with: dict[str, Any]) -> None:
        """Show the first state of a run: no angle has been looked at, but those before it may be known."""
        self._looks.clear()
        self._signs.clear()
        self._fresh["_begins_with"] = begins_with
        self._gauges.clear()
        self._fresh["_copied"] = NEVER
        self.move(t, row)

    def move(self, t: float, row: list[Array]) -> None:
        """Show another state."""
        fresh, views = self._fresh, self._fresh_views
        vars(self).clear()
        vars(self).update(fresh, _fresh=fresh, _fresh_views=views)
        for name, known in views.items():
            view = vars(self._views[name])
            view.clear()
            view.update(known)
        self._observed.clear()
        self._followed.clear()
        self._parts.clear()
        self._shared.clear()
        for own, x in zip(self._row, row, strict=True):
            own[0] = x
        q, v, third, fourth, turns = (x.copy() for x in self._row)
        self.t, self.q, self.v, self.turns = np.array([t]), q, v, turns
        if self._recorded:
            self._recorded = dict(zip(self._recorded, (third, fourth), strict=True))
        else:
            self._vd, self._lam = third, fourth

    def __getitem__(self, key: Any) -> Any:
        name = key if isinstance(key, str) else str(getattr(key, "name", key))
        view = self._views.get(name)
        return super().__getitem__(key) if view is None else self._at_present(view)

    def _view_of(self, element: Any) -> Any:
        view = self._views.get(element.name)
        if view is None:
            view = super()._view_of(element)
            if isinstance(view, JointView) and view._columns is not None:
                _ = view._motions  # neither changes with the state
            self._fresh_views[element.name] = dict(vars(view))
        return self._at_present(view)

    def _at_present(self, view: Any) -> Any:
        """A view whose motion, if it has one, is that of the present state; of a rotor it is not in the tree."""
        if isinstance(view, PointView) and "_motion" not in vars(view):
            if not any(view.index == rotor.node for rotor in self.system.rotors):
                vars(view)["_motion"] = self._motion_of(view.index)
        return view

    def _motion_of(self, index: int) -> tuple[Array, Array]:
        """Frame of a node and its velocity."""
        if index not in self._motions:
            z, zd, none = np.zeros((1, 12)), np.zeros((1, 12)), np.zeros((0, 12))
            observer, which = frame_observer(self.system, index)
            vd = np.zeros((0, self.system.n_v))
            q, v = self._row[:2]
            call = bound(observer, self.system.tables, self._work, which, q, v, vd, z, zd, none)
            self._motions[index] = call, z, zd
        call, z, zd = self._motions[index]
        z.fill(0.0)
        zd.fill(0.0)
        call()
        self._observed.add(index)
        return z.copy(), zd.copy()

    def _observe_coordinate(self, kind: int, markers: dict[str, Any], a: Any, b: Any) -> tuple[Array, Array]:
        key = kind, a.index, b.index, *(x.tobytes() for x in markers.values())
        (za, zda), (zb, zdb) = self._moving(a), self._moving(b)
        if key not in self._coordinates:
            table, none = table_of_spring(kind, markers), self._none
            f, out = np.zeros((1, 12)), np.zeros((1, observe.FORCE_COLUMNS))
            on_a = self._work.f[0]
            call = bound(observe.observe_force, table, 0, none, none, za, zb, zda, zdb, on_a, f, out)
            self._coordinates[key] = call, f, out
        call, f, out = self._coordinates[key]
        f.fill(0.0)
        call()
        return out[:, observe.COORDINATE].copy(), out[:, observe.RATE].copy()

    def _moving(self, view: Any) -> tuple[Array, Array]:
        """Frame and velocity of a body, in the arrays that calls are bound to."""
        _ = self[view.body]
        if view.index not in self._observed:  # the view itself was asked before
            self._motion_of(view.index)
        _, z, zd = self._motions[view.index]
        return z, zd

    def gauge(self, name: str, kind: str, run: Run) -> tuple[float, float] | None:
        """A coordinate of a joint and its rate at present.

        None of the first state of a run, and where this is no way to tell the turns of an angle: nobody has looked at
        it before, or some steps were not looked at.
        """
        step = run.index
        last = self._looks.get(name)
        if self._simulator.stopped is not None:  # between two steps
            return None
        if step == self._simulator._first_index or (kind == "angle" and (last is None or step - last.step > 1)):
            return None
        t, key = run.t, (name, kind)
        if self._copied != (step, t):
            row = self._simulator._row()
            self._states[0][0], self._states[1][0] = row[0], row[1]
            self._turned[:] = row[-1]
            self._read.clear()
            self._fresh["_copied"] = vars(self)["_copied"] = step, t
        gauge = self._gauges.get(key)
        if gauge is None or not gauge.holds:
            joint, of = self.model[name], "angle" if kind == WOUND else kind
            gauge = self._gauges[key] = Gauge(self.system, joint, COORDINATES[of], *self._states)
            self._wound[name] = counter_of(self.system, joint) if kind == WOUND else -1
        elif key in self._read:
            return self._read[key]
        value, rate = gauge.read()
        if kind == WOUND:
            value += _turns(float(self._turned[self._wound[name]]) - value)
        elif kind == "angle" and last is not None:
            value += _turns(last.angle + 0.5 * (last.rate + rate) * (t - last.t) - value)
            self._looks[name] = Look(step, t, value, rate)
        self._read[key] = value, rate
        return value, rate

    def _counted(self, name: str, angle: Array, rate: Array, near: float, read: Callable[[Solution], Array]) -> Array:
        """The angle with the turns since the start, which the records tell where several steps were not looked at."""
        step, t = self._simulator.index, float(self.t[0])
        last = self._looks.get(name)
        if last is None:
            near = self._begins_near(name, near)
        if not self._simulator._records and step - (last.step if last else self._simulator._first_index) > 1:
            near = self._told_by_two_looks(name, near, last, t, float(rate[0]))
        elif last is not None and step - last.step <= 1:
            near = last.angle + 0.5 * (last.rate + float(rate[0])) * (t - last.t)
        else:
            near = self._simulator._angle_told_by_records(name, near, last, t, self._row, read)
        counted = angle + whole_turns(near - angle)
        self._looks[name] = Look(step, t, float(counted[0]), float(rate[0]))
        return counted

    def _begins_near(self, name: str, near: float) -> float:
        """What an angle was at the first state of the run, roughly."""
        known = float(self._begins_with.get(name, near))
        if math.isnan(known):
            raise ModelError(
                f"{self.model}: the turns of {name} before t = {self._simulator._t_begin:.6g} are not known, because "
                "the run that left its state there did not know them; look at it more often, from the beginning on, "
                "or record it: record=[...]"
            )
        return known

    def _signed(self, name: str, quaternions: Array, read: Callable[[Solution], Array]) -> Array:
        """With the sign with which it goes on from the last look, or from the records since then."""
        simulator, t = self._simulator, float(self.t[0])
        step, first = simulator.index, (simulator._first_index, None, self._begins_with.get(name))
        last, since, before = self._signs.get(name, first)
        if step - last > 1:
            before = simulator._quaternion_told_by_records(name, before, since, t, self._row, read)
        if before is not None and quaternions[0] @ before < 0.0:
            quaternions = -quaternions
        self._signs[name] = step, t, quaternions[0]
        return quaternions

    def _told_by_two_looks(self, name: str, near: float, last: Look | None, t: float, rate: float) -> float:
        """Where an angle is expected if nothing is recorded: not known where a joint may have turned far unseen."""
        gap = t - (last.t if last is not None else self._simulator._t_begin)
        before = last.rate if last is not None else rate
        if 0.5 * (abs(before) + abs(rate)) * gap > FAR:
            raise ModelError(
                f"{self.model}: the turns of {name} in the last {gap:.4g} s are not known, because nothing is recorded "
                "and it may have turned far; look at it more often, from the beginning on, or record it: record=[...]"
            )
        return near if last is None else last.angle + 0.5 * (before + rate) * gap


class Now:
    """What an element does at present: the quantities of ``solution[element]``, without the axis of records."""

    __slots__ = ("_gauged", "_name", "_places", "_simulator")

    def __init__(
        self, simulator: Simulator, name: str, places: dict[str, tuple[int, int]], gauged: dict[str, tuple[str, int]]
    ) -> None:
        self._simulator, self._name, self._places, self._gauged = simulator, name, places, gauged

    def __getattr__(self, name: str) -> Any:
        with self._simulator._turn:
            if name in self._places:
                row = self._simulator._present_row()
                if row is not None:
                    part, place = self._places[name]
                    return float(row[part][place])
            elif name in self._gauged:
                now, (kind, which) = self._simulator._now, self._gauged[name]
                assert now is not None
                found = now.gauge(self._name, kind, self._simulator._run)
                if found is not None:
                    return found[which]
            value = getattr(self._simulator._at_present()[self._name], name)
            if isinstance(value, np.ndarray):
                return _only(value)
            if callable(value):
                return lambda *arguments: self._called(value, *arguments)
            return value

    def _called(self, method: Callable[..., Array], *arguments: Any) -> Any:
        with self._simulator._turn:
            return _only(method(*arguments))

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._simulator._at_present()[self._name]) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<{self._simulator.model[self._name]} at t = {self._simulator.t:.6g}>"


def _turns(angle: float) -> float:
    """``whole_turns`` of one number, in a tenth of the time."""
    count = angle / (2.0 * math.pi)
    return 2.0 * math.pi * math.copysign(round(count), count) if math.isfinite(count) else count


def places_of(system: System, element: Any) -> dict[str, tuple[int, int]]:
    """Quantities of an element that are coordinates or velocities of the system: which of them, and its place."""
    edge = system.carrier(element) if isinstance(element, Joint) else None
    if edge is None or edge.node is not None or isinstance(element, RotorHinge):
        return {}
    q, v = system.body_slices(edge.body)
    motions = free_motions(element) or ()
    found: dict[str, tuple[int, int]] = {}
    for name, kinds in (("angle", ("turn", "screw")), ("displacement", ("slide",))):
        k = next((k for k, motion in enumerate(motions) if motion in kinds), -1)
        if element.coordinate in (name, "both") and k >= 0:
            found |= {name: (0, q.start + k), f"{name}_rate": (1, v.start + k)}
    return found


def _only(value: Array) -> Any:
    """The value at the only record: a number, or an array of its own."""
    return float(value[0]) if value.ndim == 1 else value[0].copy()
