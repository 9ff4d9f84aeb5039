"""Names that people may have meant."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A question with up to three known names that are like the given one, or nothing."""
    import difflib

    close = difflib.get_close_matches(str(name), list(known), n=3)
    return "did you mean " + " or ".join(repr(match) for match in close) + "?" if close else ""
