"""Numbers of a system that have no slope with respect to a parameter, because they jump there or have a kink."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..system.snapshots import LEFT_OUT, Snapshots

Array = np.ndarray
EVEN = 2e-9  # third differences that are larger, relative to first ones: slopes are wrong by five times as much
BENT = 1e-3  # of those that no smaller size makes smaller: there is no slope
ORDER = 1.5  # of sizes with which differences fall at least where numbers are smooth; at a kink it is one
NOISE = 1e3 * float(np.finfo(float).eps)  # of the numbers beside, of which a number may be computed
LOST = 64.0 * float(np.finfo(float).eps)  # of them: smaller differences tell nothing
BETWEEN = 11.0 / 16.0  # of the size: where numbers are looked at besides; no simple part, which a period may have
FAR = 1e-3  # of the numbers beside
LEAST = 1e-290  # integers among the numbers look smaller


class Places(NamedTuple):
    """Numbers at a parameter, on both sides of it, and ``BETWEEN``."""

    here: Array
    plus: Array
    minus: Array
    between: Array


class Numbers:
    """The numbers of a system that follow its parameters: those of its tables, and where bodies start."""

    def __init__(self, snapshots: Snapshots) -> None:
        self.snapshots, self.system = snapshots, snapshots.system
        self.count, self.starts = len(snapshots.numbers()), self._starts()

    def now(self, tables: Array | None = None, alike: bool | None = None) -> Array:
        """All of them at present; positions and rotations of bodies rather than their coordinates, which may jump.

        ``tables`` are those of the tables, and ``alike`` is whether bodies start as they did, for whoever knows.
        """
        tables = self.snapshots.numbers() if tables is None else tables[: self.count]
        alike = self.snapshots.start_alike() if alike is None else alike
        return np.concatenate([tables, self.starts if alike else self._starts()])

    def _starts(self) -> Array:
        return np.concatenate([np.zeros(0), *map(_start_of, self.system.model.bodies)])

    def far(self, at: Places) -> bool:
        """Whether numbers change so much that what depends on them may bend although they do not."""
        return bool((distances(at.plus, at.minus) > FAR * self._scales(at.here)).any())

    def uneven(self, at: Places, suspects: Array | None = None) -> Array:
        """Which numbers, or which of these, do not change as a parabola does, whose central differences are exact."""
        rest = _rest(at)
        found = rest > np.maximum(EVEN * distances(at.plus, at.minus), LEAST)
        if suspects is not None:
            return suspects[found[suspects]]
        places = np.flatnonzero(found)
        return places[rest[places] > NOISE * self._scales(at.here)[places]] if len(places) else places

    def lost(self, at: Places, suspects: Array) -> Array:
        """Which of these change by hardly more than their round-off."""
        size = np.maximum(_rest(at), distances(at.plus, at.minus))[suspects]
        return np.asarray(suspects[size < LOST * self._scales(at.here)[suspects]])

    def jumped(self, first: Places, last: Places, suspects: Array, part: float) -> str | None:
        """Whose numbers these are, if one has no slope: ``last`` are so much nearer to the middle than ``first``."""
        before, rest = _rest(first)[suspects], _rest(last)[suspects]
        change = distances(last.plus, last.minus)[suspects]
        found = suspects[(rest > BENT * change) & (rest > part**ORDER * before)]
        return self._owner(int(found[0])) if len(found) else None

    def _rows(self) -> list[tuple[str, Any, int, int]]:
        """Name of the table, the table itself, and length and number of its rows."""
        found = []
        for part in self.snapshots.parts:
            for name, table, words, _ in part.arrays:
                if name not in LEFT_OUT:
                    width = table.dtype.itemsize // 8 if table.dtype.names else len(words)
                    found.append((name, table, width, len(words) // width))
        return found

    def _scales(self, here: Array) -> Array:
        """The largest number in the row of each; what follows them is one row."""
        scales, first, sizes = np.empty(len(here)), 0, distances(here, np.zeros(len(here)))
        blocks = [(width, count) for _, _, width, count in self._rows()]
        blocks += [(len(_start_of(body)), 1) for body in self.system.model.bodies]
        blocks.append((len(here) - sum(width * count for width, count in blocks), 1))
        for width, count in blocks:
            block = sizes[first : first + width * count].reshape(count, width)
            scales[first : first + width * count] = np.repeat(block.max(axis=1, initial=0.0), width)
            first += width * count
        return scales

    def _owner(self, index: int) -> str:
        """The element to which a number belongs."""
        model, a = self.system.model, self.system.assembly
        for name, table, width, count in self._rows():
            row, index = index // width, index - width * count
            if index >= 0:
                continue
            if name in ("nodes", "carried"):
                return str(next((x for x in model.bodies if a.node_of[id(x)] == row), model.ground))
            if name in ("primitives", "couplings"):
                return str(model.joints[int(table.joint[row])])
            if name == "forces" and table is self.system.tables.forces:
                pairs = zip(model.forces, a.force_rows, strict=True)
                return str(next(x for x, rows in pairs if rows.start <= row < rows.stop))
            return "gravity" if name == "gravity" else repr(model)
        for body in model.bodies:
            index -= len(_start_of(body))
            if index < 0:
                return str(body)
        return repr(model)


def _start_of(body: Any) -> Array:
    node = vars(body.start_node())
    names = ("position", "rotation", "velocity", "angular_velocity", "coordinates", "velocities")
    return np.concatenate([np.zeros(0), *(np.ravel(node[name]) for name in names if name in node)])


def distances(plus: Array, minus: Array) -> Array:
    """How far numbers are from each other, as far as they are finite; integers among them look like anything."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.abs(plus - minus)
    found[~(found < np.inf)] = 0.0
    return found


def _rest(at: Places) -> Array:
    """What a parabola through three places leaves of the numbers at the fourth."""
    with np.errstate(invalid="ignore", over="ignore"):
        slope, bend = 0.5 * (at.plus - at.minus), 0.5 * ((at.plus - at.here) - (at.here - at.minus))
        return distances(at.between - at.here, BETWEEN * slope + BETWEEN**2 * bend)
