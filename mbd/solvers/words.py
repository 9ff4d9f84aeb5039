"""Directions, motions and lists in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray


def number(x: float) -> str:
    """Three digits, without a minus sign on zero."""
    text = f"{x:.3g}"
    return "0" if text in ("-0", "0") else text


def point_words(x: Array, scale: float) -> str:
    """A point; components that are round-off beside the scale are zero."""
    return "(" + ", ".join(number(0.0 if abs(c) < 1e-6 * scale else float(c)) for c in x) + ")"


def axis_words(x: Array) -> str:
    """A direction without sign: x, y, z, or its components."""
    x = x / np.linalg.norm(x)
    k = int(np.argmax(np.abs(x)))
    if abs(x[k]) > 1.0 - 1e-7:
        return "xyz"[k]
    return point_words(x * np.sign(x[k]), 1.0)


def screw_words(linear: Array, angular: Array, at: Array, scale: float, verb: str = "") -> str:
    """A rigid motion in words: ``linear`` is the velocity of the point ``at``.

    With ``verb="s"``: "rotates about", "moves along"; without: "rotation about", "translation along".
    """
    rotation, translation = ("rotates", "moves") if verb else ("rotation", "translation")
    spin = float(np.linalg.norm(angular))
    speed = float(np.linalg.norm(linear))
    if spin * scale < 1e-6 * speed:
        return f"{translation} along {axis_words(linear)}"
    axis = angular / spin
    along = float(linear @ axis)
    foot = at + np.cross(angular, linear) / spin**2  # the point of the axis nearest to ``at``
    text = f"{rotation} about {axis_words(angular)} through {point_words(foot, scale)}"
    if abs(along) > 1e-6 * spin * scale:
        pitch = along / spin
        text += f" together with {number(abs(pitch))} m/rad along it"
    return text


def quoted(names: Sequence[str], shown: int = 8) -> str:
    """'a', 'b' and 'c'."""
    texts = [f"'{name}'" for name in names[:shown]]
    if len(names) > shown:
        return ", ".join(texts) + f" and {len(names) - shown} more"
    return listed(texts)


def listed(texts: Sequence[str]) -> str:
    """a, b and c."""
    return texts[0] if len(texts) == 1 else ", ".join(texts[:-1]) + f" and {texts[-1]}"
