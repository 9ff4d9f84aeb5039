"""Parameters and inputs: expressions while a model is built, numbers in functions, refused where they would be lost."""

from __future__ import annotations

import copy
import functools
import math
import pickle
import warnings

import numpy as np
import pytest

import mbd
from mbd.elements.values import in_force
from tests.counting import calls


def model_with(**numbers):
    model = mbd.Model("m")
    return model, *(model.parameter(name, x) for name, x in numbers.items())


@pytest.mark.parametrize(
    "expression",
    [
        lambda k, m: 2.0 * k + m, lambda k, m: (k - m) / 3.0, lambda k, m: 1.0 / k - m, lambda k, m: k**m,
        lambda k, m: 2.0**k,
        lambda k, m: -k, lambda k, m: abs(-m), lambda k, m: np.sin(k) * np.hypot(k, m), lambda k, m: k % m,
        lambda k, m: np.array((1.0, 2.0)) * k, lambda k, m: k * np.array((1.0, 2.0)),
        lambda k, m: (np.array((1.0, 2.0)) * k)[1], lambda k, m: mbd.calculated(math.atan2, k, m),
    ],
)  # fmt: skip
def test_expressions_are_what_python_computes(expression):
    _, k, m = model_with(k=1.7, m=0.6)
    value = expression(k, m)
    assert np.array_equal(value.value, expression(1.7, 0.6))
    with in_force({"k": 2.0, "m": 3.0}):
        assert np.array_equal(value.value, expression(2.0, 3.0))
        assert np.array_equal(expression(k, m), expression(2.0, 3.0))  # numbers, while something calculates
    assert np.array_equal(value.value, expression(1.7, 0.6))


def test_a_parameter_is_not_lost_without_a_word():
    model, k = model_with(k=1.7)
    comparisons = lambda x: x > 1.0, lambda x: x == 1.7, lambda x: x != 2, lambda x: x in [1.7]
    for use in (float, int, bool, math.sin, *comparisons, lambda x: np.asarray(x, dtype=float)):
        with pytest.raises((TypeError, ValueError)) as told:
            use(k)
        assert "is a parameter, which is no plain number" in f"{told.value} {told.value.__cause__}"
    with pytest.raises(mbd.ModelError, match="Box: size"):
        mbd.shapes.Box((k, 1, 1))
    with pytest.raises(TypeError):
        list(k)


def test_expressions_show_how_they_are_computed_and_their_number():
    model, k = model_with(k=1.5)
    u = model.input("u", 0.5)
    shown = {
        "<expression (2 * k) + 1 = 4>": 2 * k + 1,
        "<expression abs(k - u) / 4.0 = 0.25>": abs(k - u) / np.float64(4.0),
        "<expression sin(u) = 0.479426>": np.sin(u),
        "<expression array((k, 0, 0)) = [1.5 0. 0. ]>": mbd.calculated(np.array, (k, 0, 0)),
        "<expression 1 / (k - 1.5), which has no value>": 1 / (k - 1.5),
    }
    assert [repr(x) for x in shown.values()] == [*shown]
    model.parameters["k"] = 2.5
    assert repr(2 * k + 1) == "<expression (2 * k) + 1 = 6>"
    with pytest.raises(mbd.ModelError, match=r"Box: size = .*<expression k \+ 1 = 3.5>.*mbd.calculated"):
        mbd.shapes.Box((k + 1, 1, 1))


def test_names_and_values_are_checked():
    model, k = model_with(k=1.7)
    with pytest.raises(mbd.ModelError, match="there is <parameter 'k' = 1.7> already"):
        model.input("k")
    for bad in ("much", math.nan, True, k):
        with pytest.raises(mbd.ModelError, match="value of 'c'"):
            model.parameter("c", bad)
    for bad in ("", 3):
        with pytest.raises(mbd.ModelError, match="name of the parameter"):
            model.parameter(bad, 1.0)
    with pytest.raises(mbd.ModelError, match="no parameter or input 'kk'"):
        model.parameters["kk"] = 1.0
    with pytest.raises(mbd.ModelError, match="cannot be removed"):
        del model.parameters["k"]
    assert dict(model.parameters) == {"k": 1.7}


