"""Elements as numbers: what the tables hold of a body, of the primitives of a joint, and of a force.

The assembly writes these numbers once, and the writers of parameters (``writers``) whenever one of them changes.
"""

from __future__ import annotations

import math
import struct
from itertools import chain
from typing import Any

import numpy as np

from ..bodies import PointMass, RigidBody
from ..compiled.kernel import kernel
from ..compiled.kinds import as_records, integer, real, records
from ..errors import ZERO3, ModelError
from ..joints.instant import ANGLE, COINCIDENT, DISTANCE, DOT1, DOT2, ROTATING
from ..joints.primitive_data import Coincident, CoordinateSum, DistanceBetween, Dot1, Dot2, Turned
from ..nodes.forms import FORM_LIE, FORM_POINT, NODE
from .tables import FORCE, PARAMETER_ARM, PARAMETER_LENGTH, PARAMETER_WEIGHT, PRIMITIVE, Tables

Numbers = tuple[float, ...]
FRAMED = RigidBody, PointMass

MARKERS = tuple(f"{name}{i}" for name in ("pa", "pb", "aa", "ab", "na", "nb") for i in (1, 2, 3))
PRIMITIVE_NUMBERS = (*MARKERS, "value", "factor")  # in the order of the columns of the tables
FORCE_NUMBERS = (*MARKERS, "p1", "p2", "p3", "p4", "p5", "p6")
FAINT = 1e-8  # inertia that is near the round-off of directions, whose size is one
_ZERO: Any = (0.0, 0.0, 0.0)
_NO_AXES = (*_ZERO, *_ZERO, *_ZERO, *_ZERO, 0.0, 1.0)


