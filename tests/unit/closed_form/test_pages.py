"""Formulas on paper: lines that fit, names that need escapes, sheets with nothing on them."""

from __future__ import annotations

import re
from itertools import pairwise
from math import cos, sin

import pytest
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser

import kinpair as kp
from families import LARGE_EXAMPLES, family, has_closed_form
from kinpair.printed_equations.closed_form.formula import (
    Alphabet,
    Letter,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
)
from kinpair.printed_equations.closed_form.pages import (
    EQUALS,
    INDENT,
    TEXT_WIDTH,
    WIDTH,
    Lines,
    latex_width,
    tex,
)
from kinpair.printed_equations.closed_form.printing import LATEX, TEXT
from kinpair.printed_equations.closed_form.sharing import shared_sums
from kinpair.printed_equations.closed_form.sheet import Page, Sheet, calculated
from kinpair.spatial.inertia import rod

EXAMPLES = tuple(filter(has_closed_form, kp.examples()))
WIDEST = 20  # lines of a sheet that are measured, by the estimate
ALPHABET = Alphabet({x: Letter(x) for x in "abcdefghkmnpqruvwxyz"})
FONT = FontProperties(size=10, math_fontfamily="cm")


def measured(latex: str, parser: MathTextParser, known: dict[str, float]) -> float:
    """Points at 10 pt, fractions as in a displayed line."""
    if latex not in known:
        text = latex.replace("\\frac", "\\dfrac")
        known[latex] = parser.parse(f"${text}$", dpi=72, prop=FONT)[0]
    return known[latex]


@pytest.mark.parametrize(
    "name",
    family(
        EXAMPLES,
        {*EXAMPLES}
        - {"floating-arm", "kr5", "two-handed-arm", "stanford-arm-saha", "bicycle", "three-rrr"}
        - LARGE_EXAMPLES,
        reason="more arms and linkages with long rows",
    ),
)
def test_every_line_fits_on_the_page(name):
    """LaTeX within the text width of an article, by the widths of Computer Modern; text within 110 characters."""
    printed, parser, known = kp.equations(kp.example(name)), MathTextParser("path"), dict[str, float]()
    rows = printed.rows()
    left = max(measured(x, parser, known) for x, _ in rows)
    every = [(k, line) for _, right in rows for k, line in enumerate(right)]
    for k, line in sorted(every, key=lambda x: -latex_width(x[1]))[:WIDEST]:
        width = left + EQUALS[True] + measured(line, parser, known) + (INDENT[True] if k else 0.0)
        assert width <= TEXT_WIDTH, line
    assert max(map(len, str(printed).splitlines())) <= WIDTH[False]


def letter(k: int) -> Symbol:
    return Symbol("abcdefghkmnpqruvwxyz"[k % 20])


def long_sum(n: int, at: int = 0) -> Sum:
    signs = (1.0, -1.0, 2.0)
    return Sum(tuple(Product((Number(signs[k % 3]), letter(at + k), letter(k + 7))) for k in range(n)))


LONG = [
    pytest.param(Product((letter(0), long_sum(80))), id="in a bracket"),
    pytest.param(Sum((long_sum(5).terms[0], Product((letter(3), Power(long_sum(70), 2))))), id="in a square"),
    pytest.param(Product((Number(-3.0), long_sum(60), Power(letter(2), -1))), id="over a letter"),
    pytest.param(Product((Number(-1.0), *(long_sum(20, k) for k in range(4)))), id="between factors"),
]


@pytest.mark.parametrize("x", LONG)
def test_a_broken_formula_has_the_value_of_the_whole(x):
    """Lines of text put together again are a formula that Python can read."""
    lines = Lines(ALPHABET, TEXT, 3.0).of(x)
    assert len(lines) > 1
    assert max(map(len, lines)) <= WIDTH[False]
    known = {name: 0.3 + 0.1 * k for k, name in enumerate(ALPHABET.letters)}
    result = eval(" ".join(lines).replace("^", "**"), dict(known))
    assert result == pytest.approx(calculated(x, known, float, {}), rel=1e-12)


