"""Reference problems: each function returns a Benchmark with the model, its source, reference values and error measure.

    benchmark = mbd.benchmarks.n_four_bar(40)
    solution = benchmark.simulate()
    benchmark.error(solution)

``python -m mbd benchmarks`` runs them all.
"""

from mbd.benchmarks.bars import double_pendulum, floating_bodies, three_bar
from mbd.benchmarks.benchmark import Benchmark, Result, energy_drift, run, table
from mbd.benchmarks.bicycle import bicycle
from mbd.benchmarks.flight import follower_torque, free_body, quadrotors, three_bodies
from mbd.benchmarks.planar import andrews_squeezer, n_four_bar, simple_pendulum
from mbd.benchmarks.puma import puma
from mbd.benchmarks.spacecraft import dual_spin, manipulator, reaction_wheels
from mbd.benchmarks.spatial import bricard, flyball_governor, heavy_top, slider_crank
from mbd.benchmarks.stewart import stewart_platform

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
    "heavy-top-pinned": lambda: heavy_top(pinned=True),
    "bicycle": bicycle,
    "free-body": free_body,
    "follower-torque": follower_torque,
    "double-pendulum": double_pendulum,
    "reaction-wheels": reaction_wheels,
    "quadrotors": quadrotors,
    "manipulator": manipulator,
    "floating-bodies": floating_bodies,
    "three-bar": three_bar,
    "dual-spin": dual_spin,
    "three-bodies": three_bodies,
    "puma": puma,
    "puma-zero": lambda: puma("zero"),
    "stewart": stewart_platform,
}
"""The benchmarks by the names that the command line takes."""

TABLE_1 = {
    1: "free-body", 2: "heavy-top", 3: "heavy-top-pinned", 4: "follower-torque", 5: "slider-crank",
    6: "double-pendulum", 7: "A05", 8: "reaction-wheels", 9: "A04", 10: "quadrotors", 11: "manipulator",
    12: "floating-bodies", 13: "three-bar", 14: "dual-spin", 15: "three-bodies",
}  # fmt: skip
"""The systems of Table 1 of Holzinger, Arnold & Gerstmayr 2024: number there, name in ``ALL``."""

__all__ = [
    "ALL", "TABLE_1", "Benchmark", "Result", "andrews_squeezer", "bicycle", "bricard", "double_pendulum", "dual_spin",
    "energy_drift", "floating_bodies", "flyball_governor", "follower_torque", "free_body", "heavy_top", "manipulator",
    "n_four_bar", "puma", "quadrotors", "reaction_wheels", "run", "simple_pendulum", "slider_crank",
    "stewart_platform", "table", "three_bar", "three_bodies",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
