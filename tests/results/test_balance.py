"""Runs whose numbers contradict each other do not end without a word."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd import integrators as methods
from mbd.results.balance import _totals, energy_balance, warn_of_gross_errors
from mbd.rotation import from_rotation_vector
from mbd.system import observe


def oscillator(stiffness: float, damping: float = 0.0, load=None) -> mbd.Model:
    model = mbd.Model("oscillator", gravity=(0.0, 0.0, -9.81))
    body = model.add(mbd.PointMass("mass", 1.0, (0.0, 0.0, -1.1)))
    model.add(mbd.forces.Spring(model.ground, body, stiffness=stiffness, length=1.0, damping=damping))
    if load is not None:
        model.add(mbd.forces.Force(body, load))
    return model


@pytest.mark.parametrize(
    "method", [methods.Rattle(), methods.GGLEuler(), methods.GGLTrapezoidal(), methods.RK4()], ids=lambda m: m.name
)
def test_an_unstable_run_is_no_success(method):
    with pytest.warns(mbd.AccuracyWarning, match=f"{method.name} with a step of 0.01 gained energy.*smaller step"):
        solution = mbd.simulate(oscillator(1e6), 0.1, 0.01, method)
    balance = energy_balance(solution)
    assert balance is not None and balance.relative > 0.1
    assert str(balance) in solution.summary()


def test_energy_that_numerical_damping_takes_is_named():
    with pytest.warns(mbd.AccuracyWarning, match=r"GeneralizedAlpha with a step of 0.01 lost energy.*rho_inf"):
        mbd.simulate(oscillator(1e6), 0.1, 0.01, methods.GeneralizedAlpha(rho_inf=0.5))


def quiet(model: mbd.Model, t_end: float, step: float, method, **options) -> mbd.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return mbd.simulate(model, t_end, step, method, **options)


@pytest.mark.parametrize("method", [methods.GeneralizedAlpha(), methods.LieEM(), methods.RK4()], ids=lambda m: m.name)
def test_work_of_dampers_and_loads_belongs_to_the_balance(method):
    """More energy comes and goes than there was at the start."""
    model = oscillator(400.0, damping=4.0, load=lambda t: (0.0, 30.0 * np.sin(15.0 * t), 20.0 * t))
    solution = quiet(model, 2.0, 0.01, method)
    balance = energy_balance(solution)
    assert balance is not None and abs(balance.relative) < 0.02
    assert abs(balance.work) > 0.1 * balance.scale


def test_loads_between_records_are_not_held_against_a_run():
    push = oscillator(400.0, load=lambda t: (0.0, 0.0, 200.0 if 0.2 < t < 0.25 else 0.0))
    solution = quiet(push, 1.0, 0.005, methods.GeneralizedAlpha(), output_step=0.5)
    assert energy_balance(solution) is None
    assert "energy balance" not in solution.summary()


@pytest.mark.parametrize("load", [None, (0.0, 0.0, 100.0)], ids=["damper", "load"])
def test_dampers_and_constant_loads_between_records_are_not_held_against_a_run(load):
    """The energy is gone before the second record: at both of them nothing moves, and no power is seen."""
    solution = quiet(oscillator(400.0, 40.0, load), 2.0, 0.01, methods.GeneralizedAlpha(), output_step=0.5)
    balance = energy_balance(solution)
    assert balance is None if load else balance.work == balance.change < -0.1


def test_times_between_records_are_no_steps():
    """Nor are records of which nobody knows how many steps were between them."""
    solution = quiet(oscillator(400.0, 4.0), 4.0, 0.01, methods.GeneralizedAlpha())
    system, n = solution.system, slice(None, None, 50)
    bare = mbd.Solution(system, *(np.ascontiguousarray(x[n]) for x in (solution.t, solution.q, solution.v)), None, None)
    for other in (solution.at(np.linspace(0.0, 4.0, 9)), bare):
        balance = energy_balance(other)
        assert balance is not None and balance.work == balance.change < -0.1
    loaded = quiet(oscillator(400.0, 4.0, (0.0, 0.0, 100.0)), 4.0, 0.01, methods.GeneralizedAlpha())
    assert energy_balance(loaded.at(np.linspace(0.0, 4.0, 9))) is None


def test_dampers_between_records_do_not_excuse_energy_that_is_gained():
    with pytest.warns(mbd.AccuracyWarning, match=r"RK4 with a step of 0.01 gained energy"):
        mbd.simulate(oscillator(1.1e5, 1.0), 1.0, 0.01, methods.RK4(), output_step=0.1)


def test_rest_is_no_violation():
    model = oscillator(400.0)
    quiet(mbd.equilibrium(model).model, 0.1, 0.01, methods.GeneralizedAlpha())


def spinning(speed: float, axis, node) -> mbd.Model:
    model = mbd.Model("top", gravity=(0.0, 0.0, 0.0))
    spin = speed * np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    model.add(mbd.RigidBody("body", 1.0, (0.1, 0.2, 0.25), node(angular_velocity=spin)))
    return model


def test_a_body_that_turns_too_far_in_a_step_is_named():
    with pytest.warns(mbd.AccuracyWarning, match=r"body 'body' turns by .* rad in a step of 0.01.*LieEM"):
        mbd.simulate(spinning(250.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.LieEM())
    quiet(spinning(250.0, (0.0, 0.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.GeneralizedAlpha())
    quiet(spinning(100.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.LieEM())
    quiet(spinning(250.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector), 0.1, 0.01, methods.JacobiExact())


@pytest.mark.parametrize(
    ("inertia", "method", "far"),
    [
        ((6.0, 6.5, 3.0), methods.RotationSplitting(), True),
        ((6.0, 6.5, 3.0), methods.Strang(methods.SymmetricSplitting()), True),
        ((6.0, 6.0, 3.0), methods.SymmetricSplitting(), False),
        ((6.0, 6.5, 3.0), methods.JacobiExact(), False),
    ],
    ids=["rotations", "symmetric", "exact for symmetric bodies", "exact"],
)
def test_splittings_of_rotations_are_no_better(inertia, method, far):
    """Angular velocities are wrong by their own size in the first two, energies by a few percent."""
    model = mbd.Model("body", gravity=(0.0, 0.0, 0.0))
    model.add(mbd.RigidBody("body", 1.0, inertia, mbd.nodes.RotationVector(angular_velocity=(200.0, 60.0, 40.0))))
    if not far:
        quiet(model, 1.0, 0.01, method)
        return
    with pytest.warns(mbd.AccuracyWarning, match=r"body 'body' turns by 2.* rad in a step of 0.01"):
        solution = mbd.simulate(model, 1.0, 0.01, method)
    right = mbd.simulate(model, 1.0, 0.01, methods.JacobiExact())["body"].angular_velocity
    assert np.abs(solution["body"].angular_velocity - right).max() > 100.0


def satellite(node) -> mbd.Model:
    """A body that turns slowly, and a wheel of 200 rad/s on it."""
    model, spin, at = mbd.Model("satellite", gravity=(0.0, 0.0, 0.0)), np.array((0.1, 0.05, 0.2)), np.array((0, 0, 0.3))
    body = model.add(mbd.RigidBody("body", 10.0, (1.0, 1.2, 1.4), node(angular_velocity=spin)))
    fast = node(at, velocity=np.cross(spin, at), angular_velocity=spin + (0.0, 0.0, 200.0))
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (0.01, 0.01, 0.02), fast))
    model.add(mbd.joints.Revolute(body, wheel, at=at, axis=(0, 0, 1)))
    return model


def test_a_wheel_whose_axis_turns_slowly_is_not_steady():
    """Half of the angular momentum is lost here, while the energy is right to 1e-5."""
    with pytest.warns(mbd.AccuracyWarning, match=r"body 'wheel' turns by 4 rad in a step of 0.02"):
        solution = mbd.simulate(satellite(mbd.nodes.RotationVector), 5.0, 0.02)
    total = solution.momentum.angular
    assert np.abs(total - total[0]).max() > 0.2 * np.linalg.norm(total[0])
    assert abs(energy_balance(solution).relative) < 1e-4


def test_a_motor_that_speeds_up_about_a_fixed_axis_turns_as_far_as_it_likes():
    model = mbd.Model("motor", gravity=(0.0, 0.0, 0.0))
    rotor = model.add(mbd.RigidBody("rotor", 1.0, (0.1, 0.2, 0.25), mbd.nodes.RotationVector()))
    model.add(mbd.joints.Revolute(model.ground, rotor, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(mbd.forces.Torque(rotor, (0.0, 0.0, 1000.0)))
    solution = quiet(model, 0.2, 0.01, methods.GeneralizedAlpha())
    assert solution["rotor"].angular_velocity[-1, 2] == pytest.approx(800.0, rel=1e-9)


def test_energy_that_is_lost_at_every_other_record_is_seen():
    """Half of the records are looked at first, and nothing is beyond the bound in these."""
    model = mbd.Model("body", gravity=(0.0, 0.0, 0.0))
    model.add(mbd.RigidBody("body", 2.0, (6.0, 8.0, 3.0), mbd.nodes.Quaternion(angular_velocity=(10.0, 20.0, 20.0))))
    with pytest.warns(mbd.AccuracyWarning, match="lost energy without a reason: 14 %"):
        mbd.simulate(model, 10.0, 0.05)


def double_pendulum(stiffness: float, damping: float, force: float) -> mbd.Model:
    model = mbd.Model("double pendulum", gravity=(0.0, 0.0, -9.81))
    last: mbd.bodies.Body = model.ground
    for i in range(2):
        start = mbd.nodes.RotationVector((0.5 * i + 0.25, 0.0, 0.0))
        link = model.add(mbd.RigidBody(f"link {i}", 1.0, (0.02, 0.03, 0.02), start))
        hinge = model.add(mbd.joints.Revolute(last, link, at=(0.5 * i, 0.0, 0.0), axis=(0.0, 1.0, 0.1 * i)))
        model.add(mbd.forces.TorsionSpring(hinge, stiffness=stiffness, damping=damping, rest=0.3))
        last = link
    model.add(mbd.forces.Force(last, lambda t: np.array((force * np.sin(20.0 * t), 0.0, 0.0))))
    return model


@pytest.mark.parametrize(
    ("numbers", "step", "count", "what"),
    [((606.0, 1.0, 5.0), 0.0344, 150, "gained energy"), ((1090.0, 0.0, 50.0), 0.0697, 60, "turns by .* rad in a step")],
)
def test_errors_of_short_runs_are_seen_though_few_records_show_them(numbers, step, count, what):
    """A vibration of some steps that dies out or is driven: every tenth record, or twenty of them, miss it."""
    with pytest.warns(mbd.AccuracyWarning, match=what):
        mbd.simulate(double_pendulum(*numbers), count * step, step)


def test_velocities_that_contradict_constraints_are_named_between_records_far_apart():
    """No balance tells there: the load changes between the records."""
    model, last = mbd.Model("four-bar", gravity=(0.0, 0.0, -9.81)), None
    at = np.array([(0.0, 0.0, 0.0), (0.2, 0.0, 0.9), (1.6, 0.0, 1.1), (1.3, 0.0, 0.0)])
    for k in range(3):
        link = model.add(
            mbd.RigidBody(f"{k}", 1.0 + k, (0.02, 0.1, 0.11), mbd.nodes.Directors((at[k] + at[k + 1]) / 2))
        )
        model.add(mbd.joints.Revolute(last or model.ground, link, at=at[k], axis=(0, 1, 0)))
        last = link
    model.add(mbd.joints.Revolute(last, model.ground, at=at[3], axis=(0, 1, 0)))
    model.add(mbd.forces.Force(last, lambda t: (0.0, np.cos(t), 0.0)))
    with (
        pytest.warns(mbd.RedundancyWarning),
        pytest.warns(mbd.AccuracyWarning, match=r"GGLTrapezoidal with a step of 0.01 contradict.*stabilized=True"),
    ):
        solution = mbd.simulate(model, 0.4, 0.01, methods.GGLTrapezoidal(), output_step=0.04)
    assert energy_balance(solution) is None
    assert solution.constraint_error.velocity.max() > 1e3


def test_many_steps_without_velocity_constraints_are_named():
    solution = mbd.simulate(oscillator(1.0), 0.1, 0.01)
    solution.stats["index_3_steps"] = 1
    warn_of_gross_errors(solution, 0.01, 1)
    solution.stats["index_3_steps"] = 2
    with pytest.warns(mbd.AccuracyWarning, match="left 2 of 10 steps to index 3"):
        warn_of_gross_errors(solution, 0.01, 1)


@pytest.mark.parametrize(
    "method",
    [methods.DiscreteVariational(), methods.LivensMidpoint(), methods.HamiltonianMidpoint()],
    ids=lambda m: m.name,
)
def test_a_thrown_point_keeps_its_velocity(method):
    """Where nothing but gravity acts, accelerations do not look at velocities; momenta of the start must."""
    model = mbd.Model(gravity=(0.0, 0.0, -9.81))
    model.add(mbd.PointMass("stone", 2.0, (1.0, 0.0, 0.0), (0.0, 3.0, 4.0)))
    solution = mbd.simulate(model, 0.1, 0.01, method)
    assert np.allclose(solution["stone"].velocity[-1], (0.0, 3.0, 4.0 - 0.981), atol=1e-9)
    assert np.allclose(solution["stone"].position[-1], (1.0, 0.3, 0.4 - 0.5 * 9.81 * 0.01), atol=1e-9)


def test_inputs_that_jump_belong_to_the_balance():
    model = oscillator(400.0)
    push = model.input("push", 0.0)
    model.add(mbd.forces.Force(model["mass"], lambda t: (0.0, 0.0, 1.0 * push)))
    sim = mbd.Simulator(model, 0.002)
    for k in range(200):
        sim.inputs["push"] = 20.0 * (k // 50 % 2)
        sim.step()
    balance = energy_balance(sim.solution())
    assert balance is not None and abs(balance.work) > 0.01 * balance.scale and abs(balance.relative) < 0.01


@pytest.mark.parametrize("what", ["stiffness", "length", "gravity"])
def test_inputs_that_change_what_is_stored_belong_to_the_balance(what):
    """A spring that becomes stiffer has more energy at once, which somebody gave it."""
    model = mbd.Model("mass")
    u = model.input("u", 0.0)
    mass = model.add(mbd.PointMass("mass", 1.0, (0, 0, -0.1)))
    stiffness, length = (
        (400.0 + 300.0 * u if what == "stiffness" else 400.0),
        (1.0 + 0.1 * u if what == "length" else 1.0),
    )
    model.add(mbd.forces.Spring(model.ground, mass, (0, 0, 1), stiffness=stiffness, length=length))
    model.gravity = (0, 0, -9.81 * (1.0 - u)) if what == "gravity" else (0, 0, -9.81)
    sim = mbd.Simulator(model, 1e-3, mbd.integrators.RK4())
    for k in range(400):
        sim.inputs["u"] = k // 70 % 2
        sim.step()
    solution = sim.solution()
    total = solution.energy.total
    balance = energy_balance(solution)
    assert balance is not None and abs(balance.relative) < 1e-6  # of RK4
    assert balance.change == pytest.approx(total[-1] - total[0], abs=1e-12) and balance.work == pytest.approx(
        balance.change, abs=1e-6 * balance.scale
    )
    assert np.abs(np.diff(total)).max() > 0.1 * balance.scale  # it did jump


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_totals_at_chosen_records_are_those_of_all(coordinates):
    """A driven hinge whose torsion spring is wound up by whole turns, and a bar on another one."""
    model = mbd.Model(gravity=(0, 0, -9.81))
    one, two = (
        model.add(mbd.RigidBody(f"bar {k}", 1.0 + k, (0.01, 0.02, 0.03), mbd.nodes.Quaternion((0.3 * k + 0.1, 0, 0))))
        for k in range(2)
    )
    driven = model.add(mbd.joints.Revolute(model.ground, one, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.joints.AngleDriver(model.ground, one, axis=(0, 1, 0), value=lambda t: 9.0 * t * t))
    hinge = model.add(mbd.joints.Revolute(one, two, at=(0.2, 0, 0), axis=(0, 1, 0)))
    for joint in (driven, hinge):
        model.add(mbd.forces.TorsionSpring(joint, stiffness=0.02, damping=1e-3))
    solution = mbd.simulate(model.with_coordinates(coordinates), 1.5, 2e-3, progress=False)
    assert np.abs(solution[driven].angle).max() > 6.0 * np.pi
    chosen = np.array([0, 3, 400, 600, 750])
    found = _totals(solution, chosen, True)
    for column in (observe.KINETIC, observe.POTENTIAL, observe.POWER, observe.SPEED, observe.VELOCITY_DEFECT):
        np.testing.assert_allclose(found[:, column], solution._totals[chosen, column], rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("node", [mbd.nodes.RotationVector, mbd.nodes.Quaternion], ids=lambda node: node.__name__)
def test_energies_of_lie_nodes_from_velocities_are_those_of_their_frames(node):
    """A free body and a pinned one, both with a centre of mass beside their reference points."""
    model = mbd.Model(gravity=(1.0, 2.0, -9.81))
    inertia = np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.5]])
    turned = from_rotation_vector(np.array((0.4, 0.9, -0.3)))
    start = {"angular_velocity": (1.0, -4.0, 2.0), "rotation": turned, "lie": True}
    free = node((0.1, 0.2, 0.3), velocity=(2.0, -1.0, 0.5), **start)
    model.add(mbd.RigidBody("free", 2.0, inertia, free, com=(0.3, -0.2, 0.1)))
    model.add(mbd.RigidBody("pinned", 3.0, inertia, node((2.0, 0.0, 1.0), pinned=True, **start), com=(0.1, 0.4, -0.2)))
    solution = mbd.simulate(model, 0.5, 0.01, methods.RK4(), progress=False)
    found = _totals(solution, np.arange(len(solution)), False)
    for column in (observe.KINETIC, observe.POTENTIAL, observe.SPIN):
        np.testing.assert_allclose(found[:, column], solution._totals[:, column], rtol=1e-13, atol=1e-13)
