"""Files: everything comes back bit by bit, without the script that made it."""

from __future__ import annotations

import enum
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbd
from mbd import forces, joints, nodes
from mbd.bodies import Generalized, PointMass, RigidBody, shapes
from mbd.errors import ModelError
from mbd.io.archive import load
from mbd.joints import Coincident, Dot1, Joint
from mbd.model import Model
from mbd.nodes import RotationVector
from mbd.results.solution import Solution
from mbd.rotation import from_rotation_vector
from mbd.solvers.start_report import Miss, StartReport
from mbd.system.system import assemble
from tests.results.runs import NODES, at_rest, simulate

ROTATION = from_rotation_vector(np.array((0.1, 0.2, 0.3)))


@dataclass(frozen=True)
class Method:
    """Stands for an integrator."""

    rho_inf: float = 0.1 + 0.2
    newton: str = "full"


@dataclass
class Report:
    """Stands for the report of a consistent start."""

    shift: np.ndarray
    text: str = "fine"


class OwnHinge(Joint):
    """A joint of a user's class."""

    coordinate = "angle"

    def primitives(self) -> list[Any]:
        return [
            Coincident(self.point_a, self.point_b),
            Dot1(self.n1_a, self.axis_b),
            Dot1(self.n2_a, self.axis_b),
        ]


class OwnSpring(forces.ForceElement):
    """A force of a user's class; it also keeps something that cannot be stored."""

    def __init__(self, a: Any, b: Any) -> None:
        super().__init__(None)
        self.ends = (a, b)
        self.lock = object()

    @property
    def bodies(self) -> tuple[Any, ...]:
        return self.ends

    def rows(self) -> list[forces.ForceData]:
        return [forces.ForceData(0, *self.ends, parameters=(7.0, 0.1, 0.2))]


def two_bodies(node: str = "rotation vector lie") -> Model:
    model = Model("pair", gravity=(0.1, 0.2, -9.81))
    shape = shapes.Composite(shapes.Box((1, 2, 3), rotation=ROTATION), shapes.Mesh("part.stl"), colour="red")
    model.ground.shape = shapes.Sphere(3.0)
    start = RotationVector((0.1, 0.2, 0.3), ROTATION, (1, 0, 0), (0.3, 0.2, 0.1))
    model.add(RigidBody("a", 1.0 / 3.0, (0.1, 0.1, 0.1), start, com=(0.1, 0, 0), shape=shape))
    model.add(RigidBody("b", 2.0, (0.2, 0.3, 0.4), RotationVector((1.1, 0, 0), ROTATION.T)))
    return model.with_nodes(NODES[node])


JOINTS = {
    "Fixed": {"at": (1, 0, 0)},
    "Spherical": {"at": (1, 0, 0)},
    "Revolute": {"at": (1, 0, 0), "axis": (0, 1, 2)},
    "Prismatic": {"axis": (0, 1, 2)},
    "Cylindrical": {"at": (1, 0, 0), "axis": (0, 1, 2)},
    "Universal": {"at": (1, 0, 0), "axis_a": (1, 0, 0), "axis_b": (0, 1, 0)},
    "Planar": {"normal": (0, 1, 2)},
    "PointOnLine": {"at": (1, 0, 0), "axis": (0, 1, 2)},
    "PointInPlane": {"at": (1, 0, 0), "normal": (0, 1, 2)},
    "Distance": {},
    "Parallel": {"axis": (0, 1, 2)},
    "Screw": {"at": (1, 0, 0), "axis": (0, 1, 2), "pitch": 0.3},
    "AngleDriver": {"axis": (0, 1, 2), "value": 0.1},
    "PositionDriver": {"at": (1, 0, 0), "axis": (0, 1, 2), "value": 0.2},
    "DrivenFrame": {"at": (1, 0, 0), "axis": (0, 1, 2), "displacement": (0.1, 0, 0), "angle": 0.2},
    "Rolling": {"radius": 0.5, "axis": (0, 1, 0), "normal": (1, 0, 0)},
}


def _hinges(model: Model) -> list[Any]:
    return [model.add(joints.Revolute(model.ground, model[name], at=(1, 0, 0), axis=(0, 1, 2))) for name in "ab"]


