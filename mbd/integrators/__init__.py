"""Time integrators. All are written against ``System`` only and know no node, joint or force."""

from .base import Integrator, Invariant, Trait
from .generalized_alpha import GeneralizedAlpha
from .ggl import GGLEM, GGLEuler, GGLMidpoint, GGLTrapezoidal
from .hamilton import HamiltonianEM, HamiltonianMidpoint
from .lie_em import GonzalezEM, LieEM
from .livens import LivensEM, LivensMidpoint
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
from .variational import DiscreteVariational, Rattle, Shake

__all__ = [
    "DOPRI5",
    "GGLEM",
    "ODE23",
    "RK4",
    "RK6",
    "BobenkoSuris",
    "DiscreteVariational",
    "GGLEuler",
    "GGLMidpoint",
    "GGLTrapezoidal",
    "GeneralizedAlpha",
    "GonzalezEM",
    "HamiltonianEM",
    "HamiltonianMidpoint",
    "Integrator",
    "Invariant",
    "JacobiExact",
    "LieEM",
    "LivensEM",
    "LivensMidpoint",
    "MoserVeselov",
    "NystromSplitting",
    "PythonIntegrator",
    "Rattle",
    "RigidMidpoint",
    "RotationSplitting",
    "Shake",
    "Strang",
    "SymmetricSplitting",
    "Trait",
]
