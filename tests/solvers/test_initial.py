"""The consistent start: convergence, minimal mass norm, fixed quantities, failures, all nodes, work, texts."""

from __future__ import annotations

import numpy as np
import pytest

from mbd.bodies import Generalized, PointMass, RigidBody
from mbd.errors import AssemblyError, ModelError
from mbd.joints import Distance, Fixed, Revolute, Spherical
from mbd.linalg.solver import BlockSolver
from mbd.model import Model
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector
from mbd.rotation import rotation
from mbd.solvers import initial
from mbd.solvers.initial import consistent_start
from mbd.system.system import System

CORNERS = ((0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2.5, 0, 0))
NAMES = ("crank", "rod", "rocker")
NODES = [
    Quaternion(), Quaternion(lie=True), Directors(), Directors(lie=True), RotationVector(), RotationVector(lie=False),
    EulerAngles(sequence="xyz"), EulerAngles(sequence="xyz", lie=True),
]  # fmt: skip


def bar(name, start, end, mass=1.0, **node):
    """A slender bar whose x-axis points from start to end."""
    start, end = np.array(start, float), np.array(end, float)
    length = float(np.linalg.norm(end - start))
    turn = rotation((0, 0, np.arctan2(*(end - start)[1::-1])))
    inertia = mass * length**2 / 12 * np.array((0.2, 1, 1))
    return RigidBody(name, mass, inertia, RotationVector(position=(start + end) / 2, rotation=turn, **node))


def four_bar(gap=None, masses=(1.0, 1.0, 1.0)) -> Model:
    """Three bars and four hinges in space, 20 equations of rank 17; with a gap the ground hinges are too far apart."""
    model = Model("four bar")
    bars = [model.add(bar(NAMES[k], CORNERS[k], CORNERS[k + 1], masses[k])) for k in range(3)]
    for k in range(3):
        a = bars[k - 1] if k else model.ground
        model.add(Revolute(a, bars[k], at=CORNERS[k], axis=(0, 0, 1), name=f"hinge {k + 1}"))
    if gap is None:
        model.add(Revolute(bars[2], model.ground, at=CORNERS[3], axis=(0, 0, 1), name="hinge 4"))
    else:
        lengths = [float(np.linalg.norm(np.subtract(CORNERS[k + 1], CORNERS[k]))) for k in range(3)]
        far = (sum(lengths) + gap, 0, 0)
        z = (0, 0, 1)
        end = (lengths[2] / 2, 0, 0)
        model.add(Revolute(bars[2], model.ground, point_a=end, point_b=far, axis_a=z, axis_b=z, name="hinge 4"))
    return model


def chain(n) -> Model:
    """Pendulum chain of n bars with ball joints."""
    model = Model("chain")
    last = model.ground
    for k in range(n):
        node = RotationVector(position=(k + 0.5, 0, 0))
        body = model.add(RigidBody(f"bar {k}", 1.0, (0.01, 0.1, 0.1), node))
        model.add(Spherical(last, body, at=(k, 0, 0)))
        last = body
    return model


def noisy(system, size, seed=0):
    random = np.random.default_rng(seed)
    q, v = system.initial_state()
    return system.update(q, size * random.uniform(-1, 1, system.n_v)), v + random.normal(size=system.n_v)


def assert_consistent(system, start, bound=1e-13):
    assert np.abs(system.constraints(start.q)).max() < bound * max(1.0, system.length)
    assert np.abs(system.constraint_velocity(start.q, start.v)).max() < 10 * bound * max(1.0, np.abs(start.v).max())


def projected(system, q, v):
    """The formula on paper: v - M^-1/2 pinv(B M^-1/2) B v."""
    m, b = system.mass_matrix(q).toarray(), system.constraint_jacobian(q).toarray()
    values, vectors = np.linalg.eigh(m)
    root = vectors / np.sqrt(values) @ vectors.T
    return v - root @ np.linalg.pinv(b @ root, rcond=1e-8) @ (b @ v)


# --- positions


