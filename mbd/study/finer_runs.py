"""Errors of integration in what is read off a run, from one run with half the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import Array
from ..simulation.starting import checked_integrator
from .blocks import GOOD
from .runs import Function, Recipe, run_one

TIGHTER = 0.01  # tolerances of methods that choose their steps
TOLERANCES = ("rtol", "atol")


def integration_error(
    recipe: Recipe, output: Function, parameters: Mapping[str, Any], found: Array
) -> Array | str | None:
    """What a run without errors of integration would give less what was ``found`` with the parameters, estimated.

    A text says why there is no estimate; None: nobody knows how to integrate more finely, since ``simulate`` is a
    function of its own.
    """
    if not isinstance(recipe.simulate, Mapping):
        return None
    simulate, part = _finer(recipe.simulate)
    row = run_one(replace(recipe, simulate=simulate, outputs={"finer": output}), 0, parameters)
    if row.status != GOOD:
        return row.message
    finer = row.outputs["finer"]
    return np.asarray((finer - found) / part) if np.isfinite(finer).all() else "it is not finite"


def _finer(simulate: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """Arguments of a run with smaller errors, and which part of the errors it takes away."""
    given = {name: value for name, value in simulate.items() if name != "sensitivities"}
    method = checked_integrator(given.get("integrator"))
    for name in ("step", "output_step"):  # between records is interpolated
        if given.get(name) is not None:
            given[name] = 0.5 * given[name]
    if not method.adaptive:
        return given, 1.0 - 0.5**method.order
    known = {name: TIGHTER * getattr(method, name) for name in TOLERANCES if hasattr(method, name)}
    return given | {"integrator": replace(method, **known)}, 1.0 - TIGHTER
