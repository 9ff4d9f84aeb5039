"""What MuJoCo makes of a file, beside what is made of it here."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np

import mbd
from mbd.io.left_out import LeftOut
from mbd.io.mjcf.actuators import Actuators
from mbd.io.mjcf.document import Document
from mbd.io.mjcf.masses import body_masses
from mbd.io.mjcf.meshes import Meshes
from mbd.io.mjcf.tree import Tree
from mbd.rotation import from_quaternion

FREE, BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)


def read(path):
    """Everything that the reader finds in a file, before a model is made of it."""
    document = Document(Path(path), LeftOut(Path(path)))
    tree = Tree(document)
    masses = body_masses(tree, Meshes(document))
    return SimpleNamespace(document=document, tree=tree, masses=masses, actuators=Actuators(tree).found)


def pose_of(position, quaternion):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = from_quaternion(np.array(quaternion)), position
    return pose


def compare_bodies(ours, theirs):
    """Largest deviation of poses, and of masses, centres and inertias relative to their size."""
    poses = masses = 0.0
    assert [body.name or "" for body in ours.tree.bodies[1:]] == [theirs.body(i).name for i in range(1, theirs.nbody)]
    for i, body in enumerate(ours.tree.bodies[1:], 1):
        poses = max(poses, np.abs(body.pose - pose_of(theirs.body_pos[i], theirs.body_quat[i])).max())
        own = ours.masses[i]
        if own is None:
            assert theirs.body_mass[i] == 0.0
            continue
        turn = from_quaternion(theirs.body_iquat[i])
        inertia = turn @ np.diag(theirs.body_inertia[i]) @ turn.T
        masses = max(
            masses,
            abs(own.mass / theirs.body_mass[i] - 1.0),
            np.abs(own.com - theirs.body_ipos[i]).max(),
            np.abs(own.inertia - inertia).max() / np.abs(inertia).max(),
        )
    return poses, masses


def compare_joints(ours, theirs):
    """Largest deviation of what is said of joints."""
    worst = 0.0
    joints = [joint for body in ours.tree.bodies for joint in body.joints]
    assert [joint.name or "" for joint in joints] == [theirs.joint(k).name for k in range(theirs.njnt)]
    for k, joint in enumerate(joints):
        q, v = theirs.jnt_qposadr[k], theirs.jnt_dofadr[k]
        pairs = [(joint.friction, theirs.dof_frictionloss[v]), (joint.stiffness[1:], theirs.jnt_stiffnesspoly[k])]
        pairs.append((joint.damping[1:], theirs.dof_dampingpoly[v]))
        if joint.spring_damper is None:
            pairs += [(joint.stiffness[0], theirs.jnt_stiffness[k]), (joint.damping[0], theirs.dof_damping[v])]
        if joint.type in ("hinge", "slide"):
            pairs += [(joint.ref, theirs.qpos0[q]), (joint.springref, theirs.qpos_spring[q])]
            pairs += [(joint.point, theirs.jnt_pos[k]), (joint.axis, theirs.jnt_axis[k])]
        elif joint.type == "ball":
            pairs.append((joint.point, theirs.jnt_pos[k]))
        assert bool(theirs.jnt_limited[k]) == (joint.range is not None)
        if joint.range is not None:
            margin = theirs.jnt_margin[k]
            pairs.append((joint.range, theirs.jnt_range[k] + (margin, -margin)))
        worst = max(worst, *(float(np.abs(np.subtract(a, b)).max()) for a, b in pairs))
    return worst


def compare_actuators(ours, theirs):
    """Largest deviation of what is said of actuators; all of them must have been understood."""
    worst = 0.0
    assert len(ours.actuators) == theirs.nu
    for i, actuator in enumerate(ours.actuators):
        bias = theirs.actuator_biasprm[i, :3] * (theirs.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_AFFINE)
        own = np.array(actuator.bias)
        if actuator.damping_ratio:
            own[2] = bias[2]  # which MuJoCo has computed by now
        pairs = [(actuator.gear, theirs.actuator_gear[i, 0]), (actuator.gain, theirs.actuator_gainprm[i, 0])]
        pairs += [(own, bias), (actuator.armature, theirs.actuator_armature[i] * actuator.gear**2)]
        pairs.append((actuator.damping[0], theirs.actuator_damping[i] * actuator.gear**2))
        for limited, own_range, range_ in (
            (theirs.actuator_ctrllimited, actuator.control_range, theirs.actuator_ctrlrange),
            (theirs.actuator_forcelimited, actuator.force_range, theirs.actuator_forcerange),
        ):
            assert bool(limited[i]) == (own_range is not None)
            if own_range is not None:
                pairs.append((own_range, range_[i]))
        assert actuator.joint.name == theirs.joint(theirs.actuator_trnid[i, 0]).name
        worst = max(worst, *(float(np.abs(np.subtract(a, b)).max()) for a, b in pairs))
    return worst


# --- motion


def random_state(model, rng, inside=0.9):
    """Values of joints inside their ranges, and velocities."""
    position = np.array(model.qpos0)
    for k in range(model.njnt):
        a, kind = model.jnt_qposadr[k], model.jnt_type[k]
        if kind in (FREE, BALL):
            start = a + (3 if kind == FREE else 0)
            quaternion = rng.normal(size=4)
            position[start : start + 4] = quaternion / np.linalg.norm(quaternion)
            if kind == FREE:
                position[a : a + 3] += rng.normal(size=3)
        elif model.jnt_limited[k]:
            low, high = model.jnt_range[k] + model.jnt_margin[k] * np.array((1.0, -1.0))
            position[a] = 0.5 * (low + high) + 0.5 * inside * (high - low) * rng.uniform(-1.0, 1.0)
        else:
            position[a] += rng.normal()
    return position, rng.normal(size=model.nv)


def with_keyframe(text, position, velocity, control):
    """The text of a file with one more keyframe, which is called "random"."""

    def numbers(values):
        return " ".join(f"{value:.17g}" for value in values)

    given = {"qpos": position, "qvel": velocity, "ctrl": control}
    said = " ".join(f'{name}="{numbers(values)}"' for name, values in given.items() if len(values))
    head, tail = text.rsplit("</mujoco>", 1)
    return f'{head}<keyframe><key name="random" {said}/></keyframe></mujoco>{tail}'


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.ModelWarning)
        return function(*arguments, **options)


def without_dry_friction(model):
    """MuJoCo's dry friction is a constraint, not a law."""
    for force in list(model.forces):
        if isinstance(force, mbd.forces.JointFriction) and force.coulomb:
            if force.viscous:
                force.coulomb = 0.0
            else:
                model.remove(force)
    return model


