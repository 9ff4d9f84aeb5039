"""What parameters touch: tables on both sides of each are compared with those of the system itself."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..compiled.fours import AT_ONCE
from ..compiled.kinds import plain
from ..compiled.record import table_of
from ..joints.instant import DISTANCE
from ..nodes.forms import of_form
from .directions import Along
from .numbers import MARKERS, numbers_of, records_of, words_of
from .tables import BY_RECURSION, FLAG_COUPLED, FLAG_LOADED, FLAG_TREE, Tables, TreeTables
from .tree_along import TreeAlong

Array = np.ndarray
INERTIA = ("mass", "s1", "s2", "s3", *(f"{x}{ij}" for x in "jei" for ij in ("11", "22", "33", "12", "13", "23")))
"""Columns of a node on which its frame does not depend."""
LINEAR = tuple(name for name in INERTIA if not name.startswith("i"))  # all but its inverse: forces are linear in them
OTHER_NUMBERS_OF_JOINTS = ("sign", "pitch", *(f"c{i}{k}" for i in (1, 2, 3) for k in (1, 2, 3)))
ROUND_OFF = 8.0 * float(np.finfo(float).eps)
NOTHING = np.zeros(0, dtype=np.int64)
PLACES = ("primitives", "forces", "couplings", "frame_elements")  # tables of elements
TYPES: dict[str, np.dtype] = {
    **{name: member.dtype for name, member in Tables.layout.members.items() if name in (*PLACES, "nodes")},
    "carried": TreeTables.layout.members["carried"].dtype,
}


def along(tables: Tables, pairs: list[tuple[Tables, Tables]], sizes: Array, works: list[Any], rows: int) -> Along:
    """The record of ``mbd.system.directions`` for parameters with tables on both sides of each."""
    frames = (len(tables.nodes), 12)
    fits = _fits(tables)
    differ = [_differences(tables.nodes, [one.nodes for one in pair]) for pair in pairs]
    exact = [
        fits and _same_places(x) and all(_same_elements(tables, one) for one in pair)
        for x, pair in zip(differ, pairs, strict=True)
    ]
    is_driven = plain(tables.primitives)["function"] >= 0
    driven = np.flatnonzero(is_driven)
    nodes, slopes, forces, primitives, ranges = [], [], [], [], []
    falls = np.zeros((len(pairs), 3))
    for i, (e, pair) in enumerate(zip(exact, pairs, strict=True)):
        if e and not all(one.gravity is tables.gravity for one in pair):
            falls[i] = (pair[0].gravity - pair[1].gravity) / (2.0 * sizes[i])
        nodes.append(_touched_nodes(differ[i], falls[i]) if e else NOTHING)
        slopes.append(_slopes(tables, pair, sizes[i], nodes[-1]))
        forces.append(_touched_forces(tables, pair) if e else NOTHING)
        changed = _changed(tables.primitives, [one.primitives for one in pair]) if e else NOTHING
        primitives.append(changed[~is_driven[changed]])
        ranges.append(_ranges(tables, pair, sizes[i], primitives[-1]))
    above, below, width, stretch = zip(*ranges, strict=True)
    shifted = np.array([_shifted(tables, pair, x) for pair, x in zip(pairs, forces, strict=True)], dtype=np.int64)
    some_shifted = np.array([shifted[k : k + AT_ONCE].any(axis=0) for k in range(0, len(pairs), AT_ONCE)])
    n_v = len(tables.xv)
    loaded = len(driven) > 0 or bool(tables.flags[FLAG_COUPLED])
    return Along.zeros(
        dict.fromkeys(("dz", "dzd", "dza", "df", "za"), frames)
        | dict.fromkeys(("plus", "minus"), rows)
        | {"lam": len(tables.xl), "time": 1, "row": 3, "scratch": (2, 12), "still": max(n_v, len(tables.xl))},
        size=np.asarray(sizes, dtype=float), tables=table_of([one for pair in pairs for one in pair]),
        works=table_of(works), exact=np.array(exact, dtype=np.int64), driven=driven.astype(np.int64),
        above=records_of(above, TYPES["primitives"]), below=records_of(below, TYPES["primitives"]),
        width=np.concatenate(width), stretch=np.concatenate(stretch), shifted=shifted,
        some_shifted=some_shifted.astype(np.int64), slopes=records_of(slopes, TYPES["nodes"]), falls=falls,
        **_lists("node", nodes), **_lists("force", forces), **_lists("primitive", primitives), loaded=int(loaded),
        tree=_tree_along(tables, pairs, sizes),
    )  # fmt: skip


def is_differenced(g: Along) -> Array:
    """By parameter: whether something of its equations is differenced, which brings round-off."""
    some = (np.diff(g.first_force) > 0) | (g.tree.placed + g.tree.beside > 0)
    return some | (g.exact == 0) | (g.loaded != 0)


def _lists(name: str, lists: list[Array]) -> dict[str, Array]:
    first = np.cumsum([0, *(len(x) for x in lists)]).astype(np.int64)
    return {f"first_{name}": first, f"{name}s": np.concatenate([*lists, np.zeros(0)]).astype(np.int64)}


def _fits(tables: Tables) -> bool:
    """Whether the product rule of ``mbd.nodes.along``, or of ``tree_along``, is that of all nodes."""
    if tables.flags[FLAG_TREE]:
        plain = tables.flags[FLAG_TREE] == BY_RECURSION and not tables.flags[FLAG_LOADED] and not len(tables.tree.free)
        return bool(plain and of_form(tables.nodes, "ground", "joint", "lie").all())
    simple = of_form(tables.nodes, "ground", "point", "lie").all()
    return bool(simple and len(tables.nonholonomic) == 0)


def _tree_along(tables: Tables, pairs: list[tuple[Tables, Tables]], sizes: Array) -> TreeAlong:
    """Buffers for joint coordinates, and which parameters move joints."""
    tree, n = tables.tree, len(tables.nodes) if tables.flags[FLAG_TREE] else 0
    n_v = len(tree.inertia)
    moved = np.full((len(pairs), n), -1, dtype=np.int64)
    moves: list[Any] = []
    placed = np.zeros(len(pairs), dtype=np.int64)
    for i, pair in enumerate(pairs):
        touched = _changed(tree.carried, [one.tree.carried for one in pair]) if n else NOTHING
        carried = [one.tree.carried for one in (tables, *pair)]
        found = [_move_of(carried[0][k], carried[1][k], carried[2][k], sizes[i]) for k in touched]
        if any(x is None for x in found):
            placed[i] = 1
            continue
        moved[i, touched] = len(moves) + np.arange(len(touched))
        moves += found
    groups = [int((moved[k : k + AT_ONCE] >= 0).any()) for k in range(0, len(pairs), AT_ONCE)]
    beside = [n > 0 and (_touches_functions(tables, pair) or _touches_joints(tables, pair)) for pair in pairs]
    shapes: dict[str, Any] = {
        "rates": (n_v, 18), "bodies": (n, 16), "jets": (n, 18), "wrench": (n, 6), "carrier": 6, "acceleration": 6,
        "slopes": (len(tree.loads), 2), "first": 6, "second": 6, "motion": (n, 6), "left": (len(moves), 6),
    }  # fmt: skip
    return TreeAlong.zeros(
        shapes, placed=placed, beside=np.array(beside, dtype=np.int64), moved=moved,
        moves=np.array(moves).reshape(-1, 18), some_moved=np.array(groups, dtype=np.int64),
    )  # fmt: skip


def _move_of(own: Any, plus: Any, minus: Any, size: float) -> list[float] | None:
    """How a parameter moves a joint on parent and child, as in ``TreeAlong.moves``; None if it does more than that."""
    if any(plus[name] != minus[name] for name in OTHER_NUMBERS_OF_JOINTS):
        return None

    def slope(names: list[str]) -> Array:
        return np.array([plus[name] - minus[name] for name in names]) / (2.0 * size)

    found: list[float] = []
    for side, sign in (("a", 1.0), ("b", -1.0)):
        point, axes = [f"p{side}{k}" for k in (1, 2, 3)], [f"{side}{i}{k}" for i in (1, 2, 3) for k in (1, 2, 3)]
        turn = slope(axes).reshape(3, 3) @ np.array([own[name] for name in axes]).reshape(3, 3).T
        skew = 0.5 * (turn - turn.T)  # which it is up to the error of differences
        found += [*(sign * np.array([skew[2, 1], skew[0, 2], skew[1, 0]])).tolist(), *(sign * slope(point)).tolist()]
        found += [float(own[name]) for name in point]
    return found


def _touches_functions(tables: Tables, pair: tuple[Tables, Tables]) -> bool:
    """Whether user functions may refer to the parameter: others are those of the system itself (``Snapshots``)."""
    return len(tables.functions) > 0 and not all(one.functions is tables.functions for one in pair)


def _touches_joints(tables: Tables, pair: tuple[Tables, Tables]) -> bool:
    """Whether springs, motors or rotors on joints differ."""
    rotors = any(not np.array_equal(one.tree.inertia, tables.tree.inertia) for one in pair)
    return rotors or len(_changed(tables.forces, [one.forces for one in pair])) > 0


@functools.cache
def _words_of_columns(name: str, wanted: str) -> Array:
    """Words of records: integers, numbers, those of points and axes, of a node's inertia, or anything but inertia."""
    dtype = TYPES[name]
    assert dtype.fields is not None
    is_chosen = {
        "integers": lambda x: dtype[x].kind == "i",
        "numbers": lambda x: dtype[x].kind == "f",
        "linear": lambda x: x in LINEAR,
        "markers": lambda x: x in MARKERS,
        "places": lambda x: x not in INERTIA,
    }[wanted]
    return np.array([dtype.fields[x][1] // 8 for x in dtype.fields if is_chosen(x)], dtype=np.int64)


def _agree(one: Any, two: Any, name: str, wanted: str) -> bool:
    """Whether two tables are as long, and have the same bits in some of their columns."""
    if one is two:  # as in ``Snapshots``
        return True
    some = _words_of_columns(name, wanted)
    return len(one) == len(two) and not (words_of(one) != words_of(two))[:, some].any()


def _differences(table: Any, others: list[Any]) -> Array:
    """Where words of tables as long as this one are others: (tables, rows, words); of tables that are this one none."""
    words = [words_of(other) for other in others if other is not table]
    return np.array(words) != words_of(table) if words else np.zeros((0, len(table), 1), dtype=bool)


def _same_places(differ: Array) -> bool:
    """Whether no frame moves with the parameter alone, by the differences of nodes."""
    return not (len(differ) and differ[:, :, _words_of_columns("nodes", "places")].any())


def _same_elements(tables: Tables, other: Tables) -> bool:
    """Whether all elements have their places."""
    if not all(_agree(getattr(tables, name), getattr(other, name), name, "integers") for name in PLACES):
        return False
    one, two = tables.tree, other.tree
    if one.order is not two.order and not np.array_equal(one.order, two.order):
        return False
    if one.loads is not two.loads and not np.array_equal(one.loads, two.loads):
        return False
    return _agree(one.carried, two.carried, "carried", "integers")


def _touched_nodes(differ: Array, falls: Array) -> Array:
    """Nodes whose inertia or weight changes, by the differences of nodes; the ground has none."""
    if falls.any():
        return np.arange(1, differ.shape[1])
    return np.flatnonzero(differ.any(axis=(0, 2)))


def _slopes(tables: Tables, pair: tuple[Tables, Tables], size: float, which: Array) -> Array:
    """Words of the records of some nodes with the slopes of their inertia."""
    found = words_of(tables.nodes)[which]
    if len(which):
        columns = _words_of_columns("nodes", "linear")
        plus, minus = (numbers_of(one.nodes)[which][:, columns] for one in pair)
        found.view(np.float64)[:, columns] = (plus - minus) / (2.0 * size)
    return found


def _ranges(tables: Tables, pair: tuple[Tables, Tables], size: float, which: Array) -> tuple[Array, ...]:
    """Words of the records of some constraints with numbers far to both sides, how far apart these are, and slopes of
    lengths.

    Far along their slopes: by as much as they are. Lengths of distances stay as they are in these records. In the
    middle is the mean of the tables on both sides: of what is quadratic the wide difference is then that of these
    tables, which the states on both sides satisfy. Beside the system's own numbers the slopes, which miss third
    derivatives, would contradict each other.
    """
    above = words_of(tables.primitives)[which]
    below, width, stretch = above.copy(), np.ones(len(above)), np.zeros(len(above))
    if len(above):
        columns = _words_of_columns("primitives", "numbers")
        own, plus, minus = (plain(one.primitives)[which] for one in (tables, *pair))
        far = own["kind"] == DISTANCE
        stretch[far] = (plus["value"] - minus["value"])[far] / (2.0 * size)
        plus["value"][far] = minus["value"][far] = 0.5 * (plus["value"] + minus["value"])[far]
        first, second = (numbers_of(x)[:, columns] for x in (plus, minus))
        here, slope = 0.5 * (first + second), (first - second) / (2.0 * size)
        steepest = np.abs(slope).max(axis=1)
        steepest[steepest == 0.0] = 1.0
        reach = 2.0 ** np.round(np.log2(np.maximum(np.abs(here).max(axis=1), 1.0) / steepest))
        above.view(np.float64)[:, columns] = here + reach[:, None] * slope
        below.view(np.float64)[:, columns] = here - reach[:, None] * slope
        width = 2.0 * reach
    return above, below, width, stretch


def _touched_forces(tables: Tables, pair: tuple[Tables, Tables]) -> Array:
    """Force elements that differ, and those with functions, in which the parameter may stand."""
    changed = _changed(tables.forces, [one.forces for one in pair])
    if not _touches_functions(tables, pair):
        return changed
    called = np.zeros(len(tables.forces), dtype=bool)
    for name in ("function", "feed", "call"):
        called |= tables.forces[name] >= 0
    return np.union1d(changed, np.flatnonzero(called))


def _shifted(tables: Tables, pair: tuple[Tables, Tables], touched: Array) -> Array:
    """Force elements whose points or axes change, or numbers not in proportion: lengths by default, for instance."""
    shifted = np.zeros(len(tables.forces), dtype=np.int64)
    if len(touched):
        own, plus, minus = (numbers_of(one.forces)[touched] for one in (tables, *pair))
        markers = _words_of_columns("forces", "markers")
        moved = (plus[:, markers] != minus[:, markers]).any(axis=1)
        numbers = _words_of_columns("forces", "numbers")
        own, plus, minus = (x[:, numbers] for x in (own, plus, minus))
        with np.errstate(invalid="ignore"):  # limits that are infinite
            bend = np.abs(plus - own - (own - minus)) > ROUND_OFF * np.maximum(np.abs(own), np.abs(plus - own))
        shifted[touched[moved | bend.any(axis=1)]] = 1
    return shifted


def _changed(table: Any, others: list[Any]) -> Array:
    """Rows in which one of the others differs."""
    if all(other is table for other in others):
        return NOTHING
    return np.flatnonzero(_differences(table, others).any(axis=(0, 2)))
