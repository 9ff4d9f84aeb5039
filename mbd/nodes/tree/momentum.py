"""Momenta along a tree over a step, and how they change with its increments.

With the momentum h = I V of a body and H that of all it carries, a joint with columns S has

    p = S . H,   dT/dq = S1 . H,   S1 = V x S  (V of the carrier; the jet of a unit of the coordinate is (S, S1))

A step of a variational integrator needs S . B - S1 . H with B = c H + W, where W are the wrenches of the forces. A jet
(xi, xi') of a body changes dh = xi x* h + I xi', and because S is fixed in its carrier, whose velocity changes by
xi' + xi x V, one has dS = xi x S and dS1 = xi x S1 + xi' x S. So the pair (B, H) changes with (xi, xi') by 12 x 12
numbers per body, and the rows of a joint are

    y = S . P_B - S1 . P_H + (S x* B - S1 x* H,  -S x* H)

which are solved along the tree as in ``recursion``. All that a solution needs is kept in one vector of factors:

    per node      P (144), shift from the parent (3), w (12), X (12)
    per velocity  (S, -S1) (12), U (12), D^-1 y (12), P U (12), a row of D^-1 (6)
"""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.quaternions import g_times
from .jets import JET, add_force_operator, fill_inertia, shift_columns
from .motion import ball_rate, quaternion_square
from .own_block import place_in_sequence
from .recursion import INVERSE, PER_VELOCITY, invert_block
from .spatial import add_force_cross, crossed_power, dot_six, world_inertia

PAIR = 12
PAIR_SIZE = 144
PER_NODE = 171
SHIFT, WRENCH, JET_AT = 144, 147, 159
COLUMNS, JET_OF, ROW, PRODUCT = 0, 12, 24, 36


@kernel
def body_pair(n, z, momentum, forces, c, p, b):
    """p (12 x 12) = change of (B, H) of one body with its jet; ``forces`` (6 x 18) that of W; b is scratch."""
    fill_inertia(n.mass, world_inertia(n, z), b)
    for a in range(6):
        lower = PAIR * (6 + a)
        for k in range(6):
            p[lower + k] = 0.0
            p[lower + 6 + k] = b[6 * a + k]
    add_force_operator(p, PAIR * 6, PAIR, momentum)
    for a in range(6):
        for k in range(PAIR):
            p[PAIR * a + k] = c * p[PAIR * (6 + a) + k] + forces[JET * a + k]


@kernel
def pair_row(s, s1, wrench, momentum, p, y):
    """y (12) = change of S . B - S1 . H with the jet of the body in which S is fixed."""
    for k in range(PAIR):
        total = 0.0
        for a in range(6):
            total += s[a] * p[PAIR * a + k] - s1[a] * p[PAIR * (6 + a) + k]
        y[k] = total
    add_force_cross(1.0, s, wrench, y)
    add_force_cross(-1.0, s1, momentum, y)
    add_force_cross(-1.0, s, momentum, y[6:])


@kernel
def pair_dot(y, u):
    """y . u of two vectors of twelve numbers."""
    first, second = 0.0, 0.0
    for k in range(6):
        first += y[k] * u[k]
        second += y[6 + k] * u[6 + k]
    return first + second


@kernel
def pair_product(p, u, out):
    """out (12) = p u."""
    for a in range(PAIR):
        out[a] = pair_dot(p[PAIR * a :], u)


@kernel
def shift_pair_row(y, d1, d2, d3):
    """A row for the jet of a child becomes one for the jet of its parent, shifted by d."""
    shift_columns(y, 0, d1, d2, d3)
    shift_columns(y, 6, d1, d2, d3)


@kernel
def shift_forces(x, d1, d2, d3):
    """A pair of wrenches of a child, at its parent."""
    for o in range(0, PAIR, 6):
        x[o] += d2 * x[o + 5] - d3 * x[o + 4]
        x[o + 1] += d3 * x[o + 3] - d1 * x[o + 5]
        x[o + 2] += d1 * x[o + 4] - d2 * x[o + 3]


@kernel
def add_pair(p, d1, d2, d3, parent):
    """parent += a child's change of its pair, both at the parent; p is overwritten."""
    for a in range(PAIR):
        shift_columns(p, PAIR * a, d1, d2, d3)
        shift_columns(p, PAIR * a + 6, d1, d2, d3)
    for o in range(0, PAIR_SIZE, 6 * PAIR):
        for k in range(o, o + PAIR):
            m3, m4, m5 = p[k + 3 * PAIR], p[k + 4 * PAIR], p[k + 5 * PAIR]
            parent[k] += p[k] + d2 * m5 - d3 * m4
            parent[k + PAIR] += p[k + PAIR] + d3 * m3 - d1 * m5
            parent[k + 2 * PAIR] += p[k + 2 * PAIR] + d1 * m4 - d2 * m3
            parent[k + 3 * PAIR] += m3
            parent[k + 4 * PAIR] += m4
            parent[k + 5 * PAIR] += m5


