"""Where machine code is kept on disk.

The directory of every module is named after a hash of the module and of all modules of the package that it imports,
directly or not, so that a change of any function or constant behind a kernel is noticed. Files are named after the
function, the kinds of its arguments, the processor and the versions of the compiler. The root of all is
``~/.cache/mbd``, or ``NUMBA_CACHE_DIR`` if that is set.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .kernel import OPTIONS
from .settings import STARTED

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


def module_hash(path: Path) -> str | None:
    """Hash of a module of the package and of everything in the package that it depends on.

    None if one of them was changed after this process began: what is in memory may then be something else.
    """
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
    if any(STARTED < file.stat().st_mtime <= time.time() for file in seen):
        return None
    digest = hashlib.sha256(repr(sorted(OPTIONS.items())).encode())
    for file in sorted(seen):
        digest.update(_texts[file][0])
    return digest.hexdigest()[:16]


@functools.cache
def _directory(file: str) -> Path | None:
    """Directory of a module, or None for one that may have changed, or outside the package, may depend on anything."""
    path = Path(file).resolve()
    name = module_hash(path) if PACKAGE.resolve() in path.parents else None
    return CACHE_ROOT / f"{path.stem}-{name}" if name is not None else None


def _version(package: str) -> str:
    """Version of an installed package, without importing it."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    file = Path(spec.origin).with_name("_version.py")
    return file.read_text() if file.exists() else str(os.stat(spec.origin).st_mtime_ns)


@functools.cache
def _machine() -> str:
    """What machine code depends on besides its source."""
    from llvmlite import binding

    settings = [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("NUMBA_") and k != "NUMBA_CACHE_DIR"]
    features = binding.get_host_cpu_features().flatten()
    compiler = [_version("numba"), _version("llvmlite"), ".".join(map(str, sys.version_info[:2]))]
    return "\n".join([binding.get_host_cpu_name(), features, *compiler, *settings])


def cache_file(function: Callable, kinds: str) -> Path | None:
    """Where the code of a function for kinds of arguments belongs; None if it cannot be kept."""
    directory = _directory(function.__code__.co_filename)
    if directory is None:
        return None
    digest = hashlib.sha256(f"{kinds}\n{_machine()}".encode()).hexdigest()[:16]
    return directory / f"{function.__qualname__}-{function.__code__.co_firstlineno}-{digest}.code"


def read_code(file: Path) -> tuple[dict[str, Any], bytes] | None:
    """What a file says of the code, and the code; None if there is none."""
    try:
        content = file.read_bytes()
        head, _, code = content.partition(b"\n")
        about = json.loads(head)
        return (about, code) if len(code) == about["size"] else None
    except (OSError, ValueError, KeyError):
        return None


@functools.cache
def _complain() -> None:
    print(f"mbd: {CACHE_ROOT} is not writable, compiled code will not be kept", file=sys.stderr)


def write_code(file: Path, about: dict[str, Any], code: bytes) -> None:
    """Keep code for other processes; several may do so at the same time."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}.{os.getpid()}")
        draft.write_bytes(json.dumps({**about, "size": len(code)}).encode() + b"\n" + code)
        draft.replace(file)
    except OSError:
        _complain()
