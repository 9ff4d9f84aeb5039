"""Ctrl-C while compiled code calls plain Python."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mbd.compiled.interrupts import Interrupts, interruptible

TRIES = 10


def test_every_interrupt_stops_the_run_and_keeps_its_records():
    program = Path(__file__).with_name("interrupted_runs.py")
    done = subprocess.run(
        [sys.executable, program, str(TRIES)], capture_output=True, text=True, check=True, timeout=500
    )
    assert done.stdout.split("\n")[:-1] == ["stopped True"] * (2 * TRIES) + ["unraisable 0"]
    assert done.stderr.count("interrupted at t =") == 2 * TRIES


@pytest.fixture(autouse=True)
def usual_handler():
    """As in a terminal; shells let background jobs ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def called_by_compiled_code():
    signal.raise_signal(signal.SIGINT)
    return "finished"


def test_an_interrupt_is_noted_where_it_would_be_lost_and_raised_elsewhere(monkeypatch):
    monkeypatch.setattr("mbd.compiled.interrupts.CALLED_BY_COMPILED_CODE", {called_by_compiled_code.__code__})
    before = signal.getsignal(signal.SIGINT)
    with Interrupts() as outer:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert called_by_compiled_code() == "finished" and outer.noted
        with pytest.raises(KeyboardInterrupt):
            outer.check()
        with pytest.raises(KeyboardInterrupt), Interrupts() as inner:  # a run inside a step of another one
            inner.defer = True
            signal.raise_signal(signal.SIGINT)
            inner.check()
        assert outer.noted  # stops both
        outer.noted = False
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(KeyboardInterrupt):
        interruptible(called_by_compiled_code)()


def test_programs_that_handle_interrupts_themselves_are_left_alone():
    numbers = []
    before = signal.signal(signal.SIGINT, lambda number, frame: numbers.append(number))
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
        assert numbers == [signal.SIGINT] and not interrupts.noted
    finally:
        signal.signal(signal.SIGINT, before)
