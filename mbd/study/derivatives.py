"""Derivatives of an output from the run itself: sensitivities in the place of differences of runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Array, ModelError
from .runs import Function, as_output

DIFFERENCES, SENSITIVITIES = "differences", "sensitivities"


@dataclass(frozen=True)
class WithDerivatives:
    """An output, followed by its derivatives with respect to parameters; for workers."""

    read: Function
    names: tuple[str, ...]

    def __call__(self, solution: Any) -> Array:
        """(1 + parameters, ...): the output first."""
        found = [solution.sensitivity(name).of(self.read) for name in self.names]
        return np.stack([np.asarray(self.read(solution), dtype=float), *found])


def with_derivatives(
    who: str, derivatives: str, build: Any, simulate: Any, output: Any, names: tuple[str, ...]
) -> tuple[Any, Any]:
    """(arguments of ``mbd.simulate``, output) for the derivatives that are asked for."""
    if derivatives == DIFFERENCES:
        return simulate, output
    if derivatives != SENSITIVITIES:
        raise ModelError(f"{who}: derivatives = {derivatives!r}; expected {DIFFERENCES!r} or {SENSITIVITIES!r}")
    from ..model import Model

    if not isinstance(build, Model):
        raise ModelError(
            f"{who}: sensitivities are those of the parameters of a model, and build is {build!r}; expected a model "
            f"with parameters (model.parameter), or derivatives={DIFFERENCES!r}"
        )
    if not isinstance(simulate, Mapping):
        raise ModelError(
            f"{who}: simulate is {simulate!r}; expected dict(t_end=..., step=...) where derivatives are sensitivities"
        )
    return {**simulate, "sensitivities": list(names)}, WithDerivatives(as_output("output", output), names)
