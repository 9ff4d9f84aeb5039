"""State and parameters of generalized-alpha, as its kernels see them."""

from __future__ import annotations

from ...compiled.kinds import integer, matrix, real, vector
from ...compiled.record import Record


class AlphaState(Record):
    """State of the method (first seven), its parameters, and scratch vectors."""

    q = vector
    v = vector
    vd = vector  # v_dot, satisfies the equations of motion
    a = vector  # the algorithmic acceleration
    lam = vector
    vd1 = vector  # v_dot and lambda one step back, for the predictor
    lam1 = vector
    # parameters
    am = real
    af = real
    beta = real
    gamma = real
    predictor = integer  # 0 zero, 1 last value, 2 linear
    tangent_operator = integer  # T_exp in the matrix
    stiffness = integer  # K in the matrix
    newton = integer  # see EVERY_ITERATION, ...
    paper = integer  # stop rule of the paper
    index_2 = integer  # position and velocity constraints
    # memory: survives between calls, part of a restart
    kept = integer  # steps that the present factors have served, -1: none
    begin_anew = integer  # 1: the next step begins anew, after a change of charts
    index_3_steps = integer  # steps that index 2 has left to index 3
    led = integer  # whether ``lead`` belongs to the present state
    usual_ratio = real  # largest pivot ratio of the last steps of index 2, 0: none yet
    # the present step
    stabilized = integer  # index 2, unless this step is left to index 3
    qn = vector
    vn = vector
    vdn = vector
    lamn = vector
    zeta = vector  # of index 2: multipliers with which the position correction of the step was made
    dw = vector
    dq = vector
    y = vector
    zero = vector
    lead = vector  # a - v_dot before what acts changed suddenly, whatever it has been since
    z0 = matrix  # (nodes, 12) frames at the start of the step
    # of multistep methods (``bliedf``), latest first, the state itself not among them; otherwise empty
    past_d = matrix  # increments of the last steps
    past_v = matrix  # velocities


EVERY_ITERATION, EVERY_STEP, WHILE_GOOD = 0, 1, 2  # when the matrix is evaluated
