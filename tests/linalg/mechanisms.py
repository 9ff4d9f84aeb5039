"""Synthetic mechanisms: realistic constraint Jacobians on random poses, assembled densely and into fronts."""

from __future__ import annotations

import numpy as np

from mbd.linalg.solver import BlockSolver
from mbd.linalg.symbolic import Layout, analyse

NODE_SIZE = {"lie": 6, "quaternion": 8, "directors": 18, "point": 3}
JOINT_SIZE = {"spherical": 3, "revolute": 5, "universal": 4, "fixed": 6, "distance": 1}
GROUND = -1


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else q[:, [1, 0, 2]]


class Mechanism:
    """Bodies and joints with their blocks; vertices are numbered in the order they are added."""

    def __init__(self, seed=0):
        self.rng = np.random.default_rng(seed)
        self.sizes, self.is_joint, self.grounded = [], [], []
        self.blocks = {}  # (u, v) -> dense block
        self.place, self.twist = {}, {}  # per body: position, map from its coordinates to (v, omega)

    def add(self, u, v, block):
        self.blocks[u, v] = self.blocks.get((u, v), 0.0) + block

    def body(self, kind="lie", position=None):
        """Mass-like positive definite block with a slight unsymmetry, internal constraints where the node has them."""
        rng = self.rng
        v = len(self.sizes)
        self.sizes.append(NODE_SIZE[kind])
        self.is_joint.append(False)
        self.grounded.append(False)
        self.place[v] = rng.uniform(-1, 1, 3) if position is None else np.asarray(position, float)
        inertia = rotation(rng)
        inertia = inertia @ np.diag(rng.uniform(0.5, 1.5, 3)) @ inertia.T
        mass = np.zeros((6, 6))
        mass[:3, :3], mass[3:, 3:] = rng.uniform(0.5, 2) * np.eye(3), inertia
        if kind == "lie":
            twist, k = np.eye(6), mass
        elif kind == "point":
            twist, k = np.eye(6)[:, :3], mass[:3, :3]
        elif kind == "quaternion":
            q = rng.normal(size=4)
            q /= np.linalg.norm(q)
            twist = np.zeros((6, 8))
            twist[:3, :3] = np.eye(3)
            twist[3:, 3:7] = 2 * np.column_stack([-q[1:], q[0] * np.eye(3) + skew(q[1:])])
            k = twist.T @ mass @ twist
            k[7, 3:7] = k[3:7, 7] = 2 * q
        else:
            d = rotation(rng)
            twist = np.zeros((6, 18))
            twist[:3, :3] = np.eye(3)
            for i in range(3):
                twist[3:, 3 + 3 * i : 6 + 3 * i] = 0.5 * skew(d[:, i])
            k = np.zeros((18, 18))
            euler = np.diag(rng.uniform(0.3, 1, 3))
            k[:3, :3] = mass[:3, :3]
            k[3:12, 3:12] = np.kron(euler, np.eye(3))
            for row, (i, j) in enumerate([(0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)]):
                k[12 + row, 3 + 3 * i : 6 + 3 * i] += d[:, j]
                k[12 + row, 3 + 3 * j : 6 + 3 * j] += d[:, i]
            k[3:12, 12:] = k[12:, 3:12].T
        n = {"quaternion": 7, "directors": 12}.get(kind, len(k))
        k[:n, :n] += 1e-3 * rng.normal(size=(n, n))
        self.twist[v] = twist
        self.add(v, v, k)
        return v

    def joint(self, kind, a, b, point=None, axis=None):
        """A joint between two bodies or a body and the ground; the axis of a distance joint follows from its points."""
        rng = self.rng
        v = len(self.sizes)
        self.sizes.append(JOINT_SIZE[kind])
        self.is_joint.append(True)
        self.grounded.append(GROUND in (a, b))
        point = rng.uniform(-1, 1, 3) if point is None else np.asarray(point, float)
        for c in (a, b):
            if c >= 0 and self.twist[c].shape[1] == 3:
                point = self.place[c]
        axis = rng.normal(size=3) if axis is None else np.asarray(axis, float)
        frame = np.linalg.svd(axis[None, :])[2]  # the axis, then two directions perpendicular to it
        ends = [point, point]
        if kind == "distance":
            ends = [self.place[c] if c >= 0 and self.twist[c].shape[1] == 3 else rng.uniform(-1, 1, 3) for c in (a, b)]
            frame = (ends[1] - ends[0])[None, :] / np.linalg.norm(ends[1] - ends[0])
        for c, sign, end in ((a, 1.0, ends[0]), (b, -1.0, ends[1])):
            if c < 0:
                continue
            rows = np.hstack([np.eye(3), -skew(end - self.place[c])])
            if kind == "distance":
                rows = frame @ rows
            elif kind != "spherical":
                turn = {"revolute": frame[1:], "universal": frame[:1], "fixed": np.eye(3)}[kind]
                rows = np.vstack([rows, np.hstack([np.zeros((len(turn), 3)), turn])])
            block = sign * rows @ self.twist[c]
            self.add(v, c, block)
            self.add(c, v, block.T)
        return v

    def spring(self, a, b, stiffness=1.0):
        """A translational spring between two bodies; it adds to the diagonal blocks too."""
        d = self.rng.normal(size=3)
        rows = {}
        for c, sign in ((a, 1.0), (b, -1.0)):
            rows[c] = sign * d @ np.hstack([np.eye(3), -skew(self.rng.uniform(-1, 1, 3))]) @ self.twist[c]
        for u in (a, b):
            for v in (a, b):
                self.add(u, v, stiffness * np.outer(rows[u], rows[v]))

    @property
    def pairs(self):
        return np.array([(u, v) for u, v in self.blocks if u != v], np.int64).reshape(-1, 2)

    def layout(self, **options) -> Layout:
        return analyse(self.sizes, self.is_joint, self.grounded, self.pairs, **options)

    def solver(self, layout=None, **options) -> BlockSolver:
        solver = BlockSolver(layout or self.layout(**options))
        keys = list(self.blocks)
        offset, stride = solver.layout.blocks([u for u, _ in keys], [v for _, v in keys])
        for key, o, ld in zip(keys, offset.tolist(), stride.tolist(), strict=True):
            block = self.blocks[key]
            i, j = np.indices(block.shape)
            solver.F[o + i * ld + j] += block
        return solver

    def matrix(self, layout) -> np.ndarray:
        """The dense matrix in permuted order, independent of the fronts."""
        a = np.zeros((layout.n, layout.n))
        for (u, v), block in self.blocks.items():
            p, q = layout.position[u], layout.position[v]
            a[p : p + self.sizes[u], q : q + self.sizes[v]] += block
        return a


