"""Functions of users in a system: what they refer to at present, where they find the time, and what they did wrong."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from ..elements.function_errors import explain
from ..elements.values import in_force
from .tables import PARAMETER_TIME, Tables

if TYPE_CHECKING:
    from ..compiled.functions.callbacks import Callback
    from .assembly import Assembly


class Functions:
    """The part of a system that knows the functions of users, which compiled code calls through its tables."""

    assembly: Assembly
    tables: Tables
    values: dict[str, float]

    def _show_clock(self) -> None:
        """Let functions know where the time of the evaluation is, and what their parameters are."""
        for callback in self.assembly.callbacks:
            callback.tell_time(self.tables.parameters[PARAMETER_TIME:].ctypes.data)
            if self.values:
                callback.surround(partial(in_force, self.values))

    def _ask_functions(self) -> None:
        """Functions of users see what they refer to now, and have done nothing wrong yet."""
        self.refresh_functions()
        self.forget_errors()

    @property
    def has_plain_functions(self) -> bool:
        """Whether user functions are called as plain Python."""
        return any(not callback.compiled for callback in self.assembly.callbacks)

    def refresh_functions(self, some: Mapping[int, Callback] | None = None) -> None:
        """Hand over what user functions, or some, refer to at present: values of globals, closures, attributes."""
        callbacks = dict(enumerate(self.assembly.callbacks)) if some is None else some
        if not callbacks:
            return
        with in_force(self.values):
            for k, callback in callbacks.items():
                if callback.refresh():
                    self.tables.functions.address[k], self.tables.functions.block[k] = callback.address, callback.block

    def forget_errors(self) -> bool:
        """Forget what user functions did wrong, and say whether they did."""
        noted = [callback for callback in self.assembly.callbacks if callback.noted]
        for callback in noted:
            callback.clear()
        return bool(noted)

    def raise_callback_errors(self) -> None:
        """Raise what a user function did wrong first since the last call: an exception, or a number that is none."""
        noted = [callback for callback in self.assembly.callbacks if callback.noted]
        if not noted:
            return
        interrupt = next((c.error for c in noted if isinstance(c.error, KeyboardInterrupt)), None)
        with in_force(self.values):
            error = interrupt or explain(min(noted, key=lambda callback: callback.time))
        self.forget_errors()
        raise error
