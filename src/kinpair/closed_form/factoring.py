"""From the normal form to a formula, common factors taken out as one does by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from kinpair.closed_form.angles import Wave
from kinpair.closed_form.folding import folded
from kinpair.closed_form.formula import (
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
from kinpair.closed_form.monomials import (
    Monomial,
    alike,
    before_rates,
    behind_letter,
    content,
    most_common,
    place,
    square_root,
)
from kinpair.closed_form.polynomial import Polynomial

VERY_LONG = 32  # terms of a sum where single factors save more than groups


def formula(x: Polynomial, rank: Rank, waves: Mapping[str, Trig] | None = None) -> Formula:
    """The shortest form found: waves folded, common factors taken out; `waves` are letters that stand for waves.

    A factor of all terms is taken out; one of some terms if its rank is negative (a mass, a named term) or if the
    sum is long.
    """
    terms = [_monomial(*term) for term in folded(x)]
    return _factored([_with_waves(term, waves) for term in terms] if waves else terms, rank)


def _with_waves(term: Monomial, waves: Mapping[str, Trig]) -> Monomial:
    value, atoms = term
    return value, {waves.get(x.name, x) if isinstance(x, Symbol) else x: n for x, n in atoms.items()}


def plain_formula(x: Polynomial, rank: Rank) -> Formula:
    """The terms as they are: quick, since each letter and wave is looked at once."""
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
