"""Where machine code is kept on disk (``cache_files``), and under which name.

The directory of every module is named after a hash of the module and of all modules of the package that it imports,
directly or not (``imports``), so that a change of any function or constant behind a kernel is noticed. Files are named
after the function, the kinds of its arguments, and what ``machine`` says of the processor and the compiler. The root of
all is ``~/.cache/mbd``, or ``NUMBA_CACHE_DIR`` if that is set. Code that was not used for a month is removed
(``old_code``).

Code for a level of processors can be part of an installation, in ``_code`` beside the modules that it was made from. It
is used where the user's own cache has nothing, under a key of the same hashes: never for other sources.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .cache_files import CodeFile, Installed, read_code, write_code
from .imports import Graph, Sources, reachable
from .kernel import OPTIONS
from .machine import level_machine, levels_here, this_machine
from .settings import STARTED
from .trust import tell

NAME = __name__.partition(".")[0]
PACKAGE = Path(str(sys.modules[NAME].__file__)).parent
SHIPPED = PACKAGE / "_code"
USER_FUNCTIONS = "user_functions"  # folders of code that is made from functions of the user's, and never shipped


def _cache_root() -> Path | None:
    """Where code is kept, an absolute path; None for a user without a home."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME", "")
    base = base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / NAME if os.path.isabs(base) else None


CACHE_ROOT = _cache_root()


# --- sources --------------------------------------------------------------------------------------------------------


@functools.cache
def _sources() -> tuple[Sources, Graph]:
    """The modules of the package, and what they import; the latter takes half a second to find and is kept."""
    sources = Sources(PACKAGE)
    text = sources.text
    folder = f"imports-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    file = _code_file(folder, "imports", text, [(level, text) for level in _shipped_levels()])
    kept = read_code(file)
    if kept is not None:
        return sources, kept[0]
    graph = sources.graph()
    write_code(file, graph, b"")
    return sources, graph


@functools.cache
def module_hash(name: str) -> str | None:
    """Hash of a module of the package, by its full name, and of everything in the package that it depends on.

    None if one of them was changed after this process began: what is in memory may then be something else. And for a
    module outside of the package, which may depend on anything. Where there are no sources, all modules count.
    """
    top, _, rest = name.partition(".")
    if top != NAME:
        return None
    sources, graph = _sources()
    if not graph:
        return package_state()
    place = rest.replace(".", "/")
    file = next((each for each in (f"{place}.py", f"{place}/__init__.py") if each in graph), None)
    if file is None:
        return None
    files = reachable(graph, file)
    if any(STARTED < sources.changed[each] <= time.time() for each in files):
        return None
    lines = [repr(sorted(OPTIONS.items())), *(f"{each} {sources.digests[each]}" for each in files)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@functools.cache
def package_state() -> str | None:
    """Hash of the whole package; None if it is not in files, so that code that was kept could not be told apart."""
    sources = Sources(PACKAGE)
    state = hashlib.sha256(sources.text.encode()).hexdigest() if sources.digests else sources.compiled_state()
    if state is None:
        tell(f"{PACKAGE} is not a folder of files (an archive or a frozen program): every process compiles anew")
    return state


# --- places ---------------------------------------------------------------------------------------------------------


_left_alone = False  # code of the installation, see without_shipped_code


def _shipped_levels() -> tuple[str, ...]:
    """Levels of processors for which this installation has code that can be used here."""
    return () if _left_alone else _levels_in(SHIPPED)


@functools.cache
def _levels_in(folder: Path) -> tuple[str, ...]:
    return tuple(level for level in levels_here() if (folder / level).is_dir()) if folder.is_dir() else ()


@contextmanager
def without_shipped_code() -> Iterator[None]:
    """Within this context, code that is part of the installation is not used: there will be code of one's own."""
    global _left_alone
    before, _left_alone = _left_alone, True
    try:
        yield
    finally:
        _left_alone = before


def cache_file(function: Callable, kinds: str) -> CodeFile | None:
    """Where the code of a function for kinds of arguments belongs; None if it cannot be kept."""
    module = module_hash(function.__module__)
    if module is None:
        return None
    name = f"{function.__qualname__}-{function.__code__.co_firstlineno}"
    folder = f"{function.__module__.rpartition('.')[2]}-{module[:16]}"
    key = f"{module}\n{name}\n{kinds}\n"
    shipped = [(level, key + level_machine(level)) for level in _shipped_levels()]
    return _code_file(folder, name, key + this_machine(), shipped)


def code_file(folder: str, name: str, key: str) -> CodeFile:
    """Where code belongs that is made from what the key says, and is not part of an installation."""
    return _code_file(folder, name, key, [])


def _code_file(folder: str, name: str, key: str, shipped: list[tuple[str, str]]) -> CodeFile:
    installed = tuple(
        Installed(SHIPPED, Path(level, folder, _file_name(name, level_key)), level_key) for level, level_key in shipped
    )
    return CodeFile(CACHE_ROOT and CACHE_ROOT / folder / _file_name(name, key), key, installed)


def _file_name(name: str, key: str) -> str:
    return f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.code"
