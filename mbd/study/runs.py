"""One run of a study, wherever it is made: build, simulate, read outputs; whatever goes wrong is its row."""

from __future__ import annotations

import copy
import inspect
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ModelError
from ..simulation.prepared import OPTIONS
from ..system.writers import StructureError
from .blocks import FAILED, GOOD, TIMEOUT, Block, Row
from .channels import Channel
from .collecting import collected_warnings
from .model_builds import ModelBuild
from .parameter_table import RESERVED
from .watching import Marker, TimeOver, Watch

Function = Callable[..., Any]
NUMBER_KINDS = "fiubc"
PREPARED = frozenset(("t_end", "step", "integrator", "progress", *OPTIONS))


@dataclass(frozen=True)
class Recipe:
    """All that a run needs besides its parameters. ``common``: every run gets the same random numbers."""

    build: Function
    simulate: Mapping[str, Any] | Function | None
    outputs: Mapping[str, Function] | Function
    seed: int = 0
    timeout: float | None = None
    common: bool = False

    @cached_property
    def _build_takes(self) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        return _chooser(self.build)

    @cached_property
    def _simulate_takes(self) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        return _chooser(self.simulate, skip=1)

    @cached_property
    def _random(self) -> bool:
        return "rng" in argument_names(self.build)[0] or "rng" in argument_names(self.simulate, skip=1)[0]

    @cached_property
    def _prepared(self) -> bool:
        """Whether arguments of ``simulate`` are those that a prepared run takes; others make a model for each run."""
        return isinstance(self.simulate, Mapping) and self.simulate.keys() <= PREPARED

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in vars(self).items() if not name.startswith("_")}

    def solve(self, run: int, parameters: Mapping[str, Any], at_once: bool = False) -> Any:
        """What outputs are read from: the solution, or what the user's functions returned.

        ``at_once``: they are read before the next run of this thread, which may then reuse what this one was made of.
        """
        given = {name: _own(x) for name, x in parameters.items()}
        if at_once and isinstance(self.build, ModelBuild) and isinstance(self.simulate, Mapping) and self._prepared:
            with suppress(StructureError):  # which another model is made for
                return self._complete(self.build.solution(given, self.simulate))
        if self._random:
            given["rng"] = np.random.default_rng([self.seed, 0 if self.common else run])
        model = self.build(**self._build_takes(given))
        if self.simulate is None:
            return model
        if callable(self.simulate):
            return self.simulate(model, **self._simulate_takes(given))
        from ..model import Model
        from ..simulation.simulation import simulate

        if not isinstance(model, Model):
            raise ModelError(f"build returned {_short(model)}; expected an mbd.Model")
        return self._complete(simulate(model, **{"progress": False, **self.simulate}))

    def _complete(self, solution: Any) -> Any:
        if not solution.complete:
            if solution.message.startswith("interrupted"):
                raise KeyboardInterrupt
            raise ModelError(solution.message)
        return solution

    def read(self, solved: Any, parameters: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """The outputs as arrays of numbers."""
        if callable(self.outputs):
            found = self.outputs(solved)
            if not isinstance(found, Mapping):
                raise ModelError(f"outputs returned {_short(found)}; expected a dictionary of numbers or arrays")
            check_names(map(str, found), parameters)
        else:
            found = {name: function(solved) for name, function in self.outputs.items()}
        return {str(name): _as_numbers(str(name), x) for name, x in found.items()}


def check_names(outputs: Iterable[str], parameters: Container[str], who: str = "") -> None:
    """Refuse outputs with the names of parameters, and of columns that every table has."""
    seen: set[str] = set()
    for name in outputs:
        if name in parameters or name in RESERVED or name in seen:
            why = (
                "a parameter is called so" if name in parameters
                else f"{', '.join(RESERVED)} are taken" if name in RESERVED
                else "another output is called so"
            )  # fmt: skip
            raise ModelError(f"{who}an output is called '{name}'; expected another name, because {why}")
        seen.add(name)


def _own(value: Any) -> Any:
    """A value that a run may change, as functions do with arrays that they are given."""
    return copy.deepcopy(value) if isinstance(value, np.ndarray | list | dict | set) else value


def _as_numbers(name: str, value: Any) -> np.ndarray:
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        if value.dtype.kind not in NUMBER_KINDS:
            raise ModelError(f"output '{name}' is {_short(value)}; expected a number or an array of numbers")
        value = np.ma.filled(value.astype(np.result_type(value.dtype, float)), np.nan)  # what lies below is no result
    try:
        array = np.array(value)  # a copy: the function may fill the same array again in the next run
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in NUMBER_KINDS:
        raise ModelError(f"output '{name}' is {_short(value)}; expected a number or an array of numbers")
    return array


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:80] + "..."


