"""Ranks have no units: models from a micrometre to a thousand kilometres, with masses in ratios of 1e12.

And nets that are held to second order only are called what they are.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd

GRAVITY = 9.81
ROUND_OFF = 1e-13
LOOSE = 1e-6  # tolerances of iterations, amplified by the index of the equations
LENGTHS = [1e-6, 1e-4, 1.0, 1e6]
MASSES = [(1e-12, 1e-12, 1e-12), (1.0, 1.0, 1.0), (1e12, 1e12, 1e12), (1e-6, 1e6, 1e-6), (1e6, 1e-6, 1.0)]


def chain(lengths, masses, node=mbd.nodes.RotationVector, twice=False) -> mbd.Model:
    """Links hanging from hinges about y; ``twice``: the first hinge a second time."""
    model = mbd.Model("chain", gravity=(0.0, 0.0, -GRAVITY))
    last, z = model.ground, 0.0
    for i, (length, mass) in enumerate(zip(lengths, masses, strict=True)):
        inertia = mass * length**2 / 12.0
        body = mbd.RigidBody(
            f"link {i}", mass, (inertia, inertia, 0.01 * inertia), node(position=(0, 0, z - length / 2))
        )
        model.add(body)
        for name in [f"hinge {i}", "again"] if twice and i == 0 else [f"hinge {i}"]:
            model.add(mbd.joints.Revolute(last, body, at=(0.0, 0.0, z), axis=(0.0, 1.0, 0.0), name=name))
        last, z = body, z - length
    return model


@pytest.mark.parametrize("masses", MASSES, ids=str)
def test_a_chain_is_never_redundant_by_its_size(masses):
    frequencies = []
    for length in LENGTHS:
        for node in (mbd.nodes.RotationVector, mbd.nodes.Quaternion):
            model = chain([length] * 3, masses, node)
            found = mbd.diagnose(model)
            assert (found.dof, found.redundant, found.momentary, found.shaky, found.errors) == (3, 0, 0, 0, [])
            step = 1e-3 * np.sqrt(length / GRAVITY)
            mbd.simulate(model, 2 * step, step)  # a warning would be an error
        if len(set(masses)) == 1:
            linear = mbd.linearize(model)
            frequencies.append(np.sort(np.abs(linear.eigenvalues)) * np.sqrt(length / GRAVITY))
    if frequencies:
        assert np.allclose(frequencies, frequencies[2], rtol=1e-5)
        assert len(frequencies[0]) == 6


@pytest.mark.parametrize("masses", MASSES, ids=str)
def test_a_second_hinge_is_redundant_at_every_size(masses):
    for length in LENGTHS:
        model = chain([length] * 3, masses, twice=True)
        found = mbd.diagnose(model)
        assert (found.dof, found.redundant, found.shaky, found.errors) == (3, 5, 0, [])
        if len(set(masses)) > 1:
            continue
        step = 1e-3 * np.sqrt(length / GRAVITY)
        with pytest.warns(mbd.RedundancyWarning, match="5 of 20 constraint equations are redundant.*'again'"):
            mbd.simulate(model, 2 * step, step)


def test_links_of_very_different_size_in_one_chain():
    for lengths in ([1e-6, 1.0, 1e6], [1e6, 1e-6, 1e6]):
        for twice, redundant in ((False, 0), (True, 5)):
            found = mbd.diagnose(chain(lengths, (1.0, 1.0, 1.0), twice=twice))
            assert (found.dof, found.redundant, found.momentary, found.shaky) == (3, redundant, 0, 0)


def slider_crank(length: float, mass: float) -> mbd.Model:
    """A planar loop whose spherical joint fixes the way across the plane a second time."""
    model, crank, rod = mbd.Model("crank", gravity=(0.0, 0.0, -GRAVITY * length)), 0.1, 0.3
    pin = crank * np.array((np.cos(0.5), 0.0, np.sin(0.5)))
    end = np.array((pin[0] + np.sqrt(rod**2 - pin[2] ** 2), 0.0, 0.0))
    inertia = np.array((1e-3, 2e-3, 2e-3)) * mass * length**2
    last = model.ground
    for name, place, at in (("crank", pin / 2, 0 * pin), ("rod", (pin + end) / 2, pin), ("slide", end, end)):
        node = mbd.nodes.RotationVector(position=place * length)
        body = model.add(mbd.RigidBody(name, mass, inertia, node))
        joint, axis = (mbd.joints.Spherical, {}) if name == "slide" else (mbd.joints.Revolute, {"axis": (0, 1, 0)})
        model.add(joint(last, body, at=at * length, **axis))
        last = body
    model.add(mbd.joints.Prismatic(model.ground, last, axis=(1, 0, 0), name="rail"))
    return model


@pytest.mark.parametrize("method", [mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha()], ids=lambda m: m.name)
def test_a_loop_is_redundant_in_any_units(method):
    """In kilometres rounding left more of a pivot than a number without units allows, and runs broke off."""
    ways = []
    for length, mass in ((1.0, 1.0), (1e-3, 1.0), (1e-4, 1.0), (1e3, 1e-3), (1e6, 1e12)):
        with pytest.warns(mbd.RedundancyWarning, match="1 of 18 constraint equations is redundant"):
            solution = mbd.simulate(slider_crank(length, mass), 0.2, 1e-3, method)
        ways.append([solution["slide"].position[:, 0] / length, solution["rail"].force[:, 2] / (mass * length)])
    ways = np.array(ways) / np.abs(ways[0]).max(axis=1)[:, None]
    assert np.abs(ways - ways[0]).max() < 1e-9


def net(size: int, gravity) -> mbd.Model:
    """Point masses in a square, held by rods along both directions that lead to the ground: flat, and taut."""
    model = mbd.Model("net", gravity=gravity)
    knots = {
        (i, j): model.add(mbd.PointMass(f"knot {i} {j}", 1.0, (i, j, 0))) for i in range(size) for j in range(size)
    }
    for (i, j), knot in knots.items():
        for neighbour, point in (((i + 1, j), (size, j, 0)), ((i, j + 1), (i, size, 0))):
            other = knots.get(neighbour, model.ground)
            model.add(mbd.joints.Distance(knot, other, point_b=(0, 0, 0) if neighbour in knots else point))
        for edge, point in ((i == 0, (-1, j, 0)), (j == 0, (i, -1, 0))):
            if edge:
                model.add(mbd.joints.Distance(knot, model.ground, point_b=point))
    return model


@pytest.mark.parametrize("size", [1, 3])
def test_a_flat_net_is_shaky_and_says_so(size):
    found = mbd.diagnose(net(size, (0.0, 0.0, -GRAVITY)))
    assert (found.dof, found.shaky, found.redundant) == (0, size**2, 0)
    with pytest.raises(mbd.AssemblyError, match=r"singular configuration.*shaky.*body 'knot 0 0' moves along z"):
        mbd.simulate(net(size, (0.0, 0.0, -GRAVITY)), 0.01, 1e-3)


def test_a_shaky_net_with_loads_in_its_plane_is_at_rest():
    with pytest.warns(mbd.RedundancyWarning, match="singular configuration.*shaky"):
        solution = mbd.simulate(net(2, (1.0, 0.5, 0.0)), 0.01, 1e-3)
    assert np.abs(solution.q - solution.q[0]).max() < 1e-12


def test_a_net_with_depth_is_stiff_and_not_shaky():
    model = mbd.Model(gravity=(0.0, 0.0, -GRAVITY))
    knot = model.add(mbd.PointMass("knot", 1.0))
    for point in ((1, 0, 1), (-1, 0, 1), (0, 1, 1)):
        model.add(mbd.joints.Distance(model.ground, knot, point_a=point))
    found = mbd.diagnose(model)
    assert (found.dof, found.shaky, found.redundant) == (0, 0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.abs(mbd.simulate(model, 0.01, 1e-3).q).max() < 1e-12


NODES = (mbd.nodes.RotationVector(), mbd.nodes.Quaternion(), mbd.nodes.Directors(), mbd.nodes.Quaternion(lie=True))


def mixed_loop(length: float, mass: float) -> mbd.Model:
    """Four bodies in different coordinates, in a loop; they fall by as many of their lengths as others do."""
    model = mbd.Model("loop", gravity=(0.0, length, -9.81 * length))
    last = model.ground
    for k, node in enumerate(NODES):
        moments, com = np.array((0.2, 0.25, 0.3)) * mass * length**2, (0.1 * length, 0.05 * length, 0)
        body = model.add(mbd.RigidBody(f"body {k}", (k + 1) * mass, moments, node, com=com))
        body.position = np.array((k + 0.5, 0.1 * k, 0.2 * k)) * length
        at, axis = np.array((k, 0.1 * k, 0.2 * k)) * length, (0, 1, 0.2 * k)
        joint = mbd.joints.Spherical if k == 2 else mbd.joints.Revolute
        model.add(joint(last, body, at=at, name=f"joint {k}", **({} if k == 2 else {"axis": axis})))
        last = body
    rod = (0.1 * length, 0, 0)
    model.add(mbd.joints.Distance(model["body 0"], last, rod, rod, name="rod"))
    return model


@pytest.mark.parametrize("method", [mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha()], ids=lambda m: m.name)
def test_accelerations_and_reactions_have_no_units(method):
    """A mechanism of a micrometre and 1e-15 kg, as they are in gyroscopes of silicon, moves as one of a metre does."""
    expected = mbd.simulate(mixed_loop(1.0, 1.0), 0.1, 0.005, method)
    for length, mass in ((1e-6, 1e-15), (1e-9, 1e-24), (1.0, 1e-31), (1e6, 1e18), (1e11, 1e30)):
        found = mbd.simulate(mixed_loop(length, mass), 0.1, 0.005, method)
        for body in expected.model.bodies:
            assert found[body.name].position / length == pytest.approx(expected[body.name].position, abs=1e-8)
            wanted = expected[body.name].angular_acceleration
            assert found[body.name].angular_acceleration == pytest.approx(wanted, abs=1e-7 * np.abs(wanted).max())
        for joint in expected.model.joints:
            wanted = expected[joint.name].force
            assert found[joint.name].force / (mass * length) == pytest.approx(wanted, abs=1e-7 * np.abs(wanted).max())


def test_equilibria_and_vibrations_have_no_units():
    """Frequencies of models of 1e6 length units were wrong, and bodies of 1e-31 mass units were at rest anywhere."""
    expected = mbd.equilibrium(mixed_loop(1.0, 1.0))
    values = mbd.linearize(expected.model, expected).eigenvalues
    for length, mass in ((1e-6, 1e-15), (1.0, 1e-31), (1e6, 1.0), (1e6, 1e18)):
        found = mbd.equilibrium(mixed_loop(length, mass))
        for body in expected.model.bodies:
            assert found[body.name].position / length == pytest.approx(expected[body.name].position, abs=1e-6)
        again = mbd.linearize(found.model, found).eigenvalues
        assert np.sort(again.imag) == pytest.approx(np.sort(values.imag), abs=1e-5 * np.abs(values).max())


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_states_beside_an_equilibrium_are_steady_at_every_size(coordinates):
    """Stiffness of a displacement and of an angle differ by the square of the length, which is no rank."""
    for length in (1e-6, 1.0, 1e6):
        model = mbd.Model("cylinder")
        node = mbd.nodes.RotationVector(position=(length, 0, 0), rotation=mbd.rotation((1e-7, 0, 0)))
        inertia = np.array([0.1, 0.12, 0.15]) * length**2
        body = model.add(mbd.RigidBody("body", 2.0, inertia, node))
        joint = model.add(mbd.joints.Cylindrical(model.ground, body, at=(0, 0, 0), axis=(1, 0, 0), zero=(0, 1e-7)))
        model.add(mbd.forces.Spring(model.ground, body, stiffness=100.0, length=length))
        model.add(mbd.forces.TorsionSpring(joint, stiffness=0.4 * length**2))
        values = mbd.linearize(model.with_coordinates(coordinates)).eigenvalues
        assert np.allclose(np.sort(values.imag), [-np.sqrt(50.0), -2.0, 2.0, np.sqrt(50.0)], rtol=1e-5)


@pytest.mark.parametrize("joint", ["Planar", "Cylindrical"])
def test_joint_coordinates_keep_the_turn_of_a_body_in_every_unit_of_length(joint):
    spin = 0.7
    for length in (1e-9, *LENGTHS, 1e9):
        model = mbd.Model("plate")
        axis, offset = np.array((2.0, 3.0, 6.0)) / 7.0, np.array((1.0, -2.0, 0.5)) * length
        slide = axis if joint == "Cylindrical" else np.array((0.9, -0.6, 0.0))
        velocity = spin * np.cross(axis, offset) + length * slide
        node = mbd.nodes.RotationVector(position=offset, velocity=velocity, angular_velocity=spin * axis)
        plate = model.add(mbd.RigidBody("plate", 1.0, length**2 * np.eye(3), node))
        model.add(getattr(mbd.joints, joint)(model.ground, plate, at=(0.0, 0.0, 0.0), axis=axis))
        start = mbd.simulate(model.with_coordinates("joint"), 1e-3, 1e-3)["plate"]
        assert np.allclose(start.angular_velocity[0], spin * axis, rtol=0.0, atol=ROUND_OFF)
        assert np.allclose(start.velocity[0], velocity, rtol=0.0, atol=ROUND_OFF * length)


def skew_loop(length: float, mass: float) -> mbd.Model:
    """Five bodies in skew positions on joints with skew axes, from ground to ground, and a rod."""
    rng = np.random.default_rng(3)
    model = mbd.Model("skew loop", gravity=length * rng.normal(size=3))
    bodies = []
    for k in range(5):
        node = mbd.nodes.RotationVector(length * rng.normal(size=3), mbd.rotation(rng.normal(size=3)))
        inertia = mass * length**2 * rng.uniform(0.1, 0.15, size=3)
        bodies.append(model.add(mbd.RigidBody(f"body {k}", mass, inertia, node)))
    kinds = ["Revolute", "Prismatic", "Cylindrical", "Planar", "Cylindrical"]
    for kind, first, second in zip(kinds, [model.ground, *bodies], bodies, strict=False):
        model.add(getattr(mbd.joints, kind)(first, second, at=length * rng.normal(size=3), axis=rng.normal(size=3)))
    model.add(mbd.joints.Spherical(bodies[-1], model.ground, at=length * rng.normal(size=3), name="last"))
    model.add(mbd.joints.Distance(model.ground, bodies[0], length * rng.normal(size=3), (0, 0, 0)))
    return model


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("method", ["GeneralizedAlpha", "RK6", "LieEM"])
def test_skew_loops_of_tiny_bodies_move_as_large_ones(method, coordinates):
    """What rounding leaves of a direction, 1e-17, is larger than moments of inertia of 1e-24 kg m^2."""
    found = []
    for length, mass in ((1.0, 1.0), (1e-6, 1e-12), (1.0, 1e-18)):
        model = skew_loop(length, mass).with_coordinates(coordinates)
        run = mbd.simulate(model, 0.1, 5e-3, getattr(mbd.integrators, method)())
        found.append((run["body 4"].position / length, run["last"].force / (mass * length)))
    for position, force in found[1:]:
        assert np.allclose(position, found[0][0], rtol=0.0, atol=LOOSE)
        assert np.allclose(force, found[0][1], rtol=0.0, atol=LOOSE)
