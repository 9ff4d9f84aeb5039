"""Every force, and every joint that stays a constraint, in joint coordinates: derivatives against differences.

The elements act between two branches with a common ancestor, and between a branch and a body in absolute coordinates.
"""

from __future__ import annotations

import math

import pytest

import mbd
from mbd import forces, joints, nodes
from mbd.system.system import System
from mbd.system.tables import BY_FRONTS, BY_RECURSION, FLAG_TREE
from mbd.testing import DIFFERENCE_TOLERANCE, check_system

from ..test_elements import FORCES, JOINTS_ON_JOINTS, build_joint, public_classes
from .trees import moving_state, new_body, new_joint


def branches(rng):
    """A trunk with two branches, one of them against its joints, and a body that no joint carries."""
    model = mbd.Model("branches", gravity=(0.3, -1.0, -9.81))
    trunk, a, middle, b, other = (new_body(model, rng, name) for name in ("trunk", "a", "middle", "b", "other"))
    new_joint(model, rng, "Revolute", model.ground, trunk, "root")
    new_joint(model, rng, "Universal", a, trunk, "left")
    new_joint(model, rng, "Spherical", trunk, middle, "right")
    new_joint(model, rng, "Cylindrical", middle, b, "end")
    assert other.model is model
    return model


PLACES = {
    "branches": ("a", "b", {}),
    "conventional": ("a", "b", {"spherical": nodes.EulerAngles()}),
    "mixture": ("other", "b", {"absolute": "b", "spherical": nodes.Quaternion()}),
}


def check_element(build, place, rng):
    model = branches(rng)
    a, b, choice = PLACES[place]
    element = build(model, model[a], model[b])
    if element.model is None:
        model.add(element)
    if isinstance(element, joints.Joint) and not isinstance(element, joints.Coupling):
        choice = {**choice, "cut": element}
    system = System(model.with_coordinates("joint", **choice))
    assert system.tables.flags[FLAG_TREE] == BY_FRONTS
    # second derivatives of users' constraints have nine digits, of which joints that carry both bodies lose some
    tolerance = 10 * DIFFERENCE_TOLERANCE if isinstance(element, joints.UserConstraint) else DIFFERENCE_TOLERANCE
    check_system(system, rng, state=moving_state(system, rng, 0.2), time=0.7, tolerance=tolerance)


OPEN = ("GravityCompensation",)  # not on joints of closed loops: tests/forces/test_gravity_compensation.py
FORCE_CLASSES = sorted(set(FORCES) - set(OPEN))
CASES = [(cls, variant) for cls in FORCE_CLASSES for variant in FORCES[cls]]


@pytest.mark.parametrize(("cls", "variant"), CASES, ids=lambda word: word)
def test_forces(cls, variant, rng):
    check_element(FORCES[cls][variant], "branches", rng)


@pytest.mark.parametrize("place", ["conventional", "mixture"])
@pytest.mark.parametrize("cls", FORCE_CLASSES)
def test_forces_between_coordinates_of_other_kinds(cls, place, rng):
    check_element(list(FORCES[cls].values())[-1], place, rng)


JOINTS = [cls for cls in public_classes(joints, joints.Joint) if cls.__name__ != "RotorHinge"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cls", JOINTS, ids=lambda cls: cls.__name__)
def test_constraints(cls, place, rng):
    if cls.__name__ in JOINTS_ON_JOINTS and place == "conventional":
        place = "branches"
    check_element(lambda model, a, b: build_joint(cls, a, b), place, rng)


def test_springs_on_joints_need_no_matrix(rng):
    """A spring along the coordinate of a joint, a load, and a spring to the ground leave a tree a tree."""
    model = branches(rng)
    model.remove("other")
    model.add(forces.TorsionSpring(model["root"], stiffness=20.0, damping=2.0, rest=0.4))
    model.add(forces.PDControl(model["end"], lambda t: math.sin(t), 7.0, 2.0, coordinate="displacement"))
    model.add(forces.Force(model["b"], (1.0, 2.0, 3.0), point=(0.1, 0.2, 0.3), frame="body"))
    model.add(forces.Spring(model.ground, model["a"], (1, 2, 3), (0.1, 0.2, 0.3), stiffness=50.0, damping=3.0))
    system = System(model.with_coordinates("joint"))
    assert system.tables.flags[FLAG_TREE] == BY_RECURSION
    check_system(system, rng, state=moving_state(system, rng), time=0.7)


def test_a_wrong_derivative_is_found_by_the_name_of_its_joint(rng, monkeypatch):
    right = System.stiffness
    monkeypatch.setattr(System, "stiffness", lambda *arguments: 1.001 * right(*arguments))
    with pytest.raises(
        AssertionError, match=r"stiffness matrix K deviates .* at velocity '.*' of (revolute|cylindrical)"
    ):
        check_element(FORCES["Spring"]["damped"], "branches", rng)
