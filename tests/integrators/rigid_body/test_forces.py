"""Bodies under forces: Strang and Nystrom splittings, Bobenko and Suris' top, held bodies, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    RK6,
    BobenkoSuris,
    Invariant,
    JacobiExact,
    MoserVeselov,
    NystromSplitting,
    RigidMidpoint,
    RotationSplitting,
    Strang,
    SymmetricSplitting,
)
from mbd.rotation import from_rotation_vector
from mbd.testing import observed_order
from tests.integrators.rigid_body.models import NODES, body, coupled, frames, heavy_top, top_error

AXES = from_rotation_vector(np.array((0.3, 0.5, -0.4)))
ROTATION = np.array((
    (-0.5810804464884, -0.6224052939419, -0.5243635807167),
    (-0.8097468782622, 0.3775686562248, 0.4491680119745),
    (-0.0815812959779, 0.6856045215062, -0.7233885071224),
))  # fmt: skip
MOMENTUM = np.array((0.3084586932636904, -1.4888952905244064, -1.134403792181177))  # at t = 4, by DOP853
EXACT = 1e-12


def order(model: mbd.Model, method: mbd.integrators.Integrator, exact: np.ndarray, t: float) -> float:
    steps = (0.1, 0.05, 0.025)
    errors = [np.abs(frames(mbd.simulate(model, t, h, method)) - exact).max() for h in steps]
    return observed_order(errors, steps)


def loaded() -> mbd.Model:
    """Coupled bodies with forces that change in time and follow the body."""
    model = coupled()
    model.add(mbd.forces.Force(model["a"], lambda t: (np.sin(3 * t), 0.2, t), point=(0.1, 0.2, 0.3)))
    model.add(mbd.forces.Torque(model["b"], (0.1, 0.5, -0.3), frame="body"))
    model.add(mbd.forces.Force(model["c"], (0.1, 0.5, -0.3), frame="body", point=(0.1, 1.0, 2.0)))
    model.add(mbd.forces.Torque(model["d"], (0.1, 0.5, -0.3)))
    return model


@pytest.mark.parametrize("build", (coupled, loaded))
def test_order_with_coupled_bodies(build, tolerance):
    """Springs between free, pinned and jointed bodies with unequal moments of inertia; loads in time and body axes."""
    model = build()
    reference = mbd.simulate(model.with_nodes(mbd.nodes.RotationVector), 2.0, 0.004, RK6())
    exact = frames(reference)
    for method in (Strang(JacobiExact()), Strang(RotationSplitting()), Strang(RigidMidpoint())):
        assert order(model, method, exact, 2.0) == pytest.approx(2.0, abs=tolerance.order)
    for method in (NystromSplitting(), NystromSplitting(MoserVeselov(order=4))):
        assert order(model, method, exact, 2.0) == pytest.approx(4.0, abs=tolerance.order)
    solution = mbd.simulate(model, 2.0, 0.0125, NystromSplitting())
    np.testing.assert_allclose(solution["pivot"].force[-1], reference["pivot"].force[-1], atol=1e-7)


@pytest.mark.parametrize("how", ("pinned", "centre", "point"))
@pytest.mark.parametrize("name", NODES)
def test_heavy_top_in_every_node_type(name, how, tolerance):
    """The same motion whether it is pinned or jointed, whatever its reference point, axes and coordinates are."""
    model = heavy_top(how, AXES).with_nodes(NODES[name])
    solution = mbd.simulate(model, 4.0, 0.05, NystromSplitting())
    assert top_error(solution, ROTATION, MOMENTUM, AXES) == pytest.approx(5.2508e-8, rel=1e-3)
    assert solution.constraint_error.position.max() < EXACT
    assert solution.constraint_error.velocity.max() < EXACT
    if how != "pinned":  # Newton's law for the centre of mass gives the reaction
        view, sign = solution["top"], 1.0 if how == "centre" else -1.0
        acceleration = view.point_acceleration(view.body.com)
        np.testing.assert_allclose(
            0.1 * acceleration - 0.1 * model.gravity, sign * solution["pivot"].force, atol=EXACT, rtol=0
        )


def test_order_four_needs_the_whole_force_gradient(tolerance):
    """Unequal moments of inertia: the third component of the gradient, missing in print, matters."""
    for method in (NystromSplitting(), NystromSplitting(MoserVeselov(order=8))):
        steps = (0.1, 0.05, 0.025)
        errors = [top_error(mbd.simulate(heavy_top(), 4.0, h, method), ROTATION, MOMENTUM, np.eye(3)) for h in steps]
        assert observed_order(errors, steps) == pytest.approx(4.0, abs=tolerance.order)
        assert errors[-1] < 5e-9


def test_momenta_of_an_isolated_system():
    model = coupled(held=False)
    for method in (Strang(SymmetricSplitting()), NystromSplitting()):
        solution = mbd.simulate(model, 50.0, 0.05, method)
        declared = method.preserves(solution.system)
        assert {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} <= declared
        assert np.ptp(solution.momentum.linear, axis=0).max() < EXACT
        assert np.ptp(solution.momentum.angular, axis=0).max() < EXACT
        late = solution.energy.total[-200:]
        assert np.abs(late - solution.energy.total[0]).max() < 0.02  # symplectic: no drift
    assert not {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM} & Strang().preserves(mbd.assemble(coupled()))


def test_projectile_is_exact_under_strang():
    model = body((0.5, 0.7, 0.9), (0.3, 0.6, -0.8), velocity=(1.0, 2.0, 3.0))
    model.gravity = (0.0, 0.0, -9.81)
    solution = mbd.simulate(model, 2.0, 0.1, Strang(MoserVeselov(order=8)))
    expected = solution.t[:, None] * (1.0, 2.0, 3.0) + 0.5 * solution.t[:, None] ** 2 * (0.0, 0.0, -9.81)
    np.testing.assert_allclose(solution["body"].position, expected, atol=EXACT, rtol=0)


def test_restart_with_forces_is_bit_identical():
    for method in (Strang(), NystromSplitting()):
        whole = mbd.simulate(loaded(), 2.0, 0.05, method)
        half = mbd.simulate(loaded(), 1.0, 0.05, method)
        rest = mbd.simulate(loaded(), 2.0, 0.05, method, start=half)
        np.testing.assert_array_equal(rest.q, whole.q[20:])
        np.testing.assert_array_equal(rest.lam, whole.lam[20:])


# --- refusals -----------------------------------------------------------------------------------------------------


def refused(model: mbd.Model, method: mbd.integrators.Integrator, *parts: str) -> None:
    with pytest.raises(mbd.IncompatibleError) as error:
        mbd.simulate(model, 1.0, 0.1, method)
    for part in parts:
        assert part in str(error.value)


def test_refusals_name_the_element_and_the_way_out():
    model = coupled()
    refused(model, MoserVeselov(), "'spring 1'", "Strang(method)")
    refused(heavy_top(), JacobiExact(), "gravity turns body 'top'", "NystromSplitting()")
    refused(model, BobenkoSuris(), "body 'a' has the principal moments", "SymmetricSplitting")
    model.add(mbd.joints.Revolute(model["a"], model["b"], at=(1, 0, 0), axis=(0, 0, 1), name="hinge"))
    for method in (Strang(), NystromSplitting(), MoserVeselov()):
        refused(model, method, "joint 'hinge' (Revolute) connects 'a' and 'b'", "GeneralizedAlpha")
    double = heavy_top("centre")
    double.add(mbd.joints.Spherical(double.ground, double["top"], at=(0, 0, 1), name="second"))
    refused(double, Strang(), "'second'")
    between = coupled(held=False)
    between.add(mbd.joints.Spherical(between["a"], between["b"], at=(1, 0, 0), name="ball"))
    refused(between, Strang(), "joint 'ball' (Spherical) connects 'a' and 'b'")
    other = mbd.Model()
    other.add(mbd.Generalized("oscillator", [1.0]))
    refused(other, JacobiExact(), "body 'oscillator' has generalized coordinates")
    rod = mbd.Model()
    rod.add(mbd.RigidBody("rod", 1.0, (1.0, 1.0, 0.0)))
    refused(rod, JacobiExact(), "body 'rod' has no moment of inertia")


def test_arguments():
    with pytest.raises(mbd.ModelError, match="call the class"):
        Strang(JacobiExact)
    with pytest.raises(mbd.ModelError, match="expected order 4 at least"):
        NystromSplitting(SymmetricSplitting())


def test_body_held_at_its_centre_of_mass_turns_freely():
    model = mbd.Model("gimbal", gravity=(0, 0, -9.81))
    node = mbd.nodes.Quaternion(pinned=True, angular_velocity=(0.3, 0.6, -0.8))
    model.add(mbd.RigidBody("rotor", 1.0, (0.5, 0.7, 0.9), node))
    exact = mbd.simulate(model, 5.0, 5.0, JacobiExact())
    found = mbd.simulate(model, 5.0, 0.05, MoserVeselov(order=8))
    np.testing.assert_allclose(frames(found), frames(exact), atol=1e-11, rtol=0)


def test_saved_runs_keep_the_method_inside_the_method(tmp_path):
    method = NystromSplitting(MoserVeselov(order=6))
    half = mbd.simulate(coupled(), 0.5, 0.05, method)
    half.save(tmp_path / "half.npz")
    loaded = mbd.load(tmp_path / "half.npz")
    assert loaded.integrator == method
    rest = mbd.simulate(coupled(), 1.0, 0.05, method, start=loaded)
    np.testing.assert_array_equal(rest.q[-1], mbd.simulate(coupled(), 1.0, 0.05, method).q[-1])
    with pytest.raises(mbd.ModelError, match="same integrator"):
        mbd.simulate(coupled(), 1.0, 0.05, NystromSplitting(), start=loaded)
