"""Sensitivities where tables and starts on both sides of a parameter are compared, and could be taken for others."""

from __future__ import annotations

import numpy as np
import pytest

import mbd

EXACT = 1e-8  # of the largest derivative of a channel
EVEN = 2e-8  # of slopes where numbers are steep
TOLD = 1e-3  # of what is not told to be lost
T_END, STEP = 0.05, 0.01
ALPHA = mbd.integrators.GeneralizedAlpha(tolerance=1e-13)
RK4 = mbd.integrators.RK4()


def motion(solution):
    return np.hstack([np.hstack((solution[x].position, solution[x].velocity)) for x in solution.model.bodies])


def differences(build, name, values, method, e, t_end=T_END):
    def at(change):
        return motion(mbd.simulate(build(values | {name: values[name] + change}), t_end, STEP, method))

    return (8.0 * (at(e) - at(-e)) - (at(2 * e) - at(-2 * e))) / (12.0 * e)


def assert_derivatives(build, values, method):
    """Of all parameters together, those of whole runs."""
    solution = mbd.simulate(build(values), T_END, STEP, method, sensitivities=list(values))
    for name, x in values.items():
        expected = differences(build, name, values, method, 1e-3 * (abs(x) or 1.0))
        assert np.abs(expected).max() > 0.0
        assert np.abs(solution.sensitivity(name).of(motion) - expected).max() < EXACT * np.abs(expected).max()


NODES = {
    "rotation vector": mbd.nodes.RotationVector(),
    "quaternion": mbd.nodes.Quaternion(),
    "quaternion, Lie": mbd.nodes.Quaternion(lie=True),
    "directors": mbd.nodes.Directors(),
    "Euler angles": mbd.nodes.EulerAngles(),
    "Euler angles, Lie": mbd.nodes.EulerAngles(lie=True),
    "balls": None,
}


@pytest.mark.parametrize("angle", [-np.pi, np.pi])
@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
@pytest.mark.parametrize("node", NODES)
def test_half_a_turn_at_the_start(node, method, angle):
    """On both sides of it rotations are next to each other, their vectors, quaternions and angles are not."""

    def build(values):
        model = mbd.Model("turned", gravity=(0, 0.5, -9.81))
        tilt, spin = (model.parameter(name, x) for name, x in values.items())
        turned = mbd.calculated(mbd.rotation, (tilt + angle, 0, 0))
        start = mbd.nodes.RotationVector((0.5, 0, 0), turned, angular_velocity=(0.5, 1.0, spin))
        body = model.add(mbd.RigidBody("body", 1.0, (0.02, 0.03, 0.025), start, com=(0.02, 0, 0.03)))
        model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0)))
        return model.with_coordinates("joint") if NODES[node] is None else model.with_nodes(NODES[node])

    assert_derivatives(build, {"tilt": 0.0, "spin": 0.6}, method)


@pytest.mark.parametrize("angle", [0.5 * np.pi, -0.5 * np.pi])
def test_gimbal_lock_at_the_start(angle):
    """Euler angles of a Lie node have no rates there; its increments do not need any."""

    def build(values):
        model = mbd.Model("locked", gravity=(0, 0.5, -9.81))
        turned = mbd.calculated(mbd.rotation, (0, model.parameter("tilt", values["tilt"]) + angle, 0))
        start = mbd.nodes.EulerAngles((0.5, 0, 0), turned, angular_velocity=(0.5, 1.0, 0.3), lie=True)
        body = model.add(mbd.RigidBody("body", 1.0, (0.02, 0.03, 0.025), start, com=(0.02, 0, 0.03)))
        model.add(mbd.joints.Spherical(model.ground, body, at=(0, 0, 0)))
        return model

    assert_derivatives(build, {"tilt": 0.0}, ALPHA)


def test_large_values_that_are_refused_after_another_parameter():
    """Whether a number is lost in what it is added to is seen while all others have their own values."""

    def build(values):
        model = mbd.Model("springs")
        stiffness, root = (model.parameter(name, x) for name, x in values.items())
        ball = model.add(mbd.PointMass("ball", 1.0, position=(1.0, 0.1, 0)))
        model.add(mbd.forces.Spring(model.ground, ball, stiffness=stiffness, length=0.5))
        model.add(mbd.forces.Spring(model.ground, ball, (0, 1, 0), stiffness=(4.0 - root) ** 0.5, length=0.5))
        return model

    assert_derivatives(build, {"stiffness": 3.0, "root": 1.3}, ALPHA)


@pytest.mark.parametrize("scale", [0.37, 1.1, 2.3])
def test_round_off_of_numbers_that_a_parameter_leaves_alone(scale):
    """A direction has its length divided away; the parameter that gives it stands in a function as well."""

    def build(values):
        model = mbd.Model("door")
        scale = model.parameter("scale", values["scale"])
        start = mbd.nodes.RotationVector((0.3, 0.1, 0.2))
        body = model.add(mbd.RigidBody("body", 1.0, (0.02, 0.03, 0.04), start))
        axis = (0.3 * scale, 0.7 * scale, 0.2 * scale)
        hinge = model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=axis))
        model.add(mbd.forces.JointForce(hinge, lambda t, u, rate: np.sin(scale * t) - scale * u))
        return model

    assert_derivatives(build, {"scale": scale}, ALPHA)


