"""Ordinary NumPy in functions of a user: plain NumPy = the recorded graph = machine code, one state and batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np
import pytest

import families
import kinpair as kp
from kinpair.algebra.jet import rate
from kinpair.algebra.user_functions import call

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, np.nan, np.inf, -np.inf])
SPECIAL.flags.writeable = False


def filled(x, y):
    a = np.zeros(3)
    a[0] = x[0]
    a[1:] += y[1:] * 2.0
    a[a > 1.0] = 0.25
    a *= 2.0
    return a


def unpacked(x, y):
    a, b, c = x
    return [a * b, np.where(c > 0.0, a, b), np.sum(y > 0.0)]


def magnitude(v):
    return np.sqrt(np.sum(np.array([v[0], v[1]]) ** 2))


def in_place(x, y):
    first, a, whole = x[0], x[0], np.asarray(y)
    a += 1.0
    whole[1] = a  # y itself
    part, b = x[1:], np.zeros_like(x, dtype=float)
    part *= 2.0  # a part of x itself
    b[:2] -= part
    a **= 2
    return np.concatenate([x, y, b, [first, a]])


def nested():
    def power(v, n):
        return np.array([1.0, 1.0, 1.0]) if n == 0 else np.clip(v * power(v, n - 1), -9.0, 9.0)

    return lambda x, y: power(x, 3) + power(y, 2)


TABLE = [-1.0, 0.0, 0.5, 2.0], [1.0, 0.0, 3.0, -1.0]
ENTRYWISE: dict[str, Callable[..., Any]] = {  # compared on special values too
    "where": lambda x, y: np.where(x > y, x, y),
    "where of numbers": lambda x, y: np.where(x, 1.0, y),
    "maximum": lambda x, y: np.maximum(x, y),
    "minimum": lambda x, y: np.minimum(x, y),
    "fmax, fmin": lambda x, y: np.stack([np.fmax(x, y), np.fmin(x, y)]),
    "clip": lambda x, y: np.clip(x, -0.5, 0.5),
    "clip from below": lambda x, y: np.clip(x, y, None),
    "abs": lambda x, y: np.abs(x),
    "sign": lambda x, y: np.sign(x),
    "heaviside": lambda x, y: np.heaviside(x, 0.5),
    "copysign": lambda x, y: np.copysign(x, y),
    "signbit": lambda x, y: np.signbit(x) * 1.0,
    "isnan, isinf": lambda x, y: np.stack([1.0 * np.isnan(x), 1.0 * np.isinf(x), 1.0 * np.isfinite(x)]),
    "comparisons": lambda x, y: np.where((x <= y) & (x >= -1.0) | ~(y == 0.5) ^ (x != y), 1.0, 2.0),
    "logical": lambda x, y: np.where(np.logical_and(x < y, np.logical_not(y < 1.0)), 1.0, 2.0),
    "select": lambda x, y: np.select([x < 0.0, x < 1.0], [1.0, y], 3.0),
    "trunc": lambda x, y: np.trunc(x),
    "rint": lambda x, y: np.rint(x),
    "floor, ceil": lambda x, y: np.stack([np.floor(x), np.ceil(x)]),
    "interp": lambda x, y: np.interp(x, *TABLE),
    "interp with ends": lambda x, y: np.interp(x, *TABLE, left=7.0, right=-7.0),
    "sqrt": lambda x, y: np.sqrt(x),
    "exp": lambda x, y: np.exp(x),
    "log": lambda x, y: np.log(x),
    "tanh": lambda x, y: np.tanh(x),
    "arctan2": lambda x, y: np.arctan2(x, y),
    "deg2rad": lambda x, y: np.deg2rad(x) + np.radians(y),
    "rad2deg": lambda x, y: np.rad2deg(x) - np.degrees(y),
}
OTHERS: dict[str, Callable[..., Any]] = {
    "conditions as numbers": lambda x, y: 3.0 * (x > y) + (x < 0.0) * y,
    "hypot": lambda x, y: np.hypot(x, y),
    "powers": lambda x, y: np.abs(x) ** 0.3 + 2.0**y + x**2 + np.cbrt(x) + np.square(y),
    "logarithms": lambda x, y: np.log10(np.abs(x)) + np.log2(np.abs(y)) + np.exp2(x) + np.expm1(y),
    "remainders": lambda x, y: (x + np.pi) % (2.0 * np.pi) + x // 0.7 + np.fmod(x, 0.3),
    "cross": lambda x, y: np.cross(x, y),
    "norms": lambda x, y: np.linalg.norm(x) + np.linalg.norm(y, 1) + np.linalg.norm(y, np.inf),
    "norms of rows": lambda x, y: np.linalg.norm(np.outer(x, y), axis=1),
    "dot": lambda x, y: np.dot(x, y) + x.dot(y) + x @ y + np.inner(x, y),
    "slices": lambda x, y: x[1:] * y[:-1] + x[::-1][:2] - y[[0, 2]],
    "concatenate": lambda x, y: np.concatenate([x[:2], [y[0] * 2.0, 1.0], y]),
    "stack": lambda x, y: np.stack([x, y], axis=1) @ np.array([1.0, 2.0]),
    "stacks of numbers": lambda x, y: np.hstack([x[0], y]) + np.append(y, x[1]),
    "sums": lambda x, y: np.array([np.sum(x), x.sum(), np.mean(y), y.mean(), np.prod(x), np.cumsum(y)[1]]),
    "extremes": lambda x, y: np.array([np.max(x), x.min(), np.ptp(y), max(x[0], y[1]), min(0.0, x[0], y[0])]),
    "extremes of axes": lambda x, y: np.max(np.outer(x, y), axis=1) + np.min(np.outer(x, y), axis=0),
    "any, all": lambda x, y: np.where(np.any(x > 0.5) | (y > 0.0).all(), x, y),
    "array of entries": lambda x, y: np.clip(np.array([[x[0], 3.0 * y[1]], [0.0, x[2]]]), -1.0, 1.0),
    "math": lambda x, y: [math.sin(x[0]), math.hypot(*x), math.atan2(y[0], x[0]), math.floor(x[0]), math.pi],
    "more of math": lambda x, y: [
        math.fabs(x[0]),
        math.exp(x[1]),
        math.copysign(2.0, y[0]),
        math.radians(y[1]),
    ],
    "filled": filled,
    "unpacked": unpacked,
    "of a function": lambda x, y: magnitude(x) - magnitude(np.sin(y)),
    "in place": in_place,
    "rounded": lambda x, y: np.round(x, 1) + y.round() + np.around(1.1 * x),
    "of itself": nested(),
    "statistics": lambda x, y: np.array([x.std(), y.var(), np.average(x, weights=[1, 2, 3]), np.diff(y)[0]]),
    "powers of values": lambda x, y: np.abs(x) ** y + 2.0 ** (x - y) + (x - x) ** (y - y),
    "matrices": lambda x, y: np.eye(3) * x @ np.diag(y) + np.array([[1.0, 2.0, 3.0]] * 3).T,
}
EVERY = ENTRYWISE | OTHERS
NAMES = [
    "maximum",
    "comparisons",
    "interp",
    "filled",
    "extremes",
    "math",
    "array of entries",
    "concatenate",
    "in place",
]


def agree(f, x, y, rel=1e-13):
    """Rows of x and y: NumPy row by row, the graph row by row, machine code row by row and as a batch."""
    kernel = kp.compile(f, x[0], y[0])
    with np.errstate(all="ignore"):
        plain = np.array([np.asarray(f(a.copy(), b.copy()), dtype=float) for a, b in zip(x, y, strict=True)])
    in_list = isinstance(kernel.interpret(x[0], y[0]), list)  # a list of numbers stays one
    collect = partial(np.stack, axis=-1) if in_list else np.asarray
    results = {
        "graph": np.array([collect(kernel.interpret(a, b)) for a, b in zip(x, y, strict=True)]),
        "one": np.array([collect(kernel(a, b)) for a, b in zip(x, y, strict=True)]),
        "batch": collect(kernel(x, y)),
    }
    for path, values in results.items():
        np.testing.assert_allclose(values, plain, rtol=rel, atol=rel, err_msg=path)


@pytest.mark.parametrize("name", families.family(EVERY, NAMES, "functions like those of the usual set"))
def test_functions_give_what_numpy_gives(name):
    random = np.random.default_rng(5)
    x, y = random.integers(-8, 9, (2, 19, 3)) / 4.0 + 0.0625  # exact in binary, many of them equal
    agree(EVERY[name], x, y)


SPECIAL_NAMES = ["maximum", "clip", "sign", "comparisons", "interp"]


@pytest.mark.parametrize("name", families.family(ENTRYWISE, SPECIAL_NAMES, "the usual set has every choice"))
def test_ties_zeros_and_what_is_no_number_are_as_numpy_has_them(name):
    x, y = (values.reshape(-1, 11) for values in np.meshgrid(SPECIAL, SPECIAL))
    agree(ENTRYWISE[name], x, y)


# no rounding on multiples of 1/4 that are not large: comparisons are safe
EXACT: list[Callable[..., Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - 2.0 * y,
    lambda x, y: np.maximum(x, y),
    lambda x, y: np.minimum(x, 0.5),
    lambda x, y: np.abs(x) - y,
    lambda x, y: np.sign(x) * y,
    lambda x, y: np.clip(x, -1.0, 1.0) + y[::-1],
    lambda x, y: np.where(x > y, x, -y),
    lambda x, y: np.where((x > 0.0) & (y <= 0.25) | ~(x == y), x, 1.0),
    lambda x, y: np.heaviside(x, 0.5) + y,
    lambda x, y: 0.25 * (x < y) + x,
    lambda x, y: np.floor(x) - y,
    lambda x, y: np.concatenate([x[1:], y[:1]]),
    lambda x, y: np.stack([x[0], max(x[1], y[1]), y[2]]),
    lambda x, y: np.array([np.sum(x), np.max(y), x[0] - y[0]]),
    lambda x, y: np.interp(x, [-1.0, 0.0, 1.0, 3.0], [0.0, 1.0, 0.5, 1.5]),
]
SMOOTH: list[Callable[..., Any]] = [
    lambda x, y: np.sin(x) * y,
    lambda x, y: np.hypot(x, y),
    lambda x, y: np.exp(-np.abs(x)) + np.tanh(y),
    lambda x, y: np.sqrt(np.abs(x)) + np.log(1.0 + np.abs(y)),
    lambda x, y: np.arctan2(x, 3.0 + np.abs(y)),
    lambda x, y: np.cross(x, y) / (1.0 + np.linalg.norm(x)),
    lambda x, y: np.dot(x, y) * np.deg2rad(x) + np.mean(y),
    lambda x, y: np.array([math.cos(x[0]), math.sqrt(1.0 + y[1] ** 2), math.atan(x[2])]),
]


def composed(random: np.random.Generator) -> Callable[..., Any]:
    """A random expression: choices on exact numbers inside, smooth functions around them."""
    every = [EXACT[k] for k in random.integers(0, len(EXACT), 6)]
    every += [SMOOTH[k] for k in random.integers(0, len(SMOOTH), 3)]
    return reduce(lambda then, f: before(f, then), reversed(every), both)


def both(x: Any, y: Any) -> Any:
    return np.stack([x, y])


def before(f: Callable[..., Any], then: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: then(y, f(x, y))


@pytest.mark.parametrize("seed", families.family(range(120), ["0", "1", "2", "3"], "more of the same kind"))
def test_random_expressions_give_what_numpy_gives(seed):
    random = np.random.default_rng(seed)
    f = composed(random)
    x, y = random.integers(-8, 9, (2, 13, 3)) / 4.0
    agree(f, x, y, rel=1e-11)


# Derivatives are those of the branch taken. For equal values: of the second, and zero if one is a constant.

KINKS = {  # function, its derivative on the left of 0, at 0, and on the right
    "maximum(x, 0)": (lambda x: np.maximum(x, 0.0), 0.0, 0.0, 1.0),
    "maximum(0, x)": (lambda x: np.maximum(0.0, x), 0.0, 0.0, 1.0),
    "minimum(x, 0)": (lambda x: np.minimum(x, 0.0), 1.0, 0.0, 0.0),
    "minimum(0, x)": (lambda x: np.minimum(0.0, x), 1.0, 0.0, 0.0),
    "clip(x, 0, 1)": (lambda x: np.clip(x, 0.0, 1.0), 0.0, 0.0, 1.0),
    "maximum(2 x, 3 x)": (lambda x: np.maximum(2.0 * x, 3.0 * x), 2.0, 3.0, 3.0),
    "minimum(2 x, 3 x)": (lambda x: np.minimum(2.0 * x, 3.0 * x), 3.0, 3.0, 2.0),
    "where(x > 0, 3 x, 2 x)": (lambda x: np.where(x > 0.0, 3.0 * x, 2.0 * x), 2.0, 2.0, 3.0),
    "where(x >= 0, 3 x, 2 x)": (lambda x: np.where(x >= 0.0, 3.0 * x, 2.0 * x), 2.0, 3.0, 3.0),
    "abs(x)": (lambda x: np.abs(x), -1.0, 0.0, 1.0),
    "sign(x)": (lambda x: np.sign(x), 0.0, 0.0, 0.0),
    "heaviside(x, 0.5)": (lambda x: np.heaviside(x, 0.5), 0.0, 0.0, 0.0),
    "interp(x)": (lambda x: np.interp(x, [-1.0, 0.0, 1.0], [1.0, 0.0, 3.0]), -1.0, 3.0, 3.0),
}


@pytest.mark.parametrize("name", KINKS)
def test_derivatives_at_a_kink_are_as_documented(name):
    f, *slopes = KINKS[name]
    m = kp.build(kp.Builder("slider").link("a", mass=1.0).joint("x", "prismatic", "ground", "a", axis="x"))
    for x, slope in zip((-0.25, 0.0, 0.25), slopes, strict=True):
        assert rate(lambda x: call(f, x), (x,), (1.0,)) == slope
        linear = kp.linearise(m, [x], outputs={"f": lambda t, q, qd: f(q[0])})
        assert linear.C[0, 0] == slope
