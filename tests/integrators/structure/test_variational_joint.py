"""DiscreteVariational in joint coordinates: trees, loops, balls, free bodies, and mixtures with absolute bodies."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, DiscreteVariational, Invariant
from mbd.integrators.fixed_step import FixedStepRun
from mbd.integrators.variational import joint_steps
from mbd.system.system import System, assemble
from tests.system.trees import moving_state, random_mechanism

METHOD = DiscreteVariational()
TOLERANCE = METHOD.tolerance
DIFFERENCES = 1e-8  # of central differences with a step of 1e-5, relative


def body(model: mbd.Model, name: str, at, **settings) -> mbd.RigidBody:
    """A body without symmetry, its reference point off the centre of mass."""
    node = mbd.nodes.Quaternion(at, lie=True, **settings)
    return model.add(mbd.RigidBody(name, 1.3, np.diag([0.05, 0.08, 0.06]), node, com=(0.05, -0.03, 0.02)))


def tree(gravity=(0, 0, -9.81)) -> mbd.Model:
    """Joints of several kinds on the ground, a motor, a damper, and a load in time."""
    model = mbd.Model("tree", gravity)
    a, b, c, d = (body(model, name, at) for name, at in zip("abcd", np.eye(4, 3) * 0.6 + 0.1, strict=True))
    hinge = model.add(mbd.joints.Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 1, 0.2), name="hinge"))
    model.add(mbd.joints.Universal(b, a, at=(0.3, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0), name="cross"))
    model.add(mbd.joints.Cylindrical(b, c, at=(0.3, 0.3, 0), axis=(0, 0, 1), name="tube"))
    model.add(mbd.joints.Spherical(c, d, at=(0.3, 0.3, 0.3), name="ball"))
    model.add(mbd.forces.Spring(b, c, (0.1, 0, 0), stiffness=40.0, damping=2.0, length=0.5))
    model.add(mbd.forces.TorsionSpring(hinge, 3.0, 0.2))
    model.add(mbd.forces.Motor(hinge, lambda t: np.sin(3.0 * t), rotor_inertia=0.02))
    return model


def loop() -> mbd.Model:
    """A tree whose end is tied to the ground, with a point mass and generalized coordinates besides."""
    model = tree()
    model.add(mbd.joints.Distance(model["d"], model.ground, point_a=(0.1, 0, 0), point_b=(0.7, 0.9, 0.4), name="rod"))
    point = model.add(mbd.PointMass("point", 0.7, (1.2, 0.3, 0.1)))
    model.add(mbd.joints.Distance(model["d"], point, name="string"))
    model.add(
        mbd.Generalized(
            "own", [0.3], [0.1], mass=lambda q: np.array([[1.0 + q[0] * q[0]]]), potential=lambda q: q[0] ** 2
        )
    )
    return model


def mixed() -> mbd.Model:
    """The loop with one body in its own quaternions."""
    model = loop().with_nodes({"d": mbd.nodes.Quaternion(lie=False)})
    return model.with_coordinates("joint", absolute="d")


def floating() -> mbd.Model:
    """Nothing holds it: a free body that carries others, with springs between them."""
    model = mbd.Model("floating")
    a = body(model, "a", (0, 0, 0), angular_velocity=(0.3, 1.0, -0.7), velocity=(0.2, 0, 0.1))
    b, c, d = (body(model, name, at) for name, at in zip("bcd", [(1, 0, 0), (1, 1, 0), (0, 0, 1)], strict=True))
    model.add(mbd.joints.Revolute(a, b, at=(0.5, 0, 0), axis=(0, 1, 0.2), name="ab"))
    model.add(mbd.joints.Spherical(b, c, at=(1, 0.5, 0), name="bc"))
    model.add(mbd.joints.Prismatic(a, d, at=(0, 0, 0.5), axis=(0, 0, 1), name="ad"))
    model.add(mbd.forces.Spring(a, d, stiffness=30.0, length=0.8))
    model.add(mbd.forces.Spring(b, d, stiffness=20.0, length=1.2))
    return model


@cache
def in_joint_coordinates(name: str) -> mbd.Model:
    """A model by name."""
    model = {"tree": tree, "loop": loop, "mixed": mixed, "floating": floating}[name]()
    return model if name == "mixed" else model.with_coordinates("joint")


@cache
def reference(name: str) -> mbd.Solution:
    return mbd.simulate(in_joint_coordinates(name), 0.4, 0.02, DOPRI5(rtol=1e-11, atol=1e-11))


def errors(name: str, step: float) -> np.ndarray:
    """Largest errors of positions, velocities, and joint forces at the end."""
    exact, own = reference(name), mbd.simulate(in_joint_coordinates(name), 0.4, step, METHOD)
    bodies = [b.name for b in own.model.bodies if b.in_space]
    joints = [j.name for j in own.model.joints if j.name not in ("rotor", "Motor 1 hinge")]

    def largest(names, quantity):
        return max(np.abs(getattr(own[x], quantity)[-1] - getattr(exact[x], quantity)[-1]).max() for x in names)

    return np.array([largest(bodies, "position"), largest(bodies, "velocity"), largest(joints, "force")])


@pytest.mark.parametrize("name", ["tree", "loop", "mixed", "floating"])
def test_second_order_of_positions_velocities_and_reactions(name, tolerance):
    coarse, fine = errors(name, 0.01), errors(name, 0.005)
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=tolerance.order)


@pytest.mark.parametrize("name", ["tree", "loop"])
def test_constraints_and_velocities(name):
    solution = mbd.simulate(in_joint_coordinates(name), 0.4, 0.01, METHOD)
    assert solution.constraint_error.position.max() < 1e-10
    assert solution.constraint_error.velocity.max() < 1e-10


def test_the_motion_of_absolute_coordinates_up_to_the_order():
    joint = in_joint_coordinates("loop")
    absolute = loop().with_nodes(mbd.nodes.Quaternion)

    def gap(step):
        one = mbd.simulate(joint, 0.2, step, METHOD)
        other = mbd.simulate(absolute, 0.2, step, METHOD)
        return max(np.abs(one[x].position[-1] - other[x].position[-1]).max() for x in "abcd")

    assert gap(0.01) / gap(0.005) == pytest.approx(4.0, rel=0.15)


def test_bodies_in_absolute_coordinates_move_alike_however_short_the_steps_are():
    """Time in years of 2^25 s: steps of 3e-10. Forces that are added and taken away would leave their round-off."""
    found = []
    for second in (1.0, 2.0**-25):
        rate = 1.0 / second
        model = mbd.Model("years", (0, 0, -9.81 * rate**2))
        start = mbd.nodes.Quaternion((0.5, 0, 0), velocity=(0, 0, -0.5 * rate), angular_velocity=(0, rate, 0))
        bar = model.add(mbd.RigidBody("bar", 1.0, (0.1, 0.2, 0.25), start))
        point = model.add(mbd.PointMass("point", 0.3, (1.5, 0, -0.6), (-0.6 * rate, 0, -2.0 * rate)))
        model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0)))
        model.add(mbd.forces.Spring(bar, point, (0.5, 0, 0), stiffness=30.0 * rate**2, length=0.5))
        solution = mbd.simulate(model.with_coordinates("joint"), 0.4 * second, 0.01 * second, METHOD)
        found.append([*solution["bar"].position[-1], *solution["point"].position[-1]])
    assert found[1] == pytest.approx(found[0], abs=100.0 * TOLERANCE)


def test_momenta_of_a_free_tree_are_exact_and_its_energy_does_not_drift():
    model = in_joint_coordinates("floating")
    system = assemble(model)
    kept = METHOD.preserves(system)
    assert {Invariant.LINEAR_MOMENTUM, Invariant.ANGULAR_MOMENTUM, Invariant.SYMPLECTIC} <= kept
    assert Invariant.ANGULAR_MOMENTUM not in METHOD.preserves(assemble(in_joint_coordinates("tree")))
    solution = mbd.simulate(model, 20.0, 0.02, METHOD)
    steps = len(solution)
    assert np.ptp(solution.momentum.linear, axis=0).max() < steps * TOLERANCE
    assert np.ptp(solution.momentum.angular, axis=0).max() < steps * TOLERANCE
    error = np.abs(solution.energy.total - solution.energy.total[0])
    assert error.max() < 4.0 * error[: steps // 10].max()
    finer = mbd.simulate(model, 2.0, 0.01, METHOD).energy.total
    coarse = mbd.simulate(model, 2.0, 0.02, METHOD).energy.total
    assert np.ptp(coarse) / np.ptp(finer) == pytest.approx(4.0, rel=0.25)


def test_symplectic(tolerance):
    """The map of a step keeps dq ^ dp; measured on its Jacobian by differences, where q and p are free."""
    model = mbd.Model("double pendulum", (0, 0, -9.81))
    a, b = body(model, "a", (0.5, 0, 0)), body(model, "b", (1.0, 0.2, 0))
    model.add(mbd.joints.Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 1, 0), name="first"))
    model.add(mbd.joints.Revolute(a, b, at=(0.9, 0, 0), axis=(0.3, 1, 0), name="second"))
    system = System(model.with_coordinates("joint"))
    h, n = 0.05, system.n_v

    def step(y):
        mass = system.mass_matrix(y[:n]).toarray()
        run = DiscreteVariational(tolerance=1e-13).start(system, y[:n], np.linalg.solve(mass, y[n:]), 0.0, h, None)
        run.advance(3, 4, [np.zeros((0, len(r))) for r in run.row()])
        return np.concatenate([run.x.q, run.x.shown_p])

    y = np.array([0.4, -0.7, 0.5, 0.3])
    derivative = np.column_stack([(step(y + d) - step(y - d)) / 2e-5 for d in 1e-5 * np.eye(2 * n)])
    form = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    assert np.abs(derivative.T @ form @ derivative - form).max() < 1e-7
    assert np.abs(derivative - np.eye(2 * n)).max() > 0.1  # three steps are not nothing


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 6, 9, 13, 14])
def test_matrix_is_exact(seed):
    """One Newton correction against the equations differentiated by differences, far from the solution."""
    rng = np.random.default_rng(seed)
    model = random_mechanism(rng, 5, loops=seed % 2 == 1)
    lie = {b.name: mbd.nodes.Quaternion(lie=True) for b in model.bodies if isinstance(b, mbd.RigidBody)}
    system = METHOD.twin(System(model.with_nodes(lie).with_coordinates("joint")))
    run = FixedStepRun(METHOD, system, 0.0, 0.02)
    run.begin(*moving_state(system, rng, 0.2), None)
    x, (s, w, p) = run.x, (run.equations.tables, run.work, run.equations.numbers)
    joint_steps.load(s, w, x, p)
    joint_steps.begin(s, w, x, p)

    def equations(u):
        x.dq[:], x.lams[:] = u[: system.n_v], u[system.n_v :]
        joint_steps.residual(s, w, x, p)
        return np.concatenate([w.x[s.xv], w.x[s.xl]])

    u = np.concatenate([0.04 * rng.normal(size=system.n_v), 0.01 * rng.normal(size=system.n_l)])
    units = 1e-5 * np.eye(len(u))
    derivative = np.column_stack([(equations(u + d) - equations(u - d)) / 2e-5 for d in units])
    value = equations(u)
    joint_steps.solve_equations(s, w, x, p)
    correction = np.concatenate([x.dq, x.lams]) - u
    assert np.abs(derivative @ correction + value).max() < DIFFERENCES * np.abs(value).max()


@pytest.mark.parametrize("name", ["tree", "loop", "floating"])
def test_restart_is_bit_identical(name, tmp_path):
    model = in_joint_coordinates(name)
    whole, half = mbd.simulate(model, 0.2, 0.01, METHOD), mbd.simulate(model, 0.1, 0.01, METHOD)
    half.save(tmp_path / "half.npz")
    rest = mbd.simulate(model, 0.2, 0.01, METHOD, start=mbd.load(tmp_path / "half.npz"))
    assert np.array_equal(rest.q[-1], whole.q[-1])
    assert np.array_equal(rest.v[-1], whole.v[-1])


@pytest.mark.parametrize("name", ["loop", "floating"])
def test_two_configurations(name):
    """A start from the first two configurations of a run continues it, and its velocities are those of the run."""
    model = in_joint_coordinates(name)
    whole = mbd.simulate(model, 0.2, 0.01, METHOD)
    again = mbd.simulate(model, 0.2, 0.01, DiscreteVariational(second=whole.q[1]))
    for part in whole.model.bodies:
        if part.in_space:
            assert again[part.name].position[-1] == pytest.approx(whole[part.name].position[-1], abs=1e-8)
    assert again.v[0] == pytest.approx(whole.v[0], abs=1e-7)
    small = mbd.simulate(model, 0.2, 0.01, DiscreteVariational(small_start=20))
    assert small["b"].position[-1] == pytest.approx(whole["b"].position[-1], abs=1e-4)


def test_few_iterations_along_a_chain():
    model = mbd.Model("chain", (0, 0, -9.81))
    last = model.ground
    for k in range(30):
        link = body(model, f"{k}", (k + 0.5, 0, 0))
        model.add(mbd.joints.Revolute(last, link, at=(k, 0, 0), axis=(0, 1, 0) if k % 2 else (0, 0, 1)))
        last = link
    solution = mbd.simulate(model.with_coordinates("joint"), 0.02, 1e-3, METHOD)
    assert solution.stats["newton_iterations"] <= 3 * solution.stats["steps"]


def test_conventional_parameters_of_a_ball_are_stepped_as_quaternions():
    for model, node in ((tree(), mbd.nodes.RotationVector(lie=False)), (tree(), mbd.nodes.EulerAngles())):
        found = mbd.simulate(model.with_coordinates("joint", spherical=node), 0.1, 0.01, METHOD)
        expected = mbd.simulate(model.with_coordinates("joint"), 0.1, 0.01, METHOD)
        for part in model.bodies:
            if part.in_space:
                assert found[part.name].position[-1] == pytest.approx(expected[part.name].position[-1], abs=1e-10)
    free = floating().with_nodes({"a": mbd.nodes.RotationVector(lie=False)}).with_coordinates("joint")
    found, expected = (mbd.simulate(x, 0.1, 0.01, METHOD) for x in (free, floating().with_coordinates("joint")))
    assert found["a"].rotation == pytest.approx(expected["a"].rotation, abs=1e-10)
