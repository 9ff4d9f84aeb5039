"""Records of arrays and numbers that compiled code knows by one address.

A structure of forty arrays would be three hundred words in compiled code, copied at every use, and the time to compile
a kernel would be spent on that. A record is instead a block of words in memory, written when it is made: for every
array the address of its data and its shape, for every number the number itself. A kernel holds the address of the
block alone; ``s.nodes`` reads two words, ``p.error = 1.0`` writes one (``record_types``).

A class of records names its fields with their kinds::

    class State(Record):
        q = vector
        z = matrix
        error = real

Numbers may be changed at any time, the contents of arrays too; another array means another record (``changed``).
Without compilation a record is a plain object.
"""

from __future__ import annotations

import functools
import math
from ctypes import addressof, c_char
from typing import Any, NamedTuple, Self

import numpy as np

from .fours import PlainFours
from .kernel import JIT, deferred
from .kinds import Kind, addresses, plain

NOTHING: dict[str, Any] = {}
LINE = 8  # words of the cache


class Layout:
    """Where the words of a class of records are."""

    def __init__(self, label: str, members: dict[str, Any]) -> None:
        self.label = label
        self.members = {name: m if isinstance(m, Kind) else m.layout for name, m in members.items()}
        self.numbers = {name for name, m in members.items() if isinstance(m, Kind) and m.ndim == 0}
        self.needed = self.members.keys() - self.numbers
        self.offsets: dict[str, int] = {}
        self.words = 0
        for name, member in self.members.items():
            self.offsets[name] = self.words
            self.words += (1 + member.ndim if member.ndim else 1) if isinstance(member, Kind) else member.words
        integer = {name: self.members[name].dtype.kind == "i" for name in self.numbers}
        self.integers = {name: self.offsets[name] for name, is_integer in integer.items() if is_integer}
        self.reals = {name: self.offsets[name] for name, is_integer in integer.items() if not is_integer}
        self.type: Any = None  # of the compiler, see record_types
        self.text = f"{label}({', '.join(f'{name}: {m.text}' for name, m in self.members.items())})"
        """All that compiled code depends on."""


class _Number:
    """A number in the block of a record."""

    def __init__(self, offset: int, is_integer: bool) -> None:
        self.offset, self.is_integer = offset, is_integer

    def __get__(self, record: Any, cls: Any = None) -> Any:
        if record is None:
            return self
        return record._integers[self.offset] if self.is_integer else record._reals[self.offset]

    def __set__(self, record: Any, value: Any) -> None:
        if self.is_integer:
            record._integers[self.offset] = value
        else:
            record._reals[self.offset] = value


