"""Looking at a finished run: frames of one body, reactions, force elements, and totals of the system.

Each kernel loops over the records of a run in compiled code, so that looking at a solution costs no Python call per
step. Frames are filled for one node at a time: all of them at once would not fit into memory for large models.
Functions of time enter as recorded values, not as calls, so that a solution read from a file needs no user code.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiled.kernel import kernel
from ..compiled.kinds import integers, matrix, vector
from ..forces.instant import force_residual, law_at_instant, spring_state
from ..forces.kinds import AXIS_SPRING, SPRING, TORSION_SPRING
from ..forces.tension import stored, tension
from ..joints.angles import angle_force
from ..joints.instant import ANGLE, primitive_force
from ..linalg.front import FAILED
from ..math.arrays import clear
from ..math.quaternions import axes_to_quaternion
from ..nodes.forms import FORM_GENERALIZED, FORM_LIE, FORM_QUATERNION, FORM_SPIN
from ..nodes.frames import fixed_frame, node_bias, node_frame, node_velocity
from ..nodes.generalized import generalized_mass, generalized_potential, subtract_force
from ..nodes.inertia import frame_acceleration
from ..nodes.markers import angular_velocity
from ..nodes.mass import frame_energy, frame_inertia, inertia_times, lie_energy
from ..nodes.spin import spin_matrix
from ..nodes.tree.records import NOT_CARRIED
from .accelerations import accelerations, accelerations_again
from .couplings import observe_frame_element
from .defect import velocity_defect
from .frame_elements import FORCE
from .instant import constraint_rates, constraints, evaluate_functions, frames, jacobian_times, velocities
from .matrix import solve
from .tables import FLAG_SIMPLE, FLAG_TREE, RECORDED, RECORDS
from .tree_assembly import path_of
from .tree_observe import observe_carried

if TYPE_CHECKING:
    pass

# columns of the totals
KINETIC = 0
POTENTIAL = 1
POWER = 2  # of what is not derived from a potential: dampers, loads, and joints that are driven
LINEAR = 3  # three columns
ANGULAR = 6  # three columns, about the world's origin
POSITION_ERROR = 9
VELOCITY_ERROR = 10
SPIN = 11  # largest angular speed of a body
SPEED = 12  # largest velocity coordinate ...
VELOCITY_DEFECT = 13  # ... and largest violation of a velocity constraint, both in sizes of the model or rad per time
TOTALS = 14

# columns of a force element
COORDINATE = 0
RATE = 1
ENERGY = 2
FORCE_POWER = 3
EFFORT = 4  # along or about the axis of a joint, on its second body
FORCE_COLUMNS = 5

CHOSEN = "chosen records"
_totals: Any = matrix.at_least("columns", TOTALS).per(RECORDS)
_force_columns: Any = matrix.at_least("columns", FORCE_COLUMNS).per(RECORDS)
_observing = kernel(kinds=RECORDED)


@_observing
def observe_values(s, w, times, values):
    """values[k] = the functions of time at the k-th record."""
    for k in range(times.shape[0]):
        evaluate_functions(s, w, times[k])
        for j in range(values.shape[1]):
            values[k, j] = w.values[j]


@_observing
def observe_laws(s, w, times, q, v, turns, values):
    """values[k] = functions of the coordinates of joints at the k-th record as well."""
    for k in range(times.shape[0]):
        for j in range(turns.shape[1]):
            w.turns[j] = turns[k, j]
        frames(s, w, q[k])
        velocities(s, w, q[k], v[k])
        for i in range(s.forces.shape[0]):
            e = s.forces[i]
            za, zb, zda, zdb = w.z[e.a], w.z[e.b], w.zd[e.a], w.zd[e.b]
            law_at_instant(e, s.functions, times[k], za, zb, zda, zdb, w.turns, 0, w.user, values[k])


@_observing
def observe_frames(s, w, i, q, v, vd, z, zd, zdd):
    """Frames of node i at all records, their velocities and accelerations unless these are empty (zero on entry)."""
    n = s.nodes[i]
    g, zb = w.spin[i], w.zb[i]
    for k in range(q.shape[0]):
        fixed_frame(n, z[k])
        node_frame(n, q[k], z[k])
        if zd.shape[0] > 0:
            if n.form == FORM_SPIN:
                spin_matrix(n, q[k], g)
            node_velocity(n, q[k], v[k], g, z[k], zd[k], w.scratch)
        if zdd.shape[0] > 0:
            node_bias(n, q[k], v[k], g, z[k], zd[k], zb, w.scratch)
            frame_acceleration(n, q[k], vd[k], z[k], zb, zdd[k], g)


@_observing
def observe_quaternions(z, columns):
    """Unit quaternions of frames, scalar first and not negative."""
    for k in range(z.shape[0]):
        e0, e1, e2, e3 = axes_to_quaternion(z[k])
        sign = math.copysign(1.0, e0)
        columns[k, 0], columns[k, 1], columns[k, 2], columns[k, 3] = sign * e0, sign * e1, sign * e2, sign * e3


@kernel
def _keep_length(nodes, q, v):
    """Velocities of conventional quaternions without what changes their length, which turns nothing."""
    for i in range(1, nodes.shape[0]):
        n = nodes[i]
        if n.form == FORM_QUATERNION:
            rate, square = 0.0, 0.0
            for m in range(n.nx, n.nq):
                rate += q[n.q0 + m] * v[n.v0 + m]
                square += q[n.q0 + m] * q[n.q0 + m]
            for m in range(n.nx, n.nq):
                v[n.v0 + m] -= rate / square * q[n.q0 + m]


@_observing
def observe_accelerations(s, w, times, q, v, values, turns, zero, u, vd, lam):
    """Accelerations and multipliers of the index-1 form at all records; not a number where it has no solution.

    Velocities are those nearest to the recorded ones (in the mass metric) that meet the velocity constraints: a defect
    that alternates from step to step is no motion, and the accelerations would contain its square.
    """
    for k in range(q.shape[0]):
        w.time[0] = times[k]
        for j in range(values.shape[1]):
            w.values[j] = values[k, j]
        for j in range(turns.shape[1]):
            w.turns[j] = turns[k, j]
        for j in range(u.shape[0]):
            u[j] = v[k, j]
        _keep_length(s.nodes, q[k], u)
        accelerations(s, w, q[k], u, zero, vd[k], lam[k])
        if lam.shape[1] > 0 and w.report[FAILED] == 0.0:
            clear(w.x)
            constraint_rates(s, w, q[k], u, w.x)
            for j in range(s.xl.shape[0]):
                w.x[s.xl[j]] = -w.x[s.xl[j]]
            solve(s, w.matrix, w.pivots, w.dinv, w.x)
            for j in range(u.shape[0]):
                u[j] += w.x[s.xv[j]]
            accelerations_again(s, w, q[k], u, zero, vd[k], lam[k])
        if s.flags[FLAG_SIMPLE] == 0 and w.report[FAILED] != 0.0:
            for j in range(vd.shape[1]):
                vd[k, j] = np.nan
            for j in range(lam.shape[1]):
                lam[k, j] = np.nan


@_observing
def observe_reaction(table, i, values, za, zb, lam, fa, fb):
    """fa[k], fb[k] += g_z^T lambda of primitive i on the frames of its bodies."""
    p = table[i]
    for k in range(lam.shape[0]):
        if p.kind == ANGLE:
            angle_force(p, za[k], zb[k], lam[k, p.l0], fa[k], fb[k])
        else:
            value = values[k, p.function] if p.function >= 0 else p.value
            primitive_force(p, za[k], zb[k], value, lam[k], p.l0, fa[k], fb[k])


@kernel
def is_spring(e):
    """Whether the element stores energy in a coordinate u."""
    return e.kind == SPRING or e.kind == AXIS_SPRING or e.kind == TORSION_SPRING


@kernel
def applied_power(fa, fb, zda, zdb):
    """Power of applied frame forces that are given with the sign of the residual."""
    power = 0.0
    for m in range(12):
        power -= fa[m] * zda[m] + fb[m] * zdb[m]
    return power


@kernel(kinds={**RECORDED, "out": _force_columns})
def observe_force(forces, i, values, turns, za, zb, zda, zdb, on_a, f, out):
    """Row i of a table of forces: f[k] += applied frame force on the second body, out[k] = the columns above.

    ``on_a`` is scratch for that on the first one.
    """
    e = forces[i]
    for k in range(za.shape[0]):
        clear(on_a)
        force_residual(e, za[k], zb[k], zda[k], zdb[k], values[k], turns[k], on_a, f[k])
        out[k, FORCE_POWER] = applied_power(on_a, f[k], zda[k], zdb[k])
        for m in range(12):
            f[k, m] = -f[k, m]
        if is_spring(e):
            u, rate = spring_state(e, za[k], zb[k], zda[k], zdb[k], turns[k])
            elastic, other, du, dr = tension(e, u, rate, values[k])
            out[k, COORDINATE] = u
            out[k, RATE] = rate
            out[k, ENERGY] = stored(e, u)
            out[k, EFFORT] = -elastic - other


@kernel(kinds={**RECORDED, "out": _force_columns})
def observe_joint(s, w, i, j, forces, q, v, vd, turns, za, zda, zb, zdb, zdd, out):
    """Coordinate and rate of the first row of a table of forces, a spring, between nodes i and j that nothing carries.

    Frames and their velocities are scratch; ``vd`` and ``zdd`` are empty.
    """
    for k in range(q.shape[0]):
        clear(za[k])
        clear(zb[k])
        clear(zda[k])
        clear(zdb[k])
    observe_frames(s, w, i, q, v, vd, za, zda, zdd)
    observe_frames(s, w, j, q, v, vd, zb, zdb, zdd)
    for k in range(q.shape[0]):
        out[k, COORDINATE], out[k, RATE] = spring_state(forces[0], za[k], zb[k], zda[k], zdb[k], turns[k])


@kernel
def _generalized_energy(s, w, n, q, v):
    """Kinetic energy of a generalized node."""
    twice, mass = 0.0, w.buffers[0]
    generalized_mass(n, q[n.q0 :], s.functions, s.constants, w.user, mass)
    for a in range(n.nv):
        for b in range(n.nv):
            twice += v[n.v0 + a] * mass[a * n.nv + b] * v[n.v0 + b]
    return 0.5 * twice


@kernel
def _add_nodes(s, w, q, v, row, directly):
    """Energies of all nodes, powers of generalized ones, and the largest spin.

    ``directly``: those of Lie nodes from their velocities, in a third of the time and the same but for round-off.
    Sums are kept in numbers until the end: through memory every addition would wait for the one before.
    """
    kinetic, potential, power, spin = 0.0, 0.0, 0.0, 0.0
    g1, g2, g3 = s.gravity[0], s.gravity[1], s.gravity[2]
    for i in range(1, s.nodes.shape[0]):
        n, z, zd = s.nodes[i], w.z[i], w.zd[i]
        if n.form == FORM_GENERALIZED:
            kinetic += _generalized_energy(s, w, n, q, v)
            potential += generalized_potential(n, q[n.q0 :], s.functions, w.user)
            if n.force_function >= 0:
                f = w.buffers[1]
                clear(f)
                subtract_force(n, w.time[0], q[n.q0 :], v[n.v0 :], s.functions, w.user, f)
                for k in range(n.nv):
                    power -= f[k] * v[n.v0 + k]
            continue
        if directly and n.form == FORM_LIE:
            j = n.v0 + n.nx
            w1, w2, w3 = v[j], v[j + 1], v[j + 2]
            kinetic += lie_energy(n, w1, w2, w3, zd)
        else:
            w1, w2, w3 = angular_velocity(z, zd)
            kinetic += frame_energy(n, zd)
        if n.apart == 0:
            potential -= g1 * (n.mass * z[0] + n.s1 * z[3] + n.s2 * z[6] + n.s3 * z[9])
            potential -= g2 * (n.mass * z[1] + n.s1 * z[4] + n.s2 * z[7] + n.s3 * z[10])
            potential -= g3 * (n.mass * z[2] + n.s1 * z[5] + n.s2 * z[8] + n.s3 * z[11])
            spin = max(spin, w1 * w1 + w2 * w2 + w3 * w3)
    for j in range(s.tree.inertia.shape[0]):  # of rotors
        kinetic += 0.5 * s.tree.inertia[j] * v[j] * v[j]
    row[KINETIC], row[POTENTIAL], row[POWER], row[SPIN] = kinetic, potential, power, math.sqrt(spin)


@kernel
def _add_momenta(s, w, row):
    """Momenta of all nodes, from those of their frames."""
    for i in range(1, s.nodes.shape[0]):
        n, z, p = s.nodes[i], w.z[i], w.f[i]
        if n.form == FORM_GENERALIZED or n.apart != 0:
            continue
        clear(p)
        frame_inertia(n, w.zd[i], p)  # the momentum of the frame is its mass times its velocity
        for m in range(3):
            row[LINEAR + m] += p[m]
        for m in range(4):
            j = 3 * m
            row[ANGULAR] += z[j + 1] * p[j + 2] - z[j + 2] * p[j + 1]
            row[ANGULAR + 1] += z[j + 2] * p[j] - z[j] * p[j + 2]
            row[ANGULAR + 2] += z[j] * p[j + 1] - z[j + 1] * p[j]


@kernel
def _add_elements(s, w, lam, row):
    """Add energies and powers of forces and frame elements."""
    for i in range(s.forces.shape[0]):
        _add_force(s, w, i, row)
    for i in range(s.frame_elements.shape[0]):
        observe_frame_element(s, w, i, lam, w.observed)
        row[POTENTIAL] += w.observed[0]
        row[POWER] += w.observed[2]


@kernel
def _add_power_of_constraints(s, w, q, v, lam, row):
    """Add the constraints' power on the system, lambda . g_t; w.x has their rates B v + g_t."""
    jacobian_times(s, w, q, v, w.g)
    for j in range(s.xl.shape[0]):
        row[POWER] += lam[j] * (w.x[s.xl[j]] - w.g[s.xl[j]])


