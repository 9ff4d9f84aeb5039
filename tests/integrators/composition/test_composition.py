"""Compositions: weights, orders on every family that is symmetric, invariants, restarts, failures, refusals."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from math import factorial
from typing import Any, ClassVar

import numpy as np
import pytest

import mbd
from mbd import integrators
from mbd.integrators import (
    GGLEM,
    RK6,
    Composition,
    DiscreteVariational,
    GonzalezEM,
    HamiltonianEM,
    Invariant,
    JacobiExact,
    LieEM,
    MoserVeselov,
    NystromSplitting,
    Rattle,
    RATTLie,
    RigidMidpoint,
    RotationSplitting,
    SRKN6b,
    Strang,
    SymmetricSplitting,
)
from mbd.integrators.base import begins_of
from mbd.integrators.composition.weights import HALVES, weights_of
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector
from mbd.testing import observed_order
from tests.integrators.models import chain, skew_top
from tests.integrators.rigid_body.models import coupled

ROUND_OFF = 1e-15
T_END = 0.4
FINE = 1e-13  # Newton tolerance


@dataclass(frozen=True)
class Midpoint(mbd.integrators.PythonIntegrator):
    """An own method: half a kick, a step with constant velocities, half a kick; symmetric on points."""

    order: ClassVar[int] = 2
    symmetric: ClassVar[bool] = True

    def step(self, system, t, q, v, h):
        v = v + 0.5 * h * system.accelerations(q, v, t)[0]
        q = system.update(q, h * v)
        return q, v + 0.5 * h * system.accelerations(q, v, t + h)[0]


def springs(node: Any = RotationVector) -> mbd.Model:
    """Two bodies on springs under a force of time, without constraints."""
    model = mbd.Model("springs", gravity=(0, 0, -9.81))
    a = model.add(
        mbd.RigidBody("a", 1.0, (0.3, 0.4, 0.5), RotationVector(velocity=(0.3, 0, 0), angular_velocity=(0.5, 2, -0.3)))
    )
    start = RotationVector((1.5, 0, 0), angular_velocity=(0.5, -1, -0.3))
    b = model.add(mbd.RigidBody("b", 2.0, (0.6, 0.4, 0.5), start))
    model.add(mbd.forces.Spring(a, b, (0.2, 0.1, 0), (0, 0.3, 0.1), stiffness=5.0, length=1.0))
    model.add(mbd.forces.Spring(model.ground, a, (0, 0, 1), (0, 0.3, 0.1), stiffness=15.0, length=1.0))
    model.add(mbd.forces.Force(b, lambda t: (np.sin(3.0 * t), 0.5, t), point=(0.1, 0.2, 0.3)))
    return model.with_nodes(node)


def points() -> mbd.Model:
    """Three masses on springs."""
    model = mbd.Model("points", gravity=(0, 0, -9.81))
    masses = [model.add(mbd.PointMass(f"p{k}", 1.0 + k, (k + 1, 0.2 * k * k, 0), (0, 0.5, 0.1 * k))) for k in range(3)]
    for a, b in zip([model.ground, *masses], masses, strict=False):
        model.add(mbd.forces.Spring(a, b, stiffness=20.0, length=0.8))
    return model


def free() -> mbd.Model:
    model = mbd.Model("free")
    model.add(mbd.RigidBody("body", 1.0, (0.376, 0.627, 1.0), RotationVector(angular_velocity=(0.8, 1.0, -0.8))))
    return model


FAMILIES: dict[str, tuple[Any, Any, float]] = {  # method, model, scale of the steps
    "Rattle": (Rattle(tolerance=FINE), lambda: chain(Directors), 1.0),
    "GGLEM": (GGLEM(tolerance=FINE), lambda: skew_top(Directors), 1.0),
    "DiscreteVariational": (DiscreteVariational(tolerance=FINE), lambda: chain(Quaternion), 1.0),
    "RATTLie": (RATTLie(tolerance=FINE), chain, 1.0),
    "LieEM": (LieEM(tolerance=FINE), springs, 1.0),
    "HamiltonianEM": (HamiltonianEM(tolerance=FINE), lambda: springs(Quaternion), 1.0),
    "GonzalezEM": (GonzalezEM(tolerance=FINE), points, 1.0),
    "Strang": (Strang(), springs, 1.0),
    "RotationSplitting": (RotationSplitting(), free, 4.0),
    "SymmetricSplitting": (SymmetricSplitting(), free, 4.0),
    "MoserVeselov": (MoserVeselov(), free, 4.0),
    "RigidMidpoint": (RigidMidpoint(), free, 4.0),
    "Midpoint": (Midpoint(), points, 1.0),
}
# symmetric, of order four and beyond
HIGHER = {"Lobatto", "NystromSplitting", "SRKN6b", "SRKN11b", "SRKN14a", "JacobiExact"}
STEPS = {4: (0.05, 0.025, 0.0125), 6: (0.1, 0.05, 0.04), 8: (0.1, 0.08, 0.05)}


def test_every_symmetric_method_is_here():
    """Declared by the class; what a method without joints or with them can do is said by ``asymmetry``."""
    classes = {name: getattr(integrators, name) for name in integrators.__all__}
    symmetric = {name for name, cls in classes.items() if getattr(cls, "symmetric", False) is True}
    assert symmetric - {"Composition"} == (FAMILIES.keys() | HIGHER) - {"Midpoint"}


@pytest.mark.parametrize("order", HALVES)
def test_weights(order):
    """Palindromes that sum to one, stay inside of the step, and meet the conditions of linear problems."""
    w = weights_of(order)
    np.testing.assert_array_equal(w, w[::-1])
    assert w.sum() == pytest.approx(1.0, abs=ROUND_OFF)
    begins = begins_of(w)
    assert begins.min() == 0.0 and begins.max() == 1.0
    terms = order + 1
    total = np.zeros((2, 2, terms))  # leapfrog for x'' = -x, as polynomials of the step
    total[0, 0, 0] = total[1, 1, 0] = 1.0
    for weight in w:
        for target, source, c in ((1, 0, -0.5 * weight), (0, 1, weight), (1, 0, -0.5 * weight)):
            total[target, :, 1:] += c * total[source, :, :-1]
    cosine = np.array([(1.0, 0.0, -1.0, 0.0)[n % 4] / factorial(n) for n in range(terms)])
    np.testing.assert_allclose(total[0, 0], cosine, atol=3 * ROUND_OFF, rtol=0)
    np.testing.assert_allclose(total[1, 1], cosine, atol=3 * ROUND_OFF, rtol=0)
    for power in range(3, order, 2):
        assert np.sum(w**power) == pytest.approx(0.0, abs=ROUND_OFF)


def errors(model: mbd.Model, method: Any, steps: tuple[float, ...], t_end: float) -> np.ndarray:
    """Errors of coordinates, velocities and multipliers at the end, one row for every step."""
    fine = mbd.simulate(model, t_end, t_end / 400.0, RK6(), output_step=t_end)
    rows = []
    for h in steps:
        run = mbd.simulate(model, t_end, h, method, output_step=t_end)
        pairs = ((run.q, fine.q), (run.v, fine.v), (run.lam, fine.lam))
        rows.append([np.abs(a[-1] - b[-1]).max(initial=0.0) for a, b in pairs])
    return np.array(rows)


@pytest.mark.parametrize("order", STEPS)
@pytest.mark.parametrize("family", FAMILIES)
def test_order(family, order):
    """Positions, velocities and reactions, on joints, springs, forces of time, free bodies and points."""
    method, build, scale = FAMILIES[family]
    steps = tuple(scale * h for h in STEPS[order])
    found = errors(build(), Composition(method, order=order), steps, scale * T_END)
    for column in found.T[: 3 if found[0, 2] > 0.0 else 2]:
        if column[-1] > 1e-12:  # what is left is truncation
            assert observed_order(column[-2:], steps[-2:]) == pytest.approx(order, abs=0.35)


@pytest.mark.parametrize("family", FAMILIES)
def test_order_ten(family):
    """From few long steps, not all of which are in the asymptotic range, to round-off: slopes of eight would show."""
    method, build, scale = FAMILIES[family]
    steps = scale * np.array((0.2, 0.4 / 3, 0.1, 0.08))
    found = errors(build(), Composition(method, order=10), tuple(steps), scale * T_END)
    assert found[0, 0] > 1e-10
    for column in found.T[: 3 if build().joints else 2]:
        if column[0] > 1e-11:  # else the method keeps it by itself
            used = column > 3e-14
            assert np.polyfit(np.log(steps[used]), np.log(column[used]), 1)[0] > 9.4


@pytest.mark.parametrize("method", (NystromSplitting(), MoserVeselov(order=4), SRKN6b()), ids=repr)
def test_methods_of_order_four_gain_as_well(method):
    model = free() if isinstance(method, MoserVeselov) else springs()
    steps = (0.4, 0.32, 0.2) if isinstance(method, MoserVeselov) else (0.1, 0.08, 0.05)
    found = errors(model, Composition(method, order=6), steps, 1.6)[:, 0]
    assert observed_order(found[-2:], steps[-2:]) > 5.5


@pytest.mark.parametrize("node", (Quaternion, Directors, EulerAngles(sequence="zxy", lie=False)), ids=str)
@pytest.mark.parametrize(
    "method", (LieEM(tolerance=FINE), HamiltonianEM(tolerance=FINE)), ids=lambda x: type(x).__name__
)
def test_bodies_without_joints_in_other_coordinates(method, node):
    """What counts are the coordinates in which a method steps; beside coordinates of users with a mass matrix M(q)."""
    model = springs(node)
    model.add(mbd.Generalized("polar", [1.0, 0.3], [0.2, 0.7], mass=lambda q: [[1.0, 0.0], [0.0, q[0] ** 2 + 0.2]],
                              potential=lambda q: 10.0 * (q[0] - 0.8) ** 2 - 3.0 * q[0] * np.cos(q[1])))  # fmt: skip
    if isinstance(method, HamiltonianEM) and node is Directors:  # which it steps as they are
        with pytest.raises(mbd.IncompatibleError, match="body 'a'"):
            mbd.simulate(model, 0.1, 0.1, Composition(method))
        return
    steps = (0.04, 0.02)
    found = errors(model, Composition(method), steps, T_END)
    for column in found.T[:2]:
        assert observed_order(column, steps) == pytest.approx(4.0, abs=0.1)
    notes = mbd.simulate(model, 0.1, 0.1, Composition(method)).notes
    assert bool(notes) == (not isinstance(method, HamiltonianEM) or node is not Quaternion)


def test_rotations_are_limited_by_the_longest_stage():
    """0.41 of a step of order ten: a turn by 1.6 rad in a step is none of the stages' doing, one by 4 rad is."""
    method = Composition(GGLEM(tolerance=FINE), order=10)
    assert method.longest_stage == pytest.approx(0.41143, abs=1e-5)
    mbd.simulate(skew_top(Directors), 0.4, 0.2, method)  # warnings are errors here
    fast = mbd.Model("fast")
    fast.add(mbd.RigidBody("wheel", 1.0, (0.3, 0.4, 0.5), Directors(angular_velocity=(0.1, 0.0, 20.0))))
    with pytest.warns(mbd.AccuracyWarning, match=r"turns by 1.6 rad in the longest stage of a step of 0.2, .* 0.19"):
        mbd.simulate(fast, 0.4, 0.2, method)


