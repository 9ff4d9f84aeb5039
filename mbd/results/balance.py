"""Whether the numbers of a finished run agree with each other: energy, velocities and constraints, turns per step.

Energy changes by work only: E(t) - E(0) is the integral of ``solution.power``. What is left of it says how far a run is
off, whatever the method. It is judged beside the *energy in play*, the largest kinetic energy plus the range of the
potential one plus the work that was exchanged, so that neither the zero of the potential nor the units matter. Work is
a sum over records; what the sum with every other record differs by says how good it is. Records that are farther apart
than steps say nothing about the work of loads between them, and of that of dampers only that it is never positive.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..bodies import RigidBody
from ..compiled.kinds import plain
from ..elements.frame_kinds import HOLDING, LAW_SPRING, USER_FORCE
from ..errors import AccuracyWarning, MbdError
from ..integrators.alpha.methods import GeneralizedAlpha
from ..integrators.alpha.run_away import AWAY, AWAY_IN_A_STEP
from ..integrators.base import Integrator, Trait, missing_trait
from ..integrators.runge_kutta.methods import RungeKutta
from ..nodes.forms import FORM_JOINT, FORM_LIE
from ..system import observe
from .energy_sums import FOUND, energy_sums

if TYPE_CHECKING:
    from .solution import Solution

Array = np.ndarray

EITHER_SIGN = (USER_FORCE, LAW_SPRING, HOLDING)  # frame elements whose work may be positive
GROSS = 0.1  # of the energy in play: what a run may gain or lose without a reason before a warning says so
QUADRATURE = 3.0  # the work may be wrong by so many times the difference of two sums that approximate it
QUARTER_TURN = 0.5 * math.pi  # per step: more is too far for methods that approximate rotations
STEADY = 0.01  # rad by which the axis of a rotation may turn in a step that its exponential takes for steady ...
STEADY_AXIS = 0.1  # ... and in the whole run: gyroscopic forces add up
LEFT_OUT = 0.05  # of the steps may do without their velocity constraints; more are no single events
INVISIBLE = 1e-9  # of energies, and of the size of the model: smaller motions are those of a structure at rest
SAMPLES = 200  # records at which a run is looked at when it ends, and at all of them only if these look wrong


class Balance(NamedTuple):
    """The energy balance of a run.

    change: E - E(0) at the end; work: of dampers, loads and drivers up to there; defect: largest |E - E(0) - work| of
    the run, with its sign, beyond what the sum for the work may be wrong by; scale: the energy in play; time: when the
    defect became larger than a tenth of the energy in play, or None.
    """

    change: float
    work: float
    defect: float
    scale: float
    time: float | None

    @property
    def relative(self) -> float:
        """The defect beside the energy in play."""
        return self.defect / self.scale if self.scale > 0.0 else 0.0

    def __str__(self) -> str:
        return (
            f"energy balance: change {self.change:.4g}, work {self.work:.4g}, largest defect {self.defect:.2g} "
            f"({100.0 * abs(self.relative):.2g} % of the energy in play)"
        )


def energy_balance(solution: Solution, samples: int | None = None) -> Balance | None:
    """The balance of a run, or None where records are too few or too far apart to tell, or the work is not known
    because nobody computed reactions (``mbd.kinematics``).

    ``samples``: look at about so many records only, as if nothing happened between them.
    """
    n = len(solution)
    if n < 2:
        return None
    system, sparse = solution.system, _sparse(solution)
    # constraints of the user may depend on time
    own_rows = len(system.tables.frame_elements) > 0 and bool((system.tables.frame_elements.rows > 0).any())
    jumps = any(np.ptp(x) > 0.0 for x in solution._acted.values())
    timed = own_rows or jumps or missing_trait(system, Trait.AUTONOMOUS) is not None
    between = sparse and missing_trait(system, Trait.CONSERVATIVE) is not None
    if (timed and sparse) or (between and _loaded(solution)):
        return None
    chosen = _chosen(n, samples if samples is not None and not jumps else n)
    totals = _totals(solution, chosen, timed)
    if totals is None:
        return None
    if samples is not None:
        solution._shared["totals"] = totals  # for the other looks at the end of a run
    t = solution.t if len(chosen) == n else solution.t[chosen]
    after, given = np.ascontiguousarray(totals[:, observe.POWER]), np.zeros(1)
    if jumps:  # of inputs; what springs and weights store then is given to the system, or taken from it, at once
        later = solution._totals_after
        after = np.ascontiguousarray(later[:, observe.POWER])
        given = np.append(0.0, np.cumsum(later[:-1, observe.POTENTIAL] - totals[:-1, observe.POTENTIAL]))
        totals = totals.copy()
        totals[:, observe.POTENTIAL] -= given
    mass, length, found = float(plain(system.tables.nodes)["mass"].sum()), system.length, np.zeros(FOUND)
    weight = mass * math.hypot(*system.tables.gravity.tolist()) * length
    inertia = mass * (INVISIBLE * length) ** 2
    energy_sums(t, after, totals, int(between), QUADRATURE, GROSS, INVISIBLE, weight, inertia, found)
    change, work, defect, scale, late = found.tolist()
    last = float(given[-1])
    if math.isnan(work):
        return None
    return Balance(change + last, work + last, defect, scale, float(t[int(late)]) if late >= 0.0 else None)


def _chosen(n: int, samples: int) -> Array:
    """About so many of n records, evenly, with the first and the last one."""
    if n <= samples:
        return np.arange(n)
    stride = -(-n // samples)
    chosen = np.arange(0, n - 1 + stride, stride)
    chosen[-1] = n - 1
    return chosen


def _sparse(solution: Solution) -> bool:
    """Whether there are steps between the records."""
    adaptive = getattr(solution.integrator, "adaptive", False)
    step = 0.0 if adaptive else float(solution._numbers_of_state.get("step", 0.0))
    if step > 0.0:
        return bool((solution.t[1:] - solution.t[:-1]).max() > 1.5 * step)
    return float(solution.stats.get("steps", math.inf)) > 1.2 * len(solution)  # nobody knows: as between records


def _loaded(solution: Solution) -> bool:
    """Whether something acts whose work may have either sign."""
    forces = solution.system.elements[2]
    loads = any(row.is_load for force in forces for row in force.rows())
    return loads or any(row.kind in EITHER_SIGN for force in forces for row in force.general())


def _totals(solution: Solution, chosen: Array, driven: bool) -> Array | None:
    """Totals at chosen records; None if a function of the user fails that was called in the run."""
    try:
        if solution._acted:
            return np.ascontiguousarray(solution._totals[chosen])
        t, q, v, turns = solution.t, solution.q, solution.v, solution._turns
        n, work, tables = len(chosen), solution._work, solution.system.tables
        # only constraints that depend on time do work, and only then their multipliers matter
        lam = solution.lam if driven else np.zeros((0, solution.system.n_l))
        out, values = np.zeros((n, observe.TOTALS)), np.zeros((n, len(work.values)))
        if solution.system.assembly.n_values:
            observe.observe_values(tables, work, t[chosen], values)
        if len(tables.forces) and (tables.forces.call >= 0).any():
            observe.observe_laws(tables, work, t[chosen], q[chosen], v[chosen], turns[chosen], values)
        observe.observe_balance(tables, work, chosen, t, q, v, lam, values, turns, out)
        solution.system.raise_callback_errors()
        return out
    except (MbdError, ArithmeticError, ValueError, TypeError):
        return None


def warn_of_gross_errors(solution: Solution, step: float, stacklevel: int) -> None:
    """Warn if a run came to its end with numbers that cannot be right."""
    text = _gross_error(solution, step)
    if text:
        warnings.warn(text, AccuracyWarning, stacklevel=stacklevel + 1)


def _gross_error(solution: Solution, step: float) -> str:
    """A sentence on the first number that cannot be right; empty if there is none."""
    method, how = solution.integrator, f"a step of {step:.3g}" if step > 0.0 else "these tolerances"
    balance = energy_balance(solution, SAMPLES)
    if balance is not None and abs(balance.relative) > 0.5 * GROSS:
        balance = energy_balance(solution)
    if balance is not None and balance.time is not None:
        verb = "gained" if balance.defect > 0.0 else "lost"
        return (
            f"{method.name} with {how} {verb} energy without a reason: "
            f"{100.0 * min(abs(balance.relative), 1.0):.0f} % of the energy in play, beyond 10 % from t = "
            f"{balance.time:.4g} on; the results are wrong by as much. {_advice(method, balance)}"
        )
    totals = solution._shared.pop("totals", None)
    if totals is None and len(solution) > 1:
        totals = _totals(solution, _chosen(len(solution), SAMPLES), False)
    if totals is None:
        return ""
    defect, speed, spin = (
        float(totals[1:, k].max(initial=0.0)) for k in (observe.VELOCITY_DEFECT, observe.SPEED, observe.SPIN)
    )
    if defect > AWAY * speed and defect * step > AWAY_IN_A_STEP:
        return (
            f"the velocities of {method.name} with {how} contradict the constraints, by as much as the bodies move; "
            "so do accelerations, reactions and energies. Use a smaller step, or a method that keeps the velocity "
            "constraints: GeneralizedAlpha with stabilized=True, GGLEM"
        )
    left, steps = int(solution.stats.get("index_3_steps", 0)), int(solution.stats.get("steps", 0))
    if left > 1.0 + LEFT_OUT * steps:
        return (
            f"{method.name} with {how} left {left} of {steps} steps to index 3, because it found no velocities that "
            "meet the constraints; they are inaccurate there. Use a smaller step, or look for positions in which "
            "joints become dependent"
        )
    stage = step * method.longest_stage
    body = _turning_too_far(solution, stage) if spin * stage > QUARTER_TURN else None
    if body is None:
        return ""
    angle = float(np.linalg.norm(solution[body].angular_velocity * stage, axis=1).max())
    where = "" if method.longest_stage == 1.0 else "the longest stage of "
    return (
        f"body '{body.name}' turns by {angle:.2g} rad in {where}a step of {step:.3g}, which is too far for "
        f"{method.name}; use steps of at most a quarter turn, {QUARTER_TURN / angle * step:.2g}, or where the axis "
        "is nearly steady Lie nodes"
    )


def _turning_too_far(solution: Solution, step: float) -> Any:
    """A body that turns by more than a quarter in so much time.

    A steady spin is exact on Lie nodes, and as the angle of a joint, at any speed.
    """
    if not solution.integrator.approximates_rotations(solution.system):
        return None
    for i, body in enumerate(solution.system.elements[0]):
        if not isinstance(body, RigidBody):
            continue
        view: Any = solution[body]
        turn = view.angular_velocity * step
        angle = np.linalg.norm(turn, axis=1)
        fast = angle > QUARTER_TURN
        if not fast.any():
            continue
        if solution.system.tables.nodes[i + 1].form not in (FORM_LIE, FORM_JOINT):
            return body
        change = view.angular_acceleration[fast] * step * step
        axis = np.einsum("kij,kj->ki", view.rotation[fast], turn[fast]) / angle[fast, None]
        turned = np.linalg.norm(np.cross(turn[fast], change), axis=1) / angle[fast] ** 2
        if turned.max() > STEADY or np.linalg.norm(np.cross(axis, axis[0]), axis=1).max() > STEADY_AXIS:
            return body
    return None


def _advice(method: Integrator, balance: Balance) -> str:
    """What to do about a balance that is violated."""
    if isinstance(method, GeneralizedAlpha):
        if balance.defect > 0.0:
            return "Use a smaller step" + ("." if method.stabilized else ", or stabilized=True.")
        return "Use a smaller step, or less numerical damping: a larger rho_inf, or LieEM."
    if method.adaptive:
        return "Use smaller tolerances."
    if isinstance(method, RungeKutta):
        return "Use a smaller step, or where springs or dampers are stiff an implicit method such as GeneralizedAlpha."
    return "Use a smaller step, or GeneralizedAlpha or LieEM where springs are stiff."
