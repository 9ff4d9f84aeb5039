"""What is written on the glass in front of a scene: names, letters at the axes, legends, scales and the time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.view.labels import laid_out
from mbd.view.runs import run_names
from mbd.view.shading import MAP
from mbd.view.theme import Colour, colour, readable_on

if TYPE_CHECKING:
    from mbd.view.stage import Stage

FARTHEST = 5.0  # font sizes between a name and where it belongs


class Glass:
    """Texts of a stage; ``write`` brings them to where they belong at the present time."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.scene = stage, stage.scene
        self.height = stage.plotter.window_size[1]
        scene = self.scene
        names = scene.label_places(stage.poses)[0] if scene.labels else []
        self.names = [self._floating(name, "label") for name in names]
        self.letters = [
            self._floating(letter, "axes", colour(shade))
            for letter, shade in zip("xyz", scene.theme.axes, strict=True) if scene.axes
        ]  # fmt: skip
        if scene.several:
            self._legend()
        if scene.shading is not None:
            self._colour_bar()
        self.scale_text: Any = None
        if scale := scene.arrow_scales():
            self._scale("\n".join(scale))

    def _text(self, words: str, rgb: Colour, share: float) -> Any:
        """A text whose height is a share of that of the window, but can be read."""
        from vtkmodules.vtkRenderingCore import vtkTextActor

        text = vtkTextActor()
        text.SetInput(words)
        style = text.GetTextProperty()
        style.SetFontSize(max(13, round(share * self.height)))
        style.SetColor(*rgb)
        return text

    def _floating(self, words: str, role: str, rgb: Colour | None = None) -> Any:
        """A text that stands at a point of the scene."""
        theme = self.scene.theme
        text = self._text(f" {words} " if rgb is None else words, rgb or colour(theme.text), 0.03)
        style = text.GetTextProperty()
        style.SetJustificationToCentered()
        style.SetVerticalJustificationToCentered()
        if rgb is None:
            style.SetBackgroundColor(*colour(theme.background))
            style.SetBackgroundOpacity(0.7)
        else:
            style.SetBold(True)
        self.stage._add([text], role)
        return text

    def _legend(self) -> None:
        """Which colour is which run."""
        names = run_names(self.scene.solutions)
        longest = max(len(name) for name in names)
        top = 0.9 if self.scene.shading is None else 0.78  # below the scale of colours
        share = min(0.028, 0.9 * self.stage.plotter.window_size[0] / self.height / max(longest, 1) / 0.62)
        for k, name in enumerate(names):
            ground = self.scene.theme.run(k)
            text = self._text(f"  {name}  ", readable_on(ground), share)
            style = text.GetTextProperty()
            style.SetFontFamilyToArial()
            style.SetBold(True)
            style.SetBackgroundColor(*ground)
            style.SetBackgroundOpacity(1.0)
            style.SetJustificationToRight()
            text.GetPositionCoordinate().SetCoordinateSystemToNormalizedViewport()
            text.GetPositionCoordinate().SetValue(0.98, top - 1.9 * k * style.GetFontSize() / self.height)
            self.stage._add([text], "legend")

    def _colour_bar(self) -> None:
        """Which colour is which value."""
        from vtkmodules.vtkCommonCore import vtkLookupTable
        from vtkmodules.vtkRenderingAnnotation import vtkScalarBarActor

        from mbd.view.shading import mapped

        shading = self.scene.shading
        assert shading is not None
        table = vtkLookupTable()
        table.SetNumberOfTableValues(16 * len(MAP))
        table.SetTableRange(shading.low, shading.high)
        for k, rgb in enumerate(mapped(np.linspace(0.0, 1.0, table.GetNumberOfTableValues()))):
            table.SetTableValue(k, (*rgb, 1.0))
        bar = vtkScalarBarActor()
        bar.SetLookupTable(table)
        bar.SetTitle(f"{shading.title} in {shading.unit}" if shading.unit else shading.title)
        bar.SetNumberOfLabels(3)
        bar.SetLabelFormat("%.2g")
        bar.SetOrientationToHorizontal()
        bar.SetTextPositionToPrecedeScalarBar()
        bar.GetPositionCoordinate().SetValue(0.64, 0.865)
        bar.SetWidth(0.32)
        bar.SetHeight(0.12)
        bar.SetBarRatio(0.2)
        bar.UnconstrainedFontSizeOn()
        for style, share in ((bar.GetTitleTextProperty(), 0.028), (bar.GetLabelTextProperty(), 0.024)):
            style.SetColor(*colour(self.scene.theme.text))
            style.SetFontSize(max(12, round(share * self.height)))
            style.SetBold(False)
            style.SetItalic(False)
            style.SetShadow(False)
        self.stage._add([bar], "scale")

    def _scale(self, words: str) -> None:
        """What the lengths of arrows mean."""
        text = self._text(words, colour(self.scene.theme.muted), 0.026)
        text.GetTextProperty().SetJustificationToRight()
        text.GetPositionCoordinate().SetCoordinateSystemToNormalizedViewport()
        text.GetPositionCoordinate().SetValue(0.98, 0.03)
        self.stage._add([text], "scale")
        self.scale_text = text

    def place_scale(self, height: float, reactions: bool) -> None:
        """Put the meaning of arrows where nothing else is, without those that are hidden."""
        if self.scale_text is not None:
            self.scale_text.GetPositionCoordinate().SetValue(0.98, height)
            lines = [x for x in self.scene.arrow_scales() if reactions or not x.startswith("reactions")]
            self.scale_text.SetInput("\n".join(lines))

    def clock(self) -> Any:
        """The time in the lower left corner."""
        text = self._text("", colour(self.scene.theme.muted), 0.032)
        text.SetPosition(round(0.03 * self.height), round(0.03 * self.height))
        self.stage._add([text], "clock")
        return text

    def write(self) -> None:
        """Put names and letters where they belong, inside the picture and beside each other."""
        stage, scene = self.stage, self.scene
        texts, places = [], []
        if self.letters:
            texts += self.letters
            places.append(scene.letter_places()[1])
        if self.names:
            texts += self.names
            places.append(scene.label_places(stage.poses)[1])
        if not texts:
            return
        shown = [k for k, text in enumerate(texts) if text.GetVisibility()]
        pixels = stage.project(np.concatenate(places))
        width, height = stage.plotter.render_window.GetSize()
        size: list[float] = [0.0, 0.0]
        sizes = []
        for k in shown:
            texts[k].GetSize(stage.plotter.renderer, size)
            sizes.append(tuple(size))
        behind = ~np.isfinite(pixels).all(axis=1)
        pixels[behind] = -1e4
        free = laid_out(pixels[shown], np.array(sizes), (width, height)) if shown else ()
        for k, place in zip(shown, free, strict=True):
            inside = (pixels[k] > -0.15 * width).all() and (pixels[k] < 1.15 * np.array((width, height))).all()
            # what is far outside belongs to something that is not in the picture either; a name far from its body
            # misleads
            near = abs(place[1] - pixels[k][1]) < FARTHEST * texts[k].GetTextProperty().GetFontSize()
            x, y = place if inside and near else (-1000.0, -1000.0)
            texts[k].SetPosition(float(x), float(height - 1 - y))
