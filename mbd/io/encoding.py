"""Models as JSON text and back, attribute by attribute: nothing is executed, and nothing is rounded a second time."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..bodies import Body, Generalized
from ..bodies.shapes import Shape
from ..elements.making import RECORD
from ..elements.prescribed_motion import Motion
from ..errors import IDENTITY3, ZERO3, ModelError, plain, read_only
from ..forces import ForceData, ForceElement
from ..integrators.base import Integrator
from ..integrators.converted import recorded_energy
from ..joints import Joint, Primitive
from ..joints.tree import JointCoordinates, check_choice, free_motions
from ..model import Model
from ..nodes import Node
from ..solvers.start_report import Miss, StartReport
from .archive_checks import check_entry
from .recheck import recheck, recheck_model, stored_keys

MODULES = {  # names in files -> modules in which their classes are found
    "bodies": ("mbd.bodies",),
    "bodies.shapes": ("mbd.bodies.shapes",),
    "nodes": ("mbd.nodes",),
    "joints": ("mbd.joints", "mbd.joints.primitive_data"),
    "forces": ("mbd.forces",),
    "solvers.start_report": ("mbd.solvers.start_report",),
    "motion": ("mbd.elements.prescribed_motion",),
}
BASES = (Body, Joint, ForceElement, Node, Shape, Primitive, ForceData, Motion, StartReport)
CLASS_SPELLING = {"ForceData": "ForceRow"}  # classes -> how files spell them
SPELLING = {"centre": "center"}  # attributes of shapes -> how files spell them
CONSTANTS = {"ZERO3": ZERO3, "IDENTITY3": IDENTITY3}
CONSTANT_NAMES = {id(x): name for name, x in CONSTANTS.items()}
NUMBERS = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1", "|u1": "|u1"}  # types of arrays -> how files have them
PLAIN = frozenset((type(None), bool, int, float, str))
NOT_STORED = frozenset(("model", RECORD))
Where = Any  # what a value belongs to: a text, an element, or (one of those, name of an attribute)


class MissingFunction:
    """Stands for a Python function that was not stored."""

    silent = False  # while a system is assembled only to look at results

    def __init__(self, text: str) -> None:
        self.text = text
        self.size: int | None = None

    def __call__(self, *arguments: Any) -> Any:
        if MissingFunction.silent:
            return 0.0 if self.size is None else np.zeros(self.size)
        raise ModelError(
            f"{self.text} is a Python function, which files do not contain; to simulate again, give the model: "
            "mbd.load(path, model=model)"
        )

    def __repr__(self) -> str:
        return f"<missing: {self.text}>"


class StoredJoint(Joint):
    """A joint of a user's class, as the primitives that it returned."""

    def primitives(self) -> list[Primitive]:
        return vars(self)["_primitives"]

    def orientation_conditions(self) -> list[Any]:
        return vars(self)["_conditions"]

    @property
    def freedoms(self) -> Any:  # type: ignore[override]
        return vars(self).get("_freedoms")


class StoredForce(ForceElement):
    """A force of a user's class, as the data that it returned."""

    def rows(self) -> list[ForceData]:
        return vars(self)["_rows"]

    @property
    def bodies(self) -> tuple[Body, ...]:
        return vars(self)["_bodies"]

    @property
    def joints(self) -> tuple[Joint, ...]:
        return vars(self)["_joints"]


# --- writing ------------------------------------------------------------------------------------------------------


