"""Couplings of joint coordinates and frame elements, at an instant and over a step; compiled for models with them."""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer, matrix, real, vector
from ..elements.frame_kinds import USER_FORCE
from ..joints.angles import (
    angle_blocks,
    angle_curvature,
    angle_force,
    angle_rate,
    angle_stiffness,
    angle_value,
)
from ..joints.angles_over_step import angle_force_over_step
from ..joints.instant import (
    ANGLE,
    BOTH,
    primitive_blocks,
    primitive_curvature,
    primitive_force,
    primitive_rate,
    primitive_stiffness,
    primitive_value,
)
from .frame_elements import (
    FORCE,
    OUT,
    frame_element_energy,
    frame_element_force,
    frame_element_power,
    frame_element_value,
    gather,
)
from .frame_rates import frame_element_bias, frame_element_rate
from .frame_tangents import frame_element_blocks, frame_element_tangent
from .tables import FLAG_COUPLED, Tables, Work
from .user_forces import user_force, user_tangent

POSITION, VELOCITY, ACCELERATION, LEVEL_DRIVEN = 0, 1, 2, 3  # LEVEL_DRIVEN: B v + g_t
FIRST_TERM = 1  # of a sum of joint coordinates (column ``shared``)


def _is_coupled(s: Tables) -> bool:
    return bool(s.flags[FLAG_COUPLED])


def _has_frame_elements(s: Tables) -> bool:
    return len(s.frame_elements) > 0


@kernel
def _add_general(g, s, w, lam):
    gather(g, s, w)
    frame_element_force(g, s, w, lam)
    for i in range(g.count):
        f = w.f[s.members[g.first + i]]
        for m in range(12):
            f[m] += w.real_buffers[FORCE, 12 * i + m]


@entry(Tables, Work, vector, when=_is_coupled)
def coupling_reactions(s, w, lam):
    """Frame forces of the multipliers of couplings and general constraints; over a step if w.time[1] is not zero."""
    h = w.time[1]
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        a, b = p.a, p.b
        if p.kind != ANGLE:
            primitive_force(p, w.z[a], w.z[b], p.value, lam, p.l0, w.f[a], w.f[b])
        elif h != 0.0:
            angle_force_over_step(p, w.z[a], w.z[b], w.zd[a], w.zd[b], h, lam[p.l0], w.f[a], w.f[b])
        else:
            angle_force(p, w.z[a], w.z[b], lam[p.l0], w.f[a], w.f[b])
    for k in range(s.frame_elements.shape[0]):
        if s.frame_elements[k].rows > 0:
            _add_general(s.frame_elements[k], s, w, lam)


@entry(Tables, Work, vector, when=_is_coupled)
def coupling_forces(s, w, lam):
    """Frame forces of couplings and frame elements."""
    coupling_reactions(s, w, lam)
    for k in range(s.frame_elements.shape[0]):
        g = s.frame_elements[k]
        if g.kind == USER_FORCE and w.time[1] == 0.0:
            user_force(g, s, w)
        elif g.rows == 0:
            _add_general(g, s, w, lam)


@kernel
def _coupling_row(p, w, x, level):
    """The contribution of one joint coordinate to x[p.x0], which is set; w.scratch is scratch."""
    a, b = p.a, p.b
    za, zb = w.z[a], w.z[b]
    if p.kind == ANGLE:
        if level == POSITION:
            x[p.x0] = angle_value(p, za, zb, w.turns[p.turn]) - p.value
        elif level == ACCELERATION:
            x[p.x0] = angle_rate(p, za, zb, w.zb[a], w.zb[b]) + angle_curvature(p, za, zb, w.zd[a], w.zd[b])
        else:
            x[p.x0] = angle_rate(p, za, zb, w.zd[a], w.zd[b])
    elif level == POSITION:
        primitive_value(p, za, zb, p.value, x, p.x0)
    elif level == ACCELERATION:
        primitive_rate(p, za, zb, w.zb[a], w.zb[b], p.value, x, p.x0)
        primitive_curvature(p, w.zd[a], w.zd[b], p.value, x, p.x0)
    else:
        primitive_rate(p, za, zb, w.zd[a], w.zd[b], p.value, x, p.x0)


