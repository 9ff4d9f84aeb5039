"""Models, systems, solutions, integrators and events as copies and in other processes: the same bits."""

from __future__ import annotations

import copy
import functools
import math
import multiprocessing
import pickle
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import cloudpickle
import numpy as np
import pytest

import mbd
from mbd import forces, joints
from mbd.compiled.settings import PUBLIC
from mbd.study.compatibility import FEATURES, all_integrators, small_model
from tests.test_elements import FORCES

STEP, T_END = 0.01, 0.1
Z = (0.0, 0.0, 1.0)

strength = 3.0


def push(t):
    return (strength * math.sin(20.0 * t), 0.0, 1.0)


def pull(t, frames, velocities):
    return (-strength * frames[0, 0], 0.5 * velocities[0, 1], 0.0)


def friction(t, frames, velocities):
    return -0.3 * strength * velocities


def well(frames):
    return 0.5 * strength * (frames[0, 0] - 2.0) ** 2


def turned(t):
    return 0.3 * t + 2.0 * t * t


def shifted(t):
    return (0.1 * t, 0.0, 0.4 * t * t)


def law(stiffness, length, rate):
    return stiffness * length**3 + 0.1 * rate


def slope(frames, t):
    return frames[0, 2] - 0.1 * frames[0, 0] - 0.1 * t


def own_mass(q):
    return [[2.0 + q[0] * q[0], 0.1], [0.1, 1.0]]


def own_potential(q):
    return strength * q[0] * q[0] + q[1] ** 4


class Controller:
    """A function with values of its own."""

    def __init__(self, gain):
        self.gain = np.array((gain, 2.0))

    def torque(self, t):
        return (0.0, 0.0, self.gain[0] * math.cos(self.gain[1] * t))


def height(solution):
    return solution["arm"].position[:, 2] - 0.05


def everything() -> mbd.Model:
    """A model with functions in all places where a model takes some."""
    model = mbd.Model("everything", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.1, 0.2, 0.3), node(position=(0.5, 0, 0)), com=(0.1, 0, 0)))
    hinge = model.add(joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(forces.TorsionSpring(hinge, 3.0, damping=0.1, name="coil"))
    model.add(forces.Force(arm, push, name="push"))
    model.add(forces.Force(arm, pull, point=(0.1, 0, 0), frame="body", name="pull"))
    top = model.add(mbd.RigidBody("top", 2.0, (0.4, 0.5, 0.6), mbd.nodes.Quaternion(position=(3, 0, 0))))
    model.add(forces.UserForce([arm, top], friction, name="friction"))
    model.add(forces.UserPotential([top], well, name="well"))
    model.add(forces.Torque(top, Controller(1.5).torque, name="controlled"))
    model.add(joints.UserConstraint([top], slope, name="slope"))
    moved = model.add(mbd.RigidBody("moved", 1.0, (0.1, 0.1, 0.1), mbd.nodes.Directors(position=(6, 0, 0))))
    model.add(joints.DrivenFrame(model.ground, moved, displacement=shifted, angle=turned, axis=Z, name="stage"))
    ball = model.add(mbd.PointMass("ball", 1.0, (6, 1, 0)))
    model.add(forces.NonlinearSpring(moved, ball, function=functools.partial(law, 7.0), name="law"))
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (0.1, 0.1, 0.2), mbd.nodes.EulerAngles(position=(9, 0, 0))))
    axle = model.add(joints.Revolute(model.ground, wheel, at=(9, 0, 0), axis=Z, name="axle"))
    model.add(forces.PDControl(axle, turned, kp=5.0, kd=0.5, name="motor"))
    model.add(mbd.Generalized("own", [0.5, 0.2], [1.0, 0.0], mass=own_mass, potential=own_potential))
    return model


QUANTITIES = (
    "position", "velocity", "acceleration", "rotation", "angular_velocity", "coordinates", "force", "torque", "energy",
    "power", "angle", "displacement", "multipliers",
)  # fmt: skip


def numbers(solution: mbd.Solution) -> dict[str, np.ndarray]:
    """Everything that can be read off a solution."""
    found = {name: getattr(solution, name) for name in ("t", "q", "v", "vd", "lam", "power")}
    found |= {f"energy.{k}": x for k, x in zip("kpt", solution.energy, strict=True)}
    found |= {f"momentum.{k}": x for k, x in zip("la", solution.momentum, strict=True)}
    found |= {f"error.{k}": x for k, x in zip("pv", solution.constraint_error, strict=True)}
    for element in (*solution.model.bodies, *solution.model.joints, *solution.model.forces):
        view = solution[element.name]
        found |= {f"{element.name}.{k}": getattr(view, k) for k in QUANTITIES if hasattr(view, k)}
    return found


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


def run(model: mbd.Model, integrator=None, event=None) -> mbd.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.AccuracyWarning)
        return mbd.simulate(model, T_END, STEP, integrator, events=() if event is None else event, progress=False)


