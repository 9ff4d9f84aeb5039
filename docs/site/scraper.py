"""What a script of the gallery has written becomes part of its page: pictures, movies, pages that play."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

KINDS = (".png", ".mp4", ".html")
SHARE = 0.4  # of a run: when the picture of a card is taken


class Outputs:
    """Shows the files that appeared, or changed, in the folder ``out`` or beside the script since the last block.

    The first picture of a script, which is that of its card in the gallery, is kept free for what moves: a frame of its
    first movie or page. Scripts without any have their first plot there.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.media = out.parent.parent / "static" / "media"
        self.seen: dict[Path, int] = {path: path.stat().st_mtime_ns for path in out.parent.rglob("*")}  # earlier builds
        self.cards: dict[Path, tuple[Path, bool]] = {}  # of scripts: picture, and whether it shows what moves

    def __repr__(self) -> str:  # part of the settings that Sphinx compares between builds
        return "Outputs"

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        script = Path(block_vars["src_file"])
        parts = []
        for path in self._written(script):
            if path.suffix == ".png":
                self._card(script, block_vars, path)
                parts.append(self._picture(path, block_vars, gallery_conf))
                continue
            section = script.parent.relative_to(self.out.parent)  # the page is gallery/<section>/<script>.html
            kept = self.media / section / script.stem / path.name
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)
            frame = kept.with_suffix(".png")
            if path.suffix == ".mp4" or picture_of_page(kept, frame, block_vars["example_globals"]):
                if path.suffix == ".mp4":
                    frame_of_movie(kept, frame)
                self._card(script, block_vars, frame, moves=True)
                frame.unlink()
            up = "../" * (1 + len(section.parts))
            address = f"{up}_static/media/{section.as_posix()}/{script.stem}/{path.name}"
            parts.append(_movie(address) if path.suffix == ".mp4" else _page(address))
        return "\n".join(parts)

    def _written(self, script: Path) -> list[Path]:
        """New files, in the order in which they were written."""
        found = [p for folder in (self.out, script.parent) if folder.is_dir() for p in folder.rglob("*")]
        new = []
        for path in found:
            if path.suffix in KINDS and (stamp := path.stat().st_mtime_ns) != self.seen.get(path):
                self.seen[path] = stamp
                new.append((stamp, path))
        return [path for _, path in sorted(new)]

    def _card(self, script: Path, block_vars: dict[str, Any], picture: Path, moves: bool = False) -> None:
        if script not in self.cards:
            self.cards[script] = Path(block_vars["image_path_iterator"].next()), False
        elif self.cards[script][1] or not moves:
            return
        self.cards[script] = self.cards[script][0], moves
        shutil.copyfile(picture, self.cards[script][0])

    def _picture(self, path: Path, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        target = Path(block_vars["image_path_iterator"].next())
        shutil.copyfile(path, target)
        name = "/" + target.relative_to(gallery_conf["src_dir"]).as_posix()
        return f".. image:: {name}\n   :alt: {path.stem.replace('_', ' ')}\n   :class: mbd-picture\n"


def frame_of_movie(movie: Path, frame: Path) -> None:
    """A picture from the middle of a movie."""
    import imageio_ffmpeg

    _, seconds = imageio_ffmpeg.count_frames_and_secs(str(movie))
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y", "-ss", f"{SHARE * seconds:.2f}"]
    command += ["-i", str(movie), "-frames:v", "1", str(frame)]
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True)


def picture_of_page(page: Path, frame: Path, names: dict[str, Any]) -> bool:
    """A picture of the solution that a page plays, if the script still has it: the title is the name of its model."""
    from mbd import Solution

    given = [x for value in names.values() for x in (value.values() if isinstance(value, dict) else [value])]
    title = re.search("<title>(.*?)</title>", page.read_text())
    found = [x for x in given if isinstance(x, Solution) and title is not None and x.model.name == title[1]]
    if found:
        t = found[-1].t
        found[-1].picture(frame, t=float(t[0] + SHARE * (t[-1] - t[0])), size=(800, 450))
    return frame.exists()


def _movie(address: str) -> str:
    return _raw(f'<video class="mbd-movie" controls loop muted preload="metadata" src="{address}"></video>')


def _page(address: str) -> str:
    title = Path(address).stem.replace("_", " ")
    return _raw(f'<iframe class="mbd-page" loading="lazy" title="{title}" src="{address}"></iframe>')


def _raw(html: str) -> str:
    return f".. raw:: html\n\n    {html}\n"
