"""Whether the contacts of a run could have carried what they carried."""

from __future__ import annotations

import warnings

import numpy as np

from ..errors import ModelWarning
from ..joints import Rolling
from ..results.solution import Solution

PULL = 1e-3  # of the largest force of a contact; less is a transient of the first steps
ROUND_OFF = 1e-9  # of the inertia forces of the rolling body, where a contact carries nothing


def warn_of_pulling(solution: Solution, stacklevel: int = 1) -> None:
    """Say once for every rolling contact that it held its body fast: a real one would have lifted off."""
    for joint in solution.model.joints:
        if not isinstance(joint, Rolling) or len(solution) == 0:
            continue
        pressure = -solution.lam[:, solution.system.joint_slice(joint)][:, 0]
        speed = np.linalg.norm(solution[joint.body_b].velocity, axis=1).max()
        mass = sum(getattr(body, "mass", 0.0) for body in (joint.body_a, joint.body_b))
        limit = PULL * np.abs(pressure).max() + ROUND_OFF * mass * speed * speed / joint.radius
        pulls = np.flatnonzero(pressure < -limit)
        if len(pulls):
            first = pulls[0]
            warnings.warn(
                f"{joint} pulls: from t = {solution.t[first]:.6g} on it would have to hold '{joint.body_b.name}' (with "
                f"up to {-pressure.min():.3g}), which a real contact cannot: the body would lift off there. End the "
                "run with an Event, or change speeds and loads",
                ModelWarning, stacklevel=stacklevel + 1,
            )  # fmt: skip
