"""Numbers by name: channels, pandas, xarray and CSV."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pandas
import pytest
import xarray

import mbd
from mbd.study.compatibility import FEATURES, small_model

Y = (0.0, 1.0, 0.0)


@pytest.fixture(scope="module")
def solution() -> mbd.Solution:
    model = mbd.Model("crane", gravity=(0, 0, -9.81))
    tip = model.add(mbd.RigidBody("tip", 1.0, (0.1, 0.2, 0.3), mbd.nodes.RotationVector(position=(1, 0, 0))))
    hinge = model.add(mbd.joints.Revolute(model.ground, tip, at=(0, 0, 0), axis=Y, name="hinge"))
    model.add(mbd.forces.TorsionSpring(hinge, 3.0, name="coil"))
    ball = model.add(mbd.PointMass("ball", 1.0, (2, 0, 0)))
    model.add(mbd.forces.Spring(tip, ball, stiffness=10.0, length=1.0, name="rope"))
    model.add(mbd.Generalized("own", [0.5, 0.2], [1.0, 0.0], mass=np.eye(2)))
    return mbd.simulate(model, 0.2, 0.01, progress=False)


def test_every_channel_reads_as_it_is_listed(solution):
    assert len(solution.channels) == len(list(solution.channels)) > 40
    for name, channel in solution.channels.items():
        values = solution.channel(name)
        assert values.shape == (len(solution), *channel.shape), name
        assert len(channel.columns) == len(channel.units) == int(np.prod(channel.shape)), name
        assert channel.text and channel.unit, name
        if channel.shape:
            np.testing.assert_array_equal(solution.channel(channel.columns[-1]), values.reshape(len(values), -1)[:, -1])


@pytest.mark.parametrize("feature", FEATURES)
def test_channels_of_every_feature(feature):
    model = small_model("RotationVector", feature)
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    for name in solution.channels:
        assert len(solution.channel(name)) == 3, name


def test_what_views_have_is_listed(solution):
    """Every public array of a view is a channel."""
    for element in ("tip", "ball", "own", "hinge", "coil", "rope"):
        view = solution[element]
        names = [key for key in dir(view) if key[0] != "_" and isinstance(getattr(view, key, None), np.ndarray)]
        aliases = {"com"} if element == "ball" else {"length"} if element == "coil" else set()
        assert {f"{element}.{key}" for key in names if key not in aliases} == {
            channel.name for channel in solution.channels.of(element)
        }


def test_units(solution):
    units = {name: channel.unit for name, channel in solution.channels.items()}
    assert units["tip.angular_velocity"] == "rad/s" and units["hinge.torque"] == "N m" and units["rope.length"] == "m"
    assert units["own.coordinates"] == units["q"] == "model unit"
    assert units["hinge.multipliers"] == "N, N, N, N m, N m"
    assert solution.channels["hinge.multipliers"].units[3:] == ["N m", "N m"]


def test_multipliers_of_equations_of_users_have_no_known_unit():
    """Of a length squared they are forces per length."""
    model = mbd.Model("far")
    ball = model.add(mbd.PointMass("ball", 1.0, (3.0, 0.0, 0.0)))
    far = model.add(
        mbd.joints.UserConstraint([ball], lambda frames, t: (np.sum(frames[0, :3] ** 2) - 9.0,), name="far")
    )
    model.add(mbd.forces.Force(ball, (6.0, 0.0, 0.0)))
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    np.testing.assert_allclose(solution[far].force[0], (-6.0, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(solution[far].multipliers[0], 1.0, atol=1e-12)
    assert solution.channels["far.multipliers"].unit == "model unit" and solution.channels["far.force"].unit == "N"


def test_variables_of_a_scheme_tell_their_times():
    model = small_model("RotationVector Lie", "joints")
    solution = mbd.simulate(model, 0.02, 0.01, mbd.integrators.LieEM(), progress=False)
    channel = solution.channels["scheme.lambda"]
    assert channel.shape == (3,) and channel.text.endswith("at t-0.5 h")
    assert np.isnan(solution.frame("scheme.lambda").iloc[0]).all()


def test_the_table_prints_and_is_short(solution):
    text = str(solution.channels)
    assert text.splitlines()[0].split() == ["channel", "unit", "shape", "meaning"]
    assert "tip.rotation               1           3 x 3  rotation matrix, body to world" in text
    assert max(map(len, text.splitlines())) < 120
    many = mbd.Model("many")
    for k in range(30):
        many.add(mbd.PointMass(f"point {k}", 1.0, (k, 0, 0)))
    found = mbd.simulate(many, 0.01, 0.01, progress=False).channels
    assert len(str(found).splitlines()) < 70 and str(found).endswith(f"... and {len(found) - 60} more")


def test_frame(solution):
    frame = solution.frame(["tip.position", "energy.total", "hinge.angle", "tip.velocity.z"])
    assert isinstance(frame, pandas.DataFrame) and frame.index.name == "t"
    assert list(frame.columns) == [
        "tip.position.x", "tip.position.y", "tip.position.z", "energy.total", "hinge.angle", "tip.velocity.z",
    ]  # fmt: skip
    np.testing.assert_array_equal(frame.index, solution.t)
    np.testing.assert_array_equal(frame["tip.velocity.z"], solution["tip"].velocity[:, 2])
    np.testing.assert_array_equal(frame.iloc[:, :3], solution["tip"].position)
    assert frame.attrs["units"]["hinge.angle"] == "rad"
    usual = solution.frame().columns
    assert {"energy.total", "tip.position.x", "ball.position.z", "own.coordinates.1", "hinge.angle"} <= set(usual)
    assert list(solution.frame("*.position").columns) == [f"{b}.position.{x}" for b in ("tip", "ball") for x in "xyz"]
    assert len(solution.frame("tip").columns) == sum(len(c.columns) for c in solution.channels.of("tip"))


def test_sensors_are_channels(solution):
    height = mbd.sensors.Position("tip", (0, 0, 1), "z")
    frame = solution.frame([height, mbd.sensors.Gyroscope("tip"), "ball.position.x"])
    assert frame.columns[0] == "Position(tip, z, point [0.0, 0.0, 1.0])"
    named = solution.frame({"height": height, "x": "ball.position.x", "energy": lambda s: s.energy.total})
    assert list(named.columns) == ["height", "x", "energy"]
    assert named.attrs["units"] == {"height": "m", "x": "m", "energy": "model unit"}
    np.testing.assert_array_equal(named["height"], height(solution))
    twin = mbd.simulate(solution.model, 0.05, 0.01, progress=False)
    twin.add_channel("height", height)
    twin.add_channel("double", lambda s: 2.0 * s.t, unit="s")
    assert "height" in twin.channels and str(twin.channels["double"]).startswith("double [s], number")
    assert list(twin.frame(["height", "double"]).columns) == ["height", "double"]
    with pytest.raises(mbd.ModelError, match="the name 'energy.total' is taken"):
        twin.add_channel("energy.total", height)
    with pytest.raises(mbd.ModelError, match=r"returned an array of shape \(2,\); expected a value for each of the 6"):
        twin.add_channel("wrong", lambda s: np.zeros(2))


def test_dataset(solution):
    data = solution.dataset(["tip", "ball.position", "energy.*", "hinge.multipliers", mbd.sensors.Gyroscope("tip")])
    assert isinstance(data, xarray.Dataset)
    assert data["tip.position"].dims == ("t", "axis") and data["tip.position"].attrs["units"] == "m"
    assert data["tip.rotation"].dims == ("t", "axis", "body_axis")
    assert data["tip.angular_velocity"].dims == data["Gyroscope(tip)"].dims == ("t", "body_axis")  # other axes
    np.testing.assert_array_equal(data["tip.rotation"], solution["tip"].rotation)
    np.testing.assert_array_equal(data["ball.position"].sel(axis="x"), solution["ball"].position[:, 0])
    np.testing.assert_array_equal(data.t, solution.t)
    assert data.t.attrs["units"] == "s" and data.attrs["model"] == "crane"
    turned = data["tip.rotation"].dot(data["tip.angular_velocity"], dim="body_axis")
    np.testing.assert_allclose(turned.sel(axis="y"), solution["hinge"].angle_rate, atol=1e-12)


def test_csv(solution, tmp_path):
    solution.csv(tmp_path / "a.csv", ["tip.position", "hinge.multipliers", "energy.total"])
    with (tmp_path / "a.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:2] == ["t [s]", "tip.position.x [m]"] and head[-2:] == [
        "hinge.multipliers.4 [N m]",
        "energy.total [J]",
    ]
    table = np.array(rows, dtype=float)
    np.testing.assert_array_equal(table[:, 0], solution.t)
    np.testing.assert_array_equal(table[:, 1:4], solution["tip"].position)  # all digits
    rounded = {"float_precision": "round_trip"} if int(pandas.__version__.split(".")[0]) < 3 else {}  # the rule since 3
    np.testing.assert_array_equal(pandas.read_csv(tmp_path / "a.csv", **rounded).to_numpy(), table)
    with pytest.raises(mbd.FileError, match="there is no folder"):
        solution.csv(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(mbd.ModelError, match="did you mean"):
        solution.csv(tmp_path / "a.csv", "tip.positio")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tip.positon", "body 'tip' has no channel 'positon'; did you mean 'tip.position'"),
        ("tpi.position", "there is no channel 'tpi.position'; did you mean 'tip.position'"),
        ("energy.totl", "did you mean 'energy.total'"),
        ("tip.position.w", "channel 'tip.position' has no component 'w'; it has x, y, z"),
        ("tip.angle", "body 'tip' has no channel 'angle'; did you mean 'tip.angular_velocity'"),
        ("ground.position", "there is no channel 'ground.position'"),
        ("*.foo", "no channel fits '\\*.foo'"),
        (3.0, "channel 3.0: expected a name"),
    ],
)
def test_unknown_names(solution, name, text):
    with pytest.raises(mbd.ModelError, match=text):
        solution.frame([name])


def test_nothing_is_asked_for(solution):
    with pytest.raises(mbd.ModelError, match="channels is empty"):
        solution.frame([])


def test_what_is_no_choice_of_channels(solution):
    for choice, words in ((3, "channels are 3; expected names"), ({}, "channels is empty")):
        with pytest.raises(mbd.ModelError, match=words):
            solution.frame(choice)
    with pytest.raises(mbd.FileError, match="the name of the file is None; expected a text or a path"):
        solution.csv(None, "tip.position")
    for function, unit, words in (
        (lambda s: 1j * s.t, None, "returned complex128 values; expected real numbers"),
        (lambda s: ["a"] * len(s), None, "expected real numbers"),
        (lambda s: s.t, 3, "unit is 3; expected a text"),
    ):
        with pytest.raises(mbd.ModelError, match=words):
            solution.add_channel("measured", function, unit)


def test_tables_without_records(solution, tmp_path):
    none = solution.part(slice(0, 0))
    assert none.frame().shape == (0, solution.frame().shape[1]) and len(none.dataset("tip")["tip.rotation"]) == 0
    none.csv(tmp_path / "none.csv", "tip.position")
    assert (tmp_path / "none.csv").read_text() == "t [s],tip.position.x [m],tip.position.y [m],tip.position.z [m]\n"


@pytest.mark.parametrize(
    "records", [1.5, [1, 2], None, "a", True, slice(None, None, -1), slice(0, 0.5), slice(0, 3, 0)]
)
def test_parts_are_of_whole_numbers_and_go_forwards(solution, records):
    with pytest.raises(mbd.ModelError, match=r"part: records are .*; expected"):
        solution.part(records)


def test_names_that_mean_two_things():
    model = mbd.Model("twice")
    model.add(mbd.PointMass("constraint_error", 1.0))
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    with pytest.raises(mbd.ModelError, match="of point mass 'constraint_error' and of the whole system; rename"):
        solution.channel("constraint_error.position")
    assert solution.channel("constraint_error.acceleration").shape == (3, 3)


def test_names_with_dots():
    model = mbd.Model("dots")
    model.add(mbd.PointMass("arm.left", 1.0, (1, 2, 3)))
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    assert solution.channel("arm.left.position.z")[0] == 3.0


def test_packages_that_are_missing_are_named(solution, monkeypatch):
    for package, method in (("pandas", solution.frame), ("xarray", solution.dataset)):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(mbd.ModelError, match=rf"{package} is not installed; .*pip install 'mbd\[study\]'"):
            method()


def test_a_model_that_was_changed_gives_no_numbers_of_others():
    model = mbd.Model("two")
    for k in range(2):
        point = model.add(mbd.PointMass(f"point {k}", 1.0, (k, 0, 0)))
        model.add(mbd.joints.Distance(model.ground, point, point_a=(k, 0, 1), name=f"rod {k}"))
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    added = model.add(mbd.PointMass("later", 1.0))
    assert solution["rod 1"].force.shape == (3, 3) and "later.position" not in list(solution.channels)
    with pytest.raises(mbd.ModelError, match="'later' was added to model 'two' after this run"):
        _ = solution[added]
    model.remove("rod 0")
    again = mbd.simulate(mbd.Model.copy(model), 0.02, 0.01, progress=False)
    assert again["rod 1"].force.shape == (3, 3)
    fresh = mbd.Solution(solution.system, solution.t, solution.q, solution.v, solution.vd, solution.lam)
    with pytest.raises(
        mbd.ModelError, match="was changed after this run: .*'rod 0' .*was removed or has another place"
    ):
        _ = fresh["rod 1"]


def test_inputs_are_channels(tmp_path):
    """Where nothing changed them, where a Simulator did, in parts, chosen alone, and in a file."""
    model = mbd.Model("cart")
    push = model.input("push", 3.0)
    model.add(mbd.forces.Force(model.add(mbd.PointMass("cart", 1.0)), (push, 0, 0)))
    constant = mbd.simulate(model, 0.2, 0.1)
    assert constant.frame("inputs.push")["inputs.push"].tolist() == [3.0, 3.0, 3.0]
    assert constant.inputs["push"].tolist() == constant.part(slice(1, None)).inputs["push"].tolist() + [3.0]
    constant.save(tmp_path / "constant.npz")
    mbd.simulate(model, 0.2, 0.1, store=tmp_path / "stored")
    for read in (mbd.load(tmp_path / "constant.npz"), mbd.load(tmp_path / "stored")):
        assert read.inputs["push"].tolist() == read.channel("inputs.push").tolist() == [3.0, 3.0, 3.0]
        assert read.energy.total.tolist() == constant.energy.total.tolist()
    for choice in (True, ["inputs.push", "cart.position"]):
        sim = mbd.Simulator(model, 0.1, record=choice)
        sim.step()
        sim.inputs["push"] = -1.0
        sim.advance(0.2)
        assert sim.solution().frame(["inputs.push"])["inputs.push"].tolist() == [3.0, 3.0, -1.0, -1.0]
    sim.reset()
    whole = mbd.Simulator(model, 0.1, start=sim.state)
    whole.inputs["push"] = 2.0
    whole.step()
    solution = whole.solution()
    assert solution.part(-1).frame("inputs.push")["inputs.push"].tolist() == [2.0]
    solution.save(tmp_path / "run.npz")
    assert mbd.load(tmp_path / "run.npz").frame("inputs.push")["inputs.push"].tolist() == [3.0, 2.0]
    assert "inputs.push" in str(solution.channels)


def test_solutions_know_their_elements_and_records(solution):
    name = solution.model.bodies[0].name
    assert name in solution and "nobody" not in solution
    with pytest.raises(TypeError, match="not iterable"):
        list(solution)
    for k in (0, 3, -1):
        assert solution.part(k).t.tolist() == [solution.t[k]]
        assert np.array_equal(solution.part(k)[name].position[0], solution[name].position[k])
    with pytest.raises(IndexError):
        solution.part(len(solution))


def test_an_element_named_as_a_channel_of_the_system_is_not_mistaken_for_it():
    model = mbd.Model("short names")
    model.add(mbd.PointMass("q", 1.0, (1, 2, 3)))
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    with pytest.raises(mbd.ModelError, match=r"'q' is point mass 'q' and a channel; expected 'q\.\*'"):
        solution.frame("q")
    assert "q.position.x" in solution.frame("q.*") and solution.channel("q").shape == (3, 3)


def test_an_element_named_as_a_channel_of_another_one_is_not_mistaken_for_it():
    model = mbd.Model("tips")
    for k, name in enumerate(("tip", "tip.position")):
        model.add(mbd.PointMass(name, 1.0, (k, 0, 0)))
    solution = mbd.simulate(model, 0.02, 0.01, progress=False)
    with pytest.raises(mbd.ModelError, match=r"'tip.position' is point mass 'tip.position' and a channel; expected"):
        solution.frame("tip.position")
    assert solution.frame({"x": "tip.position"})["x.x"].tolist() == [0.0] * 3
    assert solution.frame("tip.position.*")["tip.position.position.x"].tolist() == [1.0] * 3


def test_columns_of_one_name_are_refused(solution, tmp_path):
    """One of them would be taken for the other, or be missing."""
    name = solution.model.bodies[0].name
    for choice, message in (
        ({"a": f"{name}.position", "a.x": f"{name}.velocity.x"}, "two columns would be called 'a.x'"),
        ({"t": "energy.total"}, "two columns would be called 't'"),
        ([lambda s: s.t, lambda s: 2.0 * s.t], r"two functions are called '<lambda>'; expected a dict"),
        (["power", power], "a function is called 'power' as the channel; expected a dict"),
    ):
        for table in (solution.frame, solution.dataset, lambda chosen: solution.csv(tmp_path / "x.csv", chosen)):
            with pytest.raises(mbd.ModelError, match=message):
                table(choice)
    with pytest.raises(mbd.ModelError, match="the name 't' is taken"):
        solution.add_channel("t", power)
    assert solution.frame({"one": power, "two": power}).shape[1] == 2


def power(solution):
    return 2.0 * solution.t


def test_matrices_of_functions_are_tables_too(solution):
    name = solution.model.bodies[0].name

    def turned(s):
        return s[name].rotation

    assert np.array_equal(solution.dataset([turned])["turned"], solution[name].rotation)
    assert solution.dataset([turned])["turned"].dims == ("t", "turned index 1", "turned index 2")
    assert solution.frame([turned]).shape == (len(solution), 9)


def changed_chain() -> mbd.Model:
    model = mbd.Model("chain", gravity=(0, 0, -9.81))
    parent = model.ground
    for k in range(2):
        node = mbd.nodes.RotationVector(position=(k + 0.5, 0, 0))
        bar = model.add(mbd.RigidBody(f"bar {k}", 1.0, (0.01, 0.1, 0.1), node))
        hinge = model.add(mbd.joints.Revolute(parent, bar, at=(k, 0, 0), axis=Y, name=f"hinge {k}"))
        model.add(mbd.forces.TorsionSpring(hinge, 3.0 + k, name=f"coil {k}"))
        parent = bar
    return model


def test_numbers_stay_those_of_the_run_when_elements_are_removed():
    """Views that were taken before, and what is still to be computed from them."""
    untouched, solution = (mbd.simulate(changed_chain(), 0.1, 0.01, progress=False) for _ in range(2))
    names = ("bar 0", "bar 1", "hinge 1", "coil 1", "ground")
    views = {name: solution[name] for name in names}
    for name in ("coil 0", "hinge 0"):
        solution.model.remove(name)
    for name, quantity in (
        ("hinge 1", "force"),
        ("hinge 1", "angle"),
        ("hinge 1", "multipliers"),
        ("coil 1", "effort"),
    ):
        np.testing.assert_array_equal(getattr(views[name], quantity), getattr(untouched[name], quantity))
        np.testing.assert_array_equal(solution.channel(f"{name}.{quantity}"), getattr(untouched[name], quantity))


def test_a_model_to_which_something_was_added_leaves_the_usual_numbers(tmp_path):
    untouched, solution = (mbd.simulate(changed_chain(), 0.1, 0.01, progress=False) for _ in range(2))
    solution.model.add(mbd.forces.TorsionSpring(solution.model["hinge 1"], 1.0))
    solution.model.add(mbd.RigidBody("later", 1.0, (0.1, 0.1, 0.1)))
    assert solution.frame().equals(untouched.frame())
    np.testing.assert_array_equal(solution["hinge 1"].angle, untouched["hinge 1"].angle)
    with pytest.raises(mbd.ModelError, match="body 'later' was added to model 'chain' after this run"):
        solution.html(tmp_path / "page.html")
