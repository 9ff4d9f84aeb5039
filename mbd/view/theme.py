"""Colours and measures of all views: chosen for colour-blind readers, on light or dark ground.

Bodies take the colours of Okabe and Ito (2008), which people with the common colour deficiencies tell apart, in an
order that keeps neighbours different in lightness as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from mbd.errors import ModelError, bad_value

Colour = tuple[float, float, float]

NAMED = {
    "black": "#000000", "white": "#ffffff", "grey": "#808080", "gray": "#808080", "silver": "#c0c0c0",
    "red": "#d62728", "green": "#009e73", "blue": "#0072b2", "orange": "#e69f00", "yellow": "#f0e442",
    "purple": "#a05fb5", "pink": "#cc79a7", "brown": "#8c564b", "cyan": "#56b4e9", "magenta": "#cc4fa0",
    "gold": "#d4a017", "steel": "#8593a3", "wood": "#b98b5b",
}  # fmt: skip

BODIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#c9b400")
RUNS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
AXES = ("#d55e00", "#009e73", "#0072b2")
LINE_STYLES = ("-", "--", "-.", ":")


def colour(value: Any, owner: object = "view", argument: str = "colour") -> Colour:
    """Red, green and blue between 0 and 1 of "#rrggbb", a colour name or three numbers."""
    if isinstance(value, str):
        text = NAMED.get(value.lower(), value)
        if match := re.fullmatch(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})", text):
            red, green, blue = (int(part, 16) / 255.0 for part in match.groups())
            return red, green, blue
        try:  # the many names of CSS
            from matplotlib.colors import to_rgb

            red, green, blue = to_rgb(value)
            return red, green, blue
        except ImportError:
            pass
        except ValueError:
            raise bad_value(owner, argument, value, 'a colour name or "#rrggbb"') from None
        raise bad_value(owner, argument, value, '"#rrggbb" or one of ' + ", ".join(sorted(NAMED)))
    try:
        red, green, blue = (float(x) for x in value)
    except (TypeError, ValueError):
        raise bad_value(owner, argument, value, '"#rrggbb", a colour name or three numbers') from None
    return red, green, blue


def to_hex(rgb: Colour) -> str:
    """ "#rrggbb"."""
    return "#" + "".join(f"{round(255 * min(1.0, max(0.0, x))):02x}" for x in rgb)


def mixed(a: Colour, b: Colour, share: float) -> Colour:
    """``share`` of b in a."""
    red, green, blue = (x + share * (y - x) for x, y in zip(a, b, strict=True))
    return red, green, blue


def luminance(rgb: Colour) -> float:
    """Relative luminance between 0 and 1 (WCAG 2.1)."""
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: Colour, b: Colour) -> float:
    """Contrast ratio between 1 and 21 (WCAG 2.1); text needs 4.5."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def readable_on(ground: Colour) -> Colour:
    """Black or white, whichever is easier to read on a colour."""
    return max(((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), key=lambda ink: contrast(ink, ground))


def legible(rgb: Colour, ground: Colour, ratio: float) -> Colour:
    """The colour, darker or lighter if needed to stand out from the ground with this contrast."""
    ink = readable_on(ground)
    for share in range(11):
        if contrast(mixed(rgb, ink, 0.1 * share), ground) >= ratio:
            return mixed(rgb, ink, 0.1 * share)
    return ink


@dataclass(frozen=True)
class Theme:
    """What a view looks like."""

    name: str
    dark: bool
    background: str
    floor: str
    grid: str
    shadow: str
    text: str
    muted: str
    joint: str
    spring: str
    reaction: str
    load: str
    bodies: tuple[str, ...] = field(default=BODIES)
    runs: tuple[str, ...] = field(default=RUNS)
    axes: tuple[str, str, str] = field(default=AXES)

    def body(self, index: int) -> Colour:
        """Colour of the index-th body."""
        return colour(self.bodies[index % len(self.bodies)])

    def run(self, index: int) -> Colour:
        """Colour of the index-th of several runs in one scene."""
        return colour(self.runs[index % len(self.runs)])


LIGHT = Theme(
    name="light", dark=False, background="#eef1f5", floor="#e4e8ed", grid="#c4ccd6", shadow="#ccd2da", text="#1d2530",
    muted="#66717f", joint="#68737f", spring="#8d98a5", reaction="#b0176b", load="#d55e00",
)  # fmt: skip
DARK = Theme(
    name="dark", dark=True, background="#181c22", floor="#20252c", grid="#343c47", shadow="#14171c", text="#e8ecf1",
    muted="#97a3b1", joint="#a9b4c0", spring="#aab3bd", reaction="#ff7fbf", load="#ff9d4d",
    bodies=("#3d9be0", "#f2b233", "#20c997", "#e29ac3", "#8fd0f5", "#f27d3f", "#f0e442"),
    runs=("#3d9be0", "#f2b233", "#20c997", "#e29ac3", "#8fd0f5", "#f27d3f"),
    axes=("#f27d3f", "#20c997", "#3d9be0"),
)  # fmt: skip
THEMES = {"light": LIGHT, "dark": DARK}


def theme(value: Any) -> Theme:
    """The theme of this name, or the theme itself."""
    if isinstance(value, Theme):
        return value
    if value in THEMES:
        return THEMES[value]
    raise ModelError(f"view: theme = {value!r}; expected " + " or ".join(f'"{name}"' for name in THEMES))
