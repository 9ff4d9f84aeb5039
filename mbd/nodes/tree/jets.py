"""Jets: how a body and its first two derivatives change with the increments of joints, and what that does to wrenches.

A variation xi of a body and its derivatives form the jet X = (xi, xi', xi'') in R^18. From a parent to its child

    X = X_parent + U dq

with no transformation but the shift of the reference point. With d(dq) = ck, d(v) = cc, d(v_dot) = cm per unit of the
unknown (T_exp^-1 included on Lie balls), carrier velocity V and acceleration A of a column S, S1 = V x S:

    U = (ck S,  ck S1 + cc S,  ck (A x S + V x S1) + 2 cc S1 + cm S)

and for a ball with axes S_L fixed in the child, relative angular velocity omega, and the variations eta of the
rotation, alpha of omega, beta of omega_dot (all in axes of the child):

    U = (S_L eta,  V x S_L eta + S_L alpha,
         A x S_L eta + V x (V x S_L eta) + 2 V x S_L alpha + S_L (omega x alpha + beta))

The inertia of a body contributes to the change of its wrench W

    dW = [xi x* W + I (xi x G)] + [xi' x* h + V x* I xi' - I (V x xi')] + I xi'',   h = I V
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.quaternions import g_times
from ..forms import FORM_LIE, FORM_SPIN
from ..spin import spin_derivative, spin_second_derivative
from .motion import ball_bias, ball_rate, motion_column, quaternion_square
from .spatial import (
    add_force_cross,
    add_motion_cross,
    clear_six,
    inertia_product,
    motion_cross,
    world_inertia,
)

JET = 18
BODY_JET = 108  # six rows


@kernel
def _unit(k, out):
    for m in range(4):
        out[m] = 1.0 if m == k else 0.0


@kernel
def _ball_variation(n, q, v, vd, g, t, k, cm, cc, ck, eta, alpha, beta, scratch):
    """Variations of a ball's rotation, angular velocity and acceleration per unit of its k-th unknown."""
    first = n.v0 + n.nx
    if n.form == FORM_LIE:
        for m in range(3):
            x = t[3 * m + k]
            eta[m] = ck if m == k else 0.0
            alpha[m] = cc * x
            beta[m] = cm * x
        return
    unit = scratch[0]
    _unit(k, unit)
    if n.form == FORM_SPIN:
        rate, second, c, d = scratch[1], scratch[2], scratch[3], scratch[4]
        for m in range(3):
            rate[m], second[m] = v[first + m], vd[first + m]
        spin_derivative(n, q, g, unit, rate, c, d)
        for m in range(3):
            x = g[3 * m + k]
            eta[m] = ck * x
            alpha[m] = cc * x + ck * d[m]
            beta[m] = cm * x + cc * d[m]
        spin_derivative(n, q, g, rate, unit, c, d)
        for m in range(3):
            beta[m] += cc * d[m]
        if ck != 0.0:
            spin_derivative(n, q, g, unit, second, c, d)
            for m in range(3):
                beta[m] += ck * d[m]
            spin_second_derivative(n, q, g, unit, rate, rate, c, d)
            for m in range(3):
                beta[m] += ck * d[m]
        return
    _quaternion_variation(n, q, v, vd, k, cm, cc, ck, eta, alpha, beta)


