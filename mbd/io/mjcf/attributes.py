"""Attributes of MJCF elements with what they inherit, and how messages name elements."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from ...errors import Array, ModelError
from ..xml_file import Element, read_numbers, shortened


class Attributes:
    """The attributes of an element together with those of its default class; errors name where a text stands."""

    def __init__(self, element: Element, texts: dict[str, tuple[str, Element]]) -> None:
        self.element, self.texts = element, texts

    def __contains__(self, name: str) -> bool:
        return name in self.texts

    def own(self, name: str) -> bool:
        """Whether the element itself has the attribute."""
        return name in self.element.attributes

    def text(self, name: str) -> str | None:
        """The text of an attribute, or None."""
        found = self.texts.get(name)
        return None if found is None else found[0]

    def required(self, name: str) -> str:
        """The text of an attribute that must be there."""
        text = self.text(name)
        if text is None or not text.strip():
            raise self.element.error(f'has no {name}; expected {name}="..."')
        return text

    def error(self, name: str, expected: str) -> ModelError:
        """The error for the value of an attribute."""
        text, source = self.texts[name]
        inherited = "" if source is self.element else f" (of {source.words}, line {source.line})"
        return self.element.error(f"{name} = {shortened(text)!r}{inherited}; expected {expected}")

    def numbers(self, name: str, least: int, most: int | None = None, default: Any = None) -> Array:
        """The numbers of an attribute."""
        found = self.texts.get(name)
        if found is None:
            if default is None:
                raise self.element.error(f"has no {name}; expected {name} with {least} numbers")
            return np.array(default, dtype=float)
        return read_numbers(self.element if found[1] is self.element else found[1], name, found[0], least, most)

    def number(self, name: str, default: float | None = None, *, nonnegative: bool = False) -> float:
        """The one number of an attribute."""
        value = float(self.numbers(name, 1, 1, None if default is None else [default])[0])
        if nonnegative and value < 0.0:
            raise self.error(name, "a number that is not negative")
        return value

    def whole(self, name: str, default: int) -> int:
        """The one whole number of an attribute."""
        value = self.number(name, default)
        if value != int(value):
            raise self.error(name, "a whole number")
        return int(value)

    def word(self, name: str, choices: tuple[str, ...], default: str) -> str:
        """One of several words."""
        text = self.text(name)
        if text is None:
            return default
        if text not in choices:
            raise self.error(name, f"one of {', '.join(choices)}")
        return text

    def flag(self, name: str, default: bool = False) -> bool:
        """true or false."""
        return self.word(name, ("true", "false"), "true" if default else "false") == "true"

    def range(self, name: str) -> tuple[float, float]:
        """Two numbers, the first one not larger."""
        low, high = self.numbers(name, 2).tolist()
        if low > high:
            raise self.error(name, "two numbers, the smaller one first")
        return low, high


def unknown(element: Element, what: str, known: Any) -> ModelError:
    """The error for something that MJCF does not have."""
    name = what.rpartition("'")[0].rpartition("'")[2] or element.tag
    close = difflib.get_close_matches(name, sorted(known), 1, 0.6)
    hint = f"; did you mean {close[0]}?" if close else ""
    inside = "" if what == element.words else f"{element.words}: "
    return ModelError(f"{element.place}: {inside}{what} is not known in MJCF at this place{hint}")


def place(element: Element) -> str:
    """An element in a list: its name, or its line."""
    name = element.get("name")
    if name:
        return f"'{shortened(name)}'"
    return f"line {element.line}" + (f" of {element.file.name}" if element.included else "")


def same(text: str, value: str) -> bool:
    """Whether a text means a value, which is a number or a word."""
    try:
        return all(float(word) == float(value) for word in text.split())
    except ValueError:
        return text == value
