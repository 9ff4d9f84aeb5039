"""mbd: modular multibody dynamics. One model, any coordinates, every integrator."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mbd.rotation import rotation  # eager: the submodule of the same name must not hide the function

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mbd import benchmarks, bodies, forces, integrators, joints, nodes, sensors, shapes, study, testing
    from mbd.bodies import Generalized, Ground, PointMass, RigidBody
    from mbd.bodies.mass_properties import MassProperties, composite, mass_properties
    from mbd.citing import cite
    from mbd.elements.values import calculated
    from mbd.errors import (
        AccuracyWarning,
        AssemblyError,
        ConvergenceError,
        FileError,
        IncompatibleError,
        MbdError,
        ModelError,
        ModelWarning,
        RedundancyWarning,
        SingularityError,
        StudyError,
        UserFunctionError,
    )
    from mbd.io.archive import load
    from mbd.io.mjcf.loader import load_mjcf
    from mbd.io.urdf import load_urdf
    from mbd.model import Model
    from mbd.results.events import Event, find_events
    from mbd.results.solution import Solution
    from mbd.simulation.driven import inverse_dynamics, kinematics
    from mbd.simulation.fmu import export_fmu
    from mbd.simulation.sensitivities import sensitivities
    from mbd.simulation.simulation import simulate
    from mbd.simulation.simulator import Simulator
    from mbd.solvers.diagnosis import diagnose
    from mbd.solvers.equilibrium import equilibrium
    from mbd.solvers.initial import consistent_start
    from mbd.solvers.linearisation import linearize
    from mbd.solvers.states import model_at
    from mbd.study.compare import compare
    from mbd.study.compatibility import compatibility
    from mbd.system.system import System, assemble
    from mbd.view.window import show

# public name -> module that defines it; loaded when first used, so that importing the package stays fast
_LAZY = {
    **dict.fromkeys(("RigidBody", "PointMass", "Generalized", "Ground"), "mbd.bodies"),
    **dict.fromkeys(
        (
            "MbdError", "ModelError", "AssemblyError", "IncompatibleError", "ConvergenceError", "SingularityError",
            "FileError", "StudyError", "UserFunctionError", "RedundancyWarning", "ModelWarning", "AccuracyWarning",
        ),
        "mbd.errors",
    ),
    "Model": "mbd.model",
    "calculated": "mbd.elements.values",
    "cite": "mbd.citing",
    "simulate": "mbd.simulation.simulation",
    "sensitivities": "mbd.simulation.sensitivities",
    "export_fmu": "mbd.simulation.fmu",
    "Simulator": "mbd.simulation.simulator",
    **dict.fromkeys(("kinematics", "inverse_dynamics"), "mbd.simulation.driven"),
    "Solution": "mbd.results.solution",
    "load": "mbd.io.archive",
    "load_mjcf": "mbd.io.mjcf.loader",
    "load_urdf": "mbd.io.urdf",
    "assemble": "mbd.system.system",
    "System": "mbd.system.system",
    "consistent_start": "mbd.solvers.initial",
    "show": "mbd.view.window",
    "compare": "mbd.study.compare",
    "compatibility": "mbd.study.compatibility",
    "diagnose": "mbd.solvers.diagnosis",
    **dict.fromkeys(("Event", "find_events"), "mbd.results.events"),
    "model_at": "mbd.solvers.states",
    "equilibrium": "mbd.solvers.equilibrium",
    "linearize": "mbd.solvers.linearisation",
    **dict.fromkeys(("MassProperties", "mass_properties", "composite"), "mbd.bodies.mass_properties"),
}  # fmt: skip
_MODULES = {
    "bodies": "mbd.bodies",
    "nodes": "mbd.nodes",
    "joints": "mbd.joints",
    "forces": "mbd.forces",
    "integrators": "mbd.integrators",
    "shapes": "mbd.shapes",
    "testing": "mbd.testing",
    "view": "mbd.view",
    "benchmarks": "mbd.benchmarks",
    "sensors": "mbd.sensors",
    "study": "mbd.study",
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
