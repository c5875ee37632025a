"""Numbers that carry their rate: each operation beside the complex step, nested ones beside known derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.algebra.jet import Jet, gradient, jacobian, rate
from opaque import hide, reveal

STEP = 1e-200
EXACT = 1e-14  # a few roundings
X, Y, XD, YD = 0.6, 0.7, 1.3, -0.4

OPERATIONS = {
    "x + y": lambda x, y: x + y,
    "x - y": lambda x, y: x - y,
    "x * y": lambda x, y: x * y,
    "x / y": lambda x, y: x / y,
    "1 + x": lambda x, y: 1.0 + x,
    "1 - x": lambda x, y: 1.0 - x,
    "2 * x": lambda x, y: 2.0 * x,
    "2 / x": lambda x, y: 2.0 / x,
    "-x": lambda x, y: -x,
    "+x": lambda x, y: +x,
    "x ** 3": lambda x, y: x**3,
    "x ** -2": lambda x, y: x**-2,
    "x ** 0.5": lambda x, y: x**0.5,
    "x ** y": lambda x, y: x**y,
    "sin": lambda x, y: np.sin(x),
    "cos": lambda x, y: np.cos(x),
    "tan": lambda x, y: np.tan(x),
    "sqrt": lambda x, y: np.sqrt(x),
    "exp": lambda x, y: np.exp(x),
    "log": lambda x, y: np.log(x),
    "tanh": lambda x, y: np.tanh(x),
    "sinh": lambda x, y: np.sinh(x),
    "cosh": lambda x, y: np.cosh(x),
    "arctan": lambda x, y: np.arctan(x),
    "arcsin": lambda x, y: np.arcsin(x),
    "arccos": lambda x, y: np.arccos(x),
    "together": lambda x, y: np.sin(x * y) / (1.0 + x * x) - np.exp(-y) * np.sqrt(x + y),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_rate_of_an_operation_is_that_of_the_complex_step(name):
    f = OPERATIONS[name]
    expected = np.imag(f(complex(X, STEP * XD), complex(Y, STEP * YD))) / STEP
    assert rate(f, (np.float64(X), np.float64(Y)), (XD, YD)) == pytest.approx(expected, rel=EXACT)


@pytest.mark.parametrize("name", OPERATIONS)
def test_rate_of_a_rate_is_the_rate_of_the_derivative(name):
    """d²f along the line, by a complex step of the first rate."""
    f = OPERATIONS[name]

    def first(x, y):
        return rate(f, (x, y), (XD, YD))

    expected = np.imag(first(complex(X, STEP * XD), complex(Y, STEP * YD))) / STEP
    result = rate(first, (np.float64(X), np.float64(Y)), (XD, YD))
    assert result == pytest.approx(expected, rel=1e-13, abs=1e-14)


def test_angle_of_a_point_turns_at_its_angular_velocity():
    for angle in (-3.0, -1.0, 0.5, 2.0):
        y, x = np.sin(angle), np.cos(angle)
        assert rate(np.arctan2, (y, x), (x, -y)) == pytest.approx(1.0, rel=EXACT)


def test_amount_of_a_negative_number_falls_as_it_grows():
    assert rate(np.abs, (-2.0,), (3.0,)) == -3.0
    assert rate(np.abs, (2.0,), (3.0,)) == 3.0


def test_polynomial_has_its_three_derivatives():
    x = 1.7

    def f(x):
        return x**4

    first = lambda x: rate(f, (x,), (1.0,))  # noqa: E731
    second = lambda x: rate(first, (x,), (1.0,))  # noqa: E731
    assert first(x) == pytest.approx(4 * x**3)
    assert second(x) == pytest.approx(12 * x**2)
    assert rate(second, (x,), (1.0,)) == pytest.approx(24 * x)


def test_jets_of_different_calls_do_not_meet():
    """d/dx (x d/dy (x + y)) = 1: the inner rate must not see that x moves outside."""
    result = rate(lambda x: x * rate(lambda y: x + y, (1.0,), (1.0,)), (3.0,), (1.0,))
    assert result == 1.0


def test_what_does_not_move_has_no_rate_and_makes_no_jet():
    seen = []
    assert rate(lambda x, y: seen.append(y) or 5.0, (1.0, 2.0), (1.0, 0.0)) == 0.0
    assert not isinstance(seen[0], Jet)
    assert rate(lambda x: x**0, (3.0,), (1.0,)) == 0.0


def test_results_keep_their_shapes():
    x, xd = np.arange(1.0, 5.0).reshape(2, 2), np.eye(2)
    result = rate(lambda A: A @ A, (x,), (xd,))
    assert result == pytest.approx(xd @ x + x @ xd)
    assert rate(lambda A: np.zeros((0, 3)), (x,), (xd,)).shape == (0, 3)
    assert rate(lambda A: [A[0, 0], A[1]], (x,), (xd,))[0] == 1.0


def test_gradient_and_jacobian_are_those_of_a_quadratic_form():
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    x = np.array([0.3, -0.7])
    assert gradient(lambda x: 0.5 * (x @ (A @ x)), x) == pytest.approx(A @ x)
    assert jacobian(lambda x: A @ x, x, 2) == pytest.approx(A)
    assert jacobian(lambda x: np.zeros(0), x, 0).shape == (0, 2)


def test_rates_run_on_symbols():
    x, xd = np.array([0.3, 0.5]), np.array([1.0, -2.0])

    def f(x):
        return np.array([np.sin(x[0]) * x[1], x[0] / x[1]])

    assert reveal(rate(f, (hide(x),), (hide(xd),))) == pytest.approx(rate(f, (x,), (xd,)), rel=EXACT)


def test_order_follows_the_values():
    seen = {}

    def f(x):
        seen.update(less=x < 2.0, more=x > 2.0, at_most=x <= 1.0, at_least=x >= 1.0)
        return x

    rate(f, (1.0,), (1.0,))
    assert seen == {"less": True, "more": False, "at_most": True, "at_least": True}


def test_a_jet_shows_value_and_rate():
    shown = []
    rate(lambda x: shown.append(repr(x)) or x, (1.5,), (2.0,))
    assert shown == ["1.5 + ε 2.0"]
