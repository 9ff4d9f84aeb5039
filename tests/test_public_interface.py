"""What people see: ``dir`` offers what they use, ``help`` speaks of mechanics, and signatures say what is meant."""

from __future__ import annotations

import ast
import enum
import functools
import importlib
import inspect
import re
import sys
from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest

import mbd
from mbd.elements.attributes import Attribute, Constant

MODULES = ["mbd", *(f"mbd.{name}" for name in sorted(mbd._MODULES))]
ANY = re.compile(r"(^|\| )(typing\.)?Any($| \|)")

HANDED_ON = {  # options for another public function, which the docstring names
    "Solution.plot", "Solution.picture", "Solution.movie", "Solution.show", "Solution.html", "Solution.gltf",
    "Solution.usd", "Solution.vtk",
    "Solution.report", "film", "Benchmark.simulate", "run", "sensitivities",
}  # fmt: skip
TABLE_ROWS = {"turning_rate"}  # of a numpy table, whose type numpy does not know


def module(name: str) -> ModuleType:
    return mbd if name == "mbd" else getattr(mbd, name.removeprefix("mbd."))


def public(name: str) -> dict[str, object]:
    """What a module offers, without the public modules and the version of the package."""
    names = [key for key in module(name).__all__ if name != "mbd" or key not in (*mbd._MODULES, "__version__")]
    return {key: getattr(module(name), key) for key in names}


def objects() -> list[tuple[str, object]]:
    found = {id(x): (f"{name}.{key}", x) for name in MODULES for key, x in public(name).items()}
    return list(found.values())


CLASSES = [pytest.param(x, id=name) for name, x in objects() if isinstance(x, type)]
FUNCTIONS = [pytest.param(x, id=name) for name, x in objects() if inspect.isfunction(x)]


def is_ours(x: object) -> bool:
    return str(getattr(x, "__module__", "")).partition(".")[0] == "mbd"


@pytest.mark.parametrize("name", MODULES)
def test_public_modules_can_be_imported(name):
    """``from mbd.shapes import Box`` finds what ``mbd.shapes.Box`` finds."""
    assert importlib.import_module(name) is module(name)


@pytest.mark.parametrize("name", MODULES)
def test_dir_offers_what_people_use(name):
    offered = dir(module(name))
    assert offered == sorted(set(module(name).__all__)) and offered
    for key, x in public(name).items():
        assert not isinstance(x, ModuleType), f"{key} is a module"
        assert is_ours(x) or not callable(x), f"{key} is an import from elsewhere"
        if not callable(x):
            assert constant_text(module(name), key), f"{key} needs a sentence below its value"


def constant_text(where: ModuleType, name: str) -> str | None:
    """The text below a constant, in the module or in the one from which it comes."""
    for file in [where, *(x for key, x in sys.modules.items() if key.startswith(where.__name__ + "."))]:
        body = ast.parse(inspect.getsource(file)).body
        for here, below in pairwise(body):
            names = [ast.unparse(x) for x in getattr(here, "targets", [getattr(here, "target", None)]) if x is not None]
            if name in names and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                return below.value.value
    return None


def test_builders_parts_stay_in_their_modules():
    from mbd.joints.primitive_data import Coordinate, CoordinateSum, FrameRows, Turned

    for part in (Coordinate, CoordinateSum, FrameRows, Turned):
        assert part.__name__ not in dir(mbd.joints)


def test_primitives_are_for_people_who_write_joints():
    assert {"Coincident", "Dot1", "Dot2", "DistanceBetween", "Primitive"} <= set(dir(mbd.joints))


# --- help -----------------------------------------------------------------------------------------------------------


def check_text(text: str | None, what: str) -> None:
    paragraph = (text or "").strip().partition("\n\n")[0]
    assert paragraph.endswith((".", ":")), f"{what}: expected a sentence, not {text!r}"


def members(cls: type) -> list[tuple[str, object]]:
    """Public methods, properties and declared attributes of a class, as far as they are ours."""
    found = []
    for key in dir(cls):
        owner = next((base for base in cls.__mro__ if key in vars(base)), None)  # enumerations offer what type has
        if key[0] != "_" and owner is not None and is_ours(owner):
            found.append((key, vars(owner)[key]))
    return found


def is_described(x: object) -> bool:
    return isinstance(x, property | functools.cached_property) or inspect.isroutine(x)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_say_what_they_do(function):
    check_text(function.__doc__, function.__name__)


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_say_what_they_are(cls):
    check_text(vars(cls).get("__doc__"), cls.__name__)
    assert not vars(cls)["__doc__"].startswith(f"{cls.__name__}("), "the text that dataclasses make"
    for key, x in members(cls):
        what = f"{cls.__name__}.{key}"
        assert not isinstance(x, np.ndarray), f"{what}: help would show numpy's text; expected constant(...)"
        if isinstance(x, Attribute | Constant):
            check_text(x.text, what)
            assert getattr(cls, key).__doc__ == x.text
        elif is_described(x):
            same = [vars(base)[key] for base in cls.__mro__ if key in vars(base) and is_ours(base)]
            check_text(next(filter(None, (y.__doc__ for y in same if is_described(y))), None), what)


def test_help_on_a_force():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(mbd.forces.Torque))
    assert "Point at which it acts" in text and "Attribute object" not in text
    assert "ndarray(shape" not in text and "Dictionary" not in text
    assert isinstance(mbd.forces.Force.point, property) and mbd.forces.Force.point.fset is not None
    assert mbd.forces.Force.body.fset is None  # it cannot be changed


# --- signatures ------------------------------------------------------------------------------------------------------


def check_signature(function, name: str) -> None:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        annotation = parameter.annotation
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))
        assert annotation is not parameter.empty, f"{name}: {parameter.name} is not annotated"
        handed_on = parameter.kind is parameter.VAR_KEYWORD and name in HANDED_ON
        row = parameter.name == "body" and name.rpartition(".")[2] in TABLE_ROWS
        assert handed_on or row or not ANY.search(text), f"{name}: {parameter.name} is annotated {text}"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_say_what_they_take(function):
    check_signature(function, function.__name__)


@pytest.mark.parametrize("cls", CLASSES)
def test_classes_say_what_they_take(cls):
    if is_ours(cls.__init__) and not issubclass(cls, enum.Enum):
        check_signature(cls, cls.__name__)
    for key, x in members(cls):
        if inspect.isfunction(x):
            check_signature(x, f"{cls.__name__}.{key}")
        elif isinstance(x, property) and x.fset is not None:
            check_signature(x.fset, f"{cls.__name__}.{key}")
