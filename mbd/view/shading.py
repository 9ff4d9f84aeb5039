"""Bodies coloured by a quantity: speed, kinetic energy, reactions, the error between runs, or any vector of bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.elements.suggestions import did_you_mean
from mbd.errors import Array, ModelError
from mbd.results.channels import UNITS
from mbd.view.theme import Colour

if TYPE_CHECKING:
    from mbd.view.scene import Scene

# Cividis, which people with and without colour deficiencies see alike (Nuñez, Anderton & Renslow 2018), at nine points
MAP = np.array((
    (0, 34, 78), (18, 53, 112), (59, 73, 108), (87, 93, 109), (112, 113, 115),
    (138, 134, 120), (165, 156, 116), (195, 179, 105), (254, 232, 56),
)) / 255.0  # fmt: skip
UNKNOWN = 0.62  # grey
QUANTITIES = ("velocity", "acceleration", "angular_velocity", "angular_acceleration")
CHOICES = ("speed", "energy", "reaction", "error", *QUANTITIES)
TITLES = {
    "speed": ("speed", "m/s"), "energy": ("kinetic energy", "J"), "reaction": ("largest reaction", "N"),
    "error": ("distance from the first run", "m"),
}  # fmt: skip


def mapped(shares: Array) -> Array:
    """Colours (n, 3) of shares between 0 and 1."""
    places = np.linspace(0.0, 1.0, len(MAP))
    return np.stack([np.interp(shares, places, MAP[:, k]) for k in range(3)], axis=-1)


class Shading:
    """Values of the bodies of a scene at any time, and their colours."""

    def __init__(self, scene: Scene, what: str) -> None:
        if what not in CHOICES:
            advice = did_you_mean(str(what), list(CHOICES)) or "expected one of " + ", ".join(CHOICES)
            raise ModelError(f"view: colour_by = {what!r}; {advice}")
        if what == "error" and not scene.several:
            raise ModelError("view: colour_by = 'error' needs several runs, whose difference is shown; give a list")
        self.scene, self.what = scene, what
        self.title, unit = TITLES.get(what, (what.replace("_", " "), UNITS.get(what, "")))
        self.unit = unit.replace("^2", "²")
        self.columns: list[dict[int, Array]] = [self._columns(run) for run in range(len(scene.motions))]
        values = [c[np.isfinite(c)] for columns in self.columns for c in columns.values()]
        largest = max((float(v.max()) for v in values if v.size), default=0.0)
        self.low, self.high = 0.0, largest if largest > 0.0 else 1.0

    def _columns(self, run: int) -> dict[int, Array]:
        """Row of a body in the poses of the scene -> its values at the records of its run."""
        scene, motion = self.scene, self.scene.motions[run]
        solution = motion.solution
        columns: dict[int, Array] = {}
        for body in solution.model.bodies:
            if body.name in motion.rows:
                columns[scene.row(run, body)] = self._column(solution, body)
        return columns

    def _column(self, solution: Any, body: Any) -> Array:
        view = solution[body]
        if self.what == "reaction":
            joints = [j for j in solution.model.joints if body in j.bodies[:2]]
            forces = [np.linalg.norm(solution[j].force, axis=1) for j in joints]
            return np.max(forces, axis=0) if forces else np.zeros(len(solution))
        if self.what == "error":
            first = self.scene.solutions[0]
            own, there = np.asarray(view.position), np.asarray(first[body.name].position)
            ends = {"left": np.nan, "right": np.nan}  # where there is no first run, there is no error
            moved = np.stack([np.interp(solution.t, first.t, there[:, k], **ends) for k in range(3)], axis=1)
            return np.linalg.norm(own - moved, axis=1)
        if self.what == "energy":
            return kinetic_energy(view, body)
        name = "velocity" if self.what == "speed" else self.what
        values = getattr(view, name, None)
        return np.zeros(len(solution)) if values is None else np.linalg.norm(np.asarray(values), axis=1)

    def values(self, t: float) -> dict[int, float]:
        """Row -> value at a time."""
        return {
            row: float(self.scene.motions[run].column(column, t))
            for run, columns in enumerate(self.columns)
            for row, column in columns.items()
        }

    def colours(self, t: float) -> dict[int, Colour]:
        """Row -> colour at a time."""
        values = self.values(t)
        shares = np.clip((np.array(list(values.values())) - self.low) / (self.high - self.low), 0.0, 1.0)
        colours = np.where(np.isfinite(shares)[:, None], mapped(shares), UNKNOWN)
        return {row: (rgb[0], rgb[1], rgb[2]) for row, rgb in zip(values, colours.tolist(), strict=True)}


def kinetic_energy(view: Any, body: Any) -> Array:
    """m v_C^2 / 2 + omega J_C omega / 2, with the velocity of the centre of mass."""
    velocity = np.asarray(view.velocity)
    if not hasattr(view, "angular_velocity"):  # a point
        return 0.5 * body.mass * np.sum(velocity**2, axis=1)
    omega, com = np.asarray(view.angular_velocity), np.asarray(body.com)
    at_com = velocity + np.einsum("nij,nj->ni", np.asarray(view.rotation), np.cross(omega, com))
    spin = np.einsum("ni,ij,nj->n", omega, np.asarray(body.inertia), omega)
    return 0.5 * body.mass * np.sum(at_com**2, axis=1) + 0.5 * spin
