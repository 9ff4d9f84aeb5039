"""Codes of messages and the page that explains them: each has the other, and its code raises what it should."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

import mbd
import mbd.results.views
import mbd.view.opengl
from mbd.errors import _Coded

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text()
CODE = re.compile(r"MBD-[EW]\d\d")
BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
SECTIONS = {part[:7]: part for part in re.split(r"^### ", PAGE, flags=re.MULTILINE)[1:]}
WITHOUT_CODE = {"MBD-E01", "MBD-E10", "MBD-E24"}  # without matplotlib, without OpenGL, and past all earlier checks


def classes(base: type = _Coded) -> list[type]:
    return [x for cls in base.__subclasses__() for x in (cls, *classes(cls)) if cls.__module__.startswith("mbd.")]


def test_every_code_of_the_source_is_on_the_page_and_the_other_way_round():
    raised = {code for path in (ROOT / "mbd").rglob("*.py") for code in CODE.findall(path.read_text())}
    assert set(SECTIONS) == raised
    assert set(CODE.findall(PAGE)) == raised


def test_every_class_has_a_code_of_its_own():
    codes = [vars(cls).get("general_code") for cls in classes()]
    assert None not in codes and len(set(codes)) == len(codes)
    for cls in classes():
        assert cls.__name__ in SECTIONS[cls.general_code], f"{cls.general_code} does not name {cls.__name__}"


@pytest.mark.parametrize("code", sorted(set(SECTIONS) - WITHOUT_CODE))
def test_code_on_the_page_raises_what_it_stands_under(code):
    block = BLOCK.search(SECTIONS[code])
    assert block is not None, "a piece of code that raises it, or a place in WITHOUT_CODE"
    names: dict = {}
    exec(compile(BLOCK.search(PAGE)[1], "preparation", "exec"), names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(block[1], code, "exec"), names)
        except mbd.MbdError as error:
            assert error.code == code and str(error).endswith(f"[{code}]")
            return
    assert code in [getattr(warning.message, "code", "") for warning in caught]


def test_a_code_is_shown_once():
    inner = mbd.ModelError("the lever is bent")
    assert str(inner) == "the lever is bent [MBD-E02]" and inner.args == ("the lever is bent",)
    assert str(mbd.AssemblyError(f"at t = 1: {inner}")) == "at t = 1: the lever is bent [MBD-E02]"
    assert str(mbd.ModelWarning(f"{inner}, but straight now")) == "the lever is bent, but straight now [MBD-E02]"
    assert str(mbd.ModelError()) == ""
