"""Quantities of a solution by a text: ``"tip.position.x[-1]"``, ``"max(abs(hinge.angle))"``, ``"energy.total"``.

element.quantity.component[records]     element: its name in the model; component: x, y or z
t, energy.total, momentum.linear.z ...  what the solution itself has
max(...), min(...), mean(...), rms(...) over the records
abs(...), norm(...)                     of each value, of each vector
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ModelError

COMPONENTS = {"x": 0, "y": 1, "z": 2}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: np.max(x, axis=0),
    "min": lambda x: np.min(x, axis=0),
    "mean": lambda x: np.mean(x, axis=0),
    "rms": lambda x: np.sqrt(np.mean(np.square(x), axis=0)),
    "abs": np.abs,
    "norm": lambda x: np.linalg.norm(x, axis=-1),
}
OF_THE_WHOLE = ("t", "energy", "momentum", "constraint_error", "power", "stats", "q", "v", "vd", "lam")
CALL, INDEX, NUMBER = re.compile(r"(\w+)\((.*)\)"), re.compile(r"(.+)\[([^][]*)\]"), re.compile(r"-?\d+")


@dataclass(frozen=True)
class Channel:
    """A quantity that can be read off any solution of a model with these names."""

    text: str
    path: str = field(init=False, repr=False)
    operations: tuple[str | tuple[int | slice, ...], ...] = field(init=False, repr=False)  # functions and indices

    def __post_init__(self) -> None:
        text = self.text.strip()
        operations: list[str | tuple[int | slice, ...]] = []
        while True:
            if found := INDEX.fullmatch(text):
                text = found[1].strip()
                operations.append(self._index(found[2]))
            elif found := CALL.fullmatch(text):
                if found[1] not in FUNCTIONS:
                    raise ModelError(f"channel {self.text!r}: {found[1]} is not one of {', '.join(FUNCTIONS)}")
                text = found[2].strip()
                operations.append(found[1])
            else:
                break
        if not text or any(c in text for c in "[]"):
            raise ModelError(f"channel {self.text!r}; expected a text such as 'tip.position.x[-1]'")
        object.__setattr__(self, "path", text)
        object.__setattr__(self, "operations", tuple(reversed(operations)))

    def _index(self, text: str) -> tuple[int | slice, ...]:
        found: list[int | slice] = []
        for item in text.split(","):
            numbers = [part.strip() for part in item.split(":")]
            if len(numbers) > 3 or not all(NUMBER.fullmatch(x) or (not x and len(numbers) > 1) for x in numbers):
                raise ModelError(
                    f"channel {self.text!r}: [{text}]; expected numbers of records such as [-1] or [0:100]"
                )
            found.append(slice(*(int(x) if x else None for x in numbers)) if len(numbers) > 1 else int(numbers[0]))
        return tuple(found)

    def __call__(self, solution: Any) -> Any:
        """The values in a solution."""
        values = self._quantity(solution)
        for operation in self.operations:
            try:
                values = FUNCTIONS[operation](values) if isinstance(operation, str) else values[operation]
            except (IndexError, ValueError) as error:
                raise ModelError(f"channel {self.text!r}, numbers of shape {np.shape(values)}: {error}") from None
        return values

    def _quantity(self, solution: Any) -> Any:
        from ..results.solution import Solution

        if not isinstance(solution, Solution):
            raise ModelError(
                f"channel {self.text!r} is a quantity of a solution, and there is {type(solution).__name__}; expected "
                "simulate=dict(t_end=..., step=...), or a function in place of the text"
            )
        parts = self.path.split(".")
        names = (".".join(parts[:k]) for k in range(len(parts), 0, -1))
        element = next((name for name in names if name in solution.model), None)
        if element is not None:
            value: Any = solution[element]
            parts = parts[element.count(".") + 1 :]
        elif parts[0] in OF_THE_WHOLE:
            value, parts = getattr(solution, parts[0]), parts[1:]
        else:
            elements: list[Any] = [*solution.model.bodies, *solution.model.joints, *solution.model.forces]
            known = [element.name for element in elements]
            close = difflib.get_close_matches(parts[0], [*known, *OF_THE_WHOLE], n=2)
            advice = f"did you mean {' or '.join(map(repr, close))}?" if close else f"there are {', '.join(known)}"
            raise ModelError(f"channel {self.text!r}: {solution.model} has no element '{parts[0]}'; {advice}")
        for part in parts:
            value = self._part(value, part)
        if not isinstance(value, np.ndarray | float | int | np.number):
            raise ModelError(f"channel {self.text!r} is not complete; it goes on with {_offered(value)}")
        return value

    def _part(self, value: Any, part: str) -> Any:
        if isinstance(value, dict) and part in value:
            return value[part]
        if isinstance(value, np.ndarray):
            if part in COMPONENTS and value.ndim > 1 and value.shape[-1] == 3:
                return value[..., COMPONENTS[part]]
            raise ModelError(f"channel {self.text!r}: there is no component '{part}' of numbers of shape {value.shape}")
        if part.startswith("_") or not hasattr(value, part):
            raise ModelError(f"channel {self.text!r}: {value!r} has no '{part}'; there are {_offered(value)}")
        return getattr(value, part)


def _offered(value: Any) -> str:
    """Names by which a channel can go on from here."""
    if isinstance(value, dict):
        return ", ".join(map(str, value))
    found = [name for name in dir(value) if not name.startswith("_")]
    return ", ".join(name for name in found if isinstance(getattr(value, name, None), np.ndarray))