def far(model, integrator, event, solution, system):
    """In a fresh process: a run of the model, what the solution says, and what the system evaluates."""
    again = run(model, integrator, event)
    q, v = solution.q[-1], solution.v[-1]
    return numbers(again), again.events, numbers(solution), system.accelerations(q, v, 0.1), again


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def solution() -> mbd.Solution:
    return run(everything(), None, mbd.Event(height, direction=1, name="up"))


def test_a_fresh_process_computes_the_same(pool, solution):
    event = mbd.Event(height, direction=1, name="up")
    system = mbd.assemble(solution.model)
    model = everything()
    there, events, of_solution, accelerations, returned = pool.submit(
        far, model, mbd.integrators.GeneralizedAlpha(), event, solution, system
    ).result()
    here = numbers(solution)
    same(there, here)
    same(of_solution, here)
    same(numbers(returned), here)
    assert [x.t for x in events] == [x.t for x in solution.events]
    for a, b in zip(accelerations, system.accelerations(solution.q[-1], solution.v[-1], 0.1), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_read_the_same(copied, solution):
    twin = copied(solution)
    same(numbers(twin), numbers(solution))
    assert (twin.model is solution.model) == (copied is copy.copy)
    assert twin.state["index"] == 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.AccuracyWarning)
        further = [mbd.simulate(s.model, 2 * T_END, STEP, start=s.state, progress=False) for s in (solution, twin)]
    np.testing.assert_array_equal(further[0].q, further[1].q)


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_as_a_copy(feature):
    """Functions without a name travel as code."""
    for node in ("EulerAngles", "Generalized"):
        model = small_model(node, feature)
        if model is None:
            continue
        first = run(model)
        for twin in (copy.deepcopy(first), cloudpickle.loads(cloudpickle.dumps(first))):
            same(numbers(twin), numbers(first))
        again = run(cloudpickle.loads(cloudpickle.dumps(model)))
        same(numbers(again), numbers(first))


@pytest.mark.parametrize("name", FORCES)
def test_every_force_in_a_copy_of_its_system(name):
    """Accelerations of the copy have the same bits, whatever functions and tables the element brings."""
    for build in FORCES[name].values():
        model = mbd.Model("pair", gravity=(0, 0, -9.81))
        node = mbd.nodes.RotationVector(position=(0.3, 0.2, 0.1), angular_velocity=(0.1, 0.2, 0.3))
        body = model.add(mbd.RigidBody("a", 1.0, (0.1, 0.2, 0.3), node))
        model.add(build(model, model.ground, body))
        system = mbd.assemble(model)
        q, v = system.initial_state()
        here = system.accelerations(q, v, 0.2)
        for twin in (copy.deepcopy(system), pickle.loads(pickle.dumps(system))):
            for a, b in zip(twin.accelerations(q, v, 0.2), here, strict=True):
                np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("closed", [False, True])
