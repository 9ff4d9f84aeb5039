"""How kernels call user functions; all that they need to know of them."""

from __future__ import annotations

import ctypes

from ..kernel import JIT

SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)

if JIT:
    from ..boundary import call_vector as call_vector
else:

    def call_vector(address: int, x: int, out: int, block: int) -> None:
        """Call void f(double *x, double *out, int64 *block) at an address."""
        SIGNATURE(int(address))(int(x), int(out), int(block))
