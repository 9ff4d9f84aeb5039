"""States of a model in its own coordinates and in those of its twin on Lie nodes."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Generalized, RigidBody
from ..errors import ModelError, ModelWarning
from ..joints import RotorHinge
from ..model import Model
from ..nodes import Generalized as GeneralizedNode
from ..nodes import Point
from ..rotation import ORTHONORMAL_TOLERANCE
from ..system.identity import identity_of, refuse_other, turn_names
from ..system.system import System, assemble
from .initial import consistent_start
from .start_report import body_spins
from .twins import body_state, lie_twin, nearest_rotation

if TYPE_CHECKING:
    from ..results.solution import Solution

Array = np.ndarray


def given_state(model: Model, state: Any, t: float) -> tuple[System, Array, Array, float]:
    """System and (q, v, t): the consistent initial state, or what a solution, an equilibrium or a pair (q, v) says."""
    system = assemble(model)
    state = getattr(state, "now", state)  # of a Simulator
    if hasattr(state, "q") and isinstance(getattr(state, "model", None), Model):
        of = getattr(state, "system", None)
        there = of.identity if of is not None else identity_of(state.model)
        refuse_other(system.identity, there, f"the state does not fit model '{model.name}'")
    if state is None:
        start = consistent_start(system, t=t)
        return system, start.q, start.v, t
    if hasattr(state, "q") and hasattr(state, "t") and np.ndim(state.q) == 2:  # a solution: its last record
        if not len(state.t):
            raise ModelError("the solution has no records; expected a state")
        _tell_other_inputs(model, system, state)
        return system, system._q(state.q[-1]), system._v(state.v[-1]), float(state.t[-1])
    if hasattr(state, "q") and hasattr(state, "v"):
        return system, system._q(state.q), system._v(state.v), t
    try:
        q, v = state
    except (TypeError, ValueError):
        raise ModelError(f"state is {state!r}; expected a solution, an equilibrium or a pair (q, v)") from None
    return system, system._q(q), system._v(v), t


def _tell_other_inputs(model: Model, system: System, solution: Solution) -> None:
    """The state was reached with inputs that may have changed since, or in a Simulator; those of the model act now."""
    for name, values in solution.inputs.items():
        value = float(values[-1])
        if name in system.values and system.values[name] != value:
            warnings.warn(
                f"{model}: input '{name}' was {value:g} in the state that was given; now that of the model acts, "
                f"{system.values[name]:g}: set model.parameters['{name}'], or take the model of a solution, "
                "solution.model, whose inputs are those of its end",
                ModelWarning,
                stacklevel=5,
            )


def on_lie_nodes(system: System, q: Array, v: Array) -> tuple[System, Array, Array]:
    """The twin of a system on Lie nodes in the same state."""
    twin = assemble(lie_twin(system.model))
    return twin, *body_state(twin, system, q, v)


def model_at(solution: Solution, index: int = -1) -> Model:
    """A copy of a solution's model that starts in the state of one of its records, by default the last one."""
    if not len(solution):
        raise ModelError("model_at: the solution has no records")
    refuse_other(
        identity_of(solution.model),
        solution.system.identity,
        f"model_at: model '{solution.model.name}' was changed after the run",
    )
    system = solution.system
    model = placed_model(system, solution.q[index], solution.v[index])
    if solution.turns is not None:
        counted = zip(turn_names(system), system.assembly.turned, solution.turns[index], strict=False)
        for name, joint, angle in counted:
            if isinstance(joint, RotorHinge):
                continue  # a rotor follows the joint of its motor
            if joint is not None:
                if abs(angle - joint.branch) > np.pi:
                    model[joint.name].branch = float(angle)  # turns are counted on
            elif abs(angle) > np.pi:
                warnings.warn(
                    f"model_at: {name} has turned by {angle:.4g} rad; a new run counts from less than half a turn. "
                    "Continue with simulate(..., start=solution), or change its rest angle by whole turns",
                    ModelWarning,
                    stacklevel=2,
                )
    return model


def placed_model(system: System, q: Array, v: Array | None = None) -> Model:
    """A copy of the model that starts in this state (at rest if no velocities are given)."""
    v = np.zeros(system.n_v) if v is None else v
    model = system.model.copy()
    z, zd = system.frames(q), system.frame_velocities(q, v)
    spins = body_spins(z, zd)
    for i, body in enumerate(model.bodies, 1):
        node: Any = body.node
        if isinstance(body, Generalized):
            rows, columns = system.body_slices(system.model.bodies[i - 1])
            body.node = GeneralizedNode(q[rows], v[columns])
        elif isinstance(body, RigidBody):
            node.position, node.velocity = z[i, :3], zd[i, :3]
            axes = z[i, 3:].reshape(3, 3).T
            if np.abs(axes.T @ axes - np.eye(3)).max() > ORTHONORMAL_TOLERANCE:  # some methods are only near to it
                axes = nearest_rotation(axes)
            node.rotation, node.angular_velocity = axes, spins[i]
        else:
            body.node = Point(z[i, :3], zd[i, :3])
    for joint, place in system.angle_places:
        if abs(q[place] - joint.branch) > np.pi:
            model[joint.name].branch = float(q[place])  # turns are counted on
    return model
