"""User functions in simulations: they act with the values of the run, and their errors stop it."""

import contextlib
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd.compiled.functions import code as user_code
from mbd.compiled.functions.call_styles import is_indefinite
from mbd.compiled.settings import PUBLIC

HERE = globals()
table = np.array([1.0, 2.0, 3.0])
GAIN = 1.0


def moved(model, body, **options):
    return float(mbd.simulate(model, 0.1, 0.01, progress=False, **options)[body].position[-1, 0])


def one_body(add):
    model = mbd.Model("m")
    body = model.add(mbd.PointMass("b", 1.0, (1.0, 0, 0)))
    add(model, body)
    return model, "b"


def generalized(gain):
    model = mbd.Model("m")
    model.add(mbd.Generalized("q", [1.0], mass=lambda q: [[1.0 + 0.0 * q[0]]], potential=gain))
    return model, "q"


KINDS = {
    "user force": lambda m, b: m.add(mbd.forces.UserForce(b, lambda t, f, v: ((GAIN, 0.0, 0.0, 0.0, 0.0, 0.0),))),
    "force in time": lambda m, b: m.add(mbd.forces.Force(b, lambda t: (GAIN, 0.0, 0.0))),
    "force on frames": lambda m, b: m.add(mbd.forces.Force(b, lambda t, f, v: (GAIN, 0.0 * f[0, 0], 0.0))),
    "potential": lambda m, b: m.add(mbd.forces.UserPotential(b, lambda f: -GAIN * f[0, 0])),
    "law": lambda m, b: m.add(mbd.forces.NonlinearSpring(m.ground, b, function=lambda x, v: -GAIN)),
    "driver": lambda m, b: m.add(
        mbd.joints.PositionDriver(m.ground, b, axis=(1, 0, 0), value=lambda t: 0.5 * GAIN * t * t)
    ),
    "constraint": lambda m, b: m.add(mbd.joints.UserConstraint(b, lambda f, t: f[0, 0] - 1.0 - 0.5 * GAIN * t * t)),
}
ANSWER = 1e-4  # of the motion by first-order effects of the start


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_function_acts_with_the_value_of_the_run(kind, monkeypatch):
    model, body = one_body(KINDS[kind])
    monkeypatch.setitem(HERE, "GAIN", 1.0)
    assert moved(model, body) == pytest.approx(1.005, abs=ANSWER)
    made = user_code.STATISTICS["compiled"]
    monkeypatch.setitem(HERE, "GAIN", 5.0)
    assert moved(model, body) == pytest.approx(1.025, abs=ANSWER)
    assert user_code.STATISTICS["compiled"] == made or PUBLIC  # where values are constants of the code


def test_generalized_coordinates_act_with_the_value_of_the_run(monkeypatch):
    model, body = generalized(lambda q: -GAIN * q[0])
    for gain in (1.0, 5.0):
        monkeypatch.setitem(HERE, "GAIN", gain)
        end = mbd.simulate(model, 0.1, 0.01, progress=False).q[-1, 0]
        assert end == pytest.approx(1.0 + 0.005 * gain, abs=ANSWER)


def fails_late(t, f, v):
    if t > 0.055:
        raise ValueError("the pump is empty")
    return ((GAIN, 0.0, 0.0, 0.0, 0.0, 0.0),)


def grows(q):
    return math.sqrt(1.06 - q[0]) - 20.0 * q[0]


PLAIN = []
FAILURES = {
    "raised": (
        lambda m, b: m.add(mbd.forces.UserForce(b, fails_late, name="load")),
        r"force 'load': its function raised ValueError: the pump is empty at t = 0.06 \(test_user_functions.py, line",
    ),
    "bounds": (
        lambda m, b: m.add(mbd.forces.Force(b, lambda t: (table[int(t / 0.02)], 0.0, 0.0), name="load")),
        r"force 'load': its function raised IndexError: index 3 .* at t = 0.06 \(test_user_functions.py, line",
    ),
    "not a number": (
        lambda m, b: m.add(mbd.forces.Force(b, lambda t: (np.sqrt(0.055 - t), 0.0, 0.0), name="load")),
        r"force 'load': its function returned NaN at t = 0.06",
    ),
    "constraint": (
        lambda m, b: m.add(mbd.joints.UserConstraint(b, lambda f, t: f[0, 2] - np.log(0.0553 - t) + np.log(0.0553))),
        r"constraint.*: its function returned NaN at t = 0.06",
    ),
    "plain": (
        lambda m, b: m.add(
            mbd.forces.UserForce(b, lambda t, f, v: PLAIN.append(t) or fails_late(t, f, v), name="load")
        ),
        r"force 'load': its function raised ValueError: the pump is empty at t = 0.06 \(test_user_functions.py, line",
    ),
}


@pytest.mark.filterwarnings("ignore:the function of")
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()])
def test_errors_in_functions_stop_the_run_and_keep_it(failure, method):
    build, message = FAILURES[failure]
    model, _ = one_body(build)
    with pytest.raises(mbd.UserFunctionError, match=message) as caught:
        mbd.simulate(model, 0.1, 0.01, method, progress=False)
    solution = caught.value.solution
    assert 0.04 < solution.t[-1] < 0.055 and not solution.complete
    assert np.isfinite(solution.q).all() and caught.value.time == pytest.approx(0.06, abs=0.006)


