"""What parameters touch: tables on both sides of each are compared with those of the system itself."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..compiled.fours import AT_ONCE
from ..compiled.kinds import as_records
from ..compiled.record import table_of
from ..nodes.forms import of_form
from .along import EVERYBODY, NOBODY, SOME, Along
from .numbers import numbers_of, words_of
from .tables import BY_RECURSION, FLAG_COUPLED, FLAG_LOADED, FLAG_TREE, Tables, TreeTables
from .tree_along import TreeAlong

Array = np.ndarray
INERTIA = ("mass", "s1", "s2", "s3", *(f"{x}{ij}" for x in "jei" for ij in ("11", "22", "33", "12", "13", "23")))
"""Columns of a node on which its frame does not depend."""
LINEAR = tuple(name for name in INERTIA if not name.startswith("i"))  # all but its inverse: forces are linear in them
NOTHING = np.zeros(0, dtype=np.int64)
PLACES = ("primitives", "forces", "couplings", "frame_elements")  # tables of elements
TYPES: dict[str, np.dtype] = {
    **{name: member.dtype for name, member in Tables.layout.members.items() if name in (*PLACES, "nodes")},
    "carried": TreeTables.layout.members["carried"].dtype,
}


def along(tables: Tables, pairs: list[tuple[Tables, Tables]], sizes: Array, works: list[Any], rows: int) -> Along:
    """The record of ``mbd.system.along`` for parameters with tables on both sides of each."""
    frames = (len(tables.nodes), 12)
    fits = _fits(tables)
    exact = [fits and all(_same_places(tables, one) for one in pair) for pair in pairs]
    driven = np.flatnonzero(tables.primitives["function"] >= 0)
    nodes, slopes, forces, primitives = [], [], [], []
    falls = np.zeros((len(pairs), 3))
    for i, (e, pair) in enumerate(zip(exact, pairs, strict=True)):
        if e and not all(one.gravity is tables.gravity for one in pair):
            falls[i] = (pair[0].gravity - pair[1].gravity) / (2.0 * sizes[i])
        nodes.append(_touched_nodes(tables, pair, falls[i]) if e else NOTHING)
        slopes.append(_slopes(tables, pair, sizes[i], nodes[-1]))
        forces.append(_touched_forces(tables, pair) if e else NOTHING)
        changed = _changed(tables.primitives, [one.primitives for one in pair]) if e else NOTHING
        primitives.append(np.setdiff1d(changed, driven))
    differenced = _marked(primitives, len(tables.primitives))
    differenced[:, driven] = 1
    who = _by_group(differenced)
    who[:, driven] = EVERYBODY
    touched = _marked(forces, len(tables.forces))
    n_v = len(tables.xv)
    loaded = len(driven) > 0 or bool(tables.flags[FLAG_COUPLED])
    return Along.zeros(
        dict.fromkeys(("dz", "dzd", "dza", "df", "za"), frames)
        | dict.fromkeys(("plus", "minus"), rows)
        | {"lam": len(tables.xl), "time": 1, "row": 3, "scratch": (2, 12), "still": max(n_v, len(tables.xl))},
        size=np.asarray(sizes, dtype=float), tables=table_of([one for pair in pairs for one in pair]),
        works=table_of(works), exact=np.array(exact, dtype=np.int64), driven=driven.astype(np.int64),
        differenced=differenced, who=who, touched=touched, who_touches=_by_group(touched),
        slopes=as_records(np.concatenate(slopes)), falls=falls,
        **_lists("node", nodes), **_lists("force", forces), **_lists("primitive", primitives), loaded=int(loaded),
        tree=_tree_along(tables, pairs),
    )  # fmt: skip


def _marked(lists: list[Array], count: int) -> Array:
    """By parameter and element: whether the element is in the list of the parameter."""
    marked = np.zeros((len(lists), count), dtype=np.int64)
    for row, touched in zip(marked, lists, strict=True):
        row[touched] = 1
    return marked


def _by_group(marked: Array) -> Array:
    """By group and element: whether it is marked for some parameters of the group."""
    who = np.full((-(-len(marked) // AT_ONCE), marked.shape[1]), NOBODY)
    for i, row in enumerate(marked):
        who[i // AT_ONCE, row != 0] = SOME
    return who


def is_differenced(g: Along) -> Array:
    """By parameter: whether something of its equations is differenced, which brings round-off."""
    some = g.differenced.any(axis=1) | (np.diff(g.first_force) > 0) | (g.tree.placed + g.tree.beside > 0)
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


def _tree_along(tables: Tables, pairs: list[tuple[Tables, Tables]]) -> TreeAlong:
    """Buffers for joint coordinates, and which parameters move joints."""
    tree, n = tables.tree, len(tables.nodes) if tables.flags[FLAG_TREE] else 0
    n_v = len(tree.inertia)
    placed = [len(_changed(tree.carried, [one.tree.carried for one in pair])) > 0 if n else False for pair in pairs]
    beside = [n > 0 and (_touches_functions(tables, pair) or _touches_joints(tables, pair)) for pair in pairs]
    shapes: dict[str, Any] = {
        "rates": (n_v, 18), "bodies": (n, 16), "jets": (n, 18), "wrench": (n, 6), "carrier": 6, "acceleration": 6,
        "slopes": (len(tree.loads), 2), "first": 6, "second": 6, "motion": (n, 6),
    }  # fmt: skip
    return TreeAlong.zeros(shapes, placed=np.array(placed, dtype=np.int64), beside=np.array(beside, dtype=np.int64))


def _touches_functions(tables: Tables, pair: tuple[Tables, Tables]) -> bool:
    """Whether user functions may refer to the parameter: others are those of the system itself (``Snapshots``)."""
    return len(tables.functions) > 0 and not all(one.functions is tables.functions for one in pair)


def _touches_joints(tables: Tables, pair: tuple[Tables, Tables]) -> bool:
    """Whether springs, motors or rotors on joints differ."""
    rotors = any(not np.array_equal(one.tree.inertia, tables.tree.inertia) for one in pair)
    return rotors or len(_changed(tables.forces, [one.forces for one in pair])) > 0


@functools.cache
def _words_of_columns(name: str, wanted: str) -> Array:
    """Which words of the records of a table are integers, those of a node's inertia, or anything but inertia."""
    dtype = TYPES[name]
    assert dtype.fields is not None
    is_chosen = {
        "integers": lambda x: dtype[x].kind == "i",
        "linear": lambda x: x in LINEAR,
        "places": lambda x: x not in INERTIA,
    }[wanted]
    return np.array([dtype.fields[x][1] // 8 for x in dtype.fields if is_chosen(x)], dtype=np.int64)


def _agree(one: Any, two: Any, name: str, wanted: str) -> bool:
    """Whether two tables are as long, and have the same bits in some of their columns."""
    if one is two:  # as in ``Snapshots``
        return True
    some = _words_of_columns(name, wanted)
    return len(one) == len(two) and np.array_equal(words_of(one)[:, some], words_of(two)[:, some])


def _same_places(tables: Tables, other: Tables) -> bool:
    """Whether everything has its place, and no frame moves with the parameter alone."""
    if not all(_agree(getattr(tables, name), getattr(other, name), name, "integers") for name in PLACES):
        return False
    one, two = tables.tree, other.tree
    if one.order is not two.order and not np.array_equal(one.order, two.order):
        return False
    if one.loads is not two.loads and not np.array_equal(one.loads, two.loads):
        return False
    return _agree(one.carried, two.carried, "carried", "integers") and _agree(
        tables.nodes, other.nodes, "nodes", "places"
    )


def _touched_nodes(tables: Tables, pair: tuple[Tables, Tables], falls: Array) -> Array:
    """Nodes whose inertia or weight changes; the ground has none."""
    if falls.any():
        return np.arange(1, len(tables.nodes))
    return _changed(tables.nodes, [one.nodes for one in pair])


def _slopes(tables: Tables, pair: tuple[Tables, Tables], size: float, which: Array) -> Array:
    """Records of some nodes with the slopes of their inertia."""
    found = np.asarray(tables.nodes)[which]
    if len(which):
        columns = _words_of_columns("nodes", "linear")
        plus, minus = (numbers_of(one.nodes)[which][:, columns] for one in pair)
        numbers_of(found)[:, columns] = (plus - minus) / (2.0 * size)
    return found


def _touched_forces(tables: Tables, pair: tuple[Tables, Tables]) -> Array:
    """Force elements that differ, and those with functions, in which the parameter may stand."""
    changed = _changed(tables.forces, [one.forces for one in pair])
    if not _touches_functions(tables, pair):
        return changed
    called = np.zeros(len(tables.forces), dtype=bool)
    for name in ("function", "feed", "call"):
        called |= tables.forces[name] >= 0
    return np.union1d(changed, np.flatnonzero(called))


def _changed(table: Any, others: list[Any]) -> Array:
    """Rows in which one of the others differs."""
    others = [other for other in others if other is not table]
    if not others:
        return NOTHING
    changed = np.zeros(len(table), dtype=bool)
    for other in others:
        changed |= (words_of(table) != words_of(other)).any(axis=1)
    return np.flatnonzero(changed)
