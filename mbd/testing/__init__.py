"""Checks for everything that can be added to the toolkit: nodes, primitives, joints, forces, whole systems.

They compare what the kernels say analytically with fourth-order central differences taken through ``system.update``,
with the laws of the rotation group, and with textbook mechanics::

    from mbd.testing import check_joint, random_node

    check_joint(lambda a, b: MyJoint(a, b, at=(0, 0, 1)), random_node(mbd.nodes.Quaternion), None)

Each check raises an ``AssertionError`` that names the quantity, the largest deviation and where it occurs.
"""

from .comparison import (
    DIFFERENCE_TOLERANCE,
    EXACT_TOLERANCE,
    derivative,
    jacobian,
    observed_order,
    random_node,
    second_derivative,
)
from .elements import check_force, check_joint, check_primitive
from .nodes import check_node
from .systems import check_system

__all__ = [
    "DIFFERENCE_TOLERANCE",
    "EXACT_TOLERANCE",
    "check_force",
    "check_joint",
    "check_node",
    "check_primitive",
    "check_system",
    "derivative",
    "jacobian",
    "observed_order",
    "random_node",
    "second_derivative",
]


def __dir__() -> list[str]:
    return __all__
