"""Small matrices of normal forms: products, determinants and adjugates without a division, blocks that do not meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kinpair.closed_form import polynomial
from kinpair.closed_form.division import quotient
from kinpair.closed_form.expansion import Watch
from kinpair.closed_form.polynomial import Polynomial
from kinpair.errors import ClosedFormError

Square: TypeAlias = list[list[Polynomial]]
NEGLIGIBLE = 1e-13  # beside the largest number of an entry: what numbers that cancel leave behind
PARTS = 48  # a number this close to a multiple of 1/48 is one
ZERO = polynomial.number(0.0)
WORK = 20  # products of terms for each term that an entry may have


class Matrices:
    """Their arithmetic, for entries of at most `limit` terms; `watch` is told how long they are."""

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
        """a b."""
        columns = list(zip(*b, strict=True))
        return [[self.dot(row, column) for column in columns] for row in a]

    def determinant(self, a: Square) -> Polynomial:
        """By expansion along the first row, minors remembered."""
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
    """Without what is rounding; numbers that are simple fractions but for rounding made so."""
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