def test_parameters_of_other_models_are_refused():
    model, k = model_with(k=1.7)
    other, _ = model_with(k=1.7)
    a = other.add(mbd.RigidBody("a", 1.0, (1, 1, 1)))
    with pytest.raises(mbd.ModelError, match="the parameter 'k' of another model"):
        other.add(mbd.forces.Spring(other.ground, a, point_a=(1, 0, 0), stiffness=k))
    spring = other.add(mbd.forces.Spring(other.ground, a, point_a=(1, 0, 0), stiffness=1.0))
    with pytest.raises(mbd.ModelError, match="the parameter 'k' of another model"):
        spring.stiffness = k
    with pytest.raises(mbd.ModelError, match="the parameter 'k' of another model"):
        other.gravity = (0, 0, k)
    bare = mbd.Model()
    b = bare.add(mbd.RigidBody("a", 1.0, (1, 1, 1)))
    bare.add(mbd.forces.Force(b, lambda t: (k * t, 0.0, 0.0), name="push"))
    with pytest.raises(mbd.ModelError, match=r"force 'push' refers to <parameter 'k' = 1.7>, which is none of"):
        mbd.assemble(bare)


@pytest.mark.parametrize("place", ["itself", "in a list", "in a function", "in an expression"])
def test_functions_with_parameters_of_the_same_name_of_other_models_are_refused(place):
    """The number of the other model would be meant, and that of this model would act."""
    _, k = model_with(k=1.7)
    held, inner, twice = [k], lambda t: k * t, 2.0 * k
    push = {
        "itself": lambda t: (k * t, 0.0, 0.0), "in a list": lambda t: (held[0] * t, 0.0, 0.0),
        "in a function": lambda t: (inner(t), 0.0, 0.0), "in an expression": lambda t: (twice * t, 0.0, 0.0),
    }[place]  # fmt: skip
    other, _ = model_with(k=0.3)
    other.add(mbd.forces.Force(other.add(mbd.PointMass("a", 1.0)), push, name="push"))
    with pytest.raises(mbd.ModelError, match=r"force 'push' refers to .*'k' = 1.7.* but of another one"):
        mbd.assemble(other)


def test_arrays_of_parameters_in_functions():
    """An array of Python objects is refused with the way out, which follows the parameter."""
    model, k = model_with(k=1.7)
    a = model.add(mbd.PointMass("a", 1.0))
    objects = np.array([k, 0.0, 0.0])
    with pytest.raises(mbd.ModelError, match=r"mbd.calculated\(np.array"):
        mbd.forces.Force(a, lambda t: objects * t)
    follows = mbd.calculated(np.array, (k, 2.0 * k, 0.0))
    model.add(mbd.forces.Force(a, lambda t: follows * t))
    model.parameters["k"] = 3.0
    assert np.allclose(
        mbd.simulate(model, 1.0, 0.01, mbd.integrators.RK4())["a"].position[-1], (0.5, 1.0, 0.0), atol=1e-12
    )


def test_inputs_are_numbers_and_set_together_or_not_at_all():
    model = mbd.Model("cart")
    u, w = model.input("u", 1.0), model.input("w", 2.0)
    model.add(mbd.forces.Force(model.add(mbd.PointMass("a", 1.0)), (u, w, 0)))
    inputs = mbd.assemble(model).inputs
    for wrong in ("3", True, None, 1j, [1.0], np.array([1.0]), float("nan"), 10**400, u):
        with pytest.raises(mbd.ModelError, match="input 'u'"):
            inputs["u"] = wrong
        with pytest.raises(mbd.ModelError, match="input 'u'"):
            inputs.update(w=5.0, u=wrong)
    with pytest.raises(mbd.ModelError, match="no parameter or input 'v'"):
        inputs.update(u=5.0, v=5.0)
    with pytest.raises(AttributeError):
        inputs.u = 5.0
    with pytest.raises(AttributeError):
        model.parameters.u = 5.0
    assert dict(inputs) == {"u": 1.0, "w": 2.0}
    inputs.update(u=np.float32(0.5), w=3)
    assert dict(inputs) == {"u": 0.5, "w": 3.0}


