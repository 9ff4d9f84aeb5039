"""The results of a whole study, by run: columns of all outputs, put together from blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .blocks import FAILED, GOOD, Block, Texts, Values

Source = Callable[[Callable[[str], bool]], Iterator[Block]]
"""Gives all blocks in the order in which they were written, with the numbers of the outputs that are wanted."""


@dataclass(frozen=True)
class Results:
    """What is known of all runs: arrays as long as the study, in which open runs have the status 0."""

    status: np.ndarray
    seconds: np.ndarray
    warned: np.ndarray
    message: Texts
    warning: Texts
    shapes: dict[str, tuple[int, ...]]  # of the outputs
    owner: np.ndarray  # which block holds a run

    def outputs(self, source: Source, names: list[str]) -> dict[str, np.ndarray]:
        """Outputs of all runs; NaN where there is none."""
        found: dict[str, np.ndarray] = {}
        good = self.status == GOOD
        for name in names:
            parts = []
            for k, block in enumerate(source(lambda wanted, name=name: wanted == name)):  # type: ignore[misc]
                for value in self._right(block.values):
                    if value.name == name:
                        run = block.run[value.at]
                        kept = (self.owner[run] == k) & good[run]
                        parts.append((run[kept], value.numbers[kept]))
            kinds = [x.dtype for _, x in parts] or [np.dtype(float)]
            kind = np.result_type(*kinds)
            if not good.all() and kind.kind in "iub":
                kind = np.dtype(float)  # which knows what is missing
            column = np.full((len(good), *self.shapes[name]), np.nan if kind.kind in "fc" else 0, dtype=kind)
            for run, numbers in parts:
                column[run] = numbers
            found[name] = column
        return found

    def _right(self, values: list[Values]) -> list[Values]:
        return [v for v in values if self.shapes.get(v.name) == v.numbers.shape[1:]]


class _TextColumn:
    """Texts of all runs, from those of blocks."""

    def __init__(self, count: int) -> None:
        self.codes, self.known = np.zeros(count, dtype=np.int32), {"": 0}

    def put(self, run: np.ndarray, texts: Texts) -> None:
        new = np.array([self.known.setdefault(text, len(self.known)) for text in texts.texts], dtype=np.int32)
        self.codes[run] = new[texts.codes]

    def texts(self) -> Texts:
        return Texts(self.codes, list(self.known))


def gathered(source: Source, count: int) -> Results:
    """Everything but the numbers of the outputs; runs whose outputs have other shapes than the first good one fail."""
    status, warned = np.zeros(count, dtype=np.int8), np.zeros(count, dtype=np.int32)
    seconds, owner = np.full(count, np.nan, dtype=np.float32), np.full(count, -1, dtype=np.int32)
    messages, warnings = _TextColumn(count), _TextColumn(count)
    seen: list[tuple[np.ndarray, list[Values]]] = []
    for k, block in enumerate(source(lambda name: False)):
        run = block.run
        status[run], seconds[run], warned[run], owner[run] = block.status, block.seconds, block.warned, k
        messages.put(run, block.message)
        warnings.put(run, block.warning)
        seen.append((run, block.values))
    shapes, message = _reference(status, owner, seen), messages.texts()
    _refuse_other_shapes(status, owner, seen, shapes, message)
    return Results(status, seconds, warned, message, warnings.texts(), shapes, owner)


def _reference(
    status: np.ndarray, owner: np.ndarray, seen: list[tuple[np.ndarray, list[Values]]]
) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the outputs of the first good run."""
    good = np.flatnonzero(status == GOOD)
    if not len(good):
        return {}
    run, values = seen[owner[good[0]]]
    place = int(np.flatnonzero(run == good[0])[-1])
    return {v.name: v.numbers.shape[1:] for v in values if place in v.at}


def _refuse_other_shapes(
    status: np.ndarray, owner: np.ndarray, seen: list[tuple[np.ndarray, list[Values]]],
    shapes: dict[str, tuple[int, ...]], message: Texts,
) -> None:  # fmt: skip
    """Runs whose outputs are not those of the first good run become failed ones, which say so."""
    right, first = np.zeros(len(status), dtype=np.int32), int(np.argmax(status == GOOD))
    wrong: dict[int, str] = {}
    for k, (run, values) in enumerate(seen):
        for value in values:
            runs = run[value.at]
            runs = runs[(owner[runs] == k) & (status[runs] == GOOD)]
            shape = value.numbers.shape[1:]
            if shapes.get(value.name) == shape:
                right[runs] += 1
            elif len(runs):
                has = f"shape {shapes[value.name]}" if value.name in shapes else "no such output"
                text = f"output '{value.name}' has shape {shape}; run {first} has {has}"
                wrong |= dict.fromkeys(runs.tolist(), text)
    for run_number in np.flatnonzero((status == GOOD) & (right < len(shapes))).tolist():
        if run_number not in wrong:
            wrong[run_number] = f"an output is missing; run {first} has {', '.join(map(repr, shapes))}"
    known = {text: code for code, text in enumerate(message.texts)}
    for run_number, text in wrong.items():
        if text not in known:
            known[text] = len(known)
            message.texts.append(text)
        status[run_number], message.codes[run_number] = FAILED, known[text]
