"""Results of a study on disk: parts that appear whole or not at all, and a plan that says what they belong to.

    plan.json         what the study does: functions, values, seed, versions
    parameters.npz    values of the parameters along each axis
    part-*.npz        blocks of results, in the order of their numbers
    lock              held by the process that writes

One process writes. Every part is written beside, flushed to the disk and renamed. Small parts are joined into larger
ones on the way, so that a million runs are a few files.
"""

from __future__ import annotations

import io
import json
import os
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileError, ModelError
from ..io.files import replacing
from .blocks import Block
from .fingerprints import Told, differences
from .locks import Lock
from .parameter_table import ParameterTable

FORMAT, VERSION = "mbd study", 1
PLAN, PARAMETERS = "plan.json", "parameters.npz"
PART = re.compile(r"part-(\d{9})-(\d)\.npz")
JOINED = 32  # parts of one level become one of the next ...
LARGEST = 16e6  # ... if that is not larger than this, in bytes
COMPACT = 512e6  # bytes of a part that ``compact`` makes
TRIES = 20  # to read a study whose parts are being joined


def folder_of(given: Any, argument: str) -> Path:
    """The path of a folder that somebody gives."""
    if not isinstance(given, str | os.PathLike) or not str(given):
        raise ModelError(f"{argument} = {given!r}; expected the name of a folder")
    return Path(given)


class Plan:
    """What a store belongs to."""

    def __init__(self, table: ParameterTable, told: Told, about: dict[str, Any]) -> None:
        self.table, self.told, self.about = table, told, about

    def written(self) -> tuple[bytes, bytes]:
        """Contents of the two files."""
        description, arrays = self.table.to_arrays()
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]
        head = {"format": FORMAT, "version": VERSION, "runs": len(self.table), "about": self.about}
        text = json.dumps(head | {"parameters": description, "fingerprint": self.told}, indent=1)
        return text.encode(), buffer.getvalue()

    @classmethod
    def read(cls, path: Path) -> Plan:
        """The plan of a store; errors say what is wrong with it."""
        try:
            found = json.loads((path / PLAN).read_text(encoding="utf-8"))
            if not isinstance(found, dict) or found.get("format") != FORMAT:
                raise ModelError(f"{path / PLAN} is not the plan of a study")
            if found["version"] != VERSION:
                raise ModelError(f"{path} was written by another version of mbd (format {found['version']})")
            with np.load(path / PARAMETERS, allow_pickle=False) as arrays:
                table = ParameterTable.from_arrays(found["parameters"], dict(arrays))
        except FileNotFoundError as error:
            raise ModelError(f"there is no study in '{path}': {Path(error.filename).name} is missing") from None
        except OSError as error:
            raise FileError(f"{path}: cannot be read as the folder of a study ({error.strerror or error})") from error
        except (KeyError, ValueError, zipfile.BadZipFile) as error:
            if isinstance(error, ModelError):
                raise
            raise ModelError(f"the plan of the study in '{path}' is damaged: {error}") from error
        if len(table) != found["runs"]:
            raise ModelError(
                f"the plan of the study in '{path}' is damaged: it has {found['runs']} runs, not {len(table)}"
            )
        return cls(table, found["fingerprint"], found["about"])


