"""What a step costs that Python asks for: ``python benchmarks/stepper.py`` prints tables.

CPU time of one thread, best of several rounds in which the programs alternate. Cart-pole: ``Simulator.step`` against
the same steps in one compiled loop, and against ``mujoco.mj_step`` and MuJoCo's own loop (``mj_step(m, d, nstep)``) on
the same model. Puma: a loop of 1 kHz with a controller in Python, against real time.
"""

from __future__ import annotations

import cases  # threads first
import mujoco
import numpy as np

import mbd
from mbd.benchmarks.puma import DERIVATIVE, GOAL, NAMES, PROPORTIONAL, STARTS
from mbd.benchmarks.puma import model as robot

STEP, STEPS, ROUNDS = 2e-3, 2000, 7
POLE = {"mass": 0.1, "length": 0.5}
MJCF = f"""
<mujoco>
  <option timestep="{STEP}" integrator="RK4"/>
  <worldbody>
    <body name="cart">
      <joint name="rail" type="slide" axis="1 0 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="pole">
        <joint name="hinge" type="hinge" axis="0 1 0"/>
        <inertial pos="0 0 {POLE["length"]}" mass="{POLE["mass"]}" diaginertia="0.01 0.01 0.001"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="rail"/></actuator>
</mujoco>
"""


def cart_pole() -> mbd.Model:
    """The same model here."""
    model = mbd.Model("cart-pole", gravity=(0, 0, -9.81))
    u = model.input("u")
    cart = model.add(mbd.RigidBody("cart", 1.0, (0.1, 0.1, 0.1)))
    start = mbd.nodes.RotationVector((0, 0, POLE["length"]))
    pole = model.add(mbd.RigidBody("pole", POLE["mass"], (0.01, 0.01, 0.001), start))
    rail = model.add(mbd.joints.Prismatic(model.ground, cart, axis=(1, 0, 0), name="rail"))
    model.add(mbd.joints.Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0), name="hinge"))
    model.add(mbd.forces.JointForce(rail, u, name="motor"))
    return model


def measure_mbd(model: mbd.Model, integrator: mbd.integrators.Integrator) -> list[float]:
    """Microseconds: ``step()``, with a new input each time, with a look at two angles; the compiled loop."""
    times = []
    sim = mbd.Simulator(model, STEP, integrator, record=True)

    def steps() -> None:
        for _ in range(STEPS):
            sim.step()

    def commanded() -> None:
        for k in range(STEPS):
            sim.inputs["u"] = 0.01 * (k % 7)
            sim.step()

    def looked_at() -> None:
        hinge, rail = sim["hinge"], sim["rail"]
        for k in range(STEPS):
            sim.inputs["u"] = 0.01 * (k % 7)
            sim.step()
            _ = hinge.angle, rail.displacement

    for action in (steps, commanded, looked_at, lambda: sim.advance(STEPS * STEP)):
        sim.reset()
        sim.step()
        times.append(cases.cpu_time(action, 1) / STEPS * 1e6)
    return times


def measure_mujoco() -> list[float]:
    """Microseconds: ``mj_step``, with a new control each time, with a look at two coordinates; its own loop."""
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)

    def steps() -> None:
        for _ in range(STEPS):
            mujoco.mj_step(model, data)

    def commanded() -> None:
        for k in range(STEPS):
            data.ctrl[0] = 0.01 * (k % 7)
            mujoco.mj_step(model, data)

    def looked_at() -> None:
        for k in range(STEPS):
            data.ctrl[0] = 0.01 * (k % 7)
            mujoco.mj_step(model, data)
            _ = data.qpos[1], data.qpos[0]

    times = []
    for action in (steps, commanded, looked_at, lambda: mujoco.mj_step(model, data, nstep=STEPS)):
        mujoco.mj_resetData(model, data)
        times.append(cases.cpu_time(action, 1) / STEPS * 1e6)
    return times


def agreement() -> float:
    """Largest difference of the two programs after half a second, same method and step."""
    sim = mbd.Simulator(cart_pole().with_coordinates("joint"), STEP, mbd.integrators.RK4())
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    for k in range(250):
        sim.inputs["u"] = data.ctrl[0] = np.sin(0.02 * k)
        sim.step()
        mujoco.mj_step(model, data)
    return max(abs(sim["rail"].displacement - data.qpos[0]), abs(sim["hinge"].angle - data.qpos[1]))


def puma_loop(coordinates: str, steps: int = 500) -> tuple[float, float]:
    """(share of real time, largest error of an angle in rad) of a loop of 1 kHz with a controller in Python."""
    model = robot(STARTS["printed"], controlled=False)
    for k, joint in enumerate(NAMES):
        model.add(mbd.forces.JointForce(model[joint], model.input(f"torque {k + 1}")))
    sim = mbd.Simulator(model.with_coordinates(coordinates), 1e-3)
    views = [sim[joint] for joint in NAMES]
    soft = np.array((1.0, 1.0, 1.0, 0.1, 0.1, 0.1))  # the gains of the paper for the wrist need more than 1 kHz
    gains = soft * PROPORTIONAL, soft * DERIVATIVE
    names = [f"torque {k + 1}" for k in range(6)]
    start = np.array([view.angle for view in views])
    goal = np.radians(GOAL)
    worst = 0.0

    def loop() -> None:
        nonlocal worst
        for _ in range(steps):
            s = min(1.0, sim.t)
            wanted, rate = start + goal * (s - np.sin(2 * np.pi * s) / (2 * np.pi)), goal * (1 - np.cos(2 * np.pi * s))
            angles, rates = np.array([view.angle for view in views]), np.array([view.angle_rate for view in views])
            for name, torque in zip(names, gains[0] * (wanted - angles) + gains[1] * (rate - rates), strict=True):
                sim.inputs[name] = torque
            sim.step()
            worst = max(worst, float(np.abs(wanted - angles).max()))

    return cases.cpu_time(loop, 1) / (steps * 1e-3), worst


def main() -> None:
    """Measure and print."""
    integrators = mbd.integrators
    ours = {
        "mbd, absolute, GeneralizedAlpha": (cart_pole(), integrators.GeneralizedAlpha()),
        "mbd, joint, GeneralizedAlpha": (cart_pole().with_coordinates("joint"), integrators.GeneralizedAlpha()),
        "mbd, joint, RK4": (cart_pole().with_coordinates("joint"), integrators.RK4()),
    }
    found: dict[str, list[list[float]]] = {name: [] for name in (*ours, "MuJoCo, RK4")}
    for _ in range(ROUNDS):
        for name, arguments in ours.items():
            found[name].append(measure_mbd(*arguments))
        found["MuJoCo, RK4"].append(measure_mujoco())
    print("| cart-pole, us per step | compiled loop | step() | above | new input, step() | and two coordinates read |")
    print("|---|---|---|---|---|---|")
    for name, rounds in found.items():
        step, commanded, looked_at, loop = np.array(rounds).min(axis=0)
        print(f"| {name} | {loop:.2f} | {step:.2f} | {step - loop:.2f} | {commanded:.2f} | {looked_at:.2f} |")
    print(f"\nafter 0.5 s both programs agree to {agreement():.1e} (RK4, joint coordinates)\n")
    print("| Puma at 1 kHz, controller in Python | CPU time / real time | largest error, rad |")
    print("|---|---|---|")
    for coordinates in ("absolute", "joint"):
        share, worst = min(puma_loop(coordinates) for _ in range(3))
        print(f"| {coordinates} coordinates | {share:.2f} | {worst:.2g} |")


if __name__ == "__main__":
    main()
