"""Damaged files: a text with a few random changes of the kinds that people and programs make."""

from __future__ import annotations

import re

WORDS = (
    "nan", "inf", "1e999", "-1", "0", "", "1 2", "0 0 0", "x", "true", "1_0", "\u0663", "1e-320", "9" * 400, "1e200",
    "1e49", "1e49 1 1", "1e-49",
)  # fmt: skip


def mutated(text, rng):
    """The text with one to three changes."""
    for _ in range(int(rng.integers(1, 4))):
        text = CHANGES[int(rng.integers(len(CHANGES)))](text, rng)
    return text


def _pick(pattern, text, rng):
    found = list(re.finditer(pattern, text))
    return found[int(rng.integers(len(found)))] if found else None


def _replaced(text, match, new):
    return text if match is None else text[: match.start()] + new + text[match.end() :]


def other_value(text, rng):
    return _replaced(text, _pick(r'="[^"]*"', text, rng), f'="{WORDS[int(rng.integers(len(WORDS)))]}"')


def other_name(text, rng):
    names = ["none"] + [match[1] for match in re.finditer(r"[\s<](\w+)[=\s/>]", text)]
    return _replaced(text, _pick(r"(?<=[\s<])\w+(?=[=\s/>])", text, rng), names[int(rng.integers(len(names)))])


def without_an_attribute(text, rng):
    return _replaced(text, _pick(r'\s\w+="[^"]*"', text, rng), "")


def without_an_element(text, rng):
    return _replaced(text, _pick(r"<\w+[^<>]*/>", text, rng), "")


def an_element_twice(text, rng):
    match = _pick(r"<\w+[^<>]*/>", text, rng)
    return text if match is None else _replaced(text, match, match[0] * 2)


def an_element_elsewhere(text, rng):
    match, place = _pick(r"<\w+[^<>]*/>", text, rng), _pick(r"(?<=>)\s*(?=<)", text, rng)
    if match is None or place is None:
        return text
    return text[: place.start()] + match[0] + text[place.start() :]


def swapped_values(text, rng):
    one, two = _pick(r'"[^"]*"', text, rng), _pick(r'"[^"]*"', text, rng)
    return text if one is None or two is None else _replaced(text, one, two[0])


def a_cut(text, rng):
    return text[: int(rng.integers(len(text)))]


def an_odd_letter(text, rng):
    k = int(rng.integers(len(text)))
    return text[:k] + '<>"&\x00\ud7ff='[int(rng.integers(7))] + text[k + 1 :]


CHANGES = (
    other_value, other_value, other_value, other_name, other_name, without_an_attribute, without_an_element,
    an_element_twice, an_element_elsewhere, swapped_values, swapped_values, a_cut, an_odd_letter,
)  # fmt: skip
