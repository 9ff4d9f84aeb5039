"""Forces: springs, dampers and applied loads. Gravity belongs to the model."""

from mbd.forces.force import Force as ForceElement
from mbd.forces.loads import Force, Torque
from mbd.forces.row import ForceRow
from mbd.forces.springs import Bushing, Spring, TorsionSpring

__all__ = ["Bushing", "Force", "ForceElement", "ForceRow", "Spring", "Torque", "TorsionSpring"]
