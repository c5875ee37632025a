"""Terms of a sum, and what several of them have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import copysign, sqrt
from typing import Any, TypeAlias

from kinpair.closed_form.formula import Atom, Rank, Trig

Monomial: TypeAlias = tuple[float, Mapping[Atom, int]]
FRACTIONS = 64  # a multiple of 1/64 comes from products of sines and cosines
SHORT_DENOMINATOR = 3  # letters of a denominator that all terms are written over
NOTHING: frozenset[tuple[Atom, int]] = frozenset()
TRIANGLES = (3, 6, 10, 15, 21)  # terms of the square of a sum
LONG = 8  # terms of a sum from which on any common factor is taken out


def content(terms: Sequence[Monomial]) -> Monomial:
    """What all terms have in common: a number but for sign, and letters; a denominator that most of them have."""
    shared = dict(terms[0][1])
    for _, atoms in terms:
        shared = {x: min(n, atoms[x]) for x, n in shared.items() if x in atoms and n * atoms[x] > 0}
    shared |= _denominator(terms)
    size = _size({abs(value) for value, _ in terms})
    negative = all(value < 0 for value, _ in terms) and (shared or size != 1.0)
    return (-size if negative else size), shared


def _size(sizes: set[float]) -> float:
    """The number of which all are multiples: the one they are, or a simple fraction."""
    least = min(sizes)
    simple = least * FRACTIONS == int(least * FRACTIONS)
    return least if len(sizes) == 1 or (simple and all(x / least == int(x / least) for x in sizes)) else 1.0


def _denominator(terms: Sequence[Monomial]) -> dict[Atom, int]:
    """A short denominator that most of the terms have a part of, or are numbers."""
    if not any(n < 0 for _, atoms in terms for n in atoms.values()):
        return {}
    under = [{x: n for x, n in atoms.items() if n < 0} for _, atoms in terms]
    least: dict[Atom, int] = {}
    for part in under:
        least |= {x: min(n, least.get(x, 0)) for x, n in part.items()}
    having = sum(bool(part) or not atoms for part, (_, atoms) in zip(under, terms, strict=True))
    short = -sum(least.values()) <= SHORT_DENOMINATOR and 2 * having > len(terms)
    return least if short else {}


def square_root(terms: Sequence[Monomial]) -> list[Monomial] | None:
    """The sum whose square the terms are, None where there is none."""
    if len(terms) not in TRIANGLES:
        return None
    known = {frozenset(atoms.items()): value for value, atoms in terms}
    pure = [(sqrt(v), {x: n // 2 for x, n in a.items()}) for v, a in terms if _is_square(v, a)]
    n = len(pure)
    if n < 2 or len(terms) != n * (n + 1) // 2:
        return None
    signs = [1.0, *(copysign(1.0, known.get(_key(pure[0][1], a), 0.0)) for _, a in pure[1:])]
    root: list[Monomial] = [(sign * value, a) for sign, (value, a) in zip(signs, pure, strict=True)]
    mixed = {_key(a, b): 2.0 * x * y for (x, a), (y, b) in combinations(root, 2)}
    fits = len(mixed) == n * (n - 1) // 2 and all(known.get(key) == value for key, value in mixed.items())
    return root if fits else None


def _is_square(value: float, atoms: Mapping[Atom, int]) -> bool:
    return value > 0.0 and sqrt(value) == int(sqrt(value)) and all(n % 2 == 0 for n in atoms.values())


def _key(a: Mapping[Atom, int], b: Mapping[Atom, int]) -> frozenset[tuple[Atom, int]]:
    """The letters of a product."""
    return frozenset((Counter(a) + Counter(b)).items())


def most_common(terms: Sequence[Monomial], rank: Rank, *, leading: bool) -> Atom | None:
    """A factor of several terms: a leading one, or any of a long sum."""
    if not leading and len(terms) <= LONG:
        return None
    count = Counter(x for _, atoms in terms for x, n in atoms.items() if n > 0)
    several = [x for x, n in count.items() if n > 1 and (not leading or rank(x)[0] < 0)]
    return min(several, key=lambda x: (-count[x], rank(x)), default=None)


Part: TypeAlias = frozenset[tuple[Atom, int]]
Likeness: TypeAlias = Callable[[Mapping[Atom, int], Callable[[Atom], int]], Part]


def alike(
    terms: Sequence[Monomial], likeness: Likeness, rank: Rank, most: int
) -> tuple[list[list[Monomial]], list[Monomial]]:
    """Groups of several terms that are alike, but fewer than `most`; and the others."""
    if len(terms) < 2:
        return [], list(terms)
    wave = rank(Trig("cos", ()))[0]
    by_part: dict[Part, list[Monomial]] = {}
    for term in terms:
        by_part.setdefault(likeness(term[1], lambda x: rank(x)[0] - wave), []).append(term)
    groups = [group for key, group in by_part.items() if key and 1 < len(group) < most]
    taken = {id(term) for group in groups for term in group}
    return groups, [term for term in terms if id(term) not in taken]


def before_rates(atoms: Mapping[Atom, int], behind: Callable[[Atom], int]) -> Part:
    """All but the rates: what stands before a square of rates; nothing where there are no rates.

    `behind` is how far a factor stands behind the waves: above zero for a rate, below for a letter.
    """
    kept = [(x, n) for x, n in atoms.items() if behind(x) <= 0]
    return frozenset(kept) if len(kept) < len(atoms) else NOTHING


def behind_letter(atoms: Mapping[Atom, int], behind: Callable[[Atom], int]) -> Part:
    """Waves and rates behind one letter; nothing where there are more letters, or one rate alone."""
    letters = [n for x, n in atoms.items() if behind(x) < 0]
    if letters != [1]:
        return NOTHING
    kept = [(x, n) for x, n in atoms.items() if behind(x) >= 0]
    several = any(isinstance(x, Trig) for x, _ in kept) or sum(n for _, n in kept) > 1
    return frozenset(kept) if several else NOTHING


def place(term: Monomial, rank: Rank) -> Any:
    """Place of a term in a sum: those with a sine or cosine behind the others."""
    return any(isinstance(x, Trig) for x in term[1]), sorted(rank(x) for x in term[1])
