"""What a solution knows of one joint or one force element."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies import Body
from ..elements.suggestions import counted
from ..errors import Array, MissingQuantity, ModelError, read_only
from ..forces import ForceElement
from ..forces.kinds import AXIS_SPRING, SPRING, TORSION_SPRING
from ..joints import Joint, RotorHinge
from ..joints.relative import RelativeMotion, motion_values
from ..joints.tree import Carried, free_motions
from ..nodes.arrays import frame_torques, marker
from ..rotation import to_rotation_vector
from ..system import observe
from ..system.body_views import View
from ..system.tree_observe import carried_wrench, rotor_torque
from .turns import whole_turns

if TYPE_CHECKING:
    from .solution import Solution


class JointView(View):
    """Reactions of a joint, and its coordinate if it has one."""

    of = "joint"

    def __init__(self, solution: Solution, joint: Joint) -> None:
        self.solution, self.joint = solution, joint
        self._a, self._b = solution._view_of(joint.body_a), solution._view_of(joint.body_b)
        self._rows = solution.system.joint_slice(joint)

    @cached_property
    def multipliers(self) -> Array:
        """Multipliers of the joint's constraints (n, rows)."""
        return read_only(self.solution.lam[:, self._rows])

    @cached_property
    def _reaction(self) -> Array:
        """Frame forces of the joint on its second body (n, 12)."""
        s = self.solution
        edge = s.system.carrier(self.joint)
        if edge is not None:
            return self._carried_reaction(edge)
        f, other = np.zeros((len(s), 12)), np.zeros((len(s), 12))
        index = s.system.elements[1].index(self.joint)
        for table in (s.system.tables.primitives, s.system.tables.couplings):
            for i in np.flatnonzero(table.joint == index):
                p = table[i]
                za, zb = s._frame_view(int(p.a))._z, s._frame_view(int(p.b))._z
                fa = f if p.a == self._b.index else other  # a primitive may name its bodies the other way round
                fb = f if p.b == self._b.index else other
                known = s._values, za, zb, s.lam, fa, fb
                s._evaluate(partial(_reaction_at, table, int(i), known))
        return -f + s._observe_general("joint", index, self._b.index)[0]

    def _carried_reaction(self, edge: Carried) -> Array:
        """The wrench with which a joint that carries a body holds what it carries.

        Forces of springs and motors along the joint's own coordinates are not part of it.
        """
        s = self.solution
        tables = s.system.tables
        i = s.system.node_index(edge.body)
        n = tables.nodes[i]
        if isinstance(self.joint, RotorHinge):
            return _as_frame_forces(rotor_torque(s, self.joint), np.zeros((len(s), 3)), self._b._z)
        wrench, columns = carried_wrench(s, i)
        z = (self._a if edge.reversed else self._b)._z
        for k in range(int(n.nv)):
            column = columns[:, 6 * k : 6 * k + 6]
            if np.isin(n.v0 + k, tables.tree.loads[:, 1]) or tables.tree.inertia[n.v0 + k] != 0.0:
                along = np.einsum("ni,ni->n", column, wrench)[:, None]
                if edge.motions[k].startswith("slide"):  # the force acts at the joint's point
                    force = along * column[:, 3:]
                    wrench[:, 3:] -= force
                    wrench[:, :3] -= np.cross(marker(self._b._z, self.joint.point_b) - z[:, :3], force)
                else:
                    wrench[:, :3] -= along * column[:, :3]
        if edge.reversed:  # on the second body, about whose reference point torques are
            wrench = -wrench
            arm = z[:, :3] - self._b._z[:, :3]
            wrench[:, :3] += np.cross(arm, wrench[:, 3:])
            z = self._b._z
        return _as_frame_forces(wrench[:, :3], wrench[:, 3:], z)

    @property
    def force(self) -> Array:
        """Force on the second body, world axes (n, 3)."""
        return read_only(self._reaction[:, :3])

    @cached_property
    def torque(self) -> Array:
        """Torque on the second body about the joint's point on it, world axes (n, 3)."""
        arm = marker(self._b._z, self.joint.point_b) - self._b._z[:, :3]
        return read_only(frame_torques(self._b._z, self._reaction) - np.cross(arm, self._reaction[:, :3]))

    @cached_property
    def _motions(self) -> tuple[str, ...]:
        motions = free_motions(self.joint)
        if motions is None:
            raise MissingQuantity(
                f"{self.joint} has no coordinates: the motion that it leaves free is not made of such"
            )
        return motions

    def _relative(self, level: int) -> RelativeMotion:
        """Relative motion of the joint's frames with so many derivatives."""
        a, b = ((body._z, *(body._motion[1:] if level else ()), *((body._zdd,) if level > 1 else ())) for body in
                (self._a, self._b))  # fmt: skip
        return RelativeMotion(self.joint, a, b)

    @cached_property
    def _columns(self) -> tuple[slice, slice] | None:
        """Coordinates and velocities of the joint itself, in joint coordinates; None for others, and for balls."""
        edge = self.solution.system.carrier(self.joint)
        return None if edge is None or edge.node is not None else self.solution.system.body_slices(edge.body)

    @cached_property
    def coordinates(self) -> Array:
        """Values of the motions that the joint leaves free (n, k), in the order of ``with_joint_values``, with turns
        counted; of a Spherical the rotation vector of the second body's frame relative to the first one's.
        """
        if self._columns is not None:
            return read_only(self.solution.q[:, self._columns[0]])
        motion = self._relative(1)
        e, rates = motion.e[0], motion.rates(self._motions)
        if self._motions == ("ball",):
            return read_only(np.array([to_rotation_vector(x) for x in e]).reshape(-1, 3))
        values = motion_values(self._motions, e, motion.d[0])
        turning = [name in ("turn", "screw") for name in self._motions]
        columns = [self._turns_of(k, x, rates[:, k]) if turning[k] else x for k, x in enumerate(values)]
        return read_only(np.column_stack(columns) if columns else np.zeros((len(self.solution), 0)))

    def _turns_of(self, k: int, angle: Array, rate: Array) -> Array:
        """One of the coordinates with its turns counted; of a joint that shows an angle, this is it."""
        if self.joint.coordinate in ("angle", "both"):
            return self._angle[0]
        name = f"{self.joint.name} {k}"
        return self.solution._counted(name, angle, rate, 0.0, lambda s: s[self.joint.name].coordinates[:, k])

    @cached_property
    def rates(self) -> Array:
        """Rates of ``coordinates`` (n, k); of a Spherical the relative angular velocity in axes of the second frame."""
        if self._columns is not None:
            return read_only(self.solution.v[:, self._columns[1]])
        return read_only(self._relative(1).rates(self._motions))

    @cached_property
    def accelerations(self) -> Array:
        """Time derivatives of ``rates`` (n, k)."""
        if self._columns is not None:
            return read_only(self.solution.vd[:, self._columns[1]])
        return read_only(self._relative(2).accelerations(self._motions))

    @cached_property
    def _angle(self) -> tuple[Array, Array]:
        if isinstance(self.joint, RotorHinge):  # in joint coordinates the rotor itself stays at rest
            driving = self.solution._view_of(self.joint.driving)
            return driving._angle if self.joint.of == "angle" else driving._displacement
        if self._columns is not None and self.joint.coordinate in ("angle", "both"):
            k = next(k for k, name in enumerate(self._motions) if name in ("turn", "screw"))
            return self.coordinates[:, k], self.rates[:, k]
        angle, rate = self._coordinate("angle", TORSION_SPRING)
        for force in self.solution.system.elements[2]:  # a spring on this joint has counted the turns at every step
            if self.joint in force.joints and hasattr(view := self.solution._view_of(force), "angle"):
                return angle + whole_turns(view.angle - angle), rate
        name = self.joint.name
        return self.solution._counted(name, angle, rate, self.joint.branch, lambda s: s[name].angle), rate

    @cached_property
    def _displacement(self) -> tuple[Array, Array]:
        if self._columns is not None and self.joint.coordinate in ("displacement", "both") and "slide" in self._motions:
            k = self._motions.index("slide")
            return self.coordinates[:, k], self.rates[:, k]
        return self._coordinate("displacement", AXIS_SPRING)

    def _coordinate(self, name: str, kind: int) -> tuple[Array, Array]:
        """Coordinate and rate, from the same kernel as that of a spring along this coordinate."""
        joint = self.joint
        if joint.coordinate not in (name, "both"):
            raise MissingQuantity(f"{joint} leaves no {name} free that could be reported")
        markers = {"pa": joint.point_a, "pb": joint.point_b, "aa": joint.axis_a, "na": joint.n1_a, "nb": joint.n1_b}
        return self.solution._observe_coordinate(kind, markers, self._a, self._b)

    @property
    def angle(self) -> Array:
        """Angle about the axis (n,), counting turns; at the start ``zero`` of the joint, if it was not moved since."""
        return read_only(self._angle[0])

    @property
    def angle_rate(self) -> Array:
        """Time derivative of the angle (n,)."""
        return self._angle[1]

    @property
    def displacement(self) -> Array:
        """Displacement along the axis (n,): axis . (point_b - point_a)."""
        return self._displacement[0]

    @property
    def displacement_rate(self) -> Array:
        """Time derivative of the displacement (n,)."""
        return self._displacement[1]

    def __repr__(self) -> str:
        own = {"angle": ["angle"], "displacement": ["displacement"], "both": ["angle", "displacement"]}
        names = ["force", "torque", "multipliers", *own.get(self.joint.coordinate or "", [])]
        names += ["coordinates"] if free_motions(self.joint) else []
        return f"<{self.joint}: {counted(len(self.solution), 'record')} of {', '.join(names)}>"


