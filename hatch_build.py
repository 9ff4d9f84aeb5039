"""Puts compiled code into wheels: what is in ``build/code``, if anything (``make wheel``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLATFORMS = {"x86-64-v3": "manylinux_2_17_x86_64"}
"""Level of processors -> machines on which pip may install a wheel with such code.

Older processors are among them: there the code is not used. Neither the version of Python nor that of the C library
matters to it (mbd/compiled/machine.py), so that one wheel serves all; the version in the name is that of the oldest C
library for which there are other packages.
"""


class CodeHook(BuildHookInterface):
    """Includes the code, and lets the name of the wheel say for which machines it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        code = Path(self.root, "build", "code")
        levels = sorted(folder.name for folder in code.iterdir()) if code.is_dir() else []
        if levels and version != "editable":
            build_data["force_include"][str(code)] = "mbd/_code"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{'.'.join(PLATFORMS[level] for level in levels)}"
