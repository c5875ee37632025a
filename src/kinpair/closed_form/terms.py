"""A program as a list of short named terms, in order of need: what is long or shared gets a name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from kinpair.closed_form import polynomial
from kinpair.closed_form.expansion import FORMS, Watch
from kinpair.closed_form.formula import Call, Formula, Rank, Symbol, atoms, formula
from kinpair.closed_form.polynomial import Polynomial
from kinpair.compiler.graph import Expr
from kinpair.compiler.program import Program

LONGEST = 8  # terms of a sum without a name
Definitions = list[tuple[str, Formula]]
SHORT = {"cos": "c", "sin": "s"}


@dataclass(slots=True)
class _Naming:
    """Names given so far."""

    numbers: Mapping[str, int]
    rank: Rank
    made: Definitions = field(default_factory=Definitions)
    known: dict[Formula, str] = field(default_factory=dict[Formula, str])
    count: int = 0

    def name(self, x: Formula) -> Polynomial:
        """A letter for a formula: c2 for the cosine of the second angle, else x1, x2, ..."""
        if x not in self.known:
            self.known[x] = self._next(x)
            self.made.append((self.known[x], x))
        return polynomial.letter(self.known[x])

    def _next(self, x: Formula) -> str:
        if isinstance(x, Call) and x.op in SHORT and isinstance(x.arguments[0], Symbol):
            number = self.numbers.get(x.arguments[0].name)
            if number is not None:
                return f"{SHORT[x.op]}{number}"
        self.count += 1
        return f"x{self.count}"

    def named(self, x: Polynomial) -> Polynomial:
        """A letter for a sum."""
        return self.name(formula(x, self.rank)) if len(x) > 1 else x


def named_terms(
    program: Program, numbers: Mapping[str, int], rank: Rank, watch: Watch | None = None
) -> tuple[Definitions, dict[str, list[Formula]]]:
    """Definitions in order of need, and the entries of the outputs by name."""
    naming = _Naming(numbers, rank)
    uses = Counter(y.id for x in program.nodes for y in x.args)
    found: dict[int, Polynomial] = {}
    for k, x in enumerate(program.nodes):
        if watch is not None:
            watch(f"{k} of {len(program.nodes)} operations")
        made = _value(x, [found[y.id] for y in x.args], naming)
        long = len(made) > LONGEST or (len(made) > 1 and uses[x.id] > 1)
        found[x.id] = naming.named(made) if long else made
    results = {leaf.name: [formula(found[x.id], rank) for x in leaf.entries] for leaf in program.outputs}
    return _needed(naming.made, results), results


def _value(x: Expr, known: list[Polynomial], naming: _Naming) -> Polynomial:
    if x.op == "const":
        return polynomial.number(float(x.value))
    if x.op == "symbol":
        return polynomial.letter(x.graph.names[x.id])
    if x.op not in FORMS:
        return naming.name(Call(x.op, tuple(formula(y, naming.rank) for y in known)))
    if x.op in ("mul", "div") and (x.op == "div" or len(known[0]) > 1):
        known = [known[0], naming.named(known[1])]
    made = FORMS[x.op](*known)
    assert made is not None  # one letter can be divided by
    return made


def _needed(made: Definitions, results: Mapping[str, list[Formula]]) -> Definitions:
    """Definitions that the results use, themselves or through others."""
    wanted = {x for entries in results.values() for each in entries for x in atoms(each)}
    kept: Definitions = []
    for name, x in reversed(made):
        if Symbol(name) in wanted:
            wanted |= atoms(x)
            kept.append((name, x))
    return kept[::-1]
