import numpy as np
import pytest

from kinpair.compiler.export.latex import latex, letter, number
from kinpair.compiler.trace import trace


def test_shared_parts_come_first():
    program = trace(lambda q, m1: m1 * np.sin(q) + np.sin(q) / (q + 2.0), {"q": (1,), "m1": ()})
    assert latex(program).splitlines() == [
        r"\begin{align*}",
        r"x_{1} &= \sin q_{1} \\",
        r"\mathrm{result}_{1} &= m_{1} \, x_{1} + \frac{x_{1}}{2 + q_{1}}",
        r"\end{align*}",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("q[0]", "q_{1}"),
        ("m2", "m_{2}"),
        ("theta", r"\theta"),
        ("H[0,1]", "H_{1,2}"),
        ("qd[1]", r"\dot q_{2}"),
    ],
)
def test_names_become_letters(name, expected):
    assert letter(name, {"qd": r"\dot q"}) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2.0, "2"), (-0.5, "-0.5"), (1e-7, r"1 \cdot 10^{-7}"), (float("inf"), r"\infty"), (True, r"\top")],
)
def test_numbers_keep_their_digits(value, expected):
    assert number(value) == expected


def test_sums_in_products_get_brackets():
    program = trace(lambda a, b: (a + b) * (a - b) - (a - (b - 1.0)), {"a": (), "b": ()})
    assert r"\left(a + b\right) \, \left(a - b\right)" in latex(program)
