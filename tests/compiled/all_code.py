"""Every element with every integrator, a step each: what does a process have to compile for that?

Run with ``python -m tests.compiled.all_code [integrators]``. Prints, as JSON, which elements each integrator took, and
the names of the functions that were compiled: nothing after ``python -m mbd warmup``. Each element acts on two bodies
of its own, so that all that an integrator takes are in one model.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import warnings
from collections.abc import Iterator

import numpy as np

import mbd
from mbd import forces, joints, nodes
from mbd.compiled import native
from mbd.study.compatibility import all_integrators
from tests.test_elements import FORCES, JOINTS_ON_JOINTS, LIE, build_joint, hinge, potential, public_classes, shaft

STEP = 1e-4
NODES = [
    nodes.RotationVector(lie=True),
    nodes.RotationVector(lie=False),
    nodes.Quaternion(lie=False),
    nodes.Directors(),
]
# Here the joints below a coupling must not be redundant: all methods are to take their step.
SHAFTS = {
    "Gear": lambda m, a, b: joints.Gear(hinge(m, m.ground, a), shaft(m, m.ground, b), -0.4),
    "RackPinion": lambda m, a, b: joints.RackPinion(hinge(m, m.ground, a), shaft(m, m.ground, b), 0.3),
}
assert set(SHAFTS) <= set(JOINTS_ON_JOINTS)


def makers():
    """Name and function (model, a, b) -> element of every element."""
    for cls in public_classes(joints, joints.Joint):
        yield cls.__name__, SHAFTS.get(cls.__name__, lambda m, a, b, cls=cls: build_joint(cls, a, b))
    for cls in public_classes(forces, forces.ForceElement):
        for variant, make in FORCES[cls.__name__].items():
            yield f"{cls.__name__} {variant}", make


ELEMENTS = dict(makers())


def pairs(chosen: dict[str, nodes.RigidNode]) -> mbd.Model:
    """A model with two bodies for each of these elements, in these coordinates."""
    rng = np.random.default_rng(1)
    model, given = mbd.Model("pairs", gravity=(0, 0, -9.81)), {}
    for k, (name, node) in enumerate(chosen.items()):
        a, b = (model.add(mbd.RigidBody(f"{side}{k}", 1.0, (0.3, 0.4, 0.5), LIE(rng))) for side in "ab")
        model.add(ELEMENTS[name](model, a, b))
        given |= {a.name: node, b.name: node}
    return model.with_nodes(given)


def lone_bodies() -> Iterator[mbd.Model]:
    """What some methods are made for: one free body, a point mass, and coordinates of the user's own."""
    for body in (
        mbd.RigidBody("free", 1.0, (0.3, 0.4, 0.5), nodes.RotationVector(angular_velocity=(1, 2, 3), lie=True)),
        mbd.RigidBody("pinned", 1.0, (0.3, 0.4, 0.5), nodes.Quaternion(pinned=True, lie=False)),
        mbd.PointMass("mass", 1.0, (1, 0, 0), (0, 1, 0)),
        mbd.Generalized("own", (0.3, -0.4, 0.7), (0.5, 1.1, -0.6), mass=(2.0, 1.0, 0.5), potential=potential),
    ):
        model = mbd.Model(body.name)
        model.add(body)
        yield model


def accepts(method: mbd.integrators.Integrator, system: mbd.System) -> bool:
    with contextlib.suppress(mbd.IncompatibleError):
        method.check(system)
        return True
    return False


def main(chosen: list[str]) -> None:
    warnings.simplefilter("ignore")
    single = {(name, node): mbd.assemble(pairs({name: node})) for name in ELEMENTS for node in NODES}
    lone = {model.name: (model, mbd.assemble(model)) for model in lone_bodies()}
    took: dict[str, list[str]] = {}
    for method in all_integrators():
        if chosen and method.name not in chosen:
            continue
        run = [model for model, system in lone.values() if accepts(method, system)]
        taken = {name: [node for node in NODES if accepts(method, single[name, node])] for name in ELEMENTS}
        mixture = {name: nodes[k % len(nodes)] for k, (name, nodes) in enumerate(taken.items()) if nodes}
        took[method.name] = [*(model.name for model in run), *mixture]
        if mixture:
            run.append(pairs(mixture))
        with contextlib.redirect_stderr(io.StringIO()):  # how far velocities were corrected
            for model in run:
                mbd.simulate(model, STEP, STEP, method, progress=False)
    print(json.dumps({"took": took, "elements": list(ELEMENTS), "compiled": native.compiled}))


if __name__ == "__main__":
    main(sys.argv[1:])
