"""Machine code of user functions, found again in this process and on disk, and bound to what a function refers to.

What is compiled depends on the code of a function, on the kinds of the values that it refers to, and on the names of
what is part of the code (functions of numpy, texts); see ``lifting``. The values themselves are data: a bound
function writes them into its block whenever a run begins (``write``). Where lifting is not possible (another version of
numba, or ``MBD_COMPILER=numba``), ``frozen_code`` compiles anew whenever a value has changed; the last resort is
plain Python.
"""

from __future__ import annotations

import functools
import hashlib
import os
from typing import Any

import numpy as np

from ..cache import USER_FUNCTIONS, code_file, module_hash
from ..cache_files import read_code, write_code
from ..machine import this_machine
from ..native import _load as load_code
from ..settings import COMPILER, PUBLIC
from .call_styles import CALLS, GIVEN, Call, motion_parts
from .captured import (
    Path,
    captured_values,
    code_digest,
    code_text,
    is_known,
    name_of,
    object_at,
    plain,
    root_value,
    roots_of,
    unwrapped,
    value_at,
)
from .data_block import ARGUMENTS, CLOCK, HEAD, addresses_in, append_words, fits, kind_of

VARIANTS = 16  # of code on disk for the same function with other kinds of values in its objects
NO_CLOCK = np.zeros(1)
STATISTICS = {"compiled": 0, "loaded": 0}
"""How often machine code of user functions was made, and read from disk, in this process."""


class CannotCompile(Exception):
    """Why a function is called as plain Python."""


class UserCode:
    """Machine code for a kind of functions, and where they keep what it reads."""

    def __init__(self, address: int, about: dict[str, Any]) -> None:
        self.address = address
        self.words = int(about["words"])
        self.slots = [(int(k), _path(p), str(kind), int(o)) for k, p, kind, o in about["slots"]]
        self.baked = [(int(k), _path(p), str(name)) for k, p, name in about["baked"]]
        self.functions = [(int(k), _path(p), str(digest)) for k, p, digest in about["functions"]]
        self.addresses = [offset + k for _, _, kind, offset in self.slots for k in addresses_in(kind)]

    def values(self, functions: tuple[Any, ...]) -> list[Any] | None:
        """What functions refer to at present; None if this is not their code."""
        try:
            if any(code_digest(value_at(functions[k], path)) != digest for k, path, digest in self.functions):
                return None
            if any(name_of(value_at(functions[k], path)) != name for k, path, name in self.baked):
                return None
            values = [value_at(functions[k], path) for k, path, _, _ in self.slots]
        except Exception:  # something is missing, or a property of the user's objects fails: the call will say so
            return None
        fits = all(kind_of(value) == kind for value, (_, _, kind, _) in zip(values, self.slots, strict=True))
        return values if fits else None


def _path(listed: Any) -> Path:
    return tuple((str(step), key) for step, key in listed)


class BoundCode:
    """User functions with their machine code and the block that it reads."""

    def __init__(self, functions: tuple[Any, ...], code: UserCode, values: list[Any], n_in: int) -> None:
        self.functions, self.code, self.address = functions, code, code.address
        self.arguments = np.zeros(n_in)
        self.block = np.zeros(HEAD + code.words, dtype=np.int64)
        self.block[ARGUMENTS], self.block[CLOCK] = self.arguments.ctypes.data, NO_CLOCK.ctypes.data
        self._write(values)

    def write(self) -> bool:
        """Read the captured values again; False if they have become something for which other code is needed."""
        values = self.code.values(self.functions)
        if values is None:
            return False
        self._write(values)
        return True

    def places(self) -> list[tuple[int, Any]]:
        """Words of numbers that stand in the place of objects, with these objects."""
        found = []
        for k, path, kind, offset in self.code.slots:
            x = object_at(self.functions[k], path)
            if plain(x) is not x:
                found.append((HEAD + offset if kind == "f8" else -1, x))
        return found

    def restore(self, values: list[Any]) -> bool:
        """Take over values that were written in another process; False if they are not what this code reads."""
        kinds = [kind for _, _, kind, _ in self.code.slots]
        if len(values) != len(kinds) or not all(map(fits, values, kinds)):
            return False
        self._write(values)
        return True

    def signature(self) -> list[bytes]:
        """The values that the code reads, to be compared with those of another time, wherever arrays are."""
        words = self.block[HEAD:].copy()
        words[self.code.addresses] = 0
        return [words.tobytes(), *(x.tobytes() for x in self.kept if isinstance(x, np.ndarray))]

    def _write(self, values: list[Any]) -> None:
        self.values = values
        kept: list[Any] = []
        for value, (_, _, kind, offset) in zip(values, self.code.slots, strict=True):
            words: list[bytes] = []
            append_words(value, kind, words, kept)
            numbers = np.frombuffer(b"".join(words), dtype=np.int64)
            self.block[HEAD + offset : HEAD + offset + len(numbers)] = numbers
        self.kept = kept


