"""What machine code is named after: all modules behind it, found in import statements, and no others."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mbd.compiled import cache, imports
from mbd.compiled.imports import Sources, reachable
from mbd.compiled.kernel import JIT

FORMS = {
    "import {top}.plain.deep": ["__init__.py", "plain/__init__.py", "plain/deep.py"],
    "import os, {top}.plain as p, sys": ["__init__.py", "plain/__init__.py"],
    "import {top}.plain.deep as deep": ["__init__.py", "plain/__init__.py", "plain/deep.py"],
    "from {top} import plain": ["__init__.py", "plain/__init__.py"],
    "from {top}.plain import deep, value": ["plain/__init__.py", "plain/deep.py"],
    "from {top}.plain.deep import value as v": ["plain/deep.py"],
    "from . import sibling": ["inner/__init__.py", "inner/sibling.py"],
    "from .sibling import (\n    one,  # from .. import plain\n    two,\n)": ["inner/sibling.py"],
    "from .sibling import one, \\\n    two": ["inner/sibling.py"],
    "from .. import plain, other": ["__init__.py", "other.py", "plain/__init__.py"],
    "from ..plain.deep import value": ["plain/deep.py"],
    "from ..plain import *": ["plain/__init__.py", "plain/deep.py", "plain/folder/__init__.py"],
    "from ..plain import nothing": ["plain/__init__.py"],
    "from ..name_space import module": ["name_space/module.py"],
    "from ... import plain": [],
    "from ....plain import deep": [],
    "import {top}x.plain, numpy": [],
    "from {top}x import plain": [],
    "from {top}.missing import value": [],
    "if x:\n    from ..other import y\nelif z:\n    from .sibling import y": ["inner/sibling.py", "other.py"],
    "def f():\n    def g():\n        from ..other import y": ["other.py"],
    "class A:\n    async def f(self):\n        import {top}.other": ["__init__.py", "other.py"],
    "try:\n    from ..other import y\nexcept E:\n    from .sibling import y": ["inner/sibling.py", "other.py"],
    "try:\n    pass\nfinally:\n    from ..other import y": ["other.py"],
    "with a, b: from ..other import y": ["other.py"],
    "for i in a:\n    pass\nelse:\n    from ..other import y": ["other.py"],
    "match a:\n    case 1:\n        from ..other import y": ["other.py"],
    "x = 1; from ..other import y": ["other.py"],
    "if TYPE_CHECKING:\n    from ..other import y\n    if x:\n        from .sibling import z": [],
    "if typing.TYPE_CHECKING:\n    from ..other import y\nelse:\n    from .sibling import y": ["inner/sibling.py"],
    "if not TYPE_CHECKING:\n    from ..other import y": ["other.py"],
    "text = '''\nfrom ..other import y\n'''": [],
    "# from ..other import y": [],
    "from ..other import y as": [],  # which nobody can import
}  # fmt: skip
FILES = (
    "__init__", "other", "plain/__init__", "plain/deep", "plain/folder/__init__", "plain/folder/deepest",
    "inner/__init__", "inner/sibling", "name_space/module",
)  # fmt: skip


def package(folder: Path, **texts: str) -> Path:
    """A package of empty modules, but for those whose text is given; double underscores are slashes."""
    root = folder / "tree"
    for name in FILES:
        path = root / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name, text in texts.items():
        (root / f"{name.replace('__', '/')}.py").write_text(text)
    return root


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_import(form, tmp_path):
    root = package(tmp_path, inner__module=form.format(top="tree") + "\n")
    assert Sources(root).graph()["inner/module.py"] == FORMS[form]


def test_what_is_imported_by_what_is_imported(tmp_path):
    """Also in circles; a module counts itself, and nothing counts that is not reached."""
    root = package(
        tmp_path, inner__module="from .sibling import x", inner__sibling="from ..other import x",
        other="def f():\n    from tree.inner.module import y",
    )  # fmt: skip
    graph = Sources(root).graph()
    assert reachable(graph, "inner/module.py") == ["inner/module.py", "inner/sibling.py", "other.py"]
    assert reachable(graph, "plain/deep.py") == ["plain/deep.py"]


@pytest.fixture
def hash_of(tmp_path, monkeypatch):
    """A function that hashes a module of a package in a folder, as a new process would that keeps nothing."""

    def find(root: Path, name: str, started: float = 2e9) -> str | None:
        cache.module_hash.cache_clear()
        monkeypatch.setattr(cache, "STARTED", started)
        sources = Sources(root)
        monkeypatch.setattr(cache, "NAME", root.name)
        monkeypatch.setattr(cache, "_sources", lambda: (sources, sources.graph()))
        return cache.module_hash(name)

    yield find
    cache.module_hash.cache_clear()


def test_a_change_behind_a_module_is_noticed(tmp_path, hash_of):
    root = package(tmp_path, inner__module="from .sibling import x", inner__sibling="from ..other import x")
    before = hash_of(root, "tree.inner.module")
    assert before is not None
    (root / "plain" / "deep.py").write_text("x = 1")
    assert hash_of(root, "tree.inner.module") == before
    (root / "other.py").write_text("x = 1")
    after = hash_of(root, "tree.inner.module")
    assert after not in (None, before)
    (root / "other.py").rename(root / "inner" / "other.py")  # the same texts in other places
    (root / "inner" / "sibling.py").write_text("from .other import x")
    assert hash_of(root, "tree.inner.module") not in (None, before, after)


def test_where_an_installation_is_does_not_matter(tmp_path, hash_of):
    first = package(tmp_path / "a", inner__module="from .sibling import x")
    second = package(tmp_path / "b", inner__module="from .sibling import x")
    assert hash_of(first, "tree.inner.module") == hash_of(second, "tree.inner.module")


def test_code_of_other_packages_is_not_kept(tmp_path, hash_of):
    """It may depend on anything."""
    root = package(tmp_path)
    for name in ("numpy.linalg", "__main__", "tree.missing", "treehouse.other"):
        assert hash_of(root, name) is None
    assert hash_of(root, "tree.other") is not None and hash_of(root, "tree.plain") is not None


def test_code_of_a_changed_module_is_not_kept(tmp_path, hash_of):
    """Whoever edits a module while a program runs must not find the old code under the new text's name."""
    root = package(tmp_path, inner__module="from .sibling import x")
    changed = (root / "inner" / "sibling.py").stat().st_mtime
    for path in root.rglob("*.py"):
        os.utime(path, (changed - 10.0, changed - 10.0))
    assert hash_of(root, "tree.inner.module", changed - 1.0) is not None
    os.utime(root / "inner" / "sibling.py", (changed, changed))
    assert hash_of(root, "tree.inner.module", changed - 1.0) is None
    assert hash_of(root, "tree.other", changed - 1.0) is not None


