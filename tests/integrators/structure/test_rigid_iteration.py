"""The matrix of rigid bodies in GGL methods and Rattle: the same solutions as with the matrix of all unknowns."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd.integrators import GGLEM, GGLEuler, GGLMidpoint, GGLTrapezoidal, Rattle
from mbd.integrators.directors.rigid_solve import RigidBodies
from mbd.linalg.front import FAILED
from mbd.system.matrix import factor, tangent

DIRECTORS = mbd.nodes.Directors
GGL = (GGLEuler(), GGLMidpoint(), GGLTrapezoidal(), GGLTrapezoidal(theta=0.5), GGLEM())
STEP, STEPS = 2e-3, 30
# what a Newton tolerance of 1e-10 leaves of positions (in m, times h^2 times accelerations), velocities and residuals
SAME_POSITION, SAME_VELOCITY, SMALL_RESIDUAL = 1e-11, 1e-9, 1e-13


def joints(a, b, i, at):
    """All primitives in turns."""
    kind = i % 5
    if kind == 0:
        return mbd.joints.Revolute(a, b, at=at, axis=(0, 1, 0))
    if kind == 1:
        return mbd.joints.Universal(a, b, at=at, axis_a=(0, 1, 0), axis_b=(0, 0, 1))
    if kind == 2:
        return mbd.joints.Spherical(a, b, at=at)
    if kind == 3:
        return mbd.joints.Prismatic(a, b, at=at, axis=(1, 0, 0))
    return mbd.joints.Revolute(a, b, at=at, axis=(0, 0.6, 0.8))


def mixed(count: int = 10, *, stiffness: float = 40.0, loop: bool = False, redundant: bool = False) -> mbd.Model:
    """A chain of bodies with all joints, centres of mass off the reference points, springs, dampers and points."""
    model = mbd.Model("mixed", gravity=(0, 0, -9.81))
    previous, bodies = model.ground, []
    for i in range(count):
        node = DIRECTORS(position=(i + 0.5, 0, 0))
        body = mbd.RigidBody(f"b{i}", mass=1.0 + 0.1 * i, inertia=(0.05, 0.1, 0.12), com=(0.05, 0, 0.02), node=node)
        model.add(body)
        model.add(joints(previous, body, i, (float(i), 0, 0)))
        if i >= 2:
            model.add(mbd.forces.Spring(bodies[i - 2], body, stiffness=stiffness, length=2.0, damping=0.2))
        bodies.append(body)
        previous = body
    point = model.add(mbd.PointMass("p", mass=0.5, position=(count + 0.7, 0, 0)))
    model.add(mbd.joints.Distance(previous, point, point_a=(0.5, 0, 0)))
    if loop:
        model.add(mbd.joints.Distance(model.ground, previous, point_a=(count, 0, 1.0)))
    if redundant:  # a second hinge on the axis of the first
        model.add(mbd.joints.Revolute(model.ground, bodies[0], at=(0, 0.5, 0), axis=(0, 1, 0)))
    return model


MODELS = {
    "chain": lambda: mixed(),
    "loop": lambda: mixed(loop=True),
    "redundant": lambda: mixed(redundant=True),
    "stiff": lambda: mixed(stiffness=1e5),
}


def started(method, model, step=STEP):
    """A run at its start."""
    system = mbd.assemble(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.RedundancyWarning)
        from mbd.solvers.redundancy import check_redundancy

        check_redundancy(system, system.initial_state()[0])
    return method.start(system, *system.initial_state(), 0.0, step, None)


def advance(run, count):
    return run.advance(count, 10**9, [y[None][:0] for y in run.initial_row()])


# explicit forces do not allow stiff springs at this step
PAIRS = [(m, name) for m in GGL for name in MODELS if name != "stiff" or isinstance(m, GGLEM | GGLMidpoint)]
PAIR_NAMES = [f"{name}-{m.name} {getattr(m, 'theta', '')}" for m, name in PAIRS]


@pytest.mark.parametrize(("method", "name"), PAIRS, ids=PAIR_NAMES)
def test_same_solution_as_the_large_matrix(method, name):
    fast, full = started(method, MODELS[name]()), started(method, MODELS[name]())
    assert fast.equations.rigid
    assert full.equations.recover()
    assert advance(fast, STEPS) == STEPS
    assert advance(full, STEPS) == STEPS
    assert fast.equations.rigid  # it did not have to give up
    assert fast.x.q == pytest.approx(full.x.q, abs=SAME_POSITION)
    assert fast.x.v == pytest.approx(full.x.v, abs=SAME_VELOCITY)
    assert abs(fast.x.r1).max() < SMALL_RESIDUAL


@pytest.mark.parametrize("step", [0.02, 0.05, 0.1])
def test_large_steps(step):
    """The same solution also where a step turns bodies by large angles."""
    run, reference = (started(GGLEM(), mixed(), step=step) for _ in range(2))
    assert reference.equations.recover()
    assert advance(reference, 6) == 6
    assert advance(run, 6) == 6
    assert run.x.q == pytest.approx(reference.x.q, abs=100.0 * SAME_POSITION)


def test_falls_back_to_the_large_matrix():
    """A run whose iteration fails goes on with the large matrix, in the middle of a call."""
    run, reference = started(GGLEM(), mixed()), started(GGLEM(), mixed())
    assert advance(run, 5) == 5
    run.work.matrix[:] = np.nan  # the kept factors
    run.equations.numbers.factored = 1
    assert advance(run, 5) == 5
    assert not run.equations.rigid
    assert not run.equations.recover()  # there is no third way
    assert advance(reference, 10) == 10
    assert reference.equations.rigid
    assert run.x.q == pytest.approx(reference.x.q, abs=1e-9)


@pytest.mark.parametrize("method", [GGLEM(), GGLTrapezoidal(), Rattle()], ids=lambda m: m.name)
def test_restart_continues_bit_for_bit(method):
    """Kept factors and the values from which guesses are extrapolated belong to the state."""
    model = mixed()
    whole = mbd.simulate(model, 0.06, STEP, method)
    rest = mbd.simulate(model, 0.06, STEP, method, start=mbd.simulate(model, 0.03, STEP, method))
    assert np.array_equal(whole.q[-1], rest.q[-1])
    assert np.array_equal(whole.v[-1], rest.v[-1])


@pytest.mark.parametrize("loop", [False, True])
def test_rattle_meets_both_constraints(loop):
    solution = mbd.simulate(mixed(loop=loop), 0.1, STEP, Rattle())
    assert solution.constraint_error.position.max() < 1e-11
    assert solution.constraint_error.velocity.max() < 1e-9


def test_rigid_matrix_is_that_of_lie_nodes():
    """At one frame, rows and columns of the rigid matrix are the matrix of the model on Lie nodes."""
    from mbd.integrators.directors.rigid_solve import rigid_blocks

    model = mixed(4)
    system, lie = mbd.assemble(model), mbd.assemble(model.with_nodes(mbd.nodes.RotationVector))
    bodies = RigidBodies(system)
    t, w = bodies.tables, bodies.new_work()
    z = system.frames(system.initial_state()[0])
    rigid_blocks(t, w, w.values, z, z, w.matrix)
    own = bodies.layout.to_scipy(w.matrix).toarray()
    s, work = lie.tables, lie.new_work()
    work.z[:] = z
    zero, none = np.zeros(lie.n_v), np.zeros(lie.n_l)
    q = lie.initial_state()[0]
    tangent(s, work, q, zero, zero, none, work.eye, 1.0, 0.0, 0.0, work.matrix)
    expected = lie.assembly.layout.to_scipy(work.matrix).toarray()
    mine, theirs = np.concatenate([t.xv, t.xl]), np.concatenate([s.xv, s.xl])
    assert own[np.ix_(mine, mine)] == pytest.approx(expected[np.ix_(theirs, theirs)], abs=1e-13)
    factor(t, w, w.matrix, w.pivots, w.dinv)
    assert w.report[FAILED] == 0.0


def test_states_that_lack_later_numbers_continue():
    """Files of earlier versions of ``Rattle`` hold one number less; states of another length are refused."""
    model, method = mbd.Model("top", gravity=(0, 0, -9.81)), mbd.integrators.Rattle()
    node = mbd.nodes.Directors(position=(0, 1, 0), angular_velocity=(0, 15.0, 0))
    top = model.add(mbd.RigidBody("top", 15.0, (0.2, 0.4, 0.3), node))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    whole = mbd.simulate(model, 0.02, 1e-3, method)
    system = mbd.assemble(model)
    run = method.start(system, whole.q[0], whole.v[0], 0.0, 1e-3, None)
    out = [np.zeros((20, len(x))) for x in run.row()]
    run.advance(10, 1, out)
    state = run.state()
    older = method.resume(system, {**state, "memory": state["memory"][:-1]})
    older.advance(10, 1, out)
    np.testing.assert_array_equal(out[0][9], whole.q[-1])
    for memory in (state["memory"][:-2], np.append(state["memory"], 0.0)):
        with pytest.raises(ValueError, match="zip"):
            method.resume(system, {**state, "memory": memory})
