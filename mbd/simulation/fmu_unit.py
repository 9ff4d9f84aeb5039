"""What runs inside of a unit for co-simulation: a ``Simulator`` behind the functions that PythonFMU calls."""

from __future__ import annotations

import atexit
import ctypes
import json
import pickle
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import SubElement

import numpy as np
from pythonfmu import DefaultExperiment, Fmi2Causality, Fmi2Initial, Fmi2Slave, Fmi2Variability, Real
from pythonfmu.enums import Fmi2Status
from pythonfmu.osutil import get_lib_extension, get_platform

import mbd

from ..errors import MbdError, ModelError
from .fmu import IDENTIFIER, MODEL, SETTINGS, columns_of
from .simulator import Simulator

STRUCTURED = re.compile(rf"{IDENTIFIER.pattern}(\.{IDENTIFIER.pattern})*")  # names of which masters make trees


class Unit(Fmi2Slave):
    """A model as a unit: inputs and parameters of the model in, channels out."""

    author = "mbd"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        resources = Path(self.resources)
        binary = f"{type(self).__name__}.{get_lib_extension()}"
        finalise_with_python(resources.parent / "binaries" / get_platform() / binary)
        settings = json.loads((resources / SETTINGS).read_text())
        with open(resources / MODEL, "rb") as file:
            model, integrator = pickle.load(file)
        self.description = f"{settings['model']}, made by mbd {settings['mbd']}, run by mbd {mbd.__version__}"
        self.simulator = Simulator(model, settings["step"], integrator, record=False)
        self.given: dict[str, float] = dict(self.simulator.system.values)
        self.start_time = 0.0
        self.initialising, self.begun, self.refusal = False, False, ""
        inputs = set(self.simulator.inputs)
        for name, value in self.given.items():
            kind = Fmi2Causality.input if name in inputs else Fmi2Causality.parameter
            changes = Fmi2Variability.continuous if name in inputs else Fmi2Variability.fixed
            initial = None if name in inputs else Fmi2Initial.exact
            self._register(name, value, partial(self._set, name), partial(self.given.__getitem__, name),
                           causality=kind, variability=changes, initial=initial)  # fmt: skip
        turning = {element.name for element in (*model.joints, *model.forces)}
        self.watched = [name for name in settings["outputs"] if name.rpartition(".")[0] in turning]
        self.default_experiment = DefaultExperiment(start_time=0.0, step_size=settings["step"])
        for name, channel, text, place, unit in columns_of(self.simulator, settings["outputs"]):
            self._register(name, None, None, partial(self._read, channel, place), causality=Fmi2Causality.output,
                           variability=Fmi2Variability.continuous, description=f"{text} [{unit}]")  # fmt: skip

    def _register(
        self, name: str, start: float | None, setter: Any, getter: Callable[[], float], **options: Any
    ) -> None:
        self.register_variable(Real(name, start=start, setter=setter, getter=getter, **options), nested=False)

    def to_xml(self, model_options: Any = None) -> Any:
        """The description of the unit; the standard wants to know which variables are computed at the start, too."""
        root = super().to_xml(model_options or {})
        names = [variable.attrib["name"] for variable in root.iter("ScalarVariable")]
        if not all(STRUCTURED.fullmatch(name) for name in names):  # "revolute 1.angle": masters refuse it otherwise
            root.set("variableNamingConvention", "flat")
        structure = root.find("ModelStructure")
        known = SubElement(structure, "InitialUnknowns")
        for output in structure.findall("Outputs/Unknown"):
            SubElement(known, "Unknown", attrib=dict(output.attrib))
        return root

    def _refuse(self, error: MbdError) -> None:
        """Tell an error, and make no step from now on.

        The binary of PythonFMU 0.7 loses references when a function raises, and ends the process some calls later;
        what ``do_step`` returns is the only safe way to say no.
        """
        self.refusal = self.refusal or str(error)
        self.log(str(error), Fmi2Status.error)

    def _set(self, name: str, value: float) -> None:
        """An input acts from the next step on; a parameter only before the start."""
        try:
            if self.begun and name not in self.simulator.inputs:
                raise ModelError(f"parameter '{name}' was set during the run; expected before the initialisation ends")
            if self.begun:
                self.simulator.inputs[name] = float(value)
            self.given[name] = float(value)
        except MbdError as error:
            self._refuse(error)

    def _read(self, channel: str, place: int) -> float:
        """A number of a channel; NaN where there is none."""
        if self.refusal:
            return np.nan
        try:
            if self.initialising:
                self._begin()
            now = self.simulator.now
            return float(np.ravel(now.channels[channel].read(now)[0])[place])
        except MbdError as error:
            self._refuse(error)
            return np.nan

    # --- what masters call ----------------------------------------------------------------------------------------

    def setup_experiment(self, start_time: float, stop_time: float | None, tolerance: float | None) -> None:
        """The start; steps are fixed, so that a tolerance has no meaning here."""
        self.start_time = float(start_time)

    def enter_initialization_mode(self) -> None:
        """From now on outputs are those of the start with the values that were set so far."""
        self.initialising = True

    def exit_initialization_mode(self) -> None:
        """Begin with the values that were set."""
        try:
            self._begin()
        except MbdError as error:
            self._refuse(error)
        self.initialising, self.begun = False, True

    def _begin(self) -> None:
        """The start at the master's time, of which drivers and functions are told, with the values that were set."""
        old = self.simulator
        if old.t != self.start_time:
            self.simulator = Simulator(old.model, old._given, old.integrator, t_start=self.start_time, record=False)
        self.simulator.reset(**self.given)

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Advance by a communication step; a step that fails is refused, and says why."""
        expected = self.simulator.t
        try:
            if self.refusal:
                raise ModelError(self.refusal)
            if not self.begun:
                raise ModelError("a step was asked for before the initialisation ended")
            if not (np.isfinite(step_size) and step_size >= 0.0):
                raise ModelError(f"a step of {step_size!r} was asked for; expected a finite one, forwards")
            if not abs(current_time - expected) <= 1e-6 * max(step_size, self.simulator._run.step):
                raise ModelError(f"the step begins at t = {current_time!r}, but the unit is at t = {expected!r}")
            self._advance(step_size)
        except MbdError as error:
            self.log(str(error), Fmi2Status.error)
            return False
        return True

    def _advance(self, duration: float) -> None:
        """Steps; nothing is recorded, so that angles, which count their turns, are looked at after every one."""
        step = self.simulator._run.step
        count = round(duration / step) if self.watched else 0
        if abs(duration / step - count) > 1e-6 or not self.watched:
            self.simulator.advance(duration)
            return
        for _ in range(count):
            self.simulator.step()
            now = self.simulator.now
            for name in self.watched:
                now.channels[name].read(now)

    def terminate(self) -> None:
        """Nothing is kept."""
        self.begun = False


def hold(names: dict[str, Any]) -> None:
    """Give the names of the module of a unit, ``globals()``, further references that are never taken back.

    The binary of PythonFMU 0.7 loads the module for every instance, and each time releases references to its names that
    it does not own: without these they would be freed while they are in use, and the process would end.
    """
    for _ in range(4):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(names))


_finalised: set[Path] = set()  # binaries that let go of Python before the process ends


def finalise_with_python(binary: Path) -> None:
    """Let a binary of PythonFMU 0.7 let go of Python together with Python, and not after its own end.

    Its global pointer to the state of the interpreter is destroyed when the process ends, and after that its function
    ``finalizePythonInterpreter`` sets it to nothing, which counts down in memory that is free: masters ended with
    "corrupted double-linked list" whenever somebody had that memory. Called while all is there it leaves nothing to do.
    """
    if binary in _finalised or not binary.is_file():
        return
    _finalised.add(binary)
    atexit.register(ctypes.CDLL(str(binary)).finalizePythonInterpreter)
