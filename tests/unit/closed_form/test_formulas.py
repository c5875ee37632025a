"""Common factors as one takes them out by hand; text, LaTeX, names."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.compiler.program import interpret
from kinpair.compiler.trace import trace
from kinpair.errors import ClosedFormError
from kinpair.printed_equations.closed_form.formula import Alphabet, Letter, atoms, symbols, written_terms
from kinpair.printed_equations.closed_form.polynomial import Expansion
from kinpair.printed_equations.closed_form.printing import LATEX, TEXT, number, written
from kinpair.printed_equations.closed_form.reading import read, write_closed, write_terms

ANGLES = {"q[0]": 1, "q[1]": 2}
TOGETHER = {"q[0]": 0, "q[1]": 0}


def spelling(used: set[str]) -> Alphabet:
    letters = {name: Letter(name, meaning=f"letter {name}", value=2.0) for name in "mnabk" if name in used}
    letters |= {f"q[{k}]": Letter("q", str(k + 1)) for k in range(2)}
    letters |= {f"v[{k}]": Letter("q", str(k + 1), accent="\\dot") for k in range(2)}
    return Alphabet(letters, ANGLES, ["v[0]", "v[1]"], [x for x in "mn" if x in used])


def sheet(function, **options):
    scalars = function.__code__.co_varnames[2 : function.__code__.co_argcount]
    program = trace(function, {"q": (2,), "v": (2,)} | dict.fromkeys(scalars, ()), name="f")
    return program, read(program, spelling, options.pop("groups", TOGETHER), **options)


def text(function, **options) -> str:
    _, result = sheet(function, **options)
    return result.text(result.results["result"].item())


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda q, v, m, a, b: m * a * a + m * b * b + a, "m*(a^2 + b^2) + a"),
        (lambda q, v, m, a: m * a * np.sin(q[0]) - m * np.cos(q[1]) * a, "m*a*(s1 - c2)"),
        (lambda q, v, a: np.cos(q[0]) * np.cos(q[1]) - np.sin(q[0]) * np.sin(q[1]) + a, "a + c12"),
        (lambda q, v, a: a * np.cos(q[0] - q[1]), "a*cos(q1 - q2)"),
        (lambda q, v, a: a * np.sin(q[0]) * np.cos(q[0]), "a*c1*s1"),
        (lambda q, v, a: 1.5 * a * np.sin(2.0 * q[0]), "3*a*c1*s1"),
        (lambda q, v, a: a * np.sin(2.0 * q[0]), "a*sin(2*q1)"),
        (lambda q, v, a: a * np.sin(q[0]) ** 2, "a*s1^2"),
        (lambda q, v, a, b: -a - b, "-a - b"),
        (lambda q, v, a, b: -2.0 * a - 2.0 * b, "-2*(a + b)"),
        (lambda q, v, a: (v[0] + v[1]) * a, "a*(qd1 + qd2)"),
        (lambda q, v, a: 0.123456789 * a + 0.0 * v[0], "0.123457*a"),
        (lambda q, v, a: a - a + 0.0 * v[0], "0"),
        (lambda q, v, a, b: a / b + v[0] * q[0], "a/b + q1*qd1"),
        (lambda q, v, a, b: 1.0 + a / b, "(a + b)/b"),
        (lambda q, v, a, b: b - a, "b - a"),
        (lambda q, v, a, b: 4.0 * a + 2.0 * b, "2*(2*a + b)"),
        (lambda q, v, m, a, b: m * (a + b * np.cos(q[0])) ** 2, "m*(a + b*c1)^2"),
        (lambda q, v, a: -a * (v[0] - v[1]) ** 2, "-a*(qd1 - qd2)^2"),
        (lambda q, v, a, b: (a + b) ** 2 + a * b, "a^2 + 3*a*b + b^2"),
        (lambda q, v, a, b: a * (v[0] + v[1]) ** 2 - b * v[1] ** 2, "a*(qd1 + qd2)^2 - b*qd2^2"),
        (lambda q, v, a, b, k: a + (b - k) * np.sin(q[0]), "a + s1*(b - k)"),
    ],
)
def test_a_formula_is_written_as_by_hand(function, expected):
    assert text(function) == expected


def test_angles_that_do_not_add_stay_a_product():
    apart = {"q[0]": 0, "q[1]": 1}
    assert text(lambda q, v, a: a * np.cos(q[0]) * np.cos(q[1]), groups=apart) == "a*c1*c2"


def nested(q, v, m, a):
    """Something with a root, a quotient and a choice: no closed form."""
    x = np.sqrt(a + q[0] ** 2) / (m + np.cos(q[1]))
    return np.array([x * x + v[0], x * np.sin(q[0]) + v[1] * x])


def test_what_has_no_closed_form_is_given_by_named_terms_of_the_same_value():
    program, result = sheet(nested)
    assert result.definitions
    q, v = np.array([0.3, 1.1]), np.array([0.2, -0.5])
    expected = interpret(program, q, v, 1.5, 2.5)
    assert result.evaluate(q, v, values={"m": 1.5, "a": 2.5})["result"] == pytest.approx(expected, rel=1e-14)


def test_a_limit_of_terms_leads_to_named_terms_of_the_same_value():
    def long(q, v, m, a, b):
        return (m + a + b + np.cos(q[0])) ** 4 * (v[0] + v[1])

    program, short = sheet(long, limit=10)
    _, closed = sheet(long)
    assert short.definitions
    assert not closed.definitions
    q, v = np.array([0.3, 1.1]), np.array([0.2, -0.5])
    expected = interpret(program, q, v, 2.0, 2.0, 2.0)
    for result in (short, closed):
        assert result.evaluate(q, v)["result"] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda q: np.sqrt(q[0]), "sqrt in sqrt(q[0]) has no expanded form"),
        (lambda q: 1.0 / (1.0 + q[0]), "a division by a sum in 1 / (1 + q[0]) has no expanded form"),
        (lambda q: np.sin(q[0] * q[1]), "sin(q[0] * q[1]) is not a function of angles alone"),
    ],
)
def test_why_there_is_no_closed_form(function, reason):
    program = trace(function, {"q": (2,)})
    with pytest.raises(ClosedFormError) as result:
        Expansion(TOGETHER).of(program.outputs[0].entries[0])
    assert str(result.value) == reason


def test_angles_of_two_groups_in_one_sine_are_refused():
    program = trace(lambda q: np.sin(q[0] + q[1]), {"q": (2,)})
    with pytest.raises(ClosedFormError, match="adds angles about axes that are not parallel"):
        Expansion({"q[0]": 0, "q[1]": 1}).of(program.outputs[0].entries[0])


def test_sums_that_occur_often_are_named_in_a_long_sheet():
    def wide(q, v, m, a, b):
        shared = a + b * np.cos(q[0])
        return np.array([shared * m * np.sin((k + 1) * q[1]) + float(k + 1) * v[0] * a for k in range(90)])

    program, result = sheet(wide)
    assert [name for name, _ in result.definitions] == ["p1"]
    q, v = np.array([0.3, 1.1]), np.array([0.2, -0.5])
    expected = interpret(program, q, v, 2.0, 2.0, 2.0)
    assert result.evaluate(q, v)["result"] == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_latex_of_each_part():
    program = trace(
        lambda q, v, m, a: np.array(
            [m * a**2 * np.cos(q[0] - q[1]) ** 2, -0.5 * v[0] * np.sin(q[0]), 1e-9 * a]
        ),
        {"q": (2,), "v": (2,), "m": (), "a": ()},
    )
    expansion = Expansion(TOGETHER)
    polynomials = {"r": [expansion.of(x) for x in program.outputs[0].entries]}
    built = write_closed(polynomials, [], spelling)
    assert [written(x, built.alphabet, LATEX) for x in built.results["r"]] == [
        r"m \, a^{2} \, \cos^{2}(q_{1} - q_{2})",
        r"-\frac{1}{2} \, s_{1} \, \dot{q}_{1}",
        r"1 \cdot 10^{-9} \, a",
    ]


def test_numbers_are_whole_or_simple_fractions_or_rounded():
    results = [number(x, TEXT) for x in (3.0, -0.5, 0.375, 0.1, 1e-20, -2.5e8, 2 / 3, 1.1, 0.0)]
    assert results == ["3", "-1/2", "3/8", "0.1", "1e-20", "-2.5e+08", "2/3", "1.1", "0"]


def test_numbers_that_are_roots_or_parts_of_pi_are_written_so():
    arguments = (np.sqrt(3.0) / 2, -np.sqrt(2.0), np.pi / 3, 2 * np.sin(np.pi / 3), 0.866025)
    assert [number(x, TEXT) for x in arguments] == ["sqrt(3)/2", "-sqrt(2)", "pi/3", "sqrt(3)", "0.866025"]
    assert [number(x, LATEX) for x in arguments[:3]] == [
        r"\frac{\sqrt{3}}{2}",
        r"-\sqrt{2}",
        r"\frac{\pi}{3}",
    ]


def test_named_terms_use_each_name_before_it_is_needed():
    program = trace(nested, {"q": (2,), "v": (2,), "m": (), "a": ()})
    built = write_terms(program, spelling, TOGETHER)
    known: set[str] = set()
    for k, (name, x) in enumerate(built.definitions):
        assert name == f"x{k + 1}"
        used = symbols(atoms(x))
        assert {each for each in used if each.startswith("x")} <= known
        known.add(name)


def definitions(function, groups=TOGETHER) -> dict[str, str]:
    scalars = function.__code__.co_varnames[2 : function.__code__.co_argcount]
    program = trace(function, {"q": (2,), "v": (2,)} | dict.fromkeys(scalars, ()), name="f")
    built = write_terms(program, spelling, groups)
    return {name: written(x, built.alphabet, TEXT) for name, x in built.definitions} | {
        f"{what}{k + 1}": written(x, built.alphabet, TEXT)
        for what, entries in built.results.items()
        for k, x in enumerate(entries)
    }


def turned(q, v, m, a, b):
    """Vectors turned forth and back: what is one, zero or a sum of angles, in the way of a root and a quotient."""
    c, s, d = np.cos(q[0]), np.sin(q[0]), np.sqrt(a + q[1] ** 2)
    one, forth, side = c * c + s * s, c * v[1] - s * v[0], 1.0 / (m + d)
    back = v[0] * (c * v[1] - s * v[0] - forth)
    both = c * np.cos(q[1]) - s * np.sin(q[1])
    return np.array(
        [side * one, back + side, both * side, np.sqrt(one) * d, side * c * c * b + side * s * s * b]
    )


def test_named_terms_are_reduced_by_trigonometry():
    result = definitions(turned)
    assert list(result.values()) == ["sqrt(a + q2^2)", "x1 + m", "1/x2", "1/x2", "c12/x2", "x1", "b/x2"]


def test_a_named_sum_is_written_out_where_it_cancels():
    def cancelling(q, v, a, b):
        d = np.sqrt(a + q[1] ** 2)
        long = d * v[0] + a * v[1]
        return np.array([long * d, (long - d * v[0]) * d])

    assert definitions(cancelling)["result2"] == "x1*a*qd2"


def test_a_sum_over_its_own_root_is_the_root():
    def direction(q, v, a):
        d = np.sqrt(q[0] ** 2 + q[1] ** 2)
        return np.array([a * q[0] ** 2 / d + a * q[1] ** 2 / d])

    assert definitions(direction)["result1"] == "x1*a"


def test_terms_are_counted_where_they_are_written():
    _, result = sheet(lambda q, v, m, a, b: m * (a + b) + m * m * a - 0.0 * v[0])
    assert written_terms(result.results["result"].item()) == 3
    assert result.terms == 3
