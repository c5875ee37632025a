"""Sphinx configuration."""

project = "kinpair"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "kinpair"
exclude_patterns = ["build"]
