"""Between single bodies and the system: reading and writing coordinates, frames, forces, kicks and force gradients."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.quaternions import multiply_quaternions, quaternion_axes, rotate
from ...nodes.inertia import frame_torque
from ...nodes.markers import axis, body_components
from ...nodes.pose import node_quaternion, write_position, write_rotation
from ...system.instant import all_frame_forces
from ...system.matrix import tangent
from .flows import add, free_flow


@kernel
def cross(a1, a2, a3, b1, b2, b3):
    """a x b."""
    return a2 * b3 - a3 * b2, a3 * b1 - a1 * b3, a1 * b2 - a2 * b1


@kernel
def read_state(s, w, q, b):
    """State of all bodies from coordinates q, whose frames and velocities are in w."""
    for i in range(b.table.shape[0]):
        c = b.table[i]
        n = s.nodes[c.node]
        z, zd = w.z[c.node], w.zd[c.node]
        b.x0[i, 0], b.x0[i, 1], b.x0[i, 2] = z[0], z[1], z[2]
        b.u0[i, 0], b.u0[i, 1], b.u0[i, 2] = zd[0], zd[1], zd[2]
        if c.rotates == 0:
            continue
        w1 = z[9] * zd[6] + z[10] * zd[7] + z[11] * zd[8]
        w2 = z[3] * zd[9] + z[4] * zd[10] + z[5] * zd[11]
        w3 = z[6] * zd[3] + z[7] * zd[4] + z[8] * zd[5]
        d1, d2, d3 = axis(z, c.x1, c.x2, c.x3)
        b.x0[i, 0] += d1
        b.x0[i, 1] += d2
        b.x0[i, 2] += d3
        d1, d2, d3 = cross(w1, w2, w3, c.x1, c.x2, c.x3)
        d1, d2, d3 = axis(z, d1, d2, d3)
        b.u0[i, 0] += d1
        b.u0[i, 1] += d2
        b.u0[i, 2] += d3
        if c.held != 0:
            b.x0[i, 0], b.x0[i, 1], b.x0[i, 2] = c.p1, c.p2, c.p3
            b.u0[i, 0], b.u0[i, 1], b.u0[i, 2] = 0.0, 0.0, 0.0
        r0, r1, r2, r3 = node_quaternion(n, q, w.rotation)
        b.e0[i, 0], b.e0[i, 1], b.e0[i, 2], b.e0[i, 3] = multiply_quaternions(r0, r1, r2, r3, c.a0, c.a1, c.a2, c.a3)
        w1, w2, w3 = rotate(c.a0, -c.a1, -c.a2, -c.a3, w1, w2, w3)
        b.y0[i, 0], b.y0[i, 1], b.y0[i, 2] = c.i1 * w1, c.i2 * w2, c.i3 * w3


@kernel
def write_state(s, w, b, x):
    """Coordinates and velocities of all bodies; returns a node that cannot store its rotation, or 0."""
    bad = 0
    for i in range(b.table.shape[0]):
        c = b.table[i]
        n = s.nodes[c.node]
        z, zd, y, e = w.z[c.node], w.zd[c.node], b.y[i], b.e[i]
        r1, r2, r3, u1, u2, u3 = b.x[i, 0], b.x[i, 1], b.x[i, 2], b.u[i, 0], b.u[i, 1], b.u[i, 2]
        if c.rotates != 0:
            e0, e1, e2, e3 = multiply_quaternions(e[0], e[1], e[2], e[3], c.a0, -c.a1, -c.a2, -c.a3)
            w1, w2, w3 = rotate(c.a0, c.a1, c.a2, c.a3, c.k1 * y[0], c.k2 * y[1], c.k3 * y[2])
            if write_rotation(n, e0, e1, e2, e3, w1, w2, w3, x.q, x.v, z, zd, w.spin[c.node]) != 0:
                bad = c.node
            d1, d2, d3 = axis(z, c.x1, c.x2, c.x3)
            r1, r2, r3 = r1 - d1, r2 - d2, r3 - d3
            d1, d2, d3 = cross(w1, w2, w3, c.x1, c.x2, c.x3)
            d1, d2, d3 = axis(z, d1, d2, d3)
            u1, u2, u3 = u1 - d1, u2 - d2, u3 - d3
        write_position(n, r1, r2, r3, u1, u2, u3, x.q, x.v)
    return bad


@kernel
def move_bodies(w, b):
    """Frames of all bodies."""
    for i in range(b.table.shape[0]):
        c = b.table[i]
        z, e = w.z[c.node], b.e[i]
        z[0], z[1], z[2] = b.x[i, 0], b.x[i, 1], b.x[i, 2]
        if c.rotates != 0:
            e0, e1, e2, e3 = multiply_quaternions(e[0], e[1], e[2], e[3], c.a0, -c.a1, -c.a2, -c.a3)
            quaternion_axes(e0, e1, e2, e3, z)
            d1, d2, d3 = axis(z, c.x1, c.x2, c.x3)
            z[0] -= d1
            z[1] -= d2
            z[2] -= d3


@kernel
def move_velocities(w, b, h):
    """Velocities of all frames, of momenta that the present forces have changed over the time h (frames must be known).

    Forces that are not known yet need h = 0.
    """
    for i in range(b.table.shape[0]):
        c = b.table[i]
        z, zd = w.z[c.node], w.zd[c.node]
        for k in range(3):
            zd[k] = b.u[i, k] + h * c.mobility * b.force[i, k]
        if c.rotates != 0:
            y, t = b.y[i], b.torque[i]
            p1, p2, p3 = c.k1 * (y[0] + h * t[0]), c.k2 * (y[1] + h * t[1]), c.k3 * (y[2] + h * t[2])
            w1, w2, w3 = rotate(c.a0, c.a1, c.a2, c.a3, p1, p2, p3)
            for k in range(3):
                d1, d2, d3 = z[3 + k], z[6 + k], z[9 + k]
                zd[3 + k], zd[6 + k], zd[9 + k] = w3 * d2 - w2 * d3, w1 * d3 - w3 * d1, w2 * d1 - w1 * d2
            d1, d2, d3 = cross(w1, w2, w3, c.x1, c.x2, c.x3)
            d1, d2, d3 = axis(z, d1, d2, d3)
            zd[0] -= d1
            zd[1] -= d2
            zd[2] -= d3


@kernel
def update_forces(s, w, b):
    """Force on and torque about every centre (frames and values of functions of time must be up to date)."""
    all_frame_forces(s, w, b.zero)
    for i in range(b.table.shape[0]):
        c = b.table[i]
        z, f = w.z[c.node], w.f[c.node]
        b.force[i, 0], b.force[i, 1], b.force[i, 2] = -f[0], -f[1], -f[2]
        if c.rotates != 0:
            t1, t2, t3 = frame_torque(z, f)
            f1, f2, f3 = body_components(z, f[0], f[1], f[2])
            d1, d2, d3 = cross(c.x1, c.x2, c.x3, f1, f2, f3)
            d1, d2, d3 = rotate(c.a0, -c.a1, -c.a2, -c.a3, d1 - t1, d2 - t2, d3 - t3)
            b.torque[i, 0], b.torque[i, 1], b.torque[i, 2] = c.per_unit * d1, c.per_unit * d2, c.per_unit * d3


@kernel
def kick(b, h):
    """Momenta after the time h under the present forces, at rest otherwise."""
    for i in range(b.table.shape[0]):
        c = b.table[i]
        if c.rotates != 0:
            for k in range(3):
                add(b.y[i], b.yc[i], k, h * b.torque[i, k])
        if c.held == 0:
            for k in range(3):
                add(b.u[i], b.uc[i], k, h * c.mobility * b.force[i, k])


@kernel
def drift(b, method, h):
    """Free motion of all bodies over the time h; returns a node that turns too far, or 0."""
    for i in range(b.table.shape[0]):
        c = b.table[i]
        if c.rotates != 0:
            if free_flow(method, c, b.series[i], h, b.y[i], b.e[i], b.yc[i], b.ec[i], b.scratch) != 0:
                return c.node
        if c.held == 0:
            for k in range(3):
                add(b.x[i], b.xc[i], k, h * b.u[i, k])
    return 0


@kernel
def gradient_kick(s, w, b, h):
    """Kick along the derivative of forces and torques in the direction of the accelerations that they cause.

    With the body-fixed turn theta = J^-1 tau this is y' = D tau[theta] - tau x theta: half the double bracket of forces
    and free motion, for a potential half the gradient of V = tau . J^-1 tau [Vilmart 2013, Nystrom splitting]. D is the
    stiffness of the elements, so that coupled bodies are nothing special. Needs ``update_forces`` at this state; s has
    Lie nodes.
    """
    x, out = w.x, w.product
    for i in range(b.table.shape[0]):
        c = b.table[i]
        n = s.nodes[c.node]
        k, m = n.x0, c.mobility
        a1, a2, a3 = m * b.force[i, 0], m * b.force[i, 1], m * b.force[i, 2]
        if c.rotates != 0:
            t = b.torque[i]
            d1, d2, d3 = rotate(c.a0, c.a1, c.a2, c.a3, c.k1 * t[0], c.k2 * t[1], c.k3 * t[2])
            j = k + n.nx
            x[j], x[j + 1], x[j + 2] = d1, d2, d3
            d1, d2, d3 = cross(d1, d2, d3, c.x1, c.x2, c.x3)
            d1, d2, d3 = axis(w.z[c.node], d1, d2, d3)
            a1, a2, a3 = a1 - d1, a2 - d2, a3 - d3
        if n.nx == 3:
            x[k], x[k + 1], x[k + 2] = a1, a2, a3
    tangent(s, w, b.zero, b.zero, b.zero, b.zero, w.eye, 0.0, 0.0, 1.0, w.matrix)
    for k in range(out.shape[0]):
        out[k] = 0.0
    for k in range(b.blocks.shape[0]):
        c = b.blocks[k]  # row, rows, column, columns, offset, stride
        for i in range(c[1]):
            value = 0.0
            for j in range(c[3]):
                value += w.matrix[c[4] + i * c[5] + j] * x[c[2] + j]
            out[c[0] + i] -= value
    for i in range(b.table.shape[0]):
        c = b.table[i]
        n = s.nodes[c.node]
        k = n.x0
        if c.rotates != 0:
            t, f, z, j = b.torque[i], b.force[i], w.z[c.node], k + n.nx
            d1, d2, d3 = out[j], out[j + 1], out[j + 2]
            if n.nx == 3:  # about the centre: minus X x (R^T F)'
                f1, f2, f3 = body_components(z, f[0], f[1], f[2])
                f1, f2, f3 = cross(x[j], x[j + 1], x[j + 2], f1, f2, f3)
                g1, g2, g3 = body_components(z, out[k], out[k + 1], out[k + 2])
                g1, g2, g3 = cross(c.x1, c.x2, c.x3, g1 - f1, g2 - f2, g3 - f3)
                d1, d2, d3 = d1 - g1, d2 - g2, d3 - g3
            d1, d2, d3 = rotate(c.a0, -c.a1, -c.a2, -c.a3, d1, d2, d3)
            g1, g2, g3 = cross(t[0], t[1], t[2], c.k1 * t[0], c.k2 * t[1], c.k3 * t[2])
            add(b.y[i], b.yc[i], 0, h * (c.per_unit * d1 - g1))
            add(b.y[i], b.yc[i], 1, h * (c.per_unit * d2 - g2))
            add(b.y[i], b.yc[i], 2, h * (c.per_unit * d3 - g3))
        if c.held == 0:
            for m in range(3):
                add(b.u[i], b.uc[i], m, h * c.mobility * out[k + m])
