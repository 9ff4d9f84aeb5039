"""Motors with rotors against MuJoCo's armature and closed solutions; PD control with limits, feed-forward, switches."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, solve_ivp

import mbd
from mbd import forces, joints
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha, LieEM

Z = (0.0, 0.0, 1.0)
INERTIA = 2.0
SAME_MOTION = 1e-9  # in all coordinates, with RK4 at a step of 1 ms
ACCELERATION = 1e-9  # relative deviation of accelerations from those of MuJoCo

ARM = """
<mujoco>
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body>
      <joint type="hinge" axis="0 1 0" armature="0.7"/>
      <inertial pos="0.3 0.02 0.1" mass="2" diaginertia="0.1 0.2 0.25"/>
      <body pos="0.8 0 0">
        <joint type="{kind}" axis="0.36 0.48 0.8" armature="0.3"/>
        <inertial pos="0.2 0 0.05" mass="1.3" diaginertia="0.05 0.08 0.06"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
MOTORS = ({"torque": 3.0, "gear": 10.0, "rotor_inertia": 0.007}, {"torque": -1.0, "gear": -2.0, "rotor_inertia": 0.075})


def arm(slides=False):
    """The same two links, with rotors behind gears in place of armatures."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    upper = model.add(mbd.RigidBody("upper", 2.0, (0.1, 0.2, 0.25), com=(0.3, 0.02, 0.1)))
    node = mbd.nodes.Quaternion(position=(0.8, 0, 0))
    lower = model.add(mbd.RigidBody("lower", 1.3, (0.05, 0.08, 0.06), node, com=(0.2, 0, 0.05)))
    first = model.add(joints.Revolute(model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), name="first"))
    cls = joints.Prismatic if slides else joints.Revolute
    second = model.add(cls(upper, lower, at=(0.8, 0, 0), axis=(0.36, 0.48, 0.8), name="second"))
    for joint, settings in zip((first, second), MOTORS, strict=True):
        model.add(forces.Motor(joint, name=f"motor of {joint.name}", **settings))
    return model


@pytest.mark.parametrize("slides", [False, True], ids=["hinge", "slide"])
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_reflected_inertia_is_the_armature_of_mujoco(slides, coordinates):
    """Accelerations and kinetic energy of an arm in motion, and the same motion as in the other coordinates."""
    values, rates = np.array((0.4, -0.3)), np.array((1.5, -0.8))
    reference = mujoco.MjModel.from_xml_string(ARM.format(kind="slide" if slides else "hinge"))
    data = mujoco.MjData(reference)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = values, rates, (3.0, -1.0)
    mujoco.mj_forward(reference, data)
    mujoco.mj_energyVel(reference, data)
    names = ("first", "second")
    model = arm(slides).with_joint_values(
        dict(zip(names, values, strict=True)), rates=dict(zip(names, rates, strict=True))
    )
    model = model.with_coordinates(coordinates)
    solution = mbd.simulate(model, 0.3, 1e-3, RK4())
    given = np.array([solution[name].accelerations[0, 0] for name in names])
    assert given == pytest.approx(data.qacc, rel=ACCELERATION)
    assert solution.energy.kinetic[0] == pytest.approx(data.energy[1], rel=1e-12)
    work = cumulative_simpson(solution.power, x=solution.t, initial=0.0)
    assert solution.energy.total - solution.energy.total[0] == pytest.approx(work, abs=1e-6)
    for name in names:
        motor, angle = model[f"motor of {name}"], solution[name].coordinates[:, 0]
        assert motor.reflected_inertia == pytest.approx({"first": 0.7, "second": 0.3}[name])
        hinge, rotor = solution[motor.hinge], solution[motor.rotor]
        assert hinge.angle == pytest.approx(angle, abs=1e-10)
        turned = motor.reflected_inertia * solution[name].accelerations[:, 0]
        assert hinge.torque == pytest.approx(np.outer(turned, Z), abs=1e-6)
        assert np.abs(hinge.force).max() < 1e-12
        spin = np.einsum("nij,nj->ni", rotor.rotation, rotor.angular_velocity)
        assert spin == pytest.approx(np.outer(solution[name].rates[:, 0], Z), abs=1e-9)
        change = np.einsum("nij,nj->ni", rotor.rotation, rotor.angular_acceleration)
        assert change == pytest.approx(np.outer(solution[name].accelerations[:, 0], Z), abs=1e-6)
        assert solution[motor].effort == pytest.approx(np.full(len(solution), motor.torque))


def test_frames_have_the_rotors_turned_that_joint_coordinates_leave_at_rest():
    """Frames and their velocities of a whole system, views, and the present of a simulator."""
    model = arm(slides=False).with_joint_values({"first": 0.4}, rates={"first": 1.3, "second": -0.7})
    ends = {}
    for coordinates in ("absolute", "joint"):
        solution = mbd.simulate(model.with_coordinates(coordinates), 0.3, 1e-3, RK4())
        sim = mbd.Simulator(model.with_coordinates(coordinates), 1e-3, RK4())
        system = solution.system
        frames, rates = solution.frames(-1), system.frame_velocities(solution.q[-1], solution.v[-1])
        ends[coordinates] = frames, rates
        for _ in range(300):
            sim.step()
        for motor in ("motor of first", "motor of second"):
            name = f"rotor of {motor}"
            rotor, now = solution[name], sim[name]
            axes = frames[system.node_index(system.model[name]), 3:].reshape(3, 3).T
            assert axes == pytest.approx(rotor.rotation[-1], abs=1e-12)
            assert now.rotation == pytest.approx(rotor.rotation[-1], abs=1e-12)
            assert now.angular_velocity == pytest.approx(rotor.angular_velocity[-1], abs=1e-12)
    for absolute, joint in zip(*ends.values(), strict=True):
        assert joint == pytest.approx(absolute, abs=SAME_MOTION)


def disc(speed=0.0, **motor):
    model = mbd.Model("disc")
    spin = mbd.nodes.RotationVector(angular_velocity=(0, 0, speed))
    body = model.add(mbd.RigidBody("disc", 1.0, (INERTIA, INERTIA, INERTIA), spin))
    joint = model.add(joints.Revolute(model.ground, body, at=(0, 0, 0), axis=Z, zero=1.0, name="joint"))
    return model, joint, model.add(forces.Motor(joint, **motor)) if motor else None


def test_a_motor_accelerates_disc_and_rotor_up_to_its_limit():
    """(J + n^2 Jr) u'' = min(k t, limit); the rotor keeps the turns of a joint."""
    model, joint, motor = disc(torque=lambda t: 30.0 * t, limit=12.0, gear=4.0, rotor_inertia=0.5)
    whole = INERTIA + 8.0
    for method in (RK4(), GeneralizedAlpha(), LieEM()):
        solution = mbd.simulate(model, 4.0, 0.01, method)
        t = solution.t
        late = np.maximum(t - 0.4, 0.0)
        exact = 1.0 + np.where(t < 0.4, 5.0 * t**3, 5.0 * 0.4**3 + 2.4 * late + 6.0 * late**2) / whole
        assert solution[joint].angle == pytest.approx(exact, abs=1e-3 if method.order < 4 else 1e-5)
        assert solution[joint].angle[-1] > 2.0 * math.pi
        assert solution[motor].effort.max() == 12.0
        kinetic = 0.5 * whole * solution[joint].angle_rate ** 2
        assert solution.energy.kinetic == pytest.approx(kinetic, rel=1e-7, abs=1e-9)
        assert np.abs(solution.momentum.angular[:, 2] - INERTIA * solution[joint].angle_rate).max() < 1e-9


def test_rotors_come_and_go_with_their_motor(tmp_path):
    model, joint, motor = disc(torque=1.0, gear=2.0, rotor_inertia=0.25)
    assert [body.name for body in model.bodies] == ["disc", "rotor of motor 1"]
    assert model.joints[-1] is motor.hinge
    for part in (motor.rotor, motor.hinge):
        with pytest.raises(mbd.ModelError, match="refers to it; remove that first"):
            model.remove(part)
    twin = model.copy()
    assert twin["motor 1"].rotor is twin["rotor of motor 1"] and twin["motor 1"].hinge.driving is twin["joint"]
    model.save(tmp_path / "model.json")
    again = mbd.Model.load(tmp_path / "model.json")
    ends = [mbd.simulate(x, 1.0, 0.01, RK4())["joint"].angle[-1] for x in (model, twin, again)]
    assert ends == pytest.approx([1.0 + 0.5 / (INERTIA + 1.0)] * 3, abs=1e-12)
    model["disc"].rotation = mbd.rotation((0, 0, 0.5))  # the rotor follows: there is nothing to correct
    moved = mbd.simulate(model, 0.1, 0.01, RK4())
    assert not moved.start.changed
    assert moved["gear of motor 1"].angle[0] == pytest.approx(1.5, abs=1e-14)
    model.remove(motor)
    assert [body.name for body in model.bodies] == ["disc"] and len(model.joints) == 1 and motor.rotor is None
    other, hinge, _ = disc()
    other.add(forces.Motor(hinge, 1.0, rotor_inertia=1.0, name="m"))
    other.add(forces.Motor(hinge, 1.0, rotor_inertia=1.0, name="rotor"))
    assert mbd.simulate(other, 1.0, 0.01, RK4())["joint"].angle[-1] == pytest.approx(1.25, abs=1e-12)
    with pytest.raises(mbd.ModelError, match="gear cannot be changed afterwards; make a new motor"):
        other["m"].gear = 3.0


def test_a_diagnosis_counts_no_freedom_of_rotors():
    model, *_ = disc(torque=1.0, rotor_inertia=0.25)
    found = mbd.diagnose(model)
    assert found.dof == 1 and not found.dependent and not found.warnings


def test_analyses_know_the_rotor():
    """Vibrations, the torque of a driven motion, and a new start after many turns; whatever the coordinates."""
    model, joint, motor = disc(torque=0.0, gear=3.0, rotor_inertia=0.5)
    whole = INERTIA + motor.reflected_inertia
    model.add(forces.TorsionSpring(joint, 8.0, rest=1.0))
    angles = {"rotor of motor 1": mbd.nodes.EulerAngles(sequence="zxz", lie=False)}
    for x in (model, model.with_coordinates("joint"), model.with_nodes(angles)):
        rest = mbd.equilibrium(x)
        assert mbd.linearize(rest.model, rest).frequencies == pytest.approx(
            [math.sqrt(8.0 / whole) / (2.0 * math.pi)], rel=1e-7
        )
    driven, hinge, _ = disc(torque=0.0, gear=3.0, rotor_inertia=0.5)
    driven.add(joints.AngleDriver.on(hinge, lambda t: 1.0 + 2.0 * t * t, name="drive"))
    needed = mbd.inverse_dynamics(driven, 0.5, 0.1)["drive"].torque[:, 2]
    assert needed == pytest.approx(np.full(6, 4.0 * whole), rel=1e-9)
    turning, hinge, motor = disc(20.0, torque=0.0, rotor_inertia=0.5)
    turned = mbd.simulate(turning, 1.0, 0.01)
    later = mbd.simulate(mbd.model_at(turned), 0.1, 0.01)
    assert later["joint"].angle[0] == pytest.approx(turned["joint"].angle[-1], abs=1e-12)
    assert later["gear of motor 1"].angle[0] == pytest.approx(turned["joint"].angle[-1], abs=1e-12)
    assert not later.start.changed


# --- control --------------------------------------------------------------------------------------------------------


def test_control_with_feed_forward_and_limit():
    """J u'' = clip(kp (r - u) + kd (r' - u') + f, limit)."""
    model, joint, _ = disc()
    control = model.add(
        forces.PDControl(
            joint, lambda t: 1.0 + math.sin(2.0 * t), kp=50.0, kd=6.0, limit=9.0,
            feedforward=lambda t, u, u_dot: -4.0 * INERTIA * math.sin(2.0 * t) + 0.1 * u,
        )
    )  # fmt: skip

    def law(t, u, v):
        follow = 50.0 * (1.0 + math.sin(2.0 * t) - u) + 6.0 * (2.0 * math.cos(2.0 * t) - v)
        return float(np.clip(follow - 4.0 * INERTIA * math.sin(2.0 * t) + 0.1 * u, -9.0, 9.0))

    exact = solve_ivp(
        lambda t, y: (y[1], law(t, *y) / INERTIA), (0, 2), (1.0, 0.0), rtol=1e-11, atol=1e-11, max_step=1e-2,
        dense_output=True,
    )  # fmt: skip
    solution = mbd.simulate(model, 2.0, 2e-3, RK4())
    assert solution[joint].angle == pytest.approx(exact.sol(solution.t)[0], abs=5e-6)  # the limit has kinks
    effort = solution[control].effort
    assert effort.max() == 9.0 and np.abs(effort).min() < 1.0
    assert solution[control].power == pytest.approx(effort * solution[joint].angle_rate, abs=1e-11)
    plain = mbd.simulate(model, 2.0, 2e-3, GeneralizedAlpha())
    assert plain[joint].angle == pytest.approx(solution[joint].angle, abs=1e-4)


def test_kinks_of_set_points_are_met_exactly():
    """The Puma's set points: a constant acceleration that changes its sign in the middle."""
    calls = {"switches": 0.5}

    def target(t):
        return 1.0 + (8.0 * t * t if t <= 0.5 else 4.0 - 8.0 * (1.0 - t) * (1.0 - t))

    def rate(t):
        return 16.0 * t if t <= 0.5 else 16.0 * (1.0 - t)

    rejected = {}
    for name, switches in (("with", calls["switches"]), ("without", ())):
        model, joint, _ = disc()
        model.add(forces.PDControl(joint, target, kp=4e4, kd=400.0, rate=rate, switches=switches))
        solution = mbd.simulate(model, 1.0, 1e-3, DOPRI5(rtol=1e-9, atol=1e-9))
        rejected[name] = solution.stats["rejected"]
        assert (np.abs(solution.t - 0.5).min() == 0.0) == (name == "with")
        assert solution[joint].angle[-1] == pytest.approx(5.0, abs=1e-3)
    assert rejected["with"] < rejected["without"]
    model.forces[0].switches = (0.5, 0.25)
    assert model.forces[0].switches == (0.25, 0.5)


