"""The command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mbd
from mbd.cli import ENDINGS, main, make_integrator
from mbd.compiled.kernel import JIT
from mbd.view.plots import FORMATS

FILE = """
import mbd

model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
mass = model.add(mbd.PointMass("mass", 1.0, (1, 0, 0)))
model.add(mbd.joints.Distance(model.ground, mass, name="rod"))
t_end = 0.05
"""


@pytest.fixture
def pendulum(tmp_path):
    file = tmp_path / "pendulum.py"
    file.write_text(FILE)
    return str(file)


def test_run(pendulum, tmp_path, capsys):
    target = str(tmp_path / "out.npz")
    assert main(["run", pendulum, "--integrator", "RK4", "--step", "1e-2", "--save", target]) == 0
    assert "RK4" in capsys.readouterr().out
    solution = mbd.load(target)
    assert solution.t[-1] == 0.05 and len(solution) == 6


@pytest.mark.parametrize(
    "text",
    [
        "import mbd\ndef build():\n  return mbd.benchmarks.simple_pendulum().model\nt_end = 0.05",
        "from mbd.benchmarks import simple_pendulum as build\nt_end = 0.05\nstep = 1e-2",
        "import mbd\ndef main():\n  return mbd.benchmarks.simple_pendulum().simulate(t_end=0.05, step=1e-2)",
        "def main():\n  print('it ran')",
        "import mbd\ndef model():\n  return mbd.benchmarks.simple_pendulum().model\nt_end = 0.05",
    ],
    ids=["build", "benchmark", "main with a solution", "main alone", "function"],
)  # fmt: skip
def test_other_ways_to_give_a_model(tmp_path, capsys, text):
    file = tmp_path / "model_file.py"
    file.write_text(text)
    assert main(["run", str(file)]) == 0
    out = capsys.readouterr().out
    assert "energy" in out or "it ran" in out


@pytest.mark.parametrize("name", ["heavy_top", "slider_crank", "chain", "mixed_nodes"])
def test_run_of_the_examples(name, capsys):
    """Their model is a function."""
    file = Path(__file__).parents[1] / "examples" / f"{name}.py"
    assert main(["run", str(file), "--integrator", "GeneralizedAlpha", "--step", "1e-3", "--t-end", "0.01"]) == 0
    assert "constraint error" in capsys.readouterr().out


def test_run_of_a_model_file(tmp_path, capsys):
    mbd.benchmarks.heavy_top().model.save(tmp_path / "top.json")
    assert main(["run", str(tmp_path / "top.json"), "--t-end", "0.01"]) == 0
    assert "constraint error" in capsys.readouterr().out


def test_files_of_a_run(pendulum, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    glb, png = tmp_path / "a.glb", tmp_path / "a.png"
    assert main(["run", pendulum, "--step", "1e-2", "--gltf", str(glb), "--plot", str(png)]) == 0
    out = capsys.readouterr().out
    assert f"wrote {glb}" in out and f"wrote {png}" in out
    assert glb.read_bytes()[:4] == b"glTF" and png.read_bytes()[:4] == b"\x89PNG"


def test_endings_of_plots_are_those_that_can_be_written():
    assert ENDINGS["plot"] == FORMATS


def test_a_movie_that_cannot_be_made_is_not_claimed(pendulum, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("mbd.view.opengl._answer", "There is no OpenGL here.")
    target = tmp_path / "a.mp4"
    assert main(["run", pendulum, "--step", "1e-2", "--movie", str(target)]) == 0
    out, err = capsys.readouterr()
    assert "There is no OpenGL here" in err and "wrote" not in out and not target.exists()


OWN = """
class Euler(mbd.integrators.PythonIntegrator):
    order = 1

    def step(self, system, t, q, v, h):
        v = v + h * system.accelerations(q, v, t)[0]
        end = mbd.consistent_start(system, system.update(q, h * v), v, t + h)
        return end.q, end.v