def numbers_of(table: Any) -> np.ndarray:
    """All words of a table of records as numbers, row by row, in place."""
    return table.view(np.float64, np.ndarray).reshape(len(table), table.dtype.itemsize // 8)  # type: ignore[no-any-return]


def words_of(table: Any) -> np.ndarray:
    """All words of a table of records as integers, row by row, in place."""
    return table.view(np.int64, np.ndarray).reshape(len(table), table.dtype.itemsize // 8)  # type: ignore[no-any-return]


def records_of(words: list[np.ndarray], dtype: np.dtype) -> Any:
    """Words of records, of one table after the other, as one table of a type."""
    rows = np.concatenate(words)
    return as_records(np.ndarray(len(rows), dtype, rows))


def blank_table(count: int, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table of records that are zero, and all of its words as integers and as numbers, in place."""
    words = np.zeros((count, dtype.itemsize // 8), dtype=np.int64)
    return np.ndarray(count, dtype, words), words, words.view(np.float64)


def columns(dtype: np.dtype, first: str, count: int) -> slice:
    """Where some numbers of a record that follow each other are."""
    assert dtype.fields is not None
    start = dtype.fields[first][1] // 8
    return slice(start, start + count)


PRIMITIVE_COLUMNS = columns(PRIMITIVE, "pa1", len(PRIMITIVE_NUMBERS))
FORCE_COLUMNS = columns(FORCE, "pa1", len(FORCE_NUMBERS))


def copy_numbers(tables: Tables, copies: list[Tables]) -> None:
    """Let copies of tables have their numbers of drivers and forces, of which inputs may have changed some.

    Places of blocks stay what they are: those of copies may be others.
    """
    for name, numbers in (("primitives", PRIMITIVE_COLUMNS), ("forces", FORCE_COLUMNS)):
        known = numbers_of(getattr(tables, name))[:, numbers]
        for copy in copies:
            numbers_of(getattr(copy, name))[:, numbers] = known


def packed_integers(rows: list[Any]) -> np.ndarray:
    """Rows of integers as an array, in a third of the time that numpy takes to look at each of them."""
    return _packed(rows, "q", np.int64)


def packed_numbers(rows: list[Numbers]) -> np.ndarray:
    """Rows of numbers as an array, see ``packed_integers``."""
    return _packed(rows, "d", np.float64)


def _packed(rows: list[Any], letter: str, dtype: type) -> np.ndarray:
    width = len(rows[0])
    words = struct.pack(f"{len(rows) * width}{letter}", *chain.from_iterable(rows))
    return np.frombuffer(words, dtype=dtype).reshape(len(rows), width)


def table_of_rows(dtype: np.dtype, integers: list[Any], numbers: list[Numbers], first: str) -> np.ndarray:
    """Records that begin with these integers, and hold numbers from a column on."""
    table, words, columns_of_numbers = blank_table(len(integers), dtype)
    if integers:
        words[:, : len(integers[0])] = packed_integers(integers)
        columns_of_numbers[:, columns(dtype, first, len(numbers[0]))] = packed_numbers(numbers)
    return table


_INERTIA = columns(NODE, "mass", 10)


def inertia_numbers(body: Any) -> Numbers:
    """Mass, first moment, and inertia about the reference point: 11, 22, 33, 12, 13, 23."""
    if isinstance(body, RigidBody):
        c, m, j = body.com, body.mass, body.inertia
        if c is ZERO3 or not any(c.tolist()):
            (j11, j12, j13), (_, j22, j23), (_, _, j33) = j.tolist()
            return m, 0.0, 0.0, 0.0, j11, j22, j33, j12, j13, j23
        s = m * c
        full = j + m * (float(c @ c) * np.eye(3) - np.outer(c, c))  # Steiner
        return (m, *s, full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2])
    return (body.mass if isinstance(body, PointMass) else 0.0, *(0.0,) * 9)


def write_inertia(nodes: Any, first: int, inertia: Any) -> None:
    """Mass properties of nodes that follow each other, as rows of ``inertia_numbers``, with their Euler tensors."""
    end = first + len(inertia)
    numbers_of(nodes)[first:end, _INERTIA] = inertia
    _write_euler(nodes, first, end)


@kernel(kinds=(records(NODE), integer, integer))
def _write_euler(nodes, first, end):
    """Euler tensors 1/2 tr(J) I - J."""
    for i in range(first, end):
        n = nodes[i]
        half = 0.5 * (n.j11 + n.j22 + n.j33)
        n.e11, n.e22, n.e33 = half - n.j11, half - n.j22, half - n.j33
        n.e12, n.e13, n.e23 = -n.j12, -n.j13, -n.j23


def primitive_numbers(p: Any, joint: Any) -> tuple[int, Numbers]:
    """The kind of a primitive, and its points, axes and value as in ``PRIMITIVE_NUMBERS``."""
    value = 0.0
    pa, pb, aa, ab, na = _ZERO, _ZERO, _ZERO, _ZERO, _ZERO
    if isinstance(p, Coincident):
        points: Any = p.point_a, p.point_b
        return COINCIDENT, (*points[0].tolist(), *points[1].tolist(), *_NO_AXES)
    elif isinstance(p, Dot1):
        kind, aa, ab, value = DOT1, p.axis_a, p.axis_b, p.value
    elif isinstance(p, Dot2):
        kind, aa, pa, pb, value = DOT2, p.axis_a, p.point_a, p.point_b, p.value
    elif isinstance(p, DistanceBetween):
        kind, pa, pb, value = DISTANCE, p.point_a, p.point_b, p.length
    elif isinstance(p, Turned):
        kind, aa, na, ab, value = ROTATING, p.n1_a, p.n2_a, p.axis_b, p.value
    else:
        raise ModelError(
            f"joint '{joint.name}': primitives() returned {p!r}; expected Coincident, Dot1, Dot2 or DistanceBetween"
        )
    return kind, (*pa, *pb, *aa, *ab, *na, *_ZERO, value, 1.0)


def sum_numbers(p: CoordinateSum) -> list[tuple[int, Numbers]]:
    """Kind and numbers of each term of a sum of joint coordinates."""
    found: list[tuple[int, Numbers]] = []
    for k, term in enumerate(p.terms):
        joint, value = term.joint, p.value if k == 0 else 0.0
        if term.kind == "angle":
            kind, markers = ANGLE, (*_ZERO, *_ZERO, *joint.axis_a, *_ZERO, *joint.n1_a, *joint.n1_b)
        else:
            axis = term.factor * joint.axis_a
            kind, markers = DOT2, (*joint.point_a, *joint.point_b, *axis, *_ZERO, *_ZERO, *_ZERO)
        found.append((kind, (*markers, value, term.factor)))
    return found


def force_numbers(r: Any) -> Numbers:
    """Points, axes and parameters of a row of a force, as in ``FORCE_NUMBERS``."""
    parameters = tuple(r.parameters) + (0.0,) * (6 - len(r.parameters))
    return (*r.point_a, *r.point_b, *r.axis_a, *r.axis_b, *r.normal_a, *r.normal_b, *parameters)


def write_lengths(model: Any, tables: Tables) -> float:
    """Write the typical distance of joints from reference points, the extent of the model, which is returned, and the
    weight of constraints."""
    arm = extent = 0.0
    positions = [body.node.position for body in model.bodies if isinstance(body, FRAMED)]
    if positions:
        extent = float(np.abs(np.concatenate(positions)).max())
    for body in model.bodies:
        if isinstance(body, RigidBody) and body.mass > 0.0:
            trace = sum(body.inertia.diagonal().tolist())
            arm = max(math.sqrt(trace / body.mass), *map(abs, body.com.tolist()))
            break
    _write_lengths(tables, arm, extent)
    return float(tables.parameters[PARAMETER_LENGTH])


@kernel
def _longest(table, arm, extent):
    """(arm, extent) with the points of primitives: their distances from the reference points of bodies, and all."""
    for i in range(table.shape[0]):
        p = table[i]
        first, second = max(abs(p.pa1), abs(p.pa2), abs(p.pa3)), max(abs(p.pb1), abs(p.pb2), abs(p.pb3))
        extent = max(extent, first, second)
        if p.a != 0:
            arm = max(arm, first)
        if p.b != 0:
            arm = max(arm, second)
    return arm, extent


@kernel(kinds=(Tables, real, real))
def _write_lengths(s, arm, extent):
    """Write typical lengths: those of bodies (arm, extent), or more where points of joints are further away."""
    arm, extent = _longest(s.primitives, arm, extent)
    arm, extent = _longest(s.couplings, arm, extent)
    if arm == 0.0:
        arm = extent if extent > 0.0 else 1.0
    s.parameters[PARAMETER_ARM], s.parameters[PARAMETER_LENGTH] = arm, max(arm, extent)
    least = _least_inertia(s.nodes)
    s.parameters[PARAMETER_WEIGHT] = least if least < FAINT else 0.0


@kernel
def _least_inertia(nodes):
    """The smallest of all masses and of the largest moments of inertia of all bodies that have one.

    A constraint that is no larger must not give a pivot in place of it: what rounding leaves of a direction may be.
    """
    least = math.inf
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        for size in (n.mass, max(n.j11, n.j22, n.j33)):
            if 0.0 < size < least:
                least = size
    return least


def invert_inertia(nodes: np.ndarray) -> bool:
    """Inverse inertia of every Lie node, about its centre of mass or, if pinned, its reference point.

    Returns whether all nodes are Lie or point nodes with invertible inertia.
    """
    if not np.isin(nodes["form"][1:], [FORM_LIE, FORM_POINT]).all():
        return False
    n = nodes[1:][nodes["form"][1:] == FORM_LIE]
    if len(n) == 0:
        return True
    if (n["mass"] == 0.0).any():
        return False
    j = np.empty((len(n), 3, 3))
    for i in range(3):
        for k in range(i, 3):
            j[:, i, k] = j[:, k, i] = n[f"j{i + 1}{k + 1}"]
    s = np.stack([n["s1"], n["s2"], n["s3"]], axis=1)
    square = np.einsum("ni,ni->n", s, s)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", s, s)
    j -= np.where(n["nx"] == 3, 1.0 / n["mass"], 0.0)[:, None, None] * square  # Steiner, back to the centre of mass
    values = np.linalg.eigvalsh(j)
    if (values[:, 0] <= 1e-12 * values[:, 2]).any():
        return False
    inverse = np.linalg.inv(j)
    lie = np.flatnonzero(nodes["form"] == FORM_LIE)
    for i in range(3):
        for k in range(i, 3):
            nodes[f"i{i + 1}{k + 1}"][lie] = inverse[:, i, k]
    return True
