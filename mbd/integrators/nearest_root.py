"""Which of several solutions a large step has: the one nearest to the start of the step.

First guesses extrapolate accelerations. Where a step is many periods of a stiff spring long, they lead far away, and
the equations have another root there: a mass that has been pulled through the anchor of its spring, a body turned over.
A first guess that overshoots, or a solution in which a spring is turned round, is dropped, and the iteration begins
anew without any motion, where the nearest root is. Steps that resolve the motion never get here.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..elements.frame_kinds import GRAVITATION, GREEN_SPRING, LAW_SPRING
from ..forces.frame_laws import separation
from ..forces.kinds import SPRING
from ..nodes.markers import displacement

EXTRAPOLATED, AT_REST, UNIFORM, AS_BEFORE = 0, 1, 2, 3  # first guesses in the order in which they are tried

OVERSHOT = 0.5  # of the predicted motion in a step: a first correction that is larger takes it back ...
NO_MOTION = 2.0  # ... unless it is so large beside it that the first guess was at rest already ...
VISIBLE = 1e-2  # ... or smaller than this, relative to the model or in rad
FAR = 1.0  # size of the model, or rad: accelerations that lead so far in a step say nothing about its end


@kernel
def overshoots(nodes, length, dq, v, h, y, permuted):
    """Whether the accelerations of a first guess lead too far, or its correction is as large as the whole motion.

    Called before the first corrections y of the increments dq are applied; y in the order of the velocities, or
    ``permuted`` as the matrix is.
    """
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k, o = n.v0, (n.x0 if permuted else n.v0)
        for part in range(2):
            begin, end = (0, n.nx) if part == 0 else (n.nx, n.nv)
            scale = length if part == 0 else 1.0
            correction, motion, accelerated = 0.0, 0.0, 0.0
            for m in range(begin, end):
                uniform = h * v[k + m]
                correction = max(correction, abs(y[o + m]))
                motion = max(motion, abs(dq[k + m]), abs(uniform))
                accelerated = max(accelerated, abs(dq[k + m] - uniform))
            taken_back = OVERSHOT * motion < correction < NO_MOTION * motion and correction > VISIBLE * scale
            if accelerated > FAR * scale or taken_back:
                return True
    return False


@kernel
def _turned_round(c, d):
    return c[0] * d[0] + c[1] * d[1] + c[2] * d[2] < 0.0


@kernel
def turns_round(s, z0, z1):
    """Whether an element along the line between two points points backwards at the end of a step.

    A spring of no length is left out: it is linear, may pass through zero, and has one root only.
    """
    for i in range(s.forces.shape[0]):
        e = s.forces[i]
        if e.kind == SPRING and (e.p2 != 0.0 or e.function >= 0):
            if _turned_round(displacement(e, z0[e.a], z0[e.b]), displacement(e, z1[e.a], z1[e.b])):
                return True
    for i in range(s.frame_elements.shape[0]):
        g = s.frame_elements[i]
        if g.kind == LAW_SPRING or g.kind == GREEN_SPRING or g.kind == GRAVITATION:
            a, b, c = s.members[g.first], s.members[g.first + 1], s.constants[g.p0 :]
            if _turned_round(separation(c, z0[a], z0[b]), separation(c, z1[a], z1[b])):
                return True
    return False


@kernel
def keep_sign(p, sign):
    """Remember on which side of singular matrices the last one lies."""
    p.sign = sign
    if p.iteration == 0:
        p.first_sign = sign


@kernel
def is_another(p):
    """Whether the solution lies behind a singular matrix, seen from those before it; the first one, from its guess."""
    if p.sign * (p.usual_sign if p.usual_sign != 0 else p.first_sign) < 0:
        return True
    if p.usual_sign == 0:
        p.usual_sign = p.sign
    return False


@kernel
def nearest_guess(p):
    """The first guess of an attempt: the extrapolated one, which is watched; others where that overshot; none (-1)."""
    p.watched = 1 if p.attempt == 0 else 0
    if p.attempt == 0:
        return EXTRAPOLATED
    return p.attempt if p.again != 0 and p.attempt <= AS_BEFORE else -1


@kernel
def plainer_guess(p):
    """``nearest_guess``, with uniform motion and none also where the extrapolated one failed without overshooting."""
    guess = nearest_guess(p)
    if p.again == 0 and (p.attempt == AT_REST or p.attempt == UNIFORM):
        return AT_REST + UNIFORM - p.attempt
    return guess
