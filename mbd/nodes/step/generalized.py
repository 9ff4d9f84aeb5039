"""Nodes with user coordinates over a step: momenta and discrete gradients for general, also singular, M(q).

With q1 = q0 + dq, qm the mean, and the discrete gradient of a function f [Gonzalez 1996, J. Nonlinear Sci. 6, 449]

    D f = f'(qm) + (f(q1) - f(q0) - f'(qm).dq) / |dq|^2 dq,     D f.dq = f(q1) - f(q0)

four rules are written here as functions of the increment dq and the multipliers [Kinon & Betsch 2024, Apps. A, B]:

LIVENS     v1 = 2 dq/h - v0,  p1 = (M0 + M1) dq/h - p0,   (p1 - p0)/h + D Phi = 0,
           Phi = V + lambda.g - (T(., v0) + T(., v1))/2     partitioned derivatives (129)-(131), no inverse of M
HAMILTON   pm = 2 M0 (M0 + M1)^-1 M1 dq/h,  p1 = 2 pm - p0,   (p1 - p0)/h + D Phi = 0,
           Phi = V + lambda.g + (T*(., p0) + T*(., p1))/2,  T* = p.M^-1 p/2     the same for Hamilton's equations
MIDPOINT   pm = M(qm) dq/h,  p1 = 2 pm - p0,   (p1 - p0)/h + V'(qm) - T_q(qm, dq/h) + G(qm)^T lambda = 0
VARIATIONAL  the same momenta in two halves, with G(q0)^T lambda in the first: discrete Euler-Lagrange equations

Forces f(t, q, v) of the user are evaluated in the middle of the step, at t, qm and dq/h.

Derivatives of user functions are exact by the complex step; the Newton matrix takes differences of these.
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ..generalized import TINY, _call, _load, add_reactions, generalized_mass, generalized_potential, subtract_force

LIVENS, HAMILTON, MIDPOINT, VARIATIONAL = 0, 1, 2, 3
NOISE = 16.0 * 2.220446049250313e-16  # share of its terms below which the numerator of the quotient is round-off
STEP = 1e-6  # of the differences in the Newton matrix


@kernel
def solve_small(a, m, x):
    """x := a^-1 x by elimination with row exchanges; a is m x m, row by row, and is overwritten."""
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(a[i * m + k]) > abs(a[best * m + k]):
                best = i
        if best != k:
            for j in range(m):
                a[k * m + j], a[best * m + j] = a[best * m + j], a[k * m + j]
            x[k], x[best] = x[best], x[k]
        for i in range(k + 1, m):
            c = a[i * m + k] / a[k * m + k]
            for j in range(k, m):
                a[i * m + j] -= c * a[k * m + j]
            x[i] -= c * x[k]
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            x[i] -= a[i * m + j] * x[j]
        x[i] /= a[i * m + i]


@kernel
def _product(a, m, x, c, out):
    """out = c a x."""
    for i in range(m):
        value = 0.0
        for j in range(m):
            value += a[i * m + j] * x[j]
        out[i] = c * value


@kernel
def _dot(x, y, m):
    value = 0.0
    for k in range(m):
        value += x[k] * y[k]
    return value


@kernel
def _gradient(n, x, va, vb, lam, functions, user, out):
    """out = d/dx (V + lambda.g - (T(x, va) + T(x, vb))/2)."""
    m = n.nv
    o = 2 * m
    for k in range(m):
        out[k] = 0.0
    if n.mass_function >= 0:
        _load(x, user, m)
        for k in range(m):
            user[2 * k + 1] = TINY
            _call(n.mass_function, functions, user, m)
            user[2 * k + 1] = 0.0
            for i in range(m):
                for j in range(m):
                    out[k] -= 0.25 * user[o + 2 * (i * m + j) + 1] / TINY * (va[i] * va[j] + vb[i] * vb[j])
    if n.potential_function >= 0:
        _load(x, user, m)
        for k in range(m):
            user[2 * k + 1] = TINY
            _call(n.potential_function, functions, user, m)
            user[2 * k + 1] = 0.0
            out[k] += user[o + 1] / TINY
    add_reactions(n, x, lam, 1.0, functions, user, out)


@kernel
def _potential(n, x, lam, functions, user):
    """V(x) + lambda.g(x)."""
    value = generalized_potential(n, x, functions, user)
    if n.constraint_function >= 0:
        _load(x, user, n.nv)
        _call(n.constraint_function, functions, user, n.nv)
        for j in range(n.nl):
            value += lam[j] * user[2 * n.nv + 2 * j]
    return value


@kernel
def correction(first, last, gradient, dq, m):
    """The quotient of Gonzalez' gradient; zero where its numerator is round-off."""
    along = _dot(gradient, dq, m)
    numerator = last - first - along
    if abs(numerator) <= NOISE * (abs(first) + abs(last) + abs(along)):
        return 0.0
    return numerator / _dot(dq, dq, m)


