"""Diagonal blocks of the iteration matrix: cm M T^-1 + cc C T^-1 + ck K of the inertia forces of every node.

C is the derivative with respect to velocity, K with respect to the increment. The unknown of the linear system is
the increment *at the end* of the step, T_exp(dq) d(dq); with it only these diagonal blocks know T_exp, every
constraint block is the plain Jacobian.
"""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..math.quaternions import bilinear_axes
from .forms import FORM_DIRECTORS, FORM_LIE, FORM_QUATERNION
from .inertia import pull_back
from .markers import body_components
from .mass import frame_inertia, inertia_times


@kernel
def node_tangent(n, q, v, vd, g, z, t, cm, cc, ck, matrix, scratch):
    """Add the inertia part of one node's diagonal block; t holds T_exp^-1 of a Lie node.

    Rotations of three-parameter nodes have a kernel of their own, ``spin_tangent``.
    """
    form = n.form
    if n.nx == 3:
        d = cm * n.mass
        matrix[n.block] += d
        matrix[n.block + n.ld + 1] += d
        matrix[n.block + 2 * n.ld + 2] += d
    if form == FORM_LIE:
        _lie_tangent(n, v, vd, z, t, cm, cc, ck, matrix, scratch)
    elif form == FORM_QUATERNION:
        _quaternion_tangent(n, q, v, vd, g, z, cm, cc, ck, matrix, scratch)
    elif form == FORM_DIRECTORS:
        director_mass(n, cm, matrix)


@kernel
def _lie_tangent(n, v, vd, z, t, cm, cc, ck, matrix, scratch):
    k = n.v0 + n.nx
    ld = n.ld
    o = n.block + n.nx * ld + n.nx
    w1, w2, w3 = v[k], v[k + 1], v[k + 2]
    h1, h2, h3 = inertia_times(n, w1, w2, w3)
    j11, j22, j33, j12, j13, j23 = n.j11, n.j22, n.j33, n.j12, n.j13, n.j23
    # cm J + cc (hat(w) J - hat(J w)), row by row, times T^-1
    for i in range(3):
        if i == 0:
            b1 = cm * j11 + cc * (w2 * j13 - w3 * j12)
            b2 = cm * j12 + cc * (w2 * j23 - w3 * j22 + h3)
            b3 = cm * j13 + cc * (w2 * j33 - w3 * j23 - h2)
        elif i == 1:
            b1 = cm * j12 + cc * (w3 * j11 - w1 * j13 - h3)
            b2 = cm * j22 + cc * (w3 * j12 - w1 * j23)
            b3 = cm * j23 + cc * (w3 * j13 - w1 * j33 + h1)
        else:
            b1 = cm * j13 + cc * (w1 * j12 - w2 * j11 + h2)
            b2 = cm * j23 + cc * (w1 * j22 - w2 * j12 - h1)
            b3 = cm * j33 + cc * (w1 * j23 - w2 * j13)
        p = o + i * ld
        matrix[p] += b1 * t[0] + b2 * t[3] + b3 * t[6]
        matrix[p + 1] += b1 * t[1] + b2 * t[4] + b3 * t[7]
        matrix[p + 2] += b1 * t[2] + b2 * t[5] + b3 * t[8]
    if n.nx == 3 and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0):
        _offset_tangent(n, v, vd, z, t, cm, cc, ck, matrix, scratch)


