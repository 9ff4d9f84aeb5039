"""Checks of the arguments of integrators by what their classes declare: numbers, whole numbers, flags."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..elements.attributes import flag
from ..errors import ModelError, bad_value, check_number

LEAST = {"max_iterations": 1}
"""The least value of a whole number, where it is not zero."""


def one_of(*choices: int, why: str = "") -> dict[str, Any]:
    """Metadata of a field that has one of these whole numbers, and why not others."""
    return {"choices": choices, "why": why}


def check_arguments(method: Any) -> None:
    """Refuse an argument that is not of the declared type, by name; ``float`` means a finite number."""
    for field in dataclasses.fields(method):
        value, kind = getattr(method, field.name), field.type
        if not field.init or value is field.default:
            continue
        if kind in ("bool", bool):
            flag(value, method.name, field.name)
        elif "choices" in field.metadata:
            _check_choice(method, field, value)
        elif kind in ("int", int):
            least = LEAST.get(field.name, 0)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise bad_value(method.name, field.name, value, f"a whole number, at least {least}")
        elif kind in ("float", float):
            unlimited = isinstance(value, float) and value == math.inf == field.default
            _ = unlimited or check_number(value, method.name, field.name)


def _check_choice(method: Any, field: Any, value: Any) -> None:
    *most, last = choices = field.metadata["choices"]
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value not in choices:
        expected, why = f"{', '.join(str(x) for x in most)} or {last}", field.metadata["why"]
        raise ModelError(f"{type(method).__name__}: {field.name} is {value!r}; expected {expected}{why and f': {why}'}")


def checked_first(own: Any) -> Any:
    """The checks of a class, after those of the declared types."""

    def check(self: Any) -> None:
        check_arguments(self)
        own(self)

    return check
