"""Parameters and inputs as functions of a solution know them: plain numbers, those of its records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import ModelError

if TYPE_CHECKING:
    from .solution import Solution


class NumbersAtRecords(dict[str, float]):
    """Values of parameters for a function of a solution; an input that changed has no one number at all records."""

    def __init__(self, solution: Solution, owner: str) -> None:
        super().__init__(solution.system.values)
        self.acted, self.owner = solution._acted, owner

    def get(self, name: str, otherwise: Any = None) -> Any:
        if name not in self.acted:
            return super().get(name, otherwise)
        values = self.acted[name]
        if len(values) and (values == values[0]).all():
            return float(values[0])
        raise ModelError(
            f"{self.owner}: its function refers to the input {name!r}, which changed during the run; expected what it "
            f'was at the records: solution.inputs["{name}"]'
        )
