"""How the frame forces of the multipliers of couplings and general constraints change along velocities y.

At an instant that is H[mu] y = sum_k mu_k D^2 g_k y. Over a step (w.time[1] = h > 0, see ``over_step``) it is a
discrete gradient, with respect to the frames, of the rates G(z) y: with DG, the discrete gradient of g in
``coupling_reactions``,

    mu . (G(z1) y1 - G(z0) y0) = mu . DG (y1 - y0) + (what is added here) . (z1 - z0)

holds exactly, of rolling with its rows for velocities in place of G. For quadratic constraints that is
H[mu] (y0 + y1)/2; others are corrected along the step.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import matrix, vector
from ..joints.angles import angle_curvature_force
from ..joints.angles_over_step import angle_curvature_over_step
from ..joints.instant import ANGLE, COINCIDENT, primitive_force
from .frame_elements import (
    DIRECTION,
    DIRECTION_RATE,
    FORCE,
    INPUT,
    RATE,
    REST,
    SUM,
    frame_element_force,
    gather,
    gonzalez_weight,
)
from .frame_tangents import force_change
from .tables import FLAG_COUPLED, Tables, Work


def _is_coupled(s: Tables) -> bool:
    return bool(s.flags[FLAG_COUPLED])


@kernel
def _rate_at(g, s, w, mu, c, y, dy):
    """mu . G(z) y of a general constraint at the start (c = -1/2) or the end (c = 1/2) of the step."""
    gather(g, s, w)
    x, xd, h, total = w.real_buffers[INPUT], w.real_buffers[RATE], w.time[1], 0.0
    for m in range(12 * g.count):
        x[1 + m] += c * h * xd[m]
    w.time[1] = 0.0
    frame_element_force(g, s, w, mu)
    w.time[1] = h
    for i in range(g.count):
        n = s.members[g.first + i]
        for m in range(12):
            total += w.real_buffers[FORCE, 12 * i + m] * (y[n, m] + c * dy[n, m])
    return total


@kernel
def _general_curvature(g, s, w, mu, y, dy):
    """w.f += the change of the forces of a general constraint along y."""
    d, dd, h = w.real_buffers[DIRECTION], w.real_buffers[DIRECTION_RATE], w.time[1]
    missing = 0.0
    if h != 0.0:
        missing = _rate_at(g, s, w, mu, 0.5, y, dy) - _rate_at(g, s, w, mu, -0.5, y, dy)
        gather(g, s, w)
        frame_element_force(g, s, w, mu)
        for i in range(g.count):
            n = s.members[g.first + i]
            for m in range(12):
                missing -= w.real_buffers[FORCE, 12 * i + m] * dy[n, m]
    for i in range(g.count):
        n = s.members[g.first + i]
        for m in range(12):
            d[12 * i + m] = y[n, m]
            dd[12 * i + m] = 0.0
    w.time[1] = 0.0  # in the middle of the step
    gather(g, s, w)
    force_change(g, s, w, mu, d, dd)
    w.time[1] = h
    gather(g, s, w)
    change, xd, square = w.real_buffers[SUM], w.real_buffers[RATE], 0.0
    for m in range(12 * g.count):
        square += gonzalez_weight(s, m) * h * h * xd[m] * xd[m]
        missing -= change[m] * h * xd[m]
    c = missing / square if square > REST else 0.0
    for i in range(g.count):
        f = w.f[s.members[g.first + i]]
        for m in range(12):
            k = 12 * i + m
            f[m] += change[k] + c * gonzalez_weight(s, k) * h * xd[k]


@entry(Tables, Work, vector, matrix, matrix, when=_is_coupled)
def coupling_curvatures(s, w, mu, y, dy):
    """w.f += the change along y at the frames w.z; over a step y and dy are mean and change of the velocities."""
    h = w.time[1]
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        a, b = p.a, p.b
        if p.kind == ANGLE and h != 0.0:
            angle_curvature_over_step(
                p, w.z[a], w.z[b], w.zd[a], w.zd[b], y[a], y[b], dy[a], dy[b], h, mu[p.l0], w.f[a], w.f[b]
            )
        elif p.kind == ANGLE:
            angle_curvature_force(p, w.z[a], w.z[b], y[a], y[b], mu[p.l0], w.f[a], w.f[b])
        elif p.kind != COINCIDENT:  # quadratic
            primitive_force(p, y[a], y[b], p.value, mu, p.l0, w.f[a], w.f[b])
    for k in range(s.frame_elements.shape[0]):
        if s.frame_elements[k].rows > 0:
            _general_curvature(s.frame_elements[k], s, w, mu, y, dy)
