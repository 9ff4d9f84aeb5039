"""What happens in the interactive window: keys, sliders, the timer, picking, texts on the glass."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from mbd.view.camera import Camera
from mbd.view.charts import BOTTOM, HEIGHT, Charts
from mbd.view.clock import check_rate, check_speed, time_text
from mbd.view.picking import describe, pick, ray
from mbd.view.pieces import Solid
from mbd.view.runs import run_list
from mbd.view.scene import Scene
from mbd.view.stage import Stage
from mbd.view.theme import colour

TICK_MILLISECONDS = 16
CLICK_PIXELS = 4
NARROW = 700  # pixels; there is no room for everything in narrower windows
DOUBLINGS = 8  # of the speed, from the first one to either end of its slider
HELP = """space       play, pause
left, right one frame back, forth
home, end   start, end
up, down    twice as fast, half as fast
l           loop
t  j  f     trails, joints, frames
r  n        reactions, names
c           camera as at the start
click       values of a body or joint
h           this help
q           close"""


class Window:
    """Everything that reacts; the plotter may also be one without a window, which tests drive by events."""

    def __init__(
        self, plotter: Any, solutions: Any, *, speed: Any = "auto", loop: bool = True, play: bool = True,
        camera: Any = "auto", follow: Any = None, curves: Any = None, **look: Any,
    ) -> None:  # fmt: skip
        self.plotter = plotter
        wanted = {
            key: bool(look.pop(key, default))
            for key, default in (("reactions", False), ("frames", False), ("labels", False))
        }
        wanted |= {"joints": bool(look.pop("joints", True)), "trails": look.get("trails", "auto") is not False}
        if not wanted["trails"]:
            look["trails"] = "auto"
        small = (
            len(run_list(solutions)[0].model.joints) <= 200
        )  # reactions of thousands of joints would take long to prepare
        self.scene = Scene(solutions, reactions=small or wanted["reactions"], frames=True, labels=True, **look)
        self.speed = check_speed(speed, self.scene.end - self.scene.start)
        self.first_speed, self.loop, self.playing = self.speed, bool(loop), bool(play)
        width, height = plotter.window_size
        arrows = ("reaction", "load") if wanted["reactions"] else ("load",)
        self.charts = Charts(self.scene, plotter, curves)
        covered = bool(self.charts.charts)  # by curves: then the scene is shown smaller and higher
        view = Camera(self.scene, camera, follow, width / height, 1.75 if covered else 1.45, arrows)
        self.stage = Stage(self.scene, plotter, view)
        if covered:
            plotter.camera.SetWindowCenter(0.0, -0.32)
        self.on = {
            "trail": wanted["trails"], "joint": wanted["joints"], "frame": wanted["frames"],
            "reaction": wanted["reactions"], "label": wanted["labels"],
        }  # fmt: skip
        for role, on in self.on.items():
            self.stage.switch(role, on)
        self.stage.glass.place_scale(self._bottom() + 0.02, self.on["reaction"])
        self.picked: Solid | None = None
        self._last = time.perf_counter()
        self._press: tuple[int, int] | None = None
        self._quiet = True
        self._texts()
        self._widgets()
        self._events()
        self._quiet = False
        self.go(self.scene.start)

    # --- what is on the glass

    def _texts(self) -> None:
        pl, theme = self.plotter, self.scene.theme
        width, height = pl.window_size
        narrow = width < NARROW
        style = {"color": theme.text, "font": "courier", "font_size": 6 if narrow else 9}
        line = (18.0 if narrow else 26.0) / height
        top = 1.0 - 1.1 * line
        self.status = pl.add_text("", position=(0.015, top), viewport=True, name="status", **style)
        self.info = pl.add_text("", position=(0.015, top - 0.5 * line), viewport=True, name="info", **style)
        place = (0.03 if narrow else 0.62, top - 0.5 * line)
        self.help = pl.add_text(HELP, position=place, viewport=True, name="help", **style)
        self.hint = pl.add_text(
            "h: help", position=(0.905, top), viewport=True, name="hint", **{**style, "color": theme.muted}
        )
        self.button_text = pl.add_text("", position=(50.0 / width, 0.032), viewport=True, name="button", **style)
        for actor in (self.status, self.info, self.help):
            look = actor.GetTextProperty()
            look.SetBackgroundColor(*colour(theme.background))
            look.SetBackgroundOpacity(0.75)
        self.info.GetTextProperty().SetVerticalJustificationToTop()
        self.help.GetTextProperty().SetVerticalJustificationToTop()
        self.help.SetVisibility(False)

    def _widgets(self) -> None:
        theme = self.scene.theme
        first, last = self.scene.start, self.scene.end
        span = (first, last if last > first else first + 1.0)
        left = max(0.12, 110.0 / self.plotter.window_size[0])
        small = max(0.018, 9.0 / self.plotter.window_size[1])
        common = {
            "color": theme.muted,
            "title_color": theme.text,
            "style": "modern",
            "fmt": "%.3g",
            "title_height": small,
            "slider_width": 0.016,
            "tube_width": 0.008,
        }
        self.time_slider = self.plotter.add_slider_widget(
            self._slid, span, value=span[0], title="time in s", pointa=(left, 0.075), pointb=(0.70, 0.075),
            interaction_event="always", **common,
        )  # fmt: skip
        self.speed_slider = self.plotter.add_slider_widget(
            self._sped, (-DOUBLINGS, DOUBLINGS), value=0.0, title=f"speed {self.first_speed:g} x 2^",
            pointa=(0.76, 0.075), pointb=(0.97, 0.075), interaction_event="always", **common,
        )  # fmt: skip
        self.button = self.plotter.add_checkbox_button_widget(
            self._clicked, value=self.playing, position=(14.0, 18.0), size=30, border_size=4,
            color_on=theme.bodies[2], color_off=theme.bodies[1], background_color=theme.grid,
        )  # fmt: skip

        for widget in (self.time_slider, self.speed_slider):
            look = widget.GetRepresentation()
            look.SetLabelHeight(small)
            look.GetTubeProperty().SetColor(*colour(theme.muted))
            look.GetSliderProperty().SetColor(*colour(theme.bodies[0]))
            look.GetLabelProperty().SetColor(*colour(theme.text))

    def _events(self) -> None:
        pl = self.plotter
        interactor = pl.iren.interactor
        interactor.RemoveObservers("CharEvent")  # VTK's own meanings of these keys
        for key, action in {
            "space": self.toggle, "Right": lambda: self.step(1), "Left": lambda: self.step(-1),
            "Home": lambda: self.jump(self.scene.start), "End": lambda: self.jump(self.scene.end),
            "Up": lambda: self.set_speed(2.0 * self.speed), "Down": lambda: self.set_speed(0.5 * self.speed),
            "l": self.toggle_loop, "t": lambda: self.flip("trail"), "j": lambda: self.flip("joint"),
            "f": lambda: self.flip("frame"), "r": lambda: self.flip("reaction"), "n": lambda: self.flip("label"),
            "c": self.reset_camera, "h": self.toggle_help, "q": self.close, "Escape": self.close,
        }.items():  # fmt: skip
            pl.add_key_event(key, action)
        interactor.AddObserver("LeftButtonPressEvent", lambda *_: self._pressed(), 10.0)
        interactor.AddObserver("LeftButtonReleaseEvent", lambda *_: self._released(), 10.0)
        # while the camera is dragged, only its style hears of the button
        interactor.GetInteractorStyle().AddObserver("EndInteractionEvent", lambda *_: self._released())
        # not add_timer_event, which before pyvista 0.45 leaves no time for anything else
        interactor.AddObserver("TimerEvent", lambda *_: self.tick())
        interactor.CreateRepeatingTimer(TICK_MILLISECONDS)

    # --- time

    @property
    def t(self) -> float:
        """The time that is shown."""
        return self.stage.time

    def go(self, t: float) -> None:
        """Show a time."""
        self.stage.show(
            float(np.clip(t, self.scene.start, self.scene.end)), render=False, aim=self.stage.camera.row is not None
        )
        representation = self.time_slider.GetRepresentation()
        representation.SetValue(self.t)
        self.charts.show(self.t)
        self._write()
        self.stage.render()

    def tick(self) -> None:
        """Called by the timer: advance by the time that has passed."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        if not self.playing:
            return
        t = self.t + min(passed, 0.25) * self.speed
        if t > self.scene.end:
            if self.loop:
                t = self.scene.start
            else:
                t = self.scene.end
                self._set_playing(False)
        self.go(t)

    def frame_step(self) -> float:
        """Time between two frames."""
        motion = self.scene.motions[0]
        mean = (motion.end - motion.start) / max(1, len(motion.t) - 1)
        return max(mean, (motion.end - motion.start) / 600.0)

    def step(self, count: int) -> None:
        """Some frames on, or back; pauses."""
        self._set_playing(False)
        self.go(self.t + count * self.frame_step())

    def jump(self, t: float) -> None:
        """Go somewhere and pause."""
        self._set_playing(False)
        self.go(t)

    def toggle(self) -> None:
        """Play or pause; starts again at the end."""
        if not self.playing and self.t >= self.scene.end:
            self.go(self.scene.start)
        self._set_playing(not self.playing)
        self._write()
        self.stage.render()

    def _set_playing(self, playing: bool) -> None:
        self.playing, self._last = playing, time.perf_counter()
        self.button.GetRepresentation().SetState(int(playing))

    def toggle_loop(self) -> None:
        """Start again at the end, or stop there."""
        self.loop = not self.loop
        self._write()
        self.stage.render()

    def set_speed(self, speed: float) -> None:
        """Seconds of the motion per second."""
        self.speed = check_rate(speed, "speed")
        doublings = float(np.log2(self.speed / self.first_speed))  # the slider ends somewhere, the keys do not
        self.speed_slider.GetRepresentation().SetValue(float(np.clip(doublings, -DOUBLINGS, DOUBLINGS)))
        self._write()
        self.stage.render()

    # --- answers to events

    def _slid(self, value: float) -> None:
        if not self._quiet:  # the slider also calls when it is made
            self.jump(value)

    def _sped(self, value: float) -> None:
        if not self._quiet:
            self.set_speed(self.first_speed * 2.0**value)

    def _clicked(self, on: bool) -> None:
        if not self._quiet and bool(on) != self.playing:
            self.toggle()

    def _pressed(self) -> None:
        self._press = self.plotter.iren.interactor.GetEventPosition()

    def _released(self) -> None:
        if self._press is None:
            return
        x, y = self.plotter.iren.interactor.GetEventPosition()
        start, self._press = self._press, None
        if abs(x - start[0]) + abs(y - start[1]) <= CLICK_PIXELS and y > self._bottom() * self.plotter.window_size[1]:
            self.pick(x, y)

    def _bottom(self) -> float:
        """Share of the window that belongs to sliders and curves."""
        return BOTTOM + HEIGHT if self.charts.charts else 0.12

    def pick(self, x: float, y: float) -> Solid | None:
        """Choose what is under a pixel, counted from the lower left corner."""
        hidden = [role for role, on in self.on.items() if not on]
        self.picked = pick(self.scene, self.stage.poses, *ray(self.stage, x, y), hidden=hidden)
        self.stage.chosen = None if self.picked is None else (self.picked.body, self.picked.owner)
        self.stage.paint()
        self._write()
        self.stage.render()
        return self.picked

    def flip(self, role: str) -> None:
        """Show or hide a kind of thing."""
        self.on[role] = not self.on[role]
        self.stage.switch(role, self.on[role])
        self.stage.glass.place_scale(self._bottom() + 0.02, self.on["reaction"])
        self.stage.render()

    def reset_camera(self) -> None:
        """Back to the view at the start."""
        self.stage.aim()
        self.stage.render()

    def toggle_help(self) -> None:
        """Show or hide the list of keys."""
        self.help.SetVisibility(not self.help.GetVisibility())
        self.stage.render()

    def close(self) -> None:
        """End the loop of events; the window is closed afterwards, since closing it in a callback may crash."""
        self.plotter.iren.terminate_app()

    def _write(self) -> None:
        """Bring the texts up to date."""
        state = "playing" if self.playing else "paused "
        loop = "loop" if self.loop else "once"
        narrow = self.plotter.window_size[0] < NARROW
        name = "" if narrow else f"{self.scene.solutions[0].model.name}   "
        self.hint.SetVisibility(not narrow)
        now = time_text(self.t, self.scene.start, self.scene.end)
        self._set(
            self.status,
            f"{name}t = {now}   x {self.speed:g}   {state}   {loop}",
        )
        self._set(self.button_text, "pause" if self.playing else "play")
        self._set(self.info, describe(self.scene, self.picked, self.t) if self.picked is not None else "")

    def _set(self, actor: Any, text: str) -> None:
        actor.SetInput(text)
        actor.GetTextProperty().SetColor(*colour(self.scene.theme.text))