@kernel
def _quaternion_variation(n, q, v, vd, k, cm, cc, ck, eta, alpha, beta):
    """``_ball_variation`` of a quaternion: omega = 2 G(e) e_dot / |e|^2, where the length may change.

    omega_dot = (2 G(e) e_ddot - 2 (e . e_dot) omega) / |e|^2; G is linear, and G(x) x = 0.
    """
    j, o = n.q0 + n.nx, n.v0 + n.nx
    e0, e1, e2, e3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    v0, v1, v2, v3 = v[o], v[o + 1], v[o + 2], v[o + 3]
    u0, u1, u2, u3 = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, 1.0 if k == 3 else 0.0
    c = 1.0 / quaternion_square(n, q)
    ev, eu, uv = c * (e0 * v0 + e1 * v1 + e2 * v2 + e3 * v3), c * q[j + k], c * v[o + k]
    x1, x2, x3 = g_times(e0, e1, e2, e3, u0, u1, u2, u3)
    w1, w2, w3 = g_times(e0, e1, e2, e3, v0, v1, v2, v3)
    a1, a2, a3 = g_times(e0, e1, e2, e3, vd[o], vd[o + 1], vd[o + 2], vd[o + 3])
    y1, y2, y3 = g_times(u0, u1, u2, u3, v0, v1, v2, v3)
    z1, z2, z3 = g_times(u0, u1, u2, u3, vd[o], vd[o + 1], vd[o + 2], vd[o + 3])
    c *= 2.0
    eta[0], eta[1], eta[2] = c * ck * x1, c * ck * x2, c * ck * x3
    # per unit of the quaternion, its velocity and its acceleration
    alpha[0] = c * (cc * x1 + ck * (y1 - 2.0 * eu * w1))
    alpha[1] = c * (cc * x2 + ck * (y2 - 2.0 * eu * w2))
    alpha[2] = c * (cc * x3 + ck * (y3 - 2.0 * eu * w3))
    f, h = cm - 2.0 * cc * ev, 2.0 * (ck * (4.0 * ev * eu - uv) - cc * eu)
    beta[0] = c * (f * x1 + h * w1 + ck * (z1 - 2.0 * (eu * a1 + ev * y1)))
    beta[1] = c * (f * x2 + h * w2 + ck * (z2 - 2.0 * (eu * a2 + ev * y2)))
    beta[2] = c * (f * x3 + h * w3 + ck * (z3 - 2.0 * (eu * a3 + ev * y3)))


@kernel
def _add_ball(ball, x, out):
    """out += S_L x."""
    x1, x2, x3 = x[0], x[1], x[2]
    for m in range(6):
        out[m] += ball[m] * x1 + ball[6 + m] * x2 + ball[12 + m] * x3


@kernel(forceinline=True)
def column_jets(n, c, q, v, vd, g, t, columns, ball, carrier, acceleration, cm, cc, ck, jets, scratch):
    """Jets of all columns of a joint; carrier and acceleration begin as the parent's (at the child), end as its own."""
    s1, s2 = scratch[0], scratch[1]
    for i in range(c.motions):
        k = motion_column(n, c, i)
        s, u = columns[k], jets[k]
        motion_cross(carrier, s, s1)
        motion_cross(carrier, s1, s2)
        add_motion_cross(1.0, acceleration, s, s2)
        x, y = v[k], vd[k]
        for m in range(6):
            u[m] = ck * s[m]
            u[6 + m] = ck * s1[m] + cc * s[m]
            u[12 + m] = ck * s2[m] + 2.0 * cc * s1[m] + cm * s[m]
            acceleration[m] += s[m] * y + s1[m] * x
            carrier[m] += s[m] * x
    if c.ball == 0:
        return
    eta, alpha, beta, more = scratch[2], scratch[3], scratch[4], scratch[5:]
    first = n.v0 + n.nx
    w1, w2, w3 = ball_rate(n, q, g, first, v)
    a, b = scratch[0], scratch[1]
    for k in range(n.nv - n.nx):
        _ball_variation(n, q, v, vd, g, t, k, cm, cc, ck, eta, alpha, beta, more)
        u = jets[first + k]
        xi, first_rate, second_rate = u[0:6], u[6:12], u[12:18]
        clear_six(xi)
        clear_six(a)
        clear_six(second_rate)
        _add_ball(ball, eta, xi)
        _add_ball(ball, alpha, a)
        beta[0] += w2 * alpha[2] - w3 * alpha[1]
        beta[1] += w3 * alpha[0] - w1 * alpha[2]
        beta[2] += w1 * alpha[1] - w2 * alpha[0]
        _add_ball(ball, beta, second_rate)
        motion_cross(carrier, xi, b)
        add_motion_cross(1.0, acceleration, xi, second_rate)
        add_motion_cross(1.0, carrier, b, second_rate)
        add_motion_cross(2.0, carrier, a, second_rate)
        for m in range(6):
            first_rate[m] = b[m] + a[m]
    # the child moves on from its carrier
    b1, b2, b3 = ball_bias(n, q, v, g, more)
    clear_six(a)
    for m in range(6):
        a[m] = ball[m] * w1 + ball[6 + m] * w2 + ball[12 + m] * w3
    add_motion_cross(1.0, carrier, a, acceleration)
    for m in range(6):
        acceleration[m] += ball[m] * b1 + ball[6 + m] * b2 + ball[12 + m] * b3
        carrier[m] += a[m]
    for k in range(first, n.v0 + n.nv):
        s, y = columns[k], vd[k]
        for m in range(6):
            acceleration[m] += s[m] * y


