"""Angles and displacements of joints as control loops read them: at every step, a few of them.

What ``solution[joint]`` computes for all records is a dozen Python calls for one. A gauge is bound once to the two
bodies of a joint and reads coordinate and rate of the present state in one compiled call, by the same kernels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.bound import bound
from ..forces.kinds import AXIS_SPRING, TORSION_SPRING
from ..joints import Joint
from ..joints.rotor_hinge import RotorHinge
from ..results.observing import table_of_spring
from ..system import observe
from ..system.tables import FLAG_TREE

if TYPE_CHECKING:
    from ..system.system import System

COORDINATES = {"angle": TORSION_SPRING, "displacement": AXIS_SPRING}
WOUND = "wound"  # an angle whose turns an element counts
GEOMETRY = ("point_a", "point_b", "frame_a", "frame_b")


class Gauge:
    """Coordinate and rate of one joint."""

    def __init__(self, system: System, joint: Any, kind: int, q: Any, v: Any) -> None:
        markers = {"pa": joint.point_a, "pb": joint.point_b, "aa": joint.axis_a, "na": joint.n1_a, "nb": joint.n1_b}
        self._known = vars(joint)
        self._geometry = [self._known[name] for name in GEOMETRY]
        self._out, none = np.zeros((1, observe.FORCE_COLUMNS)), np.zeros((0, 12))
        a, b = system.node_index(joint.body_a), system.node_index(joint.body_b)
        za, zda, zb, zdb = (np.zeros((1, 12)) for _ in range(4))
        table, vd, turns = table_of_spring(kind, markers), np.zeros((0, system.n_v)), np.zeros((1, 1))
        self._look = bound(
            observe.observe_joint, system.tables, system.work, a, b, table, q, v, vd, turns, za, zda, zb, zdb, none,
            self._out,
        )  # fmt: skip
        self._call = self._look.call

    @property
    def holds(self) -> bool:
        """Whether the joint is where it was when the gauge was made; parameters may have moved it."""
        known, (point_a, point_b, frame_a, frame_b) = self._known, self._geometry
        return (
            known["point_a"] is point_a
            and known["point_b"] is point_b
            and known["frame_a"] is frame_a
            and known["frame_b"] is frame_b
        )

    def read(self) -> tuple[float, float]:
        """Coordinate, of an angle without turns, and rate."""
        self._call()
        value, rate, *_ = self._out[0].tolist()
        return value, rate


def gauged(system: System, element: Any) -> dict[str, tuple[str, int]]:
    """Quantities of an element that a gauge can read: the name of its coordinate, and whether it is its rate.

    Not in joint coordinates, where frames follow from those of other bodies.
    """
    if system.tables.flags[FLAG_TREE] or not isinstance(element, Joint) or isinstance(element, RotorHinge):
        return {}
    found: dict[str, tuple[str, int]] = {}
    for name in COORDINATES:
        if element.coordinate in (name, "both"):
            kind = WOUND if name == "angle" and counter_of(system, element) >= 0 else name
            found |= {quantity: (kind, k) for k, quantity in enumerate((name, f"{name}_rate"))}
    return found


def counter_of(system: System, joint: Joint) -> int:
    """Which of the angles that elements count is that of a joint; -1 if none is. As in ``JointView``."""
    for force, rows in zip(system.elements[2], system.assembly.force_rows, strict=True):
        if joint in force.joints and rows.stop == rows.start + 1:
            row = system.tables.forces[rows.start]
            if row.kind == TORSION_SPRING:
                return int(row.turn)
    return -1
