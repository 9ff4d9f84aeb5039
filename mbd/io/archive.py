"""Solutions as files: one .npz with all arrays, and the model as a JSON text that executes nothing when read.

Elements of the toolkit are stored attribute by attribute and restored without running their constructors, so that
nothing is rounded or resolved a second time. Joints and forces of classes that a user wrote become plain data: the
primitives or data that they returned. Python functions cannot be stored safely; their values at the records are, so
that everything can be read off a loaded solution, but simulating its model again needs ``load(path, model=model)``.
Elements that are alike are tables (``columns.py``).
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

import mbd

from ..elements.arguments import FilePath
from ..elements.settling import Late, is_own
from ..errors import ModelError, ModelWarning
from ..model import Model
from ..results.acting import settled
from ..results.events import Occurrence
from ..results.run_state import OF_MODEL, noted_state, without_model
from ..results.solution import Solution
from ..solvers.redundancy import regularise
from ..solvers.start_report import StartReport
from ..system.identity import FUNCTIONS, PYTHON, Fingerprint, contradictions, difference, fingerprint_of, identity_of
from ..system.system import System, assemble
from ..system.tables import FLAG_REDUNDANT
from .archive_checks import FORMAT, RECORDS, VERSION, check_records, read_file
from .columns import TableEncoder, without_tables
from .encoding import Decoder, MissingFunction, stored_integrator
from .files import named, replacing
from .zip_writer import write_arrays

# --- writing ------------------------------------------------------------------------------------------------------


def save(solution: Solution, path: FilePath) -> None:
    """Write a solution to one file; ``load`` reads it. The model in it has the inputs of the last record."""
    last = {name: float(x[-1]) for name, x in solution._acted.items() if len(x)}
    plain = solution.system.plain_inputs
    other = next((name for name in last if plain.get(name, last[name]) != last[name]), None)
    if other is not None:
        raise ModelError(
            f"save: input '{other}' was {last[other]:g} at the last of these records, and the model has the number "
            f"{plain[other]:g} in its place; load with the model, mbd.load(path, model=model), and save then"
        )
    with settled(solution.system, {name: x for name, x in last.items() if name in solution.system.inputs}):
        _save(solution, path)


def _save(s: Solution, path: FilePath) -> None:
    encoder = TableEncoder()
    unchanged = isinstance(s._state, Late) and s._state.waits
    if not unchanged:
        _refuse_other_numbers(s)
    model = encoder.model(s.model)
    known, acted, fingerprint = _state_of_file(s, unchanged)
    arrays = {f"state.{key}": x for key, x in known.items() if isinstance(x, np.ndarray)}
    state = {key: f"state.{key}" if f"state.{key}" in arrays else [x] for key, x in known.items()}
    arrays["numbers"] = encoder.numbers
    header = {
        "format": FORMAT,
        "version": VERSION,
        "mbd": getattr(mbd, "__version__", ""),
        "model": model,
        "integrator": encoder.integrator(s.integrator),
        "stats": encoder.value(s.stats, "stats"),
        "start": encoder.value(s.start.settled() if isinstance(s.start, StartReport) else s.start, "start"),
        "state": encoder.value(state, "state"),
        "complete": s.complete,
        "message": s.message,
        "fingerprint": fingerprint,
        "events": [{"name": x.name, "t": x.t, "direction": x.direction} for x in s.events],
        "missing": encoder.missing,
    }
    s._leave_whole()
    begins_with = {name: np.asarray(x, dtype=float).tolist() for name, x in s._begins_with.items()}
    if begins_with:
        header["begins_with"] = begins_with
    if acted:
        header["acted"] = acted
    if s.system.tables.flags[FLAG_REDUNDANT]:
        header["redundant"] = True
    arrays |= {key: getattr(s, key) for key in RECORDS}
    arrays |= {f"scheme.{name}": x for name, x in s._recorded.items()}
    arrays |= {f"inputs.{name}": x for name, x in s.inputs.items()}
    if s.turns is not None:
        arrays["turns"] = s.turns
    if s.events:
        arrays["events.q"] = np.array([x.q for x in s.events])
        arrays["events.v"] = np.array([x.v for x in s.events])
    if s.system.assembly.n_values:
        arrays["values"] = s._values
    if "_totals" in vars(s) or s._acted or (encoder.missing and s.has_own_energies) or _knows_better(s.integrator, s):
        arrays["totals"] = s._totals
    for key, x in arrays.items():
        if x.dtype.hasobject:
            raise ModelError(f"solution: {key} contains Python objects; expected numbers or texts")
    arrays["header"] = np.frombuffer(json.dumps(header, check_circular=False).encode(), dtype=np.uint8)
    with replacing(path) as draft:
        write_arrays(draft, arrays)


def _knows_better(method: Any, s: Solution) -> bool:
    """Whether a method of a user's class, of which files hold the name alone, tells the kinetic energy."""
    kind: Any = type(method)
    return not is_own(kind) and hasattr(method, "kinetic_energy") and method.kinetic_energy(s) is not None


