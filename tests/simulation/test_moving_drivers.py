"""Drivers that inputs move: what they ask for suddenly, in every method."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd.integrators import RK4, AdaptiveAlpha, BLieDF, GeneralizedAlpha, GGLMidpoint, LieEM, Rattle
from mbd.nodes import RotationVector
from tests.integrators.every_method import METHODS, fitting, tumbling

STEP = 0.01
ON_CONSTRAINTS = 1e-5  # rad: GGLMidpoint fulfils constraints in the middle of its steps


def arm(make_value, name="arm"):
    """A driven link, and one that hangs on it and feels its motion."""
    model = mbd.Model(name, gravity=(0, 0, -9.81))
    u, speed, begin = (model.input(name) for name in ("u", "speed", "begin"))
    first = model.add(mbd.RigidBody("first", 2.0, (0.15, 0.15, 0.2), RotationVector((0.5, 0, 0))))
    second = model.add(mbd.RigidBody("second", 1.0, (0.05, 0.05, 0.02), RotationVector((1.5, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, first, at=(0, 0, 0), axis=(0, -1, 0), name="hinge"))
    model.add(mbd.joints.Revolute(first, second, at=(1, 0, 0), axis=(0, -1, 0), name="elbow"))
    model.add(mbd.joints.AngleDriver.on(hinge, make_value(u, speed, begin), name="motor"))
    return model


def jumping(name="arm"):
    return arm(lambda u, speed, begin: u, name)


FREE_BODIES = tumbling(), tumbling(gravity=(0, 0, -9.81))
DRIVEN = [name for name, method in METHODS.items() if fitting(method, jumping(), *FREE_BODIES).name == "arm"]
every_method = pytest.mark.parametrize("name", DRIVEN)  # that treats constraints


def motion(t):
    return 0.3 * (1.0 - np.cos(2.0 * t))


def sampled(method, coordinates, count):
    """The motion as a polygon of samples, held in three inputs, after so many of them in 0.6 s."""
    model = arm(lambda u, speed, begin: lambda t: u + speed * (t - begin))
    sample = 0.6 / count
    sim = mbd.Simulator(model.with_coordinates(coordinates), 0.5 * sample, method)
    for t in sample * np.arange(count):
        sim.inputs.update(u=motion(t), speed=(motion(t + sample) - motion(t)) / sample, begin=t)
        sim.advance(sample)
    return sim


def test_methods_that_are_left_out_treat_no_constraints():
    for name, method in METHODS.items():
        if name not in DRIVEN:
            with pytest.raises(mbd.IncompatibleError):
                mbd.Simulator(jumping(), STEP, method)


@every_method
def test_an_input_moves_a_driver(name):
    """Bodies are moved within no time: the driven one is there, at rest, as soon as the next step is made."""
    method = METHODS[name]
    sim = mbd.Simulator(fitting(method, jumping()), STEP, method)
    sim.advance(2 * STEP)
    with pytest.warns(mbd.ModelWarning, match="joint 'motor' jumps by 0.02 at t = 0.02, because input 'u'"):
        sim.inputs["u"] = 0.02
        sim.advance(STEP)
    assert sim["hinge"].angle == pytest.approx(0.02, abs=ON_CONSTRAINTS)
    assert abs(sim["hinge"].angle_rate) < ON_CONSTRAINTS / STEP
    with warnings.catch_warnings():
        warnings.simplefilter("error", mbd.ModelWarning)  # told once
        sim.inputs["u"] = 0.05
        sim.advance(2 * STEP)
    assert sim["hinge"].angle == pytest.approx(0.05, abs=ON_CONSTRAINTS)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@every_method
def test_driven_motions_in_samples(name, coordinates):
    """Velocities that jump at samples are imposed there, not a step later: half the samples, four times the error."""
    method = METHODS[name]
    exact = mbd.simulate(arm(lambda *_: motion).with_coordinates("joint"), 0.6, 1e-3, RK4())["elbow"].angle[-1]
    coarse, fine = (sampled(method, coordinates, count) for count in (30, 60))
    errors = [abs(sim["elbow"].angle - exact) for sim in (coarse, fine)]
    assert errors[1] < (1.5e-3 if method.order > 1 else 0.05)
    assert errors[0] / errors[1] > (3.0 if method.order > 1 else 1.7)
    rate = (motion(0.6) - motion(0.59)) / 0.01
    assert fine["hinge"].angle_rate == pytest.approx(rate, rel=0.01)


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), LieEM(), GGLMidpoint(), Rattle(), AdaptiveAlpha()])
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_a_far_jump_ends_where_it_should(method, coordinates):
    """2.5 rad, beyond which a plane angle has another root: on the way through all angles between."""
    sim = mbd.Simulator(jumping().with_coordinates(coordinates), STEP, method)
    sim.advance(2 * STEP)
    sim.inputs["u"] = 2.5
    with pytest.warns(mbd.ModelWarning, match="jumps by"):
        sim.advance(STEP)
    end = 0.5 * np.array((np.cos(2.5), 0.0, np.sin(2.5)))
    assert sim["first"].position == pytest.approx(end, abs=ON_CONSTRAINTS)


def test_frames_and_own_constraints_that_inputs_move():
    """As drivers of one coordinate: a platform, and a table whose height is an input."""
    model = mbd.Model("table", gravity=(0, 0, -9.81))
    x, height = model.input("x"), model.input("height")
    platform = model.add(mbd.RigidBody("platform", 1.0, (0.1, 0.1, 0.1)))
    model.add(mbd.joints.DrivenFrame(model.ground, platform, displacement=(x, 0, 0), name="hexapod"))
    bead = model.add(mbd.PointMass("bead", 1.0, (0, 1.0, 0), velocity=(1.0, 0, 0)))
    model.add(mbd.joints.UserConstraint(bead, lambda frames, t: frames[0, 2] - height, name="top"))
    for name, joint in (("x", "hexapod"), ("height", "top")):
        sim = mbd.Simulator(model, STEP)
        sim.step()
        sim.inputs[name] = 0.1
        with pytest.warns(mbd.ModelWarning, match=f"joint '{joint}' jumps by 0.1"):
            sim.step()
        moved = sim["platform"].position[0] if name == "x" else sim["bead"].position[2]
        assert moved == pytest.approx(0.1, abs=1e-12)
        assert sim["bead"].position[0] == pytest.approx(2 * STEP, rel=1e-9)
        assert np.abs(sim["platform"].velocity).max() < 1e-9


@pytest.mark.parametrize("load", [lambda push: push, lambda push: lambda t: 1.0 * push], ids=["input", "function"])
def test_loads_beside_drivers_change_as_ever(load):
    """Inputs that reach no constraint: nothing begins anew, and nobody is warned."""
    plain, driven = arm(lambda *_: 0.0), arm(lambda *_: lambda t: 0.0 * t)
    ends = []
    for model in (plain, driven):
        hinge = model["elbow"]
        model.add(mbd.forces.JointForce(hinge, load(model.input("push")), name="push"))
        sim = mbd.Simulator(model, STEP)
        with warnings.catch_warnings():
            warnings.simplefilter("error", mbd.ModelWarning)
            for k in range(20):
                sim.inputs["push"] = 3.0 * np.sin(k)
                sim.step()
        ends.append(sim.q)
    assert np.array_equal(*ends)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@every_method
def test_inputs_before_the_first_step_are_those_of_the_model(name, coordinates):
    """Bodies begin where drivers ask for them, with their velocities, as in a model that is built with the inputs."""
    method = METHODS[name]

    def simulator():
        model = arm(lambda u, speed, begin: lambda t: u + speed * (t - begin))
        return mbd.Simulator(model.with_coordinates(coordinates), STEP, method)

    late, early = simulator(), simulator()
    late.inputs.update(u=0.3, speed=0.5)
    early.reset(u=0.3, speed=0.5)
    for sim in (late, early):
        sim.advance(2 * STEP)
    assert np.array_equal(late.q, early.q)
    assert np.array_equal(late.v, early.v)
    assert late["hinge"].angle == pytest.approx(0.3 + 0.5 * 2 * STEP, abs=ON_CONSTRAINTS)


@pytest.mark.parametrize("method", [GeneralizedAlpha(stabilized=False), RK4(), LieEM(), GGLMidpoint(), Rattle()])
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_a_jump_that_cannot_be_made_leaves_the_run_as_it_was(method, coordinates):
    """A shank is asked to go farther than the leg is long, and then not any more."""

    def leg():
        model = mbd.Model("leg", gravity=(0, 0, -9.81))
        thigh, shank = (
            model.add(mbd.RigidBody(name, 1.0, (0.1, 0.1, 0.1), RotationVector((x, 0, 0.35))))
            for name, x in (("thigh", 0.35), ("shank", 1.05))
        )
        model.add(mbd.joints.Revolute(model.ground, thigh, at=(0, 0, 0), axis=(0, 1, 0)))
        model.add(mbd.joints.Revolute(thigh, shank, at=(0.7, 0, 0.7), axis=(0, 1, 0)))
        x = model.input("x")
        model.add(mbd.joints.UserConstraint(shank, lambda frames, t: frames[0, 0] - 1.05 - x, name="drive"))
        return mbd.Simulator(model.with_coordinates(coordinates), STEP, method)

    asked, still = leg(), leg()
    asked.advance(2 * STEP)
    asked.inputs["x"] = 1.0
    with pytest.raises(mbd.errors.AssemblyError):
        asked.advance(STEP)
    asked.inputs["x"] = 0.0
    asked.advance(STEP)
    still.advance(3 * STEP)
    assert np.array_equal(asked.q, still.q)
    assert np.array_equal(asked.v, still.v)


@pytest.mark.parametrize("asked", [lambda u, *_: u, lambda u, *_: lambda t: 1.0 * u], ids=["value", "function"])
@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), LieEM(), GGLMidpoint(), Rattle(), BLieDF()])
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_half_a_turn_at_once(method, coordinates, asked):
    """Where the equation of an angle has its other root, so that nothing seems to have moved."""
    sim = mbd.Simulator(arm(asked).with_coordinates(coordinates), STEP, method)
    sim.advance(2 * STEP)
    sim.inputs["u"] = np.pi
    with pytest.warns(mbd.ModelWarning, match="jumps by 3.14 "):
        sim.advance(STEP)
    assert sim["first"].position == pytest.approx((-0.5, 0.0, 0.0), abs=ON_CONSTRAINTS)


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), LieEM(), GGLMidpoint(), Rattle(), BLieDF()])
def test_joint_coordinates_count_the_turns_of_a_jump(method):
    sim = mbd.Simulator(jumping().with_coordinates("joint"), STEP, method)
    sim.advance(2 * STEP)
    sim.inputs["u"] = 8.0
    with pytest.warns(mbd.ModelWarning, match="jumps by 8 "):
        sim.advance(STEP)
    assert sim["hinge"].angle == pytest.approx(8.0, abs=ON_CONSTRAINTS)


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), LieEM(), GGLMidpoint(), Rattle(), BLieDF()])
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_a_function_that_refers_to_something_else_moves_a_driver(method, coordinates):
    """A number in an array, which nobody declared: as an input, with the same warning."""
    target = np.zeros(1)
    sim = mbd.Simulator(arm(lambda *_: lambda t: 1.0 * target[0]).with_coordinates(coordinates), STEP, method)
    sim.advance(2 * STEP)
    target[0] = 0.3
    with pytest.warns(mbd.ModelWarning, match="because what its function refers to has changed"):
        sim.advance(STEP)
    assert sim["hinge"].angle == pytest.approx(0.3, abs=ON_CONSTRAINTS)
    assert abs(sim["hinge"].angle_rate) < ON_CONSTRAINTS / STEP