@entry(Tables, Work, vector, integer, when=_is_coupled)
def coupling_constraints(s, w, x, level):
    """Rows of couplings and general constraints: g, B v, gamma, or B v + g_t."""
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        before = 0.0 if p.shared == FIRST_TERM else x[p.x0]
        _coupling_row(p, w, x, level)
        x[p.x0] += before
        if p.function >= 0:
            if level == POSITION:
                x[p.x0] += p.value - w.values[p.function]
            elif level == ACCELERATION:
                x[p.x0] -= w.values[p.function + 2]
            elif level == LEVEL_DRIVEN:
                x[p.x0] -= w.values[p.function + 1]
    for k in range(s.frame_elements.shape[0]):
        g = s.frame_elements[k]
        if g.rows == 0:
            continue
        if level == POSITION:
            gather(g, s, w)
            frame_element_value(g, s, w)
            for j in range(g.rows):
                x[g.x0 + j] = w.real_buffers[OUT, j]
        elif level == ACCELERATION:
            frame_element_bias(g, s, w, x, g.x0)
        else:
            frame_element_rate(g, s, w, 1.0 if level == LEVEL_DRIVEN else 0.0, x, g.x0)


@entry(Tables, Work, vector, vector, vector, matrix, real, real, vector, when=_is_coupled)
def coupling_stiffness(s, w, q, v, lam, t, cc, ck, into):
    """Damping and stiffness of couplings and frame elements."""
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        a, b = p.a, p.b
        na, nb, ga, gb, za, zb = s.nodes[a], s.nodes[b], w.spin[a], w.spin[b], w.z[a], w.z[b]
        if ck == 0.0:
            continue
        if p.kind == ANGLE:
            zda, zdb = w.zd[a], w.zd[b]
            angle_stiffness(p, na, nb, q, v, ga, gb, za, zb, zda, zdb, lam[p.l0], ck, w.jacobians, w.scratch, into)
        else:
            primitive_stiffness(p, na, nb, q, ga, gb, za, zb, p.value, lam, p.l0, ck, w.jacobians, into)
    for k in range(s.frame_elements.shape[0]):
        g = s.frame_elements[k]
        if g.kind == USER_FORCE and g.exact != 0 and w.time[1] == 0.0:
            user_tangent(g, s, w, q, v, t, cc, ck, into)
        elif ck != 0.0 or (g.rows == 0 and cc != 0.0):
            frame_element_tangent(g, s, w, q, v, lam, t, cc, ck, into)


@entry(Tables, Work, vector, vector, vector, matrix, real, real, vector, when=_is_coupled)
def coupling_tangent(s, w, q, v, lam, t, cc, ck, into):
    """B, B^T, damping and stiffness of couplings and frame elements."""
    for k in range(s.couplings.shape[0]):
        p = s.couplings[k]
        a, b = p.a, p.b
        na, nb, ga, gb, za, zb = s.nodes[a], s.nodes[b], w.spin[a], w.spin[b], w.z[a], w.z[b]
        if p.kind == ANGLE:
            angle_blocks(p, na, nb, q, ga, gb, za, zb, w.jacobians, into)
        else:
            primitive_blocks(p, na, nb, q, ga, gb, za, zb, za, zb, p.value, 1.0, BOTH, w.jacobians, into)
    for k in range(s.frame_elements.shape[0]):
        if s.frame_elements[k].rows > 0:
            frame_element_blocks(s.frame_elements[k], s, w, q, into)
    coupling_stiffness(s, w, q, v, lam, t, cc, ck, into)


@entry(Tables, Work, integer, vector, vector, when=_has_frame_elements)
def observe_frame_element(s, w, i, lam, out):
    """Frame forces of frame element i in w.real_buffers; out = energy, power, and power without a potential."""
    g = s.frame_elements[i]
    gather(g, s, w)
    frame_element_force(g, s, w, lam)
    out[0], out[1], out[2] = 0.0, 0.0, 0.0
    if g.rows == 0:
        out[1], out[2] = frame_element_power(g, s, w)
        out[0] = frame_element_energy(g, s, w)
