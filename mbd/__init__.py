"""mbd: modular multibody dynamics. One model, any coordinates, every integrator."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mbd.rotation import rotation  # eager: the submodule of the same name must not hide the function

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mbd import forces, integrators, joints, nodes, shapes, testing, view  # type: ignore[attr-defined]
    from mbd.bodies import Generalized, Ground, PointMass, RigidBody
    from mbd.errors import (
        AssemblyError,
        ConvergenceError,
        IncompatibleError,
        MbdError,
        ModelError,
        ModelWarning,
        RedundancyWarning,
        SingularityError,
    )
    from mbd.io.archive import load
    from mbd.model import Model
    from mbd.simulation import simulate
    from mbd.solution import Solution
    from mbd.solvers.initial import consistent_start
    from mbd.system.system import System, assemble
    from mbd.view.window import show

# public name -> module that defines it; loaded when first used, so that importing the package stays fast
_LAZY = {
    **dict.fromkeys(("RigidBody", "PointMass", "Generalized", "Ground"), "mbd.bodies"),
    **dict.fromkeys(
        (
            "MbdError", "ModelError", "AssemblyError", "IncompatibleError", "ConvergenceError", "SingularityError",
            "RedundancyWarning", "ModelWarning",
        ),
        "mbd.errors",
    ),
    "Model": "mbd.model",
    "simulate": "mbd.simulation",
    "Solution": "mbd.solution",
    "load": "mbd.io.archive",
    "assemble": "mbd.system.system",
    "System": "mbd.system.system",
    "consistent_start": "mbd.solvers.initial",
    "show": "mbd.view.window",
}  # fmt: skip
_MODULES = {
    "nodes": "mbd.nodes",
    "joints": "mbd.joints",
    "forces": "mbd.forces",
    "integrators": "mbd.integrators",
    "shapes": "mbd.bodies.shapes",
    "testing": "mbd.testing",
    "view": "mbd.view",
}

__all__ = sorted([*_LAZY, *_MODULES, "__version__", "rotation"])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mbd' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
