"""A02 with 40 loops against Exudyn's planar formulation, in one run: ``python benchmarks/four_bars.py``.

mbd knows spatial bodies only: 81 bodies with 486 velocities and 485 equations. Exudyn's model is made of planar bodies:
243 velocities and 242 equations. Both use generalized-alpha with rho = 0.9, index 3, and the same steps; Exudyn takes
the faster of full and modified Newton and of its dense and sparse solvers.
"""

from __future__ import annotations

import os
import time

os.environ.setdefault("EXUDYN_MODULE", "fast")

import cases  # noqa: F401  (asks for one thread)
import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

import mbd

LOOPS, STEP, T_END, REPEATS = 40, 2.5e-3, 2.0, 3


def planar_model() -> tuple:
    """The mechanism of planar rigid bodies and planar revolute joints; also the sensor of the first post's top."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(items.ObjectGround())

    def rod(x: float, y: float, angle: float, velocity: list[float]) -> int:
        node = mbs.AddNode(items.Rigid2D(referenceCoordinates=[x, y, angle], initialVelocities=velocity))
        body = mbs.AddObject(items.RigidBody2D(mass=1.0, inertia=1.0 / 12.0, nodeNumber=node))
        weight = mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body))
        mbs.AddLoad(items.Force(markerNumber=weight, loadVector=[0, -9.81, 0]))
        return body

    def hinge(a: int, point_a: list[float], b: int, point_b: list[float]) -> None:
        markers = [
            mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=point))
            for body, point in ((a, point_a), (b, point_b))
        ]
        mbs.AddObject(items.RevoluteJoint2D(markerNumbers=markers))

    posts = [rod(i, 0.5, np.pi / 2, [0.5, 0.0, -1.0]) for i in range(LOOPS + 1)]
    for i, post in enumerate(posts):
        hinge(ground, [i, 0, 0], post, [-0.5, 0, 0])
    for i in range(LOOPS):
        beam = rod(i + 0.5, 1.0, 0.0, [1.0, 0.0, 0.0])
        hinge(posts[i], [0.5, 0, 0], beam, [-0.5, 0, 0])
        hinge(posts[i + 1], [0.5, 0, 0], beam, [0.5, 0, 0])
    top = mbs.AddSensor(
        items.SensorBody(
            bodyNumber=posts[0], localPosition=[0.5, 0, 0], writeToFile=False,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )  # fmt: skip
    mbs.Assemble()
    return container, mbs, top


def exudyn_settings(modified: bool, sparse: bool) -> exu.SimulationSettings:
    s = exu.SimulationSettings()
    s.timeIntegration.numberOfSteps = round(T_END / STEP)
    s.timeIntegration.endTime = T_END
    s.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    s.timeIntegration.newton.useModifiedNewton = modified
    s.solution.file.write = False
    s.linearSolver.solverType = exu.LinearSolverType.EigenSparse if sparse else exu.LinearSolverType.EXUdense
    return s


if __name__ == "__main__":
    reference = mbd.benchmarks.planar._four_bar_reference(LOOPS, T_END)
    exact = np.array((reference["x"], reference["y"]))
    steps = round(T_END / STEP)
    model = mbd.benchmarks.n_four_bar(LOOPS).model
    integrator = mbd.integrators.GeneralizedAlpha(rho_inf=0.9, stabilized=False, newton="full")
    times: dict[str, list[float]] = {}
    errors: dict[str, float] = {}
    system = mbd.assemble(model)
    for _ in range(REPEATS):  # in turn, because the speed of shared machines changes
        run = integrator.start(system, *system.initial_state(), 0.0, STEP, None)
        sizes = (system.n_q, system.n_v, system.n_v, system.n_l, len(system.work.turns))
        out = [np.zeros((steps, n)) for n in sizes]
        clock = time.process_time()
        run.advance(steps, 1, out)
        times.setdefault("mbd, spatial", []).append(time.process_time() - clock)
        post = system.frames(out[0][-1])[system.node_index("post 0")]
        errors["mbd, spatial"] = float(np.abs(post[:2] + 0.5 * post[3:5] - exact).max())
        for modified in (False, True):
            for sparse in (False, True):
                name = f"Exudyn, planar, {'modified' if modified else 'full'} Newton, {'sparse' if sparse else 'dense'}"
                _, mbs, sensor = planar_model()
                clock = time.process_time()
                done = mbs.SolveDynamic(exudyn_settings(modified, sparse))
                times.setdefault(name, []).append(time.process_time() - clock)
                found = np.array(mbs.GetSensorValues(sensor))[:2]
                errors[name] = float(np.abs(found - exact).max()) if done else float("nan")
    for name, values in times.items():
        print(f"{name}: {min(values) / steps * 1e6:.0f} us per step, error {errors[name]:.2e}")
