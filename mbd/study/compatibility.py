"""Which integrator runs on which nodes, found by asking every integrator about small models."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import isabstract
from typing import Any

from .. import integrators
from ..bodies import Generalized, PointMass, RigidBody
from ..errors import IncompatibleError
from ..forces import Spring
from ..integrators import Integrator, LivensEM
from ..joints import Distance, Spherical
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
FEATURES = ("free", "joints", "damping")


def small_model(node: str, feature: str) -> Model | None:
    """A model with one body in these coordinates: without anything, held by a joint (generalized coordinates: by a
    constraint of their own), or with a damper.

    None where the combination does not exist.
    """
    model = Model(f"{node}, {feature}", gravity=(0, 0, -9.81))
    body: Any
    if node == "Generalized":
        if feature == "damping":
            return None
        body = Generalized(
            "body", coordinates=[1.0, 0.0], velocities=[0.0, 1.0], mass=[[2.0, 0.0], [0.0, 1.0]],
            constraints=(lambda q: [0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)]) if feature == "joints" else None,
        )  # fmt: skip
    elif node == "Point":
        body = PointMass("body", mass=1.0, position=(1, 0, 0), velocity=(0, 1, 0))
    else:
        body = RigidBody(
            "body", mass=1.0, inertia=(0.2, 0.3, 0.4), node=RotationVector(position=(1, 0, 0), velocity=(0, 1, 0))
        )
    model.add(body)
    if feature == "joints" and node == "Point":
        model.add(Distance(model.ground, body, point_a=(0, 0, 0), point_b=(0, 0, 0)))
    elif feature == "joints" and node != "Generalized":
        model.add(Spherical(model.ground, body, at=(0, 0, 0)))
    elif feature == "damping":
        model.add(Spring(model.ground, body, (0, 0, 1), (0, 0, 0), stiffness=3.0, length=1.0, damping=0.5))
    return model if NODES[node] is None else model.with_nodes(NODES[node])


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
        """Whether the pair works for this feature: "free", "joints" or "damping"."""
        return self.reason(integrator, node, feature) == ""

    def reason(self, integrator: str | Integrator, node: str, feature: str = "free") -> str:
        """Why a pair is refused, with the way out; empty if it is not."""
        name = integrator.name if isinstance(integrator, Integrator) else integrator
        return self.answers[name, node, feature]

    def rows(self) -> list[list[str]]:
        """One row per integrator: name, order, and per node what is supported: all, some features, or nothing."""
        table = []
        for name, method in self.methods.items():
            row = [name, str(method.order)]
            for node in NODES:
                known = [f for f in FEATURES if (name, node, f) in self.answers]
                good = [f for f in known if self.supports(name, node, f)]
                row.append("yes" if good == known else "-" if not good else " ".join(good))
            table.append(row)
        return table

    def __str__(self) -> str:
        head = ["integrator", "order", *NODES]
        rows = [head, *self.rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(head))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        lines.insert(1, "  ".join("-" * w for w in widths))
        return "\n".join(lines)


def compatibility() -> Compatibility:
    """Ask every integrator about every kind of node, without constraints, with joints, and with damping."""
    systems: dict[tuple[str, str], System] = {}
    for node in NODES:
        for feature in FEATURES:
            model = small_model(node, feature)
            if model is not None:
                systems[node, feature] = assemble(model)
    answers = {}
    methods = {method.name: method for method in all_integrators()}
    for name, method in methods.items():
        for (node, feature), system in systems.items():
            try:
                method.check(system)
                answers[name, node, feature] = ""
            except IncompatibleError as error:
                answers[name, node, feature] = str(error)
    return Compatibility(answers, methods)
