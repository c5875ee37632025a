"""Exact division of normal forms.

With z = e^{ix} for every angle x a sum of products of letters, sines and cosines is a Laurent polynomial in letters
and z: cos x = (z + 1/z)/2, sin x = (z − 1/z)/2i. There the leading term of a product is the product of the leading
terms, so that a quotient is found term by term, as one does on paper, or is found not to exist.
"""

from __future__ import annotations

from typing import TypeAlias

from kinpair.closed_form import angles
from kinpair.closed_form.polynomial import Polynomial, Term

Variable: TypeAlias = tuple[int, str]  # group of the angle, or −1 for a letter; name
Exponents: TypeAlias = tuple[int, ...]
Laurent: TypeAlias = dict[Exponents, complex]
LEFT_OVER = 1e-11  # beside the largest number of the dividend


def quotient(x: Polynomial, y: Polynomial, limit: int | None = None) -> Polynomial | None:
    """x / y where it is a normal form of at most `limit` terms, None elsewhere."""
    variables = sorted(_variables(x) | _variables(y))
    left, divisor = _laurent(x, variables), _laurent(y, variables)
    if not left or not divisor:
        return x if divisor else None
    lead, size, made = max(divisor), x.size, Laurent()
    lowest = _minus(min(left), min(divisor))
    while left:
        place = _minus(max(left), lead)
        if place < lowest or (limit is not None and len(made) >= 4 * limit):
            return None
        made[place] = left[max(left)] / divisor[lead]
        for there, value in divisor.items():
            at = _plus(place, there)
            left[at] = left.get(at, 0.0) - made[place] * value
            if abs(left[at]) <= LEFT_OVER * size or there == lead:
                del left[at]
    return _real(made, variables)


def _variables(x: Polynomial) -> set[Variable]:
    plain = {(-1, name) for powers, _ in x.terms for name, _ in powers}
    return plain | {(w.group, name) for _, waves in x.terms for w in waves for name, _ in w.angle}


def _plus(a: Exponents, b: Exponents) -> Exponents:
    return tuple(m + n for m, n in zip(a, b, strict=True))


def _minus(a: Exponents, b: Exponents) -> Exponents:
    return tuple(m - n for m, n in zip(a, b, strict=True))


def _laurent(x: Polynomial, variables: list[Variable]) -> Laurent:
    total = Laurent()
    for term, value in x.terms.items():
        for factor, powers in _exponentials(term):
            at = tuple(powers.get(v, 0) for v in variables)
            total[at] = total.get(at, 0.0) + factor * value
    return {at: value for at, value in total.items() if value}


def _exponentials(term: Term) -> list[tuple[complex, dict[Variable, int]]]:
    powers, waves = term
    made: list[tuple[complex, dict[Variable, int]]] = [(1.0, {(-1, name): n for name, n in powers})]
    for w in waves:
        up, down = (0.5, 0.5) if w.kind == "cos" else (-0.5j, 0.5j)
        turned = {(w.group, name): k for name, k in w.angle}
        back = {v: -k for v, k in turned.items()}
        made = [(f * g, known | z) for f, known in made for g, z in ((up, turned), (down, back))]
    return made


def _real(x: Laurent, variables: list[Variable]) -> Polynomial:
    """Back to sines and cosines; what is imaginary is rounding."""
    total: dict[Term, complex] = {}
    for at, value in x.items():
        for factor, term in _waves(at, variables):
            total[term] = total.get(term, 0.0) + factor * value
    size = max((abs(value) for value in total.values()), default=0.0)
    kept = {term: value.real for term, value in total.items() if abs(value.real) > LEFT_OVER * size}
    return Polynomial(kept)


def _waves(at: Exponents, variables: list[Variable]) -> list[tuple[complex, Term]]:
    """Letters times e^{ix} of each group as cos x + i sin x."""
    present = [(v, n) for v, n in zip(variables, at, strict=True) if n]
    letters = tuple((name, n) for (group, name), n in present if group < 0)
    made: list[tuple[complex, angles.Waves]] = [(1.0, ())]
    for group in sorted({v[0] for v, _ in present if v[0] >= 0}):
        angle = tuple((name, n) for (its, name), n in present if its == group)
        choices = [(f, angles.wave(group, kind, angle)) for f, kind in ((1.0, "cos"), (1.0j, "sin"))]
        made = [(f * g * h, (*waves, *more)) for f, waves in made for g, (h, more) in choices if h]
    return [(factor, (letters, waves)) for factor, waves in made]
