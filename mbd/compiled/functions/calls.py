"""How kernels call user functions; all that they need to know of them."""

from __future__ import annotations

import ctypes
from typing import Any

from ..kernel import JIT, deferred

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def _call_vector() -> Any:
    from ..intrinsics import call_vector

    return call_vector


if JIT:
    call_vector: Any = deferred(_call_vector)
else:

    def call_vector(address: int, x: int, out: int, block: int) -> None:
        """Call void f(double *x, double *out, int64 *block) at an address."""
        SIGNATURE(int(address))(int(x), int(out), int(block))
