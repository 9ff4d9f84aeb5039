"""Files that no run has written are refused by name, and so is a model that is not the one of the file."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mbd import forces
from mbd.errors import ModelError
from mbd.io.archive import load
from mbd.model import Model
from mbd.results.solution import Solution
from tests.io.test_archive import two_bodies
from tests.results.runs import at_rest


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such file"):
        load(tmp_path / "nothing.npz")
    text = tmp_path / "text.npz"
    text.write_text("hello")
    with pytest.raises(ModelError, match="cannot be read as a solution"):
        load(text)
    other = tmp_path / "other.npz"
    np.savez(other, a=np.zeros(3))
    with pytest.raises(ModelError, match="no solution of mbd"):
        load(other)
    single = tmp_path / "single.npy"
    np.save(single, np.zeros(3))
    with pytest.raises(ModelError, match="cannot be read as a solution"):
        load(single)


def test_damaged_files(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    at_rest(two_bodies()).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelError, match="cannot be read as a solution"):
        load(path)
    changed = bytearray(whole)
    changed[len(whole) // 2] ^= 0xFF
    path.write_bytes(changed)
    with pytest.raises(ModelError):
        load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h.update(version=99, mbd="7.0"), "written by mbd 7.0, which is newer"),
        (lambda h: h.update(format="cake"), "cake"),
        (lambda h: h["model"]["bodies"][0].update({"class": "os:system"}), "unknown class 'os:system'"),
        (lambda h: h["model"]["bodies"][0].update({"class": "bodies:shapes"}), "unknown class"),
        (lambda h: h["model"]["bodies"].pop(), "solution: q has shape"),
    ],
)
def test_strange_headers(change: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    at_rest(two_bodies()).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())
    change(header)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    with pytest.raises(ModelError, match=message):
        load(path)


def _changed(path: Path, header: Any = None, **changes: Any) -> None:
    """Write a file again with another header (a function of it, or a text) and other arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    text = arrays["header"].tobytes().decode()
    if callable(header):
        data = json.loads(text)
        header(data)
        text = json.dumps(data)
    elif header is not None:
        text = header
    arrays["header"] = np.frombuffer(text.encode(), dtype=np.uint8)
    arrays |= {name.replace("__", "."): x for name, x in changes.items()}
    np.savez(path, **{name: x for name, x in arrays.items() if x is not None})


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "x.npz"
    model = two_bodies()
    model.add(forces.Spring(model["a"], model["b"], stiffness=3.0, length=1.0, name="spring"))
    solution = at_rest(model)
    t = np.array((0.0, 0.5, 1.0))
    Solution(
        solution.system, t, *(np.repeat(getattr(solution, x)[:1], 3, axis=0) for x in ("q", "v", "vd", "lam"))
    ).save(path)
    assert len(load(path)) == 3
    return path


def _attribute(kind: str, name: str, value: Any) -> Any:
    return lambda h: h["model"][kind][0]["attributes"].update({name: value})


