"""Runs of a system that is assembled once, with other numbers each time."""

from __future__ import annotations

from typing import Any

from ..errors import ModelError
from ..results.balance import warn_of_gross_errors
from ..results.solution import Solution
from ..system.following import Inputs
from ..system.handles import ParameterHandle, Values
from ..system.system import System
from .simulation import run_simulation


class LentSystem(System):
    """A system whose numbers may be changed for another run: it can be read until then."""

    def __init__(self, handle: ParameterHandle) -> None:
        own = vars(handle.system.private())
        vars(self).update({name: x for name, x in own.items() if name not in ("tables", "work")})
        vars(self).update(_handle=handle, _version=handle.version, _tables=own["tables"], _work=own["work"])

    def _check(self) -> None:
        handle, version = vars(self)["_handle"], vars(self)["_version"]
        if handle.version != version:
            raise ModelError(
                f"{self.model}: the numbers of this run have been changed for another one; read a solution before the "
                "next run, or make one that lasts: mbd.simulate(handle.model(values), ...)"
            )

    @property
    def tables(self) -> Any:  # type: ignore[override]
        """The tables, as long as they are those of this run."""
        self._check()
        return vars(self)["_tables"]

    @property
    def inputs(self) -> Inputs:  # type: ignore[override]
        """Inputs by name, as long as they are those of this run."""
        self._check()
        return Inputs(self)

    @property
    def work(self) -> Any:  # type: ignore[override]
        """Buffers of its own."""
        return vars(self)["_work"]

    @work.setter
    def work(self, value: Any) -> None:
        vars(self)["_work"] = value


class PreparedRun:
    """Runs with the same times and the same method: ``run(values)`` changes the numbers and returns the solution.

    The solution is that of a fresh model, bit for bit. It can be read until the next run: then it refuses what it has
    not computed by then. ``handle.run(...)`` makes it.
    """

    def __init__(
        self, handle: ParameterHandle, t_end: float, step: float, integrator: Any, options: dict[str, Any]
    ) -> None:
        unknown = set(options) - {"t_start", "output_step", "fixed", "events"}
        if unknown:
            raise ModelError(f"run: {sorted(unknown)[0]}= is not known; expected t_start, output_step, fixed, events")
        self.handle = handle
        self._arguments = {"t_end": t_end, "step": step, "integrator": integrator, "progress": False, **options}

    def __call__(self, values: Values | None = None) -> Solution:
        """The solution with these numbers, by name or in the order of the handle; None: with the present ones."""
        if values is not None:
            self.handle.set(values)
        system = self.handle.system
        system._following.settle()
        solution, step = run_simulation(system.model, **self._arguments, system=LentSystem(self.handle))
        if solution.complete:
            warn_of_gross_errors(solution, step, stacklevel=2)
        return solution
