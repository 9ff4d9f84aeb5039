"""What a solution file must fulfil: its header is checked before any array is read, its arrays before they are used.

Files are read by programs that trust them. Whatever a file contains that ``save`` would not have written is refused by
name: unknown and repeated keys, foreign versions, wrong shapes and types, times that go backwards, values that are not
numbers, and parameters of elements that their constructors would refuse.
"""

from __future__ import annotations

import json
import math
import zipfile
from typing import Any

import numpy as np

from ..errors import ModelError

FORMAT, VERSION = "mbd solution", 3
KEYS = ("format", "version", "mbd", "model", "integrator", "stats", "start", "state", "complete", "message", "missing")
# keys that are optional in files of older versions; always: angles where a run begins that goes on from another one,
# whether equations are dependent, and of a state what does not follow from the model
LATER = {"events": 1, "fingerprint": 2, "begins_with": math.inf, "redundant": math.inf, "acted": math.inf}
RECORDS = ("t", "q", "v", "vd", "lam")
OPTIONAL = ("turns", "values", "totals", "events.q", "events.v", "numbers")
PREFIXES = ("state.", "scheme.", "inputs.")
TYPES = {
    "model": dict,
    "integrator": dict,
    "complete": bool,
    "message": str,
    "missing": list,
    "events": list,
    "begins_with": dict,
    "redundant": bool,
    "acted": dict,
}
MODEL_KEYS = {"name", "gravity", "counters", "ground", "bodies", "joints", "forces"}
TAGS = {
    "$array": {"$array", "shape", "dtype"}, "$object": {"$object", "attributes"},
    **{tag: {tag} for tag in (
        "$constant", "$element", "$list", "$tuple", "$dict", "$path", "$miss", "$misses", "$integrator", "$record",
        "$missing",
    )},
}  # fmt: skip


