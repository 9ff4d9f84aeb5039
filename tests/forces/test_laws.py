"""Force laws: closed solutions, energy balances, and agreement of user functions with built-in elements."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson

import mbd

NODES = [
    mbd.nodes.RotationVector(),
    mbd.nodes.Quaternion(),
    mbd.nodes.Directors(),
    mbd.nodes.EulerAngles(sequence="zxz", lie=True),
]
BALANCE = 1e-6


def energy_gap(solution):
    """Largest difference of the energy from what loads, dampers and drivers have put in."""
    work = cumulative_simpson(solution.power, x=solution.t, initial=0.0)
    return float(np.abs(solution.energy.total - solution.energy.total[0] - work).max())


def two_bodies(node):
    model = mbd.Model("two", gravity=(0, 0, -1.0))
    settings = {"angular_velocity": (0.3, -0.2, 0.5), "velocity": (0.1, 0.2, 0.0)}
    bodies = [
        model.add(
            mbd.RigidBody(
                name, mass=2.0, inertia=(0.2, 0.3, 0.4), node=mbd.nodes.RotationVector(position=x, **settings)
            )
        )
        for name, x in (("a", (0, 0, 0)), ("b", (1.0, 0.2, 0.1)))
    ]
    return model, *bodies


FORCES = {
    "green": lambda a, b: mbd.forces.GreenSpring(
        a, b, (0.1, 0, 0), (0, 0.1, 0), stiffness=30.0, length=0.8, damping=0.5
    ),
    "law": lambda a, b: mbd.forces.NonlinearSpring(
        a, b, (0.1, 0, 0), (0, 0.1, 0), lambda x, v: 20 * (x - 0.8) ** 3 + 0.3 * v
    ),
    "gravitation": lambda a, b: mbd.forces.Gravitation(a, b, 0.05),
    "drag": lambda a, b: mbd.forces.Drag(b, 0.7, 0.1, point=(0.1, 0.2, 0), wind=(1, 0, 0)),
    "force": lambda a, b: mbd.forces.Force(b, lambda t, z, v: (0.1 * z[0, 3], t - v[0, 1], 0.0 * t), point=(0.1, 0, 0)),
    "follower": lambda a, b: mbd.forces.Torque(b, lambda t, z, v: (0.1 * t, 0.2 * v[0, 3], 0.1 * t), frame="body"),
    "potential": lambda a, b: mbd.forces.UserPotential([a, b], lambda z: np.sum((z[0, :3] - z[1, :3]) ** 2) ** 2),
}


@pytest.mark.parametrize("name", FORCES)
@pytest.mark.parametrize("node", NODES, ids=str)
def test_energy_balance(node, name):
    model, a, b = two_bodies(node)
    force = model.add(FORCES[name](a, b))
    model = model.with_nodes(node)
    solution = mbd.simulate(model, 1.0, 0.005, mbd.integrators.RK4())
    assert energy_gap(solution) < BALANCE
    gap = [energy_gap(mbd.simulate(model, 1.0, h)) for h in (0.02, 0.01)]
    assert gap[1] < 0.3 * gap[0] or gap[1] < BALANCE
    # what the element reports: power is force times velocity, and minus the change of its energy if it has one
    view = solution[force.name]
    if name in ("gravitation", "potential"):
        assert view.power == pytest.approx(-np.gradient(view.energy, solution.t, edge_order=2), abs=1e-2)
    assert np.abs(view.force).max() + np.abs(view.torque).max() > 0.0


def test_kepler_orbit():
    """An ellipse of eccentricity 0.3 closes after 2 pi sqrt(a^3 / mu)."""
    model = mbd.Model("orbit")
    heavy, light = 3.0, 1.0
    mu, axis, eccentricity = 2.0 * (heavy + light), 1.0, 0.3
    r = axis * (1 - eccentricity)
    v = np.sqrt(mu * (2 / r - 1 / axis))
    a = model.add(mbd.PointMass("heavy", heavy, (-r * 0.25, 0, 0), (0, -v * 0.25, 0)))
    b = model.add(mbd.PointMass("light", light, (r * 0.75, 0, 0), (0, v * 0.75, 0)))
    model.add(mbd.forces.Gravitation(a, b, 2.0))
    period = 2 * np.pi * np.sqrt(axis**3 / mu)
    solution = mbd.simulate(model, period, period / 2000, mbd.integrators.RK6())
    assert solution[b].position[-1] == pytest.approx(solution[b].position[0], abs=1e-9)
    assert solution["gravitation 1"].length.max() == pytest.approx(axis * (1 + eccentricity), abs=1e-5)
    assert np.ptp(solution.energy.total) < 1e-9
    assert solution.momentum.angular == pytest.approx(np.tile(solution.momentum.angular[0], (2001, 1)), abs=1e-11)


def test_terminal_velocity():
    model = mbd.Model("fall", gravity=(0, 0, -9.81))
    ball = model.add(mbd.PointMass("ball", 2.0, (0, 0, 0)))
    model.add(mbd.forces.Drag(ball, 0.5))
    solution = mbd.simulate(model, 3.0, 0.01, mbd.integrators.RK4())
    limit = np.sqrt(2.0 * 9.81 / 0.5)
    assert solution[ball].velocity[:, 2] == pytest.approx(-limit * np.tanh(9.81 * solution.t / limit), abs=1e-7)


def test_control_follows_its_target():
    """Critically damped control: the error obeys J e'' + kd e' + kp e = J target''."""
    model = mbd.Model("servo")
    arm = model.add(mbd.RigidBody("arm", mass=1.0, inertia=(0.2, 0.2, 0.2)))
    hinge = model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 0, 1)))
    servo = model.add(mbd.forces.PDControl(hinge, lambda t: 8.0 * np.sin(t), kp=80.0, kd=8.0))
    solution = mbd.simulate(model, 6.0, 0.005, mbd.integrators.RK4())
    t = solution.t
    complex_gain = (80.0 + 8.0j) / (80.0 - 0.2 + 8.0j)
    steady = 8.0 * np.imag(complex_gain * np.exp(1j * t))
    assert solution[hinge].angle[t > 3.0] == pytest.approx(steady[t > 3.0], abs=1e-6)
    assert energy_gap(solution) < 1e-2  # of 40 J; the first steps limit the quadrature
    assert np.abs(solution[servo].power - solution[servo].torque[:, 2] * solution[hinge].angle_rate).max() < 1e-12


