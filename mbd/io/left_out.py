"""What an import leaves out: named in one warning, or refused where the motion would be another without it.

People who know about it list it in ``ignore``; an entry there that fits nothing is refused, because it is misspelt.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..errors import ModelError, ModelWarning, bad_value

NAMED = 4  # places that a message lists of each kind


class LeftOut:
    """Collects what is left out, by paths such as "tendon/fixed" or "joint@springyield".

    ``ignore`` holds paths, or their first parts: "tendon" covers "tendon/fixed".
    """

    def __init__(self, file: Path, ignore: Any = ()) -> None:
        self.file = file
        self.ignored = _checked(ignore)
        self.fitting: set[str] = set()
        self.noted: dict[tuple[str, str], list[str]] = {}
        self.minor: set[str] = set()
        self.refused: dict[tuple[str, str], list[str]] = {}

    def note(self, path: str, where: str, meaning: str, minor: bool = False) -> None:
        """Something without influence on the motion, as far as ``meaning`` says; what is minor is named last."""
        self._put(self.noted, path, where, meaning)
        if minor:
            self.minor.add(meaning)

    def refuse(self, path: str, where: str, meaning: str) -> None:
        """Something without which the motion would be another."""
        self._put(self.refused, path, where, meaning)

    def ignores(self, path: str) -> bool:
        """Whether people asked to leave this out."""
        fits = {entry for entry in self.ignored if path == entry or path.startswith((f"{entry}/", f"{entry}@"))}
        self.fitting |= fits
        return bool(fits)

    def _put(self, table: dict[tuple[str, str], list[str]], path: str, where: str, meaning: str) -> None:
        if not self.ignores(path):
            places = table.setdefault((meaning, path), [])
            if where not in places:
                places.append(where)

    def finish(self, advice: Mapping[str, str] | None = None, stacklevel: int = 3) -> None:
        """Refuse what has to be refused, and name the rest in one warning; ``advice`` says what else to do, by path."""
        if self.refused:
            refused = sorted({path for _, path in self.refused})
            paths = ", ".join(f'"{path}"' for path in refused)
            hints = {advice[path] for path in refused if path in advice} if advice else set()
            raise ModelError(
                f"{self.file}: cannot be taken over, and the motion would be another without it: "
                f"{_listed(self.refused)}. ignore=[{paths}] leaves it out all the same"
                + "".join(f". {hint}" for hint in sorted(hints))
            )
        for entry in self.ignored:
            if entry not in self.fitting:
                known = {path for _, path in self.noted} | self.fitting
                close = difflib.get_close_matches(entry, sorted(known), 1, 0.6)
                hint = f"; did you mean {close[0]!r}?" if close else f"; {_known(known)}"
                raise ModelError(f"{self.file}: ignore names {entry!r}, which is not in the file{hint}")
        if self.noted:
            first = {key: places for key, places in self.noted.items() if key[0] not in self.minor}
            listed = _listed(first | self.noted)
            warnings.warn(f"{self.file}: left out: {listed}", ModelWarning, stacklevel=stacklevel)


def _checked(ignore: Any) -> tuple[str, ...]:
    if isinstance(ignore, str) or not isinstance(ignore, Iterable):
        raise bad_value("import", "ignore", ignore, 'a list of paths, such as ["tendon", "actuator/muscle"]')
    entries = tuple(ignore)
    for entry in entries:
        if not isinstance(entry, str) or not entry:
            raise bad_value("import", "ignore", entry, 'paths of elements, such as "tendon" or "actuator/muscle"')
    return entries


def _known(paths: set[str]) -> str:
    return f"left out are {', '.join(sorted(paths))}" if paths else "nothing is left out"


def _listed(table: dict[tuple[str, str], list[str]]) -> str:
    """All entries, those with the same meaning together."""
    by_meaning: dict[str, list[str]] = {}
    for (meaning, path), places in table.items():
        shown = ", ".join(places[:NAMED]) + (f" and {len(places) - NAMED} more" if len(places) > NAMED else "")
        by_meaning.setdefault(meaning, []).append(f"{path} ({shown})")
    return "; ".join(f"{', '.join(paths)}: {meaning}" for meaning, paths in by_meaning.items())
