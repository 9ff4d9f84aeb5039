"""
First mechanism in five minutes
===============================

A four-bar linkage: built, checked, run, plotted and filmed. You need ``pip install 'mbd[view]'`` and nothing else. The
first run on a machine compiles for about half a minute and says so; later ones start at once.
"""

# %%
# Build
# -----
# A model has a name and gravity. Bodies have mass, inertia about the centre of mass, and a *node* that says where
# they are and in which coordinates they are described. Units are SI. Here three bars lead from a point of the ground
# to another one, 2 m away; a small function makes a bar from one point to another.

import numpy as np

import mbd

model = mbd.Model("four-bar", gravity=(0, 0, -9.81))


def bar(name, start, end):
    """A slender bar of 1 kg/m between two points."""
    start, end = np.array(start), np.array(end)
    length = np.linalg.norm(end - start)
    along = (end - start) / length
    rotation = np.column_stack((along, (0, 1, 0), np.cross(along, (0, 1, 0))))
    node = mbd.nodes.Quaternion(position=0.5 * (start + end), rotation=rotation)
    inertia = (1e-4 * length, length**3 / 12, length**3 / 12)
    shape = mbd.shapes.Capsule(radius=0.04, height=length, axis=(1, 0, 0))
    return model.add(mbd.RigidBody(name, mass=length, inertia=inertia, node=node, shape=shape))


A, B, C, D = (0, 0, 0), (0, 0, 1), (1.9, 0, 1.5), (2, 0, 0)
crank, coupler, rocker = bar("crank", A, B), bar("coupler", B, C), bar("rocker", C, D)

# %%
# Joints connect two bodies at a point of the world, in the configuration in which the model is built.
# ``model.ground`` is a body as well. Four hinges would hold a plane loop three times too often, so that their
# reactions would not be unique; joint C therefore holds its point in the plane and nothing more (lesson 4 tells why).

joints, ground = mbd.joints, model.ground
model.add(joints.Revolute(ground, crank, at=A, axis=(0, 1, 0), name="A"))
model.add(joints.Revolute(crank, coupler, at=B, axis=(0, 1, 0), name="B"))
model.add(joints.PointOnLine(coupler, rocker, at=C, axis=(0, 1, 0), name="C"))
model.add(joints.Revolute(ground, rocker, at=D, axis=(0, 1, 0), name="D"))
model.add(mbd.forces.TorsionSpring(model["A"], 0.0, damping=0.2, name="friction"))

# %%
# Diagnose
# --------
# Before anything moves: how many degrees of freedom, which motions, and do joints contradict each other?

print(mbd.diagnose(model))

# %%
# Simulate
# --------
# ``step`` is the step of the method and, unless ``output_step`` is given, the time from record to record.

solution = mbd.simulate(model, t_end=6.0, step=2e-3)
print(solution.summary())

# %%
# Results are read by element: ``solution[body].position``, ``.velocity``, ``solution[joint].force``, ``.angle`` ...
# (all of them are in the :doc:`table of channels </reference/channels>`).

print("crank turned by", np.degrees(solution["A"].angle[-1]).round(2), "degrees")
print("largest force in B:", np.linalg.norm(solution["B"].force, axis=1).max().round(2), "N")

# %%
# Plot
# ----

solution.plot("energy", "energy.png")
solution.plot("B.force", "force.png")

# %%
# Look
# ----
# A page that plays in any browser, without a network. Drag to turn the scene.

solution.html("four_bar.html", speed=0.5)

# %%
# And a movie for slides:

solution.movie("four_bar.mp4", speed=0.5, trails=[("coupler", (0, 0, 0.6))])

# %%
# **Exercises.** (1) Make the crank 0.5 m long: does it turn through? (2) Drive it at constant speed with
# ``mbd.joints.AngleDriver`` in place of joint A and plot the torque that this needs. (3) Replace joint C by a
# ``Revolute`` and read the warning.
