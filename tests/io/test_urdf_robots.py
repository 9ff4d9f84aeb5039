"""Robots from URDF files against Pinocchio on the same file."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import mbd

ACCELERATIONS = 1e-9
TRAJECTORY = 1e-8


def link(name, mass, com, rpy, inertia):
    xx, yy, zz, xy, xz, yz = inertia
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}" rpy="{rpy}"/><mass value="{mass}"/>'
        f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="{xz}" iyz="{yz}"/></inertial></link>'
    )


def joint(name, kind, parent, child, xyz, rpy, axis, more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>'
    )


LIMIT = '<limit lower="-1.5" upper="1.2" effort="30" velocity="2"/>'
ROBOT = '<robot name="tree">' + "".join((
    '<link name="base"/>',
    link("trunk", 4.0, "0.1 0 0.2", "0.3 0.2 0.1", (0.2, 0.25, 0.15, 0.01, 0.02, -0.01)),
    link("arm", 2.0, "0 0.1 0.3", "0 0 0", (0.05, 0.06, 0.02, 0.002, 0, 0.001)),
    '<link name="dummy"/>',
    link("hand", 0.5, "0.05 0 0", "1 0 0", (0.002, 0.003, 0.004, 0, 0, 0)),
    link("tool", 0.3, "0 0 0.1", "0 0 0", (0.001, 0.001, 0.0005, 0, 0, 0)),
    link("slide", 1.0, "0.1 0.2 0", "0 1 0", (0.01, 0.02, 0.015, 0, 0.001, 0)),
    link("wheel", 0.8, "0 0.02 0", "0 0 0", (0.01, 0.005, 0.01, 0, 0, 0)),
    joint("waist", "revolute", "base", "trunk", "0 0 0.5", "0.1 0 0.3", "0 0 1", LIMIT + '<dynamics damping="0.4"/>'),
    joint("shoulder", "revolute", "trunk", "arm", "0 0.2 0.4", "0 0.4 0", "0.6 0.8 0", LIMIT),
    joint("roll", "continuous", "arm", "dummy", "0 0 0.6", "0 0 0.2", "0 0 1"),
    joint("wrist", "revolute", "dummy", "hand", "0 0 0", "0 0 0", "0 1 0", LIMIT + '<dynamics damping="0.02"/>'),
    joint("flange", "fixed", "hand", "tool", "0.1 0 0", "0.5 0.6 0.7", "1 0 0"),
    joint("lift", "prismatic", "trunk", "slide", "0.3 0 0", "0 0 1", "0 0.6 0.8", LIMIT + '<dynamics damping="3"/>'),
    joint("axle", "continuous", "slide", "wheel", "0 0.1 0.1", "1 1 1", "1 2 2"),
)) + "</robot>"  # fmt: skip


class Robot:
    """The file in Pinocchio, with a state by names of joints."""

    def __init__(self, path, rng):
        self.model = pin.buildModelFromUrdf(str(path))
        self.data = self.model.createData()
        self.q, self.v = pin.neutral(self.model), rng.normal(size=self.model.nv)
        self.names = list(self.model.names)[1:]
        self.positions = {}
        for name in self.names:
            self.positions[name] = value = float(rng.uniform(-1.0, 1.0))
            self.place(name, value)
        damping = {"waist": 0.4, "wrist": 0.02, "lift": 3.0}
        self.damping = np.zeros(self.model.nv)
        for name, value in damping.items():
            self.damping[self.joint(name).idx_v] = value

    def joint(self, name):
        return self.model.joints[self.model.getJointId(name)]

    def place(self, name, value):
        part = self.joint(name)
        self.q[part.idx_q : part.idx_q + part.nq] = (np.cos(value), np.sin(value)) if part.nq == 2 else value

    def accelerations(self, q, v):
        return pin.aba(self.model, self.data, q, v, -self.damping * v)


def load(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return mbd.load_urdf(path, **options)


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "tree.urdf"
    file.write_text(ROBOT)
    return file


COORDINATES = pytest.mark.parametrize("coordinates", ["absolute", "joint"])


def started(path, robot, coordinates="absolute"):
    """The model at the state of the robot."""
    if coordinates == "joint":
        rates = {name: float(robot.v[robot.joint(name).idx_v]) for name in robot.names}
        return load(path, coordinates="joint").with_joint_values(robot.positions, rates)
    model = load(path, positions=robot.positions)
    pin.forwardKinematics(robot.model, robot.data, robot.q, robot.v)
    for name in robot.names:
        k = robot.model.getJointId(name)
        velocity = pin.getVelocity(robot.model, robot.data, k, pin.LOCAL_WORLD_ALIGNED)
        body = model[name].body_b
        body.velocity, body.angular_velocity = velocity.linear, robot.data.oMi[k].rotation.T @ velocity.angular
    return model


def test_accelerations(path, rng, tolerance):
    """Revolute, continuous and prismatic joints, a fixed one, a link without mass, damping."""
    for _ in range(4):
        robot = Robot(path, rng)
        model = started(path, robot)
        system = mbd.assemble(model)
        q, v = system.initial_state()
        rates, _ = system.accelerations(q, v, 0.0)
        a = robot.accelerations(robot.q, robot.v)
        pin.forwardKinematics(robot.model, robot.data, robot.q, robot.v, a)
        for name in robot.names:
            k, body = robot.model.getJointId(name), model[name].body_b
            pose = robot.data.oMi[k]
            assert np.abs(body.position - pose.translation).max() < tolerance.round_off
            assert np.abs(body.rotation - pose.rotation).max() < tolerance.round_off
            expected = pin.getClassicalAcceleration(robot.model, robot.data, k, pin.LOCAL_WORLD_ALIGNED)
            own = rates[system.body_slices(body)[1]]
            assert np.abs(own[:3] - expected.linear).max() < ACCELERATIONS * np.abs(rates).max()
            turning = pose.rotation.T @ expected.angular
            assert np.abs(own[3:] - turning).max() < ACCELERATIONS * np.abs(rates).max()


def test_joint_coordinates(path, rng, tolerance):
    """Accelerations, what motors have to do, gravity and the Jacobian of a hand, in the coordinates of the file."""
    for _ in range(4):
        robot = Robot(path, rng)
        model = started(path, robot, "joint")
        system = mbd.assemble(model)
        start = mbd.consistent_start(system)
        q, v = start.q, start.v
        places = {name: system.body_slices(system.carrier(name).body)[1].start for name in robot.names}
        theirs = np.array([robot.joint(name).idx_v for name in robot.names])
        own = np.array([places[name] for name in robot.names])
        expected = robot.accelerations(robot.q, robot.v)
        found, _ = system.accelerations(q, v, 0.0)
        assert np.abs(found[own] - expected[theirs]).max() < ACCELERATIONS * np.abs(expected).max()
        wanted = rng.normal(size=robot.model.nv)
        vd = np.zeros(system.n_v)
        vd[own] = wanted[theirs]
        needed = pin.rnea(robot.model, robot.data, robot.q, robot.v, wanted) + robot.damping * robot.v
        torques = system.inverse_dynamics(q, v, vd)
        assert np.abs(torques[own] - needed[theirs]).max() < ACCELERATIONS * np.abs(needed).max()
        gravity = pin.computeGeneralizedGravity(robot.model, robot.data, robot.q)
        assert system.gravity_forces(q)[own] == pytest.approx(gravity[theirs], abs=1e-12)
        mass = pin.crba(robot.model, robot.data, robot.q)
        mass = np.triu(mass) + np.triu(mass, 1).T
        assert np.abs(system.mass_matrix(q).toarray()[np.ix_(own, own)] - mass[np.ix_(theirs, theirs)]).max() < 1e-12
        pin.computeJointJacobians(robot.model, robot.data, robot.q)
        frame = robot.model.getJointId("wrist")
        jacobian = pin.getJointJacobian(robot.model, robot.data, frame, pin.LOCAL_WORLD_ALIGNED)
        body = system.carrier("wrist").body
        ours = system.jacobian(body, np.zeros(3), q)[:, own]
        assert ours == pytest.approx(jacobian[:, theirs], abs=1e-12)
        pin.computeJointJacobiansTimeVariation(robot.model, robot.data, robot.q, robot.v)
        rate = pin.getJointJacobianTimeVariation(robot.model, robot.data, frame, pin.LOCAL_WORLD_ALIGNED)
        found = system.jacobian_rate(body, np.zeros(3), q, v)[:, own]
        assert found == pytest.approx(rate[:, theirs], abs=1e-12)


def test_energies_and_inverse_dynamics(path, rng):
    """Kinetic and potential energy; and what the joints need is what moves them."""
    robot = Robot(path, rng)
    solution = mbd.simulate(started(path, robot), 1e-3, 1e-3, integrator=mbd.integrators.RK4())
    kinetic = pin.computeKineticEnergy(robot.model, robot.data, robot.q, robot.v)
    potential = pin.computePotentialEnergy(robot.model, robot.data, robot.q)
    assert solution.energy.kinetic[0] == pytest.approx(kinetic, rel=1e-12)
    assert solution.energy.potential[0] == pytest.approx(potential, rel=1e-12)
    a = robot.accelerations(robot.q, robot.v)
    needed = pin.rnea(robot.model, robot.data, robot.q, robot.v, a)
    assert np.abs(needed + robot.damping * robot.v).max() < 1e-9


@COORDINATES
def test_trajectory(path, rng, coordinates):
    """Half a second, with all limits away, against Pinocchio's equations integrated to the last digits."""
    path.write_text(
        ROBOT.replace('type="revolute"', 'type="continuous"').replace(
            'lower="-1.5" upper="1.2"', 'lower="-99" upper="99"'
        )
    )
    robot = Robot(path, rng)
    model = started(path, robot, coordinates)
    n = robot.model.nv

    def rates(t, x):
        for name in robot.names:
            robot.place(name, x[robot.joint(name).idx_v])
        return np.concatenate((x[n:], robot.accelerations(robot.q, x[n:])))

    start = np.zeros(2 * n)
    for name, value in robot.positions.items():
        start[robot.joint(name).idx_v] = value
    start[n:] = robot.v
    exact = solve_ivp(rates, (0.0, 0.5), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    solution = mbd.simulate(model, 0.5, 1e-2, integrator=mbd.integrators.DOPRI5(rtol=1e-11, atol=1e-11))
    for name in robot.names:
        shown = solution[name].displacement if name == "lift" else solution[name].angle
        assert shown[-1] == pytest.approx(exact[robot.joint(name).idx_v], abs=TRAJECTORY)
    assert np.abs(exact[:n] - start[:n]).max() > 1.0
