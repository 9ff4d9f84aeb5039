"""Files of the prepared tree: written only where they change, so that a second build does what is new."""

from __future__ import annotations

from pathlib import Path


def put(path: Path, content: str | bytes) -> None:
    """Write a file unless it is as it should be already."""
    data = content.encode() if isinstance(content, str) else content
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
