"""A system that follows its parameters has, bit for bit, the tables of a fresh model: every class, every number."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.compiled.functions.code import STATISTICS
from mbd.compiled.record import Record
from mbd.compiled.settings import PUBLIC
from mbd.elements.attributes import changeable
from mbd.system.numbers import numbers_of
from tests.elements import test_attributes as known

COORDINATES = ("absolute", "joint")
ADDRESSES = ("entries", "functions", "inner", "place")  # which are others in every system
START_ONLY = ("range", "effort", "speed")  # for information
BOTH = pytest.mark.parametrize("coordinates", COORDINATES)


def numbers(record, path=""):
    """All arrays of a record and of those inside it, as bytes."""
    for name in record.fields:
        x = getattr(record, name)
        if isinstance(x, Record):
            yield from numbers(x, f"{path}{name}.")
        elif name not in ADDRESSES and isinstance(x, np.ndarray):
            yield f"{path}{name}", (numbers_of(x) if x.dtype.names else x).tobytes()


def everything(system):
    """All that a run depends on."""
    found = dict(numbers(system.tables))
    if system.assembly.inner is not None:
        found |= {f"inner.{name}": x for name, x in numbers(system.assembly.inner)}
    q, v = system.initial_state()
    found |= {"q": q.tobytes(), "v": v.tobytes(), "z": system.new_work().z.tobytes()}
    found["turns"] = [float(x) for x in system.assembly.turns]
    found |= {"length": system.length, "identity": system.identity}
    return found


def assert_same(system, fresh):
    one, other = everything(system), everything(fresh)
    assert one.keys() == other.keys()
    assert [name for name in one if one[name] != other[name]] == []


def in_coordinates(model, coordinates):
    return model.with_coordinates(coordinates) if coordinates == "joint" else model


def numeric(x):
    return not isinstance(x, bool | str) and not callable(x) and np.asarray(x).dtype.kind in "if"


def cases():
    for name in known.FACTORIES:
        model, element = known.made(name)
        for attribute in changeable(type(element)):
            if attribute in ("name", "pinned", *START_ONLY) or (name, attribute) in known.REFUSED:
                continue
            yield pytest.param(name, attribute, id=f"{name}-{attribute}")


def other_value(name, attribute):
    special = {"force": 0.7, "torque": 0.9, "branch": 0.4}
    if (name, attribute) == ("Generalized", "force"):  # a function of the coordinates, of which there is no number
        return known.OTHER_OF[name, attribute]
    return special.get(attribute, known.OTHER_OF.get((name, attribute), known.OTHER.get(attribute)))


@pytest.mark.filterwarnings("ignore")
@BOTH
@pytest.mark.parametrize(("name", "attribute"), list(cases()))
def test_every_attribute_of_every_element(name, attribute, coordinates):
    """Fast is fresh: an attribute that is set through a handle, and one that is assigned before the assembly."""
    model, element = known.made(name)
    new = other_value(name, attribute)
    path = f"{element.name}.{attribute}" if name not in known.NODES else f"c.node.{attribute}"
    system = mbd.assemble(in_coordinates(model, coordinates))
    if not numeric(new):
        with pytest.raises(mbd.ModelError, match=r"no number|expected a number"):
            system.parameters([path]).set({path: new})
        return
    try:
        handle = system.parameters([path])
    except mbd.ModelError as error:  # a function, or a motion, at present
        assert "no number" in str(error)
        return
    fresh, twin = known.made(name)
    try:
        setattr(twin, attribute, new)
    except mbd.ModelError:  # a joint without an angle, of which one could be nearest to the start
        with pytest.raises(mbd.ModelError, match=attribute):
            handle.set({path: new})
        assert_same(handle.system, system)
        return
    made = STATISTICS["compiled"]
    handle.set({path: new})
    assert STATISTICS["compiled"] == made
    assert_same(handle.system, mbd.assemble(in_coordinates(fresh, coordinates)))


def choice(p, one, other):
    return one if p == 0.0 else other


def arguments():
    for name in known.FACTORIES:
        model, element = known.made(name)
        for attribute in changeable(type(element)):
            if attribute in (*known.WITHOUT_ARGUMENT, "shape") or (name, attribute) in known.REFUSED:
                continue
            if numeric(other_value(name, attribute)):
                yield pytest.param(name, attribute, id=f"{name}-{attribute}")


@pytest.mark.filterwarnings("ignore")
@BOTH
@pytest.mark.parametrize(("name", "attribute"), list(arguments()))
def test_every_argument_of_every_element(name, attribute, coordinates):
    """Fast is fresh: an argument that is a parameter, and a model that is built with its value."""
    argument, new = known.ARGUMENT.get((name, attribute), attribute), other_value(name, attribute)
    first, element = known.made(name)
    old = getattr(element, attribute)
    old = old.value if hasattr(old, "function") and attribute == "motion" else old
    if attribute == "motions":
        old = tuple(part.value for part in old)
    model, a, b = known.stage()
    p = model.parameter("p", 0.0)
    model.add(known.FACTORIES[name](model, a, b, **{argument: mbd.calculated(choice, p, old, new)}))
    system = mbd.assemble(in_coordinates(model, coordinates))
    assert_same(system, mbd.assemble(in_coordinates(first, coordinates)))
    before = everything(system)
    system.set_parameters({"p": 1.0})
    fresh = known.made(name, **{argument: new})[0]
    assert_same(system, mbd.assemble(in_coordinates(fresh, coordinates)))
    assert attribute in known.UNSEEN or everything(system) != before
    system.set_parameters({"p": 0.0})
    assert everything(system) == before


# --- what elements take from the bodies and joints to which they refer


def parametric_stage(numbers_of_bodies, with_parameters):
    """The stage of the attributes with all numbers of its bodies, and gravity, given by six parameters."""
    model = mbd.Model("stage")
    p = {n: model.parameter(n, x) if with_parameters else x for n, x in numbers_of_bodies.items()}
    model.gravity = (0.0, p["g"], -9.81)
    bodies = []
    for k, label in enumerate("ab"):
        turn = mbd.calculated(turned, p["turn"])
        node = mbd.nodes.Quaternion((k + p["x"], 0.2, 0.1), turn, (0, p["speed"], 0), (1, 2, p["speed"]))
        com = (0.0, p["com"], 0.0)
        bodies.append(model.add(mbd.RigidBody(label, p["m"], (p["m"], 1.2 * p["m"], 1.5 * p["m"]), node, com)))
    return model, *bodies


def turned(angle):
    return mbd.rotation((0.3, -0.2, angle))


FIRST = {"m": 2.0, "x": 0.0, "turn": 0.5, "speed": 0.3, "com": 0.0, "g": 0.0}
SECOND = {"m": 3.1, "x": 0.4, "turn": 0.7, "speed": -0.2, "com": 0.15, "g": 0.6}


def of_time(t):
    return 0.1 * np.sin(t)


def three_of_time(t):
    return np.array((0.1 * t, 0.0, np.sin(t)))


def of_frames(t, frames, velocities):
    return np.array((frames[0, 0], t, velocities[0, 1]))


WITH_FUNCTIONS = {
    "JointForce of time": lambda m, a, b: mbd.forces.JointForce(known.hinge(m, a, b), of_time),
    "JointForce of the joint": lambda m, a, b: mbd.forces.JointForce(known.hinge(m, a, b), lambda t, u, w: t - u * w),
    "PDControl of time": lambda m, a, b: mbd.forces.PDControl(
        known.hinge(m, a, b), of_time, kp=3.0, feedforward=of_time
    ),
    "Motor of the joint": lambda m, a, b: mbd.forces.Motor(
        known.hinge(m, a, b), lambda t, u, w: t - u, rotor_inertia=0.1
    ),
    "Force of time": lambda m, a, b: mbd.forces.Force(a, three_of_time, (0.1, 0, 0), "body"),
    "Force of frames": lambda m, a, b: mbd.forces.Force(a, of_frames, (0.1, 0.2, 0)),
    "AngleDriver of time": lambda m, a, b: mbd.joints.AngleDriver(a, b, axis=known.AXIS, value=of_time),
    "AngleDriver on a joint": lambda m, a, b: mbd.joints.AngleDriver.on(known.hinge(m, a, b), of_time),
    "DrivenFrame of time": lambda m, a, b: mbd.joints.DrivenFrame(a, b, displacement=three_of_time, angle=of_time),
    "Spring of its own length": lambda m, a, b: mbd.forces.Spring(a, b, stiffness=3.0),
    "Distance of its own length": lambda m, a, b: mbd.joints.Distance(a, b),
    "Revolute with a zero": lambda m, a, b: mbd.joints.Revolute(a, b, at=known.AT, axis=known.AXIS, zero=0.4),
    "PointOnLine": lambda m, a, b: mbd.joints.PointOnLine(a, b, at=known.AT, axis=known.AXIS),
    "Cylindrical": lambda m, a, b: mbd.joints.Cylindrical(a, b, at=known.AT, axis=known.AXIS),
    "Planar": lambda m, a, b: mbd.joints.Planar(a, b, at=known.AT, axis=known.AXIS),
}


@pytest.mark.filterwarnings("ignore")
@BOTH
@pytest.mark.parametrize("name", [*known.JOINTS, *known.FORCES, *WITH_FUNCTIONS])
def test_elements_follow_their_bodies(name, coordinates):
    """Places of joints, default lengths, branches, weights: whatever an element took from bodies when it was made."""

    def made(values, with_parameters):
        model, a, b = parametric_stage(values, with_parameters)
        model.add((known.FACTORIES | WITH_FUNCTIONS)[name](model, a, b))
        return mbd.assemble(in_coordinates(model, coordinates))

    system, before = made(FIRST, True), made(FIRST, False)
    assert_same(system, before)
    for changed in ({"m": 3.1}, {"x": 0.4, "turn": 0.7}, SECOND, FIRST):
        system.set_parameters(changed)
        fresh = made(system.values, False)
        assert_same(system, fresh)
    q, v = fresh.initial_state()
    for question in ("forces", "constraint_velocity"):
        assert np.array_equal(getattr(system, question)(q, v, 0.3), getattr(fresh, question)(q, v, 0.3))


# --- whole runs


def crane(p, model):
    """A trolley with a driven hoist: bodies, joints, forces, control and own functions, all with parameters."""
    model.gravity = (0.0, 0.0, -p["g"])
    trolley = model.add(mbd.PointMass("trolley", 2.0 * p["m"], position=(p["x"], 0, 0)))
    load = model.add(
        mbd.RigidBody(
            "load", p["m"], (0.1, 0.1 * p["m"], 0.05), mbd.nodes.RotationVector((p["x"] + 0.3, 0, -p["length"]))
        )
    )
    model.add(mbd.joints.PointOnLine(model.ground, trolley, at=(p["x"], 0, 0), axis=(1, 0, 0)))
    model.add(mbd.joints.Distance(trolley, load, point_b=(0, 0, 0.2)))
    model.add(mbd.forces.Spring(model.ground, trolley, stiffness=p["k"] ** 2, length=0.5 * p["x"], damping=0.3))
    k, m = p["k"], p["m"]

    def drag(t, frames, velocities):
        out = np.zeros_like(velocities)
        out[0, 0] = -0.01 * k * velocities[0, 0] + 0.1 * m * np.sin(k * t)
        return out

    model.add(mbd.forces.UserForce(load, drag))
    model.add(mbd.forces.Force(load, lambda t: (0.0, 0.02 * k * t, 0.0)))
    return model


CRANE = {"m": 1.0, "g": 9.81, "x": 0.5, "length": 1.0, "k": 3.0}


def crane_model(values, with_parameters):
    model = mbd.Model("crane")
    return crane({n: model.parameter(n, x) if with_parameters else x for n, x in values.items()}, model)


def random_values(rng):
    return {name: x * rng.uniform(0.7, 1.4) for name, x in CRANE.items()}


@pytest.mark.filterwarnings("ignore::mbd.AccuracyWarning")
@pytest.mark.parametrize("method", [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()], ids=lambda m: m.name)
def test_runs_are_those_of_fresh_models(method):
    """Positions, velocities, multipliers and energies, bit for bit; nothing is compiled."""
    handle = mbd.assemble(crane_model(CRANE, True)).parameters(list(CRANE))
    run, rng = handle.run(0.3, 0.01, method), np.random.default_rng(3)
    run()
    compiled = STATISTICS["compiled"]
    for _ in range(4):
        values = random_values(rng)
        fast, fresh = run(values), mbd.simulate(crane_model(values, False), 0.3, 0.01, method)
        for name in ("t", "q", "v", "lam"):
            assert np.array_equal(getattr(fast, name), getattr(fresh, name)), name
        assert np.array_equal(fast.energy.total, fresh.energy.total)
        assert np.array_equal(fast["trolley"].position, fresh["trolley"].position)
    assert PUBLIC or STATISTICS["compiled"] == compiled


def arm(length, zero, with_parameters=False):
    """An arm whose hinge is moved in it by its length; what the hinge shows at the start is given."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    if with_parameters:
        length, zero = model.parameter("length", length), model.parameter("zero", zero)
    rod = model.add(mbd.RigidBody("rod", 1.0, (0.1, 0.1, 0.1), mbd.nodes.Quaternion((length, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, rod, at=(0, 0, 0), axis=(0, 1, 0), name="hinge", zero=zero))
    return model


@BOTH
def test_states_belong_to_the_numbers_with_which_they_were_made(coordinates):
    """Other numbers make another system of the same tables; a state that was taken before does not become its own."""
    first, second = (1.0, 0.2), (1.4, 5.0)
    handle = mbd.assemble(in_coordinates(arm(*first, True), coordinates)).parameters(["length", "zero"])
    run = handle.run(0.1, 0.01)
    taken = run(first).state
    run(second)
    assert handle.system.identity == mbd.assemble(in_coordinates(arm(*second), coordinates)).identity
    mbd.simulate(in_coordinates(arm(*first), coordinates), 0.2, 0.01, start=taken)
    for other in (second, (1.0, 5.0)):
        with pytest.raises(mbd.ModelError, match=r"'hinge' shows 5 in the initial configuration here and 0\.2 in"):
            mbd.simulate(in_coordinates(arm(*other), coordinates), 0.2, 0.01, start=taken)
    simulator = mbd.Simulator(in_coordinates(arm(*first, True), coordinates), 0.01)
    simulator.step()
    taken = simulator.state
    simulator.reset(length=1.4)
    with pytest.raises(mbd.ModelError, match="another point, axis or direction|does not fit revolute 'hinge'"):
        simulator.set_state(taken)


def test_solutions_of_prepared_runs_say_when_they_are_over():
    run = mbd.assemble(crane_model(CRANE, True)).parameters(["k"]).run(0.1, 0.01)
    first = run([3.0])
    kept = first.energy.total.copy()
    run([4.0])
    assert np.array_equal(first.energy.total, kept)  # computed before
    with pytest.raises(mbd.ModelError, match="have been changed for another one"):
        _ = first["load"].velocity


def test_inputs_of_prepared_runs_are_their_own():
    model = mbd.Model("pushed")
    model.add(mbd.forces.Force(model.add(mbd.PointMass("body", 1.0)), (model.input("u"), 0, 0)))
    run = mbd.assemble(model).parameters(["u"]).run(0.1, 0.01)
    first = run([3.0])
    assert set(first.inputs["u"]) == {3.0}
    assert set(run([4.0]).inputs["u"]) == {4.0}
    for read in (lambda: first.inputs, lambda: first.channel("inputs.u")):
        with pytest.raises(mbd.ModelError, match="have been changed for another one"):
            read()


def test_a_model_follows_as_its_systems_do():
    model = crane_model(CRANE, True)
    other = random_values(np.random.default_rng(4))
    for copied in (model.copy(), model.with_nodes(mbd.nodes.Quaternion), model.with_coordinates("joint")):
        fresh = crane_model(other, False)
        if isinstance(copied["load"].node, mbd.nodes.Quaternion):
            fresh = fresh.with_nodes(mbd.nodes.Quaternion)
        copied.parameters.update(other)
        assert_same(mbd.assemble(copied), mbd.assemble(fresh._in_coordinates_of(copied)))
    assert dict(model.parameters) == CRANE
    assert_same(mbd.assemble(model), mbd.assemble(crane_model(CRANE, False)))


# --- refusals


def test_what_changes_the_structure_is_refused_and_changes_nothing():
    model = mbd.Model()
    p, inertia = model.parameter("p", 0.3), model.parameter("inertia", 0.1)
    a = model.add(mbd.RigidBody("a", 1.0, (1, 1, 1)))
    screw = model.add(mbd.joints.Screw(model.ground, a, at=(0, 0, 0), axis=(0, 0, 1), pitch=p))
    model.add(mbd.forces.Motor(screw, coordinate="angle", rotor_inertia=inertia, name="motor"))
    system = mbd.assemble(model)
    before = everything(system)
    with pytest.raises(mbd.ModelError, match=r"screw 'screw 1'.*another system"):
        system.set_parameters({"p": 0.0})
    with pytest.raises(mbd.ModelError, match=r"motor 'motor': rotor_inertia = 0\.0; .*Build the model again"):
        system.set_parameters({"inertia": 0.0})
    with pytest.raises(mbd.ModelError, match=r"model.*'p'.*expected a number"):
        system.set_parameters({"p": "much"})
    with pytest.raises(mbd.ModelError, match="no parameter or input 'q'.*did you mean|it has 'p'"):
        system.set_parameters({"q": 1.0})
    with pytest.raises(mbd.ModelError, match="no element is named 'aa'"):
        system.parameters(["aa.mass"])
    with pytest.raises(mbd.ModelError, match="named twice"):
        system.parameters(["p", "p"])
    assert everything(system) == before and system.values == {"p": 0.3, "inertia": 0.1}
    handle = system.parameters(["a.mass", "p"])
    with pytest.raises(mbd.ModelError, match="another system"):
        handle.set({"a.mass": 2.0, "p": 0.0})
    assert_same(handle.system, system)


def test_later_moves_are_not_forgotten():
    """An element that has to be made again must find its bodies where they were."""
    model = mbd.Model()
    x = model.parameter("x", 1.0)
    a = model.add(mbd.RigidBody("a", 1.0, (1, 1, 1), mbd.nodes.Quaternion((x, 0, 0))))
    b = model.add(mbd.RigidBody("b", 1.0, (1, 1, 1)))
    joint = model.add(mbd.joints.Spherical(a, b, at=(0, 0, 0)))
    model.parameters["x"] = 2.0
    assert joint.point_a.tolist() == [-2.0, 0.0, 0.0]
    b.position = (0, 0, 1)
    with pytest.raises(mbd.ModelError, match=r"position of body 'b' was assigned after spherical"):
        model.parameters["x"] = 3.0
    assert model.parameters["x"] == 2.0 and a.position[0] == 2.0


def test_assignments_are_repeated():
    model = mbd.Model()
    x, m = model.parameter("x", 1.0), model.parameter("m", 1.0)
    body = model.add(mbd.RigidBody("a", m, (1, 1, 1)))
    body.node.velocity = (1, 0, 0)
    body.position = (x, 2.0 * x, 0)
    body.com = (0.1, 0, 0)
    spring = model.add(mbd.forces.Spring(model.ground, body, stiffness=m))
    spring.damping = 0.4
    assert spring.length == np.sqrt(5.0)
    model.parameters.update(x=2.0, m=3.0)
    assert body.position.tolist() == [2, 4, 0] and body.velocity.tolist() == [1, 0, 0] and body.com[0] == 0.1
    assert (body.mass, spring.stiffness, spring.damping, spring.length) == (3.0, 3.0, 0.4, np.sqrt(20.0))


def test_inputs_of_a_model_that_was_placed_can_be_changed():
    """What is given for a force is assigned; elements with points in space would have to be made again, and are not."""
    model = mbd.Model("pushed")
    u, k = model.input("u", 1.0), model.parameter("k", 2.0)
    body = model.add(mbd.RigidBody("body", 2.0, (1, 1, 1)))
    model.add(mbd.forces.Force(body, (u, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, body, stiffness=k, length=0.0, name="spring"))
    placed = mbd.model_at(mbd.simulate(model, 0.1, 0.01))
    with pytest.raises(mbd.ModelError, match="before the run"):
        placed.set_parameters({"k": 3.0})
    placed.set_parameters({"u": 5.0})
    start = placed["body"].position[0]
    acceleration = mbd.simulate(placed, 0.01, 0.01)["body"].acceleration[0, 0]
    assert acceleration == pytest.approx((5.0 - 2.0 * start) / 2.0, rel=1e-12)


def refusing(with_parameters, p=1.0, q=1.0):
    """Elements that hold objects of their own, and one at their end that refuses a negative q."""
    model = mbd.Model("refusing")
    if with_parameters:
        p, q = model.parameter("p", p), model.parameter("q", q)
    model.add(mbd.PointMass("ball", 1.0, position=(p, 0, 0), velocity=(0, p, 0)))
    body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1)))
    body.position = (0, p, 0)
    body.node.velocity = (0, 0, p)
    hinge = model.add(mbd.joints.Revolute(model.ground, body, axis=(0, 0, 1), at=(0, 0, 0)))
    model.add(mbd.forces.Motor(hinge, rotor_inertia=p, name="motor"))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=q))
    return model


