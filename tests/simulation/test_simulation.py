"""simulate(): times, output, restart, interruption, errors, large models."""

from __future__ import annotations

import os
import signal
import warnings

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, ODE23, RK4, RK6, GeneralizedAlpha
from mbd.integrators.alpha.methods import PaperAlpha
from mbd.io.progress import Progress
from mbd.nodes import Quaternion, RotationVector
from tests.integrators.models import bars_with_balls, chain, heavy_top, slider_crank

INTEGRATORS = {
    "RK4": RK4(),
    "RK6": RK6(),
    "ODE23": ODE23(),
    "DOPRI5": DOPRI5(),
    "DOPRI5 fixed": DOPRI5(fixed=True),
    "index 3": GeneralizedAlpha(stabilized=False),
    "index 2": GeneralizedAlpha(),
    "modified": GeneralizedAlpha(newton="modified", stabilized=False),
    "full, index 2": GeneralizedAlpha(newton="full"),
    "modified, index 2": GeneralizedAlpha(newton="modified", stabilized=True),
    "paper": PaperAlpha(newton="full", stabilized=False),
    "last": GeneralizedAlpha(predictor="last", stabilized=False, stiffness=False, tangent_operator=False),
}
every_integrator = pytest.mark.parametrize("name", INTEGRATORS)


