"""Kernels are compiled with their own options, whoever calls them first."""

from __future__ import annotations

import pytest

from mbd.compiled.kernel import JIT, kernel

pytestmark = [pytest.mark.own_compiler, pytest.mark.skipif(not JIT, reason="nothing is compiled")]


def test_options_of_a_caller_are_not_those_of_what_it_calls() -> None:
    """Else the code of a kernel would depend on which of its callers is compiled first."""
    from numba import types

    @kernel
    def called(x, y):
        return x * y + x

    @kernel(fastmath={"contract", "nsz"}, forceinline=True)
    def caller(x, y):
        return called(x, y) * y + x

    caller.dispatcher.compile((types.float64, types.float64))
    code = []
    for each in (called, caller):
        made = next(iter(each.dispatcher.overloads.values()))
        code.append(made.library._final_module.get_function(made.fndesc.llvm_func_name))
    own, others = code
    assert "contract" in str(others) and "contract" not in str(own)
    assert b"alwaysinline" in b" ".join(others.attributes) and b"alwaysinline" not in b" ".join(own.attributes)
