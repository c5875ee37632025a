"""Conversion from the normal form to a formula, common factors taken out as one does by hand.

Terms of a sum, and what several of them have in common.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from math import copysign, sqrt
from operator import itemgetter
from typing import Any, TypeAlias

from kinpair.printed_equations.closed_form.folding import folded
from kinpair.printed_equations.closed_form.formula import (
    ZERO,
    Atom,
    Formula,
    Number,
    Power,
    Product,
    Rank,
    Sum,
    Symbol,
    Trig,
    is_negative,
)
from kinpair.printed_equations.closed_form.polynomial import Polynomial, Wave

Monomial: TypeAlias = tuple[float, Mapping[Atom, int]]
FRACTIONS = 64  # a multiple of 1/64 comes from products of sines and cosines
SHORT_DENOMINATOR = 3  # letters of a denominator that all terms are written over
NOTHING: frozenset[tuple[Atom, int]] = frozenset()
TRIANGLES = (3, 6, 10, 15, 21)  # terms of the square of a sum
LONG = 8  # terms of a sum from which on any common factor is taken out


def content(terms: Sequence[Monomial]) -> Monomial:
    """Common factor of all terms: a number but for sign, and symbols; a denominator that most of them have."""
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
    """The symbols of a product."""
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

    `behind` is how far a factor comes after the waves: above zero for a rate, below for a symbol.
    """
    kept = [(x, n) for x, n in atoms.items() if behind(x) <= 0]
    return frozenset(kept) if len(kept) < len(atoms) else NOTHING


def behind_letter(atoms: Mapping[Atom, int], behind: Callable[[Atom], int]) -> Part:
    """Waves and rates behind one symbol; nothing where there are more symbols, or one rate alone."""
    letters = [n for x, n in atoms.items() if behind(x) < 0]
    if letters != [1]:
        return NOTHING
    kept = [(x, n) for x, n in atoms.items() if behind(x) >= 0]
    several = any(isinstance(x, Trig) for x, _ in kept) or sum(n for _, n in kept) > 1
    return frozenset(kept) if several else NOTHING


def place(term: Monomial, rank: Rank) -> Any:
    """Place of a term in a sum: those with a sine or cosine behind the others."""
    return any(isinstance(x, Trig) for x in term[1]), sorted(rank(x) for x in term[1])


VERY_LONG = 32  # terms of a sum where single factors save more than groups


def formula(x: Polynomial, rank: Rank, waves: Mapping[str, Trig] | None = None) -> Formula:
    """The shortest form found: waves folded, common factors taken out; `waves` are symbols that represent waves.

    A factor of all terms is taken out; one of some terms if its rank is negative (a mass, a named term) or if the
    sum is long.
    """
    terms = [_monomial(*term) for term in folded(x)]
    return _factored([_with_waves(term, waves) for term in terms] if waves else terms, rank)


def _with_waves(term: Monomial, waves: Mapping[str, Trig]) -> Monomial:
    value, atoms = term
    return value, {waves.get(x.name, x) if isinstance(x, Symbol) else x: n for x, n in atoms.items()}


def plain_formula(x: Polynomial, rank: Rank) -> Formula:
    """The terms as they are: quick, since each symbol and wave is looked at once."""
    known: dict[object, tuple[tuple[int, str], Formula]] = {}

    def factor(key: tuple[str, int] | Wave) -> tuple[tuple[int, str], Formula]:
        if key not in known:
            of = Trig(key.kind, key.angle) if isinstance(key, Wave) else Symbol(key[0])
            n = 1 if isinstance(key, Wave) else key[1]
            known[key] = rank(of), of if n == 1 else Power(of, n)
        return known[key]

    formulas: list[Formula] = []
    for (powers, waves), value in x.terms.items():
        factors = [f for _, f in sorted([*map(factor, powers), *map(factor, waves)], key=itemgetter(0))]
        if value != 1.0 or not factors:
            factors.insert(0, Number(value))
        formulas.append(factors[0] if len(factors) == 1 else Product(tuple(factors)))
    return _sum(formulas) if formulas else ZERO


def _monomial(value: float, powers: Sequence[tuple[str, int]], waves: Sequence[Any]) -> Monomial:
    atoms: dict[Atom, int] = {Symbol(name): n for name, n in powers}
    for w in waves:
        each = Trig(w.kind, w.angle)
        atoms[each] = atoms.get(each, 0) + 1
    return value, atoms


def _factored(terms: Sequence[Monomial], rank: Rank) -> Formula:
    if not terms:
        return ZERO
    if len(terms) == 1:
        return _product(*terms[0], rank)
    value, atoms = content(terms)
    if value != 1.0 or atoms:
        inner = _factored([_divided(term, value, atoms) for term in terms], rank)
        return _product(value, atoms, rank, inner)
    for sign in (1.0, -1.0):
        root = square_root([(sign * value, atoms) for value, atoms in terms])
        if root is not None:
            ordered = sorted(root, key=lambda x: place(x, rank))
            inner = Sum(tuple(_product(*term, rank) for term in ordered))
            return _product(sign, {}, rank, Power(inner, 2))
    return _sum([part for _, part in sorted(_parts(terms, rank), key=lambda x: x[0])])


def _parts(terms: Sequence[Monomial], rank: Rank) -> list[tuple[Any, Formula]]:
    """Groups of terms with something in common, and the terms that are left, each with its place."""
    parts: list[list[Monomial]] = []
    left = list(terms)
    while (best := most_common(left, rank, leading=True)) is not None:
        parts.append([term for term in left if best in term[1]])
        left = [term for term in left if best not in term[1]]
    for likeness in (before_rates, behind_letter) if len(left) <= VERY_LONG else ():
        similar, left = alike(left, likeness, rank, len(terms))
        parts += similar
    while (best := most_common(left, rank, leading=False)) is not None:
        parts.append([term for term in left if best in term[1]])
        left = [term for term in left if best not in term[1]]
    groups = [(min(place(term, rank) for term in group), _factored(group, rank)) for group in parts]
    return groups + [(place(term, rank), _product(*term, rank)) for term in left]


def _divided(term: Monomial, value: float, atoms: Mapping[Atom, int]) -> Monomial:
    left = {x: term[1].get(x, 0) - atoms.get(x, 0) for x in {**term[1], **atoms}}
    return term[0] / value, {x: n for x, n in left.items() if n}


def _product(value: float, atoms: Mapping[Atom, int], rank: Rank, inner: Formula | None = None) -> Formula:
    if isinstance(inner, Product) and isinstance(inner.factors[0], Number):
        value *= inner.factors[0].value
        inner = inner.factors[1] if len(inner.factors) == 2 else Product(inner.factors[1:])
    letters = sorted(atoms, key=rank)
    factors: list[Formula] = [x if atoms[x] == 1 else Power(x, atoms[x]) for x in letters]
    factors += [inner] if inner is not None else []
    if value != 1.0 or not factors:
        factors.insert(0, Number(value))
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _sum(parts: Sequence[Formula]) -> Formula:
    flat = [t for part in parts for t in (part.terms if isinstance(part, Sum) else (part,))]
    if len(flat) == 2 and is_negative(flat[0]) and not is_negative(flat[1]):
        flat = flat[::-1]  # b − a, not −a + b
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))
