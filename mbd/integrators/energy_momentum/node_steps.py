"""Nodes in the energy-momentum loop, each kind an entry of its own.

What a method does with a kind of nodes (Lie nodes and points, directors, quaternions, generalized coordinates) is an
entry whose address is in ``FrameState.special``, node by node; ``FrameState.kinds`` has every one of them once. It is
asked about all of its nodes: for the momenta of the start, for a better first guess of the increment, for the rows, for
the blocks of the matrix, for the correction of unknowns of its own, and for momenta and velocities when a step has been
accepted; multipliers are those of the iterate, ``FrameState.lamn``.

The loop of the variational integrators asks entries of this kind about generalized coordinates, with its own vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.entry import connect, entry, through
from ...compiled.kernel import kernel
from ...compiled.kinds import integer, real, vector
from ...compiled.record import table_of
from ...system.tables import Tables, Work
from .state import FrameState

START, GUESS, EQUATION, MATRIX, CORRECT, ACCEPT, VELOCITY = range(7)

# of the energy-momentum loop: s, w, x, address of the entry, request, h
NODE_STEP = Tables, Work, FrameState, integer, integer, real
node_step = entry(*NODE_STEP)
_call_node_step = through(*NODE_STEP)

# of the variational loop: s, w, node, request; q, qn, v, p, dq, lam; h
MIDPOINT_STEP = Tables, Work, integer, integer, vector, vector, vector, vector, vector, vector, real
midpoint_step = entry(*MIDPOINT_STEP)
call_midpoint_step = through(*MIDPOINT_STEP)


def special_pieces(system: Any, steps: dict[int, Any]) -> np.ndarray:
    """``FrameState.special`` for entries by the form of the node."""
    forms = system.tables.nodes["form"].tolist()
    for form in set(forms) & set(steps):
        connect(system.tables, steps[form])
    return table_of([steps.get(form) for form in forms])


@kernel
def call_special(s, w, x, request, h):
    """Ask all entries of the energy-momentum loop."""
    for k in range(x.kinds.shape[0]):
        _call_node_step(x.kinds[k], s, w, x, x.kinds[k], request, h)