def test_driven_joint_and_negative_stages():
    """A bar that a driver turns, with a second one on a hinge: constraints of time at the times of the stages."""

    def turned(t):
        return 0.4 * t + 0.2 * np.sin(t) ** 3

    model = chain(Directors)
    model.add(mbd.joints.AngleDriver(model.ground, model["bar 0"], axis=(0, 1, 0), value=turned, name="driver"))
    steps = (0.025, 0.0125)
    found = errors(model, Composition(Rattle(tolerance=FINE)), steps, T_END)
    for column in found.T:
        assert observed_order(column, steps) == pytest.approx(4.0, abs=0.2)


@pytest.mark.parametrize(
    ("method", "model"),
    ((GGLEM(), chain(Directors)), (LieEM(), coupled(held=False).with_nodes(RotationVector))),
    ids=("GGLEM", "LieEM"),
)
def test_invariants_are_kept(method, model):
    composition = Composition(method)
    solution = mbd.simulate(model, 2.0, 0.05, composition)
    declared = composition.preserves(solution.system)
    assert declared == method.preserves(solution.system) and Invariant.ENERGY in declared
    energy = solution.energy.total
    assert np.ptp(energy) < 1e-9 * np.abs(solution.energy.kinetic).max()
    if Invariant.ANGULAR_MOMENTUM in declared:
        assert np.ptp(solution.momentum.angular, axis=0).max() < 1e-9
    if Invariant.VELOCITY_CONSTRAINTS in declared:
        assert solution.constraint_error.velocity.max() < 1e-8


