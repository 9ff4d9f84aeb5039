"""What compiled user functions can do with their block of captured values, and with pointers to arguments."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from .data_block import dimensions, parts_of

_WORD = llvm.IntType(64)

_SCALARS = {"b1": types.boolean, "i8": types.int64, "f8": types.float64, "c16": types.complex128}


def _type_of(kind: str) -> Any:
    if kind.startswith("("):
        return types.Tuple([_type_of(part) for part in parts_of(kind)])
    if kind.startswith("a"):
        dtype, rest = kind[1:].split(".")
        layout = rest.rstrip("R")[-1]
        return types.Array(from_dtype(np.dtype(dtype)), dimensions(kind), layout, readonly=rest.endswith("R"))
    return _SCALARS[kind]


def _read(context: Any, builder: Any, kind: Any, pointer: Any, k: int) -> tuple[Any, int]:
    """Value of a type whose words start at number k, and the number of the next word."""

    def word(j: int) -> Any:
        return builder.load(builder.gep(pointer, [llvm.Constant(_WORD, j)]))

    if isinstance(kind, types.BaseTuple):
        values = []
        for part in kind:
            value, k = _read(context, builder, part, pointer, k)
            values.append(value)
        return context.make_tuple(builder, kind, values), k
    if isinstance(kind, types.Array):
        array, item, n = make_array(kind)(context, builder), context.get_data_type(kind.dtype), kind.ndim
        shape, strides = [word(k + 1 + i) for i in range(n)], [word(k + 1 + n + i) for i in range(n)]
        data = builder.inttoptr(word(k), item.as_pointer())
        itemsize = llvm.Constant(_WORD, context.get_abi_sizeof(item))
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue(), k + 1 + 2 * n
    if kind == types.complex128:
        number = context.make_complex(builder, kind)
        number.real, k = _read(context, builder, types.float64, pointer, k)
        number.imag, k = _read(context, builder, types.float64, pointer, k)
        return number._getvalue(), k
    value = word(k)
    if kind == types.float64:
        value = builder.bitcast(value, llvm.DoubleType())
    elif kind == types.boolean:
        value = builder.icmp_unsigned("!=", value, llvm.Constant(_WORD, 0))
    return value, k + 1


@functools.cache
def loader(kind: str, offset: int) -> Any:
    """An intrinsic that reads a value of a kind from the block."""
    result = _type_of(kind)

    @intrinsic
    def load(typing_context, block):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return _read(context, builder, result, builder.inttoptr(args[0], _WORD.as_pointer()), offset)[0]

        return result(types.int64), generate

    return load


@functools.cache
def moved(words: int) -> Any:
    """An intrinsic that moves the address of a block on."""

    @intrinsic
    def move(typing_context, block):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            return builder.add(args[0], llvm.Constant(_WORD, 8 * words))

        return types.int64(types.int64), generate

    return move


def view(shape: tuple[int, ...], writable: bool) -> Any:
    """An intrinsic for an array of fixed shape at a pointer, without reference counts."""

    @intrinsic
    def make(typing_context, pointer):  # type: ignore[no-untyped-def]
        kind = types.Array(pointer.dtype, len(shape), "C", readonly=not writable)

        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            array = make_array(kind)(context, builder)
            item = context.get_abi_sizeof(context.get_data_type(kind.dtype))
            strides = [item * int(np.prod(shape[i + 1 :], dtype=int)) for i in range(len(shape))]
            numbers = [[llvm.Constant(_WORD, n) for n in each] for each in (shape, strides)]
            itemsize = llvm.Constant(_WORD, item)
            populate_array(array, data=args[0], shape=numbers[0], strides=numbers[1], itemsize=itemsize, meminfo=None)
            return array._getvalue()

        return kind(pointer), generate

    return make


@intrinsic
def word_at(typing_context, block, k):  # type: ignore[no-untyped-def]
    """A word of the head of a block."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.load(builder.gep(builder.inttoptr(args[0], _WORD.as_pointer()), [args[1]]))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def address_of(typing_context, pointer):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.ptrtoint(args[0], _WORD)

    return types.uintp(pointer), generate
