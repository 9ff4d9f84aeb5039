"""Units for co-simulation: what FMPy steps is what a Simulator steps, to the last bit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from fmpy.validation import validate_fmu

import mbd
from tests.simulation.fmu_master import CASES, PERIOD, PERIODS, REFUSED, command

STEP, GAIN = 1e-3, 0.3
ROOT = Path(__file__).resolve().parents[2]


def cart_pole() -> mbd.Model:
    """A cart on a spring, driven by an input, with a pole that turns right round and a function of the user's."""
    model = mbd.Model("cart pole", gravity=(0, 0, -9.81))
    u, k = model.input("u", 0.0), model.parameter("k", 3.0)
    cart = model.add(mbd.RigidBody("cart", mass=1.0, inertia=(1, 1, 1), node=mbd.nodes.RotationVector()))
    rail = model.add(mbd.joints.Prismatic(model.ground, cart, axis=(1, 0, 0), name="rail"))
    node = mbd.nodes.RotationVector(position=(0.1, 0, 0.5), velocity=(2, 0, 0), angular_velocity=(0, 4, 0))
    pole = model.add(mbd.RigidBody("pole", mass=0.2, inertia=(0.01, 0.01, 0.001), node=node))
    model.add(mbd.joints.Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.JointForce(rail, u, name="motor"))
    model.add(mbd.forces.Spring(model.ground, cart, (-1, 0, 0), (0, 0, 0), stiffness=k, length=1.0, name="spring"))
    gain = GAIN
    model.add(mbd.forces.Force(cart, lambda t: (gain * np.sin(3.0 * t), 0.0, 0.0), name="wind"))
    return model


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    target = tmp_path_factory.mktemp("units") / "CartPole.fmu"
    before = list(sys.path)
    assert mbd.export_fmu(cart_pole(), target, STEP, outputs=["cart.position", "hinge.angle", "rail.force"]) == target
    assert sys.path == before and "CartPole" not in sys.modules
    return target


OUTPUTS = ("cart.position.x", "hinge.angle", "rail.force.z")


def run(path: Path, case: str) -> dict[str, Any]:
    """What a master in another process found."""
    program = [sys.executable, str(Path(__file__).with_name("fmu_master.py")), str(path), case, *OUTPUTS]
    return json.loads(subprocess.run(program, capture_output=True, text=True, check=True).stdout.splitlines()[-1])


def twin_of(case: str) -> mbd.Simulator:
    """A Simulator with the same start time and parameters."""
    _, start, values = CASES.get(case, (1.0, 0.0, {}))
    twin = mbd.Simulator(cart_pole(), STEP, t_start=start)
    twin.reset(**values)
    return twin


def outputs_of(twin: mbd.Simulator) -> list[float]:
    return [twin["cart"].position[0], twin["hinge"].angle, twin["rail"].force[2]]


def expected(case: str) -> list[float]:
    """The same with a Simulator."""
    twin = twin_of(case)
    for period in range(PERIODS):
        twin.inputs["u"] = command(case, period)
        for _ in range(round(PERIOD / STEP)):
            twin.step()
            angle = twin["hinge"].angle
    assert abs(angle) > np.pi  # it has turned: lost turns would be noticed
    return outputs_of(twin)


@pytest.mark.parametrize("case", CASES)
def test_a_unit_is_a_simulator(path, case):
    """Parameters, inputs, another start time (wind is a function of it), two units at once; angles count their turns
    although nobody looks. Outputs during the initialisation are those of the start with what was set."""
    found = run(path, case)  # which may compile: its process must end as every other one does
    assert found["outputs"] == expected(case) and found["let_go"] == ["CartPole.so"]
    assert found["initial"] == outputs_of(twin_of(case))
    variables = found["variables"]
    assert variables["u"][:2] == ["input", "continuous"] and variables["k"][:2] == ["parameter", "fixed"]
    assert float(variables["k"][2]) == 3.0 and variables["cart.position.x"][3].endswith("[m]")
    assert {"cart.position.x", "cart.position.y", "cart.position.z", "hinge.angle"} <= variables.keys()


