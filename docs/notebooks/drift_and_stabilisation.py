"""
Drift and stabilisation of constraints
======================================

Joints are equations between coordinates. On which level they are solved (positions, velocities, accelerations) decides
what drifts away.
"""

# %%
# A pendulum in absolute coordinates: :math:`M \dot v = f - B^T \lambda,\; g(q) = 0`. An explicit method needs
# accelerations, hence the equation differentiated twice, :math:`B \dot v + \gamma = 0` (**index 1**). Errors of a
# step then stay in :math:`g` for ever, and nothing brings them back: *drift*. Here is such a method, written in five
# lines, without any correction:

import matplotlib.pyplot as plt
import numpy as np

import mbd


class PlainHeun(mbd.integrators.PythonIntegrator):
    """Heun's method on index 1, with nothing that would bring it back to the constraints."""

    order = 2

    def step(self, system, t, q, v, h):
        first = system.accelerations(q, v, t)[0]
        end, end_velocity = system.update(q, h * v), v + h * first
        second = system.accelerations(end, end_velocity, t + h)[0]
        return system.update(q, 0.5 * h * (v + end_velocity)), v + 0.5 * h * (first + second)


model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
node = mbd.nodes.RotationVector(position=(0.5, 0, 0))
bar = model.add(mbd.RigidBody("bar", mass=1.0, inertia=(1e-3, 1 / 12, 1 / 12), node=node))
model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))

# %%
# Four ways through ten seconds with steps of 5 ms:
#
# * index 1 without correction,
# * ``RK4``: index 1 too, but projected back after each step,
# * generalized-alpha in **index 3**: positions are exact, velocities are not,
# * generalized-alpha in **stabilised index 2** (the default): both are exact.

methods = {
    "index 1, no correction": PlainHeun(),
    "RK4, projected": mbd.integrators.RK4(),
    "index 3": mbd.integrators.GeneralizedAlpha(stabilized=False),
    "stabilised index 2": mbd.integrators.GeneralizedAlpha(),
}
runs = {name: mbd.simulate(model, t_end=10.0, step=5e-3, integrator=method) for name, method in methods.items()}

figure, axes = plt.subplots(1, 2, figsize=(10, 3.4))
for name, run in runs.items():
    axes[0].semilogy(run.t[1:], np.maximum(run.constraint_error.position[1:], 1e-17), lw=1, label=name)
    axes[1].semilogy(run.t[1:], np.maximum(run.constraint_error.velocity[1:], 1e-17), lw=1)
axes[0].set(xlabel="t [s]", title="violation of positions [m or 1]")
axes[1].set(xlabel="t [s]", title="violation of velocities [m/s or 1/s]")
axes[0].legend(fontsize=8)
figure.tight_layout()
figure.savefig("drift.png", dpi=110)

for name, run in runs.items():
    error = run.constraint_error
    print(f"{name:24} positions {error.position.max():.1e}   velocities {error.velocity.max():.1e}")

# %%
# **Questions.** How does the drift of the first method depend on the step: halve it twice. What changes with
# ``model.with_coordinates("joint")``, in which the hinge is no equation at all?

joint = mbd.simulate(model.with_coordinates("joint"), 10.0, 5e-3)
print("joint coordinates:", joint.constraint_error.position.max(), joint.constraint_error.velocity.max())
