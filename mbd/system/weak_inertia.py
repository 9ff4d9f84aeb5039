"""Bodies with mass but without inertia about some axis, where a joint leaves the rotation about this axis free.

A body is eliminated alone, or with one of its joints. If its inertia about an axis vanishes (thin rods, links of which
only one moment of inertia matters), the pivot of this rotation is what the joint holds of it: nothing, if the joint is
a hinge about the same axis or a ball. What remains is round-off, and accelerations are garbage. Such bodies are
eliminated together with all of their joints, as bodies without mass are. Rods whose hinges hold their spin are not
concerned; a long chain of them keeps its order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.kernel import kernel
from ..compiled.kinds import as_records, integers, records
from ..joints import Joint
from ..joints.tree import free_motions
from ..model import Model
from ..nodes.forms import FORM_DIRECTORS, FORM_LIE, NODE
from ..nodes.mass import central_inertia_matrix

Array = np.ndarray

WEAK = 1e-8  # moment of inertia against the others, below which a pivot would be made of round-off
HELD = 0.1  # sine of the angle between axes from which on a joint holds a rotation


def loosely_held(model: Model, nodes: Array) -> Array:
    """Which nodes, the ground included, are bodies with such a rotation."""
    found, candidates = np.zeros(len(nodes), dtype=bool), _candidates(nodes)
    joints: dict[int, list[Joint]] = {}
    for joint in model.joints if len(candidates) else ():
        for each in (joint.body_a, joint.body_b):
            joints.setdefault(id(each), []).append(joint)
    for i in candidates:
        moments, axes = np.linalg.eigh(central_inertia_matrix(nodes.view(np.recarray)[i]))
        weak = axes[:, moments <= WEAK * max(moments[-1], 0.0)]
        body = model.bodies[i - 1]
        found[i] = weak.shape[1] > 0 and any(not _holds(joint, body, weak) for joint in joints.get(id(body), ()))
    return found


def _candidates(nodes: Array) -> Any:
    """Nodes whose least moment of inertia may be weak, by the determinant: one look at all of them is cheap."""
    found = np.zeros(len(nodes), dtype=np.int64)
    return np.flatnonzero(found) if _look_for_weak(as_records(nodes), found) else ()


@kernel(kinds=(records(NODE), integers))
def _look_for_weak(nodes, found):
    """Mark these nodes, and tell how many there are."""
    count = 0
    for i in range(nodes.shape[0]):
        n = nodes[i]
        if not n.mass > 0.0 or n.form < FORM_LIE or n.form > FORM_DIRECTORS:
            continue
        per = (1.0 if n.nx == 3 else 0.0) / n.mass  # about the centre of mass
        x, y, z = n.s1, n.s2, n.s3
        a, b, c = n.j11 - per * (y * y + z * z), n.j22 - per * (x * x + z * z), n.j33 - per * (x * x + y * y)
        d, e, f = n.j12 + per * x * y, n.j13 + per * x * z, n.j23 + per * y * z
        determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
        if determinant <= WEAK * (a + b + c) * (a + b + c) * (a + b + c):
            found[i] = 1
            count += 1
    return count


def _holds(joint: Joint, body: Any, weak: Array) -> bool:
    """Whether a joint holds all rotations about the axes in the columns of ``weak``, of a body, at the start."""
    motions = free_motions(joint)
    if motions is None or "ball" in motions:
        return False
    turns = sum(motion in ("turn", "screw") for motion in motions)
    if turns == 0:
        return True
    own, other = (joint.axis_a, joint.axis_b) if body is joint.body_a else (joint.axis_b, joint.axis_a)
    if turns == 1:  # all rotations but those about its axis
        along = np.linalg.norm(weak.T @ own)
        return bool(1.0 - along * along > HELD * HELD)
    partner: Any = joint.body_b if body is joint.body_a else joint.body_a
    across = np.cross(own, body.rotation.T @ partner.rotation @ other)  # the one that a universal joint holds
    return weak.shape[1] == 1 and bool(abs(weak[:, 0] @ across) > HELD)
