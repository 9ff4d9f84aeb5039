"""Which joints carry bodies: the spanning tree behind joint coordinates.

The tree grows from the ground, and always by the joint with the most equations that can be reached: what remains as
constraints is then as little as possible. Bodies without a path to the ground grow from a first body that moves freely.
"""

from __future__ import annotations

import functools
import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbd.bodies import Body, Ground, PointMass, RigidBody, Rotor
from mbd.elements.attributes import Checked
from mbd.errors import ModelError
from mbd.joints.joint import Joint
from mbd.joints.rotor_hinge import RotorHinge
from mbd.nodes import Directors, Node, Quaternion
from mbd.nodes.people import RigidNode

if TYPE_CHECKING:
    from mbd.model import Model

MOTION_WORDS = {
    "turn": "angle",
    "screw": "angle",
    "slide": "displacement",
    "slide 1": "displacement along n1",
    "slide 2": "displacement along n2",
    "ball": "rotation",
}


@dataclass(frozen=True)
class JointCoordinates:
    """The choice of joint coordinates; see ``Model.with_coordinates``."""

    cut: tuple[str, ...] = ()
    absolute: tuple[str, ...] = ()
    spherical: RigidNode = field(default_factory=lambda: Quaternion(lie=True))
    first: tuple[str, ...] = ()
    """Joints that carry bodies before any others do, if they can."""
    free: RigidNode | None = None
    """How rotations of free and pinned bodies at the roots of trees are stored; None: as their own nodes do it."""

    def checked(self, model: Model) -> JointCoordinates:
        """The choice itself, if the model still has all that it names."""
        for argument, names, kind in (("cut", self.cut, Joint), ("absolute", self.absolute, Body)):
            for name in names:
                if name not in model or not isinstance(model[name], kind):
                    raise ModelError(
                        f"{model}: {argument}= of its joint coordinates names '{name}', which is no "
                        f"{kind.__name__.lower()} of the model any more; choose again: "
                        "model.with_coordinates('joint', ...)"
                    )
        return self


@dataclass(frozen=True)
class Carried:
    """A body and what carries it: a joint on its parent, or none for a body that moves freely."""

    body: RigidBody
    parent: Body
    joint: Joint | None
    reversed: bool  # the body is the joint's first one
    node: RigidNode | None  # of its rotation: of a ball, of a free or a pinned body

    @functools.cached_property
    def motions(self) -> tuple[str, ...]:
        """Elementary motions in the order of the joint's velocities."""
        if self.joint is not None:
            return free_motions(self.joint) or ()
        assert self.node is not None
        return ("ball",) if self.node.pinned else ("slide 1", "slide 2", "slide", "ball")

    @property
    def velocity_names(self) -> list[str]:
        """What each velocity is the rate of: "angle", "displacement along n1", "rotation 3"; numbered where alike."""
        names: list[str] = []
        for motion in self.motions:
            count = 1
            if motion == "ball":
                assert self.node is not None
                count = 3 if self.node.lie else self.node.n_rotation
            word = MOTION_WORDS[motion]
            alike = count > 1 or self.motions.count(motion) > 1
            first = 1 + sum(name.startswith(f"{word} ") for name in names)
            names += [f"{word} {first + k}" if alike else word for k in range(count)]
        return names


@dataclass(frozen=True)
class JointTree:
    """Bodies in joint coordinates with what carries them (parents first), and the joints that stay constraints."""

    carried: tuple[Carried, ...]
    constraints: tuple[tuple[Joint, str], ...]
    """Joints that stay constraints, each with the reason."""
    absolute: tuple[tuple[Body, str], ...]
    """Bodies in absolute coordinates, each with the reason."""

    def __str__(self) -> str:
        rows = [("joint", "carries", "on", "coordinates")]
        for edge in self.carried:
            name = "(none)" if edge.joint is None else edge.joint.name
            rows.append((name, edge.body.name, edge.parent.name, _coordinate_text(edge)))
        rows += [("-", body.name, "-", f"absolute {_node_text(body)}: {why}") for body, why in self.absolute]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = ["  ".join([*(x.ljust(n) for x, n in zip(row, widths, strict=False)), row[3]]) for row in rows]
        lines.insert(1, "  ".join([*("-" * n for n in widths), "-" * 11]))
        if self.constraints:
            lines += ["", "constraints:"]
            for joint, why in self.constraints:
                count = f"{joint.n_equations} equation{'s' * (joint.n_equations != 1)}"
                lines.append(f"  {joint.name} ({count}): {why}")
        return "\n".join(lines)

    __repr__ = __str__


def _node_text(body: Body) -> str:
    node: Any = body.node
    kind = str(node)
    return f"{kind} (Lie)" if isinstance(node, RigidNode) and node.lie else kind


