"""One run of a study once more, as a whole: the solution behind a row."""

from __future__ import annotations

import dataclasses
import importlib
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.functions.captured import Unknown, module_of, unwrapped
from ..errors import ModelError, ModelWarning
from .fingerprints import differences
from .model_builds import ModelBuild, as_build
from .parcels import told_of
from .runs import Recipe

if TYPE_CHECKING:
    from ..model import Model
    from ..results.solution import Solution
    from .parameter_study import ParameterStudy

SAME = 1e-6  # of the largest value of an output: a difference that is told


def described(recipe: Recipe) -> dict[str, Any]:
    """What a store tells of its functions: names by which they may be found, and plain arguments of ``simulate``."""
    simulate = recipe.simulate
    options = {name: _plain(x) for name, x in simulate.items()} if isinstance(simulate, Mapping) else _place(simulate)
    build = recipe.build
    place = repr(build.model) if isinstance(build, ModelBuild) else _place(build)
    return {"build": place, "simulate": options, "seed": recipe.seed}


def _place(function: Any) -> str | None:
    """module:name of a function without values of its own."""
    try:
        inner, bound = unwrapped(function)
    except (Unknown, AttributeError):
        return None
    return None if bound else f"{module_of(inner)}:{inner.__qualname__}"


def _plain(x: Any) -> Any:
    """A value for JSON; integrators by their class and parameters, anything else as a text that says so."""
    if x is None or type(x) in (bool, int, float, str):
        return x
    if isinstance(x, np.generic):
        return _plain(x.item())
    if type(x).__module__.startswith("mbd.integrators") and dataclasses.is_dataclass(x):
        fields = {f.name: _plain(getattr(x, f.name)) for f in dataclasses.fields(x) if f.init}
        return {"integrator": type(x).__name__, "parameters": fields}
    return {"missing": repr(x)[:200]}


def _restored(name: str, x: Any) -> Any:
    if not isinstance(x, dict):
        return x
    if "integrator" in x:
        method = getattr(importlib.import_module("mbd.integrators"), x["integrator"])
        return method(**{key: _restored(name, value) for key, value in x["parameters"].items()})
    raise ModelError(f"rerun: the store does not hold {name} = {x['missing']}; expected simulate=dict(...) once more")


def _found(place: str | None, what: str) -> Any:
    module, _, name = (place or "").partition(":")
    try:
        found: Any = sys.modules["__main__"] if module == "__main__" else importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found
    except (ImportError, AttributeError, ValueError):
        raise ModelError(
            f"rerun: {what} is {place or 'not known'}, which is not found here; expected {what}="
        ) from None


def rerun(
    study: ParameterStudy,
    run: int,
    *,
    build: Callable[..., Model] | Model | None = None,
    simulate: Mapping[str, object] | Callable[..., object] | None = None,
) -> Solution:
    """Make one run again in this process, and return its solution; errors and warnings are not caught.

    Of a study from a folder, ``build`` is found by its name, or given. If functions have changed since, or if outputs
    are not what is stored, a warning says so.
    """
    if isinstance(run, bool) or not isinstance(run, int | np.integer) or not 0 <= run < len(study):
        raise ModelError(f"rerun: run = {run!r}; expected a number from 0 to {len(study) - 1}")
    plan, recipe = study._plan, study._recipe
    if recipe is None or build is not None or simulate is not None:
        recipe = _recipe(plan.about, recipe, build, simulate)
        changed = [text for text in differences(told_of(recipe), plan.told, "now") if not text.startswith("output")]
        changed = [text for text in changed if text.startswith(("build", "simulate", "python", "mbd"))]
        if changed:
            warnings.warn(f"rerun: not as in the study: {'; '.join(changed[:3])}", ModelWarning, stacklevel=2)
    parameters = plan.table.rows(np.array([run]))[0]
    solved = recipe.solve(int(run), parameters)
    if recipe.outputs:
        _compare(study, int(run), recipe.read(solved, parameters))
    return solved


def _recipe(about: dict[str, Any], known: Recipe | None, build: Any, simulate: Any) -> Recipe:
    build = as_build(build)
    if build is None:
        build = known.build if known is not None else _found(about["build"], "build")
    if simulate is None and known is not None:
        simulate = known.simulate
    elif simulate is None and isinstance(about["simulate"], dict):
        simulate = {name: _restored(name, x) for name, x in about["simulate"].items()}
    elif simulate is None and about["simulate"] is not None:
        simulate = _found(about["simulate"], "simulate")
    return Recipe(build, simulate, known.outputs if known is not None else {}, about["seed"])


def _compare(study: ParameterStudy, run: int, outputs: dict[str, np.ndarray]) -> None:
    """Say if the outputs are others than those in the store."""
    stored, apart = study._look(None)[1], []
    for name, value in outputs.items():
        there = stored[name][run] if name in stored else value
        if np.shape(there) == value.shape and np.isfinite(there).all():
            difference, size = (float(np.max(np.abs(x), initial=0.0)) for x in (there - value, there))
            if not difference <= SAME * size:
                apart.append(f"'{name}' by {difference:.3g} (largest value {size:.3g})")
    if apart:
        text = f"rerun: outputs of run {run} are not those of the study; they differ: {', '.join(apart)}"
        warnings.warn(text, ModelWarning, stacklevel=3)
