"""Continuing runs: what fits, what has changed, and what is refused by name."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha
from mbd.nodes import EulerAngles, Quaternion, RotationVector
from mbd.results import turns
from mbd.system.identity import changes, contradictions, fingerprint_of, method_digest

STEP = 0.01


def crank(names=("crank", "rod"), node=RotationVector, gravity=-9.81, mass=1.0, arm=1.0, joints=("a", "b"), load=None):
    """A double pendulum."""
    model = mbd.Model("double", gravity=(0, 0, gravity))
    first = model.add(mbd.RigidBody(names[0], mass, (0.1, 0.2, 0.2), RotationVector((0.5, 0, 0))))
    second = model.add(mbd.RigidBody(names[1], 1.0, (0.1, 0.2, 0.2), RotationVector((1.5, 0, 0))))
    model.add(mbd.joints.Revolute(model.ground, first, at=(0, 0, 0), axis=(0, 1, 0), name=joints[0]))
    y = (0, 1, 0)
    model.add(
        mbd.joints.Revolute(first, second, point_a=(arm - 0.5, 0, 0), point_b=(-0.5, 0, 0), axis=y, name=joints[1])
    )
    if load is not None:
        model.add(mbd.forces.Force(second, load, name="load"))
    return model.with_nodes(node)


@pytest.fixture(scope="module")
def half():
    return mbd.simulate(crank(), 0.2, STEP, RK4())


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda: crank(("rod", "crank")), "body 1 is 'rod' here and 'crank' in the state"),
        (lambda: crank(joints=("b", "a")), "joint 1 is 'b' here and 'a' in the state"),
        (
            lambda: crank(node=Quaternion),
            r"body 'crank' is Quaternion\(lie=False\) here and RotationVector\(lie=True\)",
        ),
        (
            lambda: crank(node=RotationVector(lie=False)),
            r"RotationVector\(lie=False\) here and RotationVector\(lie=True\)",
        ),
        (lambda: crank(node=EulerAngles(lie=True)), r"EulerAngles\(sequence=\"xyz\", lie=True\) here"),
    ],
    ids=["bodies", "joints", "node", "lie", "kind"],
)
def test_another_model_is_refused_by_name(half, other, message):
    with pytest.raises(mbd.ModelError, match=f"does not fit model 'double'.*{message}"):
        mbd.simulate(other(), 0.4, STEP, RK4(), start=half)


def test_sequence_and_pinned_are_part_of_the_identity():
    def top(**settings):
        model = mbd.Model("top")
        model.add(
            mbd.RigidBody("top", 1.0, (1, 2, 2.5), EulerAngles(rotation=mbd.rotation((0.3, 0.4, 0.1)), **settings))
        )
        return model

    first = mbd.simulate(top(), 0.1, STEP, RK4())
    with pytest.raises(mbd.ModelError, match='sequence="xzy".* here and .*sequence="xyz"'):
        mbd.simulate(top(sequence="xzy"), 0.2, STEP, RK4(), start=first)
    with pytest.raises(mbd.ModelError, match="pinned=True.* here"):
        mbd.simulate(top(pinned=True), 0.2, STEP, RK4(), start=first)


def test_states_without_names_are_refused(half):
    old = {key: value for key, value in half.state.items() if key not in ("identity", "fingerprint")}
    with pytest.raises(mbd.ModelError, match="no 'identity'.*older version.*model_at"):
        mbd.simulate(crank(), 0.4, STEP, RK4(), start=old)


def test_arguments_that_a_state_leaves_no_room_for(half):
    with pytest.raises(mbd.ModelError, match=r"t_start is 0\.1, but start= goes on from t = 0\.2"):
        mbd.simulate(crank(), 0.4, STEP, RK4(), start=half, t_start=0.1)
    with pytest.raises(mbd.ModelError, match="fixed= belongs to initial conditions"):
        mbd.simulate(crank(), 0.4, STEP, RK4(), start=half, fixed=["rod"])
    with pytest.raises(mbd.ModelError, match=r"t_end is 19\.6 steps of 0\.01 after the start"):
        mbd.simulate(crank(), 0.396, STEP, RK4(), start=half)


def test_a_changed_geometry_is_refused(half):
    with pytest.raises(mbd.ModelError, match=r"does not fit revolute 'b'.* violated by .*model_at"):
        mbd.simulate(crank(arm=1.1), 0.4, STEP, RK4(), start=half)


# --- what has changed ---------------------------------------------------------------------------------------------

GAIN = 1.0


class Law:
    """A load with a parameter."""

    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t):
        return (0.0, 0.0, self.gain)


def captured(gain):
    return lambda t: (0.0, 0.0, gain)


def test_what_acts_is_seen():
    """Every parameter, and every value that a function refers to; not the start and not the looks."""
    base = fingerprint_of(crank(load=(0, 0, 1)))
    assert changes(fingerprint_of(crank(load=(0, 0, 1))), base) == []
    assert changes(fingerprint_of(crank(load=(0, 0, 2))), base) == ["force 'load'"]
    assert changes(fingerprint_of(crank(mass=1.5, load=(0, 0, 1))), base) == ["body 'crank'"]
    assert changes(fingerprint_of(crank(gravity=-1.6, load=(0, 0, 1))), base) == ["gravity"]
    assert changes(fingerprint_of(crank()), base) == ["force 'load'"]
    moved = crank(load=(0, 0, 1))
    moved["rod"].node = RotationVector((1.5, 0, 0.3), velocity=(0, 0, 1))
    assert changes(fingerprint_of(moved), base) == []
    for make in (captured, Law):
        one, two = (fingerprint_of(crank(load=make(gain))) for gain in (1.0, 2.0))
        assert changes(one, two) == ["functions of force 'load'"] == contradictions(one, two)
        assert changes(fingerprint_of(crank(load=make(1.0))), one) == []


def test_functions_that_cannot_be_looked_through_count_as_changed():
    rng = np.random.default_rng(1)
    unknown = fingerprint_of(crank(load=lambda t: (0.0, 0.0, rng.normal())))
    assert changes(unknown, unknown) == ["functions of force 'load'"]
    assert contradictions(unknown, unknown) == []


def test_fingerprints_do_not_depend_on_the_process():
    code = (
        "from tests.simulation.test_continuing import *\n"
        "print(sorted(fingerprint_of(crank(load=captured(1.0))).items()))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "MBD_JIT": "0"},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert texts == {str(sorted(fingerprint_of(crank(load=captured(1.0))).items())) + "\n"}


@pytest.mark.parametrize("method", [RK4(), DOPRI5(), GeneralizedAlpha()], ids=lambda m: m.name)
def test_a_changed_parameter_acts_at_once(method):
    """The first acceleration of the continued run is that of the changed model, as it is for a run from that state."""
    first = mbd.simulate(crank(), 0.2, STEP, method)
    changed = crank(gravity=-1.6, load=captured(3.0))
    second = mbd.simulate(changed, 0.3, STEP, method, start=first)
    system = second.system
    vd, lam = system.accelerations(second.q[0], second.v[0], second.t[0])
    assert second.vd[0] == pytest.approx(vd, abs=5e-2 * np.abs(vd).max())
    assert second.lam[0] == pytest.approx(lam, abs=5e-2 * np.abs(lam).max())


def test_a_changed_method_begins_anew():
    """Start values of generalized-alpha belong to its rho_inf."""
    first = mbd.simulate(crank(), 0.2, STEP, GeneralizedAlpha(rho_inf=0.9))
    same = mbd.simulate(crank(), 0.4, STEP, GeneralizedAlpha(rho_inf=0.9), start=first)
    whole = mbd.simulate(crank(), 0.4, STEP, GeneralizedAlpha(rho_inf=0.9))
    assert np.array_equal(same.q, whole.q[len(first) - 1 :]) and same.stats["steps"] == 40
    other = mbd.simulate(crank(), 0.4, STEP, GeneralizedAlpha(rho_inf=0.2), start=first)
    assert other.stats["steps"] == 20
    reference = mbd.simulate(crank(), 0.4, 1e-3, RK4())
    assert np.abs(other["b"].force[:2] - reference["b"].force[200:211:10]).max() < 0.05


def test_a_driver_of_another_speed_imposes_it():
    """Velocities after the change are those of an impact: exact for one body; the rest of the state is kept."""

    def driven(speed):
        model = mbd.Model("driven")
        wheel = model.add(mbd.RigidBody("wheel", 1.0, (1, 1, 1), RotationVector(angular_velocity=(0, 0, 2.0))))
        model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
        model.add(
            mbd.joints.AngleDriver(
                model.ground, wheel, value=lambda t: 0.4 + speed * (t - 0.2), axis=(0, 0, 1), name="motor"
            )
        )
        return model

    first = mbd.simulate(driven(2.0), 0.2, STEP, RK4())
    with pytest.warns(mbd.errors.ModelWarning, match="'motor'.* asks for other velocities.*by -3"):
        second = mbd.simulate(driven(5.0), 0.3, STEP, RK4(), start=first)
    assert second["wheel"].angular_velocity[0] == pytest.approx((0, 0, 5.0), abs=1e-9)
    assert second["hinge"].angle[-1] == pytest.approx(0.9, abs=1e-9)


def test_turns_follow_their_springs():
    """A spring that is added before another one does not take its turns."""

    def wound(extra):
        model = mbd.Model("wound")
        wheel = model.add(mbd.RigidBody("wheel", 1.0, (1, 1, 1), RotationVector(angular_velocity=(0, 0, 10.0))))
        hinge = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
        if extra:
            model.add(mbd.forces.TorsionSpring(hinge, 1e-9, name="weak"))
        model.add(mbd.forces.TorsionSpring(hinge, 0.1, name="spring"))
        return model

    first = mbd.simulate(wound(False), 1.0, STEP, RK4())
    second = mbd.simulate(wound(True), 1.2, STEP, RK4(), start=first)
    assert first["spring"].angle[-1] > 3 * np.pi
    assert second["spring"].angle[0] == pytest.approx(first["spring"].angle[-1], abs=1e-12)
    assert second["spring"].angle[1] == pytest.approx(first["spring"].angle[-1] + 0.0945, abs=0.01)


def test_a_stopped_run_says_how_to_go_on():
    stop = mbd.Event(lambda s: s.t - 0.1234, stop=True)
    stopped = mbd.simulate(crank(), 0.2, STEP, RK4(), events=stop)
    with pytest.raises(mbd.ModelError, match=r"holds no state.*event.*model_at"):
        mbd.simulate(crank(), 0.3, STEP, RK4(), start=stopped)
    rest = mbd.simulate(mbd.model_at(stopped), 0.2, 0.0766 / 8, RK4(), t_start=stopped.t[-1])
    whole = mbd.simulate(crank(), 0.2, STEP, RK4())
    assert rest["rod"].position[-1] == pytest.approx(whole["rod"].position[-1], abs=1e-7)


def test_damaged_states_are_refused(half):
    for name, value in (("vd", np.zeros(1)), ("memory", np.zeros(3)), ("memory", np.zeros(1)), ("index", 7.5)):
        with pytest.raises(mbd.ModelError, match=f"'{name}' of the state is damaged|the state is damaged"):
            mbd.simulate(crank(), 0.4, STEP, RK4(), start={**half.state, name: value})
    with pytest.raises(mbd.ModelError, match="q of the state is not finite"):
        mbd.simulate(crank(), 0.4, STEP, RK4(), start={**half.state, "q": np.full_like(half.state["q"], np.nan)})
    for name in ("t", "step", "index", "origin"):
        for value in ("late", np.nan, None, np.zeros(2)):
            with pytest.raises(mbd.ModelError, match=f"the state is damaged: '{name}' is .*; expected a finite number"):
                mbd.simulate(crank(), 0.4, STEP, RK4(), start={**half.state, name: value})
    with pytest.raises(mbd.ModelError, match="'index' of the state is damaged: it is 0; expected 20"):
        mbd.simulate(crank(), 8.0, STEP, RK4(), start={**half.state, "origin": 7.0, "index": 0})
    with pytest.raises(mbd.ModelError, match="the state has no 'step'"):
        mbd.simulate(crank(), 0.4, STEP, RK4(), start={k: x for k, x in half.state.items() if k != "step"})
    with pytest.raises(mbd.ModelError, match=r"'input_values' has shape \(2,\); expected one for each"):
        more = {"input_names": ("u",), "input_values": np.zeros(2)}
        mbd.simulate(crank(), 0.4, STEP, RK4(), start={**half.state, **more})


def test_analyses_compare_states_by_name(half):
    """A state of bodies in another order has the right length and the wrong meaning."""
    with pytest.raises(mbd.ModelError, match="body 1 is 'rod' here and 'crank' in the state"):
        mbd.linearize(crank(("rod", "crank")), half)
    resting = mbd.equilibrium(crank())
    with pytest.raises(mbd.ModelError, match="body 1 is 'rod' here and 'crank' in the state"):
        mbd.linearize(crank(("rod", "crank")), resting)
    mbd.linearize(crank(), resting)


def test_model_at_refuses_a_model_that_was_changed_after_the_run():
    model = crank()
    solution = mbd.simulate(model, 0.02, STEP, RK4())
    model.add(mbd.PointMass("late", 1.0))
    with pytest.raises(mbd.ModelError, match="changed after the run: body 'late' is only here"):
        mbd.model_at(solution)


def test_model_at_counts_turns_on(tmp_path):
    """Also into a file: a run that begins there has the same spring torque as the one that went on."""
    model = mbd.Model("wound")
    wheel = model.add(mbd.RigidBody("wheel", 1.0, (1, 1, 1), RotationVector(angular_velocity=(0, 0, 10.0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    model.add(mbd.forces.TorsionSpring(hinge, 0.1, name="spring"))
    solution = mbd.simulate(model, 1.0, STEP, RK4())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wound = mbd.model_at(solution)
    wound.save(tmp_path / "wound.json")
    for later in (wound, mbd.Model.load(tmp_path / "wound.json")):
        again = mbd.simulate(later, 10 * STEP, STEP, RK4())
        assert again["hinge"].angle[0] == pytest.approx(solution["hinge"].angle[-1], rel=1e-14)
        assert again["spring"].energy[0] == pytest.approx(solution["spring"].energy[-1], rel=1e-13)
    assert solution["hinge"].angle[-1] > 9.0


def test_files_keep_the_fingerprint_of_functions_that_they_lack(tmp_path):
    model = crank(load=captured(2.0))
    mbd.simulate(model, 0.02, STEP, RK4()).save(tmp_path / "a.npz")
    mbd.load(tmp_path / "a.npz").save(tmp_path / "b.npz")
    for name in ("a.npz", "b.npz"):
        assert len(mbd.load(tmp_path / name, model=crank(load=captured(2.0)))) == 3
        with pytest.raises(mbd.ModelError, match="other parameters in functions of force 'load'"):
            mbd.load(tmp_path / name, model=crank(load=captured(3.0)))


def test_a_file_says_what_acted_whenever_it_was_found_out(tmp_path):
    """At the end of a run nobody has asked yet; afterwards the model may have changed."""
    solution = mbd.simulate(crank(), 0.02, STEP, RK4())
    solution.save(tmp_path / "at once.npz")
    acted = dict(solution.state["fingerprint"])
    solution.save(tmp_path / "later.npz")
    first, second = (mbd.load(tmp_path / name).state for name in ("at once.npz", "later.npz"))
    assert first["fingerprint"] == second["fingerprint"] == acted == fingerprint_of(solution.model)
    assert list(first) == list(second) and all(np.array_equal(first[name], second[name]) for name in first)
    told = (json.loads(np.load(tmp_path / name)["header"].tobytes()) for name in ("at once.npz", "later.npz"))
    assert [x["fingerprint"] for x in told] == [None, acted]  # None: that of the model in the file


def test_a_model_that_was_changed_before_saving_is_named(tmp_path):
    model = crank()
    solution = mbd.simulate(model, 0.02, STEP, RK4())
    model.gravity = (0, 0, -1.6)
    with pytest.warns(mbd.errors.ModelWarning, match=r"was changed after the run \(gravity\)"):
        solution.save(tmp_path / "x.npz")


def test_model_at_takes_records_of_methods_that_keep_axes_orthonormal_only_nearly():
    """The midpoint rule satisfies constraints up to its order; a new start is made consistent."""
    node = mbd.nodes.Directors(position=(1, 0, 0), angular_velocity=(0.3, 0.2, 4.0))
    model = mbd.Model("top")
    model.add(mbd.RigidBody("top", 1.0, (1.0, 1.2, 1.3), node))
    solution = mbd.simulate(model, 0.5, 0.02, mbd.integrators.GGLMidpoint())
    axes = solution["top"].rotation[-1]
    defect = np.abs(axes.T @ axes - np.eye(3)).max()
    assert defect > 1e-5
    again = mbd.model_at(solution).bodies[0].node
    np.testing.assert_allclose(again.rotation.T @ again.rotation, np.eye(3), atol=1e-14)
    np.testing.assert_allclose(again.rotation, axes, atol=defect)


def test_states_of_earlier_versions_know_their_method():
    """Digests as they are in files; with another one a run would quietly begin anew."""
    assert method_digest(GeneralizedAlpha()) == "b9d477bf53dc298442b086248bca9b32"
    assert method_digest(GeneralizedAlpha(stabilized=False, newton="full")) == "b696535b8a0492cd6ed7943ded1b12be"


def wound(zero: float) -> mbd.Model:
    """A wheel on a shaft with a torsion spring, that shows an angle at the start."""
    model = mbd.Model("wound")
    wheel = model.add(
        mbd.RigidBody("wheel", 1.0, (0.1, 0.1, 0.2), mbd.nodes.RotationVector(angular_velocity=(0, 0, 9)))
    )
    shaft = model.add(mbd.joints.Revolute(model.ground, wheel, at=(0, 0, 0), axis=(0, 0, 1), zero=zero, name="shaft"))
    model.add(mbd.forces.TorsionSpring(shaft, 0.05, rest=zero))
    return model


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
@pytest.mark.parametrize("zero", [4.0, 2.0 * math.pi, -2.0 * math.pi])
def test_another_zero_would_count_other_turns(coordinates, zero, tmp_path):
    """Beyond half a turn the nearest reading of an angle is another one: refused, from memory and from files."""
    first = mbd.simulate(wound(0.0).with_coordinates(coordinates), 1.0, 0.01)
    first.save(tmp_path / "first.npz")
    other = wound(zero).with_coordinates(coordinates)
    for start in (first, mbd.load(tmp_path / "first.npz")):
        with pytest.raises(mbd.ModelError, match=r"'shaft' (shows .* in the initial configuration|has another point)"):
            mbd.simulate(other, 1.5, 0.01, start=start)


def test_a_zero_nearby_is_read_on():
    """Within half a turn the reading is the old one moved by the change, whatever turns there were."""
    first = mbd.simulate(wound(0.0), 1.0, 0.01)
    same, other = (mbd.simulate(wound(zero), 1.5, 0.01, start=first) for zero in (0.0, 0.4))
    assert first["shaft"].angle[-1] > 2.0 * math.pi
    assert other["shaft"].angle == pytest.approx(same["shaft"].angle + 0.4, abs=1e-8)


def test_parameters_in_functions_are_those_of_the_model_that_goes_on():
    """A copy has parameters of its own, and its functions still refer to those of the first model.

    Taken for unchanged, the run would go on with accelerations of the old force, and lose an order.
    """
    model = mbd.Model("pushed")
    k, u = model.parameter("k", 1.0), model.input("u")
    point = model.add(mbd.PointMass("point", 1.0, (1, 0, 0)))
    model.add(mbd.forces.Force(point, lambda t: (k * np.cos(t), u, 0.0), name="push"))
    other = model.copy()
    other.parameters["k"] = 50.0
    before, after = 0.2, 0.4
    exact = 2.0 - np.cos(before) + (after - before) * np.sin(before)
    exact += 50.0 * (np.cos(before) - np.cos(after) - (after - before) * np.sin(before))
    errors = []
    for h in (0.02, 0.01):
        half = mbd.simulate(model, before, h)
        errors.append(abs(mbd.simulate(other, after, h, start=half)["point"].position[-1, 0] - exact))
    assert errors[0] / errors[1] > 3.5 and errors[1] < 1e-3
    sim = mbd.Simulator(model, 0.01)
    sim.inputs["u"] = 3.0
    sim.advance(0.1)
    state = sim.state
    sim.advance(0.1)
    model.parameters["u"] = 3.0  # as in the state: nothing is known to have changed
    assert np.array_equal(mbd.simulate(model, 0.2, 0.01, start=state).q[-1], sim.q)


def spinning():
    """A hinge and a universal joint at 20 rad/s, whose turns no element counts."""
    model = mbd.Model("spinning")
    for name, z in (("wheel", 0.0), ("cross", 1.0)):
        model.add(mbd.RigidBody(name, 1.0, (1, 1, 1), RotationVector((0, 0, z), angular_velocity=(0, 0, 20.0))))
    model.add(mbd.joints.Revolute(model.ground, model["wheel"], at=(0, 0, 0), axis=(0, 0, 1), name="hinge"))
    x, z = (1, 0, 0), (0, 0, 1)
    model.add(mbd.joints.Universal(model.ground, model["cross"], at=z, axis_a=z, axis_b=x, name="universal"))
    return model


@pytest.mark.parametrize("coordinates", ["absolute", "joint"])
def test_angles_go_on(coordinates, tmp_path, monkeypatch):
    """The records of two runs, one behind the other, are those of one, turns included; also of files and copies."""
    model = spinning().with_coordinates(coordinates)
    first = mbd.simulate(model, 2.0, STEP)
    second = mbd.simulate(model, 4.0, STEP, start=first)
    whole = mbd.simulate(model, 4.0, STEP)
    assert whole["hinge"].angle[-1] == pytest.approx(80.0, abs=1e-9)
    first.save(tmp_path / "first.npz")
    second.save(tmp_path / "second.npz")
    monkeypatch.setattr(turns, "BLOCK", 10 * 24 * 3)  # angles are followed in blocks of ten records
    stored = mbd.simulate(model, 4.0, STEP, start=mbd.load(tmp_path / "first.npz"), store=tmp_path / "second")
    from_part = mbd.simulate(model, 4.0, STEP, start=first.part(slice(120, None)))
    copied = pickle.loads(pickle.dumps(second))
    for each in (second, stored, from_part, copied, mbd.load(tmp_path / "second.npz"), mbd.load(tmp_path / "second")):
        for name in ("hinge", "universal"):
            joined = np.concatenate((first[name].coordinates, each[name].coordinates[1:]))
            assert np.array_equal(joined, whole[name].coordinates)
        assert np.array_equal(np.append(first["hinge"].angle, each["hinge"].angle[1:]), whole["hinge"].angle)


def test_events_see_the_turns_of_the_runs_before():
    model = spinning()
    first = mbd.simulate(model, 2.0, STEP)
    event = mbd.Event(lambda s: s["hinge"].angle - 70.0, name="seventy")
    assert [e.t for e in mbd.simulate(model, 4.0, STEP, start=first, events=event).events] == pytest.approx([3.5])


def test_turns_that_were_not_recorded_are_told():
    model = spinning()
    chosen = mbd.simulate(model, 2.0, STEP, record=["hinge.angle"])
    assert chosen.last["hinge"].angle == chosen["hinge.angle"][-1]
    assert mbd.simulate(model, 2.1, STEP, start=chosen)["hinge"].angle[-1] == pytest.approx(42.0, abs=1e-9)
    other = mbd.simulate(model, 2.0, STEP, record=["wheel.position"])
    with pytest.warns(mbd.ModelWarning, match=r"whole turns of 'hinge' before t = 2 are not known"):
        _ = mbd.simulate(model, 2.1, STEP, start=other)["hinge"].angle


def test_parts_know_the_turns_before_them(tmp_path):
    """Also where they are copied or saved before somebody has looked."""
    solution = mbd.simulate(spinning(), 2.0, STEP)
    part = solution.part(slice(50, 150, 2))
    part.save(tmp_path / "part.npz")
    of_part = part.part(slice(5, None))
    for each in (part, pickle.loads(pickle.dumps(part)), mbd.load(tmp_path / "part.npz")):
        assert np.array_equal(each["hinge"].angle, solution["hinge"].angle[50:150:2])
        assert np.array_equal(each["universal"].coordinates, solution["universal"].coordinates[50:150:2])
    assert np.array_equal(pickle.loads(pickle.dumps(of_part))["hinge"].angle, solution["hinge"].angle[60:150:2])
    assert solution.part(-1)["hinge"].angle[0] == solution["hinge"].angle[-1]
    assert np.array_equal(solution.part(slice(77, None))["wheel"].quaternion, solution["wheel"].quaternion[77:])
    assert np.array_equal(solution.at(solution.t[77:])["wheel"].quaternion, solution["wheel"].quaternion[77:])
    with pytest.raises(IndexError, match=r"part: there is no record 300; .* 201 records"):
        solution.part(300)


def tumbling(node=RotationVector):
    """A body that passes half a turn again and again, about an axis that moves."""
    model = mbd.Model("tumbling")
    model.add(mbd.RigidBody("body", 1.0, (0.03, 0.04, 0.05), node(angular_velocity=(1.0, 8.0, 0.5))))
    return model


@pytest.mark.parametrize("node", [RotationVector, Quaternion, mbd.nodes.Directors, EulerAngles(lie=True)])
def test_signs_of_quaternions_go_on(node, tmp_path, monkeypatch):
    """Wherever a run is divided: its parts, one behind the other, are it."""
    monkeypatch.setattr(turns, "BLOCK", 24 * 2 * 10)
    model = tumbling().with_nodes(node)
    whole = mbd.simulate(model, 2.0, STEP)
    signs = whole["body"].quaternion
    first = mbd.simulate(model, 0.5, STEP)
    assert signs[50, 0] < -0.4
    parts = [mbd.simulate(model, 2.0, STEP, start=first, **how) for how in ({}, {"store": tmp_path / "run"})]
    parts += [mbd.load(tmp_path / "run"), mbd.simulate(model, 2.0, STEP, start=first.part(-1))]
    parts += [whole.part(slice(50, None)), pickle.loads(pickle.dumps(whole.part(slice(50, None))))]
    whole.part(slice(50, None)).save(tmp_path / "part.npz")
    parts.append(mbd.load(tmp_path / "part.npz"))
    for part in parts:
        assert np.array_equal(part["body"].quaternion, signs[50:])
    chosen = mbd.simulate(model, 2.0, STEP, start=first, record=["body.quaternion"])
    assert np.array_equal(chosen["body.quaternion"], signs[50:])
    assert np.array_equal(chosen.last["body"].quaternion, signs[-1:])
    passes = mbd.Event(lambda s: s["body"].quaternion[:, 0] + 0.7, name="passes")
    times = [x.t for x in mbd.find_events(whole, passes)]
    assert times and [x.t for x in mbd.find_events(parts[0], passes)] == [t for t in times if t > 0.5]
    sim = mbd.Simulator(model, STEP, start=first)
    sim.advance(0.3)
    assert np.array_equal(sim["body"].quaternion, signs[80])


def test_signs_of_quaternions_that_nobody_knows_are_told():
    chosen = mbd.simulate(tumbling(), 0.5, STEP, record=["body.position"])
    later = mbd.simulate(tumbling(), 0.6, STEP, start=chosen)
    for solution in (chosen.last, later, mbd.simulate(tumbling(), 0.6, STEP, start=chosen.last)):
        with pytest.warns(mbd.ModelWarning, match=r"sign of the quaternion of 'body' before t = 0.5 is not known"):
            assert solution["body"].quaternion[0, 0] > 0.4
