"""One mechanism in several coordinates, and in a mixture of all of them: the motion is the same.

A node says how the rotation of a body is stored and advanced; joints and forces never see it. Which one to take is a
question of singularities, number of unknowns and accuracy per step, not of what can be modelled.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model() -> mbd.Model:
    """Three bars on a hinge, a universal joint and a hinge, with a torsion spring and a weight on a rod at the end."""
    system = mbd.Model("arm", gravity=(0, 0, -9.81))
    bars = []
    for k in range(3):
        node = mbd.nodes.RotationVector(position=(k + 0.5, 0, 0))
        shape = mbd.shapes.Capsule(radius=0.07, height=0.86, axis=(1, 0, 0))
        bar = mbd.RigidBody(f"bar {k + 1}", mass=1.0, inertia=(0.02, 0.1, 0.09), node=node, shape=shape)
        bars.append(system.add(bar))
    weight = system.add(mbd.PointMass("weight", mass=0.5, position=(3.4, 0, 0), velocity=(0, 1, 0)))
    joints = mbd.joints
    system.add(joints.Revolute(system.ground, bars[0], at=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    system.add(joints.Universal(bars[0], bars[1], at=(1, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 0, 1), name="elbow"))
    wrist = system.add(joints.Revolute(bars[1], bars[2], at=(2, 0, 0), axis=(0, 0, 1), name="wrist"))
    system.add(joints.Distance(bars[2], weight, point_a=(0.5, 0, 0), name="rod"))
    system.add(mbd.forces.TorsionSpring(wrist, stiffness=5.0, damping=0.1))
    return system


def main(t_end: float = 1.0, step: float = 1e-3, directory: Path | None = OUTPUT) -> float:
    """Print sizes and results in all coordinates; returns the largest difference between the final positions.

    The movie shows the mixture; ``directory=None`` writes none.
    """
    nodes = mbd.nodes
    arm = model()
    variants = {
        "rotation vectors (Lie)": arm,
        "quaternions": arm.with_nodes(nodes.Quaternion),
        "directors": arm.with_nodes(nodes.Directors),
        "Euler angles zxy": arm.with_nodes(nodes.EulerAngles(sequence="zxy")),
        "mixture": arm.with_nodes(
            {"bar 1": nodes.Directors, "bar 2": nodes.EulerAngles(sequence="zxy"), "bar 3": nodes.Quaternion(lie=True)}
        ),
    }
    print("coordinates              unknowns  constraints   weight at the end [m]")
    ends = []
    for name, variant in variants.items():
        solution = mbd.simulate(variant, t_end, step, mbd.integrators.RK4())
        ends.append(solution["weight"].position[-1])
        size = solution.system
        x, y, z = ends[-1]
        print(f"{name:24}{size.n_v:9d}{size.n_l:13d}{x:14.8f}{y:12.8f}{z:12.8f}")
    spread = float(np.ptp(ends, axis=0).max())
    print(f"largest difference: {spread:.1e} m")
    if directory is not None:
        mbd.view.film(solution, directory / "mixed_nodes.mp4", speed=0.2)
    return spread


if __name__ == "__main__":
    main()
