"""Model files: exact round trip of every element, and errors that say where a file is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

import mbd
from mbd import benchmarks, forces, joints, nodes


def everything() -> mbd.Model:
    """A model with every kind of node and with shapes; numbers that have no short decimal form."""
    model = mbd.Model("everything", gravity=(0.1, 0.2 / 3, -9.81))
    model.ground.shape = mbd.shapes.Box((10, 10, 0.1))
    last = model.ground
    kinds = [
        nodes.RotationVector, nodes.Quaternion, nodes.Directors,
        lambda **a: nodes.EulerAngles(sequence="zxz", lie=True, **a),
    ]  # fmt: skip
    for k, cls in enumerate(kinds):
        node = cls(position=(k / 3, 0, 0), rotation=mbd.rotation((0.1, 0.2 * k, 0.3)), velocity=(0, 1 / 7, 0))
        shape = mbd.shapes.Composite(mbd.shapes.Sphere(radius=0.1), mbd.shapes.Mesh(file="part.stl"))
        body = model.add(mbd.RigidBody(f"body {k}", 1.1, np.diag((1.0, 1.1, 1.3)), node, com=(0.1, 0, 0), shape=shape))
        model.add(joints.Spherical(last, body, at=(k / 3 - 0.1, 0, 0)))
        last = body
    hinge = model.add(joints.Revolute(last, model.ground, point_a=(1, 0, 0), point_b=(2, 0, 0), axis=(0, 1, 1)))
    model.add(forces.TorsionSpring(hinge, 3.3, 0.1, rest=0.2))
    mass = model.add(mbd.PointMass("mass", 2.0, (1, 1, 1)))
    model.add(joints.Distance(model.ground, mass, length=1.7))
    model.add(forces.Spring(model["body 0"], mass, stiffness=100.0, damping=0.3))
    model.add(forces.Force(mass, (1, 2, 3)))
    model.add(mbd.Generalized("oscillator", (1.0, 2.0), (0.1, 0.2), mass=((2, 0), (0, 3))))
    return model


def test_round_trip_is_exact(tmp_path):
    model = everything()
    model.save(tmp_path / "model.json")
    loaded = mbd.Model.load(tmp_path / "model.json")
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "model.json").read_text() == (tmp_path / "again.json").read_text()
    assert [e.name for e in (*loaded.bodies, *loaded.joints, *loaded.forces)] == [
        e.name for e in (*model.bodies, *model.joints, *model.forces)
    ]
    old, new = mbd.assemble(model), mbd.assemble(loaded)
    for table in ("nodes", "primitives", "forces"):
        assert getattr(old.tables, table).tobytes() == getattr(new.tables, table).tobytes()
    for a, b in zip(old.initial_state(), new.initial_state(), strict=True):
        assert np.array_equal(a, b)


def test_loaded_model_moves_the_same(tmp_path):
    model = benchmarks.n_four_bar(2).model
    model.save(tmp_path / "model.json")
    loaded = mbd.Model.load(tmp_path / "model.json")
    a, b = (mbd.simulate(m, t_end=0.1, step=1e-2) for m in (model, loaded))
    assert np.array_equal(a.q, b.q)
    loaded.add(mbd.PointMass(mass=1.0))  # it can be built on


def test_functions_are_refused(tmp_path):
    model = mbd.Model()
    mass = model.add(mbd.PointMass("mass", 1.0))
    model.add(forces.Force(mass, lambda t: (t, 0, 0), name="push"))
    with pytest.raises(
        mbd.ModelError, match="force 'push': function .* is a Python function, which a model file cannot"
    ):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def changed(tmp_path, change):
    """A file after a change of its data."""
    file = tmp_path / "model.json"
    everything().save(file)
    data = json.loads(file.read_text())
    change(data)
    file.write_text(json.dumps(data))
    return file


def entry(data, kind="bodies", k=0):
    return data["model"][kind][k]["attributes"]


def part(data):
    return entry(data)["shape"]["attributes"]["parts"]["$tuple"][0]["attributes"]


BAD = {
    "format": (lambda d: d.update(format="mbd solution"), "format is 'mbd solution'; expected \"mbd model\""),
    "version": (lambda d: d.update(version=99), "version is 99; this mbd reads versions up to 1"),
    "no model": (lambda d: d.pop("model"), "the file: 'model' is missing"),
    "list": (lambda d: d["model"].update(joints={}), "model.joints = {}; expected a list"),
    "class": (
        lambda d: d["model"]["joints"][0].update({"class": "os:system"}),
        r"model.joints\[0\] \('spherical 1'\).class: unknown",
    ),
    "wrong list": (
        lambda d: d["model"]["joints"][0].update({"class": "bodies:RigidBody"}),
        r"model.joints\[0\] .*class: 'bodies:RigidBody' does not belong into this list",
    ),
    "mass": (
        lambda d: entry(d).update(mass=-1.0),
        r"model.bodies\[0\] \('body 0'\).*mass = -1.0; expected a number that is not negative",
    ),
    "no mass": (lambda d: entry(d).pop("mass"), r"model.bodies\[0\] .*: 'mass' is missing; expected a number"),
    "text": (lambda d: entry(d).update(mass="heavy"), "attributes.mass = 'heavy'; expected a number"),
    "inertia": (
        lambda d: entry(d)["inertia"].update({"$array": [1.0, 2.0, 3.0], "shape": [3]}),
        r"attributes.inertia = 'an array of shape \[3\]'; expected a 3x3 matrix",
    ),
    "length": (lambda d: entry(d)["inertia"]["$array"].pop(), r"attributes.inertia: 8 numbers for the shape \[3, 3\]"),
    "nan": (
        lambda d: entry(d)["inertia"]["$array"].__setitem__(0, float("nan")),
        r"inertia\[0\] = nan; expected a finite number",
    ),
    "node": (lambda d: entry(d)["node"]["attributes"].pop("position"), "attributes.node: 'position' is missing"),
    "node class": (
        lambda d: entry(d)["node"].update({"$object": "bodies.shapes:Box"}),
        "node = 'bodies.shapes:Box'; expected a node",
    ),
    "reference": (
        lambda d: entry(d, "joints").update(body_b={"$element": "nobody"}),
        "body_b: there is no element named 'nobody'",
    ),
    "reference kind": (
        lambda d: entry(d, "joints").update(body_b={"$element": "spring 1"}),
        "body_b = 'spring 1'; expected a body",
    ),
    "name": (
        lambda d: entry(d, "bodies", 1).update(name="body 0"),
        r"model.bodies\[1\].attributes.name: 'body 0' is taken",
    ),
    "tag": (
        lambda d: entry(d).update(com={"$pickle": "x"}),
        r"attributes.com = \{'\$pickle': 'x'\}; expected three numbers",
    ),
    "function": (
        lambda d: entry(d, "forces").update(rest={"$missing": 0}),
        "attributes.rest: a Python function is missing here",
    ),
    "gravity": (lambda d: d["model"].update(gravity=9.81), "model.gravity = 9.81; expected three numbers"),
    "incomplete": (
        lambda d: entry(d, "joints", 5).pop("length"),
        r"joints\[5\] \('distance 1'\): 'length' is missing",
    ),
    "truth value among numbers": (
        lambda d: entry(d)["inertia"]["$array"].__setitem__(0, True),
        r"attributes.inertia\[0\] = True; expected a finite number",
    ),
    "version 0": (lambda d: d.update(version=0), "version is 0"),
    "version true": (lambda d: d.update(version=True), "version is True"),
    "version text": (lambda d: d.update(version="1"), "version is '1'"),
    "key of the file": (lambda d: d.update(modle={}), "the file: unknown key 'modle'"),
    "key of the model": (lambda d: d["model"].update(gravty=0), "model: unknown key 'gravty'"),
    "key of an entry": (lambda d: d["model"]["bodies"][0].update(mass=3), r"model.bodies\[0\]: unknown key 'mass'"),
    "key of a body": (lambda d: entry(d).update(mas=3.0), r"\('body 0'\): unknown key 'mas'"),
    "key of a node": (lambda d: entry(d)["node"]["attributes"].update(pined=True), "unknown key 'pined'"),
    "key of a force": (lambda d: entry(d, "forces", 1).update(stifness=3.0), r"\('spring 1'\): unknown key 'stifness'"),
    "key of a shape": (lambda d: part(d).update(radios=1.0), "shape Sphere: unknown key 'radios'"),
    "key of an array": (lambda d: entry(d)["inertia"].update(unit="kg"), "inertia: unknown key 'unit' beside"),
    "unsymmetric": (
        lambda d: entry(d)["inertia"]["$array"].__setitem__(1, 0.3),
        "inertia = .*a symmetric 3x3",
    ),
    "not positive": (
        lambda d: entry(d)["inertia"]["$array"].__setitem__(0, -1.0),
        "inertia = .*positive definite",
    ),
    "triangle": (lambda d: entry(d)["inertia"]["$array"].__setitem__(0, 9.0), "inertia = .*triangle inequality"),
    "scaled": (
        lambda d: entry(d)["node"]["attributes"]["rotation"].update({"$array": [2.0, 0, 0, 0, 2.0, 0, 0, 0, 2.0]}),
        "rotation = .*expected an orthonormal matrix",
    ),
    "left-handed": (
        lambda d: entry(d)["node"]["attributes"]["rotation"].update({"$array": [1.0, 0, 0, 0, 1.0, 0, 0, 0, -1.0]}),
        "rotation = .*expected a right-handed matrix",
    ),
    "frame": (
        lambda d: entry(d, "joints", 4)["frame_a"].update({"$array": [1.0, 0, 0, 0, 1.0, 0, 0, 0, -1.0]}),
        r"\('revolute 1'\): .*frame_a = .*expected a right-handed matrix",
    ),
    "lie": (lambda d: entry(d)["node"]["attributes"].update(lie="no"), "lie = 'no'; expected True or False"),
    "pinned": (lambda d: entry(d)["node"]["attributes"].update(pinned=1), "pinned = 1; expected True or False"),
    "pinned and moving": (lambda d: entry(d)["node"]["attributes"].update(pinned=True), "velocity = .*pinned=True"),
    "no lie": (lambda d: entry(d)["node"]["attributes"].pop("lie"), "'lie' is missing"),
    "sequence": (lambda d: entry(d, "bodies", 3)["node"]["attributes"].update(sequence="xxz"), "sequence = 'xxz'"),
    "stiffness": (lambda d: entry(d, "forces", 1).update(stiffness=-1.0), r"\('spring 1'\): .*stiffness = -1.0"),
    "stiffness text": (lambda d: entry(d, "forces", 1).update(stiffness="1"), "stiffness = '1'; expected a number"),
    "damping list": (lambda d: entry(d, "forces", 1).update(damping={"$list": []}), "damping = "),
    "same bodies": (
        lambda d: entry(d, "joints").update(body_a={"$element": "body 0"}),
        r"'spherical 1'.*both bodies are the same",
    ),
    "shape": (lambda d: part(d).update(radius=-1.0), "shape Sphere: radius = -1.0"),
    "frame word": (
        lambda d: entry(d, "forces", 2).update(frame="moon"),
        'frame = \'moon\'; expected "world" or "body"',
    ),
    "generalized": (
        lambda d: entry(d, "bodies", 5)["node"]["attributes"]["_velocities"].update({"$array": [0.1], "shape": [1]}),
        "_velocities = .*expected 2 numbers",
    ),
    "negative mass matrix": (
        lambda d: entry(d, "bodies", 5)["mass"]["$array"].__setitem__(0, -2.0),
        "without negative eigenvalues",
    ),
    "derived": (lambda d: entry(d, "bodies", 3)["node"]["attributes"].update(axes={"$tuple": [0, 1, 2]}), "axes = "),
    "huge": (lambda d: entry(d).update(mass=10**400), "mass"),
}


@pytest.mark.parametrize("change", BAD)
def test_bad_files_say_where(tmp_path, change):
    function, message = BAD[change]
    with pytest.raises(mbd.ModelError, match=message) as caught:
        mbd.Model.load(changed(tmp_path, function))
    assert str(caught.value).startswith(str(tmp_path))


def test_files_that_are_no_json(tmp_path):
    (tmp_path / "bad.json").write_text('{"format": "mbd model",\n "version": }')
    with pytest.raises(mbd.ModelError, match="bad.json, line 2, column 13: no valid JSON"):
        mbd.Model.load(tmp_path / "bad.json")
    with pytest.raises(mbd.ModelError, match="no such file"):
        mbd.Model.load(tmp_path / "none.json")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(mbd.ModelError, match="the file = .*expected a table"):
        mbd.Model.load(tmp_path / "list.json")


def test_duplicate_keys(tmp_path):
    everything().save(tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text()
    assert text.count('"mass": 1.1,') == 4
    (tmp_path / "model.json").write_text(text.replace('"mass": 1.1,', '"mass": 1.1, "mass": 2.2,', 1))
    with pytest.raises(mbd.ModelError, match="model.json: the key 'mass' is given twice in one table, as .1.1, 2.2"):
        mbd.Model.load(tmp_path / "model.json")
    (tmp_path / "model.json").write_text("[" * 100000)
    with pytest.raises(mbd.ModelError, match="model.json"):
        mbd.Model.load(tmp_path / "model.json")


def test_an_inertia_that_was_accepted_is_accepted_again(tmp_path):
    model = mbd.Model()
    with pytest.warns(mbd.ModelWarning, match="triangle"):
        model.add(mbd.RigidBody("b", 1.0, (1, 1, 5), check_inertia=False))
    model.save(tmp_path / "model.json")
    with pytest.warns(mbd.ModelWarning, match="triangle"):
        assert mbd.Model.load(tmp_path / "model.json")["b"].inertia[2, 2] == 5.0


def test_own_classes_are_stored_as_what_they_extend(tmp_path):
    class Tank(mbd.RigidBody):
        def __init__(self, name, level):
            super().__init__(name, 1.0, (1, 1, 1), Counted())
            self.level = level

    class Counted(nodes.Quaternion):
        def __init__(self):
            super().__init__()
            self.count = 3

    model = mbd.Model()
    tank = model.add(Tank("tank", 0.3))
    tank.level = 0.5
    model.save(tmp_path / "model.json")
    loaded = mbd.Model.load(tmp_path / "model.json")["tank"]
    assert type(loaded) is mbd.RigidBody and type(loaded.node) is nodes.Quaternion
    assert not {"level", "count"} & {*vars(loaded), *vars(loaded.node)}


def test_every_element_passes_the_door_again(tmp_path):
    """All joints and forces without functions: exactly the same after reading."""
    from tests.elements.test_attributes import FACTORIES, stage

    for name, make in FACTORIES.items():
        model, a, b = stage()
        element = model.add(make(model, a, b))
        if any(callable(x) for x in vars(element).values()):
            continue
        model.save(tmp_path / "a.json")
        mbd.Model.load(tmp_path / "a.json").save(tmp_path / "b.json")
        assert (tmp_path / "a.json").read_text() == (tmp_path / "b.json").read_text(), name


def test_a_model_is_no_solution_and_the_other_way_round(tmp_path):
    model = mbd.Model("ball", gravity=(0, 0, -9.81))
    model.add(mbd.RigidBody("ball", 1.0, (1, 1, 1)))
    model.save(tmp_path / "model.json")
    mbd.simulate(model, 0.1, 0.1).save(tmp_path / "run.npz")
    with pytest.raises(mbd.ModelError, match=r"a model is read by mbd\.Model\.load"):
        mbd.load(tmp_path / "model.json")
    with pytest.raises(mbd.ModelError, match=r"a solution is read by mbd\.load"):
        mbd.Model.load(tmp_path / "run.npz")
