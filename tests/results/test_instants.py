"""Solutions between their records: order, all coordinates, turns, and what is refused."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import mbd
from mbd.results.solution import Solution
from tests.integrators.models import CONVENTIONAL, LIE

POSITION_ORDER, VELOCITY_ORDER = 6.0, 5.0
ORDER = 0.25  # deviation from these over a factor of two between records that are not very near
FINE = 2.5e-3


def thin(solution: mbd.Solution, every: int) -> mbd.Solution:
    """Every so many records."""
    arrays = [np.ascontiguousarray(getattr(solution, name)[::every]) for name in ("t", "q", "v", "vd", "lam", "_turns")]
    fifth = mbd.integrators.DOPRI5(fixed=True)  # an order for which two records suffice
    return Solution(solution.system, *arrays, integrator=fifth)


def tumbling() -> mbd.Model:
    """A body on a spherical joint that turns more than once, in any coordinates."""
    model = mbd.Model("tumbling", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(position=(0.3, 0, 0), angular_velocity=(0.5, 3.0, 4.5))
    body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.2, 0.25), node, com=(0.05, 0.02, 0.0)))
    body.velocity = np.cross((0.5, 3.0, 4.5), (0.3, 0, 0))
    model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0), name="ball"))
    return model


def double(coordinates: str) -> mbd.Model:
    """Hinge and ball in a chain, beside generalized coordinates."""
    model = tumbling()
    model["body"].angular_velocity = (0.5, 1.0, 1.5)
    model["body"].velocity = np.cross((0.5, 1.0, 1.5), (0.3, 0, 0))
    lower = model.add(mbd.RigidBody("lower", 0.5, (0.02, 0.03, 0.04), mbd.nodes.RotationVector(position=(0.8, 0, 0))))
    lower.angular_velocity = (0.5, 2.0, 1.5)
    lower.velocity = np.cross((0.5, 1.0, 1.5), (0.6, 0, 0)) + np.cross((0.5, 2.0, 1.5), (0.2, 0, 0))
    model.add(mbd.joints.Revolute(model["body"], lower, at=(0.6, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.Generalized("own", [0.5], [1.0], mass=[[2.0]], potential=lambda q: 30.0 * q[0] * q[0]))
    return model.with_coordinates(coordinates) if coordinates == "joint" else model


def errors(run: mbd.Solution, every: int, names: dict[str, str]) -> list[float]:
    """Largest errors at times between every so many records."""
    index = np.arange(1, len(run) - 1, 3)
    between = thin(run, every).at(run.t[index])
    found = []
    for element, quantity in names.items():
        for name in quantity.split():
            found.append(np.abs(getattr(between[element], name) - getattr(run[element], name)[index]).max())
    return found


def check_orders(run: mbd.Solution, names: dict[str, str], expected: list[float]) -> None:
    coarse, fine = (np.array(errors(run, every, names)) for every in (16, 8))
    assert np.log2(coarse / fine) == pytest.approx(np.array(expected), abs=ORDER)


@pytest.mark.parametrize("node", [*LIE, *(name for name in CONVENTIONAL if name[:5] != "euler")])
def test_order_on_all_nodes(node):
    """Also where the rotation vector changes to the equivalent one between two records."""
    model = tumbling().with_nodes((LIE | CONVENTIONAL)[node])
    run = mbd.simulate(model, 1.6, FINE, mbd.integrators.RK6(), progress=False)
    names = {"body": "position rotation velocity angular_velocity", "ball": "force"}
    check_orders(run, names, [POSITION_ORDER] * 2 + [VELOCITY_ORDER] * 3)
    if node == "rotation vector":
        assert (np.abs(np.diff(run.q, axis=0)).max(axis=1) > 1.0).any()


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_order_in_joint_coordinates_and_of_generalized_ones(coordinates):
    run = mbd.simulate(double(coordinates), 0.8, FINE, mbd.integrators.RK6(), progress=False)
    names = {"lower": "position rotation angular_velocity", "hinge": "angle", "own": "coordinates velocities"}
    orders = [POSITION_ORDER] * 2 + [VELOCITY_ORDER] + [POSITION_ORDER] * 2 + [VELOCITY_ORDER]
    check_orders(run, names, orders)


def test_cubics_and_quintics_are_exact():
    """A point whose position is a polynomial of fifth degree in time, driven: nothing is left to interpolate."""
    t = np.array((0.0, 0.7, 1.0))
    coefficients = np.array([[1.0, 2.0, -1.0, 0.5, 3.0, -2.0]] * 3) * np.array([[1.0], [-0.5], [0.2]])
    powers = [np.polynomial.Polynomial(c) for c in coefficients]
    model = mbd.Model("point")
    model.add(mbd.PointMass("point", 1.0))
    q, v, vd = (np.column_stack([p.deriv(k)(t) if k else p(t) for p in powers]) for k in range(3))
    solution = Solution(mbd.assemble(model), t, q, v, vd, np.zeros((3, 0)))
    times = np.linspace(0.0, 1.0, 23)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.AccuracyWarning)
        between = solution.at(times)
    np.testing.assert_allclose(between["point"].position, np.column_stack([p(times) for p in powers]), atol=1e-14)
    speeds = np.column_stack([p.deriv()(times) for p in powers])
    np.testing.assert_allclose(between["point"].velocity, speeds, atol=1e-13)


@pytest.fixture(scope="module")
def turning() -> mbd.Solution:
    """A wheel with a spring that counts turns, many times around."""
    model = mbd.Model("wheel")
    node = mbd.nodes.RotationVector(angular_velocity=(0, 0, 40.0))
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (0.1, 0.1, 0.2), node))
    axle = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="axle"))
    model.add(mbd.forces.TorsionSpring(axle, 0.5, damping=0.01, name="coil"))
    free = model.add(mbd.RigidBody("free", 1.0, (0.1, 0.1, 0.2), mbd.nodes.RotationVector(position=(3, 0, 0))))
    free.angular_velocity = (0, 0, -30.0)
    model.add(mbd.joints.Revolute(model.ground, free, at=(3, 0, 0), axis=(0, 0, 1), name="idle"))
    return mbd.simulate(model, 2.0, 0.01, progress=False)


def test_the_same_bits_at_records_and_all_quantities(turning):
    index = [0, 7, 100, 200]
    there = turning.at(turning.t[index])
    np.testing.assert_array_equal(there.q, turning.q[index])
    np.testing.assert_array_equal(there.energy.total, turning.energy.total[index])
    np.testing.assert_array_equal(there["axle"].angle, turning["axle"].angle[index])
    one = turning.at(0.5)
    assert len(one) == 1 and one["wheel"].position.shape == (1, 3)
    assert repr(one) == "<model 'wheel' at t = 0.5, between 201 records>"
    np.testing.assert_array_equal(copy.deepcopy(one)["axle"].angle, one["axle"].angle)
    np.testing.assert_array_equal(one.at(turning.t[:3]).q, turning.q[:3])


def test_turns_are_counted_between_far_records(turning):
    """Whatever times are asked for, in whatever order."""
    times = np.array((1.987, 0.013, 1.1034))
    there = turning.at(times)
    fine = mbd.simulate(turning.model, 2.0, 0.001, mbd.integrators.RK6(), progress=False)
    for joint in ("axle", "idle"):
        wanted = np.interp(times, fine.t, fine[joint].angle)
        assert abs(wanted).max() > 4.0 * np.pi
        np.testing.assert_allclose(there[joint].angle, wanted, atol=0.05)
        np.testing.assert_allclose(there[joint].coordinates[:, 0], wanted, atol=0.05)
    np.testing.assert_allclose(there["coil"].energy, 0.25 * there["axle"].angle ** 2, rtol=1e-12)


def test_records_that_are_too_far_apart(turning):
    far = thin(turning, 20)
    with pytest.warns(mbd.AccuracyWarning, match=r"records are 0.2 apart, and a body turns by 8 rad .*output_step"):
        far.at(0.1)
    swing = mbd.Model("swing")
    ball = swing.add(mbd.PointMass("ball", 1.0, (0.1, 0, 0)))
    swing.add(mbd.forces.Spring(swing.ground, ball, (-1.0, 0, 0), stiffness=100.0, length=1.0))
    slow = mbd.simulate(swing, 2.0, 1e-3, output_step=0.5, progress=False)
    with pytest.warns(mbd.AccuracyWarning, match="records are 0.5 apart, and the motion bends too much"):
        slow.at(0.3)


def test_kinematics_has_no_reactions_between_records_either():
    model = mbd.Model("driven")
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(1, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    model.add(mbd.joints.AngleDriver(model.ground, arm, axis=(0, 0, 1), value=lambda t: t * t, name="motor"))
    solution = mbd.kinematics(model, 1.0, 0.02)
    assert np.isnan(solution.at(0.31)["motor"].torque).all()
    assert solution.at(0.31)["hinge"].angle == pytest.approx([0.31**2], abs=1e-9)
    forced = mbd.inverse_dynamics(model, 1.0, 0.02).at([0.31, 0.5])
    np.testing.assert_allclose(forced["motor"].torque[:, 2], 2.0 * (0.1 + 1.0), rtol=1e-8)


def test_what_is_refused(turning, tmp_path):
    for times, text in (
        (2.1, "t = 2.1 is outside of the solution, which goes from 0 to 2; nothing is extrapolated"),
        ([0.1, -1e-6], "t = -1e-06 is outside"),
        ("now", "t is 'now'; expected a time or several"),
        ([[0.1]], "expected a time or several"),
        (np.nan, "expected a time or several, finite"),
        ([], "expected a time"),
    ):
        with pytest.raises(mbd.ModelError, match=text):
            turning.at(times)
    assert turning.at(2.0 * (1.0 + 1e-15)).t[0] == 2.0
    assert len(turning.at(0.3).scheme) == 0
    with pytest.raises(mbd.ModelError, match="has no variable 'gamma'"):
        _ = turning.at(0.3).scheme["gamma"]
    turning.save(tmp_path / "wheel.npz")
    loaded = mbd.load(tmp_path / "wheel.npz").at(0.123)
    np.testing.assert_array_equal(loaded["wheel"].rotation, turning.at(0.123)["wheel"].rotation)


def test_two_records_at_one_time(turning):
    """As an event that ends a run at a record leaves them."""
    again = [np.concatenate((x[:5], x[4:8])) for x in (turning.t, turning.q, turning.v, turning.vd, turning.lam)]
    double = Solution(turning.system, *again, integrator=turning.integrator)
    times = (turning.t[4], 0.5 * (turning.t[4] + turning.t[5]))
    np.testing.assert_array_equal(double.at(times).q, turning.at(times).q)


def test_turns_go_on_into_parts_and_files(tmp_path):
    """Times between the records know the turns of the run; so do some of these times, copies and files."""
    model = mbd.Model("spin")
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (1, 1, 1), mbd.nodes.RotationVector(angular_velocity=(0, 0, 10.0))))
    model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    times = np.array([2.004, 2.1, 2.6])
    found = mbd.simulate(model, 3.0, 0.01).at(times)
    found.save(tmp_path / "found.npz")
    others = {
        "file": mbd.load(tmp_path / "found.npz"),
        "copy": pickle.loads(pickle.dumps(found)),
        "part": found.part(slice(None)),
        "first": found.part(0),
        "last": found.part(slice(1, None)),
        "part of a copy": copy.deepcopy(found).part(slice(0, 2)),
    }
    for name, other in others.items():
        assert other["hinge"].angle == pytest.approx(10.0 * other.t, abs=1e-9), name
        assert other["hinge"].coordinates[:, 0] == pytest.approx(10.0 * other.t, abs=1e-9), name


@pytest.mark.parametrize("t", ["0.1", True, None, [0.1, "0.2"], 1j])
def test_times_are_numbers(t):
    solution = mbd.simulate(tumbling(), 0.02, 0.01)
    with pytest.raises(mbd.ModelError, match=r"at: t is .*; expected a time or several"):
        solution.at(t)
