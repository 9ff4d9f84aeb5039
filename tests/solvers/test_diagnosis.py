"""The diagnosis: every message on a wrong model, ranks, loops; redundancy and contradictions in simulations."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.solvers.dependence import loops_of
from tests.solvers.wrong_models import (
    WRONG,
    Z,
    bar,
    box,
    linkage,
    loop_that_cannot_close,
    planar_four_bar,
    two_drivers_of_place,
)

NODES = [mbd.nodes.Quaternion, mbd.nodes.Directors, mbd.nodes.EulerAngles(sequence="xyz")]


@pytest.mark.parametrize("build", WRONG, ids=lambda build: build.__name__)
def test_every_message(build):
    model, expected = build()
    page = str(mbd.diagnose(model))
    text = " ".join(page.split())
    for sentence in expected:
        assert sentence in text
    assert all(len(line) <= 120 for line in page.splitlines())


def test_there_are_many_wrong_models():
    assert len(WRONG) >= 20 and all(build()[1] for build in WRONG)


@pytest.mark.parametrize("node", NODES, ids=str)
def test_diagnosis_does_not_depend_on_the_coordinates(node):
    model = planar_four_bar()[0]
    assert str(mbd.diagnose(model.with_nodes(node))) == str(mbd.diagnose(model))


def test_diagnosis_changes_nothing():
    model = planar_four_bar()[0]
    before = [body.node.coordinates() for body in model.bodies]
    mbd.diagnose(model)
    for body, q in zip(model.bodies, before, strict=True):
        assert np.array_equal(body.node.coordinates(), q)


def test_attributes():
    found = mbd.diagnose(planar_four_bar()[0])
    assert found.ok and (found.dof, found.counted_dof, found.redundant, found.momentary) == (1, -2, 3, 0)
    assert found.loops == [["hinge 1", "hinge 2", "hinge 3", "end"]]
    assert found.dependent[0].directions == ["translation along z", "rotation about x", "rotation about y"]
    assert found.motions[0].others == ["rod", "rocker"]
    broken = mbd.diagnose(loop_that_cannot_close()[0])
    assert not broken.ok and broken.dof is None
    assert broken.misses["end"].length == pytest.approx(0.25, rel=1e-3)


def test_loops_are_short():
    model = mbd.Model("ladder")
    posts = [model.add(bar(f"post {i}", (i, 0, 0), (i, 1, 0))) for i in range(6)]
    for i, post in enumerate(posts):
        model.add(mbd.joints.Revolute(model.ground, post, at=(i, 0, 0), axis=Z))
    for i in range(5):
        beam = model.add(bar(f"beam {i}", (i, 1, 0), (i + 1, 1, 0)))
        model.add(mbd.joints.Revolute(posts[i], beam, at=(i, 1, 0), axis=Z))
        model.add(mbd.joints.Revolute(posts[i + 1], beam, at=(i + 1, 1, 0), axis=Z))
    loops = loops_of(model)
    assert len(loops) == model.loops == 5
    assert all(len(loop) == 4 for loop in loops)
    found = mbd.diagnose(model)
    assert found.redundant == 15 and found.dof == 1
    assert [d.count for d in found.dependent] == [3] * 5


def test_simulate_names_redundant_joints_and_reports_minimum_norm_reactions():
    model = mbd.Model("door", gravity=(0, 0, -9.81))
    door = box(model, "door", mass=2.0)
    hinges = [
        model.add(mbd.joints.Revolute(model.ground, door, at=(0, 0, height), axis=Z, name=name))
        for name, height in (("upper", 0.5), ("lower", -0.5))
    ]
    with pytest.warns(mbd.RedundancyWarning, match="5 of 10 constraint equations are redundant") as caught:
        solution = mbd.simulate(model, t_end=0.02, step=1e-3)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert "joints 'upper' and 'lower' both fix translation along x" in text and "minimum norm" in text
    for hinge in hinges:  # half of the weight each
        assert solution[hinge].force[-1] == pytest.approx((0, 0, 9.81), abs=1e-5)


def test_simulate_warns_of_a_singular_start():
    model = linkage([(0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)])
    with pytest.warns(mbd.RedundancyWarning, match="The start is also a singular configuration"):
        mbd.simulate(model, t_end=0.01, step=1e-3)


def test_contradicting_constraints_are_an_error():
    model = two_drivers_of_place()[0]
    with pytest.raises(mbd.AssemblyError, match="no consistent start"):
        mbd.simulate(model, t_end=0.1, step=1e-2)


def test_contradicting_velocities_at_a_singular_start_are_an_error():
    rates = [
        {"velocity": (0, 0.5, 0), "angular_velocity": (0, 0, 1)},
        {"velocity": (0, 0.65, 0), "angular_velocity": (0, 0, -0.35)},
        {"velocity": (0, 0.15, 0), "angular_velocity": (0, 0, 0.3)},
    ]
    model = linkage([(0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0)], rates=rates)
    with pytest.raises(
        mbd.AssemblyError, match="'hinge 1', 'hinge 2', 'hinge 3' and 'end' are dependent and contradict"
    ):
        mbd.simulate(model, t_end=0.1, step=1e-3)


def test_a_large_model_is_counted_only():
    model = mbd.Model("chain")
    last = model.ground
    for k in range(260):
        body = model.add(bar(f"bar {k}", (k, 0, 0), (k + 1, 0, 0)))
        model.add(mbd.joints.Revolute(last, body, at=(k, 0, 0), axis=Z))
        last = body
    found = mbd.diagnose(model)
    assert found.dof == 260 and not found.motions
    assert "the model is large" in str(found)


def test_what_is_no_model():
    with pytest.raises(mbd.ModelError, match="expected an mbd.Model"):
        mbd.diagnose("model")


def test_a_control_without_gains():
    model = mbd.Model("arm")
    link = model.add(bar("link", (0, 0, 0), (1, 0, 0)))
    hinge = model.add(mbd.joints.Revolute(model.ground, link, at=(0, 0, 0), axis=Z, name="hinge"))
    control = model.add(mbd.forces.PDControl(hinge, target=1.0, name="servo"))
    assert "control 'servo' of revolute 'hinge'" in str(mbd.diagnose(model))
    assert "its kp, kd and feedforward are zero" in str(mbd.diagnose(model))
    control.feedforward = lambda t: t
    assert "servo" not in str(mbd.diagnose(model))
