"""Significance of the summands of H, C q̇ and g, and equations without those that do not matter (after R. A. Lewis).

Chapter 1.2 of Vukobratović, Dynamics of Robots and Manipulators, says of Lewis that he gives a simplified computation
of the coefficients of Lagrange's equations; the measure here is ours. Each entry is expanded into summands, products of
symbols, sines and cosines. The significance of a summand is the largest |summand| / |entry| over the states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, final

import numpy as np

from kinpair.errors import InputError
from kinpair.printed_equations.closed_form.formula import (
    ZERO,
    Atom,
    Call,
    Formula,
    Number,
    Power,
    Product,
    Rank,
    Sum,
    Symbol,
    Trig,
)
from kinpair.printed_equations.closed_form.sheet import calculated

if TYPE_CHECKING:
    from kinpair.printed_equations.printed import Equations

Monomial: TypeAlias = tuple[tuple[Atom, int], ...]  # factors with exponents, in a fixed order
Polynomial: TypeAlias = dict[Monomial, float]
FUNCTIONS = {"cos": np.cos, "sin": np.sin}
HEADINGS = ("entry", "significance", "summand")


def expanded(x: Formula, named: Mapping[str, Formula]) -> Polynomial:
    """Expand a formula into monomials; `named` are terms with names of their own."""
    match x:
        case Number(value):
            return {(): value} if value else {}
        case Symbol(name) if name in named:
            return expanded(named[name], named)
        case Symbol() | Trig():
            return {((x, 1),): 1.0}
        case Power(of, exponent):
            return _product([expanded(of, named)] * exponent)
        case Product(factors):
            return _product([expanded(factor, named) for factor in factors])
        case Sum(terms):
            return _sum([expanded(term, named) for term in terms])
        case Call(op, _):
            raise InputError(
                f"significance is for closed forms of sines and cosines, and here is {op}", operation=op
            )


def _sum(parts: Sequence[Polynomial]) -> Polynomial:
    total: Polynomial = {}
    for part in parts:
        for monomial, value in part.items():
            total[monomial] = total.get(monomial, 0.0) + value
    return {monomial: value for monomial, value in total.items() if value}


def _product(parts: Sequence[Polynomial]) -> Polynomial:
    product: Polynomial = {(): 1.0}
    for part in parts:
        product = _sum([{_times(a, b): x * y} for a, x in product.items() for b, y in part.items()])
    return product


def _times(a: Monomial, b: Monomial) -> Monomial:
    exponents = dict(a)
    for atom, exponent in b:
        exponents[atom] = exponents.get(atom, 0) + exponent
    return tuple(sorted(exponents.items(), key=repr))


def formula_of(polynomial: Polynomial, rank: Rank) -> Formula:
    """Return the sum of the monomials as a formula; `rank` orders the factors."""
    terms = [_term(monomial, value, rank) for monomial, value in polynomial.items()]
    return ZERO if not terms else terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _term(monomial: Monomial, value: float, rank: Rank) -> Formula:
    ordered = sorted(monomial, key=lambda factor: rank(factor[0]))
    factors: list[Formula] = [atom if exponent == 1 else Power(atom, exponent) for atom, exponent in ordered]
    every = [Number(value), *factors] if value != 1.0 or not factors else factors
    return every[0] if len(every) == 1 else Product(tuple(every))


class Summand(NamedTuple):
    """One summand of an entry, such as H11, Cq2 (of C q̇) or g1, with its significance."""

    entry: str
    significance: float
    text: str


class Simplified(NamedTuple):
    """Equations without insignificant summands, the number left out, and the largest relative torque error."""

    equations: Equations
    omitted: int
    torque_error: float


class States(NamedTuple):
    """States (n, nq), (n, nv) and (n, nv)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Significance:
    """Summands that matter in given states; `print` it, or `simplified(tolerance)`."""

    equations: Equations
    states: States

    @property
    def _rank(self) -> Rank:
        return self.equations.sheet.alphabet.rank

    def _entries(self) -> dict[str, Polynomial]:
        """Entries of H on and above its diagonal, of C q̇ and of g, expanded."""
        x, named = self.equations, dict(self.equations.sheet.definitions)
        rates, n = x.sheet.variables["qd"], len(x.g)
        entries = {_of_H(i, j, n): expanded(x.H[i, j], named) for i in range(n) for j in range(i, n)}
        for i in range(n):
            parts = [
                _product([expanded(x.C[i, j], named), {((Symbol(rates[j]), 1),): 1.0}]) for j in range(n)
            ]
            entries[f"Cq{i + 1}"] = _sum(parts)
        return entries | {f"g{i + 1}": expanded(x.g[i], named) for i in range(n)}

    def _values(self, polynomial: Polynomial) -> np.ndarray:
        """Values of each monomial in each state (monomials, states)."""
        sheet = self.equations.sheet
        known: dict[str, Any] = {key: letter.value for key, letter in sheet.alphabet.letters.items()}
        for what, values in (("q", self.states.q), ("qd", self.states.qd)):
            known |= dict(zip(sheet.variables[what], values.T, strict=True))
        shape = len(self.states.q)
        terms = [calculated(_term(*pair, self._rank), known, float, FUNCTIONS) for pair in polynomial.items()]
        return np.array([np.broadcast_to(term, shape) for term in terms]).reshape(len(terms), shape)

    def _measures(self, polynomial: Polynomial) -> np.ndarray:
        values = self._values(polynomial)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.abs(values) / np.abs(values.sum(axis=0))
        return np.where(values == 0.0, 0.0, ratios).max(axis=1, initial=0.0)

    @property
    def summands(self) -> list[Summand]:
        """All summands with their significance, entry by entry, the most significant first."""
        found: list[Summand] = []
        for entry, polynomial in self._entries().items():
            texts = [self.equations.text(_term(*pair, self._rank)) for pair in polynomial.items()]
            pairs = zip(self._measures(polynomial).tolist(), texts, strict=True)
            found += [Summand(entry, *pair) for pair in sorted(pairs, key=lambda pair: -pair[0])]
        return found

    def __str__(self) -> str:
        rows = [HEADINGS, *((x.entry, f"{x.significance:.2e}", x.text) for x in self.summands)]
        return "\n".join(f"{entry:<6}  {value:<12}  {text}".rstrip() for entry, value, text in rows)

    def simplified(self, tolerance: float) -> Simplified:
        """Omit the summands whose significance is below the tolerance.

        The torque error is the largest |Δτ| / |τ| over the states, both the largest of all joints, for the rates and
        accelerations of the states. It has no unit.
        """
        if not isinstance(tolerance, (int, float, np.floating)) or not 0.0 <= tolerance < 1.0:  # type: ignore[redundant-expr]
            raise InputError(f"tolerance is {tolerance!r}; give a number from 0 to 1", tolerance=tolerance)
        x, named, omitted = self.equations, dict(self.equations.sheet.definitions), 0
        kept: dict[str, set[Monomial]] = {}
        for entry, polynomial in self._entries().items():
            large = self._measures(polynomial) >= tolerance
            kept[entry] = {monomial for monomial, keep in zip(polynomial, large, strict=True) if keep}
            omitted += int((~large).sum())
        n, rates = len(x.g), x.sheet.variables["qd"]
        H, C, g = (np.full(array.shape, ZERO, dtype=object) for array in (x.H, x.C, x.g))
        for i in range(n):
            g[i] = formula_of(_only(expanded(x.g[i], named), kept[f"g{i + 1}"]), self._rank)
            for j in range(n):
                entry = _of_H(min(i, j), max(i, j), n)
                H[i, j] = formula_of(_only(expanded(x.H[i, j], named), kept[entry]), self._rank)
                row, rate = expanded(x.C[i, j], named), ((Symbol(rates[j]), 1),)
                acting = {m: v for m, v in row.items() if _times(m, rate) in kept[f"Cq{i + 1}"]}
                C[i, j] = formula_of(acting, self._rank)
        results = {**x.sheet.results, "H": H, "C": C, "g": g}
        note = f"Summands below {tolerance:g} of their entry are left out ({omitted})."
        sheet = replace(x.sheet, definitions=[], results=results, notes=(*x.sheet.notes, note))
        short = replace(x, sheet=sheet, status=f"{x.status}; without summands below {tolerance:g}")
        return Simplified(short, omitted, self._torque_error(short))

    def _torque_error(self, short: Equations) -> float:
        worst = 0.0
        for q, qd, qdd in zip(*self.states, strict=True):
            exact, found = (_torque(equations, q, qd, qdd) for equations in (self.equations, short))
            size = np.abs(exact).max(initial=0.0)
            if size:
                worst = max(worst, float(np.abs(found - exact).max() / size))
        return worst


