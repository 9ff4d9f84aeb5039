"""Screw, gears, rack and pinion: transmission ratios through many turns, and the motion with reduced inertia."""

from __future__ import annotations

import numpy as np
import pytest

import mbd

NODES = [mbd.nodes.RotationVector(), mbd.nodes.Quaternion(), mbd.nodes.Directors(), mbd.nodes.EulerAngles(lie=True)]
METHODS = [
    mbd.integrators.GeneralizedAlpha(stabilized=False),
    mbd.integrators.GeneralizedAlpha(),
    mbd.integrators.RK4(),
]
HELD = 1e-7  # coordinates are held to the Newton tolerance


def body(model, name, position, inertia=(0.2, 0.3, 0.4), mass=2.0):
    return model.add(mbd.RigidBody(name, mass=mass, inertia=inertia, node=mbd.nodes.RotationVector(position=position)))


@pytest.mark.parametrize("method", METHODS, ids=lambda m: f"{m.name}-{getattr(m, 'stabilized', '')}")
@pytest.mark.parametrize("node", NODES, ids=str)
def test_gear_train_accelerates_with_the_reduced_inertia(node, method):
    """alpha_1 = torque / (J1 + ratio^2 J2)."""
    model = mbd.Model("gears")
    first, second = body(model, "first", (0, 0, 0)), body(model, "second", (1, 0, 0))
    one = model.add(mbd.joints.Revolute(model.ground, first, at=(0, 0, 0), axis=(0, 0, 1), name="one"))
    two = model.add(mbd.joints.Revolute(model.ground, second, at=(1, 0, 0), axis=(0, 0, 1), name="two"))
    model.add(mbd.joints.Gear(one, two, -2.0, name="gear"))
    model.add(mbd.forces.Torque(first, (0, 0, 10.0)))
    solution = mbd.simulate(model.with_nodes(node), 2.0, 0.005, method)
    alpha = 10.0 / (0.4 + 4.0 * 0.4)
    t = solution.t
    assert solution["one"].angle == pytest.approx(0.5 * alpha * t * t, abs=2e-4 if node.lie else 0.5)
    assert solution["one"].angle[-1] > 1.5 * 2 * np.pi
    assert solution["two"].angle == pytest.approx(-2.0 * solution["one"].angle, abs=HELD)
    loose = 1e-3 if node.lie else 0.5
    assert solution["gear"].torque[5:, 2] == pytest.approx(np.full(t.size - 5, -2.0 * alpha * 0.4), abs=loose)
    work = 10.0 * solution["one"].angle
    assert solution.energy.total == pytest.approx(work, abs=loose * work.max())


@pytest.mark.parametrize("node", NODES, ids=str)
def test_screw_falls_with_the_reduced_inertia(node):
    """m a = m g - (2 pi / pitch)^2 J a."""
    model = mbd.Model("screw", gravity=(0, 0, -9.81))
    nut = body(model, "nut", (0, 0, 0))
    screw = model.add(mbd.joints.Screw(model.ground, nut, at=(0, 0, 0), axis=(0, 0, 1), pitch=0.5))
    solution = mbd.simulate(model.with_nodes(node), 2.0, 0.01, mbd.integrators.RK4())
    t, c = solution.t, 2.0 * np.pi / 0.5
    acceleration = 9.81 * 2.0 / (2.0 + c * c * 0.4)
    assert solution[screw].displacement == pytest.approx(-0.5 * acceleration * t * t, abs=1e-6)
    assert solution[screw].angle == pytest.approx(-0.5 * c * acceleration * t * t, abs=1e-5)
    assert solution.energy.total == pytest.approx(np.zeros_like(t), abs=1e-5)


def test_rack_and_pinion():
    """A weight on a rack turns the pinion: (m + J / r^2) a = -m g."""
    model = mbd.Model("rack", gravity=(0, 0, -9.81))
    pinion, rack = body(model, "pinion", (0, 0, 0)), body(model, "rack", (0.1, 0, 0), mass=3.0)
    hinge = model.add(mbd.joints.Revolute(model.ground, pinion, at=(0, 0, 0), axis=(0, 1, 0)))
    slide = model.add(mbd.joints.Prismatic(model.ground, rack, axis=(0, 0, 1)))
    model.add(mbd.joints.RackPinion(hinge, slide, 0.1))
    solution = mbd.simulate(model, 1.0, 0.01, mbd.integrators.RK4())
    a = -9.81 * 3.0 / (3.0 + 0.3 / 0.01)
    assert solution[slide].displacement == pytest.approx(0.5 * a * solution.t**2, abs=1e-10)
    assert solution[hinge].angle == pytest.approx(5.0 * a * solution.t**2, abs=1e-9)


