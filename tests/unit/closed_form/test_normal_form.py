"""Sums of products of letters, sines and cosines: equal expressions have one form, and rules keep the value."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.folding import folded
from kinpair.printed_equations.closed_form.polynomial import Polynomial

ANGLES = {"a": 0, "b": 0, "c": 1}  # a and b turn about parallel axes
POINT = {"a": 0.7, "b": -1.3, "c": 0.4, "m": 1.7, "l": 0.3, "x": -0.6}
ROUNDING = 1e-13  # a few hundred operations on numbers near one


def cos(name: str) -> Polynomial:
    return polynomial.wave(ANGLES[name], "cos", ((name, 1),))


def sin(name: str) -> Polynomial:
    return polynomial.wave(ANGLES[name], "sin", ((name, 1),))


def value_of_terms(terms, point=POINT) -> float:
    total = 0.0
    for number, powers, waves in terms:
        product = number * math.prod(point[name] ** n for name, n in powers)
        for w in waves:
            product *= getattr(math, w.kind)(sum(k * point[name] for name, k in w.angle))
        total += product
    return total


def value(x: Polynomial, point=POINT) -> float:
    return value_of_terms([(number, *term) for term, number in x.terms.items()], point)


def some(seed: int, terms: int = 5) -> Polynomial:
    """A random sum of products."""
    rng = np.random.default_rng(seed)
    total = polynomial.number(0.0)
    for _ in range(terms):
        each = polynomial.number(float(rng.integers(-4, 5)))
        for name in rng.choice(["m", "l", "x"], size=2):
            each = each * polynomial.letter(str(name))
        for name in rng.choice(list(ANGLES), size=3):
            each = each * (cos(str(name)) if rng.random() < 0.5 else sin(str(name)))
        total = total + each
    return total


def test_sine_and_cosine_squared_add_to_one():
    assert cos("a") * cos("a") + sin("a") * sin("a") == polynomial.number(1.0)


def test_angles_about_parallel_axes_add():
    of_the_sum = polynomial.wave(0, "cos", (("a", 1), ("b", 1)))
    assert cos("a") * cos("b") - sin("a") * sin("b") == of_the_sum


def test_angles_about_other_axes_stay_apart():
    assert len(cos("a") * cos("c")) == 1


@pytest.mark.parametrize("seed", range(6))
def test_sums_and_products_keep_the_value(seed):
    x, y = some(seed), some(seed + 100)
    assert value(x + y) == pytest.approx(value(x) + value(y), abs=ROUNDING)
    assert value(x - y) == pytest.approx(value(x) - value(y), abs=ROUNDING)
    assert value(x * y) == pytest.approx(value(x) * value(y), abs=ROUNDING)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", ["a", "c", "x"])
def test_the_derivative_is_that_of_the_value(seed, name):
    x, step = some(seed), 1e-5
    ahead, behind = (value(x, POINT | {name: POINT[name] + s * step}) for s in (1, -1))
    size = 20 * x.size * len(x)  # bounds the third derivative: multiples of an angle reach 3
    result = value(x.derivative(name))
    assert result == pytest.approx((ahead - behind) / (2 * step), abs=size * step**2 + 1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_folding_keeps_the_value_and_adds_no_term(seed):
    x = some(seed)
    terms = folded(x)
    assert len(terms) <= len(x)
    assert value_of_terms(terms) == pytest.approx(value(x), abs=ROUNDING)


def test_squares_come_back():
    m, l = polynomial.letter("m"), polynomial.letter("l")
    x = m * cos("a") * cos("a") + l * sin("a") * sin("a")
    assert len(x) == 4
    assert sorted(len(waves) for _, _, waves in folded(x)) == [2, 2]


def test_products_across_one_group_come_back():
    x = cos("a") * cos("b") * polynomial.letter("m")
    assert len(x) == 2
    assert len(folded(x)) == 1


def test_what_cancels_to_rounding_is_nothing():
    tenth = polynomial.letter("m").scaled(0.1)
    assert len(tenth + tenth + tenth - polynomial.letter("m").scaled(0.3)) == 0


def test_one_term_can_be_divided_by_and_a_sum_cannot():
    m = polynomial.letter("m")
    inverse = m.inverse()
    assert inverse is not None
    assert m * inverse == polynomial.number(1.0)
    assert (m + polynomial.number(1.0)).inverse() is None
