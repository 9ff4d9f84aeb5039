"""Redundant constraints at the start of a run: named, checked for contradictions, and made solvable.

Accelerations are unique in spite of them. A small regularisation of the multiplier block, with the residual taken
against the unregularised equations, leads to the multipliers of minimum norm.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..bodies import PointMass, RigidBody
from ..elements.suggestions import counted
from ..errors import AssemblyError, RedundancyWarning, read_only
from ..linalg.front import FAILED, SMALLEST_RATIO
from ..linalg.solver import BlockSolver
from ..nodes.forms import FORM_GENERALIZED
from ..system.defect import is_regular_at_rest, matrix_at_rest
from ..system.looking import close_gaps, first_accelerations
from ..system.matrix import factor
from ..system.system import System
from ..system.tables import BY_RECURSION, FLAG_REDUNDANT, FLAG_TREE, PARAMETER_REGULARISATION
from ..system.tree_accelerations import immovable_joint
from .rank import DENSE_LIMIT, NEIGHBOUR, Equations, Mobility
from .round_off import clear_round_off
from .shown import warn_when_shown
from .twins import lie_system, twin_coordinates
from .words import quoted

if TYPE_CHECKING:
    from .dependence import Dependency

Array = np.ndarray

REGULARISATION = 1e-8  # of the multiplier block if constraints are redundant, times a typical 1 / mass
CONFLICT = 1e-4  # remaining constraint accelerations beside the given ones that count as a contradiction
NOISE = 1e-6  # of the accelerations that loads alone would cause: constraints may miss so much without contradiction
LARGE = 3000  # velocities
CLEARLY_REGULAR = 1e-6  # smallest pivot ratio: what rounding leaves of a pivot is less, in any units
UNBALANCED = 1e-6  # of the load: what is left of it in a direction that nothing resists
INVERSE_ITERATIONS = 3
NO_PART = 1e-7  # of the largest multiplier: less is none
CANCELLED = 1e-9  # of the terms of a sum that is zero
CORRECTIONS, CLOSED = 12, 1e-10  # to follow a motion beyond its first instant: most corrections, gaps that may remain
SINGULAR_START = "the start is a singular configuration"
MOVABLE = 1e-13  # least inertia of a joint beside the sizes of the terms that it is made of
DENSE, RANK = 200, 1e-10  # velocities up to which free motions are looked at one by one; singular values that are zero
SHOWN = 3  # sets of joints that the warning spells out


def check_redundancy(system: System, q: Array, v: Array | None = None, t: float = 0.0) -> bool:
    """Warn about redundant constraints, and prepare the system to be solved in spite of them.

    Returns whether there are some. Constraints that are dependent and contradict each other are an ``AssemblyError``.
    What a warning or an error says of them takes much longer to find than that they are there; it is found when
    somebody reads it.
    """
    s, w = system.tables, system.work
    trust(system)  # a start with other numbers before may have been singular
    if s.flags[FLAG_TREE]:
        _check_inertia(system, q, t)
    if s.flags[FLAG_TREE] == BY_RECURSION:
        return False
    zero_v, zero_l = np.zeros(system.n_v), np.zeros(system.n_l)
    layout = system.assembly.layout
    system._ask_functions()

    def assembled() -> bool:
        """Make the matrix; whether there are equations of which round-off is left."""
        matrix_at_rest(s, w, float(t), q, zero_v, zero_l)
        system.raise_callback_errors()
        return clear_round_off(system, w.matrix)

    if system.n_v <= LARGE and not (s.flags[FLAG_TREE] and assembled()):  # a first look in one call, as most models are
        entries, largest = (*layout.diagonal_entries, *layout.joint_entries), np.zeros(len(layout.sizes))
        regular = is_regular_at_rest(s, w, float(t), q, zero_v, zero_l, CLEARLY_REGULAR, *entries, largest)
        system.raise_callback_errors()
        if regular:
            return False
    assembled()
    if system.n_v > LARGE:  # a first look in place: copies of the matrix and its careful analysis take memory
        matrix = w.matrix.copy()
        factor(s, w, matrix, w.pivots, w.dinv)
        if w.report[SMALLEST_RATIO] > CLEARLY_REGULAR and not w.report[FAILED]:
            fresh = system.new_work()  # gives the touched memory back
            fresh.turns[:] = w.turns
            system.work = fresh
            return False
    blocks = BlockSolver(layout)
    blocks.F[:] = w.matrix
    blocks.factor()
    surely = blocks.ratio < CLEARLY_REGULAR and _surely_dependent(system, blocks)
    if blocks.redundant == 0 and not blocks.report[FAILED] and not surely:
        return False
    bodies = len(system.model.bodies)
    if blocks.weakest < bodies and ((blocks.redundant == 0 and not surely) or system.n_l == 0):
        where = system.name_of_unknown(system.assembly.layout.position[blocks.weakest]) if blocks.weakest >= 0 else "?"
        raise AssemblyError(
            f"{where} has a direction without inertia that no joint holds; give it mass or inertia there [MBD-E21]"
        )
    if _has_light_bodies(system) and (where := _without_inertia(system, q, t)):
        raise AssemblyError(
            f"{where} has a direction without inertia that its joints leave free; give it mass or inertia there, or "
            "hold it with a Fixed [MBD-E21]"
        )
    told = _Explanation(system, q, t, blocks)
    if not surely and told.here is not None and told.here.redundant == 0:
        return False  # masses or lengths of very different size look like it, but the equations are independent
    regularise(system)
    v = zero_v if v is None else system._v(v)
    bias, rest, load, inertia = _first_accelerations(system, q, v, t)
    _check_conflict(system, q, v, t, bias, rest, told)
    moves = np.abs(inertia).max(initial=0.0) > UNBALANCED * np.abs(load).max(initial=0.0) or np.any(v)
    if moves and not _goes_on(system, blocks, q, t) and told.is_structure:
        raise AssemblyError(
            f"{told.text}. Loads or velocities act along these motions, which no reaction can balance. [MBD-E22]"
        )
    subject = repr(system.identity), told.pivots
    samples = told.head(told.pivots, system.n_l), SINGULAR_START
    warn_when_shown(RedundancyWarning, subject, lambda: told.text, samples)
    return True


def _check_inertia(system: System, q: Array, t: float) -> None:
    """Refuse joints in joint coordinates that move no inertia: their accelerations would be made of round-off."""
    s, w = system.tables, system.work
    system.frames(q)
    if system.n_l == int(s.nodes["nl"][s.tree.order].sum()):  # nothing but the tree holds bodies
        node = immovable_joint(s, w, np.zeros_like(w.tree.articulated), MOVABLE)
        where = "" if node == 0 else system.name_of_unknown(int(s.nodes[node]["x0"]))
    else:
        where = _without_inertia(system, q, t)
    if where:
        raise AssemblyError(
            f"{where} moves no inertia: what it carries has no mass or inertia along its free motion; give it some "
            "there, or hold it with a Fixed [MBD-E21]"
        )


def _has_light_bodies(system: System) -> bool:
    """Whether some body has no mass, or no inertia about an axis through its centre of mass."""
    rigid = [body for body in system.model.bodies if isinstance(body, RigidBody)]
    if not rigid:
        return False
    moments = np.linalg.eigvalsh(np.array([body.inertia for body in rigid]))
    return any(body.mass == 0.0 for body in rigid) or bool((moments[:, 0] <= MOVABLE * moments[:, 2]).any())


def _without_inertia(system: System, q: Array, t: float) -> str:
    """Where constraints hold bodies: what has a motion that they leave free and that has no inertia, or nothing."""
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


@lru_cache(maxsize=16)
def _any_numbers(count: int) -> Array:
    """Random numbers, the same ones each time."""
    return read_only(np.random.default_rng(0).normal(size=count))


def _surely_dependent(system: System, blocks: BlockSolver) -> bool:
    """Whether some multipliers balance each other without a load, which proves that their equations are dependent.

    They come from inverse iteration. All terms of B^T lambda must cancel to round-off, coordinate by coordinate, so
    that no unit matters. False proves nothing: where masses are very different, the iteration leads elsewhere.
    """
    if system.n_l == 0:
        return False
    s, x = system.tables, np.zeros(system.assembly.layout.n)
    x[s.xl] = _any_numbers(system.n_l)
    with np.errstate(all="ignore"):
        for _ in range(INVERSE_ITERATIONS):
            found = blocks.nearest(x, refine=0)[s.xl]
            x[s.xl] = found / np.abs(found).max(initial=1e-300)
        x[np.abs(x) < NO_PART] = 0.0
        return bool(np.all(np.abs(blocks.multiply(x)[s.xv]) <= CANCELLED * blocks.sizes(x)[s.xv]))


def _goes_on(system: System, blocks: BlockSolver, q: Array, t: float) -> bool:
    """Whether the model can follow a random motion that its equations admit, beyond the first instant.

    The motion stays what it is while the rest is corrected at right angles to it, with the matrix of the start. True is
    certain; where the corrections do not become small, structures and singular positions have to be told apart.
    """
    s, right = system.tables, np.zeros(system.assembly.layout.n)
    right[s.xv] = _any_numbers(system.n_v)
    right = blocks.multiply(right)
    right[s.xl] = 0.0
    motion = blocks.nearest(right)[s.xv]  # the projection, in the metric of the masses
    motion *= NEIGHBOUR / np.abs(motion / np.where(s.vclass == 0, system.length, 1.0)).max(initial=1e-300)
    scale = np.where(s.lclass == 0, system.length, 1.0)
    scale[s.nonholonomic] = np.inf  # velocities only
    q, zero = system.update(q, motion), np.zeros(system.n_v)
    dense, factors = system.assembly.layout.dense, blocks.regularised_factors()
    system._ask_functions()
    closed = close_gaps(s, system.work, float(t), q, dense, *factors, scale, zero, motion, CORRECTIONS, CLOSED)
    failed = system.forget_errors()  # of a function that does not exist there
    return closed and not failed


class _Explanation:
    """What there is to say about dependent equations, found when it is asked for."""

    def __init__(self, system: System, q: Array, t: float, blocks: BlockSolver) -> None:
        self.system, self.q, self.t, self.blocks = system, q, t, blocks
        self.pivots = max(blocks.redundant, 1)  # taken for zero; none where rounding has left more of them

    @cached_property
    def here(self) -> Equations | None:
        """The equations at the start, with their exact rank; None where they are too many."""
        twin = lie_system(self.system)
        return Equations(twin, twin_coordinates(twin, self.system, self.q), self.t) if twin.n_v <= DENSE_LIMIT else None

    @cached_property
    def _bodies(self) -> tuple[System, Array]:
        """A system whose equations are those of the joints, and its coordinates: dependent are motions of bodies."""
        if self.system.assembly.tree is None:
            return self.system, self.q
        from .states import on_lie_nodes

        return on_lie_nodes(self.system, self.q, np.zeros(self.system.n_v))[:2]

    @cached_property
    def _found(self) -> tuple[Mobility | None, list[Dependency]]:
        from .diagnosis import explain_redundancy

        return explain_redundancy(*self._bodies, self.t)

    @property
    def is_structure(self) -> bool:
        """Whether nothing moves on beyond the first instant; what has other motions is left to the run."""
        found = self._found[0]
        return found is not None and found.shaky > 0 and found.finite == 0

    @property
    def names(self) -> list[str]:
        """Names of the joints concerned."""
        names = list(dict.fromkeys(name for d in self._found[1] for name in d.joints))
        bodies = len(self.system.model.bodies)
        if not names and self.blocks.weakest >= bodies:
            names = [self.system.model.joints[self.blocks.weakest - bodies].name]
        return names

    @staticmethod
    def head(count: int, equations: int) -> str:
        """How the text begins if so many equations are redundant."""
        return f"{count} of {equations} constraint equations {'is' if count == 1 else 'are'} redundant"

    @cached_property
    def text(self) -> str:
        """The text of the warning."""
        from .diagnosis import redundancy_advice
        from .motions import free_motions

        (found, sets), redundant = self._found, self.pivots
        texts = [str(d) for d in sets[:SHOWN]]
        if len(sets) > SHOWN:
            rest = list(dict.fromkeys(name for d in sets[SHOWN:] for name in d.joints))
            texts.append(f"and {len(sets) - SHOWN} more sets with joints {quoted(rest)}")
        permanent, momentary = (found.permanent, found.momentary) if found is not None else (redundant, 0)
        where = "; ".join(texts) or "print(mbd.diagnose(model)) for more"
        if found is not None and found.shaky:
            motions = [str(motion) for motion in free_motions(found.here)]
            more = f" and {len(motions) - SHOWN} more" if len(motions) > SHOWN else ""
            return (
                f"{SINGULAR_START}: the joints hold the bodies, but infinitesimally "
                f"{counted(found.shaky, 'motion')} {'is' if found.shaky == 1 else 'are'} free, resisted to second "
                f"order only (shaky). For an instant, {'; '.join(motions[:SHOWN])}{more}. Dependent here: {where}. "
                "Change the directions of the joints or rods concerned, or let them give way: a prestressed "
                "mbd.forces.Spring"
            )
        if permanent or not momentary:
            count = permanent or redundant
            head = self.head(count, self._bodies[0].n_l)
            text = f"{head}: {where}. The motion is unique, the reactions of these joints are those of minimum norm. "
            text += redundancy_advice()
            if momentary:
                text += " The start is also a singular configuration, where the motion may branch."
            return text
        return (
            f"{SINGULAR_START}: {where}. The motion may branch here, and reactions are large "
            "nearby; start from another position if this is not intended."
        )


def _first_accelerations(system: System, q: Array, v: Array, t: float) -> tuple[Array, Array, Array, Array]:
    """(gamma, B vd + gamma, load, M vd) with the accelerations vd that the regularised equations have."""
    vd, load, inertia = (np.zeros(system.n_v) for _ in range(3))
    lam, bias, rest = (np.zeros(system.n_l) for _ in range(3))
    zero = np.zeros(max(system.n_v, system.n_l))
    system._ask_functions()
    first_accelerations(system.tables, system.work, float(t), q, v, zero, vd, lam, bias, rest, load, inertia)
    system.raise_callback_errors()
    return bias, rest, load, inertia


def _check_conflict(
    system: System, q: Array, v: Array, t: float, bias: Array, remaining: Array, told: _Explanation
) -> None:
    """Dependent equations must ask for the same accelerations, or B vd + gamma is not zero."""
    rest = np.abs(remaining).max(initial=0.0)
    scale = np.abs(bias).max(initial=0.0)
    if np.isfinite(rest) and (scale == 0.0 or rest <= CONFLICT * scale):
        return
    masses, forces = np.abs(system.mass_matrix(q).diagonal()), np.abs(system.forces(q, v, t))
    free = np.divide(forces, masses, out=np.zeros(system.n_v), where=masses > 0.0)
    noise = NOISE * float((abs(system.constraint_jacobian(q, t)) @ free).max(initial=0.0))  # of the balanced loads
    if not np.isfinite(rest) or rest > noise:
        joints = f"joints {quoted(told.names)}" if told.names else "dependent joints"
        raise AssemblyError(
            f"no consistent accelerations: {joints} are dependent and contradict each other in this state of motion "
            f"(by {rest:.3g}, in m/s^2 or rad/s^2). Remove one of them, or change the initial velocities or drivers "
            "concerned; at a singular configuration the velocities must belong to one way on. [MBD-E22]"
        )


def regularise(system: System) -> None:
    """Solve for multipliers of minimum norm from now on."""
    masses = [b.mass for b in system.model.bodies if isinstance(b, RigidBody | PointMass) and b.mass > 0.0]
    nodes = system.tables.nodes
    internal = int(nodes["nl"].sum())
    if np.any(nodes["nl"][nodes["form"] == FORM_GENERALIZED]):  # the user's own constraints may be dependent as well
        internal = 0
    system.tables.flags[FLAG_REDUNDANT] = 1 + internal
    half, masses = len(masses) // 2, sorted(masses)
    typical = 0.5 * (masses[half] + masses[-1 - half]) if masses else 1.0  # the median
    system.tables.parameters[PARAMETER_REGULARISATION] = REGULARISATION / typical


def trust(system: System) -> None:
    """Solve for multipliers without regularisation, as a system does that is new."""
    system.tables.flags[FLAG_REDUNDANT] = 0
    system.tables.parameters[PARAMETER_REGULARISATION] = 0.0
