"""Sums that occur several times in long formulas, given names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kinpair.closed_form.formula import Call, Formula, Product, Sum, Symbol, atoms, parts, written_terms

Definitions = list[tuple[str, Formula]]


def shared_sums(
    definitions: Sequence[tuple[str, Formula]], results: Mapping[str, Sequence[Formula]], letter: str = "p"
) -> tuple[Definitions, dict[str, list[Formula]]]:
    """The same formulas with each sum that stands in several places named p1, p2, ...; innermost first."""
    every = [x for _, x in definitions] + [x for entries in results.values() for x in entries]
    count = Counter(x for each in dict.fromkeys(every) for x in _sums(each))
    repeated = sorted((x for x, n in count.items() if n > 1), key=written_terms)
    names: dict[Formula, str] = {}
    made: Definitions = []
    for x in repeated:
        names[x] = f"{letter}{len(names) + 1}"
        made.append((names[x], _inside(x, names)))
    replaced = {what: [_named(x, names) for x in entries] for what, entries in results.items()}
    return _ordered(made + [(name, _named(x, names)) for name, x in definitions]), replaced


def _ordered(definitions: Definitions) -> Definitions:
    """Each definition behind those it uses."""
    meaning, made = dict(definitions), dict[str, Formula]()

    def place(name: str) -> None:
        if name in made:
            return
        for used in sorted(
            {x.name for x in atoms(meaning[name]) if isinstance(x, Symbol) and x.name in meaning}
        ):
            place(used)
        made[name] = meaning[name]

    for name in meaning:
        place(name)
    return list(made.items())


def _sums(x: Formula) -> Iterator[Formula]:
    if isinstance(x, Sum):
        yield x
    for part in parts(x):
        yield from _sums(part)


def _named(x: Formula, names: Mapping[Formula, str]) -> Formula:
    return Symbol(names[x]) if x in names else _inside(x, names)


def _inside(x: Formula, names: Mapping[Formula, str]) -> Formula:
    """The formula with what it is made of replaced."""
    match x:
        case Sum(terms):
            return Sum(tuple(_named(y, names) for y in terms))
        case Product(factors):
            return Product(tuple(_named(y, names) for y in factors))
        case Call(op, arguments):
            return Call(op, tuple(_named(y, names) for y in arguments))
        case _:
            return x
