"""The fifteen systems of Table 1 of Holzinger, Arnold & Gerstmayr 2024, and the Puma 560 of its section 4.4.

Each is a benchmark with reference values and laws that hold at all times (docs/benchmarks.md). The example runs them,
prints how far each is off, and writes a picture of each and a sheet of all of them to ``out/table_1/``.

    python examples/table_1.py                      # all of them
    python examples/table_1.py 8 puma --movies      # some, by number or name, with movies
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mbd

OUTPUT = Path(__file__).resolve().parent.parent / "out" / "table_1"
NAMES = [*mbd.benchmarks.TABLE_1.values(), "puma"]
NUMBERS = {name: str(number) for number, name in mbd.benchmarks.TABLE_1.items()}

# time and look of each picture; the camera shows the whole motion unless it says otherwise
SPACE = {"floor": False, "axes": False, "loads": False, "theme": "dark"}
PICTURES: dict[str, dict[str, Any]] = {
    "free-body": {**SPACE, "t": 1.2, "trails": [("body", (0, 3.55, 0)), ("body", (0, 0, 1.75))]},
    "follower-torque": {**SPACE, "t": 4.0, "trails": [("body", (1.6, 0, 0)), ("body", (0, 1.45, 0))]},
    "slider-crank": {"t": 0.35, "trails": [("crank", (0, 0, 0.08)), "rod"]},
    "A05": {"t": 1.0},
    "reaction-wheels": {**SPACE, "t": 1.0, "camera": ((2.6, 1.9, 1.7), (0.0, -0.25, 0.0))},
    "quadrotors": {"t": 1.2, "loads": False},
    "manipulator": {**SPACE, "t": 2.0},
    "floating-bodies": {**SPACE, "t": 2.0, "follow": "bar 2"},
    "dual-spin": {**SPACE, "t": 3.0},
    "three-bodies": {**SPACE, "t": 2.0, "follow": "body 2"},
    "puma": {"t": 0.35, "camera": ((1.0, -2.5, 0.55), (0.05, -0.05, -0.05)), "axes": False},
}


def main(
    names: list[str] | None = None, directory: Path | None = OUTPUT, size: tuple[int, int] = (960, 600),
    movies: bool = False,
) -> dict[str, float]:  # fmt: skip
    """Run systems by number or name, all by default; returns their errors. ``directory=None`` writes no pictures."""
    chosen = [next((n for n in NAMES if text in (n, NUMBERS.get(n))), "") for text in names or NAMES]
    if "" in chosen:
        raise SystemExit(f"{(names or [])[chosen.index('')]!r} is no system; expected 1 to 15 or {', '.join(NAMES)}")
    errors: dict[str, float] = {}
    images: dict[str, Any] = {}
    draws = directory is not None and mbd.view.can_render()
    print(f"{'nr.':>4}  {'benchmark':20}{'error':>10}{'laws':>10}  system")
    for name in chosen:
        benchmark = mbd.benchmarks.ALL[name]()
        solution = benchmark.simulate()
        errors[name] = benchmark.error(solution)
        laws = benchmark.check(solution)
        if benchmark.conservative:
            laws["energy"] = mbd.benchmarks.energy_drift(solution)
        worst = f"{max(laws.values()):.1e}" if laws else "-"
        print(f"{NUMBERS.get(name, '4.4'):>4}  {name:20}{errors[name]:10.1e}{worst:>10}  {benchmark.title}")
        if not draws:
            continue
        directory.mkdir(parents=True, exist_ok=True)
        look = PICTURES.get(name, {})
        title = f"{NUMBERS.get(name, '')} {benchmark.title}".strip()
        images[title] = solution.picture(directory / f"{name}.png", size=size, **look)
        if movies:
            mbd.view.film(solution, directory / f"{name}.mp4")
    if images:
        sheet(images, directory / "all.png")
    return errors


def sheet(images: dict[str, Any], file: Path, columns: int = 4) -> None:
    """All pictures in one, with their titles."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("no sheet of all pictures: matplotlib is not installed")
        return
    rows = -(-len(images) // columns)
    figure = Figure(figsize=(3.2 * columns, 2.3 * rows), layout="constrained")
    for axes in figure.subplots(rows, columns, squeeze=False).flat:
        axes.axis("off")
    for axes, (title, image) in zip(figure.axes, images.items(), strict=False):
        axes.imshow(image)
        axes.set_title(title, fontsize=9)
    figure.savefig(file, dpi=100)
    print(f"all pictures: {file}")


if __name__ == "__main__":
    words = sys.argv[1:]
    main([word for word in words if not word.startswith("--")], movies="--movies" in words)
