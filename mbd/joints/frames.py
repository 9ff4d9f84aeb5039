"""Frames around axes."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from mbd.errors import Array, read_only


class _State(threading.local):
    """What is kept in this thread."""

    normals: dict[int, Array] | None = None  # by id of the joint


_state = _State()


class normals_kept:
    """While numbers change a little: joints keep the coordinate direction on which the frames around their axes lean.

    Which one that is jumps where two components of an axis are equally large, (1, 1, 0) for instance, and with it the
    normals of the axis and all that is measured along them, though the motion does not.
    """

    __slots__ = ("_before", "_normals")

    def __init__(self, joints: Iterable[Any]) -> None:
        self._normals = {id(joint): joint.frame_a[:, 0] for joint in joints}

    def __enter__(self) -> None:
        self._before, _state.normals = _state.normals, self._normals

    def __exit__(self, *error: object) -> None:
        _state.normals = self._before


def kept_normal(joint: Any) -> Array | None:
    """The first normal to which the one of a joint is to stay near, if it is."""
    return None if _state.normals is None else _state.normals.get(id(joint))


def frame_around(axis: Array, near: Array | None = None) -> Array:
    """Right-handed frame with columns (n1, n2, axis).

    n1 is the projection of the coordinate direction that follows the largest component of the axis: an axis z gives
    (x, y, z), an axis x gives (y, z, x). With ``near`` it is the projection that is nearest to this normal.
    """
    x, y, z = axis.tolist()
    if near is not None:
        u, v, w = max((_projected(x, y, z, k) for k in range(3)), key=lambda n: float(near @ n))
    elif abs(z) >= abs(x) and abs(z) >= abs(y):
        u, v, w = _projected(x, y, z, 0)
    else:
        u, v, w = _projected(x, y, z, 1 if abs(x) >= abs(y) else 2)
    return read_only(np.array(((u, y * w - z * v, x), (v, z * u - x * w, y), (w, x * v - y * u, z))))


def _projected(x: float, y: float, z: float, k: int) -> tuple[float, float, float]:
    """The unit vector normal to (x, y, z) that is nearest to a coordinate direction, which is not (x, y, z) itself."""
    if k == 0:
        u, v, w = 1.0 - x * x, -x * y, -x * z
    elif k == 1:
        u, v, w = -y * x, 1.0 - y * y, -y * z
    else:
        u, v, w = -z * x, -z * y, 1.0 - z * z
    length = math.sqrt(u * u + v * v + w * w)
    return (u / length, v / length, w / length) if length > 0.0 else (0.0, 0.0, 0.0)
