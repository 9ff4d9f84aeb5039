"""What the package says of itself: versions, links, the command."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
import types
from pathlib import Path

import pytest

import mbd
from mbd import cli

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def absolute_links():
    """The function of the build hook; hatchling, which it needs for its classes only, is not installed here."""
    names = {
        "hatchling.builders.hooks.plugin.interface": "BuildHookInterface",
        "hatchling.metadata.plugin.interface": "MetadataHookInterface",
    }
    for module, name in names.items():
        sys.modules[module] = types.ModuleType(module)
        setattr(sys.modules[module], name, object)
    try:
        spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
        hook = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(hook)
    finally:
        for module in names:
            del sys.modules[module]
    return hook.absolute_links


def test_version_and_type_information():
    assert PROJECT["version"] == mbd.__version__
    assert (ROOT / "mbd" / "py.typed").is_file()


def test_links_of_the_package_index_are_absolute(absolute_links):
    place = PROJECT["urls"]["Repository"]
    text = "[a](docs/a.md) ![b](docs/b.png) [c](https://example.org) [d](#part) [![e](e.png)](f.md)"
    raw = place.replace("github.com", "raw.githubusercontent.com")
    assert absolute_links(text, place, "1.2") == (
        f"[a]({place}/blob/v1.2/docs/a.md) ![b]({raw}/v1.2/docs/b.png) [c](https://example.org) [d](#part) "
        f"[![e]({raw}/v1.2/e.png)]({place}/blob/v1.2/f.md)"
    )
    readme = (ROOT / "README.md").read_text()
    assert re.findall(r"\]\((?!https?:|#)", absolute_links(readme, place, mbd.__version__)) == []
    for path in re.findall(r"\]\((?!https?:|#)([^)#]+)", readme):
        assert (ROOT / path).exists(), path


def test_the_command(monkeypatch, capsys):
    """An installation has a command, which says its own name."""
    assert PROJECT["scripts"] == {"mbd": "mbd.cli:command"}
    monkeypatch.setattr(sys, "argv", ["/usr/local/bin/mbd", "--help"])
    with pytest.raises(SystemExit) as ended:
        cli.command()
    assert ended.value.code == 0 and capsys.readouterr().out.startswith("usage: mbd ")
