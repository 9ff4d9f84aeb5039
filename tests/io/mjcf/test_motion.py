"""Motion of models from MJCF files against MuJoCo on the same file."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbd
from mbd.rotation import from_quaternion
from tests.io.mjcf import mechanisms
from tests.io.mjcf.comparison import (
    BALL,
    FREE,
    quietly,
    random_state,
    states_and_accelerations,
    with_keyframe,
    without_constraints,
    without_dry_friction,
)

COORDINATES = pytest.mark.parametrize("coordinates", ["absolute", "joint"])
ACCELERATIONS = 1e-9
TRAJECTORY = 1e-8
LOST_DIGITS = 1e-7  # of a hand of 1e-4 kg that a rotor of 0.04 kg m^2 turns: the matrix has such entries side by side


def robots():
    """Files that are in the package gymnasium, which is not imported."""
    spec = importlib.util.find_spec("gymnasium")
    return Path(spec.submodule_search_locations[0]) / "envs" / "mujoco" / "assets"


def started(path, theirs, rng, coordinates="absolute"):
    """A model at a random state of a file, and MuJoCo's data at the same one."""
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = random_state(theirs, rng)
    data.ctrl[:] = rng.uniform(-3.0, 3.0, size=theirs.nu)
    mujoco.mj_forward(theirs, data)
    path.write_text(with_keyframe(path.read_text(), data.qpos, data.qvel, data.ctrl))
    model = quietly(mbd.load_mjcf, path, keyframe="random", coordinates=coordinates)
    return without_dry_friction(model), data


@pytest.fixture
def chain(tmp_path):
    path = tmp_path / "chain.xml"
    path.write_text(mechanisms.CHAIN)
    return path


@COORDINATES
def test_accelerations(chain, rng, tolerance, coordinates):
    """Slides, hinges and a ball joint, several in a body, springs and dampers of any order, armatures, actuators."""
    theirs = without_constraints(mujoco.MjModel.from_xml_path(str(chain)))
    for _ in range(3):
        chain.write_text(mechanisms.CHAIN)
        model, data = started(chain, theirs, rng, coordinates)
        poses, velocities, accelerations = states_and_accelerations(model, theirs, data)
        assert max(poses, velocities) < tolerance.round_off
        assert accelerations < ACCELERATIONS


def test_energies(chain, rng):
    """Kinetic energy with that of the armatures, and potential energy of weights and linear springs."""
    text = mechanisms.CHAIN.replace('stiffness="4 1 2"', 'stiffness="4"').replace(
        'stiffness="2 .5 .3"', 'stiffness="2"'
    )
    chain.write_text(text[: text.index("<actuator>")] + "</mujoco>")
    theirs = without_constraints(mujoco.MjModel.from_xml_path(str(chain)))
    theirs.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    model, data = started(chain, theirs, rng)
    solution = mbd.simulate(model, 1e-3, 1e-3, integrator=mbd.integrators.RK4())
    assert solution.energy.potential[0] == pytest.approx(data.energy[0], rel=1e-12)
    assert solution.energy.kinetic[0] == pytest.approx(data.energy[1], rel=1e-12)