@kernel
def add_force_operator(p, o, stride, f):
    """Columns o .. o+5 of the six rows p += (x -> x x* f); rows are ``stride`` numbers apart."""
    f0, f1, f2, f3, f4, f5 = f[0], f[1], f[2], f[3], f[4], f[5]
    p[o + 1] += f2
    p[o + 2] -= f1
    p[o + 4] += f5
    p[o + 5] -= f4
    o += stride
    p[o] -= f2
    p[o + 2] += f0
    p[o + 3] -= f5
    p[o + 5] += f3
    o += stride
    p[o] += f1
    p[o + 1] -= f0
    p[o + 3] += f4
    p[o + 4] -= f3
    o += stride
    p[o + 1] += f5
    p[o + 2] -= f4
    o += stride
    p[o] -= f5
    p[o + 2] += f3
    o += stride
    p[o] += f4
    p[o + 1] -= f3


@kernel
def fill_inertia(m, j, b):
    """b (6 x 6) = I."""
    j11, j22, j33, j12, j13, j23, s1, s2, s3 = j
    b[0], b[1], b[2], b[3], b[4], b[5] = j11, j12, j13, 0.0, -s3, s2
    b[6], b[7], b[8], b[9], b[10], b[11] = j12, j22, j23, s3, 0.0, -s1
    b[12], b[13], b[14], b[15], b[16], b[17] = j13, j23, j33, -s2, s1, 0.0
    b[18], b[19], b[20], b[21], b[22], b[23] = 0.0, s3, -s2, m, 0.0, 0.0
    b[24], b[25], b[26], b[27], b[28], b[29] = -s3, 0.0, s1, 0.0, m, 0.0
    b[30], b[31], b[32], b[33], b[34], b[35] = s2, -s1, 0.0, 0.0, 0.0, m


@kernel(forceinline=True)
def body_jet(n, z, x, inertia_part, g, p, b, h):
    """p (6 x 18) = change of the inertia's wrench with the jet; x velocity, inertia_part that wrench itself."""
    j = world_inertia(n, z)
    m = n.mass
    fill_inertia(m, j, b)
    inertia_product(m, j, x, h)
    x0, x1, x2, x3, x4, x5 = x[0], x[1], x[2], x[3], x[4], x[5]
    g1, g2, g3 = g[0], g[1], g[2]
    for a in range(6):
        o, k = JET * a, 6 * a
        b0, b1, b2, b3, b4, b5 = b[k], b[k + 1], b[k + 2], b[k + 3], b[k + 4], b[k + 5]
        # I (xi x G): the row (b3 b4 b5) . (w x g)
        p[o], p[o + 1], p[o + 2] = g2 * b5 - g3 * b4, g3 * b3 - g1 * b5, g1 * b4 - g2 * b3
        p[o + 3], p[o + 4], p[o + 5] = 0.0, 0.0, 0.0
        # -I (V x xi')
        p[o + 6] = x1 * b2 - x2 * b1 + x4 * b5 - x5 * b4
        p[o + 7] = x2 * b0 - x0 * b2 + x5 * b3 - x3 * b5
        p[o + 8] = x0 * b1 - x1 * b0 + x3 * b4 - x4 * b3
        p[o + 9] = x1 * b5 - x2 * b4
        p[o + 10] = x2 * b3 - x0 * b5
        p[o + 11] = x0 * b4 - x1 * b3
        p[o + 12], p[o + 13], p[o + 14], p[o + 15], p[o + 16], p[o + 17] = b0, b1, b2, b3, b4, b5
    for a in range(6):  # V x* I xi', column by column
        f0, f1, f2, f3, f4, f5 = b[a], b[6 + a], b[12 + a], b[18 + a], b[24 + a], b[30 + a]
        p[6 + a] += x1 * f2 - x2 * f1 + x4 * f5 - x5 * f4
        p[24 + a] += x2 * f0 - x0 * f2 + x5 * f3 - x3 * f5
        p[42 + a] += x0 * f1 - x1 * f0 + x3 * f4 - x4 * f3
        p[60 + a] += x1 * f5 - x2 * f4
        p[78 + a] += x2 * f3 - x0 * f5
        p[96 + a] += x0 * f4 - x1 * f3
    add_force_operator(p, 6, JET, h)
    add_force_operator(p, 0, JET, inertia_part)


