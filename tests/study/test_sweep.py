"""Sweeps: the same rows from every engine, what is in a row, what is refused, and what people get."""

from __future__ import annotations

import functools
import signal
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mbd
from mbd.compiled.loading_time import without_limit
from mbd.study import sweep
from mbd.study.channels import Channel
from mbd.study.collecting import collected_warnings
from mbd.study.watching import Marker, Watch
from tests.study import cases

GRID = {"length": np.linspace(0.5, 2.0, 4), "mass": mbd.study.normal(1.0, 0.1)}


def pendulums(**options):
    arguments = {"samples": 3, "simulate": cases.PENDULUM, "outputs": cases.PENDULUM_OUTPUTS, **options}
    return sweep(cases.pendulum, GRID, **arguments)


def test_same_bits_from_all_engines(dask_cluster):
    """This process, spawned processes, threads, dask; other chunks as well; and a plain loop."""
    ours = pendulums()
    with ThreadPoolExecutor(2) as threads:
        others = [pendulums(executor=2), pendulums(executor=threads, chunk=5), pendulums(executor=dask_cluster)]
    for other in others:
        for name in (*cases.PENDULUM_OUTPUTS, *GRID):
            np.testing.assert_array_equal(other[name], ours[name])
        assert other.complete and not other.failed
    for run, (length, mass) in enumerate(zip(ours["length"], ours["mass"], strict=True)):
        rng = np.random.default_rng([0, run])
        solution = mbd.simulate(cases.pendulum(float(length), float(mass), rng), **cases.PENDULUM)
        np.testing.assert_array_equal(ours["path"][run], solution["arm"].position[::10])
        assert ours["angle"][run] == solution["hinge"].angle[-1]
    assert len(np.unique(ours["angle"])) == len(ours)
    again = mbd.study.rerun(others[2], 7)
    assert again["hinge"].angle[-1] == ours["angle"][7]


def test_frames_and_datasets():
    study = pendulums()
    frame = study.frame()
    assert list(frame.columns[:3]) == ["length", "mass", "angle"] and frame.index.name == "run" and len(frame) == 12
    np.testing.assert_array_equal(frame["path[2,1]"], study["path"][:, 2, 1])
    assert set(frame["status"]) == {"good"} and frame["seconds"].gt(0.0).all()
    assert list(study.frame(outputs=["angle"]).columns[:4]) == ["length", "mass", "angle", "status"]
    dataset = study.dataset()
    assert dict(dataset.sizes) == {"length": 4, "sample": 3, "path_0": 6, "path_1": 3}
    np.testing.assert_array_equal(dataset["angle"].sel(length=2.0), study["angle"][9:])
    np.testing.assert_array_equal(dataset["mass"], study["mass"][:3])
    np.testing.assert_array_equal(dataset["path"].values.reshape(12, 6, 3), study["path"])
    with pytest.raises(mbd.ModelError, match="no output 'angel'; there are 'angle'"):
        study.frame(outputs=["angel"])
    assert "12 runs (12 good)" in repr(study) and "angle" in str(study)


def test_a_study_of_one_run_has_a_dataset():
    """All parameters have one value: there is no dimension but those of arrays."""
    found = sweep(lambda x: {"a": x, "p": np.array([x, 2.0])}, {"x": 3.0}, outputs=cases.same).dataset()
    assert found["a"].item() == 3.0 and found["p"].shape == (2,) and found["x"].item() == 3.0


def test_a_study_that_has_hardly_begun_has_a_table():
    """Without a run there are no rows, but all columns of its parameters."""

    def stopped(w):
        raise KeyboardInterrupt

    study = sweep(stopped, {"w": np.eye(3)}, outputs={"a": float})
    assert study.frame().shape[0] == 0 and list(study.frame())[:3] == ["w[0]", "w[1]", "w[2]"]
    assert study.dataset()["status"].values.tolist() == ["open"] * 3


