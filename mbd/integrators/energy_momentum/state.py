"""State of a run of the energy-momentum scheme on frames."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...compiled.record import NO_PLACE, at_address, declare_arrays


class FrameState(NamedTuple):
    """State of the method (first seven) and its scratch vectors."""

    q: Any
    v: Any
    vd: Any  # accelerations at the end of the step, extrapolated from the middles of the last two
    lam: Any  # the same for the multipliers
    vdm: Any  # accelerations and multipliers in the middle of the last step
    lamm: Any
    p: Any  # momenta of nodes whose mass matrix is not constant
    qn: Any
    vn: Any
    qm: Any  # averaged coordinates (directors)
    dq: Any  # increment: dr and the Cayley vector, or dq
    vdn: Any
    lamn: Any
    zero: Any
    z0: Any  # (nodes, 12) frames at the start of the step
    z1: Any  # frames at its end, kept while elements over a step are evaluated
    zm: Any  # averaged frames
    zr: Any  # frames that turn frame forces into generalised forces
    torque: Any  # (nodes, 3) torques in world axes
    mid: Any  # functions of time in the middle of the step
    turn: Any  # (nodes, 9) rotations of the last step and their first and second differences (quaternion bodies)
    special: Any  # (nodes,) pieces that know the equations of the nodes (``special_nodes``)
    kinds: Any  # every one of them once
    pieces: Any  # addresses of pieces for elements that few models have (``frame_em_pieces``)
    pn: Any  # momenta and ...
    raten: Any  # ... rates of the coordinates at the end, where they are unknowns ...
    extra: Any  # ... with these rows: q1 = q0 + h vm first, then the fibre derivatives; otherwise empty
    rate: Any  # rates of the coordinates where they differ from v (null-space method), otherwise empty
    rated: Any  # their derivatives, as vd
    ratedm: Any
    unit: Any  # multipliers that the null-space method eliminates, as lam
    unitm: Any
    unitn: Any
    shown_v: Any  # what is recorded
    shown_vd: Any
    shown_lam: Any
    shown_p: Any  # p, or empty where all masses are constant
    shown_lamm: Any  # multipliers of the last step
    place: Any = NO_PLACE


load_state: Any = at_address(
    declare_arrays(
        FrameState, tables=("z0", "z1", "zm", "zr", "torque", "turn"), integers=("special", "kinds", "pieces", "extra")
    )
)
