"""Rigid-body integrators: geometric properties, work against precision, speed and round-off.

python benchmarks/rigid_body.py                    print everything, save the figure to the current folder
python benchmarks/rigid_body.py --quick            without the run of ten million steps
python benchmarks/rigid_body.py --write-docs       also renew the generated parts of docs/rigid_body.md
"""

from __future__ import annotations

import argparse
import re
import time
from pathlib import Path

import numpy as np

import mbd
from mbd.integrators import (
    RK4,
    RK6,
    GeneralizedAlpha,
    Integrator,
    JacobiExact,
    MoserVeselov,
    NystromSplitting,
    RigidMidpoint,
    RotationSplitting,
    Strang,
    SymmetricSplitting,
)
from mbd.integrators.rigid_body.properties import DERIVATIVE, ROUND_OFF, measure

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs" / "rigid_body.md"
FIGURE = "rigid_body_work_precision.png"
BOOK, MOMENTUM = np.array((0.376, 0.627, 1.0)), np.array((0.0, 0.6, -0.8))
FREE = {
    "Jacobi's solution": JacobiExact(),
    "three rotations": RotationSplitting(),
    "symmetric body + rotation": SymmetricSplitting(),
    "discrete Moser-Veselov = RATTLE": MoserVeselov(),
    "implicit midpoint rule": RigidMidpoint(),
    "preprocessed DMV 4": MoserVeselov(order=4),
    "preprocessed DMV 6": MoserVeselov(order=6),
    "preprocessed DMV 8": MoserVeselov(order=8),
    "preprocessed DMV 10": MoserVeselov(order=10),
    "preprocessed DMV 12": MoserVeselov(order=12),
    "preprocessed DMV 14": MoserVeselov(order=14),
}


def book() -> mbd.Model:
    """The free body of Vilmart 2013, Fig. 1."""
    model = mbd.Model("book")
    model.add(mbd.RigidBody("book", 1.0, BOOK, mbd.nodes.RotationVector(angular_velocity=MOMENTUM / BOOK)))
    return model


def heavy_top() -> mbd.Model:
    """An asymmetric top that is pinned."""
    model = mbd.Model("top", gravity=(0, 0, -10.0))
    node = mbd.nodes.RotationVector(rotation=mbd.rotation((0.7, 0, 0)), angular_velocity=(0.5, 0.75, -0.8), pinned=True)
    model.add(mbd.RigidBody("top", 0.1, (0.5, 0.7, 1.0), node, com=(0, 0, 1)))
    return model


# --- table of geometric properties --------------------------------------------------------------------------------