@kernel
def inverse_times(n, x, p, functions, constants, user, a, out):
    """out = M(x)^-1 p."""
    generalized_mass(n, x, functions, constants, user, a)
    for k in range(n.nv):
        out[k] = p[k]
    solve_small(a, n.nv, out)


@kernel
def generalized_momentum(n, x, rate, momentum, c, functions, constants, user, a):
    """momentum = c M(x) rate."""
    m = n.nv
    generalized_mass(n, x, functions, constants, user, a)
    for i in range(m):
        momentum[i] = 0.0
        for j in range(m):
            momentum[i] += c * a[i * m + j] * rate[j]


@kernel
def end_momentum(n, rule, q0, dq, p0, h, functions, constants, user, b, out):
    """out = p1 of LIVENS or HAMILTON, 2 M(qm) dq/h - p0 of the others; b are buffers."""
    m = n.nv
    y, a0, a1 = b[0], b[1], b[2]
    if rule >= MIDPOINT:
        for k in range(m):
            y[k] = q0[k] + 0.5 * dq[k]
        generalized_mass(n, y, functions, constants, user, a1)
        _product(a1, m, dq, 2.0 / h, out)
    else:
        for k in range(m):
            y[k] = q0[k] + dq[k]
        generalized_mass(n, q0, functions, constants, user, a0)
        generalized_mass(n, y, functions, constants, user, a1)
        if rule == LIVENS:
            for k in range(m * m):
                a0[k] += a1[k]
            _product(a0, m, dq, 1.0 / h, out)
        else:
            _product(a1, m, dq, 4.0 / h, y)
            for k in range(m * m):
                a1[k] += a0[k]
            solve_small(a1, m, y)
            _product(a0, m, y, 1.0, out)
    for k in range(m):
        out[k] -= p0[k]


@kernel
def step_forces(n, rule, t, q0, dq, v0, p0, lam, h, functions, constants, user, b, out):
    """out = (p1 - p0)/h + forces of the rule (see the module's text)."""
    m = n.nv
    p1 = b[3]
    end_momentum(n, rule, q0, dq, p0, h, functions, constants, user, b, p1)
    x, a = b[0], b[1]
    va, vb = b[2], b[2][m:]
    for k in range(m):
        x[k] = q0[k] + 0.5 * dq[k]
    if rule == HAMILTON:
        inverse_times(n, x, p0, functions, constants, user, a, va)
        inverse_times(n, x, p1, functions, constants, user, a, vb)
    else:
        for k in range(m):
            va[k] = v0[k] if rule == LIVENS else dq[k] / h
            vb[k] = 2.0 * dq[k] / h - v0[k] if rule == LIVENS else dq[k] / h
    momentum_balance(n, rule, t, q0, dq, va, vb, p0, p1, lam, h, functions, constants, user, b, out)


