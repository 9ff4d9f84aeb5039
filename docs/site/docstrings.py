"""From the docstrings of the toolkit to reStructuredText.

They are plain text with ``code``, indented blocks after ``::``, examples after ``>>>``, and sections such as ::

    Parameters
    ----------
    mass: in kg
    node: position and orientation,
        with a second line

Everything else that reStructuredText would take for markup is text.
"""

from __future__ import annotations

import re

RULE = re.compile(r"^\s*-{3,}\s*$")
ENTRY = re.compile(r"^(?P<names>[*\w][\w.*]*(?:, [*\w][\w.*]*)*): (?P<text>.*)$")
CODE = re.compile(r"(``.+?``)", re.DOTALL)


def escaped(text: str) -> str:
    """A paragraph with signs that mean something to reStructuredText escaped, outside of code."""
    parts = CODE.split(text)
    for k in range(0, len(parts), 2):
        parts[k] = re.sub(r"(?<!\\)([*|`])", r"\\\1", parts[k])
        parts[k] = re.sub(r"(\w)_(?=\W|$)", r"\1\\_", parts[k])
    return "".join(parts)


def as_rst(lines: list[str]) -> None:
    """Change the lines of a docstring in place."""
    out: list[str] = []
    k, section = 0, False
    while k < len(lines):
        line = lines[k]
        if k + 1 < len(lines) and RULE.match(lines[k + 1]):
            out += ["", f"**{line.strip()}**", ""]
            section, k = True, k + 2
            continue
        if line.lstrip().startswith(">>>"):
            section, k = False, _example(lines, k, out)
            continue
        if section and line.strip():
            k = _entries(lines, k, out)
            continue
        if not line.strip():
            section = section and k + 1 < len(lines) and bool(ENTRY.match(lines[k + 1]))
            out.append("")
            k += 1
            continue
        k = _paragraph(lines, k, out)
    lines[:] = out


def _example(lines: list[str], k: int, out: list[str]) -> int:
    """Lines of a session up to an empty one, as they are."""
    indent = len(lines[k]) - len(lines[k].lstrip())
    out.append("")
    while k < len(lines) and lines[k].strip():
        out.append(lines[k][indent:])
        k += 1
    out.append("")
    return k


def _entries(lines: list[str], k: int, out: list[str]) -> int:
    """Lines "names: text" of a section, as a list."""
    found: list[str] = []
    while k < len(lines) and lines[k].strip():
        match = ENTRY.match(lines[k])
        if match:
            names = ", ".join(f"``{name}``" for name in match["names"].split(", "))
            found.append(f"{names}: {match['text']}")
        elif found:
            found[-1] += " " + lines[k].strip()
        else:
            found.append(lines[k].strip())
        k += 1
    out += ["", *(f"- {escaped(text)}" for text in found), ""]
    return k


def _paragraph(lines: list[str], k: int, out: list[str]) -> int:
    """One paragraph or list, and the block of code that may follow it."""
    indent = len(lines[k]) - len(lines[k].lstrip())
    parts: list[str] = []
    while k < len(lines) and (line := lines[k].strip()):
        if line.startswith(("- ", "* ")):
            parts.append(f"- {line[2:]}")
        else:
            parts[-1:] = [f"{parts[-1]} {line}" if parts else line]
        k += 1
    out += [escaped(part) for part in parts]
    if not parts[-1].endswith("::"):
        return k
    out.append("")
    while k < len(lines) and (not lines[k].strip() or len(lines[k]) - len(lines[k].lstrip()) > indent):
        out.append(f"    {lines[k][indent:]}".rstrip())
        k += 1
    out.append("")
    return k
