"""State of the GGL integrators, and what distinguishes them (``equations``)."""

from __future__ import annotations

from ...compiled.kinds import addresses, integer, integers, matrix, real, vector
from ...compiled.record import Record

THETA, EM, EULER = 0, 1, 2
PAST = 8  # steps from which the first guess is extrapolated


class GGLState(Record):
    """State of the method (first ten and gams), its scratch, and what distinguishes the methods."""

    q = vector
    v = vector  # M^-1 p
    vd = vector
    lam = vector
    vdm = vector
    lamm = vector
    excess = matrix  # frames of h p - M y0: of flat bodies in theta methods, zero else
    past_u = matrix  # (PAST, ...) of the last steps: u - y0,
    past_d = matrix  # dq minus what it would be without gamma',
    past_l = matrix  # lambda',
    past_g = matrix  # gamma'
    weights = matrix  # with which they are extrapolated (``integrators.past``),
    sources = integers  # the stages
    back = integers  # and rounds where they are
    dq = vector
    u = vector  # velocity of the first block
    w = vector  # h v (EULER)
    y = vector  # h M^-1 p1
    y0 = vector
    r1 = vector  # residuals of the two blocks: dynamic rows, then constraints
    r2 = vector
    lams = vector  # scaled multipliers
    gams = vector
    shown_gams = vector  # gamma
    mu = vector  # scratch multipliers
    zero = vector
    z0 = matrix  # frames at the start,
    z1 = matrix  # at the end,
    zt = matrix  # where gamma' acts
    zl = matrix  # where lambda' acts,
    ze = matrix  # and does so in the momenta of the end
    zv = matrix  # of velocity constraints
    zp = matrix  # of position constraints
    zr = matrix  # where the derivative of velocity constraints is taken
    zu = matrix  # frames of u
    zy = matrix  # frames of the velocity that forces see, or of (y0 + u)/2 (EM)
    zh = matrix  # of the velocity in H[gamma']
    f1 = matrix  # frame forces of the two equations
    f2 = matrix
    fl = matrix  # of applied forces and lambda'
    buffer = matrix  # of applied forces
    torque = matrix
    at_start = vector  # functions of time at the start of the step,
    at_force = vector  # where forces are evaluated,
    at_end = vector  # at the end,
    at_t = vector  # and where the frames above are
    at_l = vector
    at_e = vector
    at_v = vector
    at_p = vector
    square = matrix  # (4, 4) scratch
    pairs = addresses  # (9,) tables of all pairs of unknown blocks, for the large matrix
    bodies = addresses  # (1,) tables of rigid bodies, for their matrix
    flat = vector  # 1 for nodes whose M is singular
    part = integer  # stage of a composition,
    rounds = integer  # and whole steps of it
    fresh = integer  # whether this attempt has factored the matrix of rigid bodies
    force_squares_1 = real  # sums of squares of the residuals of the two blocks,
    torque_squares_1 = real
    force_squares_2 = real
    torque_squares_2 = real
    largest_length = real  # and largest rows of constraints
    largest_direction = real
    scheme = integer
    guess = integer  # first guess that was asked for
    shift = real  # where in the step forces are evaluated
    begins = real  # time of the start of the step
    shift_t = real  # where in the step the frames above are
    shift_l = real
    shift_e = real
    shift_v = real
    shift_p = real
    # coefficients of the method
    explicit = real  # 1: w follows from lambda', and zt is at q + w (EULER)
    theta = real  # zt is at q + theta dq
    moves = real  # zv moves so much with u
    follows = real  # dq is follows u + (1 - follows) y0 but for the force of gamma'; not with EULER
    mean_u = real  # zy = mean_u u + mean_y y0
    mean_y = real
    force = real  # factors of F,
    gradient = real  # of G(zl)^T lambda',
    curvature = real  # and of H[gamma'] zh
    last_force = real  # the same in the momenta of the end, with gradients at ze
    last_gradient = real
    last_curvature = real
    d_curvature = real  # derivatives of zh with respect to u,
    d_gradient = real  # of zl,
    d_rate = real  # zv
    d_value = real  # and zp with respect to dq
    damping = real  # d(force F) = damping C du or dq + stiffness K dq
    stiffness = real
    # bodies in generalized coordinates (``directors.user_coordinates``)
    own = addresses  # (1,) tables that show them, empty if there are none
    own_u = vector  # corrections of the first
    own_y = vector  # and of the second block
    own_matrix = vector
    own_rows = matrix
    own_moved = real  # size of their correction
    own_squares_1 = real  # sums of squares of their residuals
    own_squares_2 = real
    rigid = integer  # whether the matrix is that of rigid bodies
