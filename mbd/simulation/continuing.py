"""Continuing a run from a state: bit for bit, or from its configuration if something that acts has changed.

A state carries the identity of its model (names, order, kinds of coordinates), the fingerprint of all that acted, and
by how much it satisfied the constraints. The identity must be the same. If the fingerprint is the same as well, a run
goes on as if it had not been interrupted. Otherwise accelerations, multipliers and the start values of the method are
computed anew from (q, v, turns, t), because those of the state belong to other forces; where it cannot be told what a
function refers to, that is done as well. Constraints that the old configuration does not satisfy are refused;
constraints that ask for other velocities impose them as an impact does.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import MbdError, ModelError, ModelWarning
from ..integrators.base import Array, Integrator, Run
from ..results.run_state import in_state
from ..results.selection import Selection
from ..results.solution import Solution
from ..results.turns import turns_and_signs_at, unknown
from ..solvers.initial import StartSolver, consistent_velocities
from ..solvers.redundancy import regularise
from ..system.identity import changes, fingerprint_of, method_digest, refuse_other, turn_names
from ..system.system import System
from ..system.tables import FLAG_REDUNDANT

WHOLE_STEPS = 1e-9  # relative deviation of a number of steps from an integer that counts as round-off
MOVED = 1e-8  # of the length of the model, or rad: more is another geometry
JUMP = 1e-8  # of the speeds


def state_of(owner: str, start: Any) -> dict[str, Any]:
    """The state of a solution, or of a chosen part of one, or a state itself."""
    state = start if isinstance(start, Mapping) else getattr(start, "state", None)
    if not isinstance(state, Mapping):
        raise ModelError(f"{owner}: the state to start from is {start!r}; expected a solution, or the state of one")
    state = dict(state)
    _check_written(state)
    if isinstance(start, Solution) and len(start) and start._acted and "input_names" not in state:
        acted = {name: x[-1] for name, x in start._acted.items()}  # at its end, as a state of the simulator has them
        state |= {"input_names": tuple(acted), "input_values": np.array([*acted.values()])}
    if isinstance(start, Solution) and len(start):
        try:
            state |= noted_turns(turns_and_signs_at(start, len(start) - 1))
        except MbdError:  # of a model that was changed after the run
            state |= noted_turns(unknown(start.system))
    elif isinstance(start, Selection):
        state |= noted_turns(start._last._begins_with)
    return state


def _check_written(state: Mapping[str, Any]) -> None:
    """Refuse what no run has written: numbers that are none, and names without their values."""
    for name in ("t", "step", "origin", "index"):
        value = np.asarray(state.get(name, 0.0))
        if value.dtype.kind not in "iuf" or value.size != 1 or not np.isfinite(value).all():
            raise ModelError(f"start: the state is damaged: '{name}' is {state[name]!r}; expected a finite number")
    for of in ("input", "angle", "quaternion"):
        values = "input_values" if of == "input" else f"{of}s"
        names, given = np.shape(state.get(f"{of}_names", ())), np.shape(state.get(values, ()))
        if names[:1] != given[:1]:
            raise ModelError(
                f"start: the state is damaged: '{values}' has shape {given}; expected one for each of '{of}_names', "
                f"{names}"
            )


def noted_turns(known: Mapping[str, Any]) -> dict[str, Any]:
    """Angles with their turns, and quaternions with their signs, as a part of a state, for whoever reads them."""
    noted: dict[str, Any] = {}
    for of, width in (("angle", 1), ("quaternion", 4)):
        those = {name: x for name, x in known.items() if np.size(x) == width}
        if those:
            noted |= {f"{of}_names": tuple(those), f"{of}s": np.array([*those.values()], dtype=float)}
    return noted


def turns_of(state: dict[str, Any]) -> dict[str, Any]:
    """Take angles with their turns, and quaternions, out of a state: the method, which gets the rest, knows none."""
    known: dict[str, Any] = {}
    for of in ("angle", "quaternion"):
        known |= zip(state.pop(f"{of}_names", ()), state.pop(f"{of}s", ()), strict=True)
    return known


def continued(system: System, integrator: Integrator, state: dict[str, Any], step: float) -> tuple[Run, list[Array]]:
    """A run that goes on from a state, and the record of its start."""
    _check_state(system, integrator, state, step)
    if FLAG_REDUNDANT in state.get("flags", ()):
        regularise(system)
    counted = turn_names(system)
    changed = changes(fingerprint_of(system.model), state["fingerprint"])
    method = method_digest(integrator)
    if not changed and method is not None and method == state["method"] and counted == state["turn_names"]:
        run = _resumed(system, integrator, state)
        return run, [x.copy() for x in run.row()]
    before = dict(zip(state["turn_names"], state.get("turns", ()), strict=False))
    turns = system.initial_turns()
    turns[: len(counted)] = [before.get(name, near) for name, near in zip(counted, turns, strict=False)]
    q, t = np.array(state["q"], dtype=float), float(state["t"])
    v = _fitting_velocities(system, q, np.array(state["v"], dtype=float), t, turns, state)
    step = float(step if integrator.adaptive else state["step"])
    run = integrator.from_any_state().start(system, q, v, t, step, turns)
    return run, run.initial_row()


def _resumed(system: System, integrator: Integrator, state: dict[str, Any]) -> Run:
    """The run as it was; refuse numbers that it would not have written."""
    try:
        run = integrator.resume(system, state)
    except (KeyError, ValueError, TypeError) as error:
        raise ModelError(f"start: the state is damaged ({type(error).__name__}: {error})") from error
    for name, value in run.state().items():
        given = np.asarray(state[name])
        if given.shape != np.shape(value) or not np.array_equal(given, value, equal_nan=True):
            if given.shape == np.shape(value) == ():
                raise ModelError(f"start: '{name}' of the state is damaged: it is {given}; expected {value}")
            raise ModelError(
                f"start: '{name}' of the state is damaged (shape {given.shape}, expected {np.shape(value)})"
            )
    return run


def _check_state(system: System, integrator: Integrator, state: Mapping[str, Any], step: float) -> None:
    """Refuse a state of another model or method."""
    if not state:
        raise ModelError(
            "start: this solution holds no state to continue from (a run that an event ended stops between two steps); "
            "begin a new run with mbd.model_at(solution)"
        )
    if str(state.get("integrator", integrator.name)) != integrator.name:
        raise ModelError(
            f"start: the state was written by {state['integrator']}; continue with the same integrator, not with "
            f"{integrator.name}"
        )
    needed = ["identity", "fingerprint", "method", "turn_names", "q", "v", "t"]
    missing = [name for name in (needed if integrator.adaptive else [*needed, "step"]) if name not in state]
    if missing:
        raise ModelError(
            f"start: the state has no '{missing[0]}', without which it is not certain that it belongs to this model "
            "(it may be of an older version); begin a new run with mbd.model_at(solution)"
        )
    refuse_other(system.identity, state["identity"], f"start: the state does not fit model '{system.model.name}'")
    for name, size in (("q", system.n_q), ("v", system.n_v), ("lam", system.n_l)):
        value = np.asarray(state.get(name, ()))
        if value.shape != (size,):
            raise ModelError(f"start: the state does not fit model '{system.model.name}' ({name} has another length)")
        if name != "lam" and not np.isfinite(value).all():
            raise ModelError(f"start: {name} of the state is not finite; the run before it has broken down")
    if not integrator.adaptive and abs(float(state["step"]) - step) > WHOLE_STEPS * step:
        raise ModelError(
            f"start: the run had the step {float(state['step']):g}, not {step:g}; a restart keeps the step"
        )


def _fitting_velocities(system: System, q: Array, v: Array, t: float, turns: Array, state: dict[str, Any]) -> Array:
    """Velocities that the constraints allow, as far as the configuration fits them.

    Methods satisfy constraints up to their order only; what a changed model makes of them is compared with that.
    """
    own = in_state(system, {"turns": turns})
    solver = StartSolver(own, t, MOVED, None)
    moved = own.constraints(q, t) - state.get("position_defect", 0.0)
    jumps = own.constraint_velocity(q, v, t) - state.get("velocity_defect", 0.0)
    if not solver._below(moved, MOVED):
        worst = int(np.abs(moved * solver.weight).argmax())
        raise ModelError(
            f"start: the configuration of the state does not fit {_owner(system, worst)} as it is now (its equations "
            f"are violated by {abs(moved[worst]):.3g}): geometry or drivers have changed so that the model would jump. "
            "Begin a new run with mbd.model_at(solution), whose start is made consistent, or change what acts only"
        )
    fitting = consistent_velocities(own, q, v, t)
    if not solver._below(jumps, JUMP * solver.speed(v, jumps)):
        worst = int(np.abs(jumps * solver.weight).argmax())
        warnings.warn(
            f"start: {_owner(system, worst)} asks for other velocities than those of the state (by "
            f"{jumps[worst]:.3g}); they are imposed suddenly, as by an impact",
            ModelWarning,
            stacklevel=4,
        )
    return fitting


def _owner(system: System, row: int) -> str:
    for joint, rows in zip(system.model.joints, system.assembly.joint_slices, strict=True):
        if rows.start <= row < rows.stop:
            return str(joint)
    return "a body"
