"""First guesses from the past: what earlier steps, or stages of a composition that were as long, have found.

What a step adds to uniform motion, and its multipliers, are smooth functions of its time and its length. Of plain steps
the polynomial through the last values is continued. Of a composition those stages belong together that are equally
long: the polynomial goes through the values of the nearest of them, at the times where they began, in this step and in
the ones before it.
"""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

import numpy as np

from ..compiled.kernel import kernel
from .base import Array
from .fixed_step import Equations

EQUAL = 1e-12  # lengths of stages, as parts of a step


@kernel
def known_steps(x, p):
    """Steps, or whole steps of a composition, that are remembered or overwritten since."""
    return x.rounds if p.parts > 0 else p.history


@kernel
def _guess(x, p):
    """Row of the weights for the present step."""
    depth = x.weights.shape[1]
    return x.part * (depth + 1) + min(known_steps(x, p), depth)


@kernel
def has_past(x, p):
    """Whether there is something to extrapolate from."""
    weights, known = x.weights[_guess(x, p)], False
    for j in range(weights.shape[0]):
        known = known or weights[j] != 0.0
    return known


@kernel
def extrapolate(x, p, past, out):
    """out += remembered values with their weights."""
    depth, n, e = x.weights.shape[1], known_steps(x, p), _guess(x, p)
    for j in range(depth):
        c = x.weights[e, j]
        if c != 0.0:
            i = e * depth + j
            last = past[depth * x.sources[i] + (n - x.back[i]) % depth]
            for k in range(out.shape[0]):
                out[k] += c * last[k]


@kernel
def remembered_row(x, p):
    """Row of the past that the present step fills."""
    depth = x.weights.shape[1]
    return depth * x.part + known_steps(x, p) % depth


@kernel
def next_stage(x, p):
    """After a step: the stage that follows, where the method is composed."""
    if p.parts > 0:
        x.part += 1
        if x.part == p.parts:
            x.part = 0
            x.rounds += 1


@kernel
def forget_stages(x):
    """Begin anew with the first stage."""
    x.part, x.rounds = 0, 0


def guess_tables(depth: int, lengths: Array | None = None, begins: Array | None = None) -> dict[str, Array]:
    """Weights, and the stages and rounds where values are found, by stage and number of known rounds."""
    lengths, begins = (np.ones(1), np.zeros(1)) if lengths is None or begins is None else (lengths, begins)
    stages = len(lengths)
    weights = np.zeros((stages * (depth + 1), depth))
    sources, back = np.zeros((2, *weights.shape), dtype=np.int64)
    for k in range(stages):
        alike = [j for j in range(stages) if abs(lengths[j] - lengths[k]) < EQUAL]
        for n in range(depth + 1):
            found = [(j, r) for j in alike for r in range(0 if j < k else 1, min(n, depth - (j < k)) + 1)]
            ages = {place: begins[k] - begins[place[0]] + place[1] for place in found}
            nearest = sorted(found, key=lambda place: abs(ages[place]))[:depth]
            e = k * (depth + 1) + n
            for j, place in enumerate(nearest):
                others = [ages[other] for other in nearest if other != place]
                weights[e, j] = prod(others) / prod(age - ages[place] for age in others)
                sources[e, j], back[e, j] = place
    return {"weights": weights, "sources": sources.ravel(), "back": back.ravel()}


class EquationsWithPast(Equations):
    """Equations whose state ``x`` has ``weights``, ``sources``, ``back``, ``part``, ``rounds`` and a past."""

    past: ClassVar[tuple[str, ...]]
    """Arrays of ``x`` with remembered values, (depth, ...) for every stage."""
    depth: ClassVar[int]
    """Values of every stage of a composition; more would continue what is left of Newton's errors."""
    memory = (*Equations.memory, "rounds")

    def compose(self, parts: int) -> None:
        p = self.numbers
        self._change(self.depth * parts, guess_tables(self.depth, p.lengths[:parts], p.begins[:parts]))

    def restore(self, state: dict[str, Any]) -> None:
        self._change(len(state[self.past[0]]), {})
        super().restore(state)

    def _change(self, rows: int, tables: dict[str, Array]) -> None:
        """Other tables, and room for so many values; what is remembered stays where it has room already."""
        x: Any = self.x
        if len(getattr(x, self.past[0])) != rows:
            x.rounds = 0
            tables = tables | {name: np.zeros((rows, getattr(x, name).shape[1])) for name in self.past}
        if tables:
            self.x = x.changed(**tables)
            self.connect()
