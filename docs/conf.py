"""Sphinx settings: numpydoc pages of the public names, and every example run as a doctest."""

import condmask

project = "condmask"
copyright = "2026, The condmask developers"
version = release = condmask.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.doctest", "sphinx.ext.mathjax", "numpydoc"]
html_theme = "alabaster"
html_theme_options = {"description": "Conditional masking of numerical data", "page_width": "1040px"}
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
doctest_global_setup = "import numpy as np\nimport condmask as cm"
exclude_patterns = ["_build"]
