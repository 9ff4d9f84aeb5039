"""A model as people read it: tables of its bodies, joints and forces; ``print(model)``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..model import Model

MOST = 30  # rows of a table; of longer ones the first and the last are shown
WIDTH = 40  # of a column


def model_table(model: Model) -> str:
    """Tables of what a model consists of."""
    parts = [repr(model)[1:-1]]
    bodies = [
        (body.name, type(body).__name__, _number(getattr(body, "mass", None)), _vector(getattr(body, "position", None)),
         type(body.node).__name__ if hasattr(body, "node") else "")
        for body in model.bodies
    ]  # fmt: skip
    parts += _table(("body", "kind", "mass", "position", "coordinates"), bodies)
    joints = [
        (joint.name, type(joint).__name__, " - ".join(_names(joint.bodies)), str(_rows(joint)))
        for joint in model.joints
    ]
    parts += _table(("joint", "kind", "between", "equations"), joints)
    forces = [(force.name, type(force).__name__, ", ".join(_acts_on(force))) for force in model.forces]
    parts += _table(("force", "kind", "on"), forces)
    values = [(name, type(x).__name__.lower(), _number(x.number)) for name, x in model._parameters.items()]
    parts += _table(("name", "kind", "value"), values)
    return "\n".join(parts)


def _acts_on(force: Any) -> list[str]:
    return _names(force.joints) or _names(force.bodies)


def _names(elements: Iterable[Any]) -> list[str]:
    return [element.name for element in elements]


def _rows(joint: Any) -> int:
    return sum(primitive.rows for primitive in joint.primitives())


def _number(value: Any) -> str:
    return "" if value is None or np.ndim(value) else f"{float(value):.6g}"


def _vector(value: Any) -> str:
    return "" if value is None else f"({', '.join(f'{x + 0.0:.5g}' for x in np.asarray(value).tolist())})"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of a table; nothing if it is empty."""
    if not rows:
        return []
    shown = list(rows)
    if len(rows) > MOST:
        left = len(rows) - MOST
        shown = [*rows[: MOST - 5], (f"... {left} more", *[""] * (len(head) - 1)), *rows[-5:]]
    cut = [tuple(x if len(x) <= WIDTH else x[: WIDTH - 3] + "..." for x in row) for row in shown]
    widths = [max(len(row[k]) for row in [head, *cut]) for k in range(len(head))]
    lines = ["  ".join(x.ljust(width) for x, width in zip(row, widths, strict=True)).rstrip() for row in [head, *cut]]
    return ["", lines[0], "-" * len(lines[0]), *lines[1:]]
