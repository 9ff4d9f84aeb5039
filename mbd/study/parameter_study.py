"""ParameterStudy: the runs of a sweep, what came out of them, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..elements.arguments import FilePath
from ..errors import ModelError
from .blocks import GOOD, OPEN, STATUS
from .results import Results, gathered
from .store import Memory, Plan, Reader, Store
from .tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame
    from xarray import Dataset

    from .runs import Recipe

SHOWN = 5  # failures that a summary shows


class FailedRun(NamedTuple):
    """A run without a result: its number, what became of it ("failed", "died", "timeout"), why, and its parameters."""

    run: int
    status: str
    message: str
    parameters: dict[str, Any]


class ParameterStudy:
    """The result of ``mbd.study.sweep``, finished or not; ``mbd.study.load`` gives that of a folder.

    Results are read when they are asked for: of a study that is still running, what there is by then. ``study[name]``
    is the column of an output or of a parameter, as long as the study, with NaN where a run has no result.
    """

    def __init__(self, plan: Plan, source: Memory | Reader, recipe: Recipe | None = None) -> None:
        self._plan, self._source, self._recipe = plan, source, recipe

    # --- what there is --------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._plan.table)

    @property
    def path(self) -> Path | None:
        """The folder of the store, or None if results are only in memory."""
        return self._source.path

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """Values of the parameters in all runs, by name."""
        return self._plan.table.columns()

    @property
    def outputs(self) -> dict[str, tuple[int, ...]]:
        """Names of the outputs and their shapes, () for numbers; empty as long as no run has been good."""
        return self._look()[0].shapes

    @property
    def status(self) -> np.ndarray:
        """What became of each run: "good", "failed", "died", "timeout", or "open" if it has not been made."""
        return np.array(STATUS)[self._look()[0].status]

    @property
    def complete(self) -> bool:
        """Whether all runs have been made, well or badly."""
        return bool((self._look()[0].status != OPEN).all())

    @property
    def failed(self) -> list[FailedRun]:
        """All runs that have no result although they were made, with the reasons."""
        results = self._look()[0]
        runs = np.flatnonzero((results.status != GOOD) & (results.status != OPEN))
        rows = self._plan.table.rows(runs)
        return [
            FailedRun(run, STATUS[results.status[run]], results.message.at(run), row)
            for run, row in zip(runs.tolist(), rows, strict=True)
        ]

    def __getitem__(self, name: str) -> np.ndarray:
        table = self._plan.table
        if name in table.names:
            return table.columns()[name]
        results, found = self._look([name])
        if name not in found:
            known = ", ".join(map(repr, [*table.names, *results.shapes]))
            raise ModelError(
                f"study: there is no output or parameter {name!r}; there are {known}{_why_none(results.shapes)}"
            )
        return found[name]

    def _look(self, names: Iterable[str] | None = ()) -> tuple[Results, dict[str, np.ndarray]]:
        """What is known of all runs, and some outputs (None: all)."""

        def look(source: Any) -> tuple[Results, dict[str, np.ndarray]]:
            results = gathered(source, len(self))
            wanted = results.shapes if names is None else [name for name in names if name in results.shapes]
            return results, results.outputs(source, list(wanted))

        return self._source.read(look)

    def _chosen(self, outputs: Iterable[str] | None) -> tuple[Results, dict[str, np.ndarray]]:
        if isinstance(outputs, str) or not isinstance(outputs, Iterable | None):
            raise ModelError(f"study: outputs = {outputs!r}; expected a list of names, such as ['height']")
        names = None if outputs is None else list(outputs)
        results, found = self._look(names)
        missing = [name for name in names or () if name not in found]
        if missing:
            raise ModelError(
                f"study: there is no output {missing[0]!r}; there are {', '.join(map(repr, results.shapes)) or 'none'}"
                + _why_none(results.shapes)
            )
        return results, found

    # --- where people need it -------------------------------------------------------------------------------------

    def frame(self, outputs: Iterable[str] | None = None) -> DataFrame:
        """A pandas table with a line for each run that has been made; arrays have a column for each of their numbers.

        Columns: parameters, outputs (or those that are named), ``status``, ``message``, ``warnings`` (how many),
        ``warning`` (the first one), ``seconds``. The index is the number of the run.
        """
        from .exports import frame

        return frame(self._plan.table, *self._chosen(outputs))

    def dataset(self, outputs: Iterable[str] | None = None) -> Dataset:
        """An xarray dataset: grid parameters are coordinates, samples and rows of a table are a dimension each."""
        from .exports import dataset

        return dataset(self._plan.table, *self._chosen(outputs), attributes=self._plan.about)

    def plot(
        self, kind: str | None = None, file: FilePath | None = None, outputs: Iterable[str] | None = None
    ) -> Figure:
        """A figure of the study, written to ``file`` if given.

        Kinds: "lines" (outputs over one parameter), "map" (over a grid of two), "pairs" (all against all), and
        "sensitivities" (rank correlations of outputs and parameters). By default what suits the parameters.
        """
        from .pictures import plot

        results, found = self._chosen(outputs)
        return plot(self._plan.table, results, found, kind, file)

    def compact(self) -> None:
        """Join the files of the store into few; not while another process writes it."""
        if not isinstance(self._source, Memory):
            store = Store(self._source.path, self._plan)
            try:
                store.compact()
            finally:
                store.close()

    # --- text -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        counts = np.bincount(self._look()[0].status, minlength=len(STATUS)).tolist()
        text = ", ".join(f"{n} {name}" for name, n in zip(STATUS, counts, strict=True) if n)
        where = f", in '{self.path}'" if self.path is not None else ""
        return f"<study of {self._plan.about.get('build', '?')}: {len(self)} runs ({text}){where}>"

    def __str__(self) -> str:
        """A summary: parameters, outputs that are numbers, and the first failures."""
        results, found = self._look(None)
        rows = []
        for name, x in {**self.parameters, **found}.items():
            kind = "parameter" if name in self._plan.table.names else "output"
            if x.dtype.kind in "fiu" and x.ndim == 1 and np.isfinite(x).any():
                numbers = [f"{f(x):.6g}" for f in (np.nanmin, np.nanmedian, np.nanmax)]
            else:
                numbers = [f"array {x.shape[1:]}" if x.ndim > 1 else f"{len(np.unique(x))} values", "", ""]
            rows.append([name, kind, *numbers])
        lines = [repr(self)[1:-1], str(Table(["name", "kind", "smallest", "median", "largest"], rows)).rstrip()]
        good = np.flatnonzero(results.status == GOOD)
        for name, x in found.items():
            wrong = good[~np.isfinite(x[good]).reshape(len(good), -1).all(axis=1)] if x.size else good[:0]
            if len(wrong):
                lines.append(
                    f"output '{name}' is not finite in {len(wrong)} of {len(good)} good runs, first in run {wrong[0]}"
                )
        failed = np.flatnonzero((results.status != GOOD) & (results.status != OPEN))
        lines += [
            f"run {run} {STATUS[results.status[run]]}: {results.message.at(run)}" for run in failed[:SHOWN].tolist()
        ]
        if len(failed) > SHOWN:
            lines.append(f"and {len(failed) - SHOWN} more, see study.failed")
        return "\n".join(lines)


def _why_none(shapes: Mapping[str, Any]) -> str:
    return "" if shapes else "; outputs are known when a run has been good (study.failed tells why none is)"
