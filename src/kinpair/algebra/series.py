"""Truncated Taylor series: a smooth function near a point, as its coefficients a_k = f⁽ᵏ⁾/k!.

A series is a list of numbers, symbols or arrays of them; coefficients beyond its end are zero.

    c = a b            c_k = Σ_j a_j b_{k−j}                                                     (TY1)
    c = a(s)           c = a_0 + δ (a_1 + δ (a_2 + …)),    δ = s − s_0                           (TY2)
    c = a^p            k a_0 c_k = Σ_{j=1..k} (j p − k + j) a_j c_{k−j}                          (TY3)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any, TypeAlias

import numpy as np

Series: TypeAlias = Sequence[Any]


def product(a: Series, b: Series, order: int) -> list[Any]:
    """a b up to this order; of vectors, entry by entry.    (TY1)"""
    return [
        sum(a[j] * b[k - j] for j in range(max(0, k - len(b) + 1), min(k, len(a) - 1) + 1))
        for k in range(min(order, len(a) + len(b) - 2) + 1)
    ]


def composed(a: Series, s: Series, order: int) -> list[Any]:
    """a(s) as a function of what s depends on; a is expanded where s is.    (TY2)"""
    shift = [0.0, *s[1 : order + 1]]
    found: list[Any] = [a[-1]]
    for coefficient in reversed(a[:-1]):
        found = product(found, shift, order)
        found = [found[0] + coefficient, *found[1:]]
    return found


def power(a: Series, p: float, order: int) -> list[Any]:
    """aᵖ; a_0 is not zero.    (TY3)"""
    found = [a[0] ** p]
    for k in range(1, order + 1):
        total = sum((j * p - k + j) * a[j] * found[k - j] for j in range(1, min(k, len(a) - 1) + 1))
        found.append(np.divide(total, k * a[0]))
    return found


def rate(a: Series) -> list[Any]:
    """The series of the derivative, one shorter."""
    return [k * x for k, x in enumerate(a)][1:]


def derivatives(a: Series) -> list[Any]:
    """The function and its derivatives at the point."""
    return [factorial(k) * x for k, x in enumerate(a)]


def series(derivatives: Series) -> list[Any]:
    """The coefficients, from the function and its derivatives."""
    return [x / factorial(k) for k, x in enumerate(derivatives)]
