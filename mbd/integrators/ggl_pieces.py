"""The equations of the GGL methods, compiled in pieces: residual, matrix and last momenta of the method that is used.

The tables of all pairs of groups and the state of the run are known to a piece by the addresses of their packed forms
(``mbd.boundary``), so that the time loop and the other methods need not be compiled with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..boundary import address, arguments, integer, integers, real
from ..kernel import JIT, kernel
from ..packed import at_address
from ..records import Tables
from ..system.entries import entry_address
from ..system.types import load_tables, load_work
from .ggl_em_kernels import em_matrix, em_residual, euler_matrix, euler_residual
from .ggl_kernels import EM, EULER, STATE, THETA, theta_finish, theta_matrix, theta_residual

SYSTEM = 9  # place of the tables of residuals, behind those of the nine pairs


_arguments = arguments(integers, address, address, real, real, real, integer)
load_state: Any = at_address(STATE)


def em_residual_entry(p):  # type: ignore[no-untyped-def]
    r, w, x, h, theta, vartheta, option = _arguments(p)
    em_residual(load_tables(r[SYSTEM]), load_work(w), load_state(x), h)


def em_matrix_entry(p):  # type: ignore[no-untyped-def]
    r, w, x, h, theta, vartheta, option = _arguments(p)
    s11, s12, s21, s22 = load_tables(r[0]), load_tables(r[1]), load_tables(r[3]), load_tables(r[4])
    em_matrix(s11, s12, s21, s22, load_work(w), load_state(x), h)


def euler_residual_entry(p):  # type: ignore[no-untyped-def]
    r, w, x, h, theta, vartheta, option = _arguments(p)
    euler_residual(load_tables(r[SYSTEM]), load_work(w), load_state(x), h)


def euler_matrix_entry(p):  # type: ignore[no-untyped-def]
    r, w, x, h, theta, vartheta, option = _arguments(p)
    s11, s12, s13 = load_tables(r[0]), load_tables(r[1]), load_tables(r[2])
    s22, s23, s31, s33 = load_tables(r[4]), load_tables(r[5]), load_tables(r[6]), load_tables(r[8])
    euler_matrix(s11, s12, s13, s22, s23, s31, s33, load_work(w), load_state(x))


def theta_residual_entry(p):  # type: ignore[no-untyped-def]
    r, w, x, h, theta, vartheta, option = _arguments(p)
    theta_residual(load_tables(r[SYSTEM]), load_work(w), load_state(x), h, theta, vartheta, option)


def theta_matrix_entry(p):  # type: ignore[no-untyped-def]
    r, w, x, h, theta, vartheta, option = _arguments(p)
    s11, s12, s21, s22 = load_tables(r[0]), load_tables(r[1]), load_tables(r[3]), load_tables(r[4])
    theta_matrix(s11, s12, s21, s22, load_work(w), load_state(x), h, theta, vartheta, option)


def theta_finish_entry(p):  # type: ignore[no-untyped-def]
    r, w, x, h, theta, vartheta, option = _arguments(p)
    theta_finish(load_tables(r[SYSTEM]), load_work(w), load_state(x), h, theta, vartheta, option)


RESIDUAL, FINISH, MATRIX = 0, 1, 2  # pieces of a method
ENTRIES = {
    EM: (em_residual_entry, None, em_matrix_entry),
    EULER: (euler_residual_entry, None, euler_matrix_entry),
    THETA: (theta_residual_entry, theta_finish_entry, theta_matrix_entry),
}


def plain_pieces(scheme: int) -> tuple[Any, ...]:
    """The same without compilation: functions of (tables, w, x, h, theta, vartheta, option)."""
    if scheme == EM:
        return (
            lambda r, w, x, h, *_: em_residual(r[SYSTEM], w, x, h),
            None,
            lambda r, w, x, h, *_: em_matrix(r[0], r[1], r[3], r[4], w, x, h),
        )
    if scheme == EULER:
        return (
            lambda r, w, x, h, *_: euler_residual(r[SYSTEM], w, x, h),
            None,
            lambda r, w, x, h, *_: euler_matrix(*(r[k] for k in (0, 1, 2, 4, 5, 6, 8)), w, x),
        )
    return (
        lambda r, w, x, *rest: theta_residual(r[SYSTEM], w, x, *rest),
        lambda r, w, x, *rest: theta_finish(r[SYSTEM], w, x, *rest),
        lambda r, w, x, *rest: theta_matrix(r[0], r[1], r[3], r[4], w, x, *rest),
    )


def connect(scheme: int, tables: tuple[Tables, ...], with_matrix: bool) -> tuple[Any, Any]:
    """(pieces, tables as pieces know them) for tables of nine pairs and of residuals."""
    if not JIT:
        return plain_pieces(scheme), tables
    needed = [f if k != MATRIX or with_matrix else None for k, f in enumerate(ENTRIES[scheme])]
    pieces = np.array([0 if f is None else entry_address(f) for f in needed], dtype=np.int64)
    return pieces, np.array([s.place[0] for s in tables], dtype=np.int64)


if JIT:
    from ..boundary import call_entry

    @kernel
    def call_piece(pieces, k, r, w, x, h, theta, vartheta, option):
        call_entry(pieces[k], (r, w.place[0], x.place[0], h, theta, vartheta, option))
else:

    def call_piece(pieces, k, r, w, x, h, theta, vartheta, option):
        pieces[k](r, w, x, h, theta, vartheta, option)
