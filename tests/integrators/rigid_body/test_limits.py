"""Needles and discs, sizes near the ends of double precision, and steps in which bodies turn too far."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    BobenkoSuris,
    JacobiExact,
    MoserVeselov,
    NystromSplitting,
    RigidMidpoint,
    RotationSplitting,
    Strang,
    SymmetricSplitting,
)
from mbd.integrators.rigid_body.jacobi import free_rotation
from mbd.rotation import from_quaternion
from tests.integrators.rigid_body.models import BOOK, body, heavy_top

ATTITUDE = 1e-13
SCRATCH = np.zeros(32)

# moments, angular velocity, time -> angular velocity, quaternion: Taylor series of order 50 with 40 digits
REFERENCE = [
    ((1e-06, 1.0, 1.0), (1.0, 0.5, -0.3), 20.0,
     (1.0, -0.0698309663527463995, -0.578898640642938108),
     (0.754727822077746702, 0.489324342224953508, -0.192098951277305444, 0.392486427288966424)),
    ((1e-06, 0.9999995, 1.0), (1.5, 0.2, 0.8), 20.0,
     (1.43253992866503702, -0.660044322575264423, -0.494309506174792273),
     (0.128018100444855663, -0.360177000523171133, 0.769638613499657021, -0.511410108291719226)),
    ((1e-06, 1.0, 1.000001), (0.25, 0.875, 0.5), 0.75,
     (-0.054814328624212431, 0.90836137598555528, 0.436468474930651137),
     (0.928845529977422384, 0.0330898137881958814, 0.32668451555943611, 0.171546707803211434)),
    ((1e-06, 0.9999995, 1.0), (-0.001, 0.75, 0.5), 12.0,
     (0.181593521120316853, 0.704662769801305741, 0.56209457825667977),
     (0.640521582055060091, -0.0273417661813331433, -0.619823247949078794, -0.452552397016768678)),
    ((0.5, 0.5, 1.0), (0.3, 0.6, -0.8), 20.0,
     (-0.460039834096054986, -0.48822469319451077, -0.800000000000000044),
     (0.920400756825917715, 0.316205020289642535, -0.220844475101726979, 0.0640667604530409389)),
    ((0.5, 0.5000005, 1.0), (0.3, 0.6, -0.01), 20.0,
     (0.41323179544617903, 0.528431152783639739, -0.0100020188111581163),
     (0.906486691626208381, 0.221658169154919625, 0.35068903968591965, 0.0785285387335579031)),
    ((1e-06, 0.5, 0.500001), (0.5, 0.125, 1.0), 20.0,
     (0.512987074609359876, 0.0496916621186024119, 1.00655635018266167),
     (0.793677544286963881, -0.0297869485543815134, 0.0526992459220498772, 0.605319323059887479)),
    ((0.376, 0.627, 1.0), (0.25, 0.75, 0.5), 15.0,
     (-0.789238208848513196, -0.0172837019974993949, 0.625932061217804321),
     (0.884011209210782647, -0.330048961467392675, 0.198780567636539708, -0.264722781328091373)),
]  # fmt: skip


@pytest.mark.parametrize("pieces", (1, 100))
@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: f"{case[0]}")
def test_attitude_of_needles_discs_and_plates(case, pieces):
    """To 1e-13, in one evaluation (Carlson's integrals) and in a hundred short ones (quadrature)."""
    moments, omega, t, end, quaternion = case
    model = body(moments, np.array(moments) * omega, mbd.nodes.Quaternion, lie=True)
    if pieces == 1:
        view = mbd.simulate(model, t, t, JacobiExact())["body"]
        np.testing.assert_allclose(view.rotation[-1], from_quaternion(np.array(quaternion)), atol=ATTITUDE, rtol=0)
        np.testing.assert_allclose(view.angular_velocity[-1], end, atol=ATTITUDE, rtol=0)
        return
    y, rotation = np.array(moments) * omega, np.eye(3)
    for _ in range(pieces):
        step = np.array(free_rotation(*moments, *y.tolist(), t / pieces, SCRATCH))
        y, rotation = step[:3], rotation @ from_quaternion(step[3:])
    np.testing.assert_allclose(rotation, from_quaternion(np.array(quaternion)), atol=5 * ATTITUDE, rtol=0)


METHODS = [
    JacobiExact(), RotationSplitting(), SymmetricSplitting(), MoserVeselov(), MoserVeselov(order=8), RigidMidpoint(),
    Strang(MoserVeselov(order=4)), Strang(JacobiExact()), NystromSplitting(), BobenkoSuris(),
]  # fmt: skip
SCALES = [  # of moments of inertia, of angular velocities
    (1e-300, 1.0), (1e300, 1.0), (1.0, 1e-300), (1.0, 1e300), (1e-150, 1e-150), (1e150, 1e150), (1e-200, 1e200),
    (1e200, 1e-200), (1e-20, 1e-5), (1e12, 1e6),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")  # accelerations of 1e600 are not numbers
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_sizes_do_not_matter(method):
    """Momenta, inertias and times from 1e-300 to 1e300 give the attitudes of the same motion in ordinary units."""
    moments = np.array((0.5, 0.5, 0.9)) if isinstance(method, BobenkoSuris) else BOOK

    def run(inertia: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
        model = body(inertia * moments, inertia * moments * rate * np.array((0.8, 1.0, -0.8)), mbd.nodes.Quaternion)
        view = mbd.simulate(model, 2.0 / rate, 0.25 / rate, method)["body"]
        return view.rotation, view.angular_velocity / rate

    expected = run(1.0, 1.0)
    for inertia, rate in SCALES:
        if isinstance(method, NystromSplitting) and rate <= 1e-150:  # the cube of the step is not a number
            with pytest.raises(mbd.ConvergenceError, match="no longer finite"):
                run(inertia, rate)
            continue
        for found, exact in zip(run(inertia, rate), expected, strict=True):
            np.testing.assert_allclose(found, exact, atol=ATTITUDE, rtol=0)


def test_forces_in_units_of_their_own():
    """A heavy top of 1e-100 kg moves as one of 0.1 kg."""
    for method in (Strang(), NystromSplitting()):
        views = []
        for factor in (1.0, 1e-100, 1e100):
            model = heavy_top()
            top = model.bodies[0]
            light = mbd.Model("top", gravity=model.gravity)
            light.add(mbd.RigidBody("top", factor * top.mass, factor * top.inertia, top.node, com=top.com))
            views.append(mbd.simulate(light, 2.0, 0.05, method)["top"].rotation)
        for view in views[1:]:
            np.testing.assert_allclose(view, views[0], atol=ATTITUDE, rtol=0)


def test_attitudes_without_digits_are_refused():
    """A body that has turned by 1e20 rad may point anywhere."""
    with pytest.raises(mbd.ConvergenceError, match=r"'body' turns with 1e\+20 rad/s.*end the run before"):
        mbd.simulate(body(BOOK, (0.0, 0.0, 1e20)), 1.0, 1.0, JacobiExact())


def one_step(method: mbd.integrators.Integrator, moments: np.ndarray, omega: np.ndarray) -> float:
    """Angle between the attitude after a step of one and the exact one."""
    model = body(moments, moments * omega, mbd.nodes.Quaternion, lie=True)
    found, exact = (mbd.simulate(model, 1.0, 1.0, m)["body"].rotation[-1] for m in (method, JacobiExact()))
    return float(2.0 * math.asin(min(1.0, np.linalg.norm(found - exact) / math.sqrt(8.0))))


CAYLEY = [MoserVeselov(order=p) for p in (2, 4, 6, 8, 10, 12, 14)] + [RigidMidpoint()]
LARGEST_ERROR = {
    2: 0.58,
    4: 0.15,
    6: 0.1,
    8: 0.1,
    10: 0.1,
    12: 0.1,
    14: 0.1,
}  # (rad) of an admitted step: asin(1) - 1 is that of order two


@pytest.mark.parametrize("method", CAYLEY, ids=repr)
def test_steps_that_turn_a_body_too_far_are_refused(method, rng):
    """Whatever is not refused is near the motion; what a steady rotation allows is never refused."""
    refused = 0
    for k in range(60):
        d = rng.dirichlet((1.0, 1.0, 1.0)) + 0.01
        moments = np.sort(d.sum() - d)
        omega = rng.normal(size=3) * ((1.0, 1.0, 1.0) if k % 2 else rng.permutation((1.0, 1e-3, 1e-6)))
        angle = rng.uniform(0.5, 4.0)
        omega *= angle / np.linalg.norm(omega)
        try:
            error = one_step(method, moments, omega)
            assert angle < 1.2 * method.largest_turn
            assert error < LARGEST_ERROR[method.order]
        except mbd.ConvergenceError as failure:
            refused += 1
            assert angle > 0.95 * method.largest_turn or isinstance(method, RigidMidpoint)
            assert f"body 'body' turns by {angle:.3g} rad in a step of 1" in str(failure)
    assert refused > 10


@pytest.mark.parametrize(
    "method", (Strang(MoserVeselov(order=4)), NystromSplitting(MoserVeselov(order=8)), BobenkoSuris()), ids=repr
)
def test_splittings_refuse_free_motion_that_turns_too_far(method):
    """The message names body, angle and a step, and the step that it gives works."""
    model = mbd.Model("bodies", gravity=(0, 0, -9.81))
    for name, spin in (("slow", 0.3), ("fast", 7.0)):
        node = mbd.nodes.Quaternion(angular_velocity=(spin, 0.0, 0.0))
        model.add(mbd.RigidBody(name, 1.0, (0.5, 0.5, 0.8), node))
    with pytest.raises(
        mbd.ConvergenceError, match=r"body 'fast' turns by [0-9.]+ rad in (half )?a step of 0\.7"
    ) as info:
        mbd.simulate(model, 7.0, 0.7, method)
    step = float(str(info.value).split("take steps below ")[1].split(",")[0])
    assert step > 0.1
    assert mbd.simulate(model, 10 * step, step, method).complete