# --- the block of a joint with itself ---------------------------------------------------------------------------------


@kernel
def own_pair_correction(
    n, c, q, v, columns, rates, jets, ball, twist, wrench, momentum, cc, ck, i, k, scratch
):  # fmt: skip
    """What the entry (i, k) of a joint's own block has besides y_i . U_k; balls are conventional quaternions.

    A column does not move with the motions that come after it; the columns of a ball change with its parameters.
    """
    before, after = place_in_sequence(n, c, i), place_in_sequence(n, c, k)
    s, u = columns[i], jets[k]
    if after > before:
        moved = crossed_power(u, s, wrench) - crossed_power(u, rates[i], momentum)
        return crossed_power(u[6:], s, momentum) - moved
    if after < 3 or before < 3:
        return 0.0
    return _quaternion_correction(n, q, v, ball, twist, wrench, momentum, cc, ck, i, k, scratch)


@kernel
def _quaternion_correction(n, q, v, ball, twist, wrench, momentum, cc, ck, i, k, scratch):
    """The correction for two parameters of a quaternion, omega = 2 G(e) e_dot / |e|^2 with derivatives eta_i by e_dot
    and alpha_i by e; S_i = S_L eta_i, S1_i = V x S_i + S_L alpha_i with V of the carrier, S_L the axes of the ball:

        S_L (d eta_i) . B + (a_k x eta_i + omega x d eta_i - d alpha_i) . S_L^T H - (V_child x S_L d eta_i) . H

    where a_k is the change of omega.
    """
    j, o = n.q0 + n.nx, n.v0 + n.nx
    a, b = i - o, k - o
    e0, e1, e2, e3 = q[j], q[j + 1], q[j + 2], q[j + 3]
    v0, v1, v2, v3 = v[o], v[o + 1], v[o + 2], v[o + 3]
    c = 1.0 / quaternion_square(n, q)
    ea, eb = 2.0 * c * q[j + a], 2.0 * c * q[j + b]
    same = 2.0 * c if a == b else 0.0
    a0, a1, a2, a3 = 1.0 if a == 0 else 0.0, 1.0 if a == 1 else 0.0, 1.0 if a == 2 else 0.0, 1.0 if a == 3 else 0.0
    b0, b1, b2, b3 = 1.0 if b == 0 else 0.0, 1.0 if b == 1 else 0.0, 1.0 if b == 2 else 0.0, 1.0 if b == 3 else 0.0
    c *= 2.0
    x1, x2, x3 = g_times(e0, e1, e2, e3, c * a0, c * a1, c * a2, c * a3)  # eta_i
    y1, y2, y3 = g_times(e0, e1, e2, e3, c * b0, c * b1, c * b2, c * b3)  # eta_k
    p1, p2, p3 = g_times(b0, b1, b2, b3, c * a0, c * a1, c * a2, c * a3)  # G(u_k) u_i
    r1, r2, r3 = g_times(a0, a1, a2, a3, c * v0, c * v1, c * v2, c * v3)  # G(u_i) e_dot
    t1, t2, t3 = g_times(b0, b1, b2, b3, c * v0, c * v1, c * v2, c * v3)
    w1, w2, w3 = ball_rate(n, q, q, o, v)
    # d eta_i; d alpha_i = ck alpha_i,e + cc alpha_i,e_dot with G(u_i) u_k = -G(u_k) u_i; a_k = ck alpha_k + cc eta_k
    d1, d2, d3 = ck * (p1 - eb * x1), ck * (p2 - eb * x2), ck * (p3 - eb * x3)
    f = ck * (2.0 * ea * eb - same)
    h1 = f * w1 - ck * (eb * r1 + ea * t1) - cc * (p1 + ea * y1)
    h2 = f * w2 - ck * (eb * r2 + ea * t2) - cc * (p2 + ea * y2)
    h3 = f * w3 - ck * (eb * r3 + ea * t3) - cc * (p3 + ea * y3)
    k1, k2, k3 = ck * (t1 - eb * w1) + cc * y1, ck * (t2 - eb * w2) + cc * y2, ck * (t3 - eb * w3) + cc * y3
    m1, m2, m3 = dot_six(ball, momentum), dot_six(ball[6:], momentum), dot_six(ball[12:], momentum)
    turned = scratch[3]
    for m in range(6):
        turned[m] = ball[m] * d1 + ball[6 + m] * d2 + ball[12 + m] * d3
    total = dot_six(turned, wrench) - crossed_power(twist, turned, momentum)
    total += (k2 * x3 - k3 * x2 + w2 * d3 - w3 * d2 - h1) * m1
    total += (k3 * x1 - k1 * x3 + w3 * d1 - w1 * d3 - h2) * m2
    total += (k1 * x2 - k2 * x1 + w1 * d2 - w2 * d1 - h3) * m3
    return total


