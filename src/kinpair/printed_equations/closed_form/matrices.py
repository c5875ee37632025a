"""Exact division of normal forms, and small matrices of them.

With z = e^{ix} for every angle x a sum of products of symbols, sines and cosines is a Laurent polynomial in symbols
and z: cos x = (z + 1/z)/2, sin x = (z − 1/z)/2i. There the leading term of a product is the product of the leading
terms, so that a quotient is found term by term, as one does on paper, or is found not to exist.
"""

from __future__ import annotations

from cmath import exp
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import prod
from typing import TypeAlias

import numpy as np

from kinpair.errors import ClosedFormError
from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.polynomial import Polynomial, Term, Watch

Variable: TypeAlias = tuple[int, str]  # group of the angle, or −1 for a letter; name
Exponents: TypeAlias = tuple[int, ...]
Laurent: TypeAlias = dict[Exponents, complex]
VANISHES = 1e-5  # beside what is added up: a double root is known to half the digits
LEFT_OVER = 1e-11  # beside the largest number of the dividend


def quotient(
    x: Polynomial, y: Polynomial, limit: int | None = None, watch: Watch | None = None
) -> Polynomial | None:
    """x / y where it is a normal form of at most `limit` terms, None elsewhere."""
    variables = sorted(_variables(x) | _variables(y))
    left, divisor = _laurent(x, variables), _laurent(y, variables)
    if not left or not divisor:
        return x if divisor else None
    if not _vanishes_with(left, divisor):
        return None
    lead, size, result = max(divisor), x.size, Laurent()
    lowest = _minus(min(left), min(divisor))
    queue = [_negative(at) for at in left]
    heapify(queue)
    while queue:
        top = _negative(heappop(queue))
        if top not in left:
            continue
        place = _minus(top, lead)
        if place < lowest or (limit is not None and len(result) >= limit):
            return None
        if watch is not None:
            watch(f"{len(result)} terms of a quotient")
        result[place] = left[top] / divisor[lead]
        for there, value in divisor.items():
            at = _plus(place, there)
            if at not in left:
                heappush(queue, _negative(at))
            left[at] = left.get(at, 0.0) - result[place] * value
            if abs(left[at]) <= LEFT_OVER * size or there == lead:
                del left[at]
    return _real(result, variables)


def _vanishes_with(x: Laurent, y: Laurent) -> bool:
    """True if x is nothing where y is nothing. Checked in one place: where not, there is no quotient."""
    spread = [max(column) - min(column) for column in zip(*y, strict=True)]
    if not any(spread):
        return True
    main = min((k for k, n in enumerate(spread) if n), key=lambda k: spread[k])
    point = [(1.0 + 0.05 * k) * exp(0.7j * (k + 1)) for k in range(len(spread))]
    lowest = min(at[main] for at in y)
    line = np.zeros(spread[main] + 1, dtype=complex)
    for at, value in y.items():
        line[at[main] - lowest] += value * _at(at, point, main)
    roots = [z for z in np.roots(line[::-1]) if z]
    if not roots:
        return True
    point[main] = min(roots, key=lambda z: abs(abs(z) - 1.0))
    parts = [value * _at(at, point) for at, value in x.items()]
    return abs(sum(parts)) <= VANISHES * sum(map(abs, parts))


def _at(powers: Exponents, point: Sequence[complex], without: int = -1) -> complex:
    return prod(z**n for k, (z, n) in enumerate(zip(point, powers, strict=True)) if n and k != without)


def _negative(a: Exponents) -> Exponents:
    return tuple(-n for n in a)


def _variables(x: Polynomial) -> set[Variable]:
    plain = {(-1, name) for powers, _ in x.terms for name, _ in powers}
    return plain | {(w.group, name) for _, waves in x.terms for w in waves for name, _ in w.angle}


def _plus(a: Exponents, b: Exponents) -> Exponents:
    return tuple(m + n for m, n in zip(a, b, strict=True))


def _minus(a: Exponents, b: Exponents) -> Exponents:
    return tuple(m - n for m, n in zip(a, b, strict=True))


def _laurent(x: Polynomial, variables: list[Variable]) -> Laurent:
    total = Laurent()
    for term, value in x.terms.items():
        for factor, powers in _exponentials(term):
            at = tuple(powers.get(v, 0) for v in variables)
            total[at] = total.get(at, 0.0) + factor * value
    return {at: value for at, value in total.items() if value}


def _exponentials(term: Term) -> list[tuple[complex, dict[Variable, int]]]:
    powers, waves = term
    terms: list[tuple[complex, dict[Variable, int]]] = [(1.0, {(-1, name): n for name, n in powers})]
    for w in waves:
        up, down = (0.5, 0.5) if w.kind == "cos" else (-0.5j, 0.5j)
        turned = {(w.group, name): k for name, k in w.angle}
        back = {v: -k for v, k in turned.items()}
        terms = [(f * g, known | z) for f, known in terms for g, z in ((up, turned), (down, back))]
    return terms


def _real(x: Laurent, variables: list[Variable]) -> Polynomial:
    """Back to sines and cosines; what is imaginary is rounding."""
    total: dict[Term, complex] = {}
    for at, value in x.items():
        for factor, term in _waves(at, variables):
            total[term] = total.get(term, 0.0) + factor * value
    size = max((abs(value) for value in total.values()), default=0.0)
    kept = {term: value.real for term, value in total.items() if abs(value.real) > LEFT_OVER * size}
    return Polynomial(kept)


