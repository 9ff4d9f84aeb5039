"""Fig. 1 and Table 2 of Vilmart 2013, and the numbers behind Table 1.

Fig. 1: the book and the trajectories of its principal axes, by the preprocessed discrete Moser-Veselov algorithm of
order 10 with the step 0.01, as printed; its coefficients are not printed and were derived for this project. Table 2:
geometric properties, measured. Table 1: orders that its coefficients give. Fig. 2 is a facsimile.

Run: python examples/papers/vilmart_2013.py [directory for the figure]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import JacobiExact, MoserVeselov, RigidMidpoint, SymmetricSplitting
from mbd.integrators.rigid_body.properties import DERIVATIVE, ROUND_OFF, measure

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import book
from sheet import Sheet

TABLE_2 = {  # what is printed: order, and whether H is kept and the map Poisson and symplectic; all keep Qy and C
    "Jacobi's analytic solution": (JacobiExact(), np.inf, True, True, True),
    "symmetric + rotation splitting": (SymmetricSplitting(), 2, False, True, True),
    "RATTLE/DMV": (MoserVeselov(), 2, True, True, True),
    "implicit midpoint rule": (RigidMidpoint(), 2, True, False, False),
    "preprocessed DMV 4": (MoserVeselov(order=4), 4, True, True, False),
    "preprocessed DMV 6": (MoserVeselov(order=6), 6, True, True, False),
    "preprocessed DMV 8": (MoserVeselov(order=8), 8, True, True, False),
    "preprocessed DMV 10": (MoserVeselov(order=10), 10, True, True, False),
}


def main(directory: Path = Path("out/papers")) -> dict[str, float]:
    """Draw the figure, print the table; returns the numbers by item."""
    sheet = Sheet(directory, "vilmart_2013")
    exact = mbd.simulate(book.model(), 40.0, 0.01, JacobiExact(), progress=False)
    solution = mbd.simulate(book.model(), 40.0, 0.01, MoserVeselov(order=10), progress=False)
    book.plot(solution, directory)
    (directory / "book.png").replace(directory / "vilmart_2013_fig01.png")
    sheet.note("Fig. 1, error of the attitude", np.abs(solution["book"].rotation - exact["book"].rotation).max())
    sheet.note("Fig. 1, range of the energy", np.ptp(solution.energy.total))
    for name, (method, order, energy, poisson, symplectic) in TABLE_2.items():
        found = measure(method)
        sheet.note(f"Table 2, order, {name}", found.order, f"printed {order}")
        kept = found.momentum < ROUND_OFF and found.casimir < ROUND_OFF
        as_printed = (found.energy < ROUND_OFF, found.poisson < DERIVATIVE, found.symplectic < DERIVATIVE)
        same = kept and as_printed == (energy, poisson, symplectic)
        sheet.note(f"Table 2, {name}", float(same), "all properties as printed" if same else "NOT AS PRINTED")
    return sheet.numbers


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/papers"))
