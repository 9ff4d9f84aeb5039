"""Machine code: loading it and calling it, without the compiler.

A piece of machine code is a C function of one pointer. For *entries* (``entry``), which kernels call, it points
to their arguments as the compiler lays them out. For kernels that Python calls it points to a list of words of 64 bits,
one for every number, packed record (its address) and array (the address of the numpy object, from which the code reads
where the data are); the result comes back in the first words. What kinds of arguments these are is part of the name
under which the code is kept.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from .arguments import check_arguments, entry_words
from .cache import cache_file
from .cache_files import read_code, write_code
from .entry import Entry, connect, connect_arguments
from .kinds import Kind
from .loading_time import without_limit
from .record import Record

# Where a numpy array (PyArrayObject) keeps the address of its data, its shape and its strides; part of numpy's ABI.
ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES = (object.__basicsize__ + k for k in (0, 16, 24))

_FUNCTION = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # holds the interpreter: work spaces serve one thread at a time
_LOADING = threading.Lock()
_QUIET_SECONDS = 5.0  # compilations that follow within this time belong to one message

compiled: list[str] = []
"""Names of the functions that this process had to compile."""


def _check_arrays() -> None:
    """Arrays are where this module looks for them."""
    a = np.zeros((2, 3))[:, :2]
    found = [ctypes.c_longlong.from_address(id(a) + k).value for k in (ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES)]
    lists = [list((ctypes.c_longlong * 2).from_address(place)) for place in found[1:] if place > 4096]
    if found[0] != a.ctypes.data or lists != [list(a.shape), list(a.strides)]:
        raise ImportError("this version of numpy keeps arrays in an unknown way; MBD_JIT=0 runs without compilation")


_check_arrays()


class _LastCompilation:
    ended = -1e9


@functools.cache
def _engine() -> Any:
    from llvmlite import binding

    with contextlib.suppress(RuntimeError):  # newer versions of llvmlite do so on their own, and say so
        binding.initialize()
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine(codemodel="jitdefault", jit=True)
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


def _load(about: dict[str, Any], code: bytes) -> int | None:
    """Address of the function, or None if something that it calls is not there."""
    with _LOADING:
        return _load_one(about, code)


def _load_one(about: dict[str, Any], code: bytes) -> int | None:
    from llvmlite import binding

    engine = _engine()
    if not _all_known(about["needs"]):
        return None
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return int(engine.get_function_address(about["symbol"]))


def _all_known(names: list[str]) -> bool:
    """Whether all functions that code calls are there: in the C library, in that of numba, or in the whole of numba."""
    from llvmlite import binding

    for bring in (None, _add_helpers, _add_compiler):
        if bring is not None:
            bring()
        if all(binding.address_of_symbol(name) is not None for name in names):
            return True
    return False


@functools.cache
def _add_helpers() -> None:
    """Make known what numba has written in C (complex powers, gamma, ...), loading this library of its alone.

    Its functions are called ``numba_cpow`` and so on in compiled code. Where a version of numba keeps them elsewhere,
    nothing is found here and the compiler brings them.
    """
    from llvmlite import binding

    package = find_spec("numba")
    assert package is not None and package.origin is not None
    for suffix in EXTENSION_SUFFIXES:
        file = Path(package.origin).with_name(f"_helperlib{suffix}")
        spec = spec_from_file_location("numba._helperlib", file) if file.exists() else None
        if spec is not None and spec.loader is not None:
            library = sys.modules.get(spec.name)
            if library is None:
                library = module_from_spec(spec)
                spec.loader.exec_module(library)
            for name, address in getattr(library, "c_helpers", {}).items():
                binding.add_symbol(f"numba_{name}", address)
            return


@functools.cache
def _add_compiler() -> None:
    """Make known all that the compiler brings."""
    from .compile import make_known

    make_known()


def _announce() -> None:
    """Tell the user that something is being compiled."""
    if time.monotonic() - _LastCompilation.ended > _QUIET_SECONDS:
        print("mbd: compiling (once per installation, up to a minute) ...", file=sys.stderr, flush=True)


def machine_code(function: Callable, kinds: str, compile_now: Callable[[str], tuple[dict, bytes]]) -> tuple[int, Any]:
    """(address, kind of the result) of a function for kinds of arguments: from disk, or compiled now."""
    with without_limit():
        return _machine_code(function, kinds, compile_now)


def _machine_code(
    function: Callable, kinds: str, compile_now: Callable[[str], tuple[dict, bytes]]
) -> tuple[int, Any]:  # fmt: skip
    file = cache_file(function, kinds)
    if file is not None:
        kept = read_code(file)
        address = _load(*kept) if kept is not None else None
        if kept is not None and address:
            return address, kept[0]["result"]
    _announce()
    symbol = f"{function.__module__}.{function.__qualname__}.{os.urandom(8).hex()}"
    about, code = compile_now(symbol)
    compiled.append(f"{function.__module__}.{function.__qualname__}")
    address = _load(about, code)
    if not address:
        raise RuntimeError(f"{function.__qualname__}: the compiled code needs {', '.join(about['needs'])}")
    if file is not None:
        write_code(file, about, code)
    _LastCompilation.ended = time.monotonic()
    return address, about["result"]


def entry_code(entry: Entry) -> int:
    """Address of an entry."""

    def compile_now(symbol: str) -> tuple[dict, bytes]:
        from .compile import compile_entry

        return compile_entry(entry, symbol)

    kinds = ", ".join(kind.text if isinstance(kind, Kind) else kind.layout.text for kind in entry.kinds)
    return machine_code(entry.py_func, f"entry {entry.slot} ({kinds})", compile_now)[0]


# --- calls from Python ----------------------------------------------------------------------------------------------


def _describe(a: Any, kinds: list[Any], words: list[Any]) -> None:
    """Append what kind of argument this is, hashable, and its words."""
    t = type(a)
    if t is float:
        kinds.append("f")
        words.append(a)
    elif t is int:
        kinds.append("i")
        words.append(a)
    elif isinstance(a, np.ndarray):
        d, flags = a.dtype, a.flags
        if not (d.isnative and flags.aligned):
            raise TypeError(f"compiled code takes arrays in the machine's own order of bytes, not {d}")
        if not flags.writeable:
            raise ValueError("compiled code takes writable arrays only, and this one is read-only; give it a copy")
        layout = "C" if flags.c_contiguous else ("F" if flags.f_contiguous else "A")
        kinds.append((d.char if d.fields is None else d, a.ndim, layout))
        words.append(id(a))
    elif isinstance(a, Record):
        kinds.append(t)
        words.append(a.address)
    elif isinstance(a, tuple):
        kinds.append((t if hasattr(a, "_fields") else "t", len(a)))
        for part in a:
            _describe(part, kinds, words)
    elif isinstance(a, (bool, np.bool_)):
        kinds.append("b")
        words.append(int(a))
    elif isinstance(a, (int, np.integer)):
        kinds.append("i")
        words.append(int(a))
    elif isinstance(a, (float, np.floating)):
        kinds.append("f")
        words.append(float(a))
    elif isinstance(a, (complex, np.complexfloating)):
        kinds.append("c")
        words += [float(a.real), float(a.imag)]
    elif isinstance(a, np.void) and a.dtype.fields is not None:
        kinds.append(a.dtype)
        words.append(a.__array_interface__["data"][0])
    else:
        raise TypeError(f"compiled code takes numbers, arrays and records, not {t.__name__}")


def kind_text(kind: Any) -> str:
    """The kind of an argument as it enters the name of the code."""
    if isinstance(kind, type):
        return kind.layout.text if issubclass(kind, Record) else f"{kind.__name__}{kind._fields}"  # type: ignore
    if isinstance(kind, np.dtype):
        return str(kind)
    if isinstance(kind, tuple):
        return "(" + ", ".join(kind_text(k) for k in kind) + ")"
    return str(kind)


def _formats(kinds: Any) -> str:
    """Letters of ``struct`` for the words of arguments."""
    letters = []
    for kind in kinds:
        if kind in ("f", "c"):
            letters.append("d" if kind == "f" else "dd")
        elif not isinstance(kind, tuple) or len(kind) == 3:  # the parts of a tuple follow on their own
            letters.append("q")
    return "".join(letters)


def _letters(result: Any) -> str:
    """Letters of ``struct`` for the words of a result."""
    if isinstance(result, list):
        return "".join(_letters(part) for part in result)
    return {"n": "", "f": "d", "c": "dd"}.get(result, "q")


def _value(result: Any, words: Iterator[Any]) -> Any:
    """The value of a result."""
    if isinstance(result, list):
        return tuple(_value(part, words) for part in result)
    if result == "c":
        return complex(next(words), next(words))
    return bool(next(words)) if result == "b" else next(words)


class Code:
    """Machine code for kinds of arguments."""

    def __init__(self, address: int, kinds: tuple, result: Any) -> None:
        self.function = _FUNCTION(address)
        self.arguments, self.results = struct.Struct(_formats(kinds)), struct.Struct(_letters(result))
        self.result = result
        self.buffer = ctypes.c_longlong * max(self.arguments.size // 8, self.results.size // 8, 1)


def call_kernel(kernel: Any, args: tuple) -> Any:
    """Call a kernel from Python."""
    code, words = _packed(kernel, args)
    if code.result == "n":
        code.function(code.arguments.pack(*words))
        return None
    buffer = code.buffer()
    code.arguments.pack_into(buffer, 0, *words)
    code.function(buffer)
    return _value(code.result, iter(code.results.unpack_from(buffer)))


def packed_kernel(kernel: Any, args: tuple) -> tuple[Any, Any]:
    """Machine code of a kernel without result, and its arguments as it takes them."""
    code, words = _packed(kernel, args)
    if code.result != "n":
        raise TypeError(f"{kernel.__name__} has a result, which would be written over its arguments")
    return code.function, code.arguments.pack(*words)


def _packed(kernel: Any, args: tuple) -> tuple[Code, list[Any]]:
    """Machine code for these arguments, and the words that it reads."""
    missing = kernel.count - len(args)
    if missing > 0:
        args += (kernel.py_func.__defaults__ or ())[-missing:]
    words: list[Any]
    if kernel.kinds:
        words = check_arguments(kernel, args)
        if kernel.declared is None:
            kernel.declared = _declared(kernel)
        code, arrays, holders = kernel.declared
        for k in arrays:
            words[k] = id(args[k])
        for k in holders:
            if kernel not in args[k].connected:
                connect_arguments(kernel, args)
    else:
        words = []
        kinds: list[Any] = []
        for a in args:
            _describe(a, kinds, words)
        key = tuple(kinds)
        code = kernel.codes.get(key)
        if code is None:
            code = kernel.codes[key] = _code(kernel, key, len(args))
        connect_arguments(kernel, args)
    return code, words


def _declared(kernel: Any) -> tuple[Code, list[int], list[int]]:
    """Machine code for arguments of the kinds that a kernel declares; which are arrays, and which hold entries."""
    key: list[Any] = []
    for kind in kernel.kinds:
        if not isinstance(kind, Kind):
            key.append(kind)
        elif kind.ndim:
            key.append((kind.dtype.char if kind.dtype.fields is None else kind.dtype, kind.ndim, "C"))
        else:
            key.append("f" if kind.dtype.kind == "f" else "i")
    arrays = [k for k, kind in enumerate(kernel.kinds) if isinstance(kind, Kind) and kind.ndim]
    holders = [k for k, kind in enumerate(kernel.kinds) if not isinstance(kind, Kind) and "entries" in kind.fields]
    return _code(kernel, tuple(key), kernel.count), arrays, holders


def _code(kernel: Any, kinds: tuple, count: int) -> Code:
    function = kernel.py_func
    if count != kernel.count:
        raise TypeError(f"{kernel.__name__} takes {kernel.count} arguments, {count} were given")

    def compile_now(symbol: str) -> tuple[dict, bytes]:
        from .compile import compile_kernel

        return compile_kernel(kernel, kinds, symbol)

    address, result = machine_code(function, kind_text(kinds), compile_now)
    return Code(address, kinds, result)


# --- entries, called from Python ------------------------------------------------------------------------------------


def call_entry(entry: Entry, args: tuple) -> None:
    """Call an entry from Python; arrays of the wrong kind or too short are refused."""
    function, words = packed_entry(entry, args)
    function(words)


def packed_entry(entry: Entry, args: tuple) -> tuple[Any, bytes]:
    """Machine code of an entry, and its arguments as it takes them."""
    words = entry_words(entry, args)
    holder = next(a for a in args if isinstance(a, Record))
    if entry.when is not None and not entry.when(holder):
        raise ValueError(f"{entry.__name__}: this {type(holder).__name__} has nothing that it is for")
    if entry not in holder.connected:
        connect(holder, entry)
    return _entry_function(entry), struct.pack(_entry_letters(entry), *words)


@functools.cache
def _entry_function(entry: Entry) -> Any:
    return _FUNCTION(entry.address)


@functools.cache
def _entry_letters(entry: Entry) -> str:
    """Letters of ``struct`` for arguments as entries take them: of an array the address of its data and its shape."""
    letters = []
    for kind in entry.kinds:
        count = 1 + kind.ndim if isinstance(kind, Kind) else 1
        letters.append("d" if isinstance(kind, Kind) and not kind.ndim and kind.dtype.kind == "f" else "q" * count)
    return "".join(letters)