@kernel
def _offset_tangent(n, v, vd, z, t, cm, cc, ck, matrix, scratch):
    """Coupling of translation and rotation of a Lie node whose centre of mass is off its reference point."""
    k = n.v0
    s1, s2, s3 = n.s1, n.s2, n.s3
    w1, w2, w3 = v[k + 3], v[k + 4], v[k + 5]
    p1, p2, p3 = vd[k + 3], vd[k + 4], vd[k + 5]
    u1, u2, u3 = w2 * s3 - w3 * s2, w3 * s1 - w1 * s3, w1 * s2 - w2 * s1  # w x s
    y1 = p2 * s3 - p3 * s2 + w2 * u3 - w3 * u2  # alpha x s + w x (w x s)
    y2 = p3 * s1 - p1 * s3 + w3 * u1 - w1 * u3
    y3 = p1 * s2 - p2 * s1 + w1 * u2 - w2 * u1
    a1, a2, a3 = body_components(z, vd[k], vd[k + 1], vd[k + 2])
    ws = w1 * s1 + w2 * s2 + w3 * s3
    as_ = a1 * s1 + a2 * s2 + a3 * s3
    b = scratch[0]  # -cm hat(s) - cc (hat(w) hat(s) + hat(w x s)); hat(w) hat(s) = s w^T - (w.s) I
    b[0] = -cc * (s1 * w1 - ws)
    b[1] = cm * s3 - cc * (s1 * w2 - u3)
    b[2] = -cm * s2 - cc * (s1 * w3 + u2)
    b[3] = -cm * s3 - cc * (s2 * w1 + u3)
    b[4] = -cc * (s2 * w2 - ws)
    b[5] = cm * s1 - cc * (s2 * w3 - u1)
    b[6] = cm * s2 - cc * (s3 * w1 - u2)
    b[7] = -cm * s1 - cc * (s3 * w2 + u1)
    b[8] = -cc * (s3 * w3 - ws)
    c = scratch[1]
    for i in range(3):
        for j in range(3):
            c[3 * i + j] = b[3 * i] * t[j] + b[3 * i + 1] * t[3 + j] + b[3 * i + 2] * t[6 + j]
    # - ck hat(y): motion of the inertia force with the body
    c[1] += ck * y3
    c[2] -= ck * y2
    c[3] -= ck * y3
    c[5] += ck * y1
    c[6] += ck * y2
    c[7] -= ck * y1
    ld = n.ld
    o = n.block
    for i in range(3):
        for j in range(3):
            matrix[o + i * ld + 3 + j] += z[3 + i] * c[j] + z[6 + i] * c[3 + j] + z[9 + i] * c[6 + j]  # R c
        # cm hat(s) R^T: rows are s x (rows of R^T)
        matrix[o + 3 * ld + i] += cm * (s2 * z[9 + i] - s3 * z[6 + i])
        matrix[o + 4 * ld + i] += cm * (s3 * z[3 + i] - s1 * z[9 + i])
        matrix[o + 5 * ld + i] += cm * (s1 * z[6 + i] - s2 * z[3 + i])
    # ck hat(s) hat(R^T a) = ck (a s^T - (a.s) I)
    o = n.block + 3 * ld + 3
    matrix[o] += ck * (a1 * s1 - as_)
    matrix[o + 1] += ck * a1 * s2
    matrix[o + 2] += ck * a1 * s3
    matrix[o + ld] += ck * a2 * s1
    matrix[o + ld + 1] += ck * (a2 * s2 - as_)
    matrix[o + ld + 2] += ck * a2 * s3
    matrix[o + 2 * ld] += ck * a3 * s1
    matrix[o + 2 * ld + 1] += ck * a3 * s2
    matrix[o + 2 * ld + 2] += ck * (a3 * s3 - as_)


@kernel
def _quaternion_tangent(n, q, v, vd, g, z, cm, cc, ck, matrix, scratch):
    """Columns of Z^T M_z dz_ddot with dz_ddot = 2 R(cm e + 2 cc e_dot + ck e_ddot, column)."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    y0 = cm * q[j] + 2.0 * cc * v[k] + ck * vd[k]
    y1 = cm * q[j + 1] + 2.0 * cc * v[k + 1] + ck * vd[k + 1]
    y2 = cm * q[j + 2] + 2.0 * cc * v[k + 2] + ck * vd[k + 2]
    y3 = cm * q[j + 3] + 2.0 * cc * v[k + 3] + ck * vd[k + 3]
    zdd, f, x = scratch[0], scratch[1], scratch[3]
    for column in range(4 + n.nx):
        for m in range(12):
            zdd[m] = 0.0
            f[m] = 0.0
        c = column - n.nx
        if c < 0:
            zdd[column] = cm
        elif c == 0:
            bilinear_axes(y0, y1, y2, y3, 1.0, 0.0, 0.0, 0.0, zdd)
        elif c == 1:
            bilinear_axes(y0, y1, y2, y3, 0.0, 1.0, 0.0, 0.0, zdd)
        elif c == 2:
            bilinear_axes(y0, y1, y2, y3, 0.0, 0.0, 1.0, 0.0, zdd)
        else:
            bilinear_axes(y0, y1, y2, y3, 0.0, 0.0, 0.0, 1.0, zdd)
        frame_inertia(n, zdd, f)
        pull_back(n, q, g, z, f, x, 0)
        for row in range(4 + n.nx):
            if row >= n.nx or c >= 0:  # the translational block has been written by the caller
                matrix[n.block + row * n.ld + column] += x[row]


@kernel
def director_mass(n, cm, matrix):
    """Add cm times the constant frame mass matrix, without the mass itself."""
    o = n.block + n.nx * n.ld + n.nx
    ld = n.ld
    for m in range(3):
        if n.nx == 3:
            for i in range(3):
                s = cm * (n.s1 if i == 0 else (n.s2 if i == 1 else n.s3))
                matrix[n.block + m * ld + 3 + 3 * i + m] += s
                matrix[n.block + (3 + 3 * i + m) * ld + m] += s
        matrix[o + m * ld + m] += cm * n.e11
        matrix[o + (3 + m) * ld + 3 + m] += cm * n.e22
        matrix[o + (6 + m) * ld + 6 + m] += cm * n.e33
        matrix[o + m * ld + 3 + m] += cm * n.e12
        matrix[o + (3 + m) * ld + m] += cm * n.e12
        matrix[o + m * ld + 6 + m] += cm * n.e13
        matrix[o + (6 + m) * ld + m] += cm * n.e13
        matrix[o + (3 + m) * ld + 6 + m] += cm * n.e23
        matrix[o + (6 + m) * ld + 3 + m] += cm * n.e23
