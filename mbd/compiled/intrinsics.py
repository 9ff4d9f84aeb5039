"""What kernels can do besides numba's own vocabulary: calls through addresses, and reading the arguments of entries."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from .kinds import Kind
from .record_types import RecordType, array_from_words, record_type, type_of_kind

_WORD = ir.IntType(64)
_POINTER = ir.IntType(8).as_pointer()
_ENTRY = ir.FunctionType(ir.VoidType(), [_POINTER]).as_pointer()


def type_of(kind: Any) -> Any:
    """The compiled type of a kind of arguments of entries."""
    return type_of_kind(kind) if isinstance(kind, Kind) else record_type(kind.layout)


def entry_call(name: str, kinds: tuple[Any, ...]) -> Any:
    """An intrinsic (address, arguments) that calls the entry at an address, whose arguments are of these kinds."""
    wanted = [type_of(kind) for kind in kinds]

    @intrinsic
    def call(typing_context, address, arguments):  # type: ignore[no-untyped-def]
        for i, (given, expected) in enumerate(zip(arguments, wanted, strict=True)):
            if not _fits(given, expected):
                raise TypingError(f"argument {i} of {name} is {given}; expected {expected}")

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            words: list[Any] = []
            for i, (given, expected) in enumerate(zip(arguments, wanted, strict=True)):
                value = builder.extract_value(args[1], i)
                value = value if isinstance(given, RecordType) else context.cast(builder, value, given, expected)
                words += _words(context, builder, expected, value)
            memory = cgutils.alloca_once(builder, _WORD, len(words))
            for k, word in enumerate(words):
                builder.store(word, builder.gep(memory, [ir.Constant(_WORD, k)]))
            builder.call(builder.inttoptr(args[0], _ENTRY), [builder.bitcast(memory, _POINTER)])
            return context.get_dummy_value()

        return types.void(types.int64, arguments), generate

    return call


def _words(context: Any, builder: Any, kind: Any, value: Any) -> list[Any]:
    """An argument as an entry takes it, as in records: of an array the address of its data and its shape."""
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder, value)
        return [builder.ptrtoint(array.data, _WORD), *cgutils.unpack_tuple(builder, array.shape, kind.ndim)]
    return [builder.bitcast(value, _WORD) if kind == types.float64 else value]


def read_arguments(context: Any, builder: Any, kinds: tuple[Any, ...], pointer: Any) -> list[Any]:
    """The arguments of an entry of these compiled types from the words that its pointer leads to."""
    values, first = [], 0
    block = builder.bitcast(pointer, _WORD.as_pointer())
    for kind in kinds:

        def read(k: int, first: int = first) -> Any:
            return builder.load(builder.gep(block, [ir.Constant(_WORD, first + k)]))

        if isinstance(kind, types.Array):
            values.append(array_from_words(context, builder, kind, read))
            first += 1 + kind.ndim
        else:
            values.append(builder.bitcast(read(0), ir.DoubleType()) if kind == types.float64 else read(0))
            first += 1
    return values


def entry_arguments(kinds: tuple[Any, ...]) -> Any:
    """An intrinsic that reads the arguments of an entry of these kinds from its pointer."""
    packed = types.Tuple([type_of(kind) for kind in kinds])

    @intrinsic
    def read(typing_context, pointer):  # type: ignore[no-untyped-def]
        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return context.make_tuple(builder, packed, read_arguments(context, builder, packed.types, args[0]))

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
