"""The parameters and inputs of a model, or of a system, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any

from ..errors import ModelError, bad_value
from .suggestions import did_you_mean
from .values import Input, Parameter, check_value


class ParameterTable(MutableMapping[str, float]):
    """Numbers by name; ``table["k"] = 50.0`` changes one, ``table.update(k=50.0, m=2.0)`` several at once."""

    __slots__ = ("_change", "_owner", "_table")  # parameters.k = 1.0 would be lost

    def __init__(self, owner: object, table: dict[str, Parameter], change: Callable[[dict[str, float]], Any]) -> None:
        self._owner, self._table, self._change = owner, table, change

    def __getitem__(self, name: str) -> float:
        return self._table[known(self._owner, self._table, name)].number

    def __setitem__(self, name: str, value: float) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        raise ModelError(f"{self._owner}: parameters cannot be removed; build the model without {name!r}")

    def update(self, *values: Any, **more: Any) -> None:  # type: ignore[override]
        """Change several numbers at once: all of them, or none if one is refused."""
        self._change(dict(*values, **more))

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __repr__(self) -> str:
        return f"{{{', '.join(f'{name!r}: {x.number!r}' for name, x in self._table.items())}}}"


def known(owner: object, table: Mapping[str, Any], name: Any) -> str:
    """A name that is in the table; a Parameter stands for its name."""
    name = name.name if isinstance(name, Parameter) else name
    if name in table:
        return str(name)
    listed = ", ".join(map(repr, table)) or "none"
    advice = did_you_mean(name, table) or f"it has {listed}"
    raise ModelError(f"{owner}: has no parameter or input {name!r}; {advice}")


def names_of(owner: object, argument: str, names: Any) -> list[str]:
    """Names of parameters, which may be given themselves; a single one need not be in a list."""
    try:
        given = [names] if isinstance(names, str | Parameter) else list(names)
    except TypeError:
        given = [None]
    found = [one.name if isinstance(one, Parameter) else one for one in given]
    if not all(isinstance(name, str) for name in found):
        raise bad_value(owner, argument, names, 'parameters or their names, such as ["k", "b.mass"]')
    return found


def checked_values(owner: object, table: Mapping[str, Parameter], values: Mapping[Any, Any]) -> dict[str, float]:
    """Numbers by name, as far as they differ from those of the table."""
    if not isinstance(values, Mapping):
        raise bad_value(owner, "parameters", values, 'numbers by name, such as {"k": 50.0}')
    found = {known(owner, table, name): check_value(value, owner, f"{name!r}") for name, value in values.items()}
    return {name: value for name, value in found.items() if value != table[name].number}


def is_own(table: Mapping[str, Parameter], parameter: Parameter) -> bool:
    """Whether a parameter is the one of its name in the table, or in that of a copy; another model has others."""
    own = table.get(parameter.name)
    return own is not None and own.origin == parameter.origin and isinstance(own, Input) is isinstance(parameter, Input)


def check_belonging(owner: object, element: object, table: Mapping[str, Parameter], given: set[Parameter]) -> None:
    """Refuse parameters of other models."""
    for parameter in given:
        if not is_own(table, parameter):
            raise ModelError(
                f"{owner}: {element} is made of the {parameter.word} '{parameter.name}' of another model; expected "
                f'parameters of this one: model.{parameter.word}("{parameter.name}", {parameter.number:g})'
            )