def test_consistent_input_is_returned_bit_for_bit():
    system = System(four_bar())
    q, v = system.initial_state()
    start = consistent_start(system)
    assert np.array_equal(start.q, q)
    assert np.array_equal(start.v, v)
    assert not start.report.changed
    assert str(start.report) == ""
    assert start.report.iterations == 0
    again = consistent_start(system, *noisy(system, 0.1))
    third = consistent_start(system, again.q, again.v)
    assert np.array_equal(third.q, again.q)
    assert np.array_equal(third.v, again.v)


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("name", ["q", "v"])
def test_states_that_are_no_numbers_are_refused(name, coordinates):
    """Comparisons with them are false, so that they would pass for consistent."""
    for model in (four_bar(), Model("free")):
        if not model.bodies:
            model.add(RigidBody("body", 1.0, (1, 1, 1)))
        system = System(model.with_coordinates(coordinates))
        for value in (np.nan, np.inf):
            state = dict(zip("qv", (x.copy() for x in system.initial_state()), strict=True))
            state[name][1] = value
            with pytest.raises(ModelError, match=rf"{name}\[1\] is not finite"):
                consistent_start(system, **state)


def test_four_bar_converges_from_noisy_starts():
    system = System(four_bar())
    assert (system.n_v, system.n_l) == (18, 20)
    for seed in range(20):
        start = consistent_start(system, *noisy(system, 0.2, seed))
        assert_consistent(system, start)
        assert start.report.iterations <= 8
        b = system.constraint_jacobian(start.q).toarray()
        assert np.linalg.matrix_rank(b, tol=1e-8) == 17


def test_large_models_take_the_sparse_path_to_the_same_state(monkeypatch):
    system = System(four_bar())
    q, v = noisy(system, 1e-4)
    q[3:5] = v[3:5] = 0.0  # the crank, the first body, stays in its plane
    for fixed in (None, {"crank": {"rotation", "angular_velocity"}}):
        dense = consistent_start(system, q, v, fixed=fixed)
        with monkeypatch.context() as patch:
            patch.setattr(initial, "DENSE_LIMIT", 0)
            sparse = consistent_start(system, q, v, fixed=fixed)
        assert_consistent(system, sparse, 1e-12)
        np.testing.assert_allclose(sparse.q, dense.q, atol=1e-6)
        np.testing.assert_allclose(sparse.v, dense.v, atol=1e-5)


def test_heavy_bodies_move_less():
    """Two free points that should be a distance apart: both move along their line, inversely to their masses."""
    model = Model()
    light = model.add(PointMass("light", 1.0, (0, 0, 0)))
    heavy = model.add(PointMass("heavy", 9.0, (1, 0, 0)))
    model.add(Distance(light, heavy, length=2.0))
    start = consistent_start(System(model))
    np.testing.assert_allclose(start.q, (-0.9, 0, 0, 1.1, 0, 0), atol=1e-13)
    assert start.report.moved["light"] == pytest.approx(9 * start.report.moved["heavy"])


def test_small_corrections_are_those_of_minimal_mass_norm():
    system = System(four_bar(masses=(1.0, 20.0, 3.0)))
    q0 = consistent_start(system, *noisy(system, 0.1)).q
    d = 1e-6 * np.random.default_rng(1).normal(size=system.n_v)
    start = consistent_start(system, system.update(q0, d), np.zeros(system.n_v))
    np.testing.assert_allclose(start.q, system.update(q0, projected(system, q0, d)), atol=2e-10)


def test_regular_and_truncated_solutions_agree(monkeypatch):
    system = System(chain(5))
    q, v = noisy(system, 1e-4)
    block = consistent_start(system, q, v)
    monkeypatch.setattr(initial, "REGULAR", 10.0)
    dense = consistent_start(system, q, v)
    np.testing.assert_allclose(block.q, dense.q, atol=1e-8)
    np.testing.assert_allclose(block.v, dense.v, atol=1e-7)


def test_a_perpendicular_axis_finds_its_way():
    """At exactly 90 degrees the equations of the hinge do not say which way to turn."""
    model = Model()
    body = model.add(RigidBody("door", 1.0, (1, 1, 1)))
    model.add(Revolute(model.ground, body, at=(0, 0, 0), axis_a=(0, 0, 1), axis_b=(1, 0, 0)))
    system = System(model)
    start = consistent_start(system)
    assert_consistent(system, start)
    assert start.report.turned["door"] == pytest.approx(np.pi / 2, abs=0.5)


