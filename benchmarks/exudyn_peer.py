"""The benchmark models in Exudyn (from PyPI; not a dependency of the package), with its fastest settings."""

from __future__ import annotations

import os

os.environ.setdefault("EXUDYN_MODULE", "fast")  # the variant without range checks

import cases
import exudyn as exu
import numpy as np
from exudyn.utilities import RigidBodyInertia

NODE = exu.NodeType.RotationRotationVector


def settings(h: float, steps: int, modified: bool, sparse: bool) -> exu.SimulationSettings:
    """Generalized-alpha with rho = 0.9 and no files."""
    s = exu.SimulationSettings()
    s.timeIntegration.numberOfSteps = steps
    s.timeIntegration.endTime = steps * h
    s.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    # without this Exudyn's Lie group generalized-alpha fails on the fast top; with it, on the chains
    s.timeIntegration.generalizedAlpha.lieGroupSimplifiedKinematicRelations = not sparse
    s.timeIntegration.newton.useModifiedNewton = modified
    s.solution.file.write = False
    if sparse:  # its sparse solver does not support the tangent operator in the matrix
        s.timeIntegration.generalizedAlpha.lieGroupAddTangentOperator = False
        s.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    return s


def heavy_top() -> tuple:
    """Heavy top with a spherical joint."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.CreateGround()
    top = mbs.CreateRigidBody(
        inertia=RigidBodyInertia(mass=cases.TOP_MASS, inertiaTensor=np.diag(cases.TOP_INERTIA)), nodeType=NODE,
        referencePosition=[0, 1, 0], initialVelocity=[4.61538, 0, 0], initialAngularVelocity=list(cases.TOP_SPIN),
        gravity=[0, 0, -cases.GRAVITY],
    )  # fmt: skip
    mbs.CreateSphericalJoint(bodyNumbers=[ground, top], position=[0, 0, 0])
    mbs.Assemble()
    return container, mbs


def pinned_top() -> tuple:
    """The top without constraints: the node sits in the fixed point and a balancing force keeps it there."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    c = np.array([0.0, 1.0, 0.0])
    inertia = np.diag(cases.TOP_INERTIA) + cases.TOP_MASS * (np.eye(3) - np.outer(c, c))
    top = mbs.CreateRigidBody(
        inertia=RigidBodyInertia(mass=cases.TOP_MASS, inertiaTensor=inertia), nodeType=NODE,
        initialAngularVelocity=list(cases.TOP_SPIN),
    )  # fmt: skip
    force = np.array([0.0, 0.0, -cases.GRAVITY * cases.TOP_MASS])
    mbs.CreateForce(bodyNumber=top, loadVector=list(force), localPosition=list(c))
    mbs.CreateForce(bodyNumber=top, loadVector=list(-force), localPosition=[0, 0, 0])
    mbs.Assemble()
    return container, mbs


def chain(n: int) -> tuple:
    """n bars with spherical joints."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    previous = mbs.CreateGround()
    for i in range(n):
        bar = mbs.CreateRigidBody(
            inertia=RigidBodyInertia(mass=cases.BAR_MASS, inertiaTensor=np.diag(cases.BAR_INERTIA)), nodeType=NODE,
            referencePosition=[(i + 0.5) * cases.BAR_LENGTH, 0, 0], gravity=[0, 0, -cases.GRAVITY],
        )  # fmt: skip
        mbs.CreateSphericalJoint(bodyNumbers=[previous, bar], position=[i * cases.BAR_LENGTH, 0, 0], show=False)
        previous = bar
    mbs.Assemble()
    return container, mbs


def measure(name: str, h: float, steps: int, repeats: int) -> float:
    """Microseconds of CPU time per step with the faster of full and modified Newton."""
    best = float("inf")
    kind, _, size = name.partition(" ")
    for modified in (False, True):
        for _ in range(repeats):
            if kind == "chain":
                _, mbs = chain(int(size))
            else:
                _, mbs = heavy_top() if kind == "top" else pinned_top()
            s = settings(h, steps, modified, sparse=kind == "chain")
            solver = exu.DynamicSolverType.RK44 if kind == "pinned" else exu.DynamicSolverType.GeneralizedAlpha
            best = min(
                best, cases.cpu_time(lambda mbs=mbs, s=s, solver=solver: mbs.SolveDynamic(s, solverType=solver), 1)
            )
        if kind == "pinned":
            break
    return best / steps * 1e6