def _coordinate_text(edge: Carried) -> str:
    if isinstance(edge.joint, RotorHinge):
        return f"none: inertia on the {edge.joint.of} of '{edge.joint.driving.name}'"
    if edge.joint is None and edge.node is not None:
        kind = "pinned" if edge.node.pinned else "free"
        return f"{kind}, {edge.node}{' (Lie)' if edge.node.lie else ''}"
    if not edge.motions:
        return "none"
    words = [MOTION_WORDS[motion] for motion in edge.motions]
    if edge.node is not None:
        words[-1] += f", {edge.node}{' (Lie)' if edge.node.lie else ''}"
    return ", ".join(words)


def free_motions(joint: Joint) -> tuple[str, ...] | None:
    """Elementary motions that a joint leaves free; None if it has other equations than the class that declares them."""
    kind: Any = type(joint)
    return joint.freedoms if _has_declared_equations(kind) else None


@functools.cache
def _has_declared_equations(kind: type[Joint]) -> bool:
    """Whether no class below the one that declares freedoms has other equations."""
    declared = next(k for k, cls in enumerate(kind.__mro__) if "freedoms" in vars(cls))
    equations = next(k for k, cls in enumerate(kind.__mro__) if "primitives" in vars(cls))
    return declared <= equations


def _equations(joint: Joint) -> int:
    """Number of equations of a joint that is made of elementary motions."""
    return 6 - sum(3 if motion == "ball" else 1 for motion in joint.freedoms or ())


def _check_declared(joint: Joint, motions: tuple[str, ...]) -> None:
    """Refuse motions of a user's class that are no coordinates, or not as many as its equations leave free."""
    slides = [motion for motion in motions if motion.startswith("slide")]
    rest = motions[len(slides) :]
    known = len(set(slides)) == len(slides) and set(motions) <= set(MOTION_WORDS)
    if not known or any(m in slides for m in rest) or (len(rest) > 1 and motions != ("turn", "turn")):
        raise ModelError(
            f"{joint}: freedoms of {type(joint).__name__} is {motions!r}; expected some of 'slide 1', 'slide 2', "
            "'slide', and then 'turn', 'screw' or 'ball', or ('turn', 'turn') of two cross axes"
        )
    free = sum(3 if motion == "ball" else 1 for motion in motions)
    if free + joint.n_equations != 6:
        raise ModelError(
            f"{joint}: freedoms of {type(joint).__name__} is {motions!r}, which are {free}, but its "
            f"{joint.n_equations} equations leave {6 - joint.n_equations} free; expected all of them, or freedoms = "
            "None for a joint that is not made of such motions"
        )


def joint_tree(bodies: Sequence[Body], joints: Sequence[Joint], ground: Ground, choice: JointCoordinates) -> JointTree:
    """The spanning tree of a model for a choice of joint coordinates."""
    absolute: dict[int, tuple[Body, str]] = {}
    for body in bodies:
        why = _why_absolute(body, choice)
        if why:
            absolute[id(body)] = body, why
    at: dict[int, list[tuple[int, Joint, bool]]] = {id(body): [] for body in (ground, *bodies)}
    reasons: dict[int, str] = {}
    for k, joint in enumerate(joints):
        why = _why_constraint(joint, choice, absolute)
        if why:
            reasons[id(joint)] = why
            continue
        at[id(joint.body_a)].append((k, joint, False))
        at[id(joint.body_b)].append((k, joint, True))
    carried: list[Carried] = []
    reached = {id(ground)}
    used: set[int] = set()
    count = 0  # of entries in the heap: breadth first among joints with as many equations

    def grow(frontier: list[tuple[int, int, int, Joint, bool]], body: Body, depth: int) -> None:
        nonlocal count
        for _, joint, backwards in at[id(body)]:
            child = joint.body_a if backwards else joint.body_b
            if id(child) not in reached:
                count += 1
                late = 0 if joint.name in choice.first else 1
                heapq.heappush(frontier, (late * 6 - _equations(joint), depth, count, joint, backwards))

    def exhaust(frontier: list[tuple[int, int, int, Joint, bool]]) -> None:
        while frontier:
            _, depth, _, joint, backwards = heapq.heappop(frontier)
            child, parent = (joint.body_a, joint.body_b) if backwards else (joint.body_b, joint.body_a)
            if id(child) in reached:
                continue
            assert isinstance(child, RigidBody)
            reached.add(id(child))
            used.add(id(joint))
            ball = "ball" in (free_motions(joint) or ())
            carried.append(Carried(child, parent, joint, backwards, choice.spherical if ball else None))
            grow(frontier, child, depth + 1)

    frontier: list[tuple[int, int, int, Joint, bool]] = []
    for body in bodies:  # a pin is a ball on the ground
        if isinstance(body, RigidBody) and body.node.pinned and id(body) not in absolute:
            if isinstance(body, Rotor):
                continue
            reached.add(id(body))
            carried.append(Carried(body, ground, None, False, _free_node(body.node, choice)))
            grow(frontier, body, 1)
    grow(frontier, ground, 0)
    exhaust(frontier)
    for body in bodies:
        if id(body) in reached or id(body) in absolute:
            continue
        assert isinstance(body, RigidBody)
        if isinstance(body, Rotor):
            continue
        if not at[id(body)]:
            absolute[id(body)] = body, "no joint that could carry it"
            continue
        reached.add(id(body))
        carried.append(Carried(body, ground, None, False, _free_node(body.node, choice)))
        grow(frontier, body, 1)
        exhaust(frontier)
    for edge in _rotors(joints, carried, choice):
        carried.append(edge)
        used.update([id(edge.joint)] if edge.joint is not None else [])
    closing = [(joint, reasons.get(id(joint), "it closes a loop")) for joint in joints if id(joint) not in used]
    return JointTree(tuple(carried), tuple(closing), tuple(absolute.values()))


