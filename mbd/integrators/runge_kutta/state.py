"""State and numbers of the explicit Runge-Kutta methods, as their kernels see them."""

from __future__ import annotations

from ...compiled.kinds import integer, integers, matrix, real, vector
from ...compiled.record import Record


class RungeKuttaState(Record):
    """State (first five) and scratch."""

    q = vector
    v = vector
    vd = vector
    lam = vector
    qn = vector
    vn = vector
    dq = vector
    kq = matrix  # (stages, nv) slopes of the increment
    kv = matrix  # (stages, nv) slopes of the velocity
    zero = vector
    blocks = vector  # of half-explicit methods: the matrix of a stage before it is factorised, otherwise empty
    forces = vector  # minus the forces of a stage
    rates = vector  # and the rates of the constraints at the next one


class RungeKuttaNumbers(Record):
    """Tableau, step-size control and counters."""

    # tableau
    a = matrix
    b = vector
    c = vector
    error = vector  # weights of the error estimate
    first_same_as_last = integer
    half_explicit = integer  # whether stages meet the constraints of velocities, see ``half_explicit``
    constraint_rows = integers  # of half-explicit methods: entries of the matrix that belong to constraints
    # equal steps
    origin = real  # time of step 0
    step = real
    # step-size control
    rtol = real
    atol = real
    safety = real
    increase = real  # largest ratio of a step to the last one
    smallest = real  # step
    largest = real
    exponent = real
    patience = real  # steps at the smallest size in a row that may miss the tolerance
    switches = vector  # times at which functions of time jump, in ascending order, ending with infinity
    # memory: survives between calls, part of a restart
    verdict = integer  # see ``verdicts``
    where = integer  # node at the limit of its chart, or singular row of the matrix
    steps = integer
    rejected = integer
    evaluations = integer
    next_step = real
    time = real
    forced = integer  # steps accepted at the smallest size in spite of their error
    in_vain = integer  # the same without a good step between them
    projections = integer
    # the last call
    done = integer  # equal steps
    rows = integer  # records of steps with control
