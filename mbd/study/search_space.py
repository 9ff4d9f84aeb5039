"""Unknown parameters of an optimisation, their bounds and sizes, and the runs at points of this space."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import CODE, Array, ModelError, ModelWarning, StudyError
from ..io.progress import Progress
from .blocks import GOOD, STATUS, Block
from .engines import engine_for
from .parcels import Parcel
from .runs import Recipe, check_arguments
from .schedule import Schedule

STEP = 1e-4  # of the size of a parameter: differences; runs are reproducible to about 1e-10
SMALL = 1e-3  # of the width between bounds: smaller values say little about the size of a parameter
FINER, FINEST = 0.1, 1e-8  # steps of differences where that size is not known: from one to the next, and the last one
COARSER, COARSEST = 1e3, 1e15  # and the other way, where neither a value nor bounds tell a size
VISIBLE = 1e-7  # of outputs: what changes them less, by differences, may be much larger
AGREE = 1e-4  # relative: differences with two steps that follow each other
REMEMBERED = 5000  # points


@dataclass(frozen=True)
class Space:
    """Names, start, bounds and sizes of the unknowns; optimisers see them divided by their sizes."""

    names: tuple[str, ...]
    start: Array
    low: Array
    high: Array
    unit: float | Array = 1.0  # of what starts at zero without bounds

    @property
    def bounded(self) -> bool:
        """Whether every unknown has two bounds."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())

    @property
    def size(self) -> Array:
        """How large unknowns are, at the start: what cannot change its sign is as large as the start says."""
        one_sided = ((self.low >= 0.0) | (self.high <= 0.0)) & (self.start != 0.0)
        return np.where(one_sided, np.abs(self.start), self.sizes(self.start))

    def sizes(self, x: Array) -> Array:
        """How large unknowns are near a point: their values, or part of the width between bounds where these vanish."""
        width = np.where(np.isfinite(self.high - self.low), self.high - self.low, 0.0)
        instead = np.where(width > 0.0, 10.0 * SMALL * width, self.unit)
        return np.where((np.abs(x) > SMALL * width) & (x != 0.0), np.abs(x), instead)

    def named(self, x: Array) -> dict[str, float]:
        """A point by the names of its coordinates."""
        return dict(zip(self.names, np.asarray(x, dtype=float).tolist(), strict=True))

    def starts(self, count: int, seed: int) -> Array:
        """The start, and points of a Latin hypercube between the bounds."""
        if count > 1 and not self.bounded:
            open_ones = [n for n, a, b in zip(self.names, self.low, self.high, strict=True) if not np.isfinite(b - a)]
            raise ModelError(
                f"starts = {count}; other starts are chosen between bounds, and '{open_ones[0]}' has none: expected "
                "(low, high) or (low, start, high)"
            )
        rng, points = np.random.default_rng(seed), [self.start]
        if count > 1:
            n = count - 1
            unit = (
                rng.permuted(np.tile(np.arange(n), (len(self.names), 1)), axis=1).T + rng.random((n, len(self.names)))
            ) / n
            points += list(self.low + unit * (self.high - self.low))
        return np.array(points)


def space_of(parameters: Mapping[str, Any], who: str) -> Space:
    """Unknowns from what people give: a start, (low, high), or (low, start, high)."""
    if not isinstance(parameters, Mapping) or not parameters:
        raise ModelError(
            f"{who}: parameters = {parameters!r}; expected a dictionary such as {{'stiffness': (1e3, 1e5)}}"
        )
    start, low, high = [], [], []
    for name, value in parameters.items():
        numbers = np.atleast_1d(np.asarray(value, dtype=object))
        try:
            given = [float(x + 0.0) for x in numbers]
        except (TypeError, ValueError):
            given = []
        if len(given) == 1 and np.isfinite(given[0]):
            a, x, b = -np.inf, given[0], np.inf
        elif len(given) == 2 and given[0] < given[1] and np.isfinite(given).all():
            a, x, b = given[0], 0.5 * (given[0] + given[1]), given[1]
        elif len(given) == 3 and given[0] <= given[1] <= given[2] and given[0] < given[2] and np.isfinite(given[1]):
            a, x, b = given
        else:
            raise ModelError(
                f"{who}: parameter '{name}' = {value!r}; expected a start, (low, high) or (low, start, high), ascending"
            )
        start.append(x)
        low.append(a)
        high.append(b)
    return Space(tuple(parameters), np.array(start), np.array(low), np.array(high))


