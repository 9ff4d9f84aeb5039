"""Joint coordinates against MuJoCo and Pinocchio (pip install mujoco pin): cost of a step, and cost at equal error.

Revolute chains: bars of 1 m, axes alternately y and z, from the horizontal under gravity. Arm: the Puma 560 whose
joints PD control holds at constant targets, started away from them; in MuJoCo control is a passive spring and damper
of each joint, so that nobody pays for calls into Python. Whole runs contain everything from the description of the
mechanism to the last state: `mbd.simulate` with assembly, start and records, MuJoCo's compilation of its XML. Pinocchio
has no time loop of its own: four `aba` per step of RK4, called from Python, as people do.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import mujoco
import numpy as np
import pinocchio as pin

import mbd
from mbd import benchmarks, integrators
from mbd.rotation import to_quaternion

Array = np.ndarray
GRAVITY = 9.81
INERTIA = (0.01, 0.1, 0.1)


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Least CPU time of several runs."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


# --- the chain ------------------------------------------------------------------------------------------------------


def chain(count: int) -> mbd.Model:
    """Revolute joints with alternating axes."""
    model = mbd.Model("chain", gravity=(0, 0, -GRAVITY))
    last: mbd.bodies.Body = model.ground
    for i in range(count):
        node = mbd.nodes.RotationVector((i + 0.5, 0, 0))
        bar = model.add(mbd.RigidBody(f"bar {i + 1}", 1.0, INERTIA, node))
        model.add(mbd.joints.Revolute(last, bar, at=(i, 0, 0), axis=(0, 1, 0) if i % 2 == 0 else (0, 0, 1)))
        last = bar
    return model


def chain_xml(count: int, step: float) -> str:
    """The same for MuJoCo."""
    text = ""
    for i in range(count):
        axis = "0 1 0" if i % 2 == 0 else "0 0 1"
        text += f'<body pos="{1 if i else 0} 0 0"><joint type="hinge" axis="{axis}"/>'
        text += f'<inertial pos="0.5 0 0" mass="1" diaginertia="{" ".join(map(str, INERTIA))}"/>'
    return world(text + "</body>" * count, step)


def world(bodies: str, step: float) -> str:
    """An MJCF file without contacts."""
    return (
        f'<mujoco><compiler angle="radian" inertiafromgeom="false"/><option timestep="{step!r}" integrator="RK4" '
        f'gravity="0 0 -{GRAVITY}"><flag contact="disable"/></option><worldbody>{bodies}</worldbody></mujoco>'
    )


def chain_pin(count: int) -> pin.Model:
    """The same for Pinocchio."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -GRAVITY])
    inertia, parent = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag(INERTIA)), 0
    for i in range(count):
        kind = pin.JointModelRY() if i % 2 == 0 else pin.JointModelRZ()
        place = pin.SE3(np.eye(3), np.array([1.0 if i else 0.0, 0, 0]))
        parent = model.addJoint(parent, kind, place, f"joint {i}")
        model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    return model


# --- the arm --------------------------------------------------------------------------------------------------------

KP, KD = (4000.0, 4000.0, 4000.0, 100.0, 100.0, 10.0), (400.0, 400.0, 100.0, 1.0, 1.0, 0.1)
TARGET = np.radians([-30.0, 20.0, -40.0, 30.0, 30.0, 15.0])  # from the start


def arm() -> mbd.Model:
    """The Puma 560 with constant targets of its joints; moments of inertia as MuJoCo accepts them."""
    puma = benchmarks.puma().model
    puma["link 1"].inertia = (0.35, 0.35, 0.35)  # only the second one has an effect
    puma["link 3"].inertia = (0.076, 0.086, 0.0125)
    for force in list(puma.forces):
        puma.remove(force)
    for k, joint in enumerate(puma.joints):
        zero = joint.zero[1] if isinstance(joint.zero, tuple) else 0.0
        puma.add(mbd.forces.PDControl(joint, float(TARGET[k]) + zero, KP[k], KD[k]))
    return puma


def placements(model: mbd.Model) -> list[tuple[Array, Array, Array]]:
    """For each link of a chain of bodies: pose in the frame of the one before it, its joint's point and axis there."""
    found = []
    position, rotation = np.zeros(3), np.eye(3)
    for body, joint in zip(model.bodies, model.joints, strict=True):
        node = body.node
        found.append((
            rotation.T @ (node.position - position), rotation.T @ node.rotation, joint.point_b, joint.axis_b,
        ))  # fmt: skip
        position, rotation = node.position, node.rotation
    return found


