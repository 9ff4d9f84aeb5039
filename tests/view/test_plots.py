"""Plots hold the numbers of the solution, carry units, and say what they do not know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mbd

pytest.importorskip("matplotlib")


def lines_of(axes: Any) -> dict[str, np.ndarray]:
    return {line.get_label(): np.asarray(line.get_ydata()) for line in axes.get_lines()}


def test_energy(top: mbd.Solution) -> None:
    figure = top.plot("energy", shown=False)
    first, second = figure.axes
    lines = lines_of(first)
    np.testing.assert_array_equal(lines["kinetic"], top.energy.kinetic)
    np.testing.assert_array_equal(lines["potential"], top.energy.potential)
    np.testing.assert_array_equal(lines["total"], top.energy.total)
    np.testing.assert_allclose(second.get_lines()[0].get_ydata(), top.energy.total - top.energy.total[0])
    assert first.get_ylabel() == "energy in J" and second.get_xlabel() == "time $t$ in s"


def test_momentum_constraints_power(top: mbd.Solution) -> None:
    axes = top.plot("momentum", shown=False).axes
    assert len(axes) == 4
    np.testing.assert_array_equal(axes[2].get_lines()[2].get_ydata(), top.momentum.angular[:, 2])
    axes = top.plot("constraints", shown=False).axes
    assert [a.get_yscale() for a in axes] == ["log", "log"]
    np.testing.assert_allclose(axes[1].get_lines()[0].get_ydata()[1:], top.constraint_error.velocity[1:])
    assert "W" in top.plot("power", shown=False).axes[0].get_ylabel()


def test_reactions(mechanism: mbd.Solution) -> None:
    axes = mechanism.plot("reactions", shown=False).axes
    titles = [(a.get_title(loc="left"), a.get_ylabel()) for a in axes]
    assert ("hinge", "force $F$ in N") in titles and ("hinge", "torque $M$ in N m") in titles
    assert ("rod", "torque $M$ in N m") not in titles  # a rod transmits none
    k = titles.index(("hinge", "force $F$ in N"))
    np.testing.assert_array_equal(axes[k].get_lines()[2].get_ydata(), mechanism["hinge"].force[:, 2])
    assert len(mechanism.plot("reactions", elements="rod", shown=False).axes) == 1


def test_trajectory(chain: mbd.Solution) -> None:
    axes = chain.plot("trajectory", elements=["link 1", "link 5"], shown=False).axes
    assert [a.get_ylabel() for a in axes[1:4]] == ["$y$ in m", "$z$ in m", "$z$ in m"]
    line = axes[2].get_lines()[2]
    np.testing.assert_array_equal(line.get_xdata(), chain["link 5"].com[:, 0])
    np.testing.assert_array_equal(line.get_ydata(), chain["link 5"].com[:, 2])


@pytest.mark.parametrize(
    ("what", "panels", "label"),
    [
        ("position", 3, "position $r$ in m"),
        ("velocity", 3, "velocity $v$ in m/s"),
        ("acceleration", 3, "acceleration $a$ in m/s²"),
        ("angular_velocity", 2, "angular velocity $\\omega$ in rad/s"),
        ("quaternion", 2, "quaternion $p$"),
        ("rotation", 2, "rotation $R$"),
        ("angle", 1, "angle $\\varphi$ in rad"),
        ("displacement", 1, "displacement $s$ in m"),
        ("length", 1, "length $l$ in m"),
        ("pendulum.velocity", 1, "velocity $v$ in m/s"),
        ("coil.force", 1, "force $F$ in N"),
    ],
)
def test_every_quantity_with_its_unit(mechanism: mbd.Solution, what: str, panels: int, label: str) -> None:
    axes = mechanism.plot(what, shown=False).axes
    assert len(axes) == panels and axes[0].get_ylabel() == label


def test_channels_that_are_no_quantities_of_elements() -> None:
    """What a controller asks for: inputs, efforts with their units, single components, channels of one's own."""
    model = mbd.Model("cart")
    cart = model.add(mbd.RigidBody("cart", 2.0, (1.0, 1.0, 1.0)))
    rail = model.add(mbd.joints.Prismatic(model.ground, cart, at=(0, 0, 0), axis=(1, 0, 0), name="rail"))
    model.add(mbd.forces.JointForce(rail, model.input("push", 3.0), name="drive"))
    run = mbd.simulate(model, 0.01, 5e-3)
    run.add_channel("way", mbd.sensors.Position("cart", axis="x"), unit="m")
    assert len(run.plot("displacement", shown=False).axes) == 1  # of the joint, not once more of what acts on it
    for what, label, expected in (
        ("inputs.push", "", [3.0, 3.0, 3.0]),
        ("effort", "effort in N", [3.0, 3.0, 3.0]),
        ("drive.effort", "effort in N", [3.0, 3.0, 3.0]),
        ("cart.position.x", "in m", run["cart"].position[:, 0]),
        ("energy.kinetic", "in J", run.energy.kinetic),
        ("way", "in m", run["cart"].position[:, 0]),
    ):
        (axes,) = run.plot(what, shown=False).axes
        assert axes.get_ylabel() == label
        np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), expected)
    with pytest.raises(mbd.ModelError, match=r"no quantity 'nothing'; expected one of .* or one of solution.channels"):
        run.plot("nothing", shown=False)


