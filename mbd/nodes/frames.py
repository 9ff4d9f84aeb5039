"""From coordinates to frames: z(q), its velocity, and the Jacobians of body-fixed points and axes.

The frame ``z = (r, d1, d2, d3)`` is all that joints and forces see. Here, and only here, it is said how each
parametrisation makes one. Kernels dispatch on ``form`` (how the frame moves) and ``kind`` (how it is stored).
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.so3 import exp_quaternion, quaternion_axes
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
def body_rates(n, q, v, g, small):
    """Angular velocity and its bias DG[rho_dot] rho_dot, in body axes, of a Lie or three-parameter node."""
    k = n.v0 + n.nx
    if n.form == FORM_LIE:
        return v[k], v[k + 1], v[k + 2], 0.0, 0.0, 0.0
    x1, x2, x3 = v[k], v[k + 1], v[k + 2]
    u = small[0]
    u[0], u[1], u[2] = x1, x2, x3
    b = small[1]
    spin_derivative(n, q, g, u, u, small[2], b)
    return (
        g[0] * x1 + g[1] * x2 + g[2] * x3,
        g[3] * x1 + g[4] * x2 + g[5] * x3,
        g[6] * x1 + g[7] * x2 + g[8] * x3,
        b[0],
        b[1],
        b[2],
    )


@kernel
def bilinear_axes(e0, e1, e2, e3, x0, x1, x2, x3, z):
    """Axes of the polar form 2 R(e, x): the derivative of the quadratic R(e) along x."""
    a, b, c, d = 2.0 * e0 * x0, 2.0 * e1 * x1, 2.0 * e2 * x2, 2.0 * e3 * x3
    z[3] = a + b - c - d
    z[7] = a - b + c - d
    z[11] = a - b - c + d
    p, m = e1 * x2 + e2 * x1, e0 * x3 + e3 * x0
    z[4] = 2.0 * (p + m)
    z[6] = 2.0 * (p - m)
    p, m = e1 * x3 + e3 * x1, e0 * x2 + e2 * x0
    z[5] = 2.0 * (p - m)
    z[9] = 2.0 * (p + m)
    p, m = e2 * x3 + e3 * x2, e0 * x1 + e1 * x0
    z[8] = 2.0 * (p + m)
    z[10] = 2.0 * (p - m)


@kernel
def node_velocity(n, q, v, g, z, zd, small):
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
        w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, small)
        spin_axes(z, w1, w2, w3, zd)
    elif form == FORM_QUATERNION:
        j = n.q0 + n.nx
        bilinear_axes(q[j], q[j + 1], q[j + 2], q[j + 3], v[k], v[k + 1], v[k + 2], v[k + 3], zd)
    elif form == FORM_DIRECTORS:
        for m in range(9):
            zd[3 + m] = v[k + m]


@kernel
def node_bias(n, q, v, g, z, zd, zb, small):
    """zb = Z_dot v: acceleration of the frame when the coordinate acceleration is zero."""
    form = n.form
    k = n.v0 + n.nx
    if form == FORM_LIE:
        spin_axes(zd, v[k], v[k + 1], v[k + 2], zb)
    elif form == FORM_SPIN:
        w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, small)
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
def update_velocities(nodes, q, v, spin, z, zd, small):
    """Velocities of all frames."""
    for i in range(1, nodes.shape[0]):
        node_velocity(nodes[i], q, v, spin[i], z[i], zd[i], small)


@kernel
def update_biases(nodes, q, v, spin, z, zd, zb, small):
    """Bias accelerations of all frames (needs velocities)."""
    for i in range(1, nodes.shape[0]):
        node_bias(nodes[i], q, v, spin[i], z[i], zd[i], zb[i], small)


# --- Jacobians ----------------------------------------------------------------------------------------------------


@kernel
def _quaternion_columns(e0, e1, e2, e3, a1, a2, a3, j, c):
    """d(R(e) A)/de, 3 x 4, into columns c.. of j: R(e) A = (e0^2 - |u|^2) A + 2 (u.A) u + 2 e0 u x A."""
    ua = e1 * a1 + e2 * a2 + e3 * a3
    j[0, c] = 2.0 * (e0 * a1 + e2 * a3 - e3 * a2)
    j[1, c] = 2.0 * (e0 * a2 + e3 * a1 - e1 * a3)
    j[2, c] = 2.0 * (e0 * a3 + e1 * a2 - e2 * a1)
    j[0, c + 1] = 2.0 * ua
    j[1, c + 1] = 2.0 * (a1 * e2 - e1 * a2 - e0 * a3)
    j[2, c + 1] = 2.0 * (a1 * e3 - e1 * a3 + e0 * a2)
    j[0, c + 2] = 2.0 * (a2 * e1 - e2 * a1 + e0 * a3)
    j[1, c + 2] = 2.0 * ua
    j[2, c + 2] = 2.0 * (a2 * e3 - e2 * a3 - e0 * a1)
    j[0, c + 3] = 2.0 * (a3 * e1 - e3 * a1 - e0 * a2)
    j[1, c + 3] = 2.0 * (a3 * e2 - e3 * a2 + e0 * a1)
    j[2, c + 3] = 2.0 * ua


@kernel
def _spin_columns(g, j, c):
    """Columns c..c+2 of j := (those columns) G."""
    for m in range(3):
        x1, x2, x3 = j[m, c], j[m, c + 1], j[m, c + 2]
        j[m, c] = x1 * g[0] + x2 * g[3] + x3 * g[6]
        j[m, c + 1] = x1 * g[1] + x2 * g[4] + x3 * g[7]
        j[m, c + 2] = x1 * g[2] + x2 * g[5] + x3 * g[8]


@kernel
def _rotation_columns(z, a1, a2, a3, j, c):
    """-R hat(A): derivative of R A with respect to a body-fixed rotation increment."""
    for m in range(3):
        d1, d2, d3 = z[3 + m], z[6 + m], z[9 + m]
        j[m, c] = a2 * d3 - a3 * d2
        j[m, c + 1] = a3 * d1 - a1 * d3
        j[m, c + 2] = a1 * d2 - a2 * d1


@kernel
def axis_jacobian(n, q, g, z, a1, a2, a3, j):
    """j (3 x nv) = d(R A)/d(increment) for the body-fixed axis A."""
    form = n.form
    c = n.nx
    for m in range(3):
        for k in range(c):
            j[m, k] = 0.0
    if form == FORM_LIE:
        _rotation_columns(z, a1, a2, a3, j, c)
    elif form == FORM_SPIN:
        _rotation_columns(z, a1, a2, a3, j, c)
        _spin_columns(g, j, c)
    elif form == FORM_QUATERNION:
        k = n.q0 + n.nx
        _quaternion_columns(q[k], q[k + 1], q[k + 2], q[k + 3], a1, a2, a3, j, c)
    elif form == FORM_DIRECTORS:
        for m in range(3):
            for k in range(9):
                j[m, c + k] = 0.0
            j[m, c + m] = a1
            j[m, c + 3 + m] = a2
            j[m, c + 6 + m] = a3


@kernel
def point_jacobian(n, q, g, z, a1, a2, a3, j):
    """j (3 x nv) = d(r + R X)/d(increment) for the body-fixed point X."""
    axis_jacobian(n, q, g, z, a1, a2, a3, j)
    if n.nx == 3:
        j[0, 0] = 1.0
        j[1, 1] = 1.0
        j[2, 2] = 1.0


@kernel
def velocity_jacobian(n, q, v, g, z, a1, a2, a3, j, small):
    """j (3 x nv) = d((R A)_dot)/d(increment) at fixed velocity coordinates, for the body-fixed axis (or point) A."""
    form = n.form
    c = n.nx
    for m in range(3):
        for k in range(n.nv):
            j[m, k] = 0.0
    if form == FORM_LIE or form == FORM_SPIN:
        w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, small)
        _rotation_columns(z, w2 * a3 - w3 * a2, w3 * a1 - w1 * a3, w1 * a2 - w2 * a1, j, c)
        if form == FORM_SPIN:
            _spin_columns(g, j, c)
            x, u, out = small[3], small[4], small[5]
            for k in range(3):
                x[k] = v[n.v0 + c + k]
            for k in range(3):
                u[0] = 0.0
                u[1] = 0.0
                u[2] = 0.0
                u[k] = 1.0
                spin_derivative(n, q, g, u, x, small[2], out)
                t1 = out[1] * a3 - out[2] * a2
                t2 = out[2] * a1 - out[0] * a3
                t3 = out[0] * a2 - out[1] * a1
                for m in range(3):
                    j[m, c + k] += z[3 + m] * t1 + z[6 + m] * t2 + z[9 + m] * t3
    elif form == FORM_QUATERNION:
        k = n.v0 + n.nx
        _quaternion_columns(v[k], v[k + 1], v[k + 2], v[k + 3], a1, a2, a3, j, c)


@kernel
def has_frame(n):
    """Whether the node can move a frame at all."""
    return n.form != FORM_GROUND and n.form != FORM_GENERALIZED


@kernel
def has_axes(n):
    """Whether the node carries axes (not a point)."""
    return n.form != FORM_GROUND and n.form != FORM_POINT and n.form != FORM_GENERALIZED
