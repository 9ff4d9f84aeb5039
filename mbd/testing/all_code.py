"""Small runs that together need all compiled code of the package; ``python -m mbd warmup`` makes them.

Compiled code is cut into pieces by kinds of coordinates, kinds of elements and families of integrators, never by models
(docs/architecture.md). Every integrator therefore makes a step on models that show it each kind of coordinates and each
feature that it takes, and on a chain that is too long for a dense matrix; and every analysis is asked for once.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache, partial
from typing import Any

import numpy as np

from .. import sensors
from ..bodies import PointMass, RigidBody
from ..errors import IncompatibleError
from ..forces import Force, JointForce, PDControl, Spring, TorsionSpring
from ..integrators import GeneralizedAlpha, Integrator
from ..integrators.rigid_body.methods import FreeRotation
from ..joints import AngleDriver, Revolute, Spherical
from ..model import Model
from ..nodes import Directors, Quaternion, RotationVector
from ..results.events import Event
from ..results.solution import Solution
from ..simulation.driven import inverse_dynamics, kinematics
from ..simulation.simulation import simulate
from ..simulation.simulator import Simulator
from ..solvers.diagnosis import diagnose
from ..solvers.equilibrium import equilibrium
from ..solvers.initial import consistent_start
from ..solvers.linearisation import linearize
from ..study.compatibility import FEATURES, NODES, all_integrators, needs_symmetry, small_model
from ..system.system import System, assemble
from .systems import check_system

STEP = 1e-4
LINKS = 12  # of the chain; its matrix is taken apart along its bodies
TEMPLATES = (RotationVector(lie=True), Quaternion(lie=False), Directors(), RotationVector(lie=False))


def tasks() -> Iterator[tuple[str, Callable[[], None]]]:
    """Names of all parts, and functions that run them."""
    for method in all_integrators():
        yield method.name, partial(_quietly, partial(_steps, method))
    yield "analyses", partial(_quietly, _analyses)


def _quietly(run: Callable[[], None]) -> None:
    """Without what is said of models that are no examples of good taste."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        run()


def _steps(method: Integrator) -> None:
    for k, model in enumerate(models_for(method)):
        look_at(simulate(model, STEP, STEP, method, progress=False))
        if k == 0 and not isinstance(method, FreeRotation):
            Simulator(model, STEP, method)._run.act_anew()


def models_for(method: Integrator) -> Iterator[Model]:
    """Models that show an integrator every kind of coordinates, and every feature, that it takes."""
    seen: set[str] = set()
    for feature in FEATURES:
        for node in NODES:
            if not {node, feature} <= seen:
                known = _small(node, feature, needs_symmetry(method))
                if known is not None and accepts(method, known[1]):
                    seen |= {node, feature}
                    yield known[0]
    for template in range(len(TEMPLATES)):
        model, system = _chain(template)
        if accepts(method, system):
            yield model
            return


def accepts(method: Integrator, system: System) -> bool:
    """Whether a method takes a model."""
    try:
        method.check(system)
    except IncompatibleError:
        return False
    return True


@cache
def _small(node: str, feature: str, symmetric: bool) -> tuple[Model, System] | None:
    model = small_model(node, feature, symmetric)
    return None if model is None else (model, assemble(model))


@cache
def _chain(template: int) -> tuple[Model, System]:
    """Bodies in a row with all that acts on joints: hinges with springs, dampers and a controller, loads, a mass."""
    model = Model("chain", gravity=(0, 0, -9.81))
    before: Any = model.ground
    for k in range(LINKS):
        node = RotationVector(position=(k + 0.5, 0, 0))
        body = model.add(RigidBody(f"link {k}", 1.0, (0.1, 0.2, 0.3), node, com=(0.1, 0, 0)))
        hinge = k % 2 == 0
        at = (float(k), 0.0, 0.0)
        joint = Revolute(before, body, at=at, axis=(0, 1, 0)) if hinge else Spherical(before, body, at=at)
        model.add(joint)
        if hinge:
            model.add(TorsionSpring(joint, stiffness=1.0, damping=0.1))
        before = body
    model.add(PDControl(model.joints[0], 0.1, 1.0, 0.1))
    model.add(JointForce(model.joints[0], lambda t, u, u_dot: -0.1 * u_dot))
    model.add(Force(before, (0.0, 0.1, 0.0), frame="body"))
    mass = model.add(PointMass("mass", 1.0, (LINKS + 1.0, 0, 0)))
    model.add(Spring(before, mass, (0.5, 0, 0), (0, 0, 0), stiffness=1.0, length=0.5, damping=0.1))
    model = model.with_nodes({f"link {k}": TEMPLATES[template] for k in range(LINKS)})
    return model, assemble(model)


# --- analyses -------------------------------------------------------------------------------------------------------


def look_at(solution: Solution) -> None:
    """Everything that can be asked of a solution."""
    solution.summary()
    for name in ("vd", "lam", "energy", "momentum", "constraint_error", "power"):
        getattr(solution, name)
    solution.frames(0)
    solution.at(0.5 * (solution.t[0] + solution.t[-1]))
    elements: list[Any] = [*solution.model.joints, *solution.model.forces]
    for element in elements:
        view = solution[element]
        for name in ("force", "torque", "energy", "power", "angle", "displacement", "length"):
            with contextlib.suppress(AttributeError):  # not every element has all of them
                getattr(view, name)


def _analyses() -> None:
    rng = np.random.default_rng(1)
    for template in range(len(TEMPLATES)):
        check_system(_chain(template)[1], rng=rng)
    for node in NODES:
        for feature in FEATURES:
            known = _small(node, feature, False)
            if known is not None:
                check_system(known[1], rng=rng)
    pushed = deepcopy(_chain(0)[0])
    pushed.bodies[LINKS // 2].node.velocity = (0.1, 0.0, 0.0)  # its joints do not allow that
    consistent_start(assemble(pushed))
    arm = _arm()
    diagnose(arm)
    rest = equilibrium(arm)
    linearize(rest.model, rest)
    turning = _arm(driven=True)
    look_at(kinematics(turning, 2 * STEP, STEP))
    look_at(inverse_dynamics(turning, 2 * STEP, STEP))
    fall = Event(sensors.Position("link", axis="z"), direction=-1)
    simulate(arm, 2 * STEP, STEP, GeneralizedAlpha(), events=fall, progress=False)


def _arm(driven: bool = False) -> Model:
    model = Model("arm", gravity=(0, 0, -9.81))
    link = model.add(RigidBody("link", 2.0, (0.01, 0.2, 0.2), Quaternion(position=(0.5, 0, 0))))
    hinge = model.add(Revolute(model.ground, link, at=(0, 0, 0), axis=(0, -1, 0)))
    model.add(TorsionSpring(hinge, stiffness=10.0, damping=0.1))
    if driven:
        model.add(AngleDriver(model.ground, link, axis=(0, -1, 0), value=lambda t: 0.5 * np.sin(3.0 * t)))
    return model
