"""
Heavy top: precession and nutation
==================================

A fast top on a fixed point does not fall: it precesses. How fast, and with which nutation, is known in closed form.
"""

# %%
# A symmetric top with moments :math:`J_1` (about the pivot) and :math:`J_3`, weight :math:`m g` at the distance
# :math:`l`, spin :math:`\omega`. **Steady precession** with the rate :math:`\Omega` at the inclination
# :math:`\vartheta` needs
#
# .. math:: (J_1 - J_3)\,\Omega^2 \cos\vartheta - J_3\,\omega_3'\,\Omega + m g l = 0 ,
#
# with :math:`\omega_3 = \omega_3' + \Omega\cos\vartheta` the spin in body axes, which is constant. Fast tops:
# :math:`\Omega \approx m g l / (J_3 \omega_3)`.

import matplotlib.pyplot as plt
import numpy as np

import mbd

m, g, length, J3 = 1.0, 9.81, 0.1, 1.25e-3
J1 = 0.5 * J3 + m * length**2  # a thin disc, about the pivot
tilt, spin = np.radians(30.0), 900.0


def top(precession):
    """A top that begins with this rate of precession; zero: it is let go."""
    model = mbd.Model("top", gravity=(0, 0, -g))
    rotation = mbd.rotation(axis=(1, 0, 0), angle=-tilt)
    omega = rotation.T @ (0, 0, precession)
    omega[2] = spin
    node = mbd.nodes.Quaternion(rotation=rotation, angular_velocity=omega, pinned=True)
    shape = mbd.shapes.Composite(
        mbd.shapes.Cylinder(radius=0.05, height=0.01, centre=(0, 0, length)),
        mbd.shapes.Cylinder(radius=0.004, height=length, centre=(0, 0, length / 2), colour="steel"),
        mbd.shapes.Box(size=(0.03, 0.012, 0.012), centre=(0.032, 0, length), colour="orange"),
    )
    model.add(mbd.RigidBody("top", m, (J3 / 2, J3 / 2, J3), com=(0, 0, length), node=node, shape=shape))
    return mbd.simulate(model, t_end=4.0, step=1e-4, integrator=mbd.integrators.RK4(), output_step=1e-3)


# %%
# The two roots of the quadratic equation are the slow and the fast precession. (With the spin in body axes,
# :math:`J_1 \Omega^2 \cos\vartheta - J_3 \omega_3 \Omega + m g l = 0`.)

slow, fast = sorted(np.roots([J1 * np.cos(tilt), -J3 * spin, m * g * length]).real)
print(f"slow {slow:.5f} rad/s, fast {fast:.3f} rad/s, approximation {m * g * length / (J3 * spin):.5f} rad/s")

steady, released = top(slow), top(0.0)


def angles(run):
    """Inclination and azimuth of the axis."""
    axis = run["top"].rotation[:, :, 2]
    return np.degrees(np.arccos(axis[:, 2])), np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))


inclination, azimuth = angles(steady)
print(
    f"measured {(azimuth[-1] - azimuth[0]) / steady.t[-1]:.5f} rad/s, "
    f"inclination changes by {np.ptp(inclination):.1e} deg"
)

# %%
# Let go without precession the top falls a little, picks up precession, rises again: nutation with the frequency
# :math:`J_3 \omega_3 / J_1`.

figure, axes = plt.subplots(1, 2, figsize=(11, 3.2))
for name, run in (("steady", steady), ("let go", released)):
    x = angles(run)
    axes[0].plot(run.t, x[0], label=name)
    axes[1].plot(np.degrees(x[1] - x[1][0]), x[0], label=name)
axes[0].set(xlabel="t [s]", ylabel="inclination [deg]", xlim=(0, 0.3))
axes[1].set(xlabel="azimuth [deg]", ylabel="inclination [deg]", xlim=(0, 20))
axes[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
figure.tight_layout()
figure.savefig("nutation.png", dpi=110)

falls = angles(released)[0]
spectrum = np.abs(np.fft.rfft(falls - falls.mean()))
found = np.fft.rfftfreq(len(falls), 1e-3)[np.argmax(spectrum)]
print(f"nutation {found:.1f} Hz, formula for small ones {J3 * spin / J1 / (2 * np.pi):.1f} Hz")

# %%
released.html("top.html", speed=0.1)

# %%
# **Questions.** Below which spin is there no steady precession at 30 degrees? (The discriminant.) What does the pivot
# have to carry in steady precession: take ``mbd.joints.Spherical`` in place of ``pinned=True`` and plot its force.
