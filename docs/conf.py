"""Sphinx settings: a site that asks nothing of the network, and every example on it run."""

import sys
from pathlib import Path

import condmask

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "condmask"
copyright = "2026, The condmask developers"
version = release = condmask.__version__
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "numpydoc",
    "myst_parser",
    "matplotlib.sphinxext.plot_directive",
    "mathml",
    "shell",
]
exclude_patterns = ["_build", "_templates", "examples", "measured"]
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = f"condmask {release}"
html_static_path = ["_static"]
html_css_files = ["condmask.css"]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False
html_sidebars = {"index": []}
html_theme_options = {
    "logo": {"text": f"condmask {release}"},
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}

numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the parameters say what they are, in words

# one page for each name of the API, in docs/api, which git ignores
autosummary_filename_map = {  # not plan beside Plan: some file systems take them for one
    name: f"{name}-class" for name in ("condmask.Audit", "condmask.Plan", "condmask.Risk")
} | {"condmask.Estimate.N": "condmask.Estimate.N-ratio"}
# every reference has to lead somewhere
nitpicky = True

# Every page is run as a reader pastes it: in an empty folder, with no name that the page does not define.
doctest_global_setup = """
import os as _os, tempfile as _tempfile
_before, _folder = _os.getcwd(), _tempfile.TemporaryDirectory()
_os.chdir(_folder.name)
_os.environ["XDG_DATA_HOME"] = _os.path.join(_folder.name, ".state")
"""
doctest_global_cleanup = "_os.chdir(_before); _folder.cleanup()"

plot_formats = ["svg"]
plot_html_show_formats = plot_html_show_source_link = plot_include_source = False