def _array(values: Any) -> dict[str, Any]:
    x = np.array(values, dtype=float)
    return {"$array": x.ravel().tolist(), "shape": list(x.shape), "dtype": "<f8"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": np.array((0.0, 0.5, 0.4))}, r"times go backwards: t = 0\.4 follows 0\.5 \(record 2\)"),
        ({"t": np.array((0.0, np.nan, 1.0))}, "t is not a number in record 1"),
        ({"t": np.zeros((3, 1))}, "array 't' has shape"),
        ({"v": np.zeros((2, 12))}, r"array 'v' has shape \(2, 12\); expected 3 rows"),
        ({"q": np.zeros((3, 11))}, "solution: q has shape"),
        ({"lam": None}, "array 'lam' is missing"),
        ({"cake": np.zeros(3)}, "unknown array 'cake'"),
        ({"v": np.zeros((3, 12), dtype=int)}, "array 'v' is of type int64; expected floating-point"),
        ({"header": "{}"}, "it contains None"),
        ({"header": "[1]"}, "it contains 'list'"),
        ({"header": "cake"}, "cannot be read as a solution"),
        ({"header": lambda h: h.update(version=0)}, "version is 0"),
        ({"header": lambda h: h.update(version="1")}, "version is '1'"),
        ({"header": lambda h: h.update(colour="red")}, "header: unknown key 'colour'"),
        ({"header": lambda h: h.pop("stats")}, "header: 'stats' is missing"),
        ({"header": lambda h: h.update(complete="no")}, "header: complete = 'no'; expected bool"),
        ({"header": lambda h: h.update(begins_with=3)}, "begins_with = '3'; expected dict"),
        ({"header": lambda h: h.update(begins_with={"a": [1.0, 2.0]})}, "expected an angle, or a quaternion"),
        ({"header": lambda h: h.update(begins_with={"a": "b"})}, "begins_with: 'a' is b; expected"),
        ({"header": lambda h: h["model"].update(colour=1)}, "model: unknown key 'colour'"),
        ({"header": _attribute("bodies", "mass", -2.0)}, "mass = -2.0; expected a number that is not negative"),
        ({"header": _attribute("bodies", "mass", float("nan"))}, "'a': mass = nan"),
        ({"header": _attribute("bodies", "inertia", _array(((1, 2, 0), (0, 1, 0), (0, 0, 1))))}, "'a': inertia"),
        ({"header": _attribute("forces", "stiffness", -3.0)}, "spring.*stiffness = -3.0"),
        ({"header": lambda h: h["model"]["bodies"][1]["attributes"].update(name="a")}, "two elements .* 'a'"),
        (
            {"header": lambda h: _node(h).update(rotation=_array(2.0 * np.eye(3)))},
            "rotation",
        ),
        ({"header": lambda h: _node(h).update(rotation=_array(np.diag((1.0, 1.0, -1.0))))}, "rotation"),
        ({"header": lambda h: _node(h).update(lie="no")}, "lie = 'no'; expected True or False"),
        ({"header": lambda h: _node(h).update(position=_array((0.0, np.inf, 0.0)))}, "position"),
    ],
)  # fmt: skip
def test_files_that_no_run_has_written(changes: dict[str, Any], message: str, saved: Path) -> None:
    _changed(saved, **changes)
    with pytest.raises(ModelError, match=message) as caught:
        load(saved)
    assert str(saved) in str(caught.value)


def _node(header: dict[str, Any]) -> dict[str, Any]:
    return header["model"]["bodies"][0]["attributes"]["node"]["attributes"]


def test_repeated_keys_and_arrays(saved: Path) -> None:
    with np.load(saved) as file:
        text = file["header"].tobytes().decode()
    _changed(saved, header=text.replace('"complete": true', '"complete": true, "complete": false'))
    with pytest.raises(ModelError, match="key 'complete' is there twice"):
        load(saved)
    _changed(saved, header=text)
    with zipfile.ZipFile(saved, "a") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.writestr("q.npy", file.read("v.npy"))
    with pytest.raises(ModelError, match="array 'q' is there twice"):
        load(saved)


def test_the_header_comes_before_the_arrays(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A foreign file is refused before its arrays are read."""
    _changed(saved, header=lambda h: h.update(version=99, mbd="7.0"))
    read = []
    plain = np.lib.format.read_array
    monkeypatch.setattr(np.lib.format, "read_array", lambda *a, **k: read.append(1) or plain(*a, **k))
    with pytest.raises(ModelError, match="written by mbd 7.0, which is newer"):
        load(saved)
    assert len(read) == 1


def test_a_given_model_must_be_that_of_the_file(saved: Path) -> None:
    def with_spring(stiffness: float, node: str = "rotation vector lie") -> Model:
        model = two_bodies(node)
        model.add(forces.Spring(model["a"], model["b"], stiffness=stiffness, length=1.0, name="spring"))
        return model

    assert len(load(saved, model=with_spring(3.0))) == 3
    with pytest.raises(ModelError, match="not the one of the file: other parameters in force 'spring'"):
        load(saved, model=with_spring(4.0))
    with pytest.raises(ModelError, match="not the one of the file: the node of body 'a' is Quaternion"):
        load(saved, model=with_spring(3.0, "quaternion"))
    with pytest.raises(ModelError, match="not the one of the file: its forces are"):
        load(saved, model=two_bodies())
