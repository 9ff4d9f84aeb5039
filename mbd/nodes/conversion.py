"""The same bodies on other nodes: poses and velocities of rigid bodies, at all records.

Methods that are written for certain coordinates step bodies there and ``convert`` what they record
(``mbd.integrators.converted``). A rotation passes from node to node as a quaternion or as axes, whichever is nearer to
both; nodes of the same kind are copied.
"""

from __future__ import annotations

import math

from ..compiled.kernel import kernel
from ..math.arctangent import angle_of
from ..math.quaternions import axes_to_quaternion, g_times, multiply_quaternions, quaternion_axes
from ..math.so3 import exp_quaternion, log_quaternion
from .forms import FORM_DIRECTORS, FORM_LIE, FORM_QUATERNION
from .frames import body_rates, node_frame, spin_axes
from .kinds import DIRECTORS, EULER_ANGLES, QUATERNION
from .markers import axis, body_components
from .mass import central_cofactors, frame_mass_times
from .spin import euler_rates, euler_sides, spin_determinant, spin_matrix
from .update import CHART_LIMIT, solve_spin

TURN = 2.0 * math.pi
POLAR_ITERATIONS = 10  # the fourth is exact to round-off for axes that are off by a tenth
ORTHONORMAL = 1e-8  # of the products of axes before an iteration that squares the error
STRIP = 16  # rows that are converted body by body
SPINS = 7  # numbers of an inverse inertia, and whether there is one
LINE = 1e-12  # determinant of an inertia relative to the product of its diagonal that counts as zero


@kernel
def inverse_inertias(nodes, inverses):
    """J^-1 about the centre of mass of all directors: six numbers, and one; all of them zero for a line."""
    for i in range(1, nodes.shape[0]):
        n, out = nodes[i], inverses[i]
        for m in range(SPINS):
            out[m] = 0.0
        if n.form == FORM_DIRECTORS:
            c11, c22, c33, c12, c13, c23, determinant, trace = central_cofactors(n)
            if determinant > LINE * trace * trace * trace:
                d = 1.0 / determinant
                out[0], out[1], out[2], out[6] = d * c11, d * c22, d * c33, 1.0
                out[3], out[4], out[5] = d * c12, d * c13, d * c23


@kernel(forceinline=True)
def _axes_spin(z, v, k):
    """Body angular velocity of axes with velocities from v[k] on: the antisymmetric part of R^T R_dot."""
    x1, x2, x3 = 0.0, 0.0, 0.0
    for m in range(3):
        u1, u2, u3 = v[k + m], v[k + 3 + m], v[k + 6 + m]
        x1 += z[9 + m] * u2 - z[6 + m] * u3
        x2 += z[3 + m] * u3 - z[9 + m] * u1
        x3 += z[6 + m] * u1 - z[3 + m] * u2
    return 0.5 * x1, 0.5 * x2, 0.5 * x3


@kernel(forceinline=True)
def _rotation(a1, a2, a3, b1, b2, b3, c1, c2, c3, z):
    """Make the axes of z those of the rotation nearest to (a, b, c): Newton's iteration for the polar factor."""
    for _ in range(POLAR_ITERATIONS):
        aa, bb, cc = a1 * a1 + a2 * a2 + a3 * a3, b1 * b1 + b2 * b2 + b3 * b3, c1 * c1 + c2 * c2 + c3 * c3
        ab, ac, bc = a1 * b1 + a2 * b2 + a3 * b3, a1 * c1 + a2 * c2 + a3 * c3, b1 * c1 + b2 * c2 + b3 * c3
        p, q, r = 1.5 - 0.5 * aa, 1.5 - 0.5 * bb, 1.5 - 0.5 * cc
        x, y, w = 0.5 * ab, 0.5 * ac, 0.5 * bc
        a1, b1, c1 = p * a1 - (x * b1 + y * c1), q * b1 - (x * a1 + w * c1), r * c1 - (y * a1 + w * b1)
        a2, b2, c2 = p * a2 - (x * b2 + y * c2), q * b2 - (x * a2 + w * c2), r * c2 - (y * a2 + w * b2)
        a3, b3, c3 = p * a3 - (x * b3 + y * c3), q * b3 - (x * a3 + w * c3), r * c3 - (y * a3 + w * b3)
        if max(abs(aa - 1.0), abs(bb - 1.0), abs(cc - 1.0), abs(ab), abs(ac), abs(bc)) < ORTHONORMAL:
            break
    z[3], z[4], z[5], z[6], z[7], z[8], z[9], z[10], z[11] = a1, a2, a3, b1, b2, b3, c1, c2, c3


