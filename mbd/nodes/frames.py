"""From coordinates to frames: z(q), its velocity, and its acceleration at zero coordinate acceleration.

The frame ``z = (r, d1, d2, d3)`` is all that joints and forces see. Here, and only here, it is said how each
parametrisation makes one. Kernels dispatch on ``form`` (how the frame moves) and ``kind`` (how it is stored).
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.quaternions import bilinear_axes, quaternion_axes
from ..math.so3 import exp_quaternion
from .forms import FORM_DIRECTORS, FORM_GENERALIZED, FORM_GROUND, FORM_LIE, FORM_POINT, FORM_QUATERNION, FORM_SPIN
from .kinds import DIRECTORS, EULER_ANGLES, QUATERNION, ROTATION_VECTOR
from .spin import euler_axes, spin_derivative, spin_matrix


@kernel
def node_frame(n, q, z):
    """Frame of a node; the axes of points and of the ground are the world's and never change."""
    k = n.q0
    if n.nx == 3:
        z[0] = q[k]
        z[1] = q[k + 1]
        z[2] = q[k + 2]
        k += 3
    kind = n.kind
    if kind == ROTATION_VECTOR:
        e0, e1, e2, e3 = exp_quaternion(q[k], q[k + 1], q[k + 2])
        quaternion_axes(e0, e1, e2, e3, z)
    elif kind == QUATERNION:
        quaternion_axes(q[k], q[k + 1], q[k + 2], q[k + 3], z)
    elif kind == DIRECTORS:
        for m in range(9):
            z[3 + m] = q[k + m]
    elif kind == EULER_ANGLES:
        euler_axes(n.axis1, n.axis2, n.axis3, q[k], q[k + 1], q[k + 2], z)


@kernel
def fixed_frame(n, z):
    """The part of a frame that does not depend on coordinates (pinned position, axes of points and the ground)."""
    for m in range(12):
        z[m] = 0.0
    z[0], z[1], z[2] = n.r1, n.r2, n.r3
    z[3] = 1.0
    z[7] = 1.0
    z[11] = 1.0


@kernel
def spin_axes(z, w1, w2, w3, out):
    """out axes = R (w x e_i): velocity of the axes for the body angular velocity w."""
    for m in range(3):
        d1, d2, d3 = z[3 + m], z[6 + m], z[9 + m]
        out[3 + m] = w3 * d2 - w2 * d3
        out[6 + m] = w1 * d3 - w3 * d1
        out[9 + m] = w2 * d1 - w1 * d2


@kernel
def body_rates(n, q, v, g, scratch):
    """Angular velocity and its bias DG[rho_dot] rho_dot, in body axes, of a Lie or three-parameter node."""
    k = n.v0 + n.nx
    if n.form == FORM_LIE:
        return v[k], v[k + 1], v[k + 2], 0.0, 0.0, 0.0
    x1, x2, x3 = v[k], v[k + 1], v[k + 2]
    u = scratch[0]
    u[0], u[1], u[2] = x1, x2, x3
    b = scratch[1]
    spin_derivative(n, q, g, u, u, scratch[2], b)
    return (
        g[0] * x1 + g[1] * x2 + g[2] * x3,
        g[3] * x1 + g[4] * x2 + g[5] * x3,
        g[6] * x1 + g[7] * x2 + g[8] * x3,
        b[0],
        b[1],
        b[2],
    )


@kernel
def node_velocity(n, q, v, g, z, zd, scratch):
    """zd = Z v: velocity of the frame."""
    k = n.v0
    if n.nx == 3:
        zd[0] = v[k]
        zd[1] = v[k + 1]
        zd[2] = v[k + 2]
        k += 3
    form = n.form
    if form == FORM_LIE:
        spin_axes(z, v[k], v[k + 1], v[k + 2], zd)
    elif form == FORM_SPIN:
        w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
        spin_axes(z, w1, w2, w3, zd)
    elif form == FORM_QUATERNION:
        j = n.q0 + n.nx
        bilinear_axes(q[j], q[j + 1], q[j + 2], q[j + 3], v[k], v[k + 1], v[k + 2], v[k + 3], zd)
    elif form == FORM_DIRECTORS:
        for m in range(9):
            zd[3 + m] = v[k + m]


@kernel
def node_bias(n, q, v, g, z, zd, zb, scratch):
    """zb = Z_dot v: acceleration of the frame when the coordinate acceleration is zero."""
    form = n.form
    k = n.v0 + n.nx
    if form == FORM_LIE:
        spin_axes(zd, v[k], v[k + 1], v[k + 2], zb)
    elif form == FORM_SPIN:
        w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
        spin_axes(z, b1, b2, b3, zb)
        for m in range(3):  # + R (w x (w x e_i)), from the axes' velocities
            d1, d2, d3 = zd[3 + m], zd[6 + m], zd[9 + m]
            zb[3 + m] += w3 * d2 - w2 * d3
            zb[6 + m] += w1 * d3 - w3 * d1
            zb[9 + m] += w2 * d1 - w1 * d2
    elif form == FORM_QUATERNION:
        quaternion_axes(v[k], v[k + 1], v[k + 2], v[k + 3], zb)
        for m in range(9):
            zb[3 + m] *= 2.0
    elif form == FORM_DIRECTORS:
        for m in range(9):
            zb[3 + m] = 0.0


@kernel
def update_frames(nodes, q, z, spin):
    """Frames of all nodes, and G of the three-parameter ones."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        node_frame(n, q, z[i])
        if n.form == FORM_SPIN:
            spin_matrix(n, q, spin[i])


@kernel
def update_velocities(nodes, q, v, spin, z, zd, scratch):
    """Velocities of all frames."""
    for i in range(1, nodes.shape[0]):
        node_velocity(nodes[i], q, v, spin[i], z[i], zd[i], scratch)


@kernel
def update_biases(nodes, q, v, spin, z, zd, zb, scratch):
    """Bias accelerations of all frames (needs velocities)."""
    for i in range(1, nodes.shape[0]):
        node_bias(nodes[i], q, v, spin[i], z[i], zd[i], zb[i], scratch)


@kernel
def has_frame(n):
    """Whether the node can move a frame at all."""
    return n.form != FORM_GROUND and n.form != FORM_GENERALIZED


@kernel
def has_axes(n):
    """Whether the node carries axes (not a point)."""
    return n.form != FORM_GROUND and n.form != FORM_POINT and n.form != FORM_GENERALIZED
