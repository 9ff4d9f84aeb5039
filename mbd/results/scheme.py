"""Variables of a scheme, as its authors define them, at the records of a run: ``solution.scheme["gamma"]``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ..errors import Array, ModelError, read_only

if TYPE_CHECKING:
    from .solution import Solution


class Scheme(Mapping[str, Array]):
    """Multipliers, momenta and the like of the equations of a method, by their names in the literature.

    They are not reactions, which are values at the times of the records (``solution[joint].force``): a variable of a
    scheme may belong to the middle of a step, may alternate, and may be of lower order. ``time`` says when it lives,
    ``print(solution.scheme)`` what it is. Those that belong to a step are those of the step that ends at the record,
    and not a number at the first one.
    """

    def __init__(self, solution: Solution, recorded: Mapping[str, Array], derived: bool = True) -> None:
        self.solution, self.derived = solution, derived
        self.recorded = {name: x for name, x in recorded.items() if x.shape[1]}
        known = getattr(solution.integrator, "variables", {})
        self.variables = {name: known[name] for name in known if name in self.recorded or self._is_derived(name)}
        self._derived: dict[str, Array] = {}

    def _is_derived(self, name: str) -> bool:
        return self.derived and name in getattr(self.solution.integrator, "derived", ())

    def _check(self, name: str) -> None:
        if name not in self.variables:
            method = type(self.solution.integrator).__name__
            if not self.derived and name in getattr(self.solution.integrator, "variables", {}):
                raise ModelError(
                    f"scheme: variables of {method} are known at the records of its steps only, and {name!r} was "
                    "asked for between them; events cannot depend on them"
                )
            names = ", ".join(f"{key!r}" for key in self.variables)
            raise ModelError(
                f"scheme: {method} has no variable {name!r}; "
                + (f"expected one of {names}" if names else "it has none besides what every solution has")
            )

    def __getitem__(self, name: str) -> Array:
        self._check(name)
        if not self._is_derived(name):
            return read_only(self.recorded[name])
        if name not in self._derived:
            self._derived[name] = read_only(self.solution.integrator.variable(self.solution, name))
        return self._derived[name]

    def __contains__(self, name: object) -> bool:
        return name in self.variables

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of a variable at one record."""
        self._check(name)
        return self.recorded[name].shape[1:] if name in self.recorded else self[name].shape[1:]

    def time(self, name: str) -> Array:
        """The times (n,) to which the values of a variable belong."""
        self._check(name)
        return read_only(self.solution.t + self.variables[name].shift * float(self.solution.stats["step"]))

    def __repr__(self) -> str:
        lines = [f"{name}: {x.meaning}, at t{x.shift:+g} h".replace("t+0 h", "t") for name, x in self.variables.items()]
        return "\n".join([f"<scheme of {self.solution!r}>", *lines])
