"""Tables of a system: changed ones have an effect, wrong vectors are refused, evaluations do not disturb each other."""

from __future__ import annotations

import functools
import inspect

import numpy as np
import pytest

import mbd
from mbd.compiled.kernel import JIT
from mbd.system import instant, matrix

EXACT = 1e-12


def pendulum() -> mbd.System:
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector(position=(1, 0, 0), angular_velocity=(0, 2, 0), velocity=(0, 0, -2))
    body = model.add(mbd.RigidBody("bar", 2.0, (0.1, 0.2, 0.3), node))
    model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 1, 0)))
    return mbd.assemble(model)


def test_changed_tables_are_what_kernels_see():
    system = pendulum()
    q, v = system.initial_state()
    s, w, zero = system.tables, system.new_work(), np.zeros(system.n_v)
    instant.frames(s, w, q)
    weights = []
    for tables in (s, s.changed(gravity=np.zeros(3)), s.changed(gravity=np.array((0.0, 0.0, -1.0)))):
        instant.dynamics(tables, w, q, zero, zero, np.zeros(system.n_l), w.x)
        weights.append(w.x[tables.xv].copy())
    np.testing.assert_allclose(weights[0][:3], (0, 0, 2.0 * 9.81), atol=EXACT)
    np.testing.assert_allclose(weights[1], 0.0, atol=EXACT)
    np.testing.assert_allclose(weights[2][:3], (0, 0, 2.0), atol=EXACT)
    with pytest.raises(AttributeError, match=r"Tables.gravity cannot be replaced in place.*use changed"):
        s.gravity = np.zeros(3)


@pytest.mark.skipif(not JIT, reason="plain Python knows how long its arrays are")
def test_short_vectors_are_refused_before_anything_is_written():
    system = pendulum()
    q, v = system.initial_state()
    s, w = system.tables, system.new_work()
    with pytest.raises(ValueError, match=f"frames: q has {system.n_q - 1} coordinates; expected {system.n_q}"):
        instant.frames(s, w, q[:-1].copy())
    with pytest.raises(ValueError, match=f"velocities: v has 3 velocities; expected {system.n_v}"):
        instant.velocities(s, w, q, v[:3].copy())
    with pytest.raises(ValueError, match="constraints: x has 2 unknowns"):
        instant.constraints(s, w, q, np.zeros(2))
    with pytest.raises(ValueError, match="into has 1 values of the matrix"):
        zero, lam = np.zeros(system.n_v), np.zeros(system.n_l)
        matrix.tangent(s, w, q, v, zero, lam, w.eye, 1.0, 0.0, 0.0, np.zeros(1))


VECTORS = {"q": "n_q", "v": "n_v", "dq": "n_v", "vd": "n_v", "lam": "n_l"}


def _takes_vectors(name: str) -> bool:
    method = getattr(mbd.System, name)
    return callable(method) and not VECTORS.keys().isdisjoint(inspect.signature(method).parameters)


@pytest.mark.parametrize("name", sorted(n for n in dir(mbd.System) if not n.startswith("_") and _takes_vectors(n)))
def test_every_method_refuses_vectors_of_a_wrong_length_by_name(name):
    system = pendulum()
    parameters = inspect.signature(getattr(mbd.System, name)).parameters
    given = {key: np.zeros(getattr(system, VECTORS[key])) for key in parameters if key in VECTORS}
    if "q" in given:
        given["q"] = system.initial_state()[0]
    others = {"body": "bar", "point": (0, 0, 0)}
    call = functools.partial(getattr(system, name), **{key: others[key] for key in parameters if key in others})
    call(**given)
    for key, value in given.items():
        for wrong in (value[:-1], np.append(value, 0.0), value[None, :]):
            with pytest.raises(mbd.ModelError, match=rf"^{key} has shape \(.*; expected \({len(value)},\)"):
                call(**{**given, key: wrong})


@pytest.mark.skipif(not JIT, reason="plain Python raises an IndexError of its own")
def test_buffers_of_a_smaller_system_are_refused():
    """Compiled code would write behind their end."""
    model = mbd.Model()
    for i in range(20):
        model.add(mbd.PointMass(f"ball {i}", 1.0, (i, 0, 0)))
    large, small = mbd.assemble(model), pendulum()
    with pytest.raises(
        ValueError, match="frames: w.z has 2 rows, and 21 are needed; expected buffers of the same system"
    ):
        instant.frames(large.tables, small.work, large.initial_state()[0])
    with pytest.raises(ValueError, match="Tables.gravity has 2 components; expected 3"):
        small.tables.changed(gravity=np.zeros(2))


def test_read_only_vectors_are_as_good_as_others():
    """Of records that somebody has protected, say."""
    system = pendulum()
    q, v = system.initial_state()
    vd, lam = system.accelerations(q, v)
    protected = [np.array(x) for x in (q, v, vd, lam)]
    for x in protected:
        x.flags.writeable = False
    np.testing.assert_array_equal(system.residual(*protected), system.residual(q, v, vd, lam))
    np.testing.assert_array_equal(system.frames(protected[0]), system.frames(q))
    np.testing.assert_array_equal(system.update(protected[0], protected[1]), system.update(q, v))
    np.testing.assert_array_equal(system.tangent_inverse(protected[1], protected[1]), system.tangent_inverse(v, v))


def test_evaluations_of_two_systems_do_not_disturb_each_other():
    one, two = pendulum(), pendulum()
    q, v = one.initial_state()
    alone = one.accelerations(q, v)
    moved = two.update(q, np.array((0.0, 0.0, 0.0, 0.0, 0.4, 0.0)))
    for _ in range(2):
        two.accelerations(moved, 3.0 * v)
        again = one.accelerations(q, v)
        np.testing.assert_array_equal(again[0], alone[0])
        np.testing.assert_array_equal(again[1], alone[1])


def test_a_run_owns_its_buffers():
    """Whoever evaluates the system between two calls changes nothing."""
    system = pendulum()
    start = mbd.consistent_start(system)
    ends = []
    for disturbed in (False, True):
        run = mbd.integrators.GeneralizedAlpha().start(system, start.q, start.v, 0.0, 1e-2, None)
        rows = [np.zeros((1, len(y))) for y in run.row()]
        for _ in range(5):
            if disturbed:
                system.accelerations(start.q, 10.0 * start.v)
                system.stiffness(start.q, start.v, np.zeros(system.n_v))
            run.advance(3, 100, rows)
        ends.append(run.row())
    for one, two in zip(*ends, strict=True):
        np.testing.assert_array_equal(one, two)


def test_rows_that_do_not_fit_are_refused():
    system = pendulum()
    start = mbd.consistent_start(system)
    run = mbd.integrators.GeneralizedAlpha().start(system, start.q, start.v, 0.0, 1e-2, None)
    rows = [np.zeros((2, len(y))) for y in run.row()]
    with pytest.raises(ValueError, match="for 3 records"):
        run.advance(3, 1, rows)
    assert run.index == 0