@kernel
def _move(s, w, t, q, v, values, turns):
    """Frames and their velocities at a record."""
    for j in range(values.shape[0]):
        w.values[j] = values[j]
    for j in range(turns.shape[0]):
        w.turns[j] = turns[j]
    w.time[0] = t
    frames(s, w, q)
    velocities(s, w, q, v)


@kernel
def _add_force(s, w, i, row):
    """Add the energy of one force element, or the power of what has none."""
    e = s.forces[i]
    za, zb, zda, zdb = w.z[e.a], w.z[e.b], w.zd[e.a], w.zd[e.b]
    if is_spring(e):
        u, rate = spring_state(e, za, zb, zda, zdb, w.turns)
        elastic, other, du, dr = tension(e, u, rate, w.values)
        row[POTENTIAL] += stored(e, u)
        row[POWER] -= other * rate
        return
    fa, fb = w.f[e.a], w.f[e.b]
    clear(fa)
    clear(fb)
    force_residual(e, za, zb, zda, zdb, w.values, w.turns, fa, fb)
    row[POWER] += applied_power(fa, fb, zda, zdb)


@kernel
def _largest(x, index):
    """Largest modulus of some entries; NaN counts as largest."""
    largest = 0.0
    for k in range(index.shape[0]):
        size = abs(x[index[k]])
        if not size <= largest:
            largest = size
    return largest


