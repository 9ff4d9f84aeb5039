"""
Lesson 5: motors and control
============================

An arm of two links that follows a path: computed torques, feedback, limits, and what happens without a model.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

import mbd


def arm():
    """Two links in the vertical plane."""
    model = mbd.Model("arm", gravity=(0, 0, -9.81))
    previous = model.ground
    for k, (length, mass) in enumerate(((0.7, 4.0), (0.6, 2.0))):
        start = 0.7 * k
        node = mbd.nodes.RotationVector(position=(start + 0.5 * length, 0, 0))
        shape = mbd.shapes.Capsule(radius=0.05 - 0.015 * k, height=length, axis=(1, 0, 0))
        inertia = (0.01, mass * length**2 / 12, mass * length**2 / 12)
        link = model.add(mbd.RigidBody(("upper", "lower")[k], mass, inertia, node, shape=shape))
        name = ("shoulder", "elbow")[k]
        model.add(mbd.joints.Revolute(previous, link, at=(start, 0, 0), axis=(0, -1, 0), name=name))
        previous = link
    return model


def path(t):
    """Angle of both joints: from 0 to 1 rad in one second, smoothly, then constant."""
    s = min(max(t, 0.0), 1.0)
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


# %%
# **Computed torques.** Drive both joints along the path and read the torques that this takes:

driven = arm()
for name in ("shoulder", "elbow"):
    driven.add(mbd.joints.AngleDriver.on(driven[name], path, name=f"{name} drive"))
needed = mbd.inverse_dynamics(driven, t_end=1.5, step=5e-3)
torques = {name: -needed[f"{name} drive"].torque[:, 1] for name in ("shoulder", "elbow")}  # about -y
print({name: f"{values.min():.1f} ... {values.max():.1f} N m" for name, values in torques.items()})

# %%
# **Feedback.** A PD controller on each joint. Gravity leaves an error that only large gains make small; compensating
# it is better.

kp, kd = 400.0, 40.0
runs = {}
for name, compensated in (("PD", False), ("PD and gravity compensation", True)):
    model = arm()
    for joint in ("shoulder", "elbow"):
        model.add(mbd.forces.PDControl(model[joint], path, kp, kd, limit=90.0, name=f"{joint} control"))
    if compensated:
        model.add(mbd.forces.GravityCompensation([model["shoulder"], model["elbow"]]))
    runs[name] = mbd.simulate(model, t_end=1.5, step=1e-3)

figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
wanted = np.array([path(t) for t in runs["PD"].t])
for name, run in runs.items():
    axes[0].plot(run.t, np.degrees(run["shoulder"].angle - wanted), label=name)
    axes[1].plot(run.t, run["shoulder control"].effort, label=name)
axes[0].set(xlabel="t [s]", title="error of the shoulder [deg]")
axes[1].set(xlabel="t [s]", title="torque of the controller [N m]")
axes[0].legend(fontsize=8)
figure.tight_layout()
figure.savefig("control.png", dpi=110)
for name, run in runs.items():
    print(f"{name}: error at the end {np.degrees(run['shoulder'].angle[-1] - 1.0):.3f} degrees")

# %%
runs["PD and gravity compensation"].html("arm.html")

# %%
# Exercises
# ---------
# 1. Give the computed torques as ``feedforward=`` to the controller: what error is left?
# 2. Which torque limit is too small for this path?
# 3. The motor of the shoulder has a rotor of 1e-4 kg m^2 behind a gear of 100. What does it add to the inertia?
#
# Solutions
# ---------
# (1) Functions see numpy arrays as data; ``np.interp`` is compiled.

times, model = needed.t, arm()
for joint in ("shoulder", "elbow"):
    values = torques[joint]
    model.add(
        mbd.forces.PDControl(
            model[joint], path, kp, kd, feedforward=lambda t, values=values: np.interp(t, times, values)
        )
    )
run = mbd.simulate(model, t_end=1.5, step=1e-3)
wanted = np.array([path(t) for t in run.t])
print("with feedforward:", np.degrees(np.abs(run["shoulder"].angle - wanted).max()), "degrees at most")

# %%
# (2) The largest torque of the path, on the shoulder:

print(f"{np.abs(torques['shoulder']).max():.1f} N m")

# %%
# (3) The square of the ratio times the inertia: 1 kg m^2. The upper link has 0.66 kg m^2 about the shoulder.

model = arm()
motor = model.add(mbd.forces.Motor(model["shoulder"], 0.0, gear=100.0, rotor_inertia=1e-4))
print("reflected inertia:", motor.reflected_inertia, "kg m^2")
