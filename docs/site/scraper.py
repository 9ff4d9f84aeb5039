"""What a script of the gallery has written becomes part of its page: pictures, movies, pages that play."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

KINDS = (".png", ".mp4", ".html")


class Outputs:
    """Shows the files that appeared, or changed, in the folder ``out`` or beside the script since the last block."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.media = out.parent.parent / "static" / "media"
        self.seen: dict[Path, int] = {path: path.stat().st_mtime_ns for path in out.parent.rglob("*")}  # earlier builds

    def __repr__(self) -> str:  # part of the settings that Sphinx compares between builds
        return "Outputs"

    def __call__(self, block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        script = Path(block_vars["src_file"])
        parts = []
        for path in self._written(script):
            if path.suffix == ".png":
                parts.append(self._picture(path, block_vars, gallery_conf))
            else:
                section = script.parent.relative_to(self.out.parent)  # the page is gallery/<section>/<script>.html
                kept = self.media / section / script.stem / path.name
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, kept)
                up = "../" * (1 + len(section.parts))
                address = f"{up}_static/media/{section.as_posix()}/{script.stem}/{path.name}"
                parts.append(self._movie(kept, address, block_vars) if path.suffix == ".mp4" else self._page(address))
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

    def _picture(self, path: Path, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
        target = Path(block_vars["image_path_iterator"].next())
        shutil.copyfile(path, target)
        name = "/" + target.relative_to(gallery_conf["src_dir"]).as_posix()
        return f".. image:: {name}\n   :alt: {path.stem.replace('_', ' ')}\n   :class: mbd-picture\n"

    def _movie(self, kept: Path, address: str, block_vars: dict[str, Any]) -> str:
        import imageio_ffmpeg

        poster = Path(block_vars["image_path_iterator"].next())  # also the thumbnail of the page
        _, seconds = imageio_ffmpeg.count_frames_and_secs(str(kept))
        command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y", "-ss", f"{0.4 * seconds:.2f}"]
        command += ["-i", str(kept), "-frames:v", "1", str(poster)]
        subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
        return _raw(f'<video class="mbd-movie" controls loop muted preload="metadata" src="{address}"></video>')

    def _page(self, address: str) -> str:
        title = Path(address).stem.replace("_", " ")
        return _raw(f'<iframe class="mbd-page" loading="lazy" title="{title}" src="{address}"></iframe>')


def _raw(html: str) -> str:
    return f".. raw:: html\n\n    {html}\n"
