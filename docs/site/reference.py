"""Reference pages from docstrings: one per family, found by introspection, so that new names appear by themselves."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

import channels_table
import joint_pages
from docstrings import as_rst
from files import put
from integrator_table import integrator_table, sources

import mbd

TITLES = {
    "model": ("Model and simulation", "What people build, and how it runs."),
    "bodies": ("Bodies", "What has mass, and the ground."),
    "shapes": ("Shapes", "What bodies look like, and their mass properties."),
    "nodes": ("Nodes", "Where a body is, and in which coordinates."),
    "joints": ("Joints", "Connections of two bodies, drivers and couplings, each with its free motions and equations."),
    "forces": ("Forces", "Springs, loads, forces on joints, controls, and elements of users."),
    "integrators": ("Integrators", "All methods, with what they need and what they keep."),
    "solvers": ("Analyses", "Diagnosis, consistent start, equilibrium, linearisation, kinematics, inverse dynamics."),
    "results": ("Results", "What a run returns."),
    "sensors": ("Sensors", "Quantities that events, channels and controls read."),
    "study": ("Studies", "Comparisons, sweeps, optimisation, identification."),
    "view": ("Views", "Pictures, movies, pages, plots, reports."),
    "io": ("Files", "Reading and writing models and solutions."),
    "system": ("System", "The equations of a model as matrices and vectors."),
    "benchmarks": ("Reference problems", "Models with known results."),
    "errors": ("Errors and warnings", "Classes and codes; causes and remedies are on the page of messages."),
    "testing": ("Checks for extensions", "What every element and method must pass."),
    "other": ("Other names", "Further names of the package."),
}
"""Pages of the reference: title and sentence."""
HOMES = {
    "values": "model",
    "fmu": "io",
    "simulation": "model",
    "citing": "results",
    "driven": "solvers",
}  # names of the package by the module that defines them
FURTHER = {  # classes that functions return; they are reached through other objects, not by name
    "results": (
        "mbd.results.views.JointView", "mbd.results.views.ForceView", "mbd.results.channels.Channels",
        "mbd.results.channels.Channel", "mbd.results.instants.Instants",
    ),
    "solvers": (
        "mbd.solvers.diagnosis.Diagnosis", "mbd.solvers.equilibrium.Equilibrium",
        "mbd.solvers.linearisation.Linearisation",
    ),
    "study": ("mbd.study.compare.Study",),
}  # fmt: skip


def families() -> dict[str, list[str]]:
    """Full names of everything public, by page."""
    found: dict[str, list[str]] = {key: [] for key in TITLES}
    for name in sorted(mbd._LAZY, key=str.lower):
        module = mbd._LAZY[name]
        parts = module.split(".")[1:]
        home = next((HOMES[part] for part in reversed(parts) if part in HOMES), parts[0])
        if module != "mbd.bodies":  # it lists the same names itself
            found[home if home in found else "other"].append(f"mbd.{name}")
    found["model"] = sorted([*found["model"], "mbd.rotation"], key=lambda name: (name != "mbd.Model", name))
    for name in mbd._MODULES:
        page = name if name in found else "other"
        found[page] += [f"mbd.{name}.{key}" for key in sorted(getattr(mbd, name).__all__, key=str.lower)]
    for page, names in FURTHER.items():
        found[page] += [name for name in names if resolve(name) is not None]
    return {page: names for page, names in found.items() if names}


def resolve(name: str) -> Any:
    """The object with a full name, or None."""
    import importlib

    module, _, key = name.rpartition(".")
    try:
        where = mbd if module == "mbd" else getattr(mbd, module[4:], None) or importlib.import_module(module)
        return getattr(where, key, None)
    except ImportError:
        return None


def sentence(x: Any) -> str:
    """The first sentence of a docstring."""
    text = (inspect.getdoc(x) or "").partition("\n\n")[0].replace("\n", " ")
    first = re.match(r"(``.*?``|(?!\. ).)*", text)[0].rstrip(".:")  # formulas may contain full stops
    lines = [first + "." if first else ""]
    as_rst(lines)
    return " ".join(line for line in lines if line)


def heading(text: str, mark: str) -> str:
    return f"{text}\n{mark * len(text)}\n\n"


def table(header: tuple[str, ...], rows: list[tuple[str, ...]], style: str = "mbd-table") -> str:
    """A table of reStructuredText."""
    out = [".. list-table::", "   :header-rows: 1", f"   :class: {style}", ""]
    for row in (header, *rows):
        out += [f"   {'* -' if k == 0 else '  -'} {cell}" for k, cell in enumerate(row)]
    return "\n".join(out) + "\n\n"


@functools.cache
def parts_of_classes() -> dict[type, list[type]]:
    """Bases without an entry that are there for one class (and its subclasses): what they have is shown as its own."""
    shown = [x for names in families().values() for name in names if isinstance(x := resolve(name), type)]
    found: dict[type, list[type]] = {}
    for base in {base for x in shown for base in x.__mro__ if base.__module__.startswith("mbd.")} - {*shown}:
        heirs = [x for x in shown if issubclass(x, base)]
        whole = next((x for x in heirs if all(issubclass(other, x) for other in heirs)), None)
        if whole is not None:
            found.setdefault(whole, []).append(base)
    return found


def entry(name: str, more: str = "") -> str:
    """Everything about one name; ``more`` stands before the members of a class, which are not repeated from bases."""
    x, short = resolve(name), name.rpartition(".")[2]
    out = f".. _{label(name)}:\n\n" + heading(short, "-")
    if isinstance(x, type):
        parts = parts_of_classes().get(x, [])
        others = [base for base in x.__mro__[1:] if base not in parts]
        known = {key for base in others if base.__module__.startswith("mbd.") for key in vars(base)}
        excluded = ", ".join(sorted(key for key in vars(x) if key in known and key[0] != "_"))
        out += f".. autoclass:: {name}\n   :members:\n   :show-inheritance:\n"
        if parts:
            out += f"   :inherited-members: {', '.join(base.__name__ for base in others)}\n"
        out += f"   :exclude-members: {excluded}\n\n" if excluded else "\n"
        out += textwrap.indent(more, "   ") + "\n"
    elif callable(x):
        out += f".. autofunction:: {name}\n\n"
    else:
        out += f".. autodata:: {name}\n   :no-value:\n\n"
    return out


def label(name: str) -> str:
    return name.lower().replace(".", "-").replace("_", "-")


def page(family: str, names: list[str], source: Path) -> str:
    """The text of one page."""
    title, sentence_of_page = TITLES[family]
    out = heading(title, "=") + sentence_of_page + "\n\n"
    if family == "integrators":
        out += integrator_table(table)
    if family == "errors":
        out += "All codes, with cause and remedy: :doc:`/docs/troubleshooting`.\n\n"
    rows = [(f":ref:`{name.rpartition('.')[2]} <{label(name)}>`", sentence(resolve(name))) for name in names]
    out += table(("name", "what it is"), rows)
    for name in names:
        short, more = name.rpartition(".")[2], ""
        if family == "joints":
            more = joint_pages.about(short, source)
        elif family == "integrators":
            more = sources(resolve(name))
        out += entry(name, more)
    return out


def prepare(source: Path) -> None:
    """All pages, into ``source/reference``."""
    found = families()
    written = {"index", "channels"}
    for family, names in found.items():
        put(source / "reference" / f"{family}.rst", page(family, names, source))
        written.add(family)
    put(source / "reference" / "channels.rst", channels_table.page(heading, table))
    listed = "\n".join(f"   {family}" for family in (*found, "channels"))
    text = heading("Reference", "=") + "Every public class and function, made from its docstring.\n\n"
    put(source / "reference" / "index.rst", text + f".. toctree::\n   :maxdepth: 1\n\n{listed}\n")
    for old in (source / "reference").glob("*.rst"):
        if old.stem not in written:
            old.unlink()