@kernel(kinds={**RECORDED, "row": vector.at_least("columns", TOTALS), "out": vector.per(RECORDS)})
def observe_kinetic(s, w, q, v, row, out):
    """out[k] = kinetic energy of a system in coordinates of its bodies; row is scratch for the columns above.

    Frames are computed only where the energy depends on them.
    """
    for k in range(q.shape[0]):
        clear(row)
        for i in range(1, s.nodes.shape[0]):
            n = s.nodes[i]
            j = n.v0 + n.nx
            if n.form == FORM_LIE and n.s1 == 0.0 and n.s2 == 0.0 and n.s3 == 0.0:
                w1, w2, w3 = v[k, j], v[k, j + 1], v[k, j + 2]
                h1, h2, h3 = inertia_times(n, w1, w2, w3)
                row[KINETIC] += 0.5 * (w1 * h1 + w2 * h2 + w3 * h3)
                for m in range(n.nx):
                    row[KINETIC] += 0.5 * n.mass * v[k, n.v0 + m] * v[k, n.v0 + m]
                continue
            if n.form == FORM_LIE or n.form == FORM_SPIN or n.form == FORM_QUATERNION:
                node_frame(n, q[k], w.z[i])
            if n.form == FORM_SPIN:
                spin_matrix(n, q[k], w.spin[i])
            node_velocity(n, q[k], v[k], w.spin[i], w.z[i], w.zd[i], w.scratch)
            if n.form == FORM_GENERALIZED:
                row[KINETIC] += _generalized_energy(s, w, n, q[k], v[k])
            else:
                row[KINETIC] += frame_energy(n, w.zd[i])
        out[k] = row[KINETIC]


