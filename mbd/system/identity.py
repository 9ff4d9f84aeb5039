"""What a state or a file belongs to: names, order and kinds of coordinates, and a fingerprint of all that acts.

The *identity* of a model says what the numbers of a state mean: which body, in which coordinates, in which order. A
state of another identity cannot be used. The *fingerprint* has a digest for each element: of its parameters, and of its
functions with all values that they refer to (``compiled.functions.captured``). It does not depend on the process, so
that it can be stored. Where it is the same, a run goes on as if it had not been interrupted; initial positions and
velocities, shapes and colours do not enter.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Body
from ..compiled.functions.captured import captured_values
from ..elements.values import in_force
from ..errors import ModelError, ModelWarning, plain
from ..forces import ForceElement
from ..forces.kinds import TORSION_SPRING
from ..joints import Joint, Primitive
from ..joints.instant import ANGLE
from ..joints.tree import Carried

if TYPE_CHECKING:
    from ..joints.tree import JointTree
    from ..model import Model
    from .system import System

Identity = dict[str, list[list[str]]]
Fingerprint = dict[str, str | None]  # None: cannot be told

PROPERTIES = ("mass", "inertia", "com", "potential", "constraints", "n_constraints")  # of bodies, as far as they exist
PYTHON = "python"  # code of functions is comparable within one version
FUNCTIONS = "functions of "
PLAIN = frozenset((type(None), bool, int, float, complex, str))
HALF_TURN = math.pi * (1.0 - 1e-9)  # beyond it the nearest reading of an angle is another one
ANOTHER_WAY = "mbd.model_at(solution) begins anew in the same position, in any coordinates"


def identity_of(model: Model, tree: JointTree | None = None) -> Identity:
    """(name, kind) of all bodies and joints in their order; the kind of a body is that of its coordinates.

    ``tree`` is that of a model in joint coordinates, if it is known already.
    """
    bodies = [[body.name, node_text(body.node)] for body in model.bodies]
    found = {"bodies": bodies, "joints": [[joint.name, type(joint).__name__] for joint in model.joints]}
    found["zeros"] = zeros_of(model)
    carried = (tree or model.coordinates).carried if model._choice is not None else ()
    if carried:
        kinds = dict(bodies) | {edge.body.name: _carried_text(edge) for edge in carried}
        found["bodies"] = [[name, kinds[name]] for name, _ in bodies]
        joints = [edge.joint for edge in carried if edge.joint is not None]
        found["places"] = [[joint.name, _digest(_words(_place(joint), []))] for joint in joints]
    return found


def zeros_of(model: Model) -> list[list[str]]:
    """What joints show in the initial configuration, where it is not zero."""
    return [[joint.name, repr(float(joint.zero[1]))] for joint in model.joints if joint.zero[1] != 0.0]


def _carried_text(edge: Carried) -> str:
    """The kind of a carried body: what carries it, and how its rotation is stored."""
    stored = f", {node_text(edge.node)}" if edge.node is not None else ""
    if edge.joint is None:
        return f"those of a free body{stored}"
    return f"those of joint '{edge.joint.name}' on '{edge.parent.name}'{stored}"


def _place(joint: Joint) -> list[Any]:
    """What says where a body is for the coordinates of the joint that carries it."""
    first = joint.body_a.name  # the direction in which they count
    return [first, joint.point_a, joint.point_b, joint.frame_a, joint.frame_b, getattr(joint, "pitch", 0.0)]


def node_text(node: Any) -> str:
    """The kind of a node with all that says what its coordinates mean: sequence, lie, pinned, number."""
    settings = node._settings() if hasattr(node, "_settings") else f"{node.n_coordinates} coordinates"
    return f"{type(node).__name__}({settings})"


def difference(here: Identity, there: Identity, place: str = "in the state") -> str | None:
    """The first thing in which two identities differ, as a sentence, or None."""
    for kind, word in (("bodies", "body"), ("joints", "joint")):
        ours, theirs = here[kind], there.get(kind, [])
        for i, (own, other) in enumerate(zip(ours, theirs, strict=False), 1):
            if own[0] != other[0]:
                return f"{word} {i} is '{own[0]}' here and '{other[0]}' {place}"
            if own[1] != other[1]:
                what = f"the node of body '{own[0]}' is" if kind == "bodies" else f"joint '{own[0]}' is"
                advice = ""
                if kind == "bodies" and "those of" in own[1] + other[1]:
                    what, advice = f"the coordinates of body '{own[0]}' are", f"; {ANOTHER_WAY}"
                return f"{what} {own[1]} here and {other[1]} {place}{advice}"
        if len(ours) != len(theirs):
            longer, where = (ours, "only here") if len(ours) > len(theirs) else (theirs, f"only {place}")
            return f"{word} '{longer[min(len(ours), len(theirs))][0]}' is {where}"
    if "zeros" in there:
        now, then = dict(here["zeros"]), dict(there["zeros"])
        for name in dict.fromkeys([*now, *then]):
            shown, before = float(now.get(name, 0.0)), float(then.get(name, 0.0))
            if abs(shown - before) >= HALF_TURN:
                return (
                    f"joint '{name}' shows {shown:.6g} in the initial configuration here and {before:.6g} {place} "
                    f"(zero=), so that its turns would be counted from elsewhere; {ANOTHER_WAY}"
                )
    others = dict(there.get("places", ()))
    for name, digest in here.get("places", ()):
        if digest != others.get(name, digest):
            return (
                f"joint '{name}' has another point, axis or direction here than {place}, so that its coordinates mean "
                f"another position; {ANOTHER_WAY}"
            )
    return None


def turn_names(system: System) -> list[str]:
    """For each counted angle the element that counts it, with a number if it counts several."""
    names = [""] * len(system.assembly.turns)
    for p in system.tables.couplings:
        if p.kind == ANGLE:
            names[p.turn] = f"joint '{system.model.joints[p.joint].name}'"
    for force, rows in zip(system.model.forces, system.assembly.force_rows, strict=True):
        for row in system.tables.forces[rows]:
            if row.kind == TORSION_SPRING:
                names[row.turn] = f"force '{force.name}'"
    return [name + (f" ({again})" if (again := names[:k].count(name)) else "") for k, name in enumerate(names)]


# --- fingerprints -------------------------------------------------------------------------------------------------


def fingerprint_of(model: Model) -> Fingerprint:
    """Digests of everything that acts in a model, by element.

    Functions refer to the parameters of the model that they were written for; what counts are those of this one.
    """
    found: Fingerprint = {PYTHON: sys.version.split()[0]}
    with in_force(model._values()):
        _enter(found, "gravity", np.array(model.gravity, dtype=float))
        for body in model.bodies:
            parts = [getattr(body, name, None) for name in PROPERTIES]
            force = getattr(body, "force", None)
            parts += [force] if force is not None else []
            node: Any = body.node
            _enter(found, f"body '{body.name}'", [*parts, node.position if getattr(node, "pinned", False) else None])
        for joint in model.joints:
            _enter(found, f"joint '{joint.name}'", [list(joint.bodies), list(joint.primitives())])
        for force in model.forces:
            rows = [list(force.bodies), list(force.rows()), list(force.general()), tuple(force.switches)]
            _enter(found, f"force '{force.name}'", rows)
    return found


def method_digest(integrator: Any) -> str | None:
    """Digest of a method and its parameters; None if they cannot be told."""
    found: Fingerprint = {}
    _enter(found, "method", integrator)
    return found["method"] if found.get(f"{FUNCTIONS}method", "") is not None else None


def functions_of(model: Model) -> Fingerprint:
    """Digests of all functions of a model and of what they refer to."""
    found = fingerprint_of(model)
    return {name: digest for name, digest in found.items() if name == PYTHON or name.startswith(FUNCTIONS)}


def check_arrival(model: Model, refuse: bool = False) -> None:
    """Say if functions of a model that came from another process refer to other values here; once.

    pickle sends functions by name: a global that was changed there has its old value here.
    """
    sent = vars(model).pop("_sent", None)
    found = contradictions(functions_of(model), sent) if sent else []
    if not found:
        return
    text = (
        f"{model} comes from another process, where the {' and the '.join(found[:3])} did something else or referred "
        "to other values; pickle sends functions by name, and values of globals do not travel. Bind values to the "
        "functions with functools.partial or as methods of an object, or set the globals before the model is used"
    )
    if refuse:
        raise ModelError(text)
    warnings.warn(text, ModelWarning, stacklevel=4)


def changes(here: Fingerprint, there: Fingerprint) -> list[str]:
    """What is not known to be the same; code is compared within one version of Python."""
    names = [name for name in dict.fromkeys([*here, *there]) if name != PYTHON]
    same_python = here.get(PYTHON) == there.get(PYTHON)
    return [
        name
        for name in names
        if here.get(name) is None
        or here.get(name) != there.get(name)
        or (name.startswith(FUNCTIONS) and not same_python)
    ]


def contradictions(here: Fingerprint, there: Fingerprint) -> list[str]:
    """What is known to be different."""
    same_python = here.get(PYTHON) == there.get(PYTHON)
    return [
        name
        for name in changes(here, there)
        if (same_python or not name.startswith(FUNCTIONS))
        and not (name in here and here[name] is None)
        and not (name in there and there[name] is None)
    ]


def _enter(found: Fingerprint, name: str, value: Any) -> None:
    functions: list[Any] = []
    found[name] = _digest(_words(value, functions))
    if functions:
        try:
            found[FUNCTIONS + name] = _digest(word for function in functions for word in _function_words(function))
        except _Unknown:
            found[FUNCTIONS + name] = None


def functions_in(x: Any) -> list[Any]:
    """All functions, and other things that are no data, inside a value."""
    found: list[Any] = []
    _words(x, found)
    return found


def _digest(words: Iterable[bytes]) -> str:
    """Digest of words and of their lengths, without which other words could run together to the same bytes."""
    parts = list(words)
    lengths = np.array([*map(len, parts)], dtype="<i8").tobytes()
    return hashlib.blake2b(b"".join((lengths, *parts)), digest_size=16).hexdigest()


def _named(names: Iterable[str]) -> tuple[tuple[str, bytes], ...]:
    """Sorted names, each with the word that stands for it."""
    return tuple((name, name.encode()) for name in sorted(names))


@functools.cache
def _fields(cls: type) -> tuple[tuple[str, bytes], ...]:
    told = getattr(cls, "told_in_states", ())  # that were parameters when the first states were written
    fields = [field.name for field in dataclasses.fields(cls) if field.name not in getattr(cls, "untold", ())]
    return _named([*fields, *told])


class _Unknown(Exception):
    """What a function does cannot be told."""


def _words(x: Any, functions: list[Any]) -> list[bytes]:
    """A value as bytes that are the same in every process; functions are put on the list."""
    words: list[bytes] = []
    _add_words(x, functions, words)
    return words


def _add_words(x: Any, functions: list[Any], words: list[bytes]) -> None:
    kind: Any = type(x)
    if kind is np.ndarray:
        words += (_array_word(x.dtype, x.shape), x.tobytes())
    elif kind in PLAIN:
        words.append(repr(x).encode())
    else:
        _manner(kind)(x, functions, words)


def _add_number(x: Any, functions: list[Any], words: list[bytes]) -> None:
    words.append(repr(plain(x)).encode())


def _add_name(x: Any, functions: list[Any], words: list[bytes]) -> None:
    words.append(x.name.encode())


def _add_items(x: Any, functions: list[Any], words: list[bytes]) -> None:
    words.append(_count_word(len(x)))
    for item in x:
        _add_words(item, functions, words)


def _add_record(x: Any, functions: list[Any], words: list[bytes]) -> None:
    kind: Any = type(x)
    if isinstance(x, Primitive) or hasattr(x, "start"):  # of other records files keep the fields, not the class
        words.append(kind.__name__.encode())
    defaults = getattr(kind, "told_where_given", {})
    for name, word in _named(vars(x)) if isinstance(x, SimpleNamespace) else _fields(kind):
        value = getattr(x, name)
        if name in defaults and value == defaults[name]:
            continue
        words.append(word)
        _add_words(value, functions, words)


def _add_function(x: Any, functions: list[Any], words: list[bytes]) -> None:
    words.append(b"function")
    functions.append(x)


@functools.cache
def _manner(kind: type) -> Callable[[Any, list[Any], list[bytes]], None]:
    """The function that makes words of values of a class."""
    if issubclass(kind, bool | int | float | complex | str | np.number | np.bool_):
        return _add_number
    if issubclass(kind, Body | Joint | ForceElement):
        return _add_name
    if issubclass(kind, list | tuple):
        return _add_items
    return _add_record if issubclass(kind, SimpleNamespace) or dataclasses.is_dataclass(kind) else _add_function


@functools.cache
def _count_word(count: int) -> bytes:
    return str(count).encode()


@functools.cache
def _array_word(dtype: np.dtype, shape: tuple[int, ...]) -> bytes:
    return f"{dtype.str} {shape}".encode()


def _function_words(function: Any) -> Iterator[bytes]:
    captured = captured_values(function)
    if captured is None:
        raise _Unknown
    for path, value in captured:
        yield path.encode()
        if isinstance(value, np.ndarray):
            yield f"{value.dtype.str} {value.shape}".encode()
            yield np.ascontiguousarray(value).tobytes()
        else:
            yield f"{type(value).__name__} {value!r}".encode()


def refuse_other(here: Identity, there: Any, message: str) -> None:
    """Refuse what belongs to another model."""
    if not isinstance(there, dict):
        raise ModelError(f"{message}: it does not say which bodies it belongs to")
    found = difference(here, there)
    if found is not None:
        raise ModelError(f"{message}: {found}")
