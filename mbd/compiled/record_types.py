"""Packed records (``record``) as the compiler sees them.

The words of a block never change while a kernel runs, and the loads say so, so that they are moved out of loops.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array, populate_array

from .record import Layout


class PackedType(types.Type):
    """The compiled type of a class of packed records."""

    def __init__(self, layout: Layout) -> None:
        self.offsets = layout.offsets
        self.members = {
            name: numba.typeof(m) if isinstance(m, np.ndarray) else packed_type(m) for name, m in layout.members.items()
        }
        digest = hashlib.sha256(layout.text.encode()).hexdigest()[:12]
        super().__init__(name=f"{layout.label}.{digest}")  # short: it is part of the name of every compiled function


def packed_type(layout: Layout) -> PackedType:
    """The type of records with a layout."""
    if layout.type is None:
        layout.type = PackedType(layout)
    return layout.type


@register_model(PackedType)
class _PackedModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(64))


@infer_getattr
class _PackedAttributes(AttributeTemplate):
    key = PackedType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.members.get(name)


@lower_getattr_generic(PackedType)
def _member(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    member, offset = kind.members[name], kind.offsets[name]
    if isinstance(member, PackedType):
        return builder.add(value, ir.Constant(ir.IntType(64), 8 * offset))
    word = ir.IntType(64)
    block = builder.inttoptr(value, word.as_pointer())

    def read(k: int) -> Any:
        loaded = builder.load(builder.gep(block, [ir.Constant(word, offset + k)]))
        loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        return loaded

    array = make_array(member)(context, builder)
    itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(member.dtype)))
    shape = [read(1 + k) for k in range(member.ndim)]
    strides = [itemsize]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    data = builder.inttoptr(read(0), context.get_data_type(member.dtype).as_pointer())
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
    return array._getvalue()


def record_at(layout: Layout) -> Any:
    """An intrinsic that takes an address for a packed record."""
    kind = packed_type(layout)

    @intrinsic
    def record(typing_context, place):  # type: ignore[no-untyped-def]
        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            return args[0]

        return kind(types.int64), generate

    return record
