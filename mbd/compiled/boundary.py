"""Compiled code in pieces: calls through addresses instead of linking everything into everything.

numba links and optimises all callees again into every caller, so that a deep tree of kernels compiles for minutes.
The large pieces of an evaluation (residual, matrix, factorisation, ...) are therefore compiled once, as *entries*:
C functions of one pointer. Their addresses are in the system record (``entries``), the record itself and the work
space are known by the addresses of their packed form (``place``). An integrator that calls an entry compiles only its
own loop; pieces that a model does not need are never compiled. Without compilation (``MBD_JIT=0``) the same calls
are plain function calls.

What is defined here is for kernels; the compiler finds its meaning in ``intrinsics``.
"""

from __future__ import annotations

from typing import Any

from .kernel import Deferred

# kinds of arguments of entries
vector, matrix, integers, address, integer, real = "vector", "matrix", "integers", "integer", "integer", "real"


def _intrinsic(name: str) -> Any:
    def make() -> Any:
        from .intrinsics import INTRINSICS

        return INTRINSICS[name]

    return Deferred(make)


call_entry = _intrinsic("call_entry")  # (address, tuple of arguments)
advanced = _intrinsic("advanced")  # (pointer, number of elements)
call_vector = _intrinsic("call_vector")  # (address, pointer to numbers, pointer to the result, block)


def arguments(*kinds: str) -> Any:
    """For entries: reads the tuple of arguments of these kinds."""

    def make() -> Any:
        from .intrinsics import read_arguments

        return read_arguments(kinds)

    return Deferred(make)
