"""A scene on a pyvista plotter, with floor, lights, shadows, labels and camera."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbd.errors import Array
from mbd.view.camera import VIEW_ANGLE, Camera
from mbd.view.glass import Glass
from mbd.view.groups import Group, flat, material, polydata
from mbd.view.opengl import pyvista_module
from mbd.view.pieces import STRETCHED, Link, Poses, Solid, Trail, families
from mbd.view.surfaces import along
from mbd.view.theme import AXES, Colour, colour, mixed

if TYPE_CHECKING:
    from mbd.view.scene import Scene

LIGHT_FROM = np.array((0.45, -0.35, 1.0))  # towards the key light, z up
FLOOR_RADII = 6.0


class Stage:
    """A plotter with a scene on it; ``show(t)`` moves everything to a time."""

    def __init__(self, scene: Scene, plotter: Any, camera: Camera) -> None:
        self.scene, self.plotter, self.camera = scene, plotter, camera
        self.time = scene.start
        self.poses: Poses = scene.poses(scene.start)
        self.turn = along(scene.up)
        self.switches: dict[str, list[Any]] = {}
        self.chosen: tuple[int, str] | None = None  # body and owner of solids that are brighter
        plotter.set_background(scene.theme.background)
        self._lights()
        self.shadow_matrix = self._shadow_matrix()
        if scene.floor:
            self._floor()
        if scene.axes:
            self._world_axes()
        keys: dict[Any, list[Solid]] = {}
        many = families(scene.solids)
        for solid in scene.solids:
            run = int(np.searchsorted(scene.first_rows, solid.body, side="right"))
            kind = solid.key[0] if solid.key[0] in many else None
            keys.setdefault((kind or solid.key, solid.role, run), []).append(solid)
        self.grouped = list(keys.values())
        shadow = colour(scene.theme.shadow) if scene.floor else None
        self.groups = [
            Group(
                solids,
                shadow if role != "frame" else None,
                run - 1,
                STRETCHED[key](scene.segments) if key in many else None,
            )
            for (key, role, run), solids in keys.items()
        ]
        for group in self.groups:
            self._add(group.actors, next(iter(group.roles)))
        self.links = [(link, *self._link(link)) for link in scene.links]
        self.paths = [(trail, *self._trail(trail)) for trail in scene.trails]
        self.glass = Glass(self)
        plotter.camera.view_angle = VIEW_ANGLE
        self.show(scene.start, render=False)
        position, target, up = self.camera.at(self.poses)
        plotter.camera_position = (tuple(position), tuple(target), tuple(up))  # or pyvista would choose its own

    # --- furniture

    def _lights(self) -> None:
        pv = pyvista_module()
        pl, turn = self.plotter, self.turn
        pl.remove_all_lights()
        key = pv.Light(position=tuple(turn @ LIGHT_FROM), focal_point=(0, 0, 0), intensity=0.72)
        fill = pv.Light(
            position=tuple(turn @ (-6.0, -4.0, 3.0)), focal_point=(0, 0, 0), intensity=0.30, color="#e8f0ff"
        )
        head = pv.Light(light_type="headlight", intensity=0.38)
        for light in (key, fill):
            light.positional = False
        for light in (key, fill, head):
            pl.add_light(light)

    def _shadow_matrix(self) -> Any:
        """Projection along the light onto the floor, a hair above it."""
        from vtkmodules.vtkCommonMath import vtkMatrix4x4

        up, light = self.scene.up, self.turn @ LIGHT_FROM
        skew = np.eye(3) - np.outer(light, up) / (light @ up)
        height = self.scene.floor_height + 0.0015 * self.scene.radius
        shift = light * height / (light @ up)
        matrix = vtkMatrix4x4()
        for i in range(3):
            for j in range(3):
                matrix.SetElement(i, j, skew[i, j])
            matrix.SetElement(i, 3, shift[i])
        return matrix

    def floor_centre(self) -> Array:
        """The point of the floor below the scene, at a crossing of the grid."""
        scene, step = self.scene, 0.25 * self.scene.radius
        local = np.round((scene.centre @ self.turn) / step) * step
        local[2] = scene.floor_height
        return self.turn @ local

    def _floor(self) -> None:
        pv = pyvista_module()
        scene = self.scene
        size, step = FLOOR_RADII * scene.radius, grid_step(scene.radius)
        centre = self.floor_centre()
        drop = 0.002 * scene.radius
        disc = pv.Disc(center=tuple(centre - drop * scene.up), inner=0.0, outer=size, normal=tuple(scene.up), c_res=96)
        actor = self.plotter.add_mesh(disc, color=scene.theme.floor, lighting=False, pickable=False, name="floor")
        actor.GetProperty().LightingOff()
        lines: list[Array] = []
        for offset in np.arange(-np.floor(size / step), np.floor(size / step) + 1) * step:
            half = np.sqrt(max(size**2 - offset**2, 0.0))
            for a in (
                np.array(((offset, -half, 0.0), (offset, half, 0.0))),
                np.array(((-half, offset, 0.0), (half, offset, 0.0))),
            ):
                lines.append(a @ self.turn.T + centre)
        points = np.concatenate(lines)
        cells = np.column_stack(
            (np.full(len(lines), 2), np.arange(0, 2 * len(lines), 2), np.arange(1, 2 * len(lines), 2))
        )
        grid = pv.PolyData(points, lines=cells.ravel())
        self.plotter.add_mesh(grid, color=scene.theme.grid, line_width=1, lighting=False, pickable=False, name="grid")

    def _world_axes(self) -> None:
        from mbd.view.bodies import frame_parts

        size = 0.16 * self.scene.measure
        for _, surface, _, turn, axis_colour in frame_parts(size, self.scene.theme):
            actor = self._surface_actor(polydata(surface.moved(turn)), colour(axis_colour or AXES[0]))
            self._add([actor], "axes")

    def _surface_actor(self, data: Any, rgb: Colour) -> Any:
        from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

        mapper, actor = vtkPolyDataMapper(), vtkActor()
        mapper.SetInputData(data)
        mapper.ScalarVisibilityOff()
        actor.SetMapper(mapper)
        material(actor)
        actor.GetProperty().SetColor(*rgb)
        return actor

    def _add(self, actors: list[Any], role: str) -> None:
        """Put actors into the scene under a name by which they are switched; the second one is a shadow."""
        for index, actor in enumerate(actors):
            if index == 1:
                actor.SetUserMatrix(self.shadow_matrix)
            actor.SetPickable(False)
            self.plotter.renderer.AddActor(actor)
            self.switches.setdefault(role, []).append(actor)

    # --- things that change their form

    def _link(self, link: Link) -> tuple[Any, list[Any]]:
        data = polydata(link.surface)
        actors = [self._surface_actor(data, link.colour)]
        if self.scene.floor and link.role in ("spring", "rod"):
            shadow = self._surface_actor(data, link.colour)
            flat(shadow, colour(self.scene.theme.shadow))
            actors.append(shadow)
        self._add(actors, link.role)
        return data, actors

    def _trail(self, trail: Trail) -> tuple[Array, Array, Any]:
        from mbd.view.tubes import Tube

        times, places = self.scene.path(trail)
        tube = Tube(places, 0.0045 * self.scene.measure)
        actor = self._surface_actor(tube.data, trail.colour)
        actor.GetProperty().SetAmbient(0.5)
        self._add([actor], "trail")
        return times, places, tube

    # --- time

    def show(self, t: float, render: bool = True, aim: bool = True) -> None:
        """Move everything to a time; with ``aim`` also the camera."""
        self.time = t
        poses = self.scene.poses(t)
        self.poses = poses
        for group in self.groups:
            group.update(poses)
        for link, data, _ in self.links:
            points, normals = link.placed(poses, t)
            data.points[:] = points
            data.point_data["Normals"][:] = normals
            data.GetPointData().GetNormals().Modified()
            data.GetPoints().Modified()
            data.Modified()
        for trail, times, _, tube in self.paths:
            tube.show(int(np.searchsorted(times, t, side="right")), trail.place(poses))
        if self.scene.shading is not None:
            self.paint()
        if aim:
            self.aim()
        if render:
            self.render()

    def paint(self) -> None:
        """Colour the solids: bodies by their values where the scene has a quantity, the chosen one brighter."""
        shading = self.scene.shading
        values = shading.colours(self.time) if shading is not None else {}
        for group, solids in zip(self.groups, self.grouped, strict=True):
            rgb = [
                mixed(own, (1.0, 1.0, 1.0), 0.45) if (solid.body, solid.owner) == self.chosen else own
                for solid in solids
                for own in [values.get(solid.body, solid.colour) if solid.role == "body" else solid.colour]
            ]
            group.repaint((255.0 * np.array(rgb)).round())

    def aim(self) -> None:
        """Point the camera where it belongs at the current time."""
        position, target, up = self.camera.at(self.poses, self.time)
        view = self.plotter.camera
        view.SetPosition(*position)
        view.SetFocalPoint(*target)
        view.SetViewUp(*up)

    def render(self) -> None:
        """Draw; a screenshot without this shows the last picture."""
        self.plotter.renderer.ResetCameraClippingRange()
        self.glass.write()
        self.plotter.render()

    def switch(self, role: str, on: bool) -> None:
        """Show or hide everything of a kind: body, joint, spring, trail, frame, reaction, load, label."""
        for actor in self.switches.get(role, []):
            actor.SetVisibility(on)

    def project(self, points: Any) -> Array:
        """Pixels (n, 2) of the rendered image, from its top left corner, where world points (n, 3) appear."""
        width, height = self.plotter.render_window.GetSize()
        pixels = []
        for point in np.atleast_2d(points):
            self.plotter.renderer.SetWorldPoint(*point, 1.0)
            self.plotter.renderer.WorldToDisplay()
            x, y, _ = self.plotter.renderer.GetDisplayPoint()
            pixels.append((x, height - 1 - y))
        return np.array(pixels)


def grid_step(radius: float) -> float:
    """Distance of the lines of the floor: 1, 2 or 5 times a power of ten, about a quarter of the radius."""
    power = 10.0 ** np.floor(np.log10(0.3 * radius))
    return float(max(f * power for f in (1.0, 2.0, 5.0) if f * power <= 0.3 * radius))
