"""What can be plotted: names, symbols and units of the quantities of bodies, joints and forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.bodies import Generalized
from mbd.elements.suggestions import did_you_mean
from mbd.errors import ModelError
from mbd.forces import ForceElement
from mbd.results.channels import MODEL_UNIT

if TYPE_CHECKING:
    from mbd.results.solution import Solution


@dataclass(frozen=True)
class Quantity:
    """A quantity of an element: how it is called on axes, and in which unit."""

    name: str
    symbol: str
    components: tuple[str, ...] = ("$x$", "$y$", "$z$")

    def label(self, solution: Solution, element: Any) -> str:
        """The text on an axis, with the unit that the quantity of this element has."""
        words = f"{self.name.replace('_', ' ')} {self.symbol}".strip()
        name = f"{element.name}.{self.name}"
        unit = next((channel.unit for channel in solution.channels.of(element.name) if channel.name == name), "1")
        return f"{words} in {axis_unit(unit)}" if axis_unit(unit) else words


def axis_unit(unit: str) -> str:
    """A unit of a channel as axes show it; numbers and units that nobody knows are not told."""
    return "" if unit in ("1", MODEL_UNIT) else unit.replace("^2", "²")


BODY_AXES = ("$1$", "$2$", "$3$")
QUANTITIES = {
    q.name: q
    for q in (
        Quantity("position", "$r$"),
        Quantity("com", "$r_C$"),
        Quantity("velocity", "$v$"),
        Quantity("acceleration", "$a$"),
        Quantity("quaternion", "$p$", ("$p_0$", "$p_1$", "$p_2$", "$p_3$")),
        Quantity("rotation", "$R$", tuple(f"$R_{{{i}{j}}}$" for i in (1, 2, 3) for j in (1, 2, 3))),
        Quantity("angular_velocity", "$\\omega$", BODY_AXES),
        Quantity("angular_acceleration", "$\\dot\\omega$", BODY_AXES),
        Quantity("coordinates", "$q$"),
        Quantity("velocities", "$\\dot q$"),
        Quantity("accelerations", "$\\ddot q$"),
        Quantity("force", "$F$"),
        Quantity("torque", "$M$"),
        Quantity("multipliers", "$\\lambda$"),
        Quantity("angle", "$\\varphi$", ("",)),
        Quantity("angle_rate", "$\\dot\\varphi$", ("",)),
        Quantity("displacement", "$s$", ("",)),
        Quantity("displacement_rate", "$\\dot s$", ("",)),
        Quantity("length", "$l$", ("",)),
        Quantity("energy", "$E$", ("",)),
        Quantity("power", "$P$", ("",)),
        Quantity("effort", "", ("",)),
    )
}
SYSTEM = ("energy", "momentum", "constraints", "trajectory", "reactions", "power")


def values_of(view: Any, name: str) -> Any:
    """The columns (n, k) of a quantity of one element; raises AttributeError if it has none."""
    values = np.asarray(getattr(view, name))
    return values.reshape(len(values), -1)


def elements_with(solution: Solution, name: str) -> list[Any]:
    """All elements of the model that have this quantity; bodies first."""
    model = solution.model
    found = []
    everything: list[Any] = [*model.bodies, *model.joints, *model.forces]
    for element in everything:
        view = solution[element]
        if name == "length" and hasattr(view, "angle"):
            continue  # of a torsion spring, whose length is its angle
        if name.startswith(("angle", "displacement")) and isinstance(element, ForceElement) and element.joints:
            continue  # of a motor or a spring: it is shown with its joint
        try:
            values = values_of(view, name)
        except (AttributeError, ValueError):
            continue
        if values.size:
            found.append(element)
    return found


def resolve(solution: Solution, what: Any, elements: Any) -> tuple[Quantity, list[Any]]:
    """The quantity and the elements that ``plot`` was asked for: "angle", "top.position", or with elements given."""
    model = solution.model
    name = str(what)
    if elements is None and "." in name:
        head, tail = name.rsplit(".", 1)
        if tail in QUANTITIES or head in model:
            name, elements = tail, [model[head]]  # says so if there is no such element
    if name not in QUANTITIES:
        known = list(dict.fromkeys([*SYSTEM, *QUANTITIES]))
        advice = did_you_mean(name, known) or "expected one of " + ", ".join(known) + ", or one of solution.channels"
        raise ModelError(f"plot: there is no quantity {name!r}; {advice}")
    if elements is None:
        chosen = elements_with(solution, name)
        if not chosen:
            has = [q for q in QUANTITIES if elements_with(solution, q)]
            raise ModelError(f"plot: no element of {model} has the quantity {name!r}; there are " + ", ".join(has))
        return QUANTITIES[name], chosen
    if isinstance(elements, str) or not isinstance(elements, list | tuple):
        elements = [elements]
    chosen = [model[getattr(element, "name", element)] for element in elements]
    for element in chosen:
        if not hasattr(solution[element], name):
            has = [q for q in QUANTITIES if hasattr(solution[element], q)]
            raise ModelError(f"plot: {element} has no {name}; it has " + ", ".join(has))
    return QUANTITIES[name], chosen


def component_labels(quantity: Quantity, element: Any, width: int) -> list[str]:
    """Labels of the columns."""
    if isinstance(element, Generalized) or len(quantity.components) != width:
        return [f"${quantity.symbol.strip('$')}_{{{k + 1}}}$" for k in range(width)] if width > 1 else [""]
    return list(quantity.components)
