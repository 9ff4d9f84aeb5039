"""The absorber of ``tuned_absorber.py``, searched for by Optuna, with runs through any engine.

Optuna proposes (``ask``) and learns (``tell``); ``mbd.study.sweep`` makes a generation of runs at a time. The same ten
lines serve any optimiser that can be asked. Needs ``pip install optuna``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import optuna

import mbd

sys.path.insert(0, str(Path(__file__).resolve().parent))

import tuned_absorber

OUTPUT = Path(__file__).resolve().parent.parent / "out"
RANGES = {"tuning": (0.7, 1.2), "damping": (0.05, 0.35)}


def search(optimiser: optuna.Study, generations: int, size: int = 8, executor: int | None = None) -> None:
    """Ask, run, tell."""
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
                optimiser.tell(trial, state=optuna.trial.TrialState.FAIL)


def draw(optimiser: optuna.Study, exact: dict[str, float], file: Path) -> None:
    """All trials in the order in which they were made, and the closed solution."""
    from matplotlib import pyplot as plt

    trials = optimiser.trials
    figure, axes = plt.subplots(figsize=(6, 4))
    points = axes.scatter(
        [trial.params["damping"] for trial in trials], [trial.params["tuning"] for trial in trials],
        c=[trial.number for trial in trials], s=18,
    )  # fmt: skip
    axes.plot(exact["damping"], exact["tuning"], "k+", ms=16, mew=2, label="Warburton")
    axes.set(xlabel="damping", ylabel="tuning", title="trials of Optuna")
    axes.legend()
    figure.colorbar(points, label="number of the trial")
    figure.tight_layout()
    figure.savefig(file, dpi=160)
    plt.close(figure)


def main(generations: int = 12, directory: Path | None = OUTPUT) -> optuna.Study:
    """A search with Optuna's default method. ``None`` draws nothing."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    optimiser = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    search(optimiser, generations)
    exact = tuned_absorber.warburton(tuned_absorber.RATIO)
    print("Optuna:   ", ", ".join(f"{name} = {value:.4f}" for name, value in optimiser.best_params.items()))
    print("Warburton:", ", ".join(f"{name} = {value:.4f}" for name, value in sorted(exact.items(), reverse=True)))
    if directory is not None:
        directory.mkdir(exist_ok=True)
        draw(optimiser, exact, directory / "optuna_absorber.png")
        print(f"trials: {directory / 'optuna_absorber.png'}")
    return optimiser


if __name__ == "__main__":
    main()
