"""From a model to its tables: dof maps, sparsity, elimination order. Everything here happens once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..bodies import Generalized, PointMass, RigidBody
from ..compiled.functions.call_styles import Call
from ..compiled.functions.callbacks import Callback, make_callback, twin_of
from ..compiled.kinds import as_records
from ..elements.prescribed_motion import MOTION
from ..elements.user_functions import law_callback
from ..errors import ModelError
from ..forces.kinds import COORDINATES, TORSION_SPRING
from ..joints.instant import ANGLE
from ..joints.primitive_data import CoordinateSum, FrameRows
from ..joints.tree import JointTree
from ..linalg.symbolic import Layout
from ..model import Model
from ..nodes import kinds
from ..nodes.forms import (
    FORM_DIRECTORS,
    FORM_GENERALIZED,
    FORM_GROUND,
    FORM_LIE,
    FORM_POINT,
    FORM_QUATERNION,
    FORM_SPIN,
    NODE,
)
from .frame_assembly import frame_element_table
from .numbers import (
    FORCE_NUMBERS,
    PRIMITIVE_NUMBERS,
    blank_table,
    columns,
    force_numbers,
    inertia_numbers,
    invert_inertia,
    packed_integers,
    packed_numbers,
    primitive_numbers,
    sum_numbers,
    table_of_rows,
    write_inertia,
    write_lengths,
)
from .placement import is_definite, massless
from .structure import Elements, Structure, structure_of
from .tables import (
    FLAG_ANGLES,
    FLAG_DEFINITE,
    FLAG_SIMPLE,
    FORCE,
    FUNCTION,
    PARAMETERS,
    PRIMITIVE,
    Tables,
)
from .tree_assembly import joint_node
from .tree_branches import Branches
from .weak_inertia import loosely_held

NODE_FUNCTIONS, PINNED = columns(NODE, "mass_function", 4), columns(NODE, "r1", 3)
LAW_NUMBERS = 8  # scratch for a function of a coordinate: three arguments and the result, complex
CONVENTIONAL_FORM = {
    kinds.QUATERNION: FORM_QUATERNION,
    kinds.DIRECTORS: FORM_DIRECTORS,
    kinds.ROTATION_VECTOR: FORM_SPIN,
    kinds.EULER_ANGLES: FORM_SPIN,
}


OWN_SHAPE = kinds.EULER_ANGLES, kinds.GENERALIZED  # nodes of which each may be different


def _shape(body: Any, edge: Any) -> tuple[Any, ...]:
    """What the table of nodes holds of a body besides places and numbers: ((kind, form, axes), nq, nv, nx, nl, apart).

    ``edge`` is what carries it in joint coordinates, or None.
    """
    node, apart = body.node, not body.in_space
    if edge is not None:
        own = joint_node(edge)
        return (own.kind, own.form, *own.axes), *own.sizes, apart
    kind, axes, nx, nl = node.kind, (0, 0, 0), 3, node.n_internal
    if isinstance(body, RigidBody):
        form = FORM_LIE if node.lie else CONVENTIONAL_FORM[kind]
        if kind == kinds.EULER_ANGLES:
            axes = node.axes
        if node.pinned:
            nx = 0
    elif isinstance(body, PointMass):
        form = FORM_POINT
    else:
        form, nx, nl = FORM_GENERALIZED, 0, body.n_constraints
    return (kind, form, *axes), node.n_coordinates, node.n_velocities, nx, nl, apart


@dataclass
class Assembly:
    """The tables of a model with the maps back to what people named."""

    tables: Tables
    layout: Layout
    structure: Structure | None  # None: of another process
    callbacks: list[Callback]
    node_of: dict[int, int]  # id(body) -> row of the node table
    joint_slices: list[slice]  # multipliers of every joint
    force_rows: list[slice]  # rows of the table of forces that belong to every force element
    n_q: int
    n_v: int
    n_l: int
    n_values: int
    turns: list[float]  # counted angles: what each of them is nearest to at the start
    turned: list[Any]  # for each counted angle the joint that shows it, or None
    user_size: int
    buffer_size: int  # width of the buffers of frame elements
    largest: int  # velocities and internal constraints of a node
    length: float  # characteristic length of the model
    tree: JointTree | None  # None in absolute coordinates
    inner: Tables | None  # with a tree: the elements, on bodies in absolute coordinates
    size_F: int  # numbers of the matrix, or of the factors along the tree
    inner_sizes: tuple[int, int, int]  # coordinates and velocities of the inner tables, and numbers in their blocks

    def __copy__(self) -> Assembly:
        own = object.__new__(type(self))
        vars(own).update(vars(self))
        return own


def assemble_tables(model: Model, unknowns: int = 1) -> Assembly:
    """Group the elements of a model into tables; every velocity stands for so many unknowns of the matrix.

    With three, the rows and columns of a node are nv + nl as usual, followed by 2 nv that only some integrators fill.
    """
    return _Assembler(model, unknowns).build()


class _Assembler:
    def __init__(self, model: Model, unknowns: int) -> None:
        self.model = model
        self.unknowns = unknowns
        self.callbacks: list[Callback] = []
        self.functions: list[tuple[int, int, int, int]] = []
        self.n_values = 0
        self.turns: list[float] = []
        self.turned: list[Any] = []
        self.user_size = 1
        self.constants: list[float] = []
        self.element_rows: list[tuple[Any, int, int, int, int]] = []  # element, joint, force, l0, row in the joint
        self.members: list[int] = []
        self.nonholonomic: list[int] = []
        self.time_functions: dict[Any, int] = {}
        self.kept: list[Any] = []
        self.frame_functions: dict[Any, tuple[int, int]] = {}
        self.tree: JointTree | None = model.coordinates if model._choice is not None else None
        if self.tree is not None and not self.tree.carried:
            self.tree = None  # all bodies are in absolute coordinates
        carried = self.tree.carried if self.tree is not None else ()
        self.edges = {id(edge.body): edge for edge in carried}
        self.carrying = {id(edge.joint) for edge in carried if edge.joint is not None}

    def build(self) -> Assembly:
        model = self.model
        if not model.bodies:
            raise ModelError(f"model '{model.name}' has no bodies; add one with model.add(mbd.RigidBody(...))")
        nodes = self._nodes()
        primitives, joint_slices, joint_rows = self._primitives()
        forces, force_rows = self._forces()
        general = frame_element_table(self)
        n_v, n_l = self.n_v, self.n_l
        light = massless(nodes) | loosely_held(model, nodes)
        elements = Elements(nodes, primitives, forces, general, self.members, light)
        branches: Branches | None = None
        if self.tree is None:
            structure = structure_of(elements, joint_rows, self.unknowns, n_v, n_l)
        else:
            branches = Branches(self, elements, joint_rows, force_rows)
            structure = branches.structure
        layout, shared, flags = structure.layout, structure.shared, structure.flags.copy()
        flags[FLAG_ANGLES] = len(self.turns) > 0
        flags[FLAG_SIMPLE] = self.tree is None and self.n_l == 0 and invert_inertia(nodes)
        given: dict[str, Any] = {
            "lengths": np.array([self.n_q, n_v, n_l, layout.n, layout.size_F], dtype=np.int64),
            "nodes": as_records(nodes), "parameters": np.zeros(PARAMETERS), "flags": flags,
            "gravity": np.array(model.gravity, dtype=float),
        }  # fmt: skip
        if len(primitives):
            given["primitives"] = as_records(primitives if shared is None else primitives[~shared])
        if shared is not None:
            given["couplings"] = as_records(primitives[shared])
        if len(forces):
            given["forces"] = as_records(forces)
        if len(general):
            given["frame_elements"] = as_records(general)
            given["members"] = np.array(self.members, dtype=np.int64)
        if self.functions:
            given["functions"] = as_records(np.array(self.functions, dtype=FUNCTION))
        if self.nonholonomic:
            given["nonholonomic"] = np.array(self.nonholonomic, dtype=np.int64)
        if self.constants:
            given["constants"] = np.array(self.constants, dtype=float)
        tables = structure.blank.changed(**given)
        length = write_lengths(model, tables)
        size_F = layout.size_F
        if branches is not None:
            tables, size_F = branches.finish(tables)
        elif structure.has_small_fronts and is_definite(tables):
            flags[FLAG_DEFINITE] = 1
        structure.connect(tables)
        return Assembly(
            tables=tables, layout=layout, structure=structure, callbacks=self.callbacks, node_of=self.node_of,
            joint_slices=joint_slices, force_rows=force_rows, n_q=self.n_q, n_v=n_v, n_l=n_l, n_values=self.n_values,
            turns=self.turns, turned=self.turned, user_size=self.user_size,
            buffer_size=structure.buffer_size, largest=structure.largest, length=length,
            tree=self.tree,
            inner=branches.inner if branches is not None else None,
            inner_sizes=branches.inner_sizes if branches is not None else (0, 0, 0), size_F=size_F,
        )  # fmt: skip

    # --- nodes ----------------------------------------------------------------------------------------------------

    def _nodes(self) -> np.ndarray:
        bodies = self.model.bodies
        nodes, words, numbers = blank_table(len(bodies) + 1, NODE)
        words[:, NODE_FUNCTIONS] = -1
        self.node_of = node_of = {id(self.model.ground): 0}
        q0 = v0 = l0 = 0
        rows: list[tuple[Any, ...]] = []
        inertia: list[Any] = []  # mass, first moment, inertia about the reference point (6)
        generalized: list[int] = []
        edges = self.edges
        known: dict[Any, tuple[Any, ...]] = {}  # shapes of nodes that are the same for all of a class
        for i, body in enumerate(bodies, 1):
            node: Any = body.node
            node_of[id(body)] = i
            edge = edges.get(id(body)) if edges else None
            key = type(body), type(node), node.lie, node.pinned
            shape = known.get(key) if edge is None else _shape(body, edge)
            if shape is None:
                shape = _shape(body, None)
                if node.kind not in OWN_SHAPE:
                    known[key] = shape
            front, nq, nv, nx, nl, apart = shape
            if node.pinned and edge is None:
                numbers[i, PINNED] = node.position
            if front[1] == FORM_GENERALIZED:
                generalized.append(i)
            rows.append((*front, q0, nq, v0, nv, nx, l0, nl, apart))
            inertia.append(inertia_numbers(body))
            q0, v0, l0 = q0 + nq, v0 + nv, l0 + nl
        words[1:, : len(rows[0])] = packed_integers(rows)
        words[0, :2] = kinds.GROUND, FORM_GROUND
        write_inertia(as_records(nodes), 1, packed_numbers(inertia))
        self.n_q, self.n_v, self.n_l = q0, v0, l0
        for i in generalized:
            self._generalized(cast(Generalized, bodies[i - 1]), nodes, i)
        return nodes

    def _generalized(self, body: Generalized, nodes: np.ndarray, i: int) -> None:
        n, q = body.node.n_velocities, body.node.coordinates()
        self.user_size = max(self.user_size, 4 * n + 4 * n * n + 4 * body.n_constraints + 16)
        if callable(body.mass):
            nodes["mass_function"][i] = self._coordinates(body.mass, q, n * n, f"mass of '{body.name}'", is_mass=True)
        else:
            nodes["u0"][i] = len(self.constants)
            self.constants.extend(np.asarray(body.mass, dtype=float).ravel())
        if body.potential is not None:
            nodes["potential_function"][i] = self._coordinates(body.potential, q, 1, f"potential of '{body.name}'")
        if body.constraints is not None:
            nodes["constraint_function"][i] = self._coordinates(
                body.constraints, q, body.n_constraints, f"constraints of '{body.name}'"
            )
        if body.force is not None:
            value = body.force(0.0, q, body.node.coordinate_velocities())
            call = Call("coordinate force", n, n, np.shape(value), isinstance(value, np.ndarray))
            nodes["force_function"][i] = self.add_callback(
                make_callback(body.force, call, f"force of '{body.name}'"), -1
            )

    def add_callback(self, callback: Callback, offset: int) -> int:
        """Number of a user function in the table; functions of time have an offset of their values."""
        self.callbacks.append(callback)
        self.functions.append((callback.address, callback.block, callback.call.size, offset))
        return len(self.functions) - 1

    def _coordinates(self, function: Any, q: np.ndarray, n_out: int, name: str, is_mass: bool = False) -> int:
        """A function of generalized coordinates: its complex twin, which gives values and derivatives."""
        value = function(q)
        if np.size(value) != n_out:
            raise ModelError(f"{name}: its function returns {np.size(value)} numbers; expected {n_out}")
        call = Call("coordinates", len(q), n_out, np.shape(value), isinstance(value, np.ndarray), is_mass)
        callback = make_callback(function, call, name)
        self.add_callback(callback, -1)  # of the twin where it takes differences
        return self.add_callback(twin_of(callback), -1)

    def _time(self, functions: tuple[Any, ...], call: Call, name: str) -> int:
        """Offset of the values of a function of time, or of a motion with its derivatives."""
        key = *(id(function) for function in functions), call.style
        if key not in self.time_functions:
            self.time_functions[key] = self.n_values
            self.add_callback(make_callback(functions[0], call, name, *functions[1:]), self.n_values)
            self.kept.append(functions)  # the key of a function of time is its id
            self.n_values += call.size
        return self.time_functions[key]

    def _load(self, function: Any, size: int, name: str) -> int:
        """Offset of the values of a load in time."""
        value: Any = 0.0 if hasattr(function, "silent") else function(0.0)  # or one that a file does not contain
        return self._time((function,), Call("time", 1, size, np.shape(value), isinstance(value, np.ndarray)), name)

    def _motion(self, motion: Any, name: str) -> int:
        """Offset of the value of a prescribed motion and of its two derivatives; -1 for a constant."""
        if motion is None or motion.function is None:
            return -1
        return self._time(motion.functions, MOTION, name)

    def _law(self, r: Any, force: Any) -> tuple[int, int, int]:
        """Where the values of an element's own function are, and the numbers of the function and of its twin."""
        callback = law_callback(r.function, r.style, r.probe, str(force))
        self.user_size = max(self.user_size, LAW_NUMBERS)
        self.kept.append(r.function)
        self.n_values += 3  # with its derivatives
        return self.n_values - 3, self.add_callback(callback, -1), self.add_callback(twin_of(callback), -1)

    # --- joints and forces ----------------------------------------------------------------------------------------

    def _primitives(self) -> tuple[np.ndarray, list[slice], list[int]]:
        rows: list[tuple[Any, ...]] = []
        all_numbers: list[Any] = []
        slices: list[slice] = []
        joint_rows: list[int] = []
        for j, joint in enumerate(self.model.joints):
            a, b = self.node_of[id(joint.body_a)], self.node_of[id(joint.body_b)]
            start, row = self.n_l, 0
            for p in joint.primitives() if id(joint) not in self.carrying else ():
                if isinstance(p, FrameRows):
                    self.element_rows.append((p, j, -1, self.n_l, row))
                    self.nonholonomic += [self.n_l + k for k in p.nonholonomic]
                    self.n_l, row = self.n_l + p.rows, row + p.rows
                    continue
                if isinstance(p, CoordinateSum):
                    rows += self._sum(p, j, row, f"joint '{joint.name}'")
                    all_numbers += [numbers for _, numbers in sum_numbers(p)]
                    self.n_l, row = self.n_l + 1, row + 1
                    continue
                kind, numbers = primitive_numbers(p, joint)
                motion = getattr(p, "motion", None)
                function = -1 if motion is None else self._motion(motion, f"joint '{joint.name}'")
                rows.append((kind, a, b, j, self.n_l, row, function, 0, 0))
                all_numbers.append(numbers)
                self.n_l += p.rows
                row += p.rows
            slices.append(slice(start, self.n_l))
            joint_rows.append(row)
        return table_of_rows(PRIMITIVE, rows, all_numbers, PRIMITIVE_NUMBERS[0]), slices, joint_rows

    def _sum(self, p: CoordinateSum, j: int, row: int, name: str) -> list[tuple[Any, ...]]:
        """The records of a sum of joint coordinates; all of them belong to one equation."""
        rows: list[tuple[Any, ...]] = []
        for k, (term, (kind, _)) in enumerate(zip(p.terms, sum_numbers(p), strict=True)):
            joint = term.joint
            a, b = self.node_of[id(joint.body_a)], self.node_of[id(joint.body_b)]
            function = self._motion(p.motion, name) if k == 0 else -1
            turn = self._counter(joint.branch, joint) if kind == ANGLE else 0
            rows.append((kind, a, b, j, self.n_l, row, function, turn, 1 + int(k > 0)))
        return rows

    def _counter(self, near: float, joint: Any) -> int:
        """Number of a new counter of turns, whose angle at the start is the one nearest to another one."""
        self.turns.append(near)
        self.turned.append(joint)
        return len(self.turns) - 1

    def _forces(self) -> tuple[np.ndarray, list[slice]]:
        rows: list[tuple[Any, ...]] = []
        all_numbers: list[Any] = []
        slices = []
        for index, force in enumerate(self.model.forces):
            start = len(rows)
            self.element_rows += [(r, -1, index, -1, 0) for r in force.general()]
            for r in force.rows():
                a = self.node_of[id(r.body_a)] if r.body_a is not None else 0
                b = self.node_of[id(r.body_b)] if r.body_b is not None else 0
                function, feed, call, dual, turn = self._motion(r.motion, f"force '{force.name}'"), -1, -1, -1, 0
                if r.function is not None and r.style != "time":
                    feed, call, dual = self._law(r, force)
                elif r.function is not None:
                    values = self._load(r.function, r.function_size, f"force '{force.name}'")
                    function, feed = (function, values) if r.kind in COORDINATES else (values, -1)
                if r.kind == TORSION_SPRING:
                    turn = self._counter(r.branch, force.joints[0] if force.joints else None)
                rows.append((r.kind, r.law, a, b, function, feed, call, dual, turn))
                all_numbers.append(force_numbers(r))
            slices.append(slice(start, len(rows)))
        return table_of_rows(FORCE, rows, all_numbers, FORCE_NUMBERS[0]), slices