def bind_code(functions: tuple[Any, ...], call: Call, dual: bool) -> Any:
    """Compiled functions with the present values of what they refer to; CannotCompile says why not."""
    if COMPILER == "none":
        raise CannotCompile("MBD_COMPILER is none")
    if not PUBLIC:
        if call.style == "motion":
            for exact in (True, False):
                try:
                    return _lifted(functions, call, *motion_parts(functions[1], functions[2], exact), False)
                except CannotCompile:
                    if not exact:
                        raise
        text = CALLS[call.style]
        return _lifted(functions, call, [(0, dual)], call.lines(text, dual), dual)
    from .frozen_code import FrozenCode

    if dual:
        raise CannotCompile("derivatives need lifted code")
    return FrozenCode(functions, call)


# --- finding and making code ----------------------------------------------------------------------------------------

_codes: dict[str, list[UserCode]] = {}
_failures: dict[str, str] = {}


def _fingerprint(function: Any, given: int, inside: tuple[Any, ...] = ()) -> list[str]:
    """The code of a function and the kinds of what it refers to directly, and of the functions among that."""
    inner, bound = unwrapped(function)
    parts = [code_text(inner.__code__), repr(sorted(bound))]
    if inner.__code__ in inside:
        return parts
    for root in roots_of(inner, bound, given):
        try:
            value = root_value(inner, bound, root)
        except Exception:
            parts.append(f"{root} is missing")
            continue
        value = plain(value)
        kind = kind_of(value)
        if kind is not None:
            parts.append(f"{root} {kind}")
        elif is_known(value) or isinstance(value, str | bytes | None):
            parts.append(f"{root} {name_of(value)}")
        else:
            parts.append(f"{root} {type(value).__module__}.{type(value).__qualname__}")
            try:
                parts += _fingerprint(value, 0, (*inside, inner.__code__))
            except Exception:
                parts.append("no function")
    return parts


def _lifted(
    functions: tuple[Any, ...], call: Call, parts: list[tuple[int, bool]], lines: list[str], is_complex: bool
) -> BoundCode:
    given = GIVEN.get(call.style, 1)
    try:
        prints = [part for k, dual in parts for part in (str(dual), *_fingerprint(functions[k], given))]
    except Exception as error:
        raise CannotCompile(str(error)) from None
    text = "\n".join([*lines, repr(call.views()), str(is_complex), *prints])
    key = hashlib.sha256(text.encode()).hexdigest()[:24]
    n_in = call.n_in * (2 if is_complex else 1)
    for code in _codes.get(key, ()):
        values = code.values(functions)
        if values is not None:
            return BoundCode(functions, code, values, n_in)
    loaded = _from_disk(key, functions)
    if loaded is not None:
        return BoundCode(functions, *loaded, n_in)
    attempt = f"{key} {_kinds(functions)}"
    if attempt in _failures:
        raise CannotCompile(_failures[attempt])
    try:
        code = _compile(functions, call, parts, lines, is_complex, key, given)
    except Exception as error:
        _failures[attempt] = reason_of(error)
        raise CannotCompile(_failures[attempt]) from error
    values = code.values(functions)
    if values is None:
        raise CannotCompile("what it refers to changes while it is looked at")
    return BoundCode(functions, code, values, n_in)


