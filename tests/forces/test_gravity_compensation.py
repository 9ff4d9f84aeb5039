"""Gravity compensation: arms that stay where they are, motion as without gravity, and joints that are refused."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd import forces, joints
from mbd.integrators import RK4, GeneralizedAlpha
from mbd.rotation import from_rotation_vector
from mbd.solvers.states import placed_model

AT_REST = 1e-13  # m/s after a second
STEPS = 2e-3
ROUND_OFF = 1e-10  # W, beside some 100 W


def arm(rng, chain=(joints.Revolute, joints.Prismatic, joints.Revolute, joints.Cylindrical)):
    """Links with random axes and centres of mass; every other joint is given from the tip to the base."""
    model = mbd.Model("arm", gravity=(0.3, -0.2, -9.81))
    before, at, made = model.ground, np.zeros(3), []
    for k, cls in enumerate(chain):
        node = mbd.nodes.RotationVector(at + rng.normal(size=3), from_rotation_vector(rng.normal(size=3)))
        body = model.add(mbd.RigidBody(f"link {k}", 1.0 + k, (0.1, 0.12, 0.15), node, com=0.3 * rng.normal(size=3)))
        ends = (before, body) if k % 2 == 0 else (body, before)
        made.append(model.add(cls(*ends, at=at, axis=rng.normal(size=3), name=f"joint {k}")))
        before, at = body, at + 0.5 * rng.normal(size=3)
    return model, made


def in_motion(model, rng):
    """The same model with random velocities that its joints allow."""
    system = mbd.assemble(model)
    q = system.initial_state()[0]
    start = mbd.consistent_start(system, q, rng.normal(size=system.n_v))
    return placed_model(system, start.q, start.v)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_an_arm_stays_where_it_is(rng, coordinates):
    model, made = arm(rng)
    model.add(mbd.PointMass("load", 2.0, model["link 3"].position))
    model.add(joints.Spherical(model["link 3"], model["load"], at=model["load"].position))
    model.add(forces.GravityCompensation(made))
    for _ in range(3):
        turned = {joint.name: rng.normal(size=2 if joint.coordinate == "both" else 1) for joint in made}
        placed = model.with_joint_values(turned).with_coordinates(coordinates)
        for method in (RK4(), GeneralizedAlpha()):
            solution = mbd.simulate(placed, 1.0, 0.05, method)
            assert max(np.abs(solution[body].velocity).max() for body in model.bodies) < AT_REST


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_all_joints_compensated_move_as_without_gravity(rng, coordinates):
    """The kinetic energy stays, and the motion is that of the same arm without gravity."""
    model, made = arm(rng)
    model = in_motion(model, rng)
    free = model.copy()
    free.gravity = (0, 0, 0)
    held = model.add(forces.GravityCompensation([model[joint.name] for joint in made]))
    solution, reference = (mbd.simulate(x.with_coordinates(coordinates), 0.5, STEPS, RK4()) for x in (model, free))
    assert np.ptp(solution.energy.kinetic) < 1e-9 * solution.energy.kinetic[0]
    assert solution.frames(-1) == pytest.approx(reference.frames(-1), abs=1e-9)
    weight = np.gradient(solution.energy.potential, solution.t, edge_order=2)
    assert solution[held].power == pytest.approx(weight, abs=2e-3 * np.abs(weight).max())


def test_one_joint_carries_all_that_is_beyond_it(rng):
    """tau = -axis . sum (c - p) x m g of the bodies beyond it, also of those that are added later."""
    model, made = arm(rng, (joints.Revolute, joints.Revolute))
    held = model.add(forces.GravityCompensation(made[0]))
    late = model.add(mbd.RigidBody("late", 3.0, (1, 1, 1), mbd.nodes.Quaternion((1.0, 2.0, 3.0))))
    model.add(joints.Revolute(model["link 1"], late, at=(1, 2, 3), axis=(1, 0, 0)))
    apart = model.add(mbd.RigidBody("apart", 9.0, (1, 1, 1), mbd.nodes.Quaternion((5.0, 0.0, 0.0))))
    model.add(joints.Revolute(model.ground, apart, at=(4, 0, 0), axis=(0, 1, 0)))
    assert {body.name for body in held.carried(made[0])} == {"link 0", "link 1", "late"}
    system = mbd.assemble(model)
    q, v = system.initial_state()
    bare = model.copy()
    bare.remove(held.name)
    given = system.forces(q, v) - mbd.assemble(bare).forces(q, v)
    axis = made[0].axis_a
    torque = np.zeros(3)
    for body in held.carried(made[0]):
        arm_of = body.position + body.rotation @ body.com
        torque -= np.cross(arm_of, body.mass * np.asarray(model.gravity))
    link = model["link 0"]
    expected = link.rotation.T @ (axis * float(axis @ torque))
    assert given[system.body_slices(link)[1]] == pytest.approx([0, 0, 0, *expected], abs=1e-12)
    assert np.abs(given[system.body_slices("late")[1]]).max() == 0.0


def power_on_bodies(solution, element):
    """Forces and torques on all bodies times their velocities."""
    total = np.zeros(len(solution))
    for body in element.bodies:
        if body.name != "ground":
            view, force, torque = (
                solution[body],
                solution[element].force_on(body),
                solution[element].torque_on(body.name),
            )
            spin = np.einsum("nij,nj->ni", view.rotation, view.angular_velocity)
            total += np.sum(force * view.velocity + torque * spin, axis=1)
    return total


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_what_acts_on_bodies_does_the_work_of_the_element(rng, coordinates):
    """Of several joints no body shows the force; of one joint its second body does, wherever its tree ends."""
    model, made = arm(rng)
    model = in_motion(model, rng)
    made = [model[joint.name] for joint in made]
    all_joints = model.add(forces.GravityCompensation(made, name="all"))
    one = model.add(forces.GravityCompensation(made[1], name="one"))
    spring = model.add(forces.Spring(model["link 0"], model["link 3"], (0.1, 0.2, 0.3), (0, 1, 0), stiffness=30.0))

    def pull(t, frames, velocities):
        return -2.0 * velocities[::-1] * t

    pair = model.add(forces.UserForce([model["link 1"], model["link 2"]], pull, name="pair"))
    solution = mbd.simulate(model.with_coordinates(coordinates), 0.2, STEPS, RK4())
    for element in (all_joints, one, spring, pair):
        power = solution[element.name].power
        assert np.abs(power).max() > 1e-2
        assert power_on_bodies(solution, solution.model[element.name]) == pytest.approx(power, abs=ROUND_OFF)
    for element, body in ((one, made[1].body_b), (spring, model["link 3"]), (pair, model["link 2"])):
        view = solution[element.name]
        assert np.array_equal(view.force, view.force_on(body.name))
        assert np.array_equal(view.torque, view.torque_on(body.name))
        assert f"on '{body.name}'" in solution.channels[f"{element.name}.torque"].text
    assert np.abs(solution["one"].torque).max() > 1.0  # nothing acts on the link at the tip
    assert not hasattr(solution["all"], "force") and "all.power" in solution.channels
    assert "all.force" not in solution.channels and "all.torque" not in solution.channels
    with pytest.raises(mbd.ModelError, match=r"'all' acts on several joints.*force_on\(body\)"):
        _ = solution["all"].torque
    with pytest.raises(mbd.ModelError, match="'all' does not act on 'tip'; expected one of 'ground', 'link 0'"):
        solution["all"].force_on("tip")


def test_loops_are_refused_by_name_and_couplings_are_none(rng):
    model = mbd.Model("four bar", gravity=(0, 0, -9.81))
    names = ("crank", "coupler", "rocker")
    places = ((0, 0, 0.5), (0.5, 0, 1.0), (1, 0, 0.5))
    links = [
        model.add(mbd.RigidBody(name, 1.0, (1, 1, 1), mbd.nodes.Quaternion(place)))
        for name, place in zip(names, places, strict=True)
    ]
    chain = [model.ground, *links, model.ground]
    corners = ((0, 0, 0), (0, 0, 1), (1, 0, 1), (1, 0, 0))
    made = [
        model.add(joints.Revolute(a, b, at=at, axis=(0, 1, 0), name=f"corner {k}"))
        for k, (a, b, at) in enumerate(zip(chain[:-1], chain[1:], corners, strict=True))
    ]
    for joint in made:
        with pytest.raises(mbd.ModelError, match=f"{joint.name}.* lies in a closed loop"):
            model.add(forces.GravityCompensation(joint))
    model.remove("corner 3")
    held = model.add(forces.GravityCompensation(made[:2]))
    model.add(joints.Gear(made[0], made[1], -1.0))
    model.add(joints.AngleDriver.on(made[0], 0.0))
    assert [body.name for body in held.carried(made[0])] == list(names)
    model.add(joints.Distance(links[2], model.ground, (0, 0, 0), (2, 0, 0)))
    with pytest.raises(mbd.ModelError, match="lies in a closed loop"):
        mbd.assemble(model)
    for wrong, message in (
        ([], "at least one joint"), ([made[0], made[0]], "named twice"),
        ("corner 0", "joint is .corner 0.; expected the joint itself"),
    ):  # fmt: skip
        with pytest.raises(mbd.ModelError, match=message):
            forces.GravityCompensation(wrong)
