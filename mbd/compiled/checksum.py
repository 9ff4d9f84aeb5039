"""The checksum of zip archives (CRC-32) of large arrays, with the instruction for it where a processor has one.

Multiplication without carries folds 64 bytes into the next 64 at once [Gopal et al., Fast CRC computation for generic
polynomials using PCLMULQDQ instruction, Intel 2009]; the last 16 bytes have the checksum of all. It is several times
faster than ``zlib.crc32``, which is used for what is left, and wherever there is no such instruction.
"""

from __future__ import annotations

import ctypes
import functools
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .settings import JIT

BLOCK = 64  # bytes
WORTHWHILE = 1 << 20  # bytes
FOLD_FOUR = (0x154442BD4, 0x1C6E41596)  # x^(512 + 32), x^(512 - 32) modulo the polynomial, with bits reversed
FOLD_ONE = (0x1751997D0, 0x0CCAA009E)  # x^(128 + 32), x^(128 - 32)


def checksum(data: Any, before: int = 0) -> int:
    """CRC-32 of a contiguous array of bytes; ``before`` is that of what stands in front of it."""
    fold = _fold() if len(data) >= WORTHWHILE else None
    return zlib.crc32(data, before) if fold is None else _folded(fold, data, before)


def _folded(fold: Callable[..., Any], data: Any, before: int) -> int:
    blocks, left = len(data) // BLOCK, ctypes.create_string_buffer(16)
    fold(data.ctypes.data, blocks, ~before & 0xFFFFFFFF, ctypes.addressof(left))
    return zlib.crc32(data[BLOCK * blocks :], zlib.crc32(left, 0xFFFFFFFF))


@functools.cache
def _fold() -> Callable[..., Any] | None:
    """The compiled function; None where it cannot be made, or would not be right."""
    if not JIT:
        return None
    try:
        from llvmlite import binding

        if not {**binding.get_host_cpu_features()}.get("pclmul"):
            return None
        from .native import _LOADING, _engine

        with _LOADING:
            engine, module = _engine(), binding.parse_assembly(_program())
            engine.add_module(module)
            engine.finalize_object()
        kinds = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p
        function = ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address("mbd_fold_checksum"))
    except Exception:  # another version of llvmlite, another processor
        return None
    known: Any = np.arange(1000, dtype=np.int64).view(np.uint8)
    return function if _folded(function, known, 7) == zlib.crc32(known, 7) else None


def _program() -> str:
    """void fold(data, blocks, first, left): the first 32 bits are added to those of the data, 16 bytes are left."""
    from llvmlite import ir

    word, byte = ir.IntType(64), ir.IntType(8)
    pair = ir.VectorType(word, 2)
    module = ir.Module("checksum")
    multiply = ir.Function(module, ir.FunctionType(pair, [pair, pair, byte]), "llvm.x86.pclmulqdq")
    kinds = [byte.as_pointer(), word, ir.IntType(32), byte.as_pointer()]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), "mbd_fold_checksum")
    data, blocks, first, left = function.args
    begin, again, end = (function.append_basic_block(name) for name in ("begin", "again", "end"))

    def read(b: ir.IRBuilder, place: Any) -> list[Any]:
        at = [b.gep(data, [b.add(place, word(16 * k))]) for k in range(4)]
        return [b.load(b.bitcast(x, pair.as_pointer()), align=1) for x in at]

    def folded(b: ir.IRBuilder, x: Any, factors: tuple[int, int], following: Any) -> Any:
        by = ir.Constant(pair, [word(factors[0]), word(factors[1])])
        low, high = (b.call(multiply, [x, by, byte(which)]) for which in (0x00, 0x11))
        return b.xor(b.xor(low, high), following)

    b = ir.IRBuilder(begin)
    x = read(b, word(0))
    added = b.insert_element(ir.Constant(pair, [word(0), word(0)]), b.zext(first, word), ir.IntType(32)(0))
    x[0] = b.xor(x[0], added)
    b.cbranch(b.icmp_signed(">", blocks, word(1)), again, end)
    b = ir.IRBuilder(again)
    k = b.phi(word)
    old = [b.phi(pair) for _ in range(4)]
    new = [folded(b, y, FOLD_FOUR, z) for y, z in zip(old, read(b, b.mul(k, word(BLOCK))), strict=True)]
    following = b.add(k, word(1))
    k.add_incoming(word(1), begin)
    k.add_incoming(following, again)
    b.cbranch(b.icmp_signed("<", following, blocks), again, end)
    for phi, y, z in zip(old, x, new, strict=True):
        phi.add_incoming(y, begin)
        phi.add_incoming(z, again)
    b = ir.IRBuilder(end)
    last = [b.phi(pair) for _ in range(4)]
    for phi, y, z in zip(last, x, new, strict=True):
        phi.add_incoming(y, begin)
        phi.add_incoming(z, again)
    rest = last[0]
    for y in last[1:]:
        rest = folded(b, rest, FOLD_ONE, y)
    b.store(rest, b.bitcast(left, pair.as_pointer()), align=1)
    b.ret_void()
    head, brace, body = str(module).partition("\n{")  # of the only function: attributes stand before its body
    return f'{head} "target-features"="+sse2,+pclmul"{brace}{body}'
