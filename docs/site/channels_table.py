"""The table of all result channels, from the channels of small runs with every kind of element."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import samples

import mbd

INTRODUCTION = """Every quantity of a solution has a name: ``element.quantity`` for elements, or what it is of the whole
system. ``solution.channels`` lists those of a run, ``solution.channel("tip.position")`` reads one,
``solution.frame([...])`` makes a table of pandas, ``solution.csv(path)`` a file. Components are named as well:
``"tip.position.x"``. The table is made from runs of small models with every kind of element; units hold for
models in SI.

"""


def collected() -> dict[str, dict[str, tuple[str, str, list[str]]]]:
    """family -> quantity -> (unit, text, classes that have it)."""
    found: dict[str, dict[str, tuple[str, str, list[str]]]] = {"system": {}, "bodies": {}, "joints": {}, "forces": {}}

    def note(family: str, quantity: str, unit: str, text: str, owner: str) -> None:
        entry = found[family].setdefault(quantity, (unit, text, []))
        units = " or ".join(dict.fromkeys([*entry[0].split(" or "), *unit.split(" or ")]))
        entry = found[family][quantity] = (units, *entry[1:])
        if owner not in entry[2]:
            entry[2].append(owner)

    def look(model: mbd.Model, family: str, element: object | None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = mbd.simulate(model, 1e-3, 1e-3, mbd.integrators.RK4())
        if element is None:
            for name, channel in solution.channels._system().items():
                note("system", name, channel.unit, channel.text, "")
            return
        for channel in solution.channels.of(element.name):
            units = list(dict.fromkeys(channel.units))
            unit = units[0] if len(units) == 1 else " or ".join(units)
            note(family, channel.name.removeprefix(f"{element.name}."), unit, channel.text, type(element).__name__)

    model, _, body = samples.two_bodies()
    point = model.add(mbd.PointMass("point", 1.0, (1, 0, 0)))
    own = model.add(mbd.Generalized("own", (0.1,), (0.0,), mass=(1.0,)))
    look(model, "system", None)
    for element in (body, point, own):
        look(model, "bodies", element)
    for family, make in (("joints", samples.joint_sample), ("forces", samples.force_sample)):
        for name in sorted(getattr(mbd, family).__all__):
            try:
                sample = make(name)
            except AttributeError:
                sample = None
            if sample is not None:
                look(sample[0], family, sample[1])
    return found


def page(heading: Callable[[str, str], str], table: Callable[..., str]) -> str:
    """The page, as reStructuredText."""
    out = heading("Result channels", "=") + INTRODUCTION
    for family, entries in collected().items():
        everyone = {owner for *_, owners in entries.values() for owner in owners}
        out += heading({"system": "Whole system", "bodies": "Bodies"}.get(family, family.capitalize()), "-")
        rows = []
        for quantity, (unit, text, owners) in entries.items():
            who = "all" if set(owners) == everyone else ", ".join(owners)
            short = f"``{quantity}``"
            rows.append((short, unit, text, who) if family != "system" else (short, unit, text))
        out += table(("channel", "unit", "what it is", "of")[: 3 if family == "system" else 4], rows)
    return out