@COORDINATES
def test_trajectory(chain, rng, coordinates):
    """Half a second against the equations of MuJoCo, integrated to the last digits."""
    theirs = without_constraints(mujoco.MjModel.from_xml_path(str(chain)))
    model, data = started(chain, theirs, rng, coordinates)

    def rates(t, x):
        data.qpos[:], data.qvel[:] = x[: theirs.nq], x[theirs.nq :]
        mujoco.mj_forward(theirs, data)
        moved = np.array(data.qpos)
        return np.concatenate((velocity_of(theirs, moved, data.qvel), data.qacc))

    t_end = 0.5
    start = np.concatenate((data.qpos, data.qvel))
    exact = solve_ivp(rates, (0.0, t_end), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    data.qpos[:], data.qvel[:] = exact[: theirs.nq], exact[theirs.nq :]
    mujoco.mj_forward(theirs, data)
    method = mbd.integrators.DOPRI5(rtol=1e-11, atol=1e-11)
    solution = mbd.simulate(model, t_end, 1e-2, integrator=method)
    for name in ("base", "arm", "ball", "slider", "free", "rider"):
        i = theirs.body(name).id
        assert np.abs(solution[name].position[-1] - data.xpos[i]).max() < TRAJECTORY
        assert np.abs(solution[name].rotation[-1] - data.xmat[i].reshape(3, 3)).max() < TRAJECTORY
    for name in ("x", "z", "push"):
        assert solution[name].displacement[-1] == pytest.approx(data.joint(name).qpos[0], abs=TRAJECTORY)
    for name in ("yaw", "roll", "pitch", "twist", "spin"):
        assert solution[name].angle[-1] == pytest.approx(data.joint(name).qpos[0], abs=TRAJECTORY)
    assert abs(exact[: theirs.nq] - start[: theirs.nq]).max() > 0.5


def velocity_of(theirs, position, velocity):
    """Rates of MuJoCo's positions: of quaternions 1/2 q o (0, w) with w in body axes."""
    rates = np.zeros(theirs.nq)
    for k in range(theirs.njnt):
        q, v, kind = theirs.jnt_qposadr[k], theirs.jnt_dofadr[k], theirs.jnt_type[k]
        if kind == FREE:
            rates[q : q + 3] = velocity[v : v + 3]
            q, v = q + 3, v + 3
        if kind in (FREE, BALL):
            w, x, y, z = position[q : q + 4]
            a, b, c = velocity[v : v + 3]
            rates[q : q + 4] = 0.5 * np.array(
                (-x * a - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a)
            )
        else:
            rates[q] = velocity[v]
    return rates


def test_joints_show_the_values_of_the_file(chain):
    """At the reference, at given positions, and beyond half a turn."""
    model = quietly(mbd.load_mjcf, chain)
    assert model["pitch"].at_start()[0] == pytest.approx(np.radians(-15.0), abs=1e-15)
    assert model["z"].at_start()[0] == pytest.approx(0.2, abs=1e-15)
    start = {"pitch": 4.0, "yaw": -9.0, "z": 0.7, "spin": 0.3}
    moved = quietly(mbd.load_mjcf, chain, positions=start)
    solution = mbd.simulate(moved, 1e-3, 1e-3, integrator=mbd.integrators.RK4())
    for name, value in start.items():
        shown = solution[name].displacement if name == "z" else solution[name].angle
        assert shown[0] == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    "name", ["ant", "half_cheetah", "hopper", "humanoid", "inverted_double_pendulum", "pusher", "reacher", "walker2d"]
)
@COORDINATES
def test_robots(tmp_path, rng, name, coordinates, capfd, tolerance):
    """Accelerations of robots from a package, under random controls."""
    path = tmp_path / f"{name}.xml"
    path.write_text((robots() / f"{name}.xml").read_text())
    theirs = without_constraints(mujoco.MjModel.from_xml_path(str(path)))
    model, data = started(path, theirs, rng, coordinates)
    poses, velocities, accelerations = states_and_accelerations(model, theirs, data)
    assert max(poses, velocities) < tolerance.round_off
    assert accelerations < (LOST_DIGITS if (name, coordinates) == ("pusher", "absolute") else ACCELERATIONS)
    capfd.readouterr()  # MuJoCo warns about settotalmass


LOOPS = """<mujoco><option><flag contact="disable"/></option><worldbody>
  <body name="crank" pos="0 0 .1"><joint name="a" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/>
    <body name="rod" pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .6 0 .1"/>
      <site name="tip" pos=".6 0 .1"/></body></body>
  <body name="rocker" pos=".9 0 -.2"><joint name="c" axis="0 1 0"/>
    <geom type="capsule" size=".02" fromto="0 0 0 0 0 .4"/><site name="top" pos="0 0 .4"/></body>
  <body name="wheel" pos="0 1 0"><joint name="d" axis="1 0 0" ref="20"/><geom type="box" size=".1 .2 .1" pos="0 .1 0"/>
    <body name="rack" pos="0 .2 0"><joint name="e" type="slide" axis="0 0 1" ref=".3"/><geom size=".1"/></body></body>
  <body name="one" pos="0 2 0"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
  <body name="two" pos="0 2 1" euler="0 0 40"><freejoint/><geom type="box" size=".1 .2 .3"/>
    <body name="held" pos=".3 0 0"><joint name="f" axis="0 0 1"/><geom size=".1" pos=".2 0 0"/></body></body>
</worldbody><equality>
  {connect}<joint name="gear" joint1="e" joint2="d" polycoef="0 .4"/><weld name="glue" body1="one" body2="two"/>
  <joint name="lock" joint1="f"/>
</equality></mujoco>"""


