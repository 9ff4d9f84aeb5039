"""Compiled user functions whose captured values are data: numba's intermediate code, rewritten before it is typed.

numba turns globals and closure cells into constants of the machine code. Here every captured number or array becomes
a load from a block of words (``data_block``) that is passed as first argument, every call of a Python function
passes on its part of the block, and attributes and constant items of objects are followed to the numbers at their end.
One machine code then serves all functions with the same code and the same kinds of values. With ``dual`` the same
rewriting replaces elementary functions by those of ``dual_numbers``, by which complex numbers carry derivatives.

This file and ``dual_numbers.py`` know how numba works inside; ``code`` takes another way if they fail.
"""

from __future__ import annotations

import functools
import inspect
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from llvmlite import ir as llvm
from numba import types
from numba.core import bytecode, cgutils, cpu, interpreter, ir, postproc, untyped_passes
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.inline_closurecall import InlineClosureCallPass
from numba.core.ir_utils import build_definitions

from ..compile import InnerCompiler, InnerDispatcher, OuterLibrary, compiling, start_runtime
from ..intrinsics import advanced, call_vector
from . import dual_numbers
from .block_intrinsics import address_of, loader, moved, view, word_at
from .captured import (
    Path,
    Unknown,
    argument_names,
    code_digest,
    is_known,
    name_of,
    path_text,
    plain,
    root_value,
    unwrapped,
)
from .data_block import (
    ARGUMENTS,
    CLOCK,
    HEAD,
    RAISED,
    SPARE,
    SPARE_BLOCK,
    STATUS,
    TIME,
    kind_of,
    size_of,
)

OPTIONS = {"error_model": "numpy", "boundscheck": True}
_WORD, _BYTES = llvm.IntType(64), llvm.IntType(8).as_pointer()
_CONSTANTS = (str, bytes, type(None), type(Ellipsis), slice, np.dtype)


class CannotLift(Exception):
    """What stands in the way, for the message to the user."""


# --- rewriting ------------------------------------------------------------------------------------------------------


