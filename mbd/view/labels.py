"""Texts in a picture: moved such that they stay inside and do not cover each other."""

from __future__ import annotations

import numpy as np

from mbd.errors import Array

MANY = 150  # labels beyond which they are left where they belong
GAP = 2.0  # pixels


def laid_out(places: Array, sizes: Array, window: tuple[float, float]) -> Array:
    """Centres (n, 2) of boxes that want to be at ``places`` with widths and heights ``sizes`` in a picture.

    Each box is moved inside, then up or down to the nearest place that the boxes before it leave free.
    """
    half = 0.5 * np.asarray(sizes, dtype=float) + 0.5 * GAP
    low, high = half, np.maximum(np.asarray(window, dtype=float) - half, half)
    result = np.clip(np.asarray(places, dtype=float), low, high)
    if len(result) > MANY:
        return result
    for k in range(1, len(result)):
        beside = np.abs(result[:k, 0] - result[k, 0]) < half[:k, 0] + half[k, 0]
        others, reach = result[:k, 1][beside], half[:k, 1][beside] + half[k, 1]
        candidates = np.concatenate(([result[k, 1]], others + reach, others - reach))
        candidates = candidates[(candidates >= low[k, 1] - 1e-9) & (candidates <= high[k, 1] + 1e-9)]
        free = [y for y in candidates if (np.abs(others - y) >= reach - 1e-6).all()]
        if free:  # else the picture is full
            result[k, 1] = min(free, key=lambda y: abs(y - result[k, 1]))
    return result
