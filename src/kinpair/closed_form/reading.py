"""From a program, or from normal forms, to formulas with letters; `read` does all of it for any recorded function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.closed_form.expansion import Expansion, Watch
from kinpair.closed_form.formula import Formula, atoms, formula, plain_formula, written_terms
from kinpair.closed_form.letters import Alphabet, symbols
from kinpair.closed_form.polynomial import Polynomial
from kinpair.closed_form.sharing import shared_sums
from kinpair.closed_form.sheet import Sheet
from kinpair.closed_form.terms import named_terms
from kinpair.compiler.program import Program
from kinpair.errors import ClosedFormError

Spelling: TypeAlias = Callable[[set[str]], Alphabet]  # the letters, given which symbols are used
LIMIT = 1000  # terms of an entry that is still written in one piece
LONG_SHEET = 200  # terms in all from which on sums that occur several times are named


class Written(NamedTuple):
    """Terms with names of their own, results by name, and the letters of both."""

    definitions: list[tuple[str, Formula]]
    results: dict[str, list[Formula]]
    alphabet: Alphabet

    @property
    def formulas(self) -> list[Formula]:
        """All of them."""
        return [*(x for _, x in self.definitions), *(x for entries in self.results.values() for x in entries)]

    def array(self, what: str, shape: tuple[int, ...]) -> np.ndarray:
        """The entries of a result; those missing at the end are None."""
        made = np.full(int(np.prod(shape)), None, dtype=object)
        for k, x in enumerate(self.results.get(what, [])):
            made[k] = x
        return made.reshape(shape)


def write_closed(
    found: Mapping[str, Sequence[Polynomial]],
    named: Sequence[tuple[str, Polynomial]],
    spelling: Spelling,
    watch: Watch | None = None,
) -> Written:
    """Normal forms, each in one piece; in a long sheet sums that occur several times are named."""
    alphabet = spelling(
        _letters([*(x for entries in found.values() for x in entries), *(x for _, x in named)])
    )
    made = _written(found, named, alphabet, _once(partial(formula, rank=alphabet.rank), watch))
    if sum(map(written_terms, made.formulas)) <= LONG_SHEET:
        return made
    return Written(*shared_sums(made.definitions, made.results), alphabet)


def write_plain(
    found: Mapping[str, Sequence[Polynomial]], named: Sequence[tuple[str, Polynomial]], spelling: Spelling
) -> Written:
    """Normal forms as they are, without looking for anything shorter: quick."""
    alphabet = spelling(
        _letters([*(x for entries in found.values() for x in entries), *(x for _, x in named)])
    )
    return _written(found, named, alphabet, partial(plain_formula, rank=alphabet.rank))


def _written(
    found: Mapping[str, Sequence[Polynomial]],
    named: Sequence[tuple[str, Polynomial]],
    alphabet: Alphabet,
    write: Callable[[Polynomial], Formula],
) -> Written:
    definitions = [(name, write(x)) for name, x in named]
    return Written(
        definitions, {what: [write(x) for x in entries] for what, entries in found.items()}, alphabet
    )


def _once(write: Callable[[Polynomial], Formula], watch: Watch | None) -> Callable[[Polynomial], Formula]:
    """The same for each polynomial only once: a symmetric matrix has most of them twice."""
    known: dict[Polynomial, Formula] = {}

    def remembered(x: Polynomial) -> Formula:
        if x not in known:
            if watch is not None:
                watch(f"entry {len(known) + 1}")
            known[x] = write(x)
        return known[x]

    return remembered


def _letters(every: Sequence[Polynomial]) -> set[str]:
    terms = [term for x in every for term in x.terms]
    plain = {name for powers, _ in terms for name, _ in powers}
    return plain | {name for _, waves in terms for w in waves for name, _ in w.angle}


def write_terms(program: Program, spelling: Spelling, watch: Watch | None = None) -> Written:
    """A program as a list of short named terms."""
    first = spelling(set(program.graph.names.values()))
    definitions, results = named_terms(program, first.numbers, first.rank, watch)
    made = Written(definitions, results, first)
    return made._replace(alphabet=spelling(symbols(set().union(*map(atoms, made.formulas)))))


def read(
    program: Program,
    spelling: Spelling,
    groups: Mapping[str, int],
    *,
    limit: int | None = LIMIT,
    watch: Watch | None = None,
) -> Sheet:
    """The outputs of any program as a sheet: in one piece where that is short enough, else by named terms.

    `groups` says which symbols are angles and which of them add. An input with axes is an array of variables, a
    bare one a parameter.
    """
    try:
        expansion = Expansion(groups, limit, watch)
        found = {leaf.name: [expansion.of(x) for x in leaf.entries] for leaf in program.outputs}
        written = write_closed(found, [], spelling)
    except ClosedFormError:
        written = write_terms(program, spelling, watch)
    names = program.graph.names
    variables = {leaf.name: [names[x.id] for x in leaf.entries] for leaf in program.inputs if leaf.shape}
    arrays = {leaf.name: written.array(leaf.name, leaf.shape) for leaf in program.outputs}
    return Sheet(program.name, variables, written.alphabet, written.definitions, arrays)
