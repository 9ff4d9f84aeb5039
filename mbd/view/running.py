"""A running simulation in the browser: sliders for parameters and inputs, pause, reset, and a hand that drags bodies.

``Live`` advances a simulator and tells what there is to draw; ``mbd.view.serving`` brings it to browsers. Nothing here
reads a clock except the thread of ``live``, so that everything can be driven by hand.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from mbd.elements.suggestions import did_you_mean
from mbd.errors import Array, MbdError, ModelError, check_number
from mbd.model import Model
from mbd.results.channels import values_of
from mbd.view.arguments import CameraPlace, Curves, Parts, ThemeName
from mbd.view.camera import Camera
from mbd.view.clock import check_rate
from mbd.view.curves import diagrams
from mbd.view.hand import Hand, is_hand, own_inputs, with_hand
from mbd.view.live_arrows import LiveArrows
from mbd.view.motion import quaternions
from mbd.view.page import filled
from mbd.view.picking import VALUES, facts_of
from mbd.view.recording import Recording
from mbd.view.scene import Scene

if TYPE_CHECKING:
    from mbd.integrators.base import Integrator
    from mbd.simulation.simulator import Simulator
    from mbd.view.serving import Server

RATE = 30.0  # pictures per second
LONGEST = 0.1  # seconds that a picture may stand for; a simulation that is slower than that falls behind real time
BUDGET = 0.03  # seconds of computing per picture
PULLS = 240.0  # a second: how often the hand looks at the body, at least
STEP = 2e-3
REACH = 1.35  # of the first picture: how far a motion may go before it leaves the window


class Live:
    """A simulator with what a browser sees of it and does to it.

    ``frame(passed)`` advances the run and returns the picture; ``do(command)`` obeys a command of the page.
    """

    def __init__(
        self, source: Model | Simulator, *, step: float = STEP, integrator: Integrator | None = None,
        speed: float = 1.0, ranges: Mapping[str, tuple[float, float]] | None = None, camera: CameraPlace = "auto",
        curves: Curves | None = None, theme: ThemeName = "light", title: str | None = None, **parts: Unpack[Parts],
    ) -> None:  # fmt: skip
        from mbd.simulation.simulator import Simulator

        if isinstance(source, Model):
            source = Simulator(with_hand(source), step, integrator, record=False)
        elif not isinstance(source, Simulator):
            raise ModelError(f"view: live was given {source!r}; expected a Model or a Simulator")
        self.simulator, self.hand = source, Hand(source)
        self.speed, self.playing, self.left, self.message = check_rate(speed, "speed"), True, 0.0, ""
        self.chosen: int | None = None
        self.factor = 1.0  # simulated time per time that should have been simulated
        self.step = float(source._given)
        if parts.get("colour_by") is not None or parts.get("side_by_side"):
            raise ModelError("view: colour_by and side_by_side belong to finished runs; leave them out of live")
        shown = {name: bool(parts.pop(name, name == "loads")) for name in ("reactions", "loads")}  # type: ignore[misc]
        self.scene = Scene(source.now, theme=theme, loads=False, **parts)
        self.arrows = LiveArrows(self.scene, shown["reactions"], shown["loads"])
        self.arrows.read(source.now)
        self.scene.cloud = self.scene.centre + REACH * (self.scene.cloud - self.scene.centre)
        self.recording = Recording(self.scene, Camera(self.scene, camera, None, 1.6))
        self.sliders = self._sliders(ranges or {})
        self.diagrams = diagrams(self.scene, curves)
        self.channels = self._channels()
        self.title = title
        self.lock = threading.RLock()  # commands come from other threads than pictures

    # --- the page

    def _sliders(self, ranges: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
        parameters, inputs = own_inputs(self.simulator.model)
        values = self.simulator.system.values
        for name in ranges:
            if name not in (*parameters, *inputs):
                raise ModelError(
                    f"view: ranges names {name!r}; {did_you_mean(name, [*parameters, *inputs]) or 'no such parameter'}"
                )
        sliders = []
        for name in (*inputs, *parameters):
            value = values[name]
            low, high = ranges.get(name) or ((min(2.0 * value, 0.0), max(2.0 * value, 0.0)) if value else (-1.0, 1.0))
            low, high = check_number(low, "view", f"range of {name}"), check_number(high, "view", f"range of {name}")
            if not low < high:
                raise ModelError(f"view: the range of {name} is ({low:g}, {high:g}); expected (lowest, highest)")
            sliders.append({
                "name": name, "kind": "input" if name in inputs else "parameter", "value": value,
                "low": min(low, value), "high": max(high, value),
            })  # fmt: skip
        return sliders

    def _channels(self) -> list[list[Any]]:
        """The channels of every line of every diagram, with the number of their component."""
        found = []
        for diagram in self.diagrams:
            lines: list[Any] = []
            own = self.simulator.now.channels
            if diagram.title in ("energy", "constraint_error"):
                lines = [(own[f"{diagram.title}.{label}"], 0) for label, *_ in diagram.lines]
            else:
                lines = [(own[diagram.title], k) for k in range(len(diagram.lines))]
            found.append(lines)
        return found

    def page(self) -> str:
        """The text of the page."""
        recording = self.recording
        recording.data["owners"] = [
            {"name": name, "run": 0, "facts": facts_of(self.simulator.model[name]), "values": [],
             "draggable": self.hand.can_hold(name)}
            for _, name in recording.owners
        ]  # fmt: skip
        recording.data["trails"] = [
            {"row": trail.body, "point": (recording.f * trail.point).tolist(), "colour": trail.colour}
            for trail in self.scene.trails
        ]
        recording.data["curves"] = [
            {"title": d.title, "unit": d.unit, "lines": [{"label": x[0], "colour": x[1]} for x in d.lines]}
            for d in self.diagrams
        ]
        recording.data["live"] = {"sliders": self.sliders, "speed": self.speed}
        return filled("live.html", recording, self.title, ("scene.js", "player.js", "live.js"))

    # --- going on

    def frame(self, passed: float, clock: Callable[[], float] | None = None) -> dict[str, Any]:
        """Advance by a time that has passed on the wall, and return what is seen then.

        With ``clock`` it stops when the computing has taken too long; the run is then slower than asked for.
        """
        with self.lock:
            if self.playing:
                wanted = min(passed, LONGEST) * self.speed
                begun = self.simulator.t
                try:
                    self._advance(wanted, clock)
                except MbdError as error:
                    self.message, self.playing = f"{error}", False
                    self.hand.body = ""
                made = self.simulator.t - begun + self.step
                self.factor += 0.1 * (min(1.0, made / max(wanted, self.step)) - self.factor)
            return self.picture()

    def _advance(self, wanted: float, clock: Callable[[], float] | None) -> None:
        simulator = self.simulator
        end = clock() + BUDGET if clock is not None else np.inf
        if simulator.integrator.adaptive:
            piece = min(wanted, 1.0 / PULLS) if self.hand.body else wanted
            done = 0.0
            while done < wanted - 1e-12 and (clock is None or clock() < end):
                self.hand.pull()
                simulator.advance(min(piece, wanted - done))
                done += piece
        else:
            self.left += wanted
            todo = int(self.left / self.step + 1e-9)
            self.left -= todo * self.step
            while todo > 0 and (clock is None or clock() < end):
                # the hand pulls anew for every step, else steps are made in pieces that end in time
                piece = 1 if self.hand.body else min(todo, max(1, todo // 8)) if clock is not None else todo
                self.hand.pull()
                simulator.advance(piece * self.step)
                todo -= piece
        if simulator.stopped is not None:
            self.playing, self.message = False, f"event '{simulator.stopped.name}' has ended the run"
        if not simulator._records:
            del simulator._recording.inputs[1:-1]  # which would grow with every pull of the hand

    def picture(self) -> dict[str, Any]:
        """Everything that changes: places, rotations, links, values, time."""
        with self.lock:
            return self._picture()

    def _picture(self) -> dict[str, Any]:
        simulator, recording = self.simulator, self.recording
        z = simulator.now.frames(0)
        p, r = z[:, :3], z[:, 3:].reshape(-1, 3, 3).transpose(0, 2, 1)
        self.arrows.read(simulator.now)
        numbers: list[Array] = [recording.place(p), quaternions(r)]
        if self.scene.links:
            numbers.append(recording.ends((p, r), simulator.t))
        packed = np.concatenate([x.ravel() for x in numbers]).astype("<f4").tobytes()
        picture: dict[str, Any] = {
            "t": simulator.t, "numbers": base64.b64encode(packed).decode(), "playing": self.playing,
            "message": self.message, "factor": round(self.factor, 3),
            "sliders": [simulator.system.values[s["name"]] for s in self.sliders],
            "curves": [[self._value(*line) for line in lines] for lines in self.channels],
            "arrows": self.scene.arrow_scales(),
        }  # fmt: skip
        if self.hand.body:
            picture["hand"] = [recording.place(self.hand.place()).tolist(), recording.place(self.hand.target).tolist()]
        if self.chosen is not None:
            picture["values"] = self._values(self.chosen)
        return picture

    def _value(self, channel: Any, k: int) -> float:
        value = float(values_of(channel, self.simulator.now)[0, k])
        return value if np.isfinite(value) else 0.0

    def _values(self, owner: int) -> list[Any]:
        name = list(self.recording.owners)[owner][1]
        if name == "ground":
            return []
        view, found = self.simulator.now[name], []
        for label, attribute, unit in VALUES:
            try:
                values = np.asarray(getattr(view, attribute))
            except (AttributeError, ValueError, TypeError):
                continue
            if values.size:
                found.append([label, unit, np.nan_to_num(values[0]).reshape(-1).tolist()])
        return found

    # --- commands

    def do(self, command: Mapping[str, Any]) -> None:
        """Obey a command of the page: {"do": "pause"}, {"do": "set", "name": "k", "value": 3} ..."""
        actions: dict[Any, Callable[..., None]] = {
            "play": self.play, "pause": self.pause, "reset": self.reset, "step": self.one_step, "speed": self.set_speed,
            "set": self.set_value, "grab": self.grab, "drag": self.drag, "release": self.release, "choose": self.choose,
        }  # fmt: skip
        options = dict(command)
        action = options.pop("do", None)
        if action not in actions:
            raise ModelError(f"view: live knows no command {action!r}; expected one of {', '.join(actions)}")
        with self.lock:
            try:
                actions[action](**options)
            except TypeError as error:
                raise ModelError(f"view: the command {dict(command)!r} is wrong: {error}") from None

    def play(self) -> None:
        """Go on."""
        self.playing, self.message = True, ""

    def pause(self) -> None:
        """Stand still."""
        self.playing = False

    def one_step(self) -> None:
        """Make one step and pause."""
        self.playing = False
        self.hand.pull()
        self.simulator.advance(self.step)

    def reset(self) -> None:
        """Back to the start, with the parameters of the sliders and the inputs of the start."""
        self.hand.body, self.left, self.message = "", 0.0, ""
        self.simulator.reset()

    def set_speed(self, value: float) -> None:
        """Simulated seconds per second."""
        self.speed = check_rate(value, "speed")

    def set_value(self, name: str, value: float) -> None:
        """Move a slider: an input acts at once; with another parameter the run goes on from where it is."""
        if is_hand(name) or name not in [s["name"] for s in self.sliders]:
            raise ModelError(f"view: there is no slider {name!r}")
        number = check_number(value, "view", name)
        simulator = self.simulator
        if name in set(simulator.inputs):
            simulator.inputs[name] = number
            return
        held, target = self.hand.body, self.hand.target
        place = self.hand.place() if held else None
        self.hand.release()
        state = simulator.state
        before = simulator.system.values[name]
        try:
            simulator.reset(**{name: number})
        except MbdError as error:
            simulator.reset(**{name: before})
            simulator.set_state(state)
            self.message = f"{name} = {number:g} is refused: {error}"
            return
        try:
            simulator.set_state(state)
        except MbdError as error:
            simulator.reset()
            self.message = f"with {name} = {number:g} the run cannot go on from here and began anew: {error}"
            return
        if held:
            self.hand.hold(held, place)
            self.hand.target = target

    def grab(self, owner: int, place: list[float]) -> None:
        """Take a body at a place of the picture."""
        self.hand.hold(list(self.recording.owners)[owner][1], self._world(place))

    def drag(self, place: list[float]) -> None:
        """Move the hand."""
        if self.hand.body:
            self.hand.target = self._world(place)

    def release(self) -> None:
        """Let go."""
        self.hand.release()

    def choose(self, owner: int | None) -> None:
        """Tell the values of an element with every picture."""
        if owner is not None and not 0 <= owner < len(self.recording.owners):
            raise ModelError(f"view: there is no element number {owner}")
        self.chosen = owner

    def _world(self, place: list[float]) -> Array:
        x = np.asarray(place, dtype=float)
        if x.shape != (3,) or not np.isfinite(x).all():
            raise ModelError(f"view: {place!r} is no place; expected three numbers")
        return x / self.recording.f + self.recording.centre


def live(
    source: Model | Simulator, *, step: float = STEP, integrator: Integrator | None = None, speed: float = 1.0,
    ranges: Mapping[str, tuple[float, float]] | None = None, camera: CameraPlace = "auto",
    curves: Curves | None = None, theme: ThemeName = "light", title: str | None = None, port: int = 0,
    browser: bool = True, block: bool | None = None, **parts: Unpack[Parts],
) -> Server:  # fmt: skip
    """Run a model in the browser: sliders for its parameters and inputs, pause, reset, and bodies to drag.

    source: a model, or a ``Simulator`` (made of ``mbd.view.with_hand(model)`` if bodies are to be dragged).
    step, integrator: of the simulation, for a model. speed: simulated seconds per second.
    ranges: lowest and highest values of sliders, {"k": (0, 100)}; by default zero to twice the value.
    curves: channels that are drawn under the scene, over the last ten seconds.
    port: of this machine; 0 takes a free one. browser: open the page there.
    block: wait until Ctrl-C; by default in scripts, not in notebooks and at a prompt. Returns the server:
        ``url``, ``stop()``, ``live`` (with the simulator).

    Only programs of this machine that know the address reach the simulation.
    """
    from mbd.view.serving import Server, is_prompt

    seen = Live(
        source, step=step, integrator=integrator, speed=speed, ranges=ranges, camera=camera, curves=curves, theme=theme,
        title=title, **parts,
    )  # fmt: skip
    server = Server(seen, port)
    print(f"running at {server.url}")
    if browser:
        import webbrowser

        webbrowser.open(server.url)
    if block or (block is None and not is_prompt()):
        try:
            while True:
                time.sleep(0.5)
        except KeyboardInterrupt:
            server.stop()
    return server
