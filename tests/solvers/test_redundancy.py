"""Redundant constraints: found cheaply, explained when somebody reads it, and told as often as the filters say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd.joints import Cylindrical, PointOnLine, Prismatic, Revolute, Spherical
from mbd.linalg.solver import BlockSolver
from mbd.rotation import from_rotation_vector
from mbd.solvers import diagnosis
from mbd.solvers.redundancy import _goes_on
from mbd.system.defect import matrix_at_rest
from tests.counting import calls

KINDS = [
    mbd.nodes.RotationVector,
    mbd.nodes.Quaternion,
    mbd.nodes.Directors,
    mbd.nodes.EulerAngles,
    "joint",
]
AFFORDABLE = 4200  # calls: 1.1 ms of CPU time, beside the 1.6 ms of a run of the regular model
Z = (0.0, 0.0, 1.0)


def in_kind(model: mbd.Model, kind) -> mbd.Model:
    return model.with_coordinates(kind) if isinstance(kind, str) else model.with_nodes(kind)


def slider_crank(redundant: bool, kind=mbd.nodes.RotationVector, name="crank", angle=0.4) -> mbd.Model:
    """A loop of two hinges, a slider, and a spherical joint or one that leaves the third translation free."""
    crank, rod = 0.1, 0.3
    x, y = crank * np.cos(angle), crank * np.sin(angle)
    end = x + np.sqrt(rod**2 - y**2)
    model = mbd.Model(name, gravity=(0, -9.81, 0))
    places = ((x / 2, y / 2, 0), ((x + end) / 2, y / 2, 0), (end, 0, 0))
    a, b, c = (
        model.add(mbd.RigidBody(f"body {k}", 1.0, (0.01, 0.02, 0.03), mbd.nodes.RotationVector(position=place)))
        for k, place in enumerate(places)
    )
    model.add(Revolute(model.ground, a, at=(0, 0, 0), axis=Z))
    model.add(Spherical(a, b, at=(x, y, 0)) if redundant else PointOnLine(a, b, at=(x, y, 0), axis=Z))
    model.add(Revolute(b, c, at=(end, 0, 0), axis=Z))
    model.add(Prismatic(model.ground, c, at=(end, 0, 0), axis=(1, 0, 0)))
    return in_kind(model, kind)


def bent_loop(across: type, directions: np.ndarray) -> mbd.Model:
    """A boom, held up by a cylinder with its rod; axes of the plane, and across it, are the rows of ``directions``."""

    def at(x: float, z: float) -> np.ndarray:
        return directions.T @ (x, 0.0, z)

    model = mbd.Model("boom", gravity=at(0, -9.81))
    places = {"boom": (1.0, 1.0), "cylinder": (0.8, 0.2), "rod": (1.3, 0.5)}
    boom, cylinder, rod = (
        model.add(mbd.RigidBody(name, 2.0, (0.3, 0.3, 0.3), mbd.nodes.RotationVector(position=at(*place))))
        for name, place in places.items()
    )
    y = directions[1]
    model.add(Revolute(model.ground, boom, at=at(0.5, 1.0), axis=y))
    model.add(Revolute(model.ground, cylinder, at=at(0.6, 0.1), axis=y))
    model.add(Cylindrical(cylinder, rod, at=at(1.0, 0.5), axis=at(0.9, 0.9)))
    model.add(across(boom, rod, at=at(1.5, 1.0), **({"axis": y} if across is PointOnLine else {})))
    return model.with_coordinates("joint")


@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()], ids=lambda x: x.name)
@pytest.mark.parametrize("turned", [0.0, 0.7], ids=["straight", "turned"])
def test_what_no_joint_of_a_loop_admits_is_redundant_in_joint_coordinates_too(turned, method):
    directions = from_rotation_vector(turned * np.array((0.3, 1.0, -1.0)))
    with pytest.warns(mbd.RedundancyWarning, match="1 of 17 constraint equations is redundant"):
        redundant = mbd.simulate(bent_loop(Spherical, directions), 0.1, 1e-3, method)
    regular = mbd.simulate(bent_loop(PointOnLine, directions), 0.1, 1e-3, method)
    np.testing.assert_allclose(redundant["rod"].position, regular["rod"].position, atol=1e-9)
    across = redundant["rod"].position @ directions[1]
    np.testing.assert_allclose(across, 0.0, atol=1e-12)


def run(model: mbd.Model) -> mbd.Solution:
    return mbd.simulate(model, 0.01, 1e-3, progress=False)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: getattr(kind, "__name__", kind))
def test_a_redundant_model_costs_little_more_than_a_regular_one(kind):
    work = {}
    for redundant in (False, True):
        model = slider_crank(redundant, kind)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(model)
            work[redundant] = calls(lambda model=model: run(model))
    assert work[True] - work[False] < AFFORDABLE


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: getattr(kind, "__name__", kind))
def test_the_motion_is_that_of_the_regular_model(kind):
    with pytest.warns(mbd.RedundancyWarning, match="1 of .* is redundant: around the loop .* translation along z"):
        redundant = run(slider_crank(True, kind))
    regular = run(slider_crank(False, kind))
    np.testing.assert_allclose(redundant["body 2"].position, regular["body 2"].position, atol=1e-9)


def found_under(*filters, runs=1, name="crank") -> tuple[list[str], int]:
    """Warnings of several runs under some filters, and how often they were explained."""
    count, explained = 0, diagnosis.explain_redundancy

    def counted(*arguments):
        nonlocal count
        count += 1
        return explained(*arguments)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        patch.setattr(diagnosis, "explain_redundancy", counted)
        warnings.resetwarnings()
        for each in filters:
            each()
        for k in range(runs):
            run(slider_crank(True, name=name, angle=0.4 + 0.1 * k))
    assert all(w.filename == __file__ for w in caught)  # the line of the user
    return [str(w.message) for w in caught if w.category is mbd.RedundancyWarning], count


def test_the_text_is_written_when_it_is_shown():
    assert found_under(lambda: warnings.simplefilter("ignore"), runs=3) == ([], 0)
    texts, count = found_under(lambda: warnings.simplefilter("default"), runs=3)
    assert (len(texts), count) == (1, 1)  # one structure
    texts, count = found_under(lambda: warnings.simplefilter("always"), runs=3)
    assert (len(texts), count) == (3, 3) and len(set(texts)) == 3  # places differ
    assert found_under(lambda: warnings.simplefilter("default"), runs=2)[1] == 1  # others have looked since


def test_filters_by_text_decide_by_the_text():
    for text, shown in ((".*fixed once too often", 0), ("the matrix subclass", 1)):
        filters = [
            lambda: warnings.simplefilter("default"),
            lambda text=text: warnings.filterwarnings("ignore", text, mbd.RedundancyWarning),
        ]
        assert len(found_under(*filters)[0]) == shown
    elsewhere = [lambda: warnings.simplefilter("ignore"), lambda: warnings.filterwarnings("default", "numpy.ndarray")]
    assert found_under(*elsewhere) == ([], 0)
    ours = [lambda: warnings.simplefilter("ignore"), lambda: warnings.filterwarnings("default", ".* of 18 constraint")]
    assert found_under(*ours)[1] == 1


def test_as_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(mbd.RedundancyWarning, match="fixed once too often"):
                run(slider_crank(True))


def test_structures_and_mechanisms_are_told_apart_without_the_text(monkeypatch):
    """A flat frame of rods that nothing but its second-order stiffness holds is refused; a mechanism is not."""
    flat = mbd.Model("flat", gravity=(0, 0, -9.81))
    knot = flat.add(mbd.PointMass("knot", 1.0))
    for point in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        flat.add(mbd.joints.Distance(flat.ground, knot, point_a=point))
    with pytest.raises(mbd.AssemblyError, match="shaky"):
        run(flat)
    monkeypatch.setattr(diagnosis, "explain_redundancy", None)  # not needed for the other one
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(slider_crank(True))


@pytest.mark.parametrize(("mass", "inertia"), [(0.0, 0.0), (1.0, 0.0)])
@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()], ids=lambda x: x.name)
def test_a_hinge_that_moves_no_inertia_is_no_redundancy(mass, inertia, method):
    model = mbd.Model("tip", gravity=(0, 0, -9.81))
    tip = model.add(mbd.RigidBody("tip", mass, inertia * np.eye(3), mbd.nodes.RotationVector((1, 0, 0))))
    model.add(Revolute(model.ground, tip, at=(1, 0, 0), axis=(0, 1, 0)))
    with pytest.raises(
        mbd.AssemblyError, match="body 'tip' has a direction without inertia that its joints leave free"
    ):
        mbd.simulate(model, 0.01, 1e-3, method)


def test_what_turns_on_three_balls_goes_on_beyond_the_first_instant():
    """They lie on a line, about which the body turns; two of them would be enough."""
    model = mbd.Model()
    body = model.add(mbd.RigidBody("body", 2.0, (0.3, 0.4, 0.5), mbd.nodes.RotationVector((0.5, 0.2, 0.1))))
    for place in (0.0, 1.0, 2.0):
        model.add(Spherical(model.ground, body, at=(place, 0.0, 0.0)))
    system = mbd.assemble(model)
    q, zero = system.initial_state()
    matrix_at_rest(system.tables, system.work, 0.0, q, zero, np.zeros(system.n_l))
    blocks = BlockSolver(system.assembly.layout)
    blocks.F[:] = system.work.matrix
    assert blocks.factor().redundant == 4
    assert _goes_on(system, blocks, q, 0.0)


def four_bar_of_millimetres(last: type, directions: np.ndarray) -> mbd.Model:
    """Three links in a plane with the axes given by rows (along, across, up), in SI units; the last joint closes it."""

    def at(point) -> np.ndarray:
        return directions.T @ (1e-3 * point[0], 0.0, 1e-3 * point[1])

    model = mbd.Model("four-bar", gravity=directions.T @ (0.0, 0.0, -9.81e-3))
    points = np.array([(0.0, 0.0), (0.1, 1.0), (2.0, 1.2), (2.2, 0.0)])
    before: mbd.bodies.Body = model.ground
    for k in range(3):
        node = mbd.nodes.RotationVector(position=at(0.5 * (points[k] + points[k + 1])))
        link = model.add(mbd.RigidBody(f"link {k}", 1.0, 1e-7 * np.eye(3), node))
        model.add(Revolute(before, link, at=at(points[k]), axis=directions[1]))
        before = link
    along = {} if last is Spherical else {"axis": directions[1]}
    model.add(last(before, model.ground, at=at(points[3]), name="last", **along))
    return model


@pytest.mark.parametrize("seed", [0, 1, 16, 29])  # of which round-off leaves pivots of 1 to 2 parts in 1e11
def test_round_off_of_small_mechanisms_is_no_independent_equation(seed):
    """Reactions of a linkage of millimetres were a thousand times too large, without a word."""
    directions = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    directions[:, 0] *= np.sign(np.linalg.det(directions))
    free = run(four_bar_of_millimetres(PointOnLine, directions.T))
    with pytest.warns(mbd.RedundancyWarning, match="1 of 18 constraint equations is redundant"):
        held = run(four_bar_of_millimetres(Spherical, directions.T))
    np.testing.assert_allclose(held["last"].force, free["last"].force, atol=1e-6 * np.abs(free["last"].force).max())