def _state_of_file(s: Solution, unchanged: bool) -> tuple[dict[str, Any], dict[str, Any], Fingerprint | None]:
    """The numbers of the state, identity and fingerprint of what acted in the run, and the fingerprint of the model.

    Where all of the model is data, identity and fingerprint follow from the model in the file: nothing, and None. Of
    what acted the fingerprint is told where it is another one.
    """
    late = s._state
    if unchanged and isinstance(late, Late) and late.is_over is None:
        return without_model(s.system, s.integrator, late.known), {}, None
    acted = {key: s.state[key] for key in OF_MODEL if key in s.state}
    numbers = s.state | dict.fromkeys(acted)
    then: Fingerprint = acted.get("fingerprint", {})
    fingerprint = (unchanged and then) or _present_fingerprint(s)  # the same at this moment if nothing has changed
    if then == fingerprint:
        del acted["fingerprint"]
    changed = contradictions(fingerprint, then) if then and then != fingerprint else []
    if changed:
        warnings.warn(
            f"save: {s.model} was changed after the run ({', '.join(changed[:5])}); the file contains the model as it "
            "is now, with which energies and reactions will be computed",
            ModelWarning,
            stacklevel=5,
        )
    return numbers, acted, fingerprint


def _refuse_other_numbers(s: Solution) -> None:
    """A file in which the numbers of a run belong to other coordinates than before could not be read, or wrongly."""
    differs = difference(identity_of(s.model), s.system.identity, "in the run")
    if differs is not None:
        raise ModelError(
            f"save: {s.model} was changed after the run, so that its numbers mean something else: {differs}. Save "
            "before, or change a copy: model.copy()"
        )
    back = np.flatnonzero(np.diff(s.t) < 0.0)
    if len(back):
        k = int(back[0])
        raise ModelError(f"save: t = {s.t[k + 1]:.9g} follows {s.t[k]:.9g}; expected records whose times go forwards")


def _present_fingerprint(s: Solution) -> Fingerprint:
    """What acts in the model now; functions of a loaded model are missing, and known from the file alone."""
    now, known = fingerprint_of(s.model), vars(s).get("_fingerprint") or {}
    missing = {name: known[name] for name, digest in now.items() if digest is None and known.get(name) is not None}
    return now | missing | ({PYTHON: known[PYTHON]} if missing else {})


# --- reading ------------------------------------------------------------------------------------------------------


def load(path: FilePath, model: Model | None = None) -> Solution:
    """Read a solution that ``solution.save`` wrote, or the folder that ``simulate(store=...)`` writes to.

    ``model`` replaces the stored model; it is needed only to simulate a model with Python functions again.
    """
    if model is not None and not isinstance(model, Model):
        raise ModelError(f"load: model is {model!r}; expected a model, as the one of the file was built")
    if named(path).is_dir():
        from .store import load_store

        return load_store(path, model)
    try:
        _refuse_text(path)
        header, arrays = read_file(path)
    except FileNotFoundError:
        raise ModelError(f"{path}: there is no such file") from None
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:
        raise ModelError(f"{path}: cannot be read as a solution ({type(error).__name__}: {error})") from error
    try:
        return _solution(header, arrays, model)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    except Exception as error:
        raise ModelError(
            f"{path}: is damaged or no solution of mbd ({type(error).__name__}: {error}); expected a file "
            "that solution.save(...) wrote"
        ) from error


