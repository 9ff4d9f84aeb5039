"""The absorber of ``tuned_absorber.py``, searched for by Optuna, with runs through any engine.

Optuna proposes (``ask``) and learns (``tell``); ``mbd.study.sweep`` makes a generation of runs at a time. The same ten
lines serve any optimiser that can be asked. Needs ``pip install optuna``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import mbd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tuned_absorber

RANGES = {"tuning": (0.7, 1.2), "damping": (0.05, 0.35)}


def search(optimiser: Any, generations: int = 12, size: int = 8, executor: int | None = None) -> dict[str, float]:
    """Ask, run, tell; returns the best parameters."""
    for _ in range(generations):
        trials = [optimiser.ask() for _ in range(size)]
        points = [{name: trial.suggest_float(name, *limits) for name, limits in RANGES.items()} for trial in trials]
        study = mbd.study.sweep(
            tuned_absorber.model, points, simulate=tuned_absorber.SIMULATE, executor=executor,
            outputs={"integral": tuned_absorber.energy_of_motion},
        )  # fmt: skip
        for trial, value, status in zip(trials, study["integral"], study.status, strict=True):
            if status == "good":
                optimiser.tell(trial, float(value))
            else:
                import optuna

                optimiser.tell(trial, state=optuna.trial.TrialState.FAIL)
    return dict(optimiser.best_params)


def main() -> dict[str, float]:
    """A search with Optuna's default method."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    best = search(optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0)))
    print("Optuna:   ", ", ".join(f"{name} = {value:.4f}" for name, value in best.items()))
    exact = tuned_absorber.warburton(tuned_absorber.RATIO)
    print("Warburton:", ", ".join(f"{name} = {value:.4f}" for name, value in exact.items()))
    return best


if __name__ == "__main__":
    main()
