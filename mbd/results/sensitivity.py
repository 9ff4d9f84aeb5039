"""How a solution changes with parameters: derivatives of everything that can be read off it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements.values import Parameter, in_force
from ..errors import Array, ModelError, bad_value, read_only
from ..system.following import check_own
from .numbers_at_records import NumbersAtRecords
from .solution import Solution

if TYPE_CHECKING:
    import pandas
    import xarray

    from ..system.system import System
    from .tabular import ChannelChoice

Pairs = list[tuple[Any, Any, float]]
"""Things read on both sides of a parameter, and how far: the derivative is the sum of central differences of all."""

MOVED = 2e-5  # by which parts of a state are moved, relative to themselves
LEAST, MOST = 2.0**-8, 4.0  # times ``MOVED``: what moves less is lost in round-off, of more third derivatives are seen
READ = ("energy", "momentum", "power", "channel")
"""What a solution tells of itself that has a derivative, besides its elements."""
TABLES = ("pandas", "xarray")  # whose tables are subtracted as arrays are


class Sensitivity:
    """The derivative of a solution with respect to one parameter; made by ``solution.sensitivity``.

    It is read as the solution is: ``d["tip"].position``, ``d["hinge"].force``, ``d.energy.total``,
    ``d.channel("tip.position")``, ``d.frame([...])``; each is a derivative, at all records. ``d.of(f)`` is that of any
    function of a solution. ``q`` (as increments, as long as velocities), ``v``, ``vd`` and ``lam`` are those of
    coordinates, velocities, accelerations and multipliers.
    """

    def __init__(
        self, solution: Solution, name: str, size: float, systems: Callable[[], tuple[System, System]],
        rows: list[Array],
    ) -> None:  # fmt: skip
        self._solution, self.name, self._size, self._systems = solution, name, size, systems
        self.q, self.v, self.vd, self.lam = (read_only(x) for x in rows)
        self._pairs: Pairs | None = None

    @property
    def t(self) -> Array:
        """Times of the records."""
        return self._solution.t

    def of(self, read: Callable[[Solution], Any]) -> Any:
        """The derivative of what a function reads from a solution: central differences along the sensitivities.

        Parameters of the model are numbers there, which change as well.
        """
        if not callable(read):
            raise bad_value("sensitivity", "read", read, "a function of a solution; channel(name) reads a channel")
        check_own(self._solution.model, [read], "sensitivity: what is read")
        return derivative([(_read(read, plus), _read(read, minus), size) for plus, minus, size in self._moved()])

    def __getitem__(self, element: Any) -> Any:
        """Derivatives of what the solution tells of an element; by object or by name."""
        return self.of(lambda solution: solution[element])

    def __getattr__(self, name: str) -> Any:
        if name not in READ:
            raise AttributeError(
                f"a sensitivity has no {name!r}; expected an element in brackets, q, v, vd, lam, of, frame, "
                f"dataset, {', '.join(READ)}"
            )
        return self.of(lambda solution: getattr(solution, name))

    def frame(self, channels: ChannelChoice = None) -> pandas.DataFrame:
        """``solution.frame`` of derivatives; the unit of a column is that of the quantity, "rad per length"."""
        frame: Any = self.of(lambda solution: solution.frame(channels))
        units = self._solution.frame(channels).attrs["units"]
        frame.attrs["units"] = {name: f"{unit} per {self.name}" for name, unit in units.items()}
        return frame

    def dataset(self, channels: ChannelChoice = None) -> xarray.Dataset:
        """``solution.dataset`` of derivatives, with units as those of ``frame``."""
        dataset: Any = self.of(lambda solution: solution.dataset(channels))
        own = self._solution.dataset(channels)
        dataset.attrs = own.attrs
        for name, variable in own.items():
            about = {"units": f"{variable.attrs['units']} per {self.name}"}
            dataset[name].attrs = variable.attrs | about | {"long_name": f"derivative of {variable.attrs['long_name']}"}
        return dataset

    def _moved(self) -> Pairs:
        """Pairs of solutions: moved along the sensitivities, and in the systems with moved parameters.

        All at once where that moves all parts of a state by about as much as they can be moved. What a tiny parameter
        would move by less than their round-off, or a large one too far, is moved alone, in both of these systems: in
        the one between them something may be zero that acts in these.
        """
        if self._pairs is None:
            e, sizes, systems = self._size, self._sizes(), self._systems()
            names = [name for name, h in sizes.items() if LEAST * h <= e <= MOST * h]
            plus, minus = (self._beside(x, *self._parts(h, names)) for x, h in zip(systems, (e, -e), strict=True))
            pairs = [(plus, minus, e)]
            left = sorted((h, name) for name, h in sizes.items() if name not in names)
            while left:
                h, names = left[0][0], [name for other, name in left if other * LEAST <= left[0][0]]
                there, back = self._parts(h, names), self._parts(-h, names)
                pairs += [(self._beside(x, *there), self._beside(x, *back), 2.0 * h) for x in systems]
                left = [one for one in left if one[1] not in names]
            self._pairs = pairs
        return self._pairs

    def _sizes(self) -> dict[str, float]:
        """How far each part of the state can be moved along its sensitivity; nothing of those that stay."""
        s = self._solution
        lengths, extent = s.system.tables.vclass == 0, s.system.length
        # far away round-off is that of the distance, while what is near changes within the extent of the model
        reach = extent * max(1.0, float(np.abs(s.q).max(initial=0.0)) / extent) ** (1.0 / 3.0)
        moved, turned = (float(np.abs(self.q[:, which]).max(initial=0.0)) for which in (lengths, ~lengths))
        scales = {"q": max(moved / reach, turned)}
        for name in ("v", "vd", "lam"):
            slope, size = (float(np.abs(getattr(x, name)).max(initial=0.0)) for x in (self, s))
            scales[name] = slope / size if size > 0.0 else MOVED / self._size * (slope > 0.0)
        return {name: MOVED / x for name, x in scales.items() if x > 0.0}

    def _parts(self, e: float, names: list[str]) -> tuple[Array, dict[str, Array]]:
        """Coordinates, and what else makes a state, of which some parts are moved along their sensitivities."""
        s = self._solution
        q = s.q
        if "q" in names:
            q = np.array([s.system.update(one, e * d) for one, d in zip(q, self.q, strict=True)])
        others = ("v", "vd", "lam")
        return q, {x: getattr(s, x) + e * getattr(self, x) if x in names else getattr(s, x) for x in others}

    def _beside(self, system: System, q: Array, moved: dict[str, Any]) -> Solution:
        s = self._solution
        solution = Solution(system, s.t, q, **moved, turns=s.turns, integrator=s.integrator, inputs=s._acted)
        solution._own_channels.update(s._own_channels)
        solution._whole = s, 0  # turns and signs are those beside it
        return solution

    def __repr__(self) -> str:
        return f"<derivative with respect to {self.name!r} of {self._solution!r}>"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_pairs": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)


class Sensitivities(Mapping[str, Sensitivity]):
    """A solution, and how it changes with parameters: a mapping from their names to ``Sensitivity``.

    ``result.solution`` is that of ``simulate``, bit for bit. ``result.of("k", channel)`` is the derivative of anything
    that is read from a solution, at all records: ``channel`` is a function such as ``lambda s: s["tip"].position``.
    ``result.q("k")`` are derivatives of the configuration as increments (as long as velocities), ``v``, ``vd`` and
    ``lam`` those of velocities, accelerations and multipliers.
    """

    def __init__(self, solution: Solution, of: list[Sensitivity], rounds: float, notes: list[str]) -> None:
        self.solution, self._of, self.notes = solution, {one.name: one for one in of}, notes
        self.rounds = rounds
        """Corrections per step and parameter that were needed; 1 where the matrix of a step is good enough."""

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return list(self._of)

    def __getitem__(self, parameter: str | Parameter) -> Sensitivity:
        name = parameter.name if isinstance(parameter, Parameter) else parameter
        if name not in self._of:
            raise ModelError(f"sensitivities with respect to {name!r} were not computed; expected one of {self.names}")
        return self._of[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def q(self, parameter: str | Parameter) -> Array:
        """Derivatives of the configuration (n, n_v), as increments."""
        return self[parameter].q

    def v(self, parameter: str | Parameter) -> Array:
        """Derivatives of the velocities (n, n_v)."""
        return self[parameter].v

    def vd(self, parameter: str | Parameter) -> Array:
        """Derivatives of the accelerations (n, n_v)."""
        return self[parameter].vd

    def lam(self, parameter: str | Parameter) -> Array:
        """Derivatives of the multipliers (n, n_l)."""
        return self[parameter].lam

    def of(self, parameter: str | Parameter, channel: Callable[[Solution], Array]) -> Array:
        """The derivative of what a function reads from a solution: a central difference along the sensitivities."""
        return np.asarray(self[parameter].of(channel))

    def __repr__(self) -> str:
        return f"<sensitivities of {self.solution.model} with respect to {', '.join(map(repr, self.names))}>"


class Derivative:
    """The derivative of a view: of its attributes, and of what its methods return."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return derivative([(getattr(plus, name), getattr(minus, name), size) for plus, minus, size in self._pairs])

    def __dir__(self) -> list[str]:
        return dir(self._pairs[0][0])

    def __repr__(self) -> str:
        return f"<derivative of {self._pairs[0][0]!r}>"


