"""Systems of equations on directors, solved with the matrix of rigid bodies.

On directors a step of a method leads to equations of the form

    M dv + G^T dl = -r,   G dv = -c

with twelve velocities and six internal multipliers per body, although a rigid body has but six velocities. At an
orthonormal frame the change of the directors is dd_a = sum_b (hat(theta) + S)_ba d_b with a rotation theta and a
symmetric S, and the system falls apart [null space method, Betsch & Leyendecker 2006, Int. J. Numer. Meth. Eng. 67]:

- the internal constraints alone give S: their rows are S_aa and 2 S_ab,
- the dynamic equations projected on translations and rotations, in which internal multipliers have no part, and the
  joints give the translations, theta and the multipliers of joints: the matrix is that of the same bodies on Lie nodes,
- the dynamic equations projected on S give the internal multipliers.

Only the second needs a factorisation, a third of the size, and its matrix is the one that every model has
(``evaluate.tangent``); stiffness may be added to it. What is given up is of the order of (h omega)^2, by which frames
inside a step are not orthonormal, and of h omega, by which the frames of rows and columns differ; an iteration on the
exact residual makes up for it.
"""

from __future__ import annotations

from ..boundary import address, arguments, integers, matrix, vector
from ..joints.primitives import COINCIDENT, primitive_force, primitive_rate
from ..kernel import JIT, kernel
from ..nodes.frames import spin_axes
from ..nodes.inertia import frame_inertia, frame_torque
from ..records import ENTRY_RIGID_SOLVE, Work
from ..system.entries import entry_address
from ..system.evaluate import factor, solve, tangent
from ..system.pieces import constant
from ..system.system import System
from ..system.types import load_tables, load_work
from .groups import new_work, rigid_tables
from .linear_frames import clear_frames, internal_frame_force


