"""
Energy in long runs
===================

A conservative system for a hundred thousand steps: which methods lose energy, which gain it, which keep it?
"""

# %%
# A chain of three bars on a ball joint swings without friction. Explicit Runge-Kutta methods and generalized-alpha
# dissipate (slowly, of their order); symplectic ones let the energy vibrate about the right value; energy-momentum
# methods keep it to round-off. One of the runs loses so much that it says so itself (MBD-W02).

import matplotlib.pyplot as plt
import numpy as np

import mbd

model = mbd.Model("chain", gravity=(0, 0, -9.81))
previous = model.ground
for k in range(3):
    node = mbd.nodes.RotationVector(position=(0.5 * k + 0.25, 0, 0))
    shape = mbd.shapes.Capsule(radius=0.03, height=0.5, axis=(1, 0, 0))
    bar = model.add(mbd.RigidBody(f"bar {k}", 1.0, (1e-3, 0.25 / 12, 0.25 / 12), node, shape=shape))
    model.add(mbd.joints.Spherical(previous, bar, at=(0.5 * k, 0, 0)))
    previous = bar

methods = {
    "RK4": (model, mbd.integrators.RK4()),
    "GeneralizedAlpha(0.9)": (model, mbd.integrators.GeneralizedAlpha()),
    "GeneralizedAlpha(0.6)": (model, mbd.integrators.GeneralizedAlpha(rho_inf=0.6)),
    "Rattle, symplectic": (model.with_nodes(mbd.nodes.Directors), mbd.integrators.Rattle()),
    "LieEM, energy-momentum": (model, mbd.integrators.LieEM()),
}
runs = {
    name: mbd.simulate(system, t_end=500.0, step=5e-3, integrator=method, output_step=0.25)
    for name, (system, method) in methods.items()
}

# %%
scale = 9.81 * (0.25 + 0.75 + 1.25)  # what the weights of the three bars can do in their fall
figure, ax = plt.subplots(figsize=(9, 3.6))
for name, run in runs.items():
    change = np.abs(run.energy.total - run.energy.total[0]) / scale
    ax.semilogy(run.t[1:], np.maximum(change[1:], 1e-17), lw=0.8, label=name)
    print(f"{name:24} largest change of energy {change.max():.1e}")
ax.set(xlabel="t [s]", title="change of the energy, relative")
ax.legend(fontsize=8, loc="center right")
figure.tight_layout()
figure.savefig("energy.png", dpi=110)

# %%
# The energy being right does not mean that the motion is: a chain like this is chaotic, and after some seconds all
# methods disagree about where it is. What remains meaningful are statistics, and these need the right energy.

late = {name: run[f"bar {2}"].position[-1].round(2) for name, run in runs.items()}
print(late)

# %%
# **Questions.** With which power of the step does the loss of RK4 fall? Which invariants besides the energy has this
# system, and what do the methods do with them (``solution.momentum.angular``)?