@pytest.mark.parametrize("x", LONG)
def test_brackets_that_close_in_another_line_have_no_left_and_right(x):
    lines = Lines(ALPHABET, LATEX, 20.0).of(x)
    assert len(lines) > 1
    for line in lines:
        assert line.count("\\left(") == line.count("\\right)")
    whole = "".join(lines).replace("\\left", "").replace("\\right", "")
    assert whole.count("(") == whole.count(")")


# Notes.


def test_a_latex_file_has_the_notes_and_the_letters():
    printed = kp.equations(kp.example("four-bar"))
    document = printed.latex(document=True)
    assert "H is symmetric; entries not shown are zero." in document
    assert "These are the equations of the tree; not in them: " in document
    assert all(f"${x.latex}$ & {x.value:.6g} & " in document for x in printed.parameters.values())
    assert "H is symmetric; entries not shown are zero." in printed.latex()


def named(joint: str) -> kp.Mechanism:
    return kp.build(
        kp.Builder("odd_name")
        .link("rod_1 & co", mass=1.0, com=[0.5, 0, 0], inertia=rod(1.0, 1.0, "x"))
        .joint(joint, "revolute", "ground", "rod_1 & co", axis="y")
    )


def test_names_do_not_break_a_table():
    printed = kp.equations(named("j|1"))
    rows = [line for line in printed.markdown().splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)
    assert "coordinate 'j\\|1'" in printed.markdown()
    document = printed.latex(document=True)
    assert "\\section*{odd\\_name}" in document
    assert "mass of 'rod\\_1 \\& co' [kg]" in document
    assert "inertia of 'rod\\_1 \\& co' about its mass centre, yy and zz [kg m$^2$]" in document


def test_sentences_for_latex_have_no_letter_that_it_cannot_set():
    assert tex("q̇ {a_b} 5% −z m² \\x") == "$\\dot{q}$ \\{a\\_b\\} 5\\% $-$z m$^2$ \\textbackslash{}x"


def test_a_sheet_with_nothing_on_it_has_no_empty_alignment():
    fixed = kp.build(
        kp.Builder("fixed").link("stone", mass=1.0).joint("weld", "fixed", "ground", "stone")
    ).reference
    printed = kp.equations(fixed)
    assert "align" not in printed.latex(document=True)
    assert "Nothing moves" in printed.latex()
    assert "align" not in Page("empty", ("", ""), (), ()).latex([])


# Sums with names.


def test_the_negative_of_a_named_sum_and_a_sum_that_contains_it_are_written_with_it():
    a, b, c, x, y = (Symbol(name) for name in "abcxy")
    minus_b, minus_a = Product((Number(-1.0), b)), Product((Number(-1.0), a))
    one, other, more = Sum((a, minus_b)), Sum((b, minus_a)), Sum((a, c, minus_b))
    results = {
        "r": [Product((x, one)), Product((Number(2.0), y, other)), Product((x, Power(other, 2))), more]
    }
    definitions, result = shared_sums([], results)
    assert definitions == [("p1", one)]
    p = Symbol("p1")
    assert result["r"] == [
        Product((x, p)),
        Product((Number(-2.0), y, p)),
        Product((x, Power(p, 2))),
        Sum((p, c)),
    ]


def test_an_entry_that_has_a_name_is_written_by_it():
    printed = kp.equations(kp.example("planar-3r"), solver="rosenberg")
    assert [printed.text(printed[what][0, 1]) for what in ("M", "E")] == ["Y1", "Y1"]


@pytest.mark.parametrize("name", ["kr5", "stanford-arm"])
def test_no_named_sum_is_the_negative_of_another(name):
    sheet: Sheet = kp.equations(kp.example(name)).sheet
    known = {key: 0.3 + cos(k) ** 2 for k, key in enumerate((*sheet.alphabet.letters, "unused"))}
    values: dict[str, float] = {}
    for name, x in sheet.definitions:
        known[name] = values[name] = calculated(x, known, float, {"sin": sin, "cos": cos})
    sizes = sorted(abs(value) for name, value in values.items() if name.startswith("p"))
    assert all(big - small > 1e-9 * big for small, big in pairwise(sizes))
