"""Steps that are many periods of a stiff spring long: the root nearest to the start of the step, and round-off.

Along its line a spring is linear, so that what a method makes of it is known in closed form for any step.
"""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd import integrators as methods
from mbd.rotation import from_rotation_vector

pytestmark = pytest.mark.filterwarnings("ignore::mbd.AccuracyWarning")  # numerical damping takes vibrations away

H, STEPS = 0.01, 8
STRETCH = 0.1  # m
ALPHAS = [
    methods.GeneralizedAlpha(),
    methods.GeneralizedAlpha(rho_inf=0.5),
    methods.GeneralizedAlpha(stabilized=True),
    methods.GeneralizedAlpha(newton="modified", predictor="last"),
]
MIDPOINTS = [
    methods.LieEM(),
    methods.GonzalezEM(),
    methods.GGLEM(),
    methods.GGLMidpoint(),
    methods.DiscreteVariational(),
    methods.LivensEM(),
    methods.LivensMidpoint(),
    methods.HamiltonianEM(),
    methods.HamiltonianMidpoint(),
]


def alpha_oscillator(rho: float, square: float, u: float, v: float) -> np.ndarray:
    """Displacements of u'' = -square u by generalized-alpha, from a_0 = u''_0 + (am - af) h u'''."""
    am, af = (2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0)
    gamma = 0.5 + af - am
    beta = 0.25 * (gamma + 0.5) ** 2
    vd = -square * u
    a = vd - (am - af) * H * square * v
    out = [u]
    for _ in range(STEPS):
        # (1 - am) a1 + am a = (1 - af) u1'' + af u'' with u1'' = -square (base + h^2 beta a1)
        base = u + H * v + H * H * (0.5 - beta) * a
        a1 = (af * vd - am * a - (1.0 - af) * square * base) / (1.0 - am + (1.0 - af) * square * H * H * beta)
        u = base + H * H * beta * a1
        v += H * ((1.0 - gamma) * a + gamma * a1)
        a, vd = a1, -square * u
        out.append(u)
    return np.array(out)


def midpoint_oscillator(square: float, u: float, v: float) -> np.ndarray:
    """Displacements by the implicit midpoint rule, to which the others reduce on a linear oscillator."""
    out, c = [u], 0.25 * square * H * H
    for _ in range(STEPS):
        new = ((1.0 - c) * u + H * v) / (1.0 + c)
        u, v = new, 2.0 * (new - u) / H - v
        out.append(u)
    return np.array(out)


def reference(method: methods.Integrator, square: float, v: float) -> np.ndarray:
    if isinstance(method, methods.GeneralizedAlpha):
        return alpha_oscillator(method.rho_inf, square, STRETCH, v)
    return midpoint_oscillator(square, STRETCH, v)


@pytest.mark.parametrize("method", [*ALPHAS, *MIDPOINTS], ids=lambda m: m.name)
def test_the_mass_on_a_stiff_spring_stays_on_its_side_of_the_anchor(method):
    for stiffness in (1e4, 1e6, 1e9):
        for length in (0.15, 0.5, 2.0):
            model = mbd.Model()
            body = model.add(mbd.PointMass("mass", 1.0, (0.0, length + STRETCH, 0.0)))
            model.add(mbd.forces.Spring(model.ground, body, stiffness=stiffness, length=length))
            solution = mbd.simulate(model, STEPS * H, H, method)
            expected = reference(method, stiffness, 0.0)
            assert np.abs(solution[body].position[:, 1] - length - expected).max() < 1e-6 * STRETCH
            assert np.abs(solution[body].position[:, [0, 2]]).max() < 1e-9


@pytest.mark.parametrize("method", [*ALPHAS, *MIDPOINTS], ids=lambda m: m.name)
def test_two_bodies_on_a_stiff_spring_that_fly_through_space(method):
    stiffness, length, speed = 1e6, 0.4, 5.0  # speed: the masses approach each other
    direction, drift = np.array([2.0, -1.0, 2.0]) / 3.0, np.array([30.0, 10.0, -20.0])
    model, masses = mbd.Model(), (1.0, 3.0)
    bodies = []
    for i, mass in enumerate(masses):
        share = (-masses[1], masses[0])[i] / sum(masses)
        position = np.array([5.0, 6.0, 7.0]) + share * (length + STRETCH) * direction
        bodies.append(model.add(mbd.PointMass(f"mass {i}", mass, position, drift - share * speed * direction)))
    model.add(mbd.forces.Spring(*bodies, stiffness=stiffness, length=length))
    solution = mbd.simulate(model, STEPS * H, H, method)
    separation = solution[bodies[1]].position - solution[bodies[0]].position
    square = stiffness * (1.0 / masses[0] + 1.0 / masses[1])
    expected = np.outer(length + reference(method, square, -speed), direction)
    assert np.abs(separation - expected).max() < 1e-6 * STRETCH