def test_names_of_dimensions_in_datasets():
    """Dimensions of arrays get names that no parameter and no output has."""
    outputs = {"path": lambda x: np.array([x, 2.0, 3.0]), "speed": lambda x: np.array([x, 1.0]), "speed_0": float}
    grid = {"x": [5.0, 6.0], "path_0": [1.0, 2.0], "place": np.eye(2), "place_value": [7.0, 8.0]}
    dataset = sweep(lambda x, path_0, place, place_value: x, grid, outputs=outputs).dataset()
    axes = {name: 2 for name in grid}
    assert dict(dataset.sizes) == {**axes, "path_0_": 3, "speed_0_": 2, "place_0": 2}
    assert dataset["path_0"].values.tolist() == [1.0, 2.0] and dataset["place_value"].values.tolist() == [7.0, 8.0]
    np.testing.assert_array_equal(dataset["place_value_"], np.eye(2))
    assert dataset["speed_0"].sel(x=6.0).values.tolist() == np.full((2, 2, 2), 6.0).tolist()


def test_missing_packages_name_the_extra(monkeypatch):
    study = sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same)
    for package, call in (("pandas", study.frame), ("xarray", study.dataset)):
        monkeypatch.setitem(__import__("sys").modules, package, None)
        with pytest.raises(ImportError, match=r"pip install 'mbd\[study\]'"):
            call()
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'mbd\[study\]'"):
        sweep(cases.numbers, {"x": [1.0]}, outputs=cases.same, executor="tcp://127.0.0.1:1")


def test_a_failing_run_is_a_row():
    with pytest.warns(mbd.ModelWarning) as said:
        study = sweep(cases.troubled, {"x": np.arange(5.0, 13.0)}, outputs=cases.same)
    assert [str(w.message).partition(";")[0] for w in said] == [
        "1 of 8 runs have no result (study.failed)",
        "1 of 8 runs gave warnings (study.frame()['warning'])",
    ]
    assert study.failed == [(2, "failed", "ValueError: seven is not allowed", {"x": 7.0})]
    assert np.isnan(study["square"][2]) and np.isfinite(np.delete(study["square"], 2)).all()
    frame = study.frame()
    assert frame["warnings"].tolist() == [0, 0, 0, 0, 0, 0, 1, 0]
    assert frame["warning"][6] == "UserWarning: eleven is strange"
    with pytest.raises(mbd.StudyError, match=r"run 2 failed: ValueError: seven is not allowed; parameters: x = 7\.0"):
        sweep(cases.troubled, {"x": np.arange(5.0, 13.0)}, outputs=cases.same, on_error="raise")
    with pytest.raises(ValueError, match="seven"):
        mbd.study.rerun(study, 2)


def odd(x: float) -> object:
    """Outputs that are not what those of the other runs are."""
    found = {"a": np.zeros(2), "b": x}
    if x == 2.0:
        found["a"] = np.zeros(3)
    if x == 3.0:
        del found["b"]
    if x == 4.0:
        found["c"] = 1.0
    if x == 5.0:
        found["a"] = "text"
    if x == 6.0:
        return None
    if x == 7.0:
        raise SystemExit(3)
    if x == 9.0:
        raise GeneratorExit
    return found


@pytest.mark.parametrize("chunk", [1, 3, 20])
def test_wrong_outputs_are_failures_with_a_reason(chunk):
    with pytest.warns(mbd.ModelWarning, match="7 of 9"):
        study = sweep(odd, {"x": np.arange(1.0, 10.0)}, outputs=cases.same, chunk=chunk)
    assert [(failed.run, failed.message) for failed in study.failed] == [
        (1, "output 'a' has shape (3,); run 0 has shape (2,)"),
        (2, "an output is missing; run 0 has 'a', 'b'"),
        (3, "output 'c' has shape (); run 0 has no such output"),
        (4, "ModelError: output 'a' is 'text'; expected a number or an array of numbers [MBD-E02]"),
        (5, "ModelError: outputs returned None; expected a dictionary of numbers or arrays [MBD-E02]"),
        (6, "SystemExit: 3"),
        (8, "GeneratorExit: "),
    ]
    np.testing.assert_array_equal(study["b"], [1.0, np.nan, np.nan, np.nan, np.nan, np.nan, np.nan, 8.0, np.nan])