def test_files_with_joint_forces(tmp_path):
    """A model of numbers comes back as it was; of functions a solution keeps what they did."""
    model, joint, _ = disc(torque=1.0, limit=3.0, rotor_inertia=0.2)
    model.add(forces.PDControl(joint, 1.2, 3.0, 0.1, feedforward=0.4, limit=2.0, switches=(0.1,)))
    model.add(forces.JointFriction(joint, 0.1, 0.2, 0.3, 0.5, 0.05))
    model.add(forces.JointLimit(joint, upper=1.1, stiffness=100.0, damping=1.0))
    model.add(forces.JointForce(joint, 0.7))
    model.add(forces.GravityCompensation(joint))
    model.save(tmp_path / "model.json")
    again = mbd.Model.load(tmp_path / "model.json")
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "model.json").read_text()
    assert again["pdcontrol 1"].limit == 2.0 and again["joint limit 1"].lower is None
    first, second = (mbd.simulate(x, 0.5, 0.01) for x in (model, again))
    assert np.array_equal(first.q, second.q)
    model["joint force 1"].force = lambda t, u, u_dot: math.sin(t) - u_dot
    with pytest.raises(mbd.ModelError, match="is a Python function, which a model file cannot hold"):
        model.save(tmp_path / "model.json")
    solution = mbd.simulate(model, 0.5, 0.01)
    solution.save(tmp_path / "solution.npz")
    loaded = mbd.load(tmp_path / "solution.npz")
    for name in ("joint force 1", "motor 1", "joint limit 1", "joint friction 1"):
        assert np.array_equal(loaded[name].effort, solution[name].effort)
        assert np.array_equal(loaded[name].power, solution[name].power)
    assert np.array_equal(loaded.energy.total, solution.energy.total)
    half = mbd.simulate(model, 0.25, 0.01)
    on = mbd.simulate(model, 0.5, 0.01, start=half)
    assert np.array_equal(on.q[-1], solution.q[-1])