class Encoder:
    """Values as JSON; ``missing`` lists what could not be stored. Floats are exact: JSON repeats all their digits."""

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.functions: dict[int, int] = {}  # functions that are shared stay shared
        self.kept: list[Any] = []  # alive while their ids are in use

    def value(self, x: Any, where: Where) -> Any:
        kind: Any = type(x)
        return x if kind in PLAIN else _manner(kind)(self, x, where)

    def attributes(self, values: dict[str, Any], where: Where) -> dict[str, Any]:
        stored = {}
        kind: Any
        for key, x in values.items():  # most values are plain, and a model has many of them
            if (kind := type(x)) in PLAIN:
                stored[key] = x
            elif key not in NOT_STORED:
                stored[key] = _manner(kind)(self, x, (where, key))
        return stored

    def _scalar(self, x: Any, where: Where) -> Any:
        item = plain(x)
        return item if type(item) in PLAIN else self._missing(x, where)

    def _array(self, x: Any, where: Where) -> Any:
        constant = CONSTANT_NAMES.get(id(x))
        if constant is not None:
            return {"$constant": constant}
        kind = NUMBERS.get(x.dtype.str, NUMBERS.get(x.dtype.kind))
        if kind is None or isinstance(x, np.ma.MaskedArray):
            return self._missing(x, where)
        return {"$array": np.asarray(x, kind).ravel().tolist(), "shape": x.shape, "dtype": kind}

    def _reference(self, x: Any, where: Where) -> Any:
        return {"$element": x.name}

    def _miss(self, x: Any, where: Where) -> Any:
        return {"$miss": list(x)}

    def _list(self, x: Any, where: Where) -> Any:
        return {"$list": [self.value(item, where) for item in x]}

    def _tuple(self, x: Any, where: Where) -> Any:
        return {"$tuple": [self.value(item, where) for item in x]}

    def _dict(self, x: Any, where: Where) -> Any:
        if x and {*map(type, x.values())} == {Miss}:  # of all joints, as columns
            return {"$misses": [list(x), *map(list, zip(*x.values(), strict=True))]}
        return {"$dict": [[self.value(key, where), self.value(item, where)] for key, item in x.items()]}

    def _path(self, x: Any, where: Where) -> Any:
        return {"$path": str(x)}

    def _object(self, x: Any, where: Where) -> Any:
        """Of a user's class: stored as what it extends."""
        cls: Any = type(x)
        return {"$object": nearest_name(cls), "attributes": self.attributes(known_attributes(x), where)}

    def _method(self, x: Any, where: Where) -> Any:
        """A method that is a parameter of another one."""
        return {"$integrator": self.integrator(x)}

    def _record(self, x: Any, where: Where) -> Any:
        names = vars(x) if isinstance(x, SimpleNamespace) else [field.name for field in dataclasses.fields(x)]
        return {"$record": self.attributes({name: getattr(x, name) for name in names}, where)}

    def _missing(self, x: Any, where: Where) -> Any:
        if id(x) not in self.functions:
            self.functions[id(x)] = len(self.missing)
            self.kept.append(x)
            self.missing.append(f"{_place(where)} ({getattr(x, '__qualname__', type(x).__qualname__)})")
        return {"$missing": self.functions[id(x)]}

    def integrator(self, x: Any) -> dict[str, Any]:
        fields = dataclasses.fields(x) if dataclasses.is_dataclass(x) else ()
        return {
            "class": type(x).__name__,
            "fields": {f.name: self.value(getattr(x, f.name), f.name) for f in fields if f.init},
        }

    def elements(self, elements: Sequence[Any]) -> list[dict[str, Any]]:
        """Bodies, joints or forces of a model."""
        return [self._element(x, *described(x)) for x in elements]

    def _element(self, x: Any, cls: str, name: str, values: dict[str, Any]) -> dict[str, Any]:
        return {"class": cls, "name": name, "attributes": self.attributes(values, x)}

    def model(self, model: Model) -> dict[str, Any]:
        return {
            "name": model.name,
            "gravity": self.value(model.gravity, "gravity"),
            "counters": dict(model._counters),
            "ground": self.value(model.ground.shape, "shape of the ground"),
            **{key: self.elements(getattr(model, key)) for key in ("bodies", "joints", "forces")},
            **self.choice(model),
        }

    def choice(self, model: Model) -> dict[str, Any]:
        """The choice of joint coordinates; nothing for absolute ones."""
        if model._choice is None:
            return {}
        choice = model._choice.checked(model)
        node = self.value(choice.spherical, "spherical")
        return {"coordinates": {"cut": list(choice.cut), "absolute": list(choice.absolute), "spherical": node}}


