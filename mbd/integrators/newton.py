"""Shared kernels of implicit integrators: scales of the equations, norms, sizes of corrections."""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..linalg.front import FAILED, SMALLEST_RATIO, WEAKEST
from ..nodes.frames import has_frame
from ..nodes.increments import increment_size
from ..system.instant_elements import GENERALIZED_SCALE, one_generalized
from ..system.tables import PARAMETER_ARM, PARAMETER_LENGTH
from .nearest_root import overshoots
from .verdicts import OVERSHOT, SINGULAR

ROUND_OFF = 16.0 * 2.220446049250313e-16

CORRECTION_ROUND_OFF = 4.0 * ROUND_OFF  # of coordinates: corrections of several of them add up

NEAR = 1e5  # multiple of the tolerance within which Newton's contraction is trusted

GYROSCOPIC_SHARE = 1e-5  # of J omega^2 that counts as typical torque: a fast symmetric spin needs none

# entries of the array of scales
FORCE, TORQUE, GENERALIZED, ACCELERATION, ANGULAR = 0, 1, 2, 3, 4
SCALES = 5


@kernel
def equation_scales(s, w, q, v, vd, lam, weight, out):
    """Typical force, torque, generalised force, acceleration and angular acceleration of the present state.

    Called after a residual. Residuals are judged relative to these, so that the Newton tolerance means the same in a
    watch and in a crane. ``weight`` (about 1/h^2) sets the floor: forces that would move nothing visible in a step.
    """
    length, arm = s.parameters[PARAMETER_LENGTH], s.parameters[PARAMETER_ARM]
    force, torque, other, acceleration, angular, mass = w.scales[0], w.scales[1], 0.0, 0.0, 0.0, 0.0
    for k in range(lam.shape[0]):
        if s.lclass[k] == 0:
            force = max(force, abs(lam[k]))
        else:
            torque = max(torque, abs(lam[k]))
    for i in range(1, s.nodes.shape[0]):
        n = s.nodes[i]
        if not has_frame(n):
            one_generalized(s, w, i, q, v, vd, lam, w.observed, GENERALIZED_SCALE)
            other = max(other, w.observed[0])
            for k in range(n.nv):
                acceleration = max(acceleration, abs(vd[n.v0 + k]))
            continue
        mass = max(mass, n.mass)
        for k in range(n.nx):
            a = abs(vd[n.v0 + k])
            acceleration = max(acceleration, a)
            force = max(force, n.mass * a)
        inertia = max(n.j11, n.j22, n.j33)
        for k in range(n.nx, n.nv):
            a, u = abs(vd[n.v0 + k]), v[n.v0 + k]
            angular = max(angular, a)
            torque = max(torque, inertia * max(a, GYROSCOPIC_SHARE * u * u))
    gravity = math.sqrt(s.gravity[0] ** 2 + s.gravity[1] ** 2 + s.gravity[2] ** 2)
    acceleration = max(acceleration, gravity)  # at rest in equilibrium nothing else remains
    force = max(force, mass * gravity, mass * weight * length * 1e-14)
    torque = max(torque, 1e-6 * force * arm)
    # a model may lack one kind of equations altogether
    out[FORCE], out[TORQUE], out[GENERALIZED] = max(force, 1e-300), max(torque, 1e-300), max(other, 1e-300)
    out[ACCELERATION] = max(acceleration, angular * arm)
    out[ANGULAR] = max(angular, acceleration / arm)


@kernel
def keep_smaller(scales, before):
    """Scales of a second first guess: the smaller ones, because a first guess far from the solution has larger ones."""
    for k in range(SCALES):
        scales[k] = min(scales[k], before[k])


@kernel
def stalls(iteration, error, best, stalled):
    """How many iterations in a row have not halved the least error; the first ones do not count."""
    return stalled + 1 if iteration > 2 and error > 0.5 * best else 0


@kernel
def at_round_off(stalled, error, best, allowed, moved):
    """Whether round-off, not the iteration, limits the accuracy.

    It does where the error no longer falls, and is at a multiple of the tolerance that is allowed, or the last
    correction is at the round-off of the coordinates (``moved`` <= 1, see ``correction_size``): near rest, the residual
    of a stiff spring is the round-off of its ends times its stiffness, whatever the forces of the moment are.
    """
    return stalled >= 2 and ((best <= allowed and error <= allowed) or moved <= 1.0)


@kernel
def correction_size(nodes, length, q, y, permuted):
    """Largest correction relative to the round-off of the coordinates (``increment_size``)."""
    return increment_size(nodes, length, q, y, permuted) / CORRECTION_ROUND_OFF


@kernel
def plain_error(x):
    """Unscaled root mean square over all equations [Holzinger et al. 2024, as counted in Tables 4 and 5]."""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * x[k]
    return math.sqrt(total / max(x.shape[0], 1))


