"""A program as a list of short named terms, in order of need: what is long or shared gets a name.

Every node is written in two ways: as a sum of products of what it is made of, names among it, and as its normal form
in letters and waves, as long as that is short. The one with fewer terms is taken, so that what is zero, one or a wave
of a sum of angles is written so. In the first way sines and cosines are letters, since a product of them with a named
term is best left alone; squares of both that meet are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from kinpair.closed_form.expansion import FORMS, Expansion, Watch
from kinpair.closed_form.formula import Formula, Rank, Symbol, atoms
from kinpair.closed_form.matrices import rounded, simple
from kinpair.closed_form.naming import Definitions, Naming
from kinpair.closed_form.polynomial import PLAIN, Polynomial, number
from kinpair.closed_form.probing import constant_sums
from kinpair.closed_form.sharing import renamed
from kinpair.compiler.graph import Expr
from kinpair.compiler.program import Program
from kinpair.errors import ClosedFormError

LONGEST = 8  # terms of a sum without a name
WHOLE = 12  # terms of a normal form that is looked at
FOLDS = 2  # terms of a normal form that may become one
SIGNS = {"add": 1.0, "sub": -1.0}


def named_terms(
    program: Program, groups: Mapping[str, int], rank: Rank, watch: Watch | None = None
) -> tuple[Definitions, dict[str, list[Formula]]]:
    """Definitions in order of need, and the entries of the outputs by name."""
    naming, expansion = Naming(rank), Expansion(groups, WHOLE)
    constant = constant_sums(program)
    uses = Counter(y.id for x in program.nodes for y in x.args)
    whole: dict[int, Polynomial] = {}
    values: dict[int, Polynomial] = {}
    for k, x in enumerate(program.nodes):
        if watch is not None:
            watch(f"{k} of {len(program.nodes)} operations")
        normal = number(simple(constant[x.id])) if x.id in constant else _normal(x, whole, expansion)
        if normal is not None:
            whole[x.id] = normal
        result = _shorter(x, normal, [values[y.id] for y in x.args], naming)
        several = uses[x.id] > 1
        if len(result) > LONGEST or (several and len(result) > 1):
            result = naming.named(result)
        elif several and naming.is_fraction(result):
            result = naming.letter_of(result)
        values[x.id] = result
    results = {leaf.name: [naming.formula(values[x.id]) for x in leaf.entries] for leaf in program.outputs}
    return _numbered(_needed(naming.result, results), results)


def _normal(x: Expr, whole: Mapping[int, Polynomial], expansion: Expansion) -> Polynomial | None:
    """The normal form of a node, where it is short."""
    if any(y.id not in whole for y in x.args):
        return None
    try:
        result = expansion.form_of(x, [whole[y.id] for y in x.args])
    except ClosedFormError:
        return None
    result = result.cleaned(result.size)
    return rounded(result) if len(result) <= WHOLE else None


def _shorter(x: Expr, normal: Polynomial | None, known: list[Polynomial], naming: Naming) -> Polynomial:
    """The normal form, or what is made of known parts where that has fewer terms."""
    if normal is not None and (_is_number(normal) or x.op not in FORMS):
        return naming.in_letters(normal)
    result = _value(x, known, naming)
    if normal is None or len(normal) > FOLDS * len(result):
        return result
    short = naming.in_letters(normal)
    return short if _length(short) <= _length(result) else result


def _is_number(x: Polynomial) -> bool:
    return not len(x) or (len(x) == 1 and PLAIN in x.terms)


def _length(x: Polynomial) -> tuple[int, int]:
    """Terms, and factors in them."""
    return len(x), sum(abs(n) for powers, _ in x.terms for _, n in powers)


def _value(x: Expr, known: list[Polynomial], naming: Naming) -> Polynomial:
    if x.op not in FORMS:
        return naming.call(x.op, known)
    if x.op == "div":
        return naming.quotient(known[0], naming.named(known[1]))
    if x.op in SIGNS:
        return naming.squares_joined(naming.added(known[0], known[1], SIGNS[x.op]))
    if x.op == "mul" and len(known[0]) > 1:
        known = [known[0], naming.named(known[1])]
    result = FORMS[x.op](*known)
    assert result is not None  # only a quotient can be none
    return naming.cancelled(result)


def _needed(definitions: Definitions, results: Mapping[str, list[Formula]]) -> Definitions:
    """Definitions that the results use, themselves or through others."""
    wanted = {x for entries in results.values() for each in entries for x in atoms(each)}
    kept: Definitions = []
    for name, x in reversed(definitions):
        if Symbol(name) in wanted:
            wanted |= atoms(x)
            kept.append((name, x))
    return kept[::-1]


def _numbered(
    named: Definitions, results: Mapping[str, list[Formula]]
) -> tuple[Definitions, dict[str, list[Formula]]]:
    """Without gaps in the numbers."""
    names: dict[Formula, str] = {Symbol(name): f"x{k + 1}" for k, (name, _) in enumerate(named)}
    definitions = [(names[Symbol(name)], renamed(x, names)) for name, x in named]
    return definitions, {what: [renamed(x, names) for x in entries] for what, entries in results.items()}
