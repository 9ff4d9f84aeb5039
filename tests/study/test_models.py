"""Studies of a model with parameters: the same numbers as with a function that builds it, bit for bit."""

from __future__ import annotations

import gc
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mbd
from mbd.study import model_builds
from mbd.study.model_builds import as_build
from mbd.system.assembly import _Assembler

RUN = {"t_end": 0.2, "step": 0.01}
OUTPUTS = {"height": "bob.position.z[-1]", "energy": lambda s: s.energy.total[-1], "force": lambda s: s.lam[-1]}


def pendulum(length=1.0, mass=2.0, stiffness=3.0):
    return _pendulum(mbd.Model("pendulum"), length, mass, stiffness)


def _pendulum(model, length, mass, stiffness):
    model.gravity = (0.0, 0.0, -9.81)
    node = mbd.nodes.RotationVector((length, 0, 0))
    bob = model.add(mbd.RigidBody("bob", mass, (0.1, 0.1 * mass, 0.1 * mass), node))
    hinge = model.add(mbd.joints.Revolute(model.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=stiffness, name="spring"))
    return model


def parametric():
    model = mbd.Model("pendulum")
    numbers = {"length": 1.0, "mass": 2.0, "stiffness": 3.0}
    return _pendulum(model, *(model.parameter(name, x) for name, x in numbers.items()))


GRID = {"length": [0.5, 1.0, 1.7], "stiffness": [0.0, 2.0]}


def columns(study):
    frame = study.frame()
    return {name: np.array(frame[name].tolist()) for name in frame if name not in ("seconds", "message", "warning")}


def assert_same(one, other):
    one, other = columns(one), columns(other)
    assert one.keys() == other.keys()
    for name in one:
        assert np.array_equal(one[name].astype(str), other[name].astype(str)), name  # all digits, and nan


@pytest.mark.filterwarnings("ignore::mbd.ModelWarning")
@pytest.mark.parametrize("threads", [None, 2])
def test_a_sweep_of_a_model_is_that_of_its_function(threads, monkeypatch):
    made = []
    build = _Assembler.build
    monkeypatch.setattr(_Assembler, "build", lambda self: made.append(0) or build(self))
    executor = (lambda: ThreadPoolExecutor(threads)) if threads else None
    fast = mbd.study.sweep(parametric(), GRID, outputs=OUTPUTS, simulate=RUN, executor=executor)
    assert len(made) <= 8 if threads else len(made) <= 4  # and not one for each run
    slow = mbd.study.sweep(pendulum, GRID, outputs=OUTPUTS, simulate=RUN)
    assert_same(fast, slow)
    solution = mbd.study.rerun(fast, 4)
    fresh = mbd.simulate(pendulum(1.7, 2.0, 0.0), **RUN)
    assert np.array_equal(solution.q, fresh.q)
    mbd.study.rerun(fast, 1)
    assert np.array_equal(solution["bob"].velocity, fresh["bob"].velocity)  # it lasts


def test_arguments_of_a_run_that_is_not_prepared():
    """Records that are chosen, and runs that go on: what functions do with these arguments, models do as well."""
    chosen = {**RUN, "record": ["bob.position", "spring.power"]}
    outputs = {"height": lambda s: s["bob.position"][-1, 2]}
    grid = {"stiffness": [0.0, 2.0]}
    fast, slow = (mbd.study.sweep(b, grid, outputs=outputs, simulate=chosen) for b in (parametric(), pendulum))
    assert_same(fast, slow)
    assert (fast.status == "good").all()
    goes_on = {"t_end": 0.4, "step": 0.01, "start": mbd.simulate(pendulum(), **RUN)}
    fast, slow = (mbd.study.sweep(b, grid, outputs=OUTPUTS, simulate=goes_on) for b in (parametric(), pendulum))
    assert_same(fast, slow)
    assert (fast.status == "good").all()


def test_attributes_of_a_plain_model():
    grid = {"bob.mass": [1.0, 2.5], "spring.stiffness": [2.0, 4.0]}
    fast = mbd.study.sweep(pendulum(), grid, outputs=OUTPUTS, simulate=RUN)

    def build(mass, stiffness):
        model = pendulum()
        model["bob"].mass, model["spring"].stiffness = mass, stiffness
        return model

    slow = mbd.study.sweep(build, {"mass": [1.0, 2.5], "stiffness": [2.0, 4.0]}, outputs=OUTPUTS, simulate=RUN)
    for name in ("height", "energy", "force[0]"):
        assert np.array_equal(columns(fast)[name], columns(slow)[name])
    with pytest.raises(mbd.ModelError, match="no element is named 'bobb'"):
        mbd.study.sweep(pendulum(), {"bobb.mass": [1.0]}, outputs=OUTPUTS, simulate=RUN)
    with pytest.raises(mbd.ModelError, match="no parameter or input 'lenght'.*did you mean 'length'"):
        mbd.study.sweep(parametric(), {"lenght": [1.0]}, outputs=OUTPUTS, simulate=RUN)


def test_a_value_that_makes_another_model_goes_the_slow_way():
    def screw(pitch):
        model = mbd.Model()
        body = model.add(mbd.RigidBody("bob", 1.0, (1, 1, 1), mbd.nodes.RotationVector((0, 0, 1))))
        pitch = model.parameter("pitch", 0.1) if pitch is None else pitch
        model.add(mbd.joints.Screw(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), pitch=pitch))
        return model

    values = {"pitch": [0.1, 0.0, 0.3]}
    fast = mbd.study.sweep(screw(None), values, outputs=OUTPUTS, simulate=RUN)
    assert_same(fast, mbd.study.sweep(screw, values, outputs=OUTPUTS, simulate=RUN))


