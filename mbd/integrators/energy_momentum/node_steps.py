"""Nodes in the energy-momentum loop, each kind a separately compiled piece.

What a method does with a kind of nodes (Lie nodes and points, directors, quaternions, generalized coordinates) is a
piece whose address is in ``FrameState.special``, node by node; ``FrameState.kinds`` has every piece once. A piece is
asked about all of its nodes: for the momenta of the start, for a better first guess of the increment, for the rows, for
the blocks of the matrix, for the correction of unknowns of its own, and for momenta and velocities when a step has been
accepted; multipliers are those of the iterate, ``FrameState.lamn``.

The loop of the variational integrators asks pieces of this kind about generalized coordinates, with its own vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...compiled.boundary import address, arguments, integer, matrix, real, vector
from ...compiled.kernel import JIT, kernel
from ...system.types import load_tables, load_work
from .state import load_state

START, GUESS, EQUATION, MATRIX, CORRECT, ACCEPT, VELOCITY = range(7)

# energy-momentum loop: s, w, x, piece, request, h
frame_arguments = arguments(address, address, address, integer, integer, real)
# variational loop: s, w, node, request; q, qn, qm, v, vn, p, pn, rate, raten, dq, lam, unit; torque, zr; h
special_arguments = arguments(address, address, integer, integer, *(vector,) * 12, matrix, matrix, real)

Piece = Callable[..., None]
_pieces: list[Piece] = []  # without compilation: what numbers in ``special`` mean, from one on


def special_address(entry: Piece, piece: Piece) -> int:
    """What stands for a piece in tables of pieces: the address of its entry, compiled when first asked for."""
    if JIT:
        from ...system.entries import entry_address

        return entry_address(entry)
    if piece not in _pieces:
        _pieces.append(piece)
    return _pieces.index(piece) + 1


def special_pieces(system: Any, pieces: dict[int, tuple[Piece, Piece]]) -> np.ndarray:
    """``FrameState.special`` for (entry, piece) by the form of the node."""
    forms = system.tables.nodes["form"]
    special = np.zeros(len(forms), dtype=np.int64)
    for form, (entry, piece) in pieces.items():
        if (forms == form).any():
            special[forms == form] = special_address(entry, piece)
    return special


if JIT:
    from ...compiled.boundary import call_entry

    @kernel
    def call_special(s, w, x, request, h):
        """Ask all pieces of the energy-momentum loop."""
        for k in range(x.kinds.shape[0]):
            call_entry(x.kinds[k], (s.place[0], w.place[0], x.place[0], x.kinds[k], request, h))

    @kernel
    def call_piece(
        place, s, w, i, request, q, qn, qm, v, vn, p, pn, rate, raten, dq, lam, unit, torque, zr, h
    ):  # fmt: skip
        """Ask a piece about node i, with the vectors of the variational loop."""
        call_entry(
            place,
            (s.place[0], w.place[0], i, request, q, qn, qm, v, vn, p, pn, rate, raten, dq, lam, unit, torque, zr, h),
        )
else:

    def call_special(s, w, x, request, h):
        """Ask all pieces of the energy-momentum loop."""
        for place in x.kinds:
            _pieces[place - 1](s, w, x, place, request, h)

    def call_piece(place: int, *asked: Any) -> None:
        """Ask a piece about node i, with the vectors of the variational loop."""
        _pieces[place - 1](*asked)


def plain_piece(place: int) -> Piece:
    """Without compilation: what a number of ``special_address`` stands for."""
    return _pieces[place - 1]


__all__ = [
    "ACCEPT",
    "CORRECT",
    "EQUATION",
    "GUESS",
    "MATRIX",
    "START",
    "VELOCITY",
    "call_piece",
    "call_special",
    "frame_arguments",
    "load_state",
    "load_tables",
    "load_work",
    "plain_piece",
    "special_address",
    "special_arguments",
    "special_pieces",
]
