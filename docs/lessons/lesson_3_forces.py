"""
Lesson 3: springs, dampers, friction, equilibrium
=================================================

Forces between bodies and on joints; where the mechanism comes to rest, and how it vibrates about that.
"""

# %%
# A boom on a hinge, held by a spring to a point above.

import numpy as np

import mbd

model = mbd.Model("boom", gravity=(0, 0, -9.81))
shape = mbd.shapes.Capsule(radius=0.03, height=1.2, axis=(1, 0, 0))
node = mbd.nodes.Quaternion(position=(0.6, 0, 0))
boom = model.add(mbd.RigidBody("boom", 3.0, (1e-3, 0.36, 0.36), node, shape=shape))
hinge = model.add(mbd.joints.Revolute(model.ground, boom, at=(0, 0, 0), axis=(0, -1, 0), name="hinge"))
spring = model.add(
    mbd.forces.Spring(
        model.ground, boom, (0, 0, 0.8), (0.2, 0, 0), stiffness=250.0, length=0.9, damping=1.0, name="spring"
    )
)

# %%
# Points of a spring are body-fixed, seen from the reference point of the body; those of the ground are world points.
# Positive angles of the hinge lift the boom, because its axis is -y.
#
# **Equilibrium**, without simulating for ever:

rest = mbd.equilibrium(model)
print(rest)

# %%
# **Vibrations** about it: frequencies and damping ratios of the linearised equations.

linear = mbd.linearize(rest.model, rest)
print(linear)

# %%
# The same from a simulation that begins 5 degrees away:

start = rest.model.with_joint_values({"hinge": rest.model["hinge"].at_start()[0] + np.radians(5.0)})
solution = mbd.simulate(start, t_end=5.0, step=1e-3)
angle = solution["hinge"].angle
middle = 0.5 * (angle[-500:].max() + angle[-500:].min())
crossings = solution.t[1:][np.diff(np.sign(angle - middle)) > 0]
print(f"frequency from the run: {1.0 / np.diff(crossings).mean():.3f} Hz, linear: {linear.frequencies[0]:.3f} Hz")
solution.plot("hinge.angle", "angle.png")
solution.html("boom.html")

# %%
# **Friction and stops** act on joints:

model.add(mbd.forces.JointFriction(hinge, coulomb=1.5))
model.add(mbd.forces.JointLimit(hinge, lower=-0.3, upper=0.6, stiffness=5e3, damping=20.0, name="stop"))
stuck = mbd.simulate(model, t_end=5.0, step=1e-3)
print("with friction it stops at", np.degrees(stuck["hinge"].angle[-1]).round(2), "degrees")

# %%
# Exercises
# ---------
# 1. Which stiffness holds the boom horizontal? (Use ``rest`` in a loop, or think.)
# 2. Where does the energy go? Integrate the power of friction, spring damper and stop, and compare with the change of
#    ``solution.energy.total``.
#
# Solutions
# ---------
# (1) Moment of the weight: 3 kg times 9.81 times 0.6 m. The spring pulls from (0.8, 0, 0) to (0, 0, 0.8): its lever
# is 0.8/sqrt(2) and its length 0.8 sqrt(2).

stiffness = 3.0 * 9.81 * 0.6 / (0.8 / np.sqrt(2)) / (0.8 * np.sqrt(2) - 0.9)
spring.stiffness = stiffness
print(f"{stiffness:.1f} N/m:", np.degrees(mbd.equilibrium(model).model["hinge"].at_start()[0]).round(6), "degrees")

# %%
# (2) ``solution.power`` contains everything that is not stored:

spring.stiffness = 250.0
run = mbd.simulate(model, t_end=5.0, step=1e-3)
work = np.trapezoid(run.power, run.t)
print(f"work {work:.4f} J, change of energy {run.energy.total[-1] - run.energy.total[0]:.4f} J")