def _waves(at: Exponents, variables: list[Variable]) -> list[tuple[complex, Term]]:
    """Symbols times e^{ix} of each group as cos x + i sin x."""
    present = [(v, n) for v, n in zip(variables, at, strict=True) if n]
    letters = tuple((name, n) for (group, name), n in present if group < 0)
    terms: list[tuple[complex, polynomial.Waves]] = [(1.0, ())]
    for group in sorted({v[0] for v, _ in present if v[0] >= 0}):
        angle = tuple((name, n) for (its, name), n in present if its == group)
        choices = [
            (f, polynomial.signed_wave(group, kind, angle)) for f, kind in ((1.0, "cos"), (1.0j, "sin"))
        ]
        terms = [(f * g * h, (*waves, *more)) for f, waves in terms for g, (h, more) in choices if h]
    return [(factor, (letters, waves)) for factor, waves in terms]


Square: TypeAlias = list[list[Polynomial]]
NEGLIGIBLE = 1e-13  # beside the largest number of an entry: what numbers that cancel leave behind
PARTS = 48  # a number this close to a multiple of 1/48 is one
ZERO = polynomial.number(0.0)
WORK = 20  # products of terms for each term that an entry may have


class Matrices:
    """Arithmetic of matrices, for entries of at most `limit` terms; `watch` is called with their lengths."""

    def __init__(self, limit: int | None, watch: Watch | None = None) -> None:
        self.limit, self.watch = limit, watch

    def times(self, x: Polynomial, y: Polynomial) -> Polynomial:
        """A product of entries."""
        self._check(max(len(x), len(y), len(x) * len(y) // WORK))
        return x * y

    def quotient(self, x: Polynomial, y: Polynomial) -> Polynomial | None:
        """x / y where it is an entry, None elsewhere."""
        self._check(max(len(x), len(y)))
        return quotient(x, y, self.limit, self.watch)

    def _check(self, terms: int) -> None:
        if self.watch is not None:
            self.watch(f"{terms} terms")
        if self.limit is not None and terms > self.limit:
            raise ClosedFormError(f"the expanded form has more than {self.limit} terms", limit=self.limit)

    def dot(self, a: Sequence[Polynomial], b: Sequence[Polynomial]) -> Polynomial:
        """Σ_k a_k b_k, what cancels gone."""
        total = ZERO
        for x, y in zip(a, b, strict=True):
            total = total + self.times(x, y) if len(x) and len(y) else total
        return tidy(total)

    def product(self, a: Square, b: Square) -> Square:
        """Multiply two matrices, a b."""
        columns = list(zip(*b, strict=True))
        return [[self.dot(row, column) for column in columns] for row in a]

    def determinant(self, a: Square) -> Polynomial:
        """Compute the determinant by expansion along the first row, minors remembered."""
        known: dict[tuple[int, ...], Polynomial] = {(): polynomial.number(1.0)}

        def minor(columns: tuple[int, ...]) -> Polynomial:
            if columns not in known:
                row = a[len(a) - len(columns)]
                rest = [columns[:k] + columns[k + 1 :] for k in range(len(columns))]
                signed = [row[c] if k % 2 == 0 else -row[c] for k, c in enumerate(columns)]
                known[columns] = self.dot(
                    signed, [minor(x) if len(y) else ZERO for x, y in zip(rest, signed, strict=True)]
                )
            return known[columns]

        return minor(tuple(range(len(a))))

    def adjugate(self, a: Square) -> Square:
        """The matrix with a · adj a = det a."""
        n = len(a)
        rows = [[ZERO] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                less = [[x for k, x in enumerate(row) if k != j] for m, row in enumerate(a) if m != i]
                rows[j][i] = self.determinant(less).scaled(-1.0 if (i + j) % 2 else 1.0)
        return rows


def tidy(x: Polynomial) -> Polynomial:
    """Remove what is rounding; numbers that are simple fractions but for rounding made so."""
    size = NEGLIGIBLE * x.size
    return Polynomial({term: simple(value) for term, value in x.terms.items() if abs(value) > size})


def rounded(x: Polynomial) -> Polynomial:
    """Numbers that are simple fractions but for rounding made so."""
    return Polynomial({term: simple(value) for term, value in x.terms.items()})


def simple(value: float) -> float:
    """The multiple of 1/48 that a number is, but for rounding."""
    nearest = round(value * PARTS)
    close = nearest and abs(value * PARTS - nearest) <= PARTS * NEGLIGIBLE * max(1.0, abs(value))
    return nearest / PARTS if close else value


def transposed(a: Square) -> Square:
    """Rows as columns."""
    return [list(column) for column in zip(*a, strict=True)]


def blocks(a: Square) -> list[list[int]]:
    """Numbers that belong together in a symmetric matrix: it is zero between one list and another."""
    groups: list[list[int]] = []
    left = list(range(len(a)))
    while left:
        block = [left.pop(0)]
        for i in block:
            met = [j for j in left if len(a[i][j]) or len(a[j][i])]
            block += met
            left = [j for j in left if j not in met]
        groups.append(sorted(block))
    return groups
