"""A cosine and a sine of one angle as one wave with a constant phase, where the phase is a simple one.

a cos x + b sin x = √(a² + b²) sin(x + α),    tan α = a/b

The phase gets a letter, alpha1, alpha2, ..., so that an angle stays a sum of letters; its value is positive. Where both
numbers are simple fractions, two terms are as short.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import atan2, hypot, pi

from kinpair.closed_form.angles import Wave
from kinpair.closed_form.matrices import simple
from kinpair.closed_form.polynomial import Polynomial, Term

PARTS_OF_PI = (3, 4, 5, 6, 8, 12)  # π/3, 2π/3, π/4, ...; the first that fits
CLOSE = 1e-12  # [rad]
FRACTIONS = 64  # a multiple of 1/64 is a simple fraction


class Phases:
    """Phases by letter; those `given` are used before the simple ones."""

    def __init__(self, known: Iterable[float] = (), letter: str = "alpha") -> None:
        self._known = [_within(x) for x in sorted(known)]
        self._letter = letter
        self.values: dict[str, float] = {}

    def of(self, x: Polynomial) -> Polynomial:
        """The same with one wave in the place of two, wherever the phase is simple."""
        terms = dict(x.terms)
        for (powers, waves), a in x.terms.items():
            for k, w in enumerate(waves):
                partner: Term = (powers, (*waves[:k], w._replace(kind="sin"), *waves[k + 1 :]))
                here: Term = (powers, waves)
                if w.kind == "cos" and here in terms and partner in terms:
                    joined = self._joined(a, terms[partner], w)
                    if joined is not None:
                        del terms[here], terms[partner]
                        terms[powers, (*waves[:k], joined[1], *waves[k + 1 :])] = joined[0]
        return Polynomial(terms)

    def _joined(self, a: float, b: float, w: Wave) -> tuple[float, Wave] | None:
        if all(x * FRACTIONS == int(x * FRACTIONS) for x in (a, b)):
            return None
        options = [("sin", atan2(a, b)), ("cos", atan2(-b, a))]
        ranked = [(self._place(_within(phase)), kind, phase) for kind, phase in options]
        fit = [x for x in ranked if x[0] is not None]
        if not fit:
            return None
        _, kind, phase = min(fit)  # type: ignore[type-var]
        sign = 1.0 if abs(_within(phase) - phase) < 1.0 else -1.0
        angle = tuple(sorted((*w.angle, self._named(_within(phase)))))
        return sign * simple(hypot(a, b)), Wave(w.group, kind, angle)

    def _place(self, phase: float) -> int | None:
        if any(abs(phase - x) < CLOSE for x in self._known):
            return 0
        return next((k for k in PARTS_OF_PI if abs(phase * k / pi - round(phase * k / pi)) < CLOSE), None)

    def _named(self, phase: float) -> tuple[str, int]:
        """The letter of a phase and its sign."""
        size, sign = abs(phase), 1 if phase > 0 else -1
        for name, value in self.values.items():
            if abs(value - size) < CLOSE:
                return name, sign
        name = f"{self._letter}{len(self.values) + 1}"
        self.values[name] = size
        return name, sign


def _within(phase: float) -> float:
    """The phase but for half turns, in (−π/2, π/2]."""
    return phase - pi * round(phase / pi - CLOSE)
