"""The equations of the GGL methods, compiled in pieces.

The tables of all pairs of groups and the state of the run are known to a piece by the addresses of their packed forms
(``mbd.compiled``), so that the time loop need not be compiled with it. All methods share them, but for the forces;
those and the matrix are compiled only where they are needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compiled.boundary import address, arguments, integers
from ...compiled.kernel import JIT, kernel
from ...compiled.record import at_address
from ...system.entries import entry_address
from ...system.tables import FLAG_EXTRA, Tables
from ...system.types import load_tables, load_work
from .equations import EM, STATE, configure, equations, finish
from .forces import instant_forces, instant_tangent, secant_forces, secant_tangent
from .matrix import all_blocks

PAIRS = 9  # place of the tables of residuals, behind those of the nine pairs
CONFIGURE, FORCES, EQUATIONS, FINISH, BLOCKS, FORCE_BLOCKS = range(6)  # pieces

_arguments = arguments(integers, address, address)
load_state: Any = at_address(STATE)


def configure_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    configure(load_tables(r[PAIRS]), load_state(x))


def equations_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    equations(load_tables(r[PAIRS]), load_work(w), load_state(x))


def finish_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    finish(load_tables(r[PAIRS]), load_work(w), load_state(x))


def blocks_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    s11, s12, s13, s21 = load_tables(r[0]), load_tables(r[1]), load_tables(r[2]), load_tables(r[3])
    s22, s23, s31, s33 = load_tables(r[4]), load_tables(r[5]), load_tables(r[6]), load_tables(r[8])
    all_blocks(s11, s12, s13, s21, s22, s23, s31, s33, load_work(w), load_state(x))


def instant_forces_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    instant_forces(load_tables(r[PAIRS]), load_work(w), load_state(x))


def instant_tangent_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    instant_tangent(load_tables(r[0]), load_tables(r[1]), load_work(w), load_state(x))


def secant_forces_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    secant_forces(load_tables(r[PAIRS]), load_work(w), load_state(x))


def secant_tangent_entry(p):  # type: ignore[no-untyped-def]
    r, w, x = _arguments(p)
    secant_tangent(load_tables(r[0]), load_tables(r[1]), load_work(w), load_state(x))


def has_elements(s: Tables) -> bool:
    """Whether a model has forces besides gravity."""
    return len(s.forces) > 0 or bool(s.flags[FLAG_EXTRA])


def connect(scheme: int, tables: tuple[Tables, ...], with_matrix: bool) -> tuple[Any, Any]:
    """(pieces, tables as pieces know them) for tables of nine pairs and of residuals."""
    s, elements = tables[PAIRS], has_elements(tables[PAIRS])
    if JIT:
        forces, tangent = (
            (secant_forces_entry, secant_tangent_entry)
            if scheme == EM
            else (instant_forces_entry, instant_tangent_entry)
        )
        wanted: dict[int, Any] = {CONFIGURE: configure_entry, EQUATIONS: equations_entry, FINISH: finish_entry}
        wanted |= {FORCES: forces} if elements else {}
        wanted |= {BLOCKS: blocks_entry} if with_matrix else {}
        wanted |= {FORCE_BLOCKS: tangent} if with_matrix and elements else {}
        pieces = np.array([entry_address(wanted[k]) if k in wanted else 0 for k in range(6)], dtype=np.int64)
        return pieces, np.array([s.place[0] for s in tables], dtype=np.int64)
    r = tables
    force_kernels = (secant_forces, secant_tangent) if scheme == EM else (instant_forces, instant_tangent)
    plain = (
        lambda r, w, x: configure(s, x),
        (lambda r, w, x: force_kernels[0](s, w, x)) if elements else 0,
        lambda r, w, x: equations(s, w, x),
        lambda r, w, x: finish(s, w, x),
        lambda r, w, x: all_blocks(*r[:6], r[6], r[8], w, x),
        (lambda r, w, x: force_kernels[1](r[0], r[1], w, x)) if elements else 0,
    )
    return plain, r


if JIT:
    from ...compiled.boundary import call_entry

    @kernel
    def call_piece(pieces, k, r, w, x):
        """Call a piece; nothing happens if the model has no such elements."""
        if pieces[k] != 0:
            call_entry(pieces[k], (r, w.place[0], x.place[0]))
else:

    def call_piece(pieces, k, r, w, x):
        if pieces[k] != 0:
            pieces[k](r, w, x)
