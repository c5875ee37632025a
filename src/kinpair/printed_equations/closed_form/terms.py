"""A program as a list of short named terms, where the normal form would be too long.

Names for parts of formulas, and what can be said shorter once parts have names.

Sines and cosines are symbols here, since a product of them with a named term is best left alone; squares of both that
meet are one.

Sums in a program that are constant though nothing in them says so, found by trying.

Every node is worked out at several complex points at once. A sum that is the same number at all of them, to rounding
compared with what is added, is that number, since the nodes are analytic functions. A root has either sign, by
chance at each
point, so that √x² is not taken for x. What is chosen by a comparison is not tried, nor anything that is made of it.

A program as a list of short named terms, in order of need: what is long or shared gets a name.

Every node is written in two forms: as a sum of products of what it is made of, names among it, and as its normal form
in symbols and waves, as long as that is short. The one with fewer terms is taken, so that what is zero, one or a wave
of a sum of angles is written so. In the first form sines and cosines are symbols, since a product of them with a named
term is best left alone; squares of both that meet are one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from kinpair.compiler.graph import Expr
from kinpair.compiler.program import Program
from kinpair.errors import ClosedFormError
from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.factoring import formula
from kinpair.printed_equations.closed_form.folding import folded
from kinpair.printed_equations.closed_form.formula import Call, Formula, Rank, Symbol, Trig, atoms
from kinpair.printed_equations.closed_form.matrices import rounded, simple
from kinpair.printed_equations.closed_form.polynomial import (
    FORMS,
    PLAIN,
    Expansion,
    Polynomial,
    Powers,
    Watch,
    number,
)
from kinpair.printed_equations.closed_form.sharing import renamed

EQUAL = 1e-12  # of two numbers that are one
Definitions: TypeAlias = list[tuple[str, Formula]]


class Naming:
    """Names given so far: of waves and of formulas."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank
        self._waves: dict[str, Trig] = {}
        self._known: dict[Formula, str] = {}
        self._roots: dict[str, Polynomial] = {}
        self._meaning: dict[str, Polynomial] = {}  # of sums
        self._fractions: dict[str, Polynomial] = {}
        self.result: Definitions = []

    def formula(self, x: Polynomial) -> Formula:
        """A sum as a formula, the symbols of waves as waves."""
        return formula(x, self._rank, self._waves)

    def name(self, x: Formula) -> Polynomial:
        """A symbol for a formula: x1, x2, ..."""
        if x not in self._known:
            self._known[x] = f"x{len(self._known) + 1}"
            self.result.append((self._known[x], x))
        return polynomial.letter(self._known[x])

    def named(self, x: Polynomial) -> Polynomial:
        """A symbol for a sum."""
        return self.letter_of(x) if len(x) > 1 else x

    def letter_of(self, x: Polynomial) -> Polynomial:
        """A symbol for a sum or a fraction."""
        result = self.name(self.formula(x))
        (self._meaning if len(x) > 1 else self._fractions)[_letter(result)] = x
        return result

    def added(self, x: Polynomial, y: Polynomial, sign: float) -> Polynomial:
        """x ± y, a named sum written out where something cancels."""
        result = x.plus(y, sign)
        for a, b in ((self._sum(x), y), (x, self._sum(y))):
            if a is not None and b is not None:
                other = a.plus(b, sign)
                result = other if len(other) <= len(result) else result
        return self._rooted(result)

    def _rooted(self, x: Polynomial) -> Polynomial:
        """A sum over the root of that sum as the root."""
        if not self._roots:
            return x
        shared = (
            set[str].intersection(*({name for name, n in p if n == -1} for p, _ in x.terms))
            if len(x)
            else set()
        )
        for name in shared & self._roots.keys():
            root = polynomial.letter(name)
            factor = _multiple(x * root, self._roots[name])
            if factor is not None:
                return root * factor
        return x

    def _sum(self, x: Polynomial) -> Polynomial | None:
        """Meaning of the name of a sum."""
        return self._meaning.get(_letter(x)) if len(x) == 1 else None

    def is_fraction(self, x: Polynomial) -> bool:
        """True if it is a symbol over another that is no root."""
        if len(x) != 1:
            return False
        ((powers, waves), value), *_ = x.terms.items()
        over = sorted(n for _, n in powers) == [-1, 1] and not waves and abs(value) == 1.0
        return over and not any(name in self._roots for name, _ in powers)

    def cancelled(self, x: Polynomial) -> Polynomial:
        """Named fractions written out where their denominator is a factor."""
        if not any(name in self._fractions for powers, _ in x.terms for name, _ in powers):
            return x
        result = polynomial.number(0.0)
        for (powers, waves), value in x.terms.items():
            term = Polynomial({(powers, waves): value})
            for name, n in powers:
                meaning = self._fractions.get(name) if n > 0 else None
                if meaning is not None and _meets(meaning, dict(powers)):
                    term = term * Polynomial({(((name, -1),), ()): 1.0}) * meaning
            result = result + term
        return result

    def call(self, op: str, known: list[Polynomial]) -> Polynomial:
        """A symbol for what is no sum and no product."""
        result = self.name(Call(op, tuple(map(self.formula, known))))
        if op == "sqrt":
            self._roots[_letter(result)] = known[0]
        return result

    def quotient(self, x: Polynomial, y: Polynomial) -> Polynomial:
        """x over one symbol; where that is the root of x, the root."""
        under = self._roots.get(_letter(y)) if len(y) == 1 else None
        factor = _multiple(x, under) if under is not None else None
        if factor is not None:
            return y * factor
        result = FORMS["div"](x, y)
        assert result is not None  # one letter can be divided by
        return self.cancelled(result)

    def in_letters(self, x: Polynomial) -> Polynomial:
        """A normal form with symbols in the place of its waves."""
        if not any(waves for _, waves in x.terms):
            return x
        result = polynomial.number(0.0)
        for value, powers, waves in folded(x):
            total: dict[str, int] = dict(powers)
            for w in waves:
                letter = f"{w.kind} {w.angle}"
                self._waves[letter] = Trig(w.kind, w.angle)
                total[letter] = total.get(letter, 0) + 1
            result = result + Polynomial({(tuple(sorted(total.items())), ()): value})
        return result

    def squares_joined(self, x: Polynomial) -> Polynomial:
        """cos² and sin² of one angle with the same factor as 1."""
        if not any(n > 1 and name in self._waves for powers, _ in x.terms for name, n in powers):
            return x
        terms = dict(x.terms)
        for (powers, waves), value in x.terms.items():
            for letter, n in powers:
                wave = self._waves.get(letter)
                if n < 2 or wave is None or wave.kind != "cos" or (powers, waves) not in terms:
                    continue
                partner = _replaced(powers, letter, f"sin {wave.angle}")
                other = terms.get((partner, waves))
                if other is not None and abs(other - value) <= EQUAL * abs(value):
                    del terms[powers, waves], terms[partner, waves]
                    left = Polynomial({(_replaced(powers, letter, ""), waves): value})
                    return self.squares_joined(Polynomial(terms) + left)
        return x


