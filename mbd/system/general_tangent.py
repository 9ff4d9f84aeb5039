"""Columns of the matrix that belong to general elements: directional derivatives, see ``mbd.system.general``."""

from __future__ import annotations

from ..kernel import kernel
from ..nodes.frames import axis_jacobian, velocity_jacobian
from ..nodes.inertia import pull_back
from ..records import FORM_LIE
from .general import (
    DIRECTION,
    DIRECTION_RATE,
    FINE_STEP,
    FORCE,
    INPUT,
    STEP,
    SUM,
    TINY,
    complex_force,
    first_used,
    gather,
    general_force,
    rate_along,
    shifted,
)


@kernel
def direction(n, i, jac, t, k, ck, cc, d, dd):
    """Frame and frame velocity of body i along its increment k, weighted with ck and, for its velocity, cc."""
    o = 12 * i
    if k < n.nx:  # a translation
        for m in range(12):
            d[o + m] = 0.0
            dd[o + m] = 0.0
        d[o + k] = ck
        dd[o + k] = cc
        return
    lie = n.form == FORM_LIE
    for m in range(3):
        d[o + m] = 0.0
        dd[o + m] = 0.0
        for a in range(3):
            if lie:
                c, b = n.nx, k - n.nx
                speed = jac[a][m, c] * t[b] + jac[a][m, c + 1] * t[3 + b] + jac[a][m, c + 2] * t[6 + b]
            else:
                speed = jac[a][m, k]
            d[o + 3 + 3 * a + m] = ck * jac[a][m, k]
            dd[o + 3 + 3 * a + m] = ck * jac[3 + a][m, k] + cc * speed


@kernel
def body_jacobians(n, q, v, spin, z, jac, small):
    """Jacobians of the three axes of a body and of their velocities."""
    for a in range(3):
        x1, x2, x3 = 1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0
        axis_jacobian(n, q, spin, z, x1, x2, x3, jac[a])
        velocity_jacobian(n, q, v, spin, z, x1, x2, x3, jac[3 + a], small)


@kernel
def general_blocks(g, s, w, q, matrix):
    """Add B and B^T of a constraint."""
    d, dd = w.general[DIRECTION], w.general[DIRECTION_RATE]
    for m in range(12 * g.count):
        d[m] = 0.0
    for j in range(g.count):
        i = s.members[g.first + j]
        n = s.nodes[i]
        if n.nv == 0:
            continue
        body_jacobians(n, q, q, w.spin[i], w.z[i], w.jac, w.small)
        o = g.joint_blocks + 4 * j
        row, ld_row, column, ld_column = s.members[o], s.members[o + 1], s.members[o + 2], s.members[o + 3]
        for k in range(n.nv):
            direction(n, j, w.jac, w.eye[i], k, 1.0, 0.0, d, dd)
            gather(g, s, w)
            rate_along(g, s, w, d, 0.0)
            for r in range(g.rows):
                value = w.general[SUM, r]
                matrix[row + r * ld_row + k] += value
                matrix[column + k * ld_column + r] += value
        for m in range(12 * j, 12 * j + 12):
            d[m] = 0.0


@kernel
def _gradient_change(g, s, w, lam, d):
    """SUM = derivative along d of a gradient, from two neighbours; zero where the used entries do not change."""
    used, size = first_used(g), 0.0
    for k in range(g.uses):
        size = max(size, abs(d[s.members[used + k]]))
    if size == 0.0:
        return
    h = FINE_STEP / size
    for p in range(2):
        step = h if p == 0 else -h
        gather(g, s, w)
        x = w.general[INPUT]
        for k in range(g.uses):
            m = s.members[used + k]
            x[1 + m] += step * d[m]
        general_force(g, s, w, lam)
        for k in range(g.uses):
            m = s.members[used + k]
            w.general[SUM, m] += w.general[FORCE, m] / (2.0 * step)


@kernel
def _derivative(g, s, w, lam, d, dd):
    """SUM = derivative of the frame forces along (d, dd)."""
    total = w.general[SUM]
    if g.exact != 0:
        shifted(g, w.general, w.complex, TINY * 1j, d, dd, 0.0)
        complex_force(g, s, w, lam)
        for m in range(12 * g.count):
            total[m] = w.complex[FORCE, m].imag / TINY
        return
    size = 0.0
    for m in range(12 * g.count):
        total[m] = 0.0
        size = max(size, abs(d[m]), abs(dd[m]))
    if g.complex_function >= 0:  # a potential or a constraint with an exact gradient that depends on some entries only
        _gradient_change(g, s, w, lam, d)
        return
    if size == 0.0:
        return
    h = STEP / size
    for p in range(4):
        step = (2.0, 1.0, -1.0, -2.0)[p] * h
        gather(g, s, w)
        shifted(g, w.general, w.general, step, d, dd, 0.0)
        general_force(g, s, w, lam)
        for m in range(12 * g.count):
            total[m] += (-1.0, 8.0, -8.0, 1.0)[p] * w.general[FORCE, m] / (12.0 * h)


@kernel
def general_tangent(g, s, w, q, v, lam, t, cc, ck, matrix):
    """Add cc C T^-1 + ck K of an element (the frames' own curvature is added with the frame forces)."""
    gather(g, s, w)
    d, dd, row = w.general[DIRECTION], w.general[DIRECTION_RATE], w.small[7]
    for m in range(12 * g.count):
        d[m] = 0.0
        dd[m] = 0.0
    for j in range(g.count):
        b = s.members[g.first + j]
        n = s.nodes[b]
        if n.nv == 0:
            continue
        body_jacobians(n, q, v, w.spin[b], w.z[b], w.jac, w.small)
        for k in range(n.nv):
            direction(n, j, w.jac, t[b], k, ck, cc, d, dd)
            _derivative(g, s, w, lam, d, dd)
            for i in range(g.count):
                a = s.members[g.first + i]
                other = s.nodes[a]
                if other.nv > 0:
                    pull_back(other, q, w.spin[a], w.z[a], w.general[SUM, 12 * i :], row, 0)
                    o = g.blocks + 2 * (i * g.count + j)
                    block, ld = s.members[o], s.members[o + 1]
                    for m in range(other.nv):
                        matrix[block + m * ld + k] += row[m]
        for m in range(12 * j, 12 * j + 12):
            d[m] = 0.0
            dd[m] = 0.0
