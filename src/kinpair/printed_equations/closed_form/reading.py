"""Conversion of a program, or of normal forms, to formulas with symbols; `read` does all of it for any recorded
function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from kinpair.compiler.program import Program
from kinpair.errors import ClosedFormError
from kinpair.printed_equations.closed_form.factoring import formula, plain_formula
from kinpair.printed_equations.closed_form.formula import Alphabet, Formula, atoms, symbols, written_terms
from kinpair.printed_equations.closed_form.polynomial import Expansion, Polynomial, Watch
from kinpair.printed_equations.closed_form.sharing import shared_sums
from kinpair.printed_equations.closed_form.sheet import Sheet
from kinpair.printed_equations.closed_form.terms import named_terms

Entries: TypeAlias = Mapping[str, Sequence[Polynomial | None]]  # entries by name; None: not finished
Spelling: TypeAlias = Callable[[set[str]], Alphabet]  # the letters, given which symbols are used
LIMIT = 1000  # terms of an entry that is still written in one piece
LONG_SHEET = 200  # terms in all from which on sums that occur several times are named


class Written(NamedTuple):
    """Terms with names of their own, results by name, an entry not finished None, and the symbols of both; `at_length`
    where some have not been made short."""

    definitions: list[tuple[str, Formula]]
    results: Mapping[str, Sequence[Formula | None]]
    alphabet: Alphabet
    at_length: bool = False

    @property
    def formulas(self) -> list[Formula]:
        """All formulas that were written."""
        entries = [x for entries in self.results.values() for x in entries if x is not None]
        return [*(x for _, x in self.definitions), *entries]

    def array(self, what: str, shape: tuple[int, ...]) -> np.ndarray:
        """The entries of a result; those missing at the end are None."""
        entries = np.full(int(np.prod(shape)), None, dtype=object)
        for k, x in enumerate(self.results.get(what, [])):
            entries[k] = x
        return entries.reshape(shape)


def write_closed(
    polynomials: Entries,
    named: Sequence[tuple[str, Polynomial]],
    spelling: Spelling,
    watch: Watch | None = None,
    *,
    stops: tuple[type[BaseException], ...] = (),
    longest: int | None = None,
) -> Written:
    """Normal forms, each in one piece; in a long sheet sums that occur several times are named.

    What is not made short before something of `stops` happens, or has more than `longest` terms, stays as it is.
    """
    every = [
        *(x for _, x in named),
        *(x for entries in polynomials.values() for x in entries if x is not None),
    ]
    alphabet = spelling(_letters(every))
    short: dict[Polynomial, Formula] = {}
    shortened = sorted(dict.fromkeys(x for x in every if longest is None or len(x) <= longest), key=len)
    at_length = longest is not None and any(len(x) > longest for x in every)
    try:
        for k, x in enumerate(shortened):
            if watch is not None:
                watch(f"entry {k + 1} of {len(shortened)}")
            short[x] = formula(x, alphabet.rank)
        written = _written(polynomials, named, alphabet, short)
        if at_length:
            return written._replace(at_length=True)
        long = sum(map(written_terms, written.formulas)) > LONG_SHEET
        return Written(*shared_sums(written.definitions, written.results, naming=long), alphabet)
    except stops:
        return _written(polynomials, named, alphabet, short)._replace(at_length=True)


def _written(
    polynomials: Entries,
    named: Sequence[tuple[str, Polynomial]],
    alphabet: Alphabet,
    short: Mapping[Polynomial, Formula],
) -> Written:
    """Formulas that are short, the others plain; a symmetric matrix has most of them twice."""
    longest, formulas = max(map(len, short), default=0), dict[int, Formula]()

    def write(x: Polynomial) -> Formula:
        if id(x) not in formulas:
            known = short.get(x) if len(x) <= longest else None
            formulas[id(x)] = plain_formula(x, alphabet.rank) if known is None else known
        return formulas[id(x)]

    results = {
        what: [None if x is None else write(x) for x in entries] for what, entries in polynomials.items()
    }
    return Written([(name, write(x)) for name, x in named], results, alphabet)


def _letters(every: Sequence[Polynomial]) -> set[str]:
    terms = [term for x in {id(x): x for x in every}.values() for term in x.terms]
    plain = {name for powers, _ in terms for name, _ in powers}
    return plain | {name for waves in {waves for _, waves in terms} for w in waves for name, _ in w.angle}


def write_terms(
    program: Program, spelling: Spelling, groups: Mapping[str, int], watch: Watch | None = None
) -> Written:
    """A program as a list of short named terms; `groups` as in `read`."""
    first = spelling(set(program.graph.names.values()))
    definitions, results = named_terms(program, groups, first.rank, watch)
    written = Written(definitions, results, first)
    return written._replace(alphabet=spelling(symbols(set().union(*map(atoms, written.formulas)))))


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
        polynomials = {leaf.name: [expansion.of(x) for x in leaf.entries] for leaf in program.outputs}
        written = write_closed(polynomials, [], spelling)
    except ClosedFormError:
        written = write_terms(program, spelling, groups, watch)
    names = program.graph.names
    variables = {leaf.name: [names[x.id] for x in leaf.entries] for leaf in program.inputs if leaf.shape}
    arrays = {leaf.name: written.array(leaf.name, leaf.shape) for leaf in program.outputs}
    return Sheet(program.name, variables, written.alphabet, written.definitions, arrays)