def test_joint_coordinates_as_a_copy(pool, closed):
    """Solved along the tree, or with a loop as a constraint: tables that refer to further ones by address."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    last = model.ground
    for k in range(3):
        node = mbd.nodes.RotationVector(position=(k + 0.5, 0, 0))
        link = model.add(mbd.RigidBody(f"link {k}", 1.0, (0.01, 0.1, 0.1), node))
        model.add(joints.Revolute(last, link, at=(k, 0, 0), axis=(0, 1, 0), name=f"hinge {k}"))
        last = link
    model.add(forces.Force(last, push))
    if closed:
        model.add(joints.PointInPlane(model.ground, last, at=(3, 0, 0), axis=(0, 0, 1)))
    model = model.with_coordinates("joint")
    solution = run(model)
    here = numbers(solution)
    for twin in (copy.deepcopy(solution), pickle.loads(pickle.dumps(solution)), pool.submit(run, model).result()):
        same(numbers(twin), here)


def test_every_integrator_is_its_copy():
    for method in all_integrators():
        assert pickle.loads(pickle.dumps(method)) == copy.deepcopy(method) == method


def test_redundant_systems_stay_solvable():
    model = mbd.Model("door", gravity=(0, 0, -9.81))
    door = model.add(mbd.RigidBody("door", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(0.5, 0, 0))))
    for z in (0.0, 1.0):
        model.add(joints.Revolute(model.ground, door, at=(0, 0, z), axis=Z))
    with pytest.warns(mbd.RedundancyWarning):
        solution = run(model)
    twin = pickle.loads(pickle.dumps(solution))
    q, v = solution.q[-1], solution.v[-1]
    np.testing.assert_array_equal(twin.system.accelerations(q, v)[1], solution.system.accelerations(q, v)[1])


# --- values of functions -------------------------------------------------------------------------------------------


def test_a_copy_keeps_the_values_of_the_run(solution, monkeypatch):
    """Forces of the run, not of what its functions refer to since."""
    parcel, before = pickle.dumps(solution), numbers(solution)["pull.force"]
    monkeypatch.setattr(sys.modules[__name__], "strength", 8.0)
    for duplicate in (lambda: pickle.loads(parcel), lambda: copy.deepcopy(solution)):
        if PUBLIC:  # values are constants of the code there: what differs is said
            with pytest.warns(UserWarning, match="refers to other values here than where it comes from"):
                duplicate()
        else:
            np.testing.assert_array_equal(duplicate()["pull"].force, before)


def test_a_model_whose_functions_do_something_else_here_says_so(monkeypatch):
    parcel = pickle.dumps(everything())
    monkeypatch.setattr(sys.modules[__name__], "strength", 8.0)
    with pytest.warns(mbd.ModelWarning, match="'everything' comes from another process, where the functions of body"):
        mbd.assemble(pickle.loads(parcel))
    with pytest.warns(mbd.ModelWarning, match="comes from another process"):
        mbd.assemble(pickle.loads(parcel).with_nodes(mbd.nodes.RotationVector))
    mbd.assemble(copy.deepcopy(everything()))


def test_tables_of_another_version_are_refused():
    """A pickle whose records have other lengths, or other members, than those of this version."""
    for change in (lambda fields: fields.update(parameters=fields["parameters"][:-1]), lambda fields: fields.pop("xv")):
        state = mbd.assemble(mbd.benchmarks.heavy_top().model).__getstate__()
        change(state["assembly"].tables.fields)
        with pytest.raises(mbd.ModelError, match=r"were pickled by another version of mbd .* solution\.save\(path\)"):
            object.__new__(mbd.System).__setstate__(state)


def test_a_copy_of_a_solution_does_not_follow_the_model():
    model = mbd.Model("ball", gravity=(0, 0, -10.0))
    ball = model.add(mbd.PointMass("ball", 1.0))
    solution = run(model)
    energy = solution.energy.total[-1]
    ball.mass = 5.0
    assert pickle.loads(pickle.dumps(solution)).energy.total[-1] == energy


# --- what cannot travel --------------------------------------------------------------------------------------------


def lambdas():
    model = mbd.Model("local")
    ball = model.add(mbd.PointMass("ball", 1.0))
    model.add(forces.Force(ball, lambda t: (t, 0.0, 0.0), name="wind"))
    return model


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (lambdas, "force 'wind': function is lambdas.<locals>.<lambda>"),
        (lambda: run(lambdas()), "force 'wind': function is lambdas.<locals>.<lambda>"),
        (lambda: mbd.Event(lambda s: s.t - 1.0, name="one"), "event 'one': function is .*<lambda>"),
        (
            lambda: joints.DrivenFrame(
                mbd.Model().ground, mbd.RigidBody("b", 1.0, (1, 1, 1)), displacement=lambda t: (t, t, t)
            ),
            "driven frame .*: motions is .*<lambda>",
        ),
    ],
)
def test_functions_without_a_name_are_refused_by_name(made, named):
    with pytest.raises(mbd.ModelError, match=f"{named}, a function that has no name in a module.* cloudpickle"):
        pickle.dumps(made())


# --- compare -------------------------------------------------------------------------------------------------------


def last(solution):
    return solution["arm"].position[-1]


def study(**options):
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.1, 0.2, 0.3), mbd.nodes.RotationVector(position=(0.5, 0, 0))))
    model.add(joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(forces.Force(arm, push))
    arguments = {"steps": [0.02, 0.01], "t_end": 0.1, "quantity": last, "reference": np.zeros(3), "progress": False}
    methods = [mbd.integrators.RK4(), mbd.integrators.GeneralizedAlpha()]
    found = mbd.compare(model, methods, [mbd.nodes.RotationVector], **(arguments | options))
    assert all(cell.integrator in methods for cell in found.cells) and not any(c.failure for c in found.cells)
    return [(c.error, c.energy, c.angular, c.iterations, c.order) for c in found.cells]


def test_compare_on_any_executor(pool):
    serial = study(processes=1)
    with ThreadPoolExecutor(2) as threads:
        for executor in (pool, threads):
            np.testing.assert_array_equal(study(executor=executor), serial)
        np.testing.assert_array_equal(study(executor=threads, quantity=lambda s: s["arm"].position[-1]), serial)
    np.testing.assert_array_equal(study(executor=pool, quantity=lambda s: s["arm"].position[-1]), serial)


def test_compare_without_cloudpickle(pool, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(
        mbd.ModelError, match=r"compare: .* cannot be sent .* def at the top level .* install cloudpickle"
    ):
        study(executor=pool, quantity=lambda s: s["arm"].position[-1])
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    with pytest.warns(mbd.ModelWarning, match="processes=1, which is done now"):
        found = study(quantity=lambda s: s["arm"].position[-1])
    np.testing.assert_array_equal(found, study(processes=1))


def test_workers_refuse_functions_that_do_something_else_there(pool, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "strength", 8.0)
    with pytest.raises(mbd.ModelError, match="force 1.* referred to other values"):
        study(executor=pool)
