"""compare() and compatibility(): tables, orders, failures and incompatible pairs."""

from __future__ import annotations

import numpy as np
import pytest

import mbd
from mbd.integrators import GGLEM, Composition, GeneralizedAlpha, LieEM, Lobatto, Rattle, Shake
from mbd.io.progress import Progress
from mbd.study.cells import cell_model, cells, check_cell
from mbd.study.compatibility import NODES, all_integrators, needs_symmetry
from mbd.study.tables import Table
from tests.papers.kinon_models import pendulum

EXACT = (-0.906128890427415, -0.394581468797060, -0.152433258886153)  # position of the bob at t = 1


def bob(solution):
    return solution["bob"].position[-1]


@pytest.fixture(scope="module")
def study():
    methods = [LieEM(), GGLEM()]
    return mbd.compare(
        pendulum(), methods, steps=[0.01, 0.02, 0.04], t_end=1.0, reference=EXACT, quantity=bob, processes=1
    )


def test_orders_and_drifts(study):
    lines = study.lines()
    assert set(lines) == {"LieEM", "GGLEM"}
    for line in lines.values():
        assert [c.step for c in line] == [0.04, 0.02, 0.01]
        assert line[-1].order == pytest.approx(2.0, abs=0.1)
        assert np.isnan(line[0].order)
        assert max(c.energy for c in line) < 1e-8
        assert line[0].iterations >= 1.0


def test_incompatible_pairs_are_listed():
    """Shake cannot invert the mass matrix of a plate."""
    plate = mbd.Model("plate")
    plate.add(mbd.RigidBody("plate", 1.0, (1, 1, 2), mbd.nodes.Directors(angular_velocity=(1, 2, 3))))
    study = mbd.compare(
        plate, [Shake(), GGLEM()], [mbd.nodes.Directors], steps=[1e-3], t_end=2e-3, reference=np.zeros(12),
        processes=1,
    )  # fmt: skip
    assert [c.incompatible for c in study.cells] == [True, False]
    assert study.cells[0].label == "Shake, Directors"
    assert "singular" in study.cells[0].failure
    assert "incompatible" in str(study.table())
    assert list(study.lines()) == ["GGLEM, Directors"]


def test_what_is_refused_is_told_once_and_named_in_the_figure():
    plate = mbd.Model("plate")
    plate.add(mbd.RigidBody("plate", 1.0, (1, 1, 2), mbd.nodes.Directors(angular_velocity=(1, 2, 3))))
    study = mbd.compare(
        plate, [Shake(), GGLEM()], steps=[2e-3, 1e-3], t_end=2e-3, reference=np.zeros(12), processes=1
    )  # fmt: skip
    assert [(row[0], row[2]) for row in study.table().rows] == [("Shake", ""), ("GGLEM", "0.002"), ("GGLEM", "0.001")]
    legend = study.plot().legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["GGLEM", "Shake: refused"]


def test_methods_of_one_class_are_lines_of_their_own():
    methods = [GeneralizedAlpha(), GeneralizedAlpha(rho_inf=0.5), LieEM(), Composition(Rattle(), order=6),
               Composition(Lobatto(tolerance=1e-12), order=6)]  # fmt: skip
    study = mbd.compare(pendulum(), methods, steps=[0.04, 0.02], t_end=0.2, processes=1)
    names = ["GeneralizedAlpha()", "GeneralizedAlpha(rho_inf=0.5)", "LieEM", "Composition(Rattle(), order=6)",
             "Composition(Lobatto(tolerance=1e-12), order=6)"]  # fmt: skip
    assert study.names == list(study.lines()) == names
    assert all(len(line) == 2 for line in study.lines().values())
    shown = [text.get_text() for text in study.plot().legends[0].get_texts()]
    assert len(set(shown)) == 5 and shown[-1].endswith("order=6)")


def test_the_start_is_corrected_with_one_remark(capsys):
    model = mbd.Model("off")
    body = model.add(mbd.RigidBody("body", 1.0, (0.1, 0.2, 0.3), mbd.nodes.Quaternion(velocity=(1.0, 0.0, 0.0))))
    model.add(mbd.joints.Spherical(model.ground, body, at=(0.0, 0.0, 0.5)))
    mbd.compare(model, [LieEM(), GeneralizedAlpha()], steps=[0.02, 0.01], t_end=0.02, processes=1)
    assert capsys.readouterr().err.count("velocities corrected") == 1


