"""What people see of the motion of a body in a solution, observed when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements.suggestions import counted, did_you_mean
from ..errors import Array, MissingQuantity, check_vector, read_only
from ..nodes.arrays import axial, frame_axes, marker
from ..nodes.tree.records import NOT_CARRIED
from .observe import observe_frames, observe_quaternions
from .tables import FLAG_TREE
from .tree_observe import carried_motion

if TYPE_CHECKING:
    from ..results.solution import Solution

QUANTITIES = (
    "position", "velocity", "acceleration", "rotation", "quaternion", "angular_velocity", "angular_acceleration", "com",
)  # fmt: skip


class View:
    """What people see of an element; what it does not have is refused by name, with what it has."""

    of = "body"  # the attribute that is the element

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self), name):  # a property that was refused, in its own words
            return object.__getattribute__(self, name)
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        known = [x for x in dir(self) if not x.startswith("_") and x not in ("of", self.of, "index", "solution")]
        meant = did_you_mean(name, known)
        text = f"{getattr(self, self.of)} has no {name!r}; it has {', '.join(known)}"
        raise MissingQuantity(f"{text}; {meant}" if meant else text)


class PointView(View):
    """Motion of a point mass."""

    def __init__(self, solution: Solution, body: Any, index: int) -> None:
        self.solution, self.body, self.index = solution, body, index

    @cached_property
    def _z(self) -> Array:
        """Frames (n, 12) = (r, d1, d2, d3)."""
        return self.__dict__["_motion"][0] if "_motion" in self.__dict__ else self._observe(0)[0]

    @cached_property
    def _motion(self) -> tuple[Array, Array]:
        """Frames and their velocities."""
        return self._observe(1)[:2]

    @cached_property
    def _zdd(self) -> Array:
        """Accelerations of the frames."""
        return self._observe(2)[2]

    def _observe(self, level: int) -> tuple[Array, Array, Array]:
        """Frames and as many derivatives as wanted; the others are empty."""
        s, n = self.solution, len(self.solution)
        tables = s.system.tables
        if tables.flags[FLAG_TREE] and tables.tree.carried[self.index].parent != NOT_CARRIED:
            return carried_motion(s, self.index, level)
        z, zd, zdd = np.zeros((n, 12)), np.zeros((n * (level > 0), 12)), np.zeros((n * (level > 1), 12))
        vd = s.vd if level > 1 else np.zeros((0, s.system.n_v))
        observe_frames(tables, s._work, self.index, s.q, s.v, vd, z, zd, zdd)
        return z, zd, zdd

    @property
    def position(self) -> Array:
        """Position of the reference point, world axes (n, 3)."""
        return read_only(self._z[:, :3])

    @property
    def velocity(self) -> Array:
        """Velocity of the reference point, world axes (n, 3)."""
        return read_only(self._motion[1][:, :3])

    @property
    def acceleration(self) -> Array:
        """Acceleration of the reference point, world axes (n, 3)."""
        return read_only(self._zdd[:, :3])

    @property
    def com(self) -> Array:
        """Position of the centre of mass (n, 3)."""
        return self.position

    def __repr__(self) -> str:
        names = [name for name in QUANTITIES if hasattr(type(self), name)]
        return f"<motion of {self.body}: {counted(len(self.solution), 'record')} of {', '.join(names)}>"


class BodyView(PointView):
    """Motion of a rigid body."""

    @property
    def rotation(self) -> Array:
        """Rotation matrices, body to world (n, 3, 3)."""
        return read_only(frame_axes(self._z).transpose(0, 2, 1))

    @cached_property
    def quaternion(self) -> Array:
        """Unit quaternions, scalar first (n, 4); the sign is such that they are continuous in time."""
        e, name = np.zeros((len(self.solution), 4)), self.body.name
        observe_quaternions(np.ascontiguousarray(self._z), e)
        return read_only(self.solution._signed(name, e, lambda s: s[name].quaternion))

    @cached_property
    def angular_velocity(self) -> Array:
        """Angular velocity in body axes (n, 3)."""
        return read_only(axial(self._motion[0], self._motion[1]))

    @cached_property
    def angular_acceleration(self) -> Array:
        """Angular acceleration in body axes (n, 3)."""
        return read_only(axial(self._z, self._zdd))

    @property
    def com(self) -> Array:
        """Centre of mass (n, 3), where it was in the run: the body may have been changed since."""
        node = self.solution.system.tables.nodes[self.index]
        moment = np.array((node["s1"], node["s2"], node["s3"]))
        same = (node["mass"] * self.body.com == moment).all()
        return self.point(self.body.com if same else moment / node["mass"])

    def point(self, point: Any) -> Array:
        """World position of a body-fixed point (n, 3)."""
        return marker(self._z, check_vector(point, self.body, "point"))

    def point_velocity(self, point: Any) -> Array:
        """Velocity of a body-fixed point, world axes (n, 3)."""
        return marker(self._motion[1], check_vector(point, self.body, "point"))

    def point_acceleration(self, point: Any) -> Array:
        """Acceleration of a body-fixed point, world axes (n, 3)."""
        return marker(self._zdd, check_vector(point, self.body, "point"))


class GeneralizedView(View):
    """Motion of a body with generalized coordinates."""

    def __init__(self, solution: Solution, body: Any) -> None:
        self.solution, self.body = solution, body
        self._places, self._columns = solution.system.body_slices(body)

    @property
    def coordinates(self) -> Array:
        """Coordinates (n, n_q)."""
        return read_only(self.solution.q[:, self._places])

    @property
    def velocities(self) -> Array:
        """Time derivatives of the coordinates (n, n_v)."""
        return read_only(self.solution.v[:, self._columns])

    @property
    def accelerations(self) -> Array:
        """Second derivatives of the coordinates (n, n_v)."""
        return read_only(self.solution.vd[:, self._columns])

    def __repr__(self) -> str:
        records = counted(len(self.solution), "record")
        return f"<motion of {self.body}: {records} of coordinates, velocities, accelerations>"
