"""Which joints carry bodies: choice, reasons, own classes, and models that change after the choice."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mbd
from mbd import joints, nodes
from mbd.errors import SingularityError
from mbd.system.system import System


def four_bar():
    """Crank, coupler and rocker, the coupler on a ball, with a free body and a point beside them."""
    model = mbd.Model("four bar", gravity=(0, 0, -9.81))
    crank, coupler, rocker, free = (
        model.add(mbd.RigidBody(name, 1.0, (1, 1, 1), nodes.RotationVector((k, 0, 1))))
        for k, name in enumerate(("crank", "coupler", "rocker", "free"))
    )
    y = (0, 1, 0)
    model.add(joints.Revolute(model.ground, crank, at=(0, 0, 0), axis=y, name="motor"))
    model.add(joints.Spherical(crank, coupler, at=(0.5, 0, 1), name="ball"))
    model.add(joints.Universal(coupler, rocker, at=(1.5, 0, 1), axis_a=(0, 1, 0), axis_b=(0, 0, 1), name="cross"))
    model.add(joints.Revolute(rocker, model.ground, at=(2, 0, 0), axis=y, name="bearing"))
    model.add(joints.Distance(free, rocker, name="rod"))
    return model


def carriers(model):
    return {edge.body.name: edge.joint.name if edge.joint else None for edge in model.coordinates.carried}


def test_joints_with_the_most_equations_carry_bodies():
    model = four_bar().with_coordinates("joint")
    assert carriers(model) == {"crank": "motor", "rocker": "bearing", "coupler": "cross"}
    reasons = {joint.name: why for joint, why in model.coordinates.constraints}
    assert reasons == {
        "ball": "it closes a loop", "rod": "a joint of kind 'distance' carries no body",
    }  # fmt: skip
    (left,) = model.coordinates.absolute
    assert left[0].name == "free" and left[1] == "no joint that could carry it"
    text = str(model.coordinates)
    for words in ("bearing", "angle, angle", "ball (3 equations): it closes a loop"):
        assert words in text


def test_a_choice_of_joints_and_bodies():
    model = four_bar().with_coordinates("joint", cut="cross", absolute="rocker", spherical=nodes.EulerAngles(lie=True))
    assert carriers(model) == {"crank": "motor", "coupler": "ball"}
    assert "rotation, EulerAngles (Lie)" in str(model.coordinates)
    assert {joint.name: why for joint, why in model.coordinates.constraints}["bearing"] == (
        "body 'rocker' is in absolute coordinates"
    )
    for copy in (model.copy(), model.with_nodes({"rocker": nodes.Quaternion})):
        assert copy._choice is model._choice and carriers(copy) == carriers(model)
    assert model.with_coordinates("absolute")._choice is None
    assert carriers(model.with_coordinates("joint")) == {"crank": "motor", "rocker": "bearing", "coupler": "cross"}


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"cut": "crank"}, "cut names body 'crank'; expected a joint of the model"),
        ({"absolute": "ball"}, "absolute names spherical 'ball' of 'crank' and 'coupler'; expected a body"),
        ({"cut": "bal"}, "no element is named 'bal'; did you mean 'ball'"),
        ({"cut": 3}, "cut has 3; expected a joint or its name"),
        ({"spherical": nodes.Directors()}, "spherical is Directors"),
        ({"spherical": nodes.Point()}, "spherical is Point"),
    ],
    ids=["body as joint", "joint as body", "unknown", "number", "directors", "point"],
)
def test_a_wrong_choice_is_refused(choice, message):
    with pytest.raises(mbd.ModelError, match=message):
        four_bar().with_coordinates("joint", **choice)


def test_options_belong_to_joint_coordinates():
    with pytest.raises(mbd.ModelError, match="cut=, absolute=, spherical= belong to joint coordinates"):
        four_bar().with_coordinates("absolute", cut="ball")
    with pytest.raises(mbd.ModelError, match="expected 'absolute' or 'joint'"):
        four_bar().with_coordinates("minimal")


def test_the_tree_is_found_anew_where_a_model_changes():
    model = four_bar().with_coordinates("joint")
    model.remove("ball")
    assert all(why != "it closes a loop" for _, why in model.coordinates.constraints)
    model.add(joints.Spherical(model["crank"], model["free"], at=(1, 1, 1), name="new ball"))
    arm = model.add(mbd.RigidBody("arm", 1.0, (1, 1, 1)))
    model.add(joints.Prismatic(arm, model["free"], axis=(1, 0, 0), name="slider"))
    found = carriers(model)
    assert (found["free"], found["arm"]) == ("new ball", "slider")
    assert System(model).n_v == 1 + 1 + 2 + 3 + 1


def test_names_that_have_left_the_model_are_refused():
    """A choice is a wish by name: it holds for another element of that name, and is not dropped in silence."""
    model = four_bar().with_coordinates("joint", cut="ball", absolute="free")
    model.remove("ball")
    for use in (lambda: model.coordinates, lambda: System(model), lambda: mbd.simulate(model, 0.1, 0.1)):
        with pytest.raises(mbd.ModelError, match="cut= of its joint coordinates names 'ball', which is no joint"):
            use()
    model.add(joints.Spherical(model["crank"], model["coupler"], at=(0.5, 0, 1), name="ball"))
    assert model.coordinates.constraints[-1][1] == "asked for by cut="
    model.remove("rod")
    model.remove("free")
    with pytest.raises(mbd.ModelError, match="absolute= of its joint coordinates names 'free', which is no body"):
        assert model.coordinates


# --- own classes ------------------------------------------------------------------------------------------------------


class Hinge(joints.Revolute):
    """A hinge of one's own that is nothing but one."""


