"""What the pages about the code say is true of the code: files, functions, layers, who asks what."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "mbd"
PAGES = [ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))]
LONGEST_WALK = 12  # lines
MOST_MODULES = 9  # at the root of the package

# who may import whom: a layer imports from itself and from those below it
LAYERS = (
    ("compiled", "errors"), ("math", "linalg", "rotation", "elements"), ("nodes",), ("bodies", "shapes"), ("joints",),
    ("forces",), ("model",), ("system",), ("solvers", "integrators"), ("results", "io", "view"),
    ("simulation", "sensors", "citing", "study", "testing", "benchmarks"), ("cli", "__init__", "__main__"),
)  # fmt: skip
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def walks() -> dict[str, list[str]]:
    """Lines of every walk of the architecture page, by its title."""
    text = (ROOT / "docs/architecture.md").read_text()
    section = text.partition("## From a model to a solution")[2].partition("## Where the kernels are")[0]
    parts = re.split(r"^\*\*", section, flags=re.MULTILINE)[1:]
    return {part.partition("**")[0]: re.findall(r"^\d+\. .*$", part, re.MULTILINE) for part in parts}


def test_every_family_has_a_walk():
    titles = re.findall(r"^\*\*.*$", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE)
    told = " ".join(titles)
    families = (
        "GeneralizedAlpha", "RK4", "LieEM", "GonzalezEM", "LivensEM", "HamiltonianEM", "GGLEM", "Rattle", "Shake",
        "DiscreteVariational", "LivensMidpoint", "JacobiExact", "RATTLie", "BLieDF", "AdaptiveAlpha", "HEDOP5",
        "Lobatto",
    )  # fmt: skip
    assert [name for name in families if name not in told] == []


@pytest.mark.parametrize("title", walks())
def test_functions_of_a_walk_exist(title):
    lines = walks()[title]
    assert 2 < len(lines) <= LONGEST_WALK
    for line in lines:
        names, defined = re.findall(r"`(\w+)`", line), set()
        for path in re.findall(r"`([\w/]+\.py)`", line):
            defined |= {n.name for n in ast.walk(tree(PACKAGE / path)) if isinstance(n, ast.FunctionDef)}
        assert defined and [name for name in names if name not in defined] == [], line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page):
    """Paths of modules, tests and pages in backquotes."""
    found = re.findall(r"`((?:mbd/|tests/|benchmarks/|docs/|examples/)?[\w/]+\.(?:py|md|toml))`", page.read_text())
    for path in found:
        places = (ROOT / path, PACKAGE / path, *PACKAGE.rglob(f"*/{path}"), *ROOT.glob(f"tests/**/{path}"))
        assert any(place.exists() for place in places), path


def imports_of(file: Path) -> list[tuple[str, bool]]:
    """(first part of the module below the package, whether at import) of everything of ours that a module imports."""
    found: list[tuple[str, bool]] = []
    parts = file.relative_to(PACKAGE).with_suffix("").parts

    def visit(node: ast.AST, eager: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            inside = isinstance(child, (ast.FunctionDef, ast.Lambda))
            if isinstance(child, ast.ImportFrom):
                if child.level:
                    base = list(parts[: len(parts) - child.level])
                    full = [*base, *(child.module or "").split(".")] if child.module else base
                    full = [part for part in full if part]
                    targets = full[:1] or [alias.name for alias in child.names]
                elif (child.module or "").split(".")[0] == "mbd":
                    targets = child.module.split(".")[1:2] or [alias.name for alias in child.names]
                else:
                    targets = []
                found.extend((target, eager) for target in targets)
            visit(child, eager and not inside)

    visit(tree(file), True)
    return found


def test_imports_point_downwards():
    """But for those in functions by which people reach what stands above: ``solution.plot``, ``solution.save``."""
    wrong = []
    for file in modules():
        own = file.relative_to(PACKAGE).with_suffix("").parts[0]
        for target, eager in imports_of(file):
            if target in RANK and eager and RANK[target] > RANK[own]:
                wrong.append(f"{file.relative_to(ROOT)} imports {target}")
    assert wrong == []


def test_compiled_code_knows_nothing_of_the_package():
    """Not even when a function is called."""
    for file in (PACKAGE / "compiled").rglob("*.py"):
        others = {target for target, _ in imports_of(file) if target != "compiled"}
        assert others == set(), file.name


def test_only_the_door_of_compiled_code_is_used():
    """Machinery of the compiler is named inside of ``compiled`` only, but for the command line and the tests of it."""
    hidden = ("compile", "native", "cache", "cache_files", "intrinsics", "record_types", "callers", "public", "lifting")
    for file in modules():
        parts = file.relative_to(PACKAGE).parts
        if parts[0] in ("compiled", "testing", "cli.py"):
            continue
        text = file.read_text()
        named = [name for name in hidden if re.search(rf"compiled(\.functions)?\.{name}\b", text)]
        assert named == [], file.relative_to(ROOT)


def test_integrators_do_not_ask_for_the_form_of_a_node():
    """But for the one file whose task that is."""
    for file in (PACKAGE / "integrators").rglob("*.py"):
        if file.name == "traits.py":
            continue
        asked = [
            node
            for node in ast.walk(tree(file))
            if (isinstance(node, ast.Attribute) and node.attr == "form")
            or (isinstance(node, ast.Name) and node.id.startswith("FORM_"))
            or (isinstance(node, ast.alias) and node.name.startswith("FORM_"))
            or (isinstance(node, ast.Constant) and node.value == "form")
        ]
        assert asked == [], f"{file.relative_to(ROOT)}, line {asked[0].lineno}"


def test_newton_and_the_time_loop_exist_once():
    """No family of implicit methods iterates, or goes through steps, on its own."""
    families = ("alpha", "energy_momentum", "ggl", "stormer", "variational", "directors")
    for family in families:
        for file in (PACKAGE / "integrators" / family).glob("*.py"):
            for node in ast.walk(tree(file)):
                if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                    assert node.target.id not in ("iteration", "step", "attempt"), f"{file.name}, line {node.lineno}"


def test_root_of_the_package_is_small():
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_MODULES


def test_tests_mirror_the_package():
    """Every folder of the package with modules of its own has a folder of tests."""
    without = {"testing"}  # checks that other tests run
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir() and list(path.glob("*.py"))} - without
    assert sorted(name for name in folders if not (ROOT / "tests" / name).is_dir()) == []
