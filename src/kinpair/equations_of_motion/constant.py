"""A number of a model or of its constraints that is a letter in the equations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from kinpair.closed_form.letters import Letter

ZERO = 1e-12  # beside the largest of its kind
EQUAL = 1e-12  # beside the number itself
ALONE = {"rho": "r"}  # another letter where nothing else has it
OF_THEIR_OWN = ("q", "g")  # letters that are never shared
Parameters: TypeAlias = Literal["symbols", "shared", "numbers"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of the model. `key` names it in the recorded equations, `factor` is its sign, what its direction makes
    of it or, for zero, 0. `same_as` is the key of the constant whose letter it has, `others` what shares its own."""

    key: str
    base: str
    number: str
    part: str  # x, zz: left out where it is the only one
    value: float
    meaning: str
    factor: float = 1.0
    same_as: str = ""
    others: tuple[str, ...] = ()

    @property
    def letter(self) -> str:
        """The key of its letter."""
        return self.same_as or self.key


def symbols_of(every: Sequence[Constant]) -> list[str]:
    """Keys of all letters, each once."""
    return list(dict.fromkeys(c.letter for c in every if c.factor))


def signed(
    key: str, base: str, number: str, part: str, value: float, meaning: str, size: float, keep: bool = False
) -> Constant:
    """A constant with its sign taken out, unless kept; nothing beside the others of its kind is zero."""
    if abs(value) <= ZERO * size:
        return Constant(key, base, number, part, 0.0, meaning, 0.0)
    factor = 1.0 if keep or value > 0 else -1.0
    towards = "" if factor > 0 else "−"
    return Constant(
        key, base, number, part, factor * float(value), meaning.replace("its ", f"its {towards}"), factor
    )


Merge = Callable[[Constant, Sequence[Constant]], Constant]


def merged(every: Sequence[Constant], kind: Callable[[Constant], Any], merge: Merge) -> list[Constant]:
    """Constants of one kind with equal values given the letter of the first, whose meaning is then that of all."""
    first: dict[str, list[Constant]] = {}
    for c in every:
        own = c.factor and not c.same_as
        like = next((key for key, x in first.items() if own and _alike(x[0], c, kind)), None)
        if own:
            first.setdefault(like or c.key, []).append(c)
    lead = {c.key: key for key, those in first.items() for c in those}
    constants: list[Constant] = []
    for c in every:
        key = lead.get(c.letter, c.letter)
        if key != c.key:
            constants.append(replace(c, same_as=key))
        else:
            others = first.get(key, [c])[1:]
            constants.append(merge(c, others) if others else c)
    return constants


def _alike(a: Constant, b: Constant, kind: Callable[[Constant], Any]) -> bool:
    return kind(a) == kind(b) and abs(a.value - b.value) <= EQUAL * abs(a.value)


def shared(every: Sequence[Constant]) -> list[Constant]:
    """Equal numbers of one kind as one letter, that of the first."""
    return merged(every, lambda c: c.base if c.base not in OF_THEIR_OWN else c.key, _of_several)


def _of_several(first: Constant, others: Sequence[Constant]) -> Constant:
    """Its meaning with the parts that share it."""
    names = [re.findall(r"'[^']*'", c.meaning)[0] for c in (first, *others)]
    more = [name for name in dict.fromkeys(names) if name != names[0]]
    also = f"; also of {', '.join(more)}" if more else ""
    return replace(first, meaning=first.meaning + also, others=tuple(c.key for c in others))


def letters(every: list[Constant], used: set[str]) -> dict[str, Letter]:
    """Letters of the constants that are used, with as few indices as tell them apart."""
    kept = [c for c in every if c.key in used]
    alphabet: dict[str, Letter] = {}
    for c in kept:
        alone = sum((c.base, c.number) == (other.base, other.number) for other in kept) == 1
        index = c.number + ("" if alone else c.part)
        only = c.others and sum(c.base == other.base for other in kept) == 1
        alphabet[c.key] = Letter(_base(c, kept), "" if only else index, c.meaning, c.value)
    return alphabet


def _base(c: Constant, kept: Sequence[Constant]) -> str:
    other = ALONE.get(c.base)
    return c.base if other is None or any(x.base == other for x in kept) else other


SHARING: dict[Parameters, Callable[[Sequence[Constant]], list[Constant]]] = {
    "symbols": list,
    "shared": shared,
    "numbers": list,
}
