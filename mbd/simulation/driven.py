"""Fully driven models: their motion from the constraints alone, and the forces and torques that it takes.

Where drivers and joints leave nothing free, positions follow from g(q, t) = 0 by Newton's method, velocities from
B v = -g_t and accelerations from B v_dot = -gamma; masses and forces play no part (``kinematics``). The multipliers
then balance B^T lambda = f - M v_dot, and those of the drivers are what motors have to do (``inverse_dynamics``).

The position is followed in time by ``mbd.solvers.tracking``.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..compiled.interrupts import interruptible
from ..elements.suggestions import counted
from ..errors import IncompatibleError, MbdError, ModelError, SingularityError, check_number
from ..io.progress import Progress
from ..model import Model
from ..results.solution import Solution
from ..solvers.initial import consistent_start
from ..solvers.motions import free_motions
from ..solvers.rank import mobility
from ..solvers.redundancy import check_redundancy
from ..solvers.tracking import Track
from ..solvers.twins import lie_twin, twin_coordinates
from ..system.system import System, assemble
from .memory import check_room

Array = np.ndarray

SHOWN = 6  # free motions that a message lists
WHOLE = 1e-9  # relative deviation of a duration from whole steps that counts as round-off


@dataclass(frozen=True)
class Kinematics:
    """Stands in a solution where an integrator would: nothing was integrated."""

    step: float
    forces: bool = False

    @property
    def name(self) -> str:
        return "inverse dynamics" if self.forces else "kinematics"


def kinematics(
    model: Model, t_end: float, step: float, *, t_start: float = 0.0, progress: bool | None = None
) -> Solution:
    """The motion of a fully driven model: positions, velocities and accelerations from its constraints alone.

    ``step`` is the distance of the records (slightly smaller if the duration is no multiple); it has no influence on
    their accuracy. The solution has the same views as that of a simulation; reactions, which depend on masses and
    forces, are NaN (see ``inverse_dynamics``).

    ``ModelError`` if motions are left free (they are listed), ``SingularityError`` with the time where the drivers lead
    out of reach or where a record is a singular position, ``AssemblyError`` if constraints contradict each other. A
    singular position that is passed between two records gives a warning with its time: the motion continues smoothly.

    >>> model = mbd.Model()
    >>> node = mbd.nodes.Quaternion(position=(1, 0, 0))
    >>> arm = model.add(mbd.RigidBody("arm", mass=1.0, inertia=(1, 1, 1), node=node))
    >>> hinge = model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> motor = model.add(mbd.joints.AngleDriver.on(hinge, lambda t: 0.5 * t * t, name="motor"))
    >>> motion = mbd.kinematics(model, t_end=2.0, step=0.5)
    >>> motion["arm"].angular_velocity[:, 2].round(6).tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    return _analysis(model, t_end, step, t_start, progress, False)


def inverse_dynamics(
    model: Model, t_end: float, step: float, *, t_start: float = 0.0, progress: bool | None = None
) -> Solution:
    """The forces and torques that make a fully driven model move as its drivers prescribe.

    As ``kinematics``, and with all reactions: ``solution[motor].torque`` and ``.force`` of drivers are what they do on
    the second body, ``solution.power`` is what they put in. They are exact at every record, because nothing is
    integrated. Where constraints are redundant, reactions are those of minimum norm, and a warning names the joints; in
    joint coordinates the norm counts drivers and cut joints only, so that such reactions depend on the coordinates.

    >>> model = mbd.Model()
    >>> node = mbd.nodes.Quaternion(position=(1, 0, 0))
    >>> arm = model.add(mbd.RigidBody("arm", mass=2.0, inertia=(2, 2, 3), node=node))
    >>> hinge = model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    >>> motor = model.add(mbd.joints.AngleDriver.on(hinge, lambda t: 0.5 * t * t, name="motor"))
    >>> torque = mbd.inverse_dynamics(model, t_end=2.0, step=0.5)["motor"].torque
    >>> f"{torque[-1, 2]:.3f} N m"
    '5.000 N m'
    """
    return _analysis(model, t_end, step, t_start, progress, True)


