"""The examples in docstrings, which the reference shows, print what they say."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import mbd

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "site"))

from docstrings import as_rst
from doctests import complaint, examples

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = examples()


def test_what_is_used_most_has_an_example():
    for name in ("Model", "RigidBody", "simulate", "Simulator", "diagnose", "Event"):
        assert f"mbd.{name}" in EXAMPLES
    assert len(EXAMPLES) >= 28


PAGES = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
SCRIPTS = [p for folder in ("examples", "docs/lessons", "docs/notebooks") for p in (ROOT / folder).rglob("*.py")]
BASES = {  # what is there to be derived from, or is met in results and files only
    "joints": {"Primitive", "Coincident", "Dot1"}, "sensors": {"Sensor"}, "shapes": {"Shape"},
}  # fmt: skip


@pytest.mark.parametrize("module", ["bodies", "joints", "sensors", "shapes"])
def test_what_models_are_made_of_has_an_example_somewhere(module):
    """In its docstring, on a page or in a script; bases and parts of one's own joints excepted."""
    texts = [path.read_text() for path in SCRIPTS]
    texts += [block for path in PAGES for block in re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)]
    texts += [example.source for test in EXAMPLES.values() for example in test.examples]
    used = set(re.findall(r"\w+", "\n".join(texts)))
    missing = {*getattr(mbd, module).__all__} - BASES.get(module, set()) - {"Body"} - used
    assert missing == set()


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