MANNERS: tuple[tuple[Any, Callable[[Encoder, Any, Where], Any]], ...] = (
    ((np.generic, str, int, float), Encoder._scalar),
    (np.ndarray, Encoder._array),
    ((Body, Joint, ForceElement), Encoder._reference),
    (Miss, Encoder._miss),
    (list, Encoder._list),
    (tuple, Encoder._tuple),
    (dict, Encoder._dict),
    (PurePath, Encoder._path),
    (BASES, Encoder._object),
    (Integrator, Encoder._method),
    (SimpleNamespace, Encoder._record),
)


@functools.cache
def _manner(kind: type) -> Callable[[Encoder, Any, Where], Any]:
    """How values of a class are stored."""
    found = next((manner for base, manner in MANNERS if issubclass(kind, base)), None)
    return found or (Encoder._record if dataclasses.is_dataclass(kind) else Encoder._missing)


def _place(where: Where) -> str:
    return f"{_place(where[0])}: {where[1]}" if isinstance(where, tuple) else str(where)


def described(x: Any) -> tuple[str, str, dict[str, Any]]:
    """The class of an element as files call it, its own name, and the attributes that are stored."""
    cls: Any = type(x)
    name = public_name(cls)
    if name is not None:
        return name, cls.__name__, vars(x)
    if isinstance(x, Joint | ForceElement):  # of a user's class: what it returns, as data
        values = {key: value for key, value in vars(x).items() if key == "model" or _storable(value)}
        if isinstance(x, Joint):
            name, values["coordinate"] = "joint", x.coordinate
            values |= {"_primitives": list(x.primitives()), "_conditions": list(x.orientation_conditions())}
            if free_motions(x) is not None:
                values["_freedoms"] = free_motions(x)
        else:
            name, values["switches"] = "force", x.switches
            values |= {"_rows": list(x.rows()), "_bodies": tuple(x.bodies), "_joints": tuple(x.joints)}
        return name, cls.__name__, values
    return nearest_name(cls), cls.__name__, known_attributes(x)


def _storable(x: Any) -> bool:
    encoder = Encoder()
    encoder.value(x, "")
    return not encoder.missing


def _class_in_files(package: str, name: str) -> type | None:
    """The class that files call "package:name", or None; what a module imports from elsewhere does not count."""
    name = {spelling: cls for cls, spelling in CLASS_SPELLING.items()}.get(name, name)
    for module in MODULES.get(package, ()):
        cls = getattr(importlib.import_module(module), name, None)
        if isinstance(cls, type) and cls.__module__.startswith(module):
            return cls
    return None


@functools.cache
def public_name(cls: type) -> str | None:
    """How a class of the toolkit is called in files: "joints:Revolute"."""
    name = CLASS_SPELLING.get(cls.__name__, cls.__name__)
    for package in MODULES:
        if issubclass(cls, BASES) and _class_in_files(package, name) is cls:
            return f"{package}:{name}"
    return None


def known_attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object as files spell them; of a user's class, those of the class that it extends."""
    cls: Any = type(x)
    values = vars(x)
    if public_name(cls) is None:
        keys = stored_keys(next(base for base in cls.__mro__ if public_name(base)))
        values = {key: value for key, value in values.items() if key in keys}
    if SPELLING.keys().isdisjoint(values):
        return values
    return {SPELLING.get(key, key): value for key, value in values.items()}


@functools.cache
def nearest_name(cls: type) -> str:
    """The class of the toolkit that a class is, or extends, as files call it."""
    return next(filter(None, map(public_name, cls.__mro__)))


# --- reading ------------------------------------------------------------------------------------------------------


