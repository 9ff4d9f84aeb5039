"""Reading of URDF files, strictly: what is not understood is refused, or named among what is left out.

The format is that of http://wiki.ros.org/urdf/XML. Elements and attributes that look like misspelt ones are refused;
extensions of other programs (gazebo, ros2_control ...) are named.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Array, ModelError
from ..rotation import elementary
from .left_out import LeftOut
from .xml_file import Element, numbers_in, read_xml, shortened

TYPES = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed")
WITH_POSITION = ("revolute", "continuous", "prismatic")
GEOMETRIES = {"box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "mesh": ("filename", "scale")}
# element -> (elements, attributes) that belong into it
KNOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "robot": (("link", "joint", "material", "transmission"), ("name", "version")),
    "link": (("inertial", "visual", "collision"), ("name", "type")),
    "inertial": (("origin", "mass", "inertia"), ()),
    "mass": ((), ("value",)),
    "inertia": ((), ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")),
    "origin": ((), ("xyz", "rpy")),
    "visual": (("origin", "geometry", "material"), ("name",)),
    "geometry": (tuple(GEOMETRIES), ()),
    **{name: ((), attributes) for name, attributes in GEOMETRIES.items()},
    "material": (("color", "texture"), ("name",)),
    "color": ((), ("rgba",)),
    "texture": ((), ("filename",)),
    "joint": (
        ("origin", "parent", "child", "axis", "dynamics", "limit", "mimic", "calibration", "safety_controller"),
        ("name", "type"),
    ),
    "parent": ((), ("link",)),
    "child": ((), ("link",)),
    "axis": ((), ("xyz",)),
    "dynamics": ((), ("damping", "friction")),
    "limit": ((), ("lower", "upper", "effort", "velocity")),
    "mimic": ((), ("joint", "multiplier", "offset")),
}
SEVERAL = ("link", "joint", "material", "transmission", "visual", "collision")
OF_OTHERS = "extensions of other programs"
LOOKS_LIKE, MISSING_LETTERS = 0.65, 2  # how similar a misspelt name is to the one that is meant
HINTS = {"mujoco": " (an MJCF file, which mbd.load_mjcf reads)"}


@dataclass
class Visual:
    pose: Array
    geometry: str
    numbers: dict[str, Any]
    colour: str | None


@dataclass
class Link:
    element: Element
    name: str
    mass: float = 0.0
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    pose: Array = field(default_factory=lambda: np.eye(4))
    visuals: list[Visual] = field(default_factory=list)


@dataclass
class Mimic:
    joint: str
    multiplier: float
    offset: float


@dataclass
class UrdfJoint:
    element: Element
    name: str
    type: str
    parent: str
    child: str
    pose: Array
    axis: Array
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    limits: tuple[float, float] | None = None
    effort: float | None = None
    velocity: float | None = None


class UrdfFile:
    """Links and joints by name; ``left_out`` collects what is not taken over."""

    def __init__(self, path: Path, left_out: LeftOut) -> None:
        self.path, self.left_out = path, left_out
        robot = read_xml(path, "robot", "URDF", HINTS)
        self._check(robot, "robot")
        self.name = robot.get("name") or self.path.stem
        self.colours = {
            self._text(m, "name", "material"): self._colour(m, f"material '{m.get('name')}'")
            for m in robot.all("material")
        }
        self.links: dict[str, Link] = {}
        self.joints: dict[str, UrdfJoint] = {}
        for element in robot.all("link"):
            self._put(self.links, self._link(element), "links")
        for element in robot.all("joint"):
            self._put(self.joints, self._joint(element), "joints")
        for element in robot.all("transmission"):
            left_out.note("transmission", f"'{element.get('name') or 'without a name'}'", "motors and their gears")

    # --- XML

    def error(self, element: Element, where: str, message: str) -> ModelError:
        """An error with its place in the file, and the link or joint to which it belongs."""
        return ModelError(f"{element.place}: {where}{': ' if where else ''}{message}")

    def _put(self, table: dict[str, Any], made: Any, what: str) -> None:
        if made.name in table:
            message = f"two {what} are named '{shortened(made.name)}'; expected unique names"
            raise self.error(made.element, "", message)
        table[made.name] = made

    def _check(self, element: Element, where: str) -> None:
        """Refuse what is misspelt or given twice in an element, and name what belongs to other programs."""
        elements, attributes = KNOWN[element.tag]
        if element.text:
            raise self.error(element, where, f"contains text in <{element.tag}>; expected elements only")
        for name in element.attributes:
            if name not in attributes and not name.startswith("xmlns"):
                what = f"attribute '{shortened(name)}' of <{element.tag}>"
                self._foreign(element, name, attributes, where, what)
        seen: set[str] = set()
        for child in element:
            if ":" in child.tag:
                message = f"contains <{shortened(child.tag)}>; expected URDF, to which xacro files are converted first"
                raise self.error(child, where, message)
            if child.tag not in elements:
                self._foreign(child, child.tag, elements, where, f"<{shortened(child.tag)}>")
            elif child.tag in seen and child.tag not in SEVERAL:
                raise self.error(child, where, f"contains <{child.tag}> twice; expected it once")
            elif child.tag in KNOWN and child.tag not in ("link", "joint", "collision", "transmission"):
                self._check(child, where)
            seen.add(child.tag)

    def _foreign(self, element: Element, name: str, known: tuple[str, ...], where: str, what: str) -> None:
        close = difflib.get_close_matches(name, known, 1, LOOKS_LIKE)
        if close and abs(len(close[0]) - len(name)) <= MISSING_LETTERS:
            raise self.error(element, where, f"{what} is not known; did you mean {close[0]}?")
        self.left_out.note(name if name == element.tag else f"{element.tag}@{name}", where, OF_OTHERS)

    def _text(self, element: Element, name: str, where: str) -> str:
        value = element.get(name)
        if value is None or not value.strip():
            raise self.error(element, where, f'<{element.tag}> has no {name}; expected {name}="..."')
        return value

    def numbers(self, element: Element, name: str, where: str, size: int = 1, default: Any = None) -> Any:
        """The numbers of an attribute: one as a float, several as an array."""
        text = element.get(name)
        if text is None and default is not None:
            return default
        values = None if text is None else numbers_in(text)
        if values is None or len(values) != size:
            given = "is missing" if text is None else f"= {shortened(text)!r}"
            expected = "a finite number" if size == 1 else f"{size} finite numbers"
            raise self.error(element, where, f"{name} of <{element.tag}> {given}; expected {expected}")
        return values[0] if size == 1 else np.array(values)

    def _not_negative(self, element: Element, name: str, where: str) -> float:
        value = self.numbers(element, name, where, 1, 0.0)
        if value < 0.0:
            raise self.error(element, where, f"{name} = {value:g}; expected a number that is not negative")
        return value

    def _pose(self, element: Element | None, where: str) -> Array:
        """Homogeneous matrix of an <origin>; roll, pitch and yaw are about fixed axes: R = Rz(y) Ry(p) Rx(r)."""
        pose = np.eye(4)
        if element is not None:
            roll, pitch, yaw = self.numbers(element, "rpy", where, 3, np.zeros(3))
            pose[:3, :3] = elementary(2, yaw) @ elementary(1, pitch) @ elementary(0, roll)
            pose[:3, 3] = self.numbers(element, "xyz", where, 3, np.zeros(3))
        return pose

    # --- links

    def _link(self, element: Element) -> Link:
        where = f"link '{self._text(element, 'name', 'a link')}'"
        self._check(element, where)
        link = Link(element, element.attributes["name"])
        if (inertial := element.first("inertial")) is not None:
            self._inertial(inertial, link, where)
        link.visuals = [self._visual(visual, where) for visual in element.all("visual")]
        if element.first("collision") is not None:
            self.left_out.note("collision", f"'{link.name}'", "contact: bodies go through each other")
        return link

    def _inertial(self, element: Element, link: Link, where: str) -> None:
        mass, inertia = element.first("mass"), element.first("inertia")
        for name, found in (("mass", mass), ("inertia", inertia)):
            if found is None:
                raise self.error(element, where, f"<inertial> has no <{name}>; expected <{name} .../>")
        assert mass is not None and inertia is not None
        link.mass = self.numbers(mass, "value", where)
        if link.mass < 0.0:
            raise self.error(mass, where, f"mass = {link.mass:g}; expected a number that is not negative")
        xx, yy, zz = (self.numbers(inertia, name, where) for name in ("ixx", "iyy", "izz"))
        xy, xz, yz = (self.numbers(inertia, name, where) for name in ("ixy", "ixz", "iyz"))
        link.inertia = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        if link.mass == 0.0 and link.inertia.any():
            self.left_out.refuse("inertial", f"'{link.name}'", "inertia of links without mass")
            link.inertia = np.zeros((3, 3))
        link.pose = self._pose(element.first("origin"), where)

    def _visual(self, element: Element, where: str) -> Visual:
        geometry = element.first("geometry")
        found = [] if geometry is None else [child for child in geometry if child.tag in GEOMETRIES]
        if len(found) != 1:
            message = f"a <visual> has {len(found)} shapes; expected one of {', '.join(GEOMETRIES)}"
            raise self.error(element, where, message)
        shape = found[0]
        numbers: dict[str, Any] = {}
        if shape.tag == "mesh":
            numbers["filename"] = self._text(shape, "filename", where)
            numbers["scale"] = self.numbers(shape, "scale", where, 3, np.ones(3))
        else:
            for name in GEOMETRIES[shape.tag]:
                numbers[name] = self.numbers(shape, name, where, 3 if name == "size" else 1)
                if np.min(numbers[name]) <= 0.0:
                    message = (
                        f"{name} of <{shape.tag}> = {shortened(shape.get(name) or '')!r}; expected positive numbers"
                    )
                    raise self.error(shape, where, message)
        material, colour = element.first("material"), None
        if material is not None:
            colour = self._colour(material, where)
            if colour is None and (named := material.get("name")) and material.first("texture") is None:
                if named not in self.colours:
                    self.left_out.note("material", f"'{named}' of {where}", "materials that are not in the file")
                colour = self.colours.get(named)
        return Visual(self._pose(element.first("origin"), where), shape.tag, numbers, colour)

    def _colour(self, material: Element, where: str) -> str | None:
        if material.first("texture") is not None:
            self.left_out.note("texture", where, "appearance only")
        if (element := material.first("color")) is None:
            return None
        rgba = self.numbers(element, "rgba", where, 4)
        if (rgba < 0.0).any() or (rgba > 1.0).any():
            message = f"rgba of <color> = {shortened(element.get('rgba') or '')!r}; expected numbers from 0 to 1"
            raise self.error(element, where, message)
        return "#{:02x}{:02x}{:02x}".format(*(255.0 * rgba[:3]).round().astype(int))

    # --- joints

    def _joint(self, element: Element) -> UrdfJoint:
        where = f"joint '{self._text(element, 'name', 'a joint')}'"
        self._check(element, where)
        ends = []
        for name in ("parent", "child"):
            if (end := element.first(name)) is None:
                raise self.error(element, where, f'has no <{name}>; expected <{name} link="..."/>')
            ends.append(self._text(end, "link", where))
        kind, name = self._text(element, "type", where), element.attributes["name"]
        if kind not in TYPES:
            raise self.error(element, "", f"{where} is of type '{shortened(kind)}'; expected one of {', '.join(TYPES)}")
        axis = np.array((1.0, 0.0, 0.0))
        if (given := element.first("axis")) is not None:
            axis = self.numbers(given, "xyz", where, 3)
        if kind not in ("fixed", "floating"):
            length = math.hypot(*axis)
            if not 1e-12 < length < math.inf:
                assert given is not None
                raise self.error(given, where, f"xyz of <axis> = {axis.tolist()}; expected a direction")
            axis = axis / length
        pose = self._pose(element.first("origin"), where)
        joint = UrdfJoint(element, name, kind, ends[0], ends[1], pose, axis)
        self._extras(element, joint, where)
        return joint

    def _extras(self, element: Element, joint: UrdfJoint, where: str) -> None:
        if (dynamics := element.first("dynamics")) is not None:
            for name in ("damping", "friction"):
                value = self._not_negative(dynamics, name, where)
                if value and joint.type in ("planar", "floating"):
                    self.left_out.refuse(f"joint@{name}", f"'{joint.name}'", f"{name} in {joint.type} joints")
                elif joint.type != "fixed":
                    setattr(joint, name, value)
        if (limit := element.first("limit")) is not None:
            low, high = (self.numbers(limit, name, where, 1, 0.0) for name in ("lower", "upper"))
            joint.effort = self._not_negative(limit, "effort", where) or None
            joint.velocity = self._not_negative(limit, "velocity", where) or None
            if joint.type in ("revolute", "prismatic"):
                if low > high:
                    raise self.error(limit, where, f"limits are {low:g} to {high:g}; expected lower <= upper")
                joint.limits = (low, high)
            elif joint.type == "planar":
                self.left_out.note("joint@limit", f"'{joint.name}'", "limits of planar joints, undefined in URDF")
        for name in ("calibration", "safety_controller"):
            if element.first(name) is not None:
                self.left_out.note(name, f"'{joint.name}'", "settings of controllers")
        if (mimic := element.first("mimic")) is not None:
            factor, offset = (
                self.numbers(mimic, "multiplier", where, 1, 1.0),
                self.numbers(mimic, "offset", where, 1, 0.0),
            )
            if factor == 0.0:
                raise self.error(mimic, where, "multiplier of <mimic> = 0; expected another number, or a fixed joint")
            joint.mimic = Mimic(self._text(mimic, "joint", where), factor, offset)