def test_the_angle_of_a_torsion_spring_is_no_length() -> None:
    model = mbd.Model("lever")
    lever = model.add(mbd.RigidBody("lever", 1.0, (1.0, 1.0, 1.0)))
    hinge = model.add(mbd.joints.Revolute(model.ground, lever, at=(0, 0, 0), axis=(0, 0, 1)))
    model.add(mbd.forces.TorsionSpring(hinge, stiffness=1.0, rest=0.5, name="coil"))
    run = mbd.simulate(model, 0.01, 5e-3)
    with pytest.raises(
        mbd.ModelError, match="no element of .* has the quantity 'length'; there are position, .* angle"
    ):
        run.plot("length", shown=False)
    assert run.plot("coil.angle", shown=False).axes[0].get_ylabel() == "angle $\\varphi$ in rad"


def test_names_are_no_mathematics(tmp_path: Any) -> None:
    """They are written as they are, also where matplotlib would leave them out or read them as formulas."""
    names = ["_arm", "a$b$", r"$\foo$", "100 %", "Кöрпер"]
    model = mbd.Model("costs in $, and $")
    for name in names:
        model.add(mbd.RigidBody(name, 1.0, (1, 1, 1)))
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    figure = solution.plot("position", tmp_path / "position.svg")
    titles = [axes.title if axes.title.get_text() else axes._left_title for axes in figure.axes]
    assert [title.get_text() for title in titles] == names
    paths = solution.plot("trajectory", tmp_path / "paths.svg")
    legend = paths.legends[0].get_texts()
    assert [text.get_text() for text in legend] == names
    assert not any(text.get_parse_math() for text in (*titles, *legend, figure._suptitle, paths._suptitle))


def test_two_runs_in_one_plot(top: mbd.Solution) -> None:
    axes = top.plot("top.position", against=top, shown=False).axes
    assert len(axes[0].get_lines()) == 6
    assert {line.get_linestyle() for line in axes[0].get_lines()} == {"-", "--"}


def test_long_runs_are_thinned_without_losing_peaks() -> None:
    from mbd.view.plotting import MAX_POINTS, thinned

    x = np.linspace(0.0, 1.0, 500_000)
    y = np.zeros_like(x)
    y[123_456], y[400_001] = 1.0, -2.0
    a, b = thinned(x, y)
    assert len(a) <= MAX_POINTS + 2 and b.max() == 1.0 and b.min() == -2.0
    assert a[0] == x[0] and a[-1] == x[-1] and (np.diff(a) > 0).all()


@pytest.mark.parametrize("name", ["a.png", "a.pdf", "a.svg"])
def test_files(top: mbd.Solution, tmp_path: Any, name: str) -> None:
    top.plot("energy", tmp_path / name, theme="dark")
    data = (tmp_path / name).read_bytes()
    assert len(data) > 3000
    if name.endswith("svg"):
        assert b"energy in J" in data
    if name.endswith("png"):
        from PIL import Image

        with Image.open(tmp_path / name) as image:
            assert image.getpixel((2, 2))[:3] == (0x18, 0x1C, 0x22)  # the dark ground


def test_it_leaves_matplotlib_as_it_was(top: mbd.Solution) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    top.plot("energy", shown=False)
    assert dict(matplotlib.rcParams) == before


def test_errors_say_what_to_do(top: mbd.Solution, tmp_path: Any) -> None:
    for what, options, words in (
        ("energie", {}, "did you mean 'energy'"),
        ("length", {}, "no element of model 'heavy top' has the quantity 'length'"),
        ("position", {"elements": "pivot"}, "spherical 'pivot' .*has no position; it has .*force, torque"),
        ("trajectory", {"elements": "pivot"}, "bodies with a place"),
        ("energy", {"file": tmp_path / "a.txt"}, "ends with .png"),
    ):
        with pytest.raises(mbd.ModelError, match=words):
            top.plot(what, **options)
    free = mbd.Model("free")
    free.add(mbd.PointMass("p", 1.0))
    solution = mbd.simulate(free, 0.01, 0.01)
    for what in ("constraints", "reactions"):
        with pytest.raises(mbd.ModelError, match="model 'free' has no"):
            solution.plot(what)
