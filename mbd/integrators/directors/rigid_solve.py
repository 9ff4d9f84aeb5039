"""Systems of equations on directors, solved with the matrix of rigid bodies.

On directors a step of a method leads to equations of the form

    M dv + G^T dl = -r,   G dv = -c

with twelve velocities and six internal multipliers per body, although a rigid body has but six velocities. At an
orthonormal frame the change of the directors is dd_a = sum_b (hat(theta) + S)_ba d_b with a rotation theta and a
symmetric S, and the system falls apart [null space method, Betsch & Leyendecker 2006, Int. J. Numer. Meth. Eng. 67]:

- the internal constraints alone give S: their rows are S_aa and 2 S_ab,
- the dynamic equations projected on translations and rotations, in which internal multipliers have no part, and the
  joints give the translations, theta and the multipliers of joints: the matrix is that of rigid bodies on Lie nodes,
- the dynamic equations projected on S give the internal multipliers.

Only the second needs a factorisation, a third of the size. Constraint forces act at other frames (*columns*, zc) than
constraints hold (*rows*, zr); with both of them in the matrix, ``rigid_blocks``, this is Newton's method. With
stiffness, ``rigid_tangent``, the matrix is taken at one frame and what is given up is of the order of h omega. Frames
inside a step are not orthonormal by (h omega)^2. Couplings and general constraints are taken for functions of rotations
alone. An iteration on the exact residual makes up for all of this.
"""

from __future__ import annotations

from ...compiled.entry import entry
from ...compiled.kernel import kernel
from ...compiled.kinds import integers, matrix, vector
from ...joints.instant import COINCIDENT, primitive_force, primitive_rate
from ...joints.over_step import primitive_blocks_over_step
from ...nodes.frames import has_axes, spin_axes
from ...nodes.inertia import frame_torque
from ...nodes.internal import internal_frame_force
from ...nodes.mass import frame_inertia
from ...system.element_forces import constant
from ...system.matrix import solve, tangent
from ...system.system import System
from ...system.tables import Tables, Work
from .linear_frames import clear_frames
from .unknown_blocks import name_of_row, new_work, rigid_tables


@kernel
def stretch_of(n, axes, r, k, ds):
    """ds = the stretch of the frame ``axes`` that makes the internal rows r[k:] zero; nothing of a point."""
    for m in range(12):
        ds[m] = 0.0
    if n.nl > 0:
        s11, s22, s33 = -r[k], -r[k + 1], -r[k + 2]
        s12, s13, s23 = -0.5 * r[k + 3], -0.5 * r[k + 4], -0.5 * r[k + 5]
        for m in range(3):
            d1, d2, d3 = axes[3 + m], axes[6 + m], axes[9 + m]
            ds[3 + m] = s11 * d1 + s12 * d2 + s13 * d3
            ds[6 + m] = s12 * d1 + s22 * d2 + s23 * d3
            ds[9 + m] = s13 * d1 + s23 * d2 + s33 * d3


@kernel
def project_on_motions(n, t, zc, force, x):
    """x = minus a frame force on translations and rotations of the frame zc, at the rows of the rigid node t."""
    k = t.x0
    if n.nx == 3:
        x[k], x[k + 1], x[k + 2] = -force[0], -force[1], -force[2]
        k += 3
    if n.nl > 0:
        t1, t2, t3 = frame_torque(zc, force)
        x[k], x[k + 1], x[k + 2] = -t1, -t2, -t3


@kernel
def _project(nodes, rigid_nodes, zc, zr, r, nv, stretch, f, x):
    """Stretches from the internal rows of r, and the dynamic rows on translations and rotations."""
    for m in range(12):
        stretch[0, m] = 0.0
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        for m in range(n.nv):
            f[i, o + m] = r[n.v0 + m]
        stretch_of(n, zr[i], r, nv + n.l0, stretch[i])
        if n.nl > 0:
            frame_inertia(n, stretch[i], f[i])
        project_on_motions(n, rigid_nodes[i], zc[i], f[i], x)