def _as_frame_forces(torque: Array, force: Array, z: Array) -> Array:
    """Frame forces (n, 12) of a torque and a force at the reference points of frames."""
    f = np.zeros((len(z), 12))
    f[:, :3] = force
    for k in (3, 6, 9):
        f[:, k : k + 3] = 0.5 * np.cross(torque, z[:, k : k + 3])
    return f


class ForceView(View):
    """What a force element did."""

    of = "element"

    def __init__(self, solution: Solution, element: ForceElement) -> None:
        self.solution, self.element = solution, element
        rows = solution.system.assembly.force_rows[solution.system.elements[2].index(element)]
        self._rows = range(rows.start, rows.stop)

    @cached_property
    def _observed(self) -> tuple[Array, Array]:
        """Frame forces (n, 12) on the body that is reported, and the columns of ``observe``, summed over rows."""
        return self._observe(self.element.reported or self.element.bodies[-1])

    def _observe(self, body: Body) -> tuple[Array, Array]:
        """Frame forces on one of the bodies of the element, and the columns of ``observe``, summed over rows."""
        s, table, node = self.solution, self.solution.system.tables.forces, self.solution.system.node_index(body)
        f, out = np.zeros((len(s), 12)), np.zeros((len(s), observe.FORCE_COLUMNS))
        for i in self._rows:
            a, b = s._frame_view(int(table[i].a)), s._frame_view(int(table[i].b))
            more, columns = s._observe_force(table, i, a, b, s._turns, s._values)
            out += columns
            if b.index == node:
                f += more
            elif a.index == node:  # the reaction of the same line of action
                arm, torque = b._z[:, :3] - a._z[:, :3], frame_torques(b._z, more)
                f -= _as_frame_forces(torque + np.cross(arm, more[:, :3]), more[:, :3], a._z)
        more, columns = s._observe_general("force", s.system.elements[2].index(self.element), node)
        return f + more, out + columns

    def _reported(self) -> Body:
        """The body of which force and torque are shown."""
        body = self.element.reported
        if body is None:
            raise MissingQuantity(
                f"{self.element} acts on several joints, so that there is no one body whose force and torque it shows; "
                "expected the name of a body, solution[element].force_on(body) and .torque_on(body), or an element for "
                "each joint"
            )
        return body

    def _acting_on(self, body: Body | str) -> Body:
        found = [x for x in self.element.bodies if body is x or body == x.name]
        if not found:
            known = ", ".join(repr(x.name) for x in self.element.bodies)
            raise ModelError(f"{self.element} does not act on {str(body)!r}; expected one of {known}")
        return found[0]

    def force_on(self, body: Body | str) -> Array:
        """Force on one of the bodies of the element, world axes (n, 3)."""
        return read_only(self._observe(self._acting_on(body))[0][:, :3])

    def torque_on(self, body: Body | str) -> Array:
        """Torque on one of the bodies of the element about its reference point, world axes (n, 3)."""
        chosen = self._acting_on(body)
        return read_only(frame_torques(self.solution._view_of(chosen)._z, self._observe(chosen)[0]))

    @property
    def force(self) -> Array:
        """Force on the second (of several bodies, the last) body, world axes (n, 3)."""
        _ = self._reported()
        return read_only(self._observed[0][:, :3])

    @property
    def torque(self) -> Array:
        """Torque on the same body about its reference point, world axes (n, 3)."""
        return read_only(frame_torques(self.solution._view_of(self._reported())._z, self._observed[0]))

    @property
    def energy(self) -> Array:
        """Stored energy (n,); zero for loads."""
        return read_only(self._observed[1][:, observe.ENERGY])

    @property
    def power(self) -> Array:
        """Power of the element on the system (n,): forces times velocities on both sides."""
        return read_only(self._observed[1][:, observe.FORCE_POWER])

    @property
    def effort(self) -> Array:
        """Torque about, or force along, the axis of the joint on its second body (n,)."""
        if not self.has_effort:
            raise MissingQuantity(f"{self.element} does not act along or about the axis of a joint")
        return read_only(self._observed[1][:, observe.EFFORT])

    @property
    def has_effort(self) -> bool:
        """Whether the element acts along or about the axis of a joint."""
        kinds = {int(self.solution.system.tables.forces[i].kind) for i in self._rows}
        return bool(self.element.joints and kinds and kinds <= {AXIS_SPRING, TORSION_SPRING})

    @property
    def coordinate(self) -> str | None:
        """What the element is a function of: "length", "angle" (of a torsion spring), or None."""
        if hasattr(self.element, "initial_length"):
            return "length"
        kind = self.solution.system.tables.forces[self._rows[0]].kind if len(self._rows) == 1 else -1
        return "angle" if kind == TORSION_SPRING else "length" if kind in (SPRING, AXIS_SPRING) else None

    @property
    def length(self) -> Array:
        """Length of a spring (n,); of a torsion spring its angle."""
        e: Any = self.element
        if hasattr(e, "initial_length"):  # between two points
            a, b = self.solution._view_of(e.body_a), self.solution._view_of(e.body_b)
            ends = marker(a._z, e.point_a), marker(b._z, e.point_b)
            return read_only(np.linalg.norm(ends[1] - ends[0], axis=1))
        return self._column("length", SPRING, AXIS_SPRING, TORSION_SPRING)

    @property
    def angle(self) -> Array:
        """Angle of a torsion spring (n,), counting turns."""
        return self._column("angle", TORSION_SPRING)

    def _column(self, name: str, *kinds: int) -> Array:
        if len(self._rows) != 1 or self.solution.system.tables.forces[self._rows[0]].kind not in kinds:
            raise MissingQuantity(f"{self.element} has no {name}")
        return read_only(self._observed[1][:, observe.COORDINATE])

    def __repr__(self) -> str:
        names = ["force", "torque"] if self.element.reported is not None else ["force_on(body)", "torque_on(body)"]
        names += ["energy", "power", *(["effort"] if self.has_effort else [])]
        names += [self.coordinate] if self.coordinate else []
        return f"<{self.element}: {counted(len(self.solution), 'record')} of {', '.join(names)}>"


def _reaction_at(table: Any, i: int, known: tuple[Array, ...], k: slice) -> None:
    observe.observe_reaction(table, i, *(x[k] for x in known))
