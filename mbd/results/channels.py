"""Channels: every quantity that can be read off a solution, by name, with its unit and its shape.

A channel is called ``element.quantity`` ("tip.position", "hinge.angle"), or by what it is of the whole system
("energy.total"). Units are those of SI, which hold if the model was given in them (docs/conventions.md); coordinates
that users define have their own, "model unit".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Generalized, PointMass
from ..elements.suggestions import did_you_mean
from ..errors import Array, MbdError, ModelError
from ..forces import ForceElement
from ..joints import Joint, UserConstraint
from ..joints.tree import free_motions

if TYPE_CHECKING:
    from .solution import Solution

MODEL_UNIT = "model unit"
XYZ, QUATERNION = ("x", "y", "z"), ("e0", "e1", "e2", "e3")
MATRIX = tuple(f"{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
SHOWN = 60  # channels that a table lists


@dataclass(frozen=True)
class Channel:
    """A quantity of a solution: ``solution.channels["tip.position"]``.

    unit: of SI, or "model unit"; with a comma between where components have different ones. shape: of one record.
    components: names of its entries, row by row; empty for a number. text: what it is. axes: "world" or "body" for
    vectors, whose components belong to those axes.
    """

    name: str
    unit: str
    shape: tuple[int, ...]
    components: tuple[str, ...]
    text: str
    read: Callable[[Solution], Array]
    axes: str = ""

    @property
    def columns(self) -> list[str]:
        """Names of all numbers of a record: "tip.position.x", "tip.position.y", ..."""
        return [f"{self.name}.{part}" for part in self.components] if self.shape else [self.name]

    @property
    def units(self) -> list[str]:
        """The unit of every column."""
        parts = self.unit.split(", ")
        return parts if len(parts) == len(self.columns) else [self.unit] * len(self.columns)

    def __str__(self) -> str:
        size = " x ".join(map(str, self.shape)) or "number"
        return f"{self.name} [{self.unit}], {size}: {self.text}"


class _Kind:
    """What elements of a family have in common: unit, entries and text of a quantity."""

    def __init__(self, unit: str, components: tuple[str, ...], text: str) -> None:
        self.unit, self.components, self.text = unit, components, text
        self.shape: tuple[int, ...] = (3, 3) if components is MATRIX else (len(components),) if components else ()
        self.axes = "" if components is not XYZ else "body" if "body axes" in text else "world"

    def of(self, element: Any, quantity: str) -> Channel:
        """The channel of one element."""
        return Channel(
            f"{element.name}.{quantity}", self.unit, self.shape, self.components, self.text,
            partial(_of_element, element.name, quantity), self.axes,
        )  # fmt: skip


POINT = {
    "position": _Kind("m", XYZ, "position of the reference point, world axes"),
    "velocity": _Kind("m/s", XYZ, "velocity of the reference point, world axes"),
    "acceleration": _Kind("m/s^2", XYZ, "acceleration of the reference point, world axes"),
}
RIGID = POINT | {
    "com": _Kind("m", XYZ, "position of the centre of mass, world axes"),
    "rotation": _Kind("1", MATRIX, "rotation matrix, body to world"),
    "quaternion": _Kind("1", QUATERNION, "unit quaternion, scalar first"),
    "angular_velocity": _Kind("rad/s", XYZ, "angular velocity, body axes"),
    "angular_acceleration": _Kind("rad/s^2", XYZ, "angular acceleration, body axes"),
}
WRENCH = {
    "force": _Kind("N", XYZ, "force on the second body, world axes"),
    "torque": _Kind("N m", XYZ, "torque on the second body, world axes"),
}
ANGLE = {
    "angle": _Kind("rad", (), "angle about the axis, turns counted"),
    "angle_rate": _Kind("rad/s", (), "rate of the angle"),
}
DISPLACEMENT = {
    "displacement": _Kind("m", (), "displacement along the axis"),
    "displacement_rate": _Kind("m/s", (), "rate of the displacement"),
}
FORCE = WRENCH | {
    "energy": _Kind("J", (), "stored energy"),
    "power": _Kind("W", (), "power on the system"),
}
SPRING = {"length": _Kind("m", (), "distance of the two points, or displacement")}
SYSTEM = {
    "energy.kinetic": _Kind("J", (), "kinetic energy"),
    "energy.potential": _Kind("J", (), "potential energy: gravity, springs, generalized bodies"),
    "energy.total": _Kind("J", (), "kinetic and potential energy"),
    "power": _Kind("W", (), "power of dampers, loads and driven joints"),
    "momentum.linear": _Kind("kg m/s", XYZ, "momentum of all bodies"),
    "momentum.angular": _Kind("kg m^2/s", XYZ, "angular momentum of all bodies about the origin"),
    "constraint_error.position": _Kind("m or 1", (), "largest violation of a constraint"),
    "constraint_error.velocity": _Kind("m/s or 1/s", (), "largest violation of a velocity constraint"),
}
UNITS = {name: kind.unit for kinds in (RIGID, ANGLE, DISPLACEMENT, FORCE, SPRING) for name, kind in kinds.items()}
"""Units of quantities of elements that have but one."""
RATES = {"rad": ("rad/s", "rad/s^2"), "m": ("m/s", "m/s^2")}
MOTIONS = {"slide": "m", "slide 1": "m", "slide 2": "m"}  # others are angles


def _numbered(count: int) -> tuple[str, ...]:
    return tuple(str(k) for k in range(count))


def body_channels(solution: Solution, body: Any) -> Iterator[Channel]:
    """Channels of a body."""
    if not isinstance(body, Generalized):
        for quantity, kind in (POINT if isinstance(body, PointMass) else RIGID).items():
            yield kind.of(body, quantity)
        return
    names = _numbered(body.node.n_velocities)
    for quantity, text in (
        ("coordinates", "generalized coordinates"),
        ("velocities", "their rates"),
        ("accelerations", "their second rates"),
    ):  # fmt: skip
        yield _Kind(MODEL_UNIT, names, text).of(body, quantity)


def joint_channels(solution: Solution, joint: Joint) -> Iterator[Channel]:
    """Channels of a joint: reactions, and the coordinates that it leaves free."""
    for quantity, kind in WRENCH.items():
        yield kind.of(joint, quantity)
    rows = solution.system.joint_slice(joint)
    if rows.stop > rows.start:
        units = ["N" if length else "N m" for length in solution.system.tables.lclass[rows] == 0]
        unit = units[0] if len(set(units)) == 1 else ", ".join(units)
        if isinstance(joint, UserConstraint):  # whose equations have units of their own
            unit = MODEL_UNIT
        text = "multipliers of the equations"
        yield _Kind(unit, _numbered(rows.stop - rows.start), text).of(joint, "multipliers")
    for name, kinds in (("angle", ANGLE), ("displacement", DISPLACEMENT)):
        if joint.coordinate in (name, "both"):
            for quantity, kind in kinds.items():
                yield kind.of(joint, quantity)
    motions = free_motions(joint)
    if motions:
        base = ["rad"] * 3 if motions == ("ball",) else [MOTIONS.get(motion, "rad") for motion in motions]
        levels = (base, [RATES[unit][0] for unit in base], [RATES[unit][1] for unit in base])
        texts = ("free motions of the joint", "their rates", "their second rates")
        for quantity, units, text in zip(("coordinates", "rates", "accelerations"), levels, texts, strict=True):
            unit = units[0] if len(set(units)) == 1 else ", ".join(units)
            yield _Kind(unit, _numbered(len(units)), text).of(joint, quantity)


def force_channels(solution: Solution, force: ForceElement) -> Iterator[Channel]:
    """Channels of a force element."""
    for quantity, kind in FORCE.items():
        if quantity not in WRENCH:
            yield kind.of(force, quantity)
        elif force.reported is not None:  # which may be any of several bodies
            yield replace(kind.of(force, quantity), text=f"{quantity} on '{force.reported.name}', world axes")
    view = solution[force]
    kind_of_coordinate = view.coordinate
    if view.has_effort:
        unit = "N m" if kind_of_coordinate == "angle" else "N"
        yield _Kind(unit, (), "effort along or about the axis, on the second body").of(force, "effort")
    if kind_of_coordinate == "angle":
        yield ANGLE["angle"].of(force, "angle")
    elif kind_of_coordinate == "length":
        yield SPRING["length"].of(force, "length")


def system_channels(solution: Solution) -> Iterator[Channel]:
    """Channels of the whole system, its coordinates, and the variables of its method."""
    for name, kind in SYSTEM.items():
        yield Channel(name, kind.unit, kind.shape, kind.components, kind.text, attrgetter(name), kind.axes)
    sizes = {"q": solution.system.n_q, "v": solution.system.n_v, "vd": solution.system.n_v, "lam": solution.system.n_l}
    texts = ("coordinates", "velocities", "accelerations", "multipliers")
    for (name, size), text in zip(sizes.items(), texts, strict=True):
        if size:
            text = f"{text} of the system"
            yield Channel(name, MODEL_UNIT, (size,), _numbered(size), text, attrgetter(name))
    for name in solution.inputs:
        text = "input; at a record that of the step that ended there"
        yield Channel(f"inputs.{name}", MODEL_UNIT, (), (), text, partial(_of_input, name))
    for name, variable in solution.scheme.variables.items():
        try:
            shape = solution.scheme.shape(name)
        except MbdError:  # it does not exist in these coordinates
            continue
        when = f"at t{variable.shift:+g} h".replace("t+0 h", "t")
        yield Channel(
            f"scheme.{name}", MODEL_UNIT, shape, _numbered(shape[0]) if shape else (), f"{variable.meaning}, {when}",
            partial(_of_scheme, name),
        )  # fmt: skip


def _of_element(name: str, quantity: str, solution: Solution) -> Array:
    return getattr(solution[name], quantity)


def _of_input(name: str, solution: Solution) -> Array:
    return solution.inputs[name]


def _of_scheme(name: str, solution: Solution) -> Array:
    return solution.scheme[name]


def _of_channel(channel: Channel, k: int, solution: Solution) -> Array:
    return values_of(channel, solution)[:, k]


class Channels(Mapping[str, Channel]):
    """All channels of a solution by name; ``print`` shows a table, patterns choose some (``matching``)."""

    def __init__(self, solution: Solution, own: Mapping[str, Channel] | None = None) -> None:
        self.solution = solution
        self.own = dict(own or {})  # of the user

    def _families(self) -> Iterator[tuple[str, Callable[[], Iterator[Channel]]]]:
        """Names of elements, and functions that make their channels."""
        for elements in self.solution.system.elements:
            for element in elements:
                yield element.name, partial(self._of, element)

    def _of(self, element: Any) -> Iterator[Channel]:
        if isinstance(element, Joint):
            return joint_channels(self.solution, element)
        return (force_channels if isinstance(element, ForceElement) else body_channels)(self.solution, element)

    def _all(self) -> Iterator[Channel]:
        yield from self.own.values()
        yield from system_channels(self.solution)
        for _, channels in self._families():
            yield from channels()

    def __iter__(self) -> Iterator[str]:
        return (channel.name for channel in self._all())

    def __len__(self) -> int:
        return sum(1 for _ in self._all())

    def of(self, element: str) -> list[Channel]:
        """The channels of one element."""
        model = self.solution.model
        return list(self._of(model[element])) if element in model and element != "ground" else []

    def _system(self) -> dict[str, Channel]:
        return {channel.name: channel for channel in (*self.own.values(), *system_channels(self.solution))}

    def __contains__(self, name: object) -> bool:
        return self._find(str(name)) is not None

    def __getitem__(self, name: str) -> Channel:
        found = self._find(str(name))
        if found is None:
            raise self._unknown(str(name))
        return found

    def _find(self, name: str) -> Channel | None:
        """A channel, or one number of it: "tip.position.x"."""
        element = name.rpartition(".")[0]
        found = {channel.name: channel for channel in self.of(element)}
        system = self._system()
        if name in system and name in found:
            raise ModelError(
                f"{name!r} is a channel of {self.solution.model[element]} and of the whole system; rename the element"
            )
        return system.get(name) or found.get(name) or self._component(name)

    def _component(self, name: str) -> Channel | None:
        """One number of a channel: "tip.position.x"."""
        whole, _, part = name.rpartition(".")
        element = whole.rpartition(".")[0]
        for channel in (*self._system().values(), *self.of(element)):
            if channel.name == whole and part in channel.components:
                k = channel.components.index(part)
                return Channel(
                    name, channel.units[k], (), (), f"{part} of {channel.text}",
                    partial(_of_channel, channel, k),
                )  # fmt: skip
        return None

    def _unknown(self, name: str) -> ModelError:
        model = self.solution.model
        system = list(self._system())
        element, _, quantity = name.rpartition(".")
        if element in model and model[element] is not model.ground:
            known = [channel.name for channel in self.of(element)]
            advice = did_you_mean(name, known) or f"it has {', '.join(map(repr, known))}"
            return ModelError(f"{model}: {model[element]} has no channel {quantity!r}; {advice} [MBD-E19]")
        if element in self:
            parts = ", ".join(self[element].components) or "no components"
            return ModelError(
                f"{self.solution.model}: channel {element!r} has no component {quantity!r}; it has {parts} [MBD-E19]"
            )
        near = did_you_mean(element, [x for x, _ in self._families()]).split("'")[1::2]
        known = [*system, *(channel.name for x in near for channel in self.of(x))]
        close = did_you_mean(name, known)
        where = "solution.channels lists all of them"
        return ModelError(f"{model}: there is no channel {name!r}; {close + ' ' if close else ''}{where} [MBD-E19]")

    def usual(self) -> list[Channel]:
        """Energies, positions of bodies, angles and displacements (or other coordinates) of joints."""
        found = [channel for channel in system_channels(self.solution) if channel.name.startswith("energy.")]
        wanted = ("position", "angle", "displacement")
        bodies, joints, _ = self.solution.system.elements  # those of the run
        elements: list[Any] = [*bodies, *joints]
        for element in elements:
            channels = {channel.name.removeprefix(f"{element.name}."): channel for channel in self.of(element.name)}
            chosen = [channels[name] for name in wanted if name in channels]
            found += chosen or [channels["coordinates"]] * ("coordinates" in channels)
        return found

    def matching(self, patterns: Any) -> list[Channel]:
        """Channels that are named, that belong to a named element, or whose names fit a pattern ("link *.position")."""
        if isinstance(patterns, str):
            patterns = [patterns]
        found: dict[str, Channel] = {}
        for pattern in patterns:
            if not isinstance(pattern, str):
                raise ModelError(f"channel {pattern!r}: expected a text such as 'tip.position'")
            for channel in self._matching(pattern):
                found[channel.name] = channel
        return list(found.values())

    def _matching(self, pattern: str) -> list[Channel]:
        if pattern in self.solution.model and pattern != "ground":
            if self._find(pattern) is not None:  # of the whole system, or of another element
                raise ModelError(
                    f"{pattern!r} is {self.solution.model[pattern]} and a channel; expected '{pattern}.*' for what "
                    "the element has, or another name of it"
                )
            return self.of(pattern)
        try:
            return [self[pattern]]
        except ModelError:
            if not any(letter in pattern for letter in "*?["):
                raise
        found = [channel for _, channels in self._families() for channel in channels()]
        if pattern[0] not in "*?[":  # "*.position" means elements, "energy.*" the system
            found = [*self._system().values(), *found]
        found = [channel for channel in found if fnmatchcase(channel.name, pattern)]
        if not found:
            raise ModelError(f"{self.solution.model}: no channel fits {pattern!r}; solution.channels lists all of them")
        return found

    def __str__(self) -> str:
        rows = [("channel", "unit", "shape", "meaning")]
        more = 0
        for channel in self._all():
            if len(rows) > SHOWN:
                more += 1
                continue
            rows.append((channel.name, _short(channel.unit), " x ".join(map(str, channel.shape)), channel.text))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = ["  ".join(x.ljust(n) for x, n in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * n for n in widths))
        return "\n".join([*lines, f"... and {more} more"] if more else lines)

    __repr__ = __str__


def _short(unit: str) -> str:
    """Several units with each one once."""
    return ", ".join(dict.fromkeys(unit.split(", ")))


def values_of(channel: Channel, solution: Solution) -> Array:
    """The numbers of a channel as columns (n, k)."""
    values = np.asarray(channel.read(solution), dtype=float)
    return values.reshape(len(solution), int(np.prod(channel.shape)))
