"""sweep(): many runs of a model that is built anew from parameters, anywhere, stored as they come."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.interrupts import Interrupts
from ..elements.arguments import FilePath
from ..errors import ModelError, ModelWarning, StudyError, check_number
from ..io.notes import note
from ..io.progress import Progress
from .blocks import GOOD, OPEN, STATUS, Block
from .engines import Interrupted, engine_for
from .model_builds import as_build
from .parameter_study import ParameterStudy
from .parameter_table import ParameterTable, parameter_table
from .parcels import Parcel
from .reruns import described
from .results import gathered
from .runs import Recipe, as_output, check_arguments, check_names
from .schedule import Schedule
from .store import Memory, Plan, Reader, Store, folder_of

if TYPE_CHECKING:
    from distributed import Client
    from pandas import DataFrame

    from ..model import Model
    from ..results.solution import Solution

Values = Mapping[str, object]
Outputs = (
    Mapping[str, "Callable[[Solution], object] | str"] | Callable[["Solution"], Mapping[str, object]] | Iterable[str]
)


def sweep(
    build: Callable[..., Model] | Model,
    parameters: Values | Iterable[Values] | DataFrame,
    *,
    outputs: Outputs,
    simulate: Mapping[str, object] | Callable[..., object] | None = None,
    samples: int | None = None,
    sampling: str | None = None,
    combine: str | None = None,
    store: FilePath | None = None,
    executor: int | Executor | Client | str | Callable[[], Executor] | None = None,
    chunk: int | None = None,
    seed: int = 0,
    on_error: str = "row",
    retry: bool = False,
    timeout: float | None = None,
    progress: bool | None = None,
) -> ParameterStudy:
    """Run a model for many values of its parameters.

    Parameters
    ----------
    build: makes a model from parameters, which it takes as arguments of these names. If it has an argument ``rng``, it
        gets ``numpy.random.default_rng([seed, run])``. Where runs are made in other processes, it is found by its name
        (``def`` at the top level of a module), or sent as code if cloudpickle is installed. Or a model: parameters are
        then those of the model (``model.parameter``) or attributes of its elements ("b.mass"), and runs reuse the
        assembled system, with the same results bit for bit.
    parameters: by name a list of values, a distribution (``mbd.study.normal(1.0, 0.1)``, a frozen one of
        ``scipy.stats``) or one value; or a table: a data frame, or a list of dictionaries. Values are numbers, texts or
        rows of an array.
    outputs: by name a function of the solution, or the text of a channel such as "tip.position.x[-1]"; or one function
        that returns a dictionary. They are numbers, or arrays of the same shape in all runs.
    simulate: arguments of ``mbd.simulate``, e.g. ``dict(t_end=1.0, step=1e-3)``. Or a function of the model, and of the
        parameters that it names, whose result is what outputs are read from, such as ``mbd.linearize``. None: outputs
        are read from what ``build`` returns.
    samples, sampling: how many values of the random parameters, and how: "latin" (hypercube, default), "sobol" or
        "random".
    combine: "product", every combination of the lists (default), or "zip", values of the same place.
    store: a folder to which results are written as they come. The same call goes on where it was interrupted; a folder
        of another study is refused. None: results are kept in memory.
    executor: None for this process, a number of processes, any ``concurrent.futures.Executor`` (or a function that
        makes one), a ``dask.distributed.Client`` or the address of a dask scheduler, "tcp://...".
    chunk: runs per task; by default as many as take half a second to a second.
    seed: of samples and of ``rng``. Results depend on it, and not on the order of runs, on chunks or on the executor.
    on_error: "row", where a run that fails has a row with the reason, or "raise", where the first one ends the study.
    retry: make those runs of the store again that have no result.
    timeout: seconds after which a run is ended, and has a row that says so.
    progress: show a bar with rate and remaining time; by default in a terminal.

    Warnings of runs are kept with their rows. Ctrl-C ends the study early; what was computed is kept.

    >>> model = mbd.Model(gravity=(0, 0, -10.0))
    >>> speed = model.parameter("speed", 1.0)
    >>> ball = model.add(mbd.PointMass("ball", mass=1.0, velocity=(speed, 0, 0)))
    >>> study = mbd.study.sweep(
    ...     model, {"speed": [1.0, 2.0, 3.0]}, outputs={"way": lambda run: run["ball"].position[-1, 0]},
    ...     simulate={"t_end": 2.0, "step": 0.1},
    ... )
    >>> study["way"].round(6).tolist()
    [2.0, 4.0, 6.0]
    """
    recipe = make_recipe("sweep", build, simulate, outputs, seed, timeout)
    table = parameter_table(parameters, samples, sampling, combine, seed)  # type: ignore[arg-type]
    check_arguments(recipe, table.names)
    if not callable(recipe.outputs):
        check_names(recipe.outputs, table.names, "sweep: ")
    if on_error not in ("row", "raise"):
        raise ModelError(f"sweep: on_error = {on_error!r}; expected 'row' or 'raise'")
    if not isinstance(retry, bool | np.bool_):
        raise ModelError(f"sweep: retry = {retry!r}; expected True or False")
    if chunk is not None and (isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1):
        raise ModelError(f"sweep: chunk = {chunk!r}; expected a positive number of runs, or None")
    parcel = Parcel(recipe)
    plan = Plan(table, {**parcel.told, **table.digests(), "seed": str(seed)}, described(recipe))
    keeper = Memory() if store is None else Store(folder_of(store, "sweep: store"), plan)
    study = ParameterStudy(plan, keeper if isinstance(keeper, Memory) else Reader(keeper.path), recipe)
    try:
        status = keeper.read(lambda source: gathered(source, len(table))).status
        runs = np.flatnonzero((status == OPEN) | ((status != GOOD) & retry))
        if len(runs):
            _make(runs, parcel, table, keeper, executor, chunk, on_error, progress)
            changed = parcel.changed()
            if changed:
                warnings.warn(f"sweep: {changed}", ModelWarning, stacklevel=2)
    finally:
        keeper.close()
    _warn(study)
    return study


def load(path: FilePath) -> ParameterStudy:
    """The study in a folder, also while it is running; results are read when they are asked for."""
    folder = folder_of(path, "load: path")
    return ParameterStudy(Plan.read(folder), Reader(folder))


def make_recipe(
    who: str, build: Any, simulate: Any, outputs: Any, seed: int, timeout: float | None, common: bool = False
) -> Recipe:
    """What people give, checked."""
    build = as_build(build)
    if not callable(build):
        raise ModelError(
            f"{who}: build is {build!r}; expected a function that makes a model from parameters, or a model with them"
        )
    if isinstance(simulate, Mapping):
        missing = [name for name in ("t_end", "step") if name not in simulate]
        if missing:
            raise ModelError(f"{who}: simulate has no {missing[0]!r}; expected e.g. dict(t_end=1.0, step=1e-3)")
        simulate = dict(simulate)
    elif simulate is not None and not callable(simulate):
        raise ModelError(f"{who}: simulate is {simulate!r}; expected dict(t_end=..., step=...), a function, or None")
    if isinstance(outputs, str):
        outputs = [outputs]
    if not callable(outputs):
        if not isinstance(outputs, Mapping | Iterable):
            raise ModelError(
                f"{who}: outputs is {outputs!r}; expected e.g. {{'height': 'tip.position.z[-1]'}}, texts of channels, "
                "or a function that returns a dictionary"
            )
        named = outputs if isinstance(outputs, Mapping) else {text: text for text in outputs}
        if not isinstance(outputs, Mapping) and not all(isinstance(text, str) for text in named):
            raise ModelError(
                f"{who}: an output has no name; expected a dictionary such as {{'height': function}} where outputs are "
                "functions"
            )
        outputs = {str(name): as_output(str(name), value) for name, value in named.items()}
        if not outputs:
            raise ModelError(f"{who}: there are no outputs; expected e.g. {{'height': 'tip.position.z[-1]'}}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ModelError(f"{who}: seed = {seed!r}; expected a number that is not negative")
    if timeout is not None:
        timeout = check_number(timeout, who, "timeout", positive=True)
    return Recipe(build, simulate, outputs, int(seed), timeout, common)


def _make(
    runs: np.ndarray, parcel: Parcel, table: ParameterTable, keeper: Memory | Store, executor: Any, chunk: int | None,
    on_error: str, progress: bool | None,
) -> None:  # fmt: skip
    """Make runs and keep their results."""
    begin, total = len(table) - len(runs), len(table)
    done, failures, clock = begin, 0, time.monotonic()

    def keep(block: Block) -> None:
        nonlocal done, failures
        interrupts.defer = True  # a block is kept as a whole
        keeper.add(block)
        interrupts.defer = False
        interrupts.check()
        done += len(block)
        wrong = np.flatnonzero(block.status != GOOD)
        failures += len(wrong)
        if len(wrong) and on_error == "raise":
            run = int(block.run[wrong[0]])
            raise StudyError(
                f"run {run} {STATUS[block.status[wrong[0]]]}: {block.message.at(wrong[0])}; parameters: "
                + ", ".join(f"{name} = {value!r}" for name, value in table.rows(np.array([run]))[0].items())
            )

    def tell() -> None:
        seconds = time.monotonic() - clock
        words = [f"{done} of {total} runs"]
        words += [f"{(done - begin) / seconds:.3g}/s"] if done > begin and seconds > 0.0 else []
        words += [f"{failures} without a result"] if failures else []
        bar.update(done, ", ".join(words))

    with (
        Interrupts() as interrupts,
        Progress(begin, total, progress, "sweep") as bar,
        engine_for(executor, parcel) as engine,
    ):
        schedule = Schedule(engine, table.rows, keep, chunk, tell)
        try:
            schedule.run(runs)
        except KeyboardInterrupt as stop:
            interrupts.noted = False  # one that came in the steps of a run was noted here too
            if isinstance(stop, Interrupted):
                keep(stop.block)
            schedule.rescue()
            note(f"interrupted after {done} of {total} runs; the same call with a store goes on from there")


def _warn(study: ParameterStudy) -> None:
    """Say at the end what a look at the numbers would not show."""
    results = study._look()[0]
    failed = np.flatnonzero((results.status != GOOD) & (results.status != OPEN))
    if len(failed):
        first = int(failed[0])
        warnings.warn(
            f"{len(failed)} of {len(study)} runs have no result (study.failed); run {first} "
            f"{STATUS[results.status[first]]}: {results.message.at(first)}",
            ModelWarning,
            stacklevel=3,
        )
    warned = np.flatnonzero(results.warned)
    if len(warned):
        first = int(warned[0])
        warnings.warn(
            f"{len(warned)} of {len(study)} runs gave warnings (study.frame()['warning']); run {first}: "
            f"{results.warning.at(first)}",
            ModelWarning,
            stacklevel=3,
        )
