"""Systems on both sides of parameters, from which sensitivities take what they difference."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..elements.arguments import Held
from ..errors import ModelError
from ..integrators.base import Array, Integrator
from ..integrators.followed import SIZE, Beside
from ..joints.frames import normals_kept
from ..nodes.continued import in_nearest_coordinates
from ..system.handles import ParameterHandle
from ..system.snapshots import Snapshots
from ..system.system import System
from .kinks import BETWEEN, Numbers, Places, distances
from .starting import found_start

FAR = 2.0**24  # of the parameter: what it would change if it were larger
LOST = 1e-4  # round-off of the differences, relative to them, from which on they are refused
WIDE = 2.0**10  # times the size: where numbers without a slope change out of proportion
JITTER = 4.0  # times the round-off of a number: what so large a parameter does not change more is not changed at all
EPS = float(np.finfo(float).eps)
FINER = 2.0**-4  # from one size of a steep parameter to the next
FINEST = 16.0  # times what is between a parameter and the next number: less is not tried
TELLING = 1e-3  # of the largest change: of smaller ones round-off does not matter


class Starts:
    """How a method begins on systems beside each other, with one run that is begun again and again."""

    def __init__(
        self, integrator: Integrator, reads: tuple[str, ...], t: float, step: float, fixed: Held | None
    ) -> None:
        self.integrator, self.reads, self.t, self.step, self.fixed = integrator, reads, t, step, fixed
        self._run: Any = None

    def on(self, system: System, at: System, near: Array, found: tuple[Array, Array] | None = None) -> Beside:
        """The start on a system, beside the coordinates ``near``; ``found`` is what it starts from.

        ``at`` has its numbers now, and its elements.
        """
        q, v = found or in_nearest_coordinates(at.tables.nodes, *found_start(at, self.t, self.fixed)[:2], near)
        run = self._begun(at, q, v)
        x = {name: getattr(run.x, name).copy() for name in self.reads}
        return Beside(system, q, v, x, partial(self._start, system, q, v))

    def _begun(self, system: System, q: Array, v: Array) -> Any:
        if self._run is None or self._run.system is not system:
            self._run = self._start(system, q, v)
        else:
            system.reset_work(self._run.work)
            self._run.begin(q, v, None)
        return self._run

    def _start(self, system: System, q: Array, v: Array) -> Any:
        return self.integrator.start(system, q, v, self.t, self.step, None)


class _Start:
    """A system where its run begins: its numbers there, and what finds them beside it."""

    def __init__(self, starts: Starts, own: System, system: System, q: Array, v: Array) -> None:
        self.starts, self.q, self.own = starts, q, own
        self.snapshots, state = Snapshots(own, system), own.initial_state()
        self.given = (q, v) if np.array_equal(q, state[0]) and np.array_equal(v, state[1]) else None
        self.here, self.kinks = np.concatenate([self.snapshots.numbers(), *state]), Numbers(self.snapshots)
        self._state, self.middle = state, self.kinks.now(self.here)

    def state(self) -> Array:
        """Accelerations and multipliers at the start with the present numbers."""
        return _state(self.starts.on(self.own, self.own, self.q))

    def seen(self) -> tuple[Array, bool]:
        """All numbers, and whether those of the start are as they were."""
        alike = self.snapshots.start_alike()
        state = self._state if alike else self.own.initial_state()
        return np.concatenate([self.snapshots.numbers(), *state]), alike


class Neighbours:
    """A system with each of some parameters a little larger, and a little smaller.

    One system goes through all of these values and back again, the given one where its elements are its own, and its
    tables are kept at each of them (``Snapshots``): to assemble two systems for each parameter would take longer than
    a short run. Where tables are not all that changes, that is what is done. Those from which results are read are
    assembled when somebody asks.
    """

    def __init__(self, system: System, names: list[str]) -> None:
        self.system, self.names, self.own = system, names, ParameterHandle(system, names, lent=True)
        self._normals = normals_kept(self.own.system.model.joints)
        self.values = [_number(name, self.own.values[name]) for name in names]
        sizes = np.array([SIZE * abs(x) if x != 0.0 else SIZE for x in self.values])
        self.sizes: Array = 2.0 ** np.round(np.log2(sizes))  # x + size and x - size are exact
        self.moving = [False] * len(names)  # whether any number of the system changes
        self._kept: list[tuple[System, System] | None] = [None] * len(names)
        self._back: dict[str, Any] = {}  # own values that are set together with the next one: one call in place of two

    def _set(self, name: str, x: float) -> None:
        """A parameter at this value, and all others at their own ones."""
        with self._normals:
            self.own.set(self._back | {name: x})
        self._back = {}

    def _set_beside(self, name: str, x: float, value: float) -> None:
        """A parameter at a value beside its own one, x; where the model refuses it, the error says why it is needed."""
        try:
            self._set(name, value)
        except ModelError as error:
            raise ModelError(
                f"sensitivities: {name} = {x:g} is at the end of what the model takes, and a derivative needs both "
                f"sides of it. Give another value, or leave {name} out. With {value:.9g} it is refused: {error}"
            ) from error

    def sides(self, starts: Starts, q: Array, v: Array) -> list[tuple[Beside, Beside]]:
        """The starts on both sides of each parameter, beside (q, v)."""
        found, start = [], _Start(starts, self.own.system, self.system, q, v)
        for i, (name, x) in enumerate(zip(self.names, self.values, strict=True)):
            stored = self.own.stored([name])
            if stored and self._back:  # an attribute, which may be made of the parameter before it
                self.own.set(self._back)
                stored, self._back = self.own.stored([name]), {}
            far = self._far(name, x, start.seen)
            both, near = self._suited(i, start)
            self.moving[i] = bool(near.any())
            self._back = {name: x}
            if far is not None:
                self._refuse_lost_digits(name, x, float(self.sizes[i]), start, near, far)
            if stored:  # ... or of the next one
                self.own.put_back(stored, [name])
                self._back = {}
            found.append((both[0], both[1]))
        self.own.set(self._back)
        self._back = {}
        return found

    def _suited(self, i: int, start: _Start) -> tuple[list[Beside], Array]:
        """The starts on both sides of a parameter, and by how much numbers of the system change.

        A parameter on which numbers depend steeply is moved less: as little as it takes until a slope is all that they
        have. Those without a slope, which are flat there, are left as they are.
        """
        widest, finest = float(self.sizes[i]), FINEST * np.spacing(max(abs(self.values[i]), self.sizes[i]))
        sides, first = self._pair(i, start)
        last, suspects, tried, flat = first, start.kinks.uneven(first), [], np.zeros(0, dtype=int)
        while True:
            suspects, size = start.kinks.uneven(last, suspects), float(self.sizes[i])
            tried.append((size, suspects))
            judged = suspects if size * FINER < finest else start.kinks.lost(last, suspects)
            whose = start.kinks.jumped(first, last, judged, size / widest)
            if whose is not None:
                self._refuse_jump(whose, i)
            flat, suspects = np.union1d(flat, judged), np.setdiff1d(suspects, judged)
            if not len(suspects):
                break
            self.sizes[i] = size * FINER
            sides, last = self._pair(i, start, len(first.here) > len(start.middle))
        enough = next(size for size, left in tried if np.isin(left, flat).all())
        if enough == size:
            return sides
        self.sizes[i] = enough
        return self._pair(i, start)[0]

    def _pair(
        self, i: int, start: _Start, closely: bool | None = None
    ) -> tuple[tuple[list[Beside], Array], Places]:  # fmt: skip
        """The same for the present size, and numbers at places beside the parameter.

        ``closely``: with accelerations; None: where numbers change so much that these may bend although they do not.
        """
        name, x, e, own = self.names[i], self.values[i], float(self.sizes[i]), self.own.system
        near, both, beside = np.zeros(len(start.here)), [], []
        self._kept[i] = None
        for side, value in enumerate((x + e, x - e)):
            self._set_beside(name, x, value)
            numbers, alike = start.seen()
            beside.append(start.kinks.now(numbers, alike))
            near = np.maximum(near, distances(numbers, start.here))
            if self._kept[i] is None and not (own.has_snapshots and start.snapshots.functions_alike()):
                self._kept[i] = systems_beside(own, name, x, e)
            kept = self._kept[i]
            one, at = (start.snapshots.take(), own) if kept is None else (kept[side], kept[side])
            both.append(start.starts.on(one, at, start.q, start.given if alike and kept is None else None))
        self._set(name, x + BETWEEN * e)
        places = Places(start.middle, beside[0], beside[1], start.kinks.now())
        if start.kinks.far(places) if closely is None else closely:
            between = start.state()
            self._set(name, x)
            places = Places(*map(np.append, places, (start.state(), *map(_state, both), between)))
        self._back = {name: x}
        return (both, near), places

    def _refuse_jump(self, whose: str, i: int) -> None:
        self.own.set(self._back)
        name, x = self.names[i], self.values[i]
        raise ModelError(
            f"sensitivities: {whose} has no derivative with respect to {name} at {x:g}, where one of its numbers "
            f"jumps or has a kink, as abs(x), maximum(x, ...) and floor(x) have them, or bends within "
            f"{self.sizes[i]:.1g} of it. Give another value, a smooth expression, or leave {name} out"
        )

    def _far(self, name: str, x: float, seen: Callable[[], tuple[Array, bool]]) -> Array | None:
        """Numbers of the system with a parameter that is much larger, or with its own value if that is refused."""
        if x == 0.0:
            return None
        try:
            self._set(name, x + FAR * x)
        except (ModelError, ArithmeticError, ValueError):  # a value that the model, or an expression, does not take
            self._set(name, x)  # with the own value of the parameter before it
            return seen()[0]
        self._back = {name: x}
        return seen()[0]

    def _refuse_lost_digits(
        self, name: str, x: float, e: float, start: _Start, near: Array, far: Array
    ) -> None:  # fmt: skip
        """Refuse a parameter that is tiny against what it is added to: differences of the sum would be round-off.

        What the differences do not change at all, but a much larger value of the parameter would a little, has lost all
        digits; where that changes more, as it does in a sine, the differences would have seen it.
        """
        here = start.here
        change = distances(far, here)
        if change.any():  # and the larger value was not refused
            still = change <= JITTER * EPS * np.abs(here)  # as a direction has it of which the parameter is the length
            change, near = np.where(still, 0.0, change), np.where(still, 0.0, near)
        unseen = (near == 0.0) & (change > TELLING * change.max(initial=0.0))
        unseen &= change < 8.0 * EPS * abs(FAR * x) / e * np.abs(here)
        with np.errstate(divide="ignore", invalid="ignore"):
            seen = np.where(near > TELLING * near.max(initial=0.0), EPS * np.abs(here) / near, 0.0)
            lost = np.where(unseen, EPS * np.abs(here) / (change * (e / abs(FAR * x))), seen)
        if lost.max(initial=0.0) > LOST:
            noise = float(np.where(self._stationary(name, x, e, start, near), 0.0, lost).max())
            if noise > LOST:
                self.own.set(self._back)
                raise ModelError(
                    f"sensitivities: {name} = {x:.3g} is so small against what it is added to that its differences "
                    f"there are known to {noise:.0e} only. Give zero in its place, or another parameter"
                )

    def _stationary(self, name: str, x: float, e: float, start: _Start, near: Array) -> Array:
        """Which numbers hardly change because they have no slope there: farther away they change out of proportion."""
        try:
            self._set(name, x + WIDE * e)
        except (ModelError, ArithmeticError, ValueError):
            return np.zeros(len(near), dtype=bool)
        wide, self._back = distances(start.seen()[0], start.here), {name: x}
        return np.asarray(wide > 4.0 * WIDE * (near + EPS * np.abs(start.here)))

    def systems(self, i: int) -> Callable[[], tuple[System, System]]:
        """Systems on both sides of a parameter with their elements, when they are asked for."""
        kept = self._kept[i]
        if kept is not None:
            return partial(_these, *kept)  # which can be pickled
        return partial(systems_beside, self.own.system, self.names[i], self.values[i], self.sizes[i])


def _state(one: Beside) -> Array:
    return np.concatenate([np.zeros(0), *map(np.ravel, one.x.values())])


def _these(plus: System, minus: System) -> tuple[System, System]:
    return plus, minus


def systems_beside(system: System, name: str, x: float, e: float) -> tuple[System, System]:
    """Two systems of their own, at x + e and x - e."""
    plus, minus = system.parameters([name]), system.parameters([name])
    for one, value in ((plus, x + e), (minus, x - e)):
        with normals_kept(one.system.model.joints):
            one.set({name: value})
    return plus.system, minus.system


def _number(name: str, x: Any) -> float:
    if np.ndim(x) != 0:
        raise ModelError(
            f"sensitivities: {name} is {x}; expected a single number. Give its components names as parameters"
        )
    return float(x)
