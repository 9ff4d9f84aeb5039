"""What people ask a system at a given state: frames, forces, constraints, accelerations, matrices.

Every method evaluates the tables with the kernels that integrators use, checks its arguments, and raises what functions
of users did wrong.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Body
from ..elements.arguments import Vector
from ..errors import ModelError
from ..nodes.increments import apply_tangent_inverse
from . import instant
from .accelerations import accelerations
from .defect import constraint_defects
from .functions import Functions
from .jacobians import bare_tables, gravity_forces, jacobian, jacobian_rate, joint_wrenches
from .looking import look
from .matrix import tangent
from .names import Names
from .tables import BY_RECURSION, FLAG_TREE, Tables, Work
from .tree_matrix import plain_tangent
from .turned import Turned, spin_rotors, turn_rotors, turned_rotors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = np.ndarray


class Evaluation(Functions, Names):
    """The part of a system that people ask; integrators use the kernels of ``mbd.system.instant`` themselves."""

    work: Work
    n_q: int
    n_l: int

    # --- coordinates ----------------------------------------------------------------------------------------------

    def update(self, q: Array, dq: Array) -> Array:
        """The update of absolute coordinates (UAC): q o exp(dq) on Lie nodes, q + dq on conventional ones."""
        out = np.array(self._q(q))
        instant.advance(self.tables, self.work, out, self._v(dq, "dq"), out)
        return out

    def tangent_inverse(self, dq: Array, v: Array) -> Array:
        """T_exp^-1(dq) v."""
        out = np.zeros(self.n_v)
        apply_tangent_inverse(self.tables.nodes, self._v(dq, "dq"), self._v(v), out, np.zeros(9))
        return out

    # --- frames ---------------------------------------------------------------------------------------------------

    def frames(self, q: Array) -> Array:
        """Frames z = (r, d1, d2, d3) of all nodes, the ground first: (n + 1, 12)."""
        q = self._q(q)
        instant.frames(self.tables, self.work, q)
        z: Array = self.work.z.copy()
        turn_rotors(self, z, q)
        return z

    def frame_velocities(self, q: Array, v: Array) -> Array:
        """Velocities of all frames."""
        s, w = self.tables, self.work
        q, v = self._q(q), self._v(v)
        instant.frames(s, w, q)
        instant.velocities(s, w, q, v)
        zd: Array = w.zd.copy()
        spin_rotors(self, zd, q, v)
        return zd

    @cached_property
    def rotors(self) -> list[Turned]:
        """Rotors of motors that joint coordinates leave at rest, and the coordinates that turn them."""
        return turned_rotors(self)

    def _move(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        s, w = self.tables, self.work
        q, v = self._q(q), self._v(v)
        self._ask_functions()
        look(s, w, float(t), q, v)
        self.raise_callback_errors()
        return q, v

    # --- vectors --------------------------------------------------------------------------------------------------

    def residual(self, q: Array, v: Array, vd: Array, lam: Array | None = None, t: float = 0.0) -> Array:
        """M v_dot - f + B^T lam."""
        s, w = self.tables, self.work
        q, v = self._move(q, v, t)
        instant.dynamics(s, w, q, v, self._v(vd, "vd"), self._l(lam), w.x)
        self.raise_callback_errors()
        return w.x[s.xv].copy()

    def forces(self, q: Array, v: Array, t: float = 0.0) -> Array:
        """f(q, v, t) with M v_dot = f - B^T lam, gyroscopic forces included."""
        return -self.residual(q, v, np.zeros(self.n_v), None, t)

    def gyroscopic_forces(self, q: Array, v: Array) -> Array:
        """The part of f that is quadratic in velocity: f_gyr with M v_dot = f_gyr + ..."""
        s, w = self.tables, self.work
        q, v = self._move(q, v, 0.0)
        bare = bare_tables(self)
        instant.dynamics(bare, w, q, v, np.zeros(self.n_v), np.zeros(self.n_l), w.x)
        moving = w.x[s.xv].copy()
        zero = np.zeros(self.n_v)
        instant.dynamics(bare, w, q, zero, zero, np.zeros(self.n_l), w.x)
        return w.x[s.xv] - moving

    def constraints(self, q: Array, t: float = 0.0) -> Array:
        """g(q, t), internal constraints of the nodes first, then joint by joint."""
        s, w = self.tables, self.work
        q, _ = self._move(q, np.zeros(self.n_v), t)
        instant.constraints(s, w, q, w.x)
        self.raise_callback_errors()
        return w.x[s.xl].copy()

    def constraint_velocity(self, q: Array, v: Array, t: float = 0.0) -> Array:
        """B v + g_t."""
        s, w = self.tables, self.work
        q, v = self._move(q, v, t)
        instant.constraint_rates(s, w, q, v, w.x)
        self.raise_callback_errors()
        return w.x[s.xl].copy()

    def constraint_defects(self, q: Array, v: Array, t: float = 0.0) -> tuple[Array, Array]:
        """(g, B v + g_t): both of the above."""
        q, v, g, rate = self._q(q), self._v(v), np.zeros(self.n_l), np.zeros(self.n_l)
        self._ask_functions()
        constraint_defects(self.tables, self.work, float(t), q, v, g, rate)
        self.raise_callback_errors()
        return g, rate

    def constraint_bias(self, q: Array, v: Array, t: float = 0.0) -> Array:
        """gamma with g_ddot = B v_dot + gamma."""
        s, w = self.tables, self.work
        q, v = self._move(q, v, t)
        instant.biases(s, w, q, v)
        instant.constraint_biases(s, w, q, v, w.x)
        self.raise_callback_errors()
        return w.x[s.xl].copy()

    def accelerations(self, q: Array, v: Array, t: float = 0.0) -> tuple[Array, Array]:
        """(v_dot, lam) of the index-1 form."""
        s, w = self.tables, self.work
        q, v = self._move(q, v, t)
        vd, lam = np.zeros(self.n_v), np.zeros(self.n_l)
        accelerations(s, w, q, v, np.zeros(max(self.n_v, self.n_l)), vd, lam)
        self.raise_callback_errors()
        return vd, lam

    # --- forces and Jacobians for people ----------------------------------------------------------------------------

    def inverse_dynamics(self, q: Array, v: Array, vd: Array, t: float = 0.0) -> Array:
        """Generalised forces, one per velocity, that cause the accelerations vd besides all forces of the model.

        They are zero where the model moves like this by itself. In joint coordinates these are the torques and forces
        along the joints; multipliers of loops are taken as zero.
        """
        return self.residual(q, v, vd, None, t)

    def gravity_forces(self, q: Array) -> Array:
        """Generalised forces that hold the model against gravity at rest; other forces are left out."""
        return gravity_forces(self, q)

    def joint_wrenches(
        self, q: Array, v: Array, vd: Array, lam: Array | None = None, t: float = 0.0
    ) -> dict[str, tuple[Array, Array]]:
        """(force, torque about the joint's point) of every joint that carries a body, on its second body, world axes.

        By name; joint coordinates only. What drives the joint along its own coordinates is part of it.
        """
        return joint_wrenches(self, q, v, vd, lam, t)

    def jacobian(self, body: Body | str, point: Vector, q: Array) -> Array:
        """(6, n_v): velocity of a body-fixed point, then angular velocity, world axes, per unit of each velocity."""
        return jacobian(self, body, point, q)

    def jacobian_rate(self, body: Body | str, point: Vector, q: Array, v: Array) -> Array:
        """Time derivative of ``jacobian`` for the velocities v (fourth-order differences, eleven digits)."""
        return jacobian_rate(self, body, point, q, v)

    # --- matrices for people --------------------------------------------------------------------------------------

    def mass_matrix(self, q: Array) -> csr_matrix:
        """M(q) as a scipy sparse matrix."""
        return self._matrix(q, cm=1.0)[0]

    def constraint_jacobian(self, q: Array, t: float = 0.0) -> csr_matrix:
        """B(q, t): d g = B (increment)."""
        return self._matrix(q, t=t, cm=1.0)[1]

    def stiffness(self, q: Array, v: Array, vd: Array, lam: Array | None = None, t: float = 0.0) -> csr_matrix:
        """K = d(M v_dot - f + B^T lam)/d(increment)."""
        return self._matrix(q, v, vd, lam, t, ck=1.0)[0]

    def damping(self, q: Array, v: Array, vd: Array | None = None, t: float = 0.0) -> csr_matrix:
        """C = d(M v_dot - f)/dv."""
        return self._matrix(q, v, vd, None, t, cc=1.0)[0]

    def constraint_hessian(self, q: Array, lam: Array, t: float = 0.0) -> csr_matrix:
        """d(B^T lam)/d(increment): contracted second derivatives of the constraints."""
        nodes = self.tables.nodes.copy()
        nodes["potential_function"] = nodes["force_function"] = -1
        bare = bare_tables(self).changed(nodes=nodes)
        return self._matrix(q, None, None, lam, t, ck=1.0, tables=bare)[0]

    def _matrix(
        self, q: Array, v: Array | None = None, vd: Array | None = None, lam: Array | None = None, t: float = 0.0,
        cm: float = 0.0, cc: float = 0.0, ck: float = 0.0, tables: Tables | None = None,
    ) -> tuple[csr_matrix, csr_matrix]:  # fmt: skip
        """Blocks (nv x nv, nl x nv) of the iteration matrix."""
        s, w = tables or self.tables, self.work
        q, v = self._move(q, np.zeros(self.n_v) if v is None else v, t)
        vd = self._v(np.zeros(self.n_v) if vd is None else vd, "vd")
        lam = self._l(lam)
        instant.dynamics(s, w, q, v, vd, lam, w.x)  # leaves the frame forces that the stiffness needs
        if s.flags[FLAG_TREE] == BY_RECURSION:
            return self._plain_matrix(s, q, v, vd, lam, cm, cc, ck)
        tangent(s, w, q, v, vd, lam, w.eye, cm, cc, ck, w.matrix)
        self.raise_callback_errors()
        full = self.assembly.layout.to_scipy(w.matrix).tocsr()
        return full[s.xv][:, s.xv], full[s.xl][:, s.xv]

    def _plain_matrix(
        self, s: Tables, q: Array, v: Array, vd: Array, lam: Array, cm: float, cc: float, ck: float
    ) -> tuple[csr_matrix, csr_matrix]:
        """``_matrix`` of a system whose equations are solved along the tree, for which no matrix has been assembled."""
        from scipy.sparse import csr_matrix

        full = np.zeros(self.n_v * self.n_v)
        plain_tangent(s, self.work, q, v, vd, lam, self.work.eye, cm, cc, ck, full)
        self.raise_callback_errors()
        return csr_matrix(full.reshape(self.n_v, self.n_v)), csr_matrix((0, self.n_v))

    # --- checks of arguments --------------------------------------------------------------------------------------

    def _q(self, q: Any) -> Array:
        return _vector(q, self.n_q, "q")

    def _v(self, v: Any, name: str = "v") -> Array:
        return _vector(v, self.n_v, name)

    def _l(self, lam: Any) -> Array:
        return np.zeros(self.n_l) if lam is None else _vector(lam, self.n_l, "lam")


def _vector(x: Any, n: int, name: str) -> Array:
    x = np.ascontiguousarray(x, dtype=float)
    if x.shape != (n,):
        raise ModelError(f"{name} has shape {x.shape}; expected ({n},)")
    return x if x.flags.writeable else x.copy()  # compiled code takes writable arrays only