CASES = [
    (Composition(Rattle(), order=6), lambda: chain(Directors)), (Composition(GGLEM()), lambda: chain(Directors)),
    (Composition(DiscreteVariational()), lambda: chain(Quaternion)),
    (Composition(LieEM()), lambda: coupled(held=False).with_nodes(RotationVector)),
    (Composition(Strang()), coupled), (Composition(MoserVeselov(), order=8), free), (Composition(Midpoint()), points),
    (Composition(HamiltonianEM()), lambda: coupled(held=False).with_nodes(Quaternion(lie=True))),
]  # fmt: skip


@pytest.mark.parametrize(("method", "build"), CASES, ids=lambda x: getattr(x, "name", ""))
def test_restarts_thinned_output_files_and_pickles(method, build, tmp_path):
    model = build()
    whole = mbd.simulate(model, 1.0, 0.05, method)
    half = mbd.simulate(model, 0.5, 0.05, method)
    rest = mbd.simulate(model, 1.0, 0.05, method, start=half)
    np.testing.assert_array_equal(rest.q, whole.q[10:])
    np.testing.assert_array_equal(rest.lam, whole.lam[10:])
    thinned = mbd.simulate(model, 1.0, 0.05, method, output_step=0.25)
    np.testing.assert_array_equal(thinned.q, whole.q[::5])
    vd, lam = whole.system.accelerations(whole.q[-1], whole.v[-1], 1.0)  # values at the records, not of a stage
    np.testing.assert_allclose(whole.vd[-1], vd, atol=1e-9 * np.abs(vd).max())
    np.testing.assert_allclose(whole.lam[-1], lam, atol=1e-9 * np.abs(lam).max(initial=1.0))
    assert pickle.loads(pickle.dumps(method)) == method
    if not isinstance(method.method, Midpoint):  # whose class a file does not know
        half.save(tmp_path / "half.npz")
        loaded = mbd.load(tmp_path / "half.npz")
        assert loaded.integrator == method
        np.testing.assert_array_equal(mbd.simulate(model, 1.0, 0.05, method, start=loaded).q, whole.q[10:])