class Evaluator:
    """One output at points of a space, through any engine; every point is computed once."""

    def __init__(
        self, recipe: Recipe, space: Space, output: str, executor: Any, fixed: Mapping[str, Any], who: str,
        progress: bool | None, derivatives: bool = False,
    ) -> None:  # fmt: skip
        twice = [name for name in fixed if name in space.names]
        if twice:
            raise ModelError(f"{who}: '{twice[0]}' is in parameters and in fixed; expected it in one of them")
        check_arguments(recipe, [*space.names, *fixed], who)
        self.recipe, self.space, self.output, self.fixed, self.who = recipe, space, output, dict(fixed), who
        self.derivatives = derivatives  # whether outputs are followed by their derivatives
        self.slopes: dict[bytes, Array] = {}
        self.shape: tuple[int, ...] | None = None  # of the output
        self.stopped: StudyError | None = None  # the last search that could not go on
        self.parcel = Parcel(recipe)
        self.engine = engine_for(executor, self.parcel)
        self.schedule = Schedule(self.engine, self._rows, self._keep)
        self.bar = Progress(0, 1, progress, who)
        self.known: dict[bytes, Array | str] = {}
        self.evaluations, self.failures, self.warned = 0, 0, 0
        self.first_failure = self.first_warning = ""
        self._points: dict[int, Array] = {}
        self._best = np.inf

    def __enter__(self) -> Evaluator:
        self.bar.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.engine.close()
        self.bar.__exit__(*error)

    def _rows(self, runs: np.ndarray) -> list[dict[str, Any]]:
        return [{**self.fixed, **self.space.named(self._points[run])} for run in runs.tolist()]

    def _keep(self, block: Block) -> None:
        numbers = {int(k): v.numbers[i] for v in block.values if v.name == self.output for i, k in enumerate(v.at)}
        for k, run in enumerate(block.run.tolist()):
            point = self._points.pop(run)
            if block.status[k] == GOOD and np.isfinite(numbers[k]).all():
                if np.iscomplexobj(numbers[k]):
                    raise ModelError(f"{self.who}: output '{self.output}' is complex; expected real numbers")
                found = np.asarray(numbers[k], dtype=float)
                self.shape = found.shape if self.shape is None else self.shape
                if found.shape != self.shape:
                    self._lost(point, f"output '{self.output}' has shape {found.shape}; the first one has {self.shape}")
                    continue
                if self.derivatives:
                    self.slopes[point.tobytes()], found = np.moveaxis(found[1:], 0, -1), found[0]
                self.known[point.tobytes()] = found
            else:
                message = block.message.at(k)
                status = f"{STATUS[block.status[k]]}: " if message else ""
                self._lost(point, message or f"output '{self.output}' is not finite", status)
            if block.warned[k]:
                self.warned += 1
                self.first_warning = self.first_warning or f"{self.at(point)}: {block.warning.at(k)}"

    def _lost(self, point: Array, reason: str, status: str = "") -> None:
        self.known[point.tobytes()] = status + reason
        self.failures += 1
        self.first_failure = self.first_failure or f"{self.at(point)}: {reason}"

    def at(self, point: Array) -> str:
        """A point as people read it."""
        return ", ".join(f"{name} = {x:.6g}" for name, x in self.space.named(point).items())

    def __call__(self, points: Sequence[Array] | Array) -> list[Array | str]:
        """Outputs at all points, or why there is none."""
        points = [np.ascontiguousarray(point, dtype=float) for point in points]
        new = {point.tobytes(): point for point in points if point.tobytes() not in self.known}
        if new:
            if len(self.known) > REMEMBERED:
                self.known, self.slopes = {}, {}
                new = {point.tobytes(): point for point in points}
            runs = np.arange(self.evaluations, self.evaluations + len(new))
            self._points = dict(zip(runs.tolist(), new.values(), strict=True))
            self.evaluations += len(new)
            self.schedule.run(runs)
        return [self.known[point.tobytes()] for point in points]

    def sized(self) -> Space:
        """The space with units of what starts at zero without bounds: as large as it takes until outputs change."""
        space, start = self.space, np.asarray(self.space.start)
        unknown = np.flatnonzero((start == 0.0) & ~np.isfinite(space.high - space.low))
        if len(unknown) and not isinstance(base := self.one(start), str):
            units = np.ones(len(start))
            for k in unknown.tolist():
                unit, seen = 1.0, VISIBLE * float(np.linalg.norm(base))
                while unit <= COARSEST:
                    h = STEP * unit
                    slope = self.jacobian(start)[..., k] if self.derivatives else self._differences(start, {k: h})[k]
                    if slope is None:
                        break
                    if h * float(np.linalg.norm(slope)) > seen:
                        units[k] = unit
                        break
                    unit *= COARSER
            self.space = replace(space, unit=units)
        return self.space

    def one(self, point: Array) -> Array | str:
        """The output at one point."""
        return self([point])[0]

    def no_result(self, text: str) -> StudyError:
        """The error of a search that cannot go on from a point; others may."""
        self.stopped = StudyError(text)
        return self.stopped

    def from_all(self, starts: Sequence[Any] | Array, search: Callable[[Any], Any]) -> list[Any]:
        """Searches from several starts; those that cannot go on are left out and told, and an error only if all are."""
        found, lost = [], []
        for start in starts:
            try:
                found.append(search(start))
            except StudyError as error:
                if error is not self.stopped:
                    raise
                lost.append(error)
        if lost and not found:
            raise lost[0]
        if lost:
            text = CODE.sub("", f"{len(lost)} of {len(starts)} starts came to no end; the first: {lost[0]}")
            warnings.warn(f"{self.who}: {text}", ModelWarning, stacklevel=4)
        return found

    def needed(self, point: Array) -> Array:
        """The output at a point where there must be one."""
        found = self.one(point)
        if isinstance(found, str):
            raise self.no_result(f"{self.who}: no result at {self.at(point)}: {found}")
        return found

    def tell(self, value: float) -> None:
        """Progress: the best value so far."""
        self._best = min(self._best, value)
        self.bar.update(0, f"{self.evaluations} runs, best {self._best:.6g}")

    def jacobian(self, x: Array) -> Array:
        """Derivatives with respect to the unknowns, (shape of the output, unknowns), by differences of second order.

        All points are computed together. At a bound, or where a run fails, differences go to the other side. Where runs
        give derivatives themselves, these are taken.
        """
        if self.derivatives:
            self.needed(x)
            return self.slopes[np.ascontiguousarray(x, dtype=float).tobytes()]
        slopes = [_Slope(size, abs(value)) for size, value in zip(self.space.sizes(x), x, strict=True)]
        while asked := [k for k, slope in enumerate(slopes) if not slope.settled]:
            found = self._differences(x, {k: STEP * slopes[k].size for k in asked})
            for k, column in found.items():
                slopes[k].add(column)
        columns = []
        for k, slope in enumerate(slopes):
            if slope.best is None:
                point = self._neighbours(x, k, STEP * slope.last_size)[1][0]
                raise self.no_result(
                    f"{self.who}: no result on both sides of a point, for differences, at {self.at(point)}: "
                    f"{self.one(point)}"
                )
            columns.append(slope.best)
        return np.stack(columns, axis=-1)

    def _neighbours(self, x: Array, k: int, h: float) -> tuple[tuple[float, float], list[Array]]:
        """Two points along an unknown, on both sides of x or inside of a bound, and how many steps they are away."""
        both = x[k] - h >= self.space.low[k] and x[k] + h <= self.space.high[k]
        inward = -1.0 if x[k] + 2.0 * h > self.space.high[k] else 1.0
        offsets = (-1.0, 1.0) if both else (inward, 2.0 * inward)
        return offsets, [x + s * h * np.eye(len(x))[k] for s in offsets]

    def _differences(self, x: Array, steps: Mapping[int, float]) -> dict[int, Array | None]:
        """Derivatives along some unknowns, None where runs on both sides have no result; all points together."""
        near = {k: self._neighbours(x, k, h) for k, h in steps.items()}
        base, *found = self([x, *(point for _, points in near.values() for point in points)])
        if isinstance(base, str):
            raise self.no_result(f"{self.who}: no result at {self.at(x)}: {base}")
        pairs = zip(near, found[::2], found[1::2], strict=True)
        return {k: _difference(base, near[k][0], first, second, steps[k]) for k, first, second in pairs}


