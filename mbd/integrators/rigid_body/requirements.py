"""What methods for single bodies ask of a model; each function names the first element that does not comply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...compiled.entry import connect
from ...system.couplings import coupling_forces
from ...system.instant import evaluate_functions
from ...system.instant_elements import all_forces
from ..base import Trait
from .structure import (
    EQUAL,
    body_table,
    centres,
    has_generalized,
    holding_joints,
)

if TYPE_CHECKING:
    from ...system.system import System

Array = np.ndarray

MASSLESS = 1e-12  # moment of inertia, relative to the largest one of the body, that cannot store momentum
ROUND_OFF = 1e-14
PROBES = 3


def missing_body_trait(system: System, trait: Trait) -> str | None:
    """The element that spoils a trait of single bodies, or None."""
    if trait is Trait.SINGLE_BODIES:
        return _joined(system)
    if trait is Trait.FREE_ROTATION:
        return _turned(system)
    if trait is Trait.VELOCITY_FREE:
        return velocity_dependent(system)
    return _asymmetric(system)


def _joined(system: System) -> str | None:
    model = system.model
    for node in has_generalized(system):
        return f"body '{model.bodies[node - 1].name}' has generalized coordinates"
    allowed = {int(system.tables.primitives.joint[k]) for k in holding_joints(system).values()}
    for k, joint in enumerate(model.joints):
        if k not in allowed:
            names = " and ".join(repr(body.name) for body in joint.bodies[:2])
            return f"joint '{joint.name}' ({type(joint).__name__}) connects {names}"
    table = body_table(system, False)
    for row in table[(table.rotates != 0) & ~(table.i1 > MASSLESS * table.i3)]:
        return f"body '{model.bodies[row.node - 1].name}' has no moment of inertia about one of its axes"
    return None


def _turned(system: System) -> str | None:
    model, nodes = system.model, system.tables.nodes
    if model.forces:
        return f"force '{model.forces[0].name}' acts on {' and '.join(repr(b.name) for b in model.forces[0].bodies)}"
    if model.gravity.any():
        held, centre, _ = centres(system)
        moment = np.column_stack((nodes.s1, nodes.s2, nodes.s3)) - nodes.mass[:, None] * centre
        arm = np.abs(moment).max(axis=1) > ROUND_OFF * nodes.mass * np.abs(centre).max(axis=1)
        for node in np.flatnonzero(held & arm):
            return f"gravity turns body '{model.bodies[node - 1].name}', which is held away from its centre of mass"
    return None


def velocity_dependent(system: System) -> str | None:
    """Forces are probed with random velocities of the frames, whatever elements they come from."""
    model, tables = system.model, system.tables
    for node in has_generalized(system):
        if _force_depends(model.bodies[node - 1]):
            return f"the force on the coordinates of body '{model.bodies[node - 1].name}' depends on velocities"
    if not model.forces:
        return None
    w, rng = system.new_work(), np.random.default_rng(0)
    w.z[:] = system.frames(system.initial_state()[0])
    connect(tables, evaluate_functions, all_forces, coupling_forces)
    evaluate_functions(tables, w, 0.0)
    system.raise_callback_errors()
    probes = [np.zeros_like(w.zd)] + [rng.normal(size=w.zd.shape) for _ in range(PROBES)]
    no_multipliers = np.zeros(max(system.n_l, 1))

    def depends(rows: slice, elements: Array) -> bool:
        results = []
        part = tables.changed(forces=tables.forces[rows], frame_elements=tables.frame_elements[elements])
        for probe in probes:
            w.zd[:], w.f[:] = probe, 0.0
            if len(part.forces):
                all_forces(part, w)
            if len(part.frame_elements):
                coupling_forces(part, w, no_multipliers)
            results.append(w.f.copy())
        return any(not np.array_equal(results[0], other) for other in results[1:])

    of_forces = tables.frame_elements.rows == 0
    if not depends(slice(0, len(tables.forces)), of_forces):
        return None
    for k, (force, rows) in enumerate(zip(model.forces, system.assembly.force_rows, strict=True)):
        if depends(rows, of_forces & (tables.frame_elements.owner == k)):
            return f"force '{force.name}' depends on velocities"
    return "some force depends on velocities"


def _force_depends(body: Any) -> bool:
    """Whether the force of a body in generalized coordinates depends on velocities, near the start and at any time."""
    if body.force is None:
        return False
    rng, q, size = np.random.default_rng(0), body.coordinates, len(body.coordinates)
    for k in range(PROBES):
        time, x = float(k), q + (rng.normal(size=size) if k else 0.0)
        at_rest = np.asarray(body.force(time, x, np.zeros(size)), dtype=float)
        if not np.array_equal(at_rest, np.asarray(body.force(time, x, rng.normal(size=size)), dtype=float)):
            return True
    return False


def _asymmetric(system: System) -> str | None:
    table = body_table(system, True)
    for row in table[(table.rotates != 0) & (np.abs(table.i1 - table.i2) > EQUAL * table.i2)]:
        moments = ", ".join(f"{x:.6g}" for x in sorted(row.unit * np.array((row.i1, row.i2, row.i3))))
        return f"body '{system.model.bodies[row.node - 1].name}' has the principal moments {moments}"
    return None
