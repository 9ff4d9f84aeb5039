"""What Python hands over to compiled code: refused where that would misread it, or write behind its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .kinds import Kind

if TYPE_CHECKING:
    from .entry import Entry
    from .kernel import Kernel


def check_arguments(function: Entry | Kernel, args: tuple) -> Any:
    """Compare arguments with the kinds that a function declares; returns the first record among them, or None."""
    if len(args) != len(function.kinds):
        raise TypeError(f"{function.__name__} takes {len(function.kinds)} arguments, {len(args)} were given")
    holder: Any = None
    rows: dict[str, tuple[int, str]] = {}
    for kind, value, name in zip(function.kinds, args, function.parameters, strict=True):
        if not isinstance(kind, Kind):
            if type(value) is not kind:
                raise TypeError(f"{function.__name__}: {name} is {value!r}; expected a record {kind.__name__}")
            if holder is None:
                holder = value
        elif kind.ndim > 0:
            _check_array(function.__name__, kind, value, name, holder)
            if kind.rows and not (kind.optional and len(value) == 0):
                count, first = rows.setdefault(kind.rows, (len(value), name))
                if len(value) != count:
                    text = f"{name} has {len(value)} {kind.rows}, and {first} has {count}"
                    raise ValueError(f"{function.__name__}: {text}; expected as many")
    return holder


def _check_array(function: str, kind: Kind, value: Any, name: str, holder: Any) -> None:
    fits = isinstance(value, np.ndarray) and value.dtype == kind.dtype and value.ndim == kind.ndim
    if not fits or not value.flags.c_contiguous or not value.flags.writeable:
        text = f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{function}: {name} is {text}; expected a contiguous, writable array {kind.text}")
    least = int(holder.lengths[kind.length]) if kind.length >= 0 and holder is not None else kind.least
    if value.shape[-1] < least:
        raise ValueError(f"{function}: {name} has {value.shape[-1]} {kind.what}; expected {least}")
