"""How a run begins: arguments that are checked, a consistent start, the first state of the method."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..elements.arguments import Held
from ..errors import ModelError, bad_value
from ..integrators.alpha.methods import GeneralizedAlpha
from ..integrators.base import Array, Integrator, Run
from ..io.notes import note
from ..model import Model
from ..results.events import Event
from ..solvers.initial import consistent_start
from ..solvers.redundancy import check_redundancy
from ..system.system import System

USUAL = GeneralizedAlpha()
Number = int | float | np.number


def checked_model(owner: str, model: Any) -> Model:
    """The model; anything else is refused."""
    if not isinstance(model, Model):
        raise ModelError(f"{owner}: model is {model!r}; expected an mbd.Model")
    return model


def checked_integrator(integrator: Any) -> Integrator:
    """The integrator, or the usual one; anything else is refused."""
    integrator = USUAL if integrator is None else integrator
    if not isinstance(integrator, Integrator):
        raise ModelError(
            f"integrator is {integrator!r}; expected an object such as mbd.integrators.GeneralizedAlpha() "
            + ("(call the class)" if isinstance(integrator, type) else "")
        )
    return integrator


def checked_events(owner: str, events: Any) -> list[Event]:
    """A list of events; anything else is refused."""
    listed = [events] if isinstance(events, Event) or not isinstance(events, Iterable) else list(events)
    for event in listed:
        if not isinstance(event, Event):
            raise bad_value(owner, "events", event, "an mbd.Event, or a list of them")
    return listed


def check_times(owner: str, step: float, output_step: float | None, **others: float) -> None:
    """Refuse what is no time, or no step."""
    for name, value in {"step": step, "output_step": output_step, **others}.items():
        number = isinstance(value, Number) and not isinstance(value, bool)
        if value is None and name == "output_step":
            continue
        if value is None or not (number and math.isfinite(value)):
            raise ModelError(f"{owner}: {name} is {value!r}; expected a finite number")
    if step <= 0.0 or (output_step is not None and output_step <= 0.0):
        raise ModelError(f"{owner}: step is {step}, output_step is {output_step}; expected positive numbers")


def check_resolution(
    owner: str, integrator: Integrator, t_start: float, t_end: float, step: float, output_step: float | None
) -> None:
    """Refuse steps that vanish beside the time."""
    t = max(abs(t_start), abs(t_end))
    steps = {"step": step, "output_step": output_step, "max_step": getattr(integrator, "max_step", None)}
    for name, value in steps.items():
        if value is not None and value < np.spacing(t):
            raise ModelError(
                f"{owner}: {name} is {value:g}, which is lost beside t = {t:g} (t + {name} == t in double precision); "
                "expected a larger one, or times that begin at zero"
            )


def refuse_beside_start(owner: str, state: Mapping[str, Any], t_start: float, fixed: Held | None) -> None:
    """Arguments that a state leaves no room for."""
    if t_start != 0.0 and t_start != state.get("t"):
        raise ModelError(f"{owner}: t_start is {t_start}, but start= goes on from t = {state.get('t')}; leave it out")
    if fixed is not None:
        raise ModelError(f"{owner}: fixed= belongs to initial conditions, of which start= has none; leave it out")


def steps_between_records(owner: str, step: float, output_step: float | None) -> int:
    """How many steps there are from one record to the next."""
    every = 1 if output_step is None else max(1, round(output_step / step))
    if output_step is not None and abs(every * step - output_step) > 1e-6 * output_step:
        raise ModelError(f"{owner}: output_step is {output_step}; expected a multiple of the step {step:g}")
    return every


def found_start(system: System, t: float, fixed: Held | None) -> tuple[Array, Array, Any]:
    """(q, v, report) that the constraints allow, nearest to those of the model."""
    beginning = consistent_start(system, t=t, fixed=fixed)
    if beginning.report.changed:
        note(str(beginning.report))
    check_redundancy(system, beginning.q, beginning.v, float(t))
    system.forget_errors()  # of the search for a start
    return beginning.q, beginning.v, beginning.report


def first_run(
    system: System, integrator: Integrator, t: float, step: float, fixed: Held | None, earlier: Run | None = None
) -> tuple[Run, Any]:
    """A run from the initial values of the model on, and the report of what was made of them."""
    q, v, report = found_start(system, t, fixed)
    return started(system, integrator, q, v, float(t), float(step), earlier), report


def started(
    system: System, integrator: Integrator, q: Array, v: Array, t: float, step: float, earlier: Run | None
) -> Run:
    """A run that begins at (q, v): an earlier one of the same kind, which nobody needs any more, or a new one."""
    if earlier is not None and (earlier.system, earlier.origin, earlier.step) == (system, t, step):
        if getattr(earlier, "method", None) == integrator and earlier.begin_again(q, v):
            return earlier
    return integrator.start(system, q, v, t, step, None)