def threaded_arm(unit: float) -> mbd.Model:
    """A nut on a thread of a swinging arm, and a rack that the arm drives; in units of which a metre has so many."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81 * unit))

    def part(name, position):
        node = mbd.nodes.RotationVector(position=np.multiply(position, unit))
        return model.add(mbd.RigidBody(name, 2.0, np.multiply((0.2, 0.3, 0.4), unit**2), node, com=(0.1 * unit, 0, 0)))

    arm, nut, rack = part("arm", (0.5, 0, 0)), part("nut", (0.8, 0.1, 0.2)), part("rack", (0, 0, 1))
    hinge = model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0.2), name="hinge"))
    thread = {"at": (0.7 * unit, 0.1 * unit, 0), "axis": (1, 0.3, 1), "pitch": 0.3 * unit}
    model.add(mbd.joints.Screw(arm, nut, **thread, name="screw"))
    guide = model.add(mbd.joints.Prismatic(model.ground, rack, axis=(0, 0, 1), name="guide"))
    model.add(mbd.joints.RackPinion(hinge, guide, 0.2 * unit, name="rack and pinion"))
    return model


@pytest.mark.parametrize("method", METHODS[1:], ids=lambda m: m.name)
@pytest.mark.parametrize("unit", [1e-6, 1e6, 1e9])
def test_screws_and_racks_hold_in_any_unit_of_length(unit, method):
    """Their equations are lengths, held relative to the size of the model, and their multipliers forces."""
    expected = mbd.simulate(threaded_arm(1.0), 0.2, 0.002, method)
    model = threaded_arm(unit)
    found = mbd.simulate(model, 0.2, 0.002, method)
    for name in ("arm", "nut", "rack"):
        assert found[name].position / unit == pytest.approx(expected[name].position, abs=1e-9)
        assert found[name].rotation == pytest.approx(expected[name].rotation, abs=1e-9)
    for name in ("hinge", "screw", "rack and pinion"):
        assert found[name].force / unit == pytest.approx(expected[name].force, abs=1e-6)
    assert found.channels["rack and pinion.multipliers"].unit == "N"


def test_planetary_coupling_of_three_bodies():
    """Wheels on a turning arm: the gear couples angles that are relative to the arm."""
    model = mbd.Model("planets")
    arm, first, second = (
        body(model, "arm", (0, 0, 0)),
        body(model, "first", (1, 0, 0)),
        body(model, "second", (2, 0, 0)),
    )
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1), name="main"))
    one = model.add(mbd.joints.Revolute(arm, first, at=(1, 0, 0), axis=(0, 0, 1), name="one"))
    two = model.add(mbd.joints.Revolute(arm, second, at=(2, 0, 0), axis=(0, 0, 1), name="two"))
    gear = model.add(mbd.joints.Gear(one, two, -0.5))
    model.add(mbd.forces.Torque(first, (0, 0, 5.0)))
    assert set(gear.bodies) == {arm, first, second}
    solution = mbd.simulate(model, 2.0, 0.005)
    assert solution["two"].angle == pytest.approx(-0.5 * solution["one"].angle, abs=HELD)
    assert np.abs(solution["one"].angle[-1]) > 2 * np.pi
    work = 5.0 * (solution["one"].angle + solution["main"].angle)
    assert solution.energy.total == pytest.approx(work, abs=1e-4 * work.max())
    copy = mbd.simulate(model.with_nodes(mbd.nodes.Directors), 0.5, 0.005)
    assert copy["two"].angle[-1] == pytest.approx(np.interp(0.5, solution.t, solution["two"].angle), abs=1e-3)


def test_turns_survive_a_restart():
    model = mbd.Model("restart")
    first, second = body(model, "first", (0, 0, 0)), body(model, "second", (1, 0, 0))
    one = model.add(mbd.joints.Revolute(model.ground, first, at=(0, 0, 0), axis=(0, 0, 1), name="one"))
    two = model.add(mbd.joints.Revolute(model.ground, second, at=(1, 0, 0), axis=(0, 0, 1), name="two"))
    model.add(mbd.joints.Gear(one, two, 0.3))
    model.add(mbd.forces.Torque(first, (0, 0, 20.0)))
    whole = mbd.simulate(model, 2.0, 0.01)
    half = mbd.simulate(model, 1.0, 0.01)
    rest = mbd.simulate(model, 2.0, 0.01, start=half)
    assert np.array_equal(rest.q[-1], whole.q[-1])


def test_bad_couplings_are_refused():
    model = mbd.Model("bad")
    wheel, other = body(model, "wheel", (0, 0, 0)), body(model, "other", (1, 0, 0))
    hinge = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    ball = model.add(mbd.joints.Spherical(model.ground, other, at=(1, 0, 0)))
    shaft = mbd.joints.Cylindrical(model.ground, other, at=(1, 0, 0), axis=(0, 0, 1))
    with pytest.raises(mbd.ModelError, match="has no angle"):
        mbd.joints.Gear(hinge, ball, 2.0)
    with pytest.raises(mbd.ModelError, match="say which with coordinate_b="):
        mbd.joints.Coupling(hinge, shaft, 2.0)
    with pytest.raises(mbd.ModelError, match="not zero"):
        mbd.joints.Gear(hinge, shaft, 0.0)
    with pytest.raises(mbd.ModelError, match="added first"):
        model.add(mbd.joints.Gear(hinge, shaft, 1.0))
