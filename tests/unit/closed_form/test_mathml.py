"""Formulas as MathML: well formed, with every sign of the formula, and of the same value."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import pytest

import kinpair as kp
from kinpair.printed_equations.closed_form.printing import mathml

SPACE = "{http://www.w3.org/1998/Math/MathML}"
OPERATIONS = {"+": "+", "−": "-", "⋅": "*", "(": "(", ")": ")", "˙": "dot"}
CALLS = {"sin": math.sin, "cos": math.cos}


def tree(latex):
    return ElementTree.fromstring(mathml(latex))


def python(x) -> str:
    """A MathML tree as an expression of Python; names are the letters with what stands below and above them."""
    kind, parts = x.tag.removeprefix(SPACE), [python(y) for y in x]
    match kind:
        case "mn":
            return f" {x.text} "
        case "mi":
            return f" {x.text} "
        case "mo":
            return OPERATIONS[x.text]
        case "mfrac":
            return f" (({parts[0]})/({parts[1]})) "
        case "msqrt":
            return f" ({''.join(parts)})**0.5 "
        case "mover":
            return f" {parts[0].strip()}{parts[1]} "
        case "msub":
            return f" {parts[0].strip()}_{parts[1].strip()} "
        case "msup":
            return f" ({parts[0]})**({parts[1]}) "
        case "msubsup":
            return f" ({parts[0].strip()}_{parts[1].strip()})**({parts[2]}) "
        case "mspace":
            return "*" if x.get("width") == "0.17em" else " "
        case _:
            return "".join(parts)


@pytest.mark.parametrize(
    ("latex", "value"),
    [
        (r"m_{1} \, r_{1}^{2} + I", 2.0 * 9.0 + 5.0),
        (r"-\frac{2 \, m_{1} \, \left(r_{1} - I\right)}{r_{1}^{2}}", -2 * 2.0 * (3.0 - 5.0) / 9.0),
        (r"\sin(q_{1} + q) \, \dot{q}_{1}", math.sin(0.3) * 7.0),
        (r"\sqrt{2} \, m_{1}", 2**0.5 * 2.0),
        (r"1.5 \cdot 10^{-3}", 1.5e-3),
    ],
)
def test_a_formula_has_the_value_of_its_letters(latex, value):
    letters = {"m_1": 2.0, "r_1": 3.0, "I": 5.0, "q_1": 0.1, "q": 0.2, "qdot_1": 7.0}
    assert eval(python(tree(latex)).strip(), {**CALLS, **letters}) == pytest.approx(value)


@pytest.mark.parametrize("name", ["double-pendulum", "rolling-disk", "slider-crank", "five-bar"])
def test_equations_of_a_notebook_need_no_script_and_no_network(name):
    eqs = kp.equations(kp.example(name))
    html = eqs._repr_html_()
    root = ElementTree.fromstring(html)
    assert root.tag == f"{SPACE}math"
    rows = [x for x in root.iter(f"{SPACE}mtr") if len(x) == 2]
    assert len(rows) == eqs._repr_latex_().count("&=") + eqs._repr_latex_().count("&\\quad")
    assert "http" not in html.replace("http://www.w3.org/1998/Math/MathML", "")
    assert "\\" not in html


def test_equations_under_constraints_are_mathml_too():
    html = kp.equations(kp.example("four-bar"), solver="multipliers").mathml()
    letters = {x.text for x in ElementTree.fromstring(html).iter(f"{SPACE}mi")}
    assert {"M", "λ", "A"} <= letters


def test_letters_of_a_name_stay_text():
    assert "<mtext>a&lt;b</mtext>" in mathml(r"\mathrm{a<b}")


def test_a_command_that_formulas_do_not_have_is_named():
    with pytest.raises(ValueError, match=r"\\input is no command of a formula"):
        mathml(r"\input{x}")
