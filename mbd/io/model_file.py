"""Models as JSON files: exact to the last digit, checked when read, and without anything that could be executed.

A file holds ``{"format": "mbd model", "version": 1, "model": {...}}`` with the elements as in solution files. Reading
checks the whole structure first, so that an error says where in the file it is.
"""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

import numpy as np

import mbd

from ..bodies import Body, Generalized, PointMass, RigidBody
from ..elements.arguments import FilePath
from ..errors import MbdError, ModelError
from ..forces import ForceElement
from ..joints import Joint
from ..model import Model
from ..nodes import Node
from ..system.system import assemble
from .archive_checks import check_choice_keys
from .encoding import CONSTANTS, Decoder, Encoder, new_object
from .files import named, write_text

FORMAT, VERSION = "mbd model", 1
KINDS: dict[str, tuple[type, str]] = {
    "bodies": (Body, ""),
    "joints": (Joint, "joint"),
    "forces": (ForceElement, "force"),
}
VECTOR, MATRIX, NUMBER, NODE, ELEMENT = "three numbers", "a 3x3 matrix", "a number", "a node", "a body of the model"
REQUIRED: list[tuple[type, dict[str, str]]] = [
    (RigidBody, {"mass": NUMBER, "inertia": MATRIX, "com": VECTOR, "node": NODE}),
    (PointMass, {"mass": NUMBER, "node": NODE}),
    (Generalized, {"node": NODE}),
    (Joint, {
        "body_a": ELEMENT, "body_b": ELEMENT, "point_a": VECTOR, "point_b": VECTOR, "frame_a": MATRIX,
        "frame_b": MATRIX,
    }),
]  # fmt: skip
NODE_PARTS = {"position": VECTOR, "rotation": MATRIX, "velocity": VECTOR, "angular_velocity": VECTOR}


def save_model(model: Model, path: FilePath) -> None:
    """Write a model to a JSON file; ``load_model`` restores it exactly."""
    if model._parameters:
        names = ", ".join(map(repr, model._parameters))
        raise ModelError(
            f"{model}: has the parameters and inputs {names}, which a model file cannot hold; save the program that "
            "builds it, or the plain model with their present values: model.without_parameters().save(...)"
        )
    encoder = Encoder()
    data = encoder.model(model)
    if encoder.missing:
        raise ModelError(
            f"{model}: {encoder.missing[0]} is a Python function, which a model file cannot hold; expected a model of "
            "data only. Save the program that builds it instead"
        )
    whole = {"format": FORMAT, "version": VERSION, "mbd": mbd.__version__, "model": data}
    try:
        text = json.dumps(whole, indent=1, allow_nan=False)
    except ValueError:  # an attribute that a user's class has on its own
        raise ModelError(
            f"{model}: {_not_finite(model, data)} has a number that is not finite; expected finite ones"
        ) from None
    write_text(path, text)


def _not_finite(model: Model, data: dict[str, Any]) -> Any:
    """The element whose entry holds a number that is not finite."""
    for kind in KINDS:
        for element, entry in zip(getattr(model, kind), data[kind], strict=True):
            try:
                json.dumps(entry, allow_nan=False)
            except ValueError:
                return element
    return model.ground