@kernel(forceinline=True)
def directors_motion(n, q, v, inverse, z):
    """Velocity of the reference point and body angular velocity with the momenta of directors; z becomes a rotation.

    Directors may change their lengths and angles, a rigid body may not: with the same linear and angular momentum,
    P = M_z z_dot, it loses the kinetic energy of the stretching and nothing else. A line, whose angular momentum does
    not say how it spins, turns as its directors do. Numbers stay in registers: that is half of the time.
    """
    j, k = n.q0 + n.nx, n.v0 + n.nx
    u1, u2, u3 = 0.0, 0.0, 0.0
    if n.nx == 3:
        u1, u2, u3 = v[k - 3], v[k - 2], v[k - 1]
    a1, a2, a3, b1, b2, b3, c1, c2, c3 = (
        q[j], q[j + 1], q[j + 2], q[j + 3], q[j + 4], q[j + 5], q[j + 6], q[j + 7], q[j + 8],
    )  # fmt: skip
    p1, e1, f1, g1 = frame_mass_times(n, u1, v[k], v[k + 3], v[k + 6])
    p2, e2, f2, g2 = frame_mass_times(n, u2, v[k + 1], v[k + 4], v[k + 7])
    p3, e3, f3, g3 = frame_mass_times(n, u3, v[k + 2], v[k + 5], v[k + 8])
    x1 = a2 * e3 - a3 * e2 + b2 * f3 - b3 * f2 + c2 * g3 - c3 * g2  # sum of d_i x p_i
    x2 = a3 * e1 - a1 * e3 + b3 * f1 - b1 * f3 + c3 * g1 - c1 * g3
    x3 = a1 * e2 - a2 * e1 + b1 * f2 - b2 * f1 + c1 * g2 - c2 * g1
    _rotation(a1, a2, a3, b1, b2, b3, c1, c2, c3, z)
    t1, t2, t3 = body_components(z, x1, x2, x3)
    c = 1.0 / n.mass if n.nx == 3 else 0.0
    s1, s2, s3 = n.s1, n.s2, n.s3
    if n.nx == 3:
        f1, f2, f3 = body_components(z, c * p1, c * p2, c * p3)
        t1, t2, t3 = t1 - s2 * f3 + s3 * f2, t2 - s3 * f1 + s1 * f3, t3 - s1 * f2 + s2 * f1
    if inverse[6] == 0.0:
        w1, w2, w3 = _axes_spin(z, v, k)
    else:
        w1 = inverse[0] * t1 + inverse[3] * t2 + inverse[4] * t3
        w2 = inverse[3] * t1 + inverse[1] * t2 + inverse[5] * t3
        w3 = inverse[4] * t1 + inverse[5] * t2 + inverse[2] * t3
    # what the first moment leaves of the linear momentum
    u1, u2, u3 = axis(z, s2 * w3 - s3 * w2, s3 * w1 - s1 * w3, s1 * w2 - s2 * w1)
    return c * (p1 + u1), c * (p2 + u2), c * (p3 + u3), w1, w2, w3


