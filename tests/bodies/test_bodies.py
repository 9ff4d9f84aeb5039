"""Bodies and shapes: attributes, and refusal of impossible mass properties with messages that help."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mbd.bodies import Generalized, Ground, PointMass, RigidBody, shapes
from mbd.errors import ModelError, ModelWarning
from mbd.nodes import Directors, Point, Quaternion, RotationVector, kinds
from mbd.nodes import Generalized as GeneralizedNode
from mbd.rotation import rotation


def test_rigid_body():
    node = Quaternion(position=(1, 2, 3), rotation=rotation((0, 0, 1)), velocity=(4, 5, 6), angular_velocity=(7, 8, 9))
    shape = shapes.Sphere(0.1)
    body = RigidBody("top", 2, (1, 2, 3), node, com=(0, 1, 0), shape=shape)
    assert body.mass == 2.0
    assert np.array_equal(body.inertia, np.diag((1.0, 2.0, 3.0)))
    assert np.array_equal(body.com, (0, 1, 0))
    assert body.shape is shape
    assert np.array_equal(body.position, (1, 2, 3))
    assert np.array_equal(body.rotation, node.rotation)
    assert np.array_equal(body.velocity, (4, 5, 6))
    assert np.array_equal(body.angular_velocity, (7, 8, 9))
    assert body.kind == kinds.QUATERNION


def test_defaults():
    body = RigidBody(mass=1.0, inertia=np.diag((1.0, 1.0, 1.0)))
    assert isinstance(body.node, RotationVector)
    assert body.node.lie
    assert not body.com.any()
    ground = Ground()
    assert ground.name == "ground"
    assert ground.kind == kinds.GROUND
    assert np.array_equal(ground.rotation, np.eye(3))
    assert not ground.position.any()


def test_inertia_at_the_limits_is_accepted():
    RigidBody("plate", 1.0, (0.1, 0.2, 0.1 + 0.2))
    RigidBody("rod", 1.0, (0.0, 1.0, 1.0))
    turn = rotation((0.3, 0.2, 0.9))
    RigidBody("turned plate", 1.0, turn @ np.diag((0.1, 0.2, 0.3)) @ turn.T)


def test_point_mass():
    body = PointMass("p", 3, (1, 2, 3), (4, 5, 6))
    assert isinstance(body.node, Point)
    assert body.mass == 3.0
    assert np.array_equal(body.position, (1, 2, 3))
    assert np.array_equal(body.velocity, (4, 5, 6))
    assert np.array_equal(body.rotation, np.eye(3))
    assert not body.inertia.any()


def test_generalized():
    body = Generalized(
        "g", (1, 2), (3, 4), mass=lambda q: np.diag(1 + q**2), potential=lambda q: q @ q, constraints=lambda q: q[0] - 1
    )
    assert isinstance(body.node, GeneralizedNode)
    assert body.n_constraints == 1
    assert np.array_equal(body.coordinates, (1, 2))
    assert np.array_equal(body.velocities, (3, 4))
    assert callable(body.mass)
    assert np.array_equal(Generalized("g", (1, 2), mass=3).mass, 3 * np.eye(2))
    assert np.array_equal(Generalized("g", (1, 2), mass=(3, 4)).mass, np.diag((3.0, 4.0)))
    assert np.array_equal(Generalized("g", (1, 2), mass=[[2, 1], [1, 2]]).mass, [[2, 1], [1, 2]])
    assert Generalized("g", 1.0, mass=lambda q: 2.0 + q[0]).n_constraints == 0


def rigid(**changes):
    return RigidBody(**{"name": "top", "mass": 1.0, "inertia": (1, 1, 1), **changes})


BAD = [
    (lambda: rigid(mass=0), ("'top'", "mass = 0", "positive")),
    (lambda: rigid(mass=-1.0), ("'top'", "mass = -1.0", "not negative")),
    (lambda: rigid(mass=math.nan), ("'top'", "mass = nan", "finite")),
    (lambda: rigid(mass=math.inf), ("'top'", "mass = inf", "finite")),
    (lambda: rigid(mass="1"), ("'top'", "mass = '1'", "str")),
    (lambda: rigid(mass=None), ("'top'", "mass", "a number that is not negative")),
    (lambda: rigid(inertia=None), ("'top'", "inertia", "three principal moments")),
    (lambda: rigid(inertia=(1, 2)), ("'top'", "inertia = (1, 2)", "3 numbers")),
    (lambda: rigid(inertia=(1, 1, math.nan)), ("'top'", "inertia", "finite")),
    (lambda: rigid(inertia=np.full((3, 3), math.inf)), ("'top'", "inertia", "finite")),
    (lambda: rigid(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), ("'top'", "inertia", "symmetric 3x3")),
    (lambda: rigid(inertia=np.eye(2)), ("'top'", "inertia", "3x3", "(2, 2)")),
    (lambda: rigid(inertia=(1, 1, -1)), ("'top'", "inertia", "positive definite", "-1")),
    (lambda: rigid(inertia=[[1, 2, 0], [2, 1, 0], [0, 0, 1]]), ("'top'", "inertia", "positive definite")),
    (lambda: rigid(inertia=(1, 1, 2.1)), ("'top'", "triangle inequality", "1 + 1 < 2.1", "check_inertia=False")),
    (lambda: rigid(com=(0, math.nan, 0)), ("'top'", "com", "finite")),
    (lambda: rigid(node=Point()), ("'top'", "node", "RotationVector", "mbd.PointMass")),
    (lambda: rigid(node=Directors), ("'top'", "node", "mbd.nodes.Directors()")),
    (lambda: rigid(node=(0, 0, 0)), ("'top'", "node", "RotationVector")),
    (lambda: rigid(shape="box"), ("'top'", "shape", "mbd.shapes")),
    (lambda: rigid(name=""), ("body", "name", "not empty")),
    (lambda: rigid(name=5), ("body", "name = 5", "text")),
    (lambda: RigidBody(mass=0, inertia=(1, 1, 1)), ("body (not named yet)", "mass")),
    (lambda: PointMass("p", 0), ("point mass 'p'", "mass = 0", "positive")),
    (lambda: PointMass("p", 1, (1, 2)), ("point mass 'p'", "position", "3 numbers")),
    (lambda: PointMass("p", 1, velocity=(1, 2, math.nan)), ("point mass 'p'", "velocity", "finite")),
    (lambda: Generalized("g"), ("'g'", "coordinates", "initial values")),
    (lambda: Generalized("g", (1, math.nan)), ("'g'", "coordinates", "finite")),
    (lambda: Generalized("g", (1, 2), (1, 2, 3)), ("'g'", "velocities", "2 numbers")),
    (lambda: Generalized("g", (1, 2), mass=-1), ("'g'", "mass = -1", "negative eigenvalues")),
    (lambda: Generalized("g", (1, 2), mass=(1, 2, 3)), ("'g'", "mass", "2 numbers")),
    (lambda: Generalized("g", (1, 2), mass=[[1, 1], [0, 1]]), ("'g'", "mass", "symmetric 2x2")),
    (lambda: Generalized("g", (1, 2), mass=lambda q: 1.0), ("'g'", "mass(q)", "(2, 2)")),
    (lambda: Generalized("g", (1, 2), mass=lambda q: np.full((2, 2), math.nan)), ("'g'", "mass(q)", "finite")),
    (lambda: Generalized("g", (1, 2), potential=3), ("'g'", "potential = 3", "function")),
    (lambda: Generalized("g", (1, 2), potential=lambda q: q), ("'g'", "potential(q)", "number")),
    (lambda: Generalized("g", 1.0, potential=lambda q: q**2), ("'g'", "potential(q)", "shape (1,)")),
    (lambda: Generalized("g", (1, 2), potential=lambda q: 1 / 0), ("'g'", "potential(q) failed", "ZeroDivisionError")),
    (lambda: Generalized("g", (1, 2), potential=lambda a, b: 0), ("'g'", "potential(q) failed", "2 coordinates")),
    (lambda: Generalized("g", (1, 2), constraints=lambda q: math.nan), ("'g'", "constraints(q)", "finite")),
    (
        lambda: Generalized("g", (1, 2), constraints=lambda q: q, n_constraints=1),
        ("'g'", "n_constraints", "constraints(q) gives 2 numbers"),
    ),
    (lambda: Generalized("g", (1, 2), n_constraints=1), ("'g'", "n_constraints", "constraints=")),
]


@pytest.mark.parametrize(("make", "words"), BAD)
def test_bad_bodies_are_refused(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_impossible_inertia_can_be_insisted_on():
    with pytest.warns(ModelWarning, match="'link'.*triangle inequality"):
        body = RigidBody("link", 1.0, (1, 1, 3), check_inertia=False)
    assert np.array_equal(body.inertia, np.diag((1.0, 1.0, 3.0)))
    with pytest.raises(ModelError, match="positive definite"):
        RigidBody("link", 1.0, (1, 1, -3), check_inertia=False)


def test_shapes():
    assert np.array_equal(shapes.Box((1, 2, 3)).size, (1, 2, 3))
    cone = shapes.Cone(radius=0.3, height=1.0, axis=(0, -2, 0))
    assert np.array_equal(cone.axis, (0, -1, 0))
    assert np.array_equal(shapes.Cone(radius=0.3, height=1.0, tip=(0, 0, 0)).centre, (0, 0, -0.5))
    assert shapes.Cylinder(0.1, 2.0, axis=(1, 0, 0), centre=(0, 0, 1), colour="red").colour == "red"
    assert shapes.Capsule(0.1, 2.0).height == 2.0
    assert shapes.Frame().size == 1.0
    assert str(shapes.Mesh("arm.stl").file) == "arm.stl"
    both = shapes.Composite(shapes.Sphere(1.0), shapes.Box((1, 1, 1)))
    assert len(both.parts) == 2
    assert len(shapes.Composite([shapes.Sphere(1.0), both]).parts) == 2


@pytest.mark.parametrize("name", [name for name in shapes.__all__ if hasattr(getattr(shapes, name), "centre")])
def test_centre_and_center_are_the_same(name):
    cls = getattr(shapes, name)
    file = {"file": "arm.stl"} if cls is shapes.Mesh else {}
    assert np.array_equal(cls(center=(1, 2, 3), **file).centre, (1, 2, 3))
    assert np.array_equal(cls(centre=(1, 2, 3), **file).center, (1, 2, 3))
    with pytest.raises(TypeError, match="centre"):
        cls(centre=(1, 2, 3), center=(1, 2, 3), **file)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shapes.Box((1, 2, 0)), ("Box", "size", "positive")),
        (lambda: shapes.Sphere(-1), ("Sphere", "radius = -1", "positive")),
        (lambda: shapes.Cylinder(1, 0), ("Cylinder", "height = 0", "positive")),
        (lambda: shapes.Cylinder(1, 1, axis=(0, 0, 0)), ("Cylinder", "axis", "cannot be zero")),
        (lambda: shapes.Capsule(math.nan, 1), ("Capsule", "radius", "finite")),
        (lambda: shapes.Cone(1, 1, centre=(0, 0, 1), tip=(0, 0, 0)), ("Cone", "tip", "either tip or centre")),
        (lambda: shapes.Frame(0), ("Frame", "size", "positive")),
        (lambda: shapes.Mesh(), ("Mesh", "file", "path")),
        (lambda: shapes.Composite(), ("Composite", "parts", "at least one")),
        (lambda: shapes.Composite("box"), ("Composite", "parts", "mbd.shapes")),
        (lambda: shapes.Sphere(1, colour=3), ("Sphere", "colour = 3", "#rrggbb")),
        (lambda: shapes.Box((1, 1, 1), rotation=(0, 0, 1)), ("Box", "rotation", "mbd.rotation(")),
    ],
)
def test_bad_shapes_are_refused(make, words):
    with pytest.raises(ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)
