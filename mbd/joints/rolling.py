"""Rolling without slipping."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbd.bodies import Body, PointMass
from mbd.elements.arguments import Vector
from mbd.elements.attributes import fixed, flag, positive
from mbd.elements.frame_kinds import ROLLING
from mbd.errors import ZERO3, ModelError, bad_value, check_direction, check_number, check_vector
from mbd.joints.joint import Joint, to_body, to_world
from mbd.joints.primitive_data import FrameRows, Primitive


class Rolling(Joint):
    """A thin disk or a ball rolls on a plane of the first body without slipping (1 + 2 equations).

    Parameters
    ----------
    radius: of the disk or ball.
    axis: spin axis of the disk (world direction in the initial configuration); ``None`` for a ball.
    normal: of the plane, world direction, towards the side on which the second body rolls.
    at: a point of the plane, in the world; by default the plane touches the body in the initial configuration.
    centre: of the disk or ball, fixed in the second body.

    The distance to the plane is an equation on positions; the two that forbid slipping exist on the velocity level only
    (nonholonomic). All methods for joined bodies treat them but Lobatto. LieEM, GonzalezEM, HamiltonianEM and GGLEM
    keep the energy to round-off; all of these but GGLEM forbid slipping over a step, not at its ends.
    ``solution[joint].force`` is the contact force on the second body, the torque is about its centre. A disk must not
    lie flat. A contact that would have to pull is reported with a warning at the end of the run.

    Of the variants of GeneralizedAlpha take the default, ``stabilized=True``: wheels that spin fast make index 3
    unstable unless its steps are short or its dissipation large (``rho_inf`` of 0.5 for a bicycle with steps of 20 ms).
    """

    oriented = (True, True)
    radius: float = fixed("Of the disk or ball.", "make a new joint: radius, axis and plane belong together", positive)
    is_disk: bool = fixed(
        "Whether a disk rolls, not a ball.", "make a new joint with axis= for a disk, without it for a ball", flag
    )

    def __init__(
        self,
        body_a: Body,
        body_b: Body,
        *,
        radius: float,
        axis: Vector | None = None,
        normal: Vector = (0.0, 0.0, 1.0),
        at: Vector | None = None,
        centre: Vector = ZERO3,
        name: str | None = None,
    ) -> None:
        for argument, body in (("body_a", body_a), ("body_b", body_b)):
            if isinstance(body, PointMass):
                raise bad_value(
                    self.label, argument, body, "a RigidBody or the ground, because rolling needs orientation"
                )
        a: Any = body_a
        b: Any = body_b
        self._set(radius=check_number(radius, self.label, "radius", positive=True), is_disk=axis is not None)
        up = check_direction(normal, self.label, "normal")
        middle = to_world(b, check_vector(centre, self.label, "centre"))
        height = self.radius
        axes: dict[str, Any] = {"axis_a": up @ a.rotation}
        if self.is_disk:
            spin = check_direction(axis, self.label, "axis")
            height = self.radius * float(np.sqrt(max(0.0, 1.0 - float(up @ spin) ** 2)))
            if height < 1e-6 * self.radius:
                raise bad_value(self.label, "axis", axis, "an axis that is not normal to the plane: the disk lies flat")
            axes["axis_b"] = spin @ b.rotation
        world = middle - height * up if at is None else check_vector(at, self.label, "at")
        super().__init__(body_a, body_b, name=name, point_a=to_body(a, world), point_b=centre, **axes)
        if at is not None and float(up @ (middle - world)) < 0.0:
            raise ModelError(f"{self}: the second body is below the plane; expected it on the side of the normal")

    def primitives(self) -> list[Primitive]:
        parameters = (
            self.radius, *self.point_a, *self.n1_a, *self.n2_a, *self.axis_a, *self.point_b, *self.axis_b,
            float(self.is_disk),
        )  # fmt: skip
        bodies = (self.body_a, self.body_b)
        return [FrameRows(ROLLING, bodies, 3, tuple(float(x) for x in parameters), nonholonomic=(1, 2))]
