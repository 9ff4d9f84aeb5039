"""Forward sensitivities: derivatives of the discrete solution, against differences of runs and a closed solution."""

from __future__ import annotations

import numpy as np
import pytest

import mbd

EXACT = 1e-8  # of the largest derivative: what differences of fourth order and their round-off leave
VELOCITIES = 1e-7  # in index 3: round-off of the constraints and of differences, divided by the step
EXACT_MULTIPLIERS = 5e-8  # in index 2: round-off of velocity constraints and of differences, divided by the step
MULTIPLIERS = 1e-4  # in index 3: round-off of the constraints, divided by the square of the step
TIGHT = mbd.integrators.GeneralizedAlpha(tolerance=1e-13)
INDEX_3 = mbd.integrators.GeneralizedAlpha(stabilized=False, tolerance=1e-13)
NUMBERS = {"g": 9.81, "m": 1.0, "k": 5.0, "length": 0.4, "speed": 0.7}
T_END, STEP = 0.3, 0.01


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


def differences(name, channel, method, **options):
    def at(x):
        return channel(mbd.simulate(arm(NUMBERS | {name: x}, **options), T_END, STEP, method))

    x, e = NUMBERS[name], 1e-3 * NUMBERS[name]
    return (8.0 * (at(x + e) - at(x - e)) - (at(x + 2 * e) - at(x - 2 * e))) / (12.0 * e)


def tip(solution):
    return np.hstack((solution["link 1"].position, solution["link 1"].velocity, solution["link 1"].angular_velocity))


def angle(solution):
    return np.column_stack((solution["joint 1"].angle, solution.energy.kinetic))


def conventional(*given, **named):
    return mbd.nodes.RotationVector(*given, lie=False, **named)


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
    assert np.array_equal(result.solution.q, plain.q) and np.array_equal(result.solution.lam, plain.lam)
    for name in names:
        for channel in (tip, angle):
            expected = differences(name, channel, method, **options)
            tolerance = VELOCITIES if method is INDEX_3 and channel is angle else EXACT
            assert np.abs(result.of(name, channel) - expected).max() < tolerance * np.abs(expected).max()
    if plain.lam.size:
        expected = differences("length", lambda s: s.lam, method, **options)
        tolerance = MULTIPLIERS if method is INDEX_3 else EXACT_MULTIPLIERS
        assert np.abs(result.lam("length") - expected).max() < tolerance * np.abs(expected).max()


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
    for method in (mbd.integrators.DOPRI5(), mbd.integrators.LieEM()):
        with pytest.raises(
            mbd.IncompatibleError, match=r"no sensitivities.*GeneralizedAlpha.*differences of whole runs"
        ):
            mbd.sensitivities(model, ["k"], 0.1, 0.01, method)
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