def named(x: float) -> dict[str, object]:
    """Outputs whose names are taken in some runs."""
    return {"a": x} | ({} if x == 1.0 else {"x": 5.0} if x == 2.0 else {"status": 1.0} if x == 3.0 else {1: x, "1": x})


def test_names_of_outputs_that_a_function_gives():
    """They would hide parameters, or be hidden by columns that every table has."""
    with pytest.warns(mbd.ModelWarning, match="3 of 4"):
        study = sweep(named, {"x": [1.0, 2.0, 3.0, 4.0]}, outputs=cases.same)
    texts = [failed.message for failed in study.failed]
    for text, expected in zip(texts, ("a parameter is called so", "are taken", "another output is"), strict=True):
        assert expected in text
    assert study.frame()["x"].tolist() == [1.0, 2.0, 3.0, 4.0]
    study = sweep(lambda x: {"p": np.array([x, 2.0 * x]), "p[0]": -x}, {"x": [1.0]}, outputs=cases.same)
    with pytest.raises(mbd.ModelError, match=r"two columns would be called 'p\[0\]'"):
        study.frame()
    assert study.frame(["p"])["p[0]"].tolist() == [1.0]


@pytest.mark.filterwarnings("ignore:sweep. what functions refer to has changed")
@pytest.mark.parametrize("chunk", [1, 4])
def test_outputs_whose_array_is_used_again(chunk):
    """A function that fills the same array in each run: every row has the numbers of its own run."""

    def filled(x: float, room: np.ndarray = np.zeros(2)) -> np.ndarray:  # noqa: B008
        room[:] = x, x * x
        return room

    study = sweep(lambda x: x, {"x": [1.0, 2.0, 3.0, 4.0]}, outputs={"a": filled}, chunk=chunk)
    np.testing.assert_array_equal(study["a"], [[1.0, 1.0], [2.0, 4.0], [3.0, 9.0], [4.0, 16.0]])


def test_numbers_that_are_masked_or_not_finite():
    """What lies below a mask is no result; what is not finite is told, since a summary leaves it out."""
    masked = np.ma.masked_array([1.0, 1e20], mask=[False, True])
    study = sweep(lambda x: {"a": x * masked, "b": np.inf if x > 1.0 else x}, {"x": [1.0, 2.0]}, outputs=cases.same)
    np.testing.assert_array_equal(study["a"], [[1.0, np.nan], [2.0, np.nan]])
    assert "output 'b' is not finite in 1 of 2 good runs, first in run 1" in str(study)
    assert np.isnan(sweep(lambda x: np.ma.masked, {"x": [1.0]}, outputs={"a": lambda y: y})["a"][0])


def test_a_name_in_place_of_names():
    study = sweep(lambda x: {"a": x, "b": x}, {"x": [1.0]}, outputs=cases.same)
    for read in (study.frame, study.dataset, study.plot):
        with pytest.raises(mbd.ModelError, match=r"outputs = 'ab'; expected a list of names"):
            read(outputs="ab")
    with pytest.raises(mbd.ModelError, match="path = None; expected the name of a folder"):
        mbd.study.load(None)


def test_outputs_of_a_study_without_a_good_run():
    with pytest.warns(mbd.ModelWarning, match="3 of 3 runs have no result"):
        study = mbd.study.sweep(cases.pendulum, {"length": [0.3, 0.4, 0.5], "mass": 1.0}, outputs={"x": failing_output})
    for read in (lambda: study["x"], lambda: study.frame(["x"])):
        with pytest.raises(
            mbd.ModelError, match=r"outputs are known when a run has been good \(study.failed tells why"
        ):
            read()


def failing_output(model):
    raise ValueError("no")


def test_results_keep_their_types():
    study = sweep(lambda n: n, {"n": [1, 2, 3]}, outputs={
        "count": lambda n: n, "flag": lambda n: n > 1, "single": lambda n: np.full(2, n, dtype=np.float32),
        "complex": lambda n: 1j * n, "mixed": lambda n: n if n < 3 else 0.5,
    })  # fmt: skip
    kinds = {name: study[name].dtype.name for name in study.outputs}
    assert kinds == {"count": "int64", "flag": "bool", "single": "float32", "complex": "complex128", "mixed": "float64"}
    np.testing.assert_array_equal(study["mixed"], [1.0, 2.0, 0.5])