def _refuse_text(path: FilePath) -> None:
    """Say how to read a model that ``model.save`` wrote."""
    with open(path, "rb") as file:
        begin = file.read(64).lstrip()
    if begin.startswith(b"{"):
        raise ModelError("is a text as model.save(...) writes it, no solution; a model is read by mbd.Model.load(path)")


def _solution(header: dict[str, Any], arrays: dict[str, Any], model: Model | None) -> Solution:
    decoder = Decoder(header["missing"])
    stored = decoder.model(without_tables(header["model"], arrays.get("numbers", np.zeros(0))))
    if model is not None:
        last = {key.removeprefix("inputs."): float(x[-1]) for key, x in arrays.items() if key.startswith("inputs.")}
        if last:  # the stored model has the plain numbers that acted in the last step
            model = model.copy()
            model.set_parameters(last)
        _compare(stored, model, header.get("fingerprint"))
    system = _system_of(stored) if model is None else assemble(model)
    check_records(arrays)
    records = {key: arrays[key] for key in RECORDS}
    recorded = {key.removeprefix("scheme."): x for key, x in arrays.items() if key.startswith("scheme.")}
    solution = Solution(
        system,
        **records,
        turns=arrays.get("turns"),
        integrator=stored_integrator(header["integrator"], decoder, tuple(recorded)),
        stats=decoder.value(header["stats"]),
        start=decoder.value(header["start"]),
        state={k: arrays[x] if isinstance(x, str) else x[0] for k, x in decoder.value(header["state"]).items()},
        complete=header["complete"],
        message=header["message"],
        recorded=recorded,
        inputs={key.removeprefix("inputs."): x for key, x in arrays.items() if key.startswith("inputs.")},
    )
    solution.events = [
        Occurrence(**x, q=arrays["events.q"][k], v=arrays["events.v"][k])
        for k, x in enumerate(header.get("events", ()))  # older files have none
    ]
    known = header.get("begins_with", {}).items()
    solution._begins_with = {name: np.array(x, dtype=float) if isinstance(x, list) else float(x) for name, x in known}
    # older files tell it in the state, if there is one
    if header.get("redundant") or FLAG_REDUNDANT in np.ravel(solution.state.get("flags", ())):
        regularise(system)
    if header.get("fingerprint", {}) is None:  # that of the model in the file
        solution.state = noted_state(system, solution.integrator, solution.state)
    elif "acted" in header:
        solution.state |= {"fingerprint": header["fingerprint"]} | header["acted"]
    if model is None:
        # what was computed with functions that are not here any more
        vars(solution).update((f"_{key}", arrays[key]) for key in ("values", "totals") if key in arrays)
        vars(solution)["_fingerprint"] = header.get("fingerprint")
        system.plain_inputs = {name: float(x[-1]) for name, x in solution._acted.items() if len(x)}
    return solution


def _system_of(model: Model) -> System:
    """The system of a loaded model, good for looking at results even where functions are missing."""
    MissingFunction.silent = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return assemble(model)
    finally:
        MissingFunction.silent = False


def _compare(stored: Model, model: Model, fingerprint: Fingerprint | None) -> None:
    """Refuse a model whose results would not be those of the file."""
    differs = difference(identity_of(model), identity_of(stored), "in the file")
    ours, theirs = ([x.name for x in m.forces] for m in (model, stored))
    if differs is None and ours != theirs:
        differs = f"its forces are {ours} and those of the file {theirs}"
    if differs is None:
        found = contradictions(fingerprint_of(model), fingerprint_of(stored) if fingerprint is None else fingerprint)
        changed = [name for name in found if fingerprint is not None or not name.startswith(FUNCTIONS)]
        differs = f"other parameters in {', '.join(changed[:5])}" if changed else None
    if differs is not None:
        raise ModelError(f"the given {model} is not the one of the file: {differs}")