@BOTH
def test_what_is_refused_leaves_nothing_behind(coordinates):
    """Nodes of bodies and rotors of motors were changed already when the spring was asked."""
    model = in_coordinates(refusing(True), coordinates)
    system = mbd.assemble(model)
    for owner in (model, system):
        with pytest.raises(mbd.ModelError, match="stiffness = -1"):
            owner.set_parameters({"p": 2.0, "q": -1.0})
    for changed in ({}, {"q": 3.0}, {"p": 1.5}):
        for owner in (model, system):
            owner.set_parameters(changed)
        fresh = mbd.assemble(in_coordinates(refusing(False, **dict(model.parameters)), coordinates))
        assert_same(system, fresh)
        assert_same(mbd.assemble(model), fresh)


def test_attributes_that_are_made_of_parameters():
    """One that was assigned stays, whatever was set before; one whose value was refused goes on to follow."""

    def made(p=2.0, mass=None):
        model = mbd.Model()
        parameter = model.parameter("p", p)
        body = model.add(mbd.RigidBody("body", parameter, (1, 1, 1), com=(0.0, 0.1 * parameter, 0.0)))
        if mass is not None:
            body.mass = mass
        return model

    handle = mbd.assemble(made()).parameters(["p", "body.mass", "body.com"])
    handle.set({"p": 3.0})
    with pytest.raises(mbd.ModelError, match="mass = -1"):
        handle.set({"p": 2.5, "body.com": (1, 0, 0), "body.mass": -1.0})
    assert_same(handle.system, mbd.assemble(made(3.0)))
    for changed, expected in (({"p": 4.0}, (4.0, None)), ({"body.mass": 8.0}, (4.0, 8.0)), ({"p": 5.0}, (5.0, 8.0))):
        handle.set(changed)
        assert_same(handle.system, mbd.assemble(made(*expected)))


def test_names_and_values_of_other_kinds_are_refused():
    """A single name is no list of letters, which might be names as well."""
    model = refusing(True)
    system = mbd.assemble(model)
    assert system.parameters("p").names == system.parameters(model._parameters["p"]).names == ("p",)
    with pytest.raises(mbd.ModelError, match="no parameter or input 'pq'"):
        system.parameters("pq")
    for names in (3, None, [["p"]], [b"p"]):
        with pytest.raises(mbd.ModelError, match="parameters = .*expected parameters or their names"):
            system.parameters(names)
    for names in (3, [["p"]], [1.0]):
        with pytest.raises(mbd.ModelError, match="sensitivities = .*expected parameters or their names"):
            mbd.simulate(model, 0.1, 0.01, sensitivities=names)
    for values in (None, 3.0, "pq"):
        with pytest.raises(mbd.ModelError, match="values = .*expected numbers for p, q"):
            system.parameters(["p", "q"]).set(values)
    for values in (None, [("p", 3.0)]):
        with pytest.raises(mbd.ModelError, match="parameters = .*expected numbers by name"):
            model.set_parameters(values)
