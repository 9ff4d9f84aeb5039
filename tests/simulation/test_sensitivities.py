"""Forward sensitivities: derivatives of the discrete solution, against differences of runs and a closed solution."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

import mbd
from mbd.compiled.settings import COMPILER

EXACT = 1e-8  # of the largest derivative: what differences of fourth order and their round-off leave
VELOCITIES = 1e-7  # in index 3: round-off of the constraints and of differences, divided by the step
EXACT_MULTIPLIERS = 5e-8  # in index 2: round-off of velocity constraints and of differences, divided by the step
MULTIPLIERS = 1e-4  # in index 3: round-off of the constraints, divided by the square of the step
TIGHT = mbd.integrators.GeneralizedAlpha(tolerance=1e-13)
TURNING = 1e-5  # where a body turns by more than a radian in a step: what follows the first iterate is left out
INDEX_3 = mbd.integrators.GeneralizedAlpha(stabilized=False, tolerance=1e-13)
NUMBERS = {"g": 9.81, "m": 1.0, "k": 5.0, "length": 0.4, "speed": 0.7}
T_END, STEP = 0.3, 0.01
ROUND_OFF = 1e-12  # of a number, summed over a run; of multipliers divided by the step


def arm(values, with_parameters=False, node=mbd.nodes.RotationVector, coordinates="absolute"):
    """Two links with springs, a force of an own function, and a start that depends on parameters as well."""
    model = mbd.Model("arm")
    g, m, k, length, speed = (model.parameter(n, x) if with_parameters else x for n, x in values.items())
    model.gravity = (0, 0, -g)
    last, axes = model.ground, ((0, 1, 0), (0, 0.6, 0.8))
    for i, axis in enumerate(axes):
        turn = (0.0, speed, 0.0)
        start = node(((i + 0.5) * length, 0, 0), velocity=(0, 0, -(i + 0.5) * length * speed), angular_velocity=turn)
        link = model.add(mbd.RigidBody(f"link {i}", m * (1 + 0.1 * i), (0.02, 0.03, 0.025), start))
        joint = model.add(mbd.joints.Revolute(last, link, at=(i * length, 0, 0), axis=axis, name=f"joint {i}"))
        model.add(mbd.forces.TorsionSpring(joint, stiffness=k, damping=0.05))
        last = link

    def drag(t, frames, velocities):
        out = np.zeros_like(velocities)
        out[0, 0] = -0.1 * k * velocities[0, 0] ** 3 + m * np.sin(3.0 * t)
        return out

    model.add(mbd.forces.UserForce(last, drag))
    return model.with_coordinates(coordinates)


def differences(name, channel, method, build=arm, **options):
    def at(x):
        return channel(mbd.simulate(build(NUMBERS | {name: x}, **options), T_END, STEP, method))

    x, e = NUMBERS[name], 1e-3 * NUMBERS[name]
    return (8.0 * (at(x + e) - at(x - e)) - (at(x + 2 * e) - at(x - 2 * e))) / (12.0 * e)


def tip(solution):
    return np.hstack((solution["link 1"].position, solution["link 1"].velocity, solution["link 1"].angular_velocity))


def angle(solution):
    return np.column_stack((solution["joint 1"].angle, solution.energy.kinetic))


def conventional(*given, **named):
    return mbd.nodes.RotationVector(*given, lie=False, **named)


def loop(values, with_parameters=False, coordinates="absolute"):
    """A closed loop: three links between two points of the ground, on a hinge, two balls and a hinge."""
    model = mbd.Model("loop")
    g, m, k, *_ = (model.parameter(n, x) if with_parameters else x for n, x in values.items())
    model.gravity = (0, 0, -g)
    points = np.array([(0, 0, 0), (0.2, 0, 0.5), (1.0, 0, 0.7), (1.2, 0, 0.1)], dtype=float)
    links = [
        model.add(mbd.RigidBody(f"link {i}", m, (0.02, 0.03, 0.025), mbd.nodes.RotationVector(0.5 * (a + b))))
        for i, (a, b) in enumerate(pairwise(points))
    ]
    hinge = model.add(mbd.joints.Revolute(model.ground, links[0], at=points[0], axis=(0, 1, 0), name="joint 0"))
    model.add(mbd.joints.Spherical(links[0], links[1], at=points[1]))
    model.add(mbd.joints.Revolute(links[1], links[2], at=points[2], axis=(0, 1, 0), name="joint 1"))
    model.add(mbd.joints.Spherical(links[2], model.ground, at=points[3]))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=k, damping=0.05))
    return model.with_coordinates(coordinates)


def assert_same_run(followed, plain):
    """A run is the same with its sensitivities, bit for bit.

    Up to round-off where user functions of parameters are plain Python, those of numbers compiled code.
    """
    if COMPILER == "own":
        assert np.array_equal(followed.q, plain.q) and np.array_equal(followed.lam, plain.lam)
        return
    assert np.abs(followed.q - plain.q).max() < ROUND_OFF * np.abs(plain.q).max()
    assert np.abs(followed.lam - plain.lam).max(initial=0.0) < ROUND_OFF * np.abs(plain.lam).max(initial=1.0) / STEP


CASES = {
    "Lie": (TIGHT, {}),
    "directors": (TIGHT, {"node": mbd.nodes.Directors}),
    "conventional rotation vectors": (TIGHT, {"node": conventional}),
    "Lie, index 3": (INDEX_3, {}),
    "quaternions, index 3": (INDEX_3, {"node": mbd.nodes.Quaternion}),
    "joint coordinates": (TIGHT, {"coordinates": "joint"}),
}


@pytest.mark.parametrize("case", CASES)
def test_sensitivities_are_derivatives_of_the_discrete_solution(case):
    method, options = CASES[case]
    names = ["length", "m", "k"] if case == "joint coordinates" else ["length"]
    result = mbd.sensitivities(arm(NUMBERS, True, **options), names, T_END, STEP, method)
    plain = mbd.simulate(arm(NUMBERS, **options), T_END, STEP, method)
    assert_same_run(result.solution, plain)
    for name in names:
        for channel in (tip, angle):
            expected = differences(name, channel, method, **options)
            tolerance = VELOCITIES if method is INDEX_3 and channel is angle else EXACT
            assert np.abs(result.of(name, channel) - expected).max() < tolerance * np.abs(expected).max()
    if plain.lam.size:
        expected = differences("length", lambda s: s.lam, method, **options)
        tolerance = MULTIPLIERS if method is INDEX_3 else EXACT_MULTIPLIERS
        assert np.abs(result.lam("length") - expected).max() < tolerance * np.abs(expected).max()


LOOPS = {
    "absolute": (TIGHT, "absolute"),
    "joint coordinates": (TIGHT, "joint"),
    "RK4": (mbd.integrators.RK4(), "absolute"),
    "RK6, joint coordinates": (mbd.integrators.RK6(), "joint"),
    "HEDOP5": (mbd.integrators.HEDOP5(fixed=True), "absolute"),
}


@pytest.mark.parametrize("case", LOOPS)
def test_closed_loops(case):
    """Positions, velocities and reactions."""
    method, coordinates = LOOPS[case]
    result = mbd.sensitivities(loop(NUMBERS, True, coordinates), ["m"], T_END, STEP, method)
    plain = mbd.simulate(loop(NUMBERS, coordinates=coordinates), T_END, STEP, method)
    assert_same_run(result.solution, plain)
    for channel in (tip, lambda s: s["joint 0"].force):
        expected = differences("m", channel, method, build=loop, coordinates=coordinates)
        assert np.abs(result.of("m", channel) - expected).max() < EXACT * np.abs(expected).max()


def slider_crank(values, with_parameters=False, node=mbd.nodes.RotationVector):
    """A crank that turns, its rod and a slider."""
    model = mbd.Model("slider-crank", gravity=(0, 0, -9.81))
    m = model.parameter("m", values["m"]) if with_parameters else values["m"]
    starts = (
        node((0.1, 0, 0), velocity=(0, 0, -0.4), angular_velocity=(0, 4.0, 0)),
        node((0.45, 0, 0), velocity=(0, 0, -0.4), angular_velocity=(0, -1.6, 0)),
        node((0.7, 0, 0)),
    )
    crank, rod, slider = (
        model.add(mbd.RigidBody(f"link {i}", m if i == 0 else 1.0, (0.02, 0.03, 0.025), start))
        for i, start in enumerate(starts)
    )
    model.add(mbd.joints.Revolute(model.ground, crank, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.joints.Spherical(crank, rod, at=(0.2, 0, 0)))
    model.add(mbd.joints.Universal(rod, slider, at=(0.7, 0, 0), axis=(0, 1, 0), axis_b=(0, 0, 1)))
    model.add(mbd.joints.Prismatic(model.ground, slider, at=(0.7, 0, 0), axis=(1, 0, 0)))
    return model


COARSE = {
    "slider-crank": (slider_crank, {}),
    "slider-crank, directors": (slider_crank, {"node": mbd.nodes.Directors}),
    "loop": (loop, {}),
    "loop, joint coordinates": (loop, {"coordinates": "joint"}),
}


@pytest.mark.parametrize("case", COARSE)
@pytest.mark.parametrize("step", [0.005, 0.015, 0.02])
def test_coarse_steps(case, step):
    """The position correction of index 2 depends on the first guess of a step; it is followed as the rest is."""
    build, options = COARSE[case]
    found = mbd.sensitivities(build(NUMBERS, True, **options), ["m"], 30 * step, step, TIGHT)

    def at(x):
        return tip(mbd.simulate(build(NUMBERS | {"m": x}, **options), 30 * step, step, TIGHT))

    m, e = NUMBERS["m"], 2e-3
    expected = (8.0 * (at(m + e) - at(m - e)) - (at(m + 2 * e) - at(m - 2 * e))) / (12.0 * e)
    assert np.abs(found.of("m", tip) - expected).max() < EXACT * np.abs(expected).max()


def test_a_body_that_spins_fast():
    """What turns a position correction within a step depends on the accelerations at its end, not on foreseen ones."""
    model = mbd.benchmarks.heavy_top().model
    top = model.bodies[0]
    top.mass = top.mass + model.parameter("part", 0.01)

    def motion(solution):
        return np.hstack((solution["top"].position, solution["top"].velocity))

    found = mbd.sensitivities(model, ["part"], 0.6, STEP, TIGHT).of("part", motion)

    def at(x):
        model.parameters["part"] = x
        return motion(mbd.simulate(model, 0.6, STEP, TIGHT))

    x, e = 0.01, 2e-3
    expected = (8.0 * (at(x + e) - at(x - e)) - (at(x + 2 * e) - at(x - 2 * e))) / (12.0 * e)
    assert np.abs(found - expected).max() < TURNING * np.abs(expected).max()


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_explicit_methods(coordinates):
    method = mbd.integrators.DOPRI5(fixed=True)
    result = mbd.sensitivities(arm(NUMBERS, True, coordinates=coordinates), ["length", "k"], T_END, STEP, method)
    for name in result:
        for channel in (tip, angle, lambda s: s["joint 0"].torque):
            expected = differences(name, channel, method, coordinates=coordinates)
            assert np.abs(result.of(name, channel) - expected).max() < EXACT * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(3))
def test_random_chains(seed):
    """Joints, axes, springs and masses by chance; one mass is the parameter, as an attribute."""
    rng = np.random.default_rng(seed)
    joints = rng.choice([mbd.joints.Revolute, mbd.joints.Spherical, mbd.joints.Universal, mbd.joints.Prismatic], 3)
    nodes = rng.choice([mbd.nodes.RotationVector, mbd.nodes.Quaternion, mbd.nodes.Directors], 3)
    numbers = rng.uniform(0.5, 1.5, (3, 8))

    def build():
        model = mbd.Model("chain", gravity=(0.5, 0, -9.81))
        last = model.ground
        for i, (joint, node, x) in enumerate(zip(joints, nodes, numbers, strict=True)):
            link = model.add(mbd.RigidBody(f"link {i}", x[0], 0.1 * x[1:4] + 0.1, node((i + 0.5, 0, 0))))
            axis = {"axis": x[4:7]} if joint in (mbd.joints.Revolute, mbd.joints.Prismatic) else {}
            if joint is mbd.joints.Universal:
                axis = {"axis": (0, x[4], x[5]), "axis_b": (0, -x[5], x[4])}
            model.add(joint(last, link, at=(i, 0, 0), **axis))
            model.add(mbd.forces.Spring(model.ground, link, stiffness=20 * x[7], length=0.5, point_a=(i, 1, 1)))
            last = link
        return model

    result = mbd.sensitivities(build(), ["link 1.mass"], T_END, STEP, TIGHT)

    def at(mass):
        model = build()
        model["link 1"].mass = mass
        solution = mbd.simulate(model, T_END, STEP, TIGHT)
        return np.hstack((solution["link 2"].position, solution["link 2"].velocity))

    m, e = numbers[1, 0], 1e-3
    expected = (8.0 * (at(m + e) - at(m - e)) - (at(m + 2 * e) - at(m - 2 * e))) / (12.0 * e)
    found = result.of("link 1.mass", lambda s: np.hstack((s["link 2"].position, s["link 2"].velocity)))
    assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


def test_attributes_and_starts():
    """Of a plain model, with respect to numbers of its elements; the speed at the start of a parameter."""
    result = mbd.sensitivities(arm(NUMBERS, True, coordinates="joint"), ["speed"], T_END, STEP, TIGHT)
    expected = differences("speed", tip, TIGHT, coordinates="joint")
    assert np.abs(result.of("speed", tip) - expected).max() < EXACT * np.abs(expected).max()
    model = arm(NUMBERS, coordinates="joint")
    result = mbd.sensitivities(model, ["link 1.mass"], T_END, STEP, TIGHT)

    def at(mass):
        twin = model.copy()
        twin["link 1"].mass = mass
        return tip(mbd.simulate(twin, T_END, STEP, TIGHT))

    m, e = 1.1, 1e-3
    expected = (8.0 * (at(m + e) - at(m - e)) - (at(m + 2 * e) - at(m - 2 * e))) / (12.0 * e)
    assert np.abs(result.of("link 1.mass", tip) - expected).max() < EXACT * np.abs(expected).max()


def oscillator():
    model = mbd.Model("oscillator")
    k = model.parameter("k", 4.0)
    mass = model.add(mbd.PointMass("mass", 1.0, position=(11.0, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, mass, stiffness=k, length=10.0))
    return model


def test_second_order():
    """x = cos(w t) with w = sqrt(k): dx/dk = -t sin(w t) / (2 w)."""

    def error(step):
        result = mbd.sensitivities(oscillator(), ["k"], 2.0, step)
        t, w = result.solution.t, 2.0
        exact = -t * np.sin(w * t) / (2.0 * w)
        return np.abs(result.q("k")[:, 0] - exact).max()

    coarse, fine = error(0.02), error(0.01)
    assert abs(np.log2(coarse / fine) - 2.0) < 0.1


def test_closed_solution():
    """x = cos(w t), w = sqrt(k/m): derivatives with respect to k and m, by a method of sixth order."""
    result = mbd.sensitivities(oscillator(), ["k", "mass.mass"], 2.0, 0.005, mbd.integrators.RK6())
    t, w = result.solution.t, 2.0
    slope = -t * np.sin(w * t)  # dx/dw
    assert np.abs(result["k"]["mass"].position[:, 0] - slope / (2.0 * w)).max() < EXACT
    assert np.abs(result["mass.mass"]["mass"].position[:, 0] + slope * w / 2.0).max() < EXACT


def test_limits_are_told():
    """A bounce is followed, and it is said that its law has a kink."""

    def bouncing():
        model = mbd.Model("bounce", gravity=(0, 0, -9.81))
        ball = model.add(mbd.RigidBody("ball", 1.0, (0.1, 0.1, 0.1)))
        slide = model.add(mbd.joints.Prismatic(model.ground, ball, axis=(0, 0, 1)))
        model.add(mbd.forces.JointLimit(slide, lower=-0.05, stiffness=500.0, damping=5.0, name="stop"))
        return model

    solution = mbd.simulate(bouncing(), 0.25, 0.005, TIGHT, sensitivities=["stop.stiffness"])
    assert "stop" in solution.sensitivities.notes[0]

    def at(stiffness):
        model = bouncing()
        model["stop"].stiffness = stiffness
        return mbd.simulate(model, 0.25, 0.005, TIGHT)["ball"].velocity[:, 2]

    expected = (at(500.01) - at(499.99)) / 0.02
    assert np.abs(expected).max() > 1e-4  # it touched the stop
    assert np.abs(solution.sensitivity("stop.stiffness")["ball"].velocity[:, 2] - expected).max() < 1e-9


def test_charts():
    """Euler angles are followed, conventional rotation vectors up to half a turn."""
    euler = arm(NUMBERS, True).with_nodes(mbd.nodes.EulerAngles(sequence="xyz", lie=False))
    lie = mbd.simulate(arm(NUMBERS, True), T_END, STEP / 4, sensitivities=["k"])
    other = mbd.simulate(euler, T_END, STEP / 4, sensitivities=["k"])
    one, two = (s.sensitivity("k")["link 1"].position for s in (lie, other))
    assert np.abs(one - two).max() < 1e-3 * np.abs(one).max()  # both of second order
    model = mbd.Model("spinning")
    model.parameter("k", 1.0)
    start = mbd.nodes.RotationVector(angular_velocity=(40, 0, 0), lie=False)
    model.add(mbd.RigidBody("body", 1.0, (0.1, 0.2, 0.3), start))
    for method in (None, mbd.integrators.RK4()):
        with pytest.raises(mbd.IncompatibleError, match="changed its chart") as error:
            mbd.simulate(model, 0.2, 0.01, method, sensitivities=["k"])
        assert error.value.solution.t[-1] == pytest.approx(0.07)  # the last step before the half turn, at 0.0785


def test_other_processes():
    solution = mbd.simulate(loop(NUMBERS, True), 0.1, 0.01, sensitivities=["k"])
    twin = pickle.loads(pickle.dumps(solution))
    assert np.array_equal(twin.sensitivity("k")["link 1"].position, solution.sensitivity("k")["link 1"].position)


def test_solution_has_sensitivities():
    """Everything that a solution tells has a derivative, read in the same way."""
    model = arm(NUMBERS, True)
    solution = mbd.simulate(model, T_END, STEP, TIGHT, sensitivities=["k", "m"], output_step=2 * STEP)
    d = solution.sensitivity("k")
    expected = differences("k", lambda s: s["joint 0"].force[::2], TIGHT)
    assert np.abs(d["joint 0"].force - expected).max() < EXACT * np.abs(expected).max()
    assert np.array_equal(d["link 1"].position, d.of(lambda s: s["link 1"].position))
    assert np.array_equal(d["link 1"].point((0.1, 0, 0)), d.of(lambda s: s["link 1"].point((0.1, 0, 0))))
    assert np.array_equal(d.channel("link 1.position"), d["link 1"].position)
    assert d.q.shape == (len(solution), solution.system.n_v) and d.lam.shape == solution.lam.shape


def test_refusals():
    model = arm(NUMBERS, True)
    with pytest.raises(mbd.IncompatibleError, match=r"no sensitivities.*GeneralizedAlpha.*differences of whole runs"):
        mbd.sensitivities(model, ["k"], 0.1, 0.01, mbd.integrators.LieEM())
    with pytest.raises(mbd.IncompatibleError, match=r"expected DOPRI5\(fixed=True\)"):
        mbd.sensitivities(model, ["k"], 0.1, 0.01, mbd.integrators.DOPRI5())
    for name, value in {
        "events": mbd.Event(lambda s: 1.0),
        "store": "somewhere",
        "record": ["link 1.position"],
    }.items():
        with pytest.raises(mbd.ModelError, match=f"{name}= is given beside sensitivities="):
            mbd.simulate(model, 0.1, 0.01, sensitivities=["k"], **{name: value})
    with pytest.raises(mbd.ModelError, match="expected a single number"):
        mbd.sensitivities(model, ["link 1.com"], 0.1, 0.01, INDEX_3)
    with pytest.raises(mbd.ModelError, match="given twice"):
        mbd.sensitivities(model, ["k", "k"], 0.1, 0.01)
    result = mbd.sensitivities(oscillator(), ["k"], 0.1, 0.01)
    with pytest.raises(mbd.ModelError, match="'m' were not computed"):
        result.q("m")
    with pytest.raises(mbd.ModelError, match="has no sensitivities"):
        mbd.simulate(model, 0.1, 0.01).sensitivity("k")
    with pytest.raises(AttributeError, match="has no 'constraint_error'"):
        _ = result["k"].constraint_error


def unbalanced(eccentricity, with_parameters=False):
    """A body whose centre of mass is beside the point at which a rod holds it."""
    model = mbd.Model("unbalanced", gravity=(0, 0, -9.81))
    x = model.parameter("eccentricity", eccentricity) if with_parameters else eccentricity
    body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.1, 0.1), com=(x, 0, 0)))
    model.add(mbd.joints.Distance(model.ground, body, point_a=(1.0, 0, 0.5), point_b=(x + 0.5, 0, 0)))
    return model


@pytest.mark.parametrize("method", [TIGHT, mbd.integrators.RK4()], ids=["implicit", "explicit"])
def test_tiny_parameters_beside_large_numbers_are_refused(method):
    """Where differences of the sum would be round-off, to the last of them; zero and larger numbers are right."""

    def at(x):
        return mbd.simulate(unbalanced(x), 0.1, 0.01, method)["body"].position

    e = 1e-3
    expected = (8.0 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12.0 * e)
    for value, tolerance in ((0.0, 1e-7), (1e-5, 3e-5)):
        solution = mbd.simulate(unbalanced(value, True), 0.1, 0.01, method, sensitivities=["eccentricity"])
        found = solution.sensitivity("eccentricity")["body"].position
        assert np.abs(found - expected).max() < tolerance * np.abs(expected).max()
    for value in (1e-9, 1e-12, -1e-15, 1e-20):
        with pytest.raises(mbd.ModelError, match="eccentricity = .*is so small against what it is added to.*Give zero"):
            mbd.simulate(unbalanced(value, True), 0.1, 0.01, method, sensitivities=["eccentricity"])


@pytest.mark.parametrize("value", [0.3, 2.5])
def test_an_angle_of_the_start(value):
    """A parameter that stands in sines is not tiny beside them, however little a sine grows far away."""

    def pendulum(angle):
        model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
        start = model.parameter("angle", angle)
        place = (np.sin(start), 0, -np.cos(start))
        body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(place)))
        model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
        return model

    def at(x):
        return mbd.simulate(pendulum(x), 0.1, 0.01, TIGHT)["body"].position

    e = 1e-3
    expected = (8.0 * (at(value + e) - at(value - e)) - (at(value + 2 * e) - at(value - 2 * e))) / (12.0 * e)
    solution = mbd.simulate(pendulum(value), 0.1, 0.01, TIGHT, sensitivities=["angle"])
    found = solution.sensitivity("angle")["body"].position
    assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


def test_tables_have_units_of_derivatives():
    """A slope of an angle with respect to a length is no angle."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    length = model.parameter("length", 1.0)
    bob = model.add(mbd.RigidBody("bob", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector((length, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    slope = mbd.simulate(model, 0.1, 0.01, sensitivities=["length"]).sensitivity("length")
    frame, dataset = slope.frame(["hinge.angle", "bob.velocity"]), slope.dataset(["hinge.angle", "bob.velocity"])
    assert frame.attrs["units"]["hinge.angle"] == dataset["hinge.angle"].attrs["units"] == "rad per length"
    assert dataset["bob.velocity"].attrs["units"] == "m/s per length" and dataset["t"].attrs["units"] == "s"
    assert np.array_equal(frame["hinge.angle"], slope["hinge"].angle)
    assert np.array_equal(dataset["bob.velocity"], slope["bob"].velocity)


def test_slopes_where_signs_of_quaternions_change():
    """The runs beside one that begins at half a turn have the sign of that one."""
    model = mbd.Model("half a turn")
    angle = model.parameter("angle", np.pi)
    rotation = mbd.calculated(mbd.rotation, (0, 0, angle))
    model.add(mbd.RigidBody("body", 1.0, (1, 1, 1), mbd.nodes.RotationVector((0, 0, 0), rotation)))
    solution = mbd.simulate(model, 0.1, 0.01, sensitivities=["angle"])
    slope = solution.sensitivity("angle")["body"].quaternion
    sign = np.sign(solution["body"].quaternion[0, 3])
    assert slope[-1] == pytest.approx(sign * np.array((-0.5, 0, 0, 0)), abs=1e-6)  # e = (cos a/2, 0, 0, sin a/2)


@pytest.mark.parametrize("angle", [np.pi, 3.1414, -3.14])
@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(tolerance=1e-13), mbd.integrators.RK4()])
@pytest.mark.parametrize(
    "node",
    [
        mbd.nodes.RotationVector, mbd.nodes.Quaternion, mbd.nodes.Quaternion(lie=True), mbd.nodes.Directors,
        mbd.nodes.EulerAngles, mbd.nodes.EulerAngles(sequence="zyz", lie=True), None,
    ],
)  # fmt: skip
def test_starts_at_half_a_turn(node, method, angle):
    """There other numbers store nearly the same rotation, whose differences are no slopes."""

    def hanging(x):
        model = mbd.Model("hanging upside down", gravity=(0, 0, -9.81))
        rotation = mbd.calculated(mbd.rotation, (model.parameter("angle", x), 0, 0))
        start = mbd.nodes.RotationVector((0, 0, 0), rotation, angular_velocity=(0.5, 1.0, 2.0))
        body = model.add(mbd.RigidBody("body", 1.0, (1.0, 1.2, 1.5), start))
        model.add(mbd.forces.Spring(model.ground, body, (0.5, 0, 1), (0.3, 0.2, 0.1), stiffness=50.0, length=0.5))
        return model.with_coordinates("joint") if node is None else model.with_nodes(node)

    def read(solution):
        body = solution["body"]
        return np.hstack((body.position[-1], body.rotation[-1].ravel(), body.angular_velocity[-1]))

    run = mbd.simulate(hanging(angle), 0.2, 0.01, method, sensitivities=["angle"])
    plus, minus = (read(mbd.simulate(hanging(angle + e), 0.2, 0.01, method)) for e in (1e-5, -1e-5))
    assert run.sensitivity("angle").of(read) == pytest.approx((plus - minus) / 2e-5, abs=2e-7)
