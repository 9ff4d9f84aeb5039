"""The examples in docstrings, which the reference shows, print what they say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "site"))

from docstrings import as_rst
from doctests import complaint, examples

EXAMPLES = examples()


def test_what_is_used_most_has_an_example():
    for name in ("Model", "RigidBody", "simulate", "Simulator", "diagnose", "Event"):
        assert f"mbd.{name}" in EXAMPLES
    assert len(EXAMPLES) >= 28


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_it_says(name):
    assert complaint(EXAMPLES[name]) == ""


def test_a_wrong_example_is_found():
    test = EXAMPLES["mbd.joints.Distance"]
    wrong = type(test)(test.examples, {**test.globs, "mbd": None}, test.name, test.filename, 0, test.docstring)
    assert "has no attribute" in complaint(wrong)


def test_examples_become_blocks_of_their_own():
    lines = ["Of a sum.", ">>> a = *1", "... _2_", "3", "", "x: not an entry_"]
    as_rst(lines)
    assert lines == ["Of a sum. >>> a = \\*1 ... _2\\_ 3", "", "x: not an entry\\_"]  # no empty line, no example
    lines = ["Of a sum.", "", ">>> a = *1", "... _2_", "3", "", "More."]
    as_rst(lines)
    assert lines == ["Of a sum.", "", "", ">>> a = *1", "... _2_", "3", "", "", "More."]
