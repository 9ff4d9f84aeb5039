"""Drivers that inputs move: what happens to a run when their motion jumps between two steps.

A jump of their velocities is imposed suddenly, as by an impact, and the method begins anew behind it: whoever begins a
step with velocities would be late by a step, or would carry the difference on (index 3). A jump of their positions has
no velocity that anybody could know: bodies are moved to the nearest positions, and a warning tells.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

import numpy as np

from ..elements.making import record_of
from ..elements.values import Input, Parameter, parameters_in
from ..errors import ModelWarning
from ..integrators.base import Run
from ..joints.joint import Joint
from ..joints.primitive_data import FrameRows
from ..results.acting import acting
from ..results.run_state import in_state
from ..solvers.start_report import Rows
from ..system.system import System
from .continuing import MOVED

FAR = 0.2  # lengths of the model, rad: nearest positions of more are not certain to be those that are meant
LOOKS = 65  # on the way of a jump
JUMP = 1e-13  # of the rates of constraints: less is round-off


class MovingConstraints:
    """The constraints of a system, as far as inputs move them."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.has_functions = any(map(_has_functions, system.model.joints))
        self._inputs = {p.name for joint in system.model.joints for p in _parameters(joint) if isinstance(p, Input)}
        self._warned = False

    def follow(self, run: Run, before: Mapping[str, float]) -> bool:
        """Let a run begin anew where constraints ask for something else than with the values before.

        False if they do not, and what acts has still to be told to it.
        """
        if not self.has_functions and not self._inputs:
            return False
        before = {name: before[name] for name in self.system.inputs}
        changed = [name for name, value in before.items() if self.system.values[name] != value]
        if not self.has_functions and self._inputs.isdisjoint(changed):
            return False
        q, v, *_, turns = run.row()
        own = in_state(self.system, {"turns": turns})
        now = own.constraint_defects(q, v, run.t)
        with acting(self.system, before):
            earlier = own.constraint_defects(q, v, run.t)
        rows = Rows(self.system)
        moved, jump = (np.abs(x - y) / rows.scale for x, y in zip(now, earlier, strict=True))
        scale = max(np.abs(x / rows.scale).max(initial=0.0) for x in (now[1], earlier[1]))
        has_moved = bool(moved.max(initial=0.0) > MOVED)
        if not has_moved and not jump.max(initial=0.0) > JUMP * scale:
            return False
        if has_moved and not self._warned:
            worst = int(moved.argmax())
            self._warn(rows.names[rows.owner[worst]], float(abs(now[0] - earlier[0])[worst]), run.t, changed[0])
        if has_moved:
            self._lead(run, own, before)
        run.begin_here(has_moved)
        return True

    def _lead(self, run: Run, own: System, before: Mapping[str, float]) -> None:
        """Positions on the way to a far jump, lest it ends in another one that fits, or in other turns."""
        q, v, *_ = run.row()
        now = {name: self.system.values[name] for name in before}

        def between(share: float) -> dict[str, float]:
            return {name: value + share * (now[name] - value) for name, value in before.items()}

        way = []
        for share in np.linspace(0.0, 1.0, LOOKS):
            with acting(self.system, between(share)):
                way.append(own.constraints(q, run.t))
        far = np.abs(np.diff(way, axis=0)).sum(axis=0) / Rows(self.system).scale
        pieces = math.ceil(far.max() / FAR)
        for k in range(1, pieces):
            with acting(self.system, between(k / pieces)):
                run.begin_here(True)

    def _warn(self, joint: str, size: float, t: float, name: str) -> None:
        self._warned = True
        warnings.warn(
            f"Simulator: {joint} jumps by {size:.3g} at t = {t:.6g}, because input '{name}' has changed: bodies are "
            "moved there within no time, without a velocity that others could feel. Where it is a motion, give a "
            "function that goes on from where it is, such as lambda t: x + speed * (t - begin) with three inputs, or "
            "move the joint with a PDControl",
            ModelWarning,
            stacklevel=5,
        )


def _parameters(joint: Joint) -> set[Parameter]:
    record = record_of(joint)
    return parameters_in(record.given) if record is not None else set()


def _has_functions(joint: Joint) -> bool:
    """Whether functions of users say what a joint asks for."""
    for p in joint.primitives():
        motion = getattr(p, "motion", None)
        if (motion is not None and motion.function is not None) or (
            isinstance(p, FrameRows) and p.function is not None
        ):
            return True
    return False
