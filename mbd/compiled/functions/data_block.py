"""Captured values as words of 64 bits, from which compiled user functions read them.

Kinds: ``b1 i8 f8 c16`` are numbers, ``a<f8.2C`` an array of two dimensions and layout C (with an R at the end if it is
read-only), ``(f8,i8)`` a tuple. An array is (address, shape, strides), so that changes in place need no writing;
whoever writes the words keeps the array alive. A block begins with a head: see the constants.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

# words of the head
STATUS = 0  # 0, or what happened at the first error: see below
ARGUMENTS = 1  # address of the copy of the arguments at the first error
CLOCK = 2  # address of the time of the evaluation
TIME = 3  # that time at the first error
SPARE, SPARE_BLOCK = 4, 5  # address and block of the function that takes differences where a derivative is not finite
HEAD = 6

RAISED, NOT_FINITE, NO_DERIVATIVE, INDEFINITE = 1, 2, 3, 4  # values of the status

SCALARS = {"b1": "q", "i8": "q", "f8": "d", "c16": "dd"}
_INTEGERS = range(-(2**63), 2**63)


def kind_of(value: Any) -> str | None:
    """The kind of a value that can be handed over, or None."""
    t = type(value)
    if t is float or t is np.float64:
        return "f8"
    if t is bool or t is np.bool_:
        return "b1"
    if t is int or t is np.int64:
        return "i8" if value in _INTEGERS else None
    if t is complex or t is np.complex128:
        return "c16"
    if t is np.ndarray:
        d, flags = value.dtype, value.flags
        if d.kind not in "biufc" or not d.isnative or not flags.aligned or d.itemsize > 16 or value.ndim == 0:
            return None
        layout = "C" if flags.c_contiguous else ("F" if flags.f_contiguous else "A")
        return f"a{d.str}.{value.ndim}{layout}{'' if flags.writeable else 'R'}"
    if t is tuple and value:
        parts = [kind_of(part) for part in value]
        return None if None in parts else "(" + ",".join(parts) + ")"  # type: ignore[arg-type]
    return None


def fits(value: Any, kind: str) -> bool:
    """Whether a value can be handed over where one of this kind is read: another process forgets what is read-only."""
    if kind.startswith("("):
        parts = parts_of(kind)
        return type(value) is tuple and len(value) == len(parts) and all(map(fits, value, parts))
    if kind.startswith("a"):
        kind, given = kind.rstrip("R"), (kind_of(value) or "").rstrip("R")
        return given[:-1] == kind[:-1] and (kind[-1] == "A" or given[-1] == kind[-1])
    return kind_of(value) == kind


def parts_of(kind: str) -> list[str]:
    """Kinds of the parts of a tuple."""
    parts, depth = [""], 0
    for letter in kind[1:-1]:
        if letter == "," and depth == 0:
            parts.append("")
            continue
        depth += (letter == "(") - (letter == ")")
        parts[-1] += letter
    return parts


def dimensions(kind: str) -> int:
    """Number of dimensions of an array."""
    return int(kind.split(".")[1].rstrip("RCFA"))


def size_of(kind: str) -> int:
    """Number of words."""
    if kind.startswith("("):
        return sum(size_of(part) for part in parts_of(kind))
    return 1 + 2 * dimensions(kind) if kind.startswith("a") else len(SCALARS[kind])


def addresses_in(kind: str) -> list[int]:
    """Which of the words of a value are addresses."""
    if not kind.startswith("("):
        return [0] if kind.startswith("a") else []
    found, first = [], 0
    for part in parts_of(kind):
        found += [first + k for k in addresses_in(part)]
        first += size_of(part)
    return found


def append_words(value: Any, kind: str, words: list[bytes], kept: list[Any]) -> None:
    """Add the words of a value; arrays are added to what is kept alive."""
    if kind.startswith("("):
        for part, each in zip(value, parts_of(kind), strict=True):
            append_words(part, each, words, kept)
    elif kind.startswith("a"):
        kept.append(value)
        words.append(struct.pack(f"={1 + 2 * value.ndim}q", value.ctypes.data, *value.shape, *value.strides))
    elif kind == "c16":
        words.append(struct.pack("=dd", value.real, value.imag))
    else:
        words.append(struct.pack("=" + SCALARS[kind], value))
