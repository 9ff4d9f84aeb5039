"""Room for the records of a run: refused before it starts where they do not fit into memory."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import ModelError

GB = 1e9
ANYWAY = 3e7  # bytes that nobody asks for: to find out what is free takes a millisecond, as long as a short run
FIRST_QUESTION = 1e6  # bytes of records of unknown number after which somebody asks
SHARE = 0.95  # of the free memory that records may take
CGROUP, OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def check_room(count: float, numbers: int, owner: str, remedy: str) -> None:
    """Refuse so many records of so many numbers if they do not fit into the free memory."""
    needed = 8.0 * count * numbers
    if needed < ANYWAY:
        return
    free = available_memory()
    if needed > SHARE * free:
        raise ModelError(
            f"{owner}: the run has {count:.6g} records of {numbers} numbers each, {needed / GB:.3g} GB, but only "
            f"{free / GB:.3g} GB of memory are free; {remedy}"
        )


def available_memory() -> float:
    """Bytes that this process may still use: of the machine, of its control group, of its own limits."""
    return min(_machine(), *_groups(), _limits())


def _machine() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:  # all there is: better than nothing
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _groups() -> list[float]:
    """What the control groups of this process (v2, v1) and those above leave; file cache counts as free."""
    rooms = [float("inf")]
    try:
        lines = [line.split(":", 2) for line in OWN_GROUPS.read_text().splitlines()]
    except OSError:
        return rooms
    for _, controllers, path in (line for line in lines if len(line) == 3):
        if controllers and "memory" not in controllers.split(","):
            continue
        top = CGROUP / "memory" if controllers else CGROUP
        limit, usage = ("limit_in_bytes", "usage_in_bytes") if controllers else ("max", "current")
        group = top / path.strip("/")
        for folder in (group, *group.parents):
            try:
                room = float((folder / f"memory.{limit}").read_text()) - float((folder / f"memory.{usage}").read_text())
                stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
                rooms.append(max(0.0, room + float(stat.get("inactive_file", 0.0))))
            except (OSError, ValueError):  # "max": no limit
                pass
            if folder == top:
                break
    return rooms


def _limits() -> float:
    """What ``ulimit -v`` leaves."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return float("inf")
    return float("inf") if limit == resource.RLIM_INFINITY else max(0.0, float(limit - used))
