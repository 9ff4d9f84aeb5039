"""
Lesson 4: closed loops and drivers
==================================

A slider-crank: a loop that must close, joints that may hold too much, and a motor that turns at a given speed.
"""

# %%
# Crank, rod and piston, in the plane y = 0. First with the joints that come to mind:

import numpy as np

import mbd


def engine(wrist_pin):
    """A slider-crank with a crank of 0.1 m and a rod of 0.3 m; ``wrist_pin(rod, piston, at)`` closes the loop."""
    model = mbd.Model("engine")
    shapes = mbd.shapes
    crank = model.add(
        mbd.RigidBody(
            "crank", 1.0, (1e-3, 1e-3, 1e-3), mbd.nodes.Quaternion(position=(0.05, 0, 0)),
            shape=shapes.Capsule(radius=0.012, height=0.1, axis=(1, 0, 0)),
        )
    )  # fmt: skip
    rod = model.add(
        mbd.RigidBody(
            "rod", 0.5, (1e-4, 4e-3, 4e-3), mbd.nodes.Quaternion(position=(0.25, 0, 0)),
            shape=shapes.Capsule(radius=0.01, height=0.3, axis=(1, 0, 0)),
        )
    )  # fmt: skip
    piston = model.add(
        mbd.RigidBody(
            "piston", 0.8, (1e-3, 1e-3, 1e-3), mbd.nodes.Quaternion(position=(0.4, 0, 0)),
            shape=shapes.Cylinder(radius=0.04, height=0.06, axis=(1, 0, 0)),
        )
    )  # fmt: skip
    model.add(mbd.joints.Revolute(model.ground, crank, at=(0, 0, 0), axis=(0, 1, 0), name="main bearing"))
    model.add(mbd.joints.Revolute(crank, rod, at=(0.1, 0, 0), axis=(0, 1, 0), name="crank pin"))
    model.add(wrist_pin(rod, piston, at=(0.4, 0, 0), axis=(0, 1, 0), name="wrist pin"))
    model.add(mbd.joints.Prismatic(model.ground, piston, axis=(1, 0, 0), name="cylinder"))
    return model


print(mbd.diagnose(engine(mbd.joints.Revolute)))

# %%
# Four joints with 20 equations hold 18 coordinates and leave one freedom: three equations are redundant. The motion
# would be right, the reactions of the joints not unique. The wrist pin need hold its point in the plane only:

model = engine(mbd.joints.PointOnLine)
found = mbd.diagnose(model)
print(found.dof, "degree of freedom,", found.redundant, "redundant equations")

# %%
# **A driver** turns the crank; its torque is what a motor would need. All motion is prescribed then: *kinematics*
# needs no integration, *inverse dynamics* gives the forces.

model.add(mbd.joints.AngleDriver.on(model["main bearing"], lambda t: 50.0 * t, name="motor"))
moving = mbd.inverse_dynamics(model, t_end=0.25, step=1e-3)
print(
    "torque between",
    moving["motor"].torque[:, 1].min().round(2),
    "and",
    moving["motor"].torque[:, 1].max().round(2),
    "N m",
)
moving.plot("motor.torque", "torque.png")
moving.html("engine.html", speed=0.05)

# %%
# The piston against the textbook: :math:`x = r\cos\varphi + \sqrt{l^2 - r^2\sin^2\varphi}`.

phi = 50.0 * moving.t
exact = 0.1 * np.cos(phi) + np.sqrt(0.09 - 0.01 * np.sin(phi) ** 2)
print("largest difference:", np.abs(moving["piston"].position[:, 0] - exact).max(), "m")

# %%
# Exercises
# ---------
# 1. How large is the force of the wrist pin, and where?
# 2. Replace the driver by a constant torque of 5 N m with a flywheel of 0.05 kg m^2 on the crank, and simulate.
# 3. What is special about the position in which the model was built?
#
# Solutions
# ---------
# (1)

force = np.linalg.norm(moving["wrist pin"].force, axis=1)
print(f"{force.max():.1f} N at {np.degrees(phi[force.argmax()]) % 360:.0f} degrees")

# %%
# (2) The inertia of a body can be changed; the next run takes it.

free = engine(mbd.joints.PointOnLine)
free["crank"].inertia = (1e-3, 0.05, 0.05)
free.add(mbd.forces.JointForce(free["main bearing"], 5.0))
run = mbd.simulate(free, t_end=1.0, step=5e-4)
print(
    f"after one second {run['main bearing'].angle_rate[-1]:.2f} rad/s, "
    f"{run['main bearing'].angle[-1] / 2 / np.pi:.2f} turns"
)

# %%
# (3) It is a dead centre: crank and rod are in line, and a force on the piston could not turn the crank.

print("velocity of the piston at the start:", moving["piston"].velocity[0].round(12))
