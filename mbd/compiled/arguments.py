"""What Python hands over to compiled code: refused where that would misread it, or write behind its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .kinds import Kind, plain
from .record import address_of

if TYPE_CHECKING:
    from .entry import Entry
    from .kernel import Kernel


class Argument(NamedTuple):
    """What a function declares of one of its arguments, spelled out once: short runs consist of such calls."""

    name: str
    record: Any  # the class of a record, None for numbers and arrays
    kind: Any
    dtype: Any
    ndim: int
    length: int
    least: int
    rows: str
    number: Any  # float or int for single numbers


def declared_arguments(function: Entry | Kernel) -> list[Argument]:
    """The arguments of a function as calls look at them."""
    found: list[Argument] = []
    for kind, name in zip(function.kinds, function.parameters, strict=True):
        if isinstance(kind, Kind):
            number = None if kind.ndim else float if kind.dtype.kind == "f" else int
            ndim = len(kind.shape((0,) * kind.ndim))
            found.append(Argument(name, None, kind, kind.dtype, ndim, kind.length, kind.least, kind.rows, number))
        else:
            found.append(Argument(name, kind, kind, None, 0, -1, 0, "", None))
    return found


def _array(value: Any) -> np.ndarray:
    """Anything but a plain array as one: attributes of tables are slow."""
    return plain(value) if isinstance(value, np.ndarray) else np.asarray(value)


def check_arguments(function: Entry | Kernel, args: tuple) -> list[Any]:
    """Compare arguments with the kinds that a function declares; the first record tells lengths.

    Returns of every record its address, and of every number the number; arrays are as they were given.
    """
    declared = function.declared_arguments
    if len(args) != len(declared):
        raise TypeError(f"{function.__name__} takes {len(declared)} arguments, {len(args)} were given")
    holder: Any = None
    counts: dict[str, tuple[int, str]] = {}
    words: list[Any] = list(args)
    for k, (name, record, kind, dtype, ndim, length, least, rows, number) in enumerate(declared):
        value = args[k]
        if ndim:
            array = value if type(value) is np.ndarray else _array(value)
            same = array.dtype is dtype or array.dtype == dtype
            if not (same and array.ndim == ndim and isinstance(value, np.ndarray)) or not (
                array.flags.carray or array.size == 0
            ):
                text = f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else type(value).__name__
                raise ValueError(
                    f"{function.__name__}: {name} is {text}; expected a contiguous, writable array {kind.text}"
                )
            if kind.lanes and array.shape[-1] != kind.lanes:
                raise ValueError(f"{function.__name__}: {name} has rows of {array.shape[-1]}; expected {kind.lanes}")
            if length >= 0 and holder is not None:
                least = holder.lengths.item(length)
            if array.shape[-1] < least:
                raise ValueError(f"{function.__name__}: {name} has {array.shape[-1]} {kind.what}; expected {least}")
            if rows and not (kind.optional and len(array) == 0):
                count, first = counts.setdefault(rows, (len(array), name))
                if len(array) != count:
                    text = f"{name} has {len(array)} {rows}, and {first} has {count}"
                    raise ValueError(f"{function.__name__}: {text}; expected as many")
        elif record is not None:
            if type(value) is not record:
                raise TypeError(f"{function.__name__}: {name} is {value!r}; expected a record {record.__name__}")
            if holder is None:
                holder = value
            elif value.fits is not holder:
                misfit = value.misfit(holder)
                if misfit:
                    raise ValueError(f"{function.__name__}: {name}.{misfit}; expected buffers of the same system")
                value.__dict__["fits"] = holder
            words[k] = value.address
        else:
            words[k] = number(value)
    return words


def entry_words(entry: Entry, args: tuple) -> list[Any]:
    """Checked arguments as entries take them: of an array the address of its data and its shape."""
    words: list[Any] = []
    for (_, _, kind, _, ndim, *_), value in zip(entry.declared_arguments, check_arguments(entry, args), strict=True):
        if ndim:
            words += (address_of(value if type(value) is np.ndarray else plain(value)), *value.shape[: kind.ndim])
        else:
            words.append(value)
    return words
