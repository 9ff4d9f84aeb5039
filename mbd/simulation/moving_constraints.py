"""Drivers that inputs move: what happens to a run when their motion jumps between two steps.

A jump of their velocities is imposed suddenly, as by an impact, and the method begins anew behind it: whoever begins a
step with velocities would be late by a step, or would carry the difference on (index 3). A jump of their positions has
no velocity that anybody could know: bodies are moved to the nearest positions, and a warning tells.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..compiled.functions.callbacks import Callback
from ..compiled.kinds import plain
from ..elements.making import record_of
from ..elements.values import Input, Parameter, parameters_in
from ..errors import ModelWarning
from ..integrators.base import Array, Run
from ..joints.instant import ROTATING
from ..joints.joint import Joint
from ..results.acting import acting
from ..results.run_state import in_state
from ..solvers.start_report import Rows
from ..system.system import System
from .continuing import MOVED

FAR = 0.2  # lengths of the model, rad: nearest positions of more are not certain to be those that are meant
LOOKS = 65  # on the way of a jump
DRIFT = 1e-4  # lengths of the model, rad: methods miss constraints by less, but not by more


class MovingConstraints:
    """The constraints of a system, as far as inputs, and what functions of users refer to, move them."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._inputs = {p.name for joint in system.model.joints for p in _parameters(joint) if isinstance(p, Input)}
        self._functions = _functions_of_constraints(system)
        self._has_plain = any(not callback.compiled for callback in self._functions.values())
        self.may_move = bool(self._inputs or self._functions)
        self._known: list[bytes] = []
        self._warned = False

    def begin(self) -> None:
        """A run begins here, with what functions refer to now."""
        self._known = self._signature()

    def functions_have_changed(self) -> bool:
        """Whether functions of constraints refer to something else than where the run began last."""
        return bool(self._functions) and self._signature() != self._known

    def _signature(self) -> list[bytes]:
        self.system.refresh_functions(self._functions)
        compiled = [callback for callback in self._functions.values() if callback.compiled]
        return [words for callback in compiled for words in callback.code.signature()]

    def _begin_here(self, run: Run, way: Iterable[AbstractContextManager[None]] = ()) -> None:
        run.begin_here(way)
        self.begin()

    def follow_functions(self, run: Run) -> bool:
        """Let a run begin anew where functions refer to something else than before; False if they do not."""
        if not self.functions_have_changed():
            return False
        q, v, *_, turns = run.row()
        missed, rows = np.abs(in_state(self.system, {"turns": turns}).constraints(q, run.t)), Rows(self.system)
        if not (missed / rows.scale).max(initial=0.0) > DRIFT:
            self._begin_here(run)
            return True
        self._begin_here(run, [nullcontext()])
        self._warn(rows, missed, run.t, "what its function refers to")
        return True

    def follow(self, run: Run, before: Mapping[str, float]) -> bool:
        """Let a run begin anew where inputs that constraints depend on have changed.

        False if none has, and what acts has still to be told to the run. Functions that are called as plain Python
        are asked, others are known by what they refer to.
        """
        before = {name: before[name] for name in self.system.inputs}
        changed = [name for name, value in before.items() if self.system.values[name] != value]
        has_changed = self.functions_have_changed() or not self._inputs.isdisjoint(changed)
        if not has_changed and not self._has_plain:
            return False
        q, v, *_, turns = run.row()
        own = in_state(self.system, {"turns": turns})
        with acting(self.system, before):
            *earlier, targets = self._asked(own, q, v, run.t)
        *now, aimed = self._asked(own, q, v, run.t)
        if not has_changed and all(np.array_equal(x, y) for x, y in zip(now, earlier, strict=True)):
            return False
        rows = Rows(self.system)
        moved = np.abs(now[0] - earlier[0])
        for row, x, y in zip(self._angles["l0"], aimed, targets, strict=True):
            moved[row] = abs(x - y)  # an equation of an angle has another root half a turn away
        if not (moved / rows.scale).max(initial=0.0) > MOVED:
            self._begin_here(run)
            return True
        self._begin_here(run, self._way(run, own, before))
        self._warn(rows, moved, run.t, f"input '{changed[0]}'" if changed else "what its function refers to")
        return True

    @property
    def _angles(self) -> Any:
        """Constraints of angles."""
        primitives = plain(self.system.tables.primitives)
        return primitives[primitives["kind"] == ROTATING]

    def _asked(self, own: System, q: Array, v: Array, t: float) -> tuple[Array, Array, Array]:
        """Defects of positions and velocities, and the angles that are asked for."""
        defects, angles = own.constraint_defects(q, v, t), self._angles
        is_driven = angles["function"] >= 0
        asked = angles["value"].copy()
        asked[is_driven] = own.work.values[angles["function"][is_driven]]
        return *defects, asked

    def _way(self, run: Run, own: System, before: Mapping[str, float]) -> Iterator[AbstractContextManager[None]]:
        """Inputs on the way of a jump, lest it ends in other positions that fit, or in other turns."""
        q, *_ = run.row()
        now = {name: self.system.values[name] for name in before}

        def between(share: float) -> dict[str, float]:
            return {name: value + share * (now[name] - value) for name, value in before.items()}

        way = []
        for share in np.linspace(0.0, 1.0, LOOKS):
            with acting(self.system, between(share)):
                way.append(own.constraints(q, run.t))
        far = np.abs(np.diff(way, axis=0)).sum(axis=0) / Rows(self.system).scale
        pieces = max(1, math.ceil(far.max() / FAR))
        return (acting(self.system, now if k == pieces else between(k / pieces)) for k in range(1, pieces + 1))

    def _warn(self, rows: Rows, moved: Array, t: float, reason: str) -> None:
        if self._warned:
            return
        self._warned, worst = True, int((moved / rows.scale).argmax())
        joint, size = rows.names[rows.owner[worst]], moved[worst]
        warnings.warn(
            f"Simulator: {joint} jumps by {size:.3g} at t = {t:.6g}, because {reason} has changed: bodies are "
            "moved there within no time, without a velocity that others could feel. Where it is a motion, give a "
            "function that goes on from where it is, such as lambda t: x + speed * (t - begin) with three inputs, or "
            "move the joint with a PDControl",
            ModelWarning,
            stacklevel=5,
        )


def _parameters(joint: Joint) -> set[Parameter]:
    record = record_of(joint)
    return parameters_in(record.given) if record is not None else set()


def _functions_of_constraints(system: System) -> dict[int, Callback]:
    """Functions of users that say what joints ask for, by their numbers."""
    tables, callbacks = system.tables, system.assembly.callbacks
    drivers = np.concatenate([plain(x)["function"] for x in (tables.primitives, tables.couplings)])
    timed = np.isin(plain(tables.functions)["offset"], drivers[drivers >= 0])
    own = plain(tables.frame_elements)
    called = own[own["joint"] >= 0][["function", "complex_function"]].tolist()
    numbers = {*np.flatnonzero(timed).tolist(), *(k for row in called for k in row if k >= 0)}
    return {k: callbacks[k] for k in sorted(numbers)}
