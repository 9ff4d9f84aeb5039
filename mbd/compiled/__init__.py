"""Compiled code behind five names; imports nothing from the rest of the package.

``kernel``    a function of scalars, records and array slices, linked into the kernels that call it
``entry``     a function compiled on its own and called through its address
``Record``    arrays and numbers that compiled code knows by one address (kinds of fields: ``compiled.kinds``)
``callback``  a user function as compiled code calls it
``warmup``    compile ahead of time

``MBD_JIT=0`` runs everything as plain Python, ``MBD_COMPILER=numba`` compiles with numba's public interface alone.
"""

from __future__ import annotations

from typing import Any

from .entry import entry
from .kernel import kernel
from .record import Record

__all__ = ["Record", "callback", "entry", "kernel", "warmup"]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name == "callback":
        from .functions.callbacks import make_callback

        return make_callback
    if name == "warmup":
        from .warmup import warm

        return warm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
