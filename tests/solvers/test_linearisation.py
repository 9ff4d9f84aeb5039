"""Linearisation: tops with and without spin, double pendulum, damping, redundant joints, all coordinates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import eigh

import mbd
from mbd.joints import Revolute, Spherical
from mbd.nodes import RotationVector

G = 9.81
NODES = [mbd.nodes.RotationVector, mbd.nodes.Quaternion, mbd.nodes.Directors, mbd.nodes.EulerAngles(sequence="xyz")]
A, C, MGL = 0.234375 + 15.0, 0.46875, 15.0 * G


def top(upright, spin, offset=False):
    """The heavy top, hanging or standing; with ``offset`` its reference point is the fixed point."""
    model = mbd.Model("top", gravity=(0, 0, -G))
    sign = 1 if upright else -1
    turn = mbd.rotation((sign * math.pi / 2, 0, 0))
    position, com = ((0, 0, 0), (0, 1, 0)) if offset else ((0, 0, sign), (0, 0, 0))
    node = mbd.nodes.RotationVector(position=position, rotation=turn, angular_velocity=(0, spin, 0))
    body = model.add(mbd.RigidBody("top", 15.0, (0.234375, 0.46875, 0.234375), node, com=com))
    model.add(Spherical(model.ground, body, at=(0, 0, 0)))
    return model


def expected(upright, spin):
    """A s^2 - i C n s -+ m g l = 0, its conjugates, and two zeros of the spin."""
    roots = np.roots((A, -1j * C * spin, -MGL if upright else MGL))
    return np.concatenate((roots, roots.conj(), (0, 0)))


def same(values, wanted, tolerance=1e-8):
    values, wanted = list(values), list(wanted)
    assert len(values) == len(wanted)
    for x in wanted:
        k = int(np.argmin([abs(x - y) for y in values]))
        assert abs(values.pop(k) - x) < tolerance


@pytest.mark.parametrize("node", NODES, ids=str)
@pytest.mark.parametrize(("upright", "spin"), [(False, 0.0), (False, 40.0), (True, 150.0), (True, 250.0)])
def test_top(upright, spin, node):
    found = mbd.linearize(top(upright, spin).with_nodes(node))
    same(found.eigenvalues, expected(upright, spin), 1e-7)
    assert found.stable == (not (upright and spin == 150.0))


def test_printed_values_of_the_top():
    same(mbd.linearize(top(False, 40.0)).eigenvalues, (3.78362942j, -3.78362942j, 2.55286019j, -2.55286019j, 0, 0))
    sleeping = [a + b * 1j for a in (-2.08173801, 2.08173801) for b in (-2.30769231, 2.30769231)]
    same(mbd.linearize(top(True, 150.0)).eigenvalues, (*sleeping, 0, 0))


@pytest.mark.parametrize("spin", [0.0, 40.0])
def test_reference_point_at_the_pivot(spin):
    same(mbd.linearize(top(False, spin, offset=True)).eigenvalues, expected(False, spin))


def test_double_pendulum():
    """Two rods of length 1: M = [[4/3, 1/2], [1/2, 1/3]] and K = g diag(3/2, 1/2) for absolute angles."""
    model = mbd.Model("double pendulum", gravity=(0, 0, -G))
    last = model.ground
    for k in range(2):
        rod = model.add(
            mbd.RigidBody(f"rod {k}", 1.0, (1 / 12, 1 / 12, 1e-3), mbd.nodes.Quaternion(position=(0, 0, -k - 0.5)))
        )
        model.add(Revolute(last, rod, at=(0, 0, -k), axis=(0, 1, 0)))
        last = rod
    found = mbd.linearize(model)
    squares = eigh(G * np.diag((1.5, 0.5)), ((4 / 3, 0.5), (0.5, 1 / 3)), eigvals_only=True)
    assert found.frequencies == pytest.approx(np.sqrt(squares) / (2 * math.pi), rel=1e-10)
    slow = next(mode for mode in found.modes if mode.eigenvalue.imag > 0)
    first, second = (slow.shape[f"rod {k}"][1][1].real for k in range(2))
    assert second / first > 1  # both swing to the same side, the lower one further
    assert slow.damping == pytest.approx(0, abs=1e-12)
    assert found.mass.shape == found.stiffness.shape == found.damping.shape == (2, 2)


def test_damped_oscillator_about_its_equilibrium():
    model = mbd.Model("oscillator", gravity=(0, 0, -G))
    mass = model.add(mbd.PointMass("mass", 2.0, (0, 0, -1)))
    model.add(mbd.joints.PointOnLine(model.ground, mass, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(mbd.forces.Spring(model.ground, mass, stiffness=50.0, length=1.0, damping=4.0))
    balanced = mbd.equilibrium(model)
    found = mbd.linearize(balanced.model, balanced)
    same(found.eigenvalues, np.roots((2.0, 4.0, 50.0)))
    assert found.modes[0].damping == pytest.approx(4.0 / (2 * math.sqrt(2.0 * 50.0)))
    text = str(found)
    assert "stable" in text and "'mass'" in text and "-1 +- 4.89898i" in text


def test_redundant_joints_do_no_harm():
    model = mbd.Model("door", gravity=(0, -G, 0))
    door = model.add(mbd.RigidBody("door", 2.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(0, -0.5, 0))))
    for height in (-1, 1):
        model.add(Revolute(model.ground, door, at=(0, 0, height), axis=(0, 0, 1)))
    rate = math.sqrt(2 * G * 0.5 / (0.1 + 2 * 0.25))
    same(mbd.linearize(model).eigenvalues, (1j * rate, -1j * rate))


def test_spinning_wheels_in_a_frame_couple_its_tilts():
    """A wheel in a gimbal-free frame on a ball joint at the centre of mass nods with C n / A."""
    model = mbd.Model("gyroscope")
    n = 100.0
    frame = model.add(mbd.RigidBody("frame", 1.0, (0.2, 0.2, 0.2)))
    wheel = model.add(
        mbd.RigidBody("wheel", 1.0, (0.1, 0.1, 0.18), mbd.nodes.RotationVector(angular_velocity=(0, 0, n)))
    )
    model.add(Spherical(model.ground, frame, at=(0, 0, 0)))
    model.add(Revolute(frame, wheel, at=(0, 0, 0), axis=(0, 0, 1)))
    found = mbd.linearize(model)
    rate = 0.18 * n / (0.2 + 0.1)
    assert found.eigenvalues.imag.max() == pytest.approx(rate, rel=1e-9)
    assert np.sum(np.abs(found.eigenvalues) < 1e-5) == 6


def test_state_of_a_solution():
    model = top(False, 40.0)
    solution = mbd.simulate(model, t_end=0.05, step=1e-3)
    same(mbd.linearize(model, solution).eigenvalues, expected(False, 40.0), 1e-6)
    same(mbd.linearize(model, (solution.q[-1], solution.v[-1])).eigenvalues, expected(False, 40.0), 1e-6)


def test_refusals():
    model = mbd.benchmarks.heavy_top().model
    with pytest.raises(mbd.ModelError, match="the state is not steady: body 'top' accelerates"):
        mbd.linearize(model)
    flat = mbd.Model("flat")
    flat.add(mbd.RigidBody("plate", 1.0, (0.1, 0.2, 0.3), mbd.nodes.RotationVector(angular_velocity=(0, 0, 5))))
    with pytest.raises(mbd.ModelError, match="body 'plate' spins about an axis about which it is not symmetric"):
        mbd.linearize(flat)
    with pytest.raises(mbd.ModelError, match="expected a solution, an equilibrium or a pair"):
        mbd.linearize(flat, 3)
    with pytest.raises(mbd.ModelError, match="expected an mbd.Model"):
        mbd.linearize(3)


def rotor_on_a_slide(phase, coordinates):
    """A rotor with its centre of mass off the axis, on a slide between springs, without gravity."""
    model = mbd.Model("rotor")
    slide = model.add(mbd.RigidBody("slide", 1.0, (0.1, 0.1, 0.1)))
    model.add(mbd.joints.Prismatic(model.ground, slide, axis=(1, 0, 0), name="rail"))
    turning = mbd.nodes.RotationVector((0, 0, 0), mbd.rotation((0, 0, phase)), angular_velocity=(0, 0, 3.0))
    rotor = model.add(mbd.RigidBody("rotor", 1.0, (0.1, 0.1, 0.1), turning, com=(0.3, 0, 0)))
    model.add(Revolute(slide, rotor, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    model.add(mbd.forces.Spring(model.ground, slide, stiffness=100.0, length=5.0, point_a=(-5.0, 0, 0)))
    return model.with_coordinates(coordinates)


def flat_rotor_on_a_shaft(coordinates, difference):
    """A balanced rotor with two moments of inertia across its axis, on a soft universal joint."""
    model = mbd.Model("flat rotor")
    shaft = model.add(mbd.RigidBody("shaft", 1.0, (0.1, 0.1, 0.1)))
    model.add(mbd.joints.Universal(model.ground, shaft, at=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0)))
    node = mbd.nodes.RotationVector(angular_velocity=(0, 0, 8.0))
    rotor = model.add(mbd.RigidBody("rotor", 1.0, (0.1, 0.1 + difference, 0.15), node))
    model.add(Revolute(shaft, rotor, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    for end in ((1, 0, 0), (0, 1, 0)):
        above = (*end[:2], 1.0)
        model.add(mbd.forces.Spring(model.ground, shaft, stiffness=100.0, length=1.0, point_a=above, point_b=end))
    return model.with_coordinates(coordinates)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_what_changes_with_time_is_refused(coordinates):
    """Also where nothing accelerates at present, and in coordinates in which no body is seen to spin."""
    for phase in (0.0, math.pi / 2):  # the spring is pulled, or only turns away from the pull
        with pytest.raises(mbd.ModelError, match="not steady|not symmetric"):
            mbd.linearize(rotor_on_a_slide(phase, coordinates))
    pendulum = mbd.Model("pendulum", gravity=(0, 0, -G))
    swing = mbd.nodes.RotationVector(angular_velocity=(0, 3.0, 0))
    bob = pendulum.add(mbd.RigidBody("bob", 1.0, (0.1, 0.1, 0.1), swing, com=(0, 0, -0.5)))
    pendulum.add(Revolute(pendulum.ground, bob, at=(0, 0, 0), axis=(0, 1, 0)))
    with pytest.raises(mbd.ModelError, match="not steady|not symmetric"):  # at its lowest point
        mbd.linearize(pendulum.with_coordinates(coordinates))
    with pytest.raises(mbd.ModelError, match="not symmetric|change with .* as it moves"):
        mbd.linearize(flat_rotor_on_a_shaft(coordinates, 0.03))
    whirl = [sign * 0.15 * 8.0 / 0.2 / 2 + math.hypot(0.15 * 8.0 / 0.2 / 2, math.sqrt(100.0 / 0.2)) for sign in (-1, 1)]
    same(
        mbd.linearize(flat_rotor_on_a_shaft(coordinates, 0.0)).eigenvalues,
        (0, 0, *(sign * 1j * rate for rate in whirl for sign in (-1, 1))),
        1e-6,
    )


def test_a_hardening_spring_is_passed_at_speed():
    """A mass that passes the middle of a hardening spring does not accelerate there, and is not in a steady state."""
    model = mbd.Model("hardening")
    mass = model.add(mbd.PointMass("mass", 1.0, velocity=(2.0, 0, 0)))
    model.add(mbd.joints.PointOnLine(model.ground, mass, at=(0, 0, 0), axis=(1, 0, 0)))
    model.add(mbd.forces.UserPotential(mass, lambda frames: 2.0 * frames[0, 0] ** 2 + 3.0 * frames[0, 0] ** 4))
    with pytest.raises(mbd.ModelError, match="body 'mass' accelerates by .* s later"):
        mbd.linearize(model)
    model["mass"].node.velocity = (0, 0, 0)
    same(mbd.linearize(model).eigenvalues, (2j, -2j))


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("x", [0.1 + 0.2, 0.31])
def test_equilibria_without_gravity(x, coordinates):
    """Round-off in a length, and what an equilibrium leaves, are no acceleration; nor is noise a motion."""
    model = mbd.Model("slide")
    slide = model.add(mbd.RigidBody("slide", 2.0, (0.1, 0.2, 0.3), mbd.nodes.RotationVector((x, 0, 0))))
    model.add(mbd.joints.Prismatic(model.ground, slide, axis=(1, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, slide, stiffness=100.0, length=0.3, damping=20.0))
    model = model.with_coordinates(coordinates)
    expected = np.roots((2.0, 20.0, 100.0))
    same(mbd.linearize(model, mbd.equilibrium(model)).eigenvalues, expected, 1e-6)
    same(mbd.linearize(model, mbd.simulate(model, 10.0, 0.01)).eigenvalues, expected, 1e-6)
    if x == 0.31:
        with pytest.raises(mbd.ModelError, match="body 'slide' accelerates by 0.5"):
            mbd.linearize(model)


def test_a_pendulum_on_a_driven_shaft():
    """Its plane turns with the shaft: constant in joint coordinates, not in frames that do not spin."""
    model, rate = mbd.Model("shaft", gravity=(0, 0, -G)), 10.0
    shaft = model.add(mbd.RigidBody("shaft", 2.0, (0.1, 0.1, 0.1), RotationVector(angular_velocity=(0, 0, rate))))
    model.add(Revolute(model.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(mbd.joints.AngleDriver(model.ground, shaft, at=(0, 0, 0), axis=(0, 0, 1), value=lambda t: rate * t))
    node = RotationVector((0, 0, -0.3), angular_velocity=(0, 0, rate))
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.02, 0.02, 0.02), node))
    model.add(Revolute(shaft, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    growth = math.sqrt((0.09 * rate**2 - 0.3 * G) / 0.11)
    same(mbd.linearize(model.with_coordinates("joint")).eigenvalues, (-growth, growth), 1e-6)
    with pytest.raises(mbd.ModelError, match=r"change as it moves.*with_coordinates\(\"joint\"\)"):
        mbd.linearize(model)


@pytest.mark.parametrize("other", [50.0, 80.0])
def test_a_coupling_between_spinning_bodies(other):
    """Its springs turn with the bodies: their linear form is constant where both are equally stiff."""
    model, spin = mbd.Model("coupling"), (0, 0, 20.0)
    first = model.add(mbd.RigidBody("first", 1.0, (0.03, 0.03, 0.02), RotationVector(angular_velocity=spin)))
    model.add(Revolute(model.ground, first, at=(0, 0, 0), axis=(0, 0, 1)))
    second = mbd.RigidBody("second", 2.0, (0.03, 0.03, 0.02), RotationVector(angular_velocity=spin))
    model.add(second)
    model.add(mbd.forces.Bushing(first, second, stiffness=(50.0, other, 50.0), rotational_stiffness=(5.0, 5.0, 5.0)))
    if other != 50.0:
        with pytest.raises(mbd.ModelError, match="change as it moves"):
            mbd.linearize(model)
        return
    values = mbd.linearize(model).eigenvalues
    for sign in (-1.0, 1.0):  # across the axis, as if nothing were spinning
        assert np.sum(np.abs(values - sign * 5j) < 1e-5) >= 3


def test_the_text_of_an_oscillator_and_of_a_free_mass():
    """One is not called "1 degrees", and no damping is not "-0"."""
    model = mbd.Model("oscillator")
    mass = model.add(mbd.PointMass("mass", 1.0, (1.0, 0.0, 0.0)))
    model.add(mbd.joints.PointOnLine(model.ground, mass, at=(1, 0, 0), axis=(1, 0, 0)))
    assert "1 degree of freedom" in str(mbd.linearize(model)).splitlines()[0]
    model.add(mbd.forces.Spring(model.ground, mass, stiffness=4.0))
    modes = mbd.linearize(model)
    assert modes.modes[0].damping == 0.0 and " -0" not in str(modes)


def test_the_state_of_a_simulator():
    """Its time is known; that its inputs are not those of the model is told, with the way to them."""
    model = mbd.Model("ball")
    k = model.input("k", 10.0)
    ball = model.add(mbd.PointMass("ball", mass=1.0, position=(1.0, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, ball, stiffness=k, length=1.0))
    model.add(mbd.forces.Force(ball, lambda t: (0.0 if t > 0.05 else 1.0, 0.0, 0.0), switches=(0.05,)))
    sim = mbd.Simulator(model, 0.01, t_start=0.1)
    sim.inputs["k"] = 1000.0
    sim.advance(0.1)
    for state in (sim, sim.now, sim.solution()):
        with pytest.warns(mbd.ModelWarning, match="input 'k' was 1000 in the state that was given; .* acts, 10"):
            assert mbd.linearize(model, state).frequencies == pytest.approx(np.sqrt(10.0) / (2.0 * np.pi))
    there = sim.solution()
    assert mbd.linearize(there.model, there).frequencies == pytest.approx(np.sqrt(1000.0) / (2.0 * np.pi))
