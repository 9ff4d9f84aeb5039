"""Looking at a finished run in joint coordinates: frames of one body along its path, and what its joint carries."""

from __future__ import annotations

from ..compiled.kernel import kernel
from ..nodes.tree.motion import add_columns, frame_accelerations, frame_rates, move_child, place_carried
from ..nodes.tree.spatial import add_six, shift_motion
from .instant import dynamics, frames, velocities


@kernel
def observe_carried(s, w, path, q, v, vd, z, zd, zdd):
    """Frames of the last node of a path at all records, their velocities and accelerations unless these are empty."""
    y = w.tree
    for k in range(q.shape[0]):
        for m in range(path.shape[0]):
            i = path[m]
            n, c = s.nodes[i], s.tree.carried[i]
            p = c.parent
            zp, zi = w.z[p], w.z[i]
            place_carried(n, c, q[k], zp, zi, w.spin[i], y.columns, y.balls[i], y.scratch)
            if zd.shape[0] > 0:
                move_child(
                    n, c, q[k], v[k], w.spin[i], zp, zi, y.columns, y.balls[i], y.twist[p], y.twist[i], y.bias[i],
                    y.scratch,
                )  # fmt: skip
            if zdd.shape[0] > 0:
                shift_motion(y.acceleration[p], zp, zi, y.acceleration[i])
                add_six(1.0, y.bias[i], y.acceleration[i])
                add_columns(n, y.columns, vd[k], y.acceleration[i])
        last = path[path.shape[0] - 1]
        for m in range(12):
            z[k, m] = w.z[last, m]
        if zd.shape[0] > 0:
            frame_rates(z[k], y.twist[last], zd[k])
        if zdd.shape[0] > 0:
            frame_accelerations(z[k], y.twist[last], y.acceleration[last], zdd[k])


@kernel
def observe_wrench(s, w, i, times, q, v, vd, lam, values, turns, columns, out):
    """out[k] = wrench that the joint of node i exerts on its body, at the body's reference point, and its columns."""
    for k in range(q.shape[0]):
        w.time[0] = times[k]
        for j in range(values.shape[1]):
            w.values[j] = values[k, j]
        for j in range(turns.shape[1]):
            w.turns[j] = turns[k, j]
        frames(s, w, q[k])
        velocities(s, w, q[k], v[k])
        dynamics(s, w, q[k], v[k], vd[k], lam[k], w.x)
        for m in range(6):
            out[k, m] = w.tree.wrench[i, m]
        n = s.nodes[i]
        for j in range(n.nv):
            for m in range(6):
                columns[k, 6 * j + m] = w.tree.columns[n.v0 + j, m]
