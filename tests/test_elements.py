"""Every registered node, primitive, joint and force, found by introspection, against differences and group laws.

A new joint or force of ``mbd.joints`` or ``mbd.forces`` is checked here as soon as it can be imported.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from mbd import forces, joints, nodes
from mbd.bodies import Generalized, PointMass, RigidBody, Rotor
from mbd.joints import primitive_data
from mbd.rotation import SEQUENCES, from_rotation_vector
from mbd.testing import check_force, check_joint, check_node, check_primitive, observed_order, random_node

RIGID = nodes.RigidNode.__subclasses__()
OFFSET = (0.15, -0.2, 0.3)

# --- nodes --------------------------------------------------------------------------------------------------------


def node_cases():
    for cls in RIGID:
        for sequence in SEQUENCES if cls is nodes.EulerAngles else (None,):
            settings = {} if sequence is None else {"sequence": sequence}
            for lie in (True, False):
                for pinned in (False, True):
                    for com in ((0.0, 0.0, 0.0), OFFSET):
                        words = [cls.__name__, sequence, "lie" if lie else "conventional"]
                        words += ["pinned" if pinned else "free", "offset" if any(com) else "centred"]
                        check = partial(check_random_node, cls, {**settings, "lie": lie, "pinned": pinned}, com)
                        yield pytest.param(check, id="-".join(word for word in words if word))
    yield pytest.param(lambda rng: check_node(random_node(nodes.Point, rng), rng), id="Point")
    for name, arguments in GENERALIZED.items():
        yield pytest.param(partial(check_generalized, arguments), id=f"Generalized-{name}")


def check_random_node(cls, settings, com, rng):
    check_node(random_node(cls, rng, **settings), rng, com=com)


def check_generalized(arguments, rng):
    q, v = np.array((0.3, -0.4, 0.7)), np.array((0.5, 1.1, -0.6))
    check_node(Generalized("coordinates", q, v, **arguments), rng)


def coupled_mass(q):
    c = 0.3 * np.cos(q[0] - q[1])
    return np.array([[2.0 + q[2] * q[2], c, 0.0 * c], [c, 1.5 + 0.0 * c, 0.0 * c], [0.0 * c, 0.0 * c, 1.0 + 0.0 * c]])


def potential(q):
    return 9.81 * np.sin(q[0]) + 0.5 * q[1] ** 2 * q[2] + q[2] ** 4


def constraints(q):
    return np.array([q[0] * q[0] + q[1] * q[1] - 1.0, np.sin(q[2]) * q[0] - 0.2])


GENERALIZED: dict[str, dict[str, Any]] = {
    "constant": {"mass": (2.0, 1.0, 0.5)},
    "potential": {"mass": np.diag((2.0, 1.0, 0.5)) + 0.1, "potential": potential},
    "constraint": {"mass": (2.0, 1.0, 0.5), "constraints": constraints},
    "everything": {"mass": coupled_mass, "potential": potential, "constraints": constraints},
}

# --- joints -------------------------------------------------------------------------------------------------------

GROUND = None
LIE = partial(random_node, nodes.RotationVector, lie=True)
VECTOR = partial(random_node, nodes.RotationVector, lie=False)
QUATERNION = partial(random_node, nodes.Quaternion, lie=False)
LIE_QUATERNION = partial(random_node, nodes.Quaternion, lie=True)
DIRECTORS = partial(random_node, nodes.Directors, lie=False)
EULER = partial(random_node, nodes.EulerAngles, sequence="zxz")
PINNED = partial(random_node, nodes.Quaternion, pinned=True)
POINT = partial(random_node, nodes.Point)

PAIRS: dict[str, tuple[Any, Any]] = {
    "ground-lie": (GROUND, LIE),
    "quaternion-ground": (QUATERNION, GROUND),
    "lie-vector": (LIE, VECTOR),
    "euler-quaternion": (EULER, QUATERNION),
    "quaternion-directors": (QUATERNION, DIRECTORS),
    "pinned-lie_quaternion": (PINNED, LIE_QUATERNION),
    "ground-point": (GROUND, POINT),
    "directors-point": (DIRECTORS, POINT),
    "point-vector": (POINT, VECTOR),
}

AT, AXIS, NORMAL = np.array((0.2, 0.3, -0.4)), np.array((1.0, 2.0, 2.0)) / 3.0, np.array((2.0, 1.0, -2.0)) / 3.0

# Joints that are not built from at= and axis=: class name -> function (a, b) -> arguments
JOINT_ARGUMENTS: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "Universal": lambda a, b: {"at": AT, "axis_a": a.rotation.T @ AXIS, "axis_b": b.rotation.T @ NORMAL},
    "PositionDriver": lambda a, b: {"axis": AXIS, "value": waving},
    "AngleDriver": lambda a, b: {"axis": AXIS, "value": waving},
    "DrivenFrame": lambda a, b: {"at": AT, "axis": AXIS, "displacement": swaying, "angle": waving},
    "Rolling": lambda a, b: {"radius": 0.4, "axis": AXIS, "normal": NORMAL, "centre": (0.1, 0.2, -0.1)},
    "Screw": lambda a, b: {"at": AT, "axis": AXIS, "pitch": 0.3},
    "Distance": lambda a, b: {"point_a": inside(a, (0.1, 0.2, 0.3)), "point_b": inside(b, (-0.3, 0.2, 0.1))},
}


# Joints that are built from other joints: class name -> function (cls, a, b) -> joint
JOINTS_ON_JOINTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "Coupling": lambda cls, a, b: cls(shaft(a.model, a, b), slider(a.model), 0.7, coordinate_a="angle"),
    "UserConstraint": lambda cls, a, b: cls([a, b], distance_and_angle),
    "Gear": lambda cls, a, b: cls(hinge(a.model, a, b), shaft(a.model, b, a), -0.4),
    "RackPinion": lambda cls, a, b: cls(hinge(a.model, a, b), shaft(a.model, a, b), 0.3),
    "RotorHinge": lambda cls, a, b: cls(
        a.model.ground, a.model.add(Rotor("rotor", 0.4)), shaft(a.model, a, b), "displacement"
    ),
}


def distance_and_angle(frames, t):
    d = frames[1, :3] - frames[0, :3]
    return np.sum(d * d) - 2.0 - np.sin(t), np.sum(frames[0, 3:6] * frames[1, 6:9]) - 0.1 * t, d[0] * frames[0, 11]


def waving(t):
    return 0.3 * np.sin(3.0 * t)


def swaying(t):
    return np.sin(t), 0.2 * t * t, 1.0 - np.cos(t)


def inside(body, point):
    """A body-fixed point; a point mass has none but its own."""
    return (0.0, 0.0, 0.0) if isinstance(body, PointMass) else point


def public_classes(module, base):
    """The classes of a module that people can use, without the base itself."""
    found = [cls for name, cls in vars(module).items() if inspect.isclass(cls) and not name.startswith("_")]
    return sorted({cls for cls in found if issubclass(cls, base) and cls is not base}, key=lambda cls: cls.__name__)


def joint_arguments(cls, a, b):
    if cls.__name__ in JOINT_ARGUMENTS:
        return JOINT_ARGUMENTS[cls.__name__](a, b)
    arguments = {}
    if cls.uses_point != "none":
        masses = [body for body in (a, b) if isinstance(body, PointMass)]
        arguments["at"] = masses[0].position if masses else AT
    if cls.uses_axis != "none":
        arguments["axis"] = AXIS
    return arguments


def build_joint(cls, a, b):
    if cls.__name__ in JOINTS_ON_JOINTS:
        return JOINTS_ON_JOINTS[cls.__name__](cls, a, b)
    arguments = joint_arguments(cls, a, b)
    try:
        return cls(a, b, **arguments)
    except Exception as error:
        raise AssertionError(
            f"mbd.joints.{cls.__name__} cannot be built with {', '.join(arguments)} ({type(error).__name__}: {error}); "
            "add its arguments to JOINT_ARGUMENTS of tests/test_elements.py"
        ) from error


def check_random_joint(cls, make_a, make_b, rng):
    node_a, node_b = (make and make(rng) for make in (make_a, make_b))
    consistent = cls is not joints.UserConstraint
    check_joint(partial(build_joint, cls), node_a, node_b, rng, consistent=consistent)


def joint_cases():
    for cls in public_classes(joints, joints.Joint):
        for name, pair in PAIRS.items():
            if issubclass(cls, joints.Coupling | joints.RotorHinge) and POINT in pair:
                continue
            if not any(make is POINT and oriented for make, oriented in zip(pair, cls.oriented, strict=True)):
                yield pytest.param(partial(check_random_joint, cls, *pair), id=f"{cls.__name__}-{name}")


PRIMITIVES = {
    "Coincident": lambda x: joints.Coincident(x[0], x[1]),
    "Dot1": lambda x: joints.Dot1(x[0], x[1], 0.3),
    "Dot2": lambda x: joints.Dot2(x[0], x[1], x[2], 0.3),
    "DistanceBetween": lambda x: joints.DistanceBetween(x[0], x[1], 1.7),
    "Turned": lambda x: primitive_data.Turned(x[0], x[1], x[2], 0.3),
}


def primitive_cases():
    for cls in public_classes(primitive_data, joints.Primitive):
        # sums and rows of frames are checked with Screw, Coupling, Rolling and UserConstraint
        if cls in (primitive_data.CoordinateSum, primitive_data.FrameRows):
            continue
        yield pytest.param(partial(check_random_primitive, cls.__name__), id=cls.__name__)


def check_random_primitive(name, rng):
    assert name in PRIMITIVES, f"{name} is a new primitive; add it to PRIMITIVES of tests/test_elements.py"
    check_primitive(PRIMITIVES[name](rng.normal(size=(3, 3))), rng=rng)


# --- forces -------------------------------------------------------------------------------------------------------


def hinge(model, a, b):
    return model.add(joints.Revolute(a, b, at=AT, axis=AXIS))


def shaft(model, a, b):
    return model.add(joints.Cylindrical(a, b, at=AT, axis=AXIS))


def slider(model):
    """A joint of a third body, whose displacement is to be coupled."""
    mass = other_mass(model)
    return model.add(joints.PointOnLine(model.ground, mass, axis=NORMAL))


def swelling(t):
    return (1.0 + t, 2.0 * t, 3.0 * t * t)


def other_mass(model):
    return model.add(PointMass(f"other {len(model.bodies)}", 1.5, (2.0, 1.0, 0.5), (0.3, 0.2, 0.1)))


def cubic(length, rate):
    return 3.0 * (length - 0.5) ** 3 + 0.4 * rate * length


def one_sided(length, rate):
    return 5.0 * (length - 0.1) if length > 0.1 else 0.0


def attraction(t, frames, velocities):
    d = frames[1, :3] - frames[0, :3]
    out = np.zeros_like(velocities)
    out[0, :3] = (3.0 + t) * d - 0.2 * velocities[0, :3] * np.sum(d * d)
    out[1, :3] = -out[0, :3]
    out[1, 3:] = 0.5 * frames[0, 6:9] - 0.3 * velocities[1, 3:]
    return out


def resistance(t, frames, velocities):
    size = 0.0
    for i in range(3):
        size += abs(velocities[0, i])
    return [[-size * frames[0, 3], -size, -size * velocities[0, 5], 0.0, size, 1.0]]


def crowd(t, frames, velocities):
    centre = (frames[0, :3] + frames[1, :3] + frames[2, :3]) / 3.0
    out = np.zeros_like(velocities)
    for i in range(3):
        out[i, :3] = 2.0 * (centre - frames[i, :3]) - 0.1 * velocities[i, :3]
    return out


def well(frames):
    d = frames[1, :3] - frames[0, :3]
    return 0.7 * np.sum(d * d) ** 2 + 0.9 * np.sin(frames[0, 5]) * frames[1, 8]


def one_sided_well(frames):
    return 3.0 * frames[0, 2] ** 2 if frames[0, 4] > -9.0 else 0.0


def windy(t, frames, velocities):
    return (0.3 * t + frames[0, 3], -0.4 * velocities[0, 1], 0.1 * frames[0, 2])


def pushing(t, u, u_dot):
    return (1.0 + t) * math.sin(u) - 0.3 * u_dot * abs(u_dot) + (2.0 if u > -9.0 else 0.0)


def tip(model, body):
    """A joint of a third body, which the others carry."""
    end = model.add(RigidBody("tip", 0.7, (0.1, 0.2, 0.15), nodes.Quaternion((1.0, 2.0, 0.5)), com=(0.1, 0.2, 0.3)))
    return model.add(joints.Prismatic(body, end, axis=NORMAL))


def ground_first(model, a, b):
    """A pair of bodies with which a tree begins at the first one."""
    return (a, b) if a is model.ground or b is not model.ground else (b, a)


def beyond(limit):
    """The same limits with the joint well beyond one of them, on its way further."""
    out = limit.joint.at_start(limit.coordinate)[1] > 0.0
    if out:
        limit.lower, limit.upper = None, -1.5
    else:
        limit.upper, limit.lower = None, 1.5
    return limit


P, Q = (0.3, 0.1, 0.2), (0.1, -0.2, 0.4)
TILTED = from_rotation_vector(np.array((0.3, -0.5, 0.8)))

# class name -> variants: functions (model, a, b) -> force; b is never the ground
FORCES: dict[str, dict[str, Callable[[Any, Any, Any], Any]]] = {
    "Bushing": {
        "elastic": lambda m, a, b: forces.Bushing(a, b, P, Q, stiffness=50.0),
        "damped": lambda m, a, b: forces.Bushing(a, b, P, Q, (50.0, 0.0, 20.0), (3.0, 2.0, 0.0), axes=TILTED),
        "twisted": lambda m, a, b: forces.Bushing(
            a, b, P, Q, 9.0, axes=TILTED, rotational_stiffness=(5.0, 4.0, 3.0), rotational_damping=(0.3, 0.2, 0.1)
        ),
    },
    "Force": {
        "world": lambda m, a, b: forces.Force(b, (1.0, 2.0, 3.0), point=Q),
        "body": lambda m, a, b: forces.Force(b, (1.0, 2.0, 3.0), point=Q, frame="body"),
        "time": lambda m, a, b: forces.Force(b, swelling, point=Q, frame="body"),
        "frames": lambda m, a, b: forces.Force(b, windy, point=Q),
        "follower": lambda m, a, b: forces.Force(b, windy, point=Q, frame="body"),
    },
    "Torque": {
        "world": lambda m, a, b: forces.Torque(b, (1.0, -2.0, 3.0)),
        "body": lambda m, a, b: forces.Torque(b, (1.0, -2.0, 3.0), frame="body"),
        "frames": lambda m, a, b: forces.Torque(b, windy, frame="body"),
    },
    "Drag": {
        "point": lambda m, a, b: forces.Drag(b, 0.7, 0.3, point=Q, wind=(1.0, 0.2, -0.4)),
    },
    "GreenSpring": {
        "damped": lambda m, a, b: forces.GreenSpring(a, b, P, Q, stiffness=5.0, length=0.8, damping=0.4),
    },
    "NonlinearSpring": {
        "cubic": lambda m, a, b: forces.NonlinearSpring(a, b, P, Q, cubic),
        "branch": lambda m, a, b: forces.NonlinearSpring(a, b, P, Q, one_sided),
    },
    "Gravitation": {
        "masses": lambda m, a, b: forces.Gravitation(a if a is not m.ground else other_mass(m), b, 2.0),
    },
    "PDControl": {
        "angle": lambda m, a, b: forces.PDControl(hinge(m, a, b), waving, 7.0, 2.0),
        "displacement": lambda m, a, b: forces.PDControl(shaft(m, a, b), waving, 7.0, 2.0, coordinate="displacement"),
        "constant": lambda m, a, b: forces.PDControl(hinge(m, a, b), 0.3, 7.0, 2.0),
        "fed": lambda m, a, b: forces.PDControl(hinge(m, a, b), waving, 7.0, 2.0, feedforward=pushing, limit=90.0),
        "saturated": lambda m, a, b: forces.PDControl(hinge(m, a, b), 3.0, 7.0, 2.0, feedforward=waving, limit=1.5),
    },
    "GravityCompensation": {
        "both": lambda m, a, b: forces.GravityCompensation([tip(m, b), hinge(m, *ground_first(m, a, b))]),
        "turned": lambda m, a, b: forces.GravityCompensation(shaft(m, b, a)),
    },
    "Motor": {
        "free": lambda m, a, b: forces.Motor(hinge(m, a, b), pushing, limit=90.0, gear=3.0),
        "limited": lambda m, a, b: forces.Motor(hinge(m, a, b), pushing, limit=0.3),  # its rotor: RotorHinge
    },
    "JointForce": {
        "constant": lambda m, a, b: forces.JointForce(hinge(m, a, b), 2.0),
        "time": lambda m, a, b: forces.JointForce(shaft(m, a, b), waving, coordinate="displacement"),
        "angle": lambda m, a, b: forces.JointForce(hinge(m, a, b), pushing),
        "displacement": lambda m, a, b: forces.JointForce(shaft(m, a, b), pushing, coordinate="displacement"),
    },
    "JointFriction": {
        "coulomb": lambda m, a, b: forces.JointFriction(hinge(m, a, b), 0.3, 2.0, transition=0.7),
        "stribeck": lambda m, a, b: forces.JointFriction(
            shaft(m, a, b), 0.3, 2.0, 3.0, 1.1, 0.4, coordinate="displacement"
        ),
    },
    "JointLimit": {
        "angle": lambda m, a, b: beyond(forces.JointLimit(hinge(m, a, b), -1.0, 1.0, 30.0, damping=0.02)),
        "clipped": lambda m, a, b: beyond(forces.JointLimit(hinge(m, a, b), -1.0, 1.0, 30.0, damping=900.0)),
        "displacement": lambda m, a, b: beyond(
            forces.JointLimit(shaft(m, a, b), -0.1, 3.0, 30.0, 0.01, coordinate="displacement")
        ),
    },
    "UserForce": {
        "pair": lambda m, a, b: forces.UserForce([a, b], attraction),
        "branch": lambda m, a, b: forces.UserForce(b, resistance),
        "three": lambda m, a, b: forces.UserForce([b, a, other_mass(m)], crowd),
    },
    "UserPotential": {
        "pair": lambda m, a, b: forces.UserPotential([a, b], well),
        "branch": lambda m, a, b: forces.UserPotential(b, one_sided_well),
    },
    "Spring": {
        "elastic": lambda m, a, b: forces.Spring(a, b, P, Q, stiffness=50.0, length=0.4),
        "damped": lambda m, a, b: forces.Spring(a, b, P, Q, stiffness=50.0, length=0.4, damping=3.0),
    },
    "TorsionSpring": {
        "elastic": lambda m, a, b: forces.TorsionSpring(hinge(m, a, b), stiffness=20.0, rest=0.4),
        "damped": lambda m, a, b: forces.TorsionSpring(shaft(m, a, b), stiffness=20.0, damping=2.0, rest=0.4),
    },
}

FORCE_PAIRS = ("ground-lie", "lie-vector", "euler-quaternion", "quaternion-directors", "pinned-lie_quaternion")


def force_cases():
    for cls in public_classes(forces, forces.ForceElement):
        if cls.__name__ not in FORCES:
            yield pytest.param(partial(fail_for_missing_factory, cls), id=cls.__name__)
            continue
        for variant, build in FORCES[cls.__name__].items():
            for name in FORCE_PAIRS:
                check = partial(check_random_force, build, *PAIRS[name])
                yield pytest.param(check, id=f"{cls.__name__}-{variant}-{name}")


def fail_for_missing_factory(cls, rng):
    pytest.fail(
        f"mbd.forces.{cls.__name__} is not checked yet: add a function (model, a, b) -> force that makes one to FORCES "
        "of tests/test_elements.py"
    )


def check_random_force(build, make_a, make_b, rng):
    node_a, node_b = (make and make(rng) for make in (make_a, make_b))
    check_force(build, node_a, node_b, rng)


# --- the test -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", [*node_cases(), *primitive_cases(), *joint_cases(), *force_cases()])
def test_element(check, rng):
    check(rng)


def test_a_wrong_derivative_is_found(rng, monkeypatch):
    from mbd.system.system import System

    right = System.stiffness
    monkeypatch.setattr(System, "stiffness", lambda *arguments: 1.001 * right(*arguments))
    with pytest.raises(AssertionError, match=r"stiffness matrix K deviates by .* at velocity .* of body 'body'"):
        check_node(random_node(nodes.Quaternion, rng), rng)


def test_observed_order():
    steps = np.array((0.1, 0.05, 0.025))
    assert observed_order(3.0 * steps**4, steps) == pytest.approx(4.0)
    with pytest.raises(ValueError, match="positive finite"):
        observed_order((1e-3, 0.0), (0.1, 0.05))
    with pytest.raises(ValueError, match="two or more"):
        observed_order((1e-3,), (0.1,))
