"""Kinematics and inverse dynamics of fully driven models, against closed forms and with every kind of node."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import mbd
from mbd.compiled.settings import PUBLIC
from mbd.joints import AngleDriver, DrivenFrame, Gear, PositionDriver, Prismatic, Revolute, Rolling
from mbd.solvers.redundancy import REGULARISATION

G = 9.81
CRANK, ROD = 1.0, 2.0
ROUND_OFF = 1e-12
SECOND_DERIVATIVE = 1e-7 if PUBLIC else 1e-9  # of a driver: differences of its values, or of exact first derivatives
BACK = {"sequence": "yxz"}  # the bodies turn about y, the first axis
NODES = [
    mbd.nodes.RotationVector(), mbd.nodes.RotationVector(lie=False), mbd.nodes.Quaternion(),
    mbd.nodes.Quaternion(lie=True), mbd.nodes.Directors(), mbd.nodes.Directors(lie=True),
    mbd.nodes.EulerAngles(**BACK), mbd.nodes.EulerAngles(**BACK, lie=True),
]  # fmt: skip


def node_name(node):
    return f"{node}{' Lie' if node.lie else ''}"


ACROSS = (0, -1, 0)  # positive angles lift the crank


def angle(t):
    return 3.0 * t + 0.2 * np.sin(2.0 * t)


def slider_crank(driver=True):
    """In the x-z plane with three hinges: three of its equations are redundant."""
    model = mbd.Model("slider-crank", gravity=(0, 0, -G))

    def body(name, mass, x):
        return model.add(mbd.RigidBody(name, mass, (0.1, 0.2, 0.2), mbd.nodes.RotationVector(position=(x, 0, 0))))

    crank, rod, slider = body("crank", 1.0, CRANK / 2), body("rod", 2.0, CRANK + ROD / 2), body("slider", 3.0, 3.0)
    model.add(Revolute(model.ground, crank, at=(0, 0, 0), axis=ACROSS, name="bearing"))
    model.add(Revolute(crank, rod, at=(CRANK, 0, 0), axis=ACROSS, name="knee"))
    model.add(Revolute(rod, slider, at=(CRANK + ROD, 0, 0), axis=ACROSS, name="pin"))
    model.add(Prismatic(model.ground, slider, axis=(1, 0, 0), name="guide"))
    if driver:
        model.add(AngleDriver(model.ground, crank, axis=ACROSS, value=angle, name="motor"))
    return model


def closed_form(t):
    """Position, velocity and acceleration of the slider."""
    a, w, e = angle(t), 3.0 + 0.4 * np.cos(2.0 * t), -0.8 * np.sin(2.0 * t)
    s, c = CRANK * np.sin(a), CRANK * np.cos(a)
    root = np.sqrt(ROD**2 - s * s)
    x = c + root
    v = -w * (s + s * c / root)
    slope = c + (c * c - s * s) / root + (s * c) ** 2 / root**3
    return x, v, -e * (s + s * c / root) - w * w * slope


@pytest.mark.parametrize("node", NODES, ids=node_name)
def test_slider_crank(node):
    solution = mbd.kinematics(slider_crank().with_nodes(node), t_end=4.0, step=0.05)
    assert len(solution) == 81 and solution.t[-1] == 4.0 and solution.complete
    slider, (x, v, a) = solution["slider"], closed_form(solution.t)
    assert np.abs(slider.position[:, 0] - x).max() < ROUND_OFF
    assert np.abs(slider.velocity[:, 0] - v).max() < 10 * ROUND_OFF
    assert np.abs(slider.acceleration[:, 0] - a).max() < SECOND_DERIVATIVE
    assert solution["bearing"].angle == pytest.approx(angle(solution.t), abs=ROUND_OFF)
    assert solution.constraint_error.position.max() < ROUND_OFF
    assert np.isnan(solution["motor"].torque).all()  # they need masses: inverse dynamics
    assert "energy:" in str(solution) and "nan" not in str(solution) and "balance" not in str(solution)


# what is left to the regularisation of redundant multipliers is known up to round-off over its size
SHARE_ROUND_OFF = 10.0 * np.finfo(float).eps / REGULARISATION


@pytest.mark.parametrize("node", NODES, ids=node_name)
@pytest.mark.parametrize("hinges", [1, 2])
def test_torque_of_a_pendulum(node, hinges):
    """J a'' + m g l sin(a) about the hinge, with one hinge or two that are redundant."""
    model = mbd.Model("pendulum", gravity=(0, 0, -G))
    rod = model.add(mbd.RigidBody("rod", 2.0, (0.3, 0.4, 0.1), mbd.nodes.RotationVector(position=(0, 0, -0.5))))
    for k in range(hinges):
        model.add(Revolute(model.ground, rod, at=(0, 0.2 * k - 0.1, 0), axis=ACROSS, name=f"hinge {k}"))
    model.add(AngleDriver(model.ground, rod, axis=ACROSS, value=angle, name="motor"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = mbd.inverse_dynamics(model.with_nodes(node), t_end=2.0, step=0.02)
    redundant = [w for w in caught if issubclass(w.category, mbd.RedundancyWarning)]
    assert len(redundant) == hinges - 1
    a, acceleration = angle(solution.t), -0.8 * np.sin(2.0 * solution.t)
    expected = (0.4 + 2.0 * 0.25) * acceleration + 2.0 * G * 0.5 * np.sin(a)
    torque = solution["motor"].torque @ np.array(ACROSS)
    assert np.abs(torque - expected).max() < 1e-8
    # both hinges together carry the weight and the centripetal force
    rate = 3.0 + 0.4 * np.cos(2.0 * solution.t)
    arm = np.column_stack((np.sin(a), np.zeros_like(a), -np.cos(a)))
    ahead = np.column_stack((np.cos(a), np.zeros_like(a), np.sin(a)))
    centre = 0.5 * (acceleration[:, None] * ahead - (rate**2)[:, None] * arm)
    carried = sum(solution[f"hinge {k}"].force for k in range(hinges))
    assert np.abs(carried - 2.0 * (centre + (0, 0, G))).max() < 1e-7
    if hinges == 2:  # the share of minimum norm of a symmetric pair is one half each
        shares = solution["hinge 0"].force, solution["hinge 1"].force
        assert shares[0] == pytest.approx(shares[1], abs=SHARE_ROUND_OFF * np.abs(carried).max())


def test_reactions_have_minimum_norm_and_balance():
    model = slider_crank()
    with pytest.warns(mbd.RedundancyWarning, match="minimum norm"):
        solution = mbd.inverse_dynamics(model, t_end=1.0, step=0.1)
    system = solution.system
    for k, t in enumerate(solution.t):
        q, v, vd = solution.q[k], solution.v[k], solution.vd[k]
        B = system.constraint_jacobian(q, t).toarray()
        load = system.forces(q, v, t) - system.mass_matrix(q) @ vd
        expected = np.linalg.lstsq(B.T, load, rcond=1e-9)[0]
        assert solution.lam[k] == pytest.approx(expected, abs=1e-7 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore::mbd.errors.RedundancyWarning")
def test_power_of_the_motor_is_the_rate_of_the_energy():
    from scipy.integrate import simpson

    solution = mbd.inverse_dynamics(slider_crank(), t_end=2.0, step=0.005)
    motor = solution["motor"]
    power = motor.torque @ np.array(ACROSS) * motor.angle_rate
    assert solution.power == pytest.approx(power, abs=1e-8)
    work = simpson(power, x=solution.t)
    assert work == pytest.approx(solution.energy.total[-1] - solution.energy.total[0], abs=1e-6)


@pytest.mark.filterwarnings("ignore::mbd.errors.RedundancyWarning")
def test_a_simulation_agrees():
    model = slider_crank()
    exact = mbd.inverse_dynamics(model, t_end=0.5, step=0.01)
    solution = mbd.simulate(model, 0.5, 0.01, mbd.integrators.RK4())
    assert solution["motor"].torque == pytest.approx(exact["motor"].torque, abs=1e-6)
    assert solution["slider"].position == pytest.approx(exact["slider"].position, abs=1e-10)


def test_what_is_left_free_is_listed():
    model = slider_crank(driver=False)
    with pytest.raises(mbd.ModelError, match=r"kinematics: .* not fully driven: 1 motion is left free: body 'crank'"):
        mbd.kinematics(model, 1.0, 0.1)
    model = mbd.Model("two")
    for name in "ab":
        model.add(mbd.RigidBody(name, 1.0, (1, 1, 1)))
        model.add(Revolute(model.ground, model[name], at=(0, 0, 0), axis=(0, 0, 1)))
    with pytest.raises(mbd.ModelError, match=r"inverse dynamics: .*2 motions are left free.*'a'.*'b'.*Add 2 drivers"):
        mbd.inverse_dynamics(model, 1.0, 0.1)
    free = mbd.Model("free")
    free.add(mbd.RigidBody("stone", 1.0, (1, 1, 1)))
    with pytest.raises(mbd.ModelError, match=r"6 motions are left free"):
        mbd.kinematics(free, 1.0, 0.1)


def test_the_diagnosis_names_the_driver():
    text = " ".join(str(mbd.diagnose(slider_crank())).split())
    assert "no degree of freedom: 'motor' prescribes the motion" in text


def test_rolling_is_refused():
    model = mbd.Model("wheel")
    node = mbd.nodes.RotationVector(position=(0, 0, 1))
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (1, 2, 1), node))
    model.add(Rolling(model.ground, wheel, radius=1.0, axis=(0, 1, 0), name="contact"))
    with pytest.raises(mbd.IncompatibleError, match=r"'contact'.*restricts velocities only.*mbd\.simulate"):
        mbd.kinematics(model, 1.0, 0.1)


def test_end_of_reach():
    """The slider is pulled outwards until crank and rod are stretched: 3 = 2.2 + 0.5 t."""
    model = slider_crank(driver=False)
    start = mbd.kinematics(slider_crank(), 0.4, 0.4)  # somewhere in the middle
    model = mbd.model_at(start)
    model.remove("motor")
    x0 = float(start["slider"].position[-1, 0])
    model.add(PositionDriver(model.ground, model["slider"], axis=(1, 0, 0), value=lambda t: 0.5 * t, name="cylinder"))
    with pytest.raises(
        mbd.SingularityError, match=r"cannot follow its drivers beyond t = .*end of its reach"
    ) as caught:
        mbd.kinematics(model, 10.0, 0.1)
    end = (CRANK + ROD - x0) / 0.5
    assert caught.value.time == pytest.approx(end, abs=1e-6)
    reached = caught.value.solution
    assert not reached.complete and reached.t[-1] == pytest.approx(0.1 * np.floor(end / 0.1))


def parallelogram(rate):
    model = mbd.Model("parallelogram")
    node = mbd.nodes.RotationVector
    left = model.add(mbd.RigidBody("left", 1.0, (1, 1, 1), node(position=(0, 0, 0.5))))
    right = model.add(mbd.RigidBody("right", 1.0, (1, 1, 1), node(position=(2, 0, 0.5))))
    bar = model.add(mbd.RigidBody("bar", 1.0, (1, 1, 1), node(position=(1, 0, 1))))
    model.add(Revolute(model.ground, left, at=(0, 0, 0), axis=ACROSS))
    model.add(Revolute(model.ground, right, at=(2, 0, 0), axis=ACROSS))
    model.add(Revolute(left, bar, at=(0, 0, 1), axis=ACROSS))
    model.add(Revolute(right, bar, at=(2, 0, 1), axis=ACROSS))
    model.add(AngleDriver(model.ground, left, axis=ACROSS, value=lambda t: rate * t, name="motor"))
    return model


def test_singular_positions_are_passed_with_a_warning():
    """The flat parallelogram could fold over; the smooth motion does not."""
    with pytest.warns(mbd.ModelWarning, match=r"passes a singular position at t = 1\.5708") as caught:
        solution = mbd.kinematics(parallelogram(1.0), 3.0, 0.04)
    assert len([w for w in caught if issubclass(w.category, mbd.ModelWarning)]) == 1
    assert solution["bar"].rotation == pytest.approx(np.tile(np.eye(3), (len(solution), 1, 1)), abs=1e-9)


def test_record_in_a_singular_position():
    with pytest.raises(mbd.SingularityError, match=r"t = 1 is a singular position") as caught:
        mbd.kinematics(parallelogram(np.pi / 2), 2.0, 0.25)
    assert caught.value.time == 1.0 and len(caught.value.solution) == 4


def test_contradicting_drivers():
    model = slider_crank()
    late = lambda t: 3.0 * t + 0.2 * np.sin(2.0 * t) + 0.1 * t**4  # noqa: E731
    model.add(AngleDriver(model.ground, model["crank"], axis=ACROSS, value=late, name="second motor"))
    with pytest.raises(mbd.AssemblyError, match=r"contradict each other.*motor"):
        mbd.kinematics(model, 2.0, 0.1)


def test_gears_count_turns():
    model = mbd.Model("gears")
    wheels = [
        model.add(mbd.RigidBody(name, 1.0, (1, 1, 1), mbd.nodes.Quaternion(position=(x, 0, 0))))
        for name, x in (("small", 0.0), ("large", 3.0))
    ]
    hinges = [
        model.add(Revolute(model.ground, wheel, at=(x, 0, 0), axis=(0, 0, 1)))
        for wheel, x in zip(wheels, (0.0, 3.0), strict=True)
    ]
    model.add(Gear(*hinges, ratio=-2.0))
    model.add(AngleDriver(model.ground, wheels[0], axis=(0, 0, 1), value=lambda t: 10.0 * t))
    solution = mbd.kinematics(model, 5.0, 0.1)
    first, second = solution[hinges[0]].angle, solution[hinges[1]].angle
    assert first[-1] == pytest.approx(50.0)
    assert abs(second[-1]) == pytest.approx(25.0) or abs(second[-1]) == pytest.approx(100.0)
    assert second == pytest.approx(first * second[-1] / first[-1], abs=1e-9)


def test_points_and_driven_frames():
    """A ship that heaves and rolls, with a mass on a driven boom: exact accelerations."""
    model = mbd.Model("ship", gravity=(0, 0, -G))
    hull = model.add(mbd.RigidBody("hull", 5.0, (1, 2, 3), mbd.nodes.Directors()))
    heave = lambda t: (0.0, 0.0, 0.5 * np.sin(2.0 * t))  # noqa: E731
    frame = model.add(DrivenFrame(model.ground, hull, displacement=heave, angle=lambda t: 0.3 * t, axis=(1, 0, 0)))
    load = model.add(mbd.PointMass("load", 2.0, (0, 0, 1)))
    model.add(mbd.joints.PointOnLine(hull, load, at=(0, 0, 1), axis=(0, 0, 1)))
    hoist = model.add(PositionDriver(hull, load, axis=(0, 0, 1), value=lambda t: t**2, point_a=(0, 0, 1)))
    solution = mbd.inverse_dynamics(model, 1.0, 0.1)
    t = solution.t
    r, rate = 1.0 + t**2, 2.0 * t
    s, c = np.sin(0.3 * t), np.cos(0.3 * t)
    y = -((2.0 - 0.09 * r) * s + 2.0 * 0.3 * rate * c)
    z = (2.0 - 0.09 * r) * c - 2.0 * 0.3 * rate * s - 2.0 * np.sin(2.0 * t)
    expected = np.column_stack((np.zeros_like(t), y, z))
    assert solution[load].acceleration == pytest.approx(expected, abs=1e-7)
    held = np.abs(solution[frame].force - (2.0 * (expected + (0, 0, G)) + 5.0 * (
        np.column_stack((0 * t, 0 * t, -2.0 * np.sin(2.0 * t))) + (0, 0, G)
    ))).max()  # fmt: skip
    assert held < 1e-6
    assert solution[hoist].force.shape == (11, 3)


def test_files_and_arguments(tmp_path):
    solution = mbd.kinematics(slider_crank(), 0.35, 0.1)
    assert len(solution) == 5 and solution.t[-1] == 0.35
    solution.save(tmp_path / "motion.npz")
    loaded = mbd.load(tmp_path / "motion.npz")
    assert np.array_equal(loaded["slider"].position, solution["slider"].position)
    assert "Kinematics" in repr(loaded) and "constraint error" in solution.summary()
    late = mbd.kinematics(slider_crank(), 1.0, 0.25, t_start=0.5)
    assert late.t.tolist() == [0.5, 0.75, 1.0]
    assert late["slider"].position[:, 0] == pytest.approx(closed_form(late.t)[0], abs=ROUND_OFF)
    with pytest.raises(mbd.ModelError, match="step"):
        mbd.kinematics(slider_crank(), 1.0, 0.0)
    with pytest.raises(mbd.ModelError, match=r"expected an mbd\.Model"):
        mbd.kinematics(3, 1.0, 0.1)
    with pytest.raises(mbd.ModelError, match="expected a time after the start"):
        mbd.kinematics(slider_crank(), 1.0, 0.1, t_start=2.0)


# --- joint coordinates ----------------------------------------------------------------------------------------------


def four_bar():
    """Spatial joints without redundancy, a motor with its rotor beside the driver, control and a spring."""
    model = mbd.Model("four-bar", gravity=(0, 0, -G))
    corners = [np.array(p) for p in ((0, 0, 0), (0, 0, 0.3), (0.8, 0, 0.6), (0.9, 0, 0))]
    bars = []
    for k, (p, q) in enumerate(itertools.pairwise(corners)):
        turn = mbd.rotation((0, -np.arctan2(q[2] - p[2], q[0] - p[0]), 0))
        node = mbd.nodes.RotationVector(0.5 * (p + q), rotation=turn)
        bars.append(model.add(mbd.RigidBody(f"bar {k}", 1.0 + k, (0.01, 0.02, 0.02), node, com=(0.02, 0.03, 0.01))))
    first = model.add(Revolute(model.ground, bars[0], at=corners[0], axis=(0, 1, 0), name="first"))
    model.add(mbd.joints.Spherical(bars[0], bars[1], at=corners[1], name="second"))
    model.add(mbd.joints.Universal(bars[1], bars[2], at=corners[2], axis_a=(0, 1, 0), axis_b=(0, 0, 1), name="third"))
    last = model.add(Revolute(model.ground, bars[2], at=corners[3], axis=(0, 1, 0), name="last"))
    model.add(AngleDriver.on(first, lambda t: 2.0 * t + 0.3 * np.sin(3.0 * t), name="driver"))
    model.add(mbd.forces.Motor(first, 1.0, gear=5.0, rotor_inertia=0.01, name="motor"))
    model.add(mbd.forces.PDControl(last, 0.1, 20.0, 1.0, name="control"))
    model.add(mbd.forces.Spring(model.ground, bars[1], (0, 0, 1), (0, 0, 0), stiffness=50.0, length=0.5, name="spring"))
    return model


def open_chain():
    """Every coordinate of a cylinder, a slide, a hinge and a screw is driven; motors, friction and limits act there."""
    model = mbd.Model("chain", gravity=(0, 0, -G))
    a, b, c, d = (
        model.add(mbd.RigidBody(name, 1.0, (0.1, 0.2, 0.25), mbd.nodes.RotationVector((x, 0, 0)), com=(0.1, 0.1, 0)))
        for name, x in (("a", 0.5), ("b", 1.5), ("c", 2.5), ("d", 3.5))
    )
    cylinder = model.add(mbd.joints.Cylindrical(model.ground, a, at=(0, 0, 0), axis=(0, 1, 0)))
    slide = model.add(Prismatic(a, b, at=(1, 0, 0), axis=(1, 0, 0.2)))
    hinge = model.add(Revolute(b, c, at=(2, 0, 0), axis=(0, 0, 1)))
    screw = model.add(mbd.joints.Screw(c, d, at=(3, 0, 0), axis=(1, 0, 0), pitch=0.1))
    model.add(AngleDriver.on(cylinder, lambda t: 0.5 * np.sin(2.0 * t)))
    model.add(PositionDriver.on(cylinder, lambda t: 0.3 * t * t))
    model.add(PositionDriver.on(slide, lambda t: 0.1 * np.sin(5.0 * t)))
    model.add(AngleDriver.on(hinge, lambda t: 5.0 * t * t))
    model.add(AngleDriver.on(screw, lambda t: 9.0 * t))
    for joint in (slide, hinge):
        model.add(mbd.forces.Motor(joint, 1.0, gear=3.0, rotor_inertia=0.05))
    model.add(mbd.forces.JointFriction(hinge, viscous=0.3, coulomb=0.1))
    model.add(mbd.forces.JointLimit(slide, upper=0.05, stiffness=1e3))
    return model


CHOICES = {
    "its own": {}, "driven joint cut": {"cut": ["first"]}, "ball cut": {"cut": ["second"]},
    "absolute body in the loop": {"absolute": ["bar 2"]},
    "quaternion of a ball": {"cut": ["third"], "spherical": mbd.nodes.Quaternion()},
}  # fmt: skip


@pytest.mark.parametrize("build, choice", [(four_bar, c) for c in CHOICES] + [(open_chain, "its own")])
def test_joint_coordinates_give_the_same(build, choice):
    """Motion, reactions, and what drivers, motors and springs do."""
    model = build()
    absolute, joint = (
        mbd.inverse_dynamics(x, 1.0, 0.1) for x in (model, model.with_coordinates("joint", **CHOICES[choice]))
    )
    for body in model.bodies:
        for name in ("position", "velocity", "acceleration", "angular_velocity", "angular_acceleration"):
            given = getattr(joint[body.name], name)
            assert np.abs(given - getattr(absolute[body.name], name)).max() < 10 * SECOND_DERIVATIVE
    for element in (*model.joints, *model.forces):
        for name in ("force", "torque"):
            given = getattr(joint[element.name], name)
            assert np.abs(given - getattr(absolute[element.name], name)).max() < 100 * SECOND_DERIVATIVE
    assert joint.power == pytest.approx(absolute.power, abs=100 * SECOND_DERIVATIVE)


def test_redundant_drivers_share_their_work_as_the_coordinates_have_it():
    """With two driven hinges of a parallelogram the sum of torques is unique; minimum norm depends on what counts."""
    model = mbd.Model("parallelogram", gravity=(0, 0, -G))
    node = mbd.nodes.RotationVector
    left, top, right = (
        model.add(mbd.RigidBody(name, 1.0, (0.1, 0.1, 0.1), node(at)))
        for name, at in (("left", (0, 0, 0.5)), ("top", (0.5, 0, 1)), ("right", (1, 0, 0.5)))
    )
    first = model.add(Revolute(model.ground, left, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(Revolute(left, top, at=(0, 0, 1), axis=(0, 1, 0)))
    model.add(Revolute(top, right, at=(1, 0, 1), axis=(0, 1, 0)))
    last = model.add(Revolute(model.ground, right, at=(1, 0, 0), axis=(0, 1, 0)))
    for name, joint in (("a", first), ("b", last)):
        model.add(AngleDriver.on(joint, lambda t: 0.6 * np.sin(2.0 * t), name=name))
    torques = []
    for x in (model, model.with_coordinates("joint")):
        with pytest.warns(mbd.RedundancyWarning, match="minimum norm"):
            solution = mbd.inverse_dynamics(x, 1.0, 0.1)
        torques.append([solution[name].torque[:, 1] for name in ("a", "b")])
    assert torques[0][0] == pytest.approx(torques[0][1], abs=1e-6)  # all joints count, and the model is symmetric
    assert np.sum(torques[1], axis=0) == pytest.approx(np.sum(torques[0], axis=0), abs=1e-6)
