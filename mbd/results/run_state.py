"""The state of a run: numbers of the method, and what tells to which model and method they belong.

The identity of the model, the fingerprint of all that acted and of the method, and by how much constraints were
satisfied; who continues from a state compares them (``mbd.simulation.continuing``).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import Any

import numpy as np

from ..elements.settling import PACKAGE, Late
from ..errors import MbdError
from ..integrators.base import Integrator
from ..system.identity import fingerprint_of, method_digest, turn_names
from ..system.system import System
from ..system.tables import FLAG_REDUNDANT

OF_MODEL = ("identity", "fingerprint")  # what a state knows that follows from the model alone


def belongings(system: System, integrator: Integrator, state: Mapping[str, Any]) -> dict[str, Any]:
    """What a state must know besides the numbers of the method."""
    return _beside_model(system, integrator, state) | _of_model(system)


def _of_model(system: System) -> dict[str, Any]:
    """The part of what a state must know that follows from the model alone."""
    return {"identity": system.identity, "fingerprint": fingerprint_of(system.model)}


def _beside_model(system: System, integrator: Integrator, state: Mapping[str, Any]) -> dict[str, Any]:
    """The part of what a state must know that the model alone does not tell; entries of ``_of_model`` are None."""
    defects = np.zeros(system.n_l), np.zeros(system.n_l)
    with suppress(MbdError):  # the function that ended the run, for instance
        if system.n_l:
            own = in_state(system, state)
            q, v, t = state["q"], state["v"], float(state["t"])
            defects = own.constraint_defects(q, v, t)
    known: dict[str, Any] = {
        "integrator": integrator.name,
        "identity": None,
        "fingerprint": None,
        "method": method_digest(integrator),
        "turn_names": turn_names(system),
        "position_defect": defects[0],
        "velocity_defect": defects[1],
    }
    if system.tables.flags[FLAG_REDUNDANT]:
        known["flags"] = np.array([FLAG_REDUNDANT])
    return known


def without_model(system: System, integrator: Integrator, state: Mapping[str, Any]) -> dict[str, Any]:
    """A state without what follows from the model, for a file that holds the model as well."""
    return dict(state) if "fingerprint" in state else dict(state) | _beside_model(system, integrator, state)


def noted_state(system: System, integrator: Integrator, state: dict[str, Any]) -> dict[str, Any] | Late:
    """A state with all that it must know; found when it is asked for, if nothing can change unnoticed until then.

    ``state`` holds the numbers of the method, or is a state ``without_model``.
    """
    if not state:
        return state

    def make() -> dict[str, Any]:
        return without_model(system, integrator, state) | _of_model(system)

    # methods of users may change without a word
    ours = type(integrator).__module__.partition(".")[0] == PACKAGE
    return system._late(make, state) if ours else make()


def in_state(system: System, state: Mapping[str, Any]) -> System:
    """A system whose angles are counted as a state has them."""
    own, turns = copy(system), system.initial_turns()
    known = np.asarray(state.get("turns", ()), dtype=float)
    turns[: len(known)] = known
    own.work = system.work_with(turns=turns)
    return own
