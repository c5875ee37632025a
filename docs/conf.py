"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import write_code
import write_reference

project = "kinpair"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "kinpair"
exclude_patterns = ["build"]

write_reference.write(
    Path(__file__).parent / "reference.md"
)  # public names and their docstrings, as they are now
write_code.write(Path(__file__).parent / "code.md")  # functions named by the map of the sources
