"""The scene of one or several solutions: everything that any view draws, independent of what draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.bodies import Body, PointMass
from mbd.errors import ZERO3, Array, ModelError, bad_value, check_vector
from mbd.view import arrows, glyphs, surfaces
from mbd.view.arguments import Runs, ThemeName, Trails
from mbd.view.bodies import body_corners, body_solids, frame_parts
from mbd.view.motion import Motion, matrices
from mbd.view.pieces import Link, Poses, Solid, Trail, between, rod_surface
from mbd.view.runs import run_list
from mbd.view.shading import Shading
from mbd.view.springs import anchors, spring_pieces
from mbd.view.theme import colour, mixed
from mbd.view.theme import theme as find_theme

if TYPE_CHECKING:
    from mbd.results.solution import Solution

MANY = 150  # bodies beyond which shapes get coarser
BALL = 3.2  # radius of the ball that is drawn for a point, in sizes of glyphs
ARROW_SAMPLES = 24  # records at which the lengths of arrows are looked at
SAMPLES = 80  # records looked at to find the extent of a motion
TRAIL_RECORDS = 3000
OPTIONS = (
    "theme", "joints", "springs", "trails", "reactions", "loads", "frames", "axes", "floor", "labels", "colour_by",
    "side_by_side",
)  # fmt: skip


class Scene:
    """Solids, links and trails of solutions, with their extent, the direction of up and the height of the floor.

    Parameters
    ----------
    solutions: one, or several runs of the same model, which are then coloured by run.
    theme: "light" or "dark".
    joints, springs: draw them; on by default.
    trails: True (all bodies), False, "auto" (the outermost bodies, three at most), a body, a name, a pair
        (body, point), or a list of these.
    reactions, loads: draw the forces of joints and of applied loads as arrows.
    frames: draw the axes of all bodies. axes: draw those of the world. floor: draw the ground plane. labels: names.
    colour_by: "speed", "energy" (kinetic), "reaction", "error" (distance from the first run) or "acceleration",
        "angular_velocity", ...: bodies are coloured by it, with a scale.
    side_by_side: several runs stand beside each other instead of on top of each other.
    """

    def __init__(
        self, solutions: Runs, *, theme: ThemeName = "light", joints: bool = True, springs: bool = True,
        trails: Trails = "auto", reactions: bool = False, loads: bool = True, frames: bool = False, axes: bool = True,
        floor: bool = True, labels: bool = False, colour_by: str | None = None, side_by_side: bool = False,
        **unknown: object,
    ) -> None:  # fmt: skip
        if unknown:
            raise ModelError(f"view: there is no option '{next(iter(unknown))}'; expected {', '.join(OPTIONS)}")
        self.solutions: list[Solution] = run_list(solutions)
        self.theme = find_theme(theme)
        self.motions = [Motion(solution) for solution in self.solutions]
        self.first_rows = np.cumsum([0] + [m.solution.system.tables.nodes.shape[0] for m in self.motions])
        self.shifts = np.zeros((len(self.motions), 3))  # of runs that stand beside each other
        self.shading = Shading(self, colour_by) if colour_by is not None else None
        self.axes, self.floor, self.labels = bool(axes), bool(floor), bool(labels)
        self.reactions, self.loads, self.frames = bool(reactions), bool(loads), bool(frames)
        self.solids: list[Solid] = []
        self.links: list[Link] = []
        self.trails: list[Trail] = []
        count = sum(len(m.rows) - 1 for m in self.motions)
        if not count and all(m.solution.model.ground.shape is None for m in self.motions):
            raise ModelError(
                f"{self.solutions[0].model} has no body with a place in space; generalized coordinates cannot be "
                "drawn, but solution.plot(...) shows them"
            )
        self.segments = 32 if count <= MANY else 12
        self._measure(bool(side_by_side), bool(springs))
        self.held: list[dict[str, float]] = []  # of each run: body -> distance of its farthest joint
        self.scales: dict[str, float] = {}  # metres of arrow per unit of what it shows
        for run in range(len(self.motions)):
            self._add_bodies(run)
            if joints:
                self._add_joints(run)
            if springs:
                solids, links = spring_pieces(self, run)
                self.solids += solids
                self.links += links
            self.links += arrows.drawn(self, run, arrows.reactions(self, run)) if reactions else []
            self.links += arrows.drawn(self, run, arrows.loads(self, run)) if loads else []
            self._add_trails(run, trails)
        self.tips = self._arrow_tips()

    # --- extent

    def _measure(self, side_by_side: bool, springs: bool) -> None:
        """Centre and radius of the whole motion, up, the height of the floor and the sizes of glyphs."""
        self.radii: list[dict[str, float]] = []
        runs = []
        balls: list[Array] = []  # places of points without extent
        for motion in self.motions:
            clouds = []
            model = motion.solution.model
            bodies = [b for b in [model.ground, *model.bodies] if b.name in motion.rows]
            drawn = [b for b in bodies if b is not model.ground or b.shape is not None]
            corners = [body_corners(b) for b in drawn]
            self.radii.append(
                {b.name: float(np.linalg.norm(c, axis=1).max()) for b, c in zip(drawn, corners, strict=True)}
            )
            rows = np.repeat([motion.rows[b.name] for b in drawn], [len(c) for c in corners])
            local = np.concatenate(corners)
            points = [motion.rows[b.name] for b in drawn if isinstance(b, PointMass) and b.shape is None]
            for k in motion.samples(SAMPLES if len(drawn) < MANY else SAMPLES // 4):
                p, q = motion.record(int(k))
                clouds.append(p[rows] + np.einsum("nij,nj->ni", matrices(q)[rows], local))
                balls.append(p[points])
            for joint in model.joints:  # what holds a body to the ground belongs to the picture
                if joint.uses_point != "none" and model.ground in joint.bodies[:2]:
                    clouds.append((joint.place_a if joint.body_a is model.ground else joint.point_b)[None])
            clouds += [point[None] for point in anchors(model)] if springs else []
            cloud = np.concatenate(clouds)
            runs.append(cloud[np.isfinite(cloud).all(axis=1)])
        gravity = self.solutions[0].model.gravity
        up = np.array((0.0, 0.0, 1.0))
        if np.any(gravity):
            axis = int(np.argmax(np.abs(gravity)))
            up = -np.sign(gravity[axis]) * np.eye(3)[axis]
        self.up: Array = up
        if side_by_side:
            self.shifts = beside(runs, up)
        self.cloud = np.concatenate([cloud + shift for cloud, shift in zip(runs, self.shifts, strict=True)])
        low, high = self.cloud.min(axis=0), self.cloud.max(axis=0)
        self.centre = 0.5 * (low + high)
        reach = np.linalg.norm(high - low)
        if self.axes and np.linalg.norm(self.centre) < 0.75 * reach:  # then the axes of the world are in the picture
            self.cloud = np.concatenate((self.cloud, 0.08 * reach * np.eye(3), np.zeros((1, 3))))
        self.low, self.high = low, high
        self.radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-9)
        below = float((self.cloud @ up).min())
        rests = -1e-6 * self.radius <= below <= 0.6 * self.radius  # then the floor is the plane through the origin
        self.floor_height = 0.0 if rests else below - 0.06 * self.radius
        self.size_of_start = self._size_of_start()
        self.measure = min(self.radius, 3.0 * self.size_of_start)  # for axes and trails, which go with the bodies
        self.glyph = 0.019 * min(self.size_of_start, self.radius)
        lowest = np.nanmin(np.concatenate(balls) @ up, initial=np.inf)  # balls lie on the floor, not in it
        self.floor_height = min(self.floor_height, float(lowest) - 1.01 * BALL * self.glyph)

    def _size_of_start(self) -> float:
        """Radius of the first picture; glyphs are sized by it, since a motion may go far."""
        p = self.motions[0].record(0)[0][list(self.motions[0].rows.values())]
        extent = 0.5 * float(np.linalg.norm(np.ptp(p, axis=0))) if len(p) > 1 else 0.0
        return max(extent + max(self.radii[0].values(), default=0.0), 1e-6 * self.radius)

    def row(self, run: int, body: Body) -> int:
        """Row of a body of a run in the poses of the scene."""
        return int(self.first_rows[run]) + self.motions[run].rows[body.name]

    def poses(self, t: float) -> Poses:
        """Positions and rotation matrices of all bodies of all runs at a time."""
        parts = [(p + shift, q) for (p, q), shift in zip((m.at(t) for m in self.motions), self.shifts, strict=True)]
        return np.concatenate([p for p, _ in parts]), matrices(np.concatenate([q for _, q in parts]))

    @property
    def start(self) -> float:
        """First time of any run."""
        return min(motion.start for motion in self.motions)

    @property
    def end(self) -> float:
        """Last time of any run."""
        return max(motion.end for motion in self.motions)

    @property
    def several(self) -> bool:
        """Whether several runs are in the scene."""
        return len(self.motions) > 1

    # --- what is in it

    def _add_bodies(self, run: int) -> None:
        motion, theme = self.motions[run], self.theme
        model = motion.solution.model
        heaviest = max((b.mass for b in model.bodies if isinstance(b, PointMass)), default=1.0)
        if model.ground.shape is not None:
            parts = body_solids(model.ground, self.row(run, model.ground), 0, theme, self.segments, self.glyph)
            own = colour(theme.muted) if model.ground.shape.colour is None else None
            for solid in parts:
                solid.colour = own or solid.colour
            self.solids += parts
        index = 0
        for body in model.bodies:
            if not body.in_space:
                continue
            size = BALL * self.glyph
            if isinstance(body, PointMass):
                size *= max(0.35, (body.mass / heaviest) ** (1.0 / 3.0))
            solids = body_solids(body, self.row(run, body), index, theme, self.segments, size)
            solids += self._sticks(run, body, solids)
            for solid in solids:
                if self.several:
                    solid.colour = theme.run(run)
            self.solids += solids
            if self.frames:
                self._add_frame(run, body)
            index += 1

    def _add_frame(self, run: int, body: Any) -> None:
        own = self.radii[run][body.name]  # the axes come out of the body, but do not fill the picture
        size = min(1.5 * own, max(0.4 * self.radius, 1.1 * own)) or 10.0 * self.glyph
        for key, surface, offset, turn, axis_colour in frame_parts(size, self.theme):
            rgb = colour(axis_colour)
            self.solids.append(Solid(key, surface, self.row(run, body), rgb, body.name, "frame", offset, turn))

    def _sticks(self, run: int, body: Any, solids: list[Solid]) -> list[Solid]:
        """Thin rods from the centre of mass of a body to the points outside of its shape where it is held."""
        model, sticks = self.motions[run].solution.model, []
        for joint in model.joints if len(model.joints) <= 400 else []:
            if joint.uses_point == "none" or body not in joint.bodies[:2]:
                continue
            point = joint.place_a if body is joint.body_a else joint.point_b
            arm = point - body.com
            length = float(np.linalg.norm(arm))
            if length > 2.0 * self.glyph and min(outside(solid, point) for solid in solids) > 2.0 * self.glyph:
                shade = mixed(solids[0].colour, (0.5, 0.5, 0.5), 0.25)
                surface = surfaces.capsule(0.45 * self.glyph, length, 16)
                key = ("stick", round(length, 12))
                middle, turn = body.com + 0.5 * arm, surfaces.along(arm)
                sticks.append(Solid(key, surface, solids[0].body, shade, body.name, "body", middle, turn))
        return sticks

    def _add_joints(self, run: int) -> None:
        motion = self.motions[run]
        grey = colour(self.theme.joint)
        self.held.append({})
        for joint in motion.solution.model.joints:
            for body, point in ((joint.body_a, joint.place_a), (joint.body_b, joint.point_b)):
                if joint.uses_point != "none" and body.name in motion.rows and body.name != "ground":
                    reach = float(np.linalg.norm(point - np.asarray(getattr(body, "com", ZERO3))))
                    self.held[run][body.name] = max(self.held[run].get(body.name, 0.0), reach)
        for joint in motion.solution.model.joints:
            if any(body.name not in motion.rows for body in joint.bodies[:2]):
                continue
            rows = (self.row(run, joint.bodies[0]), self.row(run, joint.bodies[1]))
            sizes = [r for b in joint.bodies[:2] if (r := self._size_of(run, b)) > 0.0]
            g = max(min([self.glyph, *(0.11 * size for size in sizes)]), 0.02 * self.glyph)
            self.solids += glyphs.joint_solids(joint, rows, motion, g, grey, min(self.segments, 24))
            if glyphs.is_rod(joint):
                surface, weights = rod_surface(0.45 * g)
                link = Link(surface, weights, between(rows, joint.point_a, joint.point_b), grey, joint.name, "rod")
                self.links.append(link)

    def _size_of(self, run: int, body: Body) -> float:
        """How far a body reaches from its centre of mass: its shape, or the joints that hold it."""
        own = self.radii[run].get(body.name, 0.0)
        if body.name not in self.held[run]:
            return own
        return max(own, self.held[run][body.name])

    def _add_trails(self, run: int, trails: Trails) -> None:
        names = [b.name for b in self.solutions[run].model.bodies]
        count: dict[str, int] = {}
        for body, point in chosen_points(self.solutions[run].model, trails):
            more = count[body.name] = count.get(body.name, -1) + 1  # further trails of a body have other colours
            index = names.index(body.name)
            rgb = self._colour_of(run, body, index) if not more else self.theme.body(index + more)
            rgb = self.theme.run(run) if self.several else rgb
            self.trails.append(Trail(self.row(run, body), point, rgb, body.name, run))

    def _colour_of(self, run: int, body: Body, index: int) -> tuple[float, float, float]:
        row = self.row(run, body)
        return next((s.colour for s in self.solids if s.body == row and s.role == "body"), self.theme.body(index))

    def path(self, trail: Trail) -> tuple[Array, Array]:
        """Times (n,) and places (n, 3) of a trail, thinned to a few thousand records."""
        solution = self.solutions[trail.run]
        view = solution[trail.owner]
        places = view.point(trail.point) if hasattr(view, "point") else view.position
        keep = self.motions[trail.run].samples(TRAIL_RECORDS)
        return solution.t[keep], np.asarray(places)[keep] + self.shifts[trail.run]

    def _arrow_tips(self) -> dict[str, Array]:
        """Ends of all arrows at some times by their role; cameras count them as part of the picture."""
        links = [link for link in self.links if link.role in ("reaction", "load")][:MANY]
        points: dict[str, list[Array]] = {}
        times = self.motions[0].t[self.motions[0].samples(ARROW_SAMPLES)] if links else ()
        for t in times:
            poses = self.poses(float(t))
            for link in links:
                points.setdefault(link.role, []).append(link.ends(poses, float(t))[1])
        tips = {role: np.array(found) for role, found in points.items()}
        return {role: found[np.isfinite(found).all(axis=1)] for role, found in tips.items()}

    def letter_places(self) -> tuple[list[str], Array]:
        """Letters of the axes of the world, and where to write them."""
        return ["x", "y", "z"], 0.185 * self.measure * np.eye(3)

    def arrow_scales(self) -> list[str]:
        """What the lengths of arrows mean, in round numbers: "reactions: 0.5 m for 100 N"."""
        names = {"reaction": ("reactions", "N"), "load": ("loads", "N"), "torque": ("torques", "N m")}
        lines = []
        for role, scale in self.scales.items():
            words, unit = names[role]
            power = 10.0 ** np.floor(np.log10(0.5 * self.radius / scale))
            size = max(f * power for f in (1.0, 2.0, 5.0) if f * power <= 0.5 * self.radius / scale * (1.0 + 1e-9))
            lines.append(f"{words}: {size * scale:.2g} m for {size:g} {unit}")
        return lines

    def label_marks(self) -> list[tuple[str, int, Array, float]]:
        """Names of the bodies of the first run: row, centre of mass, and how far above it the name stands."""
        motion, marks = self.motions[0], []
        for body in motion.solution.model.bodies:
            if body.name in motion.rows:
                lift = min(0.7 * self.radii[0].get(body.name, 0.0), 0.1 * self.radius) + 0.03 * self.radius
                marks.append((body.name, motion.rows[body.name], np.asarray(getattr(body, "com", ZERO3)), lift))
        return marks

    def label_places(self, poses: Poses) -> tuple[list[str], Array]:
        """Names of the bodies of the first run and where to write them: a little above their centres of mass."""
        marks = self.label_marks()
        rows, com, lift = [m[1] for m in marks], np.array([m[2] for m in marks]), [m[3] for m in marks]
        places = poses[0][rows] + np.einsum("nij,nj->ni", poses[1][rows], com) + np.outer(lift, self.up)
        return [m[0] for m in marks], places


def beside(runs: list[Array], up: Array) -> Array:
    """Shifts (n, 3) of clouds of points such that they stand in a row, in the order of reading."""
    whole = np.concatenate(runs)
    size = np.ptp(whole, axis=0)
    axes = [axis for axis in range(3) if not up[axis]]
    along = axes[int(np.argmax(size[axes]))] if size[axes].max() < 0.6 * size.max() else axes[0]
    step = np.zeros(3)
    step[along] = 1.15 * max(float(size[along]), 0.3 * float(size.max()))
    return np.outer(np.arange(len(runs)), step)


def outside(solid: Solid, point: Array) -> float:
    """Distance of a body-fixed point from the box around a solid; zero inside."""
    local = (point - solid.offset) @ solid.turn
    low, high = solid.surface.points.min(axis=0), solid.surface.points.max(axis=0)
    return float(np.linalg.norm(np.maximum(np.maximum(low - local, local - high), 0.0)))


def chosen_points(model: Any, trails: Any) -> list[tuple[Any, Array]]:
    """Bodies and body-fixed points whose paths are drawn."""
    bodies = [b for b in model.bodies if b.in_space]
    if trails is None or trails is False:
        return []
    if trails is True:
        return [(b, np.asarray(b.com)) for b in bodies]
    if isinstance(trails, str) and trails == "auto" and "auto" not in model:
        return [(b, np.asarray(b.com)) for b in outermost(model, bodies)]
    if isinstance(trails, Body | str) or _is_pair(trails):
        trails = [trails]
    if not isinstance(trails, Sequence):
        raise bad_value("view", "trails", trails, 'True, False, "auto", a body, its name, (body, point) or a list')
    points = []
    for item in trails:
        body, point = item if _is_pair(item) else (item, None)
        body = model[getattr(body, "name", body)]
        if not isinstance(body, Body) or not body.in_space:
            raise ModelError(f"view: trails names {body}, which has no place in space; expected a body")
        place = getattr(body, "com", np.zeros(3)) if point is None else check_vector(point, body, "point of the trail")
        points.append((body, np.asarray(place)))
    return points


def _is_pair(item: Any) -> bool:
    return isinstance(item, tuple) and len(item) == 2 and not isinstance(item[1], str | Body)


def outermost(model: Any, bodies: list[Any]) -> list[Any]:
    """The bodies with a trail by default: those with the fewest joints, three at most, none in large models."""
    if len(bodies) > 40:
        return []
    count = {b.name: 0 for b in bodies}
    for joint in model.joints:
        for body in joint.bodies[:2]:
            if body.name in count:
                count[body.name] += 1
    least = min(count.values(), default=0)
    return [b for b in bodies if count[b.name] == least][:3]
