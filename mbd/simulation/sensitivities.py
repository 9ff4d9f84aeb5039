"""sensitivities(): how a motion changes with parameters of its model, computed along with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..compiled.entry import connect
from ..compiled.record import table_of
from ..elements.values import Parameter
from ..errors import IncompatibleError, ModelError
from ..integrators.alpha.methods import GeneralizedAlpha
from ..integrators.alpha.sensitivities import Shadow, run_with_sensitivities
from ..integrators.base import Array, Integrator
from ..integrators.fixed_step import FixedStepRun
from ..model import Model
from ..results.solution import Solution
from ..system.system import System, assemble
from ..system.tables import FLAG_CHARTS, FLAG_REDUNDANT
from .recording import Recording
from .simulation import _equal_steps
from .starting import check_resolution, check_times, checked_integrator, checked_model, found_start

SIZE = 1e-5  # of the differences, beside the parameter
CHUNK = 256  # steps
OTHER_WAY = (
    'Use GeneralizedAlpha(stabilized=False), or joint coordinates without loops: model.with_coordinates("joint"). '
    "mbd.study.identify and minimize take differences of whole runs, with any method"
)


class Sensitivities:
    """A solution, and how it changes with parameters.

    ``result.solution`` is that of ``simulate``, bit for bit. ``result.of("k", channel)`` is the derivative of anything
    that is read from a solution, at all records: ``channel`` is a function such as ``lambda s: s["tip"].position``.
    ``result.q("k")`` are derivatives of the configuration as increments (as long as velocities), ``v``, ``vd`` and
    ``lam`` those of velocities, accelerations and multipliers.
    """

    def __init__(self, solution: Solution, names: list[str], sizes: Array, pairs: list[Any], rows: list[Array]) -> None:
        self.solution, self.names = solution, names
        self._sizes, self._pairs, self._rows = sizes, pairs, rows

    def _row(self, parameter: str | Parameter, k: int) -> Array:
        return self._rows[k][:, self._index(parameter)]

    def _index(self, parameter: str | Parameter) -> int:
        name = parameter.name if isinstance(parameter, Parameter) else parameter
        if name not in self.names:
            raise ModelError(f"sensitivities with respect to {name!r} were not computed; expected one of {self.names}")
        return self.names.index(name)

    def q(self, parameter: str | Parameter) -> Array:
        """Derivatives of the configuration (n, n_v), as increments."""
        return self._row(parameter, 0)

    def v(self, parameter: str | Parameter) -> Array:
        """Derivatives of the velocities (n, n_v)."""
        return self._row(parameter, 1)

    def vd(self, parameter: str | Parameter) -> Array:
        """Derivatives of the accelerations (n, n_v)."""
        return self._row(parameter, 2)

    def lam(self, parameter: str | Parameter) -> Array:
        """Derivatives of the multipliers (n, n_l)."""
        return self._row(parameter, 3)

    def of(self, parameter: str | Parameter, channel: Callable[[Solution], Array]) -> Array:
        """The derivative of what a function reads from a solution: a central difference along the sensitivities."""
        i = self._index(parameter)
        e, found = float(self._sizes[i]), []
        for sign, system in zip((1.0, -1.0), self._pairs[i], strict=True):
            found.append(np.asarray(channel(self._moved(i, sign * e, system)), dtype=float))
        return np.asarray((found[0] - found[1]) / (2.0 * e))

    def _moved(self, i: int, e: float, system: System) -> Solution:
        """The solution moved along its sensitivities, in the system with the moved parameter."""
        s = self.solution
        dq, dv, dvd, dlam = (x[:, i] for x in self._rows)
        q = np.array([system.update(one, e * d) for one, d in zip(s.q, dq, strict=True)])
        recorded: dict[str, Any] = {"q": q, "v": s.v + e * dv, "vd": s.vd + e * dvd, "lam": s.lam + e * dlam}
        if s.turns is not None:
            recorded["turns"] = s.turns
        return Solution(system, s.t, **recorded, integrator=s.integrator)

    def __repr__(self) -> str:
        return f"<sensitivities of {self.solution.model} with respect to {', '.join(map(repr, self.names))}>"


def sensitivities(
    model: Model,
    parameters: Iterable[str | Parameter],
    t_end: float,
    step: float,
    integrator: Integrator | None = None,
    *,
    t_start: float = 0.0,
) -> Sensitivities:
    """Integrate a model together with the derivatives of its motion with respect to parameters.

    They are those of the discrete solution: what differences of whole runs tend to, without their noise. All steps are
    recorded.

    Parameters
    ----------
    parameters: of the model (``model.parameter``), or numbers of its elements ("b.mass"); anything that enters masses,
        forces, geometry or initial values.
    t_end, step, integrator, t_start: as for ``simulate``. ``GeneralizedAlpha`` without constraints, in index 3
        (``stabilized=False``), or in joint coordinates without loops; anything else is refused with a way out.

    >>> model = mbd.Model(gravity=(0, 0, -10.0))
    >>> mass = model.parameter("mass", 2.0)
    >>> ball = model.add(mbd.PointMass("ball", mass=mass))
    >>> push = model.add(mbd.forces.Force(ball, (4.0, 0, 0)))
    >>> found = mbd.sensitivities(model, ["mass"], t_end=1.0, step=0.01)
    >>> found.of("mass", lambda solution: solution["ball"].position[:, 0])[-1].round(6).tolist()
    -0.5
    """
    checked_model("sensitivities", model)
    integrator = checked_integrator(integrator)
    check_times("sensitivities", step, None, t_end=t_end, t_start=t_start)
    check_resolution("sensitivities", integrator, t_start, t_end, step, None)
    system = assemble(model)
    integrator.check(system)
    method = _checked(integrator, system)
    step = _equal_steps(t_end - t_start, step)
    given = [name.name if isinstance(name, Parameter) else name for name in parameters]
    handles = [[system.parameters([name]) for _ in range(2)] for name in given]
    values = [_number(name, handle[0].values[name]) for name, handle in zip(given, handles, strict=True)]
    sizes = np.array([SIZE * abs(x) if x != 0.0 else SIZE for x in values])
    for name, x, e, (plus, minus) in zip(given, values, sizes, handles, strict=True):
        plus.set({name: x + e})
        minus.set({name: x - e})
    pairs = [(plus.system, minus.system) for plus, minus in handles]
    q0, v0, report = found_start(system, float(t_start), None)
    if system.tables.flags[FLAG_REDUNDANT]:
        raise IncompatibleError(f"sensitivities need constraints that are independent, and some of {model} are not")
    run = method.start(system, q0, v0, float(t_start), float(step), None)
    record = Recording(system, method, run, report)
    shadow, first = _started(system, method, run, pairs, sizes, (q0, v0), float(t_start), float(step))
    count, n = round((t_end - t_start) / step), len(given)
    out = [np.zeros((count, len(x))) for x in run.row()]
    more = [np.zeros((count * n, size)) for size in (system.n_v,) * 3 + (system.n_l,)]
    e = run.equations
    for tables in (system.tables, *(x.tables for pair in pairs for x in pair)):
        connect(tables, run_with_sensitivities)
    made = 0
    for first_row in range(0, count, CHUNK):  # Ctrl-C comes through in between
        part = slice(first_row, min(count, first_row + CHUNK))
        further = slice(n * part.start, n * part.stop)
        run_with_sensitivities(
            system.tables, run.work, run.x, shadow, e.addresses, e.numbers, run.rows, part.stop - part.start,
            *(x[part] for x in out), *(x[further] for x in more),
        )  # fmt: skip
        made = run.index
        if made < part.stop:
            break
    record.append(t_start + step * (1 + np.arange(made)), [x[:made] for x in out])
    if made < count:
        record.fail()
    for one in (system, *(x for pair in pairs for x in pair)):
        one.raise_callback_errors()
    if not all(np.isfinite(x).all() for x in more):
        raise ModelError(
            f"sensitivities of {model} are no longer finite; is something not differentiable, or unstable?"
        )
    rows = [
        np.concatenate((start[None], x.reshape(count, n, x.shape[1]))) for start, x in zip(first, more, strict=True)
    ]
    return Sensitivities(record.solution(), given, sizes, pairs, rows)


def _number(name: str, x: Any) -> float:
    if np.ndim(x) != 0:
        raise ModelError(
            f"sensitivities: {name} is {x}; expected a single number. Give its components names as parameters"
        )
    return float(x)


def _checked(integrator: Any, system: System) -> GeneralizedAlpha:
    """The method, if it has sensitivities on this system."""
    if type(integrator) is not GeneralizedAlpha:
        raise IncompatibleError(f"{integrator.name} has no sensitivities; expected GeneralizedAlpha. {OTHER_WAY}")
    if integrator.stabilized and system.n_l:
        raise IncompatibleError(
            f"GeneralizedAlpha has no sensitivities in index 2 (here: {system.n_l} constraints), because its position "
            f"correction depends on the matrix itself. {OTHER_WAY}"
        )
    if integrator.newton == "modified" or not integrator.stiffness:
        raise IncompatibleError(
            "sensitivities are solved with the matrix of each step; expected newton='step' or 'full', stiffness=True"
        )
    if system.tables.flags[FLAG_CHARTS]:
        raise IncompatibleError(
            "sensitivities do not follow a change of charts of conventional rotation vectors or Euler angles; use Lie "
            "nodes or quaternions: model.with_nodes(mbd.nodes.Quaternion)"
        )
    return integrator


def _started(
    system: System, method: GeneralizedAlpha, run: FixedStepRun, pairs: list[Any], sizes: Array,
    start: tuple[Array, Array], t: float, step: float,
) -> tuple[Shadow, list[Array]]:  # fmt: skip
    """Sensitivities of the start, from starts on both sides, and what is recorded of them."""
    n, n_v, n_l, n_q = len(pairs), system.n_v, system.n_l, system.n_q
    x, found = run.x, {name: np.zeros((n, n_v)) for name in ("dq", "dv", "dvd", "da")}
    found["dlam"] = np.zeros((n, n_l))
    shown = np.zeros((n, n_v))  # velocities without the defect of the method
    works = []
    for i, (pair, e) in enumerate(zip(pairs, sizes, strict=True)):
        ends = []
        for one in pair:
            q, v, _ = found_start(one, t, None)
            if one.tables.flags[FLAG_REDUNDANT]:
                raise IncompatibleError(f"sensitivities: constraints of {system.model} are redundant beside the start")
            ends.append((method.start(one, q, v, t, step, None).x, q, v))
            works.append(one.new_work())
        plus, minus = ends
        found["dq"][i] = _increment(system, start[0], plus[1] - minus[1]) / (2.0 * e)
        shown[i] = (plus[2] - minus[2]) / (2.0 * e)
        for name, key in (("dv", "v"), ("dvd", "vd"), ("da", "a"), ("dlam", "lam")):
            found[name][i] = (getattr(plus[0], key) - getattr(minus[0], key)) / (2.0 * e)
    vectors = {name: np.zeros(n_v) for name in ("dqn", "dvn", "dvdn", "dan", "v", "vd", "y", "minus_dq")}
    rows = len(run.work.x)
    shadow = Shadow(
        **found, **vectors, dvd1=np.zeros((n, n_v)), dlam1=np.zeros((n, n_l)), size=sizes, lam=np.zeros(n_l),
        dlamn=np.zeros(n_l), q=np.zeros(n_q), residual=np.zeros(rows), rates=np.zeros(rows), turning=np.zeros(9),
        rate=1.0, tables=table_of([one.tables for pair in pairs for one in pair]), works=table_of(works),
    )  # fmt: skip
    shadow.__dict__["kept"] = works, pairs, x  # whose addresses it has
    return shadow, [found["dq"].copy(), shown, found["dvd"].copy(), found["dlam"].copy()]


def _increment(system: System, q: Array, change: Array) -> Array:
    """The increment that changes coordinates by so little."""
    columns = np.zeros((system.n_q, system.n_v))
    small = 1e-6
    for k in range(system.n_v):
        d = np.zeros(system.n_v)
        d[k] = small
        columns[:, k] = (system.update(q, d) - system.update(q, -d)) / (2.0 * small)
    return np.asarray(np.linalg.lstsq(columns, change, rcond=None)[0])
