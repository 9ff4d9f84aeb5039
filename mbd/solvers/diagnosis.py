"""diagnose(): what a model can do, what is fixed twice, what contradicts itself, and what looks wrong."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..bodies import RigidBody
from ..elements.suggestions import counted
from ..errors import AssemblyError, ModelError
from ..linalg.solver import BlockSolver
from ..model import Model
from ..system.matrix import tangent
from ..system.system import System, assemble
from .dependence import Dependency, dependencies, loops_of
from .initial import consistent_start
from .motions import FreeMotion, floating_groups, free_motions
from .plausibility import suspicions
from .rank import DENSE_LIMIT, Equations, Mobility, mobility
from .start_report import Miss, StartReport
from .twins import lie_twin, twin_coordinates
from .words import point_words, quoted

Array = np.ndarray
NO_INERTIA = 1e-12  # of the usual mass of a motion that counts as none
LISTED = 12  # entries of a list that the page shows
NEIGHBOURS_LIMIT = 300  # velocities up to which a run takes the time to look at neighbours of its start


@dataclass
class Diagnosis:
    """What ``diagnose`` found; ``print`` it for a page to act on.

    Attributes
    ----------
    ok: assembled, and nothing contradicts itself.
    dof: degrees of freedom by the rank of the joint equations; ``counted_dof`` is velocities minus equations.
    redundant: dependent equations wherever the mechanism goes; ``momentary``: further ones at this configuration only.
    shaky: motions that the joints admit for an instant only.
    loops: joint names of independent closed loops, as short as possible.
    dependent, singular: minimal sets of dependent joint equations, permanent ones and momentary ones.
    motions: one free motion per degree of freedom, apart from the rigid motions of ``floating`` groups of bodies.
    misses: for a model that cannot be assembled, by how much each joint misses in the nearest configuration.
    errors, warnings, notes: the same in sentences.
    """

    model: str
    bodies: int
    joints: int
    equations: int
    counted_dof: int
    dof: int | None = None
    redundant: int = 0
    momentary: int = 0
    shaky: int = 0
    loops: list[list[str]] = field(default_factory=list)
    dependent: list[Dependency] = field(default_factory=list)
    singular: list[Dependency] = field(default_factory=list)
    motions: list[FreeMotion] = field(default_factory=list)
    floating: list[list[str]] = field(default_factory=list)
    misses: dict[str, Miss] = field(default_factory=dict)
    start: StartReport | None = None
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the model can be simulated."""
        return not self.errors

    def __str__(self) -> str:
        joints = f"{counted(self.joints, 'joint')} with {counted(self.equations, 'equation')}"
        lines = [
            f"Diagnosis of model '{self.model}'",
            f"  {counted(self.bodies, 'body', 'bodies')}, {joints}, {counted(len(self.loops), 'closed loop')}",
        ]
        if self.dof is not None:
            count = "" if self.counted_dof == self.dof else f" (counting equations alone would give {self.counted_dof})"
            lines.append(f"  {counted(self.dof, 'degree')} of freedom{count}")
        for title, texts in (("Errors", self.errors), ("Warnings", self.warnings), ("Notes", self.notes)):
            lines += _section(title, texts)
        lines += _section("Free motions", [str(motion) for motion in self.motions])
        if self.loops:
            lines += _section("Closed loops", [" - ".join(f"'{name}'" for name in loop) for loop in self.loops])
        if self.ok and not self.warnings:
            lines += ["", "Nothing looks wrong."]
        return "\n".join(lines)


def _section(title: str, texts: list[str]) -> list[str]:
    if not texts:
        return []
    lines = ["", title]
    for text in texts[:LISTED]:
        lines += textwrap.wrap(text, 116, initial_indent="  - ", subsequent_indent="    ", break_long_words=False)
    if len(texts) > LISTED:
        lines.append(f"  - and {len(texts) - LISTED} more")
    return lines