# --- what is fixed


@pytest.mark.parametrize("node", [RotationVector, Quaternion, Directors])
def test_fixed_crank_stays_bit_identical(node):
    model = four_bar()
    crank = model["crank"]
    crank.node = crank.node.with_parametrisation(node)
    system = System(model)
    nq, nv = system.body_slices("crank")
    q, v = noisy(system, 0.1)
    q[nq], v[nv] = system.initial_state()[0][nq], system.initial_state()[1][nv]
    v[nv][-3:] = 0.0
    free = consistent_start(system, q, v)
    assert not np.array_equal(free.q[nq], q[nq])
    start = consistent_start(system, q, v, fixed=["crank"])
    assert_consistent(system, start)
    assert np.array_equal(start.q[nq], q[nq])
    assert np.array_equal(start.v[nv], v[nv])
    start = consistent_start(system, q, v, fixed={"crank": {"rotation"}})
    assert_consistent(system, start)
    assert np.array_equal(start.q[nq][3:], q[nq][3:])
    assert not np.array_equal(start.v[nv], v[nv])
    start = consistent_start(system, q, v, fixed={model["crank"]: ("position", "velocity")})
    assert np.array_equal(start.q[nq][:3], q[nq][:3])
    assert np.array_equal(start.v[nv][:3], v[nv][:3])


def test_a_driven_crank_moves_the_rest():
    """The crank's angular velocity is given and held; the others follow by kinematics."""
    model = four_bar()
    model["crank"].node.angular_velocity = np.array((0, 0, 2.0))
    system = System(model)
    start = consistent_start(system, fixed={"crank": "angular_velocity"})
    nv = system.body_slices("crank")[1]
    assert start.v[nv][3:].tolist() == [0, 0, 2.0]
    np.testing.assert_allclose(start.v[nv][:3], (-1.0, 0, 0), atol=1e-13)
    # velocities of the rod's ends: (-2, 0) at (0, 1), and perpendicular to the rocker at (2, 1.5)
    w = np.linalg.solve([[-0.5, 1.5], [2.0, 0.5]], [2.0, 0.0])
    assert start.v[system.body_slices("rod")[1]][5] == pytest.approx(w[0])
    assert start.v[system.body_slices("rocker")[1]][5] == pytest.approx(w[1])


def test_unknown_fixed_quantities_are_refused():
    model = four_bar()
    model.add(PointMass("ball", 1.0))
    system = System(model)
    with pytest.raises(ModelError, match="'crnk'.*did you mean 'crank'"):
        consistent_start(system, fixed={"crnk": True})
    with pytest.raises(ModelError, match="body 'crank'.*unknown quantity 'angle'.*'position', 'rotation'"):
        consistent_start(system, fixed={"crank": {"angle"}})
    with pytest.raises(ModelError, match=r"'ball'.*unknown quantity 'rotation'.*\['position', 'velocity'\]"):
        consistent_start(system, fixed={"ball": {"rotation"}})
    with pytest.raises(ModelError, match="hinge 1.* is no body"):
        consistent_start(system, fixed=["hinge 1"])
    with pytest.raises(ModelError, match="q has shape"):
        consistent_start(system, q=np.zeros(3))
    consistent_start(system, fixed={"ball": True, "ground": True})


# --- failures


def test_an_impossible_loop_names_the_joints_and_the_nearest_miss():
    """Least squares over four hinges: each misses a quarter of the gap."""
    system = System(four_bar(gap=1.5))
    with pytest.raises(AssemblyError, match=r"no consistent start: joint 'hinge \d' misses by 0\.37\d* m") as caught:
        consistent_start(system)
    text, misses = str(caught.value), caught.value.misses
    assert all(f"joint 'hinge {k}'" in text for k in range(1, 5))
    assert "nearest configuration found" in text
    total = np.sqrt(sum(miss.length**2 for miss in misses.values()))
    assert 0.75 <= total < 0.7505
    with pytest.raises(AssemblyError, match="hold less with fixed="):
        consistent_start(system, fixed=["rod"])


