"""Elements that are alike are tables in solution files, and come back as they were; files without tables are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbd
from mbd import forces, joints
from mbd.bodies import shapes
from mbd.errors import IDENTITY3, ZERO3, ModelError
from mbd.forces import ForceElement
from mbd.io import columns
from mbd.io.archive import load
from mbd.io.encoding import Encoder
from mbd.joints import Joint
from mbd.model import Model
from mbd.rotation import from_rotation_vector
from mbd.system.identity import FUNCTIONS, PYTHON, fingerprint_of
from tests.io.test_archive import (
    COUPLINGS,
    JOINTS,
    OwnHinge,
    OwnSpring,
    assert_same_model,
    assert_same_records,
    round_trip,
    two_bodies,
    with_functions,
)
from tests.io.test_damaged_archives import _changed
from tests.results.runs import NODES, at_rest
from tests.test_elements import FORCES

OLD = Path(__file__).with_name("version_2.json")  # header and arrays of a file without tables: chain(3)
STEP = 0.01
EACH = [(name, key) for name, variants in FORCES.items() for key in variants]


@pytest.fixture
def all_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single elements are tables, too."""
    monkeypatch.setattr(columns, "WORTHWHILE", 1)


def chain(count: int) -> Model:
    """Links with two kinds of nodes, which do not follow each other."""
    m = Model("chain", gravity=(0, 0, -9.81))
    last: Any = m.ground
    for k in range(count):
        kind = mbd.nodes.RotationVector if k % 3 else mbd.nodes.Quaternion
        body = m.add(
            mbd.RigidBody(
                f"link {k}", 1.0 + k / 7.0, (0.1, 0.2, 0.2), kind((k + 0.5, 0, 0)), shape=shapes.Sphere(0.1 * k + 0.1)
            )
        )
        m.add(joints.Spherical(last, body, at=(k, 0, 0), name=f"joint {k}"))
        m.add(forces.Spring(m.ground, body, (k, 0, 1), stiffness=10.0 / (k + 3), name=f"spring {k}"))
        last = body
    return m


