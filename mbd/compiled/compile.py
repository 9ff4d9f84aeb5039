"""How kernels are compiled: code that other kernels call is neither optimised nor translated on its own.

numba optimises every function, gives it two wrappers for callers from outside and translates it to machine code, and
then links its intermediate code into each caller, where all of it is optimised and translated once more. For a
hundred small kernels that is most of the time of a first run. Here a kernel that is called by kernels stays
intermediate code (``InnerLibrary``). Only what is entered from outside is finished: entries
(``entry``), and kernels that Python calls. Both become object code with one C function (``OuterLibrary``), which
is kept on disk and loaded by ``native``; nothing in it needs the compiler.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import errors, sigutils, typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import PassManager
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.runtime import rtsys
from numba.core.targetconfig import ConfigStack
from numba.core.typing.typeof import typeof_impl
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from .entry import Entry
from .intrinsics import read_arguments, type_of
from .kernel import OPTIONS, Deferred, Kernel
from .native import ARRAY_DATA, ARRAY_SHAPE, ARRAY_STRIDES
from .record_types import record_type

_WORD = ir.IntType(64)


@typeof_impl.register(Kernel)
@typeof_impl.register(Entry)
def _type_of_kernel(value: Kernel | Entry, context: Any) -> Any:
    return types.Dispatcher(value.dispatcher)


@typeof_impl.register(Deferred)
def _type_of_deferred(value: Deferred, context: Any) -> Any:
    made = value.made
    cpu_target.typing_context.refresh()  # it may have been registered just now
    cpu_target.target_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


# --- intermediate code ----------------------------------------------------------------------------------------------


class InnerLibrary(JITCodeLibrary):
    """Intermediate code, to be linked into other libraries only."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """As numba does, but for functions that are declared only: to make the passes takes longer than to run them."""
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager()
                manager.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Left to the library that it is linked into."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class InnerCompiler(Compiler):
    """numba's pipeline, into an InnerLibrary."""

    def __init__(self, typing_context, target_context, library, *rest):  # type: ignore[no-untyped-def]
        library = InnerLibrary(target_context.codegen(), "kernel")
        super().__init__(typing_context, target_context, library, *rest)


NOT_FOR_KERNELS = {
    untyped_passes.WithLifting,
    untyped_passes.InlineClosureLikes,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.MakeFunctionToJitFunction,
    untyped_passes.InlineInlinables,
    untyped_passes.FindLiterallyCalls,
    untyped_passes.LiteralUnroll,
    untyped_passes.LiteralPropagationSubPipelinePass,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.AnnotateTypes,
    typed_passes.DumpParforDiagnostics,
}
"""Passes for what kernels do not have: closures, exceptions, expressions of whole arrays, parts that are inlined by
numba itself, and reports. Each of them walks through the whole function, for a tenth of the time of a first run."""


class KernelCompiler(InnerCompiler):
    """The passes of numba's pipeline that matter to kernels."""

    def define_pipelines(self) -> list[Any]:
        manager = PassManager("kernel")
        every = DefaultPassBuilder.define_nopython_pipeline(self.state).passes
        manager.passes = [each for each in every if each[0] not in NOT_FOR_KERNELS]
        manager.finalize()
        return [manager]

    def compile_extra(self, func: Callable) -> Any:
        """As numba does; what a product of two numbers is, say, is found once in a function, not every time."""
        with _remembering(self.state.typingctx):
            return super().compile_extra(func)


@contextmanager
def _remembering(context: Any) -> Iterator[None]:
    """Let numba remember what calls return: to find it out is a fifth of the time of a first run.

    Each set of options has a memory of its own: what numba compiles for a call has those of the caller. Calls of
    kernels are left out, and code with other options, which numba compiles in between.
    """
    outer, plain = vars(context).get(_RESOLVE), getattr(type(context), _RESOLVE)
    known: dict[Any, Any] = {}
    own: list[Any] = []

    def resolve(function: Any, args: Any, kws: Any) -> Any:
        nonlocal known
        options = ConfigStack().top_or_none()
        if not own:
            own.append(options)
            known = _KNOWN.setdefault(repr(options), {})
        if kws or options is not own[0] or isinstance(function, types.Dispatcher):
            return plain(context, function, args, kws)
        try:
            found = known.get((function, args))
        except TypeError:  # constants that are lists or slices
            return plain(context, function, args, kws)
        if found is None:
            found = plain(context, function, args, kws)
            known[function, args] = found
        return found

    setattr(context, _RESOLVE, resolve)
    try:
        yield
    finally:
        if outer is None:
            delattr(context, _RESOLVE)
        else:
            setattr(context, _RESOLVE, outer)


_KNOWN: dict[str, dict[Any, Any]] = {}
"""By options: what calls return, by function and kinds of arguments."""
_RESOLVE = "resolve_function_type"


