"""Lie nodes and points in the energy-momentum scheme on frames: axes of their torques."""

from __future__ import annotations

from ...compiled.kernel import kernel
from .nodes import cross_axes


@kernel
def cofactor_axes(zm, zr):
    """zr = axes that turn frame forces at the averaged axes zm of a Lie node into torques."""
    zr[3], zr[4], zr[5] = cross_axes(zm, 6, 9)
    zr[6], zr[7], zr[8] = cross_axes(zm, 9, 3)
    zr[9], zr[10], zr[11] = cross_axes(zm, 3, 6)
