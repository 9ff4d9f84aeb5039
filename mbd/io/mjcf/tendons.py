"""Tendons of an MJCF file: they are named, and refused where they act by themselves."""

from __future__ import annotations

from . import schema
from .attributes import Attributes, place, unknown
from .document import Document

KINDS = ("spatial", "fixed")


def note_tendons(document: Document) -> None:
    """Springs, dampers, friction, inertia and limits act; a tendon without them is only something to look at."""
    for element in document.section("tendon"):
        if element.tag not in KINDS:
            raise unknown(element, element.words, KINDS)
        defaults = document.classes[document.class_of(element, None)].get("tendon", {})
        attributes = Attributes(element, defaults | {k: (v, element) for k, v in element.attributes.items()})
        acting = [name for name in schema.TENDON_ACTS if _given(attributes, name)]
        if document.enabled("limit") and document.limited(attributes, "limited", "range"):
            acting.append("range")
        path = f"tendon/{element.tag}"
        if acting:
            document.left_out.refuse(path, place(element), schema.TENDON)
        else:
            document.left_out.note(path, place(element), "lengths of tendons, which exert no force by themselves")


def _given(attributes: Attributes, name: str) -> bool:
    return name in attributes and bool(attributes.numbers(name, 1, 3).any())
