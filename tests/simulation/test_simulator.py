"""Runs that are made step by step: the same numbers as in one go, for every integrator, whatever happens in between."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mbd
from mbd.compiled.settings import PUBLIC
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha, LieEM
from tests.integrators.every_method import METHODS, counting
from tests.simulation.stepped import STEP, STEPS, cart_pole, every_method, same


@every_method
def test_steps_are_those_of_simulate(name):
    """Single steps, many steps, single steps again, with a look at the state in between; and the same after a reset."""
    method = METHODS[name]
    model = counting(method)
    whole = mbd.simulate(model, STEPS * STEP, STEP, method)
    sim = mbd.Simulator(model, STEP, method)
    for _ in range(2):
        if method.adaptive:
            sim.advance(STEPS * STEP)
        else:
            for k in range(STEPS // 3):
                sim.step()
                assert sim.index == k + 1
            body = model.bodies[0].name
            assert np.array_equal(sim[body].position, whole[body].position[STEPS // 3])
            sim.advance(STEPS // 3 * STEP)
            for _ in range(STEPS // 3):
                sim.step()
        stepped = sim.solution()
        assert same(stepped, whole)
        assert {**whole.stats, "wall_time": 0.0} == {**stepped.stats, "wall_time": 0.0}
        assert stepped.energy.total[-1] == whole.energy.total[-1]
        sim.reset()


def test_reset_with_parameters():
    """The run of a fresh model with these parameters, bit for bit; inputs return to where they were."""
    sim = mbd.Simulator(cart_pole(), 2e-3)
    sim.inputs["u"] = 3.0
    sim.advance(0.1)
    for mass in (0.4, 0.1, 2.0):
        sim.reset(mass=mass)
        assert sim.t == 0.0 and sim.index == 0 and sim.inputs["u"] == 0.0
        sim.advance(0.1)
        model = cart_pole()
        model.parameters["mass"] = mass
        assert same(sim.solution(), mbd.simulate(model, 0.1, 2e-3))
    sim.reset(u=1.5)
    assert sim.inputs["u"] == 1.5
    with pytest.raises(mbd.ModelError, match="has no parameter or input 'maas'"):
        sim.reset(maas=1.0)
    sim.system.set_parameters({"mass": 3.0})
    with pytest.raises(mbd.ModelError, match="parameter 'mass' was changed during the run"):
        sim.step()


@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5()], ids=lambda m: m.name)
def test_reset_returns_to_the_state_that_was_given(method):
    """With its time, its inputs and the angles with their turns; after rebuild the initial values are the start."""
    first = mbd.Simulator(cart_pole(), STEP, method)
    first.inputs["u"] = 2.0
    first.advance(10 * STEP)
    state = first.state
    sim = mbd.Simulator(cart_pole(), STEP, method, start=state)
    for u in (None, None, 5.0):
        sim.reset(**({} if u is None else {"u": u}))
        assert sim.t == first.t and np.array_equal(sim.q, state["q"]) and sim["hinge"].angle == first["hinge"].angle
        assert sim.inputs["u"] == (2.0 if u is None else u)
        sim.advance(10 * STEP)
        other = mbd.Simulator(cart_pole(), STEP, method, start=state)
        other.inputs["u"] = sim.inputs["u"]
        other.advance(10 * STEP)
        assert same(sim.solution(), other.solution())
        sim.inputs["u"] = -7.0
    sim.reset(mass=0.4)
    heavier = cart_pole()
    heavier.parameters["mass"] = 0.4
    assert np.array_equal(sim.q, state["q"])
    sim.advance(10 * STEP)
    other = mbd.Simulator(heavier, STEP, method, start=state)
    other.advance(10 * STEP)
    assert np.array_equal(sim.q, other.q)
    sim.rebuild()
    sim.reset()
    assert sim.t == 0.0 and sim.inputs["u"] == 0.0


def test_attributes_act_after_rebuild():
    model = cart_pole()
    sim = mbd.Simulator(model, 2e-3)
    model["cart"].mass = 5.0
    sim.rebuild()
    sim.advance(0.1)
    assert same(sim.solution(), mbd.simulate(model, 0.1, 2e-3))


@every_method
def test_state(name):
    """Back to a state of before, and on from the state of a solution: bit for bit, records beginning there."""
    method = METHODS[name]
    model = counting(method)
    sim = mbd.Simulator(model, STEP, method)
    sim.advance(10 * STEP)
    state = sim.state
    sim.advance(10 * STEP)
    first = sim.solution()
    sim.set_state(state)
    assert sim.t == float(state["t"])
    sim.advance(10 * STEP)
    again = sim.solution()
    assert np.array_equal(again.q[-1], first.q[-1]) and again.t[0] == float(state["t"])
    assert np.array_equal(again.q, first.q[-len(again) :])
    other = mbd.Simulator(model, STEP, method, start=state)
    other.advance(10 * STEP)
    assert np.array_equal(other.q, first.q[-1])
    further = mbd.simulate(model, 30 * STEP, STEP, method, start=sim.state)
    sim.advance(10 * STEP)
    assert np.array_equal(sim.q, further.q[-1]) or method.adaptive


def test_every_quantity_at_present():
    """What a solution says of its last record."""
    model = cart_pole()
    sim = mbd.Simulator(model, 1e-3)
    sim.inputs["u"] = 1.0
    sim.advance(0.2)
    solution = sim.solution()
    for element, names in {
        "pole": ("position", "velocity", "acceleration", "rotation", "quaternion", "angular_velocity", "com"),
        "hinge": ("angle", "angle_rate", "force", "torque", "multipliers", "coordinates", "rates", "accelerations"),
        "rail": ("displacement", "displacement_rate", "force"),
        "motor": ("effort", "power", "energy"),
    }.items():
        for name in names:
            now, then = getattr(sim[element], name), getattr(solution[element], name)[-1]
            assert np.allclose(now, then, rtol=1e-13, atol=1e-13), (element, name)
            assert np.shape(now) == np.shape(then)
    at = sim["pole"].point((0, 0, 0.5))
    assert at.shape == (3,)
    held = sim["pole"].position
    sim.advance(0.2)
    assert not np.array_equal(held, sim["pole"].position)  # what was read stays what it was
    assert sim.now.energy.total[0] == sim.solution().energy.total[-1]
    assert "angle" in dir(sim["hinge"]) and "at t = 0.4" in repr(sim["hinge"])
    with pytest.raises(AttributeError, match="leaves no displacement free"):
        _ = sim["hinge"].displacement


def workshop():
    """One of each of what control loops rarely have: rolling, couplings, own constraints, forces and coordinates."""
    model = mbd.Model("workshop", gravity=(0, 0, -9.81))
    u = model.input("u", 0.3)
    node = mbd.nodes.RotationVector((0, 0, 0.2), velocity=(1, 0, 0), angular_velocity=(0, 5, 0.3))
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (0.02, 0.04, 0.02), node))
    model.add(mbd.joints.Rolling(model.ground, wheel, radius=0.2, axis=(0, 1, 0), name="tyre"))
    model.add(mbd.forces.Torque(wheel, (0, u, 0), name="drive"))
    bodies = {
        name: model.add(mbd.RigidBody(name, 1.0, (0.1, 0.1, 0.2), mbd.nodes.RotationVector((x, 0, 0))))
        for name, x in (("gear", 1), ("rack", 2), ("nut", 3))
    }
    shaft = model.add(mbd.joints.Revolute(model.ground, bodies["gear"], at=(1, 0, 0), axis=(0, 0, 1), name="shaft"))
    rail = model.add(mbd.joints.Prismatic(model.ground, bodies["rack"], axis=(1, 0, 0), name="rail"))
    model.add(mbd.joints.RackPinion(shaft, rail, radius=0.3, name="teeth"))
    model.add(mbd.joints.Screw(model.ground, bodies["nut"], pitch=0.3, at=(3, 0, 0), axis=(0, 0, 1), name="thread"))
    model.add(mbd.forces.TorsionSpring(shaft, 2.0, damping=0.1, name="spring"))
    model.add(mbd.forces.JointForce(rail, lambda t, x, rate: u * np.sin(5.0 * t) - x, name="pull"))
    bead = model.add(mbd.PointMass("bead", 1.0, (1.0, 0, 0.5), (0, 1.0, 0)))
    model.add(mbd.joints.UserConstraint(bead, lambda z, t: z[0, 2] - 0.5 * (z[0, 0] ** 2 + z[0, 1] ** 2), name="bowl"))
    model.add(mbd.forces.UserForce([bead], lambda t, z, v: np.array([[u, -v[0, 1], 0.0, 0.0, 0.0, 0.0]]), name="wind"))
    model.add(
        mbd.Generalized("own", (0.3, -0.4), (0.5, 1.1), mass=(2.0, 1.0), potential=lambda q: 4.0 * q[0] ** 2 - u * q[1])
    )
    return model


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("method", [GeneralizedAlpha(), mbd.integrators.RK4()], ids=lambda m: m.name)
def test_every_channel_at_present(coordinates, method):
    """Of all kinds of elements, looked at after every step with another input: as the records have it."""
    watched, recorded = (mbd.Simulator(workshop().with_coordinates(coordinates), STEP, method) for _ in "ab")
    for k in range(5):
        for sim in (watched, recorded):
            sim.inputs["u"] = 0.3 + 0.1 * k
            sim.step()
        channels = {name: channel.read(watched.now)[0].copy() for name, channel in watched.now.channels.items()}
    last = recorded.solution().part(-1)
    assert channels.keys() == last.channels.keys()
    for name, value in channels.items():
        assert np.allclose(value, last.channels[name].read(last)[0], rtol=1e-9, atol=1e-11, equal_nan=True), name
    assert np.array_equal(watched["own"].coordinates, last["own"].coordinates[0])
    assert np.array_equal(watched["own"].velocities, last["own"].velocities[0])


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("method", [GeneralizedAlpha(), DOPRI5(), LieEM()], ids=lambda m: m.name)
def test_what_was_read_stays(coordinates, method):
    """Arrays that ``sim.now`` gives are those of their time; ``sim.now`` itself, and what it has of elements, go on."""
    sim = mbd.Simulator(cart_pole(coordinates=coordinates), 1e-3, method)
    now = sim.now
    pole, hinge = now["pole"], now["hinge"]
    read = []
    for k in range(12):
        sim.inputs["u"] = 3.0 * k
        if method.adaptive or k % 3 == 0:
            sim.advance(2e-3)
        else:
            sim.step()
        told = {x: getattr(now, x) for x in ("t", "q", "v", "vd", "lam")} | {
            "position": pole.position, "rotation": pole.rotation, "velocity": pole.velocity, "angle": hinge.angle,
            "rate": hinge.angle_rate, "force": hinge.force, "shown": sim["rail"].coordinates,
            "energy": now.energy.total,
        }  # fmt: skip
        assert told["t"][0] == sim.t and np.array_equal(told["position"][0], sim["pole"].position)
        assert told["energy"][0] == sim.solution().energy.total[-1]
        read.append((told, copy.deepcopy(told)))
    sim.reset()
    assert now.t[0] == 0.0 and np.array_equal(pole.position[0], sim["pole"].position)
    sim.advance(0.01)
    for told, then in read:
        for name, x in told.items():
            assert np.array_equal(x, then[name], equal_nan=True), name
    assert read[0][0]["position"][0, 0] != read[-1][0]["position"][0, 0]


def test_values_of_functions():
    """What a function refers to is what it was when the step was asked for."""
    gain = np.array([1.0]) if PUBLIC else [1.0]  # lists are plain Python there
    table = np.array([1.0, 2.0])

    def force(t):
        return gain[0] * table[1]

    def build():
        model = mbd.Model("point")
        point = model.add(mbd.PointMass("point", 1.0, (0, 0, 0)))
        model.add(mbd.forces.Force(point, lambda t: (force(t), 0.0, 0.0)))
        return model

    sim = mbd.Simulator(build(), 0.01, GeneralizedAlpha())
    sim.advance(0.1)
    gain[0] = 3.0
    for _ in range(10):
        sim.step()
    assert abs(sim["point"].velocity[0] - (0.2 + 0.6)) < 1e-12
    table[1] = 0.0
    sim.advance(0.1)
    assert abs(sim["point"].velocity[0] - 0.8) < 1e-12


def test_refused():
    model = cart_pole()
    with pytest.raises(mbd.ModelError, match="model is 3; expected an mbd.Model"):
        mbd.Simulator(3, 0.1)
    with pytest.raises(mbd.ModelError, match=r"call the class"):
        mbd.Simulator(model, 0.1, GeneralizedAlpha)
    with pytest.raises(mbd.ModelError, match="expected positive numbers"):
        mbd.Simulator(model, -0.1)
    with pytest.raises(mbd.ModelError, match="record is 3; expected True, False, or names"):
        mbd.Simulator(model, 0.1, record=3)
    with pytest.raises(mbd.ModelError, match="expected a multiple of the step"):
        mbd.Simulator(model, 0.1, output_step=0.25)
    with pytest.raises(mbd.IncompatibleError):
        mbd.Simulator(model, 0.1, mbd.integrators.JacobiExact())
    sim = mbd.Simulator(model, 0.1)
    with pytest.raises(mbd.ModelError, match="2.5 steps of 0.1; expected a whole number"):
        sim.advance(0.25)
    with pytest.raises(mbd.ModelError, match="expected a time, positive or zero"):
        sim.advance(-0.1)
    with pytest.raises(mbd.ModelError, match="chooses its steps itself"):
        mbd.Simulator(model, 0.1, DOPRI5()).step()
    with pytest.raises(mbd.ModelError, match="has no parameter or input 'w'"):
        sim.inputs["w"] = 1.0
    with pytest.raises(mbd.ModelError, match="Simulator: t_start is 3.0, but start= goes on from t = 0.0"):
        mbd.Simulator(model, 0.1, t_start=3.0, start=sim.state)
    with pytest.raises(mbd.ModelError, match="Simulator: fixed= belongs to initial conditions"):
        mbd.Simulator(model, 0.1, fixed="cart", start=sim.state)


@pytest.mark.parametrize("method", [RK4(), DOPRI5(), GeneralizedAlpha()], ids=lambda m: m.name)
def test_steps_that_vanish_beside_the_time(method):
    """The time would stand still while functions of it are asked."""
    with pytest.raises(mbd.ModelError, match=r"Simulator: step is 0\.001, which is lost beside t = 1e\+15"):
        mbd.Simulator(cart_pole(), 1e-3, method, t_start=1e15)
    if not method.adaptive:
        with pytest.raises(mbd.ModelError, match=r"Simulator: step is 0\.001, which is lost beside t = 1e\+20"):
            mbd.Simulator(cart_pole(), 1e-3, method).advance(1e20)


NODES = [mbd.nodes.RotationVector(), mbd.nodes.Quaternion(), mbd.nodes.Directors(), mbd.nodes.EulerAngles(lie=True)]


@pytest.mark.parametrize("node", NODES, ids=lambda node: type(node).__name__)
def test_joints_are_read_as_solutions_read_them(node):
    """Coordinates of joints at present, which are read in one call, are those of the present record bit for bit: in any
    order of looks, over more than a turn, with steps that nobody looked at, after a reset and with other parameters."""
    model = mbd.Model(gravity=(0, 0, -9.81))
    reach = model.parameter("reach", 0.0)
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(angular_velocity=(0, 0, 25))))
    spin = mbd.nodes.RotationVector((1, 0, 0), velocity=(0, 25, 0), angular_velocity=(0, 0, 25))
    tip = model.add(mbd.RigidBody("tip", 1.0, (0.1, 0.2, 0.3), spin))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    model.add(mbd.joints.Cylindrical(arm, tip, at=(1, 0, 0), axis=(1, 0, 0.1), name="slide"))
    model.add(mbd.forces.Spring(arm, tip, (0, 0, reach), (0, 0.3, 0), stiffness=3000.0, length=1.0))
    sim = mbd.Simulator(model.with_nodes(node), 0.02)
    hinge, slide = sim["hinge"], sim["slide"]
    quantities = {
        "hinge": ("angle", "angle_rate"),
        "slide": ("angle", "displacement", "angle_rate", "displacement_rate"),
    }

    def compare(first):
        for name in sorted(quantities, reverse=first):
            for quantity in quantities[name]:
                if first:
                    value = getattr(sim[name], quantity)
                    assert value == getattr(sim.now[name], quantity)[0]
                else:
                    known = getattr(sim.now[name], quantity)[0]
                    assert getattr({"hinge": hinge, "slide": slide}[name], quantity) == known

    for values in ({}, {"reach": 0.2}, {"reach": 0.2}):
        sim.reset(**values)
        compare(True)
        for k in range(40):
            for _ in range(4 if k % 9 == 5 else 1):
                sim.step()
            compare(k % 2 == 0)
        assert abs(hinge.angle) > 2.0 * np.pi
        assert hinge.angle == pytest.approx(sim.solution()["hinge"].angle[-1], abs=1e-9)


def test_a_refused_state_changes_nothing():
    sim, other = mbd.Simulator(cart_pole(), STEP), mbd.Simulator(cart_pole(), 0.5 * STEP)
    other.inputs["u"] = 3.0
    with pytest.raises(mbd.ModelError, match="a restart keeps the step"):
        sim.set_state(other.state)
    assert sim.inputs["u"] == 0.0
    sim.advance(10 * STEP)
    assert np.array_equal(sim.q, mbd.simulate(cart_pole(), 10 * STEP, STEP).q[-1])


def test_simulators_are_not_copied():
    sim = mbd.Simulator(cart_pole(), STEP)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(mbd.ModelError, match=r"neither copied nor pickled: .* other.set_state\(sim.state\)"):
            attempt(sim)
