"""Sums of products of letters, sines and cosines, in a form that is the same for equal expressions.

A term is (powers, waves): ((letter, exponent), ...) sorted, and at most one sine or cosine of each group of angles.
What a sum leaves of two numbers that cancel to rounding is nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from kinpair.closed_form import angles
from kinpair.closed_form.angles import Waves

Powers: TypeAlias = tuple[tuple[str, int], ...]
Term: TypeAlias = tuple[Powers, Waves]
ROUNDING = 1e-13  # beside the numbers that were added
CANCELLED = 1e-16  # beside the largest number of a result
PLAIN: Term = ((), ())


class Polynomial:
    """Terms with their numbers; `+ − *` give new ones."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Term, float]) -> None:
        self.terms = dict(terms)

    def __len__(self) -> int:
        return len(self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Polynomial) -> Polynomial:
        return self.plus(other, 1.0)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self.plus(other, -1.0)

    def __neg__(self) -> Polynomial:
        return self.scaled(-1.0)

    def plus(self, other: Polynomial, factor: float) -> Polynomial:
        """self + factor · other."""
        total = dict(self.terms)
        for term, value in other.terms.items():
            _add(total, term, factor * value)
        return Polynomial(total)

    def scaled(self, factor: float) -> Polynomial:
        """factor · self."""
        return Polynomial({term: factor * value for term, value in self.terms.items()} if factor else {})

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Term, float] = {}
        for (powers, waves), a in self.terms.items():
            for (more, other_waves), b in other.terms.items():
                joined = _times(powers, more)
                for factor, new_waves in angles.product(waves, other_waves):
                    _add(total, (joined, new_waves), a * b * factor)
        return Polynomial(total)

    def inverse(self) -> Polynomial | None:
        """1 / self where this is one term without sine or cosine."""
        if len(self.terms) != 1:
            return None
        ((powers, waves), value), *_ = self.terms.items()
        inverted = tuple((name, -n) for name, n in powers)
        return None if waves else Polynomial({(inverted, ()): 1.0 / value})

    def derivative(self, name: str) -> Polynomial:
        """∂/∂name, of powers and of angles."""
        total: dict[Term, float] = {}
        for (powers, waves), value in self.terms.items():
            n = dict(powers).get(name, 0)
            if n:
                _add(total, (_times(powers, ((name, -1),)), waves), n * value)
            for factor, new_waves in angles.slopes(waves, name):
                _add(total, (powers, new_waves), factor * value)
        return Polynomial(total)

    def cleaned(self, size: float) -> Polynomial:
        """Without the terms that are rounding beside numbers of this size."""
        return Polynomial(
            {term: value for term, value in self.terms.items() if abs(value) > CANCELLED * size}
        )

    @property
    def size(self) -> float:
        """The largest number in it."""
        return max(map(abs, self.terms.values()), default=0.0)

    def leading_sign(self) -> float:
        """Sign of the number of the first term."""
        return 1.0 if not self.terms or self.terms[min(self.terms)] > 0 else -1.0


def _add(total: dict[Term, float], term: Term, value: float) -> None:
    before = total.get(term, 0.0)
    after = before + value
    if abs(after) <= ROUNDING * abs(value):
        total.pop(term, None)
    else:
        total[term] = after


def _times(a: Powers, b: Powers) -> Powers:
    if not a or not b:
        return a or b
    total = dict(a)
    for name, n in b:
        total[name] = total.get(name, 0) + n
    return tuple(sorted((name, n) for name, n in total.items() if n))


def number(value: float) -> Polynomial:
    """A constant."""
    return Polynomial({PLAIN: value} if value else {})


def letter(name: str) -> Polynomial:
    """One letter."""
    return Polynomial({(((name, 1),), ()): 1.0})


def wave(group: int, kind: str, angle: angles.Angle) -> Polynomial:
    """cos or sin of an angle."""
    factor, new_waves = angles.wave(group, kind, angle)
    return Polynomial({((), new_waves): factor} if factor else {})