@kernel(forceinline=True)
def wrench_along(b, x, inertia_part, g, u, out, y, h):
    """out = p u, the change of the inertia's wrench with the jet u, without the matrix p of ``body_jet``.

    b: inertia in world axes (nine numbers), mass, momentum; x velocity; y, h scratch.
    """
    j = b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8]
    mass, momentum, xi, first, second = b[9], b[10:16], u[0:6], u[6:12], u[12:18]
    w1, w2, w3, g1, g2, g3 = u[0], u[1], u[2], g[0], g[1], g[2]
    y[0], y[1], y[2] = second[0], second[1], second[2]
    y[3] = second[3] + w2 * g3 - w3 * g2
    y[4] = second[4] + w3 * g1 - w1 * g3
    y[5] = second[5] + w1 * g2 - w2 * g1
    add_motion_cross(-1.0, x, first, y)
    inertia_product(mass, j, y, out)
    inertia_product(mass, j, first, h)
    add_force_cross(1.0, x, h, out)
    add_force_cross(1.0, first, momentum, out)
    add_force_cross(1.0, xi, inertia_part, out)


@kernel
def shift_columns(p, o, d1, d2, d3):
    """Six numbers p[o:] that multiply a motion of a child, for a motion of its parent."""
    m3, m4, m5 = p[o + 3], p[o + 4], p[o + 5]
    p[o] += d2 * m5 - d3 * m4
    p[o + 1] += d3 * m3 - d1 * m5
    p[o + 2] += d1 * m4 - d2 * m3


@kernel
def shift_jet_row(y, d1, d2, d3):
    """A row that multiplies the jet of the child becomes one for the jet of its parent, shifted by d."""
    shift_columns(y, 0, d1, d2, d3)
    shift_columns(y, 6, d1, d2, d3)
    shift_columns(y, 12, d1, d2, d3)


@kernel(forceinline=True)
def add_body_jet(p, d1, d2, d3, parent):
    """parent += a child's change of wrench with its jet, both at the parent; p is overwritten."""
    for a in range(6):
        o = JET * a
        shift_columns(p, o, d1, d2, d3)
        shift_columns(p, o + 6, d1, d2, d3)
        shift_columns(p, o + 12, d1, d2, d3)
    for b in range(JET):
        m3, m4, m5 = p[54 + b], p[72 + b], p[90 + b]
        parent[b] += p[b] + d2 * m5 - d3 * m4
        parent[18 + b] += p[18 + b] + d3 * m3 - d1 * m5
        parent[36 + b] += p[36 + b] + d1 * m4 - d2 * m3
        parent[54 + b] += m3
        parent[72 + b] += m4
        parent[90 + b] += m5


@kernel(forceinline=True)
def shift_jet(x, d1, d2, d3, out):
    """out = the jet x of a parent, at its child."""
    for o in range(0, JET, 6):
        w1, w2, w3 = x[o], x[o + 1], x[o + 2]
        out[o], out[o + 1], out[o + 2] = w1, w2, w3
        out[o + 3] = x[o + 3] + w2 * d3 - w3 * d2
        out[o + 4] = x[o + 4] + w3 * d1 - w1 * d3
        out[o + 5] = x[o + 5] + w1 * d2 - w2 * d1


@kernel(forceinline=True)
def jet_row(s, wrench, p, y):
    """y (18) = S^T p + (S x* W, 0, 0): change of S^T W with the jet of the body in which S is fixed."""
    s0, s1, s2, s3, s4, s5 = s[0], s[1], s[2], s[3], s[4], s[5]
    for b in range(JET):
        y[b] = s0 * p[b] + s1 * p[18 + b] + s2 * p[36 + b] + s3 * p[54 + b] + s4 * p[72 + b] + s5 * p[90 + b]
    f0, f1, f2, f3, f4, f5 = wrench[0], wrench[1], wrench[2], wrench[3], wrench[4], wrench[5]
    y[0] += s1 * f2 - s2 * f1 + s4 * f5 - s5 * f4
    y[1] += s2 * f0 - s0 * f2 + s5 * f3 - s3 * f5
    y[2] += s0 * f1 - s1 * f0 + s3 * f4 - s4 * f3
    y[3] += s1 * f5 - s2 * f4
    y[4] += s2 * f3 - s0 * f5
    y[5] += s0 * f4 - s1 * f3


@kernel
def jet_dot(y, u):
    """y . u of two jets; three sums that do not wait for each other."""
    first, second, third = 0.0, 0.0, 0.0
    for b in range(6):
        first += y[b] * u[b]
        second += y[6 + b] * u[6 + b]
        third += y[12 + b] * u[12 + b]
    return first + second + third


@kernel(forceinline=True)
def jet_product(p, u, out):
    """out (6) = p u."""
    for a in range(6):
        out[a] = jet_dot(p[JET * a :], u)
