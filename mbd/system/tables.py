"""The system record: a fixed set of tables, the same type for every model.

A finished model is nothing but these arrays. Because their types never change, one set of compiled kernels serves
every model and no model ever triggers a compilation. Tables of elements that a model does not have are empty.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.kinds import (
    complex_matrix,
    cube,
    integer,
    integers,
    matrix,
    real,
    records,
    vector,
)
from ..compiled.record import Record, record_at
from ..linalg.symbolic import Fronts
from ..nodes.forms import NODE
from ..nodes.tree.records import TreeTables, TreeWork

F8, I8 = "f8", "i8"

_MARKERS = [f"{name}{i}" for name in ("pa", "pb", "aa", "ab") for i in (1, 2, 3)]
PRIMITIVE = np.dtype(
    [(name, I8) for name in ("kind", "a", "b", "joint", "l0", "x0", "function", "turn", "shared")]
    + [(name, I8) for name in ("block_ja", "ld_ja", "block_aj", "ld_aj", "block_jb", "ld_jb", "block_bj", "ld_bj")]
    + [(name, I8) for name in ("block_ab", "ld_ab", "block_ba", "ld_ba")]
    + [(name, F8) for name in [*_MARKERS, *(f"{n}{i}" for n in ("na", "nb") for i in (1, 2, 3)), "value", "factor"]]
)

# function: where the values of a load, or of a motion with its rate, begin; feed: those of a further force; call, dual:
# numbers of the element's own function of its coordinate and of its twin, which fill in feed and its two derivatives
FORCE = np.dtype(
    [(name, I8) for name in ("kind", "law", "a", "b", "function", "feed", "call", "dual", "turn")]
    + [(name, I8) for name in ("block_ab", "ld_ab", "block_ba", "ld_ba")]
    + [(name, F8) for name in [*_MARKERS, *(f"{n}{i}" for n in ("na", "nb") for i in (1, 2, 3))]]
    + [(name, F8) for name in ("p1", "p2", "p3", "p4", "p5", "p6")]
)

# uses: of a user force what it looks at; of potentials and constraints how many entries of frames (listed behind the
# places of the blocks)
FRAME_ELEMENT = np.dtype(
    [(name, I8) for name in ("kind", "count", "first", "blocks", "joint_blocks", "p0", "function", "complex_function")]
    + [(name, I8) for name in ("exact", "joint", "owner", "l0", "x0", "rows", "uses")]
)

FUNCTION = np.dtype([("address", I8), ("block", I8), ("size", I8), ("offset", I8)])


FLAG_VELOCITY = 0  # some force needs the velocities of the frames
FLAG_CHARTS = 1  # some node has a chart with a singularity
FLAG_DENSE = 2  # the matrix is one small dense front
FLAG_ANGLES = 3  # some element counts turns
FLAG_REDUNDANT = 4  # constraints are redundant, multipliers are regularised: 1 + number of the first rows left alone
FLAG_SIMPLE = 5  # unconstrained Lie and point nodes: accelerations node by node, with the constant inverse inertia
FLAG_TREE = 6  # joints carry bodies: BY_FRONTS or BY_RECURSION
FLAG_COUPLED = 7  # there are couplings or frame elements
FLAG_LOADED = 8  # elements act on the frames of a model in joint coordinates
FLAG_DEFINITE = 9  # [M B^T; B 0] has small fronts and a definite M: no swaps of rows are needed
FLAGS = 10

BY_FRONTS = 1  # the matrix of joint coordinates is assembled and factorised
BY_RECURSION = 2  # or solved along the tree without being assembled: there are no loops and no couplings

PARAMETER_LENGTH = 0  # characteristic length
PARAMETER_ARM = 2  # typical distance of joints from the reference points of bodies
PARAMETER_REGULARISATION = 1  # subtracted from the diagonal of the multipliers if the constraints are redundant
PARAMETER_TIME = 3  # of the last evaluation, for messages
PARAMETER_WEIGHT = 4  # of constraints among the rows of which a pivot is chosen, or zero: all are alike
PARAMETERS = 5

# least lengths of vectors that Python hands over to compiled code
LENGTHS = 5
LENGTH_Q, LENGTH_V, LENGTH_L, LENGTH_X, LENGTH_MATRIX = range(LENGTHS)
coordinates: Any = vector.of("coordinates", LENGTH_Q)
velocity: Any = vector.of("velocities", LENGTH_V)
multipliers: Any = vector.of("multipliers", LENGTH_L)
unknowns: Any = vector.of("unknowns", LENGTH_X)
front_values: Any = vector.of("values of the matrix", LENGTH_MATRIX)


class Tables(Record):
    """What a model is made of; constant during a run."""

    entries = integers  # addresses of all compiled entries
    lengths = integers.at_least("lengths", LENGTHS)  # see LENGTH_*

    nodes = records(NODE)  # the ground first
    primitives = records(PRIMITIVE)  # joint by joint
    forces = records(FORCE)
    couplings = records(PRIMITIVE)  # several of which may add up to one equation
    frame_elements = records(FRAME_ELEMENT)  # elements on the frames of several bodies
    members = integers  # their nodes and blocks
    functions = records(FUNCTION)  # user functions
    xv = integers  # velocity index -> index in the permuted vector of unknowns
    xl = integers  # multiplier index -> index in the permuted vector of unknowns
    vclass = integers  # velocity index -> 0 translation, 1 rotation, 2 generalized
    lclass = integers  # multiplier index -> 0 length, 1 direction
    turning = integers  # index in the permuted vector of unknowns -> 1 velocities of rotations, 0 all others
    qv = integers  # velocity index -> index of the coordinate that it is the rate of, -1 for rotations
    nonholonomic = integers  # multiplier indices of equations that exist on the velocity level only
    diagonal = integers  # multiplier index -> its diagonal entry in the matrix
    parameters = vector.at_least("parameters", PARAMETERS)  # see PARAMETER_*
    gravity = vector.at_least("components", 3)
    constants = vector  # constant mass matrices of Generalized nodes
    flags = integers.at_least("flags", FLAGS)  # see FLAG_*
    fronts = Fronts  # the factorisation's program (mbd.linalg)
    tree = TreeTables  # joints that carry bodies


class Work(Record):
    """Buffers of one run; allocated once, contents have no meaning between calls."""

    z = matrix  # (nodes, 12) frames
    zd = matrix  # (nodes, 12) their velocities
    zb = matrix  # (nodes, 12) their accelerations at zero coordinate acceleration
    f = matrix  # (nodes, 12) frame forces
    spin = matrix  # (nodes, 9) G(rho) of three-parameter nodes
    base = matrix  # (nodes, 7) rotation vectors that increments started from last, and their quaternions
    t = matrix  # (nodes, 9) T_exp^-1 of the increment
    eye = matrix  # (nodes, 9) identities
    values = vector  # values of the functions of time, and of functions of coordinates of joints
    turns = vector  # last accepted angle of every torsion spring, for counting turns
    signs = vector  # sign of det G of every Euler node at the last accepted step
    jacobians = cube  # (8, 3, 12) of points and axes of one element, and rows made of them; named where they are used
    scratch = matrix  # (8, 16) of kernels of one node: 0 to 2 of ``body_rates`` and its like, 3 to 7 of who calls these
    force_a = vector  # (12,) frame forces of one element on its bodies
    force_b = vector  # (12,)
    pulled_back = vector  # (12,) a frame force or momentum of one node in its coordinates
    rotation = vector  # (12,) frame of one node, or T_exp of its increment
    primitive_rows = vector  # (3,) multipliers or rates of one primitive
    observed = vector  # (3,) what one element or generalized node tells of itself: energy and powers, largest force
    unit = vector  # multipliers of which only one acts
    user = vector  # scratch for user functions
    time = vector  # (2,) time of the functions' values; step of a discrete gradient, zero at an instant
    real_buffers = matrix  # of frame elements
    complex_buffers = complex_matrix
    buffers = matrix  # (9, ...) scratch for generalized nodes
    matrix = vector  # the fronts of the iteration matrix
    pivots = integers  # rows that were swapped in it
    dinv = vector  # inverses of its pivots
    weights = vector  # of its rows, where a pivot is chosen among them
    stiff_matrix = vector  # of GGL methods: a second matrix, with the tangents of forces, and its factors
    stiff_pivots = integers
    stiff_dinv = vector
    scale = vector  # size of the terms of which the pivots are sums
    x = vector  # permuted right-hand side and solution
    g = vector  # constraints in the order of x: values, rates, or biases of their second derivatives
    product = vector  # of the matrix with x
    scales = vector  # largest force and torque of the elements at the last residual
    report = vector  # of the last factorisation, see ``mbd.linalg.numeric``
    chart = real  # of the last look at charts: the index of a locked node, or the number of changes
    tree = TreeWork  # of joints that carry bodies

    def misfit(self, s: Any) -> str:
        """Compiled code would write behind the end of buffers of a smaller system."""
        if isinstance(s, Tables):
            least = {"z": len(s.nodes), "unit": s.lengths[LENGTH_L], "x": s.lengths[LENGTH_X]}
            least["matrix"] = s.lengths[LENGTH_MATRIX]
            for name, n in least.items():
                if len(getattr(self, name)) < n:
                    return f"{name} has {len(getattr(self, name))} rows, and {n} are needed"
        return ""


tables_at: Any = record_at(Tables)
work_at: Any = record_at(Work)

RECORDS = "records"
_rows: Any = matrix.per(RECORDS)
_velocities: Any = matrix.of("velocities", LENGTH_V).per(RECORDS)
_frames: Any = matrix.at_least("numbers of a frame", 12).per(RECORDS)
RECORDED: dict[str, Any] = {
    "s": Tables, "w": Work, "table": records(PRIMITIVE), "forces": records(FORCE), "i": integer, "j": integer,
    "path": integers, "times": vector.per(RECORDS), "q": matrix.of("coordinates", LENGTH_Q).per(RECORDS),
    "v": _velocities, "vd": _velocities.per(RECORDS, optional=True), "values": _rows, "turns": _rows, "columns": _rows,
    "lam": matrix.of("multipliers", LENGTH_L).per(RECORDS), "z": _frames, "zd": _frames.per(RECORDS, optional=True),
    "zdd": _frames.per(RECORDS, optional=True), "za": _frames, "zb": _frames, "zda": _frames, "zdb": _frames,
    "f": _frames, "fa": _frames, "fb": _frames, "on_a": vector.at_least("numbers of a frame", 12),
    "zero": velocity, "u": velocity,
}  # fmt: skip
"""What kernels that look at a finished run call their arguments: tables, and what was recorded row by row."""


# --- when entries of joint coordinates are needed -----------------------------------------------------------------


def has_tree(s: Tables) -> bool:
    """Whether joints carry bodies."""
    return bool(s.flags[FLAG_TREE])


def by_fronts(s: Tables) -> bool:
    """Whether the matrix of joint coordinates is assembled."""
    return bool(s.flags[FLAG_TREE] == BY_FRONTS)


def by_recursion(s: Tables) -> bool:
    """Whether joint coordinates are solved for along the tree."""
    return bool(s.flags[FLAG_TREE] == BY_RECURSION)
