"""A formula as a tree, and its symbols: what they are called on paper, what they mean and what they are worth."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, TypeAlias

from kinpair.compiler.export.latex import GREEK
from kinpair.printed_equations.closed_form.polynomial import Angle

GREEK_NAMES = frozenset(GREEK.split())
SHORT = {"cos": "c", "sin": "s"}
FIRST = 10**6  # rank of a named term
LAST = 10**6  # place of a phase in an angle


@dataclass(frozen=True, slots=True)
class Number:
    """A constant number."""

    value: float


class Symbol(NamedTuple):
    """A symbol: a coordinate, a rate, a parameter, or a term with a name of its own."""

    name: str


class Trig(NamedTuple):
    """cos or sin of a sum of coordinates."""

    kind: str
    angle: Angle


Atom: TypeAlias = Symbol | Trig


@dataclass(frozen=True, slots=True)
class Power:
    """A symbol, wave or sum to a whole power."""

    of: Atom | Sum
    exponent: int


@dataclass(frozen=True, slots=True)
class Product:
    """Factors, a number first if there is one."""

    factors: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum of terms."""

    terms: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of the compiler's table other than + − · and the waves of coordinates."""

    op: str
    arguments: tuple[Formula, ...]


Formula: TypeAlias = Number | Symbol | Trig | Power | Product | Sum | Call
Rank: TypeAlias = Callable[
    [Atom], tuple[int, str]
]  # place of a factor in a product; negative: see `factoring`
ZERO = Number(0.0)


def is_negative(x: Formula) -> bool:
    """True if it is written with a minus in front."""
    first = x.factors[0] if isinstance(x, Product) else x
    return isinstance(first, Number) and first.value < 0.0


def written_terms(x: Formula) -> int:
    """Count the terms that are written: the summands, at whatever depth; nothing for zero."""
    if isinstance(x, Sum):
        return sum(map(written_terms, x.terms))
    if isinstance(x, Product):
        return max(map(written_terms, x.factors))
    if isinstance(x, Power):
        return written_terms(x.of)
    return 0 if x == ZERO else 1


def parts(x: Formula) -> tuple[Formula, ...]:
    """The formulas a formula is made of."""
    if isinstance(x, Sum):
        return x.terms
    if isinstance(x, Product):
        return x.factors
    if isinstance(x, Power):
        return (x.of,)
    return x.arguments if isinstance(x, Call) else ()


def atoms(x: Formula) -> set[Atom]:
    """Symbols and waves in a formula."""
    if isinstance(x, Symbol | Trig):
        return {x}
    return set().union(*map(atoms, parts(x)))


@dataclass(frozen=True, slots=True)
class Letter:
    """A symbol with an index: m and 2 are `m2` in text and m_{2} in LaTeX; `accent` \\dot for a rate.

    `meaning` has its unit in brackets; `value` is what the description says, None for variables.
    """

    base: str
    index: str = ""
    meaning: str = ""
    value: float | None = None
    accent: str = ""

    @property
    def text(self) -> str:
        """Symbol as an identifier."""
        return f"{self.base}{'d' if self.accent else ''}{re.sub(r'[^A-Za-z0-9]', '_', self.index)}"

    @property
    def latex(self) -> str:
        """Symbol in LaTeX form."""
        base = f"\\{self.base}" if self.base in GREEK_NAMES else self.base
        if len(self.base) > 1 and base == self.base:
            base = f"\\mathrm{{{base}}}"
        base = f"{self.accent}{{{base}}}" if self.accent else base
        return f"{base}_{{{self.index}}}" if self.index else base


@dataclass(frozen=True, eq=False)
class Alphabet:
    """Printed forms of all symbols, in the order in which they stand in a product.

    `leading` ones come first and are taken out of sums; waves stand before the `last` ones. `numbers` gives the
    number of each angle, so that cos(q1 + q2) can be called c12.
    """

    letters: Mapping[str, Letter]
    numbers: Mapping[str, int] = field(default_factory=dict[str, int])
    last: Sequence[str] = ()
    leading: Sequence[str] = ()

    def rank(self, x: Atom) -> tuple[int, str]:
        """Place of a factor: named terms, leading symbols, other symbols, waves, last symbols."""
        known = self._ranks.get(x)
        if known is None:
            known = self._ranks[x] = self._rank(x)
        return known

    @cached_property
    def _ranks(self) -> dict[Atom, tuple[int, str]]:
        """Ranks asked for so far."""
        return {}

    def _rank(self, x: Atom) -> tuple[int, str]:
        if isinstance(x, Trig):
            return len(self.letters), f"{len(x.angle)} {x.angle} {x.kind}"
        return self._places[x.name] if x.name in self._places else (-FIRST, _natural(x.name))

    @cached_property
    def _places(self) -> dict[str, tuple[int, str]]:
        places = {name: (k, "") for k, name in enumerate(self.letters)}
        leading = {name: (k - len(self.leading), "") for k, name in enumerate(self.leading)}
        last = {name: (len(self.letters) + 1 + k, "") for k, name in enumerate(self.last)}
        return places | leading | last

    def letter(self, name: str) -> Letter:
        """The printed form of a symbol; x12 is itself."""
        if name in self.letters:
            return self.letters[name]
        base, index = re.fullmatch(r"([A-Za-z]+)([\d_]*)", name).groups()  # type: ignore[union-attr]
        return Letter(base, index.replace("_", ","))

    def short(self, x: Trig) -> Letter | None:
        """c12 for cos(q1 + q2); None where a difference, a multiple or a phase has no such name."""
        if any(k != 1 or name not in self.numbers for name, k in x.angle):
            return None
        numbers = sorted(self.numbers[name] for name, _ in x.angle)
        between = "," if max(self.numbers.values()) > 9 else ""
        return Letter(SHORT[x.kind], between.join(map(str, numbers)))

    def angle(self, angle: Angle, latex: bool) -> str:
        """q1 + q2."""
        parts: list[str] = []
        for name, k in sorted(angle, key=lambda x: self.numbers.get(x[0], LAST)):
            letter = self.letter(name)
            text = letter.latex if latex else letter.text
            size = f"{abs(k)}{' ' if latex else '*'}{text}" if abs(k) != 1 else text
            parts.append(f"{' - ' if k < 0 else ' + '}{size}")
        joined = "".join(parts)
        return joined[3:] if joined.startswith(" + ") else f"-{joined[3:]}"


def _natural(name: str) -> str:
    """h2 before h10."""
    return re.sub(r"\d+", lambda match: match.group().zfill(6), name)


def symbols(x: set[Atom]) -> set[str]:
    """Names of all symbols, those inside angles too."""
    plain = {each.name for each in x if isinstance(each, Symbol)}
    return plain | {name for each in x if isinstance(each, Trig) for name, _ in each.angle}
