"""Names that people may have meant, and how many there are of something, in words."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A question with up to three known names that are like the given one, or nothing."""
    import difflib

    close = difflib.get_close_matches(str(name), list(known), n=3)
    return "did you mean " + " or ".join(repr(match) for match in close) + "?" if close else ""


def counted(count: int, word: str, plural: str = "") -> str:
    """1 joint, 2 joints."""
    return f"{count} {word if count == 1 else plural or word + 's'}"
