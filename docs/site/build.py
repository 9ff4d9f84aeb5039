"""Builds the documentation site: ``python docs/site/build.py [--quick] [--into build/site]``.

A tree of sources is prepared in which the pages of the project stand as they do here, so that their links hold, with
generated pages beside them: the reference, drawings of joints, tables, and scripts for the gallery. Sphinx then makes
pages of it that can be read from disk, without a server and without a network. ``--quick`` runs one script only.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parents[1]
sys.path.insert(0, str(TOOLS))

import doctests  # noqa: E402
import reference  # noqa: E402
import scripts  # noqa: E402
from files import put  # noqa: E402

PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
QUICK = r"first_mechanism\.py"
ALL = r".*\.py"
REDIRECT = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=docs/index.html">'
REDIRECT += '<title>mbd</title><a href="docs/index.html">mbd</a>\n'


GENERATED = {  # pages that are made by the build, by the heading of the start page under which they stand
    "Learn": {
        "/gallery/lessons/index": "The first mechanism in five minutes, and from a pendulum to a robot in six lessons",
        "/gallery/notebooks/index": "Small experiments with known answers, for lectures",
        "/gallery/examples/index": "What do whole models look like? Every example with its pictures and movies",
    },
    "Look up": {
        "/reference/index": "Every class and function, joint, integrator and channel",
    },
}


def prepare_pages(source: Path) -> None:
    """Copies of all pages, and one page for every heading of the start page under which others are listed."""
    start = (ROOT / "docs/index.md").read_text()
    sections = [section for section in re.split(r"^## ", start, flags=re.MULTILINE)[1:] if links(section)]
    titles = [section.partition("\n")[0].strip() for section in sections]
    for path in [*(ROOT / name for name in PAGES), *sorted(ROOT.glob("docs/*.md"))]:
        text = re.sub(
            r"\[(?:\.\./)?([\w/]+\.md)\]\(((?:\.\./)?\1(?:#[\w-]+)?)\)", r"[](\2)", path.read_text()
        )  # titles, not files
        text = re.sub(r"\]\((?:docs/)?(lessons|notebooks)/(\w+)\.py\)", r"](/gallery/\1/\2.rst)", text)
        if path.name == "index.md":
            text = start_page(text) + toctree([f"/{page_of(title)}" for title in titles])
        put(source / path.relative_to(ROOT), text)
    for title, section in zip(titles, sections, strict=True):
        put(source / f"{page_of(title)}.md", section_page(title, section))
    for picture in sorted(ROOT.glob("docs/images/*")):
        put(source / picture.relative_to(ROOT), picture.read_bytes())
    for copy in source.glob("docs/*.md"):
        if not (ROOT / "docs" / copy.name).exists():
            copy.unlink()


def start_page(text: str) -> str:
    """The start page with the pages of the build in its tables, without what is for readers of the repository."""
    text = re.sub(r"^The site with gallery.*?\n\n", "", text, flags=re.MULTILINE | re.DOTALL)
    for title, made in GENERATED.items():
        rows = "".join(f"| [](<{page}>) | {what} |\n" for page, what in made.items())
        text = re.sub(rf"(^## {title}\n\n\|.*\n\|.*\n)", rf"\1{rows}", text, flags=re.MULTILINE)
    return text


def links(section: str) -> list[str]:
    """Pages to which the tables of a section lead, as Sphinx names them."""
    found = re.findall(r"^\| \[.*?\]\(([\w./]+)\.md\)", section, re.MULTILINE)
    return [os.path.normpath(f"/docs/{name}") for name in found]


def page_of(title: str) -> str:
    return title.lower().replace(" ", "_")


def toctree(pages: list[str]) -> str:
    listed = "\n".join(pages)
    return f"\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def section_page(title: str, section: str) -> str:
    """A page with the table of a section of the start page, pages of the build first."""
    made = GENERATED.get(title, {})
    rows = [f"| [](<{page}>) | {text} |" for page, text in made.items()]
    for name, text in re.findall(r"^\| \[.*?\]\(([\w./]+\.md)\) \| (.*) \|$", section, re.MULTILINE):
        rows.append(f"| [](<{os.path.normpath(f'/docs/{name}')}>) | {text} |")
    table = "\n".join(("| page | what it answers |", "|---|---|", *rows))
    return f"# {title}\n\n{table}\n" + toctree([*made, *links(section)])


def main() -> int:
    """Prepare the sources, run Sphinx; returns its code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="run only one of the scripts of the gallery")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "site")
    arguments = parser.parse_args()
    into = arguments.into.resolve()
    source, prepared = into / "source", into / "scripts"
    os.environ |= {
        "MBD_SITE_TOOLS": str(TOOLS),
        "MBD_SITE_SCRIPTS": str(prepared),
        "MBD_SITE_RUN": QUICK if arguments.quick else ALL,
        "MPLBACKEND": "Agg",
    }
    if arguments.quick:
        os.environ["MBD_SITE_SMALL"] = "1"  # movies
    prepare_pages(source)
    scripts.prepare(prepared, source / "gallery")
    reference.prepare(source)
    from sphinx.cmd.build import build_main

    code = build_main(
        ["-E", "-W", "--keep-going", "-q", "-b", "html", "-c", str(TOOLS), str(source), str(into / "html")]
    )
    (into / "html" / "index.html").write_text(REDIRECT)
    for complaint in doctests.check():
        print(complaint, file=sys.stderr)
        code = code or 1
    print(f"site: {into / 'html' / 'index.html'}" if code == 0 else "the site has mistakes; they are named above")
    return code


if __name__ == "__main__":
    sys.exit(main())