@pytest.mark.parametrize("method", [methods.GeneralizedAlpha(), methods.LieEM()], ids=lambda m: m.name)
def test_a_spring_by_a_function_finds_the_same_root(method):
    model = mbd.Model()
    body = model.add(mbd.PointMass("mass", 1.0, (0.5 + STRETCH, 0.0, 0.0)))
    model.add(mbd.forces.NonlinearSpring(model.ground, body, function=lambda d, rate: 1e6 * (d - 0.5)))
    solution = mbd.simulate(model, H, H, method)
    assert abs(solution[body].position[-1, 0] - 0.5 - reference(method, 1e6, 0.0)[1]) < 1e-6 * STRETCH


@pytest.mark.parametrize(
    ("method", "node"),
    [
        (methods.GeneralizedAlpha(), mbd.nodes.RotationVector),
        (methods.GeneralizedAlpha(stabilized=True), mbd.nodes.Quaternion),
        (methods.LieEM(), mbd.nodes.RotationVector),
        (methods.GGLEM(), mbd.nodes.Directors),
        (methods.LivensMidpoint(), mbd.nodes.Quaternion),
    ],
    ids=lambda x: getattr(x, "name", None) or x.__name__,
)
def test_a_wheel_on_a_stiff_torsion_spring_does_not_turn_over(method, node):
    """The acceleration at the start would turn it by 50 rad in a step, and its frame is the same in every turn."""
    model = mbd.Model()
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (0.1, 0.1, 0.1), node(lie=node is mbd.nodes.RotationVector)))
    hinge = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0.0, 0.0, 0.0), axis=(0.0, 0.0, 1.0)))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=1e6, rest=STRETCH))
    solution = mbd.simulate(model, STEPS * H, H, method)
    assert np.abs(solution[hinge].angle - STRETCH).max() < 1.01 * STRETCH
    assert np.ptp(solution[hinge].angle) > 1.5 * STRETCH


def on_bushings(stiffness: float, node: type, lie: bool) -> mbd.Model:
    """Five bodies askew in a row, each on a bushing to the last, with a load that grows from zero."""
    random = np.random.default_rng(3)
    model = mbd.Model(gravity=(0.0, 0.0, 0.0))
    last, position, turn = model.ground, np.zeros(3), np.eye(3)
    for i in range(5):
        new, new_turn = random.normal(size=3), from_rotation_vector(random.normal(size=3))
        body = model.add(
            mbd.RigidBody(f"body {i}", 1.0 + i, (0.1, 0.12, 0.15), node(position=new, rotation=new_turn, lie=lie))
        )
        at = new + 0.1 * random.normal(size=3)
        model.add(
            mbd.forces.Bushing(
                last,
                body,
                turn.T @ (at - position),
                new_turn.T @ (at - new),
                stiffness=stiffness,
                rotational_stiffness=stiffness,
            )
        )
        last, position, turn = body, new, new_turn
    model.add(mbd.forces.Force(last, lambda t: (30.0 * t, 20.0 * t, -10.0 * t), point=(0.1, 0.2, 0.3)))
    return model


@pytest.mark.parametrize("stiffness", [1e2, 1e4, 1e6, 1e8, 1e10])
def test_stiff_springs_at_rest_are_at_round_off_and_not_stuck(stiffness):
    """Forces of the moment are zero at the start, so that nothing but the coordinates tells what round-off is."""
    runs = [(method, mbd.nodes.RotationVector, True) for method in (*ALPHAS[:3], methods.LieEM())]
    runs += [(method, mbd.nodes.Directors, False) for method in MIDPOINTS[1:]]
    runs += [(method, mbd.nodes.Quaternion, False) for method in MIDPOINTS[4:]]
    ends = {}
    for method, node, lie in runs:
        body = mbd.simulate(on_bushings(stiffness, node, lie), 5 * H, H, method)["body 4"]
        ends[repr(method), node.__name__] = body.position[-1] - body.position[0]
    scale = np.abs(ends[repr(methods.LieEM()), "RotationVector"]).max()
    for (name, _), end in ends.items():
        agreement = 1e-4 if "GeneralizedAlpha" not in name else 0.05  # numerical damping
        assert np.abs(end - ends[repr(methods.LieEM()), "RotationVector"]).max() < agreement * scale, name