def _rack(model: Model) -> list[Any]:
    rail = joints.Prismatic(model.ground, model["b"], axis=(0, 0, 1))
    return [model.add(joints.Revolute(model.ground, model["a"], at=(1, 0, 0), axis=(0, 1, 2))), model.add(rail)]


COUPLINGS = {
    "Gear": lambda model: joints.Gear(*_hinges(model), ratio=2.0),
    "Coupling": lambda model: joints.Coupling(*_hinges(model), -0.5, offset=0.1),
    "RackPinion": lambda model: joints.RackPinion(*_rack(model), radius=0.3),
}
WITH_FUNCTIONS = {"UserConstraint"}  # see test_user_constraints


def assert_same(a: Any, b: Any) -> None:
    """Equal attribute by attribute, arrays bit by bit; elements of a model by name."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    elif isinstance(a, list | tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif type(a).__module__.startswith("mbd.") and hasattr(a, "__dict__"):
        assert_same_attributes(a, b)
    else:
        assert a == b


def assert_same_attributes(a: Any, b: Any) -> None:
    a_keys, b_keys = (vars(x).keys() - {"_record"} for x in (a, b))  # what was assigned is not in files
    assert a_keys == b_keys
    for key in a_keys:
        value = vars(a)[key]
        if key == "model" or hasattr(value, "model"):
            assert value.name == vars(b)[key].name
        else:
            assert_same(value, vars(b)[key])


def assert_same_model(a: Model, b: Model) -> None:
    assert a.name == b.name
    assert_same(a.gravity, b.gravity)
    assert a._counters == b._counters
    for kind in ("bodies", "joints", "forces"):
        assert len(getattr(a, kind)) == len(getattr(b, kind))
        for x, y in zip(getattr(a, kind), getattr(b, kind), strict=True):
            assert type(x) is type(y) and y.model is b and b[x.name] is y
            assert_same_attributes(x, y)


def assert_same_records(a: Solution, b: Solution) -> None:
    for key in ("t", "q", "v", "vd", "lam", "turns"):
        assert_same(getattr(a, key), getattr(b, key))
    assert a.complete == b.complete and a.message == b.message


def round_trip(solution: Solution, path: Path) -> Solution:
    solution.save(path)
    loaded = load(path)
    assert_same_records(solution, loaded)
    return loaded


def test_all_joints_are_tested() -> None:
    classes = {name: getattr(joints, name) for name in joints.__all__}
    untested = {name for name, cls in classes.items() if isinstance(cls, type) and issubclass(cls, Joint)}
    assert untested == set(JOINTS) | set(COUPLINGS) | WITH_FUNCTIONS | {"Joint"}


@pytest.mark.parametrize("name", [*JOINTS, *COUPLINGS])
def test_joints(name: str, tmp_path: Path) -> None:
    model = two_bodies()
    if name in COUPLINGS:
        model.add(COUPLINGS[name](model))
    else:
        model.add(getattr(joints, name)(model["a"], model["b"], **JOINTS[name]))
    solution = at_rest(model)
    loaded = round_trip(solution, tmp_path / "x.npz")
    assert_same_model(model, loaded.model)
    joint = model.joints[-1]
    np.testing.assert_array_equal(solution[joint].force, loaded[joint].force)
    np.testing.assert_array_equal(solution[joint].torque, loaded[joint].torque)
    again = at_rest(loaded.model)
    assert_same_records(solution, again)


def test_drivers_with_functions(tmp_path: Path) -> None:
    """Their values are stored, so that reactions and power can be read without the function."""
    model = two_bodies()
    driver = joints.AngleDriver(model["a"], model["b"], axis=(0, 1, 2), value=lambda t: 0.1 + 3.0 * t, name="motor")
    model.add(driver)
    solution = at_rest(model)
    loaded = round_trip(solution, tmp_path / "x.npz")
    np.testing.assert_array_equal(solution["motor"].torque, loaded["motor"].torque)
    np.testing.assert_array_equal(solution.power, loaded.power)
    with pytest.raises(ModelError, match="motor.*is a Python function"):
        loaded.system.accelerations(loaded.q[0], loaded.v[0])


def test_user_constraints(tmp_path: Path) -> None:
    model = two_bodies()
    surface = lambda z, t: z[0, 2] - 0.1 * z[0, 0] * z[0, 0]  # noqa: E731
    model.add(joints.UserConstraint([model["a"]], surface, name="surface"))
    solution = at_rest(model)
    loaded = round_trip(solution, tmp_path / "x.npz")
    np.testing.assert_array_equal(solution["a"].position, loaded["a"].position)
    with pytest.raises(ModelError, match="surface.*is a Python function, which files do not contain"):
        loaded["surface"].force.sum()
    again = load(tmp_path / "x.npz", model=model)
    np.testing.assert_array_equal(solution["surface"].force, again["surface"].force)


def test_events(tmp_path: Path) -> None:
    model = two_bodies()
    drop = mbd.Event(lambda s: s["a"].position[:, 2], name="floor", direction=-1)
    solution = mbd.simulate(model, 0.5, 0.01, events=drop)
    loaded = round_trip(solution, tmp_path / "x.npz")
    (event,), (stored,) = solution.events, loaded.events
    assert (stored.name, stored.t, stored.direction) == (event.name, event.t, event.direction) == ("floor", event.t, -1)
    assert_same(stored.q, event.q)
    assert_same(stored.v, event.v)
    assert round_trip(at_rest(model), tmp_path / "y.npz").events == []


@pytest.mark.parametrize("node", NODES)
def test_nodes_and_forces(node: str, tmp_path: Path) -> None:
    model = two_bodies(node)
    a, b = model["a"], model["b"]
    hinge = model.add(joints.Revolute(a, b, at=(1, 0, 0), axis=(0, 1, 2), name="hinge"))
    model.add(forces.Spring(a, b, (0, 1, 0), stiffness=1.0 / 7.0, damping=0.1))
    model.add(forces.TorsionSpring(hinge, stiffness=2.0, rest=0.3, damping=0.4))
    model.add(forces.Force(a, (1, 2, 3), point=(0, 0, 1), frame="body", switches=(0.1, 0.3)))
    model.add(forces.Torque(b, (1, 2, 3)))
    model.add(PointMass("point", 1.5, (0, 0, 7)))
    solution = simulate(model, 0.02, 4)
    loaded = round_trip(solution, tmp_path / "x.npz")
    assert_same_model(model, loaded.model)
    for key in ("kinetic", "potential", "total"):
        np.testing.assert_array_equal(getattr(solution.energy, key), getattr(loaded.energy, key))
    np.testing.assert_array_equal(solution.power, loaded.power)
    np.testing.assert_array_equal(solution["hinge"].angle, loaded["hinge"].angle)
    assert_same_records(solution, simulate(loaded.model, 0.02, 4))


def test_everything_else(tmp_path: Path) -> None:
    state: dict[str, Any] = {"h": 0.1, "k": 3, "name": "x", "accepted": True, "a": np.arange(3.0), "i": np.arange(4)}
    state["empty"] = np.zeros((0, 2))
    stats = {"steps": 5, "wall_time": 0.1 + 0.2, "rejected": np.int64(0)}
    solution = at_rest(
        two_bodies(), integrator=Method(), stats=stats, start=Report(np.ones(2)), state=state, complete=False,
        message="no",
    )  # fmt: skip
    loaded = round_trip(round_trip(solution, tmp_path / "x"), tmp_path / "without suffix")
    (tmp_path / "x").unlink()
    assert list(loaded.state) == list(state)
    for key, value in state.items():
        assert_same(loaded.state[key], value)
    assert loaded.state["a"].flags.writeable
    assert loaded.stats == stats
    assert loaded.start.text == "fine" and loaded.start.shift.tolist() == [1, 1]
    assert repr(loaded.integrator) == "Method(rho_inf=0.30000000000000004, newton='full')"
    assert "Method" in repr(loaded) and "stopped early" in repr(loaded) and "no" in loaded.summary()
    assert list(tmp_path.iterdir()) == [tmp_path / "without suffix"]


def test_report_of_the_start(tmp_path: Path) -> None:
    report = StartReport(changed=True, moved={"a": 0.1}, before={"hinge": Miss(0.1, 0.2)})
    loaded = round_trip(at_rest(two_bodies(), start=report), tmp_path / "x.npz")
    assert loaded.start == report and str(loaded.start) == str(report)


def test_own_classes_become_data(tmp_path: Path) -> None:
    model = two_bodies()
    joint = model.add(OwnHinge(model["a"], model["b"], at=(1, 0, 0), axis=(0, 1, 2)))
    spring = model.add(OwnSpring(model["a"], model["b"]))
    solution = at_rest(model)
    loaded = round_trip(round_trip(solution, tmp_path / "x.npz"), tmp_path / "y.npz")
    assert type(loaded.model[joint.name]).__name__ == "OwnHinge"
    np.testing.assert_array_equal(solution[joint].force, loaded[joint].force)
    np.testing.assert_array_equal(solution[joint].angle, loaded[joint].angle)
    np.testing.assert_array_equal(solution[spring].energy, loaded[spring].energy)
    assert_same_records(solution, at_rest(loaded.model))


class Word(str, enum.Enum):  # noqa: UP042
    """Texts whose own text is another one."""

    ARM, HINGE, RED, BODY = "arm", "hinge", "red", "body"


class Number(enum.IntEnum):
    """Numbers of a user."""

    SPRING, DAMPED = 0, 3


class Chosen(OwnSpring):
    """A force with numbers and texts of classes of their own."""

    def __init__(self, a: Any, b: Any) -> None:
        super().__init__(a, b)
        self.word, self.number, self.long = Word.RED, Number.DAMPED, np.longdouble(0.5)
        self.small, self.masked = np.arange(3, dtype="f4"), np.ma.masked_array([1.0, 2.0], [0, 1])

    def rows(self) -> list[forces.ForceData]:
        return [forces.ForceData(Number.SPRING, *self.ends, parameters=(Number.DAMPED, np.longdouble(0.5), 0.2))]


def test_texts_and_numbers_of_other_classes(tmp_path: Path) -> None:
    """Names, choices and numbers may be entries of an enumeration; in a file they are what they stand for."""
    model = Model("enumerated", gravity=(0, 0, -9.81))
    arm = model.add(
        RigidBody(Word.ARM, 1.0, (1, 1, 1), RotationVector((1, 0, 0)), shape=shapes.Box((1, 1, 1), colour=Word.RED))
    )
    hinge = model.add(joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name=Word.HINGE))
    model.add(forces.Force(arm, (0, 0, 1), frame=Word.BODY, name="push"))
    spring = model.add(Chosen(model.ground, arm))
    solution = mbd.simulate(model, 0.02, 0.01)
    assert solution.channel("arm.position").shape == (3, 3) and "hinge.angle" in list(solution.channels)
    loaded = round_trip(round_trip(solution, tmp_path / "x.npz"), tmp_path / "y.npz")
    np.testing.assert_array_equal(solution[hinge].force, loaded["hinge"].force)
    np.testing.assert_array_equal(solution[spring].energy, loaded[spring.name].energy)
    stored = vars(loaded.model[spring.name])
    assert (stored["word"], stored["number"], stored["long"]) == ("red", 3, 0.5)
    assert stored["small"].tolist() == [0, 1, 2] and "masked" not in stored
    load(tmp_path / "x.npz", model=model)
    model.save(tmp_path / "x.json")
    np.testing.assert_array_equal(mbd.simulate(Model.load(tmp_path / "x.json"), 0.02, 0.01).q, solution.q)


def test_frames_come_back_to_the_last_digit(tmp_path: Path) -> None:
    """Products of rotations are orthonormal up to a few digits less than all: a run goes on from a file bit for bit."""
    rng = np.random.default_rng(0)
    for k in range(40):
        model = Model("turned", gravity=(0, 0, -9.81))
        start = RotationVector(rng.normal(size=3), from_rotation_vector(rng.normal(size=3)))
        body = model.add(RigidBody("body", 1.0, (1, 1, 1), start))
        model.add(joints.Revolute(model.ground, body, at=rng.normal(size=3), axis=rng.normal(size=3)))
        solution = mbd.simulate(model, 0.02, 0.01)
        loaded = round_trip(solution, tmp_path / f"{k}.npz")
        assert_same_model(model, loaded.model)
        further = [mbd.simulate(x.model, 0.04, 0.01, start=x) for x in (solution, loaded)]
        assert_same_records(*further)


def test_reactions_that_need_a_missing_function_are_refused(tmp_path: Path) -> None:
    """In joint coordinates reactions follow from all that acts."""
    for coordinates in ("absolute", "joint"):
        model = Model("pushed", gravity=(0, 0, -9.81))
        body = model.add(RigidBody("body", 1.0, (1, 1, 1), RotationVector((1, 0, 0))))
        model.add(joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
        model.add(forces.UserForce([body], lambda t, z, v: -0.5 * v, name="resistance"))
        solution = mbd.simulate(model.with_coordinates(coordinates), 0.02, 0.01)
        loaded = round_trip(solution, tmp_path / f"{coordinates}.npz")
        if coordinates == "absolute":
            np.testing.assert_array_equal(loaded["hinge"].force, solution["hinge"].force)
            continue
        for _ in range(2):
            with pytest.raises(ModelError, match="resistance.*is a Python function, which files do not contain"):
                loaded["hinge"].force.sum()


def test_models_that_were_changed_before_saving(tmp_path: Path) -> None:
    """Numbers whose meaning has changed are not written; parameters are told, also of a loaded model."""
    changes = {
        "the node of body 'a' is EulerAngles": lambda m: setattr(m["a"], "node", nodes.EulerAngles(lie=True)),
        "body 'late' is only here": lambda m: m.add(PointMass("late", 1.0)),
        "joint 'rod' is only in the run": lambda m: m.remove("rod"),
    }
    for words, change in changes.items():
        for loaded in (False, True):
            model = two_bodies()
            model.add(joints.Distance(model.ground, model["b"], (0, 0, 5), name="rod"))
            solution = mbd.simulate(model, 0.02, 0.01)
            if loaded:
                solution.save(tmp_path / "x.npz")
                solution = load(tmp_path / "x.npz")
            change(solution.model)
            with pytest.raises(ModelError, match=words):
                solution.save(tmp_path / "y.npz")
    model = two_bodies()
    model.add(forces.Spring(model["a"], model["b"], stiffness=3.0, name="spring"))
    mbd.simulate(model, 0.02, 0.01).save(tmp_path / "x.npz")
    loaded = load(tmp_path / "x.npz")
    loaded.model["spring"].stiffness = 7.0
    with pytest.warns(mbd.ModelWarning, match="changed after the run .force 'spring'"):
        loaded.save(tmp_path / "z.npz")
    with pytest.raises(ModelError, match="other parameters in force 'spring'"):
        load(tmp_path / "z.npz", model=model)
    with pytest.raises(ModelError, match=r"t = 0.01 follows 0.02; expected records whose times go forwards"):
        load(tmp_path / "x.npz").at([0.02, 0.01]).save(tmp_path / "w.npz")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.npz", "z.npz"]


def test_what_is_no_name_of_a_file() -> None:
    model: Any = two_bodies()
    for attempt in (at_rest(model).save, model.save, load, Model.load, mbd.load_urdf, mbd.load_mjcf):
        with pytest.raises(mbd.FileError, match="the name of the file is 3; expected a text or a path"):
            attempt(3)  # type: ignore[operator]


def with_functions() -> Model:
    model = two_bodies()
    push = lambda t: (1.0, 2.0 * t, 3.0)  # noqa: E731
    model.add(forces.Force(model["a"], push, name="push"))
    model.add(forces.Force(model["b"], push, name="shared"))
    model.add(Generalized("g", (0.5,), (1.0,), mass=lambda q: np.array([[2.0 + q[0]]]), potential=lambda q: q[0] ** 2))
    return model


def test_functions_are_missing_but_their_values_are_there(tmp_path: Path) -> None:
    model = with_functions()
    solution = simulate(model, 0.02, 4)
    loaded = round_trip(solution, tmp_path / "x.npz")
    np.testing.assert_array_equal(solution["push"].force, loaded["push"].force)
    np.testing.assert_array_equal(solution["shared"].power, loaded["shared"].power)
    np.testing.assert_array_equal(solution.energy.total, loaded.energy.total)
    np.testing.assert_array_equal(solution.power, loaded.power)
    np.testing.assert_array_equal(solution["g"].coordinates, loaded["g"].coordinates)
    with pytest.raises(ModelError, match="'g'.*is a Python function, which files do not contain"):
        assemble(loaded.model)
    round_trip(loaded, tmp_path / "y.npz")
    full = load(tmp_path / "y.npz", model=model)
    assert full.model is model
    np.testing.assert_array_equal(solution.energy.total, full.energy.total)
    with pytest.raises(ModelError, match="is not the one of the file"):
        load(tmp_path / "y.npz", model=two_bodies())


def test_loaded_function_of_time_is_named(tmp_path: Path) -> None:
    model = two_bodies()
    model.add(forces.Force(model["a"], lambda t: (1.0, 2.0 * t, 3.0), name="push"))
    loaded = round_trip(at_rest(model), tmp_path / "x.npz")
    with pytest.raises(ModelError, match="push.*is a Python function"):
        loaded.system.accelerations(loaded.q[0], loaded.v[0])


def test_loading_needs_no_script(tmp_path: Path) -> None:
    model = with_functions()
    model.add(OwnHinge(model["a"], model["b"], at=(1, 0, 0), axis=(0, 1, 2)))
    solution = at_rest(model)
    solution.save(tmp_path / "x.npz")
    code = f"from mbd.io.archive import load; print(float(load({str(tmp_path / 'x.npz')!r}).energy.total[0]).hex())"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert result.stdout.strip() == float(solution.energy.total[0]).hex(), result.stderr


def test_public_node_classes_are_covered() -> None:
    covered = {type(node).__name__ for node in NODES.values()} | {"Generalized", "Node", "Point", "RigidNode"}
    assert set(nodes.__all__) == covered


def pushed_cart() -> Model:
    model = Model("cart")
    model.add(forces.Force(model.add(PointMass("cart", 1.0)), (model.input("push", 3.0), 0, 0), name="force"))
    return model


def pushed(**options: Any) -> mbd.Simulator:
    simulator = mbd.Simulator(pushed_cart(), 0.1, **options)
    for push in (1.0, 2.0, 5.0):
        simulator.inputs["push"] = push
        simulator.step()
    return simulator


@pytest.mark.parametrize("given", [False, True], ids=["model of the file", "model given"])
def test_the_model_of_a_part_has_the_inputs_of_its_last_record(given: bool, tmp_path: Path) -> None:
    whole = pushed().solution()
    for k, push in ((0, 1.0), (2, 2.0), (-1, 5.0)):
        whole.part(k).save(tmp_path / "part.npz")
        read = mbd.load(tmp_path / "part.npz", model=pushed_cart() if given else None)
        assert read["force"].force.tolist() == [[push, 0.0, 0.0]] == whole.part(k)["force"].force.tolist()
    assert whole["force"].force[:, 0].tolist() == [1.0, 1.0, 2.0, 5.0]


def test_numbers_in_place_of_inputs_are_not_taken_for_others(tmp_path: Path) -> None:
    pushed().solution().save(tmp_path / "run.npz")
    read = mbd.load(tmp_path / "run.npz")
    assert read.part(-1)["force"].force.tolist() == [[5.0, 0.0, 0.0]]
    with pytest.raises(
        ModelError, match="input 'push' changed during this run, and the model of this file has a plain"
    ):
        _ = read.part(0)["force"].force
    with pytest.raises(ModelError, match="input 'push' was 1 at the last of these records, and the model has .* 5"):
        read.part(0).save(tmp_path / "part.npz")


@pytest.mark.parametrize("given", [False, True], ids=["model of the file", "model given"])
def test_the_last_record_of_chosen_quantities_has_the_inputs_that_acted_there(given: bool, tmp_path: Path) -> None:
    chosen = pushed(record=["force.force"], store=tmp_path / "run").solution()
    read = mbd.load(tmp_path / "run", model=pushed_cart() if given else None)
    for selection in (chosen, read):
        assert selection["force.force"][:, 0].tolist() == [1.0, 1.0, 2.0, 5.0]
        assert selection.last["force"].force.tolist() == [[5.0, 0.0, 0.0]]
