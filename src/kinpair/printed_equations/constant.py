"""Constants and places of a model that are symbols in its equations."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import atan2, cos, hypot, pi, sin
from typing import Any, Literal, TypeAlias

import numpy as np

from kinpair.printed_equations.closed_form.formula import Letter
from kinpair.printed_equations.closed_form.matrices import simple

ZERO = 1e-12  # beside the largest of its kind
EQUAL = 1e-12  # beside the number itself
ALONE = {"rho": "r"}  # another letter where nothing else has it
OF_THEIR_OWN = ("q", "g")  # letters that are never shared
Parameters: TypeAlias = Literal["symbols", "shared", "numbers"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A number of the model. `key` names it in the recorded equations, `factor` is its sign, what its direction makes
    of it or, for zero, 0. `same_as` is the key of the constant whose symbol it has, `others` what shares its own."""

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
        """The key of its symbol."""
        return self.same_as or self.key


def symbols_of(every: Sequence[Constant]) -> list[str]:
    """Keys of all symbols, each once."""
    return list(dict.fromkeys(c.letter for c in every if c.factor))


def signed(
    key: str, base: str, number: str, part: str, value: float, meaning: str, size: float, keep: bool = False
) -> Constant:
    """A constant with its sign taken out, unless kept; nothing compared with the others of its kind is zero."""
    if abs(value) <= ZERO * size:
        return Constant(key, base, number, part, 0.0, meaning, 0.0)
    factor = 1.0 if keep or value > 0 else -1.0
    towards = "" if factor > 0 else "−"
    return Constant(
        key, base, number, part, factor * float(value), meaning.replace("its ", f"its {towards}"), factor
    )


Merge = Callable[[Constant, Sequence[Constant]], Constant]


def merged(every: Sequence[Constant], kind: Callable[[Constant], Any], merge: Merge) -> list[Constant]:
    """Constants of one kind with equal values given the symbol of the first, whose meaning is then that of all."""
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
    """Equal numbers of one kind as one symbol, that of the first."""
    return merged(every, lambda c: c.base if c.base not in OF_THEIR_OWN else c.key, _of_several)


def _of_several(first: Constant, others: Sequence[Constant]) -> Constant:
    """Meaning with the parts that share it."""
    names = [re.findall(r"'[^']*'", c.meaning)[0] for c in (first, *others)]
    more = [name for name in dict.fromkeys(names) if name != names[0]]
    also = f"; also of {', '.join(more)}" if more else ""
    return replace(first, meaning=first.meaning + also, others=tuple(c.key for c in others))


def letters(every: list[Constant], used: set[str]) -> dict[str, Letter]:
    """Symbols of the constants that are used, with as few indices as distinguish them."""
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


AXES = ("x", "y", "z")
DIRECTIONS = (3, 5, 8, 12)  # parts of π that are simple angles
COMPONENTS = (2, 4)  # parts of π where components are as short
CLOSE = 1e-12  # [rad]


def place_constants(
    key: str, base: str, number: str, about: str, xyz: np.ndarray, axes: np.ndarray
) -> list[Constant]:
    """A place by its components, or by a distance where its direction is known."""
    constants: list[Constant] = []
    for k, x in enumerate(AXES):
        meaning = f"place of {about}, along its {x} [m]"
        constants.append(signed(f"{key}.{x}", base, number, x, xyz[k], meaning, np.abs(xyz).max(initial=0.0)))
    plane = [k for k in range(3) if constants[k].factor]
    if len(plane) != 2 or not _known_direction(xyz, plane, axes):
        return constants
    first, second = plane
    angle, distance = atan2(xyz[second], xyz[first]), hypot(xyz[first], xyz[second])
    meaning = f"distance of {about} from its origin [m]"
    for k, factor, same in ((first, cos(angle), ""), (second, sin(angle), constants[first].key)):
        constants[k] = replace(
            constants[k], part="", value=distance, meaning=meaning, factor=simple(factor), same_as=same
        )
    return constants


def _known_direction(xyz: np.ndarray, plane: Sequence[int], axes: np.ndarray) -> bool:
    """True if the angle in the plane is a simple one, or along an axis of the frame there."""
    first, second = plane
    angle = atan2(xyz[second], xyz[first])
    if any(abs(angle * n / pi - round(angle * n / pi)) < CLOSE for n in COMPONENTS):
        return False
    if any(abs(angle * n / pi - round(angle * n / pi)) < CLOSE for n in DIRECTIONS):
        return True
    along = np.abs(axes.T @ xyz)
    return bool(np.sort(along)[1] <= CLOSE * along.max())


def directions(every: Sequence[Constant]) -> set[float]:
    """Angles of places that are given by a distance."""
    angles: set[float] = set()
    by_letter: dict[str, list[Constant]] = {}
    for c in every:
        if abs(c.factor) not in (0.0, 1.0):
            by_letter.setdefault(c.key.rpartition(".")[0], []).append(c)
    for first, second in (x for x in by_letter.values() if len(x) == 2):
        angles.add(atan2(second.factor, first.factor))
    return angles
