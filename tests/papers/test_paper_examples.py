"""The examples of the papers run and show what their texts say."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import mbd

pytest.importorskip("matplotlib")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "papers"


def load(name: str):
    specification = importlib.util.spec_from_file_location(f"paper_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def order(study, label):
    return study.lines()[label][-1].order


def test_kinon_betsch_schneider_2023(tmp_path, capsys):
    pendulum, top, particles = load("kinon_betsch_schneider_2023").main(tmp_path, steps=2)
    for name in ("GGLEuler", "GGLMidpoint", "GGLTrapezoidal", "GGLEM", "GonzalezEM"):
        assert order(particles, name) == pytest.approx(2.0, abs=0.1)
    for name, expected in (("GGLMidpoint", 2), ("GGLEM", 2), ("GonzalezEM", 2)):
        assert order(pendulum, name) == pytest.approx(expected, abs=0.1)
        assert order(top, name) == pytest.approx(expected, abs=0.1)
    assert pendulum.lines()["GGLEM"][0].energy < 1e-8
    assert (tmp_path / "ggl_top.png").stat().st_size > 10000


def test_kinon_betsch_2024(tmp_path, capsys):
    study = load("kinon_betsch_2024").main(tmp_path, steps=3)
    ranking = ("LivensMidpoint", "LivensEM", "HamiltonianMidpoint", "HamiltonianEM")
    errors = [study.lines()[f"{name}, Quaternion"][-1].error for name in ranking]
    assert errors == sorted(errors)
    assert 2.0 < errors[1] / errors[0] < 3.0
    assert max(c.energy for c in study.lines()["HamiltonianEM, Quaternion"]) < 1e-8
    assert max(c.energy for c in study.lines()["LieEM, RotationVector"]) < 1e-8


def test_kinon_betsch_2024_generalized(tmp_path, capsys):
    changes = load("kinon_betsch_2024_generalized").main(tmp_path)
    assert changes["mass-spring, LivensEM"] < 1e-10 < 1e-5 < changes["mass-spring, LivensMidpoint"]
    assert changes["spring pendulum, LivensEM"] < 1e-10 < 1e-5 < changes["spring pendulum, LivensEM, total"]
    assert changes["spring pendulum, HamiltonianEM"] < 1e-10
    assert (tmp_path / "livens_generalized.png").stat().st_size > 10000


def test_kinon_betsch_2024_free_body(tmp_path, capsys):
    radial, ranges = load("kinon_betsch_2024_free_body").main(tmp_path, t_end=4.0)
    assert radial["LivensEM"][-1] > 2.0 * radial["LivensEM"][0]  # the mode that grows is a property of the method
    assert ranges["LivensEM"] > 20.0 * ranges["LivensMidpoint"] > 1.0
    assert max(radial["HamiltonianEM"]) < 1e-8 and ranges["HamiltonianEM"] < 1e-5
    assert (tmp_path / "livens_free_body.png").stat().st_size > 10000


def test_wendlandt_marsden_1997(tmp_path, capsys):
    study = load("wendlandt_marsden_1997").main(tmp_path, steps=3)
    assert order(study, "DiscreteVariational") == pytest.approx(2.0, abs=0.2)
    assert max(c.energy for c in study.lines()["GonzalezEM"]) < 1e-6


def test_wendlandt_marsden_1997_figures(tmp_path, capsys):
    """Invariants of Table 1 at two steps and (4.12); all rows of the tables are in test_wendlandt_marsden_1997.py."""
    found = load("wendlandt_marsden_1997_figures").main(tmp_path, steps=[1e-2, 1e-1])
    printed = {(0.01, "energy"): 6.274e-3, (0.01, "momentum"): 1.687e-3, (0.1, "energy"): 6.217e-1}
    for (h, name), value in printed.items():
        assert found[f"Table 1, {name}, h = {h}"] == pytest.approx(value, rel=1e-3)
    assert max(found[f"(4.12), largest residual, h = {h}"] for h in (0.01, 0.1)) < 1e-12
    assert len(list(tmp_path.glob("*.png"))) == 11


def test_vilmart_2013(tmp_path, capsys):
    found = load("vilmart_2013").main(tmp_path)
    assert found["Fig. 1, error of the attitude"] < 5e-14 and found["Fig. 1, range of the energy"] < 5e-15
    assert all(value == 1.0 for item, value in found.items() if item.startswith("Table 2") and "order" not in item)
    assert (tmp_path / "vilmart_2013_fig01.png").stat().st_size > 10000


def test_puma(tmp_path, capsys, monkeypatch):
    """Order two, the ranking of Fig. 20, and the counts of iterations of Fig. 21 at large steps."""
    example = load("puma")
    monkeypatch.setattr(example, "REPEATS", 1)
    found = example.main(tmp_path, steps=[5e-2, 1.25e-2, 6.25e-3])
    lie, cardan, quaternions = found["Lie group (RV)"], found["Cardan angles"], found["Euler parameters"]
    assert np.log2(lie[1].error / lie[2].error) == pytest.approx(2.0, abs=0.1)
    assert quaternions[2].error < lie[2].error < 0.6 * cardan[2].error
    assert found["joint coordinates"][2].error < 0.01 * quaternions[2].error
    assert cardan[0].failure or cardan[0].iterations > 1.3 * lie[0].iterations  # the first to have difficulties
    assert not lie[0].failure and not quaternions[0].failure
    assert lie[0].as_in_the_paper > 2.0 * quaternions[0].as_in_the_paper > 2.0 * quaternions[2].as_in_the_paper
    assert max(runs[2].iterations for runs in found.values()) < 1.7
    for name in ("puma_angles", "puma_convergence", "puma_iterations_and_time"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10000


def test_holzinger_arnold_gerstmayr_2024(tmp_path):
    """The top of the example with few steps: orders and the ranking of the implicit formulations."""
    example = load("holzinger_arnold_gerstmayr_2024")
    study = mbd.compare(
        example.heavy_top.pinned(), [mbd.integrators.GeneralizedAlpha(rho_inf=0.9)], [example.RV, example.EP],
        example.halved(1e-3, 3), 0.5, processes=1, quantity=example.top_centre,
    )  # fmt: skip
    lie, parameters = study.lines()["GeneralizedAlpha, RotationVector"], study.lines()["GeneralizedAlpha, Quaternion"]
    assert lie[-1].order == pytest.approx(2.0, abs=0.1)
    assert lie[-1].error > 5.0 * parameters[-1].error
    study.plot(tmp_path / "top.png")
    assert (tmp_path / "top.png").stat().st_size > 10000


@pytest.fixture
def no_pictures(monkeypatch):
    """Snapshots are tested with the views; here they would only cost time."""
    from mbd.view import opengl

    monkeypatch.setattr(opengl, "obstacle", lambda: "not now")


def test_figures_of_kinon_betsch_2024(tmp_path, capsys, no_pictures):
    found = load("kinon_betsch_2024_figures").main(tmp_path, quick=True)
    per_step = [value for name, value in found.items() if "generalized energy per step" in name]
    assert max(per_step) < 1e-7 and found["Fig. 2, change of energy per step"] < 1e-11
    assert 1e-5 < found["Fig. 4, change of total energy per step"] < 1e-4  # "down to an order of 1e-4"
    assert found["Fig. 8, change of angular momentum per step"] < 1e-8
    assert found["Fig. 6, generalized energy"] == pytest.approx(2500.0) and found["Fig. 7, unit constraint"] < 1e-11
    for name in ("EML", "EMH"):
        assert found[f"Fig. 10, change of energy per step, {name}"] < 1e-8
    for name in ("MPL", "MPH"):
        assert found[f"Fig. 10, change of energy per step, {name}"] > 1e-4
    assert found["Fig. 11, change of L3 per step"] < 1e-11
    component = {name: found[f"Fig. 12, largest error of component 1, {name}"] for name in ("EML", "EMH")}
    assert component["EML"] < component["EMH"]
    for name in ("EML", "EMH", "MPL", "MPH"):
        assert found[f"Fig. 13, order, {name}"] == pytest.approx(2.0, abs=0.1)
    assert found["Fig. 16, generalized energy after loading"] == pytest.approx(2095.52, abs=0.01)
    assert len(list(tmp_path.glob("kinon_betsch_2024_fig*.png"))) == 14  # and two of snapshots


def test_figures_of_kinon_betsch_schneider_2023(tmp_path, capsys, no_pictures):
    found = load("kinon_betsch_schneider_2023_figures").main(tmp_path, quick=True)
    assert found["Fig. 9, change of E per step, EM"] < 1e-9
    for name in ("VI-S", "VI-A", "VI-B", "EM"):
        assert found[f"Fig. 11, change of J3 per step, {name}"] < 1e-9
        assert (found[f"Fig. {13 if name == 'VI-A' else 12}, largest $g$, {name}"] < 1e-8) == (name != "VI-A")
    assert found["Fig. 14, largest $g^v$, VI-B"] == pytest.approx(0.316, abs=1e-3)  # of momenta; that of v vanishes
    for number, first in (("18", ("VI-S", "VI-B", "BS99")), ("19", ("VI-B", "BS99"))):
        for name in first:
            assert found[f"Fig. {number}, order, {name}"] == pytest.approx(1.0, abs=0.1)
        for name in ("VI-A", "EM"):
            assert found[f"Fig. {number}, order, {name}"] == pytest.approx(2.0, abs=0.1)
    assert found["Fig. 24, largest g^v, EM"] < 1e-9 < 1e-6 < found["Fig. 23, largest g^v, EM-G"]
    for name in ("EM", "EM-G"):
        for number, expected in (("28", 2.0), ("29", 2.0), ("30", 1.0)):
            assert found[f"Fig. {number}, order, {name}"] == pytest.approx(expected, abs=0.1)
    assert all(np.isinf(found[f"Fig. 31, blow-up at, {name}"]) for name in ("VI-S", "VI-A", "VI-B", "EM"))
    assert found["Fig. 32, blow-up at, VI-S"] < 1.0 and found["Fig. 32, blow-up at, VI-B"] < 1.0
    assert np.isinf(found["Fig. 32, blow-up at, VI-A"]) and np.isinf(found["Fig. 33, blow-up at, EM"])
    assert found["Fig. 33, blow-up at, VI-A"] == pytest.approx(55.0, abs=5.0)
    assert len(list(tmp_path.glob("kinon_betsch_schneider_2023_fig*.png"))) == 29  # and one of snapshots


def test_figures_of_holzinger_arnold_gerstmayr_2024(tmp_path, capsys):
    found = load("holzinger_arnold_gerstmayr_2024_figures").main(tmp_path, quick=True)
    assert found["Fig. 2, deviation of the position at t = 1"] < 1e-4
    assert found["Fig. 3, error of RV by that of EP, implicit"] > 5.0  # "more accurate than Lie group time integration"
    assert found["Fig. 7, iterations, RV (Lie), full"] < found["Fig. 7, iterations, RV (Lie), modified"]
    assert found["Fig. 15, deviation of s at t = 5"] < 1e-4
    assert found["Fig. 16, error, RV (Lie)"] > found["Fig. 16, error, Rxyz"]  # "the conventional approaches"
    assert len(list(tmp_path.glob("*_fig*.png"))) == 10
