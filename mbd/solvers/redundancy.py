"""Redundant constraints at the start of a run: named, checked for contradictions, and made solvable.

Accelerations are unique in spite of them. A small regularisation of the multiplier block, with the residual taken
against the unregularised equations, leads to the multipliers of minimum norm.
"""

from __future__ import annotations

import warnings

import numpy as np

from ..bodies import PointMass, RigidBody
from ..errors import AssemblyError, RedundancyWarning
from ..linalg.front import FAILED, SMALLEST_RATIO
from ..linalg.solver import BlockSolver
from ..nodes.forms import FORM_GENERALIZED
from ..system.matrix import factor, tangent
from ..system.system import System
from ..system.tables import BY_RECURSION, FLAG_REDUNDANT, FLAG_TREE, PARAMETER_REGULARISATION
from ..system.tree_accelerations import immovable_joint
from .rank import Mobility
from .words import counted, quoted

Array = np.ndarray

REGULARISATION = 1e-8  # of the multiplier block if constraints are redundant, times a typical 1 / mass
CONFLICT = 1e-4  # remaining constraint accelerations beside the given ones that count as a contradiction
NOISE = 1e-6  # of the accelerations that loads would cause alone: what remains of them is no contradiction
LARGE = 3000  # velocities
CLEARLY_REGULAR = 1e-6  # smallest pivot ratio
UNBALANCED = 1e-6  # of the load: what is left of it in a direction that nothing resists
MOVABLE = 1e-13  # least inertia of a joint beside the sizes of the terms that it is made of
DENSE, RANK = 200, 1e-10  # velocities up to which free motions are looked at one by one; singular values that are zero
SHOWN = 3  # sets of joints that the warning spells out


def check_redundancy(system: System, q: Array, v: Array | None = None, t: float = 0.0) -> list[str]:
    """Warn about redundant constraints, and prepare the system to be solved in spite of them.

    Returns the names of the joints concerned. Constraints that are dependent and contradict each other are an
    ``AssemblyError``.
    """
    s, w = system.tables, system.work
    if s.flags[FLAG_TREE]:
        _check_inertia(system, q, t)
    if s.flags[FLAG_TREE] == BY_RECURSION:
        return []
    zero_v, zero_l = np.zeros(system.n_v), np.zeros(system.n_l)
    system.constraints(q, t)
    tangent(s, w, system._q(q), zero_v, zero_v, zero_l, w.eye, 1.0, 0.0, 0.0, w.matrix)
    if system.n_v > LARGE:  # a first look in place: copies of the matrix and its careful analysis take memory
        matrix = w.matrix.copy()
        factor(s, w, matrix, w.pivots, w.dinv)
        if w.report[SMALLEST_RATIO] > CLEARLY_REGULAR and not w.report[FAILED]:
            fresh = system.new_work()  # gives the touched memory back
            fresh.turns[:] = w.turns
            system.work = fresh
            return []
    blocks = BlockSolver(system.assembly.layout)
    blocks.F[:] = w.matrix
    blocks.factor()
    if blocks.redundant == 0 and not blocks.report[FAILED]:
        return []
    bodies = len(system.model.bodies)
    if blocks.weakest < bodies and (blocks.redundant == 0 or system.n_l == 0):
        where = system.name_of_unknown(system.assembly.layout.position[blocks.weakest]) if blocks.weakest >= 0 else "?"
        raise AssemblyError(
            f"{where} has a direction without inertia that no joint holds; give it mass or inertia there"
        )
    bodies_at = (system, q)
    if system.assembly.tree is not None:  # dependent are motions of bodies
        from .states import on_lie_nodes

        bodies_at = on_lie_nodes(system, q, zero_v)[:2]
    found, names, text = _explained(*bodies_at, t, blocks.redundant)
    if found is not None and found.here.redundant == 0:
        return []  # masses or lengths of very different size look like it, but the equations are independent
    if not names and blocks.weakest >= bodies:
        names = [system.model.joints[blocks.weakest - bodies].name]
    regularise(system)
    _check_conflict(system, q, zero_v if v is None else v, t, names)
    structure = found is not None and found.shaky > 0 and found.finite == 0  # what has other motions is left to the run
    if structure and _begins_to_move(system, q, zero_v if v is None else v, t):
        raise AssemblyError(f"{text}. Loads or velocities act along these motions, which no reaction can balance.")
    warnings.warn(text, RedundancyWarning, stacklevel=3)
    return names


def _check_inertia(system: System, q: Array, t: float) -> None:
    """Refuse joints in joint coordinates that move no inertia: their accelerations would be made of round-off."""
    s, w = system.tables, system.work
    system.frames(q)
    if system.n_l == int(s.nodes["nl"][s.tree.order].sum()):  # nothing but the tree holds bodies
        node = immovable_joint(s, w, np.zeros_like(w.tree.articulated), MOVABLE)
        where = "" if node == 0 else system.name_of_unknown(int(s.nodes[node]["x0"]))
    else:
        where = _immovable_in_loops(system, q, t)
    if where:
        raise AssemblyError(
            f"{where} moves no inertia: what it carries has no mass or inertia along its free motion; give it some "
            "there, or hold it with a Fixed"
        )


