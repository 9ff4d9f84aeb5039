"""
Tennis racket: the middle axis is unstable
==========================================

A body that spins about the axis of its middle moment of inertia turns over, again and again, although no torque acts.
"""

# %%
# Euler's equations of a free body have three permanent rotations. Linearised about the second one,
#
# .. math:: \ddot{\omega}_1 = \frac{(J_3 - J_2)(J_2 - J_1)}{J_1 J_3}\, \Omega^2\, \omega_1 ,
#
# so that a small error grows with the rate :math:`\sigma`, the square root of that factor times :math:`\Omega`. The
# other two axes give a minus sign: vibrations.

import matplotlib.pyplot as plt
import numpy as np

import mbd

J, SPIN, TILT = np.array((0.00121, 0.01638, 0.01748)), 12.0, 1e-3
shape = mbd.shapes.Composite(
    mbd.shapes.Cylinder(radius=0.135, height=0.011, centre=(0.16, 0, 0.0055), colour="blue"),
    mbd.shapes.Cylinder(radius=0.135, height=0.011, centre=(0.16, 0, -0.0055), colour="orange"),
    mbd.shapes.Capsule(radius=0.014, height=0.33, axis=(1, 0, 0), centre=(-0.13, 0, 0), colour="steel"),
)


def thrown(axis):
    """A racket that spins about one of its axes, up to a small tilt, without gravity."""
    model = mbd.Model("racket")
    omega = TILT * SPIN * np.array((1.0, 1.0, -1.0))  # the signs excite the motion that grows
    omega[axis] = SPIN
    node = mbd.nodes.Quaternion(angular_velocity=omega)
    model.add(mbd.RigidBody("racket", mass=0.3, inertia=J, node=node, shape=shape))
    return mbd.simulate(model, t_end=4.0, step=2e-3, integrator=mbd.integrators.JacobiExact())


runs = [thrown(axis) for axis in range(3)]

# %%
# Only the second one leaves its axis:

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
for k, (run, ax) in enumerate(zip(runs, axes, strict=True)):
    ax.plot(run.t, run["racket"].angular_velocity, label=["about axis 1", "about axis 2", "about axis 3"])
    ax.set(title=f"spin about axis {k + 1}", xlabel="t [s]")
axes[0].set_ylabel("angular velocity [rad/s]")
axes[0].legend(fontsize=8, loc="lower right")
figure.tight_layout()
figure.savefig("rackets.png", dpi=110)

# %%
# **How fast?** The growth of the first component while it is small, against the formula.

omega = runs[1]["racket"].angular_velocity
t = runs[1].t
early = (t > 0.1) & (t < 0.35)
measured = np.polyfit(t[early], np.log(np.abs(omega[early, 0])), 1)[0]
expected = SPIN * np.sqrt((J[2] - J[1]) * (J[1] - J[0]) / (J[0] * J[2]))
print(f"growth rate {measured:.3f} 1/s, linear theory {expected:.3f} 1/s")

# %%
# Energy and the momentum in space are constant all the while; JacobiExact is exact up to round-off.

print("energy changes by", np.ptp(runs[1].energy.total), "J of", runs[1].energy.total[0])
print("momentum changes by", np.ptp(runs[1].momentum.angular, axis=0).max(), "of", np.linalg.norm(J * omega[0]))

# %%
runs[1].html("racket.html", speed=0.5)

# %%
# **Questions.** What does TILT = 1e-6 change: the time between flips, or the time until the first one? Which two of
# the three moments have to be close to each other for a slow flip? Why does a real racket, thrown by hand, make half
# a flip?
