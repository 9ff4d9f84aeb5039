"""Spatial slider-crank of Holzinger, Arnold & Gerstmayr 2024, section 4.3, and of the IFToMM library.

The mechanism has one degree of freedom, and its reference values come from a quadrature of its energy. Universal joint:
the y axis of the rod, perpendicular to it and to the line AC at the start, stays perpendicular to the slider's axis
(another orientation of the cross changes the spin of the rod and so the motion). Table 8 puts the centre of mass of the
crank on its bearing, the library at half its length.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha
from tests.integrators.models import slider_crank

MICRO = 1e-6

PAPER = {  # time: crank angle, position of the slider
    1.0: (10.4840738385, 0.2337647503),
    2.0: (20.0312859810, 0.2583044434),
    3.0: (31.3573634563, 0.1977282006),
    4.0: (41.8010849862, 0.2389456900),
    5.0: (51.3694398879, 0.25465008547),
}
LIBRARY = {
    0.1: (0.56003148209, 0.226787188553),
    1.0: (10.91359072986, 0.211721661393),
    2.0: (21.07274452276, 0.289085197067),
    5.0: (54.3333321683, 0.2407195737),
}
VARIANTS = {"paper": (False, PAPER), "library": (True, LIBRARY)}


def motion(library, step, integrator):
    """Crank angle and slider position at the times of the tables."""
    solution = mbd.simulate(slider_crank(library=library), 5.0, step, integrator, output_step=0.02)
    rows = np.rint(np.array(list(VARIANTS["library" if library else "paper"][1])) / 0.02).astype(int)
    return np.column_stack((solution["A"].angle, solution["slider"].position[:, 0]))[rows], solution


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(
    ("integrator", "step"), [(RK4(), 5e-4), (DOPRI5(rtol=1e-10, atol=1e-11), 1e-3)], ids=["RK4", "DOPRI5"]
)
def test_explicit_methods(variant, integrator, step):
    library, table = VARIANTS[variant]
    values, solution = motion(library, step, integrator)
    expected = np.array(list(table.values()))
    np.testing.assert_allclose(values[:, 1], expected[:, 1], atol=1e-8)
    np.testing.assert_allclose(values[:, 0], expected[:, 0], atol=1e-7)
    assert solution.constraint_error.position.max() < 1e-14


def test_energy_of_the_start():
    """0.57462768 J, and the weight of the crank on its bearing, which does not move."""
    solution = mbd.simulate(slider_crank(), 0.01, 1e-3)
    assert solution.energy.total[0] == pytest.approx(0.57462768 + 0.12 * 9.81 * 0.12, abs=1e-8)
    assert not solution.start.changed


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("stabilized", [False, True], ids=["index 3", "index 2"])
def test_generalized_alpha_extrapolated(variant, stabilized):
    """Two extrapolations remove the terms in h^2 and h^4 of three runs."""
    library, table = VARIANTS[variant]
    method = GeneralizedAlpha(stabilized=stabilized, tolerance=1e-11)
    coarse, middle, fine = (motion(library, h, method)[0] for h in (4e-4, 2e-4, 1e-4))
    orders = np.log2(np.abs(coarse - middle)[-1] / np.abs(middle - fine)[-1])
    np.testing.assert_allclose(orders, 2.0, atol=0.05)
    first, second = middle + (middle - coarse) / 3.0, fine + (fine - middle) / 3.0
    extrapolated = second + (second - first) / 7.0
    np.testing.assert_allclose(extrapolated, np.array(list(table.values())), atol=MICRO)