class _InnerFunctionCompiler(_FunctionCompiler):
    def _customize_flags(self, flags: Any) -> Any:
        flags.no_cpython_wrapper = True
        flags.no_cfunc_wrapper = True
        flags.no_compile = True
        return flags


class InnerDispatcher(CPUDispatcher):
    """A function as kernels link it."""

    def __init__(self, function: Callable, options: dict[str, Any], compiler: Any = KernelCompiler) -> None:
        options = options | {"nopython": True}
        super().__init__(function, {}, options, compiler)
        self._compiler = _InnerFunctionCompiler(function, self.targetdescr, options, {}, compiler)

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


def new_dispatcher(function: Callable, options: dict[str, Any]) -> InnerDispatcher:
    """What kernels link of a function."""
    return InnerDispatcher(function, options)


# --- machine code ---------------------------------------------------------------------------------------------------


class OuterLibrary(JITCodeLibrary):
    """Object code with one function that others see."""

    def _optimize_final_module(self) -> None:
        """As numba does, for code that is called at one place more often than not and has short loops.

        The optimiser knows that nobody else calls the functions inside, and so puts those with one caller there and
        takes off arguments that none needs. Numbers side by side are taken together (the coordinates of a vector);
        loops are not repeated in the code for long arrays: most have three to twelve rounds.
        """
        module = self._final_module
        for value in (*module.functions, *module.global_variables):
            if not value.is_declaration and value.name != self.name:
                value.linkage = binding.Linkage.internal  # the same name may mean something else in other code
        manager, builder = self._codegen._module_pass_manager(loop_vectorize=False, opt=0, cost="cheap")
        manager.run(module, builder)
        options = binding.create_pipeline_tuning_options(3)
        options.loop_vectorization, options.slp_vectorization, options.loop_unrolling = True, True, False
        builder = binding.create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(module, builder)

    def _finalize_final_module(self) -> None:
        self._verify_declare_only_symbols()
        self._finalized = True

    def object_code(self) -> bytes:
        """Machine code in the format of the system's linker."""
        return self._codegen._tm.emit_object(self._final_module)

    def needs(self) -> list[str]:
        """Functions of the C library and the like that it calls, and data that are not its own."""
        module = self._final_module
        names = (value.name for value in (*module.functions, *module.global_variables) if value.is_declaration)
        return sorted(name for name in names if not name.startswith("llvm."))


def start_runtime() -> None:
    """Make what allocates memory for arrays known to machine code; kernels do without, user functions need it."""
    rtsys.initialize(cpu_target.target_context)


