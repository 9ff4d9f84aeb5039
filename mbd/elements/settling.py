"""What is found out about a model when somebody asks for it, or at the last moment before the model changes.

A run leaves notes of its model: the fingerprint of all that acted, the identity of its coordinates. They take longer to
write than a short run, and most of them are never read. All changes of a model pass through few doors: attributes that
are assigned, elements that come or go, parameters that are set. Before one of them opens, the notes that are still to
be written about the model are written; nobody can tell the difference.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from .values import Input

PACKAGE = __name__.partition(".")[0]
UNKNOWN: Any = object()

# By model. What is here is extended and shortened in place, in single steps: garbage may be collected between any two
# lines, and other threads run on; a list that is replaced by a shorter one would lose what came meanwhile.
_waiting: weakref.WeakKeyDictionary[Any, dict[weakref.ref[Late], None]] = weakref.WeakKeyDictionary()


class Late:
    """Something about a model that is made when it is first asked for, or before the model changes.

    ``known`` is the part of it that is there already. Where ``is_over`` says so, a change no longer matters, because
    ``make`` refuses whoever asks from then on.
    """

    def __init__(
        self, model: Any, make: Callable[[], Any], known: Any = None, is_over: Callable[[], bool] | None = None
    ) -> None:
        self.known, self.is_over = known, is_over
        self._make: Callable[[], Any] | None = make
        self._made: Any = None
        self._lock = threading.RLock()  # who asks while another thread makes it waits for that
        self._among = waiting = _waiting.setdefault(model, {})
        self._note = weakref.ref(self, lambda gone: waiting.pop(gone, None))
        waiting[self._note] = None

    @property
    def waits(self) -> bool:
        """Whether it is still to be made: the model is as it was."""
        return self._make is not None

    @property
    def value(self) -> Any:
        """The thing itself."""
        with self._lock:
            if self._make is not None:
                make, self._make = self._make, None
                try:
                    self._made = make()
                except BaseException:  # Ctrl-C for instance: it is still to be made
                    self._make = make
                    raise
                self._among.pop(self._note, None)
            return self._made

    def __reduce__(self) -> Any:  # for copies and other processes
        return finished, (self.value,)


def finished(value: Any) -> Late:
    """What is known already."""
    late = object.__new__(Late)
    late._make, late._made, late.known, late.is_over = None, value, value, None
    late._lock = threading.RLock()
    return late


def before_change(x: Any) -> None:
    """The model, one of its elements, or a node of unknown owner is about to change."""
    if not _waiting:
        return
    model = getattr(x, "model", UNKNOWN)
    if model is None:  # an element that was not added
        return
    owner = x if hasattr(x, "_elements") else model
    for about in [note() for note in _waiting.keyrefs()] if owner is UNKNOWN else [owner]:
        for note in list(_waiting.get(about, ())) if about is not None else ():
            late = note()
            if late is not None and not (late.is_over is not None and late.is_over()):
                _ = late.value


def is_guarded(model: Any) -> bool:
    """Whether a model can change through these doors alone: no classes of users, which may do anything, and no inputs.

    Inputs are set in control loops, and elements know them later than tables do. What functions of users refer to
    changes without a word as well; whoever asks knows whether there are some.
    """
    return is_ours(model) and not any(isinstance(x, Input) for x in model._parameters.values())


def is_ours(model: Any) -> bool:
    """Whether it has no classes of users."""
    kinds = {type(model), *map(type, model.bodies), *map(type, model.joints), *map(type, model.forces)}
    return all(map(is_own, kinds))


@functools.lru_cache(maxsize=1024)
def is_own(kind: type) -> bool:
    """Whether a class is one of the toolkit."""
    return kind.__module__.partition(".")[0] == PACKAGE
