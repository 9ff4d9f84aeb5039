"""Chosen quantities of a run, in place of all coordinates: ``simulate(..., record=["tip.position"])``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from operator import itemgetter
from typing import Any

import numpy as np

from ..elements.arguments import FilePath
from ..elements.suggestions import counted
from ..errors import Array, MissingQuantity, ModelError, read_only
from ..io.channel_store import ChannelStore
from .channels import Channel
from .solution import Solution, named_rows
from .tabular import Tabular, chosen_channels
from .turns import unknown


class ChosenChannels(Mapping[str, Channel]):
    """The channels that were recorded, by name."""

    def __init__(self, channels: list[Channel]) -> None:
        self._known = {channel.name: replace(channel, read=itemgetter(channel.name)) for channel in channels}

    def __getitem__(self, name: str) -> Channel:
        if name not in self._known:
            raise ModelError(f"channel {name!r} was not recorded; this run has {', '.join(map(repr, self._known))}")
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def usual(self) -> list[Channel]:
        """All of them."""
        return list(self._known.values())

    def matching(self, pattern: str) -> list[Channel]:
        """Those that a name, the name of an element, or a pattern means."""
        if pattern in self._known:  # names may contain the letters of patterns
            return [self._known[pattern]]
        names = [name for name in self._known if name.startswith(f"{pattern}.")]
        names = names or [name for name in self._known if fnmatchcase(name, pattern)]
        return [self._known[name] for name in names] or [self[pattern]]

    def __repr__(self) -> str:
        return "\n".join(map(str, self.values()))


class Selection(Tabular):
    """Chosen quantities of a run: ``selection["tip.position"]`` (n, 3); ``frame``, ``csv``, ... as of a solution.

    Attributes: ``t`` (n,), ``model``, ``integrator``, ``stats``, ``start``, ``state`` (to continue the run from its
    end), ``events``, ``complete`` and ``message``; ``last`` is the last record as a solution, which the folder of a run
    that was cut off does not hold.
    """

    def __init__(self, last: Solution, t: Array, channels: ChosenChannels, values: Mapping[str, Array]) -> None:
        self._last, self.model, self.integrator = last, last.model, last.integrator
        self.t = read_only(t)
        self.stats, self.start, self.state = last.stats, last.start, last.state
        self.events, self.complete, self.message = last.events, last.complete, last.message
        self._channels, self._stored = channels, dict(values)

    @property
    def last(self) -> Solution:
        """The last record as a solution."""
        if len(self) and not np.array_equal(self._last.t, self.t[-1:]):
            raise ModelError(  # no AttributeError, which would hand the question on to __getattr__
                f"last: {self.message}, and of the one at t = {self.t[-1]:.6g} there are only the quantities that were "
                f"recorded: {', '.join(map(repr, self._channels))}"
            )
        return self._last

    @property
    def channels(self) -> ChosenChannels:  # type: ignore[override]
        """The quantities that were recorded, with units and shapes."""
        return self._channels

    def __getitem__(self, name: str) -> Array:
        """The numbers of a quantity, records along the first axis."""
        _ = self._channels[name]
        return read_only(self._stored[name])

    def __len__(self) -> int:
        return len(self.t)

    __iter__ = None  # there are records, and there are quantities

    def __contains__(self, name: object) -> bool:
        """Whether a quantity of this name was recorded."""
        return name in self._channels

    def __getattr__(self, name: str) -> Any:
        """What whole solutions have, and chosen quantities do not, is refused with the way to it."""
        if name.startswith("_") or not (hasattr(Solution, name) or name in vars(self._last)):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise MissingQuantity(
            f"{name}: this run recorded chosen quantities only, {', '.join(map(repr, self._channels))}, which frame, "
            f"csv and dataset show as well; expected a run that records everything, without record=, for others; "
            f".last.{name} is that of the last record"
        )

    def add_channel(self, *_: Any, **__: Any) -> Any:
        """Nothing can be computed from chosen records."""
        raise ModelError("add_channel: this run recorded chosen quantities; give the function to simulate(record=)")

    def at(self, t: Any) -> Any:
        """Nothing can be interpolated between chosen records."""
        raise ModelError("at: this run recorded chosen quantities only; record all of it to read between its records")

    def __repr__(self) -> str:
        span = f"t = {self.t[0]:.6g} ... {self.t[-1]:.6g}, " if len(self) else ""
        return f"<Selection of {self.model}: {span}{counted(len(self), 'record')} of {', '.join(self._channels)}>"


class Chooser:
    """Reads chosen quantities off blocks of records, which are forgotten afterwards."""

    def __init__(self, system: Any, integrator: Any, t: Array, rows: list[Array], choice: Any) -> None:
        self.system, self.integrator = system, integrator
        first = self._part(t, rows)
        self.found = chosen_channels(first, choice)
        names = [channel.name for channel in self.found]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ModelError(f"record: {repeated[0]!r} is there twice")
        self.numbers = 1 + sum(max(1, int(np.prod(channel.shape))) for channel in self.found)
        self.store: ChannelStore | None = None
        self.blocks: list[tuple[Array, list[Array]]] = []
        self.last: tuple[Array, list[Array]] | None = None
        self.known: dict[str, Any] = {}  # angles with their turns, and quaternions, at the last record

    def _part(self, t: Array, rows: list[Array], inputs: Mapping[str, Array] | None = None) -> Solution:
        return Solution(
            self.system, t, **named_rows(self.integrator, rows), integrator=self.integrator, inputs=inputs or {}
        )

    def write_to(self, path: FilePath, first: Solution) -> None:
        """Write quantities to a folder while they are made; ``first`` is the first record, marked as unfinished."""
        self.store = ChannelStore(path, self.found)
        self.store.describe(first)

    def take(self, t: Array, rows: list[Array], inputs: Mapping[str, Array] | None = None) -> None:
        """Further records, and the inputs of their steps; the last one before them tells how turns and signs go on."""
        if not len(t):
            return
        if self.last is not None and inputs:  # what acts on the record before is of no interest
            inputs = {name: np.append(x[:1], x) for name, x in inputs.items()}
        known = 0 if self.last is None else 1
        if self.last is not None:
            t, rows = np.concatenate((self.last[0], t)), [
                np.concatenate((a, b)) for a, b in zip(self.last[1], rows, strict=True)
            ]  # fmt: skip
        part = self._part(t, rows, inputs)
        part._begins_with = self.known
        values = [np.array(channel.read(part), dtype=float)[known:] for channel in self.found]
        if self.store is None:
            self.blocks.append((t[known:].copy(), values))
        else:
            self.store.append(t[known:], values)
        self.known = {name: x[-1] for name, x in part._followed.items()}
        self.last = t[-1:].copy(), [x[-1:].copy() for x in rows]

    def selection(self, last: Solution, end: float) -> Selection:
        """All that was taken before a time, and the last record."""
        last._whole = None  # of which the last records are left
        last._begins_with = unknown(last.system) | self.known
        if self.store is not None:
            t, stored = self.store.finished(end)
            self.store.describe(last)
            return Selection(last, t, ChosenChannels(self.found), stored)
        t = np.concatenate([block[0] for block in self.blocks])
        kept = t <= end
        values = {
            channel.name: np.concatenate([block[1][k] for block in self.blocks])[kept]
            for k, channel in enumerate(self.found)
        }
        return Selection(last, t[kept], ChosenChannels(self.found), values)
