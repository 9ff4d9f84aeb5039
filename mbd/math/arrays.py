"""Vectors and tables of frames as a whole."""

from __future__ import annotations

from ..compiled.fours import AT_ONCE, flat, larger
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
def copy_apart(x, count, row, distance, out):
    """Rows of out from ``row`` on: the first ``count`` of every four numbers of x, which is of kind ``fours``.

    They are taken together: one after the other, each would walk through the whole of x with a stride.
    """
    numbers = flat(x)
    if count == AT_ONCE:
        a, b, c, d = out[row], out[row + distance], out[row + 2 * distance], out[row + 3 * distance]
        for k in range(x.shape[0]):
            i = AT_ONCE * k
            a[k], b[k], c[k], d[k] = numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3]
        return
    for k in range(x.shape[0]):
        for c in range(count):
            out[row + c * distance, k] = numbers[AT_ONCE * k + c]


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


@kernel
def largest_four(x):
    """The largest magnitude of numbers of kind ``fours``: four of them."""
    size = 0.0
    for k in range(x.shape[0]):
        size = larger(size, x[k])
    return size