def test_events_and_scheme_variables():
    model = chain(Directors)
    event = mbd.Event(lambda s: s["bar 2"].position[..., 2] + 0.3, name="low")
    found = mbd.simulate(model, 1.0, 0.05, Composition(Rattle()), events=event)
    plain = mbd.simulate(model, 1.0, 0.001, RK6(), events=event)
    assert found.t[-1] == pytest.approx(plain.t[-1], abs=1e-6)
    assert not list(found.scheme)


def test_a_stage_that_fails_leaves_the_last_record():
    """The error names the composition; what was recorded can be continued with smaller steps."""
    model = skew_top(Directors)
    method = Composition(Rattle(max_iterations=3, tolerance=FINE), order=4)
    with pytest.raises(mbd.ConvergenceError, match="Composition") as info:
        mbd.simulate(model, 4.0, 0.2, method)
    solution = info.value.solution
    np.testing.assert_array_equal(solution.state["q"], solution.q[-1])
    np.testing.assert_array_equal(solution.state["v"], solution.v[-1])


LOOKING_BACK = {  # most iterations of a stage beside those of plain steps as long as the stages
    "Rattle": (Rattle(), 4, 1.25), "RATTLie": (RATTLie(), 4, 1.25), "GGLEM": (GGLEM(), 4, 1.25),
    "Lobatto": (integrators.Lobatto(), 6, 1.1),
}  # fmt: skip