def test_nothing_left_to_move():
    system = System(four_bar())
    q, v = noisy(system, 0.1)
    with pytest.raises(AssemblyError, match="misses by"):
        consistent_start(system, q, v, fixed=NAMES)


def test_directions_are_missed_in_degrees():
    model = Model()
    body = model.add(RigidBody("plate", 1.0, (1, 1, 1)))
    z = (0, 0, 1)
    model.add(Revolute(model.ground, body, at=(0, 0, 0), axis=z, name="upright"))
    tilted = (np.sin(0.2), 0, np.cos(0.2))
    model.add(Revolute(model.ground, body, point_a=z, point_b=z, axis_a=tilted, axis_b=z, name="tilted"))
    with pytest.raises(AssemblyError, match=r"joint 'tilted' [0-9.]+ m and [0-9.]+ degrees|by [0-9.]+ m and .*degrees"):
        consistent_start(System(model))


def test_the_wrong_branch_is_named():
    model = Model()
    body = model.add(RigidBody("door", 1.0, (1, 1, 1)))
    model.add(Revolute(model.ground, body, at=(0, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 0, -1), name="hinge"))
    with pytest.raises(
        AssemblyError, match="wrong branch: joint 'hinge'.*180 degrees.*initial rotation of body 'door'"
    ):
        consistent_start(System(model))
    system = System(model)
    q = system.update(system.initial_state()[0], np.array((0.1, 0, 0, 0.2, 0.1, 0)))
    with pytest.raises(AssemblyError, match="wrong branch"):
        consistent_start(system, q)


# --- velocities


def test_velocities_are_the_closest_ones_in_the_mass_metric():
    for model in (four_bar(masses=(1.0, 20.0, 3.0)), chain(4)):
        system = System(model)
        q0, v = noisy(system, 0.1)
        start = consistent_start(system, q0, v)
        expected = projected(system, start.q, v)
        np.testing.assert_allclose(start.v, expected, atol=1e-10)
        again = consistent_start(system, start.q, expected)
        assert np.array_equal(again.q, start.q)
        assert np.array_equal(again.v, expected)
        assert not again.report.changed


def test_contradicting_velocities_are_named():
    system = System(four_bar())
    q, v = system.initial_state()
    v[system.body_slices("crank")[1]] = (-1.0, 0, 0, 0, 0, 2.0)
    match = r"no consistent velocities: joint 'hinge \d' misses by [0-9.]+ m/s.*contradict.*fixed="
    with pytest.raises(AssemblyError, match=match):
        consistent_start(system, q, v, fixed={"crank": {"angular_velocity"}, "rocker": {"angular_velocity"}})


# --- nodes


@pytest.mark.parametrize("node", NODES, ids=lambda n: f"{type(n).__name__}{'-lie' * n.lie}")
def test_all_nodes_give_the_same_motion(node):
    """Frames agree to second order of the correction, velocities at the same frames exactly."""
    lie = System(four_bar())
    q, v = noisy(lie, 2e-4)
    model = four_bar()
    for body in model.bodies:
        z, (nq, nv) = lie.frames(q)[lie.node_index(body.name)], lie.body_slices(body.name)
        body.node = RotationVector(z[:3], rotation(q[nq][3:]), v[nv][:3], v[nv][3:]).with_parametrisation(node)
    expected = consistent_start(lie, q, v)
    system = System(model)
    start = consistent_start(system)
    assert_consistent(system, start)
    np.testing.assert_allclose(system.frames(start.q), lie.frames(expected.q), atol=2e-7)
    zd = system.frame_velocities(start.q, start.v)
    np.testing.assert_allclose(zd, lie.frame_velocities(expected.q, expected.v), atol=1e-5)


