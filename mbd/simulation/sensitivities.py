"""Runs with sensitivities: how a motion changes with parameters of its model, computed along with it."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from .. import integrators
from ..compiled.interrupts import Interrupts
from ..elements.arguments import Held
from ..elements.parameter_table import names_of
from ..elements.values import Parameter
from ..errors import IncompatibleError, MbdError, ModelError
from ..forces import JointLimit
from ..integrators.base import Integrator
from ..integrators.followed import Followed
from ..io.notes import note
from ..io.progress import Progress
from ..model import Model
from ..results.sensitivity import Sensitivities, Sensitivity
from ..results.solution import Solution
from ..system.system import assemble
from ..system.tables import FLAG_REDUNDANT
from .lost_effects import warn_of_lost_effects
from .memory import check_room
from .neighbours import Neighbours, Starts
from .recording import Recording
from .simulation import _equal_steps, simulate
from .starting import (
    check_resolution,
    check_times,
    checked_integrator,
    checked_model,
    found_start,
    steps_between_records,
)

CHUNK = 256  # steps after which Ctrl-C comes through
OTHER_WAY = "mbd.study.identify and minimize take differences of whole runs, with any method"


def sensitivities(
    model: Model, parameters: Iterable[str | Parameter], t_end: float, step: float,
    integrator: Integrator | None = None, *, t_start: float = 0.0, output_step: float | None = None,
    fixed: Held | None = None, progress: bool | None = None,
) -> Sensitivities:  # fmt: skip
    """The sensitivities of ``simulate(model, t_end, step, integrator, sensitivities=parameters, ...)``.

    >>> model = mbd.Model(gravity=(0, 0, -10.0))
    >>> mass = model.parameter("mass", 2.0)
    >>> ball = model.add(mbd.PointMass("ball", mass=mass))
    >>> push = model.add(mbd.forces.Force(ball, (4.0, 0, 0)))
    >>> found = mbd.sensitivities(model, ["mass"], t_end=1.0, step=0.01)
    >>> found.of("mass", lambda solution: solution["ball"].position[:, 0])[-1].round(6).tolist()
    -0.5
    """
    solution = simulate(
        model, t_end, step, integrator, t_start=t_start, output_step=output_step, fixed=fixed, progress=progress,
        sensitivities=parameters,
    )  # fmt: skip
    assert solution.sensitivities is not None
    return solution.sensitivities


def run_followed(
    model: Model, parameters: Iterable[str | Parameter], t_end: float, step: float, integrator: Integrator | None,
    t_start: float, output_step: float | None, fixed: Held | None, progress: bool | None, interrupts: Interrupts,
) -> tuple[Solution, float]:  # fmt: skip
    """A solution with its sensitivities, and the step that was used."""
    checked_model("simulate", model)
    integrator = checked_integrator(integrator)
    check_times("simulate", step, output_step, t_end=t_end, t_start=t_start)
    system = assemble(model)
    integrator.check(system)
    kind = _checked(integrator)
    step = float(_equal_steps(t_end - t_start, step))
    check_resolution("simulate", integrator, float(t_start), float(t_end), step, output_step)
    every, count = steps_between_records("simulate", step, output_step), round((t_end - t_start) / step)
    if count % every:
        raise ModelError(
            f"simulate: {count} steps are no multiple of the {every} between two records; expected one beside "
            "sensitivities="
        )
    neighbours = Neighbours(system, _names(parameters))
    names, sizes = neighbours.names, neighbours.sizes
    q, v, report = found_start(system, float(t_start), fixed)

    sides = neighbours.sides(Starts(integrator, kind.reads, float(t_start), step, fixed), q, v)
    pairs = [(plus.system, minus.system) for plus, minus in sides]
    for one in (system, *(one for pair in pairs for one in pair)):
        if one.tables.flags[FLAG_REDUNDANT]:
            raise IncompatibleError(f"sensitivities need constraints that are independent, and some of {model} are not")
    run = integrator.start(system, q, v, float(t_start), step, None)
    record = Recording(system, integrator, run, report, run.initial_row())
    notes = _notes(model)
    for text in notes:
        note(text)
    followed = kind(run, sides, sizes, q, count)  # type: ignore[arg-type]
    widths, rows, n = [len(x) for x in run.row()], count // every, len(names)
    check_room(
        rows + 1, 1 + sum(widths) + n * (3 * system.n_v + system.n_l), "simulate", "record less often: output_step="
    )
    out = [np.zeros((rows, width)) for width in widths]
    more = [np.zeros((n * (rows + 1), width)) for width in (system.n_v,) * 3 + (system.n_l,)]
    for x, start in zip(more, followed.first(), strict=True):
        x[:: rows + 1] = start
    made, clock = 0, time.perf_counter()

    def made_of(message: str = "") -> Solution:
        kept = made // every
        if len(record.blocks) < 2:
            t = t_start + step * every * (1 + np.arange(kept))
            if made == count and kept:
                t[-1] = t_end
            record.append(t, [x[:kept] for x in out])
        record.wall_time = time.perf_counter() - clock
        solution = record.solution(message)
        of = [
            Sensitivity(
                solution, name, float(e), neighbours.systems(i), [x[i * (rows + 1) :][: kept + 1] for x in more]
            )
            for i, (name, e) in enumerate(zip(names, sizes, strict=True))
        ]
        solution.sensitivities = Sensitivities(solution, of, followed.rounds, notes)
        return solution

    with Progress(t_start, t_end, progress, integrator.name) as bar:
        interrupts.defer = True
        try:
            while made < count:
                todo, done = min(CHUNK, count - made), made // every
                new = followed.advance(todo, every, [x[done:] for x in out], more)
                made += new
                for one in (run.evaluated, *(one for pair in pairs for one in pair)):
                    one.raise_callback_errors()
                if followed.obstacle:
                    raise _stopped(integrator, run.t, followed.obstacle)
                if new < todo:
                    made_of()
                    record.fail()
                bar.update(run.t)
                interrupts.check()
        except KeyboardInterrupt:
            record.message = f"interrupted at t = {run.t:.6g}"
            note(f"{record.message}; the solution ends there")
        except MbdError as error:
            if error.solution is None:
                error.solution = made_of(str(error))
            raise
    solution = made_of()
    if not all(np.isfinite(x).all() for x in more):
        raise ModelError(
            f"sensitivities of {model} are no longer finite; is something not differentiable, or unstable?"
        )
    if not record.message:
        solution.settle()
    moving = [i for i in range(n) if neighbours.moving[i] and neighbours.values[i] != 0.0]
    warn_of_lost_effects(solution, {names[i]: (neighbours.values[i], *pairs[i]) for i in moving})
    return solution, step


def _notes(model: Model) -> list[str]:
    """What is not smooth: where it changes its branch, derivatives are those of one side."""
    kinks = [str(x) for x in model.forces if isinstance(x, JointLimit) or getattr(x, "limit", None) is not None]
    return [
        f"sensitivities: {x} is not smooth at its limit; derivatives are those of the branch on which each step ends"
        for x in kinks
    ]


def _stopped(integrator: Integrator, t: float, why: str) -> MbdError:
    return IncompatibleError(f"sensitivities of {integrator.name} ended at t = {t:.6g}: {why}. {OTHER_WAY}")


def _names(parameters: Iterable[str | Parameter]) -> list[str]:
    names = names_of("simulate", "sensitivities", parameters)
    if not names:
        raise ModelError("simulate: sensitivities is empty; expected parameters, or their names")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ModelError(f"simulate: {twice!r} is given twice in sensitivities; expected each parameter once")
    return names


def _checked(integrator: Integrator) -> type[Followed]:
    """How the method is followed."""
    kind = integrator.followed()
    if kind is None:
        methods = [x for x in vars(integrators).values() if isinstance(x, type) and issubclass(x, Integrator)]
        known = ", ".join(sorted(x.__name__ for x in methods if x.followed() is not None))
        raise IncompatibleError(f"{integrator.name} has no sensitivities; expected one of {known}. {OTHER_WAY}")
    kind.check(integrator)
    return kind
