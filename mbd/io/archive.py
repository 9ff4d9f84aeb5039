"""Solutions as files: one .npz with all arrays, and the model as a JSON text that executes nothing when read.

Elements of the toolkit are stored attribute by attribute and restored without running their constructors, so that
nothing is rounded or resolved a second time. Joints and forces of classes that a user wrote become plain data: the
primitives or data that they returned. Python functions cannot be stored safely; their values at the records are, so
that everything can be read off a loaded solution, but simulating its model again needs ``load(path, model=model)``.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import json
import warnings
from pathlib import Path, PurePath
from types import SimpleNamespace
from typing import Any

import numpy as np

import mbd

from ..bodies import Body, Generalized
from ..bodies.shapes import Shape
from ..elements.arguments import FilePath
from ..elements.making import RECORD
from ..elements.prescribed_motion import Motion
from ..errors import IDENTITY3, ZERO3, ModelError, ModelWarning, read_only
from ..forces import ForceData, ForceElement
from ..integrators.base import Integrator
from ..joints import Joint, Primitive
from ..joints.tree import JointCoordinates, check_choice, free_motions
from ..model import Model
from ..nodes import Node
from ..results.events import Occurrence
from ..results.solution import Solution
from ..solvers.start_report import Miss, StartReport
from ..system.identity import FUNCTIONS, Fingerprint, contradictions, difference, fingerprint_of, identity_of
from ..system.system import System, assemble
from .archive_checks import FORMAT, RECORDS, VERSION, check_entry, check_records, read_file
from .files import replacing
from .recheck import recheck, recheck_model, stored_keys
from .zip_writer import write_arrays

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


class _Encoder:
    """Values as JSON; ``missing`` lists what could not be stored. Floats are exact: JSON repeats all their digits."""

    def __init__(self) -> None:
        self.missing: list[str] = []
        self.functions: dict[int, int] = {}  # functions that are shared stay shared
        self.kept: list[Any] = []  # alive while their ids are in use

    def value(self, x: Any, where: str) -> Any:
        if x is None or type(x) in (bool, int, float, str):
            return x
        if isinstance(x, np.generic):
            return self.value(x.item(), where)
        if isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
            for name, constant in CONSTANTS.items():
                if x is constant:
                    return {"$constant": name}
            return {"$array": x.ravel().tolist(), "shape": list(x.shape), "dtype": x.dtype.str}
        if isinstance(x, Body | Joint | ForceElement):
            return {"$element": x.name}
        if isinstance(x, Miss):
            return {"$miss": list(x)}
        if isinstance(x, list | tuple):
            return {"$list" if isinstance(x, list) else "$tuple": [self.value(item, where) for item in x]}
        if isinstance(x, dict):
            return {"$dict": [[self.value(key, where), self.value(item, where)] for key, item in x.items()]}
        if isinstance(x, PurePath):
            return {"$path": str(x)}
        if isinstance(x, BASES):  # of a user's class: stored as what it extends
            values = {SPELLING.get(key, key): value for key, value in _known(x).items()}
            return {"$object": _nearest_name(type(x)), "attributes": self.attributes(values, where)}
        if isinstance(x, Integrator):  # a method that is a parameter of another one
            return {"$integrator": self.integrator(x)}
        if isinstance(x, SimpleNamespace) or (dataclasses.is_dataclass(x) and not isinstance(x, type)):
            names = vars(x) if isinstance(x, SimpleNamespace) else [field.name for field in dataclasses.fields(x)]
            return {"$record": self.attributes({name: getattr(x, name) for name in names}, where)}
        if id(x) not in self.functions:
            self.functions[id(x)] = len(self.missing)
            self.kept.append(x)
            self.missing.append(f"{where} ({getattr(x, '__qualname__', type(x).__qualname__)})")
        return {"$missing": self.functions[id(x)]}

    def integrator(self, x: Any) -> dict[str, Any]:
        fields = dataclasses.fields(x) if dataclasses.is_dataclass(x) else ()
        return {
            "class": type(x).__name__,
            "fields": {f.name: self.value(getattr(x, f.name), f.name) for f in fields if f.init},
        }

    def attributes(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        return {key: self.value(x, f"{where}: {key}") for key, x in values.items() if key not in ("model", RECORD)}

    def element(self, x: Any) -> dict[str, Any]:
        cls: Any = type(x)
        name, values = _public_name(cls), dict(vars(x))
        if name is None and isinstance(x, Joint | ForceElement):  # of a user's class: what it returns, as data
            values = {key: value for key, value in values.items() if key == "model" or _storable(value)}
            if isinstance(x, Joint):
                name, values["coordinate"] = "joint", x.coordinate
                values |= {"_primitives": list(x.primitives()), "_conditions": list(x.orientation_conditions())}
                if free_motions(x) is not None:
                    values["_freedoms"] = free_motions(x)
            else:
                name, values["switches"] = "force", x.switches
                values |= {"_rows": list(x.rows()), "_bodies": tuple(x.bodies), "_joints": tuple(x.joints)}
        elif name is None:
            values = _known(x)
        attributes = self.attributes(values, str(x))
        return {"class": name or _nearest_name(cls), "name": cls.__name__, "attributes": attributes}

    def model(self, model: Model) -> dict[str, Any]:
        return {
            "name": model.name,
            "gravity": self.value(model.gravity, "gravity"),
            "counters": dict(model._counters),
            "ground": self.value(model.ground.shape, "shape of the ground"),
            **{key: [self.element(x) for x in getattr(model, key)] for key in ("bodies", "joints", "forces")},
            **self.choice(model),
        }

    def choice(self, model: Model) -> dict[str, Any]:
        """The choice of joint coordinates; nothing for absolute ones."""
        if model._choice is None:
            return {}
        choice = model._choice.checked(model)
        node = self.value(choice.spherical, "spherical")
        return {"coordinates": {"cut": list(choice.cut), "absolute": list(choice.absolute), "spherical": node}}


def _storable(x: Any) -> bool:
    encoder = _Encoder()
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
def _public_name(cls: type) -> str | None:
    """How a class of the toolkit is called in files: "joints:Revolute"."""
    name = CLASS_SPELLING.get(cls.__name__, cls.__name__)
    for package in MODULES:
        if issubclass(cls, BASES) and _class_in_files(package, name) is cls:
            return f"{package}:{name}"
    return None


def _known(x: Any) -> dict[str, Any]:
    """The attributes of an object; of a user's class, those of the class of the toolkit that it extends."""
    nearest = next(cls for cls in type(x).__mro__ if _public_name(cls))
    if nearest is type(x):
        return vars(x)
    keys = stored_keys(nearest)
    return {key: value for key, value in vars(x).items() if key in keys}


