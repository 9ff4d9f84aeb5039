"""What runs are made of, on its way to other processes.

Functions are sent by their names, and found there by import; those of the main script, lambdas and functions inside of
functions are sent as code if cloudpickle is installed. Where a parcel arrives, its functions are compared with what
they were when it was sent: a global that was changed meanwhile has its first value in a fresh process.
"""

from __future__ import annotations

import hashlib
import math
import os
import pickle
import sys
import threading
import time
from functools import cached_property
from typing import Any

from ..compiled.functions.travelling import REMEDY, name_of_function, nameless
from ..errors import ModelError, StudyError
from .blocks import Block
from .fingerprints import Told, differences, told
from .runs import Recipe, run_chunk

KEPT = 4  # recipes that a process remembers
SELDOM = 50.0  # times as long as it takes: pauses between looks at what runs may have changed
CHANGED = (
    "what functions refer to has changed while runs were made: {}. Results that depend on it depend on the order of "
    "the runs; expected functions that make it anew in each run, or a copy; for random numbers an argument rng of build"
)

_lock = threading.Lock()
_unpacked: dict[str, Recipe] = {}


class Parcel:
    """A recipe that can be sent; packed once, unpacked once in each process."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe: Recipe | None = recipe
        clock = time.perf_counter()
        self.told = told_of(recipe)
        self._cost, self._asked = time.perf_counter() - clock, -math.inf

    @cached_property
    def packed(self) -> bytes:
        """The recipe for another process."""
        assert self._recipe is not None
        return _packed(self._recipe)

    def __reduce__(self) -> Any:
        return _arrived, (self.packed, self.told)

    @property
    def recipe(self) -> Recipe:
        """The recipe; errors say why it cannot be used in this process."""
        if self._recipe is None:
            with _lock:
                self._recipe = self._unpack()
        return self._recipe

    def changed(self, now: bool = True) -> str:
        """What runs have changed of that to which functions refer, as a warning; empty if they left it as it was.

        ``now``: ask also if that was done not long ago, for what it costs.
        """
        clock = time.perf_counter()
        if not now and clock - self._asked < SELDOM * self._cost:
            return ""
        try:
            found = differences(told_of(self.recipe), self.told, "now", "when the study began")
        except RuntimeError:  # another thread changes a dictionary at this moment
            found = []
        self._asked = time.perf_counter()
        self._cost = self._asked - clock
        return CHANGED.format("; ".join(found[:3])) if found else ""

    def _unpack(self) -> Recipe:
        # what the functions are belongs to it: their names may stay while their code or a global changes
        key = hashlib.blake2b(self.packed + repr(sorted(self.told.items())).encode()).hexdigest()
        if key in _unpacked:
            return _unpacked[key]
        try:
            recipe: Recipe = pickle.loads(self.packed)
        except Exception as error:
            raise StudyError(
                f"a worker cannot make the runs: {type(error).__name__}: {error}. Modules with build, simulate and "
                "outputs must be importable there"
            ) from None
        found = differences(told_of(recipe), self.told, "in a worker", "in the process that sent it")
        if found:
            raise StudyError(
                f"functions of the study are not the same in a worker: {'; '.join(found[:3])}. Values of globals do "
                "not travel: give them as parameters, bind them with functools.partial, or set them when their "
                "module is imported (for random numbers give build an argument rng); where a module has changed since "
                "workers imported it, start them anew (client.restart())"
            )
        while len(_unpacked) >= KEPT:
            _unpacked.pop(next(iter(_unpacked)))
        _unpacked[key] = recipe
        return recipe


def _arrived(packed: bytes, told: Told) -> Parcel:
    parcel = Parcel.__new__(Parcel)
    parcel._recipe, parcel.told, parcel._cost, parcel._asked = None, told, 0.0, -math.inf
    vars(parcel)["packed"] = packed
    return parcel


def told_of(recipe: Recipe) -> Told:
    """What a recipe does."""
    import mbd

    outputs = {"outputs": recipe.outputs}
    if not callable(recipe.outputs):
        outputs = {f"output '{name}'": function for name, function in recipe.outputs.items()}
    return {"mbd": mbd.__version__, **told(build=recipe.build, simulate=recipe.simulate, **outputs)}


def run_parcel(parcel: Parcel, runs: Any, parameters: Any) -> Block:
    """Several runs in a worker."""
    return run_chunk(parcel.recipe, runs, parameters, after=lambda: parcel.changed(now=False))


def ready() -> bool:
    """A task that does nothing: is anybody there?"""
    return True


def main_file() -> str:
    """The file of the main script; empty where there is none, as in a session or behind ``python -``."""
    file = str(getattr(sys.modules["__main__"], "__file__", None) or "")
    return file if os.path.exists(file) else ""


def _packed(recipe: Recipe) -> bytes:
    """By name where names are found everywhere, otherwise as code."""
    try:
        by_name = pickle.dumps(recipe)
    except Exception as error:
        by_name, reason = b"", error
    if by_name and b"__main__" not in by_name:
        return by_name
    try:
        import cloudpickle

        return bytes(cloudpickle.dumps(recipe))
    except ImportError:
        pass
    except Exception as error:
        reason = error
    if by_name and main_file():
        return by_name  # processes that this one starts import the main script
    functions = [recipe.build, recipe.simulate, recipe.outputs]
    names = [f"'{name_of_function(f)}'" for f in nameless(functions)] if not by_name else ["functions of this session"]
    what = ", ".join(names) or f"build, simulate or outputs ({reason})"
    raise ModelError(
        f"sweep: {what} cannot be sent to another process. For a function: {REMEDY.partition(';')[0]}; or install "
        "cloudpickle, which sends it as code; or stay in this process: executor=None"
    )
