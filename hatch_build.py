"""What a wheel or an archive of sources contains that is not in the repository as it is.

- Compiled code: what is in ``build/code``, if anything (``make wheel``).
- The text for the package index: README.md, whose links and pictures are absolute there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PLATFORMS = {"x86-64-v3": "manylinux_2_17_x86_64"}
"""Level of processors -> machines on which pip may install a wheel with such code.

Older processors are among them: there the code is not used. Neither the version of Python nor that of the C library
matters to it (mbd/compiled/machine.py), so that one wheel serves all; the version in the name is that of the oldest C
library for which there are other packages.
"""
LINK = re.compile(r"(!?)\[((?:!\[[^\]]*\]\([^)\s]*\)|[^\]])*)\]\((?![a-z]+:|#)([^)\s]+)\)")
"""A link or a picture of a file of the repository; the text of a link may be a picture."""


def absolute_links(text: str, repository: str, version: str) -> str:
    """A page of the repository whose links lead to the files of a version, and whose pictures are shown elsewhere."""

    def absolute(found: re.Match[str]) -> str:
        picture, label, path = found.groups()
        label = absolute_links(label, repository, version)
        place = f"{repository.replace('github.com', 'raw.githubusercontent.com')}" if picture else f"{repository}/blob"
        return f"{picture}[{label}]({place}/v{version}/{path})"

    return LINK.sub(absolute, text)


class CodeHook(BuildHookInterface):
    """Includes the code, and lets the name of the wheel say for which machines it is."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        code = Path(self.root, "build", "code")
        levels = sorted(folder.name for folder in code.iterdir()) if code.is_dir() else []
        if levels and version != "editable":
            build_data["force_include"][str(code)] = "mbd/_code"
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{'.'.join(PLATFORMS[level] for level in levels)}"


class ReadmeHook(MetadataHookInterface):
    """Gives the text for the package index."""

    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = absolute_links(text, metadata["urls"]["Repository"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
