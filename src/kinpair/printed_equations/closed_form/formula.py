"""A formula as a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kinpair.printed_equations.closed_form.polynomial import Angle


@dataclass(frozen=True, slots=True)
class Number:
    """A constant number."""

    value: float


class Symbol(NamedTuple):
    """A symbol: a coordinate, a rate, a parameter, or a term with a name of its own."""

    name: str


class Trig(NamedTuple):
    """cos or sin of a sum of coordinates."""

    kind: str
    angle: Angle


Atom: TypeAlias = Symbol | Trig


@dataclass(frozen=True, slots=True)
class Power:
    """A symbol, wave or sum to a whole power."""

    of: Atom | Sum
    exponent: int


@dataclass(frozen=True, slots=True)
class Product:
    """Factors, a number first if there is one."""

    factors: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of terms."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of the compiler's table other than + − · and the waves of coordinates."""

    op: str
    arguments: tuple[Formula, ...]


Formula: TypeAlias = Number | Symbol | Trig | Power | Product | Sum | Call
Rank: TypeAlias = Callable[
    [Atom], tuple[int, str]
]  # place of a factor in a product; negative: see `factoring`
ZERO = Number(0.0)


def is_negative(x: Formula) -> bool:
    """True if it is written with a minus in front."""
    first = x.factors[0] if isinstance(x, Product) else x
    return isinstance(first, Number) and first.value < 0.0


def written_terms(x: Formula) -> int:
    """Count the terms that are written: the summands, at whatever depth; nothing for zero."""
    if isinstance(x, Sum):
        return sum(map(written_terms, x.terms))
    if isinstance(x, Product):
        return max(map(written_terms, x.factors))
    if isinstance(x, Power):
        return written_terms(x.of)
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
    """Symbols and waves in a formula."""
    if isinstance(x, Symbol | Trig):
        return {x}
    return set().union(*map(atoms, parts(x)))
