"""Which integrator runs on which nodes, found by asking every integrator about small models."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import isabstract
from typing import Any

from .. import integrators
from ..bodies import Generalized, PointMass, RigidBody
from ..errors import IncompatibleError
from ..forces import Force, GreenSpring, Spring, UserForce
from ..integrators import Integrator, LivensEM, Trait
from ..joints import Distance, Gear, PositionDriver, Revolute, Rolling, Spherical, UserConstraint
from ..model import Model
from ..nodes import Directors, EulerAngles, Quaternion, RotationVector
from ..system.system import System, assemble

NODES: dict[str, Any] = {
    "Point": None,
    "Quaternion": Quaternion(lie=False),
    "Quaternion Lie": Quaternion(lie=True),
    "Directors": Directors(lie=False),
    "Directors Lie": Directors(lie=True),
    "RotationVector": RotationVector(lie=False),
    "RotationVector Lie": RotationVector(lie=True),
    "EulerAngles": EulerAngles(lie=False),
    "EulerAngles Lie": EulerAngles(lie=True),
    "Generalized": None,
}
FEATURES = {
    "free": "gravity only",
    "joints": "a joint to the ground; generalized coordinates: a constraint of their own",
    "damping": "a spring with a damper",
    "spring": "a spring whose law is a general function of frames (GreenSpring)",
    "load": "a force that depends on time",
    "driver": "a joint that moves as a function of time",
    "coupling": "two hinges and a gear between them",
    "rolling": "a ball that rolls without slipping",
    "user force": "a user's function as force",
    "user joint": "a user's function as constraint",
    "mixed": "bodies in these coordinates, as points and in others",
}
LETTERS = dict(zip(FEATURES, "fjdsltgrucm", strict=True))
Z = (0, 0, 1)


def small_model(node: str, feature: str, symmetric: bool = False) -> Model | None:
    """A model with a body in these coordinates and one of the FEATURES.

    ``symmetric``: the body has an axis of symmetry, also where a joint holds it. None where there is no such model.
    """
    model = Model(f"{node}, {feature}", gravity=(0, 0, -9.81))
    body: Any
    here, there = ((0, 0, 1), (1, 0, 0)) if symmetric else ((1, 0, 0), (0, 0, 1))
    if node == "Generalized":
        if feature not in ("free", "joints"):
            return None
        body = Generalized(
            "body", coordinates=[1.0, 0.0], velocities=[0.0, 1.0], mass=[[2.0, 0.0], [0.0, 1.0]],
            constraints=(lambda q: [0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)]) if feature == "joints" else None,
        )  # fmt: skip
    elif node == "Point":
        if feature in ("coupling", "rolling"):
            return None
        body = PointMass("body", mass=1.0, position=here, velocity=(0, 1, 0))
    else:
        inertia = (0.3, 0.3, 0.4) if symmetric else (0.2, 0.3, 0.4)
        body = RigidBody("body", mass=1.0, inertia=inertia, node=RotationVector(position=here, velocity=(0, 1, 0)))
    model.add(body)
    if node != "Generalized":
        _add_feature(model, body, feature, there)
    if NODES[node] is None:
        return model
    return model.with_nodes({"body": NODES[node]} if feature == "mixed" else NODES[node])


def _add_feature(model: Model, body: Any, feature: str, there: Any) -> None:
    """What the feature is about; ``there`` is a point away from the body."""
    ground, point = model.ground, isinstance(body, PointMass)
    if feature == "joints" and point:
        model.add(Distance(ground, body, point_a=(0, 0, 0), point_b=(0, 0, 0)))
    elif feature == "joints":
        model.add(Spherical(ground, body, at=(0, 0, 0)))
    elif feature == "damping":
        model.add(Spring(ground, body, there, (0, 0, 0), stiffness=3.0, length=1.0, damping=0.5))
    elif feature == "spring":
        model.add(GreenSpring(ground, body, there, (0, 0, 0), 3.0, 1.0))
    elif feature == "load":
        model.add(Force(body, lambda t: (0.0, 1.0, 2.0 * t)))
    elif feature == "driver":
        model.add(PositionDriver(ground, body, axis=(0, 1, 0), value=lambda t: 1.0 * t))
    elif feature == "coupling":
        other = RigidBody("other", mass=1.0, inertia=body.inertia, node=RotationVector(position=(3, 0, 0)))
        model.add(other)
        first = model.add(Revolute(ground, body, at=body.node.position, axis=Z, name="first"))
        second = model.add(Revolute(ground, other, at=(3, 0, 0), axis=Z, name="second"))
        model.add(Gear(first, second, ratio=2.0))
    elif feature == "rolling":
        model.add(Rolling(ground, body, radius=0.5))
    elif feature == "user force":
        model.add(UserForce([body], lambda t, z, v: -3.0 * v))
    elif feature == "user joint":
        model.add(UserConstraint([body], lambda z, t: z[0, 0] * z[0, 0] + z[0, 2] - 1.0))
    elif feature == "mixed":
        model.add(PointMass("point", mass=1.0, position=(0, 5, 0)))
        others = (
            [Directors(position=(0, 0, 5))] if point else [RotationVector((0, 0, 5)), Quaternion((0, 0, 8), lie=True)]
        )
        for k, node in enumerate(others):
            model.add(RigidBody(f"other {k}", mass=1.0, inertia=(0.3, 0.3, 0.4), node=node))


def all_integrators() -> list[Integrator]:
    """Every integrator of the package with its default parameters, and the forms of LivensEM that take fewer nodes."""
    classes = [getattr(integrators, name) for name in integrators.__all__]
    methods = [c() for c in classes if isinstance(c, type) and issubclass(c, Integrator) and not isabstract(c)]
    return [*methods, LivensEM(reduction="none"), LivensEM(reduction="nullspace")]


@dataclass(frozen=True)
class Compatibility:
    """The table of pairs; printing it shows which features each pair supports."""

    answers: dict[tuple[str, str, str], str]  # (integrator, node, feature) -> "" or the reason of the refusal
    methods: dict[str, Integrator]

    def supports(self, integrator: str | Integrator, node: str, feature: str = "free") -> bool:
        """Whether the pair works for one of the FEATURES."""
        return self.reason(integrator, node, feature) == ""

    def reason(self, integrator: str | Integrator, node: str, feature: str = "free") -> str:
        """Why a pair is refused, with the way out; empty if it is not."""
        name = integrator.name if isinstance(integrator, Integrator) else integrator
        return self.answers[name, node, feature]

    def rows(self) -> list[list[str]]:
        """One row per integrator: name, order, and per node what is supported: all, the LETTERS of some, or nothing."""
        table = []
        for name, method in self.methods.items():
            row = [name, str(method.order)]
            for node in NODES:
                known = [f for f in FEATURES if (name, node, f) in self.answers]
                good = [f for f in known if self.supports(name, node, f)]
                row.append("yes" if good == known else "-" if not good else "".join(LETTERS[f] for f in good))
            table.append(row)
        return table

    def __str__(self) -> str:
        head = ["integrator", "order", *NODES]
        rows = [head, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * w for w in widths))
        lines += ["", *(f"{LETTERS[name]}  {name}: {text}" for name, text in FEATURES.items())]
        return "\n".join(lines)


def compatibility() -> Compatibility:
    """Ask every integrator about every kind of node and all FEATURES, on symmetric bodies where it needs them."""
    systems: dict[tuple[str, str, bool], System] = {}
    for node in NODES:
        for feature in FEATURES:
            for symmetric in (False, True):
                model = small_model(node, feature, symmetric)
                if model is not None:
                    systems[node, feature, symmetric] = assemble(model)
    answers = {}
    methods = {method.name: method for method in all_integrators()}
    for name, method in methods.items():
        for (node, feature, symmetric), system in systems.items():
            if symmetric != needs_symmetry(method):
                continue
            try:
                method.check(system)
                answers[name, node, feature] = ""
            except IncompatibleError as error:
                answers[name, node, feature] = str(error)
    return Compatibility(answers, methods)


def needs_symmetry(method: Integrator) -> bool:
    """Whether a method is for bodies with an axis of symmetry."""
    return Trait.SYMMETRIC_BODIES in method.requires
