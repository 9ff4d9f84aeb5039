"""Whom to cite: the sources of the methods that a run used, as BibTeX.

Integrators declare their sources as short texts ("Strang 1968, SIAM J. Numer. Anal. 5, 506"). Authors and year lead to
an entry of ``references.bib``; a source without one becomes an entry with that text, so that none is lost.
"""

from __future__ import annotations

import inspect
import re
import unicodedata
from functools import cache
from pathlib import Path

from .errors import ModelError
from .integrators import Integrator
from .model import Model
from .results.solution import Solution

SOURCE = re.compile(r"^(?P<authors>[^\d]+) (?P<year>\d{4})\b")
ABSOLUTE = "Holzinger, Arnold & Gerstmayr 2024, Algorithm 1"  # update of absolute coordinates
JOINT = "Featherstone 2008"  # recursion along the tree


class BibTeX(str):
    """Entries of BibTeX; shown as they are where a value is displayed."""

    def __repr__(self) -> str:
        return str(self)


def cite(*used: Solution | Integrator | type[Integrator] | Model) -> BibTeX:
    """BibTeX entries of what was used: solutions, integrators, models, in any number; without any, of mbd itself.

    A solution stands for its model and its integrator, a model for the coordinates that it is described in. mbd itself
    is always the first entry.

    >>> entries = mbd.cite(mbd.integrators.RATTLie())
    >>> [line for line in entries.splitlines() if line.startswith("@")]
    ['@software{mbd,', '@article{hante_arnold_2021,', '@article{andersen_1983,', '@article{leimkuhler_skeel_1994,']
    """
    sources: dict[str, str] = {}
    for x in used:
        for source in _sources(x):
            sources.setdefault(_key(source), source)
    return BibTeX("\n\n".join([_own_entry(), *(_entry(key, source) for key, source in sources.items())]) + "\n")


def _sources(x: object) -> list[str]:
    if isinstance(x, Solution):
        return [*_sources(x.model), *_sources(x.integrator)]
    if isinstance(x, type) and issubclass(x, Integrator):
        return list(x.cite if isinstance(x.cite, tuple) else x().cite)  # of its default parameters
    if isinstance(x, Integrator):
        return list(x.cite)
    if isinstance(x, Model):
        return [ABSOLUTE, JOINT] if x.coordinates.carried else [ABSOLUTE]
    name = x.__name__ if inspect.isclass(x) or inspect.isfunction(x) else type(x).__name__
    raise ModelError(f"cite: {name} has no sources; expected solutions, integrators or models")


def _key(source: str) -> str:
    """The key of a source: authors and year, as in the file."""
    match = SOURCE.match(source)
    words = f"{match['authors']} {match['year']}" if match else source
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    return "_".join(re.findall(r"[a-z0-9]+", plain))


@cache
def _entries() -> dict[str, str]:
    """The entries of the file by key, one field per line."""
    found = {}
    for line in Path(__file__).with_name("references.bib").read_text(encoding="utf-8").splitlines():
        kind, _, rest = line.partition("{")
        key, _, fields = rest.partition(", ")
        parts = re.split(r", (?=\w+ = \{)", fields.removesuffix("}"))
        found[key] = f"{kind}{{{key},\n" + "".join(f"  {part},\n" for part in parts) + "}"
    return found


def _entry(key: str, source: str) -> str:
    return _entries().get(key) or f"@misc{{{key},\n  note = {{{source}}},\n}}"


def _own_entry() -> str:
    from mbd import __version__

    fields = {"title": "{mbd}: modular multibody dynamics", "author": "{the mbd developers}", "version": __version__}
    return "@software{mbd,\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items()) + "}"
