"""The name of a wheel that contains compiled code says for which machines it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLATFORMS = {"x86-64-v3": "manylinux_2_17_x86_64"}
"""Level of processors -> machines on which pip may install such a wheel.

Older processors are among them: there the code is not used. The versions of Python and of the C library do not matter
to the code (mbd/compiled/machine.py); the one in this name is the oldest that numba and its like can be had for.
"""


class CodeHook(BuildHookInterface):
    """Tags wheels with code."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        code = Path(self.root, "mbd", "_code")
        levels = sorted(folder.name for folder in code.iterdir()) if code.is_dir() else []
        if levels and version != "editable":
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{'.'.join(sorted({PLATFORMS[level] for level in levels}))}"
