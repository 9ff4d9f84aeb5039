"""From what an MJCF file says to a model: bodies, links without mass between several joints of a body, joints, shapes.

Bodies without joints are part of their parent. All joints are made in the configuration in which the file defines the
model, where they show ``ref``; then the bodies are moved to where the start is.
"""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from ...bodies import RigidBody, shapes
from ...bodies.mass_properties import MassProperties, composite
from ...errors import Array, ModelError
from ...joints import Fixed, Joint, Prismatic, Revolute, Spherical
from ...model import Model
from ...nodes import RotationVector
from ..joint_inertia import without_rounding
from ..names import Names
from ..xml_file import told_at
from .attributes import place
from .meshes import Meshes
from .start import Motion, Start
from .tree import BodyData, GeomData, JointData, SiteData, Tree

VISIBLE = 3  # groups of geoms that MuJoCo shows unless told otherwise


class Built:
    """The model, and which of its elements stand for what of the file."""

    def __init__(
        self,
        tree: Tree,
        masses: list[MassProperties | None],
        meshes: Meshes,
        start: Start,
        gravity: Any,
        keep: tuple[str, ...],
    ) -> None:
        self.tree, self.meshes, self.document, self.masses = tree, meshes, tree.document, masses
        self.model = Model(self._title(), gravity=gravity)
        self.kept = self._kept(keep)
        self.root, self.offset = self._groups()
        self.members: dict[int, list[int]] = {}
        for index, root in enumerate(self.root):
            self.members.setdefault(root, []).append(index)
        self.bodies: dict[int, Any] = {0: self.model.ground}  # by the number of a body that others move with
        self.joints: dict[int, Joint] = {}  # by the id of the joint of the file
        self.tree_joints: list[Joint] = []  # parents first
        self.floating: list[RigidBody] = []
        self.names = Names(self.model)
        own = [index for index in self.members if index > 0]
        self.body_names = {index: self.names.keep(tree.bodies[index].name, "body") for index in own}
        self._build(start)
        self._refuse_massless()
        with told_at(tree.bodies[0].element):
            self.model.ground.shape = self._shape(self.members[0])
        for data, joint in self.pairs():
            if data.type == "hinge":
                joint.branch = start.states[id(data)].value
        self._note_contact()

    def _build(self, start: Start) -> None:
        """Bodies and joints where the file defines them, then the bodies where the start is."""
        reference, begin = Start(self.tree, None, {}).motions(), start.motions()
        moves: list[tuple[RigidBody, Motion]] = []
        if not any(body.joints for body in self.tree.bodies):
            raise ModelError(f"{self.document.path}: nothing in it moves; expected a body with a joint")
        for index, body in enumerate(self.tree.bodies):
            with told_at(body.element):
                if body.joints:
                    moves += zip(self._chain(index, body, reference[index]), begin[index][1:], strict=True)
                elif index in self.body_names:
                    moves.append((self._mounted(index, reference[index][-1]), begin[index][-1]))
        for name, site in self.tree.sites.items():
            if name not in self.kept:
                self.document.left_out.note("site", place(site.element), "places on bodies, which keep= makes bodies")
            else:
                moves.append((self._site(name, site, reference), begin[site.body][-1].carried(site.pose)))
        for made, motion in moves:
            made.position, made.rotation = motion.position, motion.rotation
            made.velocity, made.angular_velocity = motion.velocity, motion.spin @ motion.rotation

    def _title(self) -> str:
        return self.document.root.get("model") or self.document.path.stem

    def pairs(self) -> list[tuple[JointData, Joint]]:
        """Joints of the file with those of the model, parents first."""
        listed = [data for body in self.tree.bodies for data in body.joints]
        return [(data, self.joints[id(data)]) for data in listed if id(data) in self.joints]

    def floating_joints(self) -> list[tuple[JointData, RigidBody]]:
        """Free joints of the file with the bodies that they move."""
        indices = [
            index for index, body in enumerate(self.tree.bodies) if body.joints and body.joints[0].type == "free"
        ]
        return [(self.tree.bodies[index].joints[0], self.bodies[index]) for index in indices]

    # --- bodies

    def _kept(self, keep: tuple[str, ...]) -> set[str]:
        """Names of bodies without joints and of sites that stay bodies of their own."""
        known = [body.name for body in self.tree.bodies[1:] if body.name] + list(self.tree.sites)
        for name in keep:
            if name not in known:
                close = difflib.get_close_matches(str(name), known, 1, 0.6)
                hint = f"; did you mean {close[0]!r}?" if close else "; expected names of bodies or sites"
                raise ModelError(f"{self.document.path}: keep names {name!r}, which is not in the file{hint}")
        return set(keep)

    def _mounted(self, index: int, motion: Motion) -> RigidBody:
        """A body of its own that is fixed to its parent."""
        previous = self.bodies[self.root[self.tree.bodies[index].parent]]
        node = RotationVector(position=motion.position, rotation=motion.rotation)
        made = self.bodies[index] = self.model.add(self._body(index, self.body_names[index], node))
        self.tree_joints.append(self.model.add(Fixed(previous, made)))
        return made

    def _site(self, name: str, site: SiteData, reference: list[list[Motion]]) -> RigidBody:
        motion = reference[site.body][-1].carried(site.pose)
        node = RotationVector(position=motion.position, rotation=motion.rotation)
        made = self.model.add(RigidBody(self.names.free(name, "site"), 0.0, (0, 0, 0), node))
        self.tree_joints.append(self.model.add(Fixed(self.body_of(site.body)[0], made)))
        return made

    def _groups(self) -> tuple[list[int], list[Array]]:
        """For every body the one that moves it, and its pose in that."""
        root, offset = [0], [np.eye(4)]
        for index, body in enumerate(self.tree.bodies[1:], 1):
            own = bool(body.joints) or body.name in self.kept
            root.append(index if own else root[body.parent])
            offset.append(np.eye(4) if own else offset[body.parent] @ body.pose)
        return root, offset

    def _chain(self, index: int, body: BodyData, motions: list[Motion]) -> list[RigidBody]:
        """A body with its joints, and a link without mass behind each joint but the last."""
        name = self.body_names[index]
        previous = self.bodies[self.root[body.parent]]
        made: list[RigidBody] = []
        for number, (joint, motion) in enumerate(zip(body.joints, motions[1:], strict=True), 1):
            node = RotationVector(position=motion.position, rotation=motion.rotation)
            if number < len(body.joints):
                link = RigidBody(self.names.free(f"{name} link {number}", "link"), 0.0, (0, 0, 0), node)
            else:
                link = self._body(index, name, node)
            made.append(self.model.add(link))
            self._connect(joint, previous, link, motion)
            previous = link
        self.bodies[index] = made[-1]
        return made

    def _body(self, index: int, name: str, node: RotationVector) -> RigidBody:
        parts = []
        for k in self.members[index]:
            own = self.masses[k]
            if own is not None:
                parts.append(own.moved(self.offset[k][:3, 3], self.offset[k][:3, :3]))
        shape = self._shape(self.members[index])
        if not parts:
            return RigidBody(name, 0.0, (0, 0, 0), node, shape=shape)
        total = composite(parts)
        return RigidBody(name, total.mass, without_rounding(total), node, total.com, shape, check_inertia=False)

    def _refuse_massless(self) -> None:
        """Every joint must move something that has a mass."""
        heavy = set()
        for index in reversed(range(1, len(self.tree.bodies))):
            body = self.tree.bodies[index]
            root = self.root[index]
            if self.masses[index] is not None or root in heavy:
                heavy.add(root)
                if root == index:
                    heavy.add(self.root[body.parent])
            elif body.joints:
                raise body.element.error(
                    "moves, but nothing in it or behind it has a mass; expected an <inertial>, or geoms with a density"
                )

    def _connect(self, data: JointData, previous: Any, link: RigidBody, motion: Motion) -> None:
        if data.type == "free":
            self.floating.append(link)
            return
        at = motion.position + motion.rotation @ data.point
        axis = motion.rotation @ data.axis
        cls: Any = {"hinge": Revolute, "slide": Prismatic, "ball": Spherical}[data.type]
        given: dict[str, Any] = {"at": at} if data.type == "ball" else {"at": at, "axis": axis, "zero": data.ref}
        name = None if data.name is None else self.names.free(data.name, "joint")
        made = self.joints[id(data)] = self.model.add(cls(previous, link, name=name, **given))
        self.tree_joints.append(made)
        if data.type != "ball":
            made.range = data.range

    def body_of(self, index: int) -> tuple[Any, Array]:
        """The body of the model to which a body of the file belongs, and the pose of that one in it."""
        return self.bodies[self.root[index]], self.offset[index]

    # --- shapes

    def _shape(self, members: list[int]) -> shapes.Shape | None:
        geoms = [(geom, self.offset[k] @ geom.pose) for k in members for geom in self.tree.bodies[k].geoms]
        seen = [item for item in geoms if item[0].group < VISIBLE] or geoms
        parts = [part for geom, pose in seen if (part := self._part(geom, pose)) is not None]
        return None if not parts else parts[0] if len(parts) == 1 else shapes.Composite(parts)

    def _part(self, geom: GeomData, pose: Array) -> shapes.Shape | None:
        rgba = geom.rgba if geom.rgba is not None else self.meshes.colours.get(geom.material or "")
        colour = None
        if rgba is not None:
            if rgba[3] == 0.0:
                return None
            colour = "#{:02x}{:02x}{:02x}".format(*(255.0 * np.clip(rgba[:3], 0.0, 1.0)).round().astype(int))
        centre, turn, size = pose[:3, 3], pose[:3, :3], geom.size
        if geom.type == "mesh":
            return self.meshes.shape(geom, pose, colour)
        if geom.mesh is not None or geom.type in ("hfield", "sdf"):
            self.document.left_out.note("geom", place(geom.element), "not drawn: height fields, fitted and SDF geoms")
            return None
        if geom.type == "sphere":
            return shapes.Sphere(size[0], centre, colour=colour)
        if geom.type == "box":
            return shapes.Box(2.0 * size, centre, turn, colour=colour)
        if geom.type == "ellipsoid":
            return shapes.Ellipsoid(size, centre, turn, colour=colour)
        if geom.type == "plane":  # it serves contact; its size is that of a drawing
            return None
        cls: Any = {"capsule": shapes.Capsule, "cylinder": shapes.Cylinder}[geom.type]
        return cls(size[0], 2.0 * size[1], turn[:, 2], centre, colour=colour)

    # --- contact

    def _note_contact(self) -> None:
        """Name the geoms that could touch in MuJoCo; nothing touches here."""
        if not (self.document.enabled("contact") and self.document.enabled("constraint")):
            return
        kinds: dict[tuple[int, int], dict[int, GeomData]] = {}
        for index, body in enumerate(self.tree.bodies):
            for geom in body.geoms:
                if any(geom.collides):
                    kinds.setdefault(geom.collides, {}).setdefault(self.root[index], geom)
        for one, first in kinds.items():
            for two, second in kinds.items():
                touching = one[0] & two[1] or two[0] & one[1]
                if touching and len(first.keys() | second.keys()) > 1:
                    for geom in first.values():
                        self.document.left_out.note(
                            "contact", place(geom.element), "contact of geoms: bodies go through each other"
                        )
