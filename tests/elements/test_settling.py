"""Notes about a model are written late, and nobody can tell the difference: before every change of the model."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import numpy as np
import pytest

import mbd
from mbd.elements import settling
from mbd.elements.settling import Late
from mbd.nodes import RotationVector
from mbd.results.run_state import belongings
from mbd.system.identity import fingerprint_of
from mbd.system.structure import _known

STEP = 0.01
PATIENCE = 20.0  # seconds after which a thread is taken to be stuck
DOORS = {
    "mass": lambda m: setattr(m["arm"], "mass", 3.0),
    "node of a pinned body": lambda m: setattr(m["top"].node, "position", (0.0, 0.0, 5.0)),
    "stiffness": lambda m: setattr(m["spring"], "stiffness", 80.0),
    "gravity": lambda m: setattr(m, "gravity", (0.0, 0.0, -1.0)),
    "new force": lambda m: m.add(mbd.forces.Force(m["arm"], (1.0, 0.0, 0.0), name="push")),
    "removed force": lambda m: m.remove("spring"),
    "removed from the list": lambda m: m.forces.pop(),
    "order": lambda m: m.bodies.reverse(),
}


def model() -> mbd.Model:
    m = mbd.Model("doors", gravity=(0, 0, -9.81))
    arm = m.add(mbd.RigidBody("arm", 2.0, (0.3, 0.2, 0.1), RotationVector(position=(1, 0, 0))))
    m.add(mbd.RigidBody("top", 1.0, (0.1, 0.1, 0.2), RotationVector(pinned=True, angular_velocity=(0, 1, 5))))
    m.add(mbd.joints.Revolute(m.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    m.add(mbd.forces.Spring(m.ground, arm, (2, 0, 1), (0, 0, 0), stiffness=50.0, length=1.0, name="spring"))
    return m


def run(m: mbd.Model, **options) -> mbd.Solution:
    return mbd.simulate(m, 0.1, STEP, progress=False, **options)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_state_is_that_of_the_model_that_ran(door, coordinates):
    m = model().with_coordinates(coordinates)
    solution, early = run(m), run(m)
    known, identity = early.state, early.system.identity  # read at once
    before = fingerprint_of(m)
    DOORS[door](m)
    assert solution.state["fingerprint"] == before == known["fingerprint"]
    assert solution.state["identity"] == identity == solution.system.identity
    for name, value in known.items():
        assert np.array_equal(solution.state[name], value), name
    if door != "order":
        assert fingerprint_of(m) != before


def test_changed_model_is_not_resumed_bit_for_bit():
    m = model()
    solution = run(m)
    m["spring"].stiffness = 80.0
    changed = mbd.simulate(m, 0.2, STEP, start=solution, progress=False)
    fresh = model()
    fresh["spring"].stiffness = 80.0
    assert np.array_equal(changed.q, mbd.simulate(fresh, 0.2, STEP, start=run(model()).state, progress=False).q)
    assert not np.array_equal(changed.q, mbd.simulate(model(), 0.2, STEP, start=run(model()), progress=False).q)
    m.bodies.reverse()
    with pytest.raises(mbd.ModelError, match="body 1 is 'top' here and 'arm' in the state"):
        mbd.simulate(m, 0.3, STEP, start=solution, progress=False)


def test_what_cannot_be_watched_is_noted_at_once():
    """Functions refer to values that change without a word, inputs change within runs, users' classes are free."""
    loaded = model()
    table = {"size": 2.0}
    loaded.add(mbd.forces.Force(loaded["arm"], lambda t: (table["size"], 0.0, 0.0)))
    pushed = model()
    pushed.add(mbd.forces.Force(pushed["arm"], (pushed.input("push", 2.0), 0, 0)))

    class Own(mbd.forces.Spring):
        pass

    own = model()
    own.add(Own(own.ground, own["arm"], (0, 0, 1), (0, 0, 0), stiffness=5.0, length=1.0))
    for m in (loaded, pushed, own):
        solution = run(m)
        assert isinstance(solution._state, dict)
    assert not isinstance(run(model())._state, dict)
    solution = run(loaded)
    table["size"] = 3.0
    assert solution.state["fingerprint"] != fingerprint_of(loaded)


