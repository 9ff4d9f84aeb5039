"""The command line: ``mbd run | compare | diagnose | benchmarks | warmup``, or ``python -m mbd ...``."""

from __future__ import annotations

import argparse
import ast
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import mbd
from mbd.errors import FileError, MbdError, ModelError, ModelWarning, RedundancyWarning, check_number

BAD_INPUT = 2  # what people gave cannot be used; 1 is a run that failed, or a model with faults
ENDINGS = {
    "html": (".html", ".htm"),
    "gltf": (".glb",),
    "movie": (".mp4", ".gif", ".mkv", ".mov", ".webm"),
    "plot": (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".ps", ".tif", ".tiff", ".webp"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status: 0, 1 for a run that failed, 2 for input that cannot be used."""
    options = _parser().parse_args(arguments)
    with warnings.catch_warnings():
        for kind in (RedundancyWarning, ModelWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        warnings.showwarning = _show_warning
        try:
            _check_numbers(options)
            status = int(options.command(options) or 0)
            sys.stdout.flush()
            return status
        except BrokenPipeError:
            _forget_output()
            return _complain("the output was closed before everything was written")
        except KeyboardInterrupt:
            return _complain("interrupted", 130)
        except MbdError as error:
            if options.traceback:
                raise
            bad = isinstance(error, ModelError | FileError)
            return _complain(f"{type(error).__name__}: {error}", BAD_INPUT if bad else 1)
        except Exception as error:
            if options.traceback:
                raise
            place = traceback.extract_tb(error.__traceback__)[-1]
            return _complain(
                f"unexpected {type(error).__name__} in {Path(place.filename).name}, line {place.lineno}: {error}; "
                f"'{_called()} --traceback ...' shows more"
            )


def command() -> NoReturn:
    """The command ``mbd`` of an installation."""
    sys.exit(main())


def _called() -> str:
    """How this program was called."""
    return "mbd" if Path(sys.argv[0]).stem == "mbd" else "python -m mbd"


def _complain(sentence: str, status: int = BAD_INPUT) -> int:
    print("mbd: " + " ".join(sentence.split()), file=sys.stderr)
    return status


def _forget_output() -> None:
    """Nobody reads the output any more; without this the interpreter complains once more when it ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # no real file behind it
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115


def _check_numbers(options: argparse.Namespace) -> None:
    """Refuse numbers and targets that cannot be used before anything is computed."""
    for name in ("step", "output_step", "t_end"):
        value = getattr(options, name, None)
        if value is not None:
            check_number(value, "command line", f"--{name.replace('_', '-')}", positive=name != "t_end")
    for value in getattr(options, "steps", None) or ():
        check_number(value, "command line", "--steps", positive=True)
    if getattr(options, "processes", 1) < 1:
        raise ModelError(f"command line: --processes = {options.processes}; expected a positive whole number")
    for name in ("save", "movie", "html", "gltf", "plot", "table"):
        target = getattr(options, name, None)
        if target is None:
            continue
        path = Path(target)
        if not path.resolve().parent.is_dir():
            raise ModelError(f"--{name} {target}: there is no such directory: '{path.parent}'")
        if path.is_dir() or not path.name:
            raise ModelError(f"--{name} {target}: is a folder; expected the name of a file")
        if name in ENDINGS and path.suffix.lower() not in ENDINGS[name]:
            raise ModelError(f"--{name} {target}: expected a name that ends with {', '.join(ENDINGS[name])}")


def _number(names: dict[str, Any], name: str, default: float, path: str) -> float:
    """A number that a model file may define."""
    return check_number(names.get(name, default), path, name, positive=name == "step")


def _show_warning(message: Any, category: Any, *_: Any, **__: Any) -> None:
    print(f"mbd: {category.__name__}: {message}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, as everything here does."""

    def error(self, message: str) -> NoReturn:
        self.exit(_complain(f"{message}; '{self.prog} --help' shows what can be given"))


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=_called(), description="Modular multibody dynamics.")
    parser.add_argument("--version", action="version", version=f"mbd {mbd.__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where in the code an error comes from")
    commands = parser.add_subparsers(required=True, metavar="command")

    run = commands.add_parser("run", help="simulate a model and print a summary")
    run.add_argument(
        "file", help="a Python file with a model, model(), build() or main(), or a model.json, .urdf or MJCF .xml"
    )
    run.add_argument("--integrator", help="e.g. RK4 or 'GeneralizedAlpha(rho_inf=0.8)'")
    run.add_argument("--step", type=float, help="step size; default: the file's `step`, or 1e-3")
    run.add_argument("--t-end", type=float, help="final time; default: the file's `t_end`, or 1")
    run.add_argument("--output-step", type=float, help="record only every so often")
    run.add_argument("--save", metavar="FILE.npz", help="write the solution")
    for name, target in (("movie", "FILE.mp4"), ("html", "FILE.html"), ("gltf", "FILE.glb")):
        run.add_argument(f"--{name}", metavar=target, help=f"write the motion as {target.split('.')[1]}")
    run.add_argument("--plot", metavar="FILE.png", help="plot the energies")
    run.set_defaults(command=_run)

    compare = commands.add_parser("compare", help="many integrators, coordinates and steps on one model")
    compare.add_argument(
        "file", help="a Python file with a model, model() or build(), or a model.json, .urdf or MJCF .xml"
    )
    compare.add_argument(
        "--integrators", nargs="+", metavar="METHOD",
        help="e.g. RK4 'GeneralizedAlpha(rho_inf=0.8)', or classes that the file defines; default: the file's "
        "`integrators`, or RK4 and GeneralizedAlpha with and without stabilisation",
    )  # fmt: skip
    compare.add_argument("--steps", nargs="+", type=float, metavar="H", help="default: the file's `steps`, or 4 2 1 ms")
    compare.add_argument("--nodes", nargs="+", metavar="NODE", help="e.g. Quaternion 'Directors(lie=True)'")
    compare.add_argument("--t-end", type=float, help="final time; default: the file's `t_end`, or 1")
    compare.add_argument("--processes", type=int, default=1, help="parallel runs; with more than one, times are rough")
    compare.add_argument("--table", metavar="FILE", help="write the table as .csv, .tex or text")
    compare.add_argument("--plot", metavar="FILE.png", help="draw errors, times and drifts")
    compare.set_defaults(command=_compare)

    diagnose = commands.add_parser("diagnose", help="degrees of freedom, redundant and conflicting joints, masses")
    diagnose.add_argument(
        "file", help="a Python file with a model, model() or build(), or a model.json, .urdf or MJCF .xml"
    )
    diagnose.set_defaults(command=_diagnose)

    for command in (run, compare, diagnose):
        command.add_argument(
            "--ignore", nargs="+", default=(), metavar="PATH",
            help="what of a .urdf or an MJCF .xml may be left out although the motion will be another, e.g. tendon",
        )  # fmt: skip

    benchmarks = commands.add_parser("benchmarks", help="run the reference problems and print their errors")
    benchmarks.add_argument("names", nargs="*", help="which ones (default: all); 'list' shows them")
    benchmarks.add_argument("--integrator", help="instead of the choice of each benchmark")
    benchmarks.add_argument("--step", type=float, help="instead of the choice of each benchmark")
    benchmarks.set_defaults(command=_benchmarks)

    warmup = commands.add_parser("warmup", help="compile everything ahead of time")
    warmup.add_argument("--for", dest="level", metavar="LEVEL", help="for processors such as x86-64-v3, to be shipped")
    warmup.add_argument("--into", metavar="DIR", help="where such code goes; default: into this installation")
    warmup.add_argument("--clear", action="store_true", help="remove the compiled code of this user instead")
    warmup.set_defaults(command=_warmup)
    return parser


# --- files ----------------------------------------------------------------------------------------------------------


def load_model(path: str, ignore: Sequence[str] = ()) -> tuple[Any, dict[str, Any]]:
    """The model in a file and the other names that it defines (t_end, step, integrator ...).

    A file whose ``main()`` simulates gives its solution, or None if it returns nothing. ``ignore`` is what may be left
    out of files of other programs.
    """
    from mbd.benchmarks import Benchmark
    from mbd.model import Model
    from mbd.results.solution import Solution

    file = Path(path)
    if not file.is_file():
        raise ModelError(f"{path}: " + ("is a folder; expected a file" if file.is_dir() else "there is no such file"))
    if file.suffix == ".urdf":
        return mbd.load_urdf(file, ignore=ignore), {}
    if file.suffix in (".xml", ".mjcf"):
        return mbd.load_mjcf(file, ignore=ignore), {}
    if ignore:
        raise ModelError(f"{path}: --ignore belongs to .urdf and MJCF .xml files; leave it away")
    if file.suffix == ".json":
        return Model.load(file), {}
    if file.suffix != ".py":
        raise ModelError(f"{path}: expected a Python file, a model.json, a .urdf or an MJCF .xml")
    sys.path.insert(0, str(file.resolve().parent))
    try:
        names = runpy.run_path(str(file), run_name="mbd_model_file")
        found = names.get("model", names.get("build"))
        if callable(found):
            found = found()
        if found is None and callable(names.get("main")):
            found = names["main"]()
            if found is None:
                return None, names  # it did everything itself
    except (MbdError, BrokenPipeError):
        raise
    except Exception as error:
        raise ModelError(f"{_place(path, error)}: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    if isinstance(found, Benchmark):
        return found.model, {"t_end": found.t_end, "step": found.step, "integrator": found.integrator} | names
    if not isinstance(found, Model | Solution):
        raise ModelError(
            f"{path}: no model found; expected a variable `model`, or a function model(), build() or main() that "
            f"returns an mbd.Model" + ("" if found is None else f", not {type(found).__name__}")
        )
    return found, names


def _place(path: str, error: Exception) -> str:
    """The line of a file of the user where an error comes from."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.filename or path}, line {error.lineno}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == Path(path)]
    return f"{path}, line {lines[-1]}" if lines else path


def make_integrator(text: str, names: dict[str, Any] | None = None) -> Any:
    """An integrator from its name, with keyword arguments that are plain values.

    ``names`` are those of a model file, in which methods of one's own may be defined.
    """
    import mbd.integrators as integrators

    known = {name: getattr(integrators, name) for name in integrators.__all__}
    known = {name: x for name, x in (known | (names or {})).items() if _is_method(x)}
    return _made("integrator", text, known, "GeneralizedAlpha(rho_inf=0.8)")


def make_node(text: str) -> Any:
    """A node class, or a node as template, from its name and keyword arguments that are plain values."""
    from mbd import nodes
    from mbd.nodes.people import RigidNode

    rigid = {name: getattr(nodes, name) for name in nodes.__all__}
    rigid = {name: x for name, x in rigid.items() if isinstance(x, type) and issubclass(x, RigidNode)}
    rigid.pop("RigidNode", None)
    return _made("node", text, rigid, "Quaternion(lie=True)")


def _made(what: str, text: str, known: dict[str, Any], example: str) -> Any:
    """One of the known classes, called with the arguments in the text."""
    try:
        tree = ast.parse(text, mode="eval").body
        call = tree if isinstance(tree, ast.Call) else None
        name = ast.unparse(call.func if call else tree)
        settings = {str(k.arg): ast.literal_eval(k.value) for k in call.keywords} if call else {}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ModelError(f"{what} {text!r} cannot be read; expected e.g. '{example}'") from None
    if call is not None and call.args:
        raise ModelError(f"{what} {text!r}: expected arguments by name, such as {example}")
    if name not in known:
        raise ModelError(f"{what} {name!r} is not known; expected one of {', '.join(sorted(known))}")
    try:
        return known[name](**settings)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ModelError(f"{what} {text!r}: {error}") from None


def _is_method(cls: Any) -> bool:
    from mbd.integrators import Integrator

    return isinstance(cls, type) and issubclass(cls, Integrator) and not getattr(cls, "__abstractmethods__", None)


# --- commands -------------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    from mbd.results.solution import Solution
    from mbd.simulation.simulation import simulate

    outputs = {name: getattr(options, name) for name in ("save", "movie", "html", "gltf", "plot")}
    for name, target in outputs.items():
        if target and not hasattr(Solution, name):
            raise ModelError(f"--{name} is not available in this installation")
    model, names = load_model(options.file, options.ignore)
    if model is None or isinstance(model, Solution):
        _refuse_unheard(options, outputs if model is None else {})
        return 0 if model is None else _write(model, outputs)
    integrator = make_integrator(options.integrator, names) if options.integrator else names.get("integrator")
    step = options.step if options.step is not None else _number(names, "step", 1e-3, options.file)
    t_end = options.t_end if options.t_end is not None else _number(names, "t_end", 1.0, options.file)
    solution = simulate(model, t_end, step, integrator, output_step=options.output_step)
    return _write(solution, outputs)


def _refuse_unheard(options: argparse.Namespace, outputs: dict[str, Any]) -> None:
    """A file that has simulated already heard of none of these."""
    settings = ("integrator", "step", "t_end", "output_step")
    given = [name for name in (*settings, *outputs) if getattr(options, name) is not None]
    if given:
        raise ModelError(
            f"{options.file}: its main() simulates by itself, so that --{given[0].replace('_', '-')} would have no "
            "effect; leave it away, or let the file define `model`, or model() or build() that return one"
        )


def _compare(options: argparse.Namespace) -> int:
    from mbd.integrators import RK4, GeneralizedAlpha
    from mbd.study.compare import compare

    model, names = load_model(options.file, options.ignore)
    model = getattr(model, "model", model)  # of a solution: the one that was simulated
    if model is None:
        raise ModelError(f"{options.file}: its main() returns nothing; expected a variable `model` or build()")
    chosen = {key: names[key] for key in ("integrators", "steps") if key in names}
    for key, value in chosen.items():
        if not isinstance(value, list | tuple) or not value:
            raise ModelError(f"{options.file}: {key} = {value!r}; expected a list")
    methods = list(chosen.get("integrators", (RK4(), GeneralizedAlpha(), GeneralizedAlpha(stabilized=False))))
    if options.integrators:
        methods = [make_integrator(text, names) for text in options.integrators]
    nodes = [make_node(text) for text in options.nodes] if options.nodes else None
    steps = options.steps or chosen.get("steps", (4e-3, 2e-3, 1e-3))
    t_end = options.t_end if options.t_end is not None else _number(names, "t_end", 1.0, options.file)
    study = compare(model, methods, nodes, steps, t_end, processes=options.processes)
    print(study)
    if options.table:
        study.table(options.table)
        print(f"wrote {options.table}")
    if options.plot:
        study.plot(options.plot)
        print(f"wrote {options.plot}")
    return 0 if any(not cell.failure for cell in study.cells) else 1


def _write(solution: Any, outputs: dict[str, Any]) -> int:
    """The summary, and the files that were asked for."""
    print(solution.summary())
    for name, target in outputs.items():
        if target:
            arguments = ("energy", target) if name == "plot" else (target,)
            result = getattr(solution, name)(*arguments)
            if result is not None or name == "save":  # a movie without OpenGL has warned
                print(f"wrote {target}")
    return 0


def _diagnose(options: argparse.Namespace) -> int:
    from mbd.solvers.diagnosis import diagnose

    model = load_model(options.file, options.ignore)[0]
    if model is None:
        raise ModelError(f"{options.file}: its main() returns nothing; expected a variable `model` or build()")
    found = diagnose(getattr(model, "model", model))  # of a solution: the one that was simulated
    print(found)
    return 0 if found.ok else 1


def _benchmarks(options: argparse.Namespace) -> int:
    from mbd import benchmarks

    if options.names == ["list"]:
        for name, build in benchmarks.ALL.items():
            benchmark = build()
            print(f"{name:20s} {benchmark.title}; {benchmark.measure}")
        return 0
    unknown = [name for name in options.names if name not in benchmarks.ALL]
    if unknown:
        raise ModelError(f"benchmark {unknown[0]!r} is not known; expected one of {', '.join(benchmarks.ALL)}")
    choices = {"integrator": make_integrator(options.integrator) if options.integrator else None, "step": options.step}
    results, status = [], 0
    for name in options.names or benchmarks.ALL:
        print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
        try:
            results.append(benchmarks.run(benchmarks.ALL[name](), **choices))
            print("done", file=sys.stderr)
        except MbdError as error:
            print(f"failed: {error}", file=sys.stderr)
            status = 1
    if results:
        print(benchmarks.table(results))
    return status


def _warmup(options: argparse.Namespace) -> int:
    from mbd.compiled import warmup
    from mbd.testing.all_code import tasks

    if options.into and not options.level:
        raise ModelError("--into DIR is for code of a level of processors; expected --for as well")
    if options.clear:
        print(f"mbd: {warmup.clear()}")
        return 0
    if not options.level:
        return min(warmup.warm(tasks()), 1)
    command = [sys.executable, "-m", "mbd", "warmup"]
    try:
        return warmup.warm_for(options.level, command, Path(options.into) if options.into else None)
    except ValueError as error:
        raise ModelError(f"--for {options.level}: {error}") from None
