"""Accelerations and multipliers with and without swaps of rows, and when the latter is left to the former."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd import benchmarks
from mbd.system.accelerations import accelerations
from mbd.system.tables import FLAG_DEFINITE

ROUND_OFF = 1e-12
NODES = {
    "rotation vector": mbd.nodes.RotationVector(),
    "pinned or not": None,
    "quaternion": mbd.nodes.Quaternion(),
    "directors": mbd.nodes.Directors(),
    "euler": mbd.nodes.EulerAngles(),
}


def both_ways(model):
    """(v_dot, lambda) by the definite factors and by LU, and whether the first were asked for."""
    system = mbd.assemble(model)
    start = mbd.consistent_start(system)
    flags = system.tables.flags
    asked, found = bool(flags[FLAG_DEFINITE]), []
    zero = np.zeros(max(system.n_v, system.n_l))
    for flag in (flags[FLAG_DEFINITE], 0):
        flags[FLAG_DEFINITE] = flag
        vd, lam = np.zeros(system.n_v), np.zeros(system.n_l)
        accelerations(system.tables, system.new_work(), start.q, start.v, zero, vd, lam)
        found.append((vd, lam))
    flags[FLAG_DEFINITE] = asked
    return system, start, asked, found


def assert_same(found):
    for one, other in zip(*found, strict=True):
        assert np.abs(one - other).max(initial=0.0) <= ROUND_OFF * max(1.0, np.abs(other).max(initial=0.0))


def branched(inertia=(0.2, 0.3, 0.4)):
    """A tree of all kinds of joints with offset centres of mass, a loop of rods, and initial velocities."""
    rng = np.random.default_rng(4)
    model = mbd.Model("branched", gravity=(0, 0, -9.81))
    joints = (
        lambda a, b, at: mbd.joints.Revolute(a, b, at=at, axis=rng.normal(size=3)),
        lambda a, b, at: mbd.joints.Prismatic(a, b, at=at, axis=rng.normal(size=3)),
        lambda a, b, at: mbd.joints.Spherical(a, b, at=at),
        lambda a, b, at: mbd.joints.Cylindrical(a, b, at=at, axis=rng.normal(size=3)),
        lambda a, b, at: mbd.joints.Universal(a, b, at=at, axis_a=(1, 0, 0), axis_b=(0, 1, 0)),
    )
    bodies = [model.ground]
    for i, joint in enumerate(joints):
        place = rng.normal(size=3)
        com = 0.1 * rng.normal(size=3)
        node = mbd.nodes.RotationVector(position=place, angular_velocity=0.1 * rng.normal(size=3))
        body = model.add(mbd.RigidBody(f"body {i}", 1.0 + i, inertia, node, com=com))
        model.add(joint(bodies[rng.integers(len(bodies))], body, place + 0.3 * rng.normal(size=3)))
        bodies.append(body)
    model.add(mbd.joints.Distance(bodies[2], bodies[5], (0.1, 0, 0), (0, 0.2, 0)))
    return model


@pytest.mark.parametrize("kind", NODES)
def test_same_accelerations_as_with_swaps(kind):
    model = branched()
    if NODES[kind] is not None:
        model = model.with_nodes(NODES[kind])
    _, _, asked, found = both_ways(model)
    assert asked
    assert_same(found)


@pytest.mark.parametrize(
    "name", ["andrews_squeezer", "stewart_platform", "n_four_bar", "heavy_top", "flyball_governor"]
)
def test_loops(name):
    _, _, _, found = both_ways(getattr(benchmarks, name)().model)
    assert_same(found)


@pytest.mark.parametrize("size", [1e-2, 1e-3, 1e-4, 1e-6, 1e-10, 1e-14])
def test_light_links_lose_no_digits(size):
    """A link that gets its inertia from a heavy body: swaps are made where factors without them lose digits."""
    model = mbd.Model("hanger", gravity=(0, 0, -9.81))
    tilted = mbd.rotation(axis=(1, 2, 3), angle=0.8)
    node = mbd.nodes.RotationVector((0.1, 0, 0), rotation=tilted)
    light = model.add(mbd.RigidBody("light", size, (size, size, size), node))
    node = mbd.nodes.RotationVector((1.0, 0.3, 0.2), angular_velocity=(0, 1, 0), rotation=tilted)
    heavy = model.add(mbd.RigidBody("heavy", 5.0, (0.2, 0.3, 0.4), node))
    model.add(mbd.joints.Revolute(model.ground, light, at=(0, 0, 0), axis=(0.3, 1, 0.2)))
    model.add(mbd.joints.Spherical(light, heavy, at=(0.2, 0.1, 0.05)))
    _, _, asked, found = both_ways(model)
    assert asked
    assert_same(found)


def test_bodies_without_inertia_about_an_axis_are_left_to_swaps():
    assert not mbd.assemble(benchmarks.puma().model).tables.flags[FLAG_DEFINITE]
    assert_same(both_ways(branched(inertia=(0.0, 0.3, 0.3)))[3])
