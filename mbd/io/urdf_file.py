"""Reading of URDF files, strictly: what is not understood is refused, or named among what is left out.

The format is that of http://wiki.ros.org/urdf/XML. Elements and attributes that look like misspelt ones are refused;
extensions of other programs (gazebo, ros2_control ...) are named.
"""

from __future__ import annotations

import difflib
import math
import os
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ModelError
from ..rotation import elementary

Array = np.ndarray
TYPES = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed")
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


@dataclass
class Visual:
    pose: Array
    geometry: str
    numbers: dict[str, Any]
    colour: str | None


@dataclass
class Link:
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
    name: str
    type: str
    parent: str
    child: str
    pose: Array
    axis: Array
    damping: float = 0.0
    mimic: Mimic | None = None
    limits: tuple[float, float] | None = None


class UrdfFile:
    """Links and joints by name, and what was left out (kind -> names)."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.left_out: dict[str, list[str]] = {}
        robot = self._root()
        self._check(robot, "robot")
        self.name = robot.get("name") or self.path.stem
        self.colours = {
            self._text(m, "name", "material"): self._colour(m, f"material '{m.get('name')}'")
            for m in robot.findall("material")
        }
        self.links: dict[str, Link] = {}
        self.joints: dict[str, UrdfJoint] = {}
        for element in robot.findall("link"):
            self._put(self.links, self._link(element), "links")
        for element in robot.findall("joint"):
            self._put(self.joints, self._joint(element), "joints")
        for element in robot.findall("transmission"):
            self.leave_out("transmissions", element.get("name") or "without a name")

    def leave_out(self, what: str, name: str) -> None:
        self.left_out.setdefault(what, []).append(name)

    def error(self, where: str, message: str) -> ModelError:
        return ModelError(f"{self.path}: {where}{': ' if where else ''}{message}")

    # --- XML

    def _root(self) -> ET.Element:
        if not self.path.is_file():
            raise ModelError(f"{self.path}: there is no such file")
        try:
            content = self.path.read_bytes()
            if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
                raise self.error("", "contains a DOCTYPE or entities; expected plain XML")
            root = ET.fromstring(content)
        except OSError as error:
            raise self.error("", f"cannot be read ({error.strerror})") from None
        except (ET.ParseError, LookupError, ValueError) as error:
            if isinstance(error, ModelError):
                raise
            raise self.error("", f"cannot be read as URDF: no valid XML ({error})") from None
        if root.tag != "robot":
            raise self.error("", f"cannot be read as URDF: its root is <{root.tag}>; expected <robot>")
        return root

    def _put(self, table: dict[str, Any], made: Any, what: str) -> None:
        if made.name in table:
            raise self.error("", f"two {what} are named '{made.name}'; expected unique names")
        table[made.name] = made

    def _check(self, element: ET.Element, where: str) -> None:
        """Refuse what is misspelt or given twice in an element, and name what belongs to other programs."""
        elements, attributes = KNOWN[element.tag]
        if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
            raise self.error(where, f"contains text in <{element.tag}>; expected elements only")
        for name in element.attrib:
            if name not in attributes:
                what = f"attribute '{name}' of <{element.tag}>"
                if not elements:
                    raise self.error(where, f"{what} is not known; expected {', '.join(attributes)}")
                self._foreign(name, attributes, where, what)
        seen: set[str] = set()
        for child in element:
            if not isinstance(child.tag, str):
                continue  # a comment
            if child.tag.startswith("{"):
                raise self.error(
                    where, f"contains {child.tag}; expected URDF, to which xacro files are converted first"
                )
            if child.tag not in elements:
                self._foreign(child.tag, elements, where, f"<{child.tag}>")
            elif child.tag in seen and child.tag not in SEVERAL:
                raise self.error(where, f"contains <{child.tag}> twice; expected it once")
            elif child.tag in KNOWN and child.tag not in ("link", "joint", "collision", "transmission"):
                self._check(child, where)
            seen.add(child.tag)

    def _foreign(self, name: str, known: tuple[str, ...], where: str, what: str) -> None:
        if close := difflib.get_close_matches(name, known, 1, 0.7):
            raise self.error(where, f"{what} is not known; did you mean {close[0]}?")
        self.leave_out(what, where)

    def _text(self, element: ET.Element, name: str, where: str) -> str:
        value = element.get(name)
        if value is None or not value.strip():
            raise self.error(where, f'<{element.tag}> has no {name}; expected {name}="..."')
        return value

    def numbers(self, element: ET.Element, name: str, where: str, size: int = 1, default: Any = None) -> Any:
        """The numbers of an attribute: one as a float, several as an array."""
        text = element.get(name)
        if text is None and default is not None:
            return default
        try:
            if text is None or "_" in text:
                raise ValueError
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if len(values) != size or not all(map(math.isfinite, values)):
            given = "is missing" if text is None else f"= {text!r}"
            expected = "a finite number" if size == 1 else f"{size} finite numbers"
            raise self.error(where, f"{name} of <{element.tag}> {given}; expected {expected}")
        return values[0] if size == 1 else np.array(values)

    def _pose(self, element: ET.Element | None, where: str) -> Array:
        """Homogeneous matrix of an <origin>; roll, pitch and yaw are about fixed axes: R = Rz(y) Ry(p) Rx(r)."""
        pose = np.eye(4)
        if element is not None:
            roll, pitch, yaw = self.numbers(element, "rpy", where, 3, np.zeros(3))
            pose[:3, :3] = elementary(2, yaw) @ elementary(1, pitch) @ elementary(0, roll)
            pose[:3, 3] = self.numbers(element, "xyz", where, 3, np.zeros(3))
        return pose

    # --- links

    def _link(self, element: ET.Element) -> Link:
        where = f"link '{self._text(element, 'name', 'a link')}'"
        self._check(element, where)
        link = Link(element.attrib["name"])
        if (inertial := element.find("inertial")) is not None:
            self._inertial(inertial, link, where)
        link.visuals = [self._visual(visual, where) for visual in element.findall("visual")]
        if element.find("collision") is not None:
            self.leave_out("collision geometry", link.name)
        return link

    def _inertial(self, element: ET.Element, link: Link, where: str) -> None:
        mass, inertia = element.find("mass"), element.find("inertia")
        for name, found in (("mass", mass), ("inertia", inertia)):
            if found is None:
                raise self.error(where, f"<inertial> has no <{name}>; expected <{name} .../>")
        assert mass is not None and inertia is not None
        link.mass = self.numbers(mass, "value", where)
        if link.mass < 0.0:
            raise self.error(where, f"mass = {link.mass:g}; expected a number that is not negative")
        xx, yy, zz = (self.numbers(inertia, name, where) for name in ("ixx", "iyy", "izz"))
        xy, xz, yz = (self.numbers(inertia, name, where) for name in ("ixy", "ixz", "iyz"))
        link.inertia = np.array(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))
        link.pose = self._pose(element.find("origin"), where)

    def _visual(self, element: ET.Element, where: str) -> Visual:
        geometry = element.find("geometry")
        found = [] if geometry is None else [child for child in geometry if child.tag in GEOMETRIES]
        if len(found) != 1:
            raise self.error(where, f"a <visual> has {len(found)} shapes; expected one of {', '.join(GEOMETRIES)}")
        shape = found[0]
        numbers: dict[str, Any] = {}
        if shape.tag == "mesh":
            numbers["filename"] = self._text(shape, "filename", where)
            numbers["scale"] = self.numbers(shape, "scale", where, 3, np.ones(3))
        else:
            for name in GEOMETRIES[shape.tag]:
                numbers[name] = self.numbers(shape, name, where, 3 if name == "size" else 1)
                if np.min(numbers[name]) <= 0.0:
                    raise self.error(where, f"{name} of <{shape.tag}> = {shape.get(name)!r}; expected positive numbers")
        material, colour = element.find("material"), None
        if material is not None:
            colour = self._colour(material, where)
            if colour is None and (named := material.get("name")) and material.find("texture") is None:
                if named not in self.colours:
                    self.leave_out("materials that are not in the file", f"{named} of {where}")
                colour = self.colours.get(named)
        return Visual(self._pose(element.find("origin"), where), shape.tag, numbers, colour)

    def _colour(self, material: ET.Element, where: str) -> str | None:
        if material.find("texture") is not None:
            self.leave_out("textures", where)
        if (element := material.find("color")) is None:
            return None
        rgba = self.numbers(element, "rgba", where, 4)
        if (rgba < 0.0).any() or (rgba > 1.0).any():
            raise self.error(where, f"rgba of <color> = {element.get('rgba')!r}; expected numbers from 0 to 1")
        return "#{:02x}{:02x}{:02x}".format(*(255.0 * rgba[:3]).round().astype(int))

    # --- joints

    def _joint(self, element: ET.Element) -> UrdfJoint:
        where = f"joint '{self._text(element, 'name', 'a joint')}'"
        self._check(element, where)
        ends = []
        for name in ("parent", "child"):
            if (end := element.find(name)) is None:
                raise self.error(where, f'has no <{name}>; expected <{name} link="..."/>')
            ends.append(self._text(end, "link", where))
        kind, name = self._text(element, "type", where), element.attrib["name"]
        if kind not in TYPES:
            raise self.error("", f"{where} is of type '{kind}'; expected one of {', '.join(TYPES)}")
        axis = np.array((1.0, 0.0, 0.0))
        if (given := element.find("axis")) is not None:
            axis = self.numbers(given, "xyz", where, 3)
        if kind not in ("fixed", "floating"):
            length = math.hypot(*axis)
            if not 1e-12 < length < math.inf:
                raise self.error(where, f"xyz of <axis> = {axis.tolist()}; expected a direction")
            axis = axis / length
        joint = UrdfJoint(name, kind, ends[0], ends[1], self._pose(element.find("origin"), where), axis)
        self._extras(element, joint, where)
        return joint

    def _extras(self, element: ET.Element, joint: UrdfJoint, where: str) -> None:
        if (dynamics := element.find("dynamics")) is not None:
            joint.damping = self.numbers(dynamics, "damping", where, 1, 0.0)
            if joint.damping < 0.0:
                raise self.error(where, f"damping = {joint.damping:g}; expected a number that is not negative")
            if joint.damping and joint.type not in ("revolute", "continuous", "prismatic"):
                self.leave_out(f"damping of {joint.type} joints", joint.name)
            if self.numbers(dynamics, "friction", where, 1, 0.0):
                self.leave_out("friction of joints", joint.name)
        if (limit := element.find("limit")) is not None:
            low, high = (self.numbers(limit, name, where, 1, 0.0) for name in ("lower", "upper"))
            for name in ("effort", "velocity"):
                self.numbers(limit, name, where, 1, 0.0)
            if joint.type in ("revolute", "prismatic"):
                if low > high:
                    raise self.error(where, f"limits are {low:g} to {high:g}; expected lower <= upper")
                joint.limits = (low, high)
            if joint.type not in ("continuous", "floating", "fixed"):
                self.leave_out("limits of joints", joint.name)
        for name in ("calibration", "safety_controller"):
            if element.find(name) is not None:
                self.leave_out(f"{name} of joints", joint.name)
        if (mimic := element.find("mimic")) is not None:
            factor, offset = (
                self.numbers(mimic, "multiplier", where, 1, 1.0),
                self.numbers(mimic, "offset", where, 1, 0.0),
            )
            if factor == 0.0:
                raise self.error(where, "multiplier of <mimic> = 0; expected another number, or a fixed joint")
            joint.mimic = Mimic(self._text(mimic, "joint", where), factor, offset)
