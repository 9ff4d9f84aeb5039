"""Runs that begin again with other numbers in the buffers of the run before: bit for bit as new ones."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import mbd
from mbd.compiled.settings import JIT
from mbd.system.tables import FLAG_REDUNDANT

STEP, STEPS = 0.01, 30
VALUES = {"k": 3.5, "length": 0.7, "mass": 1.4, "spin": 2.5}
m = mbd.integrators
METHODS = {
    "alpha": m.GeneralizedAlpha(),
    "index 3": m.GeneralizedAlpha(stabilized=False),
    "modified": m.GeneralizedAlpha(newton="modified", stabilized=False),
    "BLieDF": m.BLieDF(2),
    "RK4": m.RK4(),
    "DOPRI5": m.DOPRI5(),
    "HEDOP5": m.HEDOP5(fixed=True),
    "LieEM": m.LieEM(),
}


def build(k=2.0, length=0.5, mass=1.0, spin=1.0):
    """A hinge that turns several times, a pendulum on a ball, a spring and a pinned top."""
    model = mbd.Model("mixed", gravity=(0, 0, -9.81))
    names = ("k", "length", "mass", "spin")
    k, length, mass, spin = (model.parameter(*x) for x in zip(names, (k, length, mass, spin), strict=True))
    start = mbd.nodes.RotationVector((length, 0, 0), velocity=(0, 0, -30 * length), angular_velocity=(0, 30, 0))
    rod = model.add(mbd.RigidBody("rod", mass, (0.02, 0.03, 0.025), start))
    hinge = model.add(mbd.joints.Revolute(model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=k, damping=0.01))
    bob = model.add(mbd.RigidBody("bob", 0.5, (0.01, 0.02, 0.015), mbd.nodes.RotationVector((0, 1.0, -length))))
    model.add(mbd.joints.Spherical(model.ground, bob, at=(0, 1.0, 0), name="ball"))
    model.add(mbd.forces.Spring(rod, bob, stiffness=k, length=1.0))
    node = mbd.nodes.RotationVector((2.0, 0, length), angular_velocity=(spin, 0, 8 * spin), pinned=True)
    model.add(mbd.RigidBody("top", mass, (0.2, 0.25, 0.1), node, com=(0, 0, 0.3)))
    return model


COORDINATES = {
    "absolute": lambda model: model,
    "joint": lambda model: model.with_coordinates("joint"),
    "mixed": lambda model: model.with_coordinates("joint", absolute=["bob"]),
}


def rows(solution):
    return [solution.t, *solution.rows()]


def assert_same(solution, other):
    for x, y in zip(rows(solution), rows(other), strict=True):
        assert np.array_equal(x, y, equal_nan=True)


@pytest.mark.parametrize("name", METHODS)
def test_simulator_with_other_numbers_is_a_new_one(name):
    method = METHODS[name]
    sim = mbd.Simulator(build(), STEP, method)
    sim.advance(17 * STEP)
    sim.reset(**VALUES)
    sim.advance(STEPS * STEP)
    fresh = mbd.Simulator(build(**VALUES), STEP, method)
    fresh.advance(STEPS * STEP)
    assert_same(sim.solution(), fresh.solution())
    assert sim.solution().stats == fresh.solution().stats


@pytest.mark.skipif(not JIT, reason="plain Python begins with new buffers")
@pytest.mark.parametrize("name", ["alpha", "RK4", "DOPRI5"])
def test_buffers_are_those_of_the_run_before(name):
    sim = mbd.Simulator(build(), STEP, METHODS[name])
    before = sim._run.work
    sim.reset(k=4.0)
    assert sim._run.work is before


@pytest.mark.skipif(not JIT, reason="plain Python begins with new buffers")
@pytest.mark.parametrize("name", ["alpha", "modified", "BLieDF", "RK4", "HEDOP5"])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_nothing_is_left_in_the_buffers(coordinates, name):
    sim = mbd.Simulator(COORDINATES[coordinates](build()), STEP, METHODS[name])
    sim.advance(5 * STEP)
    run = sim._run
    assert run._beginning.restore()
    sim.system.prepare_work(run.work)
    new = METHODS[name].start(sim.system, *sim._initial, 0.0, STEP, None)
    assert new._beginning.restore()  # so that its arrays are those before the start
    sim.system.prepare_work(new.work)
    fresh = sim.system.new_work()
    pairs = [(run.work, fresh), (run.work.tree, fresh.tree), (run.x, new.x)]
    for one, other in pairs:
        for field in one.fields:
            x, y = getattr(one, field), getattr(other, field)
            if isinstance(x, np.ndarray) and x.dtype.kind == "f":
                assert np.array_equal(x, y, equal_nan=True), field
            elif not isinstance(x, np.ndarray | mbd.compiled.record.Record):
                assert x == y, field


def test_after_a_run_that_failed():
    """A body that no longer hangs together with numbers that are no numbers leaves nothing behind."""
    model = build()
    u = model.input("u", 0.0)
    model.add(mbd.forces.Force(model["bob"], (u, 0, 0)))
    sim = mbd.Simulator(model, STEP)
    sim.advance(3 * STEP)
    sim.inputs["u"] = 1e306
    with pytest.raises(mbd.errors.MbdError):
        sim.advance(5 * STEP)
    sim.reset(k=3.0)
    sim.advance(STEPS * STEP)
    other = build(k=3.0)
    other.add(mbd.forces.Force(other["bob"], (other.input("u", 0.0), 0, 0)))
    fresh = mbd.Simulator(other, STEP)
    fresh.advance(STEPS * STEP)
    assert_same(sim.solution(), fresh.solution())


@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("name", ["alpha", "RK4", "LieEM"])
def test_prepared_runs_one_after_another(coordinates, name):
    """Also their state, as long as it is asked for in time."""
    method = METHODS[name]

    def model(**values):
        return COORDINATES[coordinates](build(**values))

    run = mbd.assemble(model()).parameters(list(VALUES)).run(STEPS * STEP, STEP, method)
    first = run(VALUES)
    fresh = mbd.simulate(model(**VALUES), STEPS * STEP, STEP, method)
    assert_same(first, fresh)
    state = first.state
    assert np.array_equal(state["q"], fresh.state["q"]) and state["fingerprint"] == fresh.state["fingerprint"]
    second = run({"k": 1.0})
    third = run(VALUES)
    assert_same(third, fresh)
    for name in ("rod", "top"):  # the latter stays where it is: its place is no coordinate
        assert np.array_equal(third[name].position, fresh[name].position)
    assert np.array_equal(third.energy.total, fresh.energy.total)
    with pytest.raises(mbd.errors.ModelError, match="changed for another one"):
        _ = second.state
    on = mbd.simulate(model(**VALUES), 2 * STEPS * STEP, STEP, method, start=state)
    assert_same(on, mbd.simulate(model(**VALUES), 2 * STEPS * STEP, STEP, method, start=fresh))


def test_solutions_are_refused_when_numbers_of_the_system_were_changed():
    """But for their state: it is found before the change."""
    handle = mbd.assemble(build()).parameters(["k"])
    solution = handle.run(STEPS * STEP, STEP)({"k": 1.0})
    handle.system.set_parameters({"k": 2.0})
    with pytest.raises(mbd.errors.ModelError, match="changed for another one"):
        _ = solution.energy
    fresh = mbd.simulate(build(k=1.0), STEPS * STEP, STEP)
    assert solution.state["fingerprint"] == fresh.state["fingerprint"]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_copies_of_solutions_of_prepared_runs_last(coordinates, copied):
    run = mbd.assemble(COORDINATES[coordinates](build())).parameters(list(VALUES)).run(STEPS * STEP, STEP)
    solution = run(VALUES)
    own = copied(solution)
    run({"k": 1.0})
    fresh = mbd.simulate(COORDINATES[coordinates](build(**VALUES)), STEPS * STEP, STEP)
    assert_same(own, fresh)
    for read in (lambda s: s.energy.total, lambda s: s["hinge"].force, lambda s: s["hinge"].angle):
        assert np.array_equal(read(own), read(fresh))
    with pytest.raises(mbd.errors.ModelError, match="changed for another one"):
        copied(solution)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_of_prepared_runs_are_runs(copied):
    """Also of one that has been made, with the numbers that it has left."""
    run = mbd.assemble(build()).parameters(list(VALUES)).run(STEPS * STEP, STEP, output_step=2 * STEP)
    run(VALUES)
    own = copied(run)
    fresh = mbd.simulate(build(**VALUES), STEPS * STEP, STEP, output_step=2 * STEP)
    assert_same(own(), fresh)
    assert_same(own(VALUES), fresh)
    assert_same(run(VALUES), fresh)


def hung_twice(height):
    """A hinge, and a particle that hangs on two rods: they are parallel without a height, and so are their rows."""
    model = mbd.Model("hung twice", gravity=(0, 0, -9.81))
    height = model.parameter("height", height)
    rod = model.add(mbd.RigidBody("rod", 1.0, (0.1, 0.2, 0.1), mbd.nodes.RotationVector((0.5, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    bob = model.add(mbd.PointMass("bob", 1.0, (0, height, -1.0)))
    for name, z in (("short", 0.0), ("long", 1.0)):
        model.add(mbd.joints.Distance(model.ground, bob, point_a=(0, 0, z), point_b=(0, 0, 0), name=name))
    return model


@pytest.mark.filterwarnings("ignore::mbd.RedundancyWarning")
@pytest.mark.parametrize("method", [m.GeneralizedAlpha(), m.RK4(), m.LieEM()], ids=lambda x: x.name)
def test_after_a_singular_start(method):
    """Constraints that were dependent for other numbers leave nothing behind, neither here nor in other coordinates."""
    run = mbd.assemble(hung_twice(0.5)).parameters(["height"]).run(STEPS * STEP, STEP, method)
    sim = mbd.Simulator(hung_twice(0.5), STEP, method)
    for height in (0.0, 0.7):
        fresh = mbd.simulate(hung_twice(height), STEPS * STEP, STEP, method)
        assert_same(run({"height": height}), fresh)
        sim.reset(height=height)
        sim.advance(STEPS * STEP)
        assert_same(sim.solution(), fresh)
    assert run.handle.system.tables.flags[FLAG_REDUNDANT] == 0


def door():
    model = mbd.Model("door", gravity=(0, 0, -9.81))
    leaf = model.add(mbd.RigidBody("leaf", 2.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector((0.5, 0, 0))))
    for name, z in (("low", -0.5), ("high", 0.5)):
        model.add(mbd.joints.Revolute(model.ground, leaf, at=(0, 0, z), axis=(0, 0, 1), name=name))
    return model


@pytest.mark.filterwarnings("ignore::mbd.RedundancyWarning")
@pytest.mark.parametrize("name", ["alpha", "index 3", "modified", "BLieDF", "LieEM"])
def test_redundant_joints_at_rest(name):
    """Steps that need no iteration have reactions of their own, whatever was factorised before."""
    method = METHODS[name]
    whole = mbd.simulate(door(), 10 * STEP, STEP, method)
    np.testing.assert_allclose(whole["low"].force[:, 2], 9.81, rtol=1e-6)
    first = mbd.simulate(door(), 5 * STEP, STEP, method)
    second = mbd.simulate(door(), 10 * STEP, STEP, method, start=first)
    assert_same(second.part(slice(1, None)), whole.part(slice(6, None)))
    sim = mbd.Simulator(door(), STEP, method)
    for steps in (5, 10):
        sim.reset()
        sim.advance(steps * STEP)
    assert_same(sim.solution(), whole)