def header_of(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return json.loads(file["header"].tobytes())


def assert_same_state(a: mbd.Solution, b: mbd.Solution) -> None:
    """What a run goes on from, with all that says what it belongs to."""
    assert list(a.state) == list(b.state)
    for name, value in a.state.items():
        assert np.array_equal(value, b.state[name]), name


def test_like_elements_are_tables(tmp_path: Path) -> None:
    solution = mbd.simulate(chain(30), 4 * STEP, STEP)
    loaded = round_trip(solution, tmp_path / "x.npz")
    stored = header_of(tmp_path / "x.npz")["model"]
    sizes = {kind: [len(entry["rows"]) for entry in stored[kind]] for kind in ("bodies", "joints", "forces")}
    assert sizes == {"bodies": [30], "joints": [30], "forces": [30]}
    assert set(stored["bodies"][0]["attributes"]["node"]) == {"$each"}  # two kinds of nodes
    assert_same_model(solution.model, loaded.model)
    assert [x.name for x in loaded.model.bodies] == [f"link {k}" for k in range(30)]
    further = [mbd.simulate(x.model, 8 * STEP, STEP, start=x) for x in (solution, loaded)]
    assert_same_records(*further)
    assert json.dumps(Encoder().model(loaded.model)) == json.dumps(Encoder().model(solution.model))


def test_tables_among_single_elements(tmp_path: Path) -> None:
    """The order of the elements is that of the model, and few of a kind stay single ones."""
    model = chain(4)
    for k in range(20):
        last = model.add(mbd.PointMass(f"point {k}", 0.3 + k, (0, 0.1 * k, 1)))
        if k % 5 == 0:
            model.add(mbd.RigidBody(f"late {k}", 1.0 + k, (0.3, 0.2, 0.2), mbd.nodes.Quaternion((0, k, 3))))
        model.add(joints.Distance(model.ground, last, (0, 0, -2), name=f"rod {k}"))
    solution = at_rest(model)
    loaded = round_trip(solution, tmp_path / "x.npz")
    bodies = header_of(tmp_path / "x.npz")["model"]["bodies"]
    assert [len(entry.get("rows", ())) for entry in bodies].count(0) == len(bodies) - 2  # points, and rigid bodies
    for kind in ("bodies", "joints", "forces"):
        assert [x.name for x in getattr(loaded.model, kind)] == [x.name for x in getattr(model, kind)]
    assert_same_model(model, loaded.model)


@pytest.mark.usefixtures("all_tables")
@pytest.mark.parametrize("name", [*JOINTS, *COUPLINGS])
def test_joints(name: str, tmp_path: Path) -> None:
    model = two_bodies()
    if name in COUPLINGS:
        model.add(COUPLINGS[name](model))
    else:
        model.add(getattr(joints, name)(model["a"], model["b"], **JOINTS[name]))
    solution = mbd.simulate(model, 2 * STEP, STEP)
    loaded = round_trip(solution, tmp_path / "x.npz")
    assert_same_model(model, loaded.model)
    assert_same_state(solution, loaded)


@pytest.mark.usefixtures("all_tables")
@pytest.mark.parametrize(("name", "key"), EACH)
def test_forces(name: str, key: str, tmp_path: Path) -> None:
    """Also those with functions, which are missing in the file."""
    model = two_bodies()
    model.add(FORCES[name][key](model, model["a"], model["b"]))
    solution = at_rest(model)
    loaded = round_trip(solution, tmp_path / "x.npz")
    assert json.dumps(Encoder().model(loaded.model)) == json.dumps(Encoder().model(model))
    told, found = (fingerprint_of(x) for x in (model, loaded.model))
    assert [name for name in told if told[name] != found[name] and not name.startswith(FUNCTIONS)] == []
    present = load(tmp_path / "x.npz", model=model)
    np.testing.assert_array_equal(present.energy.total, loaded.energy.total)


@pytest.mark.usefixtures("all_tables")
@pytest.mark.parametrize("node", NODES)
def test_nodes(node: str, tmp_path: Path) -> None:
    model = two_bodies(node)
    model.add(joints.Revolute(model["a"], model["b"], at=(1, 0, 0), axis=(0, 1, 2), zero=0.3, name="hinge"))
    solution = mbd.simulate(model, 2 * STEP, STEP)
    loaded = round_trip(solution, tmp_path / "x.npz")
    assert_same_model(model, loaded.model)
    assert_same_state(solution, loaded)


@pytest.mark.usefixtures("all_tables")
def test_own_classes_and_functions(tmp_path: Path) -> None:
    model = with_functions()
    hinge: Joint = model.add(OwnHinge(model["a"], model["b"], at=(1, 0, 0), axis=(0, 1, 2)))
    spring: ForceElement = model.add(OwnSpring(model["a"], model["b"]))
    solution = at_rest(model)
    loaded = round_trip(round_trip(solution, tmp_path / "x.npz"), tmp_path / "y.npz")
    assert type(loaded.model[hinge.name]).__name__ == "OwnHinge"
    np.testing.assert_array_equal(solution[hinge].force, loaded[hinge].force)
    np.testing.assert_array_equal(solution[spring].energy, loaded[spring].energy)
    push, shared = loaded.model["push"], loaded.model["shared"]
    assert vars(push)["function"] is vars(shared)["function"]
    assert "'push'" in repr(vars(push)["function"])


def test_numbers_that_are_shared_stay_shared(tmp_path: Path) -> None:
    """Among numbers of their own; every digit comes back, and the sign of zero."""
    model = Model("mixed")
    turned = from_rotation_vector(np.array((0.1, 0.2, 0.3)))
    for k in range(columns.WORTHWHILE):
        node = mbd.nodes.RotationVector((-0.0, 1.0 / (k + 3), 0), turned) if k % 2 else mbd.nodes.RotationVector()
        model.add(mbd.RigidBody(f"body {k}", 1.0 / (k + 3), (0.1, 0.2, 0.2), node))
    loaded = round_trip(at_rest(model), tmp_path / "x.npz")
    (table,) = header_of(tmp_path / "x.npz")["model"]["bodies"]
    assert table["attributes"]["node"]["attributes"]["rotation"]["constants"] == ["IDENTITY3", None] * 4
    assert_same_model(model, loaded.model)
    for k, body in enumerate(loaded.model.bodies):
        assert (body.node.rotation is IDENTITY3) == (body.node.position is ZERO3) == (k % 2 == 0)
        assert not body.node.rotation.flags.writeable


def test_a_state_follows_from_the_model_of_its_file(tmp_path: Path) -> None:
    """Nothing is found out twice: what is data in the file, unchanged since the run, is not told by digests as well."""
    model = chain(9)
    solution = mbd.simulate(model, 4 * STEP, STEP)
    solution.save(tmp_path / "first.npz")
    assert solution._state.waits and header_of(tmp_path / "first.npz")["fingerprint"] is None
    solution.save(tmp_path / "again.npz")
    assert (tmp_path / "first.npz").stat().st_size == (tmp_path / "again.npz").stat().st_size
    loaded = load(tmp_path / "first.npz")
    loaded.save(tmp_path / "of loaded.npz")
    assert_same_state(solution, loaded)
    solution.save(tmp_path / "asked.npz")
    for name in ("asked.npz", "of loaded.npz"):
        assert_same_state(solution, load(tmp_path / name))
    later = load(tmp_path / "first.npz")
    later.model["link 3"].mass = 50.0
    assert later.state["fingerprint"] == solution.state["fingerprint"]
    model["link 3"].mass = 50.0
    with pytest.raises(ModelError, match="other parameters in body 'link 3'"):
        load(tmp_path / "first.npz", model=model)
    with pytest.warns(mbd.ModelWarning, match="was changed after the run .body 'link 3'"):
        solution.save(tmp_path / "changed.npz")
    changed = load(tmp_path / "changed.npz")
    assert changed.state["fingerprint"] == solution.state["fingerprint"]
    assert changed.model["link 3"].mass == 50.0


def test_a_regularised_run_goes_on_from_a_file(tmp_path: Path) -> None:
    """Whether joints are redundant was found out in the run; it does not follow from the model."""
    model = Model("door", gravity=(0, 0, -9.81))
    door = model.add(mbd.RigidBody("door", 2.0, (0.3, 0.2, 0.2), mbd.nodes.RotationVector((0.5, 0, 0))))
    for k in range(2):
        model.add(joints.Revolute(model.ground, door, at=(0, 0, k), axis=(0, 0, 1), name=f"hinge {k}"))
    model.add(forces.Torque(door, (0, 0, 1.0)))
    with pytest.warns(mbd.RedundancyWarning):
        solution = mbd.simulate(model, 4 * STEP, STEP)
    loaded = round_trip(round_trip(solution, tmp_path / "x.npz"), tmp_path / "y.npz")
    assert "flags" in loaded.state
    assert_same_state(solution, loaded)


def test_a_prepared_run_is_saved_before_the_next_one(tmp_path: Path) -> None:
    """Its model has other numbers afterwards: digests say what acted, and it is refused when it is over."""
    model = chain(9)
    spring = forces.Spring(model.ground, model["link 8"], (9, 0, 3), stiffness=model.parameter("k", 2.0), length=1.0)
    model.add(spring)
    run = mbd.assemble(model).parameters(["k"]).run(4 * STEP, STEP)
    solution = run({"k": 5.0})
    loaded = round_trip(solution, tmp_path / "x.npz")
    assert header_of(tmp_path / "x.npz")["fingerprint"] == solution.state["fingerprint"]
    assert_same_state(solution, loaded)
    over = run({"k": 6.0})
    run({"k": 7.0})
    with pytest.raises(ModelError, match="changed for another one"):
        over.save(tmp_path / "over.npz")


def test_files_without_tables(tmp_path: Path) -> None:
    stored, path = json.loads(OLD.read_text()), tmp_path / "old.npz"
    header = np.frombuffer(json.dumps(stored["header"]).encode(), dtype=np.uint8)
    np.savez(path, **{name: np.array(x, dtype=float) for name, x in stored["arrays"].items()}, header=header)
    assert stored["header"]["version"] == 2
    solution, old = mbd.simulate(chain(3), 4 * STEP, STEP), load(path)
    assert_same_model(solution.model, old.model)
    told, acted = (x.state["fingerprint"] | {PYTHON: ""} for x in (old, solution))
    assert told == acted
    assert old.state["identity"] == solution.state["identity"]
    assert len(load(path, model=chain(3))) == 5
    changed = chain(3)
    changed["spring 1"].stiffness = 9.0
    with pytest.raises(ModelError, match="other parameters in force 'spring 1'"):
        load(path, model=changed)


def _table(header: dict[str, Any]) -> dict[str, Any]:
    return header["model"]["joints"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: _table(h)["rows"].__setitem__(0, 1), "row 1 of a table is there twice"),
        (lambda h: _table(h)["rows"].__setitem__(0, 0.5), "row 0.5 of a table is there twice, or is no row"),
        (lambda h: _table(h)["rows"].__setitem__(0, -1), "a table has rows -1 to 8, but there are 9 elements"),
        (lambda h: _table(h)["rows"].pop(), "a column has 9 values; expected 8"),
        (lambda h: _table(h)["attributes"]["name"].pop(), "a column has 8 values; expected 9"),
        (lambda h: _table(h)["attributes"]["point_a"].update(shape=[9, 4000]), "a column has the numbers .* to .* of"),
        (lambda h: _table(h)["attributes"]["point_a"].update({"$numbers": -3}), "a column has the numbers -3 to 24 of"),
        (lambda h: _table(h)["attributes"]["point_a"].update(colour="red"), "unknown column '.numbers', or keys"),
        (lambda h: _table(h)["attributes"].update(point_a={"$numbers": 0}), "unknown column '.numbers', or keys"),
        (lambda h: _table(h)["attributes"].update(point_a={"$cake": 0}), "unknown column '.cake'"),
        (lambda h: _table(h)["attributes"]["body_a"]["$element"].__setitem__(0, "nobody"), "is damaged or no solution"),
        (lambda h: _table(h).update({"class": "os:system"}), "unknown class 'os:system'"),
    ],
)  # fmt: skip
def test_damaged_tables_are_refused(change: Any, message: str, tmp_path: Path) -> None:
    at_rest(chain(9)).save(tmp_path / "x.npz")
    _changed(tmp_path / "x.npz", header=change)
    with pytest.raises(ModelError, match=message):
        load(tmp_path / "x.npz")


