"""The site in its quick form: built without a warning, and read in a browser from disk, without a network."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mbd

ROOT = Path(__file__).resolve().parents[2]
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
]  # fmt: skip
TIMEOUT = 60_000
FIRST = "gallery/lessons/lesson_0_first_mechanism.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages, built as ``make docs`` does but with one script of the gallery run."""
    pytest.importorskip("sphinx_gallery", reason="sphinx is not installed: pip install 'mbd[docs]'")
    from mbd.view import opengl

    if reason := opengl.obstacle():
        pytest.skip(reason)
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # one site for all processes of the tests
    into, verdict = base / "site", base / "site.verdict"
    try:
        into.mkdir()
    except FileExistsError:
        while not verdict.exists():
            time.sleep(0.5)
    else:
        command = [sys.executable, str(ROOT / "docs/site/build.py"), "--quick", "--into", str(into)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        words = "the build was ended from outside"
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            words = "" if done.returncode == 0 else f"{done.stdout}\n{done.stderr}"[-4000:] or str(done.returncode)
        finally:
            verdict.write_text(words)
    assert verdict.read_text() == ""
    return into / "html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("playwright", reason="playwright is not installed: pip install playwright")
    path = next((p for name in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(name))), None)
    if path is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """A page without a network; it must not say a word of complaint, nor ask for anything but files."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else complaints.append(r.url))
    yield page
    context.close()
    assert complaints == []


def test_start_page_leads_on(site: Path, visit: Any) -> None:
    visit.goto((site / "index.html").as_uri())
    visit.wait_for_url("**/docs/index.html", timeout=TIMEOUT)
    for title in ("Learn", "Solve", "Look up", "Understand"):
        assert visit.query_selector(f"nav >> text={title}") is not None, title
    visit.goto((site / "learn.html").as_uri())
    assert "First mechanism in five minutes" in visit.inner_text("body") or "Lessons" in visit.inner_text("body")


def test_search_finds_universal(site: Path, visit: Any) -> None:
    visit.goto((site / "search.html").as_uri() + "?q=Universal")
    visit.wait_for_selector("ul.search li a", timeout=TIMEOUT)
    found = [link.get_attribute("href") for link in visit.query_selector_all("ul.search li a")]
    assert any("reference/joints.html#mbd.joints.Universal" in address for address in found)


def test_equations_are_typeset(site: Path, visit: Any) -> None:
    visit.goto((site / "reference" / "joints.html").as_uri() + "#universal")
    visit.wait_for_selector("mjx-container svg", timeout=TIMEOUT)
    assert len(visit.query_selector_all("mjx-container")) == len(visit.query_selector_all(".math"))
    assert visit.query_selector("mjx-merror") is None


def test_an_embedded_page_plays(site: Path, visit: Any) -> None:
    visit.goto((site / FIRST).as_uri() + "#look")
    frame = visit.wait_for_selector("iframe.mbd-page", timeout=TIMEOUT).content_frame()
    frame.wait_for_function("window.mbd !== undefined && mbd.t > 0.02", timeout=TIMEOUT)  # it starts by itself
    first = float(frame.evaluate("mbd.t"))
    frame.wait_for_function(f"mbd.t > {first} + 0.05", timeout=TIMEOUT)
    assert visit.query_selector("video.mbd-movie") is not None
    assert "1 degree of freedom" in visit.inner_text("body")  # what the script printed


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    """Not by any tag of any page, except the pages that play, which are looked at by the tests of views."""
    pattern = re.compile(r'<(?:script|link|img|iframe|video|source)\b[^>]*\b(?:src|href)="(?:https?:)?//')
    pages = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    assert len(pages) > 60
    for page in pages:
        assert not pattern.search(page.read_text()), page


def test_everything_public_is_in_the_reference(site: Path) -> None:
    text = "".join(path.read_text() for path in (site / "reference").glob("*.html"))
    names = [f"mbd.{name}" for name in mbd._LAZY if mbd._LAZY[name] != "mbd.bodies"]
    names += [f"mbd.{module}.{name}" for module in mbd._MODULES for name in getattr(mbd, module).__all__]
    missing = [name for name in names if f'id="{name}"' not in text]
    assert missing == []


def test_classes_show_what_files_of_their_own_add_to_them(site: Path) -> None:
    """Not what many classes inherit, which would be said again for each."""
    text = "".join(path.read_text() for path in (site / "reference").glob("*.html"))
    added = ("Model.parameter", "System.mass_matrix", "System.body_slices", "Simulator.advance", "Solution.csv",
             "Solution.picture", "Solution.vd")  # fmt: skip
    assert [name for name in added if f'id="mbd.{name}"' not in text] == []
    assert 'id="mbd.Model.validate"' not in text


def test_every_joint_has_its_drawing_equations_and_results(site: Path) -> None:
    text = (site / "reference" / "joints.html").read_text()
    for name in mbd.joints.__all__:
        cls = getattr(mbd.joints, name)
        if isinstance(cls, type) and issubclass(cls, mbd.joints.Joint) and cls is not mbd.joints.Joint:
            section = text.partition(f'id="mbd.joints.{name}"')[2].partition("<section")[0]
            assert "Equations" in section and "Results" in section, name
            assert f"Free motions of {name}" in section or issubclass(
                cls, mbd.joints.Coupling | mbd.joints.UserConstraint
            ), name


def test_every_script_is_a_page(site: Path) -> None:
    for folder in ("examples", "examples/papers", "docs/lessons", "docs/notebooks"):
        for path in {*(ROOT / folder).glob("*.py")} - {ROOT / "examples/papers/sheet.py"}:
            assert (site / "gallery" / folder.removeprefix("docs/") / f"{path.stem}.html").exists(), path


def test_what_scripts_of_the_site_need_is_installed_for_it() -> None:
    """By ``pip install mbd[docs]`` alone, which is what ``make docs`` does on a fresh machine."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    wanted = [*declared["dependencies"], *(x for name in ("docs", "view", "study") for x in extras[name])]
    installed = {re.match(r"[\w-]+", text)[0] for text in wanted}  # type: ignore[index]
    folders = ("examples", "examples/papers", "docs/lessons", "docs/notebooks")
    scripts = {path.stem: ast.parse(path.read_text()) for folder in folders for path in (ROOT / folder).glob("*.py")}
    used = set()
    for node in (node for tree in scripts.values() for node in ast.walk(tree)):
        names = [x.name for x in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        used |= {name.partition(".")[0] for name in names}
    used -= {*scripts, *sys.stdlib_module_names}
    assert "gymnasium" in used
    assert used - {"mbd", "mpl_toolkits"} <= installed
