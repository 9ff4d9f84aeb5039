"""How a solution changes with parameters: derivatives of everything that can be read off it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements.values import Parameter
from ..errors import Array, ModelError, read_only
from .solution import Solution

if TYPE_CHECKING:
    import pandas
    import xarray

    from ..system.system import System
    from .tabular import ChannelChoice

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
        self._sides: tuple[Solution, Solution] | None = None

    @property
    def t(self) -> Array:
        """Times of the records."""
        return self._solution.t

    def of(self, read: Callable[[Solution], Any]) -> Any:
        """The derivative of what a function reads from a solution: a central difference along the sensitivities."""
        plus, minus = self._moved()
        return derivative(read(plus), read(minus), self._size)

    def __getitem__(self, element: Any) -> Any:
        """Derivatives of what the solution tells of an element; by object or by name."""
        plus, minus = self._moved()
        return derivative(plus[element], minus[element], self._size)

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

    def _moved(self) -> tuple[Solution, Solution]:
        """Solutions moved along the sensitivities, in the systems with moved parameters."""
        if self._sides is None:
            plus, minus = self._systems()
            self._sides = self._beside(self._size, plus), self._beside(-self._size, minus)
        return self._sides

    def _beside(self, e: float, system: System) -> Solution:
        s = self._solution
        q = np.array([system.update(one, e * d) for one, d in zip(s.q, self.q, strict=True)])
        moved: dict[str, Any] = {"v": s.v + e * self.v, "vd": s.vd + e * self.vd, "lam": s.lam + e * self.lam}
        solution = Solution(system, s.t, q, **moved, turns=s.turns, integrator=s.integrator, inputs=s._acted)
        solution._own_channels.update(s._own_channels)
        solution._whole = s, 0  # turns and signs are those beside it
        return solution

    def __repr__(self) -> str:
        return f"<derivative with respect to {self.name!r} of {self._solution!r}>"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_sides": None}

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
        """Of the parameters."""
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

    def __init__(self, plus: Any, minus: Any, size: float) -> None:
        self._plus, self._minus, self._size = plus, minus, size

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return derivative(getattr(self._plus, name), getattr(self._minus, name), self._size)

    def __dir__(self) -> list[str]:
        return dir(self._plus)

    def __repr__(self) -> str:
        return f"<derivative of {self._plus!r}>"


def derivative(plus: Any, minus: Any, size: float) -> Any:
    """Central difference of two things of the same kind: numbers, arrays, tuples of them, tables, views."""
    if isinstance(plus, np.ndarray | float | int | np.number) and not isinstance(plus, bool):
        if np.asarray(plus).dtype.kind != "f" and not np.array_equal(plus, minus):
            raise ModelError(f"a quantity of type {np.asarray(plus).dtype} has no derivative; expected real numbers")
        return read_only(np.asarray((plus - minus) / (2.0 * size)))
    if isinstance(plus, tuple | list):
        found = [derivative(a, b, size) for a, b in zip(plus, minus, strict=True)]
        return type(plus)(*found) if hasattr(plus, "_fields") else type(plus)(found)
    if type(plus).__module__.split(".")[0] in TABLES:
        return (plus - minus) / (2.0 * size)
    if plus is None or isinstance(plus, str | bool):
        return plus
    if callable(plus):
        return lambda *arguments, **options: derivative(plus(*arguments, **options), minus(*arguments, **options), size)
    return Derivative(plus, minus, size)
