"""The model: names, membership, copies, change of coordinates, topology, speed of building."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mbd
from mbd.bodies import Generalized, Ground, PointMass, RigidBody, shapes
from mbd.errors import ConvergenceError, MbdError, ModelError, SingularityError
from mbd.forces import Force, Spring, TorsionSpring
from mbd.joints import Distance, Revolute, Spherical
from mbd.model import Model
from mbd.nodes import Directors, EulerAngles, Point, Quaternion, RotationVector
from mbd.rotation import rotation
from tests.counting import calls


def body(name=None, position=(0, 0, 0), **node):
    return RigidBody(name, 1.0, (1, 1, 1), RotationVector(position=position, **node))


def four_bar() -> Model:
    """Three links, four hinges: one closed loop."""
    model = Model("four bar", gravity=(0, 0, -9.81))
    links = [
        model.add(body(f"link {k}", (k, 0.2, 0), rotation=rotation((0, 0.3 * k, 0.1)), angular_velocity=(0, k, 1)))
        for k in range(3)
    ]
    chain = [model.ground, *links, model.ground]
    for k in range(4):
        model.add(Revolute(chain[k], chain[k + 1], at=(k - 0.5, 0, 0), axis=(0, 1, 0)))
    model.add(Spring(links[0], links[2], stiffness=10))
    model.add(TorsionSpring(model.joints[1], 5))
    model.add(Force(links[1], (0, 0, 1)))
    return model


def test_add_returns_the_element_and_fills_the_lists():
    model = Model("m", gravity=(0, 0, -9.81))
    a = model.add(body("a"))
    joint = model.add(Spherical(model.ground, a, at=(0, 0, 0)))
    force = model.add(Force(a, (0, 0, 1)))
    assert (model.bodies, model.joints, model.forces) == ([a], [joint], [force])
    assert model["a"] is a
    assert model["ground"] is model.ground
    assert np.array_equal(model.gravity, (0, 0, -9.81))
    assert "a" in model
    assert a in model
    assert model.ground in model
    assert "b" not in model
    assert body("a") not in model
    assert repr(model) == "<Model 'm': 1 body, 1 joint, 1 force, gravity (0.0, 0.0, -9.81)>"


def test_names_are_generated():
    model = Model()
    a, b = model.add(body()), model.add(body())
    model.add(body("body 3"))
    c = model.add(body())
    p = model.add(PointMass(mass=1.0, position=(0, 0, 1)))
    g = model.add(Generalized(coordinates=1.0))
    hinge = model.add(Revolute(a, b, at=(0, 0, 0), axis=(0, 0, 1)))
    spring = model.add(TorsionSpring(hinge, 1.0))
    names = [element.name for element in (a, b, c, p, g, hinge, spring)]
    assert names == [
        "body 1",
        "body 2",
        "body 4",
        "point mass 1",
        "generalized body 1",
        "revolute 1",
        "torsion spring 1",
    ]
    assert model.copy().add(body()).name == "body 5"


def add_twice(model):
    model.add(model.add(body("a")))


def add_to_two_models(model):
    Model("other").add(model.add(body("a")))


def add_same_name(model):
    model.add(body("a"))
    model.add(Spherical(model.ground, model["a"], at=(0, 0, 0), name="a"))


def joint_before_body(model):
    model.add(Spherical(model.ground, body("a"), at=(0, 0, 0)))


def joint_with_foreign_body(model):
    foreign = Model("other").add(body("a"))
    model.add(Spherical(model.ground, foreign, at=(0, 0, 0)))


def joint_with_foreign_ground(model):
    model.add(Spherical(Model("other").ground, model.add(body("a")), at=(0, 0, 0)))


def spring_on_a_joint_not_added(model):
    a = model.add(body("a"))
    model.add(TorsionSpring(Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 0, 1)), 1.0))


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (add_twice, ("model 'm'", "body 'a'", "already")),
        (add_to_two_models, ("model 'other'", "body 'a'", "model 'm'", "copy()")),
        (add_same_name, ("model 'm'", "'a'", "taken by a body", "another name")),
        (lambda m: m.add(body("ground")), ("'ground'", "taken by the ground")),
        (lambda m: m.add(Ground()), ("model 'm'", "model.ground")),
        (joint_before_body, ("spherical of 'ground' and 'a'", "body 'a'", "added first", "model.add(")),
        (joint_with_foreign_body, ("spherical", "body 'a'", "another model 'other'")),
        (joint_with_foreign_ground, ("spherical", "ground", "its own model.ground")),
        (spring_on_a_joint_not_added, ("torsion spring", "revolute of 'ground' and 'a'", "added first")),
        (lambda m: m.add(RotationVector()), ("model 'm'", "node=", "mbd.RigidBody")),
        (lambda m: m.add(RigidBody), ("model 'm'", "RigidBody(...)")),
        (lambda m: m.add(5), ("model 'm'", "cannot add 5", "a body, a joint or a force")),
        (lambda m: m[m.add(body("pendulum")).name + "m"], ("'pendulumm'", "did you mean 'pendulum'?")),
        (lambda m: m["x"], ("'x'", "expected one of 'ground'")),
        (lambda m: m[["x"]], ("no element",)),
        (lambda m: Model("n", gravity=(0, 0)), ("model 'n'", "gravity", "3 numbers")),
        (lambda m: Model("n", gravity=9.81), ("model 'n'", "gravity = 9.81", "3 numbers")),
        (lambda m: setattr(m, "gravity", (0, 0, math.nan)), ("model 'm'", "gravity", "finite")),
        (lambda m: Model(5), ("model", "name = 5")),
        (lambda m: m.with_nodes({"tpo": Quaternion}), ("'tpo'",)),
        (lambda m: m.with_nodes({"ground": Quaternion}), ("ground", "no node", "names of bodies")),
    ],
)
def test_bad_use_is_refused(act, words):
    with pytest.raises(ModelError) as caught:
        act(Model("m"))
    for word in words:
        assert word in str(caught.value)


def test_a_refused_element_leaves_no_trace():
    model = Model()
    stray = body("a")
    joint = Spherical(model.ground, stray, at=(0, 0, 0))
    with pytest.raises(ModelError):
        model.add(joint)
    assert model.joints == []
    model.add(stray)
    model.add(joint)
    assert joint.name == "spherical 1"


def assert_independent_copy(model, twin):
    assert twin.name == model.name
    assert np.array_equal(twin.gravity, model.gravity)
    for mine, theirs in ((model.bodies, twin.bodies), (model.joints, twin.joints), (model.forces, twin.forces)):
        assert [element.name for element in mine] == [element.name for element in theirs]
        assert all(x is not y and y.model is twin and x.model is model for x, y in zip(mine, theirs, strict=True))
    for x, y in zip(model.joints, twin.joints, strict=True):
        assert all(b in twin for b in y.bodies)
        assert [b.name for b in x.bodies] == [b.name for b in y.bodies]
        for attribute in ("point_a", "point_b", "frame_a", "frame_b"):
            assert np.array_equal(getattr(x, attribute), getattr(y, attribute))
    for x, y in zip(model.forces, twin.forces, strict=True):
        assert all(b in twin for b in y.bodies)
        assert all(j in twin for j in y.joints)
        assert [r.parameters for r in x.rows()] == [r.parameters for r in y.rows()]


def test_copy():
    model = four_bar()
    twin = model.copy()
    assert_independent_copy(model, twin)
    twin.add(body("extra"))
    twin.gravity = (0, 0, 0)
    assert "extra" not in model
    assert model.gravity.any()
    assert all(x.node is not y.node for x, y in zip(model.bodies, twin.bodies[:-1], strict=True))


@pytest.mark.parametrize("node", [Quaternion, Directors, RotationVector, EulerAngles, EulerAngles(sequence="zyx")])
def test_with_nodes_keeps_pose_and_velocity(node):
    model = four_bar()
    mass = model.add(PointMass("p", 1.0, (0, 0, 1)))
    model.add(Distance(model.ground, mass))
    model.add(Generalized("g", 1.0))
    twin = model.with_nodes(node)
    assert_independent_copy(model, twin)
    for x, y in zip(model.bodies[:3], twin.bodies[:3], strict=True):
        assert type(y.node) is (node if isinstance(node, type) else type(node))
        for attribute in ("position", "rotation", "velocity", "angular_velocity", "inertia", "com"):
            assert np.array_equal(getattr(x, attribute), getattr(y, attribute))
    assert isinstance(twin["p"].node, Point)


def test_with_nodes_by_name():
    model = four_bar()
    mixed = model.with_nodes({"link 0": Directors, model["link 1"]: Quaternion(lie=True)})
    assert [type(b.node) for b in mixed.bodies] == [Directors, Quaternion, RotationVector]
    assert mixed["link 1"].node.lie
    assert all(isinstance(b.node, RotationVector) for b in model.bodies)


def test_with_nodes_names_the_body_it_cannot_convert():
    model = four_bar()
    model.add(PointMass("p", 1.0))
    with pytest.raises(ModelError, match="body 'p'.*Point.*Quaternion"):
        model.with_nodes({"p": Quaternion})
    with pytest.raises(ModelError, match="body 'link 0'.*Point"):
        model.with_nodes(Point)
    with pytest.raises(SingularityError, match="body 'a'.*gimbal lock"):
        upright = Model()
        upright.add(body("a"))
        upright.with_nodes(EulerAngles(sequence="zxz"))


def test_graph_and_loops():
    model = four_bar()
    graph = model.graph
    assert set(graph) == {"ground", "link 0", "link 1", "link 2"}
    assert graph.number_of_edges() == 4
    assert graph.edges["ground", "link 0", "revolute 1"]["joint"] is model.joints[0]
    assert graph.nodes["link 1"]["body"] is model["link 1"]
    assert model.loops == 1
    tree = model.spanning_tree()
    assert set(tree) == set(graph)
    assert tree.number_of_edges() == 3
    assert {key for *_, key in tree.edges(keys=True)} < {joint.name for joint in model.joints}
    model.add(Distance(model["link 0"], model["link 1"]))  # a second joint between the same bodies
    assert model.loops == 2
    model.add(body("free"))
    assert model.loops == 2
    assert model.spanning_tree().degree("free") == 0


def test_loops_agree_with_networkx():
    import networkx

    rng = np.random.default_rng(5)
    model = Model()
    bodies = [model.ground, *(model.add(body(position=rng.normal(size=3))) for _ in range(30))]
    for _ in range(45):
        a, b = rng.choice(len(bodies), 2, replace=False)
        model.add(Distance(bodies[a], bodies[b]))
    parts = networkx.number_connected_components(model.graph)
    assert model.loops == 45 - 31 + parts
    assert model.spanning_tree().number_of_edges() == 31 - parts


def test_models_can_be_pickled():
    model = four_bar()
    model["link 0"].shape = shapes.Box((1, 2, 3))
    twin = pickle.loads(pickle.dumps(model))
    assert_independent_copy(model, twin)


def test_errors_keep_their_attributes():
    error = ConvergenceError("no", step=3, time=0.5, where="top", solution=[1])
    twin = pickle.loads(pickle.dumps(error))
    assert (str(twin), twin.step, twin.time, twin.where, twin.solution) == ("no [MBD-E07]", 3, 0.5, "top", [1])
    assert isinstance(error, MbdError)
    assert issubclass(ModelError, ValueError)
    singular = SingularityError("lock", body="top", time=1.0)
    assert (singular.body, singular.time, singular.solution) == ("top", 1.0, None)


def build_chain(count):
    model = Model()
    last = model.ground
    for k in range(count):
        link = model.add(body(f"link {k}", (k + 0.5, 0, 0)))
        model.add(Revolute(last, link, at=(k, 0, 0), axis=(0, 1, 0)))
        last = link
    return model


def test_building_takes_the_same_work_per_element_at_any_size():
    work = {count: calls(lambda count=count: build_chain(count)) / count for count in (100, 400)}
    assert work[400] < 1.02 * work[100]


def test_importing_the_model_layer_is_light():
    code = "import sys, mbd.model; print([m for m in ('scipy', 'networkx', 'numba', 'pyvista') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_model_as_people_read_it():
    """A table when it is printed, a name in sentences; it can be counted and gone through, and an empty one is true."""
    model = mbd.Model("crane")
    assert model and len(model) == 0 and list(model) == []
    arm = model.add(mbd.RigidBody("arm", model.parameter("m", 2.5), (1, 1, 1), mbd.nodes.RotationVector((1, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    motor = model.add(mbd.forces.JointForce(hinge, 1.0, name="motor"))
    assert len(model) == 3 and list(model) == [arm, hinge, motor]
    assert f"{model}" == "model 'crane'" and f"{model:>15}" == "  model 'crane'"
    lines = str(model).splitlines()
    assert lines[0].startswith("Model 'crane': 1 body, 1 joint, 1 force")
    assert any(line.split() == ["arm", "RigidBody", "2.5", "(1,", "0,", "0)", "RotationVector"] for line in lines)
    assert any(line.split() == ["hinge", "Revolute", "ground", "-", "arm", "5"] for line in lines)
    assert any(line.split() == ["motor", "JointForce", "hinge"] for line in lines)
    assert any(line.split() == ["m", "parameter", "2.5"] for line in lines)
    model.add(Generalized("sliders", (0.1, 0.2), mass=np.diag((1.0, 2.0))))
    assert any(line.split()[:2] == ["sliders", "Generalized"] for line in str(model).splitlines())
    model.remove("sliders")
    for k in range(100):
        model.add(mbd.PointMass(f"point {k}", 1.0, (k, 0, 0)))
    text = str(model)
    assert "... 71 more" in text and "point 99" in text and "point 50" not in text
    model.remove("motor")
    assert "motor" not in model and len(model) == 102


def test_solution_as_people_read_it():
    model = mbd.benchmarks.heavy_top().model
    solution = mbd.simulate(model, 0.1, 1e-2)
    assert str(solution) == solution.summary() and "energy balance" in str(solution) and "wall_time" in str(solution)
    assert f"{solution}" == repr(solution)
    assert "records of position, velocity" in repr(solution["top"])
    assert "records of force, torque, multipliers" in repr(solution[model.joints[0]])
