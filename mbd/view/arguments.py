"""What people may give to views, under names that signatures and ``help`` can show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from mbd.elements.arguments import Vector

if TYPE_CHECKING:
    from mbd.bodies import Body
    from mbd.model import Element
    from mbd.results.solution import Solution
    from mbd.view.theme import Theme

Runs: TypeAlias = "Solution | Sequence[Solution]"
"""One solution, or several of the same model."""

ThemeName: TypeAlias = "Literal['light', 'dark'] | Theme"
"""A theme by its name."""

CameraPlace = str | Sequence[Vector] | Mapping[float, str | Sequence[Vector]]
"""Where a view looks from: a preset by its name, (position, target) or (position, target, up); or a path of them,
time -> place."""

Followed: TypeAlias = "Body | str"
"""A body that stays in the middle, as an object or by name."""

Size = tuple[int, int] | Sequence[int]
"""Width and height in pixels."""

Speed: TypeAlias = "float | Literal['auto']"
"""Seconds of the motion per second of playing; "auto" plays the whole run in 5 to 10 seconds."""

Trail: TypeAlias = "Body | str | tuple[Body | str, Vector]"
"""A body whose path is drawn, or a pair (body, body-fixed point)."""

Trails: TypeAlias = "bool | Trail | Sequence[Trail]"
"""True (all bodies), False, "auto" (the outermost bodies), or what is to have a trail."""

Curves: TypeAlias = "str | Sequence[str]"
"""Channels by name or pattern ("tip.position", "hinge*.angle"), or "energy"."""

Elements: TypeAlias = "Element | str | Sequence[Element | str]"
"""Bodies, joints or forces, as objects or by name."""


class Parts(TypedDict, total=False):
    """Options of ``mbd.view.Scene``: what is drawn."""

    joints: bool
    springs: bool
    trails: Trails
    frames: bool
    axes: bool
    floor: bool
    labels: bool
    colour_by: str | None
    side_by_side: bool


class Drawn(Parts, total=False):
    """Options of ``mbd.view.Scene``: what is drawn, arrows included."""

    reactions: bool
    loads: bool


class Look(Drawn, total=False):
    """All options of ``mbd.view.Scene``."""

    theme: ThemeName
