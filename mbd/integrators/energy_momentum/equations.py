"""Energy-momentum scheme on frames, compiled: Cayley steps of Lie nodes, straight steps of points and directors.

One step with the unknown increment (dr, x) of every node, x = h Theta the Cayley vector, and the multipliers lambda:
the balances of momentum of all nodes (``nodes.step.lie``, ``nodes.step.directors``) and g(z1, t1) = 0, with the frame
forces F of joints and force elements by exact discrete gradients at the averaged frame zm = (z0 + z1)/2. F does the
work F.(z1 - z0), so that energy, linear and angular momentum are exact [Simo & Wong 1991, Int. J. Numer. Methods Eng.
31, 19, for one body; here with constraints].
"""

from __future__ import annotations

from ...compiled.kernel import JIT, kernel
from ...joints.instant import primitive_force
from ...nodes.mass import weight
from ...nodes.update import STORED_CAYLEY
from ...system import instant as pieces
from ...system.tables import ENTRY_UPDATE
from .elements import (
    EXTRA_FORCES,
    EXTRA_TANGENTS,
    FORCE_TANGENTS,
    FORCES,
    JOINT_BLOCKS,
    call_frame_piece,
)
from .node_steps import MATRIX, call_special

if JIT:
    from ...compiled.boundary import call_entry

    @kernel
    def advance_cayley(s, w, q, dq, out):
        """The update of absolute coordinates with Cayley vectors, and the frames at out."""
        call_entry(s.entries[ENTRY_UPDATE], (s.place[0], w.place[0], q, dq, out, STORED_CAYLEY))
else:

    def advance_cayley(s, w, q, dq, out):
        """The update of absolute coordinates with Cayley vectors, and the frames at out."""
        pieces.update(s, w, q, dq, out, STORED_CAYLEY)


@kernel
def average_frame(z0, z1, zm, zr):
    """Averaged frame; what turns forces into torques is the same unless a piece has something else."""
    for m in range(12):
        middle = 0.5 * (z0[m] + z1[m])
        zm[m] = middle
        zr[m] = middle


@kernel
def frame_forces(s, w, x, h):
    """Frame forces of the step into w.f, torques into x.torque (frames must be up to date)."""
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(s.nodes.shape[0]):
        torque = x.torque[i]
        weight(s.nodes[i], g1, g2, g3, w.f[i])
        torque[0], torque[1], torque[2] = 0.0, 0.0, 0.0
    call_frame_piece(s, w, x, FORCES, h)
    for k in range(s.primitives.shape[0]):
        p = s.primitives[k]
        a, b = p.a, p.b
        primitive_force(p, x.zm[a], x.zm[b], pieces.constant(p, w.values), x.lamn, p.l0, w.f[a], w.f[b])
    call_frame_piece(s, w, x, EXTRA_FORCES, h)


@kernel
def frame_matrix(s, w, x, h):
    """The iteration matrix in w.matrix, dynamic rows scaled by h^2/2 (after a residual at the same iterate)."""
    matrix = w.matrix
    for k in range(matrix.shape[0]):
        matrix[k] = 0.0
    call_special(s, w, x, MATRIX, h)
    call_frame_piece(s, w, x, FORCE_TANGENTS, h)
    call_frame_piece(s, w, x, JOINT_BLOCKS, h)
    call_frame_piece(s, w, x, EXTRA_TANGENTS, h)


@kernel
def move(s, w, x):
    """End coordinates, averaged coordinates and the frames of the present increment."""
    q, qn, qm = x.q, x.qn, x.qm
    advance_cayley(s, w, q, x.dq, qn)
    for k in range(q.shape[0]):
        qm[k] = 0.5 * (q[k] + qn[k])
