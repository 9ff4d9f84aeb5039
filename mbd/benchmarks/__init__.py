"""Reference problems: each function returns a Benchmark with the model, its source, reference values and error measure.

    benchmark = mbd.benchmarks.n_four_bar(40)
    solution = benchmark.simulate()
    benchmark.error(solution)

``python -m mbd benchmarks`` runs them all.
"""

from mbd.benchmarks.benchmark import Benchmark, Result, energy_drift, run, table
from mbd.benchmarks.bicycle import bicycle
from mbd.benchmarks.planar import andrews_squeezer, n_four_bar, simple_pendulum
from mbd.benchmarks.spatial import bricard, flyball_governor, heavy_top, slider_crank

ALL = {
    "A01": simple_pendulum,
    "A02": n_four_bar,
    "A02-40": lambda: n_four_bar(40),
    "A03": andrews_squeezer,
    "A04": bricard,
    "A05": flyball_governor,
    "slider-crank": slider_crank,
    "slider-crank-pivot": lambda: slider_crank("pivot"),
    "heavy-top": heavy_top,
    "bicycle": bicycle,
}
"""The benchmarks by the names that the command line takes."""

__all__ = [
    "ALL", "Benchmark", "Result", "andrews_squeezer", "bicycle", "bricard", "energy_drift", "flyball_governor",
    "heavy_top", "n_four_bar", "run", "simple_pendulum", "slider_crank", "table",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
