"""Plots of a solution: energy, momenta, constraint errors, paths, reactions, and every quantity of an element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.errors import ModelError, bad_value
from mbd.io.files import save_figure
from mbd.results.channels import values_of as channel_values
from mbd.view.arguments import Elements, Runs, ThemeName
from mbd.view.pictures import check_file
from mbd.view.plotting import COMPONENTS, Line, Panel, dashes, draw
from mbd.view.quantities import QUANTITIES, axis_unit, component_labels, resolve, values_of
from mbd.view.runs import run_list, run_names
from mbd.view.theme import Theme
from mbd.view.theme import theme as find_theme

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbd.results.solution import Solution

FORMATS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".ps", ".tif", ".tiff", ".webp")
MAX_PANELS = 24
MAX_NAMES = 12  # bodies in the legend of paths
TINY = 1e-17  # the lower end of logarithmic axes


def plot(
    solution: Solution, what: str, file: FilePath | None = None, *, elements: Elements | None = None,
    theme: ThemeName = "light", columns: int | None = None, title: str | None = None, dpi: float = 200.0,
    against: Runs | None = None, shown: bool | None = None,
) -> Figure:  # fmt: skip
    """Plot something of a solution and return the matplotlib figure; with ``file`` it is written as PNG, PDF or SVG.

    what: "energy", "momentum", "constraints", "trajectory", "reactions", "power", or a quantity of bodies, joints or
        forces such as "position", "angular_velocity", "angle", "force", or one element's: "top.position", or any other
        channel: "inputs.torque", "energy.kinetic", "top.position.z", one of your own.
    elements: the bodies, joints or forces to show; by default all that have the quantity.
    against: another solution (or several) of the same model, drawn in other line styles.
    shown: make the figure through pyplot, so that a window or a notebook shows it; by default if there is no file.
    """
    look = find_theme(theme)
    target = check_file(file, FORMATS) if file is not None else None
    shown = target is None if shown is None else shown
    others = [] if against is None else list(against) if isinstance(against, list | tuple) else [against]
    runs = run_list([solution, *others], "plot")
    if not len(solution):
        raise ModelError(f"plot: {solution!r} has no records; expected a run with at least one step")
    system: dict[str, Any] = {
        "energy": energy, "momentum": momentum, "constraints": constraints, "power": power,
    }  # fmt: skip
    if what == "trajectory":
        figure = trajectory(runs, elements, look, title, shown)
    elif what in (*system, "reactions") and (what not in ("energy", "power") or elements is None):
        panels, note = reactions(runs, elements) if what == "reactions" else (system[what](runs), "")
        figure = draw(panels, look, heading(solution, what, title), columns, shown, run_names(runs), note)
    else:
        panels, note = quantity(runs, what, elements)
        figure = draw(panels, look, heading(solution, "", title), columns, shown, run_names(runs), note)
    if target is not None:
        save_figure(figure, target, dpi=dpi)
    return figure


def heading(solution: Solution, what: str, title: str | None) -> str:
    """Title of a figure."""
    if title is not None:
        return title
    names = {"constraints": "constraint errors"}
    return f"{solution.model.name}: {names.get(what, what)}" if what else solution.model.name


def left_out(found: list[Any], most: int, what: str) -> str:
    """What a figure says about the elements for which it has no room."""
    if len(found) <= most:
        return ""
    return f"The first {most} of {len(found)} {what} are shown; elements=['{found[most].name}', ...] shows others."


def energy(runs: list[Any]) -> list[Panel]:
    """Kinetic, potential and total energy, and the change of the total."""
    lines, drift = [], []
    for k, run in enumerate(runs):
        e, first = run.energy, k == 0
        lines += [
            Line(run.t, e.kinetic, "kinetic" if first else "", 0, k),
            Line(run.t, e.potential, "potential" if first else "", 1, k),
            Line(run.t, e.total, "total" if first else "", 2, k, 2.0),
        ]
        drift.append(Line(run.t, e.total - e.total[0], "", 2, k))
    return [Panel(lines, "energy in J"), Panel(drift, "change in J", "change of the total energy")]


def power(runs: list[Any]) -> list[Panel]:
    """Power of dampers and loads."""
    lines = [Line(run.t, run.power, "", k, k) for k, run in enumerate(runs)]
    return [Panel(lines, "power in W", "power of dampers, loads and drivers")]


def momentum(runs: list[Any]) -> list[Panel]:
    """Linear and angular momentum, and their changes."""
    panels = []
    for name, unit, title in (
        ("linear", "kg m/s", "linear momentum"), ("angular", "kg m²/s", "angular momentum about the origin"),
    ):  # fmt: skip
        for change in (False, True):
            lines = []
            for k, run in enumerate(runs):
                values = np.asarray(getattr(run.momentum, name))
                for i in range(3):
                    y = values[:, i] - values[0, i] if change else values[:, i]
                    label = COMPONENTS[i] if change and k == 0 else ""
                    lines.append(Line(run.t, y, label, i, k))
            panels.append(Panel(lines, f"change in {unit}" if change else f"in {unit}", "change" if change else title))
    return panels


def constraints(runs: list[Any]) -> list[Panel]:
    """Largest violation of the constraints on both levels, on a logarithmic axis."""
    solution = runs[0]
    if not solution.system.n_l:
        raise ModelError(f"plot: {solution.model} has no constraints, so there is no constraint error; try 'energy'")
    panels = []
    for index, (level, unit) in enumerate((("position", "m or rad"), ("velocity", "m/s or rad/s"))):
        lines = []
        for k, run in enumerate(runs):
            values = np.maximum(np.asarray(getattr(run.constraint_error, level)), TINY)
            lines.append(Line(run.t, values, "", index if len(runs) == 1 else k, k))
        panels.append(Panel(lines, f"largest error in {unit}", f"{level} level", log=True))
    return panels


def reactions(runs: list[Any], elements: Any) -> tuple[list[Panel], str]:
    """Force and torque of each joint on its second body, and what is left out."""
    model = runs[0].model
    if elements is None:
        joints = list(model.joints)
    else:
        chosen = elements if isinstance(elements, list | tuple) else [elements]
        joints = [model[getattr(element, "name", element)] for element in chosen]
    if not joints:
        raise ModelError(f"plot: {model} has no joints, so there are no reactions; try 'energy' or 'trajectory'")
    panels: list[Panel] = []
    for joint in joints[: MAX_PANELS // 2]:
        for name, symbol, unit in (("force", "force $F$", "N"), ("torque", "torque $M$", "N m")):
            lines = []
            largest = 0.0
            for k, run in enumerate(runs):
                values = np.asarray(getattr(run[joint.name], name))
                largest = max(largest, float(np.abs(values).max()))
                for i in range(3):
                    lines.append(Line(run.t, values[:, i], COMPONENTS[i] if k == 0 else "", i, k))
            size = float(np.abs(np.asarray(runs[0][joint.name].force)).max())
            if name == "torque" and largest <= 1e-9 * max(size, 1e-30):
                continue  # a joint without torques, such as a ball
            panels.append(Panel(lines, f"{symbol} in {unit}", joint.name))
    return panels, left_out(joints, MAX_PANELS // 2, "joints")


def quantity(runs: list[Any], what: str, elements: Any) -> tuple[list[Panel], str]:
    """One panel for each element that has the quantity, and what is left out; or the panel of a channel."""
    name = str(what)
    if elements is None and name.rpartition(".")[2] not in QUANTITIES and name in runs[0].channels:
        return [channel_panel(runs, name)], ""
    chosen, found = resolve(runs[0], what, elements)
    panels = []
    for element in found[:MAX_PANELS]:
        lines = []
        for k, run in enumerate(runs):
            values = values_of(run[element.name], chosen.name)
            single = values.shape[1] == 1  # then the colour can tell the runs apart, too
            for i, label in enumerate(component_labels(chosen, element, values.shape[1])):
                lines.append(Line(run.t, values[:, i], label if k == 0 else "", k if single else i, k))
        panels.append(Panel(lines, chosen.label(runs[0], element), element.name))
    return panels, left_out(found, MAX_PANELS, "elements with this quantity")


def channel_panel(runs: list[Any], name: str) -> Panel:
    """What elements do not have: inputs, energies, efforts, single components, channels of the user."""
    channel, lines = runs[0].channels[name], []
    for k, run in enumerate(runs):
        columns = channel_values(run.channels[name], run).T
        for i, (label, y) in enumerate(zip(channel.components or ("",), columns, strict=True)):
            lines.append(Line(run.t, y, label if k == 0 else "", i if channel.shape else k, k))
    return Panel(lines, f"in {unit}" if (unit := axis_unit(channel.unit)) else "", name)


def trajectory(runs: list[Any], elements: Any, theme: Theme, title: str | None, shown: bool) -> Any:
    """Paths of the centres of mass in space and in the three coordinate planes."""
    from mbd.view.plotting import add_heading, add_names, add_note, new_figure, run_handles, style

    model = runs[0].model
    if elements is None:
        bodies = [b for b in model.bodies if b.in_space]
    else:
        chosen = elements if isinstance(elements, list | tuple) else [elements]
        bodies = [model[getattr(element, "name", element)] for element in chosen]
    note = left_out(bodies, MAX_PANELS, "bodies")
    bodies = bodies[:MAX_PANELS]
    if not bodies:
        raise ModelError(f"plot: {model} has no body with a path; expected a RigidBody or a PointMass")
    for body in bodies:
        if not hasattr(runs[0][body.name], "com"):
            raise bad_value("plot", "elements", str(body), "bodies with a place in space")
    paths = [(k, i, b, np.asarray(run[b.name].com)) for k, run in enumerate(runs) for i, b in enumerate(bodies)]
    with style(theme):
        figure = new_figure((9.2, 6.6), shown)
        grid = figure.add_gridspec(2, 2)
        space = figure.add_subplot(grid[0, 0], projection="3d")
        named: list[Any] = []
        for k, i, body, path in paths:
            shade = theme.bodies[i % len(theme.bodies)]
            (line,) = space.plot(*path.T, dashes(k), color=shade, lw=1.4)
            named += [(line, body.name)] if k == 0 else []
            space.plot(*path[-1:].T, "o", color=shade, ms=4)
        _tidy_space(space, theme, np.concatenate([path for *_, path in paths]))
        for place, (a, b) in zip((grid[0, 1], grid[1, 0], grid[1, 1]), ((0, 1), (0, 2), (1, 2)), strict=True):
            axes = figure.add_subplot(place)
            for k, i, _, path in paths:
                shade = theme.bodies[i % len(theme.bodies)]
                axes.plot(path[:, a], path[:, b], dashes(k), color=shade, lw=1.4)
                axes.plot(path[-1, a], path[-1, b], "o", color=shade, ms=4)
            axes.set_aspect("equal", adjustable="datalim")
            axes.margins(0.08)
            axes.set_xlabel(f"${'xyz'[a]}$ in m")
            axes.set_ylabel(f"${'xyz'[b]}$ in m")
        handles, labels = [line for line, _ in named], [name for _, name in named]
        if len(labels) > MAX_NAMES:
            note += f" {MAX_NAMES} names at most stand in a legend: elements=[...] chooses bodies."
            handles, labels = [], []
        if len(runs) > 1:
            handles += run_handles([], theme, len(runs))
            labels += run_names(runs)
        if labels:
            add_names(figure, handles, labels, 4)
        text = heading(runs[0], "paths of the centres of mass", title)
        add_heading(figure, text)
        if note:
            add_note(figure, note.strip(), theme)
    return figure


def _tidy_space(axes: Any, theme: Theme, points: Any) -> None:
    """Equal scales and quiet panes for axes in space."""
    centre, half = 0.5 * (points.max(axis=0) + points.min(axis=0)), 0.5 * np.ptp(points, axis=0)
    thin = half < 0.2 * half.max()
    half = np.maximum(half, 0.25 * max(float(half.max()), 1e-9)) * 1.08
    for k, name in enumerate("xyz"):
        getattr(axes, f"set_{name}lim")(centre[k] - half[k], centre[k] + half[k])
        getattr(axes, f"set_{name}label")(f"${name}$ in m")
        axis = getattr(axes, f"{name}axis")
        axis.set_pane_color((0.5, 0.5, 0.5, 0.04))
        axis.line.set_color(theme.muted)
        axis.set_major_locator(_locator(1 if thin[k] else 4))
    axes.set_box_aspect(half, zoom=1.0)
    axes.tick_params(labelsize=8, pad=0)


def _locator(count: int) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(count, min_n_ticks=1)