def without_constraints(theirs):
    """No contact, no limits, no dry friction."""
    bits = mujoco.mjtDisableBit
    theirs.opt.disableflags |= int(bits.mjDSBL_CONTACT) | int(bits.mjDSBL_LIMIT) | int(bits.mjDSBL_FRICTIONLOSS)
    return theirs


def body_accelerations(theirs, data, i):
    """Of the origin of a body in world axes, and of its rotation in body axes, with its velocities."""
    jacobians = [np.zeros((3, theirs.nv)) for _ in range(4)]
    mujoco.mj_jac(theirs, data, *jacobians[:2], data.xpos[i], i)
    mujoco.mj_jacDot(theirs, data, *jacobians[2:], data.xpos[i], i)
    turn = data.xmat[i].reshape(3, 3)
    point, spin, point_rate, spin_rate = jacobians
    linear = point @ data.qacc + point_rate @ data.qvel
    angular = turn.T @ (spin @ data.qacc + spin_rate @ data.qvel)
    return np.concatenate((linear, angular)), np.concatenate((point @ data.qvel, turn.T @ (spin @ data.qvel)))


def states_and_accelerations(model, theirs, data):
    """Largest deviations of poses, velocities and (relative to their size) accelerations of bodies with joints."""
    solution = mbd.simulate(model, 1e-6, 1e-6, integrator=mbd.integrators.RK4())
    deviations = np.zeros(3)
    size, count = 0.0, 0
    for i in range(1, theirs.nbody):
        name = theirs.body(i).name
        if not theirs.body_jntnum[i] or not name:
            continue
        count += 1
        body = solution[name]
        expected, velocity = body_accelerations(theirs, data, i)
        found = [
            np.concatenate((body.position[0] - data.xpos[i], (body.rotation[0] - data.xmat[i].reshape(3, 3)).ravel())),
            np.concatenate((body.velocity[0], body.angular_velocity[0])) - velocity,
            np.concatenate((body.acceleration[0], body.angular_acceleration[0])) - expected,
        ]
        deviations = np.maximum(deviations, [np.abs(difference).max() for difference in found])
        size = max(size, np.abs(expected).max())
    assert count > 0
    return deviations / (1.0, 1.0, size)
