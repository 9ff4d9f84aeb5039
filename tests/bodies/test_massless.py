"""Links without mass between joints: the motion of one joint with all their freedoms, in any coordinates."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import mbd
from mbd.rotation import from_rotation_vector

NODES = [
    mbd.nodes.RotationVector(), mbd.nodes.Quaternion(lie=False), mbd.nodes.Directors(lie=False),
    mbd.nodes.RotationVector(lie=False),
]  # fmt: skip
SAME = 1e-11


def tree(hinges, count=8, loops=False):
    """A tree of random bodies on ball joints, or on three hinges each with links without mass; loops close it."""
    rng = np.random.default_rng(7)
    model = mbd.Model(gravity=(0.3, -1.0, -9.81))
    bodies = [model.ground]
    for i in range(count):
        parent = bodies[int(rng.integers(len(bodies)))]
        at = parent.position + 0.7 * rng.normal(size=3)
        turn, axes = from_rotation_vector(rng.normal(size=3)), np.linalg.qr(rng.normal(size=(3, 3)))[0]
        half = rng.normal(size=(3, 3))
        inertia = np.trace(half @ half.T) * np.eye(3) - half @ half.T
        mass, com = 1.0 + rng.random(), 0.3 * rng.normal(size=3)
        node = mbd.nodes.RotationVector(position=at, rotation=turn)
        links = [mbd.RigidBody(f"{i} link {k}", 0.0, (0, 0, 0), node) for k in range(2 if hinges else 0)]
        chain = [parent, *map(model.add, links), model.add(mbd.RigidBody(f"{i}", mass, inertia, node, com))]
        for k, (a, b) in enumerate(pairwise(chain)):
            joint = mbd.joints.Revolute(a, b, at=at, axis=axes[:, k]) if hinges else mbd.joints.Spherical(a, b, at=at)
            model.add(joint)
        bodies.append(chain[-1])
    if loops:
        model.add(mbd.joints.Distance(model["2"], model["4"], (0.1, 0, 0), (0, 0.2, 0)))
        model.add(mbd.joints.Spherical(model["3"], model.ground, point_a=(0.3, 0.1, 0)))
    return model


@pytest.mark.parametrize("node", NODES, ids=lambda node: f"{type(node).__name__}{'' if node.lie else ' conventional'}")
@pytest.mark.parametrize("loops", [False, True])
def test_the_same_motion(node, loops):
    one, two = (tree(hinges, loops=loops).with_nodes(node) for hinges in (False, True))
    for method in (mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha(tolerance=1e-10)):
        a, b = (mbd.simulate(model, 0.05, 1e-3, integrator=method) for model in (one, two))
        worst = max(np.abs(a[f"{i}"].position - b[f"{i}"].position).max() for i in range(8))
        assert worst < SAME and np.ptp(a["5"].position, axis=0).max() > 1e-3
        assert np.abs(a.energy.total - b.energy.total).max() < 1e-8 * np.abs(a.energy.total).max()


def test_large_models_have_small_fronts():
    """A link is eliminated together with its joints, not with the whole model."""
    layout = mbd.assemble(tree(True, count=40)).assembly.layout
    pivots = layout.fronts.table[:, 0]
    assert layout.n > 1000 and pivots.max() < 120
    two = tree(True, count=40, loops=True)
    solution = mbd.simulate(two, 0.01, 1e-3, integrator=mbd.integrators.RK4())
    same = mbd.simulate(tree(False, count=40, loops=True), 0.01, 1e-3, integrator=mbd.integrators.RK4())
    assert max(np.abs(solution[f"{i}"].position - same[f"{i}"].position).max() for i in range(40)) < SAME


def test_a_start_that_must_be_corrected():
    """Positions and velocities that violate joints of links without mass."""
    model = tree(True, count=3)
    model["2 link 1"].position = model["2 link 1"].position + (0.01, -0.02, 0.01)
    model["1"].angular_velocity = (0.3, 0.2, 0.1)
    start = mbd.consistent_start(mbd.assemble(model))
    assert start.report.changed
    solution = mbd.simulate(model, 0.01, 1e-3)
    assert solution.constraint_error.position.max() < 1e-8


def cardan(massless):
    """A pendulum on two crossed hinges with a link without mass between them, or on one universal joint."""
    model = mbd.Model(gravity=(0, 0, -9.81))
    body = mbd.RigidBody("body", 2.0, (0.1, 0.2, 0.25), com=(0.1, 0.2, -1))
    if massless:
        link = model.add(mbd.RigidBody("link", 0.0, (0, 0, 0)))
        model.add(body)
        model.add(mbd.joints.Revolute(model.ground, link, at=(0, 0, 0), axis=(1, 0, 0)))
        model.add(mbd.joints.Revolute(link, body, at=(0, 0, 0), axis=(0, 1, 0)))
    else:
        model.add(body)
        model.add(mbd.joints.Universal(model.ground, body, at=(0, 0, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0)))
    return model


def test_analyses():
    diagnosis = mbd.diagnose(cardan(True))
    assert diagnosis.dof == 2 and not diagnosis.errors and not diagnosis.warnings and not diagnosis.notes
    one, two = (mbd.equilibrium(cardan(massless)) for massless in (False, True))
    assert two.stable and two.residual < 1e-8
    assert two["body"].rotation == pytest.approx(one["body"].rotation, abs=1e-9)
    assert two.frequencies == pytest.approx(one.frequencies, rel=1e-9)
    assert mbd.linearize(two.model, two).frequencies == pytest.approx(
        mbd.linearize(one.model, one).frequencies, rel=1e-9
    )


def test_methods_that_need_masses_refuse():
    model = tree(True, count=1)
    for method in (mbd.integrators.LieEM(), mbd.integrators.DiscreteVariational()):
        with pytest.raises(mbd.IncompatibleError, match=r"needs bodies with mass; body '0 link 0' has none"):
            mbd.simulate(model, 0.1, 1e-3, integrator=method)


def test_links_that_nothing_holds_are_told():
    """At the end of a chain a link without mass can move freely."""
    model = mbd.Model(gravity=(0, 0, -9.81))
    arm = model.add(mbd.RigidBody("arm", 1.0, (1, 1, 1), com=(0.3, 0, -1)))
    hand = model.add(mbd.RigidBody("hand", 0.0, (0, 0, 0)))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.joints.Revolute(arm, hand, at=(0, 0, -2), axis=(0, 1, 0)))
    assert any("'hand' can move freely" in error for error in mbd.diagnose(model).errors)
    with pytest.raises(mbd.MbdError, match="hand"):
        mbd.simulate(model, 0.1, 1e-3)
    with pytest.raises(mbd.MbdError, match="hand"):
        mbd.simulate(model, 0.1, 1e-3, integrator=mbd.integrators.RK4())


def test_mass_and_inertia_belong_together():
    with pytest.raises(mbd.ModelError, match="inertia = .*; expected zero, because mass = 0; or a positive mass"):
        mbd.RigidBody("a", 0.0, (1, 1, 1))
    body = mbd.RigidBody("a", 1.0, (1, 1, 1))
    with pytest.raises(mbd.ModelError, match="mass = 0; expected a positive number, because the body has an inertia"):
        body.mass = 0
    body.inertia = (0, 0, 0)
    body.mass = 0
    with pytest.raises(mbd.ModelError, match="expected zero, because mass = 0"):
        body.inertia = (1, 1, 1)
    with pytest.raises(mbd.ModelError, match="mass = -1; expected a number that is not negative"):
        body.mass = -1
    with pytest.raises(mbd.ModelError, match="mass = 0; expected a positive number"):
        mbd.PointMass("p", 0)


def test_files(tmp_path):
    model = tree(True, count=1)
    model.save(tmp_path / "model.json")
    assert mbd.Model.load(tmp_path / "model.json")["0 link 1"].mass == 0.0
