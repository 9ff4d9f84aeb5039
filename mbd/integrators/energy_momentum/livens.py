"""Integrators from Livens' principle: LivensEM, LivensMidpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ...errors import ModelError
from ...math.quaternions import e_times, g_matrix, g_times, lever_times, on_arrays
from ...nodes import Quaternion
from ...nodes.mass import central_inertia_matrix, frame_mass
from ...system.system import System
from ..base import Array, Variable
from ..checks import keeps_momenta, momentum_is_linear
from ..converted import StepsQuaternions, frame_momenta, stepped_records
from ..traits import Invariant, Trait, bodies_of_form, has_form
from ..variational.equations import LIVENS
from ..variational.methods import Variational
from .generalized_nodes import full_generalized, livens_generalized, midpoint_generalized
from .methods import FrameEM
from .node_steps import directors_step, full_linear_step, full_step, lie_step, livens_step, null_step
from .state import FrameState

if TYPE_CHECKING:
    from ...results.solution import Solution

CITE = ("Kinon & Betsch 2024, Multibody Syst. Dyn. (Livens principle, rigid bodies in unit quaternions)",)

KNOWN_FORMS = {  # forms of rigid nodes that every form of LivensEM steps as they are
    "none": frozenset({"quaternion", "directors"}),
    "size": frozenset({"quaternion", "directors"}),
    "nullspace": frozenset({"quaternion"}),
}
REDUCTIONS = tuple(KNOWN_FORMS)
NODE_STEPS: dict[str, dict[str, Any]] = {
    "none": {
        "point": full_linear_step,
        "directors": full_linear_step,
        "quaternion": full_step,
        "generalized": full_generalized,
    },
    "size": {
        "point": lie_step,
        "quaternion": livens_step,
        "directors": directors_step,
        "generalized": livens_generalized,
    },
    # quaternion bodies are Lie nodes but for the start
    "nullspace": {"lie": null_step, "quaternion": null_step, "point": lie_step, "generalized": livens_generalized},
}


def has_joined_quaternions(system: System) -> bool:
    """Whether a joint or spring holds a conventional quaternion node."""
    model, turning = system.model, [body for body, _ in bodies_of_form(system, "quaternion")]
    elements: list[Any] = [*model.joints, *model.forces]
    return any(body is b for element in elements for body in element.bodies for b in turning)


@dataclass(frozen=True)
class LivensEM(StepsQuaternions, FrameEM):
    """Energy-momentum scheme from Livens' principle (EML, REML, Null-EML) [Kinon & Betsch 2024, Secs. 4.2 to 4.5].

    On points and directors it coincides with GonzalezEM. Bodies in other coordinates are stepped as unit quaternions,
    for which the method is written, and recorded in their own.

    What it keeps on quaternions is the *generalized* energy p.v - T + V (``invariants``), not T + V, and that
    form is indefinite: an alternating mode of the velocities along the quaternion grows slowly, so that in long runs
    the total energy wanders while the generalized one stays. Joints between quaternions keep the energy but not the
    angular momentum, because the constraint is not zero at the averaged quaternions. For long conservative runs use
    LieEM.

    Parameters
    ----------
    tolerance: Newton tolerance relative to the forces of the system; the invariants drift by about as much.
    max_iterations: limit of the Newton iterations of a step.
    reduction: unknowns of Newton's method; the motion is the same. "none": coordinates, velocities, momenta and
        multipliers (EML); "size": coordinates and multipliers, all else follows explicitly (REML); "nullspace": the
        rotation of every quaternion body in place of its quaternion and the multiplier of its length (Null-EML).
    """

    reduction: str = "size"
    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POLYNOMIAL_OR_GENERALIZED})
    cite: ClassVar[tuple[str, ...]] = CITE

    @property
    def name(self) -> str:
        return "LivensEM" if self.reduction == "size" else f"LivensEM(reduction={self.reduction!r})"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reduction not in REDUCTIONS:
            raise ModelError(f"LivensEM: reduction is {self.reduction!r}; expected one of {', '.join(REDUCTIONS)}")

    def inner_system(self, system: System) -> System:
        if self.reduction == "none":
            return system.derive("three unknowns", lambda: System(system.model, unknowns=3))
        if self.reduction == "nullspace":
            turning = {body.name: Quaternion(lie=True) for body, _ in bodies_of_form(system, "quaternion")}
            if turning:
                inner = system.derive("Lie quaternions", lambda: System(system.model.with_nodes(turning)))
                for k, (_, n) in enumerate(bodies_of_form(inner, "lie")):
                    n.l0 = k  # of the multipliers that are eliminated
                return inner
        return system

    @property
    def known_forms(self) -> frozenset[str]:  # type: ignore[override]
        """Forms of rigid nodes that are stepped as they are."""
        return KNOWN_FORMS[self.reduction]

    @property
    def node_steps(self) -> dict[str, Any]:  # type: ignore[override]
        """What is done with a node of each form."""
        return NODE_STEPS[self.reduction]

    def reduce_velocities(self, inner: System, x: FrameState) -> None:
        if self.reduction == "none":  # momenta of constant masses are unknowns as well
            for _, n in bodies_of_form(inner, "point", "directors"):
                k = slice(n.v0, n.v0 + n.nv)
                x.p[k] = frame_mass(n)[: n.nv, : n.nv] @ x.v[k] if n.nx else frame_mass(n)[3:, 3:] @ x.v[k]
            return
        for y, rate in ((x.v, x.rate), (x.vd, x.rated)):
            for n in inner.tables.nodes[1:]:
                y[n.v0 : n.v0 + n.nx] = rate[n.q0 : n.q0 + n.nx]
            for _, n in bodies_of_form(inner, "generalized"):
                y[n.v0 : n.v0 + n.nv] = rate[n.q0 : n.q0 + n.nv]
            for _, n in bodies_of_form(inner, "lie"):
                e = slice(n.q0 + n.nx, n.q0 + n.nq)
                y[n.v0 + n.nx : n.v0 + n.nv] = 2.0 * g_matrix(x.q[e]) @ rate[e]  # G(e_dot) e_dot = 0

    def preserves(self, system: System) -> frozenset[Invariant]:
        twin = self.twin(system)
        kept = set(super().preserves(twin))
        varying = (twin.tables.nodes.mass_function >= 0).any()
        if varying or has_form(twin, "quaternion"):  # see ``invariants`` for what takes their place
            if Invariant.ENERGY in kept:
                kept.add(Invariant.GENERALIZED_ENERGY)
            kept -= {Invariant.ENERGY, Invariant.ANGULAR_MOMENTUM}
        if self.steps_elsewhere(system) and not momentum_is_linear(twin):  # records have no velocities along e
            kept.discard(Invariant.LINEAR_MOMENTUM)
        return self.kept_in_records(system, kept)

    momenta: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("p", "generalized energy")

    @property
    def variables(self) -> dict[str, Variable]:
        return super().variables | {"generalized energy": Variable("p.v - T + V", 0.0)}

    def variable(self, solution: Solution, name: str) -> Array:
        return all_momenta(solution) if name == "p" else self.invariants(solution)["generalized energy"]

    def invariants(self, solution: Solution) -> dict[str, Array]:
        """The method's own conserved quantities at the records of a run.

        ``generalized energy`` p.v - T + V (n,), and ``angular momentum`` of the momenta p about the origin (n, 3),
        which is exact as long as no joint or spring holds a quaternion node.
        """
        if not isinstance(solution.integrator, LivensEM) or not solution.scheme.recorded:
            raise ModelError("invariants: expected a run of LivensEM")
        system = solution.system
        if self.steps_elsewhere(system):
            raise ModelError(
                "invariants: expected a run in quaternions, whose records keep the rate of change of their length; "
                "simulate model.with_nodes(mbd.nodes.Quaternion)"
            )
        energy, angular = np.array(solution.energy.potential), np.zeros((len(solution), 3))
        momenta = solution.scheme["p"]
        energy += np.sum(momenta * solution.v, axis=1)
        for body, _ in bodies_of_form(system, "generalized"):
            q, v = (x[:, s] for x, s in zip((solution.q, solution.v), system.body_slices(body), strict=True))
            energy -= _generalized_kinetic(cast(Any, body).mass, q, v)
        for body, n in bodies_of_form(system, "quaternion"):
            q, v = (x[:, s] for x, s in zip((solution.q, solution.v), system.body_slices(body), strict=True))
            kinetic, moment = _quaternion_parts(n, q, v, momenta[:, system.body_slices(body)[1]])
            energy -= kinetic
            angular += moment
        for body, n in bodies_of_form(system, "point", "directors"):
            z, zd = solution[body]._motion
            momentum = zd @ frame_mass(n)
            energy -= 0.5 * np.sum(zd * momentum, axis=1)
            angular += np.cross(z.reshape(-1, 4, 3), momentum.reshape(-1, 4, 3)).sum(axis=1)
        return {"generalized energy": energy, "angular momentum": angular}


def all_momenta(solution: Solution) -> Array:
    """Momenta at the records: the recorded ones, and mass times velocity where the mass is constant.

    They belong to the coordinates in which the run was stepped.
    """
    system, _, v = stepped_records(solution)
    p, constant = np.array(solution.scheme.recorded["p"]), frame_momenta(system, v)
    for _, n in bodies_of_form(system, "point", "directors"):
        p[:, n.v0 : n.v0 + n.nv] = constant[:, n.v0 : n.v0 + n.nv]
    return p


def _quaternion_parts(n: Any, q: Array, v: Array, p: Array) -> tuple[Array, Array]:
    """T (n,) and the angular momentum of p (n, 3) of one quaternion node."""
    nx = int(n.nx)
    e, rate = q[:, nx:].T, v[:, nx:].T
    spin = 2.0 * np.array(on_arrays(g_times)(*e, *rate))
    kinetic = 0.5 * np.sum(spin * (central_inertia_matrix(n) @ spin), axis=0)
    angular = 0.5 * np.array(on_arrays(e_times)(*e, *p[:, nx:].T)).T
    if nx:
        mass = float(n.mass)
        velocity = v[:, :3].T + np.array(on_arrays(lever_times)(n.s1, n.s2, n.s3, *e, *rate)) / mass
        kinetic += 0.5 * mass * np.sum(velocity**2, axis=0)
        angular += np.cross(q[:, :3], p[:, :3])
    return kinetic, angular


def _generalized_kinetic(mass: Any, q: Array, v: Array) -> Array:
    """T of generalized coordinates."""
    m = [np.atleast_2d(mass(x)) if callable(mass) else mass for x in q]
    return np.array([0.5 * rate @ matrix @ rate for matrix, rate in zip(m, v, strict=True)])


@dataclass(frozen=True)
class LivensMidpoint(StepsQuaternions, Variational):
    """Midpoint rule for the equations of Livens' principle (MPL).

    Second order and free of the growing mode of LivensEM; the energy is not exact. It works on points, directors,
    unit quaternions and generalized coordinates; bodies in others are stepped as quaternions and recorded in their own,
    and so are flat bodies in directors.
    """

    scheme: ClassVar[int] = LIVENS
    flat_directors: ClassVar[bool] = False
    node_steps: ClassVar[dict[str, Any]] = {"generalized": midpoint_generalized}
    requires: ClassVar[frozenset[Trait]] = frozenset({Trait.POLYNOMIAL_OR_GENERALIZED})
    cite: ClassVar[tuple[str, ...]] = CITE

    def preserves(self, system: System) -> frozenset[Invariant]:
        twin = self.twin(system)
        kept = {Invariant.POSITION_CONSTRAINTS}
        if keeps_momenta(twin):
            kept.add(Invariant.LINEAR_MOMENTUM)
            if not has_joined_quaternions(twin):
                kept.add(Invariant.ANGULAR_MOMENTUM)
        return self.kept_in_records(system, kept)
