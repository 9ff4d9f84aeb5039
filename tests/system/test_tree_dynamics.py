"""Dynamics along trees: recursions against matrices, against absolute coordinates, and where they have no solution."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd import forces, joints, nodes
from mbd.errors import AssemblyError
from mbd.solvers.redundancy import check_redundancy
from mbd.solvers.states import on_lie_nodes
from mbd.solvers.twins import body_state
from mbd.system.matrix import factor, solve, tangent
from mbd.system.system import System
from mbd.system.tables import BY_FRONTS, BY_RECURSION, FLAG_TREE
from mbd.system.tree_matrix import plain_tangent
from mbd.testing import check_system

from .trees import moving_state, new_body, new_joint, random_mechanism, same_accelerations

SEEDS = range(12)


def random_tree(seed, bodies=9):
    """A tree without anything that couples its branches, as a system, and a state."""
    rng = np.random.default_rng(seed)
    model = random_mechanism(rng, bodies, loops=False)
    alone = [body.name for body in model.bodies if not any(body in joint.bodies for joint in model.joints)]
    for name in alone:
        model.remove(name)
    system = System(model.with_coordinates("joint"))
    assert system.tables.flags[FLAG_TREE] == BY_RECURSION
    return system, *moving_state(system, rng), rng


@pytest.mark.parametrize("seed", SEEDS)
def test_articulated_bodies_invert_inverse_dynamics(seed, tolerance):
    system, q, v, rng = random_tree(seed)
    vd, lam = system.accelerations(q, v)
    scale = np.abs(system.forces(q, v)).max()
    assert np.abs(system.residual(q, v, vd, lam)).max() < 10 * tolerance.round_off * scale
    given = rng.normal(size=system.n_v)
    expected = system.mass_matrix(q) @ given - system.forces(q, v)
    assert np.abs(system.residual(q, v, given) - expected).max() < 10 * tolerance.round_off * scale


@pytest.mark.parametrize("seed", SEEDS)
def test_recursion_solves_what_the_matrix_says(seed, tolerance):
    """cm M + cc C + ck K with T_exp of random increments: without a matrix, and with it."""
    system, q, v, rng = random_tree(seed)
    s, w = system.tables, system.work
    vd, no = rng.normal(size=system.n_v), np.zeros(0)
    t = w.eye + 0.1 * rng.normal(size=w.eye.shape)
    cm, cc, ck = 1.0, 0.3, 0.05
    system.residual(q, v, vd)
    full = np.zeros(system.n_v**2)
    plain_tangent(s, w, q, v, vd, no, t, cm, cc, ck, full)
    rest = rng.normal(size=system.n_v)
    expected = np.linalg.solve(full.reshape(system.n_v, -1), rest)
    system.residual(q, v, vd)
    tangent(s, w, q, v, vd, no, t, cm, cc, ck, w.matrix)
    factor(s, w, w.matrix, w.pivots, w.dinv)
    x = np.zeros_like(w.x)
    x[s.xv] = rest
    solve(s, w.matrix, w.pivots, w.dinv, x)
    assert np.abs(x[s.xv] - expected).max() < 100 * tolerance.round_off * np.abs(expected).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_that_of_the_bodies_through_the_jacobian(seed, tolerance):
    system, q, _, _ = random_tree(seed)
    twin, at, _ = on_lie_nodes(system, q, np.zeros(system.n_v))
    columns = np.array([body_state(twin, system, q, unit)[1] for unit in np.eye(system.n_v)]).T
    expected = columns.T @ (twin.mass_matrix(at) @ columns)
    assert np.abs(system.mass_matrix(q).toarray() - expected).max() < tolerance.round_off * np.abs(expected).max()


CHOICES = [
    {}, {"spherical": nodes.Quaternion()}, {"spherical": nodes.EulerAngles()}, {"absolute": "body 1"},
    {"cut": "joint 2"},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::mbd.RedundancyWarning")
@pytest.mark.parametrize("seed", range(10))
def test_random_mechanisms_move_as_in_absolute_coordinates(seed, tolerance):
    """Loops, redundant joints, free, pinned and massive bodies, points, generalized coordinates, springs."""
    rng = np.random.default_rng(100 + seed)
    model = random_mechanism(rng, 5)
    choice = CHOICES[seed % len(CHOICES)]
    if choice.get("cut", "body 1") not in model:
        choice = {"cut": model.joints[0]}
    for body in model.bodies:
        if isinstance(body, mbd.RigidBody):
            body.angular_velocity = rng.normal(size=3)
    system = System(model.with_coordinates("joint", **choice))
    assert system.tables.flags[FLAG_TREE] == BY_FRONTS
    start = mbd.consistent_start(system)
    check_redundancy(system, start.q, start.v)
    assert np.abs(system.constraints(start.q)).max(initial=0.0) < 100 * tolerance.round_off
    assert same_accelerations(system, start.q, start.v) < 1e3 * tolerance.round_off
    if seed < 4:
        check_system(system, rng, state=(start.q, start.v))


# --- sizes ------------------------------------------------------------------------------------------------------------


def chain(links, wide=False):
    """Hinges with alternating axes, one after the other or side by side."""
    model = mbd.Model("chain", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(links):
        x, y = (0.0, float(k)) if wide else (float(k), 0.0)
        body = model.add(mbd.RigidBody(f"{k}", 1.0, (0.01, 0.1, 0.1), nodes.RotationVector((x + 0.5, y, 0))))
        axis = (0, 1, 0) if k % 2 == 0 else (0, 0, 1)
        model.add(joints.Revolute(model.ground if wide else before, body, at=(x, y, 0), axis=axis))
        before = body
    return model


@pytest.mark.parametrize("wide", [False, True], ids=["chain", "comb"])
def test_a_thousand_bodies(wide, rng, tolerance):
    """What is stored grows with their number, and the equations hold as well as for one."""
    system = System(chain(1000, wide).with_coordinates("joint"))
    assert system.tables.flags[FLAG_TREE] == BY_RECURSION
    assert system.assembly.size_F < 200 * 1001 and system.assembly.layout.size_F < 10_000
    q, v = 0.1 * rng.normal(size=1000), 0.1 * rng.normal(size=1000)
    vd, _ = system.accelerations(q, v)
    terms = np.abs(system.residual(q, v, np.zeros(1000))).max()
    assert np.abs(system.residual(q, v, vd)).max() < 100 * tolerance.round_off * terms


def test_springs_between_neighbours_do_not_fill_memory():
    """They couple all joints below them, which is told once for all of them together."""
    counts = []
    for links in (20, 40):
        model = chain(links)
        for a, b in zip(model.bodies, model.bodies[1:], strict=False):
            model.add(forces.Spring(a, b, stiffness=3.0))
        counts.append(len(System(model.with_coordinates("joint")).tables.tree.places))
    assert counts[1] < 4.2 * counts[0]


def test_a_model_without_freedom(rng):
    """Bodies that are fixed to the ground: nothing moves, and the reactions are their weight."""
    model = mbd.Model("frame", gravity=(0, 0, -9.81))
    a, b = (new_body(model, rng, name) for name in "ab")
    model.add(joints.Fixed(model.ground, a, name="wall"))
    model.add(joints.Fixed(b, a))
    model = model.with_coordinates("joint")
    system = System(model)
    assert (system.n_q, system.n_v, system.n_l) == (0, 0, 0)
    check_system(system, rng)
    for method in (mbd.integrators.RK4(), mbd.integrators.DOPRI5(), mbd.integrators.GeneralizedAlpha()):
        solution = mbd.simulate(model, 0.1, 0.05, method)
        assert solution["b"].position[-1] == pytest.approx(b.position, abs=1e-14)
        assert solution["wall"].force[-1] == pytest.approx((0, 0, 9.81 * (a.mass + b.mass)), abs=1e-9)


@pytest.mark.parametrize("ratio", [1e-6, 1e6])
def test_masses_of_very_different_size(ratio, rng, tolerance):
    model = mbd.Model("ratio", gravity=(0, 0, -9.81))
    a, b, c = (new_body(model, rng, name) for name in "abc")
    b.mass, b.inertia = ratio * b.mass, ratio * b.inertia
    new_joint(model, rng, "Universal", model.ground, a, "first")
    new_joint(model, rng, "Revolute", b, a, "second")
    new_joint(model, rng, "Spherical", b, c, "third")
    system = System(model.with_coordinates("joint"))
    assert same_accelerations(system, *moving_state(system, rng)) < 1e5 * tolerance.round_off


# --- where there is no solution ---------------------------------------------------------------------------------------


def point_on_the_axis(model):
    body = model.add(mbd.RigidBody("a", 1.0, (0, 0, 0), nodes.RotationVector((0, 0, 0.3))))
    model.add(joints.Revolute(model.ground, body, at=(0, 0, 0.3), axis=(1, 2, 3), name="weak"))


def rod_about_itself(model):
    upper = model.add(mbd.RigidBody("upper", 1.0, (1, 1, 1), nodes.RotationVector((0, 0, 0.3))))
    model.add(joints.Revolute(model.ground, upper, at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    turned = mbd.rotation((0.3, 0.4, 0.5))
    rod = model.add(mbd.RigidBody("rod", 1.0, (0.1, 0.1, 0), nodes.RotationVector((1, 0, 0.3), turned)))
    model.add(joints.Revolute(upper, rod, point_b=(0, 0, 0), axis_b=(0, 0, 1), name="weak"))


def rod_with_a_spring(model):
    rod_about_itself(model)
    block = model.add(mbd.RigidBody("block", 1.0, (1, 1, 1), nodes.RotationVector((3, 0, 0.3))))
    model.add(joints.Prismatic(model.ground, block, axis=(1, 0, 0)))
    model.add(forces.Spring(block, model["rod"], stiffness=10.0))


def two_hinges_on_one_axis(model):
    link = model.add(mbd.RigidBody("link", 1.0, (0, 0, 0), nodes.RotationVector((0, 0, 0.3))))
    model.add(joints.Revolute(model.ground, link, at=(0, 0, 0.3), axis=(1, 2, 3), name="weak"))
    arm = model.add(mbd.RigidBody("arm", 1.0, (1, 1, 1), nodes.RotationVector((1, 0, 0.3))))
    model.add(joints.Revolute(link, arm, at=(0, 0, 0.3), axis=(1, 2, 3), name="other"))


def two_hinges_and_a_rod(model):
    two_hinges_on_one_axis(model)
    model.add(joints.Distance(model["arm"], model.ground, point_a=(0.1, 0.2, 0.3), point_b=(3, 3, 3)))


def point_on_a_ball(model):
    body = model.add(mbd.RigidBody("a", 1.0, (0, 0, 0), nodes.RotationVector((0, 0, 0.3))))
    model.add(joints.Spherical(model.ground, body, at=(0, 0, 0), name="weak"))


IMMOVABLE = [
    point_on_the_axis, rod_about_itself, rod_with_a_spring, two_hinges_on_one_axis, two_hinges_and_a_rod,
    point_on_a_ball,
]  # fmt: skip


@pytest.mark.parametrize("build", IMMOVABLE, ids=lambda build: build.__name__)
@pytest.mark.parametrize("ball", [nodes.Quaternion(lie=True), nodes.Quaternion()], ids=["lie", "conventional"])
def test_joints_that_move_no_inertia_are_refused_by_name(build, ball):
    model = mbd.Model("weak", gravity=(0, 0, -9.81))
    build(model)
    system = System(model.with_coordinates("joint", spherical=ball))
    start = mbd.consistent_start(system)
    with pytest.raises(AssemblyError, match="joint '(weak|other)' moves no inertia: what it carries has no mass"):
        check_redundancy(system, start.q, start.v)


def test_links_that_others_hold_are_not_refused():
    """No inertia about the hinge of its own, but an arm on another axis: the product of both is regular."""
    model = mbd.Model("held", gravity=(0, 0, -9.81))
    link = model.add(mbd.RigidBody("link", 1.0, (0, 0, 0), nodes.RotationVector((0, 0, 0.3))))
    model.add(joints.Revolute(model.ground, link, at=(0, 0, 0.3), axis=(1, 0, 0)))
    arm = model.add(mbd.RigidBody("arm", 1.0, (1, 1, 1), nodes.RotationVector((1, 0, 0.3))))
    model.add(joints.Revolute(link, arm, at=(0, 0, 0.3), axis=(0, 1, 0)))
    system = System(model.with_coordinates("joint"))
    assert not check_redundancy(system, mbd.consistent_start(system).q)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_rate_of_a_jacobian(seed, coordinates, tolerance):
    """Against differences of fourth order along the motion, on nodes and joints of all kinds."""
    rng = np.random.default_rng(seed)
    system = System(random_mechanism(rng, 5, loops=True).with_coordinates(coordinates))
    q, v = moving_state(system, rng)
    point, h = rng.normal(size=3), 1e-3
    for body in system.model.bodies[:5]:
        rate = system.jacobian_rate(body, point, q, v)
        parts = [system.jacobian(body, point, system.update(q, c * h * v)) for c in (-2.0, -1.0, 1.0, 2.0)]
        expected = (parts[0] - 8.0 * parts[1] + 8.0 * parts[2] - parts[3]) / (12.0 * h)
        assert np.abs(rate - expected).max() < tolerance.difference * (1.0 + np.abs(expected).max())
    assert np.abs(system.jacobian_rate(body, point, q, 0.0 * v)).max() == 0.0
