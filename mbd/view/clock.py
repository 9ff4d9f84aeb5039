"""Time in views: how fast a run is played, in how many frames, and how its time is written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mbd.errors import Array, ModelError, bad_value, check_number

PLAYING = (5.0, 10.0)  # seconds that a run takes on the screen where the speed is chosen for it
ROUND = (1.0, 2.0, 5.0, 2.5)  # speeds that are easy to name, times powers of ten; the first that fits is taken
MAX_FRAMES = 20_000  # of a movie: eleven minutes at 30 frames a second
SHORT = 0.2  # seconds of playing below which a movie is over before it is seen
YEAR = 365.25 * 86400.0  # the Julian year

UNITS = (
    (1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"), (YEAR, "years"),
)  # fmt: skip
ENOUGH = {"s": 0.1, "min": 10.0, "h": 3.0, "d": 3.0, "years": 2.0}  # units of a run from which one is used; else 0.1


def check_rate(value: Any, argument: str) -> float:
    """A positive number."""
    return check_number(value, "view", argument, positive=True)


def check_speed(speed: Any, duration: float) -> float:
    """Seconds of the motion per second of playing; "auto" shows the whole run in 5 to 10 seconds."""
    if isinstance(speed, str):
        if speed != "auto":
            raise bad_value("view", "speed", speed, 'a positive number or "auto"')
        return automatic_speed(duration)
    return check_rate(speed, "speed")


def automatic_speed(duration: float) -> float:
    """A round speed that plays a run in 5 to 10 seconds; real time where there is nothing to play."""
    if not duration > 0.0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(duration / PLAYING[0]))
    fitting = [f * power for f in ROUND if PLAYING[0] <= duration / (f * power) * (1.0 + 1e-9) <= 1.001 * PLAYING[1]]
    return float(f"{fitting[0]:.6g}")


def frame_times(start: float, end: float, fps: float, speed: float = 1.0) -> Array:
    """Times of the frames of a movie: round(duration / speed * fps) + 1, both ends included."""
    return np.linspace(start, end, frame_count(start, end, fps, speed))


def frame_count(start: float, end: float, fps: float, speed: float) -> int:
    """Number of frames of a movie."""
    wanted = (end - start) / speed * fps
    if not wanted < 1e15:
        raise ModelError(f"view: {wanted:.3g} frames are more than can be counted; give a larger speed or speed='auto'")
    return max(1, round(wanted)) + 1 if end > start else 1


def check_frames(start: float, end: float, fps: float, speed: float) -> None:
    """Refuse movies that would never be finished, and say so of those that are over at once."""
    count = frame_count(start, end, fps, speed)
    advice = f"speed='auto' would play it at speed {automatic_speed(end - start):g} in 5 to 10 seconds"
    if count > MAX_FRAMES:
        raise ModelError(
            f"view: {count} frames for {duration_text(end - start)} at speed {speed:g} and {fps:g} frames a second are "
            f"more than the limit of {MAX_FRAMES}; {advice}, start and end choose a part"
        )
    if 0.0 < (end - start) / speed < SHORT:
        warnings.warn(
            f"The movie has only {count} frames, since {duration_text(end - start)} are shown at speed {speed:g}; "
            f"{advice}.",
            RuntimeWarning,
            stacklevel=4,
        )


def unit_of(span: float) -> tuple[float, str]:
    """The unit in which the times of a run of this length are written, as (seconds, name)."""
    best = UNITS[0]
    for size, name in UNITS:
        if span >= ENOUGH.get(name, 0.1) * size:
            best = (size, name)
    return best if span > 0.0 else (1.0, "s")


def digits_of(span: float) -> int:
    """Digits behind the point that tell the frames of a run apart."""
    scaled = span / unit_of(span)[0]
    return int(np.clip(2 - np.floor(np.log10(scaled)) if scaled > 0.0 else 2, 1, 6))


def time_text(t: float, start: float, end: float) -> str:
    """A time of a run with its unit: always as many digits, so that the text does not jump."""
    span = end - start
    size, name = unit_of(span)
    return f"{t / size:.{digits_of(span)}f} {name}"


def duration_text(span: float) -> str:
    """A length of time with a unit that suits it."""
    size, name = unit_of(span)
    return f"{span / size:.4g} {name}"
