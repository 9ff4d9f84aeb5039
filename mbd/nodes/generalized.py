"""Nodes with user coordinates: kinetic energy v.M(q)v/2, potential V(q), constraints g(q).

First derivatives of the user's functions are the imaginary parts of their complex twins; what the Newton matrix
needs beyond them is a difference of these. The equations are
``M v_dot + M_dot v - d(v.Mv/2)/dq + dV/dq + G^T lambda = f(t, q, v)``.
"""

from __future__ import annotations

from ..compiled.functions.calls import call_vector
from ..compiled.kernel import kernel

TINY = 1e-30  # imaginary step
STENCIL = 1e-3  # step of the fourth-order differences of exact first derivatives


@kernel
def _call(function, functions, user, n):
    f = functions[function]
    call_vector(f.address, user.ctypes.data, user[2 * n :].ctypes.data, f.block)


@kernel
def _load(x, user, n):
    for k in range(n):
        user[2 * k] = x[k]
        user[2 * k + 1] = 0.0


@kernel
def generalized_mass(n, x, functions, constants, user, out):
    """out[0 : n*n] = M(x), row by row."""
    m = n.nv
    if n.mass_function < 0:
        for k in range(m * m):
            out[k] = constants[n.u0 + k]
        return
    _load(x, user, m)
    _call(n.mass_function, functions, user, m)
    for k in range(m * m):
        out[k] = user[2 * m + 2 * k]


@kernel
def subtract_force(n, t, x, v, functions, user, out):
    """out -= f(t, x, v)."""
    if n.force_function < 0:
        return
    m = n.nv
    user[0] = t
    for k in range(m):
        user[1 + k] = x[k]
        user[1 + m + k] = v[k]
    f = functions[n.force_function]
    call_vector(f.address, user.ctypes.data, user[1 + 2 * m :].ctypes.data, f.block)
    for k in range(m):
        out[k] -= user[1 + 2 * m + k]


@kernel
def generalized_forces(n, t, x, v, vd, lam, functions, constants, user, out):
    """out[0:n] = M vd + gyroscopic terms + dV/dq + G^T lam - f, out[n:] = g(q); x, v, vd, lam are the node's own."""
    m = n.nv
    o = 2 * m
    for k in range(m + n.nl):
        out[k] = 0.0
    if n.mass_function < 0:
        for i in range(m):
            for j in range(m):
                out[i] += constants[n.u0 + i * m + j] * vd[j]
    else:
        _load(x, user, m)
        _call(n.mass_function, functions, user, m)
        for i in range(m):
            for j in range(m):
                out[i] += user[o + 2 * (i * m + j)] * vd[j]
        for k in range(m):
            user[2 * k + 1] = TINY
            _call(n.mass_function, functions, user, m)
            user[2 * k + 1] = 0.0
            quadratic = 0.0
            for i in range(m):
                row = 0.0
                for j in range(m):
                    row += user[o + 2 * (i * m + j) + 1] / TINY * v[j]
                out[i] += row * v[k]
                quadratic += row * v[i]
            out[k] -= 0.5 * quadratic
    if n.potential_function >= 0:
        _load(x, user, m)
        for k in range(m):
            user[2 * k + 1] = TINY
            _call(n.potential_function, functions, user, m)
            user[2 * k + 1] = 0.0
            out[k] += user[o + 1] / TINY
    if n.constraint_function >= 0:
        _load(x, user, m)
        for k in range(m):
            user[2 * k + 1] = TINY
            _call(n.constraint_function, functions, user, m)
            user[2 * k + 1] = 0.0
            for j in range(n.nl):
                out[k] += user[o + 2 * j + 1] / TINY * lam[j]
                out[m + j] = user[o + 2 * j]
    subtract_force(n, t, x, v, functions, user, out)


@kernel
def constraint_values(n, x, functions, user, out):
    """out[0:nl] = g(x)."""
    if n.constraint_function < 0:
        return
    _load(x, user, n.nv)
    _call(n.constraint_function, functions, user, n.nv)
    for j in range(n.nl):
        out[j] = user[2 * n.nv + 2 * j]


@kernel
def add_reactions(n, x, lam, c, functions, user, out):
    """out[0:n] += c G(x)^T lam."""
    if n.constraint_function < 0:
        return
    m = n.nv
    _load(x, user, m)
    for k in range(m):
        user[2 * k + 1] = TINY
        _call(n.constraint_function, functions, user, m)
        user[2 * k + 1] = 0.0
        for j in range(n.nl):
            out[k] += c * (user[2 * m + 2 * j + 1] / TINY) * lam[j]


