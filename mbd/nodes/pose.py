"""Between coordinates and poses: a rotation as quaternion, and its velocity, in whatever a node stores.

Integrators that advance rotations on their own (``mbd.integrators.rigid_body``) read a node once and write it for
every record; in between they know nothing about it.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.quaternions import axes_to_quaternion, multiply_quaternions, quaternion_axes
from ..math.so3 import exp_quaternion, log_quaternion
from .forms import FORM_LIE, FORM_SPIN
from .frames import node_frame, spin_axes
from .kinds import DIRECTORS, EULER_ANGLES, QUATERNION, ROTATION_VECTOR
from .spin import axes_to_euler, spin_determinant, spin_matrix
from .update import CHART_LIMIT, solve_spin


@kernel
def node_quaternion(n, q, z):
    """Unit quaternion of a node's rotation; z is scratch for a frame."""
    k = n.q0 + n.nx
    if n.kind == QUATERNION:
        return q[k], q[k + 1], q[k + 2], q[k + 3]
    if n.kind == ROTATION_VECTOR:
        return exp_quaternion(q[k], q[k + 1], q[k + 2])
    node_frame(n, q, z)
    return axes_to_quaternion(z)


@kernel
def write_position(n, r1, r2, r3, u1, u2, u3, q, v):
    """Store position and velocity of the reference point, unless it is pinned."""
    if n.nx == 3:
        j, k = n.q0, n.v0
        q[j], q[j + 1], q[j + 2] = r1, r2, r3
        v[k], v[k + 1], v[k + 2] = u1, u2, u3


@kernel
def write_rotation(n, e0, e1, e2, e3, w1, w2, w3, q, v, z, zd, g):
    """Store a unit quaternion and a body angular velocity; fills the axes of z and zd.

    Returns 0, or 1 where conventional Euler angles have no rates (gimbal lock); g is scratch for G.
    """
    j, k = n.q0 + n.nx, n.v0 + n.nx
    quaternion_axes(e0, e1, e2, e3, z)
    spin_axes(z, w1, w2, w3, zd)
    if n.kind == QUATERNION:
        q[j], q[j + 1], q[j + 2], q[j + 3] = e0, e1, e2, e3
    elif n.kind == ROTATION_VECTOR:
        q[j], q[j + 1], q[j + 2] = log_quaternion(e0, e1, e2, e3)
    elif n.kind == DIRECTORS:
        for m in range(9):
            q[j + m] = z[3 + m]
    elif n.kind == EULER_ANGLES:
        q[j], q[j + 1], q[j + 2] = axes_to_euler(n.axis1, n.axis2, n.axis3, z)
    if n.form == FORM_LIE:
        v[k], v[k + 1], v[k + 2] = w1, w2, w3
    elif n.form == FORM_SPIN:
        spin_matrix(n, q, g)
        if not abs(spin_determinant(g)) > CHART_LIMIT:
            return 1
        solve_spin(g, w1, w2, w3, v[k:])
    elif n.kind == QUATERNION:
        x0, x1, x2, x3 = multiply_quaternions(e0, e1, e2, e3, 0.0, 0.5 * w1, 0.5 * w2, 0.5 * w3)
        v[k], v[k + 1], v[k + 2], v[k + 3] = x0, x1, x2, x3
    elif n.kind == DIRECTORS:
        for m in range(9):
            v[k + m] = zd[3 + m]
    return 0
