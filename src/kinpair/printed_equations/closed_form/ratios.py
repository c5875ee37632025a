"""Quotients of normal forms over denominators that have names, Y1, Y2, ...

A ratio is a sum of parts, each a normal form over a product of named denominators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.folding import folded
from kinpair.printed_equations.closed_form.matrices import ZERO, Matrices, tidy
from kinpair.printed_equations.closed_form.polynomial import Polynomial

Names: TypeAlias = tuple[str, ...]  # of denominators, sorted; one that is squared stands twice
Ratio: TypeAlias = dict[Names, Polynomial]
FINEST = 96  # largest denominator of a number that counts as a fraction
FOLDED = 60  # terms of a sum whose products of waves are looked at
SAME = ".10e"  # digits to which numbers of equal denominators agree


class Whole(NamedTuple):
    """One normal form over a product of denominators; `short` has the names of the denominators in it."""

    numerator: Polynomial
    short: Polynomial
    under: Names


class Denominators:
    """Denominators by name, in the order in which they were met."""

    def __init__(self, matrices: Matrices, letter: str = "Y") -> None:
        self._matrices, self._letter = matrices, letter
        self._names: dict[frozenset[object], str] = {}
        self.meaning: dict[str, Polynomial] = {}

    def name(self, x: Polynomial) -> str:
        """The name of a normal form, given now if it has none."""
        key = frozenset((term, f"{value:{SAME}}") for term, value in x.terms.items())
        if key not in self._names:
            self._names[key] = f"{self._letter}{len(self._names) + 1}"
            self.meaning[self._names[key]] = x
        return self._names[key]

    def over(self, x: Polynomial) -> tuple[Polynomial, Names]:
        """1/x as one term over a named denominator, or over none where x is one term."""
        content, primitive = split(x)
        inverse = content.inverse()
        assert inverse is not None  # one term without waves
        if len(primitive) == 1 and primitive.inverse() is not None:
            return inverse, ()
        return inverse, (self.name(primitive),)

    def product(self, names: Iterable[str]) -> Polynomial:
        """The denominators multiplied out."""
        return reduce(self._matrices.times, (self.meaning[name] for name in names), polynomial.number(1.0))

    def reduced(self, x: Polynomial, under: Names) -> tuple[Polynomial, Names]:
        """Remove the denominators that divide x."""
        left: list[str] = []
        for name in under:
            whole = self._matrices.quotient(x, self.meaning[name])
            x, left = (x, [*left, name]) if whole is None else (tidy(whole), left)
        return x, tuple(left)

    def whole(self, x: Ratio) -> Whole:
        """A sum of parts over one denominator, what divides both taken out."""
        parts = {under: part for under, part in x.items() if len(part)}
        common = joined(parts)
        total, short = ZERO, ZERO
        for under, part in parts.items():
            missing = _missing(common, under)
            total = total + self._matrices.times(part, self.product(missing))
            short = short + part * letters(missing)
        total = tidy(total)
        numerator, under = self.reduced(total, common) if len(total) else (ZERO, ())
        return Whole(numerator, tidy(short) if under == common else numerator, under)


def letters(names: Iterable[str]) -> Polynomial:
    """A product of names."""
    return reduce(lambda x, name: x * polynomial.letter(name), names, polynomial.number(1.0))


def joined(every: Iterable[Names]) -> Names:
    """The least common multiple of products of names."""
    total: Counter[str] = Counter()
    for names in every:
        total |= Counter(names)
    return tuple(sorted(total.elements()))


def _missing(common: Names, under: Names) -> Names:
    return tuple(sorted((Counter(common) - Counter(under)).elements()))


def lifted(x: Polynomial, under: Names, common: Names) -> Polynomial:
    """Numerator over `common` for x over `under`."""
    return x * letters(_missing(common, under))


def added(parts: Sequence[Ratio]) -> Ratio:
    """Add two fractions."""
    total: Ratio = {}
    for ratio in parts:
        for under, part in ratio.items():
            total[under] = tidy(total.get(under, ZERO) + part)
    return {under: part for under, part in total.items() if len(part)}


def scaled(matrices: Matrices, x: Ratio, factor: Polynomial, under: Names = ()) -> Ratio:
    """x times a normal form over some more denominators."""
    return {
        tuple(sorted((*names, *under))): tidy(matrices.times(part, factor))
        for names, part in x.items()
        if len(part) and len(factor)
    }


def split(x: Polynomial) -> tuple[Polynomial, Polynomial]:
    """x as one term without waves times a normal form with whole numbers that have no common divisor.

    Most of these are positive. Numbers that are no fractions stay as they are.
    """
    shared: Mapping[str, int] = _shared([dict(powers) for powers, _ in x.terms])
    size = _divisor([value for value, _, _ in folded(x)] if len(x) <= FOLDED else list(x.terms.values()))
    number = -size if sum(value > 0 for value in x.terms.values()) * 2 < len(x) else size
    content = Polynomial({(tuple(sorted(shared.items())), ()): number})
    inverse = content.inverse()
    assert inverse is not None
    return content, tidy(x * inverse)


def _shared(every: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = {name for powers in every for name in powers}
    least = {name: min(powers.get(name, 0) for powers in every) for name in names}
    return {name: n for name, n in least.items() if n}


def _divisor(numbers: Sequence[float]) -> float:
    """The largest number of which all are whole multiples; that of the first, if they are none but for one factor."""
    fractions = [Fraction(abs(value)).limit_denominator(FINEST) for value in numbers]
    exact = all(
        float(f) and abs(float(f) / abs(v) - 1.0) < 1e-12 for f, v in zip(fractions, numbers, strict=True)
    )
    if not exact:
        return abs(numbers[0]) if len(numbers) == 1 else 1.0
    return gcd(*(f.numerator for f in fractions)) / lcm(*(f.denominator for f in fractions))
