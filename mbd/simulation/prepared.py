"""Runs of a system that is assembled once, with other numbers each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..elements.settling import Late, is_ours
from ..errors import ModelError
from ..results.balance import warn_of_gross_errors
from ..results.solution import Solution
from ..system.following import Inputs
from ..system.handles import ParameterHandle, Values
from ..system.system import System
from .simulation import Prepared, run_simulation

OPTIONS = ("t_start", "output_step", "fixed", "events")  # arguments of ``mbd.simulate`` that a prepared run takes
LENT = ("_handle", "_version", "_tables", "_work", "_acting")


class LentSystem(System):
    """A system whose numbers may be changed for another run: it can be read until then."""

    def __init__(self, handle: ParameterHandle, work: Any) -> None:
        system = handle.system
        if system.values:
            _ = system.inputs, system._following  # of which there is one for the same tables
        own = {name: x for name, x in vars(system).items() if name not in ("tables", "work")}
        vars(self).update(own, _handle=handle, _version=handle.version, _tables=system.tables, _work=work)
        vars(self)["_acting"] = dict(system.values)

    def _late(self, make: Callable[[], Any], known: Any) -> Any:
        """When it is asked for, and refused after another run; at once if functions of users act."""
        if self.assembly.callbacks or not is_ours(self.model):
            return make()

        def made() -> Any:
            self._check()
            return make()

        return Late(self.model, made, known, lambda: self._is_over)

    @property
    def _is_over(self) -> bool:
        """Whether the numbers are those of another run."""
        own = vars(self)
        return bool(own["_handle"].version != own["_version"]) or own["_acting"] != own["values"]

    def _check(self) -> None:
        if self._is_over:
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
        """Buffers that no run uses: whoever evaluates them counts turns for himself alone."""
        return vars(self)["_work"]

    @work.setter
    def work(self, value: Any) -> None:
        vars(self)["_work"] = value

    def __reduce__(self) -> Any:
        """A copy, also in another process, is a system of its own, whose numbers nobody changes."""
        self._check()
        return object.__new__, (System,), {name: x for name, x in self.__getstate__().items() if name not in LENT}


class PreparedRun:
    """Runs with the same times and the same method: ``run(values)`` changes the numbers and returns the solution.

    The solution is that of a fresh model, bit for bit. It can be read until the next run: then it refuses what it has
    not computed by then. ``handle.run(...)`` makes it. Buffers are those of the run before.
    """

    def __init__(
        self, handle: ParameterHandle, t_end: float, step: float, integrator: Any, options: dict[str, Any]
    ) -> None:
        unknown = set(options) - set(OPTIONS)
        if unknown:
            raise ModelError(f"run: {sorted(unknown)[0]}= is not known; expected {', '.join(OPTIONS)}")
        self.handle = handle
        self._arguments = {"t_end": t_end, "step": step, "integrator": integrator, "progress": False, **options}
        self._work = handle.system.new_work()  # nobody reads the solutions of two runs
        self._prepared = Prepared(handle.system, self._lent)

    def __reduce__(self) -> Any:
        """A copy is a run of its own, prepared where it arrives."""
        options = {name: x for name, x in self._arguments.items() if name in OPTIONS}
        times = (self._arguments[name] for name in ("t_end", "step", "integrator"))
        return PreparedRun, (self.handle, *times, options)

    def _lent(self) -> LentSystem:
        self.handle.system.prepare_work(self._work)  # places of pinned bodies are those of this run
        return LentSystem(self.handle, self._work)

    def __call__(self, values: Values | None = None) -> Solution:
        """The solution with these numbers, by name or in the order of the handle; None: with the present ones."""
        if values is not None:
            self.handle.set(values)
        system = self.handle.system
        system._following.settle()
        solution, step = run_simulation(system.model, **self._arguments, prepared=self._prepared)
        if solution.complete:
            warn_of_gross_errors(solution, step, stacklevel=2)
        return solution