@kernel(forceinline=True)
def _write_euler(n, z, w1, w2, w3, near, q, v):
    """Store the angles of axes, of all that have this rotation those nearest to earlier ones, and their rates.

    Returns 1 in gimbal lock, for angles that have rates.
    """
    k = n.q0 + n.nx
    proper = n.axis1 == n.axis3
    sa, ca, sb, cb, sc, cc = euler_sides(n.axis1, n.axis2, n.axis3, z)
    a, b, c = angle_of(sa, ca), angle_of(sb, cb), angle_of(sc, cc)
    a, b, c = a + turns_to(a, near[k]), b + turns_to(b, near[k + 1]), c + turns_to(c, near[k + 2])
    far = abs(a - near[k]) + abs(b - near[k + 1]) + abs(c - near[k + 2])
    if far > math.pi:  # else the others are farther: (a + pi, pi - b, c + pi), for proper angles (a + pi, -b, c + pi)
        x, y, w = a + math.pi, -b if proper else math.pi - b, c + math.pi
        if abs(_beyond(x, near[k])) + abs(_beyond(y, near[k + 1])) + abs(_beyond(w, near[k + 2])) < far - 1e-9:
            a, b, c, sc, cc = (
                x + turns_to(x, near[k]),
                y + turns_to(y, near[k + 1]),
                w + turns_to(w, near[k + 2]),
                -sc,
                -cc,
            )
            sb, cb = (-sb, cb) if proper else (sb, -cb)
    q[k], q[k + 1], q[k + 2] = a, b, c
    k = n.v0 + n.nx
    if n.form == FORM_LIE:
        v[k], v[k + 1], v[k + 2] = w1, w2, w3
        return 0
    f, e = 1.0 / math.sqrt(sb * sb + cb * cb), 1.0 / math.sqrt(sc * sc + cc * cc)
    sb, cb, sc, cc = f * sb, f * cb, e * sc, e * cc
    if not abs(sb if proper else cb) > CHART_LIMIT:
        return 1
    euler_rates(n, sb, cb, sc, cc, w1, w2, w3, v)
    return 0


@kernel(forceinline=True)
def _beyond(x, near):
    """How far an angle is from another one, whole turns aside."""
    return x + turns_to(x, near) - near


@kernel(forceinline=True)
def turns_to(x, near):
    """Whole turns that bring an angle near another one."""
    return TURN * math.floor((near - x) * (1.0 / TURN) + 0.5)


@kernel(forceinline=True)
def body_motion(n, q, v, inverse, g, z, scratch):
    """Velocity of the reference point and body angular velocity of a rigid node; directors leave a rotation in z."""
    if n.form == FORM_DIRECTORS:
        return directors_motion(n, q, v, inverse, z)
    k = n.v0 + n.nx
    u1, u2, u3 = 0.0, 0.0, 0.0
    if n.nx == 3:
        u1, u2, u3 = v[n.v0], v[n.v0 + 1], v[n.v0 + 2]
    if n.form == FORM_LIE:
        return u1, u2, u3, v[k], v[k + 1], v[k + 2]
    if n.form == FORM_QUATERNION:  # omega = 2 G(e) e_dot
        j = n.q0 + n.nx
        w1, w2, w3 = g_times(q[j], q[j + 1], q[j + 2], q[j + 3], v[k], v[k + 1], v[k + 2], v[k + 3])
        return u1, u2, u3, 2.0 * w1, 2.0 * w2, 2.0 * w3
    spin_matrix(n, q, g)
    w1, w2, w3, b1, b2, b3 = body_rates(n, q, v, g, scratch)
    return u1, u2, u3, w1, w2, w3


@kernel
def in_axes(n):
    """Whether the rotation of a node passes on as axes, not as a quaternion."""
    return n.kind == DIRECTORS or n.kind == EULER_ANGLES


