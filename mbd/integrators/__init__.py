"""Time integrators. All are written against ``System`` only and know no node, joint or force."""

from .alpha.adaptive import AdaptiveAlpha
from .alpha.methods import GeneralizedAlpha
from .base import Integrator, Invariant, Trait
from .bliedf.methods import BLieDF
from .composition.methods import Composition
from .energy_momentum.hamilton import HamiltonianEM, HamiltonianMidpoint
from .energy_momentum.livens import LivensEM, LivensMidpoint
from .energy_momentum.methods import GonzalezEM, LieEM
from .ggl.methods import GGLEM, GGLEuler, GGLMidpoint, GGLTrapezoidal
from .lobatto.methods import Lobatto
from .rattlie.methods import RATTLie
from .rigid_body import (
    BobenkoSuris,
    JacobiExact,
    MoserVeselov,
    NystromSplitting,
    RigidMidpoint,
    RotationSplitting,
    SRKN6b,
    SRKN11b,
    SRKN14a,
    Strang,
    SymmetricSplitting,
)
from .runge_kutta.methods import DOPRI5, HEDOP5, ODE23, RK4, RK6
from .stormer.methods import Rattle, Shake
from .user import PythonIntegrator
from .variational.methods import DiscreteVariational

__all__ = [
    "DOPRI5",
    "GGLEM",
    "HEDOP5",
    "ODE23",
    "RK4",
    "RK6",
    "AdaptiveAlpha",
    "BLieDF",
    "BobenkoSuris",
    "Composition",
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
    "Lobatto",
    "MoserVeselov",
    "NystromSplitting",
    "PythonIntegrator",
    "RATTLie",
    "Rattle",
    "RigidMidpoint",
    "RotationSplitting",
    "SRKN6b",
    "SRKN11b",
    "SRKN14a",
    "Shake",
    "Strang",
    "SymmetricSplitting",
    "Trait",
]


def __dir__() -> list[str]:
    return __all__