class Rusty(joints.Revolute):
    """Its equations are its own, so that nobody knows what they leave free."""

    def primitives(self):
        return super().primitives()[:4]


class Slider(joints.Joint):
    """Equations and freedoms of one's own."""

    freedoms = ("slide",)
    uses_axis = "required"
    oriented = (True, True)

    def primitives(self):
        return joints.Prismatic.primitives(self)


def on_ground(cls):
    model = mbd.Model("own")
    body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1)))
    model.add(cls(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1), name="own"))
    return model


@pytest.mark.parametrize(("cls", "velocities"), [(Hinge, 1), (Slider, 1)])
def test_own_classes_with_freedoms_carry_bodies(cls, velocities):
    assert System(on_ground(cls).with_coordinates("joint")).n_v == velocities


def test_own_equations_stay_constraints():
    tree = on_ground(Rusty).with_coordinates("joint").coordinates
    assert [why for _, why in tree.constraints] == ["a joint of kind 'rusty' carries no body"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (("turn", "slide"), r"freedoms of Wrong is \('turn', 'slide'\); expected some of 'slide 1'"),
        (("glide",), "expected some of 'slide 1'"),
        (("ball", "turn"), "expected some of 'slide 1'"),
        (("slide", "turn"), r"which are 2, but its 5 equations leave 1 free"),
    ],
)
def test_freedoms_that_cannot_be_are_refused(wrong, message):
    cls = type("Wrong", (Slider,), {"freedoms": wrong})
    model = on_ground(cls).with_coordinates("joint")
    with pytest.raises(mbd.ModelError, match=message):
        assert model.coordinates


# --- balls ------------------------------------------------------------------------------------------------------------


def ball(sequence):
    model = mbd.Model("ball", gravity=(0, 0, -9.81))
    pose = nodes.RotationVector((1, 0, 0), mbd.rotation((0.3, 0.4, 0.5)))
    body = model.add(mbd.RigidBody("body", 1.0, (1, 2, 3), pose))
    model.add(joints.Spherical(body, model.ground, at=(0, 0, 0), name="pivot"))
    return model.with_coordinates("joint", spherical=nodes.EulerAngles(sequence=sequence))


@pytest.mark.parametrize("sequence", ["zxz", "xyx"])
def test_gimbal_lock_at_the_start_is_refused_by_joint(sequence):
    """A joint starts with no rotation, where these sequences have no rates."""
    message = f"spherical 'pivot' of 'body' and 'ground': EulerAngles.sequence=\"{sequence}\". start in gimbal lock"
    with pytest.raises(SingularityError, match=message) as error:
        mbd.simulate(ball(sequence), 0.1, 0.01)
    assert "model.with_coordinates('joint', spherical=mbd.nodes.Quaternion(lie=True))" in str(error.value)
    q, _ = System(ball("xyz")).initial_state()
    assert np.abs(q).max() < 1e-12


def test_nodes_without_effect_are_named():
    """Carried bodies have the coordinates of their joints; bodies of their own and free roots keep the choice."""
    model = mbd.Model("robot")
    for k in range(4):
        model.add(mbd.RigidBody(f"body {k}", 1.0, (1, 1, 1), mbd.nodes.RotationVector((k, 0, 0))))
    for k in range(1, 4):
        model.add(
            mbd.joints.Revolute(model[f"body {k - 1}"], model[f"body {k}"], at=(k, 0, 0), axis=(0, 0, 1), name=f"{k}")
        )
    joint = model.with_coordinates("joint", absolute="body 3")
    with pytest.warns(
        mbd.ModelWarning, match=r"no effect on body 'body 1' and 1 more in joint.*joint '1'; use .*absolute="
    ):
        joint.with_nodes(mbd.nodes.Quaternion)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        joint.with_nodes({"body 0": mbd.nodes.Quaternion, "body 3": mbd.nodes.Directors})
        model.with_nodes(mbd.nodes.Quaternion).with_coordinates("joint")
