"""The same assembly in every parametrisation, and in mixtures, moves in the same way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4, RK6, GeneralizedAlpha
from mbd.nodes import EulerAngles, Quaternion, RotationVector
from mbd.rotation import SEQUENCES, from_rotation_vector
from tests.integrators.models import NODES, chain, heavy_top, random_nodes, skew_top, slider_crank

OUTPUT = 0.05
OFFSET = (0.1, -0.05, 0.2)

# assembly: how to make it, end of the run, step of RK4
ASSEMBLIES: dict[str, tuple[Callable[..., mbd.Model], float, float]] = {
    "heavy top": (heavy_top, 0.25, 2.5e-4),
    "heavy top, tip": (lambda node: heavy_top(node, offset=True), 0.25, 2.5e-4),
    "heavy top, pinned": (lambda node: heavy_top(node, pinned=True), 0.25, 2.5e-4),
    "chain": (chain, 0.5, 2.5e-3),
    "chain, offset": (lambda node: chain(node, com=OFFSET), 0.5, 2.5e-3),
    "chain, ball": (lambda node: chain(node, first="ball"), 0.5, 2.5e-3),
    "chain, pinned": (lambda node: chain(node, first="pinned"), 0.5, 2.5e-3),
    "chain, weight": (lambda node: chain(node, point_mass=True), 0.5, 2.5e-3),
    "slider-crank": (slider_crank, 0.5, 1e-3),
}
SAME_MOTION = {
    "heavy top, tip": "heavy top",
    "heavy top, pinned": "heavy top",
    "chain, offset": "chain",
    "chain, pinned": "chain, ball",
}
METHODS = {
    "index 3": GeneralizedAlpha(stabilized=False, tolerance=1e-10),
    "index 2": GeneralizedAlpha(stabilized=True, tolerance=1e-10),
    "RK4": RK4(),
    "DOPRI5": DOPRI5(rtol=1e-9, atol=1e-10),
}
EXPLICIT_ERROR = 2e-6  # of explicit methods, in metres and in the entries of rotation matrices
IMPLICIT_ERROR = 2e-2  # of generalized-alpha at a quarter of the step of RK4
NEAR_LOCK = 2e-2  # fast swinging angles cost accuracy before they are refused
EXTRAPOLATED = 0.15  # what extrapolation from two runs must leave of that


def motion(solution: mbd.Solution) -> np.ndarray:
    """Centres of mass and rotation matrices of all bodies at the output times."""
    rows = [solution[b].com if isinstance(b, mbd.RigidBody) else solution[b].position for b in solution.model.bodies]
    rows += [solution[b].rotation.reshape(-1, 9) for b in solution.model.bodies if isinstance(b, mbd.RigidBody)]
    return np.concatenate(rows, axis=1)


@cache
def reference(assembly: str) -> np.ndarray:
    make, t_end, step = ASSEMBLIES[SAME_MOTION.get(assembly, assembly)]
    return motion(mbd.simulate(make(RotationVector), t_end, 0.2 * step, RK6(), output_step=OUTPUT))


def check(model: mbd.Model, assembly: str, method: str) -> None:
    integrator = METHODS[method]
    _, t_end, step = ASSEMBLIES[assembly]
    exact = reference(assembly)
    if integrator.order > 2:
        assert np.abs(motion(mbd.simulate(model, t_end, step, integrator, output_step=OUTPUT)) - exact).max() < (
            EXPLICIT_ERROR
        )
        return
    coarse, fine = (motion(mbd.simulate(model, t_end, c * step, integrator, output_step=OUTPUT)) for c in (0.25, 0.125))
    error = np.abs(coarse - exact).max()
    left = np.abs(fine + (fine - coarse) / 3.0 - exact).max()
    assert error < IMPLICIT_ERROR
    assert left < max(EXTRAPOLATED * error, EXPLICIT_ERROR)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("assembly", ASSEMBLIES)
def test_every_node(assembly, node, method):
    check(ASSEMBLIES[assembly][0](NODES[node]), assembly, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("assembly", [name for name in ASSEMBLIES if "top" not in name])
def test_random_mixtures(assembly, seed, method):
    check(random_nodes(ASSEMBLIES[assembly][0](RotationVector), 10 + seed), assembly, method)


@pytest.mark.parametrize("sequence", ["xyz", "yzx", "zyx"])
def test_other_angles_on_the_slider_crank(sequence):
    for method in METHODS:
        check(slider_crank(EulerAngles(sequence=sequence)), "slider-crank", method)


# --- charts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_rotation_vectors_stay_in_their_ball(method):
    """|psi| <= pi after every step, through any number of turns, and the motion does not notice."""
    for lie in (True, False):
        for model in (heavy_top(RotationVector(lie=lie)), skew_top(RotationVector(lie=lie), pinned=True)):
            solution = mbd.simulate(model, 2.0, 1e-3, METHODS[method])
            psi = solution.q[:, -3:]
            length = np.linalg.norm(psi, axis=1)
            assert length.max() <= np.pi * (1.0 + 1e-12)
            assert np.abs(np.diff(psi, axis=0)).max() > 2.0, "this motion should have changed the chart"
            assert np.isfinite(solution.vd).all()


def through_the_lock(sequence: str, lie: bool) -> mbd.Model:
    """A free body of which only the middle angle changes: from 0.5 rad, at 270 degrees per second."""
    i, j, k = (np.eye(3)["xyz".index(letter)] for letter in sequence)
    turns = [from_rotation_vector(angle * axis) for angle, axis in ((0.3, i), (0.5, j), (0.2, k))]
    spin = 1.5 * np.pi * turns[2].T @ j
    start = EulerAngles(rotation=turns[0] @ turns[1] @ turns[2], angular_velocity=spin, sequence=sequence, lie=lie)
    model = mbd.Model("through the lock")
    model.add(mbd.RigidBody("body", 2.0, (0.3, 0.3, 0.3), start))
    return model


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_lie_euler_angles_pass_gimbal_lock(sequence, method):
    model = through_the_lock(sequence, lie=True)
    other = mbd.simulate(model.with_nodes(RotationVector), 2.0, 0.01, METHODS[method])["body"]
    body = mbd.simulate(model, 2.0, 0.01, METHODS[method])["body"]
    np.testing.assert_allclose(body.rotation[-1], other.rotation[-1], atol=1e-9)
    np.testing.assert_allclose(body.angular_velocity, other.angular_velocity, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_conventional_euler_angles_say_that_they_lock(sequence, method):
    with pytest.raises(mbd.SingularityError) as caught:
        mbd.simulate(through_the_lock(sequence, lie=False), 2.0, 0.01, METHODS[method])
    message = str(caught.value)
    for word in ("'body'", "gimbal lock", "another sequence", "lie=True", "Quaternion"):
        assert word in message
    assert caught.value.body == "body"
    part = caught.value.solution
    assert not part.complete
    assert 0.0 < part.t[-1] <= caught.value.time < 2.0
    for values in (part.q, part.v, part.vd, part.energy.total):
        assert np.isfinite(values).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_tumbling_in_euler_angles_is_right_or_refused(seed, method):
    """Never NaN, and never a wrong motion without a word: near gimbal lock the angles may swing as they like."""
    rng = np.random.default_rng(seed)
    model = mbd.Model("tumbling", gravity=(0, 0, -9.81))
    start = RotationVector(rotation=mbd.rotation(rng.normal(size=3)), angular_velocity=rng.normal(size=3) * 5.0)
    body = model.add(mbd.RigidBody("body", 2.0, (0.3, 0.5, 0.4), start))
    model.add(mbd.forces.Spring(model.ground, body, (0, 0, 2), (0.3, 0.2, 0.1), stiffness=40.0, length=1.0))
    right = mbd.simulate(model, 3.0, 1e-3, METHODS[method], output_step=0.01)
    for sequence in SEQUENCES:
        try:
            solution = mbd.simulate(
                model.with_nodes(EulerAngles(sequence=sequence)), 3.0, 1e-3, METHODS[method], output_step=0.01
            )
        except mbd.SingularityError as error:
            solution = error.solution
            if solution is None:
                continue  # it starts in gimbal lock
        n = min(len(solution), len(right))
        assert np.isfinite(solution.q).all()
        assert np.isfinite(solution.v).all()
        difference = np.abs(solution["body"].rotation[:n] - right["body"].rotation[:n]).max(initial=0.0)
        assert difference < NEAR_LOCK, sequence


def test_start_in_gimbal_lock_is_refused_with_advice():
    model = mbd.Model()
    with pytest.raises(mbd.SingularityError, match=r"body 'b'.*gimbal lock.*another sequence.*lie=True.*Quaternion"):
        model.add(
            mbd.RigidBody("b", 1.0, (1, 1, 1), EulerAngles(rotation=mbd.rotation((0, np.pi / 2, 0)), sequence="xyz"))
        )


# --- what with_nodes keeps ----------------------------------------------------------------------------------------


def test_energies_and_reactions_agree_across_nodes():
    motions = []
    for node in (RotationVector, Quaternion, NODES["directors"], EulerAngles(sequence="xzy")):
        solution = mbd.simulate(chain(node), 0.5, 2.5e-3, RK4(), output_step=OUTPUT)
        parts = [solution.energy.kinetic[:, None], solution.energy.potential[:, None], solution.momentum.angular]
        parts += [solution[joint].force for joint in solution.model.joints]
        parts += [solution[joint].torque for joint in solution.model.joints]
        motions.append(np.concatenate(parts, axis=1))
    for other in motions[1:]:
        np.testing.assert_allclose(other, motions[0], atol=2e-5)
