"""Sensitivities where they could be wrong without a word: each place of a parameter, each way of stepping.

Every case is compared with differences of whole runs of fourth order: positions, velocities and reactions.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbd

EXACT = 1e-8  # of the largest derivative of a channel
REACTIONS = 2e-7  # the same of reactions: round-off of constraints and of differences, divided by the step
BESIDE = 1e-6  # the same of explicit methods by steps beside the run, where a motion of time is differentiated twice
INDEX_3_REACTIONS = 1e-4  # divided by the square of the step
T_END, STEP, VALUE = 0.2, 0.01, 1.3
ALPHA = mbd.integrators.GeneralizedAlpha(tolerance=1e-13)
INDEX_3 = mbd.integrators.GeneralizedAlpha(tolerance=1e-13, stabilized=False)
MODIFIED = mbd.integrators.GeneralizedAlpha(tolerance=1e-13, stabilized=False, newton="modified")
FULL = mbd.integrators.GeneralizedAlpha(tolerance=1e-13, newton="full")
RK4, RK6, DOPRI5 = mbd.integrators.RK4(), mbd.integrators.RK6(), mbd.integrators.DOPRI5(fixed=True)


def driven(model, a):
    """A driven crank with a pendulum whose centre of mass is off its reference point."""
    model.gravity = (0, 0, -9.81)
    crank = model.add(mbd.RigidBody("crank", 1.0, (0.02, 0.03, 0.025), mbd.nodes.RotationVector((0.2, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.joints.AngleDriver.on(hinge, lambda t: 0.3 * a * np.sin(2.0 * a * t), name="drive"))
    start = mbd.nodes.RotationVector((0.4, 0, 0))
    bob = model.add(mbd.RigidBody("bob", 0.7, (0.05, 0.03, 0.045), start, com=(0.2, 0.05, 0.1 * a)))
    model.add(mbd.joints.Spherical(crank, bob, at=(0.4, 0, 0), name="ball"))


def geared(model, a):
    """Two wheels on hinges with a gear and a spring."""
    model.gravity = (0, 0, -9.81)
    axles = []
    for i in range(2):
        start = mbd.nodes.RotationVector((0.5 * i, 0, 0))
        body = model.add(mbd.RigidBody(f"wheel {i}", 1.0 + 0.2 * i, (0.02, 0.03, 0.025), start, com=(0.1, 0, 0)))
        axle = mbd.joints.Revolute(model.ground, body, at=(0.5 * i, 0, 0), axis=(0, 1, 0), name=f"axle {i}")
        axles.append(model.add(axle))
    model.add(mbd.joints.Gear(*axles, ratio=a, name="gear"))
    model.add(mbd.forces.TorsionSpring(axles[0], stiffness=2.0 * a, damping=0.1 * a))


def pinned(model, a):
    """A heavy top whose fixed point, mass and spin depend on the parameter, with a spring."""
    model.gravity = (0, 0, -9.81)
    node = mbd.nodes.RotationVector((0, 0, 0.1 * a), angular_velocity=(0.3, 1.0, 5.0 * a), pinned=True)
    top = model.add(mbd.RigidBody("top", 1.0 * a, (0.2, 0.25, 0.1), node, com=(0.05, 0, 0.3)))
    ends = {"point_a": (1, 0, 0), "point_b": (0, 0, 0.4)}
    model.add(mbd.forces.Spring(model.ground, top, stiffness=5.0 * a, length=0.5, **ends))


def top(model, a):
    """The same with a fixed point that stays."""
    model.gravity = (0, 0, -9.81 * a)
    node = mbd.nodes.RotationVector((0, 0, 0), angular_velocity=(0.3, 1.0, 5.0), pinned=True)
    model.add(mbd.RigidBody("top", 1.0 * a, (0.2, 0.25, 0.1), node, com=(0.05, 0, 0.3)))


def free(model, a):
    """A free body with a force of a user, without constraints."""
    model.gravity = (0, 0, -9.81 * a)
    node = mbd.nodes.RotationVector((0, 0, 0), velocity=(a, 0, 0), angular_velocity=(0.3, 4.0, 0.5 * a))
    body = model.add(mbd.RigidBody("body", 1.0 + a, (0.4, 0.45, 0.3), node, com=(0.05, 0.02, 0.3)))

    def push(t, frames, velocities):
        out = np.zeros_like(velocities)
        out[0, 0] = a * frames[0, 3] - 0.1 * velocities[0, 0] ** 3 + np.sin(3.0 * a * t)
        return out

    model.add(mbd.forces.UserForce(body, push))


def rods(model, a):
    """A point mass on a rod whose length is the parameter, a body that slides, and a spring with a damper."""
    model.gravity = (0.4, 0, -9.81)
    mass = model.add(mbd.PointMass("mass", 1.0, position=(a, 0, 0)))
    model.add(mbd.joints.Distance(model.ground, mass, length=a, name="rod"))
    slider = model.add(mbd.RigidBody("slider", 2.0, (0.1, 0.2, 0.25), mbd.nodes.RotationVector((0, 0, 1.0))))
    model.add(mbd.joints.Prismatic(model.ground, slider, axis=(1, 0, 0.3), name="guide"))
    model.add(mbd.forces.Spring(mass, slider, stiffness=20.0, damping=1.0, length=0.8 * a))


def mixed(model, a):
    """A chain with bodies of different nodes: one that the product rule knows, one that it does not."""
    model.gravity = (0, 0, -9.81)
    last = model.ground
    for i, node in enumerate((mbd.nodes.RotationVector, mbd.nodes.Quaternion)):
        body = model.add(mbd.RigidBody(f"bar {i}", 1.0 * a, (0.02, 0.03, 0.045), node((0.5 * i + 0.25, 0, 0))))
        model.add(mbd.joints.Revolute(last, body, at=(0.5 * i, 0, 0), axis=(0, 1, 0.3 * i), name=f"hinge {i}"))
        last = body


def robot(model, a):
    """Joints of many kinds, one after the other and in branches, whose points and axes depend on the parameter."""
    model.gravity = (0.3, 0, -9.81)
    x, y, z = 0.0, 0.0, 0.0
    last = model.ground
    joints = (
        lambda b, p: mbd.joints.Revolute(last, b, at=p, axis=(0.1 * a, 1, 0.2), name="shoulder"),
        lambda b, p: mbd.joints.Universal(b, last, at=p, axis=(0, 1, 0.1), axis_b=(1, 0, 0), name="cross"),
        lambda b, p: mbd.joints.Cylindrical(last, b, at=p, axis=(1, 0.2 * a, 0), name="sleeve"),
        lambda b, p: mbd.joints.Spherical(last, b, at=p, name="ball"),
        lambda b, p: mbd.joints.Prismatic(b, last, at=p, axis=(0.3, 0, 1), name="slide"),
        lambda b, p: mbd.joints.Planar(last, b, at=p, axis=(0, 0.1 * a, 1), name="table"),
    )
    for k, make in enumerate(joints):
        turn = mbd.calculated(lambda a, k=k: mbd.rotation((0.1 * k, 0.2 * a, 0.05)), a)
        node = mbd.nodes.RotationVector((x + 0.1 * a, y + 0.05 * k, z + 0.1), rotation=turn)
        body = model.add(mbd.RigidBody(f"link {k}", 1.0 + 0.1 * k, (0.03, 0.04, 0.035), node, com=(0.05 * a, 0, 0.02)))
        model.add(make(body, (x + 0.02 * a, y, z + 0.03 * a * a)))
        x, y, z = x + 0.2 * a, y + 0.02 * k * a, z + 0.05
        if k != 2:  # two bodies hang on the second one
            last = body
    model.add(mbd.forces.TorsionSpring(model["shoulder"], stiffness=3.0 * a, damping=0.2))
    return model.with_coordinates("joint")


CASES = {
    "robot": (robot, ALPHA), "robot, RK4": (robot, RK4),
    "driven": (driven, ALPHA), "driven, full Newton": (driven, FULL), "driven, RK4": (driven, RK4),
    "geared": (geared, ALPHA), "geared, RK4": (geared, RK4), "pinned": (pinned, ALPHA), "pinned, RK6": (pinned, RK6),
    "top": (top, ALPHA), "top, RK6": (top, RK6), "free": (free, ALPHA), "free, DOPRI5": (free, DOPRI5),
    "rods": (rods, ALPHA), "rods, index 3": (rods, INDEX_3), "rods, modified Newton": (rods, MODIFIED),
    "rods, RK4": (rods, RK4), "mixed": (mixed, ALPHA), "mixed, RK4": (mixed, RK4),
}  # fmt: skip


def build(fill, value, symbol=False):
    model = mbd.Model(fill.__name__)
    return fill(model, model.parameter("a", value) if symbol else value) or model


def motion(solution):
    return np.hstack([np.hstack((solution[x].position, solution[x].velocity)) for x in solution.model.bodies])


def differences(at, x, e):
    return (8.0 * (at(x + e) - at(x - e)) - (at(x + 2 * e) - at(x - 2 * e))) / (12.0 * e)


@pytest.mark.parametrize("case", CASES)
def test_against_differences_of_runs(case):
    fill, method = CASES[case]
    solution = mbd.simulate(build(fill, VALUE, True), T_END, STEP, method, sensitivities=["a"])
    plain = mbd.simulate(build(fill, VALUE), T_END, STEP, method)
    assert np.array_equal(solution.q, plain.q) and np.array_equal(solution.lam, plain.lam)
    reactions = INDEX_3_REACTIONS if method in (INDEX_3, MODIFIED) else BESIDE if method is RK4 else REACTIONS
    for read, tolerance in ((motion, EXACT), (lambda s: s.lam, reactions)):
        expected = differences(lambda x: read(mbd.simulate(build(fill, x), T_END, STEP, method)), VALUE, 1e-3)  # noqa: B023
        found = solution.sensitivity("a").of(read)
        if expected.size:
            assert np.abs(found - expected).max() < tolerance * max(np.abs(expected).max(), 1.0)


def test_every_record_and_some_of_them():
    """Records at every step and at every fourth are the same, as are one parameter and several."""
    for method in (ALPHA, RK4):
        model = build(rods, VALUE, True)
        every = mbd.simulate(model, T_END, STEP, method, sensitivities=["a"])
        some = mbd.simulate(model, T_END, STEP, method, sensitivities=["a"], output_step=4 * STEP)
        more = mbd.simulate(model, T_END, STEP, method, sensitivities=["mass.mass", "slider.mass", "a"])
        d = every.sensitivity("a")
        assert np.array_equal(some.sensitivity("a").q, d.q[::4]) and np.array_equal(
            some.sensitivity("a").lam, d.lam[::4]
        )
        for name in ("q", "v", "vd"):
            one, other = getattr(d, name), getattr(more.sensitivity("a"), name)
            assert np.abs(one - other).max() < EXACT * np.abs(one).max()


def test_differenced_and_exact_parameters_together():
    """A point of a pinned body is differenced, masses and springs are exact: together they are what each is alone."""
    values = {"mass": 1.3, "stiffness": 200.0, "damping": 20.0, "height": 1.1}

    def chain(values, symbol=False):
        model = mbd.Model("chain", gravity=(0, 0, -9.81))
        p = {name: model.parameter(name, x) if symbol else x for name, x in values.items()}
        node = mbd.nodes.RotationVector((0, 0, 0.1 * p["height"]), angular_velocity=(0.3, 1.0, 5.0), pinned=True)
        top = model.add(mbd.RigidBody("top", 1.0, (0.2, 0.25, 0.1), node, com=(0.05, 0, 0.3)))
        last = model.ground
        for i in range(3):
            start = mbd.nodes.RotationVector((0.5 * i + 0.25, 0, 0))
            body = model.add(mbd.RigidBody(f"bar {i}", p["mass"] if i == 1 else 1.0, (0.02, 0.03, 0.045), start))
            model.add(mbd.joints.Revolute(last, body, at=(0.5 * i, 0, 0), axis=(0, 1, 0.3 * i)))
            last = body
        bound = {"stiffness": p["stiffness"], "damping": p["damping"], "length": 0.5, "point_a": (1, 0, 1)}
        model.add(mbd.forces.Spring(model.ground, last, **bound))
        model.add(mbd.forces.Spring(top, last, stiffness=5.0, damping=3.0, length=0.5, point_a=(0, 0, 0.4)))
        return model

    together = mbd.simulate(chain(values, True), T_END, STEP, ALPHA, sensitivities=list(values))
    for name, value in values.items():
        alone = mbd.simulate(chain(values, True), T_END, STEP, ALPHA, sensitivities=[name])

        def at(x, name=name):
            return motion(mbd.simulate(chain(values | {name: x}), T_END, STEP, ALPHA))

        expected = differences(at, value, 1e-3 * value)
        for solution in (together, alone):
            assert np.abs(solution.sensitivity(name).of(motion) - expected).max() < EXACT * np.abs(expected).max()


def test_values_that_change_between_runs():
    """A run after a change is that of the new value; what an earlier one told stays."""
    model = build(rods, VALUE, True)
    first = mbd.simulate(model, T_END, STEP, ALPHA, sensitivities=["a"])
    model.parameters["a"] = 1.1
    second = mbd.simulate(model, T_END, STEP, ALPHA, sensitivities=["a"])
    for solution, value in ((first, VALUE), (second, 1.1)):
        fresh = mbd.simulate(build(rods, value, True), T_END, STEP, ALPHA, sensitivities=["a"])
        assert np.array_equal(solution.sensitivity("a").of(motion), fresh.sensitivity("a").of(motion))


def test_what_a_parameter_does_not_touch():
    """Exactly zero, in exact arithmetic and in the run."""
    model = build(top, VALUE)
    model.parameter("unused", 3.0)
    for method in (ALPHA, RK4):
        solution = mbd.simulate(model, T_END, STEP, method, sensitivities=["unused"])
        assert np.abs(solution.sensitivity("unused").q).max() == 0.0


def test_refused():
    """What would be wrong is refused by name."""
    model = build(rods, VALUE, True)
    run = mbd.simulate(model, T_END, STEP, ALPHA)
    with pytest.raises(mbd.ModelError, match="start= is given beside sensitivities="):
        mbd.simulate(model, 2 * T_END, STEP, ALPHA, start=run, sensitivities=["a"])
    for method in (mbd.integrators.AdaptiveAlpha(), mbd.integrators.BLieDF(), mbd.integrators.Rattle()):
        with pytest.raises(
            mbd.IncompatibleError, match=f"{method.name} has no sensitivities; expected one of DOPRI5, "
        ):
            mbd.simulate(model, T_END, STEP, method, sensitivities=["a"])
    redundant = build(rods, VALUE, True)
    redundant.add(mbd.joints.Distance(redundant.ground, redundant["mass"], length=VALUE, name="twin"))
    with pytest.warns(mbd.RedundancyWarning), pytest.raises(mbd.IncompatibleError, match="that are independent"):
        mbd.simulate(redundant, T_END, STEP, ALPHA, sensitivities=["slider.mass"])
    with pytest.raises(mbd.ModelError, match="nothing"):
        mbd.simulate(model, T_END, STEP, ALPHA, sensitivities=["nothing"])


def test_input():
    """A value that stays as it is during a run is a number like others: x = u t^2 / 2m."""
    model = mbd.Model("pushed")
    mass = model.add(mbd.PointMass("mass", 2.0))
    model.add(mbd.forces.Force(mass, (model.input("u", 3.0), 0, 0)))
    solution = mbd.simulate(model, T_END, STEP, sensitivities=["u"])
    assert np.abs(solution.sensitivity("u")["mass"].position[:, 0] - solution.t**2 / 4.0).max() < EXACT


def balls(length, floating):
    """Links on balls in joint coordinates, on the ground or on a body that floats; the parameter moves their joints.

    On the ground it is the pitch of a screw as well, so that residuals are differenced.
    """
    model = mbd.Model("balls", gravity=(0, 0, -9.81))
    a = model.parameter("a", 0.3) if length is None else length
    last = model.ground
    if floating:
        start = mbd.nodes.RotationVector((-0.5 * a, 0, 0), angular_velocity=(0.5, 2.0, -1.0))
        last = model.add(mbd.RigidBody("base", 2.0, (0.05, 0.06, 0.07), start))
    for i in range(2):
        start = mbd.nodes.RotationVector(((i + 0.5) * a, 0, 0))
        link = model.add(mbd.RigidBody(f"link {i}", 1.0, (0.02, 0.03, 0.025), start))
        model.add(mbd.joints.Spherical(last, link, at=(i * a, 0, 0), name=f"ball {i}"))
        last = link
    if not floating:
        nut = model.add(mbd.RigidBody("nut", 0.5, (0.01, 0.02, 0.02), mbd.nodes.RotationVector((2 * a, 0, 0))))
        model.add(mbd.joints.Screw(last, nut, at=(2 * a, 0, 0), axis=(1, 0, 0), pitch=a, name="screw"))
    return model.with_coordinates("joint")


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("method", [RK4, RK6, ALPHA])
def test_geometry_of_balls_in_joint_coordinates(method, floating):
    """Rotations of balls are composed within a step; the equations beside are those at the same ones."""

    def read(solution):
        return np.hstack((solution["link 1"].position, 0.1 * solution["link 1"].velocity))

    def at(x):
        return read(mbd.simulate(balls(x, floating), T_END, STEP, method))

    found = mbd.simulate(balls(None, floating), T_END, STEP, method, sensitivities=["a"]).sensitivity("a").of(read)
    x, e = 0.3, 3e-4
    expected = (8.0 * (at(x + e) - at(x - e)) - (at(x + 2 * e) - at(x - 2 * e))) / (12.0 * e)
    assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


@pytest.mark.parametrize("stiffness", [lambda a: 1.5**a, lambda a: (4.0 - a) ** 0.5], ids=["power", "root"])
def test_parameters_of_which_expressions_do_not_take_large_values(stiffness):
    """That a parameter is large enough to be differenced is seen with larger ones, where an expression may end."""

    def build(a):
        model = mbd.Model("spring")
        given = model.parameter("a", VALUE) if a is None else a
        ball = model.add(mbd.PointMass("ball", 1.0, position=(1.0, 0, 0)))
        model.add(mbd.forces.Spring(model.ground, ball, stiffness=stiffness(given), length=0.5))
        return model

    def at(x):
        return mbd.simulate(build(x), T_END, STEP, ALPHA)["ball"].position

    found = mbd.simulate(build(None), T_END, STEP, ALPHA, sensitivities=["a"]).sensitivity("a")["ball"].position
    e = 1e-3 * VALUE
    expected = (8.0 * (at(VALUE + e) - at(VALUE - e)) - (at(VALUE + 2 * e) - at(VALUE - 2 * e))) / (12.0 * e)
    assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


def tilted(angle):
    """A body on a hinge, or what else has an axis or a normal, that is tilted by an angle."""
    return np.array((np.sin(angle), 0.0, np.cos(angle)))


AXES = {
    "Revolute": "axis", "Prismatic": "axis", "Cylindrical": "axis", "Planar": "normal", "PointOnLine": "axis",
    "Rolling": "normal",
}  # fmt: skip


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
@pytest.mark.parametrize("name", AXES)
def test_axes_with_two_components_that_are_equally_large(name, method, coordinates):
    """There the normals that joints choose jump; neither motions do, nor what is read in them."""

    def build(angle):
        model = mbd.Model(name, gravity=(0.3, 0.5, -9.81))
        given = model.parameter("a", 0.25 * np.pi) if angle is None else angle
        body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.12, 0.13), mbd.nodes.RotationVector((0.4, 0.1, 0.2))))
        more = {"radius": 0.3, "axis": (0, 1, 0)} if name == "Rolling" else {"at": (0, 0, 0)}
        axis = {AXES[name]: mbd.calculated(tilted, given)}
        model.add(getattr(mbd.joints, name)(model.ground, body, **axis, **more, name="joint"))
        return model.with_coordinates("joint") if coordinates == "joint" else model

    def at(x):
        return mbd.simulate(build(x), 0.05, STEP, method)

    slope = mbd.simulate(build(None), 0.05, STEP, method, sensitivities=["a"]).sensitivity("a")
    for read in (motion, lambda s: s["joint"].force, lambda s: s["joint"].torque):
        expected = differences(lambda x: read(at(x)), 0.25 * np.pi, 1e-3)  # noqa: B023
        assert np.abs(slope.of(read) - expected).max() < REACTIONS * max(np.abs(expected).max(), 1.0)


@pytest.mark.parametrize("value", [1e-12, 1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("method", [ALPHA, RK4], ids=["implicit", "explicit"])
def test_what_is_read_has_all_digits_however_small_a_parameter_is(method, value):
    """x = 1 + v t + p t^2 / 2: the distance to a point beside, velocities and the kinetic energy."""
    model = mbd.Model("pushed")
    mass = model.add(mbd.PointMass("mass", 1.0, position=(1.0, 0, 0), velocity=(0.2, 0, 0)))
    model.add(mbd.forces.Force(mass, (model.parameter("p", value), 0, 0)))
    solution = mbd.simulate(model, T_END, STEP, method, sensitivities=["p"])
    slope, t = solution.sensitivity("p"), solution.t
    x, v = 1.0 + 0.2 * t + 0.5 * value * t**2, 0.2 + value * t
    distance = slope.of(lambda s: np.hypot(s["mass"].position[:, 0], 0.5))
    for found, expected in (
        (slope["mass"].position[:, 0], 0.5 * t**2),
        (slope["mass"].velocity[:, 0], t),
        (slope.energy.kinetic, v * t),
        (distance, x / np.hypot(x, 0.5) * 0.5 * t**2),
    ):
        assert np.abs(found - expected).max() < EXACT * np.abs(expected).max()


def test_what_is_read_after_many_turns():
    """R11 = cos(w t), whose derivative is -t sin(w t), also where w t is a thousand times what w may be moved by."""
    model = mbd.Model("spinning")
    speed = model.parameter("speed", 3000.0)
    model.add(mbd.RigidBody("body", 1.0, (1, 1, 1), mbd.nodes.RotationVector(angular_velocity=(0, 0, speed))))
    solution = mbd.simulate(model, 0.2, 1e-4, RK4, sensitivities=["speed"])
    found, t = solution.sensitivity("speed")["body"].rotation[:, 0, 0], solution.t
    assert np.abs(found + t * np.sin(3000.0 * t)).max() < EXACT * t[-1]


def test_what_has_no_derivative_because_of_its_shape():
    """Numbers are differenced as they are found in lists, tuples and dictionaries, if there are as many of them."""
    model = build(rods, VALUE, True)
    solution = mbd.simulate(model, T_END, STEP, ALPHA, sensitivities=["a"])
    slope, beside = solution.sensitivity("a"), []

    def of_other_length(s):
        beside.append(s)
        return s["mass"].position[: len(beside)]

    with pytest.raises(mbd.ModelError, match=r"other shapes \(\(1, 3\) and \(2, 3\)\)"):
        slope.of(of_other_length)
    with pytest.raises(mbd.ModelError, match="other shapes"):
        slope.of(lambda s: [0.0] * (1 + int(s["mass"].position[0, 0] > solution["mass"].position[0, 0])))
    found = slope.of(lambda s: {"x": s["mass"].position, "late": s.t > 0.1})
    assert np.array_equal(found["x"], slope["mass"].position) and not found["late"].any()