def test_parameters_for_the_simulation_and_other_analyses():
    def oscillator(stiffness):
        model = mbd.Model("oscillator")
        body = model.add(mbd.PointMass("body", 2.0, (1, 0, 0)))
        model.add(mbd.forces.Spring(model.ground, body, stiffness=stiffness, length=1.0, name="spring"))
        return model

    def run(model, step):
        return mbd.simulate(model, 0.1, step, progress=False)

    study = sweep(oscillator, {"stiffness": [8.0], "step": [0.1, 0.05]}, simulate=run, outputs={"n": "stats.steps"})
    assert study["n"].tolist() == [1, 2]

    def highest(modes):
        return modes.frequencies.max()

    study = sweep(oscillator, {"stiffness": [8.0, 18.0]}, simulate=mbd.linearize, outputs={"f": highest})
    np.testing.assert_allclose(2.0 * np.pi * study["f"], np.sqrt([4.0, 9.0]), rtol=1e-9)


def test_redundancy_is_noted_without_an_explanation():
    def redundant(x):
        model = mbd.Model("door", gravity=(0, 0, -9.81))
        door = model.add(mbd.RigidBody("door", 1.0, (0.1, 0.1, 0.1), mbd.nodes.RotationVector(position=(x, 0, 0))))
        for z in (0.0, 1.0):
            model.add(mbd.joints.Revolute(model.ground, door, at=(0, 0, z), axis=(0, 0, 1)))
        return model

    with pytest.warns(mbd.ModelWarning, match="2 of 2 runs gave warnings"):
        study = sweep(redundant, {"x": [1.0, 2.0]}, simulate=cases.PENDULUM, outputs=["door.position.x[-1]"])
    assert study.frame()["warnings"].tolist() == [1, 1]
    assert "mbd.study.rerun says which joints" in study.frame()["warning"][0]
    with pytest.warns(mbd.RedundancyWarning, match="redundant"):
        mbd.study.rerun(study, 0)


def test_a_corrected_start_is_noted(capsys):
    def apart(gap):
        model = mbd.Model("apart")
        body = model.add(mbd.RigidBody("body", 1.0, (1, 1, 1), mbd.nodes.RotationVector(position=(1 + gap, 0, 0))))
        model.add(mbd.joints.Spherical(model.ground, body, point_a=(0, 0, 0), point_b=(-1, 0, 0)))
        return model

    with pytest.warns(mbd.ModelWarning, match="1 of 2 runs gave warnings"):
        study = sweep(apart, {"gap": [0.0, 0.01]}, simulate=cases.PENDULUM, outputs=["body.position.x[-1]"])
    assert study.frame()["warnings"].tolist() == [0, 1]
    assert capsys.readouterr().err == ""


