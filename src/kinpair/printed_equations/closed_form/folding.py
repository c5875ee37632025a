"""Normal forms with fewer terms, and quotients of normal forms over denominators that have names, Y1, Y2, ...

From the normal form to one with fewer terms: two waves of equal size as one product.

    A cos a + A cos b =  2A cos ½(a+b) cos ½(a−b)       A cos a − A cos b = −2A sin ½(a+b) sin ½(a−b)
    A sin a + A sin b =  2A sin ½(a+b) cos ½(a−b)       A sin a − A sin b =  2A cos ½(a+b) sin ½(a−b)

So ½A + ½A cos 2q becomes A cos² q, and what is a sum of angles stays one. ½ sin 2q that is left is sin q cos q.

A cosine and a sine of one angle as one wave with a constant phase, where the phase is a simple one.

    a cos x + b sin x = √(a² + b²) sin(x + α),    tan α = a/b

The phase gets a symbol, alpha1, alpha2, ..., so that an angle stays a sum of symbols; its value is positive. Where both
numbers are simple fractions, two terms are as short.

A ratio is a sum of parts, each a normal form over a product of named denominators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import atan2, gcd, hypot, lcm, pi
from typing import NamedTuple, TypeAlias

from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.matrices import ZERO, Matrices, simple, tidy
from kinpair.printed_equations.closed_form.polynomial import (
    Angle,
    Polynomial,
    Powers,
    Term,
    Wave,
    Waves,
    combined,
    signed_wave,
)

Folded: TypeAlias = tuple[float, Powers, Waves]  # several waves of one group may stand here
View: TypeAlias = tuple[object, Wave]
SHORT = 32  # terms of a sum where common factors are looked for rather than equal sums
_SUMS = {  # (kind, same sign?) → kinds of ½(a+b) and ½(a−b), factor
    ("cos", True): ("cos", "cos", 2.0),
    ("cos", False): ("sin", "sin", -2.0),
    ("sin", True): ("sin", "cos", 2.0),
    ("sin", False): ("cos", "sin", 2.0),
}
PARTS_OF_PI = (3, 4, 5, 6, 8, 12)  # π/3, 2π/3, π/4, ...; the first that fits
CLOSE = 1e-12  # [rad]
FRACTIONS = 64  # a multiple of 1/64 is a simple fraction
Names: TypeAlias = tuple[str, ...]  # of denominators, sorted; one that is squared stands twice
Ratio: TypeAlias = dict[Names, Polynomial]
FINEST = 96  # largest denominator of a number that counts as a fraction
FOLDED = 60  # terms of a sum whose products of waves are looked at
SAME = ".10e"  # digits to which numbers of equal denominators agree


def folded(x: Polynomial) -> list[Folded]:
    """The terms, pairs of them made products until no pair is left."""
    terms: list[Folded] = [(value, *term) for term, value in sorted(x.terms.items())]
    groups = {w.group for _, _, waves in terms for w in waves}
    while True:
        fewer = _one_round(terms, groups)
        if len(fewer) == len(terms):
            return [_doubled(term) for term in terms] if len(terms) <= SHORT else terms
        terms = fewer


def _doubled(term: Folded) -> Folded:
    """½ sin 2a as sin a cos a."""
    value, powers, waves = term
    for k, w in enumerate(waves):
        half = _half(w.angle)
        if w.kind == "sin" and half is not None and value % 1.0 == 0.5:
            both = [Wave(w.group, kind, half) for kind in ("cos", "sin")]
            return _doubled((2.0 * value, powers, tuple(sorted([*waves[:k], *waves[k + 1 :], *both]))))
    return term


def _one_round(terms: list[Folded], groups: set[int]) -> list[Folded]:
    """Each term joined with the first before it that fits."""
    waiting: dict[object, tuple[int, Wave]] = {}  # a view → the term that waits for a partner there
    folded: dict[int, Folded] = {}
    joined: set[int] = set()
    for k, term in enumerate(terms):
        views = _views(term, groups)
        open_views = [(key, its) for key, its in views if key in waiting and waiting[key][0] not in joined]
        match = next(_partners(term, open_views, waiting, folded), None)
        if match is not None:
            partner, folded[partner] = match
            joined.add(partner)
        else:
            folded[k] = term
            waiting |= {key: (k, each) for key, each in views if (key, each) not in open_views}
    return list(folded.values())


def _partners(
    term: Folded, views: list[View], waiting: dict[object, tuple[int, Wave]], folded: dict[int, Folded]
) -> Iterator[tuple[int, Folded]]:
    for key, its in views:
        k, mine = waiting[key]
        product = _joined(folded[k], mine, term, its)
        if product is not None:
            yield k, product


def _views(term: Folded, groups: set[int]) -> list[View]:
    """A term as one wave times the rest; the wave of a group that is absent is cos 0."""
    value, powers, waves = term
    size = f"{abs(value):.11e}"  # numbers that are one but for rounding
    present = [((size, powers, waves[:k] + waves[k + 1 :], w.group, w.kind), w) for k, w in enumerate(waves)]
    absent = sorted(groups - {w.group for w in waves})
    return [*present, *(((size, powers, waves, g, "cos"), Wave(g, "cos", ())) for g in absent)]


def _joined(term: Folded, mine: Wave, other: Folded, its: Wave) -> Folded | None:
    """The sum of two terms as one, if their angles have half sums."""
    plus, minus = _half(combined(mine.angle, its.angle, 1)), _half(combined(mine.angle, its.angle, -1))
    if plus is None or minus is None:
        return None
    value, powers, waves = term
    first, second, factor = _SUMS[mine.kind, (value > 0) == (other[0] > 0)]
    one, wave_one = signed_wave(mine.group, first, plus)
    two, wave_two = signed_wave(mine.group, second, minus)
    kept = list(waves)
    if mine in kept:
        kept.remove(mine)
    return value * factor * one * two, powers, tuple(sorted([*kept, *wave_one, *wave_two]))


def _half(angle: Angle) -> Angle | None:
    if any(k % 2 for _, k in angle):
        return None
    return tuple((name, k // 2) for name, k in angle)


class Phases:
    """Phases by symbol; those `given` are used before the simple ones."""

    def __init__(self, known: Iterable[float] = (), letter: str = "alpha") -> None:
        self._known = [_within(x) for x in sorted(known)]
        self._letter = letter
        self.values: dict[str, float] = {}

    def of(self, x: Polynomial) -> Polynomial:
        """Return the terms with one wave in the place of two, wherever the phase is simple."""
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
        """The symbol of a phase and its sign."""
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


class Whole(NamedTuple):
    """One normal form over a product of denominators; `short` has the names of the denominators in it."""

    numerator: Polynomial
    short: Polynomial
    under: Names


class Denominators:
    """Denominators by name, in the order in which they were met."""

    def __init__(self, matrices: Matrices, letter: str = "Y") -> None:
        self._matrices, self._letter = matrices, letter
        self._names: dict[frozenset[object], str] = {}
        self.meaning: dict[str, Polynomial] = {}

    def name(self, x: Polynomial) -> str:
        """The name of a normal form, given now if it has none."""
        key = frozenset((term, f"{value:{SAME}}") for term, value in x.terms.items())
        if key not in self._names:
            self._names[key] = f"{self._letter}{len(self._names) + 1}"
            self.meaning[self._names[key]] = x
        return self._names[key]

    def over(self, x: Polynomial) -> tuple[Polynomial, Names]:
        """1/x as one term over a named denominator, or over none where x is one term."""
        content, primitive = split(x)
        inverse = content.inverse()
        assert inverse is not None  # one term without waves
        if len(primitive) == 1 and primitive.inverse() is not None:
            return inverse, ()
        return inverse, (self.name(primitive),)

    def product(self, names: Iterable[str]) -> Polynomial:
        """The denominators multiplied out."""
        return reduce(self._matrices.times, (self.meaning[name] for name in names), polynomial.number(1.0))

    def reduced(self, x: Polynomial, under: Names) -> tuple[Polynomial, Names]:
        """Remove the denominators that divide x."""
        left: list[str] = []
        for name in under:
            whole = self._matrices.quotient(x, self.meaning[name])
            x, left = (x, [*left, name]) if whole is None else (tidy(whole), left)
        return x, tuple(left)

    def whole(self, x: Ratio) -> Whole:
        """A sum of parts over one denominator, what divides both taken out."""
        parts = {under: part for under, part in x.items() if len(part)}
        common = joined(parts)
        total, short = ZERO, ZERO
        for under, part in parts.items():
            missing = _missing(common, under)
            total = total + self._matrices.times(part, self.product(missing))
            short = short + part * letters(missing)
        total = tidy(total)
        numerator, under = self.reduced(total, common) if len(total) else (ZERO, ())
        return Whole(numerator, tidy(short) if under == common else numerator, under)


def letters(names: Iterable[str]) -> Polynomial:
    """A product of names."""
    return reduce(lambda x, name: x * polynomial.letter(name), names, polynomial.number(1.0))


def joined(every: Iterable[Names]) -> Names:
    """The least common multiple of products of names."""
    total: Counter[str] = Counter()
    for names in every:
        total |= Counter(names)
    return tuple(sorted(total.elements()))


def _missing(common: Names, under: Names) -> Names:
    return tuple(sorted((Counter(common) - Counter(under)).elements()))


def lifted(x: Polynomial, under: Names, common: Names) -> Polynomial:
    """Numerator over `common` for x over `under`."""
    return x * letters(_missing(common, under))


def added(parts: Sequence[Ratio]) -> Ratio:
    """Add two fractions."""
    total: Ratio = {}
    for ratio in parts:
        for under, part in ratio.items():
            total[under] = tidy(total.get(under, ZERO) + part)
    return {under: part for under, part in total.items() if len(part)}


def scaled(matrices: Matrices, x: Ratio, factor: Polynomial, under: Names = ()) -> Ratio:
    """x times a normal form over some more denominators."""
    return {
        tuple(sorted((*names, *under))): tidy(matrices.times(part, factor))
        for names, part in x.items()
        if len(part) and len(factor)
    }


def split(x: Polynomial) -> tuple[Polynomial, Polynomial]:
    """x as one term without waves times a normal form with whole numbers that have no common divisor.

    Most of these are positive. Numbers that are no fractions stay as they are.
    """
    shared: Mapping[str, int] = _shared([dict(powers) for powers, _ in x.terms])
    size = _divisor([value for value, _, _ in folded(x)] if len(x) <= FOLDED else list(x.terms.values()))
    number = -size if sum(value > 0 for value in x.terms.values()) * 2 < len(x) else size
    content = Polynomial({(tuple(sorted(shared.items())), ()): number})
    inverse = content.inverse()
    assert inverse is not None
    return content, tidy(x * inverse)


def _shared(every: Sequence[Mapping[str, int]]) -> dict[str, int]:
    names = {name for powers in every for name in powers}
    least = {name: min(powers.get(name, 0) for powers in every) for name in names}
    return {name: n for name, n in least.items() if n}


def _divisor(numbers: Sequence[float]) -> float:
    """The largest number of which all are whole multiples; that of the first, if they are none but for one factor."""
    fractions = [Fraction(abs(value)).limit_denominator(FINEST) for value in numbers]
    exact = all(
        float(f) and abs(float(f) / abs(v) - 1.0) < 1e-12 for f, v in zip(fractions, numbers, strict=True)
    )
    if not exact:
        return abs(numbers[0]) if len(numbers) == 1 else 1.0
    return gcd(*(f.numerator for f in fractions)) / lcm(*(f.denominator for f in fractions))
