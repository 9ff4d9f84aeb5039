"""BibTeX of what was used: nothing that a method declares is lost."""

from __future__ import annotations

import re

import pytest

import mbd
from mbd.citing import _entries, _key

INTEGRATORS = [x for name in mbd.integrators.__all__ if (x := getattr(mbd.integrators, name)) and hasattr(x, "cite")]
WITHOUT_ENTRY = {"gonzalez_1999"}  # title and pages could not be looked up


def keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{(\w+),$", text, re.MULTILINE)


@pytest.mark.parametrize("method", INTEGRATORS, ids=lambda x: x.__name__)
def test_every_source_of_a_method_is_an_entry(method):
    text = mbd.cite(method)
    cite = method.cite if isinstance(method.cite, tuple) else method().cite
    assert keys(text) == ["mbd", *dict.fromkeys(_key(source) for source in cite)]
    assert text.count("{") == text.count("}")
    for key in keys(text)[1:]:
        assert key in _entries() or key in WITHOUT_ENTRY or f"@misc{{{key}" in text


def test_entries_are_complete():
    for key, text in _entries().items():
        assert _key(f"{' & '.join(key.split('_')[:-1])} {key.split('_')[-1]}") == key
        for field in ("author", "title", "year"):
            assert f"\n  {field} = {{" in text, f"{key} has no {field}"
        assert f"year = {{{key[-4:]}}}" in text and text.count("{") == text.count("}")


def test_a_solution_stands_for_its_model_and_its_method():
    model = mbd.Model("ball")
    body = model.add(mbd.RigidBody("ball", 1.0, (1, 1, 1), node=mbd.nodes.Quaternion()))
    model.add(mbd.joints.Revolute(model.ground, body, at=(0, 0, 0), axis=(0, 0, 1)))
    absolute = mbd.simulate(model, 0.02, 0.01, mbd.integrators.RK4())
    assert keys(mbd.cite(absolute)) == ["mbd", "holzinger_arnold_gerstmayr_2024", "kutta_1901", "munthe_kaas_1999"]
    joint = mbd.simulate(model.with_coordinates("joint"), 0.02, 0.01, mbd.integrators.RK4())
    assert "featherstone_2008" in keys(mbd.cite(joint))
    assert keys(mbd.cite(absolute, joint)).count("kutta_1901") == 1
    assert repr(mbd.cite(model)) == str(mbd.cite(model))


def test_unknown_sources_are_not_lost():
    class Own(mbd.integrators.PythonIntegrator):
        cite = ("Somebody 2031, Journal of Things 1, 2",)

    assert "@misc{somebody_2031,\n  note = {Somebody 2031, Journal of Things 1, 2},\n}" in mbd.cite(Own)
    with pytest.raises(mbd.ModelError, match="cite: int has no sources"):
        mbd.cite(3)