@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(tolerance=1e-13), mbd.integrators.RK4()])
def test_joints_that_move_where_nothing_moves(method):
    """Points and short axes of joints that hold bodies at rest: these stay there, whatever the parameter is.

    Numbers of a joint bend with the parameter; slopes that do not belong together would move the bodies (by 5e-8).
    """
    model = mbd.Model("at rest")
    a = model.parameter("a", 1.3)
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.1, 0.12, 0.15), mbd.nodes.RotationVector((0.3, 0.1, 0))))
    axis = (a - 1.1, 0.1, 0.5 - 0.4 * a)
    model.add(mbd.joints.Prismatic(model.ground, arm, at=(0, 0, 0), axis=axis, name="slide"))
    bob = model.add(mbd.RigidBody("bob", 0.7, (0.05, 0.03, 0.045), mbd.nodes.RotationVector((0.7, 0.2, 0.3))))
    axis = (0.1, a - 1.1, 0.5 - 0.4 * a)
    model.add(mbd.joints.Cylindrical(arm, bob, at=(0.5 * a, 0, 0), axis=axis, name="hinge"))
    ends = {"point_a": (a - 0.5, 0.3, 0.4 * a), "point_b": (0.1, 0, 0)}
    model.add(mbd.joints.Distance(model.ground, bob, **ends, name="rod"))
    slope = mbd.simulate(model, 0.1, 0.01, method, sensitivities=["a"]).sensitivity("a")
    assert np.abs(slope.q).max() < 1e-10 and np.abs(slope.v).max() < 1e-10


def pulled(value, stiffness=lambda p: 1.0, force=lambda p: 0.0, speed=lambda p: 0.0, damping=lambda p: 0.1):
    """A ball on a spring: where a parameter stands is chosen."""
    model = mbd.Model("pulled")
    p = model.parameter("p", value)
    ball = model.add(mbd.PointMass("ball", 1.0, position=(1.0, 0, 0), velocity=(speed(p), 0, 0)))
    model.add(mbd.forces.Spring(model.ground, ball, stiffness=stiffness(p), length=0.5, damping=damping(p), name="k"))
    model.add(mbd.forces.Force(ball, (force(p), 0, 0), name="pull"))
    return model


