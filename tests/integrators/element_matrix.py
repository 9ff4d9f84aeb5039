"""Every joint and force beyond the simplest ones with every integrator: the same motion, or a refusal.

Run with ``MBD_JIT=0 python -m tests.integrators.element_matrix``: a few steps of tiny models need no compilation of all
methods. Prints one line per element with the methods that ran, and a line "WRONG ..." for each disagreement.
"""

from __future__ import annotations

import contextlib
import io
import warnings

import numpy as np

import mbd
from mbd import forces as f
from mbd.joints import AngleDriver, Gear, PositionDriver, Revolute, Rolling, Screw, UserConstraint
from mbd.study.compatibility import all_integrators

STEP, T_END = 5e-3, 0.02
NODES = [mbd.nodes.RotationVector(), mbd.nodes.Directors()]
# Deviation of the element's effect from that with RK4, by order; an element that is ignored has 1. Four steps of a
# constant force have the errors 1/4 and 1/16.
LIMIT = {1: 0.6, 2: 0.1}
Z = (0, 0, 1)


def two_bodies() -> mbd.Model:
    model = mbd.Model("pair", gravity=(0, 0, -9.81))
    node = mbd.nodes.RotationVector
    model.add(mbd.RigidBody("a", 1.0, (0.3, 0.4, 0.5), node(angular_velocity=(0, 0, 2.0), velocity=(0.3, 0, 0))))
    start = node(position=(1, 0, 0), angular_velocity=(0, 0, 1.0), velocity=(0, 0.5, 0))
    model.add(mbd.RigidBody("b", 2.0, (0.3, 0.5, 0.6), start))
    return model


def hinged(model: mbd.Model) -> mbd.Model:
    model.add(Revolute(model.ground, model["a"], at=(0, 0, 0), axis=Z, name="first"))
    model.add(Revolute(model.ground, model["b"], at=(1, 0, 0), axis=Z, name="second"))
    return model


def hanging(model: mbd.Model) -> mbd.Model:
    for name, at in (("a", (0.5, 0, 0)), ("b", (0.4, 0, 0.2))):
        body = model[name]
        body.velocity, body.angular_velocity = (0, 0, 0), (0, 0, 0)
        model.add(Revolute(model.ground, body, at=at, axis=(0, 1, 0), name=f"hinge of {name}"))
    return model


def free(model: mbd.Model) -> mbd.Model:
    return model


ELEMENTS = {
    "Screw": lambda m, a, b: Screw(m.ground, a, axis=Z, at=(0, 0, 0), pitch=0.5),
    "PositionDriver": lambda m, a, b: PositionDriver(
        m.ground, a, axis=(1, 0, 0), value=lambda t: 0.3 * t + 5.0 * t * t
    ),
    "Rolling": lambda m, a, b: Rolling(m.ground, a, radius=0.5, axis=(0, 1, 0)),
    "UserConstraint": lambda m, a, b: UserConstraint([a], lambda z, t: z[0, 2] - 0.5 * z[0, 0] * z[0, 0]),
    "UserForce": lambda m, a, b: f.UserForce([a, b], lambda t, z, v: -3.0 * v),
    "UserPotential": lambda m, a, b: f.UserPotential([a, b], lambda z: 9.0 * z[0, 0] * z[1, 1] + 3.0 * z[0, 3] ** 2),
    "Bushing": lambda m, a, b: f.Bushing(a, b, (0.5, 0.1, 0), (-0.4, 0, 0), stiffness=(30, 40, 50)),
    "GreenSpring": lambda m, a, b: f.GreenSpring(a, b, (0.1, 0, 0), (0, 0.1, 0), 30.0, 0.5),
    "NonlinearSpring": lambda m, a, b: f.NonlinearSpring(a, b, function=lambda x, v: 30.0 * x * x * x + v),
    "Drag": lambda m, a, b: f.Drag(b, coefficient=5.0),
    "Gravitation": lambda m, a, b: f.Gravitation(a, b, 10.0),
    "Force of time": lambda m, a, b: f.Force(a, lambda t: (20.0, 0.0, 0.0 * t), point=(0, 0.1, 0)),
    "follower force": lambda m, a, b: f.Force(a, (20.0, 0, 0), point=(0, 0.1, 0), frame="body"),
    "Force of frames": lambda m, a, b: f.Force(a, lambda t, z, v: (20.0 * z[0, 3], 0.0 * t, 0.0 * t)),
}
ON_HINGES = {
    "Gear": lambda m, a, b: Gear(m["first"], m["second"], ratio=2.0),
    "AngleDriver": lambda m, a, b: AngleDriver(m.ground, a, axis=Z, value=lambda t: 2.0 * t + 5.0 * t * t),
    "PDControl": lambda m, a, b: f.PDControl(m["first"], lambda t: 1.0, kp=50.0, kd=5.0),
    "JointForce": lambda m, a, b: f.JointForce(m["first"], lambda t, u, u_dot: 9.0 - 20.0 * u - u_dot + 0.0 * t),
    "JointLimit": lambda m, a, b: f.JointLimit(m["first"], upper=0.005, stiffness=3000.0, damping=2.0),
    "Motor": lambda m, a, b: f.Motor(m["first"], 9.0, gear=4.0, rotor_inertia=0.02),
    "TorsionSpring": lambda m, a, b: f.TorsionSpring(m["first"], 30.0, rest=0.5),
}


HANGING = {
    "GravityCompensation": lambda m, a, b: f.GravityCompensation(m["hinge of b"]),
}
ALL = ELEMENTS | ON_HINGES | HANGING


def final(model: mbd.Model, method: mbd.integrators.Integrator) -> np.ndarray:
    with contextlib.redirect_stderr(io.StringIO()):
        return mbd.simulate(model, T_END, STEP, method, progress=False).frames(-1)[1:3].ravel()


def main() -> None:
    warnings.simplefilter("ignore")
    rk4 = mbd.integrators.RK4()
    plain: dict[object, np.ndarray] = {}
    for name, add in ALL.items():
        prepared = hinged if name in ON_HINGES else hanging if name in HANGING else free
        without = prepared(two_bodies())
        model = prepared(two_bodies())
        model.add(add(model, model["a"], model["b"]))
        exact = final(model, rk4) - final(without, rk4)
        effect = np.abs(exact).max()
        ran = set()
        for method in all_integrators():
            for node in NODES:
                chosen = model.with_nodes(node)
                try:
                    method.check(mbd.assemble(chosen))
                except mbd.IncompatibleError:
                    continue
                try:
                    key = prepared, method, str(node)  # the method's own error without the element
                    if key not in plain:
                        plain[key] = final(without.with_nodes(node), method)
                    deviation = np.abs(final(chosen, method) - plain[key] - exact).max() / effect
                except Exception as error:  # of any kind: this is what the matrix looks for
                    print(f"WRONG {name}, {method.name}, {node}: {type(error).__name__}: {error}")
                    continue
                ran.add(method.name)
                if not deviation < LIMIT[min(method.order, 2)]:
                    print(f"WRONG {name}, {method.name}, {node}: off by {deviation:.2g} of its effect")
        print(f"{name}: {', '.join(sorted(ran))}", flush=True)


if __name__ == "__main__":
    main()
