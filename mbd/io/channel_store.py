"""Chosen quantities of a run on disk while it goes on: ``simulate(..., record=["tip.position"], store="folder")``.

The folder holds a file of plain numbers for the times (``t.f8``) and for each quantity (``channel-0.f8``, ...; rows one
after the other, in the machine's order of bytes), ``channels.json`` with their names, units and shapes, and
``run.npz``, a solution of one record: the first one while the run goes on, the last one with the state and the number
of records when it has ended. Times are written after the rows that they belong to, so that also a run that was killed
can be read, up to there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Array, ModelError
from .files import write_text
from .store import ABOUT, CHANNELS, TIMES, TOLD_STATS, append_numbers, check_disk, claimed_folder, cut_off, mapped

if TYPE_CHECKING:
    from ..elements.arguments import FilePath
    from ..model import Model
    from ..results.channels import Channel
    from ..results.selection import Selection
    from ..results.solution import Solution

TOLD = ("name", "unit", "shape", "components", "text", "axes")  # of a channel


class ChannelStore:
    """The folder of a run in progress."""

    def __init__(self, path: FilePath, channels: list[Channel]) -> None:
        self.path, self.channels = claimed_folder(path), channels
        self.widths = [max(1, int(np.prod(channel.shape))) for channel in channels]
        self.count = 0  # records in the files
        write_text(
            self.path / CHANNELS, json.dumps([{name: getattr(x, name) for name in TOLD} for x in channels], indent=1)
        )

    def check_room(self, count: float) -> None:
        """Refuse so many records if they do not fit on the disk."""
        check_disk(self.path, count, 1 + sum(self.widths))

    def describe(self, one: Solution) -> None:
        """Write what is known besides the quantities: a solution of one record."""
        about = one.part(slice(None))
        about.state, about.events, about._begins_with = one.state, one.events, one._begins_with
        about.stats |= {} if "unfinished" in one.stats else {"records": self.count}
        about.save(self.path / ABOUT)

    def append(self, t: Array, values: list[Array]) -> None:
        """Write further records."""
        append_numbers(self.path, [*((f"channel-{k}", x) for k, x in enumerate(values)), ("t", t)], self.count)
        self.count += len(t)

    def finished(self, end: float) -> tuple[Array, dict[str, Array]]:
        """The records up to a time, as arrays that are read from the files when needed."""
        times = np.fromfile(self.path / TIMES, dtype=np.float64)
        self.count = int(np.searchsorted(times, end, side="right"))
        for name, width in (("t", 1), *((f"channel-{k}", n) for k, n in enumerate(self.widths))):
            with (self.path / f"{name}.f8").open("rb+") as opened:
                opened.truncate(8 * self.count * width)
        return _read(self.path, self.channels, self.count)


def _read(path: Path, channels: list[Channel], count: int) -> tuple[Array, dict[str, Array]]:
    values = {x.name: mapped(path / f"channel-{k}.f8", (count, *x.shape)) for k, x in enumerate(channels)}
    return mapped(path / TIMES, (count,)), values


def load_channels(folder: Path, model: Model | None = None) -> Selection:
    """The chosen quantities of a run that wrote to a folder, finished or not."""
    from ..results.channels import Channel
    from ..results.selection import ChosenChannels, Selection
    from .archive import load

    last = load(folder / ABOUT, model)
    try:
        told = json.loads((folder / CHANNELS).read_text(encoding="utf-8"))
        known: dict[str, Any] = {"read": None}
        channels = [
            Channel(**{**x, "shape": tuple(x["shape"]), "components": tuple(x["components"])}, **known) for x in told
        ]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(f"{folder}: {CHANNELS} is damaged ({type(error).__name__}: {error})") from error
    have = [(folder / TIMES, 1)]
    have += [(folder / f"channel-{k}.f8", max(1, int(np.prod(x.shape)))) for k, x in enumerate(channels)]
    count = min((file.stat().st_size // (8 * width) if file.exists() else 0) for file, width in have)
    t, values = _read(folder, channels, count)
    if len(t) and (not np.isfinite(t).all() or (np.diff(t) < 0.0).any()):
        raise ModelError(f"{folder}: its times are damaged: not finite, or going backwards")
    cut = cut_off(last, count)
    for name in TOLD_STATS:
        last.stats.pop(name, None)
    if cut:
        last.complete, last.message, last.state = False, cut, {}
    return Selection(last, t, ChosenChannels(channels), values)
