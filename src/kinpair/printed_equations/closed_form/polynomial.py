"""Normal form: sums of products of symbols, sines and cosines of sums of angles, and programs expanded to it.

An angle is a sum of symbols with whole multiples, ((name, multiple), ...), sorted, the first multiple positive.
A wave is the sine or cosine of an angle. Angles of one group add: they turn about parallel axes. The product of two
waves of one group is a sum of two waves, so that powers and products of a group never stay:

    cos a cos b = ½ cos(a−b) + ½ cos(a+b)        sin a sin b = ½ cos(a−b) − ½ cos(a+b)
    sin a cos b = ½ sin(a−b) + ½ sin(a+b)        cos a sin b = −½ sin(a−b) + ½ sin(a+b)

Sums of products of symbols, sines and cosines, in a form that is the same for equal expressions.

A term is (powers, waves): ((symbol, exponent), ...) sorted, and at most one sine or cosine of each group of angles.
What a sum leaves of two numbers that cancel to rounding is nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import cos, prod, sin, sqrt
from typing import NamedTuple, TypeAlias

from kinpair.compiler.graph import Expr
from kinpair.compiler.program import needed
from kinpair.errors import ClosedFormError

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


def signed_wave(group: int, kind: str, angle: Angle) -> tuple[float, Waves]:
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
        value, waves = signed_wave(a.group, kind, combined(a.angle, b.angle, sign))
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


Powers: TypeAlias = tuple[tuple[str, int], ...]
Term: TypeAlias = tuple[Powers, Waves]
ROUNDING = 1e-13  # beside the numbers that were added
CANCELLED = 1e-16  # beside the largest number of a result
PLAIN: Term = ((), ())


class Polynomial:
    """Terms with their numbers; `+ − *` give new ones."""

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Term, float]) -> None:
        self.terms = dict(terms)

    def __len__(self) -> int:
        return len(self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Polynomial) -> Polynomial:
        return self.plus(other, 1.0)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self.plus(other, -1.0)

    def __neg__(self) -> Polynomial:
        return self.scaled(-1.0)

    def plus(self, other: Polynomial, factor: float) -> Polynomial:
        """self + factor · other."""
        total = dict(self.terms)
        for term, value in other.terms.items():
            _add(total, term, factor * value)
        return Polynomial(total)

    def scaled(self, factor: float) -> Polynomial:
        """factor · self."""
        return Polynomial({term: factor * value for term, value in self.terms.items()} if factor else {})

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Term, float] = {}
        for (powers, waves), a in self.terms.items():
            for (more, other_waves), b in other.terms.items():
                joined = _times(powers, more)
                for factor, new_waves in product(waves, other_waves):
                    _add(total, (joined, new_waves), a * b * factor)
        return Polynomial(total)

    def inverse(self) -> Polynomial | None:
        """1 / self where this is one term without sine or cosine."""
        if len(self.terms) != 1:
            return None
        ((powers, waves), value), *_ = self.terms.items()
        inverted = tuple((name, -n) for name, n in powers)
        return None if waves else Polynomial({(inverted, ()): 1.0 / value})

    def derivative(self, name: str) -> Polynomial:
        """∂/∂name, of powers and of angles."""
        total: dict[Term, float] = {}
        for (powers, waves), value in self.terms.items():
            n = dict(powers).get(name, 0)
            if n:
                _add(total, (_times(powers, ((name, -1),)), waves), n * value)
            for factor, new_waves in slopes(waves, name):
                _add(total, (powers, new_waves), factor * value)
        return Polynomial(total)

    def cleaned(self, size: float) -> Polynomial:
        """Remove the terms that are rounding compared with numbers of this size."""
        return Polynomial(
            {term: value for term, value in self.terms.items() if abs(value) > CANCELLED * size}
        )

    @property
    def size(self) -> float:
        """The largest number in it."""
        return max(map(abs, self.terms.values()), default=0.0)

    def leading_sign(self) -> float:
        """Sign of the number of the first term."""
        return 1.0 if not self.terms or self.terms[min(self.terms)] > 0 else -1.0


def _add(total: dict[Term, float], term: Term, value: float) -> None:
    before = total.get(term, 0.0)
    after = before + value
    if abs(after) <= ROUNDING * abs(value):
        total.pop(term, None)
    else:
        total[term] = after


def _times(a: Powers, b: Powers) -> Powers:
    if not a or not b:
        return a or b
    total = dict(a)
    for name, n in b:
        total[name] = total.get(name, 0) + n
    return tuple(sorted((name, n) for name, n in total.items() if n))


def number(value: float) -> Polynomial:
    """Make a constant polynomial."""
    return Polynomial({PLAIN: value} if value else {})


def letter(name: str) -> Polynomial:
    """A single symbol as a polynomial."""
    return Polynomial({(((name, 1),), ()): 1.0})


def wave(group: int, kind: str, angle: Angle) -> Polynomial:
    """cos or sin of an angle."""
    factor, new_waves = signed_wave(group, kind, angle)
    return Polynomial({((), new_waves): factor} if factor else {})


Watch: TypeAlias = Callable[[str], None]  # is told what is being worked on


WORK = 20  # products of terms for each term that a product may have
OF_NUMBERS: dict[str, Callable[..., float]] = {"sqrt": sqrt}


class Expansion:
    """Normal forms of the nodes of one graph, kept as they are found.

    `groups` says for each symbol that is an angle which others it adds to: same number, parallel axes.
    `limit` is how many terms a node may have. `phases` are the constants met in angles: sin(x + α) is expanded.
    """

    def __init__(
        self, groups: Mapping[str, int], limit: int | None = None, watch: Watch | None = None
    ) -> None:
        self.groups = dict(groups)
        self.limit = limit
        self.phases: set[float] = set()
        self._watch = watch
        self._forms: dict[int, Polynomial] = {}

    def of(self, x: Expr) -> Polynomial:
        """The normal form of a node."""
        for node in needed([x]):
            if node.id not in self._forms:
                self._forms[node.id] = self.form_of(node, [self._forms[y.id] for y in node.args])
        return self._forms[x.id]

    def form_of(self, x: Expr, known: list[Polynomial]) -> Polynomial:
        """The normal form of a node from those of what it is made of."""
        if x.op == "const":
            return number(float(x.value))
        if x.op == "symbol":
            return letter(x.graph.names[x.id])
        self._check_length(x.op, known)
        if x.op in ("sin", "cos"):
            return self._wave(x, known[0])
        if x.op in OF_NUMBERS and all(map(_is_number, known)):
            return number(OF_NUMBERS[x.op](*(y.terms.get(PLAIN, 0.0) for y in known)))
        if x.op not in FORMS:
            raise ClosedFormError(f"{x.op} in {x} has no expanded form", operation=x.op)
        result = FORMS[x.op](*known)
        if result is None:
            raise ClosedFormError(f"a division by a sum in {x} has no expanded form", operation=x.op)
        return result

    def _check_length(self, op: str, known: list[Polynomial]) -> None:
        longest = max(map(len, known))
        if self._watch is not None:
            self._watch(f"{longest} terms")
        work = prod(map(len, known)) / WORK if op == "mul" else 0
        if self.limit is not None and max(longest, work) > self.limit:
            raise ClosedFormError(f"the expanded form has more than {self.limit} terms", limit=self.limit)

    def _wave(self, x: Expr, argument: Polynomial) -> Polynomial:
        angle: list[tuple[str, int]] = []
        phase = argument.terms.get(PLAIN, 0.0)
        for (powers, waves), value in argument.terms.items():
            if (powers, waves) == PLAIN:
                continue
            whole = len(powers) == 1 and powers[0][1] == 1 and not waves and value == int(value)
            if not whole or powers[0][0] not in self.groups:
                raise ClosedFormError(f"{x} is not a function of angles alone", operation=x.op)
            angle.append((powers[0][0], int(value)))
        groups = {self.groups[name] for name, _ in angle}
        if len(groups) > 1:
            raise ClosedFormError(f"{x} adds angles about axes that are not parallel", operation=x.op)
        group, turned = min(groups, default=0), tuple(sorted(angle))
        waves = {kind: wave(group, kind, turned) for kind in ("sin", "cos")}
        if not phase:
            return waves[x.op]
        self.phases.add(phase)
        other, sign = ("cos", 1.0) if x.op == "sin" else ("sin", -1.0)
        return waves[x.op].scaled(cos(phase)) + waves[other].scaled(sign * sin(phase))


def _divided(x: Polynomial, y: Polynomial) -> Polynomial | None:
    inverse = y.inverse()
    return None if inverse is None else x * inverse


FORMS: dict[str, Callable[..., Polynomial | None]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x.scaled(y.terms[PLAIN]) if _is_number(y) else x * y,
    "neg": lambda x: -x,
    "div": _divided,
}


def _is_number(x: Polynomial) -> bool:
    return len(x) == 1 and PLAIN in x.terms