class Lifted:
    """Intermediate code of one function in which every captured value is read from the block.

    ``slots`` are (path, kind, offset) of what it reads, ``baked`` are (path, name) of what has become part of the code
    and ``functions`` are (path, digest) of the Python functions that are called; paths begin at the function.
    """

    def __init__(self, function: Any, given: list[Any], dual: bool = False, inside: tuple[Any, ...] = ()) -> None:
        try:
            self.function, self.bound = unwrapped(function)
        except Unknown as error:
            raise CannotLift(str(error)) from None
        code = self.function.__code__
        if code in inside:
            raise CannotLift(f"{self.function.__name__} calls itself")
        if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            raise CannotLift(f"{self.function.__name__} takes *args or **kwargs")
        self.dual, self.inside = dual, (*inside, code)
        free = [name for name in argument_names(self.function) if name not in self.bound]
        try:
            self.given = [free[each] if isinstance(each, int) else each for each in given]
        except IndexError:
            raise CannotLift(f"{self.function.__name__} takes {len(free)} arguments, not {len(given)}") from None
        self.slots: list[tuple[Path, str, int]] = []
        self.baked: list[tuple[Path, str]] = []
        self.functions: list[tuple[Path, str]] = [((), code_digest(function))]
        self.words = 0
        self._known: dict[Path, Any] = {}
        self._objects: dict[str, tuple[Path, Any]] = {}  # variables that stand for objects and functions
        self._prologue: list[Any] = []
        self._children: list[tuple[Lifted, Path, Any]] = []
        self._count = 0
        self._rewrite(self._interpret())
        self._dispatcher: Any = None

    def _interpret(self) -> Any:
        identity = bytecode.FunctionIdentity.from_function(self.function)
        self.ir = interpreter.Interpreter(identity).interpret(bytecode.ByteCode(identity))
        postproc.PostProcessor(self.ir).run()
        InlineClosureCallPass(self.ir, cpu.ParallelOptions(False), {}, True).run()  # inner lambdas, comprehensions
        postproc.PostProcessor(self.ir).run()
        for block in self.ir.blocks.values():
            block.body = [line for line in block.body if not isinstance(line, ir.Del)]
        return self.ir.blocks[min(self.ir.blocks)]

    def _rewrite(self, first: Any) -> None:
        self.scope, self.loc = first.scope, first.loc
        self.block = ir.Var(self.scope, "block.", self.loc)
        for label in sorted(self.ir.blocks):
            block = self.ir.blocks[label]
            body: list[Any] = []
            for line in block.body:
                if isinstance(line, ir.Assign):
                    body.append(self._assign(line, body))
                    continue
                for used in line.list_vars():
                    self._refuse_whole(used)
                body.append(line)
            block.body = body
        first.body[:0] = [ir.Assign(ir.Arg("block", 0, self.loc), self.block, self.loc), *self._prologue]
        for child, path, place in self._children:  # their words are behind the own ones
            place.value = moved(self.words)
            inner = (*path, ("f", ""))
            self.slots += [((*inner, *p), kind, self.words + offset) for p, kind, offset in child.slots]
            self.baked += [((*inner, *p), name) for p, name in child.baked]
            self.functions += [(path if not p else (*inner, *p), digest) for p, digest in child.functions]
            self.words += child.words
        self.ir.arg_names = ("block", *self.given)
        self.ir.arg_count = 1 + len(self.given)
        self.ir._definitions = build_definitions(self.ir.blocks)

    def _variable(self, name: str) -> Any:
        self._count += 1
        return ir.Var(self.scope, f"{name}.{self._count}", self.loc)

    def _refuse_whole(self, variable: Any) -> None:
        if variable.name in self._objects:
            path, value = self._objects[variable.name]
            raise CannotLift(
                f"{path_text(path)} ({type(value).__name__}) is used as a whole; only numbers and arrays in it can be "
                "compiled"
            )

    def _load(self, path: Path, kind: str) -> Any:
        """The variable that holds a captured value, read at the beginning of the function."""
        if path not in self._known:
            variable, load = self._variable("lifted"), self._variable("loader")
            self.slots.append((path, kind, self.words))
            self._prologue += [
                ir.Assign(ir.Global(load.name, loader(kind, self.words), self.loc), load, self.loc),
                ir.Assign(ir.Expr.call(load, (self.block,), (), self.loc), variable, self.loc),
            ]
            self.words += size_of(kind)
            self._known[path] = variable
        return self._known[path]

    def _captured(self, path: Path, value: Any, target: Any, name: str, loc: Any) -> Any:
        """The new right-hand side for a captured value."""
        kind = kind_of(plain(value))
        if kind is not None:
            if self.dual and "c16" in kind:
                raise CannotLift(f"{path_text(path)} is complex")
            return self._load(path, kind)
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType | type) and not isinstance(value, MethodType):
            raise CannotLift(f"{path_text(path)} is a method of a {type(owner).__name__}")
        if isinstance(value, _CONSTANTS) or is_known(value):
            self.baked.append((path, name_of(value)))
            value = dual_numbers.replaced(value, CannotLift) if self.dual else value
            return ir.Const(value, loc) if isinstance(value, str | None) else ir.Global(name, value, loc)
        if isinstance(value, BuiltinFunctionType | np.ufunc):
            raise CannotLift(f"{path_text(path)} is a function that is not written in Python")
        if value is np.random:
            raise CannotLift("np.random has a state of its own")
        self._stands_for(target, path, value)
        return ir.Const(None, loc)

    def _stands_for(self, target: Any, path: Path, value: Any) -> None:
        """Remember that a variable is an object, which is followed and never loaded."""
        if len(self.ir._definitions.get(target.name, ())) > 1:
            raise CannotLift(f"{target.name} is assigned more than once, and {path_text(path)} among others")
        self._objects[target.name] = path, value

    def _assign(self, line: Any, body: list[Any]) -> Any:
        """The line with captured values, items, attributes and calls replaced."""
        value, target, loc = line.value, line.target, line.loc
        new: Any = None
        if isinstance(value, ir.FreeVar):
            new = self._captured((("c", value.name),), value.value, target, value.name, loc)
        elif isinstance(value, ir.Global):
            new = self._captured((("g", value.name),), value.value, target, value.name, loc)
        elif isinstance(value, ir.Const) and self.dual and isinstance(value.value, complex):
            raise CannotLift("the function calculates with complex numbers")
        elif isinstance(value, ir.Arg):
            if value.name in self.given:
                new = ir.Arg(value.name, 1 + self.given.index(value.name), loc)
            else:
                root = ("d", value.name)
                try:
                    captured = root_value(self.function, self.bound, root)
                except Unknown:
                    raise CannotLift(f"argument {value.name} of {self.function.__name__} is missing") from None
                new = self._captured((root,), captured, target, value.name, loc)
        elif isinstance(value, ir.Var) and value.name in self._objects:
            self._stands_for(target, *self._objects[value.name])
            new = ir.Const(None, loc)
        elif isinstance(value, ir.Expr):
            new = self._expression(value, target, body, loc)
        return line if new is None else ir.Assign(new, target, loc)

    def _expression(self, value: Any, target: Any, body: list[Any], loc: Any) -> Any:
        if value.op == "getattr" and value.value.name in self._objects:
            path, owner = self._objects[value.value.name]
            try:
                item = getattr(owner, value.attr)
            except AttributeError as error:
                raise CannotLift(str(error)) from None
            return self._captured((*path, (".", value.attr)), item, target, value.attr, loc)
        if value.op == "getattr":
            return self._attribute(value, loc)
        if value.op in ("getitem", "static_getitem") and value.value.name in self._objects:
            path, owner = self._objects[value.value.name]
            key = value.index
            if isinstance(key, ir.Var):
                key = self.ir.get_definition(key)
                if not isinstance(key, ir.Const):
                    raise CannotLift(f"{path_text(path)} ({type(owner).__name__}) has a key that is not constant")
                key = key.value
            try:
                item = owner[key]
            except (KeyError, IndexError, TypeError) as error:
                raise CannotLift(f"{path_text(path)}: {type(error).__name__}: {error}") from None
            return self._captured((*path, ("[", key)), item, target, "item", loc)
        if value.op == "call" and value.func.name in self._objects:
            for used in (*value.args, *(each for _, each in value.kws)):
                self._refuse_whole(used)
            return self._call(value, *self._objects[value.func.name], body)
        for used in value.list_vars():
            self._refuse_whole(used)
        return self._operation(value, body, loc) if self.dual else None

    def _attribute(self, value: Any, loc: Any) -> Any:
        """An attribute of a module of numpy or of a variable."""
        owner = self._module(value.value)
        if owner is None:
            return self._method(value, loc)
        if owner is np and value.attr == "random":
            raise CannotLift("np.random has a state of its own")
        found = getattr(owner, value.attr, None)
        if not self.dual or found is None or isinstance(found, ModuleType | float):
            return None
        other = dual_numbers.replaced(found, CannotLift)
        return None if other is found else ir.Global(value.attr, other, loc)

    def _module(self, variable: Any) -> Any:
        """The module of numpy that a variable stands for, or None."""
        found = self.ir._definitions.get(variable.name, [None])
        made = found[-1] if len(found) == 1 else None
        if isinstance(made, ir.Global | ir.FreeVar) and isinstance(made.value, ModuleType):
            return made.value
        if isinstance(made, ir.Expr) and made.op == "getattr":
            owner = self._module(made.value)
            inner = getattr(owner, made.attr, None) if owner is not None else None
            return inner if isinstance(inner, ModuleType) else None
        return None

    def _method(self, value: Any, loc: Any) -> Any:
        """In a dual function, attributes of variables are those that keep derivatives."""
        if not self.dual or value.attr in dual_numbers.ATTRIBUTES:
            return None
        raise CannotLift(f".{value.attr} is not differentiated exactly")

    def _operation(self, value: Any, body: list[Any], loc: Any) -> Any:
        """Operators on dual numbers."""
        function = dual_numbers.OPERATORS.get(value.fn) if value.op in ("binop", "inplace_binop", "unary") else None
        if function is None:
            return None
        variable = self._variable("dual")
        body.append(ir.Assign(ir.Global(variable.name, function, loc), variable, loc))
        operands = (value.value,) if value.op == "unary" else (value.lhs, value.rhs)
        return ir.Expr.call(variable, operands, (), loc)

    def _call(self, call: Any, path: Path, function: Any, body: list[Any]) -> Any:
        """A call of a Python function, with its part of the block as first argument."""
        if isinstance(function, type):
            raise CannotLift(f"{path_text(path)} is a class")
        if call.vararg is not None or getattr(call, "varkwarg", None) is not None:
            raise CannotLift(f"{path_text(path)} is called with *args or **kwargs")
        if not isinstance(function, FunctionType | MethodType | functools.partial) and not hasattr(function, "py_func"):
            if not isinstance(getattr(type(function), "__call__", None), FunctionType):  # noqa: B004
                raise CannotLift(f"{path_text(path)} ({type(function).__name__}) cannot be called in compiled code")
        loc = call.loc
        child = Lifted(function, [*range(len(call.args)), *(name for name, _ in call.kws)], self.dual, self.inside)
        callee, block, move = (self._variable(name) for name in ("callee", "block", "move"))
        place = ir.Global(move.name, None, loc)
        self._children.append((child, path, place))
        body += [
            ir.Assign(ir.Global(callee.name, child.dispatcher, loc), callee, loc),
            ir.Assign(place, move, loc),
            ir.Assign(ir.Expr.call(move, (self.block,), (), loc), block, loc),
        ]
        return ir.Expr.call(callee, (block, *call.args, *(each for _, each in call.kws)), (), loc)

    @property
    def dispatcher(self) -> Any:
        """What numba compiles: a shell with the arguments of the function, and this code as its contents."""
        if self._dispatcher is None:
            space: dict[str, Any] = {}
            exec(f"def function(block{''.join(f', {name}' for name in self.given)}): pass", space)
            shell = space["function"]
            shell.__lifted__ = self
            self.ir.func_id.func = shell  # by which numba knows its own frames
            self._dispatcher = InnerDispatcher(shell, OPTIONS, LiftedCompiler)
        return self._dispatcher


