"""Records are written once: whatever their number, nothing of their size is allocated beside them."""

import tracemalloc
from importlib import import_module

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha, JacobiExact, Rattle
from mbd.simulation.row_buffer import MAPPED, RowBuffer, blank_rows

simulation = import_module("mbd.simulation.simulation")
SMALL = 0.2  # of the size of the records
T_END = 20.0  # so that blocks of steps, whose size is fixed, are small beside them


def filled(buffer: RowBuffer, count: int, chunk: int = 100) -> None:
    for k in range(buffer.used, buffer.used + count, chunk):
        t, (a, none, b) = buffer.free(chunk)
        t[:] = np.arange(k, k + chunk)
        a[:], b[:] = t[:, None], -t[:, None]
        assert none.shape == (chunk, 0)
        del t, a, b, none
        buffer.take(chunk)


def check(t: np.ndarray, arrays: list[np.ndarray], count: int) -> None:
    assert np.array_equal(t, np.arange(count)) and [x.shape for x in arrays] == [(count, 30), (count, 0), (count, 20)]
    assert np.array_equal(arrays[0][:, 7], t) and np.array_equal(arrays[2][:, 3], -t)
    assert all(x.flags.c_contiguous and x.flags.writeable for x in (t, *arrays) if x.size)


def test_rows_stay_where_somebody_looks_at_them():
    buffer = RowBuffer([30, 0, 20])
    filled(buffer, 300)
    check(*buffer.filled(), 300)
    filled(buffer, 19700)  # beyond the size of mappings
    assert buffer.filled()[1][0].nbytes > MAPPED
    looked = buffer.filled()
    filled(buffer, 20000)
    check(*looked, 20000)
    check(*buffer.filled(), 40000)
    buffer.add(40000.0, [np.full(n, 40000.0 * s) for n, s in ((30, 1), (0, 1), (20, -1))])
    check(*buffer.filled(), 40001)


def spring(bodies: int = 30) -> mbd.Model:
    model = mbd.Model("springs")
    for k in range(bodies):
        start = mbd.nodes.RotationVector(position=(1.0, k, 0.0), angular_velocity=(1.0, 0.1, 0.2))
        body = model.add(mbd.RigidBody(f"body {k}", 1.0, (1, 2, 3), start))
        model.add(mbd.forces.Spring(model.ground, body, stiffness=100.0, length=0.0))
    return model


def stepped(sim: mbd.Simulator, count: int) -> mbd.Simulator:
    for _ in range(count):
        sim.step()
    return sim


@pytest.mark.parametrize("way", ["fixed", "adaptive", "adaptive with events", "stepped", "advanced"])
def test_a_solution_is_made_without_copies_of_its_records(way):
    stop = mbd.Event(lambda s: s.t - 19.9991, name="stop", stop=True)
    precise = DOPRI5(rtol=1e-9, atol=1e-9, max_step=2e-3)
    runs = {
        "fixed": lambda: mbd.simulate(spring(), T_END, 2e-3, RK4()),
        "adaptive": lambda: mbd.simulate(spring(), T_END, 2e-3, precise),
        "adaptive with events": lambda: mbd.simulate(spring(), T_END, 2e-3, precise, events=stop),
        "stepped": lambda: stepped(mbd.Simulator(spring(), 2e-3, RK4()), 10000).solution(),
        "advanced": lambda: advanced(mbd.Simulator(spring(), 2e-3, precise)).solution(),
    }

    def advanced(sim):
        sim.advance(T_END)
        return sim

    mbd.simulate(spring(), 0.1, 2e-3, RK4())  # what is kept for all runs
    tracemalloc.start()
    try:
        solution = runs[way]()
        now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    size = sum(x.nbytes for x in (solution.t, *solution.rows()))
    assert len(solution) > 9900 and size > 10 * MAPPED
    assert peak - now < SMALL * size
    if way in ("adaptive", "stepped", "advanced"):  # mappings are not counted; events keep the steps of a last look
        assert now < SMALL * size


def test_blank_rows_do_not_overlap():
    t, arrays = blank_rows(5, [3, 0, 2])
    assert t.shape == (5,) and [x.shape for x in arrays] == [(5, 3), (5, 0), (5, 2)]
    for k, x in enumerate((t, *arrays)):
        assert x.flags.c_contiguous and x.flags.writeable
        x[...] = k + 1.0
    assert [set(x.ravel()) for x in (t, *arrays)] == [{1.0}, {2.0}, set(), {4.0}]


def pendulum() -> mbd.Model:
    model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    before = model.ground
    for k in range(2):
        start = mbd.nodes.RotationVector(position=(k + 0.5, 0, 0))
        body = model.add(mbd.RigidBody(f"body {k}", 1.0, (0.1, 0.1, 0.1), start))
        model.add(mbd.joints.Revolute(before, body, at=(k, 0, 0), axis=(0, 1, 0)))
        before = body
    return model.with_coordinates("joint")


class Explicit(mbd.integrators.PythonIntegrator):
    """Semi-implicit Euler, written by a user."""

    def step(self, system, t, q, v, h):
        v = v + h * system.accelerations(q, v, t)[0]
        return system.update(q, h * v), v


RECORDED = {
    "explicit": (lambda: spring(2), RK4()),
    "implicit": (lambda: spring(2), GeneralizedAlpha()),
    "converted": (lambda: spring(2), Rattle()),
    "converted from joint coordinates": (pendulum, Rattle()),
    "free bodies": (lambda: mbd.benchmarks.free_body().model, JacobiExact()),
    "of the user": (lambda: spring(2), Explicit()),
}


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("way", RECORDED)
def test_what_was_in_the_memory_of_records_does_not_matter(way, every, monkeypatch):
    build, method = RECORDED[way]
    found = []
    for left in (1.0, 2.0):

        def used_before(count, widths, left=left):
            t, arrays = blank_rows(count, widths)
            for x in (t, *arrays):
                x[...] = left
            return t, arrays

        monkeypatch.setattr(simulation, "blank_rows", used_before)
        solution = mbd.simulate(build(), 0.02, 1e-3, method, output_step=every * 1e-3, progress=False)
        found.append((solution.t, *solution.rows()))
    assert len(found[0][0]) == 1 + 20 // every + (every > 1)
    assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(*found, strict=True))
