"""Curves in the window: charts above the sliders, with a cursor at the present time."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.errors import ModelError
from mbd.view.arguments import Curves
from mbd.view.clock import unit_of
from mbd.view.curves import diagrams
from mbd.view.opengl import pyvista_module
from mbd.view.scene import Scene

MOST = 3  # beside each other
BOTTOM, HEIGHT = 0.13, 0.27  # shares of the window


class Charts:
    """Diagrams of channels on a plotter."""

    def __init__(self, scene: Scene, plotter: Any, curves: Curves | None) -> None:
        found = diagrams(scene, curves)
        if len(found) > MOST:
            raise ModelError(
                f"view: curves = {curves!r} are {len(found)} diagrams; a window has room for {MOST}, a page for more"
            )
        self.charts: list[Any] = []
        self.cursors: list[tuple[Any, tuple[float, float]]] = []
        self.size, name = unit_of(scene.end - scene.start)
        theme, pv = scene.theme, pyvista_module()
        for k, diagram in enumerate(found):
            title = f"{diagram.title} in {diagram.unit}" if diagram.unit else diagram.title
            chart = pv.Chart2D(
                size=(1.0 / len(found), HEIGHT), loc=(k / len(found), BOTTOM), x_label=f"time in {name}", y_label=""
            )
            chart.title = title
            chart.background_color = theme.background
            chart.border_color = theme.grid
            for axis in (chart.x_axis, chart.y_axis):
                axis.pen.color = theme.muted
                axis.grid_pen.color = theme.grid
                for style in (axis.GetLabelProperties(), axis.GetTitleProperties()):
                    style.SetColor(*pv.Color(theme.text).float_rgb)
                    style.SetFontSize(11)
                    style.SetBold(False)
            chart.GetTitleProperties().SetColor(*pv.Color(theme.text).float_rgb)
            chart.GetTitleProperties().SetFontSize(13)
            values = []
            for label, shade, dashed, t, y in diagram.lines:
                chart.line(t / self.size, y, color=shade, width=1.6, style="--" if dashed else "-", label=label)
                values.append(y[np.isfinite(y)])
            chart.legend_visible = any(label for label, *_ in diagram.lines)
            legend = chart.GetLegend()
            legend.SetInline(False)  # beside the lines
            legend.GetLabelProperties().SetColor(*pv.Color(theme.text).float_rgb)
            legend.GetBrush().SetColorF(*pv.Color(theme.background).float_rgb)
            legend.GetPen().SetColorF(*pv.Color(theme.grid).float_rgb)
            whole = np.concatenate(values) if values else np.zeros(1)
            ends = (float(whole.min(initial=np.inf)), float(whole.max(initial=-np.inf)))
            if not ends[1] > ends[0]:
                ends = (ends[0] - 1.0, ends[0] + 1.0) if np.isfinite(ends[0]) else (-1.0, 1.0)
            gap = 0.05 * (ends[1] - ends[0])
            chart.y_range = (ends[0] - gap, ends[1] + gap)
            chart.x_range = (scene.start / self.size, max(scene.end, scene.start + 1e-12) / self.size)
            cursor = chart.line([scene.start / self.size] * 2, list(ends), color=theme.text, width=1.4)
            plotter.add_chart(chart)
            self.charts.append(chart)
            self.cursors.append((cursor, ends))

    def show(self, t: float) -> None:
        """Move the cursors to a time."""
        for cursor, ends in self.cursors:
            cursor.update([t / self.size] * 2, list(ends))