def _nearest_name(cls: type) -> str:
    return next(filter(None, map(_public_name, cls.__mro__)))


def save(solution: Solution, path: FilePath) -> None:
    """Write a solution to one file; ``load`` reads it."""
    encoder = _Encoder()
    s = solution
    model = encoder.model(s.model)
    # functions of a loaded model are missing: what they were is known from the file alone
    fingerprint = vars(s).get("_fingerprint") or fingerprint_of(s.model)
    changed = contradictions(fingerprint, s.state["fingerprint"]) if "fingerprint" in s.state else []
    if changed:
        warnings.warn(
            f"save: {s.model} was changed after the run ({', '.join(changed[:5])}); the file contains the model as it "
            "is now, with which energies and reactions will be computed",
            ModelWarning,
            stacklevel=3,
        )
    incomplete = bool(encoder.missing)
    arrays = {f"state.{key}": x for key, x in s.state.items() if isinstance(x, np.ndarray)}
    state = {key: f"state.{key}" if f"state.{key}" in arrays else [x] for key, x in s.state.items()}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "mbd": getattr(mbd, "__version__", ""),
        "model": model,
        "integrator": encoder.integrator(s.integrator),
        "stats": encoder.value(s.stats, "stats"),
        "start": encoder.value(s.start.settled() if isinstance(s.start, StartReport) else s.start, "start"),
        "state": encoder.value(state, "state"),
        "complete": s.complete,
        "message": s.message,
        "fingerprint": fingerprint,
        "events": [{"name": x.name, "t": x.t, "direction": x.direction} for x in s.events],
        "missing": encoder.missing,
    }
    arrays |= {key: getattr(s, key) for key in RECORDS}
    arrays |= {f"scheme.{name}": x for name, x in s._recorded.items()}
    arrays |= {f"inputs.{name}": x for name, x in s.inputs.items()}
    if s.turns is not None:
        arrays["turns"] = s.turns
    if s.events:
        arrays["events.q"] = np.array([x.q for x in s.events])
        arrays["events.v"] = np.array([x.v for x in s.events])
    if s.system.assembly.n_values:
        arrays["values"] = s._values
    if "_totals" in vars(s) or incomplete or s.inputs:  # functions of generalized bodies enter the energies
        arrays["totals"] = s._totals
    for key, x in arrays.items():
        if x.dtype.hasobject:
            raise ModelError(f"solution: {key} contains Python objects; expected numbers or texts")
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with replacing(path) as draft:
        write_arrays(draft, arrays)


# --- reading ------------------------------------------------------------------------------------------------------


class _Decoder:
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
        if tag in ("$path", "$miss"):
            return Path(content) if tag == "$path" else Miss(*content)
        if tag == "$object":
            names = {spelling: key for key, spelling in SPELLING.items()}
            return self.fill(_new(content), {names.get(key, key): item for key, item in x["attributes"].items()})
        if tag == "$integrator":
            return _integrator(content, self)
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
                shell = _new(entry["class"]) if stored is None else object.__new__(type(entry["name"], (stored,), {}))
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


