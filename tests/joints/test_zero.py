"""Zeros of joints: what a joint shows in the initial configuration, and that all who read it agree."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from mbd import forces, joints
from mbd.view.glyphs import joint_solids

Z = (0.0, 0.0, 1.0)
SPIN = 2.0
ROUND_OFF = 1e-14
HELD = 1e-9  # constraints, at the Newton tolerance


def bar(zero=None, cls=joints.Revolute, **more):
    """A bar that turns about the first axis of its joint, or slides along it, with the speed SPIN."""
    model = mbd.Model("bar", gravity=(0, -9.81, 0))
    slides = cls is joints.Prismatic
    motion = {"velocity": (0, 0, SPIN)} if slides else {"velocity": (0, SPIN, 0), "angular_velocity": (0, 0, SPIN)}
    node = mbd.nodes.RotationVector(position=(1, 0, 0), rotation=mbd.rotation((0.3, 0.2, -0.4)))
    body = model.add(mbd.RigidBody("body", 2.0, (0.2, 0.3, 0.4), node))
    body.velocity = motion["velocity"]
    body.angular_velocity = body.rotation.T @ np.array(motion.get("angular_velocity", (0, 0, 0)))
    joint = model.add(cls(model.ground, body, at=(0, 0, 0), axis=Z, zero=zero, name="joint", **more))
    return model, body, joint


@pytest.mark.parametrize("zero", [0.4, math.pi, -math.pi, 3.5, -7.0], ids=str)
def test_all_who_read_an_angle_agree(zero, tmp_path):
    """Springs, controls, limits, drivers, couplings, sensors, events, views; also after a file, and beyond a turn."""
    model, body, joint = bar(zero)
    assert joint.at_start() == pytest.approx((zero, SPIN), abs=ROUND_OFF)
    other = model.add(mbd.RigidBody("other", 1.0, (0.1, 0.1, 0.1), mbd.nodes.Quaternion(position=(3, 0, 0))))
    second = model.add(joints.Revolute(model.ground, other, at=(3, 0, 0), axis=Z, zero=2.0 * zero + 0.3, name="second"))
    other.angular_velocity = (0, 0, 2.0 * SPIN)
    model.add(joints.Coupling(joint, second, 2.0, offset=0.3))
    model.add(forces.TorsionSpring(joint, 5.0, rest=zero, name="spring"))
    model.add(forces.PDControl(joint, zero, kp=3.0, name="control"))
    model.add(forces.JointForce(joint, lambda t, u, u_dot: u + 10.0 * u_dot, name="given"))
    limit = model.add(forces.JointLimit(joint, zero - 0.1, zero + 0.1, stiffness=100.0, name="limit"))
    level = zero + 0.05
    event = mbd.Event(lambda s: s["joint"].angle - level, name="level")
    solution = mbd.simulate(model, 0.2, 0.002, events=event)
    assert not solution.start.changed
    angle = solution[joint].angle
    assert angle[0] == pytest.approx(zero, abs=ROUND_OFF)
    assert solution["second"].angle == pytest.approx(2.0 * angle + 0.3, abs=HELD)
    assert np.array_equal(mbd.sensors.Angle("joint")(solution), angle)
    assert solution["spring"].angle == pytest.approx(angle, abs=ROUND_OFF)
    assert solution["spring"].effort == pytest.approx(-5.0 * (angle - zero), abs=HELD)
    assert solution["control"].effort == pytest.approx(-3.0 * (angle - zero), abs=HELD)
    assert solution["given"].effort == pytest.approx(angle + 10.0 * solution[joint].angle_rate, abs=HELD)
    depth = np.maximum(angle - limit.upper, 0.0) + np.minimum(angle - limit.lower, 0.0)
    assert solution["limit"].effort == pytest.approx(-100.0 * depth, abs=HELD)
    assert depth.max() > 0.0
    assert np.interp(solution.events[0].t, solution.t, angle) == pytest.approx(level, abs=1e-5)
    path = tmp_path / "solution.npz"
    solution.save(path)
    assert np.array_equal(mbd.load(path)["joint"].angle, angle)
    assert np.array_equal(mbd.load(path)["given"].effort, solution["given"].effort)


def test_a_model_file_keeps_what_joints_show(tmp_path):
    for cls, zero in ((joints.Revolute, 3.5), (joints.Prismatic, -2.0), (joints.Cylindrical, (0.7, -4.0))):
        model, _, joint = bar(zero, cls)
        model.save(tmp_path / "model.json")
        again = mbd.Model.load(tmp_path / "model.json")["joint"]
        assert (again.zero, again.branch) == (joint.zero, joint.branch)
        for kind in ("angle", "displacement") if joint.coordinate == "both" else (joint.coordinate,):
            assert again.at_start(kind) == joint.at_start(kind)
        assert model.copy()["joint"].zero == joint.zero
    plain = bar()[0]
    plain.save(tmp_path / "plain.json")
    assert '"zero"' not in (tmp_path / "plain.json").read_text()  # as before there were zeros


def test_a_zero_changes_nothing_but_the_reading():
    """Motion, reactions and drawings are those of the same joint without one, bit by bit or up to round-off."""
    for cls, zero in ((joints.Revolute, 2.5), (joints.Prismatic, 40.0), (joints.Cylindrical, (-3.0, 1.0))):
        plain, shown = (mbd.simulate(bar(z, cls)[0], 0.2, 0.01) for z in (None, zero))
        assert np.array_equal(plain.q, shown.q)
        assert np.array_equal(plain["joint"].force, shown["joint"].force)
        assert plain["joint"].torque == pytest.approx(shown["joint"].torque, abs=1e-12)
        for name, value in zip(("displacement", "angle"), np.broadcast_to(zero, 2), strict=True):
            if cls.coordinate in (name, "both"):
                before, after = (getattr(s["joint"], name) for s in (plain, shown))
                assert after - before == pytest.approx(np.full(21, value), abs=1e-13)
        glyphs = [
            joint_solids(s["joint"].joint, (0, 1), type("Motion", (), {"solution": s}), 0.1, (0, 0, 0), 12)
            for s in (plain, shown)
        ]
        for a, b in zip(*glyphs, strict=True):
            assert a.offset == pytest.approx(b.offset, abs=1e-13)


def test_drivers_of_what_a_joint_shows():
    """AngleDriver.on and PositionDriver.on: no correction of the start, and the prescribed reading."""
    for cls, driver, zero in (
        (joints.Revolute, joints.AngleDriver, 4.0),
        (joints.Prismatic, joints.PositionDriver, -0.7),
    ):
        model, _, joint = bar(zero, cls)
        drive = model.add(driver.on(joint, lambda t, z=zero: z + SPIN * t + 3.0 * t * t, name="drive"))
        solution = mbd.simulate(model, 0.5, 0.01)
        assert not solution.start.changed
        wanted = zero + SPIN * solution.t + 3.0 * solution.t**2
        for name in ("joint", "drive"):
            shown = getattr(solution[name], joint.coordinate)
            assert shown == pytest.approx(wanted, abs=HELD)
        assert drive.at_start() == joint.at_start()
    with pytest.raises(mbd.ModelError, match=r"PositionDriver\.on: coordinate = 'displacement'; expected 'angle'"):
        joints.PositionDriver.on(bar()[2])


def test_a_thread_begins_where_the_screw_is_made():
    model, body, _ = bar()
    model.remove("joint")
    body.velocity, body.angular_velocity = (0, 0, 0), (0, 0, 0)
    screw = model.add(joints.Screw(model.ground, body, at=(1, 0, 0), axis=Z, pitch=0.5, zero=(0.3, 5.0)))
    model.add(forces.JointForce(screw, 2.0, coordinate="angle"))
    solution = mbd.simulate(model, 1.0, 0.01)
    assert not solution.start.changed
    view = solution[screw]
    assert (view.displacement[0], view.angle[0]) == pytest.approx((0.3, 5.0), abs=ROUND_OFF)
    assert view.displacement - 0.3 == pytest.approx(0.5 / (2.0 * np.pi) * (view.angle - 5.0), abs=HELD)
    assert view.angle[-1] > 6.0


def test_whole_turns_of_given_values():
    """``with_joint_values`` takes the value that is meant, not one that looks the same; so do joint coordinates."""
    model, _, joint = bar(0.4)
    model.add(forces.TorsionSpring(joint, 2.0, rest=9.0, name="spring"))
    for placed, value in ((model, 0.4), (model.with_joint_values({"joint": 9.5}), 9.5)):
        for coordinates in ("absolute", "joint"):
            solution = mbd.simulate(placed.with_coordinates(coordinates), 0.1, 0.01)
            assert solution["joint"].angle[0] == pytest.approx(value, abs=1e-13)
            assert solution["joint"].coordinates[0, 0] == pytest.approx(value, abs=1e-13)
            assert solution["spring"].effort[0] == pytest.approx(2.0 * (9.0 - value), abs=1e-12)
        assert mbd.model_at(solution)["joint"].at_start()[0] == pytest.approx(solution["joint"].angle[-1], abs=1e-12)


REFUSED = {
    "a joint without a coordinate": (joints.Spherical, 0.3, "zero= has no meaning for this joint"),
    "one number for two coordinates": (joints.Cylindrical, 0.3, r"expected the pair \(displacement, angle\)"),
    "two for one": (joints.Revolute, (0.1, 0.2), r"zero \(the angle in the initial configuration\)"),
    "not a number": (joints.Prismatic, math.nan, r"zero \(the displacement in the initial configuration\) = nan"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_zeros_that_make_no_sense(case):
    cls, zero, message = REFUSED[case]
    model = mbd.Model("wrong")
    body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1)))
    axis = {} if cls is joints.Spherical else {"axis": Z}
    with pytest.raises(mbd.ModelError, match=message):
        cls(model.ground, body, at=(0, 0, 0), zero=zero, **axis)


def test_two_points_and_a_zero_contradict_each_other():
    model = mbd.Model("wrong")
    body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1)))
    points = {"point_a": (0, 0, 0), "point_b": (0, 0, 0)}
    with pytest.raises(mbd.ModelError, match="either zero= or both point_a= and point_b="):
        joints.Prismatic(model.ground, body, axis=Z, zero=0.3, **points)
    joint = joints.Prismatic(model.ground, body, axis=Z)
    with pytest.raises(mbd.ModelError, match="zero cannot be changed"):
        joint.zero = 0.3
    with pytest.raises(mbd.ModelError, match="this joint shows no angle"):
        joint.branch = 0.3
