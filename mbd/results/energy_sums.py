"""Sums over the records of a run for its energy balance, in one compiled call: short runs end as soon as they can."""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..compiled.kinds import integer, matrix, real, vector
from ..system.observe import KINETIC, POTENTIAL, POWER, TOTALS
from ..system.tables import RECORDS

# what is found
CHANGE = 0  # of the energy, from the first record to the last one
WORK = 1  # up to the last record
DEFECT = 2  # the largest one, with its sign
SCALE = 3  # the energy in play
LATE = 4  # number of the first record beyond the bound, or -1
FOUND = 5


@kernel
def larger(a, b):
    """The larger number; one that is none stays."""
    return b if b > a or b != b else a


@kernel(
    kinds={
        "t": vector.per(RECORDS), "after": vector.per(RECORDS),
        "totals": matrix.at_least("columns", TOTALS).per(RECORDS), "damped": integer, "quadrature": real,
        "gross": real, "small": real, "weight": real, "inertia": real, "found": vector.at_least("numbers", FOUND),
    }
)  # fmt: skip
def energy_sums(t, after, totals, damped, quadrature, gross, small, weight, inertia, found):
    """The numbers above; see ``balance``.

    ``after`` is the power at the start of the step behind each record. Where the work is that of dampers, of which
    nothing is known but its sign (``damped``), whatever energy was lost was theirs. Invisible is a fraction ``small``
    of the energies or of ``weight``, and the kinetic energy of a mass that moves a little in a step (``inertia``).
    """
    n = len(t)
    kinetic, potential = totals[0, KINETIC], totals[0, POTENTIAL]
    lowest, size = potential, abs(potential)
    work, coarse_work, coarse, exchanged = 0.0, 0.0, 0.0, 0.0
    for k in range(1, n):
        kinetic = larger(kinetic, totals[k, KINETIC])
        potential = larger(potential, totals[k, POTENTIAL])
        lowest = -larger(-lowest, -totals[k, POTENTIAL])
        size = larger(size, abs(totals[k, POTENTIAL]))
        work += 0.5 * (totals[k, POWER] + after[k - 1]) * (t[k] - t[k - 1])
        exchanged += 0.5 * (abs(totals[k, POWER]) + abs(totals[k - 1, POWER])) * (t[k] - t[k - 1])
        if k % 2 == 0:
            coarse_work += 0.5 * (totals[k, POWER] + after[k - 2]) * (t[k] - t[k - 2])
            coarse = larger(coarse, abs(work - coarse_work))
    if damped:
        coarse = 0.0
    step = (t[n - 1] - t[0]) / (n - 1)
    invisible = small * larger(larger(weight, size), kinetic)
    if step > 0.0:
        invisible += inertia / (step * step)
    scale = kinetic + potential - lowest + exchanged + invisible
    first = totals[0, KINETIC] + totals[0, POTENTIAL]
    found[SCALE], found[DEFECT], found[LATE] = scale, 0.0, -1.0
    work = 0.0
    for k in range(n):
        change = totals[k, KINETIC] + totals[k, POTENTIAL] - first
        if damped:
            work = min(change, 0.0)
        elif k > 0:
            work += 0.5 * (totals[k, POWER] + after[k - 1]) * (t[k] - t[k - 1])
        defect = change - work
        if math.isfinite(defect):
            beyond = math.copysign(larger(0.0, abs(defect) - quadrature * coarse), defect)
        else:
            beyond = math.inf
        if abs(beyond) > abs(found[DEFECT]):
            found[DEFECT] = beyond
        if found[LATE] < 0.0 and scale > 0.0 and not abs(beyond) <= gross * scale:
            found[LATE] = float(k)
        found[CHANGE], found[WORK] = change, work
