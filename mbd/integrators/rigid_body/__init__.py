"""Methods for rigid bodies that move on their own: exact, splittings, discrete Moser-Veselov, with forces."""

from .methods import (
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

__all__ = [
    "BobenkoSuris",
    "JacobiExact",
    "MoserVeselov",
    "NystromSplitting",
    "RigidMidpoint",
    "RotationSplitting",
    "SRKN6b",
    "SRKN11b",
    "SRKN14a",
    "Strang",
    "SymmetricSplitting",
]
