"""What a run of single rigid bodies consists of: a table of constants and the moving state, in principal axes."""

from __future__ import annotations

import numpy as np

from ...compiled.kinds import integer, integer_matrix, matrix, real, records, vector
from ...compiled.record import Record
from ..numbers import MOST_PARTS
from .stages import Stages

BODY = np.dtype(
    [(name, "i8") for name in ("node", "rotates", "held")]  # held: its centre stays where it is
    + [(name, "f8") for name in ("mass", "mobility")]  # mobility: 1/mass, 0 if held
    + [(name, "f8") for name in ("unit", "per_unit")]  # of the body's inertia, a power of two, and its inverse
    + [(name, "f8") for name in ("i1", "i2", "i3", "k1", "k2", "k3")]  # principal moments in units, inverses
    + [(name, "f8") for name in ("x1", "x2", "x3")]  # the centre in body axes, seen from the reference point
    + [(name, "f8") for name in ("a0", "a1", "a2", "a3")]  # quaternion of the principal axes in body axes
    + [(name, "f8") for name in ("p1", "p2", "p3")]  # where a held centre is
)


class Bodies(Record):
    """Bodies that move on their own: rotation about a centre, which is the centre of mass or a fixed point.

    Momentum ``y`` and torque in principal axes and in units of the body's inertia, ``e`` the quaternion from principal
    axes to space, ``x`` and ``u`` position and velocity of the centre in space. ``*c`` carry rounding errors, ``*0``
    the state at the origin of time.
    """

    table = records(BODY)
    series = matrix  # (n, COEFFICIENTS) of modified moments of inertia, see ``series``
    y = matrix
    e = matrix
    x = matrix
    u = matrix
    yc = matrix
    ec = matrix
    xc = matrix
    uc = matrix
    y0 = matrix
    e0 = matrix
    x0 = matrix
    u0 = matrix
    force = matrix  # (n, 3) on the centre, in space
    torque = matrix  # (n, 3) about the centre, principal axes
    blocks = integer_matrix  # (k, 6) blocks of the stiffness matrix: row, rows, column, columns, offset, stride
    zero = vector  # as long as any vector that must vanish
    scratch = vector
    kicks = vector  # parts of a step over which forces act, before and after every flow (see ``stages``)
    flows = vector  # parts of a step over which bodies move freely
    reached = vector  # parts of a step that have passed after every flow
    weights = vector  # lengths of the steps of which a composed step consists, as parts of it; otherwise one
    begins = vector  # where they begin
    # parameters
    origin = real  # time of step 0
    step = real
    flow = integer  # method of free rotations, see ``flows``
    scheme = integer  # splitting with forces, see ``loops``
    parts = integer  # steps of which a composed step consists, otherwise one
    damped = integer  # whether some force depends on velocities
    # the last call
    verdict = integer  # see ``verdicts``
    where = integer  # node that stopped it, or 0
    done = integer  # steps


MOMENTA = ("y", "yc", "y0")
STATE = ("y", "e", "x", "u", "yc", "ec", "xc", "uc", "y0", "e0", "x0", "u0")


class Vectors(Record):
    """What is recorded: coordinates, velocities, accelerations and multipliers of the system."""

    q = vector
    v = vector
    vd = vector
    lam = vector


def new_bodies(
    table: np.recarray, series: np.ndarray, blocks: np.ndarray, zeros: int, stages: Stages, **parameters: float
) -> Bodies:
    """Room for the state."""
    n = len(table)
    arrays = {name: np.zeros((n, 4 if name.startswith("e") else 3)) for name in (*STATE, "force", "torque")}
    return Bodies(
        table=table, series=series, blocks=blocks, zero=np.zeros(zeros), scratch=np.zeros(32), **arrays, **parameters,
        kicks=stages.kicks, flows=stages.flows, reached=stages.reached, weights=np.ones(MOST_PARTS),
        begins=np.zeros(MOST_PARTS + 1), parts=1,
    )  # fmt: skip