def _kinds(functions: tuple[Any, ...]) -> str:
    """Kinds of all that functions refer to, by which a failure to compile is remembered."""
    kinds = []
    for function in functions:
        found = captured_values(function) if function is not None else []
        kinds.append(None if found is None else [(p, kind_of(v) or type(v).__name__) for p, v in found])
    return repr(kinds)


def _compile(
    functions: tuple[Any, ...], call: Call, parts: list[tuple[int, bool]], lines: list[str], is_complex: bool, key: str,
    given: int,
) -> UserCode:  # fmt: skip
    from .lifting import Lifted, compile_lifted

    lifted = [Lifted(functions[k], list(range(given)), dual) for k, dual in parts]
    symbol = f"user.{key}.{os.urandom(8).hex()}"
    about, binary = compile_lifted(lifted, lines, call.views(), call.n_in, is_complex, symbol)
    STATISTICS["compiled"] += 1
    about |= {"slots": [], "baked": [], "functions": [], "words": 0}
    for (k, _), part in zip(parts, lifted, strict=True):
        about["slots"] += [[k, path, kind, about["words"] + offset] for path, kind, offset in part.slots]
        about["baked"] += [[k, path, name] for path, name in part.baked]
        about["functions"] += [[k, path, digest] for path, digest in part.functions]
        about["words"] += part.words
    address = load_code(about, binary)
    if not address:
        raise RuntimeError(f"the compiled code needs {', '.join(about['needs'])}")
    code = UserCode(address, about)
    _codes.setdefault(key, []).append(code)
    _to_disk(key, about, binary)
    return code


def reason_of(error: Exception) -> str:
    """Why the compiler failed, in a line."""
    if "readonly array" in str(error) or "'NoneType' object has no attribute 'args'" in str(error):
        return "it changes one of its arguments, or an array that is read-only, in place"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in nopython", "During:", "File", "[1"))]
    return (told or lines or [type(error).__name__])[0][:300]


# --- on disk --------------------------------------------------------------------------------------------------------


@functools.cache
def _makers() -> str | None:
    """Hash of the files that make code, and the machine; None if code cannot be kept."""
    hashes = [module_hash(f"{__package__}.{name}") for name in ("lifting", "code")]
    return None if None in hashes else "\n".join([*map(str, hashes), this_machine()])


def _file(key: str, variant: int) -> Any:
    """Where code is kept; functions with the same key may differ in the kinds of values inside objects."""
    makers = _makers()
    if makers is None:
        return None
    folder = f"{USER_FUNCTIONS}-{hashlib.sha256(makers.encode()).hexdigest()[:16]}"
    return code_file(folder, f"{key}-{variant}", f"{key}\n{variant}\n{makers}")


def _from_disk(key: str, functions: tuple[Any, ...]) -> tuple[UserCode, list[Any]] | None:
    for variant in range(VARIANTS):
        file = _file(key, variant)
        kept = read_code(file) if file is not None else None
        if kept is None:
            return None
        values = UserCode(0, kept[0]).values(functions)
        address = load_code(*kept) if values is not None else None
        if values is not None and address:
            STATISTICS["loaded"] += 1
            code = UserCode(address, kept[0])
            _codes.setdefault(key, []).append(code)
            return code, values
    return None


def _to_disk(key: str, about: dict[str, Any], binary: bytes) -> None:
    keys = [k for part in ("slots", "baked", "functions") for entry in about[part] for _, k in entry[1]]
    if not all(isinstance(k, str | int) and not isinstance(k, bool) for k in keys):
        return  # keys that a file would change
    for variant in range(VARIANTS):
        file = _file(key, variant)
        if file is None:
            return
        if read_code(file) is None:
            write_code(file, about, binary)
            return
