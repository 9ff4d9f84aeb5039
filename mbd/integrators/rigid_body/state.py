"""What a run of single rigid bodies consists of: a table of constants and the moving state, in principal axes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

BODY = np.dtype(
    [(name, "i8") for name in ("node", "rotates", "held")]  # held: its centre stays where it is
    + [(name, "f8") for name in ("mass", "mobility")]  # mobility: 1/mass, 0 if held
    + [(name, "f8") for name in ("unit", "per_unit")]  # of the body's inertia, a power of two, and its inverse
    + [(name, "f8") for name in ("i1", "i2", "i3", "k1", "k2", "k3")]  # principal moments in units, inverses
    + [(name, "f8") for name in ("x1", "x2", "x3")]  # the centre in body axes, seen from the reference point
    + [(name, "f8") for name in ("a0", "a1", "a2", "a3")]  # quaternion of the principal axes in body axes
    + [(name, "f8") for name in ("p1", "p2", "p3")]  # where a held centre is
)


class Bodies(NamedTuple):
    """Bodies that move on their own: rotation about a centre, which is the centre of mass or a fixed point.

    Momentum ``y`` and torque in principal axes and in units of the body's inertia, ``e`` the quaternion from principal
    axes to space, ``x`` and ``u`` position and velocity of the centre in space. ``*c`` carry rounding errors, ``*0``
    the state at the origin of time.
    """

    table: Any  # BODY records
    series: Any  # (n, 19) coefficients of modified moments of inertia
    y: Any
    e: Any
    x: Any
    u: Any
    yc: Any
    ec: Any
    xc: Any
    uc: Any
    y0: Any
    e0: Any
    x0: Any
    u0: Any
    force: Any  # (n, 3) on the centre, in space
    torque: Any  # (n, 3) about the centre, principal axes
    blocks: Any  # (k, 6) blocks of the stiffness matrix: row, rows, column, columns, offset, stride
    zero: Any  # as long as any vector that must vanish
    scratch: Any
    info: Any  # code, node


MOMENTA = ("y", "yc", "y0")
STATE = ("y", "e", "x", "u", "yc", "ec", "xc", "uc", "y0", "e0", "x0", "u0")


class Vectors(NamedTuple):
    """A record: coordinates, velocities, accelerations and multipliers of the system."""

    q: Any
    v: Any
    vd: Any
    lam: Any


def new_bodies(table: np.recarray, series: np.ndarray, blocks: np.ndarray, zeros: int) -> Bodies:
    """Room for the state."""
    n = len(table)
    arrays = {name: np.zeros((n, 4 if name.startswith("e") else 3)) for name in (*STATE, "force", "torque")}
    return Bodies(
        table=table, series=series, blocks=blocks, zero=np.zeros(zeros), scratch=np.zeros(32),
        info=np.zeros(2, dtype=np.int64), **arrays,
    )  # fmt: skip
