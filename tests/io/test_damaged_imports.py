"""Damaged URDF and MJCF files, and files that were made to do harm: errors that name the file, and nothing else."""

from __future__ import annotations

import warnings

import pytest

import mbd
from mbd.io import xml_file
from tests.io.mjcf import mechanisms
from tests.io.mutations import mutated
from tests.io.test_urdf import ARM

CASES = {
    "frames.xml": mechanisms.FRAMES,
    "masses.xml": mechanisms.MASSES.replace("{settotalmass}", ""),
    "classes.xml": mechanisms.CLASSES,
    "chain.xml": mechanisms.CHAIN,
    "arm.urdf": ARM,
}
MUTATIONS = 150


@pytest.mark.parametrize("name", CASES)
def test_every_damage_is_a_model_or_an_error_with_a_place(tmp_path, rng, name):
    path = tmp_path / name
    load = mbd.load_urdf if name.endswith("urdf") else mbd.load_mjcf
    refused = 0
    for _ in range(MUTATIONS):
        path.write_text(mutated(CASES[name], rng), errors="surrogatepass")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", mbd.ModelWarning)
            try:
                assert load(path).bodies
            except mbd.ModelError as error:
                refused += 1
                assert str(error).startswith(str(path)), error
    assert 0.3 * MUTATIONS < refused < MUTATIONS


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghij", "bcdefghijk", strict=True)
)


@pytest.mark.parametrize(("load", "root"), [(mbd.load_urdf, "robot"), (mbd.load_mjcf, "mujoco")])
def test_harmful_files(tmp_path, load, root, monkeypatch):
    path = tmp_path / "file.xml"
    for text, words in (
        (f"{BOMB}]><{root}>&k;</{root}>", "line 1: contains a DOCTYPE or entities; expected plain XML"),
        (f'<!DOCTYPE x SYSTEM "file:///etc/passwd"><{root}/>', "contains a DOCTYPE or entities"),
        (f"<{root}>&lt;&unknown;</{root}>", "no valid XML"),
        (f'<?xml version="1.0" encoding="klingon"?><{root}/>', "no valid XML"),
        (f"<{root}/><{root}/>", "no valid XML"),
        (f'<{root} name="a" name="b"/>', "no valid XML"),
        ("\x00\x01", "no valid XML"),
    ):
        path.write_text(text)
        with pytest.raises(mbd.ModelError, match=words) as caught:
            load(path)
        assert str(path) in str(caught.value)
    path.write_bytes(b"\xff\xfe<\x00r\x00")
    with pytest.raises(mbd.ModelError, match="no valid XML"):
        load(path)
    monkeypatch.setattr(xml_file, "DEEPEST", 50)
    path.write_text(f"<{root}>" + "<a>" * 60 + "</a>" * 60 + f"</{root}>")
    with pytest.raises(mbd.ModelError, match="elements are nested more than 50 deep"):
        load(path)
    monkeypatch.setattr(xml_file, "MOST_ELEMENTS", 20)
    path.write_text(f"<{root}>" + "<a/>" * 30 + f"</{root}>")
    with pytest.raises(mbd.ModelError, match="more than 20 elements"):
        load(path)
    monkeypatch.setattr(xml_file, "LARGEST_FILE", 30)
    with pytest.raises(mbd.ModelError, match="bytes; expected a .* file of at most 30"):
        load(path)
    with pytest.raises(mbd.ModelError, match="there is no such file"):
        load(tmp_path)
    with pytest.raises(mbd.ModelError, match="cannot be read|is no name of a file|no such file"):
        load(tmp_path / ("x" * 1000))
    with pytest.raises(mbd.ModelError, match="cannot be read|is no name of a file|no such file"):
        load("a\x00b")
