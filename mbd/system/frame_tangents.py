"""Columns of the matrix that belong to frame elements: directional derivatives, see ``mbd.system.frame_elements``."""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..elements.frame_kinds import USER_CONSTRAINT, USER_POTENTIAL
from ..math.arrays import clear
from ..nodes.forms import FORM_LIE
from ..nodes.inertia import pull_back
from ..nodes.markers import axis_jacobian, velocity_jacobian
from .frame_elements import (
    DIRECTION,
    DIRECTION_RATE,
    END,
    FINE_STEP,
    FORCE,
    INPUT,
    RATE,
    STEP,
    SUM,
    TINY,
    complex_force,
    distance_along_end,
    first_used,
    frame_element_force,
    frame_gradient,
    gather,
    gonzalez_factor,
    gonzalez_weight,
    rate_along,
    rows_along_over_step,
    shifted,
)


@kernel
def direction(n, i, jacobians, t, k, ck, cc, d, dd):
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
                speed = (
                    jacobians[a][m, c] * t[b] + jacobians[a][m, c + 1] * t[3 + b] + jacobians[a][m, c + 2] * t[6 + b]
                )
            else:
                speed = jacobians[a][m, k]
            d[o + 3 + 3 * a + m] = ck * jacobians[a][m, k]
            dd[o + 3 + 3 * a + m] = ck * jacobians[3 + a][m, k] + cc * speed


@kernel
def body_jacobians(n, q, v, spin, z, jacobians, scratch):
    """Jacobians of the three axes of a body and of their velocities."""
    for a in range(3):
        x1, x2, x3 = 1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0
        axis_jacobian(n, q, spin, z, x1, x2, x3, jacobians[a])
        velocity_jacobian(n, q, v, spin, z, x1, x2, x3, jacobians[3 + a], scratch)


@kernel
def frame_element_blocks(g, s, w, q, matrix):
    """Add B and B^T of a constraint."""
    d, dd = w.real_buffers[DIRECTION], w.real_buffers[DIRECTION_RATE]
    for m in range(12 * g.count):
        d[m] = 0.0
    for j in range(g.count):
        i = s.members[g.first + j]
        n = s.nodes[i]
        if n.nv == 0:
            continue
        body_jacobians(n, q, q, w.spin[i], w.z[i], w.jacobians, w.scratch)
        o = g.joint_blocks + 4 * j
        row, ld_row, column, ld_column = s.members[o], s.members[o + 1], s.members[o + 2], s.members[o + 3]
        for k in range(n.nv):
            direction(n, j, w.jacobians, w.eye[i], k, 1.0, 0.0, d, dd)
            gather(g, s, w)
            rate_along(g, s, w, d, 0.0)
            for r in range(g.rows):
                value = w.real_buffers[SUM, r]
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
        x = w.real_buffers[INPUT]
        for k in range(g.uses):
            m = s.members[used + k]
            x[1 + m] += step * d[m]
        frame_gradient(g, s, w, lam)
        for k in range(g.uses):
            m = s.members[used + k]
            w.real_buffers[SUM, m] += w.real_buffers[FORCE, m] / (2.0 * step)


@kernel
def force_change(g, s, w, lam, d, dd):
    """SUM = derivative of the frame forces along (d, dd)."""
    total = w.real_buffers[SUM]
    if g.exact != 0:
        shifted(g, w.real_buffers, w.complex_buffers, TINY * 1j, d, dd, 0.0)
        complex_force(g, s, w, lam)
        for m in range(12 * g.count):
            total[m] = w.complex_buffers[FORCE, m].imag / TINY
        return
    size = 0.0
    for m in range(12 * g.count):
        total[m] = 0.0
        size = max(size, abs(d[m]), 0.0 if by_energy(g) else abs(dd[m]))
    if by_energy(g) and g.complex_function >= 0:  # an exact gradient, which depends on some entries only
        _gradient_change(g, s, w, lam, d)
        if size > 0.0 and w.time[1] != 0.0:
            _gonzalez_change(g, s, w, lam, d, dd, total)
        return
    if size == 0.0:
        return
    h = STEP / size
    for p in range(4):
        step = (2.0, 1.0, -1.0, -2.0)[p] * h
        gather(g, s, w)
        shifted(g, w.real_buffers, w.real_buffers, step, d, dd, 0.0)
        if by_energy(g):
            frame_gradient(g, s, w, lam)
        else:
            frame_element_force(g, s, w, lam)
        for m in range(12 * g.count):
            total[m] += (-1.0, 8.0, -8.0, 1.0)[p] * w.real_buffers[FORCE, m] / (12.0 * h)
    if by_energy(g) and w.time[1] != 0.0:
        _gonzalez_change(g, s, w, lam, d, dd, total)


