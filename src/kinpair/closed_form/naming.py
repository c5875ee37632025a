"""Names for parts of formulas, and what can be said shorter once parts have names.

Sines and cosines are letters here, since a product of them with a named term is best left alone; squares of both that
meet are one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kinpair.closed_form import polynomial
from kinpair.closed_form.expansion import FORMS
from kinpair.closed_form.factoring import formula
from kinpair.closed_form.folding import folded
from kinpair.closed_form.formula import Call, Formula, Rank, Trig
from kinpair.closed_form.polynomial import Polynomial, Powers

EQUAL = 1e-12  # of two numbers that are one
Definitions: TypeAlias = list[tuple[str, Formula]]


class Naming:
    """Names given so far: of waves and of formulas."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank
        self._waves: dict[str, Trig] = {}
        self._known: dict[Formula, str] = {}
        self._roots: dict[str, Polynomial] = {}
        self._meaning: dict[str, Polynomial] = {}  # of sums
        self._fractions: dict[str, Polynomial] = {}
        self.result: Definitions = []

    def formula(self, x: Polynomial) -> Formula:
        """A sum as a formula, the letters of waves as waves."""
        return formula(x, self._rank, self._waves)

    def name(self, x: Formula) -> Polynomial:
        """A letter for a formula: x1, x2, ..."""
        if x not in self._known:
            self._known[x] = f"x{len(self._known) + 1}"
            self.result.append((self._known[x], x))
        return polynomial.letter(self._known[x])

    def named(self, x: Polynomial) -> Polynomial:
        """A letter for a sum."""
        return self.letter_of(x) if len(x) > 1 else x

    def letter_of(self, x: Polynomial) -> Polynomial:
        """A letter for a sum or a fraction."""
        result = self.name(self.formula(x))
        (self._meaning if len(x) > 1 else self._fractions)[_letter(result)] = x
        return result

    def added(self, x: Polynomial, y: Polynomial, sign: float) -> Polynomial:
        """x ± y, a named sum written out where something cancels."""
        result = x.plus(y, sign)
        for a, b in ((self._sum(x), y), (x, self._sum(y))):
            if a is not None and b is not None:
                other = a.plus(b, sign)
                result = other if len(other) <= len(result) else result
        return self._rooted(result)

    def _rooted(self, x: Polynomial) -> Polynomial:
        """A sum over the root of that sum as the root."""
        if not self._roots:
            return x
        shared = (
            set[str].intersection(*({name for name, n in p if n == -1} for p, _ in x.terms))
            if len(x)
            else set()
        )
        for name in shared & self._roots.keys():
            root = polynomial.letter(name)
            factor = _multiple(x * root, self._roots[name])
            if factor is not None:
                return root * factor
        return x

    def _sum(self, x: Polynomial) -> Polynomial | None:
        """What the name of a sum means."""
        return self._meaning.get(_letter(x)) if len(x) == 1 else None

    def is_fraction(self, x: Polynomial) -> bool:
        """Is it a letter over another, and that no root?"""
        if len(x) != 1:
            return False
        ((powers, waves), value), *_ = x.terms.items()
        over = sorted(n for _, n in powers) == [-1, 1] and not waves and abs(value) == 1.0
        return over and not any(name in self._roots for name, _ in powers)

    def cancelled(self, x: Polynomial) -> Polynomial:
        """Named fractions written out where their denominator is a factor."""
        if not any(name in self._fractions for powers, _ in x.terms for name, _ in powers):
            return x
        result = polynomial.number(0.0)
        for (powers, waves), value in x.terms.items():
            term = Polynomial({(powers, waves): value})
            for name, n in powers:
                meaning = self._fractions.get(name) if n > 0 else None
                if meaning is not None and _meets(meaning, dict(powers)):
                    term = term * Polynomial({(((name, -1),), ()): 1.0}) * meaning
            result = result + term
        return result

    def call(self, op: str, known: list[Polynomial]) -> Polynomial:
        """A letter for what is no sum and no product."""
        result = self.name(Call(op, tuple(map(self.formula, known))))
        if op == "sqrt":
            self._roots[_letter(result)] = known[0]
        return result

    def quotient(self, x: Polynomial, y: Polynomial) -> Polynomial:
        """x over one letter; where that is the root of x, the root."""
        under = self._roots.get(_letter(y)) if len(y) == 1 else None
        factor = _multiple(x, under) if under is not None else None
        if factor is not None:
            return y * factor
        result = FORMS["div"](x, y)
        assert result is not None  # one letter can be divided by
        return self.cancelled(result)

    def in_letters(self, x: Polynomial) -> Polynomial:
        """A normal form with letters in the place of its waves."""
        if not any(waves for _, waves in x.terms):
            return x
        result = polynomial.number(0.0)
        for value, powers, waves in folded(x):
            total: dict[str, int] = dict(powers)
            for w in waves:
                letter = f"{w.kind} {w.angle}"
                self._waves[letter] = Trig(w.kind, w.angle)
                total[letter] = total.get(letter, 0) + 1
            result = result + Polynomial({(tuple(sorted(total.items())), ()): value})
        return result

    def squares_joined(self, x: Polynomial) -> Polynomial:
        """cos² and sin² of one angle with the same factor as 1."""
        if not any(n > 1 and name in self._waves for powers, _ in x.terms for name, n in powers):
            return x
        terms = dict(x.terms)
        for (powers, waves), value in x.terms.items():
            for letter, n in powers:
                wave = self._waves.get(letter)
                if n < 2 or wave is None or wave.kind != "cos" or (powers, waves) not in terms:
                    continue
                partner = _replaced(powers, letter, f"sin {wave.angle}")
                other = terms.get((partner, waves))
                if other is not None and abs(other - value) <= EQUAL * abs(value):
                    del terms[powers, waves], terms[partner, waves]
                    left = Polynomial({(_replaced(powers, letter, ""), waves): value})
                    return self.squares_joined(Polynomial(terms) + left)
        return x


def _replaced(powers: Powers, letter: str, other: str) -> Powers:
    """Two of a letter replaced by two of another; taken away without another."""
    total = dict(powers)
    total[letter] -= 2
    if other:
        total[other] = total.get(other, 0) + 2
    return tuple(sorted((name, n) for name, n in total.items() if n))


def _letter(x: Polynomial) -> str:
    """The letter that a term is, or nothing."""
    ((powers, waves), value), *_ = x.terms.items()
    plain = value == 1.0 and not waves and len(powers) == 1 and powers[0][1] == 1
    return powers[0][0] if plain else ""


def _multiple(x: Polynomial, y: Polynomial) -> Polynomial | None:
    """x / y where that is one term."""
    if len(x) != len(y):
        return None
    first, value = next(iter(y.terms.items()))
    inverse = Polynomial({first: value}).inverse()
    for term, other in x.terms.items():
        factor = Polynomial({term: other}) * inverse if inverse is not None else None
        if factor is not None and not len(x - y * factor):
            return factor
    return None


def _meets(fraction: Polynomial, powers: Mapping[str, int]) -> bool:
    """Is a letter under the fraction bar among these?"""
    ((inner, _), _), *_ = fraction.terms.items()
    return any(n < 0 < powers.get(name, 0) for name, n in inner)