def test_user_force_equals_the_built_in_spring():
    def tension(t, frames, velocities):
        d = frames[1, :3] - frames[0, :3]
        length = np.sqrt(np.sum(d * d))
        out = np.zeros_like(velocities)
        out[0, :3] = 40.0 * (length - 0.7) / length * d
        out[1, :3] = -out[0, :3]
        return out

    def stored(z):
        return 20.0 * (np.sqrt(np.sum((z[1, :3] - z[0, :3]) ** 2)) - 0.7) ** 2

    results = []
    for make in (
        lambda a, b: mbd.forces.Spring(a, b, stiffness=40.0, length=0.7),
        lambda a, b: mbd.forces.UserForce([a, b], tension),
        lambda a, b: mbd.forces.UserPotential([a, b], stored),
        lambda a, b: mbd.forces.NonlinearSpring(a, b, function=lambda x, v: 40.0 * (x - 0.7)),
    ):  # fmt: skip
        model, a, b = two_bodies(None)
        force = model.add(make(a, b))
        solution = mbd.simulate(model, 1.0, 0.01)
        results.append((solution[b].position[-1], solution[force].force[-1], solution.stats["newton_iterations"]))
    for position, force, iterations in results[1:]:
        assert position == pytest.approx(results[0][0], abs=1e-8)
        assert force == pytest.approx(results[0][1], abs=1e-6)
        assert iterations <= 1.1 * results[0][2]  # the tangent is exact


def test_user_constraint_equals_the_built_in_joint():
    def rod(frames, t):
        d = frames[1, :3] - frames[0, :3]
        return 0.5 * (np.sum(d * d) - 1.05)

    solutions = []
    for make in (lambda a, b: mbd.joints.Distance(a, b), lambda a, b: mbd.joints.UserConstraint([a, b], rod)):
        for method in (mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4()):
            model, a, b = two_bodies(None)
            joint = model.add(make(a, b))
            solution = mbd.simulate(model, 1.0, 0.01, method)
            assert np.linalg.norm(solution[b].position - solution[a].position, axis=1) == pytest.approx(np.sqrt(1.05))
            solutions.append((solution[b].position[-1], solution[joint].force[-1]))
    for i in (0, 1):
        assert solutions[i + 2][0] == pytest.approx(solutions[i][0], abs=1e-7)
        assert solutions[i + 2][1] == pytest.approx(solutions[i][1], abs=1e-5)


def test_rheonomic_user_constraint_does_work():
    """A bead on a rotating wire: r'' = rate^2 r, with the energy that the wire puts in."""
    rate = 1.5

    def wire(frames, t):
        return frames[0, 1] * np.cos(rate * t) - frames[0, 0] * np.sin(rate * t), frames[0, 2]

    model = mbd.Model("wire")
    bead = model.add(mbd.PointMass("bead", 1.0, (0.5, 0, 0), (0, 0.75, 0)))
    model.add(mbd.joints.UserConstraint(bead, wire))
    solution = mbd.simulate(model, 2.0, 0.002, mbd.integrators.RK4())
    radius = np.linalg.norm(solution[bead].position, axis=1)
    assert radius == pytest.approx(0.5 * np.cosh(rate * solution.t), rel=1e-7)
    assert energy_gap(solution) < 1e-5


