"""The parameters of all runs of a study, as axes: lists and samples of which every combination is a run.

Lists of values are an axis each (a grid), or one axis together (``combine="zip"``, rows of a table); all random
parameters share the axis "sample". Run number n belongs to the n-th combination, the last axis fastest. Only the axes
are kept: a grid of a thousand by a thousand is two thousand numbers.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError, bad_value
from .distributions import EDGE, Distribution, as_distribution

SAMPLE, ROW = "sample", "row"
RESERVED = ("run", SAMPLE, ROW, "rng", "status", "message", "warnings", "warning", "seconds")
SAMPLINGS = ("latin", "sobol", "random")

Given = Mapping[str, Any] | Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Axis:
    """Parameters that change together: arrays of one length."""

    name: str
    values: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))


@dataclass(frozen=True)
class ParameterTable:
    """Parameters of all runs; constants are the same in each."""

    axes: tuple[Axis, ...]
    constants: dict[str, np.ndarray]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values along each axis."""
        return tuple(map(len, self.axes))

    def __len__(self) -> int:
        return math.prod(self.shape)

    @property
    def names(self) -> list[str]:
        """All parameters, constants last."""
        return [*(name for axis in self.axes for name in axis.values), *self.constants]

    def columns(self, numbers: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Values of all parameters in these runs, or in all runs."""
        numbers = np.arange(len(self)) if numbers is None else np.asarray(numbers)
        places = np.unravel_index(numbers, self.shape) if self.axes else ()
        found: dict[str, np.ndarray] = {}
        for axis, place in zip(self.axes, places, strict=True):
            found |= {name: values[place] for name, values in axis.values.items()}
        return found | {n: np.broadcast_to(x, (len(numbers), *x.shape)) for n, x in self.constants.items()}

    def rows(self, numbers: np.ndarray) -> list[dict[str, Any]]:
        """Parameters of single runs as Python numbers and texts; vectors are arrays."""
        columns = {n: list(x) if x.ndim > 1 else x.tolist() for n, x in self.columns(numbers).items()}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def digests(self) -> dict[str, str]:
        """What identifies the values of each parameter, and the order of the runs."""
        found = {f"values of parameter '{name}'": _digest(x) for name, x in self._arrays().items()}
        return {"axes of the parameters": " x ".join(f"{axis.name} ({len(axis)})" for axis in self.axes), **found}

    def _arrays(self) -> dict[str, np.ndarray]:
        return {n: x for axis in self.axes for n, x in axis.values.items()} | self.constants

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """A description for JSON, and arrays; ``from_arrays`` makes a table of them."""
        arrays = {f"p{k}": x for k, x in enumerate(self._arrays().values())}
        axes = [[axis.name, list(axis.values)] for axis in self.axes]
        return {"axes": axes, "constants": list(self.constants)}, arrays

    @classmethod
    def from_arrays(cls, description: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> ParameterTable:
        """The table that ``to_arrays`` took apart."""
        names = [name for _, names in description["axes"] for name in names] + description["constants"]
        values = {name: arrays[f"p{k}"] for k, name in enumerate(names)}
        axes = tuple(Axis(axis, {name: values[name] for name in names}) for axis, names in description["axes"])
        return cls(axes, {name: values[name] for name in description["constants"]})


def _digest(x: np.ndarray) -> str:
    words = f"{x.dtype.str} {x.shape} ".encode() + np.ascontiguousarray(x).tobytes()
    return f"{x.dtype.name} {x.shape} {hashlib.blake2b(words, digest_size=8).hexdigest()}"


def parameter_table(
    given: Given, samples: int | None, sampling: str | None, combine: str | None, seed: int
) -> ParameterTable:
    """The table of what people give to ``sweep``."""
    values, is_table = _by_name(given)
    if combine is None:
        combine = "zip" if is_table else "product"
    if combine not in ("product", "zip") or (is_table and combine != "zip"):
        raise ModelError(
            f"sweep: combine = {combine!r}; expected 'product' (every combination) or 'zip' (values of equal place)"
            + (", and of a table its rows: 'zip'" if is_table else "")
        )
    random, lists, constants = _sorted_out(values)
    axes = [Axis(name, {name: x}) for name, x in lists.items()] if combine == "product" else _zipped(lists)
    if random:
        axes.append(Axis(SAMPLE, _samples(random, samples, sampling or "latin", seed)))
    elif samples is not None or sampling is not None:
        raise ModelError(
            f"sweep: samples = {samples}, sampling = {sampling!r}, but no parameter is random; expected a distribution "
            "such as mbd.study.normal(1.0, 0.1) or mbd.study.uniform(0.0, 1.0) for at least one of them"
        )
    return ParameterTable(tuple(axes), constants)


def _by_name(given: Given) -> tuple[dict[str, Any], bool]:
    """Values by name, and whether they came as a table: a data frame, or a list of dictionaries."""
    table = True
    if hasattr(given, "columns") and hasattr(given, "to_dict"):
        names = [str(name) for name in given.columns]
        twice = [name for k, name in enumerate(names) if name in names[:k]]
        if twice:
            raise ModelError(
                f"sweep: two columns of the table are called '{twice[0]}'; expected one for each parameter"
            )
        values = {str(name): given[name].to_numpy() for name in given.columns}  # type: ignore[index]
        values = {name: x.tolist() if x.dtype.kind == "O" else x for name, x in values.items()}  # texts
    elif isinstance(given, Mapping):
        values, table = dict(given), False
    else:
        rows = list(given) if isinstance(given, Iterable) else []
        if not rows or not all(isinstance(row, Mapping) and row.keys() == rows[0].keys() for row in rows):
            raise ModelError(
                "sweep: expected parameters as a dictionary of names and values, a data frame, or a list of "
                "dictionaries with the same names"
            )
        values = {name: [row[name] for row in rows] for name in rows[0]}
    if not values:
        raise ModelError("sweep: there are no parameters; expected e.g. {'length': [0.5, 1.0, 2.0]}")
    for name in values:
        if not isinstance(name, str) or not _is_name(name) or name in RESERVED:
            raise ModelError(
                f"sweep: a parameter is called {name!r}; expected the name of an argument of build, and not one of "
                + ", ".join(RESERVED)
            )
    return values, table


def _is_name(name: str) -> bool:
    """The name of an argument, or of an attribute of an element, which may have blanks in its name."""
    return name.replace(" ", "").replace(".", "").isidentifier() if "." in name else name.isidentifier()


def _sorted_out(
    values: dict[str, Any],
) -> tuple[dict[str, Distribution], dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Random parameters, lists and constants."""
    random: dict[str, Distribution] = {}
    lists: dict[str, np.ndarray] = {}
    constants: dict[str, np.ndarray] = {}
    for name, value in values.items():
        distribution = as_distribution(value, name)
        if distribution is not None:
            random[name] = distribution
            continue
        expected = "a number, a text, a list of them, rows of an array, or a distribution"
        try:
            array = np.asarray(value) if not isinstance(value, str) else np.array(value)
        except ValueError:  # rows of unequal length
            array = np.zeros(0)
        if array.dtype.kind not in "fiubU" or array.size == 0 or np.ma.is_masked(value):
            hint = "; for other things give names, and let build look them up in a dictionary"
            raise bad_value("sweep", f"parameter '{name}'", value, expected + hint)
        if isinstance(value, list | tuple) and array.dtype.kind == "U" and not all(isinstance(x, str) for x in value):
            raise bad_value("sweep", f"parameter '{name}'", value, "numbers or texts, not both")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise bad_value("sweep", f"parameter '{name}'", value, "finite numbers")
        array = array.astype(float) if array.dtype.kind == "f" else array.copy()
        array.setflags(write=False)
        (lists if array.ndim else constants)[name] = array
    return random, lists, constants


def _zipped(lists: dict[str, np.ndarray]) -> list[Axis]:
    lengths = {name: len(x) for name, x in lists.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"'{name}' has {n}" for name, n in lengths.items())
        raise ModelError(f"sweep: values that belong together must be as many; {text}")
    return [Axis(ROW, lists)] if lists else []


def _samples(random: dict[str, Distribution], count: int | None, sampling: str, seed: int) -> dict[str, np.ndarray]:
    """Values of the random parameters; those of one do not depend on which others there are, but for Sobol points."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        names = ", ".join(f"'{name}'" for name in random)
        raise ModelError(
            f"sweep: samples = {count!r}; expected how many values to draw of the random parameters {names}"
        )
    if sampling not in SAMPLINGS:
        raise ModelError(f"sweep: sampling = {sampling!r}; expected one of {', '.join(map(repr, SAMPLINGS))}")
    count = int(count)
    unit = _sobol(len(random), count, seed) if sampling == "sobol" else None
    found = {}
    for k, (name, distribution) in enumerate(random.items()):
        key = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
        rng = np.random.default_rng([seed, key])
        if unit is not None:
            p = unit[:, k]
        elif sampling == "latin":  # one value in each of the intervals of equal probability, in random order
            p = (rng.permutation(count) + rng.random(count)) / count
        else:
            p = rng.random(count) + EDGE
        values = np.asarray(distribution.quantile(p))
        if values.shape != (count,) or values.dtype.kind not in "fiubU":
            raise ModelError(f"sweep: parameter '{name}' is {distribution}, whose quantiles are no numbers or texts")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ModelError(f"sweep: parameter '{name}' is {distribution}, of which some samples are not finite")
        values.setflags(write=False)
        found[name] = values
    return found


def _sobol(dimension: int, count: int, seed: int) -> np.ndarray:
    import inspect

    from scipy.stats import qmc

    if count & (count - 1):
        near = 2 ** int(math.log2(count))
        raise ModelError(
            f"sweep: samples = {count}; Sobol points are balanced in powers of two only: expected {near} or {2 * near}"
        )
    word = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"
    return qmc.Sobol(dimension, scramble=True, **{word: np.random.default_rng(seed)}).random(count)
