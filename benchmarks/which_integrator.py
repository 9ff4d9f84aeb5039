"""Which integrator for which kind of model: processor time to a given accuracy, measured.

    python benchmarks/which_integrator.py              all kinds, in some minutes
    python benchmarks/which_integrator.py stiff large  these

Every integrator that takes a model runs with steps that are halved until positions and rotations of all bodies at the
end are within the given error of a fine run of RK4, methods with step-size control with tolerances of a tenth each
time; what is printed is the processor time of the steps of that run, the better of two. Methods are found by
introspection; docs/which_integrator.md has what this prints.
"""

from __future__ import annotations

import contextlib
import functools
import io
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import mbd
from mbd.study.compatibility import all_integrators

ROTATION_VECTOR = mbd.nodes.RotationVector
HALVINGS = 5
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)  # of methods with step-size control
ROWS = 100  # records of theirs that are made at a time
LONGEST = 1.0  # s of processor time, after which a method is given up


class Kind(NamedTuple):
    """A kind of models with the largest step that is tried, and the error that is asked for."""

    model: Callable[[], mbd.Model]
    t_end: float
    step: float
    fine: float  # step of the reference
    error: float


def chain(count: int, joint: str = "Revolute", gravity: float = -9.81) -> mbd.Model:
    """Bars in a row, on hinges whose axes alternate or on balls."""
    model = mbd.Model("chain", gravity=(0, 0, gravity))
    last = model.ground
    for k in range(count):
        node = ROTATION_VECTOR(position=(k + 0.5, 0, 0))
        bar = model.add(mbd.RigidBody(f"bar {k}", 1.0, (0.02, 0.1, 0.09), node))
        axis = {"axis": (0, 1, 0) if k % 2 == 0 else (0, 1, 0.5)} if joint == "Revolute" else {}
        model.add(getattr(mbd.joints, joint)(last, bar, at=(k, 0, 0), name=f"joint {k}", **axis))
        last = bar
    return model


def driven() -> mbd.Model:
    """Two bars, of which a motor turns the first one as a function of time."""
    model = chain(2)
    model.add(mbd.joints.AngleDriver(model.ground, model["bar 0"], axis=(0, 1, 0), value=lambda t: 2.0 * t * t))
    return model


def stiff() -> mbd.Model:
    """Three bars on bushings, stiff and damped."""
    model = mbd.Model("stiff", gravity=(0, 0, -9.81))
    last, at = model.ground, (0, 0, 0)
    for k in range(3):
        bar = model.add(mbd.RigidBody(f"bar {k}", 1.0, (0.02, 0.1, 0.09), ROTATION_VECTOR(position=(k + 0.5, 0, 0))))
        where = {"point_a": at, "point_b": (-0.5, 0, 0)}
        model.add(mbd.forces.Bushing(last, bar, **where, stiffness=(1e6, 1e6, 1e6), damping=(1e3, 1e3, 1e3)))
        last, at = bar, (0.5, 0, 0)
    return model


def spinning() -> mbd.Model:
    """The heavy top with 1400 turns a minute."""
    model = mbd.Model("top", gravity=(0, 0, -9.81))
    start = ROTATION_VECTOR(position=(0, 1, 0), velocity=(4.61538, 0, 0), angular_velocity=(0, 150, -4.61538))
    top = model.add(mbd.RigidBody("top", 15.0, (0.234375, 0.46875, 0.234375), start))
    model.add(mbd.joints.Spherical(model.ground, top, at=(0, 0, 0)))
    return model


def conservative() -> mbd.Model:
    """Two bars on balls that swing gently, for long."""
    model = chain(2, "Spherical")
    return model.with_joint_values({"joint 0": mbd.rotation(axis=(0, 1, 0), angle=1.2)})


def contact() -> mbd.Model:
    """A bar that falls against a stiff stop."""
    model = chain(1)
    model.add(mbd.forces.JointLimit(model["joint 0"], upper=0.8, stiffness=2e4, damping=5.0))
    return model


def large() -> mbd.Model:
    """A hundred bars in a row."""
    return chain(100)


