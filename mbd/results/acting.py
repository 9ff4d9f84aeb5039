"""Inputs that changed during a run: what is computed at a record is computed with those that acted there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import Array, ModelError
from ..system.system import System


class ActingInputs:
    """The inputs at every record, those of the step that ended there."""

    def __init__(self, values: Mapping[str, Array]) -> None:
        self.names = tuple(values)
        self.table = np.column_stack([values[name] for name in self.names])

    def pieces(self) -> Iterator[tuple[slice, dict[str, float]]]:
        """Records between which nothing changed, with the inputs there."""
        changed = np.flatnonzero((np.diff(self.table, axis=0) != 0.0).any(axis=1)) + 1
        ends = [0, *changed.tolist(), len(self.table)]
        for first, last in pairwise(ends):
            if last > first:
                yield slice(first, last), dict(zip(self.names, self.table[first].tolist(), strict=True))

    def _differs(self, name: str, system: System) -> bool:
        """Whether an input was ever another number than the one that the model has in its place."""
        values = self.table[:, self.names.index(name)]
        return bool((values != system.plain_inputs.get(name, values[0])).any())

    def evaluate(self, system: System, call: Callable[[slice], Any]) -> None:
        """Call for all records, piece by piece, while a system has the inputs of the piece."""
        missing = [name for name in self.names if name not in system.values]
        others = [name for name in missing if self._differs(name, system)]
        if others:
            raise ModelError(
                f"input '{others[0]}' changed during this run, and the model of this file has a plain number in its "
                "place; forces, powers and what else depends on it need the model: mbd.load(path, model=model)"
            )
        if missing:
            call(slice(None))
            return
        for piece, values in self.pieces():
            with acting(system, values):
                call(piece)


@contextmanager
def acting(system: System, values: Mapping[str, float]) -> Iterator[None]:
    """Let a system have certain inputs for a while."""
    inputs = system.inputs
    before = {name: inputs[name] for name, value in values.items() if inputs[name] != value}
    for name in before:
        inputs[name] = values[name]
    try:
        yield
    finally:
        for name, value in before.items():
            inputs[name] = value


@contextmanager
def settled(system: System, values: Mapping[str, float]) -> Iterator[None]:
    """``acting`` for whoever reads the model: its elements know the inputs as well, not only the tables."""
    if not values:
        yield
        return
    try:
        with acting(system, values):
            system._following.settle()
            yield
    finally:
        system._following.settle()
