"""Events and sensors: times of exact solutions, all integrators, stopping and recording."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from mbd import sensors

G = 9.81
METHODS = [
    (mbd.integrators.RK4(), 1e-2), (mbd.integrators.DOPRI5(rtol=1e-10, atol=1e-10), 1e-2),
    (mbd.integrators.GeneralizedAlpha(), 1e-3),
]  # fmt: skip


def ball():
    model = mbd.Model("ball", gravity=(0, 0, -G))
    model.add(mbd.PointMass("ball", 1.0, (0, 0, 2), (1, 0, 0)))
    return model


def pendulum(node=mbd.nodes.RotationVector):
    model = mbd.Model("pendulum", gravity=(0, 0, -G))
    rod = model.add(mbd.RigidBody("rod", 2.0, (0.1, 0.5, 0.5), node(position=(1, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    return model


@pytest.mark.parametrize(("method", "step"), METHODS, ids=lambda x: getattr(x, "name", ""))
def test_a_fall_stops_at_the_floor(method, step):
    floor = mbd.Event(sensors.Position("ball", axis="z"), stop=True, name="floor")
    solution = mbd.simulate(ball(), t_end=2.0, step=step, integrator=method, events=floor)
    t = math.sqrt(2 * 2 / G)
    assert solution.t[-1] == pytest.approx(t, abs=1e-9)
    assert np.all(np.diff(solution.t) > 0)
    assert solution["ball"].position[-1] == pytest.approx((t, 0, 0), abs=1e-9)
    assert solution["ball"].velocity[-1] == pytest.approx((1, 0, -G * t), abs=1e-8)
    assert solution.complete and "stopped by floor at t = 0.638" in solution.message
    (event,) = solution.events
    assert event.name == "floor" and event.direction == -1 and event.t == solution.t[-1]


@pytest.mark.parametrize("node", [mbd.nodes.RotationVector, mbd.nodes.Quaternion, mbd.nodes.Directors])
def test_crossings_of_a_pendulum_are_recorded(node):
    """It passes its lowest point at odd multiples of a quarter of its period, alternately in both directions."""
    event = mbd.Event(sensors.Position("rod", axis="x"), name="bottom")
    solution = mbd.simulate(pendulum(node), t_end=6.0, step=5e-3, integrator=mbd.integrators.RK4(), events=[event])
    times = [e.t for e in solution.events]
    assert len(times) >= 4 and solution.t[-1] == 6.0 and solution.message == ""
    assert np.diff(times) == pytest.approx(2 * times[0], rel=1e-6)
    assert [e.direction for e in solution.events] == [(-1) ** (k + 1) for k in range(len(times))]
    falling = mbd.find_events(solution, mbd.Event(event.function, direction=-1))
    assert [e.t for e in falling] == pytest.approx(times[::2], abs=1e-12)


def test_times_do_not_depend_on_the_records():
    event = mbd.Event(lambda s: s["rod"].position[:, 0])
    every = mbd.simulate(pendulum(), t_end=2.0, step=5e-3, integrator=mbd.integrators.RK4(), events=event)
    few = mbd.simulate(
        pendulum(), t_end=2.0, step=5e-3, integrator=mbd.integrators.RK4(), events=event, output_step=0.1
    )
    assert [e.t for e in few.events] == pytest.approx([e.t for e in every.events], abs=1e-8)


def test_the_first_of_two_events_stops():
    low = mbd.Event(lambda s: s["ball"].position[:, 2] - 0.5, stop=True, name="low")
    high = mbd.Event(lambda s: s["ball"].position[:, 2] - 1.5, stop=True, name="high")
    passed = mbd.Event(lambda s: s["ball"].position[:, 2] - 1.8, name="passed")
    solution = mbd.simulate(ball(), t_end=2.0, step=1e-2, events=[low, high, passed])
    assert [e.name for e in solution.events] == ["passed", "high"]
    assert solution.t[-1] == pytest.approx(math.sqrt(2 * 0.5 / G), abs=1e-9)


def test_going_on_after_a_bounce():
    floor = mbd.Event(sensors.Position("ball", axis="z"), stop=True, direction=-1)
    first = mbd.simulate(ball(), t_end=2.0, step=1e-2, events=floor)
    model = mbd.model_at(first)
    velocity = model["ball"].velocity * (1, 1, -0.5)
    model["ball"].node = mbd.nodes.Point((first["ball"].position[-1][0], 0, 0), velocity)
    second = mbd.simulate(model, t_end=2.0, step=1e-2, events=floor)
    assert second.t[-1] == pytest.approx(math.sqrt(2 * 2 / G), abs=1e-6)  # half the speed, up and down again
    with pytest.raises(mbd.ModelError, match="holds no state to continue from"):
        mbd.simulate(model, t_end=2.0, step=1e-2, start=first)


def drifting(speed=1.0):
    """A point that moves along x at constant speed, exactly with any method: x = speed * t."""
    model = mbd.Model("drifting")
    model.add(mbd.PointMass("point", 1.0, (0, 0, 0), (speed, 0, 0)))
    return model


def times(events):
    return [e.t for e in events]


@pytest.mark.parametrize(("method", "step"), METHODS, ids=lambda x: getattr(x, "name", ""))
def test_a_crossing_at_a_record(method, step):
    """Exactly at a record, just after one, at the end, and in the first step: each is found once."""
    for at in (0.25, np.nextafter(0.25, 1.0), np.nextafter(0.25, 0.0), 0.5, 1e-9, 0.25 * step, 0.499999):
        event = mbd.Event(lambda s, at=at: s.t - at, name="now")
        solution = mbd.simulate(drifting(), 0.5, step, method, events=event)
        assert times(solution.events) == pytest.approx([at], abs=1e-12), at
        assert solution.events[0].direction == 1
        stopped = mbd.simulate(drifting(), 0.5, step, method, events=mbd.Event(event.function, stop=True))
        assert stopped.t[-1] == pytest.approx(at, abs=1e-12) and (np.diff(stopped.t) > 0.0).all()
        assert stopped["point"].position[-1, 0] == pytest.approx(at, abs=1e-9)


def test_zero_at_the_start_is_no_event():
    """A ball thrown up from the floor comes back once, even within the first step."""
    model = mbd.Model("throw", gravity=(0, 0, -G))
    model.add(mbd.PointMass("ball", 1.0, (0, 0, 0), (0, 0, 1.0)))
    floor = mbd.Event(sensors.Position("ball", axis="z"))
    for step in (0.01, 0.25):
        solution = mbd.simulate(model, 0.5, step, mbd.integrators.RK4(), events=floor)
        assert times(solution.events) == pytest.approx([2.0 / G], abs=1e-9), step
    resting = mbd.simulate(drifting(0.0), 0.1, 0.01, events=mbd.Event(sensors.Position("point", axis="x")))
    assert resting.events == []


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_directions(direction):
    """cos 10 t falls through zero first, then rises."""
    zeros = [(k + 0.5) * np.pi / 10 for k in range(6)]
    event = mbd.Event(lambda s: np.cos(10 * s.t), direction=direction)
    solution = mbd.simulate(drifting(), 1.8, 0.01, events=event)
    signs = [-1, 1] * 3
    expected = [(t, sign) for t, sign in zip(zeros, signs, strict=True) if direction in (0, sign)]
    assert times(solution.events) == pytest.approx([t for t, _ in expected], abs=1e-9)
    assert [e.direction for e in solution.events] == [sign for _, sign in expected]


@pytest.mark.parametrize(("method", "step"), METHODS, ids=lambda x: getattr(x, "name", ""))
def test_two_crossings_in_one_step(method, step):
    """A parabola that dips below zero for a fraction of a step, wherever that is."""
    step = 0.1
    if method.adaptive:
        method = mbd.integrators.DOPRI5(max_step=step)
    for middle in (0.05, 0.1, 0.33, 0.52, 0.96):
        for half in (0.03, 1e-4):
            event = mbd.Event(lambda s, m=middle, d=half: (s.t - m) ** 2 - d * d, name="dip")
            solution = mbd.simulate(drifting(), 1.0, step, method, events=event)
            assert times(solution.events) == pytest.approx([middle - half, middle + half], abs=1e-9), (middle, half)
            assert [e.direction for e in solution.events] == [-1, 1]
    above = mbd.Event(lambda s: (s.t - 0.33) ** 2 + 1e-6)
    assert mbd.simulate(drifting(), 1.0, step, method, events=above).events == []


@pytest.mark.parametrize(
    "method", [mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha()], ids=lambda method: method.name
)
@pytest.mark.parametrize("peak", [3.7, 3.9])  # in steps
def test_a_level_that_is_met_at_a_record_was_crossed_before_the_peak(method, peak):
    """Who comes back to zero at a record has been beyond it: the way there is an event, and the arrival another one."""
    step = 0.01
    model = mbd.Model("thrown", gravity=(0, 0, -10.0))
    model.add(mbd.PointMass("ball", mass=1.0, velocity=(0, 0, 10.0 * peak * step)))
    level = float(mbd.simulate(model, 0.08, step, method)["ball"].position[4, 2])
    event = mbd.Event(lambda solution: solution["ball"].position[:, 2] - level)
    found = mbd.simulate(model, 0.08, step, method, events=event).events
    assert [one.direction for one in found] == [1, -1]
    assert [one.t for one in found] == pytest.approx([(2.0 * peak - 4.0) * step, 4.0 * step], abs=1e-12)


def test_crossings_are_found_at_steps_not_at_records():
    """Records twice as far apart as the crossings of a sine: all of them are found."""
    event = mbd.Event(lambda s: np.sin(20 * s.t + 0.1))
    zeros = [(k * np.pi - 0.1) / 20 for k in range(1, 12)]
    for method in (mbd.integrators.RK4(), mbd.integrators.DOPRI5(max_step=0.01)):
        few = mbd.simulate(drifting(), 1.8, 0.01, method, events=event, output_step=0.3)
        assert len(few) == 7 and times(few.events) == pytest.approx(zeros, abs=1e-9)


def test_the_pieces_of_a_run_do_not_show(monkeypatch):
    """Events do not depend on how a run is cut, which depends on the clock; angles of joints count turns through."""
    angle = mbd.Event(lambda s: s["hinge"].angle - 12.0, name="turns")
    dip = mbd.Event(lambda s: (s.t - 0.507) ** 2 - 1e-8, name="dip")
    model = mbd.Model("wheel")
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (1, 1, 1), mbd.nodes.RotationVector(angular_velocity=(0, 0, 10.0))))
    model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    found = []
    for steps in (1, 7, 1000):
        monkeypatch.setattr("mbd.simulation.simulation._next_chunk", lambda *_, n=steps: n)
        monkeypatch.setattr("mbd.simulation.simulation.FIRST_CHUNK", steps)
        solution = mbd.simulate(model, 2.0, 0.01, mbd.integrators.RK4(), events=[angle, dip])
        found.append([(e.name, e.t) for e in solution.events])
    assert found[0] == found[1] == found[2]
    assert [name for name, _ in found[0]] == ["dip", "dip", "turns"]
    assert found[0][2][1] == pytest.approx(1.2, abs=1e-9)


def test_values_that_are_no_numbers():
    """The error names the event and the time, and what was computed is attached."""
    event = mbd.Event(lambda s: np.where(s.t > 0.3049, np.nan, 1.0), name="broken")
    with pytest.raises(mbd.ModelError, match=r"event 'broken': its function returned nan at t = 0\.31") as caught:
        mbd.simulate(drifting(), 1.0, 0.01, events=event)
    assert len(caught.value.solution) >= 31 and not caught.value.solution.complete
    with pytest.raises(mbd.ModelError, match=r"'pole': its function returned inf at t = 0;"):
        mbd.simulate(drifting(), 1.0, 0.01, events=mbd.Event(lambda s: np.full(len(s), np.inf), name="pole"))
    late = mbd.Event(lambda s: 1 / 0 if s.t[-1] > 0.5 else s.t + 1.0, name="late")
    with pytest.raises(mbd.ModelError, match="'late': its function raised ZeroDivisionError") as caught:
        mbd.simulate(drifting(), 1.0, 0.001, mbd.integrators.RK4(), events=late)
    assert len(caught.value.solution) > 1


def test_values_that_depend_on_other_records(monkeypatch):
    """They would depend on how the run is cut into pieces."""
    monkeypatch.setattr("mbd.simulation.simulation._next_chunk", lambda *_: 5)
    event = mbd.Event(lambda s: s["point"].position[:, 0] - s["point"].position[0, 0] - 0.77, name="relative")
    with pytest.raises(mbd.ModelError, match="'relative': its value at t = .* changed when later records were added"):
        mbd.simulate(drifting(), 1.0, 0.01, events=event)


def test_no_event_is_no_change():
    plain = mbd.simulate(pendulum(), t_end=0.1, step=1e-2)
    watched = mbd.simulate(pendulum(), t_end=0.1, step=1e-2, events=mbd.Event(lambda s: s.t + 1.0))
    assert np.array_equal(plain.q, watched.q) and watched.events == []


def test_mistakes():
    with pytest.raises(mbd.ModelError, match="a function of a solution"):
        mbd.Event(3)
    with pytest.raises(mbd.ModelError, match="direction = 2"):
        mbd.Event(lambda s: s.t, direction=2)
    with pytest.raises(mbd.ModelError, match="expected an mbd.Event"):
        mbd.simulate(ball(), t_end=0.1, step=1e-2, events=[3])
    with pytest.raises(mbd.ModelError, match="one number per record"):
        mbd.simulate(ball(), t_end=0.1, step=1e-2, events=mbd.Event(lambda s: s["ball"].position))
    with pytest.raises(mbd.ModelError, match="raised ZeroDivisionError"):
        mbd.simulate(ball(), t_end=0.1, step=1e-2, events=mbd.Event(lambda s: 1 / 0))


@pytest.mark.parametrize("component", range(4))
def test_components_of_quaternions(component):
    """Their signs go on from step to step; only there is a crossing, not where a matrix tells another sign."""
    model = mbd.Model("free")
    node = mbd.nodes.RotationVector(angular_velocity=(0.6, 0.0, 0.8))
    model.add(mbd.RigidBody("body", 1.0, (1.0, 1.0, 1.0), node))  # e = (cos t/2, 0.6 sin t/2, 0, 0.8 sin t/2)
    size, phase = ((1.0, 0.5 * math.pi), (0.6, 0.0), (0.0, 0.0), (0.8, 0.0))[component]
    level = 0.1
    event = mbd.Event(lambda s: s["body"].quaternion[:, component] - level)
    solution = mbd.simulate(model, 40.0, 0.05, mbd.integrators.RK4(), events=event)
    angles = [] if size == 0.0 else [math.asin(level / size), math.pi - math.asin(level / size)]
    times = sorted(2.0 * (angle - phase + 2.0 * math.pi * k) for angle in angles for k in range(-1, 5))
    expected = [t for t in times if 0.0 < t < 40.0]
    assert [e.t for e in solution.events] == pytest.approx(expected, abs=1e-6)
    assert [e.t for e in mbd.find_events(solution, event)] == pytest.approx(expected, abs=1e-6)


def test_sensors():
    model = pendulum()
    solution = mbd.simulate(model, t_end=0.5, step=1e-3)
    rod = solution["rod"]
    tip = (1.0, 0, 0)
    assert np.array_equal(sensors.Position(model["rod"], tip)(solution), rod.point(tip))
    assert sensors.Position("rod", tip, axis=(0, 0, 2))(solution) == pytest.approx(rod.point(tip)[:, 2])
    assert sensors.Velocity("rod")(solution) == pytest.approx(rod.velocity)
    assert sensors.Velocity("rod", tip)(solution) == pytest.approx(2 * rod.velocity, abs=1e-5)
    assert sensors.Distance("ground", "rod", point_b=tip)(solution) == pytest.approx(2.0)
    assert sensors.Angle("hinge")(solution) == pytest.approx(solution["hinge"].angle)
    assert sensors.Gyroscope("rod", axis="y")(solution) == pytest.approx(rod.angular_velocity[:, 1])
    assert sensors.Reaction("hinge", axis="z")(solution) == pytest.approx(solution["hinge"].force[:, 2])
    assert sensors.Reaction("hinge", torque=True)(solution).shape == (len(solution), 3)


def test_accelerometer():
    """Weightless in free fall; at the pivot of a pendulum it feels the full weight; it turns with the body."""
    model = mbd.Model("fall", gravity=(0, 0, -G))
    model.add(mbd.RigidBody("stone", 1.0, (1, 1, 1)))
    fall = mbd.simulate(model, t_end=0.1, step=1e-2)
    assert sensors.Accelerometer("stone")(fall) == pytest.approx(0, abs=1e-9)
    swing = mbd.simulate(pendulum(), t_end=0.5, step=1e-3, integrator=mbd.integrators.RK4())
    felt = sensors.Accelerometer("rod", (-1, 0, 0))(swing)
    assert np.linalg.norm(felt, axis=1) == pytest.approx(G, abs=1e-8)
    assert felt[0] == pytest.approx((0, 0, G), abs=1e-9)


def test_an_accelerometer_feels_the_gravity_of_its_run(tmp_path):
    """Whatever falls is weightless: with another gravity in the model since, with one that changed during the run."""
    show = sensors.Accelerometer("stone")
    model = mbd.Model("fall")
    g = model.input("g", G)
    model.gravity = (0.0, 0.0, -1.0 * g)
    model.add(mbd.RigidBody("stone", 1.0, (1, 1, 1)))
    sim = mbd.Simulator(model, 1e-2)
    sim.step()
    sim.inputs["g"] = 1.62
    sim.step()
    fall = sim.solution()
    assert fall["stone"].acceleration[:, 2] == pytest.approx((-G, -G, -1.62), abs=1e-9)
    fall.save(tmp_path / "fall.npz")
    plain = mbd.Model("fall", gravity=(0, 0, -G))
    plain.add(mbd.RigidBody("stone", 1.0, (1, 1, 1)))
    before = mbd.simulate(plain, t_end=0.1, step=1e-2)
    plain.gravity = (0, 0, -1.62)
    for run in (fall, sim.now, mbd.load(tmp_path / "fall.npz", model=model), before):
        assert show(run) == pytest.approx(0, abs=1e-9)


def test_displacement_and_wrong_axis():
    model = mbd.Model("slider", gravity=(0, 0, -G))
    body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1)))
    model.add(mbd.joints.Prismatic(model.ground, body, axis=(0, 0, 1), name="rail"))
    solution = mbd.simulate(model, t_end=0.1, step=1e-2)
    assert sensors.Displacement("rail")(solution) == pytest.approx(-G / 2 * solution.t**2, abs=1e-9)
    with pytest.raises(mbd.ModelError, match="axis = 'up'"):
        sensors.Position("body", axis="up")


def flying(value):
    """A body at x = t, and a number of its model."""
    model = mbd.Model("flying")
    number = model.parameter("k", value)
    model.add(mbd.PointMass("ball", 1.0, velocity=(1.0, 0, 0)))
    return model, number


def test_parameters_of_other_models_are_refused_in_events():
    """The number of the other model was meant, and that of this one acted where it has the same name."""
    (model, own), (_, foreign) = flying(0.5), flying(0.7)
    run = mbd.simulate(model, 1.0, 0.1)
    event = mbd.Event(lambda s: s["ball"].position[:, 0] - own)
    assert [x.t for x in mbd.find_events(run, event)] == pytest.approx([0.5])
    event = mbd.Event(lambda s: s["ball"].position[:, 0] - foreign, name="level")
    for use in (lambda: mbd.find_events(run, event), lambda: mbd.simulate(model, 1.0, 0.1, events=event)):
        with pytest.raises(mbd.ModelError, match="event 'level' refers to <parameter 'k' = 0.7>, which is none of"):
            use()


def test_inputs_that_changed_are_no_numbers_in_events():
    """Of a whole run; where they are what they were in one step, that is their number."""
    model, _ = flying(0.5)
    level = model.input("level", 0.25)
    event = mbd.Event(lambda s: s["ball"].position[:, 0] - level, name="level")
    simulator = mbd.Simulator(model, 0.1)
    for _ in range(10):
        simulator.step()
    assert [x.t for x in mbd.find_events(simulator.solution(), event)] == pytest.approx([0.25])
    simulator.inputs["level"] = 1.5
    for _ in range(10):
        simulator.step()
    with pytest.raises(mbd.ModelError, match="event 'level': its function refers to the input 'level', which changed"):
        mbd.find_events(simulator.solution(), event)