def read_file(path: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a file, checked."""
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ModelError(f"array '{_key(min(repeated))}' is there twice")
        if "header.npy" not in names:
            raise ModelError("is no solution of mbd (it has no header); expected a file that solution.save(...) wrote")
        header = parse_header(_array(file, "header.npy").tobytes())
        forms = {_key(name): _form(file, name) for name in names}
        check_forms(header, forms)
        return header, {key: _array(file, f"{key}.npy") for key in forms if key != "header"}


def _key(name: str) -> str:
    return name.removesuffix(".npy")


def _form(file: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array, which must agree with the size of its entry, without reading it."""
    with file.open(name) as entry:
        version = np.lib.format.read_magic(entry)
        read = np.lib.format.read_array_header_1_0 if version[0] == 1 else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(entry)
        begin = entry.tell()
    size = dtype.itemsize * int(np.prod(shape, dtype=float))
    if dtype.hasobject or begin + size != file.getinfo(name).file_size:
        raise ModelError(f"array '{_key(name)}' is damaged: its size is not that of {dtype} of shape {shape}")
    return shape, dtype


def _array(file: zipfile.ZipFile, name: str) -> np.ndarray:
    with file.open(name) as entry:
        return np.lib.format.read_array(entry, allow_pickle=False)


def parse_header(text: bytes) -> dict[str, Any]:
    """The header, of a known version, with the keys of that version."""
    header = json.loads(text.decode(), object_pairs_hook=_unique)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        given = header.get("format") if isinstance(header, dict) else type(header).__name__
        raise ModelError(f"it contains {given!r}; expected {FORMAT!r}")
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise ModelError(f"its version is {version!r}; expected a number from 1 to {VERSION}")
    if version > VERSION:
        raise ModelError(f"it was written by mbd {header.get('mbd')}, which is newer; update mbd to read it")
    required = [*KEYS, *(key for key, since in LATER.items() if since <= version and since > 1)]
    _check_keys(header, required, LATER, "header")
    for key, kind in TYPES.items():
        if key in header and not isinstance(header[key], kind):
            raise ModelError(f"header: {key} = {str(header[key])[:80]!r}; expected {kind.__name__}")
    _check_keys(header["model"], MODEL_KEYS, ("coordinates",), "model")
    if "coordinates" in header["model"]:
        check_choice_keys(header["model"]["coordinates"])
    if "acted" in header:
        _check_keys(header["acted"], ("identity",), ("fingerprint",), "acted")
    for i, event in enumerate(header.get("events", ())):
        _check_keys(event, ("name", "t", "direction"), (), f"event {i + 1}")
        if not isinstance(event["t"], int | float) or not np.isfinite(event["t"]) or event["direction"] not in (-1, 1):
            raise ModelError(
                f"event {i + 1}: t = {event['t']}, direction = {event['direction']}; expected a time and 1 or -1"
            )
    _check_beginning(header.get("begins_with", {}))
    return header


def _check_beginning(given: Any) -> None:
    """What goes on from a run before: angles, and quaternions."""
    for name, x in given.items():
        numbers = x if isinstance(x, list) and len(x) == 4 else [x]
        if not all(isinstance(number, int | float) for number in numbers):
            raise ModelError(f"header: begins_with: {name!r} is {str(x)[:80]}; expected an angle, or a quaternion")


def check_choice_keys(given: Any) -> None:
    """The choice of joint coordinates: names of joints and bodies, and a node."""
    _check_keys(given, ("cut", "absolute", "spherical"), (), "model.coordinates")
    for key in ("cut", "absolute"):
        if not isinstance(given[key], list) or not all(isinstance(name, str) for name in given[key]):
            raise ModelError(f"model.coordinates.{key} = {str(given[key])[:80]!r}; expected a list of names")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ModelError(f"header: key '{next(key for key in keys if keys.count(key) > 1)}' is there twice")
    return found


def _check_keys(given: Any, required: Any, optional: Any, where: str) -> None:
    if not isinstance(given, dict):
        raise ModelError(f"{where} is {str(given)[:80]!r}; expected named values")
    for key in required:
        if key not in given:
            raise ModelError(f"{where}: '{key}' is missing")
    for key in given:
        if key not in required and key not in optional:
            raise ModelError(f"{where}: unknown key '{key}'")


def check_entry(x: dict[str, Any]) -> str:
    """The tag of an encoded value; refuses keys beside those of the tag."""
    tag = next(iter(x), "")
    if tag not in TAGS:
        raise ModelError(f"unknown entry {tag!r}")
    _check_keys(x, TAGS[tag], (), f"entry {tag}")
    if tag == "$array" and np.dtype(x["dtype"]).kind not in "fiub":
        raise ModelError(f"an array is of type {x['dtype']!r}; expected numbers")
    return tag


def check_forms(header: dict[str, Any], forms: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> None:
    """Which arrays there are, and that all records are equally many."""
    for key in RECORDS:
        if key not in forms:
            raise ModelError(f"array '{key}' is missing")
    count = forms["t"][0][0] if len(forms["t"][0]) == 1 else -1
    events = len(header.get("events", ()))
    for key, (shape, dtype) in forms.items():
        if key not in (*RECORDS, *OPTIONAL, "header") and not key.startswith(PREFIXES):
            raise ModelError(f"unknown array '{key}'")
        if key.startswith("state.") or key == "header":
            continue
        if dtype.kind != "f":
            raise ModelError(f"array '{key}' is of type {dtype}; expected floating-point numbers")
        if key == "numbers":  # of the tables of the model
            if len(shape) != 1:
                raise ModelError(f"array '{key}' has shape {shape}; expected numbers one after the other")
            continue
        rows = events if key.startswith("events.") else count
        if len(shape) != (1 if key == "t" or key.startswith("inputs.") else 2) or shape[0] != rows:
            raise ModelError(f"array '{key}' has shape {shape}; expected {rows} rows of numbers")
    if events and not {"events.q", "events.v"} <= set(forms):
        raise ModelError("the states of the events are missing")


def check_records(arrays: dict[str, np.ndarray]) -> None:
    """Times run forwards, and positions and velocities are numbers."""
    for key in ("t", "q", "v"):
        bad = np.argwhere(~np.isfinite(arrays[key]))
        if bad.size:
            raise ModelError(f"{key} is not a number in record {bad[0][0]}")
    back = np.flatnonzero(np.diff(arrays["t"]) < 0.0)
    if back.size:
        k = int(back[0])
        raise ModelError(
            f"times go backwards: t = {arrays['t'][k + 1]:.9g} follows {arrays['t'][k]:.9g} (record {k + 1})"
        )