class Record:
    """Base of records; see the text of the module."""

    layout: Layout
    fields: tuple[str, ...]
    address: int
    _words: np.ndarray
    _block: np.ndarray  # of a record of zeros
    connected: set[Any]  # entries whose addresses are known to be there, as far as this record needs them
    fits: Any = None  # the record with which it was last handed over, and is large enough for

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        members = {
            name: m
            for name, m in vars(cls).items()
            if isinstance(m, Kind) or (isinstance(m, type) and issubclass(m, Record))
        }
        cls.layout, cls.fields = Layout(cls.__name__, members), tuple(members)
        for name, m in members.items():
            if JIT and isinstance(m, Kind) and m.ndim == 0:
                setattr(cls, name, _Number(cls.layout.offsets[name], m.dtype.kind == "i"))
            else:
                delattr(cls, name)

    def __init__(self, **values: Any) -> None:
        members, numbers, own = self.layout.members, self.layout.numbers, self.__dict__
        if not values.keys() <= members.keys() or not self.layout.needed <= values.keys():
            unknown = [name for name in values if name not in members]
            missing = [name for name in members if name not in values and name in self.layout.needed]
            text = f"unknown {', '.join(unknown)}" if unknown else f"missing {', '.join(missing)}"
            raise TypeError(f"{self.layout.label}: {text}; expected {', '.join(members)}")
        words: list[int] = []
        for name, member in members.items():
            if name in numbers:
                words.append(0)
                continue
            own[name] = value = values[name]
            if JIT:
                words += _words(value, member, self, name)
        self._write(np.array(words, dtype=np.int64))
        if JIT:
            self._set_numbers(values)
        else:
            for name in numbers:
                setattr(self, name, values.get(name, 0))

    @classmethod
    def plan(cls, shapes: dict[str, Any]) -> Plan:
        """Where arrays of these shapes lie in one block of memory, for ``zeros``; whoever makes many keeps it."""
        try:
            return _plan(cls, tuple(shapes.items()))  # type: ignore[arg-type]
        except KeyError as error:
            raise TypeError(f"{cls.layout.label}: unknown {error}; expected {', '.join(cls.fields)}") from None

    @classmethod
    def zeros(cls, shapes: dict[str, Any] | Plan, **given: Any) -> Self:
        """A record with arrays of zeros of these shapes, which lie in one block of memory, and with others as given.

        Arrays that a plan is filled with begin with those numbers.
        Where every array is, seen from the start of the block, is found once for the same shapes: to describe many
        arrays one by one takes longer than a short run. For the same reason an array is cut out of the block when
        Python first asks for it; most are for compiled code alone.
        """
        if not JIT:
            asked, filled = (shapes.shapes, shapes.filled) if isinstance(shapes, Plan) else (shapes, NOTHING)
            arrays = {name: _plain_zeros(cls.layout.members[name], shape) for name, shape in asked.items()}
            for name, numbers in filled.items():
                arrays[name][...] = numbers
            return cls(**arrays, **given)
        plan = shapes if isinstance(shapes, Plan) else cls.plan(shapes)
        if not plan.missing <= given.keys():
            raise TypeError(f"{cls.layout.label}: missing {', '.join(sorted(plan.missing - given.keys()))}")
        block = np.zeros(plan.size) if not plan.wide else _aligned_zeros(plan.size)
        if len(plan.begin):
            block[: len(plan.begin)] = plan.begin
        words = plan.words + plan.is_address * address_of(block)
        record = object.__new__(cls)
        record._write(words)
        record.__dict__.update(_block=block, _parts=plan.arrays, _filled=plan.begin)
        record._set_arrays(given)
        record._set_numbers(given)
        return record

    def _set_arrays(self, given: dict[str, Any]) -> None:
        """Keep the arrays and inner records among these values, and write where they are into the block."""
        own, layout = self.__dict__, self.layout
        integers = own["_integers"]
        for name, value in given.items():
            if name not in layout.numbers:
                own[name] = value
                words, o = _words(value, layout.members.get(name), self, name), layout.offsets[name]
                if type(words) is list:  # faster one by one
                    for k, word in enumerate(words, o):
                        integers[k] = word
                else:
                    integers[o : o + len(words)] = words

    def _set_numbers(self, given: dict[str, Any]) -> None:
        """Write the numbers among these values into the block, as ``record.number = value`` does one by one."""
        own, layout = self.__dict__, self.layout
        integers, reals = own["_integers"], own["_reals"]
        for name, value in given.items():
            if name in layout.integers:
                integers[layout.integers[name]] = int(value)
            elif name in layout.reals:
                reals[layout.reals[name]] = float(value)

    def changed(self, **values: Any) -> Self:
        """A record with some arrays or numbers replaced; the arrays of the others are shared."""
        if not JIT or not values.keys() <= self.layout.members.keys():
            return type(self)(**{**{name: getattr(self, name) for name in self.fields}, **values})
        other, block = object.__new__(type(self)), self._words.copy()
        other.__dict__.update(self.__dict__)
        other._write(block)
        other._set_arrays(values)
        other._set_numbers(values)
        return other

    def misfit(self, holder: Any) -> str:
        """What of it is too small to be handed over behind another record, which tells lengths; empty if nothing is."""
        return ""

    def _write(self, block: np.ndarray) -> None:
        """The block of words by which compiled code knows the record; nothing is connected to it yet."""
        self.__dict__["connected"] = set()
        self.__dict__.pop("fits", None)
        if JIT:
            words: Any = block
            views = memoryview(words), memoryview(words.view(np.float64))  # read faster than numpy's scalars
            self.__dict__.update(_words=block, _integers=views[0], _reals=views[1], address=address_of(block))

    def __setattr__(self, name: str, value: Any) -> None:
        member = self.layout.members.get(name)
        if not isinstance(member, Kind) or member.ndim:
            raise AttributeError(
                f"{self.layout.label}.{name} cannot be replaced in place: compiled code would not notice; use changed()"
            )
        value = int(value) if member.dtype.kind == "i" else float(value)
        if JIT:
            object.__setattr__(self, name, value)
        else:
            self.__dict__[name] = value

    def __getattr__(self, name: str) -> Any:
        part = self.__dict__.get("_parts", NOTHING).get(name)
        if part is not None:
            start, stop, shape, dtype = part
            x = self._block[start:stop]
            x = x if shape is None else x.reshape(shape) if dtype is None else x.view(dtype).reshape(shape)
            self.__dict__[name] = x
            return x
        if name in ("address", "_words", "_integers", "_reals", "connected") and JIT:
            raise ValueError(
                f"a record {self.layout.label} that was copied or comes from another process is not known to compiled "
                "code; use changed(), or assemble the model again"
            )
        raise AttributeError(f"{self.layout.label} has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        """For copies and other processes, where addresses mean nothing: the fields alone."""
        return {name: getattr(self, name) for name in self.fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        arrays = (name for name in state if not JIT or getattr(self.layout.members[name], "ndim", 1) > 0)
        self.__dict__.update({name: state[name] for name in arrays})

    def __repr__(self) -> str:
        return f"{self.layout.label}({', '.join(self.fields)})"


class Beginning:
    """Records as they are now, and with zeros as ``zeros`` made them in arrays of their own.

    For the moment at which nothing is in there yet; arrays that were given to them are not looked at.
    """

    def __init__(self, *records: Record) -> None:
        self._records = [(one, one._words.copy()) for record in records for one in _with_inner(record)] if JIT else []

    def restore(self) -> bool:
        """Make them what they were, in place; without compilation they do not know how, and False is returned."""
        for record, words in self._records:
            record._words[:] = words
            if "_block" in vars(record):
                block, filled = record._block, record.__dict__["_filled"]
                block.fill(0.0)
                if len(filled):
                    block[: len(filled)] = filled
        return len(self._records) > 0


def _with_inner(record: Record) -> list[Record]:
    """A record and those in it that have arrays of their own."""
    inner = [x for x in vars(record).values() if isinstance(x, Record) and "_block" in vars(x)]
    return [record, *(each for one in inner for each in _with_inner(one))]


class Plan(NamedTuple):
    """Where arrays lie in a block of numbers, and the words of their record at address zero."""

    size: int
    arrays: dict[str, tuple[int, int, Any, Any]]  # by name: place, shape unless one row, type unless numbers
    words: np.ndarray
    is_address: np.ndarray
    missing: frozenset[str]  # arrays and records that have to be given
    shapes: dict[str, Any]
    wide: bool  # whether some are of kind ``fours``
    filled: dict[str, Any] = NOTHING  # arrays that are not zero at first
    begin: Any = ()  # the block up to the last of them

    def filled_with(self, **arrays: Any) -> Plan:
        """The same plan with arrays of numbers that begin otherwise than with zeros."""
        begin = np.zeros(max(self.arrays[name][1] for name in arrays))
        for name, numbers in arrays.items():
            start, stop, shape, _ = self.arrays[name]
            begin[start:stop].reshape(shape or -1)[...] = numbers
        return self._replace(filled=arrays, begin=begin)


@functools.lru_cache(maxsize=256)
def _plan(cls: type[Record], shapes: tuple[tuple[str, Any], ...]) -> Plan:
    layout, end = cls.layout, 0
    arrays: dict[str, tuple[int, int, Any, Any]] = {}
    words, is_address = np.zeros(layout.words, dtype=np.int64), np.zeros(layout.words, dtype=np.int64)
    for name, given in shapes:
        member: Any = layout.members[name]
        shape = (given,) if isinstance(given, int) else tuple(given)
        if len(shape) != member.ndim:
            raise ValueError(f"{layout.label}.{name}: {len(shape)} dimensions are given; expected {member.ndim}")
        whole = member.shape(shape)
        if member.lanes:
            end += -end % member.lanes
        start, end = end, end + math.prod(whole) * (member.dtype.itemsize // 8)
        other = None if member.dtype == np.float64 else member.dtype
        arrays[name] = start, end, None if other is None and len(whole) == 1 else whole, other
        o = layout.offsets[name]
        words[o], is_address[o] = 8 * start, 1
        words[o + 1 : o + 1 + len(shape)] = shape
        end += end % 2  # complex numbers and vector registers take two
    missing, wide = frozenset(layout.needed - arrays.keys()), any(layout.members[name].lanes for name, _ in shapes)
    return Plan(max(end, 1), arrays, words, is_address, missing, dict(shapes), wide)


def _aligned_zeros(size: int) -> np.ndarray:
    """Zeros whose address is that of a line of the cache: fours that lie across two of them are read slowly."""
    block = np.zeros(size + LINE)
    first = -(address_of(block) // 8) % LINE
    return block[first : first + size]


def _plain_zeros(member: Any, shape: Any) -> Any:
    """An array of zeros for code that is not compiled."""
    if member.lanes == 0:
        return np.zeros(shape, dtype=member.dtype)
    return np.zeros(member.shape((shape,) if isinstance(shape, int) else tuple(shape))).view(PlainFours)


def address_of(array: Any) -> int:
    """Address of the numbers of an array, in a quarter of the time that ``ctypes.data`` takes.

    An array that is not contiguous, or read-only, is a ``ValueError`` or ``TypeError``.
    """
    if array.dtype.fields is not None:  # numpy would spell all of them out
        array = array.view(np.int64)
    return addressof(c_char.from_buffer(array)) if len(array) and array.size else NOWHERE


_nothing: Any = np.zeros(2)
NOWHERE = addressof(c_char.from_buffer(_nothing))
"""Address of arrays without numbers, which nobody reads."""


def _words(value: Any, member: Any, owner: Record, name: str) -> Any:
    """Words of an array, or of an inner record, which is written into the outer one."""
    if isinstance(value, np.ndarray) and type(member) is Kind:  # the usual case
        array = value if type(value) is np.ndarray else plain(value)  # attributes of tables are slow
        same = array.dtype is member.dtype or array.dtype == member.dtype
        if same and array.ndim == member.ndim + (member.lanes > 0) and member.lanes in (0, array.shape[-1]):
            length = array.shape[member.ndim - 1]
            if length < member.least:
                text = f"{name} has {length} {member.what}"
                raise ValueError(f"{owner.layout.label}.{text}; expected {member.least}")
            try:
                return [address_of(array), *array.shape[: member.ndim]]
            except (ValueError, TypeError):  # what is wrong with it is said below
                pass
    label = owner.layout.label
    if isinstance(value, Record):
        if value.layout is not member:
            raise TypeError(f"{label}.{name} is a record {value.layout.label}; expected {member.text}")
        return value._integers
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{label}.{name} is of type {type(value).__name__}; expected an array")
    flags = value.flags
    ndim = len(member.shape((0,) * member.ndim))
    if not flags.c_contiguous or value.ndim != ndim or not flags.writeable:
        raise ValueError(f"{label}.{name}: expected a contiguous, writable array with {ndim} dimensions")
    raise ValueError(f"{label}.{name}: expected numbers of type {member.dtype}, not {value.dtype}")


def record_at(cls: type[Record]) -> Any:
    """For kernels: takes an element of a table of ``addresses`` for a record of a class."""
    if not JIT:
        return lambda record: record

    def make() -> Any:
        from .record_types import record_at

        return record_at(cls.layout)

    return deferred(make)


def table_of(parts: Any) -> np.ndarray:
    """A table of ``addresses``: of entries and records, None where there is none."""
    if JIT:
        return np.array([0 if part is None else part.address for part in parts], dtype=addresses.dtype)
    table = np.empty(len(parts), dtype=object)
    table[:] = [0 if part is None else part for part in parts]
    return table
