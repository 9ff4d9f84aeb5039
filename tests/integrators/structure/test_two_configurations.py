"""DiscreteVariational from two configurations: the same motion as from momenta, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import DiscreteVariational
from mbd.nodes import Directors, Quaternion

STEP, T_END = 0.01, 0.3
SAME = 1e-8  # what Newton's method leaves, over thirty steps


def model(node: type = Quaternion) -> mbd.Model:
    """A body on a hinge that a motor turns, with a damped, loaded point mass on a rod."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    start = mbd.nodes.RotationVector((0.5, 0, 0), velocity=(0, 0, -0.5), angular_velocity=(0, 1.0, 0))
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.06, 0.12, 0.1), start))
    mass = model.add(mbd.PointMass("mass", 0.5, position=(1.5, 0, 0), velocity=(0, 0.8, -1.0)))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.joints.AngleDriver(model.ground, arm, axis=(0, 1, 0), value=lambda t: np.sin(t)))
    model.add(mbd.joints.Distance(arm, mass, point_a=(0.5, 0, 0), point_b=(0, 0, 0), name="rod"))
    model.add(mbd.forces.Force(mass, lambda t: (0.0, np.cos(3 * t), 0.0)))
    return model.with_nodes(node)


@pytest.mark.parametrize("node", (Quaternion, Directors))
def test_same_motion_as_from_the_momenta(node):
    first = mbd.simulate(model(node), T_END, STEP, DiscreteVariational())
    again = mbd.simulate(model(node), T_END, STEP, DiscreteVariational(second=first.q[1]))
    assert again.q == pytest.approx(first.q, abs=SAME)
    assert again.v == pytest.approx(first.v, abs=SAME / STEP)
    assert again["rod"].force == pytest.approx(first["rod"].force, abs=SAME / STEP**2)
    parts = {body: first.q[1, first.system.body_slices(body)[0]] for body in ("mass", "arm")}
    named = mbd.simulate(model(node), T_END, STEP, DiscreteVariational(second=parts))
    assert np.array_equal(named.q, again.q)


def test_velocities_of_the_model_give_way_to_the_second_configuration():
    first = mbd.simulate(model(), T_END, STEP, DiscreteVariational())
    resting = model()
    resting["mass"].node.velocity = (0, 0, -1.0)  # another velocity along the rod's sphere
    again = mbd.simulate(resting, T_END, STEP, DiscreteVariational(second=first.q[1]))
    assert again.v[0] == pytest.approx(first.v[0], abs=SAME / STEP)
    assert again.q == pytest.approx(first.q, abs=SAME)


def test_events_restarts_and_files(tmp_path):
    """The second configuration belongs to the first step of the run alone."""
    first = mbd.simulate(model(), T_END, STEP, DiscreteVariational())
    method = DiscreteVariational(second=first.q[1])
    event = mbd.Event(lambda s: s["mass"].position[:, 1] - 0.11)
    watched = mbd.simulate(model(), T_END, STEP, method, events=event)
    plain = mbd.simulate(model(), T_END, STEP, DiscreteVariational(), events=event)
    assert [x.t for x in watched.events] == pytest.approx([x.t for x in plain.events], abs=SAME) and plain.events
    whole = mbd.simulate(model(), T_END, STEP, method)
    part = mbd.simulate(model(), 0.1, STEP, method)
    assert np.array_equal(mbd.simulate(model(), T_END, STEP, method, start=part).q, whole.q[10:])
    whole.save(tmp_path / "run.mbd")
    assert mbd.load(tmp_path / "run.mbd").integrator == method
    named = DiscreteVariational(second={"mass": (1, 2, 3)})
    assert DiscreteVariational(second=named.second) == named


@pytest.mark.parametrize(
    ("second", "message"),
    (
        ((1.0, 2.0), "second has 2 numbers; expected 10"),
        ([np.nan] * 10, "expected finite coordinates"),
        ("here", "expected finite coordinates"),
        ([[1.0] * 10], "expected finite coordinates"),
        ({"mass": (1, 0, 0)}, "body 'arm' is missing"),
        ({"mass": (1, 0, 0), "arm": [0.0] * 7, "leg": (0, 0)}, "body 'leg' does not belong to the model"),
        ({"mass": (1, 0), "arm": [0.0] * 7}, r"second\['mass'\] has 2 numbers; expected 3"),
        ((0.5, 0, 0, 1, 0, 0, 0, 1.6, 0, 0), "violates the constraint of .* by 0.1.* at t = 0.01"),
    ),
)
def test_wrong_configurations_are_refused(second, message):
    with pytest.raises(mbd.ModelError, match=f"DiscreteVariational: .*{message}"):
        mbd.simulate(model(), T_END, STEP, DiscreteVariational(second=second))


def test_wrong_starts_are_refused():
    with pytest.raises(mbd.ModelError, match="small_start and second are both given"):
        DiscreteVariational(second=(1.0,), small_start=3)
    q = mbd.simulate(model(), STEP, STEP, DiscreteVariational()).q[1]
    with pytest.raises(mbd.ModelError, match="no whole number of steps 0.01 away.*second configuration"):
        mbd.simulate(model(), 0.295, STEP, DiscreteVariational(second=q))


def test_first_momentum_belongs_to_the_second_configuration():
    """Across the rod and gravity nothing acts: the momentum of the start is that of the first step."""
    rod = mbd.Model("rod", gravity=(0, 0, -9.81))
    mass = rod.add(mbd.PointMass("mass", 1.0, (1, 0, 0), (0, 1, 0)))
    rod.add(mbd.joints.Distance(rod.ground, mass, (0, 0, 0), (0, 0, 0)))
    p = mbd.simulate(rod, 0.2, 0.05, DiscreteVariational(small_start=10)).scheme["p"]
    np.testing.assert_allclose(p[0, :2], p[1, :2], rtol=1e-6)
    assert abs(p[0, 0]) > 1e-3  # unlike mass times velocity
