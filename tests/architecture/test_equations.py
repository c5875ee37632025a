"""Every numbered equation of the source is in the docs, and in one place there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kinpair

SRC = Path(kinpair.__file__).parent
DOCS = Path(__file__).parents[2] / "docs" / "equations"
PAGES = {
    "formulations/newton_euler.py": ("newton_euler.md", r"\((NE\d+)\)"),
    "formulations/masses.py": ("newton_euler.md", r"\((M\d+)\)"),
    "formulations/composite.py": ("newton_euler.md", r"\((CB\d+)\)"),
    "formulations/articulated.py": ("newton_euler.md", r"\((AB\d+)\)"),
    "algebra/tree_ldl.py": ("newton_euler.md", r"\((T\d+)\)"),
    "formulations/denoc.py": ("denoc.md", r"\((D\d+|2[489][ab]?|30)\)"),
    "formulations/kinematics.py": ("kinematics.md", r"\((K\d+)\)"),
    "forces/passive.py": ("forces.md", r"\((P\d+)\)"),
}


@pytest.mark.parametrize("file", PAGES)
def test_numbers_of_the_source_are_those_of_the_page(file):
    page, number = PAGES[file]
    in_source = set(re.findall(number, (SRC / file).read_text("utf-8")))
    every = re.findall(r"\\tag\{([^}]+)\}", (DOCS / page).read_text("utf-8"))
    assert len(every) == len(set(every))
    tagged = [tag for tag in every if re.fullmatch(number, f"({tag})")]
    assert in_source
    assert in_source == set(tagged)