def chain(count, kind="lie", joint="spherical", two_ends=False, seed=0):
    m = Mechanism(seed)
    last = GROUND
    for i in range(count):
        b = m.body(kind, [i + 0.5, 0.1 * np.sin(i), 0.1 * np.cos(i)])
        m.joint(joint, b, last, [i, 0, 0], m.rng.normal(size=3))
        last = b
    if two_ends:
        m.joint(joint, last, GROUND, [count, 0.3, 0])
    return m


def ring(count, joint="spherical", seed=0):
    m = Mechanism(seed)
    angles = 2 * np.pi * np.arange(count) / count
    bodies = [m.body(position=[np.cos(t), np.sin(t), 0.2 * np.cos(3 * t)]) for t in angles]
    for i, b in enumerate(bodies):
        m.joint(joint, b, bodies[i - 1])
    m.joint("spherical", bodies[0], GROUND)
    return m


def ladder(loops, redundant=False, seed=0):
    """Bars standing on the ground, horizontal bars between their tops; with all revolutes 3 redundant rows a loop."""
    m = Mechanism(seed)
    z = np.array([0, 0, 1.0])
    spread = 0.0 if redundant else 0.2
    left, right, cross = ("revolute", "revolute", z) if redundant else ("universal", "spherical", [1.0, 0, 0])
    last = GROUND
    for i in range(loops + 1):
        tilt = np.array([0.5, 1.0, 0]) + spread * m.rng.uniform(-1, 1, 3)
        foot = np.array([float(i), 0, 0])
        bar = m.body(position=foot + tilt / 2)
        m.joint("revolute", bar, GROUND, foot, z)
        if last != GROUND:
            top = m.body(position=foot + tilt - [0.5, 0, 0])
            m.joint(left, top, last, foot + tilt - [1, 0, 0], cross)
            m.joint(right, top, bar, foot + tilt, z)
        last = bar
    return m


def star(count, joint="spherical", seed=0):
    m = Mechanism(seed)
    hub = m.body()
    m.joint("spherical", hub, GROUND)
    for _ in range(count):
        m.joint(joint, m.body(), hub)
    return m


def net(rows, columns, kind="point", joint="distance", seed=0):
    m = Mechanism(seed)
    grid = {}
    for i in range(rows):
        for j in range(columns):
            grid[i, j] = b = m.body(kind, [i, j, 0.3 * m.rng.normal()])
            if i:
                m.joint(joint, b, grid[i - 1, j])
            if j:
                m.joint(joint, b, grid[i, j - 1])
    m.joint("spherical", grid[0, 0], GROUND)
    return m


def random_mechanism(seed):
    """A tree of mixed nodes and joints, plus up to three joints that close loops or lead to the ground."""
    m = Mechanism(seed)
    rng = m.rng
    bodies = []
    for _ in range(int(rng.integers(2, 14))):
        kind = str(rng.choice(["lie", "quaternion", "directors", "point"], p=[0.4, 0.25, 0.2, 0.15]))
        b = m.body(kind)
        other = int(rng.choice([GROUND, *bodies]))
        if rng.uniform() < 0.9:
            random_joint(m, b, other)
        bodies.append(b)
    for _ in range(int(rng.integers(0, 4))):
        a, b = (int(v) for v in rng.choice([GROUND, *bodies], 2, replace=False))
        random_joint(m, *((a, b) if a >= 0 else (b, a)))
    if rng.uniform() < 0.3:
        m.spring(bodies[0], bodies[-1])
    return m


def random_joint(m, a, b):
    points = [c for c in (a, b) if c >= 0 and m.twist[c].shape[1] == 3]
    if len(points) == 2:
        kinds = ["distance"]  # two points have two places, they cannot share one
    elif points:
        kinds = ["distance", "spherical"]
    else:
        kinds = list(JOINT_SIZE)
    m.joint(str(m.rng.choice(kinds)), a, b)