def real_time() -> mbd.Model:
    """Six bars under control of their joints."""
    model = chain(6)
    for k in range(6):
        model.add(mbd.forces.PDControl(model[f"joint {k}"], 0.3, kp=400.0, kd=40.0))
    return model


KINDS = {
    "driven": Kind(driven, 1.0, 0.02, 1e-4, 1e-3),
    "stiff": Kind(stiff, 0.3, 0.01, 1e-5, 1e-3),
    "spinning": Kind(spinning, 0.2, 2e-3, 1e-5, 1e-2),
    "long conservative": Kind(conservative, 20.0, 0.04, 1e-3, 1e-2),
    "contact-like": Kind(contact, 1.0, 0.01, 2e-5, 1e-3),
    "large": Kind(large, 0.2, 0.02, 5e-4, 1e-3),
    "real-time": Kind(real_time, 0.5, 0.02, 1e-4, 1e-2),
}


def measured(method: Any, system: Any, kind: Kind, step: float) -> tuple[float, np.ndarray]:
    """Processor time of the steps of a run, and the frames of all bodies at its end."""
    start, count = mbd.consistent_start(system), round(kind.t_end / step)
    run = method.start(system, start.q, start.v, 0.0, kind.t_end / count, None)
    rows = [np.zeros((1, len(row))) for row in run.row()]
    clock = time.process_time()
    if run.advance(count, count, rows) < count:
        raise mbd.ConvergenceError("stopped")
    return time.process_time() - clock, system.frames(rows[0][0])[1:]


def measured_with_control(method: Any, system: Any, kind: Kind) -> tuple[float, np.ndarray]:
    """The same of a method with step-size control, whose first step is the largest one."""
    start = mbd.consistent_start(system)
    run = method.start(system, start.q, start.v, 0.0, kind.step, None)
    times, rows = np.zeros(ROWS), [np.zeros((ROWS, len(row))) for row in run.row()]
    clock, made = time.process_time(), 0
    while run.t < kind.t_end:
        made = run.advance_to(kind.t_end, kind.t_end, times, rows)
        if run.failed:
            raise mbd.ConvergenceError("stopped")
    return time.process_time() - clock, system.frames(rows[0][made - 1])[1:]


def best_of(method: Any, system: Any, kind: Kind, expected: np.ndarray) -> tuple[str, float, float]:
    """What became of a method: "" with processor time and step, or why not."""
    try:
        method.check(system)
    except mbd.IncompatibleError:
        return "refuse", 0.0, 0.0
    choices = TOLERANCES if method.adaptive else [kind.step * 0.5**k for k in range(HALVINGS)]
    for choice in choices:
        if method.adaptive:
            run = functools.partial(measured_with_control, replace(method, rtol=choice, atol=choice), system, kind)
        else:
            run = functools.partial(measured, method, system, kind, choice)
        try:
            spent, frames = run()
            if np.abs(frames - expected).max() <= kind.error:
                return "", min(spent, run()[0]), choice
            if spent > LONGEST:
                break
        except mbd.MbdError:
            pass
    return "are not within the error at the smallest step or tolerance", 0.0, choice


def main() -> None:
    for name in sys.argv[1:] or KINDS:
        kind = KINDS[name]
        with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            system = mbd.assemble(kind.model())
            expected = measured(mbd.integrators.RK4(), system, kind, kind.fine)[1]
            methods = {m.name: m for m in all_integrators()}
            found = {name: best_of(m, system, kind, expected) for name, m in methods.items()}
        print(f"\n{name}, error {kind.error:g} at t = {kind.t_end:g}: {(kind.model.__doc__ or '').strip()}")
        good = sorted((item for item in found.items() if not item[1][0]), key=lambda item: item[1][1])
        for method, (_, spent, choice) in good:
            what = "tolerance" if methods[method].adaptive else "step"
            print(f"  {method[:40]:40s} {1e3 * spent:9.2f} ms, {what} {choice:.3g}")
        for why in sorted({x[0] for x in found.values()} - {""}):
            print(f"  {why}: " + ", ".join(m for m, x in found.items() if x[0] == why), flush=True)


if __name__ == "__main__":
    main()
