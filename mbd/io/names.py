"""Names of imported elements: a model has one set of names, files have one for each kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import bad_value
from ..model import Model


def names_to_keep(keep: Any) -> tuple[str, ...]:
    """Names of links, bodies or sites that stay bodies of their own."""
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        raise bad_value("import", "keep", keep, 'a list of names, such as ["tool"]')
    return tuple(keep)


class Names:
    """Names that are still free in a model, and those that are kept for elements to come."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kept: set[str] = set()

    def _taken(self, name: str) -> bool:
        return name in self.model or name in self.kept

    def free(self, name: str, kind: str) -> str:
        """The name, or with the kind and then a number behind it where it is taken."""
        if not self._taken(name):
            return name
        return self.numbered(name if name.endswith(kind) else f"{name} {kind}", 2)

    def numbered(self, stem: str, first: int = 1) -> str:
        """The name with a number behind it; a first number above one may be left away."""
        if first > 1 and not self._taken(stem):
            return stem
        while self._taken(f"{stem} {first}"):
            first += 1
        return f"{stem} {first}"

    def keep(self, name: str | None, kind: str) -> str:
        """A free name that no other element gets."""
        found = self.numbered(kind) if name is None else self.free(name, kind)
        self.kept.add(found)
        return found
