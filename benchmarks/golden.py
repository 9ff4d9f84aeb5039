"""Hashes of what 84 runs record: a change that must not change any result is compared bit for bit.

    python benchmarks/golden.py write before.json     on the commit before
    python benchmarks/golden.py compare before.json   on the commit after

Positions, velocities, accelerations and multipliers are hashed apart, so that a change which is meant to concern one of
them shows that it leaves the others alone. The hashes belong to one machine and one version of the compiler: they are
made and compared on the same machine, and not kept in the repository.
"""

from __future__ import annotations

import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mbd
from mbd import integrators as methods
from mbd.nodes import Directors, EulerAngles, Quaternion, RotationVector

STEP, STEPS = 0.004, 60
QUANTITIES = {"q": "positions", "v": "velocities", "vd": "accelerations", "lam": "multipliers"}
LIE = {"rotation vector lie": RotationVector(), "quaternion lie": Quaternion(lie=True)}
PLAIN = {
    "quaternion": Quaternion(), "directors": Directors(), "rotation vector": RotationVector(lie=False),
    "euler": EulerAngles(sequence="zxy"),
}  # fmt: skip
DIRECTORS, QUATERNION = {"directors": Directors()}, {"quaternion": Quaternion()}


def loop() -> mbd.Model:
    """Four bars on spherical joints in a square, hung up at a corner by a spring with a damper, and pushed."""
    model = mbd.Model("loop", gravity=(0, 0, -9.81))
    bars = []
    for i, (x, y) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1))):
        inertia = (0.1, 0.7, 0.75) if x else (0.7, 0.1, 0.75)
        spin = (0.3, -0.2, 0.5)
        node = RotationVector(position=(x, y, 0), velocity=np.cross(spin, (x, y, 0)), angular_velocity=spin)
        bars.append(model.add(mbd.RigidBody(f"bar {i}", 2.0 + 0.1 * i, inertia, node)))
    for i, corner in enumerate(((1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0))):
        model.add(mbd.joints.Spherical(bars[i], bars[(i + 1) % 4], at=corner))
    corner, above = (0, 1, 0), (1, 1, 1.5)
    model.add(mbd.forces.Spring(model.ground, bars[0], above, corner, stiffness=300.0, length=1.2, damping=4.0))
    model.add(mbd.forces.Force(bars[2], lambda t: (0.0, 5.0 * t, 1.0), point=(0.1, 0.3, 0)))
    return model


def driven() -> mbd.Model:
    """A driven hinge, a universal joint and a slider with springs on all of them."""
    model = mbd.Model("driven", gravity=(0, 0, -9.81))
    a = model.add(
        mbd.RigidBody("a", 2.0, (0.3, 0.4, 0.5), RotationVector(position=(0.5, 0, 0)), com=(0.1, -0.05, 0.02))
    )
    b = model.add(mbd.RigidBody("b", 1.0, (0.1, 0.2, 0.15), RotationVector(position=(1.5, 0, 0))))
    c = model.add(mbd.RigidBody("c", 1.5, (0.1, 0.2, 0.15), RotationVector(position=(2.5, 0, 0)), com=(0, 0.1, 0)))
    model.add(mbd.joints.Revolute(model.ground, a, at=(0, 0, 0), axis=(0, 1, 1)))
    model.add(mbd.joints.AngleDriver(model.ground, a, axis=(0, 1, 1), value=lambda t: 0.8 * t * t))
    model.add(mbd.joints.Universal(a, b, at=(1, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1)))
    model.add(mbd.joints.Prismatic(b, c, at=(2, 0, 0), axis=(1, 0.2, 0)))
    model.add(mbd.forces.Spring(b, c, (0.1, 0.2, 0), (0, 0.1, 0), stiffness=50.0, length=0.7, damping=0.5))
    return model


def single() -> mbd.Model:
    """A free body under gravity."""
    model = mbd.Model("single", gravity=(0, 0, -9.81))
    node = RotationVector(velocity=(1, 0.5, 2), angular_velocity=(1.0, 4.0, -2.0))
    model.add(mbd.RigidBody("body", 2.0, (0.3, 0.5, 0.4), node))
    return model


def label(method: Any) -> str:
    """A method by the parameters that tell these runs apart, so that new ones and new defaults rename nothing."""
    told = {key: getattr(method, key) for key in ("stabilized", "newton", "reduction") if hasattr(method, key)}
    return f"{method.name}({', '.join(f'{key}={value!r}' for key, value in told.items())})"


def cases() -> Iterator[tuple[str, mbd.Model, Any]]:
    """(name, model, integrator) of every run."""
    mechanisms = {"loop": loop(), "driven": driven()}
    families: list[tuple[Any, dict[str, Any]]] = [
        (methods.GeneralizedAlpha(stabilized=False, newton="full"), LIE | PLAIN),
        (methods.GeneralizedAlpha(stabilized=True, newton="step"), LIE | PLAIN),
        (methods.RK4(), LIE | PLAIN),
        (methods.DOPRI5(), LIE),
        (methods.LieEM(), LIE),
        (methods.GonzalezEM(), DIRECTORS),
        *((method(), DIRECTORS) for method in (methods.GGLEuler, methods.GGLMidpoint, methods.GGLTrapezoidal)),
        *((method(), DIRECTORS) for method in (methods.GGLEM, methods.Shake, methods.Rattle, methods.Lobatto)),
        (methods.DiscreteVariational(), QUATERNION | DIRECTORS),
        (methods.LivensEM(), QUATERNION | DIRECTORS),
        (methods.LivensEM(reduction="none"), QUATERNION | DIRECTORS),
        (methods.LivensEM(reduction="nullspace"), QUATERNION),
        *((method(), QUATERNION) for method in (methods.LivensMidpoint, methods.HamiltonianEM)),
        (methods.HamiltonianMidpoint(), QUATERNION),
    ]
    for method, nodes in families:
        for kind, node in nodes.items():
            for name, model in mechanisms.items():
                yield f"{label(method)}, {kind}, {name}", model.with_nodes(node), method
    alone = single()
    for method in (methods.JacobiExact(), methods.RotationSplitting(), methods.MoserVeselov(), methods.RigidMidpoint()):
        yield f"{label(method)}, single", alone, method
    yield "Strang, single", alone, methods.Strang(methods.RotationSplitting())
    yield "NystromSplitting, single", alone, methods.NystromSplitting()


def hashes() -> dict[str, dict[str, str]]:
    """What every run records, as hashes; runs that a method refuses or that fail are recorded as such."""
    found = {}
    for name, model, method in cases():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                run = mbd.simulate(model, STEPS * STEP, STEP, method, progress=False)
            except (mbd.ModelError, mbd.IncompatibleError, mbd.ConvergenceError) as error:
                found[name] = {"stopped": type(error).__name__}
                continue
        found[name] = {key: hashlib.sha256(getattr(run, key).tobytes()).hexdigest()[:16] for key in QUANTITIES}
    return found


def main(command: str, file: str) -> int:
    present = hashes()
    if command == "write":
        Path(file).write_text(json.dumps(present, indent=1))
        print(f"{len(present)} runs hashed")
        return 0
    before = json.loads(Path(file).read_text())
    changed = 0
    for name in sorted(before.keys() | present.keys()):
        old, new = before.get(name, {}), present.get(name, {})
        parts = [QUANTITIES.get(key, key) for key in (*QUANTITIES, "stopped") if old.get(key) != new.get(key)]
        if parts:
            changed += 1
            print(f"{name}: {', '.join(parts)} changed")
    print(f"{len(before)} runs before, {len(present)} now, {changed} differ")
    return 1 if changed else 0


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "compare"):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
