"""Records are written once: whatever their number, nothing of their size is allocated beside them."""

import tracemalloc

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4
from mbd.simulation.row_buffer import MAPPED, RowBuffer, blank_rows

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


def test_blank_rows_are_zero_and_do_not_overlap():
    t, arrays = blank_rows(5, [3, 0, 2])
    assert t.shape == (5,) and [x.shape for x in arrays] == [(5, 3), (5, 0), (5, 2)]
    for k, x in enumerate((t, *arrays)):
        assert x.flags.c_contiguous and x.flags.writeable and not x.any()
        x[...] = k + 1.0
    assert [set(x.ravel()) for x in (t, *arrays)] == [{1.0}, {2.0}, set(), {4.0}]
