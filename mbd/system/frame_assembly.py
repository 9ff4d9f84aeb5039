"""Assembly of frame elements: their table, their place in the matrix, and the callbacks of user functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..elements.frame_kinds import LAW_SPRING, USER_CONSTRAINT, USER_FORCE, USER_POTENTIAL
from ..elements.user_functions import frame_callbacks, initial_input, used_entries, uses_of
from .tables import FRAME_ELEMENT


def frame_element_table(assembler: Any) -> np.ndarray:
    """The table of frame elements; where their blocks are follows later."""
    table = np.zeros(len(assembler.element_rows), dtype=FRAME_ELEMENT)
    names = table.dtype.names or ()
    for i, (r, joint, force, l0, row) in enumerate(assembler.element_rows):
        count, function, twin = len(r.bodies), -1, -1
        element = assembler.model.joints[joint] if joint >= 0 else assembler.model.forces[force]
        first = len(assembler.members)
        blocks, joint_blocks = first + count, first + count + 2 * count * count
        assembler.members += [assembler.node_of[id(body)] for body in r.bodies]
        assembler.members += [0] * (2 * count * count + (4 * count if joint >= 0 else 0))
        p0 = len(assembler.constants)
        assembler.constants += [float(x) for x in r.parameters]
        if r.function is not None:
            probe = np.array((1.0, 0.0)) if r.style == "law" else initial_input(r.bodies)
            if r.style == "law":
                probe[0] = element.initial_length
            size = r.size
            if hasattr(r.function, "silent"):  # a function that a file does not contain
                r.function.size = size
            key = id(r.function), r.style, count, size
            if key not in assembler.frame_functions:
                pair = frame_callbacks(r.function, r.style, count, size, probe, str(element))
                assembler.kept.append(r.function)
                places = [-1, -1]
                for k, callback in enumerate(pair):
                    if callback is not None:
                        places[k] = assembler.add_callback(callback, -1)
                assembler.frame_functions[key] = places[0], places[1]
            function, twin = assembler.frame_functions[key]
        uses = 0
        if r.kind == USER_FORCE:
            uses = uses_of(r.function, count, initial_input(r.bodies))
        elif r.kind in (USER_POTENTIAL, USER_CONSTRAINT):
            everything = list(range(12 * count))
            used = used_entries(r.function, r.style, count, initial_input(r.bodies)) if twin >= 0 else everything
            assembler.members += used  # behind the blocks
            uses = len(used)
        by_function = r.kind in (USER_FORCE, LAW_SPRING)
        exact = twin >= 0 if by_function else r.kind not in (USER_POTENTIAL, USER_CONSTRAINT)
        size = r.rows if joint >= 0 else 0
        values = (
            r.kind, count, first, blocks, joint_blocks, p0, function, twin, int(exact), joint, force, l0, row, size,
            uses,
        )  # fmt: skip
        for name, value in zip(names, values, strict=True):
            table[name][i] = value
    return table


def frame_element_pairs(members: list[int], general: np.ndarray, grounded: np.ndarray, n: int) -> list[np.ndarray]:
    """Pairs of vertices that frame elements connect; marks joints that touch the ground."""
    pairs = []
    for g in general:
        bodies = members[int(g["first"]) : int(g["first"] + g["count"])]
        moving = sorted({body - 1 for body in bodies if body > 0})
        more = [(a, b) for i, a in enumerate(moving) for b in moving[i + 1 :]]
        if g["joint"] >= 0:
            more += [(a, int(g["joint"]) + n) for a in moving]
            grounded[g["joint"] + n] |= 0 in bodies
        pairs.append(np.array(more, dtype=np.int64).reshape(-1, 2))
    return pairs


def position_frame_element(
    members: Any, g: Any, place: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]], n: int, row: int
) -> None:
    """Fill in where the blocks of one frame element live; ``row`` is its first one in the joint."""
    count, first = int(g["count"]), int(g["first"])
    bodies = np.array(members[first : first + count]) - 1
    for i in range(count):
        for j in range(count):
            if bodies[i] >= 0 and bodies[j] >= 0:
                offset, ld = place(bodies[i : i + 1], bodies[j : j + 1])
                o = int(g["blocks"]) + 2 * (i * count + j)
                members[o : o + 2] = [int(offset[0]), int(ld[0])]
    if g["joint"] < 0:
        return
    joint = np.array([g["joint"] + n])
    for i in range(count):
        if bodies[i] >= 0:
            down, ld_down = place(joint, bodies[i : i + 1])
            right, ld_right = place(bodies[i : i + 1], joint)
            o = int(g["joint_blocks"]) + 4 * i
            start = int(down[0] + row * ld_down[0])
            members[o : o + 4] = [start, int(ld_down[0]), int(right[0] + row), int(ld_right[0])]


def place_frame_elements(
    members: list[int], general: np.ndarray, layout: Any, xl: np.ndarray, n: int, with_blocks: bool = True
) -> None:
    """Fill in where the rows of frame elements live, and their blocks."""
    for g in general:
        row = int(g["x0"])
        if with_blocks:
            position_frame_element(members, g, layout.blocks, n, row)
        if g["joint"] >= 0:
            g["x0"] = layout.position[g["joint"] + n] + row
            xl[g["l0"] : g["l0"] + g["rows"]] = g["x0"] + np.arange(g["rows"])
