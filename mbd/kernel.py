"""The one decorator under which all compiled code is written.

``@kernel`` is numba's ``njit`` with caching, numpy's error model and no reference counting: kernels never allocate
and never return arrays, they write into slices that the caller owns. ``MBD_JIT=0`` turns the decorator into the
identity, so that the same source runs as plain Python under a debugger or with complex numbers.

numba's own cache does not notice that a *called* function in another file changed. The cache directory is therefore
named after a hash of all sources of the package; an explicit ``NUMBA_CACHE_DIR`` of the user wins.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

JIT = os.environ.get("MBD_JIT", "1") != "0"
OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}


def _cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mbd"


def source_hash() -> str:
    """Hash of every source file of the package and of the compiler options."""
    root = Path(__file__).parent
    digest = hashlib.sha256(repr(sorted(OPTIONS.items())).encode())
    for path in sorted(root.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _use_own_cache() -> None:
    """Point numba's cache to a directory that changes with the sources (not if the user chose one)."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    directory = _cache_root() / source_hash()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".probe{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        OPTIONS["cache"] = False
        print(f"mbd: {directory} is not writable, compiled code will not be kept", file=sys.stderr)
        return
    os.environ["NUMBA_CACHE_DIR"] = str(directory)
    if "numba" in sys.modules:  # imported before us: its configuration has been read already
        sys.modules["numba"].config.CACHE_DIR = str(directory)


if JIT:
    _use_own_cache()
    from numba import njit


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function of scalars, records and array slices; see the module's text."""

    def decorate(f: Callable) -> Any:
        return njit(**{**OPTIONS, **options})(f) if JIT else f

    return decorate if function is None else decorate(function)


def cache_directory() -> Path:
    """Where compiled code of this version is kept."""
    return Path(os.environ.get("NUMBA_CACHE_DIR") or _cache_root() / source_hash())
