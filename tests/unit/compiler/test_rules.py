"""Each rewrite, once."""

import math

import pytest

from kinpair.compiler.graph import Expr, Graph

g = Graph()
x, y, z = g.symbol("x"), g.symbol("y"), g.symbol("z")
p = x < y

SAME = {
    "2 + 3": (g.const(2.0) + 3.0, g.const(5.0)),
    "0 + y": (0.0 + y, y),
    "y + 0": (y + 0.0, y),
    "2 + (3 + x)": (2.0 + (3.0 + x), 5.0 + x),
    "x + 2": (x + 2.0, 2.0 + x),
    "x + (-y)": (x + -y, x - y),
    "(-x) + y": (-x + y, y - x),
    "2 + (3 - x)": (2.0 + (3.0 - x), 5.0 - x),
    "(-2 x) - y": (-2.0 * x - y, -(2.0 * x + y)),
    "x + (-2 y)": (x + -2.0 * y, x - 2.0 * y),
    "x - (-2 y)": (x - -2.0 * y, x + 2.0 * y),
    "x * (1 / x)": (x * (1.0 / x), g.const(1.0)),
    "(1 / y) * y": ((1.0 / y) * y, g.const(1.0)),
    "x + y = y + x": (x + y, y + x),
    "2 - 3": (g.const(2.0) - 3.0, g.const(-1.0)),
    "x - 2": (x - 2.0, -2.0 + x),
    "0 - y": (0.0 - y, -y),
    "x - x": (x - x, g.const(0.0)),
    "x - (-y)": (x - -y, x + y),
    "(-x) - y": (-x - y, -(x + y)),
    "x - z after z - x": (-(z - x), x - z),
    "-(x - z) when z - x is there": (-(x - z), z - x),
    "2 * 3": (g.const(2.0) * 3.0, g.const(6.0)),
    "0 * y": (0.0 * y, g.const(0.0)),
    "1 * y": (1.0 * y, y),
    "-1 * y": (-1.0 * y, -y),
    "2 * (3 * x)": (2.0 * (3.0 * x), 6.0 * x),
    "2 * (-y)": (2.0 * -y, -2.0 * y),
    "x * 2": (x * 2.0, 2.0 * x),
    "x * (-y)": (x * -y, -(x * y)),
    "(-x) * y": (-x * y, -(x * y)),
    "(-x) * (-y)": (-x * -y, x * y),
    "x * y = y * x": (x * y, y * x),
    "x / 4": (x / 4.0, 0.25 * x),
    "0 / y": (0.0 / y, g.const(0.0)),
    "(-x) / y": (-x / y, -(x / y)),
    "x / (-y)": (x / -y, -(x / y)),
    "-(2)": (-g.const(2.0), g.const(-2.0)),
    "-(-x)": (-(neg := -x), x),
    "-(2 x)": (-(2.0 * x), -2.0 * x),
    "sin(-x)": ((-x).sin(), -(x.sin())),
    "cos(-x)": ((-x).cos(), x.cos()),
    "tanh(-x)": ((-x).tanh(), -(x.tanh())),
    "abs(-x)": (abs(-x), abs(x)),
    "abs(abs(x))": (abs(abs(x)), abs(x)),
    "sin(2)": (g.const(2.0).sin(), g.const(math.sin(2.0))),
    "min(x, x)": (x.minimum(x), x),
    "max(x, x)": (x.maximum(x), x),
    "not not p": (~~p, p),
    "where(True, x, y)": (g.const(True).where(x, y), x),
    "where(False, x, y)": (g.const(False).where(x, y), y),
    "where(p, x, x)": (p.where(x, x), x),
    "where(not p, x, y)": ((~p).where(x, y), p.where(y, x)),
    "where(p, x, 0) * y": (p.where(x, 0.0) * y, p.where(x * y, 0.0)),
    "x * where(p, 0, y)": (x * p.where(0.0, y), p.where(0.0, x * y)),
    "x ** 0": (x**0, g.const(1.0)),
    "x ** 1": (x**1, x),
    "x ** 3": (x**3, (x * x) * x),
    "x ** -1": (x**-1, 1.0 / x),
    "x ** 0.5": (x**0.5, x.sqrt()),
    "-0.0": (g.const(-0.0), g.const(0.0)),
}


@pytest.mark.parametrize("name", SAME)
def test_both_sides_are_one_node(name: str):
    left, right = SAME[name]
    assert isinstance(left, Expr)
    assert left is right


def test_a_division_by_zero_stays():
    assert (x / 0.0).op == "div"


def test_true_is_not_one():
    assert g.const(True) is not g.const(1.0)
