"""A master for units of co-simulation, in a process of its own: a unit starts Python inside of whoever runs it.

``python fmu_master.py unit.fmu case outputs ...`` steps a unit, after a step that must be refused if the case is such a
one, and prints what it found as JSON.
"""

from __future__ import annotations

import gc
import json
import math
import sys
from typing import Any

import fmpy
from fmpy.fmi2 import FMU2Slave
from fmpy.validation import validate_fmu

from mbd.simulation import fmu_unit

PERIOD, PERIODS, ATTEMPTS = 0.01, 60, 30
CASES = {"first": (1.0, 0.0, {"k": 5.0}), "second": (-2.0, 2.0, {})}  # factor of the input, start time, parameters
REFUSED = {  # begin, length
    "no whole number of steps": (0.0, 0.0105),
    "gap in time": (0.5, PERIOD),
    "no time": (math.nan, PERIOD),
    "backwards": (0.0, -PERIOD),
    "no length": (0.0, math.nan),
}


def command(name: str, period: int) -> float:
    """The input of a case in a communication step."""
    return CASES.get(name, (1.0,))[0] * math.sin(0.1 * period)


class Master:
    """A unit in FMPy, by names."""

    def __init__(
        self,
        about: Any,
        folder: str,
        name: str,
        start: float = 0.0,
        outputs: list[str] | None = None,
        ends: bool = True,
        **parameters: float,
    ) -> None:
        self.numbers = {v.name: v.valueReference for v in about.modelVariables}
        self.unit = FMU2Slave(
            guid=about.guid, unzipDirectory=folder, instanceName=name,
            modelIdentifier=about.coSimulation.modelIdentifier,
        )  # fmt: skip
        self.unit.instantiate()
        self.unit.setupExperiment(startTime=start)
        self.unit.enterInitializationMode()
        self.set(**parameters)
        self.initial = self.get(*(outputs or []))
        if ends:
            self.unit.exitInitializationMode()

    def set(self, **values: float) -> None:
        self.unit.setReal([self.numbers[name] for name in values], list(values.values()))

    def get(self, *names: str) -> list[float]:
        return list(self.unit.getReal([self.numbers[name] for name in names]))

    def close(self) -> None:
        self.unit.terminate()
        self.unit.freeInstance()


def main(path: str, case: str, outputs: list[str]) -> dict[str, Any]:
    """What a test wants to know of one case."""
    about, folder = fmpy.read_model_description(path, validate=True), fmpy.extract(path)
    variables = {v.name: (v.causality, v.variability, v.start, v.description) for v in about.modelVariables}
    _, start, values = CASES.get(case, (0.0, 0.0, {}))
    unit, other = (
        Master(about, folder, case, start, outputs, **values),
        Master(about, folder, "another at the same time"),
    )
    before = unit.get(*outputs)
    refused = stayed = False
    if case in REFUSED:
        try:
            unit.unit.doStep(*REFUSED[case])
        except Exception:
            refused = True
        stayed = unit.get(*outputs) == before
    for period in range(PERIODS):
        unit.set(u=command(case, period))
        unit.unit.doStep(start + period * PERIOD, PERIOD)
        other.unit.doStep(period * PERIOD, PERIOD)
    found = {"refused": refused, "stayed": stayed, "outputs": unit.get(*outputs), "variables": variables}
    found["initial"] = unit.initial
    found["let_go"] = [binary.name for binary in fmu_unit._finalised]
    unit.close()
    other.close()
    return found


def initialising(path: str) -> dict[str, Any]:
    """A step of a unit whose initialisation has not ended."""
    unit = Master(fmpy.read_model_description(path), fmpy.extract(path), "initialising", ends=False)
    try:
        unit.unit.doStep(0.0, PERIOD)
    except Exception:
        return {"refused": True}
    return {"refused": False}


def wrong_values(path: str, output: str) -> dict[str, Any]:
    """Many units that are given what they refuse, and what they do then; the process must survive it."""
    about, folder = fmpy.read_model_description(path), fmpy.extract(path)
    made, shown = 0, []
    for k in range(ATTEMPTS):
        unit = Master(about, folder, f"unit {k}", k=-1.0 if k % 2 else 3.0)
        if k % 2 == 0:
            unit.set(k=4.0)  # too late
        try:
            unit.unit.doStep(0.0, PERIOD)
            made += 1
        except Exception:
            shown += unit.get(output)
        unit.close()
        gc.collect()
    return {
        "made": made,
        "lost": all(map(math.isnan, shown)) and len(shown) == ATTEMPTS,
        "problems": validate_fmu(path),
    }


if __name__ == "__main__":
    if sys.argv[2] == "wrong values":
        print(json.dumps(wrong_values(sys.argv[1], sys.argv[3])), flush=True)
        sys.exit()
    if sys.argv[2] == "initialising":
        print(json.dumps(initialising(sys.argv[1])), flush=True)
        sys.exit()
    print(json.dumps(main(sys.argv[1], sys.argv[2], sys.argv[3:])), flush=True)
