"""
Order of methods
================

Halving the step divides the error by two to the power of the order: positions, velocities *and* reactions.
"""

# %%
# The heavy top of Bruls & Cardona, for which 14 digits of the position after one second are known.

import matplotlib.pyplot as plt
import numpy as np

import mbd

benchmark = mbd.benchmarks.heavy_top()
exact = np.array((0.17334396409838, 0.64008859207055, -0.74849079113359))
steps = [2e-3, 1e-3, 5e-4, 2.5e-4]
methods = {
    "GeneralizedAlpha, order 2": (mbd.integrators.GeneralizedAlpha(), None),
    "LieEM, order 2": (mbd.integrators.LieEM(), None),
    "RK4, order 4": (mbd.integrators.RK4(), None),
    "RK6, order 6": (mbd.integrators.RK6(), None),
    "NystromSplitting, order 4": (mbd.integrators.NystromSplitting(), None),
}

# %%
figure, ax = plt.subplots(figsize=(8.5, 4.2))
for name, (method, _) in methods.items():
    runs = [mbd.simulate(benchmark.model, t_end=1.0, step=h, integrator=method, output_step=0.1) for h in steps]
    errors = [np.linalg.norm(run["top"].com[-1] - exact) for run in runs]
    order = np.log2(errors[0] / errors[1])
    ax.loglog(steps, errors, "o-", label=name)
    print(f"{name:28}" + "".join(f"{error:11.1e}" for error in errors) + f"   order {order:.2f}")
ax.set(xlabel="step [s]", ylabel="error of the centre of mass after 1 s [m]")
ax.grid(alpha=0.3, which="both")
ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
figure.tight_layout()
figure.savefig("orders.png", dpi=110)

# %%
# The best method depends on how many digits are wanted: for an error of a millimetre all do, for a nanometre the
# higher orders win although a step of them costs more. ``mbd.compare`` measures both at once:

study = mbd.compare(
    benchmark.model,
    [mbd.integrators.GeneralizedAlpha(), mbd.integrators.RK4(), mbd.integrators.RK6()],
    steps=steps[:3],
    t_end=1.0,
    reference=exact,
    quantity=lambda run: run["top"].com[-1],
    progress=False,
)
print(study)

# %%
# **Questions.** What is the order of the reaction (``solution["pivot"].force``)? From which error on does round-off
# stop RK6?
