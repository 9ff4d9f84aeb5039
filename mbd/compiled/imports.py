"""Which modules of a package a module depends on, read off its import statements.

Every statement counts, wherever it stands: at the top, under a condition, in a function. What is under
``if TYPE_CHECKING:`` does not, as it is never run. ``import a.b.c`` makes ``a`` and ``a.b`` reachable as well;
``from a.b import c`` counts ``a.b`` and, if there is such a module, ``a.b.c``. What is imported under a name that is
only known at run time (``importlib``) is not seen: kernels and what they refer to are imported by statements.

Modules are named by their files, relative to the folder of the package, with slashes. An installation may have no
sources: what is imported from ``.pyc`` files says nothing of its statements, and all of it counts as one
(``compiled_state``).
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

Graph = dict[str, list[str]]
"""File of a module -> files that it imports."""


class Sources:
    """The modules of a package as they are on disk: their digests and the times at which they were changed."""

    def __init__(self, root: Path) -> None:
        self.root, self.name = root, root.name
        self.digests: dict[str, str] = {}
        self.changed: dict[str, float] = {}
        for folder, inner, names in os.walk(root):
            inner[:] = [name for name in inner if name != "__pycache__"]
            for path in (Path(folder, name) for name in names if name.endswith(".py")):
                file = path.relative_to(root).as_posix()
                self.digests[file] = hashlib.sha256(path.read_bytes()).hexdigest()
                self.changed[file] = path.stat().st_mtime

    @property
    def text(self) -> str:
        """All that the graph of imports depends on."""
        return "\n".join([self.name, *(f"{file} {digest}" for file, digest in sorted(self.digests.items()))])

    def compiled_state(self) -> str | None:
        """Hash of all modules of an installation without sources; None if it has no files (archive, frozen program)."""
        files = sorted(path for path in self.root.rglob("*.pyc") if path.parent.name != "__pycache__")
        if not files:
            return None
        lines = (f"{file.relative_to(self.root)} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def graph(self) -> Graph:
        """What every module imports."""
        return {file: self._imports(file) for file in sorted(self.digests)}

    def _imports(self, file: str) -> list[str]:
        try:
            tree = ast.parse((self.root / file).read_bytes())
        except SyntaxError:  # nobody can import it either
            return []
        found: set[str] = set()
        for node in _statements(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    parts = alias.name.split(".")
                    if parts[0] == self.name:
                        found.update(*(self._files(parts[1:k]) for k in range(1, len(parts) + 1)))
            elif isinstance(node, ast.ImportFrom):
                target = self._target(file, node)
                if target is not None:
                    found.update(self._files(target))
                    for alias in node.names:
                        found.update(self._inside(target) if alias.name == "*" else self._files([*target, alias.name]))
        return sorted(found)

    def _target(self, file: str, node: ast.ImportFrom) -> list[str] | None:
        """The module after ``from``, below the package; None for one of another package."""
        parts = node.module.split(".") if node.module else []
        if node.level == 0:
            return parts[1:] if parts[0] == self.name else None
        folder = file.split("/")[:-1]
        above = len(folder) - (node.level - 1)
        return [*folder[:above], *parts] if above >= 0 else None

    def _files(self, module: list[str]) -> list[str]:
        """The file of a module or of a package of modules, if there is one."""
        place = "/".join(module)
        names = (f"{place}.py", f"{place}/__init__.py") if place else ("__init__.py",)
        return [name for name in names if name in self.digests]

    def _inside(self, module: list[str]) -> Iterator[str]:
        """Files of the modules directly in a package of modules."""
        for file in self.digests:
            parts = file.removesuffix("/__init__.py").removesuffix(".py").split("/")
            if parts[:-1] == module:
                yield file


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Statements inside of one, at any depth, but for those that only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            if isinstance(child, ast.If) and _is_for_type_checkers(child.test):
                for other in child.orelse:
                    yield other
                    yield from _statements(other)
            else:
                yield from _statements(child)


def _is_for_type_checkers(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def reachable(graph: Graph, file: str) -> list[str]:
    """A module and all that it depends on, directly or not."""
    seen, todo = {file}, [file]
    while todo:
        new = [other for other in graph[todo.pop()] if other not in seen]
        seen.update(new)
        todo += new
    return sorted(seen)
