"""The strip of four systems in the README: ``python docs/site/systems_picture.py`` writes docs/images/systems.png."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from PIL import Image

import mbd

TARGET = Path(__file__).resolve().parents[1] / "images" / "systems.png"
SIZE = (480, 400)
SYSTEMS = {  # reference problem: (end, step, time of the picture, options of the picture)
    "heavy_top": (0.6, 1e-3, 0.35, {"reactions": True}),
    "bricard": (3.0, 5e-3, 1.3, {}),
    "puma": (1.0, 2e-3, 0.5, {"trails": True}),
    "stewart_platform": (1.0, 2e-3, 0.6, {}),
}


def picture(name: str) -> Image.Image:
    """One system, drawn off screen at twice the size."""
    t_end, step, t, options = SYSTEMS[name]
    model = getattr(mbd.benchmarks, name)().model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mbd.RedundancyWarning)  # the loop of Bricard is famous for it
        solution = mbd.simulate(model, t_end, step)
    size = (2 * SIZE[0], 2 * SIZE[1])
    image = solution.picture(t=t, size=size, **options)
    return Image.fromarray(np.asarray(image)).convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)


def main() -> Path:
    """All systems side by side."""
    strip = Image.new("RGB", (SIZE[0] * len(SYSTEMS), SIZE[1]), "white")
    for k, name in enumerate(SYSTEMS):
        strip.paste(picture(name), (k * SIZE[0], 0))
    strip.quantize(128).save(TARGET, optimize=True)
    return TARGET


if __name__ == "__main__":
    print(main())
