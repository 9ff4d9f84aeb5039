"""Import of URDF robots: bodies, joints, limits, friction, mimic joints and shapes; one warning names what is left out.

Links that fixed joints hold together become one body, whose reference frame is that of the link nearest to the base.
Joints show the positions of the file, whatever positions the robot starts in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..bodies import Ground, RigidBody, shapes
from ..bodies.mass_properties import MassProperties, composite
from ..elements.arguments import FilePath, Vector
from ..errors import Array, ModelError, check_number
from ..forces import JointFriction
from ..joints import Coupling, Fixed, Joint, Planar, Prismatic, Revolute
from ..model import Model
from ..nodes import RotationVector
from ..rotation import from_rotation_vector
from .files import named
from .joint_inertia import carried_masses, moved_inertia, without_rounding
from .left_out import LeftOut
from .names import Names, names_to_keep
from .stops import LIMITS, NO_ROOM, OUTSIDE, add_stop, check_limits, in_coordinates, per_inertia
from .urdf_file import WITH_POSITION, UrdfFile, UrdfJoint, Visual
from .xml_file import is_file, shortened, told_at


@dataclass
class _Group:
    """Links that move as one body; ``links`` gives the pose of each in the frame of the first one."""

    name: str
    links: dict[str, Array] = field(default_factory=dict)
    body: Any = None
    pose: Array = field(default_factory=lambda: np.eye(4))


def load_urdf(
    path: FilePath,
    *,
    coordinates: Literal["absolute", "joint"] = "absolute",
    gravity: Vector = (0.0, 0.0, -9.81),
    positions: Mapping[str, float] | None = None,
    fixed_base: bool = True,
    limits: float | None = LIMITS,
    keep: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> Model:
    """A model from a URDF file.

    Parameters
    ----------
    coordinates: "absolute", or "joint" for those of the joints (``model.with_coordinates``).
    positions: initial angles (rad) and displacements (m) by joint; zero where none is given.
    fixed_base: hold the root link on the ground; otherwise it floats.
    limits: time constant T (s) of the elastic stops at the limits of joints (``JointLimit``): with the inertia I that a
        joint moves at the start, stiffness is I / T^2 and damping 2 I / T. None leaves the stops away.
    keep: names of links that shall be bodies of their own although fixed joints hold them, such as the tool of a robot.
    ignore: paths of what may be left out although the motion will be another, such as "joint@damping".

    Revolute, continuous, prismatic, planar (displacements along ``n1_a`` of the joint and across it: the format does
    not say along what), floating and fixed joints are taken over. Damping and friction become a ``JointFriction``,
    mimic a ``Coupling``. Joints show the positions of the file; ``joint.range``, ``.effort`` and
    ``.speed`` are its limits, of which effort is meant for ``limit=`` of drives. Collision geometry, transmissions and
    extensions of other programs are named in one warning.
    """
    check_limits(limits)
    left_out = LeftOut(named(path), ignore)
    file = UrdfFile(Path(path), left_out)
    model = _Importer(file, gravity, dict(positions or {}), fixed_base, limits, names_to_keep(keep)).model
    made = in_coordinates(model, coordinates)
    left_out.finish()
    return made


class _Importer:
    def __init__(
        self,
        file: UrdfFile,
        gravity: Vector,
        positions: dict[str, float],
        fixed_base: bool,
        limits: float | None,
        keep: tuple[str, ...],
    ) -> None:
        self.file, self.path, self.fixed_base, self.left_out = file, file.path, fixed_base, file.left_out
        self.model = Model(file.name, gravity=gravity)
        self.names = Names(self.model)
        self.below: dict[str, list[UrdfJoint]] = {}
        self.kept = set(keep)
        if unknown := [name for name in keep if name not in file.links]:
            raise ModelError(f"{self.path}: keep names the link {unknown[0]!r}, which is not in the file")
        root = self._root()
        self.positions = self._positions(positions)
        self.made: dict[str, Joint] = {}
        self._build(root)
        self._couple()
        self._stop(limits)

    # --- the tree

    def _root(self) -> str:
        """The link without a parent; every other one is reached from it."""
        children: set[str] = set()
        for joint in self.file.joints.values():
            for link in (joint.parent, joint.child):
                if link not in self.file.links:
                    message = f"joint '{joint.name}' refers to the unknown link '{shortened(link)}'"
                    raise self.file.error(joint.element, "", message)
            if joint.child in children:
                message = f"link '{joint.child}' has two parents; expected a tree"
                raise self.file.error(joint.element, "", message)
            children.add(joint.child)
            self.below.setdefault(joint.parent, []).append(joint)
        roots = [name for name in self.file.links if name not in children]
        if len(roots) > 1:
            names = ", ".join(f"'{name}'" for name in roots[:5])
            raise ModelError(f"{self.path}: {len(roots)} links have no parent ({names}); expected one root link")
        reached = set(roots)
        todo = list(roots)
        while todo:
            new = [joint.child for joint in self.below.get(todo.pop(), ())]
            reached.update(new)
            todo += new
        if lost := [name for name in self.file.links if name not in reached]:
            names = ", ".join(f"'{name}'" for name in lost[:5])
            raise ModelError(f"{self.path}: the links {names} form a loop, each above the other; expected a tree")
        if not roots:
            raise ModelError(f"{self.path}: contains no links; expected at least one")
        return roots[0]

    def _positions(self, given: dict[str, float]) -> dict[str, float]:
        """Initial positions of all joints that have one; those of mimic joints follow from others."""
        joints = self.file.joints
        for name in given:
            if name not in joints:
                raise ModelError(f"{self.path}: positions names the joint '{name}', which is not in the file")
            if joints[name].type not in WITH_POSITION:
                raise ModelError(f"{self.path}: positions gives a value for the {joints[name].type} joint '{name}'")
        found: dict[str, float] = {}
        for name, joint in joints.items():
            if joint.type in WITH_POSITION:
                found[name] = self._position(joint, given)
            elif joint.mimic is not None:
                if joint.type != "fixed":
                    message = f"joint '{name}' is {joint.type} and cannot mimic another one"
                    raise self.file.error(joint.element, "", message)
                self.left_out.note("mimic", f"'{name}'", "mimic of fixed joints")
        return found

    def _position(self, joint: UrdfJoint, given: dict[str, float]) -> float:
        """The position of a joint, by way of those that it mimics."""
        chain = [joint]
        while (mimic := chain[-1].mimic) is not None:
            last, other = chain[-1], self.file.joints.get(mimic.joint)
            if other is None or other.type not in WITH_POSITION:
                what = "is not in the file" if other is None else f"is {other.type}"
                message = f"joint '{last.name}' mimics '{shortened(mimic.joint)}', which {what}"
                raise self.file.error(last.element, "", message)
            if any(other is link for link in chain):
                names = ", ".join(link.name for link in chain)
                raise self.file.error(last.element, "", f"joint '{other.name}' mimics itself by way of {names}")
            chain.append(other)
        value = self._given(chain[-1], given, 0.0)
        for follower in reversed(chain[:-1]):
            assert follower.mimic is not None
            follows = follower.mimic.multiplier * value + follower.mimic.offset
            own = self._given(follower, given, follows)
            if abs(own - follows) > 1e-9 * (1.0 + abs(follows)):
                raise ModelError(
                    f"{self.path}: positions gives {own:g} for the joint '{follower.name}', which mimics "
                    f"'{follower.mimic.joint}' and is at {follows:.9g}; leave it away"
                )
            value = follows
        return value

    def _given(self, joint: UrdfJoint, given: dict[str, float], otherwise: float) -> float:
        if joint.name not in given:
            return otherwise
        return check_number(given[joint.name], f"{self.path}: joint '{joint.name}'", "position")

    def _build(self, root: str) -> None:
        base = self._group(root)
        moving = {joint.child for joint in self.file.joints.values() if self._separate(joint)}
        for name in self.file.links:
            if name in moving or (name == root and not self.fixed_base):
                self.names.kept.add(name)
        self._refuse_massless(root)
        base.body = self.model.ground if self.fixed_base else self._body(base)
        if isinstance(base.body, Ground):
            base.body.shape = self._shape(base)
        todo = [base]
        for parent in todo:  # grows while it is walked through
            for link in parent.links:
                for joint in self.below.get(link, ()):
                    if not self._separate(joint):
                        continue
                    child = self._group(joint.child)
                    frame = child.pose = parent.pose @ parent.links[link] @ joint.pose
                    child.body = self._body(child)
                    with told_at(joint.element):
                        self._connect(joint, parent.body, child, frame[:3, 3], frame[:3, :3] @ joint.axis)
                    todo.append(child)
        if not self.model.bodies:
            raise ModelError(
                f"{self.path}: nothing in it moves; expected joints that are not fixed, or fixed_base=False"
            )
        self._move(todo)

    def _move(self, groups: list[_Group]) -> None:
        """All joints were made at the zero of the file; now the bodies go where the start is."""
        poses = {id(groups[0].body): groups[0].pose}
        by_first = {group.name: group for group in groups}
        for parent in groups:
            for link in parent.links:
                for joint in self.below.get(link, ()):
                    if not self._separate(joint):
                        continue
                    child = by_first[joint.child]
                    pose = poses[id(parent.body)] @ parent.links[link] @ joint.pose @ self._motion(joint)
                    poses[id(child.body)] = pose
                    child.body.position, child.body.rotation = pose[:3, 3], pose[:3, :3]
                    if joint.type in ("revolute", "continuous"):
                        self.made[joint.name].branch = self.positions[joint.name]

    def _separate(self, joint: UrdfJoint) -> bool:
        """Whether the child of a joint is a body of its own."""
        return joint.type != "fixed" or joint.child in self.kept

    def _group(self, first: str) -> _Group:
        """A link with everything that is fixed to it."""
        group = _Group(first, {first: np.eye(4)})
        todo = [first]
        while todo:
            name = todo.pop(0)
            for joint in self.below.get(name, ()):
                if not self._separate(joint):
                    group.links[joint.child] = group.links[name] @ joint.pose
                    todo.append(joint.child)
        return group

    # --- bodies

    def _refuse_massless(self, root: str) -> None:
        """Every joint must move something that has a mass."""
        order = [root]
        for link in order:  # grows while it is walked through
            order += [joint.child for joint in self.below.get(link, ())]
        above = {joint.child: joint for joint in self.file.joints.values()}
        heavy: set[str] = set()
        for name in reversed(order):
            joint = above.get(name)
            if self.file.links[name].mass > 0.0 or name in heavy:
                if joint is not None:
                    heavy.add(joint.parent)
            elif joint is not None and joint.type != "fixed":
                message = (
                    f"link '{name}' moves, but nothing in it or behind it has a mass; expected an <inertial> with a "
                    "positive mass"
                )
                raise self.file.error(self.file.links[name].element, "", message)
        floating = [root] if not self.fixed_base else []
        floating += [joint.child for joint in self.file.joints.values() if joint.type == "floating"]
        for name in floating:
            if not any(self.file.links[link].mass > 0.0 for link in self._group(name).links):
                message = f"link '{name}' floats, but has no mass; expected an <inertial> with a positive mass"
                raise self.file.error(self.file.links[name].element, "", message)

    def _body(self, group: _Group) -> RigidBody:
        with told_at(self.file.links[group.name].element):
            parts = []
            for name, pose in group.links.items():
                link = self.file.links[name]
                if link.mass > 0.0:
                    place = pose @ link.pose
                    parts.append(MassProperties(link.mass, (0, 0, 0), link.inertia).moved(place[:3, 3], place[:3, :3]))
            node = RotationVector(position=group.pose[:3, 3], rotation=group.pose[:3, :3])
            self.names.kept.discard(group.name)
            name = self.names.free(group.name, "body")
            shape = self._shape(group)
            if not parts:
                return self.model.add(RigidBody(name, 0.0, (0, 0, 0), node, shape=shape))
            total = composite(parts)
            inertia = without_rounding(total)
            return self.model.add(RigidBody(name, total.mass, inertia, node, total.com, shape, check_inertia=False))

    def _motion(self, joint: UrdfJoint) -> Array:
        pose = np.eye(4)
        value = self.positions.get(joint.name, 0.0)
        if joint.type == "prismatic":
            pose[:3, 3] = value * joint.axis
        elif joint.type in WITH_POSITION:
            pose[:3, :3] = from_rotation_vector(value * joint.axis)
        return pose

    # --- joints

    def _connect(self, joint: UrdfJoint, parent: Any, child: _Group, at: Array, axis: Array) -> None:
        cls: Any = {"prismatic": Prismatic, "planar": Planar, "floating": None}.get(joint.type, Revolute)
        name = self.names.free(joint.name, "joint")
        if joint.type == "fixed":
            self.made[joint.name] = self.model.add(Fixed(parent, child.body, at=at, name=name))
            return
        if cls is None:
            return
        made = self.made[joint.name] = self.model.add(cls(parent, child.body, at=at, axis=axis, name=name))
        made.range, made.effort, made.speed = joint.limits, joint.effort, joint.velocity
        if joint.type in WITH_POSITION and (joint.damping or joint.friction):
            name = self.names.free(f"friction of {made.name}", "friction")
            self.model.add(JointFriction(made, joint.damping, joint.friction, name=name))

    def _couple(self) -> None:
        """Joints that mimic others."""
        for joint in self.file.joints.values():
            if joint.mimic is not None and joint.type != "fixed":
                leader, follower = self.made[joint.mimic.joint], self.made[joint.name]
                name = self.names.free(f"mimic of {follower.name}", "coupling")
                self.model.add(Coupling(leader, follower, joint.mimic.multiplier, joint.mimic.offset, name=name))

    def _stop(self, limits: float | None) -> None:
        """Elastic stops at the limits of joints."""
        if limits is None or not any(joint.range for joint in self.made.values()):
            return
        carried = carried_masses(list(self.made.values()))
        for name, joint in self.made.items():
            if joint.range is None:
                continue
            low, high = joint.range
            inertia = moved_inertia(joint, carried[id(joint)])
            if low == high:
                self.left_out.note("joint@limit", f"'{name}' at {low:g}", NO_ROOM)
            elif not add_stop(self.names, joint, inertia, per_inertia(limits)):
                where = f"'{name}' at {self.positions[name]:.6g}, outside {low:g} to {high:g}"
                self.left_out.note("joint@limit", where, OUTSIDE)

    # --- shapes

    def _shape(self, group: _Group) -> shapes.Shape | None:
        parts = []
        for name, pose in group.links.items():
            for visual in self.file.links[name].visuals:
                part = self._visual(visual, pose @ visual.pose, name)
                if part is not None:
                    parts.append(part)
        return None if not parts else parts[0] if len(parts) == 1 else shapes.Composite(parts)

    def _visual(self, visual: Visual, pose: Array, link: str) -> shapes.Shape | None:
        centre, turn, numbers, colour = pose[:3, 3], pose[:3, :3], visual.numbers, visual.colour
        if visual.geometry == "box":
            return shapes.Box(numbers["size"], centre, turn, colour=colour)
        if visual.geometry == "sphere":
            return shapes.Sphere(numbers["radius"], centre, colour=colour)
        if visual.geometry == "cylinder":  # along z of its origin
            return shapes.Cylinder(numbers["radius"], numbers["length"], turn[:, 2], centre, colour=colour)
        scale = numbers["scale"]
        if scale[0] <= 0.0 or np.ptp(scale) > 1e-9 * scale[0]:
            self.left_out.note("mesh", f"'{link}'", "not drawn: meshes with different or negative scales")
            return None
        return shapes.Mesh(self._mesh_file(numbers["filename"]), float(scale[0]), centre, turn, colour=colour)

    def _mesh_file(self, name: str) -> Path:
        """Beside the file, or for package:// in the first folder above it that holds it."""
        for prefix in ("file://", "package://"):
            name = name.removeprefix(prefix)
        for folder in (self.path.parent, *self.path.resolve().parents):
            for candidate in (folder / name, folder / Path(name).relative_to(Path(name).parts[0])):
                if is_file(candidate):
                    return candidate
        return self.path.parent / name
