"""The code of docs/analyses.md runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "analyses.md"


def test_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) >= 7
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["found"].redundant == 5
    assert names["wedge"].mass == pytest.approx(7850 / 6, rel=1e-12)
    assert names["balance"].stable
    assert names["linear"].frequencies == pytest.approx(names["balance"].frequencies, rel=1e-6)
    assert "stopped by floor" in names["solution"].message or names["benchmark"].error(names["solution"]) < 0.1
    assert "both fix translation along x" in capsys.readouterr().out
