"""The systems of Table 1 of Holzinger et al. and the Stewart platform: reference values, laws, other coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbd
from mbd import benchmarks
from tests.benchmarks import stewart_by_hand

NODES = mbd.nodes
PRINTED = 6e-10  # the reference values have nine digits
LAWS = 5e-9
MIXED = 1e-6  # twice the step, and fast wheels in conventional coordinates
NEW = ("free-body", "follower-torque", "double-pendulum", "reaction-wheels", "quadrotors", "manipulator",
       "floating-bodies", "three-bar", "dual-spin", "three-bodies", "stewart")  # fmt: skip
MIXTURE = (
    NODES.Directors(), NODES.Quaternion(lie=True), NODES.RotationVector(lie=False), NODES.EulerAngles(lie=True),
    NODES.Quaternion(),
)  # fmt: skip


def test_the_table_is_complete():
    assert list(benchmarks.TABLE_1) == list(range(1, 16)) and set(benchmarks.TABLE_1.values()) <= set(benchmarks.ALL)
    assert len(set(benchmarks.TABLE_1.values())) == 15


@pytest.mark.parametrize("name", NEW)
def test_reference_and_laws(name):
    """In rotation vectors, and with other coordinates for every body."""
    benchmark = benchmarks.ALL[name]()
    solution = benchmark.simulate()
    assert benchmark.error(solution) < PRINTED
    found = benchmark.check(solution)
    assert found and max(found.values()) < LAWS, found

    rigid = [body.name for body in benchmark.model.bodies if isinstance(body, mbd.RigidBody)]
    other = benchmark.with_nodes({body: MIXTURE[k % len(MIXTURE)] for k, body in enumerate(rigid)})
    solution = other.simulate(step=2.0 * benchmark.step)
    assert other.error(solution) < MIXED
    assert max(other.check(solution).values()) < MIXED


def test_free_body_by_elliptic_functions():
    benchmark = benchmarks.free_body()
    assert benchmark.error(benchmark.simulate(integrator=mbd.integrators.JacobiExact(), step=0.1)) < PRINTED


def test_torque_about_a_principal_axis_is_exact():
    model = benchmarks.follower_torque().model
    model["body"].angular_velocity = (0, 0, 0)
    for axis, moment in zip(np.eye(3), (1.0, 2.0, 2.5), strict=True):
        model["torque"].value = 0.7 * axis
        solution = mbd.simulate(model, 1.0, 0.05, mbd.integrators.RK6())
        exact = np.outer(0.7 * solution.t / moment, axis)
        np.testing.assert_allclose(solution["body"].angular_velocity, exact, atol=1e-14)


def test_the_pinned_top_is_the_same_top():
    with_joint, pinned = benchmarks.heavy_top(), benchmarks.heavy_top(pinned=True)
    runs = [b.simulate(integrator=mbd.integrators.RK6(), step=2.5e-4) for b in (with_joint, pinned)]
    np.testing.assert_allclose(runs[0]["top"].com, runs[1]["top"].com, atol=1e-9)
    assert pinned.error(runs[1]) < 1e-9
    for benchmark, run in zip((with_joint, pinned), runs, strict=True):
        assert max(benchmark.check(run).values()) < 1e-9


def test_reactions():
    """Forces that joints and cables carry at the end, as computed by DOPRI5."""
    pendulum, drones, arm = benchmarks.double_pendulum(), benchmarks.quadrotors(), benchmarks.manipulator()
    end = pendulum.simulate()
    expected = {
        "pivot": (-6.843127985, -19.922700341, 15.886626230),
        "joint 1": (-17.123820860, -1.098857566, 15.884034567),
    }
    for joint, force in expected.items():
        np.testing.assert_allclose(end[joint].force[-1], force, atol=1e-8)
    end = drones.simulate()
    expected = {"cable 1": (1.067764335, -1.532226043, 2.585978543), "cable 2": (0.040846338, 1.254875079, 2.760519619)}
    for cable, force in expected.items():
        np.testing.assert_allclose(end[cable].force[-1], force, atol=1e-8)
    assert arm.simulate().energy.kinetic[-1] == pytest.approx(3.525478299, abs=PRINTED)


def test_laws_notice_what_is_wrong():
    """Another torque than the law speaks of, and another step than the motion needs."""
    benchmark = benchmarks.follower_torque()
    other = replace(benchmark, model=benchmark.model.copy())
    other.model["torque"].value = (1.0, 0.5, -0.31)
    assert other.check(other.simulate())["work of the torque"] > 1e-4
    pendulum = benchmarks.double_pendulum()
    coarse = pendulum.simulate(step=0.05, integrator=mbd.integrators.GeneralizedAlpha())
    energy = np.abs(coarse.energy.total - 2.91875).max() / 2.91875
    assert pendulum.check(coarse)["energy"] == pytest.approx(energy, rel=1e-12) and energy > 1e-3
    assert not benchmarks.bricard().check(coarse)  # no laws are known


# --- Puma 560 -------------------------------------------------------------------------------------------------------

CARDAN = {f"link {i}": NODES.EulerAngles(sequence="zyx" if i < 3 else "xyz") for i in range(1, 7)}
LINKS = {f"link {i + 1}": node for i, node in enumerate((*MIXTURE, NODES.RotationVector()))}


def test_thirteen_digits_of_the_puma():
    for start, step, digits in (("printed", 1.25e-4, 2e-13), ("zero", 2.5e-4, 1e-11)):
        benchmark = benchmarks.puma(start)
        solution = benchmark.simulate(step=step)
        assert benchmark.error(solution) < digits
        assert benchmark.check(solution)["position of the tool"] < 1e-13
    with pytest.raises(mbd.ModelError, match='puma: start = .goal.; expected "printed" or "zero"'):
        benchmarks.puma("goal")


COORDINATES = {
    "rotation vector": NODES.RotationVector(lie=False), "quaternion": NODES.Quaternion(),
    "quaternion, Lie": NODES.Quaternion(lie=True), "directors": NODES.Directors(),
    "Cardan, Lie": NODES.EulerAngles(lie=True), "Cardan": CARDAN, "mixture": LINKS,
}  # fmt: skip


@pytest.mark.parametrize("name", COORDINATES)
def test_puma_in_other_coordinates(name):
    benchmark = benchmarks.puma().with_nodes(COORDINATES[name])
    assert benchmark.error(benchmark.simulate(step=1e-3)) < 2e-7


def test_cardan_angles_of_the_puma_lock():
    """Conventional Cardan angles on all links: the second one of link 1 comes to a right angle."""
    benchmark = benchmarks.puma().with_nodes(NODES.EulerAngles(sequence="xyz"))
    with pytest.raises(mbd.SingularityError, match="Euler angles of body 'link 1' came too close to gimbal lock") as e:
        benchmark.simulate(step=1e-3)
    assert e.value.solution.t[-1] == pytest.approx(0.645, abs=2e-3)


def test_published_statics_and_inertia_of_the_puma():
    """Gravity torques and the diagonal of the mass matrix in the nominal pose, as Corke's toolbox gives them."""
    from mbd.benchmarks.puma import NAMES, model

    def torques(accelerated, gravity):
        robot = model((0, np.pi / 4, np.pi, 0, np.pi / 4, 0), controlled=False)
        robot.gravity = (0, 0, gravity)
        for i, name in enumerate(NAMES):
            joint = robot[name]
            motion = {"value": lambda t: 0.5 * t * t, "rate": lambda t: t, "acceleration": lambda t: 1.0}
            axes = {"axis_a": joint.axis_a, "axis_b": joint.axis_b, "name": f"driver {i + 1}"}
            how = motion if i == accelerated else {}
            robot.add(mbd.joints.AngleDriver(joint.body_a, joint.body_b, **axes, **how))
        solution = mbd.inverse_dynamics(robot, 1e-3, 1e-3)
        axes = [solution[robot[name].body_a].rotation[0] @ robot[name].axis_a for name in NAMES]
        return np.array([solution[f"driver {i + 1}"].torque[0] @ axis for i, axis in enumerate(axes)])

    np.testing.assert_allclose(torques(None, -9.81), (0, 31.6398804, 6.03513802, 0, 0.0282528, 0), atol=1e-7)
    published = (2.87534544, 2.08892709, 0.360968243, 1.74108e-3, 6.4216e-4, 4e-5)
    for i, moment in enumerate(published):
        assert torques(i, 0.0)[i] == pytest.approx(moment, rel=1e-8)


# --- Stewart platform -----------------------------------------------------------------------------------------------


def test_stewart_platform_by_hand():
    """Accelerations of the plate along the motion, and the motion itself, from equations that share nothing with it."""
    benchmark = benchmarks.stewart_platform()
    solution = benchmark.simulate()
    plate = solution["plate"]
    for k in range(0, len(solution), 200):
        turn = plate.rotation[k]
        w = np.concatenate([plate.velocity[k], turn @ plate.angular_velocity[k]])
        by_hand = stewart_by_hand.acceleration(solution.t[k], plate.position[k], turn, w)
        found = np.concatenate([plate.acceleration[k], turn @ plate.angular_acceleration[k]])
        np.testing.assert_allclose(found, by_hand, atol=1e-9 * np.abs(by_hand).max())
    by_hand = stewart_by_hand.motion((0.1,), 1e-7)[0]
    np.testing.assert_allclose(list(benchmark.reference[0.1].values()), by_hand, atol=1e-9)
