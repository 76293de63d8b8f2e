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
    "sphinx.ext.doctest",
    "numpydoc",
    "myst_parser",
    "matplotlib.sphinxext.plot_directive",
    "mathml",
    "mathfont",
    "shell",
]
exclude_patterns = ["_build", "examples", "measured"]

html_theme = "pydata_sphinx_theme"
html_title = "condmask"
html_static_path = ["_static"]
html_css_files = ["condmask.css"]
html_math_renderer = "mathml"
html_copy_source = html_show_sourcelink = False
html_sidebars = {"index": [], "quickstart": []}
html_theme_options = {
    "logo": {"text": "condmask"},
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}

numpydoc_show_class_members = False
autodoc_member_order = "bysource"
# examples may write files: every page has an empty folder, but for docs/examples
doctest_global_setup = f"""
import os, shutil, tempfile
import numpy as np
import condmask as cm
_before, _folder = os.getcwd(), tempfile.TemporaryDirectory()
shutil.copytree({str(Path(__file__).parent / "examples")!r}, _folder.name, dirs_exist_ok=True)
os.chdir(_folder.name)
os.environ["XDG_STATE_HOME"] = os.path.join(_folder.name, ".state")
"""
doctest_global_cleanup = "os.chdir(_before); _folder.cleanup()"

plot_formats = ["svg"]
plot_html_show_formats = plot_html_show_source_link = plot_include_source = False
