"""Four numbers at once (``fours``) as the compiler sees them: one vector of the processor."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typeconv import Conversion
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model, type_callable
from numba.np.arrayobj import make_array, populate_array

from .fours import AT_ONCE

_WORD = ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), AT_ONCE)


class FourType(types.Type):
    """The compiled type of four numbers; a single number may stand for four equal ones."""

    def __init__(self) -> None:
        super().__init__(name="four")

    def can_convert_from(self, typing_context: Any, other: Any) -> Any:
        """Numbers become four equal ones."""
        return Conversion.safe if isinstance(other, types.Float | types.Integer) else None

    def unify(self, typing_context: Any, other: Any) -> Any:
        """A variable that is a number here and four of them there has four."""
        return self if isinstance(other, types.Float | types.Integer) else None


four = FourType()


@register_model(FourType)
class _FourModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


def array_of_fours(ndim: int) -> Any:
    """The type of arrays; their memory is aligned as that of numbers is."""
    return types.Array(four, ndim, "C", aligned=False)


def _spread(builder: Any, value: Any) -> Any:
    """Four equal numbers."""
    vector = ir.Constant(_VECTOR, ir.Undefined)
    for k in range(AT_ONCE):
        vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), k))
    return vector


@lower_cast(types.Float, FourType)
@lower_cast(types.Integer, FourType)
def _from_number(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return _spread(builder, context.cast(builder, value, given, types.float64))


def _define(functions: tuple[Any, ...], instruction: str, left: tuple[Any, ...], right: tuple[Any, ...]) -> None:
    """Make known what operators do with fours, where one side may be a number."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, b = (context.cast(builder, x, kind, four) for x, kind in zip(args, signature.args, strict=True))
        return getattr(builder, instruction)(a, b, flags=("contract",))  # fused multiply-add

    def typer_of(context: Any) -> Any:
        def typer(a: Any, b: Any) -> Any:
            return four if FourType in (type(a), type(b)) and isinstance(a, left) and isinstance(b, right) else None

        return typer

    pairs = [(a, b) for a in left for b in right if FourType in (a, b)]
    for function in functions:
        type_callable(function)(typer_of)
        for a, b in pairs:
            lower_builtin(function, a, b)(generate)


_ANY = (FourType, types.Float, types.Integer)
_define((operator.add, operator.iadd), "fadd", _ANY, _ANY)
_define((operator.sub, operator.isub), "fsub", _ANY, _ANY)
_define((operator.mul, operator.imul), "fmul", _ANY, _ANY)
_define((operator.truediv, operator.itruediv), "fdiv", (FourType,), _ANY)


@type_callable(operator.neg)
def _type_of_negative(context: Any) -> Any:
    def typer(a: Any) -> Any:
        return four if a == four else None

    return typer


@lower_builtin(operator.neg, FourType)
def _negative(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.fneg(args[0])


@intrinsic
def flat(typing_context, x):  # type: ignore[no-untyped-def]
    """The numbers of an array of fours, one after the other."""
    given, found = x, types.Array(types.float64, 1, "C")

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        fours, numbers = make_array(given)(context, builder, args[0]), make_array(found)(context, builder)
        size, count = ir.Constant(_WORD, 8), ir.Constant(_WORD, AT_ONCE)
        length = builder.mul(builder.extract_value(fours.shape, 0), count)
        data = builder.bitcast(fours.data, ir.DoubleType().as_pointer())
        populate_array(numbers, data=data, shape=[length], strides=[size], itemsize=size, meminfo=None)
        return numbers._getvalue()

    if isinstance(given, types.Array) and given.dtype == four and given.ndim == 1 and given.layout == "C":
        return found(given), generate
    return None


@intrinsic
def larger(typing_context, size, x):  # type: ignore[no-untyped-def]
    """The larger one of a size and |x|, number by number."""

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        m = context.cast(builder, args[0], sig.args[0], four)
        opposite = builder.fneg(args[1])
        positive = builder.fcmp_ordered(">", args[1], opposite)
        magnitude = builder.select(positive, args[1], opposite)
        return builder.select(builder.fcmp_ordered(">", magnitude, m), magnitude, m)

    return (four(size, four), generate) if x == four else None
