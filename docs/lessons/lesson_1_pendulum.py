"""
Lesson 1: a pendulum
====================

One body, one joint, and a first number that can be checked: the period of large swings.
"""

# %%
# A bar of 1 m hangs on a hinge. ``at`` is a point of the world and ``axis`` a direction, both where the model is
# built: here the bar points to the right, along x, and the hinge turns about y.

import numpy as np
from scipy.special import ellipk

import mbd

model = mbd.Model("pendulum", gravity=(0, 0, -9.81))
bar = model.add(
    mbd.RigidBody(
        "bar",
        mass=1.0,
        inertia=(1e-4, 1 / 12, 1 / 12),  # about the centre of mass, in body axes
        node=mbd.nodes.Quaternion(position=(0.5, 0, 0)),
        shape=mbd.shapes.Capsule(radius=0.02, height=1.0, axis=(1, 0, 0)),
    )
)
hinge = model.add(mbd.joints.Revolute(model.ground, bar, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))

# %%
# Released from the horizontal it swings to the other side and back. An *event* is a zero of any function of the
# solution; here the angular velocity of the hinge, where the bar turns round.

turning = mbd.Event(lambda solution: solution["hinge"].angle_rate, direction=1, name="back at the start")
solution = mbd.simulate(model, t_end=4.0, step=1e-3, events=turning)
period = solution.events[0].t
print(f"period {period:.6f} s")

# %%
# Theory: with the inertia about the pivot, :math:`J = m l^2/3`, and :math:`\omega_0^2 = m g (l/2) / J`, the period
# for an amplitude :math:`\alpha` is :math:`4 K(\sin^2(\alpha/2)) / \omega_0`, a complete elliptic integral.

omega = np.sqrt(1.5 * 9.81)
exact = 4.0 * ellipk(np.sin(np.pi / 4) ** 2) / omega
print(f"exact  {exact:.6f} s, difference {period - exact:.1e} s")

# %%
# What the hinge carries: the force on the bar, in world axes. At the lowest point theory says
# :math:`m g (1 + 3/2) = 2.5\,m g`.

lowest = np.argmin(solution["bar"].position[:, 2])
print("force at the lowest point:", solution["hinge"].force[lowest].round(3), "N; 2.5 m g =", 2.5 * 9.81)
solution.plot("hinge.force", "force.png")

# %%
solution.html("pendulum.html")

# %%
# Exercises
# ---------
# 1. Start it at 60 degrees below the horizontal (``model.with_joint_values``), and check the period again.
# 2. How large may the step be for a period that is right to a millisecond?
# 3. Start it nearly upright. Why does the period depend so much on the angle there?
#
# Solutions
# ---------
# (1) Angles count from where the model was built, about +y: from the horizontal *down* is positive.

started = model.with_joint_values({"hinge": np.radians(60.0)})
run = mbd.simulate(started, t_end=4.0, step=1e-3, events=turning)
print(f"30 degrees: {run.events[0].t:.6f} s, exact {4.0 * ellipk(np.sin(np.pi / 12) ** 2) / omega:.6f} s")

# %%
# (2) The method is of second order:

for step in (0.04, 0.02, 0.01, 0.005):
    print(f"step {step}: error {mbd.simulate(model, 4.0, step, events=turning).events[0].t - exact:+.1e} s")

# %%
# (3) :math:`K` has a logarithmic singularity there: near the unstable equilibrium the pendulum hardly moves.

for angle in (-80.0, -89.0, -89.9):
    upright = model.with_joint_values({"hinge": np.radians(angle)})
    run = mbd.simulate(upright, t_end=12.0, step=1e-3, events=turning)
    print(f"{90 + angle:4.1f} degrees from upright: {run.events[0].t:.4f} s")
