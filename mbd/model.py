"""The model: bodies, joints and forces under unique names, as people build it.

A model is the mutable description; ``assemble`` turns it into the fixed arrays of a system. Adding an element takes the
same short time however large the model is.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from mbd.bodies import Body, Ground
from mbd.bodies.other_nodes import chosen_nodes, take_node
from mbd.bodies.other_nodes import in_parameters_of as _in_parameters_of  # noqa: F401 - earlier pickles name it here
from mbd.elements.arguments import FilePath, Vector
from mbd.elements.attributes import declared, fixed
from mbd.elements.copying import translate_record, twin_of
from mbd.elements.element_list import Elements
from mbd.elements.making import RECORD, recorded_objects
from mbd.elements.parametrised import Parametrised
from mbd.elements.settling import before_change
from mbd.elements.suggestions import counted, did_you_mean
from mbd.elements.values import Parameter, in_force
from mbd.errors import ZERO3, ModelError, ModelWarning, bad_value, check_vector
from mbd.forces import ForceElement
from mbd.joints import Joint
from mbd.joints.topology import count_loops, joint_graph, spanning_tree
from mbd.joints.tree import JointCoordinates, JointTree, check_choice, joint_tree
from mbd.nodes import Node

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped]

Element = Body | Joint | ForceElement
NodeChoice = type[Node] | Node
E = TypeVar("E", bound=Element)


def _title(value: Any, owner: Any, argument: str) -> str:
    if not isinstance(value, str):
        raise bad_value("model", argument, value, "a text")
    return value


class Model(Parametrised):
    """A multibody model.

    Parameters
    ----------
    name: title of the model.
    gravity: acceleration of gravity, world axes; zero by default.

    Attributes: ``ground``, and the lists ``bodies`` (without the ground), ``joints`` and ``forces`` as added.

    >>> model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
    >>> ball = model.add(mbd.PointMass("ball", mass=2.0, position=(1, 0, 0)))
    >>> rod = model.add(mbd.joints.Distance(model.ground, ball, name="rod"))
    >>> model["rod"] is rod
    True
    >>> model
    <Model 'pendulum': 1 body, 1 joint, 0 forces, gravity (0.0, 0.0, -9.81)>
    """

    name = declared("Title of the model.", _title)
    gravity = declared("Acceleration of gravity, world axes.", check_vector)
    ground: Ground = fixed("The inertial frame.", "every model has its own ground")
    bodies: list[Body] = fixed("Bodies as added, without the ground.", "add bodies with model.add(...)")
    joints: list[Joint] = fixed("Joints as added.", "add joints with model.add(...)")
    forces: list[ForceElement] = fixed("Forces as added.", "add forces with model.add(...)")
    _elements: dict[str, Element] = fixed("All elements by name.", "add elements with model.add(...)")
    _counters: dict[str, int] = fixed("Numbers of generated names.", "they count generated names")
    _choice: JointCoordinates | None = fixed("The choice of joint coordinates.", "use with_coordinates(...)")
    _parameters: dict[str, Parameter] = fixed("Parameters and inputs by name.", "use parameter(...) and input(...)")
    _sent: dict[str, str | None] = {}  # of a model from another process: what its functions did there

    def __init__(self, name: str = "model", gravity: Vector = ZERO3) -> None:
        self._set(name=name, gravity=gravity, ground=Ground(), _parameters={})
        self._set(**{kind: Elements(forget=self._forget) for kind in ("bodies", "joints", "forces")})
        vars(self.ground)["model"] = self
        self._set(_elements={"ground": self.ground}, _counters={}, _choice=None)

    @classmethod
    def takes_input(cls, argument: str) -> bool:
        """Gravity may change during a run."""
        return argument == "gravity"

    # --- building

    def add(self, element: E) -> E:
        """Add a body, a joint or a force and return it."""
        kind = self._list_for(element)
        before_change(self)
        if element.model is not None:
            if element.model is self:
                raise ModelError(f"{self}: {element} has been added already; expected a new element")
            raise ModelError(
                f"{self}: {element} belongs to {element.model}; expected an element of no other model. "
                "Make a new one, or use copy() of that model [MBD-E16]"
            )
        if isinstance(element, Joint | ForceElement):
            self._check_references(element)
            with in_force(self._values()):
                element.check()
        self._check_values(element)
        if element.name:
            if element.name in self._elements:
                taken = self._elements[element.name]
                raise ModelError(
                    f"{self}: the name '{element.name}' is taken by {_article(taken)}; expected another name, or none "
                    "to have one generated [MBD-E14]"
                )
        else:
            vars(element)["name"] = self._new_name(element.label)
        vars(element)["model"] = self
        self._elements[element.name] = element
        list.append(kind, element)
        if isinstance(element, ForceElement):
            for part in element.parts:
                self.add(part)
        return element

    def remove(self, element: Element | str) -> None:
        """Take a body, a joint or a force out of the model, given as itself or by name; nothing may refer to it."""
        found = self[element.name if isinstance(element, Body | Joint | ForceElement) else element]
        if found not in self or isinstance(found, Ground) or (found is not element and not isinstance(element, str)):
            raise ModelError(f"{self}: cannot remove {element!r}; expected a body, a joint or a force of this model")
        self._list_for(found).remove(found)

    def _forget(self, gone: list[Any]) -> None:
        """Elements leave the model, unless others refer to them."""
        leaving = {id(x) for x in gone}
        others: list[Any] = [*self.joints, *self.forces]
        for other in others:
            if id(other) in leaving:
                continue
            parts = (*other.bodies, *getattr(other, "joints", ()), *(vars(other).get(f"joint_{k}") for k in "ab"))
            parts = (*parts, *getattr(other, "parts", ()))
            for part in parts:
                if id(part) in leaving:
                    raise ModelError(f"{self}: cannot remove {part}, because {other} refers to it; remove that first")
        for element in gone:
            del self._elements[element.name]
            vars(element)["model"] = None
        for element in gone:
            if isinstance(element, ForceElement):
                for part in element.leave():
                    del self._elements[part.name]
                    list.remove(self._list_for(part), part)
                    vars(part)["model"] = None

    def _list_for(self, element: Any) -> list[Any]:
        if isinstance(element, Ground):
            raise ModelError(f"{self}: a model has one ground, which is there already: model.ground")
        if isinstance(element, Body):
            return self.bodies
        if isinstance(element, Joint):
            return self.joints
        if isinstance(element, ForceElement):
            return self.forces
        advice = ""
        if isinstance(element, Node):
            advice = "; a node is given to a body: mbd.RigidBody(name, mass, inertia, node=...)"
        elif isinstance(element, type):
            advice = f"; write {element.__name__}(...) to make one"
        raise ModelError(f"{self}: cannot add {element!r}; expected a body, a joint or a force{advice}")

    def _check_references(self, element: Joint | ForceElement) -> None:
        for body in element.bodies:
            if body.model is not self:
                self._refuse_foreign(element, body)
        if isinstance(element, ForceElement):
            for joint in element.joints:
                if joint.model is not self:
                    self._refuse_foreign(element, joint)

    def _refuse_foreign(self, element: Element, other: Element) -> None:
        if other.model is None:
            raise ModelError(
                f"{self}: {element} refers to {other}, which is not in the model; expected it to be added first: "
                "model.add(...) [MBD-E16]"
            )
        raise ModelError(
            f"{self}: {element} refers to {other} of another {other.model}; expected elements of this model"
            + (" (each model has its own model.ground)" if isinstance(other, Ground) else "")
            + " [MBD-E16]"
        )

    def _new_name(self, label: str) -> str:
        number = self._counters.get(label, 0) + 1
        while f"{label} {number}" in self._elements:
            number += 1
        self._counters[label] = number
        return f"{label} {number}"

    # --- finding

    def __getitem__(self, name: str) -> Any:
        """The element with this name."""
        try:
            return self._elements[name]
        except (KeyError, TypeError):
            raise self._unknown(name) from None

    def _unknown(self, name: Any) -> ModelError:
        advice = did_you_mean(name, self._elements)
        if not advice:
            names = list(self._elements)
            advice = "expected one of " + ", ".join(repr(n) for n in names[:10]) + (" ..." if len(names) > 10 else "")
        return ModelError(f"{self}: no element is named {name!r}; {advice} [MBD-E15]")

    def __contains__(self, element: object) -> bool:
        """Whether an element, or one with this name, is in the model."""
        if isinstance(element, str):
            return element in self._elements
        return getattr(element, "model", None) is self and isinstance(element, Body | Joint | ForceElement)

    def __len__(self) -> int:
        """How many bodies, joints and forces it has."""
        return len(self.bodies) + len(self.joints) + len(self.forces)

    def __bool__(self) -> bool:
        """A model is one, empty or not."""
        return True

    def __iter__(self) -> Iterator[Any]:
        """Bodies, joints and forces, in this order."""
        return iter([*self.bodies, *self.joints, *self.forces])

    def _all(self) -> list[Any]:
        """The model and its elements, in the order in which they refer to each other."""
        return [self, self.ground, *self.bodies, *self.joints, *self.forces]

    def __format__(self, spec: str) -> str:
        """The model in a sentence: ``f"{model}"``."""
        return format(f"model '{self.name}'", spec)

    def __str__(self) -> str:
        """Tables of bodies, joints, forces and parameters: ``print(model)``."""
        from mbd.io.model_table import model_table

        return model_table(self)

    def __repr__(self) -> str:
        counts = counted(len(self.bodies), "body", "bodies"), counted(len(self.joints), "joint")
        forces, gravity = counted(len(self.forces), "force"), tuple(self.gravity.tolist())
        return f"<Model '{self.name}': {', '.join(counts)}, {forces}, gravity {gravity}>"

    # --- copies

    def copy(self) -> Model:
        """An independent copy; its joints and forces refer to its own bodies and keep their body-fixed data exactly."""
        return self._copy({})

    __copy__ = copy  # a shallow copy would share the lists

    def without_parameters(self) -> Model:
        """A copy with plain numbers, the present ones, in place of parameters and inputs.

        Functions of users that refer to parameters go on to do so, and are refused when it is assembled.
        """
        new = self._copy({})
        new._parameters.clear()
        for x in recorded_objects(new._all()):
            vars(x).pop(RECORD)
        return new

    def __reduce_ex__(self, protocol: Any) -> Any:
        """For other processes: with a note of what its functions refer to (``mbd.system.identity``)."""
        from mbd.system.identity import functions_of

        parts = super().__reduce_ex__(protocol)
        functions = functions_of(self)
        return (*parts[:2], {**parts[2], "_sent": functions}, *parts[3:]) if len(functions) > 1 else parts

    def with_nodes(self, nodes: NodeChoice | Mapping[str, NodeChoice] | Mapping[Body, NodeChoice]) -> Model:
        """A copy in other coordinates, with the same pose and velocity of every body.

        ``nodes`` is a node class for all rigid bodies (point masses and generalized bodies are left alone), or a
        dict from names of bodies to node classes. Instead of a class, a node serves as a template for its ``lie`` and
        ``sequence``: ``model.with_nodes(mbd.nodes.EulerAngles(sequence="zxz"))``. In joint coordinates the node of a
        body that a joint carries has no effect, which a warning says.

        >>> top = mbd.benchmarks.heavy_top().model
        >>> [type(body.node).__name__ for body in top.with_nodes(mbd.nodes.Quaternion).bodies]
        ['Quaternion']
        """
        replaced = chosen_nodes(self, nodes)
        self._warn_of_carried(replaced)
        return self._copy(replaced)

    def _warn_of_carried(self, chosen: Iterable[str]) -> None:
        """Say which nodes would be without effect: those of bodies whose coordinates are those of their joints."""
        edges = self.coordinates.carried if self._choice is not None else ()
        carriers = {edge.body.name: edge.joint.name for edge in edges if edge.joint is not None}
        idle = [name for name in chosen if name in carriers]
        if idle:
            others = f" and {len(idle) - 1} more" if len(idle) > 1 else ""
            warnings.warn(
                f"{self}: with_nodes has no effect on body '{idle[0]}'{others} in joint coordinates, which are those "
                f"of joint '{carriers[idle[0]]}'; use with_coordinates('joint', absolute=...) to give a body "
                "coordinates of its own, or spherical=... for rotations of balls",
                ModelWarning,
                stacklevel=3,
            )

    def with_coordinates(
        self,
        coordinates: Literal["absolute", "joint"],
        *,
        cut: Joint | str | Iterable[Joint | str] = (),
        absolute: Body | str | Iterable[Body | str] = (),
        spherical: NodeChoice | None = None,
    ) -> Model:
        """A copy in other coordinates: those of each body ("absolute"), or of the joints that carry it ("joint").

        In joint coordinates the joints of a spanning tree have no equations; what they leave free (angles,
        displacements, rotations) are the coordinates. Joints that close loops stay constraints, as do those that are
        not made of such motions (``Distance``, drivers, couplings, own ones). Bodies, joints and forces stay what they
        are, and ``print(model.coordinates)`` tells what has become of each joint.

        Parameters
        ----------
        cut: joints that shall stay constraints, or their names.
        absolute: bodies that shall keep their own nodes, or their names; all of their joints stay constraints.
        spherical: how the rotation of a Spherical is stored: a node class or template as in ``with_nodes``; default
            ``mbd.nodes.Quaternion(lie=True)``.
        """
        if coordinates not in ("absolute", "joint"):
            raise ModelError(f"{self}: coordinates is {coordinates!r}; expected 'absolute' or 'joint'")
        if coordinates == "absolute" and (cut != () or absolute != () or spherical is not None):
            raise ModelError(f"{self}: cut=, absolute=, spherical= belong to joint coordinates; leave them out")
        return self._with_choice(check_choice(self, cut, absolute, spherical) if coordinates == "joint" else None)

    def _in_coordinates_of(self, other: Model) -> Model:
        """A copy with the choice of coordinates of another model."""
        return self._with_choice(other._choice)

    def _with_choice(self, choice: JointCoordinates | None) -> Model:
        """A copy with a choice of joint coordinates, or none."""
        new = self._copy({})
        vars(new)["_choice"] = choice
        return new

    def with_joint_values(
        self,
        values: Mapping[str, Any] | Mapping[Joint, Any],
        rates: Mapping[str, Any] | Mapping[Joint, Any] | None = None,
    ) -> Model:
        """A copy that starts with these values, and rates, of some joints, in whatever coordinates it is.

        Bodies move along the tree of joints; joints that are not named keep their values and rates, unless a loop has
        to be closed: then they change as little as possible, and those that are named are met exactly.

        Parameters
        ----------
        values: from joints or their names (that of a file, where a body has it as well) to the angle or displacement;
            one number for each motion of a joint with several (``Cylindrical``: displacement, angle; ``Universal``: two
            angles; ``Planar``: two displacements, angle); for ``Spherical`` the rotation of the second body relative
            to the first one.
        rates: their time derivatives; for ``Spherical`` the angular velocity of the second body relative to the first
            one, in axes of the joint's frame on the second body.
        """
        from mbd.solvers.joint_values import with_joint_values

        return with_joint_values(self, values, rates)

    @property
    def coordinates(self) -> JointTree:
        """What carries each body, and which joints are constraints; ``print`` shows it as a table."""
        if self._choice is None:
            everything = tuple((body, "coordinates of each body") for body in self.bodies)
            return JointTree((), tuple((joint, "absolute coordinates") for joint in self.joints), everything)
        return joint_tree(self.bodies, self.joints, self.ground, self._choice.checked(self))

    def _copy(self, nodes: Mapping[str, Node]) -> Model:
        """A copy in which the named bodies have other nodes."""
        new = Model(self.name, self.gravity)
        vars(new)["_choice"] = self._choice
        new._counters.update(self._counters)
        new._parameters.update((name, copy.copy(x)) for name, x in self._parameters.items())
        if self._sent:
            vars(new)["_sent"] = self._sent
        twins: dict[int, Any] = {id(self.ground): new.ground, id(self): new}
        new.ground.shape = self.ground.shape
        pairs: list[tuple[list[Any], list[Any]]] = [
            (self.bodies, new.bodies),
            (self.joints, new.joints),
            (self.forces, new.forces),
        ]
        for old, target in pairs:
            for element in old:
                twin = twin_of(element, twins, Element, Node)
                vars(twin)["model"] = new
                list.append(target, twin)
                new._elements[twin.name] = twin
        translate_record(self, new, twins)
        for name, node in nodes.items():
            take_node(new[name], node)
        return new

    # --- files

    def save(self, path: FilePath) -> None:
        """Write the model to a JSON file, exact to the last digit; ``Model.load`` reads it."""
        from mbd.io.model_file import save_model

        save_model(self, path)

    @staticmethod
    def load(path: FilePath) -> Model:
        """Read a model that ``save`` wrote; a bad file is a ``ModelError`` that says where it is wrong."""
        from mbd.io.model_file import load_model

        return load_model(path)

    # --- topology

    @property
    def graph(self) -> networkx.MultiGraph:
        """Bodies (and the ground) as vertices by name, one edge per joint with the joint's name as key.

        Vertices carry the attribute ``body``, edges the attribute ``joint``. Each call builds a new graph.
        """
        return joint_graph(self.name, self.ground, self.bodies, self.joints)

    @property
    def loops(self) -> int:
        """Number of independent closed loops of joints."""
        return count_loops(self.bodies, self.joints)

    def spanning_tree(self) -> networkx.MultiGraph:
        """The part of the graph that reaches each body once, breadth first from the ground.

        Bodies without a path to the ground form trees of their own. The joints that are left out close the loops.
        """
        return spanning_tree(self.graph)


def _article(element: Element) -> str:
    if isinstance(element, Ground):
        return "the ground"
    return f"a {element.label}" if element.label[0] not in "aeiou" else f"an {element.label}"