def arm_xml(model: mbd.Model, step: float) -> str:
    """The same for MuJoCo: control as passive springs and dampers."""
    text = ""
    for k, (body, (offset, turn, point, axis)) in enumerate(zip(model.bodies, placements(model), strict=True)):
        inertia = body.inertia
        text += f'<body pos="{words(offset)}" quat="{words(to_quaternion(turn))}">'
        text += f'<joint type="hinge" pos="{words(point)}" axis="{words(axis)}" stiffness="{KP[k]}" '
        text += f'springref="{float(TARGET[k])!r}" damping="{KD[k]}"/>'
        full = (inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2])
        text += f'<inertial pos="{words(body.com)}" mass="{body.mass!r}" fullinertia="{words(full)}"/>'
    return world(text + "</body>" * len(model.bodies), step)


def words(numbers: object) -> str:
    """Numbers with all digits."""
    return " ".join(repr(float(x)) for x in np.asarray(numbers, dtype=float))


def arm_pin(model: mbd.Model) -> pin.Model:
    """The same for Pinocchio."""
    robot = pin.Model()
    robot.gravity.linear = np.array([0, 0, -GRAVITY])
    parent, before = 0, pin.SE3.Identity()
    for k, (body, (offset, turn, point, axis)) in enumerate(zip(model.bodies, placements(model), strict=True)):
        to_joint = pin.SE3(np.eye(3), np.array(point))
        place = before * pin.SE3(turn, offset) * to_joint
        parent = robot.addJoint(parent, pin.JointModelRevoluteUnaligned(np.array(axis)), place, f"joint {k}")
        com = np.array(body.com) - point
        robot.appendBodyToJoint(parent, pin.Inertia(body.mass, com, np.array(body.inertia)), pin.SE3.Identity())
        before = to_joint.inverse()
    return robot


# --- runs -----------------------------------------------------------------------------------------------------------


def mujoco_run(xml: Callable[[float], str], t_end: float, step: float) -> Array:
    """Joint angles at the end."""
    model = mujoco.MjModel.from_xml_string(xml(step))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, round(t_end / step))
    return np.array(data.qpos)


def pin_run(model: pin.Model, control: Callable[[Array, Array], Array], t_end: float, step: float) -> Array:
    """The same: RK4 with four evaluations of the articulated-body algorithm."""
    data, q, v, h = model.createData(), np.zeros(model.nq), np.zeros(model.nv), step
    for _ in range(round(t_end / step)):
        a1 = pin.aba(model, data, q, v, control(q, v)).copy()
        q2, v2 = q + 0.5 * h * v, v + 0.5 * h * a1
        a2 = pin.aba(model, data, q2, v2, control(q2, v2)).copy()
        q3, v3 = q + 0.5 * h * v2, v + 0.5 * h * a2
        a3 = pin.aba(model, data, q3, v3, control(q3, v3)).copy()
        q4, v4 = q + h * v3, v + h * a3
        a4 = pin.aba(model, data, q4, v4, control(q4, v4)).copy()
        q, v = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4), v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q


