"""Compile the pieces that a model needs and put their addresses into its record."""

from __future__ import annotations

import functools
from typing import Any

from ..compiled.kernel import JIT
from ..compiled.native import entry_code
from ..compiled.record import pack
from ..nodes.forms import FORM_GENERALIZED, FORM_SPIN
from .accelerations import accelerations_entry
from .couplings import EXTRA_ENTRIES
from .instant import PIECES, factor_dense_entry, factor_tree_entry, solve_dense_entry, solve_tree_entry
from .optional import OPTIONAL_ENTRIES
from .tables import (
    ENTRY_ACCELERATIONS,
    ENTRY_ANGLES,
    ENTRY_CHARTS,
    ENTRY_EXTRA_CONSTRAINTS,
    ENTRY_EXTRA_FORCES,
    ENTRY_EXTRA_OBSERVE,
    ENTRY_EXTRA_TANGENT,
    ENTRY_FACTOR,
    ENTRY_FORCE_TANGENT,
    ENTRY_FORCES,
    ENTRY_GENERALIZED,
    ENTRY_GENERALIZED_TANGENT,
    ENTRY_SOLVE,
    ENTRY_SPIN_TANGENT,
    FLAG_ANGLES,
    FLAG_DENSE,
    FLAG_EXTRA,
    Tables,
)


@functools.cache
def entry_address(function: Any) -> int:
    """Address of a compiled entry; compiled when first asked for."""
    return entry_code(function)


def needed_entries(s: Tables) -> dict[int, Any]:
    """The pieces that a model needs."""
    needed = dict(PIECES)
    dense = s.flags[FLAG_DENSE] != 0
    needed[ENTRY_FACTOR] = factor_dense_entry if dense else factor_tree_entry
    needed[ENTRY_ACCELERATIONS] = accelerations_entry
    needed[ENTRY_SOLVE] = solve_dense_entry if dense else solve_tree_entry
    forms = set(s.nodes["form"].tolist())
    optional = {
        ENTRY_FORCES: len(s.forces) > 0,
        ENTRY_FORCE_TANGENT: len(s.forces) > 0,
        ENTRY_SPIN_TANGENT: FORM_SPIN in forms,
        ENTRY_CHARTS: FORM_SPIN in forms,
        ENTRY_ANGLES: s.flags[FLAG_ANGLES] != 0,
        ENTRY_GENERALIZED: FORM_GENERALIZED in forms,
        ENTRY_GENERALIZED_TANGENT: FORM_GENERALIZED in forms,
        ENTRY_EXTRA_FORCES: s.flags[FLAG_EXTRA] != 0,
        ENTRY_EXTRA_CONSTRAINTS: s.flags[FLAG_EXTRA] != 0,
        ENTRY_EXTRA_TANGENT: s.flags[FLAG_EXTRA] != 0,
        ENTRY_EXTRA_OBSERVE: len(s.general) > 0,
    }
    return needed | {index: (OPTIONAL_ENTRIES | EXTRA_ENTRIES)[index] for index, wanted in optional.items() if wanted}


def connect_tables(s: Tables) -> Tables:
    """Fill in the addresses of the pieces, and pack."""
    if JIT:
        s = s._replace(entries=s.entries.copy())
        for index, function in needed_entries(s).items():
            s.entries[index] = entry_address(function)
    return pack(s)
