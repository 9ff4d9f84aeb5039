"""What a model is told about its parameters and inputs: numbers that can be changed after it was built."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from ..errors import ModelError, bad_value
from .attributes import Checked
from .making import Remaking, names_in, record_of, recorded_objects
from .parameter_table import ParameterTable, check_belonging, checked_values
from .settling import before_change
from .values import Input, Parameter, check_value, parameters_in


class Parametrised(Checked):
    """The part of a model that has parameters and inputs, and makes again what depends on them."""

    _parameters: dict[str, Parameter]

    def _all(self) -> list[Any]:
        """The model and its elements, in the order in which they refer to each other."""
        raise NotImplementedError

    def parameter(self, name: str, value: float) -> Parameter:
        """A number that can be changed without building the model again.

        It, and expressions of it, may stand wherever a number stands: masses, stiffnesses, geometry, initial values,
        gravity, and in functions. ``model.parameters["k"] = 50.0`` changes it here; ``mbd.study`` and
        ``System.set_parameters`` change it without assembling the model again.

        >>> model = mbd.Model()
        >>> k = model.parameter("k", 40.0)
        >>> ball = model.add(mbd.PointMass("ball", mass=1.0, position=(1, 0, 0)))
        >>> spring = model.add(mbd.forces.Spring(model.ground, ball, stiffness=2 * k, length=1.0))
        >>> model.parameters["k"] = 50.0
        >>> spring.stiffness
        100.0
        """
        return self._new_parameter(Parameter, name, value)

    def input(self, name: str, value: float = 0.0) -> Input:
        """A number that may change during a run, such as what a controller commands.

        It, and expressions of it, may stand in forces, in values of drivers, in gravity, and in functions. ``value`` is
        the one at the start; ``System.inputs`` changes it.
        """
        return self._new_parameter(Input, name, value)

    def _new_parameter(self, kind: Any, name: str, value: float) -> Any:
        if not isinstance(name, str) or not name.strip():
            raise bad_value(self, f"name of the {kind.word}", name, "a text that is not empty")
        if name in self._parameters:
            raise ModelError(f"{self}: there is {self._parameters[name]!r} already; expected another name")
        self._parameters[name] = kind(name, check_value(value, self, f"{name!r}"), uuid.uuid4().hex)
        return self._parameters[name]

    @property
    def parameters(self) -> ParameterTable:
        """Values of parameters and inputs by name; ``model.parameters["k"] = 50.0`` changes the model."""
        return ParameterTable(self, self._parameters, self.set_parameters)

    def set_parameters(self, values: Mapping[str, float]) -> list[Any]:
        """Change parameters: what depends on them is made again, in place; returns what that is."""
        changed = checked_values(self, self._parameters, values)
        if changed:
            before_change(self)
        dirty = Remaking(self._all()).follow(set(changed), self._values() | changed) if changed else []
        for name, value in changed.items():
            self._parameters[name].number = value
        return dirty

    def _values(self) -> dict[str, float]:
        """Values of parameters and inputs."""
        return {name: x.number for name, x in self._parameters.items()}

    def check_parameters(self, element: object, given: set[Parameter]) -> None:
        """Refuse parameters of another model."""
        check_belonging(self, element, self._parameters, given)

    def _check_parameters(self, name: str, given: Any) -> None:
        super()._check_parameters(name, given)
        self.check_parameters(self, parameters_in(given))

    def _check_values(self, element: Any) -> None:
        """The parameters of a new element are those of this model, with the values that they have here."""
        for x in recorded_objects([element]):
            record = record_of(x)
            assert record is not None
            given = parameters_in(record.given)
            self.check_parameters(element, given)
            if any(self._parameters[p.name].number != p.number for p in given):
                Remaking([element]).follow(names_in(record), self._values())
