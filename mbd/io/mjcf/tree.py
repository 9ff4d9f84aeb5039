"""The kinematic tree of an MJCF file: bodies with their joints, geoms, inertials and sites, frames taken into account.

Positions are those of the configuration in which the file defines the model (``qpos0``); angles are in radians.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...errors import Array, ModelError
from ..xml_file import Element, shortened
from . import schema
from .attributes import Attributes, place, unknown
from .document import Document
from .frames import rotation_to

TYPES = ("hinge", "slide", "ball", "free")
GEOMS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
SIZES = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}
STRETCHED = ("capsule", "cylinder", "box", "ellipsoid")  # geoms that may be given by their two ends
MOST_FREEDOMS = 6


@dataclass
class JointData:
    """A joint; ``point`` and ``axis`` in the frame of its body. Stiffness and damping are three coefficients each."""

    element: Element
    name: str | None
    type: str
    point: Array
    axis: Array
    ref: float = 0.0
    springref: float = 0.0
    stiffness: Array = field(default_factory=lambda: np.zeros(3))
    damping: Array = field(default_factory=lambda: np.zeros(3))
    spring_damper: tuple[float, float] | None = None  # time constant and damping ratio of both
    armature: float = 0.0
    friction: float = 0.0
    range: tuple[float, float] | None = None
    stop: tuple[float, float] | None = None  # stiffness and damping of its stops per inertia, if the file says
    force_range: tuple[float, float] | None = None

    @property
    def freedoms(self) -> int:
        """Number of velocities."""
        return {"hinge": 1, "slide": 1, "ball": 3, "free": 6}[self.type]


@dataclass
class GeomData:
    """A geom in the frame of its body; ``size`` as MuJoCo means it."""

    element: Element
    type: str
    pose: Array
    size: Array
    mass: float | None
    density: float
    shell: bool
    group: int
    mesh: str | None
    rgba: Array | None
    material: str | None
    collides: tuple[int, int]


@dataclass
class InertialData:
    """Mass, and the pose and the inertia matrix about the centre of mass in it."""

    mass: float
    pose: Array
    inertia: Array


@dataclass
class BodyData:
    """A body; ``pose`` in the frame of its parent, which is a number in the list of bodies."""

    element: Element
    name: str | None
    parent: int
    pose: Array
    mocap: bool = False
    joints: list[JointData] = field(default_factory=list)
    geoms: list[GeomData] = field(default_factory=list)
    inertial: InertialData | None = None


@dataclass
class SiteData:
    """A named frame on a body."""

    element: Element
    body: int
    pose: Array


class Tree:
    """All bodies, the world first and parents before their children; joints and sites by name."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.bodies = [BodyData(document.root, "world", -1, np.eye(4))]
        self.body_names: dict[str, int] = {"world": 0}
        self.joints: dict[str, JointData] = {}
        self.sites: dict[str, SiteData] = {}
        self._names: dict[str, set[str]] = {}
        worlds = document.root.all("worldbody")
        for world in worlds:
            document._check_attributes(world, "worldbody")
        self._walk(worlds)
        if len(self.bodies) == 1:
            raise ModelError(f"{document.path}: contains no <body>; expected at least one in <worldbody>")

    def _walk(self, worlds: list[Element]) -> None:
        """Depth first, as in the file, without recursion: mechanisms may be nested as deep as they like."""
        eye = np.eye(4)
        todo = [(child, 0, eye, world.get("childclass")) for world in worlds for child in world][::-1]
        while todo:
            element, body, frame, childclass = todo.pop()
            if element.tag in ("body", "frame"):
                attributes = self.document.read(element, element.tag)
                assert attributes is not None
                inner = self.document.childclass(element, childclass)
                pose = frame @ self.document.frames.pose(attributes)
                if element.tag == "body":
                    body = self._body(attributes, body, pose)
                    pose = eye
                todo.extend((child, body, pose, inner) for child in element.children[::-1])
            else:
                self._part(element, body, frame, childclass)

    def _body(self, attributes: Attributes, parent: int, pose: Array) -> int:
        element = attributes.element
        name = self._named(element, "bodies")
        made = BodyData(element, name, parent, pose, attributes.flag("mocap"))
        self.bodies.append(made)
        if name is not None:
            self.body_names[name] = len(self.bodies) - 1
        if made.mocap:
            if parent != 0:
                raise element.error("a mocap body inside of another body; expected it directly in the world")
            what = "held where it is: a mocap body, whose motion a program prescribes"
            self.document.left_out.note("body@mocap", place(element), what)
        return len(self.bodies) - 1

    def _named(self, element: Element, kind: str) -> str | None:
        """The name of an element, unique among its kind."""
        name = element.get("name")
        if not name:
            return None
        taken = self._names.setdefault(kind, {"world"} if kind == "bodies" else set())
        if name in taken:
            raise element.error(f"two {kind} are named {shortened(name)!r}; expected unique names")
        taken.add(name)
        return name

    def _part(self, element: Element, body: int, frame: Array, childclass: str | None) -> None:
        if element.tag not in schema.IN_BODY:
            raise unknown(element, element.words, schema.IN_BODY)
        attributes = self.document.read(element, element.tag, childclass)
        if attributes is None:
            return
        owner = self.bodies[body]
        self.document.children(element, element.tag)
        if element.tag == "inertial":
            if body == 0 or owner.inertial is not None:
                where = "in the world" if body == 0 else "twice in one body"
                raise element.error(f"stands {where}; expected at most one in each <body>")
            owner.inertial = self._inertial(attributes, frame)
        elif element.tag == "geom":
            self._named(element, "geoms")
            owner.geoms.append(self._geom(attributes, frame))
        elif element.tag == "site":
            name = self._named(element, "sites")
            if name is not None:
                self.sites[name] = SiteData(element, body, frame @ self._site_pose(attributes))
        else:
            if body == 0:
                raise element.error("stands in the world, which does not move; expected it in a <body>")
            self._joint(attributes, owner, frame)

    # --- joints

    def _joint(self, attributes: Attributes, body: BodyData, frame: Array) -> None:
        element, document = attributes.element, self.document
        type_ = "free" if element.tag == "freejoint" else attributes.word("type", TYPES, "hinge")
        name = self._named(element, "joints")
        joint = JointData(element, name, type_, np.zeros(3), np.array((0.0, 0.0, 1.0)))
        if type_ != "free":
            joint.point = frame[:3, :3] @ attributes.numbers("pos", 3, default=(0.0, 0.0, 0.0)) + frame[:3, 3]
        elif body.parent != 0:
            raise element.error("is free inside of another body; expected it in a body of the world")
        if type_ in ("hinge", "slide"):
            joint.axis = frame[:3, :3] @ document.frames.direction(attributes, "axis", (0.0, 0.0, 1.0))
        if body.mocap:
            raise element.error("stands in a mocap body, whose motion is prescribed; expected no joints there")
        before = body.joints
        if sum(j.freedoms for j in before) + joint.freedoms > MOST_FREEDOMS:
            raise element.error(f"its body has more than {MOST_FREEDOMS} degrees of freedom")
        if any(j.type == "ball" for j in before) and type_ != "slide":
            raise element.error("follows a ball joint of the same body, after which no rotation is left")
        if type_ == "ball" and any(j.type == "hinge" for j in before):
            raise element.error("follows a hinge of the same body; expected a ball joint without other rotations")
        self._properties(attributes, joint)
        body.joints.append(joint)
        if name is not None:
            self.joints[name] = joint

    def _properties(self, attributes: Attributes, joint: JointData) -> None:
        document, turns = self.document, joint.type in ("hinge", "ball")
        unit = document.frames.angle(1.0) if turns else 1.0
        if joint.type in ("hinge", "slide"):
            joint.ref = unit * attributes.number("ref", 0.0)
            joint.springref = unit * attributes.number("springref", 0.0)
            if document.limited(attributes, "actuatorfrclimited", "actuatorfrcrange"):
                joint.force_range = attributes.range("actuatorfrcrange")
        joint.stiffness = _coefficients(attributes, "stiffness")
        joint.damping = _coefficients(attributes, "damping")
        time, ratio = attributes.numbers("springdamper", 2, default=(0.0, 0.0)).tolist()
        if time > 0.0 and ratio > 0.0:
            joint.spring_damper = (time, ratio)
        joint.armature = attributes.number("armature", 0.0, nonnegative=True)
        joint.friction = attributes.number("frictionloss", 0.0, nonnegative=True)
        if joint.type != "free" and document.limited(attributes, "limited", "range"):
            low, high = attributes.range("range")
            margin = attributes.number("margin", 0.0, nonnegative=True)
            if joint.type == "ball" and low != 0.0:
                raise attributes.error("range", "0 as the first number, because a ball joint is limited by its angle")
            if low == high:
                raise attributes.error("range", "two different numbers")
            joint.range = (unit * low + margin, unit * high - margin)
            if "solreflimit" in attributes:
                joint.stop = self._stop(attributes)

    def _stop(self, attributes: Attributes) -> tuple[float, float]:
        """A time constant and a damping ratio, or stiffness and damping per inertia if they are negative."""
        first, second = (*attributes.numbers("solreflimit", 1, 2).tolist(), 1.0)[:2]
        if first < 0.0 and second <= 0.0:
            return -first, -second
        if first <= 0.0 or second <= 0.0:
            raise attributes.error("solreflimit", "a time constant and a damping ratio, both positive")
        return 1.0 / (first * second) ** 2, 2.0 / first

    # --- geoms, inertials, sites

    def _geom(self, attributes: Attributes, frame: Array) -> GeomData:
        type_ = attributes.word("type", GEOMS, "sphere")
        mesh = attributes.text("mesh")
        if type_ == "mesh" and mesh is None:
            raise attributes.element.error('has no mesh; expected mesh="..."')
        size = attributes.numbers("size", 1, 3, default=(0.0, 0.0, 0.0))
        size = np.concatenate((size, np.zeros(3 - len(size))))
        if "fromto" in attributes and mesh is None:
            if type_ not in STRETCHED:
                raise attributes.error("fromto", f"a type of {', '.join(STRETCHED)} with it, not {type_}")
            if "pos" in attributes:
                raise attributes.error("fromto", "no pos with it")
            pose, half = self._between(attributes)
            size = np.array((size[0], half, 0.0) if SIZES[type_] == 2 else (size[0], size[0], half))
        else:
            pose = self.document.frames.pose(attributes)
        needed = SIZES.get(type_, 0) if mesh is None else 0
        if needed and size[:needed].min() <= 0.0:
            if "size" not in attributes:
                raise attributes.element.error(f"has no size; expected {needed} positive numbers")
            raise attributes.error("size", f"{needed} positive number{'s' * (needed > 1)} for a {type_}")
        mass = attributes.number("mass", nonnegative=True) if "mass" in attributes else None
        return GeomData(
            attributes.element,
            type_,
            frame @ pose,
            size,
            mass,
            attributes.number("density", 1000.0, nonnegative=True),
            attributes.flag("shellinertia"),
            attributes.whole("group", 0),
            mesh,
            attributes.numbers("rgba", 4) if "rgba" in attributes else None,
            attributes.text("material"),
            (attributes.whole("contype", 1), attributes.whole("conaffinity", 1)),
        )

    def _between(self, attributes: Attributes) -> tuple[Array, float]:
        """Pose in the middle between two ends, with z from the second one to the first, and half of their distance."""
        ends = attributes.numbers("fromto", 6)
        along = ends[:3] - ends[3:]
        length = float(np.linalg.norm(along))
        if not 1e-14 < length < np.inf:
            raise attributes.error("fromto", "two points that are apart")
        pose = np.eye(4)
        pose[:3, :3] = rotation_to(along / length)
        pose[:3, 3] = 0.5 * (ends[:3] + ends[3:])
        return pose, 0.5 * length

    def _site_pose(self, attributes: Attributes) -> Array:
        return self._between(attributes)[0] if "fromto" in attributes else self.document.frames.pose(attributes)

    def _inertial(self, attributes: Attributes, frame: Array) -> InertialData:
        element = attributes.element
        attributes.required("pos")
        mass = attributes.number("mass", nonnegative=True)
        if "fullinertia" in attributes:
            if "diaginertia" in attributes:
                raise element.error("has diaginertia and fullinertia; expected one of them")
            if any(name in attributes for name in schema.ORIENTATION.split()):
                raise attributes.error("fullinertia", "no orientation with it, because it has its own axes")
            xx, yy, zz, xy, xz, yz = attributes.numbers("fullinertia", 6).tolist()
            inertia = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        elif "diaginertia" in attributes:
            inertia = np.diag(attributes.numbers("diaginertia", 3))
        else:
            inertia = np.zeros((3, 3))
        return InertialData(mass, frame @ self.document.frames.pose(attributes), inertia)


def _coefficients(attributes: Attributes, name: str) -> Array:
    """Up to three coefficients of a polynomial."""
    values = attributes.numbers(name, 1, 3, default=(0.0,))
    if values[0] < 0.0:
        raise attributes.error(name, "a first number that is not negative")
    return np.concatenate((values, np.zeros(3 - len(values))))
