"""What kernels can do besides numba's own vocabulary: calls through addresses, and reading the arguments of entries."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

KINDS = {
    "vector": types.float64[::1],
    "matrix": types.float64[:, ::1],
    "integers": types.int64[::1],
    "integer": types.int64,
    "real": types.float64,
}

_POINTER = ir.IntType(8).as_pointer()


@intrinsic
def call_entry(typing_context, entry, arguments):  # type: ignore[no-untyped-def]
    """Call the entry at an address with a tuple of arguments."""
    signature = types.void(types.int64, arguments)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        memory = cgutils.alloca_once(builder, args[1].type)
        builder.store(args[1], memory)
        function = ir.FunctionType(ir.VoidType(), [_POINTER]).as_pointer()
        builder.call(builder.inttoptr(args[0], function), [builder.bitcast(memory, _POINTER)])
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def advanced(typing_context, pointer, count):  # type: ignore[no-untyped-def]
    """A pointer moved on by a number of its elements."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.int64), generate


def read_arguments(kinds: tuple[str, ...]) -> Any:
    """An intrinsic that reads the tuple of arguments of an entry."""
    kind = types.Tuple([KINDS[k] for k in kinds])

    @intrinsic
    def load(typing_context, place):  # type: ignore[no-untyped-def]
        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return builder.load(builder.bitcast(args[0], context.get_value_type(kind).as_pointer()))

        return kind(types.voidptr), generate

    return load


@intrinsic
def call_vector(typing_context, address, x, out, block):  # type: ignore[no-untyped-def]
    """Call void f(double *x, double *out, int64 *block) at an address."""
    signature = types.void(types.int64, types.uintp, types.uintp, types.int64)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        function = ir.FunctionType(ir.VoidType(), [_POINTER] * 3).as_pointer()
        builder.call(builder.inttoptr(args[0], function), [builder.inttoptr(word, _POINTER) for word in args[1:]])
        return context.get_dummy_value()

    return signature, generate


INTRINSICS = {"call_entry": call_entry, "advanced": advanced, "call_vector": call_vector}
