"""What the reference says about a joint beyond its docstring: drawing of free motions, equations, result attributes.

All of it is computed from a joint that is made: the drawing from the null space of its velocity equations, the
equations from its primitives, the attributes from the channels of a run.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import samples
from files import put

import mbd
from mbd.joints import Coincident, DistanceBetween, Dot1, Dot2
from mbd.joints.primitive_data import CoordinateSum, FrameRows, Turned

GREEN, ORANGE, BLUE, GREY = "#1b7f4b", "#d1610a", "#3b6fb6", "#9a9a9a"
AXES = "xyz"
FREE = 1e-9  # rate of an equation that counts as none


def free_motions(model: mbd.Model, joint: Any) -> tuple[list[int], int]:
    """(free ones among translations x, y, z and rotations x, y, z of the body at the joint, number of all)."""
    system = mbd.assemble(model)
    q, v = system.initial_state()
    rows = system.constraint_jacobian(q).toarray()[system.joint_slice(joint)]
    body = next(x for x in (joint.body_b, joint.body_a) if x is not model.ground)
    block = rows[:, system.body_slices(body)[1]]
    arm = -np.asarray(body.position)  # joints are at the origin: the reference point moves with omega x r
    twists = [np.concatenate((e, np.zeros(3))) for e in np.eye(3)]
    twists += [np.concatenate((np.cross(e, -arm), e)) for e in np.eye(3)]
    return [k for k, twist in enumerate(twists) if np.abs(block @ twist).max() < FREE], 6 - np.linalg.matrix_rank(block)


def draw(free: list[int], coupled: bool, path: Path) -> None:
    """Two blocks, and the free motions of the upper one: straight in green, round in orange, a helix where coupled."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = plt.figure(figsize=(3.2, 2.9), dpi=110)
    ax = figure.add_subplot(projection="3d")
    for low, high, colour, alpha in ((-0.5, -0.16, GREY, 0.45), (0.16, 0.5, BLUE, 0.5)):
        ax.add_collection3d(
            Poly3DCollection(block(0.3, low, high), facecolor=colour, edgecolor="0.3", alpha=alpha, lw=0.6)
        )
    ax.plot([0, 0], [0, 0], [-0.16, 0.16], color="0.3", lw=3)
    ax.scatter([0], [0], [0], color="0.2", s=28, depthshade=False)
    for k in free:
        e = np.eye(3)[k % 3]
        if k < 3:
            for sign in (-1, 1):
                tip = sign * 1.15 * e
                ax.plot(*np.array((0.62 * sign * e, tip)).T, color=GREEN, lw=2.2)
                cone(ax, tip, sign * e, GREEN)
        else:
            a, b = np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]
            angle = np.linspace(0.15, 1.6 * np.pi, 60)
            ring = 0.95 * e + 0.24 * (np.cos(angle)[:, None] * a + np.sin(angle)[:, None] * b)
            ax.plot(*ring.T, color=ORANGE, lw=2.2)
            cone(ax, ring[-1], ring[-1] - ring[-2], ORANGE)
            ax.plot(*np.array((-1.0 * e, 1.1 * e)).T, color=ORANGE, lw=0.8, ls="--")
    if coupled:
        angle = np.linspace(-np.pi, 5 * np.pi, 160)
        helix = np.column_stack((0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.56 + 0.026 * (angle + np.pi)))
        ax.plot(*helix.T, color=ORANGE, lw=2.2)
        cone(ax, helix[-1], helix[-1] - helix[-2], ORANGE)
    for k, name in enumerate(AXES):
        ax.text(*(1.32 * np.eye(3)[k]), name, color="0.25", ha="center", va="center", fontsize=10)
        ax.plot(*np.array((np.zeros(3), 1.2 * np.eye(3)[k])).T, color="0.75", lw=0.7)
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    ax.set_box_aspect((1, 1, 1), zoom=1.2)
    ax.view_init(elev=22, azim=-52)
    ax.set_axis_off()
    figure.subplots_adjust(0, 0, 1, 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    plt.close(figure)


def block(half: float, low: float, high: float) -> list[np.ndarray]:
    """Faces of a box about the z axis."""
    x = np.array([(a, b, c) for a in (-half, half) for b in (-half, half) for c in (low, high)])
    return [
        x[list(face)] for face in ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))
    ]


