"""Views of bodies and joints of trees: the same numbers whether all bodies are looked at together or one by one."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import RK4, BLieDF, GeneralizedAlpha
from mbd.system import tree_observe


def chain(count: int) -> mbd.Model:
    """Revolute joints with a ball in the middle, and a spring that closes nothing but acts between links."""
    model = mbd.Model("chain", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(count):
        link = model.add(mbd.RigidBody(f"{k}", 1.0, (0.01, 0.1, 0.1), mbd.nodes.RotationVector((k + 0.5, 0, 0))))
        if k == count // 2:
            model.add(mbd.joints.Spherical(last, link, at=(k, 0, 0), name=f"joint {k}"))
        else:
            model.add(mbd.joints.Revolute(link, last, at=(k, 0, 0), axis=(0, k % 2, 1), name=f"joint {k}"))
        last = link
    model.add(mbd.forces.Spring(model["0"], model["2"], stiffness=20.0))
    return model


@pytest.fixture
def calls(monkeypatch):
    """Bodies placed on their parents so far: records times bodies, by how they were looked at."""
    found = []

    def counted(name, bodies):
        kernel = getattr(tree_observe, name)

        def count(*arguments):
            found.append(bodies(*arguments))
            kernel(*arguments)

        monkeypatch.setattr(tree_observe, name, count)

    counted("observe_tree", lambda s, w, q, *rest: len(q) * len(s.tree.order))
    counted("observe_carried", lambda s, w, path, q, *rest: len(q) * len(path))
    counted("observe_wrenches", lambda s, w, t, *rest: len(t) * len(s.tree.order))
    counted("observe_wrench", lambda s, w, i, t, *rest: len(t) * len(s.tree.order))
    return found


QUANTITIES = ("position", "rotation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


def all_views(solution: mbd.Solution) -> dict[str, np.ndarray]:
    """All that can be read of bodies and joints."""
    model = solution.model
    found = {f"{b.name} {x}": getattr(solution[b], x) for b in model.bodies for x in QUANTITIES}
    return found | {f"{j.name} {x}": getattr(solution[j], x) for j in model.joints for x in ("force", "torque")}


def test_together_and_one_by_one(monkeypatch):
    solution = mbd.simulate(chain(6).with_coordinates("joint"), 0.05, 0.01)
    together = all_views(solution)
    monkeypatch.setattr(tree_observe, "AT_ONCE", 0)
    alone = all_views(mbd.simulate(chain(6).with_coordinates("joint"), 0.05, 0.01))
    absolute = all_views(mbd.simulate(chain(6), 0.05, 1e-4, mbd.integrators.RK4(), output_step=0.01))
    for name, values in together.items():
        assert np.array_equal(values, alone[name]), name
        assert values == pytest.approx(absolute[name], abs=0.02 * (1.0 + np.abs(values).max())), name


def test_work_grows_with_the_number_of_bodies(calls):
    """Three levels of motion and the wrenches of all joints: four walks along the tree."""
    solution = mbd.simulate(chain(20).with_coordinates("joint"), 0.05, 0.01)
    calls.clear()
    all_views(solution)
    assert sum(calls) == 4 * 20 * len(solution)


def test_views_of_copies_are_their_own():
    import pickle

    solution = mbd.simulate(chain(4).with_coordinates("joint"), 0.05, 0.01)
    here = solution["3"].position.copy()
    other = pickle.loads(pickle.dumps(solution))
    assert np.array_equal(other["3"].position, here)
    assert "frames of all bodies 0" in other._shared and other._shared is not solution._shared


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), BLieDF()])
def test_energies_of_springs_that_turn_far_in_a_step(method):
    """Ten radians per step: the angle is a coordinate, and nothing has to guess its turns."""
    stiffness, speed = 0.1, 100.0
    model = mbd.Model("wheel")
    start = mbd.nodes.RotationVector(angular_velocity=(0, 0, speed))
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (0.1, 0.1, 0.1), start))
    hinge = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    spring = model.add(mbd.forces.TorsionSpring(hinge, stiffness))
    solution = mbd.simulate(model.with_coordinates("joint"), 1.0, 0.1, method)
    angle = solution["hinge"].angle
    assert angle[-1] == pytest.approx(speed * np.sin(1.0), rel=1e-3)
    assert solution[spring.name].energy == pytest.approx(0.5 * stiffness * angle**2, rel=1e-14)
