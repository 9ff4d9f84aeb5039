"""Inertia forces and their pull-back with the frame forces, and the curvature of frames in the iteration matrix.

Two formulations cover every parametrisation:

* nodes with an angular velocity (Lie, rotation vector, Euler angles): Newton-Euler in the reference point,
  ``f = m a + R (alpha x s + w x (w x s))``, ``n = J alpha + w x J w + s x R^T a`` with the first moment s = m c;
* nodes whose frame is polynomial in the coordinates (quaternion, directors, point): ``F = M_z z_ddot`` with the
  constant frame mass matrix, pulled back by ``Z = dz/dq``. For quaternions this adds to the classical 4 G^T J G a
  radial part 2 tr(J) e e^T that is workless on |e| = 1, so that M is regular and the motion is the same.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.quaternions import bilinear_axes, quaternion_pull
from .forms import FORM_DIRECTORS, FORM_LIE, FORM_POINT, FORM_QUATERNION, FORM_SPIN
from .frames import body_rates, spin_axes
from .markers import axis, body_components
from .mass import frame_inertia, inertia_times


@kernel
def frame_torque(z, f):
    """R^T sum_i d_i x f_i: the body-fixed torque of the forces f_i on the axes."""
    a32 = z[9] * f[6] + z[10] * f[7] + z[11] * f[8]
    a23 = z[6] * f[9] + z[7] * f[10] + z[8] * f[11]
    a13 = z[3] * f[9] + z[4] * f[10] + z[5] * f[11]
    a31 = z[9] * f[3] + z[10] * f[4] + z[11] * f[5]
    a21 = z[6] * f[3] + z[7] * f[4] + z[8] * f[5]
    a12 = z[3] * f[6] + z[4] * f[7] + z[5] * f[8]
    return a32 - a23, a13 - a31, a21 - a12


@kernel
def _spun(n, z, k, out):
    """out = frame velocity of a unit spin about body axis k; the centre of mass rests, unless the body is pinned."""
    spin_axes(z, 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, out)
    for m in range(3):
        out[m] = -(n.s1 * out[3 + m] + n.s2 * out[6 + m] + n.s3 * out[9 + m]) / n.mass if n.nx == 3 else 0.0


@kernel
def rigid_velocity(n, z, p, a, scratch, out):
    """out = the velocity of a rigid motion at the frame z with the frame momenta p: out = P u, P^T (M_z out - p) = 0.

    P are the translations and rotations at z, which need not be orthonormal; a is 4 x 4, scratch from 0 to 4 is used.
    """
    free = n.nx == 3
    for m in range(12):
        out[m] = p[m] / n.mass if free and m < 3 else 0.0
        scratch[4, m] = -p[m]
    frame_inertia(n, out, scratch[4])
    b1, b2, b3 = frame_torque(z, scratch[4])
    for k in range(3):
        _spun(n, z, k, scratch[k])
        for m in range(12):
            scratch[4, m] = 0.0
        frame_inertia(n, scratch[k], scratch[4])
        a[0, k], a[1, k], a[2, k] = frame_torque(z, scratch[4])
    a11, a22, a33, a12, a13, a23 = a[0, 0], a[1, 1], a[2, 2], a[0, 1], a[0, 2], a[1, 2]
    c11, c12, c13 = a22 * a33 - a23 * a23, a13 * a23 - a12 * a33, a12 * a23 - a13 * a22
    c22, c23, c33 = a11 * a33 - a13 * a13, a12 * a13 - a11 * a23, a11 * a22 - a12 * a12
    d = -1.0 / (a11 * c11 + a12 * c12 + a13 * c13)
    w1 = d * (c11 * b1 + c12 * b2 + c13 * b3)
    w2 = d * (c12 * b1 + c22 * b2 + c23 * b3)
    w3 = d * (c13 * b1 + c23 * b2 + c33 * b3)
    for m in range(12):
        out[m] += w1 * scratch[0, m] + w2 * scratch[1, m] + w3 * scratch[2, m]


@kernel
def pull_back(n, q, g, z, f, x, k):
    """x[k:k+nv] = Z^T f: generalised force of the frame force f."""
    form = n.form
    if n.nx == 3:
        x[k] = f[0]
        x[k + 1] = f[1]
        x[k + 2] = f[2]
        k += 3
    if form == FORM_LIE:
        x[k], x[k + 1], x[k + 2] = frame_torque(z, f)
    elif form == FORM_SPIN:
        t1, t2, t3 = frame_torque(z, f)
        x[k] = g[0] * t1 + g[3] * t2 + g[6] * t3
        x[k + 1] = g[1] * t1 + g[4] * t2 + g[7] * t3
        x[k + 2] = g[2] * t1 + g[5] * t2 + g[8] * t3
    elif form == FORM_QUATERNION:
        j = n.q0 + n.nx
        quaternion_pull(q[j], q[j + 1], q[j + 2], q[j + 3], f, x, k)
    elif form == FORM_DIRECTORS:
        for m in range(9):
            x[k + m] = f[3 + m]


@kernel
def node_residual(n, q, v, vd, g, z, zb, f, x, scratch):
    """x[x0 : x0+nv] = M vd + gyroscopic forces + Z^T f for one node; f is overwritten."""
    form = n.form
    k = n.v0
    if form == FORM_LIE or form == FORM_SPIN:
        a1, a2, a3 = 0.0, 0.0, 0.0
        i = n.x0
        if n.nx == 3:
            a1, a2, a3 = vd[k], vd[k + 1], vd[k + 2]
            k += 3
        p1, p2, p3 = vd[k], vd[k + 1], vd[k + 2]
        if form == FORM_LIE:
            w1, w2, w3 = v[k], v[k + 1], v[k + 2]
        else:
            w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
            p1, p2, p3 = (
                g[0] * p1 + g[1] * p2 + g[2] * p3 + b1,
                g[3] * p1 + g[4] * p2 + g[5] * p3 + b2,
                g[6] * p1 + g[7] * p2 + g[8] * p3 + b3,
            )
        t1, t2, t3 = frame_torque(z, f)
        h1, h2, h3 = inertia_times(n, w1, w2, w3)
        y1, y2, y3 = inertia_times(n, p1, p2, p3)
        t1 += y1 + w2 * h3 - w3 * h2
        t2 += y2 + w3 * h1 - w1 * h3
        t3 += y3 + w1 * h2 - w2 * h1
        if n.nx == 3:
            f1, f2, f3 = f[0] + n.mass * a1, f[1] + n.mass * a2, f[2] + n.mass * a3
            s1, s2, s3 = n.s1, n.s2, n.s3
            if s1 != 0.0 or s2 != 0.0 or s3 != 0.0:
                c1, c2, c3 = body_components(z, a1, a2, a3)
                t1 += s2 * c3 - s3 * c2
                t2 += s3 * c1 - s1 * c3
                t3 += s1 * c2 - s2 * c1
                u1, u2, u3 = w2 * s3 - w3 * s2, w3 * s1 - w1 * s3, w1 * s2 - w2 * s1
                c1 = p2 * s3 - p3 * s2 + w2 * u3 - w3 * u2
                c2 = p3 * s1 - p1 * s3 + w3 * u1 - w1 * u3
                c3 = p1 * s2 - p2 * s1 + w1 * u2 - w2 * u1
                c1, c2, c3 = axis(z, c1, c2, c3)
                f1, f2, f3 = f1 + c1, f2 + c2, f3 + c3
            x[i] = f1
            x[i + 1] = f2
            x[i + 2] = f3
            i += 3
        if form == FORM_LIE:
            x[i] = t1
            x[i + 1] = t2
            x[i + 2] = t3
        else:
            x[i] = g[0] * t1 + g[3] * t2 + g[6] * t3
            x[i + 1] = g[1] * t1 + g[4] * t2 + g[7] * t3
            x[i + 2] = g[2] * t1 + g[5] * t2 + g[8] * t3
    else:
        zdd = scratch[0]
        frame_acceleration(n, q, vd, z, zb, zdd, g)
        frame_inertia(n, zdd, f)
        pull_back(n, q, g, z, f, x, n.x0)


@kernel
def frame_acceleration(n, q, vd, z, zb, zdd, g):
    """zdd = Z vd + zb."""
    form = n.form
    k = n.v0
    for m in range(12):
        zdd[m] = 0.0
    if n.nx == 3:
        zdd[0] = vd[k]
        zdd[1] = vd[k + 1]
        zdd[2] = vd[k + 2]
        k += 3
    if form == FORM_LIE:
        spin_axes(z, vd[k], vd[k + 1], vd[k + 2], zdd)
    elif form == FORM_SPIN:
        x1, x2, x3 = vd[k], vd[k + 1], vd[k + 2]
        spin_axes(
            z,
            g[0] * x1 + g[1] * x2 + g[2] * x3,
            g[3] * x1 + g[4] * x2 + g[5] * x3,
            g[6] * x1 + g[7] * x2 + g[8] * x3,
            zdd,
        )
    elif form == FORM_QUATERNION:
        j = n.q0 + n.nx
        bilinear_axes(q[j], q[j + 1], q[j + 2], q[j + 3], vd[k], vd[k + 1], vd[k + 2], vd[k + 3], zdd)
    elif form == FORM_DIRECTORS:
        for m in range(9):
            zdd[3 + m] = vd[k + m]
    if form != FORM_POINT:
        for m in range(3, 12):
            zdd[m] += zb[m]


@kernel
def frame_stiffness(n, z, f, c, matrix):
    """Add c d(Z^T f)/d(increment) at fixed f to the node's diagonal block: the curvature z_qq of the frame."""
    form = n.form
    o = n.block + n.nx * n.ld + n.nx
    ld = n.ld
    if form == FORM_LIE:  # A - tr(A) I with A = R^T [f_1 f_2 f_3]
        for i in range(3):
            u1 = z[3] * f[3 + 3 * i] + z[4] * f[4 + 3 * i] + z[5] * f[5 + 3 * i]
            u2 = z[6] * f[3 + 3 * i] + z[7] * f[4 + 3 * i] + z[8] * f[5 + 3 * i]
            u3 = z[9] * f[3 + 3 * i] + z[10] * f[4 + 3 * i] + z[11] * f[5 + 3 * i]
            t = u1 if i == 0 else (u2 if i == 1 else u3)
            matrix[o + i] += c * u1
            matrix[o + ld + i] += c * u2
            matrix[o + 2 * ld + i] += c * u3
            for m in range(3):
                matrix[o + m * ld + m] -= c * t
    elif form == FORM_QUATERNION:  # Hessian of sum_i f_i . d_i(e), constant in e
        a, b, d = f[3], f[7], f[11]
        matrix[o] += 2.0 * c * (a + b + d)
        matrix[o + ld + 1] += 2.0 * c * (a - b - d)
        matrix[o + 2 * ld + 2] += 2.0 * c * (b - a - d)
        matrix[o + 3 * ld + 3] += 2.0 * c * (d - a - b)
        _add_pair(matrix, o, ld, 0, 1, 2.0 * c * (f[8] - f[10]))
        _add_pair(matrix, o, ld, 0, 2, 2.0 * c * (f[9] - f[5]))
        _add_pair(matrix, o, ld, 0, 3, 2.0 * c * (f[4] - f[6]))
        _add_pair(matrix, o, ld, 1, 2, 2.0 * c * (f[4] + f[6]))
        _add_pair(matrix, o, ld, 1, 3, 2.0 * c * (f[5] + f[9]))
        _add_pair(matrix, o, ld, 2, 3, 2.0 * c * (f[8] + f[10]))


@kernel
def _add_pair(matrix, o, ld, i, j, value):
    matrix[o + i * ld + j] += value
    matrix[o + j * ld + i] += value