@contextmanager
def compiling() -> Iterator[None]:
    """No garbage collection while compiling: it would walk the compiler's millions of live objects again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        with global_compiler_lock:
            yield
    finally:
        if enabled:
            gc.enable()


def _finish(dispatcher: InnerDispatcher, kinds: tuple, symbol: str, read: Callable) -> tuple[dict[str, Any], bytes]:
    """(what to know of it, object code) of a C function of one pointer, from which ``read`` builds the arguments."""
    dispatcher.compile(kinds)
    inner = dispatcher.overloads[kinds]
    context = dispatcher.targetctx
    library = OuterLibrary(context.codegen(), symbol)
    module = library.create_ir_module(symbol)
    outer = ir.Function(module, ir.FunctionType(ir.VoidType(), [_WORD.as_pointer()]), symbol)
    builder = ir.IRBuilder(outer.append_basic_block())
    desc = inner.fndesc
    callee = ir.Function(module, context.call_conv.get_function_type(desc.restype, desc.argtypes), desc.llvm_func_name)
    args = read(context, builder, outer.args[0])
    status, value = context.call_conv.call_function(builder, callee, desc.restype, desc.argtypes, args)
    result, _ = _write_result(context, builder, desc.restype, value, outer.args[0], 0)
    builder.ret_void()
    library.add_ir_module(module)
    library.add_linking_library(inner.library)
    library.finalize()
    return {"symbol": symbol, "result": result, "needs": library.needs()}, library.object_code()


def make_known() -> None:
    """Make known to the linker what numba has written in C, for code that was compiled by another process."""
    cpu_target.target_context.refresh()
    start_runtime()


def compile_entry(entry: Entry, symbol: str) -> tuple[dict[str, Any], bytes]:
    """Object code of an entry, whose pointer leads to its arguments one after the other."""

    with compiling():
        kinds = tuple(type_of(kind) for kind in entry.kinds)

        def read(context: Any, builder: Any, pointer: Any) -> list[Any]:
            return read_arguments(context, builder, kinds, pointer)

        # it has this one caller, and arrays would be handed over word by word
        return _finish(InnerDispatcher(entry.py_func, {**OPTIONS, "forceinline": True}), kinds, symbol, read)


def compile_kernel(kernel: Kernel, kinds: tuple, symbol: str) -> tuple[dict[str, Any], bytes]:
    """Object code of a kernel for Python, which describes the kinds of arguments as in ``native``."""
    with compiling():
        listed = list(reversed(kinds))
        arguments = []
        while listed:
            arguments.append(_numba_type(listed))

        def read(context: Any, builder: Any, pointer: Any) -> list[Any]:
            values, k = [], 0
            for kind in arguments:
                value, k = _read_argument(context, builder, kind, pointer, k)
                values.append(value)
            return values

        return _finish(kernel.dispatcher, tuple(arguments), symbol, read)


_SCALARS = {"f": types.float64, "i": types.int64, "b": types.boolean, "c": types.complex128}


def _numba_type(listed: list[Any]) -> Any:
    """Type of the last kind on the list, which is taken off."""
    kind = listed.pop()
    if isinstance(kind, str):
        return _SCALARS[kind]
    if isinstance(kind, np.dtype):
        return from_dtype(kind)
    if isinstance(kind, type):
        return record_type(kind.layout)  # type: ignore[attr-defined]
    if len(kind) == 3:
        return types.Array(from_dtype(np.dtype(kind[0])), kind[1], kind[2])
    parts = [_numba_type(listed) for _ in range(kind[1])]
    if kind[0] == "t":
        return types.Tuple(parts)
    return types.NamedTuple(parts, kind[0])


def _word(builder: Any, pointer: Any, k: int) -> Any:
    return builder.gep(pointer, [ir.Constant(_WORD, k)])


def _read_argument(context: Any, builder: Any, kind: Any, pointer: Any, k: int) -> tuple[Any, int]:
    """Value of an argument whose words start at number k, and the number of the next word."""
    if isinstance(kind, types.BaseTuple):
        values = []
        for part in kind:
            value, k = _read_argument(context, builder, part, pointer, k)
            values.append(value)
        return context.make_tuple(builder, kind, values), k
    if isinstance(kind, types.Array):
        place = builder.load(_word(builder, pointer, k))

        def words(offset: int) -> Any:
            address = builder.add(place, ir.Constant(_WORD, offset))
            return builder.load(builder.inttoptr(address, _WORD.as_pointer().as_pointer()))

        array = make_array(kind)(context, builder)
        item = context.get_data_type(kind.dtype)
        itemsize = ir.Constant(_WORD, context.get_abi_sizeof(item))
        shape, strides = (
            [builder.load(_word(builder, words(offset), m)) for m in range(kind.ndim)]
            for offset in (ARRAY_SHAPE, ARRAY_STRIDES)
        )
        data = builder.bitcast(words(ARRAY_DATA), item.as_pointer())
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue(), k + 1
    if kind == types.complex128:
        number = context.make_complex(builder, kind)
        number.real, k = _read_argument(context, builder, types.float64, pointer, k)
        number.imag, k = _read_argument(context, builder, types.float64, pointer, k)
        return number._getvalue(), k
    word = builder.load(_word(builder, pointer, k))
    if kind == types.float64:
        word = builder.bitcast(word, ir.DoubleType())
    elif kind == types.boolean:
        word = builder.icmp_unsigned("!=", word, ir.Constant(_WORD, 0))
    elif isinstance(kind, types.Record):
        word = builder.inttoptr(word, context.get_value_type(kind))
    return word, k + 1


def _write_result(context: Any, builder: Any, kind: Any, value: Any, pointer: Any, k: int) -> tuple[Any, int]:
    """Store a result from word k on; returns its kind as ``native`` knows it and the number of the next word."""
    if kind == types.none:
        return "n", k
    if isinstance(kind, types.BaseTuple):
        parts = []
        for part, each in zip(kind, _parts(builder, value, len(kind)), strict=True):
            letter, k = _write_result(context, builder, part, each, pointer, k)
            parts.append(letter)
        return parts, k
    if kind == types.complex128:
        number = context.make_complex(builder, kind, value)
        _, k = _write_result(context, builder, types.float64, number.real, pointer, k)
        _, k = _write_result(context, builder, types.float64, number.imag, pointer, k)
        return "c", k
    if isinstance(kind, types.Float):
        letter, word = "f", builder.bitcast(context.cast(builder, value, kind, types.float64), _WORD)
    elif isinstance(kind, types.Boolean):
        letter, word = "b", builder.zext(value, _WORD)
    elif isinstance(kind, types.Integer):
        letter, word = "i", context.cast(builder, value, kind, types.int64)
    else:
        raise TypeError(f"a kernel that Python calls returns {kind}; it may return numbers only")
    builder.store(word, _word(builder, pointer, k))
    return letter, k + 1


def _parts(builder: Any, value: Any, count: int) -> list[Any]:
    return [builder.extract_value(value, i) for i in range(count)]