def _immovable_in_loops(system: System, q: Array, t: float) -> str:
    """The same where constraints hold bodies as well: a motion that they leave free has no inertia."""
    if system.n_v > DENSE:
        return ""
    mass, b = system.mass_matrix(q).toarray(), system.constraint_jacobian(q, t).toarray()
    size = np.sqrt(np.diag(mass))
    size = 1.0 / np.where(size > 0.0, size, 1.0)
    _, values, rows = np.linalg.svd(b * size)
    free = rows[int((values > RANK * values.max(initial=0.0)).sum()) :].T
    if not free.shape[1]:
        return ""
    least, motions = np.linalg.eigh(free.T @ (mass * size * size[:, None]) @ free)
    if least[0] > MOVABLE:
        return ""
    return system.name_of_unknown(int(system.tables.xv[np.abs(free @ motions[:, 0]).argmax()]))


def _explained(system: System, q: Array, t: float, redundant: int) -> tuple[Mobility | None, list[str], str]:
    """What the equations leave free, names of the joints concerned and the text of the warning."""
    from .diagnosis import explain_redundancy, redundancy_advice
    from .motions import free_motions

    found, sets = explain_redundancy(system, q, t)
    names = list(dict.fromkeys(name for d in sets for name in d.joints))
    texts = [str(d) for d in sets[:SHOWN]]
    if len(sets) > SHOWN:
        rest = list(dict.fromkeys(name for d in sets[SHOWN:] for name in d.joints))
        texts.append(f"and {len(sets) - SHOWN} more sets with joints {quoted(rest)}")
    permanent, momentary = (found.permanent, found.momentary) if found is not None else (redundant, 0)
    where = "; ".join(texts) or "print(mbd.diagnose(model)) for more"
    if found is not None and found.shaky:
        motions = [str(motion) for motion in free_motions(found.here)]
        more = f" and {len(motions) - SHOWN} more" if len(motions) > SHOWN else ""
        text = (
            "the start is a singular configuration: the joints hold the bodies, but infinitesimally "
            f"{counted(found.shaky, 'motion')} {'is' if found.shaky == 1 else 'are'} free, resisted to second order "
            f"only (shaky). For an instant, {'; '.join(motions[:SHOWN])}{more}. Dependent here: {where}. Change the "
            "directions of the joints or rods concerned, or let them give way: a prestressed mbd.forces.Spring"
        )
    elif permanent or not momentary:
        count = permanent or redundant
        head = f"{count} of {system.n_l} constraint equations {'is' if count == 1 else 'are'} redundant"
        text = f"{head}: {where}. The motion is unique, the reactions of these joints are those of minimum norm. "
        text += redundancy_advice()
        if momentary:
            text += " The start is also a singular configuration, where the motion may branch."
    else:
        text = (
            f"the start is a singular configuration: {where}. The motion may branch here, and reactions are large "
            "nearby; start from another position if this is not intended."
        )
    return found, names, text


def _check_conflict(system: System, q: Array, v: Array, t: float, names: list[str]) -> None:
    """Dependent equations must ask for the same accelerations."""
    vd, _ = system.accelerations(q, v, t)
    bias, b = system.constraint_bias(q, v, t), system.constraint_jacobian(q, t)
    rest = np.abs(b @ vd + bias).max(initial=0.0)
    masses, forces = np.abs(system.mass_matrix(q).diagonal()), np.abs(system.forces(q, v, t))
    free = np.divide(forces, masses, out=np.zeros(system.n_v), where=masses > 0.0)
    noise = NOISE * float((abs(b) @ free).max(initial=0.0))  # of the loads, which the reactions balance
    scale = np.abs(bias).max(initial=0.0)
    if not np.isfinite(rest) or (scale > 0.0 and rest > max(CONFLICT * scale, noise)):
        joints = f"joints {quoted(names)}" if names else "dependent joints"
        raise AssemblyError(
            f"no consistent accelerations: {joints} are dependent and contradict each other in this state of motion "
            f"(by {rest:.3g}, in m/s^2 or rad/s^2). Remove one of them, or change the initial velocities or drivers "
            "concerned; at a singular configuration the velocities must belong to one way on."
        )


def _begins_to_move(system: System, q: Array, v: Array, t: float) -> bool:
    """Whether something is left of the loads that the reactions do not balance, or of velocities."""
    vd, _ = system.accelerations(q, v, t)
    rest, load = np.abs(system.mass_matrix(q) @ vd), np.abs(system.forces(q, v, t))
    return bool(rest.max(initial=0.0) > UNBALANCED * load.max(initial=0.0) or np.any(v))


def regularise(system: System) -> None:
    """Solve for multipliers of minimum norm from now on."""
    masses = [b.mass for b in system.model.bodies if isinstance(b, RigidBody | PointMass) and b.mass > 0.0]
    nodes = system.tables.nodes
    internal = int(nodes["nl"].sum())
    if np.any(nodes["nl"][nodes["form"] == FORM_GENERALIZED]):  # the user's own constraints may be dependent as well
        internal = 0
    system.tables.flags[FLAG_REDUNDANT] = 1 + internal
    system.tables.parameters[PARAMETER_REGULARISATION] = REGULARISATION / (float(np.median(masses)) if masses else 1.0)
