"""Sphinx configuration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import write_code
import write_reference

project = "kinpair"
extensions = ["myst_nb", "sphinx.ext.mathjax", "sphinx-mathjax-offline"]  # formulas without the network
nb_execution_mode = "force"  # the notebooks of the sources are executed, and an error stops the build
nb_execution_raise_on_error = True
nb_execution_timeout = 300
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "kinpair"
html_static_path = ["_static"]
html_css_files = ["sources.css"]
exclude_patterns = ["build"]

write_reference.write(
    Path(__file__).parent / "reference.md"
)  # public names and their docstrings, as they are now
NOTEBOOKS = Path(__file__).parents[1] / "examples" / "notebooks"
here = Path(__file__).parent / "notebooks"
here.mkdir(exist_ok=True)
for book in NOTEBOOKS.glob("*.ipynb"):
    (here / book.name).write_text(book.read_text("utf-8").replace("../../docs/", "../"), "utf-8")

write_code.write(Path(__file__).parent / "code.md")  # functions named by the map of the sources