# --- what the equations of a method do with the numbers of the iteration ---------------------------------------------


@kernel
def fresh_scales(s, w, q, v, vd, lam, factor, p):
    """Scales of the equations in a new iteration, those of forces times a factor; after an attempt that overshot the
    smaller ones of both, because a first guess far from the solution has larger ones.
    """
    c = p.scales
    before = (c[0], c[1], c[2], c[3], c[4])
    equation_scales(s, w, q, v, vd, lam, 1.0 / (p.step * p.step), c)
    for k in range(ACCELERATION):
        c[k] *= factor
    if p.again != 0:
        keep_smaller(c, before)


@kernel
def constraint_tolerances(s, p):
    """Tolerances of position constraints that are lengths, and directions; not below round-off."""
    c = p.tolerance * p.step * p.step
    a, b = c * p.scales[ACCELERATION], c * p.scales[ANGULAR]
    return max(a, ROUND_OFF * s.parameters[PARAMETER_LENGTH]), max(b, ROUND_OFF)


@kernel
def force_error(s, x, p):
    """Root mean square of the dynamic rows of x, each relative to its scale; p.worst is the worst row."""
    total, largest, weights = 0.0, -1.0, p.weights
    for k in range(ACCELERATION):
        weights[k] = 1.0 / p.scales[k]
    n, worst = s.xv.shape[0], 0
    for k in range(n):
        r = x[s.xv[k]] * weights[s.vclass[k]]
        r *= r
        total += r
        if not r <= largest:
            largest = r
            worst = s.xv[k]
    p.worst = worst
    return math.sqrt(total / max(n, 1))


@kernel
def largest_violation(s, x, length_tolerance, direction_tolerance):
    """(largest constraint row of x relative to its tolerance, this row if it is above one, otherwise -1)."""
    largest, worst = 0.0, -1
    c0, c1 = 1.0 / length_tolerance, 1.0 / direction_tolerance
    for k in range(s.xl.shape[0]):
        r = abs(x[s.xl[k]]) * (c0 if s.lclass[k] == 0 else c1)
        if r > largest or r != r:
            largest = r
            if not r <= 1.0:
                worst = s.xl[k]
    return largest if largest == largest else 1e300, worst  # comparisons with what is not a number would lose it


@kernel
def position_error(s, x, length_tolerance, direction_tolerance, p):
    """Largest constraint row of x relative to its tolerance; p.worst becomes this row if it is above one."""
    largest, worst = largest_violation(s, x, length_tolerance, direction_tolerance)
    if worst >= 0:
        p.worst = worst
    return largest


@kernel
def equation_error(s, x, constraints, p):
    """Residual of dynamic rows and position constraints relative to the tolerance (<= 1: converged)."""
    error = force_error(s, x, p) / p.tolerance
    if constraints > 0:
        a, b = constraint_tolerances(s, p)
        error = max(error, position_error(s, x, a, b, p))
    return error


@kernel
def factorised(w, p):
    """Count a factorisation; whether it is good, otherwise p.verdict and p.worst say so."""
    p.factorisations += 1
    p.smallest_ratio = min(p.smallest_ratio, w.report[SMALLEST_RATIO])
    if w.report[FAILED] != 0.0:
        p.worst = w.report[WEAKEST]
        p.verdict = SINGULAR
        return False
    return True


@kernel
def measure(s, nodes, p, q, dq, v, y, permuted):
    """Look at a correction y of dq, and how large it is; whether it is to be applied: the first guess may overshoot."""
    length = s.parameters[PARAMETER_LENGTH]
    if p.iteration == 0 and p.watched != 0:
        if overshoots(nodes, length, dq, v, p.step, y, permuted):
            p.verdict = OVERSHOT
            return False
    elif p.iteration > 2:
        p.moved = correction_size(nodes, length, q, y, permuted)
    return True


@kernel
def factors_suffice(error, before):
    """Whether one more iteration with the last factors will do, judged by how the residual fell (both / tolerance).

    Newton's error is C e^2 after the error e, that of an iteration with the matrix of the step before 2 C e e', where
    e' is the present error; C follows from the last iteration. It has to get well below the tolerance, as Newton's
    would: what is left of the residual adds up over many steps.
    """
    return before < 1e200 and 200.0 * error * error <= before


@kernel
def will_converge(error, before):
    """Whether the next correction of an analytic system ends far below the tolerance (both errors / tolerance).

    Newton's method with the constant C = e1 / e0^2 of the last iteration leaves C e1^2 = e1^3 / e0^2, with the factors
    of that iteration 2 e1^2 / e0, which is what ``factors_suffice`` bounds by 0.01; the same bound is asked of the
    former with a hundred times the constant. The residual has to be small already, so that C is that of the solution.
    """
    if not (error <= NEAR and before < 1e200):
        return False
    return factors_suffice(error, before) or 1e4 * error * error * error <= before * before
