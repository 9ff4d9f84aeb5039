"""What a run leaves behind: its records, what stopped it, and the solution that is made of them."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from ..compiled.interrupts import Interrupts
from ..elements.arguments import FilePath
from ..errors import ConvergenceError, MbdError, ModelError, SingularityError
from ..integrators.base import Array, Integrator, Run
from ..io.store import RunStore
from ..joints import Rolling
from ..results.events import Event, Watch
from ..results.run_state import noted_state
from ..results.selection import Chooser, Selection
from ..results.solution import Solution, named_rows
from ..system.system import System
from ..system.tree_state import locked_angles
from .row_buffer import RowBuffer

ROUND_OFF = 1e-6  # of a step
FLAT = 0.999  # cosine of the angle between the spin axis of a rolling disk and the normal of its plane


class Recording:
    """What a run leaves behind."""

    def __init__(
        self, system: System, integrator: Integrator, run: Run, report: Any, first: list[Array],
        begins_with: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.system, self.integrator, self.run, self.report = system, integrator, run, report
        self.begins_with = begins_with or {}  # angles with their turns, and quaternions, as the runs before left them
        self.blocks: list[tuple[Array, list[Array]]] = []
        self.message, self.wall_time = "", 0.0
        self.wrong_from = math.inf  # the time of the first record at which a user function fails
        self.watch: Watch | None = None
        self.store: RunStore | None = None
        self.chooser: Chooser | None = None
        self.interrupts = Interrupts()
        self.inputs: list[tuple[float, dict[str, float]]] = []  # times after which others acted
        self.append(np.array([run.t]), [x[None, :].copy() for x in first])
        self._buffer: RowBuffer | None = None
        self.is_final = False  # there will be one solution, so that nobody else looks at records that are cut off
        self._whole: tuple[Array, list[Array]] | None = None  # before records at its end were cut off

    def append(self, t: Array, rows: list[Array]) -> None:
        self.blocks.append((t, rows))

    def room(self, rows: int) -> tuple[Array, list[Array]]:
        """Room for so many further records, which ``keep`` puts behind those that are there."""
        if self._buffer is None:
            self._buffer = RowBuffer([len(row) for row in self.run.row()])
            self._buffer.free(rows + sum(len(t) for t, _ in self.blocks))
            for t, block in self.blocks:
                for k, time in enumerate(t.tolist()):
                    self._buffer.add(time, [x[k] for x in block])
        self.blocks = []  # nobody looks at the buffer while it grows
        try:
            return self._buffer.free(rows)
        finally:
            self.blocks = [self._buffer.filled()]

    def keep(self, rows: int) -> None:
        """Keep the first rows of the room that was given last."""
        assert self._buffer is not None
        self._buffer.take(rows)
        self.blocks = [self._buffer.filled()]

    def watch_for(self, events: Event | Iterable[Event], step: float) -> None:
        """Look for events from the present state on."""
        if isinstance(events, Event) or events:
            self.watch = Watch(self.system, self.integrator, step, events)
            self.watch.known, self.watch.inputs_at = dict(self.begins_with), self.inputs_at
            first = self.blocks[0] if self.blocks else (np.array([self.run.t]), [x[None, :] for x in self.run.row()])
            self.watch.begin(*first)

    def watch_anew(self) -> None:
        """Functions of users act otherwise from now on: the next step begins with other accelerations."""
        if self.watch is None or self.watch.stopped is not None:
            return
        t, rows = np.array([self.run.t]), [x[None, :] for x in self.run.row()]
        if not self.integrator.recorded:
            q, v, _, _, turns = rows
            here = Solution(self.system, t, q, v, None, None, turns, inputs=self.inputs_at(t))
            rows = [q, v, here.vd, here.lam, turns]
        self.watch.begin_anew(t, rows)

    @property
    def _round_off(self) -> float:
        """Between times of records and of changes, which are multiples of equal steps; others are the same numbers."""
        return 0.0 if self.integrator.adaptive else ROUND_OFF * self.run.step

    def inputs_at(self, t: Array) -> dict[str, Array]:
        """Inputs of the steps that end at these times."""
        if not self.inputs:
            return {}
        changed = np.array([time for time, _ in self.inputs])
        at = np.searchsorted(changed, t - self._round_off) - 1
        table = {name: np.array([values[name] for _, values in self.inputs]) for name in self.system.inputs}
        return {name: values[np.maximum(at, 0)] for name, values in table.items()}

    def changes_between(self, t: Array) -> list[float]:
        """Times at which inputs changed between these times of records: what is read between them must know."""
        changed = np.array([time for time, _ in self.inputs[1:] if len(t) and t[0] < time < t[-1]])
        if not changed.size:
            return []
        after = np.searchsorted(t, changed)
        gap = np.minimum(np.abs(t[after] - changed), np.abs(t[after - 1] - changed))
        return changed[gap > self._round_off].tolist()

    def write_to(self, path: FilePath) -> None:
        """Write records to a folder while they are made."""
        self.store = RunStore(path, [len(row) for row in self.run.row()])
        self.store.describe(self.without_records())

    def choose(self, choice: Any, path: FilePath | None = None, system: System | None = None) -> None:
        """Record chosen quantities only, in memory or in a folder; they are read off another system if it is given."""
        row = [x[None, :].copy() for x in self.run.row()]
        first = self.blocks[0] if self.blocks else (np.array([self.run.t]), row)
        self.chooser = Chooser(system or self.system, self.integrator, *first, choice)
        self.chooser.known = dict(self.begins_with)
        if path is not None:
            self.chooser.write_to(path, self.without_records())

    def check_disk(self, count: float) -> None:
        """Refuse so many records if they do not fit on the disk; the folder is free for another attempt then."""
        holder: Any = self if self.chooser is None else self.chooser
        try:
            holder.store.check_room(count)
        except ModelError:
            shutil.rmtree(holder.store.path)
            holder.store = None
            raise

    def flush(self) -> None:
        """Hand records over to a store that grows, or to whoever wants a part of them."""
        if self.store is None and self.chooser is None:
            return
        while self.blocks:
            t, rows = self.blocks[0]
            if self.store is not None:
                self.store.append(t, rows)
            elif self.chooser is not None:
                self.chooser.take(t, rows, self.inputs_at(t))
            self.blocks, self._buffer = self.blocks[1:], None  # those that a full disk does not take stay
            if self.chooser is not None and len(t):
                self._forget_inputs(float(t[-1]))

    def _forget_inputs(self, t: float) -> None:
        """Those that no further record will ask for."""
        later = [k for k, (time, _) in enumerate(self.inputs) if time >= t]
        self.inputs = self.inputs[max(0, (later[0] if later else len(self.inputs)) - 1) :]

    def selection(self, solution: Solution) -> Selection:
        """The chosen quantities; of the solution, which has the last records, the last one is kept."""
        assert self.chooser is not None
        self.chooser.take(solution.t, solution.rows(), solution._acted)
        last = self._last_of(solution, self.chooser)
        last.state, last.events = solution.state, solution.events
        return self.chooser.selection(last, float(last.t[-1]) if len(last) else math.inf)

    def _last_of(self, solution: Solution, chooser: Chooser) -> Solution:
        """The last record as a solution, also if all of them were handed over before."""
        if len(solution) or chooser.last is None:
            return solution.part(slice(-1, None))
        t, rows = chooser.last
        return Solution(
            chooser.system, t, **named_rows(self.integrator, rows), integrator=self.integrator, stats=solution.stats,
            start=solution.start, complete=solution.complete, message=solution.message, inputs=self.inputs_at(t),
        )  # fmt: skip

    def happened(self, t: Array, rows: list[Array]) -> bool:
        """Whether an event in these new steps ends the run."""
        return self.watch is not None and self.watch.scan(t, rows)

    def finish(self) -> bool:
        """All steps are done; whether an event in the last one ends the run there."""
        if self.watch is not None:
            self.watch.finish()
        return self.watch is not None and self.watch.stopped is not None

    def _cut(self, end: float) -> None:
        """Keep the records before a time."""
        self._whole = self.blocks[0] if len(self.blocks) == 1 else None
        if end == math.inf:
            return
        count = [int(np.searchsorted(t, end)) for t, _ in self.blocks]
        self.blocks = [(t[:n], [x[:n] for x in rows]) for n, (t, rows) in zip(count, self.blocks, strict=True)]

    def _end_with(self, t: float, row: list[Array]) -> None:
        """One more record, in the place of one that was cut off, if there is one."""
        times, rows = self.blocks[-1] if self.blocks else (np.zeros(0), [])
        whole, count = self._whole, len(times)
        if not self.is_final or len(self.blocks) != 1 or whole is None or count >= len(whole[0]):
            self.append(np.array([t]), [x[None, :] for x in row])
            return
        whole[0][count] = t
        for array, x in zip(whole[1], row, strict=True):
            array[count] = x
        self.blocks = [(whole[0][: count + 1], [x[: count + 1] for x in whole[1]])]

    def joined(self) -> tuple[Array, list[Array]]:
        """All records in one block, which takes the place of the others; those of a folder are read when needed."""
        if self.store is not None and self.store.grows:
            self.flush()
            return self.store.records()
        widths = [len(row) for row in self.run.row()]
        if not self.blocks:
            self.blocks = [(np.zeros(0), [np.zeros((0, n)) for n in widths])]
        if len(self.blocks) > 1:
            t, joined = np.concatenate([block[0] for block in self.blocks]), []
            for k in range(len(widths)):
                joined.append(np.concatenate([rows[k] for _, rows in self.blocks]))
                for _, rows in self.blocks:  # released one by one
                    rows[k] = rows[k][:0]
            self.blocks = [(t, joined)]
        return self.blocks[0]

    def solution(self, message: str = "", system: System | None = None) -> Solution:
        """The records as a solution, of the system of the run or of another one of the same model."""
        message = message or self.message
        if message:
            with suppress(MbdError):  # the run ended with another error, or on Ctrl-C
                self.finish()
        stopped = self.watch.stopped if self.watch is not None and not message else None
        self._cut(self.wrong_from if stopped is None else stopped.t)
        if self.store is None:
            if stopped is not None and self.watch is not None:
                self._end_with(stopped.t, self.watch.last_row)
            t, joined = self.joined()
        else:
            last = (stopped.t, self.watch.last_row) if stopped is not None and self.watch is not None else None
            if self.store.grows:
                self.flush()
                kept = int(np.searchsorted(self.store.times(), self.wrong_from if stopped is None else stopped.t))
            else:
                kept, self.blocks = sum(len(t) for t, _ in self.blocks), []
            t, joined = self.store.finished(kept, last)
        stats = self.run.statistics() | {"wall_time": self.wall_time}
        if not self.integrator.adaptive:
            stats["step"] = self.run.step
        if between := self.changes_between(t):
            stats["inputs_changed_between_records"] = between
        state = {} if stopped or self.wrong_from < math.inf else self.run.state()
        solution = Solution(
            system or self.system, t, **named_rows(self.integrator, joined), integrator=self.integrator, stats=stats,
            start=self.report, state=noted_state(system or self.system, self.integrator, state),
            complete=not message, inputs=self.inputs_at(t),
            message=f"stopped by {stopped.name} at t = {stopped.t:.9g}" if stopped else message,
        )  # fmt: skip
        solution._begins_with = dict(self.begins_with)
        found = self.watch.found if self.watch is not None else []
        solution.events = [occurrence for occurrence in found if occurrence.t < self.wrong_from]
        if self.store is not None:
            self.store.describe(self.without_records(solution))
        return solution

    def computed(self, message: str, system: System | None = None) -> Any:
        """What an error carries: the records as a solution, or the chosen quantities."""
        if self.chooser is None:
            return self.solution(message, system)
        return self.selection(self.solution(message, self.chooser.system))

    def without_records(self, solution: Solution | None = None) -> Solution:
        """What a store has to know besides the records; before the run has ended it is marked as unfinished."""
        if solution is None:
            first, rows = self.blocks[0] if self.blocks else (np.zeros(0), [x[None, :][:0] for x in self.run.row()])
            known: Any = {"stats": {"unfinished": 1}, "start": self.report, "integrator": self.integrator}
            unfinished = Solution(self.system, first, **named_rows(self.integrator, rows), **known)
            unfinished._begins_with = dict(self.begins_with)
            return unfinished
        about = solution.part(slice(0, 1))
        about.state, about.events = solution.state, solution.events
        about.stats["records"] = len(solution)
        return about

    @property
    def has_functions(self) -> bool:
        """Whether functions of users are called, which may do something wrong."""
        return len(self.run.evaluated.assembly.callbacks) > 0

    def check_functions(self, t: Array, rows: list[Array]) -> None:
        """After steps that went well, an error of a user function counts only if it is there at a record too.

        Iterates and trial steps may lead where a function does not exist, and be given up.
        """
        if self.run.evaluated.forget_errors():
            none = np.zeros(self.system.n_v)  # no function sees accelerations or multipliers
            for time, q, v in zip(t, *rows[:2], strict=True):
                try:
                    self.system.residual(q, v, none, None, float(time))
                    self.system.constraints(q, float(time))
                except MbdError:
                    self.wrong_from = float(time)
                    raise

    def _is_flat(self, joint: Rolling) -> bool:
        z = self.system.frames(self.run.row()[0])
        axes = z[:, 3:].reshape(-1, 3, 3)
        normal = joint.axis_a @ axes[self.system.node_index(joint.body_a)]
        axis = joint.axis_b @ axes[self.system.node_index(joint.body_b)]
        return joint.is_disk and abs(float(normal @ axis)) > FLAT

    def fail(self) -> NoReturn:
        """Raise what stopped the run, with the computed part attached."""
        self.run.evaluated.raise_callback_errors()
        kind, text = self.run.failure()
        t, step = self.run.t, int(self.run.statistics()["steps"])
        if kind == "singularity":
            owner, remedy = locked_angles(self.system, text)
            message = (
                f"the Euler angles of {owner} came too close to gimbal lock at t = {t:.6g} (step {step}); use another "
                "sequence, mbd.nodes.EulerAngles(..., lie=True), mbd.nodes.RotationVector or mbd.nodes.Quaternion: "
                f"{remedy}"
            )
            raise SingularityError(message, body=text, time=t, solution=self.computed(message))
        flat = next((j for j in self.system.model.joints if isinstance(j, Rolling) and self._is_flat(j)), None)
        if flat is not None:
            message = f"the disk of {flat} fell flat at t = {t:.6g} (step {step}), where it has no contact point"
            raise SingularityError(message, body=flat.body_b.name, time=t, solution=self.computed(message))
        message = f"{self.integrator.name} stopped at t = {t:.6g} (step {step}): {text}"
        raise ConvergenceError(message, step=step, time=t, where=text, solution=self.computed(message))


def on_grid(t: Array, spacing: float, t_end: float) -> Array:
    """Which of these times are multiples of the spacing, or the end (as in ``run_adaptive``)."""
    off = np.abs(t - np.floor(t / spacing + 0.5) * spacing)
    return (off <= 1e-9 * spacing + 1e-15 * np.abs(t)) | (t >= t_end)


def thinned(t: Array, rows: list[Array], kept: Array) -> tuple[tuple[Array, list[Array]], int]:
    """Move what is kept to the front; a copy of all, and how many are kept."""
    whole, count = (t.copy(), [x.copy() for x in rows]), int(np.count_nonzero(kept))
    for x in (t, *rows):
        x[:count] = x[kept]
    return whole, count
