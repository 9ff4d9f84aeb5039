"""XML files of other programs: elements that know their file and line, read without anything that could be expanded.

Document types and entities are refused, and so are files that are absurdly large or deep. Nothing here is recursive:
however deep a mechanism is nested, it is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from ..errors import Array, ModelError

LARGEST_FILE = 64 * 2**20  # bytes
MOST_ELEMENTS = 1_000_000
DEEPEST = 20_000
LARGEST_NUMBER = 1e50  # products of several such numbers are still finite


class Element:
    """An XML element: tag, attributes, children, and where it stands."""

    __slots__ = ("attributes", "children", "file", "included", "line", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], file: Path, line: int, included: bool = False) -> None:
        self.tag, self.attributes, self.file, self.line, self.included = tag, attributes, file, line, included
        self.children: list[Element] = []
        self.text = False  # whether it contains other text than spaces

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children)

    def get(self, name: str) -> str | None:
        """The text of an attribute, or None."""
        return self.attributes.get(name)

    def all(self, tag: str) -> list[Element]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child with this tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}, line {self.line}"

    @property
    def words(self) -> str:
        """The element as messages name it: <joint name="elbow">."""
        name = self.get("name")
        return f"<{self.tag}>" if name is None else f'<{self.tag} name="{shortened(name)}">'

    def error(self, message: str) -> ModelError:
        """The error for something wrong in this element, ready to be raised."""
        return ModelError(f"{self.place}: {self.words}: {message}")

    def name_of(self, attribute: str) -> str:
        """The text of an attribute that must be there."""
        value = self.get(attribute)
        if value is None or not value.strip():
            raise self.error(f'has no {attribute}; expected {attribute}="..."')
        return value


@contextmanager
def told_at(element: Element) -> Iterator[None]:
    """Errors of what is made from an element get its place in the file."""
    try:
        with np.errstate(all="ignore"):  # numbers that are too large are refused, by name
            yield
    except ModelError as error:
        if str(error).startswith(str(element.file)):
            raise
        raise element.error(str(error)) from None
    except ArithmeticError as error:
        raise element.error(f"its numbers are too large or too small ({error})") from None


def shortened(text: str, length: int = 80) -> str:
    """A text for messages, which may come from a damaged file."""
    return text if len(text) <= length else text[:length] + "..."


def numbers_in(text: str) -> list[float] | None:
    """The numbers of a text, or None if it holds anything else; underscores, infinities, absurd sizes are such."""
    if "_" in text:
        return None
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        return None
    return values if all(abs(value) <= LARGEST_NUMBER for value in values) else None


def read_numbers(element: Element, name: str, text: str, least: int, most: int | None = None) -> Array:
    """The numbers of an attribute, at least and at most so many (exactly ``least`` if there is no ``most``)."""
    values = numbers_in(text)
    most = least if most is None else most
    if values is None or not least <= len(values) <= most:
        count = f"{least}" if most == least else f"{least} to {most}"
        expected = "a finite number" if count == "1" else f"{count} finite numbers"
        raise element.error(f"{name} = {shortened(text)!r}; expected {expected}")
    return np.array(values)


def read_xml(path: Path, root: str, kind: str, hints: dict[str, str] | None = None) -> Element:
    """The root element of a file, with the tag ``root``; ``hints`` say what reads other files.

    "" as ``root`` means that the file is included into another one, where any tag does.
    """
    try:
        if not path.is_file():
            raise ModelError(f"{path}: there is no such file")
        if path.stat().st_size > LARGEST_FILE:
            raise ModelError(
                f"{path}: has {path.stat().st_size} bytes; expected a {kind} file of at most {LARGEST_FILE}"
            )
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:  # a path that no file can have
        raise ModelError(f"{shortened(repr(str(path)))}: is no name of a file ({error})") from None
    found = _parsed(content, path, kind, included=not root)
    if root and found.tag != root:
        hint = (hints or {}).get(found.tag, "")
        raise ModelError(
            f"{found.place}: cannot be read as {kind}: its root is <{shortened(found.tag)}>; expected <{root}>{hint}"
        )
    return found


def _parsed(content: bytes, path: Path, kind: str, included: bool) -> Element:
    parser = expat.ParserCreate()
    stack: list[Element] = []
    top: list[Element] = []
    count = 0

    def fail(message: str) -> Any:
        raise ModelError(f"{path}, line {parser.CurrentLineNumber}: {message}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MOST_ELEMENTS:
            fail(f"more than {MOST_ELEMENTS} elements; expected a {kind} file")
        if len(stack) >= DEEPEST:
            fail(f"elements are nested more than {DEEPEST} deep; expected a {kind} file")
        element = Element(tag, attributes, path, parser.CurrentLineNumber, included)
        (stack[-1].children if stack else top).append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        if stack and not stack[-1].text and data.strip():
            stack[-1].text = True

    def refuse(*_: Any) -> None:
        fail("contains a DOCTYPE or entities; expected plain XML")

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        words = expat.ErrorString(error.code)
        raise ModelError(f"{path}, line {error.lineno}: cannot be read as {kind}: no valid XML ({words})") from None
    except (LookupError, ValueError, UnicodeError) as error:  # an unknown encoding
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{path}: cannot be read as {kind}: no valid XML ({error})") from None
    return top[0]


def is_file(path: Path) -> bool:
    """Whether there is such a file; no file has a name that is too long or contains odd letters."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
