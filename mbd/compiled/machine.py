"""What machine code depends on besides its source: the processor, the system and the compiler.

Code for this machine is made for exactly this processor and kept under the full versions of all that made it. Code that
is shipped is made for a *level*, a set of features that many processors have. What decides whether it can be run is
less, and all of it is part of its key:

- the level, and the system (format of object code, calling convention);
- where a numpy array keeps its data, shape and strides, which the code reads: the size of the head of every Python
  object (free-threaded builds have another one). Nothing else of Python and numpy is touched, so that versions of both
  do not matter;
- the series of numba (0.68, say): entries read their arguments as numba lays out tuples of arrays, and a caller
  that is compiled here must do the same. Within a series that does not change;
- settings of numba that change code (``NUMBA_OPT``, ``NUMBA_BOUNDSCHECK``, ...): there must be none.

Functions of the C library and of numba that the code calls are looked up when it is loaded (``native``); where one is
missing, the code is compiled here.
"""

from __future__ import annotations

import functools
import os
import platform
import re
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path

_V2 = ("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3")
LEVELS = {"x86-64-v3": (*_V2, "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")}
"""Features that a processor of each level has, by the names of LLVM."""

_HARMLESS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_THREADING_LAYER", "NUMBA_THREADING_LAYER_PRIORITY"}


def compiler_settings(level: str) -> dict[str, str]:
    """Settings with which numba compiles for a level instead of this processor."""
    return {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}


def settings() -> dict[str, str]:
    """Settings of numba that may change code."""
    return {k: v for k, v in sorted(os.environ.items()) if k.startswith("NUMBA_") and k not in _HARMLESS}


def _version_text(package: str) -> str:
    """What tells versions of an installed package apart, without importing it."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    file = Path(spec.origin).with_name("_version.py")
    return file.read_text() if file.exists() else str(os.stat(spec.origin).st_mtime_ns)


def _series() -> str:
    """The first two numbers of numba's version."""
    text = _version_text("numba")
    found = re.search(r'"version": "(\d+\.\d+)', text)
    return found.group(1) if found else text


@functools.cache
def missing_features(level: str) -> tuple[str, ...]:
    """Features of a level that this processor does not have."""
    from llvmlite import binding

    features = binding.get_host_cpu_features() if platform.machine() in ("x86_64", "AMD64") else {}
    return tuple(name for name in LEVELS[level] if not features.get(name))


def level_machine(level: str) -> str:
    """Machines that can run code of a level."""
    return "\n".join([level, sys.platform, f"objects {object.__basicsize__}", f"numba {_series()}"])


@functools.cache
def this_machine() -> str:
    """This machine; for a process that compiles for a level, machines of that level."""
    chosen = settings()
    for level in LEVELS:
        if chosen == compiler_settings(level):
            return level_machine(level)
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    versions = [_version_text("numba"), _version_text("llvmlite"), *_interfaces()]
    return "\n".join([binding.get_host_cpu_name(), features, *versions, *(f"{k}={v}" for k, v in chosen.items())])


def _interfaces() -> list[str]:
    """Python and its binary interface (a debug or free-threaded build has another), system, and format of objects."""
    from llvmlite import binding

    abi = f"{sysconfig.get_config_var('SOABI')} {object.__basicsize__}"
    python = f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"
    return [python, abi, sys.platform, binding.get_process_triple(), binding.get_object_format()]


def levels_here() -> list[str]:
    """Levels whose code this process can run and would compile in the same way."""
    chosen = settings()
    return [level for level in LEVELS if chosen in ({}, compiler_settings(level)) and not missing_features(level)]
