"""Records of arrays that compiled code knows by one address.

A named tuple of forty arrays would be a structure of three hundred words in compiled code, copied at every use, and
the time to compile a kernel would be spent on that. A *packed* record is instead a block of words in memory, written
once in Python: its own address, then for every array the address of its data and its shape. A kernel holds the
address alone; ``s.nodes`` reads three words. The words never change while a kernel runs, and the loads say so, so
that they are moved out of loops.

The block is the record's field ``place``. ``declare`` tells the compiler the types of a class of records, ``pack``
writes the block. Replacing an array of a packed record needs packing again. Without compilation both do nothing.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from .kernel import JIT

Record = TypeVar("Record", bound=tuple)
NO_PLACE = np.zeros(1, dtype=np.int64)  # of a record that has not been packed

if JIT:
    import numba
    from llvmlite import ir
    from numba import types
    from numba.core.typing.templates import AttributeTemplate
    from numba.core.typing.typeof import typeof_impl
    from numba.extending import (
        NativeValue,
        infer_getattr,
        intrinsic,
        lower_getattr_generic,
        models,
        register_model,
        unbox,
    )
    from numba.np.arrayobj import make_array, populate_array

    class PackedType(types.Type):
        """The compiled type of a class of packed records."""

        def __init__(self, label: str, members: tuple[tuple[str, Any], ...]) -> None:
            self.label, self.members = label, dict(members)
            self.offsets: dict[str, int] = {}
            self.words = 1 if "place" in self.members else 0  # the address of the block itself
            for name, kind in members:
                self.offsets[name] = self.words
                self.words += 1 + kind.ndim if isinstance(kind, types.Array) else kind.words
            described = ", ".join(f"{name}: {kind}" for name, kind in members)
            super().__init__(name=f"Packed({label}; {described})")

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

    @unbox(PackedType)
    def _unbox(kind: Any, obj: Any, c: Any) -> Any:
        place = c.pyapi.object_getattr_string(obj, "place")
        array = c.unbox(types.int64[::1], place)
        c.pyapi.decref(place)  # the record holds it
        data = make_array(types.int64[::1])(c.context, c.builder, array.value).data
        own = c.builder.ptrtoint(data, ir.IntType(64))
        unpacked = c.builder.icmp_unsigned("!=", c.builder.load(data), own)
        with c.builder.if_then(unpacked, likely=False):
            c.pyapi.err_set_string("PyExc_ValueError", f"a record of type {kind.label} has not been packed")
        return NativeValue(own, is_error=c.builder.or_(array.is_error, unpacked))

    def at_address(kind: Any) -> Any:
        """An intrinsic that takes an address for a packed record of a type."""

        @intrinsic
        def record_at(typing_context, place):  # type: ignore[no-untyped-def]
            def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
                return args[0]

            return kind(types.int64), generate

        return record_at

    _declared: dict[type, Any] = {}

    def _described(example: Any) -> Any:
        members = []
        for name, value in zip(example._fields, example, strict=True):
            members.append((name, numba.typeof(value) if isinstance(value, np.ndarray) else _described(value)))
        return PackedType(type(example).__name__, tuple(members))

    def declare(example: Any) -> Any:
        """Records of the example's class are packed ones from now on; returns their compiled type."""
        cls = type(example)
        if cls not in _declared:
            _declared[cls] = kind = _described(example)
            typeof_impl.register(cls)(lambda value, context: kind)
        return _declared[cls]

else:

    def at_address(kind: Any) -> Any:
        """Unused without compilation."""
        return None

    def declare(example: Any) -> Any:
        """Unused without compilation."""
        return None


def declare_arrays(cls: Any, tables: tuple[str, ...] = (), integers: tuple[str, ...] = ()) -> Any:
    """``declare`` for a class whose fields are vectors of floats, but for the named tables and integers."""
    names = [name for name in cls._fields if name != "place"]
    arrays = {k: np.zeros((0, 0) if k in tables else 0, np.int64 if k in integers else float) for k in names}
    return declare(cls(**arrays, place=NO_PLACE))


def _words(record: Any, kind: Any) -> list[int]:
    words: list[int] = []
    for name, value in zip(record._fields, record, strict=True):
        member = kind.members[name]
        if not isinstance(value, np.ndarray):
            words += _words(value, member)
            continue
        if not value.flags.c_contiguous or value.ndim != member.ndim or not value.flags.writeable:
            raise ValueError(f"{type(record).__name__}.{name}: expected a contiguous, writable array like {member}")
        words += [value.ctypes.data, *value.shape]
    return words


def pack(record: Record) -> Record:
    """The record with its block of words; the arrays must stay the same as long as it is used."""
    if not JIT:
        return record
    kind = _declared[type(record)]
    place = np.zeros(kind.words, dtype=np.int64)
    record = record._replace(place=place)  # type: ignore[attr-defined]
    place[:] = [place.ctypes.data, *_words(record, kind)]
    return record