def geometric_properties() -> str:
    """Table 2 of Vilmart 2013 from measurements."""
    lines = [
        "| method | order | drift of Qy | drift of C(y) | drift of H(y) | Poisson | symplectic | determinant - 1 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, method in FREE.items():
        p = measure(method)
        order = "exact" if np.isinf(p.order) else f"{p.order:.2f}"
        drifts = " | ".join(_verdict(x, ROUND_OFF) for x in (p.momentum, p.casimir, p.energy))
        maps = " | ".join(_verdict(x, DERIVATIVE) for x in (p.poisson, p.symplectic))
        lines.append(f"| {name} `{method!r}` | {order} | {drifts} | {maps} | {p.determinant - 1.0:.0e} |")
    return "\n".join(lines)


def _verdict(value: float, limit: float) -> str:
    return f"{'yes' if value < limit else 'no'} ({value:.0e})"


# --- work against precision ---------------------------------------------------------------------------------------


def timed(system: mbd.System, method: Integrator, step: float, count: int, every: int, repeats: int = 5) -> float:
    """Processor time of the compiled loop in s, the least of some runs."""
    q, v = system.initial_state()
    best = np.inf
    for _ in range(repeats):
        run = method.start(system, q, v, 0.0, step, None)
        out = [np.zeros((count // every + 1, len(row))) for row in run.initial_row()]
        clock = time.process_time()
        done = run.advance(count, every, out)
        best = min(best, time.process_time() - clock)
        assert done == count
    return best


def work_precision(
    model: mbd.Model, methods: dict[str, tuple[Integrator, list[float]]], t_end: float, exact: np.ndarray
) -> dict[str, tuple[list[float], list[float]]]:
    """For each method the errors of the last attitude and the times of the runs."""
    results = {}
    system = mbd.assemble(model)
    for name, (method, steps) in methods.items():
        errors, times = [], []
        for step in steps:
            solution = mbd.simulate(model, t_end, step, method, output_step=t_end, progress=False)
            errors.append(float(np.abs(solution[model.bodies[0]].rotation[-1] - exact).max()))
            count = round(t_end / step)
            times.append(timed(system, method, step, count, count, repeats=25 if count < 1000 else 10))
        results[name] = (errors, times)
    return results


def figure(path: Path) -> None:
    """All methods against Runge-Kutta-Munthe-Kaas and generalized-alpha, without and with gravity."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    low = [0.2 / 2**k for k in range(8)]
    high = [1.0 / 2**k for k in range(1, 7)]
    general = {
        "RKMK 4": (RK4(), low),
        "RKMK 6": (RK6(), low[:7]),
        "generalized-alpha": (GeneralizedAlpha(rho_inf=0.9), low),
    }
    free = {name: (method, high if method.order > 2 else low) for name, method in FREE.items()}
    free["Jacobi's solution"] = (JacobiExact(), [10.0])
    forced = {
        "Strang, DMV": (Strang(), low),
        "Strang, Jacobi": (Strang(JacobiExact()), low),
        "Strang, DMV 8": (Strang(MoserVeselov(order=8)), low),
        "Nystrom 4, Jacobi": (NystromSplitting(), low[:7]),
        "Nystrom 4, DMV 8": (NystromSplitting(MoserVeselov(order=8)), low[:7]),
    }
    exact = mbd.simulate(book(), 10.0, 10.0, JacobiExact())["book"].rotation[-1]
    reference = mbd.simulate(heavy_top(), 4.0, 0.002, NystromSplitting(), output_step=4.0)["top"].rotation[-1]
    fig, panels = plt.subplots(1, 2, figsize=(15, 5.5))
    for panel, model, methods, t_end, target, title in (
        (panels[0], book(), free | general, 10.0, exact, "free body (Vilmart's book), t = 10"),
        (panels[1], heavy_top(), forced | general, 4.0, reference, "asymmetric heavy top, t = 4"),
    ):
        for k, (name, (errors, times)) in enumerate(work_precision(model, methods, t_end, target).items()):
            style = {"ls": "--", "color": "0.2"} if name in general else {"ls": "-", "color": f"C{k}"}
            panel.loglog(times, np.maximum(errors, 1e-16), marker="osD^v<>"[k % 7], ms=4, lw=1.2, label=name, **style)
        panel.set(xlabel="processor time of the run in s", ylabel="error of the attitude", title=title)
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    fig.tight_layout()
    fig.savefig(path, dpi=120)
    plt.close(fig)


# --- speed and round-off ------------------------------------------------------------------------------------------


def one_body() -> list[str]:
    """Time per step of one body, with one record at the end and with a record of every step."""
    lines = ["| method | us per step | with every step recorded |", "|---|---|---|"]
    system, count = mbd.assemble(book()), 100_000
    forced = (Strang(MoserVeselov(order=8)), NystromSplitting(MoserVeselov(order=8)), NystromSplitting())
    for method in (*FREE.values(), *forced, RK4(), GeneralizedAlpha()):
        times = [timed(system, method, 0.01, count, every) / count * 1e6 for every in (count, 1)]
        first = "one evaluation" if method == JacobiExact() else f"{times[0]:.2f}"
        lines.append(f"| `{method.name}` | {first} | {times[1]:.2f} |")
    return lines


def many_bodies(count: int = 100_000) -> list[str]:
    """Time per body and step of a cloud."""
    rng = np.random.default_rng(0)
    model = mbd.Model("cloud")
    for _ in range(count):
        node = mbd.nodes.Quaternion(
            position=rng.normal(size=3), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3), lie=True
        )
        model.add(mbd.RigidBody(None, 1.0, np.sort(rng.uniform(0.6, 1.0, 3)), node))
    system = mbd.assemble(model)
    lines = ["| method | us per body and step |", "|---|---|"]
    for method in (MoserVeselov(), MoserVeselov(order=8), RotationSplitting(), SymmetricSplitting(), Strang()):
        best = timed(system, method, 0.01, 20, 20, repeats=3)
        lines.append(f"| `{method.name}`, {count} bodies | {best / 20 / count * 1e6:.3f} |")
    return lines


def round_off(count: int) -> list[str]:
    """Relative errors of the invariants in a long run of order eight."""
    step, records = 0.01, 100
    solution = mbd.simulate(book(), count * step, step, MoserVeselov(order=8), output_step=count * step / records)
    view = solution["book"]
    y = BOOK * view.angular_velocity
    in_space = np.einsum("nij,nj->ni", view.rotation, y)
    energy, casimir = solution.energy.total, 0.5 * np.square(y).sum(axis=1)
    slope = np.polyfit(solution.t / (1e6 * step), energy / energy[0], 1)[0]
    return [
        "| steps | H | drift of H per million steps | C | Qy | time |",
        "|---|---|---|---|---|---|",
        f"| {count} | {np.abs(energy / energy[0] - 1).max():.1e} | {slope:.1e} | "
        f"{np.abs(casimir / casimir[0] - 1).max():.1e} | {np.abs(in_space - in_space[0]).max():.1e} | "
        f"{solution.stats['wall_time']:.1f} s |",
    ]


def replace_part(text: str, name: str, content: str) -> str:
    """The text with a generated part renewed."""
    pattern = re.compile(rf"(<!-- {name}: generated -->\n).*?(\n<!-- end -->)", re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"{DOCS} has no part '{name}'")
    return pattern.sub(lambda m: m.group(1) + content + m.group(2), text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a million steps instead of ten")
    parser.add_argument("--write-docs", action="store_true", help="renew docs/rigid_body.md and its figure")
    parser.add_argument("--output", type=Path, default=Path(), help="folder of the figure")
    arguments = parser.parse_args()
    parts = {
        "properties": geometric_properties(),
        "one body": "\n".join(one_body()),
        "many bodies": "\n".join(many_bodies()),
        "round-off": "\n".join(round_off(10**6 if arguments.quick else 10**7)),
    }
    for name, content in parts.items():
        print(f"\n{name}\n\n{content}")
    folder = ROOT / "docs" / "images" if arguments.write_docs else arguments.output
    folder.mkdir(parents=True, exist_ok=True)
    figure(folder / FIGURE)
    print(f"\n{folder / FIGURE}")
    if arguments.write_docs:
        text = DOCS.read_text()
        for name, content in parts.items():
            text = replace_part(text, name, content)
        DOCS.write_text(text)


if __name__ == "__main__":
    main()
