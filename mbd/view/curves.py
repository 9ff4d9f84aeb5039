"""Curves of channels beside a scene: which lines belong into one diagram, thinned and coloured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbd.errors import Array, ModelError
from mbd.results.channels import values_of
from mbd.view.arguments import Curves
from mbd.view.plotting import thinned
from mbd.view.runs import run_names
from mbd.view.scene import Scene
from mbd.view.theme import Theme, colour, legible, to_hex

MAX_DIAGRAMS = 12
MAX_LINES = 9  # in a diagram
POINTS = 1500  # of a line


@dataclass
class Diagram:
    """Lines with one unit over time."""

    title: str
    unit: str
    lines: list[tuple[str, str, bool, Array, Array]] = field(default_factory=list)  # label, colour, dashed, t, y


def diagrams(scene: Scene, curves: Curves | None) -> list[Diagram]:
    """One diagram for each channel; numbers of one owner with the same unit ("energy.*") share one."""
    if curves is None:
        return []
    patterns = [curves] if isinstance(curves, str) else list(curves)
    whole = [f"{p}.*" if p in ("energy", "momentum", "constraint_error") else p for p in patterns]
    first = scene.solutions[0]
    groups: dict[Any, list[Any]] = {}
    for channel in first.channels.matching(whole):
        owner = channel.name.rpartition(".")[0]
        shared = (owner, channel.unit) if owner in ("energy", "constraint_error") else channel.name
        groups.setdefault(shared, []).append(channel)
    if len(groups) > MAX_DIAGRAMS:
        raise ModelError(
            f"view: curves = {curves!r} are {len(groups)} diagrams; expected {MAX_DIAGRAMS} at most, "
            'for example curves=["energy", "tip.position"]'
        )
    return [_diagram(scene, channels) for channels in groups.values()]


def _diagram(scene: Scene, channels: list[Any]) -> Diagram:
    names = run_names(scene.solutions)
    title = channels[0].name if len(channels) == 1 else channels[0].name.rpartition(".")[0]
    diagram = Diagram(title, channels[0].unit.replace("^2", "²") if channels[0].unit != "1" else "")
    single = len(channels) == 1 and not channels[0].shape
    for run, solution in enumerate(scene.solutions):
        k = 0
        for channel in channels:
            values = np.asarray(values_of(solution.channels[channel.name], solution))
            values = values.reshape(len(solution), -1)
            parts = channel.components or (channel.name.rpartition(".")[2] if len(channels) > 1 else "",)
            for part, column in zip(parts, values.T, strict=False):
                if k < MAX_LINES:
                    label = ", ".join(x for x in (part, names[run] if scene.several else "") if x)
                    shade = _shade(scene.theme, run if single else k, single)
                    t, y = thinned(solution.t, column, POINTS)
                    diagram.lines.append((label, shade, run > 0 and not single, t, y))
                k += 1
    return diagram


def _shade(theme: Theme, index: int, by_run: bool) -> str:
    """A colour that can be seen on the page."""
    rgb = theme.run(index) if by_run else theme.body(index)
    return to_hex(legible(rgb, colour(theme.background), 3.0))
