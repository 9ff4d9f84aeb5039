"""From a model to its tables: dof maps, sparsity, elimination order. Everything here happens once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bodies import Generalized, PointMass, RigidBody
from ..compiled.entry import TABLE
from ..compiled.functions.call_styles import Call
from ..compiled.functions.callbacks import Callback, make_callback, twin_of
from ..elements.prescribed_motion import MOTION
from ..errors import ModelError
from ..forces.kinds import AXIS_SPRING, SPRING, TORSION_SPRING
from ..joints.instant import ANGLE, COINCIDENT, DISTANCE, DOT1, DOT2, ROTATING
from ..joints.primitive_data import Coincident, CoordinateSum, DistanceBetween, Dot1, Dot2, FrameRows, Turned
from ..linalg.symbolic import Layout
from ..model import Model
from ..nodes import kinds
from ..joints.tree import JointTree
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
from ..nodes.tree.records import no_tree
from .frame_assembly import frame_element_table, place_frame_elements
from .placement import matrix_layout, place_blocks, unknown_classes
from .tables import (
    FLAG_ANGLES,
    FLAG_CHARTS,
    FLAG_COUPLED,
    FLAG_DENSE,
    FLAG_SIMPLE,
    FLAG_VELOCITY,
    FLAGS,
    FORCE,
    FUNCTION,
    PARAMETER_ARM,
    PARAMETER_LENGTH,
    PARAMETERS,
    PRIMITIVE,
    Tables,
)
from .tree_assembly import joint_node
from .tree_branches import Branches

CONVENTIONAL_FORM = {
    kinds.QUATERNION: FORM_QUATERNION,
    kinds.DIRECTORS: FORM_DIRECTORS,
    kinds.ROTATION_VECTOR: FORM_SPIN,
    kinds.EULER_ANGLES: FORM_SPIN,
}


@dataclass
class Assembly:
    """The tables of a model with the maps back to what people named."""

    tables: Tables
    layout: Layout
    callbacks: list[Callback]
    node_of: dict[int, int]  # id(body) -> row of the node table
    joint_slices: list[slice]  # multipliers of every joint
    force_rows: list[slice]  # rows of the table of forces that belong to every force element
    n_q: int
    n_v: int
    n_l: int
    n_values: int
    n_turns: int
    user_size: int
    buffer_size: int  # width of the buffers of frame elements
    length: float  # characteristic length of the model
    tree: JointTree | None  # of a model in joint coordinates
    inner: Tables | None  # its tables of elements
    size_F: int  # numbers of the matrix, or of the factors along the tree
    inner_sizes: tuple[int, int, int]  # their coordinates, velocities, and numbers in blocks


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
        self.n_turns = 0
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
        primitives, joint_slices, joint_rows = self._primitives(nodes)
        forces, force_rows = self._forces()
        general = frame_element_table(self)
        n_v, n_l = self.n_v, self.n_l
        count = len(model.bodies)
        branches: Branches | None = None
        if self.tree is None:
            layout = matrix_layout(nodes, primitives, forces, general, self.members, joint_rows, self.unknowns)
        else:
            branches = Branches(self, nodes, primitives, forces, general, joint_rows, force_rows)
            layout = branches.layout
        xv, xl = place_blocks(nodes, primitives, forces, layout, n_v, n_l, count, self.tree is None)
        place_frame_elements(self.members, general, layout, xl, count, self.tree is None)
        flags = np.zeros(FLAGS, dtype=np.int64)
        spring_like = np.isin(forces["kind"], [SPRING, AXIS_SPRING, TORSION_SPRING])
        flags[FLAG_VELOCITY] = bool(spring_like.any()) or len(general) > 0
        flags[FLAG_CHARTS] = bool((nodes["form"] == FORM_SPIN).any())
        flags[FLAG_DENSE] = layout.dense
        flags[FLAG_ANGLES] = self.n_turns > 0
        flags[FLAG_COUPLED] = len(general) > 0 or bool((primitives["shared"] != 0).any())
        flags[FLAG_SIMPLE] = self.tree is None and self.n_l == 0 and _invert_inertia(nodes)
        tables = Tables(
            entries=TABLE,
            lengths=np.array([self.n_q, n_v, n_l, layout.n, layout.size_F], dtype=np.int64),
            nodes=nodes.view(np.recarray),
            primitives=primitives[primitives["shared"] == 0].view(np.recarray),
            couplings=primitives[primitives["shared"] != 0].view(np.recarray),
            forces=forces.view(np.recarray),
            frame_elements=general.view(np.recarray),
            members=np.array(self.members, dtype=np.int64),
            functions=np.array(self.functions, dtype=FUNCTION).view(np.recarray),
            xv=xv,
            xl=xl,
            nonholonomic=np.array(self.nonholonomic, dtype=np.int64),
            **unknown_classes(nodes, primitives, general, layout, n_v, n_l),
            parameters=np.zeros(PARAMETERS),
            gravity=np.array(model.gravity, dtype=float),
            constants=np.array(self.constants, dtype=float),
            flags=flags,
            fronts=layout.fronts,
            tree=no_tree(),
        )
        tables.parameters[PARAMETER_ARM], length = self._lengths(primitives)
        tables.parameters[PARAMETER_LENGTH] = length
        size_F = layout.size_F
        if branches is not None:
            tables, size_F = branches.finish(tables)
        return Assembly(
            tables=tables, layout=layout, callbacks=self.callbacks, node_of=self.node_of, joint_slices=joint_slices,
            force_rows=force_rows, n_q=self.n_q, n_v=n_v, n_l=n_l, n_values=self.n_values, n_turns=self.n_turns,
            user_size=self.user_size, buffer_size=8 + 18 * int(general["count"].max(initial=1))
            + int(general["rows"].max(initial=0)), length=length, tree=self.tree,
            inner=branches.inner if branches is not None else None,
            inner_sizes=branches.inner_sizes if branches is not None else (0, 0, 0), size_F=size_F,
        )  # fmt: skip

    # --- nodes ----------------------------------------------------------------------------------------------------

    def _nodes(self) -> np.ndarray:
        bodies = self.model.bodies
        nodes = np.zeros(len(bodies) + 1, dtype=NODE)
        nodes["mass_function"] = nodes["potential_function"] = nodes["constraint_function"] = -1
        self.node_of = {id(self.model.ground): 0}
        q0 = v0 = l0 = 0
        rows: list[tuple[Any, ...]] = []
        inertia = np.zeros((len(bodies), 10))  # mass, first moment, inertia about the reference point (6)
        for i, body in enumerate(bodies):
            node: Any = body.node
            self.node_of[id(body)] = i + 1
            axes = (0, 0, 0)
            position = (0.0, 0.0, 0.0)
            nx = 3
            edge = self.edges.get(id(body))
            if isinstance(body, RigidBody):
                form = FORM_LIE if node.lie else CONVENTIONAL_FORM[node.kind]
                if node.kind == kinds.EULER_ANGLES:
                    axes = node.axes
                if node.pinned:
                    nx = 0
                    position = node.position
                c, m, j = body.com, body.mass, body.inertia
                inertia[i] = _reference_inertia(m, c, j) if c.any() else (
                    m, 0.0, 0.0, 0.0, j[0, 0], j[1, 1], j[2, 2], j[0, 1], j[0, 2], j[1, 2]
                )  # fmt: skip
            elif isinstance(body, PointMass):
                form = FORM_POINT
                inertia[i, 0] = body.mass
            else:
                form, nx = FORM_GENERALIZED, 0
            nq, nv, nl = node.n_coordinates, node.n_velocities, node.n_internal
            if isinstance(body, Generalized):
                nl = body.n_constraints
            kind = node.kind
            if edge is not None:
                own = joint_node(edge)
                kind, form, axes, position = own.kind, own.form, own.axes, (0.0, 0.0, 0.0)
                nq, nv, nx, nl = own.sizes
            rows.append((kind, form, *axes, q0, nq, v0, nv, nx, l0, nl, *position))
            q0, v0, l0 = q0 + nq, v0 + nv, l0 + nl
        names = ("kind", "form", "axis1", "axis2", "axis3", "q0", "nq", "v0", "nv", "nx", "l0", "nl", "r1", "r2", "r3")
        for name, column in zip(names, zip(*rows, strict=True), strict=True):
            nodes[name][1:] = column
        mass, s1, s2, s3, j11, j22, j33, j12, j13, j23 = inertia.T
        half = 0.5 * (j11 + j22 + j33)
        values = {
            "mass": mass, "s1": s1, "s2": s2, "s3": s3,
            "j11": j11, "j22": j22, "j33": j33, "j12": j12, "j13": j13, "j23": j23,
            "e11": half - j11, "e22": half - j22, "e33": half - j33, "e12": -j12, "e13": -j13, "e23": -j23,
        }  # fmt: skip
        for name, numbers in values.items():
            nodes[name][1:] = numbers
        nodes["kind"][0], nodes["form"][0] = kinds.GROUND, FORM_GROUND
        self.n_q, self.n_v, self.n_l = q0, v0, l0
        for i, body in enumerate(bodies):
            if isinstance(body, Generalized):
                self._generalized(body, nodes, i + 1)
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

    # --- joints and forces ----------------------------------------------------------------------------------------

    def _primitives(self, nodes: np.ndarray) -> tuple[np.ndarray, list[slice], list[int]]:
        rows: list[tuple[Any, ...]] = []
        slices: list[slice] = []
        joint_rows: list[int] = []
        zero: Any = (0.0, 0.0, 0.0)
        for j, joint in enumerate(self.model.joints):
            a, b = self.node_of[id(joint.body_a)], self.node_of[id(joint.body_b)]
            start, row = self.n_l, 0
            name = f"joint '{joint.name}'"
            for p in joint.primitives() if id(joint) not in self.carrying else ():
                if isinstance(p, FrameRows):
                    self.element_rows.append((p, j, -1, self.n_l, row))
                    self.nonholonomic += [self.n_l + k for k in p.nonholonomic]
                    self.n_l, row = self.n_l + p.rows, row + p.rows
                    continue
                if isinstance(p, CoordinateSum):
                    rows += self._sum(p, j, row, name)
                    self.n_l, row = self.n_l + 1, row + 1
                    continue
                value, function = 0.0, -1
                pa, pb, aa, ab, na = zero, zero, zero, zero, zero
                if isinstance(p, Coincident):
                    kind, pa, pb = COINCIDENT, p.point_a, p.point_b
                elif isinstance(p, Dot1):
                    kind, aa, ab, value = DOT1, p.axis_a, p.axis_b, p.value
                elif isinstance(p, Dot2):
                    kind, aa, pa, pb, value = DOT2, p.axis_a, p.point_a, p.point_b, p.value
                    function = self._motion(p.motion, name)
                elif isinstance(p, DistanceBetween):
                    kind, pa, pb, value = DISTANCE, p.point_a, p.point_b, p.length
                elif isinstance(p, Turned):
                    kind, aa, na, ab, value = ROTATING, p.n1_a, p.n2_a, p.axis_b, p.value
                    function = self._motion(p.motion, name)
                else:
                    raise ModelError(
                        f"joint '{joint.name}': primitives() returned {p!r}; expected Coincident, Dot1, Dot2 or "
                        "DistanceBetween"
                    )
                rows.append((
                    kind, a, b, j, self.n_l, row, function, 0, 0, *pa, *pb, *aa, *ab, *na, *zero, value, 1.0
                ))  # fmt: skip
                self.n_l += p.rows
                row += p.rows
            slices.append(slice(start, self.n_l))
            joint_rows.append(row)
        table = np.zeros(len(rows), dtype=PRIMITIVE)
        names = ["kind", "a", "b", "joint", "l0", "x0", "function", "turn", "shared"]
        names += [f"{n}{i}" for n in ("pa", "pb", "aa", "ab", "na", "nb") for i in (1, 2, 3)] + ["value", "factor"]
        if rows:
            for name, column in zip(names, zip(*rows, strict=True), strict=True):
                table[name] = column
        return table, slices, joint_rows

    def _sum(self, p: CoordinateSum, j: int, row: int, name: str) -> list[tuple[Any, ...]]:
        """The records of a sum of joint coordinates; all of them belong to one equation."""
        rows: list[tuple[Any, ...]] = []
        zero = (0.0, 0.0, 0.0)
        for k, term in enumerate(p.terms):
            joint, turn = term.joint, 0
            a, b = self.node_of[id(joint.body_a)], self.node_of[id(joint.body_b)]
            value, function = (p.value, self._motion(p.motion, name)) if k == 0 else (0.0, -1)
            if term.kind == "angle":
                kind, turn = ANGLE, self.n_turns
                self.n_turns += 1
                markers = (*zero, *zero, *joint.axis_a, *zero, *joint.n1_a, *joint.n1_b)
            else:
                kind = DOT2
                markers = (*joint.point_a, *joint.point_b, *(term.factor * joint.axis_a), *zero, *zero, *zero)
            rows.append((kind, a, b, j, self.n_l, row, function, turn, 1 + int(k > 0), *markers, value, term.factor))
        return rows

    def _forces(self) -> tuple[np.ndarray, list[slice]]:
        rows: list[tuple[Any, ...]] = []
        slices = []
        for index, force in enumerate(self.model.forces):
            start = len(rows)
            self.element_rows += [(r, -1, index, -1, 0) for r in force.general()]
            for r in force.rows():
                a = self.node_of[id(r.body_a)] if r.body_a is not None else 0
                b = self.node_of[id(r.body_b)] if r.body_b is not None else 0
                function, turn = -1, 0
                if r.function is not None:
                    function = self._load(r.function, r.function_size, f"force '{force.name}'")
                elif r.motion is not None:
                    function = self._motion(r.motion, f"force '{force.name}'")
                if r.kind == TORSION_SPRING:
                    turn = self.n_turns
                    self.n_turns += 1
                parameters = tuple(r.parameters) + (0.0,) * (6 - len(r.parameters))
                rows.append((
                    r.kind, a, b, function, turn, *r.point_a, *r.point_b, *r.axis_a, *r.axis_b,
                    *r.normal_a, *r.normal_b, *parameters,
                ))  # fmt: skip
            slices.append(slice(start, len(rows)))
        table = np.zeros(len(rows), dtype=FORCE)
        names = ["kind", "a", "b", "function", "turn"]
        names += [f"{n}{i}" for n in ("pa", "pb", "aa", "ab", "na", "nb") for i in (1, 2, 3)]
        names += [f"p{i}" for i in range(1, 7)]
        if rows:
            for name, column in zip(names, zip(*rows, strict=True), strict=True):
                table[name] = column
        return table, slices

    def _lengths(self, primitives: np.ndarray) -> tuple[float, float]:
        """Typical distance of joints from the bodies' reference points, and extent of the whole model."""
        arm = extent = 0.0
        positions = [body.position for body in self.model.bodies if isinstance(body, RigidBody | PointMass)]
        if positions:
            extent = float(np.abs(np.array(positions)).max(initial=0.0))
        for side in ("a", "b"):
            grounded = primitives[side] == 0
            for k in (1, 2, 3):
                size = np.abs(primitives[f"p{side}{k}"])
                extent = max(extent, float(size.max(initial=0.0)))
                arm = max(arm, float(size[~grounded].max(initial=0.0)))
        for body in self.model.bodies:
            if isinstance(body, RigidBody):
                arm = max(arm, float(np.sqrt(np.trace(body.inertia) / body.mass)), float(np.abs(body.com).max()))
                break
        arm = arm if arm > 0.0 else (extent if extent > 0.0 else 1.0)
        return arm, max(arm, extent)