def pendulum(angle: float = 0.0, torque=None, **arguments) -> mbd.Model:
    """A bar on a hinge, with a spring and a load that keeps it busy."""
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    bar = model.add(mbd.RigidBody("bar", 1.0, (0.01, 0.1, 0.1), RotationVector((0.5, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=0.5, damping=0.05, rest=angle, name="spring"))
    if torque is not None:
        model.add(mbd.forces.Torque(bar, torque, name="motor", **arguments))
    return model


# --- times and output ---------------------------------------------------------------------------------------------


@every_integrator
def test_the_last_time_is_exactly_t_end(name):
    for t_end, step in ((1.0, 0.01), (0.3, 0.1), (1.0, 0.03), (0.7, 0.011), (1.0 / 3.0, 0.01)):
        solution = mbd.simulate(pendulum(), t_end, step, INTEGRATORS[name])
        assert solution.t[0] == 0.0
        assert solution.t[-1] == t_end
        assert np.all(np.diff(solution.t) > 0.0)
        assert solution.complete
        assert solution.message == ""


def test_equal_steps_are_shortened_where_t_end_is_no_multiple():
    solution = mbd.simulate(pendulum(), 1.0, 0.03, RK4())
    assert len(solution) == 35  # 34 steps
    np.testing.assert_allclose(np.diff(solution.t), 1.0 / 34.0, rtol=1e-12)


def test_start_at_another_time():
    solution = mbd.simulate(pendulum(), 2.5, 0.01, RK4(), t_start=2.0)
    assert solution.t[0] == 2.0
    assert solution.t[-1] == 2.5
    assert len(solution) == 51
    nothing = mbd.simulate(pendulum(), 2.0, 0.01, RK4(), t_start=2.0)
    assert nothing.t.tolist() == [2.0]


@every_integrator
def test_output_step_only_thins_the_records(name):
    model, integrator = pendulum(torque=lambda t: (0.0, np.sin(5 * t), 0.0)), INTEGRATORS[name]
    thin = mbd.simulate(model, 1.0, 0.01, integrator, output_step=0.25)
    np.testing.assert_allclose(thin.t, (0.0, 0.25, 0.5, 0.75, 1.0), atol=1e-12)
    if integrator.adaptive:  # steps end at output times, so they differ within the tolerance
        full = mbd.simulate(model, 1.0, 0.01, integrator)
        np.testing.assert_allclose(thin.q[-1], full.q[-1], atol=1e-4)
        return
    full = mbd.simulate(model, 1.0, 0.01, integrator)
    assert np.array_equal(thin.q, full.q[::25])
    assert np.array_equal(thin.lam, full.lam[::25])
    last = mbd.simulate(model, 1.0, 0.01, integrator, output_step=0.3)
    np.testing.assert_allclose(last.t, (0.0, 0.3, 0.6, 0.9, 1.0), atol=1e-12)
    assert np.array_equal(last.q[-1], full.q[-1])


@every_integrator
def test_statistics(name):
    stats = mbd.simulate(pendulum(), 1.0, 0.01, INTEGRATORS[name]).stats
    for key in ("steps", "rejected", "newton_iterations", "factorizations", "wall_time"):
        assert stats[key] >= 0
    if not INTEGRATORS[name].adaptive:
        assert stats["steps"] == 100


# --- restart ------------------------------------------------------------------------------------------------------


@every_integrator
def test_restart_from_a_file_is_bit_identical(name, tmp_path):
    integrator = INTEGRATORS[name]
    models = [
        pendulum(0.3, lambda t: (0.0, 8.0 * np.cos(3 * t), 0.0)),
        chain(Quaternion),
        chain(RotationVector(lie=False)),
    ]
    for model in models:
        step = 0.01 if model.name == "pendulum" else 0.005
        whole = mbd.simulate(model, 1.0, step, integrator)
        half = mbd.simulate(model, 0.5, step, integrator)
        half.save(tmp_path / "half.npz")
        loaded = mbd.load(tmp_path / "half.npz")
        rest = mbd.simulate(model, 1.0, step, integrator, start=loaded)
        if integrator.adaptive:  # the end of the first run is a step that the uninterrupted run does not have
            np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=1e-3)
            again = mbd.simulate(model, 1.0, step, integrator, start=half)
            assert np.array_equal(rest.q, again.q)
            continue
        n = len(half)
        assert len(rest) == len(whole) - n + 1  # the start is there
        for part in ("t", "q", "v", "vd", "lam"):
            assert np.array_equal(getattr(rest, part), getattr(whole, part)[n - 1 :]), part
        assert rest.stats["steps"] == whole.stats["steps"]


def test_restart_refuses_what_does_not_fit():
    half = mbd.simulate(pendulum(), 0.5, 0.01, RK4())
    with pytest.raises(mbd.ModelError, match="RK4.*same integrator.*GeneralizedAlpha"):
        mbd.simulate(pendulum(), 1.0, 0.01, GeneralizedAlpha(), start=half)
    with pytest.raises(mbd.ModelError, match="does not fit model 'chain'"):
        mbd.simulate(chain(), 1.0, 0.01, RK4(), start=half)
    with pytest.raises(mbd.ModelError, match=r"step 0\.01.*keeps the step"):
        mbd.simulate(pendulum(), 1.0, 0.02, RK4(), start=half)
    with pytest.raises(mbd.ModelError, match="t_end"):
        mbd.simulate(pendulum(), 0.2, 0.01, RK4(), start=half)


# --- interruption and errors --------------------------------------------------------------------------------------


def not_compiled(function):
    """A function that stays plain Python, with the warning about it silenced."""
    namespace: dict = {}

    def plain(t):
        namespace["t"] = t  # numba refuses this
        return function(t)

    return plain


def run_plain(model, *arguments, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*cannot be compiled.*")
        return mbd.simulate(model, *arguments, **settings)


def test_a_python_function_says_that_it_is_slower():
    with pytest.warns(UserWarning, match="motor.*plain Python"):
        mbd.simulate(pendulum(torque=not_compiled(lambda t: (0.0, 1.0, 0.0))), 0.1, 0.01, RK4())


def test_python_and_compiled_functions_agree():
    plain = run_plain(pendulum(torque=not_compiled(lambda t: [0.0, np.cos(t), 0.0])), 0.5, 0.01, RK4())
    compiled = mbd.simulate(pendulum(torque=lambda t: (0.0, np.cos(t), 0.0)), 0.5, 0.01, RK4())
    np.testing.assert_allclose(plain.q, compiled.q, atol=1e-14)


@pytest.mark.parametrize("name", ["RK4", "DOPRI5", "index 3", "index 2"])
def test_exceptions_of_user_functions_surface(name):
    def broken(t):
        if t > 0.5:
            raise RuntimeError("the motor is broken")
        return 0.0, 1.0, 0.0

    with pytest.raises(Exception, match="motor") as caught:
        run_plain(pendulum(torque=not_compiled(broken)), 1.0, 0.01, INTEGRATORS[name])
    chain_of_errors = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert any(isinstance(error, RuntimeError) and "broken" in str(error) for error in chain_of_errors)


def test_functions_that_return_nonsense_surface():
    with pytest.raises(Exception, match="motor|3 numbers|reshape"):
        run_plain(pendulum(torque=not_compiled(lambda t: (0.0, 1.0, 0.0) if t < 0.5 else (0.0,))), 1.0, 0.01, RK4())


@pytest.mark.parametrize("name", ["RK4", "DOPRI5", "index 3"])
def test_interrupt_in_a_function_keeps_what_was_computed(name, capsys):
    def stop(t):
        if t > 0.5:
            raise KeyboardInterrupt
        return 0.0, 1.0, 0.0

    solution = run_plain(pendulum(torque=not_compiled(stop)), 1.0, 0.001, INTEGRATORS[name])
    assert not solution.complete
    assert "interrupted" in solution.message
    assert 0.0 < solution.t[-1] <= 0.5
    assert np.isfinite(solution.q).all()
    assert np.isfinite(solution.energy.total).all()
    assert "interrupted" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize("name", ["RK4", "index 3", "DOPRI5"])
def test_ctrl_c_keeps_what_was_computed(name, monkeypatch):
    model = bars_with_balls(40)
    mbd.simulate(model, 0.01, 0.005, INTEGRATORS[name])  # compile
    integrator = DOPRI5(max_step=1e-5) if name == "DOPRI5" else INTEGRATORS[name]
    updates = []

    def press(bar, t):
        """In the second part of the run: where the signal arrives does not depend on the speed of the machine."""
        updates.append(t)
        if len(updates) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Progress, "update", press)
    # processes started in the background may ignore SIGINT
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        solution = mbd.simulate(model, 20.0, 1e-4, integrator, output_step=None if integrator.adaptive else 0.1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not solution.complete
    assert "interrupted" in solution.message
    assert len(updates) == 2 and 0.0 <= solution.t[-1] <= updates[-1] < 20.0
    assert np.isfinite(solution.q).all()
    assert len(solution.t) == len(solution.q) == len(solution.lam)


def test_an_interrupted_run_can_be_continued(capsys):
    calls: list[float] = []

    def stop_once(t):
        calls.append(t)
        if t > 0.5 and len(calls) < 10**6:
            calls.extend([0.0] * 10**6)
            raise KeyboardInterrupt
        return 0.0, 1.0, 0.0

    model = pendulum(torque=stop_once)
    first = run_plain(model, 1.0, 0.01, RK4())
    rest = run_plain(model, 1.0, 0.01, RK4(), start=first)
    whole = mbd.simulate(pendulum(torque=(0.0, 1.0, 0.0)), 1.0, 0.01, RK4())
    assert rest.complete
    np.testing.assert_allclose(rest.q[-1], whole.q[-1], atol=1e-12)


def test_convergence_error_carries_the_solution_and_names_the_element():
    model = slider_crank()
    with pytest.raises(mbd.ConvergenceError) as caught:
        mbd.simulate(model, 10.0, 0.2)
    error = caught.value
    names = [element.name for element in (*model.bodies, *model.joints)]
    assert any(f"'{name}'" in str(error) for name in names)
    assert "smaller step" in str(error)
    assert error.step is not None
    assert error.solution is not None
    assert not error.solution.complete
    assert error.solution.t[-1] == pytest.approx(error.time)
    assert np.isfinite(error.solution.q).all()


def test_an_explicit_method_on_a_stiff_spring_says_what_to_do():
    model = mbd.Model("stiff")
    mass = model.add(mbd.PointMass("mass", 1.0, (1, 0, 0)))
    model.add(mbd.forces.Spring(model.ground, mass, stiffness=1e8, length=0.9))
    with pytest.raises(mbd.ConvergenceError, match=r"smaller step.*GeneralizedAlpha") as caught:
        mbd.simulate(model, 10.0, 0.01, RK4())
    assert np.isfinite(caught.value.solution.q).all()
    with pytest.warns(mbd.AccuracyWarning, match="GeneralizedAlpha with a step of 0.01"):  # stable, but not accurate
        assert mbd.simulate(model, 1.0, 0.01, GeneralizedAlpha(0.0)).complete


# --- Newton -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stabilized", [False, True], ids=["index 3", "index 2"])
@pytest.mark.parametrize("make", [heavy_top, chain, slider_crank])
def test_modified_newton_equals_full_newton(make, stabilized):
    step = 5e-4 if make is heavy_top else 2e-3
    full, modified = (
        mbd.simulate(make(), 0.5, step, GeneralizedAlpha(newton=newton, stabilized=stabilized, tolerance=1e-9))
        for newton in ("full", "modified")
    )
    np.testing.assert_allclose(modified.q, full.q, atol=2e-6)
    scale = np.abs(full.lam).max()
    np.testing.assert_allclose(modified.lam, full.lam, atol=1e-4 * scale)
    assert modified.stats["factorizations"] < full.stats["factorizations"]


def test_settings_of_newton_do_not_change_the_result():
    reference = mbd.simulate(chain(), 0.5, 2e-3, GeneralizedAlpha(tolerance=1e-11))
    settings = ({"tangent_operator": False}, {"stiffness": False}, {"predictor": "zero"}, {"predictor": "last"})
    for method in (*(GeneralizedAlpha(tolerance=1e-11, **each) for each in settings), PaperAlpha(tolerance=1e-11)):
        solution = mbd.simulate(chain(), 0.5, 2e-3, method)
        np.testing.assert_allclose(solution.q, reference.q, atol=1e-8)


def test_linear_predictor_saves_iterations():
    counts = {
        predictor: mbd.simulate(heavy_top(), 0.2, 6.25e-4, GeneralizedAlpha(predictor=predictor)).stats
        for predictor in ("zero", "last", "linear")
    }
    linear, last, zero = (counts[key]["newton_iterations"] for key in ("linear", "last", "zero"))
    assert linear <= last <= zero
    assert linear < 0.75 * zero


# --- generalized coordinates --------------------------------------------------------------------------------------


def gravity(q):
    return 9.81 * q[1]


def circle(q):
    return q[0] * q[0] + q[1] * q[1] - 1.0


@pytest.mark.parametrize(
    ("integrator", "step", "bound"),
    [
        (RK4(), 1e-3, 1e-8),
        (DOPRI5(rtol=1e-10, atol=1e-11), 1e-3, 1e-7),
        (GeneralizedAlpha(stabilized=False), 5e-4, 5e-5),
        (GeneralizedAlpha(stabilized=True), 5e-4, 5e-5),
    ],
    ids=["RK4", "DOPRI5", "index 3", "index 2"],
)
def test_pendulum_in_constrained_coordinates(integrator, step, bound):
    """IFToMM A01: a point mass on a circle from (-1, 0); analytic, by elliptic functions."""
    model = mbd.Model()
    model.add(mbd.Generalized("pendulum", (-1.0, 0.0), mass=1.0, potential=gravity, constraints=circle))
    solution = mbd.simulate(model, 10.0, step, integrator, output_step=1.0)
    q = solution["pendulum"].coordinates
    exact = {
        1: (0.98629175113, -0.16501085313),
        5: (-0.94230543504, -0.33475433841),
        10: (-0.27508746258, -0.96141920510),
    }
    for t, position in exact.items():
        np.testing.assert_allclose(q[t], position, atol=bound)
    assert np.abs(solution.energy.total).max() < 5e-5


def test_pendulum_of_a_point_mass_agrees():
    model = mbd.Model(gravity=(0, -9.81, 0))
    mass = model.add(mbd.PointMass("mass", 1.0, (-1, 0, 0)))
    model.add(mbd.joints.Distance(model.ground, mass))
    solution = mbd.simulate(model, 10.0, 1e-3, RK4(), output_step=1.0)
    np.testing.assert_allclose(solution["mass"].position[10], (-0.27508746258, -0.96141920510, 0.0), atol=1e-8)
    assert np.ptp(solution.energy.total) < 5e-5


def elastic(q):
    return 50.0 * q[0] * q[0] + 20.0 * q[1] * q[1] + 3.0 * q[0] ** 2 * q[1]


def varying_mass(q):
    return np.array([[2.0 + q[1] * q[1], 0.3 + 0.0 * q[0]], [0.3 + 0.0 * q[0], 1.0 + 0.0 * q[0]]])


@pytest.mark.parametrize("name", ["RK4", "DOPRI5", "index 3", "index 2", "modified"])
def test_generalized_and_rigid_bodies_in_one_model(name):
    """Independent parts of one model move as they do alone."""
    integrator = INTEGRATORS[name]
    both, alone = chain(), mbd.Model()
    for model in (both, alone):
        model.add(mbd.Generalized("modes", (0.1, -0.2), (0.0, 0.5), mass=varying_mass, potential=elastic))
    mixed = mbd.simulate(both, 0.5, 2e-3, integrator)
    rigid = mbd.simulate(chain(), 0.5, 2e-3, integrator)
    modes = mbd.simulate(alone, 0.5, 2e-3, integrator)
    bound = 1e-4 if integrator.adaptive else 1e-7
    n = mixed.system.n_q - 2
    np.testing.assert_allclose(mixed.q[-1, :n], rigid.q[-1], atol=bound)
    np.testing.assert_allclose(mixed.q[-1, n:], modes.q[-1], atol=bound)
    energy = modes.energy.total
    assert np.ptp(energy) < 1e-3 * abs(energy[0])


# --- large models -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["RK4", "index 3", "index 2"])
def test_chain_of_a_thousand_bodies(name):
    solution = mbd.simulate(bars_with_balls(1000), 0.01, 1e-3, INTEGRATORS[name])
    assert len(solution) == 11
    energy = solution.energy.total
    assert np.ptp(energy) < 1e-5 * abs(9810.0 * 500.0)
    assert solution.constraint_error.position.max() < 1e-9
    # far from the pivot the bars fall freely
    np.testing.assert_allclose(solution["bar 999"].position[-1, 2], -0.5 * 9.81 * 0.01**2, rtol=1e-3)
    assert solution["spherical 1"].force.shape == (11, 3)