def turns_negative(q):
    return np.array([[2.0, 0.3], [0.3, 1.2 - q[0]]])


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()])
def test_a_mass_that_turns_negative_stops_the_run_there(method, plain, recwarn):
    """Nothing in the motion tells of it: q[1] stays at rest, and the second eigenvalue vanishes at q[0] = 1.155."""
    function = (lambda q: PLAIN.append(0) or turns_negative(q)) if plain else turns_negative
    model = mbd.Model("m")
    model.add(mbd.Generalized("slider", [0.5, 0.0], [2.0, 0.0], mass=function))
    message = r"mass of 'slider': its function returned a matrix with the negative eigenvalue -0\.0.* at t = 0\.33"
    with pytest.raises(mbd.UserFunctionError, match=message) as caught:
        mbd.simulate(model, 1.0, 0.01, method, progress=False)
    assert caught.value.solution.t[-1] == pytest.approx(0.32, abs=ANSWER)
    assert not caught.value.solution.complete


def test_signs_of_eigenvalues_are_those_of_the_pivots():
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 6):
        for _ in range(20):
            vectors = np.linalg.qr(rng.normal(size=(n, n)))[0]
            units = 10.0 ** rng.uniform(-4, 4, n)  # of the coordinates
            values = rng.uniform(0.1, 1.0, n)
            for lowest, expected in ((values[0], False), (0.0, False), (-1e-3, True)):
                values[0] = lowest
                matrix = units[:, None] * (vectors * values) @ vectors.T * units
                assert is_indefinite(matrix) == expected
    assert is_indefinite(np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert not is_indefinite(np.zeros((3, 3)))


def told_to_change_arguments():
    """Arguments are read-only in lifted code, and copies where numba's public interface compiles."""
    if PUBLIC:
        return contextlib.nullcontext()
    return pytest.warns(UserWarning, match="it changes one of its arguments")


def moves_origin(f):
    f[0, :3] -= table[:3]
    return 2.0 * np.sum(f[0, :3] ** 2)


def test_functions_that_change_their_arguments_change_nothing_else():
    model, _ = one_body(lambda m, b: m.add(mbd.forces.UserPotential(b, moves_origin)))
    with told_to_change_arguments():
        system = mbd.assemble(model)
    q, v = system.initial_state()
    np.testing.assert_allclose(system.residual(q, v, 0.0 * v), 4.0 * (q - table[:3]), atol=1e-9)


def pulls_to_moved_origin(t, f, v):
    f[0, 0] -= 0.25
    out = np.zeros((1, 6))
    out[0, 0] = -7.0 * f[0, 0]
    return out


def test_the_matrix_of_a_force_that_changes_its_arguments_is_right():
    """The second column would see what the evaluation for the first one has left behind."""
    model, _ = one_body(lambda m, b: m.add(mbd.forces.UserForce(b, pulls_to_moved_origin)))
    with told_to_change_arguments():
        system = mbd.assemble(model)
    q, v = system.initial_state()
    expected = np.zeros((len(v), len(v)))
    expected[0, 0] = 7.0
    np.testing.assert_allclose(system.stiffness(q, v, 0.0 * v).toarray(), expected, atol=1e-8)


@pytest.mark.parametrize("function", [lambda t, f, v: v, lambda t, f, v: (v[0],)])
def test_what_a_function_hands_back_has_derivatives(function):
    model = mbd.Model("m")
    body = model.add(mbd.RigidBody("b", 1.0, (1.0, 1.0, 1.0), mbd.nodes.RotationVector(angular_velocity=(0.3, 0.7, 0))))
    model.add(mbd.forces.UserForce(body, function))
    system = mbd.assemble(model)
    q, v = system.initial_state()
    np.testing.assert_allclose(system.damping(q, v).toarray()[3:, 3:], -np.eye(3), atol=1e-9)


def test_trial_steps_may_fail():
    """Steps that are too long lead out of the domain of a law and are repeated; the run goes on."""
    model = mbd.Model("m")
    body = model.add(mbd.PointMass("b", 1.0, (1.0, 0, 0)))
    model.add(mbd.forces.NonlinearSpring(model.ground, body, function=lambda x, v: -20.0 / math.sqrt(x - 0.9)))
    method = mbd.integrators.DOPRI5(rtol=1e-8, atol=1e-8)
    solution = mbd.simulate(model, 0.2, 0.2, method, progress=False)
    assert solution.complete


def test_other_functions_of_a_user_that_fail_keep_the_run():
    class Stumbling(mbd.integrators.PythonIntegrator):
        order = 1

        def step(self, system, t, q, v, h):
            if t > 0.045:
                raise RuntimeError("no more")
            return system.update(q, h * v), v

    model, _ = one_body(lambda m, b: None)
    with pytest.raises(
        mbd.UserFunctionError, match="Stumbling: its step raised RuntimeError: no more at t = 0.05"
    ) as one:
        mbd.simulate(model, 0.1, 0.01, Stumbling(), progress=False)
    event = mbd.Event(lambda s: [1.0 / float(t < 0.05) for t in s.t.tolist()], name="hit")
    with pytest.raises(mbd.UserFunctionError, match="event 'hit': its function raised ZeroDivisionError") as other:
        mbd.simulate(model, 0.1, 0.01, mbd.integrators.RK4(), events=event, progress=False)
    assert one.value.solution.t[-1] == pytest.approx(0.05) and len(other.value.solution.t) > 1


def test_systems_read_values_at_every_evaluation(monkeypatch):
    model, _ = one_body(KINDS["user force"])
    system = mbd.assemble(model)
    q, v = system.initial_state()
    for gain in (1.0, 5.0, 3):  # an int is another kind of number
        monkeypatch.setitem(HERE, "GAIN", gain)
        assert system.accelerations(q, v)[0][0] == gain


def test_every_integrator_tells_of_a_function_that_fails():
    program = [sys.executable, "-m", "tests.elements.failing_functions"]
    root = Path(__file__).parents[2]
    environment = {**os.environ, "MBD_JIT": "0", "PYTHONPATH": str(root)}
    done = subprocess.run(program, env=environment, cwd=root, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) > 60 and [line for line in lines if not line.endswith(" told")] == []
