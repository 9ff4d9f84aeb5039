"""The one decorator under which all compiled code is written.

``@kernel`` is numba (``compile``) with caching, numpy's error model and no reference counting: kernels never
allocate, never raise and never return arrays, they write into slices that the caller owns. ``MBD_JIT=0`` turns the
decorator into the identity, so that the same source runs as plain Python under a debugger.

The compiler is loaded when something has to be compiled. Machine code on disk is enough to run a simulation
(``native``): a process that finds all of it neither waits for numba nor holds its memory.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .settings import JIT, PUBLIC

OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "fastmath": False, "forceinline": False}
"""Those that are not said here numba takes from the caller that a kernel is first compiled for."""


class Deferred:
    """Something for compiled code that only the compiler needs, made when it asks."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._made = make, None

    @property
    def made(self) -> Any:
        """The thing itself."""
        if self._made is None:
            self._made = self._make()
        return self._made


def deferred(make: Callable[[], Any]) -> Any:
    """What ``make`` makes for compiled code, when the compiler asks for it; at once for numba's own compiler."""
    return make() if PUBLIC else Deferred(make)


Kinds = tuple[Any, ...] | dict[str, Any]
_call: Any = None  # from ``native``, which only runs need


class Kernel:
    """A function that kernels link, and that Python calls through machine code of its own."""

    def __init__(self, function: Callable, options: dict[str, Any], kinds: Kinds = ()) -> None:
        self.py_func = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.count = function.__code__.co_argcount
        self.parameters = function.__code__.co_varnames[: self.count]
        if isinstance(kinds, dict):
            kinds = tuple(kinds[name] for name in self.parameters)
        self.kinds = kinds
        if kinds and len(kinds) != self.count:
            raise TypeError(f"{function.__name__}: {len(kinds)} kinds for {self.count} arguments")
        self.options = options
        self.codes: dict[Any, Any] = {}  # kinds of arguments -> machine code
        self.declared: Any = None  # machine code for the declared kinds
        self._dispatcher: Any = None

    def __call__(self, *args: Any) -> Any:
        global _call
        if _call is None:
            if PUBLIC:
                from .public import call_kernel
            else:
                from .native import call_kernel

            _call = call_kernel
        return _call(self, args)

    @functools.cached_property
    def declared_arguments(self) -> list[Any]:
        """Arguments of declared kinds as calls from Python look at them."""
        from .arguments import declared_arguments

        return declared_arguments(self)

    @property
    def dispatcher(self) -> Any:
        """What the compiler knows the function by."""
        if self._dispatcher is None:
            if PUBLIC:
                from .public import new_dispatcher
            else:
                from .compile import new_dispatcher

            self._dispatcher = new_dispatcher(self.py_func, self.options)
        return self._dispatcher


def kernel(function: Callable | None = None, *, kinds: Kinds = (), **options: Any) -> Any:
    """Compile a function of scalars, records and array slices; see the module's text.

    ``kinds`` are those of its arguments, in their order or by name: what Python hands over is compared with them.
    """

    def decorate(f: Callable) -> Any:
        return Kernel(f, {**OPTIONS, **options}, kinds) if JIT else f

    return decorate if function is None else decorate(function)
