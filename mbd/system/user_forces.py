"""User forces: frame forces, and columns of the matrix by the complex step in the user function alone.

A translation of a body changes one position and one velocity among the arguments, and forces without torques then
enter the matrix directly. Rotations need more arithmetic; they are left out where the function does not look at the
axes of the bodies or at their angular velocities (``uses``, see ``mbd.elements.user_functions``).
"""

from __future__ import annotations

from ..compiled.functions.calls import call_vector
from ..compiled.kernel import kernel
from ..elements.frame_kinds import USES_TURNS, USES_VELOCITIES
from ..nodes.inertia import pull_back
from ..nodes.markers import apply_torque
from .frame_elements import DIRECTION, DIRECTION_RATE, INPUT, OUT, RATE, SUM, TINY
from .frame_tangents import body_jacobians, direction

LARGE = 1.0 / TINY


@kernel
def _spin(z, zd):
    """Angular velocity; as ``markers.angular_velocity``, but summed along the row, which rounds differently."""
    a1 = z[4] * zd[5] - z[5] * zd[4] + z[7] * zd[8] - z[8] * zd[7] + z[10] * zd[11] - z[11] * zd[10]
    a2 = z[5] * zd[3] - z[3] * zd[5] + z[8] * zd[6] - z[6] * zd[8] + z[11] * zd[9] - z[9] * zd[11]
    a3 = z[3] * zd[4] - z[4] * zd[3] + z[6] * zd[7] - z[7] * zd[6] + z[9] * zd[10] - z[10] * zd[9]
    return 0.5 * a1, 0.5 * a2, 0.5 * a3


@kernel
def _arguments(g, s, w):
    """INPUT = (t, frames, velocities); RATE = frame velocities."""
    x, xd = w.real_buffers[INPUT], w.real_buffers[RATE]
    x[0] = w.time[0]
    velocities = g.uses & USES_VELOCITIES
    for i in range(g.count):
        n = s.members[g.first + i]
        z, o = w.z[n], 1 + 12 * i
        for m in range(12):
            x[o + m] = z[m]
        if velocities:
            zd, o = w.zd[n], 1 + 12 * g.count + 6 * i
            for m in range(12):
                xd[12 * i + m] = zd[m]
            x[o], x[o + 1], x[o + 2] = zd[0], zd[1], zd[2]
            x[o + 3], x[o + 4], x[o + 5] = _spin(z, zd)


@kernel
def user_force(g, s, w):
    """Subtract the loads of the function from the frame forces in w.f (sign of the residual)."""
    _arguments(g, s, w)
    out = w.real_buffers[OUT]
    function = s.functions[g.function]
    call_vector(function.address, w.real_buffers[INPUT].ctypes.data, out.ctypes.data, function.block)
    for i in range(g.count):
        n, o = s.members[g.first + i], 6 * i
        f = w.f[n]
        f[0] -= out[o]
        f[1] -= out[o + 1]
        f[2] -= out[o + 2]
        t1, t2, t3 = out[o + 3], out[o + 4], out[o + 5]
        if t1 != 0.0 or t2 != 0.0 or t3 != 0.0:
            apply_torque(f, w.z[n], t1, t2, t3)


@kernel
def _spin_change(x, xd, d, dd):
    """Change of the angular velocity along (d, dd)."""
    a1, a2, a3 = _spin(d, xd)
    b1, b2, b3 = _spin(x, dd)
    return a1 + b1, a2 + b2, a3 + b3


@kernel
def _add_column(g, s, w, q, j, k, turned, matrix):
    """Add the change of the loads (imaginary parts of OUT) along increment k of body j to the matrix."""
    out, f, row = w.complex_buffers[OUT], w.real_buffers[SUM], w.pulled_back
    for i in range(g.count):
        a = s.members[g.first + i]
        n = s.nodes[a]
        if n.nv == 0:
            continue
        o, p = 6 * i, g.blocks + 2 * (i * g.count + j)
        block, ld = s.members[p] + k, s.members[p + 1]
        u1, u2, u3 = LARGE * out[o + 3].imag, LARGE * out[o + 4].imag, LARGE * out[o + 5].imag
        own = turned and i == j
        if not own and u1 == 0.0 and u2 == 0.0 and u3 == 0.0:
            if n.nx == 3:
                matrix[block] -= LARGE * out[o].imag
                matrix[block + ld] -= LARGE * out[o + 1].imag
                matrix[block + 2 * ld] -= LARGE * out[o + 2].imag
            continue
        z, d, loads = w.real_buffers[INPUT][1 + 12 * i :], w.real_buffers[DIRECTION][12 * i :], w.real_buffers[OUT]
        for m in range(12):
            f[m] = -LARGE * out[o + m].imag if m < 3 else 0.0
        apply_torque(f, z, u1, u2, u3)
        if own:
            apply_torque(f, d, loads[o + 3], loads[o + 4], loads[o + 5])
        pull_back(n, q, w.spin[a], w.z[a], f, row, 0)
        for m in range(n.nv):
            matrix[block + m * ld] += row[m]


