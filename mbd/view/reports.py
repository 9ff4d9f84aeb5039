"""A report on one page: what the model is, what its diagnosis says, how the run went, plots and a picture."""

from __future__ import annotations

import base64
import html as escape
import io
import platform
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from mbd.elements.arguments import FilePath
from mbd.elements.suggestions import counted
from mbd.errors import MbdError
from mbd.io.files import write_text
from mbd.view.arguments import CameraPlace, Drawn, ThemeName
from mbd.view.clock import duration_text, time_text
from mbd.view.opengl import warn_if_missing
from mbd.view.pictures import check_file, picture, png_bytes
from mbd.view.plots import plot
from mbd.view.theme import Theme, colour, legible, to_hex
from mbd.view.theme import theme as find_theme

if TYPE_CHECKING:
    from mbd.results.solution import Solution

MAX_ROWS = 60
PLOT_KINDS = ("energy", "momentum", "constraints", "trajectory", "reactions")
STYLE = """
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:%(text)s;background:%(page)s;margin:0}
main{max-width:1080px;margin:0 auto;padding:30px 26px 60px}
h1,.sub,pre{overflow-wrap:anywhere}
.scroll{overflow-x:auto;margin-bottom:22px}.scroll:focus-visible{outline:3px solid %(focus)s}
caption{text-align:left;font-weight:600;padding:0 0 4px}
h1{font-size:27px;margin:0 0 2px}
h2{font-size:18px;margin:34px 0 10px;padding-bottom:5px;border-bottom:1px solid %(line)s}
.sub{color:%(muted)s;margin:0 0 20px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px}
.tile{background:%(card)s;border:1px solid %(line)s;border-radius:9px;padding:11px 14px}
.tile b{display:block;font-size:19px;font-variant-numeric:tabular-nums}.tile span{color:%(muted)s;font-size:13px}
table{border-collapse:collapse;width:100%%;font-size:13.5px;font-variant-numeric:tabular-nums}
th{text-align:left;color:%(muted)s;font-weight:600}tbody th{color:inherit;font-weight:400}
th,td{padding:5px 12px 5px 0;border-bottom:1px solid %(line)s;vertical-align:top}
pre{background:%(card)s;border:1px solid %(line)s;border-radius:9px;padding:12px 15px;font-size:13px;
white-space:pre-wrap}
figure{margin:0}img,svg{max-width:100%%;height:auto;border-radius:9px;display:block}.picture{border:1px solid %(line)s}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(460px,100%%),1fr));gap:22px;align-items:start;grid-auto-flow:dense}
figure.wide{grid-column:1/-1}footer{margin-top:38px;color:%(muted)s;font-size:12.5px}
@media (max-width:560px){main{padding:18px 14px 40px}}
@media print{main{padding:0}.plots{grid-template-columns:1fr 1fr}}
"""


def report(
    solution: Solution, file: FilePath, *, theme: ThemeName = "light", title: str | None = None,
    camera: CameraPlace = "auto", t: float | None = None, plots: tuple[str, ...] | None = None, **look: Unpack[Drawn],
) -> Path:  # fmt: skip
    """Write a report as one HTML file without any other file, and return its path.

    plots: which ones, by default all that make sense for the model. t, camera and ``look`` belong to the picture.
    """
    path = check_file(file, (".html", ".htm"))
    style = find_theme(theme)
    name = title if title is not None else solution.model.name
    sections = [
        section("Picture", _picture(solution, style, camera, t, look)),
        section("Run", tiles(solution)),
        section("Model", tables(solution)),
        section("Diagnosis", f"<pre>{escape.escape(diagnosis(solution))}</pre>"),
        section("Plots", _plots(solution, style, plots)),
    ]
    ground = colour(style.background) if style.dark else (1.0, 1.0, 1.0)
    words = {
        "text": style.text, "page": to_hex(ground), "muted": to_hex(legible(colour(style.muted), ground, 4.8)),
        "focus": to_hex(legible(colour(style.bodies[0]), ground, 3.1)),
        "line": style.grid if style.dark else "#dfe4ea", "card": style.floor if style.dark else "#f6f8fa",
    }  # fmt: skip
    span = f"t = {solution.t[0]:.6g} ... {solution.t[-1]:.6g} s, {counted(len(solution), 'record')}"
    document = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape.escape(name)}</title><style>{STYLE % words}</style></head><body><main>"
        f'<h1>{escape.escape(name)}</h1><p class="sub">{escape.escape(repr(solution.integrator))}, {span}</p>'
        f"{''.join(sections)}<footer>mbd {_version()}, Python {platform.python_version()}, "
        f"{time.strftime('%Y-%m-%d %H:%M')}</footer></main></body></html>"
    )
    write_text(path, document)
    return path


