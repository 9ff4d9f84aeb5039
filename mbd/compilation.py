"""How kernels are compiled: code that other kernels call is neither optimised nor translated on its own.

numba optimises every function, gives it two wrappers for callers from outside and translates it to machine code, and
then links its intermediate code into each caller, where all of it is optimised and translated once more. For a
hundred small kernels that is most of the time of a first run. Here a kernel that is called by kernels stays
intermediate code (``InnerLibrary``). Only what is entered from outside is finished: the entries of
``mbd.boundary``, and kernels that Python calls, by a second dispatcher (``Kernel.outer``) that is made when Python
calls for the first time. Finished code is kept on disk; intermediate code is not needed again once it is.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding, ir
from numba import cfunc
from numba.core import errors, sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher


class InnerLibrary(JITCodeLibrary):
    """Intermediate code, to be linked into other libraries only."""

    def _optimize_final_module(self) -> None:
        """Left to the library that it is linked into."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class OuterLibrary(JITCodeLibrary):
    """Machine code. On disk its intermediate code, which nobody links, is reduced to the names that it defines."""

    def serialize_using_object_code(self) -> Any:
        """What numba keeps on disk."""
        names = ir.Module()
        for function in self._final_module.functions:
            if not function.is_declaration:
                empty = ir.Function(names, ir.FunctionType(ir.VoidType(), []), function.name)
                ir.IRBuilder(empty.append_basic_block()).ret_void()
        for variable in self._final_module.global_variables:
            if not variable.is_declaration:
                ir.GlobalVariable(names, ir.IntType(8), variable.name).initializer = ir.Constant(ir.IntType(8), 0)
        stub = binding.parse_assembly(str(names)).as_bitcode()
        return self.name, "object", (self._get_compiled_object(), stub)


class OuterCompiler(Compiler):
    """numba's pipeline, into an OuterLibrary."""

    def __init__(self, typing_context, target_context, library, *rest):  # type: ignore[no-untyped-def]
        library = OuterLibrary(target_context.codegen(), "kernel")
        library.enable_object_caching()
        super().__init__(typing_context, target_context, library, *rest)


class InnerCompiler(Compiler):
    """numba's pipeline, into an InnerLibrary."""

    def __init__(self, typing_context, target_context, library, *rest):  # type: ignore[no-untyped-def]
        library = InnerLibrary(target_context.codegen(), "kernel")
        super().__init__(typing_context, target_context, library, *rest)


class _InnerFunctionCompiler(_FunctionCompiler):
    def _customize_flags(self, flags: Any) -> Any:
        flags.no_cpython_wrapper = True
        flags.no_cfunc_wrapper = True
        flags.no_compile = True
        return flags


@contextmanager
def _without_collection() -> Iterator[None]:
    """No garbage collection while compiling: it would walk the compiler's millions of live objects again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class OuterKernel(CPUDispatcher):
    """A function that Python calls."""

    def compile(self, sig: Any) -> Any:
        """Machine code for a signature, or load it."""
        with _without_collection():
            return super().compile(sig)


def compile_callback(signature: Any, function: Callable, options: dict[str, Any]) -> Any:
    """A C function that is known by its address, or load it."""
    with _without_collection():
        return cfunc(signature, pipeline_class=OuterCompiler, **options)(function)


class Kernel(CPUDispatcher):
    """A function that kernels link, and that Python calls through ``outer``."""

    def __init__(self, function: Callable, options: dict[str, Any], kept: Callable[[Any], Any] | None) -> None:
        """``kept`` switches a dispatcher's cache on, in the directory of the function's module."""
        options = options | {"nopython": True}
        super().__init__(function, {}, options, InnerCompiler)
        self._compiler = _InnerFunctionCompiler(function, self.targetdescr, options, {}, InnerCompiler)
        self._kept = kept
        self._outer: Any = None

    @property
    def outer(self) -> Any:
        """The same function for callers outside compiled code."""
        if self._outer is None:
            self._outer = OuterKernel(self.py_func, {}, self.targetoptions, OuterCompiler)
            if self._kept is not None:
                self._kept(self._outer)
        return self._outer

    @property
    def signatures(self) -> list[Any]:
        """Signatures that Python has called."""
        return list(self._outer.signatures) if self._outer is not None else []

    def __call__(self, *args: Any) -> Any:
        return self.outer(*args)

    def compile(self, sig: Any) -> Any:
        """Intermediate code for a signature."""
        with global_compiler_lock:
            args, return_type = sigutils.normalize_signature(sig)
            if tuple(args) not in self.overloads:
                with self._compiling_counter:
                    try:
                        result = self._compiler.compile(args, return_type)
                    except errors.ForceLiteralArg as e:
                        raise e.bind_fold_arguments(lambda a, k: self._compiler.fold_argument_types(a, k)[1]) from None
                result = result._replace(entry_point=object())  # there is no machine code, but callers need a key
                self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
                self.overloads[tuple(args)] = result
            return self.overloads[tuple(args)].entry_point
