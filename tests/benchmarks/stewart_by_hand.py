"""The Stewart platform by hand: Newton-Euler equations in the six coordinates of the plate, without this package.

The pose of the plate says where every leg is: its direction is u = (ball - foot) / length, and the universal joint at
its foot keeps the second axis y of the leg perpendicular to an axis e of the ground, y = u x e / |u x e|. With w =
(velocity, angular velocity) of the plate, all velocities are linear in w, v_b = J_b(pose) w, and Kane's equations are

    sum J_b^T (M_b (J_b w' + J_b' w) + gyroscopic forces - weight) = forces of the legs along u.

J_b' w is the derivative of v_b along the motion for constant w, by the complex step, which is exact to round-off.
``python -m tests.benchmarks.stewart_by_hand`` prints the reference values of the benchmark.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy.integrate import solve_ivp

RADII, ANGLES = (0.5, 0.3), ((10, 110, 130, 230, 250, 350), (50, 70, 170, 190, 290, 310))
FEET, BALLS = (
    r * np.column_stack([np.cos(np.radians(a)), np.sin(np.radians(a)), np.zeros(6)])
    for r, a in zip(RADII, ANGLES, strict=True)
)
EDGES = np.cross((0, 0, 1), FEET) / 0.5  # axes of the universal joints in the ground
PLATE = 6.0, np.diag((0.1, 0.14, 0.2)), np.array((0.02, -0.03, 0.06))
CYLINDER, ROD = (1.2, np.diag((0.002, 0.011, 0.012)), 0.16), (0.6, np.diag((0.0006, 0.006, 0.0065)), -0.18)
PLACE, VECTOR = np.array((0.03, -0.02, 0.55)), np.array((0.06, -0.04, 0.1))
KP, KD, GRAVITY = 3e4, 600.0, np.array((0, 0, -9.81))
TINY = 1e-30


def hat(a):
    return np.array(((0 * a[0], -a[2], a[1]), (a[2], 0 * a[0], -a[0]), (-a[1], a[0], 0 * a[0])))


def exponential(a):
    angle = np.linalg.norm(a)
    return np.eye(3) + np.sin(angle) / angle * hat(a) + (1 - np.cos(angle)) / angle**2 * hat(a) @ hat(a)


def norm(x):
    """Without conjugation, for the complex step."""
    return np.sqrt(np.sum(x * x, axis=-1, keepdims=True))


def lengths(place, turn):
    return norm(place + BALLS @ turn.T - FEET)[:, 0]


def leg_axes(place, turn):
    """Rotation matrices of the legs, (6, 3, 3)."""
    u = place + BALLS @ turn.T - FEET
    u = u / norm(u)
    y = np.cross(u, EDGES)
    y = y / norm(y)
    return np.stack([u, y, np.cross(u, y)], axis=2)


def velocities(place, turn, w):
    """Velocities of the centres of mass and angular velocities of plate, cylinders and rods, world axes (13, 3)."""
    v, omega = w[:3], w[3:]
    arm = place + BALLS @ turn.T - FEET
    arm_dot = v + np.cross(omega, BALLS @ turn.T)
    length = norm(arm)
    u = arm / length
    u_dot = (arm_dot - u * np.sum(u * arm_dot, axis=1, keepdims=True)) / length
    # omega = u x u' + s u, with s such that the second axis y stays perpendicular to the edge: (omega x y) . e = 0
    y = np.cross(u, EDGES)
    y = y / norm(y)
    normal, swing = np.cross(y, EDGES), np.cross(u, u_dot)
    spin = swing - u * np.sum(swing * normal, axis=1, keepdims=True) / np.sum(u * normal, axis=1, keepdims=True)
    plate = v + np.cross(omega, turn @ PLATE[2])
    linear = np.concatenate([plate[None], CYLINDER[2] * u_dot, arm_dot + ROD[2] * u_dot])
    return linear, np.concatenate([omega[None], spin, spin])


def extension(t, complex_step=TINY):
    """Prescribed extensions of the legs and their rates."""
    s = t + 1j * complex_step
    pace = 2 * np.pi
    there, aside = 1 - np.cos(pace * s), np.sin(pace * s) - 0.5 * np.sin(2 * pace * s)
    roll, pitch = 0.1 * there, 0.15 * aside
    zero, one = 0 * s, 1 + 0 * s
    rx = np.array(((one, zero, zero), (zero, np.cos(roll), -np.sin(roll)), (zero, np.sin(roll), np.cos(roll))))
    ry = np.array(((np.cos(pitch), zero, np.sin(pitch)), (zero, one, zero), (-np.sin(pitch), zero, np.cos(pitch))))
    found = lengths(PLACE + np.array((0.06 * there, 0.05 * aside, 0.08 * there)), exponential(VECTOR) @ rx @ ry)
    return found.real - lengths(PLACE, exponential(VECTOR)), found.imag / complex_step


def acceleration(t, place, turn, w):
    """Acceleration of the reference point of the plate and its angular acceleration, world axes (6,)."""
    columns = [velocities(place, turn, e) for e in np.eye(6)]
    jv, jw = (np.stack([column[k] for column in columns], axis=2) for k in (0, 1))  # (13, 3, 6)
    moved = place + 1j * TINY * w[:3], turn + 1j * TINY * hat(w[3:]) @ turn
    biases = [x.imag / TINY for x in velocities(*moved, w)]
    masses = np.repeat((PLATE[0], CYLINDER[0], ROD[0]), (1, 6, 6))
    axes = np.concatenate([turn[None], *2 * [leg_axes(place, turn)]])
    moments = np.array([PLATE[1], *6 * [CYLINDER[1]], *6 * [ROD[1]]])
    inertias = np.einsum("bij,bjk,blk->bil", axes, moments, axes)
    spins = jw @ w
    gyro = np.einsum("bij,bj->bi", inertias, biases[1]) + np.cross(spins, np.einsum("bij,bj->bi", inertias, spins))
    mass = np.einsum("bij,b,bik->jk", jv, masses, jv) + np.einsum("bij,bil,blk->jk", jw, inertias, jw)
    u = leg_axes(place, turn)[:, :, 0]
    rows = np.concatenate([u, np.cross(BALLS @ turn.T, u)], axis=1)  # rates of the lengths are rows @ w
    wanted, rate = extension(t)
    forces = KP * (wanted - lengths(place, turn) + lengths(PLACE, exponential(VECTOR))) + KD * (rate - rows @ w)
    weight = np.einsum("bij,b,bi->j", jv, masses, GRAVITY - biases[0])
    return np.linalg.solve(mass, weight - np.einsum("bij,bi->j", jw, gyro) + rows.T @ forces)


def motion(times, rtol):
    """Position, first axis of the plate and extensions of the legs at these times, (n, 12)."""

    def rates(t, y):
        turn, w = rotation_of(y[3:7]), y[7:]
        e0, e = y[3], y[4:7]
        turning = np.concatenate([[-e @ w[3:]], e0 * w[3:] + np.cross(w[3:], e)]) / 2
        return np.concatenate([w[:3], turning, acceleration(t, y[:3], turn, w)])

    angle = np.linalg.norm(VECTOR)
    y = np.concatenate([PLACE, [np.cos(angle / 2)], np.sin(angle / 2) / angle * VECTOR, np.zeros(6)])
    rows = []
    for t_start, t_end in pairwise((0.0, *times)):  # steps end at these times
        y = solve_ivp(rates, (t_start, t_end), y, "DOP853", rtol=rtol, atol=1e-2 * rtol).y[:, -1]
        turn = rotation_of(y[3:7])
        rows.append(np.concatenate([y[:3], turn[:, 0], lengths(y[:3], turn) - lengths(PLACE, exponential(VECTOR))]))
    return np.array(rows)


def rotation_of(e):
    """Rotation matrix of a quaternion of any length."""
    e = e / np.linalg.norm(e)
    return np.eye(3) + 2 * e[0] * hat(e[1:]) + 2 * hat(e[1:]) @ hat(e[1:])


if __name__ == "__main__":
    np.set_printoptions(precision=12, suppress=True, linewidth=150, floatmode="fixed")
    print(motion((0.1, 0.5, 1.0), 1e-13))  # takes a minute
