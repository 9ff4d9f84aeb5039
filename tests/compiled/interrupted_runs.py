"""A program that interrupts its own runs; prints what became of each (``test_interrupts.py`` reads it)."""

import os
import signal
import sys
import threading
import time
import warnings

import mbd

warnings.simplefilter("ignore")
seen = []


def drag(t, frames, velocities):  # not compiled: it appends to a list
    seen.append(t)
    return -2.0 * velocities


def scatter(k):
    """Waits from 1 to 60 ms that are spread evenly (van der Corput), without a seed."""
    x, base = 0.0, 0.5
    while k:
        x, k, base = x + base * (k % 2), k // 2, base / 2
    return 0.001 + 0.059 * x


def main(tries):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let background jobs ignore it
    lost = []
    sys.unraisablehook = lost.append
    for adaptive in (False, True):
        model = mbd.Model("p", gravity=(0, 0, -9.81))
        body = model.add(mbd.PointMass("b", 1.0))
        model.add(mbd.forces.UserForce(body, drag))
        method = mbd.integrators.DOPRI5(max_step=1e-4) if adaptive else mbd.integrators.RK4()
        mbd.simulate(model, 1e-3, 1e-4, method, progress=False)
        for k in range(tries):
            started = len(seen)
            interrupted = threading.Event()

            def interrupt(k=k, started=started, interrupted=interrupted):
                while len(seen) <= started + 100:  # in the run
                    time.sleep(0.001)
                time.sleep(scatter(k))
                interrupted.set()
                os.kill(os.getpid(), signal.SIGINT)

            threading.Thread(target=interrupt).start()
            solution = mbd.simulate(model, 1e4, 1e-4, method, output_step=0.1, progress=False)
            good = interrupted.is_set() and not solution.complete and solution.t[-1] < 1e4
            again = mbd.simulate(model, solution.state["t"] + 2e-4, 1e-4, method, start=solution, progress=False)
            seen.clear()
            print("stopped" if good and again.complete else f"lost {solution}", len(solution.t) > 0)
    print("unraisable", len(lost))


if __name__ == "__main__":
    main(int(sys.argv[1]))
