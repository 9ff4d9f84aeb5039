"""Forms of nodes, on which kernels dispatch, and the record of a node in the tables of a system."""

from __future__ import annotations

from typing import Any

import numpy as np

F8, I8 = "f8", "i8"

# --- how a node's frame depends on its increments; the kernels dispatch on this ---------------------------------
FORM_GROUND = 0  # no coordinates
FORM_POINT = 1  # position only
FORM_LIE = 2  # velocity (r_dot, omega), whatever the rotation is stored in
FORM_SPIN = 3  # three parameters, velocity rho_dot, omega = G(rho) rho_dot
FORM_QUATERNION = 4  # frame quadratic in four parameters, one internal constraint
FORM_DIRECTORS = 5  # frame linear in nine parameters, six internal constraints
FORM_GENERALIZED = 6  # user coordinates with M(q), V(q), g(q); no frame
FORM_JOINT = 7  # angles and displacements of a joint that carries the body (mbd/nodes/tree)

FORMS = ("ground", "point", "lie", "spin", "quaternion", "directors", "generalized", "joint")
"""Names of the forms, by their numbers."""

NODE = np.dtype(
    [(name, I8) for name in ("kind", "form", "axis1", "axis2", "axis3")]
    + [(name, I8) for name in ("q0", "nq", "v0", "nv", "nx", "l0", "nl")]  # offsets and sizes; nx: 3, or 0 if pinned
    + [("apart", I8)]  # whether the momenta of the system do not contain its own
    + [(name, I8) for name in ("x0", "block", "ld")]  # place in the permuted unknowns, diagonal block of the matrix
    + [(name, F8) for name in ("mass", "s1", "s2", "s3")]  # mass, first moment m c in body axes
    + [(name, F8) for name in ("j11", "j22", "j33", "j12", "j13", "j23")]  # inertia about the reference point
    + [(name, F8) for name in ("e11", "e22", "e33", "e12", "e13", "e23")]  # Euler tensor 1/2 tr(J) I - J
    + [(name, F8) for name in ("i11", "i22", "i33", "i12", "i13", "i23")]  # inverse inertia, see FLAG_SIMPLE
    + [(name, F8) for name in ("r1", "r2", "r3")]  # position of a pinned reference point
    + [(name, I8) for name in ("mass_function", "potential_function", "constraint_function", "force_function", "u0")]
)


def of_form(nodes: Any, *forms: str) -> np.ndarray:
    """Which records of nodes are of one of these forms."""
    chosen = np.zeros(len(FORMS), dtype=bool)
    chosen[[FORMS.index(form) for form in forms]] = True
    return np.asarray(chosen[nodes.view(np.ndarray)["form"]])


def lie_rotations(nodes: Any) -> list[int]:
    """The first velocities of the rotations of Lie nodes."""
    found = nodes[of_form(nodes, "lie")]
    return (found["v0"] + found["nx"]).tolist()


def become_lie(nodes: Any, which: np.ndarray, kind: int) -> None:
    """Turn records of nodes into those of Lie nodes of a kind."""
    nodes["form"][which], nodes["kind"][which] = FORM_LIE, kind


def become_points(nodes: Any, which: np.ndarray) -> None:
    """Turn records of nodes into those of points with the mass one."""
    nodes["form"][which], nodes["nx"][which], nodes["mass"][which] = FORM_POINT, 3, 1.0


def leave_out(nodes: Any, which: np.ndarray) -> None:
    """Let records of nodes have no coordinates and no functions, so that whoever goes over them does nothing."""
    for name in ("nq", "nv", "nl"):
        nodes[name][which] = 0
    for name in ("mass_function", "potential_function", "constraint_function", "force_function"):
        nodes[name][which] = -1
