"""Speed of the core against Exudyn, in one run: ``python benchmarks/core.py [case ...]`` prints a table, and
``python benchmarks/core.py fresh`` the time from nothing to the solution of a short run.

CPU time of one thread per step, best of several repeats; states at every step are recorded by mbd. Each measurement
is a process of its own; the two programs alternate, because the speed of shared machines changes over minutes. Peak
memory is that of these processes, which import both programs where Exudyn is measured.
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


def measure_fresh() -> dict:
    """Milliseconds from nothing to the solution of a heavy top over ten steps, in turns: mbd, Exudyn."""
    import cases
    import exudyn as exu
    import exudyn_peer

    import mbd

    integrator, h, steps = mbd.integrators.GeneralizedAlpha(**SETTINGS), 1e-4, 10

    def ours() -> None:
        mbd.simulate(cases.heavy_top(), steps * h, h, integrator, progress=False)

    def theirs() -> None:
        _container, mbs = exudyn_peer.heavy_top()
        mbs.SolveDynamic(
            exudyn_peer.settings(h, steps, True, sparse=False), solverType=exu.DynamicSolverType.GeneralizedAlpha
        )

    pairs = [(cases.cpu_time(ours, 1), cases.cpu_time(theirs, 1)) for _ in range(100)]
    return {"mbd": 1e3 * min(a for a, _ in pairs), "exudyn": 1e3 * min(b for _, b in pairs)}


def child(program: str, name: str) -> dict:
    """Measure in a new process."""
    command = [sys.executable, __file__, "--child", program, name]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return json.loads(output.strip().splitlines()[-1])


def main(names: list[str]) -> None:
    """Measure and print a Markdown table."""
    print(
        "| case | Exudyn us/step | mbd loop us/step | ratio | required | iterations | mbd peak MB "
        "| mbd.simulate us/step | beside the loop | ratio | peak MB | Exudyn peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        peers, ours, whole = [], [], []
        for _ in range(ROUNDS):
            ours.append(child("mbd", name))
            whole.append(child("mbd whole", name))
            peers.append(child("exudyn", name))
        best = min(ours, key=lambda result: result["time"])
        run = min(whole, key=lambda result: result["time"])
        other = min(result["time"] for result in peers)
        ratio = other / best["time"]
        print(
            f"| {name} | {other:.1f} | {best['time']:.2f} | {ratio:.1f} | {CASES[name][3]:.0f} | "
            f"{best['iterations']:.2f} | {best['memory']:.0f} | {run['time']:.2f} | {run['time'] / best['time']:.2f} | "
            f"{other / run['time']:.1f} | {run['memory']:.0f} | {min(result['memory'] for result in peers):.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["fresh"]:
        found = measure_fresh()
        print(f"fresh heavy top, ten steps: mbd {found['mbd']:.2f} ms, Exudyn {found['exudyn']:.2f} ms")
    elif sys.argv[1:2] == ["--child"]:
        program, name = sys.argv[2], sys.argv[3]
        step, steps, repeats, _ = CASES[name]
        if program.startswith("mbd"):
            result = measure_mbd(name, step, steps, repeats, program.endswith("whole"))
        else:
            import cases
            from exudyn_peer import measure

            result = {"time": measure(name, step, steps, repeats), "memory": cases.peak_memory()}
        print(json.dumps(result))
    else:
        main(sys.argv[1:] or list(CASES))
