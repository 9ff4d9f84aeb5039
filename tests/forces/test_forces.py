"""Forces: the rows for the compiled laws, and refusal of bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from mbd.bodies import Generalized, Ground, PointMass, RigidBody
from mbd.errors import ModelError
from mbd.forces import Force, ForceElement, Spring, Torque, TorsionSpring, kinds
from mbd.joints import Cylindrical, Prismatic, Revolute
from mbd.nodes import Quaternion
from mbd.rotation import rotation

GROUND = Ground()
A = RigidBody("a", 1.0, (1, 1, 1), Quaternion(position=(1, 0, 0), rotation=rotation((0, 0, math.pi / 2))))
B = RigidBody("b", 1.0, (1, 1, 1), Quaternion(position=(4, 0, 0)))
P = PointMass("p", 1.0, (0, 0, 5))
HINGE = Revolute(A, B, at=(0, 0, 0), axis=(0, 0, 1))


def test_spring():
    spring = Spring(A, B, (0, 0, 1), (0, 0, 1), stiffness=100, damping=2)
    (row,) = spring.rows()
    assert row.kind == kinds.SPRING
    assert (row.body_a, row.body_b) == (A, B)
    assert np.array_equal(row.point_a, (0, 0, 1))
    assert row.parameters == (100.0, 3.0, 2.0)
    assert row.function is None
    assert isinstance(spring, ForceElement)
    assert Spring(GROUND, P, stiffness=1).length == 5.0
    assert Spring(A, B, stiffness=1, length=0).length == 0.0
    assert Spring(GROUND, P, point_a=P.position, stiffness=1, length=0).length == 0.0


def test_torsion_spring():
    (row,) = TorsionSpring(HINGE, 10, 1, 0.5).rows()
    assert row.kind == kinds.TORSION_SPRING
    assert (row.body_a, row.body_b) == (A, B)
    assert row.parameters == (10.0, 0.5, 1.0)
    assert np.array_equal(row.axis_a, HINGE.frame_a[:, 2])
    assert np.array_equal(row.axis_b, HINGE.frame_b[:, 2])
    assert np.array_equal(row.normal_a, HINGE.frame_a[:, 0])
    assert np.array_equal(row.normal_b, HINGE.frame_b[:, 0])
    TorsionSpring(Cylindrical(A, B, at=(0, 0, 0), axis=(0, 0, 1)), stiffness=1)


@pytest.mark.parametrize(
    ("cls", "frame", "kind"),
    [
        (Force, "world", kinds.FORCE_WORLD),
        (Force, "body", kinds.FORCE_BODY),
        (Torque, "world", kinds.TORQUE_WORLD),
        (Torque, "body", kinds.TORQUE_BODY),
    ],
)
def test_loads(cls, frame, kind):
    (row,) = cls(A, (1, 2, 3), frame=frame).rows()
    assert row.kind == kind
    assert row.body_a is None
    assert row.body_b is A
    assert row.parameters == (1.0, 2.0, 3.0)
    assert (row.function, row.function_size) == (None, 0)

    def function(t):
        return 0, 0, 5 * t

    load = cls(A, function, frame=frame, switches=[2.0, 1.0])
    (row,) = load.rows()
    assert row.function is function
    assert row.function_size == 3
    assert row.parameters == (0.0, 0.0, 0.0)
    assert load.switches == (1.0, 2.0)
    assert cls(A, function, switches=1.0).switches == (1.0,)


def test_force_at_a_point():
    (row,) = Force(A, (1, 2, 3), point=(0, 1, 0)).rows()
    assert np.array_equal(row.point_b, (0, 1, 0))
    assert Force(P, (1, 2, 3)).rows()[0].body_b is P


BAD = [
    (lambda: Spring(A, B), ("spring", "stiffness", "not negative")),
    (lambda: Spring(A, B, stiffness=-1), ("spring", "stiffness = -1", "not negative")),
    (lambda: Spring(A, B, stiffness=math.nan), ("spring", "stiffness", "finite")),
    (lambda: Spring(A, B, stiffness=1, damping=-1, name="s"), ("spring 's'", "damping = -1", "not negative")),
    (lambda: Spring(A, B, stiffness=1, length=-1), ("spring", "length = -1", "not negative")),
    (lambda: Spring(A, B, (0, 0), stiffness=1), ("spring", "point_a", "3 numbers")),
    (lambda: Spring(A, A, (0, 0, 1), stiffness=1), ("spring", "body 'a'", "two different")),
    (lambda: Spring(GROUND, P, P.position, stiffness=1), ("spring", "point_a, point_b", "coincide", "length=0")),
    (lambda: Spring(GROUND, P, P.position, stiffness=1, length=1), ("spring", "coincide", "length=0")),
    (lambda: Spring(A, P, point_b=(1, 0, 0), stiffness=1), ("spring", "point_b", "(0, 0, 0)", "'p'")),
    (lambda: Spring(A, Generalized("g", 1.0), stiffness=1), ("spring", "body_b", "'g'", "no frame")),
    (lambda: Spring("a", B, stiffness=1), ("spring", "body_a = 'a'", "model['a']")),
    (lambda: TorsionSpring(HINGE), ("torsion spring", "stiffness", "not negative")),
    (lambda: TorsionSpring(HINGE, 1, rest=math.inf), ("torsion spring", "rest", "finite")),
    (
        lambda: TorsionSpring(Prismatic(A, B, axis=(1, 0, 0)), 1),
        ("torsion spring", "prismatic", "no angle", "Revolute"),
    ),
    (lambda: TorsionSpring(A, 1), ("torsion spring", "Body 'a'", "Revolute")),
    (lambda: Force(A, (1, 2)), ("force", "value = (1, 2)", "3 numbers")),
    (lambda: Force(A, (1, 2, math.nan)), ("force", "value", "finite")),
    (lambda: Force(A, (1, 2, 3), point=(0, 0)), ("force", "point", "3 numbers")),
    (lambda: Force(A, (1, 2, 3), frame="local"), ("force", "frame = 'local'", '"world" or "body"')),
    (lambda: Force(A, lambda t: (0, t)), ("force", "function at t = 0", "3 numbers")),
    (lambda: Force(A, lambda t: (0, 0, math.nan)), ("force", "function at t = 0", "finite")),
    (lambda: Force(A, lambda: (0, 0, 1), name="push"), ("force 'push'", "failed at t = 0", "lambda t:")),
    (lambda: Force(A, lambda t: 1 / t), ("force", "ZeroDivisionError", "3 numbers")),
    (lambda: Force(GROUND, (1, 2, 3)), ("force", "ground", "RigidBody")),
    (lambda: Force(P, (1, 2, 3), point=(0, 0, 1)), ("force", "point", "'p'")),
    (lambda: Force(P, (1, 2, 3), frame="body"), ("force", "frame", '"world"', "'p'")),
    (lambda: Force(A, (1, 2, 3), switches=(math.nan,)), ("force", "switches", "finite")),
    (lambda: Torque(P, (1, 2, 3)), ("torque", "'p'", "RigidBody")),
    (lambda: Torque(None, (1, 2, 3)), ("torque", "body = None", "model.ground")),
]


@pytest.mark.parametrize(("make", "words"), BAD)
def test_bad_forces_are_refused(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("size", (1e-14, 1e-9, 1.0, 1e9))
def test_points_that_are_apart_are_so_in_all_units(size):
    """Whether two points coincide is told by the digits of their coordinates, not by a length in metres."""
    model = mbd.Model()
    a = model.add(mbd.PointMass("a", 1.0, position=(size, 0, 0)))
    b = model.add(mbd.PointMass("b", 1.0, position=(size, size / 10, 0)))
    c = model.add(mbd.PointMass("c", 1.0, position=(size, size * 1e-15, 0)))
    assert model.add(mbd.forces.Spring(a, b, stiffness=1.0)).length == pytest.approx(size / 10, rel=1e-12)
    assert model.add(mbd.joints.Distance(a, b)).length == pytest.approx(size / 10, rel=1e-12)
    for element in (lambda: mbd.forces.Spring(a, c, stiffness=1.0), lambda: mbd.joints.Distance(a, c)):
        with pytest.raises(mbd.ModelError, match="coincide"):
            element()


def test_torque_of_a_bushing_about_a_single_axis():
    angle, rate, k, c = 0.7, 1.3, 5.0, 0.4
    model = mbd.Model()
    block = model.add(RigidBody("block", 1.0, (1.0, 1.0, 1.0)))
    model.add(mbd.forces.Bushing(model.ground, block, stiffness=1.0, rotational_stiffness=k, rotational_damping=c))
    block.rotation, block.angular_velocity = rotation((0.0, 0.0, angle)), (0.0, 0.0, rate)
    system = mbd.assemble(model)
    torque = system.accelerations(*system.initial_state(), 0.0)[0][-1]  # the moment of inertia is one
    sine, sine_rate = math.sin(angle), math.cos(angle) * rate
    assert torque == pytest.approx(-math.cos(angle) * (k * sine + c * sine_rate), rel=1e-12)