def _read(read: Callable[[Solution], Any], solution: Solution) -> Any:
    """What a function reads, with parameters as numbers: those beside the parameter."""
    with in_force(NumbersAtRecords(solution, "sensitivity")):
        return read(solution)


def derivative(pairs: Pairs) -> Any:
    """The sum of central differences of things of the same kind: numbers, arrays, tuples of them, tables, views."""
    first = pairs[0][0]
    if first is None or isinstance(first, str | bool):
        return first
    if isinstance(first, np.ndarray | float | int | np.number | np.bool_):
        parts = [_difference(np.asarray(plus), np.asarray(minus), size) for plus, minus, size in pairs]
        return read_only(np.asarray(sum(parts[1:], parts[0])))
    if isinstance(first, tuple | list | dict):
        keys = first.keys() if isinstance(first, dict) else range(len(first))
        if any(len(x) != len(first) or (isinstance(x, dict) and x.keys() != keys) for *two, _ in pairs for x in two):
            raise _unlike(len(plus) for plus, *_ in pairs)
        found = {key: derivative([(plus[key], minus[key], size) for plus, minus, size in pairs]) for key in keys}
        if isinstance(first, dict):
            return found
        return type(first)(*found.values()) if hasattr(first, "_fields") else type(first)(found.values())
    if type(first).__module__.split(".")[0] in TABLES:
        return sum((plus - minus) / (2.0 * size) for plus, minus, size in pairs)
    if callable(first):
        return lambda *arguments, **options: derivative(
            [(plus(*arguments, **options), minus(*arguments, **options), size) for plus, minus, size in pairs]
        )
    return Derivative(pairs)


def _difference(plus: Array, minus: Array, size: float) -> Array:
    if plus.shape != minus.shape:
        raise _unlike((plus.shape, minus.shape))
    if plus.dtype.kind == "f" and minus.dtype.kind == "f":
        return np.asarray((plus - minus) / (2.0 * size))
    if not np.array_equal(plus, minus):
        raise ModelError(f"a quantity of type {plus.dtype} has no derivative; expected real numbers")
    return np.zeros(plus.shape)


def _unlike(found: Iterable[Any]) -> ModelError:
    shapes = " and ".join(map(str, found))
    return ModelError(
        f"what was read has no derivative: on both sides of the parameter it has other shapes ({shapes}); expected as "
        "many numbers for all motions, such as values at given records"
    )
