"""Frames, frame velocities and inertia forces of a node along a direction (dq, dv, dvd): their exact derivatives.

For nodes whose kernels are products of frame, velocity and acceleration: points, and rigid bodies on a Lie group. With
the frame direction dz = Z dq these are the product rule, term by term. Directions may be of kind ``fours``.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.so3 import tangent_inverse_along
from .forms import FORM_LIE
from .frames import spin_axes
from .inertia import frame_torque
from .markers import axis, body_components
from .mass import inertia_times


@kernel
def frame_along(n, dq, z, dz):
    """dz = Z dq: change of the frame with an increment; what does not move is zero already."""
    k = n.v0
    if n.nx == 3:
        dz[0], dz[1], dz[2] = dq[k], dq[k + 1], dq[k + 2]
        k += 3
    if n.form == FORM_LIE:
        spin_axes(z, dq[k], dq[k + 1], dq[k + 2], dz)


@kernel
def velocity_along(n, v, dv, z, dz, dzd, scratch):
    """dzd: change of the frame velocity Z v with the frame (along dz) and the velocity (along dv)."""
    k = n.v0
    if n.nx == 3:
        dzd[0], dzd[1], dzd[2] = dv[k], dv[k + 1], dv[k + 2]
        k += 3
    if n.form == FORM_LIE:
        turned = scratch[0]
        spin_axes(z, dv[k], dv[k + 1], dv[k + 2], dzd)
        spin_axes(dz, v[k], v[k + 1], v[k + 2], turned)
        for m in range(3, 12):
            dzd[m] += turned[m]


@kernel
def frame_acceleration_of(n, v, vd, z, zd, za, scratch):
    """za = Z vd + Z_dot v: acceleration of the frame."""
    if n.nx == 3:
        za[0], za[1], za[2] = vd[n.v0], vd[n.v0 + 1], vd[n.v0 + 2]
    if n.form == FORM_LIE:
        k = n.v0 + n.nx
        turned = scratch[0]
        spin_axes(z, vd[k], vd[k + 1], vd[k + 2], za)
        spin_axes(zd, v[k], v[k + 1], v[k + 2], turned)
        for m in range(3, 12):
            za[m] += turned[m]


@kernel
def acceleration_along(n, v, vd, dv, dz, zd, dzd, dza, scratch):
    """dza: change of the frame acceleration at fixed vd, with frame, frame velocity and velocity."""
    for m in range(3):
        dza[m] = 0.0
    if n.form == FORM_LIE:
        k = n.v0 + n.nx
        term = scratch[0]
        spin_axes(dz, vd[k], vd[k + 1], vd[k + 2], dza)
        spin_axes(dzd, v[k], v[k + 1], v[k + 2], term)
        for m in range(3, 12):
            dza[m] += term[m]
        spin_axes(zd, dv[k], dv[k + 1], dv[k + 2], term)
        for m in range(3, 12):
            dza[m] += term[m]


@kernel
def residual_along(n, v, vd, dv, dvd, z, dz, f, df, x):
    """x[x0 : x0+nv]: change of M vd + gyroscopic forces + Z^T f, see ``node_residual``; df is that of f."""
    k, i = n.v0, n.x0
    a1, a2, a3, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if n.nx == 3:
        a1, a2, a3, b1, b2, b3 = vd[k], vd[k + 1], vd[k + 2], dvd[k], dvd[k + 1], dvd[k + 2]
        x[i], x[i + 1], x[i + 2] = df[0] + n.mass * b1, df[1] + n.mass * b2, df[2] + n.mass * b3
        k += 3
        i += 3
    if n.form != FORM_LIE:
        return
    w1, w2, w3, u1, u2, u3 = v[k], v[k + 1], v[k + 2], dv[k], dv[k + 1], dv[k + 2]
    h1, h2, h3 = inertia_times(n, w1, w2, w3)
    g1, g2, g3 = inertia_times(n, u1, u2, u3)
    t1, t2, t3 = frame_torque(z, df)
    c1, c2, c3 = frame_torque(dz, f)
    y1, y2, y3 = inertia_times(n, dvd[k], dvd[k + 1], dvd[k + 2])
    t1 += c1 + y1 + u2 * h3 - u3 * h2 + w2 * g3 - w3 * g2
    t2 += c2 + y2 + u3 * h1 - u1 * h3 + w3 * g1 - w1 * g3
    t3 += c3 + y3 + u1 * h2 - u2 * h1 + w1 * g2 - w2 * g1
    s1, s2, s3 = n.s1, n.s2, n.s3
    if n.nx == 3 and (s1 != 0.0 or s2 != 0.0 or s3 != 0.0):
        c1, c2, c3 = body_components(z, b1, b2, b3)
        y1, y2, y3 = body_components(dz, a1, a2, a3)
        c1, c2, c3 = c1 + y1, c2 + y2, c3 + y3
        t1 += s2 * c3 - s3 * c2
        t2 += s3 * c1 - s1 * c3
        t3 += s1 * c2 - s2 * c1
        p1, p2, p3 = vd[k], vd[k + 1], vd[k + 2]
        c1, c2, c3 = _moment_rate(w1, w2, w3, p1, p2, p3, s1, s2, s3)
        y1, y2, y3 = axis(dz, c1, c2, c3)
        x[n.x0] += y1
        x[n.x0 + 1] += y2
        x[n.x0 + 2] += y3
        # of alpha x s + w x (w x s) with alpha and, twice, w
        e1, e2, e3 = w2 * s3 - w3 * s2, w3 * s1 - w1 * s3, w1 * s2 - w2 * s1
        c1, c2, c3 = _moment_rate(0.0, 0.0, 0.0, dvd[k], dvd[k + 1], dvd[k + 2], s1, s2, s3)
        c1, c2, c3 = c1 + u2 * e3 - u3 * e2, c2 + u3 * e1 - u1 * e3, c3 + u1 * e2 - u2 * e1
        e1, e2, e3 = u2 * s3 - u3 * s2, u3 * s1 - u1 * s3, u1 * s2 - u2 * s1
        c1, c2, c3 = c1 + w2 * e3 - w3 * e2, c2 + w3 * e1 - w1 * e3, c3 + w1 * e2 - w2 * e1
        y1, y2, y3 = axis(z, c1, c2, c3)
        x[n.x0] += y1
        x[n.x0 + 1] += y2
        x[n.x0 + 2] += y3
    x[i], x[i + 1], x[i + 2] = t1, t2, t3


@kernel
def _moment_rate(w1, w2, w3, p1, p2, p3, s1, s2, s3):
    """p x s + w x (w x s)."""
    u1, u2, u3 = w2 * s3 - w3 * s2, w3 * s1 - w1 * s3, w1 * s2 - w2 * s1
    return (
        p2 * s3 - p3 * s2 + w2 * u3 - w3 * u2,
        p3 * s1 - p1 * s3 + w3 * u1 - w1 * u3,
        p1 * s2 - p2 * s1 + w1 * u2 - w2 * u1,
    )


@kernel
def slope_along(nodes, t, dq, v, ddq, dv, out):
    """out: change of T_exp^-1(dq) v with dq (along ddq) and v (along dv); t holds T_exp^-1(dq) of every Lie node."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        k = n.v0
        for m in range(n.nx if n.form == FORM_LIE else n.nv):
            out[k + m] = dv[k + m]
        if n.form == FORM_LIE:
            k += n.nx
            y1, y2, y3 = tangent_inverse_along(
                dq[k], dq[k + 1], dq[k + 2], ddq[k], ddq[k + 1], ddq[k + 2], v[k], v[k + 1], v[k + 2]
            )
            x1, x2, x3, a = dv[k], dv[k + 1], dv[k + 2], t[i]
            out[k] = y1 + a[0] * x1 + a[1] * x2 + a[2] * x3
            out[k + 1] = y2 + a[3] * x1 + a[4] * x2 + a[5] * x3
            out[k + 2] = y3 + a[6] * x1 + a[7] * x2 + a[8] * x3
