"""Every numbered equation of the source is in the docs, in one place there, and has its line of code."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

import kinpair

SRC = Path(kinpair.__file__).parent
DOCS = Path(__file__).parents[2] / "docs" / "equations"
PAGES = (  # files, the page of their equations, the numbers
    ("formulations/newton_euler.py", "newton_euler.md", r"\((NE\d+)\)"),
    ("formulations/masses.py", "newton_euler.md", r"\((M\d+)\)"),
    ("formulations/composite.py", "newton_euler.md", r"\((CB\d+)\)"),
    ("formulations/articulated.py", "newton_euler.md", r"\((AB\d+)\)"),
    ("formulations/rotors.py", "newton_euler.md", r"\((RO\d+)\)"),
    ("constraints/soundness.py", "newton_euler.md", r"\((SO\d+)\)"),
    ("algebra/tree_ldl.py", "newton_euler.md", r"\((T\d+)\)"),
    ("formulations/denoc.py", "denoc.md", r"\((D\d+|2[489][ab]?|30)\)"),
    ("formulations/linear_forms.py", "popov.md", r"\((LF\d+)\)"),
    ("formulations/popov.py", "popov.md", r"\((PV\d+)\)"),
    ("formulations/*euler*.py", "popov.md", r"\((EU\d+)\)"),
    ("formulations/lagrange.py", "lagrange.md", r"\((LG\d+)\)"),
    ("formulations/lagrange_cylinders.py", "lagrange.md", r"\((LC\d+|1\.\d+)\)"),
    ("formulations/lagrange_euler.py", "lagrange.md", r"\((LE\d+)\)"),
    ("formulations/lagrange_links.py", "lagrange.md", r"\((LK\d+)\)"),
    ("formulations/uicker.py", "uicker.md", r"\((U\d+)\)"),
    ("formulations/appell.py", "appell.md", r"\((GA\d+)\)"),
    ("formulations/kane.py", "kane.md", r"\((KN\d+)\)"),
    ("formulations/graph.py", "roberson_wittenburg.md", r"\((GR\d+)\)"),
    ("formulations/roberson_wittenburg.py", "roberson_wittenburg.md", r"\((RW\d+)\)"),
    ("formulations/roberson_wittenburg_augmented.py", "roberson_wittenburg.md", r"\((RA\d+)\)"),
    ("formulations/screw_algebra.py", "screw.md", r"\((SA\d+)\)"),
    ("formulations/screw_algebra.py", "screw.md", r"\((SP\d+)\)"),
    ("formulations/screw_bodies.py", "screw.md", r"\((SB\d+)\)"),
    ("formulations/screw_block.py", "screw.md", r"\((SK\d+)\)"),
    ("formulations/screw.py", "screw.md", r"\((SD\d+)\)"),
    ("formulations/zhao_gu*.py", "zhao_gu.md", r"\((Z[GR]\d+)\)"),
    ("constraints/quantities/multipliers.py", "reactions.md", r"\((RE\d+)\)"),
    ("constraints/reactions.py", "reactions.md", r"\((ML\d+)\)"),
    ("algebra/series.py", "motion.md", r"\((TY\d+)\)"),
    ("motion/*.py", "motion.md", r"\((MO\d+)\)"),
    ("motion/[atsv]*.py", "vessel.md", r"\((VS\d+)\)"),
    ("motion/[cfs]*.py", "gait.md", r"\((GS\d+)\)"),
    ("motion/support.py", "gait.md", r"\((GZ[2-9])\)"),
    ("motion/[ghlp]*.py", "gait.md", r"\((GB\d+a?)\)"),
    ("walking/*.py", "gait.md", r"\((GW\d+)\)"),
    ("optimisation/*.py", "optimise.md", r"\((OP\d+)\)"),
    ("motion/excitation.py", "identification.md", r"\((EX\d+)\)"),
    ("identification/*.py", "identification.md", r"\((ID\d+)\)"),
    ("evaluation/quantities/wrenches.py", "gait.md", r"\((GZ1)\)"),
    ("inverse_kinematics/*.py", "inverse_kinematics.md", r"\((IK\d+)\)"),
    ("formulations/kinematics.py", "kinematics.md", r"\((K\d+)\)"),
    ("analysis/transmission.py", "transmission.md", r"\((TF[12])\)"),
    ("analysis/transmission.py", "transmission.md", r"\((TF[3-5])\)"),
    ("analysis/linear/*.py", "linear.md", r"\((LI\d+a?)\)"),
    ("analysis/linear/steady_state.py", "linear.md", r"\((EQ\d+)\)"),
    ("control/*.py", "regulators.md", r"\((RG\d+[ab]?|RN\d+|PC\d+)\)"),
    ("forces/actuators/*.py", "actuators.md", r"\(((?:DM|AE|AF|HY|GE|SV)\d+)\)"),
    ("description/actuator_schema.py", "actuators.md", r"\((DS\d+)\)"),
    ("forces/element.py", "forces.md", r"\((EL\d+)\)"),
    ("forces/joint.py", "forces.md", r"\((P\d+)\)"),
    ("friction/laws/joint.py", "friction.md", r"\((LU\d+)\)"),
    ("friction/laws/*.py", "friction.md", r"\((FR\d+)\)"),
    ("friction/laws/laws.py", "friction.md", r"\((LV\d+)\)"),
    ("forces/springs.py", "forces.md", r"\((BU\d+)\)"),
    ("forces/pad.py", "contact.md", r"\((HC\d+)\)"),
    ("forces/springs.py", "forces.md", r"\((PS\d+)\)"),
    ("friction/surfaces/*.py", "load_friction.md", r"\((F[LBGTE]\d+)\)"),
    ("friction/loads/*.py", "load_friction.md", r"\((F[SCNU]\d+)\)"),
    ("friction/phases/*.py", "load_friction.md", r"\((F[AH]\d+)\)"),
    ("constraints/quantities/derivatives.py", "load_friction.md", r"\((FD[12])\)"),
    ("constraints/assembly/*.py", "constraints.md", r"\((AJ\d+)\)"),
    ("constraints/assembly/effort_derivatives.py", "load_friction.md", r"\((FD[45])\)"),
    ("friction/phases/dry.py", "load_friction.md", r"\((FD3)\)"),
    ("simulation/phases.py", "load_friction.md", r"\((FP\d+)\)"),
    ("formulations/carried_wrenches.py", "load_friction.md", r"\((CW\d+)\)"),
    ("formulations/zhao_gu_friction.py", "load_friction.md", r"\((ZF\d+)\)"),
    ("constraints/**/*.py", "constraints.md", r"\((C[AIORS]\d+a?)\)"),
    ("constraints/*/derivatives.py", "constraints.md", r"\((CD\d+)\)"),
    ("constraints/quantities/*.py", "constraints.md", r"\((P[RM]\d+)\)"),
    ("constraints/quantities/equations.py", "constraints.md", r"\((HD\d+)\)"),
    ("constraints/quantities/projection.py", "constraints.md", r"\((OB\d+)\)"),
    ("constraints/quantities/efforts.py", "constraints.md", r"\((CE\d+)\)"),
    ("simulation/methods/generalised_alpha.py", "integrators.md", r"\((AL\d+)\)"),
    ("simulation/steppers/sundials.py", "integrators.md", r"\((SU\d+)\)"),
    ("simulation/steppers/taylor.py", "integrators.md", r"\((TS\d+)\)"),
    ("constraints/solve/stick.py", "friction.md", r"\((ST\d+)\)"),
    ("contact/*.py", "contact.md", r"\((CT\d+)\)"),
    ("constraints/solve/*.py", "nonsmooth.md", r"\((NS\d+)\)"),
    ("simulation/driver/impacts.py", "impacts.md", r"\((IM\d+)\)"),
    ("printed_equations/textbook/kinpair_walk.py", "kinpair.md", r"\((KP\d+)\)"),
    ("system.py", "constraints.md", r"\((SY\d+)\)"),
)


@pytest.mark.parametrize(("file", "page", "number"), PAGES)
def test_numbers_of_the_source_are_those_of_the_page(file, page, number):
    in_source = {tag for path in SRC.glob(file) for tag in re.findall(number, path.read_text("utf-8"))}
    every = re.findall(r"\\tag\{([^}]+)\}", (DOCS / page).read_text("utf-8"))
    assert len(every) == len(set(every))
    tagged = [tag for tag in every if re.fullmatch(number, f"({tag})")]
    assert in_source
    assert in_source == set(tagged)


@cache
def said(text: str) -> tuple[str, ...]:
    """Comments of a source, and docstrings of its functions and classes."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    parts = [x for x in ast.walk(ast.parse(text)) if isinstance(x, (ast.FunctionDef, ast.ClassDef))]
    return (*comments, *(ast.get_docstring(x) or "" for x in parts))


def in_code(text: str, number: str) -> set[str]:
    """Tags beside a line, and of functions and classes that are the equation."""
    return {tag for x in said(text) for tag in re.findall(number, x)}


def derived(text: str, number: str) -> set[str]:
    """Tags that the docstring of a module marks as derivation."""
    marked = re.findall(
        r"^Derivation, no line of code: (.*)$", ast.get_docstring(ast.parse(text)) or "", re.MULTILINE
    )
    return {tag for line in marked for tag in re.findall(number, line)}


@pytest.mark.parametrize(("file", "page", "number"), PAGES)
def test_every_equation_has_its_line_of_code_or_is_marked_as_derivation(file, page, number):
    texts = [path.read_text("utf-8") for path in SRC.glob(file)]
    every, code, marked = (
        {tag for text in texts for tag in find(text, number)}
        for find in (lambda text, number: re.findall(number, text), in_code, derived)
    )
    assert every == code | marked
    assert not code & marked
