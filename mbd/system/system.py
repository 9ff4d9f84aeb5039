"""System: the finished, frozen form of a model, which is all that integrators know.

Vectors: ``q`` coordinates, ``v`` velocities (as long as increments), ``lam`` multipliers with
``M v_dot = f - B^T lam``. The methods on this class are for people; integrators use the kernels of
``mbd.system.instant`` on ``system.tables``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Body
from ..compiled.kinds import plain
from ..compiled.record import Plan
from ..elements.arguments import Vector
from ..elements.function_errors import explain
from ..elements.settling import Late, finished, is_guarded
from ..elements.values import Parameter, in_force
from ..errors import ModelError
from ..joints.joint import Joint
from ..joints.tree import MOTION_WORDS, Carried
from ..model import Model
from ..nodes.forms import FORM_JOINT, NODE
from ..nodes.increments import apply_tangent_inverse
from ..nodes.tree.records import no_tree_work, tree_work
from . import instant
from .accelerations import accelerations
from .assembly import Assembly, assemble_tables
from .defect import constraint_defects
from .following import Following, Inputs, check_captured
from .frame_elements import BUFFERS
from .handles import ParameterHandle
from .identity import Identity, check_arrival, identity_of
from .jacobians import bare_tables, gravity_forces, jacobian, jacobian_rate, joint_wrenches
from .looking import look
from .matrix import tangent
from .numbers import columns, numbers_of
from .parcels import Portable
from .tables import BY_RECURSION, FLAG_TREE, PARAMETER_TIME, Tables, Work
from .tree_matrix import plain_tangent
from .tree_state import body_frames, joint_state
from .turned import Turned, spin_rotors, turn_rotors, turned_rotors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Array = np.ndarray
POSITION = columns(NODE, "r1", 3)


def assemble(model: Model) -> System:
    """Compile a model into a System: validation, dof maps, sparsity, elimination order."""
    return System(model)


@lru_cache(maxsize=64)
def _plan_of_work(
    nodes: int, values: int, turns: int, multipliers: int, user: int, buffer: int, largest: int, n: int, size: int
) -> Plan:
    """Where the buffers of a run lie, by the sizes on which they depend, and what they begin with."""
    eye, axes = np.eye(3).ravel(), np.append(np.zeros(3), np.eye(3))  # axes of points and of the ground never change
    return Work.plan(
        {
            "z": (nodes, 12), "zd": (nodes, 12), "zb": (nodes, 12), "f": (nodes, 12), "spin": (nodes, 9),
            "base": (nodes, 7), "t": (nodes, 9), "eye": (nodes, 9), "values": max(1, values),
            "turns": max(1, turns), "signs": nodes, "jacobians": (8, 3, 12), "scratch": (8, 16),
            "force_a": 12, "force_b": 12, "pulled_back": 12, "rotation": 12, "primitive_rows": 3, "observed": 3,
            "unit": multipliers, "user": user, "time": 2, "real_buffers": (BUFFERS, buffer),
            "complex_buffers": (BUFFERS, buffer), "buffers": (9, largest * largest + 16),
            "pivots": n, "dinv": n, "weights": n, "scale": n, "x": n, "g": n, "product": n, "scales": 4, "report": 5,
            "stiff_matrix": 0, "stiff_pivots": 0, "stiff_dinv": 0, "matrix": size,
        }
    ).filled_with(z=axes, base=np.nan, t=eye, eye=eye)  # fmt: skip


class System(Portable):
    """The tables of a model, its dof maps, and their evaluation.

    ``unknowns`` per velocity in the matrix: one, except for integrators that solve for velocities and momenta too.
    """

    def __init__(self, model: Model, unknowns: int = 1) -> None:
        given, model = model, model.copy() if model._parameters else model  # elements follow parameters in place
        self.model = model
        self.values: dict[str, float] = model._values()
        self.derived: dict[str, System] = {}
        with in_force(self.values):
            self.assembly: Assembly = assemble_tables(model, unknowns)
        self.tables: Tables = self.assembly.tables
        self.n_q, self.n_v, self.n_l = self.assembly.n_q, self.assembly.n_v, self.assembly.n_l
        self.length = self.assembly.length
        self._identity = Late(model, partial(identity_of, model, self.assembly.tree))
        self.elements = tuple(model.bodies), tuple(model.joints), tuple(model.forces)
        check_arrival(given)
        self.plain_inputs: dict[str, float] = {}  # inputs in whose place a file has these numbers
        self.work: Work = self.new_work()
        self._carriers: dict[str, Carried] | None = None  # by joint, when they are asked for
        self._show_clock()
        check_captured(self)
        if not self.is_guarded:
            _ = self.identity

    @cached_property
    def is_guarded(self) -> bool:
        """Whether nothing that acts can change unnoticed: neither elements nor what functions refer to."""
        return not self.assembly.callbacks and is_guarded(self.model)

    def _late(self, make: Callable[[], Any], known: Any) -> Any:
        """Something about the model: made when it is asked for, or now if something may change unnoticed until then."""
        return Late(self.model, make, known) if type(self) is System and self.is_guarded else make()

    @property
    def identity(self) -> Identity:
        """What the numbers of its states mean (``mbd.system.identity``)."""
        return self._identity.value

    @identity.setter
    def identity(self, identity: Identity) -> None:
        self._identity = finished(identity)

    def _show_clock(self) -> None:
        """Let functions know where the time of the evaluation is, and what their parameters are."""
        for callback in self.assembly.callbacks:
            callback.tell_time(self.tables.parameters[PARAMETER_TIME:].ctypes.data)
            if self.values:
                callback.surround(partial(in_force, self.values))

    # --- parameters and inputs ------------------------------------------------------------------------------------

    def set_parameters(self, values: Mapping[str, float]) -> None:
        """Change parameters and inputs by name; nothing is compiled and nothing is assembled.

        Tables, initial state and lengths are afterwards, bit for bit, those of a model that was built with these
        numbers. A run that has begun would go on with other tables than those it began with: begin a new one
        (``integrator.start``), or give its buffers to ``reset_work``. What would make the model another one
        (coordinates, number of equations, kinds of elements) is refused, and then nothing has changed. Solutions read
        from their system: take one of your own, ``mbd.assemble(model)``.
        """
        self._following.set_parameters(values)

    def parameters(self, names: str | Parameter | Iterable[str | Parameter]) -> ParameterHandle:
        """A handle of some numbers: parameters of the model, "gravity", and attributes of elements: "b.mass"."""
        return ParameterHandle(self, names)

    @cached_property
    def inputs(self) -> Inputs:
        """Inputs by name: ``system.inputs["u"] = 1.0`` acts at once, also on runs of this system that have begun."""
        return Inputs(self)

    @cached_property
    def _following(self) -> Following:
        return Following(self)

    def derive(self, key: str, make: Callable[[], System]) -> System:
        """A system that is made from this one, once for each key; it follows the parameters and inputs of this one."""
        if key not in self.derived:
            self.derived[key] = make()
        return self.derived[key]

    def structural(self, key: str, make: Callable[[], Any]) -> Any:
        """What follows from the integers of the tables alone: made once for all systems of the same structure."""
        structure = self.assembly.structure
        if structure is None:
            return make()
        found = structure.kept.get(key)
        if found is None:
            found = structure.kept[key] = make()
        return found

    def __repr__(self) -> str:
        return f"System('{self.model.name}', {self.n_q} coordinates, {self.n_v} velocities, {self.n_l} constraints)"

    def new_work(self) -> Work:
        """Buffers for one run."""
        a, nodes = self.assembly, len(self.tables.nodes)
        plan = _plan_of_work(
            nodes, a.n_values, len(a.turns), a.n_l, a.user_size, a.buffer_size, a.largest, a.layout.n, a.size_F
        )
        tree = tree_work(nodes, self.n_v, *a.inner_sizes) if a.tree is not None else no_tree_work()
        work = Work.zeros(plan, tree=tree)
        self.prepare_work(work)
        return work

    def prepare_work(self, work: Work) -> None:
        """What buffers of zeros have to know of the start."""
        if self.assembly.turns or self.has_pinned:
            self.reset_work(work)

    @property
    def has_pinned(self) -> bool:
        """Whether the places of some bodies are no coordinates: buffers know them from the start."""
        return self.structural("pinned", lambda: bool((plain(self.tables.nodes)["nx"][1:] == 0).any()))

    def reset_work(self, work: Work) -> None:
        """What buffers of an earlier run know of the start: places of pinned bodies, and where counters begin."""
        work.z[:, :3] = numbers_of(self.tables.nodes)[:, POSITION]
        work.turns[:] = self.initial_turns()

    def initial_turns(self) -> Array:
        """Where the counters of turns begin: the angles at the start are those nearest to these."""
        return np.array(self.assembly.turns or [0.0])

    def private(self) -> System:
        """The same tables with buffers of their own: whoever evaluates them counts turns for himself alone."""
        if self.values:
            _ = self.inputs, self._following  # of which there is one for the same tables
        own = copy(self)
        own.work = self.new_work()
        return own

    @property
    def has_snapshots(self) -> bool:
        """Whether ``Snapshots`` are all that parameters change but functions: no systems are made from this one."""
        return not self.derived

    def work_with(self, **changes: Array) -> Work:
        """The system's own buffers with some of them replaced."""
        return self.work.changed(**changes)

    def two_matrices(self, work: Work) -> Work:
        """The same buffers with room for a second factorisation."""
        return work.changed(
            stiff_matrix=np.zeros_like(work.matrix),
            stiff_pivots=np.zeros_like(work.pivots),
            stiff_dinv=np.zeros_like(work.dinv),
        )

    # --- state ----------------------------------------------------------------------------------------------------

    def initial_state(self) -> tuple[Array, Array]:
        """(q, v) as given by the nodes; not yet made consistent."""
        nodes = [body.start_node() for body in self.model.bodies]
        for body, node in zip(self.model.bodies, nodes, strict=True):
            node.check(body.name)
        if self.assembly.tree is None:
            q = np.concatenate([part for node in nodes for part in node.coordinate_parts()])
            v = np.concatenate([part for node in nodes for part in node.velocity_parts()])
            return q, v
        q, v = np.zeros(self.n_q), np.zeros(self.n_v)
        for i in self.tables.tree.free:
            n, node = self.tables.nodes[i], nodes[i - 1]
            q[n.q0 : n.q0 + n.nq], v[n.v0 : n.v0 + n.nv] = node.coordinates(), node.coordinate_velocities()
        joint_state(self, *body_frames(self.model.bodies), q, v)
        return q, v

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

    def _ask_functions(self) -> None:
        """Functions of users see what they refer to now, and have done nothing wrong yet."""
        self.refresh_functions()
        self.forget_errors()

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
        """The same where the equations are solved along the tree, without a matrix."""
        from scipy.sparse import csr_matrix

        full = np.zeros(self.n_v * self.n_v)
        plain_tangent(s, self.work, q, v, vd, lam, self.work.eye, cm, cc, ck, full)
        self.raise_callback_errors()
        return csr_matrix(full.reshape(self.n_v, self.n_v)), csr_matrix((0, self.n_v))

    # --- names ----------------------------------------------------------------------------------------------------

    def body_slices(self, body: Body | str) -> tuple[slice, slice]:
        """Slices of the coordinates and velocities of a body."""
        i = self.node_index(body)
        q0, nq, v0, nv = (int(self.tables.nodes[name][i]) for name in ("q0", "nq", "v0", "nv"))
        return slice(q0, q0 + nq), slice(v0, v0 + nv)

    def node_index(self, body: Body | str) -> int:
        """Row of a body in the node table (0: ground)."""
        element = self.model[body] if isinstance(body, str) else body
        if id(element) not in self.assembly.node_of:  # of a copy of the model, perhaps
            if element.name not in self.model:
                raise ModelError(f"body '{element.name}' does not belong to model '{self.model.name}'")
            element = self.model[element.name]
            if id(element) not in self.assembly.node_of:
                raise ModelError(f"{element} was added to {self.model} after this run, or after it was assembled")
        return self.assembly.node_of[id(element)]

    def joint_slice(self, joint: Joint | str) -> slice:
        """Slice of the multipliers of a joint."""
        name = joint if isinstance(joint, str) else joint.name
        number = self._joint_numbers.get(name)
        if number is None:
            raise ModelError(f"joint '{name}' does not belong to model '{self.model.name}'")
        return self.assembly.joint_slices[number]

    @cached_property
    def _joint_numbers(self) -> dict[str, int]:
        """Joints in the order of their multipliers, by name."""
        return {joint.name: k for k, joint in enumerate(self.elements[1])}

    def carrier(self, joint: Joint | str) -> Carried | None:
        """What a joint carries in joint coordinates; None for a joint that is a constraint."""
        name = joint if isinstance(joint, str) else joint.name
        if self._carriers is None:
            edges = self.assembly.tree.carried if self.assembly.tree is not None else ()
            self._carriers = {edge.joint.name: edge for edge in edges if edge.joint is not None}
        return self._carriers.get(name)

    @property
    def has_only_joint_coordinates(self) -> bool:
        """Whether all coordinates are angles and displacements of joints."""
        return bool((self.tables.nodes["form"][1:] == FORM_JOINT).all())

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """For each velocity what it belongs to: "elbow angle" of a joint, or the body and a number."""
        names = [""] * self.n_v
        for i, body in enumerate(self.model.bodies, 1):
            n = self.tables.nodes[i]
            for k in range(int(n.nv)):
                names[n.v0 + k] = f"{body.name} {k + 1}"
        for edge in self.assembly.tree.carried if self.assembly.tree is not None else ():
            n = self.tables.nodes[self.node_index(edge.body)]
            words = [MOTION_WORDS[motion] for motion in edge.motions]
            for k in range(int(n.nv)) if edge.joint is not None and edge.node is None else ():
                number = f" {k + 1}" if words.count(words[k]) > 1 else ""
                names[n.v0 + k] = f"{edge.joint.name if edge.joint else ''} {words[k]}{number}"
        return tuple(names)

    @property
    def angle_places(self) -> list[tuple[Joint, int]]:
        """Joints whose angle is a coordinate of the system, with its place among the coordinates."""
        edges = self.assembly.tree.carried if self.assembly.tree is not None else ()
        found = []
        for edge in edges:
            turns = [motion in ("turn", "screw") for motion in edge.motions]
            if edge.joint is not None and edge.joint.coordinate in ("angle", "both") and any(turns):
                found.append((edge.joint, self.body_slices(edge.body)[0].start + turns.index(True)))
        return found

    def name_of_unknown(self, x: int) -> str:
        """The element behind a row of the permuted system, for error messages."""
        vertex = int(self.assembly.layout.vertex_of(int(x)))
        n = len(self.model.bodies)
        carriers = self.assembly.tree.carried if self.assembly.tree is not None else ()
        joint = next((edge.joint for edge in carriers if edge.body is self.model.bodies[min(vertex, n - 1)]), None)
        if vertex < n and joint is not None:
            return f"joint '{joint.name}'"
        if vertex < n:
            return f"body '{self.model.bodies[vertex].name}'"
        return f"joint '{self.model.joints[vertex - n].name}'"

    @property
    def has_plain_functions(self) -> bool:
        """Whether user functions are called as plain Python."""
        return any(not callback.compiled for callback in self.assembly.callbacks)

    def refresh_functions(self) -> None:
        """Hand over what user functions refer to at present: values of globals, closures, attributes."""
        if not self.assembly.callbacks:
            return
        with in_force(self.values):
            for k, callback in enumerate(self.assembly.callbacks):
                if callback.refresh():
                    self.tables.functions.address[k], self.tables.functions.block[k] = callback.address, callback.block

    def forget_errors(self) -> bool:
        """Forget what user functions did wrong, and say whether they did."""
        noted = [callback for callback in self.assembly.callbacks if callback.noted]
        for callback in noted:
            callback.clear()
        return bool(noted)

    def raise_callback_errors(self) -> None:
        """Raise what a user function did wrong first since the last call: an exception, or a number that is none."""
        noted = [callback for callback in self.assembly.callbacks if callback.noted]
        if not noted:
            return
        interrupt = next((c.error for c in noted if isinstance(c.error, KeyboardInterrupt)), None)
        with in_force(self.values):
            error = interrupt or explain(min(noted, key=lambda callback: callback.time))
        self.forget_errors()
        raise error

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
