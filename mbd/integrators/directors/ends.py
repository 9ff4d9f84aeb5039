"""What SHAKE, RATTLE and Lobatto share at both ends of a step: momenta, functions of time, and the way back."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.arrays import copy
from ...system.instant import evaluate_functions
from .instant import dynamic_rows
from .linear_frames import clear_frames, copy_frames


@kernel
def values_at(s, w, t, values):
    """Functions of time of the model."""
    evaluate_functions(s, w, t)
    copy(w.values, values)


@kernel
def momenta_of_velocities(s, x, h):
    """x.p = h M v."""
    for k in range(x.v.shape[0]):
        x.rate[k] = h * x.v[k]
    clear_frames(x.f)
    dynamic_rows(s.nodes, x.rate, x.zero, 0.0, x.force, x.f, x.p)


@kernel
def keep_start(x):
    """Copies of what a step changes before it has succeeded."""
    copy(x.p, x.p0)
    copy_frames(x.force, x.force0)
    copy(x.loads, x.loads0)


@kernel
def back_to_start(x):
    """The state stays that of the start of the step."""
    copy(x.p0, x.p)
    copy_frames(x.force0, x.force)
    copy(x.loads0, x.loads)