def _chooser(function: Any, skip: int = 0) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Chooses the arguments that a function takes from those that are there."""
    names, everything = argument_names(function, skip)
    if everything:
        unwanted = {"rng"} - names.keys()
        return lambda given: {name: x for name, x in given.items() if name not in unwanted}
    return lambda given: {name: given[name] for name in names if name in given}


def argument_names(function: Any, skip: int = 0) -> tuple[dict[str, bool], bool]:
    """Arguments that can be given by name, and whether they must be; whether any name is taken."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):  # some functions in C do not tell
        return {}, True
    named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {p.name: p.default is p.empty for p in named}, any(p.kind is p.VAR_KEYWORD for p in parameters)


def as_output(name: str, value: Function | str) -> Function:
    """A function of a solution, from one or from the text of a channel."""
    if isinstance(value, str):
        return Channel(value)
    if not callable(value):
        raise ModelError(
            f"output '{name}' is {_short(value)}; expected a function of the solution or a text such as "
            "'tip.position.x[-1]'"
        )
    return value


def check_arguments(recipe: Recipe, names: Sequence[str], who: str = "sweep") -> None:
    """Refuse parameters that nobody takes, and arguments that nobody gives or knows."""
    if isinstance(recipe.build, ModelBuild):
        recipe.build.check(who, names)
    build, any_name = argument_names(recipe.build)
    simulate, any_other = argument_names(recipe.simulate, skip=1) if callable(recipe.simulate) else ({}, False)
    for name in names:
        if not any_name and not any_other and name not in build and name not in simulate:
            raise ModelError(f"{who}: build has no argument '{name}'; it takes {', '.join(build) or 'none'}")
    for function, taken in (("build", build), ("simulate", simulate)):
        for name, needed in taken.items():
            if needed and name not in names and name != "rng":
                raise ModelError(f"{who}: {function} needs the argument '{name}', which is no parameter of the study")
    if isinstance(recipe.simulate, Mapping):
        from ..simulation.simulation import simulate as integrate

        known = argument_names(integrate, skip=1)[0]
        for name in recipe.simulate:
            if name not in known:
                raise ModelError(f"{who}: simulate has an argument {name!r}; mbd.simulate takes {', '.join(known)}")


def run_one(recipe: Recipe, run: int, parameters: Mapping[str, Any], marker: Marker | None = None) -> Row:
    """One run; never raises but for an interrupt."""
    clock = time.perf_counter()
    outputs: dict[str, np.ndarray] = {}
    status, message = GOOD, ""
    with collected_warnings() as warned:
        watch = Watch(recipe.timeout, marker)
        try:
            with watch:
                solved = recipe.solve(run, parameters, at_once=True)
                outputs = recipe.read(solved, parameters)
            warned.redundancy(solved)
        except KeyboardInterrupt:
            raise
        except TimeOver as error:
            if not watch.ended(error):
                raise
        except BaseException as error:  # such as SystemExit, or what ends generators and tasks
            status, message = FAILED, f"{type(error).__name__}: {error}"
    if watch.over:
        status, message, outputs = TIMEOUT, f"no end after {recipe.timeout:g} s", {}
    texts = warned.texts
    seconds = time.perf_counter() - clock
    return Row(run, status, seconds, outputs, message, len(texts), texts[0] if texts else "")


def run_chunk(
    recipe: Recipe, runs: Sequence[int], parameters: Sequence[Mapping[str, Any]], marker: Marker | None = None,
    after: Callable[[], str] = lambda: "",
) -> Block:  # fmt: skip
    """Several runs, one after the other. What there is to say afterwards is a warning of the last one."""
    rows = []
    for run, values in zip(runs, parameters, strict=True):
        if marker is not None:
            marker.begin(run)
        rows.append(run_one(recipe, int(run), values, marker))
    text = after()
    if text and rows:
        last = rows[-1]
        rows[-1] = last._replace(warned=last.warned + 1, warning=last.warning or f"ModelWarning: {text}")
    return Block.of(rows)
