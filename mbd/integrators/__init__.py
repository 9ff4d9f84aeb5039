"""Time integrators. All are written against ``System`` only and know no node, joint or force."""

from .base import Integrator, Invariant, Trait
from .generalized_alpha import GeneralizedAlpha
from .python import PythonIntegrator
from .rigid_body import (
    BobenkoSuris,
    JacobiExact,
    MoserVeselov,
    NystromSplitting,
    RigidMidpoint,
    RotationSplitting,
    Strang,
    SymmetricSplitting,
)
from .runge_kutta import DOPRI5, ODE23, RK4, RK6

__all__ = [
    "DOPRI5",
    "ODE23",
    "RK4",
    "RK6",
    "BobenkoSuris",
    "GeneralizedAlpha",
    "Integrator",
    "Invariant",
    "JacobiExact",
    "MoserVeselov",
    "NystromSplitting",
    "PythonIntegrator",
    "RigidMidpoint",
    "RotationSplitting",
    "Strang",
    "SymmetricSplitting",
    "Trait",
]
