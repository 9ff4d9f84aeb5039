"""Linear maps of quaternions: Omega = 2 G(e) e_dot in body axes, omega = 2 E(e) e_dot in world axes, d(R(e) c)/de."""

from __future__ import annotations

from ...compiled.kernel import kernel


@kernel
def g_times(e0, e1, e2, e3, x0, x1, x2, x3):
    """G(e) x = vector part of conj(e) o x."""
    return (
        -e1 * x0 + e0 * x1 + e3 * x2 - e2 * x3,
        -e2 * x0 - e3 * x1 + e0 * x2 + e1 * x3,
        -e3 * x0 + e2 * x1 - e1 * x2 + e0 * x3,
    )


@kernel
def g_transposed(e0, e1, e2, e3, u1, u2, u3):
    """G(e)^T u = e o (0, u)."""
    return (
        -e1 * u1 - e2 * u2 - e3 * u3,
        e0 * u1 + e2 * u3 - e3 * u2,
        e0 * u2 + e3 * u1 - e1 * u3,
        e0 * u3 + e1 * u2 - e2 * u1,
    )


@kernel
def e_transposed(e0, e1, e2, e3, u1, u2, u3):
    """E(e)^T u = (0, u) o e."""
    return (
        -e1 * u1 - e2 * u2 - e3 * u3,
        e0 * u1 - e2 * u3 + e3 * u2,
        e0 * u2 - e3 * u1 + e1 * u3,
        e0 * u3 - e1 * u2 + e2 * u1,
    )


@kernel
def lever_times(c1, c2, c3, e0, e1, e2, e3, x0, x1, x2, x3):
    """C(e) x = d(R(e) c)/de x, bilinear and symmetric in e and x."""
    a, b, d = e1 * c1 + e2 * c2 + e3 * c3, x1 * c1 + x2 * c2 + x3 * c3, e1 * x1 + e2 * x2 + e3 * x3
    y1, y2, y3 = x0 * e1 + e0 * x1, x0 * e2 + e0 * x2, x0 * e3 + e0 * x3
    s = e0 * x0 - d
    return (
        2.0 * (s * c1 + b * e1 + a * x1 + y2 * c3 - y3 * c2),
        2.0 * (s * c2 + b * e2 + a * x2 + y3 * c1 - y1 * c3),
        2.0 * (s * c3 + b * e3 + a * x3 + y1 * c2 - y2 * c1),
    )


@kernel
def lever_transposed(c1, c2, c3, e0, e1, e2, e3, f1, f2, f3):
    """C(e)^T f."""
    a, b, d = e1 * c1 + e2 * c2 + e3 * c3, e1 * f1 + e2 * f2 + e3 * f3, c1 * f1 + c2 * f2 + c3 * f3
    t1, t2, t3 = c2 * f3 - c3 * f2, c3 * f1 - c1 * f3, c1 * f2 - c2 * f1
    return (
        2.0 * (e0 * d + e1 * t1 + e2 * t2 + e3 * t3),
        2.0 * (b * c1 + a * f1 - d * e1 + e0 * t1),
        2.0 * (b * c2 + a * f2 - d * e2 + e0 * t2),
        2.0 * (b * c3 + a * f3 - d * e3 + e0 * t3),
    )