class Decoder:
    def __init__(self, missing: list[str]) -> None:
        self.functions = [MissingFunction(text) for text in missing]
        self.elements: dict[str, Any] = {}

    def value(self, x: Any) -> Any:
        if not isinstance(x, dict):
            return x
        tag = check_entry(x)
        content = x[tag]
        if tag == "$array":
            return read_only(np.array(content, dtype=x["dtype"]).reshape(x["shape"]))
        if tag == "$constant":
            return CONSTANTS[content]
        if tag == "$element":
            return self.elements[content]
        if tag in ("$list", "$tuple"):
            return (list if tag == "$list" else tuple)(self.value(item) for item in content)
        if tag == "$dict":
            return {self.value(key): self.value(item) for key, item in content}
        if tag == "$misses":
            names, lengths, numbers = content
            return {name: Miss(x, y) for name, x, y in zip(names, lengths, numbers, strict=True)}
        if tag in ("$path", "$miss"):
            return Path(content) if tag == "$path" else Miss(*content)
        if tag == "$object":
            names = {spelling: key for key, spelling in SPELLING.items()}
            return self.fill(new_object(content), {names.get(key, key): item for key, item in x["attributes"].items()})
        if tag == "$integrator":
            return stored_integrator(content, self)
        if tag == "$record":
            return SimpleNamespace(**{key: self.value(item) for key, item in content.items()})
        return self.functions[content]

    def fill(self, target: Any, attributes: dict[str, Any]) -> Any:
        target.__dict__.update((key, self.value(x)) for key, x in attributes.items())
        return target

    def model(self, data: dict[str, Any]) -> Model:
        model = Model(data["name"], self.value(data["gravity"]))
        model._counters.update(data["counters"])
        model.ground.shape = self.value(data["ground"])
        self.elements = model._elements
        shells = []
        for kind in ("bodies", "joints", "forces"):
            for entry in data[kind]:  # all elements exist before the first one refers to another
                stored = {"joint": StoredJoint, "force": StoredForce}.get(entry["class"])
                shell = (
                    new_object(entry["class"]) if stored is None else object.__new__(type(entry["name"], (stored,), {}))
                )
                name = entry["attributes"]["name"]
                if name in model:
                    raise ModelError(f"two elements have the name {name!r}")
                model._elements[name] = shell
                list.append(getattr(model, kind), shell)
                shells.append((shell, entry["attributes"]))
        for shell, attributes in shells:
            self.fill(shell, attributes)
            vars(shell)["model"] = model
        recheck_model(model, MissingFunction)
        if "coordinates" in data:
            vars(model)["_choice"] = self.choice(model, data["coordinates"])
        for shell, _ in shells:
            if isinstance(shell, Generalized):
                n = shell.node.n_velocities
                for key, size in (
                    ("mass", n * n), ("potential", 1), ("constraints", shell.n_constraints), ("force", n)
                ):  # fmt: skip
                    if isinstance(function := getattr(shell, key), MissingFunction):
                        function.size = size
        return model

    def choice(self, model: Model, data: dict[str, Any]) -> JointCoordinates:
        """The choice of joint coordinates, checked as that of ``with_coordinates`` is."""
        spherical = self.value(data["spherical"])
        recheck(spherical)
        return check_choice(model, data["cut"], data["absolute"], spherical)


def new_object(name: str) -> Any:
    """An empty object of a class of the toolkit; nothing else can be made."""
    package, _, cls_name = name.partition(":")
    cls = _class_in_files(package, cls_name)
    if cls is None or not issubclass(cls, BASES):
        raise ModelError(f"unknown class {name!r}; was it written by a newer version of mbd?")
    return object.__new__(cls)


def stored_integrator(data: dict[str, Any], decoder: Decoder, recorded: tuple[str, ...] = ()) -> Any:
    """The integrator, or a record with its name and parameters if it is of a user's class.

    ``recorded`` are names of the variables of its scheme, which are in the records in place of accelerations and
    multipliers.
    """
    fields = {key: decoder.value(x) for key, x in data["fields"].items()}
    if fields.get("newton_count") == "own":
        del fields["newton_count"]  # in files from before ``PaperAlpha`` was a class of its own
    if data["class"] == "NoneType":
        return None
    try:
        cls: Any = getattr(importlib.import_module("mbd.integrators"), data["class"])
        return cls(**fields)
    except (ImportError, AttributeError, TypeError, ModelError):
        known = {"recorded": recorded, "kinetic_energy": staticmethod(recorded_energy)} if recorded else {}
        return dataclasses.make_dataclass(data["class"], list(fields), frozen=True, namespace=known)(**fields)