# --- solution along the tree ------------------------------------------------------------------------------------------


@kernel
def pair_place(i):
    """Where the numbers of a node are."""
    return PER_NODE * i


@kernel
def column_place(nodes, k):
    """Where the numbers of a velocity are."""
    return PER_NODE * nodes.shape[0] + PER_VELOCITY * k


@kernel
def eliminate_pair(nodes, n, columns, rates, wrench, momentum, parent, i, factors, y):
    """Free the joint of node i: its factors, and its part of the parent's P. Returns whether it can be done.

    The places of D^-1 hold what the joint adds to its own block besides y U.
    """
    o = pair_place(i)
    p = factors[o : o + PAIR_SIZE]
    first = column_place(nodes, n.v0)
    for a in range(n.nv):
        oa = first + PER_VELOCITY * a
        pair_row(columns[n.v0 + a], rates[n.v0 + a], wrench, momentum, p, factors[oa + ROW : oa + PRODUCT])
        for b in range(n.nv):
            ob = first + PER_VELOCITY * b
            factors[oa + INVERSE + b] += pair_dot(factors[oa + ROW :], factors[ob + JET_OF :])
        pair_product(p, factors[oa + JET_OF :], factors[oa + PRODUCT :])
    if n.nv > 0 and not invert_block(factors, first, n.nv):
        return False
    for m in range(PAIR):
        for a in range(n.nv):
            oa = first + PER_VELOCITY * a + INVERSE
            total = 0.0
            for b in range(n.nv):
                total += factors[oa + b] * factors[first + PER_VELOCITY * b + ROW + m]
            y[a] = total
        for a in range(n.nv):
            factors[first + PER_VELOCITY * a + ROW + m] = y[a]
    if parent > 0:
        for a in range(n.nv):
            oa = first + PER_VELOCITY * a
            for row in range(PAIR):
                x = factors[oa + PRODUCT + row]
                for m in range(PAIR):
                    p[PAIR * row + m] -= x * factors[oa + ROW + m]
        op = pair_place(parent)
        add_pair(p, factors[o + SHIFT], factors[o + SHIFT + 1], factors[o + SHIFT + 2], factors[op : op + PAIR_SIZE])
    return True


@kernel
def solve_pair_up(nodes, n, parent, i, factors, x, y):
    """The right-hand side x of a joint becomes D^-1 r; its part of the parent's w."""
    o = pair_place(i)
    w = factors[o + WRENCH : o + JET_AT]
    first = column_place(nodes, n.v0)
    for a in range(n.nv):
        y[a] = x[n.x0 + a] - pair_dot(factors[first + PER_VELOCITY * a + COLUMNS :], w)
    for a in range(n.nv):
        oa = first + PER_VELOCITY * a
        total = 0.0
        for b in range(n.nv):
            total += factors[oa + INVERSE + b] * y[b]
        x[n.x0 + a] = total
        for m in range(PAIR):
            w[m] += factors[oa + PRODUCT + m] * total
    if parent > 0:
        shift_forces(w, factors[o + SHIFT], factors[o + SHIFT + 1], factors[o + SHIFT + 2])
        u = pair_place(parent) + WRENCH
        for m in range(PAIR):
            factors[u + m] += w[m]


@kernel
def solve_pair_down(nodes, n, parent, i, factors, x):
    """The increments of a joint from the jet of the parent, and the jet of the child."""
    o, u = pair_place(i), pair_place(parent) + JET_AT
    d1, d2, d3 = factors[o + SHIFT], factors[o + SHIFT + 1], factors[o + SHIFT + 2]
    own = factors[o + JET_AT : o + PER_NODE]
    for k in range(0, PAIR, 6):
        w1, w2, w3 = factors[u + k], factors[u + k + 1], factors[u + k + 2]
        own[k], own[k + 1], own[k + 2] = w1, w2, w3
        own[k + 3] = factors[u + k + 3] + w2 * d3 - w3 * d2
        own[k + 4] = factors[u + k + 4] + w3 * d1 - w1 * d3
        own[k + 5] = factors[u + k + 5] + w1 * d2 - w2 * d1
    first = column_place(nodes, n.v0)
    for a in range(n.nv):
        x[n.x0 + a] -= pair_dot(factors[first + PER_VELOCITY * a + ROW :], own)
    for a in range(n.nv):
        jet, r = first + PER_VELOCITY * a + JET_OF, x[n.x0 + a]
        for m in range(PAIR):
            own[m] += factors[jet + m] * r
