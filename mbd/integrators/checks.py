"""What the structure-preserving integrators share outside compiled code: checks and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements.frame_kinds import GRAVITATION, GREEN_SPRING, LAW_SPRING, ROLLING, TWIST
from ..errors import IncompatibleError, ModelError
from ..joints.primitive_data import FrameRows
from ..nodes.mass import central_inertia_matrix
from .traits import bodies_of_form, has_form

if TYPE_CHECKING:
    from ..system.system import System

CENTRAL_KINDS = (GREEN_SPRING, GRAVITATION, LAW_SPRING, TWIST)  # act and react
SINGULAR = 1e-12  # smallest eigenvalue of a frame mass matrix relative to its largest that counts as zero


def check_newton(method: Any) -> None:
    """Refuse a tolerance or a limit of iterations that makes no sense."""
    if not 0.0 < method.tolerance < 1.0:
        raise ModelError(f"{method.name}: tolerance is {method.tolerance}; expected a small positive number")
    if not method.max_iterations >= 1:
        raise ModelError(f"{method.name}: max_iterations is {method.max_iterations}; expected at least one")


def is_flat(n: Any) -> bool:
    """Whether the constant mass matrix of a body in directors is singular: discs, and lines."""
    e = np.array([[n.e11, n.e12, n.e13], [n.e12, n.e22, n.e23], [n.e13, n.e23, n.e33]])
    if n.nx == 3:  # what the translation leaves of it: the tensor about the centre of mass
        s = np.array([n.s1, n.s2, n.s3])
        e = e - np.outer(s, s) / n.mass
    values = np.linalg.eigvalsh(e)
    return bool(values[0] <= SINGULAR * values[-1])


def is_line(n: Any) -> bool:
    """Whether a body has no inertia about an axis."""
    values = np.linalg.eigvalsh(central_inertia_matrix(n))
    return bool(values[0] <= SINGULAR * values[-1])


def check_regular_directors(method: Any, system: System) -> None:
    """Refuse directors of a flat body, whose constant mass matrix is singular."""
    for body, n in bodies_of_form(system, "directors"):
        if is_flat(n):
            raise IncompatibleError(
                f"{method.name} needs a regular mass matrix; that of body '{body.name}' in directors is singular, "
                "because the body is flat or a line. Use Rattle, GGLEM, LieEM or GeneralizedAlpha, or give it some "
                "thickness."
            )


def check_no_lines(method: Any, system: System, form: str = "directors") -> None:
    """Refuse nodes of a body without inertia about an axis: its momenta do not say how it turns about it."""
    for body, n in bodies_of_form(system, form):
        if is_line(n):
            elsewhere = form != "directors" and method.flat_directors
            directors = f" model.with_nodes({{'{body.name}': mbd.nodes.Directors}})," if elsewhere else ""
            raise IncompatibleError(
                f"{method.name} needs bodies whose velocities follow from their momenta; body '{body.name}' has no "
                f"inertia about an axis. Use{directors} GGLEM, Rattle or GeneralizedAlpha, or give it some thickness."
            )


def check_regular_generalized(method: Any, system: System, only_varying: bool = False) -> None:
    """Refuse generalized coordinates whose mass matrix cannot be inverted: they have no Hamiltonian.

    ``only_varying``: constant ones may be singular.
    """
    for body, _ in bodies_of_form(system, "generalized"):
        generalized: Any = body
        if only_varying and not callable(generalized.mass):
            continue
        mass = generalized.mass(generalized.coordinates) if callable(generalized.mass) else generalized.mass
        values = np.linalg.eigvalsh(np.atleast_2d(mass))
        if values[0] <= SINGULAR * values[-1]:
            raise IncompatibleError(
                f"{method.name} needs a regular mass matrix; that of body '{body.name}' is singular. Use LivensEM, "
                "LivensMidpoint or DiscreteVariational."
            )


def keeps_momenta(system: System) -> bool:
    """Whether the model is free in space: no gravity, no loads, nothing that holds it to the ground.

    Users' functions of frames count as loads: nothing is known about their symmetries.
    """
    model = system.model
    if has_form(system, "generalized"):  # of which nobody knows where they are in space
        return False
    elements: list[Any] = [*model.joints, *model.forces]
    pinned = any(getattr(body.node, "pinned", False) for body in model.bodies)
    held = pinned or any(model.ground is body for element in elements for body in element.bodies)
    loaded = any(row.body_a is None for force in model.forces for row in force.rows())
    general = any(row.kind not in CENTRAL_KINDS for force in model.forces for row in force.general())
    primitives = [p for joint in model.joints for p in joint.primitives()]
    by_user = any(isinstance(p, FrameRows) and p.kind != ROLLING for p in primitives)
    return not (held or loaded or general or by_user or np.any(model.gravity))


def momentum_is_linear(system: System) -> bool:
    """Whether the linear momentum is a sum of velocities with constant factors, so that linear methods keep it.

    It is not where a reference point is off the centre of mass, but for directors, and not in joint coordinates.
    """
    off = any(n.s1 or n.s2 or n.s3 for _, n in bodies_of_form(system, "lie", "spin", "quaternion"))
    return system.assembly.tree is None and not off