def on_springs(points: bool) -> mbd.Model:
    """Two masses on springs: the methods that keep the energy of a step are composed without joints only."""
    model = mbd.Model("springs", gravity=(0, 0, -9.81))
    places = (0.5, 0, 0), (1.0, 0.2, 0)
    if points:
        a, b = (
            model.add(mbd.PointMass(name, 1.0, x, velocity=(0, 1, 0.5))) for name, x in zip("ab", places, strict=True)
        )
    else:
        nodes = (Quaternion(position=x, angular_velocity=(1.0, -2.0, 3.0)) for x in places)
        a, b = (model.add(mbd.RigidBody(name, 1.0, (0.02, 0.03, 0.04), n)) for name, n in zip("ab", nodes, strict=True))
    arm = (0, 0, 0) if points else (0.1, 0, 0.1)
    model.add(mbd.forces.Spring(model.ground, a, point_b=arm, stiffness=100.0, length=0.3))
    model.add(mbd.forces.Spring(a, b, arm, stiffness=60.0, length=0.3))
    return model


LOOKING_BACK |= {"GonzalezEM": (GonzalezEM(), 4, 1.15), "HamiltonianEM": (HamiltonianEM(), 4, 1.15)}


@pytest.mark.parametrize("name", LOOKING_BACK)
def test_first_guesses_of_stages_are_those_of_plain_steps(name):
    """Extrapolated from stages of the same length, in this step and in the ones before it."""
    method, order, most = LOOKING_BACK[name]
    model = on_springs(name == "GonzalezEM") if name in ("GonzalezEM", "HamiltonianEM") else chain()
    h, weights = 0.01, np.abs(weights_of(order))
    plain = 0.0
    for length, count in zip(*np.unique(weights.round(12), return_counts=True), strict=True):
        stats = mbd.simulate(model, 60 * length * h, length * h, method).stats
        plain += count * stats["newton_iterations"] / stats["steps"]
    stats = mbd.simulate(model, 60 * h, h, Composition(method, order=order)).stats
    assert stats["newton_iterations"] / stats["steps"] < most * plain


# --- refusals -----------------------------------------------------------------------------------------------------


def test_refused_methods():
    for method in (RK6(), mbd.integrators.GeneralizedAlpha(), mbd.integrators.Shake(), mbd.integrators.BobenkoSuris(),
                   mbd.integrators.GGLMidpoint(), mbd.integrators.LivensEM()):  # fmt: skip
        with pytest.raises(mbd.ModelError, match="not undone by a step back"):
            Composition(method)
    with pytest.raises(mbd.ModelError, match="call the class"):
        Composition(Rattle)
    with pytest.raises(mbd.ModelError, match="has order inf already"):
        Composition(JacobiExact(), order=8)
    with pytest.raises(mbd.ModelError, match="has order 4 already"):
        Composition(NystromSplitting(), order=4)
    for order in (5, 0, -4, 4.0, "4", None):
        with pytest.raises(mbd.ModelError, match=f"order is {order!r}; expected 4, 6, 8 or 10"):
            Composition(Rattle(), order=order)
    with pytest.raises(mbd.ModelError, match=r"composed already; expected .* Composition\(RATTLie\(.*\), order=6\)"):
        Composition(Composition(RATTLie()), order=6)
    with pytest.raises(mbd.ModelError, match="whose start belongs to one certain step"):
        Composition(DiscreteVariational(small_start=10))


def test_refused_models():
    def refused(model: mbd.Model, method: Any, match: str) -> None:
        with pytest.raises(mbd.IncompatibleError, match=match):
            mbd.simulate(model, 0.1, 0.1, Composition(method))

    refused(chain(RotationVector), LieEM(), r"velocity constraints \(joint 'hinge'\) on average only")
    refused(
        chain(RotationVector).with_coordinates("joint"), LieEM(), "joint 'hinge'"
    )  # a tree, stepped with its joints
    refused(springs(Directors), GonzalezEM(), "body 'a'")
    refused(springs(RotationVector), GonzalezEM(), "body 'a'")  # stepped in directors
    damped = springs(Directors)
    damped.add(mbd.forces.Spring(damped["a"], damped["b"], stiffness=1.0, damping=0.1, name="damper"))
    refused(damped, Rattle(), "stages go back in time; force 'damper' depends on velocities")
    user = points()
    user.add(mbd.forces.UserForce(user["p0"], lambda t, z, v: np.concatenate((-v[:, :3], 0.0 * v[:, 3:]), axis=1),
                                  name="drag"))  # fmt: skip
    refused(user, GonzalezEM(), "force 'drag' depends on velocities")
