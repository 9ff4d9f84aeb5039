"""Records and entries: one definition for kernels and people, arrays checked where Python enters compiled code."""

from __future__ import annotations

import copy
import dis
import importlib
import pickle
import pkgutil

import numpy as np
import pytest

import mbd
from mbd.compiled import Record, entry, kernel
from mbd.compiled.entry import TABLE, Entry, _registered, connect, through
from mbd.compiled.kernel import JIT, Kernel
from mbd.compiled.kinds import addresses, integer, integers, matrix, real, vector
from mbd.compiled.record import record_at, table_of

needs_compiler = pytest.mark.skipif(not JIT, reason="nothing is compiled")


class Inner(Record):
    weights = vector


class Fixed(Record):
    axis = vector.at_least("components", 3)


class Buffers(Record):
    y = vector

    def misfit(self, holder):
        return (
            "" if len(self.y) >= holder.lengths[0] else f"y has {len(self.y)} rows, and {holder.lengths[0]} are needed"
        )


class State(Record):
    entries = integers
    lengths = integers
    x = vector
    table = matrix
    inner = Inner
    others = addresses
    count = integer
    error = real


long_vector = vector.of("numbers", 0)


def new_state(**changes):
    """A state with three numbers in x."""
    given = {
        "entries": TABLE, "lengths": np.array([3]), "x": np.arange(3.0), "table": np.ones((2, 3)),
        "inner": Inner(weights=np.full(3, 2.0)), "others": table_of([]),
    }  # fmt: skip
    return State(**{**given, **changes})


def _has_table(s):
    return len(s.table) > 0


@entry(State, long_vector, real, when=_has_table)
def add_table(s, y, c):
    """y += c times the sum of the rows of the table."""
    for i in range(s.table.shape[0]):
        for k in range(s.table.shape[1]):
            y[k] += c * s.table[i, k]


@kernel
def _weighted(s, k):
    return s.inner.weights[k] * s.x[k]


@entry(State, long_vector, integer)
def fill(s, y, times):
    """y = weighted x and, so many times, the table; counts and remembers the largest number."""
    s.error = 0.0
    for k in range(s.x.shape[0]):
        y[k] = _weighted(s, k)
        s.error = max(s.error, y[k])
    for _ in range(times):
        s.count += 1
        if s.table.shape[0] > 0:
            add_table(s, y, 10.0)


_call_fill = through(State, long_vector, integer)
_state_at = record_at(State)


@entry(State, long_vector)
def indirectly(s, y):
    """Through the address of an entry, on a state known by its address."""
    _call_fill(s.others[0], _state_at(s.others[1]), y, 1)


@kernel
def scalars(s):
    """Numbers of a record, read and written."""
    s.count += 2
    s.error = 0.5 * s.count
    return s.count, s.error


def test_people_and_kernels_call_the_same_name():
    s, y = new_state(), np.zeros(3)
    fill(s, y, 2)
    np.testing.assert_array_equal(y, [40.0, 42.0, 44.0])
    assert (s.count, s.error) == (2, 4.0)


def test_entries_that_a_record_does_not_need_are_left_out():
    s, y = new_state(table=np.ones((0, 3))), np.zeros(3)
    fill(s, y, 1)
    np.testing.assert_array_equal(y, [0.0, 2.0, 4.0])
    if JIT:
        assert fill.reaches == (add_table,)
        assert add_table in s.connected  # looked at, and found not to be needed
        with pytest.raises(ValueError, match="add_table: this State has nothing that it is for"):
            add_table(s, y, 1.0)


def test_tables_of_addresses():
    inner = new_state()
    connect(inner, fill)
    s, y = new_state(others=table_of([fill, inner])), np.zeros(3)
    indirectly(s, y)
    np.testing.assert_array_equal(y, [20.0, 22.0, 24.0])
    assert (inner.count, s.count) == (1, 0)
    assert table_of([None])[0] == 0


def test_numbers_of_a_record():
    s = new_state(count=5)
    assert scalars(s) == (7, 3.5)
    assert (s.count, s.error) == (7, 3.5)
    s.count, s.error = 1.0, 2
    assert (s.count, s.error) == (1, 2.0) and type(s.count) is int and type(s.error) is float


def test_an_array_is_replaced_by_a_new_record_only():
    s = new_state(count=3)
    with pytest.raises(AttributeError, match=r"State.x cannot be replaced in place.*use changed"):
        s.x = np.zeros(3)
    with pytest.raises(AttributeError, match="State.y"):
        s.y = 1.0
    other, y = s.changed(x=np.ones(3), inner=Inner(weights=np.ones(3))), np.zeros(3)
    fill(other, y, 0)
    np.testing.assert_array_equal(y, [1.0, 1.0, 1.0])
    assert other.table is s.table and other.count == 3
    fill(s, y, 0)
    np.testing.assert_array_equal(y, [0.0, 2.0, 4.0])


@needs_compiler
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"x": np.zeros(3, dtype=int)}, "State.x: expected numbers of type float64, not int64"),
        ({"x": np.zeros((3, 1))}, "State.x: expected a contiguous, writable array with 1 dimensions"),
        ({"table": np.zeros((3, 2)).T}, "State.table: expected a contiguous, writable array"),
        ({"x": [0.0, 1.0, 2.0]}, "State.x is of type list; expected an array"),
        ({"y": np.zeros(3)}, "State: unknown y; expected entries"),
    ],
)
def test_wrong_arrays_of_a_record(change, text):
    with pytest.raises((TypeError, ValueError), match=text):
        new_state(**change)


