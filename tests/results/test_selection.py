"""Chosen quantities of a run: the numbers of the whole solution, without the rest of it."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import DOPRI5, RK4, GeneralizedAlpha
from tests.integrators.every_method import winding

CHOICE = ["wheel.position", "wheel.quaternion", "shaft.angle", "shaft.force", "other.angle", "spring.*", "energy.total"]


@pytest.mark.parametrize("method", [GeneralizedAlpha(), RK4(), DOPRI5()], ids=lambda m: m.name)
@pytest.mark.parametrize("output_step", [None, 0.06])
@pytest.mark.parametrize("event", ["none", "stop"])
def test_numbers_of_the_solution(monkeypatch, method, output_step, event):
    """Blocks of a few records: turns are counted and signs go on across them; the run can be continued."""
    monkeypatch.setattr("mbd.simulation.simulation.CHOSEN_FROM", 400)
    stop = [mbd.Event(lambda s: s["shaft"].angle - 9.0, stop=True)] if event == "stop" else []
    known = {"output_step": output_step, "events": stop}
    whole = mbd.simulate(winding(), 2.0, 0.02, method, **known)
    chosen = mbd.simulate(winding(), 2.0, 0.02, method, record=CHOICE, **known)
    assert np.array_equal(chosen.t, whole.t)
    assert np.ptp(whole["shaft"].angle) > 6.0
    for name in chosen.channels:
        x = whole.channel(name)
        assert np.allclose(chosen[name], x, rtol=1e-12, atol=1e-12 * np.abs(x).max()), name
    assert chosen["wheel.position"].shape == (len(whole), 3)
    assert len(chosen.events) == len(whole.events) and chosen.complete
    if event == "none":
        further = mbd.simulate(winding(), 2.4, 0.02, method, start=chosen.state)
        assert np.array_equal(further.q[-1], mbd.simulate(winding(), 2.4, 0.02, method, start=whole).q[-1])


def test_tables(tmp_path):
    whole = mbd.simulate(winding(), 0.2, 0.02)
    chosen = mbd.simulate(winding(), 0.2, 0.02, record=CHOICE)
    assert chosen.frame(["shaft.angle", "wheel"]).equals(
        whole.frame(["shaft.angle", "wheel.position", "wheel.quaternion"])
    )
    chosen.csv(tmp_path / "chosen.csv")
    assert (tmp_path / "chosen.csv").read_text().startswith("t [s],wheel.position.x [m]")
    assert list(chosen.dataset(["shaft.angle"])) == ["shaft.angle"]
    assert "records of wheel.position" in repr(chosen) and len(chosen) == 11
    assert chosen.last["second"].position.shape == (1, 3)


def test_refused(tmp_path):
    with pytest.raises(mbd.ModelError, match="no channel|unknown|not"):
        mbd.simulate(winding(), 0.2, 0.02, record=["wheel.colour"])
    with pytest.raises(mbd.ModelError, match="give one of the two"):
        mbd.simulate(winding(), 0.2, 0.02, record=["q"], store=tmp_path / "x")
    chosen = mbd.simulate(winding(), 0.2, 0.02, record=["wheel.position"])
    with pytest.raises(mbd.ModelError, match="'shaft.angle' was not recorded; this run has 'wheel.position'"):
        chosen["shaft.angle"]
    with pytest.raises(mbd.ModelError, match="record all of it"):
        chosen.at(0.1)
    with pytest.raises(mbd.ModelError, match="give the function to simulate"):
        chosen.add_channel("x", lambda s: s.t)
