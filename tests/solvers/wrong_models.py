"""Models that are wrong, or look so, each with the sentences that the diagnosis must contain."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np

import mbd
from mbd.joints import (
    Cylindrical,
    Distance,
    Fixed,
    Planar,
    PointInPlane,
    PointOnLine,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
LIE = mbd.nodes.RotationVector


def bar(name, start, end, mass=1.0, **node):
    """A bar whose x-axis points from start to end, in the plane of x and y."""
    start, end = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(end - start))
    turn = mbd.rotation((0, 0, np.arctan2(*(end - start)[1::-1])))
    inertia = mass * length**2 / 12 * np.array((0.2, 1, 1))
    return mbd.RigidBody(name, mass, inertia, LIE(position=(start + end) / 2, rotation=turn, **node))


def linkage(corners, axis=Z, last=Revolute, names=("crank", "rod", "rocker"), rates=None):
    """Bars between corners, hinged to each other and at both ends to the ground."""
    model = mbd.Model("linkage")
    rates = rates or [{}] * (len(corners) - 1)
    pairs = list(pairwise(corners))
    bars = [model.add(bar(n, *pair, **r)) for n, pair, r in zip(names, pairs, rates, strict=True)]
    chain = [model.ground, *bars]
    for k, at in enumerate(corners[:-1]):
        model.add(Revolute(chain[k], chain[k + 1], at=at, axis=axis, name=f"hinge {k + 1}"))
    model.add(
        last(chain[-1], model.ground, at=corners[-1], **({} if last is Spherical else {"axis": axis}), name="end")
    )
    return model


def box(model, name="box", mass=1.0, inertia=(0.1, 0.1, 0.1), **more):
    return model.add(mbd.RigidBody(name, mass, inertia, **more))


def planar_four_bar():
    return linkage([(0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2.5, 0, 0)]), [
        "3 joint equations of 20 are permanently redundant",
        "around the loop of joints 'hinge 1', 'hinge 2', 'hinge 3' and 'end', translation along z, rotation about x "
        "and rotation about y are each fixed once too often",
        "1 degree of freedom (counting equations alone would give -2)",
        "body 'crank' rotates about z through (0, 0, 0); 'rod' and 'rocker' move with it",
    ]


def flat_parallelogram():
    return linkage([(0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)]), [
        "singular configuration: 1 joint equation is dependent here and independent nearby",
        "translation along x is fixed once too often",
        "3 joint equations of 20 are permanently redundant",
    ]


def four_bars_at_the_horizontal():
    model = mbd.Model("A02")
    posts = [model.add(bar(f"post {i}", (i, 0, 0), (i + 1, 0, 0))) for i in range(3)]
    for i, post in enumerate(posts):
        model.add(Revolute(model.ground, post, at=(i, 0, 0), axis=Z, name=f"foot {i}"))
    for i in range(2):
        beam = model.add(bar(f"beam {i}", (i + 1, 0, 0), (i + 2, 0, 0)))
        model.add(Revolute(posts[i], beam, at=(i + 1, 0, 0), axis=Z, name=f"left {i}"))
        model.add(PointOnLine(posts[i + 1], beam, at=(i + 2, 0, 0), axis=Z, name=f"right {i}"))
    return model, [
        "1 degree of freedom",
        "singular configuration: 2 joint equations are dependent here and independent nearby",
        "around the loop of joints 'foot 0', 'foot 1', 'right 0' and 'left 0', translation along x is fixed once too",
    ]


def bricard():
    from mbd.benchmarks import bricard as build

    return build().model, [
        "1 joint equation of 30 is permanently redundant",
        "1 degree of freedom (counting equations alone would give 0)",
        "around the loop of joints",
    ]


def door_with_two_hinges():
    model = mbd.Model("door")
    door = box(model, "door")
    for name, height in (("upper", 0.5), ("lower", -0.5)):
        model.add(Revolute(model.ground, door, at=(0, 0, height), axis=Z, name=name))
    return model, [
        "joints 'upper' and 'lower' both fix translation along x, translation along y, translation along z, rotation "
        "about x and rotation about y",
        "body 'door' rotates about z through (0, 0, 0)",
    ]


def door_with_oblique_hinges():
    model = mbd.Model("door")
    door = box(model, "door")
    model.add(Revolute(model.ground, door, at=(0, 0, 0.5), axis=Z, name="upper"))
    model.add(Revolute(model.ground, door, at=(0.1, 0, -0.5), axis=Z, name="lower"))
    return model, [
        "no degree of freedom: the model is a structure and cannot move",
        "4 joint equations of 10 are permanently redundant",
        "joints 'upper' and 'lower' both fix",
    ]


def hinge_that_is_welded():
    model = mbd.Model("welded")
    body = box(model)
    model.add(Fixed(model.ground, body, name="weld"))
    model.add(Revolute(model.ground, body, at=(0, 0, 0), axis=X, name="hinge"))
    return model, [
        "5 joint equations of 11 are permanently redundant",
        "joints 'weld' and 'hinge' both fix translation along x",
        "no degree of freedom",
    ]


def doubled_slider():
    model = mbd.Model("slider")
    body = box(model)
    model.add(Prismatic(model.ground, body, axis=X, name="left rail"))
    model.add(Prismatic(model.ground, body, at=(0, 1, 0), axis=X, name="right rail"))
    return model, [
        "joints 'left rail' and 'right rail' both fix translation along y, translation along z, rotation about x, "
        "rotation about y and rotation about z",
        "body 'box' moves along x",
    ]


def too_many_rods():
    model = mbd.Model("rods")
    body = box(model, "plate", inertia=(1, 1, 1))
    random = np.random.default_rng(1)
    for k in range(7):
        a, b = 2.0 * random.normal(size=3), random.normal(size=3)
        model.add(Distance(model.ground, body, a, b, name=f"rod {k + 1}"))
    return model, [
        "joints 'rod 1', 'rod 2', 'rod 3', 'rod 4', 'rod 5', 'rod 6' and 'rod 7': 1 equation follows from the others"
    ]


def shaky_rods():
    model = mbd.Model("shaky")
    mass = model.add(mbd.PointMass("mass", 1.0))
    model.add(Distance(model.ground, mass, X, name="left"))
    model.add(Distance(model.ground, mass, (-1, 0, 0), name="right"))
    model.add(PointInPlane(model.ground, mass, at=(0, 0, 0), axis=Z, name="plane"))
    return model, [
        "shaky: the joints hold the bodies, but 1 motion is resisted to second order only",
        "joints 'left' and 'right' both fix translation along x",
        "for an instant, body 'mass' moves along y",
    ]


def loop_that_cannot_close():
    model = linkage([(0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2.5, 0, 0)])
    wrong = mbd.Model("open")
    bars = [wrong.add(bar(b.name, (k, 0, 0), (k + 1, 0, 0))) for k, b in enumerate(model.bodies)]
    chain = [wrong.ground, *bars]
    for k in range(3):
        wrong.add(Revolute(chain[k], chain[k + 1], at=(k, 0, 0), axis=Z, name=f"hinge {k + 1}"))
    wrong.add(Spherical(bars[-1], wrong.ground, point_a=(0.5, 0, 0), point_b=(4, 0, 0), name="end"))
    return wrong, [
        "the model cannot be assembled: no consistent start",
        "misses by 0.25 m",
        "joints 'hinge 1', 'hinge 2', 'hinge 3' and 'end' contradict each other",
        "nearest miss of joint 'end': its points are (",
    ]


def rods_of_wrong_length():
    model = mbd.Model("rods")
    mass = model.add(mbd.PointMass("mass", 1.0, (0.3, 0.1, 0)))
    model.add(Distance(model.ground, mass, (-1, 0, 0), length=0.5, name="left"))
    model.add(Distance(model.ground, mass, (1, 0, 0), length=0.5, name="right"))
    return model, ["the model cannot be assembled", "joints 'left' and 'right' contradict each other"]


def opposite_axes():
    model = mbd.Model("branch")
    node = LIE(rotation=mbd.rotation((np.pi, 0, 0)))
    body = box(model, node=node)
    model.add(Revolute(model.ground, body, point_a=(0, 0, 0), point_b=(0, 0, 0), axis_a=Z, axis_b=Z, name="hinge"))
    return model, ["wrong branch: joint 'hinge' holds, but with opposite axes"]


def two_drivers_of_place():
    model = mbd.Model("pulled apart")
    body = box(model)
    model.add(Fixed(model.ground, body, point_a=(0, 0, 0), point_b=(0, 0, 0), name="first"))
    model.add(Fixed(model.ground, body, point_a=(0.2, 0, 0), point_b=(0, 0, 0), name="second"))
    return model, [
        "the model cannot be assembled",
        "joints 'first' and 'second' contradict each other",
        "nearest miss of joint 'first': its points are (0.1, 0, 0) m apart",
    ]


def forgotten_joint():
    model = mbd.Model("free", gravity=(0, 0, -9.81))
    box(model, "held")
    box(model, "forgotten", node=LIE(position=(1, 0, 0)))
    model.add(Spherical(model.ground, model["held"], at=(0, 0, 0.1)))
    return model, ["body 'forgotten' is not connected to anything: its rigid motions are free and it falls"]


def forgotten_base():
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    a, b = box(model, "upper arm"), box(model, "lower arm", node=LIE(position=(1, 0, 0)))
    model.add(Revolute(a, b, at=(0.5, 0, 0), axis=Z, name="elbow"))
    return model, [
        "bodies 'upper arm' and 'lower arm' are connected with each other but not with the ground: together they float",
        "body 'lower arm' rotates about z through (0.5, 0, 0)",
        "7 degrees of freedom",
    ]


def only_springs():
    model = mbd.Model("springs")
    body = box(model)
    model.add(mbd.forces.Spring(model.ground, body, point_a=(0, 0, 1), stiffness=10.0))
    return model, ["body 'box' is held by forces only"]


def spinning_rod():
    model = mbd.Model("rod")
    crank = model.add(bar("crank", (0, 0, 0), (0, 1, 0)))
    rod = model.add(bar("rod", (0, 1, 0), (2, 0, 0)))
    slider = box(model, "slider", node=LIE(position=(2, 0, 0)))
    model.add(Revolute(model.ground, crank, at=(0, 0, 0), axis=Z))
    model.add(Spherical(crank, rod, at=(0, 1, 0)))
    model.add(Spherical(rod, slider, at=(2, 0, 0)))
    model.add(Prismatic(model.ground, slider, axis=X))
    return model, ["2 degrees of freedom", "body 'rod' rotates about (0.894, -0.447, 0) through (1, 0.5, 0)"]


def needle_without_inertia():
    model = mbd.Model("needle")
    body = box(model, "needle", inertia=(0, 1, 1))
    model.add(Spherical(model.ground, body, at=(-1, 0, 0)))
    return model, ["body 'needle' can move freely about an axis for which it has no inertia"]


def body_without_inertia():
    model = mbd.Model("point")
    body = box(model, "ball", inertia=(0, 0, 0))
    model.add(Fixed(model.ground, body))
    return model, ["body 'ball' has no inertia; use mbd.PointMass for a point"]


def triangle_inequality():
    model = mbd.Model("link")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = box(model, "link 3", 4.8, (0.066, 0.086, 0.0125), check_inertia=False)
    model.add(Revolute(model.ground, body, at=(0, 0, 0.1), axis=X))
    return model, ["body 'link 3': the principal moments 0.0125, 0.066 and 0.086 violate the triangle inequality"]


def inertia_in_square_millimetres():
    model = mbd.Model("units")
    body = box(model, "arm", 2.0, (1.6e4, 1.6e4, 1.6e4))
    model.add(Revolute(model.ground, body, at=(0.3, 0, 0), axis=Z))
    return model, ["body 'arm': its radius of gyration 89.4 m is 298 times its extent of 0.3 m", "kg mm^2"]


def inertia_too_small():
    model = mbd.Model("units")
    body = box(model, "arm", 2.0, (1e-8, 1e-8, 1e-8))
    model.add(Revolute(model.ground, body, at=(0.3, 0, 0), axis=Z))
    return model, ["body 'arm': its radius of gyration 7.07e-05 m is very small beside its extent of 0.3 m"]


def mass_in_grams():
    model = mbd.Model("units")
    body = box(model, "cube", 7850.0, (13, 13, 13), shape=mbd.shapes.Box((0.1, 0.1, 0.1)))
    model.add(Revolute(model.ground, body, at=(0.5, 0, 0), axis=Z))
    return model, ["a density of 7.85e+06 kg/m^3; is one of them in other units?"]


def gravity_in_millimetres():
    model = mbd.Model("units", gravity=(0, 0, -9810))
    model.add(Spherical(model.ground, box(model), at=(0.5, 0, 0)))
    return model, ["gravity is 9.81e+03, which is 9.81 m/s^2 in mm/s^2"]


def very_different_masses():
    model = mbd.Model("units")
    a, b = box(model, "planet", 5e9, (1e9, 1e9, 1e9)), box(model, "screw", 1e-3, (1e-4, 1e-4, 1e-4))
    model.add(Spherical(model.ground, a, at=(1, 0, 0)))
    model.add(Spherical(a, b, at=(1, 0, 0)))
    return model, ["body 'planet' (5e+09 kg) is 5e+12 times as heavy as body 'screw' (0.001 kg)"]


def velocities_that_do_not_fit():
    model = mbd.Model("start")
    body = box(model, node=LIE(position=(1, 0, 0), velocity=(0, 1, 0)))
    model.add(Revolute(model.ground, body, at=(0, 0, 0), axis=Z))
    return model, ["the given state does not satisfy the joints; initial velocities corrected: body 'box'"]


def repeated_constraints():
    model = mbd.Model("coordinates")

    def twice(q):
        g = q[0] ** 2 + q[1] ** 2 - 1.0
        return g, g

    model.add(mbd.Generalized("circle", (1.0, 0.0), (0.0, 1.0), constraints=twice))
    return model, ["1 constraint of body 'circle' repeats the others", "body 'circle' changes coordinate 2 by 1"]


def empty_model():
    return mbd.Model("empty"), ["the model has no bodies; add one with model.add(mbd.RigidBody(...))"]


def planar_body():
    model = mbd.Model("plane")
    model.add(Planar(model.ground, box(model), normal=Z))
    return model, [
        "3 degrees of freedom", "body 'box' rotates about z through (0, 0, 0)", "body 'box' moves along x",
        "Nothing looks wrong.",
    ]  # fmt: skip


def shaft_and_cross():
    model = mbd.Model("shaft")
    a, b = box(model, "shaft"), box(model, "cross", node=LIE(position=(0, 0, 1)))
    model.add(Cylindrical(model.ground, a, at=(0, 0, 0), axis=Z))
    model.add(Universal(a, b, at=(0, 0, 0.5), axis_a=X, axis_b=Y))
    return model, [
        "4 degrees of freedom",
        "body 'shaft' rotates about z through (0, 0, 0)",
        "body 'shaft' moves along z",
    ]


WRONG = [
    planar_four_bar, flat_parallelogram, bricard, door_with_two_hinges, door_with_oblique_hinges, hinge_that_is_welded,
    doubled_slider, too_many_rods, shaky_rods, loop_that_cannot_close, rods_of_wrong_length, opposite_axes,
    two_drivers_of_place, forgotten_joint, forgotten_base, only_springs, spinning_rod, needle_without_inertia,
    body_without_inertia, triangle_inequality, inertia_in_square_millimetres, inertia_too_small, mass_in_grams,
    gravity_in_millimetres, very_different_masses, velocities_that_do_not_fit, repeated_constraints, empty_model,
    planar_body, shaft_and_cross, four_bars_at_the_horizontal,
]  # fmt: skip
