"""Records on disk while a run goes on: a folder that is mapped into memory, and read as a solution afterwards.

The folder holds a file of plain numbers for each array of records (``t.f8``, ``q.f8``, ...; rows one after the other,
in the machine's order of bytes), and ``run.npz``, a solution without most of its records: the model, the method, and
when the run has ended its state, counters and events. Steps write straight into the mapped files; the operating system
brings them to the disk and takes the memory back. Times are written after the rows that they belong to and are not a
number before, so that also a run that was killed can be read, up to there. ``run.npz`` tells how many records there
were when it was written: with others its state and counters do not belong to their end.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import Array, FileError, ModelError

if TYPE_CHECKING:
    from ..elements.arguments import FilePath
    from ..model import Model
    from ..results.solution import Solution

ABOUT = "run.npz"
CHANNELS = "channels.json"  # of a run that recorded chosen quantities
TIMES = "t.f8"
NAMES = ("q", "v", "first", "second", "turns")  # of the rows of a run
GIVE_BACK = 1 << 26  # bytes after which memory is given back
UNFINISHED = "the run was cut off; its records end here"
TOLD_STATS = ("unfinished", "records")  # among the counters of a folder, for whoever reads it


def new_folder(path: FilePath) -> Path:
    """A folder for the records of a run, which must not hold anything yet."""
    if not isinstance(path, str | os.PathLike):
        raise FileError(f"store: the folder is {path!r}; expected its name")
    folder = Path(path)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise _taken(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"store: the folder {path} cannot be made ({error.strerror})") from error
    return folder


def claimed_folder(path: FilePath) -> Path:
    """A new folder for a run that begins now: of several runs at once, in other processes too, one gets it."""
    folder = new_folder(path)
    try:
        (folder / TIMES).open("xb").close()
    except FileExistsError:
        raise _taken(path) from None
    except OSError as error:
        raise FileError(f"store: the folder {path} cannot be written ({error.strerror})") from error
    return folder


def _taken(path: FilePath) -> FileError:
    return FileError(f"store: {path} is there already and not empty; expected the name of a new folder")


def check_disk(path: Path, count: float, numbers: int) -> None:
    """Refuse so many records of so many numbers if they do not fit on the disk."""
    needed, free = 8.0 * count * numbers, shutil.disk_usage(path).free
    if needed > 0.98 * free:
        raise ModelError(
            f"simulate: the run has {count:.6g} records of {numbers} numbers, {needed / 1e9:.3g} GB, "
            f"but only {free / 1e9:.3g} GB are free in {path}; record less often with output_step="
        )


def reserve(file: Path, size: int) -> None:
    """A new file of so many bytes, which are there: a disk that is full later would end a process that maps it."""
    try:
        with file.open("wb") as opened:
            opened.truncate(size)
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(opened.fileno(), 0, size)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EINVAL):  # no such thing on this disk
            return
        raise FileError(f"store: {file} cannot be written ({error.strerror})") from error


def append_numbers(folder: Path, named: list[tuple[str, Array]], count: int) -> None:
    """Write rows behind the first ``count`` ones of the files of these names; the last one tells how many are complete.

    What is there besides is of an attempt that failed, on a full disk for instance, and would shift all that follows.
    """
    for name, x in named:
        try:
            with (folder / f"{name}.f8").open("ab") as file:
                known = 8 * count * int(np.prod(x.shape[1:]))
                if file.tell() > known:
                    file.truncate(known)
                file.write(np.ascontiguousarray(x, dtype=np.float64).data.cast("B") if x.size else b"")
        except OSError as error:
            raise FileError(
                f"store: {folder} cannot be written any more ({error.strerror}); mbd.load reads what is there"
            ) from error


class RunStore:
    """The folder of a run in progress."""

    def __init__(self, path: FilePath, widths: list[int]) -> None:
        self.path, self.widths = claimed_folder(path), widths
        self.count = 0  # records in the files
        self._since = 0  # bytes since memory was given back
        self._maps: list[Any] = []

    def check_room(self, count: float) -> None:
        """Refuse so many records if they do not fit on the disk."""
        check_disk(self.path, count, 1 + sum(self.widths))

    def describe(self, solution: Solution) -> None:
        """Write what is known besides the records."""
        solution.save(self.path / ABOUT)

    def rows(self, count: int) -> tuple[Array, list[Array]]:
        """Times and rows for so many records, mapped to the files."""
        self._maps = [self._map("t", count, ())]
        times = self._maps[0]
        times[:] = np.nan
        self._maps += [self._map(name, count, (n,)) for name, n in zip(NAMES, self.widths, strict=True)]
        return np.asarray(times), [np.asarray(x) for x in self._maps[1:]]

    def _map(self, name: str, count: int, shape: tuple[int, ...], mode: Any = "w+") -> Any:
        if count == 0 or 0 in shape:
            return np.zeros((count, *shape))
        file = self.path / f"{name}.f8"
        if mode == "w+":
            reserve(file, 8 * count * int(np.prod(shape)))
            mode = "r+"
        return np.memmap(file, dtype=np.float64, mode=mode, shape=(count, *shape))

    def append(self, t: Array, rows: list[Array]) -> None:
        """Write further records of a run whose length is not known."""
        append_numbers(self.path, [*zip(NAMES, rows, strict=True), ("t", t)], self.count)
        self.count += len(t)

    @property
    def grows(self) -> bool:
        """Whether records are appended: their number was not known."""
        return not self._maps

    def times(self) -> Array:
        """Times of the records that were appended."""
        return np.fromfile(self.path / TIMES, dtype=np.float64)

    def records(self) -> tuple[Array, list[Array]]:
        """The records that were appended, as arrays that are read from the files when needed."""
        return _mapped(self.path, self.widths, self.count)

    def give_back(self, records: int) -> None:
        """After so many new records: let the operating system have the memory of what is written, now and then."""
        self._since += 8 * records * (1 + sum(self.widths))
        if self._since > GIVE_BACK and hasattr(mmap, "MADV_DONTNEED"):
            self._since = 0
            for x in self._maps:
                if isinstance(x, np.memmap):
                    x._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]

    def finished(self, count: int, last: tuple[float, list[Array]] | None) -> tuple[Array, list[Array]]:
        """The first records, and perhaps one more, as arrays that are read from the files when needed."""
        for x in self._maps:
            if isinstance(x, np.memmap):
                x.flush()
        self._maps = []
        for name, width in (("t", 1), *zip(NAMES, self.widths, strict=True)):
            file = self.path / f"{name}.f8"
            if file.exists():
                with file.open("rb+") as opened:
                    opened.truncate(8 * count * width)
        self.count = count
        if last is not None:
            self.append(np.array([last[0]]), [x[None, :] for x in last[1]])
        return _mapped(self.path, self.widths, self.count)


def _mapped(path: Path, widths: list[int], count: int) -> tuple[Array, list[Array]]:
    """Records in the files; what is changed in memory does not reach them."""

    rows = [mapped(path / f"{name}.f8", (count, n)) for name, n in zip(NAMES, widths, strict=True)]
    return mapped(path / TIMES, (count,)), rows


def mapped(file: Path, shape: tuple[int, ...]) -> Array:
    """Numbers of a file as an array; what is changed in memory does not reach it."""
    if 0 in shape:
        return np.zeros(shape)
    return np.asarray(np.memmap(file, dtype=np.float64, mode="c", shape=shape))


def cut_off(known: Solution, count: int) -> str:
    """Why the state of a folder is not that of the end of its records, or nothing: the run, or a copy, was cut off."""
    told = known.stats
    if told.get("unfinished") or told.get("records", count) < count:  # a Simulator went on after ``solution()``
        return UNFINISHED
    written = told.get("records", count)
    return f"the files of this folder end after {count} of {written} records" if count < written else ""


def load_store(path: FilePath, model: Model | None = None) -> Any:
    """What a run wrote to a folder, finished or not: a solution, or the quantities that were chosen.

    Records stay on disk until they are read.
    """
    from ..results.solution import Solution, named_rows
    from .archive import load

    folder = Path(path)
    if not (folder / ABOUT).exists():
        raise FileError(
            f"{path}: is no folder of a run (it has no {ABOUT}); expected one that simulate(store=...) wrote"
        )
    if (folder / CHANNELS).exists():
        from .channel_store import load_channels

        return load_channels(folder, model)
    known = load(folder / ABOUT, model)
    widths = [x.shape[1] for x in known.rows()]
    times = folder / TIMES
    t = np.fromfile(times, dtype=np.float64) if times.exists() else np.zeros(0)
    ended = np.flatnonzero(np.isnan(t))
    count = int(ended[0]) if len(ended) else len(t)
    for name, n in zip(NAMES, widths, strict=True):
        file = folder / f"{name}.f8"
        have = (file.stat().st_size if file.exists() else 0) // (8 * n) if n else count
        count = min(count, have)
    t, rows = _mapped(folder, widths, count)
    if len(t) and (not np.isfinite(t).all() or (np.diff(t) < 0.0).any()):
        raise ModelError(f"{path}: its times are damaged: not finite, or going backwards")
    cut = cut_off(known, count)
    stats = {name: x for name, x in known.stats.items() if name not in TOLD_STATS}
    constant = {name: np.full(len(t), x[-1]) for name, x in known.inputs.items() if len(x)}  # no others are stored
    solution = Solution(
        known.system, t, **named_rows(known.integrator, rows), integrator=known.integrator, stats=stats,
        start=known.start, state={} if cut else known._state, complete=known.complete and not cut,
        message=cut or known.message, inputs=constant,
    )  # fmt: skip
    solution.events, solution._begins_with = known.events, known._begins_with
    return solution
