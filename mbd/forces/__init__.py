"""Forces: springs, dampers, applied loads, and what acts on joints. Gravity belongs to the model."""

import warnings
from typing import Any

from mbd.forces.actuators import Motor, PDControl
from mbd.forces.data import ElementData, ForceData
from mbd.forces.force import ForceElement
from mbd.forces.gravity_compensation import GravityCompensation
from mbd.forces.joint_forces import JointForce, JointFriction, JointLimit
from mbd.forces.laws import Drag, Gravitation, GreenSpring, NonlinearSpring
from mbd.forces.loads import Force, Torque
from mbd.forces.springs import Bushing, Spring, TorsionSpring
from mbd.forces.user import UserForce, UserPotential

__all__ = [
    "Bushing",
    "Drag",
    "ElementData",
    "Force",
    "ForceData",
    "ForceElement",
    "Gravitation",
    "GravityCompensation",
    "GreenSpring",
    "JointForce",
    "JointFriction",
    "JointLimit",
    "Motor",
    "NonlinearSpring",
    "PDControl",
    "Spring",
    "Torque",
    "TorsionSpring",
    "UserForce",
    "UserPotential",
]
_FORMER_NAMES = {"ForceRow": ForceData, "GeneralRow": ElementData}


def __getattr__(name: str) -> Any:
    if name not in _FORMER_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    now = _FORMER_NAMES[name]
    warnings.warn(f"mbd.forces.{name} is called {now.__name__} now", DeprecationWarning, stacklevel=2)
    return now


def __dir__() -> list[str]:
    return __all__
