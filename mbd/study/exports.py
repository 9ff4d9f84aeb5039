"""Results of a study as a pandas table or an xarray dataset."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from ..errors import ModelError
from .blocks import OPEN, STATUS
from .parameter_table import ParameterTable
from .results import Results


def needed(package: str, what: str) -> Any:
    """A package of the extra ``study``, or an error that says how to get it."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(f"{what} needs {package}: pip install 'mbd[study]'") from None


def frame(table: ParameterTable, results: Results, outputs: dict[str, np.ndarray]) -> Any:
    """A line for each run that has been made."""
    pandas = needed("pandas", "study.frame()")
    runs = np.flatnonzero(results.status != OPEN)
    columns: dict[str, Any] = {}
    for name, x in [*table.columns(runs).items(), *outputs.items()]:
        for column, numbers in _spread(name, x if len(runs) == len(x) else x[runs]).items():
            if column in columns and not np.array_equal(columns[column], numbers, equal_nan=True):
                raise ModelError(
                    f"study.frame(): two columns would be called '{column}', one of them a number of an array; "
                    "expected other names of outputs, or outputs= with one of them"
                )
            columns[column] = numbers
    columns["status"] = pandas.Categorical.from_codes(results.status[runs], categories=list(STATUS))
    columns["message"] = _texts(results.message, runs)
    columns["warnings"] = results.warned[runs]
    columns["warning"] = _texts(results.warning, runs)
    columns["seconds"] = results.seconds[runs]
    return pandas.DataFrame(columns, index=pandas.Index(runs, name="run"), copy=False)


def _spread(name: str, x: np.ndarray) -> dict[str, np.ndarray]:
    """One column, or one for each number of an array."""
    if x.ndim == 1:
        return {name: x}
    flat = x.reshape(len(x), math.prod(x.shape[1:]))
    places = itertools.product(*(range(n) for n in x.shape[1:]))
    return {f"{name}[{','.join(map(str, at))}]": flat[:, k] for k, at in enumerate(places)}


def _texts(texts: Any, runs: np.ndarray) -> np.ndarray:
    return np.array(texts.texts, dtype=object)[texts.codes[runs]]


def dataset(table: ParameterTable, results: Results, outputs: dict[str, np.ndarray], attributes: dict[str, Any]) -> Any:
    """Outputs over the axes of the parameters."""
    xarray = needed("xarray", "study.dataset()")
    axes, shape = [axis.name for axis in table.axes], table.shape
    taken = {*axes, *table.names, *outputs}  # which names of dimensions must not hide

    def dimensions(name: str, x: np.ndarray) -> list[str]:
        """Names for the axes of an array, behind the first."""
        return [_free(f"{name}_{k}", taken) for k in range(x.ndim - 1)]

    coordinates: dict[str, Any] = {}
    for axis in table.axes:
        if axis.name not in axis.values or axis.values[axis.name].ndim > 1:
            coordinates[axis.name] = np.arange(len(axis))
        for name, x in axis.values.items():
            if x.ndim == 1:
                coordinates[name] = (axis.name, x)
            else:  # vectors along the axis, which is then numbered
                key = _free(f"{name}_value", taken) if name == axis.name else name
                coordinates[key] = ((axis.name, *dimensions(name, x)), x)
    coordinates |= {name: x.item() for name, x in table.constants.items()}
    variables: dict[str, Any] = {}
    for name, x in outputs.items():
        variables[name] = ((*axes, *dimensions(name, x)), x.reshape((*shape, *x.shape[1:])))
    everything = np.arange(len(table))
    variables["status"] = (axes, np.array(STATUS)[results.status].reshape(shape))
    variables["message"] = (axes, _texts(results.message, everything).reshape(shape))
    variables["warnings"] = (axes, results.warned.reshape(shape))
    variables["seconds"] = (axes, results.seconds.reshape(shape))
    known = {name: str(value) for name, value in attributes.items() if value is not None}
    return xarray.Dataset(variables, coordinates, attrs=known)


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken."""
    while name in taken:
        name += "_"
    return name
