"""Sensitivities beside functions of users, which some parameters stand in and others do not."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.simulation import neighbours

EXACT = 1e-8  # of the largest derivative of a channel
REACTIONS = 5e-8  # the same of reactions in index 2: round-off divided by the step
SHOWN = 1e-7  # of an angle with what the joint shows: joints that move are differenced, and round-off
ROUND_OFF = 1e-10  # of accelerations at the start, of which the difference is taken, beside the size of a difference
T_END, STEP = 0.2, 0.01
ALPHA = mbd.integrators.GeneralizedAlpha(tolerance=1e-13)
RK4 = mbd.integrators.RK4()
VALUES = {"gain": 12.0, "offset": 0.0, "mass": 1.3, "stiffness": 8.0, "weight": 9.81, "pull": 2.0}


def swing(values, symbol=False, coordinates="absolute"):
    """Two links: a control whose target is a function, a law that refers to an array, a spring and a load."""
    model = mbd.Model("swing")
    p = {name: model.parameter(name, x) if symbol else x for name, x in values.items()}
    model.gravity = (0, 0, -p["weight"])
    gain, offset, last, hinges = p["gain"], p["offset"], model.ground, []
    for i in range(2):
        start = mbd.nodes.RotationVector((0.5 * i + 0.25, 0, 0))
        mass = p["mass"] if i == 1 else 1.0
        link = model.add(
            mbd.RigidBody(f"link {i}", mass, (0.02, 0.03 + 0.01 * mass, 0.045), start, com=(0.02, 0, 0.01))
        )
        hinge = mbd.joints.Revolute(last, link, at=(0.5 * i, 0, 0), axis=(0, 1, 0.3 * i), name=f"hinge {i}")
        hinges.append(model.add(hinge))
        last = link
    model.add(mbd.forces.PDControl(hinges[0], lambda t: 0.3 * np.sin(4.0 * t) + offset, kp=2e3, kd=20.0))
    law = mbd.calculated(np.array, (gain, 0.2, 0.05 * gain)) if symbol else np.array((gain, 0.2, 0.05 * gain))
    model.add(mbd.forces.JointForce(hinges[1], lambda t, u, rate: -law[0] * u - law[1] * rate - law[2] * u**3))
    model.add(mbd.forces.TorsionSpring(hinges[1], stiffness=p["stiffness"], damping=0.1))
    if coordinates == "joint":
        return model.with_coordinates("joint")
    model.add(mbd.forces.Force(last, (p["pull"], 0.5, 0), point=(0.3, 0, 0.1), frame="body"))
    return model


def motion(solution):
    return np.hstack([np.hstack((solution[x].position, solution[x].velocity)) for x in solution.model.bodies])


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
def test_parameters_in_functions_and_beside_them(method, coordinates):
    """Together, and each alone, they are differences of whole runs; the one that is zero comes after another one."""
    names = [name for name in VALUES if coordinates == "absolute" or name != "pull"]
    model = swing(VALUES, True, coordinates)
    together = mbd.simulate(model, T_END, STEP, method, sensitivities=names)
    for name in names:
        e = 1e-3 * max(abs(VALUES[name]), 1.0)

        def at(x, name=name):
            return motion(mbd.simulate(swing(VALUES | {name: x}, False, coordinates), T_END, STEP, method))

        x = VALUES[name]
        expected = (8.0 * (at(x + e) - at(x - e)) - (at(x + 2 * e) - at(x - 2 * e))) / (12.0 * e)
        alone = mbd.simulate(model, T_END, STEP, method, sensitivities=[name])
        for solution in (together, alone):
            assert np.abs(solution.sensitivity(name).of(motion) - expected).max() < EXACT * np.abs(expected).max()


def test_systems_are_assembled_for_parameters_in_functions_alone(monkeypatch):
    """What a function does not refer to leaves it alone, and costs no systems of its own."""
    asked, assemble = [], neighbours.systems_beside

    def noted(system, name, x, e):
        asked.append(name)
        return assemble(system, name, x, e)

    monkeypatch.setattr(neighbours, "systems_beside", noted)
    solution = mbd.simulate(swing(VALUES, True), T_END, STEP, ALPHA, sensitivities=list(VALUES))
    callbacks = mbd.assemble(solution.model).assembly.callbacks
    in_functions = {"gain", "offset"} if all(callback.compiled for callback in callbacks) else set(VALUES)
    assert set(asked) == in_functions and len(asked) == len(in_functions)


def test_the_value_of_zero_after_another_parameter():
    """Systems beside a parameter are made while all others have their own values, to the last bit."""
    model = swing(VALUES, True)
    after = mbd.simulate(model, T_END, STEP, ALPHA, sensitivities=["gain", "offset"]).sensitivity("offset")
    alone = mbd.simulate(model, T_END, STEP, ALPHA, sensitivities=["offset"]).sensitivity("offset")
    for one, other in zip(after._systems(), alone._systems(), strict=True):
        assert one.values == other.values
        assert np.array_equal(one.tables.forces, other.tables.forces)


def test_parameters_without_an_effect_do_not_hold_up_others():
    """The mass of a link that turns about its own centre of mass: others are what they are without it."""
    model = mbd.Model("shaft", gravity=(0, 0, -9.81))
    idle, busy = model.parameter("idle", 20.0), model.parameter("busy", 1.0)
    start = mbd.nodes.RotationVector(angular_velocity=(0, 0, 8.0))
    shaft = model.add(mbd.RigidBody("shaft", idle, (0.3, 0.3, 0.35), start))
    model.add(mbd.joints.Revolute(model.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1)))
    arm = model.add(
        mbd.RigidBody(
            "arm",
            busy,
            (0.02, 0.03, 0.025),
            mbd.nodes.RotationVector((0.5, 0, 0), velocity=(0, 4, 0), angular_velocity=(0, 0, 8)),
        )
    )
    hinge = model.add(mbd.joints.Revolute(shaft, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=40.0, damping=0.3))
    both = mbd.simulate(model, 0.5, 1e-3, sensitivities=["idle", "busy"])
    alone = mbd.simulate(model, 0.5, 1e-3, sensitivities=["busy"])
    assert np.abs(both.sensitivity("idle").q).max() * 20.0 < ROUND_OFF
    assert both.sensitivities.rounds <= alone.sensitivities.rounds + 0.01
    found, expected = (x.sensitivity("busy").q for x in (both, alone))
    assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


@pytest.mark.parametrize("kind", ["by default", "given"])
@pytest.mark.parametrize("method, reactions", [(ALPHA, REACTIONS), (RK4, EXACT)], ids=["implicit", "explicit"])
def test_short_springs_at_the_end_of_a_chain(method, reactions, kind):
    """Both ends move with the lengths of all bars, by a hundred times what the spring is stretched by that."""

    def chain(length):
        model = mbd.Model("chain", gravity=(0, 0, -9.81))
        bar, last = model.parameter("bar", length), model.ground
        for i in range(6):
            start = mbd.nodes.RotationVector(((i + 0.5) * bar, 0, 0))
            link = model.add(mbd.RigidBody(f"link {i}", 1.0, (0.01, 0.02, 0.02), start))
            model.add(mbd.joints.Revolute(last, link, at=(i * bar, 0, 0), axis=(0, 1, 0)))
            last = link
        ends = {"point_a": (6 * bar, 0, 0.05), "point_b": (0.5 * bar, 0, 0)}
        rest = None if kind == "by default" else 0.04
        model.add(mbd.forces.Spring(model.ground, last, stiffness=2e3, damping=1.0, length=rest, **ends))
        return model

    solution = mbd.simulate(chain(0.5), 0.1, STEP, method, sensitivities=["bar"])
    for read, tolerance in ((motion, EXACT), (lambda s: s.lam, reactions)):
        more, less, far_more, far_less = (
            read(mbd.simulate(chain(0.5 + e), 0.1, STEP, method)) for e in (5e-5, -5e-5, 1e-4, -1e-4)
        )
        expected = (8.0 * (more - less) - (far_more - far_less)) / 6e-4
        assert np.abs(solution.sensitivity("bar").of(read) - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("law", ["cubic", "limit"])
@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
def test_what_joints_show_and_what_elements_refer_to_move_together(method, law):
    """In joint coordinates: the motion does not depend on what a joint shows at the start, nor do stiff elements."""

    def stiff(shown):
        return lambda t, u, rate: -1e4 * (u - shown + 0.03) ** 3 - 0.1 * rate

    def arm(zero):
        model = mbd.Model("arm", gravity=(0, 0, -9.81))
        parameter, last = model.parameter("shown", zero), model.ground
        for i in range(2):
            shown = (1 + i) * parameter
            start = mbd.nodes.RotationVector((0.3 * i + 0.15, 0, 0))
            link = model.add(mbd.RigidBody(f"link {i}", 1.0, (0.01, 0.02, 0.02), start, com=(0.01, 0, 0.01)))
            hinge = mbd.joints.Revolute(last, link, at=(0.3 * i, 0, 0), axis=(0, 1, 0), zero=shown, name=f"hinge {i}")
            model.add(hinge)
            if law == "cubic":
                model.add(mbd.forces.JointForce(hinge, stiff(shown)))
            else:
                model.add(mbd.forces.JointLimit(hinge, upper=shown + 1e-3, stiffness=1e3, damping=1.0))
            last = link
        return model.with_coordinates("joint")

    found = mbd.simulate(arm(3.0), 0.06, STEP, method, sensitivities=["shown"]).sensitivity("shown")
    for i in range(2):
        assert np.abs(found[f"hinge {i}"].angle - (1 + i)).max() < SHOWN
        assert np.abs(found[f"link {i}"].position).max() < SHOWN


def test_systems_have_their_own_numbers_again_after_those_beside_parameters():
    """Bit for bit: tables, where the bodies start, and the plain motion."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    length, mass = model.parameter("length", 0.3), model.parameter("mass", 1.1)
    rod = mbd.RigidBody("rod", mass, (0.1, 0.12, 0.11), mbd.nodes.RotationVector((length, 0, 0)))
    hinge = mbd.joints.Revolute(model.ground, model.add(rod), at=(0, 0, 0), axis=(0.1, 1, 0))
    model.add(hinge)
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=3.0 * length, damping=0.1))
    plain = mbd.simulate(model, 0.05, STEP)
    solution = mbd.simulate(model, 0.05, STEP, sensitivities=["length", "rod.mass", "mass"])
    for name in ("q", "v", "vd", "lam"):
        assert np.array_equal(getattr(solution, name), getattr(plain, name))
    for name in ("nodes", "primitives", "forces", "gravity", "flags"):
        assert getattr(solution.system.tables, name).tobytes() == getattr(plain.system.tables, name).tobytes()
    for one, other in zip(solution.system.initial_state(), plain.system.initial_state(), strict=True):
        assert np.array_equal(one, other)
    assert solution.state["fingerprint"] == plain.state["fingerprint"]


