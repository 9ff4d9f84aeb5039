"""Between coordinates and poses: a rotation as quaternion, and its velocity, in whatever a node stores.

Integrators that advance rotations on their own (``mbd.integrators.rigid_body``) read a node once and write it for
every record; in between they know nothing about it. Those that are written for quaternions ``convert`` Lie nodes.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.quaternions import axes_to_quaternion, g_times, g_transposed, multiply_quaternions, quaternion_axes
from ..math.so3 import exp_quaternion, log_quaternion
from .forms import FORM_LIE, FORM_QUATERNION, FORM_SPIN
from .frames import node_frame, spin_axes
from .kinds import DIRECTORS, EULER_ANGLES, QUATERNION, ROTATION_VECTOR
from .spin import axes_to_euler, spin_determinant, spin_matrix
from .update import CHART_LIMIT, _solve_spin


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
        q[j], q[j + 1], q[j + 2] = axes_to_euler(n.axis1, n.axis2, n.axis3, z, g)
    if n.form == FORM_LIE:
        v[k], v[k + 1], v[k + 2] = w1, w2, w3
    elif n.form == FORM_SPIN:
        spin_matrix(n, q, g)
        if not abs(spin_determinant(g)) > CHART_LIMIT:
            return 1
        _solve_spin(g, w1, w2, w3, v[k:])
    elif n.kind == QUATERNION:
        x0, x1, x2, x3 = multiply_quaternions(e0, e1, e2, e3, 0.0, 0.5 * w1, 0.5 * w2, 0.5 * w3)
        v[k], v[k + 1], v[k + 2], v[k + 3] = x0, x1, x2, x3
    elif n.kind == DIRECTORS:
        for m in range(9):
            v[k + m] = zd[3 + m]
    return 0


@kernel
def convert(nodes, targets, q, v, vd, out_q, out_v, out_vd, z, scratch):
    """Between Lie nodes and conventional quaternions; other nodes are copied.

    With e_dot = e o (0, omega)/2: omega = 2 G(e) e_dot and omega_dot = 2 G(e) e_ddot, because G(e_dot) e_dot = 0;
    e_ddot = e o (0, omega_dot)/2 - |omega|^2/4 e.
    """
    for row in range(q.shape[0]):
        for i in range(1, nodes.shape[0]):
            n, m = nodes[i], targets[i]
            if n.form == m.form:
                for k in range(n.nq):
                    out_q[row, m.q0 + k] = q[row, n.q0 + k]
                for k in range(n.nv):
                    out_v[row, m.v0 + k] = v[row, n.v0 + k]
                    out_vd[row, m.v0 + k] = vd[row, n.v0 + k]
                continue
            x, u, a = q[row], v[row], vd[row]
            if n.nx == 3:
                j, k = n.q0, n.v0
                write_position(m, x[j], x[j + 1], x[j + 2], u[k], u[k + 1], u[k + 2], out_q[row], out_v[row])
                for c in range(3):
                    out_vd[row, m.v0 + c] = a[k + c]
            e0, e1, e2, e3 = node_quaternion(n, x, z)
            k, o = n.v0 + n.nx, m.v0 + m.nx
            if n.form == FORM_QUATERNION:
                w1, w2, w3 = g_times(e0, e1, e2, e3, u[k], u[k + 1], u[k + 2], u[k + 3])
                d1, d2, d3 = g_times(e0, e1, e2, e3, a[k], a[k + 1], a[k + 2], a[k + 3])
                w1, w2, w3 = 2.0 * w1, 2.0 * w2, 2.0 * w3
                write_rotation(m, e0, e1, e2, e3, w1, w2, w3, out_q[row], out_v[row], scratch[0], scratch[1], z)
                out_vd[row, o], out_vd[row, o + 1], out_vd[row, o + 2] = 2.0 * d1, 2.0 * d2, 2.0 * d3
            else:
                w1, w2, w3 = u[k], u[k + 1], u[k + 2]
                write_rotation(m, e0, e1, e2, e3, w1, w2, w3, out_q[row], out_v[row], scratch[0], scratch[1], z)
                d0, d1, d2, d3 = g_transposed(e0, e1, e2, e3, 0.5 * a[k], 0.5 * a[k + 1], 0.5 * a[k + 2])
                c = 0.25 * (w1 * w1 + w2 * w2 + w3 * w3)
                out_vd[row, o], out_vd[row, o + 1] = d0 - c * e0, d1 - c * e1
                out_vd[row, o + 2], out_vd[row, o + 3] = d2 - c * e2, d3 - c * e3
