"""Splittings under every kind of force: potentials and bushings at full order, dampers at order two."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbd
from mbd.integrators import (
    RK6,
    BobenkoSuris,
    Composition,
    Invariant,
    JacobiExact,
    MoserVeselov,
    NystromSplitting,
    SRKN6b,
    SRKN14a,
    Strang,
)
from mbd.nodes import Quaternion, RotationVector
from mbd.testing import observed_order
from tests.integrators.rigid_body.models import frames

T_END = 1.0
NYSTROM = "ignore:NystromSplitting has order two"


def field(z: Any) -> Any:
    """An energy of position and attitude of two bodies, without symmetry."""
    a, b = z[0], z[1]
    return 0.4 * a[5] * a[0] + 0.3 * a[11] * b[4] + 0.5 * (a[0] - b[1]) ** 2 + 0.2 * b[2] ** 2


def drag(t: float, z: Any, v: Any) -> Any:
    """Resistance against velocity and spin of one body."""
    return -0.3 * v * (1.0 + z[:, 3:4])


def bodies(symmetric: bool = False) -> tuple[mbd.Model, Any, Any]:
    """Two bodies with offset centres of mass, one of them free and one on a ball joint."""
    model = mbd.Model("bodies", gravity=(0.1, 0.0, -1.0))
    if symmetric:
        start = Quaternion(pinned=True, angular_velocity=(0.5, -1.0, 2.0))
        one = model.add(mbd.RigidBody("one", 1.5, (0.5, 0.5, 0.8), start, com=(0, 0, 0.3)))
        other = model.add(mbd.RigidBody("other", 1.0, (0.4, 0.4, 0.6), Quaternion((1.0, 0.5, 0.2))))
        return model, one, other
    start = RotationVector((0.1, 0, 0.4), mbd.rotation((0.2, 0.3, 0.1)), (0.1, 0, 0.2), (0.5, -1.0, 0.7))
    one = model.add(mbd.RigidBody("one", 1.5, (0.5, 0.7, 0.8), start, com=(0.1, 0, -0.1)))
    start = Quaternion((1.0, 0.5, 0.2), angular_velocity=(0.2, 0.5, 1.0))
    other = model.add(mbd.RigidBody("other", 1.0, (0.6, 0.4, 0.5), start, com=(0.0, 0.2, 0.1)))
    model.add(mbd.joints.Spherical(model.ground, other, at=(1.0, 0.5, 0.2), name="pivot"))
    return model, one, other


def user_potential(model, a, b):
    model.add(mbd.forces.UserPotential((a, b), field, name="field"))


def green_spring(model, a, b):
    model.add(mbd.forces.GreenSpring(a, b, (0.1, 0.2, 0), (0, 0.3, 0.1), stiffness=2.0, length=0.7, name="green"))


def gravitation(model, a, b):
    model.add(mbd.forces.Gravitation(a, b, constant=0.1, name="attraction"))


def bushing(model, a, b):
    model.add(
        mbd.forces.Bushing(
            a,
            b,
            (0.1, 0, 0),
            (0, 0.1, 0),
            stiffness=(1.0, 2.0, 3.0),
            rotational_stiffness=(0.5, 0.4, 0.3),
            name="rubber",
        )
    )


def damper(model, a, b):
    model.add(mbd.forces.Spring(a, b, (0.1, 0.2, 0), (0, 0.3, 0.1), stiffness=2.0, damping=0.5, length=0.7))


def user_force(model, a, b):
    model.add(mbd.forces.UserForce(a, drag, name="drag"))


def damped_bushing(model, a, b):
    model.add(mbd.forces.Bushing(a, b, stiffness=1.0, damping=0.4, rotational_stiffness=0.5, rotational_damping=0.2))


POTENTIALS = [user_potential, green_spring, gravitation, bushing]
DAMPED = [damper, user_force, damped_bushing]


def measured(model: mbd.Model, method: Any, steps: tuple[float, ...]) -> float:
    exact = frames(mbd.simulate(model.with_nodes(RotationVector), T_END, 0.002, RK6(), output_step=T_END))
    errors = [np.abs(frames(mbd.simulate(model, T_END, h, method, output_step=T_END)) - exact).max() for h in steps]
    return observed_order(errors[-2:], steps[-2:])


@pytest.mark.parametrize("add", POTENTIALS)
def test_potentials_at_full_order(add):
    model, a, b = bodies()
    add(model, a, b)
    assert measured(model, Strang(JacobiExact()), (0.05, 0.025)) == pytest.approx(2.0, abs=0.1)
    assert measured(model, NystromSplitting(), (0.05, 0.025)) == pytest.approx(4.0, abs=0.15)
    assert measured(model, SRKN6b(), (0.1, 0.05)) == pytest.approx(4.0, abs=0.5)
    assert measured(model, SRKN14a(), (0.25, 0.125)) > 5.4
    assert measured(model, Composition(Strang()), (0.1, 0.05)) == pytest.approx(4.0, abs=0.3)


@pytest.mark.filterwarnings(NYSTROM)
@pytest.mark.parametrize("add", DAMPED)
def test_forces_of_velocity_at_second_order(add):
    """Positions and velocities; reactions of the joint too."""
    model, a, b = bodies()
    add(model, a, b)
    reference = mbd.simulate(model, T_END, 0.002, RK6(), output_step=T_END)
    for method in (Strang(MoserVeselov(order=4)), NystromSplitting()):
        assert measured(model, method, (0.05, 0.025)) == pytest.approx(2.0, abs=0.15)
        assert method.order_on(reference.system) == 2
        runs = [mbd.simulate(model, T_END, h, method, output_step=T_END) for h in (0.05, 0.025)]
        errors = [np.abs(run["pivot"].force[-1] - reference["pivot"].force[-1]).max() for run in runs]
        assert observed_order(errors, (0.05, 0.025)) > 1.7


def test_nystrom_says_that_it_has_order_two():
    model, a, b = bodies()
    damper(model, a, b)
    with pytest.warns(mbd.AccuracyWarning, match="NystromSplitting has order two here, not four: force 'spring"):
        mbd.simulate(model, 0.1, 0.1, NystromSplitting())
    model, a, b = bodies()
    bushing(model, a, b)
    assert NystromSplitting().order_on(mbd.assemble(model)) == 4


@pytest.mark.filterwarnings(NYSTROM)
@pytest.mark.parametrize("method", (Strang(), NystromSplitting(), BobenkoSuris()), ids=repr)
@pytest.mark.parametrize("add", (damper, user_potential))
def test_restarts_and_thinned_output(method, add):
    model, a, b = bodies(isinstance(method, BobenkoSuris))
    add(model, a, b)
    whole = mbd.simulate(model, 1.0, 0.05, method)
    half = mbd.simulate(model, 0.5, 0.05, method)
    np.testing.assert_array_equal(mbd.simulate(model, 1.0, 0.05, method, start=half).q, whole.q[10:])
    np.testing.assert_array_equal(mbd.simulate(model, 1.0, 0.05, method, output_step=0.25).q, whole.q[::5])


@pytest.mark.parametrize("add", (damper, user_potential))
def test_bobenko_suris_at_its_order(add):
    model, a, b = bodies(symmetric=True)
    add(model, a, b)
    assert measured(model, BobenkoSuris(), (0.01, 0.005)) == pytest.approx(1.0, abs=0.1)


def test_damped_motion_loses_what_the_damper_takes():
    """The energy falls, and by what the damper does, to second order."""
    model, a, b = bodies()
    damper(model, a, b)
    solution = mbd.simulate(model, 5.0, 0.01, Strang(JacobiExact()))
    energy = solution.energy.total
    assert np.diff(energy).max() < 1e-6 and energy[-1] < energy[0] - 0.01
    exact = mbd.simulate(model, 5.0, 0.01, RK6()).energy.total
    assert np.abs(energy - exact).max() < 1e-3


def test_what_is_kept_and_refused():
    model, a, b = bodies()
    user_potential(model, a, b)
    kept = Strang(JacobiExact()).preserves(mbd.assemble(model))
    assert Invariant.SYMPLECTIC in kept and Invariant.LINEAR_MOMENTUM not in kept
    free = mbd.Model("free")
    one, two = (free.add(mbd.RigidBody(f"b{k}", 1.0, (0.5, 0.6, 0.7), Quaternion((k, 0, 0)))) for k in range(2))
    free.add(mbd.forces.Gravitation(one, two, constant=1.0))
    assert Invariant.ANGULAR_MOMENTUM in Strang().preserves(mbd.assemble(free))
    free.add(mbd.forces.UserPotential(one, lambda z: z[0, 0] ** 2))
    assert Invariant.ANGULAR_MOMENTUM not in Strang().preserves(mbd.assemble(free))
    user_force(model, a, b)
    assert Invariant.SYMPLECTIC not in Strang(JacobiExact()).preserves(mbd.assemble(model))
    with pytest.raises(mbd.IncompatibleError, match="force 'drag' depends on velocities"):
        mbd.simulate(model, 0.1, 0.1, SRKN6b())
