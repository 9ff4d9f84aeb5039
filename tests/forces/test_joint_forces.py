"""Forces on joints: closed solutions of flywheels and sliders, dissipation, limits that never pull, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, quad, solve_ivp
from scipy.optimize import brentq

import mbd
from mbd import forces, joints
from mbd.integrators import DOPRI5, GGLEM, RK4, GeneralizedAlpha, LieEM

Z = (0.0, 0.0, 1.0)
INERTIA, MASS, SPEED = 2.0, 3.0, 4.0
ROUND_OFF = 1e-13
FINE = DOPRI5(rtol=1e-11, atol=1e-11)
FINE_ERROR = 1e-8


def flywheel(speed=SPEED, zero=None):
    """A body on a hinge about z, without gravity."""
    model = mbd.Model("flywheel")
    spin = mbd.nodes.RotationVector(angular_velocity=(0, 0, speed))
    body = model.add(mbd.RigidBody("wheel", MASS, (0.3 * INERTIA, 0.8 * INERTIA, INERTIA), spin))
    return model, model.add(joints.Revolute(model.ground, body, at=(0, 0, 0), axis=Z, zero=zero, name="joint"))


def slider(speed=SPEED, zero=None):
    """A body on a rail along z."""
    model = mbd.Model("slider")
    body = model.add(mbd.RigidBody("cart", INERTIA, (1, 1, 1), mbd.nodes.Quaternion(velocity=(0, 0, speed))))
    return model, model.add(joints.Prismatic(model.ground, body, axis=Z, zero=zero, name="joint"))


def motion(solution):
    view = solution["joint"]
    return (view.angle, view.angle_rate) if view.joint.coordinate == "angle" else (
        view.displacement, view.displacement_rate
    )  # fmt: skip


def energy_gap(solution):
    """Largest difference of the energy from what power says, relative to the energy of the start."""
    work = cumulative_simpson(solution.power, x=solution.t, initial=0.0)
    total = solution.energy.total
    return float(np.abs(total - total[0] - work).max() / total[0])


# --- given forces ---------------------------------------------------------------------------------------------------

GIVEN = {
    "number": (1.5, lambda t, u, v: 1.5),
    "time": (lambda t: math.sin(3.0 * t), lambda t, u, v: math.sin(3.0 * t)),
    "joint": (
        lambda t, u, u_dot: t - 7.0 * (u - 8.0) - 0.1 * u_dot * abs(u_dot),
        lambda t, u, v: t - 7.0 * (u - 8.0) - 0.1 * v * abs(v),
    ),
}


@pytest.mark.parametrize("make", [flywheel, slider])
@pytest.mark.parametrize("name", GIVEN)
def test_given_force(name, make):
    """J u'' = f(t, u, u'), through whole turns; effort and power are what the function says."""
    given, law = GIVEN[name]
    model, joint = make(zero=0.3)
    force = model.add(forces.JointForce(joint, given))
    solution = mbd.simulate(model, 3.0, 0.01, RK4())
    u, v = motion(solution)
    exact = solve_ivp(
        lambda t, y: (y[1], law(t, *y) / INERTIA), (0, 3), (0.3, SPEED), t_eval=solution.t, rtol=1e-12, atol=1e-12
    )  # fmt: skip
    assert u == pytest.approx(exact.y[0], abs=1e-6)
    effort = np.array([law(t, a, b) for t, a, b in zip(solution.t, u, v, strict=True)])
    assert solution[force].effort == pytest.approx(effort, abs=ROUND_OFF * 100)
    assert solution[force].power == pytest.approx(effort * v, abs=1e-11)
    assert energy_gap(solution) < 1e-5
    if name == "joint":
        assert u.max() > 2.0 * math.pi
        few = mbd.simulate(model, 3.0, 0.01, GeneralizedAlpha())
        assert motion(few)[0] == pytest.approx(u, abs=1e-3)
        assert few.stats["newton_iterations"] <= 1.1 * few.stats["steps"]  # the exact tangent


def test_both_coordinates_of_a_cylindrical_joint():
    model = mbd.Model("shaft")
    body = model.add(mbd.RigidBody("shaft", MASS, (INERTIA, INERTIA, INERTIA)))
    joint = model.add(joints.Cylindrical(model.ground, body, at=(0, 0, 0), axis=Z))
    model.add(forces.JointForce(joint, 4.0, coordinate="angle"))
    model.add(forces.JointForce(joint, lambda t, u, u_dot: 6.0 - u, coordinate="displacement"))
    solution = mbd.simulate(model, 1.0, 0.01, RK4())
    t, w = solution.t, math.sqrt(1.0 / MASS)
    assert solution[joint].angle == pytest.approx(2.0 / INERTIA * t * t, abs=1e-10)
    assert solution[joint].displacement == pytest.approx(6.0 * (1.0 - np.cos(w * t)), abs=1e-8)


def test_action_and_reaction():
    """A motor between two free bodies keeps all momenta."""
    model = mbd.Model("satellite")
    bodies = [
        model.add(mbd.RigidBody(name, 2.0, (1, 2, 3), mbd.nodes.RotationVector(x, angular_velocity=(0.1, 0.2, 0))))
        for name, x in (("a", (0, 0, 0)), ("b", (0.5, 0, 0)))
    ]
    joint = model.add(joints.Revolute(*bodies, at=(0.2, 0.1, 0), axis=(1, 2, 2)))
    model.add(forces.JointForce(joint, lambda t, u, u_dot: 3.0 * math.cos(t) - u))
    solution = mbd.simulate(model, 1.0, 0.01, LieEM())
    for momentum in solution.momentum:
        assert np.ptp(momentum, axis=0) == pytest.approx(np.zeros(3), abs=1e-11)
    assert np.ptp(solution[joint].angle) > 0.5


# --- friction -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [flywheel, slider])
def test_spin_down_with_viscous_and_coulomb_friction(make):
    """v = (v0 + F/c) exp(-c t/J) - F/c until the regularisation is felt, which ends all motion near the stop."""
    c, level, transition = 0.5, 3.0, 1e-2
    model, joint = make()
    friction = model.add(forces.JointFriction(joint, c, level, transition=transition))
    stop = INERTIA / c * math.log(1.0 + c * SPEED / level)
    solution = mbd.simulate(model, 1.5 * stop, stop / 800, GeneralizedAlpha())
    t, v = solution.t, motion(solution)[1]
    sliding = (SPEED + level / c) * np.exp(-c * t / INERTIA) - level / c
    fast = sliding > 15.0 * transition
    assert v[fast] == pytest.approx(sliding[fast], abs=1e-5)
    assert np.abs(v[t > stop + 20.0 * transition * INERTIA / level]).max() < transition * 1e-2
    assert solution[friction].power.max() <= 0.0
    assert energy_gap(solution) < 1e-4


def test_regularised_coulomb_friction_to_the_end():
    """J v' = -F tanh(v/v0): sinh(v/v0) = sinh(v(0)/v0) exp(-F t/(J v0))."""
    level, transition = 3.0, 0.5
    model, joint = flywheel()
    model.add(forces.JointFriction(joint, coulomb=level, transition=transition))
    solution = mbd.simulate(model, 6.0, 0.02, RK4())
    decay = math.sinh(SPEED / transition) * np.exp(-level * solution.t / (INERTIA * transition))
    assert motion(solution)[1] == pytest.approx(transition * np.arcsinh(decay), abs=1e-7)


def test_stribeck_friction_and_its_power(rng):
    """The law at any rate, and never a positive power: at an instant and over a step."""
    law = {"viscous": 0.2, "coulomb": 1.0, "static": 2.5, "stribeck_velocity": 0.3, "transition": 0.01}
    for speed in (*rng.normal(size=4), 0.05, -0.005):
        model, joint = flywheel(speed)
        friction = model.add(forces.JointFriction(joint, **law))
        for method in (LieEM(), GeneralizedAlpha()):
            solution = mbd.simulate(model, 0.5, 0.02, method)
            v = motion(solution)[1]
            level = 1.0 + 1.5 * np.exp(-((v / 0.3) ** 2))
            assert solution[friction].effort == pytest.approx(-0.2 * v - level * np.tanh(v / 0.01), abs=ROUND_OFF)
            assert solution[friction].power.max() <= 0.0
            assert method.name != "LieEM" or (np.diff(solution.energy.total) <= 1e-15).all()
    time = quad(lambda v: INERTIA / (0.2 * v + (1.0 + 1.5 * math.exp(-((v / 0.3) ** 2))) * math.tanh(v / 0.01)), 0.2, 2)
    model, joint = flywheel(2.0)
    model.add(forces.JointFriction(joint, **law))
    assert motion(mbd.simulate(model, time[0], time[0] / 400, RK4()))[1][-1] == pytest.approx(0.2, abs=1e-6)


# --- limits ---------------------------------------------------------------------------------------------------------

STIFFNESS = 800.0


def restitution(damping):
    """Of a bounce: 2 k x until k x = c v, then k x + c v until that is zero, and then nothing."""
    k, c, m = STIFFNESS, damping, INERTIA
    if c == 0.0:
        return 1.0
    fast = math.sqrt(2.0 * k / m)
    first = math.atan(c * fast / k) / fast
    x, v = math.sin(fast * first) / fast, math.cos(fast * first)
    decay = c / (2.0 * m)
    w = math.sqrt(k / m - decay * decay)

    def later(t):
        a, b = x, (v + decay * x) / w
        cosine, sine, factor = math.cos(w * t), math.sin(w * t), math.exp(-decay * t)
        return factor * (a * cosine + b * sine), factor * (
            (b * w - decay * a) * cosine - (a * w + decay * b) * sine
        )  # fmt: skip

    end = brentq(lambda t: k * later(t)[0] + c * later(t)[1], 1e-9, math.pi / w)
    return -later(end)[1]


@pytest.mark.parametrize("make", [flywheel, slider])
@pytest.mark.parametrize("damping", [0.0, 10.0])
def test_bounces(make, damping):
    """Period, rebound and energy of a bounce are those of the closed solution, whatever the speed; nothing pulls."""
    for speed in (SPEED, 0.5):
        model, joint = make(speed, zero=2.0 * math.pi)
        lower, upper = 2.0 * math.pi - 1.0, 2.0 * math.pi + 1.0
        limit = model.add(forces.JointLimit(joint, lower, upper, STIFFNESS, damping))
        contact = math.pi / math.sqrt(STIFFNESS / INERTIA)
        end = 1.0 / speed + contact + 0.2 / speed
        solution = mbd.simulate(model, end, 1e-3, FINE, output_step=end / 4000)
        u, v = motion(solution)
        kept = restitution(damping)
        assert v[-1] == pytest.approx(-kept * speed, rel=FINE_ERROR * 10)
        if damping == 0.0:
            assert u[-1] == pytest.approx(upper - 0.2, abs=FINE_ERROR)
            assert u.max() == pytest.approx(upper + speed * math.sqrt(INERTIA / STIFFNESS), abs=1e-5)
        else:
            assert 0.2 < kept < 0.95
        effort, depth = solution[limit].effort, np.maximum(u - upper, 0.0)
        assert effort.max() <= 0.0
        assert (-effort <= 2.0 * STIFFNESS * depth + ROUND_OFF * STIFFNESS).all()
        assert np.abs(effort[depth == 0.0]).max() == 0.0
        steepest = 2.0 * STIFFNESS * speed * (end / 4000)
        assert np.abs(np.diff(effort)).max() < 1.01 * steepest  # it begins and ends without a jump
        assert solution[limit].energy == pytest.approx(0.5 * STIFFNESS * depth**2, abs=ROUND_OFF * STIFFNESS)
        assert energy_gap(solution) < 1e-4  # the quadrature at kinks
        assert solution.power.max() <= ROUND_OFF


@pytest.mark.parametrize("method", [LieEM(), GGLEM()], ids=lambda m: m.name)
def test_energy_momentum_schemes_keep_the_energy_of_limits(method):
    """Discrete gradient of the one-sided energy: exact while contacts begin and end within steps."""
    model, joint = flywheel(zero=7.0)
    model.add(forces.JointLimit(joint, 6.7, 7.4, STIFFNESS))
    nodes = mbd.nodes.Directors if method.name == "GGLEM" else mbd.nodes.RotationVector
    solution = mbd.simulate(model.with_nodes(nodes), 3.0, 0.013, method)
    assert np.sum(np.diff(np.sign(motion(solution)[1])) != 0.0) > 6
    assert np.ptp(solution.energy.total) < 1e-9 * solution.energy.total[0]


def test_limits_in_steps_dissipate():
    """Over a step the damping never exceeds the elastic part either: no pull, no gain, however large it is."""
    for damping in (5.0, 500.0):
        model, joint = flywheel()
        model.add(forces.JointLimit(joint, -0.3, 0.3, STIFFNESS, damping))
        solution = mbd.simulate(model, 1.0, 0.02, LieEM())
        assert (np.diff(solution.energy.total) <= 1e-12).all()
        assert solution.energy.total[-1] < 0.7 * solution.energy.total[0]


def test_the_same_in_joint_coordinates():
    """Elements on joints that are coordinates act on these; on cut joints and screws, on frames. The motion is one."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    before, at = model.ground, np.zeros(3)
    for k, cls in enumerate((joints.Revolute, joints.Prismatic, joints.Cylindrical, joints.Screw)):
        node = mbd.nodes.RotationVector(at + (0.4, 0.1, 0))
        body = model.add(mbd.RigidBody(f"link {k}", 2.0 - 0.3 * k, (0.1, 0.12, 0.15), node))
        more = {"pitch": 0.4} if cls is joints.Screw else {}
        zero = (0.2, -4.0) if cls.coordinate == "both" else 4.0
        ends = (before, body) if k != 2 else (body, before)
        joint = model.add(cls(*ends, at=at, axis=(0.1 * k, 1.0, 0.3), zero=zero, name=f"joint {k}", **more))
        kind = {"coordinate": "angle"} if cls.coordinate == "both" else {}
        shown = joint.at_start(kind.get("coordinate"))[0]
        model.add(forces.JointForce(joint, lambda t, u, u_dot: 2.0 * math.sin(3.0 * t) - 0.3 * u - 0.2 * u_dot, **kind))
        model.add(forces.JointFriction(joint, 0.1, 0.3, 0.5, 0.4, 0.05, **kind))
        model.add(forces.JointLimit(joint, shown - 0.1, shown + 0.1, 60.0, 0.5, **kind))
        model.add(forces.PDControl(joint, lambda t: 0.1 * t, 0.5, 0.1, limit=1.5, **kind))
        before, at = body, at + (0.8, 0, 0)
    absolute = mbd.simulate(model, 1.0, 1e-3, RK4())
    for options in ({}, {"cut": ["joint 1"]}):
        other = mbd.simulate(model.with_coordinates("joint", **options), 1.0, 1e-3, RK4())
        for joint in model.joints:
            for name in ("angle", "displacement") if joint.coordinate == "both" else (joint.coordinate,):
                shown = (getattr(s[joint.name], name) for s in (absolute, other))
                assert next(shown) == pytest.approx(next(shown), abs=1e-8)
        for force in model.forces:
            assert absolute[force].effort == pytest.approx(other[force.name].effort, abs=1e-5)
        assert absolute.energy.total == pytest.approx(other.energy.total, abs=1e-7)
        assert other.energy.total[-1] != pytest.approx(other.energy.total[0], abs=0.1)
    alpha = [mbd.simulate(x, 0.5, 1e-3) for x in (model, model.with_coordinates("joint"))]
    assert alpha[0].frames(-1) == pytest.approx(alpha[1].frames(-1), abs=1e-4)


# --- refusals -------------------------------------------------------------------------------------------------------


def two_coordinates():
    model = mbd.Model("shaft")
    body = model.add(mbd.RigidBody("shaft", MASS, (1, 1, 1)))
    return model.add(joints.Cylindrical(model.ground, body, at=(0, 0, 0), axis=Z, name="joint"))


def none():
    model = mbd.Model("ball")
    body = model.add(mbd.RigidBody("ball", MASS, (1, 1, 1)))
    return model.add(joints.Spherical(model.ground, body, at=(0, 0, 0), name="joint"))


def one():
    return flywheel()[1]


REFUSED = {
    "no coordinate": (lambda: forces.JointForce(none(), 1.0), "spherical 'joint' of .*, which has neither; expected"),
    "no joint": (lambda: forces.JointForce("joint", 1.0), "expected the joint itself, not its name"),
    "which one": (lambda: forces.JointFriction(two_coordinates(), 1.0), "say which one is meant with coordinate="),
    "not that one": (
        lambda: forces.JointLimit(one(), 0.0, 1.0, 9.0, coordinate="displacement"),
        r"coordinate = 'displacement'; expected 'angle', which revolute 'joint'",
    ),
    "two arguments": (lambda: forces.JointForce(one(), lambda t, u: u), "function that takes 2 arguments; expected a"),
    "a vector": (
        lambda: forces.JointForce(one(), lambda t: (1.0, 2.0)),
        r"force\(0\) = \(1\.0, 2\.0\); expected a num",
    ),
    "a failure": (
        lambda: forces.JointForce(one(), lambda t, u, u_dot: [][3]),
        r"called with \(0, 0, 4\), with IndexError",
    ),
    "infinite": (lambda: forces.JointForce(one(), lambda t, u, u_dot: math.inf), r"force\(0, 0, 4\) = inf; expected"),
    "no friction": (lambda: forces.JointFriction(one()), "expected a coefficient, which may be zero"),
    "half of Stribeck": (lambda: forces.JointFriction(one(), coulomb=1.0, static=2.0), "both of them, or none"),
    "static below": (
        lambda: forces.JointFriction(one(), 0.0, 2.0, 1.0, 0.1),
        "static = 1.0; expected a level that is not below coulomb",
    ),
    "hidden Stribeck": (
        lambda: forces.JointFriction(one(), 0.0, 1.0, 2.0, 0.01, 0.1),
        "transition = 0.1; expected a rate below stribeck_velocity",
    ),
    "no limit": (lambda: forces.JointLimit(one(), stiffness=9.0), "expected at least one limit"),
    "crossed limits": (lambda: forces.JointLimit(one(), 1.0, -1.0, 9.0), "a lower limit below the upper one"),
    "start beyond": (
        lambda: forces.JointLimit(one(), 0.5, 1.0, 9.0),
        "starts with the angle 0, which is not between the limits 0.5 and 1; expected .*zero=",
    ),
    "no stiffness": (lambda: forces.JointLimit(one(), -1.0, 1.0), "stiffness = None; expected a positive number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_name(case):
    build, message = REFUSED[case]
    with pytest.raises(mbd.ModelError, match=message):
        build()


def test_a_start_beyond_a_limit_is_noticed():
    model, joint = flywheel(0.0)
    model.add(forces.JointLimit(joint, -1.0, 1.0, 9.0, name="stop"))
    assert not mbd.diagnose(model).warnings
    turned = model.with_joint_values({"joint": 1.5})
    assert any("beyond the limits -1 and 1 of 'stop'" in text for text in mbd.diagnose(turned).warnings)


def test_changes_are_checked():
    model, joint = flywheel()
    limit = model.add(forces.JointLimit(joint, -1.0, 1.0, 9.0))
    with pytest.raises(mbd.ModelError, match="a lower limit below the upper one"):
        limit.upper = -2.0
    assert limit.upper == 1.0
    force = model.add(forces.JointForce(joint, lambda t, u, u_dot: u))
    force.force = lambda t: 2.0 * t
    assert not force.of_coordinate
    with pytest.raises(mbd.ModelError, match="takes 2 arguments"):
        force.force = lambda t, u: u
    force.force = 3
    assert mbd.simulate(model, 0.1, 0.01, RK4())["joint force 1"].effort == pytest.approx(np.full(11, 3.0))


ZERO = {
    "friction": lambda joint, c: forces.JointFriction(joint, viscous=c),
    "Coulomb's friction": lambda joint, c: forces.JointFriction(joint, coulomb=c),
    "drag": lambda joint, c: forces.Drag(joint.body_b, linear=c, point=(0.2, 0, 0)),
    "bushing": lambda joint, c: forces.Bushing(*joint.bodies, damping=c, point_b=(0.2, 0, 0)),
}


@pytest.mark.parametrize("kind", ZERO)
def test_studies_begin_at_zero(kind):
    """A coefficient of zero is none, as a number and as a parameter on its way to others."""
    plain, _ = flywheel()
    free = mbd.simulate(plain, 0.1, 1e-2)
    model, joint = flywheel()
    c = model.parameter("c", 0.3)
    model.add(ZERO[kind](joint, c))
    found = mbd.study.sweep(
        model, {"c": [0.0, 0.3]}, simulate={"t_end": 0.1, "step": 1e-2},
        outputs={"speed": lambda s: s["wheel"].angular_velocity[-1, 2]},
    )  # fmt: skip
    none, some = found.frame()["speed"]
    assert none == pytest.approx(free["wheel"].angular_velocity[-1, 2], rel=1e-14) and some < none - 1e-3
    model, joint = flywheel()
    model.add(ZERO[kind](joint, 0.0))
    assert np.array_equal(mbd.simulate(model, 0.1, 1e-2).v, free.v)
