"""A running simulation: it is that of ``simulate``, obeys commands, and its hand is a spring; then in a browser."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mbd
from mbd.view.hand import own_inputs
from mbd.view.live_arrows import round_above
from mbd.view.running import Live
from mbd.view.serving import Server

from .test_page import ARGUMENTS, TIMEOUT

STEP = 5e-3


def swing(joints: int = 2) -> mbd.Model:
    """A chain with a spring whose stiffness is a parameter, and a motor whose torque is an input."""
    model = mbd.Model("swing", gravity=(0, 0, -9.81))
    k, u = model.parameter("k", 40.0), model.input("u")
    last: Any = model.ground
    for i in range(joints):
        node = mbd.nodes.RotationVector(position=(0.5 * i + 0.25, 0, 2))
        body = model.add(mbd.RigidBody(f"link {i + 1}", 1.0, (0.001, 0.02, 0.02), node))
        model.add(mbd.joints.Revolute(last, body, at=(0.5 * i, 0, 2), axis=(0, 1, 0), name=f"hinge {i + 1}"))
        last = body
    model.add(mbd.forces.Spring(model.ground, last, (0.5, 0, 0), stiffness=k, length=1.0, name="coil"))
    model.add(mbd.forces.Torque(model["link 1"], (0, u, 0), name="motor"))
    return model


def numbers(picture: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(picture["numbers"]), dtype="<f4")


def test_it_is_the_simulation() -> None:
    """Pictures show the states of ``simulate``: places, rotations and the ends of the spring."""
    model = swing()
    live = Live(model, step=STEP)
    for _ in range(15):
        picture = live.frame(1.0 / 30.0)
    run = mbd.simulate(model, 0.5, STEP)
    assert picture["t"] == pytest.approx(0.5)
    x, rows, f = numbers(picture), 3, live.recording.f
    places = x[: 3 * rows].reshape(-1, 3) / f + live.recording.centre
    for k in (1, 2):
        np.testing.assert_allclose(places[k], run[f"link {k}"].position[-1], atol=1e-6)
    from mbd.view.motion import matrices

    turn = matrices(x[3 * rows : 7 * rows].reshape(-1, 4))
    np.testing.assert_allclose(turn[2], run["link 2"].rotation[-1], atol=1e-6)
    coil = x[7 * rows :].reshape(-1, 6)[0]
    assert np.linalg.norm(coil[3:]) / f == pytest.approx(run["coil"].length[-1], rel=1e-5)
    assert own_inputs(model) == (["k"], ["u"]) and "hand on link 1" not in model


def test_arrows_show_the_forces_of_the_present() -> None:
    """Reactions and loads in their directions and on one scale, which the page tells; the hand has no arrows."""
    model = swing()
    model.add(mbd.forces.Force(model["link 2"], (0, 0, 3.0), point=(0.25, 0, 0), name="lift"))
    live = Live(model, step=STEP, reactions=True)
    live.do({"do": "set", "name": "u", "value": 2.0})
    peak = 0.0  # of the reactions, half of which is forgotten after two seconds
    for _ in range(10):
        picture = live.frame(1.0 / 30.0)
        now = live.simulator.now
        forces = np.array([now[f"hinge {k}"].force[0] for k in (1, 2)])
        peak = max(0.5 ** (1.0 / 60.0) * peak, np.linalg.norm(forces, axis=1).max())
    links = numbers(picture)[7 * 3 :].reshape(-1, 6)
    arrows = links[-4:]
    assert len(links) == 1 + 4  # the coil, two reactions, a force, a torque
    f, radius = live.recording.f, live.scene.radius
    scale = 0.42 * radius / round_above(peak)
    assert [round_above(x) for x in (0.9, 1.0, 1.1, 30.0, 7e-5)] == pytest.approx([1.0, 1.0, 2.0, 50.0, 1e-4])
    np.testing.assert_allclose(arrows[:2, 3:] / f, scale * forces, rtol=1e-4, atol=1e-5 * radius)
    np.testing.assert_allclose(arrows[2, 3:] / f, (0, 0, 0.6 * 0.42 * radius), rtol=1e-5, atol=1e-6 * radius)
    np.testing.assert_allclose(arrows[3, 3:] / f, (0, 0.42 * radius, 0), rtol=1e-5, atol=1e-6 * radius)
    place = now["link 2"].point((0.25, 0, 0))[0]
    np.testing.assert_allclose(arrows[2, :3] / f + live.recording.centre, place, atol=1e-5)
    assert [line.split(":")[0] for line in picture["arrows"]] == ["reactions", "loads", "torques"]
    live.do({"do": "reset"})
    assert [line.split(":")[0] for line in live.frame(0.0)["arrows"]] == ["reactions", "loads"]  # without the torque
    assert not Live(swing(), loads=False).arrows.arrows


def test_speed_pause_step_and_reset() -> None:
    live = Live(swing(), step=STEP, speed=0.5)
    first = live.frame(0.0)
    assert live.frame(0.04)["t"] == pytest.approx(0.02)
    live.do({"do": "pause"})
    assert live.frame(0.04)["t"] == pytest.approx(0.02) and not live.frame(0.04)["playing"]
    live.do({"do": "step"})
    assert live.simulator.t == pytest.approx(0.025)
    live.do({"do": "speed", "value": 2.0})
    live.do({"do": "play"})
    assert live.frame(0.02)["t"] == pytest.approx(0.065)
    live.do({"do": "reset"})
    assert live.frame(0.0) == {**first, "factor": pytest.approx(1.0, abs=0.5)}
    assert live.frame(10.0)["t"] == pytest.approx(0.2)  # a page that slept does not make it jump


def test_times_that_are_no_whole_steps_add_up() -> None:
    live = Live(swing(), step=STEP)
    for _ in range(300):
        live.frame(0.0033)
    assert live.simulator.t == pytest.approx(0.99, abs=STEP)


def test_inputs_act_at_once_and_parameters_from_here_on() -> None:
    live = Live(swing(), step=STEP)
    live.frame(0.1)
    q, t = live.simulator.q, live.simulator.t
    live.do({"do": "set", "name": "k", "value": 90.0})
    assert live.simulator.t == t and live.simulator.system.values["k"] == 90.0 and live.message == ""
    np.testing.assert_array_equal(live.simulator.q, q)
    live.do({"do": "set", "name": "u", "value": 5.0})
    picture = live.frame(0.1)
    assert dict(zip(("u", "k"), picture["sliders"], strict=True)) == {"u": 5.0, "k": 90.0}
    # the same by hand
    other = swing()
    first = mbd.Simulator(other, STEP)
    first.advance(0.1)
    state = first.state
    first.reset(k=90.0)
    first.set_state(state)
    first.inputs["u"] = 5.0
    first.advance(0.1)
    np.testing.assert_allclose(live.simulator.q, first.q, atol=1e-12)
    live.do({"do": "reset"})
    assert live.simulator.t == 0.0 and live.simulator.system.values["k"] == 90.0 and live.simulator.inputs["u"] == 0.0


def test_the_hand_is_a_spring_with_a_damper() -> None:
    """A hanging weight comes to rest m g / k below the hand, and flies away when it is let go."""
    model = mbd.Model("weight", gravity=(0, 0, -9.81))
    model.add(mbd.PointMass("ball", 2.0))
    live = Live(model, step=STEP)
    owner = list(live.recording.owners).index((0, "ball"))
    live.do({"do": "grab", "owner": owner, "place": live.recording.place((0, 0, 0)).tolist()})
    live.do({"do": "drag", "place": live.recording.place((0.5, 0, 1.0)).tolist()})
    for _ in range(60):
        picture = live.frame(0.1)
    sag = 2.0 * 9.81 / live.hand.stiffness
    np.testing.assert_allclose(live.simulator["ball"].position, (0.5, 0.0, 1.0 - sag), atol=1e-6)
    np.testing.assert_allclose(picture["hand"][1], live.recording.place((0.5, 0.0, 1.0)), atol=1e-9)
    live.do({"do": "release"})
    live.frame(0.1)
    assert live.simulator["ball"].velocity[2] == pytest.approx(-9.81 * 0.1, rel=1e-6)
    assert "hand" not in live.frame(0.0)
    assert len(live.simulator._recording.inputs) < 5  # a run without end does not grow


def test_the_hand_turns_what_it_holds_beside_the_centre() -> None:
    """Force and torque are those at the held point: a free rod held at its end hangs below it."""
    model = mbd.Model("rod", gravity=(0, 0, -9.81))
    model.add(mbd.RigidBody("rod", 1.0, (0.001, 0.05, 0.05), mbd.nodes.RotationVector()))
    live = Live(model, step=STEP)
    live.hand.hold("rod", (0.3, 0, 0))
    for _ in range(300):
        live.frame(0.1)
    end = live.hand.place()
    sag = 9.81 / live.hand.stiffness
    swinging = 0.02  # m: only the held point is damped
    np.testing.assert_allclose(end, (0.3, 0, -sag), atol=swinging)
    np.testing.assert_allclose(live.simulator["rod"].position, end - (0, 0, 0.3), atol=swinging)
    live.hand.pull()
    force, torque = ([live.simulator.inputs[f"hand on rod, {x}{axis}"] for axis in "xyz"] for x in "FM")
    np.testing.assert_allclose(torque, np.cross(end - live.simulator["rod"].position, force), atol=1e-12)


def test_a_slider_moved_while_a_body_is_held() -> None:
    live = Live(swing(), step=STEP)
    live.frame(0.05)
    live.hand.hold("link 2", live.simulator["link 2"].position)
    live.hand.target = np.array((1.0, 0.0, 2.5))
    place = live.hand.place()
    live.do({"do": "set", "name": "k", "value": 10.0})
    assert live.hand.body == "link 2"
    np.testing.assert_allclose(live.hand.place(), place, atol=1e-12)
    np.testing.assert_array_equal(live.hand.target, (1.0, 0.0, 2.5))


def test_values_and_curves_are_those_of_the_present() -> None:
    live = Live(swing(), step=STEP, curves=["energy", "link 2.position"])
    owner = list(live.recording.owners).index((0, "hinge 1"))
    live.do({"do": "choose", "owner": owner})
    picture = live.frame(0.1)
    np.testing.assert_allclose(picture["curves"][0], [x[0] for x in live.simulator.now.energy])
    np.testing.assert_allclose(picture["curves"][1], live.simulator["link 2"].position)
    told = {label: values for label, _, values in picture["values"]}
    np.testing.assert_allclose(told["force"], live.simulator["hinge 1"].force)
    assert told["angle"] == [pytest.approx(live.simulator["hinge 1"].angle)]


def test_a_simulator_of_ones_own() -> None:
    simulator = mbd.Simulator(swing(), STEP)
    live = Live(simulator)
    live.frame(0.1)
    assert simulator.t == pytest.approx(0.1) and len(simulator.solution()) == 21
    with pytest.raises(mbd.ModelError, match=r"'link 1' cannot be dragged; give live\(model\)"):
        live.hand.hold("link 1", (0, 0, 0))
    live = Live(mbd.Simulator(mbd.view.with_hand(swing()), STEP))
    live.hand.hold("link 1", (0, 0, 2))
    with pytest.raises(mbd.ModelError, match="has a hand already"):
        Live(mbd.view.with_hand(swing()))


def test_adaptive_methods_run_live() -> None:
    model = mbd.Model("weight", gravity=(0, 0, -9.81))
    model.add(mbd.PointMass("ball", 2.0))
    live = Live(model, integrator=mbd.integrators.DOPRI5())
    live.frame(0.1)
    assert live.simulator["ball"].position[2] == pytest.approx(-0.5 * 9.81 * 0.01)
    live.hand.hold("ball", live.simulator["ball"].position)
    live.frame(0.1)
    assert live.simulator.t == pytest.approx(0.2)


def test_a_failing_run_pauses_with_its_message() -> None:
    model = mbd.Model("broken")
    ball = model.add(mbd.PointMass("ball", 1.0, velocity=(1, 0, 0)))
    model.add(mbd.forces.Force(ball, lambda t: (1.0 / max(0.05 - t, 0.0), 0.0, 0.0), name="push"))
    live = Live(model, step=STEP, integrator=mbd.integrators.RK4())
    for _ in range(10):
        picture = live.frame(0.02)
    assert not picture["playing"] and "push" in picture["message"]
    live.do({"do": "reset"})
    assert live.frame(0.0)["message"] == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ranges": {"kk": (0, 1)}}, "ranges names 'kk'; did you mean 'k'"),
        ({"ranges": {"k": (1, 1)}}, r"the range of k is \(1, 1\)"),
        ({"speed": 0.0}, "speed = 0"),
        ({"colour_by": "speed"}, "belong to finished runs"),
        ({"curves": "nothing.there"}, "there is no channel"),
    ],
)
def test_mistakes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(mbd.ModelError, match=words):
        Live(swing(1), step=STEP, **options)


def test_commands_are_checked() -> None:
    live = Live(swing(1), step=STEP)
    for command, words in (
        ({"do": "explode"}, "knows no command 'explode'"),
        ({"do": "set", "name": "hand on link 1, Fx", "value": 1.0}, "no slider"),
        ({"do": "set", "name": "k", "value": "much"}, "k = 'much'"),
        ({"do": "set", "name": "k"}, "is wrong"),
        ({"do": "grab", "owner": 0, "place": [0, 0]}, "no place"),
        ({"do": "choose", "owner": 99}, "no element number 99"),
    ):
        with pytest.raises(mbd.ModelError, match=words):
            live.do(command)
    with pytest.raises(mbd.ModelError, match="expected a Model or a Simulator"):
        Live(3)
    live.do({"do": "set", "name": "k", "value": -1.0})  # a spring refuses it
    assert "k = -1 is refused" in live.message and live.simulator.system.values["k"] == 40.0


@pytest.fixture
def server() -> Iterator[Server]:
    live = Live(swing(), step=STEP, curves=["energy"], ranges={"u": (-20, 20)})
    live.playing = False
    server = Server(live)
    yield server
    server.stop()


def test_only_who_knows_the_address_gets_an_answer(server: Server) -> None:
    port = server.server.server_address[1]
    for url, host in (
        (f"http://127.0.0.1:{port}/", None), (f"http://127.0.0.1:{port}/wrong/", None), (server.url, "evil.example"),
    ):  # fmt: skip
        request = urllib.request.Request(url, headers={"Host": host} if host else {})
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(request)
    assert b"<title>swing</title>" in urllib.request.urlopen(server.url).read()
    bad = urllib.request.Request(server.url + "command", data=b"[]", method="POST")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(bad)
    good = urllib.request.Request(server.url + "command", data=json.dumps({"do": "step"}).encode(), method="POST")
    assert urllib.request.urlopen(good).read() == b"done" and server.live.simulator.index == 1
    assert server.url in server._repr_html_()


def test_in_the_browser(server: Server, chromium: str) -> None:
    """Pictures arrive, sliders and buttons act, a body is dragged with the mouse; steps are made when told."""
    from playwright.sync_api import sync_playwright

    live = server.live
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_context(viewport={"width": 800, "height": 640}).new_page()
        errors: list[str] = []
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.goto(server.url)
        page.wait_for_function("window.mbd && mbd.frames > 0 && mbd.view.camera", timeout=TIMEOUT)
        page.get_by_role("slider", name="k").fill("70")
        page.get_by_role("slider", name="u").fill("10")
        page.wait_for_function("mbd.sliders.map((s) => Number(s.out.textContent)).join() === '10,70'", timeout=TIMEOUT)
        for _ in range(200):  # the page shows a value before it has been sent
            if abs(live.simulator.inputs["u"] - 10.0) < 0.1:
                break
            page.wait_for_timeout(50)
        assert live.simulator.system.values["k"] == pytest.approx(70.0, abs=0.2)
        assert live.simulator.inputs["u"] == pytest.approx(10.0, abs=0.1)
        x, y = page.evaluate("mbd.view.project(Array.from(mbd.view.pose(2)[0]))")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 40, y - 60, steps=6)
        page.wait_for_function("mbd.held !== null", timeout=TIMEOUT)
        assert live.hand.body == "link 2"
        page.wait_for_function(f"Math.abs(mbd.view.project(mbd.held[1])[0] - {x + 40}) < 3", timeout=TIMEOUT)
        goal = page.evaluate("mbd.view.project(mbd.held[1])")
        np.testing.assert_allclose(goal, (x + 40, y - 60), atol=3)  # the hand is under the mouse
        assert page.locator("#pull line").evaluate("(line) => line.style.visibility") == "visible"
        alone = mbd.Simulator(swing(), STEP)
        alone.reset(k=70.0, u=10.0)
        alone.advance(40 * STEP)
        for _ in range(40):
            live.do({"do": "step"})
        without = np.linalg.norm(live.hand.target - alone["link 2"].position)
        assert np.linalg.norm(live.hand.target - live.hand.place()) < 0.7 * without
        page.mouse.up()
        page.wait_for_function("mbd.held === null", timeout=TIMEOUT)
        assert live.hand.body == ""
        page.get_by_role("button", name="one step").click()
        page.wait_for_function(f"Math.abs(mbd.t - {41 * STEP}) < 1e-9", timeout=TIMEOUT)
        page.get_by_role("combobox", name="show values of").select_option(label="link 1")
        page.wait_for_function("document.querySelectorAll('#values tr').length === 3", timeout=TIMEOUT)
        page.get_by_role("button", name="reset").click()
        page.wait_for_function("mbd.t === 0", timeout=TIMEOUT)
        page.get_by_role("button", name="play").click()
        page.wait_for_function("mbd.playing && mbd.t > 0.05", timeout=TIMEOUT)
        assert errors == []
        browser.close()
