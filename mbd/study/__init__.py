"""Studies: sweeps over parameters, optimisation, identification; integrators and coordinates compared on one model."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .distributions import (
        Distribution,
        choice,
        lognormal,
        loguniform,
        normal,
        triangular,
        truncated_normal,
        uniform,
    )  # fmt: skip
    from .identification import Identification
    from .identifying import identify
    from .minimising import Minimum, minimize
    from .parameter_study import FailedRun, ParameterStudy
    from .reruns import rerun
    from .sweeping import load, sweep

# public name -> module that defines it; loaded when first used
_LAZY = {
    **dict.fromkeys(("sweep", "load"), "sweeping"),
    "rerun": "reruns",
    **dict.fromkeys(("minimize", "Minimum"), "minimising"),
    "identify": "identifying",
    "Identification": "identification",
    **dict.fromkeys(("ParameterStudy", "FailedRun"), "parameter_study"),
    **dict.fromkeys(
        (
            "Distribution", "choice", "lognormal", "loguniform", "normal", "triangular", "truncated_normal", "uniform",
        ),
        "distributions",
    ),
}  # fmt: skip

__all__ = sorted(_LAZY)


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        value = getattr(importlib.import_module(f"mbd.study.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mbd.study' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
