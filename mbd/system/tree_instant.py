"""Joint coordinates at an instant: frames along the tree, their rates, and the residual from the leaves to the root.

Elements see frames and write frame forces, as ever; here these become wrenches of the bodies, which joints carry.
"""

from __future__ import annotations

from ..compiled.entry import entry
from ..compiled.kernel import kernel
from ..compiled.kinds import integer
from ..forces.tension import call_law, tension
from ..math.arrays import clear
from ..nodes.forms import FORM_LIE, FORM_QUATERNION, FORM_SPIN
from ..nodes.frames import node_bias, node_frame, node_velocity
from ..nodes.internal import internal_force
from ..nodes.mass import weight
from ..nodes.spin import spin_matrix
from ..nodes.tree.dynamics import add_frame_force, inertia_wrench
from ..nodes.tree.motion import (
    add_columns,
    add_joint_velocity,
    ball_columns,
    ball_frame,
    frame_accelerations,
    frame_rates,
    place,
    place_carried,
)
from ..nodes.tree.radial import radial_force
from ..nodes.tree.spatial import add_shifted_force, add_six, copy_six, dot_six, shift_motion
from ..nodes.update import compose
from .element_forces import element_forces, node_rows
from .tables import (
    FLAG_LOADED,
    PARAMETER_ARM,
    Tables,
    Work,
    coordinates,
    has_tree,
    multipliers,
    tables_at,
    unknowns,
    velocity,
)


@kernel
def inner_tables(s):
    """The tables of the elements, for bodies with velocities of their own."""
    return tables_at(s.tree.inner[0])


# --- motion ---------------------------------------------------------------------------------------------------------


@entry(Tables, Work, coordinates, when=has_tree)
def tree_frames(s, w, q):
    """Frames of all bodies, and the columns of the joints that carry them."""
    y = w.tree
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        node_frame(n, q, w.z[i])
        if n.form == FORM_SPIN:
            spin_matrix(n, q, w.spin[i])
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        c = s.tree.carried[i]
        place_carried(s.nodes[i], c, q, w.z[c.parent], w.z[i], w.spin[i], y.columns, y.balls[i], y.scratch)


@entry(Tables, Work, coordinates, velocity, coordinates, integer, when=has_tree)
def tree_update(s, w, q, dq, out, stored):
    """The update of coordinates: joints add, balls and free bodies compose as their nodes do; and the frames there."""
    y = w.tree
    e = y.scratch[0]
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        n = s.nodes[i]
        _update_node(n, q, dq, out, w.z[i], w.base[i], stored)
        if n.form != FORM_LIE:
            node_frame(n, out, w.z[i])
        if n.form == FORM_SPIN:
            spin_matrix(n, out, w.spin[i])
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        if c.ball == 0:
            for k in range(n.nv):
                out[n.q0 + k] = q[n.q0 + k] + dq[n.v0 + k]
            place(n, c, out, e, w.z[c.parent], w.z[i], y.columns, y.balls[i])
        else:
            _update_node(n, q, dq, out, e, w.base[i], stored)
            if n.form != FORM_LIE:
                ball_frame(n, out, e)
            if n.form == FORM_SPIN:
                spin_matrix(n, out, w.spin[i])
            place(n, c, out, e, w.z[c.parent], w.z[i], y.columns, y.balls[i])
            ball_columns(n, out, w.spin[i], y.balls[i], y.columns)


@kernel
def _update_node(n, q, dq, out, z, base, stored):
    """One node: rotations of Lie nodes are composed, which gives their frame as well, all else is added."""
    if n.form == FORM_LIE:
        for k in range(n.nx):
            out[n.q0 + k] = q[n.q0 + k] + dq[n.v0 + k]
        k = n.v0 + n.nx
        compose(n, q, dq[k], dq[k + 1], dq[k + 2], out, z, base, stored)
        if n.nx == 3:
            z[0], z[1], z[2] = out[n.q0], out[n.q0 + 1], out[n.q0 + 2]
        return
    for k in range(n.nv):
        out[n.q0 + k] = q[n.q0 + k] + dq[n.v0 + k]


@entry(Tables, Work, coordinates, velocity, when=has_tree)
def tree_velocities(s, w, q, v):
    """Velocities of all frames for any velocities v (frames must be up to date)."""
    y = w.tree
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        node_velocity(s.nodes[i], q, v, w.spin[i], w.z[i], w.zd[i], w.scratch)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        p = s.tree.carried[i].parent
        shift_motion(y.twist[p], w.z[p], w.z[i], y.twist[i])
        add_columns(s.nodes[i], y.columns, v, y.twist[i])
        frame_rates(w.z[i], y.twist[i], w.zd[i])


@kernel
def _move_on(w, n, c, i, q, v):
    """Velocity of a carried body, and its acceleration at zero acceleration of its joint, from its parent's."""
    y = w.tree
    p = c.parent
    shift_motion(y.twist[p], w.z[p], w.z[i], y.twist[i])
    shift_motion(y.acceleration[p], w.z[p], w.z[i], y.acceleration[i])
    add_joint_velocity(n, c, q, v, w.spin[i], y.columns, y.balls[i], y.twist[i], y.acceleration[i], y.scratch)