@pytest.mark.parametrize(
    "connect", ['<connect body1="rod" body2="rocker" anchor=".6 0 .1"/>', '<connect site1="tip" site2="top"/>']
)
def test_equality_constraints(tmp_path, connect):
    """Rigid here, soft in MuJoCo: its mass matrix and Jacobians with rigid constraints give the same accelerations."""
    path = tmp_path / "loops.xml"
    path.write_text(LOOPS.format(connect=connect))
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    model = quietly(mbd.load_mjcf, path)
    kinds = {type(joint).__name__: joint for joint in model.joints}
    assert {"Spherical", "Fixed", "Coupling", "AngleDriver"} <= set(kinds)
    assert kinds["Coupling"].name == "gear" and kinds["Fixed"].name == "glue"
    full = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, full)
    rows = data.efc_J.reshape(-1, theirs.nv)[: data.ne]
    _, size, axes = np.linalg.svd(rows)  # the planar loop is held across its plane as well: rows are dependent
    rows = axes[: int((size > 1e-10 * size[0]).sum())]
    kkt = np.block([[full, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    data.qacc[:] = np.linalg.solve(kkt, np.concatenate((-data.qfrc_bias, np.zeros(len(rows)))))[: theirs.nv]
    with pytest.warns(mbd.RedundancyWarning):
        assert states_and_accelerations_of(model, theirs, data) < ACCELERATIONS


def states_and_accelerations_of(model, theirs, data):
    solution = mbd.simulate(model, 1e-4, 1e-4, integrator=mbd.integrators.RK4())
    worst = size = 0.0
    for i in range(1, theirs.nbody):
        point, spin = np.zeros((3, theirs.nv)), np.zeros((3, theirs.nv))
        mujoco.mj_jac(theirs, data, point, spin, data.xpos[i], i)
        view = solution[theirs.body(i).name]
        worst = max(worst, np.abs(view.acceleration[0] - point @ data.qacc).max())
        size = max(size, np.abs(point @ data.qacc).max())
    return worst / size


def test_welds_with_a_pose(tmp_path, tolerance):
    """Where MuJoCo's residual vanishes, the joint holds."""
    text = """<mujoco><worldbody><body name="a"><freejoint/><geom size=".1"/></body>
      <body name="b" pos="1 2 3"><freejoint/><geom size=".1"/></body></worldbody><equality>
      <weld body1="a" body2="b" relpose=".1 .2 .3 1 .2 -.3 .4" anchor=".4 -.5 .6"/></equality></mujoco>"""
    path = tmp_path / "weld.xml"
    path.write_text(text)
    joint = quietly(mbd.load_mjcf, path).joints[0]
    turn = from_quaternion(np.array((1.0, 0.2, -0.3, 0.4)))
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    relative = joint.frame_a @ joint.frame_b.T
    assert np.abs(relative - turn).max() < tolerance.round_off
    data.qpos[7:10] = joint.point_a - relative @ joint.point_b
    data.qpos[10:14] = np.array((1.0, 0.2, -0.3, 0.4)) / np.linalg.norm((1.0, 0.2, -0.3, 0.4))
    mujoco.mj_forward(theirs, data)
    assert np.abs(data.efc_pos[:6]).max() < tolerance.round_off


def test_critically_damped_servo(tmp_path):
    """dampratio and springdamper follow from the inertia at the reference, armatures included."""
    text = mechanisms.CHAIN.replace('kp="12" kv=".6"', 'kp="12" dampratio="0.8"')
    text = text.replace('name="yaw" axis="0 0 1"', 'name="yaw" springdamper="0.3 0.7" axis="0 0 1"')
    path = tmp_path / "servo.xml"
    path.write_text(text)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    model = quietly(mbd.load_mjcf, path)
    servo, gear = model["pitch servo"], 1.5
    assert servo.kd == pytest.approx(-theirs.actuator("pitch servo").biasprm[2] * gear**2, rel=1e-9)
    yaw = theirs.joint("yaw")
    assert model["spring of yaw"].stiffness == pytest.approx(yaw.stiffness[0], rel=1e-9)
    assert model["friction of yaw"].viscous == pytest.approx(yaw.damping[0], rel=1e-9)
