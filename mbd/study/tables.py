"""A table of texts: for the terminal, as CSV or as LaTeX."""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import ModelError
from ..io.files import write_text

ESCAPES = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}"}


@dataclass(frozen=True)
class Table:
    """Column heads and rows of texts."""

    head: list[str]
    rows: list[list[str]]

    def __str__(self) -> str:
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table as RichTable

        table = RichTable()
        told = [k for k, name in enumerate(self.head) if name or any(row[k] for row in self.rows)]
        for k in told:
            table.add_column(escape(self.head[k]), overflow="fold")
        for row in self.rows:
            table.add_row(*(escape(row[k]) for k in told))
        console = Console(width=200, file=io.StringIO(), color_system=None)
        console.print(table)
        return console.file.getvalue()  # type: ignore[attr-defined]

    def csv(self) -> str:
        """Comma-separated values."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([self.head, *self.rows])
        return out.getvalue()

    def latex(self) -> str:
        """A tabular environment."""

        def line(row: list[str]) -> str:
            return " & ".join("".join(ESCAPES.get(c, c) for c in cell) for cell in row) + r" \\"

        columns = "l" * len(self.head)
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", line(self.head), r"\hline"]
        lines += [*(line(row) for row in self.rows), r"\hline", r"\end{tabular}", ""]
        return "\n".join(lines)

    def write(self, path: str | os.PathLike[str] | None, format: str | None = None) -> None:
        """Write to a file, or print where there is none."""
        kind = format or {".csv": "csv", ".tex": "latex"}.get(Path(path or "").suffix, "text")
        if kind not in ("text", "csv", "latex"):
            raise ModelError(f"table: format is {kind!r}; expected 'text', 'csv' or 'latex'")
        text = self.csv() if kind == "csv" else self.latex() if kind == "latex" else str(self)
        if path is None:
            print(text)
        else:
            write_text(path, text)
