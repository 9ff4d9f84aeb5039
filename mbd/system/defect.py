"""How far velocities are from those that the constraints admit."""

from __future__ import annotations

from ..compiled.kernel import kernel
from .tables import PARAMETER_LENGTH


@kernel
def velocity_defect(s, v, rates):
    """Largest velocity, largest violation of a velocity constraint (rows of ``rates``: B v + g_t), and its number.

    Both in sizes of the model per time, or where they turn in rad per time.
    """
    length = s.parameters[PARAMETER_LENGTH]
    speed, rate, at = 0.0, 0.0, 0
    for k in range(v.shape[0]):
        speed = max(speed, abs(v[k]) / length if s.vclass[k] == 0 else abs(v[k]))
    for k in range(s.xl.shape[0]):
        violation = abs(rates[s.xl[k]]) / (length if s.lclass[k] == 0 else 1.0)
        if violation > rate:
            rate, at = violation, k
    return speed, rate, at
