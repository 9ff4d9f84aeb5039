"""Several runs in one view: which ones belong together, and what tells them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.elements.making import is_made_of_values
from mbd.errors import ModelError
from mbd.view.clock import duration_text

if TYPE_CHECKING:
    from mbd.results.solution import Solution

MOST_FACTS = 2  # in the name of a run
LONGEST_FACT = 44  # letters; matrices are told apart, but do not stand in names
GIVEN, FOLLOWING = "given ", "following "  # keys of parameters and inputs, and of elements that follow them
VARIES = " varies"
CONSTANTS = {"ZERO3": [0.0, 0.0, 0.0], "IDENTITY3": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]}


def run_list(solutions: Any, owner: str = "view") -> list[Solution]:
    """One solution, or several of the same model, as a list."""
    from mbd.results.solution import Solution

    runs = [solutions] if isinstance(solutions, Solution) else solutions
    if not isinstance(runs, list | tuple) or not all(isinstance(run, Solution) for run in runs):
        raise ModelError(f"{owner}: solutions = {_short(solutions)}; expected a Solution or a list of several")
    if not runs:
        raise ModelError(f"{owner}: no solutions are given; expected one or a list of several")
    for k, run in enumerate(runs[1:], 2):
        check_same(runs[0], run, k, owner)
    return list(runs)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def check_same(first: Solution, other: Solution, number: int, owner: str) -> None:
    """Both runs are of models with the same elements; coordinates, masses and other values may differ."""
    for kind in ("bodies", "joints", "forces"):
        one, two = ([(e.name, type(e).__name__) for e in getattr(run.model, kind)] for run in (first, other))
        if set(one) == set(two):
            continue
        name, label = next(item for item in [*one, *two] if (item in one) != (item in two))
        has, lacks = (1, number) if (name, label) in one else (number, 1)
        raise ModelError(
            f"{owner}: runs in one view have to be of the same model (integrators, coordinates and values may differ), "
            f"but run {has} has the {label} '{name}' and run {lacks} has not; draw them one by one"
        )


def run_names(runs: list[Any]) -> list[str]:
    """What tells runs apart: their integrators, steps, coordinates or values of the model; numbered if nothing does."""
    plain = [_method(run) for run in runs]
    if len(runs) < 2:
        return plain
    facts = [_facts(run) for run in runs]
    keys = dict.fromkeys(key for fact in facts for key in fact)
    differing = [key for key in keys if len({fact.get(key, "") for fact in facts}) > 1]
    for whole in ("method", "coordinates"):
        if whole in differing:  # then its parameters belong to it
            differing = [key for key in differing if not key.startswith(f"{whole}.")]
    varying = any(text.endswith(VARIES) for fact in facts for text in fact.values())
    if varying or any(key.startswith(GIVEN) for key in differing):
        differing = [key for key in differing if not key.startswith(FOLLOWING)]
    told = [key for key in differing if all(len(fact.get(key, "-")) <= LONGEST_FACT for fact in facts)]
    names = plain
    for count in range(1, min(len(told), MOST_FACTS) + 1):
        names = [", ".join(fact.get(key, f"no {key}") for key in told[:count]) for fact in facts]
        if len(set(names)) == len(names):
            break
    if told and len(differing) > count:
        names = [f"{name}, ..." for name in names]
    return [n if names.count(n) == 1 else f"{n} ({names[: k + 1].count(n)})" for k, n in enumerate(names)]


def _method(run: Any) -> str:
    return type(run.integrator).__name__ if run.integrator is not None else "no integrator"


def _facts(run: Any) -> dict[str, str]:
    """Everything that may tell a run from another, as texts for its name."""
    from mbd.io.encoding import Encoder

    facts = {"method": _method(run)}
    for key, value in vars(run.integrator).items() if run.integrator is not None else ():
        if not key.startswith("_") and isinstance(value, bool | int | float | str | None):
            facts[f"method.{key}"] = f"{key} = {_text(value)}"
    step = run.state.get("step")
    if isinstance(step, float):
        facts["step"] = f"step {duration_text(step)}"
    kinds = {type(body.node).__name__ for body in run.model.bodies if body.in_space}
    facts["coordinates"] = " and ".join(sorted(kinds))
    lie = {str(body.node.lie) for body in run.model.bodies if hasattr(body.node, "lie")}
    facts["coordinates.lie"] = f"lie = {' and '.join(sorted(lie))}"
    for name, value in run.system.values.items():
        values = run.inputs.get(name, [value])  # as recorded; the model holds what was last put in
        values = values[1:] if len(values) > 1 else values  # the first record is before the first step
        varies = np.ptp(values) > 0.0
        facts[f"{GIVEN}{name}"] = f"{name}{VARIES}" if varies else f"{name} = {_text(float(values[0]))}"
    data = Encoder().model(run.model)
    facts["gravity"] = f"gravity {_text(data['gravity'])}"
    for kind in ("bodies", "joints", "forces"):
        for entry in data[kind]:
            name = entry["attributes"]["name"]
            prefix = FOLLOWING if is_made_of_values(run.model[name]) else ""
            _flatten(entry["attributes"], name, facts, prefix)
    return facts


def _flatten(attributes: dict[str, Any], owner: str, facts: dict[str, str], prefix: str) -> None:
    """Values of an element, and those of its node; looks do not tell runs apart."""
    for key, value in attributes.items():
        if key in ("shape", "lie", "pinned"):
            continue
        if isinstance(value, dict) and "$object" in value:
            if isinstance(value.get("attributes"), dict):
                _flatten(value["attributes"], owner, facts, prefix)
            continue
        facts[f"{prefix}{owner}.{key}"] = f"{owner}.{key} = {_text(value)}"


def _text(value: Any) -> str:
    if isinstance(value, dict) and "$array" in value:
        value = value["$array"]
    if isinstance(value, dict) and "$constant" in value:
        value = CONSTANTS.get(value["$constant"], value["$constant"])
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return f"{value:.6g}"
    if isinstance(value, list) and all(isinstance(x, int | float) for x in value):
        return "(" + ", ".join(f"{x:.6g}" for x in value) + ")"
    return str(value)
