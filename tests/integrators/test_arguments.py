"""Arguments of every integrator: what is no number, no whole number or no flag is refused by name."""

from __future__ import annotations

import dataclasses
import inspect
import math

import numpy as np
import pytest

import mbd
from mbd import integrators

NONSENSE = {
    "bool": ("no", 3, None, math.nan),
    "int": (math.nan, "x", None, -1, 1.5, True),
    "float": (math.nan, "x", None, -math.inf, np.zeros(2)),
}


def cases():
    for name in integrators.__all__:
        cls = getattr(integrators, name)
        if isinstance(cls, type) and issubclass(cls, integrators.Integrator) and not inspect.isabstract(cls):
            fields = [f for f in dataclasses.fields(cls) if f.init and f.type in NONSENSE]
            if fields and all(f.default is not dataclasses.MISSING for f in dataclasses.fields(cls) if f.init):
                yield pytest.param(cls, fields, id=name)


@pytest.mark.parametrize(("cls", "fields"), list(cases()))
def test_nonsense_is_refused_by_name(cls, fields):
    for field in fields:
        for value in NONSENSE[field.type]:
            with pytest.raises(mbd.ModelError, match=field.name):
                cls(**{field.name: value})
        assert cls(**{field.name: field.default}) == cls()


@pytest.mark.parametrize(("cls", "fields"), list(cases()))
def test_tolerances_and_counts_are_positive(cls, fields):
    for field in fields:
        if "tolerance" in field.name or field.name == "max_iterations":
            for value in (0, -1):
                with pytest.raises(mbd.ModelError, match=field.name):
                    cls(**{field.name: value})


def test_own_integrators_are_checked_too():
    @dataclasses.dataclass(frozen=True)
    class Own(integrators.PythonIntegrator):
        order = 1
        gain: float = 0.5
        rounds: int = 2

        def __post_init__(self):
            if self.rounds > 5:
                raise mbd.ModelError("rounds")

        def step(self, system, t, q, v, h):
            return q, v

    assert Own(gain=1).gain == 1 and Own(rounds=np.int64(3)).rounds == 3
    for wrong in ({"gain": "x"}, {"rounds": 1.5}, {"rounds": 6}):
        with pytest.raises(mbd.ModelError, match=next(iter(wrong))):
            Own(**wrong)
