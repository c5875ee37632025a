"""A formula as a tree, common factors taken out as one does by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from kinpair.closed_form.angles import Angle
from kinpair.closed_form.folding import folded
from kinpair.closed_form.polynomial import Polynomial


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


class Symbol(NamedTuple):
    """A letter: a coordinate, a rate, a parameter, or a term with a name of its own."""

    name: str


class Trig(NamedTuple):
    """cos or sin of a sum of coordinates."""

    kind: str
    angle: Angle


Atom: TypeAlias = Symbol | Trig


@dataclass(frozen=True, slots=True)
class Power:
    """A letter or wave to a whole power."""

    of: Atom
    exponent: int


@dataclass(frozen=True, slots=True)
class Product:
    """Factors, a number first if there is one."""

    factors: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of the compiler's table other than + − · and the waves of coordinates."""

    op: str
    arguments: tuple[Formula, ...]


Formula: TypeAlias = Number | Symbol | Trig | Power | Product | Sum | Call
Rank: TypeAlias = Callable[[Atom], tuple[int, str]]  # place of a factor in a product; negative: see `formula`
Monomial: TypeAlias = tuple[float, Mapping[Atom, int]]
ZERO = Number(0.0)
LONG = 8  # terms of a sum from which on any common factor is taken out


def formula(x: Polynomial, rank: Rank) -> Formula:
    """The shortest form found: waves folded, common factors taken out.

    A factor of all terms is taken out; one of some terms if its rank is negative (a mass, a named term) or if the
    sum is long.
    """
    return _factored([_monomial(*term) for term in folded(x)], rank)


def plain_formula(x: Polynomial, rank: Rank) -> Formula:
    """The terms as they are: quick."""
    terms = [_monomial(value, *term) for term, value in x.terms.items()]
    return _sum([_product(*term, rank) for term in terms]) if terms else ZERO


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
    value, atoms = _content(terms)
    if value != 1.0 or atoms:
        inner = _factored([_divided(term, value, atoms) for term in terms], rank)
        return _product(value, atoms, rank, inner)
    return _sum([part for _, part in sorted(_parts(terms, rank), key=lambda x: x[0])])


def _parts(terms: Sequence[Monomial], rank: Rank) -> list[tuple[Any, Formula]]:
    """Groups of terms with a letter in common, and the terms that are left, each with its place."""
    made: list[tuple[Any, Formula]] = []
    left = list(terms)
    while (best := _most_common(left, rank)) is not None:
        inside = [term for term in left if best in term[1]]
        left = [term for term in left if best not in term[1]]
        made.append((min(_place(term, rank) for term in inside), _factored(inside, rank)))
    return made + [(_place(term, rank), _product(*term, rank)) for term in left]


def _content(terms: Sequence[Monomial]) -> Monomial:
    """What all terms have in common: a number but for sign, and letters."""
    sizes = {abs(value) for value, _ in terms}
    shared = dict(terms[0][1])
    for _, atoms in terms:
        shared = {x: min(n, atoms[x]) for x, n in shared.items() if x in atoms and n * atoms[x] > 0}
    size = sizes.pop() if len(sizes) == 1 else 1.0
    negative = all(value < 0 for value, _ in terms) and (shared or size != 1.0)
    return (-size if negative else size), shared


def _divided(term: Monomial, value: float, atoms: Mapping[Atom, int]) -> Monomial:
    left = {x: n - atoms.get(x, 0) for x, n in term[1].items()}
    return term[0] / value, {x: n for x, n in left.items() if n}


def _most_common(terms: Sequence[Monomial], rank: Rank) -> Atom | None:
    count = Counter(x for _, atoms in terms for x, n in atoms.items() if n > 0)
    several = [x for x, n in count.items() if n > 1 and (rank(x)[0] < 0 or len(terms) > LONG)]
    return min(several, key=lambda x: (rank(x)[0] >= 0, -count[x], rank(x)), default=None)


def _place(term: Monomial, rank: Rank) -> Any:
    """Place of a term in a sum: those with a sine or cosine behind the others."""
    return any(isinstance(x, Trig) for x in term[1]), sorted(rank(x) for x in term[1])


def _product(value: float, atoms: Mapping[Atom, int], rank: Rank, inner: Formula | None = None) -> Formula:
    letters = sorted(atoms, key=rank)
    factors: list[Formula] = [x if atoms[x] == 1 else Power(x, atoms[x]) for x in letters]
    factors += [inner] if inner is not None else []
    if value != 1.0 or not factors:
        factors.insert(0, Number(value))
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _sum(parts: Sequence[Formula]) -> Formula:
    flat = [t for part in parts for t in (part.terms if isinstance(part, Sum) else (part,))]
    return flat[0] if len(flat) == 1 else Sum(tuple(flat))


def written_terms(x: Formula) -> int:
    """How many terms are written: the summands, at whatever depth; nothing for zero."""
    if isinstance(x, Sum):
        return sum(map(written_terms, x.terms))
    if isinstance(x, Product):
        return max(map(written_terms, x.factors))
    return 0 if x == ZERO else 1


def parts(x: Formula) -> tuple[Formula, ...]:
    """The formulas a formula is made of."""
    if isinstance(x, Sum):
        return x.terms
    if isinstance(x, Product):
        return x.factors
    if isinstance(x, Power):
        return (x.of,)
    return x.arguments if isinstance(x, Call) else ()


def atoms(x: Formula) -> set[Atom]:
    """Letters and waves in a formula."""
    if isinstance(x, Symbol | Trig):
        return {x}
    return set().union(*map(atoms, parts(x)))
