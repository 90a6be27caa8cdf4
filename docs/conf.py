"""How Sphinx builds the pages: ``make docs``. Nothing is fetched, and no page refers to another host."""

from pathlib import Path

import dualboost

project = "dualboost"
author = "The dualboost developers"
version = release = dualboost.__version__
copyright = "the dualboost developers, MIT licence"

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "gallery/*.md5"]
templates_path = ["_templates"]
nitpick_ignore = [("py:class", "sklearn.exceptions.NotFittedError")]  # documented elsewhere
highlight_language = "none"  # mathematics in the docstrings is plain text; code blocks name their language

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False  # the templates list them
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "generated/examples_of",
    "doc_module": ("dualboost",),
    "abort_on_example_error": True,
    "capture_repr": (),
    "copyfile_regex": "",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "dualboost"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_sidebars = {page: [] for page in ("index", "getting_started", "idea", "mathematics")}  # nothing below them
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}

KEPT_RESULTS = Path(__file__).parent / "results"


def write_study_report(app, exception):
    """The interactive report of the study, beside the pages, from the results that are kept."""
    if exception is None and KEPT_RESULTS.is_dir():
        from dualboost_study import read_results
        from dualboost_study.report import write_report

        write_report(read_results(KEPT_RESULTS), Path(app.outdir) / "study_report.html")


def setup(app):
    app.connect("build-finished", write_study_report)