def test_wrong_functions_are_refused_with_their_name():
    model, a, b = two_bodies(None)
    model.add(mbd.forces.UserForce([a, b], lambda t, z, v: (1.0, 2.0), name="mine"))
    with pytest.raises(mbd.ModelError, match=r"mine.*expected 12 finite numbers, shape \(2, 6\)"):
        mbd.simulate(model, 0.1, 0.01)
    with pytest.raises(mbd.ModelError, match="failed in the initial configuration with ZeroDivisionError"):
        mbd.joints.UserConstraint([a, b], lambda z, t: 1 / 0)
    with pytest.raises(mbd.ModelError, match="has no mass"):
        mbd.forces.Gravitation(model.ground, a)


def test_a_function_that_fails_in_a_run_stops_it():
    seen = []

    def fails(t, frames, velocities):
        if t > 0.05:
            raise ValueError("too late")
        seen.append(t)  # what numba cannot compile
        return [[0.0] * 6]

    model, a, b = two_bodies(None)
    model.add(mbd.forces.UserForce(a, fails, name="mine"))
    with pytest.warns(UserWarning, match="plain Python"), pytest.raises(mbd.ModelError, match="too late"):
        mbd.simulate(model, 0.2, 0.01)


def test_a_saved_run_with_functions_can_be_read(tmp_path):
    model, a, b = two_bodies(None)
    model.add(mbd.forces.UserForce([a, b], lambda t, z, v: -0.5 * v, name="damper"))
    model.add(mbd.forces.Force(b, lambda t, z, v: (0.1 * t, 0.2 * z[0, 1], 0.0 * t), name="load"))
    model.add(mbd.joints.UserConstraint([a, b], lambda z, t: np.sum((z[1, :3] - z[0, :3]) ** 2) - 1.05, name="rod"))
    model.add(mbd.forces.Gravitation(a, b, 0.1, name="attraction"))
    solution = mbd.simulate(model, 0.2, 0.01)
    solution.save(tmp_path / "run.npz")
    again = mbd.load(tmp_path / "run.npz")
    assert again["b"].position == pytest.approx(solution["b"].position)
    assert again.power == pytest.approx(solution.power)
    assert again["attraction"].energy == pytest.approx(solution["attraction"].energy)
    with pytest.raises(mbd.ModelError, match="files do not contain"):
        again["damper"].force.sum()
    with_model = mbd.load(tmp_path / "run.npz", model=model)
    assert with_model["damper"].force == pytest.approx(solution["damper"].force)


def test_a_compiled_function_that_fails_stops_the_run():
    def fails(t, frames, velocities):
        if t > 0.05:
            raise ValueError
        return np.zeros_like(velocities)

    model, a, b = two_bodies(None)
    model.add(mbd.forces.UserForce(a, fails, name="mine"))
    with pytest.raises(mbd.ModelError, match="'mine': its function raised ValueError at t = 0.06 ") as caught:
        mbd.simulate(model, 0.2, 0.01)
    assert caught.value.solution.t[-1] == pytest.approx(0.05)


def _central(t, z, v):
    d = z[1, :3] - z[0, :3]
    out = np.zeros_like(v)
    for i in range(3):
        out[0, i] = d[i]
    return out


def _conditional(t, z, v):
    return -v if z[0, 0] > 0.0 else z[:, 3:9]


@pytest.mark.parametrize(
    ("function", "velocities", "turns"),
    [
        (lambda t, z, v: 1.0 * z[:, :6], False, True),
        (lambda t, z, v: ((z[0, 0], 0, 0, 0, 0, 0),) * 2, False, False),
        (lambda t, z, v: -v, True, True),
        (lambda t, z, v: np.concatenate((v[:, :3], 0.0 * v[:, :3]), axis=1), True, False),
        (lambda t, z, v: [z[i, :3] for i in range(2)], False, True),  # read by another code object
        (_central, True, False),
        (_conditional, True, True),
        (np.add, True, True),
    ],
)
def test_what_a_user_force_looks_at(function, velocities, turns):
    """Velocities and rotations are left out only where they certainly do not matter."""
    from mbd.elements.frame_kinds import USES_TURNS, USES_VELOCITIES
    from mbd.elements.user_functions import uses_of

    uses = uses_of(function, 2, np.linspace(0.1, 1.0, 37))
    assert bool(uses & USES_VELOCITIES) == velocities and bool(uses & USES_TURNS) == turns


@pytest.mark.parametrize(
    ("function", "style", "expected"),
    [
        (lambda z: z[0, 0] * z[1, 2], "potential", [0, 14]),
        (lambda z, t: z[1, :3] - t, "constraint", [12, 13, 14]),
        (lambda z: np.sum(z * z), "potential", list(range(24))),
        (lambda z: z[0, 0] if z[0, 1] > 0 else z[0, 2], "potential", list(range(24))),
    ],
)
def test_entries_of_frames_that_a_function_depends_on(function, style, expected):
    from mbd.elements.user_functions import used_entries

    assert used_entries(function, style, 2, np.linspace(0.1, 1.0, 37)) == expected
