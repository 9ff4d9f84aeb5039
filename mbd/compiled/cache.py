"""Where machine code is kept on disk (``cache_files``).

The directory of every module is named after a hash of the module and of all modules of the package that it imports,
directly or not, so that a change of any function or constant behind a kernel is noticed. Files are named after the
function, the kinds of its arguments, the processor and the versions of the compiler. The root of all is
``~/.cache/mbd``, or ``NUMBA_CACHE_DIR`` if that is set.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from .cache_files import CodeFile, tell
from .kernel import OPTIONS
from .settings import STARTED

PACKAGE = Path(__file__).parents[1]
_IMPORT = re.compile(r"^\s*from\s+(\.+[\w.]*|mbd[\w.]*)\s+import\s+(?:\(([^)]*)\)|([^\n#]*))", re.MULTILINE)


def _cache_root() -> Path | None:
    """Where code is kept, an absolute path; None for a user without a home."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mbd" if os.path.isabs(base) else None


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
        candidates = [target.with_suffix(".py"), target / "__init__.py"]
        for name in re.sub(r"#[^\n]*", "", match.group(2) or match.group(3)).split(","):
            word = name.strip().partition(" ")[0]
            candidates += [target / f"{word}.py", target / word / "__init__.py"]
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
    return digest.hexdigest()


@functools.cache
def _module_key(file: str) -> str | None:
    """Hash of a module, or None for one that may have changed, or outside the package, may depend on anything."""
    path = Path(file).resolve()
    return module_hash(path) if PACKAGE.resolve() in path.parents else None


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


def cache_file(function: Callable, kinds: str) -> CodeFile | None:
    """Where the code of a function for kinds of arguments belongs; None if it cannot be kept."""
    code = function.__code__
    module = _module_key(code.co_filename)
    if module is None:
        return None
    name = f"{function.__qualname__}-{code.co_firstlineno}"
    return code_file(f"{Path(code.co_filename).stem}-{module[:16]}", name, f"{module}\n{name}\n{kinds}\n{_machine()}")


def code_file(folder: str, name: str, key: str) -> CodeFile | None:
    """Where code belongs that is made from what the key says; None, and a sentence, if there is no place for it."""
    if CACHE_ROOT is None:
        tell("there is no home directory to keep compiled code in; NUMBA_CACHE_DIR can name a directory")
        return None
    digest = hashlib.sha256(key.encode()).hexdigest()
    return CodeFile(CACHE_ROOT / folder / f"{name}-{digest[:16]}.code", key)