@pytest.mark.parametrize("node", NODES, ids=lambda n: f"{type(n).__name__}{'-lie' * n.lie}")
def test_pinned_and_flat_bodies(node):
    """A thin rod without inertia about its axis, held by a pinned node and a massless strut."""
    model = Model()
    pinned = RotationVector(pinned=True).with_parametrisation(node)
    rod = model.add(RigidBody("rod", 1.0, (0, 0.3, 0.3), pinned))
    ball = model.add(PointMass("ball", 2.0, (1, 0.2, 0)))
    model.add(Spherical(rod, ball, point_a=(1.1, 0, 0)))
    model.add(Distance(model.ground, ball, point_a=(1, 3, 0), length=2.9))
    system = System(model)
    start = consistent_start(system, v=0.1 * np.arange(system.n_v))
    assert_consistent(system, start)
    assert np.linalg.norm(system.frames(start.q)[2, :3]) == pytest.approx(1.1)


def test_generalized_coordinates_with_constraints():
    model = Model()
    model.add(Generalized("bead", (1.2, 0.1), (1.0, 1.0), constraints=lambda q: np.array([q[0] ** 2 + q[1] ** 2 - 1])))
    system = System(model)
    start = consistent_start(system)
    assert_consistent(system, start)
    assert start.report.moved["bead"] == pytest.approx(np.hypot(1.2, 0.1) - 1, abs=1e-6)
    assert "body 'bead' moved by 0.204" in str(start.report)
    fixed = consistent_start(system, start.q, start.v, fixed={"bead": True})
    assert np.array_equal(fixed.q, start.q)


def test_quaternions_that_are_not_normalised():
    model = Model()
    body = model.add(RigidBody("body", 1.0, (1, 2, 2), Quaternion()))
    model.add(Fixed(model.ground, body))
    system = System(model)
    start = consistent_start(system, q=np.array((0, 0, 0.1, 1.1, 0.1, 0, 0.05)))
    assert_consistent(system, start)
    np.testing.assert_allclose(start.q, (0, 0, 0, 1, 0, 0, 0), atol=1e-12)


# --- work and words


def test_long_chains_take_a_few_factorisations_along_the_chain(monkeypatch):
    system = System(chain(2000))
    factor, counts = BlockSolver.factor, []

    def counted(solver):
        counts.append(solver.layout.size_F)
        return factor(solver)

    monkeypatch.setattr(BlockSolver, "factor", counted)
    monkeypatch.setattr(initial, "_Truncated", lambda *_: pytest.fail("the way of redundant constraints"))
    start = consistent_start(system)
    assert not start.report.changed and not counts
    q, v = noisy(system, 1e-3)
    start = consistent_start(system, q, v)
    assert len(counts) <= 6 and max(counts) < 500 * 2000  # numbers in the matrix of a bar
    assert np.abs(system.constraints(start.q)).max() < 1e-12 * system.length
    assert len(start.report.moved) == 2000
    assert "and 1997 more bodies" in str(start.report)


def test_long_chains_with_fixed_bodies_are_sparse():
    system = System(chain(300))
    q, v = noisy(system, 1e-2)
    start = consistent_start(system, q, v, fixed={"bar 150": {"rotation", "angular_velocity"}})
    assert np.abs(system.constraints(start.q)).max() < 1e-12 * system.length
    nq, nv = system.body_slices("bar 150")
    assert np.array_equal(start.q[nq][3:], q[nq][3:])
    assert np.array_equal(start.v[nv][3:], v[nv][3:])
    assert not np.array_equal(start.v[nv], v[nv])


def test_the_report_says_what_changed():
    model = Model()
    body = model.add(RigidBody("rod", 1.0, (1, 1, 1), RotationVector((0.1, 0, 0), velocity=(0, 0.3, 0))))
    model.add(Spherical(model.ground, body, point_a=(0, 0, 0), point_b=(0, 0, 0), name="ball"))
    report = consistent_start(System(model)).report
    assert (
        str(report)
        == "initial positions corrected: body 'rod' moved by 0.1 m; velocities corrected: body 'rod' by 0.3 m/s"
    )
    assert report.changed
    assert report.moved == {"rod": pytest.approx(0.1)}
    assert report.turned == {}
    assert report.before["ball"].length == pytest.approx(0.1)
    assert report.after["ball"].length < 1e-14
    assert report.before_velocity["ball"].length == pytest.approx(0.3)
    model["rod"].node.position = np.zeros(3)
    text = str(consistent_start(System(model)).report)
    assert text == "initial velocities corrected: body 'rod' by 0.3 m/s"
