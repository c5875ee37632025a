"""Loop functions that the tests translate: between them they use every construct of the language."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from kinpair.compiler.loops.kinds import Integers, Matrix, Vector
from kinpair.compiler.loops.lapack import lu_factor, lu_solve

LIMIT = 0.3
ROUNDS = 5


def dot(a: Vector, b: Vector) -> float:
    """aᵀ b."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


def largest(a: Vector) -> tuple[float, int]:
    """The largest entry at an even place, and the place; it stops at a NaN."""
    best, place, k = -math.inf, -1, 0
    while True:
        if k >= a.size or math.isnan(a[k]):
            break
        if k % 2 == 1:
            k += 1
            continue
        if a[k] > best:
            best, place = a[k], k
        k += 1
    return best, place


def sweep(D: Matrix, g: Vector, x: Vector) -> float:
    """Gauss–Seidel for x in a box, and its residual."""
    for _ in range(ROUNDS):
        for i in range(len(x)):
            x[i] = min(max(x[i] - (g[i] + dot(D[i], x)) / D[i, i], -LIMIT), LIMIT)
    error = 0.0
    for i in range(D.shape[0] - 1, -1, -1):
        step = g[i] + dot(D[i], x)
        error = max(error, abs(x[i] - min(max(x[i] - step, -LIMIT), LIMIT)))
    return error if math.isfinite(error) else -1.0


def solve(A: Matrix, b: Vector, pivots: Integers) -> int:
    """x of A x = b, in place of b."""
    info = lu_factor(A, pivots)
    if info != 0:
        return info
    return lu_solve(A, pivots, b)


class Pair(NamedTuple):
    """Two vectors and a weight."""

    a: Vector
    b: Vector
    weight: float


def product(pair: Pair) -> float:
    """The weighted product of a record."""
    return pair.weight * dot(pair.a, pair.b)


def weighted(pair: Pair) -> float:
    """A record that is passed on, and one that is made."""
    square = Pair(pair.a, pair.a, 2.0)
    return product(pair) + product(square)


def apply(f: Callable[[float], float], x: Vector) -> None:
    """f of each entry."""
    for k in range(len(x)):
        x[k] = f(x[k])


def bend(x: float) -> float:
    """Functions of the C library."""
    return math.sqrt(abs(x)) + math.exp(-x) * math.sin(x) - math.copysign(0.5, x) + math.log(1.0 + x * x)


def views(x: Vector, M: Matrix, work: Vector) -> int:
    """Slices, rows, matrices made of vectors, and a function that is passed on."""
    apply(bend, x)
    M[:] = 2
    M[0] = x
    M[1:, 0:2] = work[:6].reshape(3, 2)[1:, :]
    work[1:-1] = 0.0
    row = M[-1]
    row[0] = x[-1]
    count = 0
    for k in range(2, 9, 3):
        count += k
    return count + len(M) * M.shape[1]


def integers(a: int, b: int, order: Integers) -> int:
    """Whole numbers with Python's signs."""
    order[0], order[1] = a // b, a % b
    order[2] = (a & 7) | (b << 2)
    order[3] = min(a, b, 3) - abs(a)
    return int(a > b) + int(float(a) / 3.0)


def conditions(x: float, y: float) -> int:
    """Comparisons, which no NaN satisfies but `!=`."""
    code = 0
    if x < y <= 1.0 and not x < -5.0:
        code += 1
    elif x != x or y > 2.0:
        code += 2
    else:
        pass
    code += 4 if x >= y else 8
    kept = x > 0.0 or 1.0 / y > 0.5
    return code + 16 if kept else -code


def untyped(x, y: float) -> float:
    """An argument without annotation."""
    return x + y


def power(x: float) -> float:
    """A power."""
    return x**3.0


def changes_kind(x: float) -> float:
    """A whole number that becomes a float."""
    total = 0
    for _ in range(2):
        total = x + total
    return total


def column(M: Matrix, x: Vector) -> None:
    """A column, which is not contiguous."""
    x[:] = M[:, 0]


def python_sum(x: Vector) -> float:
    """A function of Python that has no translation."""
    return sum(x)


def keyword(x: Vector) -> float:
    """A call with a keyword."""
    return dot(x, b=x)


def early(x: float) -> float:
    """A name that is not assigned."""
    while x > 0.0:
        x -= step if x < 1.0 else 1.0  # noqa: F821
    return x


def returns_array(x: Vector) -> Vector:
    """An array as a result."""
    return x