@interruptible
def _analysis(model: Model, t_end: float, step: float, t_start: float, progress: bool | None, forces: bool) -> Solution:
    method = Kinematics(step, forces)
    if not isinstance(model, Model):
        raise ModelError(f"{method.name}: model is {model!r}; expected an mbd.Model")
    t_end, t_start = check_number(t_end, method.name, "t_end"), check_number(t_start, method.name, "t_start")
    step = check_number(step, method.name, "step", positive=True)
    if t_end < t_start:
        raise ModelError(f"{method.name}: t_end is {t_end}; expected a time after the start {t_start}")
    system = assemble(model)
    start = consistent_start(system, t=t_start)
    _check_driven(system, start.q, t_start, method.name)
    count = (t_end - t_start) / step
    steps = round(count) if abs(count - round(count)) <= WHOLE * max(1.0, count) else math.ceil(count)
    numbers = 1 + system.n_q + 2 * system.n_v + system.n_l + len(system.work.turns)
    check_room(steps + 1, numbers, method.name, f"take a larger step= (now {step:g} s)")
    times = np.linspace(t_start, t_end, steps + 1)
    clock = time.perf_counter()
    track = Track(system, start.q, t_start)
    if forces:
        check_redundancy(system, track.q, track.v, t_start)
    rows: list[list[Array]] = []
    with Progress(t_start, t_end, progress, method.name) as bar:
        for t in times.tolist():
            try:
                if t > t_start:
                    track.advance(t)
                lam = track.multipliers() if forces else np.full(system.n_l, np.nan)
            except MbdError as error:
                error.solution = _solution(system, times, rows, method, start.report, track, clock, str(error))
                raise
            rows.append([track.q, track.v, track.vd, lam, system.work.turns.copy()])
            bar.update(t)
    return _solution(system, times, rows, method, start.report, track, clock, "")


def _solution(
    system: System, times: Array, rows: list[list[Array]], method: Kinematics, report: Any, track: Track, clock: float,
    message: str,
) -> Solution:  # fmt: skip
    widths = (system.n_q, system.n_v, system.n_v, system.n_l, len(system.work.turns))
    q, v, vd, lam, turns = (np.array([row[k] for row in rows]).reshape(-1, n) for k, n in enumerate(widths))
    stats = {
        "steps": max(0, len(rows) - 1), "newton_iterations": track.iterations,
        "wall_time": time.perf_counter() - clock,
    }  # fmt: skip
    return Solution(
        system, times[: len(rows)], q, v, vd, lam, turns, integrator=method, stats=stats, start=report,
        complete=not message, message=message,
    )  # fmt: skip


def _check_driven(system: System, q: Array, t: float, name: str) -> None:
    """Refuse models in which something is left free, and say what."""
    rolling = {i for i, joint in enumerate(system.model.joints) if _is_rolling(joint)}
    if rolling:
        joint = system.model.joints[min(rolling)]
        raise IncompatibleError(
            f"{name}: {joint} restricts velocities only (rolling), so that positions do not follow from the "
            "constraints of the moment. Use mbd.simulate; its reactions contain the forces of drivers"
        )
    twin = assemble(lie_twin(system.model))
    found = mobility(twin, twin_coordinates(twin, system, q), t)
    equations = found.here
    free = equations.matrix.shape[1] - equations.rank
    if not free:
        return
    if equations.redundant and found.generic.rank == equations.matrix.shape[1]:
        raise SingularityError(
            f"{name}: the start t = {t:g} is a singular position of model '{system.model.name}', where its equations "
            "do not say how it moves on; start at another time or from another position", time=t,
        )  # fmt: skip
    motions = [str(motion) for motion in free_motions(equations)][:SHOWN]
    more = free - len(motions)
    listed = "; ".join(motions) + (f"; and {more} more" if motions and more else "")
    raise ModelError(
        f"{name}: model '{system.model.name}' is not fully driven: {counted(free, 'motion')} "
        f"{'is' if free == 1 else 'are'} left free{': ' if listed else ''}{listed}. Add {counted(free, 'driver')} "
        "(mbd.joints.AngleDriver, PositionDriver, DrivenFrame), or use mbd.simulate"
    )


def _is_rolling(joint: Any) -> bool:
    return any(getattr(primitive, "nonholonomic", ()) for primitive in joint.primitives())
