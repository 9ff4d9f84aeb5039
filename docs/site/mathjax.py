"""MathJax from the package sphinx-mathjax-offline: the one file with fonts inside, served from the site itself."""

from __future__ import annotations

import shutil
from importlib.metadata import distribution
from pathlib import Path

FILES = ("tex-svg-full.js",)


def copied_to(static: Path) -> Path:
    """A folder of static files with MathJax in it."""
    for file in distribution("sphinx-mathjax-offline").files or ():
        if file.name in FILES and file.parent.name == "mathjax":
            target = static / "mathjax" / file.name
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), target)
    missing = [name for name in FILES if not (static / "mathjax" / name).exists()]
    if missing:
        raise FileNotFoundError(f"sphinx-mathjax-offline has no {', '.join(missing)}")
    return static