def _reference_inertia(m: float, c: Any, j: Any) -> tuple[float, ...]:
    """Mass, first moment and inertia about the reference point (Steiner)."""
    s = m * c
    full = j + m * (float(c @ c) * np.eye(3) - np.outer(c, c))
    return (m, *s, full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2])


def _invert_inertia(nodes: np.ndarray) -> bool:
    """Inverse inertia of every Lie node, about its centre of mass or, if pinned, its reference point.

    Returns whether all nodes are Lie or point nodes with invertible inertia.
    """
    if not np.isin(nodes["form"][1:], [FORM_LIE, FORM_POINT]).all():
        return False
    n = nodes[1:][nodes["form"][1:] == FORM_LIE]
    if len(n) == 0:
        return True
    j = np.empty((len(n), 3, 3))
    for i in range(3):
        for k in range(i, 3):
            j[:, i, k] = j[:, k, i] = n[f"j{i + 1}{k + 1}"]
    s = np.stack([n["s1"], n["s2"], n["s3"]], axis=1)
    square = np.einsum("ni,ni->n", s, s)[:, None, None] * np.eye(3) - np.einsum("ni,nj->nij", s, s)
    j -= np.where(n["nx"] == 3, 1.0 / n["mass"], 0.0)[:, None, None] * square  # Steiner, back to the centre of mass
    values = np.linalg.eigvalsh(j)
    if (values[:, 0] <= 1e-12 * values[:, 2]).any():
        return False
    inverse = np.linalg.inv(j)
    lie = np.flatnonzero(nodes["form"] == FORM_LIE)
    for i in range(3):
        for k in range(i, 3):
            nodes[f"i{i + 1}{k + 1}"][lie] = inverse[:, i, k]
    return True