def diagnose(model: Model, t: float = 0.0) -> Diagnosis:
    """Examine a model at its assembled configuration and near it; nothing is changed.

    ``print(mbd.diagnose(model))`` is a page with degrees of freedom, free motions, redundant and conflicting joints by
    name, and masses that look wrong.

    >>> model = mbd.Model()
    >>> bar = model.add(mbd.RigidBody("bar", mass=1.0, inertia=(1, 1, 1)))
    >>> hinge = model.add(mbd.joints.Universal(model.ground, bar, at=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0)))
    >>> report = mbd.diagnose(model)
    >>> report.dof, report.ok
    (2, True)
    """
    if not isinstance(model, Model):
        raise ModelError(f"diagnose: model is {model!r}; expected an mbd.Model")
    rows = sum(joint.n_equations for joint in model.joints)
    result = Diagnosis(model.name, len(model.bodies), len(model.joints), rows, 0)
    if not model.bodies:
        result.errors.append("the model has no bodies; add one with model.add(mbd.RigidBody(...))")
        return result
    result.warnings += suspicions(model)
    system = assemble(lie_twin(model))
    result.counted_dof = system.n_v - system.n_l
    loops = loops_of(model)
    result.loops = [[model.joints[j].name for j in loop] for loop in loops]
    try:
        start = consistent_start(system, t=t)
    except AssemblyError as error:
        _explain_failure(result, system, error, t)
        return result
    result.start = start.report
    if start.report.changed:
        result.notes.append(f"the given state does not satisfy the joints; {start.report}")
    groups = floating_groups(Equations(system, start.q, t)) if system.n_v <= DENSE_LIMIT else []
    result.floating = [[body.name for body in group] for group in groups]
    _floating_notes(result, model)
    rolling = len(system.tables.nonholonomic)
    if rolling:
        names = [j.name for j in model.joints if any(getattr(p, "nonholonomic", ()) for p in j.primitives())]
        result.notes.append(
            f"{counted(rolling, 'equation')} of {quoted(names)} restrict velocities only (rolling): degrees of freedom "
            "and free motions are those of velocities, and more positions can be reached"
        )
    if system.n_v > DENSE_LIMIT:
        redundant = _redundant_pivots(system, start.q)
        result.dof, result.redundant = system.n_v - system.n_l + redundant, redundant
        result.notes.append("the model is large: free motions and single dependencies are not listed")
        return result
    found = mobility(system, start.q, t)
    _fill(result, found, loops)
    _massless(result, system, found.here)
    return result


def _fill(result: Diagnosis, found: Mobility, loops: list[list[int]]) -> None:
    """Everything that follows from the rank."""
    result.redundant, result.momentary, result.shaky = found.permanent, found.momentary, found.shaky
    result.dof = found.finite
    result.dependent, result.singular = dependent_sets(found, loops)
    if result.shaky:
        result.singular, result.dependent = result.dependent, []
        result.momentary, result.redundant = result.redundant, 0
    if result.redundant:
        result.warnings.append(
            f"{counted(result.redundant, 'joint equation')} of {result.equations} "
            f"{'is' if result.redundant == 1 else 'are'} permanently redundant: the motion is unique, the reactions of "
            "these joints are not (simulations report those of minimum norm). " + redundancy_advice()
        )
        result.warnings += [str(d) for d in result.dependent]
    if result.momentary and not result.shaky:
        result.warnings.append(
            f"singular configuration: {counted(result.momentary, 'joint equation')} "
            f"{'is' if result.momentary == 1 else 'are'} dependent here and independent nearby, so the mechanism can "
            "continue in more than one way; start it from another position if this is not intended"
        )
    if result.shaky:
        result.warnings.append(
            f"shaky: the joints hold the bodies, but {counted(result.shaky, 'motion')} "
            f"{'is' if result.shaky == 1 else 'are'} resisted to second order only, with very large reactions; change "
            "the directions of the joints or rods concerned"
        )
    result.warnings += [str(d) for d in result.singular]
    listed = free_motions(found.generic if result.momentary and not result.shaky else found.here)
    if result.shaky:
        result.notes += [f"for an instant, {motion}" for motion in listed]
        listed = []
    result.motions = listed
    if result.dof == 0:
        drivers = _drivers(found.here.system.model)
        result.notes.append(
            f"no degree of freedom: {quoted(drivers)} {'prescribes' if len(drivers) == 1 else 'prescribe'} the motion "
            "(see also mbd.kinematics and mbd.inverse_dynamics)"
            if drivers
            else "no degree of freedom: the model is a structure and cannot move"
        )


def _drivers(model: Model) -> list[str]:
    """Joints that move with time."""
    names = []
    for joint in model.joints:
        motions = [getattr(primitive, "motion", None) for primitive in joint.primitives()]
        if any(getattr(motion, "function", None) is not None for motion in motions):
            names.append(joint.name)
    return names


def dependent_sets(found: Mobility, loops: list[list[int]]) -> tuple[list[Dependency], list[Dependency]]:
    """Minimal sets of dependent equations: permanent ones and those of this configuration only."""
    permanent = dependencies(found.generic, loops, found.permanent) if found.permanent else []
    if not found.momentary:
        return permanent, []
    known = {tuple(sorted(d.joints)): d for d in permanent}
    singular = []
    for d in dependencies(found.here, loops, found.here.redundant):
        same = known.get(tuple(sorted(d.joints)))
        if same is None:
            singular.append(d)
        elif d.count > same.count:
            new = [text for text in d.directions if text not in same.directions]
            singular.append(Dependency(d.joints, d.count - same.count, new, d.loop, d.bodies))
    return permanent, singular


def redundancy_advice() -> str:
    """What to do about redundant joints."""
    return (
        "To make them unique, let one joint of each set fix less: Spherical or Universal instead of Revolute in a "
        "loop (PointOnLine in a planar one), Cylindrical instead of a second Revolute on the same axis; of couplings "
        "that say the same, remove one."
    )


