"""Actuators of an MJCF file on joints: what force they exert, with the rules of default classes for their shortcuts.

An actuator exerts ``force = gain * control + bias[0] + bias[1] * length + bias[2] * velocity`` with the length
``gear * q`` of its joint; the joint feels ``gear * force``. Control and force may be limited.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from ...errors import Array
from ..xml_file import Element, shortened
from . import schema
from .attributes import Attributes, place
from .tree import JointData, Tree

OTHER_TRANSMISSIONS = ("tendon", "site", "body", "cranksite", "slidersite", "refsite")
STATE = "a state of its own, by which the force lags behind the control"
LAW = ("gaintype", "gainprm", "biastype", "biasprm", "dyntype", "dynprm", "kp", "kv", "dampratio", "timeconst")


@dataclass(frozen=True)
class Law:
    """Gain, bias and dynamics as MuJoCo stores them; a positive ``bias[2]`` of a servo is its damping ratio."""

    gain_type: str = "fixed"
    gain: tuple[float, ...] = (1.0, 0.0, 0.0)
    bias_type: str = "none"
    bias: tuple[float, ...] = (0.0, 0.0, 0.0)
    dynamics: str = "none"
    time: float = 1.0


@dataclass
class ActuatorData:
    """An actuator on a hinge or a slide."""

    element: Element
    name: str | None
    joint: JointData
    gear: float
    gain: float
    bias: tuple[float, float, float]
    damping_ratio: float = 0.0  # of a servo, instead of bias[2]
    control_range: tuple[float, float] | None = None
    force_range: tuple[float, float] | None = None
    armature: float = 0.0
    damping: Array = field(default_factory=lambda: np.zeros(3))


@dataclass
class _Default:
    """The actuator of a default class: how it was written, its law, and its other attributes."""

    written: str | None
    law: Law
    texts: dict[str, tuple[str, Element]]


class Actuators:
    """All actuators of a file that act on joints."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.document = tree, tree.document
        self.found: list[ActuatorData] = []
        self.defaults: dict[str, _Default] = {}
        self._names: set[str] = set()
        document = self.document
        off = not document.enabled("actuation")
        disabled = set(document.option.numbers("actuatorgroupdisable", 0, 31, default=()).tolist())
        for element in document.section("actuator"):
            path = f"actuator/{element.tag}"
            attributes = document.read(element, path)
            if attributes is None:
                continue
            document.children(element, element.tag)
            attributes.texts = self._default(document.class_of(element, None)).texts | attributes.texts
            made = self._actuator(attributes, path)
            if off or attributes.whole("group", 0) in disabled:
                document.left_out.note(path, place(element), "switched off by <option>")
            elif made is not None:
                self.found.append(made)

    # --- default classes

    def _default(self, name: str) -> _Default:
        """What an actuator of a class inherits; every class has a single default for all kinds of actuators."""
        made = self.defaults.get(name)
        if made is not None:
            return made
        chain = [name]
        while chain[-1] in self.document.parents:
            chain.append(self.document.parents[chain[-1]])
        made = _Default(None, Law(), {})
        for link in reversed(chain):
            if link not in self.defaults:
                self.defaults[link] = self._extended(made, self.document.actuator_defaults[link], link)
            made = self.defaults[link]
        return made

    def _extended(self, inherited: _Default, elements: Iterable[Element], name: str) -> _Default:
        made = _Default(None, inherited.law, dict(inherited.texts))
        for element in elements:
            path = f"actuator/{element.tag}"
            texts = {key: (text, element) for key, text in element.attributes.items()}
            if path in schema.KINDS:
                base = made.law if element.tag == "general" else self._inherited(element.tag, name, skip=True)
                made.law = self._law(Attributes(element, texts), element.tag, base)
            made.written = element.tag
            made.texts |= {key: value for key, value in texts.items() if key not in LAW}
        return made

    def _inherited(self, tag: str, name: str, skip: bool = False) -> Law:
        """The law that a shortcut of a class starts from: that of the nearest class written with the same one."""
        if tag == "motor":
            return Law()
        links = [name]
        while links[-1] in self.document.parents:
            links.append(self.document.parents[links[-1]])
        for link in links[1:] if skip else links:
            default = self._default(link)
            if default.written == tag or (default.written == "general" and default.law.gain_type == "fixed"):
                return default.law
        return Law()

    def _law(self, attributes: Attributes, tag: str, base: Law) -> Law:
        if tag == "motor":
            return Law()
        if tag == "general":
            return self._general(attributes, base)
        if tag == "velocity":
            gain = attributes.number("kv", base.gain[0], nonnegative=True)
            return Law("fixed", (gain, 0.0, 0.0), "affine", (0.0, 0.0, -gain))
        gain = attributes.number("kp", base.gain[0], nonnegative=True)
        damping = base.bias[2] if base.bias_type == "affine" else 0.0
        if "kv" in attributes and "dampratio" in attributes:
            raise attributes.error("dampratio", "either kv or dampratio")
        if "kv" in attributes:
            damping = -attributes.number("kv", nonnegative=True)
        elif "dampratio" in attributes:
            damping = attributes.number("dampratio", nonnegative=True)
        time = attributes.number("timeconst", base.time if base.dynamics == "filterexact" else 0.0, nonnegative=True)
        law = Law("fixed", (gain, 0.0, 0.0), "affine", (0.0, -gain, damping))
        return replace(law, dynamics="filterexact", time=time) if time > 0.0 else law

    def _general(self, attributes: Attributes, base: Law) -> Law:
        def vector(name: str, default: tuple[float, ...]) -> tuple[float, ...]:
            values = attributes.numbers(name, 1, 10, default=default).tolist()
            return (*values, 0.0, 0.0)[: max(3, len(values))]

        return Law(
            attributes.text("gaintype") or base.gain_type,
            vector("gainprm", base.gain),
            attributes.text("biastype") or base.bias_type,
            vector("biasprm", base.bias),
            attributes.text("dyntype") or base.dynamics,
            float(attributes.numbers("dynprm", 1, 10, default=(base.time,))[0]),
        )

    # --- one actuator

    def _actuator(self, attributes: Attributes, path: str) -> ActuatorData | None:
        element, document = attributes.element, self.document
        tag, name = element.tag, element.get("name") or None
        if name is not None:
            if name in self._names:
                raise element.error(f"two actuators are named {shortened(name)!r}; expected unique names")
            self._names.add(name)
        joint = self._joint(attributes, path)
        own = document.class_of(element, None)
        base = self._default(own).law if tag == "general" else self._inherited(tag, own)
        law = self._law(attributes, tag, base)
        if joint is None or not self._understood(law, attributes, path):
            return None
        gear = float(attributes.numbers("gear", 1, 6, default=(1.0,))[0])
        if gear == 0.0:
            raise attributes.error("gear", "a first number that is not zero")
        bias = law.bias if law.bias_type == "affine" else (0.0, 0.0, 0.0)
        servo = tag in ("position", "general") and law.bias_type == "affine" and law.gain[0] == -law.bias[1]
        ratio = bias[2] if servo and bias[2] > 0.0 else 0.0
        made = ActuatorData(
            element, name, joint, gear, law.gain[0], (bias[0], bias[1], 0.0 if ratio else bias[2]), ratio,
            armature=attributes.number("armature", 0.0, nonnegative=True) * gear**2,
            damping=np.concatenate((attributes.numbers("damping", 1, 3, default=(0.0,)), np.zeros(2)))[:3],
        )  # fmt: skip
        made.damping = made.damping * np.abs(gear) ** np.array((2, 3, 4))
        if document.limited(attributes, "ctrllimited", "ctrlrange"):
            made.control_range = attributes.range("ctrlrange")
        made.control_range = self._inherit_range(attributes, made) or made.control_range
        if not document.enabled("clampctrl"):
            made.control_range = None
        if document.limited(attributes, "forcelimited", "forcerange"):
            made.force_range = attributes.range("forcerange")
        return made

    def _joint(self, attributes: Attributes, path: str) -> JointData | None:
        """The joint on which an actuator acts, or None if it acts on something else, which is then collected."""
        element = attributes.element
        for other in OTHER_TRANSMISSIONS:
            if other in attributes:
                self.document.left_out.refuse(f"{path}@{other}", place(element), f"a force on a {other}")
                return None
        given = [name for name in ("joint", "jointinparent") if name in attributes]
        if len(given) != 1:
            raise element.error('expected one of joint="...", jointinparent, tendon, site and body')
        name = attributes.required(given[0])
        joint = self.tree.joints.get(name)
        if joint is None:
            raise attributes.error(given[0], "the name of a joint of the file")
        if joint.type not in ("hinge", "slide"):
            self.document.left_out.refuse(f"{path}@joint", place(element), f"a force on a {joint.type} joint")
            return None
        return joint

    def _understood(self, law: Law, attributes: Attributes, path: str) -> bool:
        element, refuse = attributes.element, self.document.left_out.refuse
        steady = law.gain_type == "fixed" or (law.gain_type == "affine" and not any(law.gain[1:3]))
        state = "timeconst" if "timeconst" in attributes else "dyntype"
        unknown = [
            (attribute, meaning)
            for attribute, is_known, meaning in (
                (state, law.dynamics == "none", STATE),
                ("gaintype", steady, "a gain that depends on the motion"),
                ("biastype", law.bias_type in ("none", "affine"), "a force of its own"),
                ("delay", attributes.number("delay", 0.0) == 0.0, "a delay of the control"),
            )
            if not is_known
        ]
        for attribute, meaning in unknown:
            refuse(f"{path}@{attribute}", place(element), meaning)
        return not unknown

    def _inherit_range(self, attributes: Attributes, made: ActuatorData) -> tuple[float, float] | None:
        """The range of controls from that of the joint, widened or narrowed about its middle."""
        factor = attributes.number("inheritrange", 0.0, nonnegative=True)
        if factor == 0.0:
            return None
        if "ctrlrange" in attributes:
            raise attributes.error("inheritrange", "no ctrlrange with it")
        if made.joint.range is None:
            raise attributes.error("inheritrange", "a joint with a range")
        low, high = made.joint.range
        middle, half = 0.5 * (low + high), 0.5 * factor * (high - low)
        return middle - half, middle + half
