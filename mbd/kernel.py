"""The one decorator under which all compiled code is written.

``@kernel`` is numba (``mbd.compilation``) with caching, numpy's error model and no reference counting: kernels never
allocate and never return arrays, they write into slices that the caller owns. ``MBD_JIT=0`` turns the decorator into
the identity, so that the same source runs as plain Python under a debugger.

numba's own cache notices changes of a function's file, but not of the functions that it calls in other files, nor of
constants that it imports. The cache directory of every module is therefore named after a hash of the module and of
all modules of the package that it imports, directly or not. An explicit ``NUMBA_CACHE_DIR`` of the user is the root
of these directories.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .settings import JIT

OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False}

PACKAGE = Path(__file__).parent
_IMPORT = re.compile(r"^\s*from\s+(\.+[\w.]*|mbd[\w.]*)\s+import\s+\(?([^)\n]*)", re.MULTILINE)


def _cache_root() -> Path:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mbd"


CACHE_ROOT = _cache_root()


def _imported_files(path: Path, text: str) -> set[Path]:
    """Files of the package that a module imports."""
    found = set()
    for match in _IMPORT.finditer(text):
        module = match.group(1)
        if module.startswith("."):
            dots = len(module) - len(module.lstrip("."))
            folder = path.parents[dots - 1]
            parts = [part for part in module.lstrip(".").split(".") if part]
        else:
            folder, parts = PACKAGE, module.split(".")[1:]
        target = folder.joinpath(*parts)
        names = [name.strip().split(" ")[0] for name in match.group(2).split(",")]
        candidates = [target.with_suffix(".py"), target / "__init__.py", *(target / f"{n}.py" for n in names if n)]
        found |= {file for file in candidates if file.is_file()}
    return found


_texts: dict[Path, tuple[bytes, set[Path]]] = {}


def module_hash(path: Path) -> str:
    """Hash of a module of the package and of everything in the package that it depends on."""
    todo, seen = [path], set()
    while todo:
        file = todo.pop()
        if file in seen:
            continue
        seen.add(file)
        if file not in _texts:
            content = file.read_bytes()
            _texts[file] = (content, _imported_files(file, content.decode()))
        todo += _texts[file][1]
    digest = hashlib.sha256(repr(sorted(OPTIONS.items())).encode())
    for file in sorted(seen):
        digest.update(_texts[file][0])
    return digest.hexdigest()[:16]


_directories: dict[str, str] = {}


def _cache_directory(function: Callable) -> str:
    """Cache directory of the module of a function."""
    file = function.__code__.co_filename
    if file not in _directories:
        path = Path(file).resolve()
        name = module_hash(path) if PACKAGE.resolve() in path.parents else "user"
        _directories[file] = str(CACHE_ROOT / f"{path.stem}-{name}")
    return _directories[file]


def _writable(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".probe{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


if JIT:
    import numba

    from .compilation import Kernel

    if not _writable(CACHE_ROOT):
        OPTIONS["cache"] = False
        print(f"mbd: {CACHE_ROOT} is not writable, compiled code will not be kept", file=sys.stderr)


@contextmanager
def cached_in(function: Callable) -> Iterator[None]:
    """While decorating: numba keeps compiled code in the directory of the function's module."""
    before = numba.config.CACHE_DIR  # read by numba when a function is decorated
    numba.config.CACHE_DIR = _cache_directory(function)
    try:
        yield
    finally:
        numba.config.CACHE_DIR = before


def kernel(function: Callable | None = None, **options: Any) -> Any:
    """Compile a function of scalars, records and array slices; see the module's text."""

    def decorate(f: Callable) -> Any:
        if not JIT:
            return f

        def keep(dispatcher: Any) -> None:
            with cached_in(f):
                dispatcher.enable_caching()

        settings = {**OPTIONS, **options}
        cached = settings.pop("cache")
        return Kernel(f, settings, keep if cached else None)

    return decorate if function is None else decorate(function)


def is_cached(function: Callable) -> bool:
    """Whether compiled code of a kernel exists in this process or on disk."""
    if not JIT or getattr(function, "signatures", None):
        return True
    python_function = getattr(function, "py_func", function)
    directory = Path(_cache_directory(python_function))
    return any(directory.rglob(f"*.{python_function.__name__}-*.nbi"))