def mbd_run(model: mbd.Model, t_end: float, step: float, integrator: mbd.integrators.Integrator) -> Array:
    """The same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = mbd.simulate(model, t_end, step, integrator, output_step=None if integrator.adaptive else t_end)
    start = np.array([solution[joint].angle[0] for joint in model.joints])
    return np.array([solution[joint].angle[-1] for joint in model.joints]) - start


def per_step(model: mbd.Model, method: mbd.integrators.Integrator, step: float, count: int, repeats: int) -> float:
    """Seconds per step of the compiled loop alone."""
    system = mbd.assemble(model)
    start = mbd.consistent_start(system)
    times = []
    for _ in range(repeats):
        run = method.start(system, start.q, start.v, 0.0, step, None)
        out = [np.zeros((count, len(x))) for x in run.row()]
        run.advance(5, 5, [x[:1] for x in out])
        begin = time.process_time()
        assert run.advance(count, count, out) == count, run.failure()
        times.append((time.process_time() - begin) / count)
    return min(times)


def table_of_steps() -> None:
    """Microseconds per body and step, 1 ms, alternately."""
    print("| revolute chain, us per body and step | 10 | 100 | 1000 |\n|---|---|---|---|")
    rows: dict[str, list[float]] = {}
    for count in (10, 100, 1000):
        model = chain(count)
        joint, steps = model.with_coordinates("joint"), max(100, 20000 // count)
        fast = per_step(joint, integrators.RK4(), 1e-3, steps, 5)
        rows.setdefault("mbd, joint coordinates, RK4", []).append(fast)
        implicit = per_step(joint, integrators.GeneralizedAlpha(), 1e-3, steps, 5)
        rows.setdefault("mbd, joint coordinates, GeneralizedAlpha", []).append(implicit)
        slow = per_step(model, integrators.RK4(), 1e-3, max(20, steps // 5), 3)
        rows.setdefault("mbd, absolute coordinates, RK4", []).append(slow)
        if count < 1000:  # the one's reader refuses deeper nesting, the other's data do not fit into memory
            peer = mujoco.MjModel.from_xml_string(chain_xml(count, 1e-3))
            data = mujoco.MjData(peer)
            time_of = seconds(lambda peer=peer, data=data: mujoco.mj_step(peer, data, 200), 5) / 200
            rows.setdefault("MuJoCo, RK4", []).append(time_of)
            robot = chain_pin(count)
            zero = np.zeros(robot.nv)
            time_of = seconds(lambda robot=robot, zero=zero: pin_run(robot, lambda q, v: zero, 0.02, 1e-3), 3) / 20
            rows.setdefault("Pinocchio, RK4 from Python", []).append(time_of)
    for name, times in rows.items():
        cells = [f"{1e6 * x / n:.2f}" for x, n in zip(times, (10, 100, 1000), strict=False)]
        print(f"| {name} | {' | '.join(cells + ['-'] * (3 - len(cells)))} |")


def step_for(run: Callable[[float], Array], exact: Array, error: float, step: float) -> tuple[float, float]:
    """The largest step of a sequence of ratio 1.25 whose error is small enough, and the error."""
    while True:
        try:
            found = float(np.abs(run(step) - exact).max())
        except mbd.errors.MbdError:
            found = np.inf
        if found <= error:
            return step, found
        step /= 1.25


def equal_error(name: str, t_end: float, error: float, first: float, peers: dict, own: dict, exact: Array) -> None:
    """Whole runs at the same error, alternately."""
    print(f"\n| {name}, error {error:g} at t = {t_end:g} | step | error | CPU ms | of the best peer |")
    print("|---|---|---|---|---|")
    chosen = {}
    for label, run in {**peers, **own}.items():
        step, found = step_for(lambda h, run=run: run(t_end / round(t_end / h)), exact, error, first)
        chosen[label] = (t_end / round(t_end / step), found)
    times = dict.fromkeys(chosen, np.inf)
    for _ in range(7):
        for label, run in {**peers, **own}.items():
            times[label] = min(times[label], seconds(lambda run=run, label=label: run(chosen[label][0]), 1))
    best = min(times[label] for label in peers)
    for label, (step, found) in chosen.items():
        print(f"| {label} | {step:.3g} | {found:.1e} | {1e3 * times[label]:.1f} | {times[label] / best:.2f} |")


def methods(model: mbd.Model, t_end: float) -> dict[str, Callable[[float], Array]]:
    """mbd with several methods."""
    joint = model.with_coordinates("joint")
    chosen = {
        "RK4": integrators.RK4(),
        "RK6": integrators.RK6(),
        "GeneralizedAlpha": integrators.GeneralizedAlpha(tolerance=1e-6, newton="full"),
    }
    return {f"mbd, joint coordinates, {name}": lambda h, m=m: mbd_run(joint, t_end, h, m) for name, m in chosen.items()}


def main() -> None:
    """All tables."""
    table_of_steps()
    model = arm()
    robot = arm_pin(model)
    exact = mbd_run(model.with_coordinates("joint"), 1.0, 1e-4, integrators.RK6())
    peers = {
        "MuJoCo, RK4": lambda h: mujoco_run(lambda step: arm_xml(model, step), 1.0, h),
        "Pinocchio, RK4 from Python": lambda h: pin_run(
            robot, lambda q, v: np.asarray(KP) * (TARGET - q) - np.asarray(KD) * v, 1.0, h
        ),
    }
    equal_error("six-joint arm under PD control", 1.0, 1e-7, 0.02, peers, methods(model, 1.0), exact)
    model = chain(100)
    robot = chain_pin(100)
    zero = np.zeros(robot.nv)
    exact = mbd_run(model.with_coordinates("joint"), 1.0, 1e-3, integrators.RK6())
    peers = {
        "MuJoCo, RK4": lambda h: mujoco_run(lambda step: chain_xml(100, step), 1.0, h),
        "Pinocchio, RK4 from Python": lambda h: pin_run(robot, lambda q, v: zero, 1.0, h),
    }
    own = methods(model, 1.0)
    own.pop("mbd, joint coordinates, GeneralizedAlpha")  # of second order: not for small errors of smooth motion
    equal_error("chain of 100 revolute joints", 1.0, 1e-5, 0.04, peers, own, exact)


if __name__ == "__main__":
    main()
