"""A simulator that one thread steps and another one reads: what is told has happened, and the run is not disturbed."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

import mbd

STEP, STEPS, TOGETHER = 1e-3, 4000, 10
SWITCH = 1e-6  # s, after which the interpreter lets another thread go on: as often as it can


def pendulum() -> mbd.Model:
    model = mbd.Model("pendulum", gravity=(0.0, 0.0, -9.81))
    arm = model.add(mbd.RigidBody("arm", 1.0, (0.02, 0.02, 0.02), mbd.nodes.RotationVector((1.0, 0.0, 0.0))))
    model.add(mbd.joints.Revolute(model.ground, arm, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    return model


@pytest.fixture
def often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def angles() -> np.ndarray:
    return mbd.simulate(pendulum(), STEPS * STEP, STEP)["hinge"].angle


def step(sim: mbd.Simulator) -> None:
    for _ in range(TOGETHER):
        sim.step()


def advance(sim: mbd.Simulator) -> None:
    sim.advance(TOGETHER * STEP)


@pytest.mark.parametrize("go", [step, advance])
def test_records_can_be_read_while_the_run_goes_on(often, angles, go):
    """A second thread broke off the run, and the simulator could not be used afterwards."""
    sim, over, wrong = mbd.Simulator(pendulum(), STEP), threading.Event(), []

    def read() -> None:
        while not over.is_set():
            try:
                found = sim.solution()["hinge"].angle
                if not np.array_equal(found, angles[: len(found)]) or not (angles == sim["hinge"].angle).any():
                    wrong.append(len(found))
            except Exception as error:
                wrong.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(STEPS // TOGETHER):
            go(sim)
    finally:
        over.set()
        reader.join()
    assert wrong == [] and np.array_equal(sim.solution()["hinge"].angle, angles)


@pytest.mark.parametrize("go", [step, advance])
def test_steps_of_two_threads_follow_each_other(often, angles, go):
    sim, failed = mbd.Simulator(pendulum(), STEP), []

    def steps() -> None:
        try:
            for _ in range(STEPS // TOGETHER // 2):
                go(sim)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=steps) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == [] and np.array_equal(sim.solution()["hinge"].angle, angles)