def test_inputs_are_refused_in_what_acts_at_the_start_only():
    model = mbd.Model()
    u = model.input("u", 1.0)
    a = model.add(mbd.RigidBody("a", 1.0, (1, 1, 1)))
    makers = {
        "mass": lambda: mbd.RigidBody("b", u, (1, 1, 1)), "position": lambda: mbd.nodes.Quaternion((u, 0, 0)),
        "at": lambda: mbd.joints.Spherical(model.ground, a, at=(0, 2.0 * u, 0)),
        "switches": lambda: mbd.forces.Force(a, lambda t: (0, 0, t), switches=(u,)),
        "rotor_inertia": lambda: mbd.forces.Motor(a, rotor_inertia=u), "com": lambda: setattr(a, "com", (u, 0, 0)),
    }  # fmt: skip
    for argument, make in makers.items():
        with pytest.raises(mbd.ModelError, match=f"{argument} is made of the input 'u', .* acts at the start only"):
            make()


def test_files():
    model, k = model_with(k=1.7)
    model.add(mbd.PointMass("a", k))
    with pytest.raises(mbd.ModelError, match=r"the parameters and inputs 'k'.*without_parameters"):
        model.save("nowhere.json")
    plain = model.without_parameters()
    assert plain["a"].mass == 1.7 and not plain.parameters
    model.parameters["k"] = 2.0
    assert plain["a"].mass == 1.7 and model["a"].mass == 2.0


GAIN = mbd.Model("kept").parameter("gain", 2.0)


def push(t, gain=GAIN):
    return (gain * t, 0.0, 0.0)


def law(gain, t, frames, velocities):
    return -gain * velocities


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), mbd.Model.copy, copy.copy])
def test_copies_follow_parameters_of_their_own(copied):
    model, k, x = model_with(k=1.7, x=0.5)
    a = model.add(mbd.RigidBody("a", k, (1, 1, 1), mbd.nodes.Quaternion((x, 0, 0))))
    joint = model.add(mbd.joints.Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 0, 1), name="j"))
    twin = copied(model)
    twin.parameters.update(k=3.0, x=2.0)
    assert twin["a"].mass == 3.0 and twin["j"].point_b.tolist() == [-2, 0, 0] and twin["j"].body_b is twin["a"]
    assert a.mass == 1.7 and joint.point_b.tolist() == [-0.5, 0, 0] and k.value == 1.7
    twin.add(mbd.forces.Spring(twin.ground, twin["a"], stiffness=k, name="s"))  # has the value of this model
    assert twin["s"].stiffness == 3.0
    model.parameters["x"] = 1.0
    assert twin["a"].position[0] == 2.0


def test_functions_see_numbers():
    """By closure, by argument, as a partial; compiled and as plain Python; in one system and in the other."""
    model, k = model_with(k=1.7)
    a = model.add(mbd.PointMass("a", 2.0, position=(1, 2, 3)))
    model.add(mbd.forces.Force(a, lambda t: (k * t, np.sin(k), 2.0 * k)))
    model.add(mbd.forces.UserForce(a, functools.partial(law, k)))

    def slow(t, frames, velocities):
        seen.append(t)
        return np.array([[k, k * velocities[0, 1], math.cos(k), 0.0, 0.0, 0.0]])

    seen = []
    with warnings.catch_warnings():  # of plain Python, unless all code is
        warnings.simplefilter("ignore")
        model.add(mbd.forces.UserForce(a, slow))
        one, other = mbd.assemble(model), mbd.assemble(model)
    q, v = one.initial_state()
    v = np.array((1.0, 2.0, 3.0))

    def expected(k):
        return [k * 0.5 - k * 1.0 + k, np.sin(k) - k * 2.0 + k * 2.0, 2.0 * k - k * 3.0 + np.cos(k)]

    one.set_parameters({"k": 0.9})
    for system, number in ((one, 0.9), (other, 1.7), (one, 0.9)):
        assert np.allclose(system.forces(q, v, 0.5), expected(number), rtol=1e-14)
    assert model.parameters["k"] == 1.7


