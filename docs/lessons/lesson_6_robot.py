"""
Lesson 6: a robot
=================

Six joints, joint coordinates, a path of the hand, and the speed of all this.
"""

# %%
# The Puma 560 is one of the reference problems. Here it is, with PD control of its six joints:

import numpy as np

import mbd

benchmark = mbd.benchmarks.puma()
model = benchmark.model
print(mbd.diagnose(model))

# %%
# **Joint coordinates** suit robots: six unknowns instead of 36, no constraint equations, and far smaller errors.

robot = model.with_coordinates("joint")
print(robot.coordinates)

# %%
for name, variant in (("absolute", model), ("joint", robot)):
    run = mbd.simulate(variant, t_end=1.0, step=2e-3)
    micro = run.stats["wall_time"] / 500 * 1e6
    print(f"{name:9} {run.system.n_v:3} velocities, {run.system.n_l:3} equations, {micro:6.1f} us per step here")

# %%
solution = mbd.simulate(robot, t_end=2.0, step=2e-3)
solution.html("puma.html")
solution.plot("angle", "angles.png")

# %%
# **Matrices of the robot**: mass matrix, forces against gravity and Jacobian of the hand are functions of the system.

system = mbd.assemble(robot)
q, v = system.initial_state()
hand = model.bodies[-1]
print("mass matrix, condition", np.linalg.cond(system.mass_matrix(q).toarray()).round(1))
print("torques against gravity:", system.gravity_forces(q).round(2))
print("Jacobian of the hand:", system.jacobian(hand.name, (0, 0, 0), q).shape)

# %%
# **Files of other programs**: ``mbd.load_urdf("robot.urdf")`` and ``mbd.load_mjcf("robot.xml")`` make such models.
#
# Exercises
# ---------
# 1. Move the hand on a straight line: solve for joint rates with the Jacobian, step by step.
# 2. How does the error at t = 1 depend on the step, in both kinds of coordinates?
#
# Solutions
# ---------
# (1) Resolved-rate motion: :math:`\dot q = J^+ \dot x`, 20 cm along x in 200 small steps.

start = q.copy()
place = system.frames(q)[system.node_index(hand.name)][:3]
for _ in range(200):
    jacobian = system.jacobian(hand.name, (0, 0, 0), q)[:3]
    q = system.update(q, np.linalg.pinv(jacobian) @ (1e-3, 0, 0))
moved = system.frames(q)[system.node_index(hand.name)][:3] - place
print("hand moved by", moved.round(4), "m; joints by", np.degrees(q - start).round(2), "degrees")

# %%
# (2)

fine = mbd.simulate(robot, t_end=1.0, step=2.5e-4)
for name, variant in (("absolute", model), ("joint", robot)):
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        run = mbd.simulate(variant, t_end=1.0, step=step)
        errors.append(np.linalg.norm(run[hand.name].position[-1] - fine[hand.name].position[-1]))
    print(f"{name:9}", "  ".join(f"{error:.1e}" for error in errors), "m")
