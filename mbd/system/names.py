"""From the elements of a model to their numbers in the vectors of a system, and back."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..bodies import Body
from ..errors import ModelError
from ..joints.joint import Joint
from ..joints.tree import MOTION_WORDS, Carried
from ..nodes.forms import FORM_JOINT
from .tables import Tables

if TYPE_CHECKING:
    from ..model import Model
    from .assembly import Assembly


class Names:
    """The part of a system that knows where elements have their coordinates, velocities and multipliers."""

    model: Model
    assembly: Assembly
    tables: Tables
    n_v: int
    elements: tuple[Any, ...]
    _carriers: dict[str, Carried] | None

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