@kernel
def _project(nodes, twins, z, r, nv, stretch, f, x):
    """Stretches from the internal rows of r, and the dynamic rows on translations and rotations."""
    for i in range(1, nodes.shape[0]):
        n, t = nodes[i], twins[i]
        axes, force, ds = z[i], f[i], stretch[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            force[o + m] = r[n.v0 + m]
        if n.nl > 0:
            k = nv + n.l0
            s11, s22, s33 = -r[k], -r[k + 1], -r[k + 2]
            s12, s13, s23 = -0.5 * r[k + 3], -0.5 * r[k + 4], -0.5 * r[k + 5]
            for m in range(3):
                d1, d2, d3 = axes[3 + m], axes[6 + m], axes[9 + m]
                ds[m] = 0.0
                ds[3 + m] = s11 * d1 + s12 * d2 + s13 * d3
                ds[6 + m] = s12 * d1 + s22 * d2 + s23 * d3
                ds[9 + m] = s13 * d1 + s23 * d2 + s33 * d3
            frame_inertia(n, ds, force)
        k = t.x0
        if n.nx == 3:
            x[k], x[k + 1], x[k + 2] = -force[0], -force[1], -force[2]
            k += 3
        if n.nl > 0:
            t1, t2, t3 = frame_torque(axes, force)
            x[k], x[k + 1], x[k + 2] = -t1, -t2, -t3


@kernel
def _project_joints(primitives, values, z, r, nv, stretch, x):
    """Rows of joints: what the stretches have not yet done."""
    for k in range(primitives.shape[0]):
        p = primitives[k]
        primitive_rate(p, z[p.a], z[p.b], stretch[p.a], stretch[p.b], constant(p, values), x, p.x0)
        for m in range(3 if p.kind == COINCIDENT else 1):
            x[p.x0 + m] = -x[p.x0 + m] - r[nv + p.l0 + m]


@kernel
def _expand(nodes, twins, z, x, stretch, f, turned, r):
    """Changes of the coordinates into r; f becomes r + M dv."""
    for i in range(1, nodes.shape[0]):
        n, k = nodes[i], twins[i].x0
        ds = stretch[i]
        for m in range(12):
            turned[m] = 0.0
        if n.nx == 3:
            for m in range(3):
                turned[m] = x[k + m]
                r[n.v0 + m] = x[k + m]
            k += 3
        if n.nl > 0:
            spin_axes(z[i], x[k], x[k + 1], x[k + 2], turned)
            o = n.v0 + n.nx
            for m in range(9):
                r[o + m] = turned[3 + m] + ds[3 + m]
            frame_inertia(n, turned, f[i])


@kernel
def _expand_joints(primitives, values, z, x, nv, f, r):
    """Multipliers of joints into r; f += their forces."""
    for k in range(primitives.shape[0]):
        p = primitives[k]
        primitive_force(p, z[p.a], z[p.b], constant(p, values), x, p.x0, f[p.a], f[p.b])
        for m in range(3 if p.kind == COINCIDENT else 1):
            r[nv + p.l0 + m] = x[p.x0 + m]


@kernel
def _internal(nodes, z, f, nv, r):
    """Internal multipliers: what balances f on the stretches."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.nl > 0:
            d, g, k = z[i], f[i], nv + n.l0
            r[k] = -(d[3] * g[3] + d[4] * g[4] + d[5] * g[5])
            r[k + 1] = -(d[6] * g[6] + d[7] * g[7] + d[8] * g[8])
            r[k + 2] = -(d[9] * g[9] + d[10] * g[10] + d[11] * g[11])
            a12 = d[3] * g[6] + d[4] * g[7] + d[5] * g[8] + d[6] * g[3] + d[7] * g[4] + d[8] * g[5]
            a13 = d[3] * g[9] + d[4] * g[10] + d[5] * g[11] + d[9] * g[3] + d[10] * g[4] + d[11] * g[5]
            a23 = d[6] * g[9] + d[7] * g[10] + d[8] * g[11] + d[9] * g[6] + d[10] * g[7] + d[11] * g[8]
            r[k + 3], r[k + 4], r[k + 5] = -0.5 * a12, -0.5 * a13, -0.5 * a23


@kernel
def solve_with_rigid_bodies(s, t, w, values, z, matrix, pivots, dinv, r, stretch, f):
    """r := the solution (dv, dl) for the right-hand side -r = -(r, c), in the order of velocities and multipliers.

    s are natural tables (``groups``), t rigid tables, w their buffers; z are the frames, stretch and f scratch.
    """
    nv = s.xv.shape[0]
    _project(s.nodes, t.nodes, z, r, nv, stretch, f, w.x)
    _project_joints(t.primitives, values, z, r, nv, stretch, w.x)
    solve(t, matrix, pivots, dinv, w.x)
    _expand(s.nodes, t.nodes, z, w.x, stretch, f, w.small[0], r)
    _expand_joints(t.primitives, values, z, w.x, nv, f, r)
    _internal(s.nodes, z, f, nv, r)


_arguments = arguments(
    address, address, address, vector, matrix, vector, integers, vector, vector, matrix, matrix
)  # fmt: skip


def rigid_solve_entry(p):  # type: ignore[no-untyped-def]
    s, t, w, values, z, factors, pivots, dinv, r, stretch, f = _arguments(p)
    solve_with_rigid_bodies(
        load_tables(s), load_tables(t), load_work(w), values, z, factors, pivots, dinv, r, stretch, f
    )  # fmt: skip


if JIT:
    from ..boundary import call_entry

    @kernel
    def rigid_solve(s, t, w, values, z, matrix, pivots, dinv, r, stretch, f):
        """Call of ``solve_with_rigid_bodies``."""
        call_entry(
            t.entries[ENTRY_RIGID_SOLVE],
            (s.place[0], t.place[0], w.place[0], values, z, matrix, pivots, dinv, r, stretch, f),
        )
else:
    rigid_solve = solve_with_rigid_bodies


class RigidBodies:
    """Tables of the rigid bodies of a system on directors, and buffers for two matrices of theirs."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.tables, self.layout = rigid_tables(system)
        if JIT:
            self.tables.entries[ENTRY_RIGID_SOLVE] = entry_address(rigid_solve_entry)

    def new_work(self) -> Work:
        """Buffers of a run."""
        return self.system.two_matrices(new_work(self.system, self.layout.n, self.layout.size_F))


@kernel
def rigid_factor(s, t, w, q, zero, z, zd, lam, cc, ck, matrix, pivots, dinv):
    """Factors of [M + cc C + ck K, G^T; G, 0] at the frames z with velocities zd, for rigid bodies.

    K contains the geometric stiffness of the multipliers lam; that of a rotating body is found in the internal ones.
    """
    for i in range(z.shape[0]):
        for m in range(12):
            w.z[i, m] = z[i, m]
            w.zd[i, m] = zd[i, m]
    if ck != 0.0:
        clear_frames(w.f)  # in equilibrium, the internal forces are minus all others
        for i in range(1, z.shape[0]):
            if s.nodes[i].nl > 0:
                internal_frame_force(z[i], lam, s.nodes[i].l0, -1.0, w.f[i])
    tangent(t, w, q, zero, zero, lam, w.eye, 1.0, cc, ck, matrix)
    factor(t, w, matrix, pivots, dinv)
