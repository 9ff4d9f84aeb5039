"""Names in files do not change: what was written once is read, and written again letter by letter."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbd
from mbd import forces
from mbd.io.encoding import new_object, public_name
from mbd.joints import primitive_data

OLD = Path(__file__).with_name("own_joints.json")  # joints of users' classes, as their primitives, and shapes


def test_a_file_with_parts_that_are_not_public(tmp_path):
    model = mbd.Model.load(OLD)
    kinds = {joint.name: {type(p).__name__ for p in joint.primitives()} for joint in model.joints}
    assert kinds == {"drive": {"Turned"}, "screw": {"Dot1", "Dot2", "CoordinateSum"}, "wheel": {"FrameRows"}}
    assert np.array_equal(model["a"].shape.centre, (0, 0, 1))
    assert np.array_equal(model.ground.shape.centre, (0, 0, 1.5))
    model.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == OLD.read_text()


@pytest.mark.parametrize("name", ["Turned", "FrameRows", "CoordinateSum", "Dot1"])
def test_primitives_are_known_by_the_name_of_their_package(name):
    cls = getattr(primitive_data, name)
    assert public_name(cls) == f"joints:{name}"
    assert type(new_object(f"joints:{name}")) is cls


def test_data_of_forces_keep_the_name_that_files_know():
    assert public_name(forces.ForceData) == "forces:ForceRow"
    assert type(new_object("forces:ForceRow")) is forces.ForceData


@pytest.mark.parametrize("former, name", [("ForceRow", "ForceData"), ("GeneralRow", "ElementData")])
def test_former_names_of_what_own_forces_return(former, name):
    with pytest.warns(DeprecationWarning, match=f"{former} is called {name} now"):
        assert getattr(forces, former) is getattr(forces, name)
    assert former not in dir(forces)


def test_nothing_else_can_be_made():
    for name in ("joints:Coordinate", "joints:check_vector", "joints:joint", "builtins:dict", "Revolute"):
        with pytest.raises(mbd.ModelError, match="unknown class"):
            new_object(name)
