"""Choosing by value inside a function that is differentiated: the rate is that of the branch taken."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.algebra.arrays import array
from kinpair.algebra.choice import less, maximum, minimum, sign, where
from kinpair.algebra.jet import gradient, rate
from kinpair.errors import TraceError

CHOICES = {
    "where": (
        lambda x: where(less(x[0], x[1]), x[0] ** 2, x[1] ** 3),
        lambda a, b: (2 * a, 0) if a < b else (0, 3 * b * b),
    ),
    "condition": (
        lambda x: where(x[0] * x[0] > x[1], 2.0 * x[0], 5.0),
        lambda a, b: (2, 0) if a * a > b else (0, 0),
    ),
    "minimum": (lambda x: minimum(x[0], x[1]), lambda a, b: (1, 0) if a < b else (0, 1)),
    "maximum": (lambda x: maximum(x[0] * x[1], 0.3), lambda a, b: (b, a) if a * b > 0.3 else (0, 0)),
    "of a number": (lambda x: minimum(0.2, x[0]) * x[1], lambda a, b: (b if a < 0.2 else 0, min(0.2, a))),
    "sign": (lambda x: sign(x[0]) * x[0] * x[1], lambda a, b: (np.sign(a) * b, abs(a))),
    "abs": (lambda x: np.abs(x[0]) * abs(x[1]), lambda a, b: (np.sign(a) * abs(b), abs(a) * np.sign(b))),
    "hypot": (lambda x: np.hypot(x[0], x[1]), lambda a, b: (a / np.hypot(a, b), b / np.hypot(a, b))),
}
STATES = [(0.7, -0.4), (-0.7, 0.4), (0.1, 0.9), (0.9, 0.8)]


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("state", STATES, ids=str)
def test_the_rate_is_that_of_the_branch_taken(name, state):
    f, slope = CHOICES[name]
    x = np.array(state)
    assert np.asarray(gradient(f, x), dtype=float) == pytest.approx(slope(*state), rel=1e-14, abs=1e-15)
    assert kp.compile(lambda x: gradient(f, x), x)(x) == pytest.approx(slope(*state), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("state", STATES, ids=str)
def test_choices_nest_in_rates_of_rates(state):
    """|x|³ has the second derivative 6 |x|, both as floats and recorded."""

    def second(x):
        return array([rate(lambda y: rate(lambda z: abs(z) ** 3, (y,), (1.0,)), (k,), (1.0,)) for k in x])

    x = np.array(state)
    assert np.asarray(second(x), dtype=float) == pytest.approx(6 * np.abs(x), rel=1e-13)
    assert kp.compile(second, x)(x) == pytest.approx(6 * np.abs(x), rel=1e-13)


def test_branches_of_different_rates_are_chosen_by_the_outer_one():
    """d/dx d/dy of max(x, x y) at x = 2, y = 3 is that of x y: one."""

    def inner(x):
        return rate(lambda y: maximum(x, x * y), (3.0,), (1.0,))

    assert float(rate(inner, (2.0,), (1.0,))) == 1.0


def test_plain_numpy_choices_work_on_floats_and_are_refused_with_advice_on_symbols():
    def f(x):
        return np.where(x[0] > 0.0, x[0] * x[1], x[1])

    assert np.asarray(gradient(f, np.array([2.0, 3.0])), dtype=float).tolist() == [3.0, 2.0]
    with pytest.raises(TraceError, match=r"use np\.where\(condition, a, b\)"):
        kp.compile(lambda x: gradient(f, x), np.zeros(2))


def test_the_choice_is_at_hand():
    assert kp.where is where
