"""Parameters of an assembled system: its tables follow them, and nothing is assembled again.

Elements are made again, in place, by their constructors (``mbd.elements.making``); their records are then written by
the functions that wrote them at the assembly (``numbers``). What an element is may not change with its numbers: kinds,
bodies, the number of rows and the coordinates are refused, and so is what would need other tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Body, Generalized, Rotor
from ..elements.making import Remaking
from ..errors import ModelError
from ..forces import ForceElement, GravityCompensation
from ..forces.kinds import COORDINATES
from ..joints import Joint
from ..joints.primitive_data import CoordinateSum, FrameRows
from ..nodes.forms import FORM_GENERALIZED, NODE
from .identity import _digest, _place, _words, zeros_of
from .numbers import (
    FORCE_COLUMNS,
    PRIMITIVE_COLUMNS,
    columns,
    force_numbers,
    inertia_numbers,
    invert_inertia,
    numbers_of,
    primitive_numbers,
    sum_numbers,
    words_of,
    write_inertia,
    write_lengths,
)
from .tables import FLAG_SIMPLE
from .tree_assembly import CARRIED_NUMBERS, carried_numbers, check_movable, joint_node, rotor_inertia

if TYPE_CHECKING:
    from .system import System

STRUCTURE = "which would be another system; build a model with this value and assemble that"


class StructureError(ModelError):
    """A value makes the model another one, which has to be assembled with it."""

    general_code = "MBD-E28"


_SHAPE = [columns(NODE, name, 1).start for name in ("form", "kind", "nq", "nv")]


class Writers:
    """Where the numbers of each element are in the tables of a system."""

    def __init__(self, system: System) -> None:
        self.system, self.model = system, system.model
        s, a = system.tables, system.assembly
        self.inner = a.inner
        self.sets = [s] if a.inner is None else [s, a.inner]
        self.places = {id(x): k for xs in (self.model.joints, self.model.forces) for k, x in enumerate(xs)}
        self.plan = Remaking(self.model._all())
        self.primitive_rows = _grouped(s.primitives.joint, len(self.model.joints))
        self.coupling_rows = _grouped(s.couplings.joint, len(self.model.joints))
        general = s.frame_elements
        self.joint_elements = _grouped(general.joint, len(self.model.joints))
        self.force_elements = _grouped(general.owner, len(self.model.forces))
        self.inner_force_rows = {row: row for row in range(len(s.forces))}
        if a.tree is not None:
            others = np.setdiff1d(np.arange(len(s.forces)), s.tree.loads[:, 0])
            self.inner_force_rows = {int(row): k for k, row in enumerate(others)}
        self.node_shapes = words_of(s.nodes)[:, _SHAPE].tolist()
        self.primitive_numbers = [numbers_of(t.primitives) for t in self.sets]
        self.coupling_numbers = [numbers_of(t.couplings) for t in self.sets]
        self.force_numbers = [numbers_of(t.forces) for t in self.sets]
        self.edges = {id(edge.body): edge for edge in (a.tree.carried if a.tree is not None else ())}
        self.carrying = {id(edge.joint): edge for edge in self.edges.values() if edge.joint is not None}
        self.gravity_holders = [f for f in self.model.forces if isinstance(f, GravityCompensation)]
        self.followers = _followers(self.model)

    # --- what has changed

    def assigned(self, x: Any, attribute: str) -> None:
        """An attribute was assigned, which has to be repeated from now on whenever its object is made again."""
        if self.system.values and not self.plan.knows(x, attribute):
            self.plan = Remaking(self.model._all())

    def write(self, dirty: Iterable[Any]) -> None:
        """Write the records of elements that are no longer what they were."""
        changed = {id(x): x for x in dirty if isinstance(x, Body | Joint | ForceElement) or x is self.model}
        for x in list(changed.values()):
            for other in self.followers.get(id(x), ()):
                changed.setdefault(id(other), other)
        bodies = [x for x in changed.values() if isinstance(x, Body)]
        joints = [x for x in changed.values() if isinstance(x, Joint)]
        forces = {id(x): x for x in changed.values() if isinstance(x, ForceElement)}
        if bodies or joints or id(self.model) in changed:
            forces |= {id(x): x for x in self.gravity_holders}
        if id(self.model) in changed:
            self.system.tables.gravity[:] = self.model.gravity
        for body in bodies:
            self._write_body(body)
        for joint in joints:
            self._write_joint(joint)
        for force in forces.values():
            self._write_force(force)
        if bodies or joints:
            self._write_shared(bodies, joints)

    def _write_shared(self, bodies: list[Any], joints: list[Any]) -> None:
        """Write what belongs to no single element: lengths, turns, what coordinates mean, what joints carry."""
        system, a = self.system, self.system.assembly
        s = system.tables
        if bodies and a.tree is None and system.n_l == 0:
            s.flags[FLAG_SIMPLE] = invert_inertia(s.nodes)
        system.length = a.length = write_lengths(self.model, s)
        for k, joint in enumerate(a.turned):
            if joint is not None:
                a.turns[k] = float(joint.branch)
        if joints:
            self._identify(joints)
        if a.tree is None:
            return
        if any(isinstance(body, Rotor) for body in bodies):
            s.tree.inertia[:] = rotor_inertia(a.tree, s.nodes, a.node_of, system.n_v)
        if any(not body.mass > 0.0 or not body.inertia.any() for body in bodies if not isinstance(body, Generalized)):
            check_movable(a.tree, s.nodes, a.node_of)

    def _identify(self, joints: list[Any]) -> None:
        """What coordinates mean from now on; states that were taken before keep what theirs meant."""
        identity = self.system.identity
        changed: dict[str, Any] = {}
        shown = dict(identity["zeros"])  # type: ignore[arg-type]
        if any(float(shown.get(x.name, 0.0)) != float(x.zero[1]) for x in joints):
            changed["zeros"] = zeros_of(self.model)
        carrying = {x.name: _digest(_words(_place(x), [])) for x in joints if id(x) in self.carrying}
        if carrying:
            places = dict(identity["places"]) | carrying  # type: ignore[arg-type]
            changed["places"] = [[name, places[name]] for name in places]
        if changed:
            self.system.identity = identity | changed

    # --- elements

    def _write_body(self, body: Any) -> None:
        if body is self.model.ground:
            return
        system = self.system
        i, node, edge = system.assembly.node_of[id(body)], body.node, self.edges.get(id(body))
        form, *sizes = self.node_shapes[i]
        own = joint_node(edge) if edge is not None else None
        now = (own.kind, *own.sizes[:2]) if own is not None else (node.kind, node.n_coordinates, node.n_velocities)
        if tuple(sizes) != now:
            raise StructureError(
                f"{body}: its node has become {node} with {node.n_coordinates} coordinates, {STRUCTURE}"
            )
        if form == FORM_GENERALIZED:
            self._write_generalized(body, system.tables.nodes[i])
            return
        numbers = inertia_numbers(body)
        for tables in self.sets:
            write_inertia(tables.nodes, i, [numbers])
        pinned = bool(getattr(node, "pinned", False))
        if pinned and edge is None:
            for tables in self.sets:
                for name, x in zip(("r1", "r2", "r3"), node.position.tolist(), strict=True):
                    tables.nodes[name][i] = x
            system.work.z[i, :3] = node.position
        if edge is not None and edge.joint is None:
            self._write_carried(edge)

    def _write_generalized(self, body: Any, n: Any) -> None:
        if callable(body.mass) != (n.mass_function >= 0) or body.n_constraints != n.nl:
            raise StructureError(f"{body}: its mass or its constraints are of another kind now, {STRUCTURE}")
        if not callable(body.mass):
            mass = np.asarray(body.mass, dtype=float).ravel()
            self.system.tables.constants[n.u0 : n.u0 + mass.size] = mass

    def _write_carried(self, edge: Any) -> None:
        """The record of a body that a joint carries, or that is free at the root of the tree."""
        table = self.system.tables.tree.carried
        i = self.system.assembly.node_of[id(edge.body)]
        for name, value in zip(CARRIED_NUMBERS, carried_numbers(edge), strict=True):
            table[name][i] = value

    def _write_joint(self, joint: Any) -> None:
        edge = self.carrying.get(id(joint))
        if edge is not None:
            self._write_carried(edge)
            return
        s, j = self.system.tables, self.places[id(joint)]
        plain, sums, general = list(self.primitive_rows[j]), list(self.coupling_rows[j]), list(self.joint_elements[j])
        for p in joint.primitives():
            if isinstance(p, FrameRows):
                self._write_general(joint, p, general.pop(0) if general else -1)
                continue
            coupled = isinstance(p, CoordinateSum)
            rows, table = (sums, s.couplings) if coupled else (plain, s.primitives)
            for kind, numbers in sum_numbers(p) if coupled else [primitive_numbers(p, joint)]:
                if not rows or table.kind[rows[0]] != kind:
                    raise StructureError(f"{joint}: its equations are of another kind or number now, {STRUCTURE}")
                row = rows.pop(0)
                for table_numbers in self.coupling_numbers if coupled else self.primitive_numbers:
                    table_numbers[row, PRIMITIVE_COLUMNS] = numbers
                motion = getattr(p, "motion", None)
                if motion is not None and motion.function is not None and table.function[row] >= 0:
                    self._use(motion.functions, self._timed(table.function[row]))
        if plain or sums or general:
            raise StructureError(f"{joint}: has fewer equations now, {STRUCTURE}")

    def _write_force(self, force: Any) -> None:
        index = self.places[id(force)]
        rows, general = self.system.assembly.force_rows[index], list(self.force_elements[index])
        table, node_of = self.system.tables.forces, self.system.assembly.node_of
        data = force.rows()
        if len(data) != rows.stop - rows.start:
            raise StructureError(f"{force}: is made of {len(data)} laws now, {STRUCTURE}")
        for row, r in zip(range(rows.start, rows.stop), data, strict=True):
            f = table[row]
            ends = tuple(node_of[id(body)] if body is not None else 0 for body in (r.body_a, r.body_b))
            if (r.kind, r.law, *ends) != (f.kind, f.law, f.a, f.b):
                raise StructureError(f"{force}: its law or its bodies are others now, {STRUCTURE}")
            numbers = force_numbers(r)
            self.force_numbers[0][row, FORCE_COLUMNS] = numbers
            if self.inner is not None and row in self.inner_force_rows:
                self.force_numbers[1][self.inner_force_rows[row], FORCE_COLUMNS] = numbers
            if force.joints == () and r.branch != 0.0:
                self.system.assembly.turns[f.turn] = float(r.branch)
            if r.motion is not None and r.motion.function is not None:
                self._use(r.motion.functions, self._timed(f.function))
            if r.function is not None:
                places = [int(f.call), int(f.dual)]
                if r.style == "time":
                    places = [self._timed(f.feed if r.kind in COORDINATES else f.function)]
                self._use((r.function,), *places)
        for r in force.general():
            self._write_general(force, r, general.pop(0) if general else -1)
        if general:
            raise StructureError(f"{force}: is made of fewer laws now, {STRUCTURE}")

    def _write_general(self, element: Any, r: Any, row: int) -> None:
        """A frame element: its parameters among the constants, and its function."""
        g = self.system.tables.frame_elements[row] if row >= 0 else None
        if g is None or g.kind != r.kind or g["count"] != len(r.bodies):
            raise StructureError(f"{element}: is of another kind now, {STRUCTURE}")
        numbers = [float(x) for x in r.parameters]
        self.system.tables.constants[g.p0 : g.p0 + len(numbers)] = numbers
        if r.function is not None:
            self._use((r.function,), int(g.function), int(g.complex_function))

    # --- functions

    def _timed(self, offset: int) -> int:
        """The function of time whose values begin there."""
        return int(np.flatnonzero(self.system.tables.functions.offset == offset)[0])

    def _use(self, functions: tuple[Any, ...], *places: int) -> None:
        """Functions that were made again with an element are called from now on."""
        for k in places:
            callback = self.system.assembly.callbacks[k] if k >= 0 else None
            if callback is not None and any(x is not y for x, y in zip(callback.functions, functions, strict=True)):
                callback.replace(functions)
                table = self.system.tables.functions
                table.address[k], table.block[k] = callback.address, callback.block


def _grouped(owners: np.ndarray, count: int) -> list[list[int]]:
    """Rows of a table by their owner."""
    found: list[list[int]] = [[] for _ in range(count)]
    for row, owner in enumerate(owners.tolist()):
        if owner >= 0:
            found[owner].append(row)
    return found


def _followers(model: Any) -> dict[int, list[Any]]:
    """For joints and bodies the elements whose records contain numbers of theirs."""
    found: dict[int, list[Any]] = {}
    for element in (*model.joints, *model.forces):
        ours = type(element).__module__.startswith("mbd.")
        joints = [
            *getattr(element, "joints", ()),
            *(vars(element).get(key) for key in ("joint_a", "joint_b", "driving")),
        ]
        for joint in joints:
            if joint is not None:
                found.setdefault(id(joint), []).append(element)
        if not ours or getattr(element, "reads_bodies", False):  # what an own element looks at is not known
            for body in element.bodies:
                found.setdefault(id(body), []).append(element)
        if vars(element).get("rotor") is not None:
            found.setdefault(id(element), []).append(element.rotor)
    return found