@kernel
def tree_motion(s, w, q, v, vd):
    """Velocities and accelerations of all carried bodies."""
    y = w.tree
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        n, c = s.nodes[i], s.tree.carried[i]
        _move_on(w, n, c, i, q, v)
        add_columns(n, y.columns, vd, y.acceleration[i])


@entry(Tables, Work, coordinates, velocity, when=has_tree)
def tree_biases(s, w, q, v):
    """Accelerations of all frames at zero accelerations of the coordinates (velocities must be up to date)."""
    y = w.tree
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        node_bias(s.nodes[i], q, v, w.spin[i], w.z[i], w.zd[i], w.zb[i], w.scratch)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        _move_on(w, s.nodes[i], s.tree.carried[i], i, q, v)
        frame_accelerations(w.z[i], y.twist[i], y.acceleration[i], w.zb[i])


# --- forces ---------------------------------------------------------------------------------------------------------


@kernel
def tree_loads(s, w, lam):
    """Frame forces of all elements into w.f, without gravity on carried bodies, and the wrenches of these."""
    y = w.tree
    for i in range(s.nodes.shape[0]):
        clear(w.f[i])
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        weight(s.nodes[i], g1, g2, g3, w.f[i])
    element_forces(inner_tables(s), w, lam)
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        clear(y.applied[i])
        add_frame_force(w.z[i], w.f[i], y.applied[i])


@kernel
def tension_at(s, w, m, u, rate, derivatives):
    """(f, df/du, df/du_dot) of an element along the coordinate u of a joint; derivatives if asked for."""
    e = s.forces[s.tree.loads[m, 0]]
    if e.call >= 0:
        call_law(e, s.functions, w.time[0], u, rate, derivatives, w.user, w.values)
    elastic, other, du, dr = tension(e, u, rate, w.values)
    return elastic + other, du, dr


@kernel
def joint_tension(s, w, m, q, v, derivatives):
    """``tension_at`` the present coordinate and velocity of the joint along which the element acts."""
    return tension_at(s, w, m, q[s.tree.loads[m, 2]], v[s.tree.loads[m, 1]], derivatives)


@kernel
def joint_load(s, w, m, q, v):
    """Force of a spring or motor along the coordinate of a joint, with the sign of the residual, by load."""
    f, du, dr = joint_tension(s, w, m, q, v, 0)
    return f


@entry(Tables, Work, coordinates, velocity, velocity, multipliers, unknowns, when=has_tree)
def tree_dynamics(s, w, q, v, vd, lam, x):
    """Dynamic rows of x: the wrench that every joint carries, seen along its columns (frames must be up to date).

    The largest force and torque go to w.scales.
    """
    y = w.tree
    tree_motion(s, w, q, v, vd)
    loaded = s.flags[FLAG_LOADED] != 0 or s.tree.free.shape[0] > 0
    if loaded:
        tree_loads(s, w, lam)
    force, torque = 0.0, 0.0
    for m in range(s.tree.order.shape[0]):
        i = s.tree.order[m]
        f = y.inertial[i]
        inertia_wrench(s.nodes[i], w.z[i], y.twist[i], y.acceleration[i], s.gravity, f, y.scratch)
        copy_six(f, y.wrench[i])
        if loaded:
            add_six(1.0, y.applied[i], y.wrench[i])
            torque = max(torque, abs(y.applied[i, 0]), abs(y.applied[i, 1]), abs(y.applied[i, 2]))
        torque = max(torque, abs(f[0]), abs(f[1]), abs(f[2]))
    for m in range(s.tree.order.shape[0] - 1, -1, -1):
        i = s.tree.order[m]
        n = s.nodes[i]
        p = s.tree.carried[i].parent
        f = y.wrench[i]
        force = max(force, abs(f[3]), abs(f[4]), abs(f[5]))
        for k in range(n.nv):
            j = n.v0 + k
            x[n.x0 + k] = dot_six(y.columns[j], f) + s.tree.inertia[j] * vd[j]
        if n.form == FORM_QUATERNION:
            radial_force(n, q, v, vd, x)
            internal_force(n, q, lam, x)
        if p > 0:
            add_shifted_force(f, w.z[i], w.z[p], y.wrench[p])
    for m in range(s.tree.loads.shape[0]):
        load = joint_load(s, w, m, q, v)
        x[s.xv[s.tree.loads[m, 1]]] += load
        torque = max(torque, abs(load))
    for m in range(s.tree.free.shape[0]):
        i = s.tree.free[m]
        f = w.f[i]
        force = max(force, abs(f[0]), abs(f[1]), abs(f[2]))
        for k in range(3, 12):
            torque = max(torque, abs(f[k]))
        node_rows(s, w, i, q, v, vd, lam, x)
    w.scales[0] = force
    w.scales[1] = max(torque, force * s.parameters[PARAMETER_ARM])  # as the forces of joints have on bodies