@pytest.mark.parametrize("case", REFUSED)
def test_steps_that_are_refused(path, case):
    """The state stays, and the run goes on as if nothing had been asked."""
    found = run(path, case)
    assert found["refused"] and found["stayed"] and found["outputs"] == expected(case)


def test_a_unit_that_was_not_initialised(path):
    """Masters that forget to end the initialisation would read the start for ever."""
    assert run(path, "initialising") == {"refused": True}


def test_values_that_are_refused(path):
    """A negative stiffness, a parameter during the run: no step is made, outputs are no numbers, nothing crashes.

    FMPy finds nothing wrong with the description of the unit."""
    assert run(path, "wrong values") == {"made": 0, "lost": True, "problems": []}


def naming(unit: Path) -> str:
    with zipfile.ZipFile(unit) as archive:
        return ElementTree.fromstring(archive.read("modelDescription.xml")).attrib["variableNamingConvention"]


def test_names_with_blanks_are_no_structure(path, tmp_path):
    """Elements without a name are called "revolute 1"; FMPy refused to run units that have such names."""
    model = mbd.Model("pendulum")
    bob = model.add(mbd.RigidBody("bob", model.parameter("its mass", 1.0), (1, 1, 1)))
    model.add(mbd.joints.Revolute(model.ground, bob, at=(1, 0, 0), axis=(0, 1, 0)))
    unit = mbd.export_fmu(model, tmp_path / "Blanks.fmu", STEP, outputs=["revolute 1.angle"])
    assert validate_fmu(unit) == []
    assert (naming(unit), naming(path)) == ("flat", "structured")


def test_functions_of_modules_are_in_the_unit(tmp_path, monkeypatch):
    """Also those that they call; their module need not be there where the unit runs, and may have changed."""
    module = tmp_path / "winds.py"
    text = "GAIN = {0}\ndef gain():\n    return GAIN\ndef wind(t):\n    return (gain() * t, 0.0, 0.0)\n"
    module.write_text(text.format(2.0))
    monkeypatch.syspath_prepend(tmp_path)
    import winds

    model = mbd.Model("kite")
    kite = model.add(mbd.PointMass("kite", 1.0))
    model.add(mbd.forces.Force(kite, winds.wind))
    unit = mbd.export_fmu(model, tmp_path / "winds.fmu", STEP, outputs=["kite.position"])
    assert sys.modules["winds"] is winds  # the unit may have its name
    twin = mbd.Simulator(model, STEP)
    twin.advance(0.1)
    program = (
        "import fmpy, sys; r = fmpy.simulate_fmu(sys.argv[1], stop_time=0.1, step_size=0.01, output_interval=0.01)"
    )
    for change in (lambda: module.write_text(text.format(20.0)), module.unlink):
        change()
        found = subprocess.run(
            [sys.executable, "-c", f"{program}; print(repr(float(r['kite.position.x'][-1])))", str(unit)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(tmp_path)))},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert float(found.stdout.splitlines()[-1]) == twin["kite"].position[0]


def test_what_cannot_be_exported(tmp_path):
    good = {"outputs": ["cart.position"]}
    for name, options, text in (
        ("cart pole.fmu", good, "letters, digits and underscores"),
        ("cart.zip", good, ".fmu at the end"),
        *(
            (f"{name}.fmu", good, f"'{name}' is a word, or a package")
            for name in ("class", "None", "json", "mbd", "hold")
        ),
        ("cart.fmu", {"outputs": []}, "expected a list of channels"),
        ("cart.fmu", {"outputs": "cart.position"}, "expected a list of channels"),
        ("cart.fmu", {"outputs": None}, "expected a list of channels"),
        ("cart.fmu", {"outputs": ["cart.positon"]}, "cart.position"),
        ("cart.fmu", {"outputs": ["cart.position", "cart.position"]}, "more than one variable"),
        ("cart.fmu", good | {"integrator": mbd.integrators.DOPRI5()}, "expected a fixed step"),
    ):
        with pytest.raises(mbd.ModelError, match=text):
            mbd.export_fmu(cart_pole(), tmp_path / name, STEP, **options)
    with pytest.raises(mbd.FileError, match="no such directory"):
        mbd.export_fmu(cart_pole(), tmp_path / "none" / "cart.fmu", STEP, **good)
    assert list(tmp_path.iterdir()) == []
