"""The second configuration from which discrete Euler-Lagrange equations may start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...elements.arguments import Numbers
from ...errors import Array, ModelError

if TYPE_CHECKING:
    from ...system.system import System

CONSISTENT = 1e-6  # largest violation of a constraint, in its own unit, that counts as round-off of given numbers

Configuration = Numbers | Mapping[str, Numbers]
"""All coordinates, or those of every body by its name."""

Flat = tuple[float, ...]
Named = tuple[tuple[str, Flat], ...]


def as_configuration(given: Any, owner: str) -> Flat | Named:
    """What people gave, as tuples: all coordinates, or (name of a body, its coordinates) for every body."""
    if isinstance(given, tuple) and given and all(isinstance(x, tuple) and len(x) == 2 for x in given):
        given = dict(given)  # as it is stored
    if isinstance(given, Mapping):
        named = {str(getattr(key, "name", key)): x for key, x in given.items()}
        return tuple((name, _numbers(x, f"{owner}: second[{name!r}]")) for name, x in named.items())
    return _numbers(given, f"{owner}: second")


def _numbers(x: Any, what: str) -> Flat:
    try:
        values = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ModelError(f"{what} is {x!r}; expected finite coordinates, as in solution.q[k]")
    return tuple(values.tolist())


def configuration_of(given: Any, system: System, t: float, owner: str) -> Array:
    """The coordinates of a system; refused if they are not as many as it has, or violate a constraint at the time t."""
    if given and isinstance(given[0], tuple):
        parts = dict(given)
        names = [body.name for body in system.model.bodies]
        for name in [*parts, *names]:
            if name not in names or name not in parts:
                text = "does not belong to the model" if name not in names else "is missing"
                raise ModelError(f"{owner}: second: body '{name}' {text}; expected {', '.join(map(repr, names))}")
        for name in names:
            q, _ = system.body_slices(name)
            _check_length(parts[name], q.stop - q.start, f"{owner}: second[{name!r}]")
        q1 = np.concatenate([parts[name] for name in names])
    else:
        _check_length(given, system.n_q, f"{owner}: second")
        q1 = np.array(given, dtype=float)
    defect = np.abs(system.constraints(q1, t))
    if defect.size and defect.max() > CONSISTENT:
        row = int(defect.argmax())
        slices = zip(system.model.joints, system.assembly.joint_slices, strict=True)
        where = next(
            (str(joint) for joint, rows in slices if rows.start <= row < rows.stop), "a body's own coordinates"
        )
        raise ModelError(
            f"{owner}: second violates the constraint of {where} by {defect[row]:.3g} at t = {t:g}; expected a "
            "configuration that meets all constraints, such as one of mbd.consistent_start"
        )
    return q1


def _check_length(x: Any, n: int, what: str) -> None:
    if len(x) != n:
        raise ModelError(f"{what} has {len(x)} numbers; expected {n}, as in solution.q[k]")
