"""What an integrator may ask of a system: properties of its elements, and forms of its nodes.

No other file of the integrators asks for the form of a node.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.entry import connect
from ..compiled.kinds import plain
from ..compiled.record import table_of
from ..elements.frame_kinds import GRAVITATION, GREEN_SPRING, TWIST, USER_POTENTIAL
from ..forces.frame_laws import DAMPING, LAW
from ..nodes.forms import FORMS, of_form
from ..nodes.kinds import EULER_ANGLES
from ..nodes.spin import spin_determinant, spin_matrix
from ..nodes.update import NEAR_CHART_LIMIT
from ..system.placement import massless

if TYPE_CHECKING:
    from ..bodies import Body
    from ..system.system import System

Array = np.ndarray
CONSERVATIVE_KINDS = (GREEN_SPRING, GRAVITATION, TWIST, USER_POTENTIAL)


def bodies_of_form(system: System, *forms: str) -> Iterator[tuple[Body, Any]]:
    """(body, record of its node) of the nodes of these forms."""
    nodes = system.tables.nodes[1:]
    for body, n, asked in zip(system.model.bodies, nodes, of_form(nodes, *forms), strict=True):
        if asked:
            yield body, n


def has_form(system: System, *forms: str) -> bool:
    """Whether some node is of one of these forms."""
    return bool(of_form(system.tables.nodes, *forms).any())


def moves_alike(n: Any, m: Any) -> bool:
    """Whether the nodes of two records are of the same form."""
    return bool(n.form == m.form)


def steps_of_nodes(system: System, steps: dict[str, Any]) -> Array:
    """The entry of every node, for entries by form: a table of addresses, zero where there is none."""
    forms = [FORMS[form] for form in system.tables.nodes["form"]]
    connect(system.tables, *(steps[form] for form in steps if form in forms))
    return table_of([steps.get(form) for form in forms])


class Trait(Enum):
    """A property of a model that an integrator may need; computed from the elements, never declared by hand."""

    VELOCITY_IS_QDOT = "velocities that are rates of coordinates (conventional nodes)"
    CONSTANT_MASS = "a constant mass matrix"
    LIE_POINT_OR_GENERALIZED = "Lie or point nodes, or generalized coordinates"
    LIE_POINT_OR_CONSTANT = "Lie or point nodes, or generalized coordinates with a constant mass matrix"
    DIRECTORS_OR_GENERALIZED = "points and conventional directors, or generalized coordinates"
    LINEAR_OR_CONSTANT = "points and conventional directors, or generalized coordinates with a constant mass matrix"
    POLYNOMIAL_OR_GENERALIZED = "points, conventional directors or quaternions, or generalized coordinates"
    UNCONSTRAINED = "no constraints"
    CONSERVATIVE = "forces that have a potential"
    AUTONOMOUS = "no explicit dependence on time"
    QUADRATIC = "constraints that are at most quadratic in the frames"
    SINGLE_BODIES = "bodies that move on their own, held by at most one spherical joint to the ground"
    FREE_ROTATION = "bodies that nothing turns (uniform gravity may act on their centres of mass)"
    VELOCITY_FREE = "forces that do not depend on velocities"
    SYMMETRIC_BODIES = "bodies with an axis of symmetry"
    MASS = "bodies with mass"


FORMS_OF = {
    Trait.VELOCITY_IS_QDOT: ("point", "spin", "quaternion", "directors", "generalized"),
    Trait.LIE_POINT_OR_GENERALIZED: ("lie", "point", "generalized"),
    Trait.LIE_POINT_OR_CONSTANT: ("lie", "point", "generalized"),
    Trait.DIRECTORS_OR_GENERALIZED: ("point", "directors", "generalized"),
    Trait.POLYNOMIAL_OR_GENERALIZED: ("point", "quaternion", "directors", "generalized", "joint"),
    Trait.LINEAR_OR_CONSTANT: ("point", "directors", "generalized"),
    Trait.CONSTANT_MASS: ("point", "directors", "generalized"),
}
"""Forms of nodes that have a trait."""


class Invariant(Enum):
    """What a method keeps exactly (up to the Newton tolerance)."""

    POSITION_CONSTRAINTS = "position constraints"
    VELOCITY_CONSTRAINTS = "velocity constraints"
    ENERGY = "energy"
    GENERALIZED_ENERGY = "generalized energy p.v - T + V"
    LINEAR_MOMENTUM = "linear momentum"
    ANGULAR_MOMENTUM = "angular momentum"
    SYMPLECTIC = "symplectic form"


def missing_trait(system: System, trait: Trait) -> str | None:
    """The element that spoils a trait, with what it is, or None."""
    model = system.model
    if trait in (Trait.SINGLE_BODIES, Trait.FREE_ROTATION, Trait.VELOCITY_FREE, Trait.SYMMETRIC_BODIES):
        from .rigid_body.requirements import missing_body_trait

        return missing_body_trait(system, trait)
    if trait is Trait.MASS:
        light = massless(plain(system.tables.nodes))[1:]
        return f"body '{model.bodies[int(np.argmax(light))].name}' has none" if light.any() else None
    if trait in FORMS_OF:
        nodes = plain(system.tables.nodes)
        other = ~of_form(nodes, *FORMS_OF[trait])
        if trait in (Trait.CONSTANT_MASS, Trait.LIE_POINT_OR_CONSTANT, Trait.LINEAR_OR_CONSTANT):
            other |= nodes["mass_function"] >= 0
        other[0] = False  # the ground
        if other.any():
            body = model.bodies[int(np.argmax(other)) - 1]
            return f"node of body '{body.name}' is {body.node}"
    if trait is Trait.UNCONSTRAINED and system.n_l:
        return f"joint '{model.joints[0].name}'" if model.joints else "an internal constraint of a node"
    if trait is Trait.QUADRATIC or (trait is Trait.AUTONOMOUS and system.assembly.callbacks and _is_driven(system)):
        for joint in model.joints:
            for primitive in joint.primitives():
                driven = getattr(getattr(primitive, "motion", None), "function", None) is not None
                if (trait is Trait.QUADRATIC and not primitive.quadratic) or (trait is Trait.AUTONOMOUS and driven):
                    return str(joint)
    if trait in (Trait.CONSERVATIVE, Trait.AUTONOMOUS) and (model.forces or system.assembly.callbacks):
        forced = plain(system.tables.nodes)["force_function"][1:] >= 0
        if forced.any():  # nobody knows whether it depends on time
            return f"body '{model.bodies[int(np.argmax(forced))].name}' has a force on its coordinates"
        for force in model.forces:
            if any(row.kind not in CONSERVATIVE_KINDS or _is_damped(row) for row in force.general()):
                return f"force '{force.name}'"
            for row in force.rows():
                if row.timed or (trait is Trait.CONSERVATIVE and not row.conservative):
                    return f"force '{force.name}'"
    return None


def _is_driven(system: System) -> bool:
    """Whether some constraint is a function of time."""
    tables = [plain(table) for table in (system.tables.primitives, system.tables.couplings)]
    return any(bool((table["function"] >= 0).any()) for table in tables if len(table))


def _is_damped(row: Any) -> bool:
    """Whether a frame element dissipates besides its potential."""
    damping = {GREEN_SPRING: slice(LAW + 2, LAW + 3), TWIST: slice(DAMPING, DAMPING + 3)}
    return row.kind in damping and any(row.parameters[damping[row.kind]])


ADVICE = {
    Trait.VELOCITY_IS_QDOT: "Use conventional nodes: model.with_nodes(mbd.nodes.Directors)",
    Trait.CONSTANT_MASS: "Use Directors: model.with_nodes(mbd.nodes.Directors)",
    Trait.LIE_POINT_OR_GENERALIZED: "Use Lie nodes: model.with_nodes(mbd.nodes.RotationVector)",
    Trait.LIE_POINT_OR_CONSTANT: "Use DiscreteVariational, which takes varying mass matrices, or LieEM",
    Trait.DIRECTORS_OR_GENERALIZED: "Use Directors: model.with_nodes(mbd.nodes.Directors)",
    Trait.POLYNOMIAL_OR_GENERALIZED: "Use Quaternion or Directors: model.with_nodes(mbd.nodes.Quaternion)",
    Trait.LINEAR_OR_CONSTANT: "Use DiscreteVariational, which takes varying mass matrices, or LieEM",
    Trait.UNCONSTRAINED: "Remove the constraint, or use an integrator for constrained systems such as GeneralizedAlpha",
    Trait.CONSERVATIVE: "Use an integrator for general forces such as GeneralizedAlpha",
    Trait.QUADRATIC: "Use an integrator for general constraints such as GeneralizedAlpha",
    Trait.AUTONOMOUS: "Use an integrator for time-dependent forces such as GeneralizedAlpha",
    Trait.SINGLE_BODIES: "Use an integrator for any model such as GeneralizedAlpha",
    Trait.FREE_ROTATION: "Use mbd.integrators.Strang(method) or NystromSplitting(), which combine it with forces",
    Trait.VELOCITY_FREE: "Use an integrator for general forces such as GeneralizedAlpha",
    Trait.MASS: "Use GeneralizedAlpha or an explicit method such as RK4",
    Trait.SYMMETRIC_BODIES: "Use Strang(SymmetricSplitting()) or NystromSplitting()",
}


def near_gimbal_lock(system: System, q: Array) -> str | None:
    """Name of a body whose Euler angles are near gimbal lock, to explain why a step failed."""
    nodes, g = system.tables.nodes, np.zeros(9)
    for i, body in enumerate(system.model.bodies):
        n = nodes[i + 1]
        if n.kind == EULER_ANGLES and FORMS[n.form] == "spin":
            spin_matrix(n, q, g)
            if abs(spin_determinant(g)) < NEAR_CHART_LIMIT:
                return body.name
    return None