class Euler(mbd.integrators.PythonIntegrator):
    """A method in plain Python, of first order."""

    order = 1

    def step(self, system, t, q, v, h):
        v = v + h * system.accelerations(q, v, t)[0]
        return system.update(q, h * v), v


@pytest.mark.parametrize("processes", [1, 2])
def test_methods_in_plain_python(processes):
    model = mbd.Model("spinning")
    node = mbd.nodes.Quaternion(angular_velocity=(1.0, 2.0, 3.0))
    model.add(mbd.RigidBody("body", 1.0, (0.3, 0.5, 0.6), node))
    nodes = [mbd.nodes.Quaternion(lie=True), mbd.nodes.RotationVector]
    study = mbd.compare(model, [Euler()], nodes, steps=[2e-3, 1e-3], t_end=0.1, processes=processes)
    assert list(study.lines()) == ["Euler, Quaternion Lie", "Euler, RotationVector"]
    assert all(cells[-1].order == pytest.approx(1.0, abs=0.1) for cells in study.lines().values())


def test_table_formats(study, tmp_path):
    assert "error of the reference" not in str(study)  # the reference is given
    study.table(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0].startswith("integrator,nodes,step,error")
    assert len(lines) == 1 + len(study.cells)
    study.table(tmp_path / "a.tex")
    assert r"\begin{tabular}" in (tmp_path / "a.tex").read_text()
    with pytest.raises(mbd.ModelError, match="format is 'xml'"):
        study.table(tmp_path / "a.xml", format="xml")


def test_plot_has_one_legend(study, tmp_path):
    figure = study.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10000
    assert len(figure.legends) == 1
    assert len(figure.axes) == 4


def test_computed_reference_and_parallel_runs_agree():
    arguments = {"steps": [0.02, 0.01], "t_end": 0.5, "quantity": bob}
    serial = mbd.compare(pendulum(), [LieEM(), GeneralizedAlpha()], processes=1, **arguments)
    parallel = mbd.compare(pendulum(), [LieEM(), GeneralizedAlpha()], processes=2, **arguments)
    assert [c.error for c in serial.cells] == [c.error for c in parallel.cells]
    assert serial.reference_error < 1e-4
    assert f"error of the reference below {serial.reference_error:.0e}" in str(serial)
    exact = mbd.simulate(pendulum(), 0.5, 2e-4, GGLEM())
    assert serial.reference == pytest.approx(bob(exact), abs=10 * serial.reference_error)


def test_failures_are_reported_with_their_reason():
    study = mbd.compare(
        pendulum(), [LieEM(max_iterations=1)], steps=[0.3], t_end=3.0, processes=1, reference=np.zeros(12)
    )
    assert "did not converge" in study.cells[0].failure
    assert not study.cells[0].incompatible


def test_wrong_arguments():
    with pytest.raises(mbd.ModelError, match="at least one integrator"):
        mbd.compare(pendulum(), [], steps=[0.1])
    with pytest.raises(mbd.ModelError, match="not an integrator"):
        mbd.compare(pendulum(), [LieEM], steps=[0.1])
    longer = mbd.simulate(pendulum(), 0.4, 0.1, LieEM())
    for change, text in (
        ({"integrators": LieEM()}, "expected a list, such as integrators="),
        ({"steps": 0.1}, "expected a list, such as steps="),
        ({"steps": [0.1, -0.1]}, "steps = -0.1; expected a positive number"),
        ({"nodes": mbd.nodes.Quaternion}, "expected a list, such as nodes="),
        ({"nodes": []}, "at least one"),
        ({"processes": 0}, "processes = 0"),
        ({"executor": 2}, "processes=4"),
        ({"model": pendulum}, "expected an mbd.Model"),
        ({"quantity": "bob"}, "expected a function of the solution"),
        ({"quantity": lambda s: 1j}, "expected real numbers"),
        ({"quantity": lambda s: s.t}, "as many numbers with every step"),
        ({"reference": longer}, r"the reference ends at t = 0\.4, runs at t_end = 0\.2"),
        ({"reference": 0.3}, r"the reference has shape \(\), quantity= of a run \(3,\)"),
        ({"reference": [0.0, np.nan, 0.0]}, "expected finite numbers"),
        ({"reference": lambda t: np.zeros(4)}, r"the reference has shape \(4,\)"),
    ):
        given = {"model": pendulum(), "integrators": [LieEM()], "steps": [0.1], "t_end": 0.2, "quantity": bob}
        with pytest.raises(mbd.ModelError, match=text):
            mbd.compare(**{**given, "processes": 1, **change})