@kernel
def momentum_balance(n, rule, t, q0, dq, va, vb, p0, p1, lam, h, functions, constants, user, b, out):
    """out = (p1 - p0)/h + forces of the rule, for velocities va and vb of the kinetic energy and momenta of both ends.

    t is the middle of the step. Of the buffers b, rows 0, 1 and 4 are used.
    """
    m = n.nv
    x, a = b[0], b[1]
    for k in range(m):
        x[k] = q0[k] + 0.5 * dq[k]
    _gradient(n, x, va, vb, lam, functions, user, out)
    if rule < MIDPOINT:
        first = 0.0
        for end in range(2):
            for k in range(m):
                x[k] = q0[k] + end * dq[k]
            value = _potential(n, x, lam, functions, user)
            generalized_mass(n, x, functions, constants, user, a)
            y = b[4]
            if rule == LIVENS:
                _product(a, m, va, 1.0, y)
                value -= 0.25 * _dot(va, y, m)
                _product(a, m, vb, 1.0, y)
                value -= 0.25 * _dot(vb, y, m)
            else:
                inverse_times(n, x, p0, functions, constants, user, a, y)
                value += 0.25 * _dot(p0, y, m)
                inverse_times(n, x, p1, functions, constants, user, a, y)
                value += 0.25 * _dot(p1, y, m)
            if end == 0:
                first = value
            else:
                c = correction(first, value, out, dq, m)
                for k in range(m):
                    out[k] += c * dq[k]
    for k in range(m):
        out[k] += (p1[k] - p0[k]) / h
    if n.force_function >= 0:
        y = b[4]
        for k in range(m):
            x[k], y[k] = q0[k] + 0.5 * dq[k], dq[k] / h
        subtract_force(n, t, x, y, functions, user, out)


@kernel
def constraint_gradient(n, j, q0, dq, lean, functions, user, b, out):
    """out = discrete gradient of constraint j; ``lean``: 0 at q0, 1 in the middle, 2 with Gonzalez' correction."""
    m = n.nv
    x = b[0]
    for k in range(m):
        x[k] = q0[k] + (0.5 * dq[k] if lean > 0 else 0.0)
    _load(x, user, m)
    for k in range(m):
        user[2 * k + 1] = TINY
        _call(n.constraint_function, functions, user, m)
        user[2 * k + 1] = 0.0
        out[k] = user[2 * m + 2 * j + 1] / TINY
    if lean == 2:
        _load(q0, user, m)
        _call(n.constraint_function, functions, user, m)
        first = user[2 * m + 2 * j]
        for k in range(m):
            x[k] = q0[k] + dq[k]
        _load(x, user, m)
        _call(n.constraint_function, functions, user, m)
        c = correction(first, user[2 * m + 2 * j], out, dq, m)
        for k in range(m):
            out[k] += c * dq[k]


@kernel
def step_matrix(n, rule, t, q0, dq, v0, p0, lam, h, scale, functions, constants, user, b, matrix):
    """Add scale times d(step_forces)/d(dq), rows G(q1), and columns of the discrete gradients of the constraints."""
    m, o, ld = n.nv, n.block, n.ld
    y, plus, minus = b[5], b[6], b[7]
    for j in range(m):
        d = STEP * max(1.0, abs(q0[j]))
        for k in range(m):
            y[k] = dq[k]
        y[j] = dq[j] + d
        step_forces(n, rule, t, q0, y, v0, p0, lam, h, functions, constants, user, b, plus)
        y[j] = dq[j] - d
        step_forces(n, rule, t, q0, y, v0, p0, lam, h, functions, constants, user, b, minus)
        for i in range(m):
            matrix[o + i * ld + j] += scale * (plus[i] - minus[i]) / (2.0 * d)
    lean = 2 if rule < MIDPOINT else (1 if rule == MIDPOINT else 0)
    constraint_blocks(n, lean, q0, dq, functions, user, b, matrix)


@kernel
def constraint_blocks(n, lean, q0, dq, functions, user, b, matrix):
    """Add rows G(q1), and columns of the discrete gradients of the constraints; b rows 0, 5, 6 and 7 are used."""
    m, o, ld = n.nv, n.block, n.ld
    y, plus, minus = b[5], b[6], b[7]
    for j in range(n.nl):
        constraint_gradient(n, j, q0, dq, lean, functions, user, b, plus)
        for k in range(m):
            y[k] = q0[k] + dq[k]
        constraint_gradient(n, j, y, dq, 0, functions, user, b, minus)
        for k in range(m):
            matrix[o + k * ld + m + j] += plus[k]
            matrix[o + (m + j) * ld + k] += minus[k]
