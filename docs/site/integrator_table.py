"""The table of integrators, from what the classes declare."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import samples

import mbd
from mbd.integrators import Integrator, PythonIntegrator

NONE = "\u2013"


def methods() -> list[type[Integrator]]:
    """All methods that people can choose."""
    found = [getattr(mbd.integrators, name) for name in sorted(mbd.integrators.__all__, key=str.lower)]
    return [x for x in found if isinstance(x, type) and issubclass(x, Integrator) and not inspect.isabstract(x)
            and x is not PythonIntegrator]  # fmt: skip


def kept(method: type[Integrator]) -> str:
    """What a method says that it preserves, on a chain of two bars and on a free body."""
    found: dict[Any, None] = {}
    for model in samples.conservative_models():
        for node in (None, mbd.nodes.Quaternion(lie=False), mbd.nodes.Directors(lie=False)):
            try:
                system = mbd.assemble(model if node is None else model.with_nodes(node))
                integrator = method()
                integrator.check(system)
            except (mbd.MbdError, TypeError):
                continue
            found |= dict.fromkeys(sorted(integrator.preserves(system), key=lambda x: x.name))
    return ", ".join(x.value for x in found) or NONE


def sources(method: Any) -> str:
    """Whom to cite for a method, as it is by default."""
    cite = method().cite if method in methods() else ()
    return f"**Sources**: {'; '.join(cite)}.\n" if cite else ""


def integrator_table(table: Callable[..., str]) -> str:
    """Order, needs, invariants and sources of every method."""
    rows = []
    for method in methods():
        needs = "; ".join(sorted(trait.value for trait in method().requires)) or NONE
        flags = [
            word
            for word, has in (
                ("step-size control", method.adaptive),
                ("joint coordinates", method.joint_coordinates),
                ("rolling", method.nonholonomic),
                ("massless bodies", method.massless),
            )
            if has
        ]
        order = method.order
        if isinstance(order, property) or "order" in {field.name for field in fields(method)}:
            order = f"{method().order} (a parameter)"
        name = f":ref:`{method.__name__} <mbd-integrators-{method.__name__.lower()}>`"
        rows.append((name, str(order), needs, kept(method), ", ".join(flags) or NONE))
    text = (
        "What a method needs is checked before a run, and refused with the name of the element that lacks it. What it "
        "keeps, it keeps up to the tolerance of Newton's method or to round-off, on models that have the invariant. "
        ":func:`mbd.cite` prints the sources as BibTeX.\n\n"
    )
    return text + table(("method", "order", "needs", "keeps", "also"), rows, "mbd-small")
