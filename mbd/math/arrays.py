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


@kernel
def copy_frames(z, out):
    """out = z."""
    for i in range(z.shape[0]):
        for m in range(12):
            out[i, m] = z[i, m]


@kernel
def clear_frames(f):
    """Set frame forces to zero."""
    for i in range(f.shape[0]):
        for m in range(f.shape[1]):
            f[i, m] = 0.0
