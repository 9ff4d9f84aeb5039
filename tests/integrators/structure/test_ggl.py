"""GGL integrators on a general assembly: invariants, order, agreement, restart, refusals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd.integrators import GGLEM, GGLEuler, GGLMidpoint, GGLTrapezoidal, Invariant
from tests.integrators.structure.models import chain

FIRST_ORDER = 10.0  # rad/s: the error of an angle by the step
METHODS = (GGLEuler(), GGLMidpoint(), GGLTrapezoidal(), GGLTrapezoidal(theta=0.5), GGLEM())


def label(x):
    return f"{x.name} {getattr(x, 'theta', '')}"


def spread(x: np.ndarray) -> float:
    return float(np.ptp(x, axis=0).max())


@pytest.fixture(params=METHODS, ids=label)
def method(request):
    return request.param


def test_free_chain_keeps_momenta(method):
    solution = mbd.simulate(chain(mbd.nodes.Directors, free=True), 0.5, 0.01, method)
    assert spread(solution.momentum.linear) < 1e-10
    assert spread(solution.momentum.angular) < 1e-10
    kept = method.preserves(solution.system)
    assert (Invariant.ENERGY in kept) == (spread(solution.energy.total) < 1e-9)
    assert (Invariant.POSITION_CONSTRAINTS in kept) == (solution.constraint_error.position.max() < 1e-9)
    assert (Invariant.VELOCITY_CONSTRAINTS in kept) == (solution.constraint_error.velocity.max() < 1e-9)


def test_order_with_damping_and_loads(method, tolerance):
    model = chain(mbd.nodes.Directors, damping=0.3, loads=True)

    def end(step):
        solution = mbd.simulate(model, 0.2, step, method)
        return np.concatenate([solution[b].position[-1] for b in "abcdp"])

    coarse, middle, fine = (end(step) for step in (0.01, 0.005, 0.0025))
    order = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    expected = 2.0 if getattr(method, "theta", 1.0) == 0.5 or isinstance(method, GGLEM) else 1.0
    assert order == pytest.approx(expected, abs=tolerance.order)


def test_converges_to_the_common_solution(method):
    reference = mbd.simulate(chain(damping=0.3, loads=True), 0.2, 1e-3, mbd.integrators.LieEM())
    own = mbd.simulate(chain(mbd.nodes.Directors, damping=0.3, loads=True), 0.2, 1e-3, method)
    for body in "abcdp":
        assert own[body].position[-1] == pytest.approx(reference[body].position[-1], abs=2e-3)


def test_restart_continues_bit_for_bit(method):
    model = chain(mbd.nodes.Directors, loads=True)
    whole = mbd.simulate(model, 0.2, 0.01, method)
    rest = mbd.simulate(model, 0.2, 0.01, method, start=mbd.simulate(model, 0.1, 0.01, method))
    assert np.array_equal(whole.q[-1], rest.q[-1])


def test_refusals():
    model = mbd.Model()
    model.add(mbd.RigidBody("plate", mass=1.0, inertia=(1, 1, 2), node=mbd.nodes.Directors()))
    with pytest.raises(mbd.IncompatibleError, match="body 'plate' in directors is singular"):
        mbd.simulate(model, 0.1, 0.01, GGLEuler())
    with pytest.raises(mbd.ModelError, match="theta is 1.5"):
        GGLMidpoint(theta=1.5)
    with pytest.raises(mbd.ModelError, match="vartheta is 0.0"):
        GGLTrapezoidal(vartheta=0.0)
    for bad in (float("nan"), "half"):
        with pytest.raises(mbd.ModelError, match="theta = "):
            GGLTrapezoidal(theta=bad)


@pytest.mark.parametrize("theta", (0.0, 0.5, 1.0))
def test_motion_of_the_trapezoidal_method_does_not_depend_on_vartheta(theta):
    """All of (0, 1/2] and 1 are admitted by [Kinon et al. 2023, (82)]; momenta differ by the order of the method."""
    model = chain(mbd.nodes.Directors)
    expected = mbd.simulate(model, 0.2, 0.01, GGLTrapezoidal(theta=theta, vartheta=0.5))
    for vartheta in (0.1, 1.0):
        found = mbd.simulate(model, 0.2, 0.01, GGLTrapezoidal(theta=theta, vartheta=vartheta))
        np.testing.assert_allclose(found.q, expected.q, atol=1e-8, rtol=0)
        assert found.constraint_error.position.max() < 1e-9
    exact = mbd.simulate(model, 0.2, 0.01, mbd.integrators.RK4())
    deviations = []
    for step in (0.01, 0.005):
        found = mbd.simulate(model, 0.2, step, GGLTrapezoidal(theta=theta, vartheta=1.0))
        deviations.append(np.abs(found.v[-1] - exact.v[-1]).max())
    assert deviations[0] / deviations[1] == pytest.approx(2.0, abs=0.25)


@pytest.mark.parametrize(
    ("method", "what"),
    [
        (GGLMidpoint(theta=0.4), r"position constraints grow by a factor of 1\.5 .* take theta=0\.5"),
        (GGLMidpoint(theta=0.6), r"multipliers grow by a factor of 1\.5 .* take theta=0\.5"),
        (GGLTrapezoidal(vartheta=0.75), r"multipliers grow by a factor of 3 .* take vartheta=1"),
    ],
    ids=repr,
)
def test_unstable_parameters_say_so_once(method, what):
    """And they do grow: one step after the other, by the factor of the message."""
    model = chain(mbd.nodes.Directors)
    with pytest.warns(mbd.ModelWarning, match=what) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.AccuracyWarning)  # of what came of it
        solution = mbd.simulate(model, 0.12, 0.01, method)
    assert len(caught) == 1
    own = solution.scheme["lambda"][1:]
    error = solution.constraint_error.position if "position" in what else np.abs(np.diff(own, axis=0)).max(axis=1)
    assert error[-1] > 5.0 * error[len(error) // 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = mbd.Model()
        free.add(mbd.PointMass("point", 1.0))
        mbd.simulate(free, 0.02, 0.01, method)


@pytest.mark.parametrize("method", [GGLEM(), GGLMidpoint()], ids=lambda method: method.name)
def test_a_force_that_is_not_a_number_stops_the_run(method):
    """On points there are no rows of directions, and a second, free point is the last one in every table."""
    model = mbd.Model("points")
    a, b = (model.add(mbd.PointMass(name, 1.0, position=(i, 0, 0))) for i, name in enumerate("ab"))
    model.add(mbd.joints.Distance(model.ground, a, point_a=(0, 0, 1), point_b=(0, 0, 0)))
    model.add(mbd.forces.Force(a, lambda t: (0.0, 1.0, 0.0) if t < 0.055 else (np.nan, 0.0, 0.0)))
    model.add(mbd.forces.Force(b, (0.0, 1.0, 0.0)))
    with pytest.raises(mbd.UserFunctionError, match="returned NaN at t = 0.055") as caught:
        mbd.simulate(model, 0.1, 0.01, method)
    assert caught.value.solution.t[-1] == pytest.approx(0.05)
    assert np.isfinite(caught.value.solution.q).all()


def furuta(rate):
    """An arm about a vertical axis that carries a thin pole, which has hardly any inertia about its own axis."""
    model = mbd.Model("Furuta pendulum", gravity=(0, 0, -9.81))
    nodes = [mbd.nodes.RotationVector(position=x) for x in ((0.1, 0, 0), (0.2, 0, 0.15))]
    arm = model.add(mbd.RigidBody("arm", 0.3, (1e-4, 2e-3, 2e-3), nodes[0]))
    pole = model.add(mbd.RigidBody("pole", 0.1, (1e-3, 1e-3, 1e-5), nodes[1]))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1), name="arm hinge"))
    model.add(mbd.joints.Revolute(arm, pole, at=(0.2, 0, 0), axis=(1, 0, 0), name="pole hinge"))
    return model.with_joint_values({"pole hinge": 1.0}, rates={"arm hinge": rate})


@pytest.mark.parametrize("rate", [0.0, 1.0, 3.0])
def test_a_root_that_does_not_belong_to_small_steps_is_no_solution(rate):
    """Where M + H[gamma'] is no longer definite, Newton's method finds multipliers gamma that are not small."""
    model = furuta(rate)
    reference = mbd.simulate(model.with_coordinates("joint"), 1.0, 1e-3, mbd.integrators.RK4())
    expected = reference["pole hinge"].angle[-1]
    for step in (0.01, 0.005, 0.004):
        with pytest.raises(mbd.ConvergenceError, match="another solution|did not converge"):
            mbd.simulate(model, 1.0, step, GGLEuler())
    for step in (0.0025, 0.00125):
        given = mbd.simulate(model, 1.0, step, GGLEuler())["pole hinge"].angle[-1]
        assert given == pytest.approx(expected, abs=FIRST_ORDER * step)
