"""Compiled code in pieces: calls through addresses instead of linking everything into everything.

numba links and optimises all callees again into every caller, so that a deep tree of kernels compiles for minutes.
The large pieces of an evaluation (residual, matrix, factorisation, ...) are therefore compiled once, as *entries*:
C functions of one pointer. Their addresses are in the system record (``entries``), the record itself and the work
space are known by the addresses of their packed form (``place``). An integrator that calls an entry compiles only its
own loop; pieces that a model does not need are never compiled. Without compilation (``MBD_JIT=0``) the same calls
are plain function calls.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .kernel import JIT, OPTIONS, cached_in

if JIT:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    from .compilation import compile_callback

    vector = types.float64[::1]
    matrix = types.float64[:, ::1]
    integers = types.int64[::1]
    address = types.int64
    integer = types.int64
    real = types.float64

    @intrinsic
    def call_entry(typing_context, entry, arguments):  # type: ignore[no-untyped-def]
        """Call the entry at an address with a tuple of arguments."""
        signature = types.void(types.int64, arguments)

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            memory = cgutils.alloca_once(builder, args[1].type)
            builder.store(args[1], memory)
            pointer = ir.IntType(8).as_pointer()
            function = ir.FunctionType(ir.VoidType(), [pointer]).as_pointer()
            builder.call(builder.inttoptr(args[0], function), [builder.bitcast(memory, pointer)])
            return context.get_dummy_value()

        return signature, generate

    @intrinsic
    def advanced(typing_context, pointer, count):  # type: ignore[no-untyped-def]
        """A pointer moved on by a number of its elements."""

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return builder.gep(args[0], [args[1]])

        return pointer(pointer, types.int64), generate

    def arguments(*kinds: Any) -> Any:
        """An intrinsic that reads the tuple of arguments of an entry."""
        kind = types.Tuple(kinds)

        @intrinsic
        def load(typing_context, place):  # type: ignore[no-untyped-def]
            def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
                return builder.load(builder.bitcast(args[0], context.get_value_type(kind).as_pointer()))

            return kind(types.voidptr), generate

        return load

    def compile_entry(function: Callable) -> Any:
        """Compile an entry (or load it); returns an object with its address, to be kept alive."""
        with cached_in(function):
            return compile_callback(types.void(types.voidptr), function, OPTIONS)

else:
    vector = matrix = integers = address = integer = real = None

    def arguments(*kinds: Any) -> Any:
        """Unused without compilation."""
        return None

    def compile_entry(function: Callable) -> Any:
        """Unused without compilation."""
        raise RuntimeError("there are no entries without compilation")