def cone(ax: Any, tip: np.ndarray, along: np.ndarray, colour: str) -> None:
    """The head of an arrow."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    along = along / np.linalg.norm(along)
    side = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    side /= np.linalg.norm(side)
    other = np.cross(along, side)
    angle = np.linspace(0, 2 * np.pi, 17)
    rim = tip - 0.05 * along + 0.06 * (np.cos(angle)[:, None] * side + np.sin(angle)[:, None] * other)
    faces = [np.array((tip + 0.13 * along, rim[k], rim[k + 1])) for k in range(16)]
    ax.add_collection3d(Poly3DCollection(faces, facecolor=colour, edgecolor=colour, lw=0.2))


def vector_name(joint: Any, value: Any, body: str) -> str:
    """The letter of a body-fixed vector of a joint."""
    for name, letter in (("axis", "a"), ("n1", "n_1"), ("n2", "n_2")):
        own = getattr(joint, f"{name}_{body}", None)
        if own is not None and np.allclose(own, value, atol=1e-12):
            return rf"\boldsymbol {letter}^{{{body}}}"
    return rf"\boldsymbol e^{{{body}}}"


def equation(joint: Any, primitive: Any) -> str:
    """One primitive in LaTeX."""
    value = " - c(t)" if getattr(primitive, "motion", None) is not None else ""
    if isinstance(primitive, Coincident):
        return r"\boldsymbol Q - \boldsymbol P &= \boldsymbol 0"
    if isinstance(primitive, Dot1):
        a, b = vector_name(joint, primitive.axis_a, "a"), vector_name(joint, primitive.axis_b, "b")
        return rf"{a} \cdot {b}{constant(primitive.value)} &= 0"
    if isinstance(primitive, Dot2):
        a = vector_name(joint, primitive.axis_a, "a")
        return rf"{a} \cdot (\boldsymbol Q - \boldsymbol P){value or constant(primitive.value)} &= 0"
    if isinstance(primitive, DistanceBetween):
        return r"\frac{|\boldsymbol Q - \boldsymbol P|^2 - L^2}{2 L} &= 0"
    if isinstance(primitive, Turned):
        angle = "c(t)" if value else "c"
        return rf"\boldsymbol e^b \cdot (\cos {angle}\, \boldsymbol n_2^a - \sin {angle}\, \boldsymbol n_1^a) &= 0"
    if isinstance(primitive, CoordinateSum):
        terms = [
            rf"{term.factor:+g}\, {['varphi', 's'][term.kind == 'displacement']}_{{{k + 1}}}"
            for k, term in enumerate(primitive.terms)
        ]
        return " ".join(terms).replace("varphi", r"\varphi").lstrip("+") + f"{value or constant(primitive.value)} &= 0"
    if isinstance(primitive, FrameRows):
        lines = [rf"g_{{{k + 1}}}(\text{{frames}}, t) &= 0" for k in range(primitive.size)]
        for k in primitive.nonholonomic:
            lines[k] = lines[k].replace("(\\text{frames}, t)", r"(\text{frames}, \text{velocities})")
        return r" \\ ".join(lines)
    return rf"\text{{{type(primitive).__name__}}}: {primitive.rows}\ \text{{rows}} &= 0"


def constant(value: float) -> str:
    return "" if value == 0.0 else " - c"


def about(name: str, source: Path) -> str:
    """Drawing, equations and attributes of results of the joint with this name; empty for what is no joint."""
    found = samples.joint_sample(name)
    if found is None:
        return ""
    model, joint = found
    out = ""
    if "JointArguments" in str(inspect.signature(type(joint))):
        out += "Further arguments are those of :ref:`Joint <mbd-joints-joint>`: ``at``, ``axis``, ``zero`` ...\n\n"
    if name not in samples.ON_JOINTS:
        free, count = free_motions(model, joint)
        picture = source / "reference" / "joints" / f"{name}.png"
        stamp = picture.with_suffix(".txt")
        if not picture.exists() or not stamp.exists() or stamp.read_text() != str((free, count)):
            draw(free, count > len(free), picture)
            put(stamp, str((free, count)))
        words = [("translation along " if k < 3 else "rotation about ") + AXES[k % 3] for k in free]
        if count > len(free):
            words.append(f"{count - len(free)} in which translations and rotations are coupled")
        alternative = f"Free motions of {name}"
        out += f".. image:: joints/{name}.png\n   :alt: {alternative}\n   :class: mbd-freedom\n\n"
        out += f"**Free motions** ({count}) at the joint, whose axis is z: {', '.join(words) or 'none'}.\n\n"
    equations = [equation(joint, primitive) for primitive in joint.primitives()]
    if equations:
        rows = sum(primitive.rows for primitive in joint.primitives())
        out += f"**Equations** ({rows}), with the point P of the first and Q of the second body, "
        out += "and axes and normals marked a and b by their body:\n\n"
        out += ".. math::\n\n   \\begin{aligned}\n   " + " \\\\\n   ".join(equations) + "\n   \\end{aligned}\n\n"
    listed = channels(model, joint)
    if listed:
        parts = [f"``.{q}`` [{unit}]" for q, unit in listed]
        out += f"**Results** of ``solution[joint]``: {', '.join(parts)}. Reactions act on the second body.\n\n"
    return out


def channels(model: mbd.Model, joint: Any) -> list[tuple[str, str]]:
    """Quantities of a joint and their units."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = mbd.simulate(model, 1e-3, 1e-3, mbd.integrators.RK4())
    return [(c.name.removeprefix(f"{joint.name}."), c.unit) for c in solution.channels.of(joint.name)]
