"""Speed of the core against Exudyn, in one run: ``python benchmarks/core.py [case ...]`` prints a table.

CPU time of one thread per step, best of several repeats; states at every step are recorded by mbd. Each measurement
is a process of its own; the two programs alternate, because the speed of shared machines changes over minutes.
"""

from __future__ import annotations

import json
import subprocess
import sys

CASES = {  # name: (step, steps, repeats, required ratio)
    "top": (1e-4, 10000, 5, 3.0),
    "pinned": (1e-4, 10000, 5, 3.0),
    "chain 10": (1e-3, 1000, 5, 4.0),
    "chain 100": (1e-3, 1000, 3, 4.0),
    "chain 1000": (1e-3, 300, 3, 4.0),
    "chain 10000": (1e-3, 30, 3, 5.0),
}
ROUNDS = 3
SETTINGS = {"rho_inf": 0.9, "stabilized": False, "newton": "full"}  # as Exudyn's: index 3, a matrix per iteration


def measure_mbd(name: str, h: float, steps: int, repeats: int, whole: bool) -> dict:
    """Microseconds per step, Newton iterations per step, peak memory; of the loop alone, or of ``mbd.simulate``."""
    import cases
    import numpy as np

    import mbd
    from mbd.system.system import assemble

    kind, _, size = name.partition(" ")
    model = cases.chain(int(size)) if kind == "chain" else cases.heavy_top() if kind == "top" else cases.pinned_top()
    integrator = mbd.integrators.RK4() if kind == "pinned" else mbd.integrators.GeneralizedAlpha(**SETTINGS)
    if whole:
        return measure_whole(model, integrator, h, steps, repeats)
    system = assemble(model)
    q, v = system.initial_state()
    best, run, out = float("inf"), None, None
    for _ in range(repeats):
        run = out = None  # before the next ones are made: memory is measured
        run = integrator.start(system, q, v, 0.0, h, None)
        out = [np.zeros((steps, len(row))) for row in run.initial_row()]
        best = min(best, cases.cpu_time(lambda run=run, out=out: run.advance(steps, 1, out), 1))
    assert run is not None
    stats = run.statistics()
    return {
        "time": best / steps * 1e6,
        "iterations": stats["newton_iterations"] / stats["steps"],
        "memory": cases.peak_memory(),
    }


def measure_whole(model: object, integrator: object, h: float, steps: int, repeats: int) -> dict:
    """The same of ``mbd.simulate`` as people call it, with a warm-up of a few steps; the model is there."""
    import cases

    import mbd

    mbd.simulate(model, 3 * h, h, integrator, progress=False)
    best = min(
        cases.cpu_time(lambda: mbd.simulate(model, steps * h, h, integrator, progress=False), 1) for _ in range(repeats)
    )
    return {"time": best / steps * 1e6, "memory": cases.peak_memory()}


def child(program: str, name: str) -> dict:
    """Measure in a new process."""
    command = [sys.executable, __file__, "--child", program, name]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(output.strip().splitlines()[-1])


def main(names: list[str]) -> None:
    """Measure and print a Markdown table."""
    print(
        "| case | Exudyn us/step | mbd loop us/step | ratio | required | iterations | mbd peak MB "
        "| mbd.simulate us/step | beside the loop | ratio | peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        peers, ours, whole = [], [], []
        for _ in range(ROUNDS):
            ours.append(child("mbd", name))
            whole.append(child("mbd whole", name))
            peers.append(child("exudyn", name)["time"])
        best = min(ours, key=lambda result: result["time"])
        run = min(whole, key=lambda result: result["time"])
        ratio = min(peers) / best["time"]
        print(
            f"| {name} | {min(peers):.1f} | {best['time']:.2f} | {ratio:.1f} | {CASES[name][3]:.0f} | "
            f"{best['iterations']:.2f} | {best['memory']:.0f} | {run['time']:.2f} | {run['time'] / best['time']:.2f} | "
            f"{min(peers) / run['time']:.1f} | {run['memory']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        program, name = sys.argv[2], sys.argv[3]
        step, steps, repeats, _ = CASES[name]
        if program.startswith("mbd"):
            result = measure_mbd(name, step, steps, repeats, program.endswith("whole"))
        else:
            from exudyn_peer import measure

            result = {"time": measure(name, step, steps, repeats)}
        print(json.dumps(result))
    else:
        main(sys.argv[1:] or list(CASES))