@pytest.mark.parametrize(
    "names", [["p", "ball.mass"], ["ball.mass", "p"], ["p", "ball.mass", "push"]], ids=" before ".join
)
@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
def test_attributes_beside_the_parameters_of_which_they_are_made(method, names):
    """x = F t^2 / 2m: an attribute that has been differentiated goes on to follow its parameter, and is what it was."""
    model = mbd.Model("pushed")
    ball = model.add(mbd.PointMass("ball", mass=model.parameter("p", 2.0)))
    model.add(mbd.forces.Force(ball, (model.parameter("push", 1.0), 0, 0)))
    solution = mbd.simulate(model, 1.0, 0.01, method, sensitivities=names)
    assert solution.model["ball"].mass == 2.0
    for name in names:
        slope, t = solution.sensitivity(name), solution.t
        position, energy = (0.25, 0.5) if name == "push" else (-0.125, -0.125)
        assert np.abs(slope["ball"].position[:, 0] - position * t**2).max() < EXACT
        assert np.abs(slope.energy.kinetic - energy * t**2).max() < EXACT


def test_parameters_in_what_is_read_change_as_well():
    """x = t^2 f / 2m: the work f x grows with f twice as fast as x does; parameters of other models are refused."""
    model = mbd.Model("pushed")
    f = model.parameter("f", 3.0)
    model.add(mbd.forces.Force(model.add(mbd.PointMass("mass", 2.0)), (f, 0, 0)))
    solution = mbd.simulate(model, 1.0, 0.1, sensitivities=["f"])
    slope, x = solution.sensitivity("f"), solution["mass"].position[:, 0]
    for read in (lambda s: f * s["mass"].position[:, 0], lambda s: f.value * s["mass"].position[:, 0]):
        assert np.abs(slope.of(read) - 2.0 * x).max() < SHOWN
    foreign = mbd.Model("other").parameter("f", 3.0)
    with pytest.raises(mbd.ModelError, match="what is read refers to <parameter 'f' = 3>, which is none of"):
        slope.of(lambda s: foreign * s["mass"].position[:, 0])
