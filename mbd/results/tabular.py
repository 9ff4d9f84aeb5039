"""Numbers of a solution where people need them: channels by name, pandas, xarray, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..elements.arguments import FilePath, Numbers
from ..elements.suggestions import counted
from ..elements.values import in_force
from ..errors import Array, ModelError, read_only
from ..io.files import replacing
from ..system.following import check_own
from .channels import MATRIX, MODEL_UNIT, QUATERNION, XYZ, Channel, Channels, values_of
from .numbers_at_records import NumbersAtRecords

if TYPE_CHECKING:
    import pandas
    import xarray

    from .solution import Solution

Measured = Callable[["Solution"], ArrayLike]
"""A sensor, or any function of a solution with a value for every record."""
ChannelChoice = str | Iterable[str | Measured] | Mapping[str, str | Measured] | None
"""Names or patterns of channels, and sensors; or both by the names that they shall have."""

TIME = "t"  # the index of tables
NAMED = "expected a dict with names for them, {'my name': function, ...}"
ROWS = 10_000  # of a CSV file that are written at once
DIMENSIONS: dict[Any, str] = {"world": "axis", "body": "body_axis", QUATERNION: "parameter"}


class Tabular:
    """The part of a solution that hands out its numbers by name."""

    t: Array
    _own_channels: dict[str, Channel]

    @property
    def channels(self) -> Channels:
        """Every quantity with its unit and its shape; ``print(solution.channels)`` shows a table."""
        return Channels(self._solution, self._own_channels)

    @property
    def _solution(self) -> Solution:
        return self  # type: ignore[return-value]

    def channel(self, name: str) -> Array:
        """The numbers of a channel, records along the first axis: ``solution.channel("tip.position")``.

        >>> model = mbd.Model(gravity=(0, 0, -10.0))
        >>> ball = model.add(mbd.PointMass("ball", mass=1.0))
        >>> solution = mbd.simulate(model, t_end=1.0, step=0.5)
        >>> solution.channel("ball.velocity.z").round(4).tolist()
        [0.0, -5.0, -10.0]
        """
        return read_only(np.array(self.channels[name].read(self._solution), dtype=float))

    def add_channel(self, name: str, function: Measured, unit: str | None = None) -> Channel:
        """Give a sensor, or any function of the solution with a value for every record, a name among the channels."""
        if not isinstance(name, str) or not name:
            raise ModelError(f"add_channel: name is {name!r}; expected a text")
        if name in self._solution.model or name in self.channels or name == TIME:
            raise ModelError(f"add_channel: the name {name!r} is taken; expected another one")
        self._own_channels[name] = channel = measured_channel(self._solution, name, function, unit)
        return channel

    def frame(self, channels: ChannelChoice = None) -> pandas.DataFrame:
        """Numbers as a pandas data frame: a column for each ("tip.position.x"), the time as index.

        ``channels`` are names ("tip.position", "tip.position.x"), names of elements ("tip": everything it has),
        patterns ("link *.position") and sensors; or a dict with other names for them. Default: energies, positions of
        bodies and coordinates of joints. ``frame.attrs["units"]`` has the unit of every column.
        """
        pandas = needed("pandas", "frame")
        names: list[str] = []
        units: dict[str, str] = {}
        columns: list[Array] = []
        for channel, values in self._chosen(channels):
            names += channel.columns
            units |= dict(zip(channel.columns, channel.units, strict=True))
            columns.append(values)
        index = pandas.Index(self.t, name=TIME)
        frame = pandas.DataFrame(np.concatenate(columns, axis=1), index=index, columns=names)
        frame.attrs["units"] = units
        return frame

    def dataset(self, channels: ChannelChoice = None) -> xarray.Dataset:
        """Numbers as an xarray dataset: a variable for each channel, with its unit, over the coordinates t and axis."""
        xarray = needed("xarray", "dataset")
        variables: dict[str, Any] = {}
        coordinates: dict[str, Any] = {"t": ("t", self.t, {"units": "s", "long_name": "time"})}
        for channel, values in self._chosen(channels):
            dimensions, shape = ["t"], channel.shape
            if channel.components == MATRIX:
                dimensions += ["axis", "body_axis"]
                coordinates |= {"axis": ("axis", list(XYZ), {}), "body_axis": ("body_axis", list(XYZ), {})}
            elif len(shape) == 1:
                name = DIMENSIONS.get(channel.axes or channel.components, f"{channel.name} component")
                dimensions.append(name)
                coordinates[name] = (name, list(channel.components), {})
            else:
                dimensions += [f"{channel.name} index {k + 1}" for k in range(len(shape))]
            about = {"units": channel.unit, "long_name": channel.text}
            variables[channel.name] = (dimensions, values.reshape(len(self.t), *shape), about)
        s = self._solution
        about = {"model": s.model.name, "integrator": repr(s.integrator), "complete": str(s.complete)}
        return xarray.Dataset(variables, coordinates, about)

    def csv(self, path: FilePath, channels: ChannelChoice = None) -> None:
        """Write a CSV file: a line with names and units, "tip.position.x [m]", then a line for every record.

        All digits are written, and the file appears when it is complete. ``channels`` as for ``frame``.
        """
        chosen = list(self._chosen(channels))
        head = ["t [s]"]
        for channel, _ in chosen:
            head += [f"{name} [{unit}]" for name, unit in zip(channel.columns, channel.units, strict=True)]
        table = [self.t[:, None], *(values for _, values in chosen)]
        title = io.StringIO()
        csv.writer(title, lineterminator="\n").writerow(head)
        with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
            file.write(title.getvalue())
            for first in range(0, len(self.t), ROWS):
                rows = np.concatenate([x[first : first + ROWS] for x in table], axis=1).tolist()
                file.writelines(",".join(map(repr, row)) + "\n" for row in rows)

    def _chosen(self, choice: Any) -> Iterator[tuple[Channel, Array]]:
        """Channels with their values, each name once."""
        seen: set[str] = set()
        for channel in chosen_channels(self._solution, choice):
            if channel.name in seen:
                continue
            seen.add(channel.name)
            yield channel, values_of(channel, self._solution)

    def at(self, t: Numbers) -> Solution:
        """The solution at other times than those of its records: ``solution.at(0.123)["tip"].position``.

        A solution with one record for each of the given times, between the first and the last record. Positions are
        interpolated with the velocities and accelerations of the records on both sides (Hermite, of sixth order in
        their distance), rotations as rotations; velocities are the derivative. Accelerations and reactions are those of
        the equations of motion there. A warning says if records are too far apart.

        >>> model = mbd.Model(gravity=(0, 0, -10.0))
        >>> ball = model.add(mbd.PointMass("ball", mass=1.0))
        >>> solution = mbd.simulate(model, t_end=1.0, step=0.1)
        >>> solution.at([0.25, 0.5])["ball"].position[:, 2].round(4).tolist()
        [-0.3125, -1.25]
        """
        from .instants import solution_at

        return solution_at(self._solution, t)


def chosen_channels(solution: Solution, choice: Any) -> list[Channel]:
    """The channels that people asked for."""
    known = solution.channels
    if choice is None:
        return known.usual()
    if isinstance(choice, Mapping) and choice:
        renamed = [_renamed(solution, name, item) for name, item in choice.items()]
        columns = [TIME, *(column for channel in renamed for column in channel.columns)]
        repeated = sorted({column for column in columns if columns.count(column) > 1})
        if repeated:
            raise ModelError(f"channels: two columns would be called {repeated[0]!r}; expected other names")
        return renamed
    if not (callable(choice) or isinstance(choice, Iterable)):
        raise ModelError(f"channels are {choice!r}; expected names such as 'tip.position', or sensors")
    items = [choice] if isinstance(choice, str) or callable(choice) else list(choice)
    if not items:
        raise ModelError("channels is empty; expected names such as 'tip.position', or nothing for the usual ones")
    found = []
    functions: dict[str, Any] = {}
    for item in items:
        if isinstance(item, str):
            found += known.matching(item)
        elif callable(item):
            name = label_of(item)
            if not hasattr(item, "label") and functions.setdefault(name, item) is not item:
                raise ModelError(f"channels: two functions are called {name!r}; {NAMED}")
            found.append(measured_channel(solution, name, item, None))
        else:
            raise ModelError(f"channel {item!r}: expected a name such as 'tip.position', or a sensor")
    for channel in found:
        if channel.name in functions and channel.name in known:
            raise ModelError(f"channels: a function is called {channel.name!r} as the channel; {NAMED}")
    return found


def _renamed(solution: Solution, name: Any, item: Any) -> Channel:
    if not isinstance(name, str):
        raise ModelError(f"channel {name!r}: expected a text as name")
    if callable(item):
        return measured_channel(solution, name, item, None)
    channel = solution.channels[item]
    return replace(channel, name=name)


def label_of(function: Any) -> str:
    """How a sensor or a function is called among the channels."""
    return str(getattr(function, "label", None) or getattr(function, "__name__", type(function).__name__))


def measured_channel(solution: Solution, name: str, function: Any, unit: str | None) -> Channel:
    """A function of the solution as a channel."""
    if not callable(function):
        raise ModelError(
            f"channel {name!r}: {function!r} is no function of a solution; expected a sensor, for instance"
        )

    check_own(solution.model, [function], f"channel {name!r}")
    if unit is not None and not isinstance(unit, str):
        raise ModelError(f"channel {name!r}: unit is {unit!r}; expected a text")

    def read(of: Solution) -> Array:
        with in_force(NumbersAtRecords(of, f"channel {name!r}")):
            given = np.asarray(function(of))
        if given.dtype.kind not in "fiub":
            raise ModelError(f"channel {name!r}: its function returned {given.dtype} values; expected real numbers")
        values = given.astype(float)
        if values.shape[:1] != (len(of),):
            raise ModelError(
                f"channel {name!r}: its function returned an array of shape {values.shape}; expected a value for each "
                f"of the {counted(len(of), 'record')}"
            )
        return values

    shape = read(solution).shape[1:]
    names = XYZ if shape == (3,) else tuple(str(k) for k in range(int(np.prod(shape)))) if shape else ()
    given = unit if unit is not None else getattr(function, "unit", None)
    text, axes = f"measured by {type(function).__name__}", getattr(function, "axes", "") if shape == (3,) else ""
    return Channel(name, given or MODEL_UNIT, shape, names, text, read, axes)


def needed(package: str, what: str) -> Any:
    """A package that is not needed for anything else."""
    import importlib

    try:
        return importlib.import_module(package)
    except ImportError:
        raise ModelError(f"{what}: {package} is not installed; install it with: pip install 'mbd[study]'") from None
