"""Matrices of ratios as normal forms with named denominators, as one writes them down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from kinpair.closed_form import polynomial
from kinpair.closed_form.folding import Phases
from kinpair.closed_form.matrices import Square
from kinpair.closed_form.polynomial import Polynomial
from kinpair.closed_form.ratios import Denominators, Names, Ratio, Whole, joined, letters, lifted, split

Group: TypeAlias = Mapping[str, Sequence[Ratio]]  # matrices with one denominator, entries row by row
FEW = 4  # terms of a sum that stays itself where a letter comes out of it
LONG_ENOUGH = 3  # terms of a sum that gets a name where it stands in several entries


class Ratios:
    """Entries of matrices over named denominators; sums that stand in several entries are named too."""

    def __init__(self, names: Denominators, phases: Phases) -> None:
        self._names, self._phases = names, phases
        self.forms: dict[str, list[Polynomial]] = {}

    def add(self, group: Group, common: str) -> bool:
        """Write matrices down; their least common denominator is taken out and called `common`, if one entry has it
        whole. True if so."""
        wholes = {what: [self._names.whole(x) for x in entries] for what, entries in group.items()}
        every = [x for entries in wholes.values() for x in entries]
        least = joined(x.under for x in every)
        outside = bool(common and least) and any(x.under == least for x in every)
        for what, entries in wholes.items():
            self.forms[what] = [_over(x.under, self._shorter(x), least if outside else None) for x in entries]
        if outside:
            self.forms[common] = [letters(least)]
        return outside

    def put(self, what: str, matrix: Square) -> None:
        """Write a matrix of normal forms down."""
        self.forms[what] = [self._phases.of(x) for row in matrix for x in row]

    def _shorter(self, x: Whole) -> Polynomial:
        content, inner = split(x.numerator) if len(x.numerator) else (x.numerator, x.numerator)
        product = len(inner) <= FEW and any(powers for powers, _ in content.terms)
        shorter = 2 * len(x.short) <= len(x.numerator) and _divides(x.short) <= _divides(x.numerator)
        return self._phases.of(x.short if shorter and not product else x.numerator)

    def named(self) -> list[tuple[str, Polynomial]]:
        """The denominators and repeated sums, the entries rewritten in them."""
        known = set(self._names.meaning)
        parts = [_parts(x, known) for entries in self.forms.values() for x in entries if len(x)]
        count = Counter(inner for _, inner in parts if len(inner) >= LONG_ENOUGH)
        repeated = {inner: self._names.name(inner) for inner, times in count.items() if times > 1}
        for what, entries in self.forms.items():
            self.forms[what] = [_in_names(x, known, repeated) for x in entries]
        return [(name, self._phases.of(x)) for name, x in self._names.meaning.items()]


def _divides(x: Polynomial) -> bool:
    """Are there letters under a fraction bar?"""
    return any(n < 0 for powers, _ in x.terms for _, n in powers)


def _over(under: Names, x: Polynomial, common: Names | None) -> Polynomial:
    if common is not None:
        return lifted(x, under, common)
    inverse = letters(under).inverse()
    assert inverse is not None  # letters
    return x * inverse


def _parts(x: Polynomial, known: set[str]) -> tuple[Polynomial, Polynomial]:
    """One term and the rest, as `split`; a sum that has names in it already is left alone."""
    content, inner = split(x)
    named = any(name in known for powers, _ in inner.terms for name, _ in powers)
    return (polynomial.number(1.0), polynomial.number(1.0)) if named else (content, inner)


def _in_names(x: Polynomial, known: set[str], repeated: Mapping[Polynomial, str]) -> Polynomial:
    content, inner = _parts(x, known) if len(x) else (x, x)
    return content * polynomial.letter(repeated[inner]) if inner in repeated else x
