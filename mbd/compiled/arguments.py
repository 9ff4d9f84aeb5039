"""What Python hands over to compiled code: refused where that would misread it, or write behind its end."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from .kinds import Kind
from .record import address_of

if TYPE_CHECKING:
    from .entry import Entry
    from .kernel import Kernel


def check_arguments(function: Entry | Kernel, args: tuple) -> tuple[Any, list[Any]]:
    """Compare arguments with the kinds that a function declares.

    Returns the first record among them, or None, and of every argument its address, or the number that it is.
    """
    if len(args) != len(function.kinds):
        raise TypeError(f"{function.__name__} takes {len(function.kinds)} arguments, {len(args)} were given")
    holder: Any = None
    rows: dict[str, tuple[int, str]] = {}
    words: list[Any] = []
    for kind, value, name in zip(function.kinds, args, function.parameters, strict=True):
        if not isinstance(kind, Kind):
            if type(value) is not kind:
                raise TypeError(f"{function.__name__}: {name} is {value!r}; expected a record {kind.__name__}")
            if holder is None:
                holder = value
            words.append(value.address)
        elif kind.ndim > 0:
            words.append(_checked_address(function.__name__, kind, value, name, holder))
            if kind.rows and not (kind.optional and len(value) == 0):
                count, first = rows.setdefault(kind.rows, (len(value), name))
                if len(value) != count:
                    text = f"{name} has {len(value)} {kind.rows}, and {first} has {count}"
                    raise ValueError(f"{function.__name__}: {text}; expected as many")
        else:
            words.append(float(value) if kind.dtype.kind == "f" else int(value))
    return holder, words


def _checked_address(function: str, kind: Kind, value: Any, name: str, holder: Any) -> int:
    array = value if type(value) is np.ndarray else np.asarray(value)  # attributes of tables are slow
    address = 0
    if isinstance(value, np.ndarray) and array.dtype == kind.dtype and array.ndim == kind.ndim:
        with suppress(TypeError, ValueError):  # not contiguous, or read-only
            address = address_of(array)
    if not address:
        text = f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__
        raise ValueError(f"{function}: {name} is {text}; expected a contiguous, writable array {kind.text}")
    least = int(holder.lengths[kind.length]) if kind.length >= 0 and holder is not None else kind.least
    if array.shape[-1] < least:
        raise ValueError(f"{function}: {name} has {array.shape[-1]} {kind.what}; expected {least}")
    return address
