"""Vectors and tables of frames as a whole."""

from __future__ import annotations

from ..compiled.kernel import kernel


@kernel
def clear(x):
    """Set a vector to zero."""
    for k in range(x.shape[0]):
        x[k] = 0.0


@kernel
def copy(x, out):
    """out = x."""
    for k in range(out.shape[0]):
        out[k] = x[k]
