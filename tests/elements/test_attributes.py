"""Attributes after construction: a change acts like the same value in the constructor, or is refused by name."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import re

import numpy as np
import pytest

import mbd
from mbd import forces, joints, nodes
from mbd.elements.attributes import Attribute, Checked, changeable, constructor_arguments
from mbd.joints import DistanceBetween, Dot2

TURN = mbd.rotation((0.3, -0.2, 0.5))
AT, AXIS = (0.2, 0.3, -0.4), (1.0, 2.0, 2.0)
POINTS = {"point_a": (0.1, 0.2, 0.0), "point_b": (0.0, -0.1, 0.3)}


def rigid(label, k, cls=nodes.Quaternion, **changes):
    settings = {
        "position": (1.0 * k, 0.2, 0.1),
        "rotation": TURN,
        "velocity": (0, 0.3, 0),
        "angular_velocity": (1, 2, 3),
    }
    keys = [key for key in changes if key in settings or key in ("lie", "pinned", "sequence")]
    given = settings | {key: changes.pop(key) for key in keys}
    return mbd.RigidBody(**{"name": label, "mass": 2.0, "inertia": (1.0, 1.2, 1.5), "node": cls(**given)} | changes)


def stage():
    """A model with two bodies and what elements may refer to."""
    model = mbd.Model("stage", gravity=(0, 0, -9.81))
    a, b = model.add(rigid("a", 0)), model.add(rigid("b", 1))
    return model, a, b


def hinge(model, a, b):
    return model.add(joints.Revolute(a, b, at=AT, axis=AXIS, name="hinge"))


def slide(model, a, b):
    return model.add(joints.Prismatic(model.ground, a, axis=AXIS, name="slide"))


def on_bodies(cls, **arguments):
    return lambda model, a, b, **changes: cls(a, b, **{**arguments, **changes})


def waving(t):
    return 0.2 * math.sin(t)


OSCILLATOR = {"coordinates": (1.0, 2.0), "velocities": (0.1, 0.2), "mass": (2.0, 3.0), "potential": lambda q: q[0] ** 2}

# class -> function (model, a, b, **changes) that makes one element; what is not changed is as here
JOINTS = {
    "Fixed": on_bodies(joints.Fixed, at=AT),
    "Spherical": on_bodies(joints.Spherical, at=AT),
    "Universal": lambda m, a, b, **c: joints.Universal(a, b, at=AT, axis_a=(1, 0, 0), axis_b=(0, 1, 0)),
    "Distance": on_bodies(joints.Distance, **POINTS, length=1.1),
    "Screw": on_bodies(joints.Screw, at=AT, axis=AXIS, pitch=0.3),
    "Rolling": on_bodies(joints.Rolling, radius=0.4, axis=AXIS),
    "Coupling": lambda m, a, b, **c: joints.Coupling(
        hinge(m, a, b), slide(m, a, b), **{"ratio": 2.0, "offset": 0.1} | c
    ),
    "Gear": lambda m, a, b, **c: joints.Gear(
        hinge(m, a, b), m.add(joints.Revolute(m.ground, a, at=AT, axis=AXIS)), **{"ratio": 2.0, "offset": 0.1} | c
    ),
    "RackPinion": lambda m, a, b, **c: joints.RackPinion(
        hinge(m, a, b), slide(m, a, b), **{"radius": 2.0, "offset": 0.1} | c
    ),
    "PositionDriver": on_bodies(joints.PositionDriver, axis=AXIS, value=0.1),
    "AngleDriver": on_bodies(joints.AngleDriver, axis=AXIS, value=0.1),
    "DrivenFrame": on_bodies(joints.DrivenFrame, at=AT, axis=AXIS, displacement=(0.1, 0, 0), angle=0.1),
    "UserConstraint": lambda m, a, b, **c: joints.UserConstraint([a, b], **{"function": lambda z, t: z[0, 0]} | c),
}
FORCES = {
    "Spring": on_bodies(forces.Spring, **POINTS, stiffness=30.0, length=0.7, damping=0.3),
    "GreenSpring": on_bodies(forces.GreenSpring, **POINTS, stiffness=30.0, length=0.7, damping=0.3),
    "NonlinearSpring": on_bodies(forces.NonlinearSpring, **POINTS, function=lambda x, v: 2.0 * x),
    "Gravitation": on_bodies(forces.Gravitation, constant=3.0),
    "Bushing": on_bodies(
        forces.Bushing, **POINTS, stiffness=(1, 2, 3), damping=0.1, rotational_stiffness=2.0, rotational_damping=0.2
    ),
    "TorsionSpring": lambda m, a, b, **c: forces.TorsionSpring(
        hinge(m, a, b), **{"stiffness": 3.0, "damping": 0.1, "rest": 0.2} | c
    ),
    "PDControl": lambda m, a, b, **c: forces.PDControl(hinge(m, a, b), **{"target": 0.2, "kp": 3.0, "kd": 0.1} | c),
    "JointForce": lambda m, a, b, **c: forces.JointForce(hinge(m, a, b), **{"force": 0.3} | c),
    "JointFriction": lambda m, a, b, **c: forces.JointFriction(
        hinge(m, a, b),
        **{"viscous": 0.1, "coulomb": 1.0, "static": 2.0, "stribeck_velocity": 3.0, "transition": 0.5} | c,
    ),
    "JointLimit": lambda m, a, b, **c: forces.JointLimit(
        hinge(m, a, b), **{"lower": -1e-3, "upper": 1e-3, "stiffness": 30.0, "damping": 0.1} | c
    ),
    "Motor": lambda m, a, b, **c: forces.Motor(
        hinge(m, a, b), **{"torque": 0.3, "limit": 5.0, "gear": 2.0, "rotor_inertia": 0.1} | c
    ),
    "GravityCompensation": lambda m, a, b, **c: forces.GravityCompensation(hinge(m, a, b)),
    "Force": lambda m, a, b, **c: forces.Force(a, **{"value": (1, 2, 3), "point": (0.1, 0, 0), "frame": "body"} | c),
    "Torque": lambda m, a, b, **c: forces.Torque(a, **{"value": (1, 2, 3), "frame": "body"} | c),
    "Drag": lambda m, a, b, **c: forces.Drag(a, **{"coefficient": 0.3, "linear": 0.2, "wind": (1, 2, 3)} | c),
    "UserForce": lambda m, a, b, **c: forces.UserForce(a, **{"function": lambda t, z, v: -v} | c),
    "UserPotential": lambda m, a, b, **c: forces.UserPotential(a, **{"function": lambda z: z[0, 0] ** 2} | c),
}
BODIES = {
    "RigidBody": lambda m, a, b, **c: rigid("c", 2, **c),
    "PointMass": lambda m, a, b, **c: mbd.PointMass(
        "c", **{"mass": 2.0, "position": (1, 2, 3), "velocity": (4, 5, 6)} | c
    ),
    "Generalized": lambda m, a, b, **c: mbd.Generalized("c", **OSCILLATOR | c),
}
NODES = {
    "Quaternion": lambda m, a, b, **c: rigid("c", 2, nodes.Quaternion, **c),
    "Directors": lambda m, a, b, **c: rigid("c", 2, nodes.Directors, **c),
    "RotationVector": lambda m, a, b, **c: rigid("c", 2, nodes.RotationVector, **c),
    "EulerAngles": lambda m, a, b, **c: rigid("c", 2, nodes.EulerAngles, **c),
    "Point": lambda m, a, b, **c: mbd.PointMass("c", mass=2.0, **c),
    "Generalized node": BODIES["Generalized"],
}
FACTORIES = JOINTS | FORCES | BODIES | NODES

OTHER = {  # another value of each attribute that can be changed, as a user would write it
    "length": 0.9, "stiffness": 41, "damping": 0.7, "rest": 0.4, "constant": 4.0, "kp": 4.0, "kd": 0.2, "pitch": 0.5,
    "ratio": 3, "offset": 0.3, "coefficient": 0.5, "linear": 0.6, "wind": [3, 2, 1], "point_a": [0.2, 0.1, 0.1],
    "point_b": (0.1, 0.1, 0.4), "point": [0, 0.2, 0], "value": [3, 2, 1], "frame": "world", "switches": [0.5, 0.25],
    "rotational_stiffness": 5, "rotational_damping": [0.1, 0.2, 0.3], "axes": mbd.rotation((0.1, 0.2, 0.3)).tolist(),
    "motion": 0.3, "motions": [0.3, 0.2, 0.1], "mass": 3, "inertia": [2.0, 2.2, 2.5], "com": [0.1, 0.2, 0.3],
    "position": [5, 4, 3], "velocity": [0.1, 0.2, 0.3], "angular_velocity": (0.1, 0.2, 0.3), "lie": True,
    "sequence": "zxz",
    "rotation": (1.0, 0.1, 0.2, 0.3), "coordinates": [0.5, 0.6], "velocities": (0.7, 0.8), "check_inertia": False,
    "shape": mbd.shapes.Sphere(0.3), "viscous": 0.2, "coulomb": 1.5, "static": 2.5, "stribeck_velocity": 2.0,
    "transition": 0.25, "lower": -2e-3, "upper": 2e-3, "limit": 0.1, "feedforward": 0.2,
    "force": lambda t, u, u_dot: 0.3 - u_dot, "torque": lambda t: 0.7 + t,
}  # fmt: skip
OTHER_OF = {
    ("RotationVector", "lie"): False,
    ("Point", "position"): (1, 1, 1),
    ("NonlinearSpring", "function"): lambda x, v: 3.0 * x,
    ("UserForce", "function"): lambda t, z, v: -2.0 * v,
    ("UserPotential", "function"): lambda z: 3.0 * z[0, 0],
    ("UserConstraint", "function"): lambda z, t: 2.0 * z[0, 1] - 0.1,
    ("Generalized", "force"): lambda t, q, v: (0.3 * v[0], 0.2 * t),
    ("Generalized", "potential"): lambda q: 3.0 * q[1] ** 2,
    ("Generalized", "constraints"): lambda q: q[0] + q[1] - 3.0,
    ("Generalized", "node"): nodes.Generalized((3.0, 4.0)),
    ("RigidBody", "node"): nodes.Directors((3, 2, 1)),
    ("PointMass", "node"): nodes.Point((3, 2, 1)),
}
ARGUMENT = {  # what an attribute is called in the constructor, if not the same
    ("PositionDriver", "motion"): "value", ("AngleDriver", "motion"): "value", ("DrivenFrame", "motion"): "angle",
    ("DrivenFrame", "motions"): "displacement", ("PDControl", "motion"): "target", ("RackPinion", "ratio"): "radius",
}  # fmt: skip
WITHOUT_ARGUMENT = ("name", "pinned", "branch", "range", "effort", "speed")  # tested elsewhere
REFUSED = (("PointMass", "rotation"), ("PointMass", "angular_velocity"))  # by its node, a point
UNSEEN = ("shape", "check_inertia", "switches", "upper")  # no part of the equations, or not reached


def made(name, **changes):
    model, a, b = stage()
    element = model.add(FACTORIES[name](model, a, b, **changes))
    return model, element.node if name in NODES else element


def signature(model):
    """What enters the equations of motion: forces, equations and masses in the initial state and in one nearby."""
    system = mbd.assemble(model)
    q, v = system.initial_state()
    rng = np.random.default_rng(1)
    moved, faster = system.update(q, 0.1 * rng.normal(size=len(v))), v + 0.1 * rng.normal(size=len(v))
    parts = [q, v]
    for x, y in ((q, v), (moved, faster)):
        parts += [system.forces(x, y), system.gyroscopic_forces(x, y), system.mass_matrix(x).toarray()]
        parts += [system.constraints(x), system.constraint_velocity(x, y), system.constraint_bias(x, y)]
    return parts


def equal(one, other):
    return len(one) == len(other) and all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


def cases():
    for name in FACTORIES:
        for attribute in changeable(type(made(name)[1])):
            if attribute not in WITHOUT_ARGUMENT and (name, attribute) not in REFUSED:
                yield pytest.param(name, attribute, id=f"{name}-{attribute}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "attribute"), list(cases()))
def test_a_change_acts_like_the_constructor(name, attribute):
    new = OTHER_OF.get((name, attribute), OTHER.get(attribute))
    assert new is not None, f"give another value of {name}.{attribute} in OTHER"
    if (name, attribute) == ("Generalized", "constraints"):
        new = lambda q: q[0] + q[1] - 3.0  # noqa: E731
    unchanged, element = made(name)
    before = signature(unchanged)
    changed = unchanged
    setattr(element, attribute, new)
    argument = ARGUMENT.get((name, attribute), attribute)
    if attribute == "node" and name != "RigidBody":
        start = {"position": new.position} if name == "PointMass" else {"coordinates": (3, 4), "velocities": (0, 0)}
        fresh, twin = made(name, **start | ({"velocity": (0, 0, 0)} if name == "PointMass" else {}))
    else:
        fresh, twin = made(name, **{argument: new})
    assert equal(signature(changed), signature(fresh))
    if attribute in UNSEEN:
        assert np.all(getattr(element, attribute) == getattr(twin, attribute))
    else:
        assert not equal(before, signature(changed))


@pytest.mark.parametrize("name", FACTORIES)
def test_everything_else_is_refused_by_name(name):
    model, element = made(name)
    cls = type(element)
    declared = {key for base in cls.__mro__ for key, x in vars(base).items() if isinstance(x, Attribute)}
    assert set(vars(element)) <= declared
    public = {key for key in dir(element) if key[0] != "_"}
    can = set(changeable(cls)) - {"name"}
    before = dict(vars(element))
    for key in (public | constructor_arguments(cls) | {"stifness", "colour_of", "_private"}) - can:
        with pytest.raises(mbd.ModelError, match=key):
            setattr(element, key, (1.0, 2.0, 3.0))
        if key in vars(element):
            with pytest.raises(mbd.ModelError, match=key):
                delattr(element, key)
    assert vars(element) == before


@pytest.mark.parametrize("name", FACTORIES)
def test_nonsense_is_refused_by_name_and_changes_nothing(name):
    _, element = made(name)
    before = dict(vars(element))
    for attribute in changeable(type(element)):
        for bad in (math.nan, "nonsense", object(), [1.0, math.inf, 2.0], np.zeros((2, 5))):
            with pytest.raises(mbd.ModelError, match=attribute if attribute != "motions" else "displacement"):
                setattr(element, attribute, bad)
    assert vars(element) == before


def test_every_class_is_here():
    for module, known in ((joints, JOINTS), (forces, FORCES)):
        base = joints.Joint if module is joints else forces.ForceElement
        for key, cls in inspect.getmembers(module, inspect.isclass):
            if issubclass(cls, base) and cls is not base and key in module.__all__:
                own = {name for name, x in vars(cls).items() if isinstance(x, Attribute)}
                assert key in known or not own, f"{key} is missing in this file"
    assert {cls.__name__ for cls in nodes.RigidNode.__subclasses__()} <= set(NODES)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("mass", -2), ("mass", 0), ("mass", "2"), ("inertia", (1, 1, -1)), ("inertia", (1, 1, 5)), ("com", (1, 2)),
        ("inertia", [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), ("position", (0, 0, math.nan)), ("node", nodes.Point()),
        ("rotation", 2.0 * np.eye(3)), ("rotation", np.diag((1.0, 1.0, -1.0))), ("shape", "box"), ("mas", 3.0),
    ],
)  # fmt: skip
def test_bodies(attribute, value):
    _, body = made("RigidBody")
    with pytest.raises(mbd.ModelError, match=f"body 'c'.*{attribute}|Quaternion: {attribute}"):
        setattr(body, attribute, value)


def test_attributes_that_belong_together():
    _, element = made("Quaternion")
    with pytest.raises(mbd.ModelError, match="velocity = .*pinned=True"):
        element.pinned = True
    element.velocity = (0, 0, 0)
    element.pinned = True
    with pytest.raises(mbd.ModelError, match="velocity"):
        element.velocity = (1, 0, 0)
    assert element.velocity.tolist() == [0, 0, 0]
    _, spring = made("Spring")
    with pytest.raises(mbd.ModelError, match="coincide"):
        spring.point_b = spring.body_b.rotation.T @ (
            spring.body_a.position + spring.body_a.rotation @ spring.point_a - spring.body_b.position
        )
    _, bushing = made("Bushing")
    bushing.rotational_stiffness, bushing.rotational_damping = 0.0, 0.0
    assert not bushing.turns and not bushing.general()


def test_gravitation_follows_the_bodies():
    model, pull = made("Gravitation")
    pull.body_a.mass, pull.body_b.com = 5.0, (0, 0.2, 0)
    assert pull.strength == 3.0 * 5.0 * 2.0 and pull.point_b.tolist() == [0, 0.2, 0]


def test_a_load_becomes_a_function_and_a_constant_again():
    model, load = made("Force")
    load.value = lambda t: (t, 0, 0)
    assert load.function is not None and not load.on_frames and not load.value.any()
    load.value = (1, 0, 0)
    assert load.function is None and load.value.tolist() == [1, 0, 0]
    with pytest.raises(mbd.ModelError, match="failed at t = 0 with ZeroDivisionError"):
        load.value = lambda t: 1 / 0
    assert load.function is None and load.value.tolist() == [1, 0, 0]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), mbd.Model.copy])
def test_stored_arrays_cannot_be_changed_in_place(copied):
    model = copied(made("Bushing")[0])
    assert model["a"].model is model
    shape = copied(mbd.shapes.Box((1, 2, 3))) if copied is not mbd.Model.copy else mbd.shapes.Box((1, 2, 3))
    for element in (*model.bodies, *(body.node for body in model.bodies), *model.joints, *model.forces, model, shape):
        for key, x in vars(element).items():
            if isinstance(x, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    x[0] = math.nan
                assert key not in changeable(type(element)) or not x.flags.writeable
    with pytest.raises(mbd.ModelError, match="mass"):
        model["a"].mass = -1
    given = np.array((1.0, 2.0, 3.0))
    model["a"].position = given
    given[0] = math.nan
    assert model["a"].position.tolist() == [1, 2, 3]


def test_bodies_do_not_share_a_node():
    """What is set in one body moves no other one, whichever way they came to the same node."""
    node = mbd.nodes.Quaternion()
    first = mbd.RigidBody("first", 1.0, (1, 1, 1), node)
    second = mbd.RigidBody("second", 1.0, (1, 1, 1), node)
    third = copy.copy(first)
    fourth = mbd.RigidBody("fourth", 1.0, (1, 1, 1))
    fourth.node = first.node
    assert first.node is node
    for k, body in enumerate((first, second, third, fourth)):
        body.position = (k, 0, 0)
    assert [body.position[0] for body in (first, second, third, fourth)] == [0, 1, 2, 3]
    points = [mbd.PointMass("mass", 1.0) for _ in range(2)]
    points[1].node = points[0].node
    points[0].position = (1, 0, 0)
    assert not points[1].position.any()


def test_initial_values_are_refused_with_the_name_of_the_body():
    model, a, b = stage()
    with pytest.raises(mbd.ModelError, match="body 'a': .*position = "):
        a.position = (0, 0, math.nan)
    node = mbd.nodes.EulerAngles(sequence="xyz")
    a.node = node
    with pytest.raises(mbd.SingularityError, match="body 'a': .*gimbal lock"):
        a.rotation = mbd.rotation(axis=(0, 1, 0), angle=math.pi / 2)
    assert (a.rotation == np.eye(3)).all()
    node.sequence = "zxz"  # allowed for the moment, as the rotation may follow
    with pytest.raises(mbd.SingularityError, match="body 'a': .*gimbal lock"):
        mbd.simulate(model, 0.1, 0.1)


@pytest.mark.parametrize("value", [True, np.True_])
def test_truth_values_are_no_numbers(value):
    model, a, b = stage()
    with pytest.raises(mbd.ModelError, match=r"body 'a': mass = .*; expected a number that is not negative, not bool"):
        a.mass = value
    with pytest.raises(mbd.ModelError, match="mass"):
        a.mass = np.array(value)
    for vector in ((value, 0, 0), [value] * 3, np.array([True, False, True])):
        with pytest.raises(mbd.ModelError, match=r"gravity = .*; expected 3 numbers"):
            model.gravity = vector
    with pytest.raises(mbd.ModelError, match="gravity"):
        model.gravity = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])


def test_models():
    model, a, b = stage()
    with pytest.raises(mbd.ModelError, match="gravity"):
        model.gravity = (0, 0, math.nan)
    with pytest.raises(mbd.ModelError, match="gravty.*gravity"):
        model.gravty = (0, 0, 0)
    for key in ("bodies", "joints", "forces", "ground", "graph", "loops"):
        with pytest.raises(mbd.ModelError, match=key):
            setattr(model, key, [])
    with pytest.raises(mbd.ModelError, match="name cannot be changed"):
        a.name = "b"
    model.name = "renamed"
    joint = hinge(model, a, b)
    for change in (model.bodies.append, model.joints.append):
        with pytest.raises(mbd.ModelError, match=r"model.add\(...\)"):
            change(mbd.PointMass("new", 1.0))
    with pytest.raises(mbd.ModelError, match="cannot remove body 'a', because revolute 'hinge'"):
        model.remove("a")
    model.remove(joint)
    assert "hinge" not in model and not model.joints and joint.model is None
    model.bodies[:] = [b]
    assert "a" not in model and model.bodies == [b]
    assert model.add(a) is model.bodies[-1]


def test_own_classes_keep_their_freedom():
    class PointOnCircle(mbd.joints.Joint):
        count = 0

        def __init__(self, *bodies, radius, **arguments):
            self.radius = radius
            super().__init__(*bodies, **arguments)
            self.point_b = np.array((0.1, 0, 0))

        def primitives(self):
            self.count += 1
            self._seen = [setattr(self, key, 1.0) for key in ("first", "second")]
            return [
                Dot2(self.axis_a, self.point_a, self.point_b),
                DistanceBetween(self.point_a, self.point_b, self.radius),
            ]

    model, a, _ = stage()
    ring = model.add(PointOnCircle(model.ground, a, point_a=(0, 0, 0), axis=(0, 0, 1), radius=2.0))
    assert ring.n_equations == 2 and ring.first == 1.0
    ring.radius = 3.0
    assert ring.primitives()[1].length == 3.0
    for key in ("raduis", "axis", "frame_a", "coordinate"):
        with pytest.raises(mbd.ModelError, match=key):
            setattr(ring, key, 1.0)


def test_directions_of_any_length():
    model, a, b = stage()
    joint = joints.Revolute(a, b, at=AT, axis=(1e200, 1e200, 0))
    assert joint.body_a.rotation @ joint.axis_a == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0), abs=1e-15)
    assert joints.Revolute(a, b, at=AT, axis=(0, -1.7e308, 1e300)).axis_a @ a.rotation.T == pytest.approx(
        (0, -1, 0), abs=1e-7
    )
    with pytest.raises(mbd.ModelError, match="axis = .*cannot be zero"):
        joints.Revolute(a, b, at=AT, axis=(1e-200, 0, 0))
    a.rotation = (1e200, 0, 0, 1e200)
    assert a.rotation @ (1, 0, 0) == pytest.approx((0, 1, 0), abs=1e-15)


def test_all_elements_are_checked():
    assert all(
        issubclass(cls, Checked) for cls in (mbd.Model, mbd.bodies.Body, joints.Joint, forces.ForceElement, nodes.Node)
    )


def test_arguments_that_nobody_knows_are_answered_by_those_that_there_are():
    """Python names the wrong one; the note is what its traceback ends with."""
    model, a, b = stage()
    hinge, other = (joints.Revolute(model.ground, x, at=AT, axis=AXIS) for x in (a, b))
    for make, words in (
        (lambda: mbd.RigidBody("c", masss=3.0), r"^RigidBody takes name, mass, .*; did you mean 'mass'"),
        (lambda: joints.Distance(a, b, start=AT), r"^Distance takes .*point_a, point_b, length, name$"),
        (lambda: joints.Gear(hinge, other), r"^Gear takes joint_a, joint_b, ratio, "),
    ):
        with pytest.raises(TypeError) as caught:
            make()
        (note,) = caught.value.__notes__
        assert re.search(words, note), note


def test_an_error_inside_of_a_constructor_has_no_note():
    class Broken(joints.Distance):
        def __init__(self, body_a, body_b):
            super().__init__(body_a, body_b)
            len(3)

    model, a, _ = stage()
    with pytest.raises(TypeError, match="has no len") as caught:
        Broken(model.ground, a)
    assert not hasattr(caught.value, "__notes__")
