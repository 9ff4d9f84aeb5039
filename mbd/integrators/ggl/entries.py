"""The equations of the GGL methods as entries, and which of them a model needs.

The tables of all pairs of blocks of unknowns are known to an entry by their addresses, the state of the run by its
record. All methods share them, but for the forces; those and the matrix are compiled only where they are needed.
"""

from __future__ import annotations

from typing import Any

from ...compiled.entry import connect, entry, through
from ...compiled.kernel import kernel
from ...compiled.kinds import addresses
from ...compiled.record import table_of
from ...system.tables import FLAG_EXTRA, Tables, Work, tables_at
from .equations import EM, GGLState, configure, equations, finish
from .forces import instant_forces, instant_tangent, secant_forces, secant_tangent
from .matrix import all_blocks

PAIRS = 9  # place of the tables of residuals, behind those of the nine pairs
CONFIGURE, FORCES, EQUATIONS, FINISH, BLOCKS, FORCE_BLOCKS = range(6)  # pieces

_KINDS = Tables, addresses, Work, GGLState
_piece = entry(*_KINDS)
_call_piece = through(*_KINDS)


@_piece
def configuration(s, r, w, x):
    """Frames and velocities of the iterate."""
    configure(s, x)


@_piece
def all_equations(s, r, w, x):
    """Residuals of both groups."""
    equations(s, w, x)


@_piece
def finished(s, r, w, x):
    """Momenta of the end."""
    finish(s, w, x)


@_piece
def matrix_blocks(s, r, w, x):
    """Blocks of the large matrix but for those of forces."""
    s11, s12, s13, s21 = tables_at(r[0]), tables_at(r[1]), tables_at(r[2]), tables_at(r[3])
    s22, s23, s31, s33 = tables_at(r[4]), tables_at(r[5]), tables_at(r[6]), tables_at(r[8])
    all_blocks(s11, s12, s13, s21, s22, s23, s31, s33, w, x)


@_piece
def forces_at_instant(s, r, w, x):
    """Forces at an instant."""
    instant_forces(s, w, x)


@_piece
def force_blocks_at_instant(s, r, w, x):
    """Their blocks."""
    instant_tangent(tables_at(r[0]), tables_at(r[1]), w, x)


@_piece
def forces_over_step(s, r, w, x):
    """Forces over a step."""
    secant_forces(s, w, x)


@_piece
def force_blocks_over_step(s, r, w, x):
    """Their blocks."""
    secant_tangent(tables_at(r[0]), tables_at(r[1]), w, x)


def has_elements(s: Tables) -> bool:
    """Whether a model has forces besides gravity."""
    return len(s.forces) > 0 or bool(s.flags[FLAG_EXTRA])


def connect_pieces(scheme: int, tables: tuple[Tables, ...], with_matrix: bool) -> tuple[Any, Any]:
    """(pieces, tables as pieces know them) for tables of nine pairs and of residuals."""
    s, elements = tables[PAIRS], has_elements(tables[PAIRS])
    forces, tangent = (
        (forces_over_step, force_blocks_over_step) if scheme == EM else (forces_at_instant, force_blocks_at_instant)
    )
    wanted: dict[int, Any] = {CONFIGURE: configuration, EQUATIONS: all_equations, FINISH: finished}
    wanted |= {FORCES: forces} if elements else {}
    wanted |= {BLOCKS: matrix_blocks} if with_matrix else {}
    wanted |= {FORCE_BLOCKS: tangent} if with_matrix and elements else {}
    connect(s, *wanted.values())
    return table_of([wanted.get(k) for k in range(6)]), table_of(tables)


@kernel
def call_piece(pieces, k, s, r, w, x):
    """Call a piece; nothing happens if the model has no such elements."""
    if pieces[k] != 0:
        _call_piece(pieces[k], s, r, w, x)
