"""System: the finished, frozen form of a model, which is all that integrators know.

Vectors: ``q`` coordinates, ``v`` velocities (as long as increments), ``lam`` multipliers with
``M v_dot = f - B^T lam``. The methods on this class are for people; integrators use the kernels of
``mbd.system.instant`` on ``system.tables``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import cached_property, lru_cache, partial
from typing import Any

import numpy as np

from ..compiled.kinds import plain
from ..compiled.record import Plan
from ..elements.settling import Late, finished, is_guarded
from ..elements.values import Parameter, in_force
from ..joints.tree import Carried
from ..model import Model
from ..nodes.forms import NODE
from ..nodes.tree.records import no_tree_work, tree_work
from .assembly import Assembly, assemble_tables
from .evaluation import Evaluation
from .following import Following, Inputs, check_captured
from .frame_elements import BUFFERS
from .handles import ParameterHandle
from .identity import Identity, check_arrival, identity_of
from .numbers import columns, numbers_of
from .parcels import Portable
from .tables import Tables, Work
from .tree_state import body_frames, joint_state

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


class System(Portable, Evaluation):
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

    def __repr__(self) -> str:
        return f"System('{self.model.name}', {self.n_q} coordinates, {self.n_v} velocities, {self.n_l} constraints)"

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

    # --- buffers --------------------------------------------------------------------------------------------------

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
        """Let buffers that are zero know what they have to know of the start."""
        if self.assembly.turns or self.has_pinned:
            self.reset_work(work)

    @property
    def has_pinned(self) -> bool:
        """Whether the places of some bodies are no coordinates: buffers know them from the start."""
        return self.structural("pinned", lambda: bool((plain(self.tables.nodes)["nx"][1:] == 0).any()))

    def reset_work(self, work: Work) -> None:
        """Let buffers of an earlier run know the start again: places of pinned bodies, and where counters begin."""
        work.z[:, :3] = numbers_of(self.tables.nodes)[:, POSITION]
        work.turns[:] = self.initial_turns()

    def initial_turns(self) -> Array:
        """Where the counters of turns begin: the angles at the start are those nearest to these."""
        return np.array(self.assembly.turns or [0.0])

    def private(self) -> System:
        """This system with other buffers: whoever evaluates it counts turns for himself alone."""
        if self.values:
            _ = self.inputs, self._following  # of which there is one for the same tables
        own = copy(self)
        own.work = self.new_work()
        return own

    @property
    def has_snapshots(self) -> bool:
        """Whether ``Snapshots`` hold all that parameters change but functions: no system is made from this one."""
        return not self.derived

    def work_with(self, **changes: Array) -> Work:
        """The system's own buffers with some of them replaced."""
        return self.work.changed(**changes)

    def two_matrices(self, work: Work) -> Work:
        """Buffers of a run, with room for a second factorisation."""
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