class _Slope:
    """Derivatives along one unknown with steps that become finer, until it is known how large the unknown is.

    A width between bounds may be a million times as large as a value that changes everything. Wide steps have the
    smaller errors of round-off, fine ones of curvature: the best are those that agree with the next.
    """

    def __init__(self, size: float, value: float) -> None:
        self.size = self.last_size = size
        self.least = min(size, value) if value else FINEST * size
        self.best: Array | None = None
        self.last: Array | None = None
        self.apart, self.settled = np.inf, False

    def add(self, found: Array | None) -> None:
        """What was found with a step; None: there was no result."""
        finest = self.size <= self.least
        if self.best is None or found is None:
            self.best = found if self.best is None else self.best
        else:
            assert self.last is not None
            apart = float(np.linalg.norm(found - self.last))
            if apart < self.apart:
                self.best, self.apart = found if finest else self.last, apart
        self.last = found if found is not None else self.last
        agreed = self.last is not None and self.apart <= AGREE * float(np.linalg.norm(self.last))
        self.settled, self.last_size = finest or agreed, self.size
        self.size = max(FINER * self.size, self.least)


def _difference(
    base: Array, offsets: tuple[float, float], first: Array | str, second: Array | str, h: float
) -> Array | None:
    """The derivative from results at two points; a text in the place of one says that there is none."""
    a, b = offsets
    if not isinstance(first, str) and not isinstance(second, str):
        if a == -b:
            return (second - first) / (2.0 * h)
        return (4.0 * first - second - 3.0 * base) / (2.0 * a * h)
    if not isinstance(first, str):
        return (first - base) / (a * h)
    if not isinstance(second, str):
        return (second - base) / (b * h)
    return None