@kernel
def project_joints(primitives, xl, values, zr, r, first, stretch, rows, x):
    """Rows of joints: what the stretches have not yet done."""
    for k in range(xl.shape[0]):
        x[xl[k]] = -r[first + k]
    for k in range(primitives.shape[0]):
        p = primitives[k]
        primitive_rate(p, zr[p.a], zr[p.b], stretch[p.a], stretch[p.b], constant(p, values), rows, 0)
        for m in range(3 if p.kind == COINCIDENT else 1):
            x[p.x0 + m] -= rows[m]


@kernel
def turn_of(n, t, zr, x, turned):
    """turned = the motion x of the rigid node t, as a change of the frame zr."""
    k = t.x0
    for m in range(12):
        turned[m] = 0.0
    if n.nx == 3:
        turned[0], turned[1], turned[2] = x[k], x[k + 1], x[k + 2]
        k += 3
    if n.nl > 0:
        spin_axes(zr, x[k], x[k + 1], x[k + 2], turned)


@kernel
def _expand(nodes, rigid_nodes, zr, x, stretch, f, turned, r):
    """Changes of the coordinates into r; f becomes r + M dv."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        o = 0 if n.nx == 3 else 3
        turn_of(n, rigid_nodes[i], zr[i], x, turned)
        for m in range(n.nv):
            r[n.v0 + m] = turned[o + m] + stretch[i, o + m]
        if n.nl > 0:
            frame_inertia(n, turned, f[i])


@kernel
def expand_joints(primitives, xl, values, zc, x, first, f, r):
    """Multipliers of joints into r; f += their forces."""
    for k in range(xl.shape[0]):
        r[first + k] = x[xl[k]]
    for k in range(primitives.shape[0]):
        p = primitives[k]
        primitive_force(p, zc[p.a], zc[p.b], constant(p, values), x, p.x0, f[p.a], f[p.b])


@kernel
def stretch_multipliers(d, g, k, r):
    """r[k:] = the internal multipliers that balance the frame force g on the stretches of the frame d."""
    r[k] = -(d[3] * g[3] + d[4] * g[4] + d[5] * g[5])
    r[k + 1] = -(d[6] * g[6] + d[7] * g[7] + d[8] * g[8])
    r[k + 2] = -(d[9] * g[9] + d[10] * g[10] + d[11] * g[11])
    a12 = d[3] * g[6] + d[4] * g[7] + d[5] * g[8] + d[6] * g[3] + d[7] * g[4] + d[8] * g[5]
    a13 = d[3] * g[9] + d[4] * g[10] + d[5] * g[11] + d[9] * g[3] + d[10] * g[4] + d[11] * g[5]
    a23 = d[6] * g[9] + d[7] * g[10] + d[8] * g[11] + d[9] * g[6] + d[10] * g[7] + d[11] * g[8]
    r[k + 3], r[k + 4], r[k + 5] = -0.5 * a12, -0.5 * a13, -0.5 * a23


@entry(Tables, Tables, Work, vector, vector, matrix, matrix, vector, integers, vector, vector, matrix, matrix)
def rigid_solve(s, t, w, at_c, at_r, zc, zr, matrix, pivots, dinv, r, stretch, f):
    """r := the solution (dv, dl) for the right-hand side -r = -(r, c), in the order of velocities and multipliers.

    s are natural tables, t rigid tables (``unknown_blocks``), w their buffers; zc and zr are the frames of columns and
    rows, at_c and at_r the functions of time there, stretch and f scratch.
    """
    nv = s.xv.shape[0]
    first = nv + s.xl.shape[0] - t.xl.shape[0]
    _project(s.nodes, t.nodes, zc, zr, r, nv, stretch, f, w.x)
    project_joints(t.primitives, t.xl, at_r, zr, r, first, stretch, w.primitive_rows, w.x)
    solve(t, matrix, pivots, dinv, w.x)
    _expand(s.nodes, t.nodes, zr, w.x, stretch, f, w.scratch[0], r)
    expand_joints(t.primitives, t.xl, at_c, zc, w.x, first, f, r)
    for i in range(1, s.nodes.shape[0]):
        if s.nodes[i].nl > 0:
            stretch_multipliers(zc[i], f[i], nv + s.nodes[i].l0, r)


@kernel
def body_block(n, zc, zr, c, scratch, matrix):
    """c P_c^T M P_r with P the motions of a rigid body: column by column."""
    ld, o = n.ld, n.block
    if n.nx == 3:
        for m in range(3):
            matrix[o + m * ld + m] = c * n.mass
    if not has_axes(n):
        return
    turned, force = scratch[0], scratch[1]
    offset = n.nx == 3 and (n.s1 != 0.0 or n.s2 != 0.0 or n.s3 != 0.0)
    for j in range(0 if offset else n.nx, n.nv):
        for m in range(12):
            turned[m] = 0.0
            force[m] = 0.0
        k = j - n.nx
        if k < 0:
            turned[j] = 1.0
        else:
            spin_axes(zr, 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, turned)
        frame_inertia(n, turned, force)
        for m in range(n.nx):
            matrix[o + m * ld + j] = c * force[m]
        t1, t2, t3 = frame_torque(zc, force)
        m = o + n.nx * ld + j
        matrix[m], matrix[m + ld], matrix[m + 2 * ld] = c * t1, c * t2, c * t3


@kernel
def add_rigid_blocks(t, w, values, zc, zr, c, matrix):
    """c times the matrix of bodies, and joints that are primitives, with columns at zc and rows at zr."""
    for i in range(1, t.nodes.shape[0]):
        body_block(t.nodes[i], zc[i], zr[i], c, w.scratch, matrix)
    for k in range(t.primitives.shape[0]):
        p = t.primitives[k]
        a, b = p.a, p.b
        primitive_blocks_over_step(
            p, t.nodes[a], t.nodes[b], values, values, zc[a], zc[b], zr[a], zr[b], zc[a], zc[b], constant(p, values),
            w.jacobians, matrix,
        )  # fmt: skip


@entry(Tables, Work, vector, matrix, matrix, vector)
def rigid_blocks(t, w, values, zc, zr, matrix):
    """The matrix of bodies and of joints that are primitives, with columns at zc and rows at zr."""
    for k in range(matrix.shape[0]):
        matrix[k] = 0.0
    add_rigid_blocks(t, w, values, zc, zr, 1.0, matrix)


@kernel
def rigid_tangent(s, t, w, q, zero, z, zd, lam, cc, ck, matrix):
    """The matrix with cc C + ck K besides M, all at the frames z with velocities zd.

    K contains the geometric stiffness of the multipliers lam; that of a rotating body is found in the internal ones.
    """
    clear_frames(w.f)  # in equilibrium, the internal forces are minus all others
    for i in range(z.shape[0]):
        for m in range(12):
            w.z[i, m] = z[i, m]
            w.zd[i, m] = zd[i, m]
        if s.nodes[i].nl > 0:
            internal_frame_force(z[i], lam, s.nodes[i].l0, -1.0, w.f[i])
    tangent(t, w, q, zero, zero, lam, w.eye, 1.0, cc, ck, matrix)


class RigidBodies:
    """Tables of the rigid bodies of a system on directors, and buffers for two matrices of theirs.

    With ``count`` blocks of unknowns ``pairs`` are the tables of equation block i and unknown block j.
    """

    def __init__(self, system: System, count: int = 1) -> None:
        self.system = system
        self.pairs, self.layout = rigid_tables(system, count)
        self.tables = self.pairs[0][0]

    def new_work(self) -> Work:
        """Buffers of a run."""
        return self.system.two_matrices(new_work(self.system, self.layout.n, self.layout.size_F))

    def name_of_unknown(self, row: int) -> str:
        """The element behind a row of residuals, or of the matrix (``name_of_row``)."""
        return name_of_row(self.system, self.layout, row)
