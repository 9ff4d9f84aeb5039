"""Sensitivities of a state of generalized-alpha, as their kernels see them; extrapolation from the last steps."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...compiled.kinds import addresses, fours, fours_matrix, integer, integers, matrix, real, vector
from ...compiled.record import Record
from ...math.arrays import clear

POINTS = 8  # last steps from which the next one is extrapolated
NOISY_POINTS = 6  # where differences bring round-off, of which each further point would make twice as much
NOISY_POINTS_OF_Z = 2  # of position corrections there: these are small, and mostly round-off
RING = POINTS + 1  # with the next one
IDLE = 1e-16  # of the length of the system: what a parameter that is doubled changes if it has no effect
IDLE_REACTIONS = 1e-2  # the same of multipliers, of the largest of them: round-off of differences is below
TURNS = 5  # values from which the effect of the matrix on a position correction is extrapolated

FOLLOWED, SLOW, CHANGED_CHART, LEFT_TO_INDEX_3 = 0, 1, 2, 3  # how sensitivities ended


class Shadow(Record):
    """Sensitivities of a state, a row for each group of four parameters, and buffers."""

    dq = fours_matrix  # increments of the configuration per parameter
    dv = fours_matrix
    da = fours_matrix
    past_vd = fours_matrix  # (RING * groups, n_v): v_dot of the last steps, a ring of which the row ``now`` is latest
    past_lam = fours_matrix
    past_z = fours_matrix  # the same of the position correction of index 2, as seen at the end of the step
    now = integer  # rows of the rings that hold the state, the one before, and the end of the step
    before = integer
    next = integer
    points = integers  # by group: steps from which it is extrapolated, and its position correction
    points_z = integers
    weights = matrix  # (groups, POINTS + 1) of both, see ``choose_weights``
    weights_z = matrix
    size = vector  # of the differences, by parameter
    spread = vector  # the same where round-off comes from differences, otherwise one
    tables = addresses  # of the systems at theta + size and theta - size, one after the other
    works = addresses  # beside them, and three for the system itself at the end
    exact = integers  # by parameter: whether its equations are differentiated by the product rule
    some_exact = integers  # by group: whether that is so of one of its parameters, and whether of all
    all_exact = integers
    idle = vector  # by parameter: sensitivities of the configuration below this are those of one without any effect
    rate = real  # by which one correction of a step is smaller than the one before
    history = integer  # steps made
    ended = integer  # see FOLLOWED, ...
    rounds = integer  # corrections of all steps and groups
    settled = real  # what may remain in a step, of the sensitivities
    change = fours  # by parameter: the last correction: of increments, and of the position correction
    change_z = fours
    size_q = fours  # by parameter: the largest sensitivity of the configuration, and of v_dot
    size_vd = fours
    mu = fours  # the last correction of the multipliers of a group; by parameter, the largest of it and of all
    change_lam = fours
    size_lam = fours
    earlier_lam = vector  # the largest correction before the last one
    least_lam = vector  # sensitivities of multipliers below this part of them are those of one without any effect
    largest_lam = real  # of the multipliers of the step
    earlier = vector  # by parameter: the correction before the last one
    noise = real  # round-off in both, times the size of the differences
    noise_z = real
    seen = vector  # by parameter: the second correction, of the first one, when it was last seen
    floor = vector  # by parameter: round-off of corrections as it was seen
    active = integers  # groups that are still corrected
    # at the end of the step, as far as it is known, a row for each group
    dqn = fours_matrix
    dvn = fours_matrix
    dan = fours_matrix
    dmn = fours_matrix  # part of dz that follows matrix and rotation, as it is foreseen
    rhs = fours  # change of the equations, right-hand sides, solutions
    position = fours  # change of the position constraints, where it comes from differences
    moved = fours  # correction of the configuration since then
    y = fours
    turned = fours
    # differences
    q = vector
    v = vector
    vd = vector
    lam = vector
    increment = vector
    row = vector
    other = vector
    rates = vector
    level = vector
    from_start = matrix  # (nodes, 9): T_exp(-dq)^-1, and T_exp(dq)
    to_end = matrix
    turning = vector  # (9,)
    # the position correction of index 2, see ``position_change``
    reach = real  # factor of the position correction in a difference, 0: there is none
    c0 = real  # weights of the last two accelerations in the first guess of the step
    c1 = real
    start_q = vector  # where the step began, and its first guess
    guess_q = vector
    guess_w = vector
    guess_v = vector
    guess_vd = vector
    guess_lam = vector
    guess_dq = fours  # and how that changes along a group of parameters
    guess_dv = fours
    guess_dvd = fours
    guess_dlam = fours
    u = vector  # U, the sum of the position corrections of all iterates
    twisted = integer  # whether it is so large that it matters where in the step it is turned
    untwist = matrix  # (nodes, 9): T_exp(w)^-1
    mixed = fours  # rows on the other side
    turn = fours  # the same as a right-hand side, and the solution
    further_q = matrix  # (2, ...): the first guess, moved along the position correction and back
    further_v = matrix
    further_vd = matrix
    further_lam = matrix
    past_turns = fours_matrix  # (TURNS * groups, n_v): the part of dz that follows from it, as it was computed last
    turn_times = matrix  # (groups, TURNS): in which steps
    interval = vector  # by group: steps after which it is computed again
    since = vector  # steps since then
    known = vector  # how often it was computed
    slip = vector  # of nonholonomic constraints, whose B z = 0


@kernel
def choose_weights(c, points, radius):
    """Weights that extrapolate polynomials, and what alternates from step to step and decays by the given ratio.

    The latter is the method's own oscillation at the highest frequency, which each further point of a polynomial would
    double. c are the coefficients of (1 - B)^m (1 + radius B), where B is one step back.
    """
    clear(c)
    c[0] = 1.0
    for m in range(points):
        root = -radius if m == 2 else 1.0
        for j in range(points, 0, -1):
            c[j] -= root * c[j - 1]


@kernel
def extrapolate(f, ring, c, j, out):
    """The next one of a sequence, with weights c."""
    n = f.dq.shape[0]
    slot = f.now // n
    r0, c0 = ring[f.now + j], -c[1]
    r1, c1 = ring[(slot + RING - 1) % RING * n + j], -c[2]
    r2, c2 = ring[(slot + RING - 2) % RING * n + j], -c[3]
    r3, c3 = ring[(slot + RING - 3) % RING * n + j], -c[4]
    r4, c4 = ring[(slot + RING - 4) % RING * n + j], -c[5]
    r5, c5 = ring[(slot + RING - 5) % RING * n + j], -c[6]
    r6, c6 = ring[(slot + RING - 6) % RING * n + j], -c[7]
    r7, c7 = ring[(slot + RING - 7) % RING * n + j], -c[8]
    for k in range(out.shape[0]):
        latest = c0 * r0[k] + c1 * r1[k] + c2 * r2[k] + c3 * r3[k]
        out[k] = latest + (c4 * r4[k] + c5 * r5[k] + c6 * r6[k] + c7 * r7[k])


@kernel
def turn_ring(f):
    """The end of the step becomes the latest."""
    n = f.dq.shape[0]
    f.before, f.now = f.now, f.next
    f.next = (f.now // n + 1) % RING * n
