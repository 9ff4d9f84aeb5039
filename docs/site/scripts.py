"""Scripts of the gallery: examples as they are, under a title; lessons and notebooks, which are written for it."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

from docstrings import as_rst
from files import put

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = {
    "lessons": (
        "docs/lessons",
        "Lessons",
        "From the first mechanism to a robot. Each page is a script and a notebook.",
    ),
    "notebooks": ("docs/notebooks", "Teaching notebooks", "Small experiments with known answers, for lectures."),
    "examples": ("examples", "Examples", "Each example is a script; what it prints, draws and films is on its page."),
    "examples/papers": (
        "examples/papers",
        "Papers",
        "Figures and tables of publications, computed again; :doc:`/docs/papers` compares them with what is printed.",
    ),
}
"""Sections of the gallery: where the scripts are, title, and a sentence."""


HIDDEN = """# sphinx_gallery_start_ignore
__file__ = __import__("os").path.abspath("{name}")
# sphinx_gallery_end_ignore
"""
"""Scripts are not run as files, but in their folder; they look for files beside them."""


WRITTEN = {"pid": "PID", "gymnasium": "Gymnasium:", "puma": "Puma 560", "optuna": "Optuna:"}


def prepare(into: Path, gallery: Path) -> None:
    """Copies of all scripts with the header that sphinx-gallery expects; sections of earlier builds go."""
    for header in list(into.rglob("GALLERY_HEADER.rst")):
        section = header.parent.relative_to(into).as_posix()
        if section not in SECTIONS:
            shutil.rmtree(header.parent)
            shutil.rmtree(gallery / section, ignore_errors=True)
    for section, (folder, title, sentence) in SECTIONS.items():
        mark = "-" if "/" in section else "="
        put(into / section / "GALLERY_HEADER.rst", f"{title}\n{mark * len(title)}\n\n{sentence}\n")
        names = set()
        for path in sorted((ROOT / folder).glob("*.py")):
            put(into / section / path.name, path.read_text() if "# %%" in path.read_text() else with_title(path))
            names.add(path.name)
        for old in (into / section).glob("*.py"):
            if old.name not in names:
                old.unlink()


def title_of(name: str) -> str:
    """The name of a script in words: authors, year and part of a paper, or its first letter capitalised."""
    match = re.fullmatch(r"([a-z_]+)_(\d{4})(?:_(\w+))?", name)
    if match is None:
        words = [WRITTEN.get(word, word) for word in name.split("_")]
        return " ".join([words[0][0].upper() + words[0][1:], *words[1:]])
    *first, last = [author.capitalize() for author in match[1].split("_")]
    authors = f"{', '.join(first)} & {last}" if first else last
    part = f": {match[3].replace('_', ' ')}" if match[3] else ""
    return f"{authors} {match[2]}{part}"


def with_title(path: Path) -> str:
    """The text of a script whose docstring has a title, made from its name."""
    text = path.read_text()
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree) or ""
    lines = docstring.split("\n")
    as_rst(lines)
    title = title_of(path.stem)
    hidden = HIDDEN.format(name=path.name)
    body = "\n".join(text.split("\n")[tree.body[0].end_lineno :])
    future = "from __future__ import annotations\n"
    body = body.replace(future, future + hidden, 1) if future in body else hidden + body
    return f'r"""\n{title}\n{"=" * len(title)}\n\n' + "\n".join(lines).strip() + f'\n"""\n{body}'
