"""Examples in docstrings say what is true: they are run, as ``>>>`` shows them, with ``mbd`` and ``np`` imported."""

from __future__ import annotations

import doctest
import inspect
import io
from collections.abc import Iterator
from typing import Any

import numpy as np

import mbd

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def public_objects() -> Iterator[tuple[str, Any]]:
    """Everything in the reference: functions and classes of the package, and the methods of the latter."""
    found = {f"mbd.{name}": getattr(mbd, name) for name in ("rotation", *mbd._LAZY)}
    for module in mbd._MODULES:
        found |= {f"mbd.{module}.{name}": getattr(getattr(mbd, module), name) for name in getattr(mbd, module).__all__}
    seen: set[int] = set()
    for name, x in found.items():
        if id(x) not in seen and callable(x):
            seen.add(id(x))
            yield name, x
            for method, value in inspect.getmembers(x, callable) if inspect.isclass(x) else ():
                if not method.startswith("_") and id(value) not in seen:
                    seen.add(id(value))
                    yield f"{name}.{method}", value


def examples() -> dict[str, doctest.DocTest]:
    """Docstrings with examples, by the name of what they explain."""
    parser, found = doctest.DocTestParser(), {}
    for name, x in public_objects():
        text = inspect.getdoc(x) or ""
        if ">>>" in text:
            found[name] = parser.get_doctest(text, {"mbd": mbd, "np": np}, name, inspect.getsourcefile(x), 0)
    return found


def complaint(test: doctest.DocTest) -> str:
    """What an example prints instead; empty if it is right."""
    words = io.StringIO()
    doctest.DocTestRunner(verbose=False, optionflags=OPTIONS).run(test, out=words.write)
    return words.getvalue()


def check() -> list[str]:
    """Complaints about all examples; ``build.py`` asks for them."""
    return [words for test in examples().values() if (words := complaint(test))]
