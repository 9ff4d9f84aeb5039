"""What kernels can do besides numba's own vocabulary: calls through addresses, and reading the arguments of entries."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .kinds import Kind
from .record_types import RecordType, record_type, type_of_kind

_POINTER = ir.IntType(8).as_pointer()
_ENTRY = ir.FunctionType(ir.VoidType(), [_POINTER]).as_pointer()


def type_of(kind: Any) -> Any:
    """The compiled type of a kind of arguments of entries."""
    return type_of_kind(kind) if isinstance(kind, Kind) else record_type(kind.layout)


def entry_call(name: str, kinds: tuple[Any, ...]) -> Any:
    """An intrinsic (address, arguments) that calls the entry at an address, whose arguments are of these kinds."""
    wanted = [type_of(kind) for kind in kinds]
    packed = types.Tuple(wanted)

    @intrinsic
    def call(typing_context, address, arguments):  # type: ignore[no-untyped-def]
        for i, (given, expected) in enumerate(zip(arguments, wanted, strict=True)):
            if not _fits(given, expected):
                raise TypingError(f"argument {i} of {name} is {given}; expected {expected}")

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            values = []
            for i, (given, expected) in enumerate(zip(arguments, wanted, strict=True)):
                value = builder.extract_value(args[1], i)
                values.append(value if isinstance(given, RecordType) else context.cast(builder, value, given, expected))
            value = context.make_tuple(builder, packed, values)
            memory = cgutils.alloca_once(builder, value.type)
            builder.store(value, memory)
            builder.call(builder.inttoptr(args[0], _ENTRY), [builder.bitcast(memory, _POINTER)])
            return context.get_dummy_value()

        return types.void(types.int64, arguments), generate

    return call


def entry_arguments(kinds: tuple[Any, ...]) -> Any:
    """An intrinsic that reads the arguments of an entry of these kinds from its pointer."""
    packed = types.Tuple([type_of(kind) for kind in kinds])

    @intrinsic
    def read(typing_context, pointer):  # type: ignore[no-untyped-def]
        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            value = builder.load(builder.bitcast(args[0], context.get_value_type(packed).as_pointer()))
            if context.enable_nrt:
                context.nrt.incref(builder, packed, value)  # the caller keeps its own
            return value

        return packed(types.voidptr), generate

    return read


def _fits(given: Any, expected: Any) -> bool:
    """Whether an argument can be handed over: numbers are converted, arrays must be contiguous and of the same type."""
    if isinstance(expected, types.Array):
        same = isinstance(given, types.Array) and given.dtype == expected.dtype and given.ndim == expected.ndim
        return same and given.layout == "C" and given.mutable
    if isinstance(expected, RecordType):
        return given == expected
    if isinstance(given, RecordType):
        return expected == types.int64  # an address
    whole = isinstance(given, (types.Integer, types.Boolean))
    return whole or (expected == types.float64 and isinstance(given, types.Float))


@intrinsic
def advanced(typing_context, pointer, count):  # type: ignore[no-untyped-def]
    """A pointer moved on by a number of its elements."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        return builder.gep(args[0], [args[1]])

    return pointer(pointer, types.int64), generate


@intrinsic
def call_vector(typing_context, address, x, out, block):  # type: ignore[no-untyped-def]
    """Call void f(double *x, double *out, int64 *block) at an address."""
    signature = types.void(types.int64, types.uintp, types.uintp, types.int64)

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        function = ir.FunctionType(ir.VoidType(), [_POINTER] * 3).as_pointer()
        builder.call(builder.inttoptr(args[0], function), [builder.inttoptr(word, _POINTER) for word in args[1:]])
        return context.get_dummy_value()

    return signature, generate
