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
    "formulations/linear_forms.py": ("popov.md", r"\((LF\d+)\)"),
    "formulations/popov.py": ("popov.md", r"\((PV\d+)\)"),
    "formulations/popov_euler.py": ("popov.md", r"\((EU\d+)\)"),
    "formulations/lagrange.py": ("lagrange.md", r"\((LG\d+)\)"),
    "formulations/lagrange_cylinders.py": ("lagrange.md", r"\((LC\d+|1\.\d+)\)"),
    "formulations/lagrange_euler.py": ("lagrange.md", r"\((LE\d+)\)"),
    "formulations/lagrange_links.py": ("lagrange.md", r"\((LK\d+)\)"),
    "formulations/uicker.py": ("uicker.md", r"\((U\d+)\)"),
    "formulations/appell.py": ("appell.md", r"\((GA\d+)\)"),
    "formulations/kane.py": ("kane.md", r"\((KN\d+)\)"),
    "formulations/graph.py": ("roberson_wittenburg.md", r"\((GR\d+)\)"),
    "formulations/roberson_wittenburg.py": ("roberson_wittenburg.md", r"\((RW\d+)\)"),
    "formulations/roberson_wittenburg_augmented.py": ("roberson_wittenburg.md", r"\((RA\d+)\)"),
    "formulations/screw_algebra.py": ("screw.md", r"\((SA\d+)\)"),
    "formulations/screw_pairs.py": ("screw.md", r"\((SP\d+)\)"),
    "formulations/screw_bodies.py": ("screw.md", r"\((SB\d+)\)"),
    "formulations/screw_block.py": ("screw.md", r"\((SK\d+)\)"),
    "formulations/screw.py": ("screw.md", r"\((SD\d+)\)"),
    "formulations/kinematics.py": ("kinematics.md", r"\((K\d+)\)"),
    "analysis/one_freedom.py": ("transmission.md", r"\((TF[12])\)"),
    "analysis/transmission.py": ("transmission.md", r"\((TF[3-5])\)"),
    "forces/passive.py": ("forces.md", r"\((P\d+)\)"),
    "constraints/**/*.py": ("constraints.md", r"\((C[AIORS]\d+a?)\)"),
    "closure/dynamics.py": ("constraints.md", r"\((CD\d+)\)"),
    "constrained.py": ("constraints.md", r"\((P[RM]\d+)\)"),
    "simulation/held.py": ("constraints.md", r"\((HD\d+)\)"),
    "simulation/methods/generalised_alpha.py": ("integrators.md", r"\((AL\d+)\)"),
    "simulation/methods/sundials.py": ("integrators.md", r"\((SU\d+)\)"),
    "simulation/methods/taylor.py": ("integrators.md", r"\((TS\d+)\)"),
    "simulation/events/impacts.py": ("impacts.md", r"\((IM\d+)\)"),
    "simulation/events/bumpers.py": ("impacts.md", r"\((BU\d+)\)"),
    "system.py": ("constraints.md", r"\((SY\d+)\)"),
}


@pytest.mark.parametrize("file", PAGES)
def test_numbers_of_the_source_are_those_of_the_page(file):
    page, number = PAGES[file]
    in_source = {tag for path in SRC.glob(file) for tag in re.findall(number, path.read_text("utf-8"))}
    every = re.findall(r"\\tag\{([^}]+)\}", (DOCS / page).read_text("utf-8"))
    assert len(every) == len(set(every))
    tagged = [tag for tag in every if re.fullmatch(number, f"({tag})")]
    assert in_source
    assert in_source == set(tagged)
