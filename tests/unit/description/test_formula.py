"""Formulas as text: what they are worth, what is refused, word for word."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.algebra.jet import rate
from kinpair.description.formula import FUNCTIONS, function_of
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError
from opaque import hide, reveal

PLACE = Place(WarningList(), "arm.toml:3", "drive 'c'", "motion")
X, Y, Z = 0.3, -0.7, 1.9
WORTH = {
    "1": 1.0,
    "  x ": X,
    "x + y - z": X + Y - Z,
    "-x": -X,
    "+x": X,
    "x*y/z": X * Y / Z,
    "x - (y - z)": X - (Y - Z),
    "-x**2": -(X**2),
    "x**-2": X**-2,
    "(2**3)**2": 2.0**6,
    "2*pi*x": 2 * np.pi * X,
    "1e-3*x": 1e-3 * X,
    "sin(x)*cos(y) + tan(z/2)": np.sin(X) * np.cos(Y) + np.tan(Z / 2),
    "sqrt(z) + exp(y) + log(z)": np.sqrt(Z) + np.exp(Y) + np.log(Z),
    "tanh(x) + sinh(y) + cosh(z) + atan(x)": np.tanh(X) + np.sinh(Y) + np.cosh(Z) + np.arctan(X),
}


def made(text: str, *variables: str):
    return function_of(text, variables or ("x", "y", "z"), PLACE)


@pytest.mark.parametrize("text", WORTH)
def test_a_formula_is_worth_what_it_says(text):
    assert made(text)(X, Y, Z) == pytest.approx(WORTH[text], rel=1e-15)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_its_rate(name):
    f = made(f"{name}(x)", "x")
    step = 1e-200
    assert rate(f, (np.float64(0.4),), (1.0,)) == pytest.approx(
        np.imag(f(complex(0.4, step))) / step, rel=1e-14
    )


def test_formulas_run_on_symbols():
    f = made("0.3*sin(2*pi*x)/(1 + y*y) - z")
    x = hide(np.array([X, Y, Z]))
    assert reveal(np.array([f(*x)], dtype=object))[0] == pytest.approx(f(X, Y, Z))


def test_a_python_function_is_taken_and_its_troubles_are_told():
    assert function_of(lambda t: [3.0 * t], ("t",), PLACE)(2.0) == 6.0
    with pytest.raises(DescriptionError, match=r"motion function of t fails: ZeroDivisionError: "):
        function_of(lambda t: 1 // 0, ("t",), PLACE)(2.0)
    with pytest.raises(DescriptionError, match=r"motion function of t gives 2 numbers; give one"):
        function_of(lambda t: [t, t], ("t",), PLACE)(2.0)


HEAD = "arm.toml:3: drive 'c': motion "
ALLOWED = (
    "formulas have numbers, t, pi, + - * / **, and sin, cos, tan, sqrt, exp, log, tanh, sinh, cosh, atan"
)
REFUSED = {
    "": "is '', which is not a formula; write something like '0.3*sin(2*pi*t)'",
    "sin(": "is 'sin(', which is not a formula; write something like '0.3*sin(2*pi*t)'",
    "t = 3": "is 't = 3', which is not a formula; write something like '0.3*sin(2*pi*t)'",
    "2*s": "has the variable 's' in the formula '2*s'; Variables: t, pi",
    "sinn(t)": "has the function 'sinn' in the formula 'sinn(t)'; did you mean 'sin'? "
    "Functions: sin, cos, tan, sqrt, exp, log, tanh, sinh, cosh, atan",
    "t**0.5": "has a power in 't**0.5' that is not a whole number up to 64; use sqrt, exp or log",
    "t**t": "has a power in 't**t' that is not a whole number up to 64; use sqrt, exp or log",
    "t**99": "has a power in 't**99' that is not a whole number up to 64; use sqrt, exp or log",
    "t if t else 1": f"has 't if t else 1' in the formula 't if t else 1'; {ALLOWED}",
    "t < 1": f"has 't < 1' in the formula 't < 1'; {ALLOWED}",
    "t // 2": f"has 't // 2' in the formula 't // 2'; {ALLOWED}",
    "'t'": f"has \"'t'\" in the formula \"'t'\"; {ALLOWED}",
    "True": f"has 'True' in the formula 'True'; {ALLOWED}",
    "1j*t": f"has '1j' in the formula '1j*t'; {ALLOWED}",
    "t.real": f"has 't.real' in the formula 't.real'; {ALLOWED}",
    "sin(t, t)": f"has 'sin(t, t)' in the formula 'sin(t, t)'; {ALLOWED}",
    "__import__('os')": "has the function '__import__' in the formula \"__import__('os')\"; "
    "Functions: sin, cos, tan, sqrt, exp, log, tanh, sinh, cosh, atan",
    "(lambda: t)()": f"has '(lambda: t)()' in the formula '(lambda: t)()'; {ALLOWED}",
    "t*" * 600 + "t": "is a formula of 1201 characters; at most 1000 are read",
}


@pytest.mark.parametrize("text", REFUSED, ids=[x[:20] for x in REFUSED])
def test_what_is_no_formula_is_refused_in_these_words(text):
    with pytest.raises(DescriptionError) as caught:
        made(text, "t")
    assert str(caught.value) == HEAD + REFUSED[text]


def test_a_formula_in_space_has_a_sample_in_space():
    with pytest.raises(DescriptionError) as caught:
        made("x +")
    assert (
        str(caught.value) == HEAD + "is 'x +', which is not a formula; write something like 'x**2 + y**2 - z'"
    )


def test_deep_nesting_is_refused_and_not_a_crash():
    with pytest.raises(DescriptionError):
        made("(" * 400 + "t" + ")" * 400, "t")
    assert made("-" * 300 + "t", "t")(2.0) == 2.0