def _replaced(powers: Powers, letter: str, other: str) -> Powers:
    """Two of a symbol replaced by two of another; taken away without another."""
    total = dict(powers)
    total[letter] -= 2
    if other:
        total[other] = total.get(other, 0) + 2
    return tuple(sorted((name, n) for name, n in total.items() if n))


def _letter(x: Polynomial) -> str:
    """The symbol that a term is, or nothing."""
    ((powers, waves), value), *_ = x.terms.items()
    plain = value == 1.0 and not waves and len(powers) == 1 and powers[0][1] == 1
    return powers[0][0] if plain else ""


def _multiple(x: Polynomial, y: Polynomial) -> Polynomial | None:
    """x / y where that is one term."""
    if len(x) != len(y):
        return None
    first, value = next(iter(y.terms.items()))
    inverse = Polynomial({first: value}).inverse()
    for term, other in x.terms.items():
        factor = Polynomial({term: other}) * inverse if inverse is not None else None
        if factor is not None and not len(x - y * factor):
            return factor
    return None


def _meets(fraction: Polynomial, powers: Mapping[str, int]) -> bool:
    """True if a symbol under the fraction bar is among these."""
    ((inner, _), _), *_ = fraction.terms.items()
    return any(n < 0 < powers.get(name, 0) for name, n in inner)


POINTS = 24
SIZES = (-0.5, 0.5)  # powers of ten
ROUNDING = 1e-13  # beside what is added
ANALYTIC: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
}


def constant_sums(program: Program) -> dict[int, float]:
    """Numbers of the sums that are constant, by node."""
    rng = np.random.default_rng(1)
    value: dict[int, np.ndarray] = {}
    with np.errstate(all="ignore"):
        for x in program.nodes:
            value[x.id] = _value_of(x, [value[y.id] for y in x.args], rng)
        sums = [x for x in program.nodes if x.op in ("add", "sub")]
        if not sums:
            return {}
        first, second = (np.abs([value[x.args[k].id] for x in sums]) for k in range(2))
        values = np.array([value[x.id] for x in sums])
        mean, error = values.mean(1).real, ROUNDING * (first + second)
        constant = np.all(np.abs(values - mean[:, None]) <= error, axis=1)
        zero = np.abs(mean) <= error.min(1)
    return {x.id: 0.0 if zero[k] else float(mean[k]) for k, x in enumerate(sums) if constant[k]}


def _value_of(x: Expr, known: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    if x.op == "const":
        return np.full(POINTS, complex(x.value))
    if x.op == "symbol":
        return 10.0 ** rng.uniform(*SIZES, POINTS) * np.exp(2j * np.pi * rng.uniform(size=POINTS))
    if x.op == "sqrt" and np.abs(known[0] - known[0][0]).max() > ROUNDING * np.abs(known[0][0]):
        return np.sqrt(known[0]) * rng.choice([-1.0, 1.0], POINTS)
    function = ANALYTIC.get(x.op)
    return np.full(POINTS, np.nan, dtype=complex) if function is None else function(*known)


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
    """Number symbols without gaps in the numbers."""
    names: dict[Formula, str] = {Symbol(name): f"x{k + 1}" for k, (name, _) in enumerate(named)}
    definitions = [(names[Symbol(name)], renamed(x, names)) for name, x in named]
    return definitions, {what: [renamed(x, names) for x in entries] for what, entries in results.items()}
