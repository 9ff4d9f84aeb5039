"""Two integrators, one scene: a chain run with a small and with a large step, drawn on top of each other.

Writes a movie and a page for the browser to ``out/``; ``python examples/view_two_runs.py show`` opens a window.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out"


def model(links: int = 6) -> mbd.Model:
    """Capsules on hinges whose axes are not parallel, released from the horizontal."""
    system = mbd.Model("chain", gravity=(0, 0, -9.81))
    last: mbd.Ground | mbd.RigidBody = system.ground
    length, height = 0.4, 2.6
    shape = mbd.shapes.Capsule(radius=0.035, height=length - 0.07, axis=(1, 0, 0))
    for k in range(links):
        node = mbd.nodes.RotationVector(position=((k + 0.5) * length, 0, height))
        link = system.add(mbd.RigidBody(f"link {k + 1}", 1.0, (1e-3, 0.014, 0.014), node=node, shape=shape))
        axis = (0, np.cos(0.5 * (k % 2)), np.sin(0.5 * (k % 2)))
        system.add(mbd.joints.Revolute(last, link, at=(k * length, 0, height), axis=axis, name=f"hinge {k + 1}"))
        last = link
    return system


def main(t_end: float = 3.0, directory: Path = OUTPUT, show: bool = False) -> list[mbd.Solution]:
    """Run both and draw them in one scene."""
    chain = model()
    runs = [
        mbd.simulate(chain, t_end, 1e-3, mbd.integrators.RK4()),
        mbd.simulate(chain, t_end, 2e-2, mbd.integrators.GeneralizedAlpha(rho_inf=0.6)),
    ]
    if show:
        mbd.show(runs)
        return runs
    directory.mkdir(parents=True, exist_ok=True)
    print(f"wrote {mbd.view.html(runs, directory / 'two_runs.html')}")
    mbd.view.film(runs, directory / "two_runs.mp4")
    return runs


if __name__ == "__main__":
    main(show="show" in sys.argv[1:])
