"""
Lesson 2: two bodies, many coordinates
======================================

A second bar, and the freedom to describe the same mechanism in other coordinates.
"""

# %%
# Models are built in Python: loops and functions make chains.

import numpy as np

import mbd


def chain(count, node=mbd.nodes.RotationVector):
    """Bars of 1 m, one behind the other along x, on hinges about y."""
    model = mbd.Model(f"chain of {count}", gravity=(0, 0, -9.81))
    previous = model.ground
    for k in range(count):
        shape = mbd.shapes.Capsule(radius=0.03, height=1.0, axis=(1, 0, 0))
        place = node(position=(k + 0.5, 0, 0))
        bar = model.add(mbd.RigidBody(f"bar {k + 1}", 1.0, (1e-3, 1 / 12, 1 / 12), place, shape=shape))
        model.add(mbd.joints.Revolute(previous, bar, at=(k, 0, 0), axis=(0, 1, 0), name=f"hinge {k + 1}"))
        previous = bar
    return model


model = chain(2)
print(mbd.diagnose(model))

# %%
# **The same motion in any coordinates.** ``with_nodes`` changes how bodies are described,
# ``with_coordinates("joint")`` takes the angles of the hinges themselves.

variants = {
    "rotation vectors": model,
    "quaternions": model.with_nodes(mbd.nodes.Quaternion(lie=False)),
    "directors": model.with_nodes(mbd.nodes.Directors(lie=False)),
    "angles of the hinges": model.with_coordinates("joint"),
}
for name, variant in variants.items():
    run = mbd.simulate(variant, t_end=2.0, step=1e-3, integrator=mbd.integrators.RK4())
    system = run.system
    print(
        f"{name:22} {system.n_q:3} coordinates, {system.n_l:3} equations, tip at {run['bar 2'].position[-1].round(7)}"
    )

# %%
# **Energy.** Nothing dissipates here, so that the energy says how good the run is.

run = mbd.simulate(model, t_end=10.0, step=2e-3)
print(run.summary())
run.plot("energy", "energy.png")
run.html("double.html")

# %%
# Exercises
# ---------
# 1. Change the start by a millionth of a radian. When do the two motions part? (A double pendulum is chaotic.)
# 2. Which integrator keeps the energy exactly? Try ``mbd.integrators.LieEM()``.
# 3. How does the time per step grow with the number of bars?
#
# Solutions
# ---------
# (1) The distance grows tenfold in about two seconds:

other = mbd.simulate(model.with_joint_values({"hinge 1": 1e-6}), t_end=10.0, step=2e-3)
distance = np.linalg.norm(run["bar 2"].position - other["bar 2"].position, axis=1)
for t in (1.0, 3.0, 5.0, 7.0, 9.0):
    print(f"t = {t}: {distance[np.searchsorted(run.t, t - 1e-9)]:.1e} m apart")

# %%
# (2)

kept = mbd.simulate(model, t_end=10.0, step=2e-3, integrator=mbd.integrators.LieEM())
print("LieEM:", np.ptp(kept.energy.total), "J; the default:", np.ptp(run.energy.total), "J")

# %%
# (3) Linearly; the time is in ``solution.stats["wall_time"]``.

for count in (10, 100, 300):
    long = mbd.simulate(chain(count), t_end=0.05, step=1e-3)
    print(f"{count:4} bars: {long.stats['wall_time'] / 50 / count * 1e6:.1f} us per bar and step, on this machine")