class Reader:
    """Reads a store, also while another process writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def parts(self) -> list[Path]:
        """Files of parts in the order in which they were written."""
        found = [self.path / name for name in os.listdir(self.path) if PART.fullmatch(name)]
        return sorted(found)

    def read(self, work: Callable[[Callable[[Callable[[str], bool]], Iterator[Block]]], Any]) -> Any:
        """Do something with all blocks; again if parts were joined meanwhile."""
        for attempt in range(TRIES):
            parts = self.parts()
            try:
                return work(lambda wanted, parts=parts: (read_part(part, wanted) for part in parts))  # type: ignore[misc]
            except FileNotFoundError:
                time.sleep(0.01 * attempt)
        raise FileError(f"{self.path}: parts disappear while they are read")


class Memory:
    """The interface of ``Store`` for results that are kept in this process only."""

    path = None

    def __init__(self) -> None:
        self.blocks: list[Block] = []

    def add(self, block: Block) -> None:
        """Keep a block; small ones are joined, as files are."""
        self.blocks.append(block)
        if len(self.blocks) % JOINED == 0 and len(self.blocks[-JOINED]) < 1000:
            self.blocks[-JOINED:] = [Block.joined(self.blocks[-JOINED:])]

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """Nothing has to be given back."""

    def read(self, work: Callable[[Callable[[Callable[[str], bool]], Iterator[Block]]], Any]) -> Any:
        """Do something with all blocks."""
        return work(lambda wanted: iter(self.blocks))


class Store(Reader):
    """Writes results; holds the lock until it is closed."""

    every = 0.5  # s between parts

    def __init__(self, path: str | os.PathLike[str], plan: Plan) -> None:
        super().__init__(Path(path))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"{path}: cannot be made ({error.strerror or error})") from error
        self.lock = Lock(self.path / "lock")
        try:
            self._begin(plan)
        except BaseException:
            self.lock.release()
            raise
        self._waiting: list[Block] = []
        self._written = time.monotonic()

    def _begin(self, plan: Plan) -> None:
        for draft in self.path.glob(".*.part*"):  # of a process that was killed
            draft.unlink(missing_ok=True)
        if (self.path / PLAN).exists():
            self._compare(plan)
        else:
            if self.parts():
                raise ModelError(f"store = '{self.path}': there are parts of a study, but not its plan")
            head, arrays = plan.written()
            self._write(PARAMETERS, arrays)
            self._write(PLAN, head)  # last: with it the store is complete
        names = [PART.fullmatch(part.name) for part in self.parts()]
        self._number = 1 + max((int(name[1]) for name in names if name is not None), default=-1)

    def _compare(self, plan: Plan) -> None:
        stored = Plan.read(self.path)
        found = differences(plan.told, stored.told)
        if found:
            more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
            raise ModelError(
                f"store = '{self.path}' belongs to another study: {'; '.join(found[:5])}{more}. Expected the same "
                "study, which then goes on, or a new folder"
            )

    def _write(self, name: str, content: bytes) -> None:
        with replacing(self.path / name, durable=True) as draft:
            draft.write_bytes(content)
        with suppress(OSError, AttributeError):  # the name as well; not on every system
            folder = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def add(self, block: Block) -> None:
        """Keep a block; it is written within half a second of work."""
        self._waiting.append(block)
        if time.monotonic() - self._written >= self.every:
            self.flush()

    def flush(self) -> None:
        """Write what has been held back."""
        if self._waiting:
            self._put(Block.joined(self._waiting), 0)
            self._waiting = []
            self._join_small_parts()
        self._written = time.monotonic()

    def _put(self, block: Block, level: int) -> None:
        self._write(f"part-{self._number:09d}-{level}.npz", part_bytes(block))
        self._number += 1

    def _join_small_parts(self) -> None:
        """The last parts of one level become one of the next; those that they replace are removed afterwards."""
        for level in range(9):
            last: list[Path] = []
            for part in reversed(self.parts()):
                if not part.name.endswith(f"-{level}.npz"):
                    break
                last.insert(0, part)
            if len(last) < JOINED or sum(part.stat().st_size for part in last) > LARGEST:
                return
            self._put(Block.joined([read_part(part) for part in last]), level + 1)
            for part in last:
                part.unlink()

    def compact(self) -> None:
        """Join all parts into few large ones; the old ones go when all new ones are there.

        Of a run that was made again only the last row is taken: whatever is there when this ends early, it comes last.
        """
        old = rest = self.parts()
        runs = [read_part(part, lambda name: False).run for part in old]
        last = np.zeros(1 + max((int(run.max()) for run in runs if len(run)), default=0), dtype=np.int32)
        for k, run in enumerate(runs):
            last[run] = k

        def rows(part: Path) -> Block:
            block = read_part(part)
            return block.take(np.flatnonzero(last[block.run] == old.index(part)))

        while rest:
            size, taken = 0, 0
            while taken < len(rest) and (taken == 0 or size + rest[taken].stat().st_size <= COMPACT):
                size += rest[taken].stat().st_size
                taken += 1
            chosen, rest = rest[:taken], rest[taken:]
            self._put(Block.joined([rows(part) for part in chosen]), 9)
        for part in old:
            part.unlink()

    def close(self) -> None:
        """Write everything and give the lock back."""
        try:
            self.flush()
        finally:
            self.lock.release()


def part_bytes(block: Block) -> bytes:
    """A block as a file."""
    buffer = io.BytesIO()
    np.savez(buffer, **block.to_arrays())  # type: ignore[arg-type]
    return buffer.getvalue()


def read_part(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> Block:
    """A block from a file."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return Block.from_arrays(arrays, wanted)
    except FileNotFoundError:
        raise
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise FileError(f"{path} is damaged ({error}); remove it, and its runs are made again") from error