# --- inputs


def cart(u, **options):
    model = mbd.Model("cart")
    u = model.input("u", u) if not isinstance(u, float) else u
    cart = model.add(mbd.RigidBody("cart", 1.0, (1, 1, 1)))
    pole = model.add(mbd.RigidBody("pole", 0.3, (0.1, 0.1, 0.1), mbd.nodes.RotationVector((0, 0, 0.5))))
    rail = model.add(mbd.joints.Prismatic(model.ground, cart, axis=(1, 0, 0)))
    hinge = model.add(mbd.joints.Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0)))
    return model, rail, hinge, cart, u


class Whole(int):
    """A start value of an input."""


F, J = mbd.forces, mbd.joints
ELEMENTS = {
    "force": lambda m, rail, hinge, cart, u: F.Force(cart, (u, 0, 2.0 * u), frame="body"),
    "torque": lambda m, rail, hinge, cart, u: F.Torque(cart, u * np.array((0.0, 1.0, 0.0))),
    "joint force": lambda m, rail, hinge, cart, u: F.JointForce(rail, u),
    "motor": lambda m, rail, hinge, cart, u: F.Motor(hinge, -u, limit=2.0, rotor_inertia=0.1),
    "control": lambda m, rail, hinge, cart, u: F.PDControl(hinge, u, kp=3.0, kd=u * u, feedforward=0.1 * u),
    "target": lambda m, rail, hinge, cart, u: F.PDControl(hinge, u, kp=3.0),
    "spring": lambda m, rail, hinge, cart, u: F.Spring(m.ground, cart, (0, 0, 1), stiffness=3.0, length=1 + u),
    "driver": lambda m, rail, hinge, cart, u: J.AngleDriver.on(hinge, 0.1 * u),
    "drive": lambda m, rail, hinge, cart, u: J.PositionDriver(m.ground, cart, axis=(1, 0, 0), value=u),
    "function": lambda m, rail, hinge, cart, u: F.Force(cart, lambda t: (u * t, u, 0.0)),
    "frames": lambda m, rail, hinge, cart, u: F.UserForce(cart, functools.partial(law, u)),
    "gravity": lambda m, rail, hinge, cart, u: setattr(m, "gravity", (0.0, u, 0.1 * u)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("make", ELEMENTS.values(), ids=ELEMENTS)
def test_inputs_act_at_once(make, coordinates):
    """Where an input was set, the equations are those of a model that was built with it; also on a run that goes on."""

    def built(u):
        model, *parts = cart(u)
        element = make(model, *parts)
        if element is not None:
            model.add(element)
        return mbd.assemble(model.with_coordinates(coordinates))

    system = built(Whole(0))
    q, v = system.initial_state()
    v = v + 0.1
    q = system.update(q, 0.05 * v)
    for u in (0.7, -0.4, 0.7):
        system.inputs["u"] = u
        fresh = built(u)
        for question in ("forces", "constraints", "constraint_velocity"):
            arguments = (q, v, 0.3) if question != "constraints" else (q, 0.3)
            assert np.array_equal(getattr(system, question)(*arguments), getattr(fresh, question)(*arguments)), question
        for one, other in zip(system.accelerations(q, v, 0.3), fresh.accelerations(q, v, 0.3), strict=True):
            assert np.array_equal(one, other)
    assert dict(system.inputs) == {"u": 0.7}
    system.set_parameters({})
    assert np.array_equal(system.forces(q, v, 0.3), fresh.forces(q, v, 0.3))  # elements know it as well


def test_setting_an_input_is_cheap():
    model, rail, hinge, body, u = cart(Whole(0))
    model.add(mbd.forces.JointForce(rail, u))
    model.add(mbd.forces.Force(body, lambda t: (u * t, 0.0, 0.0)))
    system = mbd.assemble(model)
    system.inputs["u"] = 1.0
    assert calls(lambda: system.inputs.__setitem__("u", 2.0)) < 12
    for bad in (math.nan, math.inf):
        with pytest.raises(mbd.ModelError, match="input 'u' is set to"):
            system.inputs["u"] = bad
    with pytest.raises(mbd.ModelError, match="no parameter or input 'w'"):
        system.inputs["w"] = 1.0
    assert system.inputs["u"] == 2.0


def test_events_see_numbers():
    """z = 1 - g t^2 / 2 passes a level that is a parameter."""
    model, level = model_with(level=0.3)
    model.gravity = (0, 0, -9.81)
    model.add(mbd.PointMass("a", 1.0, position=(0, 0, 1)))
    low = mbd.Event(lambda solution: solution["a"].position[:, 2] - level, stop=True, name="low")
    for number in (0.3, 0.6):
        model.parameters["level"] = number
        solution = mbd.simulate(model, 0.5, 0.01, mbd.integrators.RK4(), events=low)
        assert abs(solution.t[-1] - np.sqrt(2.0 * (1.0 - number) / 9.81)) < 1e-9


def test_drivers_and_errors_see_numbers():
    model, k = model_with(k=0.3)
    body = model.add(mbd.RigidBody("a", 1.0, (1, 1, 1)))
    hinge = model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    model.add(mbd.joints.AngleDriver.on(hinge, lambda t: k * t))
    system = mbd.assemble(model)
    system.set_parameters({"k": 0.7})
    assert abs(mbd.consistent_start(system).v[4] - 0.7) < 1e-12
    assert abs(mbd.simulate(model, 0.1, 0.01)[hinge].angle[-1] - 0.03) < 1e-9

    def wrong(t):
        if t > 0.05:
            raise ValueError("too late")
        return (k * t, 0.0, 0.0)

    model.add(mbd.forces.Force(body, wrong, name="wrong"))
    with pytest.raises(mbd.UserFunctionError, match="too late"):
        mbd.simulate(model, 0.1, 0.01)


def test_parameters_where_nothing_follows_them_are_refused_with_the_way_out():
    model, k = model_with(k=2.0)
    for refused in (
        lambda: mbd.shapes.Box((k, 1, 1)),
        lambda: mbd.rotation((0, 0, k)),
        lambda: mbd.mass_properties(mbd.shapes.Box((1, 1, 1)), density=k),
        lambda: mbd.integrators.GeneralizedAlpha(k),
    ):
        with pytest.raises(mbd.ModelError, match=r"<parameter 'k' = 2>.*mbd.calculated\(function, ...\)"):
            refused()

    def mass(size):
        return mbd.mass_properties(mbd.shapes.Box((size, 1, 1)), density=10.0).mass

    block = model.add(mbd.RigidBody("block", mbd.calculated(mass, k), (1, 1, 1)))
    model.parameters["k"] = 3.0
    assert block.mass == pytest.approx(30.0)


def test_refused_values_name_the_element_by_its_generated_name():
    model, k = model_with(k=1.0)
    body = model.add(mbd.RigidBody(None, k, (1, 1, 1)))
    model.add(mbd.forces.Drag(body, k))
    system = mbd.assemble(model)
    assert [x.name for x in (*system.model.bodies, *system.model.forces)] == ["body 1", "drag 1"]
    with pytest.raises(mbd.ModelError, match=r"^body 'body 1': mass = -1.0"):
        system.set_parameters({"k": -1.0})
    system.set_parameters({"k": 2.0})
    with pytest.raises(mbd.ModelError, match=r"^drag 'drag 1': linear"):
        model, k = model_with(k=1.0)
        model.add(mbd.forces.Drag(model.add(mbd.RigidBody(None, 1.0, (1, 1, 1))), linear=k))
        mbd.assemble(model).set_parameters({"k": -1.0})
    assert [x.name for x in (*system.model.bodies, *system.model.forces)] == ["body 1", "drag 1"]
    with pytest.raises(mbd.ModelError, match="not named yet"):
        mbd.forces.Drag(body, -1.0)
