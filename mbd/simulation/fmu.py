"""export_fmu: a model as a unit for co-simulation (FMI 2), for Simulink, OpenModelica, FMPy and others.

The unit is packed by PythonFMU: its binary starts Python, which must have ``mbd``, and steps a ``Simulator`` (see
``fmu_unit``). The model travels as a pickle, functions of the user included.
"""

from __future__ import annotations

import json
import keyword
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import mbd

from ..compiled.functions.captured import is_installed, is_installed_package
from ..elements.arguments import FilePath
from ..errors import FileError, ModelError, bad_value
from ..integrators.base import Integrator
from ..io.files import replacing
from ..model import Model
from .simulator import Simulator

MODEL, SETTINGS = "model.pickle", "settings.json"  # in the resources of a unit
OPTIONS = {"needsExecutionTool": True, "canHandleVariableCommunicationStepSize": True}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OWN_NAMES = ("Unit", "hold")  # in the script below
SCRIPT = """\"\"\"Unit for co-simulation, made by mbd {version}.\"\"\"

from mbd.simulation.fmu_unit import Unit, hold


class {name}(Unit):
    pass


hold(globals())
"""


def export_fmu(
    model: Model,
    path: FilePath,
    step: float,
    integrator: Integrator | None = None,
    *,
    outputs: Sequence[str],
) -> Path:
    """Write a model as an FMI 2 unit for co-simulation; returns where.

    Parameters
    ----------
    path: file that ends with .fmu; its name without the ending becomes the name of the unit.
    step: internal step; communication steps must be whole multiples of it.
    integrator: any method with a fixed step; default ``GeneralizedAlpha()``.
    outputs: channels as in ``solution.channels``, "tip.position" or "hinge.angle"; every component is a variable.

    Inputs of the model (``model.input``) become inputs of the unit, its parameters those that can be set before the
    start. Whoever runs the unit needs a Python (3.11 or later) with mbd in it, of which the Python library can be
    loaded; an error of a step is told through the unit's messages and ends the step. Needs ``pip install 'mbd[fmi]'``.
    """
    if not isinstance(path, str | os.PathLike):
        raise bad_value("export_fmu", "path", path, "a file that ends with .fmu")
    target = Path(path)
    if target.suffix != ".fmu" or not IDENTIFIER.fullmatch(target.stem):
        raise ModelError(
            f"export_fmu: path is '{target}'; expected letters, digits and underscores, and .fmu at the end"
        )
    if keyword.iskeyword(target.stem) or target.stem in OWN_NAMES or is_installed_package(target.stem):
        raise ModelError(
            f"export_fmu: path is '{target}', but the unit is a Python module of this name, and '{target.stem}' is a "
            "word, or a package, of Python; expected another name"
        )
    if not target.resolve().parent.is_dir():
        raise FileError(f"export_fmu: there is no such directory: '{target.parent}'")
    simulator = Simulator(model, step, integrator, record=False)
    if simulator.integrator.adaptive:
        raise ModelError(f"export_fmu: {simulator.integrator.name} chooses its steps itself; expected a fixed step")
    columns_of(simulator, outputs)
    cloudpickle, builder = _packers()
    name = target.stem
    settings = {"step": float(step), "outputs": list(outputs), "mbd": mbd.__version__, "model": model.name}
    try:
        content = _with_their_code(cloudpickle, (model, integrator))
    except Exception as error:
        raise ModelError(f"export_fmu: '{model.name}' cannot be pickled: {error}") from error
    with tempfile.TemporaryDirectory(prefix="mbd_fmu_") as folder, replacing(target) as draft:
        place = Path(folder)
        (place / f"{name}.py").write_text(SCRIPT.format(version=mbd.__version__, name=name))
        (place / MODEL).write_bytes(content)
        (place / SETTINGS).write_text(json.dumps(settings))
        kept = list(sys.path), sys.modules.pop(name, None)  # which may be a module of the user's
        packed = place / "packed" / target.name
        packed.parent.mkdir()
        try:
            builder.build_FMU(place / f"{name}.py", packed, {place / MODEL, place / SETTINGS}, **OPTIONS)
        finally:  # the packager leaves its script and its folder behind
            sys.path[:] = kept[0]
            sys.modules.pop(name, None)
            if kept[1] is not None:
                sys.modules[name] = kept[1]
        Path(draft).write_bytes(packed.read_bytes())
    return target


def columns_of(simulator: Simulator, outputs: Sequence[str]) -> list[tuple[str, str, str, int, str]]:
    """(variable, channel, text, place in the channel, unit) of all numbers of the channels."""
    if isinstance(outputs, str) or not isinstance(outputs, Iterable) or not list(outputs):
        raise ModelError(f"export_fmu: outputs is {outputs!r}; expected a list of channels such as 'tip.position'")
    found = []
    for name in outputs:
        channel = simulator.now.channels[name]
        for k, (column, unit) in enumerate(zip(channel.columns, channel.units, strict=True)):
            found.append((column, name, channel.text, k, unit))
    names = [column[0] for column in found]
    taken = set(simulator.system.values)
    for name in names:
        if names.count(name) > 1 or name in taken:
            raise ModelError(f"export_fmu: there is more than one variable '{name}'; rename an element or a parameter")
    return found


def _with_their_code(cloudpickle: Any, things: Any) -> bytes:
    """A pickle that contains what the user wrote, also in modules: they need not be there where a unit runs, and may
    have changed. What of a module cannot be taken along (open files, locks) is left to its module."""
    known = {*cloudpickle.list_registry_pickle_by_value(), "__main__"}
    loaded = [m for name, m in list(sys.modules.items()) if name == getattr(m, "__name__", "") and name not in known]
    own = [module for module in loaded if not is_installed(module)]
    for module in own:
        cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(things))
    except Exception:
        pass
    finally:
        for module in own:
            cloudpickle.unregister_pickle_by_value(module)
    return bytes(cloudpickle.dumps(things))


def _packers() -> tuple[Any, Any]:
    """The packages that make the unit."""
    try:
        import cloudpickle
        from pythonfmu.builder import FmuBuilder
    except ImportError as error:
        raise ModelError(f"export_fmu needs a package that is not there ({error}): pip install 'mbd[fmi]'") from error
    return cloudpickle, FmuBuilder
