"""The equations along a direction: by the product rule, against differences of the residual."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.compiled.fours import fours_of, rows_of_fours
from mbd.system import instant
from mbd.system.accelerations import accelerations
from mbd.system.along import equations_along, look_along, look_at_accelerations, positions_along
from mbd.system.touched import along
from mbd.system.tree_along import articulated_solution, look_along_tree

DIFFERENCE = 1e-8  # of the largest entry: what central differences leave
SIZE = 1e-5


def together(*rows):
    """As many vectors side by side; a single group."""
    return fours_of(np.array(rows))[0]


def apart(fours, count):
    return rows_of_fours(fours[None], count)


def mechanism():
    """Every primitive, a spring, and bodies whose centres of mass are off."""
    model = mbd.Model("mechanism", gravity=(0.3, 0.2, -9.81))
    reach, tilt, hook = model.parameter("reach", 0.1), model.parameter("tilt", 0.2), model.parameter("hook", 0.3)
    rng = np.random.default_rng(7)
    bodies = [model.ground]
    for i in range(4):
        start = mbd.nodes.RotationVector((i + 0.5, 0.1 * i, 0), pinned=i == 0)
        bodies.append(
            model.add(mbd.RigidBody(f"bar {i}", 1.0 + i, (0.5, 0.6, 0.7), start, com=0.2 * rng.normal(size=3)))
        )
    point = model.add(mbd.PointMass("point", 0.5, position=(3.0, 1.0, 2.0)))
    model.add(mbd.joints.Revolute(bodies[1], bodies[2], at=(1, 0, reach), axis=(0, 1, 0.3)))
    model.add(mbd.joints.Prismatic(bodies[2], bodies[3], axis=(1, tilt, 0), name="slide"))
    model.add(mbd.joints.Spherical(bodies[3], bodies[4], at=(3, 0, 0)))
    model.add(mbd.joints.Distance(bodies[4], point, name="rod"))
    ends = {"point_a": (0, hook, 0), "point_b": (0.1, 0, hook)}
    model.add(mbd.forces.Spring(bodies[1], bodies[4], stiffness=30.0, damping=2.0, length=1.0, **ends))
    return model


def residual(system, q, v, vd, lam, level):
    s, w = system.tables, system.new_work()
    x = np.zeros_like(w.x)
    instant.evaluate_functions(s, w, 0.0)
    instant.frames(s, w, q)
    instant.velocities(s, w, q, v)
    instant.dynamics(s, w, q, v, vd, lam, x)
    if level == 0:
        instant.constraints(s, w, q, x)
    elif level == 1:
        instant.constraint_rates(s, w, q, v, x)
    else:
        instant.biases(s, w, q, v)
        instant.constraint_accelerations(s, w, q, v, vd, x)
    return x


def beside(system, name):
    """Systems on both sides of a parameter."""
    pair = []
    for sign in (1.0, -1.0):
        handle = system.parameters([name])
        handle.set([handle.values[name] + sign * SIZE])
        pair.append(handle.system)
    return pair


@pytest.mark.parametrize(
    "names", [["bar 2.mass"], ["rod.length"], ["bar 2.mass", "nothing", "rod.length"], ["reach", "tilt", "hook"]]
)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_product_rule(names, level):
    """Of one parameter, and of several at once, each of which touches something else."""
    model = mechanism()
    model.parameter("nothing", 2.0)
    system, count = mbd.assemble(model), len(names)
    pairs = [beside(system, name) for name in names]
    rng = np.random.default_rng(3)
    s, w = system.tables, system.new_work()
    q = system.update(system.initial_state()[0], 0.3 * rng.normal(size=system.n_v))
    v, vd = rng.normal(size=(2, system.n_v))
    dq, dv, dvd = rng.normal(size=(3, count, system.n_v))
    lam, dlam = rng.normal(size=system.n_l), rng.normal(size=(count, system.n_l))
    if level == 2:
        dvd, dlam = 0 * dvd, 0 * dlam
    works = [one.new_work() for pair in pairs for one in pair]
    g = along(s, [(a.tables, b.tables) for a, b in pairs], np.full(count, SIZE), works, len(w.x))
    assert g.exact.all() and len(g.nodes) == ("bar 2.mass" in names)
    touched = {"rod.length": 1, "reach": 1, "tilt": 5}  # a point; axes of all equations of a prismatic joint
    assert np.diff(g.first_primitive).tolist() == [touched.get(name, 0) for name in names]
    assert np.diff(g.first_force).tolist() == g.shifted.sum(axis=1).tolist() == [name == "hook" for name in names]
    instant.frames(s, w, q)
    look_along(s, w, q, v, lam, w.z.copy())
    if level == 2:
        none = np.zeros(system.n_l)
        look_along(s, w, q, v, none, w.z.copy())
        look_at_accelerations(s, w, g, v, vd, lam)
    x = together(*np.zeros((4, len(w.x))))
    equations_along(s, w, g, 0, q, v, vd, lam, *(together(*d) for d in (dq, dv, dvd, dlam)), x, level)
    found = apart(x, count)
    for i, pair in enumerate(pairs):
        plus, minus = (
            residual(one, system.update(q, e * dq[i]), v + e * dv[i], vd + e * dvd[i], lam + e * dlam[i], level)
            for one, e in zip(pair, (SIZE, -SIZE), strict=True)
        )
        expected = (plus - minus) / (2.0 * SIZE)
        assert np.abs(found[i] - expected).max() < DIFFERENCE * np.abs(expected).max()
        if level == 0:
            positions_along(s, w, g, 0, lam, together(*dq), x)
            assert np.abs(apart(x, count)[i] - expected)[s.xl].max() < DIFFERENCE * np.abs(expected[s.xl]).max()


def arm():
    """Every kind of joint that carries, with a spring, a law of an own function and a rotor on some of them."""
    model = mbd.Model("arm", gravity=(0.3, 0.2, -9.81))
    reach, pitch = model.parameter("reach", 0.4), model.parameter("pitch", 0.1)
    rng, last = np.random.default_rng(5), model.ground
    joints = (mbd.joints.Revolute, mbd.joints.Spherical, mbd.joints.Cylindrical, mbd.joints.Universal)
    for i, kind in enumerate((*joints, mbd.joints.Prismatic, mbd.joints.Screw)):
        start = mbd.nodes.RotationVector((i + 0.5, 0.1 * i, 0))
        inertia = (0.5, 0.6, 0.7)
        bar = model.add(mbd.RigidBody(f"bar {i}", 1.0 + i, inertia, start, com=0.2 * rng.normal(size=3)))
        axes = {} if kind is mbd.joints.Spherical else {"axis": (0, 1, 0.3)}
        if kind is mbd.joints.Universal:
            axes = {"axis": (0, 1, 0), "axis_b": (0, 0, 1)}
        if kind is mbd.joints.Screw:
            axes = {"axis": (0, 1, 0.3), "pitch": pitch}
        at = (i, 0, reach) if i == 3 else (i, 0, 0)
        joint = model.add(kind(last, bar, at=at, **axes, name=f"joint {i}"))
        if i == 0:
            model.add(mbd.forces.TorsionSpring(joint, stiffness=3.0, damping=0.7, name="spring"))
        last = bar
    return model.with_coordinates("joint")


@pytest.mark.parametrize(
    "names", [["bar 2.mass"], ["nothing", "spring.stiffness", "reach", "bar 2.mass"], ["pitch", "reach"]]
)
def test_product_rule_of_trees(names):
    """Inverse dynamics along directions; accelerations along them are those of the articulated bodies."""
    model = arm()
    model.parameter("nothing", 2.0)
    system, count = mbd.assemble(model), len(names)
    pairs = [beside(system, name) for name in names]
    rng = np.random.default_rng(3)
    s, w = system.tables, system.new_work()
    q = system.update(system.initial_state()[0], 0.3 * rng.normal(size=system.n_v))
    v, vd = rng.normal(size=(2, system.n_v))
    dq, dv, dvd = rng.normal(size=(3, count, system.n_v))
    none = np.zeros(0)
    works = [one.new_work() for pair in pairs for one in pair]
    g = along(s, [(a.tables, b.tables) for a, b in pairs], np.full(count, SIZE), works, len(w.x))
    assert g.exact.all()
    assert g.tree.moved.max(axis=1).tolist() == [0 if name == "reach" else -1 for name in names]
    assert g.tree.placed.tolist() == [name == "pitch" for name in names]
    assert g.tree.beside.tolist() == [name == "spring.stiffness" for name in names]
    instant.evaluate_functions(s, w, 0.0)
    instant.frames(s, w, q)
    look_along_tree(s, w, g.tree, q, v, vd)
    x, nothing = together(*np.zeros((4, len(w.x)))), together(none)
    equations_along(s, w, g, 0, q, v, vd, none, *(together(*d) for d in (dq, dv, dvd)), nothing, x, 0)
    found = apart(x, count)
    for i, pair in enumerate(pairs):
        plus, minus = (
            residual(one, system.update(q, e * dq[i]), v + e * dv[i], vd + e * dvd[i], none, 0)
            for one, e in zip(pair, (SIZE, -SIZE), strict=True)
        )
        expected = (plus - minus) / (2.0 * SIZE)
        assert np.abs(found[i] - expected).max() < DIFFERENCE * np.abs(expected).max()
    zero = np.zeros(system.n_v)
    accelerations(s, w, q, v, zero, np.zeros(system.n_v), none)
    rows = [residual(system, q, v, d, none, 0) - residual(system, q, v, zero, none, 0) for d in dvd]  # M dvd
    out = together(*np.zeros((4, system.n_v)))
    articulated_solution(s, w, g.tree, together(*rows), out)
    assert np.abs(apart(out, count) + dvd).max() < 1e-10 * np.abs(dvd).max()
