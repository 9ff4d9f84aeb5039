"""The linear maps of unit quaternions: Omega = 2 G(e) e_dot in body axes, omega = 2 E(e) e_dot in world axes."""

from __future__ import annotations

from ..kernel import kernel


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
