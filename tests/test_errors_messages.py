"""Every kind of error names the element and says what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest

import mbd
from mbd.forces import Bushing
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha
from mbd.nodes import EulerAngles, Quaternion, RotationVector
from tests.integrators.models import chain, four_bar, heavy_top, slider_crank

GROUND = mbd.Ground()
BODY = mbd.RigidBody("a", 1.0, (1, 1, 1))
OTHER = mbd.RigidBody("b", 1.0, (1, 1, 1), RotationVector((1, 0, 0)))
POINT = mbd.PointMass("p", 1.0)


def test_all_errors_have_one_base():
    for error in (mbd.ModelError, mbd.AssemblyError, mbd.IncompatibleError, mbd.ConvergenceError, mbd.SingularityError):
        assert issubclass(error, mbd.MbdError)
    assert issubclass(mbd.ModelError, ValueError)
    assert issubclass(mbd.RedundancyWarning, UserWarning)


# --- ModelError ---------------------------------------------------------------------------------------------------

MODEL = [
    (lambda: mbd.RigidBody("a", -1.0, (1, 1, 1)), ("body 'a'", "mass = -1.0", "not negative")),
    (lambda: mbd.RigidBody("a", math.nan, (1, 1, 1)), ("body 'a'", "mass = nan", "finite")),
    (lambda: mbd.RigidBody("a", 1.0, (1, 1, 3)), ("body 'a'", "inertia = (1, 1, 3)", "triangle inequality")),
    (lambda: mbd.RigidBody("a", 1.0, (1, 1, math.inf)), ("body 'a'", "inertia", "finite")),
    (lambda: mbd.joints.Revolute(BODY, OTHER, at=(0, 0, 0), axis=(0, 0, 0)), ("revolute", "axis", "cannot be zero")),
    (lambda: Bushing(BODY, OTHER), ("bushing", "stiffness", "a stiffness or a damping, which may be zero")),
    (lambda: Bushing(BODY, OTHER, stiffness=(1, -1, 1)), ("bushing", "stiffness", "not negative")),
    (lambda: Bushing(BODY, OTHER, stiffness=1, damping=-1, name="s"), ("bushing 's'", "damping = -1", "not negative")),
    (
        lambda: Bushing(BODY, OTHER, stiffness=1, axes=np.ones((3, 3))),
        ("bushing", "axes", "perpendicular unit vectors"),
    ),
    (lambda: Bushing(BODY, BODY, stiffness=1), ("bushing", "body 'a'", "two different")),
    (lambda: Bushing(POINT, BODY, stiffness=1), ("bushing", "point mass 'p'", "no axes", "exchange")),
    (lambda: Bushing(BODY, POINT, point_b=(1, 0, 0), stiffness=1), ("bushing", "point_b", "'p'", "without extent")),
    (lambda: mbd.forces.JointForce("h", 1.0), ("joint force", "joint is 'h'", "not its name: model['h']")),
    (lambda: mbd.forces.TorsionSpring("h", 1.0), ("torsion spring", "joint is 'h'", "not its name: model['h']")),
    (lambda: mbd.joints.Gear("h", "k", 1.0), ("gear", "joint_a = 'h'", "not its name: model['h']")),
]


@pytest.mark.parametrize(("make", "words"), MODEL)
def test_bad_input(make, words):
    with pytest.raises(mbd.ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_a_channel_in_place_of_an_element():
    solution = mbd.simulate(heavy_top(), t_end=0.01, step=0.01)
    body = solution.model.bodies[0].name
    with pytest.raises(mbd.ModelError, match=rf"'{body}.position' is a channel; read it with solution.channel"):
        solution[f"{body}.position"]


def test_unknown_names_and_foreign_bodies():
    model = heavy_top()
    with pytest.raises(mbd.ModelError, match="'tip'.*did you mean 'top'"):
        model["tip"]
    with pytest.raises(mbd.ModelError, match=r"body 'a'.*not in the model.*model\.add"):
        model.add(mbd.joints.Spherical(model.ground, BODY, at=(0, 0, 0)))
    with pytest.raises(mbd.ModelError, match="'top' is taken"):
        model.add(mbd.PointMass("top", 1.0))
    with pytest.raises(mbd.ModelError, match="another model"):
        model.add(mbd.forces.Force(heavy_top()["top"], (0, 0, 1)))
    with pytest.raises(mbd.ModelError, match="'tip'"):
        model.with_nodes({"tip": Quaternion})
    with pytest.raises(mbd.ModelError, match="'tip'"):
        mbd.simulate(model, 1e-3, 1e-3)["tip"]


SIMULATE = [
    (lambda m: mbd.simulate(m, 1.0, 0.0), ("step", "positive")),
    (lambda m: mbd.simulate(m, 1.0, -0.1), ("step", "positive")),
    (lambda m: mbd.simulate(m, math.nan, 0.1), ("t_end is nan", "finite number")),
    (lambda m: mbd.simulate(m, 1.0, "0.1"), ("step is '0.1'", "finite number")),
    (lambda m: mbd.simulate(m, 1.0, True), ("step is True", "finite number")),
    (lambda m: mbd.simulate(m, 1.0, 0.1, RK4), ("integrator", "call the class")),
    (lambda m: mbd.simulate(m, 1.0, 0.1, "RK4"), ("integrator is 'RK4'", "GeneralizedAlpha()")),
    (lambda m: mbd.simulate(m, 1.0, 0.01, output_step=0.015), ("output_step is 0.015", "multiple of the step")),
    (lambda m: mbd.simulate(m, -1.0, 0.1), ("t_end is -1.0", "after the start")),
    (lambda m: mbd.simulate("top", 1.0, 0.1), ("model is 'top'", "mbd.Model")),
    (lambda m: mbd.simulate(m, 1.0, 0.1, fixed={"tip": True}), ("'tip'", "top")),
    (lambda m: mbd.simulate(m, 1.0, 0.1, fixed={"top": "speed"}), ("top", "speed", "velocity")),
]


@pytest.mark.parametrize(("run", "words"), SIMULATE)
def test_bad_arguments_of_simulate(run, words):
    with pytest.raises(mbd.ModelError) as caught:
        run(heavy_top())
    for word in words:
        assert word in str(caught.value)


SETTINGS = [
    (lambda: GeneralizedAlpha(1.5), ("rho_inf is 1.5", "from 0 to 1")),
    (lambda: GeneralizedAlpha(newton="fast"), ("newton is 'fast'", "'full', 'step' or 'modified'")),
    (lambda: GeneralizedAlpha(predictor="best"), ("predictor is 'best'", "linear")),
    (lambda: GeneralizedAlpha(tolerance=0.0), ("tolerance is 0.0", "small positive")),
    (lambda: DOPRI5(rtol=0.0), ("DOPRI5", "rtol = 0.0", "positive")),
]


@pytest.mark.parametrize(("make", "words"), SETTINGS)
def test_bad_settings_of_integrators(make, words):
    with pytest.raises(mbd.ModelError) as caught:
        make()
    for word in words:
        assert word in str(caught.value)


def test_an_empty_model():
    with pytest.raises(mbd.MbdError, match="bod"):
        mbd.simulate(mbd.Model("empty"), 1.0, 0.1)


# --- AssemblyError ------------------------------------------------------------------------------------------------


def test_no_consistent_start_names_the_joint_and_the_miss():
    model = mbd.Model()
    bar = model.add(mbd.RigidBody("bar", 1.0, (0.1, 1, 1), RotationVector((0.5, 0, 0))))
    model.add(mbd.joints.Spherical(model.ground, bar, point_a=(0, 0, 0), point_b=(-0.5, 0, 0), name="left"))
    model.add(mbd.joints.Spherical(model.ground, bar, point_a=(2, 0, 0), point_b=(0.5, 0, 0), name="right"))
    with pytest.raises(mbd.AssemblyError, match=r"'(left|right)'.*0\.5") as caught:
        mbd.simulate(model, 1.0, 0.01)
    assert "m" in str(caught.value)


def test_a_direction_without_inertia_is_named():
    model = mbd.Model()
    model.add(mbd.RigidBody("needle", 1.0, (0.0, 1.0, 1.0), RotationVector(angular_velocity=(0.3, 1.0, 0.0))))
    with pytest.raises(mbd.MbdError, match="'needle'.*direction without inertia.*give it mass"):
        mbd.simulate(model, 1.0, 0.01)


# --- RedundancyWarning, IncompatibleError -------------------------------------------------------------------------


def test_redundancy_names_joint_and_remedy():
    with pytest.warns(mbd.RedundancyWarning, match="3 of 20 .*'hinge [1-4]'.*Spherical or Universal"):
        mbd.simulate(four_bar(), 0.01, 1e-3)


def test_no_warning_without_redundancy():
    for make in (heavy_top, chain, slider_crank):  # warnings are errors here
        mbd.simulate(make(), 2e-3, 1e-3)


def test_incompatible_integrators_name_the_body_and_the_way_out():
    from dataclasses import dataclass
    from typing import ClassVar

    from mbd.integrators.base import Trait

    @dataclass(frozen=True)
    class Demanding(RK4):
        requires: ClassVar[frozenset[Trait]] = frozenset({Trait.CONSTANT_MASS})

    with pytest.raises(mbd.IncompatibleError, match=r"Demanding needs a constant mass.*'top'.*Quaternion.*Directors"):
        mbd.simulate(heavy_top(Quaternion), 1.0, 0.01, Demanding())
    assert mbd.simulate(heavy_top(mbd.nodes.Directors), 1e-3, 1e-4, Demanding()).complete


# --- ConvergenceError, SingularityError ---------------------------------------------------------------------------


def test_convergence_error():
    with pytest.raises(mbd.ConvergenceError) as caught:
        mbd.simulate(slider_crank(), 10.0, 0.2, GeneralizedAlpha(max_iterations=3))
    error = caught.value
    for word in ("GeneralizedAlpha", "t = ", "step", "3 iterations", "'", "try a smaller step"):
        assert word in str(error)
    assert (error.step, error.time) == (len(error.solution) - 1, error.solution.t[-1])
    assert error.where


def test_singularity_error():
    model = mbd.Model()
    start = EulerAngles(rotation=mbd.rotation((0, 0.5, 0)), angular_velocity=(0, 3, 0))
    model.add(mbd.RigidBody("gyro", 1.0, (1, 1, 1), start))
    with pytest.raises(mbd.SingularityError) as caught:
        mbd.simulate(model, 1.0, 1e-3)
    for word in ("'gyro'", "gimbal lock", "t = 0.35", "another sequence", "lie=True", "model.with_nodes"):
        assert word in str(caught.value)
    fixed = model.with_nodes({"gyro": mbd.nodes.Quaternion})  # the advice
    assert mbd.simulate(fixed, 1.0, 1e-3).complete