@kernel
def by_energy(g):
    """Whether the frame forces are the gradient of a user's function."""
    return g.kind == USER_POTENTIAL or g.kind == USER_CONSTRAINT


@kernel
def _gonzalez_change(g, s, w, lam, d, dd, total):
    """total, the change of V_z(zm) along (d, dd), becomes that of V_z(zm) + c W dz; END holds V_z(z1)."""
    h = w.time[1]
    gather(g, s, w)
    frame_gradient(g, s, w, lam)
    c, square = gonzalez_factor(g, s, w, lam)
    if square == 0.0:
        return
    xd, f = w.real_buffers[RATE], w.real_buffers[FORCE]
    slope = 0.0  # change of V1 - V0 - V_z.dz - c dz.W dz; the start of the step does not move
    for m in range(12 * g.count):
        weight = gonzalez_weight(s, m)
        slope += w.real_buffers[END, m] * (d[m] + 0.5 * h * dd[m]) - total[m] * h * xd[m] - f[m] * h * dd[m]
        slope -= 2.0 * c * weight * h * h * xd[m] * dd[m]
    for m in range(12 * g.count):
        total[m] += gonzalez_weight(s, m) * h * (slope / square * xd[m] + c * dd[m])


@kernel
def end_gradient(g, s, w, lam):
    """END = V_z at the end of the step."""
    gather(g, s, w)
    for m in range(12 * g.count):
        w.real_buffers[INPUT, 1 + m] += 0.5 * w.time[1] * w.real_buffers[RATE, m]
    frame_gradient(g, s, w, lam)
    for m in range(12 * g.count):
        w.real_buffers[END, m] = w.real_buffers[FORCE, m]


@kernel
def _add_column(g, s, w, q, spin, z, j, k, matrix):
    """Add SUM, pulled back, to the column of increment k of body j."""
    row = w.pulled_back
    for i in range(g.count):
        a = s.members[g.first + i]
        n = s.nodes[a]
        if n.nv > 0:
            pull_back(n, q, spin[a], z[a], w.real_buffers[SUM, 12 * i :], row, 0)
            o = g.blocks + 2 * (i * g.count + j)
            block, ld = s.members[o], s.members[o + 1]
            for m in range(n.nv):
                matrix[block + m * ld + k] += row[m]


@kernel
def frame_element_tangent(g, s, w, q, v, lam, t, cc, ck, matrix):
    """Add cc C T^-1 + ck K of an element (the frames' own curvature is added with the frame forces)."""
    gather(g, s, w)
    d, dd = w.real_buffers[DIRECTION], w.real_buffers[DIRECTION_RATE]
    for m in range(12 * g.count):
        d[m] = 0.0
        dd[m] = 0.0
    if by_energy(g) and w.time[1] != 0.0:
        end_gradient(g, s, w, lam)
        gather(g, s, w)
    for j in range(g.count):
        b = s.members[g.first + j]
        n = s.nodes[b]
        if n.nv == 0:
            continue
        body_jacobians(n, q, v, w.spin[b], w.z[b], w.jacobians, w.scratch)
        for k in range(n.nv):
            direction(n, j, w.jacobians, t[b], k, ck, cc, d, dd)
            force_change(g, s, w, lam, d, dd)
            _add_column(g, s, w, q, w.spin, w.z, j, k, matrix)
        for m in range(12 * j, 12 * j + 12):
            d[m] = 0.0
            dd[m] = 0.0


@kernel
def _end_jacobians(n, w, b, q1, z1):
    """Jacobians of the three axes of body b at the end of a step."""
    for a in range(3):
        x1, x2, x3 = 1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0
        axis_jacobian(n, q1, w.spin[b], z1, x1, x2, x3, w.jacobians[a])