@kernel
def user_tangent(g, s, w, q, v, t, cc, ck, matrix):
    """Add cc C T^-1 + ck K of a user force (the frames' own curvature is added with the frame forces)."""
    moves = g.uses & USES_VELOCITIES
    if ck == 0.0 and not moves:
        return
    _arguments(g, s, w)
    x, c, out = w.real_buffers[INPUT], w.complex_buffers[INPUT], w.complex_buffers[OUT]
    twin = s.functions[g.complex_function]
    address, block = twin.address, twin.block
    count = g.count
    for m in range(1 + (18 if moves else 12) * count):
        c[m] = x[m]
    called = False
    for j in range(count):
        if s.nodes[s.members[g.first + j]].nx == 0:
            continue
        o, p = 1 + 12 * j, 1 + 12 * count + 6 * j
        for k in range(3):
            c[o + k] = complex(x[o + k], TINY * ck)
            if moves:
                c[p + k] = complex(x[p + k], TINY * cc)
            call_vector(address, c.ctypes.data, out.ctypes.data, block)
            c[o + k] = x[o + k]
            if moves:
                c[p + k] = x[p + k]
            _add_column(g, s, w, q, j, k, False, matrix)
            called = True
    if called:
        for m in range(6 * count):
            w.real_buffers[OUT, m] = out[m].real
    else:
        function = s.functions[g.function]
        call_vector(function.address, x.ctypes.data, w.real_buffers[OUT].ctypes.data, function.block)
    _rotations(g, s, w, q, v, t, cc, ck, address, block, matrix)


@kernel
def _rotations(g, s, w, q, v, t, cc, ck, address, block, matrix):
    """The columns of rotations; the loads at present are in the real OUT."""
    x, xd, c, out = w.real_buffers[INPUT], w.real_buffers[RATE], w.complex_buffers[INPUT], w.complex_buffers[OUT]
    d, dd, loads = w.real_buffers[DIRECTION], w.real_buffers[DIRECTION_RATE], w.real_buffers[OUT]
    moves, turns = g.uses & USES_VELOCITIES, g.uses & USES_TURNS
    for j in range(g.count):
        b = s.members[g.first + j]
        n = s.nodes[b]
        o, p = 12 * j, 1 + 12 * g.count + 6 * j
        loaded = loads[6 * j + 3] != 0.0 or loads[6 * j + 4] != 0.0 or loads[6 * j + 5] != 0.0
        if n.nv == n.nx or not (turns or loaded):
            continue
        if not turns:
            for m in range(6 * g.count):
                out[m] = 0.0
        body_jacobians(n, q, v, w.spin[b], w.z[b], w.jacobians, w.scratch)
        for k in range(n.nx, n.nv):
            direction(n, j, w.jacobians, t[b], k, ck, cc, d, dd)
            if turns:
                for m in range(3, 12):
                    c[1 + o + m] = complex(x[1 + o + m], TINY * d[o + m])
                if moves:
                    w1, w2, w3 = _spin_change(x[1 + o :], xd[o:], d[o:], dd[o:])
                    c[p + 3] = complex(x[p + 3], TINY * w1)
                    c[p + 4] = complex(x[p + 4], TINY * w2)
                    c[p + 5] = complex(x[p + 5], TINY * w3)
                call_vector(address, c.ctypes.data, out.ctypes.data, block)
            _add_column(g, s, w, q, j, k, True, matrix)
        if turns:
            for m in range(3, 12):
                c[1 + o + m] = x[1 + o + m]
            if moves:
                for m in range(3, 6):
                    c[p + m] = x[p + m]