@register_pass(mutates_CFG=True, analysis_only=False)
class GivenCode(FunctionPass):
    """Takes the place of the translation of byte code."""

    _name = "given_code"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        lifted = state.func_id.func.__lifted__
        state.func_ir = lifted.ir.copy()
        state.func_id = lifted.ir.func_id
        return True


class LiftedCompiler(InnerCompiler):
    """numba's pipeline on rewritten intermediate code."""

    def define_pipelines(self) -> list[Any]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        translate = untyped_passes.TranslateByteCode
        manager.passes = [(GivenCode, "given code") if p[0] is translate else p for p in manager.passes]
        manager._finalized = False
        manager.finalize()
        return [manager]


# --- machine code ---------------------------------------------------------------------------------------------------


def compile_lifted(
    parts: list[Lifted], lines: list[str], views: dict[str, tuple[int, ...]], n_in: int, is_complex: bool, symbol: str
) -> tuple[dict[str, Any], bytes]:
    """(what to know of it, object code) of void f(double *x, double *out, int64 *block).

    ``lines`` are the body of a function of ``pointer``, ``out`` and ``block``, in which ``f0, f1, ...`` with the blocks
    ``b0, b1, ...`` are the parts and ``view_<name>`` make arrays of fixed shapes at pointers.
    """
    with compiling():
        start_runtime()
        space: dict[str, Any] = {"advanced": advanced, "call_vector": call_vector, "nan": np.nan, "empty": np.empty}
        space |= {"word_at": word_at, "address_of": address_of, "SPARE": SPARE, "SPARE_BLOCK": SPARE_BLOCK}
        space |= {f"f{i}": part.dispatcher for i, part in enumerate(parts)}
        # who changes the arguments in place is not compiled: one set of them serves many evaluations
        space |= {f"view_{name}": view(shape, name == "target") for name, shape in views.items()}
        starts: list[str] = []
        place = HEAD
        for part in parts:
            starts.append(f"    b{len(starts)} = block + {8 * place}")
            place += part.words
        exec("\n".join(["def wrapper(pointer, out, block):", *starts, *(f"    {line}" for line in lines)]), space)
        dispatcher = InnerDispatcher(space["wrapper"], {"error_model": "numpy"}, InnerCompiler)
        pointer = types.CPointer(types.complex128 if is_complex else types.float64)
        kinds = (pointer, pointer, types.int64)
        dispatcher.compile(kinds)
        return _finish(dispatcher, kinds, n_in * (2 if is_complex else 1), symbol)


