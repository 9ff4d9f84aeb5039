"""Files are written beside and renamed: whatever happens on the way, the old file stays, and nothing else is left."""

from __future__ import annotations

import io
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import FileError


def named(path: Any) -> Path:
    """The name of a file or a folder as a path."""
    if not isinstance(path, str | os.PathLike):
        raise FileError(f"the name of the file is {path!r}; expected a text or a path")
    return Path(path)


@contextmanager
def replacing(path: str | os.PathLike[str], durable: bool = False) -> Iterator[Path]:
    """A path to write to, with the same ending, which takes the place of ``path`` when the block ends well.

    An old file goes when the new one is on the disk, not before; waiting for the disk takes longer than writing. With
    ``durable`` that holds for a new file as well.
    """
    target = Path(os.path.realpath(named(path)))  # a link stays one
    try:
        if target.is_dir():
            raise FileError(f"{path}: cannot be written, because it is a folder; expected the name of a file")
        if target.exists() and not target.is_file():  # /dev/null, a pipe
            yield target
            return
        draft = target.with_name(f".{target.stem}-{secrets.token_hex(6)}.part{target.suffix}")
        try:
            yield draft
            old = target.exists()
            if old or durable:
                with draft.open("rb+") as file:
                    os.fsync(file.fileno())
            if old:
                shutil.copymode(target, draft)
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)
    except FileError:
        raise
    except OSError as error:
        if not target.parent.is_dir():
            raise FileError(f"{path}: cannot be written, because there is no folder '{target.parent}'") from None
        reason = error.strerror or str(error)
        kept = "; the old file is unchanged" if target.is_file() else ""
        raise FileError(f"{path}: cannot be written ({reason}){kept}") from error


def save_figure(figure: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a figure of matplotlib, which is drawn before a file is begun."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=Path(path).suffix[1:].lower() or "png", **options)
    with replacing(path) as draft:
        draft.write_bytes(drawn.getvalue())


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file, or leave it as it was."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")
