"""Import of URDF robots with yourdfpy: bodies, joints and shapes; a warning names what is left out.

Links that fixed joints hold together become one body, whose reference frame is that of the link nearest to the base.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..bodies import Ground, RigidBody, shapes
from ..bodies.mass_properties import MassProperties, composite
from ..errors import ModelError, ModelWarning, check_number
from ..forces import TorsionSpring
from ..joints import Planar, Prismatic, Revolute
from ..model import Model
from ..nodes import RotationVector
from ..rotation import from_rotation_vector

Array = np.ndarray
MOVING = ("revolute", "continuous", "prismatic", "planar", "floating")


@dataclass
class _Group:
    """Links that move as one body; ``links`` gives the pose of each in the frame of the first one."""

    name: str
    links: dict[str, Array] = field(default_factory=dict)
    body: Any = None
    pose: Array = field(default_factory=lambda: np.eye(4))


def load_urdf(
    path: str | os.PathLike[str],
    *,
    gravity: Any = (0.0, 0.0, -9.81),
    positions: Mapping[str, float] | None = None,
    fixed_base: bool = True,
) -> Model:
    """A model from a URDF file.

    Parameters
    ----------
    positions: initial angles (rad) and displacements (m) by joint; zero where none is given.
    fixed_base: hold the root link on the ground; otherwise it floats.

    Revolute, continuous, prismatic, planar, floating and fixed joints are taken over, damping of revolute joints
    becomes a ``TorsionSpring`` without stiffness. Limits, friction, mimic and transmissions are ignored with a warning.
    """
    robot = _robot(path)
    return _Importer(robot, Path(path), gravity, dict(positions or {}), fixed_base).model


def _robot(path: Any) -> Any:
    if not Path(path).is_file():
        raise ModelError(f"{path}: there is no such file")
    try:
        import yourdfpy
    except ImportError:
        raise ModelError('URDF files are read with yourdfpy, which is not installed: pip install "mbd[urdf]"') from None
    try:
        return yourdfpy.URDF.load(str(path), build_scene_graph=False, load_meshes=False).robot
    except Exception as error:
        raise ModelError(f"{path}: cannot be read as URDF ({type(error).__name__}: {error})") from error


class _Importer:
    def __init__(self, robot: Any, path: Path, gravity: Any, positions: dict[str, float], fixed_base: bool) -> None:
        self.robot, self.path, self.positions, self.fixed_base = robot, path, positions, fixed_base
        self.model = Model(robot.name or path.stem, gravity=gravity)
        self.links = {link.name: link for link in robot.links}
        self.ignored: dict[str, list[str]] = {}
        self._check()
        self._build(self._root())
        for what, names in self.ignored.items():
            text = ", ".join(f"'{name}'" for name in names[:5]) + (" ..." if len(names) > 5 else "")
            warnings.warn(f"{path}: {what} ignored ({text})", ModelWarning, stacklevel=4)

    def _check(self) -> None:
        children: set[str] = set()
        for joint in self.robot.joints:
            for link in (joint.parent, joint.child):
                if link not in self.links:
                    raise ModelError(f"{self.path}: joint '{joint.name}' refers to the unknown link '{link}'")
            if joint.child in children:
                raise ModelError(f"{self.path}: link '{joint.child}' has two parents; expected a tree")
            children.add(joint.child)
            if joint.type not in (*MOVING, "fixed"):
                known = ", ".join((*MOVING, "fixed"))
                raise ModelError(
                    f"{self.path}: joint '{joint.name}' is of type '{joint.type}'; expected one of {known}"
                )
        for name in self.positions:
            if not any(joint.name == name for joint in self.robot.joints):
                raise ModelError(f"{self.path}: positions names the joint '{name}', which is not in the file")

    def _root(self) -> str:
        children = {joint.child for joint in self.robot.joints}
        roots = [name for name in self.links if name not in children]
        if len(roots) != 1:
            raise ModelError(f"{self.path}: {len(roots)} links have no parent; expected one root link")
        return roots[0]

    def _build(self, root: str) -> None:
        base = self._group(root)
        base.body = self.model.ground if self.fixed_base else self._body(base)
        if isinstance(base.body, Ground):
            base.body.shape = self._shape(base)
        todo = [base]
        while todo:
            parent = todo.pop(0)
            for joint in self.robot.joints:
                if joint.type == "fixed" or joint.parent not in parent.links:
                    continue
                child = self._group(joint.child)
                frame = parent.pose @ parent.links[joint.parent] @ _pose(joint.origin)
                axis = np.array((1.0, 0.0, 0.0) if joint.axis is None else joint.axis, dtype=float)
                child.pose = frame @ self._motion(joint, axis)
                child.body = self._body(child)
                self._connect(joint, parent.body, child, frame[:3, 3], frame[:3, :3] @ axis)
                todo.append(child)

    def _group(self, first: str) -> _Group:
        """A link with everything that is fixed to it."""
        group = _Group(first, {first: np.eye(4)})
        todo = [first]
        while todo:
            name = todo.pop(0)
            for joint in self.robot.joints:
                if joint.type == "fixed" and joint.parent == name:
                    group.links[joint.child] = group.links[name] @ _pose(joint.origin)
                    todo.append(joint.child)
        return group

    def _body(self, group: _Group) -> RigidBody:
        parts = []
        for name, pose in group.links.items():
            inertial = self.links[name].inertial
            if inertial is None or not inertial.mass:
                continue
            inertia = np.zeros((3, 3)) if inertial.inertia is None else np.asarray(inertial.inertia)
            place = pose @ _pose(inertial.origin)
            parts.append(MassProperties(inertial.mass, (0, 0, 0), inertia).moved(place[:3, 3], place[:3, :3]))
        if not parts:
            raise ModelError(
                f"{self.path}: link '{group.name}' moves but has no mass; expected an <inertial> with a positive mass "
                "in it or in a link that is fixed to it"
            )
        total = composite(parts)
        node = RotationVector(position=group.pose[:3, 3], rotation=group.pose[:3, :3])
        return self.model.add(
            RigidBody(group.name, total.mass, total.inertia, node, total.com, self._shape(group), check_inertia=False)
        )

    def _motion(self, joint: Any, axis: Array) -> Array:
        value = check_number(self.positions.get(joint.name, 0.0), f"{self.path}: joint '{joint.name}'", "position")
        pose = np.eye(4)
        if joint.type in ("revolute", "continuous"):
            pose[:3, :3] = from_rotation_vector(value * axis / np.linalg.norm(axis))
        elif joint.type == "prismatic":
            pose[:3, 3] = value * axis / np.linalg.norm(axis)
        elif value:
            raise ModelError(f"{self.path}: positions gives a value for the {joint.type} joint '{joint.name}'")
        return pose

    def _connect(self, joint: Any, parent: Any, child: _Group, at: Array, axis: Array) -> None:
        name = joint.name if joint.name not in self.model else None
        if joint.type in ("revolute", "continuous"):
            made = self.model.add(Revolute(parent, child.body, at=at, axis=axis, name=name))
            if _dynamics(joint, "damping"):
                damping = _dynamics(joint, "damping")
                self.model.add(TorsionSpring(made, 0.0, damping, name=f"damping of {made.name}"))
        elif joint.type == "prismatic":
            self.model.add(Prismatic(parent, child.body, at=at, axis=axis, name=name))
            if _dynamics(joint, "damping"):
                self._ignore("damping of prismatic joints", joint)
        elif joint.type == "planar":
            self.model.add(Planar(parent, child.body, at=at, axis=axis, name=name))
        if joint.type != "continuous" and joint.limit is not None and joint.type != "floating":
            self._ignore("limits of joints", joint)
        if _dynamics(joint, "friction"):
            self._ignore("friction of joints", joint)
        if joint.mimic is not None:
            self._ignore("mimic of joints", joint)

    def _ignore(self, what: str, joint: Any) -> None:
        self.ignored.setdefault(what, []).append(joint.name)

    # --- shapes -----------------------------------------------------------------------------------------------------

    def _shape(self, group: _Group) -> shapes.Shape | None:
        parts = []
        for name, pose in group.links.items():
            for visual in self.links[name].visuals:
                part = self._visual(visual, pose @ _pose(visual.origin), name)
                if part is not None:
                    parts.append(part)
        return None if not parts else parts[0] if len(parts) == 1 else shapes.Composite(parts)

    def _visual(self, visual: Any, pose: Array, link: str) -> shapes.Shape | None:
        centre, turn, geometry = pose[:3, 3], pose[:3, :3], visual.geometry
        colour = None
        if visual.material is not None:
            named = {m.name: m for m in self.robot.materials or ()}
            material = visual.material if visual.material.color is not None else named.get(visual.material.name)
            if material is not None and material.color is not None:
                rgb = np.clip(np.asarray(material.color.rgba)[:3] * 255.0, 0, 255).round().astype(int)
                colour = "#{:02x}{:02x}{:02x}".format(*rgb)
        if geometry is None:
            return None
        if geometry.box is not None:
            return shapes.Box(tuple(geometry.box.size), centre, turn, colour=colour)
        if geometry.sphere is not None:
            return shapes.Sphere(geometry.sphere.radius, centre, colour=colour)
        if geometry.cylinder is not None:
            cylinder = geometry.cylinder
            return shapes.Cylinder(cylinder.radius, cylinder.length, turn[:, 2], centre, colour=colour)
        if geometry.mesh is None:
            return None
        scale = np.ones(3) if geometry.mesh.scale is None else np.broadcast_to(geometry.mesh.scale, 3)
        if np.ptp(scale) > 1e-9 * abs(scale[0]):
            self.ignored.setdefault("meshes with different scales along their axes", []).append(link)
            return None
        return shapes.Mesh(self._mesh_file(geometry.mesh.filename), float(scale[0]), centre, turn, colour=colour)

    def _mesh_file(self, name: str) -> Path:
        """Beside the file, or for package:// in the first folder above it that holds it."""
        for prefix in ("file://", "package://"):
            name = name.removeprefix(prefix)
        for folder in (self.path.parent, *self.path.resolve().parents):
            for candidate in (folder / name, folder / Path(name).relative_to(Path(name).parts[0])):
                if candidate.is_file():
                    return candidate
        return self.path.parent / name


def _dynamics(joint: Any, name: str) -> float:
    return float(getattr(joint.dynamics, name, None) or 0.0)  # yourdfpy leaves texts here


def _pose(origin: Any) -> Array:
    return np.eye(4) if origin is None else np.asarray(origin, dtype=float)