def load_model(path: FilePath) -> Model:
    """Read a model that ``model.save`` wrote."""
    file = named(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        with suppress(OSError):
            if file.read_bytes()[:2] == b"PK":
                raise ModelError(f"{path}: is an archive, no model; a solution is read by mbd.load(path)") from None
        raise ModelError(f"{path}: cannot be read as text ({error})") from None
    try:
        data = json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise ModelError(f"{path}, line {error.lineno}, column {error.colno}: no valid JSON ({error.msg})") from None
    except (ModelError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: {error}") from None
    try:
        return _checked(data)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error.__cause__
    except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path}: is damaged or no model of mbd ({type(error).__name__}: {error})") from error


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ModelError(f"the key {twice!r} is given twice in one table, as {[x for k, x in pairs if k == twice]}")
    return table


def _checked(data: Any) -> Model:
    top = _table(data, "the file", ("format", "version", "model"), ("mbd",))
    if top["format"] != FORMAT:
        raise ModelError(f'format is {top["format"]!r}; expected "{FORMAT}", as model.save(...) writes it')
    if type(top["version"]) is not int or not 1 <= top["version"] <= VERSION:
        raise ModelError(f"version is {top['version']!r}; this mbd reads versions up to {VERSION}, so update mbd")
    model = _table(top["model"], "model", ("name", "gravity", "counters", "ground", *KINDS), ("coordinates",))
    if not isinstance(model["name"], str):
        raise _bad("model.name", model["name"], "a text")
    names = _names(model)
    _value(model["gravity"], "model.gravity", names, VECTOR)
    _value(model["ground"], "model.ground", names)
    counters = _table(model["counters"], "model.counters", ())
    for key, count in counters.items():
        if type(count) is not int or count < 0:
            raise _bad(f"model.counters.{key}", count, "a whole number")
    for kind, (base, stored) in KINDS.items():
        for k, entry in enumerate(model[kind]):
            _element(entry, f"model.{kind}[{k}] ('{entry['attributes']['name']}')", base, stored, names)
    if "coordinates" in model:
        check_choice_keys(model["coordinates"])
        _value(model["coordinates"]["spherical"], "model.coordinates.spherical", names, NODE)
    decoded = _decoded(model)
    try:
        if decoded.bodies:
            assemble(decoded)
    except MbdError as error:
        raise ModelError(f"the model is not valid: {error}") from error
    except Exception as error:
        raise ModelError(f"the model is not valid ({type(error).__name__}: {error})") from error
    return decoded


def _decoded(model: dict[str, Any]) -> Model:
    """The model, after every element has been used once."""
    decoded = Decoder([]).model(model)
    for kind in KINDS:
        for k, element in enumerate(getattr(decoded, kind)):
            try:
                _probe(element)
            except MbdError as error:
                raise ModelError(f"model.{kind}[{k}] ('{element.name}'): {error}") from error
            except Exception as error:
                raise ModelError(f"model.{kind}[{k}] ('{element.name}'): not complete ({error})") from error
    return decoded


def _probe(element: Any) -> None:
    if isinstance(element, Body):
        element.node.check(element.name)
        element.node.coordinates()
    else:
        element.check()
        _ = element.primitives() if isinstance(element, Joint) else element.rows()


def _names(model: dict[str, Any]) -> dict[str, str]:
    """Kind of every element by name; structure of the lists."""
    names = {"ground": "bodies"}
    for kind in KINDS:
        if not isinstance(model[kind], list):
            raise _bad(f"model.{kind}", model[kind], "a list")
        for k, entry in enumerate(model[kind]):
            where = f"model.{kind}[{k}]"
            table = _table(entry, where, ("class", "name", "attributes"), ())
            if not isinstance(table["name"], str) or not table["name"].isidentifier():
                raise _bad(f"{where}.name", table["name"], "the name of a class")
            attributes = _table(table["attributes"], f"{where}.attributes", ("name",))
            name = attributes["name"]
            if not isinstance(name, str) or not name.strip():
                raise _bad(f"{where}.attributes.name", name, "a text that is not empty")
            if name in names:
                raise ModelError(f"{where}.attributes.name: {name!r} is taken; expected unique names")
            names[name] = kind
    return names


def _element(entry: dict[str, Any], where: str, base: type, stored: str, names: dict[str, str]) -> None:
    if not isinstance(entry["class"], str):
        raise _bad(f"{where}.class", entry["class"], "the name of a class")
    cls: type = base
    if entry["class"] != stored or not stored:
        try:
            cls = type(new_object(entry["class"]))
        except ModelError as error:
            raise ModelError(f"{where}.class: {error}") from None
        if not issubclass(cls, base) or cls is base:
            raise ModelError(f"{where}.class: {entry['class']!r} does not belong into this list")
    attributes = entry["attributes"]
    for kind, required in REQUIRED:
        if issubclass(cls, kind):
            for key, expected in required.items():
                if key not in attributes:
                    raise ModelError(f"{where}.attributes: '{key}' is missing; expected {expected}")
                _value(attributes[key], f"{where}.attributes.{key}", names, expected)
    for key, x in attributes.items():
        _value(x, f"{where}.attributes.{key}", names)
    if issubclass(cls, PointMass) and not attributes["mass"] > 0.0:
        raise _bad(f"{where}.attributes.mass", attributes["mass"], "a positive number")


def _value(x: Any, where: str, names: dict[str, str], expected: str = "") -> None:
    """Check one value: a plain one, or a table with a tag."""
    if x is None or type(x) in (bool, int, float, str):
        if (type(x) is float and not math.isfinite(x)) or (type(x) is int and abs(x) > 2**63):
            raise _bad(where, x, "a finite number")
        if expected and not (expected == NUMBER and type(x) in (int, float)):
            raise _bad(where, x, expected)
        return
    if not isinstance(x, dict) or not x:
        raise _bad(where, x, expected or "a value, or a table that begins with a tag such as $array")
    tag, content = next(iter(x.items()))
    more = {"$array": {"shape", "dtype"}, "$object": {"attributes"}}.get(tag, set())
    if unknown := sorted(set(x) - more - {tag}):
        raise ModelError(f"{where}: unknown key '{unknown[0]}' beside {tag}")
    if tag == "$array":
        _array(x, content, where, expected)
    elif tag == "$constant":
        if content not in CONSTANTS:
            raise _bad(where, content, f"one of {', '.join(CONSTANTS)}")
        if expected and (expected == VECTOR) != (np.ndim(CONSTANTS[content]) == 1):
            raise _bad(where, content, expected)
    elif tag == "$element":
        if content not in names:
            raise ModelError(f"{where}: there is no element named {content!r}")
        if expected and (expected != ELEMENT or names[content] != "bodies"):
            raise _bad(where, content, expected)
    elif tag == "$object":
        _object(x, content, where, names, expected)
    elif expected:
        raise _bad(where, x, expected)
    elif tag in ("$list", "$tuple"):
        _list(content, where)
        for k, item in enumerate(content):
            _value(item, f"{where}[{k}]", names)
    elif tag == "$dict":
        for k, pair in enumerate(_list(content, where)):
            for item in _list(pair, f"{where}[{k}]"):
                _value(item, f"{where}[{k}]", names)
    elif tag == "$record":
        for key, item in _table(content, where, ()).items():
            _value(item, f"{where}.{key}", names)
    elif tag == "$path":
        if not isinstance(content, str):
            raise _bad(where, content, "a path")
    elif tag == "$missing":
        raise ModelError(f"{where}: a Python function is missing here; model files hold data only")
    else:
        raise ModelError(f"{where}: unknown tag {tag!r}; was it written by a newer version of mbd?")


def _array(x: dict[str, Any], content: Any, where: str, expected: str) -> None:
    shape, dtype = x.get("shape"), x.get("dtype")
    if not isinstance(content, list) or not isinstance(shape, list) or not isinstance(dtype, str):
        raise _bad(where, x, "$array with a list, shape and dtype")
    if dtype not in ("<f8", "<i8", "|b1", "|u1") or not all(type(n) is int and n >= 0 for n in shape):
        raise _bad(where, [shape, dtype], 'a shape of whole numbers and the dtype "<f8", "<i8", "|b1" or "|u1"')
    if len(content) != math.prod(shape):
        raise ModelError(f"{where}: {len(content)} numbers for the shape {shape}")
    for k, number in enumerate(content):
        if type(number) not in (int, float, bool) or not abs(number) < math.inf:
            raise _bad(f"{where}[{k}]", number, "a finite number")
        if (type(number) is bool) != (dtype == "|b1"):
            raise _bad(f"{where}[{k}]", number, "true or false" if dtype == "|b1" else "a finite number")
    wanted = {VECTOR: [3], MATRIX: [3, 3]}.get(expected)
    if expected and shape != wanted:
        raise _bad(where, f"an array of shape {shape}", expected)


def _object(x: dict[str, Any], content: Any, where: str, names: dict[str, str], expected: str) -> None:
    attributes = _table(x.get("attributes"), f"{where}.attributes", ())
    try:
        cls = type(new_object(content))
    except (ModelError, AttributeError) as error:
        raise ModelError(f"{where}: {error}") from None
    if expected and (expected != NODE or not issubclass(cls, Node)):
        raise _bad(where, content, expected)
    for key, item in attributes.items():
        _value(item, f"{where}.{key}", names)
    if issubclass(cls, Node) and "_coordinates" not in attributes:
        parts = NODE_PARTS if "rotation" in attributes else {key: NODE_PARTS[key] for key in ("position", "velocity")}
        for key, kind in parts.items():
            if key not in attributes:
                raise ModelError(f"{where}: '{key}' is missing; expected {kind}")
            _value(attributes[key], f"{where}.{key}", names, kind)


def _table(x: Any, where: str, keys: tuple[str, ...], more: tuple[str, ...] | None = None) -> dict[str, Any]:
    """A table with these keys; ``more`` are those that may be there, None for any."""
    if not isinstance(x, dict):
        raise _bad(where, x, "a table")
    if more is not None and (unknown := [key for key in x if key not in (*keys, *more)]):
        raise ModelError(f"{where}: unknown key '{unknown[0]}'; expected {', '.join((*keys, *more))}")
    for key in keys:
        if key not in x:
            raise ModelError(f"{where}: '{key}' is missing")
    return x


def _list(x: Any, where: str) -> list[Any]:
    if not isinstance(x, list):
        raise _bad(where, x, "a list")
    return x


def _bad(where: str, value: Any, expected: str) -> ModelError:
    text = repr(value)
    return ModelError(f"{where} = {text if len(text) < 80 else text[:80] + '...'}; expected {expected}")