"""


def test_compare(pendulum, tmp_path, capsys):
    with open(pendulum, "a") as file:
        file.write(OWN)
    table, figure = tmp_path / "study.csv", tmp_path / "study.png"
    methods = ["--integrators", "RK4", "GeneralizedAlpha(rho_inf=0.8)", "Euler", "--steps", "1e-2", "5e-3"]
    assert main(["compare", pendulum, *methods, "--table", str(table), "--plot", str(figure)]) == 0
    out = capsys.readouterr().out
    assert "GeneralizedAlpha" in out and "Euler" in out and "error of the reference" in out
    rows = [line.split(",") for line in table.read_text().splitlines()]
    assert len(rows) == 7 and rows[0][:4] == ["integrator", "nodes", "step", "error"]
    order = {row[0]: float(row[4]) for row in rows[1:] if row[4]}
    assert order["Euler"] == pytest.approx(1.0, abs=0.2) and order["GeneralizedAlpha"] == pytest.approx(2.0, abs=0.2)
    assert figure.stat().st_size > 10000


def test_compare_with_nodes_and_the_choices_of_the_file(tmp_path, capsys):
    file = tmp_path / "top.py"
    file.write_text(
        "import mbd\nmodel = mbd.benchmarks.heavy_top().model\nt_end = 0.01\nsteps = [1e-3]\n"
        "integrators = [mbd.integrators.RK4(), mbd.integrators.JacobiExact()]\n"
    )
    assert main(["compare", str(file), "--nodes", "Quaternion", "RotationVector(lie=True)"]) == 0
    out = capsys.readouterr().out
    assert "RotationVector Lie" in out and "incompatible" in out  # JacobiExact knows no gravity on a top


def test_diagnose(pendulum, capsys):
    assert main(["diagnose", pendulum]) == 0
    assert "2 degrees of freedom" in capsys.readouterr().out


def test_diagnose_of_a_broken_model(tmp_path, capsys):
    file = tmp_path / "broken.py"
    second = '\nmodel.add(mbd.joints.Distance(model.ground, mass, (5, 0, 0), length=1.0, name="far"))\n'
    file.write_text(FILE + second)
    assert main(["diagnose", str(file)]) == 1
    assert "cannot be assembled" in capsys.readouterr().out


def test_benchmarks(capsys):
    assert main(["benchmarks", "heavy-top", "--step", "2e-3", "--integrator", "RK4"]) == 0
    assert "heavy top" in capsys.readouterr().out
    assert main(["benchmarks", "list"]) == 0
    assert "A03" in capsys.readouterr().out


@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_warmup(capsys, monkeypatch):
    """What it runs is in test_native; a part that fails does not end it."""
    from mbd.testing import all_code

    ran = []
    tasks = [("first", lambda: 1 / 0), ("second", lambda: ran.append(2))]
    monkeypatch.setattr(all_code, "tasks", lambda: iter(tasks))
    assert main(["warmup"]) == 1 and ran == [2]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("mbd: [1/2] first ... failed: ZeroDivisionError")
    assert lines[1].startswith("mbd: [2/2] second ... 0 compiled")
    assert lines[2].startswith("mbd: 0 functions compiled in") and "files of code" in lines[2]


def test_warmup_for_others(capsys):
    assert main(["warmup", "--for", "pentium"]) == 2
    assert "--for pentium: no level of processors; expected one of x86-64-v3" in capsys.readouterr().err
    assert main(["warmup", "--into", "folder"]) == 2
    assert "expected --for as well" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.py"], "there is no such file"),
        (["compare", "none.py"], "there is no such file"),
        (["compare", "PENDULUM", "--nodes", "Cube"], "node 'Cube' is not known; expected one of Directors"),
        (["compare", "PENDULUM", "--integrators", "Euler"], "integrator 'Euler' is not known"),
        (["compare", "PENDULUM", "--plot", "/nowhere/x.png"], "there is no such directory"),
        (["run", "PENDULUM", "--step", "0"], "--step = 0.0; expected a positive number"),
        (["run", "PENDULUM", "--step", "-1"], "--step = -1.0; expected a positive number"),
        (["run", "PENDULUM", "--t-end", "nan"], "--t-end = nan; expected a number, finite"),
        (["run", "PENDULUM", "--t-end", "-1"], "t_end"),
        (["run", "PENDULUM", "--output-step", "inf"], "--output-step = inf"),
        (["run", "PENDULUM", "--html", "/nowhere/x.html"], "there is no such directory"),
        (["run", "PENDULUM", "--save", "/tmp"], "is a folder"),
        (["run", "PENDULUM", "--gltf", "x.gltf"], "expected a name that ends with .glb"),
        (["run", "PENDULUM", "--integrator", "GeneralizedAlpha(rho_inf='a')"], "rho_inf"),
        (["run", "PENDULUM", "--integrator", "RK4("], "cannot be read"),
        (["compare", "PENDULUM", "--steps", "1e-3", "0"], "--steps = 0.0"),
        (["compare", "PENDULUM", "--processes", "0"], "--processes = 0"),
        (["benchmarks", "A01", "--step", "0"], "--step = 0.0"),
        (["diagnose", "/tmp"], "is a folder"),
        (["benchmarks", "A99"], "benchmark 'A99' is not known; expected one of A01"),
        (["benchmarks", "A01", "--integrator", "Euler"], "integrator 'Euler' is not known"),
    ],
)
def test_mistakes(arguments, message, pendulum, capsys):
    arguments = [pendulum if argument == "PENDULUM" else argument for argument in arguments]
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert message in err and err.startswith("mbd: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "command"),
        (["bogus"], "'bogus'"),
        (["run", "x.py", "--bogus"], "--bogus"),
        (["run", "x.py", "--step", "abc"], "--step: invalid float value: 'abc'"),
        (["compare", "x.py", "--processes", "1.5"], "--processes"),
    ],
)
def test_options_that_do_not_exist_are_one_sentence(arguments, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    out, err = capsys.readouterr()
    assert ended.value.code == 2 and not out
    assert message in err and err.startswith("mbd: ") and err.count("\n") == 1 and "--help" in err


def test_files_without_a_model(tmp_path, capsys):
    (tmp_path / "empty.py").write_text("x = 1")
    assert main(["run", str(tmp_path / "empty.py")]) == 2
    assert "no model found" in capsys.readouterr().err
    (tmp_path / "text.txt").write_text("x")
    assert main(["diagnose", str(tmp_path / "text.txt")]) == 2
    assert "expected a Python file, a model.json, a .urdf or an MJCF .xml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = 3", "no model found"),
        (FILE + "step = 'short'", "step = 'short'; expected a positive number, not str"),
        (FILE + "step = 0", "step = 0; expected a positive number"),
        (FILE + "t_end = None", "t_end = None; expected a number"),
        (FILE + "integrator = 'RK4'", "integrator is 'RK4'; expected an object"),
        ("\n\n1 / 0", "line 3: ZeroDivisionError: division by zero"),
        ("\ndef f(:", "line 2: SyntaxError"),
        ("import no_such_module_at_all", "line 1: ModuleNotFoundError"),
        ("def model(size):\n    return size", "TypeError"),
        ("import mbd\nmodel = mbd.Model()\nmodel.add(mbd.PointMass('m', -1.0))", "mass = -1.0"),
        ("import mbd\nmodel = mbd.Model()", "no bodies"),
    ],
)
def test_wrong_files_are_one_sentence(text, message, tmp_path, capsys):
    file = tmp_path / "file.py"
    file.write_text(text)
    assert main(["run", str(file)]) == 2
    err = capsys.readouterr().err
    assert message in err and err.startswith("mbd: ") and err.count("\n") == 1


def test_choices_of_a_file_are_not_ignored(tmp_path, capsys):
    file = tmp_path / "file.py"
    for line, message in (("steps = 1e-3", "steps = 0.001; expected a list"), ("integrators = ()", "expected a list")):
        file.write_text(FILE + line)
        assert main(["compare", str(file)]) == 2
        assert message in capsys.readouterr().err


def test_options_of_a_file_that_simulates_by_itself_are_not_ignored(tmp_path, capsys):
    file = tmp_path / "file.py"
    run = FILE + "def main():\n    {}mbd.simulate(built, 0.1, 0.01)\nbuilt = model\ndel model\n"
    for how, options in (
        ("return ", ("--step", "--t-end", "--output-step", "--integrator")),
        ("", ("--step", "--save", "--plot", "--html", "--gltf", "--movie")),
    ):
        file.write_text(run.format(how))
        assert main(["run", str(file)]) == 0
        capsys.readouterr()
        for option in options:
            value = {"--integrator": "RK4", "--save": "a.npz", "--plot": "a.png", "--html": "a.html",
                     "--gltf": "a.glb", "--movie": "a.mp4"}.get(option, "1e-3")  # fmt: skip
            assert main(["run", str(file), option, value]) == 2
            assert f"{option} would have no effect; leave it away" in capsys.readouterr().err


def test_model_files_of_any_content_are_one_sentence(tmp_path, capsys):
    for name, content in (
        ("a.json", "[1"),
        ("b.json", "{}"),
        ("c.json", "\xff\xfe"),
        ("d.urdf", "<robot"),
        ("e.py", "\0"),
    ):
        (tmp_path / name).write_text(content, encoding="latin-1")
        assert main(["diagnose", str(tmp_path / name)]) == 2
        err = capsys.readouterr().err
        assert name in err and err.count("\n") == 1 and "Traceback" not in err


def test_a_failed_run_is_no_bad_input(tmp_path, capsys):
    file = tmp_path / "file.py"
    file.write_text(FILE + "model.add(mbd.joints.Distance(model.ground, mass, (5, 0, 0), length=1.0, name='far'))\n")
    assert main(["run", str(file)]) == 1
    err = capsys.readouterr().err
    assert err.startswith("mbd: AssemblyError") and "far" in err and "Traceback" not in err


def test_integrators_by_name():
    assert make_integrator("GeneralizedAlpha(rho_inf=0.8, stabilized=True)") == mbd.integrators.GeneralizedAlpha(
        rho_inf=0.8, stabilized=True
    )
    assert make_integrator("RK4") == mbd.integrators.RK4()
    for text, message in (
        ("RK4(1)", "expected arguments by name"),
        ("RK4(h=__import__('os'))", "cannot be read"),
        ("RK4(h=1)", "unexpected keyword"),
        ("Integrator", "is not known"),
        ("not a name", "cannot be read"),
    ):
        with pytest.raises(mbd.ModelError, match=message):
            make_integrator(text)


def test_as_a_program(pendulum):
    done = subprocess.run([sys.executable, "-m", "mbd", "run", pendulum], capture_output=True, text=True)
    assert done.returncode == 0 and "constraint error" in done.stdout
    done = subprocess.run([sys.executable, "-m", "mbd", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == f"mbd {mbd.__version__}"
    done = subprocess.run([sys.executable, "-m", "mbd"], capture_output=True, text=True)
    assert done.returncode == 2 and "python -m mbd --help" in done.stderr


def test_a_closed_pipe_is_one_sentence():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "mbd", "benchmarks", "list"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 2
    assert done.stderr == "mbd: the output was closed before everything was written\n"