def test_warnings_go_to_the_run_of_their_thread():
    """And filters are what they were afterwards."""
    before, barrier, found = list(warnings.filters), threading.Barrier(2), {}

    def run(name):
        with collected_warnings() as said:
            barrier.wait()
            for _ in range(3):
                warnings.warn(name, stacklevel=1)
            barrier.wait()
        found[name] = said.texts

    threads = [threading.Thread(target=run, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {name: [f"UserWarning: {name}"] * 3 for name in "ab"}
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="still"):
        warnings.warn("still heard", stacklevel=1)


def interrupted(x: float, rng: np.random.Generator) -> object:
    if x == 5.0:
        signal.raise_signal(signal.SIGINT)
    return cases.numbers(x, rng)


def interrupted_in_a_run(length: float, mass: float, rng: np.random.Generator) -> mbd.Model:
    model = cases.pendulum(length, mass, rng)
    if length == 2.0:
        timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
        timer.start()
    return model


@pytest.fixture
def interruptible():
    """Ctrl-C raises KeyboardInterrupt, also where the tests run in the background of a shell that ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_keeps_what_was_computed(tmp_path, capsys, interruptible):
    study = sweep(interrupted, {"x": np.arange(9.0)}, outputs=cases.same, chunk=4)
    assert study.status.tolist() == ["good"] * 5 + ["open"] * 4 and not study.complete
    assert "interrupted after 5 of 9 runs" in capsys.readouterr().err
    long = {"t_end": 1000.0, "step": 1e-3, "output_step": 1.0}  # a run that was stopped by Ctrl-C is no result
    study = sweep(
        interrupted_in_a_run,
        {"length": [2.0], "mass": 1.0},
        simulate=long,
        outputs={"t": lambda solution: solution.t[-1]},
    )
    assert study.status.tolist() == ["open"]


def endless(x: float, kind: str) -> float:
    """Does not end in Python, in a simulation, and where it catches everything."""
    while x == 1.0:
        try:
            time.sleep(0.001)
            if kind == "simulation":
                mbd.simulate(cases.pendulum(1.0, 1.0, np.random.default_rng(0)), 1e6, 1e-3, output_step=1e3)
        except Exception:  # TimeOver is none
            pass
    return x


@pytest.mark.parametrize("threaded", [False, True])
def test_timeouts(threaded):
    mbd.simulate(cases.pendulum(1.0, 1.0, np.random.default_rng(0)), **cases.PENDULUM)  # loads code
    executor = ThreadPoolExecutor(2) if threaded else None
    with pytest.warns(mbd.ModelWarning, match="2 of 4 runs"):
        study = sweep(
            endless,
            {"x": [0.0, 1.0], "kind": ["python", "simulation"]},
            outputs={"y": float},
            timeout=0.3,
            executor=executor,
        )
    assert study.status.tolist() == ["good", "good", "timeout", "timeout"]
    assert study.failed[0].message == "no end after 0.3 s"


def loading(x: float) -> float:
    """Compiles for longer than a run may take, and then ends or does not."""
    with without_limit():
        time.sleep(0.5)
    while x == 1.0:
        time.sleep(0.001)
    return x


def test_code_is_compiled_without_a_limit():
    """On a fresh installation runs were ended while they compiled, and the next ones began that anew: all were lost."""
    with pytest.warns(mbd.ModelWarning, match="1 of 3 runs"):
        study = sweep(loading, {"x": [0.0, 1.0, 2.0]}, outputs={"y": float}, timeout=0.2)
    assert study.status.tolist() == ["good", "timeout", "good"]


def test_who_watches_from_outside_is_told_that_code_is_compiled():
    marker = Marker([-1.0, 0.0])
    marker.begin(3)
    with Watch(0.1, marker), without_limit():
        time.sleep(0.4)
        assert marker.seconds < 0.3 and marker.run == 3


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"build": 3}, "build is 3"),
        ({"parameters": {"y": [1.0]}}, "build has no argument 'y'; it takes x, rng"),
        ({"parameters": {"x": [1.0]}, "build": lambda x, z: x}, "build needs the argument 'z'"),
        ({"simulate": {"step": 1.0}}, "simulate has no 't_end'"),
        ({"simulate": {"step": 1.0, "t_end": 1.0, "integrater": None}}, "'integrater'; mbd.simulate takes t_end"),
        ({"simulate": "GeneralizedAlpha"}, "a function, or None"),
        ({"outputs": {}}, "there are no outputs"),
        ({"outputs": None}, "outputs is None; expected e.g."),
        ({"outputs": [float]}, "an output has no name; expected a dictionary"),
        ({"outputs": {"x": float}}, "a parameter is called so"),
        ({"outputs": {"status": float}}, "are taken"),
        ({"outputs": {"y": 3.0}}, "output 'y' is 3.0"),
        ({"outputs": ["tip.position[last]"]}, r"\[last\]; expected numbers of records"),
        ({"outputs": ["sum(tip.position)"]}, "sum is not one of max"),
        ({"seed": -1}, "seed = -1"),
        ({"chunk": 0}, "chunk = 0"),
        ({"timeout": 0.0}, "timeout"),
        ({"on_error": "ignore"}, "expected 'row' or 'raise'"),
        ({"retry": "yes"}, "retry = 'yes'; expected True or False"),
        ({"store": 3}, "store = 3; expected the name of a folder"),
        ({"store": ""}, "store = ''; expected the name of a folder"),
        ({"executor": 0}, "positive number of processes"),
        ({"executor": "localhost"}, "address of a dask scheduler"),
        ({"executor": ThreadPoolExecutor}, "expected None"),
        ({"executor": "tcp://127.0.0.1:9"}, "no dask scheduler answers"),
    ],
)
def test_what_is_refused(change, text, monkeypatch):
    monkeypatch.setattr("mbd.study.dask_engine.CONNECT", 0.2)
    arguments = {"build": cases.numbers, "parameters": {"x": [1.0]}, "outputs": cases.same, **change}
    with pytest.raises(mbd.ModelError, match=text):
        sweep(arguments.pop("build"), arguments.pop("parameters"), **arguments)


def test_channels():
    solution = mbd.simulate(cases.pendulum(1.0, 1.0, np.random.default_rng(0)), **cases.PENDULUM)
    arm, hinge = solution["arm"], solution["hinge"]
    for text, value in {
        "arm.position.x[-1]": arm.position[-1, 0], "arm.velocity[10:20, 2]": arm.velocity[10:20, 2],
        "max(abs(hinge.angle))": np.abs(hinge.angle).max(), "norm(arm.velocity)[3]": np.linalg.norm(arm.velocity[3]),
        "rms(arm.position)": np.sqrt(np.mean(arm.position**2, axis=0)), "energy.total[::7]": solution.energy.total[::7],
        "min(t)": 0.0, "mean(momentum.linear.z)": solution.momentum.linear[:, 2].mean(), "stats.steps": 50,
    }.items():  # fmt: skip
        np.testing.assert_array_equal(Channel(text)(solution), value)
    for text, reason in {
        "amr.position": "no element 'amr'; did you mean 'lam' or 'arm'?",
        "arm.positon": "has no 'positon'; there are acceleration",
        "arm": "it goes on with acceleration", "arm.position.w": "no component 'w'",
        "arm.position[99]": "out of bounds",
        "hinge.angle.x": "no component 'x'",
    }.items():  # fmt: skip
        with pytest.raises(mbd.ModelError) as error:
            Channel(text)(solution)
        assert reason in str(error.value)
    with pytest.raises(mbd.ModelError, match=r"expected simulate=dict"):
        Channel("arm.position")(solution.model)


def test_reruns(tmp_path):
    study = pendulums(store=tmp_path / "study")
    loaded = mbd.study.load(tmp_path / "study")
    for run in (0, 11):
        assert mbd.study.rerun(loaded, run)["hinge"].angle[-1] == study["angle"][run]
    with pytest.raises(mbd.ModelError, match="expected a number from 0 to 11"):
        mbd.study.rerun(study, 12)
    with pytest.warns(mbd.ModelWarning, match="not as in the study: simulate"):
        mbd.study.rerun(loaded, 0, simulate={"t_end": 0.05, "step": 5e-4})
    heavier = functools.partial(cases.pendulum, mass=3.0)
    with (
        pytest.warns(mbd.ModelWarning, match="not as in the study: build"),
        pytest.warns(mbd.ModelWarning, match="outputs of run 0 are not those of the study; they differ: 'angle' by"),
    ):
        mbd.study.rerun(study, 0, build=lambda length, mass, rng: heavier(length, rng=rng))


@pytest.mark.parametrize("kind", ["lines", "map", "pairs", "sensitivities"])
def test_pictures(tmp_path, kind):
    parameters = {"x": np.linspace(0.0, 1.0, 6), "y": np.linspace(0.0, 2.0, 5)}
    if kind == "lines":
        parameters["y"] = 1.0
    study = sweep(lambda x, y: x - y * y, parameters, outputs={"z": lambda z: z})
    figure = study.plot(None if kind in ("lines", "map") else kind, file=tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 5000 and figure.get_suptitle() == f"{len(study)} runs"
    if kind == "map":
        with pytest.raises(mbd.ModelError, match="'lines' shows one parameter; this study has x x y"):
            study.plot("lines", file=tmp_path / "other.png")
        with pytest.raises(mbd.ModelError, match=r"kind = 'z'; .*the output is chosen by outputs=\['z'\]"):
            study.plot("z")
        assert all(ax.get_xlabel() == "y" and ax.get_ylabel() == "x" for ax in figure.axes if ax.get_xlabel())


def test_maps_above_an_empty_place_have_numbers():
    """Three maps: the second one has nothing below it from which its numbers could be read."""
    outputs = {"sum": lambda z: z, "double": lambda z: 2.0 * z, "half": lambda z: 0.5 * z}
    figure = sweep(lambda x, y: x + y, {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0]}, outputs=outputs).plot()
    shown = [ax.xaxis.get_tick_params()["labelbottom"] for ax in figure.axes[:3]]
    assert shown == [False, True, True]


@pytest.mark.parametrize("kind", ["pairs", "sensitivities"])
def test_pictures_of_outputs_that_are_not_everywhere(kind):
    """An output that is never finite takes nothing from the others, and the title tells of it."""
    outputs = {"z": lambda z: z, "gone": lambda z: np.nan, "curve": lambda z: np.ones(3)}
    parameters = {"x": mbd.study.uniform(0.0, 1.0), "y": mbd.study.uniform(0.0, 1.0)}
    study = sweep(lambda x, y: x - y * y, parameters, samples=50, outputs=outputs)
    figure = study.plot(kind)
    title = "50 runs, 50 with outputs that are not finite, 1 outputs that are no numbers not shown"
    assert figure.get_suptitle() == title
    if kind == "pairs":
        texts = {text.get_text() for ax in figure.axes for text in ax.texts}
        assert any(text.startswith("+0.") for text in texts)  # x and z


def test_sensitivities_show_both_colours_of_the_rank_correlation():
    parameters = {"x": mbd.study.uniform(0.0, 1.0), "y": mbd.study.uniform(0.0, 1.0)}
    figure = sweep(lambda x, y: x - y, parameters, samples=50, outputs={"z": lambda z: z}).plot("sensitivities")
    bars = {bar.get_facecolor() for bar in figure.axes[0].patches}
    shown = [bar.get_facecolor() for bar in figure.legends[0].get_patches()]
    assert len(bars) == 3 and bars == set(shown)
    assert len({text.get_text() for text in figure.legends[0].get_texts()}) == 3


def test_pairs_of_many_parameters_show_outputs():
    parameters = {f"x{k}": mbd.study.uniform(0.0, 1.0) for k in range(9)}
    study = sweep(lambda **x: sum(x.values()), parameters, samples=20, outputs={"z": lambda z: z})
    figure = study.plot("pairs")
    assert "8 of 10 quantities" in figure.get_suptitle()
    assert [ax.get_xlabel() for ax in figure.axes[-8:]] == [*(f"x{k}" for k in range(7)), "z"]


def test_what_matters():
    """Rank correlations are Spearman's; what grows and falls again is explained by its parameter all the same."""
    from scipy.stats import spearmanr

    from mbd.study.pictures import explained_share, rank_correlation

    rng = np.random.default_rng(3)
    x, noise = rng.uniform(-1.0, 1.0, 2000), rng.normal(size=2000)
    assert rank_correlation(x, np.exp(x) + noise) == pytest.approx(spearmanr(x, np.exp(x) + noise).statistic, abs=1e-14)
    assert np.isnan(rank_correlation(x, np.ones(2000)))
    y = x * x  # of variance 4 / 45
    assert abs(rank_correlation(x, y)) < 0.05 and explained_share(x, y) > 0.95
    share = explained_share(x, y + np.sqrt(4.0 / 45.0) * noise)
    assert share == pytest.approx(0.5, abs=0.04)
    assert explained_share(noise, x) < 0.02
    few = [explained_share(noise[k : k + 40], x[k : k + 40]) for k in range(0, 2000, 40)]
    assert np.mean(few) < 0.05  # of forty runs chance would explain 0.08
