"""Warnings whose text takes long to write: it is written when it will be read.

``warnings.warn`` needs the text even of what nobody sees. Here the filters are asked first. What a filter shows once
per place is written once per place and *subject*, such as the structure of a model, however its numbers differ.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Hashable
from typing import Any

PACKAGE = __name__.partition(".")[0]
ONCE = ("default", "module", "once")


class _Shown:
    """What was shown under the present filters."""

    def __init__(self) -> None:
        self.filters: Any = None
        self.entries: tuple[Any, ...] = ()
        self.keys: set[Hashable] = set()

    def is_new(self, key: Hashable) -> bool:
        """Whether a key comes for the first time since somebody changed the filters."""
        if self.filters is not warnings.filters or self.entries != tuple(warnings.filters):
            self.filters, self.entries, self.keys = warnings.filters, tuple(warnings.filters), set()
        new = key not in self.keys
        self.keys.add(key)
        return new


_shown = _Shown()


def warn_when_shown(
    category: type[Warning], subject: Hashable, text: Callable[[], str], samples: tuple[str, ...]
) -> None:
    """Warn at the place from which the package was called; ``text`` is asked for if somebody will read it.

    ``samples`` are such texts as far as they are known, for filters that look at them.
    """
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    action = _action(category, str(frame.f_globals.get("__name__")), frame.f_lineno, samples)
    if action == "ignore":
        return
    place = frame.f_code.co_filename, frame.f_lineno
    if action in ONCE and not _shown.is_new((category, subject, place if action == "default" else None)):
        return
    warnings.warn(text(), category, stacklevel=level + 1)


def _action(category: type[Warning], module: str, line: int, samples: tuple[str, ...]) -> str:
    """What the filters do with a warning; "unknown" where that depends on its text."""
    for action, message, kind, where, number in warnings.filters:
        fits = where is None or (where == module if isinstance(where, str) else where.match(module))
        if not issubclass(category, kind) or not fits or number not in (0, line):
            continue
        if message is None:
            return str(action)
        if kind is category or any(map(message.match, samples)):
            return "unknown"
    return str(getattr(warnings, "defaultaction", "default"))