def _rotors(joints: Sequence[Joint], carried: Sequence[Carried], choice: JointCoordinates) -> list[Carried]:
    """Rotors: at rest where their inertia is on a coordinate of the tree, else pinned balls that a constraint turns."""
    motions = {id(edge.joint): edge.motions for edge in carried if edge.joint is not None}
    found = []
    for hinge in joints:
        if isinstance(hinge, RotorHinge) and isinstance(hinge.body_b, Rotor):
            rotor = hinge.body_b
            if rotor_motion(hinge) in motions.get(id(hinge.driving), ()) and hinge.name not in choice.cut:
                found.append(Carried(rotor, hinge.body_a, hinge, False, None))
            elif rotor.name not in choice.absolute:
                found.append(Carried(rotor, hinge.body_a, None, False, _free_node(rotor.node, choice)))
    return found


def rotor_motion(hinge: RotorHinge) -> str:
    """The elementary motion that turns a rotor."""
    return "turn" if hinge.of == "angle" else "slide"


def _free_node(node: RigidNode, choice: JointCoordinates) -> RigidNode:
    """The node of a free body at the root of a tree: its own, or a Lie node in place of internal constraints."""
    if choice.free is not None:
        return node.with_parametrisation(choice.free)
    return node if node.lie or not node.n_internal else node.with_parametrisation(Quaternion(lie=True))


def _why_absolute(body: Body, choice: JointCoordinates) -> str:
    if body.name in choice.absolute:
        return "asked for by absolute="
    if isinstance(body, PointMass):
        return "a point has no orientation that a joint could give it"
    if not isinstance(body, RigidBody):
        return "generalized coordinates"
    return ""


def _why_constraint(joint: Joint, choice: JointCoordinates, absolute: Mapping[int, tuple[Body, str]]) -> str:
    if joint.name in choice.cut:
        return "asked for by cut="
    if isinstance(joint, RotorHinge):
        return "the joint that turns the rotor carries no body"
    motions = free_motions(joint)
    if motions is None:
        return f"a joint of kind {joint.label!r} carries no body"
    if not type(joint).__module__.startswith("mbd.joints"):
        _check_declared(joint, motions)
    for body in joint.bodies:
        if id(body) in absolute:
            return f"{body} is in absolute coordinates"
    return ""


def check_choice(model: Model, cut: Any, absolute: Any, spherical: Any) -> JointCoordinates:
    """The arguments of ``with_coordinates``, checked."""
    template = Quaternion(lie=True) if spherical is None else spherical
    node: Any = template() if isinstance(template, type) and issubclass(template, Node) else template
    if not isinstance(node, RigidNode) or (isinstance(node, Directors) and not node.lie):
        raise ModelError(
            f"{model}: spherical is {spherical!r}; expected Quaternion, RotationVector or EulerAngles, or a Lie node "
            "such as mbd.nodes.Directors(lie=True)"
        )
    return JointCoordinates(_names(model, cut, "cut", Joint), _names(model, absolute, "absolute", Body), node._blank())


def _names(model: Model, given: Any, argument: str, kind: type[Checked]) -> tuple[str, ...]:
    """Names of elements that were given as themselves or by name, one or several."""
    if isinstance(given, str | Joint | Body) or not isinstance(given, Iterable):
        given = (given,)
    names: list[str] = []
    for item in given:
        name = item if isinstance(item, str) else getattr(item, "name", None)
        if not isinstance(name, str):
            raise ModelError(f"{model}: {argument} has {item!r}; expected a {kind.__name__.lower()} or its name")
        element = model[name]
        if not isinstance(element, kind) or isinstance(element, Ground):
            raise ModelError(f"{model}: {argument} names {element}; expected a {kind.__name__.lower()} of the model")
        names.append(name)
    return tuple(dict.fromkeys(names))
