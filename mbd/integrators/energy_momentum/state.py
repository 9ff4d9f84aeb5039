"""State of a run of the energy-momentum scheme on frames."""

from __future__ import annotations

from ...compiled.kinds import addresses, integer, integers, matrix, vector
from ...compiled.record import Record


class FrameState(Record):
    """State of the method (first seven) and its scratch vectors."""

    q = vector
    v = vector
    vd = vector  # accelerations at the end of the step, extrapolated from the middles of the last two
    lam = vector  # the same for the multipliers
    vdm = vector  # accelerations and multipliers in the middle of the last step
    lamm = vector
    p = vector  # momenta of nodes whose mass matrix is not constant
    qn = vector
    vn = vector
    qm = vector  # averaged coordinates (directors)
    dq = vector  # increment: dr and the Cayley vector, or dq
    vdn = vector
    lamn = vector
    zero = vector
    z0 = matrix  # (nodes, 12) frames at the start of the step
    z1 = matrix  # frames at its end, kept while elements over a step are evaluated
    zm = matrix  # averaged frames
    zr = matrix  # frames that turn frame forces into generalised forces
    torque = matrix  # (nodes, 3) torques in world axes
    mid = vector  # functions of time in the middle of the step
    turn = matrix  # (nodes, 9) rotations of the last step and their first and second differences (quaternion bodies)
    step_of = addresses  # (nodes,) the node step of every node (``node_steps``)
    node_steps = addresses  # every one of them once
    smooth = integer  # whether all equations are analytic functions
    pn = vector  # momenta and ...
    raten = vector  # ... rates of the coordinates at the end, where they are unknowns ...
    unreduced = integers  # ... with these rows: q1 = q0 + h vm first, then the fibre derivatives; otherwise empty
    rate = vector  # rates of the coordinates where they differ from v (null-space method), otherwise empty
    rated = vector  # their derivatives, as vd
    ratedm = vector
    unit = vector  # multipliers that the null-space method eliminates, as lam
    unitm = vector
    unitn = vector
    shown_v = vector  # what is recorded
    shown_vd = vector
    shown_lam = vector
    shown_p = vector  # p, or empty where all masses are constant
    shown_lamm = vector  # multipliers of the last step
    order = integers  # places in shown_lam of unit and then of lam, where these are no parts of it; otherwise empty
    past_d = matrix  # (PAST, ...) of earlier stages of a composition: dq - h v0
    past_l = matrix  # and multipliers; without rows where the method is not composed
    weights = matrix  # with which they are extrapolated (``past``),
    sources = integers  # the stages
    back = integers  # and the steps before this one that they belong to
    part = integer  # the present stage
    rounds = integer  # whole steps that are remembered
