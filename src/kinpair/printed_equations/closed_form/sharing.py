"""Sums that occur several times in long formulas, given names; sums that have a name, written by it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from kinpair.printed_equations.closed_form.formula import (
    Call,
    Formula,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Trig,
    atoms,
    parts,
    symbols,
    written_terms,
)

Definitions = list[tuple[str, Formula]]


class Name(NamedTuple):
    """A sum that has a name: the size of each of its terms, with its sign."""

    name: str
    signs: Mapping[Formula, float]

    def within(self, signs: Mapping[Formula, float]) -> float:
        """1 or −1 where it or its negative is a part of another sum, else 0."""
        if any(x not in signs for x in self.signs):
            return 0.0
        factors = {sign * signs[x] for x, sign in self.signs.items()}
        return factors.pop() if len(factors) == 1 else 0.0


class Names:
    """Sums by name, whatever the order of their terms and their sign."""

    def __init__(self, *, parts: bool) -> None:
        self._parts = parts
        self._whole: dict[frozenset[Formula], list[Name]] = {}
        self._first: dict[Formula, list[Name]] = {}  # by one of its terms

    def add(self, x: Sum, name: str) -> None:
        """A name for a sum, unless it has one."""
        if self._find(x) is None:
            new = Name(name, _signs(x))
            self._whole.setdefault(frozenset(new.signs), []).append(new)
            self._first.setdefault(next(iter(new.signs)), []).append(new)

    def _find(self, x: Sum) -> tuple[float, Symbol] | None:
        signs = _signs(x)
        for each in self._whole.get(frozenset(signs), []):
            sign = each.within(signs)
            if sign:
                return sign, Symbol(each.name)
        return None

    def has(self, x: Sum) -> bool:
        """True if it has a name."""
        return self._find(x) is not None

    def renamed(self, x: Formula) -> Formula:
        """The formula with sums in it, or itself, by name."""
        name = self._find(x) if isinstance(x, Sum) else None
        return self.inside(x) if name is None else _times(name[0], name[1])

    def inside(self, x: Formula) -> Formula:
        """The formula with what it is made of replaced."""
        match x:
            case Sum():
                named, left = self._largest_part(x) if self._parts else ([], x.terms)
                return Sum((*named, *(self.renamed(y) for y in left)))
            case Product(factors):
                return _product([self.renamed(y) for y in factors])
            case Call(op, arguments):
                return Call(op, tuple(self.renamed(y) for y in arguments))
            case Power(Sum() as of, exponent):
                name = self._find(of)
                inner = self.inside(of) if name is None else name[1]
                assert isinstance(inner, Sum | Symbol)
                sign = 1.0 if name is None else name[0] ** exponent
                return _times(sign, Power(inner, exponent))
            case _:
                return x

    def _largest_part(self, x: Sum) -> tuple[list[Formula], Sequence[Formula]]:
        """The longest named sum that is a part of it, and the terms that are left."""
        signs = _signs(x)
        known = [(each, each.within(signs)) for y in signs for each in self._first.get(y, [])]
        fit = [(each, sign) for each, sign in known if sign and len(each.signs) < len(x.terms)]
        if not fit:
            return [], x.terms
        best, sign = max(fit, key=lambda pair: len(pair[0].signs))
        left = [term for term, size in zip(x.terms, signs, strict=True) if size not in best.signs]
        return [_times(sign, Symbol(best.name))], left


def _signs(x: Sum) -> dict[Formula, float]:
    """The terms without their signs, and these."""
    return dict(map(_split, x.terms))


def _split(x: Formula) -> tuple[Formula, float]:
    match x:
        case Number(value) if value < 0:
            return Number(-value), -1.0
        case Product((Number(value), *rest)) if value < 0:
            return _product([Number(-value), *rest]), -1.0
        case _:
            return x, 1.0


def _times(sign: float, x: Formula) -> Formula:
    return x if sign > 0 else Product((Number(-1.0), x))


def _product(factors: Sequence[Formula]) -> Formula:
    """A product with one number, in front, and none where that is one."""
    flat = [y for x in factors for y in (x.factors if isinstance(x, Product) else (x,))]
    value = prod(x.value for x in flat if isinstance(x, Number))
    rest: list[Formula] = [x for x in flat if not isinstance(x, Number)]
    if value != 1.0 or not rest:
        rest.insert(0, Number(value))
    return rest[0] if len(rest) == 1 else Product(tuple(rest))


def shared_sums(
    definitions: Sequence[tuple[str, Formula]],
    results: Mapping[str, Sequence[Formula | None]],
    letter: str = "p",
    *,
    naming: bool = True,
) -> tuple[Definitions, dict[str, list[Formula | None]]]:
    """Return the formulas with each sum that has a name by that name. With `naming` those that stand in several places
    but for their sign get one: p1, p2, ..., innermost first; and what is a part of another sum stands in it by name."""
    names, ordered = Names(parts=naming), Definitions()
    for name, x in definitions:
        if isinstance(x, Sum):
            names.add(x, name)
    if naming:
        for x in _repeated([x for _, x in definitions], results.values()):
            if not names.has(x):
                ordered.append((f"{letter}{len(ordered) + 1}", names.inside(x)))
                names.add(x, ordered[-1][0])
    replaced = {
        what: [None if x is None else names.renamed(x) for x in entries] for what, entries in results.items()
    }
    return _ordered(ordered + [(name, names.inside(x)) for name, x in definitions]), replaced


def _repeated(definitions: Sequence[Formula], results: Iterable[Sequence[Formula | None]]) -> list[Sum]:
    """Sums that stand in several places, but for their sign; short ones first."""
    every = [*definitions, *(x for entries in results for x in entries if x is not None)]
    count: Counter[object] = Counter()
    first: dict[object, Sum] = {}
    for each in dict.fromkeys(every):
        for x in _sums(each):
            key = _unsigned(x)
            count[key] += 1
            first.setdefault(key, x)
    return sorted((x for key, x in first.items() if count[key] > 1), key=written_terms)


def _unsigned(x: Sum) -> object:
    """Key of a sum in any order of its terms and for its negative."""
    signs = _signs(x)
    plus = frozenset(y for y, sign in signs.items() if sign > 0)
    return frozenset((plus, frozenset(signs) - plus))


def _ordered(definitions: Definitions) -> Definitions:
    """Each definition behind those it uses."""
    meaning, ordered = dict(definitions), dict[str, Formula]()

    def place(name: str) -> None:
        if name in ordered:
            return
        for used in sorted(symbols(atoms(meaning[name])) & meaning.keys()):
            place(used)
        ordered[name] = meaning[name]

    for name in meaning:
        place(name)
    return list(ordered.items())


def _sums(x: Formula) -> Iterator[Sum]:
    if isinstance(x, Sum):
        yield x
    for part in parts(x):
        yield from _sums(part)


def renamed(x: Formula, names: Mapping[Formula, str]) -> Formula:
    """The formula with some of its parts replaced by names."""
    return Symbol(names[x]) if x in names else _inside(x, names)


def _inside(x: Formula, names: Mapping[Formula, str]) -> Formula:
    """The formula with what it is made of replaced."""
    match x:
        case Sum(terms):
            return Sum(tuple(renamed(y, names) for y in terms))
        case Product(factors):
            return Product(tuple(renamed(y, names) for y in factors))
        case Call(op, arguments):
            return Call(op, tuple(renamed(y, names) for y in arguments))
        case Power(of, exponent):
            inner = renamed(of, names)
            return Power(inner, exponent) if isinstance(inner, Symbol | Trig | Sum) else x
        case _:
            return x