def _version() -> str:
    import mbd

    return mbd.__version__


def section(title: str, content: str) -> str:
    """A heading with what belongs to it; nothing if there is nothing."""
    name = title.lower().replace(" ", "-")
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{content}</section>' if content else ""


def _picture(solution: Solution, theme: Theme, camera: CameraPlace, t: float | None, look: Drawn) -> str:
    if not warn_if_missing("The picture of the report is"):
        return ""
    try:
        image = picture(solution, t=t, size=(1400, 640), camera=camera, theme=theme, **look)
    except MbdError as error:
        return f"<p>{escape.escape(str(error))}</p>"
    data = base64.b64encode(png_bytes(image)).decode()
    moment = solution.t[-1] if t is None else t
    when = time_text(float(moment), float(solution.t[0]), float(solution.t[-1]))
    source = f"data:image/png;base64,{data}"
    return f'<figure><img class="picture" alt="the model at t = {when}" src="{source}"></figure>'


def tiles(solution: Solution) -> str:
    """The run in numbers."""
    total = np.asarray(solution.energy.total)
    facts = [(duration_text(float(solution.t[-1] - solution.t[0])), "simulated time"), (str(len(solution)), "records")]
    names = {
        "steps": "steps", "rejected": "rejected steps", "newton_iterations": "Newton iterations",
        "factorizations": "factorisations", "wall_time": "computing time in s",
    }  # fmt: skip
    for key, words in names.items():
        if isinstance(value := solution.stats.get(key), int | float):
            facts.append((f"{value:.4g}" if isinstance(value, float) else f"{value}", words))
    facts.append((f"{np.ptp(total):.3g} J", "range of the total energy"))
    if solution.system.n_l:
        error = solution.constraint_error
        facts.append((f"{np.max(error.position):.2g}", "largest position error"))
        facts.append((f"{np.max(error.velocity):.2g}", "largest velocity error"))
    boxes = "".join(f'<div class="tile"><b>{escape.escape(a)}</b><span>{b}</span></div>' for a, b in facts)
    note = "" if solution.complete else f"<p><b>Stopped early.</b> {escape.escape(solution.message)}</p>"
    return f'<div class="tiles">{boxes}</div>{note}'


def tables(solution: Solution) -> str:
    """Bodies, joints and forces."""
    model = solution.model
    gravity = ", ".join(f"{x:g}" for x in model.gravity)
    n_q, n_v, n_l = solution.system.n_q, solution.system.n_v, solution.system.n_l
    text = f"<p>Gravity ({gravity}) m/s². {n_q} coordinates, {n_v} velocities, {n_l} constraint equations.</p>"
    bodies = [
        (b.name, type(b).__name__, type(b.node).__name__, _number(getattr(b, "mass", None)), _inertia(b))
        for b in model.bodies
    ]
    text += table(("body", "kind", "coordinates", "mass in kg", "principal moments in kg m²"), bodies)
    joints = [(j.name, j.label, ", ".join(b.name for b in j.bodies), str(j.n_equations)) for j in model.joints]
    text += table(("joint", "kind", "between", "equations"), joints)
    forces = [(f.name, f.label, ", ".join(b.name for b in f.bodies)) for f in model.forces]
    return text + table(("force", "kind", "on"), forces)


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, int | float) else "variable" if callable(value) else "matrix"


