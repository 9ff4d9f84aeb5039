"""Every integrator with a user function that fails on the way; prints what each of them said.

Run with ``MBD_JIT=0 python -m tests.elements.failing_functions``: a few steps of one body need no compilation of all
methods.
"""

import math
import warnings

import mbd
from tests.integrators.every_method import METHODS, fitting

warnings.simplefilter("ignore")


def model_with(add):
    model = mbd.Model("failing")
    body = model.add(
        mbd.RigidBody("b", mass=1.0, inertia=(1.0, 1.0, 1.0), node=mbd.nodes.Quaternion(velocity=(1, 0, 0)))
    )
    add(model, body)
    return model


def in_time(t, frames, velocities):
    if t > 0.026:
        raise ValueError("too late")
    return (1.0, 0.0, 0.0)


def load_in_time(t):
    return (1.0 if t <= 0.026 else math.nan, 0.0, 0.0)


def in_space(frames):
    return math.sqrt(0.026 - frames[0, 0])  # as long as the body is not there


MODELS = {
    "force": model_with(lambda m, b: m.add(mbd.forces.Force(b, in_time, name="load"))),
    "load": model_with(lambda m, b: m.add(mbd.forces.Force(b, load_in_time, name="load"))),
    "potential": model_with(lambda m, b: m.add(mbd.forces.UserPotential(b, in_space, name="load"))),
}


def main():
    for name, method in METHODS.items():
        for kind, model in MODELS.items():
            try:
                chosen = fitting(method, model)
            except AssertionError:
                continue
            try:
                mbd.simulate(chosen, 0.06, 0.01, method, progress=False)
                print(name, kind, "finished")
            except mbd.UserFunctionError as error:
                good = "'load': its function r" in str(error) and 0.0 < error.solution.t[-1] < 0.04
                print(name, kind, "told" if good else f"{error} {error.solution.t}")
            except mbd.MbdError as error:
                print(name, kind, type(error).__name__, error)


if __name__ == "__main__":
    main()
