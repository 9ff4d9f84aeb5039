"""Results of runs in columns: what workers send, what is written to files, and what is put together again.

Outputs of one name are kept by their shape, since only the whole study knows which shape is the right one: that of the
first good run. Messages are numbers into a list of texts, because a thousand runs fail for the same reason.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

OPEN, GOOD, FAILED, DIED, TIMEOUT = range(5)
STATUS = ("open", "good", "failed", "died", "timeout")
"""What can become of a run; an open one has not been made yet."""

LONGEST_TEXT = 600  # letters


class Row(NamedTuple):
    """The outcome of one run."""

    run: int
    status: int
    seconds: float
    outputs: Mapping[str, np.ndarray] = {}
    message: str = ""
    warned: int = 0  # how many warnings and remarks
    warning: str = ""  # the first one


class Texts(NamedTuple):
    """Texts of many rows: numbers into a list that begins with the empty text."""

    codes: np.ndarray
    texts: list[str]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        known = {"": 0}
        codes = [known.setdefault(shortened(text), len(known)) for text in texts]
        return cls(np.array(codes, dtype=np.int32), list(known))

    def at(self, k: int) -> str:
        """The text of one row."""
        return self.texts[int(self.codes[k])]


class Values(NamedTuple):
    """Outputs of one name and one shape: the places of their rows in the block, and the numbers."""

    name: str
    at: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class Block:
    """Some rows, no run twice."""

    run: np.ndarray
    status: np.ndarray
    seconds: np.ndarray
    warned: np.ndarray
    message: Texts
    warning: Texts
    values: list[Values]

    def __len__(self) -> int:
        return len(self.run)

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Block:
        """Rows as columns."""
        found: dict[tuple[str, tuple[int, ...]], list[int]] = {}
        for k, row in enumerate(rows):
            for name, x in row.outputs.items():
                found.setdefault((name, x.shape), []).append(k)
        values = [
            Values(name, np.array(at, dtype=np.int32), np.stack([rows[k].outputs[name] for k in at]))
            for (name, _), at in found.items()
        ]
        return cls(
            np.array([row.run for row in rows], dtype=np.int64),
            np.array([row.status for row in rows], dtype=np.int8),
            np.array([row.seconds for row in rows], dtype=np.float32),
            np.array([row.warned for row in rows], dtype=np.int32),
            Texts.of([row.message for row in rows]),
            Texts.of([row.warning for row in rows]),
            values,
        )

    def take(self, places: np.ndarray) -> Block:
        """Some of the rows."""
        new = np.full(len(self), -1, dtype=np.int32)
        new[places] = np.arange(len(places), dtype=np.int32)
        values = []
        for name, at, numbers in self.values:
            kept = new[at] >= 0
            if kept.any():
                values.append(Values(name, new[at][kept], numbers[kept]))
        message, warning = (Texts(x.codes[places], x.texts) for x in (self.message, self.warning))
        run, status, seconds, warned = (x[places] for x in (self.run, self.status, self.seconds, self.warned))
        return Block(run, status, seconds, warned, message, warning, values)

    @classmethod
    def joined(cls, blocks: Sequence[Block]) -> Block:
        """All rows; where a run is in several blocks, the last one counts."""
        if len(blocks) == 1:
            return blocks[0]
        starts = np.cumsum([0, *map(len, blocks)])
        parts: dict[tuple[str, tuple[int, ...]], list[tuple[np.ndarray, np.ndarray]]] = {}
        for start, block in zip(starts, blocks, strict=False):
            for name, at, numbers in block.values:
                parts.setdefault((name, numbers.shape[1:]), []).append((at + start, numbers))
        values = [
            Values(
                name, np.concatenate([at for at, _ in found]).astype(np.int32), np.concatenate([x for _, x in found])
            )
            for (name, _), found in parts.items()
        ]
        names = ("run", "status", "seconds", "warned")
        run, status, seconds, warned = (np.concatenate([getattr(block, n) for block in blocks]) for n in names)
        message, warning = (_joined_texts([getattr(block, n) for block in blocks]) for n in ("message", "warning"))
        whole = cls(run, status, seconds, warned, message, warning, values)
        order = np.argsort(whole.run, kind="stable")
        run = whole.run[order]
        last = np.append(run[1:] != run[:-1], True) if len(run) else np.zeros(0, dtype=bool)
        return whole if last.all() else whole.take(np.sort(order[last]))

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Arrays for a file; none of them needs pickle."""
        shapes = json.dumps([[v.name, list(v.numbers.shape[1:])] for v in self.values])
        arrays = {"run": self.run, "status": self.status, "seconds": self.seconds, "warned": self.warned}
        arrays |= {"message": self.message.codes, "messages": np.array(self.message.texts)}
        arrays |= {"warning": self.warning.codes, "warning_texts": np.array(self.warning.texts)}
        arrays["outputs"] = np.array(shapes)
        for k, v in enumerate(self.values):
            arrays |= {f"at{k}": v.at, f"values{k}": v.numbers}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], wanted: Callable[[str], bool] = lambda name: True) -> Block:
        """What ``to_arrays`` made; outputs that are not wanted keep their places and shapes, with no numbers."""
        values = []
        for k, (name, shape) in enumerate(json.loads(str(arrays["outputs"]))):
            at = arrays[f"at{k}"]
            numbers = arrays[f"values{k}"] if wanted(name) else np.broadcast_to(np.nan, (len(at), *shape))
            values.append(Values(name, at, numbers))
        return cls(
            arrays["run"], arrays["status"], arrays["seconds"], arrays["warned"],
            Texts(arrays["message"], arrays["messages"].tolist()),
            Texts(arrays["warning"], arrays["warning_texts"].tolist()),
            values,
        )  # fmt: skip


def _joined_texts(parts: Iterable[Texts]) -> Texts:
    known, codes = {"": 0}, []
    for part in parts:
        new = np.array([known.setdefault(text, len(known)) for text in part.texts], dtype=np.int32)
        codes.append(new[part.codes])
    return Texts(np.concatenate(codes), list(known))


def shortened(text: str) -> str:
    """A text that fits into a table."""
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 4] + " ..."
