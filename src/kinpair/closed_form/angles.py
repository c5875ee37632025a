"""Sines and cosines of sums of angles.

An angle is a sum of symbols with whole multiples, ((name, multiple), ...), sorted, the first multiple positive.
A wave is the sine or cosine of an angle. Angles of one group add: they turn about parallel axes. The product of two
waves of one group is a sum of two waves, so that powers and products of a group never stay:

    cos a cos b = ½ cos(a−b) + ½ cos(a+b)        sin a sin b = ½ cos(a−b) − ½ cos(a+b)
    sin a cos b = ½ sin(a−b) + ½ sin(a+b)        cos a sin b = −½ sin(a−b) + ½ sin(a+b)
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Angle: TypeAlias = tuple[tuple[str, int], ...]


class Wave(NamedTuple):
    """cos or sin of an angle of a group."""

    group: int
    kind: str
    angle: Angle


Waves: TypeAlias = tuple[Wave, ...]  # at most one of each group, sorted
_PRODUCTS = {  # kinds → kind of the result, factors of (a − b) and (a + b)
    ("cos", "cos"): ("cos", 0.5, 0.5),
    ("sin", "sin"): ("cos", 0.5, -0.5),
    ("sin", "cos"): ("sin", 0.5, 0.5),
    ("cos", "sin"): ("sin", -0.5, 0.5),
}
_SLOPES = {"cos": ("sin", -1.0), "sin": ("cos", 1.0)}


def combined(a: Angle, b: Angle, sign: int) -> Angle:
    """a ± b, its first multiple of either sign."""
    total = dict(a)
    for name, k in b:
        total[name] = total.get(name, 0) + sign * k
    return tuple(sorted((name, k) for name, k in total.items() if k))


def wave(group: int, kind: str, angle: Angle) -> tuple[float, Waves]:
    """Factor and waves of cos or sin of an angle of any sign: sin(−a) = −sin a, cos 0 = 1, sin 0 = 0."""
    if not angle:
        return (1.0 if kind == "cos" else 0.0), ()
    if angle[0][1] > 0:
        return 1.0, (Wave(group, kind, angle),)
    flipped = tuple((name, -k) for name, k in angle)
    return (1.0 if kind == "cos" else -1.0), (Wave(group, kind, flipped),)


def product(x: Waves, y: Waves) -> list[tuple[float, Waves]]:
    """The product of waves as a sum: (factor, waves) each."""
    if not x or not y:
        return [(1.0, x or y)]
    mine, other = {w.group: w for w in x}, {w.group: w for w in y}
    products: list[tuple[float, Waves]] = [(1.0, ())]
    for group in sorted({*mine, *other}):
        a, b = mine.get(group), other.get(group)
        choices = _pair(a, b) if a and b else [(1.0, (a or b,))]
        products = [(f * g, (*waves, *more)) for f, waves in products for g, more in choices if g]  # type: ignore[misc]
    return products


def _pair(a: Wave, b: Wave) -> list[tuple[float, Waves]]:
    kind, minus, plus = _PRODUCTS[a.kind, b.kind]
    terms: list[tuple[float, Waves]] = []
    for sign, factor in ((-1, minus), (1, plus)):
        value, waves = wave(a.group, kind, combined(a.angle, b.angle, sign))
        terms.append((factor * value, waves))
    return terms


def slopes(waves: Waves, name: str) -> list[tuple[float, Waves]]:
    """Derivative of a product of waves with respect to one symbol: (factor, waves) each."""
    terms: list[tuple[float, Waves]] = []
    for k, each in enumerate(waves):
        multiple = dict(each.angle).get(name, 0)
        if multiple:
            kind, sign = _SLOPES[each.kind]
            turned = Wave(each.group, kind, each.angle)
            terms.append((sign * multiple, (*waves[:k], turned, *waves[k + 1 :])))
    return terms