def _finish(dispatcher: Any, kinds: tuple, n_in: int, symbol: str) -> tuple[dict[str, Any], bytes]:
    inner, context = dispatcher.overloads[kinds], dispatcher.targetctx
    library = OuterLibrary(context.codegen(), symbol)
    module = library.create_ir_module(symbol)
    words = _WORD.as_pointer()
    outer = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), [_BYTES, _BYTES, words]), symbol)
    builder = llvm.IRBuilder(outer.append_basic_block())
    desc = inner.fndesc
    callee = llvm.Function(
        module, context.call_conv.get_function_type(desc.restype, desc.argtypes), desc.llvm_func_name
    )
    x, out, block = outer.args
    args = [builder.bitcast(each, context.get_value_type(kinds[0])) for each in (x, out)]
    args.append(builder.ptrtoint(block, _WORD))
    status, value = context.call_conv.call_function(builder, callee, desc.restype, desc.argtypes, args)
    code = builder.select(status.is_error, llvm.Constant(_WORD, RAISED), value)

    def head(k: int) -> Any:
        return builder.gep(block, [llvm.Constant(_WORD, k)])

    failed = builder.icmp_signed("!=", code, llvm.Constant(_WORD, 0))
    first = builder.icmp_signed("==", builder.load(head(STATUS)), llvm.Constant(_WORD, 0))
    with builder.if_then(builder.and_(failed, first), likely=False):
        builder.store(code, head(STATUS))
        copy = builder.inttoptr(builder.load(head(ARGUMENTS)), _BYTES)
        cgutils.raw_memcpy(builder, copy, x, llvm.Constant(_WORD, n_in), 8)
        clock = builder.inttoptr(builder.load(head(CLOCK)), words)
        builder.store(builder.load(clock), head(TIME))
    builder.ret_void()
    library.add_ir_module(module)
    library.add_linking_library(inner.library)
    library.finalize()
    return {"symbol": symbol, "needs": library.needs(), "result": "n"}, library.object_code()
