"""Settings of Sphinx. It reads the tree that ``build.py`` has prepared; nothing is fetched, now or by readers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(os.environ["MBD_SITE_TOOLS"])  # docs/site; this file is read where it is, the sources are elsewhere
SCRIPTS = Path(os.environ["MBD_SITE_SCRIPTS"])  # prepared examples and lessons
RUN = os.environ["MBD_SITE_RUN"]  # pattern of the scripts that are run
sys.path.insert(0, str(HERE))

import mathjax  # noqa: E402
from docstrings import as_rst  # noqa: E402
from scraper import Outputs  # noqa: E402

import mbd  # noqa: E402
import mbd.view.movies as movies  # noqa: E402

movies.RATE, movies.SIZE = (4.0, (480, 270)) if os.environ.get("MBD_SITE_SMALL") else (24.0, (800, 450))

project, author, release = "mbd", "the mbd developers", mbd.__version__
copyright = author
root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["**/README.rst", "**/GALLERY_HEADER.rst", "**/sg_execution_times.rst", "sg_execution_times.rst"]
suppress_warnings = ["config.cache", "myst.header"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

html_theme = "pydata_sphinx_theme"
html_title = "mbd"
html_static_path = [str(HERE / "static"), str(mathjax.copied_to(SCRIPTS.parent / "static"))]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # they would be fetched, which browsers do not allow from disk
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
mathjax_path = "mathjax/tex-svg-full.js"
mathjax_options = {"defer": "defer"}

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries = False

GALLERIES = ("lessons", "notebooks", "examples")
sphinx_gallery_conf = {
    "examples_dirs": [str(SCRIPTS / name) for name in GALLERIES],
    "gallery_dirs": [f"gallery/{name}" for name in GALLERIES],
    "filename_pattern": RUN,
    "ignore_pattern": r"^(__init__|sheet)\.py",  # sheets of figures are what the scripts of papers share
    "image_scrapers": (Outputs(SCRIPTS / "out"),),
    "reset_modules": (),
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "capture_repr": (),
    "remove_config_comments": True,
    "thumbnail_size": (400, 280),
}


def setup(app):
    """Docstrings are plain text with a few conventions, not reStructuredText."""
    app.connect("autodoc-process-docstring", lambda app, what, name, obj, options, lines: as_rst(lines))