def explain_redundancy(system: System, q: Array, t: float = 0.0) -> tuple[Mobility | None, list[Dependency]]:
    """Dependent equations of a system in any coordinates at a consistent configuration, for warnings of a run.

    Large models are not examined at neighbours, so that all their dependencies count as permanent.
    """
    twin = assemble(lie_twin(system.model))
    if twin.n_v > DENSE_LIMIT:
        return None, []
    q = twin_coordinates(twin, system, q)
    if twin.n_v <= NEIGHBOURS_LIMIT:
        found = mobility(twin, q, t)
    else:
        here = Equations(twin, q, t)
        found = Mobility(here, here, twin.n_v - here.rank)
    permanent, singular = dependent_sets(found, loops_of(system.model))
    return found, [*permanent, *singular]


def _explain_failure(result: Diagnosis, system: System, error: Any, t: float) -> None:
    """The nearest miss: there the remaining gaps are forces in equilibrium, so that they mark the contradiction."""
    result.errors.append(f"the model cannot be assembled: {error}")
    result.misses = getattr(error, "misses", {})
    q = getattr(error, "q", None)
    if q is None or system.n_v > DENSE_LIMIT:
        return
    equations = Equations(system, q, t)
    g = system.constraints(q, t) / equations.rows.scale
    pull = np.abs(equations.matrix.T @ g).max(initial=0.0)
    if pull > 1e-2 * np.abs(g).max(initial=0.0):
        return
    size = np.abs(g).max()
    owners = sorted(set(equations.rows.owner[np.abs(g) > 1e-3 * size].tolist()))
    names = [equations.rows.labels[i] for i in owners if i < equations.rows.joints]
    if len(names) > 1:
        result.errors.append(
            f"joints {quoted(names)} contradict each other: closing any of them opens the others; change a length, a "
            "point or an axis of one of them, or remove one"
        )
    for name in names[:LISTED]:
        rows = system.joint_slice(name)
        gap = system.constraints(q, t)[rows]
        lengths = gap[equations.rows.is_length[rows]]
        if len(lengths) == 3 and np.abs(lengths).max() > 1e-3 * size * system.length:
            result.notes.append(f"nearest miss of joint '{name}': its points are {point_words(gap[:3], 1.0)} m apart")


def _floating_notes(result: Diagnosis, model: Model) -> None:
    falls = " and fall" if model.gravity.any() else ""
    for group in result.floating:
        if len(group) == 1:
            touched = any(model[group[0]] in force.bodies for force in model.forces)
            what = "held by forces only" if touched else "not connected to anything"
            result.notes.append(
                f"body '{group[0]}' is {what}: its rigid motions are free{falls.replace('fall', 'it falls')}"
                if not touched
                else f"body '{group[0]}' is {what}: its rigid motions are free"
            )
        else:
            result.notes.append(
                f"bodies {quoted(group)} are connected with each other but not with the ground: together they float"
                + falls
            )


def _massless(result: Diagnosis, system: System, equations: Equations) -> None:
    """Free motions without inertia cannot be integrated."""
    from scipy.linalg import eigh

    motions = equations.motions
    if not motions.shape[1]:
        return
    increments = np.column_stack([equations.increment(m) for m in motions.T])
    full = system.mass_matrix(equations.q)
    mass, usual = increments.T @ (full @ increments), increments.T @ (_usual_mass(system, full)[:, None] * increments)
    size = 1.0 / np.sqrt(np.diag(usual))
    mass, usual = (0.5 * (a + a.T) * np.outer(size, size) for a in (mass, usual))
    try:
        values, vectors = eigh(mass, usual)
    except np.linalg.LinAlgError:  # motions of so different size that they are not told apart
        return
    for k in np.flatnonzero(values < NO_INERTIA):
        motion = motions @ (size * vectors[:, k])
        sizes = [np.abs(motion[system.body_slices(b)[1]]).max() for b in system.model.bodies]
        body = system.model.bodies[int(np.argmax(sizes))]
        what = "about an axis" if isinstance(body, RigidBody) else "of a coordinate"
        result.errors.append(
            f"body '{body.name}' can move freely {what} for which it has no inertia; give it inertia there, or hold it"
        )


def _usual_mass(system: System, mass: Any) -> Array:
    """What a velocity usually weighs: the mass of its body, or the largest moment of inertia."""
    usual, diagonal = np.ones(system.n_v), np.abs(mass.diagonal())
    for n in system.tables.nodes[1:]:
        if n.nx:
            usual[n.v0 : n.v0 + n.nx] = n.mass if n.mass > 0.0 else 1.0
        rest = slice(n.v0 + n.nx, n.v0 + n.nv)
        largest = diagonal[rest].max(initial=0.0)
        usual[rest] = largest if largest > 0.0 else (n.mass * system.length**2 if n.mass > 0.0 else 1.0)
    return usual


def _redundant_pivots(system: System, q: Array) -> int:
    """Dependent equations of a large model, as the block solver counts them."""
    s, w = system.tables, system.work
    zero_v, zero_l = np.zeros(system.n_v), np.zeros(system.n_l)
    system.constraints(q)
    tangent(s, w, system._q(q), zero_v, zero_v, zero_l, w.eye, 1.0, 0.0, 0.0, w.matrix)
    blocks = BlockSolver(system.assembly.layout)
    blocks.F[:] = w.matrix
    blocks.factor()
    return blocks.redundant