@needs_compiler
def test_arrays_of_fixed_length_are_not_replaced_by_shorter_ones():
    s = Fixed(axis=np.ones(3))
    with pytest.raises(ValueError, match="Fixed.axis has 2 components; expected 3"):
        s.changed(axis=np.ones(2))
    assert len(s.changed(axis=np.ones(4)).axis) == 4


@entry(State, Buffers)
def double(s, w):
    """w.y = 2 x."""
    for k in range(s.x.shape[0]):
        w.y[k] = 2.0 * s.x[k]


@needs_compiler
def test_buffers_of_another_record_are_refused():
    s, w = new_state(), Buffers(y=np.zeros(3))
    double(s, w)
    np.testing.assert_array_equal(w.y, 2.0 * s.x)
    longer = s.changed(lengths=np.array([4]), x=np.arange(4.0))
    for _ in range(2):
        with pytest.raises(ValueError, match="double: w.y has 3 rows, and 4 are needed"):
            double(longer, w)
    with pytest.raises(ValueError, match="double: w.y has 2 rows"):
        double(s, w.changed(y=np.zeros(2)))


@needs_compiler
def test_copies_are_not_known_to_compiled_code():
    """Addresses belong to one record in one process: a copy with the old ones would be read as the original."""
    s, y = new_state(), np.zeros(3)
    for other in (copy.deepcopy(s), copy.copy(s), pickle.loads(pickle.dumps(s))):
        np.testing.assert_array_equal(other.x, s.x)
        with pytest.raises(ValueError, match="a record State that was copied .* is not known to compiled code"):
            fill(other, y, 1)
        with pytest.raises(ValueError, match="is not known to compiled code"):
            scalars(other)
    assert not y.any()


def test_missing_arrays_of_a_record():
    with pytest.raises(TypeError, match="Inner: missing weights"):
        Inner()


@needs_compiler
def test_arrays_that_python_hands_over():
    """What would be misread, or written behind the end of, is refused before anything runs."""
    s = new_state()
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    for y, text in (
        (np.zeros(2), "fill: y has 2 numbers; expected 3"),
        (fixed, r"fill: y is float64\[3\]; expected a contiguous, writable array"),
        (np.zeros(6)[::2], "expected a contiguous, writable array"),
        (np.zeros(3, dtype=np.float32), r"y is float32\[3\]"),
        ([0.0, 0.0, 0.0], "y is list"),
    ):
        with pytest.raises(ValueError, match=text):
            fill(s, y, 1)
    with pytest.raises(TypeError, match="s is .*; expected a record State"):
        fill(Inner(weights=np.zeros(3)), np.zeros(3), 1)
    with pytest.raises(TypeError, match="fill takes 3 arguments, 2 were given"):
        fill(s, np.zeros(3))
    assert s.count == 0


@needs_compiler
def test_kinds_of_arguments_are_checked_when_a_call_is_compiled():
    @kernel
    def wrong(s, y):
        fill(s, y[::2], 1)

    with pytest.raises(Exception, match="argument 1 of .*fill is .*expected"):
        wrong(new_state(), np.zeros(6))


@needs_compiler
def test_names_have_places_of_their_own_in_the_table():
    """Two entries that would share a place are refused when they are defined."""
    places = [one.slot for one in _registered.values()]
    assert len(set(places)) == len(places) and fill.slot in places
    with pytest.raises(TypeError, match="1 kinds for 2 arguments"):

        @entry(State)
        def too_few(s, y):
            pass


@needs_compiler
def test_entries_are_found_by_the_names_that_functions_use():
    """The quick way finds the same as a look at every instruction, for every entry of the package."""
    for module in pkgutil.walk_packages(mbd.__path__, "mbd."):
        if module.name.startswith(("mbd.system", "mbd.integrators")):
            importlib.import_module(module.name)
    ours = [one for one in _registered.values() if one.__module__.startswith("mbd.")]
    assert len(ours) > 80
    for one in ours:
        assert set(one.reaches) == set(loaded_entries(one.py_func, set())) - {one}, one


def loaded_entries(function, seen):
    """Entries among the global names that the instructions of a function, and of kernels below it, load."""
    for step in dis.get_instructions(function):
        value = function.__globals__.get(step.argval) if step.opname == "LOAD_GLOBAL" else None
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Entry):
            yield value
        elif isinstance(value, Kernel):
            yield from loaded_entries(value.py_func, seen)


def test_a_plan_may_be_filled_with_other_numbers_than_zeros():
    class Filled(Record):
        x = vector
        table = matrix
        y = vector

    plan = Filled.plan({"x": 3, "table": (2, 3), "y": 2}).filled_with(table=np.arange(3.0), x=7.0)
    one, other = Filled.zeros(plan), Filled.zeros(plan)
    one.table[...] = one.x[...] = -1.0
    assert (
        other.x.tolist() == [7.0] * 3
        and other.table.tolist() == [[0.0, 1.0, 2.0]] * 2
        and other.y.tolist() == [0.0] * 2
    )


@needs_compiler
def test_an_entry_counts_as_connected_when_its_address_is_known():
    """Models of one structure share what is connected: another thread would call what is being compiled here."""
    s, known = new_state(), []

    class Watched(Entry):
        @property
        def address(self):
            known.append(self in s.connected)
            return 1

    watched = Watched(fill.py_func, fill.kinds, None)
    _registered[fill.slot] = fill
    connect(s, watched)
    assert known == [False] and watched in s.connected
