"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from write_reference import write

project = "kinpair"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "kinpair"
exclude_patterns = ["build"]

write(Path(__file__).parent / "reference.md")  # functions, classes and their docstrings, as they are now