# --- this package ---------------------------------------------------------------------------------------------------


def imported_names(path: Path) -> set[str]:
    """Full names of all modules in import statements, whether they are run or not."""
    parts = ["mbd", *path.relative_to(cache.PACKAGE).parts[:-1]]
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def test_the_compiler_needs_nothing_else_of_the_package():
    for path in (cache.PACKAGE / "compiled").rglob("*.py"):
        for name in imported_names(path):
            assert not name.startswith("mbd") or name.startswith("mbd.compiled"), f"{path} imports {name}"


def test_the_compiler_is_behind_every_kernel():
    """A change of how kernels are compiled compiles them anew."""
    graph = Sources(cache.PACKAGE).graph()
    makers = {f"compiled/{name}.py" for name in ("kernel", "compile", "native", "cache", "record", "record_types")}
    kernels = [file for file, names in graph.items() if "compiled/kernel.py" in names]
    assert len(kernels) > 50
    for file in kernels:
        assert makers <= set(reachable(graph, file)), file


def test_lazy_names_are_not_behind_kernels():
    """``mbd/__init__.py`` loads what it offers by name, which no import statement shows."""
    for path in cache.PACKAGE.rglob("*.py"):
        if "\n@kernel" in path.read_text():
            assert not {name for name in imported_names(path) if name == "mbd"}, path


def test_the_graph_of_imports_is_kept(tmp_path, monkeypatch):
    """Parsing all modules takes half a second: a second process does not."""
    monkeypatch.setattr(cache, "CACHE_ROOT", tmp_path)
    cache._sources.cache_clear()
    try:
        first = cache._sources()[1]
        cache._sources.cache_clear()
        monkeypatch.setattr(imports.ast, "parse", None)
        assert cache._sources()[1] == first
        assert len(first) > 200 and "compiled/kernel.py" in first["math/so3.py"]
    finally:
        cache._sources.cache_clear()


# --- installations without sources ----------------------------------------------------------------------------------

USE = """
import sys
import numpy as np
from mbd.compiled import cache
from mbd.math.so3 import tangent_operator

t = np.zeros(9)
tangent_operator(0.1, 0.2, 0.3, t)
print(cache.PACKAGE, 'numba' in sys.modules)
"""


@pytest.mark.own_compiler
@pytest.mark.skipif(not JIT, reason="nothing is compiled")
def test_installations_without_sources(tmp_path):
    """Code is kept for what ``.pyc`` files contain, and never taken for others; an archive keeps none and says so."""
    site = tmp_path / "site"
    shutil.copytree(cache.PACKAGE, site / "mbd", ignore=shutil.ignore_patterns("__pycache__", "_code", "view"))
    compile_all = [sys.executable, "-m", "compileall", "-q", "-b", "--invalidation-mode", "unchecked-hash", "."]
    subprocess.run(compile_all, cwd=site, check=True)
    for path in list(site.rglob("*.py")):
        path.unlink()

    def use(place: Path) -> tuple[bool, str]:
        """Whether the compiler was needed, and what was told."""
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(place)}
        found = subprocess.run(
            [sys.executable, "-c", USE], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        )
        folder, compiled = found.stdout.split()
        assert folder == str(place / "mbd")
        return compiled == "True", found.stderr

    assert use(site)[0] and not use(site)[0]
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", site)
    with open(site / "mbd" / "another.pyc", "wb") as other:
        other.write(b"something else")
    assert use(site)[0]
    for _ in range(2):
        compiled, told = use(Path(archive))
        assert compiled and "every process compiles anew" in told