def _new(name: str) -> Any:
    """An empty object of a class of the toolkit; nothing else can be made."""
    package, _, cls_name = name.partition(":")
    cls = _class_in_files(package, cls_name)
    if cls is None or not issubclass(cls, BASES):
        raise ModelError(f"unknown class {name!r}; was it written by a newer version of mbd?")
    return object.__new__(cls)


def _integrator(data: dict[str, Any], decoder: _Decoder) -> Any:
    """The integrator, or a record with its name and parameters if it is of a user's class."""
    fields = {key: decoder.value(x) for key, x in data["fields"].items()}
    if fields.get("newton_count") == "own":
        del fields["newton_count"]  # of files from before it was a class of its own
    if data["class"] == "NoneType":
        return None
    try:
        cls: Any = getattr(importlib.import_module("mbd.integrators"), data["class"])
        return cls(**fields)
    except (ImportError, AttributeError, TypeError, ModelError):
        return dataclasses.make_dataclass(data["class"], list(fields), frozen=True)(**fields)


def load(path: FilePath, model: Model | None = None) -> Solution:
    """Read a solution that ``solution.save`` wrote, or the folder that ``simulate(store=...)`` writes to.

    ``model`` replaces the stored model; it is needed only to simulate a model with Python functions again.
    """
    if Path(path).is_dir():
        from .store import load_store

        return load_store(path, model)
    try:
        _refuse_text(path)
        header, arrays = read_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:
        raise ModelError(f"{path}: cannot be read as a solution ({type(error).__name__}: {error})") from error
    try:
        return _solution(header, arrays, model)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:
        raise ModelError(
            f"{path}: is damaged or no solution of mbd ({type(error).__name__}: {error}); expected a file "
            "that solution.save(...) wrote"
        ) from error


def _refuse_text(path: FilePath) -> None:
    """Say how to read a model that ``model.save`` wrote."""
    with open(path, "rb") as file:
        begin = file.read(64).lstrip()
    if begin.startswith(b"{"):
        raise ModelError("is a text as model.save(...) writes it, no solution; a model is read by mbd.Model.load(path)")


def _solution(header: dict[str, Any], arrays: dict[str, Any], model: Model | None) -> Solution:
    decoder = _Decoder(header["missing"])
    stored = decoder.model(header["model"])
    if model is not None:
        last = {key.removeprefix("inputs."): float(x[-1]) for key, x in arrays.items() if key.startswith("inputs.")}
        if last:  # the stored model has the plain numbers that acted in the last step
            model = model.copy()
            model.set_parameters(last)
        _compare(stored, model, header.get("fingerprint"))
    system = _system_of(stored) if model is None else assemble(model)
    check_records(arrays)
    records = {key: arrays[key] for key in RECORDS}
    solution = Solution(
        system,
        **records,
        turns=arrays.get("turns"),
        integrator=_integrator(header["integrator"], decoder),
        stats=decoder.value(header["stats"]),
        start=decoder.value(header["start"]),
        state={k: arrays[x] if isinstance(x, str) else x[0] for k, x in decoder.value(header["state"]).items()},
        complete=header["complete"],
        message=header["message"],
        recorded={key.removeprefix("scheme."): x for key, x in arrays.items() if key.startswith("scheme.")},
        inputs={key.removeprefix("inputs."): x for key, x in arrays.items() if key.startswith("inputs.")},
    )
    solution.events = [
        Occurrence(**x, q=arrays["events.q"][k], v=arrays["events.v"][k])
        for k, x in enumerate(header.get("events", ()))  # older files have none
    ]
    if model is None:
        # what was computed with functions that are not here any more
        vars(solution).update((f"_{key}", arrays[key]) for key in ("values", "totals") if key in arrays)
        vars(solution)["_fingerprint"] = header.get("fingerprint")
    return solution


def _system_of(model: Model) -> System:
    """The system of a loaded model, good for looking at results even where functions are missing."""
    MissingFunction.silent = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return assemble(model)
    finally:
        MissingFunction.silent = False


def _compare(stored: Model, model: Model, fingerprint: Fingerprint | None) -> None:
    """Refuse a model whose results would not be those of the file."""
    differs = difference(identity_of(model), identity_of(stored), "in the file")
    ours, theirs = ([x.name for x in m.forces] for m in (model, stored))
    if differs is None and ours != theirs:
        differs = f"its forces are {ours} and those of the file {theirs}"
    if differs is None:
        found = contradictions(fingerprint_of(model), fingerprint_of(stored) if fingerprint is None else fingerprint)
        changed = [name for name in found if fingerprint is not None or not name.startswith(FUNCTIONS)]
        differs = f"other parameters in {', '.join(changed[:5])}" if changed else None
    if differs is not None:
        raise ModelError(f"the given {model} is not the one of the file: {differs}")