def test_copies_and_other_processes():
    solution = run(model())
    twin, sent = copy.deepcopy(solution), pickle.loads(pickle.dumps(run(model())))
    for other in (twin, sent):
        assert other.state["fingerprint"] == solution.state["fingerprint"]
        assert other.system.identity == solution.system.identity


def test_nothing_is_kept_for_what_is_gone():
    gc.collect()
    before = len(settling._waiting)
    for _ in range(5):
        m = model()
        solution = run(m)
        del m, solution
    gc.collect()
    assert len(settling._waiting) <= before


def test_late_and_early_notes_are_the_same():
    m = model()
    solution = run(m)
    numbers = dict(solution._numbers_of_state)
    early = belongings(solution.system, solution.integrator, numbers)
    assert all(np.array_equal(solution.state[name], value) for name, value in early.items())


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_known_structures_change_nothing(coordinates):
    """A system whose structure is known has the tables of one that finds everything out, bit for bit."""

    def tables(mass: float) -> list[bytes]:
        m = model()
        m["arm"].mass = mass
        s = mbd.assemble(m.with_coordinates(coordinates)).tables
        fields = ("nodes", "primitives", "forces", "xv", "xl", "vclass", "lclass", "qv", "diagonal", "parameters")
        return [getattr(s, name).tobytes() for name in fields] + [s.tree.carried.tobytes(), s.tree.places.tobytes()]

    _known.clear()
    first = tables(2.0)
    assert tables(2.0) == first
    second = tables(5.0)
    assert second != first
    _known.clear()
    assert tables(5.0) == second
    m = model()
    m["arm"].inertia = (0, 0, 0)
    m["arm"].mass = 0.0  # the same integers, but another elimination order: bodies without mass
    kept = len(_known)
    mbd.assemble(m)
    assert len(_known) == kept + 1


class _Here:
    """What stands for a model."""

    _elements = ()


class _Gone:
    """Garbage in a cycle, which asked for something about a model."""

    def __init__(self, about: _Here) -> None:
        self.self, self.late = self, Late(about, lambda: None)


@pytest.mark.parametrize("allocations", range(1, 12))
def test_garbage_that_goes_meanwhile_takes_nothing_along(allocations):
    """Whatever is collected while something begins to wait: it is made before the change."""
    about, threshold = _Here(), gc.get_threshold()
    gc.collect()
    gc.disable()
    try:
        _Gone(about)
        gc.set_threshold(gc.get_count()[0] + allocations, *threshold[1:])
        gc.enable()
        waiting = [Late(about, lambda: None) for _ in range(20)]
    finally:
        gc.set_threshold(*threshold)
        gc.enable()
    settling.before_change(about)
    assert not any(late.waits for late in waiting)


def test_other_threads_wait_for_what_is_being_made():
    begun, go_on = threading.Event(), threading.Event()

    def make() -> str:
        begun.set()
        assert go_on.wait(PATIENCE)
        return "made"

    about = _Here()
    late = Late(about, make)
    found: list[object] = []
    first = threading.Thread(target=lambda: found.append(late.value))

    def change() -> None:
        settling.before_change(about)
        found.append("changed")

    others = [threading.Thread(target=x) for x in (lambda: found.append(late.value), change)]
    first.start()
    assert begun.wait(PATIENCE)
    for thread in others:
        thread.start()
    assert found == []  # nobody has seen a part of it, and nothing has changed
    go_on.set()
    for thread in (first, *others):
        thread.join(PATIENCE)
    assert sorted(map(str, found)) == ["changed", "made", "made"]