def _of_H(i: int, j: int, n: int) -> str:
    return f"H{i + 1}{',' if n > 9 else ''}{j + 1}"


def _torque(x: Equations, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    values = x.evaluate(q, qd)
    return values["H"] @ qdd + values["C"] @ qd + values["g"]


def _only(polynomial: Polynomial, kept: set[Monomial]) -> Polynomial:
    return {monomial: value for monomial, value in polynomial.items() if monomial in kept}


def states_of(equations: Equations, q: Any, qd: Any, qdd: Any) -> States:
    """Check the states: q (n, nq), qd and qdd (n, nv); one state alone is a batch of one."""
    sizes = {"q": len(equations.sheet.variables["q"]), "qd": len(equations.g), "qdd": len(equations.g)}
    values = {"q": q, "qd": qd, "qdd": np.zeros(np.shape(qd)) if qdd is None else qdd}
    arrays = {key: np.atleast_2d(np.asarray(value, dtype=float)) for key, value in values.items()}
    for key, array in arrays.items():
        if array.ndim != 2 or array.shape[1] != sizes[key]:
            raise InputError(
                f"{equations.sheet.name}: {key} has shape {np.shape(values[key])}; give (states, {sizes[key]})",
                input=key,
            )
    if len({len(array) for array in arrays.values()}) > 1:
        counts = ", ".join(f"{len(array)} of {key}" for key, array in arrays.items())
        raise InputError(f"{equations.sheet.name}: the numbers of states differ: {counts}")
    return States(**arrays)
