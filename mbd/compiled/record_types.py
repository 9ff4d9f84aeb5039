"""Records (``record``) as the compiler sees them.

Where the arrays of a record are never changes while a kernel runs, and the loads say so, so that they are moved out of
loops. Its numbers are memory like any other.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
)
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from .four_types import array_of_fours
from .kinds import Kind
from .record import Layout

_WORD = ir.IntType(64)


def type_of_kind(kind: Kind) -> Any:
    """The compiled type of a kind."""
    if kind.lanes:
        return array_of_fours(kind.ndim)
    number = from_dtype(kind.dtype)
    return types.Array(number, kind.ndim, "C") if kind.ndim else number


class RecordType(types.Type):
    """The compiled type of a class of records."""

    def __init__(self, layout: Layout) -> None:
        self.offsets = layout.offsets
        self.members = {
            name: type_of_kind(m) if isinstance(m, Kind) else record_type(m) for name, m in layout.members.items()
        }
        digest = hashlib.sha256(layout.text.encode()).hexdigest()[:12]
        super().__init__(name=f"{layout.label}.{digest}")  # short: it is part of the name of every compiled function


def record_type(layout: Layout) -> RecordType:
    """The type of records with a layout."""
    if layout.type is None:
        layout.type = RecordType(layout)
    return layout.type


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD)


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.members.get(name)


def _word(builder: Any, value: Any, offset: int) -> Any:
    block = builder.inttoptr(value, _WORD.as_pointer())
    return builder.gep(block, [ir.Constant(_WORD, offset)])


@lower_getattr_generic(RecordType)
def _member(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    member, offset = kind.members[name], kind.offsets[name]
    if isinstance(member, RecordType):
        return builder.add(value, ir.Constant(_WORD, 8 * offset))
    if not isinstance(member, types.Array):
        word = _word(builder, value, offset)
        return builder.load(builder.bitcast(word, context.get_value_type(member).as_pointer()))

    def read(k: int) -> Any:
        loaded = builder.load(_word(builder, value, offset + k))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    return array_from_words(context, builder, member, read)


def array_from_words(context: Any, builder: Any, kind: Any, read: Any) -> Any:
    """An array from its words, which ``read(k)`` gives: the address of its data, then its shape."""
    array = make_array(kind)(context, builder)
    itemsize = ir.Constant(_WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    shape = [read(1 + k) for k in range(kind.ndim)]
    strides = [itemsize]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    data = builder.inttoptr(read(0), context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue()


@lower_setattr_generic(RecordType)
def _set_member(context: Any, builder: Any, signature: Any, args: Any, name: str) -> None:
    kind, given = signature.args
    member, offset = kind.members[name], kind.offsets[name]
    if isinstance(member, (RecordType, types.Array)):
        raise TypeError(f"{kind.name}.{name}: only numbers of a record can be set in compiled code")
    value = context.cast(builder, args[1], given, member)
    word = _word(builder, args[0], offset)
    builder.store(value, builder.bitcast(word, context.get_value_type(member).as_pointer()))


def record_at(layout: Layout) -> Any:
    """An intrinsic that takes an address for a record."""
    kind = record_type(layout)

    @intrinsic
    def record(typing_context, address):  # type: ignore[no-untyped-def]
        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return args[0]

        return kind(types.int64), generate

    return record
