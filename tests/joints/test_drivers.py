"""Driven joints: exact kinematics, driving torques, and the energy that drivers put in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import mbd
from mbd.compiled.functions.callbacks import make_callback
from mbd.compiled.settings import JIT, PUBLIC
from mbd.elements.prescribed_motion import MOTION, make_motion
from mbd.testing import observed_order

MASS, OFFSET, INERTIA, GRAVITY = 2.0, 0.4, 0.3, 9.81
NODES = [
    mbd.nodes.RotationVector(),
    mbd.nodes.RotationVector(lie=False),
    mbd.nodes.Quaternion(),
    mbd.nodes.Directors(),
    mbd.nodes.EulerAngles(lie=True),
]
EXACT = 1e-10


def turning(t):
    return 4.0 * t + 0.8 * math.sin(3.0 * t)


def turning_rate(t):
    return 4.0 + 2.4 * np.cos(3.0 * t)


def turning_acceleration(t):
    return -7.2 * np.sin(3.0 * t)


def driven_arm(**arguments):
    """A body with an offset centre of mass on a driven horizontal hinge: no freedom is left."""
    model = mbd.Model("arm", gravity=(0, 0, -GRAVITY))
    node = mbd.nodes.RotationVector(angular_velocity=(0, 6.4, 0))
    arm = model.add(mbd.RigidBody("arm", mass=MASS, inertia=(INERTIA,) * 3, com=(OFFSET, 0, 0), node=node))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.joints.AngleDriver(model.ground, arm, axis=(0, 1, 0), value=turning, name="motor", **arguments))
    return model


def exact_torque(t):
    """About y, on the arm; gravity turns a positive angle further down."""
    inertia = INERTIA + MASS * OFFSET**2
    angle = 4.0 * t + 0.8 * np.sin(3.0 * t)
    return inertia * turning_acceleration(t) - MASS * GRAVITY * OFFSET * np.cos(angle)


@pytest.mark.parametrize("node", NODES, ids=str)
def test_driven_kinematics_are_exact_through_many_turns(node):
    solution = mbd.simulate(driven_arm().with_nodes(node), 4.0, 0.01, mbd.integrators.RK4())
    t = solution.t
    assert turning(4.0) > 2 * 2 * np.pi
    assert solution["motor"].angle == pytest.approx(np.vectorize(turning)(t), abs=EXACT)
    assert solution["hinge"].angle_rate == pytest.approx(turning_rate(t), abs=EXACT)
    assert solution["motor"].torque[:, 1] == pytest.approx(exact_torque(t), abs=1e-8)
    assert solution.constraint_error.velocity.max() < EXACT


@pytest.mark.parametrize("stabilized", [False, True])
def test_driver_torque_and_energy_balance_are_second_order(stabilized, tolerance):
    torque, balance, rate = [], [], []
    steps = 4.0 / np.array((200, 400, 800, 1600))
    for h in steps:
        method = mbd.integrators.GeneralizedAlpha(stabilized=stabilized)
        solution = mbd.simulate(driven_arm(), 4.0, h, method)
        t, e = solution.t, solution.energy.total
        torque.append(np.abs(solution["motor"].torque[:, 1] - exact_torque(t))[1:].max())
        balance.append(np.abs(e - e[0] - cumulative_simpson(solution.power, x=t, initial=0.0)).max())
        rate.append(np.abs(solution["hinge"].angle_rate - turning_rate(t)).max())
    assert observed_order(balance, steps) == pytest.approx(2.0, abs=2 * tolerance.order)
    assert observed_order(torque[1:], steps[1:]) > 1.9
    if stabilized:
        assert max(rate) < EXACT
    else:
        assert observed_order(rate, steps) == pytest.approx(2.0, abs=tolerance.order)


DUAL = JIT and not PUBLIC  # first derivatives are exact
DIFFERENCES = 1e-10 if DUAL else 2e-8  # otherwise round-off of values of 12 in second differences over 1 ms


def with_derivatives(motion):
    """A function of time that returns (c, c_dot, c_ddot), as a simulation evaluates them."""
    callback = make_callback(motion.function, MOTION, "a motion", motion.rate, motion.acceleration)
    return lambda t: tuple(callback.evaluate(np.array([float(t)])).tolist())


def test_given_derivatives_are_used():
    motions = {
        "computed": make_motion(turning, None, None, "driver"),
        "rate": make_motion(turning, turning_rate, None, "driver"),
        "all": make_motion(turning, turning_rate, turning_acceleration, "driver"),
    }
    for motion in motions.values():
        for t in (0.0, 0.7, 3.0):
            expected = turning(t), turning_rate(t), turning_acceleration(t)
            assert with_derivatives(motion)(t) == pytest.approx(expected, abs=DIFFERENCES)


def test_functions_with_branches_are_differentiated():
    motion = make_motion(lambda t: t * t if t < 1.0 else 2.0 * t - 1.0, None, None, "driver")
    assert with_derivatives(motion)(0.4) == pytest.approx((0.16, 0.8, 2.0), abs=1e-8)
    assert with_derivatives(motion)(2.0) == pytest.approx((3.0, 2.0, 0.0), abs=1e-8)


@pytest.mark.parametrize("given", [0, 1, 2])
def test_motions_see_captured_values(given):
    """Numbers and arrays that the function and its derivatives refer to, several times at several instants."""
    size, paces = 0.3, np.array([2.0, 5.0])
    functions = (
        lambda t: size * (np.sin(paces[0] * t) + np.cos(paces[1] * t)),
        lambda t: size * (paces[0] * np.cos(paces[0] * t) - paces[1] * np.sin(paces[1] * t)),
        lambda t: -size * (paces[0] ** 2 * np.sin(paces[0] * t) + paces[1] ** 2 * np.cos(paces[1] * t)),
    )
    known = [*functions[: 1 + given], None, None][:3]
    motion = with_derivatives(make_motion(*known, "driver"))
    for t in (0.0, 0.4, 7.0):
        assert motion(t) == pytest.approx([function(t) for function in functions], abs=1e-8)


def test_position_driver_lifts_a_mass():
    model = mbd.Model("lift", gravity=(0, 0, -GRAVITY))
    mass = model.add(mbd.PointMass("mass", 2.0, (0, 0, 0), (0, 0, 0)))
    driver = mbd.joints.PositionDriver(model.ground, mass, axis=(0, 0, 1), value=lambda t: 0.1 * (1 - np.cos(5 * t)))
    model.add(driver)
    solution = mbd.simulate(model, 1.0, 0.01, mbd.integrators.RK4())
    t = solution.t
    assert solution[driver].displacement == pytest.approx(0.1 * (1 - np.cos(5 * t)), abs=1e-12)
    assert solution[driver].force[:, 2] == pytest.approx(2.0 * (GRAVITY + 2.5 * np.cos(5 * t)), abs=1e-9)
    work = cumulative_simpson(solution.power, x=t, initial=0.0)
    assert solution.energy.total - solution.energy.total[0] == pytest.approx(work, abs=1e-5)


def test_driven_frame_carries_another_body():
    """A pendulum on a table that moves and turns: the pivot follows the table exactly."""
    model = mbd.Model("table", gravity=(0, 0, -GRAVITY))
    table = model.add(mbd.RigidBody("table", mass=1.0, inertia=(1, 1, 1), node=mbd.nodes.Quaternion()))
    ball = model.add(mbd.PointMass("ball", 1.0, (1, 0, -1), (0, 1, 0)))
    frame = mbd.joints.DrivenFrame(
        model.ground, table, at=(0, 0, 0), axis=(0, 0, 1), angle=lambda t: t,
        displacement=lambda t: (0.1 * np.sin(t), 0.0 * t, 0.2 * t * t),
    )  # fmt: skip
    model.add(frame)
    model.add(mbd.joints.Distance(table, ball, point_a=(1, 0, 0), name="rod"))
    solution = mbd.simulate(model, 2.0, 0.01, mbd.integrators.RK4())
    t = solution.t
    expected = np.stack((0.1 * np.sin(t) + np.cos(t), np.sin(t), 0.2 * t * t), axis=1)
    assert solution["table"].point((1, 0, 0)) == pytest.approx(expected, abs=EXACT)
    rod = np.linalg.norm(solution["ball"].position - expected, axis=1)
    assert rod == pytest.approx(np.ones_like(t), abs=1e-9)
    work = cumulative_simpson(solution.power, x=t, initial=0.0)
    assert solution.energy.total - solution.energy.total[0] == pytest.approx(work, abs=1e-5)


def test_wrong_branch_of_an_angle_driver_is_refused():
    model = mbd.Model("turned")
    arm = model.add(mbd.RigidBody("arm", mass=1.0, inertia=(1, 1, 1)))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(mbd.joints.AngleDriver(model.ground, arm, axis=(0, 0, 1), value=lambda t: 3.0 + t))
    with pytest.raises(mbd.AssemblyError, match="180 degrees"):
        mbd.simulate(model, 0.1, 0.01)


def test_bad_drivers_are_refused():
    model = mbd.Model("bad")
    arm = model.add(mbd.RigidBody("arm", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(mbd.ModelError, match="function of time that returns a number"):
        mbd.joints.AngleDriver(model.ground, arm, axis=(0, 0, 1), value=lambda t: 1 / t)
    with pytest.raises(mbd.ModelError, match="rate= and acceleration= belong to a function"):
        mbd.joints.AngleDriver(model.ground, arm, axis=(0, 0, 1), value=1.0, rate=lambda t: 0.0)
    with pytest.raises(mbd.ModelError, match="three numbers"):
        mbd.joints.DrivenFrame(model.ground, arm, displacement=(1.0, 2.0))


def test_a_saved_run_with_drivers_can_be_read(tmp_path):
    solution = mbd.simulate(driven_arm(), 0.5, 0.01)
    solution.save(tmp_path / "arm.npz")
    again = mbd.load(tmp_path / "arm.npz")
    assert again["motor"].torque == pytest.approx(solution["motor"].torque)
    assert again.power == pytest.approx(solution.power)


@pytest.mark.parametrize("t", (-3e9, 0.0, 2e12))
def test_derivatives_of_slow_motions_at_large_times(t):
    """Steps of a tenth of a millisecond are lost beside such times; captured numbers belong to the function."""
    pace = 1e-9
    motion = with_derivatives(make_motion(lambda t: math.sin(pace * t), None, None, "drive"))
    value, first, second = motion(t)
    assert (value, first) == pytest.approx((math.sin(pace * t), pace * math.cos(pace * t)), rel=1e-9, abs=1e-15)
    assert second == pytest.approx(-(pace**2) * math.sin(pace * t), abs=1e-4 * pace**2)


class Vibration:
    """A sine that compiled code cannot look into."""

    def __init__(self, pace: float) -> None:
        self.pace = pace

    def __call__(self, t: float) -> float:
        return float(str(math.sin(self.pace * t)))


@pytest.mark.parametrize("frequency", [50.0, 100.0, 1e3, 1e4, 2e4, 1e5, 1e6])
@pytest.mark.parametrize("opaque", [False, True], ids=["compiled", "plain"])
@pytest.mark.filterwarnings("ignore:.*is called as plain Python")
def test_steps_of_differences_may_be_whole_periods(frequency, opaque):
    """A shaker of 20 kHz has two periods in a tenth of a millisecond: all samples were equal, and it stood still."""
    pace = 2.0 * math.pi * frequency
    motion = with_derivatives(make_motion(Vibration(pace) if opaque else lambda t: math.sin(pace * t), None, None, "m"))
    for t in np.linspace(0.0, 2.0, 41) / frequency:
        _, first, second = motion(t)
        assert first / pace == pytest.approx(math.cos(pace * t), abs=1e-7)
        assert second / pace**2 == pytest.approx(-math.sin(pace * t), abs=1e-6)


@pytest.mark.parametrize("frequency", [0.1, 50.0, 1e3, 1e4, 1e6])
@pytest.mark.parametrize("opaque", [False, True], ids=["compiled", "plain"])
@pytest.mark.filterwarnings("ignore:.*is called as plain Python")
def test_constraints_of_users_may_depend_on_fast_times(frequency, opaque):
    """A constraint shakes a table: of 50 Hz and more accelerations were wrong, of plain 10 kHz velocities were zero."""
    pace = 2.0 * math.pi * frequency
    shake, amplitude = Vibration(pace), 1e-3
    law = (
        (lambda z, t: [z[0, 2] - amplitude * shake(t)])
        if opaque
        else (lambda z, t: [z[0, 2] - amplitude * np.sin(pace * t)])
    )
    model = mbd.Model("shaker")
    table = model.add(mbd.PointMass("table", 2.0))
    model.add(mbd.joints.UserConstraint([table], law, name="shaker"))
    solution = mbd.simulate(model, 2.0 / frequency, 0.02 / frequency, mbd.integrators.RK4())
    wanted, near = -amplitude * pace**2 * np.sin(pace * solution.t), (1e-6 if opaque else 1e-9) * pace**2
    assert solution["table"].velocity[:, 2] == pytest.approx(
        amplitude * pace * np.cos(pace * solution.t), abs=near / pace
    )
    assert solution["table"].acceleration[:, 2] == pytest.approx(wanted, abs=near)
    assert np.abs(solution["shaker"].multipliers[:, 0]) == pytest.approx(2.0 * np.abs(wanted), abs=2.0 * near)


@pytest.mark.filterwarnings("ignore:.*is called as plain Python")
def test_plain_constraints_know_how_the_motion_curves():
    """A bead on a hoop that grows in time, as a constraint that cannot be compiled and as one that can."""
    found = []
    for read in (lambda x: x, lambda x: float(str(x))):
        model = mbd.Model("hoop", gravity=(0, 0, -9.81))
        bead = model.add(mbd.PointMass("bead", 1.0, position=(1.0, 0, 0), velocity=(0.2, 0, 30.0)))
        model.add(
            mbd.joints.UserConstraint(
                [bead], lambda z, t, read=read: z[0, 0] ** 2 + z[0, 2] ** 2 - read(1.0 + 0.2 * t) ** 2
            )
        )
        found.append(mbd.simulate(model, 0.1, 1e-3, mbd.integrators.RK4())["bead"])
    assert found[1].velocity == pytest.approx(found[0].velocity, abs=1e-9)
    assert found[1].acceleration == pytest.approx(found[0].acceleration, abs=1e-5)
