"""How far a state is from those that the constraints admit, and the matrix with which that is mended."""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..compiled.kinds import integers, real, vector
from ..linalg.front import FAILED, REPLACED, THRESHOLD
from ..linalg.numeric import joint_scale
from ..math.arrays import clear
from .instant import constraint_rates, constraints, evaluate_functions, frames, velocities
from .matrix import factor_with, tangent
from .tables import PARAMETER_LENGTH, Tables, Work, coordinates, multipliers, velocity


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


@kernel(kinds=(Tables, Work, real, coordinates, velocity, multipliers, multipliers))
def constraint_defects(s, w, t, q, v, g, rate):
    """g(q, t) and B v + g_t."""
    evaluate_functions(s, w, t)
    frames(s, w, q)
    velocities(s, w, q, v)
    constraints(s, w, q, w.x)
    for k in range(s.xl.shape[0]):
        g[k] = w.x[s.xl[k]]
    constraint_rates(s, w, q, v, w.x)
    for k in range(s.xl.shape[0]):
        rate[k] = w.x[s.xl[k]]


@kernel(kinds=(Tables, Work, real, coordinates, velocity, multipliers))
def matrix_at_rest(s, w, t, q, zero_v, zero_l):
    """w.matrix = [M B^T; B 0]."""
    evaluate_functions(s, w, t)
    frames(s, w, q)
    velocities(s, w, q, zero_v)
    tangent(s, w, q, zero_v, zero_v, zero_l, w.eye, 1.0, 0.0, 0.0, w.matrix)


@kernel(
    kinds={
        "s": Tables, "w": Work, "t": real, "q": coordinates, "zero_v": velocity, "zero_l": multipliers,
        "threshold": real, "own": integers, "diagonal": integers, "begins": integers, "row": integers,
        "place": integers, "body": integers, "largest": vector,
    }
)  # fmt: skip
def is_regular_at_rest(
    s, w, t, q, zero_v, zero_l, threshold, own, diagonal, begins, row, place, body, largest
):  # fmt: skip
    """Whether no pivot of [M B^T; B 0] is below a threshold, judged as ``BlockSolver`` does it; w.matrix is used up.

    What follows after ``threshold`` is what ``joint_scale`` wants to know of the layout, and its scratch.
    """
    matrix_at_rest(s, w, t, q, zero_v, zero_l)
    joint_scale(own, diagonal, begins, row, place, body, w.matrix, largest, w.scale)
    w.report[THRESHOLD] = threshold
    factor_with(s, w, w.matrix, w.pivots, w.dinv, w.x[:0])
    w.report[THRESHOLD] = 0.0
    clear(w.scale)
    return w.report[REPLACED] == 0.0 and w.report[FAILED] == 0.0


@kernel(kinds=(Tables, Work, real, coordinates, velocity, real, multipliers, multipliers))
def is_consistent(s, w, t, q, v, tolerance, g, rate):
    """Whether a state violates constraints by less than a tolerance, in sizes of the model; g and B v + g_t."""
    constraint_defects(s, w, t, q, v, g, rate)
    length = s.parameters[PARAMETER_LENGTH]
    for k in range(s.xl.shape[0]):
        if not abs(g[k]) <= tolerance * (length if s.lclass[k] == 0 else 1.0):
            return False
    speed, largest, _ = velocity_defect(s, v, w.x)
    return largest <= tolerance * max(speed, largest)