def _inertia(body: Any) -> str:
    inertia = getattr(body, "inertia", None)
    if inertia is None or not np.any(inertia):
        return ""
    return ", ".join(f"{x:.5g}" for x in np.linalg.eigvalsh(np.asarray(inertia)))


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table; long ones are cut with a note."""
    if not rows:
        return ""
    cells = "".join(f'<th scope="col">{h}</th>' for h in head)
    lines = "".join(
        f'<tr><th scope="row">{escape.escape(row[0])}</th>'
        + "".join(f"<td>{escape.escape(c)}</td>" for c in row[1:])
        + "</tr>"
        for row in rows[:MAX_ROWS]
    )
    more = f'<p class="sub">and {len(rows) - MAX_ROWS} more</p>' if len(rows) > MAX_ROWS else ""
    # a table that is wider than the screen is moved with the keyboard too
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="table: {head[0]}">'
        f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>{more}"
    )


def diagnosis(solution: Solution) -> str:
    """Degrees of freedom and redundancies, from ``mbd.diagnose`` where it can treat the model."""
    import mbd

    diagnose = getattr(mbd, "diagnose", None)
    if diagnose is not None:
        try:
            return str(diagnose(solution.model))
        except MbdError as error:
            return f"The diagnosis failed: {error}"
    system = solution.system
    q = solution.q[0]
    lines = []
    if system.n_l:
        jacobian = system.constraint_jacobian(q)
        dense = np.asarray(jacobian.todense() if hasattr(jacobian, "todense") else jacobian)
        rank = int(np.linalg.matrix_rank(dense, tol=1e-9 * max(1.0, float(np.abs(dense).max()))))
        lines.append(f"degrees of freedom at the start: {system.n_v - rank}")
        lines.append(f"constraint equations: {system.n_l}, independent: {rank}, redundant: {system.n_l - rank}")
    else:
        lines.append(f"degrees of freedom: {system.n_v}, no constraints")
    lines.append(f"closed loops: {solution.model.loops}")
    if str(solution.start or "").strip():
        lines.append(f"consistent start: {solution.start}")
    return "\n".join(lines)


def _plots(solution: Solution, theme: Theme, wanted: tuple[str, ...] | None) -> str:
    """The plots as pictures inside the page."""
    figures = []
    for what in PLOT_KINDS if wanted is None else wanted:
        try:
            figure = plot(solution, what, theme=theme, shown=False)
        except MbdError:
            if wanted is not None:
                raise
            continue  # this model has no such thing
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=130)
        data = base64.b64encode(buffer.getvalue()).decode()
        wide = ' class="wide"' if figure.get_figwidth() > 7.0 else ""
        words = escape.escape(described(figure, what), quote=True)
        figures.append(f'<figure{wide}><img alt="{words}" src="data:image/png;base64,{data}"></figure>')
    return f'<div class="plots">{"".join(figures)}</div>' if figures else ""


def described(figure: Any, what: str) -> str:
    """A plot in words: what its panels show, and from where to where."""
    panels = []
    for axes in figure.axes:
        lines = [np.asarray(line.get_ydata(), dtype=float) for line in axes.get_lines()]
        values = np.concatenate([y[np.isfinite(y)] for y in lines]) if lines else np.zeros(0)
        label = (axes.get_title(loc="left") or "").strip()
        unit = axes.get_ylabel().replace("$", "")
        if values.size and unit:
            words = f"{label}, {unit}" if label else unit
            panels.append(f"{words} from {values.min():.3g} to {values.max():.3g}")
    return f"Plot of {what}: " + "; ".join(panels[:8]) if panels else f"Plot of {what}"
