"""Compilation with numba's public interface alone: ``MBD_COMPILER=numba``.

``compile`` and ``native`` build on numba's compiler classes, which a new release may change. Here the same kernels are
``njit`` functions and the same entries ``cfunc`` functions, kept by numba's own cache: slower to start, and the results
are the same. numba notices changes of the file of a function only, not of those that it calls; therefore its cache has
a directory of its own for every state of the sources.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.extending import NativeValue, typeof_impl, unbox

from .arguments import check_arguments
from .cache import CACHE_ROOT, package_state
from .entry import Entry, connect_arguments
from .intrinsics import entry_arguments
from .kernel import OPTIONS, Kernel
from .old_code import note_use, remove_old_once
from .record import Record
from .record_types import RecordType, record_type
from .trust import is_private, tell


def _folder() -> Path | None:
    """Where code is kept; None if there is no place that belongs to the user alone (numba runs what it finds there)."""
    state = package_state()
    if CACHE_ROOT is None or state is None:
        return None
    folder = CACHE_ROOT / f"numba-{state[:16]}"
    try:
        is_new = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_private(folder):
            return None
        if is_new:
            remove_old_once(CACHE_ROOT)
            tell("compiling with numba's public interface (once per state of the sources, up to some minutes) ...")
        note_use(folder)
        return folder
    except OSError as error:
        tell(f"{CACHE_ROOT} is not writable ({error.strerror}), compiled code will not be kept")
        return None


FOLDER = _folder()
if FOLDER is not None:
    numba.config.CACHE_DIR = str(FOLDER)


@typeof_impl.register(Kernel)
@typeof_impl.register(Entry)
def _type_of_kernel(value: Kernel | Entry, context: Any) -> Any:
    return types.Dispatcher(value.dispatcher)


@typeof_impl.register(Record)
def _type_of_record(value: Record, context: Any) -> Any:
    return record_type(value.layout)


@unbox(RecordType)
def _address(kind: Any, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    number = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(number)


def new_dispatcher(function: Callable, options: dict[str, Any]) -> Any:
    """What kernels link, and Python calls, of a function."""
    kept = FOLDER is not None and Path(function.__code__.co_filename).exists()
    public = {name: value for name, value in options.items() if not name.startswith("_")}
    return numba.njit(**public, cache=kept)(function)


def call_kernel(kernel: Kernel, args: tuple) -> Any:
    """Call a kernel from Python."""
    if kernel.kinds:
        check_arguments(kernel, args)
    connect_arguments(kernel, args)
    return kernel.dispatcher(*args)


_ENTRY = """from numba import cfunc, types
from {module} import entry_parts

read, inner = entry_parts({name!r})


@cfunc(types.void(types.voidptr), cache={kept})
def entry(pointer):
    {parameters} = read(pointer)
    inner({parameters})
"""
_asked: dict[str, Entry] = {}


def entry_parts(name: str) -> tuple[Any, Any]:
    """(how its arguments are read, the function itself) of an entry, for the file that compiles it."""
    entry = _asked[name]
    return entry_arguments(entry.kinds), new_dispatcher(entry.py_func, {**OPTIONS, "forceinline": True})


def entry_code(entry: Entry) -> int:
    """Address of an entry. numba keeps code of functions in files only, so the C function gets one of its own."""
    _asked[entry.name] = entry
    parameters = ", ".join(entry.parameters) + ("," if len(entry.parameters) == 1 else "")
    text = _ENTRY.format(module=__name__, name=entry.name, parameters=parameters, kept=FOLDER is not None)
    space: dict[str, Any]
    if FOLDER is None:
        space = {}
        exec(text, space)
    else:
        file = FOLDER / "entries" / f"{entry.name}.py"
        if not file.exists() or file.read_text() != text:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.write_text(text)
        spec = importlib.util.spec_from_file_location(f"_entry_{entry.slot}", file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        space = vars(module)
    entry.compiled = space["entry"]  # it lives as long as the entry
    return int(entry.compiled.address)
