"""Import of URDF robots: bodies, joints, damping, mimic joints and shapes; a warning names what is left out.

Links that fixed joints hold together become one body, whose reference frame is that of the link nearest to the base.
Angles and displacements of joints are zero where the file has its zero, whatever positions the robot starts in.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..bodies import Ground, RigidBody, shapes
from ..bodies.mass_properties import MassProperties, composite
from ..elements.arguments import FilePath, Vector
from ..errors import ModelError, ModelWarning, check_number
from ..forces import PDControl, TorsionSpring
from ..joints import Coupling, Planar, Prismatic, Revolute
from ..model import Model
from ..nodes import RotationVector
from ..rotation import from_rotation_vector
from .urdf_file import UrdfFile, UrdfJoint, Visual

Array = np.ndarray
WITH_POSITION = ("revolute", "continuous", "prismatic")


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
    gravity: Vector = (0.0, 0.0, -9.81),
    positions: Mapping[str, float] | None = None,
    fixed_base: bool = True,
) -> Model:
    """A model from a URDF file.

    Parameters
    ----------
    positions: initial angles (rad) and displacements (m) by joint; zero where none is given.
    fixed_base: hold the root link on the ground; otherwise it floats.

    Revolute, continuous, prismatic, planar, floating and fixed joints are taken over. Damping of revolute joints
    becomes a ``TorsionSpring`` without stiffness, that of prismatic ones a ``PDControl`` without ``kp``, and mimic a
    ``Coupling``.
    ``solution[joint].angle`` and ``.displacement`` are the joint positions of the file. Limits, friction, collision
    geometry, transmissions and extensions of other programs are left out with a warning that names them.
    """
    file = UrdfFile(path)
    return _Importer(file, gravity, dict(positions or {}), fixed_base).model


class _Importer:
    def __init__(self, file: UrdfFile, gravity: Vector, positions: dict[str, float], fixed_base: bool) -> None:
        self.file, self.path, self.fixed_base = file, file.path, fixed_base
        self.model = Model(file.name, gravity=gravity)
        self.below: dict[str, list[UrdfJoint]] = {}
        root = self._root()
        self.positions = self._positions(positions)
        self.made: dict[str, Any] = {}
        self._build(root)
        self._couple()
        for what, names in file.left_out.items():
            text = ", ".join(f"'{name}'" for name in names[:5]) + (" ..." if len(names) > 5 else "")
            warnings.warn(f"{self.path}: {what} ignored ({text})", ModelWarning, stacklevel=4)

    # --- the tree

    def _root(self) -> str:
        """The link without a parent; every other one is reached from it."""
        children: set[str] = set()
        for joint in self.file.joints.values():
            for link in (joint.parent, joint.child):
                if link not in self.file.links:
                    raise ModelError(f"{self.path}: joint '{joint.name}' refers to the unknown link '{link}'")
            if joint.child in children:
                raise ModelError(f"{self.path}: link '{joint.child}' has two parents; expected a tree")
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
                found[name] = self._position(joint, given, ())
                low, high = joint.limits or (-math.inf, math.inf)
                if not low - 1e-9 <= found[name] <= high + 1e-9:
                    self._warn(f"joint '{name}' starts at {found[name]:.6g}, outside its limits {low:g} to {high:g}")
                if joint.type != "prismatic" and abs(found[name]) > math.pi:
                    self._warn(
                        f"joint '{name}' starts at {found[name]:.6g} rad, which its angle shows as "
                        f"{math.remainder(found[name], 2.0 * math.pi):.6g} rad: "
                        "whole turns before the start are not counted"
                    )
            elif joint.mimic is not None:
                raise ModelError(f"{self.path}: joint '{name}' is {joint.type} and cannot mimic another one")
        return found

    def _warn(self, text: str) -> None:
        warnings.warn(f"{self.path}: {text}", ModelWarning, stacklevel=7)

    def _position(self, joint: UrdfJoint, given: dict[str, float], asking: tuple[str, ...]) -> float:
        own = given.get(joint.name)
        value = None if own is None else check_number(own, f"{self.path}: joint '{joint.name}'", "position")
        if joint.mimic is None:
            return 0.0 if value is None else value
        other = self.file.joints.get(joint.mimic.joint)
        if other is None or other.type not in WITH_POSITION:
            what = "is not in the file" if other is None else f"is {other.type}"
            raise ModelError(f"{self.path}: joint '{joint.name}' mimics '{joint.mimic.joint}', which {what}")
        if joint.name in asking:
            raise ModelError(f"{self.path}: joint '{joint.name}' mimics itself by way of {', '.join(asking)}")
        leader = self._position(other, given, (*asking, joint.name))
        follows = joint.mimic.multiplier * leader + joint.mimic.offset
        if value is not None and abs(value - follows) > 1e-9 * (1.0 + abs(follows)):
            raise ModelError(
                f"{self.path}: positions gives {value:g} for the joint '{joint.name}', which mimics '{other.name}' "
                f"and is at {follows:.9g}; leave it away"
            )
        return follows

    def _build(self, root: str) -> None:
        base = self._group(root)
        base.body = self.model.ground if self.fixed_base else self._body(base)
        if isinstance(base.body, Ground):
            base.body.shape = self._shape(base)
        todo = [base]
        while todo:
            parent = todo.pop(0)
            for link in parent.links:
                for joint in self.below.get(link, ()):
                    if joint.type == "fixed":
                        continue
                    child = self._group(joint.child)
                    frame = child.pose = parent.pose @ parent.links[link] @ joint.pose
                    child.body = self._body(child)
                    self._connect(joint, parent.body, child, frame[:3, 3], frame[:3, :3] @ joint.axis)
                    child.pose = frame @ self._motion(joint)  # the joint was made at the zero of the file
                    child.body.position, child.body.rotation = child.pose[:3, 3], child.pose[:3, :3]
                    todo.append(child)

    def _group(self, first: str) -> _Group:
        """A link with everything that is fixed to it."""
        group = _Group(first, {first: np.eye(4)})
        todo = [first]
        while todo:
            name = todo.pop(0)
            for joint in self.below.get(name, ()):
                if joint.type == "fixed":
                    group.links[joint.child] = group.links[name] @ joint.pose
                    todo.append(joint.child)
        return group

    # --- bodies

    def _body(self, group: _Group) -> RigidBody:
        parts, massless = [], []
        for name, pose in group.links.items():
            link = self.file.links[name]
            if link.mass > 0.0:
                place = pose @ link.pose
                parts.append(MassProperties(link.mass, (0, 0, 0), link.inertia).moved(place[:3, 3], place[:3, :3]))
            elif link.inertia.any():
                massless.append(name)
        if not parts:
            raise ModelError(
                f"{self.path}: link '{group.name}' moves but has no mass; expected an <inertial> with a positive mass "
                "in it or in a link that is fixed to it"
            )
        if massless:
            raise ModelError(f"{self.path}: link '{massless[0]}' has an inertia, but no mass; expected a positive mass")
        total = composite(parts)
        node = RotationVector(position=group.pose[:3, 3], rotation=group.pose[:3, :3])
        return self.model.add(
            RigidBody(group.name, total.mass, total.inertia, node, total.com, self._shape(group), check_inertia=False)
        )

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
        if cls is None:
            return
        name = joint.name if joint.name not in self.model else None
        made = self.made[joint.name] = self.model.add(cls(parent, child.body, at=at, axis=axis, name=name))
        if joint.damping and joint.type == "prismatic":
            self.model.add(PDControl(made, kd=joint.damping, name=f"damping of {made.name}"))
        elif joint.damping and joint.type in WITH_POSITION:
            self.model.add(TorsionSpring(made, 0.0, joint.damping, name=f"damping of {made.name}"))

    def _couple(self) -> None:
        """Joints that mimic others; turns that the start has beyond half a turn are not counted by joints."""
        for joint in self.file.joints.values():
            if joint.mimic is None:
                continue
            ends = [self.file.joints[joint.mimic.joint], joint]
            starts = [
                self.positions[x.name]
                if x.type == "prismatic"
                else math.remainder(self.positions[x.name], 2.0 * math.pi)
                for x in ends
            ]
            leader, follower = (self.made[x.name] for x in ends)
            whole = starts == [self.positions[x.name] for x in ends]
            offset = joint.mimic.offset if whole else starts[1] - joint.mimic.multiplier * starts[0]
            self.model.add(Coupling(leader, follower, joint.mimic.multiplier, offset, name=f"mimic of {follower.name}"))

    # --- shapes -----------------------------------------------------------------------------------------------------

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
        if np.ptp(scale) > 1e-9 * abs(scale[0]):
            self.file.leave_out("meshes with different scales along their axes", link)
            return None
        return shapes.Mesh(self._mesh_file(numbers["filename"]), float(scale[0]), centre, turn, colour=colour)

    def _mesh_file(self, name: str) -> Path:
        """Beside the file, or for package:// in the first folder above it that holds it."""
        for prefix in ("file://", "package://"):
            name = name.removeprefix(prefix)
        for folder in (self.path.parent, *self.path.resolve().parents):
            for candidate in (folder / name, folder / Path(name).relative_to(Path(name).parts[0])):
                if candidate.is_file():
                    return candidate
        return self.path.parent / name