def test_numbers_of_tables_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    at_rest(chain(9)).save(path)
    with np.load(path) as file:
        numbers = file["numbers"]
    for wrong, message in (
        (np.full_like(numbers, np.nan), r"radius = nan"),
        (numbers.astype("i8"), "array 'numbers' is of type int64"),
        (numbers[:-1], "a column has the numbers .* to .* of"),
        (numbers[:, None], "array 'numbers' has shape .*; expected numbers one after the other"),
        (None, "a column has the numbers .* of 0"),
    ):
        at_rest(chain(9)).save(path)
        _changed(path, numbers=wrong)
        with pytest.raises(ModelError, match=message):
            load(path)


DOORS: dict[str, Any] = {
    "model": lambda s: s.model.set_parameters({"k": 3.0}),
    "table": lambda s: s.model.parameters.update(k=3.0),
    "attribute": lambda s: setattr(s.model["link 1"], "mass", 3.0),
    "system": lambda s: s.system.set_parameters({"k": 3.0}),
}


@pytest.mark.parametrize("door", DOORS)
def test_the_state_of_a_model_with_parameters_is_that_of_its_run(door: str, tmp_path: Path) -> None:
    """Whatever changes parameters afterwards; as plain numbers in a file they are the same model."""
    model = chain(9)
    k = model.parameter("k", 2.0)
    model.add(forces.Spring(model["link 2"], model["link 5"], (k, 0, 1), stiffness=1.0 + k**2, name="own"))
    model.add(mbd.RigidBody("last", k, (k, k, 0.4 * k), mbd.nodes.Quaternion((9 * k, k, 0), velocity=(0, k, 0))))
    model.add(joints.Revolute(model["link 1"], model["last"], at=(0, k, 0), axis=(1, 0, k), name="turning"))
    solution, asked = (mbd.simulate(model, 4 * STEP, STEP) for _ in range(2))
    expected = dict(asked.state)
    solution.save(tmp_path / "x.npz")
    assert solution._state.waits and header_of(tmp_path / "x.npz")["fingerprint"] is None
    DOORS[door](solution)
    assert not solution._state.waits
    assert_same_state(solution, asked)
    assert_same_state(load(tmp_path / "x.npz"), asked)
    assert expected["fingerprint"] == solution.state["fingerprint"] != fingerprint_of(solution.model)