@pytest.mark.parametrize(
    "value, places, whose",
    [
        (0.0, {"force": abs}, "force 'pull'"),
        (2.0, {"stiffness": lambda p: np.maximum(p, 2.0)}, "spring 'k'"),
        (2.0, {"stiffness": lambda p: p // 1}, "spring 'k'"),
        (0.5, {"force": lambda p: mbd.calculated(lambda x: 1.0 if x > 0.5 else 0.0, p)}, "force 'pull'"),
        (0.0, {"speed": abs}, "point mass 'ball'"),
        (1.0, {"force": lambda p: np.sign(p - 1.0)}, "force 'pull'"),
        (1.0, {"force": lambda p: np.cbrt(p - 1.0)}, "force 'pull'"),
        (1.0, {"stiffness": lambda p: 1e3 + abs(p - 1.0)}, "spring 'k'"),
    ],
)
def test_kinks_and_jumps_of_numbers_are_refused_by_name(value, places, whose):
    """The mean of the slopes on both sides is no derivative, and a jump has none."""
    for method in (ALPHA, RK4):
        with pytest.raises(mbd.ModelError, match=f"{whose} has no derivative with respect to p at {value:g}"):
            mbd.simulate(pulled(value, **places), 0.1, 0.01, method, sensitivities=["p"])
        mbd.simulate(pulled(value + 0.3, **places), 0.1, 0.01, method, sensitivities=["p"])  # beside it all is smooth


@pytest.mark.parametrize(
    "stiffness, slope",
    [(lambda p: 3.0 * np.cos(p), 0.0), (lambda p: 1.0 + 1e6 * p * p, 0.0), (lambda p: 2.0 + p**3, 0.0)],
)
def test_numbers_that_are_stationary_have_no_kink(stiffness, slope):
    solution = mbd.simulate(pulled(0.0, stiffness=stiffness), 0.1, 0.01, ALPHA, sensitivities=["p"])
    assert np.abs(solution.sensitivity("p")["ball"].position - slope).max() < EXACT


def test_values_at_the_end_of_what_a_model_takes():
    """A damping of zero may not become smaller: the message says why that was tried."""
    with pytest.raises(mbd.ModelError, match=r"p = 0 is at the end of what the model takes.*damping = -1\.5"):
        mbd.simulate(pulled(0.0, damping=lambda p: p), 0.1, 0.01, sensitivities=["p"])


@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
def test_numbers_that_no_run_depends_on_may_have_kinks(method):
    """The extent of a model, which is that of another body beside p = 1, and the time of the last evaluation."""
    model = mbd.Model("extent")
    p = model.parameter("p", 1.0)
    ball = model.add(mbd.PointMass("ball", 1.0, position=(p, 0, 0)))
    model.add(mbd.PointMass("other", 1.0, position=(0, 1.0, 0)))
    model.add(mbd.forces.Spring(model.ground, ball, stiffness=1.0, length=0.5))
    solution = mbd.simulate(model, 1.2, 0.01, method, t_start=1.0, sensitivities=["p"])
    slope = solution.sensitivity("p")["ball"].position[:, 0]
    assert np.abs(slope - np.cos(solution.t - 1.0)).max() < 1e-5  # of the method


def test_lost_digits_are_seen_at_other_times():
    model = mbd.Model("tiny")
    ball = model.add(mbd.PointMass("ball", 1.0, position=(1.0 + model.parameter("p", 1e-13), 0, 0)))
    model.add(mbd.forces.Spring(model.ground, ball, stiffness=1.0, length=0.5))
    for t_start in (0.0, 7.0):
        with pytest.raises(mbd.ModelError, match="so small against what it is added to"):
            mbd.simulate(model, t_start + 0.1, 0.01, t_start=t_start, sensitivities=["p"])


@pytest.mark.parametrize("steepness", [1e2, 1e4, 1e6, 1e9])
@pytest.mark.parametrize("law", [np.tanh, np.sin, np.arctan], ids=["tanh", "sin", "arctan"])
def test_steep_odd_numbers_have_their_slopes(law, steepness):
    """Second differences do not see that these bend: p = 1 is moved less, and a parameter beside it as ever."""
    model = mbd.Model("steep")
    p, mass = model.parameter("p", 1.0), model.parameter("mass", 2.0)
    ball = model.add(mbd.PointMass("ball", mass))
    model.add(mbd.forces.Force(ball, (law(steepness * (p - 1.0)), 4.0, 0)))
    run = mbd.simulate(model, 1.0, 0.1, ALPHA, sensitivities=["p", "mass"])
    assert run.sensitivity("p")["ball"].position[-1, 0] == pytest.approx(0.25 * steepness, rel=EVEN)
    assert run.sensitivity("mass")["ball"].position[-1, 1] == pytest.approx(-0.5, rel=EVEN)


def test_many_periods_within_the_differences_are_seen():
    """Where a parameter is moved by whole periods, differences are zero."""
    steepness = 4.0 * np.pi * 2.0**16
    model = pulled(1.0, force=lambda p: np.sin(steepness * (p - 1.0)))
    slope = mbd.simulate(model, 0.02, 0.01, ALPHA, sensitivities=["p"]).sensitivity("p")
    plain = pulled(1.0, force=lambda p: p)
    expected = mbd.simulate(plain, 0.02, 0.01, ALPHA, sensitivities=["p"]).sensitivity("p")
    assert slope.v == pytest.approx(steepness * expected.v, rel=1e-6, abs=0)


def test_slopes_of_zero_beside_other_numbers_are_no_lost_digits():
    slope = mbd.simulate(pulled(1.0, force=lambda p: 2.0 + (p - 1.0) ** 3), 0.1, 0.01, sensitivities=["p"])
    assert np.abs(slope.sensitivity("p").q).max() < EXACT


def test_places_beside_zero_in_models_of_micrometres():
    """A place of zero in a model of micrometres in metres is moved by less than its lengths."""
    slopes = []
    for unit in (1.0, 1e-6):
        model = mbd.Model("tiny")
        place = model.parameter("p", 0.0)
        ball = model.add(mbd.PointMass("ball", 1.0, position=(place, unit, 0)))
        model.add(mbd.forces.Spring(model.ground, ball, stiffness=1.0, length=0.5 * unit, name="spring"))
        slopes.append(mbd.simulate(model, 1.0, 0.1, ALPHA, sensitivities=["p"]).sensitivity("p")["ball"].position)
    assert slopes[1] == pytest.approx(slopes[0], abs=EVEN)


@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_effects_that_are_lost_in_others_are_told(coordinates, method):
    """A spring so soft that its force, beside the weight, is round-off; and one that does nothing at all."""

    def rod(stiffness):
        model = mbd.Model("rod", gravity=(0, 0, -3.0))
        body = model.add(mbd.RigidBody("rod", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(0.5, 0, 0))))
        hinge = model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
        soft, none = model.parameter("soft", stiffness), model.parameter("none", 1e-12)
        model.add(mbd.forces.Spring(model.ground, body, (0, 0, 2), (0.2, 0, 0), stiffness=soft, length=0.3))
        model.add(mbd.forces.TorsionSpring(hinge, stiffness=0.0 * none, rest=1.0))
        return model.with_coordinates(coordinates)

    def slope(stiffness):
        solution = mbd.simulate(rod(stiffness), 0.5, 0.02, method, sensitivities=["soft", "none"])
        return solution.sensitivity("soft")["hinge"].angle[-1]

    assert slope(1e-6) == pytest.approx(slope(1e-3), rel=TOLD)
    with pytest.warns(mbd.ModelWarning, match="soft = 1e-12 changes accelerations by hardly more than their round-off"):
        slope(1e-12)
