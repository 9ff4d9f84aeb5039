"""The compiled types of the system record and of the work space, read off empty examples."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.record import at_address, declare
from ..linalg.symbolic import Fronts
from ..nodes.forms import NODE
from .tables import FORCE, FUNCTION, GENERAL, PRIMITIVE, Tables, Work

_INT, _UINT = np.int64, np.uint64


def _example_tables() -> Tables:
    i, f = np.zeros(0, dtype=_INT), np.zeros(0)
    table = {
        "nodes": np.zeros(0, NODE).view(np.recarray),
        "primitives": np.zeros(0, PRIMITIVE).view(np.recarray),
        "couplings": np.zeros(0, PRIMITIVE).view(np.recarray),
        "general": np.zeros(0, GENERAL).view(np.recarray),
        "forces": np.zeros(0, FORCE).view(np.recarray),
        "functions": np.zeros(0, FUNCTION).view(np.recarray),
        "fronts": Fronts(np.zeros((0, 10), _INT), i, i.astype(_UINT), i.astype(_UINT), f),
    }
    floats = ("parameters", "gravity", "constants")
    return Tables(**{name: table.get(name, f if name in floats else i) for name in Tables._fields})


def _example_work() -> Work:
    tables = ("z", "zd", "zb", "f", "spin", "base", "t", "eye", "small", "buffers", "general", "complex")
    shapes = dict.fromkeys(tables, 2) | {"jac": 3}
    integers = ("place", "pivots", "pivots2")
    kinds = dict.fromkeys(integers, _INT) | {"complex": complex}
    return Work(**{name: np.zeros((0,) * shapes.get(name, 1), dtype=kinds.get(name, float)) for name in Work._fields})


load_tables: Any = at_address(declare(_example_tables()))
load_work: Any = at_address(declare(_example_work()))