@kernel(kinds={**RECORDED, "out": _totals})
def observe_totals(s, w, times, q, v, lam, values, turns, out):
    """out[k] = energies, power, momenta and constraint errors of the whole system (the columns above)."""
    for k in range(q.shape[0]):
        row = out[k]
        clear(row)
        _move(s, w, times[k], q[k], v[k], values[k], turns[k])
        _add_nodes(s, w, q[k], v[k], row, False)
        _add_momenta(s, w, row)
        _add_elements(s, w, lam[k], row)
        constraints(s, w, q[k], w.x)
        row[POSITION_ERROR] = _largest(w.x, s.xl)
        constraint_rates(s, w, q[k], v[k], w.x)
        row[VELOCITY_ERROR] = _largest(w.x, s.xl)
        row[SPEED], row[VELOCITY_DEFECT], _ = velocity_defect(s, v[k], w.x)
        _add_power_of_constraints(s, w, q[k], v[k], lam[k], row)


@kernel(
    kinds={
        **RECORDED, "chosen": integers.per(CHOSEN), "lam": RECORDED["lam"].per(RECORDS, optional=True),
        "values": matrix.per(CHOSEN), "out": matrix.at_least("columns", TOTALS).per(CHOSEN),
    }
)  # fmt: skip
def observe_balance(s, w, chosen, times, q, v, lam, values, turns, out):
    """Totals at chosen records; momenta and errors are zero, which an energy balance does not look at.

    No multipliers are needed where no constraint depends on time.
    """
    directly = s.flags[FLAG_TREE] == 0  # velocities of carried nodes are those of their joints
    for m in range(chosen.shape[0]):
        k, row = chosen[m], out[m]
        clear(row)
        _move(s, w, times[k], q[k], v[k], values[m], turns[k])
        _add_nodes(s, w, q[k], v[k], row, directly)
        _add_elements(s, w, lam[k] if lam.shape[0] > 0 else w.unit, row)
        constraint_rates(s, w, q[k], v[k], w.x)
        row[SPEED], row[VELOCITY_DEFECT], _ = velocity_defect(s, v[k], w.x)
        if lam.shape[0] > 0:
            _add_power_of_constraints(s, w, q[k], v[k], lam[k], row)


@kernel(kinds={**RECORDED, "out": _force_columns})
def observe_general(s, w, i, j, times, q, v, lam, f, out):
    """Frame element i: f[k] += applied frame force on its j-th body, out[k] += energy and power."""
    for k in range(q.shape[0]):
        w.time[0] = times[k]
        frames(s, w, q[k])
        velocities(s, w, q[k], v[k])
        observe_frame_element(s, w, i, lam[k], w.observed)
        out[k, ENERGY] += w.observed[0]
        out[k, FORCE_POWER] += w.observed[1]
        for m in range(12):
            f[k, m] -= w.real_buffers[FORCE, 12 * j + m]


def frame_observer(system: Any, index: int) -> tuple[Any, Any]:
    """The kernel that observes the frames of a node, and which node it is, as the kernel wants to know it."""
    tables = system.tables
    if tables.flags[FLAG_TREE] and tables.tree.carried[index].parent != NOT_CARRIED:
        return observe_carried, np.array(path_of(index, tables.tree.carried.parent)[::-1], dtype=np.int64)
    return observe_frames, index