@kernel
def _end_direction(n, w, j, k, c, d, dd):
    """c times the change of averaged frame and secant of body j along its increment k of the end of a step."""
    h = w.time[1]
    for m in range(12):  # the middle moves by half, the secant by 1/h of the end
        x = (1.0 if m == k else 0.0) if m < 3 and n.nx == 3 else 0.0
        if m >= 3 and k >= n.nx:
            x = w.jacobians[m // 3 - 1][m % 3, k]
        d[12 * j + m] = 0.5 * c * x
        dd[12 * j + m] = c / h * x


@kernel
def frame_element_tangent_over_step(g, s, w, qr, zr, q1, z1, lam, ck, matrix):
    """Add ck K of an element over a step: rows by (qr, zr), columns along increments of the end (q1, z1)."""
    if by_energy(g):
        end_gradient(g, s, w, lam)
    gather(g, s, w)
    d, dd = w.real_buffers[DIRECTION], w.real_buffers[DIRECTION_RATE]
    for m in range(12 * g.count):
        d[m] = 0.0
        dd[m] = 0.0
    for j in range(g.count):
        b = s.members[g.first + j]
        n = s.nodes[b]
        if n.nv == 0:
            continue
        _end_jacobians(n, w, b, q1, z1[b])
        for k in range(n.nv):
            _end_direction(n, w, j, k, ck, d, dd)
            force_change(g, s, w, lam, d, dd)
            _add_column(g, s, w, qr, zr, zr, j, k, matrix)
        for m in range(12 * j, 12 * j + 12):
            d[m] = 0.0
            dd[m] = 0.0


@kernel
def _write_gradient(g, s, w, q, z, r, column, matrix):
    """FORCE, pulled back, as row r (or as column r) of a constraint."""
    row = w.pulled_back
    for i in range(g.count):
        a = s.members[g.first + i]
        n = s.nodes[a]
        if n.nv == 0:
            continue
        pull_back(n, q, z[a], z[a], w.real_buffers[FORCE, 12 * i :], row, 0)
        o = g.joint_blocks + 4 * i
        for k in range(n.nv):
            if column:
                matrix[s.members[o + 2] + k * s.members[o + 3] + r] += row[k]
            else:
                matrix[s.members[o] + r * s.members[o + 1] + k] += row[k]


@kernel
def frame_element_blocks_over_step(g, s, w, qr, zr, q1, z1, time, unit, matrix):
    """Add the gradient at z1 to the rows, the discrete one (w.z, w.zd, at ``time``) to the columns of a constraint.

    ``unit`` is scratch as long as the multipliers.
    """
    for r in range(g.rows):
        clear(unit)
        unit[g.l0 + r] = 1.0
        gather(g, s, w)
        w.real_buffers[INPUT, 0] = time
        frame_element_force(g, s, w, unit)
        _write_gradient(g, s, w, qr, zr, r, True, matrix)
        gather(g, s, w)
        for i in range(g.count):
            for m in range(12):
                w.real_buffers[INPUT, 1 + 12 * i + m] = z1[s.members[g.first + i], m]
        frame_gradient(g, s, w, unit)
        _write_gradient(g, s, w, q1, z1, r, False, matrix)


@kernel
def rolling_columns_over_step(g, s, w, qr, zr, unit, matrix):
    """Add the reactions of rolling (w.z, w.zd) to the columns; ``unit`` is scratch as long as the multipliers."""
    for r in range(g.rows):
        clear(unit)
        unit[g.l0 + r] = 1.0
        gather(g, s, w)
        frame_element_force(g, s, w, unit)
        _write_gradient(g, s, w, qr, zr, r, True, matrix)


@kernel
def rolling_rows_over_step(g, s, w, q1, z1, first, matrix):
    """Add the rows of rolling over a step along increments of its end, from the first one on.

    Without a step, for methods that take gradients at an instant, the distance alone is added: rows that restrict
    velocities say nothing about an instant (``slip_rows_between``).
    """
    at_instant = w.time[1] == 0.0
    d, dd = w.real_buffers[DIRECTION], w.real_buffers[DIRECTION_RATE]
    for m in range(12 * g.count):
        d[m] = 0.0
        dd[m] = 0.0
    gather(g, s, w)
    for j in range(g.count):
        b = s.members[g.first + j]
        n = s.nodes[b]
        if n.nv == 0:
            continue
        _end_jacobians(n, w, b, q1, z1[b])
        o = g.joint_blocks + 4 * j
        for k in range(n.nv):
            if at_instant:
                direction(n, j, w.jacobians, w.eye[b], k, 1.0, 0.0, d, dd)
                distance_along_end(g, s, w, z1, d)
                matrix[s.members[o] + k] += w.real_buffers[SUM, 0]
                continue
            _end_direction(n, w, j, k, 1.0, d, dd)
            distance_along_end(g, s, w, z1, d)
            value = w.real_buffers[SUM, 0]
            rows_along_over_step(g, s, w, d, dd)
            w.real_buffers[SUM, 0] = 2.0 * value  # d is half of the motion of the end
            for r in range(first, g.rows):
                matrix[s.members[o] + r * s.members[o + 1] + k] += w.real_buffers[SUM, r]
        for m in range(12 * j, 12 * j + 12):
            d[m] = 0.0
            dd[m] = 0.0
