"""Forces: springs, dampers, applied loads, and what acts on joints. Gravity belongs to the model."""

from mbd.forces.actuators import Motor, PDControl
from mbd.forces.force import Force as ForceElement
from mbd.forces.gravity_compensation import GravityCompensation
from mbd.forces.joint_forces import JointForce, JointFriction, JointLimit
from mbd.forces.laws import Drag, Gravitation, GreenSpring, NonlinearSpring
from mbd.forces.loads import Force, Torque
from mbd.forces.row import ForceRow, GeneralRow
from mbd.forces.springs import Bushing, Spring, TorsionSpring
from mbd.forces.user import UserForce, UserPotential

__all__ = [
    "Bushing",
    "Drag",
    "Force",
    "ForceElement",
    "ForceRow",
    "GeneralRow",
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


def __dir__() -> list[str]:
    return __all__