@kernel(forceinline=True)
def write_axes(n, z, w1, w2, w3, near, q, v, zd):
    """Store axes and a body angular velocity on directors or as Euler angles near earlier ones; 1 in gimbal lock."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    if n.kind == EULER_ANGLES:
        return _write_euler(n, z, w1, w2, w3, near, q, v)
    for m in range(9):
        q[j + m] = z[3 + m]
    if n.form == FORM_DIRECTORS:
        spin_axes(z, w1, w2, w3, zd)
        for m in range(9):
            v[k + m] = zd[3 + m]
    else:
        v[k], v[k + 1], v[k + 2] = w1, w2, w3
    return 0


@kernel(forceinline=True)
def write_quaternion(n, e0, e1, e2, e3, w1, w2, w3, near, q, v, g):
    """Store a unit quaternion and a body angular velocity, as a quaternion near an earlier one or a rotation vector."""
    j, k = n.q0 + n.nx, n.v0 + n.nx
    if n.kind == QUATERNION:
        if near[j] * e0 + near[j + 1] * e1 + near[j + 2] * e2 + near[j + 3] * e3 < 0.0:
            e0, e1, e2, e3 = -e0, -e1, -e2, -e3
        q[j], q[j + 1], q[j + 2], q[j + 3] = e0, e1, e2, e3
        if n.form == FORM_QUATERNION:
            x0, x1, x2, x3 = multiply_quaternions(e0, e1, e2, e3, 0.0, 0.5 * w1, 0.5 * w2, 0.5 * w3)
            v[k], v[k + 1], v[k + 2], v[k + 3] = x0, x1, x2, x3
            return 0
    else:
        q[j], q[j + 1], q[j + 2] = log_quaternion(e0, e1, e2, e3)
    if n.form == FORM_LIE:
        v[k], v[k + 1], v[k + 2] = w1, w2, w3
        return 0
    spin_matrix(n, q, g)
    if not abs(spin_determinant(g)) > CHART_LIMIT:
        return 1
    solve_spin(g, w1, w2, w3, v[k:])
    return 0


@kernel(forceinline=True)
def convert_body(n, m, q, v, inverse, near, y, u, g, scratch):
    """Coordinates q and velocities v of a rigid body on node n, as y and u on node m; 1 in gimbal lock."""
    z = scratch[3]
    u1, u2, u3, w1, w2, w3 = body_motion(n, q, v, inverse, g, z, scratch)
    if n.nx == 3:
        j, k = m.q0, m.v0
        y[j], y[j + 1], y[j + 2] = q[n.q0], q[n.q0 + 1], q[n.q0 + 2]
        u[k], u[k + 1], u[k + 2] = u1, u2, u3
    i, axes = n.q0 + n.nx, in_axes(n)
    e0, e1, e2, e3 = 1.0, 0.0, 0.0, 0.0
    if axes:
        if n.form != FORM_DIRECTORS:
            node_frame(n, q, z)
    elif n.kind == QUATERNION:
        e0, e1, e2, e3 = q[i], q[i + 1], q[i + 2], q[i + 3]
    else:
        e0, e1, e2, e3 = exp_quaternion(q[i], q[i + 1], q[i + 2])
    if in_axes(m):
        if not axes:
            quaternion_axes(e0, e1, e2, e3, z)
        return write_axes(m, z, w1, w2, w3, near, y, u, scratch[4])
    if axes:
        e0, e1, e2, e3 = axes_to_quaternion(z)
    return write_quaternion(m, e0, e1, e2, e3, w1, w2, w3, near, y, u, g)


@kernel
def copy_node(n, m, q, v, y, u):
    """Coordinates and velocities of a node, for another one of the same kind."""
    for k in range(m.nq):
        y[m.q0 + k] = q[n.q0 + k]
    for k in range(m.nv):
        u[m.v0 + k] = v[n.v0 + k]


@kernel
def convert(nodes, targets, q, v, near, out_q, out_v, inverses, g, scratch):
    """Rows of coordinates and velocities of the same bodies on other nodes; nodes of the same kind are copied.

    ``near`` are earlier coordinates, from which quaternions and Euler angles go on. Returns the first row that does not
    exist, because a target has Euler angles in gimbal lock, and the node; or -1, 0. The last
    three arguments are scratch.
    """
    inverse_inertias(nodes, inverses)
    end, at = q.shape[0], 0
    for first in range(0, end, STRIP):
        for i in range(1, nodes.shape[0]):
            n, m = nodes[i], targets[i]
            alike = n.form == m.form and n.kind == m.kind
            for row in range(first, min(first + STRIP, end)):
                if alike:
                    copy_node(n, m, q[row], v[row], out_q[row], out_v[row])
                    continue
                before = near if row == 0 else out_q[row - 1]
                if convert_body(n, m, q[row], v[row], inverses[i], before, out_q[row], out_v[row], g, scratch) != 0:
                    end, at = row, i
                    break
        if at > 0:
            return end, at
    return -1, 0