def test_shapes_with_the_same_numbers_are_compared_number_by_number():
    """A column beside a row would be a table of all differences."""
    given = {"steps": [0.02, 0.01], "t_end": 0.2, "quantity": bob, "processes": 1}
    value = bob(mbd.simulate(pendulum(), 0.2, 1e-3, LieEM()))
    flat, column = (mbd.compare(pendulum(), [LieEM()], reference=x, **given) for x in (value, value[:, None]))
    assert [c.error for c in flat.cells] == [c.error for c in column.cells]


def test_orders_are_those_of_the_steps_that_were_made():
    """Steps of which no whole number fits are made shorter."""
    study = mbd.compare(
        pendulum(), [mbd.integrators.RK4()], steps=[0.04, 0.0233], t_end=0.1, quantity=bob, processes=1,
        reference=bob(mbd.simulate(pendulum(), 0.1, 1e-4, mbd.integrators.RK4())),
    )  # fmt: skip
    assert [cell.step for cell in study.cells] == pytest.approx([0.1 / 3, 0.02], rel=1e-12)
    assert study.cells[1].order == pytest.approx(4.0, abs=0.2)


@pytest.fixture(scope="module")
def table():
    return mbd.compatibility()


def test_compatibility_table_prints(table):
    text = str(table)
    assert "LieEM" in text and "Quaternion Lie" in text
    assert table.supports("LieEM", "RotationVector Lie", "joints")
    assert table.supports("GGLEM", "Quaternion") and table.supports("LieEM", "EulerAngles", "mixed")
    assert table.supports("GGLEM", "Generalized") and not table.supports("JacobiExact", "Quaternion", "joints")
    assert "held away from its centre of mass" in table.reason("JacobiExact", "Quaternion", "joints")


def test_symmetric_bodies_are_asked_about_for_the_method_that_needs_them(table):
    assert table.supports("BobenkoSuris", "Quaternion Lie", "free")
    assert table.supports("BobenkoSuris", "RotationVector", "joints")
    assert table.supports("BobenkoSuris", "Directors", "damping")
    assert not table.supports("JacobiExact", "Directors", "damping")
    assert table.supports("LieEM", "RotationVector Lie", "rolling")
    assert table.supports("Lobatto", "Directors", "rolling")
    assert table.supports("GeneralizedAlpha", "Quaternion", "rolling")
    assert table.supports("GGLEM", "Directors", "mixed") and table.supports("RK4", "EulerAngles", "mixed")
    text = str(table)
    assert "g  coupling: two hinges and a gear between them" in text
    assert next(line for line in text.splitlines() if line.startswith("RK4 ")).split()[2:] == ["yes"] * len(NODES)


SAMPLE = 8  # cells per method; all of them are in benchmarks/compatibility.py


@pytest.mark.parametrize("method", all_integrators(), ids=lambda m: m.name)
def test_what_is_not_refused_is_right(method, rng):
    every = list(cells(method))
    for k in rng.permutation(len(every))[:SAMPLE]:
        verdict, why = check_cell(every[k])
        assert verdict in ("right", "refused"), (every[k], why)
        if verdict == "refused":
            with pytest.raises(mbd.IncompatibleError):
                mbd.simulate(cell_model(*every[k][1:], needs_symmetry(method)), 0.02, 0.01, method)


def test_tables_show_brackets_as_they_are():
    """Units of heads, and messages with paths and lists, which a terminal could take for its own commands."""
    table = Table(["time [s]", "remark", ""], [["1", "no such file [/tmp/x]", ""], ["2", "[red]", ""]])
    text = str(table)
    for words in ("time [s]", "no such file [/tmp/x]", "[red]"):
        assert words in text
    assert text.splitlines()[1].count("\u2503") == 3  # two columns: the third one is empty


def test_progress_of_a_model_with_brackets_in_its_name(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    with Progress(0.0, 1.0, True, "arm [/left]") as bar:
        bar.born = -np.inf  # long ago
        bar.update(0.5)
        bar.bar.refresh()
    assert "arm [/left]" in capsys.readouterr().err