@kernel
def add_reaction_change(n, x, y, lam, c, functions, user, shifted, out):
    """out[0:n] += c D^2 (lam.g)(x) y by a fourth-order difference of exact first derivatives; shifted is scratch."""
    size = 0.0
    for k in range(n.nv):
        size = max(size, abs(y[k]))
    if n.constraint_function < 0 or size == 0.0:
        return
    h = STENCIL / size
    for p in range(4):
        step = (2.0, 1.0, -1.0, -2.0)[p]
        weight = (-1.0, 8.0, -8.0, 1.0)[p]
        for k in range(n.nv):
            shifted[k] = x[k] + step * h * y[k]
        add_reactions(n, shifted, lam, c * weight / (12.0 * h), functions, user, out)


@kernel
def generalized_rate(n, x, v, shift, functions, user, out):
    """out[0:nl] = G(x + shift v) v."""
    m = n.nv
    for k in range(m):
        user[2 * k] = x[k] + shift * v[k]
        user[2 * k + 1] = TINY * v[k]
    _call(n.constraint_function, functions, user, m)
    for j in range(n.nl):
        out[j] = user[2 * m + 2 * j + 1] / TINY


@kernel
def generalized_curvature(n, x, v, functions, user, scratch, out, i):
    """out[i : i+nl] = D^2 g[v, v] by a fourth-order difference of exact first derivatives."""
    for j in range(n.nl):
        out[i + j] = 0.0
    size = 0.0
    for k in range(n.nv):
        size = max(size, abs(v[k]))
    if size == 0.0:
        return
    h = STENCIL / size
    for p in range(4):
        step = (2.0, 1.0, -1.0, -2.0)[p]
        weight = (-1.0, 8.0, -8.0, 1.0)[p]
        generalized_rate(n, x, v, step * h, functions, user, scratch)
        for j in range(n.nl):
            out[i + j] += weight * scratch[j] / (12.0 * h)


@kernel
def generalized_potential(n, x, functions, user):
    """V(x)."""
    if n.potential_function < 0:
        return 0.0
    _load(x, user, n.nv)
    _call(n.potential_function, functions, user, n.nv)
    return user[2 * n.nv]


@kernel
def mass_block(n, x, functions, constants, user, scratch, cm, matrix):
    """Add cm M to the node's diagonal block."""
    generalized_mass(n, x, functions, constants, user, scratch)
    for i in range(n.nv):
        for j in range(n.nv):
            matrix[n.block + i * n.ld + j] += cm * scratch[i * n.nv + j]


@kernel
def gradient_block(n, x, functions, user, crow, ccol, matrix):
    """Add crow G(x) and ccol G(x)^T to the rows and columns of the constraints in the node's diagonal block."""
    if n.constraint_function < 0:
        return
    m, o, ld = n.nv, n.block, n.ld
    _load(x, user, m)
    for k in range(m):
        user[2 * k + 1] = TINY
        _call(n.constraint_function, functions, user, m)
        user[2 * k + 1] = 0.0
        for j in range(n.nl):
            value = user[2 * m + 2 * j + 1] / TINY
            matrix[o + (m + j) * ld + k] += crow * value
            matrix[o + k * ld + m + j] += ccol * value


@kernel
def generalized_tangent(n, t, x, v, vd, lam, functions, constants, user, buffers, cm, cc, cb, ck, matrix):
    """Add cm M + cc C + ck K and cb G, G^T to the node's diagonal block."""
    m = n.nv
    o, ld = n.block, n.ld
    plus, minus, y = buffers[0], buffers[1], buffers[2]
    mass_block(n, x, functions, constants, user, plus, cm, matrix)
    gradient_block(n, x, functions, user, cb, cb, matrix)
    for request in range(2):  # 0: with respect to velocity, 1: with respect to coordinates
        c = cc if request == 0 else ck
        if c == 0.0:
            continue
        base = v if request == 0 else x
        for j in range(m):
            for k in range(m):
                y[k] = base[k]
            h = 1e-5 * max(1.0, abs(base[j]))
            y[j] = base[j] + h
            if request == 0:
                generalized_forces(n, t, x, y, vd, lam, functions, constants, user, plus)
            else:
                generalized_forces(n, t, y, v, vd, lam, functions, constants, user, plus)
            y[j] = base[j] - h
            if request == 0:
                generalized_forces(n, t, x, y, vd, lam, functions, constants, user, minus)
            else:
                generalized_forces(n, t, y, v, vd, lam, functions, constants, user, minus)
            for i in range(m):
                matrix[o + i * ld + j] += c * (plus[i] - minus[i]) / (2.0 * h)