def test_refused_values_are_rows_and_spoil_no_others():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = mbd.study.sweep(parametric(), {"mass": [1.0, -1.0, 2.0]}, outputs=OUTPUTS, simulate=RUN)
        fresh = mbd.study.sweep(pendulum, {"mass": [1.0, -1.0, 2.0]}, outputs=OUTPUTS, simulate=RUN)
    assert_same(study, fresh)


def test_stores_know_the_model(tmp_path):
    arguments = {"outputs": OUTPUTS, "simulate": RUN, "store": tmp_path / "runs"}
    first = mbd.study.sweep(parametric(), GRID, **arguments)
    assert_same(mbd.study.sweep(parametric(), GRID, **arguments), first)
    other = parametric()
    other.gravity = (0.0, 0.0, -1.0)
    with pytest.raises(mbd.ModelError, match="build.numbers"):
        mbd.study.sweep(other, GRID, **arguments)


class Law:
    """A function that is an object."""

    def __init__(self, stiffness):
        self.stiffness = stiffness

    def __call__(self, t, angle, rate):
        return -self.stiffness * angle


DETAILS = {
    "whether a node is a Lie node": lambda x, other: mbd.nodes.RotationVector((1, 0, 0), lie=other),
    "the sequence of angles": lambda x, other: mbd.nodes.EulerAngles((1, 0, 0), sequence="zyx" if other else "xyz"),
    "an integer of numpy": lambda x, other: (x * np.int64(1 + other), 0, 0),
    "one of two functions of one name": lambda x, other: mbd.calculated(
        (lambda x: (2.0 * x, 0.0, 0.0)) if other else (lambda x: (3.0 * x, 0.0, 0.0)), x
    ),
    "a number of an object that is a function": lambda x, other: Law(1.0 + other),
    "what a joint shows": lambda x, other: 0.5 * other,
}


@pytest.mark.parametrize("detail", DETAILS)
def test_stores_know_details_of_a_model(tmp_path, detail):
    """Also those that act for other values of a parameter only; the same model, built again, goes on."""

    def sweep(other):
        model = parametric()
        push = model.parameter("push", 0.0)
        part = DETAILS[detail](push, other)
        zero = part if isinstance(part, float) else 0.0
        node = part if isinstance(part, mbd.nodes.RigidNode) else mbd.nodes.RotationVector((1, 0, 0))
        body = model.add(mbd.RigidBody("body", 1.0, (1, 2, 3), node))
        hinge = model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0), zero=zero))
        if isinstance(part, Law):
            model.add(mbd.forces.JointForce(hinge, part))
        elif not isinstance(part, float | mbd.nodes.RigidNode):
            model.add(mbd.forces.Force(body, part))
            model.add(mbd.forces.Force(body, mbd.calculated(lambda x: (0.0, x, 0.0), push)))
        return mbd.study.sweep(model, {"push": [1.0]}, outputs=OUTPUTS, simulate=RUN, store=tmp_path / "runs")

    assert_same(sweep(False), sweep(False))
    with pytest.raises(mbd.ModelError, match="belongs to another study"):
        sweep(True)


def test_identification_of_a_model():
    truth = mbd.simulate(pendulum(1.0, 2.0, 4.2), 0.5, 0.01)
    measured = {"t": truth.t, "bob.position.z": truth["bob"].position[:, 2]}
    given = {"parameters": {"stiffness": (1.0, 3.0, 9.0)}, "simulate": {"step": 0.01}}
    fast, slow = (mbd.study.identify(build, measured, **given) for build in (parametric(), pendulum))
    assert abs(fast.parameters["stiffness"] - 4.2) < 1e-6
    assert fast.parameters == slow.parameters
    lowest = mbd.study.minimize(
        parametric(), {"stiffness": (1.0, 3.0, 9.0)}, _miss, simulate={"t_end": 0.5, "step": 0.01}
    )
    assert abs(lowest.parameters["stiffness"] - 4.2) < 1e-3


def _miss(solution):
    return (solution["bob"].position[-1, 2] - TRUTH) ** 2 * 1e4


TRUTH = float(mbd.simulate(pendulum(1.0, 2.0, 4.2), 0.5, 0.01)["bob"].position[-1, 2])


def test_prepared_runs_are_those_of_their_models(monkeypatch):
    """What a run is known by is where its model is stored: that place may not become another model's meanwhile."""

    def build(stiffness):
        model = mbd.Model("spring")
        p = model.parameter("p", 2.0)
        ball = model.add(mbd.PointMass("ball", 1.0, position=(1.0, 0, 0)))
        model.add(mbd.forces.Spring(model.ground, ball, stiffness=mbd.calculated(stiffness, p), length=0.5))
        return as_build(model)

    monkeypatch.setattr(model_builds, "_prepared", model_builds._Prepared())
    first = build(lambda x: 2.0 * x)
    first.solution({"p": 3.0}, RUN)
    kept = weakref.ref(first.model)
    del first
    gc.collect()
    assert kept() is not None
    alike = build(lambda x: x * x)  # the same numbers, and the same name of its function
    found, expected = alike.solution({"p": 3.0}, RUN), mbd.simulate(alike(p=3.0), **RUN)
    assert np.array_equal(found.q, expected.q)
    for other in (lambda x: x + 2.0, lambda x: 4.0 * x):
        build(other).solution({"p": 3.0}, RUN)
    gc.collect()
    assert kept() is None  # the eldest is forgotten
